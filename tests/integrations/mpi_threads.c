/*
 * A program of MPI with MPI_THREAD_MULTIPLE: each thread has a communicator of its own, and the
 * threads of odd ranks begin in the reverse order, so that groups are made, and calls made, in
 * another order on each rank. Results are compared with what the operands say.
 *
 *	mpi_threads [--flip] [ROUNDS]
 */
#include <mpi.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define THREADS 3
#define COUNT 300

static int rank, ranks, rounds = 20, flip;
static MPI_Comm comms[THREADS];

/* Returns the number of wrong elements. */
static long round_of(MPI_Comm comm, int thread, int round)
{
	int a[COUNT], b[COUNT], root = round % ranks, all[64];
	double x = rank + thread, least = -1;
	MPI_Request request;
	long wrong = 0;

	for (int k = 0; k < COUNT; k++)
		a[k] = k * (thread + 1) + rank + round;
	if (round & 1) {
		MPI_Iallreduce(a, b, COUNT, MPI_INT, MPI_SUM, comm, &request);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	} else {
		MPI_Allreduce(a, b, COUNT, MPI_INT, MPI_SUM, comm);
	}
	for (int k = 0; k < COUNT; k++)
		wrong +=
			b[k] != ranks * (k * (thread + 1) + round) + ranks * (ranks - 1) / 2 + flip;
	MPI_Allreduce(&x, &least, 1, MPI_DOUBLE, MPI_MIN, comm);
	wrong += least != thread;
	memset(b, 0, sizeof(b));
	if (rank == root)
		memcpy(b, a, sizeof(a));
	MPI_Bcast(b, COUNT, MPI_INT, root, comm);
	for (int k = 0; k < COUNT; k++)
		wrong += b[k] != k * (thread + 1) + root + round;
	MPI_Allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, comm);
	for (int r = 0; r < ranks; r++)
		wrong += all[r] != r;
	MPI_Barrier(comm);
	return wrong;
}

static void *run(void *arg)
{
	int thread = (int)((MPI_Comm *)arg - comms);
	long wrong = 0;

	for (int k = 0; k < rounds; k++)
		wrong += round_of(comms[thread], thread, k);
	return (void *)wrong;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];
	long wrong = 0;
	int provided;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	if (provided != MPI_THREAD_MULTIPLE || ranks > 64)
		MPI_Abort(MPI_COMM_WORLD, 2);
	for (int k = 1; k < argc; k++) {
		if (!strcmp(argv[k], "--flip"))
			flip = 1;
		else
			rounds = atoi(argv[k]);
	}
	for (int k = 0; k < THREADS; k++)
		MPI_Comm_dup(MPI_COMM_WORLD, &comms[k]);
	for (int k = 0; k < THREADS; k++) {
		int t = rank & 1 ? THREADS - 1 - k : k;

		if (pthread_create(&threads[t], NULL, run, &comms[t]))
			MPI_Abort(MPI_COMM_WORLD, 2);
	}
	for (int k = 0; k < THREADS; k++) {
		void *result;

		pthread_join(threads[k], &result);
		wrong += (long)result;
	}
	for (int k = 0; k < THREADS; k++)
		MPI_Comm_free(&comms[k]);
	printf("rank %d of %d: %ld faults\n", rank, ranks, wrong);
	fflush(stdout);
	MPI_Finalize();
	return wrong != 0;
}
