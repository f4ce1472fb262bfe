/* ringfold run: a program's ranks on the simulated box, all on this machine. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/opt.h"
#include "base/self.h"
#include "tools/run.h"

#define SECOND UINT64_C(1000000000)
#define START_NS (60 * SECOND) /* until the box is ready */
#define GRACE_NS (3 * SECOND)  /* after the first failure, for the other ranks to report */
#define BOX_ARGS (48u + 2 * RF_RUN_RANKS)

struct settings {
	unsigned ranks;
	const char *engine;
	const char *firmware;
	unsigned ports; /* 0: chosen */
	unsigned lanes; /* 0: chosen */
	bool wide;
	double loss;
	unsigned mtu; /* 0: RF_MTU */
	const char *pcapng;
	const char *http;
	uint64_t timeout_ns;
	bool verbose;
	char folder[PATH_MAX];
	int lock;
};

static const char intro[] =
	"Starts a simulated box, N processes of a program and the links between them on this "
	"machine.\n"
	"The program uses the host library; it needs no change and no setting. Each line that a "
	"rank\n"
	"writes is printed with the rank in front of it. When a rank fails, the others have three\n"
	"seconds to report why; then everything is ended. Ranks read /dev/null.\n"
	"\n"
	"Set for each rank: RF_RANK, RF_SIZE, RF_DEVICE, RF_IP, RF_BOX_IP, RF_ROOT, RF_PORT; for\n"
	"programs written for other launchers RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR, "
	"MASTER_PORT\n"
	"and OMPI_COMM_WORLD_*. RF_RETRY, RF_SPIN, RF_SCHEDULE and all other settings keep the "
	"value\n"
	"that they have; without one, RF_RETRY is 500, RF_TIMEOUT and RF_BOX_TIMEOUT are 60000 "
	"and\n"
	"RF_SPIN is 0, since a simulated box is slow and shares the processors with the ranks.";

static const char examples[] =
	"  ringfold run -n 4 -- ./program args\n"
	"  ringfold run -n 4 --engine rtl --loss 1% -- ringfold perf --max 64K\n"
	"  RF_SCHEDULE=ring ringfold run -n 3 -- ./program\n"
	"\n"
	"exit codes: 0 all ranks returned 0; else the code of the first rank that failed (128 + N "
	"after\n"
	"signal N), 127 if there is no such program, 126 if it cannot be executed, 130 after "
	"Ctrl-C,\n"
	"1 if the box failed or the time was over, 2 usage";

static int parse(struct settings *s, int argc, char **argv)
{
	const struct rf_opt table[] = {
		{RF_OPT_PROGRAM, NULL, 0, NULL, NULL, NULL, NULL},
		{RF_OPT_UINT, "ranks", 'n', &s->ranks, "N", "processes, 1 to 64", NULL},
		{RF_OPT_UINT, "mtu", 'm', &s->mtu, "BYTES",
		 "payload bytes per packet: 256, 512, 1024, 2048 or 4096;\n0: RF_MTU, or 1024",
		 NULL},
		{RF_OPT_FRACTION, "loss", 0, &s->loss, "FRACTION",
		 "share of frames that each cable loses, in each direction", NULL},
		{RF_OPT_TIME, "timeout", 0, &s->timeout_ns, "TIME",
		 "end everything after this time; 0s: never", NULL},
		{RF_OPT_STRING, "http", 0, &s->http, "ADDRESS:PORT",
		 "the box serves a live page there, for example 127.0.0.1:9477; port 0: any", NULL},
		{RF_OPT_STRING, "pcapng", 0, &s->pcapng, "DIR",
		 "write captures of switch, box and ranks to this folder; created if needed", NULL},
		{RF_OPT_FLAG, "verbose", 'v', &s->verbose, NULL,
		 "also print what the box reports: events, and counters at the end", NULL},
		{RF_OPT_HEADING, NULL, 0, NULL, NULL, "the box:", NULL},
		{RF_OPT_CHOICE, "engine", 'e', &s->engine, "rtl|model|soft", "engine of the box", NULL},
		{RF_OPT_CHOICE, "firmware", 0, &s->firmware, "native|rv32",
		 "firmware: the native build, or the image for the box's processor", NULL},
		{RF_OPT_UINT, "box-ports", 0, &s->ports, "N",
		 "ports of the box, 2 to 8; 0: 4 if they are enough, else 8", NULL},
		{RF_OPT_UINT, "lanes", 'l', &s->lanes, "N",
		 "ranks per port, 1 to 16; 0: as many as are needed", NULL},
		{RF_OPT_FLAG, "wide", 0, &s->wide, NULL,
		 "room for 64 groups of 16 slots, not with --engine rtl (default: 8 groups)", NULL},
		{RF_OPT_END, NULL, 0, NULL, NULL, NULL, NULL},
	};
	const struct rf_opt_page page = {"ringfold run -n N [options] -- PROGRAM [ARGUMENTS]",
					 intro, examples, table};
	int n = rf_opt_parse(&page, argc, argv);

	if (n == argc) {
		fprintf(stderr, "ringfold run: no program given\nusage: %s\n", page.usage);
		return -2;
	}
	return n;
}

/* Checks the options and chooses ports and lanes. Returns 0, or -1 after a message. */
static int settle(struct settings *s)
{
	if (s->ranks < 1 || s->ranks > RF_RUN_RANKS) {
		fprintf(stderr, "--ranks: expected 1 to %u\n", RF_RUN_RANKS);
		return -1;
	}
	if (s->ports == 1 || s->ports > 8) {
		fprintf(stderr, "--box-ports: expected 2 to 8, or 0\n");
		return -1;
	}
	if (s->lanes > 16) {
		fprintf(stderr, "--lanes: expected 1 to 16, or 0\n");
		return -1;
	}
	if (s->wide && strcmp(s->engine, "rtl") == 0) {
		fprintf(stderr, "--wide: expected --engine model or soft\n");
		return -1;
	}
	if (s->loss >= 1) {
		fprintf(stderr, "--loss: expected less than 100%%: nothing would arrive\n");
		return -1;
	}
	if (s->mtu != 0 && s->mtu != 256 && s->mtu != 512 && s->mtu != 1024 && s->mtu != 2048 &&
	    s->mtu != 4096) {
		fprintf(stderr, "--mtu: expected 256, 512, 1024, 2048 or 4096\n");
		return -1;
	}
	if (s->ports == 0)
		s->ports = s->ranks <= 4 * (s->lanes ? s->lanes : 1) ? 4 : 8;
	if (s->lanes == 0)
		s->lanes = (s->ranks + s->ports - 1) / s->ports;
	if (s->ranks > s->ports * s->lanes || s->lanes > 16) {
		fprintf(stderr,
			"ringfold run: %u ranks need more than %u ports with %u lanes: raise "
			"--box-ports or --lanes\n",
			s->ranks, s->ports, s->lanes < 16 ? s->lanes : 16u);
		return -1;
	}
	return 0;
}

/* ---- the program ---- */

static int try_program(const char *path)
{
	struct stat st;

	if (stat(path, &st) != 0)
		return errno;
	if (!S_ISREG(st.st_mode) || access(path, X_OK) != 0)
		return EACCES;
	return 0;
}

/* Says before anything is started that a program cannot be. Returns 0, 126 or 127. */
static int check_program(const char *name)
{
	const char *list = getenv("PATH");
	int error = ENOENT;

	if (strchr(name, '/'))
		error = try_program(name);
	for (const char *p = list ? list : "/bin:/usr/bin"; !strchr(name, '/') && error;) {
		const char *colon = strchrnul(p, ':');
		char path[PATH_MAX];
		int e;

		snprintf(path, sizeof(path), "%.*s/%s", (int)(colon - p), p, name);
		e = try_program(colon == p ? name : path);
		error = e == 0 || e == EACCES ? e : error;
		if (*colon == '\0')
			break;
		p = colon + 1;
	}
	if (error == 0)
		return 0;
	fprintf(stderr, "ringfold run: %s: %s%s\n", name,
		error == EACCES ? "is not an executable file" : strerror(error),
		error == ENOENT && !strchr(name, '/')
			? " in PATH; a program in this folder is written with ./ in front"
			: "");
	return error == ENOENT ? 127 : 126;
}

/* ---- environment ---- */

/* A TCP port that is free now, below those of outgoing connections. */
static unsigned free_port(void)
{
	unsigned seed = (unsigned)(rf_now_ns() ^ (uint64_t)getpid() * 2654435761u);

	for (unsigned i = 0; i < 200; i++) {
		struct sockaddr_in a = {.sin_family = AF_INET,
					.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
		unsigned port;
		int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		int failed;

		seed = seed * 1664525u + 1013904223u;
		port = 16384 + (seed >> 16) % 16384;
		a.sin_port = htons((uint16_t)port);
		failed = fd < 0 || bind(fd, (const struct sockaddr *)&a, sizeof(a)) != 0;
		if (fd >= 0)
			close(fd);
		if (!failed)
			return port;
	}
	return 4792;
}

static void set(const char *name, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void set(const char *name, const char *format, ...)
{
	char value[PATH_MAX + 200];
	va_list list;

	va_start(list, format);
	vsnprintf(value, sizeof(value), format, list);
	va_end(list);
	if (setenv(name, value, 1) != 0)
		fprintf(stderr, "ringfold run: %s: %s\n", name, strerror(errno));
}

static void set_for_all(const struct settings *s)
{
	set("RF_SIZE", "%u", s->ranks);
	set("WORLD_SIZE", "%u", s->ranks);
	set("LOCAL_WORLD_SIZE", "%u", s->ranks);
	set("OMPI_COMM_WORLD_SIZE", "%u", s->ranks);
	set("OMPI_COMM_WORLD_LOCAL_SIZE", "%u", s->ranks);
	set("RF_ROOT", "127.0.0.1");
	set("MASTER_ADDR", "127.0.0.1");
	set("RF_PORT", "%u", free_port());
	set("MASTER_PORT", "%u", free_port());
	set("RF_BOX_IP", "10.0.0.254");
	set("RF_BACKEND", "dpdk");
	/* this box has no keys, and no router is on the way to it */
	unsetenv("RF_KEY");
	unsetenv("RF_GATEWAY");
	setenv("RF_RETRY", "500", 0);
	/* the ranks and the box share the processors, maybe with others */
	setenv("RF_TIMEOUT", "60000", 0);
	setenv("RF_BOX_TIMEOUT", "60000", 0);
	setenv("RF_SPIN", "0", 0);
	if (s->mtu)
		set("RF_MTU", "%u", s->mtu);
	if (s->pcapng)
		set("RF_PCAP", "%s/rank%%r.pcapng", s->pcapng);
}

static void set_for_rank(const struct settings *s, unsigned rank)
{
	set("RF_RANK", "%u", rank);
	set("RANK", "%u", rank);
	set("LOCAL_RANK", "%u", rank);
	set("OMPI_COMM_WORLD_RANK", "%u", rank);
	set("OMPI_COMM_WORLD_LOCAL_RANK", "%u", rank);
	set("RF_IP", "10.0.0.%u", rank + 1);
	set("RF_DEVICE", "net_memif0,role=client,id=0,socket=%s/%u.sock,socket-abstract=no",
	    s->folder, rank);
}

/* ---- the run ---- */

static bool interrupted(void)
{
	int number;

	return rf_run_interrupts(&number) != 0;
}

static bool box_ready(const struct rf_run *r)
{
	return r->p[0].ended || strstr(r->tail, ": ready (") || interrupted() || r->output_error;
}

/* The first rank that failed, or NULL. */
static const struct rf_run_process *first_failure(const struct rf_run *r)
{
	const struct rf_run_process *first = NULL;

	for (unsigned i = 1; i < r->count; i++) {
		const struct rf_run_process *p = &r->p[i];

		if (p->ended && p->code != 0 && !p->was_told && (!first || p->place < first->place))
			first = p;
	}
	return first;
}

static bool ranks_ended(const struct rf_run *r)
{
	for (unsigned i = 1; i < r->count; i++)
		if (r->p[i].pid && !r->p[i].ended)
			return false;
	return true;
}

static bool run_over(const struct rf_run *r)
{
	return ranks_ended(r) || first_failure(r) || r->p[0].ended || interrupted() ||
	       r->output_error;
}

static bool grace_over(const struct rf_run *r)
{
	return ranks_ended(r) || interrupted() || r->output_error;
}

static int start_box(struct rf_run *r, struct settings *s)
{
	struct rf_run_process *p = &r->p[0];
	char *argv[BOX_ARGS];
	char numbers[2][16];
	char program[PATH_MAX + 32];
	char folder[PATH_MAX];
	char ports[RF_RUN_RANKS][PATH_MAX];
	const char *steering = getenv("RF_STEERING");
	bool rules;
	size_t n = 0;
	int err;

	if (rf_self_folder(folder, sizeof(folder)) != 0)
		snprintf(folder, sizeof(folder), ".");
	snprintf(program, sizeof(program), "%s/ringfold-box", folder);
	snprintf(numbers[0], sizeof(numbers[0]), "%u", s->ports);
	snprintf(numbers[1], sizeof(numbers[1]), "%u", s->lanes);
	argv[n++] = program;
	argv[n++] = "--hold";
	argv[n++] = "0s";
	/* where many ranks share a few processors, one may not run for many seconds */
	argv[n++] = "--lease";
	argv[n++] = "60s";
	argv[n++] = "--engine";
	argv[n++] = (char *)(uintptr_t)s->engine;
	argv[n++] = "--firmware";
	argv[n++] = (char *)(uintptr_t)s->firmware;
	argv[n++] = "--box-ports";
	argv[n++] = numbers[0];
	argv[n++] = "--lanes";
	argv[n++] = numbers[1];
	if (s->wide)
		argv[n++] = "--wide";
	if (!s->verbose)
		argv[n++] = "--quiet";
	if (s->http) {
		argv[n++] = "--http";
		argv[n++] = (char *)(uintptr_t)s->http;
	}
	if (s->pcapng) {
		argv[n++] = "--pcapng";
		argv[n++] = (char *)(uintptr_t)s->pcapng;
	}
	rules = steering && strcmp(steering, "ring") == 0;
	for (unsigned i = 0; i < s->ranks; i++) {
		int len = snprintf(ports[i], sizeof(ports[i]), "h%u=memif:%.*s/%u.sock", i,
				   (int)sizeof(ports[i]) - 64, s->folder, i);

		/* Mirror connections go to any port of the box: a rule would lead them astray. */
		if (rules)
			len += snprintf(ports[i] + len, sizeof(ports[i]) - (size_t)len, ",rule");
		if (s->loss > 0)
			snprintf(ports[i] + len, sizeof(ports[i]) - (size_t)len, ",loss=%.9g%%",
				 s->loss * 100);
		argv[n++] = "--port";
		argv[n++] = ports[i];
	}
	argv[n] = NULL;
	snprintf(p->name, sizeof(p->name), "the box");
	snprintf(p->label, sizeof(p->label), "[box] ");
	p->out.to = s->verbose ? STDOUT_FILENO : -1;
	p->err.to = s->verbose ? STDERR_FILENO : -1;
	p->err.tail = true;
	err = rf_run_start(r, p, argv);
	if (err)
		fprintf(stderr, "ringfold run: cannot start a process: %s\n", strerror(-err));
	return err;
}

/* With port 0 nothing else says where the page is. */
static void say_page(const struct rf_run *r)
{
	const char *at = strstr(r->tail, "ringfold box: page at ");

	if (at)
		fprintf(stderr, "%s%.*s\n", r->p[0].label, (int)strcspn(at, "\n"), at);
}

static int start_ranks(struct rf_run *r, const struct settings *s, char **argv)
{
	int width = s->ranks > 10 ? 2 : 1;

	set_for_all(s);
	for (unsigned i = 0; i < s->ranks; i++) {
		struct rf_run_process *p = &r->p[r->count];
		int err;

		snprintf(p->name, sizeof(p->name), "rank %u", i);
		snprintf(p->label, sizeof(p->label), "[%*u] ", width, i);
		p->out.to = STDOUT_FILENO;
		p->err.to = STDERR_FILENO;
		set_for_rank(s, i);
		err = rf_run_start(r, p, argv);
		if (err) {
			fprintf(stderr, "ringfold run: %s: cannot start a process: %s\n", p->name,
				strerror(-err));
			return err;
		}
		r->count++;
	}
	return 0;
}

static void print_exit(const struct rf_run_process *p, const char *what)
{
	if (p->signal)
		fprintf(stderr, "ringfold run: %s%s: signal %d (%s)\n", p->name, what, p->signal,
			strsignal(p->signal));
	else
		fprintf(stderr, "ringfold run: %s%s: exit code %d\n", p->name, what, p->code);
}

/* What went wrong, in the order of importance; returns the exit code. */
static int report(const struct rf_run *r, const struct settings *s, bool late, bool box_first)
{
	const struct rf_run_process *first = first_failure(r);
	int number;

	/* first: after an interrupt, output that stays blocked is abandoned */
	if (rf_run_interrupts(&number)) {
		fprintf(stderr, "ringfold run: ended by %s\n", strsignal(number));
		return 128 + number;
	}
	if (r->output_error) {
		fprintf(stderr, "ringfold run: cannot write output: %s\n",
			strerror(r->output_error));
		return RF_EXIT_FAILED;
	}
	if (box_first) {
		print_exit(&r->p[0], " ended before the ranks");
		if (!s->verbose)
			fputs(r->tail, stderr);
		return RF_EXIT_FAILED;
	}
	if (first)
		print_exit(first, " failed first");
	for (unsigned i = 1; i < r->count; i++) {
		const struct rf_run_process *p = &r->p[i];

		if (p->was_told)
			fprintf(stderr, "ringfold run: %s was still running and was ended\n",
				p->name);
		else if (p->code != 0 && p != first)
			print_exit(p, " failed later");
	}
	if (late)
		fprintf(stderr, "ringfold run: not finished within --timeout\n");
	if (!first && !late && r->p[0].code != 0) {
		print_exit(&r->p[0], " failed at its end");
		if (!s->verbose)
			fputs(r->tail, stderr);
		return RF_EXIT_FAILED;
	}
	return first ? first->code : late ? RF_EXIT_FAILED : RF_EXIT_GOOD;
}

static int run(struct rf_run *r, struct settings *s, char **argv)
{
	bool late = false;
	bool box_first;
	bool started;

	r->count = 1;
	if (start_box(r, s) != 0)
		return RF_EXIT_FAILED;
	if (!rf_run_until(r, box_ready, START_NS))
		fprintf(stderr, "ringfold run: the box was not ready after 60 seconds\n");
	if (!strstr(r->tail, ": ready (")) {
		/* It also reads what a box that has ended wrote last. */
		rf_run_end(r, 0, 1);
		if (!interrupted() && !s->verbose)
			fputs(r->tail, stderr);
		return interrupted()                   ? report(r, s, false, false)
		       : r->p[0].code == RF_EXIT_USAGE ? RF_EXIT_USAGE
						       : RF_EXIT_FAILED;
	}
	if (s->http && !s->verbose)
		say_page(r);
	started = start_ranks(r, s, argv) == 0;
	if (started) {
		late = !rf_run_until(r, run_over, s->timeout_ns ? s->timeout_ns : UINT64_MAX);
		if (!late && !ranks_ended(r))
			rf_run_until(r, grace_over, GRACE_NS);
	}
	box_first = r->p[0].ended && (!first_failure(r) || r->p[0].place < first_failure(r)->place);
	rf_run_end(r, 1, r->count - 1);
	rf_run_end(r, 0, 1);
	/* the reason has been given */
	return started || interrupted() ? report(r, s, late, box_first) : RF_EXIT_FAILED;
}

int main(int argc, char **argv)
{
	static struct rf_run r;
	static struct settings s = {.ranks = 2, .engine = "model", .firmware = "native"};
	char why[PATH_MAX + 200];
	int n = parse(&s, argc, argv);
	int code;
	int err;

	if (n < 0 || settle(&s) != 0)
		return n == -1 ? RF_EXIT_GOOD : RF_EXIT_USAGE;
	code = check_program(argv[n]);
	if (code)
		return code;
	err = rf_run_init(&r);
	if (err) {
		fprintf(stderr, "ringfold run: signals: %s\n", strerror(-err));
		return RF_EXIT_FAILED;
	}
	if (rf_run_folder(s.folder, sizeof(s.folder), &s.lock, why, sizeof(why)) != 0) {
		fprintf(stderr, "ringfold run: %s\n", why);
		return RF_EXIT_FAILED;
	}
	code = run(&r, &s, argv + n);
	rf_run_finish(&r);
	rf_run_folder_remove(s.folder, s.lock);
	return code;
}
