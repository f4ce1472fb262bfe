#include "tests/unit/collective_ring.h"

#include <stdlib.h>
#include <string.h>

static void must(int ok)
{
	if (!ok)
		abort();
}

static void *alloc(size_t n)
{
	void *p = malloc(n ? n : 1);

	must(p != NULL);
	return p;
}

static struct roce_qp *make_qp(struct ring *r, uint32_t host, uint32_t peer_host, uint32_t qpn,
			       uint32_t peer_qpn, uint32_t sq_psn, uint32_t rq_psn)
{
	struct roce_qp_peer peer = {.ip = roce_net_ip(peer_host), .qpn = peer_qpn};
	struct roce_qp_cfg cfg;
	struct roce_qp *qp;

	roce_qp_cfg_init(&cfg);
	roce_net_mac(host, cfg.mac);
	roce_net_mac(peer_host, peer.mac);
	cfg.ip = roce_net_ip(host);
	cfg.qpn = qpn;
	cfg.sq_psn = sq_psn;
	cfg.rq_psn = rq_psn;
	cfg.mtu = r->cfg.mtu;
	cfg.window = RING_SLOTS / 2;
	cfg.sq_depth = 4;
	cfg.rq_depth = 5;
	cfg.ack_timeout = 30000;
	cfg.ack_timeout_max = 240000;
	cfg.retry_cnt = r->cfg.retry_cnt ? r->cfg.retry_cnt : ROCE_RETRY_FOREVER;
	must(roce_qp_create(&cfg, &qp) == ROCE_OK);
	must(roce_qp_to_rtr(qp, &peer) == ROCE_OK);
	must(roce_qp_to_rts(qp) == ROCE_OK);
	must(roce_endpoint_add_qp(r->net.hosts[host], qp) == ROCE_OK);
	return qp;
}

static void connect(struct ring *r)
{
	uint32_t n = r->cfg.ranks;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t peer = (i + 1) % n;
		uint32_t psn = roce_random_below(&r->net.rng, 1u << 24);
		uint32_t expected = (psn - RING_SHIFT) & ROCE_PSN_MASK;

		r->box->start[i] = psn;
		r->box->places[i].port = (uint8_t)(i % r->cfg.ports);
		r->box->places[i].lane = (uint8_t)(i / r->cfg.ports);
		r->next[i] = make_qp(r, i, peer, 100 + i, 200 + peer, psn, 0);
		r->prev[peer] = make_qp(r, peer, i, 200 + peer, 100 + i, 0, expected);
	}
}

static void make_groups(struct ring *r)
{
	for (uint32_t i = 0; i < r->cfg.ranks; i++) {
		struct rf_coll_cfg cfg = {
			.rank = i,
			.ranks = r->cfg.ranks,
			.type = r->cfg.type,
			.op = r->cfg.op,
			.mtu = r->cfg.mtu,
			.message_bytes = r->cfg.message_packets * r->cfg.mtu,
			.max_ops = r->cfg.max_ops,
			.to_next = rf_msg_qp(r->next[i]),
			.from_prev = rf_msg_qp(r->prev[i]),
		};

		must(rf_coll_create(&cfg, &r->coll[i]) == RF_COLL_OK);
	}
}

static void work_rank(struct ring *r, uint32_t i)
{
	struct rf_coll_done done;

	while (r->started[i] < r->op_count && r->net.now >= r->begin[i]) {
		const struct ring_work *w = &r->ops[r->started[i]];
		int error =
			rf_coll_start(r->coll[i], r->started[i], w->send[i], w->recv[i], w->count);

		if (error == RF_COLL_AGAIN || r->status[i] != 0)
			break;
		must(error == RF_COLL_OK);
		r->started[i]++;
	}
	while (rf_coll_progress(r->coll[i]) > 0)
		;
	while (rf_coll_poll(r->coll[i], &done)) {
		must(done.id == r->done[i]);
		r->done[i]++;
		r->status[i] = done.status;
		r->end[i] = r->net.now;
	}
}

static void work(void *ctx)
{
	struct ring *r = ctx;

	r->net.wake = UINT64_MAX;
	for (uint32_t i = 0; i < r->cfg.ranks; i++) {
		work_rank(r, i);
		if (r->begin[i] > r->net.now && r->begin[i] < r->net.wake)
			r->net.wake = r->begin[i];
	}
}

static int done(void *ctx)
{
	const struct ring *r = ctx;

	for (uint32_t i = 0; i < r->cfg.ranks; i++)
		if (r->done[i] < r->op_count && r->status[i] == 0)
			return 0;
	return 1;
}

void ring_start(struct ring *r, const struct ring_cfg *cfg, struct roce_random rng)
{
	memset(r, 0, sizeof(*r));
	r->cfg = *cfg;
	roce_net_init(&r->net, rng);
	r->net.work = work;
	r->net.done = done;
	r->net.ctx = r;
	for (uint32_t i = 0; i < cfg->ranks; i++) {
		roce_net_host(&r->net);
		r->begin[i] = cfg->late ? roce_random_below(&r->net.rng, 100000) : 0;
	}
	r->box = calloc(1, sizeof(*r->box));
	must(r->box != NULL);
	r->box->forge = UINT64_MAX;
	r->net.hook = ring_box_hook;
	r->net.hook_ctx = r;
	connect(r);
	make_groups(r);
}

void ring_end(struct ring *r)
{
	for (uint32_t i = 0; i < r->cfg.ranks; i++) {
		rf_coll_destroy(r->coll[i]);
		for (uint32_t k = 0; k < r->op_count; k++) {
			free(r->ops[k].in[i]);
			free(r->ops[k].send[i]);
			if (!r->ops[k].in_place)
				free(r->ops[k].recv[i]);
		}
	}
	for (uint32_t k = 0; k < r->op_count; k++)
		free(r->ops[k].want);
	roce_net_free(&r->net);
	for (uint32_t i = 0; i < r->cfg.ranks; i++) {
		roce_qp_destroy(r->next[i]);
		roce_qp_destroy(r->prev[i]);
	}
	free(r->box);
}

/* Random bits, including NaN, infinities and subnormals; for sums mostly numbers of similar size.
 */
static void fill(struct ring *r, uint32_t *words, size_t bytes)
{
	for (size_t k = 0; k < bytes / 4; k++) {
		words[k] = roce_random(&r->net.rng);
		if (r->cfg.type == RF_ARITH_FP32 && k % 16)
			words[k] = (words[k] & 0x81ffffff) | 0x3e000000;
	}
}

void ring_add(struct ring *r, size_t count, bool in_place)
{
	struct ring_work *w = &r->ops[r->op_count++];
	size_t bytes = count * rf_arith_size(r->cfg.type);
	size_t room = (bytes + 3) / 4 * 4;

	w->count = count;
	w->in_place = in_place;
	w->want = alloc(room);
	for (uint32_t i = 0; i < r->cfg.ranks; i++) {
		w->in[i] = alloc(room);
		fill(r, w->in[i], room);
		w->send[i] = alloc(room);
		memcpy(w->send[i], w->in[i], room);
		w->recv[i] = in_place ? w->send[i] : alloc(room);
		if (!in_place)
			memset(w->recv[i], 0xcc, room);
	}
	if (r->cfg.ranks == 1)
		memcpy(w->want, w->in[0], room);
	else
		must(rf_order_reduce(r->cfg.type, r->cfg.op, r->cfg.ranks, r->box->places,
				     (const void *const *)w->in, w->want, count) == 0);
}

int ring_run(struct ring *r, uint64_t limit)
{
	return roce_net_run(&r->net, limit);
}

size_t ring_wrong(const struct ring *r)
{
	size_t size = rf_arith_size(r->cfg.type);
	size_t wrong = 0;

	for (uint32_t k = 0; k < r->op_count; k++) {
		const struct ring_work *w = &r->ops[k];

		for (uint32_t i = 0; i < r->cfg.ranks; i++) {
			for (size_t e = 0; e < w->count; e++)
				wrong += memcmp((char *)w->recv[i] + e * size,
						(char *)w->want + e * size, size) != 0;
			/* Read-only buffers were not written. */
			if (!w->in_place)
				wrong += memcmp(w->send[i], w->in[i], w->count * size) != 0;
		}
	}
	return wrong;
}
