/* The options of `ringfold perf`, and the combinations of calls that they stand for. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/near.h"
#include "base/opt.h"
#include "tools/perf_tool.h"

static const enum rf_op ops[] = {RF_SUM, RF_MIN, RF_MAX, RF_AND, RF_OR, RF_XOR, RF_AVERAGE};

/* ---- lists ---- */

bool perf_wanted(const struct perf_list *l, unsigned int k)
{
	return l->mask >> k & 1;
}

static int add_word(struct perf_list *l, const char *word)
{
	const char *near;

	for (unsigned int k = 0; k < l->n; k++) {
		if (strcmp(word, l->names[k]) != 0 && strcmp(word, "all") != 0)
			continue;
		l->mask |= 1u << k;
		if (strcmp(word, "all") != 0)
			return 0;
	}
	if (strcmp(word, "all") == 0)
		return 0;
	fprintf(stderr, "ringfold perf: --%s: \"%s\" is not one of", l->option, word);
	for (unsigned int k = 0; k < l->n; k++)
		fprintf(stderr, " %s,", l->names[k]);
	near = rf_near(word, l->names, l->n);
	fprintf(stderr, " all%s%s%s\n", near ? "; did you mean " : "", near ? near : "",
		near ? "?" : "");
	return -1;
}

static int read_list(struct perf_list *l)
{
	const char *at = l->text;

	for (;;) {
		size_t len = strcspn(at, ",");
		char word[64];

		snprintf(word, sizeof(word), "%.*s", (int)(len < 63 ? len : 63), at);
		if (add_word(l, word))
			return -1;
		if (!at[len])
			return 0;
		at += len + 1;
	}
}

static int read_lists(struct perf *p)
{
	for (unsigned int k = 0; k < PERF_KINDS; k++)
		p->kinds.names[p->kinds.n++] = perf_about((enum perf_kind)k)->name;
	for (unsigned int k = 0; rf_type_size((enum rf_type)k); k++)
		p->types.names[p->types.n++] = rf_type_name((enum rf_type)k);
	for (unsigned int k = 0; k < sizeof(ops) / sizeof(*ops); k++)
		p->ops.names[p->ops.n++] = rf_op_name(ops[k]);
	p->schedules.names[p->schedules.n++] = "box";
	p->schedules.names[p->schedules.n++] = "ring";
	if (read_list(&p->kinds) || read_list(&p->types) || read_list(&p->ops))
		return -1;
	if (!p->schedules.text || strcmp(p->schedules.text, "default") == 0)
		return 0;
	return read_list(&p->schedules);
}

/* Whether there is such an operation: one element, one rank. */
static bool has(enum rf_type type, enum rf_op op)
{
	struct rf_order one = RF_ORDER_INIT;
	uint64_t element = 0;
	const void *inputs[1] = {&element};

	one.schedule = RF_SCHEDULE_RING;
	one.ranks = 1;
	return rf_order_apply(&one, type, op, inputs, &element, 1) == RF_OK;
}

static int visit_roots(struct perf *p, struct perf_call *c, bool first, perf_visitor *visit)
{
	unsigned int from = p->root == PERF_ALL_ROOTS ? 0 : p->root, to = from;
	int ret = 0;

	if (!perf_about(c->kind)->rooted)
		from = to = 0;
	else if (p->root == PERF_ALL_ROOTS && p->data.ranks)
		to = p->data.ranks - 1;
	for (c->root = from; !ret && c->root <= to; c->root++, first = false)
		ret = visit(p, c, first);
	return ret;
}

int perf_visit(struct perf *p, perf_visitor *visit)
{
	struct perf_call c = {.kind = PERF_ALL_REDUCE};
	int ret = 0;

	for (unsigned int k = 0; k < p->kinds.n; k++) {
		bool first = true;

		c.kind = (enum perf_kind)k;
		for (unsigned int t = 0; t < p->types.n && perf_wanted(&p->kinds, k); t++) {
			c.type = (enum rf_type)t;
			for (unsigned int o = 0; o < p->ops.n && perf_wanted(&p->types, t); o++) {
				c.op = ops[o];
				if (perf_about(c.kind)->reduces &&
				    (!perf_wanted(&p->ops, o) || !has(c.type, c.op)))
					continue;
				ret = visit_roots(p, &c, first, visit);
				first = false;
				if (ret)
					return ret;
				if (!perf_about(c.kind)->reduces)
					break;
			}
			if (c.kind == PERF_BARRIER && !first)
				break;
		}
	}
	return 0;
}

/* ---- options ---- */

static int wrong_size(const struct perf *p)
{
	for (unsigned int t = 0; t < p->types.n; t++) {
		size_t size = rf_type_size((enum rf_type)t);

		if (!perf_wanted(&p->types, t) || p->min >= size)
			continue;
		fprintf(stderr,
			"ringfold perf: --min %" PRIu64 ": an element of %s has %zu bytes\n",
			p->min, p->types.names[t], size);
		return -1;
	}
	return 0;
}

static int wrong_numbers(const struct perf *p)
{
	const struct perf_measure *m = &p->measure;
	char text[160] = "";

	if (p->max > UINT64_C(1) << 32)
		snprintf(text, sizeof(text), "--max %" PRIu64 ": at most 4G", p->max);
	else if (p->min > p->max)
		snprintf(text, sizeof(text), "--min %" PRIu64 " is above --max %" PRIu64, p->min,
			 p->max);
	else if (p->factor < 2)
		snprintf(text, sizeof(text), "--factor %u: at least 2", p->factor);
	else if (!m->iters || m->iters > INT32_MAX)
		snprintf(text, sizeof(text), "--iters %u: from 1 to %d", m->iters, INT32_MAX);
	else if (!m->outstanding || m->outstanding > RF_REQUESTS_MAX)
		snprintf(text, sizeof(text), "--outstanding %u: from 1 to %u", m->outstanding,
			 RF_REQUESTS_MAX);
	if (!text[0])
		return wrong_size(p);
	fprintf(stderr, "ringfold perf: %s\n", text);
	return -1;
}

static int wrong_pair(const struct perf *p)
{
	const char *pair = p->json && p->csv                ? "--json or --csv"
			   : p->in_place && p->out_of_place ? "--in-place or --out-of-place"
			   : p->seconds && p->total_seconds ? "--seconds or --total-seconds"
			   : p->counted && p->seconds       ? "--iters or --seconds"
			   : p->counted && p->total_seconds ? "--iters or --total-seconds"
			   : p->flip && p->no_check         ? "--flip or --no-check"
							    : NULL;

	if (pair)
		fprintf(stderr, "ringfold perf: either %s, not both\n", pair);
	return pair ? -1 : 0;
}

/* --iters: whether it is there matters, too. */
static int read_iters(void *to, const char *value)
{
	struct perf *p = to;

	p->counted = true;
	if (rf_opt_uint(value, &p->measure.iters) == 0)
		return 0;
	fprintf(stderr, "ringfold perf: --iters: \"%s\" is not a whole number\n", value);
	return -1;
}

static int read_root(struct perf *p)
{
	p->root = PERF_ALL_ROOTS;
	if (strcmp(p->root_text, "all") == 0)
		return 0;
	if (rf_opt_uint(p->root_text, &p->root) == 0 && p->root < RF_RANKS_MAX)
		return 0;
	fprintf(stderr, "ringfold perf: --root: \"%s\" is not a rank, 0 to %u, and not \"all\"\n",
		p->root_text, RF_RANKS_MAX - 1);
	return -1;
}

static int any(struct perf *p, struct perf_call *c, bool first)
{
	(void)p;
	(void)c;
	(void)first;
	return 1;
}

int perf_parse(struct perf *p, int argc, char **argv)
{
	const struct rf_opt table[] = {
		{RF_OPT_HEADING, NULL, 0, NULL, NULL,
		 "calls (a LIST: words with commas, or all):", NULL},
		{RF_OPT_STRING, "collective", 0, &p->kinds.text, "LIST",
		 "all-reduce, reduce, broadcast, reduce-scatter,\n"
		 "all-gather, gather, scatter, barrier",
		 NULL},
		{RF_OPT_STRING, "type", 0, &p->types.text, "LIST",
		 "fp32, bf16, fp16, fp64, int8, uint8, int32,\n"
		 "uint32, int64, uint64",
		 NULL},
		{RF_OPT_STRING, "op", 0, &p->ops.text, "LIST",
		 "sum, min, max; and, or, xor of integers;\n"
		 "average of floats",
		 NULL},
		{RF_OPT_STRING, "root", 0, &p->root_text, "RANK",
		 "of reduce, broadcast, gather and scatter,\n"
		 "or all: one after another",
		 NULL},
		{RF_OPT_STRING, "schedule", 0, &p->schedules.text, "LIST",
		 "who adds: box, ring; both: rows beside each\n"
		 "other; default: RF_SCHEDULE, else the box",
		 NULL},
		{RF_OPT_FLAG, "in-place", 0, &p->in_place, NULL, "only in place", NULL},
		{RF_OPT_FLAG, "out-of-place", 0, &p->out_of_place, NULL, "only out of place", NULL},
		{RF_OPT_HEADING, NULL, 0, NULL, NULL, "sizes:", NULL},
		{RF_OPT_SIZE, "min", 0, &p->min, "BYTES", "smallest vector, or all blocks", NULL},
		{RF_OPT_SIZE, "max", 0, &p->max, "BYTES", "largest vector, or all blocks", NULL},
		{RF_OPT_UINT, "factor", 'f', &p->factor, "N", "factor from one size to the next",
		 NULL},
		{RF_OPT_HEADING, NULL, 0, NULL, NULL, "how long:", NULL},
		{RF_OPT_CALL, "iters", 0, p, "N", "timed calls per size; default: 20", read_iters},
		{RF_OPT_UINT, "warmup", 0, &p->measure.warmup, "N", "warm-up calls", NULL},
		{RF_OPT_TIME, "seconds", 0, &p->seconds, "TIME",
		 "of each measurement, instead of --iters; a row\n"
		 "has two: out of place and in place",
		 NULL},
		{RF_OPT_TIME, "total-seconds", 0, &p->total_seconds, "TIME",
		 "of all measurements, in equal parts", NULL},
		{RF_OPT_TIME, "interval", 0, &p->measure.interval_ns, "TIME",
		 "also report so often, during a measurement", NULL},
		{RF_OPT_UINT, "outstanding", 0, &p->measure.outstanding, "N", "outstanding calls",
		 NULL},
		{RF_OPT_UINT, "slots", 0, &p->slots, "N",
		 "slots requested from the box; 0: RF_SLOTS, and a\n"
		 "second group for large calls (RF_SLOTS_LARGE)",
		 NULL},
		{RF_OPT_HEADING, NULL, 0, NULL, NULL, "data and output:", NULL},
		{RF_OPT_U64, "seed", 0, &p->data.seed, "N", "seed of the data", NULL},
		{RF_OPT_FLAG, "no-check", 0, &p->no_check, NULL, "do not check the results", NULL},
		{RF_OPT_FLAG, "flip", 0, &p->flip, NULL,
		 "flip one bit before the comparison: exit code\n"
		 "must be 3",
		 NULL},
		{RF_OPT_FLAG, "latency", 0, &p->out.latency, NULL,
		 "also min, avg, p50 and p99 in the table", NULL},
		{RF_OPT_FLAG, "csv", 0, &p->csv, NULL, "print CSV instead of the table", NULL},
		{RF_OPT_FLAG, "json", 'j', &p->json, NULL,
		 "print one JSON object instead of the table", NULL},
		{RF_OPT_END, NULL, 0, NULL, NULL, NULL, NULL},
	};
	const struct rf_opt_page page = {
		"ringfold perf [options]",
		"Times collective calls of growing size, out of place and in place, and compares "
		"all of\n"
		"their results, bit for bit, with those computed on this machine. Run it once for "
		"each\n"
		"rank; rank 0 prints. Rank, device and box come from the environment: see "
		"docs/api.md.\n"
		"\n"
		"The columns are those of nccl-tests. size: bytes of the vector, or of all blocks. "
		"count:\n"
		"elements, the argument of the call. time: duration / calls, of the slowest rank.\n"
		"algbw: size / time. busbw: algbw x 2 (n - 1) / n for an all-reduce of n ranks, x "
		"1 "
		"for\n"
		"reduce and broadcast, else x (n - 1) / n. #wrong: elements that differ, over all "
		"ranks.",
		"  ringfold run -n 4 -- ringfold perf --collective all --max 64K\n"
		"  ringfold run -n 4 -- ringfold perf --schedule box,ring --seconds 2 --interval "
		"1\n"
		"  RF_RANK=0 RF_SIZE=2 RF_DEVICE=net_af_packet0,iface=eth1 ringfold perf\n"
		"  mpirun -x RF_DEVICE -x RF_ROOT ringfold perf --max 16M --type all\n"
		"\n"
		"exit codes: 0 good, 1 failed or nothing could be run, 2 usage, 3 wrong data",
		table,
	};
	int n = rf_opt_parse(&page, argc, argv);

	if (n < 0)
		return n;
	if (n < argc) {
		fprintf(stderr, "ringfold perf takes no argument \"%s\"\n", argv[n]);
		return -2;
	}
	if (read_lists(p) || read_root(p) || wrong_numbers(p) || wrong_pair(p))
		return -2;
	if (perf_visit(p, any))
		return 0;
	fprintf(stderr, "ringfold perf: --op %s: no such operation with --type %s\n", p->ops.text,
		p->types.text);
	return -2;
}
