/*
 * A wire between a host and its switch port with one fault, to test what ringfold doctor reports.
 *
 *	e2e_bad_wire HOST SWITCH FAULT [PORT]
 *
 * HOST and SWITCH are DPDK devices: the end to which the host connects, and the switch port; PORT
 * is the box port to which its rule redirects. It prints "ready" and runs until SIGTERM.
 */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/io/io.h"
#include "host/roce/wire.h"
#include "proto/rf_bytes.h"
#include "proto/rf_ctl.h"
#include "wire/arp.h"

#define FRAME_MAX (ROCE_FRAME_MAX + 18u)
#define BOX_IP 0x0a0000feu
/* Whether an address is that of a port of the box. */
#define IS_PORT_IP(ip) ((ip) - (BOX_IP - 32u) < 8u)
#define SHORT 1000u
#define PROOFS 4u /* packets of a directed group that always pass */

struct wire {
	struct rf_io *to_host;
	struct rf_io *to_switch;
	const char *fault;
	unsigned int port;   /* the box's port to which the switch port's rule redirects */
	unsigned int probes; /* probes sent towards the switch */
	unsigned int calls;  /* packets of directed groups sent towards the host */
};

static volatile sig_atomic_t stopped;

static void on_signal(int number)
{
	(void)number;
	stopped = 1;
}

static void put(struct rf_io *io, const uint8_t *frame, size_t len)
{
	uint8_t *to;

	while (!(to = io->ops->tx_buffer(io)) && !stopped)
		io->ops->wait(io, 100);
	if (!to)
		return;
	memcpy(to, frame, len);
	io->ops->tx_commit(io, (uint32_t)len);
	io->ops->tx_flush(io);
}

static bool is(const struct wire *w, const char *fault)
{
	return strcmp(w->fault, fault) == 0;
}

/* Another host answers ARP requests for `ip`. */
static void answer_arp(struct wire *w, const uint8_t *frame, size_t len, bool own, bool ports)
{
	struct rf_arp a;
	struct rf_arp r = {.op = 2, .sender_mac = {2, 0xee, 0, 0, 0, 1}};
	uint8_t reply[64];

	if (rf_arp_parse(frame, len, &a) == 0 || a.op != 1 ||
	    (own     ? a.sender_ip != 0
	     : ports ? !IS_PORT_IP(a.target_ip)
		     : a.target_ip != BOX_IP))
		return;
	r.sender_ip = a.target_ip;
	r.target_ip = a.sender_ip;
	memcpy(r.target_mac, a.sender_mac, 6);
	put(w->to_host, reply, rf_arp_build(&r, reply, sizeof(reply)));
}

/* Traffic of another host that does not involve the box. */
static void make_noise(struct wire *w, const uint8_t *frame, size_t len)
{
	struct rf_arp a;
	struct rf_arp r = {.op = 1,
			   .sender_mac = {2, 0xee, 0, 0, 0, 2},
			   .sender_ip = 0x0a0000c8u,
			   .target_ip = 0x0a0000c9u};
	uint8_t request[64];

	if (rf_arp_parse(frame, len, &a) != 0)
		put(w->to_host, request, rf_arp_build(&r, request, sizeof(request)));
}

/* RoCE between hosts, to or from the box's network, or a control packet of the box. */
enum kind { OTHER, CONTROL, PROBE, DATA, STREAM };

/* Part of a message of several packets, but not the first or last. */
static bool is_middle(const struct roce_packet *p)
{
	return p->opcode == ROCE_OP_SEND_MIDDLE || p->opcode == ROCE_OP_WRITE_MIDDLE;
}

/*
 * A packet of a call: in a directed group each is a message. Those of the check of the path come
 * first.
 */
static bool is_call(const struct roce_packet *p, enum kind kind)
{
	return kind == PROBE && p->opcode == ROCE_OP_SEND_ONLY_IMM;
}

static enum kind kind_of(const uint8_t *frame, size_t len, struct roce_packet *p)
{
	struct roce_udp u;

	if (roce_udp_parse(frame, len, &u) == 0 && u.dport == ROCE_UDP_PORT &&
	    (u.dst_ip == BOX_IP || u.src_ip == BOX_IP))
		return CONTROL;
	if (roce_parse(frame, len, p) != ROCE_WIRE_OK)
		return OTHER;
	if (is_middle(p))
		return STREAM;
	return p->opcode == ROCE_OP_SEND_ONLY ? DATA : PROBE;
}

/* Another host behind this wire claims the address of each port that is asked for. */
static void claim(struct wire *w, const uint8_t *frame, size_t len)
{
	struct rf_arp a;
	struct rf_arp r = {.op = 1, .sender_mac = {2, 0xee, 0, 0, 0, 1}};
	uint8_t out[64];

	if (rf_arp_parse(frame, len, &a) == 0 || a.target_ip != BOX_IP)
		return;
	for (unsigned int p = 0; p < 8; p++) {
		r.sender_ip = r.target_ip = BOX_IP - 32u + p;
		put(w->to_switch, out, rf_arp_build(&r, out, sizeof(out)));
	}
}

/* Handles frames from the host. */
static void up(struct wire *w, uint8_t *frame, size_t len)
{
	struct roce_packet p;
	enum kind kind = kind_of(frame, len, &p);

	if (is(w, "taken"))
		answer_arp(w, frame, len, true, false);
	if (is(w, "imposter"))
		answer_arp(w, frame, len, false, false);
	if (is(w, "squatter"))
		answer_arp(w, frame, len, false, true);
	if (is(w, "claim"))
		claim(w, frame, len);
	if (is(w, "keeps") && kind == DATA && IS_PORT_IP(p.dst_ip))
		return;
	if (is(w, "noise"))
		make_noise(w, frame, len);
	if (is(w, "deaf") && kind == CONTROL)
		return;
	if (is(w, "no-counters") && kind == CONTROL && frame[42 + 5] == RF_CTL_STATUS &&
	    frame[42 + RF_CTL_HEADER] == RF_CTL_PAGE_PORT)
		return;
	if (is(w, "other-box") && kind == PROBE) {
		memcpy(frame + 6, "\x02\x52\x46\x00\x00\x10", 6);
		frame[11] = (uint8_t)(frame[11] + w->port);
		put(w->to_host, frame, len);
		return;
	}
	if (is(w, "fading") && kind == PROBE && w->probes++ > 0)
		return;
	if (is(w, "filter") && kind == DATA && !roce_icrc_ok(frame, &p))
		return;
	if (is(w, "runt") && kind == PROBE)
		put(w->to_switch, frame, 40);
	if (is(w, "version") && kind == CONTROL)
		frame[42 + 4] = 9;
	if (is(w, "box-only") && kind >= PROBE)
		return;
	if (is(w, "reflect") && kind >= PROBE) {
		put(w->to_host, frame, len);
		return;
	}
	if (is(w, "fragment") && kind >= PROBE) {
		frame[14 + 6] |= 0x20; /* more fragments: the box drops it and counts it */
		rf_put_be16(frame + 24, 0);
		rf_put_be16(frame + 24, (uint16_t)~rf_ctl_checksum(frame + 14, 20, 0));
	}
	if (is(w, "header") && kind >= PROBE)
		frame[24] ^= 1; /* the IP header's checksum */
	if (is(w, "short") && len > SHORT)
		return;
	if (is(w, "fixer") && kind == DATA)
		roce_icrc_write(frame, &p);
	if (is(w, "damage") && kind == DATA)
		frame[p.payload_offset] ^= 1;
	put(w->to_switch, frame, len);
}

/*
 * Changes the box's page: twice as much time has passed, or the MTU is small, or a group has put a
 * rank at another port; signed as in an open lab. Or makes the signature wrong.
 */
static void change_answer(const struct wire *w, uint8_t *frame, size_t len)
{
	static const uint8_t key[RF_CTL_KEY_BYTES];
	uint8_t msg[RF_CTL_MESSAGE_MAX];
	struct rf_ctl_header h;
	struct rf_ctl_reply r;

	if (len < 42 + RF_CTL_HEADER || rf_get_be32(frame + 26) != BOX_IP || frame[23] != 17 ||
	    rf_ctl_header_get(frame + 42, rf_get_be16(frame + 38) - 8u, &h) != 0 ||
	    rf_ctl_reply_get(frame + 42, &h, &r) != RF_CTL_R_NONE)
		return;
	if (is(w, "clock") && r.result == RF_CTL_PAGE && r.page == RF_CTL_PAGE_BOX)
		r.u.box.uptime_ms *= 2;
	if (is(w, "small") && r.result == RF_CTL_PAGE && r.page == RF_CTL_PAGE_BOX)
		r.u.box.mtu_log2 = 9;
	if (is(w, "elsewhere") && r.result == RF_CTL_READY)
		r.u.ready.place[0].port ^= 1;
	memcpy(frame + 42, msg, rf_ctl_reply_put(msg, &h, &r, key));
	if (is(w, "other-key"))
		frame[42 + 48] ^= 1;
}

/* Handles frames to the host. */
static void down(struct wire *w, uint8_t *frame, size_t len)
{
	struct roce_packet p;
	enum kind kind = kind_of(frame, len, &p);

	if (is(w, "small") || is(w, "clock") || is(w, "elsewhere") || is(w, "other-key"))
		change_answer(w, frame, len);
	if (is(w, "dumb") || (is(w, "noise") && kind == OTHER))
		return;
	if (is(w, "two-rules") && kind == PROBE)
		frame[11] ^= 1; /* as if from another port of the box */
	if (is_call(&p, kind) && w->calls++ >= PROOFS)
		kind = STREAM;
	if (is(w, "stall") && kind == STREAM)
		return;
	if (is(w, "spoil") && kind == STREAM) {
		frame[p.payload_offset] ^= 1;
		roce_icrc_write(frame, &p);
	}
	if (is(w, "one-way") && kind >= PROBE)
		return;
	if (is(w, "rewrite") && kind == PROBE)
		frame[34] ^= 1; /* UDP source port, as NAT does */
	if (is(w, "half") && kind == DATA && p.qpn & 1)
		return;
	if (is(w, "list") && kind == DATA && IS_PORT_IP(p.src_ip))
		return;
	if (is(w, "nat") && kind == DATA && IS_PORT_IP(p.src_ip))
		frame[53] ^= 1; /* the PSN */
	if (is(w, "raw") && kind == DATA) {
		frame[p.payload_offset] ^= 1;
		roce_icrc_write(frame, &p);
	}
	put(w->to_host, frame, len);
}

static unsigned int move(struct wire *w, struct rf_io *from,
			 void (*through)(struct wire *w, uint8_t *frame, size_t len))
{
	struct rf_io_frame frames[RF_IO_BURST];
	uint8_t copy[FRAME_MAX];
	unsigned int n = from->ops->rx(from, frames, RF_IO_BURST);

	for (unsigned int i = 0; i < n; i++) {
		if (frames[i].len > FRAME_MAX)
			continue;
		memcpy(copy, frames[i].data, frames[i].len);
		through(w, copy, frames[i].len);
	}
	return n;
}

int main(int argc, char **argv)
{
	struct sigaction act = {.sa_handler = on_signal};
	struct wire w = {.fault = argc >= 4 ? argv[3] : ""};
	char why[256];

	if (argc == 5)
		w.port = (unsigned int)atoi(argv[4]);
	if (argc != 4 && argc != 5) {
		fprintf(stderr, "usage: e2e_bad_wire HOST SWITCH FAULT [PORT]\n");
		return 2;
	}
	if (rf_io_dpdk_open(&(struct rf_io_dpdk_cfg){.device = argv[1],
						     .args = "-m 128",
						     .frame_max = FRAME_MAX},
			    &w.to_host, why, sizeof(why)) != 0 ||
	    rf_io_dpdk_open(&(struct rf_io_dpdk_cfg){.device = argv[2], .frame_max = FRAME_MAX},
			    &w.to_switch, why, sizeof(why)) != 0) {
		fprintf(stderr, "e2e_bad_wire: %s\n", why);
		return 1;
	}
	sigaction(SIGTERM, &act, NULL);
	sigaction(SIGINT, &act, NULL);
	puts("ready");
	fflush(stdout);
	while (!stopped) {
		if (move(&w, w.to_host, up) + move(&w, w.to_switch, down) == 0)
			w.to_host->ops->wait(w.to_host, 200);
	}
	w.to_host->ops->close(w.to_host);
	w.to_switch->ops->close(w.to_switch);
	return 0;
}
