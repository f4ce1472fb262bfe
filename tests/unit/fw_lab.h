/*
 * A whole box with its firmware and four hosts with real control clients. For tests of the
 * firmware's effect on traffic. Failures are cmocka's.
 */
#ifndef FW_LAB_H
#define FW_LAB_H

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
#include "host/control/client.h"
#include "host/roce/wire.h"
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
static unsigned int engine_lanes = 1;

struct host {
	struct rf_client client;
	uint8_t mac[6];
	/* last RoCE frame received */
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
	unsigned int strays;   /* frames to no host */
	unsigned int qpn, psn; /* of rank 0 */
	bool strict;
	uint32_t mirrors;  /* bit per rank: its switch port has no rule */
	unsigned int high; /* rank 2's first PSN is registered too high by this much */
};

static struct lab lab;

static inline uint32_t bus_read(void *arg, uint32_t addr)
{
	struct lab *l = arg;

	return l->ops->reg_read(l->e, addr);
}

static inline void bus_write(void *arg, uint32_t addr, uint32_t value)
{
	struct lab *l = arg;

	l->ops->reg_write(l->e, addr, value);
}

static inline uint64_t now_ns(const struct lab *l)
{
	return l->ops->cycle(l->e) * (1000000u / KHZ);
}

/* The switch connected to the ports: forwards by destination MAC. */
static inline void on_tx(void *arg, unsigned int port, const uint8_t *frame, size_t len,
			 uint64_t first, uint64_t last)
{
	struct lab *l = arg;

	(void)port;
	(void)first;
	(void)last;
	/* Probes and announcements. */
	if (frame[0] & 1u)
		return;
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

static inline const struct rf_engine_ops *engine(void)
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

static inline void start(uint32_t hold_ms)
{
	struct rf_engine_cfg shape = {.ports = N,
				      .lanes = engine_lanes,
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
	cfg.probe_ms = 0;
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

static inline void finish(void)
{
	assert_null(rf_fw_check(&lab.fw));
	assert_int_equal(lab.strays, 0);
	lab.ops->destroy(lab.e);
}

static inline void send(unsigned int port, const uint8_t *frame, size_t len)
{
	assert_true(lab.ops->rx(lab.e, port, frame, len, false));
}

/*
 * A frame of host r. The switch port of a ring rank has the rule, which takes it to port r of the
 * box. That of a mirror rank has none: the switch forwards by MAC, and floods what is for all.
 */
static inline void from_host(unsigned int r, const uint8_t *frame, size_t len)
{
	bool mirror = (lab.mirrors >> r & 1u) != 0;
	bool to_all = mirror && (frame[0] & 1u) != 0;

	if (mirror && memcmp(frame, "\x02\x52\x46\x00\x00", 5) == 0)
		r = frame[5] - 0x10u;
	for (unsigned int p = 0; p < N; p++)
		if (to_all || p == r)
			send(p, frame, len);
}

/* Advances box, firmware and clients by us microseconds. */
static inline void run(unsigned int us)
{
	uint64_t end = lab.ops->cycle(lab.e) + (uint64_t)us * (KHZ / 1000u);
	uint8_t frame[RF_CLIENT_FRAME_MAX];

	while (lab.ops->cycle(lab.e) < end) {
		uint64_t now, next;
		size_t len;

		for (unsigned int r = 0; r < N; r++)
			while ((len = rf_client_tx(&lab.host[r].client, now_ns(&lab), frame,
						   sizeof(frame))) > 0)
				from_host(r, frame, len);
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

static inline uint32_t counter(unsigned int port, unsigned int n)
{
	return lab.ops->reg_read(lab.e, RF_PORT_BASE + port * RF_PORT_STRIDE + 4u * n);
}

static inline void join_all(bool shifted)
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
static inline void send_data(unsigned int r, unsigned int index)
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

/* Rank r, as receiver, acknowledges the PSN of an index. */
static inline void send_ack(unsigned int r, unsigned int index, uint32_t shift)
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

static inline void check_sum(unsigned int r, unsigned int index, uint32_t shift)
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

static inline void reduce_one(unsigned int index, uint32_t shift)
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

static inline void reduce(uint32_t shift)
{
	for (unsigned int index = 0; index < 100; index++)
		reduce_one(index, shift);
}

static inline void leave_all(bool destroyed)
{
	for (unsigned int r = 0; r < N; r++)
		rf_client_leave(&lab.host[r].client, destroyed, now_ns(&lab));
	run(2000000);
	for (unsigned int r = 0; r < N; r++)
		assert_int_equal(rf_client_state(&lab.host[r].client), RF_CLIENT_IDLE);
}

#endif
