/*
 * A network folded: the workers on one switch become one, and nodes that can be exchanged become a
 * class.
 *
 * Racks. Where each tree gives the workers of a rack so many ends of edges together, every division
 * among them that leaves each at least one is possible, in fractions over the trees. So their links
 * are one row of the linear program, the sum of them, with one more row for all: no worker's link
 * is less than the throughput. Workers of a rack may have different links.
 *
 * Twins. Two nodes whose links lead to the same nodes with the same capacities, and which are alike
 * themselves with their racks, can be exchanged. All such exchanges together move every link to any
 * other between the same two classes. So the mean of a plan's images loads the links of a class
 * alike, and there are prices that are alike within a class: a program with one row for each class
 * has the same optimum. Twins are found by comparing lists, not by hashes.
 *
 * For networks whose links are alike both ways and whose workers have no limit of processing.
 */
#ifndef RF_PLANNER_FOLD_H
#define RF_PLANNER_FOLD_H

#include "plan/topology.h"

struct fold {
	const struct topology *t;
	struct topology *c;  /* folded; owned */
	int *node;           /* of t, by node of c: the first of a rack */
	int *arc;            /* of t, by arc of c */
	int *copies;         /* by node of c: workers of the rack besides that one */
	int *first, *member; /* the rack of node i of c: member[first[i]] .. of t */
	double least;        /* of the links of workers in racks; INFINITY */
	/* Links of a node of c, those to racks left out, by neighbour and capacity. */
	int *link_first, *link;
	int *rack; /* by node of c: the worker that stands for its rack, -1 */
	/* Classes of exchangeable nodes; workers that stand for racks are in none (-1). */
	int *twin;
	int twins;
	int *twin_first, *twin_member;
	/* Rows of the program: of links of c, then of its nodes; -1: no limit. */
	int rows;
	int *row;
	double *own;   /* the limit of that link or node alone */
	double *limit; /* of a row: all of its class together */
};

/* NULL: the network is not of that kind. */
struct fold *fold_new(const struct topology *t);
void fold_free(struct fold *f);

/* The link between two nodes that is the number-th in a list as f->link has it; -1. */
int fold_find_link(const struct fold *f, int from, int to, int number);
/* Which of them a link is, seen from the node. */
int fold_link_number(const struct fold *f, int from, int link);
/* Whether two nodes of c can be exchanged: what f->twin says is checked by it in the tests. */
bool fold_is_twin(const struct fold *f, int a, int b);

#endif
