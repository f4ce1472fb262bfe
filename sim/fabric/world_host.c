/* The hosts of a world: queue pairs and the machine of collectives. */
#include <stdio.h>
#include <string.h>

#include "sim/fabric/world_internal.h"

#define ECT_0 2u /* the packet may be marked */
#define TIMEOUT_GROWTH 64u
#define QPN_FIRST 0x100u

uint32_t rf_world_qpn(const struct rf_world *w, unsigned group, unsigned rank, bool sends)
{
	struct rf_rng rng = rf_rng_make(w->cfg.seed, UINT64_C(7) << 40 | group << 16 | rank);

	/* At random, as the transport draws it on a mirror connection. */
	if (w->cfg.mirror)
		return 0x10u + (uint32_t)rf_rng_below(&rng, 0xfffff0);
	return QPN_FIRST + 1000 * group + 2 * rank + !sends;
}

uint32_t rf_world_psn(const struct rf_world *w, unsigned group, unsigned rank)
{
	struct rf_rng rng = rf_rng_make(w->cfg.seed, UINT64_C(8) << 40 | group << 16 | rank);

	return (uint32_t)rf_rng_next(&rng) & ROCE_PSN_MASK;
}

struct rf_place rf_world_place(const struct rf_world *w, unsigned rank)
{
	return (struct rf_place){(uint8_t)(rank % w->cfg.ports), (uint8_t)(rank / w->cfg.ports)};
}

static struct roce_qp *make_qp(struct rf_world *w, unsigned group, unsigned rank, bool sends)
{
	unsigned n = w->cfg.ranks, other = sends ? (rank + 1) % n : (rank + n - 1) % n;
	struct roce_qp_peer peer = {.ip = rf_world_host_ip(w, other),
				    .qpn = rf_world_qpn(w, group, other, !sends)};
	struct roce_qp_cfg cfg;
	struct roce_qp *qp;

	roce_qp_cfg_init(&cfg);
	rf_world_host_mac(rank, cfg.mac);
	rf_world_host_mac(other, peer.mac);
	cfg.ip = rf_world_host_ip(w, rank);
	cfg.tos = w->cfg.no_reaction ? 0 : ECT_0;
	cfg.qpn = rf_world_qpn(w, group, rank, sends);
	cfg.sq_psn = rf_world_psn(w, group, rank);
	cfg.rq_psn = (rf_world_psn(w, group, other) - RF_WORLD_SHIFT) & ROCE_PSN_MASK;
	cfg.mtu = w->cfg.mtu;
	cfg.window = w->cfg.slots / 2;
	if (w->cfg.selective)
		cfg.window = roce_selective_window(cfg.window);
	cfg.sq_depth = cfg.rq_depth = 2 * w->cfg.slots;
	cfg.ack_timeout = w->cfg.ack_timeout_ns;
	cfg.ack_timeout_max = TIMEOUT_GROWTH * w->cfg.ack_timeout_ns;
	cfg.selective = w->cfg.selective;
	cfg.single = w->cfg.message_packets < 2;
	if (w->cfg.mirror) {
		unsigned port = rf_world_place(w, rank).port;

		cfg.mirror = true;
		cfg.rq_psn = cfg.sq_psn;
		peer.ip = rf_world_port_ip(port);
		peer.qpn = cfg.qpn;
		rf_world_port_mac(port, peer.mac);
		if (w->cfg.router)
			rf_world_router_mac(peer.mac);
	}
	if (roce_qp_create(&cfg, &qp) != ROCE_OK)
		return NULL;
	if (roce_qp_to_rtr(qp, &peer) == ROCE_OK && roce_qp_to_rts(qp) == ROCE_OK &&
	    roce_endpoint_add_qp(w->host[rank].ep, qp) == ROCE_OK)
		return qp;
	roce_qp_destroy(qp);
	return NULL;
}

static int start_group(struct rf_world *w, unsigned group, unsigned rank)
{
	unsigned n = w->cfg.ranks;
	struct rf_world_host *h = &w->host[rank];
	struct rf_directed_cfg cfg = {
		.rank = rank,
		.ranks = n,
		.next = w->cfg.mirror ? rank : (rank + 1) % n,
		.prev = w->cfg.mirror ? rank : (rank + n - 1) % n,
		.mtu = w->cfg.mtu,
		.type = w->cfg.type,
		.op = w->cfg.op,
		.message_packets = w->cfg.message_packets,
		.await_sends = !w->cfg.mirror,
		.max_ops = w->cfg.max_ops,
	};

	h->to_next[group] = make_qp(w, group, rank, true);
	h->from_prev[group] = w->cfg.mirror ? h->to_next[group] : make_qp(w, group, rank, false);
	if (!h->to_next[group] || !h->from_prev[group])
		return -1;
	cfg.to_next = rf_msg_qp(h->to_next[group]);
	cfg.from_prev = rf_msg_qp(h->from_prev[group]);
	return rf_directed_create(&cfg, &h->group[group]) == RF_COLL_OK ? 0 : -1;
}

static int start_host(struct rf_world *w, unsigned rank)
{
	struct rf_world_host *h = &w->host[rank];
	struct roce_endpoint_cfg ep = {.ip = rf_world_host_ip(w, rank),
				       .max_qps = 2 * RF_WORLD_GROUPS};

	h->rank = rank;
	h->wake = UINT64_MAX;
	rf_world_host_mac(rank, ep.mac);
	if (roce_endpoint_create(&ep, &h->ep) != ROCE_OK)
		return -1;
	for (unsigned g = 0; g < w->cfg.groups; g++)
		if (start_group(w, g, rank) != 0)
			return -1;
	return 0;
}

int rf_world_hosts_start(struct rf_world *w, char *why, size_t room)
{
	for (unsigned r = 0; r < w->cfg.ranks; r++) {
		if (start_host(w, r) != 0) {
			snprintf(why, room, "cannot create host %u", r);
			return -1;
		}
	}
	return 0;
}

void rf_world_hosts_free(struct rf_world *w)
{
	for (unsigned r = 0; r < w->cfg.ranks; r++) {
		struct rf_world_host *h = &w->host[r];

		roce_endpoint_destroy(h->ep);
		for (unsigned g = 0; g < w->cfg.groups; g++) {
			rf_directed_destroy(h->group[g]);
			if (h->from_prev[g] != h->to_next[g])
				roce_qp_destroy(h->from_prev[g]);
			roce_qp_destroy(h->to_next[g]);
		}
	}
}

/* Starts a call; false if its group takes none at present. */
static bool start_call(struct rf_world *w, struct rf_world_host *h, struct rf_world_work *k)
{
	struct rf_directed_call call = {.kind = k->call.kind,
					.type = k->call.type,
					.op = k->call.op,
					.root = k->call.root,
					.count = k->call.count,
					.counts = k->call.spread ? k->counts : NULL,
					.send = k->send[h->rank],
					.recv = k->recv[h->rank]};
	int result = rf_directed_start(h->group[k->call.group], (uint64_t)(k - w->work), &call);

	if (result == RF_COLL_AGAIN)
		return false;
	h->status = result;
	k->first = w->now < k->first ? w->now : k->first;
	return true;
}

/* Starts the calls that may be started, and reads what is done. True if it did something. */
static bool make_calls(struct rf_world *w, struct rf_world_host *h, unsigned group)
{
	struct rf_coll_done done;
	bool any = false;

	for (; h->next[group] < w->works && h->status == RF_COLL_OK; h->next[group]++) {
		struct rf_world_work *k = &w->work[h->next[group]];

		if (k->call.group != group)
			continue;
		if (!start_call(w, h, k))
			break;
		any = true;
	}
	while (rf_directed_progress(h->group[group]) > 0)
		;
	while (rf_directed_poll(h->group[group], &done)) {
		struct rf_world_work *k = &w->work[done.id];

		h->done++;
		if (h->status == RF_COLL_OK)
			h->status = done.status;
		k->last = w->now > k->last ? w->now : k->last;
		any = true;
	}
	return any;
}

static void wake_at(struct rf_world *w, struct rf_world_host *h, uint64_t at)
{
	if (at >= h->wake || at == UINT64_MAX)
		return;
	h->wake = at;
	if (rf_events_add(&w->events, at, RF_WORLD_WAKE, h->rank, NULL) != 0)
		w->failed = true;
}

/* Puts one frame on the wire if it is free; returns when to look again. */
static uint64_t transmit(struct rf_world *w, struct rf_world_host *h)
{
	struct rf_world_link *up = rf_world_link(w, false, h->rank, true);
	uint8_t data[ROCE_FRAME_MAX];
	size_t len;

	if (up->free_at > w->now)
		return up->free_at;
	len = roce_endpoint_tx(h->ep, w->now / RF_WORLD_PS, data, sizeof(data));
	return len == 0 ? UINT64_MAX : rf_world_send(w, up, w->now, data, len);
}

void rf_world_host_run(struct rf_world *w, unsigned rank)
{
	struct rf_world_host *h = &w->host[rank];
	uint64_t wire, timer;

	for (unsigned g = 0; g < w->cfg.groups; g++)
		while (make_calls(w, h, g))
			;
	wire = transmit(w, h);
	timer = roce_endpoint_next_timeout(h->ep);
	timer = timer >= UINT64_MAX / RF_WORLD_PS ? UINT64_MAX : timer * RF_WORLD_PS;
	if (timer <= w->now)
		timer = wire != UINT64_MAX ? wire : w->now + RF_WORLD_PS;
	wake_at(w, h, wire < timer ? wire : timer);
}

void rf_world_host_frame(struct rf_world *w, unsigned rank, const uint8_t *data, size_t len)
{
	roce_endpoint_rx(w->host[rank].ep, w->now / RF_WORLD_PS, data, len);
	rf_world_host_run(w, rank);
}

bool rf_world_host_done(const struct rf_world *w, unsigned rank)
{
	const struct rf_world_host *h = &w->host[rank];
	bool idle = true;

	for (unsigned g = 0; g < w->cfg.groups; g++)
		idle &= roce_qp_send_idle(h->to_next[g]);
	return h->status != RF_COLL_OK || (h->done == w->works && idle);
}
