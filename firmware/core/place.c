/*
 * Puts a complete group into the hardware and takes it out: placement, admission, registers, table
 * entries.
 */
#include "firmware/core/internal.h"
#include "proto/rf_bytes.h"

/* Marks all ranks on a port in g->missing, for the FAILED message; returns the lowest. */
static uint32_t note_port(struct rf_fw *fw, struct rf_fw_group *g, unsigned int port)
{
	uint32_t lowest = RF_CTL_NO_RANK;

	for (struct rf_fw_member *m = rf_fw_first(fw, g); m; m = rf_fw_next(fw, m)) {
		if (m->port != port)
			continue;
		rf_ctl_mask_set(g->missing, m->rank);
		if (lowest == RF_CTL_NO_RANK)
			lowest = m->rank;
	}
	return lowest;
}

/*
 * Assigns lanes on each port in the order of ranks. Returns the number of lanes in use, or 0 if a
 * port has too few: then *rank is the first rank without a lane, *other the lowest rank on its
 * port, g->missing all ranks on that port.
 */
static unsigned int give_lanes(struct rf_fw *fw, struct rf_fw_group *g, uint32_t *rank,
			       uint32_t *other)
{
	struct rf_fw_uplink *u = rf_fw_uplink_of(fw, g);
	uint8_t taken[RF_CTL_PORTS_MAX] = {0};
	unsigned int most = 0;
	struct rf_fw_member *m;

	for (m = rf_fw_first(fw, g); m; m = rf_fw_next(fw, m)) {
		if (taken[m->port] >= fw->lanes) {
			*rank = m->rank;
			*other = note_port(fw, g, m->port);
			return 0;
		}
		m->lane = taken[m->port]++ & (RF_CTL_LANES_MAX - 1u);
		if (taken[m->port] > most)
			most = taken[m->port];
	}
	/* The uplink's lane comes after those of the ranks, and is not among the LANES in use. */
	if (u && taken[u->port] >= fw->lanes) {
		*other = note_port(fw, g, u->port);
		return 0;
	}
	if (u)
		u->lane = taken[u->port];
	return most;
}

/* The smallest aligned block that contains all ports, that of the uplink too. */
static void give_block(struct rf_fw *fw, struct rf_fw_group *g)
{
	const struct rf_fw_uplink *u = rf_fw_uplink_of(fw, g);
	unsigned int low = u ? u->port : RF_CTL_PORTS_MAX, high = u ? u->port : 0, level = 0;
	struct rf_fw_member *m;

	for (m = rf_fw_first(fw, g); m; m = rf_fw_next(fw, m)) {
		if (m->port < low)
			low = m->port;
		if (m->port > high)
			high = m->port;
	}
	while (low >> level != high >> level)
		level++;
	g->level = (uint8_t)level;
	g->base_port = (uint8_t)(low >> level << level);
}

/* The next ring rank after m, around the end of the list. */
static const struct rf_fw_member *next_in_ring(struct rf_fw *fw, const struct rf_fw_group *g,
					       const struct rf_fw_member *m)
{
	const struct rf_fw_member *p = rf_fw_next(fw, m);

	while (p != m) {
		if (!p)
			p = rf_fw_first(fw, g);
		else if (!p->mirror)
			break;
		else
			p = rf_fw_next(fw, p);
	}
	return p;
}

/*
 * A ring rank's receiver: the next ring rank if it has the peer address, otherwise the lowest ring
 * rank that has it. RF_FW_NO_MEMBER: none has it.
 */
static uint16_t peer_of(struct rf_fw *fw, const struct rf_fw_group *g, const struct rf_fw_member *m)
{
	const struct rf_fw_member *p = next_in_ring(fw, g, m);

	if (p->src_ip == m->peer_ip)
		return rf_fw_member_number(fw, p);
	for (p = rf_fw_first(fw, g); p; p = rf_fw_next(fw, p))
		if (!p->mirror && p->src_ip == m->peer_ip)
			return rf_fw_member_number(fw, p);
	return RF_FW_NO_MEMBER;
}

/* Finds each rank's receiver. A mirror rank is its own. */
static bool find_peers(struct rf_fw *fw, struct rf_fw_group *g, uint32_t *rank)
{
	for (struct rf_fw_member *m = rf_fw_first(fw, g); m; m = rf_fw_next(fw, m)) {
		m->peer = m->mirror ? rf_fw_member_number(fw, m) : peer_of(fw, g, m);
		if (m->peer == RF_FW_NO_MEMBER) {
			*rank = m->rank;
			return false;
		}
	}
	return true;
}

/*
 * Whether the adders have passes left. A pass occupies its group's whole block of ports, so the
 * lanes of groups on overlapping blocks add up.
 */
static bool passes_left(const struct rf_fw *fw, const struct rf_fw_group *g)
{
	uint32_t sum = g->lanes;

	if (fw->cfg.share_max == 0)
		return true;
	for (unsigned int i = 0; i < RF_FW_RECORDS; i++) {
		const struct rf_fw_group *o = &fw->group[i];
		unsigned int level = o->level > g->level ? o->level : g->level;

		if (o != g && o->live && o->base_port >> level == g->base_port >> level)
			sum += o->lanes;
	}
	return sum <= fw->cfg.share_max;
}

void rf_fw_place_mac(struct rf_fw *fw, const struct rf_fw_group *g, const struct rf_fw_member *m)
{
	uint32_t cid = RF_FW_CID(g->hw, m->lane, m->port);
	uint32_t high = m->mirror ? RF_CONN_PEER_MAC_HI_MIRROR_MASK | rf_get_be16(m->mac) : 0u;

	if (m->flags & RF_CTL_RANK_LEAF)
		high |= RF_CONN_PEER_MAC_HI_SELECTIVE_MASK;
	rf_fw_write(fw, rf_fw_conn_reg(cid, RF_CONN_PEER_MAC_HI), high);
	rf_fw_write(fw, rf_fw_conn_reg(cid, RF_CONN_PEER_MAC_LO),
		    m->mirror ? rf_get_be32(m->mac + 2) : 0u);
}

static void write_conns(struct rf_fw *fw, const struct rf_fw_group *g)
{
	struct rf_fw_member *m;

	for (m = rf_fw_first(fw, g); m; m = rf_fw_next(fw, m)) {
		uint32_t cid = RF_FW_CID(g->hw, m->lane, m->port);

		rf_fw_write(fw, rf_fw_conn_reg(cid, RF_CONN_START), m->start_psn);
		rf_fw_write(fw, rf_fw_conn_reg(cid, RF_CONN_SHIFT), m->shift);
		rf_fw_write(fw, rf_fw_conn_reg(cid, RF_CONN_SRC_IP), m->src_ip);
		rf_fw_write(fw, rf_fw_conn_reg(cid, RF_CONN_PEER_IP),
			    m->mirror ? m->src_ip : m->peer_ip);
		rf_fw_write(fw, rf_fw_conn_reg(cid, RF_CONN_PEER_PORT), fw->member[m->peer].port);
		rf_fw_write(fw, rf_fw_conn_reg(cid, RF_CONN_QPN), m->qpn);
		/* Also of ring connections: the place may have been a mirror connection's. */
		if (fw->mirror)
			rf_fw_place_mac(fw, g, m);
		rf_fw_write(fw, rf_fw_conn_reg(cid, RF_CONN_INIT), 1);
	}
}

/* W of the parent: docs/box.md, "Groups with an uplink". */
static uint32_t window_above(const struct rf_fw_uplink *u)
{
	return (3u << u->slots_log2) / 8u;
}

/* The uplink's place, or that the group has none. */
static void write_uplink(struct rf_fw *fw, const struct rf_fw_group *g)
{
	const struct rf_fw_uplink *u = rf_fw_uplink_of(fw, g);
	uint32_t base = RF_UPLINK_BASE + g->hw * RF_UPLINK_STRIDE, conn;

	if (!fw->uplinks)
		return;
	if (!u) {
		rf_fw_write(fw, base + RF_UPLINK_PLACE, 0);
		return;
	}
	conn = rf_fw_conn_reg(RF_FW_CID(g->hw, u->lane, u->port), 0);
	rf_fw_write(fw, conn + RF_CONN_START, u->start);
	rf_fw_write(fw, conn + RF_CONN_SHIFT, 0);
	rf_fw_write(fw, conn + RF_CONN_SRC_IP, u->port_ip);
	rf_fw_write(fw, conn + RF_CONN_PEER_IP, u->port_ip);
	rf_fw_write(fw, conn + RF_CONN_PEER_PORT, u->port);
	rf_fw_write(fw, conn + RF_CONN_QPN, u->qpn);
	rf_fw_write(fw, conn + RF_CONN_PEER_MAC_HI,
		    RF_CONN_PEER_MAC_HI_MIRROR_MASK | rf_get_be16(u->mac));
	rf_fw_write(fw, conn + RF_CONN_PEER_MAC_LO, rf_get_be32(u->mac + 2));
	rf_fw_write(fw, conn + RF_CONN_INIT, 1);
	rf_fw_write(fw, base + RF_UPLINK_WINDOW, window_above(u));
	/* Any source port from 49152 on: switches choose paths by it. */
	rf_fw_write(fw, base + RF_UPLINK_HEADER, 0xc000u | (u->qpn & 0x3fffu));
	rf_fw_write(fw, base + RF_UPLINK_PLACE,
		    RF_UPLINK_PLACE_ON_MASK | (uint32_t)u->lane << RF_UPLINK_PLACE_LANE_LSB |
			    u->port);
}

static void write_group(struct rf_fw *fw, const struct rf_fw_group *g)
{
	uint32_t members[4] = {0};
	uint32_t cfg;
	struct rf_fw_member *m;

	cfg = (uint32_t)g->dtype << RF_GROUP_CFG_DTYPE_LSB |
	      (uint32_t)g->op << RF_GROUP_CFG_OP_LSB |
	      (uint32_t)g->mtu_log2 << RF_GROUP_CFG_MTU_LOG2_LSB |
	      (uint32_t)g->level << RF_GROUP_CFG_LEVEL_LSB |
	      (uint32_t)g->base_port << RF_GROUP_CFG_BASE_PORT_LSB |
	      (uint32_t)g->lanes << RF_GROUP_CFG_LANES_LSB |
	      (uint32_t)g->slots_log2 << RF_GROUP_CFG_S_LOG2_LSB;
	if (g->flags & RF_CTL_J_OPEN_LOOP)
		cfg |= RF_GROUP_CFG_OPEN_LOOP_MASK;
	if (g->flags & RF_CTL_J_TRANSPARENT)
		cfg |= RF_GROUP_CFG_TRANSPARENT_MASK;
	if (g->flags & RF_CTL_J_SELECTIVE)
		cfg |= RF_GROUP_CFG_SELECTIVE_MASK;
	if (g->flags & RF_CTL_J_STRICT)
		cfg |= RF_GROUP_CFG_STRICT_MASK;
	if (g->flags & RF_CTL_J_DIRECTED)
		cfg |= RF_GROUP_CFG_DIRECTED_MASK;
	for (m = rf_fw_first(fw, g); m; m = rf_fw_next(fw, m))
		members[m->lane / 4u] |= 1u << (8u * (m->lane & 3u) + m->port);
	rf_fw_write(fw, rf_fw_group_reg(g->hw, RF_GROUP_CFG), cfg);
	rf_fw_write(fw, rf_fw_group_reg(g->hw, RF_GROUP_DBASE), g->dbase);
	rf_fw_write(fw, rf_fw_group_reg(g->hw, RF_GROUP_HBASE), g->hbase);
	rf_fw_write(fw, rf_fw_group_reg(g->hw, RF_GROUP_STRAGGLER),
		    (uint32_t)(g->flags & RF_CTL_J_STRAGGLER) >> RF_CTL_J_STRAGGLER_LSB);
	write_uplink(fw, g);
	for (uint32_t i = 0; i < 4; i++)
		rf_fw_write(fw, rf_fw_group_reg(g->hw, RF_GROUP_MEMBERS0 + 4u * i), members[i]);
	rf_fw_write(fw, rf_fw_group_reg(g->hw, RF_GROUP_CFG), cfg | RF_GROUP_CFG_LIVE_MASK);
}

static bool has_ack(const struct rf_fw_group *g)
{
	return !(g->flags & RF_CTL_J_OPEN_LOOP);
}

bool rf_fw_joined_from(struct rf_fw *fw, const struct rf_fw_group *g, uint32_t ip)
{
	for (const struct rf_fw_member *m = rf_fw_first(fw, g); m; m = rf_fw_next(fw, m))
		if (!m->mirror && m->src_ip == ip)
			return true;
	return false;
}

/* Entries that ended groups left for this connection no longer belong to them. */
static void disown(struct rf_fw *fw, const struct rf_fw_member *m)
{
	for (unsigned int i = 0; i < fw->records; i++) {
		const struct rf_fw_group *g = &fw->group[i];
		struct rf_fw_member *o;

		if (rf_fw_group_active(g))
			continue;
		for (o = rf_fw_first(fw, g); o; o = rf_fw_next(fw, o))
			if (o->peer_ip == m->peer_ip && o->peer_qpn == m->peer_qpn)
				o->put = 0;
	}
}

/* Makes or changes the entry of a data role. */
static bool put_data(struct rf_fw *fw, const struct rf_fw_group *g, struct rf_fw_member *m,
		     unsigned int state)
{
	uint32_t key = rf_fw_key(0, m->peer_qpn);
	const struct rf_fw_entry *old = rf_fw_conn_find(fw, m->peer_ip, key);
	uint32_t was = 0;

	if (old && !rf_fw_foreign(old) && !(m->put & RF_FW_PUT_DATA))
		was = old->job == RF_FW_NO_JOB ? RF_FW_PUT_HELD : RF_FW_PUT_TOMB;
	if (!rf_fw_conn_put(fw, m->peer_ip, key,
			    rf_fw_value(RF_FW_CID(g->hw, m->lane, m->port), state), g->job))
		return false;
	if (!(m->put & RF_FW_PUT_DATA)) {
		disown(fw, m);
		m->put |= RF_FW_PUT_DATA | (was & RF_FW_PUT_ALL);
	}
	return true;
}

/*
 * Ends a data entry. Unreduced data must not pass unless the shifted PSN protects the receiver, and
 * an entry that was a tombstone becomes one again. A job's tombstone is lifted only when its own
 * queue pair is destroyed. A tombstone of no job is never lifted here: it may stem from another
 * queue pair than that of the rank at this address.
 */
static void end_data(struct rf_fw *fw, const struct rf_fw_group *g, struct rf_fw_member *m,
		     bool guarded)
{
	uint32_t key = rf_fw_key(0, m->peer_qpn);
	/* An operator may have registered a wrong port or address, or the wrong rank. */
	bool confirmed = m->spoke || !(g->flags & RF_CTL_J_STRICT);

	if (!(m->put & RF_FW_PUT_DATA))
		return;
	if (m->put & RF_FW_PUT_HELD)
		rf_fw_conn_bury(fw, m, RF_FW_NO_JOB, false);
	else if (m->destroyed || (guarded && !(m->put & RF_FW_PUT_TOMB)))
		rf_fw_conn_remove(fw, m->peer_ip, key);
	else
		rf_fw_conn_bury(fw, m, g->job, confirmed);
}

bool rf_fw_place_joining(struct rf_fw *fw, struct rf_fw_group *g, const struct rf_fw_member *m)
{
	uint16_t made[RF_FW_RANKS_MAX];
	struct rf_fw_member *p;
	unsigned int n = 0;

	/* Without the shift only the box keeps unreduced packets from the receiver. */
	if ((g->flags & RF_CTL_J_SHIFTED) || m->mirror)
		return true;
	for (p = rf_fw_first(fw, g); p; p = rf_fw_next(fw, p)) {
		if (p->mirror || (p->put & RF_FW_PUT_DATA) || (p != m && p->peer_ip != m->src_ip) ||
		    !rf_fw_joined_from(fw, g, p->peer_ip))
			continue;
		if (!put_data(fw, g, p, RF_STATE_JOINING))
			break;
		made[n++] = rf_fw_member_number(fw, p);
	}
	if (!p)
		return true;
	/* Undo: no packet of the group can have passed yet. */
	while (n > 0) {
		p = &fw->member[made[--n]];
		end_data(fw, g, p, true);
		p->put = 0;
	}
	return false;
}

void rf_fw_place_destroyed(struct rf_fw *fw, const struct rf_fw_group *g, struct rf_fw_member *m)
{
	if ((m->put & RF_FW_PUT_DATA) && !(m->put & RF_FW_PUT_HELD))
		rf_fw_conn_exhume(fw, m->peer_ip, rf_fw_key(0, m->peer_qpn), g->job);
	m->put = 0;
}

/* The one entry of a mirror connection. */
static bool put_mirror(struct rf_fw *fw, const struct rf_fw_group *g, struct rf_fw_member *m)
{
	if (!rf_fw_conn_put(fw, m->src_ip, rf_fw_key(RF_FW_ROLE_MIRROR, m->qpn),
			    rf_fw_value(RF_FW_CID(g->hw, m->lane, m->port), RF_STATE_LIVE), g->job))
		return false;
	m->put |= RF_FW_PUT_MIRROR;
	return true;
}

/* The entry of the uplink's connection. */
static bool put_uplink(struct rf_fw *fw, const struct rf_fw_group *g)
{
	struct rf_fw_uplink *u = rf_fw_uplink_of(fw, g);

	if (!u)
		return true;
	if (!rf_fw_conn_put(fw, u->port_ip, rf_fw_key(RF_FW_ROLE_MIRROR, u->qpn),
			    rf_fw_value(RF_FW_CID(g->hw, u->lane, u->port), RF_STATE_LIVE), g->job))
		return false;
	u->entry = 1;
	return true;
}

static bool write_entries(struct rf_fw *fw, const struct rf_fw_group *g, uint32_t *rank)
{
	struct rf_fw_member *m;

	/* ACK roles first: no data is accepted before its ACK can be recognised. */
	for (m = rf_fw_first(fw, g); m; m = rf_fw_next(fw, m)) {
		uint32_t cid = RF_FW_CID(g->hw, m->lane, m->port);

		*rank = m->rank;
		if (!has_ack(g) || m->mirror)
			continue;
		if (!rf_fw_conn_put(fw, m->src_ip, rf_fw_key(1, m->qpn),
				    rf_fw_value(cid, RF_STATE_LIVE), g->job))
			return false;
		m->put |= RF_FW_PUT_ACK;
	}
	for (m = rf_fw_first(fw, g); m; m = rf_fw_next(fw, m)) {
		*rank = m->rank;
		if (!(m->mirror ? put_mirror(fw, g, m) : put_data(fw, g, m, RF_STATE_LIVE)))
			return false;
	}
	*rank = RF_CTL_NO_RANK;
	return put_uplink(fw, g);
}

enum rf_ctl_reason rf_fw_place_admit(struct rf_fw *fw, struct rf_fw_group *g, uint32_t *rank,
				     uint32_t *index, uint32_t *detail)
{
	*rank = RF_CTL_NO_RANK;
	*index = 0;
	*detail = 0;
	if (!find_peers(fw, g, rank))
		return RF_CTL_R_SUCCESSOR_UNKNOWN;
	g->lanes = (uint8_t)give_lanes(fw, g, rank, index);
	if (g->lanes == 0) {
		*detail = fw->lanes;
		return RF_CTL_R_NO_LANES;
	}
	give_block(fw, g);
	if (!passes_left(fw, g)) {
		*detail = fw->cfg.share_max;
		return RF_CTL_R_NO_PASSES;
	}
	return RF_CTL_R_NONE;
}

enum rf_ctl_reason rf_fw_place_live(struct rf_fw *fw, struct rf_fw_group *g, uint32_t *rank,
				    uint32_t *detail)
{
	*rank = RF_CTL_NO_RANK;
	*detail = 0;
	write_conns(fw, g);
	write_group(fw, g);
	g->live = 1;
	/* Before any rank learns that the group is ready. */
	if (g->flags & RF_CTL_J_STRICT)
		rf_fw_watch_begin(fw);
	if (!write_entries(fw, g, rank)) {
		*detail = 2u << fw->hash_bits;
		return RF_CTL_R_NO_CONNECTIONS;
	}
	return RF_CTL_R_NONE;
}

void rf_fw_unplace(struct rf_fw *fw, struct rf_fw_group *g)
{
	struct rf_fw_uplink *u = rf_fw_uplink_of(fw, g);
	struct rf_fw_member *m;

	if (u && u->entry) {
		rf_fw_conn_remove(fw, u->port_ip, rf_fw_key(RF_FW_ROLE_MIRROR, u->qpn));
		u->entry = 0;
	}
	for (m = rf_fw_first(fw, g); m; m = rf_fw_next(fw, m)) {
		end_data(fw, g, m, (g->flags & RF_CTL_J_SHIFTED) != 0);
		if (m->put & RF_FW_PUT_ACK)
			rf_fw_conn_remove(fw, m->src_ip, rf_fw_key(1, m->qpn));
		if (m->put & RF_FW_PUT_MIRROR)
			rf_fw_conn_remove(fw, m->src_ip, rf_fw_key(RF_FW_ROLE_MIRROR, m->qpn));
		m->put &= RF_FW_PUT_ALL & ~(RF_FW_PUT_ACK | RF_FW_PUT_MIRROR);
	}
	if (!g->live)
		return;
	rf_fw_write(fw, rf_fw_group_reg(g->hw, RF_GROUP_CFG), 0);
	rf_fw_write(fw, rf_fw_group_reg(g->hw, RF_GROUP_ERROR), RF_GROUP_ERROR_VALID_MASK);
	g->live = 0;
}
