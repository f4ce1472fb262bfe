/*
 * rf_ledger_ack: one event per cycle, round-robin over the ports; its verdict a cycle later, to the port it came from.
 * una advances if the event acknowledges more, and not more than was sent, but not by an event that acknowledges
 * nothing. A fatal event for packets that were acknowledged before is ignored.
 *
 * Compiled with IDX, PORTS, PW and AW, the module's parameters. The bench keeps sent and una of all connections.
 */
#include "Vrf_ledger_ack.h"
#include "tests/rtl/unit.h"

using namespace unit;

enum { MASK = (1 << IDX) - 1 };

struct event {
	unsigned from, port, addr, index, msn;
	bool fatal, still;
};

/* a < c as serial numbers. */
static bool less(unsigned a, unsigned c)
{
	const unsigned d = (c - a) & MASK;

	return d != 0 && d < 1u << (IDX - 1);
}

static void body(bench &b)
{
	auto d = fresh<Vrf_ledger_ack>(b);
	unsigned sent[1 << AW][PORTS], una[1 << AW][PORTS];
	event now = {}, waits[PORTS] = {};
	bool has = false, there[PORTS] = {};
	int passed[PORTS] = {};
	long events = 0, raised = 0, beyond = 0, blocked = 0, fatal = 0, still = 0, late = 0;
	unsigned p_new = 50, p_block = 10;

	for (auto &a : sent)
		for (auto &x : a)
			x = b.r.below(MASK + 1);
	memcpy(una, sent, sizeof(una));
	d->e_valid = d->block = 0;
	reset(b, *d);
	for (int n = 0; n < 40000; n++) {
		if (n % 300 == 0) {
			p_new = b.r.percent(50) ? 100 : 1 + b.r.below(60);
			p_block = b.r.percent(50) ? 0 : b.r.below(90);
		}
		for (unsigned p = 0; p < PORTS; p++) {
			event &e = waits[p];

			if (!there[p] && b.r.percent(p_new)) {
				e = { p, b.r.below(PORTS), b.r.below(1 << AW), 0, b.r.below(1 << 24), b.r.percent(20), b.r.percent(20) };
				/* Around una and sent. */
				e.index = (una[e.addr][e.port] - 3 + b.r.below(8)) & MASK;
				if (b.r.percent(40))
					e.index = (sent[e.addr][e.port] - 1 + b.r.below(3)) & MASK;
				there[p] = true;
			}
			put(d->e_valid, p, 1, there[p]);
			put(d->e_port, p * PW, PW, e.port);
			put(d->e_addr, p * AW, AW, e.addr);
			put(d->e_index, p * IDX, IDX, e.index);
			put(d->e_msn, p * 24, 24, e.msn);
			put(d->e_fatal, p, 1, e.fatal);
			put(d->e_still, p, 1, e.still);
		}
		d->block = b.r.percent(p_block);
		settle(*d);
		for (unsigned p = 0; p < PORTS; p++) {
			put(d->a_sent, p * IDX, IDX, sent[d->a_addr][p]);
			put(d->a_una, p * IDX, IDX, una[d->a_addr][p]);
		}
		settle(*d);

		/* The event taken a cycle ago, or longer if it was blocked. */
		const bool done = has && !d->block;
		b.same("v_valid", d->v_valid, done ? 1u << now.from : 0);
		b.same("idle", d->idle, !has);
		blocked += has && d->block;
		unsigned raise = 0, note = 0;
		if (done) {
			const unsigned s = sent[now.addr][now.port], u = una[now.addr][now.port];
			const bool old = now.fatal && less(now.index, u), ok = !less(s, now.index) && !old;

			b.same("a_addr", d->a_addr, now.addr);
			b.same("v_ok", d->v_ok, ok);
			note = ok ? 1u << now.port : 0;
			raise = ok && !now.still && less(u, now.index) ? note : 0;
			still += ok && now.still && less(u, now.index);
			if (ok) {
				b.same("a_value", d->a_value, now.index);
				b.same("a_msn", d->a_msn, now.msn);
			}
			b.same("n_valid", d->n_valid, ok && now.fatal);
			if (d->n_valid)
				b.same("n_port", d->n_port, now.port);
			raised += raise != 0;
			beyond += !ok && !old;
			late += old;
			fatal += d->n_valid;
		} else {
			b.same("n_valid without an event", d->n_valid, 0);
		}
		b.same("a_raise", d->a_raise, raise);
		b.same("a_note", d->a_note, note);

		/* An event is taken whenever one waits and can be taken. */
		unsigned any = 0;
		for (unsigned p = 0; p < PORTS; p++)
			any |= (unsigned)there[p] << p;
		const bool takes = !has || !d->block;
		b.same("one is taken", __builtin_popcount(d->e_ready), takes && any != 0);
		b.good("taken where none waits", (d->e_ready & ~any) == 0);

		if (raise != 0)
			una[now.addr][now.port] = now.index;
		if (done)
			has = false;
		for (unsigned p = 0; p < PORTS; p++) {
			if (d->e_ready >> p & 1) {
				now = waits[p];
				has = true;
				there[p] = false;
				passed[p] = 0;
				events++;
			} else if (there[p] && d->e_ready != 0) {
				b.good("a port that is passed by", ++passed[p] < PORTS);
			}
		}
		for (auto &a : sent)
			for (auto &x : a)
				if (b.r.percent(3))
					x = (x + b.r.below(3)) & MASK;
		/* una stays close. */
		for (unsigned a = 0; a < 1 << AW; a++)
			for (unsigned p = 0; p < PORTS; p++)
				if (((sent[a][p] - una[a][p]) & MASK) > 100)
					una[a][p] = sent[a][p];
		tick(b, *d);
	}
	b.met("events", events, 5000);
	b.met("una raised", raised, 500);
	b.met("beyond what was sent", beyond, 500);
	b.met("cycles blocked", blocked, 500);
	b.met("fatal", fatal, 100);
	b.met("fatal, of what was acknowledged", late, 100);
	b.met("una left alone", still, 100);
}

int main(int argc, char **argv)
{
	return run(argc, argv, body);
}
