/*
 * The verbs of the control protocol except JOIN and STATUS, called after the tag has been verified.
 */
#include <string.h>

#include "firmware/core/internal.h"

static bool leave(struct rf_fw *fw, const struct rf_fw_request *q)
{
	struct rf_fw_member *m;
	struct rf_fw_group *g = rf_fw_request_group(fw, &q->h, &m);

	fw->cnt.leave++;
	if (!g)
		return rf_fw_refuse(fw, RF_CTL_R_GROUP_UNKNOWN, q->h.rank, 0);
	if (!rf_fw_heard(fw, g, m, q))
		return false;
	if (q->h.flags & RF_CTL_F_QP_DESTROYED)
		m->destroyed = 1;
	if (g->state == RF_CTL_S_JOINING)
		rf_fw_group_fail(fw, g, RF_CTL_R_ABORTED, m->rank, 0, RF_CTL_ABORT_USER);
	else if (rf_fw_group_active(g))
		rf_fw_group_leave(fw, g, m, RF_CTL_RANK_LEFT);
	if (m->destroyed && !rf_fw_group_active(g))
		rf_fw_place_destroyed(fw, g, m);
	m->notify = 0;
	rf_fw_reply_state(fw, g, m);
	return true;
}

static bool done(struct rf_fw *fw)
{
	memset(&fw->reply, 0, sizeof(fw->reply));
	fw->reply.result = RF_CTL_OK;
	return true;
}

/*
 * The operator's commands have no membership that numbers them. So after a command, done or
 * refused, the operator's nonces at this address become void, and a repetition of the same bytes
 * gets the same answer without any effect.
 */
static bool answered(struct rf_fw *fw, const struct rf_fw_request *q, enum rf_ctl_reason why)
{
	fw->command[fw->command_next++ % RF_FW_COMMANDS] =
		(struct rf_fw_command){.tag = q->h.tag, .used = 1, .reason = (uint8_t)why};
	rf_fw_nonce_void(fw, RF_CTL_JOB_OPERATOR, q->addr.src_ip);
	return why == RF_CTL_R_NONE ? done(fw) : rf_fw_refuse(fw, why, RF_CTL_NO_RANK, 0);
}

bool rf_fw_repeated(struct rf_fw *fw, const struct rf_fw_request *q)
{
	if (q->h.job != RF_CTL_JOB_OPERATOR ||
	    (q->h.verb != RF_CTL_ABORT && q->h.verb != RF_CTL_RESET && q->h.verb != RF_CTL_RELEASE))
		return false;
	for (unsigned int i = 0; i < RF_FW_COMMANDS; i++) {
		const struct rf_fw_command *c = &fw->command[i];

		if (!c->used || c->tag != q->h.tag)
			continue;
		if (q->h.verb == RF_CTL_ABORT)
			fw->cnt.abort++;
		else if (q->h.verb == RF_CTL_RESET)
			fw->cnt.reset++;
		else
			fw->cnt.release++;
		if (c->reason == RF_CTL_R_NONE)
			return done(fw);
		return rf_fw_refuse(fw, (enum rf_ctl_reason)c->reason, RF_CTL_NO_RANK, 0);
	}
	return false;
}

/* A box below reports what has happened there. */
static void fail_below(struct rf_fw *fw, struct rf_fw_group *g, const struct rf_fw_member *m,
		       const struct rf_ctl_abort_req *a)
{
	if (rf_fw_group_active(g)) {
		g->fail_other = a->other;
		if (g->fail_other.box_ip == 0)
			g->fail_other.box_ip = m->src_ip;
	}
	rf_fw_group_fail(fw, g, (enum rf_ctl_reason)a->reason, a->rank, a->index, a->detail);
}

static bool abort_group(struct rf_fw *fw, const struct rf_fw_request *q)
{
	const struct rf_ctl_abort_req *a = &q->body.u.abort;
	struct rf_fw_member *m = NULL;
	struct rf_fw_group *g;

	fw->cnt.abort++;
	if (q->h.job == RF_CTL_JOB_OPERATOR && q->h.rank == RF_CTL_NO_RANK) {
		g = rf_fw_group_named(fw, a->job, a->group);
		if (!g)
			return answered(fw, q, RF_CTL_R_GROUP_UNKNOWN);
		rf_fw_group_fail(fw, g, RF_CTL_R_OPERATOR, RF_CTL_NO_RANK, 0, a->code);
		return answered(fw, q, RF_CTL_R_NONE);
	}
	g = rf_fw_request_group(fw, &q->h, &m);
	if (!g)
		return rf_fw_refuse(fw, RF_CTL_R_GROUP_UNKNOWN, q->h.rank, 0);
	if (!rf_fw_heard(fw, g, m, q))
		return false;
	if ((m->flags & RF_CTL_RANK_LEAF) && a->reason > RF_CTL_R_NONE &&
	    a->reason < RF_CTL_R_COUNT)
		fail_below(fw, g, m, a);
	else
		rf_fw_group_fail(fw, g, RF_CTL_R_ABORTED, m->rank, 0, a->code);
	m->notify = 0;
	return done(fw);
}

/* Fails all groups, empties the table, starts the hold time, and makes all nonces void. */
static void end_all(struct rf_fw *fw, enum rf_ctl_reason why, uint32_t detail)
{
	for (unsigned int i = 0; i < fw->records; i++)
		rf_fw_group_fail(fw, &fw->group[i], why, RF_CTL_NO_RANK, 0, detail);
	/*
	 * The hardware's state may be wrong: reset it. detail is the value of its PARITY register.
	 */
	if (why == RF_CTL_R_PARITY)
		rf_fw_write(fw, RF_PARITY, RF_PARITY_VALID_MASK);
	/* With a hold time no tombstones are needed. */
	rf_fw_hold_begin(fw);
	if (fw->cfg.hold_ms > 0 || why == RF_CTL_R_PARITY)
		rf_fw_conn_reset(fw);
	rf_fw_note(fw, RF_CTL_EV_RESET,
		   &(struct rf_fw_what){.rank = RF_CTL_NO_RANK,
					.reason = why == RF_CTL_R_PARITY ? (uint32_t)why : 0u});
	/*
	 * A new epoch would tell every rank of a RESET. After a parity error the epoch stays, so
	 * that the ranks get the reason.
	 */
	if (why == RF_CTL_R_RESET)
		fw->epoch = fw->epoch == UINT32_MAX ? 1 : fw->epoch + 1u;
	rf_fw_nonce_void_all(fw);
}

void rf_fw_begin_anew(struct rf_fw *fw)
{
	fw->cnt.parity++;
	end_all(fw, RF_CTL_R_PARITY, rf_fw_read(fw, RF_PARITY));
}

static bool reset(struct rf_fw *fw, const struct rf_fw_request *q)
{
	fw->cnt.reset++;
	if (q->h.job != RF_CTL_JOB_OPERATOR)
		return rf_fw_refuse(fw, RF_CTL_R_NOT_OPERATOR, q->h.rank, 0);
	end_all(fw, RF_CTL_R_RESET, 0);
	return answered(fw, q, RF_CTL_R_NONE);
}

static bool release(struct rf_fw *fw, const struct rf_fw_request *q)
{
	const struct rf_ctl_release *r = &q->body.u.release;

	fw->cnt.release++;
	if (q->h.job != RF_CTL_JOB_OPERATOR)
		return rf_fw_refuse(fw, RF_CTL_R_NOT_OPERATOR, q->h.rank, 0);
	return answered(fw, q, rf_fw_hold_release(fw, r->ip, r->qpn));
}

bool rf_fw_request(struct rf_fw *fw, const struct rf_fw_request *q)
{
	switch (q->h.verb) {
	case RF_CTL_JOIN:
		return rf_fw_join(fw, q);
	case RF_CTL_LEAVE:
		return leave(fw, q);
	case RF_CTL_STATUS:
		return rf_fw_status(fw, q);
	case RF_CTL_ABORT:
		return abort_group(fw, q);
	case RF_CTL_RESET:
		return reset(fw, q);
	case RF_CTL_RELEASE:
		return release(fw, q);
	default:
		return rf_fw_refuse(fw, RF_CTL_R_VERB, q->h.rank, 0);
	}
}
