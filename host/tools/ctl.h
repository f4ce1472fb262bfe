/* ringfold ctl: what its sources share. */
#ifndef RF_TOOLS_CTL_H
#define RF_TOOLS_CTL_H

#include <stdbool.h>
#include <stdint.h>

#include "host/tools/boxlink.h"
#include "host/tools/traffic.h"

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
	unsigned int group;
	unsigned int port;
	uint64_t timeout; /* ns */
	unsigned int slots;
	const char *dtype, *op;
	unsigned int mtu;
	bool transparent;
	unsigned int straggler; /* RNR timer code; 0: silence */
	struct ctl_rank rank[CTL_RANKS_MAX];
	unsigned int ranks;
	bool json;
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

/* The exit code of a JOIN of some ranks; those that are not in are named on stderr, with the cause.
 */
int ctl_joined(const struct rf_client *clients, unsigned int ranks);

/* An array of flat objects, as JSON or as a table whose head is the first one's keys. Takes rows.
 */
struct json_t;
void ctl_print_table(const struct ctl *c, struct json_t *rows);

/* Commands; each returns an exit code. */
int ctl_join(struct ctl *c);
int ctl_join_plain(struct ctl *c);
/* --rank, for struct rf_opt. */
int ctl_add_rank(void *ctl, const char *value);
int ctl_wait(struct ctl *c);
int ctl_status(struct ctl *c);
int ctl_groups(struct ctl *c);
int ctl_ports(struct ctl *c);
int ctl_slots(struct ctl *c);
int ctl_connections(struct ctl *c);
int ctl_log(struct ctl *c);
int ctl_ranks(struct ctl *c);
int ctl_counters(struct ctl *c);

#endif
