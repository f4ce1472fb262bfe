/*
 * rf_conn_mac: after reset no connection is a mirror connection; then the judge's read gives the word 1 cycle later, the
 * read for results 2 cycles later; both outputs are stable until the next read. A write during the sweep has no effect.
 * Compiled with AW, the module's parameter.
 */
#include "Vrf_conn_mac.h"
#include "tests/rtl/unit.h"

using namespace unit;

struct word {
	bool mirror = false;
	uint64_t mac = 0;
};

static void body(bench &b)
{
	auto d = fresh<Vrf_conn_mac>(b);
	long compared = 0, mirrors = 0, beside = 0, resets = 0;

	for (int round = 0; round < 4; round++) {
		word mem[1 << AW], a, two, one;
		bool a_is = false, two_is = false, one_is = false;
		long since = 0;

		d->wr_en = d->a_en = d->b_en = 0;
		reset(b, *d);
		for (int n = 0; n < 5000; n++, since++) {
			const unsigned conn = b.r.below(1 << AW);
			const bool ready = since >= 1 << AW;

			d->wr_en = b.r.percent(40);
			d->wr_addr = (uint8_t)conn;
			const word w = { b.r.percent(50), b.r.next() & 0xffffffffffff };
			d->wr_data = (uint64_t)w.mirror << 48 | w.mac;
			/* Words that the sweep has not reached are undefined. */
			d->a_en = ready && b.r.percent(60);
			d->b_en = ready && b.r.percent(60);
			d->a_addr = (uint8_t)(b.r.percent(30) ? conn : b.r.below(1 << AW));
			d->b_addr = (uint8_t)(b.r.percent(30) ? conn : b.r.below(1 << AW));
			settle(*d);
			b.same("ready", d->ready, ready);
			resets += !ready && d->wr_en;
			if (a_is) {
				b.same("a_mirror", d->a_mirror, a.mirror);
				b.same("a_mac", d->a_mac, a.mac);
				b.same("a_bad", d->a_bad, 0);
				compared++;
				mirrors += a.mirror;
			}
			if (two_is) {
				b.same("b_mirror", d->b_mirror, two.mirror);
				b.same("b_mac", d->b_mac, two.mac);
				compared++;
			}
			b.same("b_bad", d->b_bad, 0);
			if (one_is) {
				two = one;
				two_is = true;
				one_is = false;
			}
			if (d->b_en) {
				one = mem[d->b_addr];
				one_is = true;
			}
			if (d->a_en) {
				a = mem[d->a_addr];
				a_is = true;
			}
			beside += d->wr_en && ((d->a_en && d->a_addr == conn) || (d->b_en && d->b_addr == conn));
			if (d->wr_en && ready)
				mem[conn] = w;
			tick(b, *d);
		}
	}
	b.met("words read", compared, 20000);
	b.met("mirror connections among them", mirrors, 5000);
	b.met("reads beside a write", beside, 1000);
	b.met("writes during the sweep", resets, 10);
}

int main(int argc, char **argv)
{
	return run(argc, argv, body);
}
