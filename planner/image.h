/*
 * Trees of a folded network as trees of the network itself.
 */
#ifndef RF_PLANNER_IMAGE_H
#define RF_PLANNER_IMAGE_H

#include "planner/fold.h"
#include "plan/plan.h"

/*
 * A tree of a pool: edges up join two terminals of the folded network each; an edge down with arcs
 * is one of a rack's other workers that hangs on a terminal, one without says that they all hang
 * on each other.
 */
struct image {
	int tree;
	double share;
};

/* Where an arc of the folded network goes when nodes go to `to`. */
int image_arc(const struct fold *f, const int *to, int arc);
/* Workers that stand for racks go where their switches go. */
void image_racks(const struct fold *f, int *to);
/*
 * The plan of images with a positive share. Workers of a rack take turns, so that the fullest of
 * their links is as full as it has to be.
 */
struct plan *image_plan(const struct fold *f, const struct plan *pool, const char *name,
			const struct image *image, int images);

#endif
