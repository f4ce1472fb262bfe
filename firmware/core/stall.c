/*
 * Recovery from loss: the tick that makes the box repeat its NAKs. And which rank is last: short
 * lags are sampled by the hardware (box.md, "Who is last"), one index of one group at a time; all
 * long lags are measured here, in every group.
 */
#include "firmware/core/internal.h"

/* After this time without a measurement it is another group's turn. */
#define PATIENCE_MS 1000u
/* The same if no other group waits for a turn, and if the group is at work. */
#define PATIENCE_ALONE_MS 30000u
#define PATIENCE_BUSY_MS 8000u
#define LOOK_MS 125u
/* If the head stands still for this long while some rank is ahead, the lag is recorded here, ... */
#define STALL_MS 500u
/* ... so the hardware's samples of such lags are not used. */
#define SAMPLE_MAX_US 1000000u

static bool counts(const struct rf_fw_group *g)
{
	return g->live && (g->state == RF_CTL_S_READY || g->state == RF_CTL_S_DRAINING);
}

static void note(struct rf_fw_group *g, struct rf_fw_member *m, uint32_t us)
{
	unsigned int bin = 0;

	while (bin < RF_CTL_LAG_BINS - 1u && us >> bin != 0)
		bin++;
	g->lag[bin]++;
	g->lag_us += us;
	m->lag.times++;
	if (m->lag.most_us < us)
		m->lag.most_us = us;
}

static uint32_t microseconds(const struct rf_fw *fw, uint32_t cycles)
{
	uint32_t ms = cycles / fw->khz;

	return ms > UINT32_MAX / 1000u - 1u ? UINT32_MAX
					    : ms * 1000u + cycles % fw->khz * 1000u / fw->khz;
}

/* Records a measured index for the rank that was last, and in the group's histogram. */
static void note_sample(struct rf_fw *fw, uint32_t status)
{
	uint32_t us = microseconds(fw, rf_fw_read(fw, RF_LAG_CYCLES));
	uint32_t hw = (status & RF_LAG_STATUS_GROUP_MASK) >> RF_LAG_STATUS_GROUP_LSB;
	uint32_t lane = (status & RF_LAG_STATUS_LANE_MASK) >> RF_LAG_STATUS_LANE_LSB;
	uint32_t port = (status & RF_LAG_STATUS_PORT_MASK) >> RF_LAG_STATUS_PORT_LSB;

	for (unsigned int i = 0; i < fw->records; i++) {
		struct rf_fw_group *g = &fw->group[i];
		struct rf_fw_member *m;

		if (!counts(g) || g->hw != hw || us >= SAMPLE_MAX_US)
			continue;
		for (m = rf_fw_first(fw, g); m; m = rf_fw_next(fw, m))
			if (m->lane == lane && m->port == port)
				note(g, m, us);
	}
}

/*
 * The lowest rank that the head waits for while another rank is ahead; RF_FW_NO_MEMBER if there is
 * none.
 */
static uint16_t awaited(struct rf_fw *fw, const struct rf_fw_group *g)
{
	const struct rf_fw_member *m;
	uint16_t who = RF_FW_NO_MEMBER;
	bool ahead = false;

	for (m = rf_fw_first(fw, g); m; m = rf_fw_next(fw, m)) {
		uint32_t cid = RF_FW_CID(g->hw, m->lane, m->port);

		if (rf_fw_read(fw, rf_fw_conn_reg(cid, RF_CONN_NEXT)) != g->head)
			ahead = true;
		else if (who == RF_FW_NO_MEMBER)
			who = rf_fw_member_number(fw, m);
	}
	return ahead ? who : (uint16_t)RF_FW_NO_MEMBER;
}

static void look(struct rf_fw *fw, struct rf_fw_group *g)
{
	uint32_t head = rf_fw_read(fw, rf_fw_group_reg(g->hw, RF_GROUP_HEAD));
	uint32_t ms = (uint32_t)fw->now_ms - g->head_ms;
	uint16_t who;

	if (head != g->head) {
		if (g->awaited != RF_FW_NO_MEMBER)
			note(g, &fw->member[g->awaited],
			     ms > UINT32_MAX / 1000u ? UINT32_MAX : ms * 1000u);
		g->head = head;
		g->head_ms = (uint32_t)fw->now_ms;
		g->awaited = RF_FW_NO_MEMBER;
		return;
	}
	who = awaited(fw, g);
	if (who == RF_FW_NO_MEMBER) /* no rank has begun: not a stall */
		g->head_ms = (uint32_t)fw->now_ms;
	else if (ms >= STALL_MS)
		g->awaited = who;
}

/* Starts a measurement of the next live group after the one measured last. */
static void arm_next(struct rf_fw *fw)
{
	for (unsigned int i = 1; i <= RF_FW_RECORDS; i++) {
		unsigned int n = (fw->lag_turn + i) % RF_FW_RECORDS;

		if (!counts(&fw->group[n]))
			continue;
		fw->lag_turn = (uint8_t)n;
		fw->lag_head = fw->group[n].head;
		fw->lag_armed = fw->now_ms;
		fw->lag_until = fw->now_ms + PATIENCE_MS;
		rf_fw_write(fw, RF_LAG_ARM, fw->group[n].hw);
		return;
	}
}

/* Whether to give up the current measurement. */
static bool impatient(struct rf_fw *fw, bool alone)
{
	const struct rf_fw_group *g = &fw->group[fw->lag_turn];
	uint64_t most = PATIENCE_MS;

	if (fw->lag_until == 0 || !counts(g))
		return true;
	if (alone)
		most = PATIENCE_ALONE_MS;
	else if (g->head != fw->lag_head)
		most = PATIENCE_BUSY_MS;
	fw->lag_until = fw->now_ms + PATIENCE_MS;
	return fw->now_ms - fw->lag_armed >= most;
}

/* Takes a measurement that is done, and starts the next one. */
static void sample(struct rf_fw *fw, bool alone)
{
	uint32_t status = rf_fw_read(fw, RF_LAG_STATUS);
	bool valid = (status & RF_LAG_STATUS_VALID_MASK) != 0;

	if (valid)
		note_sample(fw, status);
	if (valid || (fw->now_ms >= fw->lag_until && impatient(fw, alone)))
		arm_next(fw);
}

static void measure(struct rf_fw *fw, bool alone)
{
	if (fw->lag)
		sample(fw, alone);
	if (fw->now_ms < fw->look_ms)
		return;
	fw->look_ms = fw->now_ms + LOOK_MS;
	for (unsigned int i = 0; i < fw->records; i++)
		if (counts(&fw->group[i]))
			look(fw, &fw->group[i]);
}

uint64_t rf_fw_stall_tick(struct rf_fw *fw)
{
	unsigned int live = 0;
	bool naks = false;

	if (fw->now_ms < fw->stall_ms)
		return fw->stall_ms;
	for (unsigned int i = 0; i < fw->records; i++) {
		const struct rf_fw_group *g = &fw->group[i];

		live += counts(g);
		naks |= counts(g) && !(g->flags & (RF_CTL_J_OPEN_LOOP | RF_CTL_J_TRANSPARENT));
	}
	if (live == 0) {
		fw->lag_until = 0;
		return RF_FW_NEVER;
	}
	fw->stall_ms = fw->now_ms + fw->cfg.tick_ms;
	if (naks)
		rf_fw_write(fw, RF_TICK, 1);
	measure(fw, live == 1);
	return fw->stall_ms;
}
