/* Counters that count errors, in words: what has gone wrong since the start. */
#include <stddef.h>
#include <stdio.h>

#include "service/json.h"
#include "service/read.h"
#include "service/texts.h"

/* Counters of a port that stay 0 in a network without errors. */
static const uint8_t port_faults[] = {
	RF_CNT_RX_OVERFLOW, RF_CNT_RX_MAC_ERROR,  RF_CNT_RX_RUNT,      RF_CNT_RX_OVERSIZE,
	RF_CNT_IP_CHECKSUM, RF_CNT_IP_LENGTH,     RF_CNT_UDP_LENGTH,   RF_CNT_FOREIGN_FULL,
	RF_CNT_ICRC,        RF_CNT_WRONG_SOURCE,  RF_CNT_GROUP_FAILED, RF_CNT_OPCODE,
	RF_CNT_LENGTH,      RF_CNT_ELEMENT,       RF_CNT_BEFORE_START, RF_CNT_BEHALF_FULL,
	RF_CNT_REPEAT_FULL, RF_CNT_ACK_MALFORMED, RF_CNT_ACK_FULL,     RF_CNT_ACK_BEYOND,
	RF_CNT_TX_DOWN,
};

/* The same of the firmware: their numbers. */
#define FW(name) (offsetof(struct rf_fw_counters, name) / sizeof(uint32_t))
static const uint8_t firmware_faults[] = {
	FW(bad_length),    FW(bad_checksum), FW(bad_source), FW(inject_busy),
	FW(groups_failed), FW(leases),       FW(hold_full),  FW(evicted),
	FW(parity),        FW(strays),       FW(unwatched),
};

/* Refusals that belong to normal operation: the client asks again, or for what has ended. */
static bool is_harmless(unsigned reason)
{
	return reason == RF_CTL_R_NONE || reason == RF_CTL_R_NONCE || reason == RF_CTL_R_STALE ||
	       reason == RF_CTL_R_GROUP_UNKNOWN || reason == RF_CTL_R_ENDED;
}

static const struct {
	const char *name, *text;
} port_counter[] = {
#define RF_VIEW_X(name, text) {#name, text},
	RF_COUNTERS(RF_VIEW_X)
#undef RF_VIEW_X
};

struct list {
	json_t *array;
	bool good;
};

/* where: "port 3", "host h0", "firmware"; port: -1 if it is about none. */
static void add(struct list *l, const char *where, int port, const char *name, const char *text,
		uint64_t count)
{
	struct rf_json o;

	if (count == 0)
		return;
	o = rf_json_object();
	rf_json_text(&o, "where", where);
	if (port >= 0)
		rf_json_number(&o, "port", (uint64_t)port);
	rf_json_text(&o, "name", name);
	rf_json_text(&o, "text", text);
	rf_json_number(&o, "count", count);
	l->good = rf_json_append(l->array, rf_json_finish(&o)) && l->good;
}

static void add_ports(struct list *l, const struct rf_view *v)
{
	char where[16];

	for (unsigned p = 0; p < rf_view_ports(v); p++) {
		snprintf(where, sizeof(where), "port %u", p);
		for (size_t i = 0; i < sizeof(port_faults); i++) {
			unsigned n = port_faults[i];

			add(l, where, (int)p, port_counter[n].name, port_counter[n].text,
			    rf_view_port_counter(v, p, n));
		}
	}
}

static void add_hosts(struct list *l, const struct rf_view *v)
{
	struct rf_view_host host[RF_VIEW_HOSTS];
	size_t n = v->hosts(v->arg, host, RF_VIEW_HOSTS);
	char where[48];

	for (size_t i = 0; i < n; i++) {
		snprintf(where, sizeof(where), "host %.31s", host[i].name);
		add(l, where, -1, "lost", "Frames to the host that it had no room for",
		    host[i].lost);
		add(l, where, -1, "too_long", "Frames from the host that are too long for the box",
		    host[i].too_long);
	}
}

static void add_firmware(struct list *l, const struct rf_view *v)
{
	unsigned named = rf_fw_counter_count() - RF_CTL_R_COUNT;

	for (size_t i = 0; i < sizeof(firmware_faults); i++) {
		unsigned n = firmware_faults[i];

		add(l, "firmware", -1, rf_fw_counter_name(n), rf_fw_counter_text(n),
		    rf_view_fw_counter(v, n));
	}
	for (unsigned r = 0; r < RF_CTL_R_COUNT; r++)
		if (!is_harmless(r))
			add(l, "requests", -1, rf_ctl_reason_name(r), rf_ctl_reason_text(r),
			    rf_view_fw_counter(v, named + r));
}

json_t *rf_view_faults(const struct rf_view *v)
{
	struct list l = {.array = json_array()};

	l.good = l.array != NULL;
	add_ports(&l, v);
	if (v->hosts)
		add_hosts(&l, v);
	add_firmware(&l, v);
	return rf_json_finish_array(l.array, l.good);
}
