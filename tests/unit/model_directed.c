/*
 * Directed groups: what their passes make, and what the ranks may not state. docs/box.md, "Directed
 * groups". The forms of single packets are in model_form.c.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "proto/rf_bytes.h"
#include "tests/unit/model_extra.h"

#define WANTS EXTRA_WANTS
#define GIVES EXTRA_GIVES
#define ONE 0x3f800000u

static uint64_t seed = 1;

/* Four mirror ranks in a directed group of fp32 sums. */
static void open_group(struct bench *b, struct bench_group *g)
{
	bench_group_init(g, 0, 4, 1);
	g->mirror = 15;
	g->directed = true;
	g->dtype = RF_DTYPE_FP32;
	g->op = RF_OP_SUM;
	extra_start(b, g, 1);
}

/* What one rank sends at an index. */
struct say {
	uint32_t flags; /* WANTS, GIVES */
	const uint8_t *data;
};

/*
 * Every rank of a group of one rank per port says what it says; data has len bytes and `pad` more.
 * Each must get the result if it wants, and an empty packet otherwise, in the whole frame.
 */
static void round_of(struct bench *b, const struct bench_group *g, uint32_t index, uint32_t code,
		     const struct say *say, size_t len, unsigned int pad, const uint8_t *result)
{
	uint8_t padded[1024] = {0}, want[1024] = {0};
	bool any = false;
	struct packet p[4];
	unsigned int r;

	bench_clear(b);
	memcpy(want, result, len);
	for (r = 0; r < 4; r++) {
		bool gives = say[r].flags & GIVES;

		memset(padded, 0xa5, sizeof(padded)); /* pad bytes are not read */
		if (gives)
			memcpy(padded, say[r].data, len);
		any = any || gives;
		extra_directed(&g->conn[r], &p[r], index, code | say[r].flags, padded,
			       gives ? len + pad : 0);
		p[r].pad = gives ? (uint8_t)pad : 0;
		extra_packet(b, r, &p[r], RF_CNT_ACCEPTED);
	}
	for (r = 0; r < 4; r++) {
		bool full = any && (say[r].flags & WANTS);

		p[r].pad = full ? (uint8_t)pad : 0;
		extra_returned(b, r, &p[r], want, full ? len + pad : 0, index % 2 ? 0 : 0x80);
	}
	for (r = 0; r < 4; r++) {
		bench_ack(&g->conn[r], &p[r], index + 1);
		extra_packet(b, r, &p[r], RF_CNT_ACK_FORWARDED);
	}
}

static void collectives_of(bool tagged, bool selective)
{
	struct bench b;
	struct bench_group g;
	uint8_t a[64], sum[64];
	unsigned int k;

	bench_group_init(&g, 0, 4, 1);
	g.mirror = 15;
	g.tagged = tagged;
	g.selective = selective;
	g.directed = true;
	g.dtype = RF_DTYPE_FP32;
	g.op = RF_OP_SUM;
	extra_start(&b, &g, 1);
	for (k = 0; k < sizeof(a); k += 4) {
		rf_put_le32(a + k, k);
		rf_put_le32(sum + k, 4 * k);
	}
	const uint32_t int_sum = EXTRA_CODE(RF_OP_SUM, RF_DTYPE_INT32);
	const uint32_t copy = EXTRA_CODE(RF_OP_COPY, RF_DTYPE_FP32);
	const struct say both = {WANTS | GIVES, a}, gives = {GIVES, a}, wants = {WANTS, NULL},
			 none = {0, NULL};

	round_of(&b, &g, 0, int_sum, (struct say[]){both, both, both, both}, 64, 0, sum);
	/* Reduce to rank 2, broadcast from rank 1 with and without a copy to itself. */
	round_of(&b, &g, 1, int_sum, (struct say[]){gives, gives, both, gives}, 64, 0, sum);
	round_of(&b, &g, 2, copy, (struct say[]){wants, gives, wants, wants}, 64, 0, a);
	round_of(&b, &g, 3, copy, (struct say[]){wants, both, wants, wants}, 64, 0, a);
	/* Scatter and gather: one gives, one wants. */
	round_of(&b, &g, 4, copy, (struct say[]){gives, none, wants, none}, 64, 0, a);
	/* Barrier. */
	round_of(&b, &g, 5, int_sum, (struct say[]){none, none, none, none}, 0, 0, a);
	/* Nobody gives, and they want: empty. */
	round_of(&b, &g, 6, int_sum, (struct say[]){wants, none, wants, wants}, 0, 0, a);
	/* Pad: a receiver's own packet has none, the result has it. */
	round_of(&b, &g, 7, EXTRA_CODE(RF_OP_COPY, RF_DTYPE_UINT8),
		 (struct say[]){wants, none, gives, wants}, 61, 3, a);
	assert_int_equal(bench_group_read(&b, 0, RF_GROUP_ERROR), 0);
	assert_int_equal(bench_group_read(&b, 0, RF_GROUP_TAIL), 8);
	bench_close(&b);
}

static void collectives(void **unused)
{
	(void)unused;
	collectives_of(false, false);
	collectives_of(true, false);
	collectives_of(false, true);
}

/* Empty packets that come ahead are stored, present, and taken in their turn. */
static void ahead(void **unused)
{
	const uint32_t code = EXTRA_CODE(RF_OP_COPY, RF_DTYPE_FP32);
	struct bench b;
	struct bench_group g;
	struct packet p;
	uint8_t a[64];
	unsigned int i, r;

	(void)unused;
	bench_group_init(&g, 0, 4, 1);
	g.mirror = 15;
	g.selective = true;
	g.directed = true;
	g.dtype = RF_DTYPE_FP32;
	g.op = RF_OP_SUM;
	extra_start(&b, &g, 1);
	memset(a, 0x55, sizeof(a));
	for (i = 3; i-- > 0;) {
		extra_directed(&g.conn[3], &p, i, code | WANTS, NULL, 0);
		extra_packet(&b, 3, &p, i ? RF_CNT_AHEAD_NAK : RF_CNT_ACCEPTED);
	}
	bench_clear(&b);
	for (i = 0; i < 3; i++) {
		for (r = 0; r < 3; r++) {
			extra_directed(&g.conn[r], &p, i, code | (r ? 0 : GIVES), a, r ? 0 : 64);
			extra_packet(&b, r, &p, RF_CNT_ACCEPTED);
		}
	}
	assert_int_equal(b.outs, 12);
	for (i = 0; i < b.outs; i++)
		assert_int_equal(b.out[i].len, b.out[i].port == 3 ? 62 + 64 : 62);
	bench_close(&b);
}

/* A rank that does not give is masked out: not a zero, for no operation. */
static void masked_out(void **unused)
{
	static const struct {
		uint32_t op, type, operand;
	} cases[] = {
		{RF_OP_SUM, RF_DTYPE_FP32, 0x80000000},  {RF_OP_MIN, RF_DTYPE_FP32, ONE},
		{RF_OP_MAX, RF_DTYPE_INT32, 0xfffffff0}, {RF_OP_AND, RF_DTYPE_INT32, 0x1234},
		{RF_OP_MIN, RF_DTYPE_UINT32, 77},
	};
	struct bench b;
	struct bench_group g;
	uint8_t a[64];
	unsigned int k, n, r;

	(void)unused;
	open_group(&b, &g);
	for (n = 0; n < sizeof(cases) / sizeof(cases[0]); n++) {
		struct say say[4] = {{WANTS, NULL}, {WANTS, NULL}, {WANTS, NULL}, {WANTS, NULL}};

		for (k = 0; k < sizeof(a); k += 4)
			rf_put_le32(a + k, cases[n].operand);
		r = n % 4;
		say[r] = (struct say){WANTS | GIVES, a};
		round_of(&b, &g, n, EXTRA_CODE(cases[n].op, cases[n].type), say, 64, 0, a);
	}
	bench_close(&b);
}

/* A copy keeps every bit: signalling NaN, signs, halves of elements. */
static void copy_bits(void **unused)
{
	static const uint8_t types[] = {RF_DTYPE_FP32, RF_DTYPE_BF16, RF_DTYPE_FP16, RF_DTYPE_FP64,
					RF_DTYPE_INT32};
	struct bench b;
	struct bench_group g;
	uint8_t a[64];
	unsigned int k, n;

	(void)unused;
	open_group(&b, &g);
	for (k = 0; k < sizeof(a); k += 8) {
		rf_put_le32(a + k, 0x7f800001 + k);
		rf_put_le32(a + k + 4, 0xfff00001 + k);
	}
	for (n = 0; n < sizeof(types); n++)
		round_of(&b, &g, n, EXTRA_CODE(RF_OP_COPY, types[n]),
			 (struct say[]){{WANTS, NULL}, {GIVES, a}, {WANTS, NULL}, {WANTS, NULL}},
			 n == 0 ? 63 : 64, n == 0, a);
	bench_close(&b);
}

/* The error names the rank, in what it differs, and both values. */
static void disagree(const uint32_t *imm, const size_t *len, unsigned int rank, unsigned int what,
		     uint32_t got, uint32_t want)
{
	struct bench b;
	struct bench_group g;
	struct packet p;
	unsigned int r;

	open_group(&b, &g);
	for (r = 0; r < 4; r++) {
		extra_directed(&g.conn[r], &p, 0, imm[r], NULL, len[r]);
		extra_packet(&b, r, &p, RF_CNT_ACCEPTED);
	}
	assert_int_equal(b.outs, 0);
	common_error(&b, &g.conn[rank], RF_ERROR_DISAGREE, 0);
	assert_int_equal((bench_group_read(&b, 0, RF_GROUP_ERROR) & RF_GROUP_ERROR_WHAT_MASK) >>
				 RF_GROUP_ERROR_WHAT_LSB,
			 what);
	assert_int_equal(bench_group_read(&b, 0, RF_GROUP_ERROR_GOT), got);
	assert_int_equal(bench_group_read(&b, 0, RF_GROUP_ERROR_WANT), want);
	bench_close(&b);
}

static void pass_disagrees(void **unused)
{
	const uint32_t ok = WANTS | GIVES | EXTRA_CODE(RF_OP_SUM, RF_DTYPE_INT32);
	const uint32_t copy = EXTRA_CODE(RF_OP_COPY, RF_DTYPE_INT32);
	const size_t same[] = {64, 64, 64, 64};
	unsigned int bit;

	(void)unused;
	for (bit = 4; bit < 32; bit++) {
		uint32_t other = ok ^ 1u << bit;

		if (bit == 14 || bit == 15 || bit == 7 || (bit >= 9 && bit <= 11))
			continue; /* flags; codes that form refuses */
		disagree((uint32_t[]){ok, ok, other, ok}, same, 2, 1, other, ok);
	}
	/* Rank 0 is the one that all others differ from. */
	disagree((uint32_t[]){ok ^ 1u << 16, ok, ok, ok}, same, 1, 1, ok, ok ^ 1u << 16);
	/* A rank that does not give must agree, too. */
	disagree((uint32_t[]){ok, ok, ok, (ok ^ 1u << 26) & ~GIVES}, (size_t[]){64, 64, 64, 0}, 3,
		 1, (ok ^ 1u << 26) & ~GIVES, ok);
	disagree((uint32_t[]){copy | WANTS, copy | GIVES, copy | WANTS, copy | GIVES | WANTS},
		 (size_t[]){0, 64, 0, 64}, 3, 2, copy | GIVES | WANTS, copy | GIVES);
	disagree((uint32_t[]){ok & ~GIVES, ok, ok, ok}, (size_t[]){0, 64, 64, 60}, 3, 3, 60, 64);
}

/* Packets of long messages; one rank gives and wants the same with single packets. */
static void long_messages(void **unused)
{
	static const uint8_t opcodes[] = {OP_SEND_FIRST, OP_SEND_MIDDLE, OP_SEND_LAST_IMM};
	const uint32_t code = WANTS | GIVES | EXTRA_CODE(RF_OP_SUM, RF_DTYPE_INT32) | 5u << 28;
	struct bench b;
	struct bench_group g;
	struct packet p[4];
	uint8_t a[1024], sum[1024];
	unsigned int k, i, r;

	(void)unused;
	bench_group_init(&g, 0, 4, 1);
	g.mirror = 15;
	g.directed = true;
	g.dtype = RF_DTYPE_INT32;
	g.op = RF_OP_SUM;
	extra_start(&b, &g, 1);
	for (k = 0; k < sizeof(a); k += 4) {
		rf_put_le32(a + k, 0x01020304 * k);
		rf_put_le32(sum + k, 4 * 0x01020304 * k);
	}
	for (i = 0; i < 3; i++) {
		size_t len = i == 2 ? 100 : 1024;

		bench_clear(&b);
		for (r = 0; r < 4; r++) {
			if (r == 3)
				extra_directed(&g.conn[r], &p[r], i, code, a, len);
			else
				bench_data(&g.conn[r], &p[r], i, opcodes[i], a, len);
			p[r].imm = code | i;
			extra_packet(&b, r, &p[r], RF_CNT_ACCEPTED);
		}
		for (r = 0; r < 4; r++)
			extra_returned(&b, r, &p[r], sum, len, i % 2 ? 0 : 0x80);
	}
	/* The closing packet's tag is compared with that of the single packet. */
	for (r = 0; r < 4; r++) {
		extra_directed(&g.conn[r], &p[r], 3, code ^ (r == 3 ? 1u << 31 : 0), a, 64);
		if (r < 2)
			bench_data(&g.conn[r], &p[r], 3, OP_SEND_ONLY, a, 64);
		extra_packet(&b, r, &p[r], RF_CNT_ACCEPTED);
	}
	common_error(&b, &g.conn[3], RF_ERROR_DISAGREE, 3);
	bench_close(&b);
}

/* Loss: empty packets are repeated, acknowledged on behalf and asked for like any other. */
static void empty_packets_of_the_ledger(void **unused)
{
	const uint32_t code = EXTRA_CODE(RF_OP_COPY, RF_DTYPE_FP32);
	struct bench b;
	struct bench_group g;
	struct packet p[4], ack;
	uint8_t a[64];
	unsigned int r;

	(void)unused;
	open_group(&b, &g);
	memset(a, 0x7f, sizeof(a));
	/* Index 1 of rank 3 comes first. */
	extra_directed(&g.conn[3], &p[3], 1, code | WANTS, NULL, 0);
	extra_packet(&b, 3, &p[3], RF_CNT_GAP_NAK);
	for (r = 0; r < 4; r++) {
		extra_directed(&g.conn[r], &p[r], 0, code | (r ? WANTS : GIVES), a, r ? 0 : 64);
		extra_packet(&b, r, &p[r], RF_CNT_ACCEPTED);
	}
	/* The receiver asks again with its empty packet, the sender with its data. */
	bench_clear(&b);
	extra_packet(&b, 3, &p[3], RF_CNT_REPEAT);
	extra_returned(&b, 3, &p[3], a, 64, 0x80);
	bench_clear(&b);
	extra_packet(&b, 0, &p[0], RF_CNT_REPEAT);
	extra_returned(&b, 0, &p[0], NULL, 0, 0x80);
	for (r = 0; r < 4; r++) {
		bench_ack(&g.conn[r], &ack, 1);
		extra_packet(&b, r, &ack, RF_CNT_ACK_FORWARDED);
	}
	extra_packet(&b, 3, &p[3], RF_CNT_BEHALF);
	assert_int_equal(bench_group_read(&b, 0, RF_GROUP_TAIL), 1);
	bench_close(&b);
}

static void cnp_of(struct bench *b, const struct bench_conn *c, unsigned int counter)
{
	struct packet p;
	uint8_t zeros[16] = {0};

	bench_ack(c, &p, 1);
	p.opcode = OP_CNP;
	p.psn = 0;
	p.payload = zeros;
	p.payload_len = sizeof(zeros);
	extra_packet(b, c->peer_port, &p, counter);
}

/* Ranks 0 and 1 give, with these ECN bits; ranks 2 and 3 want. Wants the bits of what leaves. */
static void marked_round(struct bench *b, const struct bench_group *g, uint32_t index, bool nobody,
			 const uint8_t *ecn, const uint8_t *want)
{
	const uint32_t code = EXTRA_CODE(RF_OP_SUM, RF_DTYPE_INT32);
	struct packet p;
	uint8_t a[64] = {0};
	unsigned int r;

	bench_clear(b);
	for (r = 0; r < 4; r++) {
		bool gives = r < 2 && !nobody;

		extra_directed(&g->conn[r], &p, index, code | (gives ? GIVES : WANTS), a,
			       gives ? 64 : 0);
		p.tos = (uint8_t)(0x20 | ecn[r]);
		extra_packet(b, g->conn[r].port, &p, RF_CNT_ACCEPTED);
	}
	for (r = 0; r < 4; r++) {
		const struct bench_out *o = extra_of_port(b, r);

		assert_int_equal(o->bytes[15], 0x20 | want[r]);
		extra_ip_sound(o);
	}
}

static void marks(void **unused)
{
	static const uint8_t ect[] = {2, 1, 2, 2}, ce[] = {3, 3, 2, 2}, off[] = {0, 2, 0, 2},
			     off_ce[] = {0, 3, 0, 2};
	struct bench b;
	struct bench_group g;

	(void)unused;
	open_group(&b, &g);
	cnp_of(&b, &g.conn[2], RF_CNT_CNP_BACK); /* nothing stored yet: it counts as giving */
	marked_round(&b, &g, 0, false, ect, ect);
	cnp_of(&b, &g.conn[2], RF_CNT_CNP_MARK);
	cnp_of(&b, &g.conn[3], RF_CNT_CNP_MARK);
	cnp_of(&b, &g.conn[0], RF_CNT_CNP_BACK);
	marked_round(&b, &g, 1, false, ect, ce); /* once, however many CNPs */
	marked_round(&b, &g, 2, false, ect, ect);
	cnp_of(&b, &g.conn[3], RF_CNT_CNP_MARK);
	marked_round(&b, &g, 3, true, ect, ect); /* nobody gives: the mark stays */
	marked_round(&b, &g, 4, false, off, off_ce);
	marked_round(&b, &g, 5, false, ect, ect);
	bench_close(&b);
}

/* A CNP for a ring rank that does not give marks as well; otherwise it passes. */
static void marks_on_a_ring(void **unused)
{
	static const uint8_t ect[] = {2, 2, 2, 2}, ce[] = {3, 3, 2, 2};
	struct bench b;
	struct bench_group g;

	(void)unused;
	bench_group_init(&g, 0, 4, 1);
	g.directed = true;
	g.dtype = RF_DTYPE_FP32;
	g.op = RF_OP_SUM;
	extra_start(&b, &g, 1);
	marked_round(&b, &g, 0, false, ect, ect);
	cnp_of(&b, &g.conn[0], RF_CNT_FOREIGN);
	cnp_of(&b, &g.conn[3], RF_CNT_CNP_MARK);
	marked_round(&b, &g, 1, false, ect, ce);
	bench_close(&b);
}

/* Any of the integer types and operations, any subset giving and wanting, any length. */
static void random_rounds(void **unused)
{
	static const uint8_t types[] = {RF_DTYPE_INT32,  RF_DTYPE_UINT32, RF_DTYPE_INT64,
					RF_DTYPE_UINT64, RF_DTYPE_INT8,   RF_DTYPE_UINT8};
	uint64_t state = seed, w;
	struct bench b;
	struct bench_group g;
	uint8_t data[4][1024], want[1024];
	uint32_t index;
	unsigned int r;
	size_t k;

	(void)unused;
	open_group(&b, &g);
	for (index = 0; index < 300; index++) {
		unsigned int type = types[rf_rng_word(&state) % sizeof(types)];
		unsigned int op = RF_OP_AND + (unsigned int)(rf_rng_word(&state) % 3);
		size_t size = type >= RF_DTYPE_INT8 ? 1 : type >= RF_DTYPE_INT64 ? 8 : 4;
		size_t len = size * (1 + rf_rng_word(&state) % (1024 / size));
		struct say say[4];
		bool any = false;

		for (r = 0; r < 4; r++) {
			for (k = 0; k < len; k++)
				data[r][k] = (uint8_t)rf_rng_word(&state);
			w = rf_rng_word(&state);
			say[r] = (struct say){(uint32_t)w & (WANTS | GIVES), data[r]};
			for (k = 0; (say[r].flags & GIVES) && k < len; k++) {
				if (!any)
					want[k] = data[r][k];
				else if (op == RF_OP_AND)
					want[k] &= data[r][k];
				else if (op == RF_OP_OR)
					want[k] |= data[r][k];
				else
					want[k] ^= data[r][k];
			}
			any = any || (say[r].flags & GIVES);
		}
		round_of(&b, &g, index, EXTRA_CODE(op, type) | ((uint32_t)w & 0xf0000000u), say,
			 len, (unsigned int)(-len & 3), want);
	}
	assert_int_equal(bench_group_read(&b, 0, RF_GROUP_ERROR), 0);
	bench_close(&b);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(collectives),
		cmocka_unit_test(ahead),
		cmocka_unit_test(masked_out),
		cmocka_unit_test(copy_bits),
		cmocka_unit_test(pass_disagrees),
		cmocka_unit_test(long_messages),
		cmocka_unit_test(empty_packets_of_the_ledger),
		cmocka_unit_test(marks),
		cmocka_unit_test(marks_on_a_ring),
		cmocka_unit_test(random_rounds),
	};

	common_start(argc, argv);
	if (argc > 2)
		seed = strtoull(argv[2], NULL, 0);
	printf("repeat: model_directed model %llu\n", (unsigned long long)seed);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
