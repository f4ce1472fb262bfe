/* ringfold ctl: registers ranks that cannot join by themselves. */
#include <stdbool.h>
#include <stdio.h>

#include "tools/ctl.h"
#include "base/opt.h"

#define NS_PER_MS UINT64_C(1000000)
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

/* In a new group the first rank to join gets WAITING; in an old group no rank does. */
static bool all_memories(const struct rf_client *clients, unsigned int ranks)
{
	for (unsigned int r = 0; r < ranks; r++)
		if (!is_memory(&clients[r]))
			return false;
	return true;
}

/* The option that sets a field of JOIN, or NULL. */
static const char *option_of(const struct rf_client *client)
{
	const struct rf_ctl_failed *f = rf_client_failed(client);

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
	case 20:
		return "the addresses of --rank";
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

/* One line for all ranks with the same error. */
static int judge(const struct rf_client *clients, unsigned int ranks)
{
	bool said[CTL_RANKS_MAX] = {false};
	char text[512];
	int rc = RF_EXIT_GOOD;

	for (unsigned int r = 0; r < ranks; r++) {
		unsigned int more = 0;

		if (said[r] || rf_client_state(&clients[r]) == RF_CLIENT_READY)
			continue;
		describe(&clients[r], text, sizeof(text));
		for (unsigned int k = r + 1; k < ranks; k++) {
			if (said[k] || !same(&clients[r], r, &clients[k], k))
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
	struct boxlink link;

	/* Ask for the box's MAC address once, not once per rank. */
	if (!ctl_page(c, RF_CTL_PAGE_BOX, 0))
		return RF_EXIT_FAILED;
	link = c->link;
	link.box_mac = c->asker.box_mac;
	for (unsigned int i = 0; i < ATTEMPTS_MAX; i++) {
		uint64_t token = (seed + ((uint64_t)i << 32)) * UINT64_C(0x9e3779b97f4a7c15);

		for (unsigned int r = 0; r < ranks; r++) {
			boxlink_client(&link, &clients[r], (uint16_t)c->group, (uint16_t)r,
				       token + r + 1);
			rf_client_join(&clients[r], &join[r], boxlink_now());
		}
		boxlink_run(&link, clients, ranks, boxlink_joined,
			    boxlink_now() + 3 * c->timeout + 1000 * NS_PER_MS);
		if (!all_memories(clients, ranks))
			break;
	}
	return judge(clients, ranks);
}
