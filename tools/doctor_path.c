/*
 * ringfold doctor: checks that RoCE of no group goes through the box and comes back, at every
 * length.
 */
#include <stdio.h>
#include <string.h>

#include "tools/doctor.h"
#include "proto/rf_bytes.h"
#include "rf_regs.h"

/* Largest difference between path MTU and frame length: headers and ICRC (docs/first-hour.md). */
#define FRAME_MORE (ROCE_HEADERS_MAX + 4u)
/* Bytes of a probe that are not payload: Ethernet, IPv4, UDP, BTH, AETH, ICRC. */
#define PROBE_HEADERS (14u + 20u + 8u + 12u + 4u + 4u)
#define TRIES 3u

static bool came(const struct doctor *d)
{
	return d->heard.kept[0] > 0;
}

/*
 * Builds a packet of `len` bytes to this host itself, on a queue pair that does not exist. It is a
 * READ response: the hold time does not affect it, and no NIC answers one that it did not request.
 */
static size_t build_probe(struct doctor *d, uint32_t len, uint8_t *frame, size_t room)
{
	uint8_t payload[ROCE_MTU_MAX + 128];
	struct roce_packet p = {.ttl = 64,
				.ip_flags = 0x4000,
				.src_ip = d->link.ip,
				.dst_ip = d->link.ip,
				.udp_sport = 0xc0de,
				.opcode = ROCE_OP_READ_ONLY,
				.migreq = true,
				.pkey = 0xffff,
				.qpn = d->heard.qpn[0],
				.psn = (uint32_t)doctor_random(d) & ROCE_PSN_MASK,
				.syndrome = ROCE_SYN_ACK};

	memcpy(p.dst_mac, d->link.io->mac, 6);
	memcpy(p.src_mac, d->link.io->mac, 6);
	p.payload = payload;
	p.payload_len = len - PROBE_HEADERS;
	for (uint32_t i = 0; i < p.payload_len; i++)
		payload[i] = (uint8_t)doctor_random(d);
	return roce_build(&p, frame, room);
}

/* Whether a frame of that length comes back; the frame sent is left in `frame`. */
static bool probe(struct doctor *d, uint32_t len, uint8_t *frame, size_t room)
{
	doctor_listen(d);
	d->heard.qpn[0] = 0xd00000u | ((uint32_t)doctor_random(d) & 0xfffffu);
	for (unsigned int i = 0; i < TRIES; i++) {
		size_t n = build_probe(d, len, frame, room);

		boxlink_send(&d->link, frame, n);
		if (doctor_hear(d, doctor_patience(d), came))
			return true;
	}
	return false;
}

static uint32_t grown(const struct rf_ctl_counters_page *before,
		      const struct rf_ctl_counters_page *after, unsigned int counter)
{
	return after->value[counter] - before->value[counter];
}

/* What happened to a lost probe, according to counters of the box. */
static bool explain(struct doctor *d, const struct rf_ctl_counters_page *before)
{
	/* Causes for which a probe may have been dropped. */
	static const unsigned int drops[] = {
		RF_CNT_DISABLED,    RF_CNT_HOLD,         RF_CNT_TOMBSTONE,   RF_CNT_JOINING,
		RF_CNT_IP_FRAGMENT, RF_CNT_IP_OPTIONS,   RF_CNT_IP_LENGTH,   RF_CNT_UDP_LENGTH,
		RF_CNT_TWO_TAGS,    RF_CNT_OWN_SOURCE,   RF_CNT_RX_OVERSIZE, RF_CNT_RX_MAC_ERROR,
		RF_CNT_RX_OVERFLOW, RF_CNT_FOREIGN_FULL, RF_CNT_IP_CHECKSUM};
	struct rf_ctl_counters_page after;
	unsigned int count;
	const char *const *names = boxlink_counter_names(&count);

	if (!doctor_counters(d, "return", &after))
		return false;
	for (size_t i = 0; i < sizeof(drops) / sizeof(drops[0]); i++) {
		if (grown(before, &after, drops[i]) == 0)
			continue;
		return doctor_say(d, "return", DOCTOR_FAILED,
				  "docs/box.md explains which packets this counter counts",
				  "the box has dropped a RoCE packet of no group: counter %s of "
				  "port %u has increased",
				  names[drops[i]], d->port);
	}
	if (grown(before, &after, RF_CNT_TX_FOREIGN) > 0)
		return doctor_say(
			d, "return", DOCTOR_FAILED,
			"the switch must forward frames from the box's ports by MAC: no rule "
			"there, no port security, MAC learning as usual, the same VLAN",
			"the box has sent the packet back by its port %u, but it does not arrive "
			"here",
			d->port);
	return doctor_say(d, "return", DOCTOR_FAILED,
			  "the rule must match every packet with UDP destination port 4791, "
			  "whatever its addresses, not only those to the box",
			  "control packets reach port %u of the box, RoCE packets to hosts do not",
			  d->port);
}

/* The packet has come back: is it unchanged? */
static bool compare(struct doctor *d, const uint8_t *sent, size_t len)
{
	const uint8_t *got = d->heard.frame[0];
	uint64_t base = (uint64_t)d->box.mac_hi << 32 | d->box.mac_lo;
	uint64_t from = (uint64_t)rf_get_be16(got + 6) << 32 | rf_get_be32(got + 8);
	struct roce_packet p;

	if (memcmp(got + 6, d->link.io->mac, 6) == 0)
		return doctor_say(d, "return", DOCTOR_FAILED,
				  "look for a loop, a mirror port or a hub between host and switch",
				  "our own packet comes back without passing through the box");
	if (from != base + d->port)
		return doctor_say(
			d, "return", DOCTOR_FAILED,
			"all traffic of a host must go to one port of the box: give its switch "
			"port one rule",
			"a RoCE packet comes back with MAC %012llx, that is not port %u of the "
			"box, which receives the control packets",
			(unsigned long long)from, d->port);
	if (d->heard.len[0] != len || memcmp(got + 12, sent + 12, len - 12) != 0 ||
	    roce_parse(got, len, &p) != ROCE_WIRE_OK || !roce_icrc_ok(got, &p))
		return doctor_say(d, "return", DOCTOR_FAILED,
				  "look for a device on the path that rewrites packets: NAT, a "
				  "firewall, a tunnel",
				  "a RoCE packet comes back changed in more than its source MAC");
	return true;
}

bool doctor_return(struct doctor *d)
{
	uint8_t frame[ROCE_FRAME_MAX + 64];
	uint32_t len = ROCE_MTU_MIN + FRAME_MORE;
	struct rf_ctl_counters_page before;
	struct rf_ctl_counters_page after;

	if (!doctor_counters(d, "return", &before))
		return false;
	if (!probe(d, len, frame, sizeof(frame)))
		return explain(d, &before);
	if (!compare(d, frame, len))
		return false;
	if (!doctor_counters(d, "return", &after))
		return false;
	if (grown(&before, &after, RF_CNT_FOREIGN) == 0)
		return doctor_say(d, "return", DOCTOR_FAILED,
				  "is there a second box with the same addresses?",
				  "a RoCE packet came back, but port %u of the box has not counted "
				  "it",
				  d->port);
	return doctor_say(d, "return", DOCTOR_OK, NULL,
			  "a RoCE packet of no group went through port %u of the box and back, "
			  "unchanged except for its source MAC",
			  d->port);
}

/* The longest frame between good and bad that comes back. */
static uint32_t longest(struct doctor *d, uint32_t good, uint32_t bad)
{
	uint8_t frame[ROCE_FRAME_MAX + 64];

	while (bad - good > 4) {
		uint32_t middle = good + (bad - good) / 8 * 4;

		if (middle == good)
			middle += 4;
		if (probe(d, middle, frame, sizeof(frame)))
			good = middle;
		else
			bad = middle;
	}
	return good;
}

bool doctor_mtu(struct doctor *d)
{
	uint8_t frame[ROCE_FRAME_MAX + 64];
	unsigned int most = 1u << d->box.mtu_log2;
	unsigned int fits = 0;
	char fix[256];
	uint32_t len;

	if (d->mtu > most) {
		snprintf(fix, sizeof(fix), "use a path MTU of %u on all hosts (RF_MTU)", most);
		return doctor_say(
			d, "mtu", DOCTOR_FAILED, fix,
			"the box was built for a path MTU of at most %u, this host is set to "
			"use %u",
			most, d->mtu);
	}
	for (unsigned int m = ROCE_MTU_MIN; m <= most; m *= 2) {
		if (!probe(d, m + FRAME_MORE, frame, sizeof(frame)))
			break;
		fits = m;
	}
	if (fits >= d->mtu)
		return doctor_say(d, "mtu", DOCTOR_OK, NULL,
				  "frames of path MTU %u (%u bytes) go through and back%s", d->mtu,
				  d->mtu + FRAME_MORE,
				  fits == most ? ", as do the box's longest" : "");
	if (fits == 0)
		return doctor_say(d, "mtu", DOCTOR_FAILED, "is the network lossy? run it again",
				  "packets that came back a moment ago are now lost");
	len = longest(d, fits + FRAME_MORE, 2 * fits + FRAME_MORE);
	snprintf(fix, sizeof(fix),
		 "configure this host's NIC and all switch ports, including the box's, for frames "
		 "of %u "
		 "bytes (IP MTU %u), or use path MTU %u on all hosts (RF_MTU)",
		 d->mtu + FRAME_MORE, d->mtu + FRAME_MORE - 14, fits);
	return doctor_say(d, "mtu", DOCTOR_FAILED, fix,
			  "frames of %u bytes come back, longer ones do not; path MTU %u needs %u",
			  len, d->mtu, d->mtu + FRAME_MORE);
}

bool doctor_damage(struct doctor *d)
{
	struct rf_ctl_counters_page c;
	uint32_t damaged;
	uint32_t lost;

	if (!doctor_counters(d, "damage", &c))
		return false;
	damaged = c.value[RF_CNT_RX_MAC_ERROR] + c.value[RF_CNT_RX_RUNT];
	lost = c.value[RF_CNT_RX_OVERFLOW] + c.value[RF_CNT_FOREIGN_FULL];
	return doctor_say(
		d, "damage", damaged || lost ? DOCTOR_NOTE : DOCTOR_OK, NULL,
		"port %u of the box has seen %u frames since its start; %u damaged on the "
		"link, %u dropped for lack of room",
		d->port, c.value[RF_CNT_RX_FRAMES], damaged, lost);
}
