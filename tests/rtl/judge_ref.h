/*
 * Reference for a frame, written from docs/box.md and not from the RTL: the checks without the
 * ledger (lines 20 to 29, 37 to 43), of its index (lines 30 to 36), of the NAKs that the box makes.
 */
#ifndef RF_TESTS_JUDGE_REF_H
#define RF_TESTS_JUDGE_REF_H

#include "rf_regs.h"

namespace judge_ref
{

enum { DROP, PUNT, FOREIGN, WINDOW, EVENT, FORM, RETURN, MARK };

struct verdict {
	unsigned act, why, fault;
	bool seen;
	/* A held frame; a sign of life on a tombstone, if port and address are right. */
	bool held = false, tomb = false;

	verdict() : verdict(0, 0, 0, false)
	{
	}
	verdict(unsigned a, unsigned w, unsigned f, bool s) : act(a), why(w), fault(f), seen(s)
	{
	}
};

struct frame {
	unsigned kind, cause, opcode, pad, udp_len, syndrome, state, mtu_log2, dtype;
	int plen;
	bool icrc_ok, hit, good, foreign, data_here, ack_here, live, error, enable, hold;
	/* For the address of the port; a mirror connection, whose rank does not give. */
	bool to_port = false, mirror = false, silent = false;
	/* Its group is directed; the operation of the group; the immediate; the index. */
	bool directed = false;
	unsigned op = 0, imm = 0, index = 0;
};

/* Bytes of an element of a type. */
static inline int element_size(unsigned type)
{
	switch (type) {
	case RF_DTYPE_BF16:
	case RF_DTYPE_FP16:
		return 2;
	case RF_DTYPE_INT64:
	case RF_DTYPE_UINT64:
	case RF_DTYPE_FP64:
		return 8;
	case RF_DTYPE_INT8:
	case RF_DTYPE_UINT8:
		return 1;
	default:
		return 4;
	}
}

/* Line 28b. `types`: bit t for a type that is built in. */
static inline bool immediate_wrong(const frame &f, unsigned types)
{
	const unsigned op = f.imm >> 8 & 15, type = f.imm >> 4 & 15;
	const bool wants = f.imm >> 15 & 1, gives = f.imm >> 14 & 1;
	const bool floats = type == RF_DTYPE_FP32 || type == RF_DTYPE_BF16 ||
			    type == RF_DTYPE_FP16 || type == RF_DTYPE_FP64;

	if (op > RF_OP_COPY || !(types >> type & 1))
		return true;
	if (floats && (op == RF_OP_AND || op == RF_OP_OR || op == RF_OP_XOR))
		return true;
	return gives != (f.plen != 0) || (f.opcode == 3 && !(gives && wants));
}

static inline bool ack_syndrome(unsigned s)
{
	return s <= 0x1f;
}

static inline bool known_syndrome(unsigned s)
{
	return s <= 0x3f || (s >= 0x60 && s <= 0x63);
}

static inline verdict drop(unsigned why)
{
	return {DROP, why, RF_ERROR_NONE, false};
}

static inline verdict judge_ack(const frame &f)
{
	verdict v = {EVENT, 0, RF_ERROR_NONE, true};

	if (!f.ack_here)
		return drop(RF_CNT_WRONG_SOURCE);
	if (f.udp_len != 28 || !known_syndrome(f.syndrome)) {
		v.act = DROP;
		v.why = RF_CNT_ACK_MALFORMED;
	}
	return v;
}

/* Lines 39 to 39d. */
static inline verdict judge_cnp(const frame &f)
{
	if (!f.ack_here)
		return drop(RF_CNT_WRONG_SOURCE);
	if (f.mirror && f.udp_len != 40)
		return drop(RF_CNT_ACK_MALFORMED);
	if (f.silent)
		return {MARK, RF_CNT_CNP_MARK, RF_ERROR_NONE, false};
	return {f.mirror ? RETURN : FOREIGN, 0, RF_ERROR_NONE, false};
}

static inline verdict judge_data(const frame &f, unsigned types)
{
	const int mtu = 1 << f.mtu_log2, least = f.directed && f.opcode == 5 ? 0 : 1;
	const bool stated = f.directed && (f.opcode == 3 || f.opcode == 5);
	const unsigned op = stated ? f.imm >> 8 & 15 : f.op;
	const int element = element_size(stated ? f.imm >> 4 & 15 : f.dtype);
	const bool whole =
		f.opcode == 0x00 || f.opcode == 0x01 || f.opcode == 0x06 || f.opcode == 0x07;

	if (!f.data_here)
		return drop(RF_CNT_WRONG_SOURCE);
	if (!f.live)
		return drop(RF_CNT_JOINING);
	if (f.error)
		return drop(RF_CNT_GROUP_FAILED);
	if (f.opcode > (f.directed ? 0x05u : 0x0bu)) {
		/* Not READ, not atomic, no opcode of other groups. */
		const bool ignored = f.opcode > 0x0c && f.opcode != 0x13 && f.opcode != 0x14;

		return {FORM, RF_CNT_OPCODE, f.mirror && ignored ? RF_ERROR_NONE : RF_ERROR_OPCODE,
			true};
	}
	if (f.plen < least || f.plen % 4 != 0 || f.plen > mtu ||
	    (f.pad != 0 && (int)f.pad > f.plen - 1) || (whole && (f.plen != mtu || f.pad != 0)))
		return {FORM, RF_CNT_LENGTH, RF_ERROR_LENGTH, true};
	if (stated && ((f.imm ^ f.index) & 15) != 0)
		return {FORM, RF_CNT_ORDER, RF_ERROR_ORDER, true};
	if (stated && immediate_wrong(f, types))
		return {FORM, RF_CNT_IMMEDIATE, RF_ERROR_IMMEDIATE, true};
	if (op != RF_OP_COPY && (f.plen - (int)f.pad) % element != 0)
		return {FORM, RF_CNT_ELEMENT, RF_ERROR_ELEMENT, true};
	return {WINDOW, 0, RF_ERROR_NONE, true};
}

static inline verdict judge(const frame &f, unsigned types = 0x3ff)
{
	if (f.kind == 0)
		return drop(f.cause);
	if (f.kind == 1)
		return {PUNT, 0, RF_ERROR_NONE, false};
	if (!f.enable)
		return drop(RF_CNT_DISABLED);
	if (!f.hit) {
		if (f.to_port)
			return drop(RF_CNT_UNKNOWN);
		if (!f.hold || f.opcode > 0x0b)
			return {FOREIGN, 0, RF_ERROR_NONE, false};
		verdict v = drop(RF_CNT_HOLD);
		v.held = f.icrc_ok;
		return v;
	}
	if (f.state == RF_STATE_TOMBSTONE) {
		verdict v = drop(RF_CNT_TOMBSTONE);
		v.tomb = f.icrc_ok;
		return v;
	}
	if (f.state == RF_STATE_JOINING && f.foreign && !f.to_port)
		return {FOREIGN, 0, RF_ERROR_NONE, false};
	if (f.state == RF_STATE_JOINING || !f.good)
		return drop(RF_CNT_JOINING);
	if (!f.icrc_ok)
		return drop(RF_CNT_ICRC);
	if (f.opcode == 0x81)
		return judge_cnp(f);
	return f.opcode == 0x11 ? judge_ack(f) : judge_data(f, types);
}

enum { MASK24 = 0xffffff };

/* a < c as serial numbers. */
static inline bool less(unsigned a, unsigned c)
{
	const unsigned d = (c - a) & MASK24;

	return d != 0 && d < 1u << 23;
}

/* The state of the box per connection for NAKs, as INIT leaves it. */
struct nak_state {
	unsigned last = MASK24, mark = 0;
	bool asked = false, twice = false;
};

/* Lines 33, 34, 36; the others of 31 to 35. */
enum place { ELSEWHERE, STORED, TAKEN, BEYOND };

struct packet {
	unsigned index, next, code, eighth;
	bool full, selective, silent, room;
	place at;
};

struct answer {
	bool made;
	unsigned syndrome, named;
};

/* "NAKs that the box makes": for a packet of lines 31 to 36. `named` is for selective
 * groups. */
static inline answer make_nak(nak_state &s, const packet &p)
{
	const bool back = !less(s.last, p.index), was = s.asked;
	const unsigned last = s.last, hole = (last + 1) & MASK24;
	answer a = {false, 0, 0};

	if (!p.selective || !back)
		s.last = p.index;
	if (!p.selective && back)
		s.asked = false;
	if (!p.silent && p.room && p.at == BEYOND && !p.full) {
		if (p.selective) {
			const bool skipped = less(hole, p.index);

			a.made = skipped || !s.asked || back ||
				 !less(p.index, (s.mark + p.eighth) & MASK24);
			a.syndrome = 0x60;
			a.named = skipped ? hole : p.next;
		} else if (!s.asked) {
			a = {true, s.twice ? 0x21u : 0x60u, 0};
			s.twice = true;
		}
	} else if (!p.silent && p.room && p.at == STORED && !p.selective) {
		a.made = p.code != 0 && back && less(last, p.next) && !was;
		a.syndrome = 0x20 + p.code;
	}
	if (!p.selective && p.at == TAKEN)
		s.asked = false;
	if (p.selective && a.made)
		s.mark = s.last;
	s.asked |= a.made;
	return a;
}

/* A packet at the window of its connection; limit is tail + S. */
struct indexed {
	unsigned index, next, sent, una, limit, code, eighth;
	bool far, open, transparent, selective, present, behalf_room, repeat_room, strict;
};

struct fate {
	unsigned why;
	bool accept, behalf, repeat, early, before;
	answer nak;
};

/* A malformed packet ends its group: lines 27 to 29. */
static inline bool storable(const indexed &x)
{
	return !less(x.index, x.next) && less(x.index, x.limit) && !(x.selective && x.present);
}

/* Lines 30 to 36. */
static inline fate at_window(nak_state &s, const indexed &x)
{
	const bool inside = less(x.index, x.limit);
	fate f = {0, false, false, false, false, false, {false, 0, 0}};
	packet p = {x.index,
		    x.next,
		    x.code,
		    x.eighth,
		    x.next == x.limit,
		    x.selective,
		    x.open || x.transparent,
		    x.behalf_room,
		    ELSEWHERE};

	if (less(x.index, x.una) && x.index >= 1u << 23 && !x.far) {
		f.why = RF_CNT_BEFORE_START;
		f.early = true;
		if (x.strict && !x.selective && x.next == 0) {
			f.before = x.index == s.last || x.index == ((s.last + 1) & MASK24);
			s.last = x.index;
		}
		return f;
	}
	if (less(x.index, x.una)) {
		f.behalf = !x.open && x.behalf_room;
		f.why = x.open ? RF_CNT_PENDING : f.behalf ? RF_CNT_BEHALF : RF_CNT_BEHALF_FULL;
	} else if (less(x.index, x.sent)) {
		f.repeat = !x.open && x.repeat_room;
		f.why = x.open ? RF_CNT_PENDING : f.repeat ? RF_CNT_REPEAT : RF_CNT_REPEAT_FULL;
	} else if (less(x.index, x.next)) {
		p.at = STORED;
	} else if (x.index == x.next && inside && x.selective && x.present) {
		/* next is about to advance over it. */
		f.why = RF_CNT_PENDING;
	} else if (x.index == x.next && inside) {
		p.at = TAKEN;
		f.why = RF_CNT_ACCEPTED;
		f.accept = true;
	} else if (x.index == x.next) {
		f.why = RF_CNT_NO_ROOM;
	} else {
		p.at = BEYOND;
		f.accept = x.selective && inside && !x.present;
	}
	f.nak = make_nak(s, p);
	if (p.at == STORED)
		f.why = f.nak.made ? RF_CNT_PENDING_RNR : RF_CNT_PENDING;
	else if (p.at == BEYOND && f.accept)
		f.why = f.nak.made ? RF_CNT_AHEAD_NAK : RF_CNT_AHEAD;
	else if (p.at == BEYOND && x.selective && inside)
		f.why = f.nak.made ? RF_CNT_PENDING_NAK : RF_CNT_PENDING;
	else if (p.at == BEYOND)
		f.why = !f.nak.made              ? RF_CNT_GAP
			: f.nak.syndrome == 0x60 ? RF_CNT_GAP_NAK
						 : RF_CNT_GAP_RNR;
	return f;
}

} /* namespace judge_ref */

#endif
