/*
 * ringfold doctor: what its sources share. Each check is a function that looks at one thing, tells
 * what it saw with doctor_say(), and returns true when the next one can be tried.
 */
#ifndef RF_TOOLS_DOCTOR_H
#define RF_TOOLS_DOCTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "host/config/env.h"
#include "host/roce/wire.h"
#include "tools/boxlink.h"

#define DOCTOR_CHECKS_MAX 32u
#define DOCTOR_MACS_MAX 16u

enum doctor_result {
	DOCTOR_OK,
	DOCTOR_NOTE,    /* worth knowing, nothing is wrong */
	DOCTOR_SKIPPED, /* cannot be looked at from here */
	DOCTOR_FAILED
};

struct doctor_check {
	const char *name;
	enum doctor_result result;
	char text[360];
	char fix[360]; /* FAILED: what to do */
};

/* What came from the network since doctor_listen(). */
struct doctor_heard {
	uint64_t frames;
	uint32_t arp_ip; /* whose MACs are collected */
	unsigned int macs;
	uint8_t mac[DOCTOR_MACS_MAX][6]; /* that answered for arp_ip */
	uint32_t qpn[2];                 /* RoCE to these QPNs is kept */
	unsigned int kept[2];            /* how many came */
	uint32_t len[2];                 /* the last one of each */
	uint8_t frame[2][ROCE_FRAME_MAX + 64];
};

struct doctor {
	/* options */
	const char *device;
	const char *dpdk_args;
	const char *ip_text;
	const char *box_text;
	const char *key_text;
	const char *job_text;
	unsigned int mtu;
	uint64_t timeout; /* ns for an answer */
	bool json;
	bool ranks; /* with all ranks of the launcher */

	struct rf_env env;
	struct boxlink link;
	struct doctor_heard heard;
	struct rf_client asker;
	struct rf_ctl_box_page box;
	uint8_t box_mac[6];  /* the one that ARP gave */
	unsigned int port;   /* of the box, on which this host is */
	uint64_t round_trip; /* ns, of a control packet */
	uint64_t state;      /* random numbers */
	struct doctor_check check[DOCTOR_CHECKS_MAX];
	unsigned int checks;
};

/* Notes and prints a result. fix NULL except for FAILED. Returns result != DOCTOR_FAILED. */
bool doctor_say(struct doctor *d, const char *name, enum doctor_result result, const char *fix,
		const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Forgets what was heard. */
void doctor_listen(struct doctor *d);
/* Moves frames for so long, or until cond(d) holds; whether it holds. cond NULL: to the end. */
bool doctor_hear(struct doctor *d, uint64_t ns, bool (*cond)(const struct doctor *));
uint64_t doctor_random(struct doctor *d);
/* How long a packet of ours is waited for. */
uint64_t doctor_patience(const struct doctor *d);
/* A counters page of the box's port on which this host is; false with `name` failed. */
bool doctor_counters(struct doctor *d, const char *name, struct rf_ctl_counters_page *page);

/* doctor_box.c */
bool doctor_device(struct doctor *d);
bool doctor_address(struct doctor *d);
bool doctor_arp(struct doctor *d);
bool doctor_control(struct doctor *d);
bool doctor_clock(struct doctor *d);
bool doctor_rule(struct doctor *d);
/* doctor_path.c */
bool doctor_return(struct doctor *d);
bool doctor_mtu(struct doctor *d);
bool doctor_damage(struct doctor *d);
/* doctor_group.c: join, ICRC, a sum */
bool doctor_group(struct doctor *d);
/* doctor_ranks.c: under a launcher, with the other hosts */
bool doctor_ranks(struct doctor *d);

#endif
