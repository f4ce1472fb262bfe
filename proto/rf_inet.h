/*
 * The Internet checksum (RFC 1071), for host, firmware and simulator. Freestanding. The model
 * (sim/model/parse.c) and the frame checkers compute it themselves, because they check this one.
 */
#ifndef RF_INET_H
#define RF_INET_H

#include <stddef.h>
#include <stdint.h>

#include "proto/rf_bytes.h"

/*
 * The one's complement sum of `sum` and len bytes, at most 65535, in 16 bits. A buffer that
 * contains its own checksum sums up to 0xffff.
 */
static inline uint32_t rf_inet_sum(uint32_t sum, const uint8_t *p, size_t len)
{
	size_t i;

	for (i = 0; i + 1u < len; i += 2u)
		sum += rf_get_be16(p + i);
	if (i < len)
		sum += (uint32_t)p[i] << 8;
	while (sum >> 16)
		sum = (sum & 0xffffu) + (sum >> 16);
	return sum;
}

#endif
