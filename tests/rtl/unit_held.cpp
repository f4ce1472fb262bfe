/*
 * rf_held against "Held frames" of docs/box.md: every held connection is shown, waits, or is reported as missed; none
 * is shown that was not held; the ports take turns. The fields that the firmware reads all come from one frame.
 *
 * Compiled with PORTS, the module's parameter.
 */
#include "Vrf_held.h"
#include "tests/rtl/unit.h"

using namespace unit;

struct held {
	bool there;
	unsigned ip, src, qpn;

	bool is(const held &o) const
	{
		return there && ip == o.ip && qpn == o.qpn;
	}
};

static void body(bench &b)
{
	auto d = fresh<Vrf_held>(b);
	held shown = {}, wait[PORTS] = {};
	unsigned port = 0, turn = 0;
	bool missed = false;
	long shows[PORTS] = {}, misses = 0, same = 0, pops = 0;
	unsigned p_held = 50, p_pop = 10;

	d->h_valid = d->pop = 0;
	reset(b, *d);
	for (int n = 0; n < 40000; n++) {
		if (n % 500 == 0) {
			p_held = b.r.percent(50) ? 3 : 10 + b.r.below(90);
			p_pop = b.r.percent(50) ? 5 : 60;
		}
		held h[PORTS];

		d->h_valid = 0;
		for (unsigned p = 0; p < PORTS; p++) {
			/* Few connections; all bits of a key differ somewhere. */
			const unsigned k = b.r.below(6);

			h[p] = { b.r.percent(p_held), 0x0a000000u + (k & 1 ? 0x80000000u : 0) + k / 3, (unsigned)b.r.next(),
				 0x11u + (k & 2 ? 0x800000u : 0) };
			d->h_valid |= (unsigned)h[p].there << p;
			put(d->h_ip, p * 32, 32, h[p].ip);
			put(d->h_src, p * 32, 32, h[p].src);
			put(d->h_qpn, p * 24, 24, h[p].qpn);
		}
		d->pop = b.r.percent(p_pop);
		settle(*d);
		b.same("valid", d->valid, shown.there);
		b.same("missed", d->missed, missed);
		if (shown.there) {
			b.same("port", d->port, port);
			b.same("ip", d->ip, shown.ip);
			b.same("src", d->src, shown.src);
			b.same("qpn", d->qpn, shown.qpn);
		}

		/* The frame shown next, if none is shown. */
		int goes = -1;
		for (unsigned k = 0; !shown.there && goes < 0 && k < PORTS; k++)
			if (wait[(turn + k) % PORTS].there)
				goes = (int)((turn + k) % PORTS);
		bool lost = false;
		held next[PORTS];
		for (unsigned p = 0; p < PORTS; p++) {
			next[p] = wait[p];
			if (goes == (int)p)
				next[p].there = false;
			if (!h[p].there)
				continue;
			if (shown.is(h[p]) || wait[p].is(h[p]))
				same++;
			else if (next[p].there)
				lost = true;
			else
				next[p] = h[p];
		}
		misses += lost;
		pops += d->pop && shown.there;
		missed = lost || (missed && !d->pop);
		if (goes >= 0) {
			shown = wait[goes];
			port = (unsigned)goes;
			turn = port + 1;
			shows[goes]++;
		} else if (d->pop) {
			shown.there = false;
		}
		for (unsigned p = 0; p < PORTS; p++)
			wait[p] = next[p];
		tick(b, *d);
	}
	for (long s : shows)
		b.met("frames of a port that were shown", s, 500);
	b.met("frames that were missed", misses, 500);
	b.met("frames of a connection that waits already", same, 500);
	b.met("pops", pops, 1500);
}

int main(int argc, char **argv)
{
	return run(argc, argv, body);
}
