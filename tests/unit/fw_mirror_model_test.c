/*
 * Mirror ranks with real control clients on a whole box: they ask, get the address of a port, join
 * there, and reduce; ring ranks beside them; a host whose MAC has changed; directed groups and what
 * the ranks read about their errors.
 *
 * usage: fw_mirror_model_test [ENGINE.so]
 */
#include "tests/unit/fw_lab.h"

#define PORT_IP(p) (BOX_IP + 1u + (p))

static bool is_mirror(unsigned int r)
{
	return (lab.mirrors >> r & 1u) != 0;
}

static unsigned int port_of(unsigned int r)
{
	return rf_client_port_ip(&lab.host[r].client) - PORT_IP(0);
}

/* The next ring rank after r. */
static unsigned int successor(unsigned int r)
{
	do
		r = (r + 1) % N;
	while (is_mirror(r));
	return r;
}

static bool all_ready(void)
{
	for (unsigned int r = 0; r < N; r++)
		if (rf_client_state(&lab.host[r].client) != RF_CLIENT_READY)
			return false;
	return true;
}

static void join_mixed(uint32_t mirrors, uint16_t flags)
{
	lab.mirrors = mirrors;
	for (unsigned int r = 0; r < N; r++) {
		struct rf_ctl_join j = {.ranks = N,
					.dtype = RF_DTYPE_INT32,
					.mtu_log2 = 10,
					.slots_log2 = 6,
					.port = RF_CTL_NO_PORT,
					.flags = flags,
					.qpn = QPN(r),
					.start_psn = lab.psn + 0x1000u * r,
					.lease_ms = 200,
					.deadline_ms = 1000};

		if (is_mirror(r)) {
			j.flags |= RF_CTL_J_MIRROR;
		} else {
			j.flags |= RF_CTL_J_SHIFTED;
			j.shift = RF_CTL_SHIFT;
			j.peer_ip = HOST_IP(successor(r));
			j.peer_qpn = QPN(successor(r));
		}
		assert_int_equal(rf_client_join(&lab.host[r].client, &j, now_ns(&lab)), 0);
	}
	/* Of requests to all that come together a port keeps one: the others are repeated. */
	for (unsigned int ms = 0; ms < 400 && !all_ready(); ms += 5)
		run(5000);
	assert_true(all_ready());
}

/* Rank r's packet of an index; element k is 1000 r + k. */
static void send_packet(unsigned int r, unsigned int index, uint8_t opcode, uint32_t imm,
			unsigned int len)
{
	uint8_t payload[4 * ELEMENTS], frame[ROCE_FRAME_MAX];
	struct roce_packet p = {.ttl = 64,
				.ip_flags = 0x4000,
				.src_ip = HOST_IP(r),
				.udp_sport = 50000,
				.opcode = opcode,
				.imm = imm,
				.pkey = 0xffff,
				.psn = lab.psn + 0x1000u * r + index,
				.payload = payload,
				.payload_len = len};

	for (uint32_t k = 0; k < ELEMENTS; k++)
		rf_put_le32(payload + 4 * k, 1000 * r + k);
	memcpy(p.src_mac, lab.host[r].mac, 6);
	if (is_mirror(r)) {
		p.dst_ip = rf_client_port_ip(&lab.host[r].client);
		p.qpn = QPN(r);
		memcpy(p.dst_mac, "\x02\x52\x46\x00\x00\x10", 6);
		p.dst_mac[5] = (uint8_t)(p.dst_mac[5] + port_of(r));
	} else {
		p.dst_ip = HOST_IP(successor(r));
		p.qpn = QPN(successor(r));
		memcpy(p.dst_mac, lab.host[successor(r)].mac, 6);
	}
	from_host(r, frame, roce_build(&p, frame, sizeof(frame)));
}

static void expect_sum(unsigned int r, unsigned int index)
{
	const struct host *h = &lab.host[r];
	unsigned int from = r;
	struct roce_packet p;

	assert_int_equal(h->count, 1);
	assert_int_equal(roce_parse(h->frame, h->len, &p), ROCE_WIRE_OK);
	assert_true(roce_icrc_ok(h->frame, &p));
	assert_int_equal(p.dst_ip, HOST_IP(r));
	assert_int_equal(p.qpn, QPN(r));
	if (is_mirror(r)) {
		assert_int_equal(p.src_ip, rf_client_port_ip(&h->client));
		assert_int_equal(p.psn, lab.psn + 0x1000u * r + index);
	} else {
		while (successor(from) != r || is_mirror(from))
			from = (from + N - 1) % N;
		assert_int_equal(p.src_ip, HOST_IP(from));
		assert_int_equal(p.psn,
				 (lab.psn + 0x1000u * from + index - RF_CTL_SHIFT) & 0xffffff);
	}
	assert_int_equal(p.payload_len, 4 * ELEMENTS);
	for (uint32_t k = 0; k < ELEMENTS; k++)
		assert_int_equal(rf_get_le32(p.payload + 4 * k), 6000 + 4 * k);
}

static void clear(void)
{
	for (unsigned int r = 0; r < N; r++)
		lab.host[r].count = 0;
}

static void reduce_mixed(unsigned int first, unsigned int count)
{
	for (unsigned int index = first; index < first + count; index++) {
		clear();
		for (unsigned int r = 0; r < N; r++)
			send_packet(r, index, ROCE_OP_SEND_ONLY, 0, 4 * ELEMENTS);
		run(5);
		for (unsigned int r = 0; r < N; r++)
			expect_sum(r, index);
	}
}

/* Every mixture of ring and mirror ranks with at least two ring ranks, or none. */
static void test_mixed(void **state)
{
	(void)state;
	for (uint32_t mirrors = 1; mirrors < 1u << N; mirrors++) {
		unsigned int rings = 0;

		for (unsigned int r = 0; r < N; r++)
			rings += !(mirrors >> r & 1u);
		if (rings == 1)
			continue;
		start(0);
		join_mixed(mirrors, 0);
		assert_int_equal(lab.fw.entries, 2 * rings + (N - rings));
		reduce_mixed(0, 20);
		if (mirrors == 5) {
			for (unsigned int r = 0; r < N; r++)
				rf_client_leave(&lab.host[r].client, false, now_ns(&lab));
			run(100000);
			assert_int_equal(lab.fw.entries, 0);
		}
		finish();
	}
}

/*
 * A host's MAC changes. Its packets do not count, and results go to the old one, until its next
 * sign of life, which the client sends to the address of its port.
 */
static void test_changed_mac(void **state)
{
	struct host *h = &lab.host[1];
	unsigned int port;

	(void)state;
	start(0);
	join_mixed(0xf, 0);
	reduce_mixed(0, 5);
	port = port_of(1);
	h->mac[5] = 0x77;
	h->client.cfg.mac[5] = 0x77;
	clear();
	for (unsigned int r = 0; r < N; r++)
		send_packet(r, 5, ROCE_OP_SEND_ONLY, 0, 4 * ELEMENTS);
	run(10);
	assert_int_equal(counter(port, RF_CNT_WRONG_SOURCE), 1);
	for (unsigned int r = 0; r < N; r++)
		assert_int_equal(lab.host[r].count, 0);
	run(60000);
	assert_int_equal(lab.fw.cnt.mac_changed, 1);
	send_packet(1, 5, ROCE_OP_SEND_ONLY, 0, 4 * ELEMENTS);
	run(10);
	for (unsigned int r = 0; r < N; r++)
		expect_sum(r, 5);
	reduce_mixed(6, 5);
	finish();
}

/* A frame to the address of another port, to an unknown queue pair, and without the right MAC. */
static void test_strangers(void **state)
{
	uint32_t old;

	(void)state;
	start(0);
	join_mixed(0xf, 0);
	old = lab.qpn;
	lab.qpn = 0x900;
	clear();
	send_packet(0, 0, ROCE_OP_SEND_ONLY, 0, 4 * ELEMENTS);
	run(5);
	lab.qpn = old;
	assert_int_equal(counter(port_of(0), RF_CNT_UNKNOWN), 1);
	for (unsigned int r = 0; r < N; r++)
		assert_int_equal(lab.host[r].count, 0);
	finish();
}

#define IMM(kind, gives, wants, op, type, index)                                                   \
	((uint32_t)(kind) << 28 | (uint32_t)(wants) << 15 | (uint32_t)(gives) << 14 |              \
	 (uint32_t)(op) << 8 | (uint32_t)(type) << 4 | (index))

/* A reduce to rank 0 and a broadcast from rank 2 in one directed group. */
static void test_directed(void **state)
{
	(void)state;
	start(0);
	join_mixed(0xf, RF_CTL_J_DIRECTED);
	for (unsigned int index = 0; index < 20; index++) {
		bool reduce = index % 2 == 0;

		clear();
		for (unsigned int r = 0; r < N; r++) {
			bool gives = reduce || r == 2;
			bool wants = reduce ? r == 0 : r != 2;

			send_packet(r, index, ROCE_OP_SEND_ONLY_IMM,
				    IMM(reduce ? 2 : 3, gives, wants,
					reduce ? RF_OP_SUM : RF_OP_COPY, RF_DTYPE_INT32,
					index % 16),
				    gives ? 4 * ELEMENTS : 0);
		}
		run(5);
		for (unsigned int r = 0; r < N; r++) {
			bool wants = reduce ? r == 0 : r != 2;
			struct roce_packet p;

			assert_int_equal(lab.host[r].count, 1);
			assert_int_equal(roce_parse(lab.host[r].frame, lab.host[r].len, &p), 0);
			assert_int_equal(p.payload_len, wants ? 4 * ELEMENTS : 0);
			if (wants)
				assert_int_equal(rf_get_le32(p.payload + 40), reduce ? 6040 : 2010);
		}
	}
	finish();
}

/* What every rank reads about an error of rank 3 at index 0. */
static void directed_error(const uint32_t imm[N], const unsigned int len[N], const char *text)
{
	start(0);
	join_mixed(0xf, RF_CTL_J_DIRECTED);
	for (unsigned int r = 0; r < N; r++)
		send_packet(r, 0, ROCE_OP_SEND_ONLY_IMM, imm[r], len[r]);
	run(100);
	for (unsigned int r = 0; r < N; r++) {
		char got[500];

		rf_client_text(&lab.host[r].client, got, sizeof(got));
		if (!strstr(got, text))
			print_error("%s\n", got);
		assert_non_null(strstr(got, text));
	}
	finish();
}

static void test_directed_errors(void **state)
{
	uint32_t sum = IMM(1, 1, 1, RF_OP_SUM, RF_DTYPE_INT32, 0);
	uint32_t max = IMM(1, 1, 1, RF_OP_MAX, RF_DTYPE_INT32, 0);
	uint32_t next = IMM(1, 1, 1, RF_OP_SUM, RF_DTYPE_INT32, 1);
	uint32_t strange = IMM(1, 1, 1, 7, RF_DTYPE_INT32, 0);
	uint32_t copy = IMM(3, 1, 0, RF_OP_COPY, RF_DTYPE_INT32, 0);
	uint32_t take = IMM(3, 0, 1, RF_OP_COPY, RF_DTYPE_INT32, 0);
	const unsigned int all[N] = {64, 64, 64, 64};

	(void)state;
	directed_error(
		(uint32_t[N]){sum, sum, sum, max}, all,
		"ranks disagree at one index (rank 3, index 0) in the type, operation, kind, "
		"number or content of a call: it has all-reduce of int32, max "
		"(immediate 1000c230), rank 0 all-reduce of int32, sum (immediate "
		"1000c030);");
	directed_error(
		(uint32_t[N]){sum, sum, sum, sum}, (const unsigned int[N]){64, 64, 64, 32},
		"(rank 3, index 0) in the length of what they give: it has 32 bytes, another "
		"rank 64 bytes;");
	directed_error((uint32_t[N]){copy, take, take, copy}, (const unsigned int[N]){64, 0, 0, 64},
		       "(rank 3, index 0) in which of them gives: it has broadcast of int32 "
		       "(immediate 30004630), another "
		       "rank broadcast of int32 (immediate 30004630);");
	directed_error((uint32_t[N]){sum, sum, sum, next}, all,
		       "names another index than its PSN (rank 3, index 0): immediate 1000c031;");
	directed_error((uint32_t[N]){sum, sum, sum, strange}, all,
		       "does not fit the payload (rank 3, index 0): immediate 1000c730;");
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mixed),           cmocka_unit_test(test_changed_mac),
		cmocka_unit_test(test_strangers),       cmocka_unit_test(test_directed),
		cmocka_unit_test(test_directed_errors),
	};

	/* A ring rank's port may have mirror ranks too. */
	engine_lanes = N;
	if (argc > 1)
		engine_file = argv[1];
	return cmocka_run_group_tests(tests, NULL, NULL);
}
