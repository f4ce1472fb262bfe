/*
 * A library in the place of libringfold.so.1 whose calls complete at once: what a program that uses
 * a seam of MPI costs with it, is the seam's. An all-reduce returns its own operands.
 */
#include <stdlib.h>
#include <string.h>

#include "ringfold/ringfold.h"

static char object; /* what every handle points to */

int rf_context_create(const struct rf_context_config *config, struct rf_context **ctx)
{
	(void)config;
	*ctx = (struct rf_context *)&object;
	return RF_OK;
}

int rf_context_destroy(struct rf_context *ctx)
{
	(void)ctx;
	return RF_OK;
}

/* The processes meet as they do with the library: both gathers take place. */
int rf_comm_create(struct rf_context *ctx, const struct rf_comm_config *config,
		   struct rf_comm **comm)
{
	char own = 0, *all = calloc(config->ranks, 1);

	(void)ctx;
	for (int k = 0; k < 2 && all && config->allgather; k++)
		config->allgather(config->allgather_arg, &own, all, 1);
	free(all);
	*comm = (struct rf_comm *)&object;
	return RF_OK;
}

int rf_comm_destroy(struct rf_comm *comm)
{
	(void)comm;
	return RF_OK;
}

int rf_comm_order(const struct rf_comm *comm, struct rf_order *order)
{
	(void)comm;
	(void)order;
	return RF_OK;
}

const char *rf_last_error_text(struct rf_context *ctx)
{
	(void)ctx;
	return "";
}

const char *rf_strerror(int status)
{
	(void)status;
	return "";
}

int rf_iallreduce(struct rf_comm *comm, const void *send, void *recv, size_t count,
		  enum rf_type type, enum rf_op op, struct rf_request **request)
{
	(void)comm;
	(void)type;
	(void)op;
	memmove(recv, send, count * 4);
	*request = (struct rf_request *)&object;
	return RF_OK;
}

int rf_test(struct rf_request *request)
{
	(void)request;
	return RF_OK;
}

int rf_wait_any(struct rf_request **requests, unsigned int n, unsigned int timeout_ms,
		unsigned int *index)
{
	(void)requests;
	(void)n;
	(void)timeout_ms;
	*index = 0;
	return RF_OK;
}
