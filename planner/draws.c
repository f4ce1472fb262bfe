/*
 * How often GRID and InArt draw, and what.
 */
#include "planner/draws.h"

#define FRESH 500     /* after this many draws of a few streams, all streams draw again */
#define AT_ONCE 2.0   /* average number of streams that draw again */
#define DRAW_WORK 2e5 /* draws x (nodes + links): small networks get more draws */

bool draws_is_fresh(int number, const struct scheme_options *o)
{
	return number < o->roundings || number % FRESH == 0;
}

int draws_number(const struct topology *t, const struct scheme_options *o)
{
	double draws = DRAW_WORK / (t->nodes + t->links);

	return o->as_printed || draws < o->roundings ? o->roundings : (int)draws;
}

bool draws_anew(uint64_t *random, int streams)
{
	return topo_uniform(random) * streams < AT_ONCE;
}

int draws_any(const int *box, int boxes, uint64_t *random)
{
	int n = (int)(topo_uniform(random) * (boxes + 1));

	return n < boxes ? box[n] : -1;
}
