/* What kind of rank this is, and with which ranks it exchanges packets. */
#include "host/member/internal.h"

static unsigned int after(const struct rf_member *m, unsigned int rank)
{
	unsigned int next = rank;

	do
		next = (next + 1) % m->cfg.ranks;
	while (m->cfg.mirrors && m->cfg.mirrors[next] && next != rank);
	return next;
}

unsigned int rf_member_next_rank(const struct rf_member *m)
{
	return after(m, m->cfg.rank);
}

unsigned int rf_member_receiver_of(const struct rf_member *m, unsigned int rank)
{
	bool mirror = m->cfg.mirrors ? m->cfg.mirrors[rank] : rf_member_is_mirror(m);

	return mirror ? rank : after(m, rank);
}

unsigned int rf_member_prev_rank(const struct rf_member *m)
{
	unsigned int prev = m->cfg.rank;

	do
		prev = (prev + m->cfg.ranks - 1) % m->cfg.ranks;
	while (m->cfg.mirrors && m->cfg.mirrors[prev] && prev != m->cfg.rank);
	return prev;
}

bool rf_member_has_box(const struct rf_member *m)
{
	return m->cfg.schedule == RF_SCHEDULE_BOX;
}

bool rf_member_is_mirror(const struct rf_member *m)
{
	return rf_member_has_box(m) && (m->cfg.flags & RF_CTL_J_MIRROR);
}

bool rf_member_is_directed(const struct rf_member *m)
{
	return rf_member_has_box(m) && (m->cfg.flags & RF_CTL_J_DIRECTED);
}

unsigned int rf_member_number_here(const struct rf_member *m)
{
	return m->cfg.tree ? m->cfg.tree->rank_of[m->cfg.rank] : m->cfg.rank;
}

unsigned int rf_member_ranks_here(const struct rf_member *m)
{
	const struct rf_member_tree *t = m->cfg.tree;

	return t ? t->box[t->box_of[m->cfg.rank]].ranks : m->cfg.ranks;
}

unsigned int rf_member_rank_here(const struct rf_member *m, unsigned int number)
{
	const struct rf_member_tree *t = m->cfg.tree;

	return t ? rf_member_tree_rank(t, m->cfg.ranks, t->box_of[m->cfg.rank], number) : number;
}
