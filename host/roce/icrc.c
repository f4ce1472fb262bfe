/* The two checksums of a RoCEv2 packet: the invariant CRC, and that of UDP. */
#include <string.h>

#include "host/roce/crc.h"
#include "host/roce/wire.h"
#include "proto/rf_bytes.h"
#include "proto/rf_crc32.h"

/* IPv4, UDP and BTH: all headers with masked bytes. */
#define MASKED_BYTES 40u

uint32_t roce_icrc(const uint8_t *ip, size_t len)
{
	uint8_t head[MASKED_BYTES];
	uint32_t s;

	memcpy(head, ip, MASKED_BYTES);
	head[1] = 0xff;  /* TOS */
	head[8] = 0xff;  /* TTL */
	head[10] = 0xff; /* IP checksum */
	head[11] = 0xff;
	head[26] = 0xff; /* UDP checksum */
	head[27] = 0xff;
	head[32] = 0xff; /* FECN, BECN, reserved */
	s = roce_crc32_update(RF_CRC32_ICRC_INIT, head, MASKED_BYTES);
	s = roce_crc32_update(s, ip + MASKED_BYTES, len - MASKED_BYTES);
	return rf_crc32_final(s);
}

int roce_icrc_ok(const uint8_t *frame, const struct roce_packet *p)
{
	uint32_t want = roce_icrc(frame + p->ip_offset, p->icrc_offset - p->ip_offset);

	return rf_get_le32(frame + p->icrc_offset) == want;
}

void roce_icrc_write(uint8_t *frame, const struct roce_packet *p)
{
	uint32_t icrc = roce_icrc(frame + p->ip_offset, p->icrc_offset - p->ip_offset);

	rf_put_le32(frame + p->icrc_offset, icrc);
}

int roce_udp_checksum_ok(const uint8_t *frame, const struct roce_packet *p)
{
	return rf_inet_udp_sum_ok(frame + p->ip_offset, p->udp_length);
}
