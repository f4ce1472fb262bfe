/* A host's member: its configuration, and what the fabric takes over from it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/fabric/host.h"

#define JOB UINT64_C(0x72696e67666f6c64)

uint32_t rf_host_qpn(unsigned life, unsigned rank, bool to_next)
{
	return 0x100 + 0x1000 * life + 2 * rank + (to_next ? 0 : 1);
}

uint32_t rf_host_start_psn(const struct rf_fabric *f, unsigned life, unsigned rank)
{
	struct rf_rng rng =
		rf_rng_make(f->cfg.seed, UINT64_C(2) << 40 | (uint64_t)life << 20 | rank);

	if (f->cfg.start_psn != RF_FABRIC_RANDOM_PSN)
		return f->cfg.start_psn & 0xffffff;
	return (uint32_t)rf_rng_next(&rng) & 0xffffff;
}

unsigned rf_host_window(const struct rf_host *h)
{
	return h->f->cfg.selective ? roce_selective_window(h->pub.window) : h->pub.window;
}

void rf_host_forget(struct rf_host *h)
{
	rf_host_fallback_forget(h);
	rf_member_destroy(h->member);
	h->member = NULL;
}

unsigned rf_host_calls(const struct rf_host *h)
{
	return rf_member_calls(h->member) + (h->resumed != RF_NO_OP);
}

/* ---- joining ---- */

static struct rf_member_end end_of(const struct rf_host *h, unsigned rank)
{
	unsigned life = h->pub.life;

	return (struct rf_member_end){.recv_qpn = rf_host_qpn(life, rank, false),
				      .send_qpn = rf_host_qpn(life, rank, true),
				      .start_psn = rf_host_start_psn(h->f, life, rank)};
}

void rf_host_pair_init(struct rf_host *h, struct rf_pair_roce *pair,
		       const struct rf_member_end *own)
{
	const struct rf_fabric_cfg *cfg = &h->f->cfg;
	struct rf_pair_roce_cfg c = {.ep = h->ep,
				     .ip = rf_fabric_ip(h->rank),
				     .has_vlan = cfg->vlan,
				     .vlan_tci = RF_HOST_VLAN_TCI,
				     .mtu = cfg->mtu,
				     .ack_timeout = cfg->ack_timeout_ns,
				     .ack_timeout_max = cfg->ack_timeout_max_ns,
				     .retry_cnt = (uint8_t)cfg->retry_cnt,
				     .sum = &h->old};

	rf_host_mac(h->rank, c.mac);
	rf_pair_roce_init(pair, &c, own->send_qpn, own->recv_qpn);
}

static struct rf_client_cfg client_cfg(const struct rf_host *h)
{
	const struct rf_fabric_cfg *cfg = &h->f->cfg;
	struct rf_rng rng =
		rf_rng_make(cfg->seed, UINT64_C(3) << 40 | (uint64_t)h->pub.life << 20 | h->rank);
	struct rf_client_cfg c = {.ip = rf_fabric_ip(h->rank),
				  .box_ip = rf_fabric_box_ip(),
				  .vlan = cfg->vlan ? RF_HOST_VLAN_TCI : RF_CTL_NO_VLAN,
				  .job = JOB + h->rank / rf_fabric_size(cfg),
				  .token = rf_rng_next(&rng) | 1,
				  .answer_ns = cfg->answer_ns};

	rf_host_mac(h->rank, c.mac);
	return c;
}

struct rf_member_cfg rf_host_member_cfg(const struct rf_host *h)
{
	const struct rf_fabric_cfg *cfg = &h->f->cfg;
	unsigned first = rf_fabric_first(cfg, h->rank);
	bool box = cfg->schedule == RF_RUN_BOX;

	return (struct rf_member_cfg){
		.rank = h->rank - first,
		.ranks = rf_fabric_size(cfg),
		.peers = h->f->peers + first,
		.own = end_of(h, h->rank),
		.store = cfg->store,
		.ends = h->ends,
		.type = (enum rf_type)cfg->type,
		.op = (enum rf_op)cfg->op,
		.schedule = box ? RF_SCHEDULE_BOX : RF_SCHEDULE_RING,
		.fallback = cfg->fallback,
		.slots = cfg->slots,
		.flags = (uint16_t)((cfg->plain ? 0 : RF_CTL_J_SHIFTED) |
				    (cfg->transparent ? RF_CTL_J_TRANSPARENT : 0) |
				    (cfg->selective ? RF_CTL_J_SELECTIVE : 0) |
				    cfg->straggler << RF_CTL_J_STRAGGLER_LSB),
		.prove = cfg->store,
		.timeout_ns = cfg->timeout_ns,
		.exchange_ns = cfg->join_deadline_ms * RF_MSEC,
		.client = client_cfg(h),
		.lease_ms = cfg->lease_ms,
		.join_ms = cfg->join_deadline_ms,
		.mtu = cfg->mtu,
		.ring_window = cfg->slots / 2,
		.message_bytes = cfg->message_bytes,
		.calls_max = cfg->max_ops,
		.window = cfg->quirk[h->rank].window,
		.first_index = cfg->start_index,
	};
}

void rf_host_join(struct rf_host *h)
{
	unsigned size = rf_fabric_size(&h->f->cfg);
	unsigned first = rf_fabric_first(&h->f->cfg, h->rank);
	struct rf_member_cfg cfg;

	h->pub.state = RF_RANK_JOINING;
	for (unsigned i = 0; i < RF_REQUESTS_MAX; i++)
		h->op_of[i] = RF_NO_OP;
	free(h->ends);
	h->ends = calloc(size, sizeof(*h->ends));
	if (h->ends) {
		for (unsigned i = 0; i < size; i++)
			h->ends[i] = end_of(h, first + i);
		cfg = rf_host_member_cfg(h);
		rf_host_pair_init(h, &h->pair, &cfg.own);
	}
	if (!h->ends || rf_member_create(&cfg, &h->pair.base, &h->member) != RF_OK) {
		rf_fabric_fail(h->f, "no memory for a rank");
		return;
	}
	rf_member_start(h->member, rf_host_ns(h));
}

/* ---- what the member reports ---- */

/* The box has been joined, or the ring connected. */
static int keep_places(struct rf_host *h)
{
	unsigned size = rf_fabric_size(&h->f->cfg);
	const struct rf_order *order = rf_member_order(h->member);

	free(h->places);
	h->places = calloc(size, sizeof(*h->places));
	if (!h->places)
		return -1;
	for (unsigned i = 0; i < size; i++)
		h->places[i] = (struct rf_place){.port = (uint8_t)order->place[i].port,
						 .lane = (uint8_t)order->place[i].lane};
	h->pub.place = h->places[h->rank % size];
	h->pub.window = h->f->cfg.schedule == RF_RUN_BOX ? rf_member_window(h->member)
							 : h->f->cfg.slots / 2;
	h->pub.ready_ns = rf_host_ns(h);
	return 0;
}

static void take_events(struct rf_host *h)
{
	struct rf_member_event e;

	while (rf_member_poll(h->member, &e)) {
		if (e.kind == RF_MEMBER_ANNOUNCE) {
			rf_host_announce(h, 0, e.status, rf_member_text(h->member));
			continue;
		}
		if (e.status == RF_OK && h->fallback)
			rf_fallback_succeeded(h->fallback);
		if (e.status == RF_OK && !rf_host_ended(h))
			rf_host_op_done(h, h->op_of[e.id]);
		else if (!rf_host_ended(h) && rf_fallback_takes(h->fallback, e.status))
			rf_host_resume(h, h->op_of[e.id]);
		h->op_of[e.id] = RF_NO_OP;
	}
}

/*
 * During creation the ranks first agree on the cause. Once all calls have succeeded and the rank
 * leaves together with the others, nothing can fail any more.
 */
static bool has_failed(const struct rf_host *h)
{
	enum rf_member_phase phase = rf_member_phase(h->member);

	if (phase == RF_MEMBER_FAILED)
		return true;
	return rf_member_status(h->member) != 0 && phase >= RF_MEMBER_RUNNING &&
	       !(h->leaving && h->f->cfg.store) &&
	       !rf_fallback_takes(h->fallback, rf_member_status(h->member));
}

void rf_host_look_at_member(struct rf_host *h)
{
	struct rf_member *m = h->member;

	if (!m)
		return;
	rf_member_progress(m, rf_host_ns(h));
	take_events(h);
	rf_host_look_at_fallback(h);
	if (h->pub.state == RF_RANK_FAILED)
		rf_host_leave(h);
	/* a program whose group has failed leaves, and exits */
	if (h->pub.state == RF_RANK_FAILED && rf_member_phase(m) == RF_MEMBER_LEFT && !h->gone_ns)
		rf_host_gone(h);
	if (rf_host_ended(h))
		return;
	if (h->pub.window == 0 &&
	    (rf_member_window(m) != 0 || rf_member_phase(m) == RF_MEMBER_RUNNING) &&
	    keep_places(h) != 0)
		rf_fabric_fail(h->f, "no memory for the places");
	if (h->pub.state == RF_RANK_JOINING && rf_member_phase(m) == RF_MEMBER_RUNNING) {
		h->pub.state = RF_RANK_RUNNING;
		rf_host_fallback_create(h);
	}
	if (!has_failed(h))
		return;
	h->pub.culprit = rf_member_culprit(m);
	h->pub.reason = rf_member_reason(m);
	h->pub.announced = rf_member_by_announcement(m);
	rf_host_fail(h, rf_member_status(m), rf_member_text(m));
}
