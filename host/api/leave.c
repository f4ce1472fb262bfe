/* The end of a group, as its program wants it. */
#include "host/api/api.h"

int rf_group_destroy(struct rf_group *group)
{
	struct rf_context *ctx;
	struct rf_group *ring;

	if (!group)
		return RF_OK;
	ctx = group->comm->ctx;
	if (rf_usable(ctx))
		return RF_ERR_INVALID;
	rf_lock(ctx);
	if (group->outstanding && group->status) {
		/* The box has failed, and no thread has waited for the unfinished call. */
		if (group->resume)
			rf_fallback_give_up(group->resume);
		for (unsigned int k = 0; k < RF_REQUESTS_MAX; k++)
			if (group->requests[k].used && !group->requests[k].done)
				rf_request_done(&group->requests[k], RF_ERR_ABORTED);
	}
	if (group->outstanding)
		rf_group_fail(group, true, RF_ERR_ABORTED,
			      "the group was destroyed with calls outstanding");
	if (group->resume)
		rf_group_finish(group);
	ring = group->ring;
	rf_unlock(ctx);
	rf_group_destroy(ring);
	rf_deliver_all(ctx);
	rf_group_end(group, true);
	return RF_OK;
}
