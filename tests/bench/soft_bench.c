/*
 * Cycles of the software box for one packet in and its result out: frames in memory, no device.
 *
 *   soft-bench FILE [RANKS [BURSTS]]
 *
 * Appends JSON lines to FILE ("-": none). One rank at each port, fp32 sums, go-back-N. A burst is
 * 32 packets of each rank and the four ACKs that its receiver sends for them; frames are prepared
 * outside of the measured time. The figure is the median over the bursts, of the time-stamp
 * counter, for one packet in and out. Every result is compared with the sum.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __x86_64__
#include <x86intrin.h>
#else
#include <time.h>
#endif

#include "proto/rf_bytes.h"
#include "soft/soft.h"
#include "tests/sim/compare/bench.h"

#define BURST 32u
#define ACKS 4u
#define S_LOG2 9u
#define MUST 1000.0

struct run {
	struct bench b;
	struct bench_group g;
	struct soft_box *box;
	uint8_t *frame[SOFT_PORTS][BURST + ACKS];
	size_t len[SOFT_PORTS][BURST + ACKS];
	uint32_t index;
	unsigned int ranks, mtu;
	unsigned long wrong;
};

static uint64_t ticks(void)
{
#ifdef __x86_64__
	return __rdtsc();
#else
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
#endif
}

/* The registers of the box, for the benches' functions that write them. */
static struct rf_engine *create(const struct rf_engine_cfg *c, const struct rf_engine_host *host,
				char *why, size_t room)
{
	struct soft_cfg cfg = {c->ports,     c->lanes,    c->width,     c->groups,   c->mtu_max,
			       c->bank_log2, c->hdr_log2, c->hash_bits, c->clock_khz};

	(void)host;
	return (struct rf_engine *)soft_create(&cfg, why, room);
}

static uint32_t reg_read(struct rf_engine *e, uint32_t addr)
{
	return soft_read((struct soft_box *)e, addr);
}

static void reg_write(struct rf_engine *e, uint32_t addr, uint32_t value)
{
	soft_write((struct soft_box *)e, addr, value);
}

static const struct rf_engine_ops ops = {
	.name = "soft", .create = create, .reg_read = reg_read, .reg_write = reg_write};

static float element(unsigned int rank, uint32_t index, unsigned int k)
{
	return (float)(rank + 1) * 0.5f + (float)(index & 63) + (float)k;
}

static void prepare(struct run *r)
{
	uint8_t payload[PACKET_MAX];
	struct packet p;
	unsigned int rank, k, n;

	for (rank = 0; rank < r->ranks; rank++) {
		const struct bench_conn *c = &r->g.conn[rank];

		for (n = 0; n < BURST; n++) {
			uint32_t index = r->index + n;

			for (k = 0; k < r->mtu / 4; k++) {
				float x = element(rank, index, k);

				memcpy(payload + 4 * k, &x, sizeof(x));
			}
			bench_data(c, &p, index, OP_SEND_MIDDLE, payload, r->mtu);
			r->len[c->port][n] = packet_build(&p, r->frame[c->port][n]);
		}
	}
	/* The receiver's ACKs of the burst before come in at the port of the next rank. */
	for (rank = 0; rank < r->ranks; rank++) {
		const struct bench_conn *c = &r->g.conn[rank];

		for (n = 0; n < ACKS; n++) {
			uint32_t back = BURST / ACKS * (ACKS - 1 - n);

			bench_ack(c, &p, r->index - back);
			r->len[c->peer_port][BURST + n] =
				packet_build(&p, r->frame[c->peer_port][BURST + n]);
		}
	}
}

/* Every float of a result. */
static void check(struct run *r, const struct soft_out *out)
{
	size_t l2 = packet_l2(out->bytes);
	unsigned int rank, k;
	uint32_t psn, index;

	if (out->bytes[l2 + 28] == OP_ACK)
		return;
	psn = rf_get_be24(out->bytes + l2 + 37);
	index = (psn + r->g.shift - r->g.start) & 0xffffff;
	index = (index - r->index) % 1000 + r->index; /* START of rank r is 1000 r more */
	for (k = 0; k < r->mtu / 4; k++) {
		float sum = 0, got;

		for (rank = 0; rank < r->ranks; rank++)
			sum += element(rank, index, k);
		memcpy(&got, out->bytes + packet_payload_at(out->bytes) + 4 * k, sizeof(got));
		r->wrong += got != sum;
	}
}

/* One burst in and out at every port. Returns the ticks that it took. */
static uint64_t one(struct run *r, unsigned int *sent)
{
	struct soft_out out[SOFT_PORTS][64];
	struct soft_frame in[BURST + ACKS];
	unsigned int n[SOFT_PORTS], port, k;
	uint64_t spent = 0, start;

	for (port = 0; port < r->ranks; port++) {
		for (k = 0; k < BURST + ACKS; k++)
			in[k] = (struct soft_frame){r->frame[port][k], r->len[port][k], false};
		start = ticks();
		soft_in(r->box, port, in, BURST + (r->index ? ACKS : 0));
		spent += ticks() - start;
	}
	start = ticks();
	for (port = 0; port < r->ranks; port++)
		n[port] = soft_take(r->box, port, out[port], 64);
	spent += ticks() - start;
	for (port = 0; port < r->ranks; port++) {
		for (k = 0; k < n[port]; k++) {
			check(r, &out[port][k]);
			*sent += out[port][k].len > r->mtu;
		}
	}
	start = ticks();
	for (port = 0; port < r->ranks; port++)
		soft_done(r->box, port);
	return spent + (ticks() - start);
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static bool open_box(struct run *r)
{
	struct rf_engine_cfg cfg;
	unsigned int port, n;

	bench_shape(&cfg, r->ranks > 2 ? (r->ranks > 4 ? 8 : 4) : 2, 1, 512);
	cfg.bank_log2 = 9 + 6;
	if (!bench_open(&r->b, &ops, &cfg))
		return false;
	r->box = (struct soft_box *)r->b.e;
	bench_group_init(&r->g, 0, r->ranks, 1);
	r->g.s_log2 = S_LOG2;
	for (r->g.mtu_log2 = 8; 1u << r->g.mtu_log2 < r->mtu; r->g.mtu_log2++)
		;
	if (!bench_group_start(&r->b, &r->g))
		return false;
	for (port = 0; port < r->ranks; port++)
		for (n = 0; n < BURST + ACKS; n++)
			r->frame[port][n] = aligned_alloc(64, PACKET_MAX / 64 * 64 + 64);
	return true;
}

static void report(FILE *out, const struct run *r, double cycles, double limit)
{
	char name[120];
	json_t *o;

	snprintf(name, sizeof(name), "%s, %u ranks, MTU %u: cycles for a packet in and out",
		 soft_simd(r->box), r->ranks, r->mtu);
	printf("%s: %.0f\n", name, cycles);
	if (!out)
		return;
	o = json_pack("{ss ss sf ss sf sb sb}", "group", "soft", "name", name, "value", cycles,
		      "unit", "cycles", "limit", limit, "must", limit > 0, "ok",
		      limit <= 0 || cycles <= limit);
	json_dumpf(o, out, JSON_COMPACT | JSON_REAL_PRECISION(6));
	fputc('\n', out);
	json_decref(o);
}

/* Returns the median, or -1 if a result was wrong or missing. */
static double measure(FILE *out, const char *simd, unsigned int ranks, unsigned int mtu,
		      unsigned int bursts, double limit)
{
	static struct run r;
	double *all = calloc(bursts, sizeof(*all)), median;
	unsigned int k, n, sent = 0;

	memset(&r, 0, sizeof(r));
	r.ranks = ranks;
	r.mtu = mtu;
	if (!all || !open_box(&r) || !soft_set_simd(r.box, simd)) {
		free(all);
		return simd ? 0 : -1;
	}
	for (k = 0; k < bursts; k++, r.index += BURST) {
		prepare(&r);
		all[k] = (double)one(&r, &sent) / (BURST * ranks);
	}
	qsort(all, bursts, sizeof(*all), by_size);
	median = all[bursts / 2];
	if (r.wrong || sent != bursts * BURST * ranks) {
		fprintf(stderr, "%lu wrong elements, %u results of %u\n", r.wrong, sent,
			bursts * BURST * ranks);
		median = -1;
	} else {
		report(out, &r, median, limit);
	}
	for (k = 0; k < ranks; k++)
		for (n = 0; n < BURST + ACKS; n++)
			free(r.frame[k][n]);
	soft_destroy(r.box);
	free(all);
	return median;
}

int main(int argc, char **argv)
{
	unsigned int ranks = argc > 2 ? (unsigned int)strtoul(argv[2], NULL, 0) : 4;
	unsigned int bursts = argc > 3 ? (unsigned int)strtoul(argv[3], NULL, 0) : 2000;
	static const char *const simd[] = {"none", "avx2", "avx512"};
	FILE *out = NULL;
	double widest, one_of;
	bool wrong = false;
	unsigned int k;

	if (argc < 2 || ranks < 2 || ranks > 8 || bursts == 0) {
		fprintf(stderr, "usage: soft-bench FILE [RANKS [BURSTS]]\n");
		return 2;
	}
	if (strcmp(argv[1], "-") != 0 && !(out = fopen(argv[1], "a"))) {
		perror(argv[1]);
		return 1;
	}
	for (k = 0; k < 3; k++) {
		one_of = measure(out, simd[k], ranks, 1024, bursts, 0);
		wrong |= one_of < 0;
	}
	one_of = measure(out, NULL, ranks, 4096, bursts / 4 + 1, 0);
	widest = measure(out, NULL, ranks, 1024, bursts, MUST);
	wrong |= one_of < 0 || widest < 0;
	if (out && fclose(out) != 0)
		return 1;
	return wrong ? 3 : widest > MUST ? 4 : 0;
}
