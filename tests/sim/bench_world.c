/*
 * Figures of the collectives on the transport itself: bench_world FILE ENGINE [4 | 8 | loss | flip]
 * appends JSON lines. Mirror connections, virtual time, links of 100 Gb/s and 1 us, 512 slots, MTU
 * 4096 if the name says no other. ENGINE: model, or rtl (box-p4-l1-w512-deep.so and that of 8
 * ports). Exit 4: a figure misses its limit; 1: a run failed. 4, 8: only with so many ranks; loss:
 * only with loss. flip: one wrong bit in each result, so every run fails.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/cosim/load.h"
#include "sim/fabric/world.h"
#include "tests/sim/loss_before.h"

#define BYTES 16777216u
/* Ethernet 14, IP 20, UDP 8, BTH 12, immediate 4, ICRC 4; preamble, FCS and gap 24. */
#define OVERHEAD 86u
#define BOX_NS 160.0 /* 40 cycles, two less than those of the Verilog (docs/pipeline.md) */

/* A pass: one beat of 64 bytes in each cycle of 4 ns. */
#define PASS_NS(bytes) ((bytes) / 64 * 4.0)

#define LOSS_SEEDS 10u

static FILE *out;
static const char *by;
static bool flip;
static unsigned failures, missed;
/* Times of the large calls at 100 Gb/s, ns, by kind and MTU. */
static double alone_ns[RF_SCHEDULE_BARRIER + 1][2];

/* limit 0: none. */
static void report(const char *what, double value, const char *unit, double limit, bool must,
		   bool ok)
{
	char name[160];
	json_t *o;

	snprintf(name, sizeof(name), "%s, %s", by, what);
	o = json_pack("{ss ss sf ss sb sb}", "group", "world", "name", name, "value", value, "unit",
		      unit, "must", must, "ok", ok);
	json_object_set_new(o, "limit", limit > 0 || must ? json_real(limit) : json_null());
	json_dumpf(o, out, JSON_COMPACT | JSON_REAL_PRECISION(6));
	fputc('\n', out);
	fflush(out);
	json_decref(o);
	printf("%s: %.4g %s (limit %.4g)%s\n", name, value, unit, limit, ok ? "" : ": missed");
	fflush(stdout);
	missed += must && !ok;
}

static void figure(const char *name, double value, const char *unit, double limit, bool ok)
{
	report(name, value, unit, limit, true, ok);
}

/* A box of as many ports as ranks, with room for two groups. */
static struct rf_world_cfg world_of(unsigned n)
{
	struct rf_world_cfg c;
	char why[300];

	rf_world_cfg_init(&c);
	c.ranks = c.ports = n;
	c.flip = flip;
	if (strcmp(by, "rtl") == 0 &&
	    rf_engine_load_deep(n, 1, 512, &c.engine, why, sizeof(why)) != 0) {
		fprintf(stderr, "bench_world: %s\n", why);
		exit(1);
	}
	return c;
}

/*
 * The calls of a world at once, right in every byte; the time from the first start to the last end
 * in ns, 0 if a run failed.
 */
static double run(const struct rf_world_cfg *c, const struct rf_world_call *call, unsigned calls,
		  struct rf_world_result *r)
{
	struct rf_world *w;
	char why[200];
	double most = 0;

	if (rf_world_create(c, &w, why, sizeof(why)) != 0) {
		fprintf(stderr, "bench_world: %s\n", why);
		failures++;
		return 0;
	}
	for (unsigned k = 0; k < calls; k++)
		failures += rf_world_call(w, &call[k]) != 0;
	(void)rf_world_run(w, RF_WORLD_SEC);
	rf_world_result(w, r);
	rf_world_destroy(w);
	if (!r->done || r->wrong != 0) {
		fprintf(stderr, "bench_world: a run is not good\n");
		failures++;
		return 0;
	}
	for (unsigned k = 0; k < calls; k++)
		most = (double)r->call_ns[k] > most ? (double)r->call_ns[k] : most;
	return most;
}

/*
 * What the busiest link must carry: N packets of data per N indexes, but in an all-gather a rank
 * receives an empty packet when it is its turn to give.
 */
static double link_ns(enum rf_collective_kind kind, unsigned n, unsigned mtu)
{
	double packets = (double)BYTES / mtu, full = mtu + OVERHEAD;

	if (kind == RF_SCHEDULE_ALL_GATHER)
		return packets / n * ((n - 1) * full + OVERHEAD) * 8 / 100;
	return packets * full * 8 / 100;
}

static void large(enum rf_collective_kind kind, unsigned n, unsigned mtu)
{
	struct rf_world_call call = {.kind = kind, .type = RF_ARITH_FP32, .count = BYTES / 4};
	struct rf_world_cfg c = world_of(n);
	struct rf_world_result r;
	char name[100];
	double ns, part;

	c.mtu = mtu;
	if (rf_schedule_has_blocks(kind))
		call.count /= n;
	ns = run(&c, &call, 1, &r);
	alone_ns[kind][mtu == 4096] = ns;
	part = ns > 0 ? link_ns(kind, n, mtu) / ns : 0;
	snprintf(name, sizeof(name), "%s, N = %u, 16 MB, MTU %u: part of the link's framing limit",
		 rf_schedule_name(kind), n, mtu);
	figure(name, part, "", 0.97, part >= 0.97);
}

/*
 * A small call, and what algorithms without a box need at least on the same links: computed, hosts
 * that take no time. Recursive doubling: log2 N steps; ring: 2 (N - 1); each over two links.
 */
static void small(enum rf_collective_kind kind, uint64_t count)
{
	struct rf_world_call call = {.kind = kind, .type = RF_ARITH_INT64, .count = count};
	double wire = (62 + 8 * (double)count + 24) * 8 / 100, step, least, ns;
	struct rf_world_cfg c = world_of(8);
	struct rf_world_result r;
	char name[100], what[60];

	ns = run(&c, &call, 1, &r);
	step = 2 * (double)c.delay_ns + 2 * wire + (double)c.switch_ns;
	least = 2 * step + BOX_NS;
	snprintf(what, sizeof(what), "%s of %llu B, 8 ranks", rf_schedule_name(kind),
		 8 * (unsigned long long)count);
	snprintf(name, sizeof(name), "%s: time against links + switch + box", what);
	figure(name, ns / least, "", 1.02, ns > 0 && ns / least <= 1.02);
	snprintf(name, sizeof(name), "%s: time", what);
	report(name, ns / 1000, "us", 0, false, true);
	snprintf(name, sizeof(name), "%s: recursive doubling, computed", what);
	report(name, 3 * step / 1000, "us", 0, false, true);
	snprintf(name, sizeof(name), "%s: ring, computed", what);
	report(name, 14 * step / 1000, "us", 0, false, true);
}

/*
 * Reduce-scatter and all-gather of two communicators of the same ranks. Per index of both, every
 * host sends a full packet for the one, and for the other a full packet in one of N cases and an
 * empty one otherwise: that is what the frames need. The box makes one pass of a whole packet for
 * each of the two. With links of 50 Gb/s the frames need more than the passes: that is about the
 * hosts, so the model measures it. After large() of both.
 */
static void side_by_side(unsigned n, unsigned mtu, unsigned gbit)
{
	struct rf_world_call call[2] = {
		{.kind = RF_SCHEDULE_REDUCE_SCATTER, .type = RF_ARITH_FP32, .count = BYTES / 4 / n},
		{.kind = RF_SCHEDULE_ALL_GATHER, .type = RF_ARITH_FP32, .count = BYTES / 4 / n}};
	double full = (mtu + OVERHEAD) * 8.0 / gbit, empty = OVERHEAD * 8.0 / gbit;
	double frames = 1 + (full + (n - 1) * empty) / n / full, passes = 2 * PASS_NS(mtu) / full;
	double least = frames > passes ? frames : passes, both, alone[2];
	struct rf_world_cfg c = world_of(n);
	struct rf_world_result r;
	char name[140];

	c.mtu = mtu;
	c.rate = gbit * UINT64_C(1000000000);
	for (unsigned k = 0; k < 2; k++)
		alone[k] = gbit == 100 ? alone_ns[call[k].kind][mtu == 4096]
				       : run(&c, &call[k], 1, &r);
	alone[0] = alone[0] > alone[1] ? alone[0] : alone[1];
	c.groups = 2;
	call[1].group = 1;
	both = alone[0] > 0 ? run(&c, call, 2, &r) / alone[0] : 0;
	snprintf(name, sizeof(name),
		 "reduce-scatter beside all-gather, N = %u, MTU %u, %u Gb/s: against the slower", n,
		 mtu, gbit);
	figure(name, both, "", 1.02 * least, both > 0 && both <= 1.02 * least);
	snprintf(name, sizeof(name), "the same, N = %u, MTU %u, %u Gb/s: what the frames need", n,
		 mtu, gbit);
	report(name, frames, "", 0, false, true);
	snprintf(name, sizeof(name), "the same, N = %u, MTU %u, %u Gb/s: what the passes need", n,
		 mtu, gbit);
	report(name, passes, "", 0, false, true);
}

/*
 * What loss on every link in both directions costs a directed group: mean of some seeds, over the
 * time without loss. It must not be more than groups that are not directed cost before directed
 * ones existed.
 */
static void lossy(unsigned mtu)
{
	static const double losses[] = {1e-4, 1e-3, 1e-2};
	struct rf_world_call call = {
		.kind = RF_SCHEDULE_ALL_REDUCE, .type = RF_ARITH_FP32, .count = BYTES / 4};
	unsigned seeds = strcmp(by, "rtl") == 0 ? 1 : LOSS_SEEDS;
	struct rf_world_cfg c = world_of(8);
	struct rf_world_result r;
	double none, cost, limit;
	char name[120];

	c.mtu = mtu;
	c.ack_timeout_ns = 40000;
	none = run(&c, &call, 1, &r);
	for (unsigned k = 0; k < sizeof(losses) / sizeof(losses[0]) && none > 0; k++) {
		double sum = 0;

		c.loss = losses[k];
		limit = seeds == LOSS_SEEDS ? loss_before(mtu, losses[k])
					    : loss_before_few(losses[k]);
		for (c.seed = 1; c.seed <= seeds; c.seed++)
			sum += run(&c, &call, 1, &r);
		cost = 100 * (sum / seeds / none - 1);
		snprintf(name, sizeof(name),
			 "all-reduce, N = 8, 16 MB, MTU %u, loss %g: over the lossless %.0f us",
			 mtu, losses[k], none * 1e-3);
		figure(name, cost, "%", limit, cost <= limit);
	}
}

static void slow_receiver(void)
{
	struct rf_world_call call = {
		.kind = RF_SCHEDULE_BROADCAST, .type = RF_ARITH_UINT8, .count = BYTES};
	struct rf_world_cfg c = world_of(4);
	struct rf_world_result r = {0};
	double ns, part;

	c.rate_of_rank[3] = c.rate / 4;
	c.mark_bytes = 100000;
	ns = run(&c, &call, 1, &r);
	part = ns > 0 ? BYTES * 8.0 / 25 / ns : 0;
	figure("broadcast, one receiver at a quarter of the rate, marks: its goodput", part, "",
	       0.9, part >= 0.9);
	figure("the same: longest queue towards it", (double)r.queue_max[3], "B", 256 * 2048,
	       r.queue_max[3] < 256 * 2048);
	figure("the same: frames lost or repeated", (double)(r.switch_dropped + r.repeats), "", 0,
	       r.switch_dropped + r.repeats == 0);
}

static void all(unsigned n)
{
	static const enum rf_collective_kind kinds[] = {
		RF_SCHEDULE_ALL_REDUCE, RF_SCHEDULE_BROADCAST, RF_SCHEDULE_ALL_GATHER,
		RF_SCHEDULE_REDUCE, RF_SCHEDULE_REDUCE_SCATTER};

	if (n == 8) {
		small(RF_SCHEDULE_BARRIER, 0);
		small(RF_SCHEDULE_ALL_REDUCE, 1);
	}
	for (unsigned k = 0; k < 5; k++)
		for (unsigned mtu = 1024; mtu <= 4096; mtu *= 4)
			large(kinds[k], n, mtu);
	side_by_side(n, 1024, 100);
	side_by_side(n, 4096, 100);
	if (strcmp(by, "model") == 0)
		side_by_side(n, 4096, 50);
	if (n == 4)
		slow_receiver();
}

int main(int argc, char **argv)
{
	static const char *const parts[] = {"4", "8", "loss", "flip"};
	const char *only = argc > 3 ? argv[3] : NULL;
	bool do_it[4];

	for (unsigned k = 0; k < 4; k++) /* all but flip by default */
		do_it[k] = only ? strcmp(only, parts[k]) == 0 : k < 3;
	if (argc < 3 || argc > 4 || (only && !(do_it[0] | do_it[1] | do_it[2] | do_it[3])) ||
	    !(out = fopen(argv[1], "a"))) {
		fprintf(stderr, "usage: bench_world FILE model|rtl [4 | 8 | loss | flip]\n");
		return 2;
	}
	by = argv[2];
	flip = do_it[3];
	if (flip)
		small(RF_SCHEDULE_ALL_REDUCE, 1);
	for (unsigned n = 4; n <= 8; n += 4)
		if (do_it[n / 4 - 1])
			all(n);
	for (unsigned mtu = 1024; mtu <= 4096 && do_it[2]; mtu *= 4)
		lossy(mtu);
	if (fclose(out) != 0 || failures)
		return 1;
	return missed ? 4 : 0;
}
