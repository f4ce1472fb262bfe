/*
 * The two functions that a C compiler expects of every target, and calls by itself. Built with
 * -fno-builtin, so that a loop is not made into a call of the function that it stands in.
 */
#include <stdint.h>
#include <string.h>

#define WORD ((size_t)4)

static int whole_words(const void *a, const void *b)
{
	return (((uintptr_t)a | (uintptr_t)b) & (WORD - 1u)) == 0;
}

void *memcpy(void *to, const void *from, size_t n)
{
	uint8_t *t = to;
	const uint8_t *f = from;

	if (whole_words(to, from)) {
		/* Type punning through the compiler's own back door: both are aligned. */
		typedef uint32_t __attribute__((may_alias)) word;

		for (; n >= WORD; n -= WORD, t += WORD, f += WORD)
			*(word *)(void *)t = *(const word *)(const void *)f;
	}
	while (n-- > 0)
		*t++ = *f++;
	return to;
}

void *memset(void *to, int c, size_t n)
{
	uint8_t *t = to;
	uint32_t fill = (uint8_t)c * 0x01010101u;

	if (whole_words(to, to)) {
		typedef uint32_t __attribute__((may_alias)) word;

		for (; n >= WORD; n -= WORD, t += WORD)
			*(word *)(void *)t = fill;
	}
	while (n-- > 0)
		*t++ = (uint8_t)c;
	return to;
}
