#include "sim/fabric/world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/fabric/world_internal.h"

void rf_world_cfg_init(struct rf_world_cfg *cfg)
{
	*cfg = (struct rf_world_cfg){
		.engine = rf_model_engine(),
		.ports = 4,
		.lanes = 1,
		.width = 512,
		.ranks = 4,
		.groups = 1,
		.mirror = true,
		.selective = true,
		.mtu = 4096,
		.slots = 512,
		.max_ops = 4,
		.rate = UINT64_C(100000000000),
		.delay_ns = 1000,
		.ack_timeout_ns = 1000000,
		.switch_buffer = 16u << 20,
		.seed = 1,
	};
}

static const char *refuse(const struct rf_world_cfg *c)
{
	if (!c->engine)
		return "no engine for the box";
	if (c->ports < 2 || c->ports > 8)
		return "ports: expected 2 to 8";
	if (c->ranks < 2 || c->ranks > RF_WORLD_RANKS || c->ranks > 16 * c->ports)
		return "ranks: expected 2 to 64, at most 16 for each port";
	if (c->groups < 1 || c->groups > RF_WORLD_GROUPS)
		return "groups: expected 1 or 2";
	if (c->mtu < 256 || c->mtu > 4096 || (c->mtu & (c->mtu - 1)) != 0)
		return "path MTU: expected 256, 512, 1024, 2048 or 4096";
	if (c->slots < 16 || c->slots > 4096 || (c->slots & (c->slots - 1)) != 0)
		return "slots: expected a power of two from 16 to 4096";
	if (c->rate < 1000000 || c->rate > UINT64_C(10000000000000))
		return "rate: expected 1M to 10T";
	if (c->router && !c->mirror)
		return "a router: expected mirror connections";
	if (c->message_packets > 1 && c->selective)
		return "long messages: expected a group that is not selective";
	return NULL;
}

int rf_world_create(const struct rf_world_cfg *cfg, struct rf_world **out, char *why, size_t room)
{
	const char *no = refuse(cfg);
	struct rf_world *w;

	if (no) {
		snprintf(why, room, "%s", no);
		return -1;
	}
	w = calloc(1, sizeof(*w));
	if (!w) {
		snprintf(why, room, "out of memory");
		return -1;
	}
	w->cfg = *cfg;
	w->rng = rf_rng_make(cfg->seed, UINT64_C(11) << 40);
	rf_events_init(&w->events);
	rf_world_net_init(w);
	if (rf_world_box_start(w, why, room) != 0 || rf_world_hosts_start(w, why, room) != 0) {
		rf_world_destroy(w);
		return -1;
	}
	*out = w;
	return 0;
}

void rf_world_destroy(struct rf_world *w)
{
	struct rf_event e;

	if (!w)
		return;
	while (rf_events_take(&w->events, &e))
		free(e.what);
	rf_events_free(&w->events);
	rf_world_hosts_free(w);
	for (unsigned k = 0; k < w->works; k++)
		rf_world_work_free(w, &w->work[k]);
	if (w->engine)
		w->cfg.engine->destroy(w->engine);
	free(w);
}

int rf_world_call(struct rf_world *w, const struct rf_world_call *call)
{
	struct rf_world_work *k = &w->work[w->works];

	if (w->works == RF_WORLD_CALLS || call->group >= w->cfg.groups)
		return -1;
	k->call = *call;
	if (rf_world_work_make(w, k) != 0) {
		rf_world_work_free(w, k);
		memset(k, 0, sizeof(*k));
		return -1;
	}
	w->works++;
	return 0;
}

static void handle(struct rf_world *w, const struct rf_event *e)
{
	struct rf_world_frame *f = e->what;

	w->now = e->at > w->now ? e->at : w->now;
	switch ((enum rf_world_event)e->kind) {
	case RF_WORLD_AT_SWITCH:
		rf_world_switch(w, e->who, f->data, f->len);
		break;
	case RF_WORLD_AT_HOST:
		rf_world_host_frame(w, e->who, f->data, f->len);
		break;
	case RF_WORLD_AT_BOX:
		rf_world_box_frame(w, e->who, f->data, f->len);
		break;
	case RF_WORLD_WAKE:
		if (e->at != w->host[e->who].wake)
			break;
		w->host[e->who].wake = UINT64_MAX;
		rf_world_host_run(w, e->who);
		break;
	}
	free(f);
}

/* Handles one event, or advances the box towards the next one. False: nothing is left. */
static bool advance(struct rf_world *w, uint64_t until)
{
	uint64_t next = rf_events_next(&w->events);
	struct rf_event e;

	next = next < until ? next : until;
	if (rf_world_box_time(w) < next && (!rf_world_box_idle(w) || next < until)) {
		rf_world_box_run(w, next);
		return true;
	}
	if (rf_events_next(&w->events) > until || !rf_events_take(&w->events, &e))
		return false;
	handle(w, &e);
	return true;
}

static bool all_done(const struct rf_world *w)
{
	bool all = true;

	for (unsigned r = 0; r < w->cfg.ranks; r++) {
		if (w->host[r].status != RF_COLL_OK)
			return true;
		all &= rf_world_host_done(w, r);
	}
	return all;
}

int rf_world_run(struct rf_world *w, uint64_t until_ns)
{
	uint64_t until = w->now + until_ns * RF_WORLD_PS;

	for (unsigned r = 0; r < w->cfg.ranks; r++)
		rf_world_host_run(w, r);
	while (!w->failed && !all_done(w)) {
		if (!advance(w, until))
			return 0;
	}
	return w->failed ? 0 : 1;
}

/* The bit that is flipped is one of a result: of the first rank that has one. */
static void flip_one(struct rf_world *w)
{
	for (unsigned r = 0; r < w->cfg.ranks && w->works > 0; r++) {
		struct rf_world_work *k = &w->work[0];
		bool all = rf_schedule_receives_blocks(k->call.kind);
		bool vector = !rf_schedule_has_blocks(k->call.kind);
		uint64_t len = all || vector ? k->bytes : k->at[r + 1] - k->at[r];

		if (len == 0 || !rf_schedule_wants(k->call.kind, k->call.root, all ? r ^ 1 : r, r))
			continue;
		k->recv[r][len / 2] ^= 1;
		return;
	}
}

static void sum_counters(struct rf_world *w, const struct roce_qp *qp)
{
	const struct roce_qp_counters *n = roce_qp_counters(qp);

	w->r.packets += n->tx_packets;
	w->r.repeats += n->tx_retransmits;
	w->r.acks += n->tx_acks;
	w->r.timeouts += n->timeouts;
	w->r.cnps += n->tx_cnps;
	w->r.cuts += n->window_cuts;
}

void rf_world_result(struct rf_world *w, struct rf_world_result *r)
{
	w->r.done = true;
	w->r.end_ns = w->now / RF_WORLD_PS;
	for (unsigned k = 0; k < w->cfg.ranks; k++) {
		struct rf_world_host *h = &w->host[k];

		if (h->status != RF_COLL_OK && !w->r.failure) {
			w->r.failure = rf_coll_error_name(h->status);
			w->r.failed_rank = k;
		}
		w->r.done &= h->status == RF_COLL_OK && h->done == w->works;
		for (unsigned g = 0; g < w->cfg.groups; g++) {
			sum_counters(w, h->to_next[g]);
			if (h->from_prev[g] != h->to_next[g])
				sum_counters(w, h->from_prev[g]);
		}
	}
	if (w->cfg.flip)
		flip_one(w);
	for (unsigned k = 0; k < w->works; k++) {
		rf_world_work_check(w, &w->work[k]);
		w->r.call_ns[k] = (w->work[k].last - w->work[k].first) / RF_WORLD_PS;
	}
	w->r.done &= !w->failed;
	*r = w->r;
}
