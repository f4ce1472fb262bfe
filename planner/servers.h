/*
 * Trees of schemes that end at parameter servers and merge each stream at most once: each worker's
 * stream of a chunk goes to a box, or directly to the server.
 */
#ifndef RF_PLANNER_SERVERS_H
#define RF_PLANNER_SERVERS_H

#include "plan/plan.h"
#include "planner/router.h"

/*
 * The server of a scheme with one server: the one with the largest ingress, or, if there is none,
 * the worker with the largest ingress.
 */
int servers_choose(const struct topology *t);

/* The servers, or, if there are none, the one of servers_choose(). The caller frees. */
int *servers_list(const struct topology *t, int *count);

/*
 * Adds a tree: worker i (of t->worker) merges at box at[i], or nowhere (-1); boxes send to the
 * server. A stream that would be alone at its box goes directly to the server. The router chooses
 * the routes; the way down mirrors the way up.
 */
void servers_merge_once(struct plan *p, const struct topology *t, struct router *r, int server,
			const int *at, double share);

#endif
