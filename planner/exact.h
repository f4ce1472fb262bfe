/*
 * Evaluates plans and bounds in rational arithmetic: capacities, shares and prices are rounded to
 * fractions with a fixed denominator, and nothing is rounded after that.
 */
#ifndef RF_PLANNER_EXACT_H
#define RF_PLANNER_EXACT_H

#include <stdint.h>

#include "plan/plan.h"

/* num / den, den positive. */
struct exact_fraction {
	__int128 num, den;
};

double exact_value(struct exact_fraction f);
/* Whether a <= b. Aborts the process if a product overflows. */
bool exact_at_most(struct exact_fraction a, struct exact_fraction b);

/*
 * The throughput of a plan whose shares are rounded to multiples of 2^-30 (and add up to what they
 * then add up to), with the actual links and boxes. The value is achievable. -1: a capacity is not
 * a multiple of 2^-10, or the trees are invalid.
 */
int exact_throughput(const struct topology *t, const struct plan *p, struct exact_fraction *value);

/*
 * The bound from the prices of a plan's certificate, in doubles: capacity x price / the cheapest of
 * all trees. If there are too many trees for arborescences: exact_by_spanning(). NAN: there are no
 * prices, or too many trees for both. INFINITY: a tree costs nothing, so the prices prove nothing.
 */
double exact_by_prices(const struct topology *t, const struct plan *p, bool merging);

/*
 * The same if links have one price for both directions and merging has none: uses spanning trees
 * instead of arborescences, by classes of links if there are many boxes (certify.c).
 */
double exact_by_spanning(const struct topology *t, const struct plan *p, bool merging);

/*
 * The bound from the certificate's prices, rounded to multiples of 2^-30 of the largest (any prices
 * give a bound): capacity x price / the cheapest way up and down, over all roots and all choices of
 * merging nodes. merging: whether nodes without data may merge. -1: no prices, more than 10 such
 * nodes, or a capacity that is not a multiple of 2^-10.
 */
int exact_bound(const struct topology *t, const struct plan *p, bool merging,
		struct exact_fraction *value);

#endif
