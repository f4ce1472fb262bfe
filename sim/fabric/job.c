/* A host's membership at the box, and its connections. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log2.h"
#include "sim/fabric/host.h"

#define INQUEST_NS (2 * RF_SEC) /* time for the box to report why a connection has ended */

#define JOB UINT64_C(0x72696e67666f6c64)

uint32_t rf_host_qpn(unsigned life, unsigned rank, bool to_next)
{
	return 0x100 + 0x1000 * life + 2 * rank + (to_next ? 0 : 1);
}

uint32_t rf_host_start_psn(const struct rf_fabric *f, unsigned life, unsigned rank)
{
	struct rf_rng rng =
		rf_rng_make(f->cfg.seed, UINT64_C(2) << 40 | (uint64_t)life << 20 | rank);

	if (f->cfg.start_psn != RF_FABRIC_RANDOM_PSN)
		return f->cfg.start_psn & 0xffffff;
	return (uint32_t)rf_rng_next(&rng) & 0xffffff;
}

/* ---- connections ---- */

unsigned rf_host_window(const struct rf_host *h)
{
	return h->f->cfg.selective ? roce_selective_window(h->pub.window) : h->pub.window;
}

static void qp_cfg(const struct rf_host *h, struct roce_qp_cfg *c)
{
	const struct rf_fabric_cfg *cfg = &h->f->cfg;

	roce_qp_cfg_init(c);
	rf_host_mac(h->rank, c->mac);
	c->ip = rf_fabric_ip(h->rank);
	c->has_vlan = cfg->vlan;
	c->vlan_tci = RF_HOST_VLAN_TCI;
	c->mtu = cfg->mtu;
	c->selective = cfg->selective;
	c->window = cfg->quirk[h->rank].window ? cfg->quirk[h->rank].window : rf_host_window(h);
	c->ack_timeout = cfg->ack_timeout_ns;
	c->ack_timeout_max = cfg->ack_timeout_max_ns;
	c->retry_cnt = (uint8_t)cfg->retry_cnt;
}

static int connect_qp(struct rf_host *h, const struct roce_qp_cfg *c, unsigned peer,
		      uint32_t peer_qpn, struct roce_qp **out)
{
	struct roce_qp_peer p = {.ip = rf_fabric_ip(peer), .qpn = peer_qpn};
	struct roce_qp *qp;

	rf_host_mac(peer, p.mac);
	if (roce_qp_create(c, &qp) != ROCE_OK)
		return -1;
	if (roce_qp_to_rtr(qp, &p) != ROCE_OK || roce_qp_to_rts(qp) != ROCE_OK ||
	    roce_endpoint_add_qp(h->ep, qp) != ROCE_OK) {
		roce_qp_destroy(qp);
		return -1;
	}
	*out = qp;
	return 0;
}

int rf_host_connect(struct rf_host *h)
{
	const struct rf_fabric_cfg *cfg = &h->f->cfg;
	unsigned next = rf_host_neighbour(h, true);
	unsigned prev = rf_host_neighbour(h, false);
	struct roce_qp_cfg c;
	struct rf_coll_cfg coll = {0};

	qp_cfg(h, &c);
	c.qpn = rf_host_qpn(h->pub.life, h->rank, true);
	c.sq_psn = (rf_host_start_psn(h->f, h->pub.life, h->rank) + cfg->start_index) & 0xffffff;
	if (connect_qp(h, &c, next, rf_host_qpn(h->pub.life, next, false), &h->to_next) != 0)
		return -1;
	qp_cfg(h, &c);
	c.qpn = rf_host_qpn(h->pub.life, h->rank, false);
	c.rq_psn = (rf_host_start_psn(h->f, h->pub.life, prev) + cfg->start_index) & 0xffffff;
	if (cfg->schedule == RF_RUN_BOX && !cfg->plain)
		c.rq_psn = (c.rq_psn - RF_CTL_SHIFT) & 0xffffff;
	if (connect_qp(h, &c, prev, rf_host_qpn(h->pub.life, prev, true), &h->from_prev) != 0)
		return -1;

	coll.schedule = cfg->schedule == RF_RUN_BOX ? RF_COLL_BOX : RF_COLL_RING;
	coll.rank = h->rank - rf_fabric_first(cfg, h->rank);
	coll.ranks = rf_fabric_size(cfg);
	coll.type = cfg->type;
	coll.op = cfg->op;
	coll.mtu = cfg->mtu;
	coll.message_bytes = cfg->message_bytes;
	coll.max_ops = cfg->max_ops;
	coll.to_next = rf_msg_qp(h->to_next);
	coll.from_prev = rf_msg_qp(h->from_prev);
	coll.scratch_bytes = rf_coll_scratch_bytes(&coll);
	if (coll.scratch_bytes) {
		h->scratch = malloc(coll.scratch_bytes);
		if (!h->scratch)
			return -1;
		coll.scratch = h->scratch;
	}
	return rf_coll_create(&coll, &h->coll) == RF_COLL_OK ? 0 : -1;
}

static void remember(struct rf_host *h, const struct roce_qp *qp)
{
	const struct roce_qp_counters *c = roce_qp_counters(qp);

	h->old.tx_packets += c->tx_packets;
	h->old.tx_retransmits += c->tx_retransmits;
	h->old.tx_acks += c->tx_acks;
	h->old.tx_naks += c->tx_naks;
	h->old.timeouts += c->timeouts;
}

void rf_host_disconnect(struct rf_host *h)
{
	struct roce_qp *qps[2] = {h->to_next, h->from_prev};

	for (unsigned i = 0; i < 2; i++) {
		if (!qps[i])
			continue;
		remember(h, qps[i]);
		roce_endpoint_remove_qp(h->ep, qps[i]);
		roce_qp_destroy(qps[i]);
	}
	h->to_next = NULL;
	h->from_prev = NULL;
	rf_coll_destroy(h->coll);
	h->coll = NULL;
	free(h->scratch);
	h->scratch = NULL;
}

/* ---- control ---- */

void rf_host_join(struct rf_host *h)
{
	const struct rf_fabric_cfg *cfg = &h->f->cfg;
	unsigned next = rf_host_neighbour(h, true);
	struct rf_client_cfg c = {0};
	struct rf_ctl_join j = {0};
	struct rf_rng rng =
		rf_rng_make(cfg->seed, UINT64_C(3) << 40 | (uint64_t)h->pub.life << 20 | h->rank);

	rf_host_mac(h->rank, c.mac);
	c.ip = rf_fabric_ip(h->rank);
	c.box_ip = rf_fabric_box_ip();
	c.vlan = cfg->vlan ? RF_HOST_VLAN_TCI : RF_CTL_NO_VLAN;
	c.job = JOB + h->rank / rf_fabric_size(cfg);
	c.rank = (uint16_t)(h->rank - rf_fabric_first(cfg, h->rank));
	c.token = rf_rng_next(&rng) | 1;
	c.answer_ns = cfg->answer_ns;
	rf_client_init(&h->client, &c);
	h->has_client = true;

	j.ranks = (uint16_t)rf_fabric_size(cfg);
	j.dtype = (uint8_t)cfg->type;
	j.op = (uint8_t)cfg->op;
	j.mtu_log2 = (uint8_t)rf_log2(cfg->mtu);
	j.slots_log2 = (uint8_t)rf_log2(cfg->slots);
	j.slots_min_log2 = 4;
	j.port = RF_CTL_NO_PORT;
	j.flags = (uint16_t)((cfg->plain ? 0 : RF_CTL_J_SHIFTED) |
			     (cfg->transparent ? RF_CTL_J_TRANSPARENT : 0) |
			     (cfg->selective ? RF_CTL_J_SELECTIVE : 0) |
			     cfg->straggler << RF_CTL_J_STRAGGLER_LSB);
	j.qpn = rf_host_qpn(h->pub.life, h->rank, true);
	j.peer_ip = rf_fabric_ip(next);
	j.peer_qpn = rf_host_qpn(h->pub.life, next, false);
	j.start_psn = rf_host_start_psn(h->f, h->pub.life, h->rank);
	j.shift = cfg->plain ? 0 : RF_CTL_SHIFT;
	j.lease_ms = cfg->lease_ms;
	j.deadline_ms = cfg->join_deadline_ms;
	rf_client_join(&h->client, &j, rf_host_ns(h));
	h->pub.state = RF_RANK_JOINING;
}

static int keep_places(struct rf_host *h, const struct rf_ctl_ready *r)
{
	unsigned size = rf_fabric_size(&h->f->cfg);

	free(h->places);
	h->places = calloc(size, sizeof(*h->places));
	if (!h->places)
		return -1;
	for (unsigned i = 0; i < size; i++)
		h->places[i] =
			(struct rf_place){.port = r->place[i].port, .lane = r->place[i].lane};
	h->pub.place = h->places[h->rank % size];
	h->pub.window = r->window;
	return 0;
}

static void fail_by_client(struct rf_host *h)
{
	char text[sizeof(h->pub.text)];
	const struct rf_ctl_failed *why = rf_client_failed(&h->client);

	rf_client_text(&h->client, text, sizeof(text));
	if (why) {
		h->pub.reason = why->reason;
		if (why->rank != RF_CTL_NO_RANK)
			h->pub.culprit = why->rank;
		for (unsigned r = 0; why->reason == RF_CTL_R_MISSING_RANKS && r < RF_CTL_RANKS_MAX;
		     r++)
			if (h->pub.culprit == RF_NOBODY && rf_ctl_mask_get(why->missing, r))
				h->pub.culprit = r;
	}
	rf_host_fail(h, RF_RANK_E_CONTROL, "%s", text);
}

/*
 * A connection has ended: the box may know why. The rank fails when the box has answered, or after
 * a timeout.
 */
void rf_host_inquest(struct rf_host *h, enum rf_rank_error error, const char *text)
{
	struct rf_ctl_status_req req = {.page = RF_CTL_PAGE_RANKS};

	if (!h->has_client) {
		rf_host_fail(h, error, "%s", text);
		return;
	}
	h->inquest = true;
	h->inquest_until = rf_host_ns(h) + INQUEST_NS;
	h->inquest_error = error;
	snprintf(h->inquest_text, sizeof(h->inquest_text), "%s", text);
	rf_client_status(&h->client, &req, rf_host_ns(h));
}

static bool lags(uint32_t a, uint32_t b)
{
	uint32_t d = (b - a) & 0xffffff;

	return d != 0 && d < 0x800000;
}

/*
 * Finds the rank the box waits for: the rank with the lowest next packet; if all are equal, the
 * rank whose results are not acknowledged. Appends text.
 */
static void name_culprit(struct rf_host *h, char *text, size_t room)
{
	const struct rf_ctl_reply *reply = rf_client_answer(&h->client);
	const struct rf_ctl_ranks_page *page;
	unsigned low = 0, high = 0, slow = 0;

	if (rf_client_query(&h->client) != RF_CLIENT_Q_DONE || !reply ||
	    reply->result != RF_CTL_PAGE || reply->page != RF_CTL_PAGE_RANKS ||
	    reply->u.ranks.count != reply->u.ranks.ranks || reply->u.ranks.count == 0)
		return;
	page = &reply->u.ranks;
	for (unsigned r = 1; r < page->count; r++) {
		low = lags(page->rank[r].next, page->rank[low].next) ? r : low;
		high = lags(page->rank[high].next, page->rank[r].next) ? r : high;
		slow = lags(page->rank[r].una, page->rank[slow].una) ? r : slow;
	}
	if (lags(page->rank[slow].una, page->rank[low].next) &&
	    lags(page->rank[slow].una, page->rank[slow].sent)) {
		h->pub.culprit = (slow + 1) % page->count;
		snprintf(text, room, "; the results of rank %u are not acknowledged by rank %u",
			 slow, (slow + 1) % page->count);
	} else if (lags(page->rank[low].next, page->rank[high].next)) {
		h->pub.culprit = low;
		snprintf(text, room, "; the box waits for data from rank %u", low);
	}
}

static void end_inquest(struct rf_host *h)
{
	const struct rf_ctl_draining *d = rf_client_draining(&h->client);
	char whom[100] = "";
	char left[60] = "";

	if (rf_host_ns(h) < h->inquest_until && rf_client_query(&h->client) == RF_CLIENT_Q_WAITING)
		return;
	name_culprit(h, whom, sizeof(whom));
	/* A group that has ended meanwhile has no state: the box will report why it ended. */
	if (h->pub.culprit == RF_NOBODY && rf_host_ns(h) < h->inquest_until)
		return;
	h->inquest = false;
	if (d && d->left > 0)
		snprintf(left, sizeof(left), "; %u of %u ranks have left the group", d->left,
			 d->ranks);
	rf_client_abort(&h->client, RF_CTL_ABORT_TRANSPORT, rf_host_ns(h));
	rf_host_fail(h, h->inquest_error, "%s%s%s", h->inquest_text, left, whom);
}

void rf_host_look_at_client(struct rf_host *h)
{
	if (!h->has_client || rf_host_ended(h))
		return;
	switch (rf_client_state(&h->client)) {
	case RF_CLIENT_FAILED:
		fail_by_client(h);
		break;
	case RF_CLIENT_READY:
		if (h->pub.state != RF_RANK_JOINING)
			break;
		h->pub.ready_ns = rf_host_ns(h);
		if (keep_places(h, rf_client_ready(&h->client)) != 0 || rf_host_connect(h) != 0) {
			rf_host_fail(h, RF_RANK_E_INTERNAL, "cannot create the connections");
			break;
		}
		h->pub.state = RF_RANK_RUNNING;
		break;
	default:
		break;
	}
	if (h->inquest && !rf_host_ended(h))
		end_inquest(h);
}
