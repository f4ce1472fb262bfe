/* ringfold plan generate: writes a generated topology. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/near.h"
#include "base/opt.h"
#include "tools/plan_tool.h"

static const char *const shapes[] = {"star", "leaf-spine", "fat-tree",
				     "rail", "random",     "machines"};
static const char *const box_words[] = {"none", "leaves", "spines", "all", "share"};

static int positive(void *to, const char *value)
{
	char *end;
	double v = strtod(value, &end);

	if (end == value || *end != '\0' || !(v > 0) || isinf(v)) {
		fprintf(stderr, "--%s: \"%s\" must be a positive number\n", rf_opt_name(), value);
		return -1;
	}
	*(double *)to = v;
	return 0;
}

/* "100" or "100:3200". */
static int range(void *to, const char *value)
{
	struct topo_spec *s = to;
	char *end;
	double low = strtod(value, &end);
	double high = low;

	if (end != value && *end == ':') {
		const char *second = end + 1;

		high = strtod(second, &end);
		if (end == second)
			high = -1;
	}
	if (end == value || *end != '\0' || !(low > 0) || !(high >= low) || isinf(high)) {
		fprintf(stderr, "--%s: \"%s\" must be a positive number or a range MIN:MAX\n",
			rf_opt_name(), value);
		return -1;
	}
	s->processing_min = low;
	s->processing_max = high;
	return 0;
}

static int count(void *to, const char *value)
{
	unsigned int v;

	if (rf_opt_uint(value, &v) != 0 || v > 1000000) {
		fprintf(stderr, "--%s: \"%s\" must be a whole number up to 1000000\n",
			rf_opt_name(), value);
		return -1;
	}
	*(int *)to = (int)v;
	return 0;
}

/* A limit of boxes; 0: none. */
static int limit(void *to, const char *value)
{
	unsigned int v;

	if (rf_opt_uint(value, &v) != 0 || v > TOPO_LIMIT_MAX) {
		fprintf(stderr, "--%s: \"%s\" must be a whole number up to %d\n", rf_opt_name(),
			value, TOPO_LIMIT_MAX);
		return -1;
	}
	*(int *)to = v ? (int)v : TOPO_UNLIMITED;
	return 0;
}

static int shipped(void *to, const char *value)
{
	(void)value;
	*(struct topo_limits *)to = topo_limits_shipped();
	return 0;
}

#define OF(shape) (1u << (shape))
#define SHAPES 6

/*
 * Options that only some shapes have, by their value and its default. An option with a value that
 * the shape ignores is refused.
 */
static bool is_meaningful(const struct topo_spec *s, const char *boxes)
{
	const struct topo_spec plain = topo_spec_default(s->shape);
	const unsigned int layers = OF(TOPO_LEAF_SPINE) | OF(TOPO_RAIL) | OF(TOPO_MACHINES);
	const struct {
		const char *name;
		bool given;
		unsigned int shapes;
	} option[] = {
		{"leaves", s->leaves != plain.leaves, layers | OF(TOPO_RANDOM)},
		{"spines", s->spines != plain.spines, layers},
		{"k", s->k != plain.k, OF(TOPO_FAT_TREE)},
		{"gpus", s->gpus != plain.gpus, OF(TOPO_MACHINES)},
		{"degree", s->degree != plain.degree, OF(TOPO_RANDOM)},
		{"nvlink", s->nvlink < plain.nvlink || s->nvlink > plain.nvlink, OF(TOPO_MACHINES)},
	};

	for (size_t i = 0; i < sizeof(option) / sizeof(option[0]); i++) {
		if (!option[i].given || (option[i].shapes & OF(s->shape)))
			continue;
		fprintf(stderr,
			"ringfold plan generate: --%s does not belong to the shape %s, but to",
			option[i].name, shapes[s->shape]);
		for (int k = 0; k < SHAPES; k++)
			if (option[i].shapes & OF(k))
				fprintf(stderr, " %s", shapes[k]);
		fprintf(stderr, "\n");
		return false;
	}
	if ((s->box_share < plain.box_share || s->box_share > plain.box_share) &&
	    strcmp(boxes ? boxes : box_words[s->boxes], "share") != 0) {
		fprintf(stderr, "ringfold plan generate: --box-share needs --boxes share\n");
		return false;
	}
	return true;
}

static int generate(struct topo_spec *s, const char *boxes, uint64_t delay, const char *out)
{
	struct topo_error e = {.text = ""};
	struct topology *t;
	char *text;
	int rc;

	for (int i = 0; boxes && i <= TOPO_BOX_FRACTION; i++)
		if (strcmp(boxes, box_words[i]) == 0)
			s->boxes = (enum topo_boxes)i;
	s->delay = (double)delay / 1e9;
	t = topo_generate(s, &e);
	if (!t) {
		fprintf(stderr, "ringfold plan: %s\n", e.text);
		return RF_EXIT_FAILED;
	}
	text = topo_format(t);
	topo_free(t);
	rc = text && plan_write(out, text, strlen(text)) == 0 ? RF_EXIT_GOOD : RF_EXIT_FAILED;
	free(text);
	return rc;
}

/* The introduction of --help, with the default values of the given shape; to be freed. */
static char *introduce(const struct topo_spec *s, bool known)
{
	static const char about[] = "Writes a topology as JSON (docs/planner.md).";
	char *text = NULL;
	int n;

	if (known)
		n = asprintf(&text,
			     "%s\n\ndefaults of %s: --hosts %d --leaves %d --spines %d --k %d "
			     "--degree %d --host-link %g --fabric-link %g\n  --boxes %s",
			     about, shapes[s->shape], s->hosts, s->leaves, s->spines, s->k,
			     s->degree, s->host_link, s->fabric_link, box_words[s->boxes]);
	else
		n = asprintf(&text, "%s Name a shape before --help to see its defaults.", about);
	return n < 0 ? NULL : text;
}

/* The argument is not a shape, or there is more than one. */
static void say_shapes(const char *word, bool known)
{
	const char *near = known ? NULL : rf_near(word, shapes, SHAPES);

	fprintf(stderr, "ringfold plan generate: the first argument must be a shape: star, "
			"leaf-spine, fat-tree, rail, random or machines");
	if (near)
		fprintf(stderr, "; did you mean %s?", near);
	fputc('\n', stderr);
}

int plan_command_generate(int argc, char **argv)
{
	enum topo_shape shape = TOPO_STAR;
	int words = (int)(sizeof(shapes) / sizeof(shapes[0]));
	struct topo_spec s;
	const char *out = NULL;
	const char *boxes = NULL;
	uint64_t delay = 1000;
	char *intro;
	bool known = false;
	int at;

	for (int i = 0; argc > 1 && i < words; i++)
		if (strcmp(argv[1], shapes[i]) == 0) {
			shape = (enum topo_shape)i;
			known = true;
		}
	s = topo_spec_default(shape);
	intro = introduce(&s, known);
	const struct rf_opt opts[] = {
		{.kind = RF_OPT_HEADING, .text = "Size"},
		{RF_OPT_CALL, "hosts", 0, &s.hosts, "N",
		 "star, random: total number of hosts; rail: servers;\nleaf-spine, fat-tree: hosts "
		 "per leaf (fat-tree: 0 means k / 2);\nmachines: machines",
		 count},
		{RF_OPT_CALL, "leaves", 0, &s.leaves, "N",
		 "leaf-spine: leaves; rail, machines: rails; random: switches", count},
		{RF_OPT_CALL, "spines", 0, &s.spines, "N", "leaf-spine, rail, machines: spines",
		 count},
		{RF_OPT_CALL, "k", 0, &s.k, "N", "fat-tree: ports of a switch, even", count},
		{RF_OPT_CALL, "gpus", 0, &s.gpus, "N",
		 "machines: GPUs of each machine; each machine has one NIC per rail", count},
		{RF_OPT_CALL, "degree", 0, &s.degree, "N",
		 "random: average number of links from a switch to others", count},
		{.kind = RF_OPT_HEADING, .text = "Links"},
		{RF_OPT_CALL, "host-link", 0, &s.host_link, "RATE",
		 "capacity of a host's link, Gbps", positive},
		{RF_OPT_CALL, "fabric-link", 0, &s.fabric_link, "RATE",
		 "capacity between switches, Gbps", positive},
		{RF_OPT_CALL, "nvlink", 0, &s.nvlink, "RATE",
		 "capacity between a GPU and its NVSwitch, Gbps", positive},
		{RF_OPT_FRACTION, "spread", 0, &s.spread, "PART",
		 "random capacities from 1 - PART to 1 + PART times nominal", NULL},
		{RF_OPT_TIME, "delay", 0, &delay, "TIME", "delay of each link", NULL},
		{.kind = RF_OPT_HEADING, .text = "Boxes"},
		{RF_OPT_CHOICE, "boxes", 0, &boxes, "none|leaves|spines|all|share",
		 "which switches are boxes (can merge)", NULL},
		{RF_OPT_FRACTION, "box-share", 0, &s.box_share, "PART",
		 "--boxes share: fraction of switches, chosen at random", NULL},
		{RF_OPT_FLAG, "attached", 0, &s.attached, NULL,
		 "attach each box to a switch instead of replacing it", NULL},
		{RF_OPT_CALL, "processing", 0, &s, "RATE[:RATE]",
		 "rate at which a box can receive data to merge, Gbps, or a range for random "
		 "values (default no limit)",
		 range},
		{.kind = RF_OPT_HEADING, .text = "Limits of each box (default no limits)"},
		{RF_OPT_CALL, "shipped", 0, &s.limits, NULL,
		 "limits of the shipped box; later options change single limits", shipped},
		{RF_OPT_CALL, "groups", 0, &s.limits.groups, "N",
		 "trees that use the box as a node; 0: no limit", limit},
		{RF_OPT_CALL, "ranks", 0, &s.limits.ranks, "N", "neighbours in one tree", limit},
		{RF_OPT_CALL, "fan-in", 0, &s.limits.fan_in, "N",
		 "neighbours in one tree that send to the box", limit},
		{RF_OPT_CALL, "slots", 0, &s.limits.slots, "N", "chunks in flight in the box",
		 limit},
		{RF_OPT_CALL, "ports", 0, &s.limits.ports, "N", "links that the box uses", limit},
		{.kind = RF_OPT_HEADING, .text = "Roles"},
		{RF_OPT_CALL, "workers", 0, &s.workers, "N",
		 "number of hosts, chosen at random, that have data (default 0: all)", count},
		{RF_OPT_CALL, "servers", 0, &s.servers, "N",
		 "number of other hosts that are only parameter servers (default 0)", count},
		{RF_OPT_U64, "seed", 0, &s.seed, "N", "seed of all random choices", NULL},
		{RF_OPT_STRING, "out", 'o', &out, "FILE",
		 "write the topology to FILE instead of stdout", NULL},
		{.kind = RF_OPT_END}};
	const struct rf_opt_page page = {
		"ringfold plan generate star|leaf-spine|fat-tree|rail|random|machines [options]",
		intro ? intro : "",
		"  ringfold plan generate fat-tree --k 8 --hosts 6 --boxes leaves --processing "
		"100:3200\n"
		"  ringfold plan generate random --hosts 20 --leaves 8 --spread 50% --seed 7",
		opts};

	at = rf_opt_parse(&page, argc, argv);
	free(intro);
	if (at == -1)
		return RF_EXIT_GOOD;
	if (at < 0)
		return RF_EXIT_USAGE;
	if (!known || at != argc - 1 || strcmp(argv[at], shapes[shape]) != 0) {
		say_shapes(at < argc ? argv[at] : "", known);
		return RF_EXIT_USAGE;
	}
	if (!is_meaningful(&s, boxes))
		return RF_EXIT_USAGE;
	if (plan_paths(NULL, 0, &out, 1) != 0)
		return RF_EXIT_FAILED;
	return generate(&s, boxes, delay, out);
}
