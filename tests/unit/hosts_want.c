/* What each rank must have after a call, from the definitions in docs/collective.md. */
#include <stdlib.h>
#include <string.h>

#include "tests/unit/hosts_net.h"

struct hosts_layout hosts_layout(const struct hosts_work *w, uint32_t ranks)
{
	enum rf_collective_kind kind = w->call.kind;
	uint64_t size = rf_arith_size(w->call.type);
	bool blocks = kind >= RF_SCHEDULE_REDUCE_SCATTER && kind <= RF_SCHEDULE_SCATTER;
	struct hosts_layout l = {.bytes = w->call.count * size};

	l.send_blocks = kind == RF_SCHEDULE_REDUCE_SCATTER || kind == RF_SCHEDULE_SCATTER;
	l.recv_blocks = kind == RF_SCHEDULE_ALL_GATHER || kind == RF_SCHEDULE_GATHER;
	for (uint32_t r = 0; blocks && r < ranks; r++)
		l.at[r + 1] = l.at[r] + size * (w->call.counts ? w->counts[r] : w->call.count);
	if (blocks)
		l.bytes = l.at[ranks];
	return l;
}

/* One element. */
static void add(const struct hosts_work *w, char *to, const char *a, const char *b)
{
	rf_arith_reduce(w->call.type, w->call.op, to, a, b, 1);
}

static const char *operand(const struct hosts_work *w, uint32_t rank, uint64_t at)
{
	return (const char *)w->before[rank] + at;
}

/* ((x_first + x_first+1) + ...), all ranks, modulo N. */
static void in_turn(const struct hosts_work *w, uint32_t ranks, uint32_t first, uint64_t at,
		    char *out)
{
	char sum[8];

	memcpy(sum, operand(w, first, at), rf_arith_size(w->call.type));
	for (uint32_t k = 1; k < ranks; k++)
		add(w, sum, sum, operand(w, (first + k) % ranks, at));
	memcpy(out, sum, rf_arith_size(w->call.type));
}

/* Neighbours first, then pairs of pairs; ranks beyond the power of two join at the beginning. */
static void by_doubling(const struct hosts_work *w, uint32_t ranks, uint64_t at, char *out)
{
	size_t size = rf_arith_size(w->call.type);
	char sum[HOSTS_RANKS][8];
	uint32_t n = 1;

	while (n * 2 <= ranks)
		n *= 2;
	for (uint32_t r = 0; r < n; r++)
		memcpy(sum[r], operand(w, r, at), size);
	for (uint32_t r = n; r < ranks; r++)
		add(w, sum[r - n], sum[r - n], operand(w, r, at));
	for (; n > 1; n /= 2)
		for (uint32_t r = 0; r < n / 2; r++)
			add(w, sum[r], sum[2 * r], sum[2 * r + 1]);
	memcpy(out, sum[0], size);
}

/* Each number counted from the root adds those at distance 1, 2, 4, ... */
static void by_tree(const struct hosts_work *w, uint32_t ranks, uint64_t at, char *out)
{
	size_t size = rf_arith_size(w->call.type);
	char sum[HOSTS_RANKS][8];

	for (uint32_t v = 0; v < ranks; v++)
		memcpy(sum[v], operand(w, (v + w->call.root) % ranks, at), size);
	for (uint32_t d = 1; d < ranks; d *= 2)
		for (uint32_t v = 0; v + d < ranks; v += 2 * d)
			add(w, sum[v], sum[v], sum[v + d]);
	memcpy(out, sum[0], size);
}

static bool is_small(uint32_t ranks, uint64_t bytes)
{
	return bytes <= 4096u * ranks && bytes <= 32768;
}

void hosts_all_reduced(const struct hosts_work *w, uint32_t ranks, bool tree, uint64_t bytes,
		       char *out)
{
	uint64_t size = rf_arith_size(w->call.type), count = bytes / size;

	for (uint64_t k = 0; k < count; k++) {
		uint64_t chunk = (count + ranks - 1) / ranks;

		if (tree)
			by_doubling(w, ranks, k * size, out + k * size);
		else
			in_turn(w, ranks, (uint32_t)(k / chunk), k * size, out + k * size);
	}
}

/* The sum at each place; of a reduce-scatter, of the blocks one after another. */
static void *reduced(const struct hosts_work *w, uint32_t ranks, const struct hosts_layout *l)
{
	uint64_t size = rf_arith_size(w->call.type);
	char *out = malloc(l->bytes + 1);
	uint32_t block = 0;

	if (!out || ranks == 1) {
		if (out)
			memcpy(out, w->before[0], l->bytes);
		return out;
	}
	if (w->call.kind == RF_SCHEDULE_ALL_REDUCE) {
		hosts_all_reduced(w, ranks, is_small(ranks, l->bytes), l->bytes, out);
		return out;
	}
	for (uint64_t at = 0; at < l->bytes; at += size) {
		if (w->call.kind == RF_SCHEDULE_REDUCE) {
			if (is_small(ranks, l->bytes))
				by_tree(w, ranks, at, out + at);
			else
				in_turn(w, ranks, (w->call.root + 1) % ranks, at, out + at);
			continue;
		}
		while (at >= l->at[block + 1])
			block++;
		in_turn(w, ranks, (block + 1) % ranks, at, out + at);
	}
	return out;
}

static void want(struct hosts_work *w, uint32_t rank, const void *from, uint64_t len)
{
	w->want_len[rank] = len;
	w->want[rank] = malloc(len + 1);
	if (!w->want[rank])
		abort();
	if (len > 0 && from)
		memcpy(w->want[rank], from, len);
}

/* All blocks, one after another. */
static void want_all(struct hosts_work *w, uint32_t rank, uint32_t ranks,
		     const struct hosts_layout *l)
{
	want(w, rank, NULL, l->bytes);
	for (uint32_t k = 0; k < ranks; k++)
		memcpy((char *)w->want[rank] + l->at[k], w->before[k], l->at[k + 1] - l->at[k]);
}

void hosts_want(struct hosts_work *w, uint32_t ranks)
{
	struct hosts_layout l = hosts_layout(w, ranks);
	uint32_t root = w->call.root;
	char *sum = rf_schedule_reduces(w->call.kind) ? reduced(w, ranks, &l) : NULL;

	for (uint32_t r = 0; r < ranks; r++) {
		uint64_t mine = l.at[r + 1] - l.at[r];

		switch (w->call.kind) {
		case RF_SCHEDULE_ALL_REDUCE:
			want(w, r, sum, l.bytes);
			break;
		case RF_SCHEDULE_REDUCE:
			want(w, r, sum, r == root ? l.bytes : 0);
			break;
		case RF_SCHEDULE_BROADCAST:
			want(w, r, w->before[root], l.bytes);
			break;
		case RF_SCHEDULE_REDUCE_SCATTER:
			want(w, r, sum + l.at[r], mine);
			break;
		case RF_SCHEDULE_SCATTER:
			want(w, r, (char *)w->before[root] + l.at[r], mine);
			break;
		case RF_SCHEDULE_ALL_GATHER:
			want_all(w, r, ranks, &l);
			break;
		case RF_SCHEDULE_GATHER:
			if (r == root)
				want_all(w, r, ranks, &l);
			else
				want(w, r, NULL, 0);
			break;
		default:
			want(w, r, NULL, 0);
			break;
		}
	}
	free(sum);
}
