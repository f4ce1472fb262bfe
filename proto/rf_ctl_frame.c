/* Ethernet, IPv4 and UDP around a control message. Sources: RFC 791, 768, 1071; IEEE 802.1Q. */
#include <string.h>

#include "proto/rf_bytes.h"
#include "proto/rf_ctl.h"
#include "proto/rf_inet.h"

#define ETHERTYPE_IPV4 0x0800u
#define ETHERTYPE_VLAN 0x8100u
#define PROTO_UDP 17u
#define IP_HEADER 20u
#define UDP_HEADER 8u

uint32_t rf_ctl_checksum(const uint8_t *p, size_t len, uint32_t sum)
{
	return rf_inet_sum(sum, p, len);
}

size_t rf_ctl_frame_put(uint8_t *frame, size_t room, const struct rf_ctl_addr *a,
			const uint8_t *msg, size_t len)
{
	size_t l2 = a->vlan == RF_CTL_NO_VLAN ? 14u : 18u;
	size_t total = l2 + IP_HEADER + UDP_HEADER + len;
	uint8_t *ip = frame + l2;
	uint8_t *udp = ip + IP_HEADER;

	if (len > RF_CTL_MESSAGE_MAX || total > room || room < RF_CTL_FRAME_MIN)
		return 0;
	memcpy(frame, a->dst_mac, 6);
	memcpy(frame + 6, a->src_mac, 6);
	if (a->vlan != RF_CTL_NO_VLAN) {
		rf_put_be16(frame + 12, ETHERTYPE_VLAN);
		rf_put_be16(frame + 14, a->vlan);
	}
	rf_put_be16(ip - 2, ETHERTYPE_IPV4);
	memset(ip, 0, IP_HEADER);
	ip[0] = 0x45;
	rf_put_be16(ip + 2, (uint16_t)(IP_HEADER + UDP_HEADER + len));
	rf_put_be16(ip + 6, 0x4000);
	ip[8] = 64;
	ip[9] = PROTO_UDP;
	rf_put_be32(ip + 12, a->src_ip);
	rf_put_be32(ip + 16, a->dst_ip);
	rf_put_be16(ip + 10, (uint16_t)~rf_ctl_checksum(ip, IP_HEADER, 0));
	rf_put_be16(udp, a->src_port);
	rf_put_be16(udp + 2, a->dst_port);
	rf_put_be16(udp + 4, (uint16_t)(UDP_HEADER + len));
	rf_put_be16(udp + 6, 0);
	if (msg != udp + UDP_HEADER)
		memcpy(udp + UDP_HEADER, msg, len);
	if (total < RF_CTL_FRAME_MIN) {
		memset(frame + total, 0, RF_CTL_FRAME_MIN - total);
		total = RF_CTL_FRAME_MIN;
	}
	return total;
}

static bool udp_checksum_ok(const uint8_t *ip, const uint8_t *udp, uint32_t udp_len)
{
	uint32_t sum;

	if (rf_get_be16(udp + 6) == 0)
		return true;
	sum = rf_ctl_checksum(ip + 12, 8, PROTO_UDP + udp_len);
	return rf_ctl_checksum(udp, udp_len, sum) == 0xffffu;
}

int rf_ctl_frame_get(const uint8_t *frame, size_t len, struct rf_ctl_addr *a, const uint8_t **msg,
		     size_t *msg_len)
{
	const uint8_t *ip = frame + 14;
	const uint8_t *udp;
	size_t total, udp_len;

	if (len < 14u + IP_HEADER + UDP_HEADER)
		return RF_CTL_FRAME_OTHER;
	a->vlan = RF_CTL_NO_VLAN;
	if (rf_get_be16(frame + 12) == ETHERTYPE_VLAN) {
		if (len < 18u + IP_HEADER + UDP_HEADER)
			return RF_CTL_FRAME_OTHER;
		a->vlan = rf_get_be16(frame + 14);
		ip += 4;
	}
	if (rf_get_be16(ip - 2) != ETHERTYPE_IPV4 || ip[0] != 0x45 || ip[9] != PROTO_UDP)
		return RF_CTL_FRAME_OTHER;
	if ((rf_get_be16(ip + 6) & 0x3fffu) != 0)
		return RF_CTL_FRAME_OTHER;
	udp = ip + IP_HEADER;
	/* a request goes to this port, an answer comes from it */
	if (rf_get_be16(udp + 2) != RF_CTL_UDP_PORT && rf_get_be16(udp) != RF_CTL_UDP_PORT)
		return RF_CTL_FRAME_OTHER;
	total = rf_get_be16(ip + 2);
	udp_len = rf_get_be16(udp + 4);
	if (total < IP_HEADER + UDP_HEADER || total > len - (size_t)(ip - frame) ||
	    udp_len != total - IP_HEADER)
		return RF_CTL_FRAME_LENGTH;
	if (rf_ctl_checksum(ip, IP_HEADER, 0) != 0xffffu)
		return RF_CTL_FRAME_CHECKSUM;
	if (!udp_checksum_ok(ip, udp, (uint32_t)udp_len))
		return RF_CTL_FRAME_CHECKSUM;
	memcpy(a->dst_mac, frame, 6);
	memcpy(a->src_mac, frame + 6, 6);
	a->src_ip = rf_get_be32(ip + 12);
	a->dst_ip = rf_get_be32(ip + 16);
	a->src_port = rf_get_be16(udp);
	a->dst_port = rf_get_be16(udp + 2);
	*msg = udp + UDP_HEADER;
	*msg_len = udp_len - UDP_HEADER;
	return RF_CTL_FRAME_OK;
}
