/* The collective of a member: the all-reduce of a group, or all of a directed group. */
#include "host/member/internal.h"

#include <stdio.h>

#include "proto/rf_imm.h"

struct rf_directed_call rf_member_all_reduce(const struct rf_member *m, const void *send,
					     void *recv, size_t count)
{
	return (struct rf_directed_call){.kind = RF_SCHEDULE_ALL_REDUCE,
					 .type = (enum rf_arith_type)m->cfg.type,
					 .op = (enum rf_arith_op)m->cfg.op,
					 .count = count,
					 .send = send,
					 .recv = recv};
}

int rf_member_coll_start(struct rf_member *m, uint64_t id, const struct rf_directed_call *call)
{
	if (m->directed)
		return rf_directed_start(m->directed, id, call);
	if (call->kind != RF_SCHEDULE_ALL_REDUCE)
		return RF_COLL_E_INVALID;
	return rf_coll_start_as(m->coll, id, call->type, call->op, call->send, call->recv,
				(size_t)call->count);
}

int rf_member_coll_progress(struct rf_member *m)
{
	return m->directed ? rf_directed_progress(m->directed) : rf_coll_progress(m->coll);
}

int rf_member_coll_poll(struct rf_member *m, struct rf_coll_done *done)
{
	return m->directed ? rf_directed_poll(m->directed, done) : rf_coll_poll(m->coll, done);
}

uint32_t rf_member_coll_outstanding(const struct rf_member *m)
{
	return m->directed ? rf_directed_outstanding(m->directed) : rf_coll_outstanding(m->coll);
}

/* ---- calls ---- */

int rf_member_collective(struct rf_member *m, unsigned int id, const struct rf_directed_call *call,
			 uint64_t now)
{
	int ret = RF_COLL_OK;

	if (m->phase != RF_MEMBER_RUNNING || id >= RF_REQUESTS_MAX || m->open >> id & 1u)
		return RF_ERR_INTERNAL;
	if (rf_member_calls(m) >= m->cfg.calls_max)
		return RF_ERR_BUSY;
	if (!m->open)
		m->stall_due = now + m->cfg.timeout_ns;
	/* it fails together with the others */
	if (!m->status && !m->broken_due)
		ret = rf_member_coll_start(m, id, call);
	if (ret == RF_COLL_AGAIN)
		return RF_ERR_BUSY;
	if (ret != RF_COLL_OK && ret != RF_COLL_E_CHANNEL && ret != RF_COLL_E_LENGTH &&
	    ret != RF_COLL_E_IMMEDIATE)
		return RF_ERR_INTERNAL;
	m->open |= UINT64_C(1) << id;
	return RF_OK;
}

int rf_member_call(struct rf_member *m, unsigned int id, const void *send, void *recv, size_t count,
		   uint64_t now)
{
	struct rf_directed_call call = rf_member_all_reduce(m, send, recv, count);

	return rf_member_collective(m, id, &call, now);
}

void rf_member_call_text(const struct rf_member *m, char *text, size_t room)
{
	struct rf_directed_waiting w;
	char call[80];

	text[0] = '\0';
	if (!m->directed || !rf_directed_waiting(m->directed, &w))
		return;
	rf_imm_text(w.immediate, call, sizeof(call));
	/* the check of the path was call 0 */
	snprintf(text, room, "%s (call %llu, index %u)", call,
		 (unsigned long long)w.number + !m->cfg.prove, w.index & 0xffffffu);
}

unsigned int rf_member_calls(const struct rf_member *m)
{
	return (unsigned int)__builtin_popcountll(m->open);
}
