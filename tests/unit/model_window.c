/*
 * Data that ends a group, and data that must not end it: lines 27 to 30 of docs/box.md if the
 * index is outside the window, or before the start of a strict group.
 */
#include <string.h>

#include "tests/unit/model_common.h"

static uint32_t conn_reg(struct bench *b, const struct bench_conn *c, uint32_t reg)
{
	return bench_conn_read(b, c->cid, reg);
}

/* One packet of each wrong form with this index: it is counted, and nothing else happens. */
static void harmless(struct bench *b, const struct bench_conn *c, uint32_t index)
{
	static const struct {
		struct packet p;
		unsigned int counter;
	} wrong[] = {
		{{.opcode = OP_READ_REQUEST, .payload_len = 16}, RF_CNT_OPCODE},
		{{.opcode = 0x64, .payload_len = 64}, RF_CNT_OPCODE},
		{{.opcode = OP_SEND_ONLY, .payload_len = 1028}, RF_CNT_LENGTH},
		{{.opcode = OP_SEND_FIRST, .payload_len = 64}, RF_CNT_LENGTH},
		{{.opcode = OP_SEND_ONLY, .payload_len = 64, .pad = 1}, RF_CNT_ELEMENT},
	};
	uint32_t next = conn_reg(b, c, RF_CONN_NEXT);
	struct packet p;
	size_t k;

	bench_clear(b);
	for (k = 0; k < sizeof(wrong) / sizeof(wrong[0]); k++) {
		bench_data(c, &p, index, wrong[k].p.opcode, NULL, wrong[k].p.payload_len);
		p.pad = wrong[k].p.pad;
		common_packet(b, c->port, &p, wrong[k].counter);
	}
	assert_int_equal(b->outs, 0);
	assert_int_equal(bench_group_read(b, 0, RF_GROUP_ERROR), 0);
	assert_int_equal(conn_reg(b, c, RF_CONN_NEXT), next);
}

/* The form of a packet that no rank could have sent at this time does not matter: it comes from an
 * earlier use of its QPN, or from a host that guesses the PSN. */
static void line_27_28_29_elsewhere(void **unused)
{
	struct bench b;
	struct bench_group g;
	struct bench_conn *c = &g.conn[1];
	struct packet p;

	(void)unused;
	common_group(&b, &g);
	common_round(&b, &g, 0, true);
	common_round(&b, &g, 1, false);
	common_data(&b, c, 2, 1, RF_CNT_ACCEPTED);
	harmless(&b, c, 0xfffffe); /* before the start */
	harmless(&b, c, 0x900000);
	harmless(&b, c, 0);  /* acknowledged */
	harmless(&b, c, 1);  /* sent */
	harmless(&b, c, 2);  /* stored */
	harmless(&b, c, 17); /* tail + S */
	harmless(&b, c, 0x400000);
	harmless(&b, c, 0x7fffff);
	/* The group continues as if nothing had arrived; the first and the last index of the window
	 * count. */
	common_data(&b, c, 3, 1, RF_CNT_ACCEPTED);
	bench_data(c, &p, 16, OP_READ_REQUEST, NULL, 16);
	common_packet(&b, c->port, &p, RF_CNT_OPCODE);
	common_error(&b, c, RF_ERROR_OPCODE, 16);
	bench_write(&b, RF_GROUP_BASE + RF_GROUP_ERROR, RF_GROUP_ERROR_VALID_MASK);
	bench_data(c, &p, 4, OP_READ_REQUEST, NULL, 16);
	common_packet(&b, c->port, &p, RF_CNT_OPCODE);
	common_error(&b, c, RF_ERROR_OPCODE, 4);
	bench_close(&b);
}

/* In a selective group, an index that is present could not be sent at this time. */
static void line_27_28_29_present(void **unused)
{
	struct bench b;
	struct bench_group g;
	struct bench_conn *c = &g.conn[1];
	struct packet p;

	(void)unused;
	common_open(&b, 4, 1);
	bench_group_init(&g, 0, 4, 1);
	g.selective = true;
	assert_true(bench_group_start(&b, &g));
	common_data(&b, c, 2, 1, RF_CNT_AHEAD_NAK);
	harmless(&b, c, 2);
	harmless(&b, c, 16);
	bench_data(c, &p, 3, OP_READ_REQUEST, NULL, 16);
	common_packet(&b, c->port, &p, RF_CNT_OPCODE);
	common_error(&b, c, RF_ERROR_OPCODE, 3);
	bench_close(&b);
}

/* A rank whose first two packets, both before its start PSN, have these indexes. */
static void begins_early(uint32_t early, uint32_t second, bool strict, bool fails)
{
	struct bench b;
	struct bench_group g;
	struct bench_conn *c = &g.conn[2];

	common_open(&b, 4, 1);
	bench_group_init(&g, 0, 4, 1);
	g.strict = strict;
	assert_true(bench_group_start(&b, &g));
	common_data(&b, c, early, 1, RF_CNT_BEFORE_START);
	assert_int_equal(bench_group_read(&b, 0, RF_GROUP_ERROR) != 0, fails && early == 0xffffff);
	common_data(&b, c, second, 1,
		    fails && early == 0xffffff ? RF_CNT_GROUP_FAILED : RF_CNT_BEFORE_START);
	if (fails)
		common_error(&b, c, RF_ERROR_BEFORE_START, early == 0xffffff ? early : second);
	else
		common_round(&b, &g, 0, true);
	assert_int_equal(bench_group_read(&b, 0, RF_GROUP_ERROR) != 0, fails);
	bench_close(&b);
}

static void line_30_strict(void **unused)
{
	struct bench b;
	struct bench_group g;

	(void)unused;
	begins_early(0xfff000, 0xfff001, true, true); /* a message of 4096 packets too high */
	begins_early(0xfffff0, 0xfffff0, true, true); /* the same packet again */
	begins_early(0xffffff, 0xffffff, true, true); /* one packet too high */
	begins_early(0xfff000, 0xfff001, false, false);
	begins_early(0xfff000, 0x900000, true, false); /* two strangers */
	/* Once the rank has begun at its start PSN, no packet ends the group. */
	common_open(&b, 4, 1);
	bench_group_init(&g, 0, 4, 1);
	g.strict = true;
	assert_true(bench_group_start(&b, &g));
	common_round(&b, &g, 0, true);
	common_data(&b, &g.conn[2], 0xffff00, 1, RF_CNT_BEFORE_START);
	common_data(&b, &g.conn[2], 0xffff01, 1, RF_CNT_BEFORE_START);
	common_data(&b, &g.conn[2], 0xffffff, 1, RF_CNT_BEFORE_START);
	common_round(&b, &g, 1, true);
	assert_int_equal(bench_group_read(&b, 0, RF_GROUP_ERROR), 0);
	bench_close(&b);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(line_27_28_29_elsewhere),
		cmocka_unit_test(line_27_28_29_present),
		cmocka_unit_test(line_30_strict),
	};

	common_start(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
