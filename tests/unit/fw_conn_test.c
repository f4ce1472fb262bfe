/* The connection table: every key that can be placed is placed, 90 % of the places can be used, and
 * no key is absent while others move. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "firmware/core/internal.h"
#include "tests/unit/fw_box.h"

static uint64_t seed = 1;

static uint32_t rnd(void)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(seed >> 33);
}

struct key {
	uint32_t ip, key;
};

struct watch {
	const struct key *keys;
	unsigned int count;
	unsigned int missing;
};

/* After every single write all keys inserted so far must be found. */
static void look(struct fw_box *b, void *arg)
{
	struct watch *w = arg;

	for (unsigned int i = 0; i < w->count; i++)
		if (fw_box_lookup(b, w->keys[i].ip, w->keys[i].key) == 0)
			w->missing++;
}

/*
 * Whether a refused key really has no place: all buckets reachable from its own buckets, through
 * the other buckets of their entries, are full.
 */
static bool closed(const struct fw_box *b, const struct key *k)
{
	static bool in[2][(1u << FW_BOX_HASH_MAX) / 4];
	uint32_t mask = (1u << (b->hash_bits - 2)) - 1u;
	uint32_t h = rf_fw_conn_hash(k->ip, k->key);
	bool more = true;

	memset(in, 0, sizeof(in));
	in[0][h & mask] = in[1][h >> 16 & mask] = true;
	while (more) {
		more = false;
		for (unsigned int i = 0; i < 2u << b->hash_bits; i++) {
			unsigned int t = i >> b->hash_bits, n = i & ((1u << b->hash_bits) - 1u);
			const struct fw_box_entry *e = &b->table[t][n];

			if (!in[t][n / 4])
				continue;
			if (e->value == 0)
				return false;
			h = rf_fw_conn_hash(e->ip, e->key);
			n = (t ? h : h >> 16) & mask;
			more = more || !in[!t][n];
			in[!t][n] = true;
		}
	}
	return true;
}

/* Inserts random keys until `want` are in the table or one is refused; returns their number. */
static unsigned int fill(unsigned int hash_bits, unsigned int want)
{
	static struct key keys[2u << FW_BOX_HASH_MAX];
	struct fw_box *b = fw_box_new();
	struct watch w = {keys, 0, 0};

	b->hash_bits = hash_bits;
	assert_int_equal(fw_box_start(b), RF_FW_OK);
	b->on_hash = look;
	b->on_hash_arg = &w;
	while (w.count < want) {
		struct key k = {rnd(), rf_fw_key(rnd() & 1u, rnd() & 0xffffffu)};

		keys[w.count] = k;
		if (!rf_fw_conn_put(&b->fw, k.ip, k.key, rf_fw_value(w.count, RF_STATE_LIVE), 7)) {
			/* The search looks at 256 places. */
			assert_true(hash_bits > 7 || closed(b, &k));
			break;
		}
		w.count++;
		assert_int_equal(w.missing, 0);
	}
	for (unsigned int i = 0; i < w.count; i++)
		assert_int_equal(fw_box_lookup(b, keys[i].ip, keys[i].key),
				 i | RF_STATE_LIVE << RF_HASH_VALUE_STATE_LSB);
	for (unsigned int i = 0; i < w.count; i++)
		rf_fw_conn_remove(&b->fw, keys[i].ip, keys[i].key);
	assert_int_equal(b->fw.entries, 0);
	assert_null(b->fault);
	fw_box_free(b);
	return w.count;
}

/*
 * Inserts both roles of `ranks` connections in a ring as jobs do, with consecutive addresses and
 * QPNs.
 */
static unsigned int ring(unsigned int hash_bits, unsigned int ranks, uint32_t ip, uint32_t qpn,
			 uint32_t step)
{
	struct fw_box *b = fw_box_new();
	unsigned int placed = 0;

	b->hash_bits = hash_bits;
	assert_int_equal(fw_box_start(b), RF_FW_OK);
	for (unsigned int r = 0; r < ranks; r++) {
		uint32_t next = (r + 1) % ranks;

		placed += rf_fw_conn_put(&b->fw, ip + next, rf_fw_key(0, qpn + step * next),
					 rf_fw_value(r, RF_STATE_LIVE), 7);
		placed += rf_fw_conn_put(&b->fw, ip + r, rf_fw_key(1, qpn + step * r),
					 rf_fw_value(r, RF_STATE_LIVE), 7);
	}
	fw_box_free(b);
	return placed;
}

/* Every key that the search refuses has no place; up to 90 % of the table no key is refused. */
static void test_ninety_percent(void **state)
{
	(void)state;
	for (unsigned int bits = 3; bits <= FW_BOX_HASH_MAX; bits++) {
		unsigned int places = 2u << bits, least = places, sum = 0;

		for (unsigned int run = 0; run < 12; run++) {
			unsigned int n = fill(bits, places);

			least = n < least ? n : least;
			sum += n;
		}
		print_message("2 x 2^%u places: at least %u %% full, %u %% on average\n", bits,
			      100 * least / places, 100 * sum / (12 * places));
		/* In the smallest tables two buckets may get too many keys by chance. */
		assert_true(bits < 7 || 10 * least >= 9 * places);
	}
}

static void test_rings(void **state)
{
	(void)state;
	for (uint32_t net = 0; net < 8; net++)
		for (uint32_t step = 0; step < 4; step++)
			for (unsigned int bits = 6; bits <= FW_BOX_HASH_MAX; bits++) {
				unsigned int ranks = (9u << bits) / 10;

				assert_int_equal(ring(bits, ranks, 0x0a000001u + (net << 12),
						      0x11 + 0x100 * net, step),
						 2 * ranks);
			}
}

static void test_hash_vector(void **state)
{
	(void)state;
	/* CRC-32 of 01 00 00 12 0a 00 00 02 is 321b9a5d. */
	assert_int_equal(rf_fw_conn_hash(0x0a000002u, rf_fw_key(1, 0x12)), 0x203b0a19u);
}

static void test_states(void **state)
{
	struct fw_box *b = fw_box_new();
	uint32_t key = rf_fw_key(0, 5);

	(void)state;
	b->cfg.tomb_ms = 1000;
	assert_int_equal(fw_box_start(b), RF_FW_OK);
	assert_true(rf_fw_conn_put(&b->fw, 1, key, rf_fw_value(3, RF_STATE_JOINING), 7));
	assert_true(rf_fw_conn_put(&b->fw, 1, key, rf_fw_value(9, RF_STATE_LIVE), 7));
	assert_int_equal(fw_box_lookup(b, 1, key), 9 | RF_STATE_LIVE << 16);
	rf_fw_conn_exhume(&b->fw, 1, key, 7);
	assert_int_equal(b->fw.entries, 1);
	rf_fw_conn_bury(&b->fw, &(struct rf_fw_member){.peer_ip = 1, .peer_qpn = 5}, 7, true);
	assert_int_equal(fw_box_lookup(b, 1, key) >> 16, RF_STATE_TOMBSTONE);
	rf_fw_conn_exhume(&b->fw, 1, key, 7);
	assert_int_equal(fw_box_lookup(b, 1, key), 0);
	assert_int_equal(b->fw.entries, 0);
	assert_int_equal(b->fw.tombstones, 0);
	fw_box_free(b);
}

/*
 * A tombstone expires its lifetime after the last packet from its expected source and port; each
 * has its own timer.
 */
static void test_life(void **state)
{
	struct fw_box *b = fw_box_new();
	const struct rf_fw_member one = {.peer_ip = 1, .peer_qpn = 5, .src_ip = 77, .port = 2};
	const struct rf_fw_member two = {.peer_ip = 1, .peer_qpn = 6, .src_ip = 77, .port = 2};

	(void)state;
	b->cfg.hold_ms = 0;
	b->cfg.tomb_ms = 1000;
	assert_int_equal(fw_box_start(b), RF_FW_OK);
	rf_fw_conn_put(&b->fw, 1, rf_fw_key(0, 5), rf_fw_value(2, RF_STATE_LIVE), 7);
	rf_fw_conn_put(&b->fw, 1, rf_fw_key(0, 6), rf_fw_value(2, RF_STATE_LIVE), 7);
	rf_fw_conn_bury(&b->fw, &one, 7, true);
	rf_fw_conn_bury(&b->fw, &two, 7, true);
	b->fw.group[0].state = RF_CTL_S_FREE;
	for (unsigned int i = 0; i < 10; i++) {
		assert_false(fw_box_data(b, 2, 77, 1, 5));
		assert_null(fw_box_run(b, 700));
		assert_int_not_equal(fw_box_lookup(b, 1, rf_fw_key(0, 5)), 0);
		assert_true(i < 2 || fw_box_lookup(b, 1, rf_fw_key(0, 6)) == 0);
	}
	/* A packet from another port or source does not renew it. */
	for (unsigned int i = 0; i < 20; i++) {
		fw_box_data(b, 1, 77, 1, 5);
		fw_box_data(b, 2, 78, 1, 5);
		assert_null(fw_box_run(b, 100));
	}
	assert_int_equal(fw_box_lookup(b, 1, rf_fw_key(0, 5)), 0);
	assert_int_equal(b->fw.tomb_ms, RF_FW_NEVER);
	fw_box_free(b);
}

/*
 * Tombstones move when other entries are inserted: each keeps its number, and all numbers are
 * different.
 */
static void test_numbers(void **state)
{
	struct fw_box *b = fw_box_new();
	unsigned int count = 0;

	(void)state;
	b->hash_bits = 5;
	b->cfg.tomb_ms = 1000;
	assert_int_equal(fw_box_start(b), RF_FW_OK);
	for (uint32_t q = 0; q < 400 && count < 60; q++) {
		const struct rf_fw_member m = {.peer_ip = 9,
					       .peer_qpn = 7 * q & RF_FW_MASK24,
					       .src_ip = 1000 + q,
					       .port = q & 3};

		if (!rf_fw_conn_put(&b->fw, 9, rf_fw_key(0, 7 * q), rf_fw_value(2, RF_STATE_LIVE),
				    7))
			continue;
		rf_fw_conn_bury(&b->fw, &m, 7, true);
		count++;
		for (unsigned int i = 0; i < 64; i++) {
			const struct rf_fw_entry *e = &b->fw.table[i];
			uint32_t number = e->cid;
			uint32_t qpn = (e->key & RF_HASH_KEY_QPN_MASK) / 7;

			if (rf_fw_state(e) == RF_STATE_EMPTY)
				continue;
			assert_int_equal(b->tomb[number][0], 1000 + qpn);
			assert_int_equal(b->tomb[number][1] >> RF_TOMB_WRITE_PORT_LSB, qpn & 3);
		}
		assert_null(b->fault);
	}
	assert_int_equal(count, 60);
	assert_true(b->fw.cnt.kicks > 3);
	fw_box_free(b);
}

static void test_buddy(void **state)
{
	struct rf_fw_buddy b;
	uint32_t base[64];
	unsigned int log2[64], n = 0;
	uint32_t used = 0;

	(void)state;
	rf_fw_buddy_init(&b, 13);
	assert_int_equal(rf_fw_buddy_room(&b), 8192);
	for (unsigned int step = 0; step < 20000; step++) {
		if (n < 64 && (rnd() & 1u)) {
			log2[n] = 5 + rnd() % 8;
			if (rf_fw_buddy_alloc(&b, log2[n], &base[n])) {
				assert_int_equal(base[n] & ((1u << log2[n]) - 1u), 0);
				for (unsigned int i = 0; i < n; i++)
					assert_true(base[i] + (1u << log2[i]) <= base[n] ||
						    base[n] + (1u << log2[n]) <= base[i]);
				used += 1u << log2[n++];
			} else {
				assert_true(rf_fw_buddy_longest(&b) < (int)log2[n]);
			}
		} else if (n > 0) {
			unsigned int i = rnd() % n;

			rf_fw_buddy_free(&b, base[i], log2[i]);
			used -= 1u << log2[i];
			base[i] = base[--n];
			log2[i] = log2[n];
		}
		assert_int_equal(rf_fw_buddy_room(&b), 8192 - used);
	}
	while (n-- > 0)
		rf_fw_buddy_free(&b, base[n], log2[n]);
	assert_int_equal(rf_fw_buddy_longest(&b), 13);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hash_vector), cmocka_unit_test(test_ninety_percent),
		cmocka_unit_test(test_rings),       cmocka_unit_test(test_states),
		cmocka_unit_test(test_life),        cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_buddy),
	};

	if (argc > 1)
		seed = strtoull(argv[1], NULL, 0);
	print_message("seed %llu; to repeat: build/tests/fw_conn_test %llu\n",
		      (unsigned long long)seed, (unsigned long long)seed);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
