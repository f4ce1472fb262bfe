/* The connections of a rank over a NIC. */
#include <stdio.h>
#include <string.h>

#include "host/member/pair_verbs.h"
#include "ringfold/ringfold.h"

static struct rf_pair_verbs *verbs_of(struct rf_pair *p)
{
	return (struct rf_pair_verbs *)(void *)p;
}

/* We choose the PSNs of both ends. */
static int connect_both(struct rf_pair *base, const struct rf_pair_cfg *cfg, char *why, size_t room)
{
	struct rf_pair_verbs *p = verbs_of(base);
	struct rf_verbs_to next = {.ip = cfg->next.ip,
				   .qpn = cfg->next.qpn,
				   .sq_psn = cfg->start_psn,
				   .rq_psn = cfg->next.psn};
	struct rf_verbs_to prev = {.ip = cfg->prev.ip,
				   .qpn = cfg->prev.qpn,
				   .sq_psn = cfg->start_psn,
				   .rq_psn = cfg->prev.psn};
	int ret;

	ret = rf_verbs_qp_connect(p->to_next, &next, why, room);
	p->base.to_next = rf_msg_verbs(p->to_next);
	p->base.from_prev = p->base.to_next;
	/* Mirror: the one connection has both directions, and the other queue pair is not used. */
	if (cfg->mirror)
		return ret;
	if (!ret)
		ret = rf_verbs_qp_connect(p->from_prev, &prev, why, room);
	p->base.from_prev = rf_msg_verbs(p->from_prev);
	return ret;
}

static int add_memory(struct rf_pair *base, void *addr, size_t len, char *why, size_t room)
{
	struct rf_pair_verbs *p = verbs_of(base);
	unsigned int i;
	int ret;

	for (i = 0; i < RF_PAIR_MEMORIES && p->memory[i].mem; i++)
		;
	if (i == RF_PAIR_MEMORIES) {
		snprintf(why, room, "more than %u areas of memory", RF_PAIR_MEMORIES);
		return RF_ERR_INTERNAL;
	}
	ret = rf_verbs_mem_register(p->verbs, addr, len, true, &p->memory[i].mem, why, room);
	if (ret)
		return ret;
	p->memory[i].addr = addr;
	rf_verbs_mem_use(p->memory[i].mem, true);
	return RF_OK;
}

static void drop_place(struct rf_pair_verbs *p, unsigned int i)
{
	if (p->memory[i].mem)
		rf_verbs_mem_drop(p->memory[i].mem);
	p->memory[i].mem = NULL;
}

static void drop_memory(struct rf_pair *base, const void *addr)
{
	struct rf_pair_verbs *p = verbs_of(base);
	unsigned int i;

	for (i = 0; i < RF_PAIR_MEMORIES; i++)
		if (p->memory[i].addr == addr)
			drop_place(p, i);
}

static uint64_t moved(const struct rf_pair *base)
{
	const struct rf_pair_verbs *p = (const struct rf_pair_verbs *)(const void *)base;

	return rf_verbs_qp_progress(p->to_next) + rf_verbs_qp_progress(p->from_prev);
}

/* A NIC does not count dropped packets per connection. */
static bool bypassed(const struct rf_pair *base)
{
	(void)base;
	return false;
}

static void stop(struct rf_pair *base)
{
	struct rf_pair_verbs *p = verbs_of(base);

	if (p->to_next)
		rf_verbs_qp_end(p->to_next);
	if (p->from_prev)
		rf_verbs_qp_end(p->from_prev);
}

static void disconnect(struct rf_pair *base)
{
	struct rf_pair_verbs *p = verbs_of(base);
	unsigned int i;

	rf_verbs_qp_destroy(p->to_next);
	p->to_next = NULL;
	rf_verbs_qp_destroy(p->from_prev);
	p->from_prev = NULL;
	for (i = 0; i < RF_PAIR_MEMORIES; i++)
		drop_place(p, i);
}

int rf_pair_verbs_init(struct rf_pair_verbs *p, struct rf_verbs *verbs, char *why, size_t room)
{
	static const struct rf_pair_ops ops = {.connect = connect_both,
					       .add_memory = add_memory,
					       .drop_memory = drop_memory,
					       .moved = moved,
					       .bypassed = bypassed,
					       .stop = stop,
					       .disconnect = disconnect};
	int ret;

	memset(p, 0, sizeof(*p));
	p->base.ops = &ops;
	p->verbs = verbs;
	ret = rf_verbs_qp_create(verbs, RF_PAIR_DEPTH, &p->to_next, why, room);
	return ret ? ret : rf_verbs_qp_create(verbs, RF_PAIR_DEPTH, &p->from_prev, why, room);
}
