/*
 * ringfold ctl: control messages from the command line. Registers the ranks of generated traffic
 * (which has no hosts that could join), queries the box, ends groups.
 */
#include "tools/ctl.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "host/config/settings.h"
#include "base/near.h"
#include "base/opt.h"

/* Default address of a tool on a network where it has none. */
#define TOOL_IP 0x0a0000fdu

static int command_reset(struct ctl *c)
{
	const struct rf_ctl_reply *a;

	fprintf(stderr,
		"ringfold ctl: warning: all RC data of no group is dropped until it has been "
		"silent for the box's hold time\n");
	if (rf_client_reset(&c->asker, boxlink_now()) != 0 || !ctl_answer(c, &c->asker))
		return RF_EXIT_FAILED;
	printf("the box has deleted all groups\n");
	a = ctl_page(c, RF_CTL_PAGE_BOX, 0);
	if (a && a->u.box.hold == RF_CTL_HOLD_OVER)
		fprintf(stderr,
			"ringfold ctl: warning: this box has no hold time: data that plain ranks "
			"still send is forwarded unchanged once their tombstones are gone\n");
	return RF_EXIT_GOOD;
}

static const struct command {
	const char *name;
	int (*run)(struct ctl *c);
	bool job; /* the command applies to one job */
} commands[] = {
	{"join", ctl_join, false},         {"wait", ctl_wait, false},
	{"status", ctl_status, false},     {"groups", ctl_groups, false},
	{"ranks", ctl_ranks, true},        {"stragglers", ctl_stragglers, true},
	{"counters", ctl_counters, false}, {"drop", ctl_drop, true},
	{"reset", command_reset, false},   {"ports", ctl_ports, false},
	{"slots", ctl_slots, false},       {"connections", ctl_connections, false},
	{"log", ctl_log, false},           {"jobs", ctl_jobs, false},
	{"hold", ctl_hold, false},         {"tree", ctl_tree, true},
};

static const struct command *find_command(const char *name)
{
	const char *names[sizeof(commands) / sizeof(commands[0])];
	const char *near;

	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		names[i] = commands[i].name;
		if (strcmp(name, commands[i].name) == 0)
			return &commands[i];
	}
	near = rf_near(name, names, sizeof(commands) / sizeof(commands[0]));
	fprintf(stderr, "ringfold ctl: unknown command '%s'", name);
	if (near)
		fprintf(stderr, "; did you mean '%s'?\n", near);
	else
		fprintf(stderr, ", see --help\n");
	return NULL;
}

/* Parses the command, and the job if it needs one; NULL after a message. */
static const struct command *words(struct ctl *c, int argc, char **argv)
{
	const struct command *command;
	char why[256];

	if (argc < 1) {
		fprintf(stderr, "ringfold ctl: no command given, see --help\n");
		return NULL;
	}
	command = find_command(argv[0]);
	if (!command)
		return NULL;
	if (argc > (command->job ? 2 : 1)) {
		fprintf(stderr, "ringfold ctl %s: unexpected argument '%s'\n", command->name,
			argv[argc - 1]);
		return NULL;
	}
	if (argc == 2 &&
	    rf_number_parse("JOB", argv[1], 1, UINT64_MAX, &c->job, why, sizeof(why)) != 0) {
		fprintf(stderr, "ringfold ctl %s: %s\n", command->name, why);
		return NULL;
	}
	if (command->job && c->job == 0) {
		fprintf(stderr, "ringfold ctl %s: which job? (`ringfold ctl groups` lists them)\n",
			command->name);
		return NULL;
	}
	return command;
}

static int number(const char *option, const char *text, uint64_t most, unsigned int *to, char *why,
		  size_t room)
{
	uint64_t value = 0;

	if (text && rf_number_parse(option, text, 0, most, &value, why, room) != 0)
		return -1;
	*to = (unsigned int)value;
	return 0;
}

static int parse_values(struct ctl *c)
{
	char why[256];

	if (rf_ip_parse("--box-ip", c->box_text, &c->link.box_ip, why, sizeof(why)) != 0 ||
	    (*c->gateway_text &&
	     rf_ip_parse("--gateway", c->gateway_text, &c->link.via_ip, why, sizeof(why)) != 0) ||
	    (*c->ip_text && rf_ip_parse("--ip", c->ip_text, &c->link.ip, why, sizeof(why)) != 0) ||
	    rf_hex_parse("--key", c->key_text, c->link.key, RF_CTL_KEY_BYTES, why, sizeof(why)) !=
		    0 ||
	    number("--group", c->group_text, 0xffff, &c->group, why, sizeof(why)) != 0 ||
	    number("--port", c->port_text, RF_CTL_PORTS_MAX - 1, &c->port, why, sizeof(why)) != 0) {
		fprintf(stderr, "ringfold ctl: %s\n", why);
		return -1;
	}
	if (c->slots != 0 &&
	    (c->slots < 16 || c->slots > 32768 || (c->slots & (c->slots - 1)) != 0)) {
		fprintf(stderr,
			"ringfold ctl: --slots: expected a power of two from 16 to 32768\n");
		return -1;
	}
	if (c->lease != 0 && (c->lease < 10000000 || c->lease > UINT64_C(86400000000000))) {
		fprintf(stderr, "ringfold ctl: --lease: expected 10ms to 86400s\n");
		return -1;
	}
	if (c->timeout < 1000000) {
		fprintf(stderr, "ringfold ctl: --timeout: expected 1ms or more\n");
		return -1;
	}
	return 0;
}

static int run(struct ctl *c, int (*command)(struct ctl *c))
{
	char why[256];
	int rc;

	if (boxlink_open(&c->link, c->device, c->dpdk_args, why, sizeof(why)) != 0) {
		fprintf(stderr, "ringfold ctl: %s\n", why);
		return RF_EXIT_FAILED;
	}
	if (c->link.ip == 0)
		c->link.ip = c->link.io->ip ? c->link.io->ip : TOOL_IP;
	c->link.answer_ns = c->timeout;
	ctl_speak_for(c, RF_CTL_JOB_OPERATOR);
	rc = command(c);
	while (rc == RF_EXIT_GOOD && c->watch > 0) {
		const struct timespec t = {(time_t)(c->watch / 1000000000u),
					   (long)(c->watch % 1000000000u)};

		fflush(stdout);
		nanosleep(&t, NULL);
		/* On a terminal each output replaces the previous one; the log is appended. */
		if (isatty(STDOUT_FILENO) && command != ctl_log)
			fputs("\033[H\033[J", stdout);
		rc = command(c);
	}
	boxlink_close(&c->link);
	return rc;
}

/* --watch without a time means once per second. */
static void default_watch(int argc, char **argv)
{
	static char once_a_second[] = "--watch=1s";

	for (int i = 1; i < argc; i++) {
		bool time = i + 1 < argc && isdigit((unsigned char)argv[i + 1][0]);

		if (strcmp(argv[i], "--watch") == 0 && !time)
			argv[i] = once_a_second;
	}
}

int main(int argc, char **argv)
{
	static struct ctl c = {.timeout = UINT64_C(5000000000),
			       .dtype = "fp32",
			       .others = "fail",
			       .op = "sum",
			       .mtu = 1024};
	const struct rf_opt opts[] = {
		{RF_OPT_STRING, "device", 'd', &c.device, "DEVICE",
		 "DPDK device connected to the switch; default: RF_DEVICE", NULL},
		{RF_OPT_STRING, "dpdk-args", 0, &c.dpdk_args, "ARGS",
		 "more arguments for DPDK; default: RF_DPDK_ARGS", NULL},
		{RF_OPT_STRING, "ip", 0, &c.ip_text, "ADDRESS",
		 "own address; default: RF_IP, else the interface's, else 10.0.0.253", NULL},
		{RF_OPT_STRING, "box-ip", 0, &c.box_text, "ADDRESS",
		 "the box's address; default: RF_BOX_IP", NULL},
		{RF_OPT_STRING, "gateway", 0, &c.gateway_text, "ADDRESS",
		 "router on the way to the box; default: RF_GATEWAY, else none", NULL},
		{RF_OPT_STRING, "key", 0, &c.key_text, "HEX",
		 "key of the operator, or of the job (join, wait, ranks, stragglers, tree); "
		 "default: "
		 "RF_KEY, "
		 "which does not appear in the process list",
		 NULL},
		{RF_OPT_STRING, "traffic", 0, &c.dir, "DIR",
		 "join, wait: the folder written by ringfold gen", NULL},
		{RF_OPT_CALL, "rank", 0, &c, "A.B.C.D,send=QPN,psn=PSN,recv=QPN,port=N",
		 "join: the next rank of the ring, a program without ringfold; on a\n"
		 "mirror connection A.B.C.D,mirror,send=QPN,psn=PSN,port=N,mac=MAC",
		 ctl_add_rank},
		{RF_OPT_STRING, "dtype", 0, &c.dtype, "TYPE",
		 "join --rank: fp32, bf16, fp16, fp64, int8, uint8, int32, uint32, int64, uint64",
		 NULL},
		{RF_OPT_STRING, "op", 0, &c.op, "OP",
		 "join --rank: sum, min, max; and, or, xor of integers; copy with --directed",
		 NULL},
		{RF_OPT_FLAG, "directed", 0, &c.directed, NULL, "join --rank: a directed group",
		 NULL},
		{RF_OPT_UINT, "mtu", 0, &c.mtu, "BYTES", "join --rank: path MTU", NULL},
		{RF_OPT_FLAG, "transparent", 0, &c.transparent, NULL,
		 "join --rank: the box sends no NAK; the endpoints handle losses", NULL},
		{RF_OPT_STRING, "others", 0, &c.others, "fail|pass",
		 "join --rank: data that a rank's host sends on unregistered connections before "
		 "the rank's own data arrive: fail the group, or pass them",
		 NULL},
		{RF_OPT_UINT, "straggler", 0, &c.straggler, "CODE",
		 "join --rank: RNR timer code for ranks that wait for others; 0: no answer", NULL},
		{RF_OPT_UINT, "slots", 0, &c.slots, "N",
		 "join: slots; 0: 256, or as many as fit into 256 KiB. Traffic uses 16 if no "
		 "more are free",
		 NULL},
		{RF_OPT_TIME, "lease", 0, &c.lease, "TIME",
		 "join --rank: the group ends if a rank sends and acknowledges nothing for this "
		 "long; 0s: never",
		 NULL},
		{RF_OPT_U64, "job", 0, &c.job, "N",
		 "the job: for join and wait instead of the plan's, for others instead of JOB",
		 NULL},
		{RF_OPT_STRING, "group", 'g', &c.group_text, "N",
		 "one group of the job; default for join, wait: 0, for others: all", NULL},
		{RF_OPT_CALL, "release", 0, &c, "ADDRESS:QPN", "hold: release one connection",
		 ctl_release_add},
		{RF_OPT_FLAG, "release-all", 0, &c.release_all, NULL,
		 "hold: release all connections, and end the hold time", NULL},
		{RF_OPT_STRING, "port", 'p', &c.port_text, "N",
		 "counters: only of this port of the box", NULL},
		{RF_OPT_TIME, "timeout", 0, &c.timeout, "TIME",
		 "time limit for an answer of the box; wait: longest time without progress", NULL},
		{RF_OPT_TIME, "watch", 'w', &c.watch, "TIME",
		 "repeat at this interval (without TIME: once per second); 0s: once", NULL},
		{RF_OPT_FLAG, "json", 0, &c.json, NULL, "print answers as JSON", NULL},
		{RF_OPT_END, NULL, 0, NULL, NULL, NULL, NULL},
	};
	const struct rf_opt_page page = {
		.usage = "ringfold ctl COMMAND [JOB] [options]",
		.intro = "Commands:\n"
			 "  join      register the ranks of generated traffic (without a "
			 "lease), or, with --rank, of\n"
			 "            programs without ringfold: the QPN and first "
			 "PSN of "
			 "the queue pair on\n"
			 "            which a rank sends, the QPN on which it receives, the box's "
			 "port "
			 "that its data reaches\n"
			 "  wait      until every packet of generated traffic has left the box\n"
			 "  status    the box's shape and state\n"
			 "  groups    all groups\n"
			 "  ports     every port: its main counters\n"
			 "  slots     the range of slots of each group\n"
			 "  connections  the connection table, tombstones included\n"
			 "  jobs      what each job uses of the box, and how much its key "
			 "allows\n"
			 "  hold      unknown connections whose data the box has dropped since its "
			 "start or reset:\n"
			 "            until they are silent, or released\n"
			 "  log       events of groups, oldest first; with --watch also new ones\n"
			 "  ranks JOB      progress of each rank of a job, which one is awaited, "
			 "how often each was last\n"
			 "  stragglers JOB lag of the last rank of each group after the "
			 "first: histogram\n"
			 "  tree JOB  the boxes of each group of a job: states, and how far they "
			 "are\n"
			 "  counters  counters of the box: ports, firmware, refusals (zeroes "
			 "left out)\n"
			 "  drop JOB  end a job's groups\n"
			 "  reset     end all groups",
		.examples = "  ringfold ctl join --traffic /tmp/t --device "
			    "net_memif0,role=client,socket=/run/rf/c.sock,socket-abstract=no\n"
			    "  ringfold ctl ranks 7 --device net_af_packet0,iface=eth1 --watch 1s",
		.opts = opts,
	};
	const struct command *command;
	int n;

	default_watch(argc, argv);
	n = rf_opt_parse(&page, argc, argv);

	if (n == -1)
		return RF_EXIT_GOOD;
	if (n < 0)
		return RF_EXIT_USAGE;
	c.device = c.device ? c.device : rf_setting_text("RF_DEVICE");
	c.dpdk_args = c.dpdk_args ? c.dpdk_args : rf_setting_text("RF_DPDK_ARGS");
	c.ip_text = c.ip_text ? c.ip_text : rf_setting_text("RF_IP");
	c.box_text = c.box_text ? c.box_text : rf_setting_text("RF_BOX_IP");
	c.gateway_text = c.gateway_text ? c.gateway_text : rf_setting_text("RF_GATEWAY");
	c.key_text = rf_opt_secret(c.key_text);
	c.key_text = c.key_text ? c.key_text : rf_setting_text("RF_KEY");
	c.all_groups = !c.group_text;
	c.all_ports = !c.port_text;
	command = words(&c, argc - n, argv + n);
	if (!command || parse_values(&c) != 0)
		return RF_EXIT_USAGE;
	if (!*c.device) {
		fprintf(stderr, "ringfold ctl: --device is missing, see --help\n");
		return RF_EXIT_USAGE;
	}
	return run(&c, command->run);
}
