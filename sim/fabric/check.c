/* Inputs from the seed, and the comparison of every result with the reference order, bit by bit. */
#include <stdlib.h>
#include <string.h>

#include "host/collective/arith.h"
#include "sim/fabric/internal.h"

struct rf_check {
	const struct rf_fabric_cfg *cfg;
	size_t element;
	/* The reference of an operation is computed once and used for all ranks. */
	unsigned first; /* first rank of the group */
	unsigned op;
	uint64_t count;
	void *expect;
};

#define BLANK 0xa5

struct rf_check *rf_check_create(const struct rf_fabric_cfg *cfg)
{
	struct rf_check *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->cfg = cfg;
	c->element = rf_arith_size(cfg->type);
	c->op = UINT32_MAX;
	return c;
}

void rf_check_destroy(struct rf_check *c)
{
	if (!c)
		return;
	free(c->expect);
	free(c);
}

/*
 * Numbers of many magnitudes, so that another order of additions gives other bits, and occasionally
 * special values of the format.
 */
static uint32_t fp32(uint64_t r)
{
	static const uint32_t corners[] = {0x00000000, 0x80000000, 0x00000001, 0x807fffff,
					   0x00800000, 0x7f7fffff, 0xff7fffff, 0x7f800000,
					   0xff800000, 0x7fc00000, 0x7f800001, 0x3f800000};

	if ((r >> 52) == 0)
		return corners[(r & 0xffff) % (sizeof(corners) / sizeof(corners[0]))];
	return (uint32_t)(r & 0x807fffff) | (uint32_t)(112 + (r >> 40) % 24) << 23;
}

static uint16_t fp16(uint64_t r)
{
	static const uint16_t corners[] = {0x0000, 0x8000, 0x0001, 0x83ff, 0x0400,
					   0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00};

	if ((r >> 52) == 0)
		return corners[(r & 0xffff) % (sizeof(corners) / sizeof(corners[0]))];
	return (uint16_t)((r & 0x83ff) | (6 + (r >> 40) % 20) << 10);
}

/* Near 1, so that rounding matters; seldom random bits. */
static uint64_t fp64(uint64_t r)
{
	return (r & 0x3ff) == 0 ? r : (r & UINT64_C(0x801fffffffffffff)) | UINT64_C(0x3fe) << 52;
}

void rf_check_fill(const struct rf_check *c, unsigned rank, unsigned op, void *to, uint64_t count)
{
	struct rf_rng rng = rf_rng_make(c->cfg->seed, UINT64_C(1) << 40 | (uint64_t)op << 8 | rank);
	uint32_t *w = to;
	uint16_t *h = to;
	uint64_t *d = to;

	switch (c->cfg->type) {
	case RF_ARITH_FP32:
		for (uint64_t i = 0; i < count; i++)
			w[i] = fp32(rf_rng_next(&rng));
		break;
	case RF_ARITH_INT32:
		for (uint64_t i = 0; i < count; i++)
			w[i] = (uint32_t)rf_rng_next(&rng);
		break;
	case RF_ARITH_BF16:
		for (uint64_t i = 0; i < count; i++)
			h[i] = (uint16_t)(fp32(rf_rng_next(&rng)) >> 16);
		break;
	case RF_ARITH_FP16:
		for (uint64_t i = 0; i < count; i++)
			h[i] = fp16(rf_rng_next(&rng));
		break;
	case RF_ARITH_FP64:
		for (uint64_t i = 0; i < count; i++)
			d[i] = fp64(rf_rng_next(&rng));
		break;
	default: /* random bits */
		for (uint64_t i = 0; i < count * c->element; i++)
			((uint8_t *)to)[i] = (uint8_t)(rf_rng_next(&rng) >> 32);
		break;
	}
}

void rf_check_blank(const struct rf_check *c, void *to, uint64_t count)
{
	memset(to, BLANK, (size_t)count * c->element);
}

/*
 * Ring order (collective.h): N chunks of equal size, the last ones shorter; the sum of chunk c
 * starts at rank c.
 */
static void ring_reference(const struct rf_check *c, void *const *inputs, char *out)
{
	unsigned ranks = rf_fabric_size(c->cfg);
	uint64_t size = (c->count + ranks - 1) / ranks;

	for (unsigned chunk = 0; chunk * size < c->count; chunk++) {
		uint64_t first = chunk * size;
		uint64_t n = c->count - first < size ? c->count - first : size;
		size_t at = (size_t)first * c->element;

		memcpy(out + at, (const char *)inputs[chunk] + at, (size_t)n * c->element);
		for (unsigned k = 1; k < ranks; k++)
			rf_arith_reduce(c->cfg->type, c->cfg->op, out + at, out + at,
					(const char *)inputs[(chunk + k) % ranks] + at, (size_t)n);
	}
}

static int make_reference(struct rf_check *c, const struct rf_place *places, unsigned first,
			  unsigned op, uint64_t count)
{
	void *inputs[RF_FABRIC_RANKS] = {NULL};
	size_t bytes = (size_t)count * c->element;
	unsigned ranks = rf_fabric_size(c->cfg);
	int err = -1;

	free(c->expect);
	c->op = UINT32_MAX;
	c->expect = malloc(bytes ? bytes : 1);
	for (unsigned r = 0; r < ranks; r++) {
		inputs[r] = malloc(bytes ? bytes : 1);
		if (!inputs[r] || !c->expect)
			goto out;
		rf_check_fill(c, first + r, op, inputs[r], count);
	}
	c->count = count;
	if (c->cfg->schedule != RF_RUN_BOX)
		ring_reference(c, inputs, c->expect);
	else if (rf_order_reduce(c->cfg->type, c->cfg->op, ranks, places,
				 (const void *const *)inputs, c->expect, (size_t)count) != 0)
		goto out;
	c->first = first;
	c->op = op;
	err = 0;
out:
	for (unsigned r = 0; r < ranks; r++)
		free(inputs[r]);
	return err;
}

uint64_t rf_check_result(struct rf_check *c, const struct rf_place *places, unsigned first,
			 unsigned op, const void *got, uint64_t count, bool blank_ok)
{
	const uint8_t *a = got;
	const uint8_t *b;
	uint8_t blank[RF_ARITH_SIZE_MAX];
	uint64_t wrong = 0;
	size_t e = c->element;

	if ((c->op != op || c->first != first || c->count != count) &&
	    make_reference(c, places, first, op, count) != 0)
		return UINT64_MAX;
	b = c->expect;
	memset(blank, BLANK, sizeof(blank));
	if (memcmp(a, b, (size_t)count * e) == 0)
		return 0;
	for (uint64_t i = 0; i < count; i++, a += e, b += e)
		if (memcmp(a, b, e) != 0 && !(blank_ok && memcmp(a, blank, e) == 0))
			wrong++;
	return wrong;
}

static uint64_t differ(const struct rf_check *c, const void *got, const void *want, uint64_t count)
{
	const uint8_t *a = got, *b = want;
	uint64_t wrong = 0;

	for (uint64_t i = 0; i < count; i++)
		wrong += memcmp(a + i * c->element, b + i * c->element, c->element) != 0;
	return wrong;
}

/* What one rank gave, compared with a part of a result; UINT64_MAX if out of memory. */
static uint64_t differ_from(const struct rf_check *c, unsigned rank, unsigned op, uint64_t skip,
			    const void *got, uint64_t count)
{
	uint64_t wrong;
	char *given = malloc((size_t)(skip + count) * c->element + 1);

	if (!given)
		return UINT64_MAX;
	rf_check_fill(c, rank, op, given, skip + count);
	wrong = differ(c, got, given + skip * c->element, count);
	free(given);
	return wrong;
}

static uint64_t sum_of(uint64_t a, uint64_t b)
{
	return a == UINT64_MAX || b == UINT64_MAX ? UINT64_MAX : a + b;
}

uint64_t rf_check_collective(struct rf_check *c, const struct rf_place *places, unsigned first,
			     unsigned me, unsigned op, enum rf_collective_kind kind, unsigned root,
			     const void *got, uint64_t count)
{
	uint64_t block = count / rf_fabric_size(c->cfg), wrong = 0;
	const char *at = got;

	if (rf_schedule_reduces(kind) && make_reference(c, places, first, op, count) != 0)
		return UINT64_MAX;
	if (kind == RF_SCHEDULE_REDUCE && me == root)
		return differ(c, got, c->expect, count);
	if (kind == RF_SCHEDULE_REDUCE_SCATTER)
		return differ(c, got, (char *)c->expect + me * block * c->element, block);
	if (kind == RF_SCHEDULE_BROADCAST)
		return differ_from(c, first + root, op, 0, got, count);
	if (kind == RF_SCHEDULE_SCATTER)
		return differ_from(c, first + root, op, me * block, got, block);
	if (kind != RF_SCHEDULE_ALL_GATHER && (kind != RF_SCHEDULE_GATHER || me != root))
		return 0;
	for (unsigned r = 0; r < rf_fabric_size(c->cfg); r++)
		wrong = sum_of(wrong, differ_from(c, first + r, op, 0, at + r * block * c->element,
						  block));
	return wrong;
}
