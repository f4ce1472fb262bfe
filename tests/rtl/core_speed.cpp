// Figures: cycles per packet with full load on every port, latency, groups in parallel, cycles per second.
#include <algorithm>
#include <ctime>

#include "tests/rtl/core_ref.h"
#include "tests/rtl/core_tests.h"

namespace
{

struct Load {
	std::vector<Group> groups;
	unsigned bytes;
	unsigned packets;
	uint8_t opcode = 4;
};

// How fast the simulation was: cycles simulated, and those per second of processor time.
struct Pace {
	uint64_t cycles;
	double rate;
};

double cpu_now()
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

// Cycles per packet and port in the second half of the run, worst port; all groups at once, closed loop.
double run(Box &box, Load &load, Pace *pace)
{
	struct State {
		uint32_t next, acked, expect;
	};
	std::vector<std::vector<State>> st;
	std::vector<std::vector<Bytes>> templates;
	uint64_t half[PORTS] = {}, end[PORTS] = {};
	unsigned count[PORTS] = {}, goal[PORTS] = {};
	unsigned done = 0, flows = 0;

	for (Group &g : load.groups) {
		st.push_back(std::vector<State>(g.ranks.size(), State{0, 0, 0}));
		std::vector<Bytes> t;
		for (unsigned k = 0; k < g.ranks.size(); k++) {
			t.push_back(g.ranks[k].data(0, payload_of(g, 1, k, 0, load.bytes), load.opcode).frame());
			goal[g.ranks[k].port] += load.packets;
			flows++;
		}
		templates.push_back(t);
	}
	box.on_tx = [&](unsigned port, const Sent &s) {
		size_t at = l3(s.b);
		uint32_t dip = static_cast<uint32_t>(get(s.b, at + 16, 4)), psn = static_cast<uint32_t>(get(s.b, at + 37, 3));
		bool is_ack = get(s.b, at + 28, 1) == 0x11;
		for (unsigned n = 0; n < load.groups.size(); n++)
			for (unsigned k = 0; k < load.groups[n].ranks.size(); k++) {
				const Rank &r = load.groups[n].ranks[k];
				State &f = st[n][k];
				if (is_ack && r.ip == dip) {
					f.acked = (psn + 1 - r.start) & 0xffffff;
				} else if (!is_ack && r.pip == dip) {
					uint32_t i = (psn + r.shift - r.start) & 0xffffff;
					if (i != f.expect)
						die("speed: index %u where %u was due", i, f.expect);
					f.expect++;
					count[port]++;
					if (count[port] == goal[port] / 2)
						half[port] = s.last;
					if (count[port] == goal[port]) {
						end[port] = s.last;
					}
					done += f.expect == load.packets;
					if (get(s.b, at + 36, 1) >> 7 || f.expect == load.packets)
						box.send_soon(r.pport, r.ack(f.expect).frame());
					return;
				}
			}
	};
	double t0 = cpu_now();
	uint64_t c0 = box.cycle;
	while (done < flows) {
		for (unsigned n = 0; n < load.groups.size(); n++)
			for (unsigned k = 0; k < load.groups[n].ranks.size(); k++) {
				const Rank &r = load.groups[n].ranks[k];
				State &f = st[n][k];
				if (f.next == load.packets || f.next - f.acked >= (1u << load.groups[n].s_log2) / 2 ||
				    box.rx[r.port].size() > LANES)
					continue;
				// Only the PSN and the ICRC differ: the same numbers every time.
				Bytes b = templates[n][k];
				set(b, l3(b) + 37, (r.start + f.next) & 0xffffff, 3);
				seal(b);
				box.send(r.port, b);
				f.next++;
			}
		box.tick();
		if (box.cycle - c0 > 100 * static_cast<uint64_t>(load.packets) * LANES * 80)
			die("speed: stuck");
	}
	pace->cycles = box.cycle - c0;
	pace->rate = static_cast<double>(pace->cycles) / (cpu_now() - t0);
	box.on_tx = nullptr;
	box.settle();
	double worst = 0;
	for (unsigned p = 0; p < PORTS; p++)
		if (goal[p])
			worst = std::max(worst, static_cast<double>(end[p] - half[p]) / (goal[p] - goal[p] / 2));
	for (unsigned c : {RF_CNT_RX_OVERFLOW, RF_CNT_NO_ROOM, RF_CNT_GAP, RF_CNT_PENDING, RF_CNT_REPEAT, RF_CNT_ICRC})
		if (box.total(c))
			die("speed: counter %u is %u", c, box.total(c));
	return worst;
}

double limit_of(unsigned bytes, uint8_t opcode)
{
	unsigned head = opcode == 10 ? 70 : 54;

	return (head + bytes + 4 + BEAT - 1) / BEAT;
}

// Destination of the figures as JSON lines, for `make bench`; NULL if none.
FILE *figures;

void figure(const std::string &name, double value, const char *unit, double limit)
{
	if (!figures)
		return;
	fprintf(figures, "{\"group\": \"rtl\", \"name\": \"P = %d, %s\", \"value\": %.3f, \"unit\": \"%s\", ", PORTS, name.c_str(), value,
		unit);
	if (limit > 0)
		fprintf(figures, "\"limit\": %.3f, \"must\": true, \"ok\": %s}\n", limit, value <= limit ? "true" : "false");
	else
		fprintf(figures, "\"limit\": null, \"must\": false, \"ok\": true}\n");
}

void report(const char *what, double cycles, double limit, double rate)
{
	printf("%-44s %7.2f cycles per packet (limit %.0f, %.3f), %.0f cycles/s\n", what, cycles, limit, cycles / limit, rate);
}

// Returns how fast the simulation was.
Pace one(const char *name, unsigned lanes, unsigned dtype, unsigned mtu_log2, uint8_t opcode, unsigned packets)
{
	Box box(1);
	Load load;
	Group g;
	Pace pace;

	setup(box, 0x02005e000000);
	g.dtype = dtype;
	g.mtu_log2 = mtu_log2;
	g.s_log2 = static_cast<unsigned>(std::min(9, BANK_AW - static_cast<int>(mtu_log2) + __builtin_ctz(BEAT)));
	g.s_log2 = std::min<unsigned>(g.s_log2, HDR_AW);
	g.full(lanes, 0, PORTS, 0x400000, 1);
	g.live(box);
	load.groups.push_back(g);
	load.bytes = 1u << mtu_log2;
	load.packets = packets;
	load.opcode = opcode;
	double c = run(box, load, &pace);
	report(name, c, limit_of(load.bytes, opcode), pace.rate);
	double limit = limit_of(load.bytes, opcode);
	double allowed = opcode == 4 ? limit + (mtu_log2 == 12 ? 0.5 : 0.2) : limit * 1.01;
	figure(name, c, "cycles/packet", allowed);
	if (WIDTH == 512 && !figures && c > allowed)
		die("%s: too slow", name);
	return pace;
}

// Of 4 ports, one lane. 40 is the goal. Two cycles more are registers for the clock: a launch leaves rf_sched from
// registers, and what directed groups state is compared in a cycle of its own.
const unsigned LATENCY_MAX = 42;

// Last beat of the last rank in to first beat of the first result out.
void latency()
{
	for (unsigned lanes = 1; lanes <= LANES; lanes *= 2)
		for (unsigned mtu_log2 : {8u, 10u}) {
			Box box(1);
			Group g;

			setup(box, 0x02005e000000);
			g.dtype = FP32;
			g.mtu_log2 = mtu_log2;
			g.s_log2 = 4;
			g.full(lanes, 0, PORTS, 0x400000, 1);
			g.live(box);
			for (unsigned k = 0; k < g.ranks.size(); k++)
				box.send(g.ranks[k].port, g.ranks[k].data(0, payload_of(g, 1, k, 0, 1u << mtu_log2)).frame());
			box.settle();
			uint64_t in = 0, out = UINT64_MAX;
			for (unsigned p = 0; p < PORTS; p++) {
				in = std::max(in, box.rx_last[p]);
				for (const Sent &s : box.tx[p])
					out = std::min(out, s.first);
			}
			printf("latency, %u lanes, %u B: %" PRIu64 " cycles\n", lanes, 1u << mtu_log2, out - in);
			figure("last beat in to first beat out, " + std::to_string(lanes) + " lanes, " + std::to_string(1u << mtu_log2) +
				       " B",
			       static_cast<double>(out - in), "cycles", PORTS == 4 && lanes == 1 ? LATENCY_MAX : 0);
			if (PORTS == 4 && lanes == 1 && out - in > LATENCY_MAX)
				die("latency above %u cycles", LATENCY_MAX);
		}
}

// Two groups on the halves of the ports, each as fast as alone.
void halves()
{
	double alone = 0;

	for (unsigned both = 0; both < 2; both++) {
		Box box(1);
		Load load;
		Pace pace;

		setup(box, 0x02005e000000);
		for (unsigned n = 0; n <= both; n++) {
			Group g;
			g.number = n;
			g.dtype = n ? FP32 : INT32;
			g.s_log2 = 8;
			g.full(1, n * PORTS / 2, PORTS / 2, 0x400000, 1 + n);
			g.live(box);
			load.groups.push_back(g);
		}
		load.bytes = 1024;
		load.packets = 300;
		double c = run(box, load, &pace);
		report(both ? "two groups side by side, 1024 B" : "one of them alone, 1024 B", c, limit_of(1024, 4), pace.rate);
		figure(both ? "two groups on halves of the ports" : "one group on half of the ports", c, "cycles/packet",
		       both ? alone + 0.05 : 0);
		if (both && !figures && c > alone + 0.05)
			die("two groups side by side are slower than one alone");
		alone = c;
	}
}

void begin_figures(const char *json)
{
	figures = json ? fopen(json, "a") : nullptr;
	if (json && !figures)
		die("cannot write %s", json);
}

void end_figures(const char *json)
{
	if (figures && fclose(figures) != 0)
		die("cannot write %s", json);
	figures = nullptr;
}

} // namespace

void speed(const char *json)
{
	static const char *const types[] = {"fp32", "bf16", "fp16", "int32", "uint32", "int64", "uint64", "fp64", "int8", "uint8"};
	char name[80];

	begin_figures(json);
	latency();
	for (unsigned lanes = 1; lanes <= LANES; lanes *= 2)
		for (unsigned dtype = 0; dtype < sizeof types / sizeof *types; dtype++) {
			if (!(TYPES >> dtype & 1))
				continue;
			snprintf(name, sizeof name, "%u lanes, SEND 1024 B, %s", lanes, types[dtype]);
			one(name, lanes, dtype, 10, 4, 400);
		}
	one("1 lane, SEND 256 B, fp32", 1, FP32, 8, 4, 600);
	one("1 lane, SEND 4096 B, fp32", 1, FP32, 12, 4, 100);
	one("1 lane, WRITE 1024 B, fp32", 1, FP32, 10, 10, 400);
	one("1 lane, WRITE 4096 B, fp32", 1, FP32, 12, 10, 100);
	if (PORTS % 4 == 0)
		halves();
	end_figures(json);
}

// For tests/bench/core_bench.sh, which counts instructions between runs of two lengths.
void simulation(unsigned packets)
{
	Pace pace = one("1 lane, SEND 1024 B, fp32", 1, FP32, 10, 4, packets);

	printf("%llu cycles simulated, %.0f cycles/s\n", static_cast<unsigned long long>(pace.cycles), pace.rate);
}
