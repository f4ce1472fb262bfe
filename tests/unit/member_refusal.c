/*
 * A member that learns from another rank that a full box has refused that rank: before it has
 * asked the box, while it waits there, and too late; and announcements that say nothing. The test
 * takes the place of the box, which never answers, and of the store.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "host/member/internal.h"
#include "proto/rf_bytes.h"
#include "proto/rf_ctl.h"

#define MS UINT64_C(1000000)
#define JOIN_MS 30000u

static const struct rf_member_peer peers[2] = {{{2, 0, 0, 0, 0, 1}, 1}, {{2, 0, 0, 0, 0, 2}, 2}};
static void nothing(struct rf_pair *p)
{
	(void)p;
}

static const struct rf_pair_ops no_ops = {.stop = nothing, .disconnect = nothing};
static struct rf_pair no_pair = {.ops = &no_ops};
static uint64_t now;
static unsigned int joins, aborts; /* sent to the box */

/* Sends and lets time pass until the member has something for the store, at most for a second. */
static void run(struct rf_member *m)
{
	uint64_t until = now + 1000 * MS;
	uint8_t frame[RF_CLIENT_FRAME_MAX];
	size_t len;

	while (now < until && !rf_member_gather(m)) {
		rf_member_progress(m, now);
		while ((len = rf_member_tx(m, now, frame, sizeof(frame))) != 0) {
			struct rf_ctl_header h;
			struct rf_ctl_addr a;
			const uint8_t *msg;
			size_t n;

			assert_int_equal(rf_ctl_frame_get(frame, len, &a, &msg, &n), 0);
			assert_int_equal(rf_ctl_header_get(msg, n, &h), 0);
			joins += h.verb == RF_CTL_JOIN;
			aborts += h.verb == RF_CTL_ABORT;
		}
		now += MS;
	}
}

/* The other rank's card or report is that of this one. */
static void both_alike(struct rf_member *m)
{
	const struct rf_member_gather *g = rf_member_gather(m);
	uint8_t values[2 * RF_MEMBER_VALUE_MAX];

	assert_non_null(g);
	for (unsigned int r = 0; r < 2; r++)
		memcpy(values + r * g->len, g->value, g->len);
	rf_member_gathered(m, 0, NULL, RF_MEMBER_NOBODY, values, now);
}

/* In EXCHANGE. */
static struct rf_member *member(void)
{
	struct rf_member_cfg cfg = {
		.ranks = 2,
		.peers = peers,
		.own = {10, 11, 100},
		.store = true,
		.number = 3,
		.schedule = RF_SCHEDULE_BOX,
		.slots = 64,
		.flags = RF_CTL_J_SHIFTED,
		.no_wait = true,
		.timeout_ns = JOIN_MS * MS,
		.exchange_ns = JOIN_MS * MS,
		.join_ms = JOIN_MS,
		.mtu = 1024,
		.calls_max = 4,
		.client = {.ip = 1,
			   .box_ip = 9,
			   .vlan = RF_CTL_NO_VLAN,
			   .job = 7,
			   .token = 5,
			   .have_box_mac = true},
	};
	struct rf_member *m;

	now = 1000 * MS;
	joins = aborts = 0;
	assert_int_equal(rf_member_create(&cfg, &no_pair, &m), RF_OK);
	rf_member_start(m, now);
	assert_int_equal(rf_member_phase(m), RF_MEMBER_EXCHANGE);
	return m;
}

static void told(struct rf_member *m, const char *text)
{
	rf_member_announced(m, 1, RF_MEMBER_NO_ROOM, text, now);
	assert_int_equal(rf_member_status(m), RF_OK);
}

/* The member reports that there is no room, with the text that the other rank sent. */
static void reports_no_room(struct rf_member *m)
{
	const struct rf_member_gather *g = rf_member_gather(m);

	assert_non_null(g);
	assert_int_equal(rf_member_phase(m), RF_MEMBER_REPORT);
	assert_int_equal(rf_get_be32(g->value), RF_IN_PROGRESS);
	assert_string_equal((const char *)g->value + 5, "rank 1: all groups are in use");
	assert_int_equal(rf_member_reason(m), RF_CTL_R_NO_GROUPS);
}

static void while_it_waits(void **state)
{
	struct rf_member *m = member();

	(void)state;
	both_alike(m);
	run(m);
	assert_int_equal(rf_member_phase(m), RF_MEMBER_JOIN);
	assert_true(joins > 0 && aborts == 0);
	told(m, "0 20 all groups are in use");
	run(m);
	assert_true(aborts > 0);
	reports_no_room(m);
	/* of the same step again, as another rank would say it: nothing */
	both_alike(m);
	assert_int_equal(rf_member_phase(m), RF_MEMBER_JOIN);
	told(m, "0 20 all groups are in use");
	run(m);
	assert_int_equal(rf_member_phase(m), RF_MEMBER_JOIN);
	/* of the next one, in which fewer slots are asked for */
	told(m, "1 20 all groups are in use");
	run(m);
	reports_no_room(m);
	both_alike(m);
	assert_int_equal(rf_member_phase(m), RF_MEMBER_FAILED);
	assert_int_equal(rf_member_status(m), RF_ERR_BOX_REFUSED);
	rf_member_destroy(m);
}

static void before_it_asks(void **state)
{
	struct rf_member *m = member();

	(void)state;
	told(m, "0 20 all groups are in use");
	both_alike(m);
	reports_no_room(m);
	run(m);
	assert_int_equal(joins, 0);
	rf_member_destroy(m);
}

static void without_sense(void **state)
{
	static const char *const texts[] = {"",       "x",       "0",       "0 20",    "9 20 text",
					    "2 20 t", "0 999 t", "-1 20 t", "0 -20 t", "0x0 20 t"};
	struct rf_member *m = member();

	(void)state;
	both_alike(m);
	for (unsigned int k = 0; k < sizeof(texts) / sizeof(texts[0]); k++)
		told(m, texts[k]);
	run(m);
	assert_int_equal(rf_member_phase(m), RF_MEMBER_JOIN);
	assert_int_equal(aborts, 0);
	rf_member_destroy(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(while_it_waits),
		cmocka_unit_test(before_it_asks),
		cmocka_unit_test(without_sense),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
