/*
 * Command lines from one table: the same entries parse the arguments and print --help, and the
 * default that --help shows is the value that the variable holds.
 */
#ifndef RF_TOOLS_OPT_H
#define RF_TOOLS_OPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum rf_opt_kind {
	RF_OPT_END,     /* end of the table */
	RF_OPT_PROGRAM, /* first in the table: options end at the first argument, which names a
			   program */
	RF_OPT_HEADING, /* text is a line between options in --help */
	RF_OPT_FLAG,    /* bool, becomes true, takes no argument */
	RF_OPT_STRING,  /* const char *, points into argv */
	RF_OPT_UINT,    /* unsigned */
	RF_OPT_U64,     /* uint64_t, decimal or 0x... */
	RF_OPT_SIZE,    /* uint64_t bytes: 64, 4K, 16M, 1G (powers of 1024) */
	RF_OPT_RATE,    /* uint64_t bits per second: 100G, 2500M (powers of 1000) */
	RF_OPT_TIME, /* uint64_t nanoseconds: 500ns, 1us, 20ms, 3s; a bare number is in seconds */
	RF_OPT_FRACTION, /* double 0..1: 0.01 or 1% */
	RF_OPT_CHOICE,   /* const char *, one of the words in arg ("a|b|c"); points to a string that
			    stays valid */
	RF_OPT_CALL      /* calls call(to, value); arg NULL: takes no argument */
};

struct rf_opt {
	enum rf_opt_kind kind;
	const char *name; /* long name without the dashes */
	char letter;      /* short name, or 0 */
	void *to;         /* variable of the kind's type */
	const char *arg;  /* name of the argument in --help; the words of a CHOICE */
	const char *text; /* what it does; \n begins a new line */
	/* RF_OPT_CALL: 0, or negative with a message already printed to stderr. */
	int (*call)(void *to, const char *value);
};

struct rf_opt_page {
	const char *usage;    /* "ringfold sim [options]" */
	const char *intro;    /* what the program does */
	const char *examples; /* printed at the end, or NULL */
	const struct rf_opt *opts;
};

/* Exit codes of all ringfold tools. */
enum rf_exit {
	RF_EXIT_GOOD = 0,
	RF_EXIT_FAILED = 1,
	RF_EXIT_USAGE = 2,
	RF_EXIT_WRONG_DATA = 3,
	RF_EXIT_BOUND_MISSED = 4,
	RF_EXIT_SKIPPED = 77
};

/*
 * Parses argv, and lets the program fail at its end if stdout could not be written. Returns the
 * index of the first non-option argument (argc if there is none); -1 after
 * --help or --version, which has been printed to stdout (exit with RF_EXIT_GOOD); -2 on bad usage,
 * with a message on stderr (exit with RF_EXIT_USAGE).
 */
int rf_opt_parse(const struct rf_opt_page *page, int argc, char **argv);

/* The option whose call() is running, without the dashes, for its message; "" outside of calls. */
const char *rf_opt_name(void);

/*
 * A key from argv, NULL if none was given. The copy lives as long as the program; in argv it is
 * overwritten, since every user can see argv in the process list.
 */
const char *rf_opt_secret(const char *value);

/*
 * For programs with commands of their own: true if word is --help, --version or the like, which has
 * been answered on stdout.
 */
bool rf_opt_asked(const struct rf_opt_page *page, const char *word);

/* Whether stdout is a terminal that may show colours; NO_COLOR forbids them (no-color.org). */
bool rf_opt_has_colours(void);

/* The text printed by --help, with bold headings on a terminal unless NO_COLOR is set. */
void rf_opt_help(const struct rf_opt_page *page);

/*
 * The same parsers for values inside other strings. Returns 0, or -1 if the text is not
 * valid; on -1 the value is not written.
 */
int rf_opt_uint(const char *text, unsigned *value);
int rf_opt_u64(const char *text, uint64_t *value);
int rf_opt_size(const char *text, uint64_t *value);
int rf_opt_rate(const char *text, uint64_t *value);
int rf_opt_time(const char *text, uint64_t *value);
int rf_opt_fraction(const char *text, double *value);

#endif
