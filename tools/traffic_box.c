/* Compares the counters of the box with a plan. */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "tools/traffic.h"

/*
 * Counters that do not count drops, or that count the control packets of a tool, which are repeated
 * until answered.
 */
static const char *const free_counters[] = {"rx_frames", "punted", "punt_full", "tx_frames",
					    "tx_inject"};

static bool is_free(const struct traffic_plan *plan, const char *counter)
{
	/* A switch without the rule floods the announcements of a port to the others. */
	if (plan->mirror && strcmp(counter, "own_source") == 0)
		return true;
	for (size_t i = 0; i < sizeof(free_counters) / sizeof(free_counters[0]); i++) {
		if (strcmp(counter, free_counters[i]) == 0)
			return true;
	}
	return false;
}

/* Expected value of a counter, summed over all ports. */
static uint64_t wanted(const struct traffic_plan *plan, const char *counter, unsigned int ports)
{
	uint64_t value = 0;

	if (strcmp(counter, "accepted") == 0 || strcmp(counter, "tx_first") == 0)
		value = plan->ranks * traffic_packets(plan);
	else if (strcmp(counter, "foreign") == 0 || strcmp(counter, "tx_foreign") == 0)
		value = plan->foreign;
	else if (strcmp(counter, "arp_other") == 0)
		value = plan->ranks * ports; /* every rank sends one gratuitous ARP */
	for (int k = 0; k < TRAFFIC_FAULTS; k++) {
		enum traffic_fault kind = (enum traffic_fault)k;

		if (strcmp(counter, traffic_fault_counter(plan, kind)) == 0)
			value += plan->fault[k] * (traffic_fault_floods(plan, kind) ? ports : 1);
	}
	return value;
}

static uint64_t sum_of(const json_t *box, const char *counter)
{
	uint64_t sum = 0;

	for (size_t p = 0; p < json_array_size(box); p++)
		sum += (uint64_t)json_integer_value(
			json_object_get(json_array_get(box, p), counter));
	return sum;
}

/* The usual cause of missing packets, which no counter names. */
static void explain(const json_t *box)
{
	uint64_t early = sum_of(box, "no_room");

	if (early > 0)
		fprintf(stderr,
			"ringfold check: %" PRIu64
			" packets came when the box had no free slot, because others of their "
			"group were late: start the generators together, or give their ports the "
			"option \"paced\" (docs/traffic.md)\n",
			early);
}

static int compare(const struct traffic_plan *plan, const json_t *box, const char *path)
{
	unsigned int ports = (unsigned int)json_array_size(box);
	const char *counter;
	json_t *value;
	int differ = 0;

	json_object_foreach(json_array_get(box, 0), counter, value)
	{
		uint64_t want = wanted(plan, counter, ports);
		uint64_t sum = sum_of(box, counter);

		if (is_free(plan, counter) || sum == want)
			continue;
		fprintf(stderr,
			"ringfold check: %s: counter %s is %" PRIu64 ", must be %" PRIu64 "\n",
			path, counter, sum, want);
		differ++;
	}
	explain(box);
	return differ;
}

int traffic_check_box(const struct traffic_plan *plan, const char *path)
{
	json_error_t error;
	json_t *root = json_load_file(path, 0, &error);
	json_t *box = json_object_get(root, "box");
	int rc = -1;

	if (!root && error.line < 0) /* jansson's text already names the file */
		fprintf(stderr, "ringfold check: %s\n", error.text);
	else if (!root)
		fprintf(stderr, "ringfold check: %s:%d: %s\n", path, error.line, error.text);
	else if (!json_is_array(box) || json_array_size(box) == 0)
		fprintf(stderr, "ringfold check: %s is not the output of `ringfold box --json`\n",
			path);
	else if (compare(plan, box, path) == 0)
		rc = 0;
	json_decref(root);
	return rc;
}
