/*
 * Figures of the public calls in virtual time: bench_library FILE [4 | 8 | default | small | flip]
 * appends JSON lines. Ranks call rf_*() over links of 100 Gb/s and 1 us, a switch, and the box (the
 * model with its real firmware); hosts take no time. 512 slots are requested; figures without a
 * limit show what the 256 slots give that large calls get by default. Every element of every result
 * is compared. Exit 4: a figure misses its limit; 1: a run failed. 4, 8: only with so many ranks;
 * small: one small call, no figure; flip: the same with a wrong expectation, which must fail.
 */
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim/virtual_ranks.h"

#define BYTES 16777216u
#define SMALL_BYTES 65536u
#define PIECES 1000u
#define SLOTS 512u
#define SLOTS_DEFAULT 256u
#define PIECE_BYTES 512u
/* Ethernet 14, IP 20, UDP 8, BTH 12, immediate 4, ICRC 4; preamble, FCS and gap 24. */
#define OVERHEAD 86u

enum kind {
	ALL_REDUCE,
	REDUCE,
	BROADCAST,
	REDUCE_SCATTER,
	ALL_GATHER,
	GATHER,
	SCATTER,
	/* with equal blocks, so that the figures have the same limits */
	REDUCE_SCATTER_V,
	ALL_GATHER_V,
	GATHER_V,
	SCATTER_V,
	KINDS
};

static const char *const names[KINDS] = {
	"rf_allreduce",   "rf_reduce",  "rf_broadcast", "rf_reduce_scatter",
	"rf_all_gather",  "rf_gather",  "rf_scatter",   "rf_reduce_scatterv",
	"rf_all_gatherv", "rf_gatherv", "rf_scatterv"};

static FILE *out;
static bool flip;
static unsigned int failures, missed;

/* What the ranks of a run share; each writes its own places. */
struct shared {
	size_t bytes;      /* of a vector, or of all blocks */
	unsigned int only; /* a kind, or KINDS for all and the batch */
	uint64_t begin[KINDS + 2][VIRTUAL_RANKS], end[KINDS + 2][VIRTUAL_RANKS];
};

static uint32_t value(unsigned int rank, unsigned int kind, size_t k)
{
	return (uint32_t)(k * 2654435761u) + (rank + 1) * 40503u + kind * 97u;
}

/* ---- one call ---- */

static int call(struct virtual_rank *r, enum kind kind, const uint32_t *in, uint32_t *got, size_t n)
{
	unsigned int ranks = rf_comm_ranks(r->comm);
	size_t block = n / ranks, counts[VIRTUAL_RANKS];

	for (unsigned int k = 0; k < ranks; k++)
		counts[k] = block;
	switch (kind) {
	case REDUCE_SCATTER_V:
		return rf_reduce_scatterv(r->comm, in, got, counts, RF_UINT32, RF_SUM);
	case ALL_GATHER_V:
		return rf_all_gatherv(r->comm, in, got, counts, RF_UINT32);
	case GATHER_V:
		return rf_gatherv(r->comm, in, block, got, counts, RF_UINT32, 1);
	case SCATTER_V:
		return rf_scatterv(r->comm, in, counts, got, block, RF_UINT32, 1);
	case ALL_REDUCE:
		return rf_allreduce(r->comm, in, got, n, RF_UINT32, RF_SUM);
	case REDUCE:
		return rf_reduce(r->comm, in, got, n, RF_UINT32, RF_SUM, 1);
	case BROADCAST:
		return rf_broadcast(r->comm, in, got, n, RF_UINT32, 1);
	case REDUCE_SCATTER:
		return rf_reduce_scatter(r->comm, in, got, block, RF_UINT32, RF_SUM);
	case ALL_GATHER:
		return rf_all_gather(r->comm, in, got, block, RF_UINT32);
	case GATHER:
		return rf_gather(r->comm, in, got, block, RF_UINT32, 1);
	default:
		return rf_scatter(r->comm, in, got, block, RF_UINT32, 1);
	}
}

/* The collective of which a v-form is one. */
static enum kind plain(enum kind kind)
{
	return kind < REDUCE_SCATTER_V ? kind : REDUCE_SCATTER + (kind - REDUCE_SCATTER_V);
}

/* Element k of the result at a rank, and how many there are. */
static uint32_t wanted(enum kind kind, unsigned int rank, unsigned int ranks, size_t block,
		       size_t k)
{
	uint32_t sum = 0;

	switch (plain(kind)) {
	case BROADCAST:
		return value(1, kind, k);
	case SCATTER:
		return value(1, kind, rank * block + k);
	case ALL_GATHER:
	case GATHER:
		return value((unsigned int)(k / block), kind, k % block);
	case REDUCE_SCATTER:
		k += rank * block;
		/* fall through */
	default:
		for (unsigned int o = 0; o < ranks; o++)
			sum += value(o, kind, k);
		return sum;
	}
}

static size_t elements(enum kind kind, unsigned int rank, size_t n, size_t block)
{
	kind = plain(kind);
	if ((kind == REDUCE || kind == GATHER) && rank != 1)
		return 0;
	return kind == REDUCE_SCATTER || kind == SCATTER ? block : n;
}

static int compare(struct virtual_rank *r, enum kind kind, const uint32_t *got, size_t n)
{
	unsigned int ranks = rf_comm_ranks(r->comm);
	size_t block = n / ranks, count = elements(kind, r->rank, n, block);

	for (size_t k = 0; k < count; k++) {
		uint32_t want = wanted(kind, r->rank, ranks, block, k);

		if (flip && k == count / 2)
			want ^= 1;
		if (got[k] == want)
			continue;
		snprintf(r->text, sizeof(r->text), "%s: element %zu is %08x, not %08x", names[kind],
			 k, got[k], want);
		return -1;
	}
	return 0;
}

static int one(struct virtual_rank *r, enum kind kind, uint32_t *in, uint32_t *got)
{
	struct shared *s = virtual_arg(r);
	size_t n = s->bytes / 4;
	int ret;

	for (size_t k = 0; k < n; k++)
		in[k] = value(r->rank, kind, k);
	memset(got, 0, s->bytes);
	virtual_meet(r);
	s->begin[kind][r->rank] = virtual_now(r);
	ret = call(r, kind, in, got, n);
	s->end[kind][r->rank] = virtual_now(r);
	if (ret) {
		snprintf(r->text, sizeof(r->text), "%s: %s", names[kind],
			 rf_last_error_text(r->ctx));
		return ret;
	}
	return compare(r, kind, got, n);
}

/* One call of as many bytes as all pieces together, and the batch. */
static int batch(struct virtual_rank *r, uint32_t *in, uint32_t *got)
{
	static struct rf_piece pieces[VIRTUAL_RANKS][PIECES];
	struct shared *s = virtual_arg(r);
	size_t n = PIECES * PIECE_BYTES / 4;
	int ret = 0;

	for (size_t k = 0; k < n; k++)
		in[k] = value(r->rank, ALL_REDUCE, k);
	for (unsigned int k = 0; k < PIECES; k++)
		pieces[r->rank][k] = (struct rf_piece){in + k * PIECE_BYTES / 4,
						       got + k * PIECE_BYTES / 4, PIECE_BYTES / 4};
	for (unsigned int way = 0; way < 2 && !ret; way++) {
		memset(got, 0, PIECES * PIECE_BYTES);
		virtual_meet(r);
		s->begin[KINDS + way][r->rank] = virtual_now(r);
		ret = way ? rf_allreduce_batch(r->comm, pieces[r->rank], PIECES, RF_UINT32, RF_SUM)
			  : rf_allreduce(r->comm, in, got, n, RF_UINT32, RF_SUM);
		s->end[KINDS + way][r->rank] = virtual_now(r);
		if (ret)
			snprintf(r->text, sizeof(r->text), "%s", rf_last_error_text(r->ctx));
		else
			ret = compare(r, ALL_REDUCE, got, n);
	}
	return ret;
}

static int body(struct virtual_rank *r)
{
	struct shared *s = virtual_arg(r);
	uint32_t *in = malloc(s->bytes), *got = malloc(s->bytes);
	int ret = in && got ? 0 : RF_ERR_NO_MEMORY;

	for (unsigned int k = 0; k < KINDS && !ret; k++)
		if (s->only == KINDS || s->only == k)
			ret = one(r, (enum kind)k, in, got);
	if (!ret && s->only == KINDS)
		ret = batch(r, in, got);
	free(in);
	free(got);
	return ret;
}

/* ---- figures ---- */

static void figure(const char *name, double got, const char *unit, double limit, bool must)
{
	bool ok = !must || got >= limit;
	json_t *o = json_pack("{ss ss sf ss sb sb}", "group", "library", "name", name, "value", got,
			      "unit", unit, "must", must, "ok", ok);

	json_object_set_new(o, "limit", must ? json_real(limit) : json_null());
	json_dumpf(o, out, JSON_COMPACT | JSON_REAL_PRECISION(6));
	fputc('\n', out);
	fflush(out);
	json_decref(o);
	printf("%s: %.4g %s (limit %.4g)%s\n", name, got, unit, limit, ok ? "" : ": missed");
	fflush(stdout);
	missed += !ok;
}

/* From the first begin to the last end. */
static double took(const struct shared *s, unsigned int what, unsigned int ranks)
{
	uint64_t begin = UINT64_MAX, end = 0;

	for (unsigned int r = 0; r < ranks; r++) {
		begin = s->begin[what][r] < begin ? s->begin[what][r] : begin;
		end = s->end[what][r] > end ? s->end[what][r] : end;
	}
	return (double)(end - begin);
}

/*
 * What the busiest link must carry: a full packet for each index; in an all-gather a rank receives
 * an empty packet when it is its turn to give; the root's block of a gather or scatter stays there.
 */
static double link_ns(enum kind kind, unsigned int n, unsigned int mtu)
{
	double packets = (double)BYTES / mtu, full = mtu + OVERHEAD;

	kind = plain(kind);
	if (kind == ALL_GATHER)
		return packets / n * ((n - 1) * full + OVERHEAD) * 8 / 100;
	if (kind == GATHER || kind == SCATTER)
		return packets / n * (n - 1) * full * 8 / 100;
	return packets * full * 8 / 100;
}

static void ranks(unsigned int n, unsigned int mtu, unsigned int slots)
{
	struct shared s = {.bytes = BYTES, .only = KINDS};
	struct virtual_cfg cfg = {.ranks = n, .mtu = mtu, .slots = slots, .body = body, .arg = &s};
	char name[140], less[32] = "";

	if (virtual_ranks_run(&cfg)) {
		failures++;
		return;
	}
	if (slots != SLOTS)
		snprintf(less, sizeof(less), ", %u slots", slots);
	for (unsigned int k = 0; k < KINDS; k++) {
		snprintf(name, sizeof(name),
			 "%s, N = %u, 16 MB, MTU %u%s: part of the link's framing limit", names[k],
			 n, mtu, less);
		figure(name, link_ns((enum kind)k, n, mtu) / took(&s, k, n), "", 0.97,
		       slots == SLOTS);
	}
	if (slots != SLOTS)
		return;
	snprintf(name, sizeof(name),
		 "rf_allreduce_batch, N = %u, MTU %u: 1,000 of 512 B against one of 512,000 B", n,
		 mtu);
	figure(name, took(&s, KINDS, n) / took(&s, KINDS + 1, n), "", 0.8, true);
	snprintf(name, sizeof(name), "the same, N = %u, MTU %u: goodput of the batch", n, mtu);
	figure(name, PIECES * PIECE_BYTES * 8 / took(&s, KINDS + 1, n), "Gb/s", 0, false);
}

static void small(void)
{
	struct shared s = {.bytes = SMALL_BYTES, .only = REDUCE_SCATTER};
	struct virtual_cfg cfg = {.ranks = 4, .mtu = 1024, .slots = SLOTS, .body = body, .arg = &s};

	failures += virtual_ranks_run(&cfg) != 0;
}

int main(int argc, char **argv)
{
	const char *only = argc > 2 ? argv[2] : "";

	if (argc < 2 || argc > 3 || !(out = fopen(argv[1], "a"))) {
		fprintf(stderr, "usage: bench_library FILE [4 | 8 | default | small | flip]\n");
		return 2;
	}
	flip = strcmp(only, "flip") == 0;
	if (flip || strcmp(only, "small") == 0)
		small();
	for (unsigned int n = 4;
	     n <= 8 && !flip && strcmp(only, "small") != 0 && strcmp(only, "default") != 0; n += 4)
		for (unsigned int mtu = 1024; mtu <= 4096; mtu *= 4)
			if (!*only || atoi(only) == (int)n)
				ranks(n, mtu, SLOTS);
	if (!*only || strcmp(only, "default") == 0)
		ranks(4, 1024, SLOTS_DEFAULT);
	if (fclose(out) != 0 || failures)
		return 1;
	return missed ? 4 : 0;
}
