/* The options of `ringfold sim`. */
#include <stdio.h>

#include "base/opt.h"
#include "tools/sim.h"

static const char intro[] =
	"Runs all-reduces, or other collectives, in virtual time: hosts with "
	"the real transport, "
	"links, an Ethernet switch (with the redirect rule\n"
	"unless --steering mirror), and the box, either the Verilog pipeline (compiled by "
	"Verilator) or the reference model, with its real\n"
	"firmware. Every result is compared in full, bit by bit. The same "
	"options give the same run.";

static const char examples[] =
	"  ringfold sim                                        4 ranks, 1 MiB, reference model\n"
	"  ringfold sim --engine rtl --size 16M                the Verilated box\n"
	"  ringfold sim --ranks 8 --lanes 2 --dtype bf16       8 ranks on 4 ports\n"
	"  ringfold sim --schedule ring --size 16M             no box: ring all-reduce for "
	"comparison\n"
	"  ringfold sim --loss 1% --seed 7 --pcapng /tmp/run   faults, and what every port saw\n"
	"  ringfold sim --loss 1% --size 64K --timeline t.json a loss and its repair, as a "
	"picture\n"
	"  ringfold sim --engine rtl --size 4K --wave box.fst  signals for GTKWave\n"
	"  ringfold sim --steering mirror --collective broadcast --slow 4 --mark 100K\n"
	"                                                      a slow receiver, and a switch that "
	"marks\n"
	"  ringfold sim --tree 2x2x3 --collective all-gather   7 boxes on three levels, 12 ranks\n"
	"\n"
	"% limit in the result: the vector's bytes per second, as a share of what a link of --rate "
	"carries\n"
	"beside the headers of full packets. Through the box the limit is 100 %; around a ring of "
	"N "
	"ranks,\n"
	"which sends everything 2 (N - 1) / N times, N / (2 (N - 1)) of it.\n"
	"Ctrl-C ends the run; the result shows what was complete.\n"
	"\n"
	"exit codes: 0 good, 1 a rank failed, 2 usage, 3 wrong data, 130 Ctrl-C";

int sim_parse(struct sim_settings *s, int argc, char **argv)
{
	struct rf_fabric_cfg *c = &s->cfg;
	const struct rf_opt table[] = {
		{RF_OPT_CHOICE, "engine", 'e', &s->engine, "rtl|model|soft", "engine of the box", NULL},
		{RF_OPT_CHOICE, "firmware", 0, &s->firmware, "native|rv32",
		 "firmware: the native build, or the image for the box's processor in libunicorn",
		 NULL},
		{RF_OPT_UINT, "cpu-khz", 0, &c->cpu_khz, "KHZ", "clock of that processor", NULL},
		{RF_OPT_UINT, "ranks", 'n', &c->ranks, "N",
		 "hosts: up to 64 with the box, up to 128 without; 1: a copy, as in the library",
		 NULL},
		{RF_OPT_UINT, "ports", 0, &s->ports, "N",
		 "ports of the box, 2..8; 0: as many as ranks, at most 4", NULL},
		{RF_OPT_UINT, "lanes", 'l', &c->lanes, "N", "ranks per port; 0: as many as needed",
		 NULL},
		{RF_OPT_UINT, "width", 0, &c->width, "BITS",
		 "width of the data path: 64, 128, 256, 512", NULL},
		{RF_OPT_SIZE, "size", 's', &s->size, "BYTES", "size of the vector", NULL},
		{RF_OPT_CHOICE, "dtype", 0, &s->dtype,
		 "fp32|bf16|fp16|int32|uint32|int64|uint64|fp64|int8|uint8",
		 "data type; from uint32 on with --collective", NULL},
		{RF_OPT_CHOICE, "op", 0, &s->op, "sum|min|max|and|or|xor",
		 "operation; and, or, xor only of integers, with --collective", NULL},
		{RF_OPT_UINT, "iterations", 'i', &s->iterations, "N",
		 "number of all-reduces, one after another", NULL},
		{RF_OPT_CHOICE, "schedule", 0, &s->schedule, "box|ring|ring-through-box",
		 "who adds: the box; the hosts without a box;\nthe hosts, with their traffic "
		 "redirected through it",
		 NULL},
		{RF_OPT_FLAG, "in-place", 0, &s->in_place, NULL,
		 "use one buffer for sending and receiving; only for all-reduces", NULL},
		{RF_OPT_HEADING, NULL, 0, NULL, NULL, "collectives and mirror connections:", NULL},
		{RF_OPT_CHOICE, "collective", 0, &s->collective.name, SIM_COLLECTIVE_NAMES,
		 "one of a directed group, or with --schedule ring one among hosts; --size is that "
		 "of the vector, or of all blocks",
		 NULL},
		{RF_OPT_CHOICE, "steering", 0, &s->collective.steering, "ring|mirror",
		 "ring: by a rule in the switch; mirror: to the addresses of the box's ports",
		 NULL},
		{RF_OPT_UINT, "root", 0, &s->collective.root, "RANK",
		 "of reduce, broadcast, gather, scatter", NULL},
		{RF_OPT_FLAG, "router", 0, &s->collective.router, NULL,
		 "a router between hosts and box (mirror)", NULL},
		{RF_OPT_SIZE, "mark", 0, &s->collective.mark, "BYTES",
		 "the switch sets CE on what finds more queued; 0: never. This and the next run\n"
		 "without firmware",
		 NULL},
		{RF_OPT_UINT, "slow", 0, &s->collective.slow, "N",
		 "the last rank's links have one Nth of the rate", NULL},
		{RF_OPT_STRING, "tree", 0, &s->tree, "NxN...",
		 "a tree of boxes: the boxes below each box, level by level from the top, then "
		 "the\n"
		 "ranks of each box at the bottom. Mirror connections; faults on the links of all "
		 "boxes, too",
		 NULL},
		{RF_OPT_RATE, "processing", 0, &c->processing, "BITS/S",
		 "what each box takes in at most, all inputs together, as in a topology; 0: no "
		 "limit.\nWith the model",
		 NULL},
		{RF_OPT_HEADING, NULL, 0, NULL, NULL, "network:", NULL},
		{RF_OPT_UINT, "mtu", 'm', &c->mtu, "BYTES", "path MTU: 256, 512, 1024, 2048, 4096",
		 NULL},
		{RF_OPT_UINT, "slots", 0, &c->slots, "N",
		 "slots requested from the box; the window is half of it", NULL},
		{RF_OPT_FLAG, "selective", 0, &c->selective, NULL,
		 "as RF_SELECTIVE: only lost packets are sent again", NULL},
		{RF_OPT_FLAG, "transparent", 0, &c->transparent, NULL,
		 "the box sends no NAK and no RNR NAK", NULL},
		{RF_OPT_UINT, "straggler", 0, &c->straggler, "CODE",
		 "as RF_STRAGGLER: RNR timer code, 1 to 31, with which the box answers\nrepeats "
		 "while other ranks are late; 0: no answer",
		 NULL},
		{RF_OPT_RATE, "rate", 'r', &c->rate, "BITS/S", "rate of every link", NULL},
		{RF_OPT_TIME, "delay", 0, &c->delay_ns, "TIME", "delay of every link", NULL},
		{RF_OPT_TIME, "switch-delay", 0, &c->switch_ns, "TIME", "delay of the switch",
		 NULL},
		{RF_OPT_FLAG, "vlan", 0, &s->vlan, NULL, "frames carry a VLAN tag", NULL},
		{RF_OPT_HEADING, NULL, 0, NULL, NULL,
		 "faults, on every host's link in both directions:", NULL},
		{RF_OPT_FRACTION, "loss", 0, &s->faults.loss, "P", "frames lost", NULL},
		{RF_OPT_FRACTION, "dup", 0, &s->faults.duplicate, "P", "frames duplicated", NULL},
		{RF_OPT_FRACTION, "reorder", 0, &s->faults.reorder, "P",
		 "frames held back while others pass", NULL},
		{RF_OPT_FRACTION, "corrupt", 0, &s->faults.corrupt, "P",
		 "frames with a flipped bit and a correct FCS", NULL},
		{RF_OPT_FRACTION, "bad-fcs", 0, &s->faults.bad_fcs, "P",
		 "frames with a flipped bit and a wrong FCS", NULL},
		{RF_OPT_TIME, "jitter", 0, &s->faults.jitter_ns, "TIME",
		 "largest random delay, order kept", NULL},
		{RF_OPT_HEADING, NULL, 0, NULL, NULL, "run:", NULL},
		{RF_OPT_U64, "seed", 0, &c->seed, "N", "seed of data, faults and random numbers",
		 NULL},
		{RF_OPT_TIME, "deadline", 0, &s->deadline, "TIME",
		 "virtual time after which the run ends", NULL},
		{RF_OPT_STRING, "pcapng", 0, &s->pcapng, "DIR",
		 "write hosts.pcapng and box.pcapng to this folder; created if needed", NULL},
		{RF_OPT_STRING, "timeline", 0, &c->timeline, "FILE",
		 "write every frame and every all-reduce as a trace for ui.perfetto.dev", NULL},
		{RF_OPT_STRING, "wave", 0, &s->wave, "FILE",
		 "write a waveform (FST), --engine rtl only", NULL},
		{RF_OPT_FLAG, "no-jump", 0, &s->no_jump, NULL, "evaluate every clock cycle", NULL},
		{RF_OPT_FLAG, "flip", 0, &s->flip, NULL,
		 "flip one bit of one result: the run must detect it", NULL},
		{RF_OPT_FLAG, "counters", 0, &s->counters, NULL,
		 "print the box's non-zero counters, by port", NULL},
		{RF_OPT_FLAG, "json", 'j', &s->json, NULL, "print one JSON object on stdout", NULL},
		{RF_OPT_END, NULL, 0, NULL, NULL, NULL, NULL},
	};
	const struct rf_opt_page page = {"ringfold sim [options]", intro, examples, table};
	int n = rf_opt_parse(&page, argc, argv);

	if (n >= 0 && n < argc) {
		fprintf(stderr, "ringfold sim takes no argument \"%s\"\n", argv[n]);
		return -2;
	}
	return n;
}
