/* STATUS: pages about a group, its ranks, and the box. */
#include <string.h>

#include "firmware/core/internal.h"

static struct rf_ctl_reply *page(struct rf_fw *fw, unsigned int number)
{
	memset(&fw->reply, 0, sizeof(fw->reply));
	fw->reply.result = RF_CTL_PAGE;
	fw->reply.page = (uint8_t)number;
	return &fw->reply;
}

/* If a member waits in vain for a rank that is gone, reports the group as failed to this member. */
static void report_lost(struct rf_fw *fw, struct rf_fw_group *g, const struct rf_fw_member *asker,
			struct rf_ctl_group_page *p)
{
	const struct rf_fw_member *lost = rf_fw_group_lost(fw, g, asker);

	if (!lost)
		return;
	p->state = RF_CTL_S_FAILED;
	p->reason = RF_CTL_R_LEASE;
	p->fail_rank = lost->rank;
	p->fail_detail = lost->lease_ms;
	p->fail_other = (struct rf_ctl_other){.rank = RF_CTL_NO_RANK};
}

/* asker: the member that sent the request, or NULL. */
static void page_group(struct rf_fw *fw, struct rf_fw_group *g, const struct rf_fw_member *asker)
{
	struct rf_ctl_group_page *p = &page(fw, RF_CTL_PAGE_GROUP)->u.group;
	const struct rf_fw_member *m;

	p->state = g->state;
	p->reason = g->reason;
	p->fail_rank = g->fail_rank;
	p->fail_index = g->fail_index;
	p->fail_detail = g->fail_detail;
	p->fail_other = g->fail_other;
	p->ranks = g->ranks;
	p->joined = g->joined;
	p->left = g->left;
	p->flags = g->flags;
	p->dtype = g->dtype;
	p->op = g->op;
	p->mtu_log2 = g->mtu_log2;
	p->slots_log2 = g->slots_log2;
	p->hw_group = g->hw;
	p->lanes = g->lanes;
	p->level = g->level;
	p->base_port = g->base_port;
	p->dbase = g->dbase;
	p->hbase = g->hbase;
	if (g->live) {
		p->head = rf_fw_read(fw, rf_fw_group_reg(g->hw, RF_GROUP_HEAD));
		p->tail = rf_fw_read(fw, rf_fw_group_reg(g->hw, RF_GROUP_TAIL));
		p->issued = rf_fw_read(fw, rf_fw_group_reg(g->hw, RF_GROUP_ISSUED));
	}
	if (g->state == RF_CTL_S_JOINING)
		p->remaining_ms = (uint32_t)(g->deadline_ms - fw->now_ms);
	memcpy(p->missing, g->missing, sizeof(p->missing));
	if (g->state != RF_CTL_S_DRAINING && g->state != RF_CTL_S_TOMBSTONED)
		return;
	for (m = rf_fw_first(fw, g); m; m = rf_fw_next(fw, m))
		if (!(m->flags & (RF_CTL_RANK_LEFT | RF_CTL_RANK_GONE)))
			rf_ctl_mask_set(p->missing, m->rank);
	if (asker && g->state == RF_CTL_S_DRAINING)
		report_lost(fw, g, asker, p);
}

static void put_rank(struct rf_fw *fw, const struct rf_fw_group *g, const struct rf_fw_member *m,
		     struct rf_ctl_rank *r)
{
	uint64_t age = fw->now_ms - m->life_ms;
	uint32_t cid = RF_FW_CID(g->hw, m->lane, m->port);

	r->flags = m->flags;
	if (m->arrived)
		r->flags |= RF_CTL_RANK_JOINED;
	if (m->mirror)
		r->flags |= RF_CTL_RANK_MIRROR;
	r->port = m->port;
	r->lane = m->lane;
	r->age_ms = age > UINT32_MAX ? UINT32_MAX : (uint32_t)age;
	r->ip = m->src_ip;
	r->port_ip = rf_fw_port_ip(fw, m);
	memcpy(r->mac, m->mirror && m->arrived ? m->mac : m->src_mac, sizeof(r->mac));
	if (!g->live) {
		r->flags |= RF_CTL_RANK_IDLE;
		return;
	}
	r->next = rf_fw_read(fw, rf_fw_conn_reg(cid, RF_CONN_NEXT));
	r->sent = rf_fw_read(fw, rf_fw_conn_reg(cid, RF_CONN_SENT));
	r->una = rf_fw_read(fw, rf_fw_conn_reg(cid, RF_CONN_UNA));
	if ((g->flags & RF_CTL_J_DIRECTED) &&
	    (rf_fw_read(fw, rf_fw_conn_reg(cid, RF_CONN_SILENT)) & RF_CONN_SILENT_SILENT_MASK))
		r->flags |= RF_CTL_RANK_SILENT;
}

static void page_ranks(struct rf_fw *fw, struct rf_fw_group *g, unsigned int first)
{
	struct rf_ctl_ranks_page *p;
	const struct rf_fw_member *m;
	unsigned int count;

	rf_fw_group_look(fw, g);
	p = &page(fw, RF_CTL_PAGE_RANKS)->u.ranks;
	count = first < g->ranks ? g->ranks - first : 0u;
	if (count > RF_CTL_RANKS_PER_PAGE)
		count = RF_CTL_RANKS_PER_PAGE;
	p->ranks = g->ranks;
	p->first = (uint16_t)first;
	p->count = (uint16_t)count;
	for (m = rf_fw_first(fw, g); m; m = rf_fw_next(fw, m))
		if (m->rank >= first && m->rank < first + count)
			put_rank(fw, g, m, &p->rank[m->rank - first]);
}

static void page_lag(struct rf_fw *fw, const struct rf_fw_group *g, unsigned int first)
{
	struct rf_ctl_lag_page *p = &page(fw, RF_CTL_PAGE_LAG)->u.lag;
	unsigned int count = first < g->ranks ? g->ranks - first : 0u;
	const struct rf_fw_member *m;

	_Static_assert(RF_FW_RANKS_MAX <= RF_CTL_LAG_RANKS, "all ranks in one page");
	p->ranks = g->ranks;
	p->first = (uint16_t)first;
	p->count = (uint16_t)count;
	p->bins = RF_CTL_LAG_BINS;
	p->awaited = RF_CTL_NO_RANK;
	p->sum_us = g->lag_us;
	memcpy(p->bin, g->lag, sizeof(p->bin));
	if (g->live && g->awaited != RF_FW_NO_MEMBER) {
		p->awaited = fw->member[g->awaited].rank;
		p->awaited_ms = (uint32_t)fw->now_ms - g->head_ms;
	}
	for (m = rf_fw_first(fw, g); m; m = rf_fw_next(fw, m))
		if (m->rank >= first)
			p->rank[m->rank - first] = m->lag;
}

static unsigned int up_state(const struct rf_fw_uplink *u)
{
	switch (u->state) {
	case RF_FW_UP_IDLE:
		return RF_CTL_UP_IDLE;
	case RF_FW_UP_ASK:
	case RF_FW_UP_JOIN:
		return RF_CTL_UP_JOINING;
	case RF_FW_UP_READY:
		return RF_CTL_UP_READY;
	case RF_FW_UP_LEAVE:
		return RF_CTL_UP_LEAVING;
	case RF_FW_UP_ABORT:
		return RF_CTL_UP_FAILED;
	default:
		return RF_CTL_UP_NONE;
	}
}

static void put_uplink(struct rf_fw *fw, const struct rf_fw_group *g, const struct rf_fw_uplink *u,
		       struct rf_ctl_tree_page *p)
{
	uint64_t ms = fw->now_ms - u->heard_ms;

	p->up_state = (uint8_t)up_state(u);
	p->above = u->above;
	p->port = u->port;
	p->lane = u->lane;
	p->up_rank = u->chain[0].rank;
	p->up_ranks = u->chain[0].ranks;
	p->parent_ip = u->chain[0].ip;
	p->parent_port_ip = u->port_ip;
	if (u->state != RF_FW_UP_IDLE)
		p->heard_ms = ms > UINT32_MAX ? UINT32_MAX : (uint32_t)ms;
	if (!g->live)
		return;
	p->up = rf_fw_read(fw, RF_UPLINK_BASE + g->hw * RF_UPLINK_STRIDE + RF_UPLINK_UP);
	p->got = rf_fw_read(fw, RF_UPLINK_BASE + g->hw * RF_UPLINK_STRIDE + RF_UPLINK_GOT);
}

/* The group in its tree: what this box knows of it. */
static void page_tree(struct rf_fw *fw, const struct rf_fw_group *g)
{
	struct rf_ctl_tree_page *p = &page(fw, RF_CTL_PAGE_TREE)->u.tree;
	const struct rf_fw_uplink *u = rf_fw_uplink_of(fw, g);
	const struct rf_fw_member *m;

	p->state = g->state;
	p->reason = g->reason;
	p->ranks = g->ranks;
	p->fail_ip = g->fail_other.box_ip;
	p->awaited = RF_CTL_NO_RANK;
	if (g->live && g->awaited != RF_FW_NO_MEMBER)
		p->awaited = fw->member[g->awaited].rank;
	if (g->live)
		p->head = rf_fw_read(fw, rf_fw_group_reg(g->hw, RF_GROUP_HEAD));
	if (u)
		put_uplink(fw, g, u, p);
	for (m = rf_fw_first(fw, g); m; m = rf_fw_next(fw, m))
		if (m->flags & RF_CTL_RANK_LEAF)
			rf_ctl_mask_set(p->leaves, m->rank);
}

/* What page BOX has about addresses, and what this build has. */
static void put_addresses(struct rf_fw *fw, struct rf_ctl_box_page *p)
{
	p->ip = fw->cfg.ip;
	p->prefix = fw->cfg.prefix;
	p->gateway = fw->cfg.gateway;
	p->claimed = (uint8_t)rf_fw_address_claims(fw);
	p->types = fw->types;
	if (fw->mirror)
		p->features |= RF_CTL_FEATURE_MIRROR;
	if (fw->directed)
		p->features |= RF_CTL_FEATURE_DIRECTED;
	if (fw->selective)
		p->features |= RF_CTL_FEATURE_SELECTIVE;
	if (fw->uplinks)
		p->features |= RF_CTL_FEATURE_UPLINK;
	for (unsigned int i = 0; i < fw->ports; i++) {
		p->port_ip[i] = fw->address[i].used ? fw->address[i].ip : 0u;
		if (fw->address[i].gateway)
			p->reached |= (uint8_t)(1u << i);
	}
}

static void page_box(struct rf_fw *fw, unsigned int port)
{
	struct rf_ctl_box_page *p = &page(fw, RF_CTL_PAGE_BOX)->u.box;
	const uint8_t *mac = fw->cfg.mac;

	p->ports = fw->ports;
	p->lanes = fw->lanes;
	p->width64 = fw->width64;
	p->hash_bits = fw->hash_bits;
	p->groups = fw->ngroups;
	p->bank_log2 = fw->bank_log2;
	p->hdr_log2 = fw->hdr_log2;
	p->mtu_log2 = fw->mtu_log2;
	p->fp16 = fw->fp16;
	put_addresses(fw, p);
	p->port = (uint8_t)port;
	p->clock_khz = fw->khz;
	p->uptime_ms = fw->now_ms;
	if (fw->hold_until != RF_FW_NEVER) {
		p->hold = fw->hold_full ? RF_CTL_HOLD_FULL : RF_CTL_HOLD_LASTS;
		p->hold_ms = rf_fw_hold_left(fw);
	}
	for (uint64_t used = fw->hw_used; used != 0; used &= used - 1u)
		p->groups_used++;
	p->connections = fw->entries;
	p->tombstones = fw->tombstones;
	p->beats_free = rf_fw_buddy_room(&fw->beats);
	p->hslots_free = rf_fw_buddy_room(&fw->hslots);
	p->mac_hi = (uint32_t)mac[0] << 8 | mac[1];
	p->mac_lo =
		(uint32_t)mac[2] << 24 | (uint32_t)mac[3] << 16 | (uint32_t)mac[4] << 8 | mac[5];
}

static void page_port(struct rf_fw *fw, unsigned int port)
{
	struct rf_ctl_counters_page *p = &page(fw, RF_CTL_PAGE_PORT)->u.counters;

	_Static_assert(RF_CNT_COUNT <= RF_CTL_COUNTERS_PER_PAGE,
		       "all counters of a port in one page");
	p->index = (uint16_t)port;
	p->count = RF_CNT_COUNT;
	for (uint32_t i = 0; i < RF_CNT_COUNT; i++)
		p->value[i] =
			rf_fw_read(fw, RF_PORT_BASE + (uint32_t)port * RF_PORT_STRIDE + 4u * i);
}

static void page_firmware(struct rf_fw *fw)
{
	struct rf_ctl_counters_page *p = &page(fw, RF_CTL_PAGE_FIRMWARE)->u.counters;

	_Static_assert(sizeof(struct rf_fw_counters) / 4u <= RF_CTL_COUNTERS_PER_PAGE,
		       "all counters of the firmware in one page");
	p->count = (uint16_t)rf_fw_counter_count();
	for (unsigned int i = 0; i < p->count; i++)
		p->value[i] = rf_fw_counter(fw, i);
}

static void page_groups(struct rf_fw *fw, unsigned int first)
{
	struct rf_ctl_groups_page *p = &page(fw, RF_CTL_PAGE_GROUPS)->u.groups;

	p->first = (uint16_t)first;
	for (unsigned int i = 0; i < RF_FW_RECORDS; i++) {
		const struct rf_fw_group *g = &fw->group[i];
		struct rf_ctl_group_entry *e = &p->entry[p->count];

		if (g->state == RF_CTL_S_FREE)
			continue;
		if (p->total++ < first || p->count == RF_CTL_GROUPS_PER_PAGE)
			continue;
		e->job = g->job;
		e->group = g->number;
		e->ranks = g->ranks;
		e->joined = g->joined;
		e->state = g->state;
		e->hw_group = g->hw;
		p->count++;
	}
}

static void page_connections(struct rf_fw *fw, unsigned int first)
{
	struct rf_ctl_connections_page *p = &page(fw, RF_CTL_PAGE_CONNECTIONS)->u.connections;
	unsigned int places = 2u << fw->hash_bits, i;

	p->first = (uint16_t)first;
	p->total = (uint16_t)fw->entries;
	for (i = first; i < places && p->count < RF_CTL_CONNECTIONS_PER_PAGE; i++) {
		const struct rf_fw_entry *t = &fw->table[i];
		struct rf_ctl_connection *e = &p->entry[p->count];
		int32_t left = (int32_t)(t->until - (uint32_t)fw->now_ms);

		e->state = (uint8_t)rf_fw_state(t);
		if (e->state == RF_STATE_EMPTY)
			continue;
		e->ip = t->ip;
		e->key = t->key;
		e->cid = t->cid;
		e->remaining = e->state == RF_STATE_TOMBSTONE && left > 0 ? (uint32_t)left : 0u;
		p->count++;
	}
	p->next = i < places ? (uint16_t)i : (uint16_t)RF_CTL_NO_RANK;
}

/* The operator sees all jobs that have a key; a job sees only itself. */
static void page_jobs(struct rf_fw *fw, uint64_t asker, unsigned int first)
{
	struct rf_ctl_jobs_page *p = &page(fw, RF_CTL_PAGE_JOBS)->u.jobs;

	p->first = (uint16_t)first;
	for (unsigned int i = 0; i < fw->cfg.nkeys; i++) {
		uint64_t job = fw->cfg.keys[i].job;
		struct rf_ctl_job *e = &p->entry[p->count];

		if (asker != RF_CTL_JOB_OPERATOR && job != asker)
			continue;
		if (p->total++ < first || p->count == RF_CTL_JOBS_PER_PAGE)
			continue;
		e->job = job;
		rf_fw_keys_held(fw, job, &e->held);
		rf_fw_keys_most(fw, job, &e->most);
		e->tombstones = rf_fw_conn_count(fw, job, true);
		p->count++;
	}
}

static void page_held(struct rf_fw *fw, unsigned int first)
{
	struct rf_ctl_held_page *p = &page(fw, RF_CTL_PAGE_HELD)->u.held;
	unsigned int places = 2u << fw->hash_bits, i;

	p->first = (uint16_t)first;
	for (i = first; i < places && p->count < RF_CTL_HELD_PER_PAGE; i++) {
		const struct rf_fw_entry *t = &fw->table[i];
		int32_t left = (int32_t)(t->until - (uint32_t)fw->now_ms);

		if (!rf_fw_held(t))
			continue;
		p->entry[p->count++] = (struct rf_ctl_held){
			.ip = t->ip,
			.qpn = t->key & RF_HASH_KEY_QPN_MASK,
			.silent = (uint32_t)((int32_t)fw->cfg.hold_ms - left),
			.remaining = left > 0 ? (uint32_t)left : 0u,
			.port = t->port,
		};
	}
	p->next = i < places ? (uint16_t)i : (uint16_t)RF_CTL_NO_RANK;
}

/* Events from number `first` on, or from the oldest one in the log. */
static void page_log(struct rf_fw *fw, unsigned int first)
{
	struct rf_ctl_log_page *p = &page(fw, RF_CTL_PAGE_LOG)->u.log;
	uint32_t have = fw->log_next < RF_FW_LOG ? fw->log_next : RF_FW_LOG;
	uint32_t count = (fw->log_next - first) & 0xffffu;

	_Static_assert(RF_FW_LOG <= RF_CTL_LOG_PER_PAGE, "the whole log in one page");
	if (count > have)
		count = have;
	p->first = (uint16_t)(fw->log_next - count);
	p->count = (uint16_t)count;
	p->next = fw->log_next;
	for (uint32_t i = 0; i < count; i++)
		p->entry[i] = fw->log[(fw->log_next - count + i) % RF_FW_LOG];
}

/* Pages for the operator only. */
static bool about_all(struct rf_fw *fw, const struct rf_fw_request *q)
{
	const struct rf_ctl_status_req *s = &q->body.u.status;

	if (q->h.job != RF_CTL_JOB_OPERATOR)
		return rf_fw_refuse(fw, RF_CTL_R_NOT_OPERATOR, q->h.rank, 0);
	if (s->page == RF_CTL_PAGE_GROUPS)
		page_groups(fw, s->index);
	else if (s->page == RF_CTL_PAGE_CONNECTIONS)
		page_connections(fw, s->index);
	else if (s->page == RF_CTL_PAGE_HELD)
		page_held(fw, s->index);
	else
		page_log(fw, s->index);
	return true;
}

/*
 * The group that a request may see: a rank sees its own; a tool (rank RF_CTL_NO_RANK) sees any
 * group of its job; the operator's tool sees any group.
 */
static struct rf_fw_group *visible(struct rf_fw *fw, const struct rf_fw_request *q,
				   struct rf_fw_member **m)
{
	const struct rf_ctl_status_req *s = &q->body.u.status;

	*m = NULL;
	if (q->h.rank != RF_CTL_NO_RANK)
		return rf_fw_request_group(fw, &q->h, m);
	if (q->h.job == RF_CTL_JOB_OPERATOR)
		return rf_fw_group_named(fw, s->job, s->group);
	return rf_fw_group_named(fw, q->h.job, q->h.group);
}

static bool about_group(struct rf_fw *fw, const struct rf_fw_request *q)
{
	const struct rf_ctl_status_req *s = &q->body.u.status;
	struct rf_fw_member *asker;
	struct rf_fw_group *g = visible(fw, q, &asker);

	if (!g)
		return rf_fw_refuse(fw, RF_CTL_R_GROUP_UNKNOWN, q->h.rank, 0);
	if (s->page == RF_CTL_PAGE_GROUP)
		page_group(fw, g, asker);
	else if (s->page == RF_CTL_PAGE_RANKS)
		page_ranks(fw, g, s->index);
	else if (s->page == RF_CTL_PAGE_TREE)
		page_tree(fw, g);
	else
		page_lag(fw, g, s->index);
	return true;
}

bool rf_fw_status(struct rf_fw *fw, const struct rf_fw_request *q)
{
	const struct rf_ctl_status_req *s = &q->body.u.status;
	struct rf_fw_member *m;
	struct rf_fw_group *g;

	fw->cnt.status++;
	/* Any request of a member is a sign of life. */
	g = rf_fw_request_group(fw, &q->h, &m);
	if (g && !rf_fw_heard(fw, g, m, q))
		return false;
	switch (s->page) {
	case RF_CTL_PAGE_GROUP:
	case RF_CTL_PAGE_RANKS:
	case RF_CTL_PAGE_LAG:
	case RF_CTL_PAGE_TREE:
		return about_group(fw, q);
	case RF_CTL_PAGE_BOX:
		page_box(fw, q->port);
		return true;
	case RF_CTL_PAGE_PORT:
		if (s->index >= fw->ports)
			return rf_fw_refuse(fw, RF_CTL_R_FIELD, q->h.rank, 2);
		page_port(fw, s->index);
		return true;
	case RF_CTL_PAGE_FIRMWARE:
		page_firmware(fw);
		return true;
	case RF_CTL_PAGE_GROUPS:
	case RF_CTL_PAGE_CONNECTIONS:
	case RF_CTL_PAGE_HELD:
	case RF_CTL_PAGE_LOG:
		return about_all(fw, q);
	case RF_CTL_PAGE_JOBS:
		page_jobs(fw, q->h.job, s->index);
		return true;
	default:
		return rf_fw_refuse(fw, RF_CTL_R_FIELD, q->h.rank, 0);
	}
}
