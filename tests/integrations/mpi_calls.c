/*
 * A program of MPI alone: every collective with types, operations, roots, in place and not, types
 * with gaps, sub-communicators, many requests, messages that must move meanwhile, errors. The same
 * source is built for each MPI and knows nothing of ringfold. Results are compared element by
 * element with what the operands say.
 *
 *   mpi_calls [--flip]     a wrong expectation, which must be noticed
 *   mpi_calls --lose       calls until there is an error
 *   mpi_calls --die        the same, and the last rank dies
 */
#include <mpi.h>

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COUNT 700
#define MOST 16

static int rank, ranks, flip, checks;

#define CHECK(condition, ...)                                                                      \
	do {                                                                                       \
		checks++;                                                                          \
		if (!(condition)) {                                                                \
			printf("rank %d: line %d: %s: ", rank, __LINE__, #condition);              \
			printf(__VA_ARGS__);                                                       \
			printf("\n");                                                              \
			fflush(stdout);                                                            \
			sleep(1); /* mpirun loses what it has not read when the job is aborted */  \
			MPI_Abort(MPI_COMM_WORLD, 3);                                              \
		}                                                                                  \
	} while (0)

/* The operand of a rank: small enough for every type and sum. */
static int operand(int r, int k)
{
	return (k * 5 + r * 3) % 11;
}

/* What the operation makes of the operands of n ranks. */
static long want(MPI_Op op, int n, int k)
{
	long w = operand(0, k);

	for (int r = 1; r < n; r++) {
		long x = operand(r, k);

		if (op == MPI_SUM)
			w += x;
		else if (op == MPI_MIN)
			w = x < w ? x : w;
		else if (op == MPI_MAX)
			w = x > w ? x : w;
		else if (op == MPI_BAND)
			w &= x;
		else if (op == MPI_BOR)
			w |= x;
		else if (op == MPI_BXOR)
			w ^= x;
		else
			w *= x;
	}
	return w + flip;
}

static void put(void *at, MPI_Datatype type, int size, int k, int value)
{
	if (type == MPI_FLOAT)
		((float *)at)[k] = (float)value;
	else if (type == MPI_DOUBLE)
		((double *)at)[k] = value;
	else if (size == 1)
		((int8_t *)at)[k] = (int8_t)value;
	else if (size == 2)
		((int16_t *)at)[k] = (int16_t)value;
	else if (size == 4)
		((int32_t *)at)[k] = value;
	else
		((int64_t *)at)[k] = value;
}

static long get(const void *at, MPI_Datatype type, int size, int k)
{
	if (type == MPI_FLOAT)
		return (long)((const float *)at)[k];
	if (type == MPI_DOUBLE)
		return (long)((const double *)at)[k];
	if (size == 1)
		return ((const int8_t *)at)[k];
	if (size == 2)
		return ((const int16_t *)at)[k];
	if (size == 4)
		return ((const int32_t *)at)[k];
	return ((const int64_t *)at)[k];
}

/* ---- reductions: all types and operations ---- */

static void reductions(MPI_Comm comm, int me, int n)
{
	const MPI_Datatype types[] = {MPI_FLOAT,         MPI_DOUBLE,   MPI_INT,      MPI_UNSIGNED,
				      MPI_LONG,          MPI_INT8_T,   MPI_UINT8_T,  MPI_INT32_T,
				      MPI_UINT32_T,      MPI_INT64_T,  MPI_UINT64_T, MPI_SHORT,
				      MPI_UNSIGNED_LONG, MPI_LONG_LONG};
	const MPI_Op ops[] = {MPI_SUM, MPI_MIN, MPI_MAX, MPI_BAND, MPI_BOR, MPI_BXOR, MPI_PROD};

	for (size_t t = 0; t < sizeof(types) / sizeof(types[0]); t++) {
		for (size_t o = 0; o < sizeof(ops) / sizeof(ops[0]); o++) {
			char send[8 * COUNT + 8], recv[8 * COUNT + 8];
			int size;

			if (o >= 3 && o < 6 && (types[t] == MPI_FLOAT || types[t] == MPI_DOUBLE))
				continue;
			if (ops[o] == MPI_PROD && n > 2)
				continue; /* too large for bytes */
			MPI_Type_size(types[t], &size);
			for (int k = 0; k < COUNT; k++)
				put(send, types[t], size, k, operand(me, k));
			MPI_Allreduce(send, recv, COUNT, types[t], ops[o], comm);
			for (int k = 0; k < COUNT; k++)
				CHECK(get(recv, types[t], size, k) == want(ops[o], n, k),
				      "allreduce, type %zu, op %zu, element %d: %ld, not %ld", t, o,
				      k, get(recv, types[t], size, k), want(ops[o], n, k));
			MPI_Allreduce(MPI_IN_PLACE, send, COUNT, types[t], ops[o], comm);
			CHECK(!memcmp(send, recv, (size_t)(COUNT * size)), "in place, type %zu", t);
		}
	}
}

static void reduce_forms(MPI_Comm comm, int me, int n)
{
	int counts[MOST], send[MOST * 40], recv[MOST * 40], place = 0, total = 0;
	MPI_Request request;

	for (int root = 0; root < n; root++) {
		for (int k = 0; k < 40; k++)
			send[k] = operand(me, k);
		memset(recv, 0xff, sizeof(recv));
		MPI_Reduce(send, recv, 40, MPI_INT, MPI_SUM, root, comm);
		for (int k = 0; k < 40; k++)
			CHECK(recv[k] == (me == root ? want(MPI_SUM, n, k) : -1), "reduce");
		MPI_Reduce(me == root ? MPI_IN_PLACE : send, me == root ? send : NULL, 40, MPI_INT,
			   MPI_MAX, root, comm);
		MPI_Ireduce(me == root ? MPI_IN_PLACE : send, me == root ? send : NULL, 40, MPI_INT,
			    MPI_MAX, root, comm, &request);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		for (int k = 0; k < 40 && me == root; k++)
			CHECK(send[k] == want(MPI_MAX, n, k), "reduce in place, element %d: %d", k,
			      send[k]);
	}
	for (int r = 0; r < n; r++) {
		counts[r] = 3 + 2 * r;
		place += r < me ? counts[r] : 0;
		total += counts[r];
	}
	for (int form = 0; form < 4; form++) {
		for (int k = 0; k < total; k++)
			send[k] = operand(me, k);
		memset(recv, 0xff, sizeof(recv));
		if (form == 0)
			MPI_Reduce_scatter(send, recv, counts, MPI_INT, MPI_SUM, comm);
		else if (form == 1)
			MPI_Reduce_scatter(MPI_IN_PLACE, send, counts, MPI_INT, MPI_SUM, comm);
		else
			MPI_Ireduce_scatter(form == 2 ? send : MPI_IN_PLACE,
					    form == 2 ? recv : send, counts, MPI_INT, MPI_SUM, comm,
					    &request);
		if (form >= 2)
			MPI_Wait(&request, MPI_STATUS_IGNORE);
		for (int k = 0; k < counts[me]; k++)
			CHECK((form & 1 ? send : recv)[k] == want(MPI_SUM, n, place + k),
			      "reduce_scatter %d", form);
	}
	for (int form = 0; form < 3; form++) {
		for (int k = 0; k < 20 * n; k++)
			send[k] = operand(me, k);
		if (form == 0)
			MPI_Reduce_scatter_block(send, recv, 20, MPI_INT, MPI_MIN, comm);
		else if (form == 1)
			MPI_Reduce_scatter_block(MPI_IN_PLACE, send, 20, MPI_INT, MPI_MIN, comm);
		else
			MPI_Ireduce_scatter_block(send, recv, 20, MPI_INT, MPI_MIN, comm, &request);
		if (form == 2)
			MPI_Wait(&request, MPI_STATUS_IGNORE);
		for (int k = 0; k < 20; k++)
			CHECK((form == 1 ? send : recv)[k] == want(MPI_MIN, n, 20 * me + k),
			      "reduce_scatter_block %d", form);
	}
}

/* ---- calls that move data; `gaps` is a type with gaps, of two integers ---- */

static void gathers(MPI_Comm comm, int me, int n, MPI_Datatype gaps)
{
	int send[12], recv[MOST * 12], counts[MOST], displs[MOST], at = 0;
	MPI_Request request;

	for (int form = 0; form < 4; form++) {
		memset(recv, 0xff, sizeof(recv));
		for (int k = 0; k < 4; k++)
			send[k] = 100 * me + k;
		memcpy(recv + 4 * me, send, 16);
		if (form == 0)
			MPI_Allgather(send, 4, MPI_INT, recv, 4, MPI_INT, comm);
		else if (form == 1)
			MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, recv, 4, MPI_INT, comm);
		else
			MPI_Iallgather(form == 2 ? send : MPI_IN_PLACE, form == 2 ? 4 : 0, MPI_INT,
				       recv, 4, MPI_INT, comm, &request);
		if (form >= 2)
			MPI_Wait(&request, MPI_STATUS_IGNORE);
		for (int k = 0; k < 4 * n; k++)
			CHECK(recv[k] == 100 * (k / 4) + k % 4 + flip, "allgather %d", form);
	}
	/* one rank sends a vector with gaps, the others the same integers without */
	for (int form = 0; form < 2; form++) {
		memset(recv, 0xff, sizeof(recv));
		for (int k = 0; k < 3; k++)
			send[k] = me ? 100 * me + k : 100 * me + k / 2;
		if (form == 0)
			MPI_Allgather(send, me ? 2 : 1, me ? MPI_INT : gaps, recv, 1, gaps, comm);
		else
			MPI_Iallgather(send, me ? 2 : 1, me ? MPI_INT : gaps, recv, 1, gaps, comm,
				       &request);
		if (form == 1)
			MPI_Wait(&request, MPI_STATUS_IGNORE);
		for (int r = 0; r < n; r++)
			CHECK(recv[3 * r] == 100 * r && recv[3 * r + 1] == -1 &&
				      recv[3 * r + 2] == 100 * r + 1,
			      "allgather with gaps: %d %d %d", recv[3 * r], recv[3 * r + 1],
			      recv[3 * r + 2]);
	}
	for (int r = 0; r < n; r++) {
		counts[r] = r + 1;
		displs[r] = at;
		at += r + 2; /* a hole after each block */
	}
	for (int form = 0; form < 2; form++) {
		memset(recv, 0xff, sizeof(recv));
		for (int k = 0; k <= me && k < 12; k++)
			send[k] = 10 * me + k;
		if (form == 0)
			MPI_Allgatherv(send, me + 1, MPI_INT, recv, counts, displs, MPI_INT, comm);
		else
			MPI_Iallgatherv(send, me + 1, MPI_INT, recv, counts, displs, MPI_INT, comm,
					&request);
		if (form == 1)
			MPI_Wait(&request, MPI_STATUS_IGNORE);
		for (int r = 0; r < n; r++) {
			for (int k = 0; k <= r; k++)
				CHECK(recv[displs[r] + k] == 10 * r + k, "allgatherv");
			CHECK(recv[displs[r] + r + 1] == -1, "allgatherv: a hole is written");
		}
	}
}

static void roots(MPI_Comm comm, int me, int n, MPI_Datatype gaps)
{
	int one[12], all[MOST * 12];
	MPI_Request request;

	for (int root = 0; root < n; root++) {
		for (int form = 0; form < 3; form++) {
			memset(one, 0xff, sizeof(one));
			if (me == root)
				one[0] = 5, one[1] = 6, one[2] = 7;
			if (form == 0)
				MPI_Bcast(one, 3, MPI_INT, root, comm);
			else if (form == 1)
				MPI_Ibcast(one, 3, MPI_INT, root, comm, &request);
			else /* the root has no gaps, the others have */
				MPI_Bcast(one, me == root ? 2 : 1, me == root ? MPI_INT : gaps,
					  root, comm);
			if (form == 1)
				MPI_Wait(&request, MPI_STATUS_IGNORE);
			if (form == 2 && me != root)
				CHECK(one[0] == 5 && one[1] == -1 && one[2] == 6, "bcast, gaps");
			else
				CHECK(one[0] == 5 && one[1] == 6 && one[2] == 7, "bcast");
		}
		for (int form = 0; form < 3; form++) {
			memset(all, 0xff, sizeof(all));
			one[0] = all[2 * me] = me;
			one[1] = all[2 * me + 1] = me * me;
			if (form == 0)
				MPI_Gather(one, 2, MPI_INT, all, 2, MPI_INT, root, comm);
			else if (form == 1)
				MPI_Gather(me == root ? MPI_IN_PLACE : one, 2, MPI_INT, all, 2,
					   MPI_INT, root, comm);
			else
				MPI_Igather(one, 2, MPI_INT, all, 2, MPI_INT, root, comm, &request);
			if (form == 2)
				MPI_Wait(&request, MPI_STATUS_IGNORE);
			for (int r = 0; r < n && me == root; r++)
				CHECK(all[2 * r] == r && all[2 * r + 1] == r * r, "gather %d",
				      form);
		}
		for (int form = 0; form < 4; form++) {
			memset(one, 0xff, sizeof(one));
			for (int k = 0; k < 3 * n; k++)
				all[k] = 7 * k;
			if (form == 0)
				MPI_Scatter(all, 3, MPI_INT, one, 3, MPI_INT, root, comm);
			else if (form == 1)
				MPI_Scatter(all, 3, MPI_INT, me == root ? MPI_IN_PLACE : one, 3,
					    MPI_INT, root, comm);
			else if (form == 2)
				MPI_Iscatter(all, 3, MPI_INT, one, 3, MPI_INT, root, comm,
					     &request);
			else
				MPI_Scatter(all, 1, gaps, one, 2, MPI_INT, root, comm);
			if (form == 2)
				MPI_Wait(&request, MPI_STATUS_IGNORE);
			if (form == 3)
				CHECK(one[0] == 21 * me && one[1] == 21 * me + 14, "scatter, gaps");
			else if (form != 1 || me != root)
				CHECK(one[0] == 21 * me && one[2] == 21 * me + 14, "scatter");
		}
	}
}

/* ---- requests, order, progress ---- */

static void many(MPI_Comm comm, int me, int n)
{
	static int send[100], recv[100];
	MPI_Request requests[100];
	MPI_Status statuses[100];
	int flag = 0;

	for (int k = 0; k < 100; k++) {
		send[k] = me + k;
		MPI_Iallreduce(send + k, recv + k, 1, MPI_INT, MPI_SUM, comm, requests + k);
	}
	while (!flag)
		MPI_Test(requests + 7, &flag, MPI_STATUS_IGNORE);
	MPI_Waitall(100, requests, statuses);
	for (int k = 0; k < 100; k++)
		CHECK(recv[k] == n * k + n * (n - 1) / 2, "iallreduce %d: %d", k, recv[k]);
	MPI_Ibarrier(comm, requests);
	MPI_Barrier(comm);
	MPI_Wait(requests, MPI_STATUS_IGNORE);
}

/* The receiver comes to the all-reduce when it has a message that the sender has to send there. */
static void meanwhile(MPI_Comm comm, int me, int n)
{
	int bytes = 4 << 20, x = 1, y = 0;
	char *buffer = calloc(1, (size_t)bytes);
	MPI_Request request;

	if (me == 0)
		MPI_Isend(buffer, bytes, MPI_BYTE, 1, 9, comm, &request);
	if (me == 1)
		MPI_Recv(buffer, bytes, MPI_BYTE, 0, 9, comm, MPI_STATUS_IGNORE);
	MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_SUM, comm);
	CHECK(y == n, "a message moves meanwhile");
	if (me == 0)
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	free(buffer);
}

/* A user's operation, a type of pairs, an address that is not aligned. */
static void multiply(void *in, void *inout, int *length, MPI_Datatype *type)
{
	(void)type;
	for (int k = 0; k < *length; k++)
		((int *)inout)[k] = ((int *)inout)[k] * ((int *)in)[k] % 1000;
}

static void others(MPI_Comm comm, int me, int n)
{
	struct {
		double value;
		int at;
	} mine = {me == n - 1 ? -1.0 : me, me}, least;
	int x = me + 2, y = 0, w = 1;
	char bytes[2 * 8 + 1];
	double d = me;
	MPI_Op op;

	MPI_Op_create(multiply, 1, &op);
	MPI_Allreduce(&x, &y, 1, MPI_INT, op, comm);
	for (int r = 0; r < n; r++)
		w = w * (r + 2) % 1000;
	CHECK(y == w, "a user's operation");
	MPI_Op_free(&op);
	MPI_Allreduce(&mine, &least, 1, MPI_DOUBLE_INT, MPI_MINLOC, comm);
	CHECK(least.at == n - 1, "minloc");
	memcpy(bytes + 1, &d, 8);
	MPI_Allreduce(MPI_IN_PLACE, bytes + 1, 1, MPI_DOUBLE, MPI_SUM, comm);
	memcpy(&d, bytes + 1, 8);
	CHECK(d == n * (n - 1) / 2, "an address that is not aligned");
	MPI_Allreduce(&x, &y, 0, MPI_INT, MPI_SUM, comm);
	MPI_Scan(&x, &y, 1, MPI_INT, MPI_SUM, comm);
	CHECK(y == (me + 1) * (me + 4) / 2, "scan is passed on");
}

static void calls(MPI_Comm comm)
{
	int me, n;
	MPI_Datatype gaps;

	MPI_Comm_rank(comm, &me);
	MPI_Comm_size(comm, &n);
	MPI_Type_vector(2, 1, 2, MPI_INT, &gaps);
	MPI_Type_commit(&gaps);
	reductions(comm, me, n);
	reduce_forms(comm, me, n);
	gathers(comm, me, n, gaps);
	roots(comm, me, n, gaps);
	if (n > 1) {
		many(comm, me, n);
		meanwhile(comm, me, n);
	}
	others(comm, me, n);
	MPI_Type_free(&gaps);
}

static void communicators(void)
{
	MPI_Comm dup, half, back;
	int x = 1, y = 0;

	for (int k = 0; k < 5; k++) {
		MPI_Comm_dup(MPI_COMM_WORLD, &dup);
		MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_SUM, dup);
		CHECK(y == ranks, "dup");
		MPI_Comm_free(&dup);
	}
	MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &back);
	calls(back);
	MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
	MPI_Allreduce(&rank, &y, 1, MPI_INT, MPI_MAX, half);
	CHECK(y % 2 == rank % 2, "split");
	MPI_Comm_free(&half);
	MPI_Comm_free(&back);
	MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
	CHECK(y == 1, "self");
}

/* Wrong arguments are MPI's errors. */
static void errors(void)
{
	char version[MPI_MAX_LIBRARY_VERSION_STRING];
	int x = 1, y = 0, class, ret, length;

	MPI_Get_library_version(version, &length);
	if (!strncmp(version, "MPICH", 5))
		return; /* Debian's does not look at arguments, and crashes */
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	ret = MPI_Allreduce(&x, &y, -1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	MPI_Error_class(ret, &class);
	CHECK(class == MPI_ERR_COUNT, "a negative count: class %d", class);
	ret = MPI_Bcast(&x, 1, MPI_INT, ranks, MPI_COMM_WORLD);
	MPI_Error_class(ret, &class);
	CHECK(class == MPI_ERR_ROOT, "a root that is none: class %d", class);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

/* Returns when all ranks have come here, by messages alone. */
static void meet(void)
{
	int token = 0, next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;

	for (int round = 0; round < 2; round++) {
		if (rank)
			MPI_Recv(&token, 1, MPI_INT, before, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Send(&token, 1, MPI_INT, next, 8, MPI_COMM_WORLD);
		if (!rank)
			MPI_Recv(&token, 1, MPI_INT, before, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
}

/* Goes on until there is an error: the box goes, or a rank dies. */
static int lose(int dies)
{
	int x = 1, y = 0, ret = 0, class;

	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	printf("rank %d: ready\n", rank);
	fflush(stdout);
	if (dies && rank == ranks - 1)
		raise(SIGKILL);
	while (!ret)
		ret = MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	MPI_Error_class(ret, &class);
	/* nothing is done again by other means: it stays an error */
	ret = MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	printf("rank %d: error %s\n", rank, class == MPI_ERR_OTHER && ret ? "of MPI" : "lost");
	fflush(stdout);
	if (!dies)
		meet(); /* mpirun ends all ranks when the first one has ended */
	_exit(5);
}

int main(int argc, char **argv)
{
	int provided;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	flip = argc > 1 && !strcmp(argv[1], "--flip");
	if (argc > 1 && (!strcmp(argv[1], "--lose") || !strcmp(argv[1], "--die")))
		return lose(!strcmp(argv[1], "--die"));
	calls(MPI_COMM_WORLD);
	communicators();
	errors();
	printf("rank %d of %d: %d checks\n", rank, ranks, checks);
	MPI_Finalize();
	return 0;
}
