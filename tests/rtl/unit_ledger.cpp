/*
 * rf_ledger with its submodules against one record per connection: the values read by the judges, the repeats and the
 * registers are exact in every cycle; heads and tails never lead, and reach their final values when the box is idle; no
 * packet is accepted beyond tail + S. In selective groups every packet of the window is accepted once, in any order;
 * next and the head follow when gaps are filled.
 *
 * Compiled with IDX, PORTS, LANES, GROUPS and the widths of their numbers, the module's parameters: indexes wrap many
 * times.
 */
#include <set>
#include "Vrf_ledger.h"
#include "tests/rtl/unit.h"

using namespace unit;

enum { AW = GW + LW, MASK = (1 << IDX) - 1, EPOCH = 4000, QUIET = 60 };

struct conn {
	/* Of a selective group: next as it was last read, which may follow with delay; `stored` follows the copies. */
	unsigned next, shown, stored, sent, una, msn;
	bool far;
	/* Accepted beyond next; accepted and not yet copied, in order; copied beyond `stored`. */
	std::set<unsigned> ahead, copied;
	std::deque<unsigned> uncopied;
};

struct group {
	bool open, selective;
	unsigned hbase, size_log2, lanes, members[LANES], ports, issued;
	conn c[LANES][PORTS];
	std::deque<unsigned> passes;	/* indexes of the passes that read */
	/* The first sending of which a lane has not been launched yet. */
	bool midway;
	unsigned index, lane;
};

struct event {
	unsigned from, port, g, l, index, msn;
	bool fatal, still;
};

static bool less(unsigned a, unsigned c)
{
	const unsigned d = (c - a) & MASK;

	return d != 0 && d < 1u << (IDX - 1);
}

class ledger_bench {
public:
	explicit ledger_bench(bench &bb) : b(bb), d(fresh<Vrf_ledger>(bb)) {}
	void run();

private:
	bench &b;
	std::unique_ptr<Vrf_ledger> d;
	group g[GROUPS];
	/* The groups of the next packets; what was shown of a group one cycle ago, GROUPS: of none. */
	unsigned soon[PORTS] = {}, was_group = GROUPS, was_tail = 0;
	event waits[PORTS], now;
	bool there[PORTS], has;
	unsigned p_judge, p_commit, p_pass, p_end, p_ack;
	long accepted = 0, full = 0, passes = 0, repeats = 0, raised = 0, beyond = 0, blocked = 0, settled = 0, quiet_for = 0, inits = 0;
	long ahead = 0, twice = 0, laps = 0, stills = 0;

	void clear();
	void epoch();
	bool member(unsigned i, unsigned l, unsigned p) { return g[i].members[l] >> p & 1; }
	unsigned least(const group &x, unsigned from, bool tail);
	unsigned slot(const group &x, unsigned index) { return x.hbase + (index & ((1u << x.size_log2) - 1)); }
	void show(const group &x, conn &c, const char *what, unsigned is);
	void groups();
	void start(unsigned i);
	void check_steps(const unsigned *ca);
	void cycle(bool quiet);
	void check_reads();
	void check_registers(bool quiet);
};

void ledger_bench::clear()
{
	d->start_valid = d->init_valid = d->pass_begin = d->pass_end = d->pass_first = 0;
	d->j_valid = d->c_valid = d->c_marks = d->s_valid = d->e_valid = 0;
}

/* Smallest una (tail) or stored (head) of the members, as a distance from `from`; the passes hold the tail. */
unsigned ledger_bench::least(const group &x, unsigned from, bool tail)
{
	unsigned m = MASK;

	for (unsigned l = 0; l < x.lanes; l++)
		for (unsigned p = 0; p < PORTS; p++)
			if (x.members[l] >> p & 1)
				m = std::min(m, ((tail ? x.c[l][p].una : x.c[l][p].stored) - from) & MASK);
	for (unsigned i : x.passes)
		if (tail)
			m = std::min(m, (i - from) & MASK);
	return m;
}

void ledger_bench::groups()
{
	for (unsigned i = 0; i < GROUPS; i++) {
		put(d->g_open, i, 1, g[i].open);
		put(d->g_selective, i, 1, g[i].selective || !SELECTIVE);
		put(d->g_hbase, i * HDR_AW, HDR_AW, g[i].hbase);
		put(d->g_size_log2, i * 4, 4, g[i].size_log2);
		put(d->g_lanes, i * 5, 5, g[i].lanes);
		put(d->g_ports, i * PORTS, PORTS, g[i].ports);
		for (unsigned l = 0; l < LANES; l++)
			put(d->g_members, (i * LANES + l) * PORTS, PORTS, g[i].members[l]);
	}
}

/* If it is selective its slots are cleared first. */
void ledger_bench::start(unsigned i)
{
	unsigned cycles = 0;

	d->start_valid = 1;
	d->start_group = (uint8_t)i;
	tick(b, *d);
	d->start_valid = 0;
	settle(*d);
	while (d->g_clearing != 0 && cycles <= 1u << HDR_AW) {
		b.same("g_clearing", d->g_clearing, 1u << i);
		b.good("idle while slots are cleared", !d->idle);
		tick(b, *d);
		settle(*d);
		cycles++;
	}
	b.same("cycles of clearing", cycles, g[i].selective ? 1u << g[i].size_log2 : 0);
}

void ledger_bench::epoch()
{
	clear();
	for (unsigned i = 0; i < GROUPS; i++) {
		group &x = g[i];

		x = group();
		x.open = b.r.percent(30);
		x.selective = SELECTIVE && b.r.percent(50);
		x.size_log2 = 2 + b.r.below(3);
		x.hbase = i * ((1 << HDR_AW) / GROUPS) + b.r.below((1 << HDR_AW) / GROUPS - (1 << x.size_log2) + 1);
		x.lanes = 1 + b.r.below(LANES);
		for (unsigned l = 0; l < x.lanes; l++) {
			x.members[l] = 1 + b.r.below((1 << PORTS) - 1);
			x.ports |= x.members[l];
		}
	}
	groups();
	reset(b, *d);
	/* Connections are initialised one after the other, then the groups start. */
	for (unsigned a = 0; a < 1 << AW; a++)
		for (unsigned p = 0; p < PORTS; p++) {
			d->init_valid = 1;
			d->init_port = (uint8_t)p;
			d->init_addr = (uint8_t)a;
			settle(*d);
			b.good("init_ready where nothing is written", d->init_ready);
			tick(b, *d);
			inits++;
		}
	d->init_valid = 0;
	for (unsigned i = 0; i < GROUPS; i++) {
		start(i);
	}
	/* The limits of the cycle before the first packets. */
	for (unsigned p = 0; p < PORTS; p++)
		put(d->j_soon, p * GW, GW, soon[p]);
	tick(b, *d);
	was_group = GROUPS;
	memset(there, 0, sizeof(there));
	has = false;
	quiet_for = 0;
}

/* next of a selective group only advances, and never over a missing packet; for other groups it is exact. */
void ledger_bench::show(const group &x, conn &c, const char *what, unsigned is)
{
	if (x.selective)
		b.good("next goes back or over what is missing", ((is - c.shown) & MASK) <= ((c.next - c.shown) & MASK));
	else
		b.same(what, is, c.next);
	c.shown = is;
}

/* Copies that have begun: those of the cycle; in selective groups later, when a runner reaches them. */
void ledger_bench::check_steps(const unsigned *ca)
{
	for (unsigned p = 0; p < PORTS; p++) {
		const unsigned a = (unsigned)get(d->step_addrs, p * AW, AW), index = (unsigned)get(d->step_indexes, p * IDX, IDX);
		const bool direct = get(d->c_valid, p, 1), marks = get(d->c_marks, p, 1);

		if (direct) {
			b.good("a step for every commit", get(d->steps, p, 1));
			b.same("step_addrs", a, ca[p]);
		}
		if (marks) {
			conn &c = g[ca[p] >> LW].c[ca[p] & ((1 << LW) - 1)][p];

			c.copied.insert(c.uncopied.front());
			c.uncopied.pop_front();
		}
		if (!get(d->steps, p, 1))
			continue;
		group &x = g[a >> LW];
		conn &c = x.c[a & ((1 << LW) - 1)][p];
		b.same("step_indexes", index, c.stored);
		b.good("a step without a commit", direct || (x.selective && c.copied.count(index) != 0));
		b.good("a step beyond next", c.stored != c.next);
		c.copied.erase(index);
		c.stored = (c.stored + 1) & MASK;
	}
}

/* The judges' and the repeats' views. */
void ledger_bench::check_reads()
{
	for (unsigned p = 0; p < PORTS; p++) {
		const unsigned a = (unsigned)get(d->j_addr, p * AW, AW), r = (unsigned)get(d->r_addr, p * AW, AW);
		conn &c = g[a >> LW].c[a & ((1 << LW) - 1)][p];
		const conn &q = g[r >> LW].c[r & ((1 << LW) - 1)][p];

		show(g[a >> LW], c, "j_next", (unsigned)get(d->j_next, p * IDX, IDX));
		b.same("j_sent", get(d->j_sent, p * IDX, IDX), c.sent);
		b.same("j_una", get(d->j_una, p * IDX, IDX), c.una);
		b.same("j_far", get(d->j_far, p, 1), c.far);
		b.same("j_msn", get(d->j_msn, p * 24, 24), c.msn);
		b.same("r_sent", get(d->r_sent, p * IDX, IDX), q.sent);
		b.same("r_una", get(d->r_una, p * IDX, IDX), q.una);
	}
}

void ledger_bench::check_registers(bool quiet)
{
	const group &x = g[d->x_group];
	const unsigned xa = d->x_addr;
	conn &c = g[xa >> LW].c[xa & ((1 << LW) - 1)][d->x_port];

	show(g[xa >> LW], c, "x_next", d->x_next);
	b.same("x_sent", d->x_sent, c.sent);
	b.same("x_una", d->x_una, c.una);
	b.same("x_msn", d->x_msn, c.msn);
	b.same("l_head", d->l_head, d->x_head);
	b.same("x_issued", d->x_issued, x.issued);
	b.same("g_issued", get(d->g_issued, d->x_group * IDX, IDX), x.issued);
	b.same("g_pending", get(d->g_pending, d->x_group, 1), d->x_head != x.issued);
	b.same("pass_room", get(d->pass_room, d->x_group, 1), x.passes.size() < 2);
	/* Never ahead: distances are small, a lead would appear as a huge one. */
	b.good("the head leads", less(d->x_head, (d->x_head + least(x, d->x_head, false) + 1) & MASK));
	b.good("the tail leads", less(d->x_tail, (d->x_tail + least(x, d->x_tail, true) + 1) & MASK));
	if (quiet && quiet_for > QUIET) {
		b.same("the head when all is quiet", least(x, d->x_head, false), 0);
		b.same("the tail when all is quiet", least(x, d->x_tail, true), 0);
		b.good("idle when all is quiet", d->idle);
		b.same("next when all is quiet", d->x_next, c.next);
		b.good("copies not noted when all is quiet", c.copied.count(c.stored) == 0);
		settled++;
	}
}

void ledger_bench::cycle(bool quiet)
{
	bool taken[GROUPS] = {};
	unsigned open_block = 0;

	clear();
	/* Judges: mostly the next packet of a member. */
	unsigned ja[PORTS], ji[PORTS], ca[PORTS];
	for (unsigned p = 0; p < PORTS; p++) {
		const unsigned i = soon[p], l = b.r.below(g[i].lanes), ci = b.r.below(GROUPS), cl = b.r.below(g[ci].lanes);

		soon[p] = b.r.below(GROUPS);
		put(d->j_soon, p * GW, GW, soon[p]);
		ja[p] = i << LW | l;
		ji[p] = (g[i].c[l][p].next + (b.r.percent(g[i].selective ? 30 : 70) ? 0 : g[i].selective ?
			 b.r.below((1u << g[i].size_log2) + 4) - 2 : b.r.below(5) - 2)) & MASK;
		put(d->j_selective, p, 1, g[i].selective || !SELECTIVE);
		put(d->j_slot, p * HDR_AW, HDR_AW, slot(g[i], ji[p]));
		put(d->j_lap, p, 1, ji[p] >> g[i].size_log2 & 1);
		put(d->j_addr, p * AW, AW, ja[p]);
		put(d->j_index, p * IDX, IDX, ji[p]);
		put(d->j_valid, p, 1, !quiet && member(i, l, p) && b.r.percent(p_judge));
		/* Commits of accepted packets. */
		ca[p] = ci << LW | cl;
		put(d->c_addr, p * AW, AW, ca[p]);
		const conn &cc = g[ci].c[cl][p];
		const bool some = g[ci].selective ? !cc.uncopied.empty() : cc.stored != cc.next;
		const bool commit = member(ci, cl, p) && some && b.r.percent(quiet ? 100 : p_commit);
		put(d->c_valid, p, 1, commit && !g[ci].selective);
		put(d->c_marks, p, 1, commit && g[ci].selective);
		if (!cc.uncopied.empty()) {
			put(d->c_slot, p * HDR_AW, HDR_AW, slot(g[ci], cc.uncopied.front()));
			put(d->c_lap, p, 1, cc.uncopied.front() >> g[ci].size_log2 & 1);
		}
		put(d->r_addr, p * AW, AW, b.r.below(GROUPS) << LW | b.r.below(LANES));
	}
	d->x_group = (uint8_t)b.r.below(GROUPS);
	d->l_group = d->x_group;
	d->x_port = (uint8_t)b.r.below(PORTS);
	d->x_addr = (uint8_t)(b.r.below(GROUPS) << LW | b.r.below(LANES));
	settle(*d);

	/* One launch per cycle: a pass, or the next lane of one. */
	const unsigned i = b.r.below(GROUPS);
	group &x = g[i];
	unsigned lane = 0, index = x.issued, copies = 0;
	bool begin = false, first = false;
	d->pass_group = (uint8_t)i;
	if (x.midway) {
		lane = x.lane;
		index = x.index;
		copies = x.members[lane];
	} else if (!quiet && (d->pass_room >> i & 1) && (d->g_pending >> i & 1) && b.r.percent(p_pass)) {
		begin = first = true;
		copies = x.members[0];
	} else if (!quiet && (d->pass_room >> i & 1) && b.r.percent(p_pass) && b.r.percent(30)) {
		/* A repeat of an index in [una, sent). */
		const unsigned rl = b.r.below(x.lanes), rp = (unsigned)__builtin_ctz(x.members[rl]);
		const conn &c = x.c[rl][rp];
		if (c.una != c.sent) {
			begin = true;
			index = (c.una + b.r.below((c.sent - c.una) & MASK)) & MASK;
		}
	}
	d->pass_begin = begin;
	d->pass_first = first;
	d->pass_index = (uint16_t)index;
	d->s_valid = (uint8_t)copies;
	d->s_addr = (uint8_t)(i << LW | lane);
	d->s_index = (uint16_t)index;
	open_block = copies != 0 && x.open;
	for (unsigned k = 0; k < GROUPS; k++) {
		taken[k] = !g[k].passes.empty() && !(g[k].midway && g[k].passes.size() == 1) && b.r.percent(quiet ? 50 : p_end);
		put(d->pass_end, k, 1, taken[k]);
	}

	/* ACKs of groups that use them. */
	for (unsigned p = 0; p < PORTS; p++) {
		event &e = waits[p];
		const unsigned eg = b.r.below(GROUPS), el = b.r.below(g[eg].lanes), ep = b.r.below(PORTS);

		if (!there[p] && !quiet && !g[eg].open && member(eg, el, ep) && b.r.percent(p_ack)) {
			const conn &c = g[eg].c[el][ep];
			e = { p, ep, eg, el, (c.una + b.r.below(((c.sent - c.una) & MASK) + 1)) & MASK, b.r.below(1 << 24), b.r.percent(10), b.r.percent(10) };
			if (b.r.percent(10))
				e.index = (c.sent + b.r.below(3)) & MASK;
			there[p] = true;
		}
		put(d->e_valid, p, 1, there[p]);
		put(d->e_port, p * PW, PW, e.port);
		put(d->e_addr, p * AW, AW, e.g << LW | e.l);
		put(d->e_index, p * IDX, IDX, e.index);
		put(d->e_msn, p * 24, 24, e.msn);
		put(d->e_fatal, p, 1, e.fatal);
		put(d->e_still, p, 1, e.still);
	}
	settle(*d);
	check_reads();
	quiet_for = quiet && d->c_valid == 0 && d->c_marks == 0 && !begin && copies == 0 && d->pass_end == 0 && !has ? quiet_for + 1 : 0;
	check_registers(quiet);

	check_steps(ca);
	/* Judges. */
	for (unsigned p = 0; p < PORTS; p++) {
		group &y = g[ja[p] >> LW];
		conn &c = y.c[ja[p] & ((1 << LW) - 1)][p];
		const bool ok = get(d->j_accept, p, 1);

		if (ja[p] >> LW == was_group && member(ja[p] >> LW, ja[p] & ((1 << LW) - 1), p)) {
			const unsigned limit = (was_tail + (1u << y.size_log2)) & MASK;
			const bool inside = less(ji[p], limit), is_new = !less(ji[p], c.next) && c.ahead.count(ji[p]) == 0;

			b.same("j_accept", ok, y.selective ? inside && is_new : ji[p] == c.next && c.next != limit);
			b.same("j_inside", get(d->j_inside, p, 1), inside);
			b.same("j_full", get(d->j_full, p, 1), c.shown == limit);
			twice += y.selective && inside && !is_new && !less(ji[p], c.next);
		}
		full += ji[p] == c.next && !ok;
		if ((d->j_valid >> p & 1) && ok) {
			b.good("accepted beyond una + S", ((ji[p] - c.una) & MASK) < 1u << y.size_log2);
			for (unsigned k : y.passes)
				b.good("accepted into a slot that is being read", ((ji[p] - k) & MASK) < 1u << y.size_log2);
			accepted++;
			ahead += ji[p] != c.next;
			laps += y.selective && (ji[p] >> y.size_log2 & 1);
			if (y.selective) {
				c.uncopied.push_back(ji[p]);
				c.ahead.insert(ji[p]);
				while (c.ahead.erase(c.next) != 0)
					c.next = (c.next + 1) & MASK;
			} else {
				c.next = (c.next + 1) & MASK;
			}
		}
	}

	/* The ACK taken a cycle ago. */
	const bool done = has && !open_block;
	blocked += has && open_block;
	const bool rises = done && !now.still && !less(g[now.g].c[now.l][now.port].sent, now.index) &&
			   less(g[now.g].c[now.l][now.port].una, now.index);
	b.same("u_valid", d->u_valid, rises ? 1u << now.port : 0);
	if (rises)
		b.same("u_addr", d->u_addr, now.g << LW | now.l);
	b.same("v_valid", d->v_valid, done ? 1u << now.from : 0);
	if (done) {
		conn &c = g[now.g].c[now.l][now.port];
		const bool ok = !less(c.sent, now.index) && !(now.fatal && less(now.index, c.una));

		b.same("v_ok", d->v_ok, ok);
		b.same("n_valid", d->n_valid, ok && now.fatal);
		if (d->n_valid) {
			b.same("n_port", d->n_port, now.port);
			b.same("n_addr", d->n_addr, now.g << LW | now.l);
			b.same("n_index", d->n_index, now.index);
		}
		if (ok)
			c.msn = now.msn;
		stills += ok && now.still && less(c.una, now.index);
		if (rises) {
			c.una = now.index;
			c.far |= now.index >> (IDX - 2) != 0;
			raised++;
		}
		beyond += !ok;
		has = false;
	}
	for (unsigned p = 0; p < PORTS; p++)
		if (d->e_ready >> p & there[p]) {
			now = waits[p];
			has = true;
			there[p] = false;
		}

	/* Sendings and passes. */
	for (unsigned p = 0; p < PORTS; p++)
		if (copies >> p & 1) {
			conn &c = x.c[lane][p];
			c.sent = (index + 1) & MASK;
			if (x.open) {
				c.una = c.sent;
				c.far |= c.una >> (IDX - 2) != 0;
			}
		}
	for (unsigned k = 0; k < GROUPS; k++)
		if (taken[k])
			g[k].passes.pop_front();
	if (begin) {
		x.passes.push_back(index);
		passes += first;
		repeats += !first;
	}
	if (first) {
		x.issued = (x.issued + 1) & MASK;
		x.midway = x.lanes > 1;
		x.index = index;
		x.lane = 1;
	} else if (copies != 0) {
		x.lane++;
		x.midway = x.lane < x.lanes;
	}
	was_group = d->x_group;
	was_tail = d->x_tail;
	tick(b, *d);
}

void ledger_bench::run()
{
	for (long n = 0; n < 10 * EPOCH; n++) {
		if (n % EPOCH == 0)
			epoch();
		if (n % 500 == 0) {
			p_judge = b.r.percent(50) ? 90 : 5 + b.r.below(60);
			p_commit = b.r.percent(50) ? 90 : 5 + b.r.below(60);
			p_pass = b.r.percent(50) ? 90 : 5 + b.r.below(60);
			p_end = b.r.percent(50) ? 50 : 5 + b.r.below(30);
			p_ack = b.r.percent(50) ? 80 : 5 + b.r.below(60);
		}
		/* Occasionally all activity stops. */
		cycle(n % 500 >= 350);
	}
	b.met("packets accepted", accepted, 3000);
	b.met("packets without room", full, 1000);
	b.met("first sendings", passes, 1000);
	b.met("repeats", repeats, 200);
	b.met("una raised", raised, 1000);
	b.met("ACKs beyond sent", beyond, 100);
	b.met("ACKs that waited for an open loop", blocked, 20);
	b.met("looks at a group at rest", settled, 1000);
	b.met("connections begun", inits, 100);
	if (SELECTIVE) {
		b.met("packets accepted before their turn", ahead, 200);
		b.met("packets that came twice", twice, 100);
		b.met("packets of odd laps", laps, 200);
	}
	b.met("ACKs that acknowledge nothing", stills, 50);
}

/*
 * Full load: in every cycle a packet at every judge and an ACK at every port, and in every cycle one of a selective
 * group is accepted or begins to be copied somewhere, so that neither INIT nor the clearing of a slot ever finds a free
 * cycle. Each is still served within a bound: paused judges are silent 5 cycles later, and at most COPIES packets still
 * begin to be copied.
 */
class siege_bench {
public:
	explicit siege_bench(bench &bb) : b(bb), d(fresh<Vrf_ledger>(bb)) {}
	void run();

private:
	enum { SIZE_LOG2 = 4, JUDGE = 5, COPIES = 16, BOUND = 96 };

	bench &b;
	std::unique_ptr<Vrf_ledger> d;
	/* Of group 0, at each port; its tail one cycle ago. */
	unsigned next[PORTS] = {}, copied[PORTS] = {}, issued = 0, was_tail = 0;
	std::deque<unsigned> pauses, ends;
	unsigned turn = 0;

	void packet(unsigned p, unsigned index);
	/* A waiting INIT is done. */
	bool cycle();
	long begin(unsigned port);
};

void siege_bench::packet(unsigned p, unsigned index)
{
	put(d->j_index, p * IDX, IDX, index & MASK);
	put(d->j_slot, p * HDR_AW, HDR_AW, index & ((1 << SIZE_LOG2) - 1));
	put(d->j_lap, p, 1, index >> SIZE_LOG2 & 1);
}

bool siege_bench::cycle()
{
	const unsigned tail = was_tail, held = pauses.front();
	unsigned behind = 0;
	bool busy = false;

	was_tail = d->x_tail;

	d->j_valid = d->c_valid = d->c_marks = d->pass_begin = d->pass_first = d->s_valid = 0;
	for (unsigned p = 0; p < PORTS; p++) {
		behind += (next[p] - copied[p]) & MASK;
		/* A packet that arrived before. */
		put(d->j_valid, p, 1, !(held >> p & 1));
		packet(p, next[p] - 1);
		/* An ACK that acknowledges nothing, of a connection at the port of INIT. */
		put(d->e_port, p * PW, PW, d->init_port);
		put(d->e_index, p * IDX, IDX, issued);
	}
	d->e_valid = d->e_still = (1 << PORTS) - 1;
	for (unsigned k = 0; k < 2 * PORTS && !busy; k++, turn++) {
		const unsigned p = turn % PORTS;

		if (turn / PORTS % 2 == 0 && behind < COPIES && !(held >> p & 1) &&
		    ((next[p] - tail) & MASK) < 1u << SIZE_LOG2) {
			packet(p, next[p]++);
			next[p] &= MASK;
			busy = true;
		} else if (turn / PORTS % 2 == 1 && next[p] != copied[p]) {
			put(SELECTIVE ? d->c_marks : d->c_valid, p, 1, 1);
			put(d->c_slot, p * HDR_AW, HDR_AW, copied[p] & ((1 << SIZE_LOG2) - 1));
			put(d->c_lap, p, 1, copied[p] >> SIZE_LOG2 & 1);
			copied[p] = (copied[p] + 1) & MASK;
			busy = true;
		}
	}
	settle(*d);
	d->pass_end = ends.front();
	ends.pop_front();
	ends.push_back(0);
	if ((d->g_pending & 1) && (d->pass_room & 1)) {
		d->pass_begin = d->pass_first = 1;
		d->pass_index = d->s_index = (uint16_t)issued;
		d->s_valid = (1 << PORTS) - 1;
		issued = (issued + 1) & MASK;
		ends.back() = 1;
	}
	settle(*d);
	pauses.pop_front();
	pauses.push_back(d->pause);
	const bool ready = d->init_ready;
	tick(b, *d);
	settle(*d);
	return ready;
}

/* Starts a connection of group 1; returns how long that takes. */
long siege_bench::begin(unsigned port)
{
	long cycles = 0;

	d->init_valid = 1;
	d->init_port = (uint8_t)port;
	d->init_addr = 1 << LW;
	for (bool ready = false; !ready && cycles <= BOUND; cycles++)
		ready = cycle();
	d->init_valid = 0;
	return cycles;
}

void siege_bench::run()
{
	long most = 0, all = 0;

	d->start_valid = d->init_valid = d->j_valid = d->c_valid = d->c_marks = d->s_valid = d->e_valid = d->pass_begin = d->pass_end = 0;
	d->e_fatal = d->e_addr = 0;
	d->pass_group = d->s_addr = d->j_addr = d->j_soon = d->c_addr = d->r_addr = d->x_addr = d->x_port = d->x_group = d->l_group = 0;
	d->g_open = d->g_selective = (1 << GROUPS) - 1;
	d->j_selective = (1 << PORTS) - 1;
	d->g_lanes = 1 << 5 | 1;
	for (unsigned i = 0; i < 2; i++) {
		put(d->g_hbase, i * HDR_AW, HDR_AW, i << SIZE_LOG2);
		put(d->g_size_log2, i * 4, 4, SIZE_LOG2);
		put(d->g_ports, i * PORTS, PORTS, (1 << PORTS) - 1);
		for (unsigned l = 0; l < LANES; l++)
			put(d->g_members, (i * LANES + l) * PORTS, PORTS, l == 0 ? (1 << PORTS) - 1 : 0);
	}
	pauses.assign(JUDGE, 0);
	ends.assign(2, 0);
	reset(b, *d);
	for (unsigned p = 0; p < PORTS; p++) {
		d->init_valid = 1;
		d->init_port = (uint8_t)p;
		d->init_addr = 0;
		tick(b, *d);
	}
	d->init_valid = 0;
	d->start_valid = 1;
	d->start_group = 0;
	tick(b, *d);
	d->start_valid = 0;
	for (int n = 0; n < 2 << SIZE_LOG2; n++)
		tick(b, *d);
	for (int round = 0; round < 20; round++) {
		for (int n = 0; n < 300; n++)
			cycle();
		for (unsigned p = 0; p < PORTS; p++)
			most = std::max(most, begin(p));
		d->start_valid = 1;
		d->start_group = 1;
		cycle();
		d->start_valid = 0;
		long cycles = 0;
		for (; d->g_clearing != 0 && cycles <= BOUND << SIZE_LOG2; cycles++)
			cycle();
		all = std::max(all, cycles);
	}
	b.good("INIT under full load", most <= BOUND);
	b.good("a selective start under full load", all <= BOUND << SIZE_LOG2 && (SELECTIVE || all == 0));
	b.met("cycles of INIT under full load, at most", most, 64);
	if (SELECTIVE)
		b.met("cycles of a selective start under full load, at most", all, 100);
	b.met("passes under full load", issued, 100);
}

static void body(bench &b)
{
	ledger_bench l(b);

	l.run();
	siege_bench(b).run();
}

int main(int argc, char **argv)
{
	return run(argc, argv, body);
}
