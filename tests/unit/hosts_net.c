#include "tests/unit/hosts_net.h"

#include <stdlib.h>
#include <string.h>

/* Rounds in which nothing happens before the run counts as stuck. */
#define IDLE_MAX 2000u
#define MARK 0xa5

static void must(bool holds)
{
	if (!holds)
		abort();
}

static void *alloc(uint64_t len)
{
	void *p = malloc(len + 1);

	must(p != NULL);
	memset(p, MARK, len + 1);
	return p;
}

/* ---- channels ---- */

static struct hosts_end *other(const struct hosts_end *e)
{
	uint32_t n = e->net->cfg.ranks, distance = 1u << e->conn / 2;
	uint32_t peer = (e->rank + (e->conn & 1 ? n - distance : distance)) % n;

	return &e->net->end[peer][e->conn ^ 1];
}

static int post_imm(void *ctx, uint64_t id, const void *buf, uint32_t len, uint32_t imm)
{
	struct hosts_end *e = ctx;
	struct hosts_request *q = &e->send[e->sends % HOSTS_DEPTH];

	if (e->sends - e->told == e->net->cfg.depth)
		return RF_MSG_AGAIN;
	*q = (struct hosts_request){
		.id = id, .from = buf, .len = len, .imm = imm, .copy = alloc(len)};
	memcpy(q->copy, buf, len);
	e->sends++;
	return RF_MSG_OK;
}

static int post_send(void *ctx, uint64_t id, const void *buf, uint32_t len)
{
	return post_imm(ctx, id, buf, len, 0);
}

static int post_recv(void *ctx, uint64_t id, void *buf, uint32_t len)
{
	struct hosts_end *e = ctx;

	if (e->recvs - e->taken == e->net->cfg.depth)
		return RF_MSG_AGAIN;
	e->recv[e->recvs++ % HOSTS_DEPTH] = (struct hosts_request){.id = id, .to = buf, .len = len};
	return RF_MSG_OK;
}

static int poll_event(void *ctx, struct rf_msg_event *event)
{
	struct hosts_end *e = ctx;

	if (e->status) {
		*event = (struct rf_msg_event){.status = e->status};
		return 1;
	}
	if (e->told < e->acked && (e->taken == e->arrived || roce_random_below(&e->net->rng, 2))) {
		*event =
			(struct rf_msg_event){.id = e->send[e->told++ % HOSTS_DEPTH].id, .sent = 1};
		return 1;
	}
	if (e->taken == e->arrived)
		return 0;
	*event = e->event[e->taken++ % HOSTS_DEPTH];
	return 1;
}

static const struct rf_msg_ops with_imm = {post_send, post_recv, poll_event, post_imm};
static const struct rf_msg_ops without_imm = {post_send, post_recv, poll_event, NULL};

/* The oldest message on its way arrives, if there is a buffer. */
static bool deliver(struct hosts_end *e)
{
	struct hosts *n = e->net;
	struct hosts_end *to = other(e);
	struct hosts_request *s = &e->send[e->delivered % HOSTS_DEPTH], *r;

	if (e->delivered == e->sends || to->arrived == to->recvs)
		return false;
	r = &to->recv[to->arrived % HOSTS_DEPTH];
	n->messages++;
	if (memcmp(s->from, s->copy, s->len) != 0)
		n->changed++;
	free(s->copy);
	s->copy = NULL;
	e->delivered++;
	if (s->len > r->len) {
		e->status = to->status = 7;
		return true;
	}
	memcpy(r->to, s->from, s->len);
	if (n->messages == n->flip)
		((char *)r->to)[s->len / 2] ^= 1;
	to->event[to->arrived++ % HOSTS_DEPTH] = (struct rf_msg_event){
		.id = r->id, .len = s->len, .has_imm = !n->cfg.plain, .imm = s->imm};
	return true;
}

static bool acknowledge(struct hosts_end *e)
{
	if (e->acked == e->delivered)
		return false;
	e->acked++;
	return true;
}

/* ---- set-up ---- */

void hosts_start(struct hosts *n, const struct hosts_cfg *cfg, struct roce_random rng)
{
	memset(n, 0, sizeof(*n));
	n->cfg = *cfg;
	n->rng = rng;
	for (uint32_t r = 0; r < cfg->ranks; r++) {
		struct rf_hosts_cfg c = {.rank = r,
					 .ranks = cfg->ranks,
					 .mtu = 256,
					 .message_bytes = cfg->message_bytes,
					 .max_ops = cfg->max_ops};

		must(2 * rf_hosts_reach(cfg->ranks) <= HOSTS_CONNS);
		for (uint32_t k = 0; k < 2 * rf_hosts_reach(cfg->ranks); k++) {
			struct hosts_end *e = &n->end[r][k];

			*e = (struct hosts_end){.net = n, .rank = r, .conn = k};
			(k & 1 ? c.prev : c.next)[k / 2] =
				(struct rf_msg){cfg->plain ? &without_imm : &with_imm, e};
		}
		c.scratch_bytes = rf_hosts_scratch_bytes(&c);
		c.scratch = n->scratch[r] = alloc(c.scratch_bytes);
		must(rf_hosts_create(&c, &n->machine[r]) == RF_COLL_OK);
	}
}

void hosts_end(struct hosts *n)
{
	for (uint32_t r = 0; r < n->cfg.ranks; r++) {
		rf_hosts_destroy(n->machine[r]);
		free(n->scratch[r]);
		for (uint32_t k = 0; k < HOSTS_CONNS; k++)
			for (uint32_t i = 0; i < HOSTS_DEPTH; i++)
				free(n->end[r][k].send[i].copy);
	}
	for (uint32_t i = 0; i < n->works; i++) {
		struct hosts_work *w = &n->work[i];

		for (uint32_t r = 0; r < n->cfg.ranks; r++) {
			free(w->before[r]);
			free(w->want[r]);
			free(w->memory[r]);
			if (!w->memory[r]) {
				free(w->send[r]);
				free(w->recv[r]);
			}
		}
	}
}

static bool sends(const struct hosts_work *w, uint32_t rank)
{
	enum rf_collective_kind k = w->call.kind;

	if (k == RF_SCHEDULE_BROADCAST || k == RF_SCHEDULE_SCATTER)
		return rank == w->call.root;
	return k != RF_SCHEDULE_BARRIER;
}

static bool receives(const struct hosts_work *w, uint32_t rank)
{
	enum rf_collective_kind k = w->call.kind;

	if (k == RF_SCHEDULE_REDUCE || k == RF_SCHEDULE_GATHER)
		return rank == w->call.root;
	return k != RF_SCHEDULE_BARRIER;
}

static void buffers(struct hosts *n, struct hosts_work *w, uint32_t r)
{
	struct hosts_layout l = hosts_layout(w, n->cfg.ranks);
	bool blocks = l.send_blocks || l.recv_blocks;
	uint64_t own = l.at[r + 1] - l.at[r];
	uint64_t send = l.send_blocks || !blocks ? l.bytes : own;
	uint64_t recv = l.recv_blocks || !blocks ? l.bytes : own;
	char *from = NULL, *to = NULL;

	if (w->in_place && sends(w, r) && receives(w, r)) {
		char *both = w->memory[r] = alloc(l.bytes);

		from = l.recv_blocks ? both + l.at[r] : both;
		to = l.send_blocks ? both + l.at[r] : both;
	} else {
		from = sends(w, r) ? alloc(send) : NULL;
		to = receives(w, r) ? alloc(recv) : NULL;
	}
	for (uint64_t k = 0; from && k < send; k++)
		from[k] = (char)roce_random(&n->rng);
	w->send[r] = from;
	w->recv[r] = to;
	w->send_len[r] = from ? send : 0;
	w->before[r] = alloc(send);
	if (from)
		memcpy(w->before[r], from, send);
}

struct hosts_work *hosts_add(struct hosts *n, enum rf_collective_kind kind, enum rf_arith_type type,
			     enum rf_arith_op op, uint32_t root, uint64_t count, bool spread,
			     bool in_place)
{
	struct hosts_work *w = &n->work[n->works++];

	must(n->works <= HOSTS_CALLS);
	w->call = (struct rf_directed_call){
		.kind = kind, .type = type, .op = op, .root = root, .count = count};
	for (uint32_t r = 0; r < n->cfg.ranks; r++)
		w->counts[r] = roce_random_below(&n->rng, 3)
				       ? roce_random_below(&n->rng, (uint32_t)count + 1)
				       : 0;
	if (spread)
		w->call.counts = w->counts;
	w->in_place = in_place;
	for (uint32_t r = 0; r < n->cfg.ranks; r++)
		buffers(n, w, r);
	hosts_want(w, n->cfg.ranks);
	return w;
}

/* ---- running ---- */

/* Starts a call or not, and lets the machine run once. */
static bool run_rank(struct hosts *n, uint32_t r)
{
	struct rf_coll_done done;
	bool any = false;

	if (n->started[r] < n->works && n->status[r] == RF_COLL_OK &&
	    roce_random_below(&n->rng, 2)) {
		const struct hosts_work *w = &n->work[n->started[r]];
		struct rf_directed_call call = w->call;
		int result;

		call.send = w->send[r];
		call.recv = w->recv[r];
		result = rf_hosts_start(n->machine[r], n->started[r], &call);
		must(result == RF_COLL_OK || result == RF_COLL_AGAIN || result == n->status[r]);
		any = result == RF_COLL_OK;
		n->started[r] += any;
	}
	any |= rf_hosts_progress(n->machine[r]) > 0;
	while (rf_hosts_poll(n->machine[r], &done)) {
		must(done.id == n->done[r]);
		n->done[r]++;
		n->status[r] = done.status;
		any = true;
	}
	return any;
}

static bool is_over(const struct hosts *n)
{
	for (uint32_t r = 0; r < n->cfg.ranks; r++) {
		if (n->status[r] != RF_COLL_OK)
			return true;
		if (n->done[r] < n->works)
			return false;
	}
	return true;
}

int hosts_run(struct hosts *n)
{
	uint32_t idle = 0;

	while (!is_over(n)) {
		uint32_t r = roce_random_below(&n->rng, n->cfg.ranks);
		bool any = run_rank(n, r);

		for (uint32_t k = 0; k < 2 * rf_hosts_reach(n->cfg.ranks); k++) {
			uint32_t draw = roce_random_below(&n->rng, 16);

			while (draw & 3 && deliver(&n->end[r][k])) {
				any = true;
				draw -= 1;
			}
			if (draw & 8)
				any |= acknowledge(&n->end[r][k]);
		}
		idle = any ? 0 : idle + 1;
		if (idle == IDLE_MAX)
			return 0;
	}
	return 1;
}

uint64_t hosts_wrong(const struct hosts *n)
{
	uint64_t wrong = n->changed;

	for (uint32_t i = 0; i < n->works; i++) {
		const struct hosts_work *w = &n->work[i];

		for (uint32_t r = 0; r < n->cfg.ranks; r++) {
			const uint8_t *got = w->recv[r], *want = w->want[r], *sent = w->send[r];
			const uint8_t *before = w->before[r];

			for (uint64_t k = 0; k < w->want_len[r]; k++)
				wrong += got[k] != want[k];
			if (got && !w->memory[r])
				wrong += got[w->want_len[r]] != MARK;
			for (uint64_t k = 0; !w->memory[r] && k < w->send_len[r]; k++)
				wrong += sent[k] != before[k];
		}
	}
	return wrong;
}
