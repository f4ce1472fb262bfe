/*
 * Makes a plan from trees of classes: images of each tree under exchanges of twins, chosen so that
 * links fill evenly; one linear program over them; the workers of each rack in turns.
 */
#ifndef RF_PLANNER_UNFOLD_H
#define RF_PLANNER_UNFOLD_H

#include "planner/quotient.h"

/*
 * The best plan found with that part of the work; seed: of random choices; trees: limit. Images are
 * added until the plan is within that gap, relative, of the value by classes. NULL: none.
 */
struct plan *unfold(struct quotient *q, const char *name, int trees, double gap, uint64_t seed,
		    double part);

#endif
