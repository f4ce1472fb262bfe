/* The state that all parts of the machine share: phase, failure, timeouts. */
#include "host/member/internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

unsigned int rf_member_far(const struct rf_member *m)
{
	uint32_t reach = rf_hosts_reach(m->cfg.ranks);

	return rf_member_has_box(m) || reach == 0 ? 0 : reach - 1;
}

bool rf_member_connected(const struct rf_member *m)
{
	return m->coll || m->directed || m->hosts;
}

void rf_member_enter(struct rf_member *m, enum rf_member_phase phase)
{
	m->phase = phase;
	m->changes++;
}

void rf_member_step_done(struct rf_member *m, int status, const char *text)
{
	m->step_over = true;
	m->step_status = status;
	snprintf(m->step_text, sizeof(m->step_text), "%s", status ? text : "");
}

void rf_member_proof_free(struct rf_member *m)
{
	if (m->proof.room && m->pair && m->pair->ops->drop_memory)
		m->pair->ops->drop_memory(m->pair, m->proof.room);
	free(m->proof.room);
	m->proof = (struct rf_proof){0};
}

void rf_member_disconnect(struct rf_member *m)
{
	rf_coll_destroy(m->coll);
	rf_directed_destroy(m->directed);
	rf_hosts_destroy(m->hosts);
	m->coll = NULL;
	m->directed = NULL;
	m->hosts = NULL;
	if (m->pair)
		m->pair->ops->disconnect(m->pair);
	free(m->scratch);
	m->scratch = NULL;
	rf_member_proof_free(m);
}

/* ---- failure ---- */

int rf_client_status_of(const struct rf_client *client)
{
	const struct rf_ctl_failed *failed = rf_client_failed(client);

	switch (rf_client_error(client)) {
	case RF_CLIENT_E_NONE:
		return RF_OK;
	case RF_CLIENT_E_NO_ARP:
	case RF_CLIENT_E_NO_PORT_ARP:
	case RF_CLIENT_E_NO_ANSWER:
	case RF_CLIENT_E_SILENT:
		return RF_ERR_BOX_SILENT;
	case RF_CLIENT_E_RESET:
		return RF_ERR_BOX_REFUSED;
	case RF_CLIENT_E_REFUSED:
	case RF_CLIENT_E_GROUP:
		break;
	}
	switch (failed ? failed->reason : RF_CTL_R_NONE) {
	case RF_CTL_R_MISSING_RANKS:
		return RF_ERR_RANK_MISSING;
	case RF_CTL_R_RANK_TAKEN:
		return RF_ERR_RANK_TAKEN;
	case RF_CTL_R_OTHER_PORT:
		return RF_ERR_STEERING;
	case RF_CTL_R_LEASE:
		return RF_ERR_RANK_LOST;
	case RF_CTL_R_ABORTED:
		return RF_ERR_ABORTED;
	case RF_CTL_R_RANKS_DIFFER:
	case RF_CTL_R_TYPES_DIFFER:
	case RF_CTL_R_MTU_DIFFERS:
	case RF_CTL_R_SETTINGS_DIFFER:
	case RF_CTL_R_DISAGREE:
		return RF_ERR_MISMATCH;
	}
	return RF_ERR_BOX_REFUSED;
}

static uint32_t abort_code(int status)
{
	switch (status) {
	case RF_ERR_ABORTED:
		return RF_CTL_ABORT_USER;
	case RF_ERR_MISMATCH:
		return RF_CTL_ABORT_MISMATCH;
	case RF_ERR_STEERING:
		return RF_CTL_ABORT_STEERING;
	case RF_ERR_NO_MEMORY:
		return RF_CTL_ABORT_MEMORY;
	}
	return RF_CTL_ABORT_TRANSPORT;
}

void rf_member_blame(struct rf_member *m, unsigned int rank)
{
	if (!m->status)
		m->culprit = rank;
}

void rf_member_abort_box(struct rf_member *m, uint64_t now)
{
	enum rf_client_state state = m->have_client ? rf_client_state(&m->client) : RF_CLIENT_IDLE;

	if (state == RF_CLIENT_JOINING || state == RF_CLIENT_READY)
		rf_client_abort(&m->client, abort_code(m->status), now);
}

void rf_member_fail(struct rf_member *m, bool announce, int status, uint64_t now,
		    const char *format, ...)
{
	va_list args;

	if (m->status)
		return;
	m->status = status;
	m->changes++;
	va_start(args, format);
	vsnprintf(m->text, sizeof(m->text), format, args);
	va_end(args);
	/* from here on the callers' buffers are not used any more */
	if (m->pair)
		m->pair->ops->stop(m->pair);
	/*
	 * During the proof the box must hold the packets of the others until all have reported:
	 * what it let pass now would look as if it had come by another path.
	 */
	if (m->phase != RF_MEMBER_PROOF)
		rf_member_abort_box(m, now);
	m->announce = announce && m->cfg.store;
}

/* ---- timeouts ---- */

static void sooner(uint64_t *next, uint64_t other)
{
	if (other < *next)
		*next = other;
}

bool rf_member_is_told(const struct rf_member *m)
{
	return m->told >> m->step & 1;
}

/* Of the machine itself, without the client. */
static uint64_t own_timeout(const struct rf_member *m)
{
	uint64_t next = RF_MEMBER_NEVER;

	/* the client has ended something since the machine looked last */
	if (m->have_client && rf_client_state(&m->client) != m->client_state)
		return 0;
	if (m->phase == RF_MEMBER_LEAVING && (m->cfg.store || m->status))
		sooner(&next, m->leave_until);
	if (m->phase == RF_MEMBER_JOIN)
		sooner(&next, m->room_due ? m->room_due : m->join_until);
	if (m->phase == RF_MEMBER_JOIN && rf_member_is_told(m))
		sooner(&next, m->way_until);
	if (m->status)
		return next;
	if (m->phase == RF_MEMBER_REPORT && m->tell_due)
		sooner(&next, m->tell_due);
	if (m->fail_due)
		sooner(&next, m->fail_due);
	if (m->broken_due)
		sooner(&next, m->broken_due);
	if (m->phase == RF_MEMBER_PROOF)
		sooner(&next, m->proof.until);
	if (rf_member_connected(m) && m->open && !m->broken_due) {
		sooner(&next, m->stall_due);
		sooner(&next, rf_member_ask_due(m));
	}
	return next;
}

uint64_t rf_member_next_timeout(const struct rf_member *m)
{
	uint64_t next = own_timeout(m);

	if (m->have_client)
		sooner(&next, rf_client_next_timeout(&m->client));
	return next;
}

void rf_member_ran(struct rf_member *m, uint64_t now)
{
	uint64_t next = rf_member_next_timeout(m);

	m->due = next < now ? now : next;
}
