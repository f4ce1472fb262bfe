/*
 * The two functions that a C compiler expects on every target and calls by itself. Built with
 * -fno-builtin, so that the compiler does not turn a loop into a call of the function that contains
 * it.
 */
#include <stdint.h>
#include <string.h>

#define WORD ((size_t)4)

typedef uint32_t __attribute__((may_alias)) word;

static int whole_words(const void *a, const void *b)
{
	return (((uintptr_t)a | (uintptr_t)b) & (WORD - 1u)) == 0;
}

void *memcpy(void *to, const void *from, size_t n)
{
	uint8_t *t = to;
	const uint8_t *f = from;

	if (whole_words(to, from)) {
		word *tw = to;
		const word *fw = from;

		for (; n >= 4u * WORD; n -= 4u * WORD, tw += 4, fw += 4) {
			tw[0] = fw[0];
			tw[1] = fw[1];
			tw[2] = fw[2];
			tw[3] = fw[3];
		}
		for (; n >= WORD; n -= WORD)
			*tw++ = *fw++;
		t = (uint8_t *)tw;
		f = (const uint8_t *)fw;
	}
	while (n-- > 0)
		*t++ = *f++;
	return to;
}

void *memset(void *to, int c, size_t n)
{
	uint8_t *t = to;
	uint32_t fill = (uint8_t)c * 0x01010101u;

	for (; n > 0 && !whole_words(t, t); n--)
		*t++ = (uint8_t)c;
	if (n >= WORD) {
		word *tw = (word *)(void *)t;

		/* 40 KB are cleared at the start, so this matters: 19 instructions for 64 bytes. */
		for (; n >= 16u * WORD; n -= 16u * WORD, tw += 16) {
			tw[0] = fill;
			tw[1] = fill;
			tw[2] = fill;
			tw[3] = fill;
			tw[4] = fill;
			tw[5] = fill;
			tw[6] = fill;
			tw[7] = fill;
			tw[8] = fill;
			tw[9] = fill;
			tw[10] = fill;
			tw[11] = fill;
			tw[12] = fill;
			tw[13] = fill;
			tw[14] = fill;
			tw[15] = fill;
		}
		for (; n >= WORD; n -= WORD)
			*tw++ = fill;
		t = (uint8_t *)tw;
	}
	while (n-- > 0)
		*t++ = (uint8_t)c;
	return to;
}
