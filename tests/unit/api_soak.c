/*
 * Seeded runs of the library at a box (the model): several communicators over drawn lists of
 * processes, made in another order on each rank, with and without the box; every collective, begun
 * on all communicators in another order on each rank and awaited in every way; blocking calls by
 * two threads; lost frames; second groups for large calls; a communicator that fails beside others;
 * communicators that end and are made again. Every byte of every buffer is compared.
 *
 *	api_soak [--count N] [--jobs N] [--flip] [SEED]
 *
 * The seed determines what is done. Threads of ranks, of the library and of the box run as the
 * machine lets them. --flip: a bit of one result is flipped, which must be noticed.
 */
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/api_box.h"
#include "tests/unit/api_soak.h"

#define HANG_S 300u

/* ---- communicators ---- */

static void settings(struct rank *r, struct rf_context_config *context, struct rf_comm_config *comm)
{
	const struct plan *p = r->all->arg;

	(void)context;
	comm->slots = p->slots;
	comm->slots_large = p->slots_large;
	comm->steering = p->ring ? RF_STEERING_RING : RF_STEERING_MIRROR;
	comm->selective = p->selective ? RF_CHOICE_ON : RF_CHOICE_OFF;
}

static int start_one(struct soak *s, unsigned int c, struct rf_creation **creation)
{
	struct rf_comm_config config = RF_COMM_CONFIG_INIT;
	char name[8];

	snprintf(name, sizeof(name), "c%u", c);
	settings(s->r, NULL, &config);
	config.timeout_ms = s->r->all->timeout_ms;
	config.name = name;
	config.members = s->p->comm[c].member;
	config.n_members = s->p->comm[c].n;
	config.schedule = s->p->comm[c].schedule;
	EXPECT(s->r, rf_comm_icreate(s->r->ctx, &config, creation) == RF_OK);
	return 0;
}

/* All are started, in an order of this rank's own, before one is awaited. */
static int create(struct soak *s)
{
	struct rf_creation *creation[SOAK_COMMS] = {NULL};
	unsigned int order[SOAK_COMMS];

	s->comm[0] = s->r->comm;
	for (unsigned int c = 1; c < s->p->comms; c++) {
		unsigned int other = 1 + (unsigned int)rf_rng_below(&s->rng, c);

		order[c] = order[other];
		order[other] = c;
	}
	for (unsigned int k = 1; k < s->p->comms; k++) {
		unsigned int c = order[k];

		for (unsigned int m = 0; m < s->p->comm[c].n; m++)
			if (s->p->comm[c].member[m] == s->r->rank &&
			    start_one(s, c, &creation[c]) != 0)
				return -1;
	}
	for (unsigned int c = 1; c < s->p->comms; c++) {
		int ret = creation[c] ? rf_comm_created(creation[c], RF_WAIT_FOREVER, &s->comm[c])
				      : RF_OK;

		/* the box may be full: then the communicator is missing on all of its ranks */
		EXPECT(s->r, ret == RF_OK || (ret == RF_ERR_BOX_REFUSED && !s->comm[c]));
	}
	return 0;
}

static int orders(struct soak *s)
{
	for (unsigned int c = 0; c < s->p->comms; c++) {
		s->order[c] = (struct rf_order)RF_ORDER_INIT;
		if (s->comm[c])
			EXPECT(s->r, rf_comm_order(s->comm[c], &s->order[c]) == RF_OK);
	}
	return 0;
}

/* The last one ends, and parts of the first one take its place. */
static int replace(struct soak *s)
{
	unsigned int c = s->p->comms - 1, rank = s->r->rank;
	int ret;

	EXPECT(s->r, rf_comm_destroy(s->comm[c]) == RF_OK);
	s->comm[c] = NULL;
	ret = rf_comm_split(s->comm[0], s->p->color[rank], s->p->key[rank], "part", &s->comm[c]);
	if (ret == RF_ERR_BOX_REFUSED)
		return orders(s);
	EXPECT(s->r, ret == RF_OK && !s->comm[c] == (s->p->color[rank] < 0));
	return orders(s);
}

/* ---- a communicator fails, the others go on ---- */

static int fail(struct soak *s)
{
	struct rf_comm *comm = s->comm[s->p->fails];
	struct rank *r = s->r;
	static _Thread_local double in[64], out[64];
	struct rf_request *q;
	int ret = RF_ERR_ABORTED;

	if (!comm)
		return 0;
	if (s->p->ending == SOAK_MISMATCH && rf_comm_rank(comm) + 1 == rf_comm_ranks(comm)) {
		EXPECT(r, rf_allreduce(comm, in, out, 8, RF_FP64, RF_MAX) == RF_ERR_MISMATCH);
	} else if (s->p->ending == SOAK_MISMATCH) {
		EXPECT(r, rf_allreduce(comm, in, out, 8, RF_FP32, RF_SUM) == RF_ERR_MISMATCH);
		EXPECT(r, strstr(rf_last_error_text(r->ctx), "all-reduce of fp64, max"));
	} else if (rf_comm_rank(comm) == 0) {
		EXPECT(r, rf_iallreduce(comm, in, out, 8, RF_FP32, RF_SUM, &q) == RF_OK);
		EXPECT(r, rf_comm_abort(comm) == RF_OK);
		EXPECT(r, rf_wait(q, RF_WAIT_FOREVER) == RF_ERR_ABORTED);
	} else {
		/* right, if the other rank's packets came before its abort */
		ret = rf_allreduce(comm, in, out, 8, RF_FP32, RF_SUM);
		EXPECT(r, ret == RF_OK || ret == RF_ERR_ABORTED);
	}
	EXPECT(r, rf_barrier(comm) == (ret ? RF_ERR_GROUP_FAILED : RF_ERR_ABORTED));
	return 0;
}

/* ---- a run ---- */

static int rounds(struct soak *s)
{
	int ret = 0;

	for (unsigned int k = 0; k < s->p->rounds && !ret; k++) {
		ret = soak_fly(s, k, SOAK_COMMS);
		if (!ret)
			ret = soak_blocking(s, k);
		if (!ret && k == 0 && s->p->split)
			ret = replace(s);
	}
	if (!ret && s->p->ending != SOAK_NO_FAILURE) {
		/* an abort ends also calls that are complete on the rank that gives up */
		ret = rank_meet(s->r);
		if (!ret)
			ret = fail(s);
		if (!ret)
			ret = soak_fly(s, 20, s->p->fails);
	}
	return ret;
}

static int body(struct rank *r)
{
	struct soak s = {.r = r, .p = r->all->arg};
	int ret;

	s.rng = rf_rng_make(s.p->seed, 50 + r->rank);
	ret = create(&s);
	if (!ret)
		ret = orders(&s);
	if (!ret)
		ret = rank_meet(r);
	api_box_lose(s.p->lost);
	if (!ret)
		ret = rounds(&s);
	/* all are done before one of them leaves */
	if (!ret)
		ret = rank_meet(r);
	api_box_lose(0);
	for (unsigned int c = 1; c < s.p->comms && !ret; c++)
		ret = rf_comm_destroy(s.comm[c]);
	return ret;
}

static volatile uint64_t running;

static void hangs(int number)
{
	static const char text[] = "a run does not end: seed ";
	char digits[24];
	size_t k = sizeof(digits);

	(void)number;
	digits[--k] = '\n';
	for (uint64_t s = running; s || k + 1 == sizeof(digits); s /= 10)
		digits[--k] = (char)('0' + s % 10);
	if (write(2, text, sizeof(text) - 1) < 0 || write(2, digits + k, sizeof(digits) - k) < 0)
		_exit(3);
	_exit(2);
}

/* Never returns. After a failure nothing is given back: threads may still use it. */
static void run(uint64_t seed, bool flip)
{
	struct plan p = soak_plan(seed);
	struct ranks all;
	struct api_box *box;
	unsigned int bad = p.ranks;

	signal(SIGALRM, hangs);
	alarm(HANG_S);
	running = seed;
	p.flip = flip;
	/* many threads on few processors */
	api_box_patient();
	box = api_box_ranks(&all, p.ranks, p.ring, body);
	if (box) {
		/* the others wait in vain for the one that has found the bit */
		all.timeout_ms = flip ? 3000 : 30000;
		all.mtu = p.mtu;
		all.manual = p.manual;
		all.prepare = settings;
		all.arg = &p;
		bad = ranks_run(&all);
	}
	if (bad)
		_exit(1);
	api_box_end(&all, box);
	exit(0);
}

/* Each seed in a process of its own. True if it is good. */
static bool judge(uint64_t seed, bool flip)
{
	struct plan p = soak_plan(seed);
	pid_t child = fork();
	int status;

	if (child == 0)
		run(seed, flip);
	if (child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
	    WEXITSTATUS(status) == 0)
		return true;
	printf("seed %llu is not good: %u ranks, MTU %u, %u and %u slots, %u of 1000 frames lost, "
	       "%u communicators%s%s\n    again: build/tests/api_soak%s %llu\n",
	       (unsigned long long)seed, p.ranks, p.mtu, p.slots, p.slots_large, p.lost, p.comms,
	       p.manual ? ", progress by the callers" : "", p.ring ? ", ring connections" : "",
	       flip ? " --flip" : "", (unsigned long long)seed);
	fflush(stdout);
	return false;
}

static unsigned int run_all(uint64_t seed, uint64_t count, uint64_t step, bool flip)
{
	unsigned int bad = 0;

	for (uint64_t k = 0; k < count; k += step)
		bad += !judge(seed + k, flip);
	return bad;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {{"count", required_argument, NULL, 'c'},
						{"jobs", required_argument, NULL, 'j'},
						{"flip", no_argument, NULL, 'f'},
						{0}};
	uint64_t seed = 1, count = 1;
	unsigned int jobs = 1, bad = 0;
	bool flip = false;
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == 'c')
			count = strtoull(optarg, NULL, 0);
		else if (c == 'j')
			jobs = (unsigned int)strtoul(optarg, NULL, 0);
		else if (c == 'f')
			flip = true;
		else
			return 2;
	}
	if (optind < argc)
		seed = strtoull(argv[optind], NULL, 0);
	if (jobs < 1 || jobs > 64)
		return 2;
	for (unsigned int j = 1; j < jobs && j < count; j++) {
		pid_t child = fork();

		if (child == 0) {
			bad = run_all(seed + j, count - j, jobs, flip);
			return bad > 200 ? 200 : (int)bad;
		}
		bad += child < 0;
	}
	bad += run_all(seed, count, jobs, flip);
	for (int status; wait(&status) > 0;)
		bad += WIFEXITED(status) ? (unsigned int)WEXITSTATUS(status) : 1;
	printf("%llu runs from seed %llu (library, model): %u not good\n",
	       (unsigned long long)count, (unsigned long long)seed, bad);
	return flip ? bad != count : bad != 0;
}
