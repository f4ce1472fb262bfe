#include "tools/directed.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/rf_bytes.h"
#include "proto/rf_crc32.h"
#include "tools/traffic.h"

/* What traffic_hash() is asked for. */
#define SALT_SIZE 0x10000u
#define SALT_ROOT 0x10001u
#define SALT_OWN 0x10002u
#define SALT_GIVER 0x10003u
#define SALT_LONG 0x20000u   /* plus the rank */
#define SALT_CHOICE 0x30000u /* plus the rank */

/* Pairs of type and operation. */
struct pairs {
	uint8_t type[ELEMENT_TYPES * ELEMENT_OPS];
	uint8_t op[ELEMENT_TYPES * ELEMENT_OPS];
	unsigned int count;
};

static const char *const kind_names[DIRECTED_KINDS] = {"own",       "all-reduce",     "reduce",
						       "broadcast", "reduce-scatter", "all-gather",
						       "gather",    "scatter",        "barrier"};

const char *directed_kind_name(unsigned int kind)
{
	return kind_names[kind];
}

int directed_kind_parse(const char *name)
{
	for (unsigned int k = 0; k < DIRECTED_KINDS; k++)
		if (strcmp(kind_names[k], name) == 0)
			return (int)k;
	return -1;
}

static bool copies(unsigned int kind)
{
	return kind == DIRECTED_BROADCAST || kind == DIRECTED_ALL_GATHER ||
	       kind == DIRECTED_GATHER || kind == DIRECTED_SCATTER;
}

static bool has_chunks(unsigned int kind)
{
	return kind == DIRECTED_REDUCE_SCATTER || kind == DIRECTED_ALL_GATHER ||
	       kind == DIRECTED_GATHER || kind == DIRECTED_SCATTER;
}

static bool has_root(unsigned int kind)
{
	return kind == DIRECTED_REDUCE || kind == DIRECTED_BROADCAST || kind == DIRECTED_GATHER ||
	       kind == DIRECTED_SCATTER;
}

/* The pairs that a kind goes through, one call after another. */
static void pairs_of(const struct directed_set *set, unsigned int kind, struct pairs *all)
{
	all->count = 0;
	for (unsigned int t = 0; t < ELEMENT_TYPES; t++) {
		for (unsigned int op = 0; op < ELEMENT_OPS; op++) {
			bool copy = op == ELEMENT_OP_COPY;
			bool fits = copies(kind) ? copy
						 : (copy ? kind == DIRECTED_OWN
							 : (set->ops >> op & 1u) != 0);

			if (!fits || !(set->types >> t & 1u) || !element_allows(t, op))
				continue;
			all->type[all->count] = (uint8_t)t;
			all->op[all->count++] = (uint8_t)op;
		}
	}
}

static uint32_t chunk_packets(const struct traffic_plan *plan, const struct directed_call *c)
{
	return c->chunk_bytes == 0 ? 1 : (c->chunk_bytes + plan->mtu - 1) / plan->mtu;
}

/* Half of the calls have the full size, the others a random one. */
static uint32_t choose_bytes(const struct traffic_plan *plan, unsigned int number,
			     const struct directed_call *c)
{
	size_t size = element_size(c->type);
	uint64_t bits = traffic_hash(plan, SALT_SIZE, number);
	uint64_t most = plan->message_bytes / c->chunks;
	uint64_t bytes = bits & 1 ? most : 1 + (bits >> 1) % (most ? most : 1);

	if (c->op != ELEMENT_OP_COPY)
		bytes -= bytes % size;
	return (uint32_t)(bytes ? bytes : size);
}

static int add_call(struct traffic_plan *plan, const struct pairs *pairs, unsigned int kind,
		    unsigned int turn, const char *tool)
{
	struct directed_calls *all = &plan->calls;
	struct directed_call *c = &all->call[all->count];

	if (pairs[kind].count == 0) {
		fprintf(stderr, "%s: no type that was asked for has this operation\n", tool);
		return -1;
	}
	memset(c, 0, sizeof(*c));
	c->kind = (uint8_t)kind;
	c->type = pairs[kind].type[turn % pairs[kind].count];
	c->op = pairs[kind].op[turn % pairs[kind].count];
	c->chunks = has_chunks(kind) ? plan->ranks : 1;
	if (has_root(kind))
		c->root = (unsigned int)(traffic_hash(plan, SALT_ROOT, all->count) % plan->ranks);
	if (kind != DIRECTED_BARRIER)
		c->chunk_bytes = choose_bytes(plan, all->count, c);
	c->first = all->packets;
	c->offset = all->bytes;
	all->count++;
	all->packets += (uint64_t)c->chunks * chunk_packets(plan, c);
	all->bytes += (uint64_t)c->chunks * c->chunk_bytes;
	return 0;
}

int directed_make(struct traffic_plan *plan, const char *tool)
{
	struct pairs pairs[DIRECTED_KINDS];
	unsigned int turn = 0;
	int rc = 0;

	memset(&plan->calls, 0, sizeof(plan->calls));
	if (plan->messages <= plan->set.slots)
		plan->calls.call = calloc(plan->messages, sizeof(*plan->calls.call));
	if (plan->messages <= plan->set.slots && !plan->calls.call) {
		fprintf(stderr, "%s: out of memory\n", tool);
		return -1;
	}
	for (unsigned int k = 0; k < DIRECTED_KINDS; k++)
		pairs_of(&plan->set, k, &pairs[k]);
	while (rc == 0 && plan->calls.call && plan->calls.count < plan->messages) {
		for (unsigned int k = 0;
		     rc == 0 && k < DIRECTED_KINDS && plan->calls.count < plan->messages; k++)
			if (plan->set.kinds >> k & 1u)
				rc = add_call(plan, pairs, k, turn, tool);
		turn++;
	}
	if (rc == 0 && (!plan->calls.call || plan->calls.packets > plan->set.slots)) {
		fprintf(stderr,
			"%s: %" PRIu64 " calls have more packets than --slots %u: a generator "
			"returns no ACKs, so no slot is used twice\n",
			tool, plan->messages, plan->set.slots);
		rc = -1;
	}
	if (rc != 0)
		directed_free(plan);
	return rc;
}

void directed_free(struct traffic_plan *plan)
{
	free(plan->calls.call);
	memset(&plan->calls, 0, sizeof(plan->calls));
}

/* The last call that begins at or before an index. */
static unsigned int call_of(const struct directed_calls *all, uint64_t index)
{
	unsigned int low = 0;
	unsigned int high = all->count;

	while (high - low > 1) {
		unsigned int middle = (low + high) / 2;

		if (all->call[middle].first <= index)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/*
 * 12 bits of the CRC-32 over number, root, count, type, operation and form (0): the box only
 * compares it.
 */
static uint32_t hash_of(const struct directed_call *c, unsigned int number)
{
	size_t element = c->op == ELEMENT_OP_COPY ? 1 : element_size(c->type);
	uint8_t bytes[48];

	rf_put_le64(bytes, number);
	rf_put_le64(bytes + 8, c->root);
	rf_put_le64(bytes + 16, c->chunk_bytes / element);
	rf_put_le64(bytes + 24, c->type);
	rf_put_le64(bytes + 32, c->op);
	rf_put_le64(bytes + 40, 0);
	return rf_crc32(bytes, sizeof(bytes)) & 0xfffu;
}

/* Own use: a copy has one giver, everything else as many as chance wants, possibly none. */
static void own_use(const struct traffic_plan *plan, unsigned int rank, uint64_t index,
		    struct directed_packet *p)
{
	uint64_t bits = traffic_hash(plan, SALT_CHOICE + rank, index);

	p->wants = bits & 1;
	p->gives = bits & 2;
	if (p->call->op == ELEMENT_OP_COPY)
		p->gives = traffic_hash(plan, SALT_GIVER, index) % plan->ranks == rank;
	else if (traffic_hash(plan, SALT_OWN, index) % 8 == 0)
		p->gives = false;
}

static void directions(const struct traffic_plan *plan, unsigned int rank, unsigned int chunk,
		       uint64_t index, struct directed_packet *p)
{
	bool root = rank == p->call->root;
	bool mine = rank == chunk;

	p->gives = p->wants = true;
	switch ((enum directed_kind)p->call->kind) {
	case DIRECTED_OWN:
		own_use(plan, rank, index, p);
		break;
	case DIRECTED_REDUCE:
		p->wants = root;
		break;
	case DIRECTED_BROADCAST:
		p->gives = root;
		p->wants = !root;
		break;
	case DIRECTED_REDUCE_SCATTER:
		p->wants = mine;
		break;
	case DIRECTED_ALL_GATHER:
		p->gives = mine;
		p->wants = !mine;
		break;
	case DIRECTED_GATHER:
		p->gives = mine;
		p->wants = root;
		break;
	case DIRECTED_SCATTER:
		p->gives = root;
		p->wants = mine;
		break;
	case DIRECTED_BARRIER:
		p->gives = false;
		break;
	case DIRECTED_ALL_REDUCE:
	case DIRECTED_KINDS:
		break;
	}
}

/*
 * An all-reduce with the type and operation of JOIN may be one long message, closed by an
 * immediate; each rank chooses for itself.
 */
static uint8_t opcode_of(const struct traffic_plan *plan, unsigned int rank, unsigned int number,
			 uint64_t within)
{
	const struct directed_call *c = &plan->calls.call[number];
	uint32_t packets = chunk_packets(plan, c);

	if (c->kind != DIRECTED_ALL_REDUCE || c->type != plan->type || c->op != plan->op ||
	    traffic_hash(plan, SALT_LONG + rank, number) % 2 == 0)
		return ROCE_OP_SEND_ONLY_IMM;
	if (packets == 1)
		return ROCE_OP_SEND_ONLY;
	if (within == 0)
		return ROCE_OP_SEND_FIRST;
	return within + 1 < packets ? ROCE_OP_SEND_MIDDLE : ROCE_OP_SEND_LAST_IMM;
}

void directed_at(const struct traffic_plan *plan, unsigned int rank, uint64_t index,
		 struct directed_packet *packet)
{
	unsigned int number = call_of(&plan->calls, index);
	const struct directed_call *c = &plan->calls.call[number];
	uint32_t per = chunk_packets(plan, c);
	unsigned int chunk = (unsigned int)((index - c->first) / per);
	uint64_t within = (index - c->first) % per;
	uint64_t left = c->chunk_bytes - within * plan->mtu;
	uint32_t hash = hash_of(c, number);

	packet->call = c;
	packet->offset = c->offset + (uint64_t)chunk * c->chunk_bytes + within * plan->mtu;
	packet->len = left < plan->mtu ? (uint32_t)left : plan->mtu;
	directions(plan, rank, chunk, index, packet);
	packet->opcode = opcode_of(plan, rank, number, within);
	packet->imm = 0;
	if (roce_opcode_flags(packet->opcode) & ROCE_F_IMM)
		packet->imm = (uint32_t)c->kind << 28 | (number & 3u) << 26 | hash >> 2 << 16 |
			      (packet->wants ? 0x8000u : 0u) | (packet->gives ? 0x4000u : 0u) |
			      (hash & 3u) << 12 | (uint32_t)c->op << 8 | (uint32_t)c->type << 4 |
			      ((uint32_t)index & 15u);
}
