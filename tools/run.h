/*
 * Processes that `ringfold run` starts: each in a process group of its own, its output by line.
 *
 *	rf_run_init(&run);
 *	rf_run_start(&run, p, argv);          for each process
 *	rf_run_until(&run, condition, ns);    moves output and notices ends
 *	rf_run_end(&run, first, count);       TERM, then KILL, to whole groups
 *	rf_run_finish(&run);                  whatever left its group, too
 *
 * One thread. Signals are blocked except while rf_run_until() waits.
 */
#ifndef RF_TOOLS_RUN_H
#define RF_TOOLS_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define RF_RUN_RANKS 64u
#define RF_RUN_TAIL 2048u

/* One output of a process: collected into lines, each written with a label in front of it. */
struct rf_run_stream {
	int fd; /* the pipe, -1: closed */
	int to; /* own descriptor to which lines are written; -1: nowhere */
	char *line;
	size_t len;
	size_t room;
	bool tail; /* also keep the last lines in rf_run.tail */
};

struct rf_run_process {
	char name[16];  /* "rank 3" */
	char label[16]; /* "[3] " */
	pid_t pid; /* 0: not started; a process that ended keeps its number until rf_run_end() */
	bool ended;
	bool was_told;  /* this program sent it a signal */
	int code;       /* exit code, or 128 + signal */
	int signal;     /* signal that ended it, or 0 */
	unsigned place; /* ended as the first, second ... of all; 0: still running */
	struct rf_run_stream out;
	struct rf_run_stream err;
};

struct rf_run {
	struct rf_run_process p[RF_RUN_RANKS + 1]; /* p[0] is the box, p[1 + r] is rank r */
	unsigned count;
	unsigned ends;          /* processes that have ended */
	int output_error;       /* errno of a write to stdout or stderr that failed, or 0 */
	char tail[RF_RUN_TAIL]; /* the end of what streams with `tail` wrote, a string */
};

/*
 * Installs signal handlers and adopts orphaned descendants. An ignored SIGHUP stays ignored, here
 * and in children. Returns 0, or a negative errno.
 */
int rf_run_init(struct rf_run *r);

/* Number of SIGINT, SIGTERM and SIGHUP received; the last of them in *number if any. */
unsigned rf_run_interrupts(int *number);

/*
 * Starts argv[0] (searched in PATH) with the present environment, stdin from /dev/null. Returns 0,
 * or a negative errno if no process could be made; a program that cannot be executed is reported
 * on the process's stderr and ends with 126 or 127.
 */
int rf_run_start(struct rf_run *r, struct rf_run_process *p, char *const argv[]);

/* Returns true once done(r) holds, false after ns nanoseconds (UINT64_MAX: no limit). */
bool rf_run_until(struct rf_run *r, bool (*done)(const struct rf_run *), uint64_t ns);

/*
 * Ends p[first] to p[first + count - 1] and all processes in their groups, and reads what they
 * still write: SIGTERM first, SIGKILL two seconds later.
 */
void rf_run_end(struct rf_run *r, unsigned first, unsigned count);

/* Ends descendants that left their groups, and frees everything. */
void rf_run_finish(struct rf_run *r);

/*
 * Makes a folder for sockets under TMPDIR, and removes those of runs that were killed. Returns 0,
 * or -1 with a reason in why. *lock stays open for as long as the folder is in use.
 */
int rf_run_folder(char *path, size_t room, int *lock, char *why, size_t why_room);

/* Removes it. */
void rf_run_folder_remove(const char *path, int lock);

#endif
