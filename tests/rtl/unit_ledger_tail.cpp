/*
 * rf_ledger_tail: a group's tail is never beyond the una of a member nor beyond the index of a pass that reads. It
 * reaches the smallest of these soon after, and the limit is the tail + S.
 *
 * Compiled with IDX, PORTS, LANES, GROUPS, GW and LW, the module's parameters. The bench keeps una and passes as
 * rf_ledger does: una only grows, a pass's index is not below the una of its own connections when it begins.
 */
#include "Vrf_ledger_tail.h"
#include "tests/rtl/unit.h"

using namespace unit;

enum { MASK = (1 << IDX) - 1, SPAN = 8 };

struct group {
	unsigned size_log2, lanes, members[LANES], una[LANES][PORTS], tail;
	std::deque<unsigned> passes;
	long settled;	/* the cycle of the last change */
};

/* The smallest of una and passes, counted from the tail. */
static unsigned least(const group &g)
{
	unsigned m = ~0u;

	for (unsigned l = 0; l < g.lanes; l++)
		for (unsigned p = 0; p < PORTS; p++)
			if (g.members[l] >> p & 1)
				m = std::min(m, (g.una[l][p] - g.tail) & MASK);
	for (unsigned i : g.passes)
		m = std::min(m, (i - g.tail) & MASK);
	return m;
}

static void start(rng &r, group &g, long n)
{
	g = group();
	g.size_log2 = 2 + r.below(3);
	g.lanes = 1 + r.below(LANES);
	for (unsigned l = 0; l < g.lanes; l++)
		g.members[l] = 1 + r.below((1 << PORTS) - 1);
	g.settled = n;
}

static void body(bench &b)
{
	auto d = fresh<Vrf_ledger_tail>(b);
	group g[GROUPS];
	long moves = 0, starts = 0, held = 0, reached = 0, longest = 0;
	unsigned p_raise = 20, p_pass = 20, active = GROUPS;

	d->start_valid = 0;
	d->mark = 0;
	reset(b, *d);
	for (unsigned i = 0; i < GROUPS; i++) {
		start(b.r, g[i], 0);
		put(d->g_size_log2, i * 4, 4, g[i].size_log2);
		d->start_valid = 1;
		d->start_group = (uint8_t)i;
		tick(b, *d);
	}
	for (long n = 0; n < 60000; n++) {
		if (n % 300 == 0) {
			p_raise = b.r.percent(50) ? 60 : 1 + b.r.below(10);
			p_pass = b.r.percent(50) ? 0 : 5 + b.r.below(50);
			active = b.r.percent(40) ? 1 : GROUPS;
		}
		d->start_valid = 0;
		unsigned mark = 0;
		unsigned raise[GROUPS][LANES][PORTS] = {};
		int begin[GROUPS], end[GROUPS] = {};
		for (unsigned i = 0; i < GROUPS; i++) {
			group &x = g[i];

			begin[i] = -1;
			if (i >= active && active != GROUPS)
				continue;
			/* One una per cycle and group, as one event does. */
			const unsigned l = b.r.below(x.lanes), p = b.r.below(PORTS);
			const unsigned ahead = (x.una[l][p] - x.tail) & MASK;
			if ((x.members[l] >> p & 1) && ahead < SPAN && b.r.percent(p_raise)) {
				raise[i][l][p] = 1 + b.r.below(SPAN - ahead);
				mark |= 1u << i;
			}
			/* A repeat of an index that its connection has not acknowledged: it is at or above that una. */
			if (x.passes.size() < 2 && b.r.percent(p_pass)) {
				const unsigned rl = b.r.below(x.lanes), rp = (unsigned)__builtin_ctz(x.members[rl]);

				begin[i] = (int)((x.una[rl][rp] + b.r.below(3)) & MASK);
			} else if (!x.passes.empty() && b.r.percent(20)) {
				end[i] = 1;
				mark |= 1u << i;
			}
		}
		d->mark = (uint8_t)mark;
		if (b.r.percent(1) && b.r.percent(30)) {
			const unsigned i = b.r.below(GROUPS);

			/* Nothing of its previous use is in progress: una have been stable for long. */
			if (n - g[i].settled > 60 && g[i].passes.empty() && !(mark >> i & 1) && begin[i] < 0) {
				start(b.r, g[i], n);
				d->start_valid = 1;
				d->start_group = (uint8_t)i;
				starts++;
			}
		}
		for (unsigned i = 0; i < GROUPS; i++) {
			const group &x = g[i];

			put(d->g_size_log2, i * 4, 4, x.size_log2);
			put(d->g_lanes, i * 5, 5, x.lanes);
			for (unsigned l = 0; l < LANES; l++)
				put(d->g_members, (i * LANES + l) * PORTS, PORTS, x.members[l]);
			for (unsigned k = 0; k < 2; k++) {
				put(d->hold_valid, i * 2 + k, 1, k < x.passes.size());
				put(d->hold_index, (i * 2 + k) * IDX, IDX, k < x.passes.size() ? x.passes[k] : b.r.below(MASK + 1));
			}
		}
		settle(*d);
		const unsigned sg = d->scan_addr >> LW, sl = d->scan_addr & ((1 << LW) - 1);
		for (unsigned p = 0; p < PORTS; p++)
			put(d->scan_una, p * IDX, IDX, sg < GROUPS && sl < LANES ? g[sg].una[sl][p] : 0);
		settle(*d);

		for (unsigned i = 0; i < GROUPS; i++) {
			group &x = g[i];
			const unsigned is = (unsigned)get(d->g_tail, i * IDX, IDX);

			if (d->start_valid && d->start_group == i)
				continue;
			const unsigned step = (is - x.tail) & MASK;
			if (step != 0) {
				b.good("a tail beyond an una or a pass", step <= least(x));
				x.tail = is;
				moves++;
			}
			b.same("g_limit", get(d->g_limit, i * IDX, IDX), (x.tail + (1u << x.size_log2)) & MASK);
			held += !x.passes.empty() && least(x) == 0;
			/* Alone: lanes + 5 cycles after the change; with other groups, after theirs. */
			if (n - x.settled >= (active == 1 && n % 300 >= 50 ? (long)x.lanes + 5 + LANES : GROUPS * (LANES + 1) + 8 + LANES)) {
				b.good("a tail that lags for too long", least(x) == 0);
				reached++;
			}
			if (least(x) != 0)
				longest = std::max(longest, n - x.settled);
		}

		for (unsigned i = 0; i < GROUPS; i++) {
			group &x = g[i];
			bool changed = false;

			for (unsigned l = 0; l < LANES; l++)
				for (unsigned p = 0; p < PORTS; p++)
					if (raise[i][l][p] != 0) {
						x.una[l][p] = (x.una[l][p] + raise[i][l][p]) & MASK;
						changed = true;
					}
			if (begin[i] >= 0) {
				x.passes.push_back((unsigned)begin[i]);
			} else if (end[i]) {
				x.passes.pop_front();
				changed = true;
			}
			if (changed)
				x.settled = n;
		}
		tick(b, *d);
	}
	b.met("moves of tails", moves, 3000);
	b.met("starts", starts, 3);
	b.met("cycles held down by a pass", held, 300);
	b.met("checks of a tail that has settled", reached, 1000);
	b.met("longest delay after the last change", longest, 5);
}

int main(int argc, char **argv)
{
	return run(argc, argv, body);
}
