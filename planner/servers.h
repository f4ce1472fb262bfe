/*
 * Trees of schemes that end at parameter servers and merge a stream once: each worker's stream of
 * a chunk goes to a box, or straight to the server.
 */
#ifndef RF_PLANNER_SERVERS_H
#define RF_PLANNER_SERVERS_H

#include "planner/schemes.h"

/* The servers, or where there is none the one of choose_server(). */
int *servers_list(const struct topology *t, int *count);

/*
 * Adds a tree: worker i (of t->worker) merges at box at[i], or nowhere (-1); boxes send to the
 * server. What would merge alone goes straight on. Routes by the router, mirrored down.
 */
void merge_once(struct plan *p, const struct topology *t, struct router *r, int server,
		const int *at, double share);

#endif
