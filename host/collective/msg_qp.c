/* The message seam over our own transport. */
#include "host/collective/msg.h"
#include "host/roce/qp.h"

static int result_of(int error)
{
	if (error == ROCE_OK)
		return RF_MSG_OK;
	return error == ROCE_E_AGAIN ? RF_MSG_AGAIN : RF_MSG_FAILED;
}

static int post_send(void *ctx, uint64_t id, const void *buf, uint32_t len)
{
	struct roce_send_wr wr = {.wr_id = id, .opcode = ROCE_WR_SEND, .buf = buf, .len = len};

	return result_of(roce_qp_post_send(ctx, &wr));
}

static int post_recv(void *ctx, uint64_t id, void *buf, uint32_t len)
{
	struct roce_recv_wr wr = {.wr_id = id, .buf = buf, .len = len};

	return result_of(roce_qp_post_recv(ctx, &wr));
}

static int post_imm(void *ctx, uint64_t id, const void *buf, uint32_t len, uint32_t imm)
{
	struct roce_send_wr wr = {
		.wr_id = id, .opcode = ROCE_WR_SEND_IMM, .buf = buf, .len = len, .imm = imm};

	return result_of(roce_qp_post_send(ctx, &wr));
}

static int poll_event(void *ctx, struct rf_msg_event *event)
{
	struct roce_cqe cqe;

	if (!roce_qp_poll(ctx, &cqe))
		return 0;
	event->id = cqe.wr_id;
	event->sent = cqe.opcode == ROCE_WC_SEND;
	event->status = (int)cqe.status;
	event->len = cqe.len;
	event->has_imm = cqe.has_imm;
	event->imm = cqe.imm;
	/* "Flushed" is not informative: report why the queue pair ended. */
	if (cqe.status == ROCE_WC_FLUSHED)
		event->status = (int)roce_qp_error(ctx);
	return 1;
}

struct rf_msg rf_msg_qp(struct roce_qp *qp)
{
	static const struct rf_msg_ops ops = {post_send, post_recv, poll_event, post_imm};
	struct rf_msg msg = {&ops, qp};

	return msg;
}
