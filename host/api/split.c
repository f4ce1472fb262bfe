/* Parts of a communicator. */
#include "host/api/api.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/rf_bytes.h"

/* Bytes of what a rank publishes: color, key, and whether its communicator has failed. */
#define CARD 9u

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
	uint8_t own[CARD], all[RF_RANKS_MAX * CARD];
	struct choice choices[RF_RANKS_MAX];
	char name[RF_STORE_KEY_MAX];
	int ret;

	rf_put_be32(own, (uint32_t)color);
	rf_put_be32(own + 4, (uint32_t)key);
	rf_lock(comm->ctx);
	/* the other ranks must learn of it, or they would wait */
	own[8] = comm->status || (comm->group->status &&
				  !rf_fallback_takes(comm->group->resume, comm->group->status));
	snprintf(name, sizeof(name), "rf_comm_split() number %u of communicator %.20s",
		 ++comm->splits, comm->name[0] ? comm->name : comm->lane);
	rf_unlock(comm->ctx);
	ret = rf_comm_gather(comm, comm->lane, name, own, sizeof(own), all, comm->timeout_ms);
	if (ret)
		return ret;
	for (unsigned int r = 0; r < comm->ranks; r++) {
		if (all[r * CARD + 8])
			return rf_fail(comm->ctx, RF_ERR_GROUP_FAILED,
				       "the communicator has already failed at rank %u: it can "
				       "only be destroyed",
				       r);
		choices[r] = (struct choice){.color = (int)rf_get_be32(all + r * CARD),
					     .key = (int)rf_get_be32(all + r * CARD + 4),
					     .rank = r};
	}
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
	struct rf_context *ctx;
	struct rf_comm *made;
	int ret;

	if (!comm)
		return rf_null("comm");
	ctx = comm->ctx;
	if (rf_usable(ctx))
		return RF_ERR_INVALID;
	if (!part)
		return rf_fail(ctx, RF_ERR_INVALID, "part is NULL");
	if (name && strlen(name) > RF_NAME_MAX)
		return rf_fail(ctx, RF_ERR_INVALID,
			       "the name of a communicator is longer than %u bytes", RF_NAME_MAX);
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
	made->slots = comm->slots;
	made->large.slots = comm->large.slots;
	made->steering = comm->steering;
	made->fallback = comm->fallback;
	made->flags = comm->flags;
	ret = rf_job_take(ctx, NULL);
	if (ret) {
		free(made);
		return ret;
	}
	return rf_comm_make(made, members, n, "as in the communicator that is split", part);
}
