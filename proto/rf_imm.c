#include "proto/rf_imm.h"

#define KIND_ALL_REDUCE 1u
#define KIND_REDUCE 2u
#define KIND_REDUCE_SCATTER 4u
#define KIND_BARRIER 8u
#define WORDS 0xf0000ff0u  /* kind, operation, type */
#define NUMBER 0x0c000000u /* of the call, modulo 4 */
#define HASH 0x03ff3000u
#define COUNT(names) (sizeof(names) / sizeof((names)[0]))

const char *rf_imm_kind_name(unsigned int kind)
{
	static const char *const names[] = {NULL,        "all-reduce",     "reduce",
					    "broadcast", "reduce-scatter", "all-gather",
					    "gather",    "scatter",        "barrier"};

	return kind < COUNT(names) ? names[kind] : NULL;
}

const char *rf_imm_type_name(unsigned int type)
{
	static const char *const names[] = {"fp32",  "bf16",   "fp16", "int32", "uint32",
					    "int64", "uint64", "fp64", "int8",  "uint8"};

	return type < COUNT(names) ? names[type] : NULL;
}

const char *rf_imm_op_name(unsigned int op)
{
	static const char *const names[] = {"sum", "min", "max",  "and",
					    "or",  "xor", "copy", "product"};

	return op < COUNT(names) ? names[op] : NULL;
}

int rf_imm_reduces(unsigned int kind)
{
	return kind == KIND_ALL_REDUCE || kind == KIND_REDUCE || kind == KIND_REDUCE_SCATTER;
}

/* Appends what fits, and ends the text. Returns its length. The firmware's folder has no printf. */
static size_t append(char *text, size_t room, size_t at, const char *more)
{
	for (; *more && at + 1 < room; more++)
		text[at++] = *more;
	text[at] = '\0';
	return at;
}

void rf_imm_text(uint32_t immediate, char *text, size_t room)
{
	unsigned int kind = immediate >> 28;
	const char *name = rf_imm_kind_name(kind);
	const char *type = rf_imm_type_name(immediate >> 4 & 15);
	const char *op = rf_imm_op_name(immediate >> 8 & 15);
	size_t at = append(text, room, 0, name ? name : "no collective");

	if (!name || kind == KIND_BARRIER)
		return;
	at = append(text, room, at, " of ");
	at = append(text, room, at, type ? type : "an unknown type");
	if (!rf_imm_reduces(kind))
		return;
	at = append(text, room, at, ", ");
	append(text, room, at, op ? op : "an unknown operation");
}

const char *rf_imm_apart_text(uint32_t a, uint32_t b)
{
	uint32_t apart = a ^ b;

	if (apart & WORDS || !(apart & (NUMBER | HASH)))
		return "";
	if (apart & NUMBER)
		return "; one rank has made a call, perhaps with count 0, that the other has not";
	return "; they differ in the root, the counts, the pieces of a batch, or one is an average";
}
