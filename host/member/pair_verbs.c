/* The connections of a rank over a NIC. */
#include <stdio.h>
#include <string.h>

#include "host/member/pair_verbs.h"
#include "ringfold/ringfold.h"

static struct rf_pair_verbs *verbs_of(struct rf_pair *p)
{
	return (struct rf_pair_verbs *)(void *)p;
}

/* The NIC chooses the numbers. */
static int reach(struct rf_pair *base, unsigned int count, char *why, size_t room)
{
	struct rf_pair_verbs *p = verbs_of(base);
	int ret = 0;

	for (unsigned int k = 0; k < count && !ret; k++) {
		ret = rf_verbs_qp_create(p->verbs, RF_PAIR_DEPTH, &p->far_next[k], why, room);
		if (!ret)
			ret = rf_verbs_qp_create(p->verbs, RF_PAIR_DEPTH, &p->far_prev[k], why,
						 room);
		if (!ret)
			base->numbers[k] =
				(struct rf_pair_numbers){rf_verbs_qp_number(p->far_next[k]),
							 rf_verbs_qp_number(p->far_prev[k])};
	}
	return ret;
}

/* We choose the PSNs of both ends. */
static int connect_one(struct rf_verbs_qp *qp, const struct rf_pair_cfg *cfg,
		       const struct rf_pair_peer *peer, char *why, size_t room)
{
	struct rf_verbs_to to = {
		.ip = peer->ip, .qpn = peer->qpn, .sq_psn = cfg->start_psn, .rq_psn = peer->psn};

	return rf_verbs_qp_connect(qp, &to, why, room);
}

static int connect_far(struct rf_pair_verbs *p, const struct rf_pair_cfg *cfg, char *why,
		       size_t room)
{
	int ret = 0;

	for (unsigned int k = 0; k < cfg->far->count && !ret; k++) {
		ret = connect_one(p->far_next[k], cfg, &cfg->far->next[k], why, room);
		if (!ret)
			ret = connect_one(p->far_prev[k], cfg, &cfg->far->prev[k], why, room);
		p->base.far_next[k] = rf_msg_verbs(p->far_next[k]);
		p->base.far_prev[k] = rf_msg_verbs(p->far_prev[k]);
	}
	return ret;
}

static int connect_all(struct rf_pair *base, const struct rf_pair_cfg *cfg, char *why, size_t room)
{
	struct rf_pair_verbs *p = verbs_of(base);
	int ret = connect_one(p->to_next, cfg, &cfg->next, why, room);

	p->base.to_next = rf_msg_verbs(p->to_next);
	p->base.from_prev = p->base.to_next;
	/* Mirror: the one connection has both directions, and the other queue pair is not used. */
	if (cfg->mirror)
		return ret;
	if (!ret)
		ret = connect_one(p->from_prev, cfg, &cfg->prev, why, room);
	if (!ret && cfg->far)
		ret = connect_far(p, cfg, why, room);
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

	uint64_t n = rf_verbs_qp_progress(p->to_next) + rf_verbs_qp_progress(p->from_prev);

	for (unsigned int k = 0; k < RF_PAIR_FAR && p->far_prev[k]; k++)
		n += rf_verbs_qp_progress(p->far_next[k]) + rf_verbs_qp_progress(p->far_prev[k]);
	return n;
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
	for (unsigned int k = 0; k < RF_PAIR_FAR; k++) {
		if (p->far_next[k])
			rf_verbs_qp_end(p->far_next[k]);
		if (p->far_prev[k])
			rf_verbs_qp_end(p->far_prev[k]);
	}
}

static void disconnect(struct rf_pair *base)
{
	struct rf_pair_verbs *p = verbs_of(base);
	unsigned int i;

	rf_verbs_qp_destroy(p->to_next);
	p->to_next = NULL;
	rf_verbs_qp_destroy(p->from_prev);
	p->from_prev = NULL;
	for (i = 0; i < RF_PAIR_FAR; i++) {
		rf_verbs_qp_destroy(p->far_next[i]);
		rf_verbs_qp_destroy(p->far_prev[i]);
		p->far_next[i] = p->far_prev[i] = NULL;
	}
	for (i = 0; i < RF_PAIR_MEMORIES; i++)
		drop_place(p, i);
}

int rf_pair_verbs_init(struct rf_pair_verbs *p, struct rf_verbs *verbs, char *why, size_t room)
{
	static const struct rf_pair_ops ops = {.reach = reach,
					       .connect = connect_all,
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
