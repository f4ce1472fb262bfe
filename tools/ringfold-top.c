/* ringfold top: the numbers of a box's page on a terminal. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "base/opt.h"
#include "tools/top.h"

#define COLUMNS 80u
#define CLEAR "\033[H\033[2J"

static volatile sig_atomic_t stopped;

static void on_signal(int number)
{
	(void)number;
	stopped = 1;
}

static const char *const styles[] = {
	[RF_TOP_PLAIN] = "",        [RF_TOP_HEAD] = "\033[1m", [RF_TOP_BAD] = "\033[31m",
	[RF_TOP_WAIT] = "\033[33m", [RF_TOP_SOFT] = "\033[2m",
};

/* On a terminal the page is cut to its size; elsewhere lines have 80 columns. */
static void print_page(const struct rf_top_page *page, bool terminal)
{
	bool colours = rf_opt_has_colours();
	struct winsize size;
	unsigned columns = COLUMNS, lines = RF_TOP_LINES;

	if (terminal && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
		columns = size.ws_col;
		lines = size.ws_row > 1 ? size.ws_row - 1u : 1u;
	}
	for (unsigned i = 0; i < page->count && i < lines; i++) {
		const struct rf_top_line *l = &page->line[i];
		const char *on = colours ? styles[l->style] : "";

		printf("%s%.*s%s\n", on, (int)columns, l->text, *on ? "\033[0m" : "");
	}
	fflush(stdout);
}

static void pause_ms(long ms)
{
	struct timespec t = {ms / 1000, ms % 1000 * 1000000};

	nanosleep(&t, NULL);
}

/* Rates need two answers; a box reads its counters at most every 250 ms. */
static int print_once(const struct rf_top_url *url)
{
	static struct rf_top_page page;
	char why[400];
	json_t *before = rf_top_get(url, why, sizeof(why)), *now = NULL;

	if (before) {
		pause_ms(500);
		now = rf_top_get(url, why, sizeof(why));
	}
	if (!now) {
		fprintf(stderr, "ringfold top: %s\n", why);
		json_decref(before);
		return RF_EXIT_FAILED;
	}
	rf_top_show(&page, before, now);
	print_page(&page, false);
	json_decref(before);
	json_decref(now);
	return RF_EXIT_GOOD;
}

/* Until Ctrl-C. A box that does not answer at the beginning is an error; later it may come back. */
static int print_always(const struct rf_top_url *url)
{
	static struct rf_top_page page;
	bool terminal = isatty(STDOUT_FILENO);
	json_t *before = NULL;
	char why[400];

	while (!stopped && !ferror(stdout)) {
		json_t *now = rf_top_get(url, why, sizeof(why));

		if (!now && !before && page.count == 0) {
			fprintf(stderr, "ringfold top: %s\n", why);
			return RF_EXIT_FAILED;
		}
		if (now) {
			rf_top_show(&page, before, now);
		} else {
			page.line[0].style = RF_TOP_BAD;
			snprintf(page.line[0].text, sizeof(page.line[0].text), "no answer: %.150s",
				 why);
		}
		if (terminal)
			fputs(CLEAR, stdout);
		print_page(&page, terminal);
		if (!terminal)
			putchar('\n');
		json_decref(before);
		before = now;
		if (!stopped)
			pause_ms(1000);
	}
	json_decref(before);
	return ferror(stdout) ? RF_EXIT_FAILED : RF_EXIT_GOOD;
}

int main(int argc, char **argv)
{
	const struct sigaction act = {.sa_handler = on_signal};
	bool once = false;
	const struct rf_opt table[] = {
		{RF_OPT_FLAG, "once", '1', &once, NULL, "print once, and end", NULL},
		{RF_OPT_END, NULL, 0, NULL, NULL, NULL, NULL},
	};
	const struct rf_opt_page page = {
		"ringfold top [--once] [URL]",
		"Shows the page of a box on a terminal, once a second: errors in words, rates of "
		"ports and\nhosts, groups and the rank that they wait for, the last events. The "
		"box is `ringfold box\n--http` or ringfoldd. Without URL it is "
		"http://127.0.0.1:9477. Ctrl-C ends it.",
		"  ringfold top\n"
		"  ringfold top --once http://box7:9477\n\n"
		"exit codes: 0 good, 1 no answer, 2 usage",
		table};
	struct rf_top_url url;
	int n = rf_opt_parse(&page, argc, argv);

	if (n < 0)
		return n == -1 ? RF_EXIT_GOOD : RF_EXIT_USAGE;
	if (argc - n > 1) {
		fprintf(stderr, "ringfold top takes one URL\n");
		return RF_EXIT_USAGE;
	}
	if (rf_top_url_parse(n < argc ? argv[n] : "127.0.0.1", &url) != 0) {
		fprintf(stderr, "ringfold top: \"%s\" is not a URL like http://127.0.0.1:9477\n",
			argv[n]);
		return RF_EXIT_USAGE;
	}
	sigaction(SIGINT, &act, NULL);
	sigaction(SIGTERM, &act, NULL);
	return once ? print_once(&url) : print_always(&url);
}
