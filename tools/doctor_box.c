/* ringfold doctor: checks of the device, the box's address, its firmware and the rule. */
#include <stdio.h>
#include <string.h>

#include "host/config/settings.h"
#include "host/io/interface.h"
#include "tools/doctor.h"
#include "wire/arp.h"

#define CLOCK_NS UINT64_C(500000000) /* time between two readings of the box's clock */
#define CLOCK_SLACK_MS 30u
#define NS_PER_MS UINT64_C(1000000)
/* Number of ARP requests within the time for an answer. */
#define ARP_TRIES 6u
/* How long to wait for further answers after the first. */
#define ARP_MORE_NS (50 * NS_PER_MS)
/* How long to wait for another owner of our address, asked twice. */
#define PROBE_NS (150 * NS_PER_MS)

#define MAC_TEXT "%02x:%02x:%02x:%02x:%02x:%02x"
#define MAC_BYTES(m) (m)[0], (m)[1], (m)[2], (m)[3], (m)[4], (m)[5]

bool doctor_device(struct doctor *d)
{
	char device[512];
	char why[256];
	char ip[16];
	char name[IFNAMSIZ];

	rf_rank_text(d->device, d->env.rank, device, sizeof(device));
	if (boxlink_open(&d->link, device, d->dpdk_args, why, sizeof(why)) != 0 &&
	    strncmp(device, "verbs", 5) == 0)
		return doctor_say(d, "device", DOCTOR_FAILED,
				  "examine the network with --device net_af_packet0,"
				  "iface=INTERFACE, and then the NIC itself with two ranks of "
				  "`ringfold perf` over verbs (docs/nic-settings.md)",
				  "%s", why);
	if (!d->link.io)
		return doctor_say(d, "device", DOCTOR_FAILED,
				  "check the name of the device (RF_DEVICE), its driver and its "
				  "cable; RF_DPDK_LOG=1 shows DPDK's own messages",
				  "%s", why);
	if (d->link.io->ops->link(d->link.io) == 0)
		return doctor_say(d, "device", DOCTOR_FAILED,
				  "plug the cable in, and enable the switch port",
				  "%.200s has no link", device);
	rf_interface_of_device(device, name);
	if (d->link.ip == 0 && name[0] && rf_interface_only_ipv6(name))
		return doctor_say(d, "device", DOCTOR_FAILED,
				  "give it an IPv4 address, or name one for this host (RF_IP)",
				  "%.16s has only IPv6 addresses, and the box has IPv4 only", name);
	if (d->link.ip == 0)
		d->link.ip = d->link.io->ip ? d->link.io->ip : 0x0a000001u + d->env.rank;
	return doctor_say(d, "device", DOCTOR_OK, NULL, "%.160s, MAC " MAC_TEXT ", address %s",
			  device, MAC_BYTES(d->link.io->mac), rf_ip_text(d->link.ip, ip));
}

/*
 * Sends an ARP request for an address; sender 0.0.0.0 makes it a probe that changes no table (RFC
 * 5227).
 */
static void ask_arp(struct doctor *d, uint32_t sender, uint32_t target)
{
	struct rf_arp a = {.op = 1, .sender_ip = sender, .target_ip = target};
	uint8_t frame[64];

	memcpy(a.sender_mac, d->link.io->mac, 6);
	boxlink_send(&d->link, frame, rf_arp_build(&a, frame, sizeof(frame)));
}

bool doctor_address(struct doctor *d)
{
	char ip[16];

	if (d->link.ip == d->link.box_ip)
		return doctor_say(d, "address", DOCTOR_FAILED,
				  "give this host another address (RF_IP), or name the box's "
				  "(RF_BOX_IP)",
				  "this host and the box have the same address %s",
				  rf_ip_text(d->link.ip, ip));
	doctor_listen(d);
	d->heard.arp_ip = d->link.ip;
	for (unsigned int i = 0; i < 2 && d->heard.macs == 0; i++) {
		ask_arp(d, 0, d->link.ip);
		doctor_hear(d, PROBE_NS, NULL);
	}
	for (unsigned int i = 0; i < d->heard.macs; i++) {
		if (memcmp(d->heard.mac[i], d->link.io->mac, 6) == 0)
			continue;
		return doctor_say(d, "address", DOCTOR_FAILED,
				  "give every host its own address (RF_IP)",
				  "%s belongs to " MAC_TEXT " as well", rf_ip_text(d->link.ip, ip),
				  MAC_BYTES(d->heard.mac[i]));
	}
	return doctor_say(d, "address", DOCTOR_OK, NULL, "no other host uses %s",
			  rf_ip_text(d->link.ip, ip));
}

static bool arp_answered(const struct doctor *d)
{
	return d->heard.macs > 0;
}

/* No answer to ARP, of the box or of the router on the way to it. */
static bool no_arp(struct doctor *d, const char *ip)
{
	unsigned long long frames = d->heard.frames;

	if (d->link.via_ip)
		return doctor_say(d, "arp", DOCTOR_FAILED,
				  "is that the router's address at this side (RF_GATEWAY), and "
				  "this port in its subnet and VLAN?",
				  "no answer to ARP for the router %s on the way to the box; %llu "
				  "frames of other hosts were received meanwhile",
				  ip, frames);
	return doctor_say(
		d, "arp", DOCTOR_FAILED,
		frames ? "is the box on and its link up, is that its address (RF_BOX_IP), "
			 "is this port in the same VLAN, or is there a router on the way "
			 "(RF_GATEWAY)?"
		       : "is the box on and its link up, is that its address (RF_BOX_IP), "
			 "is the cable in the right switch, in the right VLAN, or is there "
			 "a router on the way (RF_GATEWAY)?",
		"no answer to ARP for the box's address %s; %llu frames of other hosts "
		"were received meanwhile",
		ip, frames);
}

bool doctor_arp(struct doctor *d)
{
	uint32_t hop = d->link.via_ip ? d->link.via_ip : d->link.box_ip;
	uint64_t step = d->timeout / ARP_TRIES;
	char ip[16];

	rf_ip_text(hop, ip);
	doctor_listen(d);
	d->heard.arp_ip = hop;
	for (unsigned int i = 0; i < ARP_TRIES && !arp_answered(d); i++) {
		ask_arp(d, d->link.ip, hop);
		doctor_hear(d, step, arp_answered);
	}
	if (!arp_answered(d))
		return no_arp(d, ip);
	doctor_hear(d, ARP_MORE_NS, NULL);
	memcpy(d->box_mac, d->heard.mac[0], 6);
	if (d->link.via_ip && d->heard.macs > 1)
		return doctor_say(d, "arp", DOCTOR_FAILED,
				  "find the device with that MAC and give it another address",
				  MAC_TEXT " also answers for the router's address %s",
				  MAC_BYTES(d->heard.mac[1]), ip);
	if (d->link.via_ip)
		return doctor_say(d, "arp", DOCTOR_OK, NULL,
				  "the router at %s on the way to the box answers with " MAC_TEXT,
				  ip, MAC_BYTES(d->box_mac));
	return doctor_say(d, "arp", DOCTOR_OK, NULL, "the box at %s answers with " MAC_TEXT "%s",
			  ip, MAC_BYTES(d->box_mac),
			  d->heard.macs > 1 ? " and its other ports' MACs" : "");
}

/* Fetches the box's page through one MAC; NULL if it does not arrive. */
static const struct rf_ctl_reply *ask_box(struct doctor *d, const uint8_t *by)
{
	struct rf_ctl_status_req req = {.page = RF_CTL_PAGE_BOX};
	uint64_t start = boxlink_now();
	const struct rf_ctl_reply *a;

	d->link.box_mac = by;
	boxlink_client(&d->link, &d->asker, 0, RF_CTL_NO_RANK, doctor_random(d) | 1);
	if (rf_client_status(&d->asker, &req, start) != 0)
		return NULL;
	a = boxlink_answer(&d->link, &d->asker);
	d->round_trip = boxlink_now() - start;
	return a;
}

static bool refused(struct doctor *d)
{
	const struct rf_ctl_reply *a = rf_client_answer(&d->asker);
	char ip[16];

	if (a && a->result == RF_CTL_FAILED)
		return doctor_say(d, "control", DOCTOR_FAILED,
				  a->u.failed.reason == RF_CTL_R_VERSION
					  ? "install the same ringfold release on host and box"
				  : a->u.failed.reason == RF_CTL_R_KEY_UNKNOWN
					  ? "name a job that the box has a key for (RF_JOB and "
					    "RF_KEY), or add this one to the box's keys"
					  : "use the key that the box has for this job (RF_KEY)",
				  "the box refuses control packets: %s",
				  rf_ctl_reason_text(a->u.failed.reason));
	if (d->asker.stats.rx_bad_tag > 0)
		return doctor_say(d, "control", DOCTOR_FAILED,
				  "use the key that the box has for this job (RF_KEY)",
				  "the box's answers are signed with another key");
	if (d->link.via_ip)
		return doctor_say(
			d, "control", DOCTOR_FAILED,
			"is the box on and that its address (RF_BOX_IP), does the router know its "
			"subnet, has the box the router at its side as its gateway (`ringfold box "
			"--gateway`), and does no access list drop UDP port 4791?",
			"the box at %s does not answer by way of the router",
			rf_ip_text(d->link.box_ip, ip));
	return doctor_say(
		d, "control", DOCTOR_FAILED,
		"a device on the path drops UDP port 4791, or a rule redirects it to a port "
		"without a box: check the rule of this switch port",
		"the box at %s answers ARP, but no control packet (UDP port 4791)",
		rf_ip_text(d->link.box_ip, ip));
}

/* Whether a MAC belongs to the box: its base MAC plus a port number. */
static bool is_box_mac(const struct doctor *d, const uint8_t *mac)
{
	uint64_t base = (uint64_t)d->box.mac_hi << 32 | d->box.mac_lo;
	uint64_t m = 0;

	for (unsigned int i = 0; i < 6; i++)
		m = m << 8 | mac[i];
	return m >= base && m < base + d->box.ports;
}

bool doctor_control(struct doctor *d)
{
	const struct rf_ctl_reply *a = ask_box(d, d->box_mac);

	if (!a)
		return refused(d);
	d->box = a->u.box;
	for (unsigned int i = 0; i < d->heard.macs && !d->link.via_ip; i++) {
		char ip[16];

		if (is_box_mac(d, d->heard.mac[i]))
			continue;
		return doctor_say(d, "control", DOCTOR_FAILED,
				  "find the device with that MAC and give it another address",
				  MAC_TEXT " also answers for the box's address %s, and is not the "
					   "box",
				  MAC_BYTES(d->heard.mac[i]), rf_ip_text(d->link.box_ip, ip));
	}
	doctor_say(d, "control", DOCTOR_OK, NULL,
		   "the box answers: %u ports, %u lanes, path MTU up to %u, %u of %u groups in use",
		   d->box.ports, d->box.lanes, 1u << d->box.mtu_log2, d->box.groups_used,
		   d->box.groups);
	if (rf_client_open_lab(&d->asker))
		doctor_say(d, "control", DOCTOR_NOTE, NULL,
			   "the box has no keys: anyone on this network may command it");
	if (d->box.hold_ms > 0)
		doctor_say(d, "control", DOCTOR_NOTE, NULL,
			   "the box was started or reset recently: for another %u ms it drops "
			   "RC data of no group; ringfold's own jobs are not affected",
			   d->box.hold_ms);
	return true;
}

/*
 * Leases and deadlines use the box's clock: it must run as fast as this host's. The uptime reported
 * by the box was read between question and answer.
 */
bool doctor_clock(struct doctor *d)
{
	const struct rf_ctl_reply *a;
	uint64_t asked[2];
	uint64_t answered[2];
	uint64_t uptime[2];
	uint64_t least, most, box;

	for (unsigned int i = 0; i < 2; i++) {
		if (i > 0)
			doctor_hear(d, CLOCK_NS, NULL);
		asked[i] = boxlink_now();
		a = ask_box(d, d->box_mac);
		if (!a)
			return refused(d);
		answered[i] = boxlink_now();
		uptime[i] = a->u.box.uptime_ms;
	}
	least = (asked[1] - answered[0]) / 1000000u;
	most = (answered[1] - asked[0]) / 1000000u;
	box = uptime[1] - uptime[0];
	if (uptime[1] < uptime[0] || box + CLOCK_SLACK_MS < least - least / 10u ||
	    box > most + most / 10u + CLOCK_SLACK_MS)
		return doctor_say(
			d, "clock", DOCTOR_FAILED,
			"set the clock rate of the core that the box was built for "
			"(register CLOCK_KHZ): leases and deadlines use it",
			"between two answers of the box %llu ms passed for it and %llu to "
			"%llu ms here",
			(unsigned long long)box, (unsigned long long)least,
			(unsigned long long)most);
	return doctor_say(d, "clock", DOCTOR_OK, NULL,
			  "the box's lease clock is accurate (%llu ms there, %llu ms here)",
			  (unsigned long long)box, (unsigned long long)least);
}

bool doctor_rule(struct doctor *d)
{
	/*
	 * To the box's IP address, but with our own MAC as destination: without the rule the switch
	 * has no port to send it to.
	 */
	const struct rf_ctl_reply *a = ask_box(d, d->link.io->mac);

	if (!a)
		return doctor_say(
			d, "rule", DOCTOR_FAILED,
			"give this host's switch port the rule: UDP destination port 4791, for "
			"any address, goes to a port of the box (docs/first-hour.md)",
			"this switch port does not redirect UDP port 4791 to the box: packets are "
			"forwarded by destination MAC instead");
	d->port = a->u.box.port;
	return doctor_say(d, "rule", DOCTOR_OK, NULL,
			  "UDP port 4791 of this host goes to port %u of the box", d->port);
}
