/*
 * Figures of the collectives on the transport itself: bench_world FILE appends JSON lines.
 * Reference model, mirror connections, virtual time, links of 100 Gb/s and 1 us, MTU 4096 if the
 * name says no other.
 */
#include <jansson.h>
#include <stdio.h>

#include "sim/fabric/world.h"

#define BYTES 16777216u
/* Ethernet 14, IP 20, UDP 8, BTH 12, immediate 4, ICRC 4; preamble, FCS and gap 24. */
#define OVERHEAD 86u
#define BOX_NS 160.0 /* 40 cycles (docs/pipeline.md) */

static FILE *out;
static unsigned failures;

static void report(const char *name, double value, const char *unit, double limit, bool must,
		   bool ok)
{
	json_t *o = json_pack("{ss ss sf ss sf sb sb}", "group", "world", "name", name, "value",
			      value, "unit", unit, "limit", limit, "must", must, "ok", ok);

	json_dumpf(o, out, JSON_COMPACT | JSON_REAL_PRECISION(6));
	fputc('\n', out);
	json_decref(o);
	failures += must && !ok;
}

static void figure(const char *name, double value, const char *unit, double limit, bool ok)
{
	report(name, value, unit, limit, true, ok);
}

/* One call, right in every byte; its time in ns, 0 if the run failed. */
static double run(struct rf_world_cfg *c, const struct rf_world_call *call,
		  struct rf_world_result *r)
{
	struct rf_world *w;
	char why[200];

	if (rf_world_create(c, &w, why, sizeof(why)) != 0) {
		fprintf(stderr, "bench_world: %s\n", why);
		failures++;
		return 0;
	}
	if (rf_world_call(w, call) == 0)
		(void)rf_world_run(w, RF_WORLD_SEC);
	rf_world_result(w, r);
	rf_world_destroy(w);
	if (!r->done || r->wrong != 0) {
		fprintf(stderr, "bench_world: a run is not good\n");
		failures++;
		return 0;
	}
	return (double)r->call_ns[0];
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
	struct rf_world_result r;
	struct rf_world_cfg c;
	char name[100];
	double ns, part;

	rf_world_cfg_init(&c);
	c.ranks = c.ports = n;
	c.mtu = mtu;
	if (rf_schedule_has_blocks(kind))
		call.count /= n;
	ns = run(&c, &call, &r);
	part = ns > 0 ? link_ns(kind, n, mtu) / ns : 0;
	snprintf(name, sizeof(name), "%s, N = %u, 16 MB, MTU %u: part of the link's framing limit",
		 rf_schedule_name(kind), n, mtu);
	figure(name, part, "", 0.97, part >= 0.97);
}

static void small(enum rf_collective_kind kind, uint64_t count)
{
	struct rf_world_call call = {.kind = kind, .type = RF_ARITH_INT64, .count = count};
	double wire = (62 + 8 * (double)count + 24) * 8 / 100, least, ns;
	struct rf_world_result r;
	struct rf_world_cfg c;
	char name[100];

	rf_world_cfg_init(&c);
	c.ranks = c.ports = 8;
	ns = run(&c, &call, &r);
	least = 4 * (double)c.delay_ns + 4 * wire + 2 * (double)c.switch_ns + BOX_NS;
	snprintf(name, sizeof(name), "%s of %llu B, 8 ranks: time against links + switch + box",
		 rf_schedule_name(kind), 8 * (unsigned long long)count);
	figure(name, ns / least, "", 1.02, ns > 0 && ns / least <= 1.02);
}

/* Two communicators of the same ranks. Not a must: the box makes a pass for each index of both. */
static void side_by_side(void)
{
	struct rf_world_call call = {.type = RF_ARITH_FP32, .count = BYTES / 16};
	struct rf_world_result r = {0};
	double alone[2] = {0}, most;
	struct rf_world_cfg c;
	struct rf_world *w;
	char why[200];

	rf_world_cfg_init(&c);
	c.groups = 2;
	for (call.group = 0; call.group < 2; call.group++) {
		call.kind = call.group ? RF_SCHEDULE_ALL_GATHER : RF_SCHEDULE_REDUCE_SCATTER;
		alone[call.group] = run(&c, &call, &r);
	}
	if (rf_world_create(&c, &w, why, sizeof(why)) != 0)
		return;
	for (call.group = 0; call.group < 2; call.group++) {
		call.kind = call.group ? RF_SCHEDULE_ALL_GATHER : RF_SCHEDULE_REDUCE_SCATTER;
		(void)rf_world_call(w, &call);
	}
	(void)rf_world_run(w, RF_WORLD_SEC);
	rf_world_result(w, &r);
	rf_world_destroy(w);
	failures += !r.done || r.wrong != 0;
	most = (double)(r.call_ns[0] > r.call_ns[1] ? r.call_ns[0] : r.call_ns[1]) /
	       (alone[0] > alone[1] ? alone[0] : alone[1]);
	report("reduce-scatter and all-gather of two communicators, N = 4: against the slower",
	       most, "", 1.09, false, most <= 1.09);
}

static void slow_receiver(void)
{
	struct rf_world_call call = {
		.kind = RF_SCHEDULE_BROADCAST, .type = RF_ARITH_UINT8, .count = BYTES};
	struct rf_world_result r;
	struct rf_world_cfg c;
	double ns, part;

	rf_world_cfg_init(&c);
	c.rate_of_rank[3] = c.rate / 4;
	c.mark_bytes = 100000;
	ns = run(&c, &call, &r);
	part = ns > 0 ? BYTES * 8.0 / 25 / ns : 0;
	figure("broadcast, one receiver at a quarter of the rate, marks: its goodput", part, "",
	       0.9, part >= 0.9);
	figure("the same: longest queue towards it", (double)r.queue_max[3], "B", 256 * 2048,
	       r.queue_max[3] < 256 * 2048);
	figure("the same: frames lost or repeated", (double)(r.switch_dropped + r.repeats), "", 0,
	       r.switch_dropped + r.repeats == 0);
}

int main(int argc, char **argv)
{
	static const enum rf_collective_kind kinds[] = {
		RF_SCHEDULE_ALL_REDUCE, RF_SCHEDULE_BROADCAST, RF_SCHEDULE_ALL_GATHER,
		RF_SCHEDULE_REDUCE, RF_SCHEDULE_REDUCE_SCATTER};

	if (argc != 2 || !(out = fopen(argv[1], "a"))) {
		fprintf(stderr, "usage: bench_world FILE\n");
		return 2;
	}
	for (unsigned k = 0; k < 5; k++)
		for (unsigned n = 4; n <= 8; n += 4)
			for (unsigned mtu = 1024; mtu <= 4096; mtu *= 4)
				large(kinds[k], n, mtu);
	small(RF_SCHEDULE_BARRIER, 0);
	small(RF_SCHEDULE_ALL_REDUCE, 1);
	side_by_side();
	slow_receiver();
	return fclose(out) != 0 || failures > 0;
}
