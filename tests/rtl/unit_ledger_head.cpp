/*
 * rf_ledger_head: a group's head is never beyond a member port's, reaches the smallest of them and stays there. With
 * one group active the head advances 2 cycles after a commit and by one every 2 cycles.
 *
 * Compiled with IDX, PORTS, GROUPS and GW, the module's parameters. Indexes wrap many times.
 */
#include "Vrf_ledger_head.h"
#include "tests/rtl/unit.h"

using namespace unit;

enum { MASK = (1 << IDX) - 1, AHEAD = 6 };

/* A port head advances by one per commit, visible to the unit from the next cycle on. */
struct group {
	unsigned members, heads[PORTS], head;
	long since;	/* it could advance and has not */
};

static bool beyond(const group &g)
{
	for (unsigned p = 0; p < PORTS; p++)
		if ((g.members >> p & 1) && g.heads[p] == g.head)
			return false;
	return g.members != 0;
}

static void body(bench &b)
{
	auto d = fresh<Vrf_ledger_head>(b);
	group g[GROUPS];
	long rises = 0, starts = 0, alone = 0, longest = 0, due = -1;
	unsigned p_commit = 50, only = GROUPS;

	for (auto &x : g)
		x = { 1 + b.r.below((1 << PORTS) - 1), {}, 0, 0 };
	d->start_valid = 0;
	d->mark = 0;
	reset(b, *d);
	for (long n = 0; n < 60000; n++) {
		if (n % 300 == 0) {
			p_commit = b.r.percent(50) ? 100 : 1 + b.r.below(60);
			/* Sometimes one group alone. */
			only = b.r.percent(30) ? b.r.below(GROUPS) : GROUPS;
			due = -1;
			if (only < GROUPS)
				p_commit = 3;
		}
		unsigned committed[GROUPS] = {};
		unsigned mark = 0;
		for (unsigned i = 0; i < GROUPS; i++) {
			if (only < GROUPS && i != only)
				continue;
			for (unsigned p = 0; p < PORTS; p++)
				if ((g[i].members >> p & 1) && ((g[i].heads[p] - g[i].head) & MASK) < AHEAD && b.r.percent(p_commit) &&
				    b.r.percent(30)) {
					committed[i] |= 1u << p;
					mark |= 1u << i;
				}
			/* A commit that does not move the port's head. */
			if (b.r.percent(p_commit) && b.r.percent(10))
				mark |= 1u << i;
		}
		d->mark = (uint8_t)mark;
		d->start_valid = b.r.percent(1) && b.r.percent(30);
		d->start_group = (uint8_t)b.r.below(GROUPS);
		for (unsigned i = 0; i < GROUPS; i++)
			put(d->g_ports, i * PORTS, PORTS, g[i].members);
		settle(*d);
		for (unsigned p = 0; p < PORTS; p++)
			put(d->look_heads, p * IDX, IDX, g[d->look_group].heads[p]);
		settle(*d);

		unsigned able = 0;
		for (unsigned i = 0; i < GROUPS; i++) {
			const unsigned is = (unsigned)get(d->g_head, i * IDX, IDX);

			b.good("a head that moved by more than one", is == g[i].head || is == ((g[i].head + 1) & MASK));
			if (is != g[i].head) {
				b.good("a head beyond a member's", beyond(g[i]));
				g[i].head = is;
				g[i].since = n;
				rises++;
			}
			able += beyond(g[i]);
			if (!beyond(g[i]))
				g[i].since = n;
			longest = std::max(longest, n - g[i].since);
			b.good("a head that does not rise", n - g[i].since <= 2 * GROUPS + 2);
		}
		b.good("idle while a head can rise", !d->idle || able == 0);
		if (due == n) {
			b.good("2 cycles from commit to head", d->g_head != 0 && g[only].since == n);
			alone++;
		}
		/* The last member's commit into an idle unit. */
		if (due < n)
			due = -1;
		if (due < 0 && only < GROUPS && d->idle && able == 0 && mark == 1u << only && !d->start_valid) {
			group x = g[only];

			for (unsigned p = 0; p < PORTS; p++)
				x.heads[p] = (x.heads[p] + (committed[only] >> p & 1)) & MASK;
			if (beyond(x))
				due = n + 2;
		}
		for (unsigned i = 0; i < GROUPS; i++)
			for (unsigned p = 0; p < PORTS; p++)
				g[i].heads[p] = (g[i].heads[p] + (committed[i] >> p & 1)) & MASK;
		if (d->start_valid) {
			group &x = g[d->start_group];

			x = { 1 + b.r.below((1 << PORTS) - 1), {}, 0, n };
			starts++;
			due = -1;
		}
		tick(b, *d);
	}
	b.met("steps of heads", rises, 5000);
	b.met("starts", starts, 50);
	b.met("steps of a group alone", alone, 50);
	b.met("longest that a head could rise", longest, 2);
}

int main(int argc, char **argv)
{
	return run(argc, argv, body);
}
