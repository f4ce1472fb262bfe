/* ringfold ctl: the ranks of generated traffic, which has no hosts that could join. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/tools/ctl.h"
#include "host/tools/opt.h"

/* The JOIN of one rank of a plan. */
static struct rf_ctl_join join_of(const struct ctl *c, const struct traffic_plan *plan,
				  unsigned int rank)
{
	const struct traffic_rank *own = &plan->rank[rank];
	const struct traffic_rank *peer = &plan->rank[(rank + 1) % plan->ranks];
	struct rf_ctl_join join = {
		.ranks = (uint16_t)plan->ranks,
		.dtype = (uint8_t)plan->type,
		.op = (uint8_t)plan->op,
		.slots_min_log2 = 4,
		.port = own->place.port,
		.flags = RF_CTL_J_OPEN_LOOP,
		.src_ip = own->ip,
		.qpn = own->qpn,
		.peer_ip = peer->ip,
		.peer_qpn = peer->recv_qpn,
		.start_psn = own->start_psn,
		.shift = plan->shift,
		.lease_ms = RF_CTL_LEASE_NONE,
		.deadline_ms = (uint32_t)(c->timeout / 1000000u),
	};

	if (plan->shift)
		join.flags |= RF_CTL_J_SHIFTED;
	while (1u << join.mtu_log2 < plan->mtu)
		join.mtu_log2++;
	while (1u << join.slots_log2 < c->slots)
		join.slots_log2++;
	return join;
}

static int report_join(const struct ctl *c, const struct traffic_plan *plan,
		       const struct rf_client *clients)
{
	const struct rf_ctl_ready *ready;
	char text[256];
	int rc = RF_EXIT_GOOD;

	for (unsigned int r = 0; r < plan->ranks; r++) {
		if (rf_client_state(&clients[r]) == RF_CLIENT_READY)
			continue;
		rf_client_text(&clients[r], text, sizeof(text));
		fprintf(stderr, "ringfold ctl: rank %u: %s\n", r, text);
		rc = RF_EXIT_FAILED;
	}
	if (rc != RF_EXIT_GOOD)
		return rc;
	ready = rf_client_ready(&clients[0]);
	for (unsigned int r = 0; r < plan->ranks; r++) {
		if (ready->place[r].port != plan->rank[r].place.port ||
		    ready->place[r].lane != plan->rank[r].place.lane) {
			fprintf(stderr,
				"ringfold ctl: rank %u stands on port %u lane %u, not where the "
				"plan expects it\n",
				r, ready->place[r].port, ready->place[r].lane);
			rc = RF_EXIT_FAILED;
		}
	}
	printf("job %" PRIu64 ": %u ranks ready, hardware group %" PRIu32
	       ", %u slots, open loop%s\n",
	       c->job, plan->ranks, ready->hw_group, 1u << ready->slots_log2,
	       rf_client_open_lab(&clients[0]) ? "; the box has no keys: anyone may command it"
					       : "");
	return rc;
}

static int command_join(struct ctl *c)
{
	static struct traffic_plan plan;
	struct rf_client *clients;
	int rc;

	if (!c->dir) {
		fprintf(stderr, "ringfold ctl join: --traffic is missing\n");
		return RF_EXIT_USAGE;
	}
	if (traffic_load(&plan, c->dir) != 0)
		return RF_EXIT_FAILED;
	if (c->job == 0)
		c->job = plan.job;
	clients = calloc(plan.ranks, sizeof(*clients));
	if (!clients)
		return RF_EXIT_FAILED;
	for (unsigned int r = 0; r < plan.ranks; r++) {
		struct rf_ctl_join join = join_of(c, &plan, r);

		client_init(c, &clients[r], c->job, (uint16_t)c->group, (uint16_t)r);
		rf_client_join(&clients[r], &join, now_ns());
	}
	pump(c, clients, plan.ranks, joined);
	rc = report_join(c, &plan, clients);
	free(clients);
	return rc;
}

