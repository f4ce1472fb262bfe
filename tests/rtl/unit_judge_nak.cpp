/*
 * rf_judge_nak against "NAKs that the box makes" of docs/box.md: for every packet whether it is answered, with which
 * answer, and the state for the next one.
 *
 * Compiled with GW and LW, the module's parameters; indexes have 24 bits.
 */
#include "Vrf_judge_nak.h"
#include "tests/rtl/unit.h"
#include "tests/rtl/judge_ref.h"

using namespace unit;
using namespace judge_ref;

enum { CONNS = 1 << (GW + LW) };

/* The configuration of a connection's group, and its progress. */
struct conn {
	nak_state s;
	unsigned next, code, eighth;
	bool selective, silent;
};

static packet draw(bench &b, const conn &c)
{
	const unsigned from[] = { c.next, c.s.last, c.s.last, c.s.mark + c.eighth };
	packet p = {};

	p.next = c.next;
	p.code = c.code;
	p.eighth = c.eighth;
	p.selective = c.selective;
	p.silent = c.silent;
	p.room = b.r.percent(85);
	p.full = b.r.percent(15);
	p.index = (from[b.r.below(4)] + b.r.below(5) - 1) & MASK24;
	p.at = less(p.index, c.next) ? (b.r.percent(70) ? STORED : ELSEWHERE) :
	       p.index == c.next ? (p.full ? ELSEWHERE : TAKEN) : BEYOND;
	return p;
}

static void body(bench &b)
{
	auto d = fresh<Vrf_judge_nak>(b);
	conn c[CONNS];
	long first = 0, second = 0, late = 0, named = 0, skipped = 0, quiet = 0, no_room = 0, goes_on = 0, single = 0;

	d->j_valid = d->j_early = d->init_valid = d->tick = d->una_valid = 0;
	reset(b, *d);
	for (long n = 0; n < 60000; n++) {
		const bool begin = n % 3000 < CONNS;
		const unsigned a = begin ? (unsigned)(n % 3000) : b.r.below(n / 500 % 2 ? 2 : CONNS), u = b.r.below(CONNS);
		conn &x = c[a];

		if (begin) {
			x = conn();
			x.next = b.r.percent(70) ? b.r.below(8) : b.r.below(MASK24 + 1);
			x.code = b.r.percent(30) ? 0 : b.r.below(32);
			x.eighth = 1u << b.r.below(6);
			x.selective = SELECTIVE && b.r.percent(50);
			x.silent = b.r.percent(15);
		}
		const packet p = draw(b, x);
		const bool judged = !begin && b.r.percent(80), early = !begin && !judged && !x.selective && b.r.percent(30),
			   again = !judged && !early && b.r.percent(1);
		d->init_valid = begin || again;
		d->init_addr = (uint8_t)a;
		d->tick = !begin && b.r.percent(2);
		d->una_valid = !begin && n % 3000 > 2 * CONNS && !c[u].selective && b.r.percent(10);
		d->una_addr = (uint8_t)u;
		d->j_valid = judged;
		d->j_early = early;
		d->j_taken = p.at == TAKEN;
		d->j_stored = p.at == STORED;
		d->j_beyond = p.at == BEYOND;
		d->j_addr = (uint8_t)a;
		d->j_index = p.index;
		d->j_next = p.next;
		d->j_full = p.full;
		d->j_selective = p.selective || !SELECTIVE;
		d->j_silent = p.silent;
		d->j_code = (uint8_t)p.code;
		d->j_before = (p.index - p.eighth) & MASK24;
		d->room = p.room;
		settle(*d);

		const bool follows = p.index == x.s.last || p.index == ((x.s.last + 1) & MASK24);
		answer w = { false, 0, 0 };
		if (!begin)
			b.same("follows", d->follows, follows);
		if (early) {
			x.s.last = p.index;
			(follows ? goes_on : single)++;
		}
		if (judged) {
			w = make_nak(x.s, p);
			b.same("make", d->make, w.made);
			no_room += !w.made && !p.room;
			quiet += !w.made && p.room && !p.full && p.at == BEYOND && !p.silent;
		} else {
			b.same("made without a packet", d->make, 0);
		}
		if (w.made) {
			b.same("make_syndrome", d->make_syndrome, w.syndrome);
			b.same("make_rnr", d->make_rnr, w.syndrome != 0x60);
			if (p.selective) {
				b.same("make_index", d->make_index, w.named);
				named += w.named == p.next;
				skipped += w.named != p.next;
			} else {
				first += w.syndrome == 0x60;
				second += p.at == BEYOND && w.syndrome != 0x60;
				late += p.at == STORED;
			}
		}
		/* TICK takes effect before the request of a packet in its cycle, una after it. */
		for (unsigned k = 0; d->tick && k < CONNS; k++)
			c[k].s.asked = w.made && k == a;
		if (d->una_valid)
			c[u].s.asked = c[u].s.twice = false;
		if (d->init_valid)
			x.s = nak_state();
		if (judged && p.at == TAKEN)
			x.next = (x.next + 1) & MASK24;
		tick(b, *d);
	}
	b.met("packets before the start that go on", goes_on, 100);
	b.met("packets before the start that do not", single, 100);
	b.met("sequence NAKs", first, 500);
	b.met("RNR NAKs after them", second, 300);
	b.met("RNR NAKs for stragglers", late, 300);
	if (SELECTIVE) {
		b.met("NAKs that name next", named, 1000);
		b.met("NAKs that name an index skipped", skipped, 300);
	}
	b.met("gaps that are not answered", quiet, 1000);
	b.met("packets without room", no_room, 1000);
}

int main(int argc, char **argv)
{
	return run(argc, argv, body);
}
