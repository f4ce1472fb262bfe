/*
 * ringfold doctor: mirror connections. Two ranks of this host send one packet each to the address
 * of a port of the box, on their own QPN, and get the sum back. It uses open loop, because no rank
 * acknowledges, and names its MAC in the JOIN. No rule is involved.
 */
#include <stdio.h>
#include <string.h>

#include "host/config/settings.h"
#include "proto/rf_bytes.h"
#include "rf_regs.h"
#include "tools/doctor.h"
#include "wire/arp.h"

#define NS_PER_MS UINT64_C(1000000)
#define RANKS 2u
#define SHORT 64u /* bytes of payload that fit everywhere */
#define TRIES 3u
#define LEASE_MS 5000u
#define SLOTS_LOG2 4u
#define ARP_TRIES 3u
/* A group that has just ended gives its place back a little later: how long, and how often. */
#define ROOM_NS (3000 * NS_PER_MS)
#define ROOM_AGAIN_NS (100 * NS_PER_MS)

#define MAC_TEXT "%02x:%02x:%02x:%02x:%02x:%02x"
#define MAC_BYTES(m) (m)[0], (m)[1], (m)[2], (m)[3], (m)[4], (m)[5]

struct mirror {
	struct doctor *d;
	struct rf_client client[RANKS];
	uint32_t qpn[RANKS];
	uint32_t psn[RANKS];
	uint32_t to[RANKS]; /* address of the rank's port */
	unsigned int port[RANKS];
	uint32_t len; /* of the payload */
	uint8_t payload[RANKS][ROCE_MTU_MAX];
};

static bool idle(const struct rf_client *c)
{
	return rf_client_next_timeout(c) == RF_CLIENT_NEVER;
}

static void leave(struct mirror *m)
{
	for (unsigned int r = 0; r < RANKS; r++)
		rf_client_leave(&m->client[r], true, boxlink_now());
	boxlink_run(&m->d->link, m->client, RANKS, idle, boxlink_now() + m->d->timeout);
}

/* The check of the rule has been run, and was good. */
static bool has_rule(const struct doctor *d)
{
	return strcmp(d->steering, "both") == 0;
}

static void prepare(struct mirror *m)
{
	struct doctor *d = m->d;
	uint16_t group = (uint16_t)(0x8000u | doctor_random(d));
	uint32_t qpn = 0xe00000u | ((uint32_t)doctor_random(d) & 0xffffeu);
	struct rf_ctl_join join = {.ranks = RANKS,
				   .dtype = RF_DTYPE_INT32,
				   .op = RF_OP_SUM,
				   .slots_log2 = SLOTS_LOG2,
				   .slots_min_log2 = SLOTS_LOG2,
				   .port = RF_CTL_NO_PORT,
				   .flags = RF_CTL_J_OPEN_LOOP | RF_CTL_J_MIRROR,
				   .src_ip = d->link.ip,
				   .peer_ip = rf_get_be32(d->link.io->mac),
				   .peer_qpn = rf_get_be16(d->link.io->mac + 4),
				   .lease_ms = LEASE_MS,
				   .deadline_ms = (uint32_t)(d->timeout / NS_PER_MS)};

	/* The box sees the router's MAC at its side, and learns it from requests to its ports. */
	if (d->link.via_ip)
		join.peer_ip = join.peer_qpn = 0;
	/* A rule takes everything to one port of the box. */
	if (has_rule(d))
		join.port = (uint8_t)d->port;
	while (1u << join.mtu_log2 < d->mtu)
		join.mtu_log2++;
	d->link.box_mac = d->box_mac;
	for (unsigned int r = 0; r < RANKS; r++) {
		m->qpn[r] = join.qpn = qpn | r;
		m->psn[r] = join.start_psn = (uint32_t)doctor_random(d) & ROCE_PSN_MASK;
		for (uint32_t i = 0; i < d->mtu; i += 4)
			rf_put_le32(m->payload[r] + i, (uint32_t)doctor_random(d));
		boxlink_client(&d->link, &m->client[r], group, (uint16_t)r, doctor_random(d) | 1);
		rf_client_join(&m->client[r], &join, boxlink_now());
	}
}

/* "0, 2": the numbers of the bits. */
static const char *ports_text(uint32_t bits, char *text, size_t room)
{
	size_t n = 0;

	text[0] = 0;
	for (unsigned int p = 0; p < 8 && n < room; p++)
		if (bits >> p & 1u)
			n += (size_t)snprintf(text + n, room - n, "%s%u", n ? ", " : "", p);
	return text;
}

static bool no_room(const struct rf_client *c)
{
	return doctor_box_is_full(c) || doctor_quota_is_used(c);
}

/* Nothing to send: the reason, as a result. */
static bool refused(struct mirror *m, const struct rf_client *c)
{
	const struct rf_ctl_failed *f = rf_client_failed(c);
	char text[256], ports[32];

	rf_client_text(c, text, sizeof(text));
	if (!f)
		return doctor_say(m->d, "mirror", DOCTOR_FAILED,
				  "run it again; is the box overloaded, is the network lossy?",
				  "the box does not make a group of mirror ranks: %s", text);
	if (f->reason == RF_CTL_R_NO_ADDRESS && (f->detail & 0xffu))
		return doctor_say(m->d, "mirror", DOCTOR_FAILED,
				  "find the host that has the box's address and give it another "
				  "one: a minute later the box uses its own again",
				  "another host claims the address of port %s of the box, and no "
				  "other port has one",
				  ports_text(f->detail & 0xffu, ports, sizeof(ports)));
	if (f->reason == RF_CTL_R_NO_ADDRESS)
		return doctor_say(m->d, "mirror", DOCTOR_FAILED,
				  "give the box's ports addresses; after its start it probes them "
				  "for some seconds",
				  "no port of the box has an address that a rank could use");
	if (no_room(c) || f->reason == RF_CTL_R_NO_LANES)
		return doctor_say(m->d, "mirror", DOCTOR_SKIPPED, NULL,
				  "the box has no room for another group now: %s", text);
	return doctor_say(m->d, "mirror", DOCTOR_FAILED,
			  "docs/control-protocol.md lists the reasons",
			  "the box does not make a group of mirror ranks: %s", text);
}

static bool answered(const struct doctor *d)
{
	return d->heard.macs > 0;
}

/*
 * Who answers for the address of a port: the box's port, and nobody else. Behind a router nobody
 * can be asked from here.
 */
static bool owner(struct mirror *m, unsigned int r)
{
	struct doctor *d = m->d;
	struct rf_arp a = {.op = 1, .sender_ip = d->link.ip, .target_ip = m->to[r]};
	uint64_t base = (uint64_t)d->box.mac_hi << 32 | d->box.mac_lo;
	uint8_t frame[64];
	char ip[16];

	if (d->link.via_ip)
		return true;
	memcpy(a.sender_mac, d->link.io->mac, 6);
	doctor_listen(d);
	d->heard.arp_ip = m->to[r];
	rf_ip_text(m->to[r], ip);
	for (unsigned int i = 0; i < ARP_TRIES && !answered(d); i++) {
		boxlink_send(&d->link, frame, rf_arp_build(&a, frame, sizeof(frame)));
		doctor_hear(d, doctor_patience(d), answered);
	}
	if (!answered(d))
		return doctor_say(d, "mirror", DOCTOR_FAILED,
				  "is that port of the box connected to this network? its address "
				  "belongs into the subnet of the hosts, or behind their router",
				  "no answer to ARP for %s, the address of port %u of the box", ip,
				  m->port[r]);
	doctor_hear(d, doctor_patience(d), NULL);
	for (unsigned int i = 0; i < d->heard.macs; i++) {
		const uint8_t *mac = d->heard.mac[i];

		if (((uint64_t)rf_get_be16(mac) << 32 | rf_get_be32(mac + 2)) == base + m->port[r])
			continue;
		return doctor_say(d, "mirror", DOCTOR_FAILED,
				  "find the device with that MAC and give it another address",
				  MAC_TEXT " answers for %s, the address of port %u of the box",
				  MAC_BYTES(mac), ip, m->port[r]);
	}
	return true;
}

static void send_data(struct mirror *m, unsigned int r)
{
	struct doctor *d = m->d;
	uint64_t mac = ((uint64_t)d->box.mac_hi << 32 | d->box.mac_lo) + m->port[r];
	uint8_t frame[ROCE_FRAME_MAX];
	struct roce_packet p = {.ttl = 64,
				.ip_flags = 0x4000,
				.src_ip = d->link.ip,
				.dst_ip = m->to[r],
				.udp_sport = 0xc0de,
				.opcode = ROCE_OP_SEND_ONLY,
				.migreq = true,
				.pkey = 0xffff,
				.qpn = m->qpn[r],
				.psn = m->psn[r],
				.payload = m->payload[r],
				.payload_len = m->len};

	rf_put_be16(p.dst_mac, (uint16_t)(mac >> 32));
	rf_put_be32(p.dst_mac + 2, (uint32_t)mac);
	if (d->link.via_ip)
		memcpy(p.dst_mac, d->box_mac, 6);
	memcpy(p.src_mac, d->link.io->mac, 6);
	boxlink_send(&d->link, frame, roce_build(&p, frame, sizeof(frame)));
}

static bool both_came(const struct doctor *d)
{
	return d->heard.kept[0] > 0 && d->heard.kept[1] > 0;
}

/* What the box says of packets that have not come back. */
static bool explain(struct mirror *m, const struct rf_ctl_counters_page *before,
		    uint32_t wrong_before)
{
	static const unsigned int drops[] = {RF_CNT_UNKNOWN, RF_CNT_WRONG_SOURCE, RF_CNT_ICRC,
					     RF_CNT_OPCODE, RF_CNT_DISABLED};
	struct doctor *d = m->d;
	struct rf_ctl_counters_page after;
	unsigned int count;
	const char *const *names = boxlink_counter_names(&count);

	d->port = d->box.port;
	if (!doctor_counters(d, "mirror", &after))
		return false;
	if (after.value[RF_CNT_WRONG_PORT] != wrong_before)
		return doctor_say(d, "mirror", DOCTOR_FAILED,
				  "this switch port has the rule, which takes packets to another "
				  "port of the box than the one they are for: remove it, or let "
				  "ranks here use only the address of that port",
				  "a packet for another port has arrived at port %u of the box",
				  d->port);
	d->port = m->port[0];
	if (!doctor_counters(d, "mirror", &after))
		return false;
	for (size_t i = 0; i < sizeof(drops) / sizeof(drops[0]); i++)
		if (after.value[drops[i]] != before->value[drops[i]])
			return doctor_say(d, "mirror", DOCTOR_FAILED,
					  "docs/box.md explains which packets this counter counts",
					  "the box has dropped a packet to its port %u: counter "
					  "%s has increased",
					  d->port, names[drops[i]]);
	if (after.value[RF_CNT_ACCEPTED] == before->value[RF_CNT_ACCEPTED])
		return doctor_say(d, "mirror", DOCTOR_FAILED,
				  "a device on the path drops RoCE, or this NIC keeps packets "
				  "whose QPN is its own: use another NIC, or the ring",
				  "packets to port %u of the box do not arrive there", d->port);
	return doctor_say(d, "mirror", DOCTOR_FAILED,
			  "an access list or a firewall drops RoCE from the addresses of the "
			  "box: let it pass",
			  "the box has taken a packet to its port %u, but %u of the two results "
			  "came back",
			  d->port, (d->heard.kept[0] > 0) + (d->heard.kept[1] > 0));
}

/* A result: from the port, on the rank's own queue pair, with the sum. */
static bool right(const struct mirror *m, unsigned int r)
{
	const struct doctor_heard *h = &m->d->heard;
	struct roce_packet p;

	if (roce_parse(h->frame[r], h->len[r], &p) != ROCE_WIRE_OK ||
	    !roce_icrc_ok(h->frame[r], &p) || p.src_ip != m->to[r] || p.dst_ip != m->d->link.ip ||
	    p.psn != m->psn[r] || p.payload_len != m->len)
		return false;
	for (uint32_t i = 0; i < m->len; i += 4)
		if (rf_get_le32(p.payload + i) !=
		    rf_get_le32(m->payload[0] + i) + rf_get_le32(m->payload[1] + i))
			return false;
	return true;
}

/* Whether the results of packets with len bytes of payload come back. */
static bool comes_back(struct mirror *m, uint32_t len)
{
	struct doctor *d = m->d;

	m->len = len;
	for (unsigned int i = 0; i < TRIES && !both_came(d); i++) {
		for (unsigned int r = 0; r < RANKS; r++)
			send_data(m, r);
		doctor_hear(d, doctor_patience(d), both_came);
	}
	return both_came(d);
}

static bool exchange(struct mirror *m)
{
	struct doctor *d = m->d;
	struct rf_ctl_counters_page before;
	uint32_t wrong;
	char ip[RANKS][16];

	/* A rule takes packets to the port to which it takes requests. */
	d->port = d->box.port;
	if (!doctor_counters(d, "mirror", &before))
		return false;
	wrong = before.value[RF_CNT_WRONG_PORT];
	d->port = m->port[0];
	if (!doctor_counters(d, "mirror", &before))
		return false;
	doctor_listen(d);
	for (unsigned int r = 0; r < RANKS; r++)
		d->heard.qpn[r] = m->qpn[r];
	if (!comes_back(m, d->mtu) && comes_back(m, SHORT))
		return doctor_say(d, "mirror", DOCTOR_FAILED,
				  "raise the MTU of NIC, switch and router, or set RF_MTU to less",
				  "packets of path MTU %u do not come back from port %u of the "
				  "box, short ones do",
				  d->mtu, d->port);
	if (!both_came(d))
		return explain(m, &before, wrong);
	if (!right(m, 0) || !right(m, 1))
		return doctor_say(d, "mirror", DOCTOR_FAILED,
				  "look for a device on the path that rewrites packets: NAT, a "
				  "firewall, a tunnel",
				  "a result came back wrong from a port of the box");
	return doctor_say(
		d, "mirror", DOCTOR_OK, NULL,
		"packets to %s and %s, each to its own QPN, came back with the sum: mirror "
		"ranks need no rule",
		rf_ip_text(m->to[0], ip[0]), rf_ip_text(m->to[1], ip[1]));
}

/* What the box says of its addresses, before a packet is sent. */
static bool settings(struct doctor *d)
{
	char ip[16], ports[32];

	if (d->box.claimed)
		doctor_say(d, "mirror", DOCTOR_NOTE, NULL,
			   "another host claims the address of port %s of the box: no mirror rank "
			   "gets that port until a minute after",
			   ports_text(d->box.claimed, ports, sizeof(ports)));
	if (d->box.gateway && !d->box.reached)
		doctor_say(d, "mirror", DOCTOR_NOTE, NULL,
			   "the box's gateway %s does not answer the box: is that its address?",
			   rf_ip_text(d->box.gateway, ip));
	if (d->box.features & RF_CTL_FEATURE_MIRROR)
		return true;
	doctor_say(d, "mirror", DOCTOR_SKIPPED, NULL,
		   "this box was built without mirror connections: its ranks need the rule");
	return false;
}

/*
 * Both ranks join. The group of the check before this one may still count, at the box and against
 * the quota of the key: they try again for a while. NULL, or the rank that has not joined.
 */
static const struct rf_client *join(struct mirror *m)
{
	struct doctor *d = m->d;
	uint64_t until = boxlink_now() + ROOM_NS;

	for (;;) {
		const struct rf_client *out = NULL;

		prepare(m);
		boxlink_run(&d->link, m->client, RANKS, boxlink_joined,
			    boxlink_now() + 2 * d->timeout);
		for (unsigned int r = RANKS; r-- > 0;)
			if (rf_client_state(&m->client[r]) != RF_CLIENT_READY)
				out = &m->client[r];
		if (!out || !no_room(out) || boxlink_now() >= until)
			return out;
		leave(m);
		doctor_hear(d, ROOM_AGAIN_NS, NULL);
	}
}

bool doctor_mirror(struct doctor *d)
{
	static struct mirror m;
	const struct rf_client *out;
	bool good;

	if (strcmp(d->steering, "ring") == 0 || !settings(d))
		return true;
	if (has_rule(d) && d->box.lanes < RANKS)
		return doctor_say(d, "mirror", DOCTOR_SKIPPED, NULL,
				  "the rule takes this host to one port of the box, which has room "
				  "for one rank: a sum needs a second host (--ranks)");
	m.d = d;
	out = join(&m);
	if (out) {
		good = refused(&m, out);
		leave(&m);
		return good;
	}
	for (unsigned int r = 0; r < RANKS; r++) {
		const struct rf_ctl_ready *ready = rf_client_ready(&m.client[r]);

		m.to[r] = ready->port_ip;
		m.port[r] = ready->place[r].port;
	}
	good = owner(&m, 0) && (m.port[1] == m.port[0] || owner(&m, 1)) && exchange(&m);
	leave(&m);
	return good;
}
