#include "host/roce/endpoint.h"

#include <stdlib.h>
#include <string.h>

#include "host/roce/frame.h"
#include "proto/rf_bytes.h"
#include "wire/arp.h"

#define QPS_MAX 4096u
#define ICMP_ECHO_REPLY 0
#define ICMP_ECHO_REQUEST 8

struct own_frame {
	uint32_t len;
	uint8_t bytes[ROCE_ENDPOINT_FRAME_BYTES];
};

struct roce_endpoint {
	struct roce_endpoint_cfg cfg;
	struct roce_endpoint_counters n;
	struct roce_qp **qps; /* served in this order */
	uint32_t count;
	uint32_t next; /* the next one to serve */
	/* Open addressing by QPN: at most half full, so a search ends at an empty place. */
	struct roce_qp **table;
	uint32_t mask;
	struct own_frame frames[ROCE_ENDPOINT_FRAMES];
	uint32_t frames_in; /* running counters */
	uint32_t frames_out;
};

int roce_endpoint_create(const struct roce_endpoint_cfg *cfg, struct roce_endpoint **out)
{
	struct roce_endpoint *ep;
	uint32_t places = 2;

	if (cfg->max_qps < 1 || cfg->max_qps > QPS_MAX || cfg->ip == 0 || (cfg->mac[0] & 1))
		return ROCE_E_INVALID;
	while (places < 2 * cfg->max_qps)
		places *= 2;
	ep = calloc(1, sizeof(*ep) + ((size_t)places + cfg->max_qps) * sizeof(struct roce_qp *));
	if (!ep)
		return ROCE_E_NO_MEMORY;
	ep->cfg = *cfg;
	ep->table = (struct roce_qp **)(void *)(ep + 1);
	ep->mask = places - 1;
	ep->qps = ep->table + places;
	*out = ep;
	return ROCE_OK;
}

void roce_endpoint_destroy(struct roce_endpoint *ep)
{
	free(ep);
}

/* The slot of a QPN: its own, or the free slot for it. */
static uint32_t place_of(const struct roce_endpoint *ep, uint32_t qpn)
{
	uint32_t at = (qpn * 0x9e3779b1u >> 12) & ep->mask;

	while (ep->table[at] && roce_qp_qpn(ep->table[at]) != qpn)
		at = (at + 1) & ep->mask;
	return at;
}

int roce_endpoint_add_qp(struct roce_endpoint *ep, struct roce_qp *qp)
{
	uint32_t at = place_of(ep, roce_qp_qpn(qp));

	if (ep->table[at])
		return ROCE_E_EXISTS;
	if (ep->count == ep->cfg.max_qps)
		return ROCE_E_AGAIN;
	ep->table[at] = qp;
	ep->qps[ep->count++] = qp;
	return ROCE_OK;
}

void roce_endpoint_remove_qp(struct roce_endpoint *ep, struct roce_qp *qp)
{
	uint32_t i = 0;

	while (i < ep->count && ep->qps[i] != qp)
		i++;
	if (i == ep->count)
		return;
	ep->count--;
	memmove(&ep->qps[i], &ep->qps[i + 1], (ep->count - i) * sizeof(ep->qps[0]));
	ep->next = 0;
	/* An empty slot would end searches early: rehash the entries after it. */
	memset(ep->table, 0, ((size_t)ep->mask + 1) * sizeof(ep->table[0]));
	for (i = 0; i < ep->count; i++)
		ep->table[place_of(ep, roce_qp_qpn(ep->qps[i]))] = ep->qps[i];
}

int roce_endpoint_send_frame(struct roce_endpoint *ep, const uint8_t *frame, size_t len)
{
	struct own_frame *f = &ep->frames[ep->frames_in % ROCE_ENDPOINT_FRAMES];

	if (len < RF_INET_ETH_BYTES || len > ROCE_ENDPOINT_FRAME_BYTES)
		return ROCE_E_INVALID;
	if (ep->frames_in - ep->frames_out == ROCE_ENDPOINT_FRAMES) {
		ep->n.frames_full++;
		return ROCE_E_AGAIN;
	}
	f->len = (uint32_t)len;
	memcpy(f->bytes, frame, len);
	ep->frames_in++;
	return ROCE_OK;
}

void roce_endpoint_set_box(struct roce_endpoint *ep, uint32_t box_ip)
{
	ep->cfg.box_ip = box_ip;
}

const struct roce_endpoint_counters *roce_endpoint_counters(const struct roce_endpoint *ep)
{
	return &ep->n;
}

static void rx_arp(struct roce_endpoint *ep, uint64_t now, const uint8_t *frame, size_t len)
{
	const struct roce_endpoint_callbacks *cb = &ep->cfg.callbacks;
	uint8_t reply[RF_INET_FRAME_MIN + RF_INET_VLAN_BYTES];
	struct rf_arp arp;

	if (rf_arp_parse(frame, len, &arp) == 0 || arp.target_ip != ep->cfg.ip ||
	    (arp.sender_mac[0] & 1)) {
		ep->n.rx_other_ip++;
		return;
	}
	ep->n.rx_arp++;
	/*
	 * A sender address of 0 asks whether our address is taken (RFC 5227): there is no neighbour
	 * to learn.
	 */
	if (cb->neighbour && arp.sender_ip != 0)
		cb->neighbour(cb->ctx, now, arp.sender_ip, arp.sender_mac);
	if (arp.op != 1)
		return;
	arp.op = 2;
	arp.target_ip = arp.sender_ip;
	memcpy(arp.target_mac, arp.sender_mac, 6);
	arp.sender_ip = ep->cfg.ip;
	memcpy(arp.sender_mac, ep->cfg.mac, 6);
	(void)roce_endpoint_send_frame(ep, reply, rf_arp_build(&arp, reply, sizeof(reply)));
}

/* Answers an echo request to us: the same bytes, addresses swapped (RFC 792). */
static void rx_icmp(struct roce_endpoint *ep, const uint8_t *frame, size_t len,
		    const struct roce_packet *p)
{
	uint8_t reply[ROCE_ENDPOINT_FRAME_BYTES];
	uint8_t *ip = reply + p->ip_offset;
	uint8_t *icmp = ip + RF_INET_IP_BYTES;
	size_t icmp_len = p->ip_length - RF_INET_IP_BYTES;

	if (len > sizeof(reply) || !p->ip_checksum_ok)
		return;
	memcpy(reply, frame, len);
	if (icmp[0] != ICMP_ECHO_REQUEST || icmp[1] != 0 ||
	    rf_inet_checksum(0, icmp, icmp_len) != 0)
		return;
	ep->n.rx_icmp++;
	memcpy(reply, p->src_mac, 6);
	memcpy(reply + 6, ep->cfg.mac, 6);
	rf_put_be32(ip + 12, p->dst_ip);
	rf_put_be32(ip + 16, p->src_ip);
	ip[8] = 64;
	rf_put_be16(ip + 10, 0);
	rf_put_be16(ip + 10, rf_inet_checksum(0, ip, RF_INET_IP_BYTES));
	icmp[0] = ICMP_ECHO_REPLY;
	rf_put_be16(icmp + 2, 0);
	rf_put_be16(icmp + 2, rf_inet_checksum(0, icmp, icmp_len));
	(void)roce_endpoint_send_frame(ep, reply, len);
}

/* Returns 1 if the frame was a datagram of the box. Its bytes may look like anything, even RoCE. */
static int rx_control(struct roce_endpoint *ep, uint64_t now, const uint8_t *frame, size_t len)
{
	const struct roce_endpoint_callbacks *cb = &ep->cfg.callbacks;
	struct roce_udp udp;

	if (roce_udp_parse(frame, len, &udp) != 0)
		return 0;
	if (udp.dport != ROCE_UDP_PORT && udp.sport != ROCE_UDP_PORT)
		return 0;
	ep->n.rx_control++;
	if (cb->control)
		cb->control(cb->ctx, now, &udp);
	return 1;
}

static void rx_roce(struct roce_endpoint *ep, uint64_t now, const uint8_t *frame,
		    const struct roce_packet *p)
{
	struct roce_qp *qp = ep->table[place_of(ep, p->qpn)];

	if (!p->ip_checksum_ok)
		ep->n.rx_ip_checksum++;
	else if (!roce_udp_checksum_ok(frame, p))
		ep->n.rx_udp_checksum++;
	else if (!roce_icrc_ok(frame, p))
		ep->n.rx_icrc++;
	else if (!qp)
		ep->n.rx_unknown_qpn++;
	else if (p->src_ip != roce_qp_peer(qp)->ip)
		ep->n.rx_wrong_source++;
	else {
		ep->n.rx_roce++;
		roce_qp_rx(qp, now, p);
	}
}

void roce_endpoint_rx(struct roce_endpoint *ep, uint64_t now, const uint8_t *frame, size_t len)
{
	struct roce_packet p;
	int error = roce_parse(frame, len, &p);

	ep->n.rx_frames++;
	ep->n.rx_bytes += len;
	if (error == ROCE_WIRE_RUNT) {
		ep->n.rx_wire[-error]++;
		return;
	}
	if (error == ROCE_WIRE_ARP) {
		rx_arp(ep, now, frame, len);
		return;
	}
	if (memcmp(p.dst_mac, ep->cfg.mac, 6) != 0) {
		ep->n.rx_other_mac++;
		return;
	}
	/* From ROCE_WIRE_NOT_UDP on the addresses are known. */
	if (error == ROCE_WIRE_OK || error <= ROCE_WIRE_NOT_UDP) {
		if (p.dst_ip != ep->cfg.ip) {
			ep->n.rx_other_ip++;
			return;
		}
		if (error == ROCE_WIRE_NOT_UDP && p.ip_proto == RF_INET_PROTO_ICMP) {
			rx_icmp(ep, frame, len, &p);
			return;
		}
		if (ep->cfg.box_ip != 0 && p.src_ip == ep->cfg.box_ip &&
		    rx_control(ep, now, frame, len))
			return;
	}
	ep->n.rx_wire[-error]++;
	if (error == ROCE_WIRE_OK)
		rx_roce(ep, now, frame, &p);
}

size_t roce_endpoint_tx(struct roce_endpoint *ep, uint64_t now, uint8_t *frame, size_t room)
{
	size_t len = 0;

	if (room < ROCE_FRAME_MAX)
		return 0;
	if (ep->frames_out != ep->frames_in) {
		const struct own_frame *f = &ep->frames[ep->frames_out++ % ROCE_ENDPOINT_FRAMES];

		len = f->len;
		memcpy(frame, f->bytes, len);
	}
	for (uint32_t i = 0; len == 0 && i < ep->count; i++) {
		struct roce_qp *qp = ep->qps[ep->next];

		ep->next = ep->next + 1 == ep->count ? 0 : ep->next + 1;
		len = roce_qp_tx(qp, now, frame, room);
	}
	if (len > 0) {
		ep->n.tx_frames++;
		ep->n.tx_bytes += len;
	}
	return len;
}

uint64_t roce_endpoint_next_timeout(const struct roce_endpoint *ep)
{
	uint64_t first = UINT64_MAX;

	for (uint32_t i = 0; i < ep->count; i++) {
		uint64_t t = roce_qp_next_timeout(ep->qps[i]);

		first = t < first ? t : first;
	}
	return first;
}
