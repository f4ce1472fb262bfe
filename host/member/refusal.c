/*
 * A box without room refuses one rank, and the next one a moment later not, if another job has
 * ended a group meanwhile. The one that was accepted would wait for the first until its deadline.
 * So a rank that was refused, and whose report the others do not answer soon, tells them; who is
 * told leaves the box and reports the same.
 */
#include "host/member/internal.h"

#include <stdio.h>
#include <stdlib.h>

/* How long the others may take to report, before they are told. */
#define TELL_NS (200 * RF_MEMBER_MS)
/* At most so long the box is told that this rank leaves; it may not answer. */
#define WAY_NS (500 * RF_MEMBER_MS)

void rf_member_refused(struct rf_member *m, unsigned int reason, const char *text, uint64_t now)
{
	m->reason = reason;
	m->tell_due = m->cfg.store ? now + TELL_NS : 0;
	rf_member_step_done(m, RF_IN_PROGRESS, text);
}

void rf_member_tell(struct rf_member *m, uint64_t now)
{
	if (!m->tell_due || m->phase != RF_MEMBER_REPORT || now < m->tell_due)
		return;
	m->tell_due = 0;
	m->tell = true;
	m->changes++;
}

/* "<step> <reason> text" */
const char *rf_member_announcement(struct rf_member *m, int status)
{
	if (status != RF_MEMBER_NO_ROOM)
		return m->text;
	snprintf(m->tell_text, sizeof(m->tell_text), "%u %u %.240s", (unsigned int)m->step,
		 m->reason, m->step_text);
	return m->tell_text;
}

void rf_member_refused_there(struct rf_member *m, unsigned int rank, const char *text, uint64_t now)
{
	unsigned long step, reason;
	char *end;

	step = strtoul(text, &end, 10);
	reason = strtoul(end, &end, 10);
	/* a rank that has gone on needs it no more */
	if (*end != ' ' || reason > UINT8_MAX || step > RF_STEP_BOX_FEWER || step < m->step ||
	    m->phase > RF_MEMBER_REPORT || m->told >> step & 1)
		return;
	m->told |= 1u << step;
	m->told_reason = (unsigned int)reason;
	snprintf(m->told_text, sizeof(m->told_text), "rank %u: %.230s", rank, end + 1);
	m->changes++;
	rf_member_ran(m, now);
}

/* The report repeats what the other rank has said. */
static void repeat(struct rf_member *m)
{
	m->reason = m->told_reason;
	m->way_until = 0;
	m->room_due = 0;
	rf_member_step_done(m, RF_IN_PROGRESS, m->told_text);
}

bool rf_member_spared(struct rf_member *m)
{
	if (!rf_member_is_told(m))
		return false;
	rf_member_enter(m, RF_MEMBER_JOIN);
	repeat(m);
	return true;
}

unsigned int rf_member_give_way(struct rf_member *m, uint64_t now)
{
	if (!m->way_until) {
		m->way_until = now + WAY_NS;
		if (!m->room_due)
			rf_client_leave(&m->client, true, now);
		m->client_state = rf_client_state(&m->client);
	}
	/* the place at the box is free before another request for it comes */
	if (!m->room_due && now < m->way_until &&
	    rf_client_next_timeout(&m->client) != RF_CLIENT_NEVER)
		return 0;
	repeat(m);
	return 1;
}
