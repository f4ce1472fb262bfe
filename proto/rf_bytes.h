/*
 * Loads and stores of fixed byte order at any alignment. Freestanding.
 *
 * Code in this tree never casts received bytes to a struct: it reads fields one at a time with
 * these functions.
 */
#ifndef RF_BYTES_H
#define RF_BYTES_H

#include <stdint.h>

static inline uint16_t rf_get_be16(const uint8_t *p)
{
	return (uint16_t)((unsigned int)p[0] << 8 | p[1]);
}

static inline uint32_t rf_get_be24(const uint8_t *p)
{
	return (uint32_t)p[0] << 16 | (uint32_t)p[1] << 8 | p[2];
}

static inline uint32_t rf_get_be32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static inline uint64_t rf_get_be64(const uint8_t *p)
{
	return (uint64_t)rf_get_be32(p) << 32 | rf_get_be32(p + 4);
}

static inline uint16_t rf_get_le16(const uint8_t *p)
{
	return (uint16_t)((unsigned int)p[1] << 8 | p[0]);
}

static inline uint32_t rf_get_le32(const uint8_t *p)
{
	return (uint32_t)p[3] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[1] << 8 | p[0];
}

/*
 * The same for p a multiple of 4: a single load or store, also on little-endian processors without
 * unaligned access.
 */
static inline uint32_t rf_get_le32_aligned(const uint8_t *p)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	uint32_t v;

	__builtin_memcpy(&v, __builtin_assume_aligned(p, 4), sizeof(v));
	return v;
#else
	return rf_get_le32(p);
#endif
}

static inline uint64_t rf_get_le64(const uint8_t *p)
{
	return (uint64_t)rf_get_le32(p + 4) << 32 | rf_get_le32(p);
}

static inline void rf_put_be16(uint8_t *p, uint16_t v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

/* Stores the low 24 bits of v. */
static inline void rf_put_be24(uint8_t *p, uint32_t v)
{
	p[0] = (uint8_t)(v >> 16);
	p[1] = (uint8_t)(v >> 8);
	p[2] = (uint8_t)v;
}

static inline void rf_put_be32(uint8_t *p, uint32_t v)
{
	p[0] = (uint8_t)(v >> 24);
	p[1] = (uint8_t)(v >> 16);
	p[2] = (uint8_t)(v >> 8);
	p[3] = (uint8_t)v;
}

static inline void rf_put_be64(uint8_t *p, uint64_t v)
{
	rf_put_be32(p, (uint32_t)(v >> 32));
	rf_put_be32(p + 4, (uint32_t)v);
}

static inline void rf_put_le16(uint8_t *p, uint16_t v)
{
	p[0] = (uint8_t)v;
	p[1] = (uint8_t)(v >> 8);
}

static inline void rf_put_le32(uint8_t *p, uint32_t v)
{
	p[0] = (uint8_t)v;
	p[1] = (uint8_t)(v >> 8);
	p[2] = (uint8_t)(v >> 16);
	p[3] = (uint8_t)(v >> 24);
}

static inline void rf_put_le32_aligned(uint8_t *p, uint32_t v)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	__builtin_memcpy(__builtin_assume_aligned(p, 4), &v, sizeof(v));
#else
	rf_put_le32(p, v);
#endif
}

static inline void rf_put_le64(uint8_t *p, uint64_t v)
{
	rf_put_le32(p, (uint32_t)v);
	rf_put_le32(p + 4, (uint32_t)(v >> 32));
}

#endif
