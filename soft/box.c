/* A box: created in one piece of memory, and destroyed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "soft/internal.h"

#define ALIGN 64u

static bool power_of_two(unsigned int n)
{
	return n && !(n & (n - 1));
}

static const char *fault_of(const struct soft_cfg *c)
{
	if (c->ports < 2 || c->ports > SOFT_PORTS)
		return "ports must be 2..8";
	if (c->lanes < 1 || c->lanes > SOFT_LANES)
		return "lanes must be 1..16";
	if (!power_of_two(c->width) || c->width < 64 || c->width > 512)
		return "width must be 64, 128, 256 or 512";
	if (c->groups < 1 || c->groups > SOFT_GROUPS)
		return "groups must be 1..64";
	if (!power_of_two(c->mtu_max) || c->mtu_max < 256 || c->mtu_max > SOFT_MTU)
		return "the largest MTU must be 256, 512, 1024, 2048 or 4096";
	if (c->bank_log2 < 4 || c->bank_log2 > 20)
		return "log2 of the beats of a bank must be 4..20";
	if (c->hdr_log2 < 2 || c->hdr_log2 > 16)
		return "log2 of the header slots must be 2..16";
	if (c->hash_bits < 3 || c->hash_bits > 15)
		return "log2 of the entries of a connection table must be 3..15";
	return NULL;
}

/*
 * A piece of the box's memory. With memory NULL only the size is added up, so that the same calls
 * measure and place.
 */
static void *piece(uint8_t *memory, size_t *at, size_t bytes)
{
	void *p = memory ? memory + *at : NULL;

	*at += (bytes + ALIGN - 1) / ALIGN * ALIGN;
	return p;
}

static size_t place(struct soft_box *b, uint8_t *memory)
{
	const struct soft_cfg *c = &b->cfg;
	size_t at = 0, entries = (size_t)1 << c->hash_bits, slots = (size_t)1 << c->hdr_log2;
	unsigned int port, lane, k;

	b->conns = piece(memory, &at, ((size_t)c->groups << 7) * sizeof(*b->conns));
	b->groups = piece(memory, &at, c->groups * sizeof(*b->groups));
	b->table[0] = piece(memory, &at, entries * sizeof(*b->table[0]));
	b->table[1] = piece(memory, &at, entries * sizeof(*b->table[1]));
	b->tombs = piece(memory, &at, soft_tombs(b) * sizeof(*b->tombs));
	b->punts = piece(memory, &at, SOFT_PUNTS * sizeof(*b->punts));
	/* Of each byte of an 8-bit type one, of each of bf16 and fp16 two. */
	for (k = 0; k < SOFT_SCRATCH; k++)
		b->scratch[k] = piece(memory, &at, 2 * SOFT_MTU);
	b->result = piece(memory, &at, SOFT_MTU);
	for (port = 0; port < c->ports; port++) {
		uint8_t *queues = piece(memory, &at, soft_queues_size(b));

		if (memory)
			soft_queues_init(b, port, queues);
		for (lane = 0; lane < c->lanes; lane++) {
			struct soft_bank *bank = &b->bank[port][lane];

			/* One MTU more: the last slot of a bank may be cut by its end. */
			bank->data =
				piece(memory, &at, ((size_t)b->beat << c->bank_log2) + SOFT_MTU);
			bank->slots = piece(memory, &at, slots * sizeof(*bank->slots));
			bank->present = piece(memory, &at, slots * sizeof(*bank->present));
		}
	}
	return at;
}

struct soft_box *soft_create(const struct soft_cfg *cfg, char *why, size_t room)
{
	const char *fault = fault_of(cfg);
	struct soft_box *b;
	unsigned int group;

	if (fault) {
		snprintf(why, room, "%s", fault);
		return NULL;
	}
	b = calloc(1, sizeof(*b));
	if (!b)
		goto no_memory;
	b->cfg = *cfg;
	b->beat = cfg->width / 8;
	b->bank_mask = (1u << cfg->bank_log2) - 1;
	b->hdr_mask = (1u << cfg->hdr_log2) - 1;
	b->entry_mask = (1u << (cfg->hash_bits - 2)) - 1;
	b->ctrl = RF_CTRL_HOLD_MASK;
	b->tx_share = 4;
	b->starved = SOFT_NO_GROUP;
	b->memory = calloc(1, place(b, NULL) + ALIGN);
	if (!b->memory)
		goto no_memory;
	place(b, b->memory + (ALIGN - (uintptr_t)b->memory % ALIGN) % ALIGN);
	if (!soft_set_simd(b, getenv("RF_SIMD"))) {
		snprintf(why, room,
			 "RF_SIMD=%s: expected none, avx2 or avx512, and a processor "
			 "that has it",
			 getenv("RF_SIMD"));
		soft_destroy(b);
		return NULL;
	}
	for (group = 0; group < cfg->groups; group++)
		soft_decode(b, group);
	return b;

no_memory:
	snprintf(why, room, "no memory");
	soft_destroy(b);
	return NULL;
}

void soft_destroy(struct soft_box *b)
{
	if (!b)
		return;
	free(b->memory);
	free(b);
}

void soft_clock(struct soft_box *b, uint64_t now)
{
	b->now = now;
}

const char *soft_simd(const struct soft_box *b)
{
	return b->sum->name;
}

bool soft_set_simd(struct soft_box *b, const char *name)
{
	const struct soft_sum *s = soft_sum_named(name);

	if (s)
		b->sum = s;
	return s != NULL;
}

const char *soft_leak(const struct soft_box *b)
{
	unsigned int port, kind, k;

	for (port = 0; port < b->cfg.ports; port++) {
		for (kind = 0; kind < SOFT_KINDS; kind++)
			if (soft_frames(&b->ports[port].out[kind]) || b->ports[port].out[kind].used)
				return "a frame has stayed in a port of the box";
		if (b->ports[port].repeat_count)
			return "a repeat waits in the box for ever";
	}
	for (k = 0; k < b->cfg.groups << 7; k++)
		if (b->conns[k].queued)
			return "a connection counts as queued for repeats";
	for (k = 0; k < b->cfg.groups; k++)
		if (b->groups[k].queued)
			return "a group counts as queued for repeats";
	if (b->punt_count || b->inject_busy)
		return "a frame to or from the firmware was left";
	return NULL;
}
