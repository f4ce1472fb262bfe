#include <stdlib.h>
#include <string.h>

#include "tests/unit/directed_net.h"

uint32_t directed_box_ip(void)
{
	return 0x0a0000fa;
}

void directed_box_mac(uint8_t mac[6])
{
	static const uint8_t box[6] = {2, 0, 0, 0, 9, 9};

	memcpy(mac, box, 6);
}

static void wrong(struct directed *d, const char *why)
{
	if (!d->error)
		d->error = why;
}

static uint64_t least(const struct directed *d, bool una)
{
	uint64_t m = UINT64_MAX;

	for (uint32_t r = 0; r < d->cfg.ranks; r++) {
		uint64_t v = una ? d->box[r].una : d->box[r].next;

		m = v < m ? v : m;
	}
	return m;
}

/* The number near `reference` that is `index` modulo 2^24. */
static uint64_t unwrap(uint32_t index, uint64_t reference)
{
	uint32_t ahead = (index - (uint32_t)reference) & ROCE_PSN_MASK;

	return ahead < 1u << 23 ? reference + ahead : reference + ahead - (1u << 24);
}

/* What a packet says. Without an immediate: that of the JOIN. */
struct says {
	bool has_imm, gives, wants;
	uint32_t tag; /* kind, call, hash */
	uint32_t type, op;
};

static struct says says_of(const struct directed *d, const struct roce_packet *p)
{
	struct says s = {false, true, true, 0, (uint32_t)d->cfg.type, (uint32_t)d->cfg.op};

	if (!(roce_opcode_flags(p->opcode) & ROCE_F_IMM))
		return s;
	s.has_imm = true;
	s.gives = p->imm >> 14 & 1;
	s.wants = p->imm >> 15 & 1;
	s.tag = p->imm & 0xffff3000u & ~0xc000u;
	s.op = p->imm >> 8 & 15;
	s.type = p->imm >> 4 & 15;
	return s;
}

/* Lines 27 to 29 for directed groups. */
static bool form_ok(struct directed *d, const struct roce_packet *p, uint64_t index)
{
	struct says s = says_of(d, p);

	if (p->opcode > ROCE_OP_SEND_ONLY_IMM)
		wrong(d, "opcode");
	else if (p->payload_len > d->cfg.mtu ||
		 (p->payload_len == 0 && p->opcode != ROCE_OP_SEND_ONLY_IMM))
		wrong(d, "length");
	else if (s.has_imm && (p->imm & 15) != (index & 15))
		wrong(d, "order");
	else if (!rf_arith_has((enum rf_arith_type)s.type, (enum rf_arith_op)s.op) ||
		 (s.has_imm && s.gives != (p->payload_len > 0)) ||
		 (p->opcode == ROCE_OP_SEND_LAST_IMM && !(s.gives && s.wants)))
		wrong(d, "immediate");
	else if (s.op != RF_ARITH_COPY &&
		 p->payload_len % rf_arith_size((enum rf_arith_type)s.type) != 0)
		wrong(d, "element");
	return !d->error;
}

/* The pass of an index. */
struct pass {
	struct roce_packet packet[DIRECTED_RANKS];
	struct says says[DIRECTED_RANKS];
	uint32_t givers;
	uint32_t len; /* of the result; 0: nobody gave */
	uint64_t result[ROCE_MTU_MAX / 8];
};

static void compare(struct directed *d, const struct pass *s)
{
	const struct says *imm = NULL;
	uint32_t len = 0;

	for (uint32_t r = 0; r < d->cfg.ranks; r++) {
		const struct says *x = &s->says[r];

		if (x->type != s->says[0].type || x->op != s->says[0].op)
			wrong(d, "disagree: type or operation");
		if (x->has_imm && imm && x->tag != imm->tag)
			wrong(d, "disagree: tag");
		if (x->has_imm && !imm)
			imm = x;
		if (x->gives && len > 0 && x->op == RF_ARITH_COPY)
			wrong(d, "disagree: two copies");
		if (x->gives && len > 0 && s->packet[r].payload_len != len)
			wrong(d, "disagree: length");
		if (x->gives)
			len = s->packet[r].payload_len;
	}
}

static void compute(struct directed *d, uint64_t index, struct pass *s)
{
	static uint64_t aligned[DIRECTED_RANKS][ROCE_MTU_MAX / 8];
	const void *operands[DIRECTED_RANKS];
	struct rf_place places[DIRECTED_RANKS];
	enum rf_arith_type type;
	enum rf_arith_op op;

	s->givers = s->len = 0;
	for (uint32_t r = 0; r < d->cfg.ranks; r++) {
		struct directed_rank *b = &d->box[r];
		uint32_t slot = index % DIRECTED_SLOTS;

		if (roce_parse(b->frame[slot], b->len[slot], &s->packet[r]) != 0)
			abort();
		s->says[r] = says_of(d, &s->packet[r]);
		if (!s->says[r].gives)
			continue;
		s->len = s->packet[r].payload_len;
		memcpy(aligned[s->givers], s->packet[r].payload, s->len);
		operands[s->givers] = aligned[s->givers];
		places[s->givers++] = b->place;
	}
	compare(d, s);
	type = (enum rf_arith_type)s->says[0].type;
	op = (enum rf_arith_op)s->says[0].op;
	if (d->error || s->givers == 0)
		return;
	if (op == RF_ARITH_COPY)
		memcpy(s->result, operands[0], s->len);
	else if (rf_order_reduce(type, op, s->givers, places, operands, s->result,
				 s->len / rf_arith_size(type)) != 0)
		abort();
}

/* The packet that leaves for a rank's connection: its own header, the result or nothing. */
static void send_result(struct directed *d, const struct pass *s, uint32_t rank, uint64_t index,
			bool repeat)
{
	struct roce_packet p = s->packet[rank];
	uint8_t frame[ROCE_FRAME_MAX];

	p.payload = (const uint8_t *)s->result;
	p.payload_len = s->says[rank].wants ? s->len : 0;
	p.ackreq |= repeat || index % (DIRECTED_SLOTS / 8) == 0;
	p.imm ^= d->flip;
	d->flip = 0;
	if (d->cfg.mirror) {
		memcpy(p.dst_mac, s->packet[rank].src_mac, 6);
		directed_box_mac(p.src_mac);
		p.src_ip = s->packet[rank].dst_ip;
		p.dst_ip = s->packet[rank].src_ip;
	} else {
		p.psn = (p.psn - DIRECTED_SHIFT) & ROCE_PSN_MASK;
	}
	if (!repeat) {
		d->results += p.payload_len > 0;
		d->empties += p.payload_len == 0;
	}
	roce_net_inject(&d->net, frame, roce_build(&p, frame, sizeof(frame)));
}

static void run_passes(struct directed *d)
{
	static struct pass s;

	while (!d->error && d->head < least(d, false)) {
		compute(d, d->head, &s);
		for (uint32_t r = 0; r < d->cfg.ranks && !d->error; r++) {
			d->box[r].sent = d->head + 1;
			send_result(d, &s, r, d->head, false);
		}
		d->head++;
	}
}

/* An ACK or NAK that the box makes itself. */
static void answer(struct directed *d, const struct roce_packet *data, uint32_t rank,
		   uint8_t syndrome, uint64_t index)
{
	struct roce_packet p = *data;
	uint8_t frame[128];

	memcpy(p.dst_mac, data->src_mac, 6);
	memcpy(p.src_mac, data->dst_mac, 6);
	p.src_ip = data->dst_ip;
	p.dst_ip = data->src_ip;
	p.opcode = ROCE_OP_ACK;
	p.ackreq = false;
	p.qpn = roce_qp_qpn(d->to_next[rank]);
	p.psn = (d->box[rank].start + (uint32_t)index) & ROCE_PSN_MASK;
	p.syndrome = syndrome;
	p.payload_len = 0;
	if (!d->drop_acks)
		roce_net_inject(&d->net, frame, roce_build(&p, frame, sizeof(frame)));
}

static void store(struct directed *d, uint32_t rank, uint64_t index, const uint8_t *frame,
		  size_t len)
{
	struct directed_rank *b = &d->box[rank];

	memcpy(b->frame[index % DIRECTED_SLOTS], frame, len);
	b->len[index % DIRECTED_SLOTS] = (uint32_t)len;
	b->present[index % DIRECTED_SLOTS] = true;
	while (b->present[b->next % DIRECTED_SLOTS]) {
		b->present[b->next % DIRECTED_SLOTS] = false;
		b->next++;
	}
	run_passes(d);
}

static void judge_data(struct directed *d, uint32_t rank, const uint8_t *frame, size_t len,
		       const struct roce_packet *p)
{
	struct directed_rank *b = &d->box[rank];
	uint64_t index = unwrap(p->psn - b->start, b->next);
	static struct pass s;

	if ((int64_t)index < 0 || d->error)
		return;
	if (index < b->una) {
		answer(d, p, rank, ROCE_SYN_ACK, b->una - 1);
	} else if (index < b->sent) {
		compute(d, index, &s);
		send_result(d, &s, rank, index, true);
	} else if (index < b->next || index >= least(d, true) + DIRECTED_SLOTS ||
		   b->present[index % DIRECTED_SLOTS]) {
		return;
	} else if (index == b->next || d->cfg.selective) {
		if (!form_ok(d, p, index))
			return;
		if (index > b->next && b->asked != b->next + 1) {
			b->asked = b->next + 1;
			answer(d, p, rank, ROCE_SYN_NAK_SEQUENCE, b->next);
		}
		store(d, rank, index, frame, len);
	}
}

static void judge_ack(struct directed *d, uint32_t from, uint8_t *frame,
		      const struct roce_packet *p)
{
	/* In a ring the sender of an ACK is the successor of the rank that it acknowledges. */
	uint32_t n = d->cfg.ranks, rank = d->cfg.mirror ? from : (from + n - 1) % n;
	struct directed_rank *b = &d->box[rank];
	struct roce_packet q = *p;
	uint64_t una;

	if (!d->cfg.mirror)
		q.psn = (p->psn + DIRECTED_SHIFT) & ROCE_PSN_MASK;
	una = unwrap(q.psn - b->start, b->una) + (p->syndrome < ROCE_SYN_RNR);
	if ((int64_t)una > 0 && una > b->sent)
		return;
	if (p->syndrome != ROCE_SYN_NAK_SEQUENCE || !d->cfg.selective)
		b->una = (int64_t)una > (int64_t)b->una ? una : b->una;
	if (d->cfg.mirror) {
		memcpy(q.dst_mac, p->src_mac, 6);
		directed_box_mac(q.src_mac);
		q.src_ip = p->dst_ip;
		q.dst_ip = p->src_ip;
	}
	if (!d->drop_acks)
		roce_net_inject(&d->net, frame, roce_build(&q, frame, ROCE_FRAME_MAX));
}

int directed_box_hook(void *ctx, uint32_t from, uint8_t *frame, size_t len)
{
	struct directed *d = ctx;
	struct roce_packet p;

	if (roce_random_below(&d->net.rng, 1000) < d->net.loss)
		return 1;
	if (roce_parse(frame, len, &p) != 0)
		abort();
	if (p.opcode == ROCE_OP_ACK)
		judge_ack(d, from, frame, &p);
	else
		judge_data(d, from, frame, len, &p);
	return 1;
}
