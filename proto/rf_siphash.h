/*
 * SipHash-2-4 (Aumasson and Bernstein, 2012): a keyed 64-bit authentication tag. Freestanding.
 */
#ifndef RF_SIPHASH_H
#define RF_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

#define RF_SIPHASH_KEY_BYTES 16

/*
 * Tag of `len` bytes under a 16-byte key. The key is read as two little-endian words, as the paper
 * does; the tag's wire form is its eight bytes, little-endian.
 */
uint64_t rf_siphash(const uint8_t key[RF_SIPHASH_KEY_BYTES], const void *data, size_t len);

/*
 * The same with the eight bytes at `hole` (a multiple of 8 below len) taken as zero. Used for a
 * message that contains its own tag.
 */
uint64_t rf_siphash_hole(const uint8_t key[RF_SIPHASH_KEY_BYTES], const void *data, size_t len,
			 size_t hole);

/* 1 if the tags are equal. Takes the same time whichever byte differs. */
static inline int rf_siphash_equal(uint64_t a, uint64_t b)
{
	volatile uint64_t d = a ^ b;

	return d == 0;
}

#endif
