/* Inputs from the seed, and the comparison of every result with the reference order, bit by bit. */
#include <stdlib.h>
#include <string.h>

#include "host/collective/arith.h"
#include "sim/fabric/internal.h"

struct rf_check {
	const struct rf_fabric_cfg *cfg;
	struct rf_fabric *tree; /* NULL: one box */
	/* The sums of a call are computed once and used for all ranks. */
	unsigned first; /* first rank of the group */
	unsigned key;
	struct rf_fabric_call call;
	void *expect;
};

#define BLANK 0xa5

struct rf_check *rf_check_create(const struct rf_fabric_cfg *cfg)
{
	struct rf_check *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->cfg = cfg;
	c->key = UINT32_MAX;
	return c;
}

void rf_check_tree(struct rf_check *c, struct rf_fabric *f)
{
	c->tree = f;
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

void rf_check_fill(const struct rf_check *c, unsigned rank, unsigned key,
		   const struct rf_fabric_call *call, void *to)
{
	struct rf_rng rng =
		rf_rng_make(c->cfg->seed, UINT64_C(1) << 40 | (uint64_t)key << 8 | rank);
	uint64_t count = call->count;
	uint32_t *w = to;
	uint16_t *h = to;
	uint64_t *d = to;

	switch (call->type) {
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
		for (uint64_t i = 0; i < count * rf_arith_size(call->type); i++)
			((uint8_t *)to)[i] = (uint8_t)(rf_rng_next(&rng) >> 32);
		break;
	}
}

void rf_check_blank(void *to, size_t bytes)
{
	memset(to, BLANK, bytes);
}

static size_t bytes_of(const struct rf_fabric_call *call)
{
	return (size_t)call->count * rf_arith_size(call->type);
}

static bool has_reference(const struct rf_check *c, unsigned first, unsigned key,
			  const struct rf_fabric_call *call)
{
	return c->key == key && c->first == first && c->call.count == call->count &&
	       c->call.type == call->type && c->call.op == call->op && c->call.kind == call->kind &&
	       c->call.root == call->root;
}

/* The sums of all operands. */
static int make_reference(struct rf_check *c, const struct rf_place *places, unsigned first,
			  unsigned key, const struct rf_fabric_call *call)
{
	char *inputs[RF_FABRIC_RANKS] = {NULL};
	size_t bytes = bytes_of(call);
	unsigned ranks = rf_fabric_size(c->cfg);
	int err = -1;

	if (has_reference(c, first, key, call))
		return 0;
	free(c->expect);
	c->key = UINT32_MAX;
	c->expect = malloc(bytes ? bytes : 1);
	for (unsigned r = 0; r < ranks; r++) {
		inputs[r] = malloc(bytes ? bytes : 1);
		if (!inputs[r] || !c->expect)
			goto out;
		rf_check_fill(c, first + r, key, call, inputs[r]);
	}
	c->call = *call;
	if (c->cfg->schedule != RF_RUN_BOX) {
		rf_check_hosts(c->cfg, call, inputs, c->expect);
	} else if (c->tree) {
		if (rf_tree_sum(c->tree, call, inputs, c->expect) != 0)
			goto out;
	} else if (rf_order_reduce(call->type, call->op, ranks, places, (const void *const *)inputs,
				   c->expect, (size_t)call->count) != 0) {
		goto out;
	}
	c->first = first;
	c->key = key;
	err = 0;
out:
	for (unsigned r = 0; r < ranks; r++)
		free(inputs[r]);
	return err;
}

/* Elements that differ. */
static uint64_t differ(size_t element, const void *got, const void *want, uint64_t count,
		       bool blank_ok)
{
	const uint8_t *a = got, *b = want;
	uint8_t blank[RF_ARITH_SIZE_MAX];
	uint64_t wrong = 0;

	memset(blank, BLANK, sizeof(blank));
	if (memcmp(a, b, (size_t)count * element) == 0)
		return 0;
	for (uint64_t i = 0; i < count; i++, a += element, b += element)
		if (memcmp(a, b, element) != 0 && !(blank_ok && memcmp(a, blank, element) == 0))
			wrong++;
	return wrong;
}

/* What a rank gave, from the element `skip` on; UINT64_MAX if out of memory. */
static uint64_t differ_from(const struct rf_check *c, unsigned rank, unsigned key,
			    const struct rf_fabric_call *call, uint64_t skip, const void *got,
			    uint64_t count, bool blank_ok)
{
	size_t element = rf_arith_size(call->type);
	uint64_t wrong;
	char *given = malloc(bytes_of(call) + 1);

	if (!given)
		return UINT64_MAX;
	rf_check_fill(c, rank, key, call, given);
	wrong = differ(element, got, given + skip * element, count, blank_ok);
	free(given);
	return wrong;
}

static uint64_t sum_of(uint64_t a, uint64_t b)
{
	return a == UINT64_MAX || b == UINT64_MAX ? UINT64_MAX : a + b;
}

uint64_t rf_check_gets(const struct rf_fabric_cfg *cfg, const struct rf_fabric_call *call,
		       unsigned me)
{
	switch (call->kind) {
	case RF_SCHEDULE_ALL_REDUCE:
	case RF_SCHEDULE_BROADCAST:
	case RF_SCHEDULE_ALL_GATHER:
		return call->count;
	case RF_SCHEDULE_REDUCE:
	case RF_SCHEDULE_GATHER:
		return me == call->root ? call->count : 0;
	case RF_SCHEDULE_REDUCE_SCATTER:
	case RF_SCHEDULE_SCATTER:
		return call->count / rf_fabric_size(cfg);
	default:
		return 0;
	}
}

uint64_t rf_check_result(struct rf_check *c, const struct rf_place *places, unsigned first,
			 unsigned me, unsigned key, const struct rf_fabric_call *call,
			 const void *got, bool blank_ok)
{
	uint64_t gets = rf_check_gets(c->cfg, call, me), wrong = 0;
	uint64_t block = call->count / rf_fabric_size(c->cfg);
	/* Where the result is within what the call is about. */
	uint64_t skip = gets == block && rf_schedule_has_blocks(call->kind) ? me * block : 0;
	size_t element = rf_arith_size(call->type);

	if (gets == 0)
		return 0;
	if (rf_schedule_reduces(call->kind))
		return make_reference(c, places, first, key, call) != 0
			       ? UINT64_MAX
			       : differ(element, got, (char *)c->expect + skip * element, gets,
					blank_ok);
	if (rf_schedule_has_root(call->kind) && call->kind != RF_SCHEDULE_GATHER)
		return differ_from(c, first + call->root, key, call, skip, got, gets, blank_ok);
	for (unsigned r = 0; r < rf_fabric_size(c->cfg); r++)
		wrong = sum_of(wrong, differ_from(c, first + r, key, call, 0,
						  (const char *)got + r * block * element, block,
						  blank_ok));
	return wrong;
}
