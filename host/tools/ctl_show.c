/* ringfold ctl: pages of STATUS as lines, tables or JSON. */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "host/tools/ctl.h"
#include "host/tools/opt.h"

/* Name and number, as a line or as a member of an object. */
static void field(json_t *object, const char *name, uint64_t value)
{
	json_object_set_new(object, name, json_integer((json_int_t)value));
}

/* Prints an object: JSON, or a line for each member. */
static void print_object(const struct ctl *c, json_t *object)
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

int ctl_status(struct ctl *c)
{
	const struct rf_ctl_reply *a = ctl_page(c, RF_CTL_PAGE_BOX, 0);
	const struct rf_ctl_box_page *b;
	json_t *o;

	if (!a)
		return RF_EXIT_FAILED;
	b = &a->u.box;
	o = json_object();
	field(o, "ports", b->ports);
	field(o, "lanes", b->lanes);
	field(o, "width", b->width64 * 64u);
	field(o, "mtu_max", 1u << b->mtu_log2);
	field(o, "types16", b->fp16);
	field(o, "groups", b->groups);
	field(o, "groups_used", b->groups_used);
	field(o, "connections", b->connections);
	field(o, "tombstones", b->tombstones);
	field(o, "beats_free", b->beats_free);
	field(o, "slots_free", b->hslots_free);
	field(o, "clock_khz", b->clock_khz);
	field(o, "uptime_ms", b->uptime_ms);
	field(o, "hold_ms", b->hold_ms);
	field(o, "own_port", b->port);
	print_object(c, o);
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

			field(o, "job", e->job);
			field(o, "group", e->group);
			json_object_set_new(o, "state", json_string(rf_ctl_state_text(e->state)));
			field(o, "ranks", e->ranks);
			field(o, "joined", e->joined);
			field(o, "hardware", e->hw_group);
			json_array_append_new(rows, o);
		}
		if (a->u.groups.count == 0)
			break;
		first += a->u.groups.count;
	} while (first < total);
	ctl_print_table(c, rows);
	return RF_EXIT_GOOD;
}

int ctl_ranks(struct ctl *c)
{
	json_t *rows = json_array();
	unsigned int first = 0;
	unsigned int total;

	do {
		const struct rf_ctl_reply *a = ctl_page(c, RF_CTL_PAGE_RANKS, (uint16_t)first);

		if (!a) {
			json_decref(rows);
			return RF_EXIT_FAILED;
		}
		total = a->u.ranks.ranks;
		for (unsigned int i = 0; i < a->u.ranks.count; i++) {
			const struct rf_ctl_rank *k = &a->u.ranks.rank[i];
			json_t *o = json_object();

			field(o, "rank", first + i);
			json_object_set_new(o, "state",
					    json_string(k->flags & RF_CTL_RANK_GONE   ? "gone"
							: k->flags & RF_CTL_RANK_LEFT ? "left"
							: k->flags & RF_CTL_RANK_JOINED
								? "joined"
								: "missing"));
			field(o, "port", k->port);
			field(o, "lane", k->lane);
			field(o, "age_ms", k->age_ms);
			field(o, "next", k->next);
			field(o, "sent", k->sent);
			field(o, "una", k->una);
			json_array_append_new(rows, o);
		}
		if (a->u.ranks.count == 0)
			break;
		first += a->u.ranks.count;
	} while (first < total);
	ctl_print_table(c, rows);
	return RF_EXIT_GOOD;
}

int ctl_counters(struct ctl *c)
{
	const struct rf_ctl_reply *a = ctl_page(c, RF_CTL_PAGE_PORT, (uint16_t)c->port);
	unsigned int count;
	const char *const *names = boxlink_counter_names(&count);
	json_t *o;

	if (!a)
		return RF_EXIT_FAILED;
	o = json_object();
	for (unsigned int i = 0; i < a->u.counters.count && i < count; i++) {
		if (c->json || a->u.counters.value[i] != 0)
			field(o, names[i], a->u.counters.value[i]);
	}
	print_object(c, o);
	return RF_EXIT_GOOD;
}
