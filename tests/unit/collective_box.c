#include <stdlib.h>
#include <string.h>

#include "proto/rf_bytes.h"
#include "tests/unit/collective_ring.h"

static uint64_t least(const uint64_t *v, uint32_t n)
{
	uint64_t m = v[0];

	for (uint32_t i = 1; i < n; i++)
		m = v[i] < m ? v[i] : m;
	return m;
}

/* The number near `reference` that is `index` modulo 2^24. */
static uint64_t unwrap(uint32_t index, uint64_t reference)
{
	uint32_t ahead = (index - (uint32_t)reference) & ROCE_PSN_MASK;

	return ahead < 1u << 23 ? reference + ahead : reference + ahead - (1u << 24);
}

static void set_psn(uint8_t *frame, const struct roce_packet *p, uint32_t psn)
{
	rf_put_be24(frame + p->ip_offset + 37, psn);
	roce_icrc_write(frame, p);
}

/* The result of an index to rank r's successor, under r's own header. */
static void send_result(struct ring *r, uint32_t rank, uint64_t index, bool repeat)
{
	struct ring_box *box = r->box;
	const void *operands[RING_RANKS];
	struct ring_slot out = box->slots[rank][index % RING_SLOTS];
	struct roce_packet p, q;
	size_t size = rf_arith_size(r->cfg.type);

	for (uint32_t i = 0; i < r->cfg.ranks; i++) {
		const struct ring_slot *s = &box->slots[i][index % RING_SLOTS];

		if (roce_parse(s->frame, s->len, &q) != 0)
			abort();
		operands[i] = q.payload;
	}
	if (roce_parse(out.frame, out.len, &p) != 0)
		abort();
	/* The operands are bytes of frames: copies them to aligned memory. */
	uint32_t *copy = malloc((r->cfg.ranks + 1) * (size_t)ROCE_MTU_MAX);
	for (uint32_t i = 0; i < r->cfg.ranks; i++) {
		memcpy(copy + (i + 1) * ROCE_MTU_MAX / 4, operands[i], p.payload_len);
		operands[i] = copy + (i + 1) * ROCE_MTU_MAX / 4;
	}
	if (rf_order_reduce(r->cfg.type, r->cfg.op, r->cfg.ranks, box->places, operands, copy,
			    p.payload_len / size) != 0)
		abort();
	memcpy(out.frame + p.payload_offset, copy, p.payload_len);
	free(copy);
	if (rank == 0 && index == box->forge)
		out.frame[p.payload_offset] ^= 1;
	if (repeat || index % (RING_SLOTS / 8) == 0)
		out.frame[p.ip_offset + 36] |= 0x80;
	set_psn(out.frame, &p, p.psn - RING_SHIFT);
	roce_net_inject(&r->net, out.frame, out.len);
}

static void complete(struct ring *r)
{
	struct ring_box *box = r->box;

	while (box->head < least(box->next, r->cfg.ranks)) {
		for (uint32_t i = 0; i < r->cfg.ranks; i++) {
			send_result(r, i, box->head, false);
			box->sent[i] = box->head + 1;
		}
		box->head++;
	}
}

static void ack_on_behalf(struct ring *r, uint32_t rank, const struct roce_packet *data)
{
	struct roce_packet p = *data;
	uint8_t frame[128];

	memcpy(p.dst_mac, data->src_mac, 6);
	memcpy(p.src_mac, data->dst_mac, 6);
	p.src_ip = data->dst_ip;
	p.dst_ip = data->src_ip;
	p.opcode = ROCE_OP_ACK;
	p.ackreq = false;
	p.qpn = roce_qp_qpn(r->next[rank]);
	p.psn = (r->box->start[rank] + (uint32_t)r->box->una[rank] - 1) & ROCE_PSN_MASK;
	p.syndrome = ROCE_SYN_ACK;
	p.msn = r->box->msn[rank];
	p.payload_len = 0;
	r->box->behalf++;
	roce_net_inject(&r->net, frame, roce_build(&p, frame, sizeof(frame)));
}

static void judge_data(struct ring *r, uint32_t rank, const uint8_t *frame, size_t len,
		       const struct roce_packet *p)
{
	struct ring_box *box = r->box;
	uint64_t index = unwrap(p->psn - box->start[rank], box->next[rank]);

	if ((int64_t)index < 0 || index > box->next[rank])
		return; /* before the start, or a gap */
	if (index < box->una[rank]) {
		ack_on_behalf(r, rank, p);
	} else if (index < box->sent[rank]) {
		box->repeats++;
		send_result(r, rank, index, true);
	} else if (index == box->next[rank] && index < least(box->una, r->cfg.ranks) + RING_SLOTS) {
		struct ring_slot *slot = &box->slots[rank][index % RING_SLOTS];

		memcpy(slot->frame, frame, len);
		slot->len = (uint32_t)len;
		box->next[rank]++;
		complete(r);
	} else if (index == box->next[rank]) {
		box->no_room++;
	}
}

static void judge_ack(struct ring *r, uint32_t rank, uint8_t *frame, size_t len,
		      const struct roce_packet *p)
{
	struct ring_box *box = r->box;
	uint32_t psn = (p->psn + RING_SHIFT) & ROCE_PSN_MASK;
	uint64_t una = unwrap(psn - box->start[rank], box->una[rank]);

	if (p->syndrome < ROCE_SYN_RNR)
		una++;
	if ((int64_t)una > 0 && una > box->sent[rank])
		return; /* of an index that was never sent */
	if ((int64_t)una > (int64_t)box->una[rank])
		box->una[rank] = una;
	box->msn[rank] = p->msn;
	set_psn(frame, p, psn);
	roce_net_inject(&r->net, frame, len);
}

int ring_box_hook(void *ctx, uint32_t from, uint8_t *frame, size_t len)
{
	struct ring *r = ctx;
	struct roce_packet p;

	if (roce_random_below(&r->net.rng, 1000) < r->net.loss)
		return 1;
	if (roce_parse(frame, len, &p) != 0)
		abort();
	if (p.opcode == ROCE_OP_ACK)
		judge_ack(r, (from + r->cfg.ranks - 1) % r->cfg.ranks, frame, len, &p);
	else
		judge_data(r, from, frame, len, &p);
	return 1;
}
