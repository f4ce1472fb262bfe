/*
 * Names of what an immediate of a directed group says (docs/box.md): collective, type, operation.
 * All texts are static.
 */
#ifndef RF_IMM_H
#define RF_IMM_H

#include <stddef.h>
#include <stdint.h>

/* "all-reduce", "fp32", "sum"; NULL for a number that has no name. */
const char *rf_imm_kind_name(unsigned int kind);
const char *rf_imm_type_name(unsigned int type);
const char *rf_imm_op_name(unsigned int op);

/* Whether the collective adds operands. */
int rf_imm_reduces(unsigned int kind);

/* "all-reduce of fp32, sum", "broadcast of int8", "barrier". room > 0. */
void rf_imm_text(uint32_t immediate, char *text, size_t room);

/*
 * In what two calls differ that have the same words, to follow both of them: "; they differ in
 * ...".
 * "" if the words differ, or nothing does. The index, and who gives and wants, do not count.
 */
const char *rf_imm_apart_text(uint32_t a, uint32_t b);

#endif
