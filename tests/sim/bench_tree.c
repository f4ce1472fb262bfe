/*
 * The rate of all-reduces over two and three levels of boxes (model) with the real firmware, in
 * virtual time: leaves of three ranks, links of 100 Gb/s and 1 us. Every result is compared.
 *
 *	bench_tree FILE [MEGABYTES [SEEDS]]
 *
 * appends JSON lines to FILE. Exit 4: a figure is below its limit. Then it compares what loss on
 * every link costs two levels and one box, by the mean over so many seeds (20).
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim/fabric/fabric.h"

#define RATE UINT64_C(100000000000)
#define RANKS 3u /* of a leaf */
/* Bytes of a full packet with immediate, with ICRC. */
#define FRAME(mtu) (14u + 20u + 8u + 12u + 4u + (mtu) + 4u)

static FILE *out;
static bool failed, missed;

/* One all-reduce after a small one; its time in ns, 0 if the run failed. */
static uint64_t run(const struct rf_fabric_cfg *c, uint64_t count)
{
	struct rf_fabric *f;
	char why[200];
	uint64_t ns = 0;

	if (rf_fabric_create(c, &f, why, sizeof(why)) != 0) {
		fprintf(stderr, "bench_tree: %s\n", why);
		return 0;
	}
	if (rf_fabric_collective(f, RF_SCHEDULE_ALL_REDUCE, 0, 25 * c->ranks) != 0 ||
	    rf_fabric_all(f, RF_STEP_WAIT, 0) != 0 || rf_fabric_all(f, RF_STEP_BARRIER, 0) != 0 ||
	    rf_fabric_collective(f, RF_SCHEDULE_ALL_REDUCE, 0, count) != 0 ||
	    rf_fabric_all(f, RF_STEP_LEAVE, 0) != 0 || rf_fabric_run(f, 10 * RF_SEC) != 1 ||
	    !rf_fabric_good(f))
		fprintf(stderr, "bench_tree: a run is not good: %s %s\n", rf_fabric_why(f),
			rf_fabric_rank(f, 0)->text);
	else
		ns = rf_fabric_op_ns(f, 1);
	rf_fabric_destroy(f);
	return ns;
}

static void figure(const char *name, double value, const char *unit, double limit, bool must,
		   bool ok)
{
	json_t *o = json_pack("{ss ss sf ss sf sb sb}", "group", "tree", "name", name, "value",
			      value, "unit", unit, "limit", limit, "must", must, "ok", ok);

	json_dumpf(o, out, JSON_COMPACT | JSON_REAL_PRECISION(6));
	fputc('\n', out);
	fflush(out);
	json_decref(o);
	printf("%s: %.2f %s%s\n", name, value, unit, ok ? "" : ": missed");
	fflush(stdout);
	missed |= must && !ok;
}

/* middle: boxes between the leaves and the top; 0: none. */
static void rate(unsigned leaves, unsigned middle, unsigned mtu, unsigned megabytes)
{
	unsigned ranks = RANKS * leaves;
	uint64_t count = ((uint64_t)megabytes << 20) / 4 / ranks * ranks, ns;
	double framing = (double)mtu / (FRAME(mtu) + RF_WIRE_OVERHEAD), share;
	struct rf_fabric_cfg c;
	char name[120];

	rf_fabric_cfg_init(&c);
	c.engine = rf_model_engine();
	c.leaves = leaves;
	c.middle[0] = middle;
	c.ranks = ranks;
	c.mirror = c.directed = true;
	c.lanes = 2;
	c.rate = RATE;
	c.mtu = mtu;
	/* What is on the way over three levels needs more slots than 512. */
	c.wide = middle != 0;
	c.slots = middle ? 1024 : 512;
	ns = run(&c, count);
	failed |= ns == 0;
	if (ns == 0)
		return;
	share = 100.0 * (double)count * 32 / (double)ns / (RATE * 1e-9) / framing;
	snprintf(name, sizeof(name),
		 "model, %u levels, %u leaves of %u ranks, S %u, %u MB, MTU %u: part of the "
		 "framing limit",
		 middle ? 3 : 2, leaves, RANKS, c.slots, megabytes, mtu);
	figure(name, share, "%", 97, true, share >= 97);
}

/* Mean time over the seeds, ns; leaves 0: one box. 0 if a run failed. */
static double mean(unsigned leaves, double loss, unsigned megabytes, unsigned seeds)
{
	double sum = 0;

	for (unsigned seed = 1; seed <= seeds; seed++) {
		struct rf_fabric_cfg c;
		uint64_t ns;

		rf_fabric_cfg_init(&c);
		c.engine = rf_model_engine();
		c.leaves = leaves;
		c.ranks = 8;
		c.ports = 8; /* the uplink of a leaf has a port of its own */
		c.mirror = c.directed = c.selective = true;
		c.wide = true;
		c.slots = 1024;
		c.seed = seed;
		c.retry_cnt = 60;
		c.host_links.loss = c.box_links.loss = loss;
		ns = run(&c, ((uint64_t)megabytes << 20) / 4);
		if (ns == 0)
			return 0;
		sum += (double)ns;
	}
	return sum / seeds;
}

/* What loss costs two levels, as a multiple of what it costs one box. */
static void losses(unsigned megabytes, unsigned seeds)
{
	static const double rates[] = {1e-4, 1e-3, 1e-2};
	double one = mean(0, 0, megabytes, 1), two = mean(2, 0, megabytes, 1);

	failed |= one == 0 || two == 0;
	for (unsigned k = 0; k < 3 && !failed; k++) {
		double lossy_one = mean(0, rates[k], megabytes, seeds);
		double lossy_two = mean(2, rates[k], megabytes, seeds);
		double times = (lossy_two - two) / (lossy_one - one);
		char name[160];

		failed |= lossy_one == 0 || lossy_two == 0;
		if (failed)
			return;
		printf("loss %g: one box %.1f us + %.1f, two levels %.1f us + %.1f\n", rates[k],
		       one * 1e-3, (lossy_one - one) * 1e-3, two * 1e-3, (lossy_two - two) * 1e-3);
		snprintf(name, sizeof(name),
			 "model, %u MB x 8, selective, loss of %g on every link, %u seeds: cost "
			 "over "
			 "two levels, in that at one box",
			 megabytes, rates[k], seeds);
		/* not reached yet: docs/simulation.md */
		figure(name, times, "times", 1.5, false, times <= 1.5);
	}
}

int main(int argc, char **argv)
{
	unsigned seeds = argc > 3 ? (unsigned)strtoul(argv[3], NULL, 0) : 20;
	unsigned megabytes = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 0) : 16;

	if (argc < 2 || megabytes == 0 || seeds == 0) {
		fprintf(stderr, "usage: bench_tree FILE [MEGABYTES [SEEDS]]\n");
		return 2;
	}
	out = fopen(argv[1], "a");
	if (!out) {
		perror(argv[1]);
		return 1;
	}
	rate(2, 0, 1024, megabytes);
	rate(4, 0, 1024, megabytes);
	rate(4, 2, 1024, megabytes);
	losses(megabytes, seeds);
	if (fclose(out) != 0 || failed)
		return 1;
	return missed ? 4 : 0;
}
