/* Queue pairs: the message channel over libibverbs. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "host/roce/qp.h"
#include "host/back/internal.h"
#include "proto/rf_bytes.h"
#include "ringfold/ringfold.h"

#define HOP_LIMIT 64u
/* Our RNR NAKs are rare: a receive is posted before its data can arrive. 12: 0.64 ms. */
#define MIN_RNR_TIMER 12u
#define RNR_FOREVER 7u
#define PSN_MASK 0xffffffu
/* How long an ended queue pair may take to return its work requests; it is destroyed then. */
#define FLUSH_NS UINT64_C(50000000)
#define FLUSH_STEP_NS 50000

/* ---- work requests ---- */

/* All places are free. */
static void wrs_init(struct rf_verbs_qp *qp, uint32_t n)
{
	qp->n_wrs = n;
	for (uint32_t k = 0; k < n; k++)
		qp->wrs[k].next = k + 1;
}

/* Takes a place; there is one as long as no more is posted than the queue pair was made for. */
static struct rf_verbs_wr *wr_take(struct rf_verbs_qp *qp, uint64_t id)
{
	struct rf_verbs_wr *wr;

	if (qp->free_wr == qp->n_wrs)
		return NULL;
	wr = &qp->wrs[qp->free_wr];
	qp->free_wr = wr->next;
	wr->id = id;
	wr->mem = NULL;
	wr->posted = true;
	return wr;
}

/* Frees a place, and the memory of its message. Returns the message's id. */
static uint64_t wr_end(struct rf_verbs_qp *qp, uint64_t place)
{
	struct rf_verbs_wr *wr;

	if (place >= qp->n_wrs || !qp->wrs[place].posted)
		return 0;
	wr = &qp->wrs[place];
	rf_verbs_mem_put(wr->mem);
	wr->posted = false;
	wr->next = qp->free_wr;
	qp->free_wr = (uint32_t)place;
	return wr->id;
}

/* The queue pair uses no buffer any more. */
static void wrs_end(struct rf_verbs_qp *qp)
{
	for (uint32_t k = 0; k < qp->n_wrs; k++)
		wr_end(qp, k);
}

/* ---- queue pairs ---- */

static struct rf_verbs_qp *fail_create(struct rf_verbs_qp *qp, const char *what, char *why,
				       size_t room)
{
	snprintf(why, room, "cannot create a %s: %s", what, strerror(errno));
	if (qp->qp)
		qp->v->f->destroy_qp(qp->qp);
	if (qp->cq)
		qp->v->f->destroy_cq(qp->cq);
	free(qp);
	return NULL;
}

static struct rf_verbs_qp *make(struct rf_verbs *v, uint32_t depth, char *why, size_t room)
{
	struct rf_verbs_qp *qp = calloc(1, sizeof(*qp) + 2 * depth * sizeof(qp->wrs[0]));
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 1,
		.cap = {.max_send_wr = depth,
			.max_recv_wr = depth,
			.max_send_sge = 1,
			.max_recv_sge = 1},
	};
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = v->port};

	if (!qp) {
		snprintf(why, room, "no memory");
		return NULL;
	}
	qp->v = v;
	wrs_init(qp, 2 * depth);
	qp->cq = v->f->create_cq(v->context, (int)(2 * depth), qp, v->channel, 0);
	if (!qp->cq)
		return fail_create(qp, "completion queue", why, room);
	init.send_cq = qp->cq;
	init.recv_cq = qp->cq;
	qp->qp = v->f->create_qp(v->pd, &init);
	if (!qp->qp)
		return fail_create(qp, "queue pair", why, room);
	errno = v->f->modify_qp(qp->qp, &attr,
				IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
					IBV_QP_ACCESS_FLAGS);
	if (errno)
		return fail_create(qp, "queue pair in state INIT", why, room);
	return qp;
}

int rf_verbs_qp_create(struct rf_verbs *v, uint32_t depth, struct rf_verbs_qp **out, char *why,
		       size_t room)
{
	struct rf_verbs_qp *qp = make(v, depth, why, room);

	if (!qp)
		return RF_ERR_DEVICE;
	rf_mutex_lock(&v->lock, rf_verbs_class);
	qp->next = v->qps;
	v->qps = qp;
	rf_mutex_unlock(&v->lock, rf_verbs_class);
	*out = qp;
	return RF_OK;
}

uint32_t rf_verbs_qp_number(const struct rf_verbs_qp *qp)
{
	return qp->qp ? qp->qp->qp_num : 0;
}

static enum ibv_mtu mtu_code(unsigned int bytes)
{
	enum ibv_mtu code = IBV_MTU_256;

	while (code < IBV_MTU_4096 && (128u << code) < bytes)
		code++;
	return code;
}

int rf_verbs_qp_connect(struct rf_verbs_qp *qp, const struct rf_verbs_to *to, char *why,
			size_t room)
{
	struct rf_verbs *v = qp->v;
	struct ibv_qp_attr rtr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = mtu_code(v->cfg.mtu),
		.dest_qp_num = to->qpn,
		.rq_psn = to->rq_psn & PSN_MASK,
		.min_rnr_timer = MIN_RNR_TIMER,
		.ah_attr = {.is_global = 1,
			    .port_num = v->port,
			    .grh = {.dgid = v->gid,
				    .sgid_index = v->gid_index,
				    .hop_limit = HOP_LIMIT,
				    .traffic_class = v->cfg.tclass}},
	};
	struct ibv_qp_attr rts = {
		.qp_state = IBV_QPS_RTS,
		.timeout = v->cfg.timeout,
		.retry_cnt = v->cfg.retry_cnt,
		.rnr_retry = RNR_FOREVER,
		.sq_psn = to->sq_psn & PSN_MASK,
	};
	int ret;

	rf_put_be32(rtr.ah_attr.grh.dgid.raw + 12, to->ip);
	/* NICs that derive the source port from the flow label take its low 14 bits */
	if (v->cfg.udp_sport)
		rtr.ah_attr.grh.flow_label = v->cfg.udp_sport & 0x3fffu;
	ret = v->f->modify_qp(qp->qp, &rtr,
			      IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				      IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
				      IBV_QP_MIN_RNR_TIMER);
	if (ret) {
		snprintf(why, room, "cannot connect to %u.%u.%u.%u: %s (does it answer ARP?)",
			 to->ip >> 24, to->ip >> 16 & 255, to->ip >> 8 & 255, to->ip & 255,
			 strerror(ret));
		return RF_ERR_DEVICE;
	}
	ret = v->f->modify_qp(qp->qp, &rts,
			      IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				      IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
	if (!ret)
		return RF_OK;
	snprintf(why, room, "the NIC rejects timeout %u, retry_cnt %u: %s", v->cfg.timeout,
		 v->cfg.retry_cnt, strerror(ret));
	return RF_ERR_DEVICE;
}

void rf_verbs_qp_end(struct rf_verbs_qp *qp)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};
	uint64_t until = rf_now_ns() + FLUSH_NS;
	const struct timespec step = {.tv_nsec = FLUSH_STEP_NS};
	struct ibv_wc wc;

	if (qp->status == 0)
		qp->status = ROCE_WC_FLUSHED;
	if (!qp->qp)
		return;
	qp->v->f->modify_qp(qp->qp, &attr, IBV_QP_STATE);
	/* each posted work request comes back: after that the NIC no longer uses its buffer */
	while (qp->posted && rf_now_ns() < until) {
		if (ibv_poll_cq(qp->cq, 1, &wc) > 0) {
			qp->posted--;
			wr_end(qp, wc.wr_id);
		} else {
			nanosleep(&step, NULL);
		}
	}
	/* Those that did not come back: after this the NIC cannot use their buffers either. */
	if (qp->posted) {
		qp->v->f->destroy_qp(qp->qp);
		qp->qp = NULL;
		qp->posted = 0;
	}
	wrs_end(qp);
}

void rf_verbs_qp_destroy(struct rf_verbs_qp *qp)
{
	struct rf_verbs_qp **at;
	struct rf_verbs *v;

	if (!qp)
		return;
	v = qp->v;
	rf_mutex_lock(&v->lock, rf_verbs_class);
	for (at = &v->qps; *at && *at != qp;)
		at = &(*at)->next;
	if (*at)
		*at = qp->next;
	if (qp->qp)
		v->f->destroy_qp(qp->qp);
	v->f->destroy_cq(qp->cq);
	rf_mutex_unlock(&v->lock, rf_verbs_class);
	wrs_end(qp);
	free(qp);
}

uint64_t rf_verbs_qp_progress(const struct rf_verbs_qp *qp)
{
	return qp->progress;
}

/* ---- messages ---- */

static int result_of(int error)
{
	if (error == 0)
		return RF_MSG_OK;
	return error == ENOMEM || error == EAGAIN ? RF_MSG_AGAIN : RF_MSG_FAILED;
}

/*
 * A place, and the key of the memory. An empty message has no buffer, and so neither key nor entry.
 * Returns NULL with *result: what the message's caller gets.
 */
static struct rf_verbs_wr *message_begin(struct rf_verbs_qp *qp, uint64_t id, struct ibv_sge *sge,
					 bool write, int *result)
{
	struct rf_verbs_wr *wr = qp->status ? NULL : wr_take(qp, id);

	*result = qp->status ? RF_MSG_FAILED : RF_MSG_AGAIN;
	if (!wr || sge->length == 0)
		return wr;
	wr->mem = rf_verbs_mem_get(qp->v, (const void *)(uintptr_t)sge->addr, sge->length, write,
				   &sge->lkey);
	if (wr->mem)
		return wr;
	wr_end(qp, (uint64_t)(wr - qp->wrs));
	*result = RF_MSG_FAILED;
	return NULL;
}

static int message_posted(struct rf_verbs_qp *qp, const struct rf_verbs_wr *wr, int error)
{
	int result = result_of(error);

	if (result == RF_MSG_OK)
		qp->posted++;
	else
		wr_end(qp, (uint64_t)(wr - qp->wrs));
	return result;
}

static int send_wr(struct rf_verbs_qp *qp, uint64_t id, struct ibv_send_wr *wr, const void *buf,
		   uint32_t len)
{
	struct ibv_sge sge = {.addr = (uintptr_t)buf, .length = len};
	struct ibv_send_wr *bad;
	int result;
	struct rf_verbs_wr *at = message_begin(qp, id, &sge, false, &result);

	if (!at)
		return result;
	wr->wr_id = (uint64_t)(at - qp->wrs);
	wr->sg_list = &sge;
	wr->num_sge = len > 0;
	return message_posted(qp, at, ibv_post_send(qp->qp, wr, &bad));
}

static int post_send(void *ctx, uint64_t id, const void *buf, uint32_t len)
{
	struct ibv_send_wr wr = {.opcode = IBV_WR_SEND};

	return send_wr(ctx, id, &wr, buf, len);
}

static int post_imm(void *ctx, uint64_t id, const void *buf, uint32_t len, uint32_t imm)
{
	struct ibv_send_wr wr = {.opcode = IBV_WR_SEND_WITH_IMM};
	uint8_t bytes[4];

	rf_put_be32(bytes, imm);
	memcpy(&wr.imm_data, bytes, sizeof(bytes));
	return send_wr(ctx, id, &wr, buf, len);
}

static int post_recv(void *ctx, uint64_t id, void *buf, uint32_t len)
{
	struct rf_verbs_qp *qp = ctx;
	struct ibv_sge sge = {.addr = (uintptr_t)buf, .length = len};
	struct ibv_recv_wr wr = {.sg_list = &sge, .num_sge = len > 0};
	struct ibv_recv_wr *bad;
	int result;
	struct rf_verbs_wr *at = message_begin(qp, id, &sge, true, &result);

	if (!at)
		return result;
	wr.wr_id = (uint64_t)(at - qp->wrs);
	return message_posted(qp, at, ibv_post_recv(qp->qp, &wr, &bad));
}

static int status_of(enum ibv_wc_status status)
{
	switch (status) {
	case IBV_WC_SUCCESS:
		return ROCE_WC_SUCCESS;
	case IBV_WC_LOC_LEN_ERR:
		return ROCE_WC_LOC_LEN_ERR;
	case IBV_WC_LOC_PROT_ERR:
		return ROCE_WC_LOC_PROT_ERR;
	case IBV_WC_WR_FLUSH_ERR:
		return ROCE_WC_FLUSHED;
	case IBV_WC_REM_INV_REQ_ERR:
		return ROCE_WC_REM_INV_REQ_ERR;
	case IBV_WC_REM_ACCESS_ERR:
		return ROCE_WC_REM_ACCESS_ERR;
	case IBV_WC_REM_OP_ERR:
		return ROCE_WC_REM_OP_ERR;
	case IBV_WC_RETRY_EXC_ERR:
		return ROCE_WC_RETRY_EXC_ERR;
	case IBV_WC_RNR_RETRY_EXC_ERR:
		return ROCE_WC_RNR_RETRY_EXC_ERR;
	default:
		return ROCE_WC_LOC_QP_ERR;
	}
}

static int poll_event(void *ctx, struct rf_msg_event *event)
{
	struct rf_verbs_qp *qp = ctx;
	struct ibv_wc wc;
	uint8_t bytes[4];

	/* after rf_verbs_qp_end() there is no receiver for the event */
	if (!qp->posted || ibv_poll_cq(qp->cq, 1, &wc) <= 0)
		return 0;
	qp->posted--;
	event->id = wr_end(qp, wc.wr_id);
	event->status = status_of(wc.status);
	/* for a failed one only the number is valid, and the collective only needs the status */
	event->sent = wc.status == IBV_WC_SUCCESS && !(wc.opcode & IBV_WC_RECV);
	event->len = wc.status == IBV_WC_SUCCESS && (wc.opcode & IBV_WC_RECV) ? wc.byte_len : 0;
	event->has_imm = wc.status == IBV_WC_SUCCESS && (wc.wc_flags & IBV_WC_WITH_IMM);
	memcpy(bytes, &wc.imm_data, sizeof(bytes));
	event->imm = event->has_imm ? rf_get_be32(bytes) : 0;
	if (event->status && qp->status == 0)
		qp->status = event->status;
	if (event->status == ROCE_WC_FLUSHED)
		event->status = qp->status;
	qp->progress += 1u + event->len;
	return 1;
}

struct rf_msg rf_msg_verbs(struct rf_verbs_qp *qp)
{
	static const struct rf_msg_ops ops = {post_send, post_recv, poll_event, post_imm};
	struct rf_msg msg = {&ops, qp};

	return msg;
}
