/*
 * rf_reader, cycle by cycle against a reference: when a pass begins (all readers of its block free, a packet's passes 7
 * cycles apart), when the next one may be launched, its reads, its output to the reduction, and its reports of packets and of ranks that disagree.
 *
 * Half of the groups are directed: who gives and wants, the three comparisons with the first member, the first one with an
 * immediate and the first one that gives; lanes without operands; packets of which nothing is read.
 *
 * Compiled with the parameters of the module; 4 ports, 2 lanes, beats of 8 bytes. The bench is the scheduler, the
 * memories and the readers of the other ports.
 */
#include "Vrf_reader.h"
#include "tests/rtl/unit.h"

using namespace unit;

enum { B = 8, APART = 7, FACTS = DIRECTED ? 43 : 19, KIND_GROUPS = DIRECTED ? 0xa : 0, COPY = 6 };

struct pass {
	unsigned members, copy, room, block, group, lane, index, first, fin, rep, queued, ackreq, level, dtype, op, ref, lanes, beats,
		beat, slot;
};

struct fact {
	unsigned plen, pad, tag, op, type, imm, wants, gives;

	unsigned length() const { return plen | pad << 13; }
	unsigned kind() const { return op | type << 3; }
};

struct packet {
	pass p;
	unsigned lanes_left;
	fact norm;	/* what all ranks state, if they give and want */
	unsigned giving;	/* percent of the ranks that give */
};

static uint64_t word(const fact &f)
{
	const uint64_t low = f.plen | f.pad << 13 | (uint64_t)f.tag << 15;

	return DIRECTED ? low | (uint64_t)f.op << 33 | (uint64_t)f.type << 36 | (uint64_t)f.imm << 40 | (uint64_t)f.wants << 41 |
			  (uint64_t)f.gives << 42 : low & 0x7ffff;
}

static unsigned immediate(const fact &f, unsigned index)
{
	return f.tag >> 2 << 16 | f.wants << 15 | f.gives << 14 | (f.tag & 3) << 12 | f.op << 8 | f.type << 4 | (index & 15);
}

/* The members to which the others are compared (docs/box.md, "The pass"). */
struct references {
	bool any = false, is_stated = false, is_giver = false;
	fact first = {}, stated = {}, giver = {};

	/* In what a member differs: WHAT, and the fact to which it was compared. */
	unsigned what(const fact &f, fact *other) const
	{
		*other = first;
		if (any && f.kind() != first.kind())
			return 1;
		*other = stated;
		if (f.imm && is_stated && f.tag != stated.tag)
			return 1;
		*other = giver;
		if (!f.gives || !is_giver)
			return 0;
		return f.op == COPY ? 2 : f.length() != giver.length() ? 3 : 0;
	}

	void add(const fact &f)
	{
		if (!any)
			first = f;
		if (!is_stated && f.imm)
			stated = f;
		if (!is_giver && f.gives)
			giver = f;
		any = true;
		is_stated |= f.imm;
		is_giver |= f.gives;
	}
};

static void drive(Vrf_reader &d, const pass &p)
{
	d.launch_member = (uint8_t)p.members;
	d.launch_copy = p.copy;
	d.launch_room = p.room;
	d.launch_block = (uint8_t)p.block;
	d.launch_group = (uint8_t)p.group;
	d.launch_lane = (uint8_t)p.lane;
	d.launch_index = p.index;
	d.launch_first = p.first;
	d.launch_final = p.fin;
	d.launch_repeat = p.rep;
	d.launch_queued = p.queued;
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
	return { r.below(16), r.below(2), r.below(2), r.below(16), r.below(4), r.below(2), r.below(1 << 24), r.below(2), r.below(2),
		 r.below(2), r.below(2), r.below(2), r.below(4), r.below(10), r.below(7), r.below(4), r.below(32), r.below(32), r.below(64),
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
	k.norm = { 4 * (1 + r.below(r.percent(50) ? 4 : 16 * B / 4)), r.below(4), r.below(16), p.op, p.dtype, 1, 1, 1 };
	if (KIND_GROUPS >> p.group & 1) {
		k.norm.tag = r.below(1 << 18);
		k.norm.op = r.percent(15) ? (unsigned)COPY : r.below(3);
		k.norm.type = r.below(10);
	}
	k.giving = r.percent(40) ? 100 : r.below(101);
	return k;
}

/* The facts of one rank. Those of a packet agree most of the time. */
static fact state(rng &r, const packet &k, unsigned p_differ)
{
	const bool directed = KIND_GROUPS >> k.p.group & 1;
	fact f = k.norm;

	if (directed) {
		f.gives = r.below(100) < k.giving;
		f.wants = r.percent(70);
		if (f.gives && f.wants && r.percent(30))
			f.imm = f.tag = 0;
		if (!f.gives)
			f.plen = f.pad = 0;
	}
	if (!r.percent(p_differ))
		return f;
	switch (directed ? r.below(6) : 3) {
	case 0: f.op ^= 1u << r.below(3); break;
	case 1: f.type ^= 1u << r.below(4); break;
	case 2: f.tag ^= 1u << r.below(18); break;
	default: f.pad ^= 1;
	}
	return f;
}

static void body(bench &b)
{
	auto d = fresh<Vrf_reader>(b);
	packet now = {};
	bool has = false, prep_valid = false, run_valid = false, kept_bad = false;
	pass prep = {}, run = {};
	fact facts[PORTS] = {};
	references refs;
	bool refs_differ = false;	/* the facts of a lane before: only the first rank that differs is reported */
	unsigned copies = 0, fulls = 0, left = 0, p_free = 50, p_differ = 5, p_error = 5, p_new = 50;
	long spaced = -APART, passes = 0, bads = 0, drops = 0, ends = 0, stalls = 0, launched = -9;
	std::deque<std::pair<bool, pass>> to_reduce;	/* two cycles of memory: a beat, its side; fin also tells last */
	std::deque<bool> lasts;
	bool lost = false;	/* the beat of the last cycle */
	pass lost_of = {};
	long losses = 0, broken = 0, empties = 0, nothings = 0, marks = 0, whats[4] = {};
	bool nothing = false, marked = false, ready = false, told = false;	/* nothing: of the last cycle */
	bool busy = false, held = false;	/* prep_busy; in the last cycle */
	long since = -9, close = 0;		/* the last pass began; passes 3 cycles after another one */
	long last = -9, early = 0;		/* the last launch; those that were free to begin */
	unsigned tell_what = 0, tell_got = 0, tell_want = 0;

	d->launch_valid = 0;
	drive(*d, noise_pass(b.r));
	d->run_frees = d->differ = d->g_error = d->fact_bad = d->beat_bad = d->g_mark = 0;
	d->g_directed = KIND_GROUPS;
	memset(&d->facts, 0, sizeof(d->facts));
	reset(b, *d);
	to_reduce.assign(2, { false, pass() });
	lasts.assign(2, false);
	for (long n = 0; n < (DIRECTED ? 120000 : 40000); n++) {
		if (n % 300 == 0) {
			p_free = b.r.percent(50) ? 100 : 10 + b.r.below(90);
			launched = -9;
			p_differ = b.r.percent(70) ? 0 : b.r.below(30);
			p_error = b.r.percent(70) ? 0 : b.r.below(30);
			p_new = b.r.percent(50) ? 100 : 1 + b.r.below(99);
		}
		d->launch_valid = 0;
		drive(*d, noise_pass(b.r));
		for (int i = 0; i < PORTS; i++) {
			put(d->facts, (unsigned)i * FACTS, 19, (uint32_t)word(facts[i]) & 0x7ffff);
			if (DIRECTED)
				put(d->facts, (unsigned)i * FACTS + 19, 24, (uint32_t)(word(facts[i]) >> 19));
		}
		d->fact_bad = b.r.percent(3);
		d->beat_bad = b.r.percent(10);
		d->g_mark = (uint8_t)b.r.below(16);
		d->g_error = 0;
		for (int g = 0; g < GROUPS; g++)
			d->g_error = (uint8_t)(d->g_error | b.r.percent(p_error) << g);
		/* Scheduler. */
		settle(*d);
		b.same("prep_busy", d->prep_busy, busy);
		if (!busy && !held && n - last >= 3 && b.r.percent(p_new)) {
			b.good("free while a pass is in preparation", !prep_valid);
			if (!has)
				now = make(b.r);
			/* The first member of lane 0 is the reference. */
			now.p.members = b.r.below(16) & now.p.block;
			if (now.p.first)
				now.p.members = (now.p.members | 1u << now.p.ref) & ~((1u << now.p.ref) - 1);
			if (now.p.members == 0)
				now.p.members = now.p.block;
			now.p.copy = (now.p.members >> PORT & 1) && b.r.percent(70);
			drive(*d, now.p);
			d->launch_valid = 1;
		}
		/* The other ports. */
		d->run_frees = 0;
		d->differ = 0;
		for (unsigned i = 0; i < PORTS; i++)
			if (i != PORT) {
				/* One that is free stays so until the pass begins. */
				const bool stays = prep_valid && !busy && (prep.block >> i & 1);

				d->run_frees = (uint8_t)(d->run_frees | (stays || b.r.percent(p_free)) << i);
				d->differ = (uint8_t)(d->differ | b.r.percent(p_differ) << i);
			}
		settle(*d);
		const bool run_last = run_valid && left == 1;
		b.same("run_free", d->run_free, !run_valid || run_last);
		const fact &mine = facts[PORT];
		const bool member = prep.members >> PORT & 1;
		references with = prep.first ? references() : refs;
		const references start = with;
		fact other;
		bool differs = false;
		unsigned first_bad = PORTS;
		bool lane_gives = false;

		for (unsigned i = 0; i < PORTS; i++) {
			if (!(prep.members >> i & 1))
				continue;
			if (first_bad == PORTS && with.what(facts[i], &other)) {
				first_bad = i;
			}
			/* This port's rank against every member before it. */
			if (i < PORT) {
				references alone;

				alone.add(facts[i]);
				differs |= alone.what(mine, &other) != 0;
			}
			with.add(facts[i]);
			lane_gives |= facts[i].gives;
		}
		differs = (differs || start.what(mine, &other) != 0 || d->fact_bad) && member && prep_valid && (!DIRECTED || ready);
		if (!DIRECTED && prep_valid && member)
			differs = word(mine) != word(prep.first ? facts[prep.ref] : start.first) || d->fact_bad;
		b.same("differs", d->differs, differs);
		d->run_frees = (uint8_t)(d->run_frees | d->run_free << PORT);
		d->differ = (uint8_t)(d->differ | d->differs << PORT);
		settle(*d);

		const bool go = prep_valid && (!DIRECTED || ready) && (prep.block & ~d->run_frees) == 0 && (prep.first || n - spaced >= APART);
		const bool soon = DIRECTED && !ready && (prep.block & ~d->run_frees) == 0 && (prep.first || n + 1 - spaced >= APART);
		b.good("a pass that is announced begins", go || !prep_valid || busy || (DIRECTED && !ready));
		stalls += prep_valid && !go;
		const fact norm = with.is_giver ? with.giver : fact();
		const bool reads = lane_gives || (prep.fin && with.is_giver);
		const bool mark = DIRECTED && (d->g_mark >> prep.group & 1) && prep.copy && !prep.queued && mine.gives;
		const bool all_marks = mark || (!prep.first && marked);
		const bool bad = (!prep.first && kept_bad) || (d->differ & prep.block) != 0 || (d->g_error >> prep.group & 1);
		const unsigned so_far = (prep.first ? 0 : copies) + prep.copy;
		const unsigned so_full = (prep.first ? 0 : fulls) + (prep.copy && mine.wants);
		const unsigned length = (norm.plen + B - 1) / B;
		b.same("fact_read", d->fact_read, d->launch_valid && (d->launch_member >> PORT & 1));
		if (d->fact_read)
			b.same("fact_addr", d->fact_addr, now.p.lane << HDR_AW | now.p.slot);
		b.same("hdr_read", d->hdr_read, go && prep.copy);
		b.same("copy_valid", d->copy_valid, go && prep.copy);
		if (d->copy_valid) {
			b.same("hdr_addr", d->hdr_addr, prep.lane << HDR_AW | prep.slot);
			b.same("copy_repeat", d->copy_repeat, prep.rep);
			b.same("copy_ackreq", d->copy_ackreq, prep.ackreq);
			b.same("copy_wants", d->copy_wants, mine.wants);
			b.same("copy_directed", d->copy_directed, KIND_GROUPS >> prep.group & 1);
			b.same("copy_mark", d->copy_mark, mark);
			marks += mark;
		}
		b.same("pack_valid", d->pack_valid, go && prep.fin);
		if (d->pack_valid) {
			b.same("pack_room", d->pack_room, prep.room);
			b.same("pack_copies", d->pack_copies, so_far);
			b.same("pack_fulls", d->pack_fulls, so_full);
			b.same("pack_drop", d->pack_drop, bad);
			b.same("pack_length", d->pack_length, length);
			b.same("pack_tail", d->pack_tail, norm.length());
			b.same("pack_beats", d->pack_beats, prep.beats);
			b.same("pack_hdrs", d->pack_hdrs, prep.lanes);
			drops += bad;
		}
		b.same("unmark_valid", d->unmark_valid, go && prep.fin && all_marks);
		if (d->unmark_valid)
			b.same("unmark_group", d->unmark_group, prep.group);
		/* One cycle after the report. */
		if (told) {
			b.same("bad_what", d->bad_what, tell_what);
			b.same("bad_got", d->bad_got, tell_got);
			b.same("bad_want", d->bad_want, tell_want);
			whats[tell_what]++;
		}
		told = go && differs && first_bad == PORT && (prep.first || !refs_differ);
		tell_what = tell_got = tell_want = 0;
		if (told && (KIND_GROUPS >> prep.group & 1)) {
			references r = start;
			fact o;

			for (unsigned i = 0; i < PORT; i++)
				if (prep.members >> i & 1)
					r.add(facts[i]);
			tell_what = r.what(mine, &o);
			tell_got = tell_what == 3 ? mine.plen - mine.pad : immediate(mine, prep.index);
			tell_want = tell_what == 3 ? o.plen - o.pad : immediate(o, prep.index);
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
		b.same("beat_read", d->beat_read, run_valid && run.members);
		if (d->beat_read)
			b.same("beat_addr", d->beat_addr, run.lane << BANK_AW | run.beat);
		const bool lowest = run.block != 0 && (unsigned)__builtin_ctz(run.block) == PORT;
		b.same("end_valid", d->end_valid, (nothing || (run_last && run.fin)) && lowest);
		if (d->end_valid) {
			b.same("end_group", d->end_group, run.group);
			ends++;
		}
		const auto &red = to_reduce.front();
		b.same("in_valid", d->in_valid, red.first);
		if (red.first) {
			const pass &x = red.second;

			b.same("in_member", d->in_member, x.members);
			b.same("in_empty", d->in_empty, x.ref);
			empties += x.ref;
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
		lost = red.first && red.second.members && d->beat_bad;
		lost_of = red.second;
		b.same("idle", d->idle, !prep_valid && !nothing && !run_valid && !to_reduce[0].first && !to_reduce[1].first);
		/* Launched into an empty reader: 4 or 5 cycles to the reduction. */
		if (n == launched + 4 + DIRECTED)
			b.good("cycles from launch to reduction", d->in_valid);

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
		ready = prep_valid && !d->launch_valid;
		held = busy;
		const bool free = (now.p.block & ~d->run_frees) == 0 && (now.p.first || n + 1 + DIRECTED - spaced >= APART);
		busy = d->launch_valid ? !free : busy && !go && !soon;
		early += d->launch_valid && free;
		last = d->launch_valid ? n : last;
		nothing = go && prep.fin && !with.is_giver;
		nothings += nothing;
		if (go) {
			run = prep;
			/* What goes with the beats: an operand here; no operand at any port (in place of ref). */
			run.members = member && (!DIRECTED || mine.gives);
			run.ref = DIRECTED && !lane_gives;
			run.first = !start.is_giver;
			if (DIRECTED) {
				run.dtype = with.first.type;
				run.op = with.first.op;
			}
			run_valid = reads;
			left = length;
			refs_differ = first_bad != PORTS || (!prep.first && refs_differ);
			refs = with;
			copies = so_far;
			fulls = so_full;
			kept_bad = bad;
			marked = all_marks;
			if (reads)
				spaced = n;
			else if (prep.first)
				spaced = -APART;
			if (!reads && launched == n - 1 - DIRECTED)
				launched = -9;
			prep_valid = false;
			passes++;
			b.good("passes less than 3 cycles apart", n - since >= 3);
			close += n - since == 3;
			since = n;
		}
		if (d->launch_valid) {
			prep = now.p;
			prep_valid = true;
			/* Facts: those of the members agree most of the time. */
			for (unsigned i = 0; i < PORTS; i++)
				if (now.p.members >> i & 1)
					facts[i] = state(b.r, now, p_differ);
			has = --now.lanes_left != 0;
			now.p.first = 0;
			now.p.lane++;
			now.p.fin = now.lanes_left == 1;
		}
		tick(b, *d);
	}
	b.met("passes", passes, 3000);
	b.met("passes 3 cycles after another one", close, 300);
	b.met("passes launched when nothing delayed them", early, 300);
	b.met("cycles that a pass waited", stalls, 1000);
	b.met("ranks that differ", bads, 10);
	b.met("packets dropped", drops, 100);
	b.met("beats that lost a bit", losses, 500);
	b.met("facts that lost a bit", broken, 50);
	if (DIRECTED) {
		b.met("ranks that differ in their tag", whats[1], 10);
		b.met("second ranks that give to a copy", whats[2], 10);
		b.met("ranks with another length", whats[3], 10);
		b.met("beats of lanes without operands", empties, 100);
		b.met("packets of which nothing is read", nothings, 50);
		b.met("copies with a mark", marks, 100);
	}
	b.met("packets that were read", ends, PORT == 0 ? 1000 : 500);
}

int main(int argc, char **argv)
{
	return run(argc, argv, body);
}
