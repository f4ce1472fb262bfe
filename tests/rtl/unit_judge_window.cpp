/*
 * rf_judge_window against lines 30 to 36 of docs/box.md: counter, repeat, ACK on behalf and NAK of every packet, for
 * any position of its index relative to una, sent, next and the window's end. NAKs come one cycle after their packet.
 *
 * Compiled with GW and LW, the module's parameters. The bench is the ledger.
 */
#include "Vrf_judge_window.h"
#include "tests/rtl/unit.h"
#include "tests/rtl/judge_ref.h"

using namespace unit;
using namespace judge_ref;

enum { CONNS = 1 << (GW + LW) };

static indexed draw(bench &b)
{
	indexed x = {};

	x.una = b.r.percent(30) ? b.r.below(3) : b.r.below(MASK24 + 1);
	x.code = b.r.percent(30) ? 0 : b.r.below(32);
	x.eighth = 1u << b.r.below(6);
	x.open = b.r.percent(15);
	x.transparent = b.r.percent(15);
	x.selective = SELECTIVE && b.r.percent(50);
	x.strict = b.r.percent(60);
	x.far = b.r.percent(40);
	x.sent = (x.una + b.r.below(6)) & MASK24;
	x.next = (x.sent + b.r.below(6)) & MASK24;
	/* No packet has arrived: the range before the start stays visible for long. */
	if (b.r.percent(20))
		x.una = x.sent = x.next = 0;
	x.limit = (x.next + b.r.below(12)) & MASK24;
	if (x.next == 0 && b.r.percent(50))
		x.limit = 0;
	return x;
}

static void packet_of(bench &b, indexed &x, const nak_state &s)
{
	const unsigned from[] = { x.una, x.sent, x.next, x.limit, s.last, s.last };

	x.index = (from[b.r.below(6)] + b.r.below(5) - 2) & MASK24;
	if (b.r.percent(4))
		x.index = b.r.below(MASK24 + 1);
	if (x.next == 0 && b.r.percent(50))
		x.index = (s.last + b.r.below(3)) & MASK24;
	/* Only packets that can be present are present. */
	x.present = x.selective && less(x.index, x.limit) && !less(x.index, x.next) && b.r.percent(40);
	x.behalf_room = b.r.percent(85);
	x.repeat_room = b.r.percent(85);
}

/* The counter of a packet before it is known whether a NAK is made. */
static unsigned without_nak(unsigned why)
{
	switch (why) {
	case RF_CNT_AHEAD_NAK:
		return RF_CNT_AHEAD;
	case RF_CNT_PENDING_RNR:
	case RF_CNT_PENDING_NAK:
		return RF_CNT_PENDING;
	case RF_CNT_GAP_NAK:
	case RF_CNT_GAP_RNR:
		return RF_CNT_GAP;
	default:
		return why;
	}
}

/* The outputs one cycle after the packet; none if no packet was judged. */
static void check_nak(bench &b, const Vrf_judge_window &d, bool judged, const fate &f, bool selective)
{
	if (!judged) {
		b.same("made without a packet", d.nak, 0);
		b.same("too_soon without a packet", d.too_soon, 0);
		return;
	}
	b.same("too_soon", d.too_soon, f.before);
	b.same("nak", d.nak, f.nak.made);
	if (!f.nak.made)
		return;
	b.same("nak_why", d.nak_why, f.why);
	b.same("syndrome", d.syndrome, f.nak.syndrome);
	if (selective)
		b.same("named", d.named, f.nak.named);
}

static void body(bench &b)
{
	auto d = fresh<Vrf_judge_window>(b);
	indexed c[CONNS];
	nak_state s[CONNS];
	std::map<unsigned, long> met;
	long before = 0, early = 0;
	fate last = {};
	bool last_judged = false, last_selective = false;

	d->valid = d->init_valid = d->tick = d->una_valid = 0;
	reset(b, *d);
	for (long n = 0; n < 60000; n++) {
		const bool begin = n % 200 < CONNS;
		const unsigned a = begin ? (unsigned)(n % 200) : b.r.below(CONNS);
		indexed &x = c[a];

		if (begin)
			x = draw(b);
		packet_of(b, x, s[a]);
		const bool judged = !begin && b.r.percent(85), accept = x.selective ? !less(x.index, x.next) &&
			less(x.index, x.limit) && !x.present : x.index == x.next && x.next != x.limit;
		d->init_valid = begin;
		d->init_addr = (uint8_t)a;
		d->tick = !begin && b.r.percent(2);
		d->una_valid = !begin && !x.selective && b.r.percent(5);
		d->una_addr = (uint8_t)a;
		d->valid = judged;
		d->addr = (uint8_t)a;
		d->index = x.index;
		d->open = x.open;
		d->silent = x.open || x.transparent;
		d->selective = x.selective || !SELECTIVE;
		d->strict = x.strict;
		d->code = (uint8_t)x.code;
		d->eighth = (uint16_t)x.eighth;
		d->next = x.next;
		d->sent = x.sent;
		d->una = x.una;
		d->distant = x.far;
		d->accept = accept;
		d->in_window = less(x.index, x.limit);
		d->full = x.next == x.limit;
		d->behalf_room = x.behalf_room;
		d->repeat_room = x.repeat_room;
		settle(*d);

		b.same("storable", d->storable, storable(x));
		check_nak(b, *d, last_judged, last, last_selective);
		fate f = {};
		if (judged) {
			f = at_window(s[a], x);
			b.same("what the ledger accepts", accept, f.accept);
			b.same("why", d->why, without_nak(f.why));
			b.same("behalf", d->behalf, f.behalf);
			before += f.before;
			early += f.early && !f.before && x.strict && !x.selective && x.next == 0;
			b.same("repeat_it", d->repeat_it, f.repeat);
			met[f.why]++;
		}
		last = f;
		last_judged = judged;
		last_selective = x.selective;
		for (unsigned k = 0; d->tick && k < CONNS; k++)
			s[k].asked = f.nak.made && k == a;
		if (d->una_valid)
			s[a].asked = s[a].twice = false;
		if (begin)
			s[a] = nak_state();
		if (judged && f.accept && x.index == x.next)
			x.next = (x.next + 1) & MASK24;
		tick(b, *d);
	}
	static const unsigned all[] = { RF_CNT_BEFORE_START, RF_CNT_BEHALF, RF_CNT_BEHALF_FULL, RF_CNT_REPEAT, RF_CNT_REPEAT_FULL,
		RF_CNT_PENDING, RF_CNT_PENDING_RNR, RF_CNT_PENDING_NAK, RF_CNT_ACCEPTED, RF_CNT_NO_ROOM, RF_CNT_AHEAD,
		RF_CNT_AHEAD_NAK, RF_CNT_GAP, RF_CNT_GAP_NAK, RF_CNT_GAP_RNR };
	long least = 1L << 30;
	for (unsigned why : all) {
		const bool any_order = why == RF_CNT_PENDING_NAK || why == RF_CNT_AHEAD || why == RF_CNT_AHEAD_NAK;

		if (SELECTIVE || !any_order)
			least = std::min(least, met[why]);
	}
	b.met("packets of the rarest line", least, 50);
	b.met("ranks that begin before their start PSN", before, 50);
	b.met("single packets before it", early, 50);
}

int main(int argc, char **argv)
{
	return run(argc, argv, body);
}
