/* The connections of a rank over a NIC: host/back/verbs.h. */
#ifndef RF_MEMBER_PAIR_VERBS_H
#define RF_MEMBER_PAIR_VERBS_H

#include "host/back/verbs.h"
#include "host/member/pair.h"

struct rf_pair_verbs {
	struct rf_pair base;
	struct rf_verbs *verbs;
	struct rf_verbs_qp *to_next, *from_prev;
	struct rf_verbs_qp *far_next[RF_PAIR_FAR], *far_prev[RF_PAIR_FAR];
	struct {
		const void *addr;
		struct rf_verbs_mem *mem; /* NULL: free place */
	} memory[RF_PAIR_MEMORIES];
};

/*
 * Creates the queue pairs; their numbers are in to_next and from_prev. Returns 0, or a negative
 * enum rf_status with a text; then base.ops->disconnect() still has to be called.
 */
int rf_pair_verbs_init(struct rf_pair_verbs *p, struct rf_verbs *verbs, char *why, size_t room);

#endif
