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
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/api_box.h"
#include "tests/unit/api_job_calls.h"

#define COMMS 5u
#define CALLS 11u /* of a communicator in a round: all together below the limit of 64 */
#define ROUNDS 3u
#define HANG_S 300u

enum ending { NO_FAILURE, MISMATCH, ABORT, ENDINGS };

/* What all ranks know of a run. */
struct plan {
	uint64_t seed;
	bool flip;
	unsigned int ranks, mtu, slots, slots_large, lost, rounds, comms;
	bool manual, ring, selective;
	bool split; /* after the first round the last communicator is replaced */
	enum ending ending;
	unsigned int fails; /* the communicator that does */
	struct {
		unsigned int n, member[RANKS];
		enum rf_schedule schedule;
	} comm[COMMS];
	int color[RANKS], key[RANKS];
};

/* What a rank knows. */
struct soak {
	struct rank *r;
	const struct plan *p;
	struct rf_rng rng; /* of this rank alone */
	struct rf_comm *comm[COMMS];
	struct rf_order order[COMMS];
};

/* ---- the plan ---- */

static bool one_in(struct rf_rng *rng, unsigned int n)
{
	return rf_rng_below(rng, n) == 0;
}

/* A list of processes in any order; returns its length. */
static unsigned int draw_members(struct rf_rng *rng, unsigned int ranks, unsigned int *member)
{
	unsigned int n = 1 + (unsigned int)rf_rng_below(rng, ranks), all[RANKS];

	for (unsigned int k = 0; k < ranks; k++)
		all[k] = k;
	for (unsigned int k = 0; k < n; k++) {
		unsigned int other = k + (unsigned int)rf_rng_below(rng, ranks - k);

		member[k] = all[other];
		all[other] = all[k];
	}
	return n;
}

static struct plan make_plan(uint64_t seed)
{
	static const unsigned int mtus[] = {256, 1024, 4096}, slots[] = {16, 16, 64},
				  slots_large[] = {16, 64, 128}, lost[] = {0, 0, 5, 20};
	struct rf_rng rng = rf_rng_make(seed, 1);
	struct plan p = {.seed = seed};

	p.ranks = one_in(&rng, 4) ? 5 + (unsigned int)rf_rng_below(&rng, 4)
				  : 2 + (unsigned int)rf_rng_below(&rng, 3);
	p.mtu = mtus[rf_rng_below(&rng, 3)];
	p.slots = slots[rf_rng_below(&rng, 3)];
	p.slots_large = slots_large[rf_rng_below(&rng, 3)];
	p.lost = lost[rf_rng_below(&rng, 4)];
	p.rounds = 1 + (unsigned int)rf_rng_below(&rng, ROUNDS);
	p.comms = 2 + (unsigned int)rf_rng_below(&rng, COMMS - 1);
	p.manual = one_in(&rng, 4);
	p.ring = one_in(&rng, 4);
	p.selective = one_in(&rng, 4);
	p.split = one_in(&rng, 2);
	for (unsigned int c = 1; c < p.comms; c++) {
		p.comm[c].n = draw_members(&rng, p.ranks, p.comm[c].member);
		/* the rules of ring connections would lead the packets of the others to the box */
		p.comm[c].schedule =
			!p.ring && one_in(&rng, 4) ? RF_SCHEDULE_RING : RF_SCHEDULE_BOX;
	}
	for (unsigned int k = 0; k < p.ranks; k++) {
		p.color[k] = (int)rf_rng_below(&rng, 3) - 1;
		p.key[k] = (int)rf_rng_below(&rng, 5) - 2;
	}
	p.fails = 1 + (unsigned int)rf_rng_below(&rng, p.comms - 1);
	if (one_in(&rng, 2) && p.comm[p.fails].n > 1 && !(p.split && p.fails == p.comms - 1))
		p.ending = (enum ending)rf_rng_below(&rng, ENDINGS);
	return p;
}

/* The calls of a communicator, the same on its ranks: `what` tells rounds and kinds apart. */
static struct rf_rng calls_of(const struct plan *p, unsigned int c, unsigned int what)
{
	return rf_rng_make(p->seed, 100 + what * COMMS + c);
}

static struct job draw_job(struct rf_rng *rng, unsigned int ranks)
{
	struct job j = {.kind = (enum job_kind)rf_rng_below(rng, JOB_KINDS),
			.type = (enum rf_type)rf_rng_below(rng, 10),
			.root = (unsigned int)rf_rng_below(rng, ranks),
			.in_place = one_in(rng, 2),
			.key = rf_rng_next(rng)};

	do {
		j.op = job_ops[rf_rng_below(rng, JOB_OPS)];
	} while (!job_has(j.type, j.op));
	job_draw_counts(&j, ranks, rng, 400);
	/* enough for a second group */
	if (job_about[j.kind].one && one_in(rng, 8))
		j.counts[0] = 20000 + (size_t)rf_rng_below(rng, 20000);
	return j;
}

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
	struct rf_creation *creation[COMMS] = {NULL};
	unsigned int order[COMMS];

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

/* ---- calls under way ---- */

struct flight {
	struct job job;
	struct job_buffers b;
	unsigned int comm;
	struct rf_request *q;
};

static int compare(struct soak *s, struct flight *f)
{
	char text[200];
	size_t wrong;

	if (s->p->flip && s->r->rank == 0 && f->b.recv_bytes)
		f->b.recv[f->b.recv_bytes / 2] ^= 1;
	wrong = job_compare(&f->b);
	if (!wrong)
		return 0;
	job_text(&f->job, s->order[f->comm].ranks, text, sizeof(text));
	snprintf(s->r->text, sizeof(s->r->text), "communicator %u: %zu wrong bytes in %s", f->comm,
		 wrong, text);
	return -1;
}

static int begin(struct soak *s, struct flight *f, struct rf_rng *rng)
{
	struct rf_comm *comm = s->comm[f->comm];

	f->job = draw_job(rng, rf_comm_ranks(comm));
	job_prepare(&f->job, &s->order[f->comm], rf_comm_rank(comm), &f->b);
	EXPECT(s->r, job_call(comm, &f->job, f->b.send, f->b.recv, &f->q) == RF_OK);
	return 0;
}

/* Begins the calls of all communicators, in an order of this rank's own. Returns how many, or -1.
 */
static int begin_all(struct soak *s, unsigned int round, unsigned int skip, struct flight *f)
{
	struct rf_rng rng[COMMS];
	unsigned int left[COMMS] = {0}, total = 0, n = 0;

	for (unsigned int c = 0; c < s->p->comms; c++) {
		rng[c] = calls_of(s->p, c, round);
		if (s->comm[c] && c != skip)
			total += left[c] = 1 + (unsigned int)rf_rng_below(&rng[c], CALLS);
	}
	while (n < total) {
		unsigned int c = (unsigned int)rf_rng_below(&s->rng, s->p->comms);

		if (!left[c])
			continue;
		left[c]--;
		f[n].comm = c;
		if (begin(s, &f[n], &rng[c]) != 0)
			return -1;
		n++;
		if (one_in(&s->rng, 8))
			rf_progress(s->r->ctx, 0);
	}
	return (int)n;
}

/* ---- ways to wait ---- */

struct waits {
	pthread_mutex_t lock;
	unsigned int done;
	int status;
	char text[400];
};

static void completed(void *arg, int status, const char *text)
{
	struct waits *w = arg;

	pthread_mutex_lock(&w->lock);
	w->done++;
	if (status && !w->status) {
		w->status = status;
		snprintf(w->text, sizeof(w->text), "%s", text);
	}
	pthread_mutex_unlock(&w->lock);
}

static int by_callback(struct soak *s, struct flight *f, unsigned int n)
{
	struct waits w = {.lock = PTHREAD_MUTEX_INITIALIZER};
	unsigned int done = 0;

	for (unsigned int k = 0; k < n; k++)
		EXPECT(s->r, rf_on_completion(f[k].q, completed, &w) == RF_OK);
	/* every call has a limit, so each callback comes */
	while (done < n) {
		if (s->p->manual)
			rf_progress(s->r->ctx, 1000);
		else
			usleep(200);
		pthread_mutex_lock(&w.lock);
		done = w.done;
		pthread_mutex_unlock(&w.lock);
	}
	if (w.status)
		snprintf(s->r->text, sizeof(s->r->text), "callback: %d: %s", w.status, w.text);
	return w.status;
}

static int by_any(struct soak *s, struct flight *f, unsigned int n)
{
	struct rf_request *q[COMMS * CALLS];
	unsigned int index;

	for (unsigned int k = 0; k < n; k++)
		q[k] = f[k].q;
	for (unsigned int k = 0; k < n; k++) {
		EXPECT(s->r, rf_wait_any(q, n, RF_WAIT_FOREVER, &index) == RF_OK);
		EXPECT(s->r, index < n && !q[index]);
	}
	return 0;
}

static int by_all(struct soak *s, struct flight *f, unsigned int n)
{
	struct rf_request *q[COMMS * CALLS];

	for (unsigned int k = 0; k < n; k++)
		q[k] = f[k].q;
	EXPECT(s->r, rf_wait_all(q, n, RF_WAIT_FOREVER) == RF_OK);
	return 0;
}

static int one_by_one(struct soak *s, struct flight *f, unsigned int n)
{
	unsigned int from = (unsigned int)rf_rng_below(&s->rng, n);

	for (unsigned int k = 0; k < n; k++)
		EXPECT(s->r, rf_wait(f[(from + k) % n].q, RF_WAIT_FOREVER) == RF_OK);
	return 0;
}

static int by_descriptor(struct soak *s, struct flight *f, unsigned int n)
{
	struct pollfd p = {.events = POLLIN};
	unsigned int left = n;

	EXPECT(s->r, rf_completion_fd(s->r->ctx, &p.fd) == RF_OK);
	while (left) {
		if (s->p->manual)
			rf_progress(s->r->ctx, 1000);
		else
			poll(&p, 1, 1000);
		for (unsigned int k = 0; k < n; k++) {
			int ret = f[k].q ? rf_test(f[k].q) : RF_IN_PROGRESS;

			if (ret == RF_IN_PROGRESS)
				continue;
			EXPECT(s->r, ret == RF_OK);
			f[k].q = NULL;
			left--;
		}
	}
	return 0;
}

/* A round of calls without blocking. skip: a communicator that takes no part. */
static int fly(struct soak *s, unsigned int round, unsigned int skip)
{
	static int (*const ways[])(struct soak *, struct flight *, unsigned int) = {
		by_callback, by_any, by_all, one_by_one, by_descriptor};
	struct flight *f = calloc(COMMS * CALLS, sizeof(*f));
	int n = begin_all(s, round, skip, f), ret = n < 0 ? -1 : 0;

	if (n > 0)
		ret = ways[rf_rng_below(&s->rng, 5)](s, f, (unsigned int)n);
	/* after a failure the library may still use the buffers */
	if (ret)
		return ret;
	for (int k = 0; k < n; k++)
		ret |= compare(s, &f[k]);
	free(f);
	return ret;
}

/* ---- blocking calls ---- */

struct caller {
	pthread_t thread;
	struct soak *s;
	unsigned int first, step, round;
	int ret;
	char text[400];
};

static int calls(struct caller *k, unsigned int c)
{
	struct soak *s = k->s;
	struct rf_rng rng = calls_of(s->p, c, 10 + k->round);
	unsigned int n = 1 + (unsigned int)rf_rng_below(&rng, 4);

	for (unsigned int i = 0; i < n; i++) {
		struct flight f = {.comm = c};
		int ret;

		f.job = draw_job(&rng, rf_comm_ranks(s->comm[c]));
		job_prepare(&f.job, &s->order[c], rf_comm_rank(s->comm[c]), &f.b);
		ret = job_call(s->comm[c], &f.job, f.b.send, f.b.recv, NULL);
		if (ret) {
			snprintf(k->text, sizeof(k->text), "%s", rf_last_error_text(s->r->ctx));
			return ret;
		}
		if (compare(s, &f) != 0)
			return -1;
	}
	return 0;
}

/* Every step-th communicator, in the same order on all ranks. */
static void *caller(void *arg)
{
	struct caller *k = arg;

	for (unsigned int c = k->first; c < k->s->p->comms && !k->ret; c += k->step)
		if (k->s->comm[c])
			k->ret = calls(k, c);
	return NULL;
}

static int blocking(struct soak *s, unsigned int round)
{
	unsigned int threads = s->p->manual ? 1 : 2;
	struct caller k[2];
	int ret = 0;

	for (unsigned int t = 0; t < threads; t++) {
		k[t] = (struct caller){.s = s, .first = t, .step = threads, .round = round};
		pthread_create(&k[t].thread, NULL, caller, &k[t]);
	}
	for (unsigned int t = 0; t < threads; t++) {
		pthread_join(k[t].thread, NULL);
		if (k[t].text[0])
			snprintf(s->r->text, sizeof(s->r->text), "thread %u: %s", t, k[t].text);
		ret |= k[t].ret;
	}
	return ret;
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
	if (s->p->ending == MISMATCH && rf_comm_rank(comm) + 1 == rf_comm_ranks(comm)) {
		EXPECT(r, rf_allreduce(comm, in, out, 8, RF_FP64, RF_MAX) == RF_ERR_MISMATCH);
	} else if (s->p->ending == MISMATCH) {
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
		ret = fly(s, k, COMMS);
		if (!ret)
			ret = blocking(s, k);
		if (!ret && k == 0 && s->p->split)
			ret = replace(s);
	}
	if (!ret && s->p->ending != NO_FAILURE) {
		/* an abort ends also calls that are complete on the rank that gives up */
		ret = rank_meet(s->r);
		if (!ret)
			ret = fail(s);
		if (!ret)
			ret = fly(s, 20, s->p->fails);
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
	struct plan p = make_plan(seed);
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
	struct plan p = make_plan(seed);
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
