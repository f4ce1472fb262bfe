/*
 * The model's types and operations beyond those of CFG, against the compiler's: element by element,
 * and through a box of two lanes in which any subset of the ranks gives. Seed: second argument.
 */
#include <fenv.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "proto/rf_bytes.h"
#include "sim/model/arith.h"
#include "tests/unit/model_extra.h"

#define RANDOM_PAIRS 4000000u
#define RANKS 8u

static uint64_t seed = 1;
static uint64_t state;

static uint64_t draw(void)
{
	return rf_rng_word(&state);
}

static double to_double(uint64_t x)
{
	double d;

	memcpy(&d, &x, sizeof(d));
	return d;
}

static uint64_t to_bits(double d)
{
	uint64_t x;

	memcpy(&x, &d, sizeof(x));
	return isnan(d) ? ARITH_NAN64 : x;
}

static const uint64_t corners[] = {
	0,
	0x8000000000000000,
	1,
	0x8000000000000001,
	0x000fffffffffffff,
	0x800fffffffffffff,
	0x0010000000000000,
	0x8010000000000000,
	0x0010000000000001,
	0x001fffffffffffff,
	0x0020000000000000,
	0x3ff0000000000000,
	0xbff0000000000000,
	0x3ff0000000000001,
	0x3fefffffffffffff,
	0x3ca0000000000000,
	0xbca0000000000000,
	0x3ca0000000000001,
	0x3c9fffffffffffff,
	0x3c90000000000000,
	0x4340000000000000,
	0x433fffffffffffff,
	0xc33fffffffffffff,
	0x4350000000000001,
	0x7fefffffffffffff,
	0xffefffffffffffff,
	0x7c90000000000000,
	0x7c8fffffffffffff,
	0x7fe0000000000000,
	0x7ff0000000000000,
	0xfff0000000000000,
	0x7ff8000000000000,
	0xfff8000000000001,
	0x7ff0000000000001,
	0xffffffffffffffff,
};

#define CORNERS (sizeof(corners) / sizeof(corners[0]))

static void fault(const char *what, uint64_t a, uint64_t b, uint64_t got, uint64_t want)
{
	fail_msg("%s of %016llx and %016llx is %016llx, not %016llx; repeat: model_wide model %llu",
		 what, (unsigned long long)a, (unsigned long long)b, (unsigned long long)got,
		 (unsigned long long)want, (unsigned long long)seed);
}

static uint64_t want_extreme(uint64_t a, uint64_t b, bool max)
{
	double x = to_double(a), y = to_double(b);

	if (isnan(x))
		return isnan(y) ? ARITH_NAN64 : b;
	if (isnan(y))
		return a;
	if (x == y) /* zeros may differ in sign */
		return (signbit(x) != 0) != max ? a : b;
	return (x < y) != max ? a : b;
}

static void check_fp64(uint64_t a, uint64_t b)
{
	uint64_t want = to_bits(to_double(a) + to_double(b));

	if (arith_fp64_add(a, b) != want)
		fault("sum", a, b, arith_fp64_add(a, b), want);
	want = want_extreme(a, b, false);
	if (arith_fp64_min(a, b) != want)
		fault("minimum", a, b, arith_fp64_min(a, b), want);
	want = want_extreme(a, b, true);
	if (arith_fp64_max(a, b) != want)
		fault("maximum", a, b, arith_fp64_max(a, b), want);
}

/* Operands that meet: near exponents, near cancellation, few bits, both ends of the range. */
static void random_pair(uint64_t *a, uint64_t *b)
{
	uint64_t x = draw(), y = draw(), kind = draw();

	switch (kind & 7) {
	case 0:
		break;
	case 1: /* exponents up to 63 apart */
	case 2:
		y = (x & 0x7ff0000000000000) + ((kind >> 8 & 63) << 52) + (y & 0x800fffffffffffff);
		break;
	case 3: /* nearly the negative */
		y = (x ^ 0x8000000000000000) + (kind >> 8 & 7) - 3;
		break;
	case 4: /* subnormals and the smallest normal numbers */
		x &= 0x803fffffffffffff;
		y &= 0x801fffffffffffff;
		break;
	case 5: /* few bits: ties */
		x &= 0xfff0000000000000 | 1ull << (kind >> 8 & 63) | 1;
		y = (x & 0x7ff0000000000000) - ((kind >> 16) % 55 << 52) +
		    (y & (0x8000000000000000 | 1ull << (kind >> 24 & 31)));
		break;
	case 6: /* the upper end */
		x |= 0x7fe0000000000000;
		y |= 0x7c80000000000000;
		break;
	default:
		y = corners[(kind >> 8) % CORNERS];
		break;
	}
	*a = kind >> 63 ? y : x;
	*b = kind >> 63 ? x : y;
}

static void fp64_pairs(void **unused)
{
	uint64_t a, b;
	size_t i, k;

	(void)unused;
	for (i = 0; i < CORNERS; i++) {
		for (k = 0; k < CORNERS; k++)
			check_fp64(corners[i], corners[k]);
	}
	for (k = 0; k < RANDOM_PAIRS; k++) {
		random_pair(&a, &b);
		check_fp64(a, b);
	}
}

/* The pairs above tell the right adder from one that truncates or drops subnormals. */
static void pairs_are_sharp(void **unused)
{
	unsigned int truncated = 0, subnormal = 0;
	uint64_t a, b, k;

	(void)unused;
	for (k = 0; k < 20000; k++) {
		volatile double x, y; /* the sum is made here, in this rounding mode */
		uint64_t sum, least;

		random_pair(&a, &b);
		sum = arith_fp64_add(a, b);
		fesetround(FE_TOWARDZERO);
		x = to_double(a);
		y = to_double(b);
		least = to_bits(x + y);
		fesetround(FE_TONEAREST);
		truncated += sum != least;
		subnormal += (sum & 0x7ff0000000000000) == 0 && (sum & 0xfffffffffffff);
	}
	assert_true(truncated > 100);
	assert_true(subnormal > 100);
}

#define REFERENCE(name, type)                                                                      \
	static void name(unsigned int op, uint8_t *acc, const uint8_t *operand)                    \
	{                                                                                          \
		type a, b;                                                                         \
                                                                                                   \
		memcpy(&a, acc, sizeof(a));                                                        \
		memcpy(&b, operand, sizeof(b));                                                    \
		if (op == RF_OP_SUM)                                                               \
			a = (type)((uint64_t)a + (uint64_t)b);                                     \
		else if (op == RF_OP_MIN)                                                          \
			a = a < b ? a : b;                                                         \
		else if (op == RF_OP_MAX)                                                          \
			a = a > b ? a : b;                                                         \
		else if (op == RF_OP_AND)                                                          \
			a = (type)(a & b);                                                         \
		else if (op == RF_OP_OR)                                                           \
			a = (type)(a | b);                                                         \
		else                                                                               \
			a = (type)(a ^ b);                                                         \
		memcpy(acc, &a, sizeof(a));                                                        \
	}

REFERENCE(ref_int32, int32_t)
REFERENCE(ref_uint32, uint32_t)
REFERENCE(ref_int64, int64_t)
REFERENCE(ref_uint64, uint64_t)
REFERENCE(ref_int8, int8_t)
REFERENCE(ref_uint8, uint8_t)

static void ref_fp64(unsigned int op, uint8_t *acc, const uint8_t *operand)
{
	uint64_t a, b;

	memcpy(&a, acc, sizeof(a));
	memcpy(&b, operand, sizeof(b));
	a = op == RF_OP_SUM ? to_bits(to_double(a) + to_double(b))
			    : want_extreme(a, b, op == RF_OP_MAX);
	memcpy(acc, &a, sizeof(a));
}

static void ref_fp64_output(uint8_t *acc)
{
	uint64_t a;

	memcpy(&a, acc, sizeof(a));
	a = to_bits(to_double(a));
	memcpy(acc, &a, sizeof(a));
}

static const struct reference {
	unsigned int type, size, ops;
	void (*op)(unsigned int op, uint8_t *acc, const uint8_t *operand);
} references[] = {
	{RF_DTYPE_INT32, 4, RF_OP_COPY, ref_int32}, {RF_DTYPE_UINT32, 4, RF_OP_COPY, ref_uint32},
	{RF_DTYPE_INT64, 8, RF_OP_COPY, ref_int64}, {RF_DTYPE_UINT64, 8, RF_OP_COPY, ref_uint64},
	{RF_DTYPE_INT8, 1, RF_OP_COPY, ref_int8},   {RF_DTYPE_UINT8, 1, RF_OP_COPY, ref_uint8},
	{RF_DTYPE_FP64, 8, RF_OP_AND, ref_fp64},
};

#define REFERENCES (sizeof(references) / sizeof(references[0]))

/* Bytes of elements; fp64 also near each other. */
static void fill(const struct reference *r, uint8_t *p, size_t len)
{
	uint64_t a, b;
	size_t k;

	for (k = 0; k < len; k++)
		p[k] = (uint8_t)draw();
	for (k = 0; r->type == RF_DTYPE_FP64 && k < len; k += 8) {
		random_pair(&a, &b);
		memcpy(p + k, &a, 8);
	}
}

static void vectors(void **unused)
{
	uint8_t a[64], b[64], out[64];
	uint32_t va[64], vb[64];
	unsigned int i, op, n;
	size_t k, words;

	(void)unused;
	for (i = 0; i < REFERENCES; i++) {
		const struct reference *r = &references[i];

		assert_int_equal(arith_element_size(r->type), r->size);
		words = arith_words(r->type, sizeof(a));
		for (n = 0; n < 600; n++) {
			op = n % r->ops;
			fill(r, a, sizeof(a));
			fill(r, b, sizeof(b));
			arith_load(r->type, va, a, words);
			arith_load(r->type, vb, b, words);
			arith_combine(r->type, op, va, vb, words);
			arith_store(r->type, out, va, words);
			for (k = 0; k < sizeof(a); k += r->size)
				r->op(op, a + k, b + k);
			assert_memory_equal(out, a, sizeof(a));
		}
	}
}

/* The examples of docs/reduction.md. */
static void examples(void **unused)
{
	static const struct {
		unsigned int type, op;
		uint64_t a, b, want;
	} e[] = {
		{RF_DTYPE_UINT32, RF_OP_MAX, 0x7fffffff, 0x80000000, 0x80000000},
		{RF_DTYPE_INT64, RF_OP_SUM, 0x7fffffffffffffff, 1, 0x8000000000000000},
		{RF_DTYPE_INT8, RF_OP_SUM, 0x80, 0xff, 0x7f},
		{RF_DTYPE_INT8, RF_OP_MIN, 0x80, 0x7f, 0x80},
		{RF_DTYPE_UINT8, RF_OP_MIN, 0x80, 0x7f, 0x7f},
		{RF_DTYPE_FP64, RF_OP_SUM, 0x3ff0000000000000, 0x3ca0000000000000,
		 0x3ff0000000000000},
		{RF_DTYPE_FP64, RF_OP_SUM, 0x7fefffffffffffff, 0x7c90000000000000,
		 0x7ff0000000000000},
		{RF_DTYPE_FP64, RF_OP_MIN, 0, 0x8000000000000000, 0x8000000000000000},
	};
	size_t k;

	(void)unused;
	for (k = 0; k < sizeof(e) / sizeof(e[0]); k++) {
		size_t words = arith_words(e[k].type, arith_element_size(e[k].type));
		uint32_t a[2] = {(uint32_t)e[k].a, (uint32_t)(e[k].a >> 32)};
		uint32_t b[2] = {(uint32_t)e[k].b, (uint32_t)(e[k].b >> 32)};

		arith_combine(e[k].type, e[k].op, a, b, words);
		assert_int_equal(a[0] | (words == 2 ? (uint64_t)a[1] << 32 : 0), e[k].want);
	}
}

/* One element of the result of those that give, in the order of docs/reduction.md. */
static bool ordered(const struct reference *r, unsigned int op, uint8_t (*data)[256], size_t at,
		    unsigned int givers, uint8_t *out)
{
	uint8_t v[RANKS][8];
	bool has[RANKS], any = false;
	unsigned int lane, p, step;

	for (p = 0; p < RANKS; p++) {
		has[p] = givers >> p & 1;
		memcpy(v[p], data[p] + at, r->size);
	}
	for (lane = 0; lane < RANKS; lane += 4) {
		for (step = 1; step < 4; step *= 2) {
			for (p = lane; p < lane + 4; p += 2 * step) {
				if (has[p] && has[p + step])
					r->op(op, v[p], v[p + step]);
				else if (has[p + step])
					memcpy(v[p], v[p + step], r->size);
				has[p] = has[p] || has[p + step];
			}
		}
		if (has[lane] && any)
			r->op(op, out, v[lane]);
		else if (has[lane])
			memcpy(out, v[lane], r->size);
		any = any || has[lane];
	}
	if (any && r->type == RF_DTYPE_FP64)
		ref_fp64_output(out);
	return any;
}

/* Eight ranks, two at each port, of which any subset gives; rank 0 wants. */
static void through_a_box(void **unused)
{
	uint8_t data[RANKS][256], want[256];
	struct bench b;
	struct bench_group g;
	struct packet p[RANKS];
	unsigned int index, k, op, givers;
	size_t at;

	(void)unused;
	bench_group_init(&g, 0, 4, 2);
	g.mirror = 255;
	g.directed = true;
	g.dtype = RF_DTYPE_INT32;
	g.op = RF_OP_SUM;
	extra_start(&b, &g, 2);
	for (index = 0; index < 400; index++) {
		const struct reference *r = &references[index % REFERENCES];

		op = (unsigned int)draw() % r->ops;
		givers = (unsigned int)draw() & 255;
		bench_clear(&b);
		for (k = 0; k < RANKS; k++) {
			uint32_t gives = givers >> k & 1 ? EXTRA_GIVES : 0;
			const struct bench_conn *c = &g.conn[k];

			fill(r, data[k], sizeof(data[k]));
			extra_directed(c, &p[k], index,
				       gives | (k ? 0 : EXTRA_WANTS) | EXTRA_CODE(op, r->type),
				       data[k], gives ? sizeof(data[k]) : 0);
			extra_packet(&b, c->port, &p[k], RF_CNT_ACCEPTED);
		}
		assert_int_equal(b.outs, RANKS);
		for (at = 0; at < sizeof(want) && ordered(r, op, data, at, givers, want + at);)
			at += r->size;
		for (k = 0; k < b.outs; k++) {
			const struct bench_out *o = &b.out[k];
			bool first = rf_get_be32(o->bytes + 30) == g.conn[0].src_ip;
			size_t len = first ? at : 0;

			assert_int_equal(o->len, packet_payload_at(o->bytes) + len + 4);
			assert_memory_equal(o->bytes + packet_payload_at(o->bytes), want, len);
			extra_ip_sound(o);
		}
		for (k = 0; k < RANKS; k++) {
			bench_ack(&g.conn[k], &p[k], index + 1);
			extra_packet(&b, g.conn[k].port, &p[k], RF_CNT_ACK_FORWARDED);
		}
	}
	bench_close(&b);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fp64_pairs),    cmocka_unit_test(pairs_are_sharp),
		cmocka_unit_test(vectors),       cmocka_unit_test(examples),
		cmocka_unit_test(through_a_box),
	};

	common_start(argc, argv);
	if (argc > 2)
		seed = strtoull(argv[2], NULL, 0);
	state = seed;
	printf("repeat: model_wide model %llu\n", (unsigned long long)seed);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
