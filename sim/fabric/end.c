/* The end of a host: it leaves, fails or crashes. */
#include <stdio.h>
#include <stdlib.h>

#include "sim/fabric/host.h"

static void forget_fallback(struct rf_host *h)
{
	if (h->fallback && rf_fallback_action(h->fallback) == RF_FALLBACK_GATHER)
		h->gather_open = false;
	rf_member_destroy(h->ring);
	rf_fallback_destroy(h->fallback);
	free(h->copies[0]);
	free(h->copies[1]);
	h->copies[0] = h->copies[1] = NULL;
	h->ring = NULL;
	h->fallback = NULL;
	h->ring_call = false;
	h->resumed = RF_NO_OP;
}

void rf_host_forget(struct rf_host *h)
{
	forget_fallback(h);
	rf_member_destroy(h->member);
	h->member = NULL;
}

unsigned rf_host_calls(const struct rf_host *h)
{
	return rf_member_calls(h->member) + (h->resumed != RF_NO_OP);
}

bool rf_host_leave_members(struct rf_host *h)
{
	if (h->ring) {
		rf_member_leave(h->ring, true, rf_host_ns(h));
		if (rf_member_phase(h->ring) != RF_MEMBER_LEFT)
			return false;
	}
	rf_member_leave(h->member, true, rf_host_ns(h));
	return rf_member_phase(h->member) == RF_MEMBER_LEFT;
}

void rf_host_end(struct rf_host *h, enum rf_rank_state state)
{
	h->pub.state = state;
	rf_host_judge_unfinished(h);
	if (state == RF_RANK_CRASHED)
		rf_host_forget(h);
	else if (h->member) {
		h->leaving = true;
		rf_host_leave_members(h);
	}
	rf_host_free_ops(h);
	rf_host_set_active(h, false);
	/* This rank no longer counts at barriers. */
	rf_fabric_barrier(h->f, h->f->barriers + 1);
}

void rf_host_fail(struct rf_host *h, int status, const char *text)
{
	if (rf_host_ended(h))
		return;
	h->pub.status = status;
	snprintf(h->pub.text, sizeof(h->pub.text), "%s", text);
	h->pub.failed_ns = rf_host_ns(h);
	rf_host_end(h, RF_RANK_FAILED);
}
