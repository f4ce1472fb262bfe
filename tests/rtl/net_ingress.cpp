/*
 * rf_ingress against the reference of net_ref.h: every descriptor, its cycle, every output beat.
 *
 *   Vrf_ingress [--seed N] [--frames N] [--pcap FILE]    all parts
 *   Vrf_ingress --flip                                   a wrong expectation is inserted: must fail
 *   Vrf_ingress --speed N                                N cycles at full load, prints cycles per second of CPU time
 *
 * Compiled with WIDTH, and MTU_MAX as MTU if it is not 4096: the module's parameters.
 */
#include <ctime>
#include <deque>
#include <map>
#include <memory>
#include "Vrf_ingress.h"
#include "tests/rtl/net_ref.h"

using namespace net;

#ifndef MTU
#define MTU 4096
#endif

enum { B = WIDTH / 8, LATENCY = 4, READ_LATENCY = 2, PORTS = 4, MTU_MAX = MTU, FRAMES = 32, LINES = 23 };

/* Beats of the frame FIFO: 256, doubled until three of the longest frames fit. */
static long fifo_beats()
{
	long n = 256;
	while (n < 3 * ((MTU_MAX + AROUND_PAYLOAD + B - 1) / B))
		n *= 2;
	return n;
}
static const long FIFO_BEATS = fifo_beats();

struct item {
	bytes f;
	bool bad;
};

/* A frame that was received and reported. */
struct told {
	verdict v;
	bytes f;
	long end;
	long beats;
};

struct output {
	bytes data;
	long command;
	size_t at;
	long beats;
	bool idle;
};

/* Behaviour of the two sides; percent. */
struct manners {
	unsigned idle, d_ready, header, command, o_ready;
	bool stop;		/* the judge does nothing at all */
	bool no_loss;		/* a lost frame is an error */
	int op;			/* command for RoCE: -1 random */
};

struct bench {
	Vrf_ingress dut;
	rng r;
	box b;
	manners m;
	long cycle = 0, frames = 0, lost = 0, fires = 0;
	bool flip = false;
	std::deque<item> todo;
	size_t sent = 0;
	bool pulse = false, first = false;
	item ended, ending;
	long occupied_at_start = 0, occupied_at_ended = 0, occupied = 0;
	/* Frames that wait for their command; the headers of the youngest of them, not taken yet. */
	std::deque<told> descs, waiting;
	std::deque<bytes> headers;
	std::deque<output> outs;
	long last_out = -10;
	bool in_out = false, stalled = false;
	bytes stalled_data;
	std::map<int, long> seen;

	explicit bench(uint64_t seed) : r(seed)
	{
		b.mac = 0x02b0c4d5fffeull;	/* + k crosses a byte */
		b.ip = 0x0a000001;
		b.ports = PORTS;
		b.mtu_max = MTU_MAX;
		m = { 20, 80, 60, 50, 80, false, false, -1 };
		dut.base_mac = b.mac;
		dut.box_ip = b.ip;
		b.port = PORT;
		for (unsigned k = 0; k < PORTS; k++)
			address(k, k == 1 ? 0 : 0x0a000010 + k);
		reset();
	}

	/* PORT_IP of port k; 0: none. A frame may be in progress only if it concerns none of the two. */
	void address(unsigned k, uint32_t ip)
	{
		b.port_ip[k] = ip;
		dut.port_ip[k] = ip;
		dut.port_ip_set = (uint8_t)((dut.port_ip_set & ~(1u << k)) | (unsigned)(ip != 0) << k);
	}

	[[noreturn]] void fault(const char *what)
	{
		printf("cycle %ld, frame %ld: %s\n", cycle, frames, what);
		exit(1);
	}

	void check(bool good, const char *what)
	{
		if (!good)
			fault(what);
	}

	void reset()
	{
		dut.rst = 1;
		dut.s_axis_tvalid = 0;
		dut.c_valid = 0;
		dut.d_ready = 0;
		dut.h_take = 0;
		dut.o_ready = 0;
		for (int i = 0; i < 20; i++) {
			dut.clk = 0;
			dut.eval();
			dut.clk = 1;
			dut.eval();
		}
		dut.rst = 0;
		todo.clear();
		descs.clear();
		waiting.clear();
		headers.clear();
		outs.clear();
		sent = 0;
		pulse = false;
		occupied = 0;
		in_out = stalled = false;
		last_out = cycle - 10;
	}

	void drive_input(bool *last)
	{
		*last = first = false;
		dut.s_axis_tvalid = 0;
		if (todo.empty() || r.percent(m.idle))
			return;
		const item &it = todo.front();
		const size_t n = std::min<size_t>(B, it.f.size() - sent);
		uint8_t beat[B];
		for (auto &x : beat)
			x = (uint8_t)(cycle * 37 + 11);	/* arbitrary bytes after the end */
		memcpy(beat, &it.f[sent], n);
		set_bytes(dut.s_axis_tdata, beat, B);
		dut.s_axis_tkeep = keep_of(n);
		dut.s_axis_tvalid = 1;
		*last = sent + n == it.f.size();
		dut.s_axis_tlast = *last;
		dut.s_axis_tuser = *last && it.bad;
		first = sent == 0;
		sent += n;
		if (*last) {
			ending = it;
			todo.pop_front();
			sent = 0;
		}
	}

	void check_pulse()
	{
		check(dut.cnt_frames == pulse, "cnt_frames");
		check(!dut.cnt_overflow || pulse, "cnt_overflow without a frame");
		if (!pulse)
			return;
		frames++;
		const long beats = (long)(std::min<size_t>(ended.f.size(), MTU_MAX + AROUND_PAYLOAD) + B - 1) / B;
		if (dut.cnt_overflow) {
			const long outstanding = (long)(descs.size() + waiting.size());
			lost++;
			check(!m.no_loss, "frame lost");
			check(occupied_at_ended + beats > FIFO_BEATS || outstanding >= FRAMES, "frame lost with room");
			return;
		}
		told t;
		t.v = judge(ended.f, ended.bad, b);
		if (flip && frames == 50)
			t.v.len ^= 1;
		t.f = ended.f;
		t.end = cycle - 1;
		const bool kept = !ended.bad && ended.f.size() <= MTU_MAX + AROUND_PAYLOAD;
		t.beats = kept ? beats : 0;
		occupied += t.beats;
		descs.push_back(t);
	}

	void check_descriptor()
	{
		const bool due = !descs.empty() && descs.front().end + LATENCY <= cycle;
		check(dut.d_valid == due, due ? "descriptor late" : "descriptor early or too many");
		if (!due)
			return;
		const told &t = descs.front();
		const verdict &v = t.v;
		if (dut.d_class != v.kind || (v.kind == 0 && dut.d_cause != v.cause))
			printf("frame of %zu bytes: class %d, cause %d, expected %d, %d\n", v.len, dut.d_class, dut.d_cause, v.kind,
			       v.cause);
		check(dut.d_class == v.kind, "d_class");
		if (v.kind == 0)
			check(dut.d_cause == v.cause, "d_cause");
		check(dut.d_len == v.len, "d_len");
		check(v.kind == 0 || dut.d_vlan == v.vlan, "d_vlan");
		if (v.kind != 2)
			return;
		check(dut.d_opcode == v.opcode, "d_opcode");
		check(dut.d_qpn == v.qpn && dut.d_psn == v.psn && dut.d_pad == v.pad, "d_qpn, d_psn or d_pad");
		check(dut.d_src_ip == v.src_ip, "d_src_ip");
		check(dut.d_role == v.role && dut.d_key_ip == v.key_ip, "key");
		seen[2000 + (int)v.role]++;
		check(dut.d_udp_len == v.udp_len, "d_udp_len");
		check(dut.d_hlen == v.hlen && dut.d_plen == (v.plen & 0x3fff), "d_hlen or d_plen");
		if (v.opcode == 0x11)
			check(dut.d_syndrome == v.syndrome && dut.d_msn == v.msn, "AETH");
		check(dut.d_icrc_ok == v.icrc_ok, "d_icrc_ok");
	}

	int pick_op(const told &t)
	{
		if (t.beats == 0)
			return 0;
		if (t.v.kind == 2 && m.op >= 0)
			return m.op == 1 && t.v.plen <= 0 ? 2 : m.op;
		if (t.v.kind == 2 && t.v.plen > 0)
			return (int)r.below(3);
		return r.percent(50) ? 2 : 0;
	}

	void check_output()
	{
		check(!in_out || dut.o_valid, "gap within a frame");
		if (stalled)
			check(dut.o_valid && get_bytes(dut.o_data, B) == stalled_data, "output changed while it waited");
		stalled = false;
		if (!dut.o_valid) {
			if (!outs.empty() && outs.front().idle)
				check(cycle < outs.front().command + READ_LATENCY, "output late");
			return;
		}
		check(!outs.empty(), "output nobody asked for");
		output &o = outs.front();
		const size_t n = std::min<size_t>(B, o.data.size() - o.at);
		bytes want(o.data.begin() + (long)o.at, o.data.begin() + (long)(o.at + n));
		bytes is = get_bytes(dut.o_data, B);
		want.resize(B, 0);
		check(is == want, "o_data");
		check(dut.o_keep == keep_of(n), "o_keep");
		check(dut.o_last == (o.at + n == o.data.size()), "o_last");
		if (!dut.o_ready) {
			stalled = true;
			stalled_data = is;
			return;
		}
		o.at += n;
		in_out = o.at != o.data.size();
		last_out = cycle;
		if (!in_out) {
			occupied -= o.beats;
			outs.pop_front();
		}
	}

	void step()
	{
		bool last;
		drive_input(&last);
		dut.d_ready = !m.stop && r.percent(m.d_ready);
		dut.o_ready = r.percent(m.o_ready);
		dut.c_valid = 0;
		dut.clk = 0;
		dut.eval();
		check_pulse();
		pulse = last;
		if (first)
			occupied_at_start = occupied;
		if (last) {
			ended = ending;
			occupied_at_ended = occupied_at_start;
		}
		check_descriptor();
		if (dut.d_valid && dut.d_ready) {
			const told &t = descs.front();
			seen[t.v.kind == 0 ? t.v.cause : 1000 + t.v.kind * 2 + t.v.icrc_ok]++;
			waiting.push_back(t);
			headers.push_back(t.f);
			headers.back().resize(80, 0);
			descs.pop_front();
		}
		dut.h_take = !headers.empty() && !m.stop && r.percent(m.header);
		if (!headers.empty())
			check(get_bytes(dut.d_hdr, 80) == headers.front(), "d_hdr");
		if (dut.h_take)
			check(dut.d_from == mac_of(&headers.front()[6]), "d_from");
		if (dut.h_take)
			headers.pop_front();
		if (waiting.size() > headers.size() && !m.stop && r.percent(m.command)) {
			dut.c_op = (uint8_t)pick_op(waiting.front());
			dut.c_valid = 1;
			dut.eval();
		}
		check_output();
		if (dut.c_valid && dut.c_ready) {
			const told &t = waiting.front();
			output o = { bytes(), cycle, 0, t.beats, outs.empty() && last_out < cycle };
			if (dut.c_op == 1)
				o.data.assign(t.f.begin() + t.v.hlen, t.f.begin() + t.v.hlen + t.v.plen);
			else if (dut.c_op == 2)
				o.data = t.f;
			if (dut.c_op == 0)
				occupied -= t.beats;
			else
				outs.push_back(o);
			waiting.pop_front();
			fires++;
		}
		check(!dut.idle || dut.s_axis_tvalid || (outs.empty() && descs.empty() && waiting.empty() && !pulse && sent == 0), "idle too early");
		dut.clk = 1;
		dut.eval();
		cycle++;
	}

	void drain()
	{
		m.stop = false;
		const long limit = cycle + 200000;
		while (!todo.empty() || pulse || !descs.empty() || !waiting.empty() || !outs.empty()) {
			step();
			check(cycle < limit, "never drained");
		}
		for (int i = 0; i < 6; i++)
			step();
		check(dut.idle, "not idle at the end");
	}
};

static size_t random_payload(rng &r)
{
	switch (r.below(8)) {
	case 0: return r.below(12);
	case 1: return 4 * r.below(33);
	case 2: return 1024;
	case 3: return 4 * r.below(257);
	case 4: return r.below(MTU_MAX + 1);
	case 5: return MTU_MAX;
	default: return 4 * (1 + r.below(40));
	}
}

static unsigned random_opcode(rng &r)
{
	return r.percent(70) ? r.below(12) : r.percent(40) ? 0x11 : r.percent(50) ? r.below(256) : 0x81;
}

/* The address of a port, or 0 as of one that has none. */
static uint32_t port_ip(bench &t)
{
	return t.r.percent(10) ? 0 : t.b.port_ip[t.r.percent(60) ? (unsigned)PORT : t.r.below(PORTS)];
}

/* Changes a frame so that it matches line `line` of docs/box.md, or nearly does. */
static void spoil(bench &t, item &it, bool vlan, unsigned line)
{
	rng &r = t.r;
	const size_t l2 = vlan ? 18 : 14;
	bytes &f = it.f;
	uint8_t *ip = &f[l2];

	if (f.size() < 60)
		return;

	switch (line) {
	case 2:
		it.bad = true;
		if (r.percent(50))
			f.resize(1 + r.below((unsigned)f.size()));
		break;
	case 3:
		f.resize(r.percent(50) ? 56 + r.below(6) : 1 + r.below(60));
		break;
	case 4:
		f.resize(MTU_MAX + AROUND_PAYLOAD + r.below(4) - 1 + (r.percent(20) ? r.below(9000) : 0));
		break;
	case 5:
		put_mac(&f[6], t.b.mac - 1 + r.below(PORTS + 2));
		break;
	case 6:
		put16(&f[12], r.percent(50) ? 0x88a8 : 0x8100);
		put16(&f[16], r.percent(50) ? 0x88a8 : r.percent(50) ? 0x8100 : 0x0800);
		break;
	case 7:
		put16(&f[vlan ? 16 : 12], 0x0806);
		if (r.percent(50))
			put32(ip + 24, (r.percent(50) ? t.b.ip : port_ip(t)) ^ (r.percent(30) ? 1u << r.below(32) : 0));
		if (r.percent(30))
			put32(ip + 14, port_ip(t) ^ (r.percent(30) ? 1u << r.below(32) : 0));
		f[0] |= r.below(2);
		break;
	case 8:
		put16(&f[vlan ? 16 : 12], 0x86dd);
		break;
	case 9:
		put16(&f[vlan ? 16 : 12], 0x0800 ^ 1 << r.below(16));
		break;
	case 10:
		ip[0] ^= (uint8_t)(16 << r.below(4));
		break;
	case 11:
		ip[0] ^= (uint8_t)(1 << r.below(4));
		break;
	case 12:
		put16(ip + 6, 1 << r.below(16));
		break;
	case 13:
		f[0] |= 1;
		break;
	case 14:
		if (r.percent(30))
			put16(ip + 2, r.below(60));
		else if (r.percent(50))
			put16(ip + 2, be16(ip + 2) + r.below(5) - 2);
		else
			f.resize(60 + r.below(7));
		break;
	case 15:
		put32(ip + 16, (r.percent(50) ? t.b.ip : port_ip(t)) ^ (r.percent(20) ? 1u << r.below(32) : 0));
		ip[9] = 1;
		break;
	case 16:
		if (r.percent(50))
			ip[9] ^= (uint8_t)(1 << r.below(8));
		else
			put16(ip + 22, 4791 ^ 1 << r.below(16));
		break;
	case 17:
		put16(ip + 24, be16(ip + 24) + r.below(5) - 2);
		break;
	case 18:
		put32(ip + 16, t.b.ip ^ (r.percent(20) ? 1u << r.below(32) : 0));
		break;
	case 19: {
		/* Short UDP, valid lengths. */
		const unsigned udp = 8 + r.below(20);
		put16(ip + 2, 20 + udp);
		put16(ip + 24, udp);
		f.resize(std::max<size_t>(r.percent(50) ? 60 : l2 + 46, l2 + 20 + udp));
		if (udp >= 24)
			put_icrc(f, l2, 20 + udp);
		break;
	}
	case 20:
		f[r.below((unsigned)f.size())] ^= (uint8_t)(1 << r.below(8));
		break;
	case 21:
		for (auto &x : f)
			x = (uint8_t)r.next();
		break;
	case 22:
		/* Words whose sum is close to the correct one, and both representations of zero. */
		if (r.percent(50))
			put16(ip + 2 * r.below(10), r.percent(30) ? 0 : r.percent(50) ? 0xffff : r.below(65536));
		else if (r.percent(50))
			put16(ip + 10, be16(ip + 10) + r.below(5) - 2);
		else
			put16(ip + 4, be16(ip + 4) + be16(ip + 10));
		if (r.percent(30))
			put16(ip + 10, be16(ip + 10) == 0 ? 0xffff : 0);
		break;
	case 23:
		/* For the address of this port or another, with the MAC of this port or one that differs in a bit. */
		put_mac(&f[0], (t.b.mac + (r.percent(90) ? PORT : r.below(PORTS))) ^ (r.percent(20) ? 1ull << r.below(48) : 0));
		put32(ip + 16, (r.percent(80) ? t.b.port_ip[PORT] : port_ip(t)) ^ (r.percent(10) ? 1u << r.below(32) : 0));
		if (r.percent(30))
			put32(ip + 28, 0x52464354 ^ (r.percent(40) ? 1u << r.below(32) : 0));
		if (r.percent(15))
			ip[9] = 1;
		if (r.percent(15)) {
			/* Around the shortest payload that can be the magic. */
			const unsigned udp = 8 + r.below(8);
			put16(ip + 2, 20 + udp);
			put16(ip + 24, udp);
			f.resize(60);
		}
		put_ip_sum(ip);
		break;
	default:
		break;
	}
	/* After a change in the IP header the checksum is usually corrected. */
	if (line >= 12 && line <= 19 && f.size() >= l2 + 20 && r.percent(90))
		put_ip_sum(&f[l2]);
}

/* A frame for line `line`, 0 for a good one; some with a second error, so that the order of the lines is tested. */
static item frame_for(bench &t, unsigned line)
{
	rng &r = t.r;
	const bool vlan = r.percent(40);
	item it = { roce(r, vlan, random_opcode(r), line == 4 ? MTU_MAX - 8 : random_payload(r)), false };
	bytes &f = it.f;

	spoil(t, it, vlan, line);
	if (line != 0 && r.percent(40))
		spoil(t, it, vlan, 2 + r.below(LINES - 1));
	if (line != 4 && r.percent(3))
		f[r.below((unsigned)f.size())] ^= (uint8_t)(1 << r.below(8));
	if (f.size() > 12000)
		f.resize(12000);
	return it;
}

static void part_random(bench &t, long frames)
{
	for (long i = 0; i < frames;) {
		const bool stop = t.r.percent(3);
		t.m = { t.r.percent(50) ? 0 : t.r.below(90), t.r.percent(50) ? 100 : 20 + t.r.below(80), t.r.percent(50) ? 100 : 20 + t.r.below(80),
			t.r.percent(50) ? 100 : 20 + t.r.below(80), t.r.percent(50) ? 100 : 20 + t.r.below(80), stop, false, -1 };
		for (int k = stop ? 60 : 12; k > 0; k--, i++)
			t.todo.push_back(frame_for(t, t.r.percent(50) ? 0 : t.r.percent(15) ? 23 : 2 + t.r.below(LINES - 1)));
		while (!t.todo.empty())
			t.step();
		if (t.r.percent(20)) {
			t.drain();
			t.address(PORT, t.r.percent(20) ? 0 : 0x0a000010 + PORT + 16 * t.r.below(8));
		}
	}
	t.drain();
	printf("random: %ld frames, %ld lost for lack of room\n", t.frames, t.lost);
}

/* Every payload length up to a few beats, every opcode with headers of its own, with and without tag. */
static void part_lengths(bench &t)
{
	static const unsigned opcodes[] = { 0x00, 0x03, 0x06, 0x0b, 0x11, 0x20 };
	t.m = { 0, 100, 100, 100, 100, false, true, 1 };
	for (unsigned op : opcodes)
		for (int vlan = 0; vlan < 2; vlan++)
			for (size_t n = 0; n <= 3 * B + 8; n++)
				t.todo.push_back({ roce(t.r, vlan, op, n), false });
	t.drain();
	for (size_t n = 60; n <= 4 * B + 60; n++) {
		item it = { bytes(n), false };
		for (auto &x : it.f)
			x = (uint8_t)t.r.next();
		put_mac(&it.f[0], 0x020000000001ull);
		put16(&it.f[12], 0x0806);
		put32(&it.f[14 + 24], t.b.ip);
		t.todo.push_back(it);
	}
	t.drain();
}

/* One wrong bit in every byte of a frame: the ICRC must detect errors in the bytes that it covers, and no others. */
static void part_corrupt(bench &t)
{
	long wrong = 0, right = 0;
	t.m = { 0, 100, 100, 100, 100, false, true, 0 };
	for (int vlan = 0; vlan < 2; vlan++)
		for (unsigned op : { 0x02u, 0x11u, 0x0au })
			for (size_t n : { 0u, 4u, 68u, 256u }) {
				const bytes good = roce(t.r, vlan, op, n);
				for (size_t i = 0; i < good.size(); i++) {
					item it = { good, false };
					it.f[i] ^= (uint8_t)(1 << t.r.below(8));
					const verdict v = judge(it.f, false, t.b);
					if (v.kind == 2)
						(v.icrc_ok ? right : wrong)++;
					t.todo.push_back(it);
				}
				t.drain();
			}
	t.check(wrong > 1000 && right > 50, "corruption did not reach both sides");
	printf("corrupted: %ld with wrong ICRC, %ld with a change that it does not cover\n", wrong, right);
}

/* Full rate: no frame may be lost, and the output keeps up with the input. */
static void part_rate(bench &t, const char *what, unsigned opcode, size_t payload, int op, long frames)
{
	t.m = { 0, 100, 100, 100, 100, false, true, op };
	const size_t len = roce(t.r, false, opcode, payload).size();
	const long beats = (long)(len + B - 1) / B;
	const long start = t.cycle, fires = t.fires;
	for (long i = 0; i < frames; i++)
		t.todo.push_back({ roce(t.r, false, opcode, payload), false });
	while (t.fires < fires + frames)
		t.step();
	printf("full rate, %s: %ld frames of %ld beats in %ld cycles\n", what, frames, beats, t.cycle - start);
	t.check(t.cycle - start <= frames * beats + 8, "not full rate");
	t.drain();
}

static void part_golden(bench &t, const std::string &path)
{
	std::vector<bytes> frames = read_pcap(path);
	long good = 0;
	t.check(!frames.empty(), "the capture cannot be read");
	t.m = { 10, 100, 100, 100, 90, false, true, 1 };
	for (auto &f : frames) {
		const verdict v = judge(f, false, t.b);
		good += v.kind == 2 && v.icrc_ok;
		t.todo.push_back({ f, false });
	}
	t.drain();
	t.check(good == (long)frames.size(), "a captured frame is not good");
	printf("captured: %ld frames, all good\n", good);
}

/* The shortest RoCE frames with every padding, some with a wrong bit: the ICRC covers the IP packet only. */
static void part_padded(bench &t)
{
	long right = 0, wrong = 0;
	t.m = { 0, 100, 100, 100, 100, false, true, 2 };
	for (int round = 0; round < 40; round++)
		for (int vlan = 0; vlan < 2; vlan++)
			for (size_t n = 0; n < 3; n++)
				for (size_t len = 60; len <= 66; len++) {
					item it = { roce(t.r, vlan, 4, n), false };
					const size_t end = (vlan ? 18u : 14u) + 44 + n;
					if (len < end)
						continue;
					it.f.resize(len);
					for (size_t k = end; k < len; k++)
						it.f[k] = (uint8_t)t.r.next();
					if (t.r.percent(30))
						it.f[end - 1 - t.r.below(8)] ^= (uint8_t)(1 << t.r.below(8));
					const verdict v = judge(it.f, false, t.b);
					if (v.kind == 2 && len > end)
						(v.icrc_ok ? right : wrong)++;
					t.todo.push_back(it);
				}
	t.drain();
	t.check(right > 50 && wrong > 20, "padded frames were hardly met");
	printf("padded: %ld with right ICRC, %ld with a wrong one\n", right, wrong);
}

static void part_reset(bench &t)
{
	for (int i = 0; i < 20; i++) {
		t.m = { 10, 60, 70, 60, 60, false, false, -1 };
		for (int k = 0; k < 10; k++)
			t.todo.push_back(frame_for(t, 0));
		for (unsigned k = t.r.below(120); k > 0; k--)
			t.step();
		t.reset();
		t.todo.push_back(frame_for(t, 0));
		t.drain();
	}
}

/*
 * Resets while frames arrive. The MAC ignores the reset, and there are gaps inside of frames. A frame in progress when
 * the reset ended is ignored; every frame that begins later is received.
 */
static void part_reset_inside(bench &t)
{
	long skipped = 0, clean = 0;

	for (int round = 0; round < 300; round++) {
		const unsigned gap = t.r.percent(50) ? 0 : t.r.below(30), at = 1 + t.r.below(60), length = 1 + t.r.below(24);
		std::deque<bytes> frames;
		std::vector<size_t> want, is;
		size_t from = 0;
		bool inside_at_reset = false;

		t.reset();
		t.m = { 0, 100, 100, 100, 100, false, false, 0 };
		for (int k = 0; k < 12; k++)
			frames.push_back(roce(t.r, t.r.percent(30), 4, t.r.below(12 * B)));
		for (unsigned k = 0, after = 0; after < 2 * LATENCY || k < at + length; k++, after += frames.empty()) {
			const bool rst = k >= at && k < at + length;
			const bool beat = !frames.empty() && !t.r.percent(gap);

			t.dut.rst = rst;
			t.dut.s_axis_tvalid = beat;
			if (beat) {
				const bytes &f = frames.front();
				const size_t n = std::min<size_t>(B, f.size() - from);
				bytes data(B, 0);

				memcpy(data.data(), &f[from], n);
				set_bytes(t.dut.s_axis_tdata, data.data(), B);
				t.dut.s_axis_tkeep = keep_of(n);
				t.dut.s_axis_tlast = from + n == f.size();
				t.dut.s_axis_tuser = 0;
				/* Frames whose first beat came in reset, or before it, are ignored later. */
				if (from == 0)
					inside_at_reset = k < at + length;
				if (t.dut.s_axis_tlast && !rst && !(inside_at_reset && k >= at))
					want.push_back(f.size());
				skipped += t.dut.s_axis_tlast && inside_at_reset && k >= at + length;
				clean += t.dut.s_axis_tlast && !inside_at_reset;
				from += n;
				if (from == f.size()) {
					frames.pop_front();
					from = 0;
				}
			}
			t.dut.d_ready = 1;
			t.dut.o_ready = 1;
			t.dut.c_valid = 0;
			t.dut.clk = 0;
			t.dut.eval();
			if (rst) {
				/* Frames that had not been reported are discarded. */
				want.resize(std::min(want.size(), is.size()));
			} else if (t.dut.d_valid) {
				is.push_back(t.dut.d_len);
				t.dut.c_op = 0;
				t.dut.c_valid = 1;
			}
			t.dut.h_take = t.dut.d_valid;
			t.dut.eval();
			t.dut.clk = 1;
			t.dut.eval();
			t.cycle++;
		}
		t.check(is == want, "the rest of a frame became one, or a frame was lost after a reset");
	}
	t.dut.rst = 0;
	t.dut.s_axis_tvalid = 0;
	t.reset();
	t.check(skipped > 100 && clean > 500, "resets in the middle of frames hardly met");
	printf("resets inside: %ld frames whose rest was ignored, %ld whole ones after a reset\n", skipped, clean);
}

static void speed(bench &t, long cycles)
{
	std::vector<bytes> frames;
	for (int i = 0; i < 32; i++)
		frames.push_back(roce(t.r, false, 1, 1024));
	std::vector<std::vector<bytes>> beats;
	for (auto &f : frames) {
		std::vector<bytes> list;
		for (size_t at = 0; at < f.size(); at += B) {
			bytes beat(f.begin() + (long)at, f.begin() + (long)std::min(at + B, f.size()));
			beat.resize(B, 0);
			list.push_back(beat);
		}
		beats.push_back(list);
	}
	size_t which = 0, at = 0;
	const size_t rest = frames[0].size() % B;
	long out = 0;
	t.dut.d_ready = 1;
	t.dut.o_ready = 1;
	t.dut.s_axis_tvalid = 1;
	t.dut.c_op = 1;
	const clock_t start = clock();
	for (long i = 0; i < cycles; i++) {
		const auto &list = beats[which];
		set_bytes(t.dut.s_axis_tdata, list[at].data(), B);
		t.dut.s_axis_tlast = at + 1 == list.size();
		t.dut.s_axis_tkeep = t.dut.s_axis_tlast && rest ? keep_of(rest) : keep_of(B);
		if (++at == list.size()) {
			at = 0;
			which = (which + 1) % 32;
		}
		t.dut.clk = 0;
		t.dut.c_valid = 1;	/* held: taken when there is a frame */
		t.dut.eval();
		out += t.dut.o_valid;
		t.dut.h_take = t.dut.d_valid;
		t.dut.clk = 1;
		t.dut.eval();
	}
	const double s = (double)(clock() - start) / CLOCKS_PER_SEC;
	printf("rf_ingress, %d bits, full load: %.0f cycles/s (%ld beats out)\n", WIDTH, (double)cycles / s, out);
}

int main(int argc, char **argv)
{
	const unsigned long seed = option(argc, argv, "seed", 1);
	const std::string pcap = text_option(argc, argv, "pcap");
	std::unique_ptr<bench> t(new bench(seed));

	if (option(argc, argv, "speed", 0)) {
		speed(*t, (long)option(argc, argv, "speed", 0));
		return 0;
	}
	printf("seed %lu; again: %s --seed %lu\n", seed, argv[0], seed);
	t->flip = flag(argc, argv, "flip");
	part_lengths(*t);
	part_corrupt(*t);
	/* Or less, if the path MTU is below it. */
	const size_t kilobyte = std::min<size_t>(1024, MTU_MAX);
	part_rate(*t, "SEND of a kilobyte, payload", 1, kilobyte, 1, 300);
	part_rate(*t, "WRITE of a kilobyte, payload", 0x0a, kilobyte, 1, 300);
	part_rate(*t, "SEND of the path MTU, payload", 1, MTU_MAX, 1, 60);
	part_rate(*t, "shortest frames, payload", 4, 4, 1, 2000);
	part_rate(*t, "shortest frames, raw", 4, 2, 2, 2000);
	part_rate(*t, "a kilobyte, raw", 1, kilobyte, 2, 300);
	part_rate(*t, "shortest frames, forgotten", 4, 4, 0, 2000);
	if (!pcap.empty())
		part_golden(*t, pcap);
	part_padded(*t);
	part_reset(*t);
	part_reset_inside(*t);
	part_random(*t, (long)option(argc, argv, "frames", 6000));
	static const int causes[] = { RF_CNT_RX_MAC_ERROR, RF_CNT_RX_RUNT, RF_CNT_RX_OVERSIZE, RF_CNT_OWN_SOURCE,
		RF_CNT_TWO_TAGS, RF_CNT_ARP_OTHER, RF_CNT_IPV6, RF_CNT_ETHERTYPE, RF_CNT_IP_VERSION, RF_CNT_IP_OPTIONS, RF_CNT_IP_CHECKSUM,
		RF_CNT_IP_FRAGMENT, RF_CNT_MULTICAST, RF_CNT_IP_LENGTH, RF_CNT_NOT_ROCE, RF_CNT_UDP_LENGTH,
		RF_CNT_WRONG_PORT, 2000, 2001, 2002, 1002, 1004, 1005 };
	for (int c : causes)
		if (t->seen[c] < 10) {
			printf("verdict %d was hardly met (%ld)\n", c, t->seen[c]);
			return 1;
		}
	t->check(t->lost > 20, "overflow was hardly met");
	printf("%ld frames, %ld cycles, good\n", t->frames, t->cycle);
	return 0;
}
