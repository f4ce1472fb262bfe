/* What the firmware sees and sends: punted and held frames, tombstones, injected frames. */
#include <string.h>

#include "soft/internal.h"

/* A punted frame is counted here: docs/box.md, below the first table. */
void soft_punt(struct soft_box *b, unsigned int port, const struct soft_head *h)
{
	unsigned int k, here = 0, same = 0, arps = 0;
	bool arp = soft_is_arp(h->bytes);
	struct soft_punt *p;

	for (k = 0; k < b->punt_count; k++) {
		p = &b->punts[(b->punt_at + k) % SOFT_PUNTS];
		if (p->port != port)
			continue;
		here++;
		same += memcmp(p->bytes + 6, h->bytes + 6, 6) == 0;
		arps += soft_is_arp(p->bytes);
	}
	if (h->len > SOFT_PUNT_MAX || here >= SOFT_PUNT_PORT || (arp && arps)) {
		soft_count(b, port, RF_CNT_PUNT_FULL);
		return;
	}
	soft_count(b, port, RF_CNT_PUNTED);
	if (same >= SOFT_PUNT_SAME)
		return;
	p = &b->punts[(b->punt_at + b->punt_count++) % SOFT_PUNTS];
	p->port = port;
	p->len = h->len;
	memcpy(p->bytes, h->bytes, h->len);
	memset(p->bytes + h->len, 0, SOFT_PUNT_MAX - h->len);
}

static bool same_key(const struct soft_held *f, const struct soft_head *h)
{
	return f->valid && f->ip == h->dst_ip && f->qpn == h->qpn;
}

/* If nothing is shown, the next waiting frame is. */
static void show(struct soft_box *b)
{
	unsigned int k;

	for (k = 0; !b->held.valid && k < b->cfg.ports; k++) {
		unsigned int port = (b->held_turn + k) % b->cfg.ports;

		if (!b->held_wait[port].valid)
			continue;
		b->held = b->held_wait[port];
		b->held_wait[port].valid = false;
		b->held_turn = (port + 1) % b->cfg.ports;
	}
}

void soft_hold(struct soft_box *b, unsigned int port, const struct soft_head *h)
{
	struct soft_held *wait = &b->held_wait[port];

	if (same_key(&b->held, h) || same_key(wait, h))
		return;
	if (wait->valid) {
		b->held_missed = true;
		return;
	}
	*wait = (struct soft_held){true, port, h->dst_ip, h->src_ip, h->qpn};
	show(b);
}

void soft_held_pop(struct soft_box *b)
{
	b->held.valid = b->held_missed = false;
	show(b);
}

uint32_t soft_tombs(const struct soft_box *b)
{
	return 2u << b->cfg.hash_bits;
}

static struct soft_tomb *tomb(struct soft_box *b, uint32_t number)
{
	return &b->tombs[number % soft_tombs(b)];
}

/* A sign of life if it is the right sender and the ICRC is right. */
void soft_tomb_frame(struct soft_box *b, unsigned int port, const struct soft_head *h)
{
	struct soft_tomb *t = tomb(b, h->value & RF_HASH_VALUE_CID_MASK);

	if (!t->seen && (t->any || (t->port == port && t->src == h->src_ip)))
		t->seen = soft_icrc_right(h);
}

void soft_tomb_write(struct soft_box *b, uint32_t value)
{
	*tomb(b, value & RF_TOMB_WRITE_NUMBER_MASK) = (struct soft_tomb){
		b->tomb_src, (value & RF_TOMB_WRITE_PORT_MASK) >> RF_TOMB_WRITE_PORT_LSB,
		value & RF_TOMB_WRITE_ANY_MASK, false};
}

void soft_tomb_look(struct soft_box *b, uint32_t number)
{
	struct soft_tomb *t = tomb(b, number);

	b->tomb_seen = t->seen;
	t->seen = false;
}

/* Ignored while the port's last frame has not left, and if it is none of this box's. */
void soft_inject(struct soft_box *b, uint32_t value)
{
	uint32_t len = value & RF_INJECT_LENGTH_MASK;
	uint32_t port = (value & RF_INJECT_PORT_MASK) >> RF_INJECT_PORT_LSB;
	uint8_t *frame;

	if (len < 60 || len > SOFT_PUNT_MAX || port >= b->cfg.ports || b->inject_busy >> port & 1)
		return;
	b->inject_busy |= 1u << port;
	frame = soft_put(b, port, SOFT_INJECT, len, RF_CNT_TX_INJECT);
	memcpy(frame, b->inject[port], 6);
	memcpy(frame + 12, b->inject[port] + 12, len - 12);
}

void soft_inject_word(struct soft_box *b, uint32_t offset, uint32_t value)
{
	unsigned int port, k;

	for (port = 0; port < b->cfg.ports; port++)
		for (k = 0; k < 4 && !(b->inject_busy >> port & 1); k++)
			b->inject[port][offset + k] = (uint8_t)(value >> 8 * k);
}
