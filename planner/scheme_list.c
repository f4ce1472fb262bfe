/*
 * The list of schemes.
 */
#include <math.h>

#include "planner/limits.h"
#include "planner/schemes.h"

static void fit_forest(const struct topology *t, struct plan *p, const struct scheme_options *o)
{
	limits_choose(t, p, o, false);
}

const struct scheme scheme_list[] = {
	{"ring", "one ring, rack by rack", scheme_ring, NULL},
	{"ring-both", "the same ring in both directions", scheme_ring_both, NULL},
	{"hierarchical-ring", "rings within racks, rings across racks", scheme_hierarchical_ring,
	 NULL},
	{"ps", "parameter server, without merging in the network", scheme_ps, NULL},
	{"switchml", "SwitchML: a rack merges at its own switch", scheme_switchml, NULL},
	{"atp",
	 "ATP: merges at the rack's switch, what exceeds it at the server's switch, or not at all",
	 scheme_atp, NULL},
	{"atp-whole", "ATP with whole workers, equal shares for all servers", scheme_atp_whole,
	 NULL},
	{"atp-bom", "ATP as in Rina's model, merges again at the server's switch", scheme_atp_bom,
	 NULL},
	{"netreduce-rack", "NetReduce: all hosts merge at one box", scheme_netreduce_rack, NULL},
	{"netreduce-spine", "NetReduce: racks merge, then one box merges the racks",
	 scheme_netreduce_spine, NULL},
	{"rina-agent", "Rina: a ring of racks through their agents", scheme_rina_agent, NULL},
	{"rina-switch", "Rina: a ring of racks from switch to switch", scheme_rina_switch, NULL},
	{"grid", "GRID: linear program, best of several roundings", scheme_grid, NULL},
	{"grid-exact", "GRID: the best assignment of whole workers", scheme_grid_exact, NULL},
	{"grid-classes", "GRID's model with chunk classes", scheme_grid_classes, NULL},
	{"inart", "InArt: shares of the servers by L-InArt, merging by R-InArt", scheme_inart,
	 NULL},
	{"inart-equal", "R-InArt with equal shares", scheme_inart_equal, NULL},
	{"inart-exact",
	 "InArt's shares with the best assignment of whole streams, small networks only",
	 scheme_inart_exact, NULL},
	{"forest", "topology-adaptive forest: trees of hosts", scheme_forest, fit_forest},
	{"forestcoll", "ForestColl: reduce-scatter, then all-gather, equal roots",
	 scheme_forestcoll, NULL},
	{"best", "forest over hosts and boxes, the closest to the bound", scheme_best, NULL},
	{NULL, NULL, NULL, NULL},
};

const struct scheme *scheme_find(const char *name)
{
	return scheme_find_in(scheme_list, name);
}

struct scheme_options scheme_options_default(void)
{
	return (struct scheme_options){.seed = 1,
				       .chunks = 0,
				       .roundings = 20,
				       .work = 7e9,
				       .gap = SCHEME_GAP,
				       .seconds = INFINITY,
				       .schemes = scheme_list};
}
