/* What a table of options looks like on paper: shared by the files of base/opt. */
#ifndef RF_BASE_OPT_PAGE_H
#define RF_BASE_OPT_PAGE_H

#include "base/opt.h"

#define RF_OPTS_MAX 64

/* Whether an entry is an option, and whether that takes a value. */
bool rf_opt_is(const struct rf_opt *o);
bool rf_opt_takes(const struct rf_opt *o);

/* " (default 4K)", or nothing. */
void rf_opt_default(const struct rf_opt *o);

void rf_opt_version(void);

/*
 * At the end of the program, checks that stdout could be written; else the exit code is 1. From now
 * on no file of the program gets the number of a standard descriptor that the caller has closed.
 */
void rf_opt_watch_stdout(void);

/*
 * --help=WHAT: NULL for the text, "man" for the source of a man page, "words" for a list of the
 * options for completion. Returns 0, or -1 if there is no such form.
 */
int rf_opt_help_as(const struct rf_opt_page *page, const char *what);

void rf_opt_man(const struct rf_opt_page *page);
void rf_opt_words(const struct rf_opt_page *page);

#endif
