/*
 * The scheme "best" on random topologies: never below any other scheme, and the same bytes each
 * time, whether the machine is busy or not.
 *
 *   planner_best [FIRST [COUNT]]
 *
 * generates COUNT topologies from seed FIRST on (default: 20 from seed 1).
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "planner/scheme.h"
#include "tests/unit/planner_drawn.h"

#define HOSTS_MOST 100
#define REPEATED 10 /* one in this many is planned again on a busy machine */

static int first = 1;
static int count = 20;

static struct plan *make(const struct scheme *s, const struct topology *t,
			 const struct scheme_options *o)
{
	struct topo_error e = {.text = ""};
	struct plan *p = scheme_run(s, t, o, &e);
	struct plan_load load;

	if (p && plan_verify(t, p, &load, &e) != 0)
		fail_msg("%s: %s", s->name, e.text);
	if (p)
		plan_load_free(&load);
	return p;
}

static void test_never_below(void **state)
{
	(void)state;
	for (int seed = first; seed < first + count; seed++) {
		struct scheme_options o = scheme_options_default();
		struct topology *t = drawn_topology((uint64_t)seed, HOSTS_MOST, &o);
		struct plan *best = make(scheme_find("best"), t, &o);
		const char *which;

		assert_non_null(best);
		if (best->throughput > plan_limit(best, &which) * (1 + 1e-9))
			fail_msg("seed %d: %.10g is above the %s bound", seed, best->throughput,
				 which);
		for (const struct scheme *s = scheme_list; s->name; s++) {
			struct plan *p = make(s, t, &o);

			if (p && p->throughput > best->throughput * (1 + 1e-9))
				fail_msg(
					"seed %d (planner_best %d 1): %s reaches %.10g, best %.10g",
					seed, seed, s->name, p->throughput, best->throughput);
			plan_free(p);
		}
		plan_free(best);
		topo_free(t);
	}
}

static char *plan_text(const struct topology *t, const struct scheme_options *o)
{
	struct plan *p = make(scheme_find("best"), t, o);
	char *text = plan_format(p, t);

	assert_non_null(text);
	plan_free(p);
	return text;
}

/* Starts three processes that only count. */
static void begin_load(pid_t *child)
{
	for (int i = 0; i < 3; i++) {
		child[i] = fork();
		assert_true(child[i] >= 0);
		if (child[i] == 0)
			for (volatile unsigned int n = 0; getppid() != 1; n++)
				;
	}
}

static void end_load(const pid_t *child)
{
	for (int i = 0; i < 3; i++) {
		kill(child[i], SIGKILL);
		waitpid(child[i], NULL, 0);
	}
}

static void test_same_bytes(void **state)
{
	(void)state;
	for (int seed = first; seed < first + count; seed += REPEATED) {
		struct scheme_options o = scheme_options_default();
		struct topology *t = drawn_topology((uint64_t)seed, HOSTS_MOST, &o);
		char *alone = plan_text(t, &o);
		pid_t child[3];
		char *busy;

		begin_load(child);
		busy = plan_text(t, &o);
		end_load(child);
		if (strcmp(alone, busy) != 0)
			fail_msg("seed %d (planner_best %d 1): another plan on a busy machine",
				 seed, seed);
		free(alone);
		free(busy);
		topo_free(t);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_never_below),
		cmocka_unit_test(test_same_bytes),
	};

	first = argc > 1 ? atoi(argv[1]) : first;
	count = argc > 2 ? atoi(argv[2]) : count;
	return cmocka_run_group_tests_name("planner_best", tests, NULL, NULL);
}
