/*
 * rf_sched: every launch is allowed by its rules and carries the right data, and every packet that can start does
 * start.
 *
 * Compiled with the parameters of the module. The bench is the ledger, the readers, the results and the queues of
 * repeats; each epoch has its own groups, overlapping or not, a third of them with room for all packets. A launch rests on
 * the inputs of the cycle before: `was` is the world as it was driven then, `w` the one that the launch changes.
 */
#include <algorithm>
#include <list>
#include "Vrf_sched.h"
#include "tests/rtl/unit.h"

using namespace unit;

enum { AW = GW + LW, DEPTH = 16, MASK = 0xffffff, EPOCH = 1500, PATIENCE = 450 };

static bool less(unsigned a, unsigned c)
{
	const unsigned d = (c - a) & MASK;

	return d != 0 && d < 1u << 23;
}

struct entry {
	unsigned group, lane, index;
	bool first, life;
};

struct group {
	bool live, error, life;
	unsigned level, block, ports, lanes, mtu_log2, s_log2, dtype, op, ref, dbase, hbase, members[LANES];
	unsigned head, issued, passes;
	unsigned sent[LANES][PORTS], una[LANES][PORTS];
	/* The packet between two lanes. */
	bool midway, rep, late;
	unsigned index, lane, port, rep_lane;
	long since;	/* ready and not launched since */
	long last;	/* launch */
	bool took;	/* an entry of it has just been launched */
	int passed;	/* by packets of other groups on one of its ports */
	int row;	/* packets from the queues since the last first sending, while one could leave */
	int twice[GROUPS]; /* packets of each other group on the same block while this one waits for its turn */
};

struct pass {
	unsigned group, block, left;
	bool fin;
	bool facts; /* they are there */
	bool leaves; /* it will begin in this cycle, as the readers know */
};

struct world {
	group g[GROUPS];
	std::deque<entry> q[PORTS];
	long front[PORTS]; /* the entry at the front is there since */
	int own[PORTS];    /* packets of its group from other queues since then */
	int beats[PORTS], hdrs[PORTS];
	std::list<pass> preps, runs;
	bool generous, directed;
	unsigned p_head, p_una, p_ask, p_back, p_error, run_max;
};

static unsigned queued(const world &w, unsigned port, unsigned group, unsigned lane)
{
	for (auto &e : w.q[port])
		if (e.group == group && e.lane == lane)
			return 1;
	return 0;
}

static void new_group(rng &r, group &g)
{
	g = group();
	g.live = r.percent(85);
	g.life = r.percent(50);
	g.level = r.below(3);
	const unsigned base = r.below(PORTS) >> g.level << g.level;
	g.block = ((1u << (1u << g.level)) - 1) << base;
	g.lanes = 1 + r.below(LANES);
	for (unsigned l = 0; l < g.lanes; l++) {
		while (g.members[l] == 0)
			g.members[l] = r.below(1 << PORTS) & g.block;
		g.ports |= g.members[l];
	}
	g.ref = (unsigned)__builtin_ctz(g.members[0]);
	g.mtu_log2 = 8;
	g.s_log2 = 4 + r.below(2);
	g.dtype = r.below(10);
	g.op = r.below(7);
	g.dbase = r.below(1 << BANK_AW);
	g.hbase = r.below(1 << HDR_AW);
	/* Indexes that wrap, sometimes. */
	const unsigned start = r.percent(30) ? MASK - r.below(20) : r.below(1 << 23);
	g.head = g.issued = start;
	for (unsigned l = 0; l < LANES; l++)
		for (unsigned p = 0; p < PORTS; p++)
			g.sent[l][p] = g.una[l][p] = start;
}

/* Groups on other blocks compete for some of its ports: one of them may starve. */
static bool crossed(const world &w, const group &g)
{
	for (auto &o : w.g)
		if (o.live && o.block != g.block && (o.block & g.block) != 0)
			return true;
	return false;
}

/* A group on all ports among groups on single ports: without a reservation it would wait until all of them pause at once. */
static bool wide_among_narrow(const world &w)
{
	unsigned ports = 0;

	for (unsigned i = 1; i < GROUPS; i++) {
		if (!w.g[i].live || w.g[i].level != 0)
			return false;
		ports |= w.g[i].block;
	}
	return w.g[0].live && w.g[0].level == 2 && (ports & (ports - 1)) != 0;
}

static void new_epoch(bench &b, world &w, long n)
{
	const bool starves = n % 6 == 1;
	const unsigned groups = starves ? GROUPS : 1 + b.r.below(GROUPS);

	do {
		for (unsigned i = 0; i < GROUPS; i++) {
			new_group(b.r, w.g[i]);
			w.g[i].live = w.g[i].live && i < groups;
		}
		/* Sometimes all on the same ports. */
	} while (starves ? !wide_among_narrow(w) : n % 3 == 0 && (!w.g[0].live || crossed(w, w.g[0])));
	for (unsigned p = 0; p < PORTS; p++) {
		w.q[p].clear();
		w.front[p] = w.own[p] = 0;
		w.beats[p] = 1 << (CREDIT_W - 1);
		w.hdrs[p] = 4 * LANES;
	}
	w.preps.clear();
	w.runs.clear();
	w.generous = starves || b.r.percent(n % 3 == 0 ? 70 : 35);
	w.directed = b.r.percent(50);
	w.p_head = starves || b.r.percent(50) ? 100 : 1 + b.r.below(30);
	w.p_una = starves || b.r.percent(50) ? 100 : 5 + b.r.below(40);
	w.p_ask = b.r.percent(30) ? 0 : 1 + b.r.below(60);
	w.p_back = b.r.percent(50) ? 60 : 2 + b.r.below(20);
	w.p_error = starves || b.r.percent(80) ? 0 : 1;
	w.run_max = b.r.percent(50) ? 2 : 8;
}

static bool ready(const group &g)
{
	return g.live && !g.error && g.head != g.issued && !g.midway;
}

static unsigned prep_busy(const world &w)
{
	unsigned m = 0;

	for (auto &x : w.preps)
		m |= x.block;
	return m;
}

/* What the readers say of it. */
static unsigned said_busy(const world &w)
{
	unsigned m = 0;

	for (auto &x : w.preps)
		m |= x.leaves ? 0 : x.block;
	return m;
}

static unsigned locks(const world &w)
{
	unsigned m = 0;

	for (auto &g : w.g)
		m |= g.midway ? g.block : 0;
	return m;
}

static int need_beats(const group &g)
{
	return (1 << g.mtu_log2) >> BYTES_LOG2;
}

static bool room(const world &w, const group &g, unsigned ports)
{
	for (unsigned p = 0; p < PORTS; p++)
		if ((ports >> p & 1) && (w.beats[p] < need_beats(g) || w.hdrs[p] < (int)g.lanes))
			return false;
	return true;
}

static void drive(Vrf_sched &d, const world &w)
{
	for (unsigned i = 0; i < GROUPS; i++) {
		const group &g = w.g[i];
		const uint32_t cfg = g.live | g.dtype << RF_GROUP_CFG_DTYPE_LSB | g.op << RF_GROUP_CFG_OP_LSB |
				     g.mtu_log2 << RF_GROUP_CFG_MTU_LOG2_LSB | g.level << RF_GROUP_CFG_LEVEL_LSB |
				     g.lanes << RF_GROUP_CFG_LANES_LSB | g.s_log2 << RF_GROUP_CFG_S_LOG2_LSB;

		put(d.g_live, i, 1, g.live);
		put(d.g_error, i, 1, g.error);
		put(d.g_life, i, 1, g.life);
		put(d.g_cfg, i * 32, 32, cfg);
		put(d.g_dbase, i * 32, 32, g.dbase);
		put(d.g_hbase, i * 32, 32, g.hbase);
		for (unsigned l = 0; l < LANES; l++)
			put(d.g_members, (i * LANES + l) * PORTS, PORTS, g.members[l]);
		put(d.g_ports, i * PORTS, PORTS, g.ports);
		put(d.g_block, i * PORTS, PORTS, g.block);
		put(d.g_ref, i * PW, PW, g.ref);
		put(d.g_pending, i, 1, g.head != g.issued);
		put(d.g_issued, i * 24, 24, g.issued);
		put(d.pass_room, i, 1, g.passes < 2);
	}
	for (unsigned p = 0; p < PORTS; p++) {
		put(d.q_valid, p, 1, !w.q[p].empty());
		if (!w.q[p].empty()) {
			const entry &e = w.q[p].front();

			put(d.q_addr, p * AW, AW, e.group << LW | e.lane);
			put(d.q_index, p * 24, 24, e.index);
			put(d.q_first, p, 1, e.first);
			put(d.q_life, p, 1, e.life);
			put(d.r_sent, p * 24, 24, w.g[e.group].sent[e.lane][p]);
			put(d.r_una, p * 24, 24, w.g[e.group].una[e.lane][p]);
		}
		put(d.q_room, p, 1, w.generous || w.q[p].size() <= DEPTH - LANES);
		put(d.free_beats, p * CREDIT_W, CREDIT_W, (unsigned)w.beats[p]);
		put(d.free_hdrs, p * CREDIT_W, CREDIT_W, (unsigned)w.hdrs[p]);
	}
	d.prep_busy = (uint8_t)said_busy(w);
}

/* The data of every launch. */
static void check_fields(bench &b, Vrf_sched &d, const group &g, unsigned lane, unsigned index, bool rep)
{
	const unsigned size = 1u << g.s_log2, slot = index % size;

	b.same("launch_block", d.launch_block, g.block);
	b.same("launch_valid", d.launch_valid, g.block);
	b.same("launch_lane", d.launch_lane, lane);
	b.same("launch_index", d.launch_index, index);
	b.same("launch_final", d.launch_final, lane + 1 == g.lanes);
	b.same("launch_member", d.launch_member, g.members[lane]);
	b.same("launch_repeat", d.launch_repeat, rep);
	b.same("launch_ackreq", d.launch_ackreq, rep || slot % (size / 8) == 0);
	b.same("launch_level", d.launch_level, g.level);
	b.same("launch_dtype", d.launch_dtype, g.dtype);
	b.same("launch_op", d.launch_op, g.op);
	b.same("launch_ref", d.launch_ref, g.ref);
	b.same("launch_lanes", d.launch_lanes, g.lanes);
	b.same("launch_beats", d.launch_beats, (unsigned)need_beats(g));
	b.same("launch_beat", d.launch_beat, (g.dbase + slot * (unsigned)need_beats(g)) % (1u << BANK_AW));
	b.same("launch_slot", d.launch_slot, (g.hbase + slot) % (1u << HDR_AW));
}

struct counts {
	long firsts, repeats, lates, stale, dead, lanes, pushes, owed, turns, at_once, longest, close;
};

/* Cycles between two launches on one block, at least. */
enum { APART = 3 };

/* From a change at a front to the launch that depends on it. */
enum { SETTLED = 4 };

static bool settled(const world &w, unsigned port, unsigned number, long n, long since = SETTLED)
{
	return !w.q[port].empty() && w.q[port].front().group == number && n - w.front[port] >= since;
}

/* A group has a packet at the front of a queue, and has had it for a while. */
static bool asks(const world &w, unsigned number, long n, long since = SETTLED)
{
	for (unsigned p = 0; p < PORTS; p++)
		if (settled(w, p, number, n, since))
			return true;
	return false;
}

/* A packet of a group begins: its turn among the groups that wait for the same ports. */
static void turn(bench &b, world &w, const world &was, unsigned number, counts &c, long n)
{
	group &g = w.g[number];

	for (unsigned i = 0; i < GROUPS; i++) {
		group &o = w.g[i];

		if (i == number || (o.block & g.block) == 0 || o.midway || !o.live || was.g[i].error ||
		    !(ready(was.g[i]) || asks(was, i, n - 1)))
			continue;
		/* Each other group may be starved too. */
		o.passed++;
		b.good("a group passed by too many", !w.generous || o.passed <= PASSED_MAX + GROUPS + 3);
		if (!w.generous || !ready(was.g[i]) || was.g[i].passes == 2 || crossed(w, o))
			continue;
		/* Both need the same ports and no other group does: one packet each. */
		o.twice[number]++;
		c.turns++;
		b.good("a group that takes another one's turn", o.twice[number] <= 2);
	}
	g.passed = 0;
	std::fill(g.twice, g.twice + GROUPS, 0);
}

static void enqueue(world &w, unsigned port, const entry &e, long n)
{
	if (w.q[port].empty())
		w.front[port] = n, w.own[port] = 0;
	w.q[port].push_back(e);
}

static void pop(world &w, unsigned port, long n)
{
	w.q[port].pop_front();
	w.front[port] = n;
	w.own[port] = 0;
}

/* The launch of this cycle, if there is one, against the rules; then its effects. behind: the ports whose queue had an entry
 * of the connection. */
static void launch(bench &b, Vrf_sched &d, world &w, const world &was, unsigned behind, counts &c, long n)
{
	const int popped = d.q_pop == 0 ? -1 : __builtin_ctz(d.q_pop);

	b.good("two entries popped", (d.q_pop & (d.q_pop - 1)) == 0);
	if (d.launch_valid == 0) {
		b.same("no sending without a launch", d.s_valid, 0);
		b.same("no push without a launch", d.q_push, 0);
		b.same("no pass without a launch", d.pass_begin, 0);
		if (popped < 0) {
			b.same("q_stale of nothing", d.q_stale, 0);
			return;
		}
		/* Discarded: an entry of an ended group, or a repeat that is no longer in [una, sent). */
		b.good("an entry of nothing", !w.q[popped].empty());
		const entry e = w.q[popped].front();
		const group &g = was.g[e.group];
		const bool dead = !g.live || g.error || g.life != e.life;
		const bool stale = !e.first && (less(e.index, g.una[e.lane][popped]) || !less(e.index, g.sent[e.lane][popped]));
		b.good("an entry forgotten that is good", dead || stale);
		b.same("q_stale", d.q_stale, dead ? 0 : d.q_pop);
		(dead ? c.dead : c.stale)++;
		pop(w, (unsigned)popped, n);
		/* Discarding one costs its group a turn, and does not help a starved group. */
		std::fill(w.g[e.group].twice, w.g[e.group].twice + GROUPS, 0);
		for (auto &o : w.g)
			o.passed = 0;
		return;
	}
	b.same("q_stale beside a launch", d.q_stale, 0);
	const unsigned number = d.launch_group;
	group &g = w.g[number];
	b.good("a launch onto a port that has a pass prepared", (prep_busy(w) & g.block) == 0);
	b.same("pass_begin", d.pass_begin, d.launch_first);
	b.same("launch_first", d.launch_first, !g.midway);
	if (!g.midway) {
		b.good("a packet onto ports that another one has locked", (locks(w) & g.block) == 0);
		b.good("a third pass of a group", g.passes < 2);
		g.rep = !d.pass_first;
		g.lane = 0;
		g.passes++;
		if (!g.rep) {
			b.good("a first sending of a group that is not ready", ready(was.g[number]));
			b.good("a first sending without room", room(was, g, g.ports));
			for (unsigned p = 0; p < PORTS; p++)
				b.good("a first sending without room in a queue", !(g.ports >> p & 1) || w.generous ||
				       was.q[p].size() <= DEPTH - LANES);
			b.same("nothing popped", d.q_pop, 0);
			g.index = g.issued;
			g.issued = (g.issued + 1) & MASK;
			c.firsts++;
			g.since = n;
			/* An entry of the group waits in a queue: allowed only if a first sending is due. */
			const bool queue = w.generous && asks(was, number, n - 1);
			b.good("a first sending before what is queued", !queue || g.row >= QUEUED);
			c.owed += queue;
			g.row = 0;
		} else {
			b.good("a repeat of no queue", popped >= 0);
			const unsigned port = (unsigned)popped;
			b.good("a repeat of an empty queue", !w.q[port].empty());
			const entry e = w.q[port].front();
			b.same("group of the repeat", e.group, number);
			b.good("a repeat of a dead group", g.live && !was.g[number].error && g.life == e.life);
			b.good("a repeat without room", room(was, g, 1u << port));
			if (e.first)
				b.same("a first sending before its turn", e.index, g.sent[e.lane][port]);
			else
				b.good("a repeat outside [una, sent)", !less(e.index, was.g[number].una[e.lane][port]) &&
				       less(e.index, g.sent[e.lane][port]));
			g.took = true;
			for (unsigned p = 0; p < PORTS; p++)
				if (p != port && w.generous && settled(was, p, number, n - 1))
					b.good("a queue passed by others of its group", ++w.own[p] <= PORTS);
			g.index = e.index;
			g.late = e.first;
			g.port = port;
			g.rep_lane = e.lane;
			(e.first ? c.lates : c.repeats)++;
			pop(w, port, n);
		}
		turn(b, w, was, number, c, n);
		const unsigned takes = g.rep ? 1u << g.port : g.ports;
		b.same("launch_room", d.launch_room, takes);
		for (unsigned p = 0; p < PORTS; p++)
			if (takes >> p & 1) {
				w.beats[p] -= need_beats(g);
				w.hdrs[p] -= (int)g.lanes;
			}
	} else {
		b.same("nothing popped between lanes", d.q_pop, 0);
		c.lanes++;
	}
	check_fields(b, d, g, g.lane, g.index, g.rep && !g.late);

	/* Copies: of a first sending to the members, those with queued repeats after these; of a repeat to the one. */
	const unsigned mine = g.rep && g.lane == g.rep_lane ? 1u << g.port : 0;
	const unsigned copy = g.rep ? mine : g.members[g.lane] & ~behind;
	const unsigned push = g.rep ? 0 : g.members[g.lane] & behind;
	b.same("launch_copy", d.launch_copy, copy);
	b.same("s_valid", d.s_valid, !g.rep || g.late ? copy : 0);
	b.same("q_push", d.q_push, push);
	for (unsigned p = 0; p < PORTS; p++) {
		if (d.s_valid >> p & 1) {
			b.same("sent rises by one", g.index, g.sent[g.lane][p]);
			g.sent[g.lane][p] = (g.index + 1) & MASK;
		}
		if (push >> p & 1) {
			enqueue(w, p, { number, g.lane, g.index, true, g.life }, n);
			c.pushes++;
		}
	}
	w.preps.push_back({ number, g.block, 1 + b.r.below(w.run_max), g.lane + 1 == g.lanes, !w.directed, false });
	b.good("a launch too soon after the last one", n - g.last >= APART || g.last == 0);
	c.close += w.directed && n - g.last == APART;
	g.last = n;
	g.lane++;
	g.midway = g.lane != g.lanes;
}

/* The readers: a pass begins when all ports of its block are free; those after the first `old` ones were launched in this
 * cycle. With directed groups it does not begin in its first cycle. If its block is free when it is launched, or in that
 * cycle, it is known when it begins. */
static void readers(world &w, size_t old)
{
	for (auto x = w.runs.begin(); x != w.runs.end();) {
		if (--x->left == 0) {
			if (x->fin)
				w.g[x->group].passes--;
			x = w.runs.erase(x);
		} else {
			++x;
		}
	}
	auto x = w.preps.begin();
	for (size_t i = 0; i < old; i++) {
		unsigned busy = 0;

		for (auto &y : w.runs)
			busy |= y.block;
		if ((busy & x->block) == 0 && x->facts) {
			w.runs.push_back(*x);
			x = w.preps.erase(x);
		} else {
			x->leaves = (busy & x->block) == 0;
			x->facts = true;
			++x;
		}
	}
	for (; x != w.preps.end(); ++x) {
		unsigned busy = 0;

		for (auto &y : w.runs)
			busy |= y.block;
		x->leaves = (busy & x->block) == 0;
	}
}

/* Other activity in the box: packets complete, ACKs, repeats requested, room freed, errors. */
static void others(bench &b, world &w, long n)
{
	for (unsigned i = 0; i < GROUPS; i++) {
		group &g = w.g[i];
		bool full = false;

		for (unsigned l = 0; l < g.lanes; l++)
			for (unsigned p = 0; p < PORTS; p++) {
				if (!(g.members[l] >> p & 1))
					continue;
				full |= ((g.head - g.una[l][p]) & MASK) >= 1u << g.s_log2;
				const unsigned out = (g.sent[l][p] - g.una[l][p]) & MASK;
				if (out != 0 && b.r.percent(w.p_una) && b.r.percent(10))
					g.una[l][p] = (g.una[l][p] + 1 + b.r.below(out)) & MASK;
				const unsigned left = (g.sent[l][p] - g.una[l][p]) & MASK;
				if (left != 0 && w.q[p].size() < DEPTH - 2 * LANES && b.r.percent(w.p_ask) && b.r.percent(20))
					enqueue(w, p, { i, l, (g.una[l][p] + b.r.below(left)) & MASK, false,
						     b.r.percent(98) ? g.life : !g.life }, n);
			}
		if (g.live && !full && b.r.percent(w.p_head))
			g.head = (g.head + 1) & MASK;
		if (w.p_error != 0 && b.r.below(400) == 0)
			g.error = true;
	}
	for (unsigned p = 0; p < PORTS; p++) {
		if (w.generous || b.r.percent(w.p_back)) {
			w.beats[p] = std::min(w.beats[p] + (w.generous ? 1 << CREDIT_W : 32), 1 << (CREDIT_W - 1));
			w.hdrs[p] = std::min(w.hdrs[p] + (w.generous ? 64 : (int)b.r.below(3)), 4 * LANES);
		}
	}
}

static void body(bench &b)
{
	auto d = fresh<Vrf_sched>(b);
	world w;
	counts c = {};
	/* The last cycle. */
	world was;
	unsigned behind = 0;
	/* A launch is due in the next cycle, in the one after it. */
	bool due = false, soon = false;
	int rest = 0;

	for (long n = 0; n < 90000; n++) {
		if (n % EPOCH == 0) {
			new_epoch(b, w, n / EPOCH);
			drive(*d, w);
			d->l_queued = 0;
			reset(b, *d);
			due = soon = false;
			rest = 0;
			was = w;
			behind = 0;
		}
		drive(*d, w);
		d->l_queued = 0;
		settle(*d);
		unsigned queue = 0;
		for (unsigned p = 0; p < PORTS; p++)
			queue |= queued(w, p, d->l_addr >> LW, d->l_addr & ((1 << LW) - 1)) << p;
		d->l_queued = (uint8_t)queue;
		settle(*d);

		bool busy = locks(w) != 0;
		unsigned waiting = 0;
		for (unsigned i = 0; i < GROUPS; i++)
			waiting += ready(w.g[i]);
		for (auto &q : w.q)
			busy |= !q.empty();
		b.good("idle while something is to be done", !d->idle || (!busy && waiting == 0));
		if (due) {
			b.good("one group alone starts at once", d->launch_valid != 0);
			c.at_once++;
		}
		/* Alone, with all the resources it needs, and in the next cycle too. */
		due = soon && std::any_of(w.g, w.g + GROUPS, ready);
		soon = false;
		for (auto &g : w.g)
			if (rest >= 4 && !busy && waiting == 1 && ready(g) && w.generous && (prep_busy(w) & g.block) == 0 && g.passes < 2)
				soon = true;
		rest = d->idle ? rest + 1 : 0;

		const size_t old = w.preps.size();
		const world now = w;
		launch(b, *d, w, was, behind, c, n);
		was = now;
		behind = queue;
		/* Whether a first sending waits is seen in the cycle of the launch. */
		for (auto &g : w.g) {
			g.row += g.took && g.head != g.issued && !g.error;
			g.took = false;
			b.good("a first sending that is due", !w.generous || g.row <= QUEUED);
		}
		/* Every group that can start does: with room for all packets no group waits for long. */
		for (unsigned i = 0; i < GROUPS; i++) {
			group &g = w.g[i];

			if (!ready(g) || !w.generous)
				g.since = n;
			if (!ready(g) && !asks(w, i, n, 0))
				g.passed = 0;
			if (g.head == g.issued || g.error)
				g.row = 0;
			if (!ready(g) || g.passes == 2)
				std::fill(g.twice, g.twice + GROUPS, 0);
			c.longest = std::max(c.longest, n - g.since);
			b.good("a group that could start waits", n - g.since < PATIENCE);
		}
		readers(w, old);
		others(b, w, n);
		tick(b, *d);
	}
	b.met("first sendings", c.firsts, 3000);
	b.met("lanes after the first", c.lanes, 1000);
	b.met("repeats", c.repeats, 150);
	b.met("first sendings after repeats", c.lates, 100);
	b.met("repeats that were stale", c.stale, 50);
	b.met("entries of groups that ended", c.dead, 20);
	b.met("first sendings that were due", c.owed, 5);
	b.met("turns", c.turns, 300);
	b.met("groups that started at once", c.at_once, 5);
	b.met("launches at the shortest distance, with late facts", c.close, 1000);
	b.met("longest that a group with room waited", c.longest, 1);
}

int main(int argc, char **argv)
{
	return run(argc, argv, body);
}
