/*
 * A heap of nodes for shortest paths.
 */
#ifndef RF_PLANNER_HEAP_H
#define RF_PLANNER_HEAP_H

/* Nodes by key, the least key first; a node may be in the heap several times. */
struct heap {
	struct heap_entry {
		double key;
		int node;
	} * entry;
	int count, room;
};

void heap_push(struct heap *h, double key, int node);
struct heap_entry heap_pop(struct heap *h);

#endif
