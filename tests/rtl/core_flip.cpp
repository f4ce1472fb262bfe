// Bit flips in the memories of the whole box, one in each run, while ranks send, lose, repeat and acknowledge.
//
//   Vrf_core FIRST LAST [MEMORY]     runs of these seeds; MEMORY: only memories whose name contains
//   this
//
// Some ranks have mirror connections. No frame with a correct ICRC may have wrong contents: no wrong sum, no wrong header,
// no ACK of a packet that was not received; what a mirror rank gets comes from its port and goes to its MAC. If a run does not complete, the box must have ended a group with PARITY or have stopped. The bench is also
// built with PARITY = 0: there it must find wrong sums, which shows that it can detect them.
#include <algorithm>

#include "tests/rtl/core_ref.h"
#include "tests/rtl/core_tests.h"
#include "verilated_syms.h"

namespace
{

const uint64_t MAC = 0x02005e000000;
const unsigned PACKETS = 48;
const uint32_t PORT_IP = 0x0a00fe00;   // of port 0; the others follow
const uint64_t HOST = 0x02000000a000; // MAC of rank 0 of group 0 if it is a mirror rank; the others follow

// A memory of the box: words of `bytes` bytes in the simulation, `bits` bits each.
struct Memory {
	std::string name;
	uint8_t *at;
	size_t words, bytes;
	unsigned bits;
};

// Possible results of a run. WRONG is never allowed; STUCK only if the memory holds nothing that a sum
// depends on.
enum End { THROUGH, GROUP, BOX, STUCK, WRONG, ENDS };
const char *const end_names[ENDS] = {"no effect", "group", "box", "stuck", "wrong"};

// Memories by the effect of a bit error: the first line whose text is part of the name.
struct Kind {
	const char *part, *name;
	bool data;   // ends a group
	bool exempt; // needs no parity
};
const Kind kinds[] = {
	// Foreign frames have an end-to-end ICRC, and so do the data in egress; control frames have tags and checksums.
	{".passthru.beats", "foreign frames", false, true},
	{".egress.icrc_fifo", "ICRC", false, true},
	{".egress.", "egress", false, true},
	{".punt.", "punt", false, true},
	{".inject.", "inject", false, true},
	{".counters.", "counters", false, true},
	{".signs.", "signs of life", false, true},
	// Expected values of a tombstone: a bit error makes every packet a sign of life (rf_tomb).
	{".tomb.", "tombstones", false, true},
	{"held.", "frames that are shown", false, true},
	{".mirror.", "fields to be read back", false, true},
	{"errors.g_values.", "fields to be read back", false, true},
	{"g_mirror.mac_", "fields to be read back", false, true},
	// Delay lines of the error flags: an undetected error needs two bit flips.
	{"g_wrong", "marks", false, true},
	{"lost_line", "marks", false, true},
	{"acc.g_parity.line", "marks", false, true},
	{".bank.beats", "operands", true, false},
	{".bank.facts", "facts", true, false},
	{".bank.g_parity.headers", "headers", true, false},
	{".bank.g_plain.headers", "headers", true, false},
	{".results.beats", "results", true, false},
	{".results.g_headers", "headers of results", true, false},
	{".results.g_plain", "headers of results", true, false},
	{".ingress.ram", "frame FIFO", true, false},
	{"acc.low", "accumulator", true, false},
	{"acc.g_high.high", "accumulator", true, false},
	{".line.low", "lines of the tree", true, false},
	{".line.g_high", "lines of the tree", true, false},
	{".ingress.", "queues of ingress", false, false},
	{".conn_table.", "connection table", false, false},
	{".conn_static.", "connections", false, false},
	{".macs.", "connections", false, false},
	{".judge.", "judge", false, false},
	{"ledger.", "ledger", false, false},
	{".repeatq.", "repeats", false, false},
	{".bank.", "commands", false, false},
	{".results.", "queues of results", false, false},
	{".ackq.", "ACKs", false, false},
	{".passthru.", "lengths of foreign frames", false, false},
	{"reduce.", "control of the tree", false, false},
};
const unsigned KINDS = sizeof kinds / sizeof kinds[0];

const Kind &kind_of(const std::string &name)
{
	for (const Kind &k : kinds)
		if (name.find(k.part) != std::string::npos)
			return k;
	die("%s is of no kind that this bench knows", name.c_str());
}

std::vector<Memory> memories(Box &box)
{
	std::vector<Memory> all;

	for (const auto &scope : *box.ctx.scopeNameMap()) {
		if (!scope.second->varsp())
			continue;
		for (const auto &var : *scope.second->varsp()) {
			const VerilatedVar &v = var.second;
			if (std::string(var.first) != "mem" || v.udims() != 1)
				continue;
			size_t words = static_cast<size_t>(v.elements(1));
			all.push_back({scope.first, static_cast<uint8_t *>(v.datap()), words,
				       v.totalSize() / words,
				       static_cast<unsigned>(v.elements(0))});
		}
	}
	if (all.empty())
		die("no memory is visible");
	return all;
}

struct Flow {
	Rank r;
	unsigned k;
	bool mirror = false;
	uint32_t next = 0, acked = 0, expect = 0;
	uint64_t timer = 0;
	std::vector<bool> early = std::vector<bool>(PACKETS + 1);
};

struct Job {
	Group g;
	std::vector<Flow> flows;
	unsigned bytes(uint32_t seed, uint32_t i) const
	{
		uint32_t x = (seed + i) * 2654435761u >> 16;
		return x % 4 ? 256 : 4 + x / 4 % 64 * 4;
	}
};

class Run
{
	uint32_t seed;
	Random rnd;
	Box box;
	std::vector<Job> jobs;
	unsigned loss;

      public:
	std::string wrong; // the first frame that should not have left
	unsigned spoilt = 0;
	std::string where;
	const Kind *kind = nullptr;

	explicit Run(uint32_t s) : seed(s), rnd(s * 31 + 7), box(s)
	{
		setup(box, MAC);
		loss = rnd.chance(1, 2) ? 0 : rnd.below(30);
		for (unsigned n = 0; n < 2; n++) {
			Job j;
			j.g.number = n;
			j.g.dtype = n ? FP32 : rnd.chance(1, 2) ? INT32 : BF16;
			j.g.mtu_log2 = 8;
			j.g.s_log2 = 4;
			j.g.hbase = n << 4;
			j.g.dbase = n << (4 + 8 - static_cast<unsigned>(__builtin_ctz(BEAT)));
			j.g.selective = rnd.chance(1, 3);
			unsigned first = n * rnd.below(PORTS / 2) * 2;
			j.g.full(n ? 1 : LANES, first, n ? 2 : PORTS,
				 rnd.chance(1, 2) ? 0x400000 : 0, seed + n);
			unsigned mirrors = rnd.below(3); // none, all, some
			for (unsigned k = 0; k < j.g.ranks.size(); k++) {
				Flow f;
				f.mirror = mirrors == 1 || (mirrors == 2 && rnd.chance(1, 2));
				if (f.mirror)
					to_itself(j.g.ranks[k]);
				f.r = j.g.ranks[k];
				f.k = k;
				j.flows.push_back(f);
			}
			live(j);
			jobs.push_back(j);
		}
		box.on_tx = [this](unsigned port, const Sent &s2) { receive(port, s2.b); };
		if (rnd.chance(1, 2))
			box.on_ready = [this](unsigned) { return !rnd.chance(10, 100); };
	}

	// A mirror connection leads back to its own rank.
	static void to_itself(Rank &r)
	{
		r.pip = r.ip;
		r.pqpn = r.qpn;
		r.pport = r.port;
		r.shift = 0;
	}

	void live(const Job &j)
	{
		for (unsigned p = 0; p < PORTS; p++)
			box.wr(RF_PORT_IP0 + 4 * p, PORT_IP + p);
		for (const Flow &f : j.flows) {
			uint64_t mac = f.mirror ? 1ull << 48 | host_of(f) : 0;

			box.wr(Group::conn(f.r, RF_CONN_PEER_MAC_HI), static_cast<uint32_t>(mac >> 32));
			box.wr(Group::conn(f.r, RF_CONN_PEER_MAC_LO), static_cast<uint32_t>(mac));
			if (f.mirror)
				box.hash(2, f.r.ip, f.r.qpn, f.r.cid(), RF_STATE_LIVE);
		}
		j.g.live(box);
	}

	static uint64_t host_of(const Flow &f)
	{
		return HOST + f.r.number;
	}

	// A frame of the rank, or of the successor that answers it, as it comes to the box.
	static Bytes to_box(const Flow &f, Roce r)
	{
		if (f.mirror) {
			r.sip = f.r.ip;
			r.dip = PORT_IP + f.r.port;
			r.smac = host_of(f);
			r.dmac = MAC + f.r.port;
		}
		return r.frame();
	}

	// After the box has stopped: it restarts, its groups too, and all packets complete.
	bool again()
	{
		uint64_t end;
		bool done = false;

		for (unsigned p = 0; p < PORTS; p++)
			box.rx[p].clear();
		box.run(500);
		box.wr(RF_PARITY, RF_PARITY_VALID_MASK);
		if (box.rd(RF_CTRL) != RF_CTRL_HOLD_MASK || box_told())
			return false;
		setup(box, MAC);
		for (std::vector<bool> &t : box.taken)
			t.assign(t.size(), false);
		for (Job &j : jobs) {
			for (Flow &f : j.flows) {
				Flow anew;
				anew.r = f.r;
				anew.k = f.k;
				anew.mirror = f.mirror;
				f = anew;
			}
			live(j);
		}
		end = box.cycle + 40000;
		while (!done && box.cycle < end && wrong.empty())
			done = step();
		return done && wrong.empty() && !box_told() && !group_told();
	}

	bool lost()
	{
		return rnd.chance(loss, 1000);
	}

	void fault(const std::string &what)
	{
		if (wrong.empty())
			wrong = what;
	}

	// One bit of one memory: usually in a word that was written recently.
	void flip(const char *only)
	{
		std::vector<Memory> all = memories(box);
		std::vector<size_t> of[KINDS];
		std::vector<unsigned> there;

		for (size_t m = 0; m < all.size(); m++) {
			all[m].name = all[m].name.substr(4);
			if (only && all[m].name.find(only) == std::string::npos)
				continue;
			of[&kind_of(all[m].name) - kinds].push_back(m);
		}
		for (unsigned n = 0; n < KINDS; n++)
			if (!of[n].empty())
				there.push_back(n);
		if (there.empty())
			die("no memory is named %s", only);
		unsigned n = there[rnd.below(static_cast<uint32_t>(there.size()))];
		Memory &m = all[of[n][rnd.below(static_cast<uint32_t>(of[n].size()))]];
		// For memories that are read soon, only the words of the last cycles still matter.
		unsigned apart = rnd.chance(1, 2) ? 1 + rnd.below(8) : 20 + rnd.below(300);
		std::vector<size_t> fresh;
		for (unsigned n2 = 0; n2 < 300 && fresh.empty(); n2++) {
			std::vector<uint8_t> was(m.at, m.at + m.words * m.bytes);
			for (unsigned k = 0; k < apart; k++)
				step();
			for (size_t w = 0; w < m.words; w++)
				if (memcmp(m.at + w * m.bytes, &was[w * m.bytes], m.bytes))
					fresh.push_back(w);
			if (apart >= 20)
				break;
		}
		size_t w = fresh.empty() || rnd.chance(1, 4)
				   ? rnd.below(static_cast<uint32_t>(m.words))
				   : fresh[rnd.below(static_cast<uint32_t>(fresh.size()))];
		unsigned bit = rnd.below(m.bits);
		m.at[w * m.bytes + bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
		kind = &kind_of(m.name);
		where = m.name + " word " + std::to_string(w) + " bit " + std::to_string(bit) +
			" cycle " + std::to_string(box.cycle);
	}

	void receive(unsigned port, const Bytes &b)
	{
		size_t at = l3(b);
		if (b.size() < at + 44 || at + get(b, at + 2, 2) > b.size() ||
		    get(b, at + 2, 2) < 44 || !icrc_right(b)) {
			spoilt++;
			return;
		}
		uint32_t dip = static_cast<uint32_t>(get(b, at + 16, 4)),
			 qpn = static_cast<uint32_t>(get(b, at + 33, 3));
		bool is_ack = get(b, at + 28, 1) == 0x11;
		uint32_t sip = static_cast<uint32_t>(get(b, at + 12, 4));
		if (qpn >= 0xf00000 && dip >> 16 == 0x0a65)
			return;
		for (Job &j : jobs)
			for (Flow &f : j.flows)
				if (is_ack ? f.r.ip == dip && f.r.qpn == qpn
					   : f.r.pip == dip && f.r.pqpn == qpn) {
					if (f.mirror && (sip != PORT_IP + port || port != f.r.port ||
							 get(b, 0, 6) != host_of(f)))
						return fault("a frame of a mirror rank from another port or "
							     "to another MAC");
					return is_ack ? acked(j, f, b) : result(j, f, port, b);
				}
		fault("a frame for nobody");
	}

	void acked(Job &j, Flow &f, const Bytes &b)
	{
		size_t at = l3(b);
		uint32_t u = (static_cast<uint32_t>(get(b, at + 37, 3)) + 1 - f.r.start) & 0xffffff;
		unsigned syndrome = static_cast<unsigned>(get(b, at + 40, 1));

		if (syndrome >= 0x20)
			u = (u - 1) & 0xffffff;
		if (j.g.selective && syndrome >= 0x60) {
			if (!before(u, f.next) || before(u, f.acked))
				return;
			if (!lost())
				send(j, f, u);
			return;
		}
		if (before(f.expect, u))
			return fault("an ACK of what was not received");
		if (lost())
			return;
		if (before(f.acked, u)) {
			f.acked = u;
			f.timer = box.cycle + 1500;
			if (before(f.next, u))
				f.next = u;
		}
		if (syndrome >= 0x20 && f.acked == u)
			f.next = u;
	}

	void ack(Flow &f, uint8_t syndrome = 0x1f)
	{
		if (!lost())
			box.send(f.r.pport, to_box(f, f.r.ack(f.expect, syndrome, f.expect & 0xffff)));
	}

	void result(Job &j, Flow &f, unsigned port, const Bytes &b)
	{
		Result res(b);
		uint32_t i = (res.psn + f.r.shift - f.r.start) & 0xffffff;
		size_t at = l3(b);

		if (i >= PACKETS || port != f.r.port)
			return fault("a result of no index or at another port");
		Roce sum = f.r.data(i, expected(j.g, seed, i, j.bytes(seed, i)));
		if (f.mirror)
			sum.sip = PORT_IP + f.r.port;
		Bytes want = sum.frame();
		// The fields that the ICRC does not cover: AckReq, and the PSN, which has been checked.
		for (size_t k :
		     {size_t(36), size_t(37), size_t(38), size_t(39), size_t(1), size_t(8),
		      size_t(10), size_t(11), size_t(26), size_t(27), size_t(32)})
			want[at + k] = b[at + k];
		std::copy(b.begin(), b.begin() + static_cast<long>(at), want.begin());
		seal(want);
		if (b != want)
			return fault("group " + std::to_string(j.g.number) + " port " +
				     std::to_string(port) + " index " + std::to_string(i) +
				     (res.payload == expected(j.g, seed, i, j.bytes(seed, i))
					      ? ": another header"
					      : ": a wrong sum"));
		if (lost())
			return;
		if (before(i, f.expect))
			return ack(f);
		if (i != f.expect) {
			if (j.g.selective)
				f.early[i] = true;
			return ack(f, 0x60);
		}
		f.expect++;
		while (f.expect < PACKETS && f.early[f.expect])
			f.expect++;
		if (res.ackreq || f.expect % 4 == 0 || f.expect == PACKETS)
			ack(f);
	}

	void send(Job &j, Flow &f, uint32_t i)
	{
		if (!lost())
			box.send(f.r.port,
				 to_box(f, f.r.data(i, payload_of(j.g, seed, f.k, i,
								  j.bytes(seed, i)))));
	}

	bool step()
	{
		bool done = true;

		for (Job &j : jobs)
			for (Flow &f : j.flows) {
				if (f.acked != PACKETS)
					done = false;
				if (f.timer < box.cycle && f.acked != f.next) {
					f.next = f.acked;
					f.timer = box.cycle + 1500;
				}
				if (f.next >= PACKETS || f.next - f.acked >= 8 ||
				    box.rx[f.r.port].size() > 2)
					continue;
				if (f.next == f.acked)
					f.timer = box.cycle + 1500;
				send(j, f, f.next);
				f.next++;
			}
		if (rnd.chance(1, 100)) {
			unsigned p = rnd.below(PORTS);
			Roce r;
			r.sip = 0x0a640000 + p;
			r.dip = 0x0a650000 + p;
			r.qpn = 0xf00000 + p;
			r.psn = rnd();
			r.payload.resize(4 * (1 + rnd.below(60)), 0x5a);
			if (box.rx[p].size() < 3)
				box.send(p, r.frame());
		}
		box.tick();
		return done;
	}

	// Whether a group has ended with PARITY; the box has stopped.
	bool group_told()
	{
		for (const Job &j : jobs)
			if ((box.rd(j.g.reg(RF_GROUP_ERROR)) & RF_GROUP_ERROR_CAUSE_MASK) >>
				    RF_GROUP_ERROR_CAUSE_LSB ==
			    RF_ERROR_PARITY)
				return true;
		return false;
	}

	bool box_told()
	{
		return (box.rd(RF_PARITY) & RF_PARITY_VALID_MASK) != 0;
	}

	End go(const char *only)
	{
		uint64_t end = box.cycle + 30000;
		bool done = false;

		for (unsigned k = rnd.below(4000); k-- && !step();)
			;
		flip(only);
		for (unsigned k = 0; !done && box.cycle < end && wrong.empty(); k++) {
			done = step();
			if (k % 1024 == 1023 && (box_told() || group_told()))
				end = std::min(end, box.cycle + 1024);
		}
		for (unsigned k = 0; k < 500; k++)
			box.tick();
		if (!wrong.empty())
			return WRONG;
		if (box_told())
			return again() ? BOX : STUCK;
		return group_told() ? GROUP : done ? THROUGH : STUCK;
	}
};

} // namespace

int main(int argc, char **argv)
{
	if (argc < 3) {
		fprintf(stderr, "usage: %s FIRST LAST [MEMORY]\n", argv[0]);
		return 2;
	}
	unsigned first = static_cast<unsigned>(strtoul(argv[1], nullptr, 0));
	unsigned last = static_cast<unsigned>(strtoul(argv[2], nullptr, 0));
	const char *only = argc > 3 ? argv[3] : nullptr;
	unsigned count[KINDS][ENDS] = {}, bad = 0, wrong = 0, spoilt = 0;

	setvbuf(stdout, nullptr, _IOLBF, 0);
	printf("repeat with: %s %u %u%s%s\n", argv[0], first, last, only ? " " : "",
	       only ? only : "");
	for (unsigned seed = first; seed <= last; seed++) {
		Run run(seed);
		End end = run.go(only);
		const Kind &k = *run.kind;
		count[&k - kinds][end]++;
		spoilt += run.spoilt;
		wrong += end == WRONG;
		// A memory without parity may lose a frame that is not repeated.
		bool ok = end != WRONG && (end != STUCK || k.exempt) &&
			  (end != GROUP || k.data || k.exempt) &&
			  (end != BOX || !k.data ||
			   std::string(k.name).find("header") != std::string::npos);
		if (!ok) {
			bad++;
			if (PARITY || bad <= 5)
				printf("seed %u: %s: %s%s%s\n", seed, run.where.c_str(),
				       end_names[end], end == WRONG ? ": " : "", run.wrong.c_str());
		}
	}
	printf("%-28s", "memory");
	for (const char *name : end_names)
		printf("%10s", name);
	printf("\n");
	for (unsigned n = 0; n < KINDS; n++) {
		unsigned sum = 0;
		for (unsigned e = 0; e < ENDS; e++)
			sum += count[n][e];
		if (!sum)
			continue;
		printf("%-28s", kinds[n].name);
		for (unsigned e = 0; e < ENDS; e++)
			printf("%10u", count[n][e]);
		printf("\n");
	}
	printf("%u frames left with a wrong ICRC\n", spoilt);
	if (PARITY ? bad != 0 : wrong == 0) {
		printf("FAIL: %s\n",
		       PARITY ? "a bit was lost and nobody said so, or a wrong frame left"
			      : "without parity no wrong frame was found");
		return 1;
	}
	printf("ok\n");
	return 0;
}
