#include "tests/unit/fw_tree.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "firmware/core/internal.h"
#include "host/member/order.h"
#include "proto/rf_bytes.h"
#include "ringfold/ringfold.h"

#define NS 4u /* in a cycle */
#define STEP 100u
#define IMM(index) (1u << 28 | 3u << 14 | RF_OP_SUM << 8 | RF_DTYPE_FP32 << 4 | ((index)&15u))

struct tree_lab tree;

uint32_t tree_box_ip(unsigned int box)
{
	return 0x0a006410u + (box << 8);
}

static void box_mac(unsigned int box, uint8_t mac[6])
{
	memcpy(mac, "\x02\x52\x46\x00\x00\x10", 6);
	mac[4] = (uint8_t)box;
}

static uint32_t bus_read(void *arg, uint32_t addr)
{
	struct tree_box *b = arg;

	return rf_model_engine()->reg_read(b->e, addr);
}

static void bus_write(void *arg, uint32_t addr, uint32_t value)
{
	struct tree_box *b = arg;

	rf_model_engine()->reg_write(b->e, addr, value);
}

static void put(int from, const uint8_t *frame, size_t len)
{
	struct tree_frame *f = &tree.queue[(tree.head + tree.waiting++) % 256u];

	assert_true(tree.waiting <= 256);
	memcpy(f->data, frame, len);
	f->len = len;
	f->from = from;
}

static void on_tx(void *arg, unsigned int port, const uint8_t *frame, size_t len, uint64_t first,
		  uint64_t last)
{
	struct tree_box *b = arg;

	(void)port;
	(void)first;
	(void)last;
	if (!b->dead)
		put((int)b->number, frame, len);
}

void tree_init(unsigned int boxes)
{
	memset(&tree, 0, sizeof(tree));
	tree.boxes = boxes;
	for (unsigned int i = 0; i < boxes; i++) {
		struct tree_box *b = &tree.box[i];

		b->number = i;
		b->shape = (struct rf_engine_cfg){.ports = TREE_PORTS,
						  .lanes = 4,
						  .width = 512,
						  .groups = 8,
						  .mtu_max = 4096,
						  .bank_log2 = 13,
						  .hdr_log2 = 9,
						  .hash_bits = 8,
						  .clock_khz = TREE_KHZ,
						  .seed = 1};
		rf_fw_cfg_default(&b->cfg);
		box_mac(i, b->cfg.mac);
		b->cfg.ip = tree_box_ip(i);
		b->cfg.epoch = 5 + i;
		b->cfg.salt[0] = (uint8_t)(5 + i);
		b->cfg.hold_ms = 0;
		b->cfg.probe_ms = 0;
		b->cfg.announce_ms = 0;
		b->hal = (struct rf_hal){b, bus_read, bus_write};
	}
}

void tree_start_box(unsigned int box)
{
	struct tree_box *b = &tree.box[box];
	struct rf_engine_host host = {.arg = b, .tx = on_tx};
	char why[200] = "";

	if (b->e)
		rf_model_engine()->destroy(b->e);
	b->e = rf_model_engine()->create(&b->shape, &host, why, sizeof(why));
	assert_non_null(b->e);
	b->base = tree.now;
	b->due = 0;
	assert_int_equal(rf_fw_init(&b->fw, &b->hal, &b->cfg), RF_FW_OK);
}

struct tree_host *tree_add_host(unsigned int box, unsigned int rank, unsigned int ranks)
{
	struct tree_host *h = &tree.host[tree.hosts];
	struct rf_client_cfg c = {.ip = 0x0a000001u + tree.hosts,
				  .box_ip = tree_box_ip(box),
				  .vlan = RF_CTL_NO_VLAN,
				  .job = TREE_JOB,
				  .rank = (uint16_t)rank,
				  .token = 90 + tree.hosts};

	memcpy(h->mac, "\x02\x00\x00\x00\x00", 5);
	h->mac[5] = (uint8_t)(tree.hosts + 1);
	memcpy(c.mac, h->mac, 6);
	h->ip = c.ip;
	h->box = box;
	h->rank = rank;
	h->qpn = 0x11 + tree.hosts;
	h->psn = 0xfffff0u + 0x1000u * tree.hosts;
	rf_client_init(&h->client, &c);
	h->join = (struct rf_ctl_join){.ranks = (uint16_t)ranks,
				       .dtype = RF_DTYPE_FP32,
				       .mtu_log2 = 10,
				       .slots_log2 = 6,
				       .port = RF_CTL_NO_PORT,
				       .flags = RF_CTL_J_MIRROR | RF_CTL_J_DIRECTED,
				       .qpn = h->qpn,
				       .start_psn = h->psn & 0xffffffu,
				       .lease_ms = TREE_LEASE,
				       .deadline_ms = 3000};
	tree.hosts++;
	return h;
}

void tree_up(struct tree_host *h, unsigned int parent, unsigned int rank, unsigned int ranks)
{
	h->join.flags |= RF_CTL_J_UPLINK;
	h->join.up[h->join.above++] = (struct rf_ctl_uplink){.ip = tree_box_ip(parent),
							     .rank = (uint16_t)rank,
							     .ranks = (uint16_t)ranks,
							     .port = RF_CTL_NO_PORT};
}

void tree_two_levels(unsigned int leaves)
{
	tree_init(1 + leaves);
	for (unsigned int b = 0; b <= leaves; b++)
		tree_start_box(b);
	for (unsigned int b = 1; b <= leaves; b++)
		for (unsigned int r = 0; r < 3; r++)
			tree_up(tree_add_host(b, r, 3), 0, b - 1, leaves);
}

static uint64_t now_ns(void)
{
	return tree.now * NS;
}

void tree_join(struct tree_host *h)
{
	assert_int_equal(rf_client_join(&h->client, &h->join, now_ns()), 0);
}

void tree_join_all(void)
{
	for (unsigned int i = 0; i < tree.hosts; i++)
		tree_join(&tree.host[i]);
}

/* ---- the switch ---- */

/* A control message in a frame, or NULL. */
static const uint8_t *control_of(const struct tree_frame *f, struct rf_ctl_addr *a,
				 struct rf_ctl_header *h)
{
	const uint8_t *msg;
	size_t len;

	if (rf_ctl_frame_get(f->data, f->len, a, &msg, &len) != 0 ||
	    rf_ctl_header_get(msg, len, h) != 0)
		return NULL;
	return msg;
}

static void watch(const struct tree_frame *f)
{
	struct rf_ctl_addr a;
	struct rf_ctl_header h;
	struct rf_ctl_request q;
	const uint8_t *msg = f->from < 0 ? NULL : control_of(f, &a, &h);

	if (!msg || (h.flags & RF_CTL_F_REPLY) || rf_ctl_request_get(msg, &h, &q) != 0)
		return;
	tree.up_frames++;
	if (h.verb != RF_CTL_JOIN || q.u.join.qpn == tree.last_qpn)
		return;
	tree.last_qpn = q.u.join.qpn;
	if (tree.qpns++ == 0)
		tree.first_qpn = q.u.join.qpn;
}

/* A box of an older version refuses as such a box does. */
static bool refused_by_version(struct tree_box *b, const struct tree_frame *f)
{
	struct rf_ctl_reply r = {.result = RF_CTL_FAILED};
	uint8_t msg[RF_CTL_MESSAGE_MAX], frame[RF_CTL_FRAME_MAX];
	struct rf_ctl_header h;
	struct rf_ctl_addr a, to;
	size_t len;

	if (b->older == 0 || f->from < 0 || !control_of(f, &a, &h))
		return false;
	to = (struct rf_ctl_addr){.vlan = RF_CTL_NO_VLAN,
				  .src_ip = a.dst_ip,
				  .dst_ip = a.src_ip,
				  .src_port = a.dst_port,
				  .dst_port = a.src_port};
	memcpy(to.dst_mac, a.src_mac, 6);
	memcpy(to.src_mac, a.dst_mac, 6);
	h.flags = RF_CTL_F_REPLY | RF_CTL_F_UNSIGNED;
	h.version = b->older;
	h.nonce = 0;
	r.u.failed.reason = RF_CTL_R_VERSION;
	r.u.failed.detail = b->older;
	len = rf_ctl_reply_put(msg, &h, &r, NULL);
	assert_true(len > 0);
	put((int)b->number, frame, rf_ctl_frame_put(frame, sizeof(frame), &to, msg, len));
	return true;
}

static void to_box(struct tree_box *b, const struct tree_frame *f)
{
	uint8_t mac[6];

	box_mac(b->number, mac);
	for (unsigned int p = 0; p < TREE_PORTS && !b->dead && f->from != (int)b->number; p++) {
		uint8_t own[6];

		memcpy(own, mac, 6);
		own[5] = (uint8_t)(own[5] + p);
		if (!(f->data[0] & 1u) && memcmp(own, f->data, 6) != 0)
			continue;
		if (!refused_by_version(b, f))
			rf_model_engine()->rx(b->e, p, f->data, f->len, false);
	}
}

static bool is_lost(const struct tree_frame *f)
{
	struct rf_ctl_addr a;
	struct rf_ctl_header h;

	return tree.no_notices && f->from >= 0 && control_of(f, &a, &h) &&
	       (h.flags & RF_CTL_F_REPLY) && h.verb == RF_CTL_JOIN;
}

static void deliver(void)
{
	while (tree.waiting > 0) {
		struct tree_frame f = tree.queue[tree.head];

		tree.head = (tree.head + 1) % 256u;
		tree.waiting--;
		watch(&f);
		for (unsigned int i = 0; i < tree.hosts; i++) {
			struct tree_host *h = &tree.host[i];

			if (h->mute || f.from < 0 || memcmp(f.data, h->mac, 6) != 0)
				continue;
			/* ACKs are those of the host that come back. */
			if (rf_client_rx(&h->client, now_ns(), f.data, f.len) == 0 &&
			    f.data[42] != ROCE_OP_ACK) {
				memcpy(h->frame, f.data, f.len);
				h->len = f.len;
				h->count++;
			}
		}
		for (unsigned int i = 0; i < tree.boxes && !is_lost(&f); i++)
			to_box(&tree.box[i], &f);
	}
}

/* ---- time ---- */

static void hosts_send(void)
{
	uint8_t frame[RF_CLIENT_FRAME_MAX];
	size_t len;

	for (unsigned int i = 0; i < tree.hosts; i++)
		while ((len = rf_client_tx(&tree.host[i].client, now_ns(), frame, sizeof(frame))) >
		       0)
			if (!tree.host[i].mute)
				put(-1, frame, len);
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* The next time at which something may happen. */
static uint64_t next_time(uint64_t end)
{
	uint64_t next = end;

	for (unsigned int i = 0; i < tree.boxes; i++) {
		struct tree_box *b = &tree.box[i];

		if (rf_model_engine()->next_event(b->e) != RF_ENGINE_NEVER)
			return least(tree.now + STEP, end);
		if (!b->dead && b->due != RF_FW_NEVER)
			next = least(next, b->base + b->due);
	}
	for (unsigned int i = 0; i < tree.hosts; i++) {
		uint64_t t = rf_client_next_timeout(&tree.host[i].client);

		if (t != RF_CLIENT_NEVER)
			next = least(next, (t + NS - 1) / NS);
	}
	return next > tree.now ? next : tree.now + 1;
}

void tree_run(unsigned int us)
{
	uint64_t end = tree.now + (uint64_t)us * (TREE_KHZ / 1000u);

	while (tree.now < end) {
		uint64_t next;

		hosts_send();
		deliver();
		for (unsigned int i = 0; i < tree.boxes; i++) {
			struct tree_box *b = &tree.box[i];
			uint64_t cycle = rf_model_engine()->cycle(b->e);

			if (!b->dead && (rf_model_engine()->irq(b->e) || cycle >= b->due))
				b->due = rf_fw_poll(&b->fw);
		}
		next = next_time(end);
		for (unsigned int i = 0; i < tree.boxes; i++) {
			struct tree_box *b = &tree.box[i];

			if (rf_model_engine()->next_event(b->e) > next - b->base)
				rf_model_engine()->jump(b->e, next - b->base);
			else
				rf_model_engine()->run(b->e, next - b->base);
		}
		tree.now = next;
	}
}

bool tree_all(enum rf_client_state state)
{
	for (unsigned int i = 0; i < tree.hosts; i++)
		if (!tree.host[i].mute && rf_client_state(&tree.host[i].client) != state)
			return false;
	return true;
}

bool tree_until(enum rf_client_state state, unsigned int ms)
{
	for (unsigned int k = 0; k < ms && !tree_all(state); k++)
		tree_run(1000);
	return tree_all(state);
}

/* ---- data ---- */

static void packet(const struct tree_host *h, struct roce_packet *p, unsigned int index)
{
	*p = (struct roce_packet){.ttl = 64,
				  .ip_flags = 0x4000,
				  .src_ip = h->ip,
				  .dst_ip = rf_client_port_ip(&h->client),
				  .udp_sport = 50000,
				  .pkey = 0xffff,
				  .qpn = h->qpn,
				  .psn = (h->psn + index) & 0xffffffu};
	memcpy(p->src_mac, h->mac, 6);
	memcpy(p->dst_mac, rf_client_port_mac(&h->client), 6);
}

static float operand(unsigned int host, unsigned int index, unsigned int k)
{
	/* Magnitudes far apart, so that the order of additions shows. */
	return (float)(1 + host * 7 + k) * (host % 3 == 0 ? 1e8f : 0.37f) + (float)index;
}

void tree_send(const struct tree_host *h, unsigned int index, uint32_t imm)
{
	uint8_t payload[4 * TREE_ELEMENTS], frame[ROCE_FRAME_MAX];
	struct roce_packet p;

	for (unsigned int k = 0; k < TREE_ELEMENTS; k++) {
		float v = operand((unsigned int)(h - tree.host), index, k);

		memcpy(payload + 4 * k, &v, 4);
	}
	packet(h, &p, index);
	p.opcode = ROCE_OP_SEND_ONLY_IMM;
	p.imm = imm ? imm : IMM(index);
	p.payload = payload;
	p.payload_len = sizeof(payload);
	put(-1, frame, roce_build(&p, frame, sizeof(frame)));
}

static void send_ack(const struct tree_host *h, unsigned int index)
{
	uint8_t frame[ROCE_FRAME_MAX];
	struct roce_packet p;

	packet(h, &p, index);
	p.opcode = ROCE_OP_ACK;
	p.syndrome = ROCE_SYN_ACK;
	p.msn = index + 1;
	put(-1, frame, roce_build(&p, frame, sizeof(frame)));
}

void tree_nak_down(void)
{
	const struct rf_fw *fw = &tree.box[1].fw;
	const struct rf_fw_uplink *u = &fw->uplink[0];
	struct roce_packet p = {.ttl = 64,
				.ip_flags = 0x4000,
				.src_ip = u->port_ip,
				.dst_ip = fw->address[u->port].ip,
				.udp_sport = 50000,
				.pkey = 0xffff,
				.qpn = u->qpn,
				.psn = u->start,
				.opcode = ROCE_OP_ACK,
				.syndrome = 0x61};
	uint8_t frame[ROCE_FRAME_MAX];

	memcpy(p.src_mac, u->mac, 6);
	box_mac(1, p.dst_mac);
	p.dst_mac[5] = (uint8_t)(p.dst_mac[5] + u->port);
	put(0, frame, roce_build(&p, frame, sizeof(frame)));
}

/* The number of a box below, by the chain of one of its hosts; 0: the box has no parent. */
static const struct rf_ctl_join *join_of(unsigned int box)
{
	for (unsigned int i = 0; i < tree.hosts; i++)
		if (tree.host[i].box == box)
			return &tree.host[i].join;
	return NULL;
}

static void box_above(struct rf_order *o, unsigned int box)
{
	const struct rf_ctl_join *j = join_of(box);
	const struct rf_fw_member *m;
	struct rf_fw *fw;

	if (!j || j->above == 0)
		return;
	o->above[box].parent = ((j->up[0].ip >> 8) & 0xffu) - 0x64u;
	fw = &tree.box[o->above[box].parent].fw;
	m = rf_fw_member_find(fw, &fw->group[0], j->up[0].rank);
	assert_non_null(m);
	o->above[box].place.port = m->port;
	o->above[box].place.lane = m->lane;
}

void tree_reduce(unsigned int index)
{
	static float in[TREE_HOSTS][TREE_ELEMENTS], want[TREE_ELEMENTS];
	const void *operands[TREE_HOSTS];
	static struct rf_order o;

	o = (struct rf_order)RF_ORDER_INIT;
	for (unsigned int b = 1; b < tree.boxes; b++)
		box_above(&o, b);
	for (unsigned int i = 0; i < tree.hosts; i++) {
		struct tree_host *h = &tree.host[i];
		const struct rf_ctl_ready *r = rf_client_ready(&h->client);

		o.box[i] = (unsigned char)h->box;
		o.place[i].port = r->place[h->rank].port;
		o.place[i].lane = r->place[h->rank].lane;
		operands[i] = in[i];
		for (unsigned int k = 0; k < TREE_ELEMENTS; k++)
			in[i][k] = operand(i, index, k);
		h->count = 0;
		tree_send(h, index, 0);
	}
	o.schedule = RF_SCHEDULE_BOX;
	o.ranks = tree.hosts;
	o.boxes = tree.boxes;
	assert_null(rf_order_compute(&o, RF_FP32, RF_SUM, operands, want, TREE_ELEMENTS));
	tree_run(20);
	for (unsigned int i = 0; i < tree.hosts; i++) {
		struct tree_host *h = &tree.host[i];
		struct roce_packet p;

		assert_int_equal(h->count, 1);
		assert_int_equal(roce_parse(h->frame, h->len, &p), ROCE_WIRE_OK);
		assert_true(roce_icrc_ok(h->frame, &p));
		assert_int_equal(p.psn, (h->psn + index) & 0xffffffu);
		assert_int_equal(p.payload_len, sizeof(want));
		assert_memory_equal(p.payload, want, sizeof(want));
		send_ack(h, index);
	}
}

void tree_check(void)
{
	for (unsigned int b = 0; b < tree.boxes; b++) {
		const char *what = tree.box[b].dead ? NULL : rf_fw_check(&tree.box[b].fw);

		if (what)
			print_error("box %u: %s\n", b, what);
		assert_null(what);
	}
}

void tree_end(void)
{
	tree_check();
	for (unsigned int b = 0; b < tree.boxes; b++)
		rf_model_engine()->destroy(tree.box[b].e);
}
