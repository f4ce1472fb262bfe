/*
 * Frames through rf_ingress and rf_egress: parsed and rebuilt, they must be unchanged except for the source MAC.
 *
 *   Vnet_path_tb [--seed N] --pcap FILE    the captured frames, then random ones at full rate
 *   Vnet_path_tb --speed N                 N cycles at full load, prints cycles per second of CPU time
 *
 * Compiled with WIDTH, the modules' parameter.
 */
#include <ctime>
#include <deque>
#include <memory>
#include "Vnet_path_tb.h"
#include "tests/rtl/net_ref.h"

using namespace net;

enum { B = WIDTH / 8 };
static const uint64_t MAC = 0x02b0c4d5e607ull;

struct path {
	Vnet_path_tb dut;
	long cycle = 0;
	bytes got;
	std::deque<bytes> want;
	long frames = 0;

	path()
	{
		dut.mac = MAC;
		dut.rst = 1;
		dut.s_axis_tvalid = 0;
		for (int i = 0; i < 40; i++)
			tick();
		dut.rst = 0;
	}

	void tick()
	{
		dut.clk = 0;
		dut.eval();
		dut.clk = 1;
		dut.eval();
		cycle++;
	}

	[[noreturn]] void fault(const char *what)
	{
		printf("cycle %ld, frame %ld: %s\n", cycle, frames, what);
		exit(1);
	}

	void step()
	{
		dut.clk = 0;
		dut.eval();
		if (dut.lost)
			fault("lost");
		if (dut.wrong)
			fault("ICRC said to be wrong");
		if (dut.m_axis_tvalid) {
			const bytes beat = get_bytes(dut.m_axis_tdata, B);
			for (size_t i = 0; i < B; i++)
				if ((uint64_t)dut.m_axis_tkeep >> i & 1)
					got.push_back(beat[i]);
			if (dut.m_axis_tlast) {
				if (want.empty() || got != want.front())
					fault("the frame has changed");
				want.pop_front();
				got.clear();
				frames++;
			}
		}
		dut.clk = 1;
		dut.eval();
		cycle++;
	}

	void frame(const bytes &f)
	{
		bytes w = f;
		const size_t l2 = be16(&f[12]) == 0x8100 ? 18 : 14;
		w.resize(l2 + be16(&f[l2 + 2]));
		put_mac(&w[6], MAC);
		want.push_back(w);
		for (size_t at = 0; at < f.size(); at += B) {
			const size_t n = std::min<size_t>(B, f.size() - at);
			set_bytes(dut.s_axis_tdata, &f[at], n);
			dut.s_axis_tkeep = keep_of(n);
			dut.s_axis_tlast = at + n == f.size();
			dut.s_axis_tvalid = 1;
			step();
		}
		dut.s_axis_tvalid = 0;
	}

	void drain()
	{
		for (int i = 0; i < 4000 && (!want.empty() || !dut.idle); i++)
			step();
		if (!want.empty())
			fault("a frame never came out");
	}
};

static void speed(path &t, long cycles)
{
	rng r(1);
	bytes f = roce(r, false, 1, 1024);
	put16(&f[14 + 26], 0);
	put_icrc(f, 14, be16(&f[16]));
	const clock_t start = clock();
	while (t.cycle < cycles)
		t.frame(f);
	const double s = (double)(clock() - start) / CLOCKS_PER_SEC;
	printf("rf_ingress and rf_egress, %d bits, full load: %.0f cycles/s (%ld frames)\n", WIDTH, (double)t.cycle / s, t.frames);
}

int main(int argc, char **argv)
{
	static const unsigned opcodes[] = { 0x00, 0x01, 0x03, 0x06, 0x09, 0x0b };
	const unsigned long seed = option(argc, argv, "seed", 1);
	const std::vector<bytes> golden = read_pcap(text_option(argc, argv, "pcap"));
	std::unique_ptr<path> t(new path);
	rng r(seed);

	if (option(argc, argv, "speed", 0)) {
		speed(*t, (long)option(argc, argv, "speed", 0));
		return 0;
	}
	printf("seed %lu; again: %s --seed %lu --pcap tests/data/rxe-sample.pcap\n", seed, argv[0], seed);
	if (golden.empty())
		t->fault("the capture cannot be read");
	for (const bytes &f : golden)
		t->frame(f);
	t->drain();
	printf("captured: %ld frames unchanged\n", t->frames);
	for (int i = 0; i < 3000; i++) {
		const bool vlan = r.percent(30);
		bytes f = roce(r, vlan, opcodes[r.below(6)], r.percent(50) ? 1024 : 4 * r.below(300));
		const size_t l2 = vlan ? 18 : 14;
		put16(&f[l2 + 26], 0);
		put_icrc(f, l2, be16(&f[l2 + 2]));
		t->frame(f);
	}
	t->drain();
	printf("%ld frames, %ld cycles, good\n", t->frames, t->cycle);
	return 0;
}
