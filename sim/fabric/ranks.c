/* What kind of rank a configuration makes of each, and which are neighbours. */
#include "sim/fabric/internal.h"

bool rf_fabric_is_mirror(const struct rf_fabric_cfg *cfg, unsigned rank)
{
	return cfg->mirror && !cfg->by_rule[rank];
}

bool rf_fabric_is_directed(const struct rf_fabric_cfg *cfg, unsigned rank)
{
	return cfg->directed && !cfg->ordinary[rank];
}

bool rf_fabric_is_mixed(const struct rf_fabric_cfg *cfg, unsigned rank)
{
	unsigned first = rf_fabric_first(cfg, rank);

	for (unsigned i = 1; i < rf_fabric_size(cfg); i++)
		if (rf_fabric_is_mirror(cfg, first + i) != rf_fabric_is_mirror(cfg, first))
			return true;
	return false;
}

unsigned rf_fabric_neighbour(const struct rf_fabric_cfg *cfg, unsigned rank, bool next)
{
	unsigned size = rf_fabric_size(cfg), first = rf_fabric_first(cfg, rank), other = rank;

	if (rf_fabric_is_mirror(cfg, rank))
		return rank;
	do
		other = first + (other - first + (next ? 1 : size - 1)) % size;
	while (rf_fabric_is_mirror(cfg, other));
	return other;
}
