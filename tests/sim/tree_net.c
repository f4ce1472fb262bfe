#include "tests/sim/tree_net.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/uplink_regs.h"
#include "proto/rf_bytes.h"

#define TIMEOUT 40000u /* of a host, in cycles */
#define STUCK 3000000u /* no host gets on for this long */
#define LATE 20000u    /* a copy between boxes comes at most this much later */
#define PORTS 4u
#define WINDOW_UP(s) ((s)*3 / 8)

static uint64_t box_mac(unsigned int box, unsigned int port)
{
	return 0x02f0f1000000u + box * 256 + port;
}

static uint32_t box_ip(unsigned int box, unsigned int port)
{
	return 0x0a020000u + box * 256 + 16 + port;
}

__attribute__((format(printf, 2, 3))) static void wrong(struct tree *t, const char *format, ...)
{
	va_list list;

	if (t->why[0])
		return;
	va_start(list, format);
	vsnprintf(t->why, sizeof(t->why), format, list);
	va_end(list);
}

static void conn_write(struct bench *b, unsigned int cid, uint32_t reg, uint32_t value)
{
	bench_write(b, RF_CONN_BASE + cid * RF_CONN_STRIDE + reg, value);
}

static void conn_mac(struct bench *b, unsigned int cid, uint64_t mac)
{
	conn_write(b, cid, RF_CONN_PEER_MAC_HI,
		   RF_CONN_PEER_MAC_HI_MIRROR_MASK | (uint32_t)(mac >> 32));
	conn_write(b, cid, RF_CONN_PEER_MAC_LO, (uint32_t)mac);
}

static void uplink_registers(struct bench *b, unsigned int group, const struct rf_model_uplink *up)
{
	uint32_t base = RF_UPLINK_BASE + group * RF_UPLINK_STRIDE;
	uint32_t place = RF_UPLINK_PLACE_ON_MASK | up->lane << RF_UPLINK_PLACE_LANE_LSB | up->port;

	bench_write(b, base + RF_UPLINK_PLACE, place);
	bench_write(b, base + RF_UPLINK_WINDOW, up->window);
	bench_write(b, base + RF_UPLINK_HEADER, up->sport);
	if (bench_read(b, base + RF_UPLINK_PLACE) != place ||
	    bench_read(b, base + RF_UPLINK_WINDOW) != up->window ||
	    bench_read(b, base + RF_UPLINK_HEADER) != up->sport)
		abort();
}

/* The uplink's place, before the group is live; c is its connection at the parent. */
static void start_uplink(struct tree *t, unsigned int box, const struct bench_conn *c)
{
	const struct tree_box_cfg *bc = &t->cfg.box[box];
	struct bench *b = &t->box[box];
	unsigned int parent = (unsigned int)bc->parent;
	unsigned int cid = box * 128 + bc->up_lane * 8 + bc->up_port;
	struct rf_model_uplink up = {.port = bc->up_port,
				     .lane = bc->up_lane,
				     .window = WINDOW_UP(1u << t->cfg.box[parent].s_log2),
				     .sport = (uint16_t)(0xe000 + box)};

	conn_write(b, cid, RF_CONN_START, c->start);
	conn_write(b, cid, RF_CONN_SRC_IP, box_ip(parent, c->port));
	conn_write(b, cid, RF_CONN_QPN, c->ack_qpn);
	conn_mac(b, cid, box_mac(parent, c->port));
	conn_write(b, cid, RF_CONN_INIT, 1);
	if (!bench_entry(b, 2, box_ip(parent, c->port), c->ack_qpn, cid, RF_STATE_LIVE))
		wrong(t, "box %u: no entry", box);
	/* By the registers at every other box. */
	if (box % 2 == 0)
		rf_model_set_uplink(b->e, box, &up);
	else
		uplink_registers(b, box, &up);
}

/* The address and MAC of a rank that is a box, at its parent. */
static void child_rank(struct tree *t, unsigned int parent, struct bench_conn *c, unsigned int box)
{
	const struct tree_box_cfg *bc = &t->cfg.box[box];
	struct bench *b = &t->box[parent];

	c->src_ip = box_ip(box, bc->up_port);
	c->src_mac = box_mac(box, bc->up_port);
	conn_write(b, c->cid, RF_CONN_SRC_IP, c->src_ip);
	conn_write(b, c->cid, RF_CONN_PEER_IP, c->src_ip);
	conn_write(b, c->cid, RF_CONN_PEER_MAC_HI,
		   RF_CONN_PEER_MAC_HI_MIRROR_MASK | RF_CONN_PEER_MAC_HI_SELECTIVE_MASK |
			   (uint32_t)(c->src_mac >> 32));
	conn_write(b, c->cid, RF_CONN_PEER_MAC_LO, (uint32_t)c->src_mac);
	if (!bench_entry(b, 2, c->src_ip, c->ack_qpn, c->cid, RF_STATE_LIVE))
		wrong(t, "box %u: no entry", parent);
}

static void add_host(struct tree *t, unsigned int box, unsigned int r)
{
	struct tree_host *h = &t->host[t->hosts];

	t->host_of[box][r] = (int)t->hosts++;
	memset(h, 0, sizeof(*h));
	h->box = box;
	h->conn = t->group[box].conn[r];
	h->conn.dst_ip = box_ip(box, h->conn.port);
	h->conn.dst_mac = box_mac(box, h->conn.port);
	h->came = calloc(t->cfg.count, 1);
	if (!h->came)
		abort();
}

static void open_box(struct tree *t, unsigned int box)
{
	const struct tree_box_cfg *bc = &t->cfg.box[box];
	struct bench_group *g = &t->group[box];
	struct bench *b = &t->box[box];
	struct rf_engine_cfg cfg;
	unsigned int k, r, children = 0;

	bench_shape(&cfg, PORTS, bc->lanes, 512);
	if (!bench_open(b, rf_model_engine(), &cfg))
		abort();
	rf_model_set_mutant(b->e, t->cfg.mutant);
	bench_write(b, RF_MAC_HI, (uint32_t)(box_mac(box, 0) >> 32));
	bench_write(b, RF_MAC_LO, (uint32_t)box_mac(box, 0));
	bench_group_init(g, box, PORTS, bc->lanes);
	g->s_log2 = bc->s_log2;
	g->directed = true;
	g->selective = t->cfg.selective;
	g->mirror = UINT64_MAX;
	g->dtype = RF_DTYPE_FP32;
	memcpy(g->members, bc->members, sizeof(g->members));
	if (bc->parent >= 0) {
		struct bench_group *up = &t->group[bc->parent];

		for (r = 0; t->child[bc->parent][r] != (int)box; r++)
			;
		start_uplink(t, box, &up->conn[r]);
	}
	if (!bench_group_start(b, g))
		wrong(t, "box %u does not start", box);
	for (k = 0; k < PORTS; k++)
		bench_write(b, RF_PORT_IP0 + 4 * k, box_ip(box, k));
	for (k = box + 1; k < t->cfg.boxes; k++)
		children += t->cfg.box[k].parent == (int)box;
	for (r = 0; r < 64; r++)
		t->child[box][r] = -1;
	r = g->ranks - children;
	for (k = box + 1; k < t->cfg.boxes; k++) {
		if (t->cfg.box[k].parent != (int)box)
			continue;
		t->child[box][r] = (int)k;
		child_rank(t, box, &g->conn[r++], k);
	}
	for (r = 0; r < g->ranks - children; r++)
		add_host(t, box, r);
}

void tree_open(struct tree *t, const struct tree_cfg *cfg)
{
	unsigned int box;

	memset(t, 0, sizeof(*t));
	t->cfg = *cfg;
	t->rng = rf_rng_make(cfg->seed, 1);
	for (box = 0; box < cfg->boxes; box++)
		open_box(t, box);
}

uint32_t tree_up_count(struct tree *t, unsigned int box, enum rf_model_up_counter counter)
{
	return rf_model_up_counter(t->box[box].e, t->cfg.box[box].up_port, counter);
}

static void fly(struct tree *t, uint64_t at, int host, unsigned int box, unsigned int port,
		const uint8_t *bytes, size_t len)
{
	struct tree_flight *f;

	if (t->flights == t->room) {
		t->room = t->room ? 2 * t->room : 256;
		t->flight = realloc(t->flight, t->room * sizeof(*t->flight));
		if (!t->flight)
			abort();
	}
	f = &t->flight[t->flights++];
	*f = (struct tree_flight){at, host, box, port, len, malloc(len)};
	if (!f->bytes)
		abort();
	memcpy(f->bytes, bytes, len);
}

static void from_host(struct tree *t, struct tree_host *h, const struct packet *p)
{
	uint8_t frame[PACKET_MAX];
	size_t len = packet_build(p, frame);
	uint64_t at = t->now + TREE_DELAY;

	if (rf_rng_chance(&t->rng, t->cfg.loss))
		return;
	fly(t, at, -1, h->box, h->conn.port, frame, len);
	if (rf_rng_chance(&t->rng, t->cfg.copy))
		fly(t, at, -1, h->box, h->conn.port, frame, len);
}

static void host_send(struct tree *t, unsigned int number, uint32_t index)
{
	struct tree_host *h = &t->host[number];
	uint32_t window = 1u << (t->cfg.box[h->box].s_log2 - 1);
	uint8_t payload[TREE_PAYLOAD];
	struct tree_plan plan;
	struct packet p;
	bool gives, wants;

	tree_plan(t, index, &plan);
	gives = plan.gives >> number & 1;
	wants = plan.wants >> number & 1;
	tree_operand(t, number, index, payload);
	bench_data(&h->conn, &p, index, OP_SEND_ONLY_IMM, payload, gives ? plan.len : 0);
	p.imm = plan.imm | (gives ? 0x4000u : 0) | (wants ? 0x8000u : 0);
	if (index % (window / 4) == 0 || index + 1 == t->cfg.count)
		p.bth8 = 0x80;
	from_host(t, h, &p);
	h->expires = t->now + TIMEOUT + rf_rng_below(&t->rng, TIMEOUT / 4);
}

static void host_answer(struct tree *t, struct tree_host *h, bool nak)
{
	struct packet p;

	if (h->e == 0 && !nak)
		return;
	bench_ack(&h->conn, &p, nak ? h->e + 1 : h->e);
	if (nak)
		p.syndrome = 0x60;
	from_host(t, h, &p);
}

/* The frame of a result must be what the host expects, byte for byte. */
static void check_result(struct tree *t, unsigned int number, uint32_t index, const uint8_t *frame,
			 size_t len)
{
	struct tree_plan plan;
	uint8_t want[TREE_PAYLOAD];
	bool wants, gives;
	size_t n;

	tree_plan(t, index, &plan);
	wants = plan.wants >> number & 1;
	gives = plan.gives >> number & 1;
	n = wants ? plan.len : 0;
	tree_sum(t, index, want);
	if (len != 62 + n || !packet_sealed(frame, len))
		wrong(t, "host %u, index %u: %zu bytes, not %zu", number, index, len, 62 + n);
	else if (rf_get_be32(frame + 54) !=
		 (plan.imm | (gives ? 0x4000u : 0) | (wants ? 0x8000u : 0)))
		wrong(t, "host %u, index %u: other immediate", number, index);
	else if (memcmp(frame + 58, want, n) != 0)
		wrong(t, "host %u, index %u: wrong result", number, index);
}

static void host_result(struct tree *t, unsigned int number, const uint8_t *frame, size_t len)
{
	struct tree_host *h = &t->host[number];
	uint32_t i = (rf_get_be24(frame + 51) - h->conn.start) & 0xffffff;

	if (i >= t->cfg.count) {
		wrong(t, "host %u: a result of index %u", number, i);
		return;
	}
	if (!h->came[i] && (i == h->e || t->cfg.selective)) {
		check_result(t, number, i, frame, len);
		h->came[i] = 1;
		t->moved = t->now;
	} else if (i > h->e) {
		if (!h->told)
			host_answer(t, h, true);
		h->told = true;
		return;
	} else {
		host_answer(t, h, false);
		return;
	}
	if (i != h->e) {
		host_answer(t, h, true);
		return;
	}
	while (h->e < t->cfg.count && h->came[h->e])
		h->e++;
	h->told = false;
	if (frame[50] & 0x80)
		host_answer(t, h, false);
}

static void host_acked(struct tree *t, unsigned int number, const uint8_t *frame)
{
	struct tree_host *h = &t->host[number];
	uint32_t psn = (rf_get_be24(frame + 51) - h->conn.start) & 0xffffff;
	uint8_t syndrome = frame[54];
	uint32_t una = syndrome < 0x20 ? (psn + 1) & 0xffffff : psn;

	if (syndrome == 0x60 && t->cfg.selective) {
		if (psn >= h->una && psn < h->most)
			host_send(t, number, psn);
		return;
	}
	if (una > h->most)
		return; /* older than the start */
	if (una > h->e)
		wrong(t, "host %u: %u is acknowledged, %u have come", number, una, h->e);
	if (una > h->una) {
		h->una = una;
		h->obeyed = false;
		h->expires = t->now + TIMEOUT;
		t->moved = t->now;
	}
	if (syndrome >= 0x20 && una == h->una && (syndrome < 0x40 || !h->obeyed)) {
		h->nxt = h->una;
		h->obeyed = h->obeyed || syndrome == 0x60;
	}
	if (h->nxt < h->una)
		h->nxt = h->una;
}

static void host_run(struct tree *t, unsigned int number)
{
	struct tree_host *h = &t->host[number];
	uint32_t window = 1u << (t->cfg.box[h->box].s_log2 - 1);
	unsigned int burst;

	if (h->una < h->nxt && t->now >= h->expires) {
		if (t->cfg.selective) {
			host_send(t, number, h->una);
			host_send(t, number, h->most - 1);
		} else {
			h->nxt = h->una;
		}
	}
	for (burst = 0; burst < 2 && h->nxt < t->cfg.count && h->nxt - h->una < window; burst++) {
		if (h->nxt == h->most && t->cfg.may_send &&
		    !t->cfg.may_send(t->cfg.arg, number, h->nxt))
			return;
		host_send(t, number, h->nxt++);
		if (h->most < h->nxt)
			h->most = h->nxt;
	}
}

/* Where a frame with this destination goes: a host, or a port of a box. */
static void route(struct tree *t, unsigned int from, const struct bench_out *o)
{
	uint64_t mac = (uint64_t)rf_get_be16(o->bytes) << 32 | rf_get_be32(o->bytes + 2);
	uint64_t at = o->last + TREE_DELAY;
	unsigned int k;

	for (k = 0; k < t->hosts; k++) {
		if (t->host[k].conn.src_mac != mac || t->host[k].box != from)
			continue;
		if (!rf_rng_chance(&t->rng, t->cfg.loss))
			fly(t, at, (int)k, 0, 0, o->bytes, o->len);
		return;
	}
	k = (unsigned int)(mac - box_mac(0, 0)) / 256;
	if (k >= t->cfg.boxes) {
		wrong(t, "box %u: a frame for nobody", from);
		return;
	}
	if (rf_rng_chance(&t->rng, t->cfg.copy_between))
		fly(t, at + rf_rng_below(&t->rng, LATE), -1, k, mac & 255, o->bytes, o->len);
	if (rf_rng_chance(&t->rng, t->cfg.loss_between) ||
	    (t->cfg.drop && t->cfg.drop(t->cfg.arg, from, k, o->bytes, o->len)))
		return;
	fly(t, at, -1, k, mac & 255, o->bytes, o->len);
}

static void arrive(struct tree *t, const struct tree_flight *f)
{
	if (f->host < 0)
		bench_feed(&t->box[f->box], f->port, f->bytes, f->len, false);
	else if (f->bytes[42] == OP_ACK)
		host_acked(t, (unsigned int)f->host, f->bytes);
	else
		host_result(t, (unsigned int)f->host, f->bytes, f->len);
}

/* Frames arrive in the order in which they were sent, if they are due. */
static void deliver(struct tree *t)
{
	size_t k, kept = 0, n = t->flights;

	for (k = 0; k < n; k++) {
		struct tree_flight f = t->flight[k]; /* the list may move */

		if (f.at <= t->now) {
			arrive(t, &f);
			free(f.bytes);
		} else {
			t->flight[kept++] = f;
		}
	}
	memmove(t->flight + kept, t->flight + n, (t->flights - n) * sizeof(*t->flight));
	t->flights = kept + t->flights - n;
}

/* The invariants of docs/box.md at one box. */
static void check_box(struct tree *t, unsigned int box)
{
	const struct tree_box_cfg *bc = &t->cfg.box[box];
	const struct bench_group *g = &t->group[box];
	struct rf_model_up_state s;
	uint32_t error = bench_group_read(&t->box[box], box, RF_GROUP_ERROR);
	unsigned int r;

	rf_model_up_state(t->box[box].e, box, &s);
	if (error)
		wrong(t, "box %u: error %08x at %u", box, error,
		      bench_group_read(&t->box[box], box, RF_GROUP_ERROR_INDEX));
	if (bc->parent >= 0 &&
	    (s.issued > s.got || s.got > s.up || s.up > s.head || s.seen > s.up ||
	     s.up > s.got + WINDOW_UP(1u << t->cfg.box[bc->parent].s_log2)))
		wrong(t, "box %u: got %u, up %u, head %u", box, s.got, s.up, s.head);
	for (r = 0; r < g->ranks; r++) {
		unsigned int cid = g->conn[r].cid;
		uint32_t next = bench_conn_read(&t->box[box], cid, RF_CONN_NEXT);
		uint32_t sent = bench_conn_read(&t->box[box], cid, RF_CONN_SENT);
		uint32_t una = bench_conn_read(&t->box[box], cid, RF_CONN_UNA);

		if (s.tail > una || una > sent || sent > (bc->parent >= 0 ? s.got : s.head) ||
		    s.head > next || next > s.tail + (1u << bc->s_log2))
			wrong(t, "box %u, rank %u: una %u, sent %u, next %u", box, r, una, sent,
			      next);
	}
}

bool tree_done(const struct tree *t)
{
	unsigned int k;

	for (k = 0; k < t->hosts; k++) {
		if (t->host[k].una < t->cfg.count || t->host[k].e < t->cfg.count)
			return false;
	}
	return true;
}

static void step(struct tree *t)
{
	unsigned int k;
	size_t n;

	deliver(t);
	for (k = 0; k < t->hosts; k++)
		host_run(t, k);
	t->now += TREE_STEP;
	for (k = 0; k < t->cfg.boxes; k++) {
		if (t->now >= t->ticked + TREE_TICK)
			bench_write(&t->box[k], RF_TICK, 1);
		bench_run(&t->box[k], t->now - t->box[k].ops->cycle(t->box[k].e));
		for (n = 0; n < t->box[k].outs; n++)
			route(t, k, &t->box[k].out[n]);
		bench_clear(&t->box[k]);
		check_box(t, k);
	}
	if (t->now >= t->ticked + TREE_TICK)
		t->ticked = t->now;
	if (t->now > t->moved + STUCK)
		wrong(t, "nobody gets on");
}

bool tree_run(struct tree *t, uint64_t until)
{
	unsigned int k;

	/* The boxes have run for different numbers of cycles while they were set up. */
	for (k = 0; k < t->cfg.boxes; k++) {
		if (t->box[k].ops->cycle(t->box[k].e) > t->now)
			t->now = t->box[k].ops->cycle(t->box[k].e);
	}
	while (!t->why[0] && !tree_done(t) && t->now < until)
		step(t);
	return !t->why[0];
}

bool tree_close(struct tree *t)
{
	const char *leak = NULL;
	unsigned int k;
	size_t n;

	for (k = 0; k < t->cfg.boxes; k++) {
		bench_settle(&t->box[k]);
		if (!leak)
			leak = t->box[k].ops->leak(t->box[k].e);
		bench_close(&t->box[k]);
	}
	for (k = 0; k < t->hosts; k++)
		free(t->host[k].came);
	for (n = 0; n < t->flights; n++)
		free(t->flight[n].bytes);
	free(t->flight);
	if (leak)
		wrong(t, "%s", leak);
	return !t->why[0];
}
