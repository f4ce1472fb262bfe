/*
 * Immediates, one packet per message, mirror connections and congestion marks: what a queue pair
 * sends and delivers, packet by packet. Here the test is the box: it sends back what it gets.
 */
#include "tests/unit/roce_pair.h"

#define MTU 256u
#define START 0xfffff8u
#define US 1000u

static uint8_t data[64 * MTU], landed[64 * MTU];

static int fill_data(void **state)
{
	(void)state;
	for (size_t k = 0; k < sizeof(data); k++)
		data[k] = (uint8_t)(k * 7 + k / MTU + 1);
	return 0;
}

static struct roce_qp *marked_qp(uint32_t window, bool selective, uint8_t tos)
{
	struct roce_qp_cfg cfg = pair_cfg(true);
	struct roce_qp_peer peer = {.mac = {2, 0, 0, 0, 0, 9}, .ip = 0x0a000009, .qpn = PAIR_QPN_A};
	struct roce_qp *qp;

	cfg.sq_psn = cfg.rq_psn = START;
	cfg.mirror = cfg.single = true;
	cfg.selective = selective;
	cfg.window = window;
	cfg.tos = tos;
	cfg.sq_depth = cfg.rq_depth = 512;
	cfg.ack_timeout = 100 * US;
	cfg.ack_timeout_max = 1000 * US;
	assert_int_equal(roce_qp_create(&cfg, &qp), ROCE_OK);
	assert_int_equal(roce_qp_to_rtr(qp, &peer), ROCE_OK);
	assert_int_equal(roce_qp_to_rts(qp), ROCE_OK);
	return qp;
}

/* Its packets cannot be marked. */
static struct roce_qp *mirror_qp(uint32_t window, bool selective)
{
	return marked_qp(window, selective, 0);
}

static void post(struct roce_qp *qp, uint64_t id, const void *buf, uint32_t len)
{
	struct roce_send_wr wr = {.wr_id = id, .opcode = ROCE_WR_SEND_IMM, .buf = buf, .len = len};

	wr.imm = 0x70000000u | (uint32_t)id;
	assert_int_equal(roce_qp_post_send(qp, &wr), ROCE_OK);
}

static void expect_recv(struct roce_qp *qp, uint64_t id, uint32_t len)
{
	struct roce_cqe cqe;

	assert_int_equal(roce_qp_poll(qp, &cqe), 1);
	assert_int_equal(cqe.opcode, ROCE_WC_RECV);
	assert_int_equal(cqe.status, ROCE_WC_SUCCESS);
	assert_int_equal(cqe.wr_id, id);
	assert_int_equal(cqe.len, len);
	assert_true(cqe.has_imm);
	assert_int_equal(cqe.imm, 0x70000000u | id);
}

/* One way with empty messages and with immediates at the end of long ones. */
static void immediates_one_way(struct roce_qp *from, struct roce_qp *to, uint64_t now)
{
	static const uint32_t lengths[] = {0, 1, MTU, MTU + 1, 3 * MTU, 0};
	struct roce_packet p;
	uint64_t k;

	for (k = 0; k < 6; k++) {
		uint32_t packets = lengths[k] <= MTU ? 1 : (lengths[k] + MTU - 1) / MTU, n;

		assert_int_equal(pair_recv(to, k, landed, lengths[k]), ROCE_OK);
		post(from, k, lengths[k] > 0 ? data : NULL, lengths[k]);
		for (n = 0; n < packets; n++) {
			assert_true(pair_take(from, now, &p));
			if (n + 1 < packets)
				assert_int_equal(p.opcode,
						 n == 0 ? ROCE_OP_SEND_FIRST : ROCE_OP_SEND_MIDDLE);
			else
				assert_int_equal(p.opcode, packets == 1 ? ROCE_OP_SEND_ONLY_IMM
									: ROCE_OP_SEND_LAST_IMM);
			/* Ethernet 14, IP 20, UDP 8, BTH 12, immediate 4, ICRC 4. */
			if (lengths[k] == 0)
				assert_int_equal(p.ip_length + 14, 62);
			roce_qp_rx(to, now, &p);
		}
		expect_recv(to, k, lengths[k]);
		assert_memory_equal(landed, data, lengths[k]);
		(void)pair_move(to, from, now);
		pair_expect(from, k, ROCE_WC_SUCCESS);
	}
}

static void immediates(bool selective)
{
	struct roce_qp_cfg a = pair_cfg(true), b = pair_cfg(false);
	struct pair p;

	a.selective = b.selective = selective;
	p = (struct pair){pair_qp(&a, true), pair_qp(&b, false), 1000};
	immediates_one_way(p.a, p.b, p.now);
	immediates_one_way(p.b, p.a, p.now);
	pair_end(&p);
}

static void immediates_both_ways(void **state)
{
	(void)state;
	immediates(false);
	immediates(true);
}

/* Packets 0, 1, ... of 8 bytes more each arrive in any order, and each finds its receive. */
static void packet_i_in_receive_i(void **state)
{
	static const uint32_t order[] = {5, 2, 7, 0, 1, 3, 3, 6, 4};
	struct roce_qp *qp = mirror_qp(16, true);
	struct roce_cqe cqe;
	uint64_t k, done = 0;

	(void)state;
	memset(landed, 0, sizeof(landed));
	for (k = 0; k < 8; k++)
		assert_int_equal(pair_recv(qp, k, landed + k * MTU, k == 4 ? 32 : MTU), ROCE_OK);
	for (k = 0; k < 9; k++) {
		uint32_t n = order[k];
		struct roce_packet p = {.opcode =
						n == 6 ? ROCE_OP_SEND_ONLY : ROCE_OP_SEND_ONLY_IMM,
					.psn = (START + n) & ROCE_PSN_MASK,
					.imm = n + 100,
					.payload = data + n,
					.payload_len = 8 * n};

		roce_qp_rx(qp, 1000, &p);
		while (roce_qp_poll(qp, &cqe)) {
			assert_int_equal(cqe.wr_id, done);
			assert_int_equal(cqe.len, 8 * done);
			assert_int_equal(cqe.has_imm, done != 6);
			if (cqe.has_imm)
				assert_int_equal(cqe.imm, done + 100);
			assert_memory_equal(landed + done * MTU, data + done, 8 * done);
			done++;
		}
		assert_int_equal(done, k < 3 ? 0 : k == 3 ? 1 : k == 4 ? 3 : k < 8 ? 4 : 8);
	}
	assert_int_equal(roce_qp_counters(qp)->rx_duplicates, 1);
	/* Without a receive: what is ahead is asked for later, what is next is told to wait. */
	pair_request(qp, ROCE_OP_SEND_ONLY_IMM, START + 9, data, 4);
	assert_int_equal(roce_qp_counters(qp)->rx_bytes, 8 * (1 + 2 + 3 + 4 + 5 + 6 + 7));
	pair_request(qp, ROCE_OP_SEND_ONLY_IMM, START + 8, data, 4);
	pair_expect_response(qp, ROCE_SYN_RNR | 1, START + 8);
	roce_qp_destroy(qp);
}

static void refuse(uint8_t opcode, uint32_t len, uint32_t room, bool selective)
{
	struct roce_qp *qp = mirror_qp(16, selective);

	assert_int_equal(pair_recv(qp, 1, landed, room), ROCE_OK);
	pair_request(qp, opcode, START, data, len);
	assert_int_equal(roce_qp_state(qp), ROCE_QP_ERR);
	pair_expect_response(qp, ROCE_SYN_NAK_INVALID_REQUEST, START);
	roce_qp_destroy(qp);
}

static void what_does_not_fit_is_refused(void **state)
{
	struct roce_send_wr wr = {.opcode = ROCE_WR_SEND_IMM, .buf = data, .len = MTU + 1};
	struct roce_qp *qp = mirror_qp(16, true);

	(void)state;
	refuse(ROCE_OP_SEND_ONLY_IMM, 33, 32, true);
	refuse(ROCE_OP_SEND_ONLY_IMM, 33, 32, false);
	refuse(ROCE_OP_SEND_ONLY_IMM, 1, 0, true);
	refuse(ROCE_OP_SEND_FIRST, MTU, MTU, true);
	refuse(ROCE_OP_SEND_LAST_IMM, MTU, MTU, true);
	refuse(ROCE_OP_WRITE_ONLY_IMM, 4, MTU, true);
	assert_int_equal(roce_qp_post_send(qp, &wr), ROCE_E_INVALID);
	roce_qp_destroy(qp);
}

static void a_mirror_pair_has_one_qpn_and_one_psn(void **state)
{
	struct roce_qp_cfg cfg = pair_cfg(true);
	struct roce_qp_peer peer = {
		.mac = {2, 0, 0, 0, 0, 9}, .ip = 0x0a000009, .qpn = PAIR_QPN_A + 1};
	struct roce_qp *qp;

	(void)state;
	cfg.mirror = true;
	assert_int_equal(roce_qp_create(&cfg, &qp), ROCE_E_INVALID);
	cfg.rq_psn = cfg.sq_psn;
	assert_int_equal(roce_qp_create(&cfg, &qp), ROCE_OK);
	assert_int_equal(roce_qp_to_rtr(qp, &peer), ROCE_E_INVALID);
	peer.qpn = PAIR_QPN_A;
	assert_int_equal(roce_qp_to_rtr(qp, &peer), ROCE_OK);
	roce_qp_destroy(qp);
}

/*
 * The box sends every packet back: data comes as the result, an ACK as the ACK of the own packet.
 * Returns how many data packets went.
 */
static unsigned int reflect(struct roce_qp *qp, uint64_t now, bool acks, uint8_t ecn)
{
	struct roce_packet p;
	unsigned int n = 0;

	while (pair_take(qp, now, &p)) {
		assert_int_equal(p.qpn, PAIR_QPN_A);
		if (p.opcode == ROCE_OP_ACK && !acks)
			continue;
		n += p.opcode == ROCE_OP_SEND_ONLY_IMM;
		p.tos |= ecn;
		if (p.opcode != ROCE_OP_CNP)
			roce_qp_rx(qp, now, &p);
	}
	return n;
}

/* Results complete receives; sends and the window wait for ACKs. */
static void results_are_not_acks(void **state)
{
	struct roce_qp *qp = mirror_qp(8, true);
	struct roce_packet p;
	uint8_t payload[MTU], zero[MTU] = {0};
	uint64_t k, now = 1000;
	unsigned int again = 0;

	(void)state;
	for (k = 0; k < 12; k++) {
		assert_int_equal(pair_recv(qp, k, landed + k * MTU, MTU), ROCE_OK);
		post(qp, k, data + k * MTU, (uint32_t)(MTU - k));
	}
	assert_int_equal(reflect(qp, now, false, 0), 8);
	for (k = 0; k < 8; k++) {
		expect_recv(qp, k, (uint32_t)(MTU - k));
		assert_memory_equal(landed + k * MTU, data + k * MTU, MTU - k);
	}
	pair_expect_none(qp);
	assert_int_equal(roce_qp_in_flight(qp), 8);
	assert_int_equal(reflect(qp, now, false, 0), 0);
	/* The results are here, so a repeat does not read the caller's bytes. It is as long. */
	now = roce_qp_next_timeout(qp);
	while (again == 0 && now < 10000 * US) {
		while (pair_take(qp, now, &p)) {
			if (p.opcode != ROCE_OP_SEND_ONLY_IMM)
				continue;
			again++;
			k = (p.psn - START) & ROCE_PSN_MASK;
			assert_int_equal(p.payload_len, MTU - k);
			memcpy(payload, p.payload, p.payload_len);
			assert_memory_equal(payload, zero, p.payload_len);
			assert_int_equal(p.imm, 0x70000000u | k);
			roce_qp_rx(qp, now, &p);
		}
		now = roce_qp_next_timeout(qp);
	}
	assert_true(again > 0);
	/* The ACK that follows a duplicate comes back and opens the window. */
	while (reflect(qp, now, true, 0) > 0)
		;
	for (k = 8; k < 12; k++)
		expect_recv(qp, k, (uint32_t)(MTU - k));
	for (k = 0; k < 12; k++)
		pair_expect(qp, k, ROCE_WC_SUCCESS);
	assert_true(roce_qp_send_idle(qp));
	roce_qp_destroy(qp);
}

/* A repeat before the result carries the data. */
static void without_a_result_the_data_is_repeated(void **state)
{
	struct roce_qp *qp = mirror_qp(8, true);
	struct roce_packet p;

	(void)state;
	post(qp, 0, data, MTU);
	assert_true(pair_take(qp, 1000, &p));
	assert_false(pair_take(qp, 1000, &p));
	assert_true(pair_take(qp, roce_qp_next_timeout(qp), &p));
	assert_memory_equal(p.payload, data, MTU);
	roce_qp_destroy(qp);
}

/* 256 messages of one packet: some ACKs per window, and one at the end. */
static void few_acks(bool selective, unsigned int most)
{
	struct roce_qp *qp = mirror_qp(64, selective);
	struct roce_cqe cqe;
	unsigned int sent = 0, received = 0;
	uint64_t k;

	for (k = 0; k < 256; k++) {
		assert_int_equal(pair_recv(qp, k, landed, MTU), ROCE_OK);
		post(qp, k, data, 16);
	}
	while (reflect(qp, 1000, true, 0) > 0)
		;
	while (roce_qp_poll(qp, &cqe)) {
		sent += cqe.opcode == ROCE_WC_SEND;
		received += cqe.opcode == ROCE_WC_RECV;
	}
	assert_int_equal(sent, 256);
	assert_int_equal(received, 256);
	assert_in_range(roce_qp_counters(qp)->tx_acks, 4, most);
	roce_qp_destroy(qp);
}

static void acks_are_few(void **state)
{
	(void)state;
	few_acks(true, 64);
	few_acks(false, 16);
}

/* The next frame is a CNP: 16 zero bytes, BECN, no ECN bits. */
static void expect_cnp(struct roce_qp *qp, uint64_t now)
{
	static const uint8_t zero[16];
	struct roce_packet p;

	assert_true(pair_take(qp, now, &p));
	assert_int_equal(p.opcode, ROCE_OP_CNP);
	assert_int_equal(p.udp_length, 40);
	assert_int_equal(p.payload_len, 16);
	assert_memory_equal(p.payload, zero, 16);
	assert_true(p.becn);
	assert_int_equal(p.tos & 3, 0);
	assert_int_equal(p.psn, 0);
}

static void mark(struct roce_qp *qp, uint64_t now, uint32_t n)
{
	struct roce_packet p = {
		.opcode = ROCE_OP_SEND_ONLY_IMM, .tos = 3, .psn = (START + n) & ROCE_PSN_MASK};

	roce_qp_rx(qp, now, &p);
}

static void cnp(struct roce_qp *qp)
{
	struct roce_packet p = {.opcode = ROCE_OP_CNP};

	roce_qp_rx(qp, 1000, &p);
}

/* Posts `n` empty messages and their receives, and sends what the window allows. */
static unsigned int fly(struct roce_qp *qp, uint32_t n, uint64_t now)
{
	struct roce_packet p;
	struct roce_cqe cqe;
	unsigned int sent = 0;

	while (roce_qp_poll(qp, &cqe))
		;
	for (uint32_t k = 0; k < n; k++) {
		(void)pair_recv(qp, k, landed, MTU); /* few are used: the queue may be full */
		post(qp, k, NULL, 0);
	}
	while (pair_take(qp, now, &p))
		sent += p.opcode == ROCE_OP_SEND_ONLY_IMM;
	return sent;
}

static void cnps_are_limited(void **state)
{
	struct roce_qp *qp = mirror_qp(64, true);

	(void)state;
	assert_int_equal(fly(qp, 64, 1000), 64);
	mark(qp, 2000, 0);
	mark(qp, 2000, 1);
	expect_cnp(qp, 2000);
	pair_expect_silence(qp, 2000);
	mark(qp, 2000 + 50 * US - 1, 2);
	pair_expect_silence(qp, 2000);
	mark(qp, 2000 + 50 * US, 3);
	expect_cnp(qp, 2000);
	pair_expect_silence(qp, 2000);
	assert_int_equal(roce_qp_counters(qp)->rx_marked, 4);
	assert_int_equal(roce_qp_counters(qp)->tx_cnps, 2);
	roce_qp_destroy(qp);
}

/* Half of what is in flight, once per round trip; then one packet more per window. */
static void halves_and_recovers(bool by_cnp)
{
	struct roce_qp *qp = mirror_qp(64, true);
	uint32_t acked, window;

	cnp(qp); /* nothing is in flight */
	assert_int_equal(roce_qp_window(qp), 64);
	assert_int_equal(fly(qp, 400, 1000), 64);
	if (by_cnp)
		cnp(qp);
	else
		mark(qp, 1000, 0);
	assert_int_equal(roce_qp_window(qp), 32);
	cnp(qp);
	assert_int_equal(roce_qp_window(qp), 32);
	assert_int_equal(fly(qp, 0, 1000), 0);
	pair_ack(qp, 1000, 0, START + 31); /* 32 are in flight, as many as may be */
	assert_int_equal(roce_qp_window(qp), 33);
	assert_int_equal(fly(qp, 0, 1000), 1);
	/* All that was in flight at the cut is acknowledged: the next cut counts. */
	pair_ack(qp, 1000, 0, START + 63);
	acked = 64;
	assert_int_equal(fly(qp, 0, 1000), 32);
	cnp(qp);
	assert_int_equal(roce_qp_window(qp), 16);
	for (window = 16; window < 64 && acked < 2000; acked++) {
		pair_ack(qp, 1000, 0, START + acked);
		assert_in_range(roce_qp_window(qp), window, window + 1);
		window = roce_qp_window(qp);
		(void)fly(qp, 1, 1000);
	}
	/* 16 + 17 + ... + 63 packets, and at most one window more. */
	assert_in_range(acked - 64, 1896, 1896 + 64);
	assert_int_equal(roce_qp_counters(qp)->window_cuts, 2);
	roce_qp_destroy(qp);
}

static void congestion_halves_the_window(void **state)
{
	(void)state;
	halves_and_recovers(true);
	halves_and_recovers(false);
}

/* Packets that can be marked: 64 at first, twice as many after each round trip, until a mark. */
static void slow_start(void **state)
{
	struct roce_qp *qp = marked_qp(400, true, 2);

	(void)state;
	assert_int_equal(roce_qp_window(qp), 64);
	assert_int_equal(fly(qp, 500, 1000), 64);
	pair_ack(qp, 1000, 0, START + 63);
	assert_int_equal(roce_qp_window(qp), 128);
	assert_int_equal(fly(qp, 0, 1000), 128);
	pair_ack(qp, 1000, 0, START + 64 + 127);
	assert_int_equal(roce_qp_window(qp), 256);
	assert_int_equal(fly(qp, 0, 1000), 256);
	cnp(qp);
	assert_int_equal(roce_qp_window(qp), 128);
	pair_ack(qp, 1000, 0, START + 192 + 127);
	assert_int_equal(roce_qp_window(qp), 129);
	roce_qp_destroy(qp);
	qp = marked_qp(100, true, 2);
	assert_int_equal(fly(qp, 200, 1000), 64);
	pair_ack(qp, 1000, 0, START + 63);
	assert_int_equal(roce_qp_window(qp), 100);
	roce_qp_destroy(qp);
}

/* The least window is two packets; on a connection between hosts a mark does not cut it. */
static void limits_of_the_cut(void **state)
{
	struct roce_qp *qp = mirror_qp(64, false);
	struct pair p = pair_start();
	struct roce_packet marked = {
		.opcode = ROCE_OP_SEND_ONLY, .tos = 3, .psn = PAIR_PSN_B, .payload = data};

	(void)state;
	assert_int_equal(fly(qp, 3, 1000), 3);
	cnp(qp);
	assert_int_equal(roce_qp_window(qp), 2);
	roce_qp_destroy(qp);
	assert_int_equal(pair_send(p.a, 1, data, 8 * MTU), ROCE_OK);
	assert_int_equal(pair_lose(p.a, 1000), 8);
	roce_qp_rx(p.a, 1000, &marked);
	assert_int_equal(roce_qp_window(p.a), 16);
	pair_expect_response(p.a, ROCE_SYN_RNR | 1, PAIR_PSN_B);
	expect_cnp(p.a, 1000);
	/* Its CNP reaches the one who sent. */
	cnp(p.a);
	assert_int_equal(roce_qp_window(p.a), 4);
	pair_end(&p);
}

/* A small window of a long message: the last packet that it allows requests an ACK. */
static void a_small_window_asks_for_acks(void **state)
{
	struct pair p = pair_start();
	struct roce_packet r;
	unsigned int k;

	(void)state;
	assert_int_equal(pair_recv(p.b, 1, landed, 64 * MTU), ROCE_OK);
	assert_int_equal(pair_send(p.a, 2, data, 64 * MTU), ROCE_OK);
	for (k = 0; k < 16; k++)
		assert_true(pair_take(p.a, p.now, &r));
	cnp(p.a);
	pair_ack(p.a, p.now, 0, PAIR_PSN_A + 7);
	assert_int_equal(roce_qp_window(p.a), 9);
	assert_true(pair_take(p.a, p.now, &r));
	assert_int_equal(r.psn, PAIR_PSN_A + 16);
	assert_true(r.ackreq);
	pair_expect_silence(p.a, p.now);
	pair_end(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(immediates_both_ways),
		cmocka_unit_test(packet_i_in_receive_i),
		cmocka_unit_test(what_does_not_fit_is_refused),
		cmocka_unit_test(a_mirror_pair_has_one_qpn_and_one_psn),
		cmocka_unit_test(results_are_not_acks),
		cmocka_unit_test(without_a_result_the_data_is_repeated),
		cmocka_unit_test(acks_are_few),
		cmocka_unit_test(cnps_are_limited),
		cmocka_unit_test(congestion_halves_the_window),
		cmocka_unit_test(slow_start),
		cmocka_unit_test(limits_of_the_cut),
		cmocka_unit_test(a_small_window_asks_for_acks),
	};

	return cmocka_run_group_tests(tests, fill_data, NULL);
}
