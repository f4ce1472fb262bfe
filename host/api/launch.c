/*
 * Gives requests to the member of their group, in the order of the calls. A request whose counts
 * only the root knows is two calls, a broadcast of the counts and the call itself. Those after it
 * are held until both are started: on all ranks the same calls must follow one another.
 */
#include "host/api/api.h"

/* Starts a call of the member for a request. */
static int start(struct rf_request *r, const struct rf_directed_call *c)
	RF_REQUIRES(rf_context_class)
{
	struct rf_group *g = r->group;
	int ret = rf_member_collective(g->member, (unsigned int)(r - g->requests), c, rf_now());

	return ret ? rf_fail(g->comm->ctx, ret, "the group does not accept the call") : RF_OK;
}

static int start_own(struct rf_request *r) RF_REQUIRES(rf_context_class)
{
	r->stage = RF_STAGE_STARTED;
	return start(r, &r->call.c);
}

static int start_counts(struct rf_request *r) RF_REQUIRES(rf_context_class)
{
	struct rf_comm *comm = r->group->comm;
	struct rf_directed_call c = {.kind = RF_SCHEDULE_BROADCAST,
				     .type = RF_ARITH_UINT64,
				     .root = r->call.c.root,
				     .count = comm->ranks,
				     .send = r->counts,
				     .recv = r->counts};
	int ret = rf_request_mem_own(r, r->counts, comm->ranks * sizeof(*r->counts));

	r->stage = RF_STAGE_COUNTS;
	return ret ? ret : start(r, &c);
}

int rf_request_launch(struct rf_request *r)
{
	struct rf_group *g = r->group;

	if (g->comm->ranks == 1 || rf_comm_call_is_empty(g->comm, &r->call)) {
		rf_comm_call_copy(&r->call);
		rf_request_done(r, RF_OK);
		return RF_OK;
	}
	if (!g->n_held && !r->call.counts_first)
		return start_own(r);
	r->stage = RF_STAGE_HELD;
	g->held[(g->held_first + g->n_held++) % RF_REQUESTS_MAX] = (uint8_t)(r - g->requests);
	rf_group_pump(g);
	return RF_OK;
}

/* The first of those that are held. */
static struct rf_request *first(struct rf_group *g) RF_REQUIRES(rf_context_class)
{
	return &g->requests[g->held[g->held_first]];
}

static void take_first(struct rf_group *g) RF_REQUIRES(rf_context_class)
{
	g->held_first = (g->held_first + 1) % RF_REQUESTS_MAX;
	g->n_held--;
}

void rf_group_pump(struct rf_group *g)
{
	int ret = RF_OK;

	while (g->n_held && first(g)->stage == RF_STAGE_HELD && !ret &&
	       !rf_member_status(g->member)) {
		struct rf_request *r = first(g);

		if (r->call.counts_first) {
			ret = start_counts(r);
			continue;
		}
		take_first(g);
		ret = start_own(r);
	}
	/* the other ranks go on to this call */
	if (ret)
		rf_member_fail(g->member, true, ret, rf_now(), "rank %u could not start a call: %s",
			       g->comm->rank, rf_error_text);
	while (rf_member_status(g->member) && g->n_held && first(g)->stage == RF_STAGE_HELD) {
		rf_request_done(first(g), rf_member_status(g->member));
		take_first(g);
	}
}

void rf_request_counted(struct rf_request *r, int status)
{
	struct rf_group *g = r->group;
	unsigned int rank = g->comm->rank;

	if (status) {
		take_first(g);
		rf_request_done(r, status);
		rf_group_pump(g);
		return;
	}
	r->call.counts_first = false;
	r->call.c.counts = r->counts;
	r->stage = RF_STAGE_HELD;
	if (r->counts[rank] != r->call.own)
		rf_member_fail(g->member, true, RF_ERR_MISMATCH, rf_now(),
			       "rank %u expects %llu elements in a %s, and its root, rank %u, has "
			       "%llu for it",
			       rank, (unsigned long long)r->call.own,
			       rf_schedule_name(r->call.c.kind), r->call.c.root,
			       (unsigned long long)r->counts[rank]);
	rf_group_pump(g);
}
