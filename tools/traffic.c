#include "base/rng.h"
#include "tools/traffic.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "proto/rf_bytes.h"

static const char *const type_names[] = {"fp32", "bf16", "fp16", "int32"};
static const char *const op_names[] = {"sum", "min", "max"};

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
};

uint64_t traffic_random(uint64_t *state)
{
	return rf_rng_word(state);
}

/* A state that depends on all three numbers, so that each rank and position has its own stream. */
static uint64_t stream(uint64_t seed, uint64_t rank, uint64_t place)
{
	uint64_t state = seed;

	state ^= traffic_random(&state) + rank;
	state ^= traffic_random(&state) + place;
	return traffic_random(&state);
}

const char *traffic_type_name(enum rf_arith_type type)
{
	return type_names[type];
}

const char *traffic_op_name(enum rf_arith_op op)
{
	return op_names[op];
}

const char *traffic_fault_name(enum traffic_fault kind)
{
	return faults[kind].name;
}

const char *traffic_fault_counter(enum traffic_fault kind)
{
	return faults[kind].counter;
}

bool traffic_fault_floods(enum traffic_fault kind)
{
	return faults[kind].floods;
}

static int find(const char *const *names, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++) {
		if (strcmp(names[i], name) == 0)
			return (int)i;
	}
	return -1;
}

int traffic_type_parse(const char *name)
{
	return find(type_names, sizeof(type_names) / sizeof(type_names[0]), name);
}

int traffic_op_parse(const char *name)
{
	return find(op_names, sizeof(op_names) / sizeof(op_names[0]), name);
}

void traffic_plan_ranks(struct traffic_plan *plan)
{
	uint64_t state = stream(plan->seed, 0, UINT64_MAX);

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
	return plan->messages * traffic_message_packets(plan);
}

void traffic_span(const struct traffic_plan *plan, uint64_t index, uint64_t *offset, uint32_t *len)
{
	uint64_t per = traffic_message_packets(plan);
	uint64_t within = index % per * plan->mtu;
	uint64_t left = plan->message_bytes - within;

	*offset = index / per * plan->message_bytes + within;
	*len = left < plan->mtu ? (uint32_t)left : plan->mtu;
}

uint8_t traffic_opcode(const struct traffic_plan *plan, uint64_t index)
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

void traffic_packet(const struct traffic_plan *plan, unsigned int rank, uint64_t index,
		    const uint8_t *payload, struct roce_packet *p)
{
	const struct traffic_rank *from = &plan->rank[rank];
	const struct traffic_rank *to = &plan->rank[(rank + 1) % plan->ranks];
	uint64_t offset;
	uint32_t len;

	traffic_span(plan, index, &offset, &len);
	memset(p, 0, sizeof(*p));
	memcpy(p->dst_mac, to->mac, 6);
	memcpy(p->src_mac, from->mac, 6);
	p->has_vlan = plan->vlan >= 0;
	p->vlan_tci = plan->vlan >= 0 ? (uint16_t)plan->vlan : 0;
	p->ttl = 64;
	p->ip_flags = 0x4000;
	p->src_ip = from->ip;
	p->dst_ip = to->ip;
	p->udp_sport = from->sport;
	p->opcode = traffic_opcode(plan, index);
	p->migreq = true;
	p->pkey = 0xffff;
	p->qpn = to->recv_qpn;
	p->psn = (from->start_psn + (uint32_t)index) & ROCE_PSN_MASK;
	p->ackreq = (roce_opcode_flags(p->opcode) & ROCE_F_END) != 0;
	p->va = 0x100000u + offset;
	p->rkey = 0x1234;
	p->dma_length = (uint32_t)plan->message_bytes;
	p->imm = (uint32_t)(index / traffic_message_packets(plan));
	p->payload = payload;
	p->payload_len = len;
}

/* fp32 values whose exponents are mostly close to each other, and sometimes a special value. */
static uint32_t random_fp32(uint64_t bits)
{
	static const uint32_t special[] = {0x00000000u, 0x80000000u, 0x00000001u, 0x807fffffu,
					   0x7f800000u, 0xff800000u, 0x7fc00000u, 0x7f7fffffu};
	uint32_t exponent = 117u + (uint32_t)(bits >> 32) % 20u;

	if ((bits >> 40) % 1024 == 0)
		return special[(bits >> 50) & 7];
	return ((uint32_t)bits & 0x807fffffu) | exponent << 23;
}

void traffic_fill(const struct traffic_plan *plan, unsigned int rank, uint64_t offset, uint8_t *to,
		  size_t bytes)
{
	size_t size = rf_arith_size(plan->type);

	for (size_t i = 0; i < bytes; i += size) {
		uint64_t state = stream(plan->seed, rank + 1, (offset + i) / size);
		uint64_t bits = traffic_random(&state);

		switch (plan->type) {
		case RF_ARITH_FP32:
			rf_put_le32(to + i, random_fp32(bits));
			break;
		case RF_ARITH_BF16:
			rf_put_le16(to + i, (uint16_t)(random_fp32(bits) >> 16));
			break;
		case RF_ARITH_FP16:
			rf_put_le16(to + i, (uint16_t)bits);
			break;
		case RF_ARITH_INT32:
			rf_put_le32(to + i, (uint32_t)bits);
			break;
		default: /* not among the types of the tools */
			break;
		}
	}
}

const char *traffic_path(const char *dir, const char *name)
{
	static char path[4096];
	int n = snprintf(path, sizeof(path), "%s/%s", dir, name);

	if (n < 0 || (size_t)n >= sizeof(path)) {
		fprintf(stderr, "ringfold: the path %s/%s is too long\n", dir, name);
		return NULL;
	}
	return path;
}

static json_t *rank_to_json(const struct traffic_rank *k)
{
	char mac[18];
	char ip[16];

	snprintf(mac, sizeof(mac), "%02x:%02x:%02x:%02x:%02x:%02x", k->mac[0], k->mac[1], k->mac[2],
		 k->mac[3], k->mac[4], k->mac[5]);
	snprintf(ip, sizeof(ip), "%u.%u.%u.%u", k->ip >> 24, k->ip >> 16 & 255u, k->ip >> 8 & 255u,
		 k->ip & 255u);
	return json_pack("{s:s, s:s, s:i, s:i, s:i, s:i, s:i, s:i}", "mac", mac, "ip", ip, "qpn",
			 (int)k->qpn, "recv_qpn", (int)k->recv_qpn, "start_psn", (int)k->start_psn,
			 "sport", (int)k->sport, "port", (int)k->place.port, "lane",
			 (int)k->place.lane);
}

int traffic_save(const struct traffic_plan *plan, const char *dir)
{
	const char *path = traffic_path(dir, "traffic.json");
	json_t *ranks = json_array();
	json_t *counts = json_object();
	json_t *root;
	int rc = -1;

	for (int k = 0; k < TRAFFIC_FAULTS; k++)
		json_object_set_new(counts, faults[k].name,
				    json_integer((json_int_t)plan->fault[k]));

	for (unsigned int r = 0; r < plan->ranks; r++)
		json_array_append_new(ranks, rank_to_json(&plan->rank[r]));
	root = json_pack(
		"{s:I, s:I, s:i, s:i, s:s, s:s, s:b, s:b, s:i, s:i, s:I, s:I, s:I, s:o, s:o}",
		"seed", (json_int_t)plan->seed, "job", (json_int_t)plan->job, "ports",
		(int)plan->ports, "mtu", (int)plan->mtu, "dtype", traffic_type_name(plan->type),
		"op", traffic_op_name(plan->op), "write", plan->write, "imm", plan->imm, "vlan",
		plan->vlan, "shift", (int)plan->shift, "message_bytes",
		(json_int_t)plan->message_bytes, "messages", (json_int_t)plan->messages, "foreign",
		(json_int_t)plan->foreign, "faults", counts, "ranks", ranks);
	if (path && root)
		rc = json_dump_file(root, path, JSON_INDENT(1));
	if (rc != 0)
		fprintf(stderr, "ringfold: cannot write %s: %s\n", path ? path : dir,
			strerror(errno));
	json_decref(root);
	return rc;
}

static int rank_from_json(const json_t *item, const struct traffic_plan *plan,
			  struct traffic_rank *k)
{
	const char *mac;
	const char *ip;
	int qpn, recv_qpn, psn, sport, port, lane;
	unsigned int m[6];
	unsigned int a[4];
	char end;

	if (json_unpack((json_t *)item, "{s:s, s:s, s:i, s:i, s:i, s:i, s:i, s:i}", "mac", &mac,
			"ip", &ip, "qpn", &qpn, "recv_qpn", &recv_qpn, "start_psn", &psn, "sport",
			&sport, "port", &port, "lane", &lane) != 0)
		return -1;
	if (sscanf(mac, "%2x:%2x:%2x:%2x:%2x:%2x%c", &m[0], &m[1], &m[2], &m[3], &m[4], &m[5],
		   &end) != 6 ||
	    sscanf(ip, "%3u.%3u.%3u.%3u%c", &a[0], &a[1], &a[2], &a[3], &end) != 4)
		return -1;
	if (a[0] > 255 || a[1] > 255 || a[2] > 255 || a[3] > 255 || qpn < 0 || qpn > 0xffffff ||
	    recv_qpn < 0 || recv_qpn > 0xffffff || psn < 0 || psn > 0xffffff || sport < 0 ||
	    sport > 0xffff || port < 0 || (unsigned int)port >= plan->ports || lane < 0 ||
	    lane > 15)
		return -1;
	for (unsigned int i = 0; i < 6; i++)
		k->mac[i] = (uint8_t)m[i];
	k->ip = a[0] << 24 | a[1] << 16 | a[2] << 8 | a[3];
	k->qpn = (uint32_t)qpn;
	k->recv_qpn = (uint32_t)recv_qpn;
	k->start_psn = (uint32_t)psn;
	k->sport = (uint16_t)sport;
	k->place = (struct rf_place){.port = (uint8_t)port, .lane = (uint8_t)lane};
	return 0;
}

static int plan_from_json(json_t *root, struct traffic_plan *plan)
{
	json_int_t seed, job, bytes, messages, foreign;
	int ports, mtu, write, imm, vlan, shift;
	const char *type;
	const char *op;
	json_t *ranks;
	json_t *counts;

	if (json_unpack(
		    root,
		    "{s:I, s:I, s:i, s:i, s:s, s:s, s:b, s:b, s:i, s:i, s:I, s:I, s:I, s:o, s:o}",
		    "seed", &seed, "job", &job, "ports", &ports, "mtu", &mtu, "dtype", &type, "op",
		    &op, "write", &write, "imm", &imm, "vlan", &vlan, "shift", &shift,
		    "message_bytes", &bytes, "messages", &messages, "foreign", &foreign, "faults",
		    &counts, "ranks", &ranks) != 0)
		return -1;
	if (ports < 1 || ports > (int)TRAFFIC_PORTS_MAX || mtu < 256 || mtu > 4096 || shift < 0 ||
	    shift > 0xffffff || traffic_type_parse(type) < 0 || traffic_op_parse(op) < 0 ||
	    bytes < 1 || bytes > 0x40000000 || messages < 1 || messages > 0x1000000 || vlan < -1 ||
	    vlan > 4095 || !json_is_array(ranks) || json_array_size(ranks) < 2 ||
	    json_array_size(ranks) > TRAFFIC_RANKS_MAX)
		return -1;
	memset(plan, 0, sizeof(*plan));
	plan->seed = (uint64_t)seed;
	plan->job = (uint64_t)job;
	plan->ports = (unsigned int)ports;
	plan->ranks = (unsigned int)json_array_size(ranks);
	plan->mtu = (unsigned int)mtu;
	plan->type = (enum rf_arith_type)traffic_type_parse(type);
	plan->op = (enum rf_arith_op)traffic_op_parse(op);
	plan->write = write != 0;
	plan->imm = imm != 0;
	plan->vlan = vlan;
	plan->shift = (uint32_t)shift;
	plan->message_bytes = (uint64_t)bytes;
	plan->messages = (uint64_t)messages;
	plan->foreign = (uint64_t)foreign;
	for (int k = 0; k < TRAFFIC_FAULTS; k++)
		plan->fault[k] =
			(uint64_t)json_integer_value(json_object_get(counts, faults[k].name));
	for (unsigned int r = 0; r < plan->ranks; r++) {
		if (rank_from_json(json_array_get(ranks, r), plan, &plan->rank[r]) != 0)
			return -1;
	}
	return 0;
}

int traffic_load(struct traffic_plan *plan, const char *dir)
{
	const char *path = traffic_path(dir, "traffic.json");
	json_error_t error;
	json_t *root;
	int rc;

	if (!path)
		return -1;
	root = json_load_file(path, 0, &error);
	if (!root) {
		if (error.line < 0) /* jansson's text already names the file */
			fprintf(stderr, "ringfold: %s\n", error.text);
		else
			fprintf(stderr, "ringfold: %s:%d: %s\n", path, error.line, error.text);
		return -1;
	}
	rc = plan_from_json(root, plan);
	if (rc != 0)
		fprintf(stderr, "ringfold: %s is not a plan written by ringfold gen\n", path);
	json_decref(root);
	return rc;
}
