/*
 * Gives requests to the member of the group that carries them, in the order of the calls. A request
 * whose counts only the root knows is two calls, a broadcast of the counts and the call itself.
 * Those after it are held until both are started: on all ranks the same calls must follow one
 * another. While the ranks agree on which group carries large calls, all requests are held.
 */
#include "host/api/api.h"

/* A call with so many packets for each slot of the first group is large. */
#define PACKETS_PER_SLOT 16u

/* Starts a call of the member for a request. */
static int start(struct rf_request *r, const struct rf_directed_call *c)
	RF_REQUIRES(rf_context_class)
{
	struct rf_group *g = r->carrier;
	int ret = rf_member_collective(g->member, (unsigned int)(r - r->group->requests), c,
				       rf_now());

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

/*
 * A call is large if a group with more slots would carry it faster: the connections' windows are
 * full for most of its time. All ranks come to the same conclusion.
 */
static bool is_large(const struct rf_comm *comm, const struct rf_comm_call *call)
{
	return !call->counts_first &&
	       call->all_bytes / comm->ctx->mtu >= (size_t)PACKETS_PER_SLOT * comm->slots;
}

/* Chooses the group that carries a call, which is the next one of its communicator. */
static struct rf_group *carrier_of(struct rf_comm *comm, const struct rf_comm_call *call)
	RF_REQUIRES(rf_context_class)
{
	struct rf_large *l = &comm->large;

	if (!l->slots || !is_large(comm, call))
		return comm->group;
	l->started++;
	l->used_at = rf_now();
	return l->state == RF_LARGE_USED && (int32_t)(l->started - l->from) >= 0 ? l->group
										 : comm->group;
}

/* Starts a request on the group that carries it, or holds it there. */
static int carry(struct rf_request *r) RF_REQUIRES(rf_context_class)
{
	struct rf_group *g = r->carrier;

	if (!g->n_held && !r->call.counts_first)
		return start_own(r);
	r->stage = RF_STAGE_HELD;
	g->held[(g->held_first + g->n_held++) % RF_REQUESTS_MAX] =
		(uint8_t)(r - r->group->requests);
	rf_group_pump(g);
	return RF_OK;
}

/* Chooses the group of a request, and starts it there. */
static int choose(struct rf_request *r) RF_REQUIRES(rf_context_class)
{
	struct rf_group *g = r->group;
	struct rf_large *l = &g->comm->large;
	uint32_t before = l->started;
	int ret;

	r->carrier = g == g->comm->group ? carrier_of(g->comm, &r->call) : g;
	r->large = l->started != before;
	if (r->large)
		l->outstanding++;
	if (r->carrier != g)
		r->carrier->outstanding++;
	ret = carry(r);
	if (!ret)
		return RF_OK;
	/* it does not count, and its end must not count either */
	l->started = before;
	if (r->large)
		l->outstanding--;
	if (r->carrier != g)
		r->carrier->outstanding--;
	r->large = false;
	r->carrier = NULL;
	return ret;
}

int rf_request_launch(struct rf_request *r)
{
	struct rf_group *g = r->group;
	struct rf_large *l = &g->comm->large;

	if (g->comm->ranks == 1) {
		rf_comm_call_copy(&r->call);
		rf_request_done(r, RF_OK);
		return RF_OK;
	}
	if (!l->holding || g != g->comm->group)
		return choose(r);
	r->stage = RF_STAGE_HELD;
	l->held[(l->held_first + l->n_held++) % RF_REQUESTS_MAX] = (uint8_t)(r - g->requests);
	return RF_OK;
}

/* The first of those that wait for an agreement, which is taken from the list. */
static struct rf_request *take_held(struct rf_comm *comm) RF_REQUIRES(rf_context_class)
{
	struct rf_large *l = &comm->large;
	struct rf_request *r = &comm->group->requests[l->held[l->held_first]];

	l->held_first = (l->held_first + 1) % RF_REQUESTS_MAX;
	l->n_held--;
	return r;
}

void rf_comm_release(struct rf_comm *comm)
{
	struct rf_large *l = &comm->large;

	l->holding = false;
	while (l->n_held) {
		struct rf_request *r = take_held(comm);
		int ret = choose(r);

		if (!ret)
			continue;
		/* the other ranks go on to this call */
		rf_member_fail(comm->group->member, true, ret, rf_now(),
			       "rank %u could not start a call: %s", comm->rank, rf_error_text);
		rf_request_done(r, ret);
	}
}

void rf_comm_drop_held(struct rf_comm *comm)
{
	while (comm->large.n_held)
		rf_request_done(take_held(comm), comm->group->status);
}

/* The first of those that are held. */
static struct rf_request *first(struct rf_group *g) RF_REQUIRES(rf_context_class)
{
	return &g->owner->requests[g->held[g->held_first]];
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
	struct rf_group *g = r->carrier;
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
