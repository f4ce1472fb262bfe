/*
 * Groups with an uplink: the membership of this box at its parent. docs/firmware.md, "Uplinks".
 * Frames are in uplink_net.c.
 */
#include <string.h>

#include "firmware/core/internal.h"
#include "proto/rf_bytes.h"
#include "proto/rf_siphash.h"

/* Offsets in the body of JOIN, for the detail of FIELD. */
#define AT_ABOVE 44u
#define AT_CHAIN 48u
#define CHAIN_BYTES 12u

#define RETRY_MS 20u     /* first repetition; doubled each time ... */
#define LONGEST_MS 1000u /* ... up to this or a quarter of the lease */
#define ANSWER_MS 5000u  /* a parent without a lease, or not joined yet, must answer within this */
#define REFUSALS 3u      /* unsigned refusals in a row that are believed */
#define TURNS 8u         /* queue pairs drawn until one is not taken */
#define DRAWS 32u        /* the same within this box */
#define LAST_WORDS 3u    /* ABORTs sent until one is answered */

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
	unsigned int port = rf_fw_address_choose(fw, g, allowed, 0);

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

static void soon(struct rf_fw *fw, struct rf_fw_uplink *u)
{
	u->due_ms = fw->now_ms;
	u->interval_ms = RETRY_MS;
	fw->uplink_ms = fw->now_ms;
}

/* A new membership, with a new queue pair. */
static void ask(struct rf_fw *fw, struct rf_fw_uplink *u)
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
	soon(fw, u);
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
	ask(fw, u);
}

/* ---- the end ---- */

/* Ends the group for a reason of the parent, or of a box beyond it. */
static void fail_above(struct rf_fw *fw, struct rf_fw_group *g, const struct rf_ctl_failed *f)
{
	struct rf_fw_uplink *u = rf_fw_uplink_of(fw, g);

	g->fail_other = f->other;
	if (g->fail_other.box_ip == 0)
		g->fail_other.box_ip = u->chain[0].ip;
	if (f->reason == RF_CTL_R_MISSING_RANKS)
		memcpy(g->missing, f->missing, sizeof(g->missing));
	rf_fw_group_fail(fw, g, (enum rf_ctl_reason)f->reason, f->rank, f->index, f->detail);
}

static void fail_silent(struct rf_fw *fw, struct rf_fw_group *g, uint32_t ms)
{
	const struct rf_ctl_failed f = {.reason = RF_CTL_R_UPLINK_SILENT,
					.rank = RF_CTL_NO_RANK,
					.detail = ms,
					.other.rank = RF_CTL_NO_RANK};

	fail_above(fw, g, &f);
}

void rf_fw_uplink_fail(struct rf_fw *fw, const struct rf_fw_group *g)
{
	struct rf_fw_uplink *u = rf_fw_uplink_of(fw, g);

	if (!u || u->state == RF_FW_UP_OVER)
		return;
	/* Without the parent's MAC nothing has been sent to it. */
	u->state = u->have_mac && u->state != RF_FW_UP_IDLE ? RF_FW_UP_ABORT : RF_FW_UP_OVER;
	u->turns = 0;
	soon(fw, u);
}

bool rf_fw_uplink_leave(struct rf_fw *fw, struct rf_fw_group *g)
{
	struct rf_fw_uplink *u = rf_fw_uplink_of(fw, g);

	if (!u || u->state == RF_FW_UP_OVER)
		return false;
	if (u->state == RF_FW_UP_READY) {
		u->state = RF_FW_UP_LEAVE;
		u->heard_ms = fw->now_ms;
		soon(fw, u);
	}
	return true;
}

bool rf_fw_uplink_late(struct rf_fw *fw, struct rf_fw_group *g)
{
	struct rf_fw_uplink *u = rf_fw_uplink_of(fw, g);
	struct rf_ctl_failed f = {.reason = RF_CTL_R_MISSING_RANKS,
				  .rank = RF_CTL_NO_RANK,
				  .other.rank = RF_CTL_NO_RANK};

	if (!u || u->state == RF_FW_UP_IDLE)
		return false;
	if (!u->answered) {
		fail_silent(fw, g, 0);
		return true;
	}
	for (unsigned int r = RF_CTL_RANKS_MAX; r-- > 0;)
		if (rf_ctl_mask_get(u->missing, r))
			f.rank = (uint16_t)r;
	memcpy(f.missing, u->missing, sizeof(f.missing));
	f.other.box_ip = u->box_ip;
	fail_above(fw, g, &f);
	return true;
}

/* The membership ends without the parent having to hear of it. */
static void over(struct rf_fw *fw, struct rf_fw_group *g)
{
	struct rf_fw_uplink *u = rf_fw_uplink_of(fw, g);
	bool leaves = u->state == RF_FW_UP_LEAVE;

	u->state = RF_FW_UP_OVER;
	fw->uplink_ms = fw->now_ms;
	if (leaves)
		rf_fw_group_end(fw, g);
}

/* ---- answers ---- */

static enum rf_ctl_reason reason_above(unsigned int reason)
{
	switch (reason) {
	case RF_CTL_R_VERSION:
		return RF_CTL_R_UPLINK_VERSION;
	case RF_CTL_R_MTU_DIFFERS:
	case RF_CTL_R_MTU_UNSUPPORTED:
		return RF_CTL_R_UPLINK_MTU;
	case RF_CTL_R_TYPES_DIFFER:
	case RF_CTL_R_TYPE_UNSUPPORTED:
		return RF_CTL_R_UPLINK_TYPE;
	case RF_CTL_R_NO_SLOTS:
		return RF_CTL_R_UPLINK_SLOTS;
	case RF_CTL_R_QUOTA:
	case RF_CTL_R_QUOTA_RANKS:
	case RF_CTL_R_QUOTA_ENTRIES:
	case RF_CTL_R_QUOTA_BYTES:
		return RF_CTL_R_UPLINK_QUOTA;
	default:
		return (enum rf_ctl_reason)reason;
	}
}

/* The parent has refused the JOIN, or the group has failed there. */
static void refused(struct rf_fw *fw, struct rf_fw_group *g, struct rf_ctl_failed *f)
{
	struct rf_fw_uplink *u = rf_fw_uplink_of(fw, g);
	bool joining = u->state == RF_FW_UP_ASK || u->state == RF_FW_UP_JOIN;

	if (joining && f->reason == RF_CTL_R_CONNECTION_TAKEN && u->turns < TURNS) {
		u->turns++;
		ask(fw, u);
		return;
	}
	if (joining && f->other.box_ip == 0)
		f->reason = (uint8_t)reason_above(f->reason);
	u->state = RF_FW_UP_OVER;
	fail_above(fw, g, f);
	fw->uplink_ms = fw->now_ms;
}

/* The parent has named the address of its port. */
static void named(struct rf_fw *fw, struct rf_fw_uplink *u, uint32_t ip)
{
	if (ip == 0 || ip == u->port_ip)
		return;
	u->port_ip = ip;
	u->have_mac = 0;
	u->state = RF_FW_UP_JOIN;
	soon(fw, u);
}

static void on_waiting(struct rf_fw *fw, struct rf_fw_uplink *u, const struct rf_ctl_waiting *w)
{
	u->answered = 1;
	memcpy(u->missing, w->missing, sizeof(u->missing));
	u->box_ip = w->box_ip ? w->box_ip : u->chain[0].ip;
	named(fw, u, w->port_ip);
}

static uint32_t quarter(const struct rf_fw_uplink *u)
{
	return u->lease_ms / 4u < LONGEST_MS ? u->lease_ms / 4u : LONGEST_MS;
}

/* Nothing more has to be sent before the next sign of life is due. */
static void settled(struct rf_fw *fw, struct rf_fw_uplink *u)
{
	u->due_ms = fw->now_ms + quarter(u);
	u->interval_ms = RETRY_MS;
	fw->uplink_ms = fw->now_ms;
}

static void on_ready(struct rf_fw *fw, struct rf_fw_group *g, const struct rf_ctl_ready *r)
{
	struct rf_fw_uplink *u = rf_fw_uplink_of(fw, g);

	if (r->ranks != u->chain[0].ranks || r->slots_log2 < 4 || r->slots_log2 > 15 ||
	    u->state != RF_FW_UP_JOIN || !u->have_mac || r->port_ip != u->port_ip)
		return;
	u->slots_log2 = r->slots_log2;
	u->state = RF_FW_UP_READY;
	settled(fw, u);
	rf_fw_join_ready(fw, g);
}

static void fail_ended(struct rf_fw *fw, struct rf_fw_group *g, unsigned int reason)
{
	struct rf_ctl_failed f = {
		.reason = (uint8_t)reason, .rank = RF_CTL_NO_RANK, .other.rank = RF_CTL_NO_RANK};

	refused(fw, g, &f);
}

static void on_join(struct rf_fw *fw, struct rf_fw_group *g, const struct rf_ctl_header *h)
{
	struct rf_fw_uplink *u = rf_fw_uplink_of(fw, g);

	u->epoch = h->epoch;
	switch (fw->reply.result) {
	case RF_CTL_WAITING:
		on_waiting(fw, u, &fw->reply.u.waiting);
		break;
	case RF_CTL_READY:
		on_ready(fw, g, &fw->reply.u.ready);
		break;
	case RF_CTL_FAILED:
		refused(fw, g, &fw->reply.u.failed);
		break;
	default:
		fail_ended(fw, g, RF_CTL_R_ENDED);
		break;
	}
}

/* The answer to a sign of life. */
static void on_page(struct rf_fw *fw, struct rf_fw_group *g)
{
	const struct rf_ctl_group_page *p = &fw->reply.u.group;
	struct rf_ctl_failed f = {.reason = p->reason,
				  .rank = p->fail_rank,
				  .index = p->fail_index,
				  .detail = p->fail_detail,
				  .other = p->fail_other};

	if (fw->reply.page != RF_CTL_PAGE_GROUP)
		return;
	settled(fw, rf_fw_uplink_of(fw, g));
	if (p->state == RF_CTL_S_FAILED)
		refused(fw, g, &f);
	else if (p->state != RF_CTL_S_READY && p->state != RF_CTL_S_DRAINING)
		fail_ended(fw, g, RF_CTL_R_ENDED);
}

static void on_live(struct rf_fw *fw, struct rf_fw_group *g, const struct rf_ctl_header *h)
{
	if (h->epoch != rf_fw_uplink_of(fw, g)->epoch)
		fail_ended(fw, g, RF_CTL_R_RESET);
	else if (fw->reply.result == RF_CTL_PAGE)
		on_page(fw, g);
	else if (fw->reply.result == RF_CTL_FAILED)
		refused(fw, g, &fw->reply.u.failed);
}

void rf_fw_uplink_answer(struct rf_fw *fw, struct rf_fw_group *g, const struct rf_ctl_header *h)
{
	struct rf_fw_uplink *u = rf_fw_uplink_of(fw, g);
	bool nonce =
		fw->reply.result == RF_CTL_FAILED && fw->reply.u.failed.reason == RF_CTL_R_NONCE;

	u->refusals = 0;
	u->heard_ms = fw->now_ms;
	if (nonce && h->nonce != u->nonce)
		soon(fw, u);
	u->nonce = h->nonce;
	if (nonce)
		return;
	switch (u->state) {
	case RF_FW_UP_ASK:
	case RF_FW_UP_JOIN:
		on_join(fw, g, h);
		break;
	case RF_FW_UP_READY:
		on_live(fw, g, h);
		break;
	case RF_FW_UP_LEAVE:
		if (fw->reply.result == RF_CTL_DRAINING && h->epoch == u->epoch)
			settled(fw, u);
		else if (fw->reply.result != RF_CTL_PAGE && fw->reply.result != RF_CTL_READY)
			over(fw, g);
		break;
	case RF_FW_UP_ABORT:
		over(fw, g);
		break;
	default:
		break;
	}
}

void rf_fw_uplink_unsigned(struct rf_fw *fw, struct rf_fw_group *g, enum rf_ctl_reason why,
			   uint32_t detail)
{
	struct rf_fw_uplink *u = rf_fw_uplink_of(fw, g);
	struct rf_ctl_failed f = {.reason = (uint8_t)why,
				  .rank = RF_CTL_NO_RANK,
				  .detail = detail,
				  .other.rank = RF_CTL_NO_RANK};

	if ((u->state != RF_FW_UP_ASK && u->state != RF_FW_UP_JOIN) || u->answered)
		return;
	if (++u->refusals == REFUSALS)
		refused(fw, g, &f);
}

/* ---- time ---- */

/* How long the parent may be silent, in ms. */
static uint32_t patience(const struct rf_fw_uplink *u)
{
	bool joined = u->state == RF_FW_UP_READY || u->state == RF_FW_UP_LEAVE;

	return joined && u->lease_ms != RF_CTL_LEASE_NONE ? u->lease_ms : ANSWER_MS;
}

static void transmit(struct rf_fw *fw, struct rf_fw_group *g, struct rf_fw_uplink *u)
{
	if (u->state == RF_FW_UP_ABORT && u->turns == LAST_WORDS) {
		over(fw, g);
		return;
	}
	if (!rf_fw_uplink_send(fw, g, u)) {
		u->due_ms = fw->now_ms + 1u;
		return;
	}
	if (u->state == RF_FW_UP_ABORT)
		u->turns++;
	u->due_ms = fw->now_ms + u->interval_ms;
	u->interval_ms *= 2u;
	if (u->interval_ms > quarter(u))
		u->interval_ms = quarter(u) > 0 ? quarter(u) : 1u;
}

/* One uplink; returns the time of its next transmission. */
static uint64_t tick(struct rf_fw *fw, struct rf_fw_group *g, struct rf_fw_uplink *u)
{
	uint32_t most = patience(u);
	uint64_t lost = u->heard_ms + most + 1u;

	if (u->state == RF_FW_UP_IDLE)
		return RF_FW_NEVER;
	if (u->state != RF_FW_UP_ABORT && u->state != RF_FW_UP_OVER && fw->now_ms >= lost) {
		if (u->state == RF_FW_UP_LEAVE)
			over(fw, g);
		else
			fail_silent(fw, g, most);
	}
	if (u->state != RF_FW_UP_OVER && fw->now_ms >= u->due_ms)
		transmit(fw, g, u);
	if (u->state == RF_FW_UP_OVER) {
		rf_fw_uplink_free(fw, g);
		return RF_FW_NEVER;
	}
	return u->state != RF_FW_UP_ABORT && lost < u->due_ms ? lost : u->due_ms;
}

uint64_t rf_fw_uplink_tick(struct rf_fw *fw)
{
	uint64_t next = RF_FW_NEVER;

	if (fw->now_ms < fw->uplink_ms)
		return fw->uplink_ms;
	for (unsigned int i = 0; i < fw->records; i++) {
		struct rf_fw_group *g = &fw->group[i];
		uint64_t due;

		if (g->state == RF_CTL_S_FREE || g->uplink == RF_FW_NONE)
			continue;
		due = tick(fw, g, rf_fw_uplink_of(fw, g));
		if (due < next)
			next = due;
	}
	fw->uplink_ms = next;
	return next;
}

bool rf_fw_uplink_busy(const struct rf_fw *fw)
{
	for (unsigned int i = 0; i < RF_FW_UPLINKS; i++)
		if (fw->uplink[i].state == RF_FW_UP_ABORT && fw->uplink[i].turns == 0)
			return true;
	return false;
}
