/* How a message is cut into packets. */
#ifndef RF_BASE_PACKETS_H
#define RF_BASE_PACKETS_H

#include <stdint.h>

/* Packets of a message of len bytes; an empty message is one packet. */
static inline uint32_t rf_packets_of(uint32_t len, uint32_t mtu)
{
	return len == 0 ? 1 : (len - 1) / mtu + 1;
}

#endif
