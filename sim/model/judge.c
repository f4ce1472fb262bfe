/* The verdict on a frame: docs/box.md, line by line. */
#include <string.h>

#include "proto/rf_bytes.h"
#include "proto/rf_crc32.h"
#include "sim/model/internal.h"

#define OPCODE_LAST_DATA 0x0bu
#define OPCODE_ACK 0x11u
#define OPCODE_CNP 0x81u
#define CNP_UDP_LENGTH 40u
#define CNP_RESERVED 16u
#define SYNDROME_SEQUENCE 0x60u
#define SYNDROME_INVALID 0x61u
#define SYNDROME_LAST 0x63u

static void punt(struct rf_engine *e, unsigned int port, const struct model_frame *f)
{
	struct model_punt *slot;
	unsigned int held = 0, same = 0, arps = 0;
	bool arp = model_is_arp(f->bytes);
	size_t k;

	for (k = 0; k < e->punt_count; k++) {
		slot = &e->punts[(e->punt_head + k) % MODEL_PUNTS];
		held += slot->port == port;
		same += slot->port == port && memcmp(slot->bytes + 6, f->bytes + 6, 6) == 0;
		arps += slot->port == port && model_is_arp(slot->bytes);
	}
	if (f->len > MODEL_PUNT_MAX || held >= e->bounds.punt_depth || (arp && arps > 0)) {
		model_count(e, port, RF_CNT_PUNT_FULL);
		return;
	}
	if (same >= MODEL_PUNT_SAME) {
		model_count(e, port, RF_CNT_PUNTED);
		return;
	}
	slot = &e->punts[(e->punt_head + e->punt_count++) % MODEL_PUNTS];
	for (k = 0; k < MODEL_PUNT_MAX; k++)
		slot->bytes[k] = k < f->len ? f->bytes[k] : 0;
	slot->len = f->len;
	slot->port = port;
	model_count(e, port, RF_CNT_PUNTED);
}

/* Forwarded unchanged, if there is room. */
static unsigned int pass(struct rf_engine *e, unsigned int port, const struct model_frame *f)
{
	const struct model_queue *q = &e->ports[port].out[MODEL_SRC_FOREIGN];

	if (q->beats + model_beats(e, f->len) > e->bounds.foreign_beats)
		return RF_CNT_FOREIGN_FULL;
	model_send_raw(e, port, MODEL_SRC_FOREIGN, f->bytes, f->len);
	return RF_CNT_FOREIGN;
}

static void judge_unknown(struct rf_engine *e, unsigned int port, const struct model_frame *f,
			  const struct model_parsed *p)
{
	bool hold = (e->ctrl & RF_CTRL_HOLD_MASK) || (e->hold_ports >> port & 1u);

	if (p->to_port && e->mutant != RF_MODEL_MUTANT_UNKNOWN) {
		model_count(e, port, RF_CNT_UNKNOWN);
		return;
	}
	if (hold && p->opcode <= OPCODE_LAST_DATA) {
		model_count(e, port, RF_CNT_HOLD);
		if (model_icrc_ok(f->bytes, p))
			model_held_frame(e, port, p);
		return;
	}
	model_count(e, port, pass(e, port, f));
}

/* A packet could be stored as index i, now or after the missing packets before it have arrived. */
static bool storable(struct rf_engine *e, unsigned int cid, uint32_t i)
{
	const struct model_group *g = &e->groups[model_cid_group(cid)];

	if (model_serial_less(i, e->conns[cid].next) ||
	    !model_serial_less(i, model_serial_add(g->tail, 1u << MODEL_GROUP_FIELD(g, S_LOG2))))
		return false;
	return !model_selective(e, cid) || !model_slot_present(e, cid, i);
}

/* Line 30: an error only if a rank continues, not for one old packet or another sender's. */
static void judge_before(struct rf_engine *e, unsigned int cid, uint32_t i)
{
	struct model_conn *c = &e->conns[cid];
	uint32_t cfg = e->groups[model_cid_group(cid)].cfg;

	if (!(cfg & RF_GROUP_CFG_STRICT_MASK) || model_selective(e, cid) || c->next)
		return;
	if (i == c->last || i == model_serial_add(c->last, 1))
		model_group_error(e, cid, RF_ERROR_BEFORE_START, i);
	c->last = i;
}

/* Line 31: the receiver has it, but the ACK that acknowledged it was lost. */
static unsigned int judge_old(struct rf_engine *e, unsigned int cid, const struct model_frame *f,
			      const struct model_parsed *p)
{
	unsigned int port = model_cid_port(cid);
	uint32_t una = e->conns[cid].una;

	if (e->groups[model_cid_group(cid)].cfg & RF_GROUP_CFG_OPEN_LOOP_MASK)
		return RF_CNT_PENDING;
	if (e->mutant == RF_MODEL_MUTANT_SILENT)
		return RF_CNT_BEHALF;
	if (e->ports[port].out[MODEL_SRC_ACK].frames >= e->bounds.ack_depth)
		return RF_CNT_BEHALF_FULL;
	model_send_made(e, cid, f->bytes, p,
			model_serial_sub(una, e->mutant == RF_MODEL_MUTANT_BEHALF ? 0 : 1), 0x1f);
	return RF_CNT_BEHALF;
}

/* Line 34. On a selective connection next advances over packets that are present already. */
static void accept(struct rf_engine *e, unsigned int cid, const struct model_frame *f,
		   const struct model_parsed *p, uint32_t i)
{
	struct model_conn *c = &e->conns[cid];
	struct model_group *g = &e->groups[model_cid_group(cid)];

	model_slot_store(e, cid, i, f->bytes, p);
	model_lag_stored(e, cid, i);
	c->next = model_serial_add(c->next, 1);
	while (model_selective(e, cid) && model_slot_at(e, cid, c->next)->present) {
		model_slot_at(e, cid, c->next)->present = false;
		c->next = model_serial_add(c->next, 1);
	}
	if (i == g->head) {
		model_group_head(e, model_cid_group(cid));
		model_lag_head(e, cid);
	}
}

/* Lines 36a to 36c. `limit` is tail + S. */
static unsigned int judge_beyond(struct rf_engine *e, unsigned int cid, const struct model_frame *f,
				 const struct model_parsed *p, uint32_t i, uint32_t limit)
{
	if (!model_selective(e, cid) || !model_serial_less(i, limit))
		return RF_CNT_GAP;
	if (model_slot_present(e, cid, i))
		return RF_CNT_PENDING;
	model_slot_store(e, cid, i, f->bytes, p);
	model_slot_at(e, cid, i)->present = true;
	model_lag_stored(e, cid, i);
	return RF_CNT_AHEAD;
}

/* Lines 30 to 36. */
static unsigned int judge_index(struct rf_engine *e, unsigned int cid, const struct model_frame *f,
				const struct model_parsed *p, uint32_t i)
{
	struct model_conn *c = &e->conns[cid];
	struct model_group *g = &e->groups[model_cid_group(cid)];
	uint32_t slots = 1u << MODEL_GROUP_FIELD(g, S_LOG2);
	unsigned int counter;

	if (e->mutant == RF_MODEL_MUTANT_WINDOW)
		slots++;
	if (model_serial_less(i, c->una)) {
		if (i >= 0x800000u && !c->far) {
			judge_before(e, cid, i);
			return RF_CNT_BEFORE_START;
		}
		return model_nak(e, cid, f->bytes, p, i, judge_old(e, cid, f, p));
	}
	if (model_serial_less(i, c->sent)) {
		if (g->cfg & RF_GROUP_CFG_OPEN_LOOP_MASK)
			counter = RF_CNT_PENDING;
		else if (model_repeat_ask(e, cid, i))
			counter = RF_CNT_REPEAT;
		else
			counter = RF_CNT_REPEAT_FULL;
		return model_nak(e, cid, f->bytes, p, i, counter);
	}
	if (model_serial_less(i, c->next))
		return model_nak(e, cid, f->bytes, p, i, RF_CNT_PENDING);
	if (i == c->next) {
		bool room = model_serial_less(i, model_serial_add(g->tail, slots));

		counter = room ? RF_CNT_ACCEPTED : RF_CNT_NO_ROOM;
		model_nak(e, cid, f->bytes, p, i, counter);
		if (room)
			accept(e, cid, f, p, i);
		return counter;
	}
	counter = judge_beyond(e, cid, f, p, i, model_serial_add(g->tail, slots));
	counter = model_nak(e, cid, f->bytes, p, i, counter);
	if (e->mutant == RF_MODEL_MUTANT_COUNTER && counter == RF_CNT_GAP)
		counter = RF_CNT_PENDING;
	return counter;
}

/* Lines 24 and 39, given whether port and source address are right. */
static bool wrong_source(const struct rf_engine *e, const struct model_conn *c, bool right,
			 const struct model_frame *f)
{
	if (e->mutant == RF_MODEL_MUTANT_SOURCE)
		return false;
	return !right || (c->mirror && model_get_mac(f->bytes + 6) != c->mac);
}

/* Lines 24 to 36. */
static unsigned int judge_data(struct rf_engine *e, unsigned int port, unsigned int cid,
			       const struct model_frame *f, const struct model_parsed *p)
{
	struct model_conn *c = &e->conns[cid];
	struct model_group *g = &e->groups[model_cid_group(cid)];
	uint32_t index = model_serial_sub(p->psn, c->start);
	unsigned int counter, cause;

	if (wrong_source(e, c, port == model_cid_port(cid) && p->src_ip == c->src_ip, f))
		return RF_CNT_WRONG_SOURCE;
	if (!(g->cfg & RF_GROUP_CFG_LIVE_MASK))
		return RF_CNT_JOINING;
	if (g->error & RF_GROUP_ERROR_VALID_MASK)
		return RF_CNT_GROUP_FAILED;
	c->seen |= RF_CONN_SEEN_DATA_MASK;
	counter = model_form(e, cid, p, index, &cause);
	if (counter == RF_CNT_COUNT)
		return judge_index(e, cid, f, p, index);
	if (cause != RF_ERROR_NONE && storable(e, cid, index))
		model_group_error_of(e, cid, cause, index, 0,
				     cause >= RF_ERROR_IMMEDIATE ? p->imm : 0, 0);
	return counter;
}

/* Lines 39 to 44. */
static unsigned int judge_ack(struct rf_engine *e, unsigned int port, unsigned int cid,
			      const struct model_frame *f, const struct model_parsed *p)
{
	struct model_conn *c = &e->conns[cid];
	const uint8_t *aeth = f->bytes + p->l2 + 40;
	uint32_t psn = model_serial_add(p->psn, c->shift);
	uint32_t u = model_serial_sub(psn, c->start);
	unsigned int syndrome;

	if (wrong_source(e, c, port == c->peer_port && p->src_ip == c->peer_ip, f))
		return RF_CNT_WRONG_SOURCE;
	c->seen |= RF_CONN_SEEN_ACK_MASK;
	if (p->udp_length != 28)
		return RF_CNT_ACK_MALFORMED;
	syndrome = aeth[0];
	if (syndrome < 0x20)
		u = model_serial_add(u, 1);
	else if (syndrome >= 0x40 && (syndrome < 0x60 || syndrome > SYNDROME_LAST))
		return RF_CNT_ACK_MALFORMED;
	if (e->ports[port].out[MODEL_SRC_ACK].frames >= e->bounds.ack_depth)
		return RF_CNT_ACK_FULL;
	if (syndrome >= SYNDROME_INVALID && model_serial_less(u, c->una))
		return RF_CNT_ACK_BEYOND;
	if (model_serial_less(c->sent, u)) {
		if (e->mutant != RF_MODEL_MUTANT_BEYOND)
			return RF_CNT_ACK_BEYOND;
		u = c->sent;
	}
	c->msn = rf_get_be24(aeth + 1);
	if (syndrome != SYNDROME_SEQUENCE || !model_selective(e, cid))
		model_conn_una(e, cid, u);
	if (syndrome >= SYNDROME_INVALID)
		model_group_error(e, cid, RF_ERROR_NAK, u);
	model_send_ack(e, cid, port, f->bytes, p,
		       e->mutant == RF_MODEL_MUTANT_SHIFT ? p->psn : psn);
	return RF_CNT_ACK_FORWARDED;
}

/* Lines 39 to 39d. */
static unsigned int judge_cnp(struct rf_engine *e, unsigned int port, unsigned int cid,
			      struct model_frame *f, const struct model_parsed *p)
{
	const struct model_conn *c = &e->conns[cid];

	if (wrong_source(e, c, port == c->peer_port && p->src_ip == c->peer_ip, f))
		return RF_CNT_WRONG_SOURCE;
	if (c->mirror && p->udp_length != CNP_UDP_LENGTH)
		return RF_CNT_ACK_MALFORMED;
	if (c->silent) {
		e->groups[model_cid_group(cid)].marked = true;
		return RF_CNT_CNP_MARK;
	}
	if (!c->mirror)
		return pass(e, port, f);
	if (e->ports[port].out[MODEL_SRC_ACK].frames >= e->bounds.ack_depth)
		return RF_CNT_ACK_FULL;
	memset(f->bytes + p->hlen, 0, CNP_RESERVED);
	model_send_ack(e, cid, port, f->bytes, p, p->psn);
	return RF_CNT_CNP_BACK;
}

/* A connection outside this box counts as not ready. */
static bool cid_exists(const struct rf_engine *e, unsigned int cid)
{
	return model_cid_group(cid) < e->cfg.groups && model_cid_lane(cid) < e->cfg.lanes &&
	       model_cid_port(cid) < e->cfg.ports;
}

/* Lines 22 and 37: the packet is dropped; a packet with a correct ICRC may show life. */
static unsigned int judge_tombstone(struct rf_engine *e, unsigned int port, uint32_t number,
				    const struct model_frame *f, const struct model_parsed *p)
{
	if (model_icrc_ok(f->bytes, p))
		model_tomb_packet(e, port, number, p);
	return RF_CNT_TOMBSTONE;
}

/* Lines 21 and 21m. */
static const struct model_entry *entry_of(const struct rf_engine *e, const struct model_parsed *p)
{
	unsigned int role = p->opcode == OPCODE_ACK || p->opcode == OPCODE_CNP;
	const struct model_entry *entry;

	if (p->to_port)
		return model_lookup(e, MODEL_ROLE_MIRROR, p->src_ip, p->qpn);
	entry = model_lookup(e, role, p->dst_ip, p->qpn);
	if (!entry && e->mutant == RF_MODEL_MUTANT_LOOKUP)
		entry = model_lookup(e, MODEL_ROLE_MIRROR, p->src_ip, p->qpn);
	return entry;
}

/* Lines 20 to 23 and 37, 38, then by role. */
static void judge_roce(struct rf_engine *e, unsigned int port, struct model_frame *f,
		       const struct model_parsed *p)
{
	const struct model_entry *entry;
	unsigned int state, cid, counter;

	if (!(e->ctrl & RF_CTRL_ENABLE_MASK)) {
		model_count(e, port, RF_CNT_DISABLED);
		return;
	}
	entry = entry_of(e, p);
	if (!entry) {
		judge_unknown(e, port, f, p);
		return;
	}
	cid = entry->value & RF_HASH_VALUE_CID_MASK;
	state = (entry->value & RF_HASH_VALUE_STATE_MASK) >> RF_HASH_VALUE_STATE_LSB;
	if (state == RF_STATE_TOMBSTONE)
		counter = judge_tombstone(e, port, cid, f, p);
	else if (state == RF_STATE_JOINING && cid == RF_HASH_VALUE_CID_MASK && !p->to_port)
		counter = pass(e, port, f);
	else if (state == RF_STATE_JOINING || !cid_exists(e, cid))
		counter = RF_CNT_JOINING;
	else if (!model_icrc_ok(f->bytes, p) && e->mutant != RF_MODEL_MUTANT_ICRC)
		counter = RF_CNT_ICRC;
	else if (model_is_uplink(e, cid))
		counter = model_uplink_judge(e, port, cid, f, p);
	else if (p->opcode == OPCODE_CNP)
		counter = judge_cnp(e, port, cid, f, p);
	else if (p->opcode == OPCODE_ACK)
		counter = judge_ack(e, port, cid, f, p);
	else
		counter = judge_data(e, port, cid, f, p);
	model_count(e, port, counter);
}

void model_judge(struct rf_engine *e, unsigned int port, struct model_frame *f)
{
	struct model_parsed p;

	model_count(e, port, RF_CNT_RX_FRAMES);
	if (f->len > e->bounds.ingress_bytes) {
		model_count(e, port, RF_CNT_RX_OVERFLOW);
		return;
	}
	if (f->bad) {
		model_count(e, port, RF_CNT_RX_MAC_ERROR);
		return;
	}
	model_parse(e, port, f->bytes, f->len, &p);
	if (p.verdict == MODEL_DROP)
		model_count(e, port, p.cause);
	else if (p.verdict == MODEL_PUNT)
		punt(e, port, f);
	else
		judge_roce(e, port, f, &p);
}
