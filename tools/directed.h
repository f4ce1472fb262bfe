/*
 * The calls of a directed group in generated traffic: which collective, type and operation each
 * packet belongs to, what each rank gives and wants, and the immediate (docs/box.md).
 */
#ifndef RF_TOOLS_DIRECTED_H
#define RF_TOOLS_DIRECTED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct traffic_plan;

/* Kinds of collectives, as in the immediate. */
enum directed_kind {
	DIRECTED_OWN, /* who gives and who wants is random at each packet */
	DIRECTED_ALL_REDUCE,
	DIRECTED_REDUCE,
	DIRECTED_BROADCAST,
	DIRECTED_REDUCE_SCATTER,
	DIRECTED_ALL_GATHER,
	DIRECTED_GATHER,
	DIRECTED_SCATTER,
	DIRECTED_BARRIER,
	DIRECTED_KINDS
};

/* What a run consists of: bit k of a mask is number k. */
struct directed_set {
	uint32_t kinds, types, ops;
	unsigned int slots; /* slots of the group: no rank sends more packets */
};

struct directed_call {
	uint8_t kind, type, op;
	unsigned int root;    /* 0 where the collective has none */
	unsigned int chunks;  /* 1, or one for each rank */
	uint32_t chunk_bytes; /* 0: barrier */
	uint64_t first;       /* index of its first packet */
	uint64_t offset;      /* of its first result in the vector of all results */
};

struct directed_calls {
	struct directed_call *call;
	unsigned int count;
	uint64_t packets, bytes;
};

/* One packet of the group, from the point of view of one rank. */
struct directed_packet {
	const struct directed_call *call;
	uint64_t offset; /* of the result in the vector of all results */
	uint32_t len;    /* bytes of an operand and of the result */
	bool gives, wants;
	uint8_t opcode;
	uint32_t imm; /* 0 if the opcode has none */
};

const char *directed_kind_name(unsigned int kind);
int directed_kind_parse(const char *name);

/*
 * Makes the calls of a plan from its seed, set, messages, message_bytes, MTU and ranks. Returns 0,
 * or -1 with a message on stderr that begins with `tool`: more packets than slots, no operation of
 * the set fits a type of it, no memory. The caller frees them with directed_free().
 */
int directed_make(struct traffic_plan *plan, const char *tool);
void directed_free(struct traffic_plan *plan);

/* The packet of a rank. index < plan->calls.packets. */
void directed_at(const struct traffic_plan *plan, unsigned int rank, uint64_t index,
		 struct directed_packet *packet);

#endif
