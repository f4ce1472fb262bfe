/* The form of packets of a directed group: one test for each of the lines 27 to 29 of docs/box.md.
 */
#include <string.h>

#include "tests/unit/model_extra.h"

#define WANTS EXTRA_WANTS
#define GIVES EXTRA_GIVES
#define BOTH (WANTS | GIVES)

static void open_group(struct bench *b, struct bench_group *g)
{
	bench_group_init(g, 0, 4, 1);
	g->mirror = 3;
	g->directed = true;
	g->dtype = RF_DTYPE_FP32;
	g->op = RF_OP_SUM;
	extra_start(b, g, 1);
}

/*
 * The packet of rank 1 is counted so. Where it could not be stored (at tail + S) nothing else
 * happens; at index 0 it ends the group with this cause.
 */
static void refused(uint8_t opcode, uint32_t imm, size_t len, uint8_t pad, unsigned int counter,
		    unsigned int cause)
{
	struct bench b;
	struct bench_group g;
	const struct bench_conn *c = &g.conn[1];
	struct packet p;

	open_group(&b, &g);
	bench_data(c, &p, 16, opcode, NULL, len);
	p.imm = imm;
	p.pad = pad;
	extra_packet(&b, 1, &p, counter);
	assert_int_equal(bench_group_read(&b, 0, RF_GROUP_ERROR), 0);
	p.psn = c->start;
	extra_packet(&b, 1, &p, counter);
	common_error(&b, c, cause, 0);
	assert_int_equal(bench_group_read(&b, 0, RF_GROUP_ERROR_GOT),
			 cause >= RF_ERROR_IMMEDIATE ? imm : 0);
	assert_int_equal(bench_conn_read(&b, c->cid, RF_CONN_NEXT), 0);
	assert_int_equal(b.outs, 0);
	bench_close(&b);
}

static void accepted(uint8_t opcode, uint32_t imm, size_t len, uint8_t pad)
{
	struct bench b;
	struct bench_group g;
	struct packet p;

	open_group(&b, &g);
	bench_data(&g.conn[1], &p, 0, opcode, NULL, len);
	p.imm = imm;
	p.pad = pad;
	extra_packet(&b, 1, &p, RF_CNT_ACCEPTED);
	bench_close(&b);
}

static void line_27_opcode(void **unused)
{
	struct bench b;
	struct bench_group g;
	struct packet p;

	(void)unused;
	refused(OP_WRITE_ONLY, BOTH, 64, 0, RF_CNT_OPCODE, RF_ERROR_OPCODE);
	refused(OP_WRITE_ONLY_IMM, BOTH, 64, 0, RF_CNT_OPCODE, RF_ERROR_OPCODE);
	refused(OP_READ_REQUEST, BOTH, 16, 0, RF_CNT_OPCODE, RF_ERROR_OPCODE);
	open_group(&b, &g);
	bench_data(&g.conn[1], &p, 0, 0x64, NULL, 64);
	extra_packet(&b, 1, &p, RF_CNT_OPCODE);
	assert_int_equal(bench_group_read(&b, 0, RF_GROUP_ERROR), 0);
	/* On a ring connection, as in a group that is not directed. */
	bench_data(&g.conn[2], &p, 0, 0x64, NULL, 64);
	extra_packet(&b, 2, &p, RF_CNT_OPCODE);
	common_error(&b, &g.conn[2], RF_ERROR_OPCODE, 0);
	bench_close(&b);
}

static void line_28_length(void **unused)
{
	(void)unused;
	refused(OP_SEND_ONLY, 0, 0, 0, RF_CNT_LENGTH, RF_ERROR_LENGTH);
	refused(OP_SEND_LAST_IMM, BOTH, 0, 0, RF_CNT_LENGTH, RF_ERROR_LENGTH);
	refused(OP_SEND_ONLY_IMM, WANTS, 0, 1, RF_CNT_LENGTH, RF_ERROR_LENGTH);
	refused(OP_SEND_ONLY_IMM, BOTH, 1028, 0, RF_CNT_LENGTH, RF_ERROR_LENGTH);
	refused(OP_SEND_FIRST, 0, 64, 0, RF_CNT_LENGTH, RF_ERROR_LENGTH);
	accepted(OP_SEND_ONLY_IMM, WANTS, 0, 0);
	accepted(OP_SEND_ONLY_IMM, BOTH, 1024, 0);
	accepted(OP_SEND_LAST_IMM, BOTH, 4, 0);
	accepted(OP_SEND_MIDDLE, 0, 1024, 0);
}

/* An endpoint that slipped by one packet, whatever else its immediate says. */
static void line_28a_order(void **unused)
{
	unsigned int bits;

	(void)unused;
	for (bits = 1; bits < 16; bits++) {
		refused(OP_SEND_ONLY_IMM, WANTS | bits, 0, 0, RF_CNT_ORDER, RF_ERROR_ORDER);
		refused(OP_SEND_LAST_IMM, GIVES | bits, 64, 0, RF_CNT_ORDER, RF_ERROR_ORDER);
	}
	accepted(OP_SEND_ONLY, BOTH | 5, 64, 0); /* has no immediate */
}

static void line_28b_immediate(void **unused)
{
	static const uint8_t floats[] = {RF_DTYPE_FP32, RF_DTYPE_BF16, RF_DTYPE_FP16,
					 RF_DTYPE_FP64};
	unsigned int op, type, k;

	(void)unused;
	for (op = RF_MODEL_OPS; op < 16; op++)
		refused(OP_SEND_ONLY_IMM, BOTH | EXTRA_CODE(op, RF_DTYPE_INT32), 64, 0,
			RF_CNT_IMMEDIATE, RF_ERROR_IMMEDIATE);
	for (type = RF_MODEL_TYPES; type < 16; type++)
		refused(OP_SEND_ONLY_IMM, WANTS | EXTRA_CODE(RF_OP_SUM, type), 0, 0,
			RF_CNT_IMMEDIATE, RF_ERROR_IMMEDIATE);
	for (op = RF_OP_AND; op <= RF_OP_XOR; op++) {
		for (k = 0; k < sizeof(floats); k++)
			refused(OP_SEND_ONLY_IMM, BOTH | EXTRA_CODE(op, floats[k]), 64, 0,
				RF_CNT_IMMEDIATE, RF_ERROR_IMMEDIATE);
	}
	refused(OP_SEND_ONLY_IMM, BOTH, 0, 0, RF_CNT_IMMEDIATE, RF_ERROR_IMMEDIATE);
	refused(OP_SEND_ONLY_IMM, WANTS, 64, 0, RF_CNT_IMMEDIATE, RF_ERROR_IMMEDIATE);
	refused(OP_SEND_LAST_IMM, GIVES, 64, 0, RF_CNT_IMMEDIATE, RF_ERROR_IMMEDIATE);
	refused(OP_SEND_LAST_IMM, WANTS, 64, 0, RF_CNT_IMMEDIATE, RF_ERROR_IMMEDIATE);
	for (type = 0; type < RF_MODEL_TYPES; type++) {
		for (op = 0; op < RF_MODEL_OPS; op++) {
			bool bits = op >= RF_OP_AND && op <= RF_OP_XOR;

			if (!(bits && (type < RF_DTYPE_INT32 || type == RF_DTYPE_FP64)))
				accepted(OP_SEND_ONLY_IMM, BOTH | EXTRA_CODE(op, type), 64, 0);
		}
	}
}

/* The element is that of the immediate; of JOIN without one. */
static void line_29_element(void **unused)
{
	static const uint8_t sizes[] = {4, 2, 2, 4, 4, 8, 8, 8, 1, 1};
	unsigned int type, pad;

	(void)unused;
	for (type = 0; type < RF_MODEL_TYPES; type++) {
		for (pad = 0; pad < 4; pad++) {
			uint32_t imm = BOTH | EXTRA_CODE(RF_OP_SUM, type);

			/* 12 - pad bytes of data. */
			if ((12 - pad) % sizes[type])
				refused(OP_SEND_ONLY_IMM, imm, 12, (uint8_t)pad, RF_CNT_ELEMENT,
					RF_ERROR_ELEMENT);
			else
				accepted(OP_SEND_ONLY_IMM, imm, 12, (uint8_t)pad);
			imm = GIVES | EXTRA_CODE(RF_OP_COPY, type);
			accepted(OP_SEND_ONLY_IMM, imm, 12, (uint8_t)pad);
		}
	}
	refused(OP_SEND_ONLY, 0, 12, 2, RF_CNT_ELEMENT, RF_ERROR_ELEMENT);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(line_27_opcode),  cmocka_unit_test(line_28_length),
		cmocka_unit_test(line_28a_order),  cmocka_unit_test(line_28b_immediate),
		cmocka_unit_test(line_29_element),
	};

	common_start(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
