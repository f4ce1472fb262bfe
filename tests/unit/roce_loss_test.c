/*
 * Two hosts on a link that loses, duplicates, reorders and corrupts frames: in every case each
 * message arrives once, complete and in order. And the box's PSN shift: without the shift nothing
 * is delivered.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "proto/rf_bytes.h"
#include "tests/unit/roce_net.h"

#define MESSAGES 60
#define MAX_LEN 20000
#define SHIFT (1u << 22)

struct link {
	struct roce_net net;
	struct roce_qp *tx, *rx;
	uint32_t mtu, window;
	uint32_t shift;      /* rq_psn = sq_psn - shift */
	uint32_t wire_shift; /* what the link subtracts from PSNs of data and adds to those of
				responses */
	uint8_t retry_cnt;
	uint8_t *out[MESSAGES], *in[MESSAGES];
	uint32_t len[MESSAGES];
	uint32_t posted_tx, posted_rx, done_tx, done_rx;
	int failed;
};

static uint32_t buffers_behind; /* receives are posted late, so RNR NAKs occur */
static bool selective; /* both ends retransmit selectively: each message fills its buffer */
static bool single;    /* each message is a packet, and need not fill its buffer */

/* Two messages of three have an immediate. */
static bool has_imm(uint64_t message)
{
	return message % 3 > 0;
}

static uint32_t imm_of(uint64_t message)
{
	return (uint32_t)message * 0x9e3779b1u;
}

static void work(void *ctx)
{
	struct link *l = ctx;
	struct roce_cqe cqe;

	while (roce_qp_poll(l->tx, &cqe)) {
		if (cqe.status != ROCE_WC_SUCCESS) {
			l->failed = (int)cqe.status;
			return;
		}
		assert_int_equal(cqe.wr_id, l->done_tx);
		/* Acknowledged means: delivered. */
		assert_true(l->done_rx > l->done_tx);
		l->done_tx++;
	}
	while (l->posted_tx < MESSAGES) {
		struct roce_send_wr wr = {.wr_id = l->posted_tx,
					  .buf = l->out[l->posted_tx],
					  .len = l->len[l->posted_tx],
					  .imm = imm_of(l->posted_tx)};

		if (has_imm(l->posted_tx))
			wr.opcode = ROCE_WR_SEND_IMM;
		if (roce_qp_post_send(l->tx, &wr) != ROCE_OK)
			break;
		l->posted_tx++;
	}
	while (roce_qp_poll(l->rx, &cqe)) {
		assert_int_equal(cqe.has_imm, has_imm(l->done_rx));
		if (cqe.has_imm)
			assert_int_equal(cqe.imm, imm_of(l->done_rx));
		assert_int_equal(cqe.status, ROCE_WC_SUCCESS);
		assert_int_equal(cqe.wr_id, l->done_rx);
		assert_int_equal(cqe.len, l->len[l->done_rx]);
		assert_memory_equal(l->in[l->done_rx], l->out[l->done_rx], cqe.len);
		/* A second delivery into this buffer would be seen at the end. */
		memset(l->in[l->done_rx], 0xee, cqe.len);
		l->done_rx++;
	}
	while (l->posted_rx < MESSAGES &&
	       l->posted_rx < l->done_rx + 1 + roce_random_below(&l->net.rng, 8) &&
	       (!buffers_behind || roce_random_below(&l->net.rng, buffers_behind) == 0)) {
		struct roce_recv_wr wr = {l->posted_rx, l->in[l->posted_rx],
					  selective && !single ? l->len[l->posted_rx] : MAX_LEN};

		if (roce_qp_post_recv(l->rx, &wr) != ROCE_OK)
			break;
		l->posted_rx++;
	}
}

static int done(void *ctx)
{
	const struct link *l = ctx;

	return l->failed || (l->done_tx == MESSAGES && l->done_rx == MESSAGES);
}

/* The box, as far as PSNs are concerned. */
static int shift_hook(void *ctx, uint32_t from, uint8_t *frame, size_t len)
{
	struct link *l = ctx;
	struct roce_packet p;

	(void)from;
	if (l->wire_shift == 0 || roce_parse(frame, len, &p) != ROCE_WIRE_OK)
		return 0;
	if (roce_opcode_flags(p.opcode) & ROCE_F_ACK)
		rf_put_be24(frame + p.ip_offset + 37, p.psn + l->wire_shift);
	else
		rf_put_be24(frame + p.ip_offset + 37, p.psn - l->wire_shift);
	roce_icrc_write(frame, &p);
	return 0;
}

static struct roce_qp *make_qp(struct link *l, uint32_t host, uint32_t psn)
{
	struct roce_qp_cfg cfg;
	struct roce_qp_peer peer = {.ip = roce_net_ip(!host), .qpn = 100 + !host};
	struct roce_qp *qp;

	roce_qp_cfg_init(&cfg);
	roce_net_mac(host, cfg.mac);
	roce_net_mac(!host, peer.mac);
	cfg.ip = roce_net_ip(host);
	cfg.qpn = 100 + host;
	cfg.sq_psn = psn;
	cfg.rq_psn = (psn - l->shift) & ROCE_PSN_MASK;
	cfg.mtu = l->mtu;
	cfg.window = l->window;
	cfg.sq_depth = 7;
	cfg.rq_depth = 9;
	cfg.ack_timeout = 20000;
	cfg.ack_timeout_max = 200000;
	cfg.retry_cnt = l->retry_cnt;
	cfg.selective = selective;
	cfg.single = single;
	assert_int_equal(roce_qp_create(&cfg, &qp), ROCE_OK);
	assert_int_equal(roce_qp_to_rtr(qp, &peer), ROCE_OK);
	assert_int_equal(roce_qp_to_rts(qp), ROCE_OK);
	assert_int_equal(roce_endpoint_add_qp(l->net.hosts[host], qp), ROCE_OK);
	return qp;
}

static void link_start(struct link *l, struct roce_random rng, uint32_t mtu, uint32_t window,
		       uint32_t shift, uint8_t retry_cnt)
{
	uint32_t psn;

	memset(l, 0, sizeof(*l));
	roce_net_init(&l->net, rng);
	l->net.hook = shift_hook;
	l->net.hook_ctx = l;
	l->net.work = work;
	l->net.done = done;
	l->net.ctx = l;
	l->mtu = mtu;
	l->window = window;
	l->shift = shift;
	l->wire_shift = shift;
	l->retry_cnt = retry_cnt;
	roce_net_host(&l->net);
	roce_net_host(&l->net);
	/* Close to the end of the PSN space, so that it wraps during the run. */
	psn = (0xffffc0u + roce_random_below(&l->net.rng, 100)) & ROCE_PSN_MASK;
	l->tx = make_qp(l, 0, psn);
	l->rx = make_qp(l, 1, psn);
	for (uint32_t i = 0; i < MESSAGES; i++) {
		l->len[i] = roce_random_below(&l->net.rng, 4)
				    ? roce_random_below(&l->net.rng, MAX_LEN)
				    : roce_random_below(&l->net.rng, 3);
		if (single)
			l->len[i] %= mtu + 1;
		l->out[i] = malloc(MAX_LEN);
		l->in[i] = calloc(1, MAX_LEN);
		for (uint32_t k = 0; k < l->len[i]; k++)
			l->out[i][k] = (uint8_t)roce_random(&l->net.rng);
	}
}

static void link_end(struct link *l)
{
	roce_net_free(&l->net);
	roce_qp_destroy(l->tx);
	roce_qp_destroy(l->rx);
	for (uint32_t i = 0; i < MESSAGES; i++) {
		free(l->out[i]);
		free(l->in[i]);
	}
}

/* No message was delivered a second time over what work() wrote. */
static void link_check(const struct link *l)
{
	for (uint32_t i = 0; i < MESSAGES; i++)
		for (uint32_t k = 0; k < l->len[i]; k++)
			assert_int_equal(l->in[i][k], 0xee);
}

static void every_fault(void)
{
	struct roce_random rng = roce_random_start("roce_loss_test");
	static const uint32_t faults[][4] = {
		/* loss, duplicate, reorder, corrupt: per mille */
		{0, 0, 0, 0},   {10, 0, 0, 0},    {100, 0, 0, 0},
		{300, 0, 0, 0}, {0, 200, 0, 0},   {0, 0, 100, 0},
		{0, 0, 0, 100}, {50, 50, 50, 50}, {200, 100, 100, 100},
	};

	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		uint64_t damaged = 0, again = 0;

		for (unsigned int run = 0; run < 60; run++) {
			static const uint32_t mtus[] = {256, 1024, 4096};
			static const uint32_t windows[] = {1, 2, 16, 256};
			struct link l;

			buffers_behind = run % 3 == 2 ? 4 : 0;
			link_start(&l, roce_random_seed(roce_random(&rng)), mtus[run % 3],
				   windows[run % 4], run % 2 ? SHIFT : 0, ROCE_RETRY_FOREVER);
			l.net.loss = faults[i][0];
			l.net.duplicate = faults[i][1];
			l.net.reorder = faults[i][2];
			l.net.corrupt = faults[i][3];
			if (!roce_net_run(&l.net, 20000000000u) || l.failed)
				fail_msg("faults %zu run %u: %u sent, %u received", i, run,
					 l.done_tx, l.done_rx);
			link_check(&l);
			if (i == 0 && !buffers_behind)
				assert_int_equal(roce_qp_counters(l.tx)->tx_retransmits, 0);
			damaged += roce_endpoint_counters(l.net.hosts[1])->rx_icrc > 0;
			again += roce_qp_counters(l.tx)->tx_retransmits > 0;
			assert_int_equal(roce_qp_in_flight(l.tx), 0);
			link_end(&l);
		}
		/* Single packets are so few that a run may be spared. */
		if (faults[i][3] > 0)
			assert_true(damaged == 60 || (single && damaged > 30));
		if (faults[i][0] >= 100)
			assert_true(again == 60 || (single && again > 30));
	}
}

static void every_fault_alone_and_together(void **state)
{
	(void)state;
	every_fault();
}

static void every_fault_selective(void **state)
{
	(void)state;
	selective = true;
	every_fault();
	selective = false;
}

static void every_fault_single_packets(void **state)
{
	(void)state;
	single = true;
	every_fault();
	selective = true;
	every_fault();
	single = selective = false;
}

/* A rule is removed during the run: packets that bypass the box carry PSNs that the receiver does
 * not expect. */
static void nothing_raw_is_ever_delivered(void **state)
{
	struct roce_random rng = roce_random_start("roce_loss_test");

	(void)state;
	for (unsigned int run = 0; run < 20; run++) {
		struct link l;
		uint64_t bytes;
		uint32_t received;

		buffers_behind = 0;
		link_start(&l, roce_random_seed(roce_random(&rng)), 1024, 64, SHIFT, 5);
		if (run % 2)
			(void)roce_net_run(&l.net, 30000);
		l.wire_shift = 0;
		/* What the box had already sent still arrives. */
		(void)roce_net_run(&l.net, 5000);
		received = l.done_rx;
		bytes = roce_qp_counters(l.rx)->rx_bytes;
		assert_int_equal(bytes > 0, run % 2);
		(void)roce_net_run(&l.net, 20000000000u);
		assert_int_equal(l.failed, ROCE_WC_RETRY_EXC_ERR);
		assert_int_equal(l.done_rx, received);
		assert_int_equal(roce_qp_counters(l.rx)->rx_bytes, bytes);
		assert_true(roce_qp_counters(l.rx)->rx_gaps > 0);
		assert_int_equal(roce_qp_state(l.rx), ROCE_QP_RTS);
		link_end(&l);
	}
}

/* The check can fail: a link that changes a byte and recomputes the ICRC is detected above. */
static int forge_hook(void *ctx, uint32_t from, uint8_t *frame, size_t len)
{
	unsigned int *countdown = ctx;
	struct roce_packet p;

	(void)from;
	if (roce_parse(frame, len, &p) == ROCE_WIRE_OK && p.payload_len > 0 && --*countdown == 0) {
		frame[p.payload_offset] ^= 1;
		roce_icrc_write(frame, &p);
	}
	return 0;
}

static int differences;

static void work_counting(void *ctx)
{
	struct link *l = ctx;
	struct roce_cqe cqe;

	while (roce_qp_poll(l->tx, &cqe))
		l->done_tx++;
	while (l->posted_tx < MESSAGES) {
		struct roce_send_wr wr = {.buf = l->out[l->posted_tx], .len = l->len[l->posted_tx]};

		if (roce_qp_post_send(l->tx, &wr) != ROCE_OK)
			break;
		l->posted_tx++;
	}
	while (roce_qp_poll(l->rx, &cqe)) {
		differences += memcmp(l->in[l->done_rx], l->out[l->done_rx], cqe.len) != 0;
		l->done_rx++;
	}
	while (l->posted_rx < MESSAGES) {
		struct roce_recv_wr wr = {0, l->in[l->posted_rx], MAX_LEN};

		if (roce_qp_post_recv(l->rx, &wr) != ROCE_OK)
			break;
		l->posted_rx++;
	}
}

static void a_forged_bit_is_seen(void **state)
{
	unsigned int countdown = 50;
	struct link l;

	(void)state;
	link_start(&l, roce_random_seed(3), 1024, 64, 0, ROCE_RETRY_FOREVER);
	l.net.hook = forge_hook;
	l.net.hook_ctx = &countdown;
	l.net.work = work_counting;
	differences = 0;
	assert_int_equal(roce_net_run(&l.net, 20000000000u), 1);
	assert_int_equal(differences, 1);
	link_end(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_fault_alone_and_together),
		cmocka_unit_test(every_fault_selective),
		cmocka_unit_test(every_fault_single_packets),
		cmocka_unit_test(nothing_raw_is_ever_delivered),
		cmocka_unit_test(a_forged_bit_is_seen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
