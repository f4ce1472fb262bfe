/*
 * Shares in whole chunk classes.
 */
#ifndef RF_PLANNER_QUANTISE_H
#define RF_PLANNER_QUANTISE_H

#include "plan/plan.h"

/* Makes every share a multiple of 1 / chunks, some of them 0; plan_quantise does the rest. */
void quantise_shares(const struct topology *t, struct plan *p, int chunks);

#endif
