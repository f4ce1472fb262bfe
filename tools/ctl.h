/* ringfold ctl: declarations shared by its sources. */
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
	uint32_t send_qpn, psn; /* its queue pair to the successor, and the first PSN */
	uint32_t recv_qpn;      /* the queue pair that receives the predecessor's data */
	uint8_t port;           /* of the box */
	bool mirror;            /* send_qpn leads to the box's port and back; no recv_qpn */
	uint8_t mac[6];         /* mirror: where the results go */
};

struct ctl {
	const char *device;
	const char *dpdk_args;
	const char *ip_text;
	const char *box_text;
	const char *gateway_text;
	const char *key_text;
	const char *dir;
	uint64_t job;
	const char *group_text, *port_text;
	unsigned int group;
	bool all_groups; /* all groups of the job, because none was given */
	unsigned int port;
	bool all_ports;     /* all ports and the firmware, because no port was given */
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
	bool directed;
	bool json;
	bool quiet;        /* a refusal is not reported as an error */
	uint64_t watch;    /* ns between two queries; 0: query once */
	uint32_t log_next; /* first event that ctl_log() has not shown yet */
	struct boxlink link;
	struct rf_client asker; /* used by ctl_page() */
};

/* Acts as this job from now on, with its key; job 0 is the operator. */
void ctl_speak_for(struct ctl *c, uint64_t job);

/*
 * Requests one page about c->job and c->group. The answer is valid until the next request. Returns
 * NULL, with a message on stderr, if there is no answer or a refusal.
 */
const struct rf_ctl_reply *ctl_page(struct ctl *c, enum rf_ctl_page page, uint16_t index);
/* Waits for the answer to the client's query; returns as above. */
const struct rf_ctl_reply *ctl_answer(struct ctl *c, struct rf_client *client);

/*
 * Registers ranks of c->job: join[r] is the JOIN of rank r. Registering the same ranks again with
 * the same seed gives the same membership; if that has ended, a new one begins. Returns an exit
 * code: success if all are ready. Otherwise the ranks that are not ready are listed on stderr, with
 * the cause.
 */
int ctl_register(struct ctl *c, const struct rf_ctl_join *join, unsigned int ranks, uint64_t seed,
		 struct rf_client *clients);

/*
 * Prints an array of flat objects as JSON, or as a table with the first object's keys as head.
 * Takes ownership of rows.
 */
struct json_t;
/* Adds a number to an object. */
void ctl_number(struct json_t *object, const char *name, uint64_t value);
void ctl_print_table(const struct ctl *c, struct json_t *rows);
/* Prints an object as JSON or with one line per member. Takes ownership of it. */
void ctl_print_object(const struct ctl *c, struct json_t *object);

/* Whether the questions are those of the operator, who sees all groups of a job. */
bool ctl_is_operator(struct ctl *c);
/* Calls each() for the job's groups, or the one of --group; returns the first exit code that is not
 * good. */
int ctl_each_group(struct ctl *c, int (*each)(struct ctl *c, void *arg), void *arg);

/* Commands; each returns an exit code. */
/* --slots, or a default that leaves half of a default-size box to other jobs. */
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
/* Warns on stderr about a running or prolonged hold time. */
void ctl_hold_warn(const struct rf_ctl_box_page *b);
int ctl_log(struct ctl *c);
int ctl_ranks(struct ctl *c);
int ctl_stragglers(struct ctl *c);
int ctl_tree(struct ctl *c);
int ctl_drop(struct ctl *c);
int ctl_counters(struct ctl *c);

/* "02:00:00:00:00:01" of six bytes, or of a number. They return text. */
const char *ctl_mac(char text[18], const uint8_t mac[6]);
const char *ctl_mac_number(char text[18], uint64_t number);

#endif
