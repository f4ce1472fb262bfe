/*
 * Creation: the exchange of the ranks' numbers, then the steps JOIN, connections and proof. After
 * each step the ranks report; the next begins when all have succeeded.
 */
#include "host/member/internal.h"

#include <stdio.h>

/* Slots that every box can give. */
#define SLOTS_LEAST 16u

static unsigned int slots_least(const struct rf_member *m)
{
	return m->cfg.slots_least ? m->cfg.slots_least : SLOTS_LEAST;
}

static void step_connect(struct rf_member *m)
{
	char why[RF_MEMBER_TEXT];
	int ret;

	m->step = RF_STEP_CONNECT;
	if (m->status) {
		rf_member_step_done(m, m->status, m->text);
		return;
	}
	ret = rf_member_connect(m, why, sizeof(why));
	rf_member_step_done(m, ret, why);
}

static void step_prove(struct rf_member *m, uint64_t now)
{
	m->step = RF_STEP_PROVE;
	if (m->status)
		rf_member_step_done(m, m->status, m->text);
	else
		rf_member_prove(m, now);
}

static void first_step(struct rf_member *m, uint64_t now)
{
	if (m->cfg.ranks == 1 || !rf_member_has_box(m)) {
		step_connect(m);
		return;
	}
	m->step = RF_STEP_BOX;
	/* without a store nobody could agree to take fewer */
	rf_member_join(m, m->cfg.store ? m->cfg.slots : slots_least(m), now);
}

/* Creation has failed. */
static void give_up(struct rf_member *m, int status, const char *text, uint64_t now)
{
	/* the cause that all ranks have agreed on replaces what this rank has seen of it */
	rf_member_fail(m, false, status, now, "%s", text);
	m->status = status;
	snprintf(m->text, sizeof(m->text), "%s", text);
	rf_member_abort_box(m, now);
	rf_member_proof_free(m);
	rf_member_enter(m, RF_MEMBER_FAILED);
}

/* All ranks have reported. */
static void agreed(struct rf_member *m, int status, const char *text, uint64_t now)
{
	m->tell_due = 0;
	if (status == RF_IN_PROGRESS && m->step == RF_STEP_BOX && m->cfg.store) {
		m->step = RF_STEP_BOX_FEWER;
		rf_member_join(m, slots_least(m), now);
		return;
	}
	if (status) {
		give_up(m, status == RF_IN_PROGRESS ? RF_ERR_BOX_REFUSED : status, text, now);
		return;
	}
	switch (m->step) {
	case RF_STEP_BOX:
	case RF_STEP_BOX_FEWER:
		step_connect(m);
		break;
	case RF_STEP_CONNECT:
		if (m->cfg.prove && m->cfg.ranks > 1)
			step_prove(m, now);
		else
			rf_member_enter(m, RF_MEMBER_RUNNING);
		break;
	case RF_STEP_PROVE:
		rf_member_enter(m, RF_MEMBER_RUNNING);
		break;
	}
}

void rf_member_advance(struct rf_member *m, uint64_t now)
{
	while (m->step_over) {
		m->step_over = false;
		if (m->cfg.store && m->cfg.ranks > 1)
			rf_member_report(m);
		else
			agreed(m, m->step_status, m->step_text, now);
	}
}

/* The numbers of further connections; a failure is reported when all have exchanged theirs. */
static void choose_numbers(struct rf_member *m, uint64_t now)
{
	unsigned int n = rf_member_far(m);
	char why[RF_MEMBER_TEXT];
	int ret;

	if (n == 0)
		return;
	ret = m->pair->ops->reach(m->pair, n, why, sizeof(why));
	if (ret)
		rf_member_fail(m, false, ret, now, "%s", why);
	/* Without a store the others' follow from the numbers that are known. */
	for (unsigned int r = 0; r < m->cfg.ranks && !m->cfg.store; r++)
		for (unsigned int k = 0; k < n; k++)
			m->far[r][k] = (struct rf_pair_numbers){
				rf_pair_roce_number(m->ends[r].send_qpn, k),
				rf_pair_roce_number(m->ends[r].recv_qpn, k)};
}

void rf_member_start(struct rf_member *m, uint64_t now)
{
	if (m->phase != RF_MEMBER_NEW)
		return;
	choose_numbers(m, now);
	if (m->cfg.store && m->cfg.ranks > 1)
		rf_member_exchange(m);
	else
		first_step(m, now);
	rf_member_advance(m, now);
	rf_member_ran(m, now);
}

static void exchanged(struct rf_member *m, int status, const char *text, const uint8_t *cards,
		      uint64_t now)
{
	char why[RF_MEMBER_TEXT];

	if (!status) {
		status = rf_member_read_cards(m, cards, why, sizeof(why));
		text = why;
	}
	if (status)
		give_up(m, status, text, now);
	else
		first_step(m, now);
}

static void reported(struct rf_member *m, int status, const char *text, const uint8_t *reports,
		     uint64_t now)
{
	char why[RF_MEMBER_TEXT];

	if (!status) {
		status = rf_member_read_reports(m, reports, why, sizeof(why));
		text = why;
	} else if (m->step_status) {
		/* no other rank answers any more: our own failure counts */
		status = m->step_status;
		text = m->step_text;
	}
	agreed(m, status, text, now);
}

void rf_member_gathered(struct rf_member *m, int status, const char *text, unsigned int culprit,
			const uint8_t *values, uint64_t now)
{
	if (!m->gathering)
		return;
	m->gathering = false;
	m->changes++;
	if (status && culprit != RF_MEMBER_NOBODY && m->phase != RF_MEMBER_ENDING)
		rf_member_blame(m, culprit);
	switch (m->phase) {
	case RF_MEMBER_EXCHANGE:
		exchanged(m, status, text, values, now);
		break;
	case RF_MEMBER_REPORT:
		reported(m, status, text, values, now);
		break;
	case RF_MEMBER_ENDING:
		rf_member_leave_box(m, true, now);
		break;
	default:
		break;
	}
	rf_member_advance(m, now);
	rf_member_ran(m, now);
}
