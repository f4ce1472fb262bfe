/*
 * Finds the Verilated box of a shape: a shared object box-p<ports>-l<lanes>-w<width>.so
 * (box-...-trace.so where a waveform is asked for), looked for in the folder that RF_ENGINE_DIR
 * names, in ../vl beside the running program, and in
 * ../lib/ringfold.
 */
#ifndef RF_SIM_COSIM_LOAD_H
#define RF_SIM_COSIM_LOAD_H

#include <stdbool.h>
#include <stddef.h>

#include "sim/engine.h"

/*
 * Loads it; it stays loaded until the process ends. 0, or -1 with a reason of at most room bytes in
 * why that names the make target where the object does not exist.
 */
int rf_engine_load(unsigned ports, unsigned lanes, unsigned width, bool trace,
		   const struct rf_engine_ops **out, char *why, size_t room);

/*
 * By name: "model", or "rtl" as above. ports, lanes and width are not looked at for the model.
 */
int rf_engine_by_name(const char *name, unsigned ports, unsigned lanes, unsigned width, bool trace,
		      const struct rf_engine_ops **out, char *why, size_t room);

#endif
