/* ringfold ctl: registers ranks that cannot join by themselves. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "tools/ctl.h"
#include "base/opt.h"

#define NS_PER_MS UINT64_C(1000000)
#define NS_PER_S UINT64_C(1000000000)
/* A client that waits repeats its JOIN several times within this. */
#define SETTLE_NS (500 * NS_PER_MS)
/* More memberships of one job and group than a box can remember. */
#define ATTEMPTS_MAX 24u

/* Whether an answer belongs to a membership that has ended, or to another one. */
static bool is_memory(const struct rf_client *client)
{
	const struct rf_ctl_failed *f = rf_client_failed(client);

	if (rf_client_state(client) != RF_CLIENT_FAILED || !f || rf_client_waiting(client) ||
	    rf_client_ready(client))
		return false;
	switch (f->reason) {
	case RF_CTL_R_RANK_TAKEN:
	case RF_CTL_R_OTHER_PORT:
	case RF_CTL_R_SUCCESSOR_UNKNOWN:
	case RF_CTL_R_NO_LANES:
	case RF_CTL_R_NO_PASSES:
	case RF_CTL_R_MISSING_RANKS:
	case RF_CTL_R_LEASE:
	case RF_CTL_R_ABORTED:
	case RF_CTL_R_OPERATOR:
	case RF_CTL_R_RESET:
	case RF_CTL_R_DISAGREE:
	case RF_CTL_R_LENGTH:
	case RF_CTL_R_ELEMENT:
	case RF_CTL_R_OPCODE:
	case RF_CTL_R_NAK:
	case RF_CTL_R_HARDWARE:
	case RF_CTL_R_BEFORE_START:
	case RF_CTL_R_WRONG_QPN:
	case RF_CTL_R_PARITY:
	case RF_CTL_R_ENDED:
		return true;
	default:
		return false;
	}
}

/*
 * Numbers of requests: the tokens are the same in each process, so that each goes on above the
 * numbers of those before it. 32 a second are more than a client sends, and wrap after years.
 */
static uint32_t number_by_clock(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (uint32_t)((uint64_t)ts.tv_sec * 32u + (uint64_t)ts.tv_nsec / (NS_PER_S / 32u));
}

/* Ranks in each state that a JOIN can be in after its first answer. */
struct tally {
	unsigned int open, ready, memories, refused;
};

static struct tally tally(const struct rf_client *clients, unsigned int ranks)
{
	struct tally t = {0};

	for (unsigned int r = 0; r < ranks; r++) {
		if (rf_client_state(&clients[r]) == RF_CLIENT_READY)
			t.ready++;
		else if (rf_client_state(&clients[r]) != RF_CLIENT_FAILED)
			t.open++;
		else if (is_memory(&clients[r]))
			t.memories++;
		else if (rf_client_error(&clients[r]) == RF_CLIENT_E_REFUSED)
			t.refused++;
	}
	return t;
}

/* For boxlink_run(): a JOIN has been answered, if only that ranks are missing. */
static bool answered(const struct rf_client *client)
{
	return boxlink_joined(client) || rf_client_waiting(client);
}

/* For boxlink_run(): nothing is left to be sent for a client that has failed. */
static bool silent(const struct rf_client *client)
{
	return !boxlink_joined(client) || rf_client_next_timeout(client) == RF_CLIENT_NEVER;
}

/* Ends the JOINs that wait for ranks that cannot come, and marks them. */
static void leave(struct boxlink *link, struct rf_client *clients, unsigned int ranks, bool *left)
{
	for (unsigned int r = 0; r < ranks; r++)
		if (!boxlink_joined(&clients[r]))
			left[r] = rf_client_leave(&clients[r], false, boxlink_now()) == 0;
	boxlink_run(link, clients, ranks, silent, boxlink_now() + NS_PER_S);
}

/*
 * Whether the ranks have to try again with other tokens: at least one token is that of a former
 * membership, and no rank has got further than that.
 */
static bool former(const struct tally *t, unsigned int ranks)
{
	return t->memories > 0 && t->memories + t->refused + t->open == ranks;
}

/*
 * Joins all ranks, until each is ready or has failed. left: those that were given up because
 * another one was refused, or belongs to a group that has ended. Returns former().
 */
static bool attempt(struct boxlink *link, struct rf_client *clients, unsigned int ranks,
		    uint64_t timeout, bool *left)
{
	uint64_t until = boxlink_now() + timeout;
	struct tally t;
	bool again;

	boxlink_run(link, clients, ranks, answered, until);
	t = tally(clients, ranks);
	/* The last rank of a new group may fail at once too. Then the others soon hear of it. */
	if (t.open > 0 && t.memories > 0) {
		boxlink_run(link, clients, ranks, boxlink_joined, boxlink_now() + SETTLE_NS);
		t = tally(clients, ranks);
	}
	again = former(&t, ranks);
	if (t.open > 0 && (again || t.refused > 0))
		leave(link, clients, ranks, left);
	else
		boxlink_run(link, clients, ranks, boxlink_joined, until);
	return again;
}

/* The option that sets a field of JOIN, or NULL. */
static const char *option_of(const struct rf_client *client)
{
	const struct rf_ctl_failed *f = rf_client_failed(client);
	bool mirror = (client->join.flags & RF_CTL_J_MIRROR) != 0;

	if (rf_client_state(client) != RF_CLIENT_FAILED || !f || f->reason != RF_CTL_R_FIELD)
		return NULL;
	switch (f->detail) {
	case 2:
		return "--dtype";
	case 3:
		return "--op";
	case 4:
		return "--mtu";
	case 5:
	case 6:
		return "--slots";
	case 7:
		return "port= of --rank";
	case 8:
		return "--transparent, --straggler, --others";
	case 12:
		return "the addresses of --rank";
	case 20:
	case 24:
		return mirror ? "mac= of --rank" : "the addresses and recv= of --rank";
	case 36:
		return "--lease";
	case 40:
		return "--timeout";
	default:
		return NULL;
	}
}

/* The message for a rank that is not ready. */
static void describe(const struct rf_client *client, char *text, size_t room)
{
	const char *option = option_of(client);
	size_t n = rf_client_text(client, text, room);

	if (option && n < room)
		snprintf(text + n, room - n, " (%s)", option);
}

/* Whether two ranks have the same error, each about itself or both about a third rank. */
static bool same(const struct rf_client *a, unsigned int rank_a, const struct rf_client *b,
		 unsigned int rank_b)
{
	const struct rf_ctl_failed *f = rf_client_failed(a), *g = rf_client_failed(b);

	if (rf_client_state(a) != RF_CLIENT_FAILED || rf_client_state(b) != RF_CLIENT_FAILED ||
	    !f || !g || f->reason != g->reason || f->detail != g->detail)
		return false;
	return f->rank == g->rank || (f->rank == rank_a && g->rank == rank_b);
}

/* One line for all ranks with the same error; none for those given up because of it. */
static int judge(const struct rf_client *clients, unsigned int ranks, const bool *left)
{
	bool said[CTL_RANKS_MAX] = {false};
	char text[512];
	int rc = RF_EXIT_GOOD;

	for (unsigned int r = 0; r < ranks; r++) {
		unsigned int more = 0;

		if (said[r] || left[r] || rf_client_state(&clients[r]) == RF_CLIENT_READY)
			continue;
		describe(&clients[r], text, sizeof(text));
		for (unsigned int k = r + 1; k < ranks; k++) {
			if (said[k] || left[k] || !same(&clients[r], r, &clients[k], k))
				continue;
			said[k] = true;
			more++;
		}
		if (more > 0)
			fprintf(stderr, "ringfold ctl: rank %u and %u more: %s\n", r, more, text);
		else
			fprintf(stderr, "ringfold ctl: rank %u: %s\n", r, text);
		rc = RF_EXIT_FAILED;
	}
	return rc;
}

int ctl_register(struct ctl *c, const struct rf_ctl_join *join, unsigned int ranks, uint64_t seed,
		 struct rf_client *clients)
{
	bool left[CTL_RANKS_MAX];
	struct boxlink link;
	bool again = true;

	/* Ask for the box's MAC address once, not once per rank. */
	if (!ctl_page(c, RF_CTL_PAGE_BOX, 0))
		return RF_EXIT_FAILED;
	link = c->link;
	link.box_mac = c->asker.box_mac;
	link.first_seq = number_by_clock();
	for (unsigned int i = 0; again && i < ATTEMPTS_MAX; i++) {
		uint64_t token = (seed + ((uint64_t)i << 32)) * UINT64_C(0x9e3779b97f4a7c15);

		memset(left, 0, sizeof(left));
		for (unsigned int r = 0; r < ranks; r++) {
			boxlink_client(&link, &clients[r], (uint16_t)c->group, (uint16_t)r,
				       token + r + 1);
			rf_client_join(&clients[r], &join[r], boxlink_now());
		}
		again = attempt(&link, clients, ranks, 3 * c->timeout + 1000 * NS_PER_MS, left);
	}
	return judge(clients, ranks, left);
}
