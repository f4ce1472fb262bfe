/* Held frames as reported to firmware, and signs of life on tombstones: box.md. */
#include "sim/model/internal.h"

static bool same(const struct model_held *h, const struct model_parsed *p)
{
	return h->valid && h->ip == p->dst_ip && h->qpn == p->qpn;
}

/* The waiting ports take turns. */
static void show(struct rf_engine *e)
{
	unsigned int k;

	for (k = 0; k < e->cfg.ports && !e->held.valid; k++) {
		unsigned int port = (e->held_turn + k) % e->cfg.ports;

		if (!e->held_wait[port].valid)
			continue;
		e->held = e->held_wait[port];
		e->held_wait[port].valid = false;
		e->held_turn = (port + 1) % e->cfg.ports;
	}
}

void model_held_frame(struct rf_engine *e, unsigned int port, const struct model_parsed *p)
{
	struct model_held *wait = &e->held_wait[port];

	if (same(&e->held, p) || same(wait, p))
		return;
	if (wait->valid) {
		e->held_missed = true;
		return;
	}
	*wait = (struct model_held){
		.valid = true, .port = port, .ip = p->dst_ip, .src = p->src_ip, .qpn = p->qpn};
	show(e);
}

void model_held_pop(struct rf_engine *e)
{
	e->held.valid = false;
	e->held_missed = false;
	show(e);
}

uint32_t model_tombs(const struct rf_engine *e)
{
	return 2u << e->cfg.hash_bits;
}

void model_tomb_packet(struct rf_engine *e, unsigned int port, uint32_t number,
		       const struct model_parsed *p)
{
	struct model_tomb *t = &e->tombs[number % model_tombs(e)];

	if (t->any || (t->port == port && t->src == p->src_ip))
		t->seen = true;
}

void model_tomb_write(struct rf_engine *e, uint32_t value)
{
	uint32_t number = value & RF_TOMB_WRITE_NUMBER_MASK;

	e->tombs[number % model_tombs(e)] = (struct model_tomb){
		.src = e->tomb_src,
		.port = (value & RF_TOMB_WRITE_PORT_MASK) >> RF_TOMB_WRITE_PORT_LSB,
		.any = (value & RF_TOMB_WRITE_ANY_MASK) != 0,
	};
}

void model_tomb_look(struct rf_engine *e, uint32_t number)
{
	struct model_tomb *t = &e->tombs[number % model_tombs(e)];

	e->tomb_seen = t->seen;
	t->seen = false;
}
