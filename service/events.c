/* What has happened, oldest first: the firmware's log, and what a simulated box has seen. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "service/json.h"
#include "service/read.h"
#include "service/texts.h"

#define ALL (RF_FW_LOG + RF_VIEW_EVENTS)

static void group_text(char *to, size_t room, const struct rf_ctl_log_entry *e)
{
	if (e->group)
		snprintf(to, room, "job %" PRIu64 ", group %u", e->job, e->group);
	else
		snprintf(to, room, "job %" PRIu64, e->job);
}

static void log_text(struct rf_view_event *to, const struct rf_ctl_log_entry *e)
{
	char group[48], rank[24] = "", times[24] = "";
	char *text = to->text;
	size_t room = sizeof(to->text);

	group_text(group, sizeof(group), e);
	if (e->rank != RF_CTL_NO_RANK)
		snprintf(rank, sizeof(rank), " (rank %u)", e->rank);
	if (e->count > 1)
		snprintf(times, sizeof(times), ", %u times", e->count);
	switch (e->kind) {
	case RF_CTL_EV_START:
		snprintf(text, room, "the firmware started%s", times);
		break;
	case RF_CTL_EV_JOINING:
		snprintf(text, room, "%s: ranks begin to join%s", group, times);
		break;
	case RF_CTL_EV_READY:
		snprintf(text, room, "%s ready%s", group, times);
		break;
	case RF_CTL_EV_FAILED:
		snprintf(text, room, "%s failed: %s%s%s", group, rf_ctl_reason_text(e->reason),
			 rank, times);
		break;
	case RF_CTL_EV_ENDED:
		snprintf(text, room, "%s ended%s", group, times);
		break;
	case RF_CTL_EV_REFUSED:
		snprintf(text, room, "%s refused: %s%s%s", group, rf_ctl_reason_text(e->reason),
			 rank, times);
		break;
	case RF_CTL_EV_RESET:
		snprintf(text, room, "the box was reset%s", times);
		break;
	case RF_CTL_EV_FULL:
		snprintf(text, room, "the hold time is prolonged: the connection table is full%s",
			 times);
		break;
	case RF_CTL_EV_CLAIMED:
	case RF_CTL_EV_UNCLAIMED:
		snprintf(text, room, "%02x:%02x:%02x:%02x:%02x:%02x %s the address of port %u%s",
			 (unsigned int)(e->job >> 40 & 255u), (unsigned int)(e->job >> 32 & 255u),
			 (unsigned int)(e->job >> 24 & 255u), (unsigned int)(e->job >> 16 & 255u),
			 (unsigned int)(e->job >> 8 & 255u), (unsigned int)(e->job & 255u),
			 e->kind == RF_CTL_EV_CLAIMED ? "claims" : "no longer claims", e->group,
			 times);
		break;
	default:
		snprintf(text, room, "event %u%s", e->kind, times);
	}
	to->bad = e->kind == RF_CTL_EV_FAILED || e->kind == RF_CTL_EV_REFUSED ||
		  e->kind == RF_CTL_EV_RESET || e->kind == RF_CTL_EV_FULL ||
		  e->kind == RF_CTL_EV_CLAIMED;
}

static size_t from_log(struct rf_fw *fw, struct rf_view_event *to)
{
	uint32_t first = fw->log_next > RF_FW_LOG ? fw->log_next - RF_FW_LOG : 0;
	size_t n = 0;

	for (uint32_t i = first; i < fw->log_next; i++, n++) {
		const struct rf_ctl_log_entry *e = &fw->log[i % RF_FW_LOG];

		to[n] = (struct rf_view_event){.number = i, .host = false};
		/* The log has the low word of the time. */
		to[n].ms = fw->now_ms - (uint32_t)((uint32_t)fw->now_ms - e->ms);
		log_text(&to[n], e);
	}
	return n;
}

static int by_time(const void *a, const void *b)
{
	const struct rf_view_event *x = a, *y = b;

	if (x->ms != y->ms)
		return x->ms < y->ms ? -1 : 1;
	if (x->host != y->host)
		return x->host ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

static json_t *event(const struct rf_view_event *e)
{
	struct rf_json o = rf_json_object();
	char id[16];

	/* The same event has the same id in later answers. */
	snprintf(id, sizeof(id), "%c%" PRIu32, e->host ? 'h' : 'g', e->number);
	rf_json_text(&o, "id", id);
	rf_json_number(&o, "ms", e->ms);
	rf_json_bool(&o, "bad", e->bad);
	rf_json_text(&o, "text", e->text);
	return rf_json_finish(&o);
}

json_t *rf_view_events(const struct rf_view *v)
{
	struct rf_view_event *all = calloc(ALL, sizeof(*all));
	json_t *array = json_array();
	bool good = all && array;
	size_t n = 0, more, first;

	if (all && v->fw)
		n = from_log(v->fw, all);
	if (all && v->events) {
		struct rf_view_event *own = all + n;

		more = v->events(v->arg, own, RF_VIEW_EVENTS);
		/* Groups are in the firmware's log already, with more detail. */
		for (size_t i = 0; i < more; i++)
			if (!v->fw || own[i].host)
				all[n++] = own[i];
	}
	if (all)
		qsort(all, n, sizeof(*all), by_time);
	first = n > RF_VIEW_EVENTS ? n - RF_VIEW_EVENTS : 0;
	for (size_t i = first; i < n; i++)
		good = rf_json_append(array, event(&all[i])) && good;
	free(all);
	return rf_json_finish_array(array, good);
}
