/* The plan of generated traffic as DIR/traffic.json. */
#include "tools/traffic.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

/* In place of a name: every one of them. */
#define ALL "all"

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

/* The name of the only bit of a mask, or "all". */
static const char *name_of(uint32_t mask, unsigned int count, const char *(*name)(unsigned int))
{
	for (unsigned int k = 0; k < count; k++)
		if (mask == 1u << k)
			return name(k);
	return ALL;
}

/* A mask with the bit of a name, or every one of `count`; 0 for an unknown name. */
static uint32_t mask_of(const char *name, unsigned int count, int (*parse)(const char *))
{
	int k = parse(name);

	if (strcmp(name, ALL) == 0)
		return (1u << count) - 1;
	return k < 0 ? 0 : 1u << k;
}

void traffic_set_parse(struct directed_set *set, const char *kinds, const char *types,
		       const char *ops)
{
	set->kinds = mask_of(kinds, DIRECTED_KINDS, directed_kind_parse);
	set->types = mask_of(types, ELEMENT_TYPES, element_type_parse);
	set->ops = mask_of(ops, ELEMENT_OP_COPY, element_op_parse);
}

/* What a plan has beyond a ring of an open-loop group. */
static void add_more(json_t *root, const struct traffic_plan *plan)
{
	const struct directed_set *set = &plan->set;

	if (plan->mirror)
		json_object_set_new(root, "mirror",
				    json_pack("{s:I, s:I}", "port_ip", (json_int_t)plan->port_ip,
					      "box_mac", (json_int_t)plan->box_mac));
	if (plan->directed)
		json_object_set_new(
			root, "directed",
			json_pack("{s:s, s:s, s:s, s:i}", "collective",
				  name_of(set->kinds, DIRECTED_KINDS, directed_kind_name), "dtype",
				  name_of(set->types, ELEMENT_TYPES, element_type_name), "op",
				  name_of(set->ops, ELEMENT_OP_COPY, element_op_name), "slots",
				  (int)set->slots));
}

static int more_from_json(const json_t *root, struct traffic_plan *plan)
{
	json_t *mirror = json_object_get(root, "mirror");
	json_t *directed = json_object_get(root, "directed");
	const char *kind;
	const char *type;
	const char *op;
	json_int_t ip, mac;
	int slots;

	if (mirror) {
		if (json_unpack(mirror, "{s:I, s:I}", "port_ip", &ip, "box_mac", &mac) != 0 ||
		    ip < 1 || ip > 0xffffffff || mac < 0 || mac > 0xffffffffffff)
			return -1;
		plan->mirror = true;
		plan->port_ip = (uint32_t)ip;
		plan->box_mac = (uint64_t)mac;
	}
	if (!directed)
		return 0;
	if (json_unpack(directed, "{s:s, s:s, s:s, s:i}", "collective", &kind, "dtype", &type, "op",
			&op, "slots", &slots) != 0 ||
	    slots < 16 || slots > 1 << 15 || (slots & (slots - 1)) != 0)
		return -1;
	plan->directed = true;
	plan->set.slots = (unsigned int)slots;
	traffic_set_parse(&plan->set, kind, type, op);
	return directed_make(plan, "ringfold");
}

int traffic_save(const struct traffic_plan *plan, const char *dir)
{
	const char *path = traffic_path(dir, "traffic.json");
	json_t *ranks = json_array();
	json_t *counts = json_object();
	json_t *root;
	int rc = -1;

	for (int k = 0; k < TRAFFIC_FAULTS; k++)
		json_object_set_new(counts, traffic_fault_name((enum traffic_fault)k),
				    json_integer((json_int_t)plan->fault[k]));

	for (unsigned int r = 0; r < plan->ranks; r++)
		json_array_append_new(ranks, rank_to_json(&plan->rank[r]));
	root = json_pack(
		"{s:I, s:I, s:i, s:i, s:s, s:s, s:b, s:b, s:i, s:i, s:I, s:I, s:I, s:o, s:o}",
		"seed", (json_int_t)plan->seed, "job", (json_int_t)plan->job, "ports",
		(int)plan->ports, "mtu", (int)plan->mtu, "dtype", element_type_name(plan->type),
		"op", element_op_name(plan->op), "write", plan->write, "imm", plan->imm, "vlan",
		plan->vlan, "shift", (int)plan->shift, "message_bytes",
		(json_int_t)plan->message_bytes, "messages", (json_int_t)plan->messages, "foreign",
		(json_int_t)plan->foreign, "faults", counts, "ranks", ranks);
	if (root)
		add_more(root, plan);
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
	    shift > 0xffffff || element_type_parse(type) < 0 || element_op_parse(op) < 0 ||
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
	plan->type = (unsigned int)element_type_parse(type);
	plan->op = (unsigned int)element_op_parse(op);
	plan->write = write != 0;
	plan->imm = imm != 0;
	plan->vlan = vlan;
	plan->shift = (uint32_t)shift;
	plan->message_bytes = (uint64_t)bytes;
	plan->messages = (uint64_t)messages;
	plan->foreign = (uint64_t)foreign;
	for (int k = 0; k < TRAFFIC_FAULTS; k++)
		plan->fault[k] = (uint64_t)json_integer_value(
			json_object_get(counts, traffic_fault_name((enum traffic_fault)k)));
	for (unsigned int r = 0; r < plan->ranks; r++) {
		if (rank_from_json(json_array_get(ranks, r), plan, &plan->rank[r]) != 0)
			return -1;
	}
	return more_from_json(root, plan);
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
