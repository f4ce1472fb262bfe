/*
 * A learning Ethernet switch with the one rule that ringfold needs: a frame with UDP destination
 * port 4791 that comes in on a host port goes to the box port assigned to that host port, whatever
 * its destination MAC. All other frames, and everything from box ports, are forwarded by MAC. A
 * pure function: a frame goes in, the list of output ports comes out. Used in virtual and real
 * time.
 */
#ifndef RF_SIM_FABRIC_SWITCH_H
#define RF_SIM_FABRIC_SWITCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RF_SWITCH_PORTS 528u /* 512 ranks, 8 box ports, and spare ports */
#define RF_SWITCH_MACS 4096u
#define RF_SWITCH_NO_RULE UINT32_MAX
#define RF_SWITCH_AGE_NS 300000000000u /* IEEE 802.1Q's default: 300 s */

struct rf_switch_port {
	uint32_t redirect; /* host port: the rule's box port (a switch port number), or
			      RF_SWITCH_NO_RULE */
	uint64_t frames_in;
	uint64_t frames_out;
	uint64_t rule_hits;
	uint64_t flooded; /* frames that arrived here and were sent to all others */
	uint64_t dropped; /* shorter than an Ethernet header, source is a group address, or
			     destination on the same port */
};

struct rf_switch_mac {
	uint64_t mac;  /* 0: free */
	uint64_t seen; /* ns */
	uint32_t port;
};

/* Ports 0 .. hosts-1 are host ports, hosts .. hosts+boxes-1 are box ports. */
struct rf_switch {
	unsigned hosts;
	unsigned boxes;
	uint64_t age; /* ns after which a learnt address is forgotten */
	struct rf_switch_port port[RF_SWITCH_PORTS];
	struct rf_switch_mac macs[RF_SWITCH_MACS];
};

/* Returns 0, or -1 if there are too many ports. No rule is set. */
int rf_switch_init(struct rf_switch *s, unsigned hosts, unsigned boxes);

/* Sets the rule of a host port: to box (0 .. boxes-1), or RF_SWITCH_NO_RULE to remove it. */
void rf_switch_rule(struct rf_switch *s, unsigned host, uint32_t box);

/*
 * A frame comes in on a port at time now (ns, never backwards). Writes the ports on which it
 * leaves, unchanged, to out (RF_SWITCH_PORTS places) and returns how many. The port on which it
 * came in is never one of them, with one exception that real switches share: a redirected frame
 * goes where the rule sends it.
 */
size_t rf_switch_frame(struct rf_switch *s, uint64_t now, unsigned in, const uint8_t *frame,
		       size_t len, uint16_t *out);

/* Whether the rule matches a frame: IPv4, not a later fragment, at most one VLAN tag, UDP
 * destination port 4791. */
bool rf_switch_rule_matches(const uint8_t *frame, size_t len);

#endif
