/* The group of a communicator: the driver of its member. */
#include "host/api/api.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How often a creation that can be cancelled looks whether it is. */
#define CANCEL_LOOK_NS (5 * RF_NS_PER_MS)
/* The longest pause between two repeats of a packet, as a multiple of the first. */
#define RETRY_STRETCH 64u

/* ---- life ---- */

/* Takes part in the gather that the member asks for. Under the lock, which is released meanwhile.
 */
static void group_gather(struct rf_group *g) RF_REQUIRES(rf_context_class)
{
	struct rf_member_gather want = *rf_member_gather(g->member);
	struct rf_context *ctx = g->comm->ctx;
	uint8_t *values = calloc(g->comm->ranks, sizeof(want.value));
	int ret;

	rf_unlock(ctx);
	ret = values ? rf_comm_gather(g->comm, g->lane, want.name, want.value, want.len, values,
				      want.timeout_ms)
		     : rf_fail(ctx, RF_ERR_NO_MEMORY, "no memory for the ranks' messages");
	rf_lock(ctx);
	rf_member_gathered(g->member, ret, rf_error_text, RF_MEMBER_NOBODY, values, rf_now());
	rf_group_events(g);
	free(values);
}

static bool group_settled(const struct rf_group *g)
{
	enum rf_member_phase phase = rf_member_phase(g->member);

	return phase == RF_MEMBER_RUNNING || phase == RF_MEMBER_FAILED || phase == RF_MEMBER_LEFT;
}

/*
 * Until the member runs, has failed to, or has left. Under the lock, which is released while
 * waiting.
 */
static void group_drive(struct rf_group *g) RF_REQUIRES(rf_context_class)
{
	struct rf_context *ctx = g->comm->ctx;

	while (!group_settled(g)) {
		if (rf_member_gather(g->member)) {
			group_gather(g);
			continue;
		}
		ctx->outstanding++;
		ctx->io->ops->wake(ctx->io);
		while (!group_settled(g) && !rf_member_gather(g->member)) {
			if (rf_cancelled())
				rf_group_fail(g, true, RF_ERR_ABORTED,
					      "the creation was cancelled");
			rf_sleep(ctx, rf_cancel ? rf_now() + CANCEL_LOOK_NS : RF_NEVER);
		}
		ctx->outstanding--;
	}
}

static void group_unlink(struct rf_group *g) RF_REQUIRES(rf_context_class)
{
	struct rf_group **at = &g->comm->ctx->groups;

	while (*at && *at != g)
		at = &(*at)->next;
	if (*at)
		*at = g->next;
}

void rf_group_end(struct rf_group *g, bool together)
{
	struct rf_context *ctx = g->comm->ctx;

	rf_lock(ctx);
	if (g->member) {
		rf_member_leave(g->member, together, rf_now());
		rf_group_events(g);
		group_drive(g);
		rf_group_announce(g);
	}
	rf_member_destroy(g->member);
	rf_fallback_destroy(g->resume);
	free(g->copies[0]);
	free(g->copies[1]);
	rf_room_freed(g);
	group_unlink(g);
	/* requests that nobody has taken */
	for (unsigned int k = 0; k < RF_REQUESTS_MAX; k++)
		if (g->used >> k & 1 && !g->requests[k].callback)
			rf_request_taken(&g->requests[k]);
	rf_unlock(ctx);
	free(g);
}

static bool is_mirror(const struct rf_group *g)
{
	return g->schedule == RF_SCHEDULE_BOX && g->comm->flags & RF_CTL_J_MIRROR;
}

/* Numbers of queue pairs, two in a row. */
static uint32_t next_qpn(struct rf_context *ctx, bool random) RF_REQUIRES(rf_context_class)
{
	if (random)
		rf_random(&ctx->next_qpn, sizeof(ctx->next_qpn));
	do {
		ctx->next_qpn = (ctx->next_qpn + 2) & 0xfffffe;
	} while (ctx->next_qpn < 2);
	return ctx->next_qpn;
}

/* Numbers that no recent run has used, so that its late packets do not match. */
static int group_pair(struct rf_group *g, struct rf_member_end *own) RF_REQUIRES(rf_context_class)
{
	struct rf_context *ctx = g->comm->ctx;
	struct rf_pair_roce_cfg cfg = {.ep = ctx->ep,
				       .ip = ctx->ip,
				       .mtu = ctx->mtu,
				       .ack_timeout = ctx->retry_ns,
				       .ack_timeout_max = ctx->retry_ns * RETRY_STRETCH,
				       /*
					* the group's deadline limits how long others may compute,
					* not the transport's
					*/
				       .retry_cnt = ROCE_RETRY_FOREVER,
				       .sum = &ctx->past};
	uint32_t psn;
	int ret = RF_OK;

	rf_random(&psn, sizeof(psn));
	own->start_psn = psn & ROCE_PSN_MASK;
	if (ctx->verbs) {
		ret = rf_pair_verbs_init(&g->verbs, ctx->verbs, rf_error_text, RF_TEXT_MAX);
		if (ret) {
			g->verbs.base.ops->disconnect(&g->verbs.base);
			return ret;
		}
		own->send_qpn = rf_verbs_qp_number(g->verbs.to_next);
		own->recv_qpn = rf_verbs_qp_number(g->verbs.from_prev);
		if (is_mirror(g))
			own->recv_qpn = own->send_qpn;
		return RF_OK;
	}
	/* the number of a mirror connection is all that its sender must know: it is drawn */
	own->send_qpn = next_qpn(ctx, is_mirror(g));
	own->recv_qpn = is_mirror(g) ? own->send_qpn : own->send_qpn + 1;
	memcpy(cfg.mac, ctx->io->mac, sizeof(cfg.mac));
	rf_pair_roce_init(&g->roce, &cfg, own->send_qpn, own->recv_qpn);
	return RF_OK;
}

/* Makes the member. Under the lock. */
static int group_member(struct rf_group *g, const struct rf_group *like)
	RF_REQUIRES(rf_context_class)
{
	struct rf_comm *comm = g->comm;
	struct rf_context *ctx = comm->ctx;
	struct rf_member_cfg cfg = {
		.rank = comm->rank,
		.ranks = comm->ranks,
		.peers = comm->peers,
		.store = comm->ranks > 1,
		.number = g->number,
		/* of the JOIN and the check of the path: every call has its own */
		.type = RF_FP32,
		.op = RF_SUM,
		.schedule = g->schedule,
		.fallback = g->schedule == RF_SCHEDULE_BOX ? comm->fallback : RF_FALLBACK_NONE,
		.slots = g->slots,
		.slots_least = g->least,
		.like = like ? rf_member_order(like->member) : NULL,
		.flags = (uint16_t)(comm->flags | (is_mirror(g) ? 0 : RF_CTL_J_SHIFTED)),
		.prove = true,
		.no_wait = !g->room_soon,
		.timeout_ns = comm->timeout_ms * RF_NS_PER_MS,
		.exchange_ns = comm->timeout_ms * RF_NS_PER_MS,
		.lease_ms = RF_CTL_LEASE_DEFAULT,
		.join_ms = comm->timeout_ms,
		.mtu = ctx->mtu,
		.ring_window = ctx->window,
		.calls_max = RF_REQUESTS_MAX,
	};
	struct rf_pair *pair = NULL;
	int ret = RF_OK;

	cfg.client = (struct rf_client_cfg){.ip = ctx->ip,
					    .box_ip = comm->box_ip,
					    .via_ip = ctx->gateway,
					    .vlan = RF_CTL_NO_VLAN,
					    .job = ctx->job.number,
					    .answer_ns = comm->box_timeout_ms * RF_NS_PER_MS,
					    .answer_name = "RF_BOX_TIMEOUT",
					    .have_box_mac = comm->have_box_mac};
	while (!cfg.client.token)
		rf_random(&cfg.client.token, sizeof(cfg.client.token));
	memcpy(cfg.client.key, ctx->job.key, sizeof(cfg.client.key));
	memcpy(cfg.client.box_mac, comm->box_mac, sizeof(cfg.client.box_mac));
	if (comm->ranks > 1) {
		memcpy(cfg.client.mac, ctx->io->mac, sizeof(cfg.client.mac));
		ret = group_pair(g, &cfg.own);
		pair = ctx->verbs ? &g->verbs.base : &g->roce.base;
	}
	if (!ret && rf_member_create(&cfg, pair, &g->member))
		ret = rf_fail(ctx, RF_ERR_NO_MEMORY, "no memory for the group");
	return ret;
}

static int group_fallback(struct rf_group *g) RF_REQUIRES(rf_context_class)
{
	struct rf_fallback_cfg cfg = {.kind = g->comm->fallback,
				      .rank = g->comm->rank,
				      .ranks = g->comm->ranks,
				      .number = g->number,
				      .timeout_ns = g->comm->timeout_ms * RF_NS_PER_MS,
				      .order = g->order};

	return rf_fallback_create(&cfg, &g->resume)
		       ? rf_fail(g->comm->ctx, RF_ERR_NO_MEMORY, "no memory for the group")
		       : RF_OK;
}

/* Makes the group, together with the other ranks. Under the lock, which is released meanwhile. */
static int make(struct rf_group *g, const struct rf_group *like) RF_REQUIRES(rf_context_class)
{
	struct rf_comm *comm = g->comm;
	struct rf_context *ctx = comm->ctx;
	const uint8_t *mac;
	int ret;

	if (comm->status)
		return rf_fail(ctx, comm->status, "%s", comm->text);
	ret = rf_group_meet(g);
	if (!ret)
		ret = group_member(g, like);
	if (ret)
		return ret;
	g->next = ctx->groups;
	ctx->groups = g;
	rf_member_start(g->member, rf_now());
	group_drive(g);
	/* a box that does not answer may have been replaced: resolve its address again */
	mac = rf_member_box_mac(g->member);
	if (g->schedule == RF_SCHEDULE_BOX && (mac || !like))
		comm->have_box_mac = mac != NULL;
	if (mac)
		memcpy(comm->box_mac, mac, sizeof(comm->box_mac));
	if (rf_member_phase(g->member) == RF_MEMBER_FAILED) {
		rf_room_refused(g);
		return rf_fail(ctx, rf_member_status(g->member), "%s", rf_member_text(g->member));
	}
	g->joined = g->schedule == RF_SCHEDULE_BOX && comm->ranks > 1;
	g->order = *rf_member_order(g->member);
	rf_log_line(&ctx->log, RF_LOG_TRACE, "group %u: by %s, %u packets in flight", g->number,
		    comm->ranks == 1                 ? "copying"
		    : g->schedule == RF_SCHEDULE_BOX ? "the box"
						     : "the ring",
		    g->schedule == RF_SCHEDULE_BOX ? rf_member_window(g->member) : ctx->window);
	return group_fallback(g);
}

int rf_group_make(struct rf_comm *comm, const struct rf_group_want *want, struct rf_group **out)
{
	struct rf_context *ctx = comm->ctx;
	struct rf_group *g = calloc(1, sizeof(*g));
	char why[RF_TEXT_MAX];
	int ret;

	if (!g)
		return rf_fail(ctx, RF_ERR_NO_MEMORY, "no memory for the group");
	g->comm = comm;
	g->owner = want->like ? comm->group : g;
	g->schedule = want->schedule;
	g->slots = want->slots;
	g->least = want->least;
	snprintf(g->lane, sizeof(g->lane), "%s%s%s", comm->lane, *want->lane ? "/" : "",
		 want->lane);
	rf_lock(ctx);
	ret = make(g, want->like);
	memcpy(why, rf_error_text, sizeof(why));
	rf_unlock(ctx);
	if (ret) {
		rf_group_end(g, false);
		return rf_fail(ctx, ret, "%s", why);
	}
	*out = g;
	return RF_OK;
}
