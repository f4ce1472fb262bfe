/* Engines by name, for tests and for the comparison. */
#ifndef RF_COMPARE_ENGINE_H
#define RF_COMPARE_ENGINE_H

#include "sim/engine.h"
#include "sim/model/rf_model.h"

/*
 * "model"; "model:MUTANT" (sim/model/rf_model.h); "soft"; "rtl", the Verilated box of the shape
 * (sim/cosim/load.h); "rtl-plain", that without options. NULL with a reason on stderr.
 */
const struct rf_engine_ops *engine_named(const char *name, const struct rf_engine_cfg *cfg);
/* The fault requested by a name; pass it to rf_model_set_mutant() after create(). */
enum rf_model_mutant engine_mutant(const char *name);

#endif
