/*
 * rf_egress against frames assembled byte by byte: contents, ICRC, keep, first-beat latency, gaps.
 *
 *   Vrf_egress [--seed N] [--packets N]    all parts
 *   Vrf_egress --flip                      a wrong expectation is inserted: must fail
 *   Vrf_egress --speed N                   N cycles at full load, prints cycles per second of CPU time
 *
 * Compiled with WIDTH and STALL_CYCLES, the module's parameters.
 */
#include <ctime>
#include <deque>
#include <memory>
#include "Vrf_egress.h"
#include "tests/rtl/net_ref.h"

using namespace net;

enum { B = WIDTH / 8, LATENCY = 6 };
static const uint64_t MAC = 0x02b0c4d5e607ull;

struct packet {
	bool raw;
	bytes hdr, payload, want;
	unsigned hlen;
	bool gap;	/* the payload arrived with a gap */
	bool lost = false;	/* it is reported as wrong */
};

struct manners {
	unsigned e_valid, p_valid, ready;
};

struct bench {
	Vrf_egress dut;
	rng r;
	manners m = { 80, 80, 80 };
	long cycle = 0, packets = 0, beats = 0, losses = 0;
	bool lost = false;	/* the header or beat taken in the last cycle is wrong */
	bool flip = false;
	std::deque<packet> todo, flight;
	size_t given = 0, at = 0;	/* bytes of the payload given, of the frame received */
	bool begun = false, e_held = false, p_held = false, stalled = false;
	bytes stalled_data;
	long quiet = 0, begun_at = 0;

	explicit bench(uint64_t seed) : r(seed)
	{
		dut.mac = MAC;
		dut.rst = 1;
		dut.e_valid = dut.p_valid = dut.m_axis_tready = dut.lost = dut.spoil = 0;
		for (int i = 0; i < 20; i++) {
			dut.clk = 0;
			dut.eval();
			dut.clk = 1;
			dut.eval();
		}
		dut.rst = 0;
	}

	[[noreturn]] void fault(const char *what)
	{
		printf("cycle %ld, packet %ld: %s\n", cycle, packets, what);
		exit(1);
	}

	void check(bool good, const char *what)
	{
		if (!good)
			fault(what);
	}

	void drive_packet()
	{
		dut.e_valid = 0;
		dut.p_valid = 0;
		if (todo.empty())
			return;
		const packet &p = todo.front();
		if (!begun && (e_held || r.percent(m.e_valid))) {
			/* Fields that this kind does not use are random. */
			bytes hdr(80);
			for (auto &x : hdr)
				x = (uint8_t)r.next();
			if (!p.raw)
				std::copy(p.hdr.begin(), p.hdr.end(), hdr.begin());
			set_bytes(dut.e_hdr, hdr.data(), 80);
			dut.e_raw = p.raw;
			dut.e_hlen = (uint8_t)(p.raw ? r.below(128) : p.hlen);
			dut.e_plen = (uint16_t)(p.raw ? r.below(16384) : p.payload.size());
			dut.e_len = (uint16_t)(p.raw ? p.payload.size() : r.below(16384));
			dut.e_valid = 1;
		}
		if (given < p.payload.size() && (p_held || r.percent(m.p_valid))) {
			uint8_t beat[B];
			const size_t n = std::min<size_t>(B, p.payload.size() - given);
			for (auto &x : beat)
				x = (uint8_t)r.next();
			memcpy(beat, &p.payload[given], n);
			set_bytes(dut.p_data, beat, B);
			dut.p_last = given + n == p.payload.size();
			dut.p_valid = 1;
		}
	}

	void take_packet()
	{
		packet &p = todo.front();
		e_held = dut.e_valid && !dut.e_ready;
		p_held = dut.p_valid && !dut.p_ready;
		if (dut.e_valid && dut.e_ready) {
			begun = true;
			flight.push_back(p);
			if (quiet > 10)
				begun_at = cycle;
			quiet = 0;
		}
		if (dut.p_valid && dut.p_ready) {
			check(begun, "payload taken before its packet");
			given += B;
		}
		/* The header or beat taken may be wrong: then its ICRC is inverted, also if other fields are wrong. */
		if (!p.raw && ((dut.e_valid && dut.e_ready) || (dut.p_valid && dut.p_ready)) && r.percent(3)) {
			lost = true;
			if (!flight.back().lost)
				for (size_t i = 0; i < 4; i++)
					flight.back().want[flight.back().want.size() - 4 + i] ^= 0xff;
			flight.back().lost = true;
			losses++;
		}
		if (begun && given < p.payload.size() && !dut.p_valid)
			flight.back().gap = true;
		if (begun && given >= p.payload.size()) {
			todo.pop_front();
			begun = false;
			given = 0;
		}
	}

	void check_frame()
	{
		if (stalled)
			check(dut.m_axis_tvalid && get_bytes(dut.m_axis_tdata, B) == stalled_data, "beat changed while it waited");
		stalled = false;
		check(dut.cnt_frames == (dut.m_axis_tvalid && dut.m_axis_tready && dut.m_axis_tlast), "cnt_frames");
		if (begun_at != 0) {
			check(dut.m_axis_tvalid == (cycle == begun_at + LATENCY), "latency of the first beat");
			if (dut.m_axis_tvalid)
				begun_at = 0;
		}
		if (!dut.m_axis_tvalid) {
			check(at == 0 || flight.front().gap, "gap within a frame");
			if (flight.empty())
				quiet++;
			return;
		}
		check(!flight.empty(), "a beat from nowhere");
		const bytes &want = flight.front().want;
		const size_t n = std::min<size_t>(B, want.size() - at);
		bytes is = get_bytes(dut.m_axis_tdata, B);
		check(dut.m_axis_tlast == (at + n == want.size()), "m_axis_tlast");
		check(dut.m_axis_tkeep == keep_of(n), "m_axis_tkeep");
		if (memcmp(is.data(), &want[at], n) != 0) {
			for (size_t i = 0; i < n; i++)
				if (is[i] != want[at + i])
					printf("byte %zu of %zu: %02x, expected %02x\n", at + i, want.size(), is[i], want[at + i]);
			fault("contents");
		}
		if (!dut.m_axis_tready) {
			stalled = true;
			stalled_data = is;
			return;
		}
		beats++;
		at += n;
		if (at == want.size()) {
			at = 0;
			packets++;
			flight.pop_front();
		}
	}

	void step()
	{
		drive_packet();
		dut.lost = lost;
		dut.spoil = 0;
		lost = false;
		dut.m_axis_tready = r.percent(m.ready);
		dut.clk = 0;
		dut.eval();
		check(!dut.bad, "something lost a bit");
		check(!dut.idle || (flight.empty() && !begun), "idle too early");
		check_frame();
		if (!todo.empty())
			take_packet();
		dut.clk = 1;
		dut.eval();
		cycle++;
	}

	void drain()
	{
		const long limit = cycle + 400000;
		while (!todo.empty() || !flight.empty()) {
			step();
			check(cycle < limit, "never drained");
		}
		for (int i = 0; i < 12; i++)
			step();
		check(dut.idle, "not idle at the end");
	}

	void made(bool vlan, unsigned opcode, size_t payload)
	{
		bytes f = roce(r, vlan, opcode, payload);
		const size_t l2 = vlan ? 18 : 14;
		const size_t total = be16(&f[l2 + 2]);
		packet p = {};
		f.resize(l2 + total);
		p.raw = false;
		p.hlen = (unsigned)(l2 + 40 + extension(opcode));
		p.hdr.assign(f.begin(), f.begin() + p.hlen);
		p.payload.assign(f.begin() + p.hlen, f.end() - 4);
		p.want = f;
		put_mac(&p.want[6], MAC);
		put16(&p.want[l2 + 26], 0);
		put_icrc(p.want, l2, total);
		push(p);
	}

	void raw(size_t len)
	{
		packet p = {};
		p.raw = true;
		p.hlen = 0;
		p.payload.resize(len);
		for (auto &x : p.payload)
			x = (uint8_t)r.next();
		p.want = p.payload;
		put_mac(&p.want[6], MAC);
		push(p);
	}

	void push(packet &p)
	{
		if (flip && todo.size() == 20)
			p.want.back() ^= 0x80;
		todo.push_back(p);
	}
};

static const unsigned OPCODES[] = { 0x00, 0x03, 0x06, 0x0b, 0x11 };

static void part_lengths(bench &t, const manners &m, size_t most)
{
	t.m = m;
	for (unsigned op : OPCODES)
		for (int vlan = 0; vlan < 2; vlan++)
			for (size_t n = 0; n <= most; n += 4) {
				t.made(vlan, op, n);
				if (t.todo.size() > 50)
					t.drain();
			}
	for (size_t n = 60; n <= most + 60; n++)
		t.raw(n);
	t.drain();
}

/* One packet at a time into an idle module: the first beat comes after exactly LATENCY cycles. */
static void part_latency(bench &t)
{
	t.m = { 100, 100, 100 };
	for (int i = 0; i < 60; i++) {
		if (i % 3 == 2)
			t.raw(60 + t.r.below(2000));
		else
			t.made(t.r.percent(50), OPCODES[t.r.below(5)], 4 * t.r.below(200));
		t.drain();
	}
}

static void part_rate(bench &t, unsigned opcode, size_t payload, long packets)
{
	t.m = { 100, 100, 100 };
	const size_t len = 14 + 40 + extension(opcode) + payload + 4;
	const long beats = (long)(len + B - 1) / B;
	for (long i = 0; i < packets; i++)
		t.made(false, opcode, payload);
	const long start = t.cycle, end = t.packets + packets;
	while (t.packets < end)
		t.step();
	printf("full rate: %ld packets of %ld beats in %ld cycles\n", packets, beats, t.cycle - start);
	t.check(t.cycle - start <= packets * beats + LATENCY, "bubble between packets");
	t.drain();
}

static void part_random(bench &t, long packets)
{
	while (packets > 0) {
		t.m = { t.r.percent(50) ? 100 : 10 + t.r.below(90), t.r.percent(50) ? 100 : 10 + t.r.below(90),
			t.r.percent(50) ? 100 : 10 + t.r.below(90) };
		for (int i = 0; i < 10; i++, packets--)
			if (t.r.percent(25))
				t.raw(60 + t.r.below(t.r.percent(80) ? 200 : 4119));
			else
				t.made(t.r.percent(40), OPCODES[t.r.below(5)], t.r.percent(20) ? 1024 : t.r.percent(10) ? 4096 :
				       4 * t.r.below(80));
		if (t.r.percent(50))
			t.drain();
		else
			while (t.todo.size() > 2)
				t.step();
	}
	t.m = { 100, 100, 100 };
	t.drain();
}

/*
 * Resets of 1 to 15 cycles while frames leave. Every frame that the MAC has begun to receive is ended: a frame in
 * progress ends with a beat that marks it bad, others are whole, and an offered beat is held.
 */
static void part_reset(bench &t)
{
	long cut = 0, whole = 0, waited = 0;

	for (int round = 0; round < 600; round++) {
		t.m = { 100, t.r.percent(50) ? 100u : 60u, t.r.percent(50) ? 100 : 20 + t.r.below(80) };
		for (int k = 0; k < 4; k++)
			t.r.percent(50) ? t.raw(60 + t.r.below(500)) : t.made(t.r.percent(40), 4, 4 * t.r.below(80));
		t.drain();
		/* Idle; then the frame that is cut. */
		t.todo.clear();
		t.raw(60 + t.r.below(20 * B));
		const packet p = t.todo.front();
		bytes next;	/* the frame after the reset */
		bool again = false, offered = false;
		const unsigned slow = t.r.percent(50) ? 5 : t.m.ready;
		const unsigned before = 1 + t.r.below(LATENCY + 24), cycles = 1 + t.r.below(15);
		bytes got;
		bool held = false, ended = false, bad = false;
		bytes held_data;
		auto look = [&]() {
			offered |= t.dut.m_axis_tvalid && !again;
			if (held)
				t.check(t.dut.m_axis_tvalid && get_bytes(t.dut.m_axis_tdata, B) == held_data, "a beat changed in reset");
			held = t.dut.m_axis_tvalid && !t.dut.m_axis_tready;
			held_data = get_bytes(t.dut.m_axis_tdata, B);
			waited += held;
			if (!t.dut.m_axis_tvalid || !t.dut.m_axis_tready)
				return;
			if (ended || (again && !offered)) {
				const bytes data = get_bytes(t.dut.m_axis_tdata, B);

				t.check(again && !t.dut.m_axis_tuser, "a beat of no frame");
				next.insert(next.end(), data.begin(), data.end());
				again = !t.dut.m_axis_tlast;
				return;
			}
			t.check(t.dut.cnt_frames == (t.dut.m_axis_tlast && !t.dut.m_axis_tuser), "cnt_frames counts a frame cut short");
			const bytes data = get_bytes(t.dut.m_axis_tdata, B);
			got.insert(got.end(), data.begin(), data.end());
			ended = t.dut.m_axis_tlast;
			bad = t.dut.m_axis_tuser;
			t.check(!bad || ended, "bad before the end");
		};
		for (unsigned k = 0; k < before + cycles + 400; k++) {
			if (k == before) {
				t.todo.clear();
				t.begun = t.e_held = t.p_held = false;
				t.given = 0;
			}
			if (k == before + cycles) {
				t.raw(100);
				again = true;
			}
			t.dut.lost = 0;
			t.dut.rst = k >= before && k < before + cycles;
			t.drive_packet();
			if (k >= before && k < before + cycles)
				t.dut.e_valid = t.dut.p_valid = 0;
			t.dut.m_axis_tready = t.r.percent(k > before + 60 ? 100 : k > before ? slow : t.m.ready);
			t.dut.clk = 0;
			t.dut.eval();
			look();
			if (!t.dut.rst)
				t.take_packet();
			t.dut.clk = 1;
			t.dut.eval();
			t.cycle++;
		}
		t.check(got.empty() || ended, "a frame without an end");
		next.resize(100);
		t.check(!again && !memcmp(&next[12], &t.flight.back().want[12], 88), "the frame after a reset");
		if (bad) {
			cut++;
			t.check(!memcmp(got.data(), p.want.data(), std::min(got.size() - B, p.want.size())), "contents before the cut");
		} else if (ended) {
			whole++;
			got.resize(p.want.size());
			t.check(got == p.want, "contents of a frame that the reset left alone");
		}
		t.dut.rst = 0;
		t.todo.clear();
		t.flight.clear();
		t.given = t.at = 0;
		t.begun = t.e_held = t.p_held = t.stalled = false;
		t.quiet = t.begun_at = 0;
	}
	t.check(cut > 150 && whole > 50 && waited > 100, "resets in the middle of frames hardly met");
	printf("resets: %ld frames cut and marked, %ld whole\n", cut, whole);
}

/* The frames that leave by a port whose link goes down and comes up again, compared with the input. */
struct link_watch {
	bench &t;
	bytes got, held_data;
	bool held = false;
	unsigned stall = 0, longest = 0;	/* consecutive cycles in which the MAC takes nothing */
	long down = 0, gone = 0, whole = 0, cut = 0;

	explicit link_watch(bench &b) : t(b) {}

	bool is_down() const
	{
		return stall >= STALL_CYCLES;
	}

	void ended()
	{
		if (t.dut.m_axis_tuser) {
			/* Of the frame that was leaving: the frames before it have left whole. */
			t.check(!t.flight.empty(), "a bad frame from nowhere");
			const bytes &want = t.flight.front().want;
			t.check(got.size() > B && got.size() - B < want.size() && !memcmp(got.data(), want.data(), got.size() - B),
				"contents before the cut");
			cut++;
			return;
		}
		for (; !t.flight.empty(); gone++) {
			const bytes want = t.flight.front().want;

			t.flight.pop_front();
			if (got.size() / B == (want.size() + B - 1) / B && !memcmp(got.data(), want.data(), want.size())) {
				whole++;
				return;
			}
		}
		t.fault("a frame that was never given, or not whole");
	}

	void look()
	{
		auto &d = t.dut;
		const bool left = d.m_axis_tvalid && d.m_axis_tready;

		if (held)
			t.check(d.m_axis_tvalid && get_bytes(d.m_axis_tdata, B) == held_data, "a beat changed while it was offered");
		held = d.m_axis_tvalid && !d.m_axis_tready;
		held_data = get_bytes(d.m_axis_tdata, B);
		t.check(!d.m_axis_tuser || d.m_axis_tlast, "bad before the end");
		t.check(d.cnt_frames == (left && d.m_axis_tlast && !d.m_axis_tuser), "cnt_frames");
		t.check(!d.idle || (!d.m_axis_tvalid && t.flight.size() <= (size_t)(down - gone)), "idle too early");
		down += d.cnt_down;
		if (left) {
			const bytes data = get_bytes(d.m_axis_tdata, B);

			got.insert(got.end(), data.begin(), data.end());
			if (d.m_axis_tlast) {
				ended();
				got.clear();
			}
		}
		stall = held ? stall + 1 : 0;
		longest = std::max(longest, stall);
	}

	/* One cycle; the beats taken in it, as beats on the wire. */
	size_t step()
	{
		const size_t before = t.flight.size();

		t.drive_packet();
		t.dut.lost = t.lost;
		t.lost = false;
		t.dut.clk = 0;
		t.dut.eval();
		look();
		const size_t now = t.flight.size() < before ? t.flight.size() : before;
		if (!t.todo.empty())
			t.take_packet();
		t.dut.clk = 1;
		t.dut.eval();
		t.cycle++;
		return t.flight.size() > now ? (t.flight.back().want.size() + B - 1) / B : 0;
	}
};

/*
 * The link takes nothing for a while. Shorter than STALL_CYCLES: nothing is lost. Longer: whole frames are discarded
 * and counted, as fast as they arrive; the frame that was leaving is ended as bad; frames that leave afterwards are
 * whole, and in order.
 */
static void part_down(bench &t)
{
	long cut = 0, gone = 0, after = 0, patient = 0, kept = 0;

	for (int round = 0; round < 150; round++) {
		link_watch w(t);
		const bool full = t.r.percent(50);
		const unsigned before = t.r.below(200), back = 20 + t.r.below(200);
		const unsigned stall = t.r.percent(30) ? STALL_CYCLES - 210 - t.r.below(9)
				       : t.r.percent(50) ? STALL_CYCLES - 3 + t.r.below(8) : STALL_CYCLES + t.r.below(1500);
		long down_cycles = 0, down_beats = 0, end = 0;

		t.m = { full ? 100u : 30u, full ? 100u : 90u, 70 };
		for (unsigned k = 0; k < before + stall + back || !t.dut.idle; k++) {
			while (k < before + stall + back && t.todo.size() < 3)
				t.r.percent(40) ? t.raw(60 + t.r.below(600)) : t.made(t.r.percent(40), OPCODES[t.r.below(5)], 4 * t.r.below(120));
			t.dut.m_axis_tready = k < before ? t.r.percent(t.m.ready) : k >= before + stall;
			const bool steady = w.stall > STALL_CYCLES + 16;
			const size_t beats = w.step();
			down_cycles += steady;
			down_beats += steady ? (long)beats : 0;
			if (k + 1 == before + stall)
				end = w.whole;
			t.check(k < 100000, "never at rest");
		}
		gone += w.gone + (long)t.flight.size();
		t.check(w.down == w.gone + (long)t.flight.size(), "cnt_down");
		t.check(w.longest >= STALL_CYCLES || w.down + w.cut == 0, "something was discarded although the link was not down");
		t.check(w.longest <= STALL_CYCLES + 1 || w.down != 0, "nothing was discarded");
		t.check(w.whole > end, "nothing has left since the link was back");
		if (full && down_cycles > 500)
			t.check(down_beats + 130 * 8 / B + 10 > down_cycles, "what waits is discarded slower than a beat a cycle");
		patient += w.longest < STALL_CYCLES;
		kept += w.down != 0 && w.cut == 0;
		after += w.down != 0;
		cut += w.cut;
		t.flight.clear();
		t.todo.clear();
		t.given = t.at = 0;
		t.begun = t.e_held = t.p_held = t.stalled = false;
		t.quiet = t.begun_at = 0;
	}
	printf("links down: %ld frames cut and marked, %ld discarded with them; %ld times none was cut, %ld times not down\n", cut, gone,
	       kept, patient);
	t.check(cut > 30 && gone > 500 && after > 40 && patient > 20 && kept > 0, "links that go down hardly met");
}

static void speed(bench &t, long cycles)
{
	bytes f = roce(t.r, false, 1, 1024), beat(B, 0x5a);
	long out = 0;
	set_bytes(t.dut.e_hdr, f.data(), 80);
	t.dut.e_raw = 0;
	t.dut.e_hlen = 54;
	t.dut.e_plen = 1024;
	t.dut.m_axis_tready = 1;
	t.dut.e_valid = t.dut.p_valid = 1;
	const clock_t start = clock();
	for (long i = 0; i < cycles; i++) {
		beat[i % B] = (uint8_t)i;
		set_bytes(t.dut.p_data, beat.data(), B);
		t.dut.clk = 0;
		t.dut.eval();
		out += t.dut.m_axis_tvalid;
		t.dut.clk = 1;
		t.dut.eval();
	}
	const double s = (double)(clock() - start) / CLOCKS_PER_SEC;
	printf("rf_egress, %d bits, full load: %.0f cycles/s (%ld beats out)\n", WIDTH, (double)cycles / s, out);
}

int main(int argc, char **argv)
{
	const unsigned long seed = option(argc, argv, "seed", 1);
	std::unique_ptr<bench> t(new bench(seed));

	if (option(argc, argv, "speed", 0)) {
		speed(*t, (long)option(argc, argv, "speed", 0));
		return 0;
	}
	printf("seed %lu; again: %s --seed %lu\n", seed, argv[0], seed);
	t->flip = flag(argc, argv, "flip");
	part_lengths(*t, { 100, 100, 100 }, 3 * B + 8);
	part_lengths(*t, { 60, 70, 70 }, 2 * B + 8);
	part_latency(*t);
	part_rate(*t, 1, 1024, 200);
	part_rate(*t, 0x0a, 1024, 200);
	part_rate(*t, 1, 4096, 50);
	part_rate(*t, 0x11, 0, 2000);
	part_rate(*t, 4, 4, 2000);
	part_reset(*t);
	part_down(*t);
	part_random(*t, (long)option(argc, argv, "packets", 3000));
	printf("%ld packets, %ld beats, %ld cycles, good\n", t->packets, t->beats, t->cycle);
	return 0;
}
