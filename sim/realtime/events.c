#include "sim/realtime/events.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "proto/rf_ctl.h"
#include "sim/realtime/internal.h"

#define GROUPS 64u                 /* groups remembered; the oldest is forgotten */
#define LOOK_NS UINT64_C(10000000) /* between two looks at the links */
#define SECOND_NS UINT64_C(1000000000)
#define LINES 20u /* per second: hosts can cause events as they like */
#define FRAME_MAX (64u + RF_CTL_MESSAGE_MAX)

struct group {
	uint64_t job;
	uint16_t group;
	uint8_t result; /* the last one printed, enum rf_ctl_result */
};

struct rf_rt_events {
	struct group group[GROUPS];
	unsigned next; /* the place of the next new group */
	int link[RF_RT_PORTS + 8];
	uint64_t looked;
	uint64_t second; /* since when lines are counted */
	unsigned lines;
	unsigned hidden;
	bool print;
	uint64_t begin; /* ns */
	uint32_t count; /* all that were kept */
	struct rf_view_event last[RF_VIEW_EVENTS];
};

struct rf_rt_events *rf_rt_events_new(bool print)
{
	struct rf_rt_events *e = calloc(1, sizeof(*e));

	if (e) {
		e->print = print;
		e->begin = rf_now_ns();
	}
	return e;
}

void rf_rt_events_free(struct rf_rt_events *e)
{
	free(e);
}

enum kind { HOST, GROUP, GROUP_FAILED };

static void say(struct rf_rt_events *e, enum kind kind, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void say(struct rf_rt_events *e, enum kind kind, const char *format, ...)
{
	struct rf_view_event *keep = &e->last[e->count % RF_VIEW_EVENTS];
	uint64_t now = rf_now_ns();
	va_list list;

	if (now - e->second >= SECOND_NS) {
		if (e->hidden && e->print)
			fprintf(stderr, "ringfold box: %u more events\n", e->hidden);
		e->second = now;
		e->lines = e->hidden = 0;
	}
	if (e->lines == LINES) {
		e->hidden++;
		return;
	}
	e->lines++;
	*keep = (struct rf_view_event){.number = e->count++,
				       .ms = (now - e->begin) / 1000000u,
				       .bad = kind == GROUP_FAILED,
				       .host = kind == HOST};
	va_start(list, format);
	vsnprintf(keep->text, sizeof(keep->text), format, list);
	va_end(list);
	if (e->print)
		fprintf(stderr, "ringfold box: %s\n", keep->text);
	rf_view_clean(keep->text);
}

/* The entry of a group; a new one if it is not known yet. */
static struct group *find(struct rf_rt_events *e, const struct rf_ctl_header *h)
{
	struct group *g;

	for (unsigned i = 0; i < GROUPS; i++)
		if (e->group[i].result && e->group[i].job == h->job &&
		    e->group[i].group == h->group)
			return &e->group[i];
	g = &e->group[e->next++ % GROUPS];
	*g = (struct group){.job = h->job, .group = h->group};
	return g;
}

/* Answers that say nothing about the group: the client repeats, or asks for what has gone. */
static bool is_about_request(unsigned reason)
{
	return reason == RF_CTL_R_NONCE || reason == RF_CTL_R_GROUP_UNKNOWN ||
	       reason == RF_CTL_R_ENDED;
}

void rf_rt_events_frame(struct rf_rt_events *e, const uint8_t *frame, size_t len)
{
	struct rf_ctl_header h;
	struct rf_ctl_reply r;
	struct rf_ctl_addr a;
	const uint8_t *msg;
	char which[48] = "";
	char rank[24] = "";
	struct group *g;
	size_t size;

	if (len > FRAME_MAX || rf_ctl_frame_get(frame, len, &a, &msg, &size) != RF_CTL_FRAME_OK ||
	    rf_ctl_header_get(msg, size, &h) != 0 || h.verb == RF_CTL_STATUS || h.job == 0 ||
	    rf_ctl_reply_get(msg, &h, &r) != RF_CTL_R_NONE)
		return;
	if (r.result != RF_CTL_READY && r.result != RF_CTL_FAILED && r.result != RF_CTL_ENDED)
		return;
	if (r.result == RF_CTL_FAILED && is_about_request(r.u.failed.reason))
		return;
	g = find(e, &h);
	/* every rank is told, some of them more than once; a failed group ends in silence */
	if (g->result == r.result || (g->result != RF_CTL_READY && r.result == RF_CTL_ENDED))
		return;
	g->result = r.result;
	if (h.group)
		snprintf(which, sizeof(which), ", group %u", h.group);
	if (r.result == RF_CTL_READY) {
		say(e, GROUP, "job %" PRIu64 "%s ready: %u ranks, %u slots", h.job, which,
		    r.u.ready.ranks, 1u << r.u.ready.slots_log2);
	} else if (r.result == RF_CTL_ENDED) {
		say(e, GROUP, "job %" PRIu64 "%s ended", h.job, which);
	} else {
		if (r.u.failed.rank != RF_CTL_NO_RANK)
			snprintf(rank, sizeof(rank), " (rank %u)", r.u.failed.rank);
		say(e, GROUP_FAILED, "job %" PRIu64 "%s failed: %s%s", h.job, which,
		    rf_ctl_reason_text(r.u.failed.reason), rank);
	}
}

size_t rf_rt_events_last(const struct rf_rt_events *e, struct rf_view_event *to, size_t room)
{
	size_t n = e->count < RF_VIEW_EVENTS ? e->count : RF_VIEW_EVENTS;

	n = n < room ? n : room;
	for (size_t i = 0; i < n; i++)
		to[i] = e->last[(e->count - n + i) % RF_VIEW_EVENTS];
	return n;
}

void rf_rt_events_links(struct rf_rt_events *e, const struct rf_rt *b, uint64_t now)
{
	if (now - e->looked < LOOK_NS)
		return;
	e->looked = now;
	for (unsigned i = 0; i < b->source_count; i++) {
		const struct rf_rt_port *p = b->source[i].port;
		int link = p->ops->link(p);

		if (link < 0 || link == e->link[i])
			continue;
		e->link[i] = link;
		say(e, HOST, "host %s %s", p->name, link ? "connected" : "disconnected");
	}
}
