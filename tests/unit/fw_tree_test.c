/*
 * Trees of boxes with the firmware at every box and real control clients at the hosts: bits of the
 * sums, who is waited for, the end, errors and failures in any box, and why a JOIN with an uplink
 * is refused.
 */
#include "tests/unit/fw_tree.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "firmware/core/internal.h"
#include "tools/tree_walk.h"

static void until_ready(unsigned int ms)
{
	if (!tree_until(RF_CLIENT_READY, ms)) {
		for (unsigned int i = 0; i < tree.hosts; i++) {
			char text[500];

			rf_client_text(&tree.host[i].client, text, sizeof(text));
			print_error("host %u: %s\n", i, text);
		}
		fail();
	}
	tree_check();
}

static void ready(void)
{
	tree_join_all();
	until_ready(1000);
}

static void leave(void)
{
	for (unsigned int i = 0; i < tree.hosts; i++)
		rf_client_leave(&tree.host[i].client, true, tree.now * 4);
	assert_true(tree_until(RF_CLIENT_IDLE, 3000));
	tree_run(5000);
	for (unsigned int b = 0; b < tree.boxes; b++) {
		const struct rf_fw *fw = &tree.box[b].fw;

		assert_int_equal(fw->entries, 0);
		assert_int_equal(fw->hw_used, 0);
		assert_int_equal(fw->cnt.groups_failed, 0);
		assert_int_equal(fw->cnt.groups_ended, 1);
		for (unsigned int i = 0; i < RF_FW_UPLINKS; i++)
			assert_int_equal(fw->uplink[i].state, RF_FW_UP_FREE);
	}
}

/* The log of a box names what its hosts read. */
static void logged(unsigned int box, enum rf_ctl_reason why, uint32_t at)
{
	const struct rf_fw *fw = &tree.box[box].fw;

	for (unsigned int i = 0; i < RF_FW_LOG; i++) {
		const struct rf_ctl_log_entry *e = &fw->log[i];

		if (e->kind == RF_CTL_EV_FAILED && e->reason == why &&
		    e->box_ip == (at == tree_box_ip(box) ? 0 : at))
			return;
	}
	fail_msg("box %u has not logged it", box);
}

/* All hosts that are not mute fail, and name this. */
static void all_fail(enum rf_ctl_reason why, unsigned int rank, int box, unsigned int ms)
{
	assert_true(tree_until(RF_CLIENT_FAILED, ms));
	for (unsigned int i = 0; i < tree.hosts; i++) {
		struct tree_host *h = &tree.host[i];
		const struct rf_ctl_failed *f = rf_client_failed(&h->client);
		uint32_t ip;

		if (h->mute)
			continue;
		assert_non_null(f);
		/* A box does not name itself to its own ranks. */
		ip = f->other.box_ip ? f->other.box_ip : tree_box_ip(h->box);
		if (f->reason != why || f->rank != rank ||
		    (box >= 0 && ip != tree_box_ip((unsigned int)box)))
			print_error("host %u: %s, rank %u, box %08x\n", i,
				    rf_ctl_reason_name(f->reason), f->rank, ip);
		assert_int_equal(f->reason, why);
		assert_int_equal(f->rank, rank);
		if (box >= 0) {
			assert_int_equal(ip, tree_box_ip((unsigned int)box));
			logged(h->box, why, ip);
		}
	}
	tree_run(200000);
	for (unsigned int b = 0; b < tree.boxes; b++) {
		if (tree.box[b].dead)
			continue;
		assert_int_equal(tree.box[b].fw.entries, 0);
		assert_int_equal(tree.box[b].fw.hw_used, 0);
	}
	tree_end();
}

/* ---- sums and the end ---- */

/* The connection of a rank is selective, and its group is not. */
static void expect_selective(unsigned int box, unsigned int rank)
{
	struct tree_box *b = &tree.box[box];
	const struct rf_fw_group *g = &b->fw.group[0];
	const struct rf_fw_member *m = rf_fw_member_find(&b->fw, g, rank);
	uint32_t at = rf_fw_conn_reg(RF_FW_CID(g->hw, m->lane, m->port), RF_CONN_PEER_MAC_HI);

	assert_true(rf_model_engine()->reg_read(b->e, at) & RF_CONN_PEER_MAC_HI_SELECTIVE_MASK);
	assert_false(g->flags & RF_CTL_J_SELECTIVE);
}

/* Ranks on all ports: the uplink has a lane of its own beside them. */
static void test_full_ports(void **state)
{
	(void)state;
	tree_init(3);
	for (unsigned int b = 0; b < 3; b++)
		tree_start_box(b);
	for (unsigned int i = 0; i < 9; i++)
		tree_up(i < 4 ? tree_add_host(1, i, 4) : tree_add_host(2, i - 4, 5), 0, i >= 4, 2);
	ready();
	assert_int_equal(tree.box[1].fw.uplink[0].lane, 1);
	for (unsigned int index = 0; index < 100; index++)
		tree_reduce(index);
	leave();
	tree_end();
}

static void test_two_levels(void **state)
{
	(void)state;
	tree_two_levels(2);
	ready();
	expect_selective(0, 0);
	expect_selective(0, 1);
	for (unsigned int index = 0; index < 200; index++)
		tree_reduce(index);
	leave();
	/* The next group of the same number. */
	ready();
	tree_reduce(0);
	tree_end();
}

/* Box 1 with a rank of its own and box 3 below; box 2; box 0 with a rank of its own. */
static void three_levels(void)
{
	tree_init(4);
	for (unsigned int b = 0; b < 4; b++)
		tree_start_box(b);
	tree_add_host(0, 0, 3);
	tree_up(tree_add_host(1, 1, 2), 0, 1, 3);
	tree_up(tree_add_host(2, 0, 1), 0, 2, 3);
	for (unsigned int r = 0; r < 3; r++) {
		struct tree_host *h = tree_add_host(3, r, 3);

		tree_up(h, 1, 0, 2);
		tree_up(h, 0, 1, 3);
	}
}

static void test_three_levels(void **state)
{
	(void)state;
	three_levels();
	ready();
	for (unsigned int index = 0; index < 100; index++)
		tree_reduce(index);
	leave();
	tree_end();
}

/* A rank that has left waits until those of the other boxes have left too. */
static void test_leave_early(void **state)
{
	(void)state;
	tree_two_levels(2);
	ready();
	tree_reduce(0);
	for (unsigned int i = 0; i < 3; i++)
		rf_client_leave(&tree.host[i].client, true, tree.now * 4);
	tree_run(2000000);
	for (unsigned int i = 0; i < 3; i++) {
		assert_int_equal(rf_client_state(&tree.host[i].client), RF_CLIENT_DRAINING);
		assert_true(rf_client_left_acked(&tree.host[i].client));
	}
	/* The uplink is there to acknowledge what is repeated. */
	assert_int_equal(tree.box[1].fw.uplink[0].state, RF_FW_UP_LEAVE);
	assert_int_equal(tree.box[1].fw.entries, 4);
	leave();
	tree_end();
}

/* Page TREE, asked by a host of a box. */
static const struct rf_ctl_tree_page *page_tree(unsigned int host)
{
	struct rf_ctl_status_req q = {.page = RF_CTL_PAGE_TREE};
	struct rf_client *c = &tree.host[host].client;

	assert_int_equal(rf_client_status(c, &q, tree.now * 4), 0);
	tree_run(50000);
	assert_int_equal(rf_client_query(c), RF_CLIENT_Q_DONE);
	assert_int_equal(rf_client_answer(c)->page, RF_CTL_PAGE_TREE);
	return &rf_client_answer(c)->u.tree;
}

/* What the boxes report about the tree: box 0 with a rank of its own and box 1 below. */
static void test_page(void **state)
{
	const struct rf_ctl_tree_page *p;

	(void)state;
	tree_init(2);
	for (unsigned int b = 0; b < 2; b++)
		tree_start_box(b);
	tree_add_host(0, 0, 2);
	for (unsigned int r = 0; r < 2; r++)
		tree_up(tree_add_host(1, r, 2), 0, 1, 2);
	tree_join(&tree.host[1]);
	tree_run(100000);
	p = page_tree(1);
	assert_int_equal(p->state, RF_CTL_S_JOINING);
	assert_int_equal(p->up_state, RF_CTL_UP_IDLE);
	assert_int_equal(p->parent_ip, tree_box_ip(0));
	tree_join(&tree.host[2]);
	tree_run(200000);
	p = page_tree(1);
	assert_int_equal(p->up_state, RF_CTL_UP_JOINING);
	assert_int_equal(p->parent_port_ip & 0xffffff00u, tree_box_ip(0) & 0xffffff00u);
	tree_join(&tree.host[0]);
	until_ready(1000);
	for (unsigned int index = 0; index < 10; index++)
		tree_reduce(index);
	/* Only the host at box 0 is missing at index 10. */
	tree_send(&tree.host[1], 10, 0);
	tree_send(&tree.host[2], 10, 0);
	tree_run(1500000);
	p = page_tree(1);
	assert_int_equal(p->up_state, RF_CTL_UP_READY);
	assert_int_equal(p->above, 1);
	assert_int_equal(p->up_rank, 1);
	assert_int_equal(p->up_ranks, 2);
	assert_int_equal(p->head, 11);
	assert_int_equal(p->up, 11);
	assert_int_equal(p->got, 10);
	assert_int_equal(p->awaited, RF_CTL_NO_RANK);
	assert_int_equal(p->leaves[0], 0);
	p = page_tree(0);
	assert_int_equal(p->up_state, RF_CTL_UP_NONE);
	assert_int_equal(p->parent_ip, 0);
	assert_int_equal(p->head, 10);
	assert_int_equal(p->awaited, 0);
	assert_int_equal(p->leaves[0], 2);
	tree_end();
}

/* `ringfold ctl tree` from any box of three levels. */
static struct {
	struct tree_host *tool;
	char text[400];
} walk;

static const struct rf_ctl_reply *walk_ask(void *arg, uint32_t box_ip, enum rf_ctl_page page,
					   uint16_t index)
{
	struct rf_ctl_status_req q = {.page = (uint8_t)page, .index = index, .job = TREE_JOB};
	struct rf_client *c = &walk.tool->client;
	struct rf_client_cfg cfg = c->cfg;

	(void)arg;
	cfg.box_ip = box_ip;
	cfg.job = RF_CTL_JOB_OPERATOR;
	cfg.rank = RF_CTL_NO_RANK;
	cfg.token += 2;
	cfg.answer_ns = 300000000;
	rf_client_init(c, &cfg);
	assert_int_equal(rf_client_status(c, &q, tree.now * 4), 0);
	for (unsigned int ms = 0; ms < 400 && rf_client_query(c) == RF_CLIENT_Q_WAITING; ms++)
		tree_run(1000);
	return rf_client_query(c) == RF_CLIENT_Q_DONE ? rf_client_answer(c) : NULL;
}

static void walk_visit(void *arg, unsigned int depth, uint32_t box_ip,
		       const struct rf_ctl_tree_page *p)
{
	size_t at = strlen(walk.text);

	(void)arg;
	snprintf(walk.text + at, sizeof(walk.text) - at, "%u:%u:%u ", depth,
		 (box_ip >> 8 & 255u) - 0x64u, p ? p->ranks : 0);
}

static void test_walk(void **state)
{
	(void)state;
	three_levels();
	for (unsigned int i = 0; i < 6; i++)
		tree.host[i].join.lease_ms = 60000;
	ready();
	walk.tool = tree_add_host(0, 0, 2);
	for (unsigned int start = 0; start < 4; start++) {
		walk.text[0] = '\0';
		assert_int_equal(tree_walk(tree_box_ip(start), walk_ask, walk_visit, NULL), 4);
		assert_string_equal(walk.text, "0:0:3 1:1:2 2:3:3 1:2:1 ");
	}
	/* A box that is silent is shown, and nothing below it; so is a parent. */
	tree.box[1].dead = true;
	walk.text[0] = '\0';
	assert_int_equal(tree_walk(tree_box_ip(0), walk_ask, walk_visit, NULL), 2);
	assert_string_equal(walk.text, "0:0:3 1:1:0 1:2:1 ");
	walk.text[0] = '\0';
	assert_int_equal(tree_walk(tree_box_ip(3), walk_ask, walk_visit, NULL), 1);
	assert_string_equal(walk.text, "0:1:0 1:3:3 ");
	tree_end();
}

/* ---- joining ---- */

/* The box above waits for the other leaf; a deadline that passes names it. */
static void test_missing(void **state)
{
	const struct rf_ctl_waiting *w;
	char text[500];

	(void)state;
	tree_two_levels(2);
	for (unsigned int i = 0; i < 3; i++)
		tree_join(&tree.host[i]);
	tree_run(1500000);
	w = rf_client_waiting(&tree.host[0].client);
	assert_int_equal(w->box_ip, tree_box_ip(0));
	assert_int_equal(w->missing[0], 2);
	rf_client_text(&tree.host[0].client, text, sizeof(text));
	assert_non_null(strstr(text, "waiting for rank 1 at the box 10.0.100.16"));
	for (unsigned int i = 3; i < 6; i++)
		tree.host[i].mute = true;
	/* The parent's deadline is a second before that of 3 s. */
	all_fail(RF_CTL_R_MISSING_RANKS, 1, 0, 900);
}

/* The same if the parent falls silent meanwhile, and if it never answered. */
static void test_missing_late(void **state)
{
	(void)state;
	for (unsigned int never = 0; never < 2; never++) {
		tree_two_levels(2);
		tree.box[0].dead = never;
		for (unsigned int i = 0; i < 6; i++) {
			tree.host[i].mute = i >= 3;
			if (i < 3)
				tree_join(&tree.host[i]);
		}
		tree_run(300000);
		tree.box[0].dead = true;
		all_fail(never ? RF_CTL_R_UPLINK_SILENT : RF_CTL_R_MISSING_RANKS,
			 never ? RF_CTL_NO_RANK : 1, 0, 3000);
	}
}

/* Fewer ranks than needed at one leaf: it names its own. */
static void test_missing_here(void **state)
{
	const struct rf_ctl_failed *f;

	(void)state;
	tree_two_levels(2);
	for (unsigned int i = 0; i < 5; i++)
		tree_join(&tree.host[i]);
	tree_run(3500000);
	f = rf_client_failed(&tree.host[4].client);
	assert_non_null(f);
	assert_int_equal(f->reason, RF_CTL_R_MISSING_RANKS);
	assert_int_equal(f->rank, 2);
	assert_int_equal(f->other.box_ip, 0);
	f = rf_client_failed(&tree.host[0].client);
	assert_non_null(f);
	assert_int_equal(f->rank, 1);
	assert_int_equal(f->other.box_ip, tree_box_ip(0));
	tree_end();
}

/* A queue pair that the parent has already: another one is drawn. */
static void test_taken(void **state)
{
	struct tree_host *h;
	uint32_t qpn, ip;

	(void)state;
	tree_two_levels(1);
	tree.host[0].join.up[0].ranks = tree.host[1].join.up[0].ranks =
		tree.host[2].join.up[0].ranks = 2;
	tree_join_all();
	tree_run(300000);
	qpn = tree.first_qpn;
	assert_int_equal(tree.qpns, 1);
	ip = tree.box[1].fw.address[tree.box[1].fw.uplink[0].port].ip;
	tree_end();
	/* The same draws, because the salt is the same. */
	tree_two_levels(2);
	h = tree_add_host(0, 0, 2);
	h->join.src_ip = ip;
	h->join.qpn = qpn;
	h->client.cfg.group = 9;
	tree_join(h);
	tree_run(300000);
	for (unsigned int i = 0; i < 6; i++)
		tree_join(&tree.host[i]);
	tree_run(700000);
	for (unsigned int i = 0; i < 6; i++)
		assert_int_equal(rf_client_state(&tree.host[i].client), RF_CLIENT_READY);
	assert_int_equal(tree.first_qpn, qpn);
	assert_true(tree.box[1].fw.uplink[0].qpn != qpn);
	tree_end();
}

/* ---- errors ---- */

static void test_disagree(void **state)
{
	(void)state;
	tree_two_levels(2);
	ready();
	for (unsigned int i = 0; i < 6; i++)
		tree_send(&tree.host[i], 0, i == 4 ? 0x2000c030u : 0);
	all_fail(RF_CTL_R_DISAGREE, 1, 2, 100);
}

/* The leaves agree each with itself, and not with each other. */
static void test_disagree_above(void **state)
{
	(void)state;
	tree_two_levels(2);
	ready();
	for (unsigned int i = 0; i < 6; i++)
		tree_send(&tree.host[i], 0, i >= 3 ? 0x2000c000u : 0);
	all_fail(RF_CTL_R_DISAGREE, 1, 0, 100);
}

/* What the hardware finds in a packet of the parent. */
static void test_nak(void **state)
{
	(void)state;
	tree_two_levels(2);
	ready();
	tree_nak_down();
	all_fail(RF_CTL_R_NAK, RF_CTL_NO_RANK, 0, 100);
}

static void test_abort(void **state)
{
	(void)state;
	tree_two_levels(2);
	ready();
	rf_client_abort(&tree.host[1].client, RF_CTL_ABORT_MEMORY, tree.now * 4);
	all_fail(RF_CTL_R_ABORTED, 1, 1, 100);
}

/* The notice of the failure is lost: the next sign of life tells it. */
static void test_notice_lost(void **state)
{
	(void)state;
	tree_two_levels(2);
	ready();
	tree.no_notices = true;
	rf_client_abort(&tree.host[1].client, RF_CTL_ABORT_MEMORY, tree.now * 4);
	all_fail(RF_CTL_R_ABORTED, 1, 1, 150);
}

static void test_lease(void **state)
{
	(void)state;
	tree_two_levels(2);
	ready();
	tree.host[5].mute = true;
	all_fail(RF_CTL_R_LEASE, 2, 2, TREE_LEASE + 200);
}

/* ---- boxes that fail ---- */

static void test_parent_dies(void **state)
{
	(void)state;
	tree_two_levels(2);
	ready();
	tree_reduce(0);
	tree.box[0].dead = true;
	all_fail(RF_CTL_R_UPLINK_SILENT, RF_CTL_NO_RANK, 0, TREE_LEASE);
}

static void test_parent_restarts(void **state)
{
	(void)state;
	tree_two_levels(2);
	ready();
	tree.box[0].cfg.epoch = 99;
	tree_start_box(0);
	all_fail(RF_CTL_R_RESET, RF_CTL_NO_RANK, 0, TREE_LEASE);
}

static void test_leaf_dies(void **state)
{
	(void)state;
	tree_two_levels(2);
	ready();
	tree.box[2].dead = true;
	for (unsigned int i = 3; i < 6; i++)
		tree.host[i].mute = true;
	all_fail(RF_CTL_R_LEASE, 1, 0, TREE_LEASE);
}

/* The leaf is back before its lease at the parent has run out, and its ranks join again. */
static void test_leaf_restarts(void **state)
{
	const struct rf_ctl_failed *f;

	(void)state;
	tree_two_levels(2);
	for (unsigned int i = 0; i < tree.hosts; i++)
		tree.host[i].join.lease_ms = 20000;
	ready();
	tree.box[2].cfg.epoch = 99;
	tree.box[2].cfg.salt[1] = 99;
	tree_start_box(2);
	tree_run(3000000);
	for (unsigned int i = 3; i < 6; i++) {
		assert_int_equal(rf_client_state(&tree.host[i].client), RF_CLIENT_FAILED);
		tree_join(&tree.host[i]);
	}
	tree_run(500000);
	for (unsigned int i = 0; i < 3; i++) {
		f = rf_client_failed(&tree.host[i].client);
		assert_non_null(f);
		assert_int_equal(f->reason, RF_CTL_R_RESET);
		assert_int_equal(f->other.box_ip & 0xffffff00u, tree_box_ip(2) & 0xffffff00u);
		tree_join(&tree.host[i]);
	}
	until_ready(3000);
	for (unsigned int i = 0; i < tree.hosts; i++)
		tree.host[i].count = 0;
	tree_end();
}

/* ---- refusals ---- */

static void refused_at(unsigned int host, enum rf_ctl_reason why)
{
	const struct rf_ctl_failed *f;

	tree_join(&tree.host[host]);
	tree_run(300000);
	f = rf_client_failed(&tree.host[host].client);
	assert_non_null(f);
	if (f->reason != why)
		print_error("%s instead of %s\n", rf_ctl_reason_name(f->reason),
			    rf_ctl_reason_name(why));
	assert_int_equal(f->reason, why);
}

/* What the box itself refuses. */
static void test_refused_here(void **state)
{
	struct rf_ctl_join good, *j;

	(void)state;
	tree_two_levels(2);
	good = tree.host[0].join;
	j = &tree.host[0].join;
	j->up[0].ip = tree_box_ip(1);
	refused_at(0, RF_CTL_R_UPLINK_LOOP);
	*j = good;
	tree_up(&tree.host[0], 1, 0, 2);
	j->up[1].ip = tree_box_ip(1) + 2; /* a port of this box, further up */
	refused_at(0, RF_CTL_R_UPLINK_LOOP);
	*j = good;
	tree_up(&tree.host[0], 2, 0, 2);
	tree_up(&tree.host[0], 0, 0, 2); /* twice the same box */
	refused_at(0, RF_CTL_R_UPLINK_LOOP);
	*j = good;
	for (unsigned int k = 0; k < 3; k++)
		tree_up(&tree.host[0], 10 + k, 0, 2);
	refused_at(0, RF_CTL_R_UPLINK_DEPTH);
	*j = good;
	j->flags &= (uint16_t)~RF_CTL_J_DIRECTED;
	refused_at(0, RF_CTL_R_UPLINK_UNSUPPORTED);
	*j = good;
	j->up[0].rank = 2;
	refused_at(0, RF_CTL_R_FIELD);
	*j = good;
	j->above = 0;
	refused_at(0, RF_CTL_R_FIELD);
	*j = good;
	tree.box[1].fw.uplinks = false;
	refused_at(0, RF_CTL_R_UPLINK_UNSUPPORTED);
	tree.box[1].fw.uplinks = true;
	tree_join(&tree.host[0]);
	tree_run(100000);
	good = tree.host[1].join;
	j = &tree.host[1].join;
	j->up[0].rank = 1;
	refused_at(1, RF_CTL_R_UPLINK_DIFFERS);
	*j = good;
	j->flags &= (uint16_t)~RF_CTL_J_UPLINK;
	refused_at(1, RF_CTL_R_UPLINK_DIFFERS);
	*j = good;
	j = &tree.host[4].join;
	j->flags &= (uint16_t)~RF_CTL_J_UPLINK;
	tree_join(&tree.host[4]);
	tree_run(100000);
	refused_at(3, RF_CTL_R_UPLINK_DIFFERS);
	tree_end();
}

static const uint8_t no_key[RF_CTL_KEY_BYTES];
static struct rf_fw_key parent_keys[1] = {{.job = TREE_JOB, .most = {.slots = 32}}};

/* What the parent refuses. */
static void refused_above(enum rf_ctl_reason why, unsigned int what)
{
	tree_init(3);
	if (what == 0)
		tree.box[0].shape.mtu_max = 512;
	if (what == 1)
		tree.box[0].shape.hdr_log2 = 5;
	if (what == 2) {
		tree.box[0].cfg.keys = parent_keys;
		tree.box[0].cfg.nkeys = 1;
	}
	if (what == 3)
		tree.box[0].older = 2;
	for (unsigned int b = 0; b < 3; b++)
		tree_start_box(b);
	if (what == 4)
		tree.box[0].dead = true;
	if (what == 5)
		tree.box[0].fw.uplinks = false;
	for (unsigned int b = 1; b < 3; b++)
		for (unsigned int r = 0; r < 3; r++)
			tree_up(tree_add_host(b, r, 3), 0, b - 1, 2);
	for (unsigned int i = 0; i < 6; i++) {
		if (what >= 6 && i >= 3)
			tree.host[i].mute = true;
		tree.host[i].join.deadline_ms = 8000;
	}
	if (what >= 6) {
		/* A host at the parent in the place of the other leaf is there first. */
		struct tree_host *h = tree_add_host(0, 1, 2);

		if (what == 6)
			h->join.dtype = RF_DTYPE_INT32;
		else
			h->join.mtu_log2 = 11;
		tree_join(h);
		tree_run(200000);
		h->mute = true;
	}
	for (unsigned int i = 0; i < 6; i++)
		if (!tree.host[i].mute)
			tree_join(&tree.host[i]);
	assert_true(tree_until(RF_CLIENT_FAILED, 7000));
	for (unsigned int i = 0; i < 3; i++) {
		const struct rf_ctl_failed *f = rf_client_failed(&tree.host[i].client);

		if (f->reason != why)
			print_error("%u: %s\n", what, rf_ctl_reason_name(f->reason));
		assert_int_equal(f->reason, why);
		assert_int_equal(f->other.box_ip, tree_box_ip(0));
	}
	tree_end();
}

static void test_refused_above(void **state)
{
	(void)state;
	memcpy(parent_keys[0].key, no_key, sizeof(no_key));
	refused_above(RF_CTL_R_UPLINK_MTU, 0);
	refused_above(RF_CTL_R_UPLINK_SLOTS, 1);
	refused_above(RF_CTL_R_UPLINK_QUOTA, 2);
	refused_above(RF_CTL_R_UPLINK_VERSION, 3);
	refused_above(RF_CTL_R_UPLINK_SILENT, 4);
	refused_above(RF_CTL_R_UPLINK_UNSUPPORTED, 5);
	refused_above(RF_CTL_R_UPLINK_TYPE, 6);
	refused_above(RF_CTL_R_UPLINK_MTU, 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_two_levels),
		cmocka_unit_test(test_full_ports),
		cmocka_unit_test(test_missing_late),
		cmocka_unit_test(test_notice_lost),
		cmocka_unit_test(test_three_levels),
		cmocka_unit_test(test_leave_early),
		cmocka_unit_test(test_page),
		cmocka_unit_test(test_walk),
		cmocka_unit_test(test_missing),
		cmocka_unit_test(test_missing_here),
		cmocka_unit_test(test_taken),
		cmocka_unit_test(test_disagree),
		cmocka_unit_test(test_disagree_above),
		cmocka_unit_test(test_abort),
		cmocka_unit_test(test_nak),
		cmocka_unit_test(test_lease),
		cmocka_unit_test(test_parent_dies),
		cmocka_unit_test(test_parent_restarts),
		cmocka_unit_test(test_leaf_dies),
		cmocka_unit_test(test_leaf_restarts),
		cmocka_unit_test(test_refused_here),
		cmocka_unit_test(test_refused_above),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
