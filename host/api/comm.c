/* The communicator: some or all processes of the job, in an order, with settings of their own. */
#include "host/api/api.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/config/settings.h"
#include "proto/rf_bytes.h"

#define CONFIG(config, member, absent)                                                             \
	((config) && (config)->size >= offsetof(struct rf_comm_config, member) +                   \
					       sizeof((config)->member)                            \
		 ? (config)->member                                                                \
		 : (absent))

/* Bytes of the card that every rank publishes: schedule, number of ranks, and the job's rank of
 * each.
 */
#define CARD (4u + RF_RANKS_MAX)
#define COUNTER_COMMS 1
/* How long the end of the job waits if the end of its last communicator was in vain. */
#define END_AGAIN_MS 100u

static int schedule_setting(enum rf_schedule wanted, enum rf_schedule *schedule, char *why,
			    size_t room)
{
	const char *text = rf_setting_text("RF_SCHEDULE");

	*schedule = wanted;
	if (wanted != RF_SCHEDULE_DEFAULT)
		return RF_OK;
	if (strcmp(text, "box") == 0)
		*schedule = RF_SCHEDULE_BOX;
	else if (strcmp(text, "ring") == 0)
		*schedule = RF_SCHEDULE_RING;
	if (*schedule != RF_SCHEDULE_DEFAULT)
		return RF_OK;
	snprintf(why, room, "RF_SCHEDULE=%s: expected box or ring", text);
	return RF_ERR_INVALID;
}

static int comm_settings(struct rf_comm *comm, const struct rf_comm_config *config, char *why,
			 size_t room)
{
	const char *box_ip = CONFIG(config, box_ip, NULL);
	const char *name = CONFIG(config, name, NULL);
	uint64_t timeout_ms = CONFIG(config, timeout_ms, 0);
	uint64_t box_timeout_ms = 0;
	int ret = RF_OK;

	if (name && strlen(name) > RF_NAME_MAX) {
		snprintf(why, room, "the name of a communicator is longer than %u bytes",
			 RF_NAME_MAX);
		return RF_ERR_INVALID;
	}
	snprintf(comm->name, sizeof(comm->name), "%s", name ? name : "");
	if (!timeout_ms)
		ret = rf_setting_number("RF_TIMEOUT", 1, 86400000, &timeout_ms, why, room);
	if (!ret)
		ret = rf_setting_number("RF_BOX_TIMEOUT", 10, 86400000, &box_timeout_ms, why, room);
	if (!ret)
		ret = rf_ip_parse("address of the box (RF_BOX_IP)",
				  box_ip ? box_ip : rf_setting_text("RF_BOX_IP"), &comm->box_ip,
				  why, room);
	if (!ret)
		ret = schedule_setting(CONFIG(config, schedule, RF_SCHEDULE_DEFAULT),
				       &comm->schedule, why, room);
	comm->timeout_ms = (unsigned int)timeout_ms;
	comm->box_timeout_ms = (unsigned int)box_timeout_ms;
	return ret;
}

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
	memcpy(card + 4, comm->member, comm->ranks);
}

static const char *schedule_name(const uint8_t *card)
{
	return rf_get_be16(card) == RF_SCHEDULE_RING ? "ring" : "box";
}

/* Checks what all ranks must have equal, and their addresses. */
static int cards_check(const struct rf_comm *comm, const uint8_t *cards, char *why, size_t room)
{
	unsigned int r;
	char ip[16];

	for (r = 0; r < comm->ranks; r++) {
		const uint8_t *card = cards + r * CARD;

		if (memcmp(card, cards, CARD) == 0)
			continue;
		if (rf_get_be16(card) != rf_get_be16(cards))
			snprintf(why, room,
				 "rank %u (schedule %s) and rank 0 (schedule %s) differ: set "
				 "RF_SCHEDULE to the same value on all ranks",
				 r, schedule_name(card), schedule_name(cards));
		else
			snprintf(why, room,
				 "rank %u lists the members in another order than rank 0", r);
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
static void comm_log(struct rf_comm *comm, bool by_program)
{
	struct rf_log *log = &comm->ctx->log;
	const char *set = getenv("RF_SCHEDULE");
	char ip[16], box[48], name[RF_NAME_ROOM + 4] = "";

	if (comm->name[0])
		snprintf(name, sizeof(name), " \"%s\"", comm->name);
	if (comm->ranks == 1) {
		rf_log_line(log, RF_LOG_INFO,
			    "communicator%s: one rank alone, so every result is a copy", name);
		return;
	}
	snprintf(box, sizeof(box), "the box %s", rf_ip_text(comm->box_ip, ip));
	rf_log_line(log, RF_LOG_INFO,
		    "communicator%s: rank %u of %u, job %llu; reductions by %s (%s), over %s", name,
		    comm->rank, comm->ranks, (unsigned long long)comm->ctx->job.number,
		    comm->schedule == RF_SCHEDULE_BOX ? box : "the ranks in a ring, without a box",
		    by_program    ? "set by the program"
		    : set && *set ? "RF_SCHEDULE"
				  : "the default",
		    comm->ctx->verbs ? "verbs" : "ringfold's own transport");
}

/* Makes a communicator of the job, which the caller has taken for it. Drops the job on failure. */
static int comm_make(struct rf_comm *comm, const unsigned int *members, unsigned int n,
		     struct rf_comm **out)
{
	struct rf_context *ctx = comm->ctx;
	char why[RF_TEXT_MAX];
	int ret = comm_members(comm, members, n, why, sizeof(why));

	if (!ret && comm->ranks > 1)
		ret = comm_meet(comm, why, sizeof(why));
	if (ret) {
		rf_job_drop(ctx, ret == RF_ERR_RANK_LOST ? 0 : 1000);
		free(comm);
		return rf_fail(ctx, ret, "%s", why);
	}
	rf_lock(ctx);
	comm->next = ctx->comms;
	ctx->comms = comm;
	rf_unlock(ctx);
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
	if (!out || (config && config->size < sizeof(config->size)))
		return rf_fail(ctx, RF_ERR_INVALID,
			       "config.size is not set: use RF_COMM_CONFIG_INIT");
	comm = calloc(1, sizeof(*comm));
	if (!comm)
		return rf_fail(ctx, RF_ERR_NO_MEMORY, "no memory for the communicator");
	comm->ctx = ctx;
	ret = comm_settings(comm, config, why, sizeof(why));
	if (ret)
		rf_fail(ctx, ret, "%s", why);
	else
		ret = rf_job_take(ctx, config);
	if (ret) {
		free(comm);
		return ret;
	}
	ret = comm_make(comm, CONFIG(config, members, NULL), CONFIG(config, n_members, 0), out);
	if (!ret)
		comm_log(comm,
			 CONFIG(config, schedule, RF_SCHEDULE_DEFAULT) != RF_SCHEDULE_DEFAULT);
	return ret;
}

int rf_comm_destroy(struct rf_comm *comm)
{
	struct rf_context *ctx;
	struct rf_comm **at;
	unsigned int bound;

	if (!comm)
		return RF_OK;
	ctx = comm->ctx;
	if (rf_usable(ctx))
		return RF_ERR_INVALID;
	rf_lock(ctx);
	if (comm->n_groups || comm->n_creations) {
		rf_fail(ctx, RF_ERR_BUSY, "destroy the groups first");
		rf_unlock(ctx);
		return RF_ERR_BUSY;
	}
	bound = comm->status || comm->troubled ? 1000 : comm->timeout_ms;
	rf_unlock(ctx);
	/* who has not come now will not come to the end of the job, either */
	if (rf_comm_gather(comm, comm->lane, "the end of a communicator", NULL, 0, NULL, bound))
		bound = END_AGAIN_MS;
	rf_lock(ctx);
	for (at = &ctx->comms; *at != comm; at = &(*at)->next)
		;
	*at = comm->next;
	rf_unlock(ctx);
	rf_job_drop(ctx, bound);
	free(comm);
	return RF_OK;
}

unsigned int rf_comm_rank(const struct rf_comm *comm)
{
	return comm->rank;
}

unsigned int rf_comm_ranks(const struct rf_comm *comm)
{
	return comm->ranks;
}

int rf_comm_barrier(struct rf_comm *comm)
{
	char name[RF_STORE_KEY_MAX];

	if (rf_usable(comm->ctx))
		return RF_ERR_INVALID;
	rf_lock(comm->ctx);
	snprintf(name, sizeof(name), "barrier %u", comm->barriers++);
	rf_unlock(comm->ctx);
	return rf_comm_gather(comm, comm->lane, name, NULL, 0, NULL, comm->timeout_ms);
}

/* ---- split ---- */

/* A rank's choice, for sorting: by color, then key, then rank. */
struct choice {
	int color, key;
	unsigned int rank;
};

static int compare(const void *a, const void *b)
{
	const struct choice *x = a, *y = b;

	if (x->color != y->color)
		return x->color < y->color ? -1 : 1;
	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return x->rank < y->rank ? -1 : x->rank > y->rank;
}

/* Exchanges the choices. Fills members with the job's ranks of this color, in order. */
static int choose(struct rf_comm *comm, int color, int key, unsigned int *members, unsigned int *n)
{
	uint8_t own[8], all[RF_RANKS_MAX * 8];
	struct choice choices[RF_RANKS_MAX];
	char name[RF_STORE_KEY_MAX];
	int ret;

	rf_put_be32(own, (uint32_t)color);
	rf_put_be32(own + 4, (uint32_t)key);
	rf_lock(comm->ctx);
	snprintf(name, sizeof(name), "split %u", comm->splits++);
	rf_unlock(comm->ctx);
	ret = rf_comm_gather(comm, comm->lane, name, own, sizeof(own), all, comm->timeout_ms);
	if (ret)
		return ret;
	for (unsigned int r = 0; r < comm->ranks; r++)
		choices[r] = (struct choice){.color = (int)rf_get_be32(all + r * 8),
					     .key = (int)rf_get_be32(all + r * 8 + 4),
					     .rank = r};
	qsort(choices, comm->ranks, sizeof(choices[0]), compare);
	*n = 0;
	for (unsigned int r = 0; r < comm->ranks; r++)
		if (choices[r].color == color)
			members[(*n)++] = comm->member[choices[r].rank];
	return RF_OK;
}

int rf_comm_split(struct rf_comm *comm, int color, int key, const char *name, struct rf_comm **part)
{
	unsigned int members[RF_RANKS_MAX], n = 0;
	struct rf_context *ctx = comm->ctx;
	struct rf_comm *made;
	int ret;

	if (rf_usable(ctx))
		return RF_ERR_INVALID;
	if (!part || (name && strlen(name) > RF_NAME_MAX))
		return rf_fail(ctx, RF_ERR_INVALID,
			       "part is NULL, or the name is longer than %u "
			       "bytes",
			       RF_NAME_MAX);
	ret = choose(comm, color, key, members, &n);
	if (ret)
		return ret;
	if (color < 0) {
		*part = NULL;
		return RF_OK;
	}
	made = calloc(1, sizeof(*made));
	if (!made)
		return rf_fail(ctx, RF_ERR_NO_MEMORY, "no memory for the communicator");
	made->ctx = ctx;
	snprintf(made->name, sizeof(made->name), "%s", name ? name : "");
	made->timeout_ms = comm->timeout_ms;
	made->box_timeout_ms = comm->box_timeout_ms;
	made->schedule = comm->schedule;
	made->box_ip = comm->box_ip;
	ret = rf_job_take(ctx, NULL);
	if (ret) {
		free(made);
		return ret;
	}
	ret = comm_make(made, members, n, part);
	if (!ret)
		comm_log(made, true);
	return ret;
}
