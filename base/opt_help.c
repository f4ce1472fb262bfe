/* The text of --help, and --version. */
#include "base/opt_page.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rf_version.h"

/* Formats a number with the largest unit that leaves no fraction. */
static void print_unit(uint64_t v, const char *const *units, const uint64_t *factors)
{
	size_t i = 0;

	if (v == 0) {
		printf("0");
		return;
	}
	while (units[i + 1] && v % factors[i] != 0)
		i++;
	printf("%" PRIu64 "%s", v / factors[i], units[i]);
}

void rf_opt_default(const struct rf_opt *o)
{
	static const char *const size_units[] = {"G", "M", "K", "", NULL};
	static const uint64_t size_factors[] = {1u << 30, 1u << 20, 1u << 10, 1};
	static const char *const rate_units[] = {"G", "M", "K", "", NULL};
	static const uint64_t rate_factors[] = {1000000000u, 1000000u, 1000u, 1};
	static const char *const time_units[] = {"s", "ms", "us", "ns", NULL};
	const char *s;

	if (!o->to)
		return;
	switch (o->kind) {
	case RF_OPT_STRING:
	case RF_OPT_CHOICE:
		s = *(const char *const *)o->to;
		if (s && *s)
			printf(" (default %s)", s);
		return;
	case RF_OPT_UINT:
		printf(" (default %u)", *(const unsigned *)o->to);
		return;
	case RF_OPT_U64:
		printf(" (default %" PRIu64 ")", *(const uint64_t *)o->to);
		return;
	case RF_OPT_FRACTION:
		printf(" (default %g%%)", *(const double *)o->to * 100);
		return;
	case RF_OPT_SIZE:
	case RF_OPT_RATE:
	case RF_OPT_TIME:
		break;
	default:
		return;
	}
	printf(" (default ");
	if (o->kind == RF_OPT_SIZE)
		print_unit(*(const uint64_t *)o->to, size_units, size_factors);
	else if (o->kind == RF_OPT_RATE)
		print_unit(*(const uint64_t *)o->to, rate_units, rate_factors);
	else
		print_unit(*(const uint64_t *)o->to, time_units, rate_factors);
	printf(")");
}

bool rf_opt_has_colours(void)
{
	const char *no = getenv("NO_COLOR");
	const char *term = getenv("TERM");

	return isatty(STDOUT_FILENO) && !(no && *no) && term && strcmp(term, "dumb") != 0;
}

static void print_option(const struct rf_opt *o, const char *on, const char *off)
{
	int n;

	n = o->letter ? printf("  %s-%c, --%s%s", on, o->letter, o->name, off)
		      : printf("      %s--%s%s", on, o->name, off);
	n -= (int)(strlen(on) + strlen(off));
	if (rf_opt_takes(o))
		n += printf(" %s", o->arg ? o->arg : "VALUE");
	if (n > 30) {
		printf("\n");
		n = 0;
	}
	printf("%*s", 32 - n, "");
	for (const char *p = o->text; *p; p++) {
		putchar(*p);
		if (*p == '\n')
			printf("%32s", "");
	}
	rf_opt_default(o);
	putchar('\n');
}

void rf_opt_help(const struct rf_opt_page *page)
{
	const char *on = rf_opt_has_colours() ? "\033[1m" : "";
	const char *off = *on ? "\033[0m" : "";

	printf("%susage:%s %s\n\n%s\n\n%soptions:%s\n", on, off, page->usage, page->intro, on, off);
	for (const struct rf_opt *o = page->opts; o->kind != RF_OPT_END; o++) {
		if (o->kind == RF_OPT_HEADING)
			printf("\n%s%s%s\n", on, o->text, off);
		else if (rf_opt_is(o))
			print_option(o, on, off);
	}
	printf("  %s-h, --help%s                    this text\n"
	       "      %s--version%s                 the version of ringfold\n",
	       on, off, on, off);
	if (page->examples)
		printf("\n%sexamples:%s\n%s\n", on, off, page->examples);
}

/* Results that did not reach their file are a failure, whatever the program has returned. */
static void close_stdout(void)
{
	int failed = ferror(stdout);

	errno = 0;
	if (failed) {
		/* its reason is lost: it shows again */
		clearerr(stdout);
		putchar('\n');
	}
	if (fflush(stdout) == 0 && !failed)
		return;
	fprintf(stderr, "%s: cannot write the output: %s\n", program_invocation_short_name,
		errno ? strerror(errno) : "an earlier write failed");
	_exit(RF_EXIT_FAILED);
}

/*
 * Without this a program that was started with closed descriptors gives their numbers to its own
 * files, and its messages are written into those. It writes to 1 and 2 with EBADF as before.
 */
static void occupy_closed(void)
{
	for (int fd = 0; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF &&
		    open("/dev/null", O_RDONLY) != fd) /* the lowest that is free, or none */
			_exit(RF_EXIT_FAILED);
}

void rf_opt_watch_stdout(void)
{
	static bool watched;

	if (watched)
		return;
	watched = true;
	occupy_closed();
	atexit(close_stdout);
}

void rf_opt_version(void)
{
	printf("ringfold %s\n", RF_VERSION_TEXT);
}

bool rf_opt_is(const struct rf_opt *o)
{
	return o->kind != RF_OPT_HEADING && o->kind != RF_OPT_PROGRAM;
}

bool rf_opt_takes(const struct rf_opt *o)
{
	return o->kind != RF_OPT_FLAG && !(o->kind == RF_OPT_CALL && !o->arg);
}
