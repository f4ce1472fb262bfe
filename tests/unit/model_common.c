#include "tests/unit/model_common.h"

#include <stdio.h>
#include <string.h>

#include "proto/rf_bytes.h"

static const char *engine = "model";

void common_start(int argc, char **argv)
{
	if (argc > 1)
		engine = argv[1];
	printf("engine %s\n", engine);
}

bool common_is_model(void)
{
	return strncmp(engine, "model", 5) == 0;
}

bool common_is_soft(void)
{
	return strcmp(engine, "soft") == 0;
}

/* The Verilated boxes that mk/model.mk builds for these tests: the default one, all others narrow.
 */
static unsigned int width_of(unsigned int ports, unsigned int lanes)
{
	return common_is_model() || (ports == 4 && lanes == 1) ? 512 : 64;
}

bool common_is_default(unsigned int ports, unsigned int lanes)
{
	return width_of(ports, lanes) == 512;
}

void common_open(struct bench *b, unsigned int ports, unsigned int lanes)
{
	struct rf_engine_cfg cfg;
	const struct rf_engine_ops *ops;

	bench_shape(&cfg, ports, lanes, width_of(ports, lanes));
	ops = engine_named(engine, &cfg);
	if (!ops)
		fail_msg("no engine %s of %u ports and %u lanes: make tests builds it", engine,
			 ports, lanes);
	assert_true(bench_open(b, ops, &cfg));
	if (common_is_model())
		rf_model_set_mutant(b->e, engine_mutant(engine));
}

void common_group(struct bench *b, struct bench_group *g)
{
	common_open(b, 4, 1);
	bench_group_init(g, 0, 4, 1);
	assert_true(bench_group_start(b, g));
}

/* Verdicts are the counters before repeat_stale: that one and those of sending come later. */
static bool is_verdict(unsigned int counter)
{
	return counter < RF_CNT_REPEAT_STALE;
}

void common_frame(struct bench *b, unsigned int port, const uint8_t *frame, size_t len, bool bad,
		  unsigned int counter)
{
	uint32_t before[RF_CNT_COUNT], after;
	unsigned int k;

	for (k = 0; k < RF_CNT_COUNT; k++)
		before[k] = bench_counter(b, port, k);
	bench_feed(b, port, frame, len, bad);
	assert_true(bench_settle(b));
	for (k = 0; k < RF_CNT_COUNT; k++) {
		uint32_t want = before[k] + (k == counter || k == RF_CNT_RX_FRAMES);

		if (!is_verdict(k) && k != counter)
			continue;
		after = bench_counter(b, port, k);
		if (after != want)
			fail_msg("port %u: %s is %u, not %u (%s was to rise)", port,
				 bench_counter_names[k], after, want, bench_counter_names[counter]);
	}
}

void common_packet(struct bench *b, unsigned int port, const struct packet *p, unsigned int counter)
{
	uint8_t frame[PACKET_MAX];

	common_frame(b, port, frame, packet_build(p, frame), false, counter);
}

void common_data(struct bench *b, const struct bench_conn *c, uint32_t index, uint32_t value,
		 unsigned int counter)
{
	struct packet p;
	uint8_t payload[64];
	unsigned int k;

	for (k = 0; k < sizeof(payload); k += 4)
		rf_put_le32(payload + k, value);
	bench_data(c, &p, index, OP_SEND_ONLY, payload, sizeof(payload));
	common_packet(b, c->port, &p, counter);
}

void common_ack(struct bench *b, const struct bench_conn *c, uint32_t una, unsigned int counter)
{
	struct packet p;

	bench_ack(c, &p, una);
	common_packet(b, c->peer_port, &p, counter);
}

void common_round(struct bench *b, struct bench_group *g, uint32_t index, bool ack)
{
	unsigned int r;
	size_t before = b->outs;

	for (r = 0; r < g->ranks; r++)
		common_data(b, &g->conn[r], index, 0x3f800000, RF_CNT_ACCEPTED);
	assert_int_equal(b->outs, before + g->ranks);
	for (r = 0; ack && r < g->ranks; r++)
		common_ack(b, &g->conn[r], index + 1, RF_CNT_ACK_FORWARDED);
}

const struct bench_out *common_only(struct bench *b, unsigned int port)
{
	assert_int_equal(b->outs, 1);
	assert_int_equal(b->out[0].port, port);
	return &b->out[0];
}

void common_error(struct bench *b, const struct bench_conn *c, unsigned int cause, uint32_t index)
{
	uint32_t want = RF_GROUP_ERROR_VALID_MASK | cause << RF_GROUP_ERROR_CAUSE_LSB |
			c->lane << RF_GROUP_ERROR_LANE_LSB | c->port << RF_GROUP_ERROR_PORT_LSB;

	assert_int_equal(bench_group_read(b, c->group, RF_GROUP_ERROR) & ~RF_GROUP_ERROR_WHAT_MASK,
			 want);
	assert_int_equal(bench_group_read(b, c->group, RF_GROUP_ERROR_INDEX), index);
	assert_int_equal(bench_read(b, RF_IRQ) & RF_IRQ_GROUP_ERROR_MASK, RF_IRQ_GROUP_ERROR_MASK);
	assert_true(b->ops->irq(b->e));
}

uint32_t common_psn(const struct bench_out *o)
{
	return rf_get_be24(o->bytes + packet_l2(o->bytes) + 37);
}

uint32_t common_element(const struct bench_out *o, unsigned int k)
{
	return rf_get_le32(o->bytes + packet_payload_at(o->bytes) + 4 * k);
}
