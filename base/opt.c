#include "base/opt.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/near.h"
#include "base/opt_page.h"
#include "base/rf_number.h"

#define VERSION 255
#define LONG_ONLY 256 /* getopt value of the first option without a letter */

int rf_opt_u64(const char *text, uint64_t *value)
{
	uint64_t v;
	const char *end = rf_number_read(text, &v);

	if (!end || *end != '\0')
		return -1;
	*value = v;
	return 0;
}

int rf_opt_uint(const char *text, unsigned *value)
{
	uint64_t v;

	if (rf_opt_u64(text, &v) != 0 || v > UINT_MAX)
		return -1;
	*value = (unsigned)v;
	return 0;
}

/* A decimal number, perhaps with a fraction, followed by a unit that must be in the list. */
static int with_unit(const char *text, const char *const *units, const double *factors,
		     uint64_t *value)
{
	char *end;
	double v;

	if (!isdigit((unsigned char)*text) && *text != '.')
		return -1;
	errno = 0;
	v = strtod(text, &end);
	if (errno != 0)
		return -1;
	for (size_t i = 0; units[i]; i++) {
		if (strcmp(end, units[i]) != 0)
			continue;
		v = v * factors[i] + 0.5;
		if (!(v < 1.8e19))
			return -1;
		*value = (uint64_t)v;
		return 0;
	}
	return -1;
}

int rf_opt_size(const char *text, uint64_t *value)
{
	static const char *const units[] = {"", "B", "K", "k", "KiB", "M", "MiB", "G", "GiB", NULL};
	static const double factors[] = {1,         1,         1024,         1024,        1024,
					 1048576.0, 1048576.0, 1073741824.0, 1073741824.0};

	return with_unit(text, units, factors, value);
}

int rf_opt_rate(const char *text, uint64_t *value)
{
	static const char *const units[] = {"", "K", "M", "G", "T", NULL};
	static const double factors[] = {1, 1e3, 1e6, 1e9, 1e12};

	return with_unit(text, units, factors, value);
}

int rf_opt_time(const char *text, uint64_t *value)
{
	static const char *const units[] = {"", "s", "ms", "us", "ns", NULL};
	static const double factors[] = {1e9, 1e9, 1e6, 1e3, 1};

	return with_unit(text, units, factors, value);
}

int rf_opt_fraction(const char *text, double *value)
{
	char *end;
	double v;

	if (!isdigit((unsigned char)*text) && *text != '.')
		return -1;
	v = strtod(text, &end);
	if (*end == '%') {
		v /= 100;
		end++;
	}
	if (*end != '\0' || !(v >= 0 && v <= 1))
		return -1;
	*value = v;
	return 0;
}

/*
 * Returns the word of the list that equals value, as a string that stays valid (value itself), or
 * NULL.
 */
static const char *choose(const char *list, const char *value)
{
	size_t len = strlen(value);

	for (const char *p = list; len != 0; p++) {
		const char *bar = strchrnul(p, '|');

		if ((size_t)(bar - p) == len && memcmp(p, value, len) == 0)
			return value;
		if (*bar == '\0')
			break;
		p = bar;
	}
	return NULL;
}

static int set(const struct rf_opt *o, const char *value)
{
	switch (o->kind) {
	case RF_OPT_FLAG:
		*(bool *)o->to = true;
		return 0;
	case RF_OPT_STRING:
		*(const char **)o->to = value;
		return 0;
	case RF_OPT_UINT:
		return rf_opt_uint(value, o->to);
	case RF_OPT_U64:
		return rf_opt_u64(value, o->to);
	case RF_OPT_SIZE:
		return rf_opt_size(value, o->to);
	case RF_OPT_RATE:
		return rf_opt_rate(value, o->to);
	case RF_OPT_TIME:
		return rf_opt_time(value, o->to);
	case RF_OPT_FRACTION:
		return rf_opt_fraction(value, o->to);
	case RF_OPT_CHOICE:
		if (!choose(o->arg, value))
			return -1;
		*(const char **)o->to = value;
		return 0;
	default:
		return -1;
	}
}

static const struct rf_opt *find(const struct rf_opt *opts, int c)
{
	for (int i = 0; opts[i].kind != RF_OPT_END; i++) {
		if (!rf_opt_is(&opts[i]))
			continue;
		if (c >= LONG_ONLY ? c == LONG_ONLY + i : opts[i].letter == c)
			return &opts[i];
	}
	return NULL;
}

static const char *expected(enum rf_opt_kind kind)
{
	switch (kind) {
	case RF_OPT_UINT:
		return "a whole number from 0 to 4294967295";
	case RF_OPT_U64:
		return "a whole number from 0 to 18446744073709551615";
	case RF_OPT_SIZE:
		return "0 or more bytes, such as 4096, 64K, 1.5M or 2G";
	case RF_OPT_RATE:
		return "0 or more bits per second, such as 10G or 100G";
	case RF_OPT_TIME:
		return "0 or more seconds, such as 1.5s, 20ms, 3us or 50ns";
	case RF_OPT_FRACTION:
		return "0 to 1, or 0% to 100%";
	default:
		return "another value";
	}
}

/* What is wrong with a value; then what the option means, which often has a range of its own. */
static void say_expected(const struct rf_opt *o, const char *value)
{
	if (o->kind == RF_OPT_CHOICE) {
		fprintf(stderr, "--%s: \"%s\" is not one of %s\n", o->name, value, o->arg);
		return;
	}
	fprintf(stderr, "--%s: \"%s\" is not a valid %s: expected %s\n--%s: ", o->name, value,
		o->arg ? o->arg : "value", expected(o->kind), o->name);
	for (const char *p = o->text; *p; p++)
		fputc(*p == '\n' ? ' ' : *p, stderr);
	fputc('\n', stderr);
}

/* The option whose call is running. */
static const struct rf_opt *calling;

const char *rf_opt_name(void)
{
	return calling ? calling->name : "";
}

static int apply(const struct rf_opt *o, const char *value)
{
	int ret;

	if (o->kind == RF_OPT_CALL) {
		calling = o;
		ret = o->call(o->to, value);
		calling = NULL;
		return ret;
	}
	if (set(o, value) == 0)
		return 0;
	say_expected(o, value);
	return -1;
}

const char *rf_opt_secret(const char *value)
{
	/* One longer than any key: a string that is too long stays too long. */
	static char copy[80];

	if (!value)
		return NULL;
	snprintf(copy, sizeof(copy), "%s", value);
	memset((char *)value, 'x', strlen(value));
	return copy;
}

/* Fills the tables of getopt_long(); returns the short options. */
static const char *tables(const struct rf_opt_page *page, struct option *longs, char *shorts)
{
	bool program = page->opts[0].kind == RF_OPT_PROGRAM;
	size_t s = 0;
	int n = 0;

	/* With the plus sign, getopt_long() stops at the first argument. */
	if (program)
		shorts[s++] = '+';
	shorts[s++] = ':';
	shorts[s++] = 'h';
	for (int i = 0; page->opts[i].kind != RF_OPT_END; i++) {
		const struct rf_opt *o = &page->opts[i];

		if (!rf_opt_is(o))
			continue;
		if (n == RF_OPTS_MAX)
			return NULL;
		longs[n++] =
			(struct option){o->name, rf_opt_takes(o) ? required_argument : no_argument,
					NULL, LONG_ONLY + i};
		if (!o->letter)
			continue;
		shorts[s++] = o->letter;
		if (rf_opt_takes(o))
			shorts[s++] = ':';
	}
	shorts[s] = '\0';
	longs[n++] = (struct option){"help", optional_argument, NULL, 'h'};
	longs[n++] = (struct option){"version", no_argument, NULL, VERSION};
	longs[n] = (struct option){NULL, 0, NULL, 0};
	return shorts;
}

/* Says what is wrong with a long option that getopt_long() did not accept. */
static void unknown(const struct option *longs, const char *text)
{
	const char *names[RF_OPTS_MAX + 2];
	char word[64];
	size_t len = strcspn(text, "=");
	size_t like = 0;
	size_t n = 0;
	const char *near;

	snprintf(word, sizeof(word), "%.*s", (int)len, text);
	for (; longs[n].name; n++) {
		names[n] = longs[n].name;
		like += strncmp(names[n], word, strlen(word)) == 0;
	}
	near = like > 1 ? NULL : rf_near(word, names, n);
	if (near && strcmp(near, word) == 0) {
		fprintf(stderr, "--%s takes no value\n", word);
		return;
	}
	fprintf(stderr, "--%s: %s option", word, like > 1 ? "ambiguous" : "unknown");
	if (near)
		fprintf(stderr, "; did you mean --%s?", near);
	for (size_t i = 0; like > 1 && i < n; i++)
		if (strncmp(names[i], word, strlen(word)) == 0)
			fprintf(stderr, " --%s", names[i]);
	fputc('\n', stderr);
}

/* c is ':' or '?'. */
static void refuse(const struct rf_opt_page *page, const struct option *longs, int c,
		   const char *text)
{
	const struct rf_opt *o = find(page->opts, optopt);

	if (c == ':' && o)
		fprintf(stderr, "--%s needs a value: %s\n", o->name, o->arg ? o->arg : "VALUE");
	else if (strncmp(text, "--", 2) == 0)
		unknown(longs, text + 2);
	else
		fprintf(stderr, "-%c: unknown option\n", optopt);
}

int rf_opt_parse(const struct rf_opt_page *page, int argc, char **argv)
{
	struct option longs[RF_OPTS_MAX + 3];
	char shorts[2 * RF_OPTS_MAX + 8];
	int c;

	if (!tables(page, longs, shorts)) {
		fprintf(stderr, "too many options in the table\n");
		return -2;
	}
	rf_opt_watch_stdout();
	optind = 1;
	opterr = 0;
	while ((c = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
		const struct rf_opt *o = find(page->opts, c);

		if (c == VERSION)
			rf_opt_version();
		if (c == VERSION || (c == 'h' && !o && rf_opt_help_as(page, optarg) == 0))
			return -1;
		if (c == ':' || c == '?')
			refuse(page, longs, c, argv[optind - 1]);
		if (!o || apply(o, optarg) != 0) {
			fprintf(stderr, "usage: %s\n--help lists the options\n", page->usage);
			return -2;
		}
	}
	return optind;
}

bool rf_opt_asked(const struct rf_opt_page *page, const char *word)
{
	rf_opt_watch_stdout();
	if (strcmp(word, "--version") == 0)
		rf_opt_version();
	else if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 ||
		 strcmp(word, "help") == 0)
		rf_opt_help(page);
	else if (strncmp(word, "--help=", 7) != 0 || rf_opt_help_as(page, word + 7) != 0)
		return false;
	return true;
}

int rf_opt_help_as(const struct rf_opt_page *page, const char *what)
{
	if (!what)
		rf_opt_help(page);
	else if (strcmp(what, "man") == 0)
		rf_opt_man(page);
	else if (strcmp(what, "words") == 0)
		rf_opt_words(page);
	else
		return -1;
	return 0;
}
