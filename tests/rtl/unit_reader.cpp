/*
 * rf_reader, cycle by cycle against a reference: when a pass begins (all readers of its block free, a packet's passes 7
 * cycles apart), its reads, its output to the reduction, and its reports of packets and of ranks that disagree.
 *
 * Compiled with the parameters of the module; 4 ports, 2 lanes, beats of 8 bytes. The bench is the scheduler, the
 * memories and the readers of the other ports.
 */
#include "Vrf_reader.h"
#include "tests/rtl/unit.h"

using namespace unit;

enum { B = 8, APART = 7, FACTS = 19 };

struct pass {
	unsigned member, copy, room, block, group, lane, index, first, fin, rep, ackreq, level, dtype, op, ref, lanes, beats,
		beat, slot;
};

struct packet {
	pass p;
	unsigned lanes_left, norm;
};

static unsigned plen_of(unsigned fact)
{
	return fact & 0x1fff;
}

static void drive(Vrf_reader &d, const pass &p)
{
	d.launch_member = p.member;
	d.launch_copy = p.copy;
	d.launch_room = p.room;
	d.launch_block = (uint8_t)p.block;
	d.launch_group = (uint8_t)p.group;
	d.launch_lane = (uint8_t)p.lane;
	d.launch_index = p.index;
	d.launch_first = p.first;
	d.launch_final = p.fin;
	d.launch_repeat = p.rep;
	d.launch_ackreq = p.ackreq;
	d.launch_level = (uint8_t)p.level;
	d.launch_dtype = (uint8_t)p.dtype;
	d.launch_op = (uint8_t)p.op;
	d.launch_ref = (uint8_t)p.ref;
	d.launch_lanes = (uint8_t)p.lanes;
	d.launch_beats = (uint8_t)p.beats;
	d.launch_beat = (uint8_t)p.beat;
	d.launch_slot = (uint8_t)p.slot;
}

static pass noise_pass(rng &r)
{
	return { r.below(2), r.below(2), r.below(2), r.below(16), r.below(4), r.below(2), r.below(1 << 24), r.below(2), r.below(2),
		 r.below(2), r.below(2), r.below(4), r.below(10), r.below(7), r.below(4), r.below(32), r.below(32), r.below(64),
		 r.below(16) };
}

/* First pass of a new packet on an aligned block that contains this port. */
static packet make(rng &r)
{
	packet k;
	pass &p = k.p;

	p = noise_pass(r);
	p.level = r.below(3);
	const unsigned base = PORT >> p.level << p.level;
	p.block = ((1u << (1u << p.level)) - 1) << base;
	p.ref = base + r.below(1u << p.level);
	p.lane = 0;
	p.first = 1;
	p.lanes = 1 + r.below(2);
	p.fin = p.lanes == 1;
	p.beat = r.below(32);
	k.lanes_left = p.lanes;
	k.norm = r.below(64) << 13 | 4 * (1 + r.below(r.percent(50) ? 4 : 16 * B / 4));
	return k;
}

static void body(bench &b)
{
	auto d = fresh<Vrf_reader>(b);
	packet now = {};
	bool has = false, prep_valid = false, run_valid = false, kept_bad = false;
	pass prep = {}, run = {};
	unsigned facts[PORTS] = {}, norm = 0, copies = 0, left = 0, p_free = 50, p_differ = 5, p_error = 5, p_new = 50;
	long spaced = -APART, passes = 0, bads = 0, drops = 0, ends = 0, stalls = 0, launched = -9;
	std::deque<std::pair<bool, pass>> to_reduce;	/* two cycles of memory: a beat, its side; fin also tells last */
	std::deque<bool> lasts;
	bool lost = false;	/* the beat of the last cycle */
	pass lost_of = {};
	long losses = 0, broken = 0;

	d->launch_valid = 0;
	drive(*d, noise_pass(b.r));
	d->run_frees = d->differ = d->g_error = d->fact_bad = d->beat_bad = 0;
	memset(&d->facts, 0, sizeof(d->facts));
	reset(b, *d);
	to_reduce.assign(2, { false, pass() });
	lasts.assign(2, false);
	for (long n = 0; n < 40000; n++) {
		if (n % 300 == 0) {
			p_free = b.r.percent(50) ? 100 : 10 + b.r.below(90);
			launched = -9;
			p_differ = b.r.percent(70) ? 0 : b.r.below(30);
			p_error = b.r.percent(70) ? 0 : b.r.below(30);
			p_new = b.r.percent(50) ? 100 : 1 + b.r.below(99);
		}
		d->launch_valid = 0;
		drive(*d, noise_pass(b.r));
		for (int i = 0; i < PORTS; i++)
			put(d->facts, (unsigned)i * FACTS, FACTS, facts[i]);
		d->fact_bad = b.r.percent(3);
		d->beat_bad = b.r.percent(10);
		d->g_error = 0;
		for (int g = 0; g < GROUPS; g++)
			d->g_error = (uint8_t)(d->g_error | b.r.percent(p_error) << g);
		/* Scheduler. */
		settle(*d);
		b.same("prep_busy", d->prep_busy, prep_valid);
		if (!prep_valid && b.r.percent(p_new)) {
			if (!has)
				now = make(b.r);
			now.p.member = b.r.percent(80);
			now.p.copy = now.p.member && b.r.percent(70);
			drive(*d, now.p);
			d->launch_valid = 1;
		}
		/* The other ports. */
		d->run_frees = 0;
		d->differ = 0;
		for (unsigned i = 0; i < PORTS; i++)
			if (i != PORT) {
				d->run_frees = (uint8_t)(d->run_frees | b.r.percent(p_free) << i);
				d->differ = (uint8_t)(d->differ | b.r.percent(p_differ) << i);
			}
		settle(*d);
		const bool run_last = run_valid && left == 1;
		b.same("run_free", d->run_free, !run_valid || run_last);
		const unsigned mine = facts[PORT];
		const unsigned want_norm = prep.first ? facts[prep.ref] : norm;
		const bool differs = prep_valid && prep.member && (mine != want_norm || d->fact_bad);
		b.same("differs", d->differs, differs);
		d->run_frees = (uint8_t)(d->run_frees | d->run_free << PORT);
		d->differ = (uint8_t)(d->differ | d->differs << PORT);
		settle(*d);

		const bool go = prep_valid && (prep.block & ~d->run_frees) == 0 && (prep.first || n - spaced >= APART);
		stalls += prep_valid && !go;
		const bool bad = (!prep.first && kept_bad) || (d->differ & prep.block) != 0 || (d->g_error >> prep.group & 1);
		const unsigned so_far = (prep.first ? 0 : copies) + prep.copy;
		const unsigned length = (plen_of(want_norm) + B - 1) / B;
		b.same("fact_read", d->fact_read, d->launch_valid && d->launch_member);
		if (d->fact_read)
			b.same("fact_addr", d->fact_addr, now.p.lane << HDR_AW | now.p.slot);
		b.same("hdr_read", d->hdr_read, go && prep.copy);
		b.same("copy_valid", d->copy_valid, go && prep.copy);
		if (d->copy_valid) {
			b.same("hdr_addr", d->hdr_addr, prep.lane << HDR_AW | prep.slot);
			b.same("copy_repeat", d->copy_repeat, prep.rep);
			b.same("copy_ackreq", d->copy_ackreq, prep.ackreq);
			b.same("copy_plen", d->copy_plen, plen_of(want_norm));
		}
		b.same("pack_valid", d->pack_valid, go && prep.fin);
		if (d->pack_valid) {
			b.same("pack_room", d->pack_room, prep.room);
			b.same("pack_copies", d->pack_copies, so_far);
			b.same("pack_drop", d->pack_drop, bad);
			b.same("pack_length", d->pack_length, length);
			b.same("pack_tail", d->pack_tail, want_norm & 0x7fff);
			b.same("pack_beats", d->pack_beats, prep.beats);
			b.same("pack_hdrs", d->pack_hdrs, prep.lanes);
			drops += bad;
		}
		b.same("bad_valid", d->bad_valid, go && differs);
		if (d->bad_valid) {
			b.same("bad_group", d->bad_group, prep.group);
			b.same("bad_lane", d->bad_lane, prep.lane);
			b.same("bad_index", d->bad_index, prep.index);
			b.same("bad_parity", d->bad_parity, d->fact_bad);
			broken += d->fact_bad;
			bads++;
		}
		b.same("beat_read", d->beat_read, run_valid && run.member);
		if (d->beat_read)
			b.same("beat_addr", d->beat_addr, run.lane << BANK_AW | run.beat);
		const bool lowest = run.block != 0 && (unsigned)__builtin_ctz(run.block) == PORT;
		b.same("end_valid", d->end_valid, run_last && run.fin && lowest);
		if (d->end_valid) {
			b.same("end_group", d->end_group, run.group);
			ends++;
		}
		const auto &red = to_reduce.front();
		b.same("in_valid", d->in_valid, red.first);
		if (red.first) {
			const pass &x = red.second;

			b.same("in_member", d->in_member, x.member);
			b.same("in_level", d->in_level, x.level);
			b.same("in_dtype", d->in_dtype, x.dtype);
			b.same("in_op", d->in_op, x.op);
			b.same("in_first", d->in_first, x.first);
			b.same("in_final", d->in_final, x.fin);
			b.same("in_last", d->in_last, lasts.front());
		}
		b.same("lost_valid", d->lost_valid, lost);
		if (lost) {
			b.same("lost_group", d->lost_group, lost_of.group);
			b.same("lost_lane", d->lost_lane, lost_of.lane);
			b.same("lost_index", d->lost_index, lost_of.index);
			losses++;
		}
		lost = red.first && red.second.member && d->beat_bad;
		lost_of = red.second;
		b.same("idle", d->idle, !prep_valid && !run_valid && !to_reduce[0].first && !to_reduce[1].first);
		/* Launched into an empty reader: 4 cycles to the reduction. */
		if (n == launched + 4)
			b.good("4 cycles from launch to reduction", d->in_valid);

		/* The next cycle. */
		to_reduce.pop_front();
		lasts.pop_front();
		to_reduce.push_back({ run_valid, run });
		lasts.push_back(run_last);
		if (run_valid) {
			run.beat = (run.beat + 1) % (1 << BANK_AW);
			left--;
			run_valid = left != 0;
		}
		if (d->launch_valid && d->idle && p_free == 100 && now.p.first)
			launched = n;
		if (go) {
			run = prep;
			run_valid = true;
			left = length;
			norm = want_norm;
			copies = so_far;
			kept_bad = bad;
			spaced = n;
			prep_valid = false;
			passes++;
		}
		if (d->launch_valid) {
			prep = now.p;
			prep_valid = true;
			/* Facts: those of the members agree most of the time. */
			for (unsigned i = 0; i < PORTS; i++)
				if ((i != PORT || now.p.member) && (i != now.p.ref || now.p.first))
					facts[i] = b.r.percent(p_differ) ? now.norm ^ 1u << 13 : now.norm;
			if (now.p.first)
				facts[now.p.ref] = now.norm;
			has = --now.lanes_left != 0;
			now.p.first = 0;
			now.p.lane++;
			now.p.fin = now.lanes_left == 1;
		}
		tick(b, *d);
	}
	b.met("passes", passes, 3000);
	b.met("cycles that a pass waited", stalls, 1000);
	b.met("ranks that differ", bads, 10);
	b.met("packets dropped", drops, 100);
	b.met("beats that lost a bit", losses, 500);
	b.met("facts that lost a bit", broken, 50);
	b.met("packets that were read", ends, PORT == 0 ? 1000 : 500);
}

int main(int argc, char **argv)
{
	return run(argc, argv, body);
}
