/*
 * CRC-32 of Ethernet and of the RoCEv2 ICRC: polynomial 0x04c11db7, bits reflected (0xedb88320).
 * Freestanding; no state of its own, so any thread may call it.
 *
 * The running state is the shift register itself, not inverted:
 *
 *	uint32_t s = RF_CRC32_INIT;
 *	s = rf_crc32_update(s, a, a_len);
 *	s = rf_crc32_update(s, b, b_len);
 *	rf_put_le32(fcs, rf_crc32_final(s));
 */
#ifndef RF_CRC32_H
#define RF_CRC32_H

#include <stddef.h>
#include <stdint.h>

/* State before the first byte. */
#define RF_CRC32_INIT 0xffffffffu

/*
 * State after eight bytes of 0xff: the initial state of the ICRC (IBTA annex A17.3.3, the masked
 * LRH).
 */
#define RF_CRC32_ICRC_INIT 0xdebb20e3u

/* State after `len` more bytes. `len` may be 0. */
uint32_t rf_crc32_update(uint32_t state, const void *data, size_t len);

/* The checksum that belongs to a state; on a wire its least significant byte comes first. */
static inline uint32_t rf_crc32_final(uint32_t state)
{
	return ~state;
}

/* Checksum of one buffer, as the Ethernet FCS ("123456789" gives 0xcbf43926). */
static inline uint32_t rf_crc32(const void *data, size_t len)
{
	return rf_crc32_final(rf_crc32_update(RF_CRC32_INIT, data, len));
}

#endif
