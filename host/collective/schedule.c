#include "host/collective/schedule.h"

#include "proto/rf_bytes.h"
#include "proto/rf_imm.h"
#include "proto/rf_crc32.h"

/* Who gives, and who wants, the pieces of a block. */
enum who {
	NOBODY,
	EVERYBODY,
	ROOT,
	OTHERS, /* than the root */
	OWNER,  /* the rank whose block it is */
	STRANGERS,
};

struct kind {
	enum who gives, wants;
	struct rf_schedule_shape shape; /* send_blocks, recv_blocks: the buffer holds all blocks */
};

static const struct kind kinds[] = {
	[RF_SCHEDULE_ALL_REDUCE] = {EVERYBODY, EVERYBODY, {.reduces = true}},
	[RF_SCHEDULE_REDUCE] = {EVERYBODY, ROOT, {.root = true, .reduces = true}},
	[RF_SCHEDULE_BROADCAST] = {ROOT, OTHERS, {.root = true}},
	[RF_SCHEDULE_REDUCE_SCATTER] = {EVERYBODY,
					OWNER,
					{.blocks = true, .reduces = true, .send_blocks = true}},
	[RF_SCHEDULE_ALL_GATHER] = {OWNER, STRANGERS, {.blocks = true, .recv_blocks = true}},
	[RF_SCHEDULE_GATHER] = {OWNER, ROOT, {.blocks = true, .root = true, .recv_blocks = true}},
	[RF_SCHEDULE_SCATTER] = {ROOT, OWNER, {.blocks = true, .root = true, .send_blocks = true}},
	[RF_SCHEDULE_BARRIER] = {NOBODY, NOBODY, {.blocks = false}},
};

const char *rf_schedule_name(enum rf_collective_kind kind)
{
	return rf_imm_kind_name((unsigned int)kind);
}

const struct rf_schedule_shape *rf_schedule_shape(enum rf_collective_kind kind)
{
	return &kinds[kind].shape;
}

bool rf_schedule_has_blocks(enum rf_collective_kind kind)
{
	return kinds[kind].shape.blocks;
}

bool rf_schedule_reduces(enum rf_collective_kind kind)
{
	return kinds[kind].shape.reduces;
}

bool rf_schedule_has_root(enum rf_collective_kind kind)
{
	return kinds[kind].shape.root;
}

bool rf_schedule_sends_blocks(enum rf_collective_kind kind)
{
	return kinds[kind].shape.send_blocks;
}

bool rf_schedule_receives_blocks(enum rf_collective_kind kind)
{
	return kinds[kind].shape.recv_blocks;
}

bool rf_schedule_travels(enum rf_collective_kind kind, uint32_t root, uint32_t block)
{
	return !(kinds[kind].shape.blocks && kinds[kind].shape.root && block == root);
}

static bool is_one(enum who who, uint32_t root, uint32_t block, uint32_t rank)
{
	switch (who) {
	case EVERYBODY:
		return true;
	case ROOT:
		return rank == root;
	case OTHERS:
		return rank != root;
	case OWNER:
		return rank == block;
	case STRANGERS:
		return rank != block;
	case NOBODY:
		break;
	}
	return false;
}

bool rf_schedule_gives(enum rf_collective_kind kind, uint32_t root, uint32_t block, uint32_t rank)
{
	return is_one(kinds[kind].gives, root, block, rank);
}

bool rf_schedule_wants(enum rf_collective_kind kind, uint32_t root, uint32_t block, uint32_t rank)
{
	return is_one(kinds[kind].wants, root, block, rank);
}

static uint32_t hash_number(uint32_t state, uint64_t v)
{
	uint8_t bytes[8];

	rf_put_le64(bytes, v);
	return rf_crc32_update(state, bytes, sizeof(bytes));
}

uint32_t rf_schedule_hash(const struct rf_schedule_call *call)
{
	uint32_t state = hash_number(RF_CRC32_INIT, call->number);

	state = hash_number(state, call->root);
	for (uint32_t k = 0; k < call->counts_len; k++)
		state = hash_number(state, call->counts[k]);
	state = hash_number(state, (uint64_t)call->type);
	state = hash_number(state, (uint64_t)call->op);
	state = hash_number(state, call->form);
	return rf_crc32_final(state) & ((1u << RF_IMM_HASH_BITS) - 1);
}

uint32_t rf_schedule_immediate(enum rf_collective_kind kind, const struct rf_schedule_call *call)
{
	uint32_t hash = rf_schedule_hash(call);

	return (uint32_t)kind << 28 | (uint32_t)(call->number & 3) << 26 | (hash >> 2) << 16 |
	       (hash & 3) << 12 | (uint32_t)call->op << 8 | (uint32_t)call->type << 4;
}
