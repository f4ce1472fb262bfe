/*
 * The hold time. A box that has just started, or was reset, has lost its connection table. Its
 * unreduced data must not reach a receiver. So the box drops RC data of unknown connections
 * (CTRL.HOLD), and for each such connection makes a tombstone that belongs to no job. The tombstone
 * stays until its connection has been silent for cfg.hold_ms. The hold time ends cfg.hold_ms after
 * it began, or cfg.hold_ms after data of a connection without an entry was last dropped (because
 * the hardware could not show it to the firmware, or because the table is full). So a connection
 * whose data was dropped once passes only after it has been silent for that long.
 */
#include "firmware/core/internal.h"

static bool lasts(const struct rf_fw *fw)
{
	return fw->hold_until != RF_FW_NEVER;
}

static void end(struct rf_fw *fw)
{
	fw->hold_until = RF_FW_NEVER;
	fw->hold_full = 0;
	fw->hold_ended = 1;
	rf_fw_write(fw, RF_CTRL, RF_CTRL_ENABLE_MASK);
}

static void begin(struct rf_fw *fw)
{
	fw->hold_until = fw->now_ms + fw->cfg.hold_ms;
	rf_fw_write(fw, RF_CTRL, RF_CTRL_ENABLE_MASK | RF_CTRL_HOLD_MASK);
}

void rf_fw_hold_begin(struct rf_fw *fw)
{
	fw->hold_full = 0;
	rf_fw_watch_reset(fw);
	if (fw->cfg.hold_ms > 0)
		begin(fw);
	else
		end(fw);
}

/* Makes the tombstone of a held connection. False: no room for it. */
static bool enter(struct rf_fw *fw, const struct rf_fw_shown *s)
{
	uint32_t entries = fw->entries;
	bool entered = rf_fw_conn_hold(fw, s->ip, s->qpn, s->port);

	fw->cnt.held += fw->entries - entries;
	if (!entered) {
		fw->cnt.hold_full++;
		if (lasts(fw) && !fw->hold_full)
			rf_fw_note(fw, RF_CTL_EV_FULL,
				   &(struct rf_fw_what){.rank = RF_CTL_NO_RANK});
	}
	/* The table no longer counts as full once a connection has found room. */
	if (lasts(fw) && (!entered || fw->entries != entries))
		fw->hold_full = !entered;
	return entered;
}

/*
 * A silent rank has sent on a connection that is not registered: fails its group, and makes that
 * connection a tombstone of the job. False: no room for it, or beyond the job's quota.
 */
static bool cut(struct rf_fw *fw, const struct rf_fw_shown *s, struct rf_fw_group *g,
		const struct rf_fw_member *m)
{
	struct rf_ctl_share left;

	rf_fw_group_fail(fw, g, RF_CTL_R_WRONG_QPN, m->rank, s->ip, s->qpn);
	rf_fw_keys_left(fw, g->job, &left);
	return left.entries > 0 && rf_fw_conn_cut(fw, s, g->job);
}

/* Handles the frame shown by the hardware; shown: HELD_KEY. */
static void take(struct rf_fw *fw, uint32_t shown)
{
	struct rf_fw_shown s = {.ip = rf_fw_read(fw, RF_HELD_IP),
				.qpn = shown & RF_HELD_KEY_QPN_MASK,
				.port = (shown & RF_HELD_KEY_PORT_MASK) >> RF_HELD_KEY_PORT_LSB};
	enum rf_fw_stray stray = RF_FW_STRAY_NONE;
	struct rf_fw_group *g;
	struct rf_fw_member *m;
	bool entered = true;

	if (fw->watched != 0) {
		s.src = rf_fw_read(fw, RF_HELD_SRC);
		stray = rf_fw_watch_stray(fw, &s, &g, &m);
	}
	if (stray != RF_FW_STRAY_NONE)
		entered = stray == RF_FW_STRAY_PROVED && cut(fw, &s, g, m);
	else if (lasts(fw) || fw->hold_ended)
		entered = enter(fw, &s);
	else
		rf_fw_watch_pass(fw, &s);
	if (!entered || (shown & RF_HELD_KEY_MISSED_MASK)) {
		/* A connection without an entry was cut up to the end: the end came too early. */
		if (fw->hold_ended && fw->cfg.hold_ms > 0)
			begin(fw);
		rf_fw_conn_prolong_hold(fw);
	}
	rf_fw_write(fw, RF_HELD_POP, 1);
}

void rf_fw_hold_poll(struct rf_fw *fw)
{
	for (unsigned int i = 0; i < fw->cfg.poll_frames; i++) {
		uint32_t shown = rf_fw_read(fw, RF_HELD_KEY);

		if (shown & RF_HELD_KEY_VALID_MASK) {
			take(fw, shown);
		} else if (lasts(fw) && fw->now_ms >= fw->hold_until) {
			/* Look once more: a frame may have been dropped up to now. */
			end(fw);
		} else {
			fw->hold_ended = 0;
			return;
		}
	}
}

uint32_t rf_fw_hold_left(const struct rf_fw *fw)
{
	if (!lasts(fw) || fw->now_ms >= fw->hold_until)
		return 0;
	return (uint32_t)(fw->hold_until - fw->now_ms);
}

enum rf_ctl_reason rf_fw_hold_release(struct rf_fw *fw, uint32_t ip, uint32_t qpn)
{
	const struct rf_fw_entry *e = rf_fw_conn_find(fw, ip, rf_fw_key(0, qpn));

	if (ip == 0) {
		if (lasts(fw))
			end(fw);
		rf_fw_conn_exhume_all(fw, RF_FW_NO_JOB);
		/* The frame shown and those waiting after it. */
		for (unsigned int p = 0; p <= fw->ports; p++)
			rf_fw_write(fw, RF_HELD_POP, 1);
		fw->hold_ended = 0;
		return RF_CTL_R_NONE;
	}
	/* Without its entry the connection would be held again at its next packet. */
	if (lasts(fw))
		return RF_CTL_R_HOLD_TIME;
	if (!e || !rf_fw_held(e))
		return RF_CTL_R_NOT_HELD;
	rf_fw_conn_exhume(fw, ip, rf_fw_key(0, qpn), RF_FW_NO_JOB);
	return RF_CTL_R_NONE;
}
