/*
 * rf_seen: a sign of life is visible from the next cycle on until it is cleared; a clear waits while a sign is
 * recorded, and clears only the selected bits. Compiled with CW, the module's parameter.
 */
#include "Vrf_seen.h"
#include "tests/rtl/unit.h"

using namespace unit;

static void body(bench &b)
{
	auto d = fresh<Vrf_seen>(b);
	std::map<unsigned, unsigned> signs;
	long waited = 0, cleared = 0, seen = 0;
	unsigned want = 0, conn = 0;

	for (int n = 0; n < 20000; n++) {
		/* A clear that waits keeps its connection and its bits. The first ones make all connections known. */
		if (n < 1 << CW) {
			conn = (unsigned)n;
			want = 3;
		} else if (want == 0 && b.r.percent(30)) {
			conn = b.r.below(1 << CW);
			want = 1 + b.r.below(3);
		}
		const bool set = n >= 1 << CW && b.r.percent(n / 1000 % 2 ? 20 : 70);
		const unsigned kind = set ? 1 + b.r.below(3) : 0;

		d->set_data = kind & 1;
		d->set_ack = kind >> 1;
		d->set_conn = (uint8_t)b.r.below(1 << CW);
		d->clr_bits = (uint8_t)want;
		d->clr_conn = (uint8_t)conn;
		d->rd_conn = (uint8_t)(b.r.percent(30) ? conn : b.r.percent(30) ? d->set_conn : b.r.below(1 << CW));
		settle(*d);
		b.same("clr_ready", d->clr_ready, !set);
		if (signs.count(d->rd_conn)) {
			b.same("rd_seen", d->rd_seen, signs[d->rd_conn]);
			seen += d->rd_seen != 0;
		}
		if (set) {
			signs[d->set_conn] |= kind;
			waited += want != 0;
		} else if (want != 0) {
			signs[conn] &= ~want;
			want = 0;
			cleared++;
		}
		tick(b, *d);
	}
	b.met("cleared", cleared, 1000);
	b.met("cycles that a clear waited", waited, 1000);
	b.met("signs read", seen, 1000);
}

int main(int argc, char **argv)
{
	return run(argc, argv, body);
}
