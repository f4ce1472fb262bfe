/* Topologies: bad files by line and reason, writing and reading again, generators. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan/text.h"
#include "plan/topology.h"

#include "planner/shape.h"

#define HEAD "{\"format\": \"ringfold-topology\", \"version\": 1, \"name\": \"t\",\n"
#define HOST(n) "{\"name\": \"" n "\", \"kind\": \"host\"}"
#define SWITCH(n) "{\"name\": \"" n "\", \"kind\": \"switch\"}"
#define BOX(n) "{\"name\": \"" n "\", \"kind\": \"box\", \"processing\": 10}"
#define LINK(a, b, c) "{\"a\": \"" a "\", \"b\": \"" b "\", \"capacity\": " c "}"
/* Lines 3, 4, 5: nodes; 7, 8: links. */
#define GOOD_NODES "\"nodes\": [\n" HOST("a") ",\n" HOST("b") ",\n" BOX("x") "],\n"
#define GOOD_LINKS "\"links\": [\n" LINK("a", "x", "1") ",\n" LINK("b", "x", "[1, 2]") "]}"

static const struct {
	const char *text;
	int line;
	const char *reason;
} bad[] = {
	{"", 1, "expected"},
	{"[]", 1, "must be an object"},
	{HEAD "\"nodes\": [\n", 3, "expected"},
	{"{\"version\": 1}", 1, "\"format\" must be"},
	{"{\"format\": \"ringfold-topology\",\n\"version\": 2}", 2, "\"version\" must be 1"},
	{HEAD "\"speed\": 3}", 2, "unknown key \"speed\""},
	{HEAD "\"unit\": 7,\n" GOOD_NODES GOOD_LINKS, 2, "\"unit\""},
	{HEAD "\"nodes\": 7}", 2, "\"nodes\" must be an array"},
	{HEAD "\"nodes\": [], \n\"nodes\": []}", 3, "duplicate"},
	{HEAD GOOD_NODES "\"links\": 3}", 6, "\"links\" must be an array"},
	{HEAD "\"nodes\": [\n3],\n" GOOD_LINKS, 3, "a node must be an object"},
	{HEAD "\"nodes\": [\n{\"name\": \"\", \"kind\": \"host\"}],\n" GOOD_LINKS, 3, "\"name\""},
	{HEAD "\"nodes\": [\n{\"name\": \"a\", \"kind\": \"hub\"}],\n" GOOD_LINKS, 3,
	 "the kind of"},
	{HEAD "\"nodes\": [\n" HOST(
		 "a") ",\n{\"name\": \"b\", \"kind\": \"host\", \"x\": 1}],\n" GOOD_LINKS,
	 4, "unknown key \"x\""},
	{HEAD
	 "\"nodes\": [\n{\"name\": \"a\", \"kind\": \"switch\", \"processing\": 1}],\n" GOOD_LINKS,
	 3, "does not merge"},
	{HEAD "\"nodes\": [\n{\"name\": \"a\", \"kind\": \"box\", \"worker\": true}],\n" GOOD_LINKS,
	 3, "only a host"},
	{HEAD
	 "\"nodes\": [\n" HOST("a") ",\n{\"name\": \"x\", \"kind\": \"box\", \"processing\": 0}],\n"
				    "\"links\": [" LINK("a", "x", "1") "]}",
	 4, "must be positive"},
	/* no hosts, no workers */
	{HEAD "\"nodes\": [],\n\"links\": []}", 2, "no host has data to sum"},
	{HEAD
	 "\"nodes\": [\n" SWITCH("a") ",\n" SWITCH("b") "],\n\"links\": [" LINK("a", "b", "1") "]}",
	 2, "no host has data to sum"},
	{HEAD
	 "\"nodes\": [\n{\"name\": \"a\", \"kind\": \"host\", \"worker\": false}],\n\"links\": []}",
	 2, "no host has data to sum"},
	/* duplicate names */
	{HEAD "\"nodes\": [\n" HOST("a") ",\n" HOST("x") ",\n" HOST("a") "],\n\"links\": [" LINK(
		 "a", "x", "1") "]}",
	 5, "the name \"a\" is used twice"},
	/* ... even if a link refers to one of them, or to a missing name */
	{HEAD "\"nodes\": [\n" HOST("a") ",\n" HOST("a") ",\n" HOST("x") "],\n\"links\": [" LINK(
		 "b", "x", "1") "]}",
	 4, "the name \"a\" is used twice"},
	/* names that cannot be drawn */
	{HEAD "\"nodes\": [\n" HOST("a") ",\n" HOST("b\\u0001") "],\n\"links\": []}", 4,
	 "\"name\" must not contain control characters"},
	{HEAD "\"nodes\": [\n" HOST("a") ",\n" HOST("\\uffff") "],\n\"links\": []}", 4,
	 "\"name\" must not contain control characters"},
	{HEAD "\"unit\": \"G\\u007f\",\n" GOOD_NODES GOOD_LINKS, 2, "without control characters"},
	/* capacities */
	{HEAD GOOD_NODES "\"links\": [\n" LINK("a", "x", "1") ",\n" LINK("b", "x", "0") "]}", 8,
	 "the capacity from \"b\" to \"x\" is 0"},
	{HEAD GOOD_NODES
	 "\"links\": [\n" LINK("a", "x", "1") ",\n" LINK("b", "x", "[1, -2.5]") "]}",
	 8, "the capacity from \"x\" to \"b\" is -2.5"},
	{HEAD GOOD_NODES "\"links\": [\n" LINK("a", "x", "1e31") ",\n" LINK("b", "x", "1") "]}", 7,
	 "the capacity from \"a\" to \"x\" is 1e+31; it must be from 1e-30 to 1e+30"},
	/* Numbers that do not fit: the message names the key. */
	{HEAD GOOD_NODES "\"links\": [\n" LINK("a", "x", "1000000000000000000000000000000") "]}", 7,
	 "\"capacity\": too big integer; a whole number above 9223372036854775807 needs an "
	 "exponent"},
	{HEAD GOOD_NODES "\"links\": [\n" LINK("a", "x", "[1,\n 1e999]") "]}", 8,
	 "\"capacity\": real number overflow near '1e999'"},
	{"[\n99999999999999999999]", 2, "a number: too big integer"},
	{HEAD GOOD_NODES
	 "\"links\": [\n" LINK("a", "x", "2e9") ",\n" LINK("b", "x", "[2e9, 1]") "]}",
	 8, "the capacity from \"x\" to \"b\" is 1, less than a billionth of the largest, 2e+09"},
	{HEAD GOOD_NODES "\"links\": [\n" LINK("a", "x", "2e10") ",\n" LINK("b", "x", "2e10") "]}",
	 5, "the processing of \"x\" is 10, less than a billionth"},
	{HEAD GOOD_NODES "\"links\": [\n" LINK("a", "x", "\"1\"") "]}", 7,
	 "\"capacity\" must be a number"},
	{HEAD GOOD_NODES "\"links\": [\n" LINK("a", "x", "[1]") "]}", 7,
	 "\"capacity\" must be a number"},
	{HEAD GOOD_NODES "\"links\": [\n{\"a\": \"a\", \"b\": \"x\"}]}", 7,
	 "\"capacity\" must be a number"},
	{HEAD GOOD_NODES
	 "\"links\": [\n{\"a\": \"a\", \"b\": \"x\", \"capacity\": 1, \"delay\": -1}]}",
	 7, "the delay from"},
	{HEAD GOOD_NODES
	 "\"links\": [\n{\"a\": \"a\", \"b\": \"x\", \"capacity\": 1, \"delay\": [0, 1e7]}]}",
	 7, "the delay from \"x\" to \"a\" is 1e+07; it must be from 0 to 1e+06 seconds"},
	{HEAD GOOD_NODES "\"links\": [\n" LINK("a", "a", "1") "]}", 7, "to itself"},
	{HEAD GOOD_NODES "\"links\": [\n" LINK("a", "nowhere", "1") "]}", 7,
	 "there is no node \"nowhere\""},
	/* a host with no link, a network in two parts */
	{HEAD GOOD_NODES "\"links\": [\n" LINK("a", "x", "1") "]}", 4, "\"b\" has no link"},
	{HEAD "\"nodes\": [\n" HOST("a") ",\n" HOST("b") ",\n" HOST("c") ",\n" HOST(
		 "d") "],\n\"links\": [" LINK("a", "b", "1") "," LINK("c", "d", "1") "]}",
	 5, "not connected"},
	/* a box that reaches only one other box */
	{HEAD "\"nodes\": [\n" HOST("a") ",\n" HOST("b") ",\n" BOX("x") ",\n" BOX(
		 "y") "],\n\"links\": [" LINK("a", "x", "1") "," LINK("b", "x",
								      "1") "," LINK("x", "y",
										    "1") "]}",
	 6, "the box \"y\" cannot merge anything"},
};

static void bad_files(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct topo_error e = {.text = ""};
		char where[32];

		snprintf(where, sizeof(where), "f.json:%d: ", bad[i].line);
		if (topo_parse(bad[i].text, strlen(bad[i].text), "f.json", &e))
			fail_msg("case %zu was accepted: %s", i, bad[i].text);
		if (strncmp(e.text, where, strlen(where)) != 0 || !strstr(e.text, bad[i].reason))
			fail_msg("case %zu: \"%s\" instead of %s%s", i, e.text, where,
				 bad[i].reason);
	}
}

static void good_file(void **state)
{
	static const char text[] = HEAD GOOD_NODES GOOD_LINKS;
	struct topo_error e = {.text = ""};
	struct topology *t = topo_parse(text, strlen(text), "f.json", &e);

	(void)state;
	if (!t)
		fail_msg("%s", e.text);
	assert_int_equal(t->nodes, 3);
	assert_int_equal(t->workers, 2);
	assert_int_equal(t->boxes, 1);
	assert_string_equal(t->unit, "Gbps");
	assert_true(t->node[2].processing == 10);
	assert_true(isinf(t->node[0].processing));
	assert_true(t->link[1].capacity[0] == 1 && t->link[1].capacity[1] == 2);
	assert_int_equal(t->node[0].rack, 2);
	topo_free(t);
	assert_null(topo_read("/no/such/file.json", &e));
	assert_non_null(strstr(e.text, "/no/such/file.json: No such file"));
}

/* Every prefix of a good file is refused without a crash. */
static void prefixes(void **state)
{
	static const char text[] = HEAD GOOD_NODES GOOD_LINKS;

	(void)state;
	for (size_t n = 0; n < strlen(text); n++) {
		char *copy = malloc(n + 1);

		assert_non_null(copy);
		memcpy(copy, text, n);
		assert_null(topo_parse(copy, n, "f", NULL));
		free(copy);
	}
}

/*
 * Files with a few changed bytes are accepted, or refused with a reason; an accepted topology is
 * complete.
 */
static void changed_bytes(void **state)
{
	static const char text[] = HEAD GOOD_NODES GOOD_LINKS;
	static const char bytes[] = "0123456789-.eE\"{}[],: abx\n";
	uint64_t random = 1;
	int taken = 0;

	(void)state;
	for (int n = 0; n < 20000; n++) {
		struct topo_error e = {.text = ""};
		struct topology *t;
		char copy[sizeof(text)];

		memcpy(copy, text, sizeof(text));
		for (uint64_t k = 1 + topo_random(&random) % 3; k > 0; k--)
			copy[topo_random(&random) % (sizeof(text) - 1)] =
				bytes[topo_random(&random) % (sizeof(bytes) - 1)];
		t = topo_parse(copy, sizeof(text) - 1, "f", &e);
		taken += t != NULL;
		if (!t && strncmp(e.text, "f:", 2) != 0)
			fail_msg("no reason: \"%s\" for %s", e.text, copy);
		topo_free(t);
	}
	assert_true(taken > 100);
}

static void same(const struct topology *a, const struct topology *b)
{
	assert_int_equal(a->nodes, b->nodes);
	assert_int_equal(a->links, b->links);
	for (int i = 0; i < a->nodes; i++) {
		assert_string_equal(a->node[i].name, b->node[i].name);
		assert_int_equal(a->node[i].kind, b->node[i].kind);
		assert_int_equal(a->node[i].worker, b->node[i].worker);
		assert_int_equal(a->node[i].server, b->node[i].server);
		assert_true(a->node[i].processing == b->node[i].processing);
	}
	for (int i = 0; i < a->links; i++)
		assert_memory_equal(&a->link[i], &b->link[i], sizeof(a->link[i]));
}

static void writes_what_it_reads(void **state)
{
	(void)state;
	for (int shape = TOPO_STAR; shape <= TOPO_RANDOM; shape++) {
		struct topo_spec s = topo_spec_default((enum topo_shape)shape);
		struct topo_error e = {.text = ""};
		struct topology *t, *back, *again;
		char *text;

		s.spread = 0.3;
		s.processing_min = 100;
		s.processing_max = 3200;
		s.servers = 1;
		s.attached = shape % 2;
		t = topo_generate(&s, &e);
		if (!t)
			fail_msg("%d: %s", shape, e.text);
		text = topo_format(t);
		assert_non_null(text);
		back = topo_parse(text, strlen(text), "back", &e);
		if (!back)
			fail_msg("%s", e.text);
		same(t, back);
		again = topo_generate(&s, &e);
		same(t, again);
		free(text);
		topo_free(t);
		topo_free(back);
		topo_free(again);
	}
}

static void count(const struct topo_spec *s, int hosts, int switches, int boxes, int links)
{
	struct topo_error e = {.text = ""};
	struct topology *t = topo_generate(s, &e);
	int have[3] = {0};

	if (!t)
		fail_msg("%s", e.text);
	for (int i = 0; i < t->nodes; i++)
		have[t->node[i].kind]++;
	assert_int_equal(have[TOPO_HOST], hosts);
	assert_int_equal(have[TOPO_SWITCH], switches);
	assert_int_equal(have[TOPO_BOX], boxes);
	assert_int_equal(t->links, links);
	topo_free(t);
}

static void sizes(void **state)
{
	struct topo_spec s = topo_spec_default(TOPO_STAR);

	(void)state;
	count(&s, 8, 0, 1, 8);
	s.attached = true;
	count(&s, 8, 1, 1, 9);
	s = topo_spec_default(TOPO_LEAF_SPINE);
	count(&s, 8, 2, 2, 12);
	s.boxes = TOPO_BOX_SPINES;
	count(&s, 8, 2, 2, 12);
	/* GRID's topology: 80 switches, 6 servers in a rack. */
	s = topo_spec_default(TOPO_FAT_TREE);
	s.k = 8;
	s.hosts = 6;
	count(&s, 192, 48, 32, 192 + 128 + 128);
	s.boxes = TOPO_BOX_ALL;
	s.hosts = 0;
	count(&s, 128, 0, 80, 384);
	s = topo_spec_default(TOPO_RAIL);
	count(&s, 8, 2, 4, 32 + 8);
	s = topo_spec_default(TOPO_RANDOM);
	s.boxes = TOPO_BOX_NONE;
	count(&s, 12, 6, 0, 12 + 9);
}

static void bad_specs(void **state)
{
	struct topo_error e = {.text = ""};
	struct topo_spec s = topo_spec_default(TOPO_FAT_TREE);

	(void)state;
	s.k = 3;
	assert_null(topo_generate(&s, &e));
	assert_non_null(strstr(e.text, "even"));
	s = topo_spec_default(TOPO_STAR);
	s.hosts = 0;
	assert_null(topo_generate(&s, &e));
	s.hosts = 4;
	s.host_link = -1;
	assert_null(topo_generate(&s, &e));
	assert_non_null(strstr(e.text, "positive"));
	s.host_link = 1;
	s.spread = 1;
	assert_null(topo_generate(&s, &e));
	s.spread = 0;
	s.workers = 4;
	s.servers = 1;
	assert_null(topo_generate(&s, &e));
	assert_non_null(strstr(e.text, "do not fit"));
	s.servers = 0;
	s.processing_min = 2;
	s.processing_max = 1;
	assert_null(topo_generate(&s, &e));
}

static void lines(void **state)
{
	static const char text[] =
		"{\"x\": \"y\",\n \"q\": {\"y\": [1,\n2]},\n\"y\": [\n[1,\n2], {},\n"
		"\"a\\\"]\",\n\n 7 ] }";

	(void)state;
	assert_int_equal(text_line(text, strlen(text), "y", -1), 4);
	assert_int_equal(text_line(text, strlen(text), "y", 0), 5);
	assert_int_equal(text_line(text, strlen(text), "y", 1), 6);
	assert_int_equal(text_line(text, strlen(text), "y", 2), 7);
	assert_int_equal(text_line(text, strlen(text), "y", 3), 9);
	assert_int_equal(text_line(text, strlen(text), "y", 4), 1);
	assert_int_equal(text_line(text, strlen(text), "z", -1), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines),
		cmocka_unit_test(good_file),
		cmocka_unit_test(bad_files),
		cmocka_unit_test(prefixes),
		cmocka_unit_test(changed_bytes),
		cmocka_unit_test(sizes),
		cmocka_unit_test(writes_what_it_reads),
		cmocka_unit_test(bad_specs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
