/*
 * The uplink of a group: what comes from the parent, ACKs, TICK. docs/box.md, "Groups with an
 * uplink". Passes are in uplink_pass.c.
 */
#include <string.h>

#include "base/uplink_regs.h"
#include "proto/rf_bytes.h"
#include "sim/model/internal.h"

#define OPCODE_ACK 0x11u
#define OPCODE_CNP 0x81u
#define UDP_ACK 28u
#define SYNDROME_SEQUENCE 0x60u
#define SYNDROME_LAST 0x63u
#define RUN_MOST 64u
#define WAIT_MOST 16u

void model_uplink_start(struct rf_engine *e, unsigned int group)
{
	struct model_uplink *u = &e->uplinks[group];

	u->up = u->got = u->seen = u->acked = 0;
	u->run = 1;
	u->run_end = u->then = 0;
	u->still = 0;
	u->wait = 1;
	u->row = 0;
	u->again_count = 0;
}

/* An index that was sent up and has not come back. */
static bool awaited(const struct rf_engine *e, unsigned int group, uint32_t i)
{
	const struct model_uplink *u = &e->uplinks[group];

	return !model_serial_less(i, u->got) && model_serial_less(i, u->up) &&
	       !model_slot_present(e, u->cid, i);
}

/* Lines u2 to u5; j is the index that the PSN names. */
static unsigned int judge_ack(struct rf_engine *e, unsigned int cid, const struct model_frame *f,
			      const struct model_parsed *p, uint32_t j)
{
	unsigned int group = model_cid_group(cid);
	struct model_uplink *u = &e->uplinks[group];
	unsigned int syndrome = f->bytes[p->l2 + 40];

	if (p->udp_length != UDP_ACK || (syndrome >= 0x40 && syndrome < SYNDROME_SEQUENCE) ||
	    syndrome > SYNDROME_LAST)
		return RF_CNT_ACK_MALFORMED;
	if (syndrome > SYNDROME_SEQUENCE) {
		model_group_error(e, cid, RF_ERROR_NAK, j);
		return RF_CNT_COUNT + RF_MODEL_UP_NAK;
	}
	if (syndrome != SYNDROME_SEQUENCE || model_serial_less(j, u->got) ||
	    !model_serial_less(j, u->up))
		return RF_CNT_COUNT + RF_MODEL_UP_OTHER;
	u->run = j != u->run_end ? 1 : 4 * u->run < RUN_MOST ? 4 * u->run : RUN_MOST;
	if (e->mutant == RF_MODEL_MUTANT_NAK_RUN)
		u->run = 1;
	u->run_end = model_serial_add(j, u->run);
	if (model_serial_less(u->up, u->run_end))
		u->run_end = u->up;
	model_uplink_again(e, group, j, u->run_end, false);
	return RF_CNT_COUNT + RF_MODEL_UP_NAK;
}

/* What a stored result shows to be missing is sent up again. */
static void ask_again(struct rf_engine *e, unsigned int group, uint32_t i)
{
	struct model_uplink *u = &e->uplinks[group];

	if (!model_serial_less(i, u->seen)) {
		if (i != u->seen && e->mutant != RF_MODEL_MUTANT_SKIPPED_ONCE)
			model_uplink_again(e, group, u->seen, i, false);
		u->seen = model_serial_add(i, 1);
	} else if (model_serial_less(u->got, u->seen) && e->mutant != RF_MODEL_MUTANT_FILLS_NEXT) {
		model_uplink_again(e, group, u->got, model_serial_add(u->got, 1), false);
	}
}

/* Line u12. */
static unsigned int store(struct rf_engine *e, unsigned int group, uint32_t i,
			  const struct model_frame *f, const struct model_parsed *p)
{
	struct model_uplink *u = &e->uplinks[group];
	unsigned int counter = RF_CNT_COUNT + RF_MODEL_UP_RESULT_AHEAD;

	model_slot_store(e, u->cid, i, f->bytes, p);
	if ((f->bytes[p->l2 + 1] & 3) == 3)
		e->groups[group].marked = true;
	if (i == u->got) {
		counter = RF_CNT_COUNT + RF_MODEL_UP_RESULT;
		u->got = model_serial_add(u->got, 1);
		while (model_slot_at(e, u->cid, u->got)->present) {
			model_slot_at(e, u->cid, u->got)->present = false;
			u->got = model_serial_add(u->got, 1);
		}
		model_schedule_soon(e, e->now);
	} else {
		model_slot_at(e, u->cid, i)->present = true;
	}
	ask_again(e, group, i);
	if (f->bytes[p->l2 + 36] & 0x80)
		model_uplink_ack(e, group);
	return counter;
}

/* Lines u6 to u12. */
static unsigned int judge_result(struct rf_engine *e, unsigned int cid, const struct model_frame *f,
				 const struct model_parsed *p, uint32_t i)
{
	unsigned int group = model_cid_group(cid), cause;
	struct model_uplink *u = &e->uplinks[group];
	unsigned int counter = model_form_result(e, cid, p, i, &cause);
	bool old = model_serial_less(i, u->got);

	if (counter != RF_CNT_COUNT) {
		if (awaited(e, group, i))
			model_group_error_of(e, cid, cause, i, 0,
					     cause == RF_ERROR_ORDER ? p->imm : 0, 0);
		return counter;
	}
	if (old && e->mutant == RF_MODEL_MUTANT_RESULT_OLD)
		model_slot_store(e, cid, i, f->bytes, p);
	if (!old && !model_serial_less(i, u->up) && e->mutant != RF_MODEL_MUTANT_RESULT_UNSENT)
		return RF_CNT_COUNT + RF_MODEL_UP_RESULT_UNSENT;
	if (old || model_slot_present(e, cid, i)) {
		model_uplink_ack(e, group);
		return RF_CNT_COUNT + RF_MODEL_UP_RESULT_OLD;
	}
	return store(e, group, i, f, p);
}

unsigned int model_uplink_judge(struct rf_engine *e, unsigned int port, unsigned int cid,
				const struct model_frame *f, const struct model_parsed *p)
{
	struct model_conn *c = &e->conns[cid];
	const struct model_group *g = &e->groups[model_cid_group(cid)];
	uint32_t index = model_serial_sub(p->psn, c->start);

	if (port != model_cid_port(cid) || p->src_ip != c->src_ip ||
	    model_get_mac(f->bytes + 6) != c->mac)
		return RF_CNT_WRONG_SOURCE;
	if (!(g->cfg & RF_GROUP_CFG_LIVE_MASK))
		return RF_CNT_JOINING;
	if (g->error & RF_GROUP_ERROR_VALID_MASK)
		return RF_CNT_GROUP_FAILED;
	if (p->opcode == OPCODE_CNP)
		return RF_CNT_COUNT + RF_MODEL_UP_OTHER;
	if (p->opcode == OPCODE_ACK) {
		c->seen |= RF_CONN_SEEN_ACK_MASK;
		return judge_ack(e, cid, f, p, index);
	}
	c->seen |= RF_CONN_SEEN_DATA_MASK;
	return judge_result(e, cid, f, p, index);
}

/* Rule 3 of TICK: got has not moved. */
static void probe(struct rf_engine *e, unsigned int group)
{
	struct model_uplink *u = &e->uplinks[group];
	uint32_t end = model_serial_add(u->got, 1);

	u->still = 0;
	u->wait = 2 * u->wait < WAIT_MOST ? 2 * u->wait : WAIT_MOST;
	if (e->mutant != RF_MODEL_MUTANT_TICK_ACK)
		model_uplink_ack(e, group);
	if (e->mutant == RF_MODEL_MUTANT_TICK_ONE)
		end = u->up;
	if (e->mutant != RF_MODEL_MUTANT_TICK_PROBE)
		model_uplink_again(e, group, u->got, end, true);
}

static void tick(struct rf_engine *e, unsigned int group)
{
	struct model_uplink *u = &e->uplinks[group];

	if (u->got != u->then || u->up == u->got) {
		u->then = u->got;
		u->still = 0;
		u->wait = 1;
		if (u->acked != u->got)
			model_uplink_ack(e, group);
		return;
	}
	if (++u->still >= u->wait)
		probe(e, group);
}

void model_uplink_tick(struct rf_engine *e)
{
	unsigned int group;

	for (group = 0; group < e->cfg.groups; group++) {
		if (e->uplinks[group].on && model_group_runs(&e->groups[group]))
			tick(e, group);
	}
}

uint32_t model_uplink_read_reg(const struct model_uplink *u, uint32_t offset)
{
	switch (offset) {
	case RF_UPLINK_PLACE:
		return (u->on ? RF_UPLINK_PLACE_ON_MASK : 0) | model_cid_port(u->cid) |
		       model_cid_lane(u->cid) << RF_UPLINK_PLACE_LANE_LSB;
	case RF_UPLINK_WINDOW:
		return u->window;
	case RF_UPLINK_HEADER:
		return u->sport | (uint32_t)u->tos >> 2 << RF_UPLINK_HEADER_DSCP_LSB;
	case RF_UPLINK_UP:
		return u->up;
	case RF_UPLINK_GOT:
		return u->got;
	case RF_UPLINK_SEEN:
		return u->seen;
	case RF_UPLINK_ACKED:
		return u->acked;
	default:
		return 0;
	}
}

void model_uplink_write_reg(struct rf_engine *e, unsigned int group, uint32_t offset,
			    uint32_t value)
{
	struct model_uplink *u = &e->uplinks[group];

	switch (offset) {
	case RF_UPLINK_PLACE:
		u->on = (value & RF_UPLINK_PLACE_ON_MASK) != 0;
		/* A pass that is under way still needs the old place. */
		if (u->on)
			u->cid = model_cid_make(group,
						(value & RF_UPLINK_PLACE_LANE_MASK) >>
							RF_UPLINK_PLACE_LANE_LSB,
						value & RF_UPLINK_PLACE_PORT_MASK);
		break;
	case RF_UPLINK_WINDOW:
		u->window = value & RF_UPLINK_WINDOW_MASK;
		break;
	case RF_UPLINK_HEADER:
		u->sport = (uint16_t)value;
		u->tos = (uint8_t)((value & RF_UPLINK_HEADER_DSCP_MASK) >> RF_UPLINK_HEADER_DSCP_LSB
										   << 2 |
				   2);
		break;
	default:
		break;
	}
}

void rf_model_set_uplink(struct rf_engine *e, unsigned int group, const struct rf_model_uplink *up)
{
	struct model_uplink *u = &e->uplinks[group];

	memset(u, 0, sizeof(*u));
	if (!up)
		return;
	u->on = true;
	u->cid = model_cid_make(group, up->lane, up->port);
	u->window = up->window;
	u->sport = up->sport;
	u->tos = (uint8_t)(up->dscp << 2 | 2);
	model_uplink_start(e, group);
}

void rf_model_set_selective(struct rf_engine *e, unsigned int cid, bool selective)
{
	e->conns[cid].selective = selective;
}

uint32_t rf_model_up_counter(const struct rf_engine *e, unsigned int port,
			     enum rf_model_up_counter counter)
{
	return e->ports[port].counters[RF_CNT_COUNT + counter];
}

void rf_model_up_state(const struct rf_engine *e, unsigned int group, struct rf_model_up_state *s)
{
	const struct model_uplink *u = &e->uplinks[group];
	const struct model_group *g = &e->groups[group];

	*s = (struct rf_model_up_state){.up = u->up,
					.got = u->got,
					.seen = u->seen,
					.acked = u->acked,
					.head = g->head,
					.tail = g->tail,
					.issued = g->issued};
}
