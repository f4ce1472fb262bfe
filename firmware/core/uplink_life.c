/* The membership of a box at its parent: what the parent answers, and what is due. */
#include <string.h>

#include "firmware/core/internal.h"

#define LONGEST_MS 1000u /* between two signs of life, or a quarter of the lease */
#define ANSWER_MS 5000u  /* a parent without a lease, or not joined yet, must answer within this */
#define REFUSALS 3u      /* unsigned refusals in a row that are believed */
#define TURNS 8u         /* queue pairs drawn until one is not taken */
#define LAST_WORDS 3u    /* ABORTs sent until one is answered */

/* Ends the group for a reason of the parent, or of a box beyond it. */
static void fail_above(struct rf_fw *fw, struct rf_fw_group *g, const struct rf_ctl_failed *f)
{
	rf_fw_uplink_blame(fw, g, f);
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
		rf_fw_uplink_ask(fw, u);
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
	rf_fw_uplink_soon(fw, u);
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
	u->interval_ms = RF_FW_UPLINK_RETRY_MS;
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

static void answer(struct rf_fw *fw, struct rf_fw_group *g, const struct rf_ctl_header *h)
{
	struct rf_fw_uplink *u = rf_fw_uplink_of(fw, g);
	bool nonce =
		fw->reply.result == RF_CTL_FAILED && fw->reply.u.failed.reason == RF_CTL_R_NONCE;

	u->refusals = 0;
	u->heard_ms = fw->now_ms;
	if (nonce && h->nonce != u->nonce)
		rf_fw_uplink_soon(fw, u);
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

static void refused_unsigned(struct rf_fw *fw, struct rf_fw_group *g, enum rf_ctl_reason why,
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

/* The group whose membership at its parent this message belongs to, or NULL. */
static struct rf_fw_group *group_of(struct rf_fw *fw, unsigned int port,
				    const struct rf_ctl_addr *a, const struct rf_ctl_header *h)
{
	for (unsigned int i = 0; i < fw->records; i++) {
		struct rf_fw_group *g = &fw->group[i];
		const struct rf_fw_uplink *u = rf_fw_uplink_of(fw, g);

		if (g->state == RF_CTL_S_FREE || !u || u->state < RF_FW_UP_ASK ||
		    g->number != h->group || g->job != h->job || u->token != h->token ||
		    u->chain[0].rank != h->rank || u->port != port ||
		    a->dst_ip != fw->address[port].ip ||
		    (a->src_ip != u->chain[0].ip && a->src_ip != u->port_ip))
			continue;
		return g;
	}
	return NULL;
}

/* An answer that the parent could not sign, or in the layout of another version. */
static void on_unsigned(struct rf_fw *fw, struct rf_fw_group *g, const uint8_t *msg,
			const struct rf_ctl_header *h, bool version)
{
	const struct rf_ctl_failed *f = &fw->reply.u.failed;

	if (h->seq != rf_fw_uplink_of(fw, g)->seq)
		return;
	if (version)
		refused_unsigned(fw, g, RF_CTL_R_VERSION, h->version);
	else if (rf_ctl_reply_get(msg, h, &fw->reply) == RF_CTL_R_NONE &&
		 fw->reply.result == RF_CTL_FAILED &&
		 (f->reason == RF_CTL_R_KEY_UNKNOWN || f->reason == RF_CTL_R_TAG ||
		  f->reason == RF_CTL_R_VERSION || f->reason == RF_CTL_R_TRUNCATED))
		refused_unsigned(fw, g, (enum rf_ctl_reason)f->reason, f->detail);
}

void rf_fw_uplink_message(struct rf_fw *fw, unsigned int port, const struct rf_ctl_addr *a,
			  const uint8_t *msg, size_t len)
{
	struct rf_ctl_header h;
	int rc = rf_ctl_header_get(msg, len, &h);
	struct rf_fw_group *g = rc < 0 ? NULL : group_of(fw, port, a, &h);
	struct rf_fw_uplink *u;
	const uint8_t *key;

	if (!g || (rc != 0 && rc != RF_CTL_R_VERSION)) {
		fw->cnt.punt_other++;
		return;
	}
	if (rc != 0 || (h.flags & RF_CTL_F_UNSIGNED)) {
		on_unsigned(fw, g, msg, &h, rc != 0);
		return;
	}
	u = rf_fw_uplink_of(fw, g);
	key = rf_fw_keys_secret(fw, g->job);
	/* A notice has the number of the last request that the parent has seen. */
	if (!key || !rf_ctl_tag_ok(msg, &h, key) || (int32_t)(h.seq - u->seen) < 0 ||
	    (int32_t)(u->seq - h.seq) < 0 ||
	    rf_ctl_reply_get(msg, &h, &fw->reply) != RF_CTL_R_NONE) {
		fw->cnt.punt_other++;
		return;
	}
	u->seen = h.seq;
	answer(fw, g, &h);
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
