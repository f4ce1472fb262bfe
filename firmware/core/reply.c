/*
 * What the verbs have in common: who a request comes from, which group it names, and the replies
 * WAITING, READY, FAILED, DRAINING and ENDED.
 */
#include <string.h>

#include "firmware/core/internal.h"
#include "proto/rf_bytes.h"

bool rf_fw_refuse(struct rf_fw *fw, enum rf_ctl_reason why, uint32_t rank, uint32_t detail)
{
	fw->cnt.refused[why]++;
	fw->refused = 1;
	memset(&fw->reply, 0, sizeof(fw->reply));
	fw->reply.result = RF_CTL_FAILED;
	fw->reply.u.failed.reason = (uint8_t)why;
	fw->reply.u.failed.rank = (uint16_t)rank;
	fw->reply.u.failed.detail = detail;
	fw->reply.u.failed.other.rank = RF_CTL_NO_RANK;
	return true;
}

uint32_t rf_fw_port_ip(const struct rf_fw *fw, const struct rf_fw_member *m)
{
	return m->mirror ? fw->address[m->port].ip : 0;
}

static void reply_ready(struct rf_fw *fw, const struct rf_fw_group *g, const struct rf_fw_member *m)
{
	struct rf_ctl_ready *r = &fw->reply.u.ready;
	const struct rf_fw_member *p;

	fw->reply.result = RF_CTL_READY;
	r->ranks = g->ranks;
	r->window = (uint16_t)(1u << (g->slots_log2 - 1u));
	r->slots_log2 = g->slots_log2;
	r->level = g->level;
	r->base_port = g->base_port;
	r->lanes = g->lanes;
	r->dbase = g->dbase;
	r->hbase = g->hbase;
	r->hw_group = g->hw;
	r->lease_ms = m->lease_ms;
	r->port_ip = rf_fw_port_ip(fw, m);
	for (p = rf_fw_first(fw, g); p; p = rf_fw_next(fw, p)) {
		r->place[p->rank].port = p->port;
		r->place[p->rank].lane = p->lane;
	}
}

static void reply_draining(struct rf_fw *fw, const struct rf_fw_group *g)
{
	struct rf_ctl_draining *d = &fw->reply.u.draining;
	const struct rf_fw_member *p;

	fw->reply.result = g->state == RF_CTL_S_DRAINING ? RF_CTL_DRAINING : RF_CTL_ENDED;
	d->ranks = g->ranks;
	d->left = g->left;
	for (p = rf_fw_first(fw, g); p; p = rf_fw_next(fw, p))
		if (!(p->flags & (RF_CTL_RANK_LEFT | RF_CTL_RANK_GONE)))
			rf_ctl_mask_set(d->missing, p->rank);
}

static void reply_failed(struct rf_fw *fw, const struct rf_fw_group *g)
{
	struct rf_ctl_failed *f = &fw->reply.u.failed;

	fw->reply.result = RF_CTL_FAILED;
	f->reason = g->reason;
	f->rank = g->fail_rank;
	f->index = g->fail_index;
	f->detail = g->fail_detail;
	f->other = g->fail_other;
	if (g->reason == RF_CTL_R_MISSING_RANKS || g->reason == RF_CTL_R_NO_LANES)
		memcpy(f->missing, g->missing, sizeof(f->missing));
}

/* Bytes of the longest reply without entries for ranks, and of READY before its entries. */
#define SHORT_REPLY sizeof(struct rf_ctl_failed)
_Static_assert(SHORT_REPLY >= sizeof(struct rf_ctl_waiting) &&
		       SHORT_REPLY >= sizeof(struct rf_ctl_draining) &&
		       SHORT_REPLY >= offsetof(struct rf_ctl_ready, place),
	       "FAILED is the longest reply without entries");

/* The box's own ranks are complete: whom the parent waits for. */
static void waits_above(struct rf_fw *fw, const struct rf_fw_group *g, struct rf_ctl_waiting *w)
{
	const struct rf_fw_uplink *u = rf_fw_uplink_of(fw, g);

	if (!u || u->state == RF_FW_UP_IDLE)
		return;
	w->box_ip = u->box_ip;
	memcpy(w->missing, u->missing, sizeof(w->missing));
}

void rf_fw_reply_state(struct rf_fw *fw, struct rf_fw_group *g, const struct rf_fw_member *m)
{
	struct rf_ctl_waiting *w = &fw->reply.u.waiting;

	/* Only READY has an entry for each rank; the others are shorter than what is before these.
	 */
	memset(&fw->reply, 0,
	       offsetof(struct rf_ctl_reply, u) + SHORT_REPLY +
		       g->ranks * sizeof(fw->reply.u.ready.place[0]));
	if (g->state == RF_CTL_S_FAILED) {
		reply_failed(fw, g);
	} else if (g->state == RF_CTL_S_JOINING) {
		fw->reply.result = RF_CTL_WAITING;
		w->ranks = g->ranks;
		w->joined = g->joined;
		w->remaining_ms = (uint32_t)(g->deadline_ms - fw->now_ms);
		memcpy(w->missing, g->missing, sizeof(w->missing));
		w->port_ip = rf_fw_port_ip(fw, m);
		waits_above(fw, g, w);
	} else if (g->state == RF_CTL_S_TOMBSTONED ||
		   (m->flags & (RF_CTL_RANK_LEFT | RF_CTL_RANK_GONE))) {
		reply_draining(fw, g);
	} else {
		reply_ready(fw, g, m);
	}
}

struct rf_fw_group *rf_fw_request_group(struct rf_fw *fw, const struct rf_ctl_header *h,
					struct rf_fw_member **m)
{
	for (unsigned int i = 0; i < fw->records; i++) {
		struct rf_fw_group *g = &fw->group[i];

		/* The number first: it differs in most groups. */
		if (g->number != h->group || g->job != h->job || g->state == RF_CTL_S_FREE)
			continue;
		*m = rf_fw_member_find(fw, g, h->rank);
		if (*m && (*m)->token == h->token) {
			g->asked_ms = fw->now_ms;
			return g;
		}
	}
	*m = NULL;
	return NULL;
}

struct rf_fw_group *rf_fw_group_named(struct rf_fw *fw, uint64_t job, unsigned int number)
{
	struct rf_fw_group *best = NULL;

	for (unsigned int i = 0; i < fw->records; i++) {
		struct rf_fw_group *g = &fw->group[i];
		bool better;

		if (g->state == RF_CTL_S_FREE || g->job != job || g->number != number)
			continue;
		better = !best || (rf_fw_group_active(g) && !rf_fw_group_active(best)) ||
			 (rf_fw_group_active(g) == rf_fw_group_active(best) &&
			  (int32_t)(g->age - best->age) > 0);
		if (better)
			best = g;
	}
	return best;
}

bool rf_fw_stale(struct rf_fw *fw, const struct rf_fw_member *m, const struct rf_fw_request *q)
{
	if ((int32_t)(q->h.seq - m->seq) > 0)
		return false;
	fw->cnt.refused[RF_CTL_R_STALE]++;
	return true;
}

static bool same_mac(const uint8_t *a, const uint8_t *b)
{
	return rf_get_be32(a) == rf_get_be32(b) && rf_get_be16(a + 4) == rf_get_be16(b + 4);
}

/* A mirror rank's results go to the MAC of its last request to the address of its port. */
static void follow_mac(struct rf_fw *fw, struct rf_fw_group *g, struct rf_fw_member *m,
		       const struct rf_fw_request *q)
{
	if (!rf_fw_at_port(fw, m, q) || same_mac(m->mac, q->addr.src_mac))
		return;
	memcpy(m->mac, q->addr.src_mac, sizeof(m->mac));
	if (!g->live)
		return;
	rf_fw_place_mac(fw, g, m);
	fw->cnt.mac_changed++;
}

bool rf_fw_at_port(const struct rf_fw *fw, const struct rf_fw_member *m,
		   const struct rf_fw_request *q)
{
	return m->mirror && q->port == m->port && q->addr.dst_ip == fw->address[m->port].ip;
}

bool rf_fw_heard(struct rf_fw *fw, struct rf_fw_group *g, struct rf_fw_member *m,
		 const struct rf_fw_request *q)
{
	if (rf_fw_stale(fw, m, q))
		return false;
	if (m->mirror)
		follow_mac(fw, g, m, q);
	fw->numbered = 1;
	m->seq = q->h.seq;
	m->life_ms = fw->now_ms;
	m->from_port = q->port & RF_FW_PORT_MASK;
	m->from_ip = q->addr.src_ip;
	m->vlan = q->addr.vlan;
	m->udp_port = q->addr.src_port;
	m->to_ip = q->addr.dst_ip;
	memcpy(m->src_mac, q->addr.src_mac, sizeof(m->src_mac));
	return true;
}
