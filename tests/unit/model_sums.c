/*
 * Results of the box for every type and operation, with ranks at many combinations of places,
 * compared with sums made here with the compiler's float in the order of docs/reduction.md. Seed:
 * second argument.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "proto/rf_bytes.h"
#include "tests/unit/model_common.h"

#define BYTES 4096u

static uint64_t seed = 1;
static uint64_t state;

static uint32_t next_random(void)
{
	return (uint32_t)(rf_rng_word(&state) >> 16);
}

static float float_of(uint32_t x)
{
	float f;

	memcpy(&f, &x, sizeof(f));
	return f;
}

static uint32_t bits_of(float f)
{
	uint32_t x;

	memcpy(&x, &f, sizeof(x));
	return x;
}

/* The value of element k of a payload; fp16 by its definition. */
static float element(unsigned int dtype, const uint8_t *p, unsigned int k)
{
	unsigned int x;
	float v;

	if (dtype == RF_DTYPE_FP32)
		return float_of(rf_get_le32(p + 4 * k));
	x = rf_get_le16(p + 2 * k);
	if (dtype == RF_DTYPE_BF16)
		return float_of(x << 16);
	if ((x & 0x7c00) == 0x7c00)
		v = x & 0x3ff ? NAN : INFINITY;
	else if ((x & 0x7c00) == 0)
		v = ldexpf((float)(x & 0x3ff), -24);
	else
		v = ldexpf((float)(0x400 | (x & 0x3ff)), (int)(x >> 10 & 31) - 25);
	return x & 0x8000 ? -v : v;
}

static float order(float a, float b, bool max)
{
	if (isnan(a))
		return b;
	if (isnan(b))
		return a;
	if (a == b)
		return (signbit(a) != 0) != max ? a : b;
	return (a < b) != max ? a : b;
}

static float combine_float(unsigned int op, float a, float b)
{
	return op == RF_OP_SUM ? a + b : order(a, b, op == RF_OP_MAX);
}

static uint32_t combine_int(unsigned int op, uint32_t a, uint32_t b)
{
	bool less = (int32_t)a < (int32_t)b;

	if (op == RF_OP_SUM)
		return a + b;
	return less == (op == RF_OP_MIN) ? a : b;
}

/* An operand that may be absent. */
struct maybe {
	bool there;
	uint32_t bits; /* of the float or of the integer */
};

static struct maybe join(bool integer, unsigned int op, struct maybe a, struct maybe b)
{
	if (!a.there)
		return b;
	if (!b.there)
		return a;
	if (integer)
		a.bits = combine_int(op, a.bits, b.bits);
	else
		a.bits = bits_of(combine_float(op, float_of(a.bits), float_of(b.bits)));
	return a;
}

/* A float rounded to a type with that number of fraction bits, as bits of a float. */
static float rounded(float v, int fraction_bits, int least, double limit)
{
	int exponent;
	double y;

	if (v == 0 || isinf(v) || isnan(v))
		return v;
	frexp((double)v, &exponent);
	exponent = exponent - 1 < least ? least : exponent - 1;
	y = ldexp(nearbyint(ldexp((double)v, fraction_bits - exponent)), exponent - fraction_bits);
	return fabs(y) >= limit ? copysignf(INFINITY, v) : (float)y;
}

/* The content of element k of the result. */
static uint32_t wanted(const struct bench_group *g, uint8_t (*payloads)[BYTES], unsigned int k)
{
	bool integer = g->dtype == RF_DTYPE_INT32;
	struct maybe acc = {false, 0}, v[8];
	unsigned int lane, p, r = 0;
	float f;

	for (lane = 0; lane < g->lanes; lane++) {
		for (p = 0; p < 8; p++) {
			v[p].there = g->members[lane] >> p & 1;
			v[p].bits = 0;
			if (!v[p].there)
				continue;
			v[p].bits = integer ? rf_get_le32(payloads[r] + 4 * k)
					    : bits_of(element(g->dtype, payloads[r], k));
			r++;
		}
		v[0] = join(integer, g->op,
			    join(integer, g->op, join(integer, g->op, v[0], v[1]),
				 join(integer, g->op, v[2], v[3])),
			    join(integer, g->op, join(integer, g->op, v[4], v[5]),
				 join(integer, g->op, v[6], v[7])));
		acc = join(integer, g->op, acc, v[0]);
	}
	if (integer)
		return acc.bits;
	f = float_of(acc.bits);
	if (g->dtype == RF_DTYPE_FP32)
		return isnan(f) ? 0x7fc00000 : acc.bits;
	if (g->dtype == RF_DTYPE_BF16)
		return isnan(f) ? 0x7fc0 : bits_of(rounded(f, 7, -126, ldexp(1, 128))) >> 16;
	if (isnan(f))
		return 0x7e00;
	f = rounded(f, 10, -14, 65536.0);
	for (k = 0; k < 0x10000; k++) { /* the pattern of this value */
		uint8_t two[2];

		rf_put_le16(two, (uint16_t)k);
		if (element(RF_DTYPE_FP16, two, 0) == f &&
		    !signbit(element(RF_DTYPE_FP16, two, 0)) == !signbit(f))
			return k;
	}
	return 0xffffffff;
}

/* Corner values of each type, and random ones around them. */
static uint32_t operand(unsigned int dtype)
{
	static const uint32_t corners[] = {
		0x00000000, 0x80000000, 0x00000001, 0x807fffff, 0x00800000, 0x3f800000, 0xbf800000,
		0x3f800001, 0x33800000, 0xb3800000, 0x7f7fffff, 0xff7fffff, 0x73000000, 0x7f800000,
		0xff800000, 0x7fc00000, 0xffc00001, 0x7f800001, 0x00000002, 0x7fffffff,
	};
	static const uint16_t half[] = {0x0000, 0x8000, 0x0001, 0x83ff, 0x0400, 0x3c00,
					0xbc00, 0x3c01, 0x1000, 0x7bff, 0xfbff, 0x4c00,
					0x7c00, 0xfc00, 0x7e00, 0x7c01, 0xfe01, 0x4bff};
	uint32_t r = next_random(), x;

	if (dtype == RF_DTYPE_FP32 || dtype == RF_DTYPE_INT32) {
		x = corners[r % (sizeof(corners) / sizeof(corners[0]))];
		r = next_random();
		return r & 1 ? x : r & 2 ? next_random() : x + (r >> 4 & 7) - 3;
	}
	x = half[r % (sizeof(half) / sizeof(half[0]))];
	if (dtype == RF_DTYPE_BF16 && (r >> 16 & 1))
		x = corners[r % (sizeof(corners) / sizeof(corners[0]))] >> 16;
	return r >> 17 & 1 ? x : next_random() & 0xffff;
}

static void fill(unsigned int dtype, uint8_t *p, size_t len)
{
	size_t k;

	for (k = 0; k < len; k += 4) {
		uint32_t x = operand(dtype);

		if (dtype == RF_DTYPE_BF16 || dtype == RF_DTYPE_FP16)
			x = (x & 0xffff) | operand(dtype) << 16;
		rf_put_le32(p + k, x);
	}
}

static void check_result(const struct bench_group *g, const struct bench_out *o,
			 const uint32_t *want, size_t len, unsigned int pad)
{
	unsigned int size = g->dtype == RF_DTYPE_BF16 || g->dtype == RF_DTYPE_FP16 ? 2 : 4, k;
	const uint8_t *result = o->bytes + packet_payload_at(o->bytes);

	assert_int_equal(o->len, 58 + len);
	assert_true(packet_sealed(o->bytes, o->len));
	for (k = 0; k < (len - pad) / size; k++) {
		uint32_t got =
			size == 2 ? rf_get_le16(result + 2 * k) : rf_get_le32(result + 4 * k);

		if (got != want[k])
			fail_msg("type %u op %u element %u of %zu bytes: %08x, not %08x; seed %llu",
				 g->dtype, g->op, k, len, got, want[k], (unsigned long long)seed);
	}
	for (k = 0; k < pad; k++)
		assert_int_equal(result[len - 1 - k], 0);
}

/* A few packets of one group in one box. */
static void check_group(struct bench *b, struct bench_group *g, unsigned int packets)
{
	static uint8_t payloads[64][BYTES];
	static uint32_t want[BYTES / 2];
	unsigned int size = g->dtype == RF_DTYPE_BF16 || g->dtype == RF_DTYPE_FP16 ? 2 : 4;
	unsigned int n, r, k;

	assert_true(bench_group_start(b, g));
	for (n = 0; n < packets; n++) {
		size_t len = n == 0 ? 1u << g->mtu_log2 : 4 * (1 + next_random() % 40);
		unsigned int pad = size == 2 && n % 3 == 1 ? 2 : 0;
		struct packet p;

		bench_clear(b);
		for (r = 0; r < g->ranks; r++) {
			fill(g->dtype, payloads[r], len);
			bench_data(&g->conn[r], &p, n, OP_SEND_ONLY, payloads[r], len);
			p.pad = (uint8_t)pad;
			bench_send(b, g->conn[r].port, &p);
		}
		assert_true(bench_settle(b));
		assert_int_equal(b->outs, g->ranks);
		for (k = 0; k < (len - pad) / size; k++)
			want[k] = wanted(g, payloads, k);
		for (r = 0; r < g->ranks; r++)
			check_result(g, &b->out[r], want, len, pad);
	}
}

/* Ranks at places given per lane, all types and operations. */
static void placed(unsigned int ports, unsigned int lanes, const uint8_t *members,
		   unsigned int level, unsigned int base_port)
{
	struct bench b;
	struct bench_group g;
	unsigned int dtype, op;

	for (dtype = 0; dtype < 4; dtype++) {
		common_open(&b, ports, lanes);
		for (op = 0; op < 3; op++) {
			bench_group_init(&g, (dtype * 3 + op) % 8, ports, lanes);
			memcpy(g.members, members, lanes);
			g.dtype = dtype;
			g.op = op;
			g.mtu_log2 = dtype == RF_DTYPE_FP16 ? 8 : 8 + op;
			g.dbase = 256 * g.number;
			g.hbase = 16 * g.number;
			if (level) {
				g.level = level;
				g.base_port = base_port;
			}
			check_group(&b, &g, 5);
		}
		bench_close(&b);
	}
}

static void four_ports(void **unused)
{
	static const uint8_t all[] = {0x0f};

	(void)unused;
	placed(4, 1, all, 0, 0);
}

static void two_ports(void **unused)
{
	static const uint8_t all[] = {0x03};

	(void)unused;
	placed(2, 1, all, 0, 0);
}

static void eight_ports(void **unused)
{
	static const uint8_t all[] = {0xff}, three[] = {0xb0};

	(void)unused;
	placed(8, 1, all, 0, 0);
	placed(8, 1, three, 2, 4);
}

static void sparse(void **unused)
{
	static const uint8_t three[] = {0x0d}, pair[] = {0x0c}, one[] = {0x04};

	(void)unused;
	placed(4, 1, three, 0, 0);
	placed(4, 1, pair, 1, 2);
	placed(4, 1, one, 0, 0); /* a single rank: NaN is made canonical, nothing else changes */
}

static void eight_ranks_on_four_ports(void **unused)
{
	static const uint8_t two[] = {0x0f, 0x0f}, uneven[] = {0x0f, 0x05};

	(void)unused;
	placed(4, 2, two, 0, 0);
	placed(4, 2, uneven, 0, 0);
}

static void four_lanes(void **unused)
{
	static const uint8_t four[] = {0x0f, 0x0f, 0x0f, 0x0f}, thin[] = {0x01, 0x02, 0x04, 0x08};

	(void)unused;
	placed(4, 4, four, 0, 0);
	placed(4, 4, thin, 0, 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(four_ports),
		cmocka_unit_test(two_ports),
		cmocka_unit_test(eight_ports),
		cmocka_unit_test(sparse),
		cmocka_unit_test(eight_ranks_on_four_ports),
		cmocka_unit_test(four_lanes),
	};

	common_start(argc, argv);
	if (argc > 2)
		seed = strtoull(argv[2], NULL, 0);
	state = seed;
	printf("seed %llu\n", (unsigned long long)seed);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
