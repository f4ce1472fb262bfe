/* The lines of ringfold top, from two answers of a box. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "tools/top.h"

#define EVENTS 10u

static void line(struct rf_top_page *page, enum rf_top_style style, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void line(struct rf_top_page *page, enum rf_top_style style, const char *format, ...)
{
	struct rf_top_line *l = &page->line[page->count];
	va_list list;

	if (page->count == RF_TOP_LINES)
		return;
	page->count++;
	l->style = style;
	va_start(list, format);
	vsnprintf(l->text, sizeof(l->text), format, list);
	va_end(list);
	/* What comes from the network must not command the terminal. */
	for (char *c = l->text; *c; c++)
		if (*c < ' ' || *c > '~')
			*c = '?';
}

/* ---- reading; what is absent is 0, "" or an empty list ---- */

static int64_t number(const json_t *o, const char *name)
{
	return json_integer_value(json_object_get(o, name));
}

static const char *text(const json_t *o, const char *name)
{
	const char *value = json_string_value(json_object_get(o, name));

	return value ? value : "";
}

static bool has(const json_t *o, const char *name)
{
	return json_object_get(o, name) != NULL;
}

/* The entry of a list whose value of that name is the same as that of an object. */
static const json_t *same(const json_t *list, const json_t *o, const char *name, const char *also)
{
	size_t i;
	json_t *v;

	json_array_foreach(list, i, v)
	{
		if (json_equal(json_object_get(v, name), json_object_get(o, name)) &&
		    (!also || json_equal(json_object_get(v, also), json_object_get(o, also))))
			return v;
	}
	return NULL;
}

/* ---- rates ---- */

struct rates {
	const json_t *before, *now;
	double seconds; /* between them; 0: no rates */
};

/* By how much a value grows in a second. bits: it wraps (24, 32); 0: it does not. */
static double rate(const struct rates *r, const json_t *was, const json_t *is, const char *name,
		   unsigned bits)
{
	int64_t grown = number(is, name) - number(was, name);

	if (r->seconds <= 0 || !was || !has(was, name) || !has(is, name))
		return 0;
	if (bits && grown < 0)
		grown += INT64_C(1) << bits;
	return grown > 0 ? (double)grown / r->seconds : 0;
}

static const char *amount(char *to, size_t room, double n)
{
	if (n >= 1e9)
		snprintf(to, room, "%.4g G", n / 1e9);
	else if (n >= 1e6)
		snprintf(to, room, "%.4g M", n / 1e6);
	else if (n >= 1e5)
		snprintf(to, room, "%.4g k", n / 1e3);
	else
		snprintf(to, room, "%.0f", n);
	return to;
}

static const char *duration(char *to, size_t room, int64_t ms)
{
	if (ms < 10000)
		snprintf(to, room, "%" PRId64 " ms", ms);
	else if (ms < 600000)
		snprintf(to, room, "%" PRId64 " s", ms / 1000);
	else if (ms < 36000000)
		snprintf(to, room, "%" PRId64 " min", ms / 60000);
	else
		snprintf(to, room, "%" PRId64 " h", ms / 3600000);
	return to;
}

#define AMOUNT(n) amount((char[24]){0}, 24, n)
#define DURATION(ms) duration((char[32]){0}, 32, ms)

/* Bits per second of the groups' payload at a port, for hardware, which does not count bytes. */
static double payload(const struct rates *r, int64_t port, const char *name)
{
	const json_t *groups = json_object_get(r->now, "groups");
	const json_t *old = json_object_get(r->before, "groups");
	double sum = 0;
	size_t i, k;
	json_t *g, *m;

	json_array_foreach(groups, i, g)
	{
		const json_t *was = json_object_get(same(old, g, "job", "group"), "members");
		const json_t *members = json_object_get(g, "members");

		json_array_foreach(members, k, m)
		{
			if (number(m, "port") == port)
				sum += rate(r, same(was, m, "rank", NULL), m, name, 24) * 8 *
				       (double)number(g, "mtu");
		}
	}
	return sum;
}

/* ---- parts of the page ---- */

static void show_state(struct rf_top_page *page, const json_t *s)
{
	const char *about = text(s, "about");

	line(page, RF_TOP_HEAD, "%s %s, up %s", text(s, "program"), text(s, "version"),
	     DURATION(number(s, "uptime_ms")));
	if (*about)
		line(page, RF_TOP_SOFT, "%s", about);
	if (json_is_true(json_object_get(s, "open_lab")))
		line(page, RF_TOP_SOFT, "no keys: anyone may command it");
	if (json_is_true(json_object_get(s, "hold")))
		line(page, RF_TOP_WAIT, "hold time: RC data of no group is dropped");
}

static void show_faults(struct rf_top_page *page, const json_t *s)
{
	const json_t *faults = json_object_get(s, "faults");
	size_t i;
	json_t *f;

	if (json_array_size(faults) == 0)
		return;
	line(page, RF_TOP_PLAIN, "%s", "");
	line(page, RF_TOP_BAD, "errors since the start");
	json_array_foreach(faults, i, f)
	{
		line(page, RF_TOP_BAD, "  %s: %s: %s", text(f, "where"), text(f, "text"),
		     AMOUNT((double)number(f, "count")));
	}
}

static void show_ports(struct rf_top_page *page, const struct rates *r)
{
	const json_t *ports = json_object_get(r->now, "ports");
	const json_t *old = json_object_get(r->before, "ports");
	size_t i;
	json_t *p;

	line(page, RF_TOP_PLAIN, "%s", "");
	line(page, RF_TOP_HEAD, "%4s %10s %10s %10s %10s %9s %9s %7s", "port", "in Gb/s",
	     "out Gb/s", "in pkt/s", "out pkt/s", "stored", "repeated", "gaps");
	json_array_foreach(ports, i, p)
	{
		const json_t *was = same(old, p, "port", NULL);
		bool bytes = has(p, "rx_bytes");
		int64_t n = number(p, "port");
		double in = bytes ? rate(r, was, p, "rx_bytes", 0) * 8 : payload(r, n, "next");
		double out = bytes ? rate(r, was, p, "tx_bytes", 0) * 8 : payload(r, n, "sent");

		line(page, RF_TOP_PLAIN, "%4" PRId64 " %10.3f %10.3f %10s %10s %9s %9s %7s", n,
		     in * 1e-9, out * 1e-9, AMOUNT(rate(r, was, p, "rx_frames", 32)),
		     AMOUNT(rate(r, was, p, "tx_frames", 32)),
		     AMOUNT((double)number(p, "accepted")), AMOUNT((double)number(p, "tx_repeat")),
		     AMOUNT((double)number(p, "gap")));
	}
}

static void show_hosts(struct rf_top_page *page, const struct rates *r)
{
	const json_t *hosts = json_object_get(r->now, "hosts");
	const json_t *old = json_object_get(r->before, "hosts");
	size_t i;
	json_t *h;

	if (json_array_size(hosts) == 0)
		return;
	line(page, RF_TOP_PLAIN, "%s", "");
	line(page, RF_TOP_HEAD, "%-16s %4s %-10s %8s %8s %9s %9s %6s", "host", "port", "link",
	     "in Gb/s", "out Gb/s", "in pkt/s", "out pkt/s", "lost");
	json_array_foreach(hosts, i, h)
	{
		const json_t *was = same(old, h, "name", NULL);
		const json_t *link = json_object_get(h, "connected");

		line(page, json_is_false(link) ? RF_TOP_SOFT : RF_TOP_PLAIN,
		     "%-16.16s %4" PRId64 " %-10s %8.3f %8.3f %9s %9s %6s", text(h, "name"),
		     number(h, "port"),
		     json_is_true(link)    ? "connected"
		     : json_is_false(link) ? "none"
					   : "unknown",
		     rate(r, was, h, "rx_bytes", 0) * 8e-9, rate(r, was, h, "tx_bytes", 0) * 8e-9,
		     AMOUNT(rate(r, was, h, "rx_frames", 0)),
		     AMOUNT(rate(r, was, h, "tx_frames", 0)), AMOUNT((double)number(h, "lost")));
	}
}

static void show_group(struct rf_top_page *page, const struct rates *r, const json_t *g)
{
	const json_t *was = same(json_object_get(r->before, "groups"), g, "job", "group");
	bool failed = strcmp(text(g, "state"), "failed") == 0;
	double packets = rate(r, was, g, "head", 24);
	char ranks[24];

	snprintf(ranks, sizeof(ranks), "%" PRId64 "/%" PRId64, number(g, "joined"),
		 number(g, "ranks"));
	line(page, failed ? RF_TOP_BAD : RF_TOP_PLAIN,
	     "%-20s %5" PRId64 " %-9s %7s %6" PRId64 " %11s %15.3f", text(g, "job"),
	     number(g, "group"), text(g, "state"), ranks, number(g, "slots"), AMOUNT(packets),
	     packets * (double)number(g, "mtu") * 8e-9);
	if (failed)
		line(page, RF_TOP_BAD, "  %s", text(g, "reason_text"));
	else if (number(g, "awaited_ms") > 0)
		line(page, RF_TOP_WAIT, "  waits for rank %" PRId64 ", for %s",
		     number(g, "straggler"), DURATION(number(g, "awaited_ms")));
	else if (was && number(was, "tail") == number(g, "tail") && has(g, "tail") &&
		 number(g, "unacknowledged_by") >= 0)
		line(page, RF_TOP_WAIT, "  waits for rank %" PRId64 " to acknowledge results",
		     number(g, "unacknowledged_by"));
}

static void show_groups(struct rf_top_page *page, const struct rates *r)
{
	const json_t *groups = json_object_get(r->now, "groups");
	size_t i;
	json_t *g;

	line(page, RF_TOP_PLAIN, "%s", "");
	if (!groups) {
		line(page, RF_TOP_SOFT,
		     "groups are not shown: they are in the memory of the box's own processor");
		return;
	}
	line(page, RF_TOP_HEAD, "%-20s %5s %-9s %7s %6s %11s %15s", "job", "group", "state",
	     "ranks", "slots", "packets/s", "Gb/s each rank");
	json_array_foreach(groups, i, g)
	{
		show_group(page, r, g);
	}
	if (json_array_size(groups) == 0)
		line(page, RF_TOP_SOFT, "no job has joined");
}

static void show_events(struct rf_top_page *page, const json_t *s)
{
	const json_t *events = json_object_get(s, "events");
	size_t n = json_array_size(events);

	line(page, RF_TOP_PLAIN, "%s", "");
	line(page, RF_TOP_HEAD, "events");
	for (size_t i = 0; i < n && i < EVENTS; i++) {
		const json_t *e = json_array_get(events, n - 1 - i);

		line(page, json_is_true(json_object_get(e, "bad")) ? RF_TOP_BAD : RF_TOP_PLAIN,
		     "%8s ago  %s", DURATION(number(s, "uptime_ms") - number(e, "ms")),
		     text(e, "text"));
	}
}

void rf_top_show(struct rf_top_page *page, const json_t *before, const json_t *now)
{
	struct rates r = {.before = before, .now = now};

	page->count = 0;
	/* A box that was started again counts from 0. */
	if (before && number(now, "uptime_ms") >= number(before, "uptime_ms"))
		r.seconds = (double)(number(now, "read_ms") - number(before, "read_ms")) * 1e-3;
	show_state(page, now);
	show_faults(page, now);
	show_ports(page, &r);
	show_hosts(page, &r);
	show_groups(page, &r);
	show_events(page, now);
}
