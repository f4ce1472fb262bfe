/* Shared by the files of ringfold gen. */
#ifndef RF_TOOLS_GEN_H
#define RF_TOOLS_GEN_H

#include <pcap/pcap.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "tools/traffic.h"

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

/* Writes a frame to a file, a microsecond after the one before. */
void gen_dump(struct gen *g, pcap_dumper_t *to, const uint8_t *frame, size_t len);

/* Reads the list of --faults. Returns 0, or -1 with a message on stderr. */
int gen_parse_faults(struct gen *g);

/*
 * Chance decides, by the rates of the run, which faulty frames and which RoCE frames of no group a
 * rank sends before packet `index`.
 */
void gen_disturb(struct gen *g, unsigned int rank, uint64_t index);

#endif
