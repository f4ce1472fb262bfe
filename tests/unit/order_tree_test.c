/*
 * The order of additions in a tree of boxes: rf_order_compute() compared, for drawn trees, all
 * types and operations, with boxes that are computed one after another with the arithmetic of the
 * reference model, which shares no code with it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "host/collective/arith.h"
#include "host/member/order.h"
#include "sim/model/arith.h"
#include "tests/unit/roce_random.h"
#include "ringfold/ringfold.h"

#define COUNT 131u /* two blocks and a part of one */
#define BYTES (COUNT * 8u + 8u)
#define RANKS 20u
#define BOXES 7u
#define PORTS 8u
#define LANES 16u
#define TREES 60u

static uint8_t operand[RANKS][BYTES];
static uint8_t partial[BOXES][BYTES];

/* ---- the reference ---- */

/* The bytes of an operand at a place of a box: of a rank, or of a box below. NULL: none. */
static const uint8_t *at_place(const struct rf_order *o, unsigned int b, unsigned int port,
			       unsigned int lane)
{
	for (unsigned int r = 0; r < o->ranks; r++)
		if (o->box[r] == b && o->place[r].port == port && o->place[r].lane == lane)
			return operand[r];
	for (unsigned int c = 1; c < o->boxes; c++)
		if (o->above[c].parent == b && o->above[c].place.port == port &&
		    o->above[c].place.lane == lane)
			return partial[c];
	return NULL;
}

/* One box: in each lane pairs of ports, pairs of pairs, and the two halves; then lane by lane. */
static void one_box(const struct rf_order *o, unsigned int b, enum rf_arith_type type,
		    enum rf_arith_op op)
{
	static uint32_t v[PORTS][BYTES / 4], sum[BYTES / 4];
	size_t words = arith_words(type, COUNT * rf_arith_size(type));
	bool any = false;

	for (unsigned int lane = 0; lane < LANES; lane++) {
		bool has[PORTS];

		for (unsigned int p = 0; p < PORTS; p++) {
			const uint8_t *from = at_place(o, b, p, lane);

			has[p] = from != NULL;
			if (from)
				arith_load(type, v[p], from, words);
		}
		for (unsigned int far = 1; far < PORTS; far *= 2)
			for (unsigned int p = 0; p < PORTS; p += 2 * far) {
				if (has[p] && has[p + far])
					arith_combine(type, op, v[p], v[p + far], words);
				else if (has[p + far])
					memcpy(v[p], v[p + far], sizeof(v[p]));
				has[p] = has[p] || has[p + far];
			}
		if (has[0] && any)
			arith_combine(type, op, sum, v[0], words);
		else if (has[0])
			memcpy(sum, v[0], sizeof(sum));
		any = any || has[0];
	}
	arith_store(type, partial[b], sum, words);
}

/* ---- drawn trees ---- */

static bool is_free(const struct rf_order *o, unsigned int b, const struct rf_rank_place *p,
		    unsigned int ranks, unsigned int boxes)
{
	for (unsigned int r = 0; r < ranks; r++)
		if (o->box[r] == b && o->place[r].port == p->port && o->place[r].lane == p->lane)
			return false;
	for (unsigned int c = 1; c < boxes; c++)
		if (o->above[c].parent == b && o->above[c].place.port == p->port &&
		    o->above[c].place.lane == p->lane)
			return false;
	return true;
}

/* A place of box b that none of the first ranks and boxes has. */
static struct rf_rank_place draw_place(const struct rf_order *o, unsigned int b, unsigned int ranks,
				       unsigned int boxes, struct roce_random *rng)
{
	struct rf_rank_place p;

	do {
		p.port = roce_random_below(rng, PORTS);
		p.lane = roce_random_below(rng, roce_random_below(rng, 2) ? LANES : 2);
	} while (!is_free(o, b, &p, ranks, boxes));
	return p;
}

static struct rf_order draw_tree(struct roce_random *rng)
{
	struct rf_order o = RF_ORDER_INIT;

	o.schedule = RF_SCHEDULE_BOX;
	o.boxes = 1 + roce_random_below(rng, BOXES);
	o.ranks = o.boxes + 1 + roce_random_below(rng, RANKS - BOXES - 1);
	for (unsigned int c = 1; c < o.boxes; c++) {
		o.above[c].parent = roce_random_below(rng, c);
		o.above[c].place = draw_place(&o, o.above[c].parent, 0, c, rng);
	}
	for (unsigned int r = 0; r < o.ranks; r++) {
		/* each box has a rank, so that none is without an operand */
		o.box[r] = (unsigned char)(r < o.boxes ? r : roce_random_below(rng, o.boxes));
		o.place[r] = draw_place(&o, o.box[r], r, o.boxes, rng);
	}
	return o;
}

static uint64_t element(enum rf_arith_type type, struct roce_random *rng)
{
	uint64_t v = (uint64_t)roce_random(rng) << 32 | roce_random(rng);
	unsigned int kind = roce_random_below(rng, 8);
	double d = ((double)(v % 4096) - 2000) / 7;
	float f = (float)d;
	uint64_t bits = 0;

	/* any bits, NaN and infinities among them, or numbers of which every sum is rounded */
	if (!kind || (type != RF_ARITH_FP64 && type > RF_ARITH_FP16))
		return v;
	if (type == RF_ARITH_FP64)
		memcpy(&bits, &d, 8);
	else if (type == RF_ARITH_FP32)
		memcpy(&bits, &f, 4);
	else
		bits = type == RF_ARITH_BF16 ? rf_bf16_from_float(f) : rf_fp16_from_float(f);
	return bits;
}

static void draw_operands(const struct rf_order *o, enum rf_arith_type type,
			  struct roce_random *rng)
{
	size_t size = rf_arith_size(type);

	for (unsigned int r = 0; r < o->ranks; r++)
		for (size_t k = 0; k < COUNT; k++) {
			uint64_t e = element(type, rng);

			memcpy(operand[r] + k * size, &e, size);
		}
}

static int apply(const struct rf_order *o, enum rf_type type, enum rf_op op,
		 const void *const *inputs, void *out, size_t count)
{
	return rf_order_compute(o, type, op, inputs, out, count) ? RF_ERR_INVALID : RF_OK;
}

static void as_boxes_one_after_another(void **state)
{
	struct roce_random rng = roce_random_start("order_tree_test");
	static uint64_t got[COUNT];

	(void)state;
	for (unsigned int n = 0; n < TREES * RF_ARITH_TYPES * RF_ARITH_COPY; n++) {
		enum rf_arith_type type = (enum rf_arith_type)(n % RF_ARITH_TYPES);
		enum rf_arith_op op = (enum rf_arith_op)(n / RF_ARITH_TYPES % RF_ARITH_COPY);
		struct rf_order o = draw_tree(&rng);
		size_t bytes = COUNT * rf_arith_size(type);
		const void *inputs[RANKS];

		for (unsigned int r = 0; r < RANKS; r++)
			inputs[r] = operand[r];
		if (!rf_arith_has(type, op)) {
			assert_int_equal(
				apply(&o, (enum rf_type)type, (enum rf_op)op, inputs, got, COUNT),
				RF_ERR_INVALID);
			continue;
		}
		draw_operands(&o, type, &rng);
		for (unsigned int b = o.boxes; b-- > 0;)
			one_box(&o, b, type, op);
		assert_int_equal(apply(&o, (enum rf_type)type, (enum rf_op)op, inputs, got, COUNT),
				 RF_OK);
		if (memcmp(got, partial[0], bytes) != 0)
			fail_msg("%u boxes, %u ranks: %s, %s differs", o.boxes, o.ranks,
				 rf_type_name((enum rf_type)type), rf_op_name((enum rf_op)op));
		/* the comparison sees one bit */
		((uint8_t *)got)[n % bytes] ^= 1;
		assert_memory_not_equal(got, partial[0], bytes);
		/* in place, of any rank */
		assert_int_equal(apply(&o, (enum rf_type)type, (enum rf_op)op, inputs,
				       operand[n % o.ranks], COUNT),
				 RF_OK);
		assert_memory_equal(operand[n % o.ranks], partial[0], bytes);
	}
}

/* ---- by hand ---- */

/* Rank 0 at the root; ranks 1 and 2 at the box below it. */
static struct rf_order small_tree(void)
{
	struct rf_order o = RF_ORDER_INIT;

	o.schedule = RF_SCHEDULE_BOX;
	o.ranks = 3;
	o.boxes = 2;
	o.box[1] = o.box[2] = 1;
	o.place[2].port = 1;
	o.above[1].place.port = 3;
	return o;
}

static void a_box_rounds_to_the_type(void **state)
{
	struct rf_order o = small_tree(), flat = o;
	const uint16_t one = 0x3f80, large = 0x4380; /* 1 and 256: the next bf16 is 258 */
	const void *inputs[3] = {&one, &large, &one};
	uint16_t sum = 0;

	(void)state;
	assert_int_equal(apply(&o, RF_BF16, RF_SUM, inputs, &sum, 1), RF_OK);
	assert_int_equal(sum, 0x4380);
	/* at one box the three are added in fp32 */
	flat.boxes = 0;
	flat.place[0].port = 2;
	assert_int_equal(apply(&flat, RF_BF16, RF_SUM, inputs, &sum, 1), RF_OK);
	assert_int_equal(sum, 0x4381);
}

static void the_average_divides_by_all_ranks(void **state)
{
	struct rf_order o = small_tree();
	const float a = 1, b = 2, c = 6;
	const void *inputs[3] = {&a, &b, &c};
	float mean = 0;

	(void)state;
	assert_int_equal(apply(&o, RF_FP32, RF_AVERAGE, inputs, &mean, 1), RF_OK);
	assert_true(mean == 3.0f);
}

static void refuses(const struct rf_order *o)
{
	const uint32_t x = 1;
	const void *inputs[3] = {&x, &x, &x};
	uint32_t sum = 0;

	assert_int_equal(apply(o, RF_INT32, RF_SUM, inputs, &sum, 1), RF_ERR_INVALID);
	assert_int_equal(sum, 0);
}

static void wrong_trees(void **state)
{
	struct rf_order o = small_tree();

	(void)state;
	o.above[1].parent = 1;
	refuses(&o);
	o = small_tree();
	o.above[1].place.port = 0; /* that of rank 0 */
	refuses(&o);
	o = small_tree();
	o.above[1].place.lane = LANES;
	refuses(&o);
	o = small_tree();
	o.box[2] = 2;
	refuses(&o);
	o = small_tree();
	o.boxes = 3; /* nobody is at the last one */
	o.above[2].place.port = 4;
	refuses(&o);
	o = small_tree();
	o.boxes = RF_BOXES_MAX + 1;
	refuses(&o);
	o = small_tree();
	o.size -= sizeof(o.above);
	refuses(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_boxes_one_after_another),
		cmocka_unit_test(a_box_rounds_to_the_type),
		cmocka_unit_test(the_average_divides_by_all_ranks),
		cmocka_unit_test(wrong_trees),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
