/*
 * The choice of trees under limits of their number: a linear program over a pool of trees in which
 * every limited quantity is a row (a tree counts with its weight divided by its own highest rate),
 * and branch and bound over trees that are taken or left out.
 */
#ifndef RF_PLANNER_CHOICE_H
#define RF_PLANNER_CHOICE_H

#include "planner/master.h"
#include "planner/tree_load.h"

enum choice_verdict { CHOICE_OPEN, CHOICE_TAKEN, CHOICE_LEFT };

struct choice_decision {
	int tree;
	bool second; /* the tree is now left out, after it was taken */
};

struct choice {
	const struct topology *t;
	struct plan *pool;
	struct lp *lp;
	int trees; /* limit of trees; 0: none */
	int columns;
	int *row;     /* of arcs and nodes; -1: no limit */
	int *box_row; /* row of the number of trees at each node; -1: no limit */
	int all_row;
	int rows;
	double unit;
	double *most; /* by tree: its own highest rate, in units */
	int **box;    /* by tree: limited boxes that are its nodes, ended by -1 */
	int room;     /* allocated length of the arrays of trees */
	enum choice_verdict *verdict;
	double *scratch;
	struct tree_load load;
	struct choice_decision *stack;
	int depth;
	double *weight, *best;
	double value;
	double work;
	const struct work *limit; /* the time limit and the reporter */
};

/*
 * An empty pool of trees like those of p. trees: how many may be chosen, 0: any number. limit: must
 * live as long as c.
 */
void choice_begin(struct choice *c, const struct topology *t, int trees, const struct plan *p,
		  const struct work *limit);
void choice_end(struct choice *c);
/* Adds the trees of the pool that are new since the last call as columns. */
void choice_take_new(struct choice *c);
/*
 * Solves the program under the decisions so far and leaves weights in c->weight. Returns its value
 * in units; -1: no solution exists, or the time ended before one was found. taken: t->nodes + 1
 * elements of scratch space.
 */
double choice_relax(struct choice *c, int *taken);
/*
 * Searches for a choice better than c->value, which it raises, with weights in c->best. It ends by
 * itself on tiny pools, otherwise after a limited number of programs, or with the time.
 */
void choice_search(struct choice *c);

#endif
