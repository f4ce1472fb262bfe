/* The communicator: some or all processes of the job, in an order, with settings of their own. */
#include "host/api/api.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/config/settings.h"
#include "host/member/order.h"
#include "proto/rf_bytes.h"

#define CONFIG(config, member, absent)                                                             \
	((config) && (config)->size >= offsetof(struct rf_comm_config, member) +                   \
					       sizeof((config)->member)                            \
		 ? (config)->member                                                                \
		 : (absent))

/*
 * Bytes of the card that every rank publishes: schedule, number of ranks, slots for large calls,
 * the box (0: none), and the job's rank of each.
 */
#define CARD_HEAD 12u
#define CARD (CARD_HEAD + RF_RANKS_MAX)
#define COUNTER_COMMS 1
/* How long the end of the job waits if the end of its last communicator was in vain. */
#define END_AGAIN_MS 100u

/* Adds a process of the job as the next rank. */
static int add_member(struct rf_comm *comm, unsigned int process, char *why, size_t room)
{
	const struct rf_job *job = &comm->ctx->job;

	if (process >= job->ranks || comm->set[process / 8] >> (process % 8) & 1) {
		snprintf(why, room,
			 "member %u is rank %u of %u: every member must be a rank of "
			 "the job, and only one",
			 comm->ranks, process, job->ranks);
		return RF_ERR_INVALID;
	}
	comm->set[process / 8] |= (uint8_t)(1u << (process % 8));
	comm->member[comm->ranks] = (uint8_t)process;
	comm->peers[comm->ranks] = job->peers[process];
	if (process == job->rank)
		comm->rank = comm->ranks;
	comm->ranks++;
	return RF_OK;
}

/* members: NULL for all processes. */
static int comm_members(struct rf_comm *comm, const unsigned int *members, unsigned int n,
			char *why, size_t room)
{
	const struct rf_job *job = &comm->ctx->job;
	int ret = RF_OK;

	if (members && (n < 1 || n > job->ranks)) {
		snprintf(why, room, "%u members of a job of %u ranks", n, job->ranks);
		return RF_ERR_INVALID;
	}
	for (unsigned int k = 0; k < (members ? n : job->ranks) && !ret; k++)
		ret = add_member(comm, members ? members[k] : k, why, room);
	if (ret)
		return ret;
	if (!(comm->set[job->rank / 8] >> (job->rank % 8) & 1)) {
		snprintf(why, room, "rank %u is not one of the members", job->rank);
		return RF_ERR_INVALID;
	}
	return RF_OK;
}

static void card_write(const struct rf_comm *comm, uint8_t card[CARD])
{
	memset(card, 0, CARD);
	rf_put_be16(card, (uint16_t)comm->schedule);
	rf_put_be16(card + 2, (uint16_t)comm->ranks);
	rf_put_be32(card + 4, comm->large.slots);
	rf_put_be32(card + 8, comm->schedule == RF_SCHEDULE_BOX ? comm->box_ip : 0);
	memcpy(card + CARD_HEAD, comm->member, comm->ranks);
}

static const char *schedule_name(const uint8_t *card)
{
	return rf_get_be16(card) == RF_SCHEDULE_RING ? "ring" : "box";
}

/* The k-th card of a gather differs from the first one: how. Cards are in the job's order. */
static void differ_text(const struct rf_comm *comm, const uint8_t *cards, unsigned int k, char *why,
			size_t room)
{
	unsigned int first = rf_comm_rank_at(comm, 0), other = rf_comm_rank_at(comm, k);
	const uint8_t *card = cards + k * CARD;
	char here[16], there[16];

	if (rf_get_be16(card) != rf_get_be16(cards))
		snprintf(why, room,
			 "rank %u (schedule %s) and rank %u (schedule %s) differ: set RF_SCHEDULE "
			 "to the same value on all ranks",
			 other, schedule_name(card), first, schedule_name(cards));
	else if (rf_get_be32(card + 4) != rf_get_be32(cards + 4))
		snprintf(why, room,
			 "rank %u and rank %u differ in RF_SLOTS, RF_SLOTS_LARGE or RF_FALLBACK: "
			 "set them to the same values on all ranks",
			 other, first);
	else if (rf_get_be32(card + 8) != rf_get_be32(cards + 8))
		snprintf(why, room,
			 "rank %u (box %s) and rank %u (box %s) differ: set RF_BOX_IP to the same "
			 "address on all ranks",
			 other, rf_ip_text(rf_get_be32(card + 8), there), first,
			 rf_ip_text(rf_get_be32(cards + 8), here));
	else
		/* its ranks have no common numbers */
		snprintf(
			why, room,
			"rank %u of the job lists the members in another order than rank %u of the "
			"job",
			comm->member[other], comm->member[first]);
}

/* Checks what all ranks must have equal, and their addresses. */
static int cards_check(const struct rf_comm *comm, const uint8_t *cards, char *why, size_t room)
{
	unsigned int r;
	char ip[16];

	for (r = 0; r < comm->ranks; r++) {
		if (memcmp(cards + r * CARD, cards, CARD) == 0)
			continue;
		differ_text(comm, cards, r, why, room);
		return RF_ERR_MISMATCH;
	}
	/* Neighbours in the ring, the last rank and rank 0 among them. */
	for (r = 0; r < comm->ranks; r++) {
		unsigned int next = (r + 1) % comm->ranks;

		if (next == r || comm->peers[next].ip != comm->peers[r].ip)
			continue;
		snprintf(why, room,
			 "ranks %u and %u have the same address %s: give each its own RF_IP", r,
			 next, rf_ip_text(comm->peers[r].ip, ip));
		return RF_ERR_MISMATCH;
	}
	return RF_OK;
}

/* The ranks meet by name, and get a lane for everything that follows. */
static int comm_meet(struct rf_comm *comm, char *why, size_t room)
{
	uint8_t card[CARD];
	uint8_t *cards = malloc(comm->ranks * CARD);
	char name[RF_STORE_KEY_MAX + 1], lane[RF_STORE_LANE_MAX];
	uint32_t number = 0;
	struct rf_store_gather g = {.ranks = comm->set,
				    .lane = lane,
				    .name = name,
				    .value = card,
				    .len = CARD,
				    .timeout_ms = comm->timeout_ms,
				    .number = &number,
				    .counter = COUNTER_COMMS};
	int ret;

	if (!cards) {
		snprintf(why, room, "no memory for the ranks' messages");
		return RF_ERR_NO_MEMORY;
	}
	card_write(comm, card);
	snprintf(lane, sizeof(lane), "new/%s", comm->name);
	snprintf(name, sizeof(name), "the start of a communicator");
	ret = rf_job_gather(comm->ctx, &g, cards);
	if (ret && comm->name[0])
		snprintf(why, room, "%.400s (communicator \"%s\")", rf_error_text, comm->name);
	else if (ret)
		snprintf(why, room, "%.400s", rf_error_text);
	else
		ret = cards_check(comm, cards, why, room);
	snprintf(comm->lane, sizeof(comm->lane), "%u", number);
	free(cards);
	return ret;
}

/* One line: who carries the calls, and why. */
static void comm_log(struct rf_comm *comm, const char *why)
{
	struct rf_log *log = &comm->ctx->log;
	const char *set = getenv("RF_SCHEDULE");
	char ip[16], box[48], name[RF_COMM_TEXT], fallback[32] = "";

	rf_comm_text(comm, name);
	if (comm->ranks == 1) {
		rf_log_line(log, RF_LOG_INFO, "%s: one rank alone, so every result is a copy",
			    name);
		return;
	}
	if (comm->schedule == RF_SCHEDULE_BOX && comm->fallback != RF_FALLBACK_NONE)
		snprintf(fallback, sizeof(fallback), "; RF_FALLBACK=%s",
			 rf_fallback_name(comm->fallback));
	snprintf(box, sizeof(box), "the box %s", rf_ip_text(comm->box_ip, ip));
	rf_log_line(log, RF_LOG_INFO, "%s: rank %u of %u, job %llu; calls by %s (%s), over %s%s",
		    name, comm->rank, comm->ranks, (unsigned long long)comm->ctx->job.number,
		    comm->schedule == RF_SCHEDULE_BOX ? box : "the ranks in a ring, without a box",
		    why           ? why
		    : set && *set ? "RF_SCHEDULE"
				  : "the default",
		    comm->ctx->verbs ? "verbs" : "ringfold's own transport", fallback);
}

/* Makes the group and fills in the communicator. */
static int comm_carry(struct rf_comm *comm)
{
	struct rf_context *ctx = comm->ctx;

	rf_lock(ctx);
	comm->next = ctx->comms;
	ctx->comms = comm;
	rf_unlock(ctx);
	return rf_group_make(comm,
			     &(struct rf_group_want){
				     .schedule = comm->schedule, .lane = "", .slots = comm->slots},
			     &comm->group);
}

static void comm_unlink(struct rf_comm *comm)
{
	struct rf_comm **at;

	rf_lock(comm->ctx);
	for (at = &comm->ctx->comms; *at && *at != comm; at = &(*at)->next)
		;
	if (*at)
		*at = comm->next;
	rf_unlock(comm->ctx);
}

int rf_comm_make(struct rf_comm *comm, const unsigned int *members, unsigned int n,
		 const char *why_so, struct rf_comm **out)
{
	struct rf_context *ctx = comm->ctx;
	char why[RF_TEXT_MAX];
	int ret = comm_members(comm, members, n, why, sizeof(why));

	if (!ret && comm->ranks > 1)
		ret = comm_meet(comm, why, sizeof(why));
	if (!ret) {
		ret = comm_carry(comm);
		memcpy(why, rf_error_text, sizeof(why));
	}
	if (ret) {
		comm_unlink(comm);
		rf_job_drop(ctx, ret == RF_ERR_RANK_LOST ? 0 : 1000);
		free(comm);
		return rf_fail(ctx, ret, "%s", why);
	}
	comm_log(comm, why_so);
	*out = comm;
	return RF_OK;
}

int rf_comm_create(struct rf_context *ctx, const struct rf_comm_config *config,
		   struct rf_comm **out)
{
	struct rf_comm *comm;
	char why[RF_TEXT_MAX];
	int ret;

	if (rf_usable(ctx))
		return RF_ERR_INVALID;
	if (!out)
		return rf_fail(ctx, RF_ERR_INVALID, "comm is NULL");
	if (config && config->size < sizeof(config->size))
		return rf_fail(ctx, RF_ERR_INVALID,
			       "config.size is not set: use RF_COMM_CONFIG_INIT");
	comm = calloc(1, sizeof(*comm));
	if (!comm)
		return rf_fail(ctx, RF_ERR_NO_MEMORY, "no memory for the communicator");
	comm->ctx = ctx;
	ret = rf_comm_settings(comm, config, why, sizeof(why));
	if (ret)
		rf_fail(ctx, ret, "%s", why);
	else
		ret = rf_job_take(ctx, config);
	if (ret) {
		free(comm);
		return ret;
	}
	return rf_comm_make(comm, CONFIG(config, members, NULL), CONFIG(config, n_members, 0),
			    CONFIG(config, schedule, RF_SCHEDULE_DEFAULT) != RF_SCHEDULE_DEFAULT
				    ? "set by the program"
				    : NULL,
			    out);
}

int rf_comm_destroy(struct rf_comm *comm)
{
	struct rf_context *ctx;
	unsigned int bound;

	if (!comm)
		return RF_OK;
	ctx = comm->ctx;
	if (rf_usable(ctx))
		return RF_ERR_INVALID;
	rf_lock(ctx);
	comm->destroyed_at = rf_now();
	rf_unlock(ctx);
	rf_large_end(comm);
	rf_group_leave(comm->group);
	rf_lock(ctx);
	bound = comm->status || comm->troubled ? 1000 : comm->timeout_ms;
	rf_unlock(ctx);
	/* who has not come now will not come to the end of the job, either */
	if (rf_comm_gather(comm, comm->lane, "the end of a communicator", NULL, 0, NULL, bound))
		bound = END_AGAIN_MS;
	comm_unlink(comm);
	rf_job_drop(ctx, bound);
	free(comm);
	return RF_OK;
}

unsigned int rf_comm_rank(const struct rf_comm *comm)
{
	return comm ? comm->rank : 0;
}

unsigned int rf_comm_ranks(const struct rf_comm *comm)
{
	return comm ? comm->ranks : 0;
}

int rf_comm_order(const struct rf_comm *comm, struct rf_order *order)
{
	size_t size = order ? order->size : 0, least;
	struct rf_order o;

	if (!comm)
		return rf_null("comm");
	least = offsetof(struct rf_order, place) + comm->ranks * sizeof(struct rf_rank_place);
	if (rf_usable(comm->ctx))
		return RF_ERR_INVALID;
	if (size < least)
		return rf_fail(comm->ctx, RF_ERR_INVALID,
			       "order.size is not set, or too small for the places of all "
			       "ranks: use RF_ORDER_INIT");
	rf_lock(comm->ctx);
	o = comm->group->order;
	rf_unlock(comm->ctx);
	o.size = size;
	memcpy(order, &o, size < sizeof(o) ? size : sizeof(o));
	return RF_OK;
}

int rf_order_apply(const struct rf_order *order, enum rf_type type, enum rf_op op,
		   const void *const *inputs, void *out, size_t count)
{
	const char *wrong = rf_order_compute(order, type, op, inputs, out, count);

	if (!wrong)
		return RF_OK;
	snprintf(rf_error_text, RF_TEXT_MAX, "%s", wrong);
	return RF_ERR_INVALID;
}
