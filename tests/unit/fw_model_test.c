/*
 * The firmware on a whole box: four hosts resolve, join and reduce; the end of a group; hold time
 * and tombstones as traffic sees them.
 *
 * usage: fw_model_test [ENGINE.so]    the reference model, or a Verilated box of 4 ports
 */
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "firmware/core/fw.h"
#include "firmware/target/linux/hal.h"
#include "host/src/control/client.h"
#include "host/src/roce/wire.h"
#include "proto/rf_bytes.h"
#include "rf_regs.h"
#include "sim/engine.h"

#define N 4u
#define BOX_IP 0x0a0000feu
#define HOST_IP(r) (0x0a000001u + (r))
#define QPN(r) (lab.qpn + (r))
#define KHZ 250000u
#define ELEMENTS 256u

static const char *engine_file;

struct host {
	struct rf_client client;
	uint8_t mac[6];
	/* last RoCE frame that came */
	uint8_t frame[ROCE_FRAME_MAX];
	size_t len;
	unsigned int count;
};

struct lab {
	const struct rf_engine_ops *ops;
	struct rf_engine *e;
	struct rf_fw fw;
	struct rf_hal hal;
	struct host host[N];
	uint64_t due;
	unsigned int strays;   /* frames for nobody */
	unsigned int qpn, psn; /* of rank 0 */
	bool strict;
	unsigned int high; /* by which rank 2's first PSN is registered too high */
};

static struct lab lab;

static uint32_t bus_read(void *arg, uint32_t addr)
{
	struct lab *l = arg;

	return l->ops->reg_read(l->e, addr);
}

static void bus_write(void *arg, uint32_t addr, uint32_t value)
{
	struct lab *l = arg;

	l->ops->reg_write(l->e, addr, value);
}

static uint64_t now_ns(const struct lab *l)
{
	return l->ops->cycle(l->e) * (1000000u / KHZ);
}

/* The switch behind the ports: by destination MAC. */
static void on_tx(void *arg, unsigned int port, const uint8_t *frame, size_t len, uint64_t first,
		  uint64_t last)
{
	struct lab *l = arg;

	(void)port;
	(void)first;
	(void)last;
	for (unsigned int r = 0; r < N; r++) {
		struct host *h = &l->host[r];

		if (memcmp(frame, h->mac, 6) != 0)
			continue;
		if (rf_client_rx(&h->client, now_ns(l), frame, len) == 0) {
			memcpy(h->frame, frame, len);
			h->len = len;
			h->count++;
		}
		return;
	}
	l->strays++;
}

static const struct rf_engine_ops *engine(void)
{
	void *so;
	rf_engine_entry *entry;

	if (!engine_file)
		return rf_model_engine();
	so = dlopen(engine_file, RTLD_NOW);
	if (!so)
		print_error("%s\n", dlerror());
	assert_non_null(so);
	*(void **)&entry = dlsym(so, RF_ENGINE_SYMBOL);
	assert_non_null(entry);
	return entry();
}

static void start(uint32_t hold_ms)
{
	struct rf_engine_cfg shape = {.ports = N,
				      .lanes = 1,
				      .width = 512,
				      .groups = 8,
				      .mtu_max = 4096,
				      .bank_log2 = 13,
				      .hdr_log2 = 9,
				      .hash_bits = 8,
				      .clock_khz = KHZ,
				      .seed = 1};
	struct rf_engine_host host = {.arg = &lab, .tx = on_tx};
	struct rf_fw_cfg cfg;
	char why[200] = "";

	memset(&lab, 0, sizeof(lab));
	lab.qpn = 0x11;
	lab.psn = 0x800000;
	lab.ops = engine();
	if (engine_file)
		lab.ops->shape(&shape);
	lab.e = lab.ops->create(&shape, &host, why, sizeof(why));
	if (!lab.e)
		print_error("%s\n", why);
	assert_non_null(lab.e);
	lab.hal = (struct rf_hal){&lab, bus_read, bus_write};
	rf_fw_cfg_default(&cfg);
	memcpy(cfg.mac, "\x02\x52\x46\x00\x00\x10", 6);
	cfg.ip = BOX_IP;
	cfg.epoch = 5;
	cfg.salt[0] = 5;
	cfg.hold_ms = hold_ms;
	cfg.tomb_ms = 3000;
	assert_int_equal(rf_fw_init(&lab.fw, &lab.hal, &cfg), RF_FW_OK);
	for (unsigned int r = 0; r < N; r++) {
		struct host *h = &lab.host[r];
		struct rf_client_cfg c = {.ip = HOST_IP(r),
					  .box_ip = BOX_IP,
					  .vlan = RF_CTL_NO_VLAN,
					  .job = 8,
					  .rank = (uint16_t)r,
					  .token = 90 + r};

		memcpy(h->mac, "\x02\x00\x00\x00\x00", 5);
		h->mac[5] = (uint8_t)(r + 1);
		memcpy(c.mac, h->mac, 6);
		rf_client_init(&h->client, &c);
	}
}

static void finish(void)
{
	assert_null(rf_fw_check(&lab.fw));
	assert_int_equal(lab.strays, 0);
	lab.ops->destroy(lab.e);
}

static void send(unsigned int port, const uint8_t *frame, size_t len)
{
	assert_true(lab.ops->rx(lab.e, port, frame, len, false));
}

/* Lets us microseconds pass in box, firmware and clients. */
static void run(unsigned int us)
{
	uint64_t end = lab.ops->cycle(lab.e) + (uint64_t)us * (KHZ / 1000u);
	uint8_t frame[RF_CLIENT_FRAME_MAX];

	while (lab.ops->cycle(lab.e) < end) {
		uint64_t now, next;
		size_t len;

		for (unsigned int r = 0; r < N; r++)
			while ((len = rf_client_tx(&lab.host[r].client, now_ns(&lab), frame,
						   sizeof(frame))) > 0)
				send(r, frame, len);
		now = lab.ops->cycle(lab.e);
		if (lab.ops->irq(lab.e) || now >= lab.due)
			lab.due = rf_fw_poll(&lab.fw);
		now = lab.ops->cycle(lab.e);
		next = now + 100 < end ? now + 100 : end;
		if (next <= now)
			break;
		if (lab.ops->next_event(lab.e) > next)
			lab.ops->jump(lab.e, next);
		else
			lab.ops->run(lab.e, next);
	}
}

static uint32_t counter(unsigned int port, unsigned int n)
{
	return lab.ops->reg_read(lab.e, RF_PORT_BASE + port * RF_PORT_STRIDE + 4u * n);
}

static void join_all(bool shifted)
{
	for (unsigned int r = 0; r < N; r++) {
		struct rf_ctl_join j = {.ranks = N,
					.dtype = RF_DTYPE_INT32,
					.mtu_log2 = 10,
					.slots_log2 = 6,
					.port = RF_CTL_NO_PORT,
					.qpn = QPN(r),
					.peer_ip = HOST_IP((r + 1) % N),
					.peer_qpn = QPN((r + 1) % N),
					.start_psn =
						lab.psn + 0x1000u * r + (r == 2 ? lab.high : 0),
					.lease_ms = 1000,
					.deadline_ms = 1000};

		if (shifted) {
			j.flags = RF_CTL_J_SHIFTED;
			j.shift = RF_CTL_SHIFT;
		}
		if (lab.strict)
			j.flags |= RF_CTL_J_STRICT;
		assert_int_equal(rf_client_join(&lab.host[r].client, &j, now_ns(&lab)), 0);
	}
	run(2000);
	for (unsigned int r = 0; r < N; r++)
		assert_int_equal(rf_client_state(&lab.host[r].client), RF_CLIENT_READY);
}

/* Rank r's packet of an index: element k is 1000 r + k. */
static void send_data(unsigned int r, unsigned int index)
{
	uint8_t payload[4 * ELEMENTS], frame[ROCE_FRAME_MAX];
	struct roce_packet p = {.ttl = 64,
				.ip_flags = 0x4000,
				.src_ip = HOST_IP(r),
				.dst_ip = HOST_IP((r + 1) % N),
				.udp_sport = 50000,
				.opcode = ROCE_OP_SEND_ONLY,
				.pkey = 0xffff,
				.qpn = QPN((r + 1) % N),
				.psn = lab.psn + 0x1000u * r + index,
				.payload = payload,
				.payload_len = sizeof(payload)};

	for (uint32_t k = 0; k < ELEMENTS; k++)
		rf_put_le32(payload + 4 * k, 1000 * r + k);
	memcpy(p.src_mac, lab.host[r].mac, 6);
	memcpy(p.dst_mac, lab.host[(r + 1) % N].mac, 6);
	send(r, frame, roce_build(&p, frame, sizeof(frame)));
}

/* Rank r, as receiver, acknowledges the PSN that it expects for an index. */
static void send_ack(unsigned int r, unsigned int index, uint32_t shift)
{
	uint8_t frame[ROCE_FRAME_MAX];
	unsigned int from = (r + N - 1) % N;
	struct roce_packet p = {.ttl = 64,
				.ip_flags = 0x4000,
				.src_ip = HOST_IP(r),
				.dst_ip = HOST_IP(from),
				.udp_sport = 50000,
				.opcode = ROCE_OP_ACK,
				.pkey = 0xffff,
				.qpn = QPN(from),
				.syndrome = ROCE_SYN_ACK,
				.msn = 1,
				.psn = lab.psn + 0x1000u * from + index - shift};

	memcpy(p.src_mac, lab.host[r].mac, 6);
	memcpy(p.dst_mac, lab.host[from].mac, 6);
	send(r, frame, roce_build(&p, frame, sizeof(frame)));
}

static void check_sum(unsigned int r, unsigned int index, uint32_t shift)
{
	const struct host *h = &lab.host[r];
	unsigned int from = (r + N - 1) % N;
	struct roce_packet p;

	assert_int_equal(roce_parse(h->frame, h->len, &p), ROCE_WIRE_OK);
	assert_true(roce_icrc_ok(h->frame, &p));
	assert_int_equal(p.src_ip, HOST_IP(from));
	assert_int_equal(p.qpn, QPN(r));
	assert_int_equal(p.psn, lab.psn + 0x1000u * from + index - shift);
	assert_int_equal(p.payload_len, 4 * ELEMENTS);
	for (uint32_t k = 0; k < ELEMENTS; k++)
		assert_int_equal(rf_get_le32(p.payload + 4 * k), 1000 * (0 + 1 + 2 + 3) + 4 * k);
}

static void reduce_one(unsigned int index, uint32_t shift)
{
	for (unsigned int r = 0; r < N; r++)
		lab.host[r].count = 0;
	for (unsigned int r = 0; r < N; r++)
		send_data(r, index);
	run(3);
	for (unsigned int r = 0; r < N; r++) {
		assert_int_equal(lab.host[r].count, 1);
		check_sum(r, index, shift);
	}
	for (unsigned int r = 0; r < N; r++)
		send_ack(r, index, shift);
	run(2);
	for (unsigned int r = 0; r < N; r++) {
		struct roce_packet p;

		/* The sender sees its own PSN acknowledged. */
		assert_int_equal(lab.host[r].count, 2);
		assert_int_equal(roce_parse(lab.host[r].frame, lab.host[r].len, &p), 0);
		assert_true(roce_icrc_ok(lab.host[r].frame, &p));
		assert_int_equal(p.psn, lab.psn + 0x1000u * r + index);
	}
}

static void reduce(uint32_t shift)
{
	for (unsigned int index = 0; index < 100; index++)
		reduce_one(index, shift);
}

static void leave_all(bool destroyed)
{
	for (unsigned int r = 0; r < N; r++)
		rf_client_leave(&lab.host[r].client, destroyed, now_ns(&lab));
	run(2000000);
	for (unsigned int r = 0; r < N; r++)
		assert_int_equal(rf_client_state(&lab.host[r].client), RF_CLIENT_IDLE);
}

static void test_sum(void **state)
{
	struct rf_ctl_status_req ask = {.page = RF_CTL_PAGE_RANKS};
	const struct rf_ctl_reply *a;

	(void)state;
	start(60000);
	join_all(true);
	reduce(RF_CTL_SHIFT);
	assert_int_equal(rf_client_status(&lab.host[0].client, &ask, now_ns(&lab)), 0);
	run(200);
	a = rf_client_answer(&lab.host[0].client);
	assert_non_null(a);
	for (unsigned int r = 0; r < N; r++) {
		assert_int_equal(a->u.ranks.rank[r].port, r);
		assert_int_equal(a->u.ranks.rank[r].next, 100);
		assert_int_equal(a->u.ranks.rank[r].sent, 100);
		assert_int_equal(a->u.ranks.rank[r].una, 100);
	}
	leave_all(false);
	/* A second group of the same ranks on the same queue pairs: its indexes begin again. */
	join_all(true);
	reduce(RF_CTL_SHIFT);
	finish();
}

/* Traffic and only traffic keeps a rank alive; then its lease runs out and the others hear who it
 * was. */
static void test_lease(void **state)
{
	(void)state;
	start(60000);
	join_all(true);
	reduce(RF_CTL_SHIFT);
	/* Rank 2's process is gone: its client is never asked for a frame again. */
	lab.host[2].client.state = RF_CLIENT_IDLE;
	run(1000000);
	assert_int_equal(rf_client_state(&lab.host[0].client), RF_CLIENT_READY);
	run(600000);
	assert_int_equal(rf_client_state(&lab.host[0].client), RF_CLIENT_FAILED);
	assert_int_equal(rf_client_failed(&lab.host[0].client)->reason, RF_CTL_R_LEASE);
	assert_int_equal(rf_client_failed(&lab.host[0].client)->rank, 2);
	/* What is still sent raw is held back while the box holds, then passes, 2^22 ahead. */
	lab.host[1].count = 0;
	send_data(0, 100);
	run(5);
	assert_int_equal(lab.host[1].count, 0);
	assert_int_equal(counter(0, RF_CNT_HOLD), 1);
	finish();
}

/* Ranks that disagree: the group fails with rank and index. */
static void test_disagree(void **state)
{
	(void)state;
	start(0);
	join_all(true);
	reduce(RF_CTL_SHIFT);
	for (unsigned int r = 0; r < N; r++) {
		uint8_t payload[64] = {0}, frame[ROCE_FRAME_MAX];
		struct roce_packet p = {.ttl = 64,
					.src_ip = HOST_IP(r),
					.dst_ip = HOST_IP((r + 1) % N),
					.udp_sport = 50000,
					.opcode = ROCE_OP_SEND_ONLY,
					.pkey = 0xffff,
					.qpn = QPN((r + 1) % N),
					.psn = lab.psn + 0x1000u * r + 100,
					.payload = payload,
					.payload_len = r == 3 ? 32 : 64};

		memcpy(p.src_mac, lab.host[r].mac, 6);
		memcpy(p.dst_mac, lab.host[(r + 1) % N].mac, 6);
		send(r, frame, roce_build(&p, frame, sizeof(frame)));
	}
	run(100);
	for (unsigned int r = 0; r < N; r++) {
		const struct rf_ctl_failed *f = rf_client_failed(&lab.host[r].client);

		assert_non_null(f);
		assert_int_equal(f->reason, RF_CTL_R_DISAGREE);
		assert_int_equal(f->rank, 3);
		assert_int_equal(f->index, 100);
	}
	assert_false(lab.ops->irq(lab.e));
	finish();
}

/* What rank r's old queue pair still sends, or acknowledges, while the new group is at work. */
static void send_late(unsigned int qpn, unsigned int psn, unsigned int index)
{
	unsigned int new_qpn = lab.qpn, new_psn = lab.psn;

	lab.qpn = qpn;
	lab.psn = psn;
	for (unsigned int r = 0; r < N; r++) {
		send_data(r, index);
		/* An old ACK on a queue pair that is gone is the host's own affair. */
		if (qpn == new_qpn)
			send_ack(r, index, RF_CTL_SHIFT);
	}
	lab.qpn = new_qpn;
	lab.psn = new_psn;
}

/*
 * A group is aborted with packets on their way, and the same job makes the next one at once: on
 * other queue pairs, and on the same ones with other PSNs. None of the late packets gets in.
 */
static void late(unsigned int qpn, unsigned int psn)
{
	unsigned int old_qpn, old_psn;
	uint32_t accepted = 0;

	start(60000);
	old_qpn = lab.qpn;
	old_psn = lab.psn;
	join_all(true);
	reduce(RF_CTL_SHIFT);
	rf_client_abort(&lab.host[1].client, RF_CTL_ABORT_EXIT, now_ns(&lab));
	run(200);
	for (unsigned int r = 0; r < N; r++) {
		struct rf_client_cfg c = lab.host[r].client.cfg;

		c.token += 1000;
		rf_client_init(&lab.host[r].client, &c);
	}
	lab.qpn = qpn;
	lab.psn = psn;
	join_all(true);
	/* At once: the old group's slots are still settling or just free. */
	for (unsigned int index = 0; index < 100; index++) {
		for (unsigned int r = 0; r < N; r++)
			lab.host[r].count = 0;
		send_late(old_qpn, old_psn, 100 + index % 50);
		run(2);
		/* An ACK of what lies behind is passed on: it says nothing new. */
		for (unsigned int r = 0; r < N; r++) {
			struct roce_packet p = {.opcode = ROCE_OP_ACK};

			if (lab.host[r].count > 0)
				roce_parse(lab.host[r].frame, lab.host[r].len, &p);
			assert_int_equal(p.opcode, ROCE_OP_ACK);
		}
		reduce_one(index, RF_CTL_SHIFT);
	}
	for (unsigned int r = 0; r < N; r++)
		accepted += counter(r, RF_CNT_ACCEPTED);
	assert_int_equal(accepted, 2 * 100 * N);
	finish();
}

static void test_late(void **state)
{
	(void)state;
	late(0x500, 0x800000); /* other queue pairs */
	late(0x11, 0x900000);  /* the same ones: the old packets are before the start */
	late(0x11, 0x700000);  /* and far ahead */
}

/* Plain connections: no raw packet passes while joining, as a tombstone, or in the hold time. */
static void test_plain(void **state)
{
	(void)state;
	start(3000);
	send_data(0, 0);
	run(5);
	assert_int_equal(counter(0, RF_CNT_HOLD), 1);
	run(3000000);
	send_data(0, 0);
	run(5);
	assert_int_equal(lab.host[1].count, 1);
	assert_int_equal(counter(0, RF_CNT_FOREIGN), 1);
	join_all(false);
	reduce(0);
	leave_all(false);
	lab.host[1].count = 0;
	send_data(0, 100);
	run(5);
	assert_int_equal(lab.host[1].count, 0);
	assert_int_equal(counter(0, RF_CNT_TOMBSTONE), 1);
	/* Its own queue pair is destroyed: whatever comes there is foreign again. */
	rf_client_leave(&lab.host[0].client, true, now_ns(&lab));
	run(2000);
	send_data(0, 100);
	send_data(1, 100);
	run(5);
	assert_int_equal(lab.host[1].count, 1);
	assert_int_equal(counter(1, RF_CNT_TOMBSTONE), 1);
	run(7000000);
	assert_int_equal(lab.fw.entries, 0);
	finish();
}

/*
 * A plain group that fails, on a box without hold time: what its endpoints still send is dropped
 * until they have been silent for the life of a tombstone, and then is anybody's.
 */
static void test_plain_failure(void **state)
{
	(void)state;
	start(0);
	join_all(false);
	reduce(0);
	lab.host[2].client.state = RF_CLIENT_IDLE;
	run(1600000);
	assert_int_equal(rf_client_failed(&lab.host[0].client)->reason, RF_CTL_R_LEASE);
	assert_int_equal(lab.fw.tombstones, N);
	for (unsigned int r = 0; r < N; r++)
		lab.host[r].count = 0;
	/* Each resends for longer than a tombstone lives without a packet. */
	for (unsigned int i = 0; i < 10; i++) {
		for (unsigned int r = 0; r < N; r++)
			send_data(r, 100);
		run(500000);
	}
	for (unsigned int r = 0; r < N; r++) {
		assert_int_equal(lab.host[r].count, 0);
		assert_int_equal(counter(r, RF_CNT_TOMBSTONE), 10);
		assert_int_equal(counter(r, RF_CNT_FOREIGN), 0);
	}
	run(7000000);
	assert_int_equal(lab.fw.entries, 0);
	send_data(0, 100);
	run(5);
	assert_int_equal(lab.host[1].count, 1);
	assert_int_equal(counter(0, RF_CNT_FOREIGN), 1);
	finish();
}

/* Registered with a first PSN that is one message too high: the group says so, no sum is sent. */
static void test_first_psn_too_high(void **state)
{
	(void)state;
	for (unsigned int strict = 0; strict < 2; strict++) {
		start(0);
		lab.strict = strict != 0;
		lab.high = 16;
		join_all(false);
		for (unsigned int r = 0; r < N; r++)
			lab.host[r].count = 0;
		for (unsigned int i = 0; i < 2; i++)
			for (unsigned int r = 0; r < N; r++)
				send_data(r, i);
		run(2000);
		assert_int_equal(counter(2, RF_CNT_BEFORE_START), 2);
		for (unsigned int r = 0; r < N; r++) {
			const struct rf_ctl_failed *f = rf_client_failed(&lab.host[r].client);

			assert_int_equal(lab.host[r].count, 0);
			if (!strict) {
				assert_null(f);
				continue;
			}
			assert_non_null(f);
			assert_int_equal(f->reason, RF_CTL_R_BEFORE_START);
			assert_int_equal(f->rank, 2);
			assert_int_equal(f->index, 0xfffff1);
			assert_int_equal(f->detail, (lab.psn + 0x2001) & 0xffffff);
		}
		finish();
	}
}

/* Rank 2 is 20 us behind the others, index after index: the hardware's samples say so. */
static void test_lag(void **state)
{
	const struct rf_fw_group *g = &lab.fw.group[0];
	uint32_t times = 0;

	(void)state;
	start(0);
	join_all(true);
	for (unsigned int index = 0; index < 1000; index++) {
		for (unsigned int r = 0; r < N; r++)
			if (r != 2)
				send_data(r, index);
		run(20);
		send_data(2, index);
		run(3);
		for (unsigned int r = 0; r < N; r++)
			send_ack(r, index, RF_CTL_SHIFT);
		run(2);
	}
	for (uint8_t m = g->first; m != RF_FW_NONE; m = lab.fw.member[m].next) {
		const struct rf_fw_member *member = &lab.fw.member[m];

		if (member->rank == 2)
			times = member->lag.times;
		else
			assert_int_equal(member->lag.times, 0);
		/* The Verilated box does not count the clocks that it jumps over. */
		if (member->rank == 2 && !engine_file)
			assert_in_range(member->lag.most_us, 19, 21);
	}
	print_message("%u samples\n", times);
	assert_true(times >= 5);
	if (!engine_file)
		assert_int_equal(g->lag[5], times); /* 16 us to 32 us */
	finish();
}

/* Host 3 as a rank of another job, whose successor is said to be host 1, where rank 0 sends. */
static void strange_join(uint16_t flags)
{
	struct rf_client *c = &lab.host[3].client;
	struct rf_client_cfg cfg = {.ip = HOST_IP(3),
				    .box_ip = BOX_IP,
				    .vlan = RF_CTL_NO_VLAN,
				    .job = 9,
				    .token = 4711};
	struct rf_ctl_join j = {.ranks = 2,
				.dtype = RF_DTYPE_INT32,
				.mtu_log2 = 10,
				.slots_log2 = 4,
				.port = RF_CTL_NO_PORT,
				.flags = flags,
				.qpn = 0x777,
				.peer_ip = HOST_IP(1),
				.peer_qpn = QPN(1),
				.shift = flags ? RF_CTL_SHIFT : 0,
				.lease_ms = RF_CTL_LEASE_NONE,
				.deadline_ms = 100000};

	memcpy(cfg.mac, lab.host[3].mac, 6);
	rf_client_init(c, &cfg);
	assert_int_equal(rf_client_join(c, &j, now_ns(&lab)), 0);
	run(2000);
}

/* No other job's JOIN cuts a connection of hosts that know nothing of it, or lets raw packets of a
 * group that has ended through. */
static void test_stranger(void **state)
{
	(void)state;
	start(0);
	strange_join(0);
	assert_int_equal(rf_client_state(&lab.host[3].client), RF_CLIENT_JOINING);
	for (unsigned int i = 0; i < 5; i++) {
		send_data(0, i);
		run(1000000);
	}
	assert_int_equal(lab.host[1].count, 5);
	assert_int_equal(counter(0, RF_CNT_FOREIGN), 5);
	finish();
	for (unsigned int k = 0; k < 2; k++) {
		start(0);
		join_all(false);
		reduce(0);
		leave_all(false);
		lab.host[1].count = 0;
		strange_join(k ? RF_CTL_J_SHIFTED : 0);
		rf_client_leave(&lab.host[3].client, true, now_ns(&lab));
		run(2000);
		rf_client_abort(&lab.host[3].client, RF_CTL_ABORT_USER, now_ns(&lab));
		run(2000);
		send_data(0, 100);
		run(5);
		assert_int_equal(lab.host[1].count, 0);
		assert_int_equal(counter(0, RF_CNT_TOMBSTONE), 1);
		finish();
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sum),           cmocka_unit_test(test_lease),
		cmocka_unit_test(test_disagree),      cmocka_unit_test(test_late),
		cmocka_unit_test(test_plain),         cmocka_unit_test(test_first_psn_too_high),
		cmocka_unit_test(test_plain_failure), cmocka_unit_test(test_lag),
		cmocka_unit_test(test_stranger),
	};

	if (argc > 1)
		engine_file = argv[1];
	return cmocka_run_group_tests(tests, NULL, NULL);
}
