/* Parts of a communicator. */
#include "host/api/api.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/rf_bytes.h"

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
	return rf_comm_make(made, members, n, true, part);
}
