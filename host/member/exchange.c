/* What the ranks of a group tell each other through the store while it is created. */
#include "host/member/internal.h"

#include <stdio.h>
#include <string.h>

#include "proto/rf_bytes.h"

/*
 * Bytes that a rank publishes before anything else: its numbers, its settings, and the numbers of
 * its connections beyond the neighbours.
 */
#define CARD 28u
#define CARD_FAR 8u
/* Bytes of a rank's report about a step: status, whether it only repeats another rank's, text. */
#define REPORT RF_MEMBER_VALUE_MAX
#define REPORT_SECOND_HAND 4u
#define REPORT_TEXT 5u
/* Added to the group's timeout: other ranks may still be in a step that ends at its own deadline.
 */
#define REPORT_GRACE_MS 5000u

static void gather(struct rf_member *m, size_t len, unsigned int timeout_ms)
{
	m->gather.len = len;
	m->gather.timeout_ms = timeout_ms;
	m->gather.number++;
	m->gathering = true;
	m->changes++;
}

/* By the number of ranks alone: ranks of different settings must understand each other. */
static size_t card_len(const struct rf_member *m)
{
	return CARD + (rf_hosts_reach(m->cfg.ranks) - 1) * CARD_FAR;
}

void rf_member_exchange(struct rf_member *m)
{
	const struct rf_member_cfg *cfg = &m->cfg;
	uint8_t *card = m->gather.value;

	memset(card, 0, card_len(m));
	rf_put_be32(card, cfg->own.recv_qpn);
	rf_put_be32(card + 4, cfg->own.start_psn);
	rf_put_be32(card + 8, cfg->own.send_qpn);
	card[12] = (uint8_t)cfg->type;
	card[13] = (uint8_t)cfg->op;
	card[14] = (uint8_t)cfg->schedule;
	card[15] = (uint8_t)cfg->fallback;
	rf_put_be32(card + 16, cfg->slots);
	rf_put_be16(card + 20, cfg->flags);
	for (unsigned int k = 0; k < rf_member_far(m); k++) {
		rf_put_be32(card + CARD + k * CARD_FAR, m->pair->numbers[k].recv_qpn);
		rf_put_be32(card + CARD + k * CARD_FAR + 4, m->pair->numbers[k].send_qpn);
	}
	snprintf(m->gather.name, sizeof(m->gather.name), "the start of group %u", cfg->number);
	rf_member_enter(m, RF_MEMBER_EXCHANGE);
	gather(m, card_len(m), (unsigned int)(cfg->exchange_ns / RF_MEMBER_MS));
}

/* The setting in which JOIN flags differ. */
static const char *setting_of(uint16_t apart)
{
	if (apart & (RF_CTL_J_MIRROR | RF_CTL_J_SHIFTED))
		return "RF_STEERING";
	return apart & RF_CTL_J_SELECTIVE ? "RF_SELECTIVE" : "RF_STRAGGLER";
}

/* Describes how two ranks' cards differ. */
static void differ_text(const uint8_t *card, const uint8_t *first, unsigned int r, char *text,
			size_t room)
{
	if (card[15] != first[15])
		snprintf(text, room,
			 "rank %u and rank 0 differ in RF_FALLBACK: set it to the same value on "
			 "all ranks",
			 r);
	else if (rf_get_be32(card + 16) != rf_get_be32(first + 16))
		snprintf(text, room,
			 "rank %u asks for %u slots and rank 0 for %u: set RF_SLOTS to the same "
			 "value on all ranks",
			 r, rf_get_be32(card + 16), rf_get_be32(first + 16));
	else if (memcmp(card + 12, first + 12, 8) == 0)
		snprintf(
			text, room,
			"rank %u and rank 0 differ in %s (JOIN flags 0x%x and 0x%x): set it to the "
			"same value on all ranks",
			r, setting_of(rf_get_be16(card + 20) ^ rf_get_be16(first + 20)),
			rf_get_be16(card + 20), rf_get_be16(first + 20));
	else
		snprintf(text, room,
			 "rank %u makes a group of %s %s by the %s, rank 0 one of %s %s by the %s",
			 r, rf_type_name((enum rf_type)card[12]), rf_op_name((enum rf_op)card[13]),
			 card[14] == RF_SCHEDULE_RING ? "ring" : "box",
			 rf_type_name((enum rf_type)first[12]), rf_op_name((enum rf_op)first[13]),
			 first[14] == RF_SCHEDULE_RING ? "ring" : "box");
}

int rf_member_read_cards(struct rf_member *m, const uint8_t *cards, char *text, size_t room)
{
	unsigned int r;

	for (r = 0; r < m->cfg.ranks; r++) {
		const uint8_t *card = cards + r * card_len(m);

		m->ends[r].recv_qpn = rf_get_be32(card);
		m->ends[r].start_psn = rf_get_be32(card + 4);
		m->ends[r].send_qpn = rf_get_be32(card + 8);
		for (unsigned int k = 0; k < rf_member_far(m); k++) {
			m->far[r][k].recv_qpn = rf_get_be32(card + CARD + k * CARD_FAR);
			m->far[r][k].send_qpn = rf_get_be32(card + CARD + k * CARD_FAR + 4);
		}
		if (memcmp(card + 12, cards + 12, CARD - 12) == 0)
			continue;
		differ_text(card, cards, r, text, room);
		return RF_ERR_MISMATCH;
	}
	return RF_OK;
}

static const char *step_name(enum rf_member_step step)
{
	static const char *const names[] = {"JOIN", "JOIN with fewer slots", "connections",
					    "check of the path"};

	return names[step];
}

void rf_member_report(struct rf_member *m)
{
	uint8_t *own = m->gather.value;

	memset(own, 0, REPORT);
	rf_put_be32(own, (uint32_t)m->step_status);
	own[REPORT_SECOND_HAND] = m->by_announcement;
	snprintf((char *)own + REPORT_TEXT, REPORT - REPORT_TEXT, "%.250s", m->step_text);
	snprintf(m->gather.name, sizeof(m->gather.name), "group %u, %s", m->cfg.number,
		 step_name(m->step));
	rf_member_enter(m, RF_MEMBER_REPORT);
	gather(m, REPORT, (unsigned int)(m->cfg.timeout_ns / RF_MEMBER_MS) + REPORT_GRACE_MS);
}

/* Failures that follow from another rank's failure, which is more specific. */
static bool secondary(const uint8_t *report)
{
	int status = (int)rf_get_be32(report);

	return status == RF_ERR_TIMEOUT || status == RF_ERR_ABORTED || report[REPORT_SECOND_HAND];
}

int rf_member_read_reports(struct rf_member *m, const uint8_t *all, char *text, size_t room)
{
	unsigned int r, who = 0;
	int worst = RF_OK, at = 0;

	for (r = 0; r < m->cfg.ranks; r++) {
		const uint8_t *report = all + r * REPORT;
		int s = (int)rf_get_be32(report);

		if (!s || (s > 0 && worst) ||
		    (worst < 0 && (!secondary(all + who * REPORT) || secondary(report))))
			continue;
		worst = s;
		who = r;
	}
	if (who != m->cfg.rank)
		at = snprintf(text, room, "rank %u: ", who);
	snprintf(text + at, room - (size_t)at, "%.250s",
		 (const char *)all + who * REPORT + REPORT_TEXT);
	if (worst < 0 && who != m->cfg.rank) {
		m->culprit = who;
		m->by_announcement = true;
	}
	return worst;
}
