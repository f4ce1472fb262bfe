/* The form of a data packet: lines 27 to 29 of docs/box.md. */
#include "sim/model/arith.h"
#include "sim/model/internal.h"

#define OPCODE_LAST_IMM 0x03u
#define OPCODE_ONLY 0x04u
#define OPCODE_ONLY_IMM 0x05u
#define OPCODE_LAST_SEND 0x05u
#define OPCODE_LAST_DATA 0x0bu
#define OPCODE_READ 0x0cu
#define OPCODE_COMPARE_SWAP 0x13u
#define OPCODE_FETCH_ADD 0x14u

/* FIRST and MIDDLE; such a packet is always full. */
static bool is_full(uint8_t opcode)
{
	return opcode == 0x00 || opcode == 0x01 || opcode == 0x06 || opcode == 0x07;
}

/* Line 27: an opcode that is not allowed. */
static unsigned int opcode_error(const struct model_conn *c, uint8_t opcode)
{
	bool asks = opcode == OPCODE_READ || opcode == OPCODE_COMPARE_SWAP ||
		    opcode == OPCODE_FETCH_ADD;

	return c->mirror && opcode > OPCODE_LAST_DATA && !asks ? RF_ERROR_NONE : RF_ERROR_OPCODE;
}

/* Line 28. */
static bool length_wrong(const struct model_group *g, const struct model_parsed *p, int least)
{
	int mtu = 1 << MODEL_GROUP_FIELD(g, MTU_LOG2);

	return p->plen < least || p->plen % 4 || p->plen > mtu ||
	       (p->pad && p->pad > p->plen - 1) ||
	       (is_full(p->opcode) && (p->plen != mtu || p->pad));
}

static bool floating(unsigned int type)
{
	return type == RF_DTYPE_FP32 || type == RF_DTYPE_BF16 || type == RF_DTYPE_FP16 ||
	       type == RF_DTYPE_FP64;
}

static bool bitwise(unsigned int op)
{
	return op >= RF_OP_AND && op <= RF_OP_XOR;
}

/* Line 28b. */
static bool immediate_wrong(const struct model_parsed *p)
{
	unsigned int op = p->imm >> 8 & 15, type = p->imm >> 4 & 15;
	bool gives = p->imm & MODEL_IMM_GIVES, wants = p->imm & MODEL_IMM_WANTS;

	return op >= RF_MODEL_OPS || type >= RF_MODEL_TYPES || (bitwise(op) && floating(type)) ||
	       gives != (p->plen > 0) || (p->opcode == OPCODE_LAST_IMM && !(gives && wants));
}

unsigned int model_form_result(const struct rf_engine *e, unsigned int cid,
			       const struct model_parsed *p, uint32_t i, unsigned int *cause)
{
	bool stated = p->opcode == OPCODE_ONLY_IMM;

	if (!stated && p->opcode != OPCODE_ONLY) {
		*cause = RF_ERROR_OPCODE;
		return RF_CNT_OPCODE;
	}
	if (length_wrong(&e->groups[model_cid_group(cid)], p, stated ? 0 : 1)) {
		*cause = RF_ERROR_LENGTH;
		return RF_CNT_LENGTH;
	}
	if (stated && ((p->imm ^ i) & 15)) {
		*cause = RF_ERROR_ORDER;
		return RF_CNT_ORDER;
	}
	return RF_CNT_COUNT;
}

unsigned int model_form(const struct rf_engine *e, unsigned int cid, const struct model_parsed *p,
			uint32_t i, unsigned int *cause)
{
	const struct model_group *g = &e->groups[model_cid_group(cid)];
	bool directed = g->cfg & RF_GROUP_CFG_DIRECTED_MASK;
	bool stated = directed && model_has_immediate(p->opcode);
	unsigned int type = stated ? p->imm >> 4 & 15 : model_type(g);
	unsigned int op = stated ? p->imm >> 8 & 15 : model_op(g);

	if (p->opcode > (directed ? OPCODE_LAST_SEND : OPCODE_LAST_DATA)) {
		*cause = opcode_error(&e->conns[cid], p->opcode);
		return RF_CNT_OPCODE;
	}
	if (length_wrong(g, p, directed && p->opcode == OPCODE_ONLY_IMM ? 0 : 1)) {
		*cause = RF_ERROR_LENGTH;
		return RF_CNT_LENGTH;
	}
	if (stated && ((p->imm ^ i) & 15) && e->mutant != RF_MODEL_MUTANT_ORDER) {
		*cause = RF_ERROR_ORDER;
		return RF_CNT_ORDER;
	}
	if (stated && immediate_wrong(p)) {
		*cause = RF_ERROR_IMMEDIATE;
		return RF_CNT_IMMEDIATE;
	}
	if (op != RF_OP_COPY && (unsigned int)(p->plen - p->pad) % arith_element_size(type)) {
		*cause = RF_ERROR_ELEMENT;
		return RF_CNT_ELEMENT;
	}
	return RF_CNT_COUNT;
}
