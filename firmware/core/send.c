/* Frames to be sent: each port has one inject buffer. */
#include <string.h>

#include "firmware/core/internal.h"
#include "proto/rf_bytes.h"
#include "proto/rf_inet.h"

/* Longest time in ms that an inject buffer may be busy. */
#define BUSY_MS 2u

/*
 * Whether an answer can be sent on a port now. The firmware never spins on the hardware; the caller
 * tries again later. If a port's inject buffer stays busy for BUSY_MS, frames are still read, but
 * answers on that port are dropped. Each port has its own buffer.
 */
static bool can_send(struct rf_fw *fw, unsigned int port)
{
	if (!(rf_fw_read(fw, RF_INJECT_STATUS) & 1u << port)) {
		fw->busy_since[port] = RF_FW_NEVER;
		return true;
	}
	if (fw->busy_since[port] == RF_FW_NEVER)
		fw->busy_since[port] = fw->now_ms;
	return false;
}

static bool stuck(const struct rf_fw *fw, unsigned int port)
{
	return fw->busy_since[port] != RF_FW_NEVER && fw->now_ms - fw->busy_since[port] > BUSY_MS;
}

/* Whether frames to be answered on a port must wait. */
bool rf_fw_must_wait(struct rf_fw *fw, unsigned int port)
{
	if (port >= fw->ports || can_send(fw, port) || stuck(fw, port))
		return false;
	fw->held = true;
	return true;
}

/* Sends fw->tx on a port, or drops it. */
bool rf_fw_inject(struct rf_fw *fw, unsigned int port, size_t len)
{
	while (len < RF_CTL_FRAME_MIN)
		fw->tx[len++] = 0;
	if (stuck(fw, port)) {
		fw->cnt.inject_busy++;
		return false;
	}
	memset(fw->tx + len, 0, (4u - (len & 3u)) & 3u);
	for (uint32_t i = 0; i < len; i += 4u)
		rf_fw_write(fw, RF_INJECT_DATA + i, rf_get_le32_aligned(fw->tx + i));
	rf_fw_write(fw, RF_INJECT, (uint32_t)len | (uint32_t)port << RF_INJECT_PORT_LSB);
	return true;
}

bool rf_fw_send_arp(struct rf_fw *fw, unsigned int port, const struct rf_fw_arp *q)
{
	uint8_t *a = fw->tx + RF_INET_ETH_BYTES;

	if (!can_send(fw, port) && !stuck(fw, port))
		return false;
	memset(fw->tx, 0xff, RF_CTL_MAC_BYTES);
	/* The hardware sets the source MAC. */
	memset(fw->tx + RF_CTL_MAC_BYTES, 0, RF_CTL_MAC_BYTES);
	rf_put_be16(fw->tx + 2u * RF_CTL_MAC_BYTES, RF_INET_TYPE_ARP);
	rf_put_be32(a, 0x00010800u);
	rf_put_be16(a + 4, 0x0604u);
	rf_put_be16(a + 6, (uint16_t)q->op);
	memcpy(a + 8, q->sender_mac, RF_CTL_MAC_BYTES);
	rf_put_be32(a + 14, q->sender_ip);
	memset(a + 18, 0, RF_CTL_MAC_BYTES);
	rf_put_be32(a + 24, q->target_ip);
	rf_fw_inject(fw, port, RF_INET_ETH_BYTES + RF_FW_ARP_BYTES);
	return true;
}
