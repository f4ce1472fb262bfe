/*
 * Measures the whole path in virtual time: bench_fabric FILE appends JSON lines. The box is the
 * RTL; if that shape is not built the model is measured instead, and the name shows it.
 */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "sim/cosim/load.h"
#include "sim/fabric/fabric.h"

#define RATE UINT64_C(100000000000)
#define MTU 1024
#define FRAME (14 + 20 + 8 + 12 + MTU + 4)
#define FRAMING ((double)MTU / (FRAME + RF_WIRE_OVERHEAD))

static FILE *out;
static unsigned failures;

static void figure(const char *name, double value, const char *unit, double limit, bool must,
		   bool ok)
{
	json_t *o = json_pack("{ss ss sf ss sb sb}", "group", "fabric", "name", name, "value",
			      value, "unit", unit, "must", must, "ok", ok);

	json_object_set_new(o, "limit", limit > 0 ? json_real(limit) : json_null());
	json_dumpf(o, out, JSON_COMPACT | JSON_REAL_PRECISION(6));
	fputc('\n', out);
	json_decref(o);
}

/* Measures one all-reduce after a small warm-up one; its time in ns, 0 if the run failed. */
static uint64_t run(struct rf_fabric_cfg *c, uint64_t count, struct rf_fabric_stats *s)
{
	struct rf_fabric *f;
	char why[200];
	uint64_t ns = 0;

	if (rf_fabric_create(c, &f, why, sizeof(why)) != 0) {
		fprintf(stderr, "bench_fabric: %s\n", why);
		failures++;
		return 0;
	}
	if (rf_fabric_allreduce(f, 256) != 0 || rf_fabric_all(f, RF_STEP_WAIT, 0) != 0 ||
	    rf_fabric_all(f, RF_STEP_BARRIER, 0) != 0 || rf_fabric_allreduce(f, count) != 0 ||
	    rf_fabric_all(f, RF_STEP_LEAVE, 0) != 0 || rf_fabric_run(f, 10 * RF_SEC) != 1 ||
	    !rf_fabric_good(f)) {
		fprintf(stderr, "bench_fabric: a run of %u ranks is not good: %s %s\n", c->ranks,
			rf_fabric_why(f), rf_fabric_rank(f, 0)->text);
		failures++;
	} else {
		ns = rf_fabric_op_ns(f, 1);
	}
	rf_fabric_stats(f, s);
	rf_fabric_destroy(f);
	return ns;
}

static struct rf_fabric_cfg cfg(unsigned ranks, const struct rf_engine_ops *engine,
				enum rf_schedule_kind schedule)
{
	struct rf_fabric_cfg c;

	rf_fabric_cfg_init(&c);
	c.ranks = ranks;
	c.ports = ranks;
	c.engine = engine;
	c.schedule = schedule;
	c.rate = RATE;
	c.mtu = MTU;
	c.measure = true;
	return c;
}

static void bandwidth(unsigned ranks, const struct rf_engine_ops *engine)
{
	static const uint64_t bytes = 16u << 20;
	struct rf_fabric_cfg c = cfg(ranks, engine, RF_RUN_BOX);
	struct rf_fabric_stats s;
	uint64_t ns = run(&c, bytes / 4, &s);
	char name[120];
	double share;

	if (ns) {
		share = 100.0 * (double)bytes * 8 / (double)ns / (RATE * 1e-9) / FRAMING;
		snprintf(name, sizeof(name),
			 "%s, %u ranks, 16 MB fp32, 100G, 1 us: share of the framing limit (92.6 "
			 "%%)",
			 engine->name, ranks);
		figure(name, share, "%", 98, true, share >= 98);
		snprintf(name, sizeof(name), "%s, %u ranks, 16 MB fp32: bytes reduced per second",
			 engine->name, ranks);
		figure(name, (double)bytes / (double)ns, "GB/s", 0, false, true);
	}
	c = cfg(ranks, NULL, RF_RUN_RING);
	ns = run(&c, bytes / 4, &s);
	if (ns) {
		snprintf(name, sizeof(name), "ring, %u ranks, 16 MB fp32: bytes reduced per second",
			 ranks);
		figure(name, (double)bytes / (double)ns, "GB/s", 0, false, true);
		/* each link carries 2 (N - 1) / N of the vector */
		share = 100.0 * (double)bytes * 8 / (double)ns / (RATE * 1e-9) / FRAMING * 2 *
			(ranks - 1) / ranks;
		snprintf(name, sizeof(name),
			 "ring without a box, %u ranks, 16 MB fp32: share of its framing limit",
			 ranks);
		figure(name, share, "%", 95, true, share >= 95);
	}
}

static void latency(unsigned ranks, const struct rf_engine_ops *engine)
{
	struct rf_fabric_cfg c = cfg(ranks, engine, RF_RUN_BOX);
	struct rf_fabric_stats s;
	uint64_t ns = run(&c, 256, &s);
	/*
	 * Data over four links, then its ACK over four: serialisation and delay of each. In the
	 * box: the beats of a frame in, and the cycles to its first beat out (docs/model.md,
	 * tests/unit/model_timing.c).
	 */
	const unsigned data_cycles = 17 + 38, ack_cycles = 1 + 20;
	double links = 4 * (1000 + (FRAME + RF_WIRE_OVERHEAD) * 0.08) +
		       4 * (1000 + (62 + RF_WIRE_OVERHEAD) * 0.08);
	char name[120];

	if (ns) {
		snprintf(name, sizeof(name), "%s, %u ranks, 1 KB: time, acknowledged", engine->name,
			 ranks);
		figure(name, (double)ns * 1e-3, "us", 0, false, true);
		snprintf(name, sizeof(name), "%s, %u ranks, 1 KB: delays of the links",
			 engine->name, ranks);
		figure(name, links * 1e-3, "us", 0, false, true);
		snprintf(name, sizeof(name), "%s, %u ranks, 1 KB: delays of links and box, added",
			 engine->name, ranks);
		figure(name, (links + (data_cycles + ack_cycles) * 4.0) * 1e-3, "us", 0, false,
		       true);
	}
	c = cfg(ranks, NULL, RF_RUN_RING);
	ns = run(&c, 256, &s);
	if (ns) {
		snprintf(name, sizeof(name), "ring, %u ranks, 1 KB: time, acknowledged", ranks);
		figure(name, (double)ns * 1e-3, "us", 0, false, true);
	}
}

/* Links as fast as the core: every port receives a beat in nearly every cycle. */
static void speed(const struct rf_engine_ops *engine)
{
	struct rf_fabric_cfg c = cfg(4, engine, RF_RUN_BOX);
	struct rf_fabric_stats s;
	double rate = 0;
	char name[120];

	c.rate = UINT64_C(128000000000);
	/* The best of several runs: other processes may use the caches of this machine. */
	for (unsigned i = 0; i < 4; i++) {
		if (!run(&c, 2u << 20, &s) || s.engine_seconds <= 0)
			return;
		if ((double)s.cycles_evaluated / s.engine_seconds > rate)
			rate = (double)s.cycles_evaluated / s.engine_seconds;
	}
	snprintf(name, sizeof(name),
		 "%s, 4 ports x 512 bit, fp32 at full load, ICRC on: cycles per second of CPU",
		 engine->name);
	/* No limit: it depends on the machine. tests/bench/core_bench.sh has one, in instructions. */
	figure(name, rate, "1/s", 0, false, true);
}

static const struct rf_engine_ops *engine_for(unsigned ranks)
{
	const struct rf_engine_ops *engine;
	char why[300];

	if (rf_engine_load(ranks, 1, 512, false, &engine, why, sizeof(why)) == 0)
		return engine;
	fprintf(stderr, "bench_fabric: %s; the model is measured\n", why);
	return rf_model_engine();
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: bench_fabric FILE\n");
		return 2;
	}
	out = fopen(argv[1], "a");
	if (!out) {
		perror(argv[1]);
		return 1;
	}
	bandwidth(4, engine_for(4));
	bandwidth(8, engine_for(8));
	latency(4, engine_for(4));
	latency(8, engine_for(8));
	speed(engine_for(4));
	return fclose(out) != 0 || failures ? 1 : 0;
}
