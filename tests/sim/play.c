/*
 * Plays the traffic of `ringfold gen` into an engine set up by registers, without firmware and
 * switch, and writes what leaves.
 *
 *	play ENGINE FOLDER SEED
 *
 * ENGINE is "model", "model:MUTANT" or "rtl". Reads FOLDER/traffic.json and FOLDER/portN.pcap,
 * writes FOLDER/outN.pcap, and to stdout the counters as `ringfold box --json` does. SEED chooses
 * how the ports take turns. Exit code 77: the engine was built without what the plan needs.
 */
#include <inttypes.h>
#include <pcap/pcap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log2.h"
#include "tests/sim/compare/bench.h"
#include "tests/sim/compare/engine.h"
#include "tools/traffic.h"

#define MAC UINT64_C(0x025246000010)
#define TURN_CYCLES 40u

static struct traffic_plan plan;
static struct bench bench;

static uint64_t mac_of(const uint8_t *mac)
{
	uint64_t value = 0;

	for (int i = 0; i < 6; i++)
		value = value << 8 | mac[i];
	return value;
}

static bool start_rank(unsigned int r)
{
	const struct traffic_rank *k = &plan.rank[r];
	const struct traffic_rank *to = &plan.rank[(r + 1) % plan.ranks];
	uint32_t cid = k->place.lane * 8u + k->place.port;
	uint32_t base = RF_CONN_BASE + cid * RF_CONN_STRIDE;
	uint64_t mac = plan.mirror ? mac_of(k->mac) : 0;

	bench_write(&bench, base + RF_CONN_START, k->start_psn);
	bench_write(&bench, base + RF_CONN_SHIFT, plan.shift);
	bench_write(&bench, base + RF_CONN_SRC_IP, k->ip);
	bench_write(&bench, base + RF_CONN_PEER_IP, plan.mirror ? k->ip : to->ip);
	bench_write(&bench, base + RF_CONN_PEER_PORT, plan.mirror ? k->place.port : to->place.port);
	bench_write(&bench, base + RF_CONN_QPN, k->qpn);
	bench_write(&bench, base + RF_CONN_PEER_MAC_HI,
		    plan.mirror ? RF_CONN_PEER_MAC_HI_MIRROR_MASK | (uint32_t)(mac >> 32) : 0);
	bench_write(&bench, base + RF_CONN_PEER_MAC_LO, (uint32_t)mac);
	bench_write(&bench, base + RF_CONN_INIT, 1);
	if (plan.mirror)
		return bench_entry(&bench, 2, k->ip, k->qpn, cid, RF_STATE_LIVE);
	return bench_entry(&bench, 0, to->ip, to->recv_qpn, cid, RF_STATE_LIVE) &&
	       bench_entry(&bench, 1, k->ip, k->qpn, cid, RF_STATE_LIVE);
}

static bool start_group(unsigned int lanes)
{
	uint32_t slots = plan.directed ? plan.set.slots : 512;
	uint32_t members[4] = {0};
	uint32_t cfg = plan.type << RF_GROUP_CFG_DTYPE_LSB | plan.op << RF_GROUP_CFG_OP_LSB |
		       (uint32_t)rf_log2(plan.mtu) << RF_GROUP_CFG_MTU_LOG2_LSB |
		       3u << RF_GROUP_CFG_LEVEL_LSB | lanes << RF_GROUP_CFG_LANES_LSB |
		       (uint32_t)rf_log2(slots) << RF_GROUP_CFG_S_LOG2_LSB |
		       (plan.directed ? RF_GROUP_CFG_DIRECTED_MASK : RF_GROUP_CFG_OPEN_LOOP_MASK);

	bench_write(&bench, RF_GROUP_BASE + RF_GROUP_CFG, cfg);
	bench_write(&bench, RF_GROUP_BASE + RF_GROUP_DBASE, 0);
	bench_write(&bench, RF_GROUP_BASE + RF_GROUP_HBASE, 0);
	for (unsigned int p = 0; p < plan.ports; p++)
		if (plan.mirror)
			bench_write(&bench, RF_PORT_IP0 + 4 * p, plan.port_ip + p);
	for (unsigned int r = 0; r < plan.ranks; r++) {
		const struct rf_place *at = &plan.rank[r].place;

		members[at->lane / 4] |= 1u << (at->lane % 4 * 8 + at->port);
		if (!start_rank(r))
			return false;
	}
	for (unsigned int k = 0; k < 4; k++)
		bench_write(&bench, RF_GROUP_BASE + RF_GROUP_MEMBERS0 + 4 * k, members[k]);
	bench_write(&bench, RF_GROUP_BASE + RF_GROUP_CFG, cfg | RF_GROUP_CFG_LIVE_MASK);
	return true;
}

/* A frame enters the switch at one port; what no rule matches and no port is known for, at all. */
static void enter(unsigned int port, const uint8_t *frame, size_t len)
{
	size_t type = frame[12] == 0x81 && frame[13] == 0 ? 16 : 12;
	bool rule = !plan.mirror && frame[type] == 0x08 && frame[type + 1] == 0;
	bool all = (frame[0] & 1) && !rule;

	for (unsigned int p = 0; p < plan.ports; p++)
		if (all || p == port)
			bench_feed(&bench, p, frame, len, false);
}

/* The port files, taking turns by chance; no rank runs ahead of the others by all slots. */
static bool play(const char *dir, uint64_t seed)
{
	pcap_t *in[TRAFFIC_PORTS_MAX];
	char why[PCAP_ERRBUF_SIZE];
	uint64_t count[TRAFFIC_PORTS_MAX] = {0};
	unsigned int left = plan.ports;
	struct pcap_pkthdr *h;
	const u_char *data;

	for (unsigned int p = 0; p < plan.ports; p++) {
		char name[24];

		snprintf(name, sizeof(name), "port%u.pcap", p);
		in[p] = pcap_open_offline(traffic_path(dir, name), why);
		if (!in[p]) {
			fprintf(stderr, "play: %s\n", why);
			return false;
		}
	}
	while (left > 0) {
		unsigned int p = (unsigned int)(traffic_random(&seed) % plan.ports);
		uint64_t least = UINT64_MAX;

		for (unsigned int k = 0; k < plan.ports; k++)
			if (in[k] && count[k] < least)
				least = count[k];
		if (!in[p] || count[p] > least + 8)
			continue;
		count[p]++;
		if (pcap_next_ex(in[p], &h, &data) == 1) {
			enter(p, data, h->caplen);
			bench_run(&bench, traffic_random(&seed) % TURN_CYCLES);
			continue;
		}
		pcap_close(in[p]);
		in[p] = NULL;
		left--;
	}
	return bench_settle(&bench);
}

static bool write_out(const char *dir)
{
	pcap_t *dead = pcap_open_dead(DLT_EN10MB, 65535);
	bool good = true;

	for (unsigned int p = 0; p < plan.ports; p++) {
		char name[24];
		pcap_dumper_t *out;

		snprintf(name, sizeof(name), "out%u.pcap", p);
		out = pcap_dump_open(dead, traffic_path(dir, name));
		for (size_t k = 0; out && k < bench.outs; k++) {
			const struct bench_out *o = &bench.out[k];
			struct pcap_pkthdr h = {.caplen = (bpf_u_int32)o->len,
						.len = (bpf_u_int32)o->len};

			h.ts.tv_sec = (time_t)(o->first / 250000000);
			h.ts.tv_usec = (suseconds_t)(o->first / 250 % 1000000);
			if (o->port == p)
				pcap_dump((u_char *)out, &h, o->bytes);
		}
		good &= out && pcap_dump_flush(out) == 0;
		if (out)
			pcap_dump_close(out);
	}
	pcap_close(dead);
	return good;
}

static void print_counters(void)
{
	printf("{\"box\": [");
	for (unsigned int p = 0; p < plan.ports; p++) {
		printf("%s{", p ? ",\n" : "");
		for (unsigned int k = 0; k < RF_CNT_COUNT; k++)
			printf("%s\"%s\": %" PRIu32, k ? ", " : "", bench_counter_names[k],
			       bench_counter(&bench, p, k));
		printf("}");
	}
	printf("]}\n");
}

/* Whether the build has what the plan needs. */
static bool is_built(void)
{
	uint32_t shape = bench_read(&bench, RF_SHAPE);
	uint32_t types = bench_read(&bench, RF_TYPES);

	return (!plan.mirror || (shape & RF_SHAPE_MIRROR_MASK)) &&
	       (!plan.directed || (shape & RF_SHAPE_DIRECTED_MASK)) &&
	       (plan.set.types & ~types) == 0 && (types >> plan.type & 1u);
}

int main(int argc, char **argv)
{
	const struct rf_engine_ops *ops;
	struct rf_engine_cfg cfg;
	unsigned int lanes = 1;
	uint64_t mac;
	uint32_t error;

	if (argc != 4 || traffic_load(&plan, argv[2]) != 0)
		return 2;
	for (unsigned int r = 0; r < plan.ranks; r++)
		if (plan.rank[r].place.lane >= lanes)
			lanes = plan.rank[r].place.lane + 1u;
	bench_shape(&cfg, plan.ports, lanes, 512);
	ops = engine_named(argv[1], &cfg);
	if (!ops || !bench_open(&bench, ops, &cfg))
		return 1;
	if (strncmp(argv[1], "model", 5) == 0)
		rf_model_set_mutant(bench.e, engine_mutant(argv[1]));
	mac = plan.mirror ? plan.box_mac : MAC;
	bench_write(&bench, RF_MAC_HI, (uint32_t)(mac >> 32));
	bench_write(&bench, RF_MAC_LO, (uint32_t)mac);
	if (!is_built()) {
		fprintf(stderr, "play: this build lacks what the plan needs\n");
		return 77;
	}
	if (!start_group(lanes) || !play(argv[2], strtoull(argv[3], NULL, 0)) ||
	    !write_out(argv[2])) {
		fprintf(stderr, "play: failed\n");
		return 1;
	}
	error = bench_read(&bench, RF_GROUP_BASE + RF_GROUP_ERROR);
	if (error)
		fprintf(stderr, "play: the group has error %08" PRIx32 " at index %" PRIu32 "\n",
			error, bench_read(&bench, RF_GROUP_BASE + RF_GROUP_ERROR_INDEX));
	print_counters();
	bench_close(&bench);
	directed_free(&plan);
	return 0;
}
