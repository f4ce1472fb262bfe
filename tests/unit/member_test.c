/*
 * The member's state machine alone, without network, box or store. The test takes their place, so
 * it can check each step and each deadline separately.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "host/member/fallback.h"
#include "host/member/internal.h"

#define SEC UINT64_C(1000000000)
#define MS UINT64_C(1000000)
#define TIMEOUT (30 * SEC)

/* Allocations so far: the program is linked with --wrap. */
static unsigned int allocations;
void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *old, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);

void *__wrap_malloc(size_t size)
{
	allocations++;
	return __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
	allocations++;
	return __real_calloc(n, size);
}

void *__wrap_realloc(void *old, size_t size)
{
	allocations++;
	return __real_realloc(old, size);
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
	allocations++;
	return __real_aligned_alloc(alignment, size);
}

/* Connections that take everything and deliver nothing, unless the test moves them. */
struct fake {
	struct rf_pair base;
	uint64_t moved;
	bool connected, stopped;
};

static int post_send(void *ctx, uint64_t id, const void *buf, uint32_t len)
{
	(void)ctx, (void)id, (void)buf, (void)len;
	return RF_MSG_OK;
}

static int post_recv(void *ctx, uint64_t id, void *buf, uint32_t len)
{
	(void)ctx, (void)id, (void)buf, (void)len;
	return RF_MSG_OK;
}

static int poll_nothing(void *ctx, struct rf_msg_event *event)
{
	(void)ctx, (void)event;
	return 0;
}

static const struct rf_msg_ops nothing = {post_send, post_recv, poll_nothing, NULL};

static int fake_connect(struct rf_pair *p, const struct rf_pair_cfg *cfg, char *why, size_t room)
{
	(void)cfg, (void)why, (void)room;
	((struct fake *)(void *)p)->connected = true;
	p->to_next = (struct rf_msg){&nothing, p};
	p->from_prev = (struct rf_msg){&nothing, p};
	return 0;
}

static uint64_t fake_moved(const struct rf_pair *p)
{
	return ((const struct fake *)(const void *)p)->moved;
}

static bool fake_bypassed(const struct rf_pair *p)
{
	(void)p;
	return false;
}

static void fake_stop(struct rf_pair *p)
{
	((struct fake *)(void *)p)->stopped = true;
}

static void fake_disconnect(struct rf_pair *p)
{
	((struct fake *)(void *)p)->connected = false;
}

static const struct rf_pair_ops fake_ops = {.connect = fake_connect,
					    .moved = fake_moved,
					    .bypassed = fake_bypassed,
					    .stop = fake_stop,
					    .disconnect = fake_disconnect};

static const struct rf_member_peer peers[2] = {{{2, 0, 0, 0, 0, 1}, 1}, {{2, 0, 0, 0, 0, 2}, 2}};
static const struct rf_member_end ends[2] = {{10, 11, 100}, {20, 21, 200}};

static struct rf_member *ring(struct fake *f, bool store)
{
	struct rf_member_cfg cfg = {
		.ranks = 2,
		.peers = peers,
		.own = ends[0],
		.store = store,
		.ends = ends,
		.schedule = RF_SCHEDULE_RING,
		.slots = 16,
		.prove = store,
		.timeout_ns = TIMEOUT,
		.exchange_ns = TIMEOUT,
		.mtu = 1024,
		.ring_window = 8,
		.calls_max = 4,
	};
	struct rf_member *m;

	memset(f, 0, sizeof(*f));
	f->base.ops = &fake_ops;
	assert_int_equal(rf_member_create(&cfg, &f->base, &m), RF_OK);
	return m;
}

/* Runs the machine whenever a timeout is due, until a given time. */
static void run(struct rf_member *m, uint64_t *now, uint64_t until)
{
	while (*now < until) {
		uint64_t next = rf_member_next_timeout(m);

		rf_member_progress(m, *now);
		if (next <= *now)
			next = *now + MS;
		*now = next < until ? next : until;
	}
	rf_member_progress(m, *now);
}

static uint32_t data[16];

static void begin_call(struct rf_member *m, uint64_t now)
{
	rf_member_start(m, now);
	assert_int_equal(rf_member_phase(m), RF_MEMBER_RUNNING);
	assert_int_equal(rf_member_call(m, 3, data, data, 16, now), RF_OK);
}

/* Without any progress a call fails after the timeout, and not before. */
static void times_out(void **state)
{
	struct rf_member_event e;
	uint64_t now = SEC;
	struct fake f;
	struct rf_member *m = ring(&f, false);

	(void)state;
	begin_call(m, now);
	run(m, &now, now + TIMEOUT - MS);
	assert_int_equal(rf_member_status(m), 0);
	run(m, &now, now + 2 * MS);
	assert_int_equal(rf_member_status(m), RF_ERR_TIMEOUT);
	assert_true(f.stopped);
	assert_true(rf_member_poll(m, &e));
	assert_int_equal(e.kind, RF_MEMBER_DONE);
	assert_int_equal(e.id, 3);
	assert_int_equal(e.status, RF_ERR_TIMEOUT);
	assert_false(rf_member_poll(m, &e));
	rf_member_destroy(m);
}

/*
 * A NIC has given up and the box is asked for whom it waited: a call that begins meanwhile fails
 * together with the others, for the same reason.
 */
static void begun_while_asking(void **state)
{
	struct rf_member_event e;
	uint64_t now = SEC;
	struct fake f;
	struct rf_member *m = ring(&f, false);

	(void)state;
	begin_call(m, now);
	m->broken_due = now + SEC;
	m->broken_status = RF_ERR_TRANSPORT;
	snprintf(m->broken, sizeof(m->broken), "the connection to rank 1 has ended");
	assert_int_equal(rf_member_call(m, 4, data, data, 16, now), RF_OK);
	run(m, &now, now + 2 * SEC);
	assert_int_equal(rf_member_status(m), RF_ERR_TRANSPORT);
	for (unsigned int i = 0; i < 2; i++) {
		assert_true(rf_member_poll(m, &e));
		assert_int_equal(e.kind, RF_MEMBER_DONE);
		assert_int_equal(e.status, RF_ERR_TRANSPORT);
	}
	assert_false(rf_member_poll(m, &e));
	rf_member_destroy(m);
}

/*
 * The process stands still for longer than the timeout. That time does not count against the
 * others, who get some time after it. If no data moves then, the call fails.
 */
static void stands_still(void **state)
{
	uint64_t now = SEC;
	struct fake f;
	struct rf_member *m = ring(&f, false);

	(void)state;
	begin_call(m, now);
	run(m, &now, now + SEC);
	now += 2 * TIMEOUT;
	rf_member_progress(m, now);
	assert_int_equal(rf_member_status(m), 0);
	run(m, &now, now + RF_MEMBER_GRACE_NS - MS);
	assert_int_equal(rf_member_status(m), 0);
	run(m, &now, now + 2 * MS);
	assert_int_equal(rf_member_status(m), RF_ERR_TIMEOUT);
	rf_member_destroy(m);
}

/* ... and what arrives then begins a new timeout. */
static void goes_on(void **state)
{
	uint64_t now = SEC;
	struct fake f;
	struct rf_member *m = ring(&f, false);

	(void)state;
	begin_call(m, now);
	run(m, &now, now + SEC);
	now += 2 * TIMEOUT;
	f.moved++;
	run(m, &now, now + TIMEOUT - MS);
	assert_int_equal(rf_member_status(m), 0);
	run(m, &now, now + 2 * MS);
	assert_int_equal(rf_member_status(m), RF_ERR_TIMEOUT);
	rf_member_destroy(m);
}

/* The box answers the question which rank it waits for. */
static void answer(struct rf_member *m, uint32_t next0, uint32_t next1, uint8_t flags, uint64_t now)
{
	struct rf_ctl_ranks_page *page = &m->client.answer.u.ranks;

	m->client.answer.result = RF_CTL_PAGE;
	m->client.answer.page = RF_CTL_PAGE_RANKS;
	*page = (struct rf_ctl_ranks_page){.ranks = 2, .count = 2};
	page->rank[0] = (struct rf_ctl_rank){.next = next0, .flags = flags};
	page->rank[1] = (struct rf_ctl_rank){.next = next1, .flags = flags};
	m->client.query = RF_CLIENT_Q_DONE;
	m->straggler.asking = true;
	m->straggler.asked = now;
	rf_member_straggler_poll(m, now);
}

/*
 * The other rank fails first and ends the group at the box. Then the box has no positions any more;
 * what it said before remains.
 */
static void ended_before_the_answer(void **state)
{
	uint64_t now = SEC;
	struct fake f;
	struct rf_member *m = ring(&f, false);
	char text[300];

	(void)state;
	m->have_client = true;
	answer(m, 0, 0, RF_CTL_RANK_IDLE, now);
	rf_member_stragglers_text(m, now, text, sizeof(text));
	assert_string_equal(text, "; the box has ended the group");
	assert_int_equal(rf_member_straggler(m, now), RF_MEMBER_NOBODY);
	answer(m, 14, 2, 0, now);
	assert_int_equal(rf_member_straggler(m, now), 1);
	now += 3 * SEC;
	answer(m, 0, 0, RF_CTL_RANK_IDLE, now);
	/* ... for longer than an answer counts that a later question leaves open */
	now += 3 * SEC;
	assert_int_equal(rf_member_straggler(m, now), 1);
	rf_member_stragglers_text(m, now, text, sizeof(text));
	assert_string_equal(text, "; the box waits for rank 1 (rank 1: packet 2 of 14, last heard "
				  "from 6000 ms ago)");
	/* an answer with positions counts again: no rank is late */
	answer(m, 14, 14, 0, now);
	assert_int_equal(rf_member_straggler(m, now), RF_MEMBER_NOBODY);
	m->have_client = false;
	rf_member_destroy(m);
}

/*
 * Rank 1 has not acknowledged its last result: in a ring that holds up rank 0, whose packet it is;
 * on a mirror connection rank 1 itself.
 */
static void whose_results(void **state)
{
	(void)state;
	for (unsigned mirror = 0; mirror < 2; mirror++) {
		struct fake f;
		struct rf_member *m = ring(&f, false);
		uint64_t now = SEC;
		char text[300];

		m->have_client = true;
		m->cfg.schedule = RF_SCHEDULE_BOX;
		m->cfg.flags = mirror ? RF_CTL_J_MIRROR : RF_CTL_J_SHIFTED;
		answer(m, 14, 14, 0, now);
		m->straggler.rank[0].sent = m->straggler.rank[1].sent = 14;
		m->straggler.rank[mirror].una = 13;
		m->straggler.rank[!mirror].una = 14;
		assert_int_equal(rf_member_straggler(m, now), 1);
		rf_member_stragglers_text(m, now, text, sizeof(text));
		assert_string_equal(text, "; the box has the packets of all ranks, and waits for "
					  "rank 1 to acknowledge result 13 of 14");
		m->have_client = false;
		rf_member_destroy(m);
	}
}

static void put_card(uint8_t *card, const struct rf_member_gather *g)
{
	memcpy(card, g->value, g->len);
}

/* Creation through a store, with a proof that never comes back: both ranks get the same cause. */
static void proof_fails(void **state)
{
	uint8_t values[2 * RF_MEMBER_VALUE_MAX];
	const struct rf_member_gather *g;
	uint64_t now = SEC;
	struct fake f;
	struct rf_member *m = ring(&f, true);

	(void)state;
	rf_member_start(m, now);
	assert_int_equal(rf_member_phase(m), RF_MEMBER_EXCHANGE);
	g = rf_member_gather(m);
	assert_non_null(g);
	put_card(values, g);
	put_card(values + g->len, g);
	rf_member_gathered(m, 0, NULL, RF_MEMBER_NOBODY, values, now);
	assert_true(f.connected);
	assert_int_equal(rf_member_phase(m), RF_MEMBER_REPORT);
	memset(values, 0, sizeof(values));
	rf_member_gathered(m, 0, NULL, RF_MEMBER_NOBODY, values, now);
	assert_int_equal(rf_member_phase(m), RF_MEMBER_PROOF);
	run(m, &now, now + 10 * SEC);
	assert_int_equal(rf_member_phase(m), RF_MEMBER_REPORT);
	assert_non_null(strstr(rf_member_text(m), "no packet from rank 1"));
	g = rf_member_gather(m);
	put_card(values, g);
	put_card(values + g->len, g);
	/* rank 1 reports a more specific cause */
	memcpy(values + g->len, (const uint8_t[]){0xff, 0xff, 0xff, 0xf3, 0}, 5);
	strcpy((char *)values + g->len + 5, "its cable is out");
	rf_member_gathered(m, 0, NULL, RF_MEMBER_NOBODY, values, now);
	assert_int_equal(rf_member_phase(m), RF_MEMBER_FAILED);
	assert_int_equal(rf_member_status(m), -13);
	assert_string_equal(rf_member_text(m), "rank 1: its cable is out");
	assert_int_equal(rf_member_culprit(m), 1);
	rf_member_leave(m, false, now);
	assert_int_equal(rf_member_phase(m), RF_MEMBER_LEFT);
	assert_false(f.connected);
	rf_member_destroy(m);
}

/* Another rank's announcement ends a call. A member that is LEFT does nothing more. */
static void announced(void **state)
{
	struct rf_member_event e;
	uint64_t now = SEC;
	struct fake f;
	struct rf_member *m = ring(&f, false);

	(void)state;
	begin_call(m, now);
	assert_int_equal(rf_member_call(m, 3, data, data, 16, now), RF_ERR_INTERNAL);
	rf_member_announced(m, 1, RF_ERR_DEVICE, "no link", now);
	assert_string_equal(rf_member_text(m), "rank 1: no link");
	assert_true(rf_member_by_announcement(m));
	/* a call that comes later fails in the same way */
	assert_int_equal(rf_member_call(m, 5, data, data, 16, now), RF_OK);
	assert_true(rf_member_poll(m, &e) && e.id == 3 && e.status == RF_ERR_DEVICE);
	assert_true(rf_member_poll(m, &e) && e.id == 5 && e.status == RF_ERR_DEVICE);
	assert_false(rf_member_poll(m, &e));
	rf_member_leave(m, true, now);
	assert_int_equal(rf_member_phase(m), RF_MEMBER_LEFT);
	assert_true(rf_member_next_timeout(m) == RF_MEMBER_NEVER);
	rf_member_destroy(m);
}

/* A member allocates until it is RUNNING, and not afterwards: calls, failures, its end. */
static void member_allocates_first(void **state)
{
	unsigned int before = allocations;
	struct rf_member_event e;
	uint64_t now = SEC;
	struct fake f;
	struct rf_member *m = ring(&f, false);

	(void)state;
	rf_member_start(m, now);
	assert_int_equal(rf_member_phase(m), RF_MEMBER_RUNNING);
	assert_true(allocations > before);
	before = allocations;
	assert_int_equal(rf_member_call(m, 3, data, data, 16, now), RF_OK);
	run(m, &now, now + TIMEOUT + MS);
	assert_true(rf_member_poll(m, &e));
	rf_member_leave(m, true, now);
	run(m, &now, now + TIMEOUT);
	assert_int_equal(rf_member_phase(m), RF_MEMBER_LEFT);
	assert_int_equal(allocations, before);
	rf_member_destroy(m);
}

/* Plays the ring of two ranks: the other rank's operand is all zeroes. */
static void play_ring(struct rf_fallback_state *f)
{
	const struct rf_fallback_call *call = rf_fallback_call(f);

	assert_int_equal(rf_fallback_action(f), RF_FALLBACK_CALL);
	memmove(call->recv, call->send, 4 * call->count);
	rf_fallback_called(f, RF_OK, NULL);
}

/*
 * The box fails during the second call of this rank; the other rank has not completed the first.
 * This rank repeats the first call with its copy, then carries out the second. Nothing is
 * allocated meanwhile.
 */
static void fallback_allocates_first(void **state)
{
	struct rf_fallback_cfg cfg = {.kind = *(enum rf_fallback *)*state,
				      .ranks = 2,
				      .timeout_ns = TIMEOUT,
				      .order = {.size = sizeof(struct rf_order),
						.schedule = RF_SCHEDULE_BOX,
						.ranks = 2}};
	int32_t first[3] = {1, 2, 3}, second[3] = {40, 50, 60}, result[3] = {0}, copy[2][3];
	struct rf_directed_call call = {.type = RF_ARITH_INT32,
					.op = RF_ARITH_SUM,
					.count = 3,
					.send = first,
					.recv = result};
	uint8_t values[16] = {[3] = 1, [7] = 1, [15] = 1}; /* calls done: 1 here, 0 there; both
							      ranks have an unfinished one */
	unsigned int before = allocations, calls;
	struct rf_fallback_state *f;

	cfg.order.place[1].port = 1;
	assert_int_equal(rf_fallback_create(&cfg, &f), RF_OK);
	assert_true(allocations > before);
	before = allocations;
	rf_fallback_keep(f, copy[rf_fallback_turn(f)], &call);
	rf_fallback_succeeded(f);
	call.send = second;
	rf_fallback_keep(f, copy[rf_fallback_turn(f)], &call);
	rf_fallback_resume(f, "the box is silent");
	assert_int_equal(rf_fallback_action(f), RF_FALLBACK_GATHER);
	rf_fallback_gathered(f, RF_OK, NULL, values);
	assert_int_equal(rf_fallback_action(f), RF_FALLBACK_CREATE);
	rf_fallback_created(f, RF_OK, NULL);
	for (calls = 0; rf_fallback_action(f) != RF_FALLBACK_OVER; calls++) {
		play_ring(f);
		if (rf_fallback_action(f) == RF_FALLBACK_ADD)
			rf_fallback_add(f);
		if (calls == 0)
			assert_int_equal(
				result[0],
				0); /* the result of the first call is only for the other rank */
	}
	assert_int_equal(calls, 2);
	assert_int_equal(rf_fallback_status(f), RF_OK);
	assert_memory_equal(result, second, sizeof(result));
	assert_int_equal(allocations, before);
	rf_fallback_destroy(f);
}

int main(void)
{
	enum rf_fallback exact = RF_FALLBACK_EXACT, over_ring = RF_FALLBACK_RING;
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_out),
		cmocka_unit_test(begun_while_asking),
		cmocka_unit_test(ended_before_the_answer),
		cmocka_unit_test(whose_results),
		cmocka_unit_test(stands_still),
		cmocka_unit_test(goes_on),
		cmocka_unit_test(proof_fails),
		cmocka_unit_test(announced),
		cmocka_unit_test(member_allocates_first),
		cmocka_unit_test_prestate(fallback_allocates_first, &exact),
		cmocka_unit_test_prestate(fallback_allocates_first, &over_ring),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
