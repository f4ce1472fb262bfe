/* "Did you mean": the name that a misspelt word was probably meant to be. */
#ifndef RF_BASE_NEAR_H
#define RF_BASE_NEAR_H

#include <stddef.h>

/*
 * Returns the one of names that differs least from word: at most one letter in words of up to five,
 * two in longer ones, three from ten on; a letter that is missing, added or wrong, or two
 * neighbours exchanged, counts as one. NULL if none is that near.
 */
const char *rf_near(const char *word, const char *const *names, size_t count);

#endif
