/* Field access for the control protocol's codec, used only by rf_ctl.c and rf_ctl_pages.c. */
#ifndef RF_CTL_CURSOR_H
#define RF_CTL_CURSOR_H

#include <string.h>

#include "proto/rf_bytes.h"
#include "proto/rf_ctl.h"

/*
 * A place in a message that is being read or written. One function per body does both, so the two
 * cannot disagree about the layout. A put never changes the struct that it reads from.
 */
struct rf_cursor {
	uint8_t *out;      /* writing: the next byte; else NULL */
	const uint8_t *in; /* reading */
	size_t left;
	bool short_; /* the bytes ran out */
	bool misfit; /* a value does not fit its field or array */
	uint8_t old; /* writing for a host of this older version; 0: of the present one */
};

static inline bool rf_cursor_take(struct rf_cursor *c, size_t n)
{
	if (c->short_ || c->left < n) {
		c->short_ = true;
		return false;
	}
	c->left -= n;
	return true;
}

static inline void rf_f8(struct rf_cursor *c, uint8_t *v)
{
	if (!rf_cursor_take(c, 1))
		return;
	if (c->out)
		*c->out++ = *v;
	else
		*v = *c->in++;
}

static inline void rf_f16(struct rf_cursor *c, uint16_t *v)
{
	if (!rf_cursor_take(c, 2))
		return;
	if (c->out) {
		rf_put_be16(c->out, *v);
		c->out += 2;
	} else {
		*v = rf_get_be16(c->in);
		c->in += 2;
	}
}

static inline void rf_f32(struct rf_cursor *c, uint32_t *v)
{
	if (!rf_cursor_take(c, 4))
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
static inline void rf_f24(struct rf_cursor *c, uint32_t *v)
{
	if (c->out && *v > 0xffffffu)
		c->misfit = true;
	rf_f32(c, v);
	if (!c->short_ && *v > 0xffffffu)
		c->misfit = true;
}

static inline void rf_f64(struct rf_cursor *c, uint64_t *v)
{
	if (!rf_cursor_take(c, 8))
		return;
	if (c->out) {
		rf_put_be64(c->out, *v);
		c->out += 8;
	} else {
		*v = rf_get_be64(c->in);
		c->in += 8;
	}
}

/* Reserved bytes: written as zero, ignored when read. */
static inline void rf_zero(struct rf_cursor *c, size_t n)
{
	if (!rf_cursor_take(c, n))
		return;
	if (c->out) {
		memset(c->out, 0, n);
		c->out += n;
	} else {
		c->in += n;
	}
}

static inline void rf_mac(struct rf_cursor *c, uint8_t *mac)
{
	for (unsigned int i = 0; i < RF_CTL_MAC_BYTES; i++)
		rf_f8(c, &mac[i]);
}

static inline void rf_mask(struct rf_cursor *c, uint8_t *m)
{
	if (!rf_cursor_take(c, RF_CTL_MASK_BYTES))
		return;
	if (c->out) {
		memcpy(c->out, m, RF_CTL_MASK_BYTES);
		c->out += RF_CTL_MASK_BYTES;
	} else {
		memcpy(m, c->in, RF_CTL_MASK_BYTES);
		c->in += RF_CTL_MASK_BYTES;
	}
}

/* A count of array entries; a count that is too large ends the body. */
static inline bool rf_count(struct rf_cursor *c, uint16_t *v, uint16_t max)
{
	rf_f16(c, v);
	if (!c->short_ && *v > max)
		c->misfit = true;
	return !c->short_ && !c->misfit;
}

/* The fields that FAILED and page GROUP have in common at their ends. */
static inline void rf_ctl_other_body(struct rf_cursor *c, struct rf_ctl_other *o)
{
	rf_f32(c, &o->box_ip);
	rf_f16(c, &o->rank);
	rf_f8(c, &o->what);
	rf_zero(c, 1);
	rf_f32(c, &o->value);
}

/* The body of a page of STATUS, from the page number on. False if the page is unknown. */
bool rf_ctl_page_body(struct rf_cursor *c, struct rf_ctl_reply *r);

#endif
