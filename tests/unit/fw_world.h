/* A simple model of the groups of a fake box, for fw_random_test. Failures are cmocka's. */
#ifndef FW_WORLD_H
#define FW_WORLD_H

#include "firmware/core/internal.h"
#include "tests/unit/fw_box.h"

#define JOBS 6u
#define NUMBERS 2u
#define RANKS 6u
#define GROUPS 32u
#define LEASE 200u
#define DEADLINE 700u
/* Signs of life are checked four times in a lease. */
#define LEASE_LATEST (LEASE + LEASE / 4u + 4u)

struct rank {
	bool joined, left, gone;
	bool crashed; /* sends nothing any more */
	uint64_t token, life;
};

struct group {
	unsigned int state; /* enum rf_ctl_state; FREE: not active */
	uint64_t job;
	unsigned int number, n, joined, left, s_log2;
	bool shifted;
	uint64_t deadline;
	struct rank rank[RANKS];
};

#define RECORDS 64u

/* A frame that was sent, for replays. */
struct record {
	uint8_t frame[RF_CTL_FRAME_MAX];
	size_t len;
};

struct world {
	struct record sent[RECORDS];
	unsigned int sends, floods;
	struct fw_box *b;
	struct group g[GROUPS];
	uint64_t next_token, settled;
	uint32_t seq;
	unsigned int replies[8], refusals[RF_CTL_R_COUNT], failures, leases, deadlines, lost;
	unsigned int strangers, taken, waited;
};

/* A request to the firmware. */
struct ask {
	struct rf_ctl_header h;
	struct rf_ctl_request r;
	uint32_t ip;
	unsigned int port;
};

uint64_t world_now(const struct world *w);
uint32_t world_ip(uint64_t job, unsigned int number, unsigned int rank);
struct ask world_ask(struct world *w, unsigned int verb, uint64_t job, unsigned int number,
		     unsigned int rank, uint64_t token);
/* Sends a request and gets its answer, skipping notices; false: no answer. */
bool world_send(struct world *w, const struct ask *a, struct rf_ctl_reply *r);
struct group *world_in_state(struct world *w, uint64_t job, unsigned int number,
			     unsigned int state);
/* A group of which the rank is a member that has not left. */
struct group *world_member_of(struct world *w, uint64_t job, unsigned int number,
			      unsigned int rank);
void world_end(struct world *w, struct group *g);
/* Whether an aligned range of units is free, searched place by place. */
bool world_range_free(const struct world *w, uint32_t total, uint32_t size, bool heads);
/* The same rank of the same job and number in another group has the same queue pair. */
bool world_taken(struct world *w, const struct group *g, uint64_t job, unsigned int number,
		 unsigned int rank);
/* Keys of the operator and of all jobs, each with another kind of limit. */
extern const struct rf_fw_key world_keys[1 + JOBS];
/* Why a job's limits refuse a group of n ranks and 2^s_log2 slots of 1 KiB, none open loop. */
enum rf_ctl_reason world_quota(const struct world *w, uint64_t job, unsigned int n,
			       unsigned int s_log2);
/* Checks that the active groups of the box are those of the model. */
void world_check(struct world *w);

#endif
