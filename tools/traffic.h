/*
 * The traffic of an open-loop run: what `ringfold gen` writes, `ringfold ctl join` registers and
 * `ringfold check` expects. Everything follows from the plan. The plan is stored as
 * DIR/traffic.json, the sums as DIR/expected.bin (messages one after another, without pad bytes),
 * the foreign frames as DIR/foreign.pcap.
 */
#ifndef RF_TOOLS_TRAFFIC_H
#define RF_TOOLS_TRAFFIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/collective/arith.h"
#include "host/roce/wire.h"

#define TRAFFIC_RANKS_MAX 128u
#define TRAFFIC_PORTS_MAX 8u
/* QPNs of foreign traffic: this plus the number of the sending rank. */
#define TRAFFIC_FOREIGN_QPN 0x900000u

/* Kinds of invalid or surplus frames, sent between the valid ones, that must not change any sum. */
enum traffic_fault {
	TRAFFIC_DUPLICATE, /* a repeat of an earlier packet */
	TRAFFIC_ICRC,      /* the next packet with a bit flipped, sent before the valid one */
	TRAFFIC_SOURCE,    /* the next packet from an address that is not the rank's */
	TRAFFIC_RUNT,      /* ... cut to 59 bytes */
	TRAFFIC_IPV6,      /* IPv6, multicast: a switch floods it to all its ports */
	TRAFFIC_OPTIONS,   /* an IPv4 option between IP and UDP */
	TRAFFIC_FRAGMENT,  /* marked as a fragment */
	TRAFFIC_CHECKSUM,  /* a flipped bit in the checksum of the IPv4 header */
	TRAFFIC_TAGS,      /* two VLAN tags, broadcast: a switch floods it to all its ports */
	TRAFFIC_MULTICAST, /* to a MAC with the group bit */
	TRAFFIC_START,     /* an index before the start PSN */
	TRAFFIC_FAULTS
};

struct traffic_rank {
	uint8_t mac[6];
	uint32_t ip;
	uint32_t qpn;       /* own QPN of the connection to the successor */
	uint32_t recv_qpn;  /* QPN on which the predecessor's data arrives */
	uint32_t start_psn; /* PSN of index 0 as sent */
	uint16_t sport;
	struct rf_place place;
};

struct traffic_plan {
	uint64_t seed;
	uint64_t job;
	unsigned int ports;
	unsigned int ranks;
	unsigned int mtu;
	enum rf_arith_type type;
	enum rf_arith_op op;
	bool write;
	bool imm;
	int vlan; /* VLAN id, -1: no tag */
	uint32_t shift;
	uint64_t message_bytes;
	uint64_t messages;
	uint64_t foreign; /* frames of no group in the files */
	uint64_t fault[TRAFFIC_FAULTS];
	struct traffic_rank rank[TRAFFIC_RANKS_MAX];
};

/* Derives addresses, QPNs, PSNs and places of the ranks from the rest of the plan. */
void traffic_plan_ranks(struct traffic_plan *plan);

/* Number of packets of one message and of the whole run, per rank. */
uint64_t traffic_message_packets(const struct traffic_plan *plan);
uint64_t traffic_packets(const struct traffic_plan *plan);

/* Offset of packet `index` in the vector of all messages, and its length without pad. */
void traffic_span(const struct traffic_plan *plan, uint64_t index, uint64_t *offset, uint32_t *len);

/* The opcode of packet `index`. */
uint8_t traffic_opcode(const struct traffic_plan *plan, uint64_t index);

/* Fills in a rank's packet; `payload` is its own payload. The frame is built by roce_build(). */
void traffic_packet(const struct traffic_plan *plan, unsigned int rank, uint64_t index,
		    const uint8_t *payload, struct roce_packet *packet);

/*
 * Random elements of a rank, equal for equal plans: `bytes` of its vector from `offset` on (both
 * multiples of the element size).
 */
void traffic_fill(const struct traffic_plan *plan, unsigned int rank, uint64_t offset, uint8_t *to,
		  size_t bytes);

/* Writes or reads the plan as DIR/traffic.json. Returns 0, or -1 with a message on stderr. */
int traffic_save(const struct traffic_plan *plan, const char *dir);
int traffic_load(struct traffic_plan *plan, const char *dir);

/*
 * Compares the counters of a box that saw only the frames of the plan and control packets with the
 * values that follow from the plan: every drop is caused by a fault, and every fault was dropped
 * under its name. `path` is the output of `ringfold box --json`. Returns 0, or -1 with a line on
 * stderr for each counter that differs.
 */
int traffic_check_box(const struct traffic_plan *plan, const char *path);

/* DIR/NAME in a static buffer; NULL, with a message on stderr, if it is too long. */
const char *traffic_path(const char *dir, const char *name);

/* Names as printed by the tools; -1 for an unknown one. */
const char *traffic_type_name(enum rf_arith_type type);
const char *traffic_op_name(enum rf_arith_op op);
int traffic_type_parse(const char *name);
int traffic_op_parse(const char *name);

/*
 * "duplicate"; the box's counter for frames of that kind; whether a switch floods them to all ports
 * of the box.
 */
const char *traffic_fault_name(enum traffic_fault kind);
const char *traffic_fault_counter(enum traffic_fault kind);
bool traffic_fault_floods(enum traffic_fault kind);

/* Random numbers (splitmix64): *state is the only state. */
uint64_t traffic_random(uint64_t *state);

#endif
