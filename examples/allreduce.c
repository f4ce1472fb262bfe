/*
 * The smallest program: every rank contributes a vector, all receive the sum.
 *
 *	cc allreduce.c $(pkg-config --cflags --libs ringfold) -o allreduce
 *	RF_RANK=0 RF_SIZE=2 RF_DEVICE=net_af_packet0,iface=eth1 ./allreduce
 *
 * Start rank 1 on another machine, with RF_ROOT set to the first machine's address on both.
 */
#include <ringfold/ringfold.h>
#include <stdio.h>

#define COUNT 1000

static float vector[COUNT];

int main(void)
{
	struct rf_context *ctx = NULL;
	struct rf_comm *comm = NULL;
	int i, ret;

	ret = rf_context_create(NULL, &ctx);
	if (!ret)
		ret = rf_comm_create(ctx, NULL, &comm);
	for (i = 0; i < COUNT && !ret; i++)
		vector[i] = (float)i + (float)rf_comm_rank(comm);
	if (!ret)
		ret = rf_allreduce(comm, vector, vector, COUNT, RF_FP32, RF_SUM);
	if (ret)
		fprintf(stderr, "%s: %s\n", rf_strerror(ret), rf_last_error_text(ctx));
	else
		printf("rank %u of %u: %g %g ... %g\n", rf_comm_rank(comm), rf_comm_ranks(comm),
		       (double)vector[0], (double)vector[1], (double)vector[COUNT - 1]);
	rf_comm_destroy(comm);
	rf_context_destroy(ctx);
	return ret ? 1 : 0;
}
