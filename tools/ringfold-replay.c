/* ringfold replay: runs with faults, each derived from its seed. */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/hangup.h"
#include "base/opt.h"
#include "sim/cosim/load.h"
#include "sim/fabric/plan.h"
#include "sim/model/rf_model.h"

#define JOBS_MAX 64u
#define PROGRESS_S 10.0
#define LONG_S 60.0 /* a run this long is reported */

struct settings {
	const char *engine;
	struct rf_plan_shape shape;
	uint64_t first, count;
	unsigned jobs, seconds, limit;
	const char *pcapng;
	const char *wave;
	const char *mutant_name;
	enum rf_plan_mutant mutant;
	const char *box_mutant;
	bool verbose, cover, plan;
};

/*
 * What a worker process reports to the main process when a run begins and ends. Small enough for an
 * atomic write to a pipe.
 */
struct report {
	uint64_t seed;
	unsigned job;
	bool begins;
	uint64_t seen;
	uint64_t frames, lost;
	double virtual_s;
	bool bad;
	bool found; /* how the mutant must be found */
};

/* A worker process that runs every jobs-th seed. */
struct job {
	pid_t pid;
	bool busy;
	uint64_t seed; /* the run in progress, and its start time */
	double since;
};

struct totals {
	uint64_t runs, bad, frames;
	double virtual_s;
	uint64_t seen[RF_PLAN_INGREDIENT_COUNT];
};

static double seconds_now(void)
{
	return 1e-9 * (double)rf_now_ns();
}

/* What this process and its jobs, which have ended, have spent. */
static double processor_s(void)
{
	double sum = 0;

	for (int who = 0; who < 2; who++) {
		struct rusage u;

		if (getrusage(who ? RUSAGE_CHILDREN : RUSAGE_SELF, &u) == 0)
			sum += (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
			       1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
	}
	return sum;
}

static bool find_engine(struct settings *s)
{
	char why[300];

	if (rf_engine_by_name(s->engine, s->shape.ports, s->shape.lanes, s->shape.width,
			      s->wave != NULL, &s->shape.engine, why, sizeof(why)) == 0)
		return true;
	fprintf(stderr, "ringfold replay: %s\n", why);
	return false;
}

/* Selects the model with one of its faults. */
static enum rf_model_mutant box_mutant;

static struct rf_engine *create_mutant(const struct rf_engine_cfg *cfg,
				       const struct rf_engine_host *host, char *why, size_t room)
{
	struct rf_engine *e = rf_model_engine()->create(cfg, host, why, room);

	if (e)
		rf_model_set_mutant(e, box_mutant);
	return e;
}

static bool find_box_mutant(struct settings *s)
{
	static struct rf_engine_ops ops;

	if (!s->box_mutant)
		return true;
	for (unsigned m = 1; m < RF_MODEL_MUTANTS; m++)
		if (strcmp(s->box_mutant, rf_model_mutant_name(m)) == 0)
			box_mutant = (enum rf_model_mutant)m;
	if (box_mutant == RF_MODEL_SOUND || strcmp(s->engine, "model") != 0) {
		fprintf(stderr, "ringfold replay: the model has no mutant \"%s\"\n", s->box_mutant);
		return false;
	}
	ops = *rf_model_engine();
	ops.create = create_mutant;
	s->shape.engine = &ops;
	return true;
}

static void print_repeat(const struct settings *s, uint64_t seed)
{
	printf("    again: ringfold replay --engine %s --ports %u --lanes %u --width %u%s%s "
	       "%s%s --pcapng DIR%s %" PRIu64 "\n",
	       s->engine, s->shape.ports, s->shape.lanes, s->shape.width,
	       s->mutant ? " --mutate " : "", s->mutant ? s->mutant_name : "",
	       s->box_mutant ? " --box-mutant " : "", s->box_mutant ? s->box_mutant : "",
	       strcmp(s->engine, "rtl") == 0 ? " --wave FILE" : "", seed);
	fflush(stdout);
}

static void run(const struct settings *s, uint64_t seed, struct report *r)
{
	struct rf_plan p;
	struct rf_plan_result result;
	char plan[1500];

	rf_plan_make(&p, seed, &s->shape);
	p.cfg.pcapng_dir = s->pcapng;
	p.cfg.wave = s->wave;
	rf_plan_text(&p, plan, sizeof(plan));
	if (s->verbose || s->plan)
		printf("seed %" PRIu64 ": %s\n", seed, plan);
	*r = (struct report){.seed = seed};
	if (s->plan)
		return;
	r->bad = !rf_plan_run(&p, s->mutant, &result);
	rf_engine_wave_end("ringfold replay", s->wave);
	r->seen = result.seen;
	r->frames = result.stats.data_packets + result.stats.acks;
	r->virtual_s = (double)result.stats.cycles * 4e-9;
	if (!r->bad)
		return;
	r->found = s->box_mutant ||
		   (s->mutant && strstr(result.text, rf_plan_mutant_complaint(s->mutant)));
	printf("seed %" PRIu64 ": %s\n    %s\n", seed, result.text, plan);
	print_repeat(s, seed);
}

static void note(struct totals *t, const struct report *r)
{
	t->runs++;
	t->bad += r->bad;
	t->frames += r->frames;
	t->virtual_s += r->virtual_s;
	for (unsigned i = 0; i < RF_PLAN_INGREDIENT_COUNT; i++)
		t->seen[i] += r->seen >> i & 1;
}

static void progress(const struct settings *s, const struct totals *t, const struct job *jobs,
		     double begin)
{
	double now = seconds_now();
	double spent = now - begin;
	double left = t->runs ? spent / (double)t->runs * (double)(s->count - t->runs) : 0;

	if (s->seconds && left > s->seconds - spent)
		left = s->seconds - spent;
	fprintf(stderr,
		"%" PRIu64 " of %" PRIu64 " runs in %.0f s, %.1f per second, %" PRIu64
		" not good; at most %.0f s more\n",
		t->runs, s->count, spent, spent > 0 ? (double)t->runs / spent : 0, t->bad,
		left > 0 ? left : 0);
	for (unsigned j = 0; j < s->jobs; j++)
		if (jobs[j].busy && now - jobs[j].since > LONG_S)
			fprintf(stderr, "seed %" PRIu64 " has run for %.0f s\n", jobs[j].seed,
				now - jobs[j].since);
}

static volatile sig_atomic_t stopped;

static void stop(int number)
{
	stopped = number;
}

static void on_stop(void (*handler)(int))
{
	const struct sigaction a = {.sa_handler = handler};

	sigaction(SIGINT, &a, NULL);
	sigaction(SIGTERM, &a, NULL);
	(void)rf_take_hangup(&a);
}

/* Runs every jobs-th seed. */
static void work(const struct settings *s, unsigned number, int to, double begin)
{
	for (uint64_t k = number; k < s->count && !stopped; k += s->jobs) {
		struct report r = {.seed = s->first + k, .job = number, .begins = true};

		if (s->seconds && seconds_now() - begin > s->seconds)
			break;
		if (write(to, &r, sizeof(r)) != (ssize_t)sizeof(r))
			break;
		alarm(s->limit);
		run(s, s->first + k, &r);
		alarm(0);
		r.job = number;
		if (write(to, &r, sizeof(r)) != (ssize_t)sizeof(r) || r.found)
			break;
	}
}

/* Reads the workers' reports until the last one has ended. */
static void collect(const struct settings *s, int from, struct totals *t, struct job *jobs,
		    double begin)
{
	struct pollfd fd = {.fd = from, .events = POLLIN};
	double shown = begin;
	struct report r;
	ssize_t n;

	while (!stopped) {
		int rc = poll(&fd, 1, 1000);

		if (rc > 0) {
			n = read(from, &r, sizeof(r));
			if (n != (ssize_t)sizeof(r))
				return;
			jobs[r.job].busy = r.begins;
			jobs[r.job].seed = r.seed;
			jobs[r.job].since = seconds_now();
			if (!r.begins)
				note(t, &r);
		} else if (rc < 0 && errno != EINTR) {
			return;
		}
		if (seconds_now() - shown > PROGRESS_S) {
			shown = seconds_now();
			progress(s, t, jobs, begin);
		}
	}
}

static void start_job(const struct settings *s, struct job *jobs, unsigned number, const int fd[2],
		      double begin)
{
	pid_t parent = getpid();
	pid_t pid = fork();

	jobs[number] = (struct job){.pid = pid};
	if (pid != 0)
		return;
	/* The worker ends with the main process, however that ends. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	on_stop(SIG_DFL);
	close(fd[0]);
	if (getppid() == parent)
		work(s, number, fd[1], begin);
	fflush(stdout);
	_exit(0);
}

/* Waits for a process; true if it succeeded. */
static bool end_job(const struct settings *s, struct job *j, struct totals *t)
{
	int status = 0;

	if (j->pid <= 0)
		return false;
	if (stopped)
		kill(j->pid, SIGTERM);
	while (waitpid(j->pid, &status, 0) < 0 && errno == EINTR)
		;
	if (status == 0 || stopped)
		return status == 0;
	if (!j->busy) {
		printf("a process died between two seeds: status %d\n", status);
		return false;
	}
	t->bad++;
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
		printf("seed %" PRIu64 ": has not ended after %u s\n", j->seed, s->limit);
	else
		printf("seed %" PRIu64 ": its process has died: %s\n", j->seed,
		       WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "exit");
	print_repeat(s, j->seed);
	return false;
}

/* True if all processes succeeded. */
static bool run_all(const struct settings *s, struct totals *t)
{
	double begin = seconds_now();
	struct job jobs[JOBS_MAX];
	bool well = true;
	int fd[2];

	if (pipe(fd) != 0)
		return false;
	fflush(stdout);
	on_stop(stop);
	for (unsigned j = 0; j < s->jobs; j++)
		start_job(s, jobs, j, fd, begin);
	close(fd[1]);
	collect(s, fd[0], t, jobs, begin);
	close(fd[0]);
	for (unsigned j = 0; j < s->jobs; j++)
		well &= end_job(s, &jobs[j], t);
	return well;
}

/* Performs one run in this process, which makes debuggers and output files easy to use. */
static bool run_one(const struct settings *s, struct totals *t)
{
	struct report r;

	run(s, s->first, &r);
	note(t, &r);
	return true;
}

static bool table(const struct settings *s, const struct totals *t)
{
	bool all = true;

	for (unsigned i = 0; i < RF_PLAN_INGREDIENT_COUNT; i++) {
		if (s->count > 1)
			printf("%8" PRIu64 "  %s\n", t->seen[i], rf_plan_ingredient(i));
		if (t->seen[i] == 0 && s->cover) {
			printf("never: %s\n", rf_plan_ingredient(i));
			all = false;
		}
	}
	return all || !s->cover;
}

static bool find_mutant(struct settings *s)
{
	if (!s->mutant_name)
		return true;
	for (unsigned m = 0; m < RF_PLAN_MUTANT_COUNT; m++) {
		if (strcmp(s->mutant_name, "list") == 0 && m)
			printf("%s\t%s\n", rf_plan_mutant_name(m), rf_plan_mutant_complaint(m));
		if (strcmp(s->mutant_name, rf_plan_mutant_name(m)) == 0) {
			s->mutant = (enum rf_plan_mutant)m;
			return true;
		}
	}
	if (strcmp(s->mutant_name, "list") == 0)
		exit(RF_EXIT_GOOD);
	fprintf(stderr, "ringfold replay: no mutant \"%s\": --mutate list names them\n",
		s->mutant_name);
	return false;
}

int main(int argc, char **argv)
{
	struct settings s = {.engine = "model", .count = 1, .jobs = 1};
	const struct rf_opt opts[] = {
		{RF_OPT_CHOICE, "engine", 'e', &s.engine, "model|rtl", "engine of the box", NULL},
		{RF_OPT_UINT, "ports", 0, &s.shape.ports, "N", "ports of the box", NULL},
		{RF_OPT_UINT, "lanes", 0, &s.shape.lanes, "N", "lanes of the box", NULL},
		{RF_OPT_UINT, "width", 0, &s.shape.width, "BITS", "width of the box's data path",
		 NULL},
		{RF_OPT_U64, "count", 0, &s.count, "N", "number of seeds, from SEED on", NULL},
		{RF_OPT_UINT, "jobs", 0, &s.jobs, "N", "parallel processes", NULL},
		{RF_OPT_UINT, "seconds", 0, &s.seconds, "S",
		 "start no run after this many seconds; 0: no limit", NULL},
		{RF_OPT_UINT, "limit", 0, &s.limit, "S",
		 "a run that takes longer has failed, and so have the later runs of its process; "
		 "0: no limit",
		 NULL},
		{RF_OPT_FLAG, "cover", 0, &s.cover, NULL,
		 "fail if a fault or event that runs can contain never occurred", NULL},
		{RF_OPT_STRING, "mutate", 0, &s.mutant_name, "NAME",
		 "introduce a fault that a check must find, and run until it is found; list: "
		 "names",
		 NULL},
		{RF_OPT_STRING, "box-mutant", 0, &s.box_mutant, "NAME",
		 "use the model with that fault; runs until it is found", NULL},
		{RF_OPT_STRING, "pcapng", 0, &s.pcapng, "DIR",
		 "write hosts.pcapng and box.pcapng of the last run there", NULL},
		{RF_OPT_STRING, "wave", 0, &s.wave, "FILE", "waveform of the last run (rtl)", NULL},
		{RF_OPT_FLAG, "plan", 0, &s.plan, NULL, "print the plans, run nothing", NULL},
		{RF_OPT_FLAG, "verbose", 'v', &s.verbose, NULL, "print every plan", NULL},
		{RF_OPT_END, NULL, 0, NULL, NULL, NULL, NULL},
	};
	const struct rf_opt_page page = {
		"ringfold replay [options] SEED",
		"Runs whose topology, sizes, groups, faults and bad hosts are derived from a seed. "
		"After "
		"each: the bits are\ncorrect on every rank that succeeded, errors occur only if "
		"the "
		"plan explains them and name its cause,\neverything is freed, and nothing "
		"still waits.",
		"    ringfold replay --count 1000 --jobs 2 1\n"
		"    ringfold replay --engine rtl --pcapng /tmp/run --wave /tmp/run.fst 4711\n",
		opts};
	struct totals t = {.runs = 0};
	int at;
	bool well;

	s.shape = (struct rf_plan_shape){.ports = 4, .lanes = 2, .width = 64};
	at = rf_opt_parse(&page, argc, argv);
	if (at == -1)
		return RF_EXIT_GOOD;
	if (at < 0 || !find_mutant(&s))
		return RF_EXIT_USAGE;
	if (argc - at != 1 || rf_opt_u64(argv[at], &s.first) != 0 || s.shape.ports < 2 ||
	    s.shape.ports > RF_FABRIC_PORTS || s.shape.lanes < 1 || s.shape.lanes > 16 ||
	    s.jobs < 1 || s.jobs > JOBS_MAX) {
		fprintf(stderr,
			"ringfold replay: expected one SEED, 2 to 8 ports, 1 to 16 lanes, 1 to %u "
			"jobs\n",
			JOBS_MAX);
		return RF_EXIT_USAGE;
	}
	if (!find_engine(&s))
		return RF_EXIT_SKIPPED;
	if (!find_box_mutant(&s))
		return RF_EXIT_USAGE;
	well = s.count == 1 ? run_one(&s, &t) : run_all(&s, &t);
	if (s.plan)
		return RF_EXIT_GOOD;
	well &= table(&s, &t);
	if (s.count > 1 && t.runs)
		printf("%.3f s of processor time per run\n", processor_s() / (double)t.runs);
	printf("%" PRIu64 " ", t.runs);
	if (t.runs < s.count)
		printf("of %" PRIu64 " ", s.count);
	printf("runs from seed %" PRIu64 " (%s, %u ports, %u lanes, %u bits; %" PRIu64
	       " packets, %.0f s of virtual time): %" PRIu64 " not good%s\n",
	       s.first, s.engine, s.shape.ports, s.shape.lanes, s.shape.width, t.frames,
	       t.virtual_s, t.bad, stopped ? ", stopped" : "");
	if (stopped)
		return 128 + stopped;
	return t.bad || !well ? RF_EXIT_FAILED : RF_EXIT_GOOD;
}
