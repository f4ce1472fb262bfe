/*
 * The random draws of GRID and InArt.
 */
#ifndef RF_PLANNER_DRAWS_H
#define RF_PLANNER_DRAWS_H

#include "planner/scheme.h"

/*
 * The number of draws of GRID and InArt: the requested number, or more on small networks unless the
 * algorithm as printed is requested.
 */
int draws_number(const struct topology *t, const struct scheme_options *o);
/*
 * Draws beyond the requested number. A vertex has few places for each stream, so all draws from it
 * may be alike. Therefore a few streams leave the relaxation and merge anywhere, while the others
 * keep their places of the best draw so far. From time to time all streams draw from the relaxation
 * again (is_fresh).
 */
bool draws_is_fresh(int number, const struct scheme_options *o);
bool draws_anew(uint64_t *random, int streams);
int draws_any(const int *box, int boxes, uint64_t *random);

#endif
