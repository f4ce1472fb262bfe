/* JOIN: which ranks are admitted, and to which group. */
#include "firmware/core/internal.h"
#include "proto/rf_bytes.h"

/*
 * Gives a mirror rank of group g (or NULL: a new one) its port, if it has none yet: the one whose
 * address it wants, or one that the box chooses. j->port is its wish, and becomes the port.
 */
static enum rf_ctl_reason give_port(struct rf_fw *fw, const struct rf_fw_group *g,
				    const struct rf_fw_request *q, struct rf_ctl_join *j,
				    uint32_t *detail)
{
	const struct rf_fw_key *k = rf_fw_keys_find(fw, q->h.job);
	unsigned int wanted = j->port == RF_CTL_NO_PORT ? (1u << fw->ports) - 1u : 1u << j->port;
	unsigned int allowed = k && k->ports && k->job != RF_CTL_JOB_OPERATOR ? k->ports : wanted;
	unsigned int port;

	*detail = 0;
	if ((wanted & allowed) == 0)
		return RF_CTL_R_PORT_DENIED;
	port = rf_fw_address_of_rank(fw, g, wanted & allowed, q->h.rank);
	if (port != RF_FW_NONE) {
		j->port = (uint8_t)port;
		return RF_CTL_R_NONE;
	}
	*detail = rf_fw_address_claims(fw) | rf_fw_address_probes(fw) << 8;
	return RF_CTL_R_NO_ADDRESS;
}

/* Whether a ring rank sends to this connection, in a group of the job or with the receiver. */
static bool claims(struct rf_fw *fw, const struct rf_fw_group *g, const struct rf_fw_member *m,
		   uint64_t job, uint32_t ip, uint32_t qpn)
{
	return m->peer_ip == ip && m->peer_qpn == qpn &&
	       (g->job == job || rf_fw_joined_from(fw, g, ip));
}

/*
 * Whether a live group has this key. All connections of live groups are in the table, so that only
 * the ranks of groups that are joining have to be looked at one by one.
 */
static bool in_live_group(struct rf_fw *fw, unsigned int role, uint32_t ip, uint32_t qpn)
{
	const struct rf_fw_entry *e = rf_fw_conn_find(fw, ip, rf_fw_key(role, qpn));

	return e && rf_fw_state(e) == RF_STATE_LIVE;
}

/*
 * Whether a data role is already taken: by another rank of the same job; by a rank of any job, if
 * the receiver's address has joined that rank's group (before that the claim proves nothing); by a
 * mirror rank, whose queue pair it is; or by a tombstone of another job.
 */
static bool data_taken(struct rf_fw *fw, const struct rf_fw_member *self, uint64_t job, uint32_t ip,
		       uint32_t qpn)
{
	const struct rf_fw_entry *e = rf_fw_conn_find(fw, ip, rf_fw_key(RF_FW_ROLE_DATA, qpn));

	if (e && rf_fw_state(e) == RF_STATE_TOMBSTONE && e->job != job && e->job != RF_FW_NO_JOB)
		return true;
	if ((e && rf_fw_state(e) == RF_STATE_LIVE) || in_live_group(fw, RF_FW_ROLE_MIRROR, ip, qpn))
		return true;
	for (unsigned int i = 0; i < fw->records; i++) {
		const struct rf_fw_group *g = &fw->group[i];
		const struct rf_fw_member *m;

		if (g->state != RF_CTL_S_JOINING)
			continue;
		for (m = rf_fw_first(fw, g); m; m = rf_fw_next(fw, m))
			if (m != self && (m->mirror ? m->src_ip == ip && m->qpn == qpn
						    : claims(fw, g, m, job, ip, qpn)))
				return true;
	}
	return false;
}

/*
 * Whether the own queue pair of a JOIN is taken: by a ring rank, to which ACKs are sent there, or a
 * mirror rank. A ring rank of an open loop has no ACKs.
 */
static bool ack_taken(struct rf_fw *fw, const struct rf_ctl_join *j)
{
	if (!rf_fw_is_mirror(j) && (j->flags & RF_CTL_J_OPEN_LOOP))
		return false;
	if (in_live_group(fw, RF_FW_ROLE_ACK, j->src_ip, j->qpn) ||
	    in_live_group(fw, RF_FW_ROLE_MIRROR, j->src_ip, j->qpn))
		return true;
	for (unsigned int i = 0; i < fw->records; i++) {
		const struct rf_fw_group *g = &fw->group[i];
		const struct rf_fw_member *m;

		if (g->state != RF_CTL_S_JOINING)
			continue;
		for (m = rf_fw_first(fw, g); m; m = rf_fw_next(fw, m))
			if (m->src_ip == j->src_ip && m->qpn == j->qpn &&
			    (m->mirror || !(g->flags & RF_CTL_J_OPEN_LOOP)))
				return true;
	}
	return false;
}

/*
 * Whether anything stands for a mirror rank's address and queue pair: an entry of the table, in any
 * role, or a rank. As for ring ranks, the claim of a rank of another job counts only if the
 * receiver has joined that rank's group.
 */
static bool pair_taken(struct rf_fw *fw, uint64_t job, const struct rf_ctl_join *j)
{
	for (unsigned int role = RF_FW_ROLE_DATA; role <= RF_FW_ROLE_MIRROR; role++)
		if (rf_fw_conn_find(fw, j->src_ip, rf_fw_key(role, j->qpn)))
			return true;
	return data_taken(fw, NULL, job, j->src_ip, j->qpn) || ack_taken(fw, j);
}

/*
 * Whether one of the two table keys of a JOIN is taken by another rank. Also checks the data roles
 * of ranks of its group g (or NULL) that send to the address of this JOIN; then *rank is the rank
 * whose role is taken.
 */
static bool connection_taken(struct rf_fw *fw, const struct rf_fw_group *g,
			     const struct rf_ctl_header *h, const struct rf_ctl_join *j,
			     uint32_t *rank)
{
	const struct rf_fw_member *m;

	if (rf_fw_uplink_has(fw, j->src_ip, j->qpn) ||
	    (!rf_fw_is_mirror(j) && rf_fw_uplink_has(fw, j->peer_ip, j->peer_qpn)))
		return true;
	if (rf_fw_is_mirror(j))
		return pair_taken(fw, h->job, j);
	if (data_taken(fw, NULL, h->job, j->peer_ip, j->peer_qpn) || ack_taken(fw, j))
		return true;
	if (!g || rf_fw_joined_from(fw, g, j->src_ip))
		return false;
	for (m = rf_fw_first(fw, g); m; m = rf_fw_next(fw, m)) {
		if (m->peer_ip != j->src_ip || !data_taken(fw, m, h->job, m->peer_ip, m->peer_qpn))
			continue;
		*rank = m->rank;
		return true;
	}
	return false;
}

/*
 * The group that a new rank belongs to: one that is joining; otherwise a ready one, or a draining
 * one that its rank has not left (there the rank is taken). NULL: a new group starts.
 */
static struct rf_fw_group *group_for(struct rf_fw *fw, const struct rf_ctl_header *h)
{
	struct rf_fw_group *found = NULL;

	for (unsigned int i = 0; i < fw->records; i++) {
		struct rf_fw_group *g = &fw->group[i];
		struct rf_fw_member *m;

		/* The number first: it differs in most groups. */
		if (g->number != h->group || g->job != h->job || !rf_fw_group_active(g))
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

static void fill_member(struct rf_fw_member *m, const struct rf_fw_request *q,
			const struct rf_ctl_join *j)
{
	m->port = j->port & RF_FW_PORT_MASK;
	m->wish = q->body.u.join.port;
	m->mirror = rf_fw_is_mirror(j);
	m->flags = rf_fw_is_leaf(j) ? RF_CTL_RANK_LEAF : 0u;
	m->src_ip = j->src_ip;
	m->qpn = j->qpn & RF_FW_MASK24;
	m->peer_ip = j->peer_ip;
	m->peer_qpn = j->peer_qpn & RF_FW_MASK24;
	if (rf_fw_names_mac(j)) {
		rf_put_be32(m->mac, j->peer_ip);
		rf_put_be16(m->mac + 4, (uint16_t)j->peer_qpn);
	}
	m->start_psn = j->start_psn & RF_FW_MASK24;
	m->shift = j->shift & RF_FW_MASK24;
	m->lease_ms = j->lease_ms;
	m->token = q->h.token;
	m->seq = q->h.seq - 1u;
}

void rf_fw_join_ready(struct rf_fw *fw, struct rf_fw_group *g)
{
	uint32_t rank, detail;
	enum rf_ctl_reason why = rf_fw_place_live(fw, g, &rank, &detail);
	struct rf_fw_member *m;

	if (why != RF_CTL_R_NONE) {
		rf_fw_group_fail(fw, g, why, rank, 0, detail);
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

/* The last rank has joined. */
static void complete(struct rf_fw *fw, struct rf_fw_group *g)
{
	uint32_t rank = RF_CTL_NO_RANK, index = 0, detail = 0;
	enum rf_ctl_reason why = RF_CTL_R_NONE;

	if (g->uplink != RF_FW_NONE)
		why = rf_fw_uplink_port(fw, g, &detail);
	if (why == RF_CTL_R_NONE)
		why = rf_fw_place_admit(fw, g, &rank, &index, &detail);
	if (why != RF_CTL_R_NONE)
		rf_fw_group_fail(fw, g, why, rank, index, detail);
	else if (g->uplink != RF_FW_NONE)
		rf_fw_uplink_begin(fw, g);
	else
		rf_fw_join_ready(fw, g);
}

/*
 * A rank has joined; a mirror rank asks first, and joins when its JOIN comes to its port, or with
 * the first one if that names its MAC.
 */
static void arrive(struct rf_fw *fw, struct rf_fw_group *g, struct rf_fw_member *m,
		   const struct rf_fw_request *q)
{
	if (m->arrived ||
	    (m->mirror && !rf_fw_names_mac(&q->body.u.join) && !rf_fw_at_port(fw, m, q)))
		return;
	m->arrived = 1;
	g->joined++;
	g->missing[m->rank / 8u] &= (uint8_t) ~(1u << (m->rank & 7u));
	if (g->joined == g->ranks)
		complete(fw, g);
}

/* A ring rank of a group whose first rank was a mirror rank needs one entry more. */
static bool entries_left(const struct rf_fw *fw, const struct rf_fw_group *g, int doubles,
			 uint32_t *detail)
{
	struct rf_ctl_share left;

	if (doubles <= 0)
		return true;
	rf_fw_keys_left(fw, g->job, &left);
	*detail = left.entries;
	return left.entries > 0;
}

/* Adds a rank to a joining group. */
static enum rf_ctl_reason admit(struct rf_fw *fw, struct rf_fw_group *g,
				const struct rf_fw_request *q, const struct rf_ctl_join *j,
				uint32_t *detail)
{
	int doubles = rf_fw_keys_doubles(g, rf_fw_is_mirror(j));
	uint16_t flags = g->flags;
	struct rf_fw_member *m;

	if (!entries_left(fw, g, doubles, detail))
		return RF_CTL_R_QUOTA_ENTRIES;
	*detail = 0;
	rf_fw_group_spare_members(fw);
	m = rf_fw_member_add(fw, g, q->h.rank);
	if (!m) {
		*detail = RF_FW_MEMBERS;
		return RF_CTL_R_NO_RANKS;
	}
	fill_member(m, q, j);
	/* The first ring rank decides for all. */
	if (!m->mirror)
		g->flags = (uint16_t)((flags & ~RF_CTL_J_SHIFTED) | (j->flags & RF_CTL_J_SHIFTED));
	if (!rf_fw_is_leaf(j))
		g->flags = (uint16_t)((g->flags & ~RF_CTL_J_SELECTIVE) |
				      (j->flags & RF_CTL_J_SELECTIVE));
	if (!rf_fw_place_joining(fw, g, m)) {
		rf_fw_member_drop(fw, g, q->h.rank);
		g->flags = flags;
		return RF_CTL_R_NO_CONNECTIONS;
	}
	g->doubles = (uint8_t)(g->doubles + doubles);
	rf_fw_heard(fw, g, m, q);
	if (fw->strict)
		rf_fw_watch_registered(fw, m);
	arrive(fw, g, m, q);
	rf_fw_group_look_by(fw, g, m);
	m->notify = 0;
	rf_fw_reply_state(fw, g, m);
	return RF_CTL_R_NONE;
}

/*
 * A box below was restarted: it joins in the place that it had, with another epoch. Its old group
 * ends, and it may begin a new one.
 */
static bool restarted(struct rf_fw *fw, struct rf_fw_group *g, const struct rf_fw_request *q,
		      const struct rf_ctl_join *j)
{
	const struct rf_fw_member *m = g ? rf_fw_member_find(fw, g, q->h.rank) : NULL;

	if (!m || !rf_fw_is_leaf(j) || !(m->flags & RF_CTL_RANK_LEAF) || m->src_ip != j->src_ip ||
	    m->peer_ip == j->peer_ip)
		return false;
	g->fail_other.box_ip = j->src_ip;
	rf_fw_group_fail(fw, g, RF_CTL_R_RESET, RF_CTL_NO_RANK, 0, 0);
	return true;
}

static bool join_new(struct rf_fw *fw, const struct rf_fw_request *q, struct rf_ctl_join *j)
{
	struct rf_fw_group *g = group_for(fw, &q->h);
	bool fresh;
	enum rf_ctl_reason why;
	uint32_t rank = q->h.rank, detail = 0;

	why = rf_fw_judge_alone(fw, &q->h, j, &detail);
	if (why == RF_CTL_R_NONE)
		why = rf_fw_speaks_for(fw, q, j);
	if (why == RF_CTL_R_NONE && restarted(fw, g, q, j))
		g = group_for(fw, &q->h);
	fresh = g == NULL;
	if (why == RF_CTL_R_NONE && g)
		why = rf_fw_judge_group(fw, g, &q->h, j);
	if (why == RF_CTL_R_NONE && rf_fw_is_mirror(j))
		why = give_port(fw, g, q, j, &detail);
	if (why == RF_CTL_R_NONE && connection_taken(fw, g, &q->h, j, &rank))
		why = RF_CTL_R_CONNECTION_TAKEN;
	if (why == RF_CTL_R_NONE && fresh)
		g = rf_fw_group_make(fw, &q->h, j, &why, &detail);
	if (why == RF_CTL_R_NONE) {
		why = admit(fw, g, q, j, &detail);
		if (why != RF_CTL_R_NONE && fresh)
			rf_fw_group_unmake(fw, g);
	}
	if (why == RF_CTL_R_NONE)
		return true;
	rf_fw_note(fw, RF_CTL_EV_REFUSED,
		   &(struct rf_fw_what){q->h.job, q->h.group, q->h.rank, (uint32_t)why, 0});
	return rf_fw_refuse(fw, why, rank, detail);
}

/* Fills in fields that the host has left to the box. */
static void fill_defaults(const struct rf_fw *fw, const struct rf_fw_request *q,
			  struct rf_ctl_join *j)
{
	if (j->port == RF_CTL_NO_PORT && !rf_fw_is_mirror(j))
		j->port = (uint8_t)q->port;
	if (j->slots_min_log2 == 0)
		j->slots_min_log2 = j->slots_log2;
	if (j->lease_ms == RF_CTL_LEASE_DEFAULT)
		j->lease_ms = fw->cfg.lease_ms;
}

static bool same_flags(const struct rf_fw_group *g, const struct rf_ctl_join *j)
{
	unsigned int own =
		rf_fw_is_mirror(j) ? RF_CTL_J_MIRROR | RF_CTL_J_SHIFTED : RF_CTL_J_MIRROR;

	if (rf_fw_is_leaf(j))
		own |= RF_CTL_J_LEAF | RF_CTL_J_SELECTIVE;
	return ((g->flags ^ j->flags) & ~own) == 0;
}

static bool same_join(const struct rf_fw *fw, const struct rf_fw_group *g,
		      const struct rf_fw_member *m, const struct rf_ctl_join *j)
{
	return m->src_ip == j->src_ip && m->qpn == j->qpn && m->peer_ip == j->peer_ip &&
	       m->peer_qpn == j->peer_qpn && m->start_psn == j->start_psn && m->shift == j->shift &&
	       g->ranks == j->ranks && g->dtype == j->dtype && g->op == j->op &&
	       g->mtu_log2 == j->mtu_log2 && g->want_log2 == j->slots_log2 &&
	       m->mirror == rf_fw_is_mirror(j) &&
	       rf_fw_is_leaf(j) == ((m->flags & RF_CTL_RANK_LEAF) != 0) && same_flags(g, j) &&
	       rf_fw_uplink_same(fw, g, j);
}

/*
 * A mirror rank that has not joined yet, and whose port has lost its address to another host, gets
 * another port if there is one.
 */
static void move_port(struct rf_fw *fw, const struct rf_fw_group *g, struct rf_fw_member *m,
		      const struct rf_fw_request *q)
{
	struct rf_ctl_join j = {.port = m->wish};
	uint32_t detail;

	if (m->mirror && !m->arrived && !rf_fw_address_usable(fw, m->port) &&
	    give_port(fw, g, q, &j, &detail) == RF_CTL_R_NONE)
		m->port = j.port & RF_FW_PORT_MASK;
}

/*
 * Whether a JOIN of a known rank means another port than the one that it has. A mirror rank asks
 * anywhere; a ring rank's port is that on which it sends.
 */
static bool other_port(const struct rf_fw_member *m, const struct rf_ctl_join *j)
{
	return m->mirror ? j->port != m->wish && j->port != m->port : j->port != m->port;
}

bool rf_fw_join(struct rf_fw *fw, const struct rf_fw_request *q)
{
	struct rf_ctl_join j = q->body.u.join;
	struct rf_fw_member *m;
	struct rf_fw_group *g = rf_fw_request_group(fw, &q->h, &m);

	fw->cnt.join++;
	fill_defaults(fw, q, &j);
	if (!g)
		return join_new(fw, q, &j);
	/* Its token is known: the JOIN is a repetition, whatever the group's state is now. */
	if (rf_fw_stale(fw, m, q))
		return false;
	if (!same_join(fw, g, m, &j))
		return rf_fw_refuse(fw, RF_CTL_R_RANK_TAKEN, q->h.rank, 0);
	/* The same process on two paths: the switch's rule was added, removed, or is missing. */
	if (other_port(m, &j) && rf_fw_group_active(g))
		return rf_fw_refuse(fw, RF_CTL_R_OTHER_PORT, q->h.rank, m->port);
	if (g->state == RF_CTL_S_JOINING)
		move_port(fw, g, m, q);
	rf_fw_heard(fw, g, m, q);
	if (g->state == RF_CTL_S_JOINING)
		arrive(fw, g, m, q);
	m->notify = 0;
	rf_fw_reply_state(fw, g, m);
	return true;
}
