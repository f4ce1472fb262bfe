#include "tests/bench/planner_cases.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct topology *case_generate(const struct topo_spec *s, const char *unit)
{
	struct topo_error e = {.text = ""};
	struct topology *t = topo_generate(s, &e);

	if (!t) {
		fprintf(stderr, "planner-bench: %s\n", e.text);
		exit(1);
	}
	snprintf(t->unit, sizeof(t->unit), "%s", unit);
	return t;
}

/*
 * GRID: 100 Gbps. part 0: every rack's switch merges; otherwise that percentage of all switches.
 * The way up alone uses GRID's own model, which has no links except the hosts'.
 */
static struct topology *grid(struct topo_spec s, const struct one_case *c, uint64_t seed)
{
	s.boxes = c->part ? TOPO_BOX_FRACTION : TOPO_BOX_LEAVES;
	s.box_share = c->part / 100.0;
	s.processing_min = 100;
	s.processing_max = 3200;
	s.fabric_link = c->reduce_only ? 10000 : 100;
	s.workers = c->workers;
	s.servers = 1;
	s.seed = seed;
	return case_generate(&s, "Gbps");
}

/* 80 switches, 6 servers in a rack. */
struct topology *case_grid_tree(const struct one_case *c, uint64_t seed)
{
	struct topo_spec s = topo_spec_default(TOPO_FAT_TREE);

	s.k = 8;
	s.hosts = 6;
	return grid(s, c, seed);
}

/* 30 leaves, 30 spines, 16 servers in a rack. */
struct topology *case_grid_leaf(const struct one_case *c, uint64_t seed)
{
	struct topo_spec s = topo_spec_default(TOPO_LEAF_SPINE);

	s.leaves = 30;
	s.spines = 30;
	s.hosts = 16;
	return grid(s, c, seed);
}

/*
 * GRID's published topology: 4 hosts in a rack. Workers fill one rack after the other; the server
 * is the last host.
 */
struct topology *case_grid_packed(const struct one_case *c, uint64_t seed)
{
	struct topo_spec s = topo_spec_default(TOPO_FAT_TREE);
	struct topology *t;
	int hosts = 0;
	int last = 0;

	s.k = 8;
	s.processing_min = 100;
	s.processing_max = 3200;
	s.fabric_link = 10000;
	s.seed = seed;
	t = case_generate(&s, "Gbps");
	for (int i = 0; i < t->nodes; i++) {
		if (t->node[i].kind != TOPO_HOST)
			continue;
		t->node[i].worker = hosts++ < c->workers;
		last = i;
	}
	t->node[last].server = true;
	if (topo_finish(t, NULL) != 0)
		exit(1);
	return t;
}

/*
 * InArt: fat-tree of 6 ports, 54 hosts, four of them servers; links of 20 or U(10, 30); every
 * switch can receive 9.
 */
struct topology *case_inart(const struct one_case *c, uint64_t seed)
{
	struct topo_spec s = topo_spec_default(TOPO_FAT_TREE);

	s.k = 6;
	s.boxes = TOPO_BOX_ALL;
	s.host_link = s.fabric_link = 20;
	s.spread = c->spread;
	s.processing_min = s.processing_max = 9;
	s.workers = c->workers;
	s.servers = 4;
	s.seed = seed;
	return case_generate(&s, "Mbps");
}

/*
 * Rina: eight racks of four workers, and a server; in `part` percent of the racks the switch
 * merges. The server is in a rack whose switch does not merge, if there is one.
 */
struct topology *case_rina(const struct one_case *c, uint64_t seed)
{
	struct topo_spec s = topo_spec_default(TOPO_LEAF_SPINE);
	struct topology *t;
	uint64_t random = seed;
	int keep = 8 * c->part / 100;
	int leaf[8];
	int leaves = 0;
	int server;

	s.leaves = 8;
	s.spines = 4;
	s.hosts = 4;
	s.host_link = 10;
	s.fabric_link = 10;
	t = case_generate(&s, "Gbps");
	for (int i = 0; i < t->boxes && leaves < 8; i++)
		leaf[leaves++] = t->box[i];
	for (int i = 7; i > 0; i--) {
		int j = (int)(topo_random(&random) % (uint64_t)(i + 1));
		int swap = leaf[i];

		leaf[i] = leaf[j];
		leaf[j] = swap;
	}
	for (int i = keep; i < 8; i++) {
		t->node[leaf[i]].kind = TOPO_SWITCH;
		t->node[leaf[i]].processing = 0;
	}
	server = topo_add_node(t, TOPO_HOST, "ps", INFINITY);
	if (server < 0 || topo_add_link(t, server, leaf[7], 10, 1e-6) < 0)
		exit(1);
	t->node[server].worker = false;
	t->node[server].server = true;
	if (topo_finish(t, NULL) != 0)
		exit(1);
	return t;
}

/* Heterogeneous meshes: 16 hosts on 8 switches, every second switch a box if part is 50. */
struct topology *case_mesh(const struct one_case *c, uint64_t seed)
{
	struct topo_spec s = topo_spec_default(TOPO_RANDOM);

	s.hosts = c->workers;
	s.leaves = 8;
	s.degree = 4;
	s.spread = c->spread;
	s.box_share = c->part / 100.0;
	s.boxes = c->part ? TOPO_BOX_FRACTION : TOPO_BOX_NONE;
	s.seed = seed;
	return case_generate(&s, "Gbps");
}
