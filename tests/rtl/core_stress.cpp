// Ranks that send, lose, repeat and acknowledge, on a box that is paused at random. Every result that leaves must be
// correct, every rank must finish, and the counters must add up.
#include <algorithm>

#include "tests/rtl/core_ref.h"
#include "tests/rtl/core_tests.h"

namespace
{

struct Plan {
	uint32_t seed;
	unsigned packets;
	unsigned loss;	   // of 1000, each way
	unsigned pause;	   // of 100 cycles in which a port takes nothing
	unsigned window;
	unsigned timeout;  // cycles
	unsigned ack_every;
	unsigned tick;	   // cycles between two writes to TICK, 0 for none
	bool foreign;
};

// A rank as sender, and its successor as receiver.
struct Flow {
	Rank r;
	unsigned k;
	uint32_t next = 0, acked = 0;  // sender
	uint32_t expect = 0;	       // receiver
	std::vector<bool> early;       // selective: received beyond `expect`
	std::deque<uint32_t> again;    // selective: requested by a NAK
	uint32_t asked = 0xffffffff;   // selective: the index that this receiver has requested
	uint64_t timer = 0;
	uint64_t rest = 0;
};

struct Job {
	Group g;
	std::vector<Flow> flows;
	unsigned bytes(uint32_t seed, uint32_t i) const
	{
		// Mostly whole packets; some end with a short one.
		uint32_t x = (seed + i) * 2654435761u >> 16;
		unsigned mtu = 1u << g.mtu_log2;
		return x % 4 ? mtu : 4 + x / 4 % (mtu / 4) * 4;
	}
};

class Stress {
	Box &box;
	Plan plan;
	Random rnd;
	std::vector<Job> &jobs;
	std::deque<Bytes> foreign_in[PORTS]; // entered, not seen to leave
	size_t foreign_lost[PORTS] = {};     // later ones have left
	uint64_t base_mac;

public:
	uint64_t sent = 0, results = 0, repeats = 0, behalf = 0, orders = 0, late_orders = 0, ticks = 0;

	Stress(Box &b, const Plan &p, std::vector<Job> &j, uint64_t mac) : box(b), plan(p), rnd(p.seed), jobs(j), base_mac(mac)
	{
		box.on_tx = [this](unsigned port, const Sent &s) { receive(port, s); };
		if (plan.pause)
			box.on_ready = [this](unsigned) { return !rnd.chance(plan.pause, 100); };
	}
	~Stress()
	{
		box.on_tx = nullptr;
		box.on_ready = nullptr;
	}

	bool lost() { return rnd.chance(plan.loss, 1000); }

	void ack(Job &j, Flow &f)
	{
		(void)j;
		if (!lost())
			box.send(f.r.pport, f.r.ack(f.expect, 0x1f, f.expect & 0xffff).frame());
	}

	void receive(unsigned port, const Sent &s)
	{
		const Bytes &b = s.b;

		if (get(b, 6, 6) != base_mac + port)
			die("port %u: source MAC %012" PRIx64, port, get(b, 6, 6));
		size_t at = l3(b);
		if (!icrc_right(b))
			die("port %u: wrong ICRC", port);
		uint32_t dip = static_cast<uint32_t>(get(b, at + 16, 4)), qpn = static_cast<uint32_t>(get(b, at + 33, 3));
		bool is_ack = get(b, at + 28, 1) == 0x11;
		if (qpn >= 0xf00000)
			return stranger(port, b);
		for (Job &j : jobs)
			for (Flow &f : j.flows)
				if (is_ack ? f.r.ip == dip && f.r.qpn == qpn : f.r.pip == dip && f.r.pqpn == qpn)
					return is_ack ? acked(j, f, port, b) : result(j, f, port, b);
		die("port %u: frame for nobody", port);
	}

	// Foreign frames leave unchanged and in order. A small box may have no room for one: finish() compares how many
	// are missing with the counter.
	void stranger(unsigned port, const Bytes &b)
	{
		for (; !foreign_in[port].empty(); foreign_in[port].pop_front()) {
			Bytes want = foreign_in[port].front();
			set(want, 6, base_mac + port, 6);
			if (b == want)
				break;
			foreign_lost[port]++;
		}
		if (foreign_in[port].empty())
			die("port %u: foreign frame changed, or one too many", port);
		foreign_in[port].pop_front();
	}

	void acked(Job &j, Flow &f, unsigned port, const Bytes &b)
	{
		// From the successor's port when forwarded, from the sender's own when made by the box.
		uint32_t u = (static_cast<uint32_t>(get(b, l3(b) + 37, 3)) + 1 - f.r.start) & 0xffffff;
		unsigned syndrome = static_cast<unsigned>(get(b, l3(b) + 40, 1));
		if (syndrome >= 0x20) {
			u = (u - 1) & 0xffffff;
			orders++;
			late_orders += syndrome < 0x40;
			if (j.g.transparent)
				die("NAK in a transparent group");
			if (syndrome != 0x60 && syndrome != 0x21)
				die("NAK with syndrome %02x", syndrome);
			if (j.g.selective) {
				if (syndrome != 0x60)
					die("RNR NAK in a selective group");
				if (!lost() && before(u, f.next) && f.again.size() < 4)
					f.again.push_back(u);
				return;
			}
		}
		if (port != f.r.pport && port != f.r.port)
			die("ACK on port %u", port);
		if (port == f.r.port && port != f.r.pport)
			behalf++;
		if (before(f.expect, u))
			die("ACK of index %u before it was received (%u)", u, f.expect);
		if (lost())
			return;
		if (before(f.acked, u)) {
			f.acked = u;
			f.timer = box.cycle + plan.timeout;
			if (before(f.next, u))
				f.next = u;
		}
		// Both orders make the sender go back.
		if (syndrome >= 0x20 && f.acked == u)
			f.next = u;
	}

	void result(Job &j, Flow &f, unsigned port, const Bytes &b)
	{
		Result res(b);
		uint32_t i = (res.psn + f.r.shift - f.r.start) & 0xffffff;

		results++;
		if (port != f.r.port)
			die("result of port %u on port %u", f.r.port, port);
		Bytes want = f.r.data(i, expected(j.g, plan.seed, i, j.bytes(plan.seed, i))).frame();
		size_t at = l3(b);
		set(want, 6, base_mac + port, 6);
		set(want, at + 36, get(b, at + 36, 1), 1);
		set(want, at + 37, res.psn, 3);
		seal(want);
		if (b != want)
			die("seed %u: wrong result: group %u lane %u port %u index %u (expects %u), %zu bytes, sum %s", plan.seed,
			    j.g.number, f.r.lane, port, i, f.expect, b.size(),
			    res.payload == expected(j.g, plan.seed, i, j.bytes(plan.seed, i)) ? "right" : "wrong");
		if (!res.ackreq && i % ((1u << j.g.s_log2) / 8) == 0)
			die("index %u without AckReq", i);
		if (lost())
			return;
		if (before(i, f.expect)) {
			repeats++;
			return ack(j, f);
		}
		if (i != f.expect && !j.g.selective)
			return; // a gap: this receiver does not answer
		if (i != f.expect) {
			f.early.resize(plan.packets);
			f.early[i] = true;
			// A selective receiver requests the missing index, and acknowledges nothing.
			if (f.asked != f.expect && !lost())
				box.send(f.r.pport, f.r.ack(f.expect, 0x60, f.expect & 0xffff).frame());
			f.asked = f.expect;
			return;
		}
		f.expect++;
		while (f.expect < f.early.size() && f.early[f.expect])
			f.expect++;
		if (res.ackreq || f.expect % plan.ack_every == 0 || f.expect == plan.packets)
			ack(j, f);
	}

	// One cycle of all senders.
	bool step()
	{
		bool done = true;

		for (Job &j : jobs)
			for (Flow &f : j.flows) {
				if (f.acked != plan.packets)
					done = false;
				if (!f.again.empty() && box.rx[f.r.port].size() < 3) {
					send(j, f, f.again.front());
					f.again.pop_front();
				}
				if (f.timer < box.cycle && f.acked != f.next) {
					f.next = f.acked;
					f.timer = box.cycle + plan.timeout;
				}
				if (f.next == plan.packets || f.next - f.acked >= plan.window || box.rx[f.r.port].size() > 2 ||
				    f.rest > box.cycle)
					continue;
				if (f.next == f.acked)
					f.timer = box.cycle + plan.timeout;
				if (rnd.chance(1, 200))
					f.rest = box.cycle + rnd.below(400);
				send(j, f, f.next);
				f.next++;
			}
		if (plan.foreign && rnd.chance(1, 50)) {
			unsigned p = rnd.below(PORTS);
			if (box.rx[p].size() < 3)
				foreign(p);
		}
		if (plan.tick && box.cycle >= ticks) {
			ticks = box.cycle + plan.tick;
			box.wr(RF_TICK, 0);
		}
		box.tick();
		return done;
	}

	void send(Job &j, Flow &f, uint32_t i)
	{
		unsigned n = j.bytes(plan.seed, i);
		Bytes b = f.r.data(i, payload_of(j.g, plan.seed, f.k, i, n)).frame();

		sent++;
		if (lost())
			return;
		if (rnd.chance(plan.loss, 3000))
			b[60 + rnd.below(static_cast<uint32_t>(b.size()) - 60)] ^= 1; // a good frame with a wrong ICRC
		if (rnd.chance(plan.loss, 3000))
			box.send(f.r.port, b, true);
		else
			box.send(f.r.port, b);
	}

	void foreign(unsigned p)
	{
		Roce r;

		r.sip = 0x0a640000 + p;
		r.dip = 0x0a650000 + p;
		r.qpn = 0xf00000 + p;
		r.psn = rnd();
		r.opcode = rnd.chance(1, 4) ? 0x11 : 4;
		r.payload.resize(4 * (1 + rnd.below(std::min(200, MTU_MAX / 4))), 0x5a);
		Bytes b = r.frame();
		foreign_in[p].push_back(b);
		box.send(p, b);
	}

	// The progress of every rank, for a failure.
	void state()
	{
		for (Job &j : jobs) {
			printf("group %u: head %u tail %u issued %u error %08x\n", j.g.number, box.rd(j.g.reg(RF_GROUP_HEAD)),
			       box.rd(j.g.reg(RF_GROUP_TAIL)), box.rd(j.g.reg(RF_GROUP_ISSUED)), box.rd(j.g.reg(RF_GROUP_ERROR)));
			for (Flow &f : j.flows)
				printf("  lane %u port %u: sends %u, acked %u, receiver expects %u; box: next %u sent %u una %u\n",
				       f.r.lane, f.r.port, f.next, f.acked, f.expect, box.rd(Group::conn(f.r, RF_CONN_NEXT)),
				       box.rd(Group::conn(f.r, RF_CONN_SENT)), box.rd(Group::conn(f.r, RF_CONN_UNA)));
		}
		for (unsigned p = 0; p < PORTS; p++)
			for (unsigned c = 0; c < RF_CNT_COUNT; c++)
				if (uint32_t n = box.count(p, c))
					printf("port %u counter %u: %u\n", p, c, n);
	}

	void finish()
	{
		for (unsigned p = 0; p < PORTS; p++)
			if (foreign_lost[p] + foreign_in[p].size() != box.count(p, RF_CNT_FOREIGN_FULL))
				die("port %u: %zu foreign frames are missing, %u did not fit", p, foreign_lost[p] + foreign_in[p].size(),
				    box.count(p, RF_CNT_FOREIGN_FULL));
	}
};

// Every frame must have been counted as exactly one thing.
void add_up(Box &box)
{
	for (unsigned p = 0; p < PORTS; p++) {
		uint32_t verdicts = 0, left = 0;
		for (unsigned c = RF_CNT_RX_OVERFLOW; c <= RF_CNT_ACK_FORWARDED; c++)
			verdicts += box.count(p, c);
		for (unsigned c = RF_CNT_TX_FIRST; c <= RF_CNT_TX_INJECT; c++)
			left += box.count(p, c);
		if (verdicts != box.count(p, RF_CNT_RX_FRAMES) || left != box.count(p, RF_CNT_TX_FRAMES) || box.count(p, RF_CNT_TX_DOWN))
			die("port %u: %u frames, %u verdicts; %u left, %u kinds", p, box.count(p, RF_CNT_RX_FRAMES), verdicts,
			    box.count(p, RF_CNT_TX_FRAMES), left);
		if (box.count(p, RF_CNT_RX_OVERFLOW))
			die("port %u: overflow", p);
	}
}

} // namespace

void stress(uint32_t seed)
{
	Random rnd(seed * 31 + 7);
	Box box(seed);
	std::vector<Job> jobs;
	uint64_t mac = 0x02005e000000;
	Plan plan;

	setup(box, mac);
	setvbuf(stdout, nullptr, _IOLBF, 0);
	unsigned shapes = 1 + rnd.below(std::min(3, GROUPS));
	unsigned s_log2 = 4 + rnd.below(2);
	for (unsigned n = 0; n < shapes; n++) {
		Job j;
		j.g.number = n;
		j.g.dtype = rnd.chance(1, 2) ? INT32 : FP32;
		j.g.op = rnd.below(3);
		j.g.mtu_log2 = 8;
		j.g.s_log2 = s_log2;
		// Headers and beats of the groups are stored one group after another.
		j.g.hbase = n << s_log2;
		j.g.dbase = n << (s_log2 + 8 - static_cast<unsigned>(__builtin_ctz(BEAT)));
		if (j.g.hbase + (1u << s_log2) > 1u << HDR_AW || j.g.dbase + (256u / BEAT << s_log2) > 1u << BANK_AW)
			die("the box is too small for this test");
		unsigned level = rnd.below(PORTS > 4 ? 4 : PORTS > 2 ? 3 : 2), width = 1u << level;
		unsigned base = rnd.below((PORTS + width - 1) / width) * width;
		unsigned lanes = 1 + rnd.below(LANES);
		std::vector<std::pair<unsigned, unsigned>> at;
		for (unsigned l = 0; l < lanes; l++) {
			size_t before_lane = at.size();
			for (unsigned p = base; p < base + width && p < PORTS; p++)
				if (rnd.chance(4, 5))
					at.push_back({l, p});
			if (at.size() == before_lane)
				at.push_back({l, base});
		}
		j.g.lanes = lanes;
		j.g.transparent = rnd.chance(1, 4);
		j.g.selective = !j.g.transparent && rnd.chance(1, 2);
		j.g.level = level;
		j.g.base = base;
		j.g.place(at, rnd.chance(1, 2) ? 0x400000 : 0, seed + n);
		j.g.live(box);
		for (unsigned k = 0; k < j.g.ranks.size(); k++) {
			Flow f;
			f.r = j.g.ranks[k];
			f.k = k;
			j.flows.push_back(f);
		}
		jobs.push_back(j);
	}
	for (const Job &j : jobs) {
		printf("group %u: type %u op %u level %u base %u lanes %u%s:", j.g.number, j.g.dtype, j.g.op, j.g.level, j.g.base, j.g.lanes,
		       j.g.selective ? " selective" : j.g.transparent ? " transparent" : "");
		for (const Rank &r : j.g.ranks)
			printf(" (%u, %u)", r.lane, r.port);
		printf("\n");
	}
	plan.seed = seed;
	plan.packets = 60 + rnd.below(60);
	plan.loss = rnd.chance(1, 4) ? 0 : rnd.below(60);
	plan.pause = rnd.chance(1, 2) ? 0 : rnd.below(40);
	plan.window = (1u << s_log2) / 2;
	plan.timeout = 3000;
	plan.ack_every = 1 + rnd.below(8);
	plan.tick = rnd.chance(1, 2) ? 0 : 1000 + rnd.below(2000);
	plan.foreign = rnd.chance(1, 2);
	Stress s(box, plan, jobs, mac);
	uint64_t limit = box.cycle + 400000;
	while (!s.step())
		if (box.cycle > limit) {
			s.state();
			die("seed %u: not finished after 400,000 cycles", seed);
		}
	box.settle();
	s.finish();
	add_up(box);
	for (const Job &j : jobs)
		if (box.rd(j.g.reg(RF_GROUP_ERROR)))
			die("seed %u: group %u has error %08x", seed, j.g.number, box.rd(j.g.reg(RF_GROUP_ERROR)));
	printf("stress %u: %zu groups, %u packets, loss %u/1000, pause %u %%: %" PRIu64 " sent, %" PRIu64 " results, %" PRIu64
	       " repeats, %u first, %u repeat, %u behalf, %u stale, %u gap, %u pending, %u no_room, %u ahead, %" PRIu64
	       " NAKs, %" PRIu64 " RNR NAKs; %" PRIu64 " cycles\n",
	       seed, jobs.size(), plan.packets, plan.loss, plan.pause, s.sent, s.results, s.repeats, box.total(RF_CNT_TX_FIRST),
	       box.total(RF_CNT_TX_REPEAT), box.total(RF_CNT_TX_BEHALF), box.total(RF_CNT_REPEAT_STALE), box.total(RF_CNT_GAP),
	       box.total(RF_CNT_PENDING), box.total(RF_CNT_NO_ROOM),
	       box.total(RF_CNT_AHEAD) + box.total(RF_CNT_AHEAD_NAK), s.orders, s.late_orders, box.cycle);
}
