/*
 * rf_marks against a table: a rank is silent from a packet without an operand to the next one with one, or to INIT; a
 * group's mark is set by a CNP and cleared by a marked copy or the start of the group, whatever comes in the same cycle.
 * Compiled with PORTS, LANES, GROUPS and the widths of their numbers, the module's parameters.
 */
#include "Vrf_marks.h"
#include "tests/rtl/unit.h"

using namespace unit;

enum { AW = GW + LW };

static void body(bench &b)
{
	auto d = fresh<Vrf_marks>(b);
	bool silent[PORTS][1 << AW] = {}, mark[GROUPS] = {};
	long silences = 0, spoken = 0, marks = 0, both = 0, inits = 0;

	d->init_valid = d->start_valid = d->store_valid = d->cnp_valid = d->unmark_valid = 0;
	reset(b, *d);
	for (int n = 0; n < 20000; n++) {
		const unsigned busy = n / 500 % 2 ? 60 : 10;

		d->init_valid = b.r.percent(10);
		d->init_port = (uint8_t)b.r.below(PORTS);
		d->init_addr = (uint8_t)(b.r.below(GROUPS) << LW | b.r.below(LANES));
		d->start_valid = b.r.percent(5);
		d->start_group = (uint8_t)b.r.below(GROUPS);
		for (unsigned p = 0; p < PORTS; p++) {
			put(d->store_valid, p, 1, b.r.percent(busy));
			put(d->store_gives, p, 1, b.r.percent(50));
			put(d->store_addr, p * AW, AW, b.r.below(GROUPS) << LW | b.r.below(LANES));
			put(d->cnp_valid, p, 1, b.r.percent(busy / 4));
			put(d->cnp_group, p * GW, GW, b.r.below(GROUPS));
			put(d->unmark_valid, p, 1, b.r.percent(busy / 4));
			put(d->unmark_group, p * GW, GW, b.r.below(GROUPS));
		}
		settle(*d);
		for (unsigned p = 0; p < PORTS; p++)
			for (unsigned a = 0; a < 1u << AW; a++) {
				b.same("silent", get(d->silents, (p << AW) + a, 1), silent[p][a]);
				silences += silent[p][a];
			}
		for (unsigned g = 0; g < GROUPS; g++) {
			b.same("mark", get(d->g_mark, g, 1), mark[g]);
			marks += mark[g];
		}
		bool set[GROUPS] = {}, clear[GROUPS] = {};
		for (unsigned p = 0; p < PORTS; p++) {
			const unsigned a = get(d->store_addr, p * AW, AW);

			if (get(d->store_valid, p, 1)) {
				silent[p][a] = !get(d->store_gives, p, 1);
				spoken += !silent[p][a];
			}
			set[get(d->cnp_group, p * GW, GW)] |= get(d->cnp_valid, p, 1);
			clear[get(d->unmark_group, p * GW, GW)] |= get(d->unmark_valid, p, 1);
		}
		for (unsigned g = 0; g < GROUPS; g++) {
			both += set[g] && clear[g];
			mark[g] = (mark[g] && !clear[g]) || set[g];
		}
		if (d->start_valid)
			mark[d->start_group] = false;
		if (d->init_valid) {
			silent[d->init_port][d->init_addr] = false;
			inits++;
		}
		tick(b, *d);
	}
	b.met("silent ranks", silences, 1000);
	b.met("ranks that give", spoken, 1000);
	b.met("marks", marks, 1000);
	b.met("marks set and cleared at once", both, 100);
	b.met("connections initialised", inits, 500);
}

int main(int argc, char **argv)
{
	return run(argc, argv, body);
}
