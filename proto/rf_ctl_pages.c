/* Pages of STATUS. */
#include "proto/rf_ctl_cursor.h"

static void body_group(struct rf_cursor *c, struct rf_ctl_group_page *g)
{
	rf_f8(c, &g->state);
	rf_f8(c, &g->reason);
	rf_f16(c, &g->fail_rank);
	rf_f32(c, &g->fail_index);
	rf_f32(c, &g->fail_detail);
	rf_count(c, &g->ranks, RF_CTL_RANKS_MAX);
	rf_f16(c, &g->joined);
	rf_f16(c, &g->left);
	rf_f16(c, &g->flags);
	rf_f8(c, &g->dtype);
	rf_f8(c, &g->op);
	rf_f8(c, &g->mtu_log2);
	rf_f8(c, &g->slots_log2);
	rf_f8(c, &g->hw_group);
	rf_f8(c, &g->lanes);
	rf_f8(c, &g->level);
	rf_f8(c, &g->base_port);
	rf_f32(c, &g->dbase);
	rf_f32(c, &g->hbase);
	rf_f32(c, &g->head);
	rf_f32(c, &g->tail);
	rf_f32(c, &g->issued);
	rf_f32(c, &g->remaining_ms);
	rf_mask(c, g->missing);
	rf_ctl_other_body(c, &g->fail_other);
}

static void body_ranks(struct rf_cursor *c, struct rf_ctl_ranks_page *p)
{
	rf_f16(c, &p->ranks);
	rf_f16(c, &p->first);
	if (!rf_count(c, &p->count, RF_CTL_RANKS_PER_PAGE))
		return;
	rf_zero(c, 2);
	for (unsigned int i = 0; i < p->count && !c->short_; i++) {
		struct rf_ctl_rank *r = &p->rank[i];

		rf_f8(c, &r->flags);
		rf_f8(c, &r->port);
		rf_f8(c, &r->lane);
		rf_zero(c, 1);
		rf_f32(c, &r->age_ms);
		rf_f32(c, &r->next);
		rf_f32(c, &r->sent);
		rf_f32(c, &r->una);
		rf_f32(c, &r->ip);
		rf_f32(c, &r->port_ip);
		rf_mac(c, r->mac);
		rf_zero(c, 2);
	}
}

static void body_box(struct rf_cursor *c, struct rf_ctl_box_page *b)
{
	rf_f8(c, &b->ports);
	rf_f8(c, &b->lanes);
	rf_f8(c, &b->width64);
	rf_f8(c, &b->hash_bits);
	rf_f8(c, &b->groups);
	rf_f8(c, &b->bank_log2);
	rf_f8(c, &b->hdr_log2);
	rf_f8(c, &b->mtu_log2);
	rf_f8(c, &b->fp16);
	rf_f8(c, &b->hold);
	rf_f8(c, &b->port);
	rf_f8(c, &b->groups_used);
	rf_f32(c, &b->clock_khz);
	rf_f64(c, &b->uptime_ms);
	rf_f32(c, &b->hold_ms);
	rf_f32(c, &b->connections);
	rf_f32(c, &b->tombstones);
	rf_f32(c, &b->beats_free);
	rf_f32(c, &b->hslots_free);
	rf_f32(c, &b->mac_hi);
	rf_f32(c, &b->mac_lo);
	rf_f32(c, &b->ip);
	rf_f8(c, &b->prefix);
	rf_f8(c, &b->claimed);
	rf_f8(c, &b->features);
	rf_f8(c, &b->reached);
	rf_f32(c, &b->gateway);
	for (unsigned int i = 0; i < RF_CTL_PORTS_MAX; i++)
		rf_f32(c, &b->port_ip[i]);
	rf_f16(c, &b->types);
	rf_zero(c, 2);
}

static void body_counters(struct rf_cursor *c, struct rf_ctl_counters_page *p)
{
	rf_f16(c, &p->index);
	if (!rf_count(c, &p->count, RF_CTL_COUNTERS_PER_PAGE))
		return;
	for (unsigned int i = 0; i < p->count && !c->short_; i++)
		rf_f32(c, &p->value[i]);
}

static void body_groups(struct rf_cursor *c, struct rf_ctl_groups_page *p)
{
	rf_f16(c, &p->first);
	if (!rf_count(c, &p->count, RF_CTL_GROUPS_PER_PAGE))
		return;
	rf_f16(c, &p->total);
	rf_zero(c, 2);
	for (unsigned int i = 0; i < p->count && !c->short_; i++) {
		struct rf_ctl_group_entry *e = &p->entry[i];

		rf_f64(c, &e->job);
		rf_f16(c, &e->group);
		rf_f16(c, &e->ranks);
		rf_f16(c, &e->joined);
		rf_f8(c, &e->state);
		rf_f8(c, &e->hw_group);
	}
}

static void body_connections(struct rf_cursor *c, struct rf_ctl_connections_page *p)
{
	rf_f16(c, &p->first);
	if (!rf_count(c, &p->count, RF_CTL_CONNECTIONS_PER_PAGE))
		return;
	rf_f16(c, &p->total);
	rf_f16(c, &p->next);
	for (unsigned int i = 0; i < p->count && !c->short_; i++) {
		struct rf_ctl_connection *e = &p->entry[i];

		rf_f32(c, &e->ip);
		rf_f32(c, &e->key);
		rf_f32(c, &e->remaining);
		rf_f16(c, &e->cid);
		rf_f8(c, &e->state);
		rf_zero(c, 1);
	}
}

static void body_log(struct rf_cursor *c, struct rf_ctl_log_page *p)
{
	rf_f16(c, &p->first);
	if (!rf_count(c, &p->count, RF_CTL_LOG_PER_PAGE))
		return;
	rf_f32(c, &p->next);
	for (unsigned int i = 0; i < p->count && !c->short_; i++) {
		struct rf_ctl_log_entry *e = &p->entry[i];

		rf_f64(c, &e->job);
		rf_f32(c, &e->ms);
		rf_f16(c, &e->group);
		rf_f16(c, &e->rank);
		rf_f16(c, &e->count);
		rf_f8(c, &e->kind);
		rf_f8(c, &e->reason);
		rf_f32(c, &e->box_ip);
	}
}

static void body_lag(struct rf_cursor *c, struct rf_ctl_lag_page *p)
{
	rf_f16(c, &p->ranks);
	rf_f16(c, &p->first);
	rf_count(c, &p->count, RF_CTL_LAG_RANKS);
	if (!rf_count(c, &p->bins, RF_CTL_LAG_BINS))
		return;
	rf_f16(c, &p->awaited);
	rf_zero(c, 2);
	rf_f32(c, &p->awaited_ms);
	rf_f64(c, &p->sum_us);
	for (unsigned int i = 0; i < p->bins && !c->short_; i++)
		rf_f32(c, &p->bin[i]);
	for (unsigned int i = 0; i < p->count && !c->short_; i++) {
		rf_f32(c, &p->rank[i].times);
		rf_f32(c, &p->rank[i].most_us);
	}
}

static void share(struct rf_cursor *c, struct rf_ctl_share *s)
{
	rf_f32(c, &s->groups);
	rf_f32(c, &s->slots);
	rf_f32(c, &s->ranks);
	rf_f32(c, &s->entries);
	rf_f32(c, &s->bytes);
}

static void body_jobs(struct rf_cursor *c, struct rf_ctl_jobs_page *p)
{
	rf_f16(c, &p->first);
	if (!rf_count(c, &p->count, RF_CTL_JOBS_PER_PAGE))
		return;
	rf_f16(c, &p->total);
	rf_zero(c, 2);
	for (unsigned int i = 0; i < p->count && !c->short_; i++) {
		rf_f64(c, &p->entry[i].job);
		share(c, &p->entry[i].held);
		share(c, &p->entry[i].most);
		rf_f32(c, &p->entry[i].tombstones);
	}
}

static void body_held(struct rf_cursor *c, struct rf_ctl_held_page *p)
{
	rf_f16(c, &p->first);
	if (!rf_count(c, &p->count, RF_CTL_HELD_PER_PAGE))
		return;
	rf_f16(c, &p->next);
	rf_zero(c, 2);
	for (unsigned int i = 0; i < p->count && !c->short_; i++) {
		struct rf_ctl_held *e = &p->entry[i];

		rf_f32(c, &e->ip);
		rf_f24(c, &e->qpn);
		rf_f32(c, &e->silent);
		rf_f32(c, &e->remaining);
		rf_f8(c, &e->port);
		rf_zero(c, 3);
	}
}

static void body_tree(struct rf_cursor *c, struct rf_ctl_tree_page *t)
{
	rf_f8(c, &t->state);
	rf_f8(c, &t->reason);
	rf_f8(c, &t->up_state);
	rf_f8(c, &t->above);
	rf_f8(c, &t->port);
	rf_f8(c, &t->lane);
	rf_count(c, &t->ranks, RF_CTL_RANKS_MAX);
	rf_f16(c, &t->awaited);
	rf_f16(c, &t->up_rank);
	rf_f16(c, &t->up_ranks);
	rf_zero(c, 2);
	rf_f32(c, &t->parent_ip);
	rf_f32(c, &t->parent_port_ip);
	rf_f32(c, &t->heard_ms);
	rf_f32(c, &t->head);
	rf_f32(c, &t->up);
	rf_f32(c, &t->got);
	rf_f32(c, &t->fail_ip);
	rf_mask(c, t->leaves);
}

size_t rf_ctl_page_max(unsigned int page)
{
	/* After the header: result, page and two reserved bytes, the page's fields, its entries. */
	static const uint16_t most[] = {
		[RF_CTL_PAGE_GROUP] = 4 + 80,
		[RF_CTL_PAGE_RANKS] = 4 + 8 + 36 * RF_CTL_RANKS_PER_PAGE,
		[RF_CTL_PAGE_BOX] = 4 + 100,
		[RF_CTL_PAGE_PORT] = 4 + 4 + 4 * RF_CTL_COUNTERS_PER_PAGE,
		[RF_CTL_PAGE_FIRMWARE] = 4 + 4 + 4 * RF_CTL_COUNTERS_PER_PAGE,
		[RF_CTL_PAGE_GROUPS] = 4 + 8 + 16 * RF_CTL_GROUPS_PER_PAGE,
		[RF_CTL_PAGE_CONNECTIONS] = 4 + 8 + 16 * RF_CTL_CONNECTIONS_PER_PAGE,
		[RF_CTL_PAGE_LOG] = 4 + 8 + 24 * RF_CTL_LOG_PER_PAGE,
		[RF_CTL_PAGE_LAG] = 4 + 24 + 4 * RF_CTL_LAG_BINS + 8 * RF_CTL_LAG_RANKS,
		[RF_CTL_PAGE_HELD] = 4 + 8 + 20 * RF_CTL_HELD_PER_PAGE,
		[RF_CTL_PAGE_TREE] = 4 + 60,
		[RF_CTL_PAGE_JOBS] = 4 + 8 + 52 * RF_CTL_JOBS_PER_PAGE,
	};

	if (page >= sizeof(most) / sizeof(most[0]) || most[page] == 0)
		return 0;
	return RF_CTL_HEADER + (size_t)most[page];
}

bool rf_ctl_page_body(struct rf_cursor *c, struct rf_ctl_reply *r)
{
	rf_f8(c, &r->page);
	rf_zero(c, 2);
	switch (r->page) {
	case RF_CTL_PAGE_GROUP:
		body_group(c, &r->u.group);
		return true;
	case RF_CTL_PAGE_RANKS:
		body_ranks(c, &r->u.ranks);
		return true;
	case RF_CTL_PAGE_BOX:
		body_box(c, &r->u.box);
		return true;
	case RF_CTL_PAGE_PORT:
	case RF_CTL_PAGE_FIRMWARE:
		body_counters(c, &r->u.counters);
		return true;
	case RF_CTL_PAGE_GROUPS:
		body_groups(c, &r->u.groups);
		return true;
	case RF_CTL_PAGE_CONNECTIONS:
		body_connections(c, &r->u.connections);
		return true;
	case RF_CTL_PAGE_LOG:
		body_log(c, &r->u.log);
		return true;
	case RF_CTL_PAGE_LAG:
		body_lag(c, &r->u.lag);
		return true;
	case RF_CTL_PAGE_JOBS:
		body_jobs(c, &r->u.jobs);
		return true;
	case RF_CTL_PAGE_TREE:
		body_tree(c, &r->u.tree);
		return true;
	case RF_CTL_PAGE_HELD:
		body_held(c, &r->u.held);
		return true;
	default:
		return false;
	}
}
