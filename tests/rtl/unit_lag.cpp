/*
 * rf_lag against "Who is last" of docs/box.md: the index that is chosen, the rank that moved the head past it, the
 * number of cycles; a measurement is done when its head has passed, once armed and not stopped.
 *
 * Compiled with PORTS, GROUPS, GW, LW and PW, the module's parameters. The bench is the ledger: ranks that send in
 * order, some of them slowly, and heads that follow 2 cycles later.
 */
#include <set>
#include "Vrf_lag.h"
#include "tests/rtl/unit.h"

using namespace unit;

enum { AW = GW + LW, MASK = 0xffffff, LANES = 1 << LW, DONE = 3 };

struct rank {
	unsigned next = 0, stored = 0, speed = 50;
};

struct group {
	unsigned size_log2 = 2, head[3] = {};	/* as it becomes visible */
	rank r[LANES][PORTS];
	/* By index: the cycles in which the first rank sent it and the head was past it; the rank that stepped last. */
	std::map<unsigned, long> first, past;
	std::map<unsigned, std::pair<long, std::set<unsigned>>> last;
};

static void body(bench &b)
{
	auto d = fresh<Vrf_lag>(b);
	group g[GROUPS];
	/* The measurement in progress; the indexes that may have been chosen. */
	bool armed = false, chosen = false;
	unsigned which = 0, no_group = 0;
	std::set<unsigned> choice;
	long done = 0, stopped = 0, nobody = 0, forgotten = 0, lanes = 0;

	for (unsigned i = 0; i < GROUPS; i++) {
		const unsigned from = b.r.percent(50) ? 0 : MASK - 200;

		g[i].size_log2 = 2 + b.r.below(3);
		put(d->g_size_log2, i * 4, 4, g[i].size_log2);
		for (auto &l : g[i].r)
			for (auto &x : l)
				x = { from, from, 50 };
		for (auto &h : g[i].head)
			h = from;
	}
	d->arm_valid = d->stop_valid = 0;
	d->j_valid = d->step_valid = 0;
	reset(b, *d);
	for (long n = 0; n < 60000; n++) {
		if (n % 200 == 0)
			for (auto &x : g)
				for (auto &l : x.r)
					for (auto &y : l)
						y.speed = b.r.percent(50) ? 100 : 2 + b.r.below(98);
		/* Once per some hundred cycles it is armed; firmware may stop a group. */
		d->arm_valid = b.r.percent(1) && b.r.percent(60);
		d->arm_group = (uint8_t)(b.r.percent(90) ? b.r.below(GROUPS) : GROUPS + b.r.below(256 - GROUPS));
		d->stop_valid = !d->arm_valid && b.r.percent(1) && b.r.percent(20);
		d->stop_group = (uint8_t)b.r.below(GROUPS);
		/* One packet and one step per port. */
		for (unsigned p = 0; p < PORTS; p++) {
			const unsigned i = b.r.below(GROUPS), l = b.r.below(LANES), si = b.r.below(GROUPS), sl = b.r.below(LANES);
			rank &x = g[i].r[l][p], &s = g[si].r[sl][p];
			const bool step = s.stored != s.next && b.r.percent(60);
			const bool sends = ((x.next - g[i].head[2]) & MASK) < 1u << g[i].size_log2 && b.r.percent(x.speed);

			put(d->step_valid, p, 1, step);
			put(d->step_addr, p * AW, AW, si << LW | sl);
			put(d->step_index, p * 24, 24, s.stored);
			put(d->j_valid, p, 1, sends);
			put(d->j_addr, p * AW, AW, i << LW | l);
			put(d->j_index, p * 24, 24, x.next);
			if (step) {
				auto &w = g[si].last[s.stored];

				if (w.first != n)
					w = { n, {} };
				w.second.insert(sl << 8 | p);
				s.stored = (s.stored + 1) & MASK;
			}
			if (sends) {
				g[i].first.insert({ x.next, n });
				x.next = (x.next + 1) & MASK;
			}
		}
		settle(*d);
		d->head = g[d->group % GROUPS].head[2];
		settle(*d);

		/* Its outputs. */
		bool due = false;
		if (chosen) {
			due = true;
			for (unsigned k : choice)
				due = due && g[which].past.count(k) != 0 && n >= g[which].past[k] + DONE;
		}
		const bool valid = d->status >> 31;
		if (!valid) {
			b.good("done in time", !due);
			b.same("status before", d->status, 0);
			b.same("cycles before", d->cycles, 0);
			b.same("index before", d->index, 0);
		} else {
			const unsigned k = d->index;

			b.good("done though nothing is measured", armed && chosen);
			b.good("an index that may be chosen", choice.count(k) != 0);
			b.good("done too early", g[which].past.count(k) != 0 && n >= g[which].past[k] + DONE);
			b.same("cycles", d->cycles, (uint64_t)(g[which].past[k] - g[which].first[k]));
			b.same("group", d->status >> 16 & 0xff, which);
			b.good("who was last", g[which].last[k].second.count(d->status & 0xfff) != 0);
			b.same("bits that are none", d->status & 0x7f00f0f8, 0);
			choice = { k };
			done++;
			lanes += (d->status >> 8 & 15) != 0;
			/* After it was read it may be armed again. */
		}

		/* The next cycle. */
		if (d->arm_valid) {
			forgotten += armed;
			which = d->arm_group;
			no_group += which >= GROUPS;
			armed = which < GROUPS;
			chosen = false;
			choice.clear();
		} else if (armed && d->stop_valid && d->stop_group == which) {
			armed = chosen = false;
			stopped++;
		} else if (armed && !chosen) {
			for (unsigned p = 0; p < PORTS; p++)
				if ((d->j_valid >> p & 1) && get(d->j_addr, p * AW + LW, GW) == which) {
					choice.insert((unsigned)(get(d->j_index, p * 24, 24) + (1u << g[which].size_log2)) & MASK);
					chosen = true;
				}
		}
		nobody += !armed;
		for (auto &x : g) {
			unsigned low = MASK;

			for (auto &l : x.r)
				for (auto &y : l)
					low = std::min(low, (y.stored - x.head[0]) & MASK);
			x.head[2] = x.head[1];
			x.head[1] = x.head[0];
			x.head[0] = (x.head[0] + low) & MASK;
			/* A head advances by one at a time: so does each rank. */
			x.past.insert({ (x.head[2] - 1) & MASK, n + 1 });
		}
		tick(b, *d);
	}
	b.met("cycles with a measurement that is done", done, 2000);
	b.met("of these with another lane than 0", lanes, 300);
	b.met("measurements forgotten for another", forgotten, 50);
	b.met("measurements stopped", stopped, 20);
	b.met("groups that are none", no_group, 10);
	b.met("cycles in which nothing is measured", nobody, 500);
}

int main(int argc, char **argv)
{
	return run(argc, argv, body);
}
