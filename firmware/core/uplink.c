/*
 * Groups with an uplink: the record of the membership of this box at its parent. docs/firmware.md,
 * "Uplinks". What is sent: uplink_send.c; what comes, and time: uplink_life.c.
 */
#include <string.h>

#include "firmware/core/internal.h"
#include "proto/rf_bytes.h"
#include "proto/rf_siphash.h"

/* Offsets in the body of JOIN, for the detail of FIELD. */
#define AT_ABOVE 44u
#define AT_CHAIN 48u
#define CHAIN_BYTES 12u

#define DRAWS 32u /* the same within this box */

/* ---- the chain of a JOIN ---- */

static bool entry_ok(const struct rf_fw *fw, const struct rf_ctl_join *j, unsigned int i)
{
	const struct rf_ctl_uplink *u = &j->up[i];

	return u->ip != 0 && u->ranks > 0 && u->ranks <= RF_FW_RANKS_MAX && u->rank < u->ranks &&
	       (u->port < (i == 0 ? fw->ports : RF_CTL_PORTS_MAX) || u->port == RF_CTL_NO_PORT);
}

/* Whether entry i is this box, or a box that the chain has already. */
static bool loops(const struct rf_fw *fw, const struct rf_ctl_join *j, unsigned int i)
{
	if (rf_fw_address_any(fw, j->up[i].ip))
		return true;
	for (unsigned int k = 0; k < i; k++)
		if (j->up[k].ip == j->up[i].ip)
			return true;
	return false;
}

enum rf_ctl_reason rf_fw_uplink_judge(const struct rf_fw *fw, const struct rf_ctl_join *j,
				      uint32_t *detail)
{
	*detail = 0;
	if (!(j->flags & (RF_CTL_J_UPLINK | RF_CTL_J_LEAF)))
		return RF_CTL_R_NONE;
	if (!fw->uplinks || !(j->flags & RF_CTL_J_DIRECTED))
		return RF_CTL_R_UPLINK_UNSUPPORTED;
	if (!(j->flags & RF_CTL_J_UPLINK))
		return RF_CTL_R_NONE;
	*detail = AT_ABOVE;
	if (j->above == 0)
		return RF_CTL_R_FIELD;
	*detail = RF_CTL_ABOVE_MAX + 1u;
	if (j->above > RF_CTL_ABOVE_MAX)
		return RF_CTL_R_UPLINK_DEPTH;
	for (unsigned int i = 0; i < j->above; i++) {
		*detail = AT_CHAIN + CHAIN_BYTES * i;
		if (!entry_ok(fw, j, i))
			return RF_CTL_R_FIELD;
		*detail = j->up[i].ip;
		if (loops(fw, j, i))
			return RF_CTL_R_UPLINK_LOOP;
	}
	*detail = 0;
	return RF_CTL_R_NONE;
}

bool rf_fw_uplink_same(const struct rf_fw *fw, const struct rf_fw_group *g,
		       const struct rf_ctl_join *j)
{
	const struct rf_fw_uplink *u;

	if ((g->flags ^ j->flags) & RF_CTL_J_UPLINK)
		return false;
	/* That of a group that has ended may be gone. */
	if (g->uplink == RF_FW_NONE)
		return true;
	u = &fw->uplink[g->uplink];
	if (u->above != j->above)
		return false;
	for (unsigned int i = 0; i < u->above; i++)
		if (u->chain[i].ip != j->up[i].ip || u->chain[i].rank != j->up[i].rank ||
		    u->chain[i].ranks != j->up[i].ranks || u->chain[i].port != j->up[i].port)
			return false;
	return true;
}

/* ---- the record ---- */

uint8_t rf_fw_uplink_spare(const struct rf_fw *fw)
{
	for (unsigned int i = 0; i < RF_FW_UPLINKS; i++)
		if (fw->uplink[i].state == RF_FW_UP_FREE)
			return (uint8_t)i;
	return RF_FW_NONE;
}

void rf_fw_uplink_make(struct rf_fw *fw, const struct rf_fw_group *g, const struct rf_ctl_join *j)
{
	struct rf_fw_uplink *u = &fw->uplink[g->uplink];

	memset(u, 0, sizeof(*u));
	u->state = RF_FW_UP_IDLE;
	u->above = j->above;
	for (unsigned int i = 0; i < j->above; i++) {
		u->chain[i].ip = j->up[i].ip;
		u->chain[i].rank = (uint8_t)j->up[i].rank;
		u->chain[i].ranks = (uint8_t)j->up[i].ranks;
		u->chain[i].port = j->up[i].port;
	}
}

void rf_fw_uplink_free(struct rf_fw *fw, struct rf_fw_group *g)
{
	struct rf_fw_uplink *u = rf_fw_uplink_of(fw, g);

	if (!u)
		return;
	u->state = RF_FW_UP_FREE;
	g->uplink = RF_FW_NONE;
}

bool rf_fw_uplink_has(const struct rf_fw *fw, uint32_t ip, uint32_t qpn)
{
	for (unsigned int i = 0; i < RF_FW_UPLINKS; i++) {
		const struct rf_fw_uplink *u = &fw->uplink[i];

		if (u->state != RF_FW_UP_FREE && u->port_ip != 0 && u->port_ip == ip &&
		    u->qpn == qpn)
			return true;
	}
	return false;
}

enum rf_ctl_reason rf_fw_uplink_port(struct rf_fw *fw, const struct rf_fw_group *g,
				     uint32_t *detail)
{
	struct rf_fw_uplink *u = rf_fw_uplink_of(fw, g);
	unsigned int wish = u->chain[0].port;
	unsigned int allowed = wish == RF_CTL_NO_PORT ? (1u << fw->ports) - 1u : 1u << wish;
	unsigned int port = rf_fw_address_choose(fw, g, allowed);

	*detail = rf_fw_address_claims(fw) | rf_fw_address_probes(fw) << 8;
	u->port = port == RF_FW_NONE ? 0u : (uint8_t)port;
	return port == RF_FW_NONE ? RF_CTL_R_NO_ADDRESS : RF_CTL_R_NONE;
}

/* ---- joining ---- */

/* A number that nobody can foresee. Its input differs in length from that of a nonce. */
static uint64_t draw(struct rf_fw *fw)
{
	uint8_t in[8];

	rf_put_be32(in, fw->epoch);
	rf_put_be32(in + 4, ++fw->drawn);
	return rf_siphash(fw->cfg.salt, in, sizeof(in));
}

/* Whether a connection of this box has the number, at whatever address. */
static bool qpn_used(const struct rf_fw *fw, uint32_t qpn)
{
	for (unsigned int i = 0; i < 2u << fw->hash_bits; i++)
		if (rf_fw_state(&fw->table[i]) != RF_STATE_EMPTY &&
		    (fw->table[i].key & RF_HASH_KEY_QPN_MASK) == qpn)
			return true;
	for (unsigned int i = 0; i < RF_FW_UPLINKS; i++)
		if (fw->uplink[i].state != RF_FW_UP_FREE && fw->uplink[i].qpn == qpn)
			return true;
	return false;
}

static uint32_t draw_qpn(struct rf_fw *fw)
{
	uint32_t qpn = 0;

	for (unsigned int i = 0; i < DRAWS; i++) {
		qpn = (uint32_t)draw(fw) & RF_FW_MASK24;
		/* 0 and 1 are no numbers of reliable connections. */
		if (qpn > 1u && !qpn_used(fw, qpn))
			break;
	}
	return qpn;
}

void rf_fw_uplink_soon(struct rf_fw *fw, struct rf_fw_uplink *u)
{
	u->due_ms = fw->now_ms;
	u->interval_ms = RF_FW_UPLINK_RETRY_MS;
	fw->uplink_ms = fw->now_ms;
}

/* A new membership, with a new queue pair. */
void rf_fw_uplink_ask(struct rf_fw *fw, struct rf_fw_uplink *u)
{
	u->state = RF_FW_UP_ASK;
	u->port_ip = 0;
	u->have_mac = u->answered = u->refusals = 0;
	u->qpn = 0;
	u->qpn = draw_qpn(fw);
	u->start = (uint32_t)draw(fw) & RF_FW_MASK24;
	u->token = draw(fw) | 1u;
	u->seen = u->seq;
	u->heard_ms = fw->now_ms;
	rf_fw_uplink_soon(fw, u);
}

void rf_fw_uplink_begin(struct rf_fw *fw, struct rf_fw_group *g)
{
	struct rf_fw_uplink *u = rf_fw_uplink_of(fw, g);
	uint32_t shortest = RF_CTL_LEASE_NONE;

	for (const struct rf_fw_member *m = rf_fw_first(fw, g); m; m = rf_fw_next(fw, m))
		if (m->lease_ms < shortest)
			shortest = m->lease_ms;
	if (shortest != RF_CTL_LEASE_NONE) {
		shortest /= 2u;
		if (shortest < RF_CTL_TIME_MIN_MS)
			shortest = RF_CTL_TIME_MIN_MS;
	}
	u->lease_ms = shortest;
	u->box_ip = u->chain[0].ip;
	rf_fw_uplink_ask(fw, u);
}

/* ---- the end ---- */

/* What a group that ends for a reason of the parent, or of a box beyond it, tells its ranks. */
void rf_fw_uplink_blame(struct rf_fw *fw, struct rf_fw_group *g, const struct rf_ctl_failed *f)
{
	const struct rf_fw_uplink *u = rf_fw_uplink_of(fw, g);

	g->fail_other = f->other;
	if (g->fail_other.box_ip == 0)
		g->fail_other.box_ip = u->chain[0].ip;
	if (f->reason == RF_CTL_R_MISSING_RANKS)
		memcpy(g->missing, f->missing, sizeof(g->missing));
}

void rf_fw_uplink_fail(struct rf_fw *fw, const struct rf_fw_group *g)
{
	struct rf_fw_uplink *u = rf_fw_uplink_of(fw, g);

	if (!u || u->state == RF_FW_UP_OVER)
		return;
	/* Without the parent's MAC nothing has been sent to it. */
	u->state = u->have_mac && u->state != RF_FW_UP_IDLE ? RF_FW_UP_ABORT : RF_FW_UP_OVER;
	u->turns = 0;
	rf_fw_uplink_soon(fw, u);
}

bool rf_fw_uplink_leave(struct rf_fw *fw, struct rf_fw_group *g)
{
	struct rf_fw_uplink *u = rf_fw_uplink_of(fw, g);

	if (!u || u->state == RF_FW_UP_OVER)
		return false;
	if (u->state == RF_FW_UP_READY) {
		u->state = RF_FW_UP_LEAVE;
		u->heard_ms = fw->now_ms;
		rf_fw_uplink_soon(fw, u);
	}
	return true;
}

bool rf_fw_uplink_late(struct rf_fw *fw, struct rf_fw_group *g, struct rf_ctl_failed *f)
{
	const struct rf_fw_uplink *u = rf_fw_uplink_of(fw, g);

	if (!u || u->state == RF_FW_UP_IDLE)
		return false;
	*f = (struct rf_ctl_failed){.reason = u->answered ? RF_CTL_R_MISSING_RANKS
							  : RF_CTL_R_UPLINK_SILENT,
				    .rank = RF_CTL_NO_RANK,
				    .other.rank = RF_CTL_NO_RANK};
	if (u->answered) {
		for (unsigned int r = RF_CTL_RANKS_MAX; r-- > 0;)
			if (rf_ctl_mask_get(u->missing, r))
				f->rank = (uint16_t)r;
		memcpy(f->missing, u->missing, sizeof(f->missing));
		f->other.box_ip = u->box_ip;
	}
	rf_fw_uplink_blame(fw, g, f);
	return true;
}
