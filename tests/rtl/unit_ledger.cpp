/*
 * rf_ledger with its parts against one record per connection: what the judges, the repeats and the registers read is exact in
 * every cycle; heads and tails never lead, and reach what they must when the box is quiet; no packet is accepted beyond tail + S.
 *
 * Compiled with IDX, PORTS, LANES, GROUPS and the widths of their numbers, the module's parameters: indexes wrap many times.
 */
#include "Vrf_ledger.h"
#include "tests/rtl/unit.h"

using namespace unit;

enum { AW = GW + LW, MASK = (1 << IDX) - 1, EPOCH = 4000, QUIET = 60 };

struct conn {
	unsigned next, stored, sent, una, msn;
	bool far;
};

struct group {
	bool open;
	unsigned size_log2, lanes, members[LANES], ports, issued;
	conn c[LANES][PORTS];
	std::deque<unsigned> passes;	/* indexes of those that read */
	/* The first sending of which a lane is still to be launched. */
	bool midway;
	unsigned index, lane;
};

struct event {
	unsigned from, port, g, l, index, msn;
	bool fatal;
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
	event waits[PORTS], now;
	bool there[PORTS], has;
	unsigned p_judge, p_commit, p_pass, p_end, p_ack;
	long accepted = 0, full = 0, passes = 0, repeats = 0, raised = 0, beyond = 0, blocked = 0, settled = 0, quiet_for = 0, inits = 0;

	void clear();
	void epoch();
	bool member(unsigned i, unsigned l, unsigned p) { return g[i].members[l] >> p & 1; }
	unsigned least(const group &x, unsigned from, bool tail);
	void groups();
	void cycle(bool quiet);
	void check_reads();
	void check_registers(bool quiet);
};

void ledger_bench::clear()
{
	d->start_valid = d->init_valid = d->pass_begin = d->pass_end = d->pass_first = 0;
	d->j_valid = d->c_valid = d->s_valid = d->e_valid = 0;
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
		put(d->g_size_log2, i * 4, 4, g[i].size_log2);
		put(d->g_lanes, i * 5, 5, g[i].lanes);
		put(d->g_ports, i * PORTS, PORTS, g[i].ports);
		for (unsigned l = 0; l < LANES; l++)
			put(d->g_members, (i * LANES + l) * PORTS, PORTS, g[i].members[l]);
	}
}

void ledger_bench::epoch()
{
	clear();
	for (auto &x : g) {
		x = group();
		x.open = b.r.percent(30);
		x.size_log2 = 2 + b.r.below(3);
		x.lanes = 1 + b.r.below(LANES);
		for (unsigned l = 0; l < x.lanes; l++) {
			x.members[l] = 1 + b.r.below((1 << PORTS) - 1);
			x.ports |= x.members[l];
		}
	}
	groups();
	reset(b, *d);
	/* Connections become known one after the other, then the groups begin. */
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
		d->start_valid = 1;
		d->start_group = (uint8_t)i;
		tick(b, *d);
	}
	d->start_valid = 0;
	memset(there, 0, sizeof(there));
	has = false;
	quiet_for = 0;
}

/* The judges' and the repeats' views. */
void ledger_bench::check_reads()
{
	for (unsigned p = 0; p < PORTS; p++) {
		const unsigned a = (unsigned)get(d->j_addr, p * AW, AW), r = (unsigned)get(d->r_addr, p * AW, AW);
		const conn &c = g[a >> LW].c[a & ((1 << LW) - 1)][p], &q = g[r >> LW].c[r & ((1 << LW) - 1)][p];

		b.same("j_next", get(d->j_next, p * IDX, IDX), c.next);
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
	const conn &c = g[xa >> LW].c[xa & ((1 << LW) - 1)][d->x_port];

	b.same("x_next", d->x_next, c.next);
	b.same("x_sent", d->x_sent, c.sent);
	b.same("x_una", d->x_una, c.una);
	b.same("x_msn", d->x_msn, c.msn);
	b.same("x_issued", d->x_issued, x.issued);
	b.same("g_issued", get(d->g_issued, d->x_group * IDX, IDX), x.issued);
	b.same("g_pending", get(d->g_pending, d->x_group, 1), d->x_head != x.issued);
	b.same("pass_room", get(d->pass_room, d->x_group, 1), x.passes.size() < 2);
	/* Never in front: distances are small, a lead would show as a huge one. */
	b.good("the head leads", less(d->x_head, (d->x_head + least(x, d->x_head, false) + 1) & MASK));
	b.good("the tail leads", less(d->x_tail, (d->x_tail + least(x, d->x_tail, true) + 1) & MASK));
	if (quiet && quiet_for > QUIET) {
		b.same("the head when all is quiet", least(x, d->x_head, false), 0);
		b.same("the tail when all is quiet", least(x, d->x_tail, true), 0);
		b.good("idle when all is quiet", d->idle);
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
		const unsigned i = b.r.below(GROUPS), l = b.r.below(g[i].lanes), ci = b.r.below(GROUPS), cl = b.r.below(g[ci].lanes);

		ja[p] = i << LW | l;
		ji[p] = (g[i].c[l][p].next + (b.r.percent(70) ? 0 : b.r.below(5) - 2)) & MASK;
		put(d->j_addr, p * AW, AW, ja[p]);
		put(d->j_index, p * IDX, IDX, ji[p]);
		put(d->j_valid, p, 1, !quiet && member(i, l, p) && b.r.percent(p_judge));
		/* Commits of what has been accepted. */
		ca[p] = ci << LW | cl;
		put(d->c_addr, p * AW, AW, ca[p]);
		put(d->c_valid, p, 1, member(ci, cl, p) && g[ci].c[cl][p].stored != g[ci].c[cl][p].next && b.r.percent(quiet ? 100 : p_commit));
		put(d->r_addr, p * AW, AW, b.r.below(GROUPS) << LW | b.r.below(LANES));
	}
	d->x_group = (uint8_t)b.r.below(GROUPS);
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
		/* A repeat of something in [una, sent). */
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

	/* ACKs of groups that have them. */
	for (unsigned p = 0; p < PORTS; p++) {
		event &e = waits[p];
		const unsigned eg = b.r.below(GROUPS), el = b.r.below(g[eg].lanes), ep = b.r.below(PORTS);

		if (!there[p] && !quiet && !g[eg].open && member(eg, el, ep) && b.r.percent(p_ack)) {
			const conn &c = g[eg].c[el][ep];
			e = { p, ep, eg, el, (c.una + b.r.below(((c.sent - c.una) & MASK) + 1)) & MASK, b.r.below(1 << 24), b.r.percent(10) };
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
	}
	settle(*d);
	check_reads();
	quiet_for = quiet && d->c_valid == 0 && !begin && copies == 0 && d->pass_end == 0 && !has ? quiet_for + 1 : 0;
	check_registers(quiet);

	/* Judges. */
	for (unsigned p = 0; p < PORTS; p++) {
		group &y = g[ja[p] >> LW];
		conn &c = y.c[ja[p] & ((1 << LW) - 1)][p];
		const bool ok = get(d->j_accept, p, 1);

		if (ja[p] >> LW == d->x_group)
			b.same("j_accept", ok, ji[p] == c.next && c.next != ((d->x_tail + (1u << y.size_log2)) & MASK));
		full += ji[p] == c.next && !ok;
		if ((d->j_valid >> p & 1) && ok) {
			b.good("accepted beyond una + S", ((c.next - c.una) & MASK) < 1u << y.size_log2);
			for (unsigned k : y.passes)
				b.good("accepted into a slot that is being read", ((c.next - k) & MASK) < 1u << y.size_log2);
			c.next = (c.next + 1) & MASK;
			accepted++;
		}
	}
	for (unsigned p = 0; p < PORTS; p++)
		if (d->c_valid >> p & 1) {
			conn &c = g[ca[p] >> LW].c[ca[p] & ((1 << LW) - 1)][p];
			c.stored = (c.stored + 1) & MASK;
		}

	/* The ACK taken a cycle ago. */
	const bool done = has && !open_block;
	blocked += has && open_block;
	b.same("v_valid", d->v_valid, done ? 1u << now.from : 0);
	if (done) {
		conn &c = g[now.g].c[now.l][now.port];
		const bool ok = !less(c.sent, now.index);

		b.same("v_ok", d->v_ok, ok);
		b.same("n_valid", d->n_valid, ok && now.fatal);
		if (d->n_valid) {
			b.same("n_port", d->n_port, now.port);
			b.same("n_addr", d->n_addr, now.g << LW | now.l);
			b.same("n_index", d->n_index, now.index);
		}
		if (ok)
			c.msn = now.msn;
		if (ok && less(c.una, now.index)) {
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
		/* Now and then everything comes to rest. */
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
}

static void body(bench &b)
{
	ledger_bench l(b);

	l.run();
}

int main(int argc, char **argv)
{
	return run(argc, argv, body);
}
