/* Transmit side: packets made from slots, ACKs, raw frames; the order and pace of each port. */
#include <stdlib.h>
#include <string.h>

#include "proto/rf_bytes.h"
#include "sim/model/internal.h"

/* Makes sure that the port is processed in a cycle. */
static void look(struct rf_engine *e, unsigned int port, uint64_t cycle)
{
	struct model_port *p = &e->ports[port];

	if (cycle < p->tx_free)
		cycle = p->tx_free;
	if (cycle < e->now)
		cycle = e->now;
	if (p->tx_due && p->tx_when <= cycle)
		return;
	p->tx_due = true;
	p->tx_when = cycle;
	model_event_add(e, cycle, MODEL_EV_SEND, port);
}

/* Queues a frame; its `ready` is set. The port's MAC becomes its source. */
void model_send(struct rf_engine *e, unsigned int port, enum model_source src,
		struct model_frame *f)
{
	model_set_mac(f->bytes + 6, model_port_mac(e, port));
	model_queue_put(e, &e->ports[port].out[src], f);
	look(e, port, f->ready);
}

static bool waits(const struct rf_engine *e, const struct model_port *p, enum model_source src)
{
	return p->out[src].head && p->out[src].head->ready <= e->now;
}

/*
 * Selects the queue that sends next; MODEL_SRC_COUNT if none. Results first, an ACK after each of
 * them, a frame of the firmware after a number of results, foreign frames as their share of the
 * beats allows.
 */
static enum model_source choose(const struct rf_engine *e, const struct model_port *p)
{
	bool result = waits(e, p, MODEL_SRC_RESULT);
	bool ack_first = p->ack_turn && waits(e, p, MODEL_SRC_ACK);
	bool may[MODEL_SRC_COUNT] = {
		[MODEL_SRC_FOREIGN] = !result || (e->tx_share != 0 && p->credit >= 0 && !ack_first),
		[MODEL_SRC_INJECT] = !result || p->results_in_row >= MODEL_RESULT_SHARE,
	};
	unsigned int k;

	may[MODEL_SRC_ACK] = !result || (p->ack_turn &&
					 !(may[MODEL_SRC_INJECT] && waits(e, p, MODEL_SRC_INJECT)));

	for (k = 0; k < MODEL_SRC_COUNT - 1; k++) {
		unsigned int src = MODEL_SRC_ACK + (p->turn + k) % (MODEL_SRC_COUNT - 1);

		if (may[src] && waits(e, p, (enum model_source)src))
			return (enum model_source)src;
	}
	return result ? MODEL_SRC_RESULT : MODEL_SRC_COUNT;
}

/* Cycle in which the next frame of the port is ready; RF_ENGINE_NEVER if nothing waits. */
static uint64_t next_ready(const struct model_port *p)
{
	uint64_t when = RF_ENGINE_NEVER;
	unsigned int k;

	for (k = 0; k < MODEL_SRC_COUNT; k++) {
		if (p->out[k].head && p->out[k].head->ready < when)
			when = p->out[k].head->ready;
	}
	return when;
}

/* Credit that a frame sent now adds for foreign frames, or that it costs if a result waits. */
static void charge(const struct rf_engine *e, struct model_port *p, enum model_source src,
		   unsigned int beats)
{
	int share = (int)e->tx_share, n = (int)beats;

	if (src == MODEL_SRC_FOREIGN && waits(e, p, MODEL_SRC_RESULT))
		p->credit -= n * (16 - share);
	else if (src == MODEL_SRC_RESULT || src == MODEL_SRC_ACK)
		p->credit += n * share;
	if (p->credit > 0 && !waits(e, p, MODEL_SRC_FOREIGN))
		p->credit = 0;
}

/* The first beat of a frame leaves now. */
static void begin(struct rf_engine *e, unsigned int port, struct model_frame *f)
{
	struct model_port *p = &e->ports[port];

	f->first = e->now;
	f->last = e->now + model_beats(e, f->len) - 1;
	p->sending = f;
	p->tx_free = f->last + 1;
	model_event_add(e, f->last, MODEL_EV_LEFT, port);
}

/* The MAC takes a beat in this cycle, in which one is offered. */
static bool mac_takes(struct rf_engine *e, unsigned int port)
{
	struct model_port *p = &e->ports[port];

	if (!e->host.tx_ready || e->host.tx_ready(e->host.arg, port, e->now)) {
		p->tx_waits = false;
		return true;
	}
	if (!p->tx_waits)
		p->tx_refused = e->now;
	p->tx_waits = true;
	return false;
}

/*
 * The link is down: the next frame is discarded, but the MAC is still offered the beat that it
 * did not take. If that beat is a whole frame, it leaves when the link is up again.
 */
static void discard(struct rf_engine *e, unsigned int port, enum model_source src)
{
	struct model_port *p = &e->ports[port];
	struct model_frame *f = model_queue_get(e, &p->out[src]);
	unsigned int beats = model_beats(e, f->len);
	bool offer = !p->offered;

	if (f->counter == RF_CNT_TX_INJECT)
		e->inject_busy &= ~(1u << port);
	if (src == MODEL_SRC_RESULT)
		model_schedule_soon(e, e->now);
	p->tx_free = e->now + beats;
	if (!offer || beats > 1) {
		model_count(e, port, RF_CNT_TX_DOWN);
		model_count(e, port, f->counter);
	}
	if (offer)
		p->offered = f;
	else
		free(f);
	look(e, port, p->tx_free);
}

/* The link is up again: a frame of one beat leaves; a longer frame gets an end that marks it bad.
 */
static void link_back(struct rf_engine *e, unsigned int port)
{
	struct model_port *p = &e->ports[port];
	struct model_frame *f = p->offered;

	p->offered = NULL;
	if (model_beats(e, f->len) == 1) {
		begin(e, port, f);
		return;
	}
	free(f);
	p->tx_free = e->now + 2;
	look(e, port, p->tx_free);
}

/* Begins to send a frame, if one is ready and the MAC takes it. */
void model_send_step(struct rf_engine *e, unsigned int port)
{
	struct model_port *p = &e->ports[port];
	struct model_frame *f;
	enum model_source src;
	bool takes;

	if (p->tx_when == e->now)
		p->tx_due = false;
	if (p->sending || e->now < p->tx_free)
		return;
	src = choose(e, p);
	takes = (src != MODEL_SRC_COUNT || p->offered) && mac_takes(e, port);
	if (takes && p->offered) {
		link_back(e, port);
		return;
	}
	if (src == MODEL_SRC_COUNT) {
		uint64_t when = p->offered ? e->now + 1 : next_ready(p);

		if (when != RF_ENGINE_NEVER)
			look(e, port, when);
		return;
	}
	if (!takes) {
		if (p->offered || e->now - p->tx_refused >= e->cfg.clock_khz)
			discard(e, port, src);
		else
			look(e, port, e->now + 1);
		return;
	}
	f = model_queue_get(e, &p->out[src]);
	charge(e, p, src, model_beats(e, f->len));
	if (src == MODEL_SRC_RESULT) {
		p->results_in_row = waits(e, p, MODEL_SRC_INJECT) ? p->results_in_row + 1 : 0;
		p->ack_turn = true;
		model_schedule_soon(e, e->now);
	} else {
		if (src == MODEL_SRC_ACK)
			p->ack_turn = false;
		else if (src == MODEL_SRC_INJECT)
			p->results_in_row = 0;
		p->turn = (unsigned int)src - MODEL_SRC_ACK + 1;
	}
	begin(e, port, f);
}

/* The last beat has left. */
void model_send_left(struct rf_engine *e, unsigned int port)
{
	struct model_port *p = &e->ports[port];
	struct model_frame *f = p->sending;

	p->sending = NULL;
	e->left = true;
	model_count(e, port, RF_CNT_TX_FRAMES);
	model_count(e, port, f->counter);
	if (f->counter == RF_CNT_TX_INJECT)
		e->inject_busy &= ~(1u << port);
	if (next_ready(p) != RF_ENGINE_NEVER)
		look(e, port, next_ready(p));
	if (e->host.tx)
		e->host.tx(e->host.arg, port, f->bytes, f->len, f->first, f->last);
	free(f);
}

/*
 * Results wait in 8 x MTU_MAX bytes, each in a space of one path MTU, and in a number of headers.
 * The result being sent has its own space (rf_egress).
 */
bool model_result_room(const struct rf_engine *e, unsigned int port, const struct model_group *g,
		       unsigned int frames)
{
	unsigned int headers = e->cfg.lanes > 8 ? 64 : e->cfg.lanes > 4 ? 32 : 16;
	unsigned int passes = 8 * e->cfg.mtu_max >> MODEL_GROUP_FIELD(g, MTU_LOG2);
	unsigned int most = passes * MODEL_GROUP_FIELD(g, LANES);

	return e->ports[port].out[MODEL_SRC_RESULT].frames + e->ports[port].ups + frames <=
	       (most < headers ? most : headers);
}

/* UDP checksum 0 and the ICRC, after all other fields. */
void model_seal(struct model_frame *f, unsigned int l2, unsigned int ip_length)
{
	rf_put_be16(f->bytes + l2 + 26, 0);
	rf_put_le32(f->bytes + l2 + ip_length - 4, model_icrc(f->bytes, l2, ip_length));
}

/* A mirror connection: the packet goes back to the host that sent it. */
static void turn_back(const struct model_conn *c, struct model_frame *f, unsigned int l2)
{
	uint8_t *ip = f->bytes + l2;
	uint32_t src = rf_get_be32(ip + 12);

	model_set_mac(f->bytes, c->mac);
	rf_put_be32(ip + 12, rf_get_be32(ip + 16));
	rf_put_be32(ip + 16, src);
	ip[8] = 64;
	rf_put_be16(ip + 10, model_ip_checksum(ip));
}

/* A directed group: lengths and pad are those of what is sent, and a mark may be added. */
static void fit(const struct rf_engine *e, struct model_frame *f, unsigned int l2, unsigned int pad,
		bool mark)
{
	uint8_t *ip = f->bytes + l2;

	if (mark && (ip[1] & 3))
		ip[1] |= 3;
	rf_put_be16(ip + 2, (uint16_t)(f->len - l2));
	rf_put_be16(ip + 24, (uint16_t)(f->len - l2 - 20));
	if (e->mutant != RF_MODEL_MUTANT_PAD_KEPT)
		ip[29] = (uint8_t)((ip[29] & 0xcf) | pad << 4);
	rf_put_be16(ip + 10, model_ip_checksum(ip));
}

void model_send_result(struct rf_engine *e, const struct model_repeat *r,
		       const struct model_pass *pass, bool mark, uint64_t ready)
{
	const struct model_slot *s = model_slot_at(e, r->cid, r->index);
	const struct model_group *g = &e->groups[model_cid_group(r->cid)];
	const struct model_conn *c = &e->conns[r->cid];
	uint32_t eighth = (1u << MODEL_GROUP_FIELD(g, S_LOG2)) / 8;
	bool wants = s->wants || e->mutant == RF_MODEL_MUTANT_WANTS;
	unsigned int plen = wants ? pass->plen : 0;
	size_t len = (size_t)s->hlen + plen + 4;
	unsigned int l2 = rf_get_be16(s->bytes + 12) == 0x8100 ? 18 : 14;
	struct model_frame *f = model_frame_new(NULL, len, len);
	uint8_t *bth = f->bytes + l2 + 28;

	memcpy(f->bytes, s->bytes, s->hlen);
	memcpy(f->bytes + s->hlen, pass->payload, plen);
	rf_put_be24(bth + 9, model_serial_sub(s->psn, c->shift));
	/* S of 4 slots or fewer: eighth is 0, every index asks. */
	if ((!r->first && e->mutant != RF_MODEL_MUTANT_REPEAT) ||
	    ((eighth == 0 || r->index % eighth == 0) && e->mutant != RF_MODEL_MUTANT_ACKREQ))
		bth[8] |= 0x80;
	if (g->cfg & RF_GROUP_CFG_DIRECTED_MASK)
		fit(e, f, l2, plen ? pass->pad : 0, mark);
	if (c->mirror)
		turn_back(c, f, l2);
	model_seal(f, l2, (unsigned int)len - l2);
	f->ready = ready;
	f->counter = r->first ? RF_CNT_TX_FIRST : RF_CNT_TX_REPEAT;
	f->cid = r->cid;
	model_send(e, model_cid_port(r->cid), MODEL_SRC_RESULT, f);
}

/* An ACK as received, except for its PSN; on a mirror connection an ACK or CNP, returned. */
void model_send_ack(struct rf_engine *e, unsigned int cid, unsigned int port, const uint8_t *frame,
		    const struct model_parsed *p, uint32_t psn)
{
	size_t len = p->l2 + p->ip_length;
	struct model_frame *f = model_frame_new(frame, len, len);

	rf_put_be24(f->bytes + p->l2 + 37, psn);
	if (e->conns[cid].mirror)
		turn_back(&e->conns[cid], f, p->l2);
	model_seal(f, p->l2, p->ip_length);
	f->ready = e->now + MODEL_ACK_DELAY;
	f->counter = RF_CNT_TX_ACK;
	model_send(e, port, MODEL_SRC_ACK, f);
}

/* An ACK or NAK for the sender of a frame, made from its header. */
void model_send_made(struct rf_engine *e, unsigned int cid, const uint8_t *frame,
		     const struct model_parsed *p, uint32_t index, uint8_t syndrome)
{
	const struct model_conn *c = &e->conns[cid];
	size_t len = p->l2 + 48;
	struct model_frame *f = model_frame_new(frame, len, len);
	uint8_t *ip = f->bytes + p->l2;
	uint8_t *bth = ip + 28;

	memcpy(f->bytes, frame + 6, 6); /* to the sender */
	ip[1] &= 0xfc;                  /* no ECN */
	rf_put_be16(ip + 2, 48);
	ip[8] = 64;
	rf_put_be32(ip + 12, p->dst_ip);
	rf_put_be32(ip + 16, p->src_ip);
	rf_put_be16(ip + 10, model_ip_checksum(ip));
	rf_put_be16(ip + 24, 28);
	bth[0] = 0x11;
	bth[1] = bth[1] & 0x40; /* MigReq */
	bth[4] = 0;
	rf_put_be24(bth + 5, c->qpn);
	bth[8] = 0;
	rf_put_be24(bth + 9, model_serial_add(c->start, index));
	bth[12] = syndrome;
	rf_put_be24(bth + 13, c->msn);
	model_seal(f, p->l2, 48);
	f->ready = e->now + MODEL_ACK_DELAY;
	f->counter = syndrome < 0x20 ? RF_CNT_TX_BEHALF : RF_CNT_TX_NAK;
	model_send(e, model_cid_port(cid), MODEL_SRC_ACK, f);
}

/* A whole frame, unchanged except for its source MAC: foreign, or the firmware's. */
void model_send_raw(struct rf_engine *e, unsigned int port, enum model_source src,
		    const uint8_t *frame, size_t len)
{
	struct model_frame *f = model_frame_new(frame, len, len);

	f->ready = e->now + MODEL_RAW_DELAY;
	f->counter = src == MODEL_SRC_INJECT ? RF_CNT_TX_INJECT : RF_CNT_TX_FOREIGN;
	model_send(e, port, src, f);
}
