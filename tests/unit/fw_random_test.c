/*
 * Random operations, compared with a simple model of the groups. After each one the reply and the
 * active groups must be those of the model, and every invariant of rf_fw_check() must hold.
 *
 * usage: fw_random_test [SEED [OPERATIONS]]
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/fw_world.h"

static uint64_t seed = 1;
static unsigned int operations = 100000;

static uint32_t rnd(uint32_t n)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(seed >> 33) % n;
}

static void fill_join(struct ask *a, const struct group *g, uint64_t job, unsigned int number,
		      unsigned int rank)
{
	struct rf_ctl_join *j = &a->r.u.join;
	unsigned int next = (rank + 1) % g->n;

	j->ranks = (uint16_t)g->n;
	j->mtu_log2 = 10;
	j->slots_log2 = (uint8_t)g->s_log2;
	j->port = RF_CTL_NO_PORT;
	j->flags = g->shifted ? RF_CTL_J_SHIFTED : 0;
	j->shift = g->shifted ? RF_CTL_SHIFT : 0;
	j->src_ip = a->ip;
	j->qpn = 0x100 + rank;
	j->peer_ip = world_ip(job, number, next);
	/* The keys of one rank stay the same in all its groups. */
	j->peer_qpn = 0x1000 + rank;
	j->start_psn = 5;
	j->lease_ms = LEASE;
	j->deadline_ms = DEADLINE;
}

static struct group *new_group(struct world *w, uint64_t job, unsigned int number)
{
	struct group *g = w->g;

	while (g->state != RF_CTL_S_FREE)
		g++;
	memset(g, 0, sizeof(*g));
	g->job = job;
	g->number = number;
	g->n = 2 + rnd(RANKS - 1);
	g->s_log2 = 4 + rnd(6);
	g->shifted = rnd(2) != 0;
	g->deadline = world_now(w) + DEADLINE;
	return g;
}

static void expect(const struct rf_ctl_reply *r, unsigned int result, unsigned int reason)
{
	if (r->result == RF_CTL_FAILED && (result != RF_CTL_FAILED || r->u.failed.reason != reason))
		print_error("unexpected %s\n", rf_ctl_reason_name(r->u.failed.reason));
	assert_int_equal(r->result, result);
	if (result == RF_CTL_FAILED)
		assert_int_equal(r->u.failed.reason, reason);
}

static void admitted(struct world *w, struct group *g, unsigned int rank, uint64_t token)
{
	g->state = RF_CTL_S_JOINING;
	g->rank[rank] = (struct rank){.joined = true, .token = token, .life = world_now(w)};
	if (++g->joined == g->n)
		g->state = RF_CTL_S_READY;
}

/* Expected answer to a JOIN with a new token; g is the group that it would join. */
static enum rf_ctl_reason judge(struct world *w, const struct group *g, bool fresh, uint64_t job,
				unsigned int number, unsigned int rank)
{
	enum rf_ctl_reason why;

	if (world_taken(w, g, job, number, rank))
		return RF_CTL_R_CONNECTION_TAKEN;
	if (!fresh)
		return RF_CTL_R_NONE;
	if (w->b->fw.hw_used == 0xffu)
		return RF_CTL_R_NO_GROUPS;
	why = world_quota(w, job, g->n, g->s_log2);
	if (why != RF_CTL_R_NONE)
		return why;
	if (!world_range_free(w, 8192, 16u << g->s_log2, false) ||
	    !world_range_free(w, 512, 1u << g->s_log2, true))
		return RF_CTL_R_NO_SLOTS;
	return RF_CTL_R_NONE;
}

static void op_join(struct world *w)
{
	uint64_t job = 1 + rnd(JOBS), token = ++w->next_token;
	unsigned int number = rnd(NUMBERS), rank = rnd(RANKS);
	struct group *g = world_in_state(w, job, number, RF_CTL_S_JOINING);
	struct group *ready = world_in_state(w, job, number, RF_CTL_S_READY);
	struct group *old = world_member_of(w, job, number, rank);
	bool fresh = !g;
	enum rf_ctl_reason why;
	struct rf_ctl_reply r;
	struct ask a;

	if (g && rnd(4))
		rank = rnd(g->n);
	old = world_member_of(w, job, number, rank);
	if (fresh)
		g = new_group(w, job, number);
	if (ready)
		g->n = ready->n;
	a = world_ask(w, RF_CTL_JOIN, job, number, rank, token);
	fill_join(&a, g, job, number, rank);
	why = judge(w, g, fresh, job, number, rank);
	assert_true(world_send(w, &a, &r));
	if (rank >= g->n) {
		expect(&r, RF_CTL_FAILED, RF_CTL_R_RANK_RANGE);
	} else if (!fresh && g->rank[rank].joined) {
		expect(&r, RF_CTL_FAILED, RF_CTL_R_RANK_TAKEN);
	} else if (fresh && ready) {
		expect(&r, RF_CTL_FAILED, RF_CTL_R_RANK_TAKEN);
	} else if (fresh && old && !old->rank[rank].left && !old->rank[rank].gone) {
		/* A draining group that this rank has not left. */
		assert_int_equal(r.result, RF_CTL_FAILED);
		assert_true(r.u.failed.reason == RF_CTL_R_RANK_TAKEN ||
			    r.u.failed.reason == RF_CTL_R_RANKS_DIFFER);
	} else {
		if (why != RF_CTL_R_NONE) {
			expect(&r, RF_CTL_FAILED, why);
		} else {
			admitted(w, g, rank, token);
			expect(&r, g->state == RF_CTL_S_READY ? RF_CTL_READY : RF_CTL_WAITING, 0);
		}
	}
}

/* A member chosen at random, NULL: none found. */
static struct group *pick(struct world *w, unsigned int *rank)
{
	for (unsigned int tries = 0; tries < 40; tries++) {
		struct group *g = &w->g[rnd(GROUPS)];

		*rank = rnd(RANKS);
		if (g->state != RF_CTL_S_FREE && g->rank[*rank].joined && !g->rank[*rank].crashed)
			return g;
	}
	return NULL;
}

static void op_again(struct world *w)
{
	unsigned int rank;
	struct group *g = pick(w, &rank);
	struct rf_ctl_reply r;
	struct ask a;

	if (!g)
		return;
	a = world_ask(w, RF_CTL_JOIN, g->job, g->number, rank, g->rank[rank].token);
	fill_join(&a, g, g->job, g->number, rank);
	assert_true(world_send(w, &a, &r));
	if (g->state == RF_CTL_S_JOINING)
		expect(&r, RF_CTL_WAITING, 0);
	else
		expect(&r,
		       g->rank[rank].left || g->rank[rank].gone ? RF_CTL_DRAINING : RF_CTL_READY,
		       0);
	g->rank[rank].life = world_now(w);
}

static void op_status(struct world *w)
{
	unsigned int rank;
	struct group *g = pick(w, &rank);
	struct rf_ctl_reply r;
	struct ask a;

	if (!g)
		return;
	a = world_ask(w, RF_CTL_STATUS, g->job, g->number, rank, g->rank[rank].token);
	a.r.u.status.page = rnd(2) ? RF_CTL_PAGE_GROUP : RF_CTL_PAGE_RANKS;
	assert_true(world_send(w, &a, &r));
	expect(&r, RF_CTL_PAGE, 0);
	if (r.page == RF_CTL_PAGE_GROUP && g->state == RF_CTL_S_DRAINING &&
	    r.u.group.state == RF_CTL_S_FAILED) {
		/* It waits for a rank that is gone. */
		w->lost++;
		assert_true(r.u.group.reason == RF_CTL_R_LEASE && r.u.group.fail_rank != rank);
		assert_true(world_now(w) - g->rank[r.u.group.fail_rank].life >= LEASE);
	} else if (r.page == RF_CTL_PAGE_GROUP)
		assert_int_equal(r.u.group.state, g->state);
	g->rank[rank].life = world_now(w);
}

static void op_leave(struct world *w)
{
	unsigned int rank;
	struct group *g = pick(w, &rank);
	struct rf_ctl_reply r;
	struct ask a;

	if (!g)
		return;
	a = world_ask(w, RF_CTL_LEAVE, g->job, g->number, rank, g->rank[rank].token);
	a.h.flags = rnd(2) ? RF_CTL_F_QP_DESTROYED : 0;
	assert_true(world_send(w, &a, &r));
	g->rank[rank].life = world_now(w);
	if (g->state == RF_CTL_S_JOINING) {
		expect(&r, RF_CTL_FAILED, RF_CTL_R_ABORTED);
		w->failures++;
		world_end(w, g);
		return;
	}
	if (!g->rank[rank].left && !g->rank[rank].gone)
		g->left++;
	g->rank[rank].left = true;
	g->state = RF_CTL_S_DRAINING;
	expect(&r, g->left == g->n ? RF_CTL_ENDED : RF_CTL_DRAINING, 0);
	if (g->left == g->n)
		world_end(w, g);
}

static void op_abort(struct world *w)
{
	unsigned int rank;
	struct group *g = pick(w, &rank);
	struct rf_ctl_reply r;
	struct ask a;

	if (!g || rnd(4))
		return;
	a = world_ask(w, RF_CTL_ABORT, g->job, g->number, rank, g->rank[rank].token);
	a.r.u.abort.code = 2;
	assert_true(world_send(w, &a, &r));
	expect(&r, RF_CTL_OK, 0);
	w->failures++;
	world_end(w, g);
}

static void op_error(struct world *w)
{
	unsigned int rank;
	struct group *g = pick(w, &rank);

	if (!g || g->state == RF_CTL_S_JOINING || rnd(4))
		return;
	for (unsigned int i = 0; i < RF_FW_RECORDS; i++) {
		const struct rf_fw_group *f = &w->b->fw.group[i];

		if (f->live && f->job == g->job && f->number == g->number && f->state == g->state &&
		    f->joined == g->joined && f->left == g->left) {
			w->b->group[f->hw][RF_GROUP_ERROR / 4] =
				RF_GROUP_ERROR_VALID_MASK | RF_ERROR_LENGTH << 16;
			world_end(w, g);
			w->failures++;
			break;
		}
	}
	assert_null(fw_box_poll(w->b));
	while (fw_box_out(w->b))
		;
}

static void op_time(struct world *w)
{
	fw_box_progress(w->b, rnd(RF_FW_RECORDS), rnd(1u << 30));
	assert_null(fw_box_run(w->b, 1 + rnd(60)));
	while (fw_box_out(w->b))
		;
}

/* Leases and deadlines that must have expired, must not have, or may have, to the millisecond. */
static void passed(struct world *w)
{
	for (unsigned int i = 0; i < GROUPS; i++) {
		struct group *g = &w->g[i];
		const struct rf_fw_group *f = NULL;
		bool must = false, may = false;

		if (g->state == RF_CTL_S_FREE)
			continue;
		/* The record that holds one of its tokens. */
		for (unsigned int k = 0; k < RF_FW_RECORDS; k++)
			for (uint16_t m = w->b->fw.group[k].first; m != RF_FW_NO_MEMBER;
			     m = w->b->fw.member[m].next)
				for (unsigned int r = 0; r < g->n; r++)
					if (g->rank[r].joined &&
					    w->b->fw.member[m].token == g->rank[r].token)
						f = &w->b->fw.group[k];
		assert_non_null(f);
		for (unsigned int r = 0; r < g->n; r++) {
			struct rank *p = &g->rank[r];
			uint64_t age = world_now(w) - p->life;
			bool gone = false;

			if (!p->joined || p->left || p->gone)
				continue;
			for (uint16_t m = f->first; m != RF_FW_NO_MEMBER;
			     m = w->b->fw.member[m].next)
				if (w->b->fw.member[m].rank == r)
					gone = (w->b->fw.member[m].flags & RF_CTL_RANK_GONE) != 0;
			if (g->state == RF_CTL_S_DRAINING) {
				/* It counts as having left, and the last one ends the group. */
				if (age > LEASE_LATEST)
					assert_true(gone);
				if (gone)
					assert_true(age >= LEASE);
				p->gone = gone;
				g->left += gone;
				w->leases += gone;
			} else {
				must = must || age > LEASE_LATEST;
				may = may || age >= LEASE;
			}
		}
		if (g->state == RF_CTL_S_JOINING && world_now(w) >= g->deadline)
			must = may = true;
		if (g->state == RF_CTL_S_DRAINING)
			must = may = g->left == g->n;
		if (must)
			assert_false(rf_fw_group_active(f));
		if (!rf_fw_group_active(f)) {
			assert_true(may);
			w->failures++;
			w->leases += f->reason == RF_CTL_R_LEASE;
			w->deadlines += f->reason == RF_CTL_R_MISSING_RANKS;
			world_end(w, g);
		}
	}
}

/* A process dies: its lease will expire. */
static void op_crash(struct world *w)
{
	unsigned int rank;
	struct group *g = pick(w, &rank);

	if (g && !g->rank[rank].left)
		g->rank[rank].crashed = true;
}

/*
 * Many frames at once while the inject buffer is slow: repeated, damaged and random ones. None of
 * them changes anything.
 */
static void op_flood(struct world *w)
{
	uint8_t frame[RF_CTL_FRAME_MAX];
	unsigned int n = 10 + rnd(60);

	for (unsigned int i = 0; i < n; i++) {
		const struct record *r = &w->sent[rnd(RECORDS)];
		size_t len = 60 + rnd(900);

		for (size_t k = 0; k < len; k++)
			frame[k] = (uint8_t)rnd(256);
		if (r->len > 0 && rnd(4)) {
			len = r->len;
			memcpy(frame, r->frame, len);
			if (rnd(3) == 0)
				frame[42 + rnd((uint32_t)len - 42)] ^= (uint8_t)(1u << rnd(8));
			w->floods++;
		}
		fw_box_punt(w->b, rnd(4), frame, len);
	}
	w->b->busy = rnd(3);
	assert_null(fw_box_run(w->b, 2));
	while (fw_box_out(w->b))
		;
}

/* Frames that must change nothing. */
static void op_noise(struct world *w)
{
	uint8_t frame[RF_CTL_FRAME_MAX];
	struct ask a =
		world_ask(w, RF_CTL_LEAVE, 1 + rnd(JOBS), rnd(NUMBERS), rnd(RANKS), rnd(1000));
	struct rf_ctl_reply r;
	size_t len = 60 + rnd(900);

	if (rnd(2)) {
		for (size_t i = 0; i < len; i++)
			frame[i] = (uint8_t)rnd(256);
		fw_box_punt(w->b, rnd(4), frame, len);
		assert_null(fw_box_poll(w->b));
		return;
	}
	/* An unknown token, or one of a group that has ended: the answer repeats it. */
	a.h.token += 1ull << 40;
	assert_true(world_send(w, &a, &r));
	expect(&r, RF_CTL_FAILED, RF_CTL_R_GROUP_UNKNOWN);
}

/*
 * A job claims a connection that belongs to another job or to none, and aborts at once: the
 * hardware's entry is the same as before, whatever the answer was. The same for an address of
 * another job.
 */
static void op_stranger(struct world *w)
{
	uint64_t job = 1 + rnd(JOBS), whose = 1 + rnd(JOBS), token = ++w->next_token;
	unsigned int rank = rnd(RANKS), number = rnd(NUMBERS);
	struct group g = {.n = 2, .s_log2 = 4, .shifted = rnd(2) != 0};
	struct ask a = world_ask(w, RF_CTL_JOIN, job, NUMBERS, 0, token);
	uint32_t tombstones = w->b->fw.tombstones, value, key;
	struct rf_ctl_reply r;

	fill_join(&a, &g, job, NUMBERS, 0);
	a.r.u.join.qpn = 0x9000;
	a.r.u.join.peer_ip = world_ip(whose, number, rank);
	a.r.u.join.peer_qpn = 0x1000 + (rank > 0 ? rank - 1 : rnd(RANKS));
	key = rf_fw_key(0, a.r.u.join.peer_qpn);
	value = fw_box_lookup(w->b, a.r.u.join.peer_ip, key);
	if (rnd(4) == 0)
		a.r.u.join.src_ip = world_ip(whose, number, rank ? rank - 1 : 1);
	assert_true(world_send(w, &a, &r));
	w->strangers++;
	if (a.r.u.join.src_ip != a.ip) {
		expect(&r, RF_CTL_FAILED, RF_CTL_R_ADDRESS_DENIED);
	} else if (value != 0 && whose != job) {
		expect(&r, RF_CTL_FAILED, RF_CTL_R_CONNECTION_TAKEN);
		w->taken++;
	} else if (r.result != RF_CTL_FAILED) {
		expect(&r, RF_CTL_WAITING, 0);
		w->waited++;
		a = world_ask(w, rnd(2) ? RF_CTL_ABORT : RF_CTL_LEAVE, job, NUMBERS, 0, token);
		a.h.flags = a.h.verb == RF_CTL_LEAVE ? RF_CTL_F_QP_DESTROYED : 0;
		assert_true(world_send(w, &a, &r));
		expect(&r, a.h.verb == RF_CTL_ABORT ? RF_CTL_OK : RF_CTL_FAILED, RF_CTL_R_ABORTED);
	}
	/* Time may have passed, so a tombstone may have expired. */
	if (tombstones == w->b->fw.tombstones)
		assert_int_equal(fw_box_lookup(w->b, world_ip(whose, number, rank), key), value);
	assert_true(w->b->fw.tombstones <= tombstones);
}

static void op_reset(struct world *w)
{
	struct ask a = world_ask(w, RF_CTL_RESET, 0, 0, RF_CTL_NO_RANK, 7);
	struct rf_ctl_reply r;

	if (rnd(20))
		return;
	a.ip = 0x0a630001u;
	a.h.nonce = fw_box_nonce(a.ip);
	a.port = 0;
	assert_true(world_send(w, &a, &r));
	expect(&r, RF_CTL_OK, 0);
	for (unsigned int i = 0; i < GROUPS; i++)
		if (w->g[i].state != RF_CTL_S_FREE)
			world_end(w, &w->g[i]);
	assert_int_equal(w->b->fw.entries, 0);
}

static void test_random(void **state)
{
	static const struct {
		void (*run)(struct world *w);
		unsigned int weight;
	} ops[] = {{op_join, 40}, {op_again, 6}, {op_status, 25}, {op_leave, 10},
		   {op_abort, 2}, {op_error, 2}, {op_time, 12},   {op_noise, 2},
		   {op_reset, 1}, {op_crash, 1}, {op_flood, 1},   {op_stranger, 6}};
	static struct world w;

	(void)state;
	w.b = fw_box_new();
	/* A build with mirror connections; its ring groups behave no differently. */
	w.b->mirror = w.b->directed = true;
	w.b->cfg.probe_ms = 0;
	w.b->cfg.announce_ms = 0;
	w.b->cfg.hold_ms = 300;
	w.b->cfg.tomb_ms = 300;
	w.b->cfg.linger_ms = 400;
	w.b->cfg.nonce_ms = 1000;
	w.b->cfg.keys = world_keys;
	w.b->cfg.nkeys = 1 + JOBS;
	assert_int_equal(fw_box_start(w.b), RF_FW_OK);
	for (unsigned int i = 0; i < operations; i++) {
		uint32_t dice = rnd(108);
		unsigned int k = 0;

		while (dice >= ops[k].weight)
			dice -= ops[k++].weight;
		ops[k].run(&w);
		passed(&w);
		world_check(&w);
	}
	print_message(
		"%u operations: %u waiting, %u ready, %u draining, %u ended, %u failures "
		"(%u leases, %u deadlines), %u lost peers, %u kicks; %u replays, %u stale, "
		"%u nonces "
		"refused; refused: %u taken, %u connection, %u groups, "
		"%u slots, quota %u, of ranks %u, of entries %u, of bytes %u; %u strangers, %u "
		"of them at a connection in use, %u waited\n",
		operations, w.replies[RF_CTL_WAITING], w.replies[RF_CTL_READY],
		w.replies[RF_CTL_DRAINING], w.replies[RF_CTL_ENDED], w.failures, w.leases,
		w.deadlines, w.lost, w.b->fw.cnt.kicks, w.floods,
		w.b->fw.cnt.refused[RF_CTL_R_STALE], w.b->fw.cnt.refused[RF_CTL_R_NONCE],
		w.refusals[RF_CTL_R_RANK_TAKEN], w.refusals[RF_CTL_R_CONNECTION_TAKEN],
		w.refusals[RF_CTL_R_NO_GROUPS], w.refusals[RF_CTL_R_NO_SLOTS],
		w.refusals[RF_CTL_R_QUOTA], w.refusals[RF_CTL_R_QUOTA_RANKS],
		w.refusals[RF_CTL_R_QUOTA_ENTRIES], w.refusals[RF_CTL_R_QUOTA_BYTES], w.strangers,
		w.taken, w.waited);
	/* The run has covered what it is meant to test. */
	assert_true(w.replies[RF_CTL_READY] > 100 && w.replies[RF_CTL_ENDED] > 20);
	assert_true(w.leases > 20 && w.refusals[RF_CTL_R_NO_SLOTS] > 20);
	assert_true(w.refusals[RF_CTL_R_QUOTA] > 20 && w.refusals[RF_CTL_R_QUOTA_RANKS] > 20 &&
		    w.refusals[RF_CTL_R_QUOTA_ENTRIES] > 20 &&
		    w.refusals[RF_CTL_R_QUOTA_BYTES] > 20 && w.taken > 20 && w.waited > 20);
	/* After the end of all operations everything is free again. */
	assert_null(fw_box_run(w.b, 5000));
	assert_int_equal(w.b->fw.hw_used, 0);
	assert_int_equal(w.b->fw.entries, 0);
	assert_int_equal(rf_fw_buddy_longest(&w.b->fw.beats), 13);
	assert_int_equal(rf_fw_buddy_longest(&w.b->fw.hslots), 9);
	for (unsigned int i = 0; i < RF_FW_RECORDS; i++)
		assert_int_equal(w.b->fw.group[i].state, RF_CTL_S_FREE);
	fw_box_free(w.b);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_random)};

	seed = argc > 1 ? strtoull(argv[1], NULL, 0) : seed;
	operations = argc > 2 ? (unsigned int)strtoul(argv[2], NULL, 0) : operations;
	print_message("seed %llu; to repeat: build/tests/fw_random_test %llu %u\n",
		      (unsigned long long)seed, (unsigned long long)seed, operations);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
