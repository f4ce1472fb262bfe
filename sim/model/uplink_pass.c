/*
 * Passes of a group with an uplink, and the packets that go up. docs/box.md, "Groups with an
 * uplink".
 */
#include <string.h>

#include "proto/rf_bytes.h"
#include "sim/model/internal.h"

#define L2 14u         /* packets that go up have no tag */
#define IP_HEADERS 40u /* IPv4, UDP, BTH */
#define ICRC 4u
#define ACK_LENGTH 48u
#define OPCODE_ONLY 0x04u
#define OPCODE_ONLY_IMM 0x05u
#define OPCODE_ACK 0x11u
#define IMM_INDEX 15u
#define IMM_KIND 0x00000ff0u
#define IMM_TAG 0xffff3000u

uint32_t model_complete(const struct rf_engine *e, unsigned int group)
{
	return e->uplinks[group].on ? e->uplinks[group].got : e->groups[group].head;
}

void model_uplink_again(struct rf_engine *e, unsigned int group, uint32_t from, uint32_t end,
			bool probe)
{
	struct model_uplink *u = &e->uplinks[group];

	if (u->again_count == MODEL_AGAIN || !model_serial_less(from, end))
		return;
	u->again[(u->again_head + u->again_count++) % MODEL_AGAIN] =
		(struct model_range){from, end, probe};
	model_schedule_soon(e, e->now);
}

/* A first pass may be issued. */
static bool may_up(const struct rf_engine *e, unsigned int group)
{
	const struct model_uplink *u = &e->uplinks[group];

	return model_serial_less(u->up, e->groups[group].head) &&
	       (model_serial_less(u->up, model_serial_add(u->got, u->window)) ||
		e->mutant == RF_MODEL_MUTANT_UP_WINDOW);
}

bool model_uplink_waits(const struct rf_engine *e, unsigned int group)
{
	const struct model_uplink *u = &e->uplinks[group];

	return u->on && model_group_runs(&e->groups[group]) &&
	       (u->again_count > 0 || may_up(e, group)) && u->flight_count < MODEL_FLIGHTS;
}

/* Reserves the block; the operands are read later. */
static void issue(struct rf_engine *e, unsigned int group, uint32_t index, unsigned int plen,
		  unsigned int counter)
{
	struct model_uplink *u = &e->uplinks[group];
	uint64_t read, ready = model_block_take(e, group, plen, &read);

	u->flights[(u->flight_head + u->flight_count++) % MODEL_FLIGHTS] =
		(struct model_flight){index, RF_CNT_COUNT + counter, ready};
	e->ports[model_cid_port(u->cid)].ups++;
	model_event_add(e, read < ready ? read : ready, MODEL_EV_UP, group);
}

/* The ranks disagree at an index: nothing is sent. */
static bool disagree(struct rf_engine *e, unsigned int group, uint32_t index,
		     struct model_pass *pass)
{
	struct model_difference d;
	int wrong = model_compare(e, group, index, pass, &d);

	if (wrong < 0)
		return false;
	model_group_error_of(e, (unsigned int)wrong, RF_ERROR_DISAGREE, index, d.what, d.got,
			     d.want);
	return true;
}

static void first_up(struct rf_engine *e, unsigned int group)
{
	struct model_uplink *u = &e->uplinks[group];
	struct model_pass pass;
	uint32_t index = u->up;

	u->row = 0;
	u->up = model_serial_add(u->up, 1);
	model_limit_take(e, group, index);
	if (!disagree(e, group, index, &pass))
		issue(e, group, index, pass.plen, RF_MODEL_UP_TX);
}

/* The next index of the list. */
static void resend(struct rf_engine *e, unsigned int group)
{
	struct model_uplink *u = &e->uplinks[group];
	struct model_range *r = &u->again[u->again_head];
	uint32_t index = r->from;
	unsigned int counter = r->probe ? RF_MODEL_UP_TX_PROBE : RF_MODEL_UP_TX_AGAIN;
	bool wanted = !model_serial_less(index, u->got) && model_serial_less(index, u->up) &&
		      !model_slot_present(e, u->cid, index);
	struct model_pass pass;

	r->from = model_serial_add(r->from, 1);
	if (r->from == r->end) {
		u->again_head = (u->again_head + 1) % MODEL_AGAIN;
		u->again_count--;
	}
	if (!wanted && e->mutant != RF_MODEL_MUTANT_AGAIN_LOOK) {
		model_count(e, model_cid_port(u->cid), RF_CNT_COUNT + RF_MODEL_UP_STALE);
		return;
	}
	u->row++;
	if (!disagree(e, group, index, &pass))
		issue(e, group, index, pass.plen, counter);
}

bool model_uplink_try(struct rf_engine *e, unsigned int group, bool *began)
{
	struct model_uplink *u = &e->uplinks[group];
	const struct model_group *g = &e->groups[group];
	uint64_t when;

	if (!model_group_runs(g))
		u->again_count = 0;
	if (!model_uplink_waits(e, group) || !model_result_room(e, model_cid_port(u->cid), g, 1))
		return false;
	when = model_block_free(e, g);
	if (when > e->now) {
		model_schedule_soon(e, when);
		return false;
	}
	if (u->again_count > 0 && !(may_up(e, group) && u->row >= MODEL_QUEUED_SHARE - 1))
		resend(e, group);
	else if (model_limit_allows(e))
		first_up(e, group);
	else
		return false;
	*began = true;
	return true;
}

/* The immediate that goes up, without the index. False if no rank's packet has one. */
static bool statement(const struct rf_engine *e, unsigned int group, uint32_t index, uint32_t *imm)
{
	const struct model_group *g = &e->groups[group];
	unsigned int lane, port;
	bool first = true, stated = false;

	*imm = 0;
	for (lane = 0; lane < e->cfg.lanes; lane++) {
		for (port = 0; port < e->cfg.ports; port++) {
			const struct model_slot *s;

			if (!model_member(e, g, lane, port))
				continue;
			s = model_slot_at(e, model_cid_make(group, lane, port), index);
			if (first)
				*imm |= s->imm & IMM_KIND;
			if (!stated && s->has_imm)
				*imm |= s->imm & IMM_TAG;
			*imm |= s->imm & (MODEL_IMM_GIVES | MODEL_IMM_WANTS);
			first = false;
			stated = stated || s->has_imm;
		}
	}
	*imm |= index & IMM_INDEX;
	return stated;
}

/* A packet for the parent: everything but opcode, pad, and what follows the BTH. */
static struct model_frame *make(const struct rf_engine *e, const struct model_uplink *u,
				uint32_t index, size_t ip_length)
{
	const struct model_conn *c = &e->conns[u->cid];
	struct model_frame *f = model_frame_new(NULL, L2 + ip_length, L2 + ip_length);
	uint8_t *ip = f->bytes + L2, *bth = ip + 28;

	memset(f->bytes, 0, f->len);
	model_set_mac(f->bytes, c->mac);
	rf_put_be16(f->bytes + 12, 0x0800);
	ip[0] = 0x45;
	ip[1] = u->tos;
	rf_put_be16(ip + 2, (uint16_t)ip_length);
	rf_put_be16(ip + 6, 0x4000);
	ip[8] = 64;
	ip[9] = 17;
	rf_put_be32(ip + 12, e->port_ip[model_cid_port(u->cid)]);
	rf_put_be32(ip + 16, c->src_ip);
	rf_put_be16(ip + 10, model_ip_checksum(ip));
	rf_put_be16(ip + 20, u->sport);
	rf_put_be16(ip + 22, 4791);
	rf_put_be16(ip + 24, (uint16_t)(ip_length - 20));
	bth[1] = 0x40; /* MigReq */
	rf_put_be16(bth + 2, 0xffff);
	rf_put_be24(bth + 5, c->qpn);
	rf_put_be24(bth + 9, model_serial_add(c->start, index));
	return f;
}

static void send_up(struct rf_engine *e, unsigned int group, const struct model_flight *flight,
		    const struct model_pass *pass)
{
	const struct model_uplink *u = &e->uplinks[group];
	unsigned int port = model_cid_port(u->cid);
	struct model_frame *f;
	uint8_t *bth;
	uint32_t imm;
	bool stated = statement(e, group, flight->index, &imm);
	size_t headers = IP_HEADERS + (stated ? 4 : 0);

	f = make(e, u, flight->index, headers + pass->plen + ICRC);
	bth = f->bytes + L2 + 28;
	bth[0] = stated ? OPCODE_ONLY_IMM : OPCODE_ONLY;
	bth[1] |= (uint8_t)(pass->pad << 4);
	if (stated)
		rf_put_be32(bth + 12, imm);
	memcpy(f->bytes + L2 + headers, pass->payload, pass->plen);
	model_seal(f, L2, (unsigned int)f->len - L2);
	f->ready = flight->ready;
	f->counter = flight->counter;
	model_send(e, port, MODEL_SRC_RESULT, f);
}

void model_uplink_read(struct rf_engine *e, unsigned int group)
{
	struct model_uplink *u = &e->uplinks[group];
	struct model_flight flight = u->flights[u->flight_head];
	struct model_pass pass;
	unsigned int ranks = 1, k;

	u->flight_head = (u->flight_head + 1) % MODEL_FLIGHTS;
	u->flight_count--;
	e->ports[model_cid_port(u->cid)].ups--;
	model_schedule_soon(e, e->now);
	if (model_group_runs(&e->groups[group]) && !disagree(e, group, flight.index, &pass)) {
		model_reduce(e, group, flight.index, &pass);
		if (e->mutant == RF_MODEL_MUTANT_UP_ONE)
			ranks = 2;
		for (k = 0; k < ranks; k++)
			send_up(e, group, &flight, &pass);
	}
	model_group_tail(e, group);
}

void model_uplink_ack(struct rf_engine *e, unsigned int group)
{
	struct model_uplink *u = &e->uplinks[group];
	unsigned int port = model_cid_port(u->cid);
	uint32_t have = e->mutant == RF_MODEL_MUTANT_ACK_GOT ? u->seen : u->got;
	struct model_frame *f;
	uint8_t *bth;

	if (u->got == 0 && e->mutant != RF_MODEL_MUTANT_ACK_NONE)
		return;
	if (e->ports[port].out[MODEL_SRC_ACK].frames >= e->bounds.ack_depth) {
		model_count(e, port, RF_CNT_COUNT + RF_MODEL_UP_ACK_FULL);
		return;
	}
	f = make(e, u, model_serial_sub(have, 1), ACK_LENGTH);
	bth = f->bytes + L2 + 28;
	bth[0] = OPCODE_ACK;
	bth[12] = 0x1f;
	rf_put_be24(bth + 13, have);
	model_seal(f, L2, ACK_LENGTH);
	f->ready = e->now + MODEL_ACK_DELAY;
	f->counter = RF_CNT_COUNT + RF_MODEL_UP_TX_ACK;
	u->acked = u->got;
	model_send(e, port, MODEL_SRC_ACK, f);
}

void model_uplink_result(struct rf_engine *e, unsigned int group, uint32_t index,
			 struct model_pass *pass)
{
	const struct model_uplink *u = &e->uplinks[group];
	const struct model_slot *s = model_slot_at(e, u->cid, index);

	pass->plen = s->plen;
	pass->pad = s->pad;
	memcpy(pass->payload, model_slot_data(e, u->cid, index), s->plen);
	if (e->mutant == RF_MODEL_MUTANT_PASS_ON) {
		struct model_difference d;
		struct model_pass sum;

		model_compare(e, group, index, &sum, &d);
		model_reduce(e, group, index, &sum);
		memcpy(pass->payload, sum.payload, sum.plen < s->plen ? sum.plen : s->plen);
	}
}
