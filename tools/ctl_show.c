/* ringfold ctl: pages of STATUS as lines, tables or JSON. */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "host/config/settings.h"
#include "tools/ctl.h"
#include "base/opt.h"

#define NO_HARDWARE 0xffu /* hardware number of a group that has ended and is only remembered */

void ctl_number(json_t *object, const char *name, uint64_t value)
{
	char digits[24];

	/*
	 * Numbers that JSON readers would not represent exactly are written as a string of digits.
	 */
	snprintf(digits, sizeof(digits), "%" PRIu64, value);
	json_object_set_new(object, name,
			    value > INT64_MAX ? json_string(digits)
					      : json_integer((json_int_t)value));
}

/* Prints an object: JSON, or a line for each member. */
void ctl_print_object(const struct ctl *c, json_t *object)
{
	const char *key;
	json_t *value;

	if (c->json) {
		json_dumpf(object, stdout, JSON_INDENT(1));
		putchar('\n');
	} else {
		json_object_foreach(object, key, value)
		{
			if (json_is_string(value))
				printf("%-16s %s\n", key, json_string_value(value));
			else
				printf("%-16s %" JSON_INTEGER_FORMAT "\n", key,
				       json_integer_value(value));
		}
	}
	json_decref(object);
}

/* Prints an array of flat objects: JSON, or a table whose head is the first object's keys. */
void ctl_print_table(const struct ctl *c, json_t *rows)
{
	const char *key;
	json_t *row;
	json_t *value;
	size_t i;

	if (c->json) {
		json_dumpf(rows, stdout, JSON_INDENT(1));
		putchar('\n');
		json_decref(rows);
		return;
	}
	if (json_array_size(rows) == 0)
		puts("none");
	json_array_foreach(rows, i, row)
	{
		if (i == 0) {
			json_object_foreach(row, key, value) printf("%12s ", key);
			putchar('\n');
		}
		json_object_foreach(row, key, value)
		{
			if (json_is_string(value))
				printf("%12s ", json_string_value(value));
			else
				printf("%12" JSON_INTEGER_FORMAT " ", json_integer_value(value));
		}
		putchar('\n');
	}
	json_decref(rows);
}

void ctl_hold_warn(const struct rf_ctl_box_page *b)
{
	if (b->hold == RF_CTL_HOLD_FULL)
		fprintf(stderr,
			"ringfold ctl: warning: the connection table is full, so the hold time is "
			"prolonged for all RC data of no group (`ringfold ctl hold` lists held "
			"connections, --release-all ends it)\n");
}

static void text(json_t *o, const char *name, const char *value)
{
	json_object_set_new(o, name, json_string(value));
}

/* What mirror connections need: addresses of the ports, and who disturbs them. */
static void show_mirror(json_t *o, const struct rf_ctl_box_page *b)
{
	char name[32], list[96] = "", ip[16];
	size_t n = 0;

	for (unsigned int t = 0; t < ELEMENT_TYPES; t++)
		if (b->types >> t & 1u)
			n += (size_t)snprintf(list + n, sizeof(list) - n, "%s%s", n ? "," : "",
					      element_type_name(t));
	text(o, "types", list);
	ctl_number(o, "directed", (b->features & RF_CTL_FEATURE_DIRECTED) != 0);
	ctl_number(o, "mirror", (b->features & RF_CTL_FEATURE_MIRROR) != 0);
	if (!(b->features & RF_CTL_FEATURE_MIRROR))
		return;
	for (unsigned int p = 0; p < b->ports; p++) {
		snprintf(name, sizeof(name), "address_%u", p);
		text(o, name,
		     b->claimed >> p & 1u ? "claimed by another host"
		     : b->port_ip[p]      ? rf_ip_text(b->port_ip[p], ip)
					  : "none");
	}
	if (b->gateway) {
		text(o, "gateway", rf_ip_text(b->gateway, ip));
		ctl_number(o, "gateway_silent", b->reached == 0);
	}
}

const char *ctl_mac(char text[18], const uint8_t mac[6])
{
	snprintf(text, 18, "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2], mac[3], mac[4],
		 mac[5]);
	return text;
}

const char *ctl_mac_number(char text[18], uint64_t number)
{
	uint8_t mac[6];

	for (unsigned int i = 0; i < 6; i++)
		mac[i] = (uint8_t)(number >> (40u - 8u * i));
	return ctl_mac(text, mac);
}

/* Warns of claims: ranks that could join fail to, or share fewer ports. */
static void claim_warn(const struct rf_ctl_box_page *b)
{
	for (unsigned int p = 0; p < RF_CTL_PORTS_MAX; p++)
		if (b->claimed >> p & 1u)
			fprintf(stderr,
				"ringfold ctl: warning: another host claims the address of port "
				"%u: no mirror rank joins there (`ringfold ctl log` has its MAC)\n",
				p);
}

int ctl_status(struct ctl *c)
{
	const struct rf_ctl_reply *a = ctl_page(c, RF_CTL_PAGE_BOX, 0);
	const struct rf_ctl_box_page *b;
	json_t *o;

	if (!a)
		return RF_EXIT_FAILED;
	b = &a->u.box;
	o = json_object();
	ctl_number(o, "ports", b->ports);
	ctl_number(o, "lanes", b->lanes);
	ctl_number(o, "width", b->width64 * 64u);
	ctl_number(o, "mtu_max", 1u << b->mtu_log2);
	ctl_number(o, "types16", b->fp16);
	ctl_number(o, "groups", b->groups);
	ctl_number(o, "groups_used", b->groups_used);
	ctl_number(o, "connections", b->connections);
	ctl_number(o, "tombstones", b->tombstones);
	ctl_number(o, "beats_free", b->beats_free);
	ctl_number(o, "slots_free", b->hslots_free);
	ctl_number(o, "clock_khz", b->clock_khz);
	ctl_number(o, "uptime_ms", b->uptime_ms);
	ctl_number(o, "hold_ms", b->hold_ms);
	ctl_number(o, "hold_full", b->hold == RF_CTL_HOLD_FULL);
	ctl_hold_warn(b);
	claim_warn(b);
	ctl_number(o, "own_port", b->port);
	show_mirror(o, b);
	ctl_print_object(c, o);
	return RF_EXIT_GOOD;
}

/* "3/8"; in JSON two numbers, or one if there is no limit. */
static void held_of(const struct ctl *c, json_t *o, const char *name, uint32_t held, uint32_t most)
{
	char text[32];

	if (c->json) {
		ctl_number(o, name, held);
		snprintf(text, sizeof(text), "%s_most", name);
		if (most != RF_CTL_NO_LIMIT)
			ctl_number(o, text, most);
		return;
	}
	if (most == RF_CTL_NO_LIMIT)
		snprintf(text, sizeof(text), "%" PRIu32, held);
	else
		snprintf(text, sizeof(text), "%" PRIu32 "/%" PRIu32, held, most);
	json_object_set_new(o, name, json_string(text));
}

/* What each job holds, and its limits. */
int ctl_jobs(struct ctl *c)
{
	json_t *rows = json_array();
	unsigned int first = 0;
	unsigned int total;

	if (c->job)
		ctl_speak_for(c, c->job);
	do {
		const struct rf_ctl_reply *a = ctl_page(c, RF_CTL_PAGE_JOBS, (uint16_t)first);

		if (!a) {
			json_decref(rows);
			return RF_EXIT_FAILED;
		}
		total = a->u.jobs.total;
		for (unsigned int i = 0; i < a->u.jobs.count; i++) {
			const struct rf_ctl_job *e = &a->u.jobs.entry[i];
			json_t *o = json_object();

			ctl_number(o, "job", e->job);
			held_of(c, o, "groups", e->held.groups, e->most.groups);
			held_of(c, o, "slots", e->held.slots, e->most.slots);
			held_of(c, o, "ranks", e->held.ranks, e->most.ranks);
			held_of(c, o, "entries", e->held.entries, e->most.entries);
			ctl_number(o, "tombstones", e->tombstones);
			held_of(c, o, "bytes", e->held.bytes, e->most.bytes);
			json_array_append_new(rows, o);
		}
		if (a->u.jobs.count == 0)
			break;
		first += a->u.jobs.count;
	} while (first < total);
	ctl_print_table(c, rows);
	return RF_EXIT_GOOD;
}

int ctl_groups(struct ctl *c)
{
	json_t *rows = json_array();
	unsigned int first = 0;
	unsigned int total;

	do {
		const struct rf_ctl_reply *a = ctl_page(c, RF_CTL_PAGE_GROUPS, (uint16_t)first);

		if (!a) {
			json_decref(rows);
			return RF_EXIT_FAILED;
		}
		total = a->u.groups.total;
		for (unsigned int i = 0; i < a->u.groups.count; i++) {
			const struct rf_ctl_group_entry *e = &a->u.groups.entry[i];
			json_t *o = json_object();

			ctl_number(o, "job", e->job);
			ctl_number(o, "group", e->group);
			json_object_set_new(o, "state", json_string(rf_ctl_state_text(e->state)));
			ctl_number(o, "ranks", e->ranks);
			ctl_number(o, "joined", e->joined);
			if (e->hw_group == NO_HARDWARE)
				json_object_set_new(o, "hardware", json_string("-"));
			else
				ctl_number(o, "hardware", e->hw_group);
			json_array_append_new(rows, o);
		}
		if (a->u.groups.count == 0)
			break;
		first += a->u.groups.count;
	} while (first < total);
	ctl_print_table(c, rows);
	return RF_EXIT_GOOD;
}
