/* ringfold ctl: what its sources share. */
#ifndef RF_TOOLS_CTL_H
#define RF_TOOLS_CTL_H

#include <stdbool.h>
#include <stdint.h>

#include "tools/boxlink.h"
#include "tools/traffic.h"

#define CTL_RANKS_MAX 128u

/* A rank that is registered by hand. */
struct ctl_rank {
	uint32_t ip;
	uint32_t send_qpn, psn; /* of its queue pair to the successor, and its first PSN */
	uint32_t recv_qpn;      /* of the one on which the predecessor's data come */
	uint8_t port;           /* of the box */
};

struct ctl {
	const char *device;
	const char *dpdk_args;
	const char *ip_text;
	const char *box_text;
	const char *key_text;
	const char *dir;
	uint64_t job;
	const char *group_text, *port_text;
	unsigned int group;
	bool all_groups; /* of the job: no group was named */
	unsigned int port;
	bool all_ports;     /* and the firmware: no port was named */
	uint64_t timeout;   /* ns */
	unsigned int slots; /* 0: ctl_slots_wanted() */
	const char *dtype, *op;
	unsigned int mtu;
	bool transparent;
	const char *others;        /* "fail" or "pass" */
	unsigned int straggler;    /* RNR timer code; 0: silence */
	uint64_t lease;            /* ns; 0: none */
	bool release, release_all; /* hold: --release, --release-all */
	uint32_t release_ip, release_qpn;
	struct ctl_rank rank[CTL_RANKS_MAX];
	unsigned int ranks;
	bool json;
	bool quiet;        /* an answer that is no good one is no fault */
	uint64_t watch;    /* ns between two looks; 0: one look */
	uint32_t log_next; /* first event that ctl_log() has not shown */
	struct boxlink link;
	struct rf_client asker; /* of ctl_page() */
};

/* Whose word is used from now on: the operator's (job 0), or that of a job and its key. */
void ctl_speak_for(struct ctl *c, uint64_t job);

/* Asks one page, about c->job and c->group. NULL, with a message on stderr, where
 * there is no good answer. The answer is valid until the next question. */
const struct rf_ctl_reply *ctl_page(struct ctl *c, enum rf_ctl_page page, uint16_t index);
/* Waits for the answer to what the client was asked; as above. */
const struct rf_ctl_reply *ctl_answer(struct ctl *c, struct rf_client *client);

/*
 * Registers ranks of c->job: join[r] is the JOIN of rank r. The same ranks registered twice, with
 * the same seed, are the same membership; where that one has ended, another one begins. Returns an
 * exit code: good where all are ready; else those that are not are named on stderr, with the cause.
 */
int ctl_register(struct ctl *c, const struct rf_ctl_join *join, unsigned int ranks, uint64_t seed,
		 struct rf_client *clients);

/* An array of flat objects, as JSON or as a table whose head is the first one's keys. Takes rows.
 */
struct json_t;
/* Name and number, as a member of an object. */
void ctl_number(struct json_t *object, const char *name, uint64_t value);
void ctl_print_table(const struct ctl *c, struct json_t *rows);
/* An object likewise, a line for each member. Takes it. */
void ctl_print_object(const struct ctl *c, struct json_t *object);

/* Commands; each returns an exit code. */
/* --slots, or what leaves half of a box of the default size to others. */
unsigned int ctl_slots_wanted(const struct ctl *c, unsigned int mtu);
int ctl_join(struct ctl *c);
int ctl_join_plain(struct ctl *c);
/* --rank, for struct rf_opt. */
int ctl_add_rank(void *ctl, const char *value);
int ctl_wait(struct ctl *c);
int ctl_status(struct ctl *c);
int ctl_groups(struct ctl *c);
int ctl_jobs(struct ctl *c);
int ctl_ports(struct ctl *c);
int ctl_slots(struct ctl *c);
int ctl_connections(struct ctl *c);
int ctl_hold(struct ctl *c);
/* --release, for struct rf_opt. */
int ctl_release_add(void *ctl, const char *value);
/* Says on stderr what an operator must know of the hold time. */
void ctl_hold_warn(const struct rf_ctl_box_page *b);
int ctl_log(struct ctl *c);
int ctl_ranks(struct ctl *c);
int ctl_stragglers(struct ctl *c);
int ctl_drop(struct ctl *c);
int ctl_counters(struct ctl *c);

#endif
