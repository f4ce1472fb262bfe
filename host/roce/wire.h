/*
 * RoCEv2 frames over IPv4: parse, build, ICRC.
 *
 * A frame is what the MAC hands over: from the destination MAC to the end, without FCS. Sources:
 * IBTA specification volume 1, chapter 9 (BTH, RETH, AETH, ImmDt) and annex A17 (RoCEv2).
 *
 * All numbers in the structs are in host byte order. Nothing here allocates, keeps state or reads
 * past the length that it is given, whatever the bytes are.
 */
#ifndef ROCE_WIRE_H
#define ROCE_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/rf_inet.h"

#define ROCE_UDP_PORT 4791u
#define ROCE_PSN_MASK 0xffffffu
#define ROCE_MTU_MIN 256u
#define ROCE_MTU_MAX 4096u
/*
 * Maximum header bytes before the payload: Ethernet 14, VLAN 4, IPv4 20, UDP 8, BTH 12, RETH 16,
 * ImmDt 4.
 */
#define ROCE_HEADERS_MAX 78u
/* Longest frame of SEND or WRITE: ROCE_HEADERS_MAX, payload, ICRC. */
#define ROCE_FRAME_MAX (ROCE_HEADERS_MAX + ROCE_MTU_MAX + 4u)

/* Opcodes of the reliable connection (IBTA table 38), and the congestion notification packet. */
enum roce_opcode {
	ROCE_OP_SEND_FIRST = 0x00,
	ROCE_OP_SEND_MIDDLE = 0x01,
	ROCE_OP_SEND_LAST = 0x02,
	ROCE_OP_SEND_LAST_IMM = 0x03,
	ROCE_OP_SEND_ONLY = 0x04,
	ROCE_OP_SEND_ONLY_IMM = 0x05,
	ROCE_OP_WRITE_FIRST = 0x06,
	ROCE_OP_WRITE_MIDDLE = 0x07,
	ROCE_OP_WRITE_LAST = 0x08,
	ROCE_OP_WRITE_LAST_IMM = 0x09,
	ROCE_OP_WRITE_ONLY = 0x0a,
	ROCE_OP_WRITE_ONLY_IMM = 0x0b,
	ROCE_OP_READ_REQUEST = 0x0c,
	ROCE_OP_READ_FIRST = 0x0d,
	ROCE_OP_READ_MIDDLE = 0x0e,
	ROCE_OP_READ_LAST = 0x0f,
	ROCE_OP_READ_ONLY = 0x10,
	ROCE_OP_ACK = 0x11,
	ROCE_OP_CNP = 0x81,
};

/* Properties of an opcode: flags of roce_opcode_flags(). */
#define ROCE_F_KNOWN 0x001u
#define ROCE_F_SEND 0x002u
#define ROCE_F_WRITE 0x004u
#define ROCE_F_READ_REQUEST 0x008u
#define ROCE_F_READ_RESPONSE 0x010u
#define ROCE_F_ACK 0x020u
#define ROCE_F_START 0x040u /* first or only packet of its message */
#define ROCE_F_END 0x080u   /* last or only packet of its message */
#define ROCE_F_RETH 0x100u
#define ROCE_F_AETH 0x200u
#define ROCE_F_IMM 0x400u

/* Flags of an opcode; 0 if it is not in enum roce_opcode. */
unsigned int roce_opcode_flags(uint8_t opcode);

/* Name such as "SEND_FIRST"; "unknown" for the rest. Static text. */
const char *roce_opcode_name(uint8_t opcode);

/* AETH syndromes (IBTA tables 44, 45). RNR NAK is ROCE_SYN_RNR | timer code (0..31). */
#define ROCE_SYN_ACK 0x1fu /* no credit limit */
#define ROCE_SYN_RNR 0x20u
#define ROCE_SYN_NAK_SEQUENCE 0x60u
#define ROCE_SYN_NAK_INVALID_REQUEST 0x61u
#define ROCE_SYN_NAK_REMOTE_ACCESS 0x62u
#define ROCE_SYN_NAK_REMOTE_OPERATION 0x63u

/*
 * Why a frame is not a RoCE packet, in the order of the checks. The order and the causes are those
 * of docs/box.md. The comments list which members of struct roce_packet are valid.
 */
enum roce_wire_error {
	ROCE_WIRE_OK = 0,
	/* MAC addresses, if the frame has at least 14 bytes, and ethertype. */
	ROCE_WIRE_RUNT = -1,      /* shorter than 60 bytes */
	ROCE_WIRE_TWO_TAGS = -2,  /* 88a8, or two tags */
	ROCE_WIRE_ARP = -3,       /* not an error of the frame: see rf_arp_parse() */
	ROCE_WIRE_IPV6 = -4,      /* IPv6 */
	ROCE_WIRE_ETHERTYPE = -5, /* neither ARP nor IP */
	ROCE_WIRE_IP_VERSION = -6,
	ROCE_WIRE_IP_OPTIONS = -7,
	/* Also every member of the IP header. */
	ROCE_WIRE_IP_FRAGMENT = -8,
	ROCE_WIRE_MULTICAST = -9, /* IPv4 to a MAC with the group bit */
	ROCE_WIRE_IP_LENGTH = -10,
	ROCE_WIRE_NOT_UDP = -11,
	/* Also every member of the UDP header. */
	ROCE_WIRE_UDP_PORT = -12,   /* destination port is not 4791 */
	ROCE_WIRE_UDP_LENGTH = -13, /* not the IP length less 20, or too short for BTH and ICRC */
	/* Also every member of the BTH and icrc_offset; payload is everything after the BTH. */
	ROCE_WIRE_OPCODE = -14,  /* not in enum roce_opcode */
	ROCE_WIRE_HEADERS = -15, /* shorter than the headers of its opcode */
	ROCE_WIRE_PAYLOAD = -16, /* padded payload not a multiple of 4, or shorter than its pad */
	ROCE_WIRE_ERRORS = 17,   /* number of values, for arrays indexed by -error */
};

/* Text of a cause, for statistics ("ip_options"). Static. */
const char *roce_wire_error_name(int error);

/*
 * One packet. In a parsed packet `payload` points into the frame; in one to be built it points to
 * the caller's bytes.
 */
struct roce_packet {
	/* Ethernet */
	uint8_t dst_mac[6];
	uint8_t src_mac[6];
	bool has_vlan;
	uint16_t vlan_tci;
	uint16_t ethertype; /* after the tag; parse only */
	/* IPv4 */
	uint8_t tos;
	uint8_t ttl;
	uint8_t ip_proto; /* parse only */
	uint16_t ip_id;
	uint16_t ip_flags;  /* flags and fragment offset as on the wire: 0x4000 is "do not fragment"
			     */
	uint16_t ip_length; /* parse only */
	bool ip_checksum_ok; /* parse only; a wrong one is not a parse error */
	uint32_t src_ip;
	uint32_t dst_ip;
	/* UDP */
	uint16_t udp_sport;
	uint16_t udp_dport;    /* parse only */
	uint16_t udp_length;   /* parse only */
	uint16_t udp_checksum; /* as on the wire; build writes it as given, RoCE uses 0 */
	/* BTH */
	uint8_t opcode;
	bool se;
	bool migreq;
	uint8_t pad; /* parse only: build derives it from payload_len */
	uint8_t tver;
	uint16_t pkey;
	bool fecn;
	bool becn;
	uint8_t reserved6; /* six reserved bits after BECN */
	uint32_t qpn;
	bool ackreq;
	uint8_t reserved7; /* seven reserved bits after AckReq */
	uint32_t psn;
	/* RETH, AETH, ImmDt: valid if the opcode has them */
	uint64_t va;
	uint32_t rkey;
	uint32_t dma_length;
	uint8_t syndrome;
	uint32_t msn;
	uint32_t imm;
	/* Payload without pad */
	const uint8_t *payload;
	uint32_t payload_len;
	/* Parse only: offsets in the frame */
	uint32_t ip_offset;      /* 14 or 18 */
	uint32_t payload_offset; /* first byte after the headers */
	uint32_t icrc_offset;    /* end of the padded payload; the packet ends 4 bytes later */
};

/*
 * Parses a frame of `len` bytes. Ethernet padding after the packet is allowed only in frames of 60
 * bytes. Does not check the ICRC. Returns ROCE_WIRE_OK or the cause. *p is always written: the
 * members listed for that error in the enum, zero for the rest.
 */
int roce_parse(const uint8_t *frame, size_t len, struct roce_packet *p);

/*
 * Writes the frame of a packet: headers by opcode, payload, zero pad, ICRC, zeroes up to 60 bytes.
 * Lengths, pad, IP checksum and ICRC are computed. Returns the length of the frame, or 0 if it is
 * longer than `room` or the payload longer than 2^14. An unknown opcode gets the BTH as its only
 * header.
 */
size_t roce_build(const struct roce_packet *p, uint8_t *frame, size_t room);

/*
 * The ICRC (annex A17.3.3) of a packet whose IPv4 header begins at ip[0] and whose ICRC stands at
 * ip[len]; len counts IP header to padded payload, at least 40. Bytes that a network may change
 * (TOS, TTL, both checksums, FECN/BECN) are taken as 0xff. On the wire: least significant byte
 * first.
 */
uint32_t roce_icrc(const uint8_t *ip, size_t len);

/*
 * 1 if the ICRC of a frame is correct; `p` is roce_parse()'s result for that frame (icrc_offset
 * set).
 */
int roce_icrc_ok(const uint8_t *frame, const struct roce_packet *p);

/* Recomputes the ICRC of a frame after it was changed. */
void roce_icrc_write(uint8_t *frame, const struct roce_packet *p);

/* 1 if the UDP checksum is 0 (none) or correct. */
int roce_udp_checksum_ok(const uint8_t *frame, const struct roce_packet *p);

/* Any other UDP datagram over IPv4 (control packets to and from the box use port 4791 too). */
struct roce_udp {
	uint8_t dst_mac[6];
	uint8_t src_mac[6];
	bool has_vlan;
	uint16_t vlan_tci;
	uint32_t src_ip;
	uint32_t dst_ip;
	uint16_t sport;
	uint16_t dport;
	const uint8_t *data;
	uint32_t len;
};

/*
 * Writes the frame (TTL 64, checksum 0, padded to 60). Returns its length, or 0 if longer than
 * `room`.
 */
size_t roce_udp_build(const struct roce_udp *u, uint8_t *frame, size_t room);

/*
 * Parses a UDP datagram to any port. Returns 0 or an enum roce_wire_error. `data` points into the
 * frame. The IP header checksum must be correct, and the UDP checksum correct or 0 (otherwise
 * ROCE_WIRE_IP_LENGTH or ROCE_WIRE_UDP_LENGTH).
 */
int roce_udp_parse(const uint8_t *frame, size_t len, struct roce_udp *u);

#endif
