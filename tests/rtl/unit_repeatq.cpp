/*
 * rf_repeatq against two queues: the repeats of the judge and the first sendings of the scheduler after them leave in
 * one order; nothing is lost as long as each side checks its room; `queued` is correct for every connection in every
 * cycle.
 *
 * Compiled with LANES, AW and DEPTH, the module's parameters.
 */
#include "Vrf_repeatq.h"
#include "tests/rtl/unit.h"

using namespace unit;

enum { CONNS = 1 << AW, HOLD = 4, APART = 3 };

struct entry {
	unsigned addr;
	uint32_t index;
	bool first, life;
};

static void body(bench &b)
{
	auto d = fresh<Vrf_repeatq>(b);
	std::deque<entry> hold, queue;
	unsigned p_judge = 50, p_pop = 50, p_send = 30;
	long full = 0, refused = 0, popped = 0, queued = 0, last_push = -APART;
	int lanes_left = 0;

	reset(b, *d);
	for (int n = 0; n < 30000; n++) {
		if (n % 200 == 0) {
			p_judge = b.r.percent(40) ? 100 : b.r.below(100);
			p_pop = b.r.percent(40) ? 0 : b.r.percent(30) ? 100 : b.r.below(100);
			p_send = b.r.percent(40) ? 100 : b.r.below(100);
		}
		if (n % 5000 == 4999) {
			reset(b, *d);
			hold.clear();
			queue.clear();
			lanes_left = 0;
		}
		d->j_valid = d->f_valid = d->m_pop = 0;
		d->j_addr = (uint8_t)b.r.below(CONNS);
		d->j_index = (uint32_t)b.r.below(1 << 24);
		d->j_life = b.r.percent(50);
		d->l_addr = (uint8_t)b.r.below(CONNS);
		d->f_addr = (uint8_t)b.r.below(CONNS);
		d->f_index = (uint32_t)b.r.below(1 << 24);
		d->f_life = b.r.percent(50);
		settle(*d);

		/* Room: reported when there is plenty, never when there is none. */
		const size_t all = queue.size() + hold.size();
		if (all + HOLD < DEPTH - 2 * LANES && hold.size() < HOLD)
			b.good("j_room where there is room", d->j_room);
		if (queue.size() >= DEPTH - 2 * LANES || hold.size() == HOLD)
			b.good("j_room where there is none", !d->j_room);
		b.same("f_room", d->f_room, queue.size() <= DEPTH - LANES);

		bool is_queued = false;
		for (auto &e : queue)
			is_queued |= e.addr == d->l_addr;
		b.same("l_queued", d->l_queued, is_queued);
		queued += is_queued;

		/* Nobody changes its memories. */
		b.same("bad", d->bad, 0);
		b.same("m_valid", d->m_valid, !queue.empty());
		b.same("idle", d->idle, queue.empty() && hold.empty());
		if (!queue.empty()) {
			const entry &e = queue.front();

			b.same("m_addr", d->m_addr, e.addr);
			b.same("m_index", d->m_index, e.index);
			b.same("m_first", d->m_first, e.first);
			b.same("m_life", d->m_life, e.life);
		}

		/* The scheduler checks the room with a packet's first lane only, a cycle before that; one lane every third cycle. */
		const bool turn = n - last_push >= APART;
		const bool begins = turn && lanes_left == 0 && b.r.percent(p_send) && d->f_room;
		if (turn && lanes_left != 0 && b.r.percent(80)) {
			d->f_valid = 1;
			lanes_left--;
			last_push = n;
		}
		if (begins)
			lanes_left = 1 + (int)b.r.below(LANES);
		const bool ask = b.r.percent(p_judge);
		d->j_valid = ask && d->j_room;
		refused += ask && !d->j_room;
		d->m_pop = d->m_valid && b.r.percent(p_pop);
		settle(*d);

		if (d->m_pop) {
			queue.pop_front();
			popped++;
		}
		if (d->f_valid) {
			queue.push_back({ d->f_addr, d->f_index, true, (bool)d->f_life });
		} else if (!hold.empty()) {
			queue.push_back(hold.front());
			hold.pop_front();
		}
		if (d->j_valid)
			hold.push_back({ d->j_addr, d->j_index, false, (bool)d->j_life });
		b.good("more than its capacity", queue.size() <= DEPTH);
		full += queue.size() == DEPTH;
		tick(b, *d);
	}
	b.met("entries that left", popped, 3000);
	b.met("cycles in which it was full", full, 100);
	b.met("repeats refused", refused, 1000);
	b.met("looks at a connection that is queued", queued, 1000);
}

int main(int argc, char **argv)
{
	return run(argc, argv, body);
}
