/*
 * What keeps a group going that has lost something: the tick that lets the box ask again, and the
 * measurement of who is last.
 */
#include "firmware/core/internal.h"

#define LAG_PATIENCE_MS 1000u /* no index was measured: another group's turn */

static bool counts(const struct rf_fw_group *g)
{
	return g->live && (g->state == RF_CTL_S_READY || g->state == RF_CTL_S_DRAINING);
}

/* A measured index: to the rank that was last, and into the group's histogram. */
static void note_lag(struct rf_fw *fw, uint32_t status)
{
	uint32_t cycles = rf_fw_read(fw, RF_LAG_CYCLES);
	uint32_t hw = (status & RF_LAG_STATUS_GROUP_MASK) >> RF_LAG_STATUS_GROUP_LSB;
	uint32_t lane = (status & RF_LAG_STATUS_LANE_MASK) >> RF_LAG_STATUS_LANE_LSB;
	uint32_t port = (status & RF_LAG_STATUS_PORT_MASK) >> RF_LAG_STATUS_PORT_LSB;
	unsigned int bin = 0;

	while (bin < RF_FW_LAG_BINS - 1u && cycles >> (bin + 1u) != 0)
		bin++;
	for (unsigned int i = 0; i < RF_FW_RECORDS; i++) {
		struct rf_fw_group *g = &fw->group[i];
		struct rf_fw_member *m;

		if (!counts(g) || g->hw != hw)
			continue;
		g->lag[bin]++;
		for (m = rf_fw_first(fw, g); m; m = rf_fw_next(fw, m))
			if (m->lane == lane && m->port == port) {
				m->last_count++;
				if (m->last_cycles < cycles)
					m->last_cycles = cycles;
			}
	}
}

/* The next group that counts, behind the one that was measured. */
static void arm_next(struct rf_fw *fw)
{
	for (unsigned int i = 1; i <= RF_FW_RECORDS; i++) {
		unsigned int n = (fw->lag_turn + i) % RF_FW_RECORDS;

		if (!counts(&fw->group[n]))
			continue;
		fw->lag_turn = (uint8_t)n;
		fw->lag_until = fw->now_ms + LAG_PATIENCE_MS;
		rf_fw_write(fw, RF_LAG_ARM, fw->group[n].hw);
		return;
	}
}

uint64_t rf_fw_stall_tick(struct rf_fw *fw)
{
	bool any = false, naks = false;
	uint32_t status;

	for (unsigned int i = 0; i < RF_FW_RECORDS; i++) {
		const struct rf_fw_group *g = &fw->group[i];

		any |= counts(g);
		naks |= counts(g) && !(g->flags & (RF_CTL_J_OPEN_LOOP | RF_CTL_J_TRANSPARENT));
	}
	if (!any) {
		fw->lag_until = 0;
		return RF_FW_NEVER;
	}
	if (fw->now_ms < fw->stall_ms)
		return fw->stall_ms;
	fw->stall_ms = fw->now_ms + fw->cfg.tick_ms;
	if (naks)
		rf_fw_write(fw, RF_TICK, 1);
	status = rf_fw_read(fw, RF_LAG_STATUS);
	if (status & RF_LAG_STATUS_VALID_MASK)
		note_lag(fw, status);
	if ((status & RF_LAG_STATUS_VALID_MASK) || fw->now_ms >= fw->lag_until)
		arm_next(fw);
	return fw->stall_ms;
}
