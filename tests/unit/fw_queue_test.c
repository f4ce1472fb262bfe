/*
 * The firmware against a queue of expected register accesses: every read with its answer, every
 * write with its value, in order. Any other access fails. Two ranks join a box of two ports.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "firmware/core/internal.h"
#include "proto/rf_bytes.h"

struct access {
	bool write;
	uint32_t addr, value;
};

struct rf_hal {
	struct access queue[4096];
	unsigned int count, next;
	/* Frames are written word by word; they are recorded, not listed as expected accesses. */
	bool keep_inject;
	uint8_t out[RF_CTL_FRAME_MAX];
};

static struct rf_hal hal;
static struct rf_fw fw;

uint32_t rf_hal_read(struct rf_hal *h, uint32_t addr)
{
	const struct access *a = &h->queue[h->next];

	if (h->next == h->count || a->write || a->addr != addr)
		print_error("access %u: read of 0x%06x\n", h->next, addr);
	assert_true(h->next < h->count);
	assert_false(a->write);
	assert_int_equal(a->addr, addr);
	h->next++;
	return a->value;
}

void rf_hal_write(struct rf_hal *h, uint32_t addr, uint32_t value)
{
	const struct access *a = &h->queue[h->next];

	if (h->keep_inject && addr >= RF_INJECT_DATA && addr < RF_INJECT_DATA + sizeof(h->out)) {
		rf_put_le32(h->out + (addr - RF_INJECT_DATA), value);
		return;
	}
	if (h->next == h->count || !a->write || a->addr != addr || a->value != value)
		print_error("access %u: write of 0x%08x to 0x%06x\n", h->next, value, addr);
	assert_true(h->next < h->count);
	assert_true(a->write);
	assert_int_equal(a->addr, addr);
	assert_int_equal(a->value, value);
	h->next++;
}

static void expect(bool write, uint32_t addr, uint32_t value)
{
	assert_true(hal.count < sizeof(hal.queue) / sizeof(hal.queue[0]));
	hal.queue[hal.count++] = (struct access){write, addr, value};
}

static void rd(uint32_t addr, uint32_t value)
{
	expect(false, addr, value);
}

static void wr(uint32_t addr, uint32_t value)
{
	expect(true, addr, value);
}

static void begin(void)
{
	hal.count = hal.next = 0;
	hal.keep_inject = true;
}

static void all_done(void)
{
	assert_int_equal(hal.next, hal.count);
}

#define SHAPE (2u | 1u << 8 | 8u << 16 | 2u << 20 | 7u << 25)
#define SHAPE2 (2u | 13u << 8 | 9u << 16 | 12u << 24)
#define MS 250000u
#define BOX_IP 0x0a0000feu

static void expect_time(uint32_t cycle)
{
	rd(RF_CYCLE_LO, cycle);
	rd(RF_CYCLE_HI, 0);
}

static void expect_init(void)
{
	begin();
	rd(RF_ID, 0x52464258);
	rd(RF_VERSION, 1);
	wr(RF_CTRL, RF_CTRL_HOLD_MASK);
	rd(RF_SHAPE, SHAPE);
	rd(RF_SHAPE2, SHAPE2);
	rd(RF_TYPES, 1u << RF_DTYPE_FP32 | 1u << RF_DTYPE_INT32);
	rd(RF_CLOCK_KHZ, MS);
	rd(RF_SHAPE2, SHAPE2);
	/* The connection table is emptied before the first expected access. */
	wr(RF_HASH_IP, 0);
	wr(RF_HASH_KEY, 0);
	wr(RF_HASH_VALUE, 0);
	for (uint32_t i = 0; i < 4; i++)
		for (uint32_t t = 0; t < 2; t++)
			wr(RF_HASH_WRITE, t << 16 | i);
	for (uint32_t g = 0; g < 2; g++) {
		wr(RF_GROUP_BASE + 0x40 * g + RF_GROUP_CFG, 0);
		wr(RF_GROUP_BASE + 0x40 * g + RF_GROUP_ERROR, 1u << 31);
	}
	wr(RF_MAC_HI, 0x0252);
	wr(RF_MAC_LO, 0x46000010);
	wr(RF_IP, BOX_IP);
	expect_time(500);
	wr(RF_HOLD_PORTS, 0);
	wr(RF_CTRL, RF_CTRL_ENABLE_MASK | RF_CTRL_HOLD_MASK);
}

static void start(void)
{
	struct rf_fw_cfg cfg;
	static const uint8_t mac[6] = {0x02, 0x52, 0x46, 0, 0, 0x10};

	rf_fw_cfg_default(&cfg);
	memcpy(cfg.mac, mac, 6);
	cfg.ip = BOX_IP;
	cfg.epoch = 9;
	cfg.salt[0] = 1;
	expect_init();
	assert_int_equal(rf_fw_init(&fw, &hal, &cfg), RF_FW_OK);
	all_done();
}

/* JOIN of rank r of 2, shifted. */
static size_t join(unsigned int r, uint8_t *frame)
{
	static const uint8_t key[16];
	struct rf_ctl_header h = {.verb = RF_CTL_JOIN,
				  .job = 1,
				  .rank = (uint16_t)r,
				  .seq = 2,
				  .token = 50 + r,
				  .nonce = rf_fw_nonce(&fw, 0x0a000001u + r)};
	struct rf_ctl_request q = {.u.join = {.ranks = 2,
					      .dtype = RF_DTYPE_INT32,
					      .op = RF_OP_MIN,
					      .mtu_log2 = 10,
					      .slots_log2 = 8,
					      .port = RF_CTL_NO_PORT,
					      .flags = RF_CTL_J_SHIFTED,
					      .src_ip = 0x0a000001u + r,
					      .qpn = 0x21 + r,
					      .peer_ip = 0x0a000002u - r,
					      .peer_qpn = 0x22 - r,
					      .start_psn = 0x700 + r,
					      .shift = RF_CTL_SHIFT,
					      .lease_ms = 4000,
					      .deadline_ms = 9000}};
	struct rf_ctl_addr a = {.vlan = RF_CTL_NO_VLAN,
				.src_ip = 0x0a000001u + r,
				.dst_ip = BOX_IP,
				.src_port = 50000,
				.dst_port = RF_CTL_UDP_PORT,
				.src_mac = {2, 0, 0, 0, 0, (uint8_t)(1 + r)}};
	uint8_t msg[RF_CTL_MESSAGE_MAX];
	size_t len = rf_ctl_request_put(msg, &h, &q, key);

	memset(frame, 0, RF_CTL_FRAME_MAX);
	return rf_ctl_frame_put(frame, RF_CTL_FRAME_MAX, &a, msg, len);
}

static void expect_punt(const uint8_t *frame, size_t len, unsigned int port)
{
	rd(RF_PUNT_STATUS, (uint32_t)len | (uint32_t)port << 24 | 1u << 31);
	rd(RF_INJECT_STATUS, 0);
	for (uint32_t i = 0; i < len; i += 4)
		rd(RF_PUNT_DATA + i, rf_get_le32(frame + i));
	wr(RF_PUNT_POP, 1);
}

static void expect_conn(unsigned int cid, uint32_t start_psn, uint32_t src, uint32_t peer,
			uint32_t peer_port, uint32_t qpn)
{
	uint32_t base = RF_CONN_BASE + 0x40 * cid;

	wr(base + RF_CONN_START, start_psn);
	wr(base + RF_CONN_SHIFT, RF_CTL_SHIFT);
	wr(base + RF_CONN_SRC_IP, src);
	wr(base + RF_CONN_PEER_IP, peer);
	wr(base + RF_CONN_PEER_PORT, peer_port);
	wr(base + RF_CONN_QPN, qpn);
	wr(base + RF_CONN_INIT, 1);
}

/* One entry in tables of one bucket: the first empty place of table 0. */
static void expect_entry(uint32_t ip, uint32_t key, uint32_t cid, uint8_t *used)
{
	uint32_t place = 0, table = 0;

	while (used[place]) {
		place++;
		assert_true(place < 4);
	}
	used[place] = 1;
	wr(RF_HASH_IP, ip);
	wr(RF_HASH_KEY, key);
	wr(RF_HASH_VALUE, cid | RF_STATE_LIVE << 16);
	wr(RF_HASH_WRITE, table << 16 | place);
}

static void test_join(void **state)
{
	uint32_t cfg =
		RF_DTYPE_INT32 << 9 | RF_OP_MIN << 6 | 10u << 13 | 1u << 17 | 1u << 22 | 8u << 27;
	uint8_t frame[RF_CTL_FRAME_MAX], used[8] = {0};
	size_t len;

	(void)state;
	start();
	/* Rank 1 first, on port 1: only its answer, because shifted ranks need no entry yet. */
	begin();
	len = join(1, frame);
	expect_time(500 + 3 * MS);
	rd(RF_IRQ, RF_IRQ_PUNT_MASK);
	expect_punt(frame, len, 1);
	wr(RF_INJECT, (42 + RF_CTL_HEADER + 36) | 1u << 24);
	rd(RF_PUNT_STATUS, 0);
	rd(RF_HELD_KEY, 0);
	rd(RF_PUNT_STATUS, 0);
	/* Next is the check of its lease, half a second from now. */
	assert_int_equal(rf_fw_poll(&fw), 500u + 503u * MS);
	all_done();
	assert_int_equal(hal.out[42 + RF_CTL_HEADER], RF_CTL_WAITING);

	/*
	 * Rank 0 completes the group: connections, INIT, group, LIVE, entries, READY, in this
	 * order.
	 */
	begin();
	len = join(0, frame);
	expect_time(500 + 4 * MS);
	rd(RF_IRQ, RF_IRQ_PUNT_MASK);
	expect_punt(frame, len, 0);
	expect_conn(0, 0x700, 0x0a000001, 0x0a000002, 1, 0x21);
	expect_conn(1, 0x701, 0x0a000002, 0x0a000001, 0, 0x22);
	wr(RF_GROUP_BASE + RF_GROUP_CFG, cfg);
	wr(RF_GROUP_BASE + RF_GROUP_DBASE, 0);
	wr(RF_GROUP_BASE + RF_GROUP_HBASE, 0);
	wr(RF_GROUP_BASE + RF_GROUP_STRAGGLER, 0);
	wr(RF_GROUP_BASE + RF_GROUP_MEMBERS0, 3);
	wr(RF_GROUP_BASE + RF_GROUP_MEMBERS1, 0);
	wr(RF_GROUP_BASE + RF_GROUP_MEMBERS2, 0);
	wr(RF_GROUP_BASE + RF_GROUP_MEMBERS3, 0);
	wr(RF_GROUP_BASE + RF_GROUP_CFG, cfg | 1u);
	expect_entry(0x0a000001, 1u << 24 | 0x21, 0, used);
	expect_entry(0x0a000002, 1u << 24 | 0x22, 1, used);
	expect_entry(0x0a000002, 0x22, 0, used);
	expect_entry(0x0a000001, 0x21, 1, used);
	wr(RF_INJECT, 42 + RF_CTL_HEADER + 32);
	rd(RF_PUNT_STATUS, 0);
	rd(RF_HELD_KEY, 0);
	/* The first tick of a live group; the measurement of which rank is last begins. */
	wr(RF_TICK, 1);
	rd(RF_LAG_STATUS, 0);
	wr(RF_LAG_ARM, 0);
	/* No rank is awaited while none has begun. */
	rd(RF_GROUP_BASE + RF_GROUP_HEAD, 0);
	rd(RF_CONN_BASE + RF_CONN_NEXT, 0);
	rd(RF_CONN_BASE + 0x40 + RF_CONN_NEXT, 0);
	/* Rank 1 gets READY without a request. */
	rd(RF_INJECT_STATUS, 0);
	wr(RF_INJECT, (42 + RF_CTL_HEADER + 32) | 1u << 24);
	rd(RF_PUNT_STATUS, 0);
	assert_int_equal(rf_fw_poll(&fw), 500u + 5u * MS);
	all_done();
	assert_int_equal(hal.out[42 + RF_CTL_HEADER], RF_CTL_READY);
	assert_int_equal(hal.out[5], 2);
	assert_null(rf_fw_check(&fw));
}

static void test_no_box(void **state)
{
	struct rf_fw_cfg cfg;

	(void)state;
	rf_fw_cfg_default(&cfg);
	begin();
	rd(RF_ID, 0xffffffff);
	assert_int_equal(rf_fw_init(&fw, &hal, &cfg), RF_FW_E_ID);
	all_done();
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_no_box),
					   cmocka_unit_test(test_join)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
