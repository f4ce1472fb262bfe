#include "proto/rf_ctl.h"

#include <string.h>

#include "proto/rf_bytes.h"
#include "proto/rf_ctl_cursor.h"
#include "proto/rf_siphash.h"

#define TAG_OFFSET 48u
#define ABORT_ERROR 24u /* bytes of an error that a box reports with ABORT */

/* The boxes above one. Of a chain that is too long only the first entries are read. */
static void body_chain(struct rf_cursor *c, struct rf_ctl_join *j)
{
	rf_f8(c, &j->above);
	rf_zero(c, 3);
	for (unsigned int i = 0; !c->short_ && i < j->above && i < RF_CTL_CHAIN_MAX; i++) {
		rf_f32(c, &j->up[i].ip);
		rf_f16(c, &j->up[i].rank);
		rf_f16(c, &j->up[i].ranks);
		rf_f8(c, &j->up[i].port);
		rf_zero(c, 3);
	}
}

static void body_join(struct rf_cursor *c, struct rf_ctl_join *j)
{
	rf_f16(c, &j->ranks);
	rf_f8(c, &j->dtype);
	rf_f8(c, &j->op);
	rf_f8(c, &j->mtu_log2);
	rf_f8(c, &j->slots_log2);
	rf_f8(c, &j->slots_min_log2);
	rf_f8(c, &j->port);
	rf_f16(c, &j->flags);
	rf_f8(c, &j->family);
	rf_zero(c, 1);
	rf_f32(c, &j->src_ip);
	rf_f24(c, &j->qpn);
	rf_f32(c, &j->peer_ip);
	rf_f24(c, &j->peer_qpn);
	rf_f24(c, &j->start_psn);
	rf_f24(c, &j->shift);
	rf_f32(c, &j->lease_ms);
	rf_f32(c, &j->deadline_ms);
	if (!c->short_ && (j->flags & RF_CTL_J_UPLINK))
		body_chain(c, j);
}

static void body_abort(struct rf_cursor *c, struct rf_ctl_abort_req *a)
{
	rf_f32(c, &a->code);
	rf_f16(c, &a->group);
	rf_zero(c, 2);
	rf_f64(c, &a->job);
	/* Only a box has more to tell. */
	if (c->out ? a->reason == RF_CTL_R_NONE : c->left < ABORT_ERROR)
		return;
	rf_f8(c, &a->reason);
	rf_zero(c, 1);
	rf_f16(c, &a->rank);
	rf_f32(c, &a->index);
	rf_f32(c, &a->detail);
	rf_ctl_other_body(c, &a->other);
}

static void body_release(struct rf_cursor *c, struct rf_ctl_release *r)
{
	rf_f32(c, &r->ip);
	rf_f24(c, &r->qpn);
}

static void body_status(struct rf_cursor *c, struct rf_ctl_status_req *s)
{
	rf_f8(c, &s->page);
	rf_zero(c, 1);
	rf_f16(c, &s->index);
	rf_f16(c, &s->group);
	rf_zero(c, 2);
	rf_f64(c, &s->job);
}

static void body_waiting(struct rf_cursor *c, struct rf_ctl_waiting *w)
{
	rf_zero(c, 1);
	rf_count(c, &w->ranks, RF_CTL_RANKS_MAX);
	rf_f16(c, &w->joined);
	rf_zero(c, 2);
	rf_f32(c, &w->remaining_ms);
	rf_mask(c, w->missing);
	rf_f32(c, &w->port_ip);
	/* A box without uplinks ends here. */
	if (c->out || c->left >= 4u)
		rf_f32(c, &w->box_ip);
}

static void body_ready(struct rf_cursor *c, struct rf_ctl_ready *r)
{
	rf_f8(c, &r->slots_log2);
	if (!rf_count(c, &r->ranks, RF_CTL_RANKS_MAX))
		return;
	rf_f16(c, &r->window);
	rf_f8(c, &r->level);
	rf_f8(c, &r->base_port);
	rf_f8(c, &r->lanes);
	rf_f8(c, &r->hw_group);
	rf_zero(c, 2);
	rf_f32(c, &r->dbase);
	rf_f32(c, &r->hbase);
	rf_f32(c, &r->lease_ms);
	rf_f32(c, &r->port_ip);
	for (unsigned int i = 0; i < r->ranks; i++) {
		rf_f8(c, &r->place[i].port);
		rf_f8(c, &r->place[i].lane);
		if (c->short_)
			return;
		if (r->place[i].port >= RF_CTL_PORTS_MAX || r->place[i].lane >= RF_CTL_LANES_MAX)
			c->misfit = true;
	}
}

static void body_failed(struct rf_cursor *c, struct rf_ctl_failed *f)
{
	rf_f8(c, &f->reason);
	rf_f16(c, &f->rank);
	rf_f32(c, &f->index);
	rf_f32(c, &f->detail);
	rf_mask(c, f->missing);
	if (!c->old)
		rf_ctl_other_body(c, &f->other);
}

static void body_draining(struct rf_cursor *c, struct rf_ctl_draining *d)
{
	rf_zero(c, 1);
	rf_count(c, &d->ranks, RF_CTL_RANKS_MAX);
	rf_f16(c, &d->left);
	rf_zero(c, 2);
	rf_mask(c, d->missing);
}

/* False if the result is unknown. */
static bool body_reply(struct rf_cursor *c, struct rf_ctl_reply *r)
{
	rf_f8(c, &r->result);
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
		rf_zero(c, 3);
		return true;
	case RF_CTL_PAGE:
		return rf_ctl_page_body(c, r);
	default:
		return false;
	}
}

static bool body_request(struct rf_cursor *c, uint8_t verb, struct rf_ctl_request *r)
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
	case RF_CTL_RELEASE:
		body_release(c, &r->u.release);
		return true;
	case RF_CTL_LEAVE:
	case RF_CTL_RESET:
		return true;
	default:
		return false;
	}
}

/* The SipHash of the message with the tag field set to zero. */
static uint64_t tag_of(const uint8_t *buf, size_t len, const uint8_t *key)
{
	return rf_siphash_hole(key, buf, len, TAG_OFFSET);
}

static size_t finish(uint8_t *buf, const struct rf_cursor *c, const struct rf_ctl_header *h,
		     const uint8_t *key)
{
	size_t len = RF_CTL_MESSAGE_MAX - c->left;

	if (c->short_ || c->misfit)
		return 0;
	rf_put_be32(buf, RF_CTL_MAGIC);
	buf[4] = c->old ? c->old : RF_CTL_VERSION;
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

static struct rf_cursor writer(uint8_t *buf)
{
	struct rf_cursor c = {.out = buf + RF_CTL_HEADER,
			      .left = RF_CTL_MESSAGE_MAX - RF_CTL_HEADER};

	return c;
}

static struct rf_cursor reader(const uint8_t *buf, const struct rf_ctl_header *h)
{
	struct rf_cursor c = {.in = buf + RF_CTL_HEADER, .left = h->length - RF_CTL_HEADER};

	return c;
}

static enum rf_ctl_reason verdict(const struct rf_cursor *c)
{
	if (c->misfit)
		return RF_CTL_R_FIELD;
	return c->short_ ? RF_CTL_R_TRUNCATED : RF_CTL_R_NONE;
}

/* Pages that a rank gets only as a member, whose requests work only once. */
static bool about_group(unsigned int page)
{
	return page == RF_CTL_PAGE_GROUP || page == RF_CTL_PAGE_RANKS || page == RF_CTL_PAGE_LAG ||
	       page == RF_CTL_PAGE_TREE;
}

/* The box gives a stranger no answer that is longer than the request. */
static void pad(struct rf_cursor *c, size_t length)
{
	while (!c->short_ && RF_CTL_MESSAGE_MAX - c->left < length)
		rf_zero(c, 1);
}

size_t rf_ctl_request_put(uint8_t *buf, const struct rf_ctl_header *h,
			  const struct rf_ctl_request *r, const uint8_t key[RF_CTL_KEY_BYTES])
{
	struct rf_cursor c = writer(buf);

	if (!body_request(&c, h->verb, (struct rf_ctl_request *)(uintptr_t)r))
		return 0;
	if (h->verb == RF_CTL_STATUS &&
	    (h->rank == RF_CTL_NO_RANK || !about_group(r->u.status.page)))
		pad(&c, rf_ctl_page_max(r->u.status.page));
	return finish(buf, &c, h, key);
}

size_t rf_ctl_reply_put(uint8_t *buf, const struct rf_ctl_header *h, const struct rf_ctl_reply *r,
			const uint8_t key[RF_CTL_KEY_BYTES])
{
	struct rf_cursor c = writer(buf);

	if (h->version <= RF_CTL_VERSION_OLD)
		c.old = h->version;
	if (c.old && r->result != RF_CTL_FAILED)
		return 0;
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
	h->version = buf[4];
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
	struct rf_cursor c = reader(buf, h);

	memset(r, 0, sizeof(*r));
	if (!body_request(&c, h->verb, r))
		return RF_CTL_R_VERB;
	return verdict(&c);
}

enum rf_ctl_reason rf_ctl_reply_get(const uint8_t *buf, const struct rf_ctl_header *h,
				    struct rf_ctl_reply *r)
{
	struct rf_cursor c = reader(buf, h);

	memset(r, 0, sizeof(*r));
	if (!body_reply(&c, r))
		return c.short_ ? RF_CTL_R_TRUNCATED : RF_CTL_R_VERB;
	return verdict(&c);
}
