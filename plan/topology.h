/*
 * The network that a plan is made for: hosts, switches, boxes, and links with a capacity and a
 * delay in each direction.
 *
 * Units: capacities and rates use the unit that the file names (default "Gbps"); delays are
 * seconds. The planner does not convert units: its rates have the unit of the capacities.
 *
 * A box is a node that may merge: it sums the packets of one chunk and sends the result on. A
 * switch only forwards. A host holds data (it is a worker) unless its "worker" is false: then it
 * can be a parameter server, or merge and relay if it has several links (topo_may_merge).
 *
 * Thread rule: any number of threads may read a topology that no thread changes.
 */
#ifndef RF_PLANNER_TOPOLOGY_H
#define RF_PLANNER_TOPOLOGY_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TOPO_NAME_MAX 64
#define TOPO_ERROR_MAX 512
/*
 * Range of capacities, and the largest allowed ratio of the largest capacity to the smallest
 * capacity or processing rate.
 */
#define TOPO_CAPACITY_MIN 1e-30
#define TOPO_CAPACITY_MAX 1e30
#define TOPO_RATIO_MAX 1e9
#define TOPO_DELAY_MAX 1e6 /* seconds, of one link; keeps sums and products finite */

enum topo_kind { TOPO_HOST, TOPO_SWITCH, TOPO_BOX };

/* Kind of a node in files. A GPU is a host and an NVSwitch a switch, inside a machine. */
enum topo_variant { TOPO_PLAIN, TOPO_GPU, TOPO_NVSWITCH };

#define TOPO_LIMIT_MAX 1000000 /* largest value of each limit in a file */
#define TOPO_UNLIMITED INT_MAX

/*
 * Limits of a box (docs/planner.md, "What a box can hold"), each TOPO_UNLIMITED or at least 1;
 * beside other jobs, ports can be 0.
 */
struct topo_limits {
	int groups; /* trees that have the box as a node */
	int ranks;  /* neighbours in one tree */
	int fan_in; /* neighbours in one tree that send to the box on the way up */
	int slots;  /* chunks in flight, over all its trees; each tree needs at least one */
	int ports;  /* links over which it sends and receives as a node of trees, besides held ones
		     */
};

/* The limits of the shipped box. */
struct topo_limits topo_limits_shipped(void);
/* No limits. */
struct topo_limits topo_limits_none(void);
bool topo_limits_same(const struct topo_limits *a, const struct topo_limits *b);

struct topo_node {
	char name[TOPO_NAME_MAX];
	enum topo_kind kind;
	bool worker; /* a host whose data is summed */
	bool server; /* a host that may be a parameter server */
	bool taken;  /* a host of another job, which only helps that job; not in files */
	/*
	 * Of a box: the rate at which it can receive packets that it merges, summed over all
	 * inputs. Of a host: the rate at which it can receive as a parameter server. INFINITY:
	 * limited by its links only.
	 */
	double processing;
	struct topo_limits limits; /* of a box */
	enum topo_variant variant;
	char machine[TOPO_NAME_MAX]; /* empty: none */
	int order; /* index in the file that it came from; error messages and names that users give
		      refer to it */
	int rack;  /* the switch or box to which a host or a box is attached by its only link; -1:
		      switches, nodes with several links */
};

/* Arc 2i is link i from a to b, arc 2i + 1 from b to a. */
struct topo_link {
	int a, b;
	double capacity[2]; /* [0] a to b, [1] b to a */
	double delay[2];    /* seconds */
	/*
	 * [0] at a, [1] at b: 1 if other jobs use the port of the box at that end, so that it does
	 * not count against the box's ports; not in files. No bool: links have no padding, so that
	 * equal ones have equal bytes.
	 */
	int held[2];
};

struct topology {
	char name[TOPO_NAME_MAX];
	char unit[16];
	struct topo_node *node;
	struct topo_link *link;
	int nodes, links;
	int node_room, link_room;
	/*
	 * Filled by topo_finish: the arcs that leave node n are out[first[n]] .. out[first[n + 1] -
	 * 1].
	 */
	int *first, *out;
	/* Filled by topo_finish: node indexes of the workers and of the boxes. */
	int *worker, *box;
	int workers, boxes;
};

/* Reason for an error: one line without a line feed. */
struct topo_error {
	char text[TOPO_ERROR_MAX];
	int node, link; /* the node or link with the error; -1: none */
	int tree;       /* the tree of a plan with the error; -1: none */
};

/* Stores the reason in *e, which may be NULL. Returns -1. */
int topo_refuse(struct topo_error *e, int node, int link, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

static inline int topo_arc_from(const struct topology *t, int arc)
{
	return arc & 1 ? t->link[arc >> 1].b : t->link[arc >> 1].a;
}

static inline int topo_arc_to(const struct topology *t, int arc)
{
	return arc & 1 ? t->link[arc >> 1].a : t->link[arc >> 1].b;
}

static inline double topo_arc_capacity(const struct topology *t, int arc)
{
	return t->link[arc >> 1].capacity[arc & 1];
}

/* Whether other jobs use the port where an arc leaves a box. */
static inline bool topo_arc_held(const struct topology *t, int arc)
{
	return t->link[arc >> 1].held[arc & 1] != 0;
}

static inline double topo_arc_delay(const struct topology *t, int arc)
{
	return t->link[arc >> 1].delay[arc & 1];
}

/* --- construction ----------------------------------------------------------------------------- */

/* An empty topology. NULL if memory runs out. topo_free accepts NULL. */
struct topology *topo_new(const char *name);
void topo_free(struct topology *t);

/*
 * Adds a node or a link and returns its index, or -1 if memory runs out. Names longer than
 * TOPO_NAME_MAX - 1 are truncated. A new box has no limits. A link has the same capacity and delay
 * in both directions; change link[] afterwards for others.
 */
int topo_add_node(struct topology *t, enum topo_kind kind, const char *name, double processing);
int topo_add_link(struct topology *t, int a, int b, double capacity, double delay);

/*
 * Checks the topology and fills first, out, worker, box and rack. Call it once, after the last node
 * and link. Returns 0, or -1 with the reason in *e:
 * - no host has data, a node has no link, or the network is not connected;
 * - a name is used twice, is empty, or has control characters;
 * - a capacity is not positive or out of range, or too far from the other capacities or from a
 *   processing rate;
 * - a delay is out of range, or processing is not positive;
 * - a link joins a node to itself, or leads from an nvswitch out of its machine;
 * - a box cannot merge anything: following links from it through switches reaches no host and fewer
 *   than two other boxes.
 */
int topo_finish(struct topology *t, struct topo_error *e);

/* Makes a plain switch of a box, which then only forwards. */
void topo_make_switch(struct topo_node *n);
/*
 * Does so with every box that cannot merge anything, before topo_finish: parts of a network can
 * leave such boxes although the network had none. Returns 0, or -1 if memory runs out.
 */
int topo_drop_useless_boxes(struct topology *t);

/* The part of topo_finish that checks names: empty ones, control characters, duplicates. */
int topo_check_names(const struct topology *t, struct topo_error *e);
/* Whether a UTF-8 text has no control characters and no characters that XML forbids. */
bool topo_is_text(const char *s);

/* Node indexes sorted by name, for topo_find; the caller frees. NULL if memory runs out. */
int *topo_sort_names(const struct topology *t);
/* The node of that name, or -1. */
int topo_find(const struct topology *t, const int *sorted, const char *name);

/*
 * The number-th link between two neighbours, from 1, in the order of the links, as an arc; -1 if it
 * does not exist.
 */
int topo_find_arc(const struct topology *t, int from, int to, int number);
/* The number of an arc among the links between its two nodes, from 1. */
int topo_arc_number(const struct topology *t, int arc);

/*
 * A copy that is not finished: links and kinds may be changed before topo_finish. NULL if memory
 * runs out.
 */
struct topology *topo_copy(const struct topology *t);

/* --- files ------------------------------------------------------------------------------------ */

/* Reads a JSON file (schema: docs/planner.md). NULL with "FILE:LINE: reason" in *e. The caller
 * frees. */
struct topology *topo_read(const char *path, struct topo_error *e);
/* The same from text; name stands for the file in messages. */
struct topology *topo_parse(const char *text, size_t len, const char *name, struct topo_error *e);
/* JSON text with a line feed at the end, to be freed with free(); NULL if memory runs out. */
char *topo_format(const struct topology *t);

/* --- generators: plan/generate.c -------------------------------------------------------------- */

enum topo_shape {
	TOPO_STAR,
	TOPO_LEAF_SPINE,
	TOPO_FAT_TREE,
	TOPO_RAIL,
	TOPO_RANDOM,
	TOPO_MACHINES
};
/* Which switches are boxes. FRACTION: a random choice. */
enum topo_boxes {
	TOPO_BOX_NONE,
	TOPO_BOX_LEAVES,
	TOPO_BOX_SPINES,
	TOPO_BOX_ALL,
	TOPO_BOX_FRACTION
};

struct topo_spec {
	enum topo_shape shape;
	int hosts;  /* star, random: total number of hosts; leaf-spine, fat-tree: hosts per leaf;
		       rail: servers; machines: machines */
	int leaves; /* leaf-spine: leaves; rail, machines: rails (NICs of a server or machine);
		       random: switches */
	int spines;
	int k;         /* fat-tree: ports of a switch, even; hosts 0 means k / 2 hosts per leaf */
	int gpus;      /* machines: GPUs of each machine */
	double nvlink; /* machines: capacity between a GPU and its NVSwitch */
	int degree;    /* random: average number of links from a switch to other switches */
	double host_link; /* capacity */
	double fabric_link;
	double spread; /* capacities are random, uniform in (1 - spread, 1 + spread) x nominal */
	double delay;  /* of each link, seconds */
	enum topo_boxes boxes;
	double box_share;      /* TOPO_BOX_FRACTION: probability that a switch is a box */
	bool attached;         /* boxes are attached to their switch by a link of their own */
	double processing_min; /* random, uniform in (min, max); min = INFINITY: no limit */
	double processing_max;
	struct topo_limits limits; /* limits of every box */
	int workers;               /* number of hosts, chosen at random, that are workers; 0: all */
	int servers; /* number of other hosts, chosen at random, that are only parameter servers */
	uint64_t seed;
};

/* Default values of all fields for a shape. */
struct topo_spec topo_spec_default(enum topo_shape shape);
/* A finished topology, to be freed with topo_free, or NULL with the reason. */
struct topology *topo_generate(const struct topo_spec *spec, struct topo_error *e);

/* --- random numbers, the same on every machine ------------------------------------------------ */

uint64_t topo_random(uint64_t *state);
/* Uniform in [0, 1). */
double topo_uniform(uint64_t *state);

/* Sums of the capacities of the arcs that end at a node (ingress) or begin there (egress). */
double topo_ingress(const struct topology *t, int node);
double topo_egress(const struct topology *t, int node);
/*
 * Whether a node may be an inner node or the root of a tree, where data is merged, copied or
 * relayed: a box; a host that has data in the plan in question, or is a parameter server, or has
 * several links, and is not taken. A host with one link that is neither has no part in a plan.
 */
bool topo_may_merge(const struct topology *t, int node, bool has_data);
/*
 * The same for a node that a tree need not span: one without data in the topology. Every search for
 * trees and every bound counts these nodes, because the verifier accepts them.
 */
bool topo_is_optional(const struct topology *t, int node);
/* Whether a route may pass through a node without ending there: hosts do not forward. */
bool topo_forwards(const struct topology *t, int node);
/* The number of links of a box whose ports it may use: its ports and those that are held. */
int topo_ports(const struct topology *t, int node);
/*
 * Lists the nodes where the trees of a reduce-only plan may end: the servers, or all workers if
 * there are none. Returns their number; list has space for t->nodes.
 */
int topo_roots(const struct topology *t, int *list);

#endif
