/*
 * Connections enter and leave a table that is nine tenths full while packets are looked up in it.
 * Entries are moved to make room, and every packet of a live connection must find its entry.
 *
 * The table is as small as 58 connections allow (128 places for 116 keys). A group of 29 ranks
 * reduces all the time while another one of 29 joins. A packet that did not find its entry would be
 * foreign: it would be counted, and sent again.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "rf_regs.h"
#include "tests/sim/fabric_help.h"

#define HASH_BITS 6u
#define PLACES (2u << HASH_BITS)
#define SIZE 29u
#define OPS 16u /* they last twice as long as the second group needs to join */
#define LATE_NS (2 * RF_MSEC)

/* The engine, with a monitor of its table. */
static struct spy {
	const struct rf_engine_ops *ops;
	struct rf_engine_ops seen;
	uint32_t ip, key, value;
	struct {
		uint32_t ip, key, value;
	} at[PLACES];
	unsigned used, most, moves;
	bool late; /* the fault: a moved entry appears at its new place some time after its old one
		      is removed */
	unsigned wait;
	uint32_t held[4];
} spy;

static struct rf_engine *spy_create(const struct rf_engine_cfg *cfg,
				    const struct rf_engine_host *host, char *why, size_t room)
{
	struct rf_engine_cfg c = *cfg;

	c.hash_bits = HASH_BITS;
	return spy.ops->create(&c, host, why, room);
}

static void put(struct rf_engine *e, uint32_t ip, uint32_t key, uint32_t value, uint32_t where)
{
	spy.ops->reg_write(e, RF_HASH_IP, ip);
	spy.ops->reg_write(e, RF_HASH_KEY, key);
	spy.ops->reg_write(e, RF_HASH_VALUE, value);
	spy.ops->reg_write(e, RF_HASH_WRITE, where);
}

static unsigned place_of(uint32_t where)
{
	unsigned table = (where & RF_HASH_WRITE_TABLE_MASK) >> RF_HASH_WRITE_TABLE_LSB;

	return table << HASH_BITS | (where & (PLACES / 2 - 1));
}

/* Whether this write copies an entry that also exists elsewhere. */
static bool is_move(unsigned place)
{
	for (unsigned i = 0; i < PLACES; i++)
		if (i != place && spy.value && spy.at[i].value && spy.at[i].ip == spy.ip &&
		    spy.at[i].key == spy.key)
			return true;
	return false;
}

static void spy_write(struct rf_engine *e, uint32_t addr, uint32_t value)
{
	if (addr == RF_HASH_IP)
		spy.ip = value;
	if (addr == RF_HASH_KEY)
		spy.key = value;
	if (addr == RF_HASH_VALUE)
		spy.value = value;
	if (spy.wait && --spy.wait == 0) {
		put(e, spy.held[0], spy.held[1], spy.held[2], spy.held[3]);
		spy.ops->reg_write(e, RF_HASH_IP, spy.ip);
		spy.ops->reg_write(e, RF_HASH_KEY, spy.key);
		spy.ops->reg_write(e, RF_HASH_VALUE, spy.value);
	}
	if (addr == RF_HASH_WRITE) {
		unsigned place = place_of(value);
		bool move = is_move(place);

		spy.moves += move;
		spy.used += spy.value != 0;
		spy.used -= spy.at[place].value != 0;
		spy.at[place].ip = spy.ip;
		spy.at[place].key = spy.key;
		spy.at[place].value = spy.value;
		spy.most = spy.used > spy.most ? spy.used : spy.most;
		if (move && spy.late && !spy.wait) {
			spy.held[0] = spy.ip;
			spy.held[1] = spy.key;
			spy.held[2] = spy.value;
			spy.held[3] = value;
			spy.wait = 64; /* writes: long enough for a packet to arrive in between */
			return;
		}
	}
	spy.ops->reg_write(e, addr, value);
}

struct end {
	struct rf_fabric *f;
	unsigned foreign;
	uint64_t repeats, timeouts;
};

static struct end run(uint64_t seed, bool late)
{
	struct rf_fabric_cfg c = test_cfg(2 * SIZE, 4, 8);
	struct rf_fabric_stats s;
	struct end x = {0};

	memset(&spy, 0, sizeof(spy));
	spy.ops = c.engine;
	spy.seen = *c.engine;
	spy.seen.create = spy_create;
	spy.seen.reg_write = spy_write;
	spy.late = late;
	c.engine = &spy.seen;
	c.groups = 2;
	c.slots = 64;
	c.seed += seed;
	c.ack_timeout_ns = 20 * RF_MSEC;
	for (unsigned r = 0; r < 2 * SIZE; r++) {
		c.port_of_rank[r] = (uint8_t)(r % 4);
		c.join_at[r] = (r < SIZE ? 0 : LATE_NS) + (r % SIZE) * 20 * RF_USEC;
	}
	x.f = test_create(&c);
	for (unsigned r = 0; r < 2 * SIZE; r++)
		for (unsigned i = 0; i < (r < SIZE ? OPS : 1u); i++)
			assert_int_equal(
				rf_fabric_step(x.f, r, RF_STEP_ALLREDUCE, r < SIZE ? 65536 : 256),
				0);
	for (unsigned r = 0; r < 2 * SIZE; r++)
		rf_fabric_step(x.f, r, RF_STEP_WAIT, 0);
	rf_fabric_run(x.f, 10 * RF_SEC);
	for (unsigned p = 0; p < 4; p++)
		x.foreign += rf_fabric_counter(x.f, p, RF_CNT_FOREIGN);
	rf_fabric_stats(x.f, &s);
	x.repeats = s.repeats;
	x.timeouts = s.timeouts;
	print_message("seed %llu: %u moves, %u of %u places used, %u packets without entry, %llu "
		      "sent again\n",
		      (unsigned long long)c.seed, spy.moves, spy.most, PLACES, x.foreign,
		      (unsigned long long)x.repeats);
	return x;
}

static void test_kicks(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 2; seed++) {
		struct end x = run(seed, false);

		assert_true(rf_fabric_good(x.f));
		assert_true(spy.most * 10 >= PLACES * 9);
		assert_true(spy.moves > 0);
		/* The first group made progress before and after the other one joined. */
		assert_true(rf_fabric_rank(x.f, 0)->first_post_ns < LATE_NS);
		assert_true(rf_fabric_rank(x.f, 0)->last_done_ns >
			    rf_fabric_rank(x.f, SIZE)->ready_ns);
		assert_int_equal(x.foreign, 0);
		assert_int_equal(x.repeats, 0);
		rf_fabric_destroy(x.f);
	}
}

static void test_gap_is_seen(void **state)
{
	struct end x = run(0, true);

	(void)state;
	assert_true(spy.moves > 0);
	assert_true(x.foreign > 0);
	rf_fabric_destroy(x.f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kicks),
		cmocka_unit_test(test_gap_is_seen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
