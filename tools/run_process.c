/* Processes in groups of their own; their output, line by line. */
#include "tools/run.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/hangup.h"

#define MS UINT64_C(1000000)
#define TERM_NS (2000 * MS)       /* from SIGTERM to SIGKILL */
#define KILL_NS (1000 * MS)       /* from SIGKILL until output is abandoned */
#define BLOCKED_MS 1000           /* after an interrupt, how long stdout may block */
#define WRITE_MAX 4096u           /* a pipe that is writable takes this much without blocking */
#define LINE_MAX_BYTES (1u << 20) /* a longer line is broken */

static volatile sig_atomic_t interrupts;
static volatile sig_atomic_t last_signal;
static sigset_t outside; /* the mask of before, in force while waiting and in children */
static const int handled[] = {SIGINT, SIGTERM, SIGHUP, SIGCHLD};
#define HANDLED (sizeof(handled) / sizeof(handled[0]))

static void on_signal(int number)
{
	if (number == SIGCHLD)
		return;
	last_signal = number;
	interrupts++;
}

unsigned rf_run_interrupts(int *number)
{
	*number = last_signal;
	return (unsigned)interrupts;
}

int rf_run_init(struct rf_run *r)
{
	struct sigaction act = {.sa_handler = on_signal};
	sigset_t set;

	memset(r, 0, sizeof(*r));
	for (unsigned i = 0; i <= RF_RUN_RANKS; i++)
		r->p[i].out.fd = r->p[i].err.fd = -1;
	sigemptyset(&set);
	for (size_t i = 0; i < HANDLED; i++)
		sigaddset(&set, handled[i]);
	if (sigprocmask(SIG_BLOCK, &set, &outside) != 0)
		return -errno;
	for (size_t i = 0; i < HANDLED; i++) {
		sigdelset(&outside, handled[i]);
		if ((handled[i] == SIGHUP ? rf_take_hangup(&act)
					  : sigaction(handled[i], &act, NULL)) != 0)
			return -errno;
	}
	signal(SIGPIPE, SIG_IGN);
	if (prctl(PR_SET_CHILD_SUBREAPER, 1L, 0L, 0L, 0L) != 0)
		return -errno;
	return 0;
}

/* ---- output ---- */

static struct timespec *span(uint64_t ns, struct timespec *t)
{
	t->tv_sec = (time_t)(ns / (1000 * MS));
	t->tv_nsec = (long)(ns % (1000 * MS));
	return ns == UINT64_MAX ? NULL : t;
}

/* Writes all of it unless that fails, or blocks after an interrupt. */
static void put(struct rf_run *r, int fd, const char *data, size_t len)
{
	while (len != 0 && fd >= 0 && r->output_error == 0) {
		struct pollfd p = {.fd = fd, .events = POLLOUT};
		struct timespec t;
		unsigned before = (unsigned)interrupts;
		int n = ppoll(&p, 1, before ? span(BLOCKED_MS * MS, &t) : NULL, &outside);
		ssize_t done;

		if (n < 0 && errno == EINTR)
			continue;
		done = n == 1 ? write(fd, data, len < WRITE_MAX ? len : WRITE_MAX) : -1;
		if (done < 0) {
			if (n == 1 && (errno == EINTR || errno == EAGAIN))
				continue;
			r->output_error = n == 0 ? ETIMEDOUT : errno;
			return;
		}
		data += done;
		len -= (size_t)done;
	}
}

static void keep_tail(struct rf_run *r, const char *data, size_t len)
{
	size_t have = strlen(r->tail);
	size_t most = sizeof(r->tail) - 1;

	if (len > most) {
		data += len - most;
		len = most;
	}
	if (have + len > most) {
		size_t drop = have + len - most;

		memmove(r->tail, r->tail + drop, have - drop);
		have -= drop;
	}
	memcpy(r->tail + have, data, len);
	r->tail[have + len] = '\0';
}

/* Writes the first len bytes of the collected text as one line. */
static void put_line(struct rf_run *r, const struct rf_run_process *p, struct rf_run_stream *s,
		     size_t len)
{
	char newline = '\n';

	if (s->tail) {
		keep_tail(r, s->line, len);
		keep_tail(r, &newline, 1);
	}
	put(r, s->to, p->label, strlen(p->label));
	put(r, s->to, s->line, len);
	put(r, s->to, &newline, 1);
}

static void put_lines(struct rf_run *r, const struct rf_run_process *p, struct rf_run_stream *s,
		      bool all)
{
	size_t from = 0;
	char *end;

	while ((end = memchr(s->line + from, '\n', s->len - from)) != NULL) {
		char *begin = s->line;

		s->line += from;
		put_line(r, p, s, (size_t)(end - s->line));
		s->line = begin;
		from = (size_t)(end - begin) + 1;
	}
	memmove(s->line, s->line + from, s->len - from);
	s->len -= from;
	if (s->len != 0 && (all || s->len >= LINE_MAX_BYTES)) {
		put_line(r, p, s, s->len);
		s->len = 0;
	}
}

static void close_stream(struct rf_run *r, const struct rf_run_process *p, struct rf_run_stream *s)
{
	if (s->fd < 0)
		return;
	if (s->len != 0)
		put_lines(r, p, s, true);
	close(s->fd);
	s->fd = -1;
	free(s->line);
	s->line = NULL;
	s->len = s->room = 0;
}

static void read_stream(struct rf_run *r, const struct rf_run_process *p, struct rf_run_stream *s)
{
	ssize_t n;

	if (s->room - s->len < WRITE_MAX) {
		char *bigger = realloc(s->line, s->room + 4 * WRITE_MAX);

		if (!bigger) {
			r->output_error = ENOMEM;
			close_stream(r, p, s);
			return;
		}
		s->line = bigger;
		s->room += 4 * WRITE_MAX;
	}
	n = read(s->fd, s->line + s->len, s->room - s->len);
	if (n > 0) {
		s->len += (size_t)n;
		put_lines(r, p, s, false);
	} else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
		close_stream(r, p, s);
	}
}

/* ---- processes ---- */

static void child(char *const argv[], const int out[2], const int err[2], pid_t parent)
{
	const struct sigaction usual = {.sa_handler = SIG_DFL};
	int in = open("/dev/null", O_RDONLY);
	int error;

	setpgid(0, 0);
	/* if the parent is killed, the kernel ends this process */
	prctl(PR_SET_PDEATHSIG, (long)SIGTERM, 0L, 0L, 0L);
	if (getppid() != parent)
		_exit(1);
	if (in < 0 || dup2(in, 0) < 0 || dup2(out[1], 1) < 0 || dup2(err[1], 2) < 0)
		_exit(126);
	if (in > 2)
		close(in);
	signal(SIGPIPE, SIG_DFL);
	/* before execvp(), which may search for long, the handlers would take what is to end this
	 */
	for (size_t i = 0; i < HANDLED; i++)
		if (handled[i] != SIGHUP)
			sigaction(handled[i], &usual, NULL);
	rf_take_hangup(&usual);
	sigprocmask(SIG_SETMASK, &outside, NULL);
	execvp(argv[0], argv);
	error = errno;
	dprintf(2, "%s%s: %s\n", argv[0], error == ENOENT ? " (or its interpreter)" : "",
		strerror(error));
	_exit(error == ENOENT ? 127 : 126);
}

int rf_run_start(struct rf_run *r, struct rf_run_process *p, char *const argv[])
{
	pid_t parent = getpid();
	int out[2] = {-1, -1};
	int err[2] = {-1, -1};
	int error;

	(void)r;
	if (pipe2(out, O_CLOEXEC) != 0 || pipe2(err, O_CLOEXEC) != 0)
		goto fail;
	fflush(NULL);
	p->pid = fork();
	if (p->pid == 0)
		child(argv, out, err, parent);
	if (p->pid < 0) {
		p->pid = 0;
		goto fail;
	}
	setpgid(p->pid, p->pid); /* whichever of the two is first */
	close(out[1]);
	close(err[1]);
	fcntl(out[0], F_SETFL, O_NONBLOCK);
	fcntl(err[0], F_SETFL, O_NONBLOCK);
	p->out.fd = out[0];
	p->err.fd = err[0];
	return 0;
fail:
	error = -errno;
	for (int i = 0; i < 2; i++) {
		if (out[i] >= 0)
			close(out[i]);
		if (err[i] >= 0)
			close(err[i]);
	}
	return error;
}

/*
 * Notices which processes have ended. They are not reaped yet, so that nobody else can get their
 * numbers, which are also the numbers of their groups.
 */
static void notice_ends(struct rf_run *r)
{
	for (unsigned i = 0; i < r->count; i++) {
		struct rf_run_process *p = &r->p[i];
		siginfo_t info = {.si_pid = 0};

		if (p->pid == 0 || p->ended ||
		    waitid(P_PID, (id_t)p->pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
		    info.si_pid == 0)
			continue;
		p->ended = true;
		p->place = ++r->ends;
		p->signal = info.si_code == CLD_EXITED ? 0 : info.si_status;
		p->code = p->signal ? 128 + p->signal : info.si_status;
	}
}

/* Waits for output, for the end of a process, or for a signal; at most ns. */
static void wait_for_news(struct rf_run *r, uint64_t ns)
{
	struct pollfd fds[2 * (RF_RUN_RANKS + 1)];
	struct rf_run_stream *streams[2 * (RF_RUN_RANKS + 1)];
	const struct rf_run_process *owner[2 * (RF_RUN_RANKS + 1)];
	struct timespec t;
	nfds_t n = 0;

	for (unsigned i = 0; i < 2 * r->count; i++) {
		struct rf_run_process *p = &r->p[i / 2];
		struct rf_run_stream *s = i % 2 ? &p->err : &p->out;

		if (s->fd < 0)
			continue;
		fds[n] = (struct pollfd){.fd = s->fd, .events = POLLIN};
		streams[n] = s;
		owner[n++] = p;
	}
	if (ppoll(fds, n, span(ns, &t), &outside) <= 0)
		return;
	for (nfds_t i = 0; i < n; i++)
		if (fds[i].revents)
			read_stream(r, owner[i], streams[i]);
}

bool rf_run_until(struct rf_run *r, bool (*done)(const struct rf_run *), uint64_t ns)
{
	uint64_t begin = rf_now_ns();

	for (;;) {
		uint64_t passed = rf_now_ns() - begin;

		notice_ends(r);
		if (done(r))
			return true;
		if (passed >= ns)
			return false;
		wait_for_news(r, ns == UINT64_MAX ? ns : ns - passed);
	}
}

/* ---- the end ---- */

static unsigned ending, ending_count; /* the processes that rf_run_end() waits for */

static bool all_gone(const struct rf_run *r)
{
	for (unsigned i = ending; i < ending + ending_count; i++)
		if (r->p[i].pid && (!r->p[i].ended || r->p[i].out.fd >= 0 || r->p[i].err.fd >= 0))
			return false;
	return true;
}

/* A second Ctrl-C shortens the wait. */
static bool all_gone_or_hurry(const struct rf_run *r)
{
	return all_gone(r) || interrupts > 1;
}

static void signal_groups(struct rf_run *r, int number)
{
	for (unsigned i = ending; i < ending + ending_count; i++) {
		struct rf_run_process *p = &r->p[i];

		if (!p->pid)
			continue;
		p->was_told = p->was_told || !p->ended;
		kill(-p->pid, number);
	}
}

void rf_run_end(struct rf_run *r, unsigned first, unsigned count)
{
	ending = first;
	ending_count = count;
	notice_ends(r);
	signal_groups(r, SIGTERM);
	rf_run_until(r, all_gone_or_hurry, TERM_NS);
	signal_groups(r, SIGKILL);
	rf_run_until(r, all_gone, KILL_NS);
	for (unsigned i = first; i < first + count; i++) {
		struct rf_run_process *p = &r->p[i];

		close_stream(r, p, &p->out);
		close_stream(r, p, &p->err);
		if (p->pid)
			waitpid(p->pid, NULL, WNOHANG);
		p->pid = 0;
	}
}

/* The parent of a process, or 0. */
static int parent_of(const char *pid)
{
	char path[64];
	char line[512];
	char *end;
	int parent = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%.20s/stat", pid);
	f = fopen(path, "re");
	if (!f)
		return 0;
	/* "PID (NAME) STATE PARENT ...", and the name may contain anything */
	end = fgets(line, sizeof(line), f) ? strrchr(line, ')') : NULL;
	fclose(f);
	if (!end || sscanf(end + 1, " %*c %d", &parent) != 1)
		return 0;
	return parent;
}

/* Kills every child of this process; it is not reaped meanwhile. Returns their number. */
static unsigned kill_children(void)
{
	DIR *d = opendir("/proc");
	struct dirent *e;
	unsigned n = 0;

	if (!d)
		return 0;
	while ((e = readdir(d)) != NULL) {
		if (!isdigit((unsigned char)e->d_name[0]) || parent_of(e->d_name) != getpid())
			continue;
		kill((pid_t)strtol(e->d_name, NULL, 10), SIGKILL);
		n++;
	}
	closedir(d);
	return n;
}

void rf_run_finish(struct rf_run *r)
{
	uint64_t begin = rf_now_ns();

	(void)r;
	/* what these have started is adopted as soon as they are gone */
	while (kill_children() != 0 && rf_now_ns() - begin < KILL_NS) {
		struct timespec t;

		ppoll(NULL, 0, span(20 * MS, &t), &outside);
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
	}
}
