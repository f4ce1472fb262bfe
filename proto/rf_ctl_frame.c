/* Ethernet, IPv4 and UDP around a control message. */
#include <string.h>

#include "proto/rf_bytes.h"
#include "proto/rf_ctl.h"
#include "proto/rf_inet.h"

#define HEADERS (RF_INET_IP_BYTES + RF_INET_UDP_BYTES)

uint32_t rf_ctl_checksum(const uint8_t *p, size_t len, uint32_t sum)
{
	return rf_inet_sum(sum, p, len);
}

size_t rf_ctl_frame_put(uint8_t *frame, size_t room, const struct rf_ctl_addr *a,
			const uint8_t *msg, size_t len)
{
	struct rf_inet_ip ip = {.length = (uint16_t)(HEADERS + len),
				.flags = RF_INET_DONT_FRAGMENT,
				.ttl = 64,
				.proto = RF_INET_PROTO_UDP,
				.src = a->src_ip,
				.dst = a->dst_ip};
	struct rf_inet_udp udp = {.src = a->src_port,
				  .dst = a->dst_port,
				  .length = (uint16_t)(RF_INET_UDP_BYTES + len)};
	uint8_t *at;

	if (len > RF_CTL_MESSAGE_MAX || rf_ctl_frame_head(a->vlan) + len > room ||
	    room < RF_CTL_FRAME_MIN)
		return 0;
	at = frame + rf_inet_eth_put(frame, a->dst_mac, a->src_mac, a->vlan != RF_CTL_NO_VLAN,
				     a->vlan, RF_INET_TYPE_IPV4);
	rf_inet_ip_put(at, &ip);
	rf_inet_udp_put(at + RF_INET_IP_BYTES, &udp);
	at += HEADERS;
	if (msg != at)
		memcpy(at, msg, len);
	return rf_inet_pad(frame, (size_t)(at - frame) + len);
}

int rf_ctl_frame_get(const uint8_t *frame, size_t len, struct rf_ctl_addr *a, const uint8_t **msg,
		     size_t *msg_len)
{
	struct rf_inet_udp udp;
	struct rf_inet_ip ip;
	uint16_t type, tci;
	const uint8_t *at;
	bool tagged;
	size_t l2;

	if (len < RF_INET_ETH_BYTES + HEADERS)
		return RF_CTL_FRAME_OTHER;
	l2 = rf_inet_eth_get(frame, len, &tagged, &tci, &type);
	if (len < l2 + HEADERS)
		return RF_CTL_FRAME_OTHER;
	at = frame + l2;
	rf_inet_ip_get(at, &ip);
	if (type != RF_INET_TYPE_IPV4 || at[0] != RF_INET_VERSION_LENGTH ||
	    ip.proto != RF_INET_PROTO_UDP || (ip.flags & RF_INET_FRAGMENT) != 0)
		return RF_CTL_FRAME_OTHER;
	rf_inet_udp_get(at + RF_INET_IP_BYTES, &udp);
	/* a request goes to this port, an answer comes from it */
	if (udp.dst != RF_CTL_UDP_PORT && udp.src != RF_CTL_UDP_PORT)
		return RF_CTL_FRAME_OTHER;
	if (ip.length < HEADERS || ip.length > len - l2 ||
	    udp.length != ip.length - RF_INET_IP_BYTES)
		return RF_CTL_FRAME_LENGTH;
	if (!rf_inet_ip_sum_ok(at) || !rf_inet_udp_sum_ok(at, udp.length))
		return RF_CTL_FRAME_CHECKSUM;
	*a = (struct rf_ctl_addr){.vlan = tagged ? tci : RF_CTL_NO_VLAN,
				  .src_ip = ip.src,
				  .dst_ip = ip.dst,
				  .src_port = udp.src,
				  .dst_port = udp.dst};
	memcpy(a->dst_mac, frame, 6);
	memcpy(a->src_mac, frame + 6, 6);
	*msg = at + HEADERS;
	*msg_len = udp.length - RF_INET_UDP_BYTES;
	return RF_CTL_FRAME_OK;
}
