/* The queues of repeats, one at each port. */
#include "soft/internal.h"

static void add(struct soft_box *b, unsigned int cid, uint32_t index, bool first)
{
	struct soft_port *p = &b->ports[soft_cid_port(cid)];

	p->repeats[(p->repeat_at + p->repeat_count++) % SOFT_REPEATS] =
		(struct soft_repeat){index, (uint16_t)cid, first};
	b->conns[cid].queued++;
	soft_group_of(b, cid)->queued++;
	soft_wake(b, soft_cid_group(cid));
}

/* The rest of the queue is for first sendings that join it. */
bool soft_ask(struct soft_box *b, unsigned int cid, uint32_t index)
{
	if (b->ports[soft_cid_port(cid)].repeat_count >= SOFT_REPEATS - 2 * b->cfg.lanes)
		return false;
	add(b, cid, index, false);
	return true;
}

void soft_join(struct soft_box *b, unsigned int cid, uint32_t index)
{
	add(b, cid, index, true);
}

void soft_repeat_pop(struct soft_box *b, unsigned int port)
{
	struct soft_port *p = &b->ports[port];
	unsigned int cid = p->repeats[p->repeat_at].cid;

	b->conns[cid].queued--;
	soft_group_of(b, cid)->queued--;
	p->repeat_at = (p->repeat_at + 1) % SOFT_REPEATS;
	p->repeat_count--;
	if (p->repeat_count)
		soft_wake(b, soft_cid_group(p->repeats[p->repeat_at].cid));
}
