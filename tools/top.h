/* Parts of ringfold top. */
#ifndef RF_TOOLS_TOP_H
#define RF_TOOLS_TOP_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#define RF_TOP_LINES 400u

/* Where a box serves its status. */
struct rf_top_url {
	char host[256];
	char port[8];
};

/* "http://HOST:PORT/", "HOST:PORT", "HOST"; 0, or -1 if the text is something else. */
int rf_top_url_parse(const char *text, struct rf_top_url *to);
/*
 * GET /status.json. Returns the object, which the caller releases, or NULL with a reason. Waits at
 * most five seconds.
 */
json_t *rf_top_get(const struct rf_top_url *url, char *why, size_t room);

enum rf_top_style { RF_TOP_PLAIN, RF_TOP_HEAD, RF_TOP_BAD, RF_TOP_WAIT, RF_TOP_SOFT };

struct rf_top_line {
	enum rf_top_style style;
	char text[200]; /* printable ASCII */
};

struct rf_top_page {
	unsigned count;
	struct rf_top_line line[RF_TOP_LINES];
};

/* Fills in the page: what a status shows, and its rates since an earlier one (NULL: none). */
void rf_top_show(struct rf_top_page *page, const json_t *before, const json_t *now);

#endif
