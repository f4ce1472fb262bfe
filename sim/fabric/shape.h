/* The default shape of a box for a number of ports, lanes and a data width. */
#ifndef RF_SIM_FABRIC_SHAPE_H
#define RF_SIM_FABRIC_SHAPE_H

#include <string.h>

#include "sim/engine.h"

/* Sizes are those of mk/sim.mk's macro for Verilated shapes: 512 slots of 1 KB in every lane, at
 * every width. */
static inline void rf_shape_cfg(struct rf_engine_cfg *cfg, unsigned ports, unsigned lanes,
				unsigned width)
{
	unsigned beats = 13;

	for (unsigned w = width; w != 0 && w < 512; w *= 2)
		beats++;
	memset(cfg, 0, sizeof(*cfg));
	cfg->ports = ports;
	cfg->lanes = lanes;
	cfg->width = width;
	cfg->groups = 8;
	cfg->mtu_max = 4096;
	cfg->bank_log2 = beats;
	cfg->hdr_log2 = 9;
	cfg->hash_bits = 8;
	cfg->clock_khz = 250000;
}

/* Many small groups: 64 of 16 slots of 1 KB, with 512 ranks together. */
static inline void rf_shape_wide(struct rf_engine_cfg *cfg)
{
	cfg->groups = 64;
	cfg->bank_log2 += 1;
	cfg->hdr_log2 = 10;
	cfg->hash_bits = 10;
}

#endif
