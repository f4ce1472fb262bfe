/* ringfold replay: runs with faults, each from its seed. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/tools/opt.h"
#include "sim/cosim/load.h"
#include "sim/fabric/plan.h"
#include "sim/model/rf_model.h"

struct settings {
	const char *engine;
	unsigned ports;
	uint64_t count;
	const char *pcapng;
	const char *wave;
	bool verbose;
};

static const struct rf_engine_ops *engine_of(const struct settings *s)
{
	const struct rf_engine_ops *ops;
	char why[300];

	if (strcmp(s->engine, "model") == 0)
		return rf_model_engine();
	if (rf_engine_load(s->ports, 1, 512, s->wave != NULL, &ops, why, sizeof(why)) == 0)
		return ops;
	fprintf(stderr, "ringfold replay: %s\n", why);
	return NULL;
}

static bool run(const struct settings *s, const struct rf_engine_ops *ops, uint64_t seed)
{
	struct rf_plan p;
	char text[600], plan[600];
	const char *wrong;

	rf_plan_make(&p, seed, ops, s->ports);
	p.cfg.pcapng_dir = s->pcapng;
	p.cfg.wave = s->wave;
	rf_plan_text(&p, plan, sizeof(plan));
	if (s->verbose)
		printf("seed %" PRIu64 ": %s\n", seed, plan);
	wrong = rf_plan_run(&p, text, sizeof(text));
	if (!wrong)
		return true;
	printf("seed %" PRIu64 ": %s\n    %s\n    again: ringfold replay --engine %s --ports %u "
	       "--pcapng DIR %" PRIu64 "\n",
	       seed, wrong, plan, s->engine, s->ports, seed);
	return false;
}

int main(int argc, char **argv)
{
	struct settings s = {.engine = "model", .ports = 4, .count = 1};
	const struct rf_opt opts[] = {
		{RF_OPT_CHOICE, "engine", 'e', &s.engine, "model|rtl", "what the box is", NULL},
		{RF_OPT_UINT, "ports", 'p', &s.ports, "N", "ports of the box", NULL},
		{RF_OPT_U64, "count", 'n', &s.count, "N", "so many seeds, from SEED on", NULL},
		{RF_OPT_STRING, "pcapng", 0, &s.pcapng, "DIR",
		 "hosts.pcapng and box.pcapng of the last run go there", NULL},
		{RF_OPT_STRING, "wave", 0, &s.wave, "FILE", "waveform of the last run (rtl)", NULL},
		{RF_OPT_FLAG, "verbose", 'v', &s.verbose, NULL, "print every plan", NULL},
		{RF_OPT_END, NULL, 0, NULL, NULL, NULL, NULL},
	};
	const struct rf_opt_page page = {
		"ringfold replay [options] SEED",
		"Runs whose topology, sizes, groups and faults follow from a seed. After each: the "
		"bits are right on every\nrank that succeeded, errors come only where the plan "
		"explains them, nothing still waits.",
		"    ringfold replay --count 1000 1\n    ringfold replay --pcapng /tmp/run 4711\n",
		opts};
	int at = rf_opt_parse(&page, argc, argv);
	const struct rf_engine_ops *ops;
	uint64_t seed, k, bad = 0;

	if (at == -1)
		return RF_EXIT_GOOD;
	if (at < 0)
		return RF_EXIT_USAGE;
	if (argc - at != 1 || rf_opt_u64(argv[at], &seed) != 0 || s.ports < 2 ||
	    s.ports > RF_FABRIC_PORTS) {
		fprintf(stderr, "ringfold replay: one SEED, and 2 to 8 ports\n");
		return RF_EXIT_USAGE;
	}
	ops = engine_of(&s);
	if (!ops)
		return RF_EXIT_SKIPPED;
	for (k = 0; k < s.count; k++)
		bad += !run(&s, ops, seed + k);
	printf("%" PRIu64 " runs from seed %" PRIu64 " (%s, %u ports): %" PRIu64 " not good\n",
	       s.count, seed, s.engine, s.ports, bad);
	return bad ? RF_EXIT_FAILED : RF_EXIT_GOOD;
}
