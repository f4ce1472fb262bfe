/* The verbs of the control protocol, once the tag has been found right. */
#include <string.h>

#include "firmware/core/internal.h"

/* Offsets in the body of JOIN, for the detail of FIELD. */
#define AT_DTYPE 2u
#define AT_OP 3u
#define AT_MTU 4u
#define AT_SLOTS 5u
#define AT_SLOTS_MIN 6u
#define AT_PORT 7u
#define AT_FLAGS 8u
#define AT_SRC_IP 12u
#define AT_PEER_IP 20u
#define AT_SHIFT 32u
#define AT_LEASE 36u
#define AT_DEADLINE 40u

bool rf_fw_refuse(struct rf_fw *fw, enum rf_ctl_reason why, uint32_t rank, uint32_t detail)
{
	fw->cnt.refused[why]++;
	memset(&fw->reply, 0, sizeof(fw->reply));
	fw->reply.result = RF_CTL_FAILED;
	fw->reply.u.failed.reason = (uint8_t)why;
	fw->reply.u.failed.rank = (uint16_t)rank;
	fw->reply.u.failed.detail = detail;
	return true;
}

static void tell_ready(struct rf_fw *fw, const struct rf_fw_group *g, const struct rf_fw_member *m)
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
	for (p = rf_fw_first(fw, g); p; p = rf_fw_next(fw, p)) {
		r->place[p->rank].port = p->port;
		r->place[p->rank].lane = p->lane;
	}
}

static void tell_draining(struct rf_fw *fw, const struct rf_fw_group *g)
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

static void tell_failed(struct rf_fw *fw, const struct rf_fw_group *g)
{
	struct rf_ctl_failed *f = &fw->reply.u.failed;

	fw->reply.result = RF_CTL_FAILED;
	f->reason = g->reason;
	f->rank = g->fail_rank;
	f->index = g->fail_index;
	f->detail = g->fail_detail;
	if (g->reason == RF_CTL_R_MISSING_RANKS || g->reason == RF_CTL_R_NO_LANES)
		memcpy(f->missing, g->missing, sizeof(f->missing));
}

void rf_fw_tell(struct rf_fw *fw, struct rf_fw_group *g, const struct rf_fw_member *m)
{
	struct rf_ctl_waiting *w = &fw->reply.u.waiting;

	/* READY is the longest of what can come. */
	memset(&fw->reply, 0, offsetof(struct rf_ctl_reply, u) + sizeof(fw->reply.u.ready));
	if (g->state == RF_CTL_S_FAILED) {
		tell_failed(fw, g);
	} else if (g->state == RF_CTL_S_JOINING) {
		fw->reply.result = RF_CTL_WAITING;
		w->ranks = g->ranks;
		w->joined = g->joined;
		w->remaining_ms = (uint32_t)(g->deadline_ms - fw->now_ms);
		memcpy(w->missing, g->missing, sizeof(w->missing));
	} else if (g->state == RF_CTL_S_TOMBSTONED ||
		   (m->flags & (RF_CTL_RANK_LEFT | RF_CTL_RANK_GONE))) {
		tell_draining(fw, g);
	} else {
		tell_ready(fw, g, m);
	}
}

struct rf_fw_group *rf_fw_request_group(struct rf_fw *fw, const struct rf_ctl_header *h,
					struct rf_fw_member **m)
{
	for (unsigned int i = 0; i < fw->records; i++) {
		struct rf_fw_group *g = &fw->group[i];

		if (g->state == RF_CTL_S_FREE || g->job != h->job || g->number != h->group)
			continue;
		*m = rf_fw_member_find(fw, g, h->rank);
		if (*m && (*m)->token == h->token)
			return g;
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

/* Not newer than what the member has said last: a replay, or overtaken on the way. */
static bool stale(struct rf_fw *fw, const struct rf_fw_member *m, const struct rf_fw_request *q)
{
	if ((int32_t)(q->h.seq - m->seq) > 0)
		return false;
	fw->cnt.refused[RF_CTL_R_STALE]++;
	return true;
}

bool rf_fw_heard(struct rf_fw *fw, struct rf_fw_member *m, const struct rf_fw_request *q)
{
	if (stale(fw, m, q))
		return false;
	m->seq = q->h.seq;
	m->life_ms = fw->now_ms;
	m->from_port = (uint8_t)q->port;
	m->from_ip = q->addr.src_ip;
	m->vlan = q->addr.vlan;
	m->udp_port = q->addr.src_port;
	memcpy(m->src_mac, q->addr.src_mac, sizeof(m->src_mac));
	return true;
}

/* Offset of the first field with a value that is not allowed; 0: none. */
static uint32_t bad_field(const struct rf_fw *fw, const struct rf_ctl_join *j)
{
	bool shifted = (j->flags & RF_CTL_J_SHIFTED) != 0;
	uint16_t known = RF_CTL_J_OPEN_LOOP | RF_CTL_J_TRANSPARENT | RF_CTL_J_SHIFTED |
			 RF_CTL_J_SELECTIVE | RF_CTL_J_STRAGGLER;

	if (j->dtype > RF_DTYPE_INT32)
		return AT_DTYPE;
	if (j->op > RF_OP_MAX)
		return AT_OP;
	if (j->mtu_log2 < 8 || j->mtu_log2 > 12)
		return AT_MTU;
	if (j->slots_log2 < 4 || j->slots_log2 > 15)
		return AT_SLOTS;
	if (j->slots_min_log2 < 4 || j->slots_min_log2 > j->slots_log2)
		return AT_SLOTS_MIN;
	if (j->port >= fw->ports)
		return AT_PORT;
	if (j->flags & ~known)
		return AT_FLAGS;
	if (j->src_ip == fw->cfg.ip)
		return AT_SRC_IP;
	if (j->peer_ip == fw->cfg.ip || j->peer_ip == 0)
		return AT_PEER_IP;
	if (shifted != (j->shift != 0))
		return AT_SHIFT;
	if (j->lease_ms != RF_CTL_LEASE_NONE &&
	    (j->lease_ms < RF_CTL_TIME_MIN_MS || j->lease_ms > RF_CTL_TIME_MAX_MS))
		return AT_LEASE;
	if (j->deadline_ms == 0 || j->deadline_ms > RF_CTL_TIME_MAX_MS)
		return AT_DEADLINE;
	return 0;
}

/* What can be said against a JOIN without looking at any group. */
static enum rf_ctl_reason judge_alone(const struct rf_fw *fw, const struct rf_ctl_header *h,
				      const struct rf_ctl_join *j, uint32_t *detail)
{
	*detail = bad_field(fw, j);
	if (*detail != 0 || h->token == 0)
		return RF_CTL_R_FIELD;
	*detail = RF_FW_RANKS_MAX;
	if (j->ranks < 2 || j->ranks > RF_FW_RANKS_MAX)
		return RF_CTL_R_RANKS;
	*detail = 0;
	if (h->rank >= j->ranks)
		return RF_CTL_R_RANK_RANGE;
	if (!fw->fp16 && (j->dtype == RF_DTYPE_BF16 || j->dtype == RF_DTYPE_FP16))
		return RF_CTL_R_TYPE_UNSUPPORTED;
	if (j->src_ip == j->peer_ip)
		return RF_CTL_R_ADDRESS_TWICE;
	*detail = fw->mtu_log2;
	if (j->mtu_log2 > fw->mtu_log2)
		return RF_CTL_R_MTU_UNSUPPORTED;
	*detail = 0;
	return RF_CTL_R_NONE;
}

/* What can be said against it as a member of the group that it names. */
static enum rf_ctl_reason judge_group(struct rf_fw *fw, const struct rf_fw_group *g,
				      const struct rf_ctl_header *h, const struct rf_ctl_join *j)
{
	if (j->ranks != g->ranks)
		return RF_CTL_R_RANKS_DIFFER;
	if (rf_fw_member_find(fw, g, h->rank))
		return RF_CTL_R_RANK_TAKEN;
	if (j->dtype != g->dtype || j->op != g->op)
		return RF_CTL_R_TYPES_DIFFER;
	if (j->mtu_log2 != g->mtu_log2)
		return RF_CTL_R_MTU_DIFFERS;
	if (j->flags != g->flags || j->slots_log2 != g->want_log2 ||
	    j->slots_min_log2 != g->min_log2)
		return RF_CTL_R_SETTINGS_DIFFER;
	return RF_CTL_R_NONE;
}

/* Whether another rank owns one of the two table keys. */
static bool connection_taken(struct rf_fw *fw, const struct rf_ctl_join *j)
{
	for (unsigned int i = 0; i < fw->records; i++) {
		const struct rf_fw_group *g = &fw->group[i];
		const struct rf_fw_member *m;
		bool acks = !((g->flags | j->flags) & RF_CTL_J_OPEN_LOOP);

		if (!rf_fw_group_active(g))
			continue;
		for (m = rf_fw_first(fw, g); m; m = rf_fw_next(fw, m)) {
			if (m->peer_ip == j->peer_ip && m->peer_qpn == j->peer_qpn)
				return true;
			if (acks && m->src_ip == j->src_ip && m->qpn == j->qpn)
				return true;
		}
	}
	return false;
}

/*
 * The group that a new rank belongs to: one that is joining; else a ready one, or a draining one
 * that its rank has not left (there the rank is taken). NULL: a new group begins.
 */
static struct rf_fw_group *group_for(struct rf_fw *fw, const struct rf_ctl_header *h)
{
	struct rf_fw_group *found = NULL;

	for (unsigned int i = 0; i < fw->records; i++) {
		struct rf_fw_group *g = &fw->group[i];
		struct rf_fw_member *m;

		if (!rf_fw_group_active(g) || g->job != h->job || g->number != h->group)
			continue;
		if (g->state == RF_CTL_S_JOINING)
			return g;
		m = rf_fw_member_find(fw, g, h->rank);
		if (g->state == RF_CTL_S_READY ||
		    (m && !(m->flags & (RF_CTL_RANK_LEFT | RF_CTL_RANK_GONE))))
			found = g;
	}
	return found;
}

static void fill_member(struct rf_fw_member *m, const struct rf_ctl_header *h,
			const struct rf_ctl_join *j)
{
	m->port = j->port;
	m->src_ip = j->src_ip;
	m->qpn = j->qpn;
	m->peer_ip = j->peer_ip;
	m->peer_qpn = j->peer_qpn;
	m->start_psn = j->start_psn;
	m->shift = j->shift;
	m->lease_ms = j->lease_ms;
	m->token = h->token;
	m->seq = h->seq - 1u;
}

/* The last rank has come. */
static void complete(struct rf_fw *fw, struct rf_fw_group *g)
{
	uint32_t rank, index, detail;
	enum rf_ctl_reason why = rf_fw_place(fw, g, &rank, &index, &detail);
	struct rf_fw_member *m;

	if (why != RF_CTL_R_NONE) {
		rf_fw_group_fail(fw, g, why, rank, index, detail);
		return;
	}
	g->state = RF_CTL_S_READY;
	g->deadline_ms = RF_FW_NEVER;
	g->head_ms = (uint32_t)fw->now_ms;
	fw->cnt.groups_ready++;
	rf_fw_note_group(fw, RF_CTL_EV_READY, g);
	for (m = rf_fw_first(fw, g); m; m = rf_fw_next(fw, m))
		m->notify = 1;
	fw->notices = 1;
}

/* Adds a rank to a joining group. */
static enum rf_ctl_reason admit(struct rf_fw *fw, struct rf_fw_group *g,
				const struct rf_fw_request *q, const struct rf_ctl_join *j)
{
	struct rf_fw_member *m;

	rf_fw_group_spare_members(fw);
	m = rf_fw_member_add(fw, g, q->h.rank);
	if (!m)
		return RF_CTL_R_NO_CONNECTIONS;
	fill_member(m, &q->h, j);
	/* Without the shift nothing but the box keeps raw packets from the receiver. */
	if (!(g->flags & RF_CTL_J_SHIFTED) &&
	    !rf_fw_conn_put(fw, m->peer_ip, rf_fw_key(0, m->peer_qpn), RF_FW_CID(g->hw, 0, m->port),
			    RF_STATE_JOINING)) {
		rf_fw_member_drop(fw, g, q->h.rank);
		return RF_CTL_R_NO_CONNECTIONS;
	}
	rf_fw_heard(fw, m, q);
	g->joined++;
	g->missing[q->h.rank / 8u] &= (uint8_t) ~(1u << (q->h.rank & 7u));
	g->look_ms = fw->now_ms;
	if (g->joined == g->ranks)
		complete(fw, g);
	m->notify = 0;
	rf_fw_tell(fw, g, m);
	return RF_CTL_R_NONE;
}

static bool join_new(struct rf_fw *fw, const struct rf_fw_request *q, const struct rf_ctl_join *j)
{
	struct rf_fw_group *g = group_for(fw, &q->h);
	bool fresh = g == NULL;
	enum rf_ctl_reason why;
	uint32_t detail = 0;

	if (rf_fw_nonce_used(fw, q->h.tag)) {
		fw->cnt.refused[RF_CTL_R_STALE]++;
		return false;
	}
	why = judge_alone(fw, &q->h, j, &detail);
	if (why == RF_CTL_R_NONE && g)
		why = judge_group(fw, g, &q->h, j);
	if (why == RF_CTL_R_NONE && connection_taken(fw, j))
		why = RF_CTL_R_CONNECTION_TAKEN;
	if (why == RF_CTL_R_NONE && fresh)
		g = rf_fw_group_make(fw, &q->h, j, &why, &detail);
	if (why == RF_CTL_R_NONE) {
		why = admit(fw, g, q, j);
		if (why != RF_CTL_R_NONE && fresh)
			rf_fw_group_unmake(fw, g);
	}
	if (why == RF_CTL_R_NONE)
		return true;
	rf_fw_nonce_use(fw, q->h.tag);
	rf_fw_note(fw, RF_CTL_EV_REFUSED,
		   &(struct rf_fw_what){q->h.job, q->h.group, q->h.rank, (uint32_t)why});
	return rf_fw_refuse(fw, why, q->h.rank, detail);
}

/* Fields that may be left to the box. */
static void fill_defaults(const struct rf_fw *fw, const struct rf_fw_request *q,
			  struct rf_ctl_join *j)
{
	if (j->src_ip == 0)
		j->src_ip = q->addr.src_ip;
	if (j->port == RF_CTL_NO_PORT)
		j->port = (uint8_t)q->port;
	if (j->slots_min_log2 == 0)
		j->slots_min_log2 = j->slots_log2;
	if (j->lease_ms == RF_CTL_LEASE_DEFAULT)
		j->lease_ms = fw->cfg.lease_ms;
}

static bool same_join(const struct rf_fw_group *g, const struct rf_fw_member *m,
		      const struct rf_ctl_join *j)
{
	return m->src_ip == j->src_ip && m->qpn == j->qpn && m->peer_ip == j->peer_ip &&
	       m->peer_qpn == j->peer_qpn && m->start_psn == j->start_psn && m->shift == j->shift &&
	       g->ranks == j->ranks && g->dtype == j->dtype && g->op == j->op &&
	       g->mtu_log2 == j->mtu_log2 && g->flags == j->flags && g->want_log2 == j->slots_log2;
}

static bool join(struct rf_fw *fw, const struct rf_fw_request *q)
{
	struct rf_ctl_join j = q->body.u.join;
	struct rf_fw_member *m;
	struct rf_fw_group *g = rf_fw_request_group(fw, &q->h, &m);

	fw->cnt.join++;
	fill_defaults(fw, q, &j);
	if (!g)
		return join_new(fw, q, &j);
	/* Known by its token: a repetition, whatever has become of the group since. */
	if (stale(fw, m, q))
		return false;
	if (!same_join(g, m, &j))
		return rf_fw_refuse(fw, RF_CTL_R_RANK_TAKEN, q->h.rank, 0);
	/* One process, two paths: the switch's rule has come, gone, or never been. */
	if (m->port != j.port && rf_fw_group_active(g))
		return rf_fw_refuse(fw, RF_CTL_R_OTHER_PORT, q->h.rank, m->port);
	rf_fw_heard(fw, m, q);
	m->notify = 0;
	rf_fw_tell(fw, g, m);
	return true;
}

static bool leave(struct rf_fw *fw, const struct rf_fw_request *q)
{
	struct rf_fw_member *m;
	struct rf_fw_group *g = rf_fw_request_group(fw, &q->h, &m);

	fw->cnt.leave++;
	if (!g)
		return rf_fw_refuse(fw, RF_CTL_R_GROUP_UNKNOWN, q->h.rank, 0);
	if (!rf_fw_heard(fw, m, q))
		return false;
	if (q->h.flags & RF_CTL_F_QP_DESTROYED)
		m->destroyed = 1;
	if (g->state == RF_CTL_S_JOINING)
		rf_fw_group_fail(fw, g, RF_CTL_R_ABORTED, m->rank, 0, RF_CTL_ABORT_USER);
	else if (rf_fw_group_active(g))
		rf_fw_group_leave(fw, g, m, RF_CTL_RANK_LEFT);
	if (m->destroyed && !rf_fw_group_active(g))
		rf_fw_conn_exhume(fw, m->peer_ip, rf_fw_key(0, m->peer_qpn));
	m->notify = 0;
	rf_fw_tell(fw, g, m);
	return true;
}

static bool done(struct rf_fw *fw)
{
	memset(&fw->reply, 0, sizeof(fw->reply));
	fw->reply.result = RF_CTL_OK;
	return true;
}

/*
 * The operator's commands belong to no membership that would number them: one is done, then nothing
 * that was signed before is accepted any more, and the same bytes again are answered only.
 */
static bool done_once(struct rf_fw *fw, const struct rf_fw_request *q)
{
	fw->operator_tag = q->h.tag;
	rf_fw_nonce_spoil(fw);
	return done(fw);
}

static bool abort_group(struct rf_fw *fw, const struct rf_fw_request *q)
{
	const struct rf_ctl_abort_req *a = &q->body.u.abort;
	struct rf_fw_member *m = NULL;
	struct rf_fw_group *g;

	fw->cnt.abort++;
	if (q->h.job == RF_CTL_JOB_OPERATOR && q->h.rank == RF_CTL_NO_RANK) {
		if (q->h.tag == fw->operator_tag)
			return done(fw);
		g = rf_fw_group_named(fw, a->job, a->group);
		if (!g)
			return rf_fw_refuse(fw, RF_CTL_R_GROUP_UNKNOWN, RF_CTL_NO_RANK, 0);
		rf_fw_group_fail(fw, g, RF_CTL_R_OPERATOR, RF_CTL_NO_RANK, 0, a->code);
		return done_once(fw, q);
	}
	g = rf_fw_request_group(fw, &q->h, &m);
	if (!g)
		return rf_fw_refuse(fw, RF_CTL_R_GROUP_UNKNOWN, q->h.rank, 0);
	if (!rf_fw_heard(fw, m, q))
		return false;
	rf_fw_group_fail(fw, g, RF_CTL_R_ABORTED, m->rank, 0, a->code);
	m->notify = 0;
	return done(fw);
}

static bool reset(struct rf_fw *fw, const struct rf_fw_request *q)
{
	fw->cnt.reset++;
	if (q->h.job != RF_CTL_JOB_OPERATOR)
		return rf_fw_refuse(fw, RF_CTL_R_NOT_OPERATOR, q->h.rank, 0);
	if (q->h.tag == fw->operator_tag)
		return done(fw);
	for (unsigned int i = 0; i < fw->records; i++)
		rf_fw_group_fail(fw, &fw->group[i], RF_CTL_R_RESET, RF_CTL_NO_RANK, 0, 0);
	/* Tombstones go: the hold time below does their work. */
	rf_fw_hold(fw);
	rf_fw_conn_reset(fw);
	rf_fw_note(fw, RF_CTL_EV_RESET, &(struct rf_fw_what){.rank = RF_CTL_NO_RANK});
	fw->epoch = fw->epoch == UINT32_MAX ? 1 : fw->epoch + 1u;
	return done_once(fw, q);
}

bool rf_fw_request(struct rf_fw *fw, const struct rf_fw_request *q)
{
	switch (q->h.verb) {
	case RF_CTL_JOIN:
		return join(fw, q);
	case RF_CTL_LEAVE:
		return leave(fw, q);
	case RF_CTL_STATUS:
		return rf_fw_status(fw, q);
	case RF_CTL_ABORT:
		return abort_group(fw, q);
	case RF_CTL_RESET:
		return reset(fw, q);
	default:
		return rf_fw_refuse(fw, RF_CTL_R_VERB, q->h.rank, 0);
	}
}
