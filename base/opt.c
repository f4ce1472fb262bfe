#include "base/opt.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rf_number.h"

#define OPTS_MAX 64
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

static bool takes_argument(const struct rf_opt *o)
{
	return o->kind != RF_OPT_FLAG && !(o->kind == RF_OPT_CALL && !o->arg);
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

/* Formats a number with the largest unit that leaves no fraction. */
static void print_unit(uint64_t v, const char *const *units, const uint64_t *factors)
{
	size_t i = 0;

	while (units[i + 1] && v % factors[i] != 0)
		i++;
	printf("%" PRIu64 "%s", v / factors[i], units[i]);
}

static void print_default(const struct rf_opt *o)
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

static void print_option(const struct rf_opt *o)
{
	int n;

	n = o->letter ? printf("  -%c, --%s", o->letter, o->name) : printf("      --%s", o->name);
	if (takes_argument(o))
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
	print_default(o);
	putchar('\n');
}

void rf_opt_help(const struct rf_opt_page *page)
{
	printf("usage: %s\n\n%s\n\noptions:\n", page->usage, page->intro);
	for (const struct rf_opt *o = page->opts; o->kind != RF_OPT_END; o++) {
		if (o->kind == RF_OPT_HEADING)
			printf("\n%s\n", o->text);
		else if (o->kind != RF_OPT_PROGRAM)
			print_option(o);
	}
	printf("  -h, --help                    this text\n");
	if (page->examples)
		printf("\nexamples:\n%s\n", page->examples);
}

static bool is_option(const struct rf_opt *o)
{
	return o->kind != RF_OPT_HEADING && o->kind != RF_OPT_PROGRAM;
}

static const struct rf_opt *find(const struct rf_opt *opts, int c)
{
	for (int i = 0; opts[i].kind != RF_OPT_END; i++) {
		if (!is_option(&opts[i]))
			continue;
		if (c >= LONG_ONLY ? c == LONG_ONLY + i : opts[i].letter == c)
			return &opts[i];
	}
	return NULL;
}

static int apply(const struct rf_opt *o, const char *value)
{
	if (o->kind == RF_OPT_CALL)
		return o->call(o->to, value);
	if (set(o, value) == 0)
		return 0;
	fprintf(stderr, "--%s: \"%s\" is not %s%s\n", o->name, value,
		o->kind == RF_OPT_CHOICE ? "one of " : "a valid ", o->arg ? o->arg : "value");
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

int rf_opt_parse(const struct rf_opt_page *page, int argc, char **argv)
{
	struct option longs[OPTS_MAX + 2];
	char shorts[2 * OPTS_MAX + 5] = "+h";
	/* With the plus sign, getopt_long() stops at the first argument. */
	const char *letters = shorts + (page->opts[0].kind != RF_OPT_PROGRAM);
	size_t s = 2;
	int n = 0;
	int c;

	for (int i = 0; page->opts[i].kind != RF_OPT_END; i++) {
		const struct rf_opt *o = &page->opts[i];

		if (!is_option(o))
			continue;
		if (n == OPTS_MAX) {
			fprintf(stderr, "too many options in the table\n");
			return -2;
		}
		longs[n++] = (struct option){o->name,
					     takes_argument(o) ? required_argument : no_argument,
					     NULL, LONG_ONLY + i};
		if (!o->letter)
			continue;
		shorts[s++] = o->letter;
		if (takes_argument(o))
			shorts[s++] = ':';
	}
	shorts[s] = '\0';
	longs[n] = (struct option){"help", no_argument, NULL, 'h'};
	longs[n + 1] = (struct option){NULL, 0, NULL, 0};

	optind = 1;
	while ((c = getopt_long(argc, argv, letters, longs, NULL)) != -1) {
		const struct rf_opt *o = find(page->opts, c);

		if (c == 'h' && !o) {
			rf_opt_help(page);
			return -1;
		}
		if (!o || apply(o, optarg) != 0) {
			fprintf(stderr, "usage: %s\n--help lists the options\n", page->usage);
			return -2;
		}
	}
	return optind;
}
