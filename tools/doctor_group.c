/*
 * ringfold doctor: a group of two ranks that both run on this host. It uses open loop, because no
 * peer acknowledges. The second rank has an address that does not belong to any host (RFC 5737).
 */
#include <stdio.h>
#include <string.h>

#include "tools/doctor.h"
#include "proto/rf_bytes.h"
#include "rf_regs.h"

#define NS_PER_MS UINT64_C(1000000)
#define NOBODY_IP 0xc6336401u /* 198.51.100.1 */
#define RANKS 2u
#define ELEMENTS 64u
#define TRIES 3u
/* If this process ends early, the box forgets the group after this time. */
#define LEASE_MS 5000u
#define SLOTS_LOG2 4u

struct trial {
	struct doctor *d;
	struct rf_client client[RANKS];
	uint32_t ip[RANKS];
	uint32_t qpn[RANKS]; /* QPNs on which this rank's data arrives at its successor */
	uint32_t psn[RANKS];
	uint8_t payload[RANKS][4 * ELEMENTS];
};

static void prepare(struct trial *t)
{
	struct doctor *d = t->d;
	uint16_t group = (uint16_t)(0x8000u | doctor_random(d));
	bool lanes = d->box.lanes > 1;
	unsigned int log2 = 8;

	while (1u << log2 < d->mtu)
		log2++;
	t->ip[0] = d->link.ip;
	t->ip[1] = NOBODY_IP;
	d->link.box_mac = d->link.io->mac;
	for (unsigned int r = 0; r < RANKS; r++) {
		t->psn[r] = (uint32_t)doctor_random(d) & ROCE_PSN_MASK;
		t->qpn[r] = 0xd00000u | ((uint32_t)doctor_random(d) & 0xffffeu) | r;
		for (unsigned int i = 0; i < ELEMENTS; i++) {
			/* Small whole numbers: their sums are exact. */
			float f = (float)((int)(i * 7 + r * 31) % 61 - 30);
			uint32_t bits;

			memcpy(&bits, &f, sizeof(bits));
			rf_put_le32(t->payload[r] + 4 * i, bits);
		}
	}
	for (unsigned int r = 0; r < RANKS; r++) {
		struct rf_ctl_join join = {.ranks = RANKS,
					   .dtype = RF_DTYPE_FP32,
					   .op = RF_OP_SUM,
					   .mtu_log2 = (uint8_t)log2,
					   .slots_log2 = SLOTS_LOG2,
					   .slots_min_log2 = SLOTS_LOG2,
					   .port = RF_CTL_NO_PORT,
					   .flags = RF_CTL_J_OPEN_LOOP | RF_CTL_J_SHIFTED,
					   .src_ip = t->ip[r],
					   .peer_ip = t->ip[!r],
					   .peer_qpn = t->qpn[r],
					   .start_psn = t->psn[r],
					   .shift = RF_CTL_SHIFT,
					   .lease_ms = LEASE_MS,
					   .deadline_ms = (uint32_t)(d->timeout / NS_PER_MS)};

		/* With one lane a port has room for one rank: the other one does not join. */
		if (r == 1 && !lanes)
			join.port = (uint8_t)((d->port + 1) % d->box.ports);
		boxlink_client(&d->link, &t->client[r], group, (uint16_t)r, doctor_random(d) | 1);
		rf_client_join(&t->client[r], &join, boxlink_now());
	}
}

static bool idle(const struct rf_client *c)
{
	return rf_client_next_timeout(c) == RF_CLIENT_NEVER;
}

/* Both ranks leave, in any state. */
static void leave(struct trial *t)
{
	for (unsigned int r = 0; r < RANKS; r++)
		rf_client_leave(&t->client[r], true, boxlink_now());
	boxlink_run(&t->d->link, t->client, RANKS, idle, boxlink_now() + t->d->timeout);
}

bool doctor_box_is_full(const struct rf_client *c)
{
	const struct rf_ctl_failed *f = rf_client_failed(c);

	return f && (f->reason == RF_CTL_R_NO_GROUPS || f->reason == RF_CTL_R_NO_SLOTS ||
		     f->reason == RF_CTL_R_NO_CONNECTIONS || f->reason == RF_CTL_R_NO_PASSES ||
		     f->reason == RF_CTL_R_NO_RANKS);
}

bool doctor_quota_is_used(const struct rf_client *c)
{
	const struct rf_ctl_failed *f = rf_client_failed(c);

	return f && (f->reason == RF_CTL_R_QUOTA || f->reason == RF_CTL_R_QUOTA_RANKS ||
		     f->reason == RF_CTL_R_QUOTA_ENTRIES || f->reason == RF_CTL_R_QUOTA_BYTES);
}

static const char *refusal_remedy(const struct rf_client *c)
{
	if (doctor_quota_is_used(c))
		return "end another group of this job (RF_JOB), or raise its quota in the box's "
		       "file "
		       "of keys";
	return "docs/control-protocol.md lists the reasons";
}

static bool joined(struct trial *t)
{
	struct doctor *d = t->d;
	const struct rf_ctl_ready *ready;
	char text[256];

	boxlink_run(&d->link, t->client, RANKS, boxlink_joined, boxlink_now() + 2 * d->timeout);
	for (unsigned int r = 0; r < RANKS; r++) {
		if (rf_client_state(&t->client[r]) == RF_CLIENT_READY)
			continue;
		rf_client_text(&t->client[r], text, sizeof(text));
		if (doctor_box_is_full(&t->client[r]))
			doctor_say(d, "port", DOCTOR_SKIPPED, NULL,
				   "the box has no room for another group now: %s", text);
		else
			doctor_say(d, "port", DOCTOR_FAILED, refusal_remedy(&t->client[r]),
				   "the box does not create a group: %s", text);
		return false;
	}
	ready = rf_client_ready(&t->client[0]);
	if (ready->place[0].port != d->port) {
		doctor_say(d, "port", DOCTOR_FAILED,
			   "all traffic of a host has to go to one port of the box: give its "
			   "switch port one rule",
			   "a group puts this host at port %u of the box, control packets came in "
			   "at port %u",
			   ready->place[0].port, d->port);
		return false;
	}
	return doctor_say(d, "port", DOCTOR_OK, NULL,
			  "a group has learned this host as a rank at port %u, lane %u", d->port,
			  ready->place[0].lane);
}

static void send_data(struct trial *t, unsigned int rank, bool spoil)
{
	struct doctor *d = t->d;
	uint8_t frame[ROCE_FRAME_MAX];
	struct roce_packet p = {.ttl = 64,
				.ip_flags = 0x4000,
				.src_ip = t->ip[rank],
				.dst_ip = t->ip[!rank],
				.udp_sport = 0xc0de,
				.opcode = ROCE_OP_SEND_ONLY,
				.migreq = true,
				.pkey = 0xffff,
				.qpn = t->qpn[rank],
				.psn = t->psn[rank],
				.payload = t->payload[rank],
				.payload_len = sizeof(t->payload[rank])};
	size_t len;

	/* Both results come back to this host. */
	memcpy(p.dst_mac, d->link.io->mac, 6);
	memcpy(p.src_mac, d->link.io->mac, 6);
	len = roce_build(&p, frame, sizeof(frame));
	if (spoil)
		frame[len - 20] ^= 0x10;
	boxlink_send(&d->link, frame, len);
}

/* Sends until one of two counters has increased; *grown is set to the increases, in order. */
static bool send_and_count(struct trial *t, unsigned int rank, bool spoil, uint32_t grown[2])
{
	struct doctor *d = t->d;
	struct rf_ctl_counters_page before;
	struct rf_ctl_counters_page after;

	if (!doctor_counters(d, "icrc", &before))
		return false;
	for (unsigned int i = 0; i < TRIES; i++) {
		send_data(t, rank, spoil);
		doctor_hear(d, doctor_patience(d) / 4, NULL);
		if (!doctor_counters(d, "icrc", &after))
			return false;
		grown[0] = after.value[RF_CNT_ICRC] - before.value[RF_CNT_ICRC];
		grown[1] = after.value[RF_CNT_ACCEPTED] - before.value[RF_CNT_ACCEPTED];
		if (grown[0] > 0 || grown[1] > 0)
			break;
	}
	return true;
}

static bool icrc(struct trial *t)
{
	struct doctor *d = t->d;
	uint32_t bad[2];
	uint32_t good[2];

	if (!send_and_count(t, 0, true, bad) || !send_and_count(t, 0, false, good))
		return false;
	if (bad[1] > 0)
		return doctor_say(d, "icrc", DOCTOR_FAILED,
				  "a device between this host and the box recomputes ICRCs: remove "
				  "it",
				  "a packet with a wrong ICRC was accepted");
	if (good[0] > 0)
		return doctor_say(
			d, "icrc", DOCTOR_FAILED,
			"look for a device on the path that rewrites packets (NAT, a "
			"firewall, a tunnel), and for damage: error counters of the NIC and of "
			"the switch",
			"the box rejects the ICRC of a correct packet: it was changed "
			"on its way");
	if (good[1] == 0 || bad[0] == 0)
		return doctor_say(d, "icrc", DOCTOR_FAILED,
				  "does another host use the same address? does another job use "
				  "port %u of the box's counters? run it again",
				  "the box has counted neither the packet with a wrong ICRC nor "
				  "the correct one");
	return doctor_say(
		d, "icrc", DOCTOR_OK, NULL,
		"a packet with a correct ICRC was accepted, one with a wrong ICRC dropped");
}

static bool both_came(const struct doctor *d)
{
	return d->heard.kept[0] > 0 && d->heard.kept[1] > 0;
}

static bool right_sum(const struct trial *t, unsigned int rank)
{
	const struct doctor_heard *h = &t->d->heard;
	struct roce_packet p;

	if (roce_parse(h->frame[rank], h->len[rank], &p) != ROCE_WIRE_OK ||
	    !roce_icrc_ok(h->frame[rank], &p) ||
	    p.psn != ((t->psn[rank] - RF_CTL_SHIFT) & ROCE_PSN_MASK) ||
	    p.payload_len != sizeof(t->payload[rank]))
		return false;
	for (unsigned int i = 0; i < ELEMENTS; i++) {
		uint32_t bits[RANKS] = {rf_get_le32(t->payload[0] + 4 * i),
					rf_get_le32(t->payload[1] + 4 * i)};
		float value[RANKS];
		float sum;

		memcpy(value, bits, sizeof(value));
		sum = value[0] + value[1];
		memcpy(bits, &sum, sizeof(sum));
		if (rf_get_le32(p.payload + 4 * i) != bits[0])
			return false;
	}
	return true;
}

static bool sum(struct trial *t)
{
	struct doctor *d = t->d;

	if (d->box.lanes < 2) {
		doctor_say(d, "sum", DOCTOR_SKIPPED, NULL,
			   "this box has room for one rank at each port: a sum needs a second host "
			   "(--ranks)");
		return true;
	}
	doctor_listen(d);
	for (unsigned int r = 0; r < RANKS; r++)
		d->heard.qpn[r] = t->qpn[r];
	for (unsigned int i = 0; i < TRIES && !both_came(d); i++) {
		send_data(t, 1, false);
		doctor_hear(d, doctor_patience(d), both_came);
	}
	if (!both_came(d))
		return doctor_say(d, "sum", DOCTOR_FAILED,
				  "`ringfold ctl counters` shows what the box did with them",
				  "two packets went into the box, %u of the two results came back",
				  (d->heard.kept[0] > 0) + (d->heard.kept[1] > 0));
	if (!right_sum(t, 0) || !right_sum(t, 1))
		return doctor_say(d, "sum", DOCTOR_FAILED,
				  "keep a capture of this run (the box's port and this host's) and "
				  "report it",
				  "a sum came back wrong");
	return doctor_say(d, "sum", DOCTOR_OK, NULL,
			  "the sum of two packets came back, correct in every bit");
}

bool doctor_group(struct doctor *d)
{
	static struct trial t;
	bool good;

	t.d = d;
	prepare(&t);
	if (!joined(&t)) {
		leave(&t);
		return d->check[d->checks - 1].result != DOCTOR_FAILED;
	}
	good = icrc(&t) && sum(&t);
	leave(&t);
	return good;
}
