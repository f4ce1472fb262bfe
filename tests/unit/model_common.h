/*
 * Shared by the tests of the box. They are written for the reference model. Each program accepts
 * the name of another engine as its argument ("rtl") and requires the same of it.
 */
#ifndef RF_MODEL_COMMON_H
#define RF_MODEL_COMMON_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/sim/compare/bench.h"
#include "tests/sim/compare/engine.h"

/* Reads the arguments. */
void common_start(int argc, char **argv);
/* Whether the engine under test is the model: only there can some bounds be reached. */
bool common_is_model(void);
bool common_is_soft(void);
/* Opens a box; fails the test if the engine is not built with these parameters. */
void common_open(struct bench *b, unsigned int ports, unsigned int lanes);
/* Whether the box under test is as wide as the default one, so that its cycles are those of the
 * page. */
bool common_is_default(unsigned int ports, unsigned int lanes);
/* Opens a box of 4 ports and starts a group with one rank at each, S = 16, fp32 sum, MTU 1024. */
void common_group(struct bench *b, struct bench_group *g);

/* Feeds one frame, runs until idle, and requires that this counter has increased by one and no
 * other verdict has. */
void common_frame(struct bench *b, unsigned int port, const uint8_t *frame, size_t len, bool bad,
		  unsigned int counter);
void common_packet(struct bench *b, unsigned int port, const struct packet *p,
		   unsigned int counter);
/* Data SEND ONLY of 64 bytes of a rank, every element `value`. */
void common_data(struct bench *b, const struct bench_conn *c, uint32_t index, uint32_t value,
		 unsigned int counter);
void common_ack(struct bench *b, const struct bench_conn *c, uint32_t una, unsigned int counter);
/* All ranks send an index, which leaves everywhere; then, if asked, all acknowledge it. */
void common_round(struct bench *b, struct bench_group *g, uint32_t index, bool ack);
/* The only frame that left since the last bench_clear(). */
const struct bench_out *common_only(struct bench *b, unsigned int port);
/* The group's ERROR register must be this error of this rank, at this index. */
void common_error(struct bench *b, const struct bench_conn *c, unsigned int cause, uint32_t index);
uint32_t common_psn(const struct bench_out *o);
uint32_t common_element(const struct bench_out *o, unsigned int k);

#endif
