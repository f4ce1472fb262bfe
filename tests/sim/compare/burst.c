/*
 * Simple hosts drive one box at full load: each rank sends its packets in order with at most S/2
 * unacknowledged, and goes back on a NAK or a timer; each receiver takes results in order and
 * acknowledges them. In between frames are lost, duplicated and damaged, ports are stalled, and
 * foreign frames are sent.
 */
#include "tests/sim/compare/burst.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim/compare/random.h"
#include "tests/sim/compare/traffic.h"

#define TIMEOUT 12000u    /* cycles without progress after which a sender goes back */
#define DEADLINE 3000000u /* cycles without any progress after which the run has failed */
#define FOREIGN_IP 0x0a090000u
#define LOSS 250u /* one frame in this many is lost */

/* Both ends of one connection. */
struct end {
	struct bench_conn *conn;
	uint32_t next, una,
		done; /* sender: next to send, first unacknowledged; receiver: first not received */
	uint32_t highest; /* indexes below it have been seen on the wire */
	uint64_t timer;
	bool nak_sent;
	uint64_t digest; /* digest of everything received, in order */
};

struct burst {
	struct bench *b;
	struct bench_group groups[TRAFFIC_GROUPS];
	uint64_t form_seed[TRAFFIC_GROUPS];
	struct end end[TRAFFIC_GROUPS][64];
	uint64_t *results[TRAFFIC_GROUPS]; /* digest of the payload at each index; 0: not seen */
	uint64_t state;
	uint32_t count;
	uint32_t foreign_sent[8], foreign_seen[8];
	unsigned int turn[8];
	unsigned int mutate; /* percent */
	uint32_t changed,
		strange;   /* changed copies sent; frames out that do not belong to a group */
	uint64_t progress; /* cycle of the last progress of any kind */
	bool wrong;
};

static uint64_t digest(uint64_t h, const uint8_t *p, size_t len)
{
	size_t k;

	for (k = 0; k < len; k++)
		h = (h ^ p[k]) * 0x100000001b3u;
	return h ? h : 1;
}

static void complain(struct burst *u, const struct end *e, const char *what, uint32_t index)
{
	printf("%s: group %u lane %u port %u index %u: %s\n", u->b->ops->name, e->conn->group,
	       e->conn->lane, e->conn->port, index, what);
	u->wrong = true;
}

static bool lost(struct burst *u, const struct bench_group *g)
{
	return !g->open_loop && random_once(&u->state, LOSS);
}

/*
 * Changes a frame as a line or a switch might. If its ICRC is still correct, by chance or because
 * it was recomputed, the ICRC is corrupted: otherwise the copy could be an operand.
 */
static void give_changed(struct burst *u, unsigned int port, uint8_t *frame, size_t len)
{
	len = traffic_mutate(&u->state, frame, len);
	if (packet_sealed(frame, len)) {
		size_t l2 = packet_l2(frame);

		frame[l2 + rf_get_be16(frame + l2 + 2) - 1] ^= 0x10;
	}
	u->changed++;
	bench_feed(u->b, port, frame, len, false);
}

static void give(struct burst *u, unsigned int port, const struct packet *p)
{
	uint8_t frame[PACKET_MAX];
	size_t len = packet_build(p, frame);

	bench_feed(u->b, port, frame, len, false);
	if (random_below(&u->state, 100) < u->mutate)
		give_changed(u, port, frame, len);
}

/* A data packet; its content depends only on its index, so that a repeat changes nothing. */
static void send_data(struct burst *u, struct end *e, uint32_t index)
{
	struct bench_group *g = &u->groups[e->conn->group];
	uint64_t s = u->form_seed[e->conn->group] ^ (uint64_t)e->conn->cid << 40 ^ index;
	uint8_t payload[PACKET_MAX];
	struct traffic_say w;
	struct packet p;

	traffic_say(u->form_seed[e->conn->group], g, (unsigned int)(e->conn - g->conn), index, &w);
	random_payload(&s, w.dtype, payload, w.len);
	bench_data(e->conn, &p, index, w.opcode, payload, w.len);
	p.imm = w.imm;
	p.pad = w.pad;
	p.tos = (uint8_t)random_next(&s);
	if (lost(u, g))
		return;
	if (lost(u, g))
		p.icrc_xor = 4;
	give(u, e->conn->port, &p);
	if (random_once(&u->state, LOSS))
		give(u, e->conn->port, &p);
}

static void send_ack(struct burst *u, struct end *e, uint8_t syndrome)
{
	struct packet p;

	if (u->groups[e->conn->group].open_loop)
		return;
	bench_ack(e->conn, &p, e->done);
	p.syndrome = syndrome;
	if (syndrome >= 0x20)
		p.psn = (p.psn + 1) & 0xffffff;
	if (!lost(u, &u->groups[e->conn->group]))
		give(u, e->conn->peer_port, &p);
}

/* Handles a result. */
static void take_result(struct burst *u, struct end *e, const struct bench_out *o)
{
	struct bench_group *g = &u->groups[e->conn->group];
	size_t at = packet_payload_at(o->bytes), bth = packet_l2(o->bytes) + 28;
	uint32_t index =
		(rf_get_be24(o->bytes + bth + 9) + e->conn->shift - e->conn->start) & 0xffffff;
	uint64_t sum = digest(1, o->bytes + at, o->len - at - 4);
	bool asked = o->bytes[bth + 8] >> 7;
	struct traffic_say w;
	uint8_t copy[PACKET_MAX];

	if (!packet_sealed(o->bytes, o->len))
		complain(u, e, "wrong ICRC", index);
	if (index > e->highest || index >= u->count) {
		complain(u, e, "out of order", index);
		return;
	}
	e->highest += index == e->highest;
	traffic_say(u->form_seed[g->number], g, (unsigned int)(e->conn - g->conn), index, &w);
	if (!w.wants && o->len != at + 4)
		complain(u, e, "a result for a rank that wants none", index);
	if (w.wants && u->results[g->number][index] && u->results[g->number][index] != sum)
		complain(u, e, "result differs from an earlier one of this index", index);
	if (w.wants)
		u->results[g->number][index] = sum;
	if (lost(u, g))
		return;
	if (index != e->done) {
		/* A repeat of a received packet; or a gap, which is reported by one NAK. */
		if (index < e->done)
			send_ack(u, e, 0x1f);
		else if (!e->nak_sent)
			send_ack(u, e, 0x60);
		e->nak_sent |= index > e->done;
		return;
	}
	memcpy(copy, o->bytes, o->len);
	copy[bth + 8] &= 0x7f; /* a repeat requests an ACK, a first transmission need not */
	e->digest = digest(e->digest, copy, o->len - 4);
	e->done++;
	e->nak_sent = false;
	u->progress = u->b->ops->cycle(u->b->e);
	if (asked || e->done == u->count || random_once(&u->state, 8))
		send_ack(u, e, 0x1f);
}

/* Handles an ACK that arrives at the sender, forwarded or made by the box. */
static void take_ack(struct burst *u, struct end *e, const struct bench_out *o)
{
	size_t bth = packet_l2(o->bytes) + 28;
	uint32_t psn = rf_get_be24(o->bytes + bth + 9);
	uint8_t syndrome = o->bytes[bth + 12];
	uint32_t upto = (psn - e->conn->start + (syndrome < 0x20)) & 0xffffff;

	if (!packet_sealed(o->bytes, o->len))
		complain(u, e, "wrong ICRC of an ACK", upto);
	if (syndrome == 0x60 && u->groups[e->conn->group].selective) {
		if (upto >= e->una && upto < e->next)
			send_data(u, e, upto); /* only that one */
		return;
	}
	if (upto > e->done) {
		if (upto < 0x800000) /* index below 0 is before the start: acknowledges nothing */
			complain(u, e, "acknowledged, but not received", upto);
		return;
	}
	if (random_once(&u->state, LOSS))
		return;
	if (upto > e->una) {
		e->una = upto;
		if (e->next < upto) /* the ACK arrived after going back */
			e->next = upto;
		e->timer = u->b->ops->cycle(u->b->e);
		u->progress = e->timer;
	}
	if (syndrome >= 0x20 && upto == e->una)
		e->next = e->una;
}

static void take_foreign(struct burst *u, const struct bench_out *o)
{
	size_t l2 = packet_l2(o->bytes);
	uint32_t number;

	/* Only changed frames may leave in a wrong form. */
	if (rf_get_be32(o->bytes + l2 + 12) != FOREIGN_IP || !packet_sealed(o->bytes, o->len)) {
		u->strange++;
		return;
	}
	number = rf_get_be32(o->bytes + packet_payload_at(o->bytes));
	if (number < u->foreign_seen[o->port] || number >= u->foreign_sent[o->port]) {
		printf("%s: port %u: foreign frame %u out of order\n", u->b->ops->name, o->port,
		       number);
		u->wrong = true;
	}
	u->foreign_seen[o->port] = number + 1;
}

static void take(struct burst *u, const struct bench_out *o)
{
	size_t bth = packet_l2(o->bytes) + 28;
	uint32_t qpn = rf_get_be24(o->bytes + bth + 5);
	uint32_t to = rf_get_be32(o->bytes + bth - 12);
	unsigned int n, r;

	for (n = 0; n < TRAFFIC_GROUPS; n++) {
		for (r = 0; r < u->groups[n].ranks; r++) {
			struct end *e = &u->end[n][r];

			if (o->bytes[bth] != OP_ACK && o->bytes[bth] != OP_CNP &&
			    qpn == e->conn->data_qpn &&
			    to == (e->conn->mirror ? e->conn->src_ip : e->conn->dst_ip)) {
				if (o->port != e->conn->port)
					complain(u, e, "left by another port", 0);
				take_result(u, e, o);
				return;
			}
			if (o->bytes[bth] == OP_ACK && qpn == e->conn->ack_qpn &&
			    to == e->conn->src_ip) {
				take_ack(u, e, o);
				return;
			}
		}
	}
	take_foreign(u, o);
}

static void send_foreign(struct burst *u, unsigned int port)
{
	struct bench_conn c = {.src_ip = FOREIGN_IP, .dst_ip = 0x0a090001, .data_qpn = 5};
	uint8_t payload[512] = {0};
	struct packet p;

	rf_put_be32(payload, u->foreign_sent[port]++);
	bench_data(&c, &p, 0, OP_SEND_ONLY, payload, 4 + 4 * random_below(&u->state, 100));
	give(u, port, &p);
}

/* Whether a rank of this port may send: checks its turn and its window. */
static bool send_next(struct burst *u, unsigned int port)
{
	uint64_t now = u->b->ops->cycle(u->b->e);
	unsigned int k;

	for (k = 0; k < TRAFFIC_GROUPS * 64; k++) {
		unsigned int at = (u->turn[port] + k) % (TRAFFIC_GROUPS * 64);
		struct bench_group *g = &u->groups[at / 64];
		struct end *e = &u->end[at / 64][at % 64];
		uint32_t window = 1u << (g->s_log2 - 1);

		if (at % 64 >= g->ranks || e->conn->port != port)
			continue;
		if (g->open_loop)
			e->una = e->done; /* paced by received results, as a generator's rate would
					     do */
		else if (e->una < e->next && now - e->timer > TIMEOUT) {
			e->next = e->una;
			e->timer = now;
		}
		if (!g->open_loop && e->una < e->next && random_once(&u->state, 200))
			e->next = e->una; /* a timer that ignores ACKs: repeats without loss */
		if (e->next >= u->count || e->next - e->una >= window)
			continue;
		if (e->next == e->una)
			e->timer = now;
		send_data(u, e, e->next++);
		u->turn[port] = at + 1;
		return true;
	}
	return false;
}

static bool finished(const struct burst *u)
{
	unsigned int n, r;

	for (n = 0; n < TRAFFIC_GROUPS; n++) {
		for (r = 0; r < u->groups[n].ranks; r++) {
			if (u->end[n][r].done < u->count || u->end[n][r].una < u->count)
				return false;
		}
	}
	return true;
}

static void drive(struct burst *u)
{
	struct bench *b = u->b;
	unsigned int port;
	size_t k;

	u->progress = b->ops->cycle(b->e);
	while (!finished(u) && !u->wrong && !b->stuck) {
		uint64_t now = b->ops->cycle(b->e);

		if (now - u->progress > DEADLINE) {
			printf("%s: no progress\n", b->ops->name);
			u->wrong = true;
			return;
		}
		for (port = 0; port < b->cfg.ports; port++) {
			if (random_once(&u->state, 1500))
				b->stall[port] = now + random_below(&u->state, 6000);
			while (b->ops->rx_queued(b->e, port) < 3 && send_next(u, port)) {
				if (random_once(&u->state, 10))
					send_foreign(u, port);
			}
		}
		b->ops->run(b->e, now + 40);
		for (k = 0; k < b->outs; k++)
			take(u, &b->out[k]);
		bench_clear(b);
	}
	bench_settle(b);
	for (k = 0; k < b->outs; k++)
		take(u, &b->out[k]);
	bench_clear(b);
}

static uint32_t total(struct bench *b, unsigned int counter)
{
	unsigned int port;
	uint32_t sum = 0;

	for (port = 0; port < b->cfg.ports; port++)
		sum += bench_counter(b, port, counter);
	return sum;
}

static void equal(struct burst *u, const char *what, uint32_t x, uint32_t y)
{
	if (x == y)
		return;
	printf("%s: %s: %u and %u\n", u->b->ops->name, what, x, y);
	u->wrong = true;
}

/* Conditions on the counters that must hold for any order of events. */
static void check_totals(struct burst *u)
{
	struct bench *b = u->b;
	uint32_t verdicts = 0, left = 0, work = 0;
	unsigned int k;

	for (k = RF_CNT_RX_FRAMES + 1; k < RF_CNT_REPEAT_STALE; k++)
		verdicts += total(b, k);
	for (k = RF_CNT_TX_FRAMES + 1; k < RF_CNT_COUNT; k++)
		left += total(b, k);
	for (k = 0; k < TRAFFIC_GROUPS; k++) {
		work += u->groups[k].ranks * u->count;
		equal(u, "error of a group", bench_group_read(b, k, RF_GROUP_ERROR), 0);
		equal(u, "head", bench_group_read(b, k, RF_GROUP_HEAD), u->count);
		equal(u, "issued", bench_group_read(b, k, RF_GROUP_ISSUED), u->count);
		equal(u, "tail", bench_group_read(b, k, RF_GROUP_TAIL), u->count);
	}
	equal(u, "frames in and verdicts", total(b, RF_CNT_RX_FRAMES), verdicts);
	equal(u, "frames out and their kinds", total(b, RF_CNT_TX_FRAMES), left);
	equal(u, "accepted",
	      total(b, RF_CNT_ACCEPTED) + total(b, RF_CNT_AHEAD) + total(b, RF_CNT_AHEAD_NAK),
	      work);
	equal(u, "NAKs",
	      total(b, RF_CNT_GAP_NAK) + total(b, RF_CNT_GAP_RNR) + total(b, RF_CNT_PENDING_NAK) +
		      total(b, RF_CNT_PENDING_RNR) + total(b, RF_CNT_AHEAD_NAK),
	      total(b, RF_CNT_TX_NAK));
	equal(u, "first sendings", total(b, RF_CNT_TX_FIRST), work);
	equal(u, "repeats", total(b, RF_CNT_REPEAT),
	      total(b, RF_CNT_TX_REPEAT) + total(b, RF_CNT_REPEAT_STALE));
	equal(u, "on behalf", total(b, RF_CNT_BEHALF), total(b, RF_CNT_TX_BEHALF));
	equal(u, "ACKs and CNPs", total(b, RF_CNT_ACK_FORWARDED) + total(b, RF_CNT_CNP_BACK),
	      total(b, RF_CNT_TX_ACK));
	equal(u, "foreign", total(b, RF_CNT_FOREIGN), total(b, RF_CNT_TX_FOREIGN));
	if (u->strange > u->changed) {
		printf("%s: %u strange frames of %u that were changed\n", b->ops->name, u->strange,
		       u->changed);
		u->wrong = true;
	}
	equal(u, "overflows", total(b, RF_CNT_RX_OVERFLOW), 0);
}

static void prepare(struct burst *u, struct bench *b, uint64_t seed, uint32_t count,
		    unsigned int mutate)
{
	unsigned int n, r;

	memset(u, 0, sizeof(*u));
	u->b = b;
	u->state = seed;
	u->count = count;
	u->mutate = mutate;
	for (n = 0; n < TRAFFIC_GROUPS; n++) {
		struct bench_group *g = &u->groups[n];

		traffic_group(&u->state, b, n, g);
		u->form_seed[n] = random_next(&u->state);
		u->results[n] = calloc(count, sizeof(*u->results[n]));
		if (!u->results[n])
			abort();
		if (!bench_group_start(b, g))
			u->wrong = true;
		for (r = 0; r < g->ranks; r++) {
			u->end[n][r].conn = &g->conn[r];
			u->end[n][r].digest = 1;
		}
	}
}

bool burst_run(struct bench *b, uint64_t seed, unsigned long count, unsigned int mutate,
	       bool verbose)
{
	static struct burst u[2];
	unsigned int k, n, r;
	bool same = true;

	for (k = 0; k < 2; k++) {
		prepare(&u[k], &b[k], seed, (uint32_t)count, mutate);
		drive(&u[k]);
		if (!u[k].wrong)
			check_totals(&u[k]);
		if (verbose)
			printf("%s: %llu cycles, %u frames in, %u repeats, %u stale, %u on "
			       "behalf, %u changed copies, %u of them out again\n",
			       b[k].ops->name, (unsigned long long)b[k].ops->cycle(b[k].e),
			       total(&b[k], RF_CNT_RX_FRAMES), total(&b[k], RF_CNT_TX_REPEAT),
			       total(&b[k], RF_CNT_REPEAT_STALE), total(&b[k], RF_CNT_TX_BEHALF),
			       u[k].changed, u[k].strange);
		same = same && !u[k].wrong && !b[k].stuck;
		for (n = 0; n < TRAFFIC_GROUPS; n++)
			free(u[k].results[n]);
	}
	for (n = 0; same && n < TRAFFIC_GROUPS; n++) {
		for (r = 0; r < u[0].groups[n].ranks; r++) {
			if (u[0].end[n][r].digest != u[1].end[n][r].digest) {
				complain(&u[1], &u[1].end[n][r], "packets differ from the other's",
					 u[1].end[n][r].done);
				same = false;
			}
		}
	}
	return same;
}
