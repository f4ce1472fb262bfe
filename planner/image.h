/*
 * Converts trees of a folded network to trees of the network itself.
 */
#ifndef RF_PLANNER_IMAGE_H
#define RF_PLANNER_IMAGE_H

#include "planner/fold.h"
#include "plan/plan.h"

/*
 * An image of a tree of a pool. In such a tree an up edge joins two terminals of the folded
 * network. A down edge stands for a rack's other workers: with arcs, one of them is attached to a
 * terminal; without arcs, all of them are attached to each other.
 */
struct image {
	int tree;
	double share;
};

/* The image of an arc of the folded network if node i moves to to[i]. */
int image_arc(const struct fold *f, const int *to, int arc);
/* Extends `to` to the workers that stand for racks: they follow their switches. */
void image_racks(const struct fold *f, int *to);
/*
 * The plan made of the images with a positive share. Workers of a rack take turns, so that their
 * links are loaded as evenly as possible.
 */
struct plan *image_plan(const struct fold *f, const struct plan *pool, const char *name,
			const struct image *image, int images);

#endif
