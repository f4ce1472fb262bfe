/*
 * Fuzzing of what a host receives: an endpoint with three queue pairs, one plain, one selective and
 * one that is a mirror connection with one packet per message, fed with frames that the fuzzer
 * makes. After each step the state is consistent, no byte outside the posted buffers was written,
 * and what the endpoint sends can be read.
 *
 * Input: steps {kind 1, its members}. Kinds, modulo 8: 0 time; 1 a frame as it is; 2, 3 a request
 * and 4 an acknowledgement, near to what is expected; 5 receives and 6 sends are posted; 7
 * completions are read.
 */
#include "host/roce/endpoint.h"
#include "host/roce/qp_internal.h"
#include "tests/unit/fuzz.h"

#define STEPS 200u
#define QPS 3u
#define MIRROR 2u /* this one is single, selective and mirror */
#define MTU 256u
#define SLOTS 8u
#define BUFFER 600u /* two packets and a part */
#define EDGE 16u
#define CANARY 0xa5
#define RKEY 77u
#define BOX 0x0a0000feu

struct side {
	struct roce_qp *qp;
	uint8_t buf[SLOTS][EDGE + BUFFER + EDGE];
	uint32_t len[SLOTS];
	uint64_t recv_next, send_next; /* wr_id of the next completion */
	uint64_t recv_posted, send_posted;
};

struct host {
	struct roce_endpoint *ep;
	struct side side[QPS];
	uint8_t region[EDGE + BUFFER + EDGE];
	struct roce_region region_of;
	uint64_t now;
	bool damage;
};

static const uint8_t source[BUFFER];

static void canaries(const uint8_t *buf, size_t len)
{
	for (size_t k = 0; k < EDGE; k++)
		FUZZ_MUST(buf[k] == CANARY);
	for (size_t k = EDGE + len; k < EDGE + BUFFER + EDGE; k++)
		FUZZ_MUST(buf[k] == CANARY);
}

static void queue_holds(const struct roce_queue *q)
{
	FUZZ_MUST(q->posted - q->polled <= q->depth && q->done - q->polled <= q->depth);
	FUZZ_MUST(q->posted - q->done <= q->depth);
}

static void holds(const struct host *h)
{
	const struct roce_endpoint_counters *n = roce_endpoint_counters(h->ep);

	for (unsigned int k = 0; k < QPS; k++) {
		const struct roce_qp *qp = h->side[k].qp;
		const struct roce_requester *rq = &qp->rq;

		queue_holds(&qp->rq.q);
		queue_holds(&qp->rs.q);
		FUZZ_MUST(rq->una <= rq->nxt && rq->nxt <= rq->end);
		FUZZ_MUST(rq->una <= rq->max && rq->max <= rq->end);
		FUZZ_MUST(rq->max - rq->una <= qp->cfg.window);
		FUZZ_MUST(rq->window >= 2 && rq->window <= qp->cfg.window);
		FUZZ_MUST(rq->limit >= 1 && rq->limit <= rq->window);
		FUZZ_MUST(!qp->rs.in_message || qp->cfg.selective || qp->rs.offset <= qp->rs.room);
		FUZZ_MUST((qp->state == ROCE_QP_ERR) == (qp->error != ROCE_WC_SUCCESS));
		for (unsigned int i = 0; i < SLOTS; i++)
			canaries(h->side[k].buf[i], h->side[k].len[i]);
	}
	canaries(h->region, BUFFER);
	FUZZ_MUST(n->rx_wire[0] == n->rx_ip_checksum + n->rx_udp_checksum + n->rx_icrc +
					   n->rx_unknown_qpn + n->rx_wrong_source + n->rx_roce);
	FUZZ_MUST(n->rx_roce == h->side[0].qp->n.rx_packets + h->side[1].qp->n.rx_packets +
					h->side[2].qp->n.rx_packets + (h->damage ? 1 : 0));
}

/* Everything that may be sent, by both queue pairs: this must end. */
static void drain(struct host *h)
{
	static uint8_t frame[ROCE_FRAME_MAX];
	struct roce_packet p;
	unsigned int n = 0;
	size_t len;

	while ((len = roce_endpoint_tx(h->ep, h->now, frame, sizeof(frame))) > 0) {
		int error = roce_parse(frame, len, &p);

		FUZZ_MUST(++n < 10000);
		FUZZ_MUST(len <= ROCE_FRAME_MAX);
		if (error == ROCE_WIRE_ARP || p.ip_proto == RF_INET_PROTO_ICMP)
			continue;
		FUZZ_MUST(error == ROCE_WIRE_OK && roce_icrc_ok(frame, &p));
	}
	FUZZ_MUST(roce_endpoint_next_timeout(h->ep) > h->now);
}

static void completions(struct host *h)
{
	struct roce_cqe c;

	for (unsigned int k = 0; k < QPS; k++) {
		struct side *s = &h->side[k];

		while (roce_qp_poll(s->qp, &c)) {
			FUZZ_MUST((unsigned int)c.status < ROCE_WC_STATUSES);
			if (c.opcode == ROCE_WC_SEND) {
				FUZZ_MUST(c.wr_id == s->send_next++);
				FUZZ_MUST(s->send_next <= s->send_posted);
				continue;
			}
			FUZZ_MUST(c.wr_id == s->recv_next++ && s->recv_next <= s->recv_posted);
			FUZZ_MUST(c.opcode != ROCE_WC_RECV || c.len <= s->len[c.wr_id % SLOTS]);
		}
	}
}

static void post_receive(struct side *s, struct fuzz_input *in)
{
	unsigned int i = (unsigned int)(s->recv_posted % SLOTS);
	uint32_t len = fuzz_u16(in) % (BUFFER + 1u);
	struct roce_recv_wr wr = {s->recv_posted, s->buf[i] + EDGE, len};

	if (s->recv_posted - s->recv_next >= SLOTS)
		return;
	if (s->qp->cfg.selective && len > MTU)
		wr.len = len -= len % MTU;
	memset(s->buf[i], CANARY, sizeof(s->buf[i]));
	s->len[i] = len;
	if (roce_qp_post_recv(s->qp, &wr) == ROCE_OK)
		s->recv_posted++;
}

static void post_send(struct side *s, struct fuzz_input *in)
{
	struct roce_send_wr wr = {.wr_id = s->send_posted, .buf = source, .rkey = RKEY};

	wr.opcode = (enum roce_wr_opcode)(fuzz_u8(in) % 4u);
	wr.len = fuzz_u16(in) % (BUFFER + 1u);
	wr.remote_va = fuzz_u8(in);
	wr.imm = wr.len;
	if (roce_qp_post_send(s->qp, &wr) == ROCE_OK)
		s->send_posted++;
}

static void common(const struct side *s, struct roce_packet *p)
{
	memset(p, 0, sizeof(*p));
	p->dst_mac[0] = p->src_mac[0] = 2;
	p->dst_mac[5] = 1;
	p->src_mac[5] = 2;
	p->ttl = 64;
	p->ip_flags = 0x4000;
	p->src_ip = 0x0a000002;
	p->dst_ip = 0x0a000001;
	p->migreq = true;
	p->pkey = 0xffff;
	p->qpn = roce_qp_qpn(s->qp);
}

static void request(struct host *h, const struct side *s, struct fuzz_input *in)
{
	static uint8_t payload[4 * MTU];
	uint8_t frame[ROCE_FRAME_MAX], flags = fuzz_u8(in), odd = fuzz_u8(in);
	uint32_t len = fuzz_u16(in);
	struct roce_packet p;
	size_t n;

	common(s, &p);
	p.opcode = flags % 16u;
	p.ackreq = flags >> 4 & 1;
	p.psn = fuzz_near(in, s->qp->rs.epsn) & ROCE_PSN_MASK;
	p.rkey = RKEY;
	p.va = 1000u + fuzz_u8(in);
	p.dma_length = fuzz_u16(in);
	p.payload_len = len & 0x8000 ? MTU : len % sizeof(payload);
	p.payload = payload;
	if (odd == 1)
		p.src_ip = fuzz_u32(in);
	if (odd == 2)
		p.psn = fuzz_u32(in) & ROCE_PSN_MASK;
	if (odd == 3)
		p.rkey = fuzz_u8(in);
	if (odd == 4)
		p.va = (uint64_t)fuzz_u32(in) << 32 | fuzz_u32(in);
	if (odd == 5)
		p.dma_length = fuzz_u32(in);
	n = roce_build(&p, frame, sizeof(frame));
	if (odd == 7) { /* marked by a switch */
		p.tos = 3;
		n = roce_build(&p, frame, sizeof(frame));
	}
	if (odd == 6)
		frame[fuzz_u16(in) % n] ^= fuzz_u8(in);
	roce_endpoint_rx(h->ep, h->now, frame, n);
}

static void answer(struct host *h, const struct side *s, struct fuzz_input *in)
{
	uint8_t frame[ROCE_FRAME_MAX];
	struct roce_packet p;

	common(s, &p);
	p.opcode = ROCE_OP_ACK;
	p.syndrome = fuzz_u8(in);
	p.msn = fuzz_u8(in);
	if (p.msn == 0xff) {
		p.opcode = ROCE_OP_CNP;
		p.payload = source;
		p.payload_len = 16;
	}
	p.psn = fuzz_near(in, roce_psn_add(s->qp->cfg.sq_psn, s->qp->rq.una)) & ROCE_PSN_MASK;
	roce_endpoint_rx(h->ep, h->now, frame, roce_build(&p, frame, sizeof(frame)));
}

static void raw(struct host *h, struct fuzz_input *in)
{
	uint8_t frame[300];
	size_t len = fuzz_u16(in) % sizeof(frame);
	uint8_t *exact = malloc(len + 1);

	FUZZ_MUST(exact);
	fuzz_bytes(in, frame, len);
	memcpy(exact, frame, len);
	roce_endpoint_rx(h->ep, h->now, exact, len);
	free(exact);
}

static void step(struct host *h, struct fuzz_input *in)
{
	uint8_t kind = fuzz_u8(in);
	struct side *s = &h->side[kind & 0x20 ? MIRROR : kind >> 7];

	switch (kind & 7u) {
	case 0:
		h->now += (uint64_t)fuzz_u16(in) * (kind & 8 ? 10000u : 10u);
		break;
	case 1:
		raw(h, in);
		break;
	case 2:
	case 3:
		request(h, s, in);
		break;
	case 4:
		answer(h, s, in);
		break;
	case 5:
		post_receive(s, in);
		break;
	case 6:
		post_send(s, in);
		break;
	default:
		completions(h);
		break;
	}
	if (kind & 0x40)
		drain(h);
	holds(h);
}

static void control(void *ctx, uint64_t now, const struct roce_udp *u)
{
	unsigned int sum = 0;

	(void)ctx;
	(void)now;
	for (uint32_t k = 0; k < u->len; k++)
		sum += u->data[k];
	FUZZ_MUST(sum <= 255u * u->len);
}

static void start(struct host *h)
{
	struct roce_endpoint_cfg e = {.mac = {2, 0, 0, 0, 0, 1}, .ip = 0x0a000001, .box_ip = BOX};
	struct roce_qp_peer peer = {.mac = {2, 0, 0, 0, 0, 2}, .ip = 0x0a000002, .qpn = 9};

	memset(h, 0, sizeof(*h));
	memset(h->region, CANARY, sizeof(h->region));
	h->now = 1000;
	h->damage = fuzz_fault() != NULL;
	h->region_of = (struct roce_region){RKEY, 1000, h->region + EDGE, BUFFER};
	e.max_qps = QPS;
	e.callbacks.control = control;
	FUZZ_MUST(roce_endpoint_create(&e, &h->ep) == ROCE_OK);
	for (unsigned int k = 0; k < QPS; k++) {
		struct roce_qp_cfg cfg;

		roce_qp_cfg_init(&cfg);
		memcpy(cfg.mac, e.mac, 6);
		cfg.ip = e.ip;
		cfg.qpn = 100 + k;
		cfg.sq_psn = 0xfffff0;
		cfg.rq_psn = 0xfffffa;
		cfg.mtu = MTU;
		cfg.window = 8;
		cfg.sq_depth = SLOTS;
		cfg.rq_depth = SLOTS;
		cfg.selective = k >= 1;
		cfg.single = cfg.mirror = k == MIRROR;
		if (k == MIRROR) {
			cfg.sq_psn = cfg.rq_psn;
			peer.qpn = cfg.qpn;
		}
		cfg.regions = &h->region_of;
		cfg.region_count = 1;
		memset(h->side[k].buf, CANARY, sizeof(h->side[k].buf));
		FUZZ_MUST(roce_qp_create(&cfg, &h->side[k].qp) == ROCE_OK);
		FUZZ_MUST(roce_qp_to_rtr(h->side[k].qp, &peer) == ROCE_OK);
		FUZZ_MUST(roce_qp_to_rts(h->side[k].qp) == ROCE_OK);
		FUZZ_MUST(roce_endpoint_add_qp(h->ep, h->side[k].qp) == ROCE_OK);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct host h;
	struct fuzz_input in = {data, size};

	start(&h);
	for (unsigned int k = 0; k < STEPS && in.left > 0; k++)
		step(&h, &in);
	drain(&h);
	for (unsigned int k = 0; k < QPS; k++)
		roce_qp_to_err(h.side[k].qp);
	completions(&h);
	for (unsigned int k = 0; k < QPS; k++) { /* each request has ended once */
		FUZZ_MUST(h.side[k].send_next == h.side[k].send_posted);
		FUZZ_MUST(h.side[k].recv_next == h.side[k].recv_posted);
		roce_qp_destroy(h.side[k].qp);
	}
	roce_endpoint_destroy(h.ep);
	return 0;
}
