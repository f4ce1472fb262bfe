/*
 * Trees of boxes of two and three levels, each box with its real firmware, each leaf with three
 * ranks, in virtual time: JOIN, collectives on the real transport with every bit compared, loss on
 * every link, leaving, and a box that is reset, at each level.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "host/config/settings.h"
#include "rf_regs.h"
#include "sim/model/rf_model.h"
#include "tests/sim/fabric_open.h"

static struct rf_fabric_cfg cfg_of(unsigned leaves, unsigned ranks)
{
	struct rf_fabric_cfg c;

	rf_fabric_cfg_init(&c);
	c.engine = rf_model_engine();
	c.leaves = leaves;
	c.ranks = leaves * ranks;
	c.ports = 4;
	c.lanes = 2;
	c.mirror = c.directed = true;
	c.slots = 64;
	c.mtu = 256;
	return c;
}

/* 2 x 2 x 3 ranks: boxes 0 to 3, above them 4 and 5, at the top 6. */
static struct rf_fabric_cfg three_levels(void)
{
	struct rf_fabric_cfg c = cfg_of(4, 3);

	c.middle[0] = 2;
	return c;
}

static void print_ranks(const struct rf_fabric *f, unsigned ranks)
{
	for (unsigned r = 0; r < ranks; r++)
		print_error("rank %u: state %d wrong %llu: %s\n", r,
			    (int)rf_fabric_rank(f, r)->state,
			    (unsigned long long)rf_fabric_rank(f, r)->wrong,
			    rf_fabric_rank(f, r)->text);
}

/* ns: of the second call, if it is asked for. */
static struct rf_fabric_stats finish_in(struct rf_fabric *f, unsigned ranks, uint64_t *ns)
{
	struct rf_fabric_stats s;

	assert_int_equal(rf_fabric_all(f, RF_STEP_LEAVE, 0), 0);
	if (rf_fabric_run(f, 100 * RF_SEC) != 1 || !rf_fabric_good(f)) {
		print_ranks(f, ranks);
		fail_msg("not good: %s", rf_fabric_why(f));
	}
	rf_fabric_stats(f, &s);
	if (ns)
		*ns = rf_fabric_op_ns(f, 1);
	assert_int_equal(rf_fabric_settle(f, rf_fabric_now(f) + RF_SEC), 0);
	if (rf_fabric_leak(f))
		fail_msg("%s", rf_fabric_leak(f));
	rf_fabric_destroy(f);
	return s;
}

static struct rf_fabric_stats finish(struct rf_fabric *f, unsigned ranks)
{
	return finish_in(f, ranks, NULL);
}

static void shapes(void **state)
{
	struct rf_fabric_cfg c = three_levels();
	const char *why = "tree";
	struct rf_fabric *f;
	char text[200];

	(void)state;
	assert_int_equal(rf_fabric_boxes(&c), 7);
	assert_int_equal(rf_fabric_parent(&c, 0), 4);
	assert_int_equal(rf_fabric_parent(&c, 1), 4);
	assert_int_equal(rf_fabric_parent(&c, 3), 5);
	assert_int_equal(rf_fabric_parent(&c, 4), 6);
	assert_int_equal(rf_fabric_parent(&c, 5), 6);
	assert_int_equal(rf_fabric_parent(&c, 6), RF_NOBODY);
	c.leaves = 16;
	c.ranks = 16;
	c.middle[0] = 8;
	c.middle[1] = 2;
	assert_int_equal(rf_fabric_boxes(&c), 27);
	assert_int_equal(rf_fabric_parent(&c, 15), 23);
	assert_int_equal(rf_fabric_parent(&c, 19), 24);
	assert_int_equal(rf_fabric_parent(&c, 20), 25);
	assert_int_equal(rf_fabric_parent(&c, 25), 26);
	c.middle[1] = 3; /* 8 boxes cannot be divided by 3 */
	assert_int_equal(rf_fabric_create(&c, &f, text, sizeof(text)), -1);
	assert_non_null(strstr(text, why));
	c = three_levels();
	c.middle[0] = 4; /* no fewer than below */
	assert_int_equal(rf_fabric_create(&c, &f, text, sizeof(text)), -1);
	assert_non_null(strstr(text, why));
	c = three_levels();
	c.ranks = 11;
	assert_int_equal(rf_fabric_create(&c, &f, text, sizeof(text)), -1);
	assert_non_null(strstr(text, why));
}

/* Every type that adds: two boxes below one, four below one, four below two below one. */
static void sums(void **state)
{
	(void)state;
	for (unsigned t = 0; t < RF_ARITH_TYPES; t++) {
		struct rf_fabric_cfg c = t % 3 == 2 ? three_levels() : cfg_of(t % 3 ? 4 : 2, 3);
		struct rf_fabric *f;

		c.type = (enum rf_arith_type)t;
		c.seed = t + 1;
		c.selective = t % 3 == 0;
		f = open_fabric(&c);
		for (unsigned k = 0; k < 4; k++)
			assert_int_equal(
				rf_fabric_collective(f, RF_SCHEDULE_ALL_REDUCE, 0, 12 + 3000 * k),
				0);
		finish(f, c.ranks);
	}
}

/* Every collective, with blocks of all ranks of the tree, each type and operation in turn. */
static void collectives(void **state)
{
	(void)state;
	for (unsigned n = 0; n < 2; n++) {
		struct rf_fabric_cfg c = n ? three_levels() : cfg_of(2, 3);
		struct rf_fabric *f = open_fabric(&c);

		for (unsigned k = 0; k < 40; k++) {
			struct rf_fabric_call call = {
				.kind = (enum rf_collective_kind)(1 + k % 8),
				.type = (enum rf_arith_type)(k % RF_ARITH_TYPES),
				.op = (enum rf_arith_op)(k / 8 % 3),
				.root = k % c.ranks,
				.count =
					1 + k % 8 == RF_SCHEDULE_BARRIER ? 0 : 12 + 1200 * (k / 8)};

			for (unsigned r = 0; r < c.ranks; r++)
				assert_int_equal(rf_fabric_call(f, r, &call), 0);
		}
		finish(f, c.ranks);
	}
}

/* One bit of one result is wrong: this must be seen. */
static void flipped(void **state)
{
	struct rf_fabric_cfg c = cfg_of(2, 3);
	struct rf_fabric *f;

	(void)state;
	c.flip = true;
	f = open_fabric(&c);
	assert_int_equal(rf_fabric_collective(f, RF_SCHEDULE_ALL_REDUCE, 0, 3000), 0);
	assert_int_equal(rf_fabric_all(f, RF_STEP_LEAVE, 0), 0);
	assert_int_equal(rf_fabric_run(f, 100 * RF_SEC), 1);
	assert_true(rf_fabric_rank(f, 0)->wrong == 1);
	assert_true(rf_fabric_rank(f, 5)->wrong == 0);
	rf_fabric_destroy(f);
}

static void with_loss(void **state)
{
	(void)state;
	for (unsigned seed = 1; seed <= 6; seed++) {
		struct rf_fabric_cfg c = seed > 4 ? three_levels() : cfg_of(2, 3);
		struct rf_fabric *f;

		c.selective = seed % 2;
		c.seed = seed;
		c.retry_cnt = 60;
		c.host_links.loss = c.box_links.loss = 0.005;
		f = open_fabric(&c);
		for (unsigned k = 0; k < 4; k++)
			assert_int_equal(rf_fabric_collective(f, RF_SCHEDULE_ALL_REDUCE, 0, 6000),
					 0);
		assert_true(finish(f, c.ranks).repeats > 0);
	}
}

static bool under_way(void *f)
{
	return rf_fabric_rank(f, 0)->done > 0;
}

/* Whether a rank is at a box or below it. */
static bool is_below(const struct rf_fabric_cfg *c, unsigned rank, unsigned box)
{
	unsigned b = rank / (c->ranks / c->leaves);

	while (b != box && b != RF_NOBODY)
		b = rf_fabric_parent(c, b);
	return b == box;
}

static void ip_text(char text[80], const char *before, uint32_t ip, const char *after)
{
	char address[16];

	snprintf(text, 80, "%s%s%s", before, rf_ip_text(ip, address), after);
}

/*
 * A box loses everything while calls are under way. Ranks at it or below it hear that it was reset.
 * To the box above it is a rank that is silent: the other ranks hear that box's address.
 */
static void reset_box(void **state)
{
	(void)state;
	for (unsigned n = 0; n < 5; n++) {
		/* of two levels: a leaf, the top; of three: a leaf, one above it, the top */
		struct rf_fabric_cfg c = n < 2 ? cfg_of(2, 3) : three_levels();
		unsigned box = (const unsigned[]){1, 2, 1, 4, 6}[n];
		unsigned above = rf_fabric_parent(&c, box);
		struct rf_fabric *f;
		char was_reset[80], silent[80];

		c.lease_ms = 1000;
		f = open_fabric(&c);
		for (unsigned k = 0; k < 20; k++)
			assert_int_equal(rf_fabric_collective(f, RF_SCHEDULE_ALL_REDUCE, 0, 30000),
					 0);
		assert_int_equal(rf_fabric_run_until(f, 10 * RF_SEC, under_way, f), 0);
		rf_fabric_tree_reset(f, box);
		ip_text(was_reset, "the box ", rf_fabric_tree_ip(box), " was reset");
		ip_text(silent, "at the box ", rf_fabric_tree_ip(above == RF_NOBODY ? box : above),
			"");
		if (rf_fabric_run(f, 100 * RF_SEC) != 1)
			fail_msg("%s", rf_fabric_why(f));
		for (unsigned r = 0; r < c.ranks; r++) {
			const struct rf_rank *k = rf_fabric_rank(f, r);

			if (k->state != RF_RANK_FAILED || k->wrong || k->raw ||
			    k->failed_ns > rf_fabric_now(f)) {
				print_ranks(f, c.ranks);
				fail();
			}
			if (!strstr(k->text, r / 3 == box           ? "the box was reset"
					     : is_below(&c, r, box) ? was_reset
								    : silent)) {
				print_ranks(f, c.ranks);
				fail();
			}
		}
		assert_int_equal(rf_fabric_settle(f, rf_fabric_now(f) + 40 * RF_SEC), 0);
		if (rf_fabric_leak(f))
			print_message("%s\n", rf_fabric_leak(f));
		rf_fabric_destroy(f);
	}
}

/* What a leaf's uplink carries. */
struct carried {
	unsigned port; /* among those of all boxes */
	uint64_t from, to;
	unsigned data, acks, most; /* most: data packets within a millisecond */
	uint64_t last_ms;
	unsigned in_ms;
};

static bool count_up(void *arg, bool box, unsigned port, bool up, uint64_t ns, const uint8_t *frame,
		     size_t len)
{
	struct carried *k = arg;
	bool roce = len > 42 && frame[12] == 8 && frame[23] == 17 &&
		    (frame[36] << 8 | frame[37]) == 4791;

	if (!box || port != k->port || !up || !roce || ns < k->from || ns >= k->to)
		return true;
	k->acks += frame[42] == 0x11;
	/* Control messages have the same port. */
	if (frame[42] != 0x04 && frame[42] != 0x05)
		return true;
	k->data++;
	k->in_ms = ns / RF_MSEC == k->last_ms ? k->in_ms + 1 : 1;
	k->last_ms = ns / RF_MSEC;
	k->most = k->in_ms > k->most ? k->in_ms : k->most;
	return true;
}

/* A model that sends everything again at a TICK (mutant tick-one). */
static struct rf_engine *make_flooding(const struct rf_engine_cfg *cfg,
				       const struct rf_engine_host *host, char *why, size_t room)
{
	struct rf_engine *e = rf_model_engine()->create(cfg, host, why, room);

	if (e)
		rf_model_set_mutant(e, RF_MODEL_MUTANT_TICK_ONE);
	return e;
}

/* An all-reduce for which one rank of leaf 1 comes late; its time. */
static uint64_t late_by(uint64_t late_ns, struct carried *k, bool floods)
{
	struct rf_engine_ops flooding = *rf_model_engine();
	struct rf_fabric_cfg c = cfg_of(2, 3);
	struct rf_fabric *f;
	uint64_t ns;

	flooding.create = make_flooding;
	c.engine = floods ? &flooding : c.engine;
	c.selective = true;
	c.retry_cnt = 200;
	c.lease_ms = 5000;
	f = open_fabric(&c);
	assert_int_equal(rf_fabric_collective(f, RF_SCHEDULE_ALL_REDUCE, 0, 3000), 0);
	assert_int_equal(rf_fabric_all(f, RF_STEP_WAIT, 0), 0);
	assert_int_equal(rf_fabric_all(f, RF_STEP_BARRIER, 0), 0);
	if (late_ns)
		assert_int_equal(rf_fabric_step(f, 4, RF_STEP_COMPUTE, late_ns), 0);
	assert_int_equal(rf_fabric_collective(f, RF_SCHEDULE_ALL_REDUCE, 0, 30000), 0);
	assert_int_equal(rf_fabric_run_until(f, 10 * RF_SEC, under_way, f), 0);
	k->port = rf_fabric_firmware(f, 0)->uplink[0].port;
	/* The first packets have gone up by then. */
	k->from = rf_fabric_now(f) + 2 * RF_MSEC;
	k->to = rf_fabric_now(f) + late_ns - RF_MSEC;
	rf_fabric_set_filter(f, count_up, k);
	finish_in(f, c.ranks, &ns);
	return ns;
}

/*
 * While a rank of one rack is 20 s late, the uplink of the other rack carries at most one data
 * packet in a tick of 1 ms, soon one in 16; and the straggler costs no more than its own time.
 */
static void straggler(void **state)
{
	struct carried k = {0}, none = {0}, flood = {0};
	uint64_t quick = late_by(0, &none, false), slow = late_by(20 * RF_SEC, &k, false);

	(void)state;
	print_message("%u data packets and %u ACKs in 20 s, at most %u in a tick; %llu ns, and "
		      "%llu with the straggler\n",
		      k.data, k.acks, k.most, (unsigned long long)quick, (unsigned long long)slow);
	assert_true(k.data > 0);
	assert_true(k.most == 1);
	assert_true(k.data <= 20000 / 16 + 8);
	assert_true(slow < 20 * RF_SEC + quick + 20 * RF_MSEC);
	/* The count sees an uplink that sends more. */
	late_by(RF_SEC, &flood, true);
	assert_true(flood.most > 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shapes),      cmocka_unit_test(sums),
		cmocka_unit_test(collectives), cmocka_unit_test(flipped),
		cmocka_unit_test(with_loss),   cmocka_unit_test(reset_box),
		cmocka_unit_test(straggler),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
