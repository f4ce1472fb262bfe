/*
 * Which port a mirror rank gets on a fake box: it follows from the rank's number, so that the order
 * of additions is the same whoever comes first.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "firmware/core/internal.h"
#include "tests/unit/fw_ask.h"
#include "tests/unit/fw_mirror.h"

#define RANKS 11u

static struct rf_ctl_reply reply;

/* Asks as mirror rank r of n, by way of port `in`; the port of the address in the answer. */
static unsigned int port_of(struct fw_box *b, unsigned int r, unsigned int n, unsigned int in)
{
	struct fw_ask a = fw_mirror_join(r, n);

	a.port = in;
	assert_int_equal(fw_ask_result(b, &a, &reply), RF_CTL_WAITING);
	while (fw_box_out(b))
		;
	return reply.u.waiting.port_ip - FW_MIRROR_IP(0);
}

/* Both steps of a JOIN of rank r. */
static void arrives(struct fw_box *b, unsigned int r, unsigned int n, unsigned int in)
{
	struct fw_ask a = fw_mirror_join(r, n);

	fw_mirror_at(&a, FW_MIRROR_IP(port_of(b, r, n, in)));
	fw_ask_result(b, &a, &reply);
	while (fw_box_out(b))
		;
}

/* Writes the source address of each place of a run whose ranks come in this order. */
static void run(const unsigned int *order, unsigned int spread, uint32_t *at)
{
	struct fw_box *b = fw_mirror_box();
	unsigned int places = 0;

	for (unsigned int k = 0; k < RANKS; k++)
		arrives(b, order[k], RANKS, (k + spread) % 4u);
	for (unsigned int lane = 0; lane < 4; lane++)
		for (unsigned int p = 0; p < 4; p++) {
			uint32_t ip = b->conn[RF_FW_CID(0, lane, p)][RF_CONN_SRC_IP / 4];

			at[4 * lane + p] = ip;
			places += ip != 0;
		}
	assert_int_equal(reply.result, RF_CTL_READY);
	assert_int_equal(places, RANKS);
	fw_box_free(b);
}

/* The last rank first, and any other order, by whichever ports the requests come in: same places.
 */
static void test_any_order(void **state)
{
	unsigned int order[RANKS];
	uint32_t first[16], other[16];

	(void)state;
	for (unsigned int k = 0; k < RANKS; k++)
		order[k] = k;
	run(order, 0, first);
	/* Rank r is at port r mod 4, in lane r / 4. */
	for (unsigned int r = 0; r < RANKS; r++)
		assert_int_equal(first[r], fw_mirror_join(r, RANKS).ip);
	for (unsigned int step = 2; step < RANKS; step++) {
		for (unsigned int k = 0; k < RANKS; k++)
			order[k] = (RANKS - 1u + k * step) % RANKS;
		run(order, step, other);
		assert_memory_equal(first, other, sizeof(first));
	}
}

/* The ports that a key allows, in their order. */
static void test_key(void **state)
{
	static struct rf_fw_key key[2] = {{.job = 42, .ports = 1u << 1 | 1u << 3},
					  {.job = 0, .key = {1}}};
	struct fw_box *b = fw_mirror_box_keys(key, 2);

	(void)state;
	for (unsigned int r = 6; r-- > 0;)
		assert_int_equal(port_of(b, r, 7, r % 4u), r % 2u ? 3 : 1);
	fw_box_free(b);
}

/* A port that another host claims is left out; the others take its place in the count. */
static void test_claim(void **state)
{
	static const unsigned int left[3] = {0, 2, 3};
	struct fw_box *b = fw_mirror_box();

	(void)state;
	b->fw.address[1].claimed = 1;
	for (unsigned int r = 6; r-- > 0;)
		assert_int_equal(port_of(b, r, 7, 0), left[r % 3u]);
	fw_box_free(b);
}

/*
 * Ranks that name port 1 take all of its lanes. Rank 5 belongs there and gets the port with the
 * fewest ranks, among equals the lowest; rank 6 and the others keep theirs.
 */
static void test_full(void **state)
{
	struct fw_box *b = fw_box_new();
	struct fw_ask a;

	(void)state;
	fw_mirror_shape(b, NULL, 0);
	b->lanes = 2;
	assert_int_equal(fw_box_start(b), RF_FW_OK);
	for (unsigned int r = 0; r < 2; r++) {
		a = fw_mirror_join(r, 8);
		a.r.u.join.port = 1;
		assert_int_equal(fw_ask_result(b, &a, &reply), RF_CTL_WAITING);
		while (fw_box_out(b))
			;
	}
	assert_int_equal(port_of(b, 4, 8, 3), 0);
	assert_int_equal(port_of(b, 5, 8, 1), 2);
	assert_int_equal(port_of(b, 6, 8, 1), 2);
	assert_int_equal(port_of(b, 3, 8, 1), 3);
	assert_int_equal(port_of(b, 2, 8, 1), 0);
	assert_int_equal(port_of(b, 7, 8, 1), 3);
	fw_box_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_any_order),
		cmocka_unit_test(test_key),
		cmocka_unit_test(test_claim),
		cmocka_unit_test(test_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
