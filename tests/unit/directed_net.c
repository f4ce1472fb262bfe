#include "tests/unit/directed_net.h"

#include <stdlib.h>
#include <string.h>

#define BLANK 0x5a

static void must(int ok)
{
	if (!ok)
		abort();
}

static void *alloc(uint64_t n)
{
	void *p = malloc(n + 8);

	must(p != NULL);
	memset(p, BLANK, n + 8);
	return p;
}

static struct roce_qp *make_qp(struct directed *d, uint32_t host, uint32_t qpn, uint32_t peer_host,
			       uint32_t peer_qpn, uint32_t sq_psn, uint32_t rq_psn)
{
	struct roce_qp_peer peer = {.ip = roce_net_ip(peer_host), .qpn = peer_qpn};
	struct roce_qp_cfg cfg;
	struct roce_qp *qp;

	roce_qp_cfg_init(&cfg);
	roce_net_mac(host, cfg.mac);
	roce_net_mac(peer_host, peer.mac);
	if (d->cfg.mirror) {
		peer.ip = directed_box_ip();
		directed_box_mac(peer.mac);
	}
	cfg.ip = roce_net_ip(host);
	cfg.qpn = qpn;
	cfg.sq_psn = sq_psn;
	cfg.rq_psn = rq_psn;
	cfg.mtu = d->cfg.mtu;
	cfg.window = DIRECTED_SLOTS / 2;
	cfg.sq_depth = cfg.rq_depth = DIRECTED_SLOTS;
	cfg.ack_timeout = 30000;
	cfg.ack_timeout_max = 240000;
	cfg.retry_cnt = ROCE_RETRY_FOREVER;
	cfg.mirror = d->cfg.mirror;
	cfg.single = d->cfg.message_packets < 2;
	cfg.selective = d->cfg.selective;
	must(roce_qp_create(&cfg, &qp) == ROCE_OK);
	must(roce_qp_to_rtr(qp, &peer) == ROCE_OK);
	must(roce_qp_to_rts(qp) == ROCE_OK);
	must(roce_endpoint_add_qp(d->net.hosts[host], qp) == ROCE_OK);
	return qp;
}

static void connect(struct directed *d)
{
	uint32_t n = d->cfg.ranks;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t psn = roce_random_below(&d->net.rng, 1u << 24), next = (i + 1) % n;

		d->box[i].start = (psn - d->cfg.first_index) & ROCE_PSN_MASK;
		d->box[i].next = d->box[i].una = d->box[i].sent = d->cfg.first_index;
		d->box[i].place.port = (uint8_t)(i % 4);
		d->box[i].place.lane = (uint8_t)(i / 4);
		if (d->cfg.mirror) {
			d->to_next[i] = make_qp(d, i, 17, i, 17, psn, psn);
			d->from_prev[i] = d->to_next[i];
		} else {
			d->to_next[i] = make_qp(d, i, 100 + i, next, 200 + next, psn, 0);
			d->from_prev[next] = make_qp(d, next, 200 + next, i, 100 + i, 0,
						     (psn - DIRECTED_SHIFT) & ROCE_PSN_MASK);
		}
	}
	d->head = d->cfg.first_index;
}

/* Starts what may be started, and reads what is done. Returns how much it did. */
static unsigned int work_of(struct directed *d, uint32_t r)
{
	struct rf_coll_done done;
	unsigned int n = 0;

	while (d->started[r] < d->works) {
		const struct directed_work *w = &d->work[d->started[r]];
		struct rf_directed_call call = w->call;

		call.send = w->send[r];
		call.recv = w->recv[r];
		if (call.counts)
			call.counts = w->counts;
		if (rf_directed_start(d->group[r], d->started[r], &call) != RF_COLL_OK)
			break;
		d->started[r]++;
		n++;
	}
	while (rf_directed_progress(d->group[r]) > 0)
		;
	for (; rf_directed_poll(d->group[r], &done); n++) {
		must(done.id == d->done[r]);
		d->done[r]++;
		d->status[r] = done.status;
	}
	return n;
}

static void work(void *ctx)
{
	struct directed *d = ctx;

	for (uint32_t r = 0; r < d->cfg.ranks; r++)
		while (work_of(d, r) > 0)
			;
}

static int done(void *ctx)
{
	const struct directed *d = ctx;

	if (d->error)
		return 1;
	for (uint32_t r = 0; r < d->cfg.ranks; r++) {
		if (d->status[r] == RF_COLL_OK && d->done[r] < d->works)
			return 0;
	}
	return 1;
}

void directed_start(struct directed *d, const struct directed_cfg *cfg, struct roce_random rng)
{
	memset(d, 0, sizeof(*d));
	d->cfg = *cfg;
	roce_net_init(&d->net, rng);
	d->net.hook = directed_box_hook;
	d->net.hook_ctx = d->net.ctx = d;
	d->net.work = work;
	d->net.done = done;
	for (uint32_t i = 0; i < cfg->ranks; i++)
		roce_net_host(&d->net);
	if (cfg->ranks > 1)
		connect(d);
	for (uint32_t i = 0; i < cfg->ranks; i++) {
		struct rf_directed_cfg c = {
			.rank = i,
			.ranks = cfg->ranks,
			.next = cfg->mirror ? i : (i + 1) % cfg->ranks,
			.prev = cfg->mirror ? i : (i + cfg->ranks - 1) % cfg->ranks,
			.mtu = cfg->mtu,
			.type = cfg->type,
			.op = cfg->op,
			.message_packets = cfg->message_packets,
			.window_packets = cfg->message_packets > 1 ? DIRECTED_SLOTS / 2 : 0,
			.await_sends = !cfg->mirror || cfg->message_packets > 1,
			.max_ops = cfg->max_ops,
			.first_index = cfg->first_index,
		};

		if (cfg->ranks > 1) {
			c.to_next = rf_msg_qp(d->to_next[i]);
			c.from_prev = rf_msg_qp(d->from_prev[i]);
		}
		must(rf_directed_create(&c, &d->group[i]) == RF_COLL_OK);
	}
}

void directed_end(struct directed *d)
{
	for (uint32_t i = 0; i < d->cfg.ranks; i++)
		rf_directed_destroy(d->group[i]);
	roce_net_free(&d->net);
	for (uint32_t i = 0; i < d->cfg.ranks; i++) {
		roce_qp_destroy(d->to_next[i]);
		if (d->from_prev[i] != d->to_next[i])
			roce_qp_destroy(d->from_prev[i]);
	}
	for (uint32_t w = 0; w < d->works; w++) {
		for (uint32_t i = 0; i < d->cfg.ranks; i++) {
			free(d->work[w].memory[i]);
			free(d->work[w].want[i]);
			if (!d->work[w].in_place)
				free(d->work[w].send[i]);
		}
	}
}

/* ---- what is expected, from the definition of each collective ---- */

struct layout {
	uint64_t at[DIRECTED_RANKS + 1]; /* where each block begins, bytes */
	uint64_t bytes;                  /* of the vector or of all blocks */
	bool send_blocks, recv_blocks;
};

static struct layout layout_of(const struct directed *d, const struct directed_work *w)
{
	uint64_t size = rf_arith_size(w->call.type);
	bool blocks =
		w->call.kind >= RF_SCHEDULE_REDUCE_SCATTER && w->call.kind <= RF_SCHEDULE_SCATTER;
	struct layout l = {.bytes = w->call.count * size};

	l.send_blocks =
		w->call.kind == RF_SCHEDULE_REDUCE_SCATTER || w->call.kind == RF_SCHEDULE_SCATTER;
	l.recv_blocks =
		w->call.kind == RF_SCHEDULE_ALL_GATHER || w->call.kind == RF_SCHEDULE_GATHER;
	for (uint32_t r = 0; blocks && r < d->cfg.ranks; r++)
		l.at[r + 1] = l.at[r] + size * (w->call.counts ? w->counts[r] : w->call.count);
	if (blocks)
		l.bytes = l.at[d->cfg.ranks];
	return l;
}

static uint64_t block(const struct layout *l, uint32_t r)
{
	return l->at[r + 1] - l->at[r];
}

static void *reduced(const struct directed *d, const struct directed_work *w, uint64_t bytes)
{
	struct rf_place places[DIRECTED_RANKS];
	void *out = alloc(bytes);

	for (uint32_t r = 0; r < d->cfg.ranks; r++)
		places[r] = (struct rf_place){(uint8_t)(r % 4), (uint8_t)(r / 4)};
	if (d->cfg.ranks == 1)
		memcpy(out, w->send[0], bytes); /* no box: a copy */
	else
		must(rf_order_reduce(w->call.type, w->call.op, d->cfg.ranks, places,
				     (const void *const *)w->send, out,
				     bytes / rf_arith_size(w->call.type)) == 0);
	return out;
}

static void want_blocks(struct directed *d, struct directed_work *w, const struct layout *l)
{
	void *sum = w->call.kind == RF_SCHEDULE_REDUCE_SCATTER ? reduced(d, w, l->bytes) : NULL;
	uint32_t root = w->call.root;

	for (uint32_t r = 0; r < d->cfg.ranks; r++) {
		bool all = l->recv_blocks && (w->call.kind == RF_SCHEDULE_ALL_GATHER || r == root);

		w->want_len[r] = all ? l->bytes : l->recv_blocks ? 0 : block(l, r);
		w->want[r] = alloc(w->want_len[r]);
		if (sum)
			memcpy(w->want[r], (char *)sum + l->at[r], block(l, r));
		else if (w->call.kind == RF_SCHEDULE_SCATTER)
			memcpy(w->want[r], (char *)w->send[root] + l->at[r], block(l, r));
		for (uint32_t k = 0; all && k < d->cfg.ranks; k++)
			memcpy((char *)w->want[r] + l->at[k], w->send[k], block(l, k));
	}
	free(sum);
}

static void want_vector(struct directed *d, struct directed_work *w, const struct layout *l)
{
	bool reduces = w->call.kind != RF_SCHEDULE_BROADCAST;
	void *sum = reduces ? reduced(d, w, l->bytes) : NULL;

	for (uint32_t r = 0; r < d->cfg.ranks; r++) {
		bool wants = w->call.kind != RF_SCHEDULE_REDUCE || r == w->call.root;

		w->want_len[r] = wants ? l->bytes : 0;
		w->want[r] = alloc(w->want_len[r]);
		if (wants)
			memcpy(w->want[r], reduces ? sum : w->send[w->call.root], l->bytes);
	}
	free(sum);
}

/* A buffer for what rank r sends and one for what it receives; in place: one for both. */
static void buffers(struct directed *d, struct directed_work *w, const struct layout *l, uint32_t r,
		    bool in_place)
{
	bool blocks = l->send_blocks || l->recv_blocks;
	uint64_t send = l->send_blocks || !blocks ? l->bytes : block(l, r);
	uint64_t recv = l->recv_blocks || !blocks ? l->bytes : block(l, r);
	char *from = alloc(send), *to;

	for (uint64_t k = 0; k < send; k++)
		from[k] = (char)roce_random(&d->net.rng);
	w->send[r] = from;
	to = alloc(recv);
	if (in_place && l->send_blocks) {
		free(to);
		w->recv[r] = from + l->at[r];
		w->memory[r] = from;
	} else if (in_place) {
		uint64_t at = l->recv_blocks ? l->at[r] : 0;

		memcpy(to + at, from, send);
		free(from);
		w->memory[r] = to;
		w->recv[r] = to;
		w->send[r] = to + at;
	} else {
		w->recv[r] = w->memory[r] = to;
	}
}

void directed_add(struct directed *d, enum rf_collective_kind kind, enum rf_arith_type type,
		  enum rf_arith_op op, uint32_t root, uint64_t count, bool spread, bool in_place)
{
	struct directed_work *w = &d->work[d->works++];
	struct layout l;
	uint32_t r;

	must(d->works <= DIRECTED_CALLS);
	w->call = (struct rf_directed_call){
		.kind = kind, .type = type, .op = op, .root = root, .count = count};
	for (r = 0; r < d->cfg.ranks; r++)
		w->counts[r] = roce_random_below(&d->net.rng, 3)
				       ? roce_random_below(&d->net.rng, (uint32_t)count + 1)
				       : 0;
	if (spread)
		w->call.counts = w->counts;
	w->in_place = in_place;
	l = layout_of(d, w);
	for (r = 0; r < d->cfg.ranks; r++)
		buffers(d, w, &l, r, in_place);
	if (kind == RF_SCHEDULE_BARRIER)
		for (r = 0; r < d->cfg.ranks; r++)
			w->want[r] = alloc(0);
	else if (l.send_blocks || l.recv_blocks)
		want_blocks(d, w, &l);
	else
		want_vector(d, w, &l);
	/* Random bits of floating types hold NaNs: in place, the operand is gone when it is done.
	 */
}

int directed_run(struct directed *d, uint64_t limit)
{
	return roce_net_run(&d->net, limit);
}

uint64_t directed_wrong(const struct directed *d)
{
	uint64_t n = 0;

	for (uint32_t k = 0; k < d->works; k++) {
		const struct directed_work *w = &d->work[k];

		for (uint32_t r = 0; r < d->cfg.ranks; r++)
			for (uint64_t i = 0; i < w->want_len[r]; i++)
				n += ((uint8_t *)w->recv[r])[i] != ((uint8_t *)w->want[r])[i];
	}
	return n;
}
