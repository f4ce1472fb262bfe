/* "Did you mean": the name that a misspelt word was probably meant to be. */
#ifndef RF_BASE_NEAR_H
#define RF_BASE_NEAR_H

#include <stddef.h>
#include <string.h>

#define RF_NEAR_WORD_MAX 64u

static inline unsigned rf_near_least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* Optimal string alignment: rows of the usual table, of which the last three are kept. */
static inline unsigned rf_near_distance(const char *a, const char *b)
{
	unsigned row[3][RF_NEAR_WORD_MAX + 1];
	size_t m = strlen(a);
	size_t n = strlen(b);

	if (m > RF_NEAR_WORD_MAX || n > RF_NEAR_WORD_MAX)
		return RF_NEAR_WORD_MAX;
	for (size_t k = 0; k <= n; k++)
		row[0][k] = (unsigned)k;
	for (size_t i = 1; i <= m; i++) {
		unsigned *now = row[i % 3];
		const unsigned *before = row[(i + 2) % 3];
		const unsigned *twice = row[(i + 1) % 3];

		now[0] = (unsigned)i;
		for (size_t k = 1; k <= n; k++) {
			now[k] = before[k - 1] + (a[i - 1] != b[k - 1]);
			now[k] = rf_near_least(now[k], rf_near_least(before[k], now[k - 1]) + 1);
			if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1])
				now[k] = rf_near_least(now[k], twice[k - 2] + 1);
		}
	}
	return row[m % 3][n];
}

/*
 * Returns the one of names that differs least from word: at most one letter in words of up to five,
 * two in longer ones, three from ten on; a letter that is missing, added or wrong, or two
 * neighbours exchanged, counts as one. NULL if none is that near.
 */
static inline const char *rf_near(const char *word, const char *const *names, size_t count)
{
	size_t len = strlen(word);
	unsigned most = len < 6 ? 1 : len < 10 ? 2 : 3;
	const char *best = NULL;

	for (size_t i = 0; i < count; i++) {
		unsigned d = rf_near_distance(word, names[i]);

		if (d > most)
			continue;
		best = names[i];
		if (d == 0)
			break;
		most = d - 1; /* another one must be nearer */
	}
	return best;
}

#endif
