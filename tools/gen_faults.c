/* ringfold gen: frames that must change nothing, between those of the ranks. */
#include <stdio.h>
#include <string.h>

#include "proto/rf_bytes.h"
#include "proto/rf_inet.h"
#include "tools/gen.h"

/*
 * The ports of the box are the only peers of mirror ranks, and a group that is not open loop
 * repeats what is sent to it twice.
 */
static bool applies(const struct traffic_plan *plan, enum traffic_fault kind)
{
	if (kind == TRAFFIC_PORT)
		return plan->mirror && plan->ports > 1;
	return kind != TRAFFIC_DUPLICATE || !plan->directed;
}

int gen_parse_faults(struct gen *g)
{
	char list[256];
	char *save = NULL;

	if (!g->faults)
		return 0;
	if (snprintf(list, sizeof(list), "%s", g->faults) >= (int)sizeof(list))
		return -1;
	for (char *word = strtok_r(list, ",", &save); word; word = strtok_r(NULL, ",", &save)) {
		int kind = -1;

		for (int i = 0; i < TRAFFIC_FAULTS; i++) {
			if (strcmp(word, traffic_fault_name((enum traffic_fault)i)) != 0 &&
			    strcmp(word, "all") != 0)
				continue;
			g->fault_on[i] = applies(&g->plan, (enum traffic_fault)i);
			kind = i;
		}
		if (kind < 0) {
			fprintf(stderr, "ringfold gen: unknown fault '%s', see --help\n", word);
			return -1;
		}
		if (strcmp(word, "all") != 0 && !g->fault_on[kind]) {
			fprintf(stderr,
				"ringfold gen: fault '%s': not with %s, see docs/traffic.md\n",
				word, kind == TRAFFIC_PORT ? "a ring" : "--directed");
			return -1;
		}
	}
	return 0;
}

static bool chance(struct gen *g, double rate)
{
	return (double)(traffic_random(&g->state) >> 11) * 0x1p-53 < rate;
}

/* RoCE of no group, between the same hosts: it must come back unchanged. */
static void foreign_frame(struct gen *g, unsigned int rank)
{
	uint8_t frame[ROCE_FRAME_MAX];
	uint8_t payload[ROCE_MTU_MAX];
	struct roce_packet p;
	size_t len;

	traffic_packet(&g->plan, rank, 0, NULL, &p);
	p.payload = payload;
	p.payload_len = 8 + (uint32_t)(traffic_random(&g->state) % (g->plan.mtu - 7));
	for (uint32_t i = 0; i < p.payload_len; i++)
		payload[i] = (uint8_t)traffic_random(&g->state);
	rf_put_be64(payload, g->plan.foreign);
	p.opcode = ROCE_OP_SEND_ONLY;
	p.qpn = TRAFFIC_FOREIGN_QPN + rank;
	p.psn = (uint32_t)g->plan.foreign & ROCE_PSN_MASK;
	len = roce_build(&p, frame, sizeof(frame));
	gen_dump(g, g->port[g->plan.rank[rank].place.port], frame, len);
	gen_dump(g, g->foreign, frame, len);
	g->plan.foreign++;
}

/*
 * Puts an option of four bytes (no operation, end of list) between IP and UDP. Returns the new
 * length.
 */
static size_t add_option(uint8_t *frame, size_t ip, const struct roce_packet *genuine)
{
	static const uint8_t option[4] = {1, 1, 1, 0};
	struct roce_packet p = *genuine;
	size_t len;

	/* It must not become longer than the box accepts. */
	if (p.payload_len > ROCE_MTU_MAX - sizeof(option))
		p.payload_len -= (uint32_t)sizeof(option);
	len = roce_build(&p, frame, ROCE_FRAME_MAX);
	memmove(frame + ip + 24, frame + ip + 20, len - ip - 20);
	memcpy(frame + ip + 20, option, sizeof(option));
	frame[ip] = 0x46;
	rf_put_be16(frame + ip + 2, (uint16_t)(rf_get_be16(frame + ip + 2) + sizeof(option)));
	rf_put_be16(frame + ip + 10, 0);
	rf_put_be16(frame + ip + 10, rf_inet_checksum(0, frame + ip, 24));
	return len + sizeof(option);
}

/*
 * Makes a frame invalid according to `kind`; the frame is the next valid one of a rank. Returns the
 * new length.
 */
static size_t spoil(struct gen *g, enum traffic_fault kind, uint8_t *frame, size_t len,
		    struct roce_packet *p)
{
	static const uint8_t all_hosts6[6] = {0x33, 0x33, 0, 0, 0, 1};
	size_t ip = p->has_vlan ? 18 : 14;

	switch (kind) {
	case TRAFFIC_ICRC:
		frame[ip + 40 + traffic_random(&g->state) % (len - ip - 44)] ^= 1;
		return len;
	case TRAFFIC_SOURCE:
		p->src_ip ^= 0x00800000u;
		return roce_build(p, frame, ROCE_FRAME_MAX);
	case TRAFFIC_PORT:
		p->dst_ip += p->dst_ip == g->plan.port_ip ? 1 : -1u;
		return roce_build(p, frame, ROCE_FRAME_MAX);
	case TRAFFIC_START:
		p->psn = (p->psn - (1u << 22)) & ROCE_PSN_MASK;
		return roce_build(p, frame, ROCE_FRAME_MAX);
	case TRAFFIC_RUNT:
		return 59;
	case TRAFFIC_IPV6:
		memcpy(frame, all_hosts6, sizeof(all_hosts6));
		rf_put_be16(frame + ip - 2, 0x86dd);
		return len;
	case TRAFFIC_OPTIONS:
		return add_option(frame, ip, p);
	case TRAFFIC_FRAGMENT:
		frame[ip + 6] |= 0x20;
		rf_put_be16(frame + ip + 10, 0);
		rf_put_be16(frame + ip + 10, rf_inet_checksum(0, frame + ip, 20));
		return len;
	case TRAFFIC_CHECKSUM:
		frame[ip + 10 + traffic_random(&g->state) % 2] ^=
			(uint8_t)(1u << traffic_random(&g->state) % 8);
		return len;
	case TRAFFIC_TAGS:
		memset(frame, 0xff, 6);
		rf_put_be16(frame + 12, 0x8100);
		rf_put_be16(frame + 16, 0x8100);
		return len;
	case TRAFFIC_MULTICAST:
		frame[0] |= 1;
		return len;
	case TRAFFIC_DUPLICATE:
	case TRAFFIC_FAULTS:
		break;
	}
	return len;
}

static void fault_frame(struct gen *g, unsigned int rank, uint64_t index)
{
	const struct traffic_plan *plan = &g->plan;
	uint8_t frame[ROCE_FRAME_MAX];
	uint8_t payload[ROCE_MTU_MAX];
	struct roce_packet p;
	enum traffic_fault kind;
	size_t len;

	do
		kind = (enum traffic_fault)(traffic_random(&g->state) % TRAFFIC_FAULTS);
	while (!g->fault_on[kind]);
	if (kind == TRAFFIC_DUPLICATE) {
		if (index == 0)
			return;
		index -= 1 + traffic_random(&g->state) % (index < 64 ? index : 64);
	}
	/*
	 * An index "before the start" can only be told from an old one until 2^22 indexes have
	 * passed.
	 */
	if (kind == TRAFFIC_START && index >= 1u << 21)
		return;
	traffic_fill(plan, rank, index, payload);
	traffic_packet(plan, rank, index, payload, &p);
	len = roce_build(&p, frame, sizeof(frame));
	len = spoil(g, kind, frame, len, &p);
	gen_dump(g, g->port[plan->rank[rank].place.port], frame, len);
	g->plan.fault[kind]++;
}

void gen_disturb(struct gen *g, unsigned int rank, uint64_t index)
{
	while (g->faults && chance(g, g->fault_rate))
		fault_frame(g, rank, index);
	while (chance(g, g->foreign_rate))
		foreign_frame(g, rank);
}
