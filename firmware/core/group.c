/*
 * Groups: joining -> ready -> draining -> tombstoned -> free, and failed -> free. docs/firmware.md
 * has a diagram.
 */
#include <string.h>

#include "base/log2.h"
#include "firmware/core/internal.h"

#define SLOTS_LOG2_MIN 4u /* log2 of the smallest S */

unsigned int rf_fw_group_beats_log2(const struct rf_fw *fw, unsigned int mtu_log2,
				    unsigned int slots_log2)
{
	return slots_log2 + mtu_log2 - 3u - rf_log2(fw->width64);
}

/* A free record, otherwise the record of the group that ended longest ago; NULL. */
static struct rf_fw_group *spare_record(struct rf_fw *fw)
{
	struct rf_fw_group *old = NULL;

	for (unsigned int i = 0; i < RF_FW_RECORDS; i++) {
		struct rf_fw_group *g = &fw->group[i];

		if (g->state == RF_CTL_S_FREE)
			return g;
		if (!rf_fw_group_active(g) && g->hw == RF_FW_NONE &&
		    (!old || (int32_t)(g->age - old->age) < 0))
			old = g;
	}
	return old;
}

static void forget(struct rf_fw *fw, struct rf_fw_group *g)
{
	uint64_t last = g->asked_ms > g->ended_ms ? g->asked_ms : g->ended_ms;

	/*
	 * From now on old requests of its members are not recognised as old. If their nonces could
	 * still be valid they are made void, because a recorded JOIN must not start a group.
	 */
	if (g->first != RF_FW_NO_MEMBER && fw->now_ms - last < 2u * fw->cfg.nonce_ms)
		rf_fw_nonce_void(fw, g->job, 0);
	rf_fw_member_drop_all(fw, g);
	rf_fw_uplink_free(fw, g);
	memset(g, 0, sizeof(*g));
	g->hw = RF_FW_NONE;
	g->uplink = RF_FW_NONE;
	g->first = RF_FW_NO_MEMBER;
	while (fw->records > 0 && fw->group[fw->records - 1u].state == RF_CTL_S_FREE)
		fw->records--;
}

void rf_fw_group_spare_members(struct rf_fw *fw)
{
	while (rf_fw_member_full(fw)) {
		struct rf_fw_group *old = NULL;

		for (unsigned int i = 0; i < RF_FW_RECORDS; i++) {
			struct rf_fw_group *g = &fw->group[i];

			if (g->state != RF_CTL_S_FREE && !rf_fw_group_active(g) &&
			    g->hw == RF_FW_NONE && (!old || (int32_t)(g->age - old->age) < 0))
				old = g;
		}
		if (!old)
			return;
		forget(fw, old);
	}
}

/* log2 of the largest S that fits into `slots` slots and `bytes` bytes; 0: none. */
static uint32_t slots_within(uint32_t slots, uint32_t bytes, unsigned int mtu_log2)
{
	uint32_t n = bytes >> mtu_log2 < slots ? bytes >> mtu_log2 : slots;

	return n < 1u << SLOTS_LOG2_MIN ? 0 : rf_log2(n);
}

/* Whether a job's quota has room for a new group. */
static enum rf_ctl_reason within_quota(const struct rf_fw *fw, const struct rf_fw_group *fresh,
				       const struct rf_ctl_join *j, uint32_t *most_log2,
				       uint32_t *detail)
{
	struct rf_ctl_share left;

	rf_fw_keys_left(fw, fresh->job, &left);
	*detail = 0;
	if (left.groups == 0)
		return RF_CTL_R_QUOTA;
	*detail = left.ranks;
	if (j->ranks > left.ranks)
		return RF_CTL_R_QUOTA_RANKS;
	*detail = left.entries;
	if (rf_fw_keys_entries(fresh) > left.entries)
		return RF_CTL_R_QUOTA_ENTRIES;
	*detail = slots_within(left.slots, UINT32_MAX, j->mtu_log2);
	if (j->slots_min_log2 > *detail)
		return RF_CTL_R_QUOTA;
	*most_log2 = *detail = slots_within(left.slots, left.bytes, j->mtu_log2);
	return j->slots_min_log2 > *detail ? RF_CTL_R_QUOTA_BYTES : RF_CTL_R_NONE;
}

/* Ranks of the groups that hold slots. Those of other groups can be forgotten. */
static uint32_t ranks_held(const struct rf_fw *fw)
{
	uint32_t n = 0;

	for (unsigned int i = 0; i < fw->records; i++)
		if (fw->group[i].hw != RF_FW_NONE)
			n += fw->group[i].ranks;
	return n;
}

static bool take_slots(struct rf_fw *fw, struct rf_fw_group *g, uint32_t most_log2)
{
	for (unsigned int s = g->want_log2; s >= g->min_log2; s--) {
		unsigned int beats = rf_fw_group_beats_log2(fw, g->mtu_log2, s);

		if (s > most_log2 || !rf_fw_buddy_alloc(&fw->beats, beats, &g->dbase))
			continue;
		if (rf_fw_buddy_alloc(&fw->hslots, s, &g->hbase)) {
			g->slots_log2 = (uint8_t)s;
			return true;
		}
		rf_fw_buddy_free(&fw->beats, g->dbase, beats);
	}
	return false;
}

static void give_hw(struct rf_fw *fw, struct rf_fw_group *g)
{
	if (g->hw == RF_FW_NONE)
		return;
	rf_fw_buddy_free(&fw->beats, g->dbase,
			 rf_fw_group_beats_log2(fw, g->mtu_log2, g->slots_log2));
	rf_fw_buddy_free(&fw->hslots, g->hbase, g->slots_log2);
	fw->hw_used &= ~(UINT64_C(1) << g->hw);
	g->hw = RF_FW_NONE;
}

static uint8_t free_hw(const struct rf_fw *fw)
{
	for (unsigned int i = 0; i < fw->ngroups; i++)
		if (!(fw->hw_used >> i & 1u))
			return (uint8_t)i;
	return RF_FW_NONE;
}

/* log2 of the largest S that is free now; 0: none. */
static uint32_t slots_possible(const struct rf_fw *fw, unsigned int mtu_log2)
{
	int beats = rf_fw_buddy_longest(&fw->beats);
	int heads = rf_fw_buddy_longest(&fw->hslots);
	int per_slot = (int)rf_fw_group_beats_log2(fw, mtu_log2, 0);
	int best = beats - per_slot < heads ? beats - per_slot : heads;

	return best < (int)SLOTS_LOG2_MIN ? 0 : (uint32_t)best;
}

/* Without those that belong to the rank. */
static uint16_t group_flags(unsigned int flags)
{
	unsigned int own = RF_CTL_J_MIRROR | RF_CTL_J_LEAF;

	/* An uplink is selective, whatever its group is. */
	if (flags & RF_CTL_J_LEAF)
		own |= RF_CTL_J_SELECTIVE;
	return (uint16_t)(flags & ~own);
}

struct rf_fw_group *rf_fw_group_make(struct rf_fw *fw, const struct rf_ctl_header *h,
				     const struct rf_ctl_join *j, enum rf_ctl_reason *why,
				     uint32_t *detail)
{
	struct rf_fw_group fresh = {.state = RF_CTL_S_JOINING,
				    .hw = free_hw(fw),
				    .uplink = RF_FW_NONE,
				    .first = RF_FW_NO_MEMBER,
				    .number = h->group,
				    .job = h->job,
				    .ranks = j->ranks,
				    .flags = group_flags(j->flags),
				    .fail_rank = RF_CTL_NO_RANK,
				    .fail_other = {.rank = RF_CTL_NO_RANK},
				    .dtype = j->dtype,
				    .op = j->op,
				    .mtu_log2 = j->mtu_log2,
				    .want_log2 = j->slots_log2,
				    .min_log2 = j->slots_min_log2,
				    .deadline_ms = fw->now_ms + j->deadline_ms,
				    .look_ms = RF_FW_NEVER,
				    .awaited = RF_FW_NO_MEMBER};
	struct rf_fw_group *g = spare_record(fw);
	uint32_t most_log2;

	*detail = fw->ngroups;
	*why = RF_CTL_R_NO_GROUPS;
	if (!g || fresh.hw == RF_FW_NONE)
		return NULL;
	if (j->flags & RF_CTL_J_UPLINK) {
		fresh.uplink = rf_fw_uplink_spare(fw);
		*detail = RF_FW_UPLINKS;
		if (fresh.uplink == RF_FW_NONE)
			return NULL;
	}
	/* Ranks that have not joined count like the first one. */
	fresh.ring_first = !(j->flags & RF_CTL_J_MIRROR);
	fresh.doubles =
		fresh.ring_first && !(j->flags & RF_CTL_J_OPEN_LOOP) ? (uint8_t)j->ranks : 0u;
	*why = within_quota(fw, &fresh, j, &most_log2, detail);
	if (*why != RF_CTL_R_NONE)
		return NULL;
	/* Every rank of a group that begins has its place. */
	*why = RF_CTL_R_NO_RANKS;
	*detail = RF_FW_MEMBERS;
	if (ranks_held(fw) + j->ranks > RF_FW_MEMBERS)
		return NULL;
	*why = RF_CTL_R_NO_SLOTS;
	*detail = slots_possible(fw, j->mtu_log2);
	if (!take_slots(fw, &fresh, most_log2))
		return NULL;
	if (g->state != RF_CTL_S_FREE)
		forget(fw, g);
	if (fresh.uplink != RF_FW_NONE)
		rf_fw_uplink_make(fw, &fresh, j);
	for (unsigned int r = 0; r < j->ranks; r++)
		rf_ctl_mask_set(fresh.missing, r);
	fw->hw_used |= UINT64_C(1) << fresh.hw;
	fresh.age = ++fw->age;
	*g = fresh;
	if (g - fw->group >= fw->records)
		fw->records = (uint8_t)(g - fw->group + 1);
	fw->cnt.groups_made++;
	rf_fw_note_group(fw, RF_CTL_EV_JOINING, g);
	*why = RF_CTL_R_NONE;
	return g;
}

void rf_fw_group_unmake(struct rf_fw *fw, struct rf_fw_group *g)
{
	give_hw(fw, g);
	forget(fw, g);
	fw->cnt.groups_made--;
}

/* Common to failure and regular end. */
static void stop(struct rf_fw *fw, struct rf_fw_group *g, unsigned int state)
{
	/* Which ranks have sent decides who keeps their tombstones alive. */
	if (g->flags & RF_CTL_J_STRICT)
		rf_fw_group_look(fw, g);
	rf_fw_unplace(fw, g);
	g->state = (uint8_t)state;
	g->ended_ms = fw->now_ms;
	g->settle_ms = fw->now_ms + fw->cfg.settle_ms + 1u;
	fw->settling = true;
	fw->group_ms = fw->now_ms;
	g->deadline_ms = g->settle_ms + fw->cfg.linger_ms;
	g->look_ms = RF_FW_NEVER;
	g->age = ++fw->age;
}

void rf_fw_group_fail(struct rf_fw *fw, struct rf_fw_group *g, enum rf_ctl_reason reason,
		      uint32_t rank, uint32_t index, uint32_t detail)
{
	struct rf_fw_member *m;

	if (!rf_fw_group_active(g))
		return;
	stop(fw, g, RF_CTL_S_FAILED);
	g->reason = (uint8_t)reason;
	g->fail_rank = (uint16_t)rank;
	g->fail_index = index;
	g->fail_detail = detail;
	for (m = rf_fw_first(fw, g); m; m = rf_fw_next(fw, m))
		m->notify = 1;
	fw->notices = 1;
	rf_fw_note_group(fw, RF_CTL_EV_FAILED, g);
	fw->cnt.groups_failed++;
	rf_fw_uplink_fail(fw, g);
}

void rf_fw_group_end(struct rf_fw *fw, struct rf_fw_group *g)
{
	struct rf_fw_member *m;

	stop(fw, g, RF_CTL_S_TOMBSTONED);
	fw->cnt.groups_ended++;
	rf_fw_note_group(fw, RF_CTL_EV_ENDED, g);
	/* The ranks that left earlier wait only for this. */
	for (m = rf_fw_first(fw, g); m; m = rf_fw_next(fw, m))
		m->notify = (m->flags & RF_CTL_RANK_LEFT) != 0;
	fw->notices = 1;
}

void rf_fw_group_leave(struct rf_fw *fw, struct rf_fw_group *g, struct rf_fw_member *m,
		       uint8_t flag)
{
	if ((m->flags & (RF_CTL_RANK_LEFT | RF_CTL_RANK_GONE)) == 0)
		g->left++;
	m->flags |= flag;
	g->state = RF_CTL_S_DRAINING;
	if (g->left == g->ranks && !rf_fw_uplink_leave(fw, g))
		rf_fw_group_end(fw, g);
}

void rf_fw_group_look(struct rf_fw *fw, struct rf_fw_group *g)
{
	struct rf_fw_member *m;

	if (!g->live)
		return;
	for (m = rf_fw_first(fw, g); m; m = rf_fw_next(fw, m)) {
		uint32_t seen_reg =
			rf_fw_conn_reg(RF_FW_CID(g->hw, m->lane, m->port), RF_CONN_SEEN);
		uint32_t seen = rf_fw_read(fw, seen_reg);
		struct rf_fw_member *peer = rf_fw_member_get(fw, m->peer);

		if (seen == 0)
			continue;
		rf_fw_write(fw, seen_reg, seen);
		if (seen & RF_CONN_SEEN_DATA_MASK) {
			m->life_ms = fw->now_ms;
			m->spoke = 1;
		}
		/* ACKs of m's connection come from the rank to which it sends. */
		if ((seen & RF_CONN_SEEN_ACK_MASK) && peer)
			peer->life_ms = fw->now_ms;
	}
}

static bool silent(const struct rf_fw *fw, const struct rf_fw_member *m)
{
	return m->lease_ms != RF_CTL_LEASE_NONE && fw->now_ms - m->life_ms > m->lease_ms;
}

/* Whether a rank that is still in the group has exceeded its lease. */
static bool expired(const struct rf_fw *fw, const struct rf_fw_member *m)
{
	return silent(fw, m) && (m->flags & (RF_CTL_RANK_LEFT | RF_CTL_RANK_GONE)) == 0;
}

struct place {
	uint32_t next, una;
};

static struct place where(struct rf_fw *fw, const struct rf_fw_group *g,
			  const struct rf_fw_member *m)
{
	uint32_t cid = RF_FW_CID(g->hw, m->lane, m->port);

	return (struct place){rf_fw_read(fw, rf_fw_conn_reg(cid, RF_CONN_NEXT)),
			      rf_fw_read(fw, rf_fw_conn_reg(cid, RF_CONN_UNA))};
}

const struct rf_fw_member *rf_fw_group_lost(struct rf_fw *fw, struct rf_fw_group *g,
					    const struct rf_fw_member *m)
{
	const struct rf_fw_member *p, *left = NULL;
	struct place own;

	if (!g->live || (m->flags & (RF_CTL_RANK_LEFT | RF_CTL_RANK_GONE)) != 0)
		return NULL;
	rf_fw_group_look(fw, g);
	own = where(fw, g, m);
	for (p = rf_fw_first(fw, g); p; p = rf_fw_next(fw, p)) {
		struct place its;
		bool receiver = m->peer == rf_fw_member_number(fw, p);
		bool sender = p->peer == rf_fw_member_number(fw, m);

		if (p == m || !silent(fw, p))
			continue;
		its = where(fw, g, p);
		/*
		 * Skip p if m needs nothing from it: no ACKs, no requests for results still owed,
		 * no operands.
		 */
		if (!(receiver && own.una != own.next) && !(sender && its.una != its.next) &&
		    ((own.next - its.next) & 0xffffffu) - 1u >= 0x7fffffu)
			continue;
		/*
		 * A rank that has left may be silent; it is named only if no other rank is at
		 * fault.
		 */
		if (!(p->flags & RF_CTL_RANK_LEFT))
			return p;
		left = left ? left : p;
	}
	return left;
}

static void leases(struct rf_fw *fw, struct rf_fw_group *g)
{
	struct rf_fw_member *m;

	rf_fw_group_look(fw, g);
	for (m = rf_fw_first(fw, g); m; m = rf_fw_next(fw, m)) {
		if (!expired(fw, m))
			continue;
		fw->cnt.leases++;
		if (g->state != RF_CTL_S_DRAINING) {
			rf_fw_group_fail(fw, g, RF_CTL_R_LEASE, m->rank, 0, m->lease_ms);
			return;
		}
		rf_fw_group_leave(fw, g, m, RF_CTL_RANK_GONE);
		if (g->state != RF_CTL_S_DRAINING)
			return;
	}
}

/*
 * Longest time in ms between two checks, so that a silent rank's resources are free within a
 * second.
 */
#define LOOK_MS 500u

/* Four checks in a lease. */
static uint64_t quarter(const struct rf_fw *fw, uint32_t lease_ms)
{
	uint32_t ms = lease_ms / 4u < LOOK_MS ? lease_ms / 4u : LOOK_MS;

	if (lease_ms == RF_CTL_LEASE_NONE)
		return RF_FW_NEVER;
	return fw->now_ms + (ms > fw->cfg.tick_ms ? ms : fw->cfg.tick_ms);
}

static uint64_t next_look(const struct rf_fw *fw, const struct rf_fw_group *g)
{
	uint32_t shortest = RF_CTL_LEASE_NONE;
	unsigned int i;

	for (i = g->first; i != RF_FW_NO_MEMBER; i = fw->member[i].next)
		if (fw->member[i].lease_ms < shortest)
			shortest = fw->member[i].lease_ms;
	return quarter(fw, shortest);
}

void rf_fw_group_look_by(struct rf_fw *fw, struct rf_fw_group *g, const struct rf_fw_member *m)
{
	uint64_t due = quarter(fw, m->lease_ms);

	if (due < g->look_ms)
		g->look_ms = due;
	if (g->deadline_ms < due)
		due = g->deadline_ms;
	if (due < fw->group_ms)
		fw->group_ms = due;
}

static uint32_t first_missing(const struct rf_fw_group *g)
{
	for (unsigned int r = 0; r < g->ranks; r++)
		if (rf_ctl_mask_get(g->missing, r))
			return r;
	return RF_CTL_NO_RANK;
}

/* Whether a group that has ended still holds its slots, when they have been freed if they may be.
 */
static bool settling(struct rf_fw *fw, struct rf_fw_group *g)
{
	if (g->hw == RF_FW_NONE || rf_fw_group_active(g))
		return false;
	if (fw->now_ms >= g->settle_ms)
		give_hw(fw, g);
	return g->hw != RF_FW_NONE;
}

void rf_fw_group_settle(struct rf_fw *fw)
{
	bool any = false;

	/* Every request waits for this, so it costs nothing while no group has ended. */
	if (!fw->settling)
		return;
	for (unsigned int i = 0; i < fw->records; i++)
		any |= settling(fw, &fw->group[i]);
	fw->settling = any;
}

/* The deadline of a group is over. */
static void late(struct rf_fw *fw, struct rf_fw_group *g)
{
	struct rf_ctl_failed f = {.reason = RF_CTL_R_MISSING_RANKS};

	if (!rf_fw_uplink_late(fw, g, &f))
		f.rank = (uint16_t)first_missing(g);
	rf_fw_group_fail(fw, g, (enum rf_ctl_reason)f.reason, f.rank, 0, 0);
}

/* Timers of one group; returns the time of the next one. */
static uint64_t tick(struct rf_fw *fw, struct rf_fw_group *g)
{
	/* Most groups, most of the time. */
	if (g->live && fw->now_ms < g->look_ms)
		return g->look_ms;
	if (g->state == RF_CTL_S_JOINING && fw->now_ms >= g->deadline_ms)
		late(fw, g);
	if (rf_fw_group_active(g)) {
		if (fw->now_ms >= g->look_ms) {
			leases(fw, g);
			if (rf_fw_group_active(g))
				g->look_ms = next_look(fw, g);
		}
	}
	if (rf_fw_group_active(g)) {
		if (g->state == RF_CTL_S_JOINING && g->deadline_ms < g->look_ms)
			return g->deadline_ms;
		return g->look_ms;
	}
	if (settling(fw, g))
		return g->settle_ms;
	if (fw->now_ms < g->deadline_ms)
		return g->deadline_ms;
	forget(fw, g);
	return RF_FW_NEVER;
}

uint64_t rf_fw_group_tick(struct rf_fw *fw)
{
	uint64_t next = RF_FW_NEVER;

	if (fw->now_ms < fw->group_ms)
		return fw->group_ms;
	for (unsigned int i = 0; i < fw->records; i++) {
		struct rf_fw_group *g = &fw->group[i];
		uint64_t due = g->state == RF_CTL_S_FREE ? RF_FW_NEVER : tick(fw, g);

		if (due < next)
			next = due;
	}
	fw->group_ms = next;
	return next;
}

static enum rf_ctl_reason reason_of(uint32_t cause)
{
	switch (cause) {
	case RF_ERROR_DISAGREE:
		return RF_CTL_R_DISAGREE;
	case RF_ERROR_LENGTH:
		return RF_CTL_R_LENGTH;
	case RF_ERROR_ELEMENT:
		return RF_CTL_R_ELEMENT;
	case RF_ERROR_OPCODE:
		return RF_CTL_R_OPCODE;
	case RF_ERROR_NAK:
		return RF_CTL_R_NAK;
	case RF_ERROR_BEFORE_START:
		return RF_CTL_R_BEFORE_START;
	case RF_ERROR_PARITY:
		return RF_CTL_R_PARITY;
	case RF_ERROR_IMMEDIATE:
		return RF_CTL_R_IMMEDIATE;
	case RF_ERROR_ORDER:
		return RF_CTL_R_ORDER;
	default:
		return RF_CTL_R_HARDWARE;
	}
}

/*
 * A pass or packet that was under way when its group ended may latch an error afterwards. It
 * belongs to no group, and would keep the interrupt raised.
 */
static void discard_errors(struct rf_fw *fw)
{
	uint64_t live = 0;

	for (unsigned int i = 0; i < fw->records; i++)
		if (fw->group[i].live)
			live |= UINT64_C(1) << fw->group[i].hw;
	for (unsigned int hw = 0; hw < fw->ngroups; hw++)
		if (!(live >> hw & 1u))
			rf_fw_write(fw, rf_fw_group_reg(hw, RF_GROUP_ERROR),
				    RF_GROUP_ERROR_VALID_MASK);
}

/* The first member of a pass: lanes ascending, within a lane ports ascending. */
static uint32_t first_of_pass(struct rf_fw *fw, const struct rf_fw_group *g)
{
	const struct rf_fw_member *first = rf_fw_first(fw, g), *m;

	for (m = first; m; m = rf_fw_next(fw, m))
		if (m->lane < first->lane || (m->lane == first->lane && m->port < first->port))
			first = m;
	return first->rank;
}

/* Operation and type in an immediate. */
#define IMMEDIATE_TYPE_MASK 0xff0u

/*
 * With whom a rank disagrees. In a directed group the hardware tells the value of that rank, but
 * not which one it is: it is certain only for type and operation, which are compared first, and
 * with the first member.
 */
static void disagree(struct rf_fw *fw, struct rf_fw_group *g, uint32_t error, uint32_t value)
{
	struct rf_ctl_other *o = &g->fail_other;
	bool first = true;

	if (g->flags & RF_CTL_J_DIRECTED) {
		o->what = (uint8_t)((error & RF_GROUP_ERROR_WHAT_MASK) >> RF_GROUP_ERROR_WHAT_LSB);
		o->value = rf_fw_read(fw, rf_fw_group_reg(g->hw, RF_GROUP_ERROR_WANT));
		first = o->what == RF_WHAT_TAG && ((o->value ^ value) & IMMEDIATE_TYPE_MASK) != 0;
	}
	if (first)
		o->rank = (uint16_t)first_of_pass(fw, g);
}

/* Fails a group with the error that the hardware has latched. */
static void take_error(struct rf_fw *fw, struct rf_fw_group *g, uint32_t error)
{
	uint32_t index = rf_fw_read(fw, rf_fw_group_reg(g->hw, RF_GROUP_ERROR_INDEX));
	uint32_t port = (error & RF_GROUP_ERROR_PORT_MASK) >> RF_GROUP_ERROR_PORT_LSB;
	uint32_t lane = (error & RF_GROUP_ERROR_LANE_MASK) >> RF_GROUP_ERROR_LANE_LSB;
	enum rf_ctl_reason why =
		reason_of((error & RF_GROUP_ERROR_CAUSE_MASK) >> RF_GROUP_ERROR_CAUSE_LSB);
	uint32_t rank = RF_CTL_NO_RANK, psn = 0, value = 0;
	const struct rf_fw_uplink *u = rf_fw_uplink_of(fw, g);
	const struct rf_fw_member *m;

	for (m = rf_fw_first(fw, g); m; m = rf_fw_next(fw, m))
		if (m->port == port && m->lane == lane) {
			rank = m->rank;
			psn = (m->start_psn + index) & 0xffffffu;
		}
	if (u && u->port == port && u->lane == lane)
		g->fail_other.box_ip = u->chain[0].ip;
	g->suspect = 1;
	if (g->flags & RF_CTL_J_DIRECTED)
		value = rf_fw_read(fw, rf_fw_group_reg(g->hw, RF_GROUP_ERROR_GOT));
	if (why == RF_CTL_R_DISAGREE)
		disagree(fw, g, error, value);
	rf_fw_group_fail(fw, g, why, rank, index, why == RF_CTL_R_BEFORE_START ? psn : value);
}

void rf_fw_group_errors(struct rf_fw *fw)
{
	for (unsigned int i = 0; i < fw->records; i++) {
		struct rf_fw_group *g = &fw->group[i];
		uint32_t error;

		if (!g->live)
			continue;
		error = rf_fw_read(fw, rf_fw_group_reg(g->hw, RF_GROUP_ERROR));
		if (error & RF_GROUP_ERROR_VALID_MASK)
			take_error(fw, g, error);
	}
	discard_errors(fw);
}
