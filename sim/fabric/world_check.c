/* The data of a world: what each rank gives, and what it must get. */
#include <stdlib.h>
#include <string.h>

#include "sim/fabric/world_internal.h"

#define BLANK 0xa5

static bool is_floating(enum rf_arith_type type)
{
	return type <= RF_ARITH_FP16 || type == RF_ARITH_FP64;
}

/* A floating value near 1, so that rounding matters; one in 512 has random bits (NaN, infinite). */
static uint64_t floating(enum rf_arith_type type, uint64_t v)
{
	unsigned bits = 8 * (unsigned)rf_arith_size(type);
	unsigned exponent = type == RF_ARITH_FP64 ? 11 : type == RF_ARITH_FP16 ? 5 : 8;
	unsigned at = bits - 1 - exponent;
	uint64_t all = ((UINT64_C(1) << exponent) - 1) << at;

	if ((v >> 55) == 0)
		return v;
	return (v & ~all) | (all / 2 - (UINT64_C(2) << at) + ((v >> 52 & 3) << at));
}

static void fill(const struct rf_world *w, const struct rf_world_work *k, unsigned rank, char *to,
		 uint64_t bytes)
{
	unsigned number = (unsigned)(k - w->work);
	struct rf_rng rng =
		rf_rng_make(w->cfg.seed, UINT64_C(9) << 40 | (uint64_t)number << 16 | rank);
	size_t size = rf_arith_size(k->call.type);

	for (uint64_t i = 0; i < bytes; i += size) {
		uint64_t v = rf_rng_next(&rng);

		if (is_floating(k->call.type))
			v = floating(k->call.type, v);
		memcpy(to + i, &v, size);
	}
}

static void lay_out(struct rf_world *w, struct rf_world_work *k)
{
	struct rf_rng rng = rf_rng_make(w->cfg.seed, UINT64_C(10) << 40 | w->works);
	uint64_t size = rf_arith_size(k->call.type), n = k->call.count;
	bool blocks = rf_schedule_has_blocks(k->call.kind);

	for (unsigned r = 0; r < w->cfg.ranks; r++) {
		k->counts[r] = n;
		if (k->call.spread)
			k->counts[r] = rf_rng_below(&rng, 4) ? rf_rng_below(&rng, n + 1) : 0;
		k->at[r + 1] = k->at[r] + (blocks ? k->counts[r] * size : 0);
	}
	k->bytes = blocks ? k->at[w->cfg.ranks] : n * size;
	if (k->call.kind == RF_SCHEDULE_BARRIER)
		k->bytes = 0;
}

static uint64_t block(const struct rf_world_work *k, unsigned r)
{
	return k->at[r + 1] - k->at[r];
}

static char *memory(struct rf_world_work *k, unsigned rank, unsigned which, uint64_t bytes)
{
	char *p = malloc(bytes + 8);

	if (p)
		memset(p, BLANK, bytes + 8);
	k->memory[rank][which] = p;
	return p;
}

/* in[] keeps what a rank gives where the result may overwrite it. */
static int make_buffers(struct rf_world *w, struct rf_world_work *k, unsigned r)
{
	bool blocks = rf_schedule_has_blocks(k->call.kind);
	bool all_sent = rf_schedule_sends_blocks(k->call.kind);
	bool all_received = rf_schedule_receives_blocks(k->call.kind);
	uint64_t sent = all_sent || !blocks ? k->bytes : block(k, r);
	uint64_t received = all_received || !blocks ? k->bytes : block(k, r);
	char *a = memory(k, r, 0, sent), *b = memory(k, r, 1, sent > received ? sent : received);

	if (!a || !b)
		return -1;
	fill(w, k, r, a, sent);
	k->in[r] = k->send[r] = a;
	k->recv[r] = b;
	if (!k->call.in_place)
		return 0;
	k->send[r] = b + (all_received ? k->at[r] : 0);
	k->recv[r] = b + (all_sent ? k->at[r] : 0);
	memcpy(k->send[r], a, sent);
	return 0;
}

int rf_world_work_make(struct rf_world *w, struct rf_world_work *k)
{
	lay_out(w, k);
	k->first = UINT64_MAX;
	for (unsigned r = 0; r < w->cfg.ranks; r++)
		if (make_buffers(w, k, r) != 0)
			return -1;
	return 0;
}

void rf_world_work_free(struct rf_world *w, struct rf_world_work *k)
{
	for (unsigned r = 0; r < w->cfg.ranks; r++) {
		free(k->memory[r][0]);
		free(k->memory[r][1]);
	}
}

static void compare(struct rf_world *w, const char *got, const char *want, uint64_t bytes)
{
	w->r.compared += bytes;
	if (memcmp(got, want, bytes) == 0)
		return;
	for (uint64_t i = 0; i < bytes; i++)
		w->r.wrong += got[i] != want[i];
}

static char *reduced(struct rf_world *w, const struct rf_world_work *k)
{
	struct rf_place places[RF_WORLD_RANKS];
	char *out = malloc(k->bytes + 8);

	for (unsigned r = 0; r < w->cfg.ranks; r++)
		places[r] = rf_world_place(w, r);
	if (!out || rf_order_reduce(k->call.type, k->call.op, w->cfg.ranks, places,
				    (const void *const *)k->in, out,
				    k->bytes / rf_arith_size(k->call.type)) != 0) {
		w->failed = true;
		free(out);
		return NULL;
	}
	return out;
}

/* What rank r has received, block by block or as a vector. */
static void check_rank(struct rf_world *w, const struct rf_world_work *k, unsigned r,
		       const char *sum)
{
	unsigned root = k->call.root;

	switch (k->call.kind) {
	case RF_SCHEDULE_ALL_REDUCE:
		compare(w, k->recv[r], sum, k->bytes);
		break;
	case RF_SCHEDULE_REDUCE:
		if (r == root)
			compare(w, k->recv[r], sum, k->bytes);
		break;
	case RF_SCHEDULE_BROADCAST:
		compare(w, k->recv[r], k->in[root], k->bytes);
		break;
	case RF_SCHEDULE_REDUCE_SCATTER:
		compare(w, k->recv[r], sum + k->at[r], block(k, r));
		break;
	case RF_SCHEDULE_ALL_GATHER:
	case RF_SCHEDULE_GATHER:
		for (unsigned b = 0; b < w->cfg.ranks; b++)
			if (r == root || k->call.kind == RF_SCHEDULE_ALL_GATHER)
				compare(w, k->recv[r] + k->at[b], k->in[b], block(k, b));
		break;
	case RF_SCHEDULE_SCATTER:
		compare(w, k->recv[r], k->in[root] + k->at[r], block(k, r));
		break;
	default:
		break;
	}
}

void rf_world_work_check(struct rf_world *w, struct rf_world_work *k)
{
	char *sum = NULL;

	if (rf_schedule_reduces(k->call.kind)) {
		sum = reduced(w, k);
		if (!sum)
			return;
	}
	for (unsigned r = 0; r < w->cfg.ranks; r++)
		check_rank(w, k, r, sum);
	free(sum);
}
