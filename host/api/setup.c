/* The parts of a group: membership at the box, queue pairs, collective. */
#include "base/log2.h"
#include "host/api/api.h"

#include <stdlib.h>
#include <string.h>

/* Added to the box's own JOIN deadline, for its answer to arrive. */
#define JOIN_GRACE_NS (15000 * NS_PER_MS)
/* How long, and how often, a JOIN is repeated when the box has no room. */
#define ROOM_NS (400 * NS_PER_MS)
#define ROOM_AGAIN_NS (20 * NS_PER_MS)
#define LEAVE_NS (2000 * NS_PER_MS)
#define QUEUE_DEPTH 256u
/* The longest pause between two repeats of a packet, as a multiple of the first. */
#define RETRY_STRETCH 64u

int rf_client_status_of(const struct rf_client *client)
{
	const struct rf_ctl_failed *failed = rf_client_failed(client);

	switch (rf_client_error(client)) {
	case RF_CLIENT_E_NONE:
		return RF_OK;
	case RF_CLIENT_E_NO_ARP:
	case RF_CLIENT_E_NO_ANSWER:
	case RF_CLIENT_E_SILENT:
		return RF_ERR_BOX_SILENT;
	case RF_CLIENT_E_RESET:
		return RF_ERR_BOX_REFUSED;
	case RF_CLIENT_E_REFUSED:
	case RF_CLIENT_E_GROUP:
		break;
	}
	switch (failed ? failed->reason : RF_CTL_R_NONE) {
	case RF_CTL_R_MISSING_RANKS:
		return RF_ERR_RANK_MISSING;
	case RF_CTL_R_RANK_TAKEN:
		return RF_ERR_RANK_TAKEN;
	case RF_CTL_R_OTHER_PORT:
		return RF_ERR_STEERING;
	case RF_CTL_R_LEASE:
		return RF_ERR_RANK_LOST;
	case RF_CTL_R_ABORTED:
		return RF_ERR_ABORTED;
	case RF_CTL_R_RANKS_DIFFER:
	case RF_CTL_R_TYPES_DIFFER:
	case RF_CTL_R_MTU_DIFFERS:
	case RF_CTL_R_SETTINGS_DIFFER:
	case RF_CTL_R_DISAGREE:
		return RF_ERR_MISMATCH;
	}
	return RF_ERR_BOX_REFUSED;
}

static void client_start(struct rf_group *g, const struct rf_peer_end *ends, unsigned int least)
{
	struct rf_comm *comm = g->comm;
	unsigned int next = (comm->rank + 1) % comm->ranks;
	struct rf_client_cfg cfg = {
		.ip = comm->ctx->ip,
		.box_ip = comm->box_ip,
		.vlan = RF_CTL_NO_VLAN,
		.job = comm->job,
		/*
		 * a request for fewer slots is a different group: late copies of the first JOIN
		 * must not match
		 */
		.group = (uint16_t)(g->number * 2 + (least < g->slots)),
		.rank = (uint16_t)comm->rank,
	};
	struct rf_ctl_join join = {
		.ranks = (uint16_t)comm->ranks,
		.dtype = (uint8_t)g->type,
		.op = (uint8_t)g->op,
		.mtu_log2 = (uint8_t)rf_log2(comm->ctx->mtu),
		.slots_log2 = (uint8_t)rf_log2(g->slots),
		.slots_min_log2 = (uint8_t)rf_log2(least),
		.port = RF_CTL_NO_PORT,
		.flags = (uint16_t)(RF_CTL_J_SHIFTED | g->flags),
		.qpn = g->send_qpn,
		.peer_ip = comm->peers[next].ip,
		.peer_qpn = ends[next].qpn,
		.start_psn = g->start_psn,
		.shift = RF_CTL_SHIFT,
		.lease_ms = RF_CTL_LEASE_DEFAULT,
		.deadline_ms = (uint32_t)(g->timeout_ns / NS_PER_MS),
	};

	memcpy(cfg.mac, comm->ctx->io->mac, sizeof(cfg.mac));
	memcpy(cfg.key, comm->key, sizeof(cfg.key));
	cfg.have_box_mac = comm->have_box_mac;
	memcpy(cfg.box_mac, comm->box_mac, sizeof(cfg.box_mac));
	/* the membership stays the same for all repeats: a late copy may be accepted instead */
	while (!g->token)
		rf_random(&g->token, sizeof(g->token));
	cfg.token = g->token;
	rf_client_init(&g->client, &cfg);
	rf_client_join(&g->client, &join, rf_now());
	g->client_state = rf_client_state(&g->client);
	g->have_client = true;
}

static void place_all(struct rf_group *g)
{
	const struct rf_ctl_ready *ready = rf_client_ready(&g->client);
	unsigned int r;

	for (r = 0; r < g->order.ranks; r++) {
		g->order.place[r].port = ready->place[r].port;
		g->order.place[r].lane = ready->place[r].lane;
	}
}

/* Refusals that may be temporary: another group of this job may just have ended. */
static bool no_room(const struct rf_client *client)
{
	const struct rf_ctl_failed *failed = rf_client_failed(client);

	return rf_client_error(client) == RF_CLIENT_E_REFUSED && failed &&
	       (failed->reason == RF_CTL_R_NO_SLOTS || failed->reason == RF_CTL_R_NO_GROUPS ||
		failed->reason == RF_CTL_R_NO_CONNECTIONS || failed->reason == RF_CTL_R_NO_PASSES);
}

/* Sends one JOIN. Returns 0, RF_IN_PROGRESS if there was no room, or the group has failed. */
static int join_once(struct rf_group *g, const struct rf_peer_end *ends, unsigned int least,
		     uint64_t until)
{
	struct rf_context *ctx = g->comm->ctx;
	enum rf_client_state state;
	char text[RF_TEXT_MAX];

	client_start(g, ends, least);
	ctx->io->ops->wake(ctx->io);
	while (!g->status) {
		state = rf_client_state(&g->client);
		if (state == RF_CLIENT_READY)
			return RF_OK;
		if (state == RF_CLIENT_FAILED) {
			rf_client_text(&g->client, text, sizeof(text));
			if (no_room(&g->client))
				return rf_fail(ctx, RF_IN_PROGRESS, "%s", text);
			rf_group_fail(g, true, rf_client_status_of(&g->client), "%s", text);
		} else if (!rf_sleep(ctx, until)) {
			rf_group_fail(g, true, RF_ERR_TIMEOUT,
				      "the box did not complete the group in time");
		}
	}
	return rf_fail(ctx, g->status, "%s", g->text);
}

int rf_group_join(struct rf_group *g, const struct rf_peer_end *ends, unsigned int least)
{
	struct rf_context *ctx = g->comm->ctx;
	uint64_t start = rf_now();
	uint64_t until = start + g->timeout_ns + JOIN_GRACE_NS;
	int ret;

	ctx->outstanding++;
	g->joining = true;
	for (;;) {
		uint64_t again;

		ret = join_once(g, ends, least, until);
		again = rf_now() + ROOM_AGAIN_NS;
		if (ret != RF_IN_PROGRESS || again > start + ROOM_NS)
			break;
		while (rf_now() < again && rf_sleep(ctx, again))
			;
	}
	g->joining = false;
	ctx->outstanding--;
	/* a box that does not answer may have been replaced: resolve its address again */
	g->comm->have_box_mac = ret == RF_OK;
	if (ret == RF_OK) {
		memcpy(g->comm->box_mac, g->client.box_mac, sizeof(g->comm->box_mac));
		place_all(g);
	}
	return ret;
}

void rf_group_leave(struct rf_group *g)
{
	struct rf_context *ctx = g->comm->ctx;
	uint64_t until = rf_now() + LEAVE_NS;

	if (!g->have_client)
		return;
	if (rf_client_state(&g->client) == RF_CLIENT_READY ||
	    rf_client_state(&g->client) == RF_CLIENT_JOINING ||
	    /* if others have left and a rank is lost, the group drains until all have left */
	    (rf_client_state(&g->client) == RF_CLIENT_FAILED && rf_client_draining(&g->client)))
		rf_client_leave(&g->client, true, rf_now());
	ctx->outstanding++;
	ctx->io->ops->wake(ctx->io);
	/* until the box has received the LEAVE, or the ABORT was sent often enough */
	while (rf_client_state(&g->client) == RF_CLIENT_DRAINING
		       ? !rf_client_left_acked(&g->client)
		       : rf_client_next_timeout(&g->client) != RF_CLIENT_NEVER)
		if (!rf_sleep(ctx, until))
			break;
	ctx->outstanding--;
	g->have_client = false;
}

int rf_group_prepare(struct rf_group *g)
{
	struct rf_context *ctx = g->comm->ctx;
	int ret;

	if (!ctx->verbs)
		return RF_OK;
	ret = rf_verbs_qp_create(ctx->verbs, QUEUE_DEPTH, &g->v_next, ctx->error, RF_TEXT_MAX);
	if (!ret)
		ret = rf_verbs_qp_create(ctx->verbs, QUEUE_DEPTH, &g->v_prev, ctx->error,
					 RF_TEXT_MAX);
	if (ret)
		return ret;
	g->send_qpn = rf_verbs_qp_number(g->v_next);
	g->recv_qpn = rf_verbs_qp_number(g->v_prev);
	return RF_OK;
}

uint64_t rf_group_moved(const struct rf_group *g)
{
	const struct roce_qp_counters *tx, *rx;

	if (g->v_next)
		return rf_verbs_qp_progress(g->v_next) + rf_verbs_qp_progress(g->v_prev);
	tx = roce_qp_counters(g->to_next);
	rx = roce_qp_counters(g->from_prev);
	return tx->tx_packets - tx->tx_retransmits - roce_qp_in_flight(g->to_next) + rx->rx_bytes;
}

void rf_group_stop(struct rf_group *g)
{
	if (g->v_next)
		rf_verbs_qp_end(g->v_next);
	if (g->v_prev)
		rf_verbs_qp_end(g->v_prev);
	if (g->to_next)
		roce_qp_to_err(g->to_next);
	if (g->from_prev)
		roce_qp_to_err(g->from_prev);
}

bool rf_group_bypassed(const struct rf_group *g)
{
	/* a NIC does not count dropped packets per connection */
	return g->from_prev && roce_qp_counters(g->from_prev)->rx_gaps > 0;
}

/* We choose the PSNs of both ends. Through the box the receiver expects start - 2^22. */
static int connect_verbs(struct rf_group *g, const struct rf_peer_end *ends)
{
	struct rf_comm *comm = g->comm;
	unsigned int next = (comm->rank + 1) % comm->ranks;
	unsigned int prev = (comm->rank + comm->ranks - 1) % comm->ranks;
	uint32_t shift = g->schedule == RF_SCHEDULE_BOX ? RF_CTL_SHIFT : 0;
	struct rf_verbs_to to = {.ip = comm->peers[next].ip,
				 .qpn = ends[next].qpn,
				 .sq_psn = g->start_psn,
				 .rq_psn = ends[next].start_psn - shift};
	struct rf_verbs_to from = {.ip = comm->peers[prev].ip,
				   .qpn = ends[prev].send_qpn,
				   .sq_psn = g->start_psn,
				   .rq_psn = ends[prev].start_psn - shift};
	int ret = rf_verbs_qp_connect(g->v_next, &to, comm->ctx->error, RF_TEXT_MAX);

	return ret ? ret : rf_verbs_qp_connect(g->v_prev, &from, comm->ctx->error, RF_TEXT_MAX);
}

/* Creates one queue pair, ready to use. */
static struct roce_qp *make_qp(struct rf_group *g, bool sends, const struct rf_peer_end *ends)
{
	struct rf_comm *comm = g->comm;
	struct rf_context *ctx = comm->ctx;
	unsigned int peer = (comm->rank + (sends ? 1 : comm->ranks - 1)) % comm->ranks;
	struct roce_qp_peer to = {.ip = comm->peers[peer].ip};
	bool box = g->schedule == RF_SCHEDULE_BOX;
	struct roce_qp_cfg cfg;
	struct roce_qp *qp;

	roce_qp_cfg_init(&cfg);
	memcpy(cfg.mac, ctx->io->mac, sizeof(cfg.mac));
	cfg.ip = ctx->ip;
	cfg.qpn = sends ? g->send_qpn : g->recv_qpn;
	cfg.sq_psn = g->start_psn;
	/* through the box: see struct roce_qp_cfg */
	cfg.rq_psn = (ends[peer].start_psn - (box ? RF_CTL_SHIFT : 0)) & ROCE_PSN_MASK;
	cfg.mtu = ctx->mtu;
	cfg.window = box ? rf_client_ready(&g->client)->window : ctx->window;
	cfg.selective = box && (g->flags & RF_CTL_J_SELECTIVE);
	if (cfg.selective)
		cfg.window = roce_selective_window(cfg.window);
	cfg.sq_depth = sends ? QUEUE_DEPTH : 0;
	cfg.rq_depth = sends ? 0 : QUEUE_DEPTH;
	cfg.ack_timeout = ctx->retry_ns;
	cfg.ack_timeout_max = ctx->retry_ns * RETRY_STRETCH;
	/* the group's deadline limits how long others may compute, not the transport's */
	cfg.retry_cnt = ROCE_RETRY_FOREVER;
	if (roce_qp_create(&cfg, &qp) != ROCE_OK)
		return NULL;
	memcpy(to.mac, comm->peers[peer].mac, sizeof(to.mac));
	to.qpn = sends ? ends[peer].qpn : ends[peer].send_qpn;
	if (roce_qp_to_rtr(qp, &to) == ROCE_OK && roce_qp_to_rts(qp) == ROCE_OK &&
	    roce_endpoint_add_qp(ctx->ep, qp) == ROCE_OK)
		return qp;
	roce_qp_destroy(qp);
	return NULL;
}

/*
 * Packets per message. The opcodes of all ranks must agree at each index, so all ranks cut messages
 * in the same way: by the window that the box has assigned.
 */
static uint32_t message_packets(const struct rf_group *g)
{
	uint32_t window = RF_COLL_MESSAGE_PACKETS * 2;

	if (g->schedule == RF_SCHEDULE_BOX)
		window = rf_client_ready(&g->client)->window;
	return window < RF_COLL_MESSAGE_PACKETS * 2 ? window / 2 : RF_COLL_MESSAGE_PACKETS;
}

static int make_coll(struct rf_group *g)
{
	struct rf_coll_cfg cfg = {
		.schedule = g->schedule == RF_SCHEDULE_BOX ? RF_COLL_BOX : RF_COLL_RING,
		.rank = g->comm->rank,
		.ranks = g->comm->ranks,
		.type = (enum rf_arith_type)g->type,
		.op = (enum rf_arith_op)g->op,
		.mtu = g->comm->ctx->mtu,
		.max_ops = RF_REQUESTS_MAX,
	};

	cfg.message_bytes = message_packets(g) * cfg.mtu;
	if (g->v_next) {
		cfg.to_next = rf_msg_verbs(g->v_next);
		cfg.from_prev = rf_msg_verbs(g->v_prev);
		/* a NIC does not count packets: what is posted must fit */
		if (g->schedule == RF_SCHEDULE_BOX)
			cfg.window_packets = rf_client_ready(&g->client)->window;
	} else {
		cfg.to_next = rf_msg_qp(g->to_next);
		cfg.from_prev = rf_msg_qp(g->from_prev);
	}
	cfg.scratch_bytes = rf_coll_scratch_bytes(&cfg);
	if (cfg.scratch_bytes) {
		g->scratch = aligned_alloc(64, (cfg.scratch_bytes + 63) & ~(size_t)63);
		if (!g->scratch)
			return RF_COLL_E_NO_MEMORY;
		if (g->v_next)
			g->v_scratch =
				rf_verbs_mem_add(g->comm->ctx->verbs, g->scratch, cfg.scratch_bytes,
						 true, g->comm->ctx->error, RF_TEXT_MAX);
		if (g->v_next && !g->v_scratch)
			return RF_COLL_E_NO_MEMORY;
	}
	cfg.scratch = g->scratch;
	return rf_coll_create(&cfg, &g->coll);
}

int rf_group_connect(struct rf_group *g, const struct rf_peer_end *ends)
{
	struct rf_context *ctx = g->comm->ctx;
	int ret;

	if (ctx->verbs) {
		ret = connect_verbs(g, ends);
		if (ret)
			return ret;
	} else {
		g->to_next = make_qp(g, true, ends);
		g->from_prev = make_qp(g, false, ends);
		if (!g->to_next || !g->from_prev)
			return rf_fail(ctx, RF_ERR_NO_MEMORY, "no memory for the queue pairs");
	}
	ret = make_coll(g);
	if (ret)
		return rf_fail(ctx, ret == RF_COLL_E_NO_MEMORY ? RF_ERR_NO_MEMORY : RF_ERR_INTERNAL,
			       "cannot create the collective: %s", rf_coll_error_name(ret));
	return RF_OK;
}

/* Adds a queue pair's counters to the context's. */
static void drop_qp(struct rf_context *ctx, struct roce_qp *qp)
{
	const struct roce_qp_counters *c;
	struct roce_qp_counters *sum = &ctx->past;

	if (!qp)
		return;
	c = roce_qp_counters(qp);
	sum->tx_packets += c->tx_packets;
	sum->tx_retransmits += c->tx_retransmits;
	sum->tx_acks += c->tx_acks;
	sum->tx_naks += c->tx_naks;
	sum->tx_rnr_naks += c->tx_rnr_naks;
	sum->rx_packets += c->rx_packets;
	sum->rx_acks += c->rx_acks;
	sum->rx_naks += c->rx_naks;
	sum->rx_rnr_naks += c->rx_rnr_naks;
	sum->rx_duplicates += c->rx_duplicates;
	sum->rx_gaps += c->rx_gaps;
	sum->timeouts += c->timeouts;
	roce_endpoint_remove_qp(ctx->ep, qp);
	roce_qp_destroy(qp);
}

void rf_group_disconnect(struct rf_group *g)
{
	rf_coll_destroy(g->coll);
	g->coll = NULL;
	drop_qp(g->comm->ctx, g->to_next);
	g->to_next = NULL;
	drop_qp(g->comm->ctx, g->from_prev);
	g->from_prev = NULL;
	rf_verbs_qp_destroy(g->v_next);
	g->v_next = NULL;
	rf_verbs_qp_destroy(g->v_prev);
	g->v_prev = NULL;
	if (g->v_scratch)
		rf_verbs_mem_drop(g->comm->ctx->verbs, g->v_scratch);
	g->v_scratch = NULL;
	free(g->scratch);
	g->scratch = NULL;
}
