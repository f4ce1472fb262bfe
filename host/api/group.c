/* The group: its settings, and the driver of its member. */
#include "host/api/api.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/config/settings.h"

/* How often a creation that can be cancelled looks whether it is. */
#define CANCEL_LOOK_NS (5 * RF_NS_PER_MS)
/* The longest pause between two repeats of a packet, as a multiple of the first. */
#define RETRY_STRETCH 64u

#define CONFIG(config, member, absent)                                                             \
	((config) && (config)->size >= offsetof(struct rf_group_config, member) +                  \
					       sizeof((config)->member)                            \
		 ? (config)->member                                                                \
		 : (absent))

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

static int fallback_setting(enum rf_fallback wanted, enum rf_fallback *fallback, char *why,
			    size_t room)
{
	const char *text = rf_setting_text("RF_FALLBACK");

	for (unsigned int k = RF_FALLBACK_NONE; k <= RF_FALLBACK_RING; k++)
		if (wanted == (enum rf_fallback)k ||
		    (!wanted && strcmp(text, rf_fallback_name((enum rf_fallback)k)) == 0)) {
			*fallback = (enum rf_fallback)k;
			return RF_OK;
		}
	snprintf(why, room, "RF_FALLBACK=%s: expected none, exact or ring", text);
	return RF_ERR_INVALID;
}

/* A named group meets in a lane of its own, so that the order of creation does not matter. */
static int name_setting(struct rf_group *g, const char *name, char *why, size_t room)
{
	snprintf(g->lane, sizeof(g->lane), "%s", g->comm->lane);
	if (!name || !*name)
		return RF_OK;
	if (strlen(name) >= sizeof(g->name)) {
		snprintf(why, room, "the name of a group is longer than %u bytes", RF_NAME_MAX);
		return RF_ERR_INVALID;
	}
	snprintf(g->name, sizeof(g->name), "%s", name);
	snprintf(g->lane, sizeof(g->lane), "%s/%s", g->comm->lane, name);
	return RF_OK;
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
	int ret = name_setting(g, CONFIG(config, name, NULL), why, room);

	g->schedule = CONFIG(config, schedule, RF_SCHEDULE_DEFAULT);
	if (g->schedule == RF_SCHEDULE_DEFAULT)
		g->schedule = g->comm->schedule;
	g->timeout_ns = CONFIG(config, timeout_ms, 0) * RF_NS_PER_MS;
	if (!g->timeout_ns)
		g->timeout_ns = g->comm->timeout_ms * RF_NS_PER_MS;
	if (!ret && !slots)
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
	if (!ret)
		ret = fallback_setting(CONFIG(config, fallback, RF_FALLBACK_DEFAULT), &g->fallback,
				       why, room);
	return ret ? ret : group_flags(g, config, why, room);
}

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
	if (!*at)
		return;
	*at = g->next;
	g->comm->n_groups--;
}

void rf_group_end(struct rf_group *g, bool together)
{
	struct rf_context *ctx = g->comm->ctx;

	rf_lock(ctx);
	if (g->member) {
		rf_member_leave(g->member, together, rf_now());
		rf_group_events(g);
		group_drive(g);
	}
	rf_member_destroy(g->member);
	rf_fallback_destroy(g->resume);
	free(g->copies[0]);
	free(g->copies[1]);
	rf_room_freed(g);
	group_unlink(g);
	/* requests that nobody has taken */
	for (unsigned int k = 0; k < RF_REQUESTS_MAX; k++)
		if (g->requests[k].used && !g->requests[k].callback)
			rf_request_taken(&g->requests[k]);
	rf_unlock(ctx);
	free(g);
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
		return RF_OK;
	}
	do {
		ctx->next_qpn = (ctx->next_qpn + 2) & 0xfffffe;
	} while (ctx->next_qpn < 2);
	own->send_qpn = ctx->next_qpn;
	own->recv_qpn = ctx->next_qpn + 1;
	memcpy(cfg.mac, ctx->io->mac, sizeof(cfg.mac));
	rf_pair_roce_init(&g->roce, &cfg, own->send_qpn, own->recv_qpn);
	return RF_OK;
}

/* Makes the member. Under the lock. */
static int group_member(struct rf_group *g) RF_REQUIRES(rf_context_class)
{
	struct rf_comm *comm = g->comm;
	struct rf_context *ctx = comm->ctx;
	struct rf_member_cfg cfg = {
		.rank = comm->rank,
		.ranks = comm->ranks,
		.peers = comm->peers,
		.store = comm->ranks > 1,
		.number = g->number,
		.type = g->type,
		.op = g->op,
		.schedule = g->schedule,
		.fallback = g->fallback,
		.slots = g->slots,
		.flags = (uint16_t)(RF_CTL_J_SHIFTED | g->flags),
		.prove = true,
		.no_wait = !rf_room_soon(ctx),
		.timeout_ns = g->timeout_ns,
		.exchange_ns = comm->timeout_ms * RF_NS_PER_MS,
		.lease_ms = RF_CTL_LEASE_DEFAULT,
		.join_ms = (uint32_t)(g->timeout_ns / RF_NS_PER_MS),
		.mtu = ctx->mtu,
		.ring_window = ctx->window,
		.calls_max = RF_REQUESTS_MAX,
	};
	struct rf_pair *pair = NULL;
	int ret = RF_OK;

	cfg.client = (struct rf_client_cfg){.ip = ctx->ip,
					    .box_ip = comm->box_ip,
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
	struct rf_fallback_cfg cfg = {.kind = g->fallback,
				      .rank = g->comm->rank,
				      .ranks = g->comm->ranks,
				      .number = g->number,
				      .type = g->type,
				      .op = g->op,
				      .timeout_ns = g->timeout_ns,
				      .order = g->order};

	return rf_fallback_create(&cfg, &g->resume)
		       ? rf_fail(g->comm->ctx, RF_ERR_NO_MEMORY, "no memory for the group")
		       : RF_OK;
}

/* Makes the group, together with the other ranks. Under the lock, which is released meanwhile. */
static int group_make(struct rf_group *g) RF_REQUIRES(rf_context_class)
{
	struct rf_comm *comm = g->comm;
	struct rf_context *ctx = comm->ctx;
	const uint8_t *mac;
	int ret;

	if (comm->status)
		return rf_fail(ctx, comm->status, "%s", comm->text);
	ret = rf_group_meet(g);
	if (!ret)
		ret = group_member(g);
	if (ret)
		return ret;
	g->next = ctx->groups;
	ctx->groups = g;
	comm->n_groups++;
	rf_member_start(g->member, rf_now());
	group_drive(g);
	/* a box that does not answer may have been replaced: resolve its address again */
	mac = rf_member_box_mac(g->member);
	if (g->schedule == RF_SCHEDULE_BOX)
		comm->have_box_mac = mac != NULL;
	if (mac)
		memcpy(comm->box_mac, mac, sizeof(comm->box_mac));
	if (rf_member_phase(g->member) == RF_MEMBER_FAILED) {
		rf_room_refused(g);
		return rf_fail(ctx, rf_member_status(g->member), "%s", rf_member_text(g->member));
	}
	g->joined = g->schedule == RF_SCHEDULE_BOX && comm->ranks > 1;
	g->order = *rf_member_order(g->member);
	rf_log_line(&ctx->log, RF_LOG_TRACE, "group %u: %s %s by %s, %u packets in flight",
		    g->number, rf_type_name(g->type), rf_op_name(g->op),
		    comm->ranks == 1                 ? "copying"
		    : g->schedule == RF_SCHEDULE_BOX ? "the box"
						     : "the ring",
		    g->schedule == RF_SCHEDULE_BOX ? rf_member_window(g->member) : ctx->window);
	ret = group_fallback(g);
	if (ret)
		return ret;
	/* the check of the path was a reduction too */
	if (comm->ranks > 1) {
		ctx->reductions++;
		ctx->bytes_reduced += ctx->mtu;
	}
	return RF_OK;
}

int rf_group_create(struct rf_comm *comm, enum rf_type type, enum rf_op op,
		    const struct rf_group_config *config, struct rf_group **out)
{
	struct rf_context *ctx = comm->ctx;
	struct rf_group *g;
	char why[RF_TEXT_MAX];
	int ret;

	if (rf_usable(ctx))
		return RF_ERR_INVALID;
	if (!out || (config && config->size < sizeof(config->size)))
		return rf_fail(ctx, RF_ERR_INVALID,
			       "config.size is not set: use RF_GROUP_CONFIG_INIT");
	g = calloc(1, sizeof(*g));
	if (!g)
		return rf_fail(ctx, RF_ERR_NO_MEMORY, "no memory for the group");
	g->comm = comm;
	g->type = type;
	g->op = op;
	ret = group_settings(g, config, why, sizeof(why));
	if (ret) {
		free(g);
		return rf_fail(ctx, ret, "%s", why);
	}
	rf_lock(ctx);
	ret = group_make(g);
	memcpy(why, rf_error_text, sizeof(why));
	rf_unlock(ctx);
	if (ret) {
		rf_group_end(g, false);
		return rf_fail(ctx, ret, "%s", why);
	}
	*out = g;
	return RF_OK;
}

int rf_group_order(const struct rf_group *group, struct rf_order *order)
{
	struct rf_order o;
	size_t least = offsetof(struct rf_order, place) +
		       group->comm->ranks * sizeof(struct rf_rank_place);
	size_t size = order ? order->size : 0;

	if (rf_usable(group->comm->ctx))
		return RF_ERR_INVALID;
	if (size < least)
		return rf_fail(group->comm->ctx, RF_ERR_INVALID,
			       "order.size is not set, or too small for the places of all "
			       "ranks: use RF_ORDER_INIT");
	rf_lock(group->comm->ctx);
	o = group->order;
	rf_unlock(group->comm->ctx);
	o.size = size;
	memcpy(order, &o, size < sizeof(o) ? size : sizeof(o));
	return RF_OK;
}
