/*
 * rf_inject: a frame written into the window leaves by the selected port, whole, without gaps; busy is high until then.
 *
 *   Vrf_inject [--seed N] [--flip]
 *
 * Compiled with WIDTH and PORTS, the module's parameters.
 */
#include <memory>
#include "Vrf_inject.h"
#include "tests/rtl/net_ref.h"

using namespace net;

enum { B = WIDTH / 8, LATENCY = 2 };

static long cycle;

static void check(bool good, const char *what)
{
	if (!good) {
		printf("cycle %ld: %s\n", cycle, what);
		exit(1);
	}
}

static void clock_edge(Vrf_inject &d)
{
	d.clk = 1;
	d.eval();
	d.clk = 0;
	d.win_en = d.cmd_valid = 0;
	d.eval();
	cycle++;
}

int main(int argc, char **argv)
{
	const unsigned long seed = option(argc, argv, "seed", 1);
	std::unique_ptr<Vrf_inject> d(new Vrf_inject);
	rng r(seed);
	bytes window(1024, 0);
	long refused = 0;

	printf("seed %lu; again: %s --seed %lu\n", seed, argv[0], seed);
	d->rst = 1;
	clock_edge(*d);
	clock_edge(*d);
	d->rst = 0;
	d->m_ready = 0;
	for (int n = 0; n < 1200; n++) {
		const unsigned len = n < 970 ? 58 + n : r.percent(20) ? r.below(65536) : 60 + r.below(965);
		const unsigned port = r.below(8), ready = r.percent(50) ? 100 : 1 + r.below(99);
		for (unsigned w = 0; w < 256; w++) {
			if (n != 0 && r.percent(70))
				continue;
			const uint32_t v = (uint32_t)r.next();
			d->win_en = 1;
			d->win_addr = (uint8_t)w;
			d->win_data = v;
			memcpy(&window[4 * w], &v, 4);
			clock_edge(*d);
		}
		check(!d->busy && d->m_valid == 0, "busy without a command");
		d->cmd_valid = 1;
		d->cmd_len = (uint16_t)len;
		d->cmd_port = (uint8_t)port;
		const long start = cycle;
		clock_edge(*d);
		if (len < 60 || len > 1024 || port >= PORTS) {
			refused++;
			for (int i = 0; i < 5; i++) {
				check(!d->busy && d->m_valid == 0, "a command that means nothing did something");
				clock_edge(*d);
			}
			continue;
		}
		for (unsigned at = 0; at < len;) {
			check(d->busy, "not busy");
			if (d->m_valid == 0) {
				check(at == 0 && cycle < start + LATENCY, "late, or a gap");
				clock_edge(*d);
				continue;
			}
			check(d->m_valid == 1u << port && d->m_len == len, "port or length");
			const unsigned m = std::min<unsigned>(B, len - at);
			bytes is = get_bytes(d->m_data, m);
			if (flag(argc, argv, "flip") && n >= 100)
				is[0] ^= 1;
			check(memcmp(is.data(), &window[at], m) == 0, "contents");
			check(d->m_last == (at + m == len), "m_last");
			/* Writes and commands while busy are ignored. */
			d->win_en = r.percent(50);
			d->win_addr = (uint8_t)r.below(256);
			d->win_data = (uint32_t)r.next();
			d->cmd_valid = r.percent(20);
			d->cmd_len = 100;
			d->m_ready = (uint8_t)(r.percent(ready) ? 1u << port : 0) | (uint8_t)(r.below(256) & ~(1u << port) & ((1u << PORTS) - 1));
			d->eval();
			if (d->m_ready >> port & 1)
				at += m;
			clock_edge(*d);
		}
		check(!d->busy && d->m_valid == 0, "still busy");
	}
	check(refused > 20, "refusals hardly met");
	printf("%ld cycles, good\n", cycle);
	return 0;
}
