/* The machine: its progress, failures, events and timeouts. */
#include "host/member/internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/rf_imm.h"

/* How long to wait for a rank's own reason after the box has reported that it aborted. */
#define ABORT_WAIT_NS (300 * RF_MEMBER_MS)
/* How long to wait for the box's report why a connection has ended. */
#define BROKEN_NS (2000 * RF_MEMBER_MS)
/* How long to wait for another rank's call when its message has an unexpected length. */
#define PUZZLED_NS (1000 * RF_MEMBER_MS)
/* A machine that runs later than this after its timeout belongs to a process that stood still. */
#define LATE_NS (100 * RF_MEMBER_MS)
/* How long ENDING of a failed group waits for the others. */
#define ENDING_FAILED_MS 1000u

int rf_member_create(const struct rf_member_cfg *cfg, struct rf_pair *pair, struct rf_member **out)
{
	struct rf_member *m;

	if (cfg->ranks < 1 || cfg->ranks > RF_RANKS_MAX || cfg->rank >= cfg->ranks ||
	    cfg->calls_max < 1 || cfg->calls_max > RF_REQUESTS_MAX ||
	    (cfg->ranks > 1 && !cfg->store && !cfg->ends))
		return RF_ERR_INVALID;
	if (cfg->tree && (!rf_member_tree_sound(cfg->tree, cfg->ranks) ||
			  !(cfg->flags & RF_CTL_J_MIRROR) || !(cfg->flags & RF_CTL_J_DIRECTED)))
		return RF_ERR_INVALID;
	m = calloc(1, sizeof(*m) + cfg->ranks * (sizeof(*m->ends) + sizeof(*m->far)));
	if (!m)
		return RF_ERR_NO_MEMORY;
	m->cfg = *cfg;
	m->pair = pair;
	m->culprit = RF_MEMBER_NOBODY;
	m->due = RF_MEMBER_NEVER;
	m->ends = (struct rf_member_end *)(void *)(m + 1);
	m->far = (struct rf_pair_numbers(*)[RF_PAIR_FAR])(void *)(m->ends + cfg->ranks);
	if (cfg->ends)
		memcpy(m->ends, cfg->ends, cfg->ranks * sizeof(*m->ends));
	m->order.size = sizeof(m->order);
	m->order.schedule = cfg->schedule;
	m->order.ranks = cfg->ranks;
	m->order.mtu = cfg->mtu;
	*out = m;
	return RF_OK;
}

void rf_member_destroy(struct rf_member *m)
{
	if (!m)
		return;
	rf_member_disconnect(m);
	free(m);
}

/* ---- failure ---- */

void rf_member_announced(struct rf_member *m, unsigned int rank, int status, const char *text,
			 uint64_t now)
{
	char lost[RF_MEMBER_TEXT], own[24];

	if (m->status)
		return;
	if (status == RF_MEMBER_NO_ROOM) {
		rf_member_refused_there(m, rank, text, now);
		return;
	}
	rf_member_blame(m, rank);
	if (status == RF_ERR_RANK_LOST && !text[0]) {
		rf_member_lost_text(rank, lost, sizeof(lost));
		rf_member_fail(m, false, RF_ERR_RANK_LOST, now, "%s", lost);
		return;
	}
	m->by_announcement = true;
	/* a text that begins with its rank needs no other name */
	snprintf(own, sizeof(own), "rank %u ", rank);
	if (strncmp(text, own, strlen(own)) == 0)
		own[0] = '\0';
	else
		snprintf(own, sizeof(own), "rank %u: ", rank);
	rf_member_fail(m, false, status < 0 ? status : RF_ERR_ABORTED, now, "%s%s", own, text);
}

void rf_member_lost_text(unsigned int rank, char *text, size_t room)
{
	snprintf(text, room,
		 "the process of rank %u has ended without leaving; see its output for the cause",
		 rank);
}

/* ---- progress ---- */

/* A message has another immediate than this rank expects. A box finds most of these first. */
static void different_calls(struct rf_member *m, const struct rf_member_trouble *t, uint64_t now)
{
	char got[80], want[80];

	rf_imm_text(t->got, got, sizeof(got));
	rf_imm_text(t->want, want, sizeof(want));
	if (m->hosts)
		rf_member_fail(
			m, true, RF_ERR_MISMATCH, now,
			"a message of rank %u belongs to another call than rank %u makes: "
			"%s (immediate %08x) instead of %s (%08x)%s: all ranks must make the "
			"same calls in the same order",
			t->peer, m->cfg.rank, got, t->got, want, t->want,
			rf_imm_apart_text(t->got, t->want));
	else
		rf_member_fail(m, true, RF_ERR_MISMATCH, now,
			       "a result at rank %u belongs to another call or index: %s "
			       "(immediate %08x) instead of %s (%08x)%s: all ranks must make the "
			       "same calls in the same order",
			       m->cfg.rank, got, t->got, want, t->want,
			       rf_imm_apart_text(t->got, t->want));
}

/* A message has the right immediate, or none, and another length than this rank expects. */
static void different_length(struct rf_member *m, const struct rf_member_trouble *t, uint64_t now)
{
	if (rf_member_is_mirror(m))
		rf_member_fail(m, true, RF_ERR_MISMATCH, now,
			       "the box sent a result of a different length than rank %u expects: "
			       "counts differ between ranks",
			       m->cfg.rank);
	else
		rf_member_fail(m, true, RF_ERR_MISMATCH, now,
			       "rank %u sent a message of a different length than rank %u expects: "
			       "counts differ between ranks",
			       t->peer, m->cfg.rank);
}

/* The connection to the box of a mirror rank. */
static void mirror_ended(struct rf_member *m, int status)
{
	if (status == ROCE_WC_LOC_LEN_ERR || status == ROCE_WC_REM_INV_REQ_ERR) {
		m->broken_status = RF_ERR_MISMATCH;
		snprintf(m->broken, sizeof(m->broken),
			 "a result is longer than rank %u expects: counts differ between ranks",
			 m->cfg.rank);
		return;
	}
	snprintf(m->broken, sizeof(m->broken),
		 "the connection of rank %u to the box's port has ended: %s", m->cfg.rank,
		 roce_wc_status_name((enum roce_wc_status)status));
}

/* A connection to another rank has ended. */
static void ring_ended(struct rf_member *m, const struct rf_member_trouble *t)
{
	snprintf(m->broken, sizeof(m->broken), "the connection %s rank %u has ended: %s",
		 t->from ? "from" : "to", t->peer,
		 roce_wc_status_name((enum roce_wc_status)t->status));
	/* a message longer than its buffer: the receiver detects it, and the sender is rejected */
	if (t->status == ROCE_WC_LOC_LEN_ERR || t->status == ROCE_WC_REM_INV_REQ_ERR) {
		m->broken_status = RF_ERR_MISMATCH;
		snprintf(m->broken, sizeof(m->broken),
			 "rank %u sends more than rank %u expects: counts differ between ranks",
			 t->from ? t->peer : m->cfg.rank, t->from ? m->cfg.rank : t->peer);
	}
}

static void coll_failed(struct rf_member *m, int error, uint64_t now)
{
	struct rf_member_trouble t = rf_member_coll_trouble(m);

	if (error == RF_COLL_E_LENGTH) {
		different_length(m, &t, now);
		return;
	}
	if (error == RF_COLL_E_IMMEDIATE) {
		different_calls(m, &t, now);
		return;
	}
	m->broken_status = RF_ERR_TRANSPORT;
	if (rf_member_is_mirror(m))
		mirror_ended(m, t.status);
	else
		ring_ended(m, &t);
	if (m->hosts && m->cfg.store && m->broken_status == RF_ERR_MISMATCH) {
		/* the ranks tell each other in which calls they are: the cause has two names */
		m->broken_due = now + PUZZLED_NS;
		return;
	}
	if (!m->have_client || t.status == ROCE_WC_LOC_LEN_ERR) {
		rf_member_fail(m, true, m->broken_status, now, "%s", m->broken);
		return;
	}
	/* the box knows for which rank the transport waited, and why the group has ended */
	rf_member_ask_stragglers(m, now);
	m->broken_due = now + BROKEN_NS;
}

/*
 * A connection has ended and the box was asked which rank it waits for. If it names nobody, it may
 * still report why the group has ended.
 */
static unsigned int broken(struct rf_member *m, uint64_t now)
{
	bool mismatch = m->broken_status == RF_ERR_MISMATCH;
	unsigned int late = rf_member_straggler(m, now);
	char stragglers[300];

	if (now < m->broken_due && (mismatch || m->straggler.asking || late == RF_MEMBER_NOBODY))
		return 0;
	if (mismatch) {
		rf_member_fail(m, true, RF_ERR_MISMATCH, now, "%s", m->broken);
		return 1;
	}
	rf_member_blame(m, rf_member_last_straggler(m, now));
	rf_member_stragglers_text(m, now, stragglers, sizeof(stragglers));
	rf_member_fail(m, true, RF_ERR_TRANSPORT, now, "%s%s; if all ranks run, check %s",
		       m->broken, stragglers,
		       rf_member_is_mirror(m)
			       ? "with `ringfold doctor` that the box's ports can be reached"
			       : "that the switch's rule for each of their hosts is in place");
	return 1;
}

/* The client's view of the box has changed. */
static unsigned int look_at_client(struct rf_member *m, uint64_t now)
{
	if (!m->have_client || rf_client_state(&m->client) == m->client_state)
		return 0;
	m->client_state = rf_client_state(&m->client);
	m->changes++;
	/* JOIN and LEAVE look at it themselves */
	if (m->client_state != RF_CLIENT_FAILED || m->status || m->phase == RF_MEMBER_JOIN ||
	    m->phase == RF_MEMBER_LEAVING)
		return 1;
	/*
	 * the aborting rank sends its reason through the store, which is more specific than the
	 * box's
	 */
	if (rf_client_status_of(&m->client) == RF_ERR_ABORTED && m->cfg.store)
		m->fail_due = now + ABORT_WAIT_NS;
	else
		rf_member_client_failed(m, true, now);
	return 1;
}

/* What to check when nothing moves. */
static const char *remedy(const struct rf_member *m)
{
	if (!rf_member_has_box(m))
		return "that all make the same calls, and that the network carries UDP port 4791 "
		       "between their hosts";
	if (rf_member_is_mirror(m))
		return "with `ringfold doctor` on their hosts that the box's ports can be reached";
	return "with `ringfold doctor` on their hosts that the switch's rule is still in place";
}

static void check_stall(struct rf_member *m, uint64_t now)
{
	uint64_t mark = m->cfg.ranks > 1 ? m->pair->ops->moved(m->pair) : 0;
	char stragglers[300], call[128];

	if (mark != m->moved || !m->open) {
		m->moved = mark;
		m->moved_at = now;
		m->stall_due = now + m->cfg.timeout_ns;
		return;
	}
	if (now >= rf_member_ask_due(m))
		rf_member_ask_stragglers(m, now);
	if (now < m->stall_due)
		return;
	rf_member_blame(m, rf_member_straggler(m, now));
	rf_member_stragglers_text(m, now, stragglers, sizeof(stragglers));
	rf_member_call_text(m, call, sizeof(call));
	rf_member_fail(m, true, RF_ERR_TIMEOUT, now,
		       "no progress for %llu ms at rank %u%s%s%s; if ranks compute for longer, set "
		       "a larger RF_TIMEOUT; if all ranks run, check %s",
		       (unsigned long long)(m->cfg.timeout_ns / RF_MEMBER_MS), m->cfg.rank,
		       call[0] ? " in " : "", call, stragglers, remedy(m));
}

static unsigned int run_collective(struct rf_member *m, uint64_t now)
{
	struct rf_coll_done done;
	int ret;

	if (m->broken_due)
		return broken(m, now);
	ret = rf_member_coll_progress(m);
	if (ret < 0) {
		coll_failed(m, ret, now);
		return 1;
	}
	while (rf_member_coll_poll(m, &done)) {
		m->stall_due = now + m->cfg.timeout_ns;
		m->moved_at = now;
		if (done.id == RF_PROOF_ID)
			m->proof.until = 0;
		else
			m->succeeded |= UINT64_C(1) << done.id;
	}
	if (m->phase != RF_MEMBER_PROOF)
		check_stall(m, now);
	return (unsigned int)ret;
}

static void extend(uint64_t *deadline, uint64_t now)
{
	if (*deadline && *deadline < now + RF_MEMBER_GRACE_NS)
		*deadline = now + RF_MEMBER_GRACE_NS;
}

/*
 * The process has stood still: what it missed, and what it could not send, must not count against
 * the others.
 */
static void stood_still(struct rf_member *m, uint64_t now)
{
	extend(&m->fail_due, now);
	extend(&m->broken_due, now);
	extend(&m->join_until, now);
	extend(&m->proof.until, now);
	extend(&m->leave_until, now);
	extend(&m->stall_due, now);
}

unsigned int rf_member_progress(struct rf_member *m, uint64_t now)
{
	unsigned int count;

	if (m->due != RF_MEMBER_NEVER && now > m->due && now - m->due > LATE_NS)
		stood_still(m, now);
	count = look_at_client(m, now);
	if (m->fail_due && now >= m->fail_due && !m->status)
		rf_member_client_failed(m, true, now);
	rf_member_straggler_poll(m, now);
	if (m->phase == RF_MEMBER_JOIN)
		count += rf_member_join_progress(m, now);
	if (rf_member_connected(m) && !m->status)
		count += run_collective(m, now);
	if (m->phase == RF_MEMBER_PROOF)
		count += rf_member_proof_progress(m, now);
	if (m->phase == RF_MEMBER_LEAVING)
		count += rf_member_leave_progress(m, now);
	rf_member_advance(m, now);
	rf_member_tell(m, now);
	rf_member_ran(m, now);
	return count;
}

/* ---- frames ---- */

int rf_member_rx(struct rf_member *m, uint64_t now, const uint8_t *frame, size_t len)
{
	return m->have_client ? rf_client_rx(&m->client, now, frame, len) : 0;
}

size_t rf_member_tx(struct rf_member *m, uint64_t now, uint8_t *frame, size_t room)
{
	size_t len = m->have_client ? rf_client_tx(&m->client, now, frame, room) : 0;

	/* this is called for every data frame too */
	if (len)
		rf_member_ran(m, now);
	return len;
}

/* ---- calls and events ---- */

static unsigned int lowest(uint64_t bits)
{
	return (unsigned int)__builtin_ctzll(bits);
}

bool rf_member_poll(struct rf_member *m, struct rf_member_event *event)
{
	uint64_t bits = m->status ? m->open & ~m->succeeded : 0;

	if (m->announce) {
		m->announce = false;
		*event = (struct rf_member_event){.kind = RF_MEMBER_ANNOUNCE, .status = m->status};
		return true;
	}
	if (m->tell) {
		m->tell = false;
		*event = (struct rf_member_event){.kind = RF_MEMBER_ANNOUNCE,
						  .status = RF_MEMBER_NO_ROOM};
		return true;
	}
	if (m->succeeded)
		bits = m->succeeded;
	if (!bits)
		return false;
	*event = (struct rf_member_event){.kind = RF_MEMBER_DONE, .id = lowest(bits)};
	event->status = m->succeeded ? RF_OK : m->status;
	m->open &= ~(UINT64_C(1) << event->id);
	m->succeeded &= m->open;
	return true;
}

/* ---- end ---- */

void rf_member_leave(struct rf_member *m, bool together, uint64_t now)
{
	struct rf_member_gather *g = &m->gather;

	if (m->phase >= RF_MEMBER_ENDING)
		return;
	if (m->open & ~m->succeeded)
		rf_member_fail(m, true, RF_ERR_ABORTED, now,
			       "the group was destroyed with calls outstanding");
	if (!together || !m->cfg.store || m->cfg.ranks == 1) {
		rf_member_leave_box(m, m->cfg.store || m->status, now);
		return;
	}
	rf_member_enter(m, RF_MEMBER_ENDING);
	/* until all ranks are here, a rank's last packets may still need to be acknowledged */
	snprintf(g->name, sizeof(g->name), "the end of group %u", m->cfg.number);
	g->len = 0;
	g->timeout_ms =
		m->status ? ENDING_FAILED_MS : (unsigned int)(m->cfg.timeout_ns / RF_MEMBER_MS);
	g->number++;
	m->gathering = true;
}

void rf_member_quit(struct rf_member *m, uint64_t now)
{
	if (m->phase < RF_MEMBER_LEAVING)
		rf_member_leave_box(m, true, now);
}

/* ---- what is known ---- */

enum rf_member_phase rf_member_phase(const struct rf_member *m)
{
	return m->phase;
}

int rf_member_status(const struct rf_member *m)
{
	return m->status;
}

const char *rf_member_text(const struct rf_member *m)
{
	return m->text;
}

unsigned int rf_member_culprit(const struct rf_member *m)
{
	return m->culprit;
}

unsigned int rf_member_reason(const struct rf_member *m)
{
	return m->reason;
}

bool rf_member_by_announcement(const struct rf_member *m)
{
	return m->by_announcement;
}

const struct rf_member_gather *rf_member_gather(const struct rf_member *m)
{
	return m->gathering ? &m->gather : NULL;
}

uint64_t rf_member_changes(const struct rf_member *m)
{
	return m->changes;
}

const struct rf_order *rf_member_order(const struct rf_member *m)
{
	return &m->order;
}

unsigned int rf_member_window(const struct rf_member *m)
{
	return m->window;
}

const uint8_t *rf_member_box_mac(const struct rf_member *m)
{
	return m->window ? m->client.box_mac : NULL;
}

uint64_t rf_member_moved_at(const struct rf_member *m)
{
	return m->moved_at;
}

struct rf_client *rf_member_client(struct rf_member *m)
{
	return m->have_client ? &m->client : NULL;
}

const char *rf_member_leak(const struct rf_member *m)
{
	enum rf_client_state state = m->have_client ? rf_client_state(&m->client) : RF_CLIENT_IDLE;

	if (rf_member_connected(m) && !m->status && rf_member_coll_outstanding(m) != 0)
		return "an all-reduce of a host has not ended";
	if (state == RF_CLIENT_READY || state == RF_CLIENT_JOINING || state == RF_CLIENT_RESOLVING)
		return "a host is still in its group";
	return NULL;
}
