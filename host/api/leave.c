/* The end of a group, as its program wants it. */
#include "host/api/api.h"

void rf_group_leave(struct rf_group *group)
{
	struct rf_context *ctx;
	struct rf_group *ring;

	if (!group)
		return;
	ctx = group->comm->ctx;
	rf_lock(ctx);
	if (group->outstanding && group->status) {
		/* The box has failed, and no thread has waited for the unfinished call. */
		if (group->resume)
			rf_fallback_give_up(group->resume);
		for (unsigned int k = 0; k < RF_REQUESTS_MAX; k++)
			if (group->used >> k & 1 && !group->requests[k].done)
				rf_request_done(&group->requests[k], RF_ERR_ABORTED);
	}
	if (group->outstanding)
		rf_group_fail(group, true, RF_ERR_ABORTED,
			      "the communicator was destroyed with calls outstanding");
	if (group->resume)
		rf_group_finish(group);
	ring = group->ring;
	rf_unlock(ctx);
	if (ring)
		rf_group_end(ring, true);
	rf_deliver_all(ctx);
	rf_group_end(group, true);
}
