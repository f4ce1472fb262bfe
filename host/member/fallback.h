/*
 * A group that continues over a ring when its box has failed (RF_FALLBACK): which failures qualify,
 * on which call the ranks agree, and what each call then consists of. A pure machine without clock,
 * lock and thread: host/api drives it in real time, sim/fabric in virtual time.
 *
 * With a fallback only one call is outstanding at a time, and the operands of the last two calls
 * are kept. This is sufficient: a completed result contains every rank's operand, so every rank has
 * started that call and finished the one before. Hence ranks differ by at most one call.
 *
 * Only all-reduces continue. When the box fails in another collective, the caller gives up, and no
 * rank continues without this one.
 *
 *	rf_fallback_create(&cfg, &f);		once the group is RUNNING
 *	rf_fallback_keep(f, copy, ...);		before each call; then the call, through the box ...
 *	rf_fallback_succeeded(f);		... which has succeeded, or
 *	if (rf_fallback_takes(f, status))	... has failed with this status:
 *		rf_fallback_resume(f, text);	carries it out, and later calls at once
 *	rf_fallback_finish(f, status, text);	before the group is left: helps the other ranks
 *	after resume() and finish(): while (rf_fallback_action(f) != RF_FALLBACK_OVER) do the action
 *
 * Memory: allocates in rf_fallback_create(), not afterwards. The caller supplies the memory for the
 * two copies of operands. The caller's receive buffer is used until RF_FALLBACK_OVER.
 */
#ifndef RF_MEMBER_FALLBACK_H
#define RF_MEMBER_FALLBACK_H

#include "host/member/member.h"

/* What the driver has to do next. */
enum rf_fallback_action {
	RF_FALLBACK_GATHER, /* take part in a gather of all ranks; rf_fallback_gathered() */
	RF_FALLBACK_CREATE, /* create the ring with the other ranks; rf_fallback_created() */
	RF_FALLBACK_CALL,   /* all-reduce over the ring; rf_fallback_called() */
	RF_FALLBACK_ADD,    /* rf_fallback_add(), which takes long and needs no lock */
	RF_FALLBACK_OVER,   /* nothing: rf_fallback_status() */
};

struct rf_fallback_cfg {
	enum rf_fallback kind; /* not DEFAULT */
	unsigned int rank, ranks;
	unsigned int number; /* of the group */
	uint64_t timeout_ns;
	struct rf_order order; /* of the group; its schedule is that of the group */
};

/* An all-reduce over the ring. */
struct rf_fallback_call {
	const void *send;
	void *recv;
	size_t count;
	enum rf_type type;
	enum rf_op op;
};

struct rf_fallback_state;

/*
 * Copies cfg. Returns 0 and the machine, or NULL for a group that has no fallback (kind NONE, one
 * rank, or no box); RF_ERR_NO_MEMORY.
 */
int rf_fallback_create(const struct rf_fallback_cfg *cfg, struct rf_fallback_state **out);
/* NULL is allowed. */
void rf_fallback_destroy(struct rf_fallback_state *f);
/* "exact" */
const char *rf_fallback_name(enum rf_fallback kind);

/* Whether the group continues after this failure of its member. f may be NULL. */
bool rf_fallback_takes(const struct rf_fallback_state *f, int status);
/* Which of the caller's two copies the next call overwrites: 0 or 1. */
unsigned int rf_fallback_turn(const struct rf_fallback_state *f);
/*
 * Copies the operand of the next call, an all-reduce. copy: the caller's memory for its elements.
 * It must stay until rf_fallback_turn() returns its number again. The machine may overwrite it.
 * NULL for any other collective.
 */
void rf_fallback_keep(struct rf_fallback_state *f, void *copy, const struct rf_directed_call *call);
/* The box has completed the call. */
void rf_fallback_succeeded(struct rf_fallback_state *f);
/* The group does not continue: its caller has given the call up. */
void rf_fallback_give_up(struct rf_fallback_state *f);

/* Begins to carry out the call that the box did not complete. text: why. */
void rf_fallback_resume(struct rf_fallback_state *f, const char *text);
/* Begins the end of the group, whose member has this status and text. */
void rf_fallback_finish(struct rf_fallback_state *f, int status, const char *text);

enum rf_fallback_action rf_fallback_action(const struct rf_fallback_state *f);
/* Valid while the action is GATHER. */
const struct rf_member_gather *rf_fallback_gather(const struct rf_fallback_state *f);
/* Valid while the action is CALL. */
const struct rf_fallback_call *rf_fallback_call(const struct rf_fallback_state *f);

/* Results of the actions: 0, or a negative enum rf_status with a text. */
void rf_fallback_gathered(struct rf_fallback_state *f, int status, const char *text,
			  const uint8_t *values);
void rf_fallback_created(struct rf_fallback_state *f, int status, const char *text);
void rf_fallback_called(struct rf_fallback_state *f, int status, const char *text);
void rf_fallback_add(struct rf_fallback_state *f);

/* Of the call or the end that is OVER: 0, or why the group is unusable, and the text. */
int rf_fallback_status(const struct rf_fallback_state *f);
const char *rf_fallback_text(const struct rf_fallback_state *f);
/*
 * A line for the log when the group leaves its box, else NULL; each line only once.
 */
const char *rf_fallback_notice(struct rf_fallback_state *f);
/* The order of additions of the calls that are OVER. */
enum rf_schedule rf_fallback_schedule(const struct rf_fallback_state *f);

#endif
