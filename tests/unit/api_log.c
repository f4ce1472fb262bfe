/*
 * The log: its levels, its callback, its file; and that it holds no key.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <pthread.h>
#include <unistd.h>

#include "host/config/log.h"
#include "tests/unit/api_ranks.h"

#define KEY "00112233445566778899aabbccddeeff"

struct heard {
	unsigned int lines[RF_LOG_TRACE + 1];
	unsigned int communicators; /* lines about one */
	unsigned int failures;
	unsigned int keys;  /* lines that hold the key */
	unsigned int marks; /* lines with control characters */
};

static struct heard heard[RANKS];

static void listen(void *arg, enum rf_log_level level, const char *text)
{
	struct rank *r = arg;
	struct heard *h = &heard[r->rank];

	h->lines[level]++;
	h->communicators += strncmp(text, "communicator", 12) == 0;
	h->failures += strstr(text, " failed: ") != NULL;
	h->keys += strstr(text, KEY) != NULL;
	h->marks += strpbrk(text, "\n\r\033") != NULL;
}

static int one_group(struct rank *r)
{
	uint32_t a = 1, b;

	for (unsigned int k = 0; k < 50; k++)
		EXPECT(r, rf_allreduce(r->comm, &a, &b, 1, RF_INT32, RF_SUM) == RF_OK);
	return 0;
}

static int one_that_fails(struct rank *r)
{
	uint32_t a = 1, b;

	EXPECT(r, rf_comm_abort(r->comm) == RF_OK);
	EXPECT(r, rf_allreduce(r->comm, &a, &b, 1, RF_INT32, RF_SUM) != RF_OK);
	return 0;
}

static void run(enum rf_log_level level, int (*body)(struct rank *r))
{
	struct ranks all;

	memset(heard, 0, sizeof(heard));
	ranks_init(&all, 3, body);
	all.log_level = level;
	all.log = listen;
	assert_int_equal(ranks_run(&all), 0);
	ranks_free(&all);
	for (unsigned int k = 0; k < 3; k++)
		assert_int_equal(heard[k].keys + heard[k].marks, 0);
}

static void levels(void **state)
{
	(void)state;
	setenv("RF_KEY", KEY, 1);
	run(RF_LOG_DEFAULT, one_group);
	for (unsigned int k = 0; k < 3; k++)
		assert_int_equal(heard[k].lines[RF_LOG_WARN] + heard[k].lines[RF_LOG_INFO] +
					 heard[k].lines[RF_LOG_TRACE],
				 0);
	run(RF_LOG_INFO, one_group);
	for (unsigned int k = 0; k < 3; k++) {
		assert_int_equal(heard[k].communicators, 1);
		assert_int_equal(heard[k].lines[RF_LOG_INFO], 1);
		assert_int_equal(heard[k].lines[RF_LOG_TRACE], 0);
	}
	run(RF_LOG_TRACE, one_group);
	for (unsigned int k = 0; k < 3; k++) {
		assert_true(heard[k].lines[RF_LOG_TRACE] >= 3);
		/* fifty calls, but no line for one */
		assert_true(heard[k].lines[RF_LOG_TRACE] < 20);
	}
	run(RF_LOG_INFO, one_that_fails);
	for (unsigned int k = 0; k < 3; k++)
		assert_int_equal(heard[k].failures, 1);
	unsetenv("RF_KEY");
}

/* A process of its own would do the same with a file: one line, its prefix, the names' marks. */
static void file(void **state)
{
	struct rf_context *ctx = NULL;
	struct rf_comm *comm = NULL;
	char dir[] = "/tmp/ringfold-log.XXXXXX";
	char path[128], want[256], line[1024];
	char host[64] = "";
	FILE *in;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/%%r-%%h-%%p-%%%%x", dir);
	setenv("RF_DEBUG_FILE", path, 1);
	setenv("RF_DEBUG", "info", 1);
	setenv("RF_RANK", "0", 1);
	setenv("RF_SIZE", "1", 1);
	assert_int_equal(rf_context_create(NULL, &ctx), RF_OK);
	assert_int_equal(rf_comm_create(ctx, NULL, &comm), RF_OK);
	rf_comm_destroy(comm);
	rf_context_destroy(ctx);
	gethostname(host, sizeof(host) - 1);
	snprintf(path, sizeof(path), "%s/0-%s-%ld-%%%%x", dir, host, (long)getpid());
	in = fopen(path, "re");
	assert_non_null(in);
	assert_non_null(fgets(line, sizeof(line), in));
	snprintf(want, sizeof(want), "ringfold: %s:%ld [0] info: communicator: one rank alone",
		 host, (long)getpid());
	assert_memory_equal(line, want, strlen(want));
	assert_null(fgets(line, sizeof(line), in));
	fclose(in);
	unlink(path);
	rmdir(dir);
	unsetenv("RF_DEBUG_FILE");
	unsetenv("RF_DEBUG");
	unsetenv("RF_RANK");
	unsetenv("RF_SIZE");
}

static void refused(void **state)
{
	struct rf_context_config config = RF_CONTEXT_CONFIG_INIT;
	struct rf_context *ctx = NULL;
	char to[32], longest[5000];

	(void)state;
	setenv("RF_DEBUG", "loud", 1);
	assert_int_equal(rf_context_create(NULL, &ctx), RF_ERR_INVALID);
	assert_non_null(strstr(rf_last_error_text(NULL), "RF_DEBUG=loud"));
	unsetenv("RF_DEBUG");
	config.log_level = (enum rf_log_level)4;
	assert_int_equal(rf_context_create(&config, &ctx), RF_ERR_INVALID);
	assert_non_null(strstr(rf_last_error_text(NULL), "log_level 4"));
	setenv("RF_DEBUG_FILE", "/nowhere/at/all", 1);
	assert_int_equal(rf_context_create(NULL, &ctx), RF_ERR_SYSTEM);
	assert_non_null(strstr(rf_last_error_text(NULL), "/nowhere/at/all"));
	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	setenv("RF_DEBUG_FILE", longest, 1);
	assert_int_equal(rf_context_create(NULL, &ctx), RF_ERR_INVALID);
	unsetenv("RF_DEBUG_FILE");
	assert_null(ctx);
	/* the last byte that fits, and one more */
	assert_int_equal(rf_log_path("%h", 0, "abcdefg", to, 8), RF_OK);
	assert_int_equal(rf_log_path("%h", 0, "abcdefgh", to, 8), RF_ERR_INVALID);
	assert_int_equal(rf_log_path("%r%", 12, "h", to, sizeof(to)), RF_OK);
	assert_string_equal(to, "12%");
}

/* A text with line breaks, as another rank could announce it, stays one line. */
static void one_line(void **state)
{
	struct rank r = {.rank = 0};
	struct rf_log log;
	char why[128];

	(void)state;
	memset(heard, 0, sizeof(heard));
	assert_int_equal(rf_log_open(&log, RF_LOG_INFO, listen, &r, 0, why, sizeof(why)), RF_OK);
	rf_log_line(&log, RF_LOG_INFO, "%s", "a\nringfold: forged\033[2J\r");
	rf_log_line(&log, RF_LOG_TRACE, "not at this level");
	assert_int_equal(heard[0].lines[RF_LOG_INFO], 1);
	assert_int_equal(heard[0].lines[RF_LOG_TRACE], 0);
	assert_int_equal(heard[0].marks, 0);
	rf_log_close(&log);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(levels),
		cmocka_unit_test(file),
		cmocka_unit_test(refused),
		cmocka_unit_test(one_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
