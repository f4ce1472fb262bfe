/*
 * The check of the path: an all-reduce of one packet whose result is known in advance.
 *
 * Without it a missing rule at one switch port would show as a hang in the first real call.
 */
#include "host/member/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/member/order.h"

/* Longest wait for this packet if all processes run, whatever the group's deadline is. */
#define PROOF_NS (10000 * RF_MEMBER_MS)
/* How long to wait for the box's answer which rank it waits for, and between two such questions. */
#define WHO_NS (2000 * RF_MEMBER_MS)
/* A process that the box has not heard for so long stands still: it renews its lease every second.
 */
#define STILL_MS 3000u

static void put_known(enum rf_arith_type type, int v, uint8_t *p)
{
	float f = (float)v;
	double d = v;
	uint64_t bits = (uint64_t)v; /* of integers: as many of its low bytes as they have */
	uint32_t bits32;

	switch (type) {
	case RF_ARITH_FP32:
		memcpy(&bits32, &f, sizeof(bits32));
		bits = bits32;
		break;
	case RF_ARITH_FP64:
		memcpy(&bits, &d, sizeof(bits));
		break;
	case RF_ARITH_BF16:
		bits = rf_bf16_from_float(f);
		break;
	case RF_ARITH_FP16:
		bits = rf_fp16_from_float(f);
		break;
	default:
		break;
	}
	for (size_t k = 0; k < rf_arith_size(type); k++)
		p[k] = (uint8_t)(bits >> 8 * k);
}

/* Small whole numbers: exact in every type, different on every rank. */
static void known_values(enum rf_type type, unsigned int rank, uint8_t *to, size_t count)
{
	size_t size = rf_type_size(type);

	for (size_t i = 0; i < count; i++)
		put_known((enum rf_arith_type)type, (int)((rank * 31u + i * 7u) % 13u) - 6,
			  to + i * size);
}

/*
 * Whether the predecessor's packet bypassed the box. It is the only packet, so it cannot be ahead
 * of a lost one; it is ahead by the PSN shift that the box would have removed.
 */
static bool bypassed(const struct rf_member *m)
{
	return rf_member_has_box(m) && (m->cfg.flags & RF_CTL_J_SHIFTED) && !m->status &&
	       m->pair->ops->bypassed(m->pair);
}

/*
 * The same, but only if the box still has the group. A box that has lost it, by a reset, lets all
 * packets pass; then its answer, or the control client, gives the cause.
 */
static bool bypass_confirmed(struct rf_member *m, uint64_t now)
{
	const struct rf_ctl_status_req req = {.page = RF_CTL_PAGE_GROUP};
	const struct rf_ctl_reply *reply;

	if (!bypassed(m) || rf_member_asking(m))
		return false;
	if (!m->proof.confirmed) {
		m->proof.confirmed = now;
		m->proof.who = false;
		rf_member_ask(m, &req, now);
		return false;
	}
	reply = rf_member_answer(m);
	return reply && reply->result == RF_CTL_PAGE && reply->page == RF_CTL_PAGE_GROUP &&
	       reply->u.group.state == RF_CTL_S_READY;
}

/*
 * The deadline has passed. The box is asked which rank it waits for: if the process of that rank
 * stands still, this one waits for it as long as for any other call.
 */
static bool waits_longer(struct rf_member *m, uint64_t now)
{
	unsigned int late;

	if (!rf_member_has_box(m) || now >= m->proof.last)
		return false;
	if (!m->proof.who) {
		m->proof.who = rf_member_ask_stragglers(m, now);
		m->proof.until = now + WHO_NS;
		return m->proof.who;
	}
	late = rf_member_straggler(m, now);
	if (late == RF_MEMBER_NOBODY || m->straggler.rank[late].age_ms < STILL_MS)
		return false;
	m->proof.who = false;
	m->proof.until = now + WHO_NS;
	return true;
}

/* The packet did not come back: reports what this rank has seen of it. */
static void missing(struct rf_member *m, bool bypass, uint64_t now)
{
	unsigned int prev = rf_member_prev_rank(m), next = rf_member_next_rank(m);
	unsigned long long ms = (now - m->proof.begun) / RF_MEMBER_MS;
	char stragglers[300];

	if (bypass) {
		rf_member_blame(m, prev);
		rf_member_fail(
			m, true, RF_ERR_STEERING, now,
			"packets of rank %u reach rank %u without passing through the box: the "
			"switch port of rank %u lacks the rule that sends UDP port 4791 to the "
			"box",
			prev, m->cfg.rank, prev);
	} else if (rf_member_has_box(m)) {
		rf_member_blame(m, rf_member_straggler(m, now));
		rf_member_stragglers_text(m, now, stragglers, sizeof(stragglers));
		rf_member_fail(
			m, false, RF_ERR_TIMEOUT, now,
			"rank %u sent one packet and no result came back within %llu ms: run "
			"`ringfold doctor` on every host%s",
			m->cfg.rank, ms, stragglers);
	} else {
		rf_member_fail(
			m, false, RF_ERR_TIMEOUT, now,
			"no packet from rank %u, or no acknowledgement from rank %u, within %llu "
			"ms: does the network carry UDP port 4791 and frames of %u bytes?",
			prev, next, ms, m->cfg.mtu + ROCE_HEADERS_MAX + 4u);
	}
}

/* Compares the result and reports the position of the first difference. */
static void check(struct rf_member *m, uint64_t now)
{
	size_t k;

	for (k = 0; k < m->cfg.mtu; k++) {
		if (m->proof.got[k] == m->proof.want[k])
			continue;
		rf_member_fail(m, true, RF_ERR_STEERING, now,
			       "the sum of known values came back wrong at byte %zu (%02x "
			       "instead of %02x) at rank %u: packets are delivered that the "
			       "box summed incorrectly",
			       k, m->proof.got[k], m->proof.want[k], m->cfg.rank);
		return;
	}
}

/* Fills the inputs of all ranks and computes the result that must come back. */
static int prepare(struct rf_member *m, const void **own, char *why, size_t room)
{
	const void *inputs[RF_RANKS_MAX];
	size_t len = m->cfg.mtu;
	size_t count = len / rf_type_size(m->cfg.type);
	unsigned int ranks = m->cfg.ranks, r;
	uint8_t *all = aligned_alloc(64, (ranks + 2) * len);
	int ret;

	snprintf(why, room, "no memory for the check of the path");
	m->proof.room = all;
	if (!all)
		return RF_ERR_NO_MEMORY;
	ret = rf_member_add_memory(m, all, (ranks + 2) * len, why, room);
	if (ret)
		return ret;
	for (r = 0; r < ranks; r++) {
		inputs[r] = all + r * len;
		known_values(m->cfg.type, r, all + r * len, count);
	}
	m->proof.want = all + ranks * len;
	m->proof.got = m->proof.want + len;
	memset(m->proof.got, 0xa5, len);
	*own = inputs[m->cfg.rank];
	return rf_order_compute(&m->order, m->cfg.type, m->cfg.op, inputs, m->proof.want, count)
		       ? RF_ERR_INVALID
		       : RF_OK;
}

void rf_member_prove(struct rf_member *m, uint64_t now)
{
	size_t count = m->cfg.mtu / rf_type_size(m->cfg.type);
	struct rf_directed_call call;
	const void *own = NULL;
	char why[RF_MEMBER_TEXT];
	int ret = prepare(m, &own, why, sizeof(why));

	if (ret) {
		rf_member_step_done(m, ret, why);
		return;
	}
	m->proof.begun = now;
	m->proof.until = now + (m->cfg.timeout_ns < PROOF_NS ? m->cfg.timeout_ns : PROOF_NS);
	m->proof.last = now + m->cfg.timeout_ns;
	call = rf_member_all_reduce(m, own, m->proof.got, count);
	ret = rf_member_coll_start(m, RF_PROOF_ID, &call);
	if (ret != RF_COLL_OK)
		rf_member_step_done(m, RF_ERR_INTERNAL, rf_coll_error_name(ret));
	else
		rf_member_enter(m, RF_MEMBER_PROOF);
}

unsigned int rf_member_proof_progress(struct rf_member *m, uint64_t now)
{
	bool bypass = bypass_confirmed(m, now);

	if (!m->status && m->proof.until == 0)
		check(m, now);
	else if (!m->status && (bypass || now >= m->proof.until) && !m->broken_due) {
		if (!bypass && waits_longer(m, now))
			return 1;
		missing(m, bypass, now);
	} else if (!m->status)
		return 0;
	rf_member_step_done(m, m->status, m->text);
	/* if it has failed, the connections have been stopped and use no buffer any more */
	rf_member_proof_free(m);
	return 1;
}
