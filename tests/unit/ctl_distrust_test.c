/* Answers that the host's control client must not accept. The seed is the first argument. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/ctl_script.h"

static const uint8_t other_key[16] = {5, 5, 4};
static uint64_t seed = 1;

static uint32_t rnd(void)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(seed >> 32);
}

/* Refusals that the box could not sign: three in a row are accepted, fewer are ignored. */
static void test_unsigned(void **state)
{
	struct rf_client c = script_client(true);
	struct rf_ctl_header h;
	struct rf_ctl_request q;
	struct rf_ctl_reply r = script_failed(RF_CTL_R_TAG, 3),
			    lie = script_failed(RF_CTL_R_RANK_TAKEN, 3);
	struct rf_ctl_reply w = script_waiting();
	uint64_t t = 0;

	(void)state;
	rf_client_join(&c, &script_join, 0);
	for (unsigned int i = 0; i < 3; i++) {
		assert_int_equal(rf_client_state(&c), RF_CLIENT_JOINING);
		assert_int_equal(script_request(&c, t, &h, &q), RF_CTL_JOIN);
		for (unsigned int k = 0; k < 5; k++)
			script_reply(&c, t, &h, &lie, NULL, 9);
		for (unsigned int k = 0; k < 5; k++)
			script_reply(&c, t, &h, &r, NULL, 9);
		t = rf_client_next_timeout(&c);
	}
	assert_int_equal(rf_client_error(&c), RF_CLIENT_E_REFUSED);
	assert_int_equal(rf_client_failed(&c)->reason, RF_CTL_R_TAG);
	/* Once the box has answered with the correct key, they are all ignored. */
	c = script_client(true);
	rf_client_join(&c, &script_join, 0);
	script_request(&c, 0, &h, &q);
	script_reply(&c, 0, &h, &w, script_key, 9);
	for (unsigned int k = 0; k < 9; k++)
		script_reply(&c, 0, &h, &r, NULL, 9);
	assert_int_equal(rf_client_state(&c), RF_CLIENT_JOINING);
	c = script_ready_client();
	for (unsigned int k = 0; k < 9; k++)
		script_reply(&c, 0, &h, &r, NULL, 9);
	assert_int_equal(rf_client_state(&c), RF_CLIENT_READY);
}

/*
 * Answers in another version's layout, three in a row: the host says which side is older. A newer
 * box answers in this host's layout and names its own version.
 */
static void test_versions(void **state)
{
	static const struct {
		uint8_t layout, named;
		const char *text;
	} boxes[] = {
		{2, 2, "the box has version 2 and this host version 3, so the box is older"},
		{3, 4, "the box has version 4 and this host version 3, so the host is older"},
		{9, 0, "the box has version 9 and this host version 3, so the host is older"},
	};

	(void)state;
	for (unsigned int i = 0; i < sizeof(boxes) / sizeof(boxes[0]); i++) {
		struct rf_client c = script_client(true);
		struct rf_ctl_reply r = script_failed(RF_CTL_R_VERSION, 3);
		uint8_t frame[RF_CTL_FRAME_MAX];
		struct rf_ctl_header h;
		struct rf_ctl_request q;
		char text[300];
		uint64_t t = 0;

		r.u.failed.detail = boxes[i].named;
		rf_client_join(&c, &script_join, 0);
		for (unsigned int k = 0; k < 3; k++) {
			size_t len;

			assert_int_equal(rf_client_state(&c), RF_CLIENT_JOINING);
			assert_int_equal(script_request(&c, t, &h, &q), RF_CTL_JOIN);
			len = script_reply_frame(&c, &h, &r, NULL, 9, frame);
			frame[42 + 4] = boxes[i].layout;
			assert_int_equal(rf_client_rx(&c, t, frame, len), 1);
			t = rf_client_next_timeout(&c);
		}
		assert_int_equal(rf_client_error(&c), RF_CLIENT_E_REFUSED);
		rf_client_text(&c, text, sizeof(text));
		assert_non_null(strstr(text, boxes[i].text));
		assert_non_null(strstr(text, "install the same release"));
	}
}

/* Damaged, forged or old replies and replies for others change nothing. */
static void test_distrust(void **state)
{
	struct rf_client c = script_client(true), before;
	struct rf_ctl_header h, other;
	struct rf_ctl_request q;
	struct rf_ctl_reply r = script_ready(), w = script_waiting();
	uint8_t frame[RF_CTL_FRAME_MAX], bad[RF_CTL_FRAME_MAX];
	size_t len;

	(void)state;
	rf_client_join(&c, &script_join, 0);
	script_request(&c, 0, &h, &q);
	len = script_reply_frame(&c, &h, &r, script_key, 9, frame);
	before = c;
	for (size_t bit = 42 * 8; bit < 8 * len; bit++) {
		memcpy(bad, frame, len);
		bad[bit / 8] = (uint8_t)(bad[bit / 8] ^ 1u << (bit & 7u));
		rf_client_rx(&c, MS, bad, len);
		assert_int_equal(rf_client_state(&c), RF_CLIENT_JOINING);
		assert_null(rf_client_ready(&c));
	}
	for (size_t cut = 0; cut < len; cut++) {
		uint8_t *p = malloc(cut ? cut : 1);

		assert_non_null(p);
		memcpy(p, frame, cut);
		assert_int_equal(rf_client_rx(&c, MS, p, cut), 0);
		free(p);
	}
	for (unsigned int run = 0; run < 50000; run++) {
		memcpy(bad, frame, len);
		bad[42 + rnd() % (len - 42)] ^= (uint8_t)(1 + rnd() % 255);
		for (unsigned int k = 0; k < rnd() % 8; k++)
			bad[rnd() % len] = (uint8_t)rnd();
		rf_client_rx(&c, MS, bad, rnd() % 4 ? len : rnd() % (len + 1));
	}
	assert_int_equal(rf_client_state(&c), RF_CLIENT_JOINING);
	/*
	 * Signed with another key; for another rank, token, group, job; with an unused sequence
	 * number.
	 */
	assert_int_equal(script_reply(&c, MS, &h, &r, other_key, 9), 1);
#define OTHER(change, mine)                                                                        \
	do {                                                                                       \
		other = h;                                                                         \
		change;                                                                            \
		assert_int_equal(script_reply(&c, MS, &other, &r, script_key, 9), mine);           \
		assert_int_equal(rf_client_state(&c), RF_CLIENT_JOINING);                          \
	} while (0)
	OTHER(other.rank++, 0);
	OTHER(other.token++, 0);
	OTHER(other.group++, 0);
	OTHER(other.job++, 0);
	OTHER(other.seq += 2, 1);
	OTHER(other.seq += 0x80000000u, 1);
#undef OTHER
	assert_memory_equal(&before.req, &c.req, sizeof(c.req));
	/* READY for another number of ranks. */
	r.u.ready.ranks = 3;
	script_reply(&c, MS, &h, &r, script_key, 9);
	assert_int_equal(rf_client_state(&c), RF_CLIENT_JOINING);
	/* An older answer after a newer one. */
	script_request(&c, 20 * MS, &other, &q);
	script_reply(&c, 20 * MS, &other, &w, script_key, 9);
	r = script_ready();
	script_reply(&c, 20 * MS, &h, &r, script_key, 9);
	assert_int_equal(rf_client_state(&c), RF_CLIENT_JOINING);
	script_reply(&c, 20 * MS, &other, &r, script_key, 9);
	assert_int_equal(rf_client_state(&c), RF_CLIENT_READY);
	/* A late WAITING does not undo READY. */
	script_reply(&c, 20 * MS, &other, &w, script_key, 9);
	assert_int_equal(rf_client_state(&c), RF_CLIENT_READY);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unsigned),
		cmocka_unit_test(test_versions),
		cmocka_unit_test(test_distrust),
	};

	if (argc > 1)
		seed = strtoull(argv[1], NULL, 0);
	print_message("seed %llu; to repeat: %s %llu\n", (unsigned long long)seed, argv[0],
		      (unsigned long long)seed);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
