/* ringfold-compare: two engines under the same random traffic. */
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/opt_page.h"
#include "rf_version.h"
#include "tests/sim/compare/burst.h"
#include "tests/sim/compare/engine.h"
#include "tests/sim/compare/lockstep.h"

struct options {
	const char *engine[2];
	unsigned int ports, lanes, width;
	unsigned long long seed;
	unsigned long count;
	unsigned int every, runs, mutate, seconds;
	char mode;
	bool verbose, coverage;
	uint64_t seen[RF_CNT_COUNT]; /* sums of engine a's counters */
};

static const struct option longs[] = {
	{"engine-a", required_argument, NULL, 'a'},
	{"engine-b", required_argument, NULL, 'b'},
	{"shape", required_argument, NULL, 's'},
	{"seed", required_argument, NULL, 'S'},
	{"count", required_argument, NULL, 'c'},
	{"mode", required_argument, NULL, 'm'},
	{"every", required_argument, NULL, 'e'},
	{"runs", required_argument, NULL, 'r'},
	{"seconds", required_argument, NULL, 't'},
	{"mutate", required_argument, NULL, 'M'},
	{"coverage", no_argument, NULL, 'C'},
	{"verbose", no_argument, NULL, 'v'},
	{"help", no_argument, NULL, 'h'},
	{"version", no_argument, NULL, 'V'},
	{NULL, 0, NULL, 0},
};

static void help(void)
{
	printf("usage: ringfold-compare [OPTION]...\n"
	       "Feeds two engines with the same random traffic and compares what they do.\n\n"
	       "  --engine-a NAME   model (default), model:MUTANT, soft, rtl, or rtl-plain: "
	       "without options\n"
	       "  --engine-b NAME   the same\n"
	       "  --shape P,L,W     ports, lanes, bits of the data path; default 4,1,512\n"
	       "  --seed N          default 1\n"
	       "  --count N         steps (mode a) or indexes of each group (mode b); default "
	       "2000\n"
	       "  --mode a|b        a: one frame at a time, everything compared;\n"
	       "                    b: full load, compares each connection's packets and the "
	       "totals\n"
	       "  --every N         mode a: compare registers every N steps; default 16\n"
	       "  --mutate P        mode a: change P percent of the frames at random; mode b: send "
	       "changed\n"
	       "                    copies of P percent, with wrong ICRCs; default 0\n"
	       "  --runs N          number of runs, with seed, seed + 1, ...\n"
	       "  --seconds S       start no run after this many seconds; without --runs as many "
	       "as "
	       "fit;\n"
	       "                    default 0: no limit\n"
	       "  --coverage        fail if a counter that one frame at a time can increment "
	       "stayed 0;\n"
	       "                    some events are rare: about 20000 steps are needed\n"
	       "  --verbose         print each step\n"
	       "exit: 0 equal, 1 different, 2 usage, 77 an engine is not built\n");
}

static bool engines_are_some(const struct options *o)
{
	for (int k = 0; k < 2; k++) {
		const char *name = o->engine[k];

		if (strcmp(name, "model") == 0 || strcmp(name, "rtl") == 0 ||
		    strcmp(name, "rtl-plain") == 0 || strcmp(name, "soft") == 0 ||
		    (strncmp(name, "model:", 6) == 0 && engine_mutant(name) != RF_MODEL_MUTANTS))
			continue;
		fprintf(stderr, "engine %s: model, model:MUTANT, soft, rtl or rtl-plain\n", name);
		return false;
	}
	return true;
}

static bool shape_is_one(const struct options *o)
{
	bool width = o->width == 64 || o->width == 128 || o->width == 256 || o->width == 512;

	if (o->ports >= 2 && o->ports <= 8 && o->lanes >= 1 && o->lanes <= 16 && width)
		return true;
	fprintf(stderr, "--shape: 2..8 ports, 1..16 lanes, 64, 128, 256 or 512 bits\n");
	return false;
}

static int parse(struct options *o, int argc, char **argv)
{
	int c;

	rf_opt_watch_stdout();
	while ((c = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		switch (c) {
		case 'a':
			o->engine[0] = optarg;
			break;
		case 'b':
			o->engine[1] = optarg;
			break;
		case 's':
			if (sscanf(optarg, "%u,%u,%u", &o->ports, &o->lanes, &o->width) != 3)
				return 2;
			break;
		case 'S':
			o->seed = strtoull(optarg, NULL, 0);
			break;
		case 'c':
			o->count = strtoul(optarg, NULL, 0);
			break;
		case 'm':
			o->mode = optarg[0];
			if ((o->mode != 'a' && o->mode != 'b') || optarg[1])
				return 2;
			break;
		case 'e':
			o->every = (unsigned int)strtoul(optarg, NULL, 0);
			break;
		case 'M':
			o->mutate = (unsigned int)strtoul(optarg, NULL, 0);
			break;
		case 'r':
			o->runs = (unsigned int)strtoul(optarg, NULL, 0);
			break;
		case 't':
			o->seconds = (unsigned int)strtoul(optarg, NULL, 0);
			break;
		case 'C':
			o->coverage = true;
			break;
		case 'v':
			o->verbose = true;
			break;
		case 'V':
			printf("ringfold %s\n", RF_VERSION_TEXT);
			exit(0);
		case 'h':
			help();
			exit(0);
		default:
			return 2;
		}
	}
	if (o->runs == 0)
		o->runs = o->seconds ? UINT_MAX : 1;
	return optind == argc && o->every > 0 && o->mutate <= 100 && shape_is_one(o) &&
			       engines_are_some(o)
		       ? 0
		       : 2;
}

static void note_counters(struct options *o, struct bench *b)
{
	unsigned int port, k;

	for (port = 0; port < b->cfg.ports; port++) {
		for (k = 0; k < RF_CNT_COUNT; k++)
			o->seen[k] += bench_counter(b, port, k);
	}
}

/* Queue limits cannot be reached with one frame at a time, and no port stalls for a millisecond:
 * tests/unit/model_ledger.c covers both. Everything else must have happened. */
static bool covered(const struct options *o)
{
	bool all = true;
	unsigned int k;

	for (k = 0; k < RF_CNT_COUNT; k++) {
		bool bound = k == RF_CNT_RX_OVERFLOW || k == RF_CNT_FOREIGN_FULL ||
			     k == RF_CNT_BEHALF_FULL || k == RF_CNT_REPEAT_FULL ||
			     k == RF_CNT_ACK_FULL || k == RF_CNT_REPEAT_STALE ||
			     k == RF_CNT_TX_DOWN;
		/* This traffic has no directed groups. */
		bool directed = k == RF_CNT_CNP_MARK || k == RF_CNT_ORDER || k == RF_CNT_IMMEDIATE;

		if (o->verbose)
			printf("%12llu %s\n", (unsigned long long)o->seen[k],
			       bench_counter_names[k]);
		if (!bound && !directed && o->seen[k] == 0) {
			printf("counter %s was never incremented\n", bench_counter_names[k]);
			all = false;
		}
	}
	return all;
}

static int run(struct options *o, unsigned long long seed)
{
	static struct bench b[2];
	struct rf_engine_cfg cfg;
	bool same;
	int k;

	bench_shape(&cfg, o->ports, o->lanes, o->width);
	for (k = 0; k < 2; k++) {
		const struct rf_engine_ops *ops = engine_named(o->engine[k], &cfg);

		cfg.seed = seed + (unsigned int)k;
		if (!ops || !bench_open(&b[k], ops, &cfg))
			return 77;
		if (strncmp(o->engine[k], "model", 5) == 0)
			rf_model_set_mutant(b[k].e, engine_mutant(o->engine[k]));
	}
	for (k = 0; k < 2; k++) { /* the traffic has only what both have */
		b[k].shape &= b[1 - k].shape;
		b[k].types &= b[1 - k].types;
	}
	if (o->mode == 'a')
		same = lockstep_run(b, seed, o->count, o->every, o->mutate, o->verbose);
	else
		same = burst_run(b, seed, o->count, o->mutate, o->verbose);
	note_counters(o, &b[0]);
	bench_close(&b[0]);
	bench_close(&b[1]);
	if (same)
		return 0;
	printf("repeat: ringfold-compare --engine-a %s --engine-b %s --shape %u,%u,%u --mode %c "
	       "--seed %llu --count %lu --mutate %u --every 1 --verbose\n",
	       o->engine[0], o->engine[1], o->ports, o->lanes, o->width, o->mode, seed, o->count,
	       o->mutate);
	return 1;
}

int main(int argc, char **argv)
{
	struct options o = {.engine = {"model", "model"},
			    .ports = 4,
			    .lanes = 1,
			    .width = 512,
			    .seed = 1,
			    .count = 2000,
			    .every = 16,
			    .mode = 'a'};
	time_t begin = time(NULL);
	unsigned int k;
	int rc;

	if (parse(&o, argc, argv)) {
		fprintf(stderr, "try --help\n");
		return 2;
	}
	for (k = 0; k < o.runs && (!o.seconds || time(NULL) - begin <= o.seconds); k++) {
		rc = run(&o, o.seed + k);
		if (rc)
			return rc;
	}
	if (o.coverage && !covered(&o))
		return 1;
	printf("%s and %s agree: %u,%u,%u, mode %c, seed %llu, %u runs of %lu\n", o.engine[0],
	       o.engine[1], o.ports, o.lanes, o.width, o.mode, o.seed, k, o.count);
	return 0;
}
