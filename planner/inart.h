/*
 * InArt's model as its paper states it: no links inside the network, one merge of each stream.
 */
#ifndef RF_PLANNER_INART_H
#define RF_PLANNER_INART_H

#include "plan/plan.h"

/*
 * L-InArt: shares of the servers if links have no limit. Returns the rate of all shares together;
 * rate_max: of a worker. Among equal optima the shares are as even as possible.
 */
double inart_shares(const struct topology *t, const int *server, int servers, double rate_max,
		    double *share);
/*
 * The best assignment of whole streams for given shares, for both ways or the way up alone. Adds
 * its trees to the plan. Returns the rate; -1: there are too many assignments to try them all.
 */
double inart_exact(const struct topology *t, const int *server, int servers, const double *share,
		   bool reduce_only, struct plan *p);
/*
 * R-InArt's choice by a number u in [0, 1) among parts that add up to 1: the first part for which
 * the sum up to and including it is at least u.
 */
int inart_pick(const double *part, int n, double u);

#endif
