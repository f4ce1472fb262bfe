/*
 * Element types and operations by their numbers in the immediate of a directed group (docs/box.md),
 * and what the box computes from the operands of one packet (docs/reduction.md).
 */
#ifndef RF_TOOLS_ELEMENTS_H
#define RF_TOOLS_ELEMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/collective/arith.h"

#define ELEMENT_TYPES RF_ARITH_TYPES
#define ELEMENT_OPS RF_ARITH_OPS
#define ELEMENT_OP_COPY ((unsigned int)RF_ARITH_COPY)

/* Names as printed by the tools; -1 for an unknown one. */
const char *element_type_name(unsigned int type);
const char *element_op_name(unsigned int op);
int element_type_parse(const char *name);
int element_op_parse(const char *name);

/* Bytes of an element. */
size_t element_size(unsigned int type);

/* Whether a type has an operation: and, or, xor are for integers, copy is for every type. */
bool element_allows(unsigned int type, unsigned int op);

/* Writes one element made of random bits: element_size() bytes, sometimes a special value. */
void element_random(unsigned int type, uint64_t bits, uint8_t *to);

/*
 * The result of `bytes` bytes from the operands of `ranks` ranks, each at its place; NULL: the rank
 * does not give. Without any operand `out` is zero. Returns 0, or -1 if the operation is copy and
 * more than one rank gives, the type lacks the operation, or two ranks have one place.
 */
int element_reduce(unsigned int type, unsigned int op, unsigned int ranks,
		   const struct rf_place *places, const void *const *operands, uint8_t *out,
		   size_t bytes);

#endif
