/*
 * The group: create, destroy, fail, progress.
 */
#include "host/api/api.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/config/settings.h"

/* How long to wait for a rank's own reason after the box has reported that it aborted. */
#define ABORT_WAIT_NS (300 * NS_PER_MS)
/* How long to wait for the box's report which rank a failed connection was waiting for. */
#define BEHIND_NS (1000 * NS_PER_MS)

#define CONFIG(config, member, absent)                                                             \
	((config) && (config)->size >= offsetof(struct rf_group_config, member) +                  \
					       sizeof((config)->member)                            \
		 ? (config)->member                                                                \
		 : (absent))

/* ---- failure ---- */

static uint32_t abort_code(int status)
{
	switch (status) {
	case RF_ERR_ABORTED:
		return RF_CTL_ABORT_USER;
	case RF_ERR_MISMATCH:
		return RF_CTL_ABORT_MISMATCH;
	case RF_ERR_STEERING:
		return RF_CTL_ABORT_STEERING;
	case RF_ERR_NO_MEMORY:
		return RF_CTL_ABORT_MEMORY;
	}
	return RF_CTL_ABORT_TRANSPORT;
}

static void group_announce(struct rf_group *g)
{
	struct rf_comm *comm = g->comm;
	struct rf_announce *a;

	if (!comm->store || comm->n_announces == sizeof(comm->announces) / sizeof(*a))
		return;
	a = &comm->announces[comm->n_announces++];
	a->status = g->status;
	snprintf(a->text, sizeof(a->text), "%u|%.380s", g->number, g->text);
}

void rf_group_fail(struct rf_group *g, bool tell, int status, const char *format, ...)
{
	enum rf_client_state state;
	va_list args;
	unsigned int k;

	if (g->status)
		return;
	g->status = status;
	g->comm->troubled = true;
	va_start(args, format);
	vsnprintf(g->text, sizeof(g->text), format, args);
	va_end(args);
	/* from here on the callers' buffers are not used any more */
	rf_group_stop(g);
	for (k = 0; k < RF_REQUESTS_MAX && !rf_fallback_takes(g, status); k++)
		if (g->requests[k].used && !g->requests[k].done)
			rf_request_done(&g->requests[k], status);
	state = g->have_client ? rf_client_state(&g->client) : RF_CLIENT_IDLE;
	if (state == RF_CLIENT_JOINING || state == RF_CLIENT_READY)
		rf_client_abort(&g->client, abort_code(status), rf_now());
	if (tell)
		group_announce(g);
	pthread_cond_broadcast(&g->comm->ctx->cond);
}

/* ---- progress ---- */

static void coll_failed(struct rf_group *g, int error, uint64_t now)
{
	struct rf_comm *comm = g->comm;
	unsigned int prev = (comm->rank + comm->ranks - 1) % comm->ranks;
	unsigned int next = (comm->rank + 1) % comm->ranks;
	int channel = 0, status = 0;

	if (error == RF_COLL_E_LENGTH) {
		rf_group_fail(g, true, RF_ERR_MISMATCH,
			      "rank %u sent a message of a different length than rank %u expects: "
			      "counts differ between ranks",
			      prev, comm->rank);
		return;
	}
	rf_coll_failure(g->coll, &channel, &status);
	/* a message longer than its buffer: the receiver detects it, and the sender is rejected */
	if (status == ROCE_WC_LOC_LEN_ERR || status == ROCE_WC_REM_INV_REQ_ERR) {
		rf_group_fail(
			g, true, RF_ERR_MISMATCH,
			"rank %u sends more than rank %u expects: counts differ between ranks",
			channel ? prev : comm->rank, channel ? comm->rank : next);
		return;
	}
	snprintf(g->broken, sizeof(g->broken), "the connection %s rank %u has ended: %s",
		 channel ? "from" : "to", channel ? prev : next,
		 roce_wc_status_name((enum roce_wc_status)status));
	/* a NIC gave up waiting: the box knows for which rank */
	if (status == ROCE_WC_RETRY_EXC_ERR && (rf_straggler_ask(g, now) || g->straggler.asking)) {
		g->broken_due = now + BEHIND_NS;
		return;
	}
	rf_group_fail(g, true, RF_ERR_TRANSPORT, "%s", g->broken);
}

/* The membership has failed: ends the group with the box's reason. */
static void client_failed(struct rf_group *g)
{
	char text[RF_TEXT_MAX];

	rf_client_text(&g->client, text, sizeof(text));
	rf_group_fail(g, true, rf_client_status_of(&g->client), "%s", text);
}

/* The client's view of the box has changed. */
static void client_changed(struct rf_group *g, uint64_t now)
{
	pthread_cond_broadcast(&g->comm->ctx->cond);
	/* a rejected JOIN may be repeated: rf_group_join() decides */
	if (g->client_state != RF_CLIENT_FAILED || g->status || g->joining)
		return;
	/*
	 * the aborting rank sends its reason through the store, which is more specific than the
	 * box's
	 */
	if (rf_client_status_of(&g->client) == RF_ERR_ABORTED && g->comm->store)
		g->fail_due = now + ABORT_WAIT_NS;
	else
		client_failed(g);
}

static void check_deadline(struct rf_group *g, uint64_t now)
{
	uint64_t mark = rf_group_moved(g);
	uint64_t half = g->progress_time + g->timeout_ns / 2;
	char stragglers[300];

	if (mark != g->progress_mark || !g->outstanding || g->proving) {
		g->progress_mark = mark;
		g->progress_time = now;
		return;
	}
	if (now >= half && g->straggler.asked < half)
		rf_straggler_ask(g, now);
	if (now - g->progress_time < g->timeout_ns)
		return;
	rf_straggler_text(g, now, stragglers, sizeof(stragglers));
	rf_group_fail(g, true, RF_ERR_TIMEOUT,
		      "no progress for %llu ms at rank %u%s; if ranks compute for longer, set "
		      "a larger RF_TIMEOUT; if all ranks run, check with `ringfold doctor` on "
		      "their hosts "
		      "that the switch's rule is still in place",
		      (unsigned long long)(g->timeout_ns / NS_PER_MS), g->comm->rank, stragglers);
}

/*
 * A connection has ended and the box was asked which rank it waits for: fails the group on the
 * answer or a timeout.
 */
static bool broken(struct rf_group *g, uint64_t now)
{
	char stragglers[300];

	if (g->straggler.asking && now < g->broken_due)
		return false;
	rf_straggler_text(g, now, stragglers, sizeof(stragglers));
	rf_group_fail(g, true, RF_ERR_TRANSPORT, "%s%s", g->broken, stragglers);
	return true;
}

unsigned int rf_group_progress(struct rf_group *g, uint64_t now)
{
	struct rf_coll_done done;
	unsigned int count = 0;
	int ret;

	if (g->have_client && rf_client_state(&g->client) != g->client_state) {
		g->client_state = rf_client_state(&g->client);
		client_changed(g, now);
		count++;
	}
	if (g->fail_due && now >= g->fail_due)
		client_failed(g);
	rf_straggler_poll(g, now);
	if (!g->coll || g->status)
		return count;
	if (g->broken_due)
		return count + broken(g, now);
	ret = rf_coll_progress(g->coll);
	if (ret < 0) {
		coll_failed(g, ret, now);
		return count + 1;
	}
	while (rf_coll_poll(g->coll, &done)) {
		rf_request_done(&g->requests[done.id], RF_OK);
		g->progress_time = now;
	}
	check_deadline(g, now);
	return count + (unsigned int)ret;
}

uint64_t rf_group_next_timeout(const struct rf_group *g)
{
	uint64_t next = g->have_client ? rf_client_next_timeout(&g->client) : RF_NEVER;

	if (g->fail_due && !g->status && g->fail_due < next)
		next = g->fail_due;
	if (g->broken_due && !g->status && g->broken_due < next)
		next = g->broken_due;
	if (g->coll && !g->status && g->outstanding) {
		uint64_t t = g->progress_time + g->timeout_ns;

		if (g->have_client && g->straggler.asked < g->progress_time + g->timeout_ns / 2)
			t = g->progress_time + g->timeout_ns / 2;
		next = t < next ? t : next;
	}
	return next;
}

/* ---- create ---- */

static int choice(enum rf_choice wanted, const char *name, uint16_t flag, uint16_t *flags,
		  char *why, size_t room)
{
	uint64_t on = wanted == RF_CHOICE_ON;
	int ret = RF_OK;

	if ((unsigned int)wanted > RF_CHOICE_OFF) {
		snprintf(why, room, "%s: expected on, off or default", name);
		return RF_ERR_INVALID;
	}
	if (wanted == RF_CHOICE_DEFAULT)
		ret = rf_setting_number(name, 0, 1, &on, why, room);
	if (!ret && on)
		*flags |= flag;
	return ret;
}

/* JOIN flags: how the box treats the group. */
static int group_flags(struct rf_group *g, const struct rf_group_config *config, char *why,
		       size_t room)
{
	uint64_t code = CONFIG(config, straggler, 0);
	int ret = choice(CONFIG(config, transparent, RF_CHOICE_DEFAULT), "RF_TRANSPARENT",
			 RF_CTL_J_TRANSPARENT, &g->flags, why, room);

	if (!ret)
		ret = choice(CONFIG(config, selective, RF_CHOICE_DEFAULT), "RF_SELECTIVE",
			     RF_CTL_J_SELECTIVE, &g->flags, why, room);
	if (!ret && !code)
		ret = rf_setting_number("RF_STRAGGLER", 0, 31, &code, why, room);
	if (ret)
		return ret;
	if (code > RF_STRAGGLER_SILENT) {
		snprintf(why, room, "straggler %llu: expected an RNR timer code from 1 to 31",
			 (unsigned long long)code);
		return RF_ERR_INVALID;
	}
	if (code != RF_STRAGGLER_SILENT)
		g->flags |= (uint16_t)(code << RF_CTL_J_STRAGGLER_LSB);
	if (g->schedule == RF_SCHEDULE_BOX && (g->flags & RF_CTL_J_SELECTIVE) &&
	    g->comm->ctx->verbs) {
		snprintf(why, room,
			 "a NIC does not accept packets out of order: RF_SELECTIVE=1 "
			 "needs RF_BACKEND=dpdk");
		return RF_ERR_INVALID;
	}
	return RF_OK;
}

static int group_settings(struct rf_group *g, const struct rf_group_config *config, char *why,
			  size_t room)
{
	uint64_t slots = CONFIG(config, slots, 0);
	int ret = RF_OK;

	g->schedule = CONFIG(config, schedule, RF_SCHEDULE_DEFAULT);
	if (g->schedule == RF_SCHEDULE_DEFAULT)
		g->schedule = g->comm->schedule;
	g->timeout_ns = CONFIG(config, timeout_ms, 0) * NS_PER_MS;
	if (!g->timeout_ns)
		g->timeout_ns = g->comm->timeout_ms * NS_PER_MS;
	if (!slots)
		ret = rf_setting_number("RF_SLOTS", 16, 32768, &slots, why, room);
	if (!ret && (slots < 16 || slots > 32768 || (slots & (slots - 1)))) {
		snprintf(why, room, "%llu slots: expected a power of two from 16 to 32768",
			 (unsigned long long)slots);
		ret = RF_ERR_INVALID;
	}
	g->slots = (unsigned int)slots;
	if (!rf_type_size(g->type) || (unsigned int)g->op > RF_MAX ||
	    (unsigned int)g->schedule > RF_SCHEDULE_RING) {
		snprintf(why, room, "unknown type, operation or schedule");
		ret = RF_ERR_INVALID;
	}
	if (!ret && rf_fallback_parse(CONFIG(config, fallback, RF_FALLBACK_DEFAULT),
				      rf_setting_text("RF_FALLBACK"), &g->fallback)) {
		snprintf(why, room, "RF_FALLBACK=%s: expected none, exact or ring",
			 rf_setting_text("RF_FALLBACK"));
		ret = RF_ERR_INVALID;
	}
	return ret ? ret : group_flags(g, config, why, room);
}

static void group_unlink(struct rf_group *g)
{
	struct rf_group **at = &g->comm->groups;

	while (*at && *at != g)
		at = &(*at)->next;
	if (*at)
		*at = g->next;
}

/* Releases everything of a group, whatever its state. */
static void group_end(struct rf_group *g)
{
	struct rf_context *ctx = g->comm->ctx;

	rf_lock(ctx);
	rf_group_disconnect(g);
	rf_group_leave(g);
	group_unlink(g);
	rf_unlock(ctx);
	free(g);
}

static int group_make(struct rf_group *g)
{
	struct rf_peer_end ends[RF_RANKS_MAX];
	struct rf_context *ctx = g->comm->ctx;
	int ret;

	rf_lock(ctx);
	ret = rf_group_prepare(g);
	rf_unlock(ctx);
	if (!ret)
		ret = rf_group_meet(g, ends);
	if (ret)
		return ret;
	if (g->schedule == RF_SCHEDULE_BOX)
		ret = rf_group_join_all(g, ends);
	if (ret)
		return ret;
	rf_lock(ctx);
	ret = rf_group_connect(g, ends);
	rf_unlock(ctx);
	ret = rf_group_verdict(g, "connections", ret);
	if (ret)
		return ret;
	ret = rf_group_prove(g);
	return rf_group_verdict(g, "check of the path", ret);
}

/* Numbers that no recent run has used, so that its late packets do not match. */
static void group_numbers(struct rf_group *g)
{
	struct rf_context *ctx = g->comm->ctx;
	uint32_t psn;

	rf_random(&psn, sizeof(psn));
	g->start_psn = psn & ROCE_PSN_MASK;
	do {
		ctx->next_qpn = (ctx->next_qpn + 2) & 0xfffffe;
	} while (ctx->next_qpn < 2);
	g->send_qpn = ctx->next_qpn;
	g->recv_qpn = ctx->next_qpn + 1;
}

int rf_group_create(struct rf_comm *comm, enum rf_type type, enum rf_op op,
		    const struct rf_group_config *config, struct rf_group **out)
{
	struct rf_context *ctx = comm->ctx;
	struct rf_group *g;
	char why[RF_TEXT_MAX];
	int ret;

	if (!out || (config && config->size < sizeof(config->size)))
		return rf_fail_unlocked(ctx, RF_ERR_INVALID,
					"config.size is not set: use RF_GROUP_CONFIG_INIT");
	g = calloc(1, sizeof(*g));
	if (!g)
		return rf_fail_unlocked(ctx, RF_ERR_NO_MEMORY, "no memory for the group");
	g->comm = comm;
	g->type = type;
	g->op = op;
	ret = group_settings(g, config, why, sizeof(why));
	if (ret) {
		free(g);
		return rf_fail_unlocked(ctx, ret, why);
	}
	g->order.schedule = g->schedule;
	g->order.ranks = comm->ranks;
	g->order.mtu = ctx->mtu;
	rf_lock(ctx);
	ret = comm->status ? rf_fail(ctx, comm->status, "%s", comm->text) : RF_OK;
	if (!ret) {
		group_numbers(g);
		g->number = comm->next_number++;
		g->next = comm->groups;
		comm->groups = g;
	}
	rf_unlock(ctx);
	if (ret) {
		free(g);
		return ret;
	}
	if (comm->ranks > 1)
		ret = group_make(g);
	if (ret) {
		rf_lock(ctx);
		snprintf(why, sizeof(why), "%s", ctx->error);
		rf_group_fail(g, false, ret, "%s", why);
		rf_unlock(ctx);
		group_end(g);
		return rf_fail_unlocked(ctx, ret, why);
	}
	rf_lock(ctx);
	g->up = true;
	rf_unlock(ctx);
	*out = g;
	return RF_OK;
}

int rf_group_destroy(struct rf_group *group)
{
	struct rf_context *ctx;
	struct rf_comm *comm;
	char name[RF_STORE_KEY_MAX];
	unsigned int bound;

	if (!group)
		return RF_OK;
	comm = group->comm;
	ctx = comm->ctx;
	rf_lock(ctx);
	if (group->outstanding && group->status) {
		/* the box has failed and nobody has waited for the unfinished call */
		group->up = false;
		for (unsigned int k = 0; k < RF_REQUESTS_MAX; k++)
			if (group->requests[k].used && !group->requests[k].done)
				rf_request_done(&group->requests[k], RF_ERR_ABORTED);
	}
	if (group->outstanding)
		rf_group_fail(group, true, RF_ERR_ABORTED,
			      "the group was destroyed with calls outstanding");
	rf_unlock(ctx);
	rf_fallback_end(group);
	rf_lock(ctx);
	bound = group->status ? 1000 : (unsigned int)(group->timeout_ns / NS_PER_MS);
	rf_unlock(ctx);
	/* until all ranks are here, a rank's last packets may still need to be acknowledged */
	snprintf(name, sizeof(name), "the end of group %u", group->number);
	rf_comm_gather(comm, name, NULL, 0, NULL, bound);
	group_end(group);
	return RF_OK;
}

int rf_group_order(const struct rf_group *group, struct rf_order *order)
{
	if (!order)
		return rf_fail_unlocked(group->comm->ctx, RF_ERR_INVALID, "order is NULL");
	*order = group->order;
	return RF_OK;
}
