/* Formats every counter of the tables RF_COUNTERS and RF_FW_COUNTERS for Prometheus. */
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "service/read.h"
#include "service/texts.h"

static const struct {
	const char *name, *text;
} port_counters[] = {
#define RF_VIEW_X(name, text) {#name, text},
	RF_COUNTERS(RF_VIEW_X)
#undef RF_VIEW_X
};

static void head(FILE *f, const char *name, const char *kind, const char *text)
{
	fprintf(f, "# HELP %s %s\n# TYPE %s %s\n", name, text, name, kind);
}

static void put_ports(FILE *f, const struct rf_view *v)
{
	char name[80];

	for (uint32_t n = 0; n < RF_CNT_COUNT; n++) {
		snprintf(name, sizeof(name), "ringfold_port_%s_total", port_counters[n].name);
		head(f, name, "counter", port_counters[n].text);
		for (uint32_t p = 0; p < rf_view_ports(v); p++)
			fprintf(f, "%s{port=\"%" PRIu32 "\"} %" PRIu32 "\n", name, p,
				rf_view_port_counter(v, p, n));
	}
}

static void put_firmware(FILE *f, const struct rf_view *v)
{
	unsigned int named = rf_fw_counter_count() - RF_CTL_R_COUNT;
	char name[80];

	for (unsigned int n = 0; n < named; n++) {
		snprintf(name, sizeof(name), "ringfold_firmware_%s_total", rf_fw_counter_name(n));
		head(f, name, "counter", rf_fw_counter_text(n));
		fprintf(f, "%s %" PRIu32 "\n", name, rf_view_fw_counter(v, n));
	}
	head(f, "ringfold_refused_total", "counter",
	     "Requests refused and groups failed, by reason");
	for (unsigned int n = named + 1; n < rf_fw_counter_count(); n++)
		fprintf(f, "ringfold_refused_total{reason=\"%s\"} %" PRIu32 "\n",
			rf_fw_counter_name(n), rf_view_fw_counter(v, n));
}

/* ---- stragglers ---- */

/* Labels of a group; while it drains, a new group of the same number may exist beside it. */
static void put_labels(FILE *f, const struct rf_fw_group *g, const char *name)
{
	fprintf(f, "%s{job=\"%" PRIu64 "\",group=\"%u\",hardware=\"%u\"", name, g->job, g->number,
		g->hw);
}

static void put_histogram(FILE *f, const struct rf_fw_group *g)
{
	uint32_t sum = 0;

	for (unsigned int i = 0; i < RF_CTL_LAG_BINS; i++) {
		sum += g->lag[i];
		put_labels(f, g, "ringfold_group_lag_seconds_bucket");
		if (i + 1 < RF_CTL_LAG_BINS)
			fprintf(f, ",le=\"%.9g\"} %" PRIu32 "\n", (double)(1u << i) * 1e-6, sum);
		else
			fprintf(f, ",le=\"+Inf\"} %" PRIu32 "\n", sum);
	}
	put_labels(f, g, "ringfold_group_lag_seconds_sum");
	fprintf(f, "} %.15g\n", (double)g->lag_us * 1e-6);
	put_labels(f, g, "ringfold_group_lag_seconds_count");
	fprintf(f, "} %" PRIu32 "\n", sum);
}

/* Prints one of three values of each rank of the live groups. */
static void put_rank_lags(FILE *f, struct rf_fw *fw, const char *name, unsigned int which)
{
	for (unsigned int i = 0; i < RF_FW_RECORDS; i++) {
		const struct rf_fw_group *g = &fw->group[i];
		const struct rf_fw_member *m;

		for (m = g->live ? rf_fw_first(fw, g) : NULL; m; m = rf_fw_next(fw, m)) {
			bool awaited = g->awaited == (uint16_t)(m - fw->member);

			put_labels(f, g, name);
			fprintf(f, ",rank=\"%u\"} ", m->rank);
			if (which == 0)
				fprintf(f, "%" PRIu32 "\n", m->lag.times);
			else if (which == 1)
				fprintf(f, "%.9g\n", (double)m->lag.most_us * 1e-6);
			else
				fprintf(f, "%.9g\n",
					awaited ? (double)((uint32_t)fw->now_ms - g->head_ms) * 1e-3
						: 0.0);
		}
	}
}

static void put_lags(FILE *f, struct rf_fw *fw)
{
	head(f, "ringfold_group_lag_seconds", "histogram",
	     "Lag of the last rank of a group after the first");
	for (unsigned int i = 0; i < RF_FW_RECORDS; i++)
		if (fw->group[i].live)
			put_histogram(f, &fw->group[i]);
	head(f, "ringfold_rank_last_total", "counter", "Measurements in which a rank was last");
	put_rank_lags(f, fw, "ringfold_rank_last_total", 0);
	head(f, "ringfold_rank_lag_max_seconds", "gauge", "Longest of these lags");
	put_rank_lags(f, fw, "ringfold_rank_lag_max_seconds", 1);
	head(f, "ringfold_rank_awaited_seconds", "gauge",
	     "How long the others have been waiting for a rank");
	put_rank_lags(f, fw, "ringfold_rank_awaited_seconds", 2);
}

static void gauge(FILE *f, const char *name, const char *text, double value)
{
	head(f, name, "gauge", text);
	fprintf(f, "%s %.15g\n", name, value);
}

/* What the firmware's memory shows. */
static void put_memory(FILE *f, struct rf_fw *fw)
{
	unsigned int states[RF_CTL_S_FAILED + 1] = {0};

	put_lags(f, fw);
	for (unsigned int i = 0; i < RF_FW_RECORDS; i++)
		states[fw->group[i].state]++;
	head(f, "ringfold_groups", "gauge", "Known groups, by state");
	for (unsigned int s = RF_CTL_S_JOINING; s <= RF_CTL_S_FAILED; s++)
		fprintf(f, "ringfold_groups{state=\"%s\"} %u\n", rf_ctl_state_text(s), states[s]);
	gauge(f, "ringfold_beats_free", "Free beats of one lane", rf_fw_buddy_room(&fw->beats));
	gauge(f, "ringfold_slots_free", "Free header slots of one lane",
	      rf_fw_buddy_room(&fw->hslots));
	gauge(f, "ringfold_connections", "Entries of the connection table, tombstones included",
	      fw->entries);
	gauge(f, "ringfold_tombstones", "Tombstones in the connection table", fw->tombstones);
	gauge(f, "ringfold_hold", "1 while RC data on unknown connections is dropped",
	      fw->hold_until != RF_FW_NEVER);
}

/* ---- hosts of a simulated box ---- */

static void put_label(FILE *f, const char *text)
{
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			fputc('\\', f);
		fputc(*text, f);
	}
}

static void put_hosts(FILE *f, const struct rf_view *v)
{
	static const struct {
		const char *name, *kind, *text;
		size_t at;
	} values[] = {
		{"ringfold_host_rx_frames_total", "counter", "Frames from a host",
		 offsetof(struct rf_view_host, rx_frames)},
		{"ringfold_host_rx_bytes_total", "counter", "Bytes of frames from a host",
		 offsetof(struct rf_view_host, rx_bytes)},
		{"ringfold_host_tx_frames_total", "counter", "Frames to a host",
		 offsetof(struct rf_view_host, tx_frames)},
		{"ringfold_host_tx_bytes_total", "counter", "Bytes of frames to a host",
		 offsetof(struct rf_view_host, tx_bytes)},
		{"ringfold_host_lost_total", "counter", "Frames for which a host had no room",
		 offsetof(struct rf_view_host, lost)},
		{"ringfold_host_too_long_total", "counter", "Frames from a host that were too long",
		 offsetof(struct rf_view_host, too_long)},
	};
	struct rf_view_host host[RF_VIEW_HOSTS];
	size_t n = v->hosts(v->arg, host, RF_VIEW_HOSTS);

	for (size_t k = 0; k < sizeof(values) / sizeof(values[0]); k++) {
		head(f, values[k].name, values[k].kind, values[k].text);
		for (size_t i = 0; i < n; i++) {
			uint64_t value;

			memcpy(&value, (const char *)&host[i] + values[k].at, sizeof(value));
			fprintf(f, "%s{host=\"", values[k].name);
			put_label(f, host[i].name);
			fprintf(f, "\"} %" PRIu64 "\n", value);
		}
	}
	head(f, "ringfold_host_connected", "gauge", "1 if a host is connected, 0 if none is");
	for (size_t i = 0; i < n; i++) {
		if (host[i].link < 0)
			continue;
		fputs("ringfold_host_connected{host=\"", f);
		put_label(f, host[i].name);
		fprintf(f, "\"} %d\n", host[i].link);
	}
}

char *rf_view_metrics(const struct rf_view *v)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		return NULL;
	put_ports(f, v);
	put_firmware(f, v);
	if (v->hosts)
		put_hosts(f, v);
	if (v->fw)
		put_memory(f, v->fw);
	gauge(f, "ringfold_uptime_seconds", "Time since the firmware took over the box",
	      (double)rf_view_uptime_ms(v) * 1e-3);
	if (fclose(f) != 0) {
		free(text);
		text = NULL;
	}
	return text;
}
