#include "tools/traffic.h"

#include <string.h>

#include "proto/rf_bytes.h"

static const struct {
	const char *name;
	const char *counter; /* see docs/box.md */
	bool floods;
} faults[TRAFFIC_FAULTS] = {
	[TRAFFIC_DUPLICATE] = {"duplicate", "pending", false},
	[TRAFFIC_ICRC] = {"icrc", "icrc", false},
	[TRAFFIC_SOURCE] = {"source", "wrong_source", false},
	[TRAFFIC_RUNT] = {"runt", "rx_runt", false},
	[TRAFFIC_IPV6] = {"ipv6", "ipv6", true},
	[TRAFFIC_OPTIONS] = {"options", "ip_options", false},
	[TRAFFIC_FRAGMENT] = {"fragment", "ip_fragment", false},
	[TRAFFIC_CHECKSUM] = {"checksum", "ip_checksum", false},
	[TRAFFIC_TAGS] = {"tags", "two_tags", true},
	[TRAFFIC_MULTICAST] = {"multicast", "multicast", false},
	[TRAFFIC_START] = {"start", "before_start", false},
	[TRAFFIC_PORT] = {"port", "wrong_port", false},
};

const char *traffic_fault_name(enum traffic_fault kind)
{
	return faults[kind].name;
}

const char *traffic_fault_counter(const struct traffic_plan *plan, enum traffic_fault kind)
{
	/* A mirror connection is found by the source address. */
	if (plan->mirror && kind == TRAFFIC_SOURCE)
		return "unknown";
	return faults[kind].counter;
}

bool traffic_fault_floods(const struct traffic_plan *plan, enum traffic_fault kind)
{
	/* Without a rule the switch decides by the MAC alone. */
	return faults[kind].floods || (plan->mirror && kind == TRAFFIC_MULTICAST);
}

void traffic_plan_ranks(struct traffic_plan *plan)
{
	uint64_t state = traffic_hash(plan, 0, UINT64_MAX);

	for (unsigned int r = 0; r < plan->ranks; r++) {
		struct traffic_rank *k = &plan->rank[r];

		memcpy(k->mac, (const uint8_t[6]){0x02, 0x47, 0x45, 0x4e, 0x00, (uint8_t)(r + 1)},
		       6);
		k->ip = 0x0a000100u + r + 1;
		k->qpn = 0x001000u + r;
		k->recv_qpn = 0x002000u + r;
		k->start_psn = (uint32_t)traffic_random(&state) & ROCE_PSN_MASK;
		k->sport = (uint16_t)(0xc000u | (traffic_random(&state) & 0x3fffu));
		k->place.port = (uint8_t)(r % plan->ports);
		k->place.lane = (uint8_t)(r / plan->ports);
	}
}

uint64_t traffic_message_packets(const struct traffic_plan *plan)
{
	return (plan->message_bytes + plan->mtu - 1) / plan->mtu;
}

uint64_t traffic_packets(const struct traffic_plan *plan)
{
	return plan->directed ? plan->calls.packets
			      : plan->messages * traffic_message_packets(plan);
}

uint64_t traffic_bytes(const struct traffic_plan *plan)
{
	return plan->directed ? plan->calls.bytes : plan->messages * plan->message_bytes;
}

void traffic_span(const struct traffic_plan *plan, uint64_t index, uint64_t *offset, uint32_t *len)
{
	struct directed_packet d;
	uint64_t per, within, left;

	if (plan->directed) {
		directed_at(plan, 0, index, &d);
		*offset = d.offset;
		*len = d.len;
		return;
	}
	per = traffic_message_packets(plan);
	within = index % per * plan->mtu;
	left = plan->message_bytes - within;
	*offset = index / per * plan->message_bytes + within;
	*len = left < plan->mtu ? (uint32_t)left : plan->mtu;
}

bool traffic_gives(const struct traffic_plan *plan, unsigned int rank, uint64_t index)
{
	struct directed_packet d = {.gives = true};

	if (plan->directed)
		directed_at(plan, rank, index, &d);
	return d.gives;
}

bool traffic_wants(const struct traffic_plan *plan, unsigned int rank, uint64_t index)
{
	struct directed_packet d = {.wants = true};

	if (plan->directed)
		directed_at(plan, rank, index, &d);
	return d.wants;
}

static uint8_t opcode_of(const struct traffic_plan *plan, uint64_t index)
{
	uint64_t per = traffic_message_packets(plan);
	uint8_t base = plan->write ? ROCE_OP_WRITE_FIRST : ROCE_OP_SEND_FIRST;
	uint64_t within = index % per;

	if (per == 1)
		return (uint8_t)(base + (plan->imm ? 5 : 4));
	if (within == 0)
		return base;
	if (within + 1 < per)
		return (uint8_t)(base + 1);
	return (uint8_t)(base + (plan->imm ? 3 : 2));
}

/* Opcode, immediate and length. */
static void set_content(const struct traffic_plan *plan, unsigned int rank, uint64_t index,
			const uint8_t *payload, struct roce_packet *p)
{
	struct directed_packet d;
	uint64_t offset;
	uint32_t len;

	if (plan->directed) {
		directed_at(plan, rank, index, &d);
		p->opcode = d.opcode;
		p->imm = d.imm;
		p->payload = d.gives ? payload : NULL;
		p->payload_len = d.gives ? d.len : 0;
		return;
	}
	traffic_span(plan, index, &offset, &len);
	p->opcode = opcode_of(plan, index);
	p->va = 0x100000u + offset;
	p->rkey = 0x1234;
	p->dma_length = (uint32_t)plan->message_bytes;
	p->imm = (uint32_t)(index / traffic_message_packets(plan));
	p->payload = payload;
	p->payload_len = len;
}

static void set_mac(uint8_t *mac, uint64_t value)
{
	rf_put_be16(mac, (uint16_t)(value >> 32));
	rf_put_be32(mac + 2, (uint32_t)value);
}

/* Addresses and queue pair of a rank's packets. */
static void set_way(const struct traffic_plan *plan, unsigned int rank, struct roce_packet *p)
{
	const struct traffic_rank *from = &plan->rank[rank];
	const struct traffic_rank *to = &plan->rank[(rank + 1) % plan->ranks];

	memcpy(p->src_mac, from->mac, 6);
	p->src_ip = from->ip;
	if (plan->mirror) {
		set_mac(p->dst_mac, plan->box_mac + from->place.port);
		p->dst_ip = plan->port_ip + from->place.port;
		p->qpn = from->qpn;
		return;
	}
	memcpy(p->dst_mac, to->mac, 6);
	p->dst_ip = to->ip;
	p->qpn = to->recv_qpn;
}

void traffic_packet(const struct traffic_plan *plan, unsigned int rank, uint64_t index,
		    const uint8_t *payload, struct roce_packet *p)
{
	const struct traffic_rank *from = &plan->rank[rank];

	memset(p, 0, sizeof(*p));
	set_way(plan, rank, p);
	p->has_vlan = plan->vlan >= 0;
	p->vlan_tci = plan->vlan >= 0 ? (uint16_t)plan->vlan : 0;
	/* What a router leaves of 64: the box starts anew. */
	p->ttl = plan->mirror ? 61 : 64;
	p->ip_flags = 0x4000;
	p->udp_sport = from->sport;
	set_content(plan, rank, index, payload, p);
	p->migreq = true;
	p->pkey = 0xffff;
	p->psn = (from->start_psn + (uint32_t)index) & ROCE_PSN_MASK;
	p->ackreq = (roce_opcode_flags(p->opcode) & ROCE_F_END) != 0;
}

void traffic_answer(const struct traffic_plan *plan, unsigned int to, uint64_t index,
		    const uint8_t *result, struct roce_packet *p)
{
	unsigned int from = plan->mirror ? to : (to + plan->ranks - 1) % plan->ranks;
	bool given = false;
	uint64_t offset;
	uint32_t len;

	traffic_packet(plan, from, index, result, p);
	if (plan->mirror) {
		memcpy(p->src_mac, p->dst_mac, 6);
		memcpy(p->dst_mac, plan->rank[to].mac, 6);
		p->dst_ip = plan->rank[to].ip;
		p->src_ip = plan->port_ip + plan->rank[to].place.port;
		p->ttl = 64;
	}
	traffic_span(plan, index, &offset, &len);
	for (unsigned int r = 0; r < plan->ranks; r++)
		given |= traffic_gives(plan, r, index);
	p->payload = result;
	p->payload_len = given && traffic_wants(plan, from, index) ? len : 0;
	if (plan->directed && index % (plan->set.slots / 8) == 0)
		p->ackreq = true;
}

void traffic_fill(const struct traffic_plan *plan, unsigned int rank, uint64_t index, uint8_t *to)
{
	struct directed_packet d = {.call = NULL};
	unsigned int type = plan->type;
	uint8_t element[8];
	uint64_t offset;
	uint32_t len;
	size_t size;

	traffic_span(plan, index, &offset, &len);
	if (plan->directed) {
		directed_at(plan, rank, index, &d);
		type = d.call->type;
	}
	size = element_size(type);
	for (uint32_t i = 0; i < len; i += (uint32_t)size) {
		/* Copies may end inside an element. Chunks of calls may begin inside one. */
		uint64_t place = plan->directed ? index << 16 | i : (offset + i) / size;
		uint64_t state = traffic_hash(plan, rank + 1, place);

		element_random(type, traffic_random(&state), element);
		memcpy(to + i, element, len - i < size ? len - i : size);
	}
}

int traffic_result(const struct traffic_plan *plan, uint64_t index,
		   uint8_t (*payload)[ROCE_MTU_MAX], uint8_t *result)
{
	const void *operand[TRAFFIC_RANKS_MAX];
	struct rf_place place[TRAFFIC_RANKS_MAX];
	struct directed_packet d;
	unsigned int type = plan->type;
	unsigned int op = plan->op;
	uint64_t offset;
	uint32_t len;

	traffic_span(plan, index, &offset, &len);
	if (plan->directed) {
		directed_at(plan, 0, index, &d);
		type = d.call->type;
		op = d.call->op;
	}
	for (unsigned int r = 0; r < plan->ranks; r++) {
		operand[r] = traffic_gives(plan, r, index) ? payload[r] : NULL;
		place[r] = plan->rank[r].place;
	}
	return element_reduce(type, op, plan->ranks, place, operand, result, len);
}
