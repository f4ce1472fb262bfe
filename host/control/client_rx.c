/* Frames from the box. Nothing is trusted before its tag has been verified. */
#include <string.h>

#include "host/control/client.h"
#include "host/control/internal.h"
#include "proto/rf_bytes.h"
#include "wire/arp.h"

/*
 * The next transmission happens at once. One that is overdue stays so: from that the client sees
 * how long the process was stopped, and does not count that time.
 */
static void at_once(struct rf_client_timer *t, uint64_t now)
{
	if (t->due > now)
		t->due = now;
}

/* The MAC of the port is known: the same JOIN goes there at once. */
static void port_resolved(struct rf_client *c, uint64_t now, const uint8_t *mac)
{
	memcpy(c->port_mac, mac, 6);
	c->port_mac_known = true;
	at_once(&c->req, now);
}

/*
 * The box has named the address of a mirror rank's port. A JOIN that names a MAC is that of another
 * host, which speaks for itself there.
 */
static void port_named(struct rf_client *c, uint64_t now, uint32_t ip)
{
	if (!(c->join.flags & RF_CTL_J_MIRROR) || ip == 0 || ip == c->port_ip)
		return;
	c->port_ip = ip;
	c->port_mac_known = false;
	if (!rf_client_goes_there(c))
		return;
	if (c->cfg.via_ip != 0)
		port_resolved(c, now, c->box_mac);
	else
		rf_client_start(c, &c->arp, now);
}

/* Returns 1 if the frame is an ARP reply of the box. */
static int arp_reply(struct rf_client *c, uint64_t now, const uint8_t *frame, size_t len)
{
	struct rf_arp a;
	size_t end = rf_arp_parse(frame, len, &a);

	if (end == 0 || a.op != RF_ARP_REPLY || a.sender_ip == 0 ||
	    (a.sender_ip != c->cfg.box_ip && a.sender_ip != rf_client_next_hop(c)) ||
	    a.target_ip != c->cfg.ip || (a.sender_mac[0] & 1u) != 0)
		return 0;
	/* The box's challenge follows the ARP data. */
	if (c->nonce == 0 && len >= end + RF_CTL_ARP_NONCE &&
	    rf_get_be32(frame + end) == RF_CTL_MAGIC)
		c->nonce = rf_get_be64(frame + end + 4);
	if (!c->box_mac_known && a.sender_ip == rf_client_next_hop(c)) {
		memcpy(c->box_mac, a.sender_mac, 6);
		c->box_mac_known = true;
		rf_client_resolved(c, now);
	} else if (rf_client_goes_there(c) && !c->port_mac_known &&
		   a.sender_ip == rf_client_next_hop(c)) {
		port_resolved(c, now, a.sender_mac);
	}
	return 1;
}

static void failed_by_box(struct rf_client *c, const struct rf_ctl_failed *f)
{
	c->failed = *f;
	c->have_failed = true;
	rf_client_fail(c, c->member ? RF_CLIENT_E_GROUP : RF_CLIENT_E_REFUSED);
	if (f->reason == RF_CTL_R_RESET)
		c->error = RF_CLIENT_E_RESET;
}

static void ended_by_box(struct rf_client *c)
{
	struct rf_ctl_failed f = {
		.reason = RF_CTL_R_ENDED, .rank = RF_CTL_NO_RANK, .other.rank = RF_CTL_NO_RANK};

	failed_by_box(c, &f);
}

static void on_joining(struct rf_client *c, uint64_t now, const struct rf_ctl_header *h,
		       const struct rf_ctl_reply *r)
{
	c->epoch = h->epoch;
	c->req.deadline = now + c->cfg.answer_ns;
	switch (r->result) {
	case RF_CTL_WAITING:
		c->waiting = r->u.waiting;
		c->have_waiting = true;
		port_named(c, now, r->u.waiting.port_ip);
		c->member = true;
		break;
	case RF_CTL_READY:
		if (r->u.ready.ranks != c->join.ranks || r->u.ready.window == 0 ||
		    ((c->join.flags & RF_CTL_J_MIRROR) && r->u.ready.port_ip == 0)) {
			c->stats.rx_malformed++;
			break;
		}
		c->ready = r->u.ready;
		c->have_ready = true;
		port_named(c, now, r->u.ready.port_ip);
		c->member = true;
		c->state = RF_CLIENT_READY;
		rf_client_start(c, &c->req, now + rf_client_keepalive(c));
		break;
	case RF_CTL_FAILED:
		failed_by_box(c, &r->u.failed);
		break;
	case RF_CTL_DRAINING:
	case RF_CTL_ENDED:
		ended_by_box(c);
		break;
	default:
		break;
	}
}

/* The answer to a keepalive. */
static void on_group_page(struct rf_client *c, uint64_t now, const struct rf_ctl_group_page *p)
{
	struct rf_ctl_failed f = {.reason = p->reason,
				  .rank = p->fail_rank,
				  .index = p->fail_index,
				  .detail = p->fail_detail,
				  .other = p->fail_other};
	uint64_t next = c->asked + rf_client_keepalive(c);

	/*
	 * Measured from the request, because the box has received nothing since, however long the
	 * answer was queued.
	 */
	rf_client_start(c, &c->req, next > now ? next : now);
	if (p->state == RF_CTL_S_FAILED) {
		memcpy(f.missing, p->missing, sizeof(f.missing));
		failed_by_box(c, &f);
	} else if (p->state == RF_CTL_S_DRAINING) {
		c->draining.ranks = p->ranks;
		c->draining.left = p->left;
		memcpy(c->draining.missing, p->missing, sizeof(c->draining.missing));
		c->have_draining = true;
	} else if (p->state != RF_CTL_S_READY) {
		ended_by_box(c);
	}
}

static void on_draining(struct rf_client *c, uint64_t now, const struct rf_ctl_reply *r)
{
	uint64_t next;

	c->req.deadline = now + c->cfg.answer_ns;
	if (r->result == RF_CTL_DRAINING || r->result == RF_CTL_ENDED) {
		c->draining = r->u.draining;
		c->have_draining = true;
		c->left_acked = true;
		/*
		 * Which other ranks have to leave is not urgent. But they may still want ACKs and
		 * results of this one, so the box must know that it is alive.
		 */
		next = rf_client_keepalive(c);
		if (next > c->cfg.retry_max_ns)
			next = c->cfg.retry_max_ns;
		c->req.interval = next;
		if (c->req.due < now + next)
			c->req.due = now + next;
		if (r->result == RF_CTL_ENDED)
			c->state = RF_CLIENT_IDLE;
	} else if (r->result == RF_CTL_FAILED) {
		/* The group has ended and the box has freed its record. */
		if (r->u.failed.reason == RF_CTL_R_GROUP_UNKNOWN && c->left_acked)
			c->state = RF_CLIENT_IDLE;
		else
			failed_by_box(c, &r->u.failed);
	}
}

static void on_membership(struct rf_client *c, uint64_t now, const struct rf_ctl_header *h,
			  const struct rf_ctl_reply *r)
{
	bool settled = c->state == RF_CLIENT_READY || c->state == RF_CLIENT_DRAINING;

	c->answered = true;
	if (settled && h->epoch != c->epoch) {
		struct rf_ctl_failed f = {.reason = RF_CTL_R_RESET,
					  .rank = RF_CTL_NO_RANK,
					  .other.rank = RF_CTL_NO_RANK};

		failed_by_box(c, &f);
	} else if (c->state == RF_CLIENT_JOINING) {
		on_joining(c, now, h, r);
	} else if (c->state == RF_CLIENT_READY && r->result == RF_CTL_PAGE) {
		if (r->page == RF_CTL_PAGE_GROUP)
			on_group_page(c, now, &r->u.group);
	} else if (c->state == RF_CLIENT_READY && r->result == RF_CTL_FAILED) {
		failed_by_box(c, &r->u.failed);
	} else if (c->state == RF_CLIENT_DRAINING) {
		on_draining(c, now, r);
	}
	/* Any answer to the last request is enough. */
	if (h->verb == c->last_verb)
		c->last_left = 0;
}

static void on_query(struct rf_client *c, const struct rf_ctl_header *h,
		     const struct rf_ctl_reply *r)
{
	/*
	 * A second answer to the previous query, which was repeated before its first answer came,
	 * does not answer this one.
	 */
	if (c->query != RF_CLIENT_Q_WAITING || (int32_t)(h->seq - c->query_from) < 0) {
		c->stats.rx_stale++;
		return;
	}
	c->answer = *r;
	c->query = r->result == RF_CTL_FAILED ? RF_CLIENT_Q_FAILED : RF_CLIENT_Q_DONE;
}

/*
 * The box could not authenticate our request, so we cannot authenticate its answer. The wait ends
 * only after several such answers in a row, each to the latest transmission at that time, without a
 * signed answer.
 */
static void on_refusal(struct rf_client *c, uint32_t seq, const struct rf_ctl_failed *f)
{
	c->stats.rx_unsigned++;
	if (f->reason != RF_CTL_R_TRUNCATED && f->reason != RF_CTL_R_VERSION &&
	    f->reason != RF_CTL_R_KEY_UNKNOWN && f->reason != RF_CTL_R_TAG)
		return;
	if ((seq & 1u) && c->query == RF_CLIENT_Q_WAITING && seq == c->query_seq) {
		if (++c->query_refusals < RF_CLIENT_REFUSALS)
			return;
		memset(&c->answer, 0, sizeof(c->answer));
		c->answer.result = RF_CTL_FAILED;
		c->answer.u.failed = *f;
		c->query = RF_CLIENT_Q_FAILED;
	} else if (seq == c->sent_seq && c->state == RF_CLIENT_JOINING && !c->answered) {
		if (seq == c->refused_seq)
			return;
		c->refused_seq = seq;
		if (++c->refusals < RF_CLIENT_REFUSALS)
			return;
		failed_by_box(c, f);
	}
}

/*
 * The box accepts our key but not our nonce, and has sent its own: repeat the request at once. If
 * the box sends a nonce that we already had, wait for the timer.
 */
static bool on_nonce(struct rf_client *c, uint64_t now, const struct rf_ctl_header *h,
		     unsigned int query, uint64_t before)
{
	if (c->reply.result != RF_CTL_FAILED || c->reply.u.failed.reason != RF_CTL_R_NONCE)
		return false;
	if (query) {
		c->query_nonce = h->nonce;
		if (c->query == RF_CLIENT_Q_WAITING && h->nonce != before)
			at_once(&c->ask, now);
		return true;
	}
	c->answered = true;
	if (h->nonce == before)
		return true;
	if (c->last_verb == h->verb && c->state == RF_CLIENT_FAILED) {
		c->last_left = RF_CLIENT_LAST_WORDS;
		at_once(&c->last, now);
	} else {
		at_once(&c->req, now);
	}
	return true;
}

static bool is_mine(const struct rf_client *c, const struct rf_ctl_header *h)
{
	return (h->flags & RF_CTL_F_REPLY) != 0 && h->job == c->cfg.job &&
	       h->group == c->cfg.group && h->rank == c->cfg.rank && h->token == c->token;
}

/* Handles a message for this client with a plausible sequence number. */
static void message(struct rf_client *c, uint64_t now, const uint8_t *msg,
		    const struct rf_ctl_header *h)
{
	enum rf_ctl_reason bad;
	uint64_t before = c->nonce;
	/*
	 * Notices carry the last number that the box has seen, whether of the membership or of a
	 * query.
	 */
	unsigned int query = h->verb == RF_CTL_JOIN ? 0u : h->seq & 1u;

	if (h->flags & RF_CTL_F_UNSIGNED) {
		if (rf_ctl_reply_get(msg, h, &c->reply) == RF_CTL_R_NONE &&
		    c->reply.result == RF_CTL_FAILED)
			on_refusal(c, h->seq, &c->reply.u.failed);
		else
			c->stats.rx_malformed++;
		return;
	}
	if (!rf_ctl_tag_ok(msg, h, c->cfg.key)) {
		c->stats.rx_bad_tag++;
		return;
	}
	bad = rf_ctl_reply_get(msg, h, &c->reply);
	if (bad != RF_CTL_R_NONE) {
		c->stats.rx_malformed++;
		return;
	}
	if ((int32_t)(h->seq - c->seen[query]) < 0 || (int32_t)(c->seq - h->seq) < 0) {
		c->stats.rx_stale++;
		return;
	}
	c->seen[query] = h->seq;
	c->open_lab = (h->flags & RF_CTL_F_OPEN_LAB) != 0;
	c->refusals = 0;
	c->nonce = h->nonce;
	if (on_nonce(c, now, h, query, before))
		return;
	if (query)
		on_query(c, h, &c->reply);
	else
		on_membership(c, now, h, &c->reply);
}

int rf_client_rx(struct rf_client *c, uint64_t now, const uint8_t *frame, size_t len)
{
	struct rf_ctl_addr a;
	struct rf_ctl_header h;
	struct rf_ctl_failed version = {
		.reason = RF_CTL_R_VERSION, .rank = RF_CTL_NO_RANK, .other.rank = RF_CTL_NO_RANK};
	const uint8_t *msg;
	size_t msg_len;
	int rc;

	if (arp_reply(c, now, frame, len))
		return 0;
	if (rf_ctl_frame_get(frame, len, &a, &msg, &msg_len) != RF_CTL_FRAME_OK)
		return 0;
	if ((a.src_ip != c->cfg.box_ip && (c->port_ip == 0 || a.src_ip != c->port_ip)) ||
	    a.dst_ip != c->cfg.ip)
		return 0;
	rc = rf_ctl_header_get(msg, msg_len, &h);
	if (rc < 0 || !is_mine(c, &h)) {
		/* From a port come results too, which are not for the client. */
		if (rc < 0 && a.src_ip != c->cfg.box_ip)
			return 0;
		if (rc < 0 || h.token == 0)
			c->stats.rx_malformed++;
		else
			c->stats.rx_stale++;
		return 0;
	}
	c->stats.rx++;
	/* An answer in another version's layout: its number is all that is read of it. */
	version.detail = h.version;
	if (rc == 0)
		message(c, now, msg, &h);
	else if (rc == RF_CTL_R_VERSION)
		on_refusal(c, h.seq, &version);
	else
		c->stats.rx_malformed++;
	return 1;
}
