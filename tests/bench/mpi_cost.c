/*
 * Calls of MPI whose instructions tests/bench/mpi_cost.sh counts, on rank 0 of two, in measured().
 *
 *	mpi_cost bcast|reduce|allreduce|iallreduce N
 *
 * Rank 0 sends the broadcasts, and its operands of the reductions, so it waits for nobody.
 */
#include <mpi.h>

#include <stdlib.h>
#include <string.h>

int measured(const char *what, int n);

__attribute__((noinline)) int measured(const char *what, int n)
{
	float a[4] = {1, 2, 3, 4}, b[4] = {0};
	short s[4] = {0}, t[4];
	MPI_Request request;
	int ret = 0;

	for (int k = 0; k < n && !ret; k++) {
		if (what[0] == 'b') {
			ret = MPI_Bcast(a, 4, MPI_FLOAT, 0, MPI_COMM_WORLD);
		} else if (what[0] == 'r') {
			ret = MPI_Reduce(s, t, 4, MPI_SHORT, MPI_SUM, 1, MPI_COMM_WORLD);
		} else if (what[0] == 'a') {
			ret = MPI_Allreduce(a, b, 4, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
		} else {
			ret = MPI_Iallreduce(a, b, 4, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD, &request);
			if (!ret)
				ret = MPI_Wait(&request, MPI_STATUS_IGNORE);
		}
	}
	return ret;
}

int main(int argc, char **argv)
{
	int n = argc > 2 ? atoi(argv[2]) : 1000, ret;

	MPI_Init(&argc, &argv);
	/* the first calls look up functions */
	ret = measured(argc > 1 ? argv[1] : "bcast", 100);
	ret = ret ? ret : measured(argc > 1 ? argv[1] : "bcast", n);
	MPI_Finalize();
	return ret;
}
