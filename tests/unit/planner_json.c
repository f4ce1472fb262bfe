/*
 * Plans as files: written and read again, with their certificates; bad files with line and reason;
 * random changes of bytes.
 *
 *   planner_json [SEED]
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "planner/exact.h"
#include "tests/unit/planner_forest.h"
#include "tests/unit/planner_help.h"

static uint64_t seed = 1;

static void json_there_and_back(void **state)
{
	uint64_t random = seed;

	(void)state;
	for (int n = 0; n < 20; n++) {
		struct topology *t = help_any(&random, true);
		struct plan *p = forest_random(t, 3, n & 1, &random);
		struct topo_error e = {.text = ""};
		struct plan *back;
		char *text, *again;

		if (n % 4 < 2) {
			struct plan_load load;

			assert_int_equal(plan_quantise(p, 256), 0);
			assert_int_equal(plan_measure(t, p, &load, NULL), 0);
			p->throughput = load.throughput;
			plan_load_free(&load);
		}
		text = plan_format(p, t);
		assert_non_null(text);
		back = plan_parse(text, strlen(text), "p.json", t, &e);
		if (!back)
			fail_msg("%s", e.text);
		again = plan_format(back, t);
		if (n % 4 < 2)
			assert_string_equal(text, again);
		assert_int_equal(back->trees, p->trees);
		assert_int_equal(back->routes, p->routes);
		assert_memory_equal(back->route, p->route, (size_t)p->routes * sizeof(int));
		free(text);
		free(again);
		plan_free(p);
		plan_free(back);
		topo_free(t);
	}
}

static void bad_plans(void **state)
{
	static const struct {
		const char *text;
		const char *reason;
	} bad[] = {
		{"{", "p.json:1: "},
		{"[]", "p.json:1: a plan must be an object"},
		{"{\"format\": \"ringfold-topology\"}", "p.json:1: \"format\" must be"},
#define HEAD "{\"format\": \"ringfold-plan\", \"version\": 1, \"scheme\": \"x\",\n"
		{HEAD "\"throughput\": -1}", "p.json:2: \"throughput\""},
		{HEAD "\"throughput\": 1}", "\"trees\" must be an array"},
		{HEAD "\"throughput\": 1, \"trees\": [\n{}]}", "p.json:3: a tree must be"},
		{HEAD "\"throughput\": 1, \"trees\": [\n{\"share\": 1, \"root\": \"zz\"}]}",
		 "p.json:3: there is no node \"zz\""},
		{HEAD "\"throughput\": 1, \"trees\": [\n{\"share\": 1, \"root\": \"s0\"}]}",
		 "p.json:3: \"up\" must be"},
		{HEAD "\"throughput\": 1, \"trees\": [\n{\"share\": 1, \"root\": \"s0\",\n\"up\": "
		      "[[\"h0\"]]}]}",
		 "p.json:3: an edge must be a list"},
		{HEAD "\"throughput\": 1, \"trees\": [\n{\"share\": 1, \"root\": \"s0\",\n\"up\": "
		      "[[\"h0\", \"h1\"]]}]}",
		 "p.json:3: no link leads from \"h0\" to \"h1\""},
		{HEAD "\"throughput\": 1, \"trees\": [\n{\"share\": 1, \"root\": \"s0\",\n\"up\": "
		      "[[\"h0\", "
		      "\"s0\", 2]]}]}",
		 "p.json:3: no link leads from \"h0\" to \"s0\""},
		/* numbers that an int would truncate: 2^32 + 1, 2^63 - 1 */
		{HEAD "\"throughput\": 1, \"trees\": [\n{\"share\": 1, \"root\": \"s0\",\n\"up\": "
		      "[[\"h0\", \"s0\", 4294967297]]}]}",
		 "p.json:3: 4294967297 is not a valid link number: the topology has 8"},
		{HEAD "\"throughput\": 1, \"trees\": [\n{\"share\": 1, \"root\": \"s0\",\n\"up\": "
		      "[[\"h0\", \"s0\", 0]]}]}",
		 "p.json:3: 0 is not a valid link number"},
		{HEAD "\"throughput\": 1,\n\"chunks\": 4294967297}",
		 "p.json:3: \"chunks\" must be a whole"},
		{HEAD "\"throughput\": 1,\n\"chunks\": 1.5}",
		 "p.json:3: \"chunks\" must be a whole"},
		{HEAD "\"throughput\": 1,\n\"steps\": 9223372036854775807}",
		 "p.json:3: \"steps\" must"},
		{HEAD "\"throughput\": 1,\n\"steps\": 9223372036854775808}",
		 "p.json:3: \"steps\": too big integer"},
		{HEAD "\"throughput\": 1,\n\"rounds\": -1}", "p.json:3: \"rounds\" must be"},
		{HEAD
		 "\"throughput\": 1, \"chunks\": 8, \"trees\": [\n{\"share\": 1, \"root\": \"s0\", "
		 "\"chunks\": 4294967304}]}",
		 "p.json:3: \"chunks\" of a tree must be from 1"},
		{"{\"format\": \"ringfold-plan\",\n\"version\": 4294967297}",
		 "p.json:2: \"version\" must be 1"},
		{HEAD "\"throughput\": 1,\n\"sequential\": 1}",
		 "p.json:3: \"sequential\" must be true or"},
		{HEAD "\"throughput\": 1,\n\"speed\": 1}", "p.json:3: unknown key \"speed\""},
		{HEAD "\"throughput\": 1, \"trees\": [\n{\"share\": 1, \"size\": 2}]}",
		 "p.json:3: unknown key \"size\""},
		{HEAD
		 "\"throughput\": 1, \"trees\": [],\n\"bounds\": {\"link_prices\": [[\"h0\", 3]]}}",
		 "p.json:3: a link price must be"},
		{HEAD "\"throughput\": 1, \"trees\": [],\n\"bounds\": {\"link_prices\": [[\"h0\", "
		      "\"s0\", 4294967297, 3]]}}",
		 "4294967297 is not a valid link number"},
		{HEAD
		 "\"throughput\": 1, \"trees\": [],\n\"bounds\": {\"box_prices\": [[\"s0\", -3]]}}",
		 "p.json:3: a box price must be"},
		{HEAD "\"throughput\": 1, \"trees\": [],\n\"bounds\": {\"link_prices\": [[\"h0\", "
		      "\"s0\", 5e-324]]}}",
		 "with a price of 0 or at least 2.22507e-308"},
		{HEAD "\"throughput\": 1, \"trees\": [],\n\"bounds\": {\"box_prices\": [[\"s0\", "
		      "1e-308]]}}",
		 "with a price of 0 or at least 2.22507e-308"},
	};
	struct topo_spec s = topo_spec_default(TOPO_STAR);
	struct topology *t = help_make(&s);

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct topo_error e = {.text = ""};

		assert_null(plan_parse(bad[i].text, strlen(bad[i].text), "p.json", t, &e));
		if (!strstr(e.text, bad[i].reason))
			fail_msg("case %zu: \"%s\" instead of \"%s\"", i, e.text, bad[i].reason);
	}
	topo_free(t);
}

/* Prices are written to the file and read back, and give the same bound. */
static void certificate_there_and_back(void **state)
{
	struct topology *t = help_drawn(7, false);
	struct plan *p = help_plan(t, "best");
	struct topo_error e;
	struct plan *back;
	char *text;

	(void)state;
	assert_true(p->certificate.exact);
	help_near(exact_by_prices(t, p, true), p->certificate.dual);
	text = plan_format(p, t);
	back = plan_parse(text, strlen(text), "p.json", t, &e);
	if (!back)
		fail_msg("%s", e.text);
	assert_true(!back->certificate.exact);
	help_near(exact_by_prices(t, back, true), p->certificate.dual);
	/* A factor of all prices changes nothing, whatever its size. */
	for (int power = -1074; power <= 1010; power += power < -1000 ? 1 : 200) {
		struct plan *far = plan_parse(text, strlen(text), "p.json", t, &e);
		bool lossy = false;
		double value;

		assert_non_null(far);
		for (int i = 0; i < 2 * t->links; i++) {
			double *price = &far->certificate.arc_price[i];
			double before = *price;

			*price = ldexp(before, power);
			lossy = lossy || ldexp(*price, -power) < before ||
				ldexp(*price, -power) > before;
		}
		for (int i = 0; i < t->nodes; i++)
			far->certificate.node_price[i] =
				ldexp(far->certificate.node_price[i], power);
		value = exact_by_prices(t, far, true);
		if (lossy) /* other prices: not as good, but never a false bound */
			assert_true(value >= p->throughput * (1 - 1e-9));
		else
			help_near(value, p->certificate.dual);
		plan_free(far);
	}
	/* Wrong prices prove nothing: the bound is worse or missing. */
	back->certificate.arc_price[0] += 1;
	assert_true(exact_by_prices(t, back, true) > p->certificate.dual);
	free(text);
	plan_free(p);
	plan_free(back);
	topo_free(t);
}

/*
 * Plans with changed bytes are refused by the reader or the verifier, or are valid; they never
 * cause a crash.
 */
static void changed_bytes(void **state)
{
	static const char bytes[] = "0123456789-.e\"{}[],: hs\n";
	struct topo_spec s = topo_spec_default(TOPO_LEAF_SPINE);
	struct topology *t = help_make(&s);
	uint64_t random = seed;
	struct plan *p = forest_random(t, 3, false, &random);
	char *text = plan_format(p, t);
	size_t len = strlen(text);
	char *copy = malloc(len + 1);
	int read = 0;

	(void)state;
	assert_non_null(copy);
	for (int n = 0; n < 4000; n++) {
		struct topo_error e = {.text = ""};
		struct plan_load load;
		struct plan *back;

		memcpy(copy, text, len + 1);
		for (uint64_t k = 1 + topo_random(&random) % 3; k > 0; k--)
			copy[topo_random(&random) % len] =
				bytes[topo_random(&random) % (sizeof(bytes) - 1)];
		back = plan_parse(copy, len, "p", t, &e);
		if (back && plan_verify(t, back, &load, &e) == 0)
			plan_load_free(&load);
		else if (e.text[0] == '\0')
			fail_msg("no reason for %s", copy);
		read += back != NULL;
		plan_free(back);
	}
	assert_true(read > 100);
	free(copy);
	free(text);
	plan_free(p);
	topo_free(t);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(json_there_and_back),
		cmocka_unit_test(certificate_there_and_back),
		cmocka_unit_test(bad_plans),
		cmocka_unit_test(changed_bytes),
	};

	if (argc > 1)
		seed = strtoull(argv[1], NULL, 0);
	printf("seed %" PRIu64 ", again with: %s %" PRIu64 "\n", seed, argv[0], seed);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
