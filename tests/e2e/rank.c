/*
 * A rank for the end-to-end tests: performs one correct or faulty action and reports how it ended.
 *
 *	rank loop MS        all-reduces for MS, every result compared in full
 *	rank until FILE     all-reduces until the file exists
 *	rank count          rank 0 passes another count than the others
 *	rank type           rank 0 calls with another type
 *	rank order          rank 0 makes two calls in the opposite order
 *	rank late MS        rank 0 calls MS later than the others
 *	rank wait MS        the same; the others print the text after rf_wait() of 600 ms
 *	rank leave          rank 0 destroys its communicator during a call of the others
 *	rank abort          rank 0 aborts while the others wait
 *	rank abort1 MS      rank 1 aborts after MS; all print the time on a common clock
 *	rank bits MS [new]  fp32 all-reduces for MS, every bit compared with the order of additions:
 *	                    the one from the beginning, or the current one
 *	rank others MS      broadcasts and barriers for MS; when one has failed, an all-reduce must
 *	                    not start
 *	rank twice          several communicators one after another and two at once
 *	rank full           makes communicators until the box refuses; prints the ms of each
 *refusal; frees one and makes another rank parts          a communicator for even and one for odd
 *ranks, in reverse order; two of all, by name, in different order on each rank; reductions in turn
 *	rank two MS         all-reduces for MS, in turn in two communicators of the job
 *	rank exit           rank 0 exits without leaving
 *	rank drain          rank 0 leaves, rank 1 stops, the others call once more
 *	rank slow MS        rank 1 calls MS later than the others, four times; rank 0 asks the
 *	                    box from time to time who was last
 *
 * Exit codes: 0 good, 10 - status for an error of the library (11: RF_ERR_INVALID), 3 wrong data.
 */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "ringfold/ringfold.h"

#define COUNT 3000

static struct rf_context *ctx;
static struct rf_comm *comm;
static unsigned int rank, ranks;

static double now(void)
{
	return 1e-9 * (double)rf_now_ns();
}

static int say(int status)
{
	/* before the job has started the rank is unknown */
	if (status && comm)
		fprintf(stderr, "rank %u: ", rank);
	if (status)
		fprintf(stderr, "%d: %s: %s\n", status, rf_strerror(status),
			rf_last_error_text(ctx));
	return status;
}

static uint32_t value(unsigned int r, unsigned int k, unsigned int round)
{
	return (r + 1) * 2654435761u + k * 40503u + round;
}

/* One all-reduce of int32, compared in full. */
static int reduce(struct rf_comm *g, unsigned int count, unsigned int round)
{
	static uint32_t send[COUNT], recv[COUNT];
	unsigned int k, r;
	int ret;

	for (k = 0; k < count; k++)
		send[k] = value(rank, k, round);
	ret = say(rf_allreduce(g, send, recv, count, RF_INT32, RF_SUM));
	for (k = 0; k < count && !ret; k++) {
		uint32_t sum = 0;

		for (r = 0; r < ranks; r++)
			sum += value(r, k, round);
		if (recv[k] == sum)
			continue;
		fprintf(stderr, "rank %u: round %u element %u is wrong\n", rank, round, k);
		exit(3);
	}
	return ret;
}

/* Runs for this long, or until a file of that name exists. */
static int loop(struct rf_comm *g, double seconds, const char *file)
{
	double end = now() + seconds;
	unsigned int round = 0;
	int ret = 0;

	/*
	 * the number of rounds must be the same on all ranks: rank 0's clock decides, and the sum
	 * carries the decision
	 */
	for (;;) {
		uint32_t more = rank == 0 && (file ? access(file, F_OK) != 0 : now() < end);
		uint32_t sum = 0;

		ret = say(rf_allreduce(g, &more, &sum, 1, RF_INT32, RF_SUM));
		if (ret || !sum)
			break;
		ret = reduce(g, 1 + round * 977 % COUNT, round);
		if (ret)
			break;
		round++;
	}
	printf("%u rounds\n", round);
	return ret;
}

/* One more communicator of all ranks. name: NULL for none. */
static int make(unsigned int slots, const char *name, struct rf_comm **g)
{
	struct rf_comm_config config = RF_COMM_CONFIG_INIT;

	*g = NULL;
	config.slots = slots;
	config.name = name;
	return rf_comm_create(ctx, &config, g);
}

/* The sum of the first communicator carries rank 0's decision to go on. */
static int two(double seconds)
{
	struct rf_comm *b = NULL;
	double end = now() + seconds;
	uint32_t more, sum = 1;
	unsigned int k;
	int ret = say(make(64, NULL, &b));

	for (k = 0; !ret && sum; k++) {
		more = rank == 0 && now() < end;
		ret = say(rf_allreduce(comm, &more, &sum, 1, RF_INT32, RF_SUM));
		if (!ret)
			ret = reduce(b, COUNT, k);
	}
	rf_comm_destroy(b);
	return ret;
}

/* One more; the time that it took, in ms, is in *ms. */
static int another(struct rf_comm **g, double *ms)
{
	double begin = now();
	int ret = make(16, NULL, g);

	*ms = 1e3 * (now() - begin);
	return ret;
}

static int full(void)
{
	struct rf_comm *g[64];
	unsigned int n = 0, k;
	double ms;
	int ret;

	while (n < 64 && (ret = another(&g[n], &ms)) == 0)
		n++;
	if (n == 0 || ret != RF_ERR_BOX_REFUSED)
		return say(ret);
	printf("%u more, refused in %.0f ms: %s\n", n, ms, rf_last_error_text(ctx));
	ret = another(&g[n], &ms);
	printf("again refused in %.0f ms: %s\n", ms, rf_last_error_text(ctx));
	if (ret != RF_ERR_BOX_REFUSED)
		return -1;
	for (k = 0; k < n && k < 2; k++) {
		/* what ends frees its place at the box a little later */
		rf_comm_destroy(g[k]);
		ret = say(another(&g[k], &ms));
		if (ret)
			return ret;
		printf("made again in %.0f ms\n", ms);
		ret = reduce(g[k], COUNT, k);
	}
	while (n--)
		rf_comm_destroy(g[n]);
	return ret;
}

/* The sum over some ranks, in some communicator. */
static int weigh(struct rf_comm *g, unsigned int round, bool (*member)(unsigned int r))
{
	uint32_t a = 1u << (3 * rank), want = 0, b = 0;
	unsigned int r;
	int ret;

	a *= round;
	for (r = 0; r < ranks; r++)
		want += member(r) ? (1u << (3 * r)) * round : 0;
	ret = say(rf_allreduce(g, &a, &b, 1, RF_INT32, RF_SUM));
	if (!ret && b != want) {
		fprintf(stderr, "rank %u: round %u: %u instead of %u\n", rank, round, b, want);
		exit(3);
	}
	return ret;
}

static bool every(unsigned int r)
{
	(void)r;
	return true;
}

static bool alike(unsigned int r)
{
	return r % 2 == rank % 2;
}

/* Two communicators of all ranks, by name; the second one first on odd ranks. */
static int by_name(struct rf_comm *g[2])
{
	struct rf_creation *creation[2];
	unsigned int k;
	int ret = 0;

	for (k = 0; k < 2 && !ret; k++) {
		struct rf_comm_config config = RF_COMM_CONFIG_INIT;
		unsigned int which = k ^ (rank & 1);

		config.slots = 32;
		config.name = which ? "second" : "first";
		ret = say(rf_comm_icreate(ctx, &config, &creation[which]));
	}
	for (k = 0; k < 2 && !ret; k++)
		ret = say(rf_comm_created(creation[k], (unsigned int)-1, &g[k]));
	return ret;
}

static int parts(void)
{
	struct rf_comm *g[2] = {NULL, NULL}, *part = NULL;
	unsigned int k;
	int ret = by_name(g);

	if (!ret)
		ret = say(rf_comm_split(comm, (int)(rank % 2), -(int)rank, "part", &part));
	for (k = 1; k <= 20 && !ret; k++) {
		ret = weigh(part, k, alike);
		if (!ret)
			ret = weigh(g[0], k, every);
		if (!ret)
			ret = weigh(g[1], k + 100, every);
	}
	if (!ret)
		printf("rank %u of %u of its part\n", rf_comm_rank(part), rf_comm_ranks(part));
	rf_comm_destroy(part);
	rf_comm_destroy(g[1]);
	rf_comm_destroy(g[0]);
	return ret;
}

static int twice(void)
{
	struct rf_comm *a = NULL, *b = NULL;
	unsigned int k;
	int ret = 0;

	for (k = 0; k < 3 && !ret; k++) {
		ret = say(make(256, NULL, &a));
		if (!ret)
			ret = reduce(a, COUNT, k);
		rf_comm_destroy(a);
		a = NULL;
	}
	if (!ret)
		ret = say(make(64, NULL, &a));
	if (!ret)
		ret = say(make(64, NULL, &b));
	for (k = 0; k < 5 && !ret; k++) {
		ret = reduce(a, 1 + k * 700, k);
		if (!ret)
			ret = reduce(b, COUNT, k + 50);
	}
	rf_comm_destroy(a);
	rf_comm_destroy(b);
	return ret;
}

/* For a caller with several ranks: checks that the group works. */
static void say_ready(void)
{
	printf("ready\n");
	fflush(stdout);
}

/* Rank 0 is late; the others' rf_wait() returns before. */
static int waits(struct rf_comm *g, double seconds)
{
	static uint32_t send[COUNT], recv[COUNT];
	struct rf_request *r;
	int ret;

	say_ready();
	usleep(rank == 0 ? (unsigned int)(seconds * 1e6) : 500000);
	ret = say(rf_iallreduce(g, send, recv, COUNT, RF_INT32, RF_SUM, &r));
	if (ret)
		return ret;
	ret = say(rf_wait(r, 600));
	return ret == RF_IN_PROGRESS ? say(rf_wait(r, (unsigned int)-1)) : ret;
}

/* Rank 1 aborts; the caller compares the times at which the others are notified. */
static int aborts(struct rf_comm *g, double seconds)
{
	int ret = 0;

	say_ready();
	if (rank == 1) {
		usleep((unsigned int)(seconds * 1e6));
		printf("%.0f ms\n", now() * 1000);
		rf_comm_abort(g);
	} else {
		ret = reduce(g, COUNT, 1);
		printf("%.0f ms\n", now() * 1000);
	}
	fflush(stdout);
	return ret;
}

static float number(unsigned int r, unsigned int k, unsigned int round)
{
	return (float)(int32_t)value(r, k, round) * 1e-9f;
}

/* The last element makes all ranks continue while rank 0 wants it. */
static int bits(struct rf_comm *g, double seconds, bool newest)
{
	static float send[COUNT], recv[COUNT], want[COUNT], all[RF_RANKS_MAX][COUNT];
	const void *inputs[RF_RANKS_MAX];
	struct rf_order order = RF_ORDER_INIT;
	double end = now() + seconds;
	unsigned int k, r, round;
	int ret = rf_comm_order(g, &order);

	say_ready();
	for (round = 0; !ret; round++) {
		for (r = 0; r < ranks; r++) {
			inputs[r] = all[r];
			for (k = 0; k < COUNT; k++)
				all[r][k] = number(r, k, round);
			all[r][COUNT - 1] = 0;
		}
		memcpy(send, all[rank], sizeof(send));
		send[COUNT - 1] = rank == 0 && now() < end;
		/* alternately in place and not */
		if (round & 1)
			memcpy(recv, send, sizeof(send));
		ret = say(rf_allreduce(g, round & 1 ? recv : send, recv, COUNT, RF_FP32, RF_SUM));
		/* nothing, which the box's end must not change */
		if (!ret)
			ret = say(rf_allreduce(g, NULL, NULL, 0, RF_FP32, RF_SUM));
		if (newest)
			rf_comm_order(g, &order);
		if (!ret)
			ret = rf_order_apply(&order, RF_FP32, RF_SUM, inputs, want, COUNT);
		if (!ret && memcmp(recv, want, sizeof(want) - sizeof(want[0])) != 0) {
			fprintf(stderr, "rank %u: round %u has other bits\n", rank, round);
			exit(3);
		}
		if (recv[COUNT - 1] == 0)
			break;
	}
	printf("%u rounds\n", round);
	return ret;
}

static int ask_who(struct rf_comm *g, struct rf_stragglers *s)
{
	*s = (struct rf_stragglers){.size = sizeof(*s)};
	return say(rf_comm_stragglers(g, s));
}

/* The four long lags belong to rank 1, each in its bin; also whether it is named meanwhile. */
static int slow(struct rf_comm *g, double seconds)
{
	struct rf_request *request;
	struct rf_stragglers s;
	uint32_t in[2] = {1, 2}, out[2];
	uint64_t sum = 0;
	unsigned int k;
	int ret = 0;

	for (k = 0; k < 4 && !ret; k++) {
		if (rank == 1)
			usleep((unsigned int)(seconds * 1e6));
		ret = say(rf_iallreduce(g, in, out, 2, RF_INT32, RF_SUM, &request));
		if (rank == 0 && !ret) {
			usleep((unsigned int)(seconds * 0.9e6));
			ret = ask_who(g, &s);
			if (!ret && (s.awaited != 1 || s.awaited_ms < 100))
				fprintf(stderr, "rank 0: round %u: rank %d is awaited for %u ms\n",
					k, s.awaited, s.awaited_ms);
			else if (!ret)
				printf("rank 1 is awaited\n");
		}
		if (!ret)
			ret = say(rf_wait(request, (unsigned int)-1));
	}
	if (rank != 0 || ret)
		return ret;
	usleep(300000);
	ret = ask_who(g, &s);
	if (ret)
		return ret;
	for (k = 0; k < RF_LAG_BINS; k++)
		sum += s.bin[k];
	printf("%u ranks, %llu measurements, rank 1 was the last %u times, by %u us at most\n",
	       s.ranks, (unsigned long long)s.measurements, s.rank[1].times, s.rank[1].most_us);
	if (s.ranks != ranks || s.measurements != sum || s.rank[1].times < 4 ||
	    s.rank[1].most_us < seconds * 0.7e6 || (double)s.sum_us < 4 * seconds * 0.7e6)
		return -3;
	return 0;
}

/* Collectives that no fallback continues. Rank 0's clock decides for all. */
static int others(double seconds)
{
	double end = now() + seconds;
	uint32_t more = 1, a = 1, b;
	unsigned int round;
	int ret = 0;

	say_ready();
	for (round = 0; more && !ret; round++) {
		more = rank == 0 && now() < end;
		ret = say(rf_broadcast(comm, &more, &more, 1, RF_UINT32, 0));
		if (!ret)
			ret = say(rf_barrier(comm));
	}
	printf("%u rounds\n", round);
	if (!ret || rf_allreduce(comm, &a, &b, 1, RF_INT32, RF_SUM) == RF_ERR_GROUP_FAILED)
		return ret;
	fprintf(stderr, "rank %u: an all-reduce after that: %s\n", rank, rf_last_error_text(ctx));
	return -3;
}

/* Two calls, on rank 0 in the other order. */
static int crossed(void)
{
	uint32_t a[4] = {0}, b[4];
	int ret = 0;

	for (unsigned int k = 0; k < 2 && !ret; k++)
		if ((k == 0) == (rank == 0))
			ret = say(rf_broadcast(comm, a, b, 4, RF_UINT32, 1));
		else
			ret = say(rf_allreduce(comm, a, b, 4, RF_FP32, RF_MAX));
	return ret;
}

static int run(const char *mode, double seconds, const char *file, bool newest)
{
	struct rf_comm *g = comm;
	uint32_t a = 1, b;
	int ret;

	if (strcmp(mode, "parts") == 0)
		return parts();
	if (strcmp(mode, "full") == 0)
		return full();
	if (strcmp(mode, "twice") == 0)
		return twice();
	if (strcmp(mode, "two") == 0)
		return two(seconds);
	if (strcmp(mode, "bits") == 0)
		return bits(g, seconds, newest);
	if (strcmp(mode, "others") == 0)
		return others(seconds);
	if (strcmp(mode, "order") == 0)
		return crossed();
	ret = reduce(g, 100, 0);
	if (ret)
		;
	else if (strcmp(mode, "loop") == 0)
		ret = loop(g, seconds, NULL);
	else if (strcmp(mode, "until") == 0)
		ret = loop(g, 0, file);
	else if (strcmp(mode, "type") == 0)
		ret = say(rf_allreduce(g, &a, &b, 1, rank == 0 ? RF_FP32 : RF_INT32, RF_SUM));
	else if (strcmp(mode, "count") == 0)
		ret = reduce(g, rank == 0 ? 2000 : 100, 1);
	else if (strcmp(mode, "late") == 0) {
		if (rank == 0)
			usleep((unsigned int)(seconds * 1e6));
		ret = reduce(g, COUNT, 1);
	} else if (strcmp(mode, "wait") == 0) {
		ret = waits(g, seconds);
	} else if (strcmp(mode, "abort1") == 0) {
		ret = aborts(g, seconds);
	} else if (strcmp(mode, "slow") == 0) {
		ret = slow(g, seconds);
	} else if (strcmp(mode, "drain") == 0 && rank > 0) {
		usleep(500000);
		if (rank == 1)
			raise(SIGSTOP);
		ret = reduce(g, COUNT, 1);
	} else if (rank == 0) {
		usleep(300000);
		if (strcmp(mode, "exit") == 0)
			_exit(0);
		if (strcmp(mode, "abort") == 0)
			rf_comm_abort(g);
	} else {
		ret = reduce(g, COUNT, 1);
	}
	return ret;
}

int main(int argc, char **argv)
{
	int ret = rf_context_create(NULL, &ctx);

	if (!ret)
		ret = rf_comm_create(ctx, NULL, &comm);
	if (ret) {
		say(ret);
	} else {
		rank = rf_comm_rank(comm);
		ranks = rf_comm_ranks(comm);
		ret = run(argc > 1 ? argv[1] : "loop", argc > 2 ? atof(argv[2]) / 1000 : 1,
			  argc > 2 ? argv[2] : "", argc > 3);
	}
	rf_comm_destroy(comm);
	rf_context_destroy(ctx);
	return ret ? 10 - ret : 0;
}
