/*
 * ringfold gen: traffic for packet generators. One pcap per switch port with the frames of its
 * ranks (nothing waits for ACKs), the expected sums, and the plan from which `ringfold ctl join`
 * and `ringfold check` work.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <pcap/pcap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tools/gen.h"
#include "tools/gen_folder.h"
#include "base/mac.h"
#include "base/opt.h"
#include "wire/arp.h"

/* Precedes each frame of a pcap file. */
#define PCAP_RECORD 16.0
#define GIB 0x1p30

/* Estimates the size of the files: headers of the largest kind, rates as configured. */
static double bytes_to_write(const struct gen *g)
{
	const struct traffic_plan *p = &g->plan;
	double packets = (double)traffic_packets(p) * p->ranks;
	double sums = (double)traffic_bytes(p);
	double frame = PCAP_RECORD + ROCE_HEADERS_MAX + 4.0;
	double foreign = g->foreign_rate / (1.0 - g->foreign_rate);
	double faults = g->faults ? g->fault_rate / (1.0 - g->fault_rate) : 0.0;
	double data = sums * p->ranks + packets * frame;

	/* a foreign frame is half as long, and is written to two files */
	return sums + data * (1.0 + faults) + packets * foreign * (2.0 * frame + p->mtu);
}

static int size_is_allowed(const struct gen *g)
{
	double bytes = bytes_to_write(g);

	if (bytes > (double)g->max_size) {
		fprintf(stderr,
			"ringfold gen: about %.1f GiB would be written, more than --max-size "
			"%.1f GiB\n",
			bytes / GIB, (double)g->max_size / GIB);
		return -1;
	}
	printf("about %.1f MiB to write\n", bytes / 0x1p20);
	fflush(stdout);
	return 0;
}

/* On a terminal, updates a line once per second. */
static void show_progress(struct gen *g, uint64_t index, uint64_t packets)
{
	time_t now = time(NULL);

	if (now == g->shown || !isatty(STDERR_FILENO))
		return;
	if (g->shown != 0)
		fprintf(stderr, "\r%3.0f %%", 100.0 * (double)index / (double)packets);
	g->shown = now;
}

static pcap_dumper_t *open_file(struct gen *g, const char *name)
{
	const char *path = traffic_path(g->dir, name);
	pcap_dumper_t *d = path ? pcap_dump_open(g->dead, path) : NULL;

	if (!d)
		fprintf(stderr, "ringfold gen: cannot write %s/%s: %s\n", g->dir, name,
			pcap_geterr(g->dead));
	return d;
}

/*
 * A gratuitous ARP per rank, so that the switch has learnt every host before the first sum comes
 * back.
 */
static void announce(struct gen *g, unsigned int rank)
{
	const struct traffic_rank *k = &g->plan.rank[rank];
	struct rf_arp a = {.op = 1, .sender_ip = k->ip, .target_ip = k->ip};
	uint8_t frame[64];

	a.has_vlan = g->plan.vlan >= 0;
	a.vlan_tci = g->plan.vlan >= 0 ? (uint16_t)g->plan.vlan : 0;
	memcpy(a.sender_mac, k->mac, 6);
	gen_dump(g, g->port[k->place.port], frame, rf_arp_build(&a, frame, sizeof(frame)));
}

/* Generates one index: every rank's packet, and the result. */
static int one_index(struct gen *g, uint64_t index, uint8_t (*operands)[ROCE_MTU_MAX],
		     FILE *expected)
{
	const struct traffic_plan *plan = &g->plan;
	uint8_t frame[ROCE_FRAME_MAX];
	uint8_t sum[ROCE_MTU_MAX];
	uint64_t offset;
	uint32_t size;

	traffic_span(plan, index, &offset, &size);
	for (unsigned int r = 0; r < plan->ranks; r++) {
		struct roce_packet p;

		traffic_fill(plan, r, index, operands[r]);
		traffic_packet(plan, r, index, operands[r], &p);
		gen_disturb(g, r, index);
		gen_dump(g, g->port[plan->rank[r].place.port], frame,
			 roce_build(&p, frame, sizeof(frame)));
	}
	if (traffic_result(plan, index, operands, sum) != 0)
		return -1;
	return fwrite(sum, 1, size, expected) == size ? 0 : -1;
}

static int write_all(struct gen *g)
{
	static uint8_t operands[TRAFFIC_RANKS_MAX][ROCE_MTU_MAX];
	uint64_t packets = traffic_packets(&g->plan);
	const char *path = traffic_path(g->dir, "expected.bin");
	FILE *expected = path ? fopen(path, "wb") : NULL;
	int rc = -1;
	int error;

	if (!expected) {
		fprintf(stderr, "ringfold gen: cannot write %s/expected.bin: %s\n", g->dir,
			strerror(errno));
		return -1;
	}
	for (unsigned int r = 0; r < g->plan.ranks; r++)
		announce(g, r);
	for (uint64_t i = 0; i < packets; i++) {
		if (i % 1024 == 0)
			show_progress(g, i, packets);
		if (one_index(g, i, operands, expected) != 0)
			goto out;
	}
	rc = 0;
out:
	error = errno;
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "\r     \r");
	errno = error;
	if (fclose(expected) != 0 || rc != 0) {
		fprintf(stderr, "ringfold gen: cannot write %s/expected.bin: %s\n", g->dir,
			strerror(errno));
		return -1;
	}
	return 0;
}

static int open_all(struct gen *g)
{
	if (gen_folder_ready(g->dir) != 0)
		return -1;
	g->dead = pcap_open_dead(DLT_EN10MB, 65535);
	for (unsigned int p = 0; p < g->plan.ports; p++) {
		char name[16];

		snprintf(name, sizeof(name), "port%u.pcap", p);
		g->port[p] = open_file(g, name);
		if (!g->port[p])
			return -1;
	}
	g->foreign = open_file(g, "foreign.pcap");
	return g->foreign ? 0 : -1;
}

/* The words of the command line that a plan is made of. */
struct words {
	const char *type, *op, *opcode, *vlan, *steering, *collective, *port_ip, *box_mac;
	uint64_t size;
};

static int wrong(const char *what)
{
	fprintf(stderr, "ringfold gen: %s\n", what);
	return -1;
}

/* Slots, and the addresses of the box's ports. */
static int parse_mirror(struct traffic_plan *plan, const struct words *w)
{
	uint8_t mac[6];
	struct in_addr ip;

	if (!plan->directed && plan->set.slots != 0)
		return wrong("--slots: only with --directed; `ringfold ctl join --slots` asks for "
			     "those of other groups");
	if (plan->set.slots == 0)
		plan->set.slots = 512;
	plan->mirror = strcmp(w->steering, "mirror") == 0;
	if (!plan->mirror && (w->port_ip || w->box_mac))
		return wrong("--port-ip, --box-mac: only with --steering mirror");
	if (inet_pton(AF_INET, w->port_ip ? w->port_ip : "10.0.0.222", &ip) != 1)
		return wrong(strchr(w->port_ip, ':')
				     ? "--port-ip: expected an IPv4 address; ringfold has no IPv6"
				     : "--port-ip: expected an IPv4 address");
	if (!rf_mac_read(w->box_mac ? w->box_mac : "02:52:46:00:00:10", mac) ||
	    !rf_mac_is_host(mac))
		return wrong("--box-mac: expected the MAC address of a box, such as "
			     "02:52:46:00:00:10");
	plan->port_ip = ntohl(ip.s_addr);
	if (plan->port_ip >> 24 == 0 || plan->port_ip >> 24 == 127 || plan->port_ip >> 24 >= 224)
		return wrong("--port-ip: expected the address of a host");
	for (int i = 0; i < 6; i++)
		plan->box_mac = plan->box_mac << 8 | mac[i];
	return 0;
}

/* Type and operation: one, or in a directed group all. */
static int parse_kinds(struct traffic_plan *plan, const struct words *w)
{
	int type = element_type_parse(strcmp(w->type, "all") == 0 ? "fp32" : w->type);
	int op = element_op_parse(strcmp(w->op, "all") == 0 ? "sum" : w->op);

	plan->type = (unsigned int)type;
	plan->op = (unsigned int)op;
	if (!element_allows(plan->type, plan->op) && strcmp(w->type, "all") != 0)
		return wrong("--op: and, or, xor are operations of integers");
	if (!plan->directed && w->collective)
		return wrong("--collective: only with --directed");
	traffic_set_parse(&plan->set, w->collective ? w->collective : "all", w->type, w->op);
	if (!plan->directed && (strcmp(w->type, "all") == 0 || strcmp(w->op, "all") == 0))
		return wrong("--dtype all and --op all need --directed");
	if (plan->directed && !element_allows(plan->type, plan->op))
		plan->type = (unsigned int)element_type_parse("int32");
	if (plan->directed && strcmp(w->opcode, "send") != 0)
		return wrong("--opcode: the packets of --directed have their own");
	return 0;
}

static int check_plan(struct gen *g, const struct words *w)
{
	struct traffic_plan *plan = &g->plan;
	uint64_t size = w->size;

	plan->write = strncmp(w->opcode, "write", 5) == 0;
	plan->imm = strstr(w->opcode, "-imm") != NULL;
	plan->message_bytes = size;
	if (plan->ports < 1 || plan->ports > TRAFFIC_PORTS_MAX) {
		fprintf(stderr, "ringfold gen: --ports: expected 1..%u\n", TRAFFIC_PORTS_MAX);
	} else if (plan->ranks < 2 || plan->ranks > TRAFFIC_RANKS_MAX ||
		   plan->ranks > 16 * plan->ports) {
		fprintf(stderr, "ringfold gen: --ranks: expected 2..%u, at most 16 per port\n",
			TRAFFIC_RANKS_MAX);
	} else if (plan->mtu < 256 || plan->mtu > 4096 || (plan->mtu & (plan->mtu - 1)) != 0) {
		fprintf(stderr, "ringfold gen: --mtu: expected 256, 512, 1024, 2048 or 4096\n");
	} else if (size == 0 || size > 1u << 30 || size % element_size(plan->type) != 0) {
		fprintf(stderr, "ringfold gen: --size: expected 1 element to 1G, a multiple of the "
				"element\n");
	} else if (plan->messages < 1 || plan->messages > 1u << 24) {
		fprintf(stderr, "ringfold gen: --messages: expected 1..16777216\n");
	} else if (plan->vlan < -1 || plan->vlan > 4095) {
		fprintf(stderr, "ringfold gen: --vlan: expected 0..4095\n");
	} else if (g->fault_rate >= 1.0 || g->foreign_rate >= 1.0) {
		fprintf(stderr, "ringfold gen: rates: expected below 1\n");
	} else if (plan->mirror && g->foreign_rate > 0.0) {
		fprintf(stderr, "ringfold gen: --foreign: without a rule, frames between hosts do "
				"not reach the box; only with --steering ring\n");
	} else if (plan->set.slots < 16 || plan->set.slots > 1u << 15 ||
		   (plan->set.slots & (plan->set.slots - 1)) != 0) {
		fprintf(stderr, "ringfold gen: --slots: expected a power of two, 16..32768\n");
	} else if (!plan->directed || directed_make(plan, "ringfold gen") == 0) {
		return gen_parse_faults(g);
	}
	return -1;
}

static void summary(const struct gen *g)
{
	const struct traffic_plan *plan = &g->plan;

	if (plan->directed)
		printf("%s: directed group by %s, %u ranks on %u ports, %" PRIu64
		       " calls of up to %" PRIu64 " bytes, %" PRIu64
		       " packets per rank, seed %" PRIu64 "\n",
		       g->dir, plan->mirror ? "mirror" : "ring", plan->ranks, plan->ports,
		       plan->messages, plan->message_bytes, traffic_packets(plan), plan->seed);
	else
		printf("%s: %u ranks on %u ports, %s %s, %" PRIu64 " messages of %" PRIu64
		       " bytes, %" PRIu64 " packets per rank, seed %" PRIu64 "\n",
		       g->dir, plan->ranks, plan->ports, element_type_name(plan->type),
		       element_op_name(plan->op), plan->messages, plan->message_bytes,
		       traffic_packets(plan), plan->seed);
	printf("foreign frames: %" PRIu64 "\n", plan->foreign);
	for (int i = 0; i < TRAFFIC_FAULTS; i++) {
		if (g->fault_on[i])
			printf("fault %-10s %" PRIu64 "\n",
			       traffic_fault_name((enum traffic_fault)i), plan->fault[i]);
	}
}

/* Whether everything has reached its file. */
static int check_written(const struct gen *g, pcap_dumper_t *d, const char *name)
{
	errno = 0;
	if (pcap_dump_flush(d) == 0 && !ferror(pcap_dump_file(d)))
		return 0;
	fprintf(stderr, "ringfold gen: cannot write %s/%s: %s\n", g->dir, name,
		errno ? strerror(errno) : "an earlier write failed");
	return -1;
}

static int check_all_written(const struct gen *g)
{
	for (unsigned int p = 0; p < g->plan.ports; p++) {
		char name[16];

		snprintf(name, sizeof(name), "port%u.pcap", p);
		if (check_written(g, g->port[p], name) != 0)
			return -1;
	}
	return check_written(g, g->foreign, "foreign.pcap");
}

static int generate(struct gen *g)
{
	bool opened;
	int rc = -1;

	traffic_plan_ranks(&g->plan);
	g->state = g->plan.seed ^ 0x666f726569676eu;
	opened = open_all(g) == 0;
	if (opened && write_all(g) == 0 && check_all_written(g) == 0 &&
	    traffic_save(&g->plan, g->dir) == 0)
		rc = 0;
	for (unsigned int p = 0; p < g->plan.ports; p++) {
		if (g->port[p])
			pcap_dump_close(g->port[p]);
	}
	if (g->foreign)
		pcap_dump_close(g->foreign);
	if (g->dead)
		pcap_close(g->dead);
	/* no half of a run stays under its name */
	if (rc != 0 && opened && gen_folder_ready(g->dir) == 0)
		fprintf(stderr, "ringfold gen: the files of this run were removed\n");
	if (rc == 0)
		summary(g);
	return rc;
}

int main(int argc, char **argv)
{
	static struct gen g = {.dir = NULL,
			       .fault_rate = 0.05,
			       .max_size = UINT64_C(4) << 30,
			       .plan = {.seed = 1,
					.job = 0x67656e,
					.ports = 4,
					.ranks = 4,
					.mtu = 1024,
					.vlan = -1,
					.messages = 1}};
	struct words w = {
		.type = "fp32", .op = "sum", .opcode = "send", .steering = "ring", .size = 65536};
	const struct rf_opt opts[] = {
		{RF_OPT_STRING, "out", 'o', &g.dir, "DIR",
		 "folder for the files, created if needed; files of an earlier\n"
		 "run in it are replaced",
		 NULL},
		{RF_OPT_UINT, "ports", 0, &g.plan.ports, "N", "switch ports, one pcap each", NULL},
		{RF_OPT_UINT, "ranks", 'n', &g.plan.ranks, "N",
		 "ranks; rank r is on port r mod ports", NULL},
		{RF_OPT_SIZE, "size", 's', &w.size, "BYTES",
		 "bytes of a message; with --directed at most, of a call", NULL},
		{RF_OPT_U64, "messages", 0, &g.plan.messages, "N",
		 "number of messages, sent one after another", NULL},
		{RF_OPT_UINT, "mtu", 0, &g.plan.mtu, "BYTES", "path MTU", NULL},
		{RF_OPT_CHOICE, "dtype", 0, &w.type,
		 "fp32|bf16|fp16|int32|uint32|int64|uint64|fp64|int8|uint8|all", "element type",
		 NULL},
		{RF_OPT_CHOICE, "op", 0, &w.op, "sum|min|max|and|or|xor|all", "operation", NULL},
		{RF_OPT_CHOICE, "opcode", 0, &w.opcode, "send|send-imm|write|write-imm",
		 "kind of packets", NULL},
		{RF_OPT_CHOICE, "steering", 0, &w.steering, "ring|mirror",
		 "mirror: connections to the addresses of the box's ports", NULL},
		{RF_OPT_STRING, "port-ip", 0, &w.port_ip, "IP",
		 "mirror: address of the box's port 0 (10.0.0.222); the next ports follow", NULL},
		{RF_OPT_STRING, "box-mac", 0, &w.box_mac, "MAC",
		 "mirror: MAC of the box's port 0 (02:52:46:00:00:10)", NULL},
		{RF_OPT_FLAG, "directed", 0, &g.plan.directed, NULL,
		 "a directed group: packets state what their rank gives and wants", NULL},
		{RF_OPT_CHOICE, "collective", 0, &w.collective,
		 "all|own|all-reduce|reduce|broadcast|reduce-scatter|all-gather|gather|scatter|"
		 "barrier",
		 "directed: collective of the calls; all: one after another", NULL},
		{RF_OPT_UINT, "slots", 0, &g.plan.set.slots, "N",
		 "directed: slots of the group, 0: 512; no rank sends more packets", NULL},
		{RF_OPT_STRING, "vlan", 0, &w.vlan, "ID", "with a VLAN tag", NULL},
		{RF_OPT_FRACTION, "foreign", 0, &g.foreign_rate, "RATE",
		 "RoCE frames of no group in between, per packet (0.1 or 10%)", NULL},
		{RF_OPT_STRING, "faults", 0, &g.faults, "LIST",
		 "frames that must change nothing: all, or some of duplicate,icrc,\n"
		 "source,runt,ipv6,options,fragment,checksum,tags,\n"
		 "multicast,start,port",
		 NULL},
		{RF_OPT_FRACTION, "fault-rate", 0, &g.fault_rate, "RATE", "faults per packet",
		 NULL},
		{RF_OPT_SIZE, "max-size", 0, &g.max_size, "BYTES",
		 "write nothing if all files together would be larger", NULL},
		{RF_OPT_U64, "seed", 0, &g.plan.seed, "N", "seed of all random choices", NULL},
		{RF_OPT_END, NULL, 0, NULL, NULL, NULL, NULL},
	};
	const struct rf_opt_page page = {
		.usage = "ringfold gen --out DIR [options]",
		.intro =
			"Writes DIR/portN.pcap (frames sent by the hosts at switch port N, every "
			"ICRC correct),\n"
			"DIR/expected.bin (the sums), DIR/foreign.pcap and DIR/traffic.json. "
			"Register the ranks with\n"
			"`ringfold ctl join --traffic DIR`, play the files, then `ringfold check`.",
		.examples = "  ringfold gen --out /tmp/t --ranks 8 --size 1M --foreign 10% "
			    "--faults all --seed 7",
		.opts = opts,
	};
	int n = rf_opt_parse(&page, argc, argv);
	unsigned int vlan_id;

	if (n == -1)
		return RF_EXIT_GOOD;
	if (n < 0)
		return RF_EXIT_USAGE;
	if (n != argc || !g.dir) {
		fprintf(stderr, "ringfold gen: %s, see --help\n",
			g.dir ? "too many arguments" : "--out is missing");
		return RF_EXIT_USAGE;
	}
	if (w.vlan && rf_opt_uint(w.vlan, &vlan_id) != 0) {
		fprintf(stderr, "ringfold gen: --vlan: expected a number\n");
		return RF_EXIT_USAGE;
	}
	if (w.vlan)
		g.plan.vlan = vlan_id > 4095 ? 4096 : (int)vlan_id;
	if (parse_mirror(&g.plan, &w) != 0 || parse_kinds(&g.plan, &w) != 0 ||
	    check_plan(&g, &w) != 0 || size_is_allowed(&g) != 0)
		return RF_EXIT_USAGE;
	return generate(&g) == 0 ? RF_EXIT_GOOD : RF_EXIT_FAILED;
}
