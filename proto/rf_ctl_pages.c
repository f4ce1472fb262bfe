/* Pages of STATUS. */
#include "proto/rf_ctl_cursor.h"

static void body_group(struct cursor *c, struct rf_ctl_group_page *g)
{
	f8(c, &g->state);
	f8(c, &g->reason);
	f16(c, &g->fail_rank);
	f32(c, &g->fail_index);
	f32(c, &g->fail_detail);
	count(c, &g->ranks, RF_CTL_RANKS_MAX);
	f16(c, &g->joined);
	f16(c, &g->left);
	f16(c, &g->flags);
	f8(c, &g->dtype);
	f8(c, &g->op);
	f8(c, &g->mtu_log2);
	f8(c, &g->slots_log2);
	f8(c, &g->hw_group);
	f8(c, &g->lanes);
	f8(c, &g->level);
	f8(c, &g->base_port);
	f32(c, &g->dbase);
	f32(c, &g->hbase);
	f32(c, &g->head);
	f32(c, &g->tail);
	f32(c, &g->issued);
	f32(c, &g->remaining_ms);
	mask(c, g->missing);
}

static void body_ranks(struct cursor *c, struct rf_ctl_ranks_page *p)
{
	f16(c, &p->ranks);
	f16(c, &p->first);
	if (!count(c, &p->count, RF_CTL_RANKS_PER_PAGE))
		return;
	zero(c, 2);
	for (unsigned int i = 0; i < p->count && !c->short_; i++) {
		struct rf_ctl_rank *r = &p->rank[i];

		f8(c, &r->flags);
		f8(c, &r->port);
		f8(c, &r->lane);
		zero(c, 1);
		f32(c, &r->age_ms);
		f32(c, &r->next);
		f32(c, &r->sent);
		f32(c, &r->una);
		f32(c, &r->ip);
	}
}

static void body_box(struct cursor *c, struct rf_ctl_box_page *b)
{
	f8(c, &b->ports);
	f8(c, &b->lanes);
	f8(c, &b->width64);
	f8(c, &b->hash_bits);
	f8(c, &b->groups);
	f8(c, &b->bank_log2);
	f8(c, &b->hdr_log2);
	f8(c, &b->mtu_log2);
	f8(c, &b->fp16);
	f8(c, &b->hold);
	f8(c, &b->port);
	f8(c, &b->groups_used);
	f32(c, &b->clock_khz);
	f64(c, &b->uptime_ms);
	f32(c, &b->hold_ms);
	f32(c, &b->connections);
	f32(c, &b->tombstones);
	f32(c, &b->beats_free);
	f32(c, &b->hslots_free);
	f32(c, &b->mac_hi);
	f32(c, &b->mac_lo);
}

static void body_counters(struct cursor *c, struct rf_ctl_counters_page *p)
{
	f16(c, &p->index);
	if (!count(c, &p->count, RF_CTL_COUNTERS_PER_PAGE))
		return;
	for (unsigned int i = 0; i < p->count && !c->short_; i++)
		f32(c, &p->value[i]);
}

static void body_groups(struct cursor *c, struct rf_ctl_groups_page *p)
{
	f16(c, &p->first);
	if (!count(c, &p->count, RF_CTL_GROUPS_PER_PAGE))
		return;
	f16(c, &p->total);
	zero(c, 2);
	for (unsigned int i = 0; i < p->count && !c->short_; i++) {
		struct rf_ctl_group_entry *e = &p->entry[i];

		f64(c, &e->job);
		f16(c, &e->group);
		f16(c, &e->ranks);
		f16(c, &e->joined);
		f8(c, &e->state);
		f8(c, &e->hw_group);
	}
}

static void body_connections(struct cursor *c, struct rf_ctl_connections_page *p)
{
	f16(c, &p->first);
	if (!count(c, &p->count, RF_CTL_CONNECTIONS_PER_PAGE))
		return;
	f16(c, &p->total);
	f16(c, &p->next);
	for (unsigned int i = 0; i < p->count && !c->short_; i++) {
		struct rf_ctl_connection *e = &p->entry[i];

		f32(c, &e->ip);
		f32(c, &e->key);
		f32(c, &e->remaining);
		f16(c, &e->cid);
		f8(c, &e->state);
		zero(c, 1);
	}
}

static void body_log(struct cursor *c, struct rf_ctl_log_page *p)
{
	f16(c, &p->first);
	if (!count(c, &p->count, RF_CTL_LOG_PER_PAGE))
		return;
	f32(c, &p->next);
	for (unsigned int i = 0; i < p->count && !c->short_; i++) {
		struct rf_ctl_log_entry *e = &p->entry[i];

		f64(c, &e->job);
		f32(c, &e->ms);
		f16(c, &e->group);
		f16(c, &e->rank);
		f16(c, &e->count);
		f8(c, &e->kind);
		f8(c, &e->reason);
	}
}

static void body_lag(struct cursor *c, struct rf_ctl_lag_page *p)
{
	f16(c, &p->ranks);
	f16(c, &p->first);
	count(c, &p->count, RF_CTL_LAG_RANKS);
	if (!count(c, &p->bins, RF_CTL_LAG_BINS))
		return;
	f16(c, &p->awaited);
	zero(c, 2);
	f32(c, &p->awaited_ms);
	f64(c, &p->sum_us);
	for (unsigned int i = 0; i < p->bins && !c->short_; i++)
		f32(c, &p->bin[i]);
	for (unsigned int i = 0; i < p->count && !c->short_; i++) {
		f32(c, &p->rank[i].times);
		f32(c, &p->rank[i].most_us);
	}
}

static void share(struct cursor *c, struct rf_ctl_share *s)
{
	f32(c, &s->groups);
	f32(c, &s->slots);
	f32(c, &s->ranks);
	f32(c, &s->entries);
	f32(c, &s->bytes);
}

static void body_jobs(struct cursor *c, struct rf_ctl_jobs_page *p)
{
	f16(c, &p->first);
	if (!count(c, &p->count, RF_CTL_JOBS_PER_PAGE))
		return;
	f16(c, &p->total);
	zero(c, 2);
	for (unsigned int i = 0; i < p->count && !c->short_; i++) {
		f64(c, &p->entry[i].job);
		share(c, &p->entry[i].held);
		share(c, &p->entry[i].most);
		f32(c, &p->entry[i].tombstones);
	}
}

static void body_held(struct cursor *c, struct rf_ctl_held_page *p)
{
	f16(c, &p->first);
	if (!count(c, &p->count, RF_CTL_HELD_PER_PAGE))
		return;
	f16(c, &p->next);
	zero(c, 2);
	for (unsigned int i = 0; i < p->count && !c->short_; i++) {
		struct rf_ctl_held *e = &p->entry[i];

		f32(c, &e->ip);
		f24(c, &e->qpn);
		f32(c, &e->silent);
		f32(c, &e->remaining);
		f8(c, &e->port);
		zero(c, 3);
	}
}

bool rf_ctl_page_body(struct cursor *c, struct rf_ctl_reply *r)
{
	f8(c, &r->page);
	zero(c, 2);
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
	case RF_CTL_PAGE_HELD:
		body_held(c, &r->u.held);
		return true;
	default:
		return false;
	}
}
