/* What waits at a port, and in which order it leaves. */
#include <string.h>

#include "soft/internal.h"

#define RESULT_SHARE 8u /* at most this many results before a frame of the firmware */

static uint32_t units(size_t bytes)
{
	return (uint32_t)((bytes + SOFT_UNIT - 1) / SOFT_UNIT);
}

static uint32_t longest(const struct soft_box *b, enum soft_kind kind)
{
	return kind == SOFT_ACK      ? 2
	       : kind == SOFT_INJECT ? units(SOFT_PUNT_MAX)
				     : units(b->cfg.mtu_max + SOFT_AROUND);
}

/* Units of frames that may wait. */
static uint32_t limit(const struct soft_box *b, enum soft_kind kind)
{
	uint32_t foreign = 1;

	switch (kind) {
	case SOFT_RESULT:
		return SOFT_RESULTS * longest(b, kind);
	case SOFT_ACK:
		return SOFT_ACKS * longest(b, kind);
	case SOFT_FOREIGN:
		while (foreign < 2 * (b->cfg.mtu_max + SOFT_AROUND + SOFT_UNIT) / SOFT_UNIT)
			foreign *= 2;
		return foreign;
	default:
		return longest(b, kind);
	}
}

/* Two frames more than may wait: one does not fit at the end, one not at the beginning. */
static uint32_t ring(const struct soft_box *b, enum soft_kind kind)
{
	return limit(b, kind) + 2 * longest(b, kind);
}

size_t soft_queues_size(const struct soft_box *b)
{
	size_t size = 0;
	unsigned int kind;

	for (kind = 0; kind < SOFT_KINDS; kind++)
		size += (size_t)ring(b, (enum soft_kind)kind) * SOFT_UNIT;
	return size;
}

void soft_queues_init(struct soft_box *b, unsigned int port, uint8_t *memory)
{
	unsigned int kind;

	for (kind = 0; kind < SOFT_KINDS; kind++) {
		struct soft_queue *q = &b->ports[port].out[kind];

		q->mem = memory;
		q->size = ring(b, (enum soft_kind)kind);
		memory += (size_t)q->size * SOFT_UNIT;
	}
}

bool soft_foreign_room(const struct soft_box *b, unsigned int port, size_t len)
{
	const struct soft_queue *q = &b->ports[port].out[SOFT_FOREIGN];

	return q->used + units(len) <= limit(b, SOFT_FOREIGN) && soft_frames(q) < SOFT_ENTRIES;
}

uint8_t *soft_put(struct soft_box *b, unsigned int port, enum soft_kind kind, size_t len,
		  unsigned int counter)
{
	struct soft_queue *q = &b->ports[port].out[kind];
	unsigned int k = q->last++ % SOFT_ENTRIES;
	uint32_t n = units(len);
	uint8_t *frame;

	/* From the beginning if nothing waits: the same memory again and again is in the cache. */
	if (q->used == 0 || q->at + n > q->size)
		q->at = 0;
	frame = q->mem + (size_t)q->at * SOFT_UNIT;
	q->entry[k].at = q->at;
	q->entry[k].len = (uint32_t)len;
	q->entry[k].counter = (uint8_t)counter;
	q->at += n;
	q->used += n;
	soft_put_mac(frame + 6, (b->mac + port) & SOFT_MAC_MASK);
	return frame;
}

static bool waits(const struct soft_port *p, enum soft_kind kind)
{
	return p->out[kind].taken != p->out[kind].last;
}

unsigned int soft_waiting(const struct soft_box *b)
{
	unsigned int port, mask = 0;

	for (port = 0; port < b->cfg.ports; port++) {
		const struct soft_port *p = &b->ports[port];

		if (waits(p, SOFT_RESULT) || waits(p, SOFT_ACK) || waits(p, SOFT_FOREIGN) ||
		    waits(p, SOFT_INJECT))
			mask |= 1u << port;
	}
	return mask;
}

/*
 * Results first; after each of them an ACK, after some a frame of the firmware, foreign frames as
 * their share allows. Without results the others take turns. SOFT_KINDS: nothing waits.
 */
static enum soft_kind choose(const struct soft_box *b, const struct soft_port *p)
{
	unsigned int k;

	if (waits(p, SOFT_RESULT)) {
		if (waits(p, SOFT_INJECT) && p->results >= RESULT_SHARE)
			return SOFT_INJECT;
		if (waits(p, SOFT_ACK) && p->ack_turn)
			return SOFT_ACK;
		if (waits(p, SOFT_FOREIGN) && b->tx_share && p->credit >= 0)
			return SOFT_FOREIGN;
		return SOFT_RESULT;
	}
	for (k = 0; k < SOFT_KINDS - 1; k++) {
		unsigned int kind = SOFT_ACK + (p->turn + k) % (SOFT_KINDS - 1);

		if (waits(p, (enum soft_kind)kind))
			return (enum soft_kind)kind;
	}
	return SOFT_KINDS;
}

/* What a frame that leaves means for those that wait. */
static void charge(const struct soft_box *b, struct soft_port *p, enum soft_kind kind, uint32_t n)
{
	int share = (int)b->tx_share;

	if (kind == SOFT_RESULT || kind == SOFT_ACK)
		p->credit += (int)n * share;
	else if (kind == SOFT_FOREIGN && waits(p, SOFT_RESULT))
		p->credit -= (int)n * (16 - share);
	if (p->credit > 0 && !waits(p, SOFT_FOREIGN))
		p->credit = 0;
	p->ack_turn = kind == SOFT_RESULT || (p->ack_turn && kind != SOFT_ACK);
	if (kind == SOFT_RESULT)
		p->results = waits(p, SOFT_INJECT) ? p->results + 1 : 0;
	else
		p->turn = (unsigned int)kind - SOFT_ACK + 1;
	if (kind == SOFT_INJECT)
		p->results = 0;
}

unsigned int soft_take(struct soft_box *b, unsigned int port, struct soft_out *out,
		       unsigned int most)
{
	struct soft_port *p = &b->ports[port];
	unsigned int n = 0;

	while (n < most) {
		enum soft_kind kind = choose(b, p);
		struct soft_queue *q;
		unsigned int k;

		if (kind == SOFT_KINDS)
			break;
		q = &p->out[kind];
		k = q->taken++ % SOFT_ENTRIES;
		out[n].bytes = q->mem + (size_t)q->entry[k].at * SOFT_UNIT;
		out[n++].len = q->entry[k].len;
		charge(b, p, kind, units(q->entry[k].len));
		p->counters[RF_CNT_TX_FRAMES]++;
		p->counters[q->entry[k].counter]++;
	}
	return n;
}

void soft_release(struct soft_box *b, unsigned int port)
{
	unsigned int kind;

	for (kind = 0; kind < SOFT_KINDS; kind++) {
		struct soft_queue *q = &b->ports[port].out[kind];

		for (; q->first != q->taken; q->first++) {
			q->used -= units(q->entry[q->first % SOFT_ENTRIES].len);
			if (kind == SOFT_INJECT)
				b->inject_busy &= ~(1u << port);
		}
	}
}

unsigned int soft_lose(struct soft_box *b, unsigned int port)
{
	struct soft_port *p = &b->ports[port];
	unsigned int kind, n = 0;

	for (kind = 0; kind < SOFT_KINDS; kind++) {
		struct soft_queue *q = &p->out[kind];

		for (; q->taken != q->last; q->taken++, n++) {
			p->counters[RF_CNT_TX_DOWN]++;
			p->counters[q->entry[q->taken % SOFT_ENTRIES].counter]++;
		}
	}
	soft_release(b, port);
	return n;
}
