/*
 * The traffic of a run: what `ringfold gen` writes, `ringfold ctl join` registers and `ringfold
 * check` expects. Everything follows from the plan. The plan is stored as DIR/traffic.json, the
 * results as DIR/expected.bin (messages one after another, without pad bytes), the foreign frames
 * as DIR/foreign.pcap.
 */
#ifndef RF_TOOLS_TRAFFIC_H
#define RF_TOOLS_TRAFFIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/roce/wire.h"
#include "tools/directed.h"
#include "tools/elements.h"

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
	TRAFFIC_PORT,      /* mirror only: to the address of another port of the box */
	TRAFFIC_FAULTS
};

struct traffic_rank {
	uint8_t mac[6];
	uint32_t ip;
	uint32_t qpn;       /* own QPN of the connection to the successor, or to the box */
	uint32_t recv_qpn;  /* ring: QPN on which the predecessor's data arrives */
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
	unsigned int type, op; /* numbers of tools/elements.h; in a directed group those of JOIN */
	bool mirror;           /* connections to the box's ports; otherwise a ring */
	uint32_t port_ip;      /* mirror: address of the box's port 0; port k has this + k */
	uint64_t box_mac;      /* mirror: MAC of port 0; port k has this + k */
	bool directed;
	struct directed_set set; /* of a directed group */
	bool write;
	bool imm;
	int vlan; /* VLAN id, -1: no tag */
	uint32_t shift;
	uint64_t message_bytes; /* directed: at most, of one call */
	uint64_t messages;
	uint64_t foreign; /* frames of no group in the files */
	uint64_t fault[TRAFFIC_FAULTS];
	struct directed_calls calls; /* of a directed group: see directed_make() */
	struct traffic_rank rank[TRAFFIC_RANKS_MAX];
};

/* Derives addresses, QPNs, PSNs and places of the ranks from the rest of the plan. */
void traffic_plan_ranks(struct traffic_plan *plan);

/* Number of packets of one message (not in a directed group) and of the whole run, per rank. */
uint64_t traffic_message_packets(const struct traffic_plan *plan);
uint64_t traffic_packets(const struct traffic_plan *plan);
/* Bytes of all results together. */
uint64_t traffic_bytes(const struct traffic_plan *plan);

/* Offset of packet `index` in the vector of all messages, and the length of its data. */
void traffic_span(const struct traffic_plan *plan, uint64_t index, uint64_t *offset, uint32_t *len);

/* Whether a rank gives an operand at packet `index`, and wants the result. */
bool traffic_gives(const struct traffic_plan *plan, unsigned int rank, uint64_t index);
bool traffic_wants(const struct traffic_plan *plan, unsigned int rank, uint64_t index);

/*
 * Fills in a rank's packet; `payload` is its own payload, unused if it does not give. The frame is
 * built by roce_build().
 */
void traffic_packet(const struct traffic_plan *plan, unsigned int rank, uint64_t index,
		    const uint8_t *payload, struct roce_packet *packet);

/*
 * The packet that rank `to` gets at `index`, as the box sends it, before the shift of the PSN. The
 * sender's place in the ring, or the rank itself, gave the header; `result` is the result, unused
 * if the receiver gets none.
 */
void traffic_answer(const struct traffic_plan *plan, unsigned int to, uint64_t index,
		    const uint8_t *result, struct roce_packet *packet);

/* The payload of a rank's packet, equal for equal plans: traffic_span()'s length. */
void traffic_fill(const struct traffic_plan *plan, unsigned int rank, uint64_t index, uint8_t *to);

/* The result of packet `index` from the payloads of all ranks. Returns 0, or -1 as
 * element_reduce(). */
int traffic_result(const struct traffic_plan *plan, uint64_t index,
		   uint8_t (*payload)[ROCE_MTU_MAX], uint8_t *result);

/* Random bits that depend on the seed and on both numbers. */
uint64_t traffic_hash(const struct traffic_plan *plan, uint64_t what, uint64_t place);

/*
 * Writes or reads the plan as DIR/traffic.json. Returns 0, or -1 with a message on stderr. Reading
 * a directed plan makes its calls; the caller frees them with directed_free().
 */
int traffic_save(const struct traffic_plan *plan, const char *dir);
int traffic_load(struct traffic_plan *plan, const char *dir);

/*
 * Compares the counters of a box that saw only the frames of the plan and control packets with the
 * values that follow from the plan: every drop is caused by a fault, and every fault was dropped
 * under its name. `path` is the output of `ringfold box --json`. Returns 0, or -1 with a line on
 * stderr for each counter that differs.
 */
int traffic_check_box(const struct traffic_plan *plan, const char *path);

/* Sets the masks of a set from a name each, or "all"; an unknown name gives an empty mask. */
void traffic_set_parse(struct directed_set *set, const char *kinds, const char *types,
		       const char *ops);

/* DIR/NAME in a static buffer; NULL, with a message on stderr, if it is too long. */
const char *traffic_path(const char *dir, const char *name);

/*
 * "duplicate"; the box's counter for frames of that kind; whether a switch floods them to all ports
 * of the box.
 */
const char *traffic_fault_name(enum traffic_fault kind);
const char *traffic_fault_counter(const struct traffic_plan *plan, enum traffic_fault kind);
bool traffic_fault_floods(const struct traffic_plan *plan, enum traffic_fault kind);

/* Random numbers (splitmix64): *state is the only state. */
uint64_t traffic_random(uint64_t *state);

#endif
