/*
 * rf_group_regs against a table: written values are effective and read back; LIVE starts a group one cycle later; the
 * first error of each group stays until it is cleared, with the priority of errors in one cycle that the module's
 * header gives.
 *
 * Compiled with PORTS, LANES, GROUPS and the widths of their numbers, the module's parameters.
 */
#include "Vrf_group_regs.h"
#include "tests/rtl/unit.h"

using namespace unit;

enum { CW = GW + LW + PW };

struct group {
	uint32_t cfg = 0, dbase = 0, hbase = 0, straggler = 0, members[4] = {};
	/* LIVE as currently effective. */
	bool live = false;
	unsigned life = 0, at = 0, cause = 0, index = 0, what = 0, got = 0, want = 0;
	bool error = false;
};

struct report {
	unsigned cause, conn, index, what = 0, got = 0, want = 0;
};

/* CFG has no reserved bits but the highest. */
static const uint32_t cfg_bits = 0x7fffffff & ~((DIRECTED ? 0 : RF_GROUP_CFG_DIRECTED_MASK) |
						(SELECTIVE ? 0 : RF_GROUP_CFG_SELECTIVE_MASK));

static const unsigned offsets[] = { RF_GROUP_CFG, RF_GROUP_CFG, RF_GROUP_DBASE, RF_GROUP_HBASE, RF_GROUP_MEMBERS0,
				    RF_GROUP_MEMBERS1, RF_GROUP_MEMBERS2, RF_GROUP_MEMBERS3, RF_GROUP_ERROR,
				    RF_GROUP_ERROR_INDEX, RF_GROUP_STRAGGLER, RF_GROUP_ERROR_GOT, RF_GROUP_ERROR_WANT };

/* The members' word i without lanes and ports that do not exist. */
static uint32_t members_mask(unsigned i)
{
	uint32_t m = 0;

	for (unsigned l = 0; l < 4; l++)
		if (4 * i + l < LANES)
			m |= ((1u << PORTS) - 1) << 8 * l;
	return m;
}

static unsigned lane_members(const group &g, unsigned l)
{
	return g.members[l / 4] >> l % 4 * 8 & ((1u << PORTS) - 1);
}

static uint32_t reading(const group &g, unsigned offset)
{
	switch (offset) {
	case RF_GROUP_CFG: return g.cfg;
	case RF_GROUP_DBASE: return g.dbase;
	case RF_GROUP_HBASE: return g.hbase;
	case RF_GROUP_MEMBERS0: return g.members[0];
	case RF_GROUP_MEMBERS1: return g.members[1];
	case RF_GROUP_MEMBERS2: return g.members[2];
	case RF_GROUP_MEMBERS3: return g.members[3];
	case RF_GROUP_ERROR:
		if (!g.error)
			return 0;
		return 1u << 31 | g.what << 20 | g.cause << 16 | (g.at >> PW & ((1u << LW) - 1)) << 8 | (g.at & ((1u << PW) - 1));
	case RF_GROUP_ERROR_INDEX: return g.error ? g.index : 0;
	case RF_GROUP_ERROR_GOT: return g.error ? g.got : 0;
	case RF_GROUP_ERROR_WANT: return g.error ? g.want : 0;
	case RF_GROUP_STRAGGLER: return g.straggler;
	default: return 0;
	}
}

static void check_levels(bench &b, Vrf_group_regs &d, const group *now, const group *before)
{
	for (unsigned g = 0; g < GROUPS; g++) {
		const group &x = now[g];
		const unsigned level = x.cfg >> RF_GROUP_CFG_LEVEL_LSB & 3, base = x.cfg >> RF_GROUP_CFG_BASE_PORT_LSB & 7;

		b.same("g_live", get(d.g_live, g, 1), x.live);
		b.same("g_error", get(d.g_error, g, 1), x.error);
		b.same("g_directed", get(d.g_directed, g, 1), x.cfg >> RF_GROUP_CFG_DIRECTED_LSB & 1);
		b.same("g_life", get(d.g_life, g, 1), x.life);
		b.same("g_cfg", get(d.g_cfg, g * 32, 32), x.cfg);
		b.same("g_dbase", get(d.g_dbase, g * 32, 32), x.dbase);
		b.same("g_hbase", get(d.g_hbase, g * 32, 32), x.hbase);
		b.same("g_straggler", get(d.g_straggler, g * 5, 5), x.straggler);
		for (unsigned l = 0; l < LANES; l++)
			b.same("g_members", get(d.g_members, (g * LANES + l) * PORTS, PORTS), lane_members(x, l));
		/* Values derived from them, one cycle later: compared if the registers were the same a cycle ago. */
		if (x.cfg != before[g].cfg || memcmp(x.members, before[g].members, sizeof(x.members)) != 0)
			continue;
		unsigned ports = 0, block = 0, ref = 0;
		for (unsigned l = 0; l < LANES; l++)
			ports |= lane_members(x, l);
		if (lane_members(x, 0) != 0)
			ref = (unsigned)__builtin_ctz(lane_members(x, 0));
		for (unsigned p = 0; p < PORTS; p++)
			block |= (unsigned)(p >> level == base >> level) << p;
		b.same("g_ports", get(d.g_ports, g * PORTS, PORTS), ports);
		b.same("g_ref", get(d.g_ref, g * PW, PW), ref);
		/* After reset nothing has been written yet: no block. */
		if (x.cfg != 0)
			b.same("g_block", get(d.g_block, g * PORTS, PORTS), block);
	}
}

static void body(bench &b)
{
	auto d = fresh<Vrf_group_regs>(b);
	group g[GROUPS], before[GROUPS];
	/* How the ranks reported in the last cycle differ. */
	report late[PORTS] = {};
	long valued = 0;
	bool young[GROUPS] = {};
	long starts = 0, errors = 0, several = 0, cleared = 0, beaten = 0;
	/* LIVE was written a cycle ago. */
	bool start = false;
	unsigned start_group = 0;

	d->wr_en = d->bad_valid = d->lost_valid = d->nak_valid = 0;
	d->judge_error = 0;
	memset(&d->bad_got, 0, sizeof(d->bad_got));
	memset(&d->bad_want, 0, sizeof(d->bad_want));
	d->bad_what = 0;
	reset(b, *d);
	for (int n = 0; n < 30000; n++) {
		if (n % 7000 == 6999) {
			d->wr_en = b.r.percent(50);
			reset(b, *d);
			start = false;
			for (auto &x : g)
				x = group();
			for (auto &x : before)
				x = group();
		}
		const bool wr = b.r.percent(n / 500 % 2 ? 90 : 20);
		const unsigned wg = b.r.below(GROUPS), off = b.r.percent(90) ? offsets[b.r.below(13)] : 4 * b.r.below(16);
		const uint32_t data = (uint32_t)b.r.next();
		const unsigned p_err = n / 300 % 3 == 0 ? 30 : 2;

		d->wr_en = wr;
		d->wr_group = (uint8_t)wg;
		d->wr_offset = (uint8_t)off;
		d->wr_data = data;
		d->rd_group = (uint8_t)b.r.below(GROUPS);
		d->rd_offset = (uint8_t)(b.r.percent(90) ? offsets[b.r.below(13)] : 4 * b.r.below(16));
		/* Reports, by priority: parity errors, judges, ranks that disagree, a NAK. */
		std::vector<report> reports;
		report bads[PORTS];
		bool is_bad[PORTS];
		for (unsigned p = 0; p < PORTS; p++) {
			const bool facts = b.r.percent(30);
			report x = { RF_ERROR_PARITY, b.r.below(GROUPS << LW) << PW | p, b.r.below(1 << 24) };

			is_bad[p] = b.r.percent(p_err);
			put(d->bad_what, p * 2, 2, late[p].what);
			put(d->bad_got, p * 32, 32, late[p].got);
			put(d->bad_want, p * 32, 32, late[p].want);
			bads[p] = { RF_ERROR_DISAGREE, b.r.below(GROUPS << LW) << PW | p, b.r.below(1 << 24), b.r.below(4),
				    (uint32_t)b.r.next(), (uint32_t)b.r.next() };
			late[p] = bads[p];
			put(d->bad_valid, p, 1, is_bad[p]);
			put(d->bad_addr, p * (GW + LW), GW + LW, bads[p].conn >> PW);
			put(d->bad_index, p * 24, 24, bads[p].index);
			const bool lost = b.r.percent(p_err) || (is_bad[p] && facts);
			/* Facts with a parity error come as both. */
			if (is_bad[p] && facts) {
				x.conn = bads[p].conn;
				x.index = bads[p].index;
			}
			put(d->lost_valid, p, 1, lost);
			put(d->lost_addr, p * (GW + LW), GW + LW, x.conn >> PW);
			put(d->lost_index, p * 24, 24, x.index);
			if (lost)
				reports.push_back(x);
		}
		for (unsigned p = 0; p < PORTS; p++) {
			report x = { b.r.percent(p_err) ? 2 + b.r.below(8) : 0, b.r.below(GROUPS << LW) << PW | p, b.r.below(1 << 24) };
			const uint32_t got = (uint32_t)b.r.next();

			if (x.cause == RF_ERROR_IMMEDIATE || x.cause == RF_ERROR_ORDER)
				x.got = got;
			put(d->judge_got, p * 32, 32, got);
			put(d->judge_error, p * 4, 4, x.cause);
			put(d->judge_conn, p * CW, CW, x.conn);
			put(d->judge_index, p * 24, 24, x.index);
			if (x.cause != 0)
				reports.push_back(x);
		}
		for (unsigned p = 0; p < PORTS; p++)
			if (is_bad[p])
				reports.push_back(bads[p]);
		d->nak_valid = b.r.percent(p_err);
		d->nak_conn = (uint8_t)b.r.below(GROUPS << (LW + PW));
		d->nak_index = b.r.below(1 << 24);
		if (d->nak_valid)
			reports.push_back({ RF_ERROR_NAK, d->nak_conn, d->nak_index });
		settle(*d);

		check_levels(b, *d, g, before);
		/* The values that differ come a cycle later than the error. */
		if (!young[d->rd_group] || (d->rd_offset != RF_GROUP_ERROR && d->rd_offset != RF_GROUP_ERROR_GOT &&
					    d->rd_offset != RF_GROUP_ERROR_WANT)) {
			b.same("rd_data", d->rd_data, reading(g[d->rd_group], d->rd_offset));
			valued += d->rd_data != 0 && (d->rd_offset == RF_GROUP_ERROR_GOT || d->rd_offset == RF_GROUP_ERROR_WANT);
		}
		b.same("start_valid", d->start_valid, start);
		if (start)
			b.same("start_group", d->start_group, start_group);
		starts += start;

		for (unsigned i = 0; i < GROUPS; i++)
			before[i] = g[i];
		bool hit[GROUPS] = {};
		for (const report &x : reports) {
			const unsigned to = x.conn >> (LW + PW);
			group &y = g[to];

			beaten += hit[to];
			if (hit[to] || y.error)
				continue;
			hit[to] = true;
			y.at = x.conn;
			y.cause = x.cause;
			y.index = x.index;
			y.what = DIRECTED ? x.what : 0;
			y.got = DIRECTED ? x.got : 0;
			y.want = DIRECTED ? x.want : 0;
		}
		for (unsigned i = 0; i < GROUPS; i++) {
			g[i].error |= hit[i];
			young[i] = hit[i];
			errors += hit[i];
		}
		several += reports.size() > 1;
		if (wr) {
			group &x = g[wg];

			/* Clearing has priority over a report in the same cycle. */
			if (off == RF_GROUP_ERROR && data >> 31) {
				cleared += x.error;
				x.error = false;
			}
			if (off == RF_GROUP_CFG)
				x.cfg = data & cfg_bits;
			if (off == RF_GROUP_DBASE)
				x.dbase = data;
			if (off == RF_GROUP_HBASE)
				x.hbase = data;
			if (off == RF_GROUP_STRAGGLER)
				x.straggler = data & 31;
			if (off >= RF_GROUP_MEMBERS0 && off <= RF_GROUP_MEMBERS3)
				x.members[(off - RF_GROUP_MEMBERS0) / 4] = data & members_mask((off - RF_GROUP_MEMBERS0) / 4);
		}
		/* Starting clears the error and has priority over a write of LIVE in the same cycle. */
		const bool starts_next = wr && off == RF_GROUP_CFG && (data & 1) && !g[wg].live;
		if (wr && off == RF_GROUP_CFG && !(data & 1))
			g[wg].live = false;
		if (start) {
			group &x = g[start_group];

			cleared += x.error;
			x.error = false;
			x.life ^= 1;
			x.live = true;
		}
		start = starts_next;
		start_group = wg;
		tick(b, *d);
	}
	b.met("starts", starts, 300);
	b.met("errors latched", errors, 300);
	b.met("cycles with several reports", several, 1000);
	b.met("reports beaten by another of their cycle", beaten, 100);
	b.met("errors cleared", cleared, 300);
	if (DIRECTED)
		b.met("values that differ", valued, 100);
}

int main(int argc, char **argv)
{
	return run(argc, argv, body);
}
