/*
 * The hold time. A box that has just started, or was reset, may have forgotten connections whose
 * packets nobody but it kept from being delivered as they are. So it drops RC data of connections
 * that it does not know (CTRL.HOLD), and keeps each one that comes apart from then on: as a
 * tombstone that belongs to no job and stays until its connection has been silent for cfg.hold_ms.
 * The hold time itself ends cfg.hold_ms after it began, or after the last moment at which a
 * connection was cut that has no entry: because the hardware could not show it, or because the
 * table is full. So what was cut once is never let through before it has been silent for that long.
 */
#include "firmware/core/internal.h"

static bool lasts(const struct rf_fw *fw)
{
	return fw->hold_until != RF_FW_NEVER;
}

void rf_fw_hold_prolong(struct rf_fw *fw)
{
	/* now_ms began up to a millisecond ago. */
	if (lasts(fw))
		fw->hold_until = fw->now_ms + fw->cfg.hold_ms + 1u;
}

static void end(struct rf_fw *fw)
{
	fw->hold_until = RF_FW_NEVER;
	fw->hold_full = 0;
	fw->hold_ended = 1;
	rf_fw_write(fw, RF_CTRL, RF_CTRL_ENABLE_MASK);
}

void rf_fw_hold_begin(struct rf_fw *fw)
{
	fw->hold_until = fw->now_ms + fw->cfg.hold_ms;
	fw->hold_full = 0;
	rf_fw_watch_reset(fw);
	if (fw->cfg.hold_ms > 0)
		rf_fw_write(fw, RF_CTRL, RF_CTRL_ENABLE_MASK | RF_CTRL_HOLD_MASK);
	else
		end(fw);
}

/* Of the hold time. False: it has no entry. */
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
	/* It is full no more once a connection has found room. */
	if (lasts(fw) && (!entered || fw->entries != entries))
		fw->hold_full = !entered;
	return entered;
}

/* The frame that is shown: HELD_KEY. */
static void take(struct rf_fw *fw, uint32_t shown)
{
	struct rf_fw_shown s = {.ip = rf_fw_read(fw, RF_HELD_IP),
				.qpn = shown & RF_HELD_KEY_QPN_MASK,
				.port = (shown & RF_HELD_KEY_PORT_MASK) >> RF_HELD_KEY_PORT_LSB};
	enum rf_fw_stray stray = RF_FW_STRAY_NONE;
	bool entered = true;

	if (fw->watched != 0) {
		s.src = rf_fw_read(fw, RF_HELD_SRC);
		stray = rf_fw_watch_stray(fw, &s);
	}
	if (stray != RF_FW_STRAY_NONE)
		entered = stray == RF_FW_STRAY_CUT;
	else if (lasts(fw) || fw->hold_ended)
		entered = enter(fw, &s);
	else
		rf_fw_watch_pass(fw, &s);
	if (!entered || (shown & RF_HELD_KEY_MISSED_MASK))
		rf_fw_hold_prolong(fw);
	rf_fw_write(fw, RF_HELD_POP, 1);
}

void rf_fw_hold_poll(struct rf_fw *fw)
{
	for (unsigned int i = 0; i < fw->cfg.poll_frames; i++) {
		uint32_t shown = rf_fw_read(fw, RF_HELD_KEY);

		if (shown & RF_HELD_KEY_VALID_MASK) {
			take(fw, shown);
		} else if (lasts(fw) && fw->now_ms >= fw->hold_until) {
			/* One more look: a frame may have been cut until now. */
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
		rf_fw_conn_exhume_all(fw, RF_FW_NOBODY);
		/* What is shown, and what waits. */
		for (unsigned int p = 0; p <= fw->ports; p++)
			rf_fw_write(fw, RF_HELD_POP, 1);
		return RF_CTL_R_NONE;
	}
	/* Without its entry the hold time would cut it, and make the entry again. */
	if (lasts(fw))
		return RF_CTL_R_HOLD_TIME;
	if (!e || !rf_fw_held(e))
		return RF_CTL_R_NOT_HELD;
	rf_fw_conn_exhume(fw, ip, rf_fw_key(0, qpn), RF_FW_NOBODY);
	return RF_CTL_R_NONE;
}
