/*
 * What the fuzzing programs share. Each gives LLVMFuzzerTestOneInput(); libFuzzer calls it (make
 * fuzz), or fuzz_main.c with the kept inputs and changed copies of them (make test).
 */
#ifndef RF_TESTS_FUZZ_H
#define RF_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Always 0. What is wrong ends the program by abort(), with a line on stderr. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* An input, read from its start; zeroes after its end. */
struct fuzz_input {
	const uint8_t *data;
	size_t left;
};

static inline uint8_t fuzz_u8(struct fuzz_input *in)
{
	if (in->left == 0)
		return 0;
	in->left--;
	return *in->data++;
}

static inline uint16_t fuzz_u16(struct fuzz_input *in)
{
	uint16_t high = fuzz_u8(in);

	return (uint16_t)(high << 8 | fuzz_u8(in));
}

static inline uint32_t fuzz_u32(struct fuzz_input *in)
{
	uint32_t high = fuzz_u16(in);

	return high << 16 | fuzz_u16(in);
}

/* A value at most 128 away from another. */
static inline uint32_t fuzz_near(struct fuzz_input *in, uint32_t value)
{
	return value + (fuzz_u8(in) ^ 0x80u) - 0x80u;
}

/* Up to n bytes; returns their number. The rest of out is zero. */
static inline size_t fuzz_bytes(struct fuzz_input *in, uint8_t *out, size_t n)
{
	size_t some = n < in->left ? n : in->left;

	memset(out, 0, n);
	if (some > 0)
		memcpy(out, in->data, some);
	in->data += some;
	in->left -= some;
	return some;
}

/* The name of a deliberate fault that the checks must notice; NULL: none. */
static inline const char *fuzz_fault(void)
{
	return getenv("RF_FUZZ_FAULT");
}

#define FUZZ_MUST(what)                                                                            \
	do {                                                                                       \
		if (!(what)) {                                                                     \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #what);         \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

#endif
