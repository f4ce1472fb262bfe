/*
 * ringfold doctor: what its sources share. Each check is a function that examines one thing,
 * reports it with doctor_say(), and returns true if the next check can run.
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
	DOCTOR_NOTE,    /* information, not an error */
	DOCTOR_SKIPPED, /* cannot be checked from here */
	DOCTOR_FAILED
};

struct doctor_check {
	const char *name;
	enum doctor_result result;
	char text[360];
	char fix[360]; /* if FAILED: the remedy */
};

/* What arrived from the network since doctor_listen(). */
struct doctor_heard {
	uint64_t frames;
	uint32_t arp_ip; /* the address whose MACs are collected */
	unsigned int macs;
	uint8_t mac[DOCTOR_MACS_MAX][6]; /* MACs that answered for arp_ip */
	uint32_t qpn[2];                 /* RoCE to these QPNs is kept */
	unsigned int kept[2];            /* how many arrived */
	uint32_t len[2];                 /* the last one for each */
	uint8_t frame[2][ROCE_FRAME_MAX + 64];
};

struct doctor {
	/* options */
	const char *device;
	const char *dpdk_args;
	const char *ip_text;
	const char *box_text;
	const char *gateway_text;
	const char *key_text;
	const char *job_text;
	const char *steering; /* "ring", "mirror" or "both" */
	unsigned int mtu;
	uint64_t timeout; /* timeout for an answer, ns */
	bool json;
	bool ranks; /* with all ranks of the job */

	struct rf_env env;
	struct boxlink link;
	struct doctor_heard heard;
	struct rf_client asker;
	struct rf_ctl_box_page box;
	uint8_t box_mac[6];  /* as resolved by ARP: the box's, or its router's */
	unsigned int port;   /* the box's port to which this host is connected */
	uint64_t round_trip; /* of a control packet, ns */
	uint64_t state;      /* state of the random numbers */
	struct doctor_check check[DOCTOR_CHECKS_MAX];
	unsigned int checks;
};

/* Records and prints a result. fix is NULL except for FAILED. Returns result != DOCTOR_FAILED. */
bool doctor_say(struct doctor *d, const char *name, enum doctor_result result, const char *fix,
		const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Prints all results, and whether all checks were good. */
void doctor_print_json(const struct doctor *d, bool good);

/* Takes a frame that is not an answer to a question; arg: the struct doctor. For struct boxlink. */
void doctor_take(void *arg, const uint8_t *frame, uint32_t len);
/* Clears what was received. */
void doctor_listen(struct doctor *d);
/*
 * Sends and receives frames for this long, or until cond(d) is true; returns whether it is true.
 * cond NULL: always for the whole time.
 */
bool doctor_hear(struct doctor *d, uint64_t ns, bool (*cond)(const struct doctor *));
uint64_t doctor_random(struct doctor *d);
/* How long to wait for one of our packets. */
uint64_t doctor_patience(const struct doctor *d);
/*
 * Fetches the counters page of this host's port at the box; false after reporting `name` as failed.
 */
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
/*
 * Why a group was refused: the box is in use, or the job has all that its key permits. Neither
 * means that something is wrong, and both may end when another group does.
 */
bool doctor_box_is_full(const struct rf_client *c);
bool doctor_quota_is_used(const struct rf_client *c);
/* doctor_mirror.c: packets to the addresses of the box's ports */
bool doctor_mirror(struct doctor *d);
/* doctor_ranks.c: under a launcher, with the other hosts */
bool doctor_ranks(struct doctor *d);

#endif
