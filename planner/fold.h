/*
 * Folds a network: the workers at one switch become one worker, and nodes that can be exchanged
 * become a class.
 *
 * Racks. If each tree gives the workers of a rack a number of edge ends together, then, with
 * fractions over the trees, every division of them among the workers is possible that leaves each
 * worker at least one. So the links of a rack are one row of the linear program, with the sum of
 * their capacities. One more row for all racks says that no worker's link is less than the
 * throughput. Workers of a rack may have different links.
 *
 * Twins. Two nodes can be exchanged if their links lead to the same nodes with the same capacities,
 * and if they and their racks are alike. All such exchanges together move every link to any other
 * link between the same two classes. So the mean of a plan's images loads the links of a class
 * equally, and there are optimal prices that are equal within a class: a program with one row for
 * each class has the same optimum. Twins are found by comparing lists, not by hashes.
 *
 * Only for networks whose links have equal capacities in both directions and whose workers have no
 * limit of processing.
 */
#ifndef RF_PLANNER_FOLD_H
#define RF_PLANNER_FOLD_H

#include "plan/topology.h"

struct fold {
	const struct topology *t;
	struct topology *c;  /* the folded network; owned */
	int *node;           /* node of t, by node of c: for a rack its first worker */
	int *arc;            /* arc of t, by arc of c */
	int *copies;         /* by node of c: the other workers of its rack */
	int *first, *member; /* the rack of node i of c: member[first[i]] .. of t */
	double least;        /* least capacity of the links of workers in racks; INFINITY: none */
	/* Links of each node of c, without those to racks, by neighbour and capacity. */
	int *link_first, *link;
	int *rack; /* by node of c: the worker that stands for its rack, -1: none */
	/* Classes of exchangeable nodes; workers that stand for racks are in no class (-1). */
	int *twin;
	int twins;
	int *twin_first, *twin_member;
	/* Rows of the program: of the links of c, then of its nodes; -1: no limit. */
	int rows;
	int *row;
	double *own;   /* limit of that link or node alone */
	double *limit; /* of a row: sum over its class */
};

/* NULL: the network cannot be folded. */
struct fold *fold_new(const struct topology *t);
void fold_free(struct fold *f);

/* The number-th link, from 0, between two nodes in f->link; -1 if there are fewer. */
int fold_find_link(const struct fold *f, int from, int to, int number);
/* The number, from 0, of a link among those from the node to the same neighbour. */
int fold_link_number(const struct fold *f, int from, int link);
/* Whether two nodes of c can be exchanged; tests check f->twin by it. */
bool fold_is_twin(const struct fold *f, int a, int b);

#endif
