/*
 * ringfold doctor: is the box there, does the switch's rule steer, both ways, frames of the right
 * size? Names the first thing that fails, and the mend.
 *
 * The rule is tried with a frame to oneself: RoCE from this host to its own addresses. A switch
 * without the rule keeps it (it would leave by the port on which it came); with the rule the box
 * gets it, knows no such connection, and sends it back by the same port with a source address of
 * its own.
 */
#include <inttypes.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rf_regs.h"
#include "host/src/bootstrap/env.h"
#include "host/src/bootstrap/settings.h"
#include "host/src/roce/wire.h"
#include "host/tools/boxlink.h"
#include "host/tools/opt.h"
#include "ringfold/ringfold.h"

#define MS UINT64_C(1000000)
#define PROBES 4u
/* A QPN that no library hands out, and an opcode that the box's hold time does not drop. */
#define PROBE_QPN 0xfffffeu
#define PORTS_MAX 8u

struct doctor {
	const char *device, *ip_text, *box_text, *key_text;
	unsigned int mtu;
	bool json;
	struct boxlink link;
	bool open;
	struct rf_client asker;
	json_t *findings;
	bool failed;
	/* of the box */
	uint8_t base_mac[6];
	unsigned int ports, port; /* port: on which this host's control packets came in */
	unsigned int mtu_max;
	uint32_t foreign[PORTS_MAX]; /* counters before the probes */
	/* of the probes */
	uint16_t probe; /* identification of the one that is awaited */
	unsigned int seen;
	bool icrc_ok;
	uint8_t seen_mac[6];
};

/* ---- findings ---- */

static void say(struct doctor *d, const char *verdict, const char *what, const char *format,
		va_list args)
{
	char text[600];

	vsnprintf(text, sizeof(text), format, args);
	if (d->json)
		json_array_append_new(d->findings, json_pack("{s:s, s:s, s:s}", "verdict", verdict,
							     "what", what, "text", text));
	else
		printf("%-5s %-14s %s\n", verdict, what, text);
	fflush(stdout);
}

static void good(struct doctor *d, const char *what, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
static int bad(struct doctor *d, const char *what, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void good(struct doctor *d, const char *what, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(d, "ok", what, format, args);
	va_end(args);
}

/* Always -1. */
static int bad(struct doctor *d, const char *what, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(d, "FAIL", what, format, args);
	va_end(args);
	d->failed = true;
	return -1;
}

static const char *mac_text(const uint8_t mac[6], char buf[18])
{
	snprintf(buf, 18, "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2], mac[3], mac[4],
		 mac[5]);
	return buf;
}

/* ---- steps ---- */

static int check_device(struct doctor *d)
{
	struct rf_env env;
	char why[500], full[512], mac[18], ip[16];

	if (rf_env_read(&env, why, sizeof(why)))
		return bad(d, "settings", "%s", why);
	if (!*d->device)
		return bad(d, "device",
			   "no device is named; mend: --device or RF_DEVICE, such as "
			   "net_af_packet0,iface=eth1");
	if (rf_ip_parse("--box-ip (RF_BOX_IP)", d->box_text, &d->link.box_ip, why, sizeof(why)) ||
	    rf_hex_parse("--key (RF_KEY)", d->key_text, d->link.key, sizeof(d->link.key), why,
			 sizeof(why)))
		return bad(d, "settings", "%s", why);
	rf_rank_text(d->device, env.rank, full, sizeof(full));
	if (boxlink_open(&d->link, full, rf_setting_text("RF_DPDK_ARGS"), why, sizeof(why)))
		return bad(d, "device", "%s", why);
	d->open = true;
	d->link.ip = d->link.io->ip ? d->link.io->ip : 0x0a000001u + env.rank;
	if (*d->ip_text && rf_ip_parse("--ip (RF_IP)", d->ip_text, &d->link.ip, why, sizeof(why)))
		return bad(d, "settings", "%s", why);
	good(d, "device", "%s: link %s, MAC %s, address %s", full,
	     d->link.io->ops->link(d->link.io) == 1 ? "up" : "unknown",
	     mac_text(d->link.io->mac, mac), rf_ip_text(d->link.ip, ip));
	return 0;
}

/* One page of the box's status; NULL with an explanation. */
static const struct rf_ctl_reply *ask(struct doctor *d, uint8_t page, uint16_t index)
{
	struct rf_ctl_status_req req = {.page = page, .index = index};

	if (rf_client_status(&d->asker, &req, boxlink_now()) != 0)
		return NULL;
	return boxlink_answer(&d->link, &d->asker);
}

static int explain_silence(struct doctor *d)
{
	const struct rf_ctl_reply *a = rf_client_answer(&d->asker);
	char ip[16];

	rf_ip_text(d->link.box_ip, ip);
	if (a && a->result == RF_CTL_FAILED)
		return bad(
			d, "control",
			"the box refuses: %s; mend: --key (RF_KEY) must be the operator's key at "
			"the box",
			rf_ctl_reason_text(a->u.failed.reason));
	if (!d->asker.box_mac_known)
		return bad(d, "ARP",
			   "nobody answers for %s; mend: is the box on, is this its address "
			   "(--box-ip, RF_BOX_IP), are host and box in one VLAN?",
			   ip);
	return bad(d, "control",
		   "%s answers ARP but no control packet (UDP 4791); mend: does a filter at this "
		   "host or at the switch drop UDP 4791, does another machine have that address?",
		   ip);
}

static int check_box(struct doctor *d)
{
	const struct rf_ctl_box_page *b;
	const struct rf_ctl_reply *a;
	uint64_t start = boxlink_now();
	char mac[18], ip[16];

	boxlink_client(&d->link, &d->asker, 0, RF_CTL_NO_RANK, start | 1);
	a = ask(d, RF_CTL_PAGE_BOX, 0);
	if (!a)
		return explain_silence(d);
	b = &a->u.box;
	good(d, "ARP", "%s is at %s", rf_ip_text(d->link.box_ip, ip),
	     mac_text(d->asker.box_mac, mac));
	good(d, "control",
	     "the box answers in %.1f ms: %u ports of %u bits, %u lanes, %u of %u groups in use, "
	     "MTU up to %u%s%s",
	     (double)(boxlink_now() - start) * 1e-6, b->ports, b->width64 * 64u, b->lanes,
	     b->groups_used, b->groups, 1u << b->mtu_log2,
	     rf_client_open_lab(&d->asker) ? ", no keys (anyone may command it)" : "",
	     b->hold ? ", in its hold time" : "");
	d->ports = b->ports < PORTS_MAX ? b->ports : PORTS_MAX;
	d->port = b->port;
	d->mtu_max = 1u << b->mtu_log2;
	d->base_mac[0] = (uint8_t)(b->mac_hi >> 8);
	d->base_mac[1] = (uint8_t)b->mac_hi;
	d->base_mac[2] = (uint8_t)(b->mac_lo >> 24);
	d->base_mac[3] = (uint8_t)(b->mac_lo >> 16);
	d->base_mac[4] = (uint8_t)(b->mac_lo >> 8);
	d->base_mac[5] = (uint8_t)b->mac_lo;
	good(d, "port", "this host's packets to the box come in on its port %u", d->port);
	if (d->mtu > d->mtu_max)
		return bad(d, "MTU",
			   "path MTU %u is more than the box was built for; mend: RF_MTU=%u",
			   d->mtu, d->mtu_max);
	return 0;
}

/* Sum over all ports of the frames that the box took for nobody's; the change since the last call.
 */
static uint32_t foreign_since(struct doctor *d)
{
	uint32_t sum = 0;
	unsigned int p;

	for (p = 0; p < d->ports; p++) {
		const struct rf_ctl_reply *a = ask(d, RF_CTL_PAGE_PORT, (uint16_t)p);
		uint32_t now;

		if (!a || a->u.counters.count <= RF_CNT_FOREIGN)
			continue;
		now = a->u.counters.value[RF_CNT_FOREIGN];
		sum += now - d->foreign[p];
		d->foreign[p] = now;
	}
	return sum;
}

/* A frame that came in: is it the probe? */
static void stray(void *arg, const uint8_t *frame, uint32_t len)
{
	struct doctor *d = arg;
	struct roce_packet p;

	if (roce_parse(frame, len, &p) != ROCE_WIRE_OK || p.qpn != PROBE_QPN ||
	    p.ip_id != d->probe || p.src_ip != d->link.ip)
		return;
	d->seen++;
	d->icrc_ok = roce_icrc_ok(frame, &p) != 0;
	memcpy(d->seen_mac, p.src_mac, 6);
}

/* Sends probes with so much payload until one comes back. Whether one did. */
static bool probe(struct doctor *d, unsigned int payload)
{
	uint8_t frame[ROCE_FRAME_MAX + 64], data[ROCE_MTU_MAX];
	struct roce_packet p = {
		.ttl = 64,
		.ip_flags = 0x4000,
		.udp_sport = 0xd0c7,
		.opcode = ROCE_OP_ACK,
		.pkey = 0xffff,
		.qpn = PROBE_QPN,
		.syndrome = ROCE_SYN_ACK,
		.payload = data,
		.payload_len = payload,
	};
	unsigned int k;
	size_t len;

	for (k = 0; k < payload; k++)
		data[k] = (uint8_t)(k * 7 + 1);
	memcpy(p.dst_mac, d->link.io->mac, 6);
	memcpy(p.src_mac, d->link.io->mac, 6);
	p.src_ip = p.dst_ip = d->link.ip;
	d->seen = 0;
	for (k = 0; k < PROBES && !d->seen; k++) {
		uint64_t until = boxlink_now() + 250 * MS;

		p.ip_id = ++d->probe;
		len = roce_build(&p, frame, sizeof(frame));
		if (!len || !boxlink_send(&d->link, frame, len))
			return false;
		while (!d->seen && boxlink_now() < until)
			boxlink_run(&d->link, &d->asker, 1, NULL, boxlink_now() + 2 * MS);
	}
	return d->seen > 0;
}

static int check_rule(struct doctor *d)
{
	uint32_t reached;
	unsigned int back;
	char mac[18];

	d->link.stray = stray;
	d->link.arg = d;
	foreign_since(d);
	if (!probe(d, 0)) {
		reached = foreign_since(d);
		if (reached >= PROBES)
			return bad(
				d, "rule, back",
				"RoCE of this host reaches the box but does not come back; mend: "
				"the switch must forward by MAC what comes from the box's ports "
				"(no rule there), and learn the box's own MACs");
		return bad(d, "rule",
			   "RoCE of this host does not reach the box; mend: at this host's switch "
			   "port redirect UDP destination port 4791 to one of the box's ports");
	}
	if (memcmp(d->seen_mac, d->base_mac, 5) != 0 ||
	    (unsigned int)(d->seen_mac[5] - d->base_mac[5]) >= d->ports)
		return bad(d, "rule",
			   "the frame to oneself came back, but from %s and not from the box: the "
			   "network returns frames to their sender; mend: the rule at this host's "
			   "switch port is missing, or the port is looped",
			   mac_text(d->seen_mac, mac));
	back = (unsigned int)(d->seen_mac[5] - d->base_mac[5]);
	good(d, "rule", "RoCE of this host goes to port %u of the box and comes back", back);
	if (back != d->port)
		return bad(
			d, "port",
			"control packets come in on port %u, RoCE on port %u: JOIN would name the "
			"wrong one; mend: the rule must hold for every packet to UDP 4791, those "
			"to the box's address included",
			d->port, back);
	if (!d->icrc_ok)
		return bad(
			d, "ICRC",
			"the frame comes back changed where its ICRC covers it: something between "
			"host and box rewrites addresses, ports or payload (NAT?)");
	good(d, "ICRC", "unchanged on the way there and back");
	return 0;
}

static int check_size(struct doctor *d)
{
	/* the longest frame: WRITE FIRST carries 16 bytes more of header than an ACK 4 */
	unsigned int most = d->mtu + 12;

	if (!probe(d, most > ROCE_MTU_MAX ? ROCE_MTU_MAX : most))
		return bad(d, "MTU",
			   "frames of %u bytes do not pass, short ones do; mend: an MTU of %u or "
			   "more at this host's interface and at every switch port, or a smaller "
			   "RF_MTU on all hosts",
			   d->mtu + ROCE_HEADERS_MAX + 4, d->mtu + 64);
	good(d, "MTU", "path MTU %u: the longest frames pass there and back", d->mtu);
	return 0;
}

/* Signs of trouble that the box has counted on this host's port. */
static int check_counters(struct doctor *d)
{
	const struct rf_ctl_reply *a = ask(d, RF_CTL_PAGE_PORT, (uint16_t)d->port);
	const struct rf_ctl_counters_page *c;

	if (!a)
		return bad(d, "counters", "the box does not answer any more");
	c = &a->u.counters;
	if (c->count <= RF_CNT_ICRC)
		return 0;
	good(d, "counters",
	     "port %u since the box's start: %" PRIu32 " frames, %" PRIu32 " damaged on the link, "
	     "%" PRIu32 " with a wrong ICRC, %" PRIu32 " lost for want of room",
	     d->port, c->value[RF_CNT_RX_FRAMES], c->value[RF_CNT_RX_MAC_ERROR],
	     c->value[RF_CNT_ICRC], c->value[RF_CNT_RX_OVERFLOW]);
	return 0;
}

static void examine(struct doctor *d)
{
	if (check_device(d) || check_box(d) || check_rule(d) || check_size(d) || check_counters(d))
		return;
	if (!d->json)
		printf("This host is ready. What only a group can show, its first packet "
		       "proves.\n");
}

static int parse(struct doctor *d, int argc, char **argv)
{
	const struct rf_opt table[] = {
		{RF_OPT_STRING, "device", 'd', &d->device, "DEVICE", "DPDK device (RF_DEVICE)",
		 NULL},
		{RF_OPT_STRING, "ip", 0, &d->ip_text, "ADDRESS",
		 "own address (RF_IP; default: the interface's, else 10.0.0.<rank + 1>)", NULL},
		{RF_OPT_STRING, "box-ip", 'b', &d->box_text, "ADDRESS",
		 "address of the box (RF_BOX_IP)", NULL},
		{RF_OPT_STRING, "key", 'k', &d->key_text, "HEX", "the operator's key (RF_KEY)",
		 NULL},
		{RF_OPT_UINT, "mtu", 'm', &d->mtu, "BYTES", "path MTU to try (RF_MTU)", NULL},
		{RF_OPT_FLAG, "json", 'j', &d->json, NULL, "findings as one JSON object", NULL},
		{RF_OPT_END, NULL, 0, NULL, NULL, NULL, NULL},
	};
	const struct rf_opt_page page = {
		"ringfold doctor [options]",
		"Tries, one after another, what an all-reduce through the box needs from this "
		"host: the\n"
		"device, the box's address, its control protocol, the switch's rule in both "
		"directions,\n"
		"the ICRC, the size of frames. Stops at the first thing that fails and names the "
		"mend.\n"
		"Run it on each host, with no other ringfold program on the same device.",
		"  ringfold doctor --device net_af_packet0,iface=eth1 --box-ip 192.168.7.254\n"
		"\n"
		"exit codes: 0 all is well, 1 something fails, 2 usage",
		table,
	};
	int n = rf_opt_parse(&page, argc, argv);

	if (n >= 0 && (n < argc || d->mtu < 256 || d->mtu > 4096 || (d->mtu & (d->mtu - 1)))) {
		fprintf(stderr,
			"ringfold doctor: no arguments; MTU 256, 512, 1024, 2048 or 4096\n");
		return -2;
	}
	return n;
}

int main(int argc, char **argv)
{
	struct doctor d = {.link = {.answer_ns = 3000 * MS}};
	uint64_t mtu = 1024;
	char why[256];
	int n;

	d.device = rf_setting_text("RF_DEVICE");
	d.ip_text = rf_setting_text("RF_IP");
	d.box_text = rf_setting_text("RF_BOX_IP");
	d.key_text = rf_setting_text("RF_KEY");
	if (rf_setting_number("RF_MTU", 256, 4096, &mtu, why, sizeof(why))) {
		fprintf(stderr, "ringfold doctor: %s\n", why);
		return RF_EXIT_USAGE;
	}
	d.mtu = (unsigned int)mtu;
	n = parse(&d, argc, argv);
	if (n < 0)
		return n == -1 ? RF_EXIT_GOOD : RF_EXIT_USAGE;
	d.findings = json_array();
	examine(&d);
	if (d.json) {
		json_t *all = json_pack("{s:b, s:O}", "ok", !d.failed, "findings", d.findings);

		json_dumpf(all, stdout, JSON_INDENT(2));
		putchar('\n');
		json_decref(all);
	}
	json_decref(d.findings);
	if (d.open)
		boxlink_close(&d.link);
	return d.failed ? RF_EXIT_FAILED : RF_EXIT_GOOD;
}
