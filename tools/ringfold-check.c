/*
 * ringfold check: compares what the network returned with what `ringfold gen` expected: every bit
 * of every sum on every rank, and every foreign frame.
 */
#include <inttypes.h>
#include <jansson.h>
#include <pcap/pcap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/opt.h"
#include "tools/traffic.h"
#include "proto/rf_bytes.h"

#define FAULTS_SHOWN 10u

struct check {
	struct traffic_plan plan;
	const char *dir;
	const char *box;
	bool json;
	uint8_t *expected;
	uint64_t expected_bytes;
	uint64_t next[TRAFFIC_RANKS_MAX]; /* next index expected by the receiving rank */
	uint8_t **foreign;                /* frames sent, by number; NULL once received back */
	uint32_t *foreign_len;
	uint64_t foreign_count;
	uint64_t foreign_seen;
	uint64_t frames;
	uint64_t other; /* ARP and all other frames that are not ours */
	uint64_t own;   /* what the generator sent, if a file holds both directions */
	uint64_t wrong;
};

/* Reports one fault: the first few are printed, all are counted. */
static void wrong(struct check *c, const char *file, uint64_t number, const char *what)
{
	if (c->wrong++ < FAULTS_SHOWN)
		fprintf(stderr, "ringfold check: %s: frame %" PRIu64 ": %s\n", file, number, what);
}

static int load_expected(struct check *c)
{
	const char *path = traffic_path(c->dir, "expected.bin");
	FILE *f = path ? fopen(path, "rb") : NULL;
	int rc = -1;

	c->expected_bytes = traffic_bytes(&c->plan);
	c->expected = malloc(c->expected_bytes + 1); /* barriers alone have no bytes */
	if (f && c->expected && fread(c->expected, 1, c->expected_bytes, f) == c->expected_bytes)
		rc = 0;
	else
		fprintf(stderr, "ringfold check: %s/expected.bin cannot be read, or is too short\n",
			c->dir);
	if (f)
		fclose(f);
	return rc;
}

static int load_foreign(struct check *c)
{
	char why[PCAP_ERRBUF_SIZE];
	const char *path = traffic_path(c->dir, "foreign.pcap");
	pcap_t *in = path ? pcap_open_offline(path, why) : NULL;
	struct pcap_pkthdr *h;
	const u_char *data;

	if (!in) {
		fprintf(stderr, "ringfold check: %s\n", path ? why : c->dir);
		return -1;
	}
	while (pcap_next_ex(in, &h, &data) == 1) {
		size_t n = c->foreign_count + 1;
		uint8_t **frames = realloc(c->foreign, n * sizeof(*frames));
		uint32_t *lens;

		if (frames)
			c->foreign = frames;
		lens = realloc(c->foreign_len, n * sizeof(*lens));
		if (lens)
			c->foreign_len = lens;
		if (!frames || !lens || !(frames[n - 1] = malloc(h->caplen))) {
			fprintf(stderr, "ringfold check: out of memory\n");
			pcap_close(in);
			return -1;
		}
		memcpy(frames[n - 1], data, h->caplen);
		lens[n - 1] = h->caplen;
		c->foreign_count = n;
	}
	pcap_close(in);
	return 0;
}

/* A foreign frame: the first eight payload bytes are its number. */
static void foreign_frame(struct check *c, const char *file, uint64_t number,
			  const struct roce_packet *p, const uint8_t *frame, uint32_t len)
{
	uint64_t id = p->payload_len >= 8 ? rf_get_be64(p->payload) : UINT64_MAX;

	if (id >= c->foreign_count || !c->foreign[id]) {
		wrong(c, file, number, "foreign frame that was not sent, or came back twice");
		return;
	}
	if (len != c->foreign_len[id] || memcmp(frame, c->foreign[id], 6) != 0 ||
	    memcmp(frame + 12, c->foreign[id] + 12, len - 12) != 0)
		wrong(c, file, number, "foreign frame changed in more than its source MAC");
	free(c->foreign[id]);
	c->foreign[id] = NULL;
	c->foreign_seen++;
}

/*
 * Names the first difference between a packet of a mirror connection or a directed group and the
 * frame that must come, NULL if there is none. The source MAC of ring results may be any.
 */
static const char *difference(const struct check *c, const struct roce_packet *p,
			      const struct roce_packet *want, const uint8_t *frame, uint32_t len)
{
	uint8_t built[ROCE_FRAME_MAX];
	struct roce_packet wanted = *want;
	size_t size;

	if (!c->plan.mirror)
		memcpy(wanted.src_mac, p->src_mac, 6);
	if (!c->plan.directed) /* the plan does not tell the slots, on which AckReq depends */
		wanted.ackreq |= p->ackreq;
	size = roce_build(&wanted, built, sizeof(built));
	if (len == size && memcmp(frame, built, size) == 0)
		return NULL;
	if (p->opcode != want->opcode)
		return "opcode is not that of the rank's own packet";
	if ((roce_opcode_flags(p->opcode) & ROCE_F_IMM) && p->imm != want->imm)
		return "immediate is not that of the rank's own packet";
	if (want->payload_len == 0 && p->payload_len != 0)
		return "data for a rank that gets an empty packet";
	if (want->payload_len != 0 && p->payload_len == 0)
		return "an empty packet for a rank that wants the result";
	if (p->payload_len != want->payload_len)
		return "payload has a wrong length";
	if (!p->ip_checksum_ok)
		return "IP header checksum is wrong";
	if (memcmp(p->payload, want->payload, p->payload_len) != 0)
		return "wrong sum";
	return "headers are not those that the box must make";
}

/* The same for a group of a ring that is not directed. */
static const char *ring_difference(const struct check *c, unsigned int to,
				   const struct roce_packet *p, const struct roce_packet *want)
{
	if (p->src_ip != want->src_ip || p->udp_sport != want->udp_sport ||
	    memcmp(p->dst_mac, c->plan.rank[to].mac, 6) != 0 || p->opcode != want->opcode ||
	    p->has_vlan != want->has_vlan)
		return "headers do not match the sending rank";
	if (p->payload_len != want->payload_len)
		return "payload has a wrong length";
	if (memcmp(p->payload, want->payload, p->payload_len) != 0)
		return "wrong sum";
	return NULL;
}

/* Checks a packet of the group sent to rank `to`. */
static void sum_frame(struct check *c, const char *file, uint64_t number, unsigned int to,
		      const struct roce_packet *p, const uint8_t *frame, uint32_t len)
{
	const struct traffic_plan *plan = &c->plan;
	uint64_t index = c->next[to];
	struct roce_packet want;
	const char *what;
	uint64_t offset;
	uint32_t span;

	if (!roce_icrc_ok(frame, p)) {
		wrong(c, file, number, "ICRC is wrong");
		return;
	}
	if (index >= traffic_packets(plan)) {
		wrong(c, file, number, "more packets than were sent");
		return;
	}
	traffic_span(plan, index, &offset, &span);
	traffic_answer(plan, to, index, c->expected + offset, &want);
	want.psn = (want.psn - plan->shift) & ROCE_PSN_MASK;
	if (p->psn != want.psn) {
		wrong(c, file, number, "PSN out of order");
		return;
	}
	c->next[to]++;
	if (plan->directed || plan->mirror)
		what = difference(c, p, &want, frame, len);
	else
		what = ring_difference(c, to, p, &want);
	if (what)
		wrong(c, file, number, what);
}

/* The rank with this MAC, or -1. */
static int rank_of(const struct check *c, const uint8_t *mac)
{
	for (unsigned int r = 0; r < c->plan.ranks; r++)
		if (memcmp(c->plan.rank[r].mac, mac, 6) == 0)
			return (int)r;
	return -1;
}

/*
 * The switch port at which a file was captured: that of the first rank which got a frame of the
 * box; -1 if there is none. Frames of that port's own ranks were sent there, not received.
 */
static int port_of(const struct check *c, const char *path)
{
	char why[PCAP_ERRBUF_SIZE];
	pcap_t *in = pcap_open_offline(path, why);
	struct pcap_pkthdr *h;
	const u_char *data;
	int rank = -1;

	while (in && rank < 0 && pcap_next_ex(in, &h, &data) == 1)
		if (h->caplen >= 14 && rank_of(c, data + 6) < 0)
			rank = rank_of(c, data);
	if (in)
		pcap_close(in);
	return rank < 0 ? -1 : (int)c->plan.rank[rank].place.port;
}

static void one_frame(struct check *c, const char *file, uint64_t number, const uint8_t *frame,
		      uint32_t len, int port)
{
	struct roce_packet p;
	int rc = roce_parse(frame, len, &p);
	int sender = len >= 14 ? rank_of(c, frame + 6) : -1;

	c->frames++;
	if (sender >= 0 && (int)c->plan.rank[sender].place.port == port) {
		c->own++;
		return;
	}
	if (rc != ROCE_WIRE_OK) {
		/*
		 * Frames that a switch floods to all its ports arrive here too, without passing
		 * through the box.
		 */
		bool flooded = (rc == ROCE_WIRE_IPV6 || rc == ROCE_WIRE_TWO_TAGS ||
				(rc == ROCE_WIRE_MULTICAST && c->plan.mirror)) &&
			       (frame[0] & 1);

		c->other++;
		if (rc != ROCE_WIRE_ARP && !flooded)
			wrong(c, file, number, roce_wire_error_name(rc));
		return;
	}
	for (unsigned int r = 0; r < c->plan.ranks; r++) {
		const struct traffic_rank *k = &c->plan.rank[r];

		if (p.dst_ip != k->ip)
			continue;
		if (p.qpn >= TRAFFIC_FOREIGN_QPN && p.qpn < TRAFFIC_FOREIGN_QPN + c->plan.ranks)
			foreign_frame(c, file, number, &p, frame, len);
		else if (p.qpn == (c->plan.mirror ? k->qpn : k->recv_qpn) &&
			 p.opcode <= ROCE_OP_WRITE_ONLY_IMM)
			sum_frame(c, file, number, r, &p, frame, len);
		else
			wrong(c, file, number, "RoCE packet of no connection of the plan");
		return;
	}
	c->other++;
}

static int one_file(struct check *c, const char *path)
{
	char why[PCAP_ERRBUF_SIZE];
	pcap_t *in = pcap_open_offline(path, why);
	struct pcap_pkthdr *h;
	const u_char *data;
	uint64_t number = 0;
	int port = port_of(c, path);
	int rc;

	if (!in) {
		fprintf(stderr, "ringfold check: %s\n", why);
		return -1;
	}
	while ((rc = pcap_next_ex(in, &h, &data)) == 1) {
		number++;
		if (h->caplen != h->len)
			wrong(c, path, number, "frame was truncated during capture");
		else
			one_frame(c, path, number, data, h->caplen, port);
	}
	if (rc != PCAP_ERROR_BREAK) {
		fprintf(stderr, "ringfold check: %s: %s\n", path, pcap_geterr(in));
		pcap_close(in);
		return -1;
	}
	pcap_close(in);
	return 0;
}

static int report(struct check *c)
{
	uint64_t packets = traffic_packets(&c->plan);
	uint64_t missing = c->foreign_count - c->foreign_seen;
	json_t *root;

	for (unsigned int r = 0; r < c->plan.ranks; r++)
		missing += packets - c->next[r];
	if (c->json) {
		root = json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "ranks",
				 (json_int_t)c->plan.ranks, "packets_per_rank", (json_int_t)packets,
				 "foreign", (json_int_t)c->foreign_seen, "frames",
				 (json_int_t)c->frames, "other", (json_int_t)c->other, "own",
				 (json_int_t)c->own, "missing", (json_int_t)missing, "wrong",
				 (json_int_t)c->wrong);
		json_dumpf(root, stdout, JSON_INDENT(1));
		putchar('\n');
		json_decref(root);
	} else {
		printf("%8s %12s %12s\n", "rank", "expected", "came");
		for (unsigned int r = 0; r < c->plan.ranks; r++)
			printf("%8u %12" PRIu64 " %12" PRIu64 "\n", r, packets, c->next[r]);
		printf("%8s %12" PRIu64 " %12" PRIu64 "\n", "foreign", c->foreign_count,
		       c->foreign_seen);
		printf("%" PRIu64 " frames, %" PRIu64 " of others, %" PRIu64 " missing, %" PRIu64
		       " wrong\n",
		       c->frames, c->other, missing, c->wrong);
		if (missing > 0 && !c->box)
			printf("--box FILE, with the output of `ringfold box --json`, tells why "
			       "packets are missing\n");
		if (c->own)
			printf("%" PRIu64
			       " frames were sent at the ports themselves: not checked\n",
			       c->own);
	}
	if (c->wrong > 0)
		return RF_EXIT_WRONG_DATA;
	return missing > 0 ? RF_EXIT_FAILED : RF_EXIT_GOOD;
}

int main(int argc, char **argv)
{
	static struct check c;
	const struct rf_opt opts[] = {
		{RF_OPT_STRING, "traffic", 0, &c.dir, "DIR", "the folder written by ringfold gen",
		 NULL},
		{RF_OPT_STRING, "box", 0, &c.box, "FILE",
		 "output of `ringfold box --json`, of a box without other traffic:\n"
		 "each counter must have the value that follows from the plan",
		 NULL},
		{RF_OPT_FLAG, "json", 0, &c.json, NULL, "print the summary as JSON", NULL},
		{RF_OPT_END, NULL, 0, NULL, NULL, NULL, NULL},
	};
	const struct rf_opt_page page = {
		.usage = "ringfold check --traffic DIR FILE...",
		.intro = "Reads captures (pcap or pcapng) of the frames that the switch sent to "
			 "its host "
			 "ports, and compares\n"
			 "every sum and every foreign frame with what `ringfold gen` expected. "
			 "Exit code 3: wrong\n"
			 "data arrived; 1: data is missing.",
		.examples =
			"  ringfold check --traffic /tmp/t /tmp/t/out0.pcapng /tmp/t/out1.pcapng",
		.opts = opts,
	};
	int n = rf_opt_parse(&page, argc, argv);

	if (n == -1)
		return RF_EXIT_GOOD;
	if (n < 0)
		return RF_EXIT_USAGE;
	if (!c.dir || n == argc) {
		fprintf(stderr, "ringfold check: %s, see --help\n",
			c.dir ? "no capture given" : "--traffic is missing");
		return RF_EXIT_USAGE;
	}
	if (traffic_load(&c.plan, c.dir) != 0 || load_expected(&c) != 0 || load_foreign(&c) != 0)
		return RF_EXIT_FAILED;
	for (; n < argc; n++) {
		if (one_file(&c, argv[n]) != 0)
			return RF_EXIT_FAILED;
	}
	n = report(&c);
	if (c.box && traffic_check_box(&c.plan, c.box) != 0 && n == RF_EXIT_GOOD)
		n = RF_EXIT_WRONG_DATA;
	return n;
}
