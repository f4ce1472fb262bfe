/*
 * What docs/box.md says of a frame without the ledger: lines 20 to 29 and 37 to 43, read from the page and not from the RTL.
 */
#ifndef RF_TESTS_JUDGE_REF_H
#define RF_TESTS_JUDGE_REF_H

#include "rf_regs.h"

namespace judge_ref {

enum { DROP, PUNT, FOREIGN, WINDOW, EVENT };

struct verdict {
	unsigned act, why, fault;
	bool seen;
};

struct frame {
	unsigned kind, cause, opcode, pad, udp_len, syndrome, state, mtu_log2, dtype;
	int plen;
	bool icrc_ok, hit, good, data_here, ack_here, live, error, enable, hold;
};

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
	return { DROP, why, RF_ERROR_NONE, false };
}

static inline verdict judge_ack(const frame &f)
{
	verdict v = { EVENT, 0, RF_ERROR_NONE, true };

	if (!f.ack_here)
		return drop(RF_CNT_WRONG_SOURCE);
	if (f.udp_len != 28 || !known_syndrome(f.syndrome)) {
		v.act = DROP;
		v.why = RF_CNT_ACK_MALFORMED;
	}
	return v;
}

static inline verdict judge_data(const frame &f)
{
	const int mtu = 1 << f.mtu_log2, element = f.dtype == RF_DTYPE_BF16 || f.dtype == RF_DTYPE_FP16 ? 2 : 4;
	const bool whole = f.opcode == 0x00 || f.opcode == 0x01 || f.opcode == 0x06 || f.opcode == 0x07;

	if (!f.data_here)
		return drop(RF_CNT_WRONG_SOURCE);
	if (!f.live)
		return drop(RF_CNT_JOINING);
	if (f.error)
		return drop(RF_CNT_GROUP_FAILED);
	if (f.opcode > 0x0b)
		return { DROP, RF_CNT_OPCODE, RF_ERROR_OPCODE, true };
	if (f.plen <= 0 || f.plen % 4 != 0 || f.plen > mtu || (int)f.pad > f.plen - 1 ||
	    (whole && (f.plen != mtu || f.pad != 0)))
		return { DROP, RF_CNT_LENGTH, RF_ERROR_LENGTH, true };
	if ((f.plen - (int)f.pad) % element != 0)
		return { DROP, RF_CNT_ELEMENT, RF_ERROR_ELEMENT, true };
	return { WINDOW, 0, RF_ERROR_NONE, true };
}

static inline verdict judge(const frame &f)
{
	if (f.kind == 0)
		return drop(f.cause);
	if (f.kind == 1)
		return { PUNT, 0, RF_ERROR_NONE, false };
	if (!f.enable)
		return drop(RF_CNT_DISABLED);
	if (!f.hit || f.opcode == 0x81)
		return f.hold && f.opcode <= 0x0b ? drop(RF_CNT_HOLD) : verdict{ FOREIGN, 0, RF_ERROR_NONE, false };
	if (f.state == RF_STATE_TOMBSTONE)
		return drop(RF_CNT_TOMBSTONE);
	if (f.state == RF_STATE_JOINING || !f.good)
		return drop(RF_CNT_JOINING);
	if (!f.icrc_ok)
		return drop(RF_CNT_ICRC);
	return f.opcode == 0x11 ? judge_ack(f) : judge_data(f);
}

} /* namespace judge_ref */

#endif
