/*
 * What a call costs that needs no network: on a communicator of one rank.
 *
 *	api_cost blocking|request N		makes N all-reduces of four elements
 *
 * tests/unit/api_cost.sh counts the instructions of two run lengths; their difference is that of
 * the calls.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ringfold/ringfold.h"

int main(int argc, char **argv)
{
	bool request = argc > 1 && strcmp(argv[1], "request") == 0;
	unsigned long n = argc > 2 ? strtoul(argv[2], NULL, 0) : 1000;
	struct rf_comm_config config = RF_COMM_CONFIG_INIT;
	struct rf_context *ctx = NULL;
	struct rf_comm *comm = NULL;
	float a[4] = {1, 2, 3, 4}, b[4] = {0};
	struct rf_request *r;
	int ret = rf_context_create(NULL, &ctx);

	config.ranks = 1;
	if (!ret)
		ret = rf_comm_create(ctx, &config, &comm);
	for (unsigned long k = 0; k < n && !ret; k++) {
		if (!request) {
			ret = rf_allreduce(comm, a, b, 4, RF_FP32, RF_SUM);
			continue;
		}
		ret = rf_iallreduce(comm, a, b, 4, RF_FP32, RF_SUM, &r);
		if (!ret)
			ret = rf_test(r);
	}
	if (ret)
		fprintf(stderr, "%s\n", rf_last_error_text(ctx));
	rf_comm_destroy(comm);
	rf_context_destroy(ctx);
	return ret || memcmp(a, b, sizeof(a)) != 0;
}
