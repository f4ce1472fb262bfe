/* CRC-32 and SipHash against definitions and published vectors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "proto/rf_bytes.h"
#include "proto/rf_crc32.h"
#include "proto/rf_siphash.h"

/* The definition, one bit at a time. */
static uint32_t crc_bitwise(uint32_t s, const uint8_t *p, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		s ^= p[i];
		for (int b = 0; b < 8; b++)
			s = s >> 1 ^ ((s & 1) ? 0xedb88320u : 0);
	}
	return s;
}

static uint32_t lcg(uint32_t *s)
{
	*s = *s * 1664525u + 1013904223u;
	return *s >> 8;
}

static void crc_known_values(void **state)
{
	static const uint8_t ff[8] = {255, 255, 255, 255, 255, 255, 255, 255};

	(void)state;
	assert_int_equal(rf_crc32("123456789", 9), 0xcbf43926u);
	assert_int_equal(rf_crc32("", 0), 0);
	assert_int_equal(rf_crc32_update(RF_CRC32_INIT, ff, 8), RF_CRC32_ICRC_INIT);
}

static void crc_is_the_definition(void **state)
{
	uint8_t buf[300];
	uint32_t seed = 1;

	(void)state;
	for (size_t i = 0; i < sizeof(buf); i++)
		buf[i] = (uint8_t)lcg(&seed);
	/* Every entry of every table: one byte at each place of a word of eight. */
	for (size_t at = 0; at < 8; at++) {
		for (unsigned int b = 0; b < 256; b++) {
			uint8_t word[8] = {0};

			word[at] = (uint8_t)b;
			assert_int_equal(rf_crc32_update(0, word, 8), crc_bitwise(0, word, 8));
		}
	}
	for (size_t from = 0; from < 9; from++) {
		for (size_t len = 0; from + len <= sizeof(buf); len++)
			assert_int_equal(rf_crc32_update(0x12345678, buf + from, len),
					 crc_bitwise(0x12345678, buf + from, len));
	}
}

static void crc_in_pieces(void **state)
{
	uint8_t buf[257];
	uint32_t seed = 2;

	(void)state;
	for (size_t i = 0; i < sizeof(buf); i++)
		buf[i] = (uint8_t)lcg(&seed);
	for (size_t cut = 0; cut <= sizeof(buf); cut++) {
		uint32_t s = rf_crc32_update(RF_CRC32_INIT, buf, cut);

		s = rf_crc32_update(s, buf + cut, sizeof(buf) - cut);
		assert_int_equal(rf_crc32_final(s), rf_crc32(buf, sizeof(buf)));
	}
}

static void crc_sees_every_bit(void **state)
{
	uint8_t buf[64] = {0};
	uint32_t good = rf_crc32(buf, sizeof(buf));

	(void)state;
	for (size_t bit = 0; bit < 8 * sizeof(buf); bit++) {
		buf[bit / 8] ^= (uint8_t)(1u << bit % 8);
		assert_int_not_equal(rf_crc32(buf, sizeof(buf)), good);
		buf[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
}

/* Appendix A of the SipHash paper: key 00..0f, message 00..0e; and the first vectors of its set. */
static void siphash_published(void **state)
{
	static const uint64_t first[] = {
		0x726fdb47dd0e0e31u, 0x74f839c593dc67fdu, 0x0d6c8009d9a94f5au,
		0x85676696d7fb7e2du, 0xcf2794e0277187b7u, 0x18765564cd99a68du,
		0xcbc9466e58fee3ceu, 0xab0200f58b01d137u, 0x93f5f5799a932462u,
	};
	uint8_t key[16];
	uint8_t msg[15];

	(void)state;
	for (uint8_t i = 0; i < 16; i++)
		key[i] = i;
	for (uint8_t i = 0; i < 15; i++)
		msg[i] = i;
	assert_true(rf_siphash(key, msg, 15) == 0xa129ca6149be45e5u);
	for (size_t n = 0; n < sizeof(first) / sizeof(first[0]); n++)
		assert_true(rf_siphash(key, msg, n) == first[n]);
	key[3] ^= 4;
	assert_false(rf_siphash_equal(rf_siphash(key, msg, 15), 0xa129ca6149be45e5u));
}

static void bytes_round_trip(void **state)
{
	uint8_t b[9];
	static const uint8_t big[8] = {1, 2, 3, 4, 5, 6, 7, 8};

	(void)state;
	assert_int_equal(rf_get_be16(big), 0x0102);
	assert_int_equal(rf_get_be24(big), 0x010203);
	assert_int_equal(rf_get_be32(big), 0x01020304);
	assert_true(rf_get_be64(big) == 0x0102030405060708u);
	assert_int_equal(rf_get_le16(big), 0x0201);
	assert_int_equal(rf_get_le32(big), 0x04030201);
	assert_true(rf_get_le64(big) == 0x0807060504030201u);
	rf_put_be64(b + 1, 0xfedcba9876543210u);
	assert_true(rf_get_be64(b + 1) == 0xfedcba9876543210u);
	rf_put_le64(b + 1, 0xfedcba9876543210u);
	assert_true(rf_get_le64(b + 1) == 0xfedcba9876543210u);
	rf_put_be24(b, 0xff123456);
	assert_int_equal(rf_get_be24(b), 0x123456);
	rf_put_be16(b, 0xbeef);
	assert_int_equal(rf_get_be16(b), 0xbeef);
	rf_put_le16(b, 0xbeef);
	assert_int_equal(rf_get_le16(b), 0xbeef);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(crc_known_values),  cmocka_unit_test(crc_is_the_definition),
		cmocka_unit_test(crc_in_pieces),     cmocka_unit_test(crc_sees_every_bit),
		cmocka_unit_test(siphash_published), cmocka_unit_test(bytes_round_trip),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
