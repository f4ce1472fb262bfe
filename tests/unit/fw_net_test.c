/* Punt and inject: ARP, ICMP echo, STATUS pages; a box that the firmware refuses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "firmware/core/internal.h"
#include "proto/rf_bytes.h"
#include "proto/rf_siphash.h"
#include "tests/unit/fw_ask.h"

static struct rf_ctl_reply reply;

static size_t put_arp(uint8_t *f, unsigned int op, uint32_t target, bool tagged)
{
	size_t l2 = tagged ? 18 : 14;

	memset(f, 0, 64);
	memset(f, 0xff, 6);
	f[6] = 2;
	f[11] = 5;
	if (tagged) {
		rf_put_be16(f + 12, 0x8100);
		rf_put_be16(f + 14, 0x6123);
	}
	rf_put_be16(f + l2 - 2, 0x0806);
	rf_put_be32(f + l2, 0x00010800);
	rf_put_be16(f + l2 + 4, 0x0604);
	rf_put_be16(f + l2 + 6, (uint16_t)op);
	f[l2 + 8] = 2;
	f[l2 + 13] = 5;
	rf_put_be32(f + l2 + 14, 0x0a000005);
	rf_put_be32(f + l2 + 24, target);
	return 60;
}

static void test_arp(void **state)
{
	static const uint8_t port3[6] = {0x02, 0x52, 0x46, 0, 0, 0x13};
	static const uint8_t asker[6] = {2, 0, 0, 0, 0, 5};
	struct fw_box *b = fw_ask_box();
	uint8_t f[64];

	(void)state;
	for (unsigned int tagged = 0; tagged < 2; tagged++) {
		size_t l2 = tagged ? 18 : 14;
		const struct fw_box_frame *o;

		fw_box_punt(b, 3, f, put_arp(f, 1, FW_BOX_IP, tagged != 0));
		assert_null(fw_box_poll(b));
		o = fw_box_out(b);
		assert_non_null(o);
		assert_int_equal(o->port, 3);
		assert_int_equal(o->len, 60);
		assert_memory_equal(o->data, asker, 6);
		assert_memory_equal(o->data + 6, port3, 6);
		if (tagged)
			assert_int_equal(rf_get_be32(o->data + 12), 0x81006123u);
		assert_int_equal(rf_get_be16(o->data + l2 - 2), 0x0806);
		assert_int_equal(rf_get_be16(o->data + l2 + 6), 2);
		assert_memory_equal(o->data + l2 + 8, port3, 6);
		assert_int_equal(rf_get_be32(o->data + l2 + 14), FW_BOX_IP);
		assert_memory_equal(o->data + l2 + 18, asker, 6);
		assert_int_equal(rf_get_be32(o->data + l2 + 24), 0x0a000005);
	}
	fw_box_punt(b, 3, f, put_arp(f, 2, FW_BOX_IP, false));
	fw_box_punt(b, 3, f, put_arp(f, 1, 0x0a000099, false));
	put_arp(f, 1, FW_BOX_IP, false);
	f[14 + 4] = 7;
	fw_box_punt(b, 3, f, 60);
	assert_null(fw_box_poll(b));
	assert_null(fw_box_out(b));
	assert_int_equal(b->fw.cnt.arp_other, 3);
	assert_int_equal(b->fw.cnt.arp_requests, 2);
	fw_box_free(b);
}

static size_t put_ping(uint8_t *f, size_t data, bool tagged)
{
	size_t l2 = tagged ? 18 : 14;
	uint8_t *ip = f + l2, *icmp = ip + 20;

	memset(f, 0, 1024);
	f[11] = 5;
	if (tagged)
		rf_put_be32(f + 12, 0x81000007u);
	rf_put_be16(ip - 2, 0x0800);
	ip[0] = 0x45;
	rf_put_be16(ip + 2, (uint16_t)(28 + data));
	rf_put_be16(ip + 4, 0x1234);
	ip[8] = 3;
	ip[9] = 1;
	rf_put_be32(ip + 12, 0x0a000005);
	rf_put_be32(ip + 16, FW_BOX_IP);
	rf_put_be16(ip + 10, (uint16_t)~rf_ctl_checksum(ip, 20, 0));
	icmp[0] = 8;
	rf_put_be32(icmp + 4, 0x00070001);
	for (size_t i = 0; i < data; i++)
		icmp[8 + i] = (uint8_t)(i * 7);
	rf_put_be16(icmp + 2, (uint16_t)~rf_ctl_checksum(icmp, 8 + data, 0));
	return l2 + 28 + data < 60 ? 60 : l2 + 28 + data;
}

static void test_icmp(void **state)
{
	struct fw_box *b = fw_ask_box();
	uint8_t f[1024];

	(void)state;
	for (size_t data = 0; data <= 978; data += 163) {
		for (unsigned int tagged = 0; tagged < 2; tagged++) {
			size_t l2 = tagged ? 18 : 14, len = put_ping(f, data, tagged != 0);
			const struct fw_box_frame *o;

			fw_box_punt(b, 1, f, len);
			assert_null(fw_box_poll(b));
			o = fw_box_out(b);
			assert_non_null(o);
			assert_int_equal(o->len, len);
			assert_int_equal(rf_ctl_checksum(o->data + l2, 20, 0), 0xffff);
			assert_int_equal(rf_ctl_checksum(o->data + l2 + 20, 8 + data, 0), 0xffff);
			assert_int_equal(rf_get_be32(o->data + l2 + 12), FW_BOX_IP);
			assert_int_equal(rf_get_be32(o->data + l2 + 16), 0x0a000005);
			assert_int_equal(o->data[l2 + 8], 64);
			assert_int_equal(o->data[l2 + 20], 0);
			assert_memory_equal(o->data + l2 + 24, f + l2 + 24, 4 + data);
		}
	}
	assert_int_equal(b->fw.cnt.icmp_echo, 14);
	put_ping(f, 30, false);
	f[60] ^= 1;
	fw_box_punt(b, 1, f, 72);
	put_ping(f, 30, false);
	f[24] ^= 1;
	fw_box_punt(b, 1, f, 72);
	put_ping(f, 60, false);
	fw_box_punt(b, 1, f, 72);
	put_ping(f, 30, false);
	f[34] = 13;
	fw_box_punt(b, 1, f, 72);
	assert_null(fw_box_poll(b));
	assert_null(fw_box_out(b));
	assert_int_equal(b->fw.cnt.icmp_other, 4);
	fw_box_free(b);
}

/* The inject buffer never becomes free: every wait ends and the box keeps working. */
static void test_inject_stuck(void **state)
{
	struct fw_box *b = fw_ask_box();
	uint8_t f[64];

	(void)state;
	b->busy = UINT32_MAX / 2;
	fw_box_punt(b, 0, f, put_arp(f, 1, FW_BOX_IP, false));
	/*
	 * It retries soon, but not so often that it costs time, and reads the frame although
	 * nothing can be sent.
	 */
	assert_in_range(rf_fw_poll(&b->fw) - b->cycle, 500, 2000);
	assert_int_equal(b->punt_count, 1);
	b->cycle += 3 * FW_BOX_KHZ;
	rf_fw_poll(&b->fw);
	assert_int_equal(b->fw.cnt.inject_busy, 1);
	assert_int_equal(b->punt_count, 0);
	b->busy = 0;
	fw_box_punt(b, 0, f, put_arp(f, 1, FW_BOX_IP, false));
	assert_null(fw_box_poll(b));
	assert_non_null(fw_box_out(b));
	fw_box_free(b);
}

/*
 * One port is paused for good: requests on other ports are answered as usual; its own frames are
 * read and their answers dropped.
 */
static void test_inject_stuck_port(void **state)
{
	struct fw_box *b = fw_ask_box();
	uint8_t f[64];

	(void)state;
	b->busy = UINT32_MAX / 2;
	b->busy_ports = 1u << 1;
	for (unsigned int k = 0; k < 40; k++) {
		fw_box_punt(b, 1, f, put_arp(f, 1, FW_BOX_IP, false));
		fw_box_punt(b, 2, f, put_arp(f, 1, FW_BOX_IP, false));
		b->cycle += FW_BOX_KHZ;
		rf_fw_poll(&b->fw);
		if (k < 4)
			continue;
		assert_int_equal(b->punt_count, 0);
		assert_non_null(fw_box_out(b));
	}
	assert_true(b->fw.cnt.inject_busy > 30);
	assert_true(b->fw.cnt.arp_requests > 36);
	fw_box_free(b);
}

static void test_status(void **state)
{
	struct fw_box *b = fw_ask_box();
	struct fw_ask a = fw_ask_join(0, 2);

	(void)state;
	fw_ask_accepted(b, &a);
	a = fw_ask_join(1, 2);
	assert_int_equal(fw_ask_result(b, &a, &reply), RF_CTL_READY);
	while (fw_box_out(b))
		;
	b->group[0][RF_GROUP_HEAD / 4] = 11;
	b->group[0][RF_GROUP_TAIL / 4] = 9;
	b->conn[RF_FW_CID(0, 0, 1)][RF_CONN_NEXT / 4] = 12;
	b->conn[RF_FW_CID(0, 0, 1)][RF_CONN_UNA / 4] = 9;
	b->counter[2][RF_CNT_ICRC] = 5;
	a.h.verb = RF_CTL_STATUS;
	memset(&a.r, 0, sizeof(a.r));
	a.r.u.status.page = RF_CTL_PAGE_GROUP;
	assert_int_equal(fw_ask_result(b, &a, &reply), RF_CTL_PAGE);
	assert_int_equal(reply.u.group.state, RF_CTL_S_READY);
	assert_int_equal(reply.u.group.head, 11);
	assert_int_equal(reply.u.group.tail, 9);
	assert_null(fw_box_run(b, 50));
	a.r.u.status.page = RF_CTL_PAGE_RANKS;
	assert_int_equal(fw_ask_result(b, &a, &reply), RF_CTL_PAGE);
	assert_int_equal(reply.u.ranks.count, 2);
	assert_int_equal(reply.u.ranks.rank[1].next, 12);
	assert_int_equal(reply.u.ranks.rank[1].flags, RF_CTL_RANK_JOINED);
	assert_int_equal(reply.u.ranks.rank[1].age_ms, 0);
	assert_in_range(reply.u.ranks.rank[0].age_ms, 49, 51);
	a.r.u.status.page = RF_CTL_PAGE_BOX;
	assert_int_equal(fw_ask_result(b, &a, &reply), RF_CTL_PAGE);
	assert_int_equal(reply.u.box.ports, 4);
	assert_int_equal(reply.u.box.port, 1);
	assert_int_equal(reply.u.box.connections, 4);
	assert_int_equal(reply.u.box.hslots_free, 512 - 64);
	a.r.u.status.page = RF_CTL_PAGE_PORT;
	a.r.u.status.index = 2;
	assert_int_equal(fw_ask_result(b, &a, &reply), RF_CTL_PAGE);
	assert_int_equal(reply.u.counters.count, RF_CNT_COUNT);
	assert_int_equal(reply.u.counters.value[RF_CNT_ICRC], 5);
	a.r.u.status.page = RF_CTL_PAGE_FIRMWARE;
	assert_int_equal(fw_ask_result(b, &a, &reply), RF_CTL_PAGE);
	assert_int_equal(reply.u.counters.count, rf_fw_counter_count());
	for (unsigned int i = 0; i < reply.u.counters.count; i++)
		if (strcmp(rf_fw_counter_name(i), "groups_ready") == 0)
			assert_int_equal(reply.u.counters.value[i], 1);
	a.h.job = 0;
	a.h.rank = RF_CTL_NO_RANK;
	a.r.u.status.page = RF_CTL_PAGE_GROUPS;
	a.r.u.status.index = 0;
	assert_int_equal(fw_ask_result(b, &a, &reply), RF_CTL_PAGE);
	assert_int_equal(reply.u.groups.count, 1);
	assert_int_equal(reply.u.groups.entry[0].job, 42);
	a.r.u.status.page = RF_CTL_PAGE_GROUP;
	a.r.u.status.job = 42;
	a.r.u.status.group = 1;
	assert_int_equal(fw_ask_result(b, &a, &reply), RF_CTL_PAGE);
	assert_int_equal(reply.u.group.joined, 2);
	/* The operator ends it. */
	a.h.verb = RF_CTL_ABORT;
	memset(&a.r, 0, sizeof(a.r));
	a.r.u.abort.job = 42;
	a.r.u.abort.group = 1;
	assert_int_equal(fw_ask_result(b, &a, &reply), RF_CTL_OK);
	assert_int_equal(b->fw.group[0].reason, RF_CTL_R_OPERATOR);
	while (fw_box_out(b))
		;
	/* Its connections have no positions any more, and the answer says so. */
	a.h.verb = RF_CTL_STATUS;
	memset(&a.r, 0, sizeof(a.r));
	a.r.u.status.page = RF_CTL_PAGE_RANKS;
	a.r.u.status.job = 42;
	a.r.u.status.group = 1;
	assert_int_equal(fw_ask_result(b, &a, &reply), RF_CTL_PAGE);
	assert_int_equal(reply.u.ranks.count, 2);
	assert_int_equal(reply.u.ranks.rank[1].flags, RF_CTL_RANK_JOINED | RF_CTL_RANK_IDLE);
	assert_int_equal(reply.u.ranks.rank[1].next, 0);
	fw_box_free(b);
}

/* The length of the answer's message to a frame; 0: none. */
static size_t answer_len(struct fw_box *b, unsigned int port, const uint8_t *frame, size_t len)
{
	const struct fw_box_frame *f;
	struct rf_ctl_header h;
	struct rf_ctl_addr from;
	const uint8_t *msg;
	size_t n;

	fw_box_punt(b, port, frame, len);
	assert_null(fw_box_poll(b));
	f = fw_box_out(b);
	if (!f)
		return 0;
	assert_int_equal(rf_ctl_frame_get(f->data, f->len, &from, &msg, &n), 0);
	assert_int_equal(rf_ctl_header_get(msg, n, &h), 0);
	assert_int_equal(rf_ctl_reply_get(msg, &h, &reply), 0);
	return n;
}

/* A frame with fewer bytes of padding: a message of `len` bytes, with a correct tag. */
static size_t shortened(const struct fw_ask *a, size_t len, uint8_t *frame)
{
	uint8_t msg[RF_CTL_MESSAGE_MAX], whole[RF_CTL_FRAME_MAX];
	struct rf_ctl_addr to;
	const uint8_t *at;
	size_t n;

	assert_int_equal(rf_ctl_frame_get(whole, fw_ask_frame(a, whole), &to, &at, &n), 0);
	assert_true(len <= n);
	memcpy(msg, at, len);
	rf_put_be16(msg + 8, (uint16_t)len);
	rf_put_le64(msg + 48, rf_siphash_hole(a->key, msg, len, 48));
	return rf_ctl_frame_put(frame, RF_CTL_FRAME_MAX, &to, msg, len);
}

/*
 * A recorded STATUS that is sent again and again, with the address of the one who asked: the box
 * sends nobody more bytes than it got, and a member's works once.
 */
static void test_recorded_status(void **state)
{
	uint8_t frame[RF_CTL_FRAME_MAX];
	struct fw_box *b = fw_ask_box();
	struct fw_ask a = fw_ask_join(0, 40);
	size_t len, n;

	(void)state;
	for (unsigned int i = 0; i < 40; i++) {
		a = fw_ask_join(i, 40);
		fw_ask_result(b, &a, &reply);
	}
	while (fw_box_out(b))
		;
	a.h.verb = RF_CTL_STATUS;
	memset(&a.r, 0, sizeof(a.r));
	a.r.u.status.page = RF_CTL_PAGE_RANKS;
	len = fw_ask_frame(&a, frame);
	assert_true(answer_len(b, a.port, frame, len) > 800);
	for (unsigned int i = 0; i < 3; i++)
		assert_int_equal(answer_len(b, a.port, frame, len), 0);
	a.h.rank = RF_CTL_NO_RANK;
	a.h.job = RF_CTL_JOB_OPERATOR;
	a.r.u.status.job = 42;
	a.r.u.status.group = 1;
	for (unsigned int page = 1; page <= RF_CTL_PAGE_TREE; page++) {
		a.r.u.status.page = (uint8_t)page;
		len = fw_ask_frame(&a, frame);
		for (unsigned int i = 0; i < 3; i++) {
			n = answer_len(b, a.port, frame, len);
			assert_int_equal(reply.result, RF_CTL_PAGE);
			assert_int_equal(reply.page, page);
			assert_in_range(n, RF_CTL_HEADER, len - rf_ctl_frame_head(a.vlan));
		}
		/* Shorter than any STATUS. */
		if (n <= 72)
			continue;
		/* Without the padding: refused with the length that is needed, which is enough. */
		len = shortened(&a, n - 1u, frame);
		assert_int_equal(answer_len(b, a.port, frame, len), RF_CTL_HEADER + 40u);
		assert_int_equal(reply.u.failed.reason, RF_CTL_R_TRUNCATED);
		assert_int_equal(reply.u.failed.detail, n);
		assert_int_equal(answer_len(b, a.port, frame, shortened(&a, n, frame)), n);
		assert_int_equal(reply.page, page);
	}
	fw_box_free(b);
}

static void test_init_errors(void **state)
{
	struct fw_box *b = fw_box_new();

	(void)state;
	b->hash_bits = 12;
	assert_int_equal(fw_box_start(b), RF_FW_E_SHAPE);
	assert_int_equal(b->ctrl & 1u, 0);
	b->hash_bits = 8;
	b->cfg.epoch = 0;
	assert_int_equal(fw_box_start(b), RF_FW_E_CONFIG);
	b->cfg.epoch = 1;
	b->cfg.mac[5] = 0xfc;
	assert_int_equal(fw_box_start(b), RF_FW_E_CONFIG);
	b->cfg.mac[5] = 0xf8;
	b->cfg.nonce_ms = RF_FW_NONCE_MS_MAX + 1u;
	assert_int_equal(fw_box_start(b), RF_FW_E_CONFIG);
	b->cfg.nonce_ms = RF_FW_NONCE_MS_MAX;
	/* Without a salt the nonces would be predictable, so the firmware refuses to start. */
	b->cfg.salt[0] = 0;
	assert_int_equal(fw_box_start(b), RF_FW_E_SALT);
	assert_int_equal(b->ctrl & 1u, 0);
	b->cfg.salt[15] = 1;
	assert_int_equal(fw_box_start(b), RF_FW_OK);
	fw_box_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_arp),
		cmocka_unit_test(test_icmp),
		cmocka_unit_test(test_inject_stuck),
		cmocka_unit_test(test_inject_stuck_port),
		cmocka_unit_test(test_status),
		cmocka_unit_test(test_init_errors),
		cmocka_unit_test(test_recorded_status),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
