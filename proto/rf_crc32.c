#include "proto/rf_crc32.h"

#include "proto/rf_bytes.h"

/*
 * table[k][b] is the state after byte b and k zero bytes, from state 0. The CRC is linear, so an
 * entry is the XOR of the entries of its single bits. Eight constants (bits 0 to 7 of row k) define
 * a row, and the compiler computes the table.
 */
#define ENTRY(b, c0, c1, c2, c3, c4, c5, c6, c7)                                                   \
	((((b)&1) ? (c0) : 0) ^ (((b)&2) ? (c1) : 0) ^ (((b)&4) ? (c2) : 0) ^                      \
	 (((b)&8) ? (c3) : 0) ^ (((b)&16) ? (c4) : 0) ^ (((b)&32) ? (c5) : 0) ^                    \
	 (((b)&64) ? (c6) : 0) ^ (((b)&128) ? (c7) : 0))
#define ROW4(b, ...)                                                                               \
	ENTRY(b, __VA_ARGS__), ENTRY((b) + 1, __VA_ARGS__), ENTRY((b) + 2, __VA_ARGS__),           \
		ENTRY((b) + 3, __VA_ARGS__)
#define ROW16(b, ...)                                                                              \
	ROW4(b, __VA_ARGS__), ROW4((b) + 4, __VA_ARGS__), ROW4((b) + 8, __VA_ARGS__),              \
		ROW4((b) + 12, __VA_ARGS__)
#define ROW64(b, ...)                                                                              \
	ROW16(b, __VA_ARGS__), ROW16((b) + 16, __VA_ARGS__), ROW16((b) + 32, __VA_ARGS__),         \
		ROW16((b) + 48, __VA_ARGS__)
#define ROW(...)                                                                                   \
	{                                                                                          \
		ROW64(0, __VA_ARGS__), ROW64(64, __VA_ARGS__), ROW64(128, __VA_ARGS__),            \
			ROW64(192, __VA_ARGS__)                                                    \
	}

static const uint32_t table[8][256] = {
	ROW(0x77073096u, 0xee0e612cu, 0x076dc419u, 0x0edb8832u, 0x1db71064u, 0x3b6e20c8u,
	    0x76dc4190u, 0xedb88320u),
	ROW(0x191b3141u, 0x32366282u, 0x646cc504u, 0xc8d98a08u, 0x4ac21251u, 0x958424a2u,
	    0xf0794f05u, 0x3b83984bu),
	ROW(0x01c26a37u, 0x0384d46eu, 0x0709a8dcu, 0x0e1351b8u, 0x1c26a370u, 0x384d46e0u,
	    0x709a8dc0u, 0xe1351b80u),
	ROW(0xb8bc6765u, 0xaa09c88bu, 0x8f629757u, 0xc5b428efu, 0x5019579fu, 0xa032af3eu,
	    0x9b14583du, 0xed59b63bu),
	ROW(0x3d6029b0u, 0x7ac05360u, 0xf580a6c0u, 0x30704bc1u, 0x60e09782u, 0xc1c12f04u,
	    0x58f35849u, 0xb1e6b092u),
	ROW(0xcb5cd3a5u, 0x4dc8a10bu, 0x9b914216u, 0xec53826du, 0x03d6029bu, 0x07ac0536u,
	    0x0f580a6cu, 0x1eb014d8u),
	ROW(0xa6770bb4u, 0x979f1129u, 0xf44f2413u, 0x33ef4e67u, 0x67de9cceu, 0xcfbd399cu,
	    0x440b7579u, 0x8816eaf2u),
	ROW(0xccaa009eu, 0x4225077du, 0x844a0efau, 0xd3e51bb5u, 0x7cbb312bu, 0xf9766256u,
	    0x299dc2edu, 0x533b85dau),
};

uint32_t rf_crc32_update(uint32_t state, const void *data, size_t len)
{
	const uint8_t *p = data;

	for (; len >= 8; p += 8, len -= 8) {
		uint32_t a = rf_get_le32(p) ^ state;
		uint32_t b = rf_get_le32(p + 4);

		state = table[7][a & 0xff] ^ table[6][a >> 8 & 0xff] ^ table[5][a >> 16 & 0xff] ^
			table[4][a >> 24] ^ table[3][b & 0xff] ^ table[2][b >> 8 & 0xff] ^
			table[1][b >> 16 & 0xff] ^ table[0][b >> 24];
	}
	for (; len > 0; p++, len--)
		state = state >> 8 ^ table[0][(state ^ *p) & 0xff];
	return state;
}
