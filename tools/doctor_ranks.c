/* ringfold doctor: all ranks of a job join and sum, through the public interface. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/config/settings.h"
#include "tools/doctor.h"
#include "proto/rf_bytes.h"
#include "ringfold/ringfold.h"

#define ELEMENTS 65536u

static const char *remedy(int status)
{
	switch (status) {
	case RF_ERR_STEERING:
	case RF_ERR_TIMEOUT:
	case RF_ERR_TRANSPORT:
	case RF_ERR_BOX_SILENT:
		return "run ringfold doctor on every host: one of them reports the cause";
	case RF_ERR_RANK_TAKEN:
		return "give each process a rank of its own (RF_RANK), and give jobs that run at "
		       "the "
		       "same time numbers of their own (RF_JOB)";
	case RF_ERR_BOX_REFUSED:
		return "docs/control-protocol.md lists the reasons";
	default:
		return "start all ranks with the same settings";
	}
}

static bool failed(struct doctor *d, struct rf_context *ctx, int status)
{
	return doctor_say(d, "ranks", DOCTOR_FAILED, remedy(status), "%s: %.280s",
			  rf_strerror(status), rf_last_error_text(ctx));
}

/* Whole numbers whose sum over all ranks is known. */
static int add_up(struct rf_comm *comm, unsigned int rank, unsigned int ranks, size_t *wrong)
{
	uint8_t *send = malloc(4 * ELEMENTS);
	uint8_t *recv = malloc(4 * ELEMENTS);
	int ret = RF_ERR_NO_MEMORY;

	*wrong = 0;
	if (!send || !recv)
		goto out;
	for (uint32_t i = 0; i < ELEMENTS; i++)
		rf_put_le32(send + 4 * i, i * (rank + 1));
	ret = rf_allreduce(comm, send, recv, ELEMENTS, RF_INT32, RF_SUM);
	for (uint32_t i = 0; i < ELEMENTS && !ret; i++)
		*wrong += rf_get_le32(recv + 4 * i) != i * (ranks * (ranks + 1) / 2);
out:
	free(send);
	free(recv);
	return ret;
}

static bool with_comm(struct doctor *d, struct rf_context *ctx, struct rf_comm *comm)
{
	unsigned int ranks = rf_comm_ranks(comm);
	unsigned int rank = rf_comm_rank(comm);
	struct rf_order order = RF_ORDER_INIT;
	size_t wrong = 0;
	bool good;
	int ret;

	rf_comm_order(comm, &order);
	ret = add_up(comm, rank, ranks, &wrong);
	if (ret)
		good = failed(d, ctx, ret);
	else if (wrong)
		good = doctor_say(d, "ranks", DOCTOR_FAILED,
				  "keep a capture of this run (RF_PCAP) and report it",
				  "%zu of %u sums are wrong", wrong, ELEMENTS);
	else
		good = doctor_say(
			d, "ranks", DOCTOR_OK, NULL,
			"rank %u of %u at port %u, lane %u; %u sums over all ranks are correct",
			rank, ranks, order.place[rank].port, order.place[rank].lane, ELEMENTS);
	return good;
}

bool doctor_ranks(struct doctor *d)
{
	struct rf_context_config config = RF_CONTEXT_CONFIG_INIT;
	struct rf_comm_config job = RF_COMM_CONFIG_INIT;
	struct rf_context *ctx = NULL;
	struct rf_comm *comm;
	char ip[16];
	bool good;
	int ret;

	if (!d->ranks)
		return doctor_say(d, "ranks", DOCTOR_SKIPPED, NULL,
				  "the other hosts: run it with --ranks on all of them at the same "
				  "time, with "
				  "RF_RANK, RF_SIZE and RF_ROOT or under a launcher");
	config.device = d->device;
	config.dpdk_args = d->dpdk_args;
	config.ip = rf_ip_text(d->link.ip, ip);
	config.mtu = d->mtu;
	config.gateway = d->gateway_text;
	job.box_ip = d->box_text;
	job.key = d->key_text;
	if (*d->job_text)
		job.job = d->link.job;
	ret = rf_context_create(&config, &ctx);
	if (ret)
		return failed(d, NULL, ret);
	ret = rf_comm_create(ctx, &job, &comm);
	if (ret) {
		good = failed(d, ctx, ret);
	} else {
		good = with_comm(d, ctx, comm);
		rf_comm_destroy(comm);
	}
	rf_context_destroy(ctx);
	return good;
}
