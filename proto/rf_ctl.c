#include "proto/rf_ctl.h"

#include <string.h>

#include "proto/rf_bytes.h"
#include "proto/rf_siphash.h"

#define TAG_OFFSET 48u

/*
 * A place in a message that is being read or written. One function per body does both, so the two
 * cannot disagree about the layout. A put never changes the struct that it reads from.
 */
struct cursor {
	uint8_t *out;      /* writing: the next byte; else NULL */
	const uint8_t *in; /* reading */
	size_t left;
	bool short_; /* the bytes ran out */
	bool misfit; /* a value that its field or array has no room for */
};

static bool take(struct cursor *c, size_t n)
{
	if (c->short_ || c->left < n) {
		c->short_ = true;
		return false;
	}
	c->left -= n;
	return true;
}

static void f8(struct cursor *c, uint8_t *v)
{
	if (!take(c, 1))
		return;
	if (c->out)
		*c->out++ = *v;
	else
		*v = *c->in++;
}

static void f16(struct cursor *c, uint16_t *v)
{
	if (!take(c, 2))
		return;
	if (c->out) {
		rf_put_be16(c->out, *v);
		c->out += 2;
	} else {
		*v = rf_get_be16(c->in);
		c->in += 2;
	}
}

static void f32(struct cursor *c, uint32_t *v)
{
	if (!take(c, 4))
		return;
	if (c->out) {
		rf_put_be32(c->out, *v);
		c->out += 4;
	} else {
		*v = rf_get_be32(c->in);
		c->in += 4;
	}
}

/* 24 bits in a field of 32. */
static void f24(struct cursor *c, uint32_t *v)
{
	if (c->out && *v > 0xffffffu)
		c->misfit = true;
	f32(c, v);
	if (!c->short_ && *v > 0xffffffu)
		c->misfit = true;
}

static void f64(struct cursor *c, uint64_t *v)
{
	if (!take(c, 8))
		return;
	if (c->out) {
		rf_put_be64(c->out, *v);
		c->out += 8;
	} else {
		*v = rf_get_be64(c->in);
		c->in += 8;
	}
}

/* Reserved bytes: written as zero, not looked at. */
static void zero(struct cursor *c, size_t n)
{
	if (!take(c, n))
		return;
	if (c->out) {
		memset(c->out, 0, n);
		c->out += n;
	} else {
		c->in += n;
	}
}

static void mask(struct cursor *c, uint8_t *m)
{
	if (!take(c, RF_CTL_MASK_BYTES))
		return;
	if (c->out) {
		memcpy(c->out, m, RF_CTL_MASK_BYTES);
		c->out += RF_CTL_MASK_BYTES;
	} else {
		memcpy(m, c->in, RF_CTL_MASK_BYTES);
		c->in += RF_CTL_MASK_BYTES;
	}
}

/* A count of array entries: a misfit ends the body. */
static bool count(struct cursor *c, uint16_t *v, uint16_t max)
{
	f16(c, v);
	if (!c->short_ && *v > max)
		c->misfit = true;
	return !c->short_ && !c->misfit;
}

static void body_join(struct cursor *c, struct rf_ctl_join *j)
{
	f16(c, &j->ranks);
	f8(c, &j->dtype);
	f8(c, &j->op);
	f8(c, &j->mtu_log2);
	f8(c, &j->slots_log2);
	f8(c, &j->slots_min_log2);
	f8(c, &j->port);
	f16(c, &j->flags);
	zero(c, 2);
	f32(c, &j->src_ip);
	f24(c, &j->qpn);
	f32(c, &j->peer_ip);
	f24(c, &j->peer_qpn);
	f24(c, &j->start_psn);
	f24(c, &j->shift);
	f32(c, &j->lease_ms);
	f32(c, &j->deadline_ms);
}

static void body_abort(struct cursor *c, struct rf_ctl_abort_req *a)
{
	f32(c, &a->code);
	f16(c, &a->group);
	zero(c, 2);
	f64(c, &a->job);
}

static void body_status(struct cursor *c, struct rf_ctl_status_req *s)
{
	f8(c, &s->page);
	zero(c, 1);
	f16(c, &s->index);
	f16(c, &s->group);
	zero(c, 2);
	f64(c, &s->job);
}

static void body_waiting(struct cursor *c, struct rf_ctl_waiting *w)
{
	zero(c, 1);
	count(c, &w->ranks, RF_CTL_RANKS_MAX);
	f16(c, &w->joined);
	zero(c, 2);
	f32(c, &w->remaining_ms);
	mask(c, w->missing);
}

static void body_ready(struct cursor *c, struct rf_ctl_ready *r)
{
	f8(c, &r->slots_log2);
	if (!count(c, &r->ranks, RF_CTL_RANKS_MAX))
		return;
	f16(c, &r->window);
	f8(c, &r->level);
	f8(c, &r->base_port);
	f8(c, &r->lanes);
	f8(c, &r->hw_group);
	zero(c, 2);
	f32(c, &r->dbase);
	f32(c, &r->hbase);
	f32(c, &r->lease_ms);
	for (unsigned int i = 0; i < r->ranks; i++) {
		f8(c, &r->place[i].port);
		f8(c, &r->place[i].lane);
		if (c->short_)
			return;
		if (r->place[i].port >= RF_CTL_PORTS_MAX || r->place[i].lane >= RF_CTL_LANES_MAX)
			c->misfit = true;
	}
}

static void body_failed(struct cursor *c, struct rf_ctl_failed *f)
{
	f8(c, &f->reason);
	f16(c, &f->rank);
	f32(c, &f->index);
	f32(c, &f->detail);
	mask(c, f->missing);
}

static void body_draining(struct cursor *c, struct rf_ctl_draining *d)
{
	zero(c, 1);
	count(c, &d->ranks, RF_CTL_RANKS_MAX);
	f16(c, &d->left);
	zero(c, 2);
	mask(c, d->missing);
}

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

static bool body_page(struct cursor *c, struct rf_ctl_reply *r)
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
	default:
		return false;
	}
}

/* False where the result is not known. */
static bool body_reply(struct cursor *c, struct rf_ctl_reply *r)
{
	f8(c, &r->result);
	switch (r->result) {
	case RF_CTL_WAITING:
		body_waiting(c, &r->u.waiting);
		return true;
	case RF_CTL_READY:
		body_ready(c, &r->u.ready);
		return true;
	case RF_CTL_FAILED:
		body_failed(c, &r->u.failed);
		return true;
	case RF_CTL_DRAINING:
	case RF_CTL_ENDED:
		body_draining(c, &r->u.draining);
		return true;
	case RF_CTL_OK:
		zero(c, 3);
		return true;
	case RF_CTL_PAGE:
		return body_page(c, r);
	default:
		return false;
	}
}

static bool body_request(struct cursor *c, uint8_t verb, struct rf_ctl_request *r)
{
	switch (verb) {
	case RF_CTL_JOIN:
		body_join(c, &r->u.join);
		return true;
	case RF_CTL_ABORT:
		body_abort(c, &r->u.abort);
		return true;
	case RF_CTL_STATUS:
		body_status(c, &r->u.status);
		return true;
	case RF_CTL_LEAVE:
	case RF_CTL_RESET:
		return true;
	default:
		return false;
	}
}

/* The SipHash of the message with zero in the tag's place. */
static uint64_t tag_of(const uint8_t *buf, size_t len, const uint8_t *key)
{
	return rf_siphash_hole(key, buf, len, TAG_OFFSET);
}

static size_t finish(uint8_t *buf, const struct cursor *c, const struct rf_ctl_header *h,
		     const uint8_t *key)
{
	size_t len = RF_CTL_MESSAGE_MAX - c->left;

	if (c->short_ || c->misfit)
		return 0;
	rf_put_be32(buf, RF_CTL_MAGIC);
	buf[4] = RF_CTL_VERSION;
	buf[5] = h->verb;
	rf_put_be16(buf + 6, h->flags);
	rf_put_be16(buf + 8, (uint16_t)len);
	rf_put_be16(buf + 10, h->group);
	rf_put_be64(buf + 12, h->job);
	rf_put_be16(buf + 20, h->rank);
	rf_put_be16(buf + 22, 0);
	rf_put_be32(buf + 24, h->epoch);
	rf_put_be32(buf + 28, h->seq);
	rf_put_be64(buf + 32, h->token);
	rf_put_be64(buf + 40, h->nonce);
	rf_put_le64(buf + TAG_OFFSET, 0);
	if (key)
		rf_put_le64(buf + TAG_OFFSET, tag_of(buf, len, key));
	return len;
}

static struct cursor writer(uint8_t *buf)
{
	struct cursor c = {.out = buf + RF_CTL_HEADER, .left = RF_CTL_MESSAGE_MAX - RF_CTL_HEADER};

	return c;
}

static struct cursor reader(const uint8_t *buf, const struct rf_ctl_header *h)
{
	struct cursor c = {.in = buf + RF_CTL_HEADER, .left = h->length - RF_CTL_HEADER};

	return c;
}

static enum rf_ctl_reason verdict(const struct cursor *c)
{
	if (c->misfit)
		return RF_CTL_R_FIELD;
	return c->short_ ? RF_CTL_R_TRUNCATED : RF_CTL_R_NONE;
}

size_t rf_ctl_request_put(uint8_t *buf, const struct rf_ctl_header *h,
			  const struct rf_ctl_request *r, const uint8_t key[RF_CTL_KEY_BYTES])
{
	struct cursor c = writer(buf);

	if (!body_request(&c, h->verb, (struct rf_ctl_request *)(uintptr_t)r))
		return 0;
	return finish(buf, &c, h, key);
}

size_t rf_ctl_reply_put(uint8_t *buf, const struct rf_ctl_header *h, const struct rf_ctl_reply *r,
			const uint8_t key[RF_CTL_KEY_BYTES])
{
	struct cursor c = writer(buf);

	if (!body_reply(&c, (struct rf_ctl_reply *)(uintptr_t)r))
		return 0;
	return finish(buf, &c, h, key);
}

int rf_ctl_header_get(const uint8_t *buf, size_t len, struct rf_ctl_header *h)
{
	memset(h, 0, sizeof(*h));
	if (len < 4u || rf_get_be32(buf) != RF_CTL_MAGIC)
		return -1;
	if (len < RF_CTL_HEADER)
		return RF_CTL_R_TRUNCATED;
	h->verb = buf[5];
	h->flags = rf_get_be16(buf + 6);
	h->length = rf_get_be16(buf + 8);
	h->group = rf_get_be16(buf + 10);
	h->job = rf_get_be64(buf + 12);
	h->rank = rf_get_be16(buf + 20);
	h->epoch = rf_get_be32(buf + 24);
	h->seq = rf_get_be32(buf + 28);
	h->token = rf_get_be64(buf + 32);
	h->nonce = rf_get_be64(buf + 40);
	h->tag = rf_get_le64(buf + TAG_OFFSET);
	if (buf[4] != RF_CTL_VERSION)
		return RF_CTL_R_VERSION;
	if (h->length != len || len > RF_CTL_MESSAGE_MAX)
		return RF_CTL_R_TRUNCATED;
	return 0;
}

bool rf_ctl_tag_ok(const uint8_t *buf, const struct rf_ctl_header *h,
		   const uint8_t key[RF_CTL_KEY_BYTES])
{
	if (h->length < RF_CTL_HEADER || h->length > RF_CTL_MESSAGE_MAX)
		return false;
	return rf_siphash_equal(tag_of(buf, h->length, key), h->tag) != 0;
}

enum rf_ctl_reason rf_ctl_request_get(const uint8_t *buf, const struct rf_ctl_header *h,
				      struct rf_ctl_request *r)
{
	struct cursor c = reader(buf, h);

	memset(r, 0, sizeof(*r));
	if (!body_request(&c, h->verb, r))
		return RF_CTL_R_VERB;
	return verdict(&c);
}

enum rf_ctl_reason rf_ctl_reply_get(const uint8_t *buf, const struct rf_ctl_header *h,
				    struct rf_ctl_reply *r)
{
	struct cursor c = reader(buf, h);

	memset(r, 0, sizeof(*r));
	if (!body_reply(&c, r))
		return c.short_ ? RF_CTL_R_TRUNCATED : RF_CTL_R_VERB;
	return verdict(&c);
}
