/*
 * Finds the Verilated box of a shape: a shared object box-p<ports>-l<lanes>-w<width>.so
 * (box-...-trace.so if a waveform is requested, box-...-deep.so for two groups of 512 slots at a
 * path MTU of 4096, box-...-wide.so for 64 groups, box-...-plain.so without options). It is
 * searched for in the folder given by RF_ENGINE_DIR, in ../vl relative to the running program, and
 * in ../lib/ringfold.
 */
#ifndef RF_SIM_COSIM_LOAD_H
#define RF_SIM_COSIM_LOAD_H

#include <stdbool.h>
#include <stddef.h>

#include "sim/engine.h"

/*
 * Loads it; it stays loaded until the process ends. Returns 0, or -1 with a reason of at most room
 * bytes in why. If the object does not exist, the reason names the make target.
 */
int rf_engine_load(unsigned ports, unsigned lanes, unsigned width, bool trace,
		   const struct rf_engine_ops **out, char *why, size_t room);

/* The same with eight times the memory for operands and twice that for headers. */
int rf_engine_load_deep(unsigned ports, unsigned lanes, unsigned width,
			const struct rf_engine_ops **out, char *why, size_t room);

/* The same with 64 groups, for rf_shape_wide(). */
int rf_engine_load_wide(unsigned ports, unsigned lanes, unsigned width,
			const struct rf_engine_ops **out, char *why, size_t room);

/* The same without selective and directed groups, mirror connections, parity, and most types. */
int rf_engine_load_plain(unsigned ports, unsigned lanes, unsigned width,
			 const struct rf_engine_ops **out, char *why, size_t room);

/* By name: "model", "soft", or "rtl" as above. The first two ignore ports, lanes and width. */
int rf_engine_by_name(const char *name, unsigned ports, unsigned lanes, unsigned width, bool trace,
		      const struct rf_engine_ops **out, char *why, size_t room);

/*
 * Once an engine that wrote a waveform is destroyed: prints to stderr how to look at it, or reports
 * a file that is not whole and gives it the name WAVE.partial. Returns whether it is whole; true if
 * wave is NULL. who: "ringfold sim".
 */
bool rf_engine_wave_end(const char *who, const char *wave);

/* Calls take(arg, path) for every Verilated box that could be found, in no order. */
void rf_engine_each(void (*take)(void *arg, const char *path), void *arg);

#endif
