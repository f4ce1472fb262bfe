/* A host's member: its configuration, and what the fabric takes over from it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/fabric/host.h"

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
			h->ends[i] = rf_host_numbers(h, first + i);
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
			rf_host_announce(h, 0, e.status,
					 rf_member_announcement(h->member, e.status));
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
		rf_host_leave_members(h);
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
