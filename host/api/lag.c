/* Which rank was last: fetches the box's LAG page for rf_comm_stragglers(). */
#include "host/api/api.h"

#include <string.h>

/* The client gives up after its own timeout; this one is longer. */
#define ANSWER_NS (7000 * RF_NS_PER_MS)

_Static_assert(RF_LAG_BINS == RF_CTL_LAG_BINS, "the box and the API have the same bins");

/*
 * Requests the page from one rank on. The lock is released meanwhile and others may ask as well; if
 * so, retries.
 */
static int ask(struct rf_group *g, unsigned int first, const struct rf_ctl_lag_page **page)
	RF_REQUIRES(rf_context_class)
{
	struct rf_ctl_status_req req = {.page = RF_CTL_PAGE_LAG, .index = (uint16_t)first};
	struct rf_context *ctx = g->comm->ctx;
	uint64_t until = rf_now() + ANSWER_NS;
	const struct rf_ctl_reply *reply;

	for (;;) {
		while (rf_member_asking(g->member))
			if (!rf_sleep(ctx, until))
				goto silent;
		if (rf_member_ask(g->member, &req, rf_now()) != 0)
			goto silent;
		ctx->io->ops->wake(ctx->io);
		while (rf_member_asking(g->member))
			if (!rf_sleep(ctx, until))
				goto silent;
		reply = rf_member_answer(g->member);
		if (!reply)
			goto silent;
		if (reply->result == RF_CTL_FAILED)
			return rf_fail(ctx, RF_ERR_BOX_REFUSED, "lag query: %s",
				       rf_ctl_reason_text(reply->u.failed.reason));
		if (reply->result == RF_CTL_PAGE && reply->page == RF_CTL_PAGE_LAG)
			break;
	}
	*page = &reply->u.lag;
	return RF_OK;
silent:
	return rf_fail(ctx, RF_ERR_BOX_SILENT, "the box does not answer the lag query");
}

static void take(struct rf_stragglers *s, const struct rf_ctl_lag_page *page)
{
	s->ranks = page->ranks;
	s->awaited = page->awaited == RF_CTL_NO_RANK ? -1 : page->awaited;
	s->awaited_ms = page->awaited_ms;
	s->sum_us = page->sum_us;
	s->measurements = 0;
	for (unsigned int k = 0; k < page->bins; k++) {
		s->bin[k] = page->bin[k];
		s->measurements += page->bin[k];
	}
	for (unsigned int k = 0; k < page->count && page->first + k < RF_RANKS_MAX; k++) {
		s->rank[page->first + k].times = page->rank[k].times;
		s->rank[page->first + k].most_us = page->rank[k].most_us;
	}
}

int rf_comm_stragglers(struct rf_comm *comm, struct rf_stragglers *stragglers)
{
	struct rf_context *ctx;
	struct rf_group *group;
	const struct rf_ctl_lag_page *page = NULL;
	struct rf_stragglers s = {0};
	size_t size = stragglers ? stragglers->size : 0;
	unsigned int next = 0;
	int ret;

	if (!comm)
		return rf_null("comm");
	ctx = comm->ctx;
	group = comm->group;
	if (rf_usable(ctx))
		return RF_ERR_INVALID;
	if (size < sizeof(size))
		return rf_fail(
			ctx, RF_ERR_INVALID,
			"stragglers.size is not set: set it to sizeof(struct rf_stragglers)");
	rf_lock(ctx);
	ret = rf_member_window(group->member)
		      ? RF_OK
		      : rf_fail(ctx, RF_ERR_INVALID,
				"this communicator does not use the box, so lags are not measured");
	ctx->outstanding++;
	while (!ret) {
		ret = ask(group, next, &page);
		if (ret)
			break;
		take(&s, page);
		next = page->first + page->count;
		if (page->count == 0 || next >= page->ranks)
			break;
	}
	ctx->outstanding--;
	rf_unlock(ctx);
	if (ret)
		return ret;
	s.size = size;
	memcpy(stragglers, &s, size < sizeof(s) ? size : sizeof(s));
	return RF_OK;
}
