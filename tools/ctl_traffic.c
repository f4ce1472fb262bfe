/* ringfold ctl: ranks of generated traffic, which has no hosts that could join. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "host/config/settings.h"
#include "tools/ctl.h"
#include "base/opt.h"
#include "proto/rf_bytes.h"
#include "rf_regs.h"

#define NS_PER_MS UINT64_C(1000000)
/* Time between two queries while traffic runs. */
#define LOOK_NS (100 * NS_PER_MS)
/* All packets have left once the count is unchanged for this many queries. */
#define LOOKS_STILL 3u

static int load(struct ctl *c, struct traffic_plan *plan)
{
	if (!c->dir) {
		fprintf(stderr, "ringfold ctl: --traffic is missing\n");
		return RF_EXIT_USAGE;
	}
	if (traffic_load(plan, c->dir) != 0)
		return RF_EXIT_FAILED;
	if (c->job == 0)
		c->job = plan->job;
	ctl_speak_for(c, c->job);
	return RF_EXIT_GOOD;
}

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
		.flags = plan->directed ? RF_CTL_J_DIRECTED : RF_CTL_J_OPEN_LOOP,
		.src_ip = own->ip,
		.qpn = own->qpn,
		.peer_ip = peer->ip,
		.peer_qpn = peer->recv_qpn,
		.start_psn = own->start_psn,
		.shift = plan->shift,
		.lease_ms = RF_CTL_LEASE_NONE,
		.deadline_ms = (uint32_t)(c->timeout / NS_PER_MS),
	};

	if (plan->shift)
		join.flags |= RF_CTL_J_SHIFTED;
	while (1u << join.mtu_log2 < plan->mtu)
		join.mtu_log2++;
	if (plan->mirror) {
		join.flags |= RF_CTL_J_MIRROR;
		join.peer_ip = rf_get_be32(own->mac);
		join.peer_qpn = rf_get_be16(own->mac + 4);
	}
	while (1u << join.slots_log2 <
	       (plan->directed ? plan->set.slots : ctl_slots_wanted(c, plan->mtu)))
		join.slots_log2++;
	if (plan->directed) /* the generator counts on each of them */
		join.slots_min_log2 = join.slots_log2;
	return join;
}

/* Whether the port of a mirror rank has the address to which the plan's packets go. */
static bool at_port_ip(const struct traffic_plan *plan, unsigned int rank, uint32_t ip)
{
	uint32_t want = plan->port_ip + plan->rank[rank].place.port;
	char its[16], wanted[16];

	if (!plan->mirror || ip == want)
		return true;
	fprintf(stderr,
		"ringfold ctl: the port of rank %u has the address %s, and the plan's packets go "
		"to %s: use `ringfold gen --port-ip` or `ringfold box --port-ips`\n",
		rank, rf_ip_text(ip, its), rf_ip_text(want, wanted));
	return false;
}

static int report_join(const struct ctl *c, const struct traffic_plan *plan,
		       const struct rf_client *clients)
{
	const struct rf_ctl_ready *ready;
	int rc = RF_EXIT_GOOD;

	ready = rf_client_ready(&clients[0]);
	for (unsigned int r = 0; r < plan->ranks; r++) {
		if (!at_port_ip(plan, r, rf_client_ready(&clients[r])->port_ip))
			rc = RF_EXIT_FAILED;
		if (ready->place[r].port != plan->rank[r].place.port ||
		    ready->place[r].lane != plan->rank[r].place.lane) {
			fprintf(stderr,
				"ringfold ctl: rank %u is on port %u lane %u, not where the "
				"plan expects it\n",
				r, ready->place[r].port, ready->place[r].lane);
			rc = RF_EXIT_FAILED;
		}
	}
	printf("job %" PRIu64 ": %u ranks ready, hardware group %" PRIu32 ", %u slots, %s%s\n",
	       c->job, plan->ranks, ready->hw_group, 1u << ready->slots_log2,
	       plan->directed ? "directed" : "open loop",
	       rf_client_open_lab(&clients[0]) ? "; the box has no keys: anyone may command it"
					       : "");
	return rc;
}

int ctl_join(struct ctl *c)
{
	static struct rf_client clients[CTL_RANKS_MAX];
	static struct rf_ctl_join join[CTL_RANKS_MAX];
	static struct traffic_plan plan;
	int rc;

	if (c->ranks)
		return ctl_join_plain(c);
	rc = load(c, &plan);
	for (unsigned int r = 0; rc == RF_EXIT_GOOD && r < plan.ranks; r++)
		join[r] = join_of(c, &plan, r);
	if (rc == RF_EXIT_GOOD)
		rc = ctl_register(c, join, plan.ranks, c->job ^ 0x63746cu, clients);
	return rc == RF_EXIT_GOOD ? report_join(c, &plan, clients) : rc;
}

/* ---- wait ---- */

/*
 * Number of packets that have left the box for all ranks together, counting at most `each` per
 * rank.
 */
static int sent_of_all(struct ctl *c, const struct traffic_plan *plan, uint64_t each, uint64_t *sum)
{
	unsigned int first = 0;

	*sum = 0;
	while (first < plan->ranks) {
		const struct rf_ctl_reply *a = ctl_page(c, RF_CTL_PAGE_RANKS, (uint16_t)first);

		if (!a)
			return -1;
		if (a->u.ranks.ranks != plan->ranks || a->u.ranks.count == 0) {
			fprintf(stderr, "ringfold ctl: the job has %u ranks, but the plan has %u\n",
				a->u.ranks.ranks, plan->ranks);
			return -1;
		}
		for (unsigned int i = 0; i < a->u.ranks.count; i++) {
			uint32_t left = ((uint32_t)each - a->u.ranks.rank[i].sent) & 0xffffffu;

			*sum += left < each ? each - left : 0;
		}
		first += a->u.ranks.count;
	}
	return 0;
}

/* Frames sent by the pipeline on all ports; frames sent by the firmware are not counted. */
static int frames_out(struct ctl *c, unsigned int ports, uint64_t *sum)
{
	*sum = 0;
	for (unsigned int p = 0; p < ports; p++) {
		const struct rf_ctl_reply *a = ctl_page(c, RF_CTL_PAGE_PORT, (uint16_t)p);

		if (!a)
			return -1;
		*sum += a->u.counters.value[RF_CNT_TX_FIRST];
		*sum += a->u.counters.value[RF_CNT_TX_FOREIGN];
	}
	return 0;
}

static void pause_look(struct ctl *c)
{
	boxlink_run(&c->link, NULL, 0, NULL, boxlink_now() + LOOK_NS);
}

/* Waits until all packets of all ranks have left; -1 if nothing has changed for the timeout. */
static int wait_sums(struct ctl *c, const struct traffic_plan *plan)
{
	uint64_t each = traffic_packets(plan);
	uint64_t moved = boxlink_now();
	uint64_t last = 0;
	uint64_t sum;

	for (;;) {
		if (sent_of_all(c, plan, each, &sum) != 0)
			return -1;
		if (sum == plan->ranks * each)
			return 0;
		if (sum != last)
			moved = boxlink_now();
		last = sum;
		if (boxlink_now() - moved > c->timeout)
			break;
		pause_look(c);
	}
	fprintf(stderr,
		"ringfold ctl: %" PRIu64 " of %" PRIu64
		" packets have left the box, and none for the last %" PRIu64 " ms\n",
		sum, plan->ranks * each, c->timeout / NS_PER_MS);
	return -1;
}

/* Waits for foreign traffic after the last sum. */
static int wait_still(struct ctl *c, unsigned int ports)
{
	uint64_t until = boxlink_now() + c->timeout;
	uint64_t last = UINT64_MAX;
	unsigned int still = 0;
	uint64_t sum;

	while (still < LOOKS_STILL && boxlink_now() < until) {
		if (frames_out(c, ports, &sum) != 0)
			return -1;
		still = sum == last ? still + 1 : 0;
		last = sum;
		pause_look(c);
	}
	return 0;
}

int ctl_wait(struct ctl *c)
{
	static struct traffic_plan plan;
	const struct rf_ctl_reply *a;
	unsigned int ports;
	int rc = load(c, &plan);

	if (rc != RF_EXIT_GOOD)
		return rc;
	a = ctl_page(c, RF_CTL_PAGE_BOX, 0);
	if (!a)
		return RF_EXIT_FAILED;
	ports = a->u.box.ports;
	if (wait_sums(c, &plan) != 0 || wait_still(c, ports) != 0)
		return RF_EXIT_FAILED;
	printf("job %" PRIu64 ": %" PRIu64 " packets of each of %u ranks have left the box\n",
	       c->job, traffic_packets(&plan), plan.ranks);
	return RF_EXIT_GOOD;
}
