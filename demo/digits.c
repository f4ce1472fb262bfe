/*
 * Reads the digits.
 */
#include "demo/digits.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DIGITS_MAX 10000u
#define HOLD_OUT 5u

/* Parses one line: 64 pixels of 0 .. 16 and the digit. Returns 0 or -1. */
static int parse_line(const char *line, struct digit *d)
{
	int k;

	for (k = 0; k <= DIGIT_PIXELS; k++) {
		char *end;
		unsigned long v = strtoul(line, &end, 10);

		if (end == line || v > (k < DIGIT_PIXELS ? 16 : 9))
			return -1;
		if (*end != (k < DIGIT_PIXELS ? ',' : '\n') && *end != '\0')
			return -1;
		if (k < DIGIT_PIXELS)
			d->pixel[k] = (float)v / 16.0f;
		else
			d->label = (int)v;
		line = end + 1;
	}
	return 0;
}

int digits_load(const char *path, struct digits *digits)
{
	FILE *file = fopen(path, "re");
	size_t n = 0;
	char line[512];

	memset(digits, 0, sizeof(*digits));
	if (!file) {
		fprintf(stderr, "cannot read %s: %s\n", path, strerror(errno));
		return -1;
	}
	digits->train = calloc(DIGITS_MAX, sizeof(*digits->train));
	digits->held = calloc(DIGITS_MAX, sizeof(*digits->held));
	while (digits->train && digits->held && n < DIGITS_MAX && fgets(line, sizeof(line), file)) {
		struct digit *d = n % HOLD_OUT == HOLD_OUT - 1 ? &digits->held[digits->n_held++]
							       : &digits->train[digits->n_train++];

		n++;
		if (parse_line(line, d) < 0) {
			fprintf(stderr, "%s:%zu: expected 64 pixels and a digit\n", path, n);
			n = 0;
			break;
		}
	}
	fclose(file);
	if (digits->n_held && n)
		return 0;
	digits_free(digits);
	return -1;
}

void digits_free(struct digits *digits)
{
	free(digits->train);
	free(digits->held);
	memset(digits, 0, sizeof(*digits));
}
