#include "tests/sim/compare/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/rf_bytes.h"
#include "proto/rf_crc32.h"
#include "sim/fabric/shape.h"

#define NAME(name, text) #name,
const char *const bench_counter_names[RF_CNT_COUNT] = {RF_COUNTERS(NAME)};
#undef NAME

static void keep(void *arg, unsigned port, const uint8_t *frame, size_t len, uint64_t first,
		 uint64_t last)
{
	struct bench *b = arg;
	struct bench_out *o;

	if (b->outs == b->room) {
		b->room = b->room ? 2 * b->room : 64;
		b->out = realloc(b->out, b->room * sizeof(*b->out));
		if (!b->out)
			abort();
	}
	o = &b->out[b->outs++];
	o->port = port;
	o->len = len;
	o->first = first;
	o->last = last;
	o->bytes = malloc(len ? len : 1);
	if (!o->bytes)
		abort();
	memcpy(o->bytes, frame, len);
}

static bool ready(void *arg, unsigned port, uint64_t cycle)
{
	const struct bench *b = arg;

	return cycle >= b->stall[port];
}

void bench_shape(struct rf_engine_cfg *cfg, unsigned int ports, unsigned int lanes,
		 unsigned int width)
{
	rf_shape_cfg(cfg, ports, lanes, width);
	cfg->seed = 1;
}

bool bench_open(struct bench *b, const struct rf_engine_ops *ops, const struct rf_engine_cfg *cfg)
{
	struct rf_engine_host host = {b, keep, ready};
	char why[256] = "";

	memset(b, 0, sizeof(*b));
	b->ops = ops;
	b->cfg = *cfg;
	b->e = ops->create(cfg, &host, why, sizeof(why));
	if (!b->e) {
		fprintf(stderr, "%s: %s\n", ops->name, why);
		return false;
	}
	b->shape = bench_read(b, RF_SHAPE);
	b->types = bench_read(b, RF_TYPES);
	bench_write(b, RF_MAC_HI, (uint32_t)(BENCH_MAC >> 32));
	bench_write(b, RF_MAC_LO, (uint32_t)BENCH_MAC);
	bench_write(b, RF_IP, BENCH_IP);
	bench_write(b, RF_CTRL, RF_CTRL_ENABLE_MASK);
	return true;
}

void bench_clear(struct bench *b)
{
	size_t k;

	for (k = 0; k < b->outs; k++)
		free(b->out[k].bytes);
	b->outs = 0;
}

void bench_close(struct bench *b)
{
	bench_clear(b);
	free(b->out);
	if (b->e)
		b->ops->destroy(b->e);
	memset(b, 0, sizeof(*b));
}

uint32_t bench_read(struct bench *b, uint32_t addr)
{
	return b->ops->reg_read(b->e, addr);
}

void bench_write(struct bench *b, uint32_t addr, uint32_t value)
{
	b->ops->reg_write(b->e, addr, value);
}

uint32_t bench_counter(struct bench *b, unsigned int port, unsigned int counter)
{
	return bench_read(b, RF_PORT_BASE + port * RF_PORT_STRIDE + 4 * counter);
}

uint32_t bench_conn_read(struct bench *b, unsigned int cid, uint32_t reg)
{
	return bench_read(b, RF_CONN_BASE + cid * RF_CONN_STRIDE + reg);
}

uint32_t bench_group_read(struct bench *b, unsigned int group, uint32_t reg)
{
	return bench_read(b, RF_GROUP_BASE + group * RF_GROUP_STRIDE + reg);
}

/* The first entry of a key's bucket of four. */
static uint32_t bucket_of(const struct bench *b, const struct bench_place *w, unsigned int table)
{
	uint8_t bytes[8];
	uint32_t h;

	rf_put_be32(bytes, w->key); /* role and QPN */
	rf_put_be32(bytes + 4, w->ip);
	h = rf_crc32(bytes, sizeof(bytes));
	h ^= (h >> 13 | h << 19) & (h >> 23 | h << 9);
	return 4 * ((table ? h >> 16 : h) & ((1u << (b->cfg.hash_bits - 2)) - 1));
}

static void write_place(struct bench *b, unsigned int table, uint32_t place,
			const struct bench_place *w)
{
	b->table[table][place] = *w;
	if (!(w->value & RF_HASH_VALUE_STATE_MASK))
		b->table[table][place].value = 0;
	bench_write(b, RF_HASH_IP, w->ip);
	bench_write(b, RF_HASH_KEY, w->key);
	bench_write(b, RF_HASH_VALUE, w->value);
	bench_write(b, RF_HASH_WRITE, place | table << RF_HASH_WRITE_TABLE_LSB);
}

bool bench_entry(struct bench *b, unsigned int role, uint32_t ip, uint32_t qpn, unsigned int cid,
		 unsigned int state)
{
	struct bench_place w = {ip, role << RF_HASH_KEY_ROLE_LSB | qpn,
				cid | state << RF_HASH_VALUE_STATE_LSB};
	unsigned int t, k, kicks;

	for (k = 0; k < 8; k++) {
		uint32_t place = bucket_of(b, &w, k / 4) + k % 4;
		const struct bench_place *old = &b->table[k / 4][place];

		if (old->value && old->ip == w.ip && old->key == w.key) {
			write_place(b, k / 4, place, &w);
			return true;
		}
	}
	t = qpn & 1; /* so that both tables are used */
	for (kicks = 0; kicks < 64; kicks++, t ^= 1) {
		/* The first free entry, or one that depends on the key. */
		uint32_t place = bucket_of(b, &w, t);
		struct bench_place old;

		for (k = 0; k < 3 && b->table[t][place + k].value; k++)
			;
		if (b->table[t][place + k].value)
			k = (w.ip + kicks) % 4;
		place += k;
		old = b->table[t][place];
		write_place(b, t, place, &w);
		if (!old.value)
			return true;
		w = old;
	}
	return false;
}

void bench_group_init(struct bench_group *g, unsigned int number, unsigned int ports,
		      unsigned int lanes)
{
	unsigned int lane;

	memset(g, 0, sizeof(*g));
	g->number = number;
	g->lanes = lanes;
	g->mtu_log2 = 10;
	g->s_log2 = 4;
	g->level = ports > 4 ? 3 : ports > 2 ? 2 : 1;
	g->start = 0x111111 * (number + 1);
	g->shift = number & 1 ? 0 : 0x400000;
	for (lane = 0; lane < lanes; lane++)
		g->members[lane] = (uint8_t)((1u << ports) - 1);
}

/* The next rank of the ring: mirror ranks have no part in it. */
static const struct bench_conn *ring_successor(const struct bench_group *g, unsigned int r)
{
	unsigned int k = r;

	do
		k = (k + 1) % g->ranks;
	while (g->conn[k].mirror && k != r);
	return &g->conn[k];
}

/* The peer of a mirror rank is the port, with the rank's own QPN. */
static void make_mirror(const struct bench_group *g, struct bench_conn *c)
{
	c->shift = 0;
	c->data_qpn = c->ack_qpn;
	if (g->one_address) {
		c->src_ip = 0x0a010000 + g->number * 256;
		c->src_mac = 0x020000000000u + g->number * 256;
	}
	c->dst_ip = BENCH_PORT_IP(c->port);
	c->dst_mac = BENCH_MAC + c->port;
	c->peer_port = c->port;
}

/* Orders ranks by place; the ring successor of each is the next that has no mirror connection. */
static void make_ranks(struct bench_group *g)
{
	unsigned int lane, port, r;

	g->ranks = 0;
	for (lane = 0; lane < g->lanes; lane++) {
		for (port = 0; port < 8; port++) {
			struct bench_conn *c = &g->conn[g->ranks];

			if (!(g->members[lane] >> port & 1) || g->ranks == 64)
				continue;
			r = g->ranks++;
			c->group = g->number;
			c->lane = lane;
			c->port = port;
			c->cid = g->number * 128 + lane * 8 + port;
			c->start = (g->start + 1000 * r) & 0xffffff;
			c->shift = g->shift;
			c->src_ip = 0x0a010000 + g->number * 256 + r;
			c->src_mac = 0x020000000000u + g->number * 256 + r;
			/* Odd factors: different places get different 24-bit numbers. */
			c->data_qpn = (0x4000 + g->number * 256 + r) * 0x9e3779 & 0xffffff;
			c->ack_qpn = (0x8000 + g->number * 256 + r) * 0xc2b2ae3d & 0xffffff;
			c->tagged = g->tagged;
			c->mirror = g->mirror >> r & 1;
		}
	}
	for (r = 0; r < g->ranks; r++) {
		const struct bench_conn *peer = ring_successor(g, r);

		if (g->conn[r].mirror) {
			make_mirror(g, &g->conn[r]);
			continue;
		}
		g->conn[r].dst_ip = peer->src_ip;
		g->conn[r].dst_mac = peer->src_mac;
		g->conn[r].peer_port = peer->port;
	}
}

void bench_conn_mac(struct bench *b, const struct bench_conn *c)
{
	uint32_t base = RF_CONN_BASE + c->cid * RF_CONN_STRIDE;

	bench_write(b, base + RF_CONN_PEER_MAC_HI,
		    c->mirror ? RF_CONN_PEER_MAC_HI_MIRROR_MASK | (uint32_t)(c->src_mac >> 32) : 0);
	bench_write(b, base + RF_CONN_PEER_MAC_LO, c->mirror ? (uint32_t)c->src_mac : 0);
}

static bool start_conn(struct bench *b, const struct bench_conn *c)
{
	uint32_t base = RF_CONN_BASE + c->cid * RF_CONN_STRIDE;

	bench_write(b, base + RF_CONN_START, c->start);
	bench_write(b, base + RF_CONN_SHIFT, c->shift);
	bench_write(b, base + RF_CONN_SRC_IP, c->src_ip);
	bench_write(b, base + RF_CONN_PEER_IP, c->mirror ? c->src_ip : c->dst_ip);
	bench_write(b, base + RF_CONN_PEER_PORT, c->peer_port);
	bench_write(b, base + RF_CONN_QPN, c->ack_qpn);
	bench_conn_mac(b, c);
	bench_write(b, base + RF_CONN_INIT, 1);
	if (c->mirror) {
		bench_write(b, RF_PORT_IP0 + 4 * c->port, c->dst_ip);
		return bench_entry(b, 2, c->src_ip, c->ack_qpn, c->cid, RF_STATE_LIVE);
	}
	return bench_entry(b, 0, c->dst_ip, c->data_qpn, c->cid, RF_STATE_LIVE) &&
	       bench_entry(b, 1, c->src_ip, c->ack_qpn, c->cid, RF_STATE_LIVE);
}

bool bench_group_start(struct bench *b, struct bench_group *g)
{
	uint32_t base = RF_GROUP_BASE + g->number * RF_GROUP_STRIDE, cfg;
	unsigned int k;

	make_ranks(g);
	cfg = g->dtype << RF_GROUP_CFG_DTYPE_LSB | g->op << RF_GROUP_CFG_OP_LSB |
	      g->mtu_log2 << RF_GROUP_CFG_MTU_LOG2_LSB | g->level << RF_GROUP_CFG_LEVEL_LSB |
	      g->base_port << RF_GROUP_CFG_BASE_PORT_LSB | g->lanes << RF_GROUP_CFG_LANES_LSB |
	      g->s_log2 << RF_GROUP_CFG_S_LOG2_LSB |
	      (g->open_loop ? RF_GROUP_CFG_OPEN_LOOP_MASK : 0) |
	      (g->transparent ? RF_GROUP_CFG_TRANSPARENT_MASK : 0) |
	      (g->strict ? RF_GROUP_CFG_STRICT_MASK : 0) |
	      (g->directed ? RF_GROUP_CFG_DIRECTED_MASK : 0) |
	      (g->selective ? RF_GROUP_CFG_SELECTIVE_MASK : 0);
	bench_write(b, base + RF_GROUP_CFG, 0);
	bench_write(b, base + RF_GROUP_CFG, cfg);
	bench_write(b, base + RF_GROUP_DBASE, g->dbase);
	bench_write(b, base + RF_GROUP_HBASE, g->hbase);
	bench_write(b, base + RF_GROUP_STRAGGLER, g->straggler);
	for (k = 0; k < 4; k++)
		bench_write(b, base + RF_GROUP_MEMBERS0 + 4 * k, rf_get_le32(g->members + 4 * k));
	for (k = 0; k < g->ranks; k++) {
		if (!start_conn(b, &g->conn[k]))
			return false;
	}
	bench_write(b, base + RF_GROUP_CFG, cfg | RF_GROUP_CFG_LIVE_MASK);
	if (g->selective) /* its slots are cleared */
		bench_run(b, (1u << g->s_log2) + 16);
	return true;
}

static void packet_common(struct packet *p, bool tagged)
{
	memset(p, 0, sizeof(*p));
	p->tagged = tagged;
	p->tci = 0x2064;
	p->ttl = 64;
	p->ip_flags = 0x4000;
	p->dport = 4791;
	p->pkey = 0xffff;
	p->bth_flags = 0x40;
}

void bench_data(const struct bench_conn *c, struct packet *p, uint32_t index, uint8_t opcode,
		const uint8_t *payload, size_t len)
{
	packet_common(p, c->tagged);
	p->dst_mac = c->dst_mac;
	p->src_mac = c->src_mac;
	p->src_ip = c->src_ip;
	p->dst_ip = c->dst_ip;
	p->ip_id = (uint16_t)(index * 7);
	p->sport = (uint16_t)(0xc000 + c->cid);
	p->opcode = opcode;
	p->qpn = c->data_qpn;
	p->psn = (c->start + index) & 0xffffff;
	p->va = 0x1000ull * c->cid + index;
	p->rkey = 0x1234;
	p->dma_len = (uint32_t)len;
	p->imm = 0xfeed0000 + index;
	p->payload = payload;
	p->payload_len = len;
}

void bench_ack(const struct bench_conn *c, struct packet *p, uint32_t una)
{
	packet_common(p, c->tagged);
	p->dst_mac = c->mirror ? c->dst_mac : c->src_mac;
	p->src_mac = c->mirror ? c->src_mac : c->dst_mac;
	p->src_ip = c->mirror ? c->src_ip : c->dst_ip;
	p->dst_ip = c->mirror ? c->dst_ip : c->src_ip;
	p->sport = (uint16_t)(0xd000 + c->cid);
	p->opcode = OP_ACK;
	p->qpn = c->ack_qpn;
	p->psn = (c->start - c->shift + una - 1) & 0xffffff;
	p->syndrome = 0x1f;
	p->msn = una & 0xffffff;
}

void bench_feed(struct bench *b, unsigned int port, const uint8_t *frame, size_t len, bool bad)
{
	uint64_t end = b->ops->cycle(b->e) + BENCH_SETTLE;

	while (!b->ops->rx(b->e, port, frame, len, bad)) {
		if (b->ops->cycle(b->e) >= end) {
			b->stuck = true;
			return;
		}
		b->ops->run(b->e, b->ops->cycle(b->e) + 1);
	}
}

void bench_send(struct bench *b, unsigned int port, const struct packet *p)
{
	uint8_t frame[PACKET_MAX];
	size_t len = packet_build(p, frame);

	bench_feed(b, port, frame, len, false);
}

bool bench_settle(struct bench *b)
{
	uint64_t end = b->ops->cycle(b->e) + BENCH_SETTLE, next;

	while ((next = b->ops->next_event(b->e)) != RF_ENGINE_NEVER) {
		uint64_t now = b->ops->cycle(b->e);

		if (now >= end) {
			b->stuck = true;
			return false;
		}
		b->ops->run(b->e, (next > now ? next : now) + 64);
	}
	return true;
}

void bench_run(struct bench *b, uint64_t cycles)
{
	uint64_t end = b->ops->cycle(b->e) + cycles, now;

	while ((now = b->ops->cycle(b->e)) < end)
		b->ops->run(b->e, end);
}
