/*
 * Boxes with uplinks (reference model): docs/box.md, "Groups with an uplink". Trees of two and
 * three levels, slots of equal and of different number, with and without faults. Every result is
 * compared in full. The cases that lose frames on purpose name the rule without which they hang or
 * deliver a wrong sum.
 *
 *   model_tree [model:MUTANT] [SEED]
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "proto/rf_bytes.h"
#include "tests/sim/compare/engine.h"
#include "tests/sim/tree_net.h"

#define NEVER UINT64_MAX
#define SEEDS 6u

static const char *engine = "model";
static uint64_t first_seed = 1;

/* Host 0 to 2 at ports of leaf 1, 3 and 4 at leaf 2, of which two share a port with its uplink. */
static void two_levels(struct tree_cfg *c, unsigned int s_leaf, unsigned int s_other,
		       unsigned int s_parent)
{
	memset(c, 0, sizeof(*c));
	c->boxes = 3;
	c->box[0] =
		(struct tree_box_cfg){.parent = -1, .lanes = 1, .s_log2 = s_parent, .members = {7}};
	c->box[1] = (struct tree_box_cfg){
		.parent = 0, .up_port = 3, .lanes = 1, .s_log2 = s_leaf, .members = {7}};
	c->box[2] = (struct tree_box_cfg){.parent = 0,
					  .up_port = 0,
					  .up_lane = 1,
					  .lanes = 2,
					  .s_log2 = s_other,
					  .members = {3, 2}};
	c->count = 400;
	c->mutant = engine_mutant(engine);
}

/* The parent is the leaf of one more box, at which a host is, too. */
static void three_levels(struct tree_cfg *c)
{
	unsigned int k;

	two_levels(c, 5, 4, 5);
	for (k = 3; k > 0; k--) {
		c->box[k] = c->box[k - 1];
		c->box[k].parent = k > 1;
	}
	c->box[0] = (struct tree_box_cfg){.parent = -1, .lanes = 1, .s_log2 = 5, .members = {3}};
	c->box[1].parent = 0;
	c->box[1].up_port = 3;
	c->boxes = 4;
}

static void run_of(const struct tree_cfg *c, const char *what)
{
	static struct tree t;
	bool good;

	tree_open(&t, c);
	good = tree_run(&t, NEVER);
	good = tree_close(&t) && good;
	if (!good)
		fail_msg("%s: %s\nrepeat: model_tree %s %llu", what, t.why, engine,
			 (unsigned long long)c->seed);
}

static void without_faults(void **unused)
{
	static const unsigned int slots[][3] = {{5, 5, 5}, {4, 4, 6}, {6, 5, 4}, {4, 6, 5}};
	struct tree_cfg c;
	unsigned int k;

	(void)unused;
	for (k = 0; k < sizeof(slots) / sizeof(slots[0]); k++) {
		two_levels(&c, slots[k][0], slots[k][1], slots[k][2]);
		c.seed = first_seed + k;
		c.selective = k & 1;
		run_of(&c, "two levels");
	}
	three_levels(&c);
	c.seed = first_seed;
	run_of(&c, "three levels");
}

static void with_faults(void **unused)
{
	static const unsigned int slots[][3] = {{4, 4, 6}, {6, 5, 4}, {5, 5, 5}};
	struct tree_cfg c;
	unsigned int k;

	(void)unused;
	for (k = 0; k < SEEDS; k++) {
		if (k % 4 == 3)
			three_levels(&c);
		else
			two_levels(&c, slots[k % 3][0], slots[k % 3][1], slots[k % 3][2]);
		c.seed = first_seed + k;
		c.selective = k % 2;
		c.loss = c.copy = 0.01;
		c.loss_between = 0.02;
		c.copy_between = 0.02;
		run_of(&c, "faults");
	}
}

/* Only copies between boxes, many and late, and losses on the way to the hosts. */
static void late_copies(void **unused)
{
	struct tree_cfg c;

	(void)unused;
	two_levels(&c, 4, 4, 6);
	c.seed = first_seed;
	c.loss = 0.03;
	c.copy_between = 0.3;
	run_of(&c, "late copies");
}

static bool is_ack(const uint8_t *frame)
{
	return frame[42] == OP_ACK;
}

struct losses {
	unsigned int lost, most;
	uint32_t index; /* or what is lost */
};

/* `tick-ack`: the ACKs of leaf 1 are lost until long after the parent's slots are used up. */
struct silence {
	const struct tree *t;
	unsigned int lost;
};

static bool drop_acks(void *arg, unsigned int from, unsigned int to, const uint8_t *frame,
		      size_t len)
{
	struct silence *s = arg;
	bool lost = from == 1 && is_ack(frame) && s->t->now < 40 * TREE_TICK;

	(void)to;
	(void)len;
	s->lost += lost;
	return lost;
}

static void acks_lost(void **unused)
{
	static struct tree t;
	struct silence s = {&t, 0};
	struct tree_cfg c;
	struct rf_model_up_state leaf;

	(void)unused;
	two_levels(&c, 5, 5, 4);
	c.seed = first_seed;
	c.drop = drop_acks;
	c.arg = &s;
	tree_open(&t, &c);
	assert_true(tree_run(&t, 40 * TREE_TICK));
	rf_model_up_state(t.box[1].e, 1, &leaf);
	assert_int_equal(leaf.got, 16); /* the parent's slots: it hangs until an ACK comes */
	assert_true(s.lost > 8);
	if (!tree_run(&t, NEVER))
		fail_msg("%s", t.why);
	assert_true(tree_close(&t));
}

/* `tick-probe`: the last result for leaf 1 is lost. */
static bool drop_last(void *arg, unsigned int from, unsigned int to, const uint8_t *frame,
		      size_t len)
{
	struct losses *l = arg;

	(void)len;
	if (from != 0 || to != 1 || is_ack(frame) || (rf_get_be32(frame + 54) & 15) != l->index ||
	    l->lost++ != l->most)
		return false;
	return true;
}

static void lose_one(struct losses l, const char *what)
{
	struct tree_cfg c;

	two_levels(&c, 5, 5, 5);
	c.seed = first_seed;
	c.drop = drop_last;
	c.arg = &l;
	run_of(&c, what);
	assert_true(l.lost > l.most);
}

static void last_result_lost(void **unused)
{
	(void)unused;
	lose_one((struct losses){0, 399 / 16, 399 % 16}, "the last result is lost");
}

/* `ack-got`: one result is lost, and those after it ask for ACKs. */
static void result_lost(void **unused)
{
	(void)unused;
	lose_one((struct losses){0, 3, 5}, "a result is lost");
}

struct stop {
	struct tree *t;
	uint32_t at;
	bool over;
};

/* Hosts of leaf 2 stop. */
static bool may_send(void *arg, unsigned int host, uint32_t index)
{
	const struct stop *s = arg;

	return s->over || s->t->host[host].box != 2 || index < s->at;
}

/* Packets with data that leaf 1 has sent. */
static uint32_t data_up(struct tree *t)
{
	return tree_up_count(t, 1, RF_MODEL_UP_TX) + tree_up_count(t, 1, RF_MODEL_UP_TX_AGAIN) +
	       tree_up_count(t, 1, RF_MODEL_UP_TX_PROBE);
}

/* `tick-one`: while another rack waits, an uplink carries at most one packet with data per TICK. */
static void straggler(void **unused)
{
	static struct tree t;
	struct stop s = {&t, 100, false};
	struct tree_cfg c;
	uint32_t before, sent = 0;
	unsigned int k, most = 0;

	(void)unused;
	two_levels(&c, 5, 5, 5);
	c.seed = first_seed;
	c.may_send = may_send;
	c.arg = &s;
	tree_open(&t, &c);
	assert_true(tree_run(&t, 100000));
	for (k = 0; k < 60; k++) {
		before = data_up(&t);
		assert_true(tree_run(&t, t.now + TREE_TICK));
		before = data_up(&t) - before;
		most = before > most ? before : most;
		sent += before;
	}
	assert_false(tree_done(&t));
	assert_int_equal(most, 1);
	assert_in_range(sent, 3, 10); /* at TICKs 1, 3, 7, 15, 31, 47, ... of the wait */
	s.over = true;
	assert_true(tree_run(&t, NEVER));
	assert_true(tree_close(&t));
}

/* Without faults nothing is sent twice, and each index goes up once, in one packet. */
static void counts(void **unused)
{
	static struct tree t;
	struct tree_cfg c;
	unsigned int box;

	(void)unused;
	two_levels(&c, 5, 5, 6);
	c.seed = first_seed;
	tree_open(&t, &c);
	if (!tree_run(&t, NEVER))
		fail_msg("%s", t.why);
	for (box = 1; box < 3; box++) {
		assert_int_equal(tree_up_count(&t, box, RF_MODEL_UP_TX), c.count);
		assert_int_equal(tree_up_count(&t, box, RF_MODEL_UP_RESULT), c.count);
		assert_int_equal(tree_up_count(&t, box, RF_MODEL_UP_TX_AGAIN), 0);
		assert_int_equal(tree_up_count(&t, box, RF_MODEL_UP_RESULT_OLD), 0);
		assert_int_equal(bench_counter(&t.box[0], box, RF_CNT_NO_ROOM), 0);
	}
	assert_true(tree_close(&t));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_faults),   cmocka_unit_test(counts),
		cmocka_unit_test(with_faults),      cmocka_unit_test(late_copies),
		cmocka_unit_test(acks_lost),        cmocka_unit_test(result_lost),
		cmocka_unit_test(last_result_lost), cmocka_unit_test(straggler),
	};

	if (argc > 1)
		engine = argv[1];
	if (argc > 2)
		first_seed = strtoull(argv[2], NULL, 0);
	printf("engine %s, seed %llu\n", engine, (unsigned long long)first_seed);
	if (engine_mutant(engine) == RF_MODEL_MUTANTS) {
		fprintf(stderr, "%s: no such mutant\n", engine);
		return 2;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
