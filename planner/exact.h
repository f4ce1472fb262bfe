/*
 * Plans and bounds in rational arithmetic: capacities, shares and prices are rounded to fractions
 * of a fixed denominator, and from there on nothing is rounded.
 */
#ifndef RF_PLANNER_EXACT_H
#define RF_PLANNER_EXACT_H

#include <stdint.h>

#include "plan/plan.h"

/* num / den, den positive. */
struct fraction {
	__int128 num, den;
};

double fraction_value(struct fraction f);
/* Whether a <= b. Products that do not fit end the process. */
bool fraction_at_most(struct fraction a, struct fraction b);

/*
 * The throughput of a plan with its shares rounded to multiples of 2^-30 (their sum is what it
 * then is), links and boxes as they are: capacities have to be multiples of 2^-10. An achievable
 * value. -1: a capacity is not such a number, or the trees are wrong.
 */
int exact_throughput(const struct topology *t, const struct plan *p, struct fraction *value);

/*
 * The bound that the prices of a plan's certificate give, in doubles: capacity x price / the
 * cheapest tree, which is looked for among all of them. NAN: there are no prices, or too many
 * trees.
 */
double bound_by_prices(const struct topology *t, const struct plan *p, bool merging);

/* The same where links have one price for both directions and merging has none: spanning trees
 * instead of arborescences, by classes of links where there are many boxes (certify.c). */
double bound_by_spanning(const struct topology *t, const struct plan *p, bool merging);

/*
 * The bound that the certificate's prices give, after rounding them to multiples of 2^-30 of the
 * largest (any prices give a bound): capacity x price / the cheapest way up and down, over all
 * roots and all choices of merging nodes. merging: whether boxes and servers may merge. -1: no
 * prices, more than 10 boxes and servers, or a capacity that is no multiple of 2^-10.
 */
int exact_bound(const struct topology *t, const struct plan *p, bool merging,
		struct fraction *value);

#endif
