/* The machine's state, for the files of host/member. */
#ifndef RF_MEMBER_INTERNAL_H
#define RF_MEMBER_INTERNAL_H

#include "host/collective/hosts.h"
#include "host/member/member.h"

#define RF_MEMBER_MS UINT64_C(1000000)

/* The steps of creation on whose outcome the ranks agree. */
enum rf_member_step {
	RF_STEP_BOX,       /* JOIN for the slots that were requested */
	RF_STEP_BOX_FEWER, /* JOIN for the slots that are free */
	RF_STEP_CONNECT,
	RF_STEP_PROVE,
};

/* What the box reported about each rank's position. Times in ns, 0: never. */
struct rf_straggler_query {
	bool asking; /* a page was requested */
	bool ended;  /* the box has ended the group: the last answer before that stays valid */
	uint64_t asked, answered;
	struct rf_ctl_rank rank[RF_RANKS_MAX];
	/* the last rank that the box waited for, and when it did; 0: for none */
	unsigned int awaited;
	uint64_t awaited_at;
};

/* The check of the path: one packet of known values. */
struct rf_proof {
	uint8_t *room; /* of all buffers; NULL: not under way */
	uint8_t *got, *want;
	uint64_t begun, until;
	uint64_t last;      /* when to stop waiting for a process that stands still */
	uint64_t confirmed; /* when the box was asked whether it still has the group; 0: it was not
			     */
	bool who;           /* the box was asked which rank it waits for */
};

struct rf_member {
	struct rf_member_cfg cfg;
	struct rf_pair *pair;
	enum rf_member_phase phase;
	enum rf_member_step step;
	uint64_t changes;
	uint64_t due; /* next timeout as of the last run; NEVER: none */
	/* failure */
	int status;
	unsigned int culprit, reason;
	bool by_announcement;
	bool announce; /* the event has not been polled */
	char text[RF_MEMBER_TEXT];
	/* store */
	bool gathering;
	struct rf_member_gather gather;
	bool step_over;  /* the step has ended on this rank: it has to report */
	int step_status; /* how, as it reports */
	char step_text[RF_MEMBER_VALUE_MAX];
	struct rf_member_end *ends;
	struct rf_pair_numbers (*far)[RF_PAIR_FAR]; /* of all ranks, without a box */
	/* box */
	bool have_client;
	struct rf_client client;
	enum rf_client_state client_state; /* seen last */
	unsigned int least;                /* slots that the JOIN accepts */
	uint64_t join_from, join_until;
	uint64_t room_due; /* when a JOIN is repeated that found no room; 0: none */
	/* the box has no room: refusal.c */
	uint64_t tell_due; /* when the others are told of this rank's; 0: they are not */
	bool tell;         /* the event has not been polled */
	unsigned int told; /* steps that another rank has told of: a bit per step */
	uint64_t
		way_until; /* when the box need not be told any more; 0: this rank does not leave */
	unsigned int told_reason;
	char tell_text[RF_MEMBER_VALUE_MAX], told_text[RF_MEMBER_VALUE_MAX];
	uint64_t fail_due; /* when to fail with the box's reason; 0: it has not reported any */
	uint64_t leave_until;
	unsigned int window;
	struct rf_order order;
	struct rf_straggler_query straggler;
	/* calls */
	struct rf_coll *coll;
	struct rf_directed *directed; /* instead, in a directed group */
	struct rf_hosts *hosts;       /* instead, without a box */
	void *scratch;
	struct rf_proof proof;
	uint64_t open;      /* calls that are outstanding: a bit per id ... */
	uint64_t succeeded; /* ... and of these, those that have succeeded */
	uint64_t moved;     /* mark of the connections' progress, seen last */
	uint64_t moved_at, stall_due;
	uint64_t started; /* calls of the program, in sum */
	bool deserted;    /* a rank makes no call after so many; which one */
	uint64_t deserted_after;
	unsigned int deserter;
	uint64_t broken_due; /* a connection has ended: until then the box is asked why; else 0 */
	int broken_status;   /* of that failure, if the box gives no reason ... */
	char broken[256];    /* ... and its description */
};

/* ---- neighbours.c ---- */

unsigned int rf_member_next_rank(const struct rf_member *m);
unsigned int rf_member_prev_rank(const struct rf_member *m);
/* The rank that gets the results of a rank's packets: with a mirror connection itself. */
unsigned int rf_member_receiver_of(const struct rf_member *m, unsigned int rank);
bool rf_member_has_box(const struct rf_member *m);
/* Of a group at the box: its connection is to the box itself; it has all collectives. */
bool rf_member_is_mirror(const struct rf_member *m);
bool rf_member_is_directed(const struct rf_member *m);
/*
 * At this rank's own box: its number, how many there are, boxes below included, and which rank of
 * the group has a number there (RF_MEMBER_NOBODY: none, or a box below).
 */
unsigned int rf_member_number_here(const struct rf_member *m);
unsigned int rf_member_ranks_here(const struct rf_member *m);
unsigned int rf_member_rank_here(const struct rf_member *m, unsigned int number);

/* ---- base.c ---- */

/* Notes when the machine has to run next. */
void rf_member_ran(struct rf_member *m, uint64_t now);
/* The phase changes. */
void rf_member_enter(struct rf_member *m, enum rf_member_phase phase);
/* Whether another rank was refused in this step. */
bool rf_member_is_told(const struct rf_member *m);
/* The step has ended on this rank. text may be NULL for success. */
void rf_member_step_done(struct rf_member *m, int status, const char *text);
/* Notes the rank that a failure names, before the failure. */
void rf_member_blame(struct rf_member *m, unsigned int rank);
/* Notifies the box of the failure, if the member is in its group. */
void rf_member_abort_box(struct rf_member *m, uint64_t now);
/* Ends and frees the connections and the collective. */
void rf_member_disconnect(struct rf_member *m);
void rf_member_proof_free(struct rf_member *m);

/* Distances beyond the neighbours: 0 at a box. */
unsigned int rf_member_far(const struct rf_member *m);

/* ---- calls.c: the collective, of any kind ---- */

bool rf_member_connected(const struct rf_member *m);
/* As rf_coll_start() and so on. */
int rf_member_coll_start(struct rf_member *m, uint64_t id, const struct rf_directed_call *call);
int rf_member_coll_progress(struct rf_member *m);
int rf_member_coll_poll(struct rf_member *m, struct rf_coll_done *done);
uint32_t rf_member_coll_outstanding(const struct rf_member *m);
/* After an error that a connection has caused: which, and why. */
struct rf_member_trouble {
	unsigned int peer;
	bool from; /* something that came from it */
	int status;
	uint32_t got, want; /* of a message that does not belong here */
};
struct rf_member_trouble rf_member_coll_trouble(const struct rf_member *m);
/* The all-reduce of the group's own type and operation. */
struct rf_directed_call rf_member_all_reduce(const struct rf_member *m, const void *send,
					     void *recv, size_t count);

/* ---- refusal.c: a rank that a full box refuses tells the others ---- */

/* The box has refused this rank: ends the step. */
void rf_member_refused(struct rf_member *m, unsigned int reason, const char *text, uint64_t now);
/* Announces that if the others have not reported in time. */
void rf_member_tell(struct rf_member *m, uint64_t now);
/* Another rank has announced it; text: what rf_member_announcement() has returned there. */
void rf_member_refused_there(struct rf_member *m, unsigned int rank, const char *text,
			     uint64_t now);
/*
 * If another rank was refused in this step, ends the step before this rank asks the box, and
 * returns true.
 */
bool rf_member_spared(struct rf_member *m);
/* In JOIN, after another rank was refused: leaves the box, then ends the step. Returns what has
 * changed: 0 or 1. */
unsigned int rf_member_give_way(struct rf_member *m, uint64_t now);

/* ---- exchange.c: the messages for the store ---- */

/* Begins the gather of the ranks' cards. */
void rf_member_exchange(struct rf_member *m);
/* Takes over the numbers of all ranks; their settings must be equal. RF_ERR_MISMATCH and a text. */
int rf_member_read_cards(struct rf_member *m, const uint8_t *cards, char *text, size_t room);
/* Begins the gather of the ranks' reports, with m->step_status and m->step_text. */
void rf_member_report(struct rf_member *m);
/*
 * Returns the first rank's failure that is a cause, else the first failure, else RF_IN_PROGRESS if
 * any rank reported that; with its text.
 */
int rf_member_read_reports(struct rf_member *m, const uint8_t *all, char *text, size_t room);

/* ---- steps.c: creation ---- */

/* If the step has ended: reports, or goes on if there is nobody to report to. */
void rf_member_advance(struct rf_member *m, uint64_t now);

/* ---- join.c ---- */

void rf_member_join(struct rf_member *m, unsigned int least, uint64_t now);
unsigned int rf_member_join_progress(struct rf_member *m, uint64_t now);
/* Fails with the reason of the client. */
void rf_member_client_failed(struct rf_member *m, bool announce, uint64_t now);
void rf_member_leave_box(struct rf_member *m, bool disconnect, uint64_t now);
unsigned int rf_member_leave_progress(struct rf_member *m, uint64_t now);

/* ---- connect.c ---- */

/* Both return 0, or a negative enum rf_status with a text. */

/* Memory of the machine that the connections read and write (struct rf_pair_ops). */
int rf_member_add_memory(struct rf_member *m, void *addr, size_t bytes, char *why, size_t room);
int rf_member_connect(struct rf_member *m, char *why, size_t room);

/* ---- proof.c ---- */

void rf_member_prove(struct rf_member *m, uint64_t now);
unsigned int rf_member_proof_progress(struct rf_member *m, uint64_t now);
/* The id of its all-reduce. */
#define RF_PROOF_ID UINT64_MAX

/* ---- stragglers.c ---- */

/* Processes the box's answers. */
void rf_member_straggler_poll(struct rf_member *m, uint64_t now);
/* The rank that the box waits for; RF_MEMBER_NOBODY if none, or if it has not answered. */
unsigned int rf_member_straggler(const struct rf_member *m, uint64_t now);
/*
 * The rank that it waits for, or waited for until recently; RF_MEMBER_NOBODY if none. A rank may
 * have arrived just when a connection gave up waiting for it.
 */
unsigned int rf_member_last_straggler(const struct rf_member *m, uint64_t now);
/* When to ask the box again while no data moves; RF_MEMBER_NEVER: not now. */
uint64_t rf_member_ask_due(const struct rf_member *m);

#endif
