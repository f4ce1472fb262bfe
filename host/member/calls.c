/* The collective of a member: the all-reduce of a group, or all, at a box or among hosts. */
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
	if (m->hosts)
		return rf_hosts_start(m->hosts, id, call);
	if (call->kind != RF_SCHEDULE_ALL_REDUCE || call->type != (enum rf_arith_type)m->cfg.type ||
	    call->op != (enum rf_arith_op)m->cfg.op)
		return RF_COLL_E_INVALID;
	return rf_coll_start(m->coll, id, call->send, call->recv, (size_t)call->count);
}

int rf_member_coll_progress(struct rf_member *m)
{
	if (m->hosts)
		return rf_hosts_progress(m->hosts);
	return m->directed ? rf_directed_progress(m->directed) : rf_coll_progress(m->coll);
}

int rf_member_coll_poll(struct rf_member *m, struct rf_coll_done *done)
{
	if (m->hosts)
		return rf_hosts_poll(m->hosts, done);
	return m->directed ? rf_directed_poll(m->directed, done) : rf_coll_poll(m->coll, done);
}

uint32_t rf_member_coll_outstanding(const struct rf_member *m)
{
	if (m->hosts)
		return rf_hosts_outstanding(m->hosts);
	return m->directed ? rf_directed_outstanding(m->directed) : rf_coll_outstanding(m->coll);
}

struct rf_member_trouble rf_member_coll_trouble(const struct rf_member *m)
{
	struct rf_member_trouble t = {0};
	int channel = 0;

	if (m->hosts) {
		struct rf_hosts_failure f;

		rf_hosts_failure(m->hosts, &f);
		return (struct rf_member_trouble){f.peer, f.from, f.status, f.got, f.want};
	}
	if (m->directed) {
		struct rf_directed_failure f;

		rf_directed_failure(m->directed, &f);
		channel = f.channel;
		t = (struct rf_member_trouble){.status = f.status, .got = f.got, .want = f.want};
	} else {
		rf_coll_failure(m->coll, &channel, &t.status);
	}
	t.from = channel != 0;
	t.peer = t.from ? rf_member_prev_rank(m) : rf_member_next_rank(m);
	return t;
}

/* ---- calls ---- */

/* A call that another rank will not make cannot end. */
static void check_deserted(struct rf_member *m, uint64_t now)
{
	if (!m->deserted || m->started <= m->deserted_after || m->status)
		return;
	rf_member_blame(m, m->deserter);
	rf_member_fail(m, true, RF_ERR_MISMATCH, now,
		       "rank %u has destroyed the communicator after %llu calls, and rank %u has "
		       "made %llu: all ranks must make the same calls",
		       m->deserter, (unsigned long long)m->deserted_after, m->cfg.rank,
		       (unsigned long long)m->started);
}

int rf_member_collective(struct rf_member *m, unsigned int id, const struct rf_directed_call *call,
			 uint64_t now)
{
	int ret = RF_COLL_OK;

	if (m->phase != RF_MEMBER_RUNNING || id >= RF_REQUESTS_MAX || m->open >> id & 1u)
		return RF_ERR_INTERNAL;
	if (rf_member_calls(m) >= m->cfg.calls_max)
		return RF_ERR_BUSY;
	m->started++;
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
	check_deserted(m, now);
	return RF_OK;
}

uint64_t rf_member_started(const struct rf_member *m)
{
	return m->started;
}

void rf_member_left_there(struct rf_member *m, unsigned int rank, uint64_t started, uint64_t now)
{
	if (rank >= m->cfg.ranks || rank == m->cfg.rank ||
	    (m->deserted && m->deserted_after <= started))
		return;
	m->deserted = true;
	m->deserted_after = started;
	m->deserter = rank;
	check_deserted(m, now);
}

int rf_member_call(struct rf_member *m, unsigned int id, const void *send, void *recv, size_t count,
		   uint64_t now)
{
	struct rf_directed_call call = rf_member_all_reduce(m, send, recv, count);

	return rf_member_collective(m, id, &call, now);
}

void rf_member_call_text(const struct rf_member *m, char *text, size_t room)
{
	struct rf_directed_waiting w = {0};
	char call[80], index[24] = "";

	text[0] = '\0';
	if (m->hosts ? !rf_hosts_waiting(m->hosts, &w.number, &w.immediate)
		     : !m->directed || !rf_directed_waiting(m->directed, &w))
		return;
	if (m->directed)
		snprintf(index, sizeof(index), ", index %u", w.index & 0xffffffu);
	rf_imm_text(w.immediate, call, sizeof(call));
	/* the check of the path was call 0 */
	snprintf(text, room, "%s (call %llu%s)", call, (unsigned long long)w.number + !m->cfg.prove,
		 index);
}

bool rf_member_waits(const struct rf_member *m, uint64_t *number, uint32_t *immediate)
{
	return m->hosts && rf_hosts_waiting(m->hosts, number, immediate);
}

bool rf_member_puzzled(const struct rf_member *m)
{
	return m->hosts && m->broken_due && !m->status;
}

void rf_member_waits_there(struct rf_member *m, unsigned int rank, uint64_t number,
			   uint32_t immediate, uint64_t now)
{
	char here[80], there[80];
	uint32_t own;

	if (!m->hosts || m->status || rank >= m->cfg.ranks || rank == m->cfg.rank ||
	    !rf_hosts_immediate(m->hosts, number, &own) || own == immediate)
		return;
	rf_imm_text(own, here, sizeof(here));
	rf_imm_text(immediate, there, sizeof(there));
	rf_member_blame(m, rank);
	rf_member_fail(
		m, true, RF_ERR_MISMATCH, now,
		"call %llu is %s (immediate %08x) at rank %u and %s (%08x) at rank %u%s: all "
		"ranks must make the same calls, with the same root and counts, in the same "
		"order",
		(unsigned long long)number + !m->cfg.prove, here, own, m->cfg.rank, there,
		immediate, rank, rf_imm_apart_text(own, immediate));
}

unsigned int rf_member_calls(const struct rf_member *m)
{
	return (unsigned int)__builtin_popcountll(m->open);
}
