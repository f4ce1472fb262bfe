/*
 * ringfold ctl: control messages by hand. Registers the ranks of generated traffic (which has no
 * hosts that could join), asks the box what it knows, ends groups.
 */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/src/bootstrap/settings.h"
#include "host/tools/boxlink.h"
#include "host/tools/opt.h"
#include "host/tools/traffic.h"

#define NS_PER_S 1000000000u
/* Between two looks at a run that goes on. */
#define LOOK_NS 100000000u
/* The box has sent everything when its counters have stood still for so many looks. */
#define LOOKS_STILL 3u

struct ctl {
	const char *device;
	const char *dpdk_args;
	const char *ip_text;
	const char *box_text;
	const char *key_text;
	const char *dir;
	uint64_t job;
	unsigned int group;
	unsigned int port;
	uint64_t timeout;
	unsigned int slots;
	bool json;
	struct boxlink link;
};

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

/* Asks one question as the operator; NULL, with a message, where there is no good answer. */
static const struct rf_ctl_reply *ask(struct ctl *c, struct rf_client *client)
{
	const struct rf_ctl_reply *a;

	pump(c, client, 1, answered);
	a = rf_client_answer(client);
	if (rf_client_query(client) == RF_CLIENT_Q_DONE && a)
		return a;
	if (a && a->result == RF_CTL_FAILED)
		fprintf(stderr, "ringfold ctl: refused: %s\n",
			rf_ctl_reason_text(a->u.failed.reason));
	else
		fprintf(stderr,
			"ringfold ctl: no answer from the box at %s: is it on, does the rule steer "
			"UDP 4791 to it?\n",
			c->box_text);
	return NULL;
}

static const struct rf_ctl_reply *ask_page(struct ctl *c, struct rf_client *client, uint8_t page,
					   uint16_t index)
{
	struct rf_ctl_status_req req = {
		.page = page, .index = index, .job = c->job, .group = (uint16_t)c->group};

	client_init(c, client, RF_CTL_JOB_OPERATOR, 0, 0);
	if (rf_client_status(client, &req, now_ns()) != 0)
		return NULL;
	return ask(c, client);
}

/* Name and number, as a line or as a member of an object. */
static void field(json_t *object, const char *name, uint64_t value)
{
	json_object_set_new(object, name, json_integer((json_int_t)value));
}

/* Prints an object: JSON, or a line for each member. */
static void print_object(const struct ctl *c, json_t *object)
{
	const char *key;
	json_t *value;

	if (c->json) {
		json_dumpf(object, stdout, JSON_INDENT(1));
		putchar('\n');
	} else {
		json_object_foreach(object, key, value)
		{
			if (json_is_string(value))
				printf("%-16s %s\n", key, json_string_value(value));
			else
				printf("%-16s %" JSON_INTEGER_FORMAT "\n", key,
				       json_integer_value(value));
		}
	}
	json_decref(object);
}

/* Prints an array of flat objects: JSON, or a table whose head is the first object's keys. */
static void print_table(const struct ctl *c, json_t *rows)
{
	const char *key;
	json_t *row;
	json_t *value;
	size_t i;

	if (c->json) {
		json_dumpf(rows, stdout, JSON_INDENT(1));
		putchar('\n');
		json_decref(rows);
		return;
	}
	json_array_foreach(rows, i, row)
	{
		if (i == 0) {
			json_object_foreach(row, key, value) printf("%12s ", key);
			putchar('\n');
		}
		json_object_foreach(row, key, value)
		{
			if (json_is_string(value))
				printf("%12s ", json_string_value(value));
			else
				printf("%12" JSON_INTEGER_FORMAT " ", json_integer_value(value));
		}
		putchar('\n');
	}
	json_decref(rows);
}

static int command_status(struct ctl *c)
{
	struct rf_client client;
	const struct rf_ctl_reply *a = ask_page(c, &client, RF_CTL_PAGE_BOX, 0);
	const struct rf_ctl_box_page *b;
	json_t *o;

	if (!a)
		return RF_EXIT_FAILED;
	b = &a->u.box;
	o = json_object();
	field(o, "ports", b->ports);
	field(o, "lanes", b->lanes);
	field(o, "width", b->width64 * 64u);
	field(o, "mtu_max", 1u << b->mtu_log2);
	field(o, "types16", b->fp16);
	field(o, "groups", b->groups);
	field(o, "groups_used", b->groups_used);
	field(o, "connections", b->connections);
	field(o, "tombstones", b->tombstones);
	field(o, "beats_free", b->beats_free);
	field(o, "slots_free", b->hslots_free);
	field(o, "clock_khz", b->clock_khz);
	field(o, "uptime_ms", b->uptime_ms);
	field(o, "hold_ms", b->hold_ms);
	field(o, "own_port", b->port);
	print_object(c, o);
	return RF_EXIT_GOOD;
}

static int command_groups(struct ctl *c)
{
	struct rf_client client;
	json_t *rows = json_array();
	unsigned int first = 0;
	unsigned int total;

	do {
		const struct rf_ctl_reply *a =
			ask_page(c, &client, RF_CTL_PAGE_GROUPS, (uint16_t)first);

		if (!a) {
			json_decref(rows);
			return RF_EXIT_FAILED;
		}
		total = a->u.groups.total;
		for (unsigned int i = 0; i < a->u.groups.count; i++) {
			const struct rf_ctl_group_entry *e = &a->u.groups.entry[i];
			json_t *o = json_object();

			field(o, "job", e->job);
			field(o, "group", e->group);
			json_object_set_new(o, "state", json_string(rf_ctl_state_text(e->state)));
			field(o, "ranks", e->ranks);
			field(o, "joined", e->joined);
			field(o, "hardware", e->hw_group);
			json_array_append_new(rows, o);
		}
		if (a->u.groups.count == 0)
			break;
		first += a->u.groups.count;
	} while (first < total);
	print_table(c, rows);
	return RF_EXIT_GOOD;
}

static int command_ranks(struct ctl *c)
{
	struct rf_client client;
	json_t *rows = json_array();
	unsigned int first = 0;
	unsigned int total;

	do {
		const struct rf_ctl_reply *a =
			ask_page(c, &client, RF_CTL_PAGE_RANKS, (uint16_t)first);

		if (!a) {
			json_decref(rows);
			return RF_EXIT_FAILED;
		}
		total = a->u.ranks.ranks;
		for (unsigned int i = 0; i < a->u.ranks.count; i++) {
			const struct rf_ctl_rank *k = &a->u.ranks.rank[i];
			json_t *o = json_object();

			field(o, "rank", first + i);
			json_object_set_new(o, "state",
					    json_string(k->flags & RF_CTL_RANK_GONE   ? "gone"
							: k->flags & RF_CTL_RANK_LEFT ? "left"
							: k->flags & RF_CTL_RANK_JOINED
								? "joined"
								: "missing"));
			field(o, "port", k->port);
			field(o, "lane", k->lane);
			field(o, "age_ms", k->age_ms);
			field(o, "next", k->next);
			field(o, "sent", k->sent);
			field(o, "una", k->una);
			json_array_append_new(rows, o);
		}
		if (a->u.ranks.count == 0)
			break;
		first += a->u.ranks.count;
	} while (first < total);
	print_table(c, rows);
	return RF_EXIT_GOOD;
}

static int command_counters(struct ctl *c)
{
	struct rf_client client;
	const struct rf_ctl_reply *a = ask_page(c, &client, RF_CTL_PAGE_PORT, (uint16_t)c->port);
	json_t *o;

	if (!a)
		return RF_EXIT_FAILED;
	o = json_object();
	for (unsigned int i = 0;
	     i < a->u.counters.count && i < sizeof(counter_names) / sizeof(counter_names[0]); i++) {
		if (c->json || a->u.counters.value[i] != 0)
			field(o, counter_names[i], a->u.counters.value[i]);
	}
	print_object(c, o);
	return RF_EXIT_GOOD;
}

static int command_drop(struct ctl *c)
{
	struct rf_client client;

	client_init(c, &client, RF_CTL_JOB_OPERATOR, 0, 0);
	if (rf_client_drop(&client, c->job, (uint16_t)c->group, RF_CTL_ABORT_USER, now_ns()) != 0 ||
	    !ask(c, &client))
		return RF_EXIT_FAILED;
	printf("job %" PRIu64 " group %u: ended\n", c->job, c->group);
	return RF_EXIT_GOOD;
}

static int command_reset(struct ctl *c)
{
	struct rf_client client;

	client_init(c, &client, RF_CTL_JOB_OPERATOR, 0, 0);
	if (rf_client_reset(&client, now_ns()) != 0 || !ask(c, &client))
		return RF_EXIT_FAILED;
	printf("the box has forgotten all groups\n");
	return RF_EXIT_GOOD;
}

static const struct {
	const char *name;
	int (*run)(struct ctl *c);
} commands[] = {
	{"join", command_join},   {"status", command_status},     {"groups", command_groups},
	{"ranks", command_ranks}, {"counters", command_counters}, {"drop", command_drop},
	{"reset", command_reset},
};

static int parse_values(struct ctl *c)
{
	struct in_addr a;
	struct in_addr b;

	if (inet_pton(AF_INET, c->ip_text, &a) != 1 || inet_pton(AF_INET, c->box_text, &b) != 1) {
		fprintf(stderr, "ringfold ctl: --ip and --box-ip take dotted IPv4 addresses\n");
		return -1;
	}
	c->ip = ntohl(a.s_addr);
	c->box_ip = ntohl(b.s_addr);
	if (c->key_text) {
		if (strlen(c->key_text) != 2 * RF_CTL_KEY_BYTES) {
			fprintf(stderr, "ringfold ctl: a key is 32 hex digits\n");
			return -1;
		}
		for (unsigned int i = 0; i < RF_CTL_KEY_BYTES; i++) {
			unsigned int byte;

			if (sscanf(c->key_text + 2 * i, "%2x", &byte) != 1) {
				fprintf(stderr, "ringfold ctl: a key is 32 hex digits\n");
				return -1;
			}
			c->key[i] = (uint8_t)byte;
		}
	}
	if (c->slots < 16 || c->slots > 32768 || (c->slots & (c->slots - 1)) != 0) {
		fprintf(stderr, "ringfold ctl: --slots is a power of two from 16 to 32768\n");
		return -1;
	}
	return 0;
}

static int run(struct ctl *c, const char *name)
{
	char why[256];
	int rc;

	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (strcmp(name, commands[i].name) != 0)
			continue;
		if (rf_io_dpdk_open(c->device, c->dpdk_args, 2048, &c->io, why, sizeof(why)) != 0) {
			fprintf(stderr, "ringfold ctl: %s\n", why);
			return RF_EXIT_FAILED;
		}
		rc = commands[i].run(c);
		c->io->ops->close(c->io);
		return rc;
	}
	fprintf(stderr, "ringfold ctl: unknown command '%s', see --help\n", name);
	return RF_EXIT_USAGE;
}

int main(int argc, char **argv)
{
	static struct ctl c = {.ip_text = "10.0.0.253",
			       .box_text = "10.0.0.254",
			       .timeout = 5u * (uint64_t)NS_PER_S,
			       .slots = 512};
	const struct rf_opt opts[] = {
		{RF_OPT_STRING, "device", 'd', &c.device, "DEVICE",
		 "DPDK device towards the switch, as RF_DEVICE", NULL},
		{RF_OPT_STRING, "dpdk-args", 0, &c.dpdk_args, "ARGS", "more arguments for DPDK",
		 NULL},
		{RF_OPT_STRING, "ip", 0, &c.ip_text, "ADDRESS", "own address", NULL},
		{RF_OPT_STRING, "box-ip", 0, &c.box_text, "ADDRESS", "the box's address", NULL},
		{RF_OPT_STRING, "key", 0, &c.key_text, "HEX",
		 "key of the job (join) or of the operator", NULL},
		{RF_OPT_STRING, "traffic", 't', &c.dir, "DIR",
		 "join: the folder that ringfold gen wrote", NULL},
		{RF_OPT_UINT, "slots", 0, &c.slots, "N",
		 "join: slots wanted, 16 are taken where there are no more", NULL},
		{RF_OPT_U64, "job", 'j', &c.job, "N", "ranks, drop: the job", NULL},
		{RF_OPT_UINT, "group", 'g', &c.group, "N", "ranks, drop: the group of the job",
		 NULL},
		{RF_OPT_UINT, "port", 'p', &c.port, "N", "counters: port of the box", NULL},
		{RF_OPT_TIME, "timeout", 0, &c.timeout, "TIME", "how long the box may take", NULL},
		{RF_OPT_FLAG, "json", 0, &c.json, NULL, "answers as JSON", NULL},
		{RF_OPT_END, NULL, 0, NULL, NULL, NULL, NULL},
	};
	const struct rf_opt_page page = {
		.usage = "ringfold ctl COMMAND --device DEVICE [options]",
		.intro = "Commands:\n"
			 "  join      register the ranks of generated traffic (open loop, no "
			 "lease)\n"
			 "  status    the box's shape and state\n"
			 "  groups    all groups\n"
			 "  ranks     the ranks of --job, --group\n"
			 "  counters  what a port of the box has counted (zeroes left out)\n"
			 "  drop      end --job, --group\n"
			 "  reset     end everything",
		.examples = "  ringfold ctl join --device "
			    "net_memif,role=client,id=0,socket=/run/rf/ctl.sock --traffic /tmp/t\n"
			    "  ringfold ctl counters --device net_af_packet0,iface=eth1 --port 2",
		.opts = opts,
	};
	int n = rf_opt_parse(&page, argc, argv);

	if (n == -1)
		return RF_EXIT_GOOD;
	if (n < 0)
		return RF_EXIT_USAGE;
	if (n + 1 != argc || !c.device) {
		fprintf(stderr, "ringfold ctl: %s, see --help\n",
			!c.device ? "--device is missing" : "exactly one command is needed");
		return RF_EXIT_USAGE;
	}
	if (parse_values(&c) != 0)
		return RF_EXIT_USAGE;
	return run(&c, argv[n]);
}
