/*
 * ringfold gen: traffic for packet generators. One pcap per switch port with the frames of its
 * ranks (open loop: nothing waits for ACKs), the expected sums, and the plan from which `ringfold
 * ctl join` and `ringfold check` work.
 */
#include <errno.h>
#include <inttypes.h>
#include <pcap/pcap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tools/gen_folder.h"
#include "base/opt.h"
#include "tools/traffic.h"
#include "proto/rf_bytes.h"
#include "wire/arp.h"

struct gen {
	struct traffic_plan plan;
	const char *dir;
	const char *faults;
	double fault_rate;
	double foreign_rate;
	bool fault_on[TRAFFIC_FAULTS];
	uint64_t state; /* state of the random numbers for faults and foreign traffic */
	pcap_t *dead;
	pcap_dumper_t *port[TRAFFIC_PORTS_MAX];
	pcap_dumper_t *foreign;
	uint64_t written; /* frames so far: gives their time in the files, one per us */
	uint64_t max_size;
	time_t shown; /* when progress was last shown */
};

/* Precedes each frame of a pcap file. */
#define PCAP_RECORD 16.0
#define GIB 0x1p30

/* Estimates the size of the files: headers of the largest kind, rates as configured. */
static double bytes_to_write(const struct gen *g)
{
	const struct traffic_plan *p = &g->plan;
	double packets = (double)traffic_packets(p) * p->ranks;
	double sums = (double)p->messages * (double)p->message_bytes;
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

static bool chance(struct gen *g, double rate)
{
	return (double)(traffic_random(&g->state) >> 11) * 0x1p-53 < rate;
}

static void dump(struct gen *g, pcap_dumper_t *to, const uint8_t *frame, size_t len)
{
	struct pcap_pkthdr h = {.caplen = (bpf_u_int32)len, .len = (bpf_u_int32)len};

	h.ts.tv_sec = (time_t)(g->written / 1000000);
	h.ts.tv_usec = (suseconds_t)(g->written % 1000000);
	g->written++;
	pcap_dump((u_char *)to, &h, frame);
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

static int parse_faults(struct gen *g)
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
			if (strcmp(word, traffic_fault_name((enum traffic_fault)i)) == 0 ||
			    strcmp(word, "all") == 0)
				g->fault_on[kind = i] = true;
		}
		if (kind < 0) {
			fprintf(stderr, "ringfold gen: unknown fault '%s', see --help\n", word);
			return -1;
		}
	}
	return 0;
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
	dump(g, g->port[k->place.port], frame, rf_arp_build(&a, frame, sizeof(frame)));
}

/* RoCE of no group, between the same hosts: it must come back unchanged. */
static void foreign_frame(struct gen *g, unsigned int rank)
{
	uint8_t frame[ROCE_FRAME_MAX];
	uint8_t payload[ROCE_MTU_MAX];
	struct roce_packet p;
	size_t len;

	traffic_packet(&g->plan, rank, 0, payload, &p);
	p.payload_len = 8 + (uint32_t)(traffic_random(&g->state) % (g->plan.mtu - 7));
	for (uint32_t i = 0; i < p.payload_len; i++)
		payload[i] = (uint8_t)traffic_random(&g->state);
	rf_put_be64(payload, g->plan.foreign);
	p.opcode = ROCE_OP_SEND_ONLY;
	p.qpn = TRAFFIC_FOREIGN_QPN + rank;
	p.psn = (uint32_t)g->plan.foreign & ROCE_PSN_MASK;
	len = roce_build(&p, frame, sizeof(frame));
	dump(g, g->port[g->plan.rank[rank].place.port], frame, len);
	dump(g, g->foreign, frame, len);
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
	uint64_t offset;
	uint32_t size;
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
	traffic_span(plan, index, &offset, &size);
	traffic_fill(plan, rank, offset, payload, size);
	traffic_packet(plan, rank, index, payload, &p);
	len = roce_build(&p, frame, sizeof(frame));
	len = spoil(g, kind, frame, len, &p);
	dump(g, g->port[plan->rank[rank].place.port], frame, len);
	g->plan.fault[kind]++;
}

/* Generates one index: every rank's packet, and the sum. */
static int one_index(struct gen *g, uint64_t index, uint8_t (*operands)[ROCE_MTU_MAX],
		     FILE *expected)
{
	const struct traffic_plan *plan = &g->plan;
	const void *pointers[TRAFFIC_RANKS_MAX];
	struct rf_place places[TRAFFIC_RANKS_MAX];
	uint8_t frame[ROCE_FRAME_MAX];
	uint8_t sum[ROCE_MTU_MAX];
	uint64_t offset;
	uint32_t size;

	traffic_span(plan, index, &offset, &size);
	for (unsigned int r = 0; r < plan->ranks; r++) {
		struct roce_packet p;

		traffic_fill(plan, r, offset, operands[r], size);
		pointers[r] = operands[r];
		places[r] = plan->rank[r].place;
		traffic_packet(plan, r, index, operands[r], &p);
		while (g->faults && chance(g, g->fault_rate))
			fault_frame(g, r, index);
		while (chance(g, g->foreign_rate))
			foreign_frame(g, r);
		dump(g, g->port[plan->rank[r].place.port], frame,
		     roce_build(&p, frame, sizeof(frame)));
	}
	if (rf_order_reduce(plan->type, plan->op, plan->ranks, places, pointers, sum,
			    size / rf_arith_size(plan->type)) != 0)
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

static int check_plan(struct gen *g, uint64_t size, const char *opcode)
{
	struct traffic_plan *plan = &g->plan;

	plan->write = strncmp(opcode, "write", 5) == 0;
	plan->imm = strstr(opcode, "-imm") != NULL;
	plan->message_bytes = size;
	if (plan->ports < 1 || plan->ports > TRAFFIC_PORTS_MAX) {
		fprintf(stderr, "ringfold gen: --ports: expected 1..%u\n", TRAFFIC_PORTS_MAX);
	} else if (plan->ranks < 2 || plan->ranks > TRAFFIC_RANKS_MAX ||
		   plan->ranks > 16 * plan->ports) {
		fprintf(stderr, "ringfold gen: --ranks: expected 2..%u, at most 16 per port\n",
			TRAFFIC_RANKS_MAX);
	} else if (plan->mtu < 256 || plan->mtu > 4096 || (plan->mtu & (plan->mtu - 1)) != 0) {
		fprintf(stderr, "ringfold gen: --mtu: expected 256, 512, 1024, 2048 or 4096\n");
	} else if (size == 0 || size > 1u << 30 || size % rf_arith_size(plan->type) != 0) {
		fprintf(stderr, "ringfold gen: --size: expected 1 element to 1G, a multiple of the "
				"element\n");
	} else if (plan->messages < 1 || plan->messages > 1u << 24) {
		fprintf(stderr, "ringfold gen: --messages: expected 1..16777216\n");
	} else if (plan->vlan < -1 || plan->vlan > 4095) {
		fprintf(stderr, "ringfold gen: --vlan: expected 0..4095\n");
	} else if (g->fault_rate >= 1.0 || g->foreign_rate >= 1.0) {
		fprintf(stderr, "ringfold gen: rates: expected below 1\n");
	} else {
		return parse_faults(g);
	}
	return -1;
}

static void summary(const struct gen *g)
{
	const struct traffic_plan *plan = &g->plan;

	printf("%s: %u ranks on %u ports, %s %s, %" PRIu64 " messages of %" PRIu64
	       " bytes, %" PRIu64 " packets per rank, seed %" PRIu64 "\n",
	       g->dir, plan->ranks, plan->ports, traffic_type_name(plan->type),
	       traffic_op_name(plan->op), plan->messages, plan->message_bytes,
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
	uint64_t size = 65536;
	const char *type = "fp32";
	const char *op = "sum";
	const char *opcode = "send";
	const char *vlan = NULL;
	const struct rf_opt opts[] = {
		{RF_OPT_STRING, "out", 'o', &g.dir, "DIR",
		 "folder for the files, created if needed; files of an earlier\n"
		 "run in it are replaced",
		 NULL},
		{RF_OPT_UINT, "ports", 0, &g.plan.ports, "N", "switch ports, one pcap each", NULL},
		{RF_OPT_UINT, "ranks", 'n', &g.plan.ranks, "N",
		 "ranks; rank r is on port r mod ports", NULL},
		{RF_OPT_SIZE, "size", 's', &size, "BYTES", "bytes of a message", NULL},
		{RF_OPT_U64, "messages", 0, &g.plan.messages, "N",
		 "number of messages, sent one after another", NULL},
		{RF_OPT_UINT, "mtu", 0, &g.plan.mtu, "BYTES", "path MTU", NULL},
		{RF_OPT_CHOICE, "dtype", 0, &type, "fp32|bf16|fp16|int32", "element type", NULL},
		{RF_OPT_CHOICE, "op", 0, &op, "sum|min|max", "operation", NULL},
		{RF_OPT_CHOICE, "opcode", 0, &opcode, "send|send-imm|write|write-imm",
		 "kind of packets", NULL},
		{RF_OPT_STRING, "vlan", 0, &vlan, "ID", "with a VLAN tag", NULL},
		{RF_OPT_FRACTION, "foreign", 0, &g.foreign_rate, "RATE",
		 "RoCE frames of no group in between, per packet (0.1 or 10%)", NULL},
		{RF_OPT_STRING, "faults", 0, &g.faults, "LIST",
		 "frames that must change nothing: all, or some of duplicate,icrc,\n"
		 "source,runt,ipv6,options,fragment,checksum,tags,multicast,start",
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
	g.plan.type = (enum rf_arith_type)traffic_type_parse(type);
	g.plan.op = (enum rf_arith_op)traffic_op_parse(op);
	if (vlan && rf_opt_uint(vlan, &vlan_id) != 0) {
		fprintf(stderr, "ringfold gen: --vlan: expected a number\n");
		return RF_EXIT_USAGE;
	}
	if (vlan)
		g.plan.vlan = vlan_id > 4095 ? 4096 : (int)vlan_id;
	if (check_plan(&g, size, opcode) != 0 || size_is_allowed(&g) != 0)
		return RF_EXIT_USAGE;
	return generate(&g) == 0 ? RF_EXIT_GOOD : RF_EXIT_FAILED;
}
