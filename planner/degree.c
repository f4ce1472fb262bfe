/*
 * The degree bound.
 *
 * The network is divided into parts that have data, and each part is contracted to one node. The
 * sum leaves every part except one (otherwise it would not reach the root), and reaches every part
 * except one. So 2 (parts - 1) streams enter parts or other nodes that merge. The throughput times
 * this number is at most what those can receive: a part, the capacity of the links that lead into
 * it; a box outside of all parts, its processing rate (the way down ends at workers), and at most
 * the capacity of its links, or of as many of them as it has ports; a host without data likewise.
 * If boxes merge on the way, there are more such streams, not fewer.
 *
 * Any division into parts gives a bound. Here a part is a single worker or a rack: the workers at a
 * switch, with the switch and its boxes. Racks are contracted if that lowers the bound.
 */
#include <math.h>
#include <stdlib.h>

#include "planner/bounds.h"
#include "planner/mem.h"

#define ROUNDS_MOST 30

static int largest_first(const void *a, const void *b)
{
	double x = *(const double *)a;
	double y = *(const double *)b;

	return (x < y) - (x > y);
}

/* A rack as one part, and as single parts. */
struct part {
	double into;   /* capacity of the links that lead into it */
	double pieces; /* what its workers, boxes and servers can receive one by one */
	int workers;
};

/* The capacity into a box over its largest links, as many as it has ports. */
static double port_ingress(const struct topology *t, int node)
{
	int links = t->first[node + 1] - t->first[node];
	int ports = topo_ports(t, node);
	double *in;
	double sum = 0;

	if (ports >= links)
		return topo_ingress(t, node);
	in = mem_new((size_t)links, sizeof(double));
	for (int i = 0; i < links; i++)
		in[i] = topo_arc_capacity(t, t->out[t->first[node] + i] ^ 1);
	qsort(in, (size_t)links, sizeof(double), largest_first);
	for (int i = 0; i < ports; i++)
		sum += in[i];
	free(in);
	return sum;
}

static double own_share(const struct topology *t, int node)
{
	const struct topo_node *n = &t->node[node];

	if (n->worker)
		return topo_ingress(t, node);
	if (!topo_is_optional(t, node))
		return 0;
	return fmin(n->kind == TOPO_BOX ? port_ingress(t, node) : topo_ingress(t, node),
		    n->processing);
}

/*
 * Finds a part for each switch and box to which nodes with one link are attached. *rest is what all
 * other nodes can receive, *single the number of workers among them.
 */
static struct part *find_parts(const struct topology *t, double *rest, int *single)
{
	struct part *part = mem_new((size_t)t->nodes, sizeof(*part));

	for (int i = 0; i < t->nodes; i++)
		if (t->node[i].rack >= 0)
			part[t->node[i].rack].workers +=
				t->node[i].kind == TOPO_HOST && t->node[i].worker;
	for (int i = 0; i < t->nodes; i++) {
		int rack = t->node[i].rack;
		bool in = rack >= 0 && part[rack].workers > 0 && part[i].workers == 0;

		if (part[i].workers > 0) {
			part[i].into += topo_ingress(t, i);
			part[i].pieces += own_share(t, i);
		} else if (in) {
			part[rack].into -= topo_egress(t, i);
			part[rack].pieces += own_share(t, i);
		} else {
			*rest += own_share(t, i);
			*single += t->node[i].kind == TOPO_HOST && t->node[i].worker;
		}
	}
	return part;
}

/*
 * The bound if each rack is contracted where that is lower at this rate: what is received /
 * streams.
 */
static double bound_at(const struct topology *t, const struct part *part, double rest, int single,
		       double streams, double rate)
{
	double sum = rest;
	double parts = single;

	for (int i = 0; i < t->nodes; i++) {
		const struct part *k = &part[i];
		bool whole = k->into - streams * rate < k->pieces - streams * rate * k->workers;

		if (k->workers == 0)
			continue;
		sum += whole ? k->into : k->pieces;
		parts += whole ? 1 : k->workers;
	}
	return parts < 2 ? INFINITY : sum / (streams * (parts - 1));
}

double bound_degree(const struct topology *t, bool reduce_only)
{
	double streams = reduce_only ? 1 : 2;
	double rest = 0;
	int single = 0;
	struct part *part = find_parts(t, &rest, &single);
	/*
	 * Start with single workers as parts. The best parts for the latest bound give a bound that
	 * is not higher (Dinkelbach).
	 */
	double bound = INFINITY;
	double next = 1e300;

	if (t->workers >= 2)
		next = bound_at(t, part, rest, single, streams, 0);
	for (int i = 0; i < ROUNDS_MOST && t->workers >= 2; i++) {
		bound = fmin(bound, next);
		next = bound_at(t, part, rest, single, streams, bound);
		if (!(next < bound * (1 - 1e-12)))
			break;
	}
	free(part);
	return bound;
}
