/* The membership at the box: JOIN until READY, and LEAVE. */
#include "host/member/internal.h"

#include <stdio.h>
#include <string.h>

#include "base/log2.h"

/* Added to the box's own JOIN deadline: this multiple of the client's time for an answer: once
   for ARP, once for the JOIN, and once in reserve. */
#define JOIN_ANSWERS 3u
/* How long, and how often, a JOIN is repeated when the box has no room. */
#define ROOM_NS (400 * RF_MEMBER_MS)
#define ROOM_AGAIN_NS (20 * RF_MEMBER_MS)
#define LEAVE_NS (2000 * RF_MEMBER_MS)

/* The port that a mirror rank asks for. */
static uint8_t port_of(const struct rf_member_cfg *cfg)
{
	if (cfg->like)
		return (uint8_t)cfg->like->place[cfg->rank].port;
	return cfg->mirrors ? cfg->port : RF_CTL_NO_PORT;
}

static void client_start(struct rf_member *m, uint64_t now)
{
	const struct rf_member_cfg *cfg = &m->cfg;
	unsigned int next = rf_member_next_rank(m);
	struct rf_client_cfg c = cfg->client;
	bool mirror = cfg->flags & RF_CTL_J_MIRROR;
	struct rf_ctl_join join = {
		.ranks = (uint16_t)rf_member_ranks_here(m),
		.dtype = (uint8_t)cfg->type,
		.op = (uint8_t)cfg->op,
		.mtu_log2 = (uint8_t)rf_log2(cfg->mtu),
		.slots_log2 = (uint8_t)rf_log2(cfg->slots),
		.slots_min_log2 = (uint8_t)rf_log2(m->least),
		.port = mirror ? port_of(cfg) : RF_CTL_NO_PORT,
		.flags = cfg->flags,
		.qpn = cfg->own.send_qpn,
		.peer_ip = mirror ? 0 : cfg->peers[next].ip,
		.peer_qpn = mirror ? 0 : m->ends[next].recv_qpn,
		.start_psn = cfg->own.start_psn,
		.shift = cfg->flags & RF_CTL_J_SHIFTED ? RF_CTL_SHIFT : 0,
		.lease_ms = cfg->lease_ms,
		.deadline_ms = cfg->join_ms,
	};

	if (cfg->tree)
		join.above = (uint8_t)rf_member_tree_chain(cfg->tree, cfg->tree->box_of[cfg->rank],
							   join.up);
	if (join.above)
		join.flags |= RF_CTL_J_UPLINK;
	/*
	 * A request for fewer slots is a different group: late copies of the first JOIN must not
	 * match. The token stays the same for all repeats: a late copy may be accepted instead.
	 */
	c.group = (uint16_t)(cfg->number * 2 + (m->step == RF_STEP_BOX_FEWER));
	c.rank = (uint16_t)rf_member_number_here(m);
	rf_client_init(&m->client, &c);
	rf_client_join(&m->client, &join, now);
	m->client_state = rf_client_state(&m->client);
	m->have_client = true;
	m->room_due = 0;
}

void rf_member_join(struct rf_member *m, unsigned int least, uint64_t now)
{
	if (rf_member_spared(m))
		return;
	m->least = least;
	m->join_from = now;
	client_start(m, now);
	m->join_until = now + m->cfg.join_ms * RF_MEMBER_MS +
			JOIN_ANSWERS * rf_client_answer_ns(&m->client);
	rf_member_enter(m, RF_MEMBER_JOIN);
}

/* Refusals that may be temporary: another group of this job may just have ended. */
static bool no_room(const struct rf_client *client)
{
	const struct rf_ctl_failed *failed = rf_client_failed(client);

	return rf_client_error(client) == RF_CLIENT_E_REFUSED && failed &&
	       (failed->reason == RF_CTL_R_NO_SLOTS || failed->reason == RF_CTL_R_NO_GROUPS ||
		failed->reason == RF_CTL_R_NO_CONNECTIONS || failed->reason == RF_CTL_R_NO_PASSES ||
		failed->reason == RF_CTL_R_NO_RANKS);
}

static void keep_ready(struct rf_member *m)
{
	const struct rf_ctl_ready *ready = rf_client_ready(&m->client);

	/* In a tree, of the ranks at this box. */
	for (unsigned int i = 0; i < rf_member_ranks_here(m); i++) {
		unsigned int r = rf_member_rank_here(m, i);

		if (r == RF_MEMBER_NOBODY)
			continue;
		m->order.place[r].port = ready->place[i].port;
		m->order.place[r].lane = ready->place[i].lane;
	}
	m->window = ready->window;
}

unsigned int rf_member_join_progress(struct rf_member *m, uint64_t now)
{
	enum rf_client_state state = rf_client_state(&m->client);
	char text[RF_MEMBER_TEXT];

	if (m->status) {
		rf_member_step_done(m, m->status, m->text);
	} else if (rf_member_is_told(m) && state != RF_CLIENT_READY) {
		return rf_member_give_way(m, now);
	} else if (m->room_due) {
		if (now < m->room_due)
			return 0;
		client_start(m, now);
	} else if (state == RF_CLIENT_READY) {
		keep_ready(m);
		rf_member_step_done(m, RF_OK, NULL);
	} else if (state == RF_CLIENT_FAILED && no_room(&m->client)) {
		rf_client_text(&m->client, text, sizeof(text));
		if (!m->cfg.no_wait && now + ROOM_AGAIN_NS <= m->join_from + ROOM_NS) {
			m->room_due = now + ROOM_AGAIN_NS;
			return 1;
		}
		rf_member_refused(m, rf_client_failed(&m->client)->reason, text, now);
	} else if (state == RF_CLIENT_FAILED) {
		rf_member_client_failed(m, true, now);
		rf_member_step_done(m, m->status, m->text);
	} else if (now >= m->join_until) {
		rf_member_fail(m, true, RF_ERR_TIMEOUT, now,
			       "the box did not complete the group in time");
		rf_member_step_done(m, m->status, m->text);
	} else {
		return 0;
	}
	return 1;
}

/* The rank of the group that has a number at the box which the failure names. */
static unsigned int rank_there(const struct rf_member *m, const struct rf_ctl_failed *why,
			       unsigned int number)
{
	unsigned int box;

	if (!m->cfg.tree || !why->other.box_ip)
		return rf_member_rank_here(m, number);
	box = rf_member_tree_box(m->cfg.tree, why->other.box_ip);
	return box == RF_MEMBER_NOBODY
		       ? RF_MEMBER_NOBODY
		       : rf_member_tree_rank(m->cfg.tree, m->cfg.ranks, box, number);
}

static void blame(struct rf_member *m, const struct rf_ctl_failed *why)
{
	m->reason = why->reason;
	if (why->rank != RF_CTL_NO_RANK && rank_there(m, why, why->rank) != RF_MEMBER_NOBODY)
		rf_member_blame(m, rank_there(m, why, why->rank));
	for (unsigned int r = m->cfg.ranks; why->reason == RF_CTL_R_MISSING_RANKS && r-- > 0;)
		if (rf_ctl_mask_get(why->missing, r) && rank_there(m, why, r) != RF_MEMBER_NOBODY)
			rf_member_blame(m, rank_there(m, why, r));
}

void rf_member_client_failed(struct rf_member *m, bool announce, uint64_t now)
{
	const struct rf_ctl_failed *why = rf_client_failed(&m->client);
	char text[RF_MEMBER_TEXT];

	if (m->status)
		return;
	rf_client_text(&m->client, text, sizeof(text));
	if (why)
		blame(m, why);
	rf_member_fail(m, announce, rf_client_status_of(&m->client), now, "%s", text);
}

/* ---- leaving ---- */

/*
 * The packets of a mirror rank, repeats of the last ones too, lead nowhere after the group's end,
 * and nobody acknowledges them any more.
 */
static void left(struct rf_member *m)
{
	if (rf_member_is_mirror(m))
		rf_member_disconnect(m);
	rf_member_enter(m, RF_MEMBER_LEFT);
}

void rf_member_leave_box(struct rf_member *m, bool disconnect, uint64_t now)
{
	enum rf_client_state state;

	m->gathering = false;
	if (disconnect)
		rf_member_disconnect(m);
	if (!m->have_client) {
		left(m);
		return;
	}
	state = rf_client_state(&m->client);
	if (state == RF_CLIENT_READY || state == RF_CLIENT_JOINING ||
	    state == RF_CLIENT_RESOLVING ||
	    /* if others have left and a rank is lost, the group drains until all have left */
	    (state == RF_CLIENT_FAILED && rf_client_draining(&m->client)))
		rf_client_leave(&m->client, disconnect, now);
	m->leave_until = now + LEAVE_NS;
	rf_member_enter(m, RF_MEMBER_LEAVING);
}

/*
 * With a store: until the box has received the LEAVE, or the ABORT was sent often enough. Without
 * one the box tells when all ranks have left: the connections stay until then.
 */
unsigned int rf_member_leave_progress(struct rf_member *m, uint64_t now)
{
	enum rf_client_state state = rf_client_state(&m->client);

	if (!m->cfg.store && !m->status) {
		if (state == RF_CLIENT_FAILED)
			rf_member_client_failed(m, false, now);
		if (state != RF_CLIENT_FAILED && state != RF_CLIENT_IDLE)
			return 0;
		m->leave_until = now + LEAVE_NS;
		if (state == RF_CLIENT_FAILED)
			return 1;
	} else if (now < m->leave_until &&
		   (state == RF_CLIENT_DRAINING
			    ? !rf_client_left_acked(&m->client)
			    : rf_client_next_timeout(&m->client) != RF_CLIENT_NEVER)) {
		return 0;
	}
	left(m);
	return 1;
}
