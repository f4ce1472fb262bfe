/*
 * The handwritten digits of tests/data/digits, cut into a training part and a held-out part.
 */
#ifndef RF_DEMO_DIGITS_H
#define RF_DEMO_DIGITS_H

#include <stddef.h>

#define DIGIT_PIXELS 64
#define DIGIT_CLASSES 10

struct digit {
	float pixel[DIGIT_PIXELS]; /* 0 .. 1 */
	int label;
};

struct digits {
	struct digit *train;
	size_t n_train;
	struct digit *held;
	size_t n_held;
};

/* Reads a CSV file; every fifth digit is held out. Returns 0, or -1 with a message on stderr. */
int digits_load(const char *path, struct digits *digits);
void digits_free(struct digits *digits);

#endif
