/* ringfold ctl: the box as a whole: ports, slots, connections, log. */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/ctl.h"
#include "base/opt.h"
#include "rf_regs.h"

static void text(json_t *row, const char *name, const char *value)
{
	json_object_set_new(row, name, json_string(value));
}

static void address(json_t *row, const char *name, uint32_t ip)
{
	char dotted[16];

	snprintf(dotted, sizeof(dotted), "%u.%u.%u.%u", (unsigned int)(ip >> 24),
		 (unsigned int)(ip >> 16 & 255u), (unsigned int)(ip >> 8 & 255u),
		 (unsigned int)(ip & 255u));
	text(row, name, dotted);
}

int ctl_ports(struct ctl *c)
{
	static const struct {
		const char *name;
		unsigned int n;
	} shown[] = {{"rx_frames", RF_CNT_RX_FRAMES},
		     {"tx_frames", RF_CNT_TX_FRAMES},
		     {"tx_down", RF_CNT_TX_DOWN},
		     {"accepted", RF_CNT_ACCEPTED},
		     {"tx_first", RF_CNT_TX_FIRST},
		     {"tx_repeat", RF_CNT_TX_REPEAT},
		     {"gap", RF_CNT_GAP},
		     {"no_room", RF_CNT_NO_ROOM},
		     {"icrc", RF_CNT_ICRC},
		     {"foreign", RF_CNT_FOREIGN},
		     {"punted", RF_CNT_PUNTED},
		     {"punt_full", RF_CNT_PUNT_FULL}};
	const struct rf_ctl_reply *a = ctl_page(c, RF_CTL_PAGE_BOX, 0);
	json_t *rows = json_array();
	unsigned int ports = a ? a->u.box.ports : 0;

	for (unsigned int p = 0; a && p < ports; p++) {
		json_t *row = json_object();

		json_array_append_new(rows, row);
		a = ctl_page(c, RF_CTL_PAGE_PORT, (uint16_t)p);
		ctl_number(row, "port", p);
		for (size_t i = 0; a && i < sizeof(shown) / sizeof(shown[0]); i++)
			ctl_number(row, shown[i].name,
				   shown[i].n < a->u.counters.count
					   ? a->u.counters.value[shown[i].n]
					   : 0u);
	}
	if (!a) {
		json_decref(rows);
		return RF_EXIT_FAILED;
	}
	ctl_print_table(c, rows);
	return RF_EXIT_GOOD;
}

/* Adds the slot range of one group, if it has one. */
static bool add_range(struct ctl *c, const struct rf_ctl_group_entry *e, json_t *rows)
{
	struct ctl one = *c;
	const struct rf_ctl_reply *a;
	const struct rf_ctl_group_page *g;
	json_t *row;

	c->job = e->job;
	c->group = e->group;
	a = ctl_page(c, RF_CTL_PAGE_GROUP, 0);
	c->job = one.job;
	c->group = one.group;
	if (!a)
		return false;
	g = &a->u.group;
	if (g->hw_group == 0xff)
		return true;
	row = json_object();
	ctl_number(row, "first_slot", g->hbase);
	ctl_number(row, "slots", 1u << g->slots_log2);
	ctl_number(row, "first_beat", g->dbase);
	ctl_number(row, "mtu", 1u << g->mtu_log2);
	ctl_number(row, "job", e->job);
	ctl_number(row, "group", e->group);
	text(row, "state", rf_ctl_state_text(g->state));
	json_array_append_new(rows, row);
	return true;
}

static int by_slot(const void *a, const void *b)
{
	json_int_t x = json_integer_value(json_object_get(*(json_t *const *)a, "first_slot"));
	json_int_t y = json_integer_value(json_object_get(*(json_t *const *)b, "first_slot"));

	return x < y ? -1 : x > y;
}

static json_t *sorted(json_t *rows)
{
	size_t n = json_array_size(rows);
	json_t **row = calloc(n + 1u, sizeof(*row));
	json_t *out = json_array();

	for (size_t i = 0; row && i < n; i++)
		row[i] = json_array_get(rows, i);
	if (row)
		qsort(row, n, sizeof(*row), by_slot);
	for (size_t i = 0; row && i < n; i++)
		json_array_append(out, row[i]);
	free(row);
	json_decref(rows);
	return out;
}

int ctl_slots(struct ctl *c)
{
	const struct rf_ctl_reply *a = ctl_page(c, RF_CTL_PAGE_GROUPS, 0);
	struct rf_ctl_groups_page groups;
	json_t *rows = json_array();
	bool good = a != NULL;

	if (good)
		groups = a->u.groups;
	for (unsigned int i = 0; good && i < groups.count; i++)
		good = add_range(c, &groups.entry[i], rows);
	a = good ? ctl_page(c, RF_CTL_PAGE_BOX, 0) : NULL;
	if (!a) {
		json_decref(rows);
		return RF_EXIT_FAILED;
	}
	if (!c->json)
		printf("%u of %u slots free, %u of %u beats\n", (unsigned int)a->u.box.hslots_free,
		       1u << a->u.box.hdr_log2, (unsigned int)a->u.box.beats_free,
		       1u << a->u.box.bank_log2);
	ctl_print_table(c, sorted(rows));
	return RF_EXIT_GOOD;
}

/* A tombstone does not belong to a group. */
static void place(const struct ctl *c, json_t *row, const struct rf_ctl_connection *e)
{
	if (e->state == RF_STATE_TOMBSTONE) {
		if (c->json)
			return;
		text(row, "hardware", "-");
		text(row, "lane", "-");
		text(row, "port", "-");
		return;
	}
	ctl_number(row, "hardware", e->cid >> 7);
	ctl_number(row, "lane", e->cid >> 3 & 15u);
	ctl_number(row, "port", e->cid & 7u);
}

/* As in the register HASH_KEY. */
static const char *role_of(uint32_t role)
{
	return role == 0 ? "data" : role == 1 ? "ack" : "mirror";
}

int ctl_connections(struct ctl *c)
{
	static const char *const states[] = {"empty", "live", "joining", "tombstone"};
	json_t *rows = json_array();
	unsigned int at = 0;

	while (at != RF_CTL_NO_RANK) {
		const struct rf_ctl_reply *a = ctl_page(c, RF_CTL_PAGE_CONNECTIONS, (uint16_t)at);

		if (!a || (a->u.connections.next <= at && a->u.connections.next != 0)) {
			json_decref(rows);
			return RF_EXIT_FAILED;
		}
		for (unsigned int i = 0; i < a->u.connections.count; i++) {
			const struct rf_ctl_connection *e = &a->u.connections.entry[i];
			json_t *row = json_object();

			address(row, "address", e->ip);
			ctl_number(row, "qpn", e->key & 0xffffffu);
			text(row, "role", role_of(e->key >> 24 & 3u));
			text(row, "state", states[e->state & 3u]);
			place(c, row, e);
			ctl_number(row, "gone_in_ms", e->remaining);
			json_array_append_new(rows, row);
		}
		at = a->u.connections.next;
	}
	ctl_print_table(c, rows);
	return RF_EXIT_GOOD;
}

static bool is_claim(const struct rf_ctl_log_entry *e)
{
	return e->kind == RF_CTL_EV_CLAIMED || e->kind == RF_CTL_EV_UNCLAIMED;
}

static void print_event(const struct rf_ctl_log_entry *e)
{
	char mac[18];

	printf("%10.3f s  %-8s", (double)e->ms * 1e-3, rf_ctl_event_text(e->kind));
	if (is_claim(e))
		printf("  address of port %u, by %s", e->group, ctl_mac_number(mac, e->job));
	else if (e->job != 0 || e->group != 0)
		printf("  job %" PRIu64 " group %u", e->job, e->group);
	if (e->rank != RF_CTL_NO_RANK)
		printf("  rank %u", e->rank);
	if (e->reason != 0)
		printf("  %s", rf_ctl_reason_text(e->reason));
	if (e->count > 1)
		printf("  (%u times)", e->count);
	if (e->box_ip != 0)
		printf("  at the box %u.%u.%u.%u", e->box_ip >> 24, e->box_ip >> 16 & 255u,
		       e->box_ip >> 8 & 255u, e->box_ip & 255u);
	putchar('\n');
}

/* A further call shows only the events since the last one. */
int ctl_log(struct ctl *c)
{
	const struct rf_ctl_reply *a = ctl_page(c, RF_CTL_PAGE_LOG, (uint16_t)c->log_next);
	json_t *rows;

	if (!a)
		return RF_EXIT_FAILED;
	c->log_next = a->u.log.next;
	if (!c->json) {
		for (unsigned int i = 0; i < a->u.log.count; i++)
			print_event(&a->u.log.entry[i]);
		return RF_EXIT_GOOD;
	}
	rows = json_array();
	for (unsigned int i = 0; i < a->u.log.count; i++) {
		const struct rf_ctl_log_entry *e = &a->u.log.entry[i];
		json_t *row = json_object();
		char mac[18];

		ctl_number(row, "ms", e->ms);
		text(row, "event", rf_ctl_event_text(e->kind));
		if (is_claim(e)) {
			text(row, "mac", ctl_mac_number(mac, e->job));
			ctl_number(row, "port", e->group);
		} else {
			ctl_number(row, "job", e->job);
			ctl_number(row, "group", e->group);
		}
		if (e->rank != RF_CTL_NO_RANK)
			ctl_number(row, "rank", e->rank);
		text(row, "reason", rf_ctl_reason_name(e->reason));
		ctl_number(row, "times", e->count);
		json_array_append_new(rows, row);
	}
	ctl_print_table(c, rows);
	return RF_EXIT_GOOD;
}
