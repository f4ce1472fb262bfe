/*
 * rf_ledger_run against a counter and a set of marks per connection: a step only over marked slots, no mark forgotten,
 * marks of the previous lap do not count; as used for `next` (the logic that sets a mark may move the counter) and for
 * `stored`.
 *
 * Compiled with IDX, GROUPS, LANES, the widths of their numbers and HDR_AW, the module's parameters: indexes wrap.
 */
#include <set>
#include "Vrf_ledger_run.h"
#include "tests/rtl/unit.h"

using namespace unit;

enum { AW = GW + LW, CONNS = 1 << AW, MASK = (1 << IDX) - 1, EPOCH = 3000, QUIET = 100 };

struct conn {
	unsigned count = 0;
	std::set<unsigned> marks;
};

static unsigned sizes[GROUPS], bases[GROUPS];

/* Slots of both groups are cleared one by one; a cycle in which a mark is set does not count. */
static void clear(bench &b, Vrf_ledger_run &d)
{
	d.m_set = 0;
	for (unsigned g = 0; g < GROUPS; g++) {
		sizes[g] = 2 + b.r.below(HDR_AW - GW - 1);
		bases[g] = g << (HDR_AW - GW);
		put(d.g_hbase, g * HDR_AW, HDR_AW, bases[g]);
		put(d.g_size_log2, g * 4, 4, sizes[g]);
		for (unsigned i = 0; i < 1u << sizes[g]; i++) {
			d.clear_valid = 1;
			d.clear_slot = (uint8_t)(bases[g] + i);
			settle(d);
			b.good("clear_ready where no mark is set", d.clear_ready);
			tick(b, d);
		}
	}
	d.clear_valid = 0;
}

static void body(bench &b)
{
	auto d = fresh<Vrf_ledger_run>(b);
	conn c[CONNS];
	long steps = 0, moved = 0, there = 0, rest = 0, quiet_for = 0, all = 0;
	bool moves = false;
	unsigned p_set = 0, p_ready = 0, p_next = 0;

	d->m_set = d->clear_valid = d->step_ready = 0;
	for (long n = 0; n < 20 * EPOCH; n++) {
		if (n % EPOCH == 0) {
			reset(b, *d);
			clear(b, *d);
			for (auto &x : c)
				x = conn();
			moves = n / EPOCH % 2;
		}
		if (n % 300 == 0) {
			p_set = b.r.percent(50) ? 100 : 5 + b.r.below(90);
			p_ready = b.r.percent(50) ? 100 : 5 + b.r.below(90);
			p_next = 10 + b.r.below(60);
		}
		const bool quiet = n % 300 >= 150;
		const unsigned a = b.r.below(CONNS), g = a >> LW, size = 1u << sizes[g];
		conn &x = c[a];
		/* Of the missing packets mostly the first. */
		const unsigned index = (x.count + (b.r.percent(p_next) ? 0 : b.r.below(size))) & MASK;
		const bool is_there = x.marks.count(index) != 0, is_next = index == x.count;
		const bool set = !quiet && !is_there && b.r.percent(p_set);

		d->m_set = set;
		d->m_push = set && (!moves || is_next);
		d->m_moves = moves;
		d->m_addr = (uint8_t)a;
		d->m_slot = (uint8_t)(bases[g] + (index & (size - 1)));
		d->m_lap = index >> sizes[g] & 1;
		d->step_ready = !(moves && set && is_next) && b.r.percent(quiet ? 100 : p_ready);
		settle(*d);
		d->r_value = (uint8_t)c[d->r_addr].count;
		settle(*d);

		b.same("m_there", d->m_there, is_there);
		b.same("clear_ready", d->clear_ready, !set);
		there += is_there;
		if (d->step_valid) {
			conn &y = c[d->step_addr];

			b.same("step_index", d->step_index, y.count);
			b.good("a step over what is missing", y.marks.count(y.count) != 0);
			b.good("idle while it steps", !d->idle);
			if (d->step_ready) {
				y.marks.erase(y.count);
				y.count = (y.count + 1) & MASK;
				steps++;
			}
		}
		quiet_for = quiet ? quiet_for + 1 : 0;
		if (quiet_for > QUIET) {
			b.good("idle at rest", d->idle);
			for (auto &y : c)
				b.good("forgotten", y.marks.count(y.count) == 0);
			rest++;
		}
		if (set && moves && is_next) {
			x.count = (x.count + 1) & MASK;
			moved++;
		} else if (set) {
			x.marks.insert(index);
		}
		unsigned waiting = 0;
		for (auto &y : c)
			waiting += y.marks.count(y.count) != 0;
		all += waiting == CONNS;
		tick(b, *d);
	}
	b.met("steps", steps, 3000);
	b.met("counters moved by who set the mark", moved, 500);
	b.met("packets that are there", there, 1000);
	b.met("cycles in which all connections wait", all, 200);
	b.met("cycles at rest", rest, 1000);
}

int main(int argc, char **argv)
{
	return run(argc, argv, body);
}
