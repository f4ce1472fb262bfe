/* Fields of frames: addresses, the IP checksum, the ICRC. */
#include <string.h>

#include "proto/rf_bytes.h"
#include "proto/rf_crc32.h"
#include "soft/internal.h"

#ifdef SOFT_ISAL
#include <isa-l/crc.h>
#endif

uint64_t soft_get_mac(const uint8_t *p)
{
	return (uint64_t)rf_get_be16(p) << 32 | rf_get_be32(p + 2);
}

void soft_put_mac(uint8_t *p, uint64_t mac)
{
	rf_put_be16(p, (uint16_t)(mac >> 32));
	rf_put_be32(p + 2, (uint32_t)mac);
}

/* One's complement: the order of the bytes does not matter until the end. */
uint32_t soft_ip_sum(const uint8_t *ip)
{
	uint32_t sum = 0, k;

	for (k = 0; k < 20; k += 2)
		sum += rf_get_be16(ip + k);
	sum = (sum >> 16) + (sum & 0xffff);
	return (sum >> 16) + (sum & 0xffff);
}

void soft_ip_seal(uint8_t *ip)
{
	rf_put_be16(ip + 10, 0);
	rf_put_be16(ip + 10, (uint16_t)~soft_ip_sum(ip));
}

static uint32_t crc(uint32_t state, const uint8_t *p, size_t len)
{
#ifdef SOFT_ISAL
	/* It takes and returns the inverted register. */
	return ~crc32_gzip_refl(~state, p, len);
#else
	return rf_crc32_update(state, p, len);
#endif
}

/*
 * Fields that change on the way count as ones. They are set in the packet itself and restored, so
 * that one call covers all of it: short pieces cost more than their bytes.
 */
uint32_t soft_icrc(uint8_t *ip, unsigned int length)
{
	uint8_t tos = ip[1], ttl = ip[8], bth4 = ip[32];
	uint8_t sums[4] = {ip[10], ip[11], ip[26], ip[27]};
	uint32_t state;

	ip[1] = ip[8] = ip[32] = 0xff;
	memset(ip + 10, 0xff, 2);
	memset(ip + 26, 0xff, 2);
	state = crc(RF_CRC32_ICRC_INIT, ip, length - 4u);
	ip[1] = tos;
	ip[8] = ttl;
	ip[32] = bth4;
	memcpy(ip + 10, sums, 2);
	memcpy(ip + 26, sums + 2, 2);
	return rf_crc32_final(state);
}

bool soft_icrc_right(const struct soft_head *h)
{
	uint8_t *ip = h->bytes + h->l2;

	return rf_get_le32(ip + h->ip_length - 4) == soft_icrc(ip, h->ip_length);
}

void soft_seal(uint8_t *ip, unsigned int length)
{
	rf_put_be16(ip + 26, 0);
	rf_put_le32(ip + length - 4, soft_icrc(ip, length));
}

void soft_turn_back(const struct soft_conn *c, uint8_t *frame, unsigned int l2)
{
	uint8_t *ip = frame + l2, swap[4];

	soft_put_mac(frame, c->mac);
	memcpy(swap, ip + 12, 4);
	memcpy(ip + 12, ip + 16, 4);
	memcpy(ip + 16, swap, 4);
	ip[8] = 64;
	soft_ip_seal(ip);
}
