#include "tests/unit/model_extra.h"

#include <stdio.h>
#include <string.h>

#include "proto/rf_bytes.h"
#include "sim/model/rf_model.h"

void extra_start(struct bench *b, struct bench_group *g, unsigned int lanes)
{
	common_open(b, 4, lanes);
	assert_true(bench_group_start(b, g));
}

void extra_frame(struct bench *b, unsigned int port, const uint8_t *frame, size_t len,
		 unsigned int counter)
{
	uint32_t before[RF_CNT_COUNT], after, want;
	unsigned int k;

	for (k = 0; k < RF_CNT_COUNT; k++)
		before[k] = bench_counter(b, port, k);
	bench_feed(b, port, frame, len, false);
	assert_true(bench_settle(b));
	for (k = 0; k < RF_CNT_COUNT; k++) {
		if (k >= RF_CNT_REPEAT_STALE)
			continue; /* not a verdict */
		want = before[k] + (k == counter || k == RF_CNT_RX_FRAMES);
		after = bench_counter(b, port, k);
		if (after != want)
			fail_msg("port %u: %s is %u, not %u (%s was to rise)", port,
				 bench_counter_names[k], after, want, bench_counter_names[counter]);
	}
}

void extra_packet(struct bench *b, unsigned int port, const struct packet *p, unsigned int counter)
{
	uint8_t frame[PACKET_MAX];

	extra_frame(b, port, frame, packet_build(p, frame), counter);
}

void extra_data(struct bench *b, const struct bench_conn *c, uint32_t index, uint32_t value,
		unsigned int counter)
{
	struct packet p;
	uint8_t payload[64];
	unsigned int k;

	for (k = 0; k < sizeof(payload); k += 4)
		rf_put_le32(payload + k, value);
	bench_data(c, &p, index, OP_SEND_ONLY, payload, sizeof(payload));
	extra_packet(b, c->port, &p, counter);
}

void extra_round(struct bench *b, const struct bench_group *g, uint32_t index, bool ack)
{
	struct packet p;
	unsigned int r;
	size_t before = b->outs;

	for (r = 0; r < g->ranks; r++)
		extra_data(b, &g->conn[r], index, 0x3f800000, RF_CNT_ACCEPTED);
	assert_int_equal(b->outs, before + g->ranks);
	for (r = 0; ack && r < g->ranks; r++) {
		bench_ack(&g->conn[r], &p, index + 1);
		extra_packet(b, g->conn[r].peer_port, &p, RF_CNT_ACK_FORWARDED);
	}
}

void extra_directed(const struct bench_conn *c, struct packet *p, uint32_t index, uint32_t imm,
		    const uint8_t *payload, size_t len)
{
	bench_data(c, p, index, OP_SEND_ONLY_IMM, payload, len);
	p->imm = imm | (index & 15);
}

void extra_ip_sound(const struct bench_out *o)
{
	uint8_t frame[PACKET_MAX];

	assert_int_equal(o->len, 14u + rf_get_be16(o->bytes + 16));
	assert_int_equal(o->len, 34u + rf_get_be16(o->bytes + 38));
	memcpy(frame, o->bytes, o->len);
	packet_checksum(frame);
	assert_memory_equal(frame, o->bytes, o->len);
	assert_true(packet_sealed(o->bytes, o->len));
}

const struct bench_out *extra_of_port(const struct bench *b, unsigned int port)
{
	const struct bench_out *found = NULL;
	size_t k;

	for (k = 0; k < b->outs; k++) {
		if (b->out[k].port != port)
			continue;
		assert_null(found);
		found = &b->out[k];
	}
	assert_non_null(found);
	return found;
}

void extra_returned(const struct bench *b, unsigned int port, const struct packet *p,
		    const uint8_t *payload, size_t len, uint8_t bth8)
{
	const struct bench_out *o = extra_of_port(b, port);
	struct packet q = *p;
	uint8_t want[PACKET_MAX];
	size_t want_len;

	q.dst_mac = p->src_mac;
	q.src_mac = BENCH_MAC + port;
	q.src_ip = p->dst_ip;
	q.dst_ip = p->src_ip;
	q.ttl = 64;
	q.udp_checksum = 0;
	q.bth8 = bth8;
	q.payload = payload;
	q.payload_len = len;
	want_len = packet_build(&q, want);
	assert_int_equal(o->len, want_len);
	assert_memory_equal(o->bytes, want, want_len);
}
