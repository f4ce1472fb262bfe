/*
 * The network that a plan is made for: hosts, switches, boxes, and links that have a capacity and
 * a delay in each direction.
 *
 * Units: capacities and rates are numbers of the unit that the file names ("Gbps" unless it says
 * otherwise), delays are seconds. The planner never mixes units: a rate comes out in the unit in
 * which the capacities went in.
 *
 * A box is a node that may merge: sum the packets of one chunk and send the result on. A switch
 * only forwards. A host holds data (it is a worker) unless its "worker" is false: then it may only
 * be a parameter server.
 *
 * Thread rule: a topology that is not being changed may be read by any number of threads.
 */
#ifndef RF_PLANNER_TOPOLOGY_H
#define RF_PLANNER_TOPOLOGY_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TOPO_NAME_MAX 64
#define TOPO_ERROR_MAX 512
/* Capacities, and by how much the largest may exceed the smallest and what a box takes in. */
#define TOPO_CAPACITY_MIN 1e-30
#define TOPO_CAPACITY_MAX 1e30
#define TOPO_RATIO_MAX 1e9
#define TOPO_DELAY_MAX 1e6 /* seconds of one link: their sums and products stay finite */

enum topo_kind { TOPO_HOST, TOPO_SWITCH, TOPO_BOX };

/* What a node is called in files. A GPU is a host and an NVSwitch a switch, inside a machine. */
enum topo_look { TOPO_PLAIN, TOPO_GPU, TOPO_NVSWITCH };

#define TOPO_HOLDS_MAX 1000000 /* of each limit in a file */
#define TOPO_UNLIMITED INT_MAX

/* What a box can hold of plans, each TOPO_UNLIMITED or a number from 1: docs/planner.md. */
struct topo_holds {
	int groups; /* trees that it is a node of */
	int ranks;  /* neighbours in one of them */
	int fan_in; /* of them those that send to it on the way up */
	int slots;  /* chunks under way, of all its trees; each takes one at least */
	int ports;  /* links over which it sends and receives as their node */
};

/* Those of the shipped box, and no limits. */
struct topo_holds topo_holds_shipped(void);
struct topo_holds topo_holds_all(void);
bool topo_holds_same(const struct topo_holds *a, const struct topo_holds *b);

struct topo_node {
	char name[TOPO_NAME_MAX];
	enum topo_kind kind;
	bool worker; /* a host whose data is summed */
	bool server; /* a host that may be a parameter server */
	/* What a box takes in of packets that it merges, all inputs together; a host: what it takes
	 * in as a parameter server. INFINITY: no limit beyond its links. */
	double processing;
	struct topo_holds holds; /* of a box */
	enum topo_look look;
	char machine[TOPO_NAME_MAX]; /* empty: none */
	int order; /* place in the file that it came from: names that people give refer to it */
	int rack;  /* the switch that a host or a box hangs on, -1 for switches and where many */
};

/* Arc 2i is link i from a to b, arc 2i + 1 from b to a. */
struct topo_link {
	int a, b;
	double capacity[2]; /* [0] a to b, [1] b to a */
	double delay[2];    /* seconds */
};

struct topology {
	char name[TOPO_NAME_MAX];
	char unit[16];
	struct topo_node *node;
	struct topo_link *link;
	int nodes, links;
	int node_room, link_room;
	/* Filled by topo_finish: arcs that leave node n are out[first[n]] .. out[first[n + 1] - 1].
	 */
	int *first, *out;
	/* Indexes of the workers, of the boxes. */
	int *worker, *box;
	int workers, boxes;
};

/* Why something was refused: one line without a line feed. */
struct topo_error {
	char text[TOPO_ERROR_MAX];
	int node, link; /* what it is about, -1 where it is about neither */
	int tree;       /* of a plan, likewise */
};

/* Writes the reason; returns -1. Any pointer may be NULL. */
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

static inline double topo_arc_delay(const struct topology *t, int arc)
{
	return t->link[arc >> 1].delay[arc & 1];
}

/* --- making one ------------------------------------------------------------------------------ */

/* An empty topology. NULL where memory is short. topo_free takes NULL. */
struct topology *topo_new(const char *name);
void topo_free(struct topology *t);

/* The new node's or link's index, or -1 where memory is short. Names longer than
 * TOPO_NAME_MAX - 1 are cut. A new box has no limits of what it holds. The same capacity and delay
 * in both directions; change link[] after.
 */
int topo_add_node(struct topology *t, enum topo_kind kind, const char *name, double processing);
int topo_add_link(struct topology *t, int a, int b, double capacity, double delay);

/*
 * Checks the whole and fills first, out, worker, box and rack; to be called once, after the last
 * node and link. 0, or -1 with the reason in *e: no hosts, a host with no link, duplicate names,
 * control characters in names, a capacity that is zero, negative, no number or out of range,
 * capacities or processing too far apart, a link from a node to itself, a disconnected topology, a
 * box with no host below it (walking from it through switches one meets no host and fewer than two
 * other boxes), processing that is not positive.
 */
int topo_finish(struct topology *t, struct topo_error *e);

/* The part of topo_finish that looks at names: empty ones, control characters, duplicates. */
int topo_check_names(const struct topology *t, struct topo_error *e);
/* Whether a UTF-8 text has no control characters and nothing that XML forbids. */
bool topo_is_text(const char *s);

/* Node indexes in the order of their names, for topo_find; the caller frees. NULL where memory is
 * short. */
int *topo_sort_names(const struct topology *t);
/* The node of that name, or -1. */
int topo_find(const struct topology *t, const int *sorted, const char *name);

/* The number-th link between two neighbours, from 1, in the order of the links, as an arc; -1. */
int topo_find_arc(const struct topology *t, int from, int to, int number);
/* Which of them an arc is. */
int topo_arc_number(const struct topology *t, int arc);

/* The same network as a new one that is not finished: links and kinds may be changed before
 * topo_finish. NULL where memory is short. */
struct topology *topo_copy(const struct topology *t);

/* --- files ----------------------------------------------------------------------------------- */

/* Reads a JSON file (schema: docs/planner.md). NULL with "FILE:LINE: reason" in *e. The caller
 * frees. */
struct topology *topo_read(const char *path, struct topo_error *e);
/* The same from text; name stands for the file in messages. */
struct topology *topo_parse(const char *text, size_t len, const char *name, struct topo_error *e);
/* JSON text with a line feed at the end, to be freed with free(); NULL where memory is short. */
char *topo_format(const struct topology *t);

/* --- generators: plan/generate.c ------------------------------------------------------------
 */

enum topo_shape {
	TOPO_STAR,
	TOPO_LEAF_SPINE,
	TOPO_FAT_TREE,
	TOPO_RAIL,
	TOPO_RANDOM,
	TOPO_MACHINES
};
/* Which switches are boxes at the same time. FRACTION draws them by the seed. */
enum topo_boxes {
	TOPO_BOX_NONE,
	TOPO_BOX_LEAVES,
	TOPO_BOX_SPINES,
	TOPO_BOX_ALL,
	TOPO_BOX_FRACTION
};

struct topo_spec {
	enum topo_shape shape;
	int hosts;     /* star, random: hosts in all; leaf-spine, fat-tree: hosts of a leaf;
			  rail: servers */
	int leaves;    /* leaf-spine; rail: rails (network cards of a server); random: switches */
	int spines;    /* leaf-spine, rail */
	int k;         /* fat-tree: ports of a switch, even; hosts 0 means k / 2 per leaf */
	int gpus;      /* machines: of each; leaves: rails, which are its network cards */
	double nvlink; /* machines: capacity between a GPU and its NVSwitch */
	int degree;    /* random: links of a switch to other switches on average */
	double host_link; /* capacity */
	double fabric_link;
	double spread; /* capacities are drawn from U(1 - spread, 1 + spread) x nominal */
	double delay;  /* of each link, seconds */
	enum topo_boxes boxes;
	double box_share;      /* of the switches, for TOPO_BOX_FRACTION */
	bool attached;         /* boxes stand beside their switch on a link of their own */
	double processing_min; /* drawn from U(min, max); min = INFINITY: no limit */
	double processing_max;
	struct topo_holds holds; /* of every box */
	int workers;             /* 0: all hosts; else so many drawn hosts are workers */
	int servers;             /* so many further drawn hosts are parameter servers only */
	uint64_t seed;
};

/* Defaults of every field for a shape. */
struct topo_spec topo_spec_default(enum topo_shape shape);
/* A finished topology, or NULL with the reason. */
struct topology *topo_generate(const struct topo_spec *spec, struct topo_error *e);

/* --- random numbers: the same on every machine --------------------------------------------------
 */

uint64_t topo_random(uint64_t *state);
/* Uniform in [0, 1). */
double topo_uniform(uint64_t *state);

#endif
