/*
 * Whole numbers in settings, files and command lines: decimal, or hexadecimal after 0x. Leading
 * zeroes, often used for alignment, are ignored: they do not mean octal. Freestanding.
 */
#ifndef RF_NUMBER_H
#define RF_NUMBER_H

#include <stddef.h>
#include <stdint.h>

/*
 * Reads the number at the start of text. Returns a pointer to the text after it, or NULL if
 * text does not begin with a number or the number does not fit. *value is only written on success.
 */
static inline const char *rf_number_read(const char *text, uint64_t *value)
{
	unsigned int base = text[0] == '0' && (text[1] | 0x20) == 'x' ? 16 : 10;
	const char *first = base == 16 ? text + 2 : text;
	const char *p;
	uint64_t n = 0;

	for (p = first;; p++) {
		unsigned int letter = (unsigned int)(*p | 0x20);
		unsigned int digit = letter >= 'a' ? letter - 'a' + 10 : (unsigned int)*p - '0';

		if (digit >= base)
			break;
		if (n > (UINT64_MAX - digit) / base)
			return NULL;
		n = n * base + digit;
	}
	if (p == first)
		return NULL;
	*value = n;
	return p;
}

#endif
