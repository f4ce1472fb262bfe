/* Ranks: a pool shared by all groups; each group's list is ordered by rank. */
#include <string.h>

#include "firmware/core/internal.h"

_Static_assert(RF_FW_MEMBERS < RF_FW_NO_MEMBER, "numbers of members fit 16 bits");
_Static_assert(RF_FW_RANKS_MAX <= 256u, "ranks fit 8 bits");
_Static_assert(RF_FW_RANKS_MAX <= RF_CTL_RANKS_MAX, "messages have room for all ranks");

void rf_fw_member_init(struct rf_fw *fw)
{
	/* A member is zeroed when it is allocated, so the start costs nothing for each. */
	fw->members = 0;
	fw->free_member = RF_FW_NO_MEMBER;
}

struct rf_fw_member *rf_fw_member_find(struct rf_fw *fw, const struct rf_fw_group *g,
				       unsigned int rank)
{
	struct rf_fw_member *m;

	for (m = rf_fw_first(fw, g); m; m = rf_fw_next(fw, m))
		if (m->rank == rank)
			return m;
	return NULL;
}

/* The list link that points to the rank, or would if the rank were in the list. */
static uint16_t *link_to(struct rf_fw *fw, struct rf_fw_group *g, unsigned int rank)
{
	uint16_t *link = &g->first;

	while (*link != RF_FW_NO_MEMBER && fw->member[*link].rank < rank)
		link = &fw->member[*link].next;
	return link;
}

struct rf_fw_member *rf_fw_member_add(struct rf_fw *fw, struct rf_fw_group *g, unsigned int rank)
{
	struct rf_fw_member *m;
	uint16_t *link;
	uint16_t self = fw->free_member;

	if (rf_fw_member_full(fw))
		return NULL;
	if (self == RF_FW_NO_MEMBER) {
		self = fw->members++;
		m = &fw->member[self];
	} else {
		m = &fw->member[self];
		fw->free_member = m->next;
	}
	memset(m, 0, sizeof(*m));
	m->used = 1;
	m->rank = (uint8_t)rank;
	m->peer = RF_FW_NO_MEMBER;
	link = link_to(fw, g, rank);
	m->next = *link;
	*link = self;
	return m;
}

void rf_fw_member_drop(struct rf_fw *fw, struct rf_fw_group *g, unsigned int rank)
{
	uint16_t *link = link_to(fw, g, rank);
	uint16_t self = *link;
	struct rf_fw_member *m = rf_fw_member_get(fw, self);

	if (!m || m->rank != rank)
		return;
	*link = m->next;
	m->used = 0;
	m->next = fw->free_member;
	fw->free_member = self;
}

void rf_fw_member_drop_all(struct rf_fw *fw, struct rf_fw_group *g)
{
	struct rf_fw_member *m;

	while ((m = rf_fw_first(fw, g)) != NULL)
		rf_fw_member_drop(fw, g, m->rank);
}
