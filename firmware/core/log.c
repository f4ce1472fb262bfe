/* The last events, for page LOG of STATUS. */
#include "firmware/core/internal.h"

void rf_fw_note(struct rf_fw *fw, enum rf_ctl_event kind, const struct rf_fw_what *what)
{
	struct rf_ctl_log_entry *e = &fw->log[fw->log_next % RF_FW_LOG];
	struct rf_ctl_log_entry *last = &fw->log[(fw->log_next - 1u) % RF_FW_LOG];

	/*
	 * A repeated event is only counted, so that a host that repeats a request does not flush
	 * the log.
	 */
	if (fw->log_next > 0 && last->kind == kind && last->job == what->job &&
	    last->group == what->group && last->rank == what->rank &&
	    last->reason == what->reason && last->box_ip == what->box_ip) {
		last->ms = (uint32_t)fw->now_ms;
		if (last->count < UINT16_MAX)
			last->count++;
		return;
	}
	*e = (struct rf_ctl_log_entry){.ms = (uint32_t)fw->now_ms,
				       .kind = (uint8_t)kind,
				       .reason = (uint8_t)what->reason,
				       .rank = (uint16_t)what->rank,
				       .job = what->job,
				       .group = (uint16_t)what->group,
				       .count = 1,
				       .box_ip = what->box_ip};
	fw->log_next++;
}

void rf_fw_note_group(struct rf_fw *fw, enum rf_ctl_event kind, const struct rf_fw_group *g)
{
	struct rf_fw_what what = {.job = g->job,
				  .group = g->number,
				  .rank = kind == RF_CTL_EV_FAILED ? g->fail_rank : RF_CTL_NO_RANK,
				  .reason = kind == RF_CTL_EV_FAILED ? g->reason : 0u,
				  .box_ip = kind == RF_CTL_EV_FAILED ? g->fail_other.box_ip : 0u};

	rf_fw_note(fw, kind, &what);
}
