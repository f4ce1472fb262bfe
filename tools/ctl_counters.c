/* ringfold ctl counters: all counters of hardware and firmware. */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "tools/ctl.h"
#include "base/opt.h"
#include "rf_fw_counters.h"

static const char *const fw_names[] = {
#define NAME(name, text) #name,
	RF_FW_COUNTERS(NAME)
#undef NAME
};
#define FW_NAMES (sizeof(fw_names) / sizeof(fw_names[0]))

static int one_port(struct ctl *c)
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
			ctl_number(o, names[i], a->u.counters.value[i]);
	}
	ctl_print_object(c, o);
	return RF_EXIT_GOOD;
}

/* A row for each counter, a column for each port; without --json only counters that are not 0. */
static json_t *port_rows(struct ctl *c)
{
	static struct rf_ctl_counters_page page[RF_CTL_PORTS_MAX];
	const struct rf_ctl_reply *a = ctl_page(c, RF_CTL_PAGE_BOX, 0);
	unsigned int count, ports = a ? a->u.box.ports : 0u;
	const char *const *names = boxlink_counter_names(&count);
	json_t *rows = json_array();

	for (unsigned int p = 0; a && p < ports && p < RF_CTL_PORTS_MAX; p++) {
		a = ctl_page(c, RF_CTL_PAGE_PORT, (uint16_t)p);
		if (a)
			page[p] = a->u.counters;
	}
	if (!a) {
		json_decref(rows);
		return NULL;
	}
	for (unsigned int i = 0; i < count; i++) {
		json_t *row = json_pack("{ss}", "counter", names[i]);
		bool any = c->json;

		for (unsigned int p = 0; p < ports && p < RF_CTL_PORTS_MAX; p++) {
			uint32_t value = i < page[p].count ? page[p].value[i] : 0u;
			char port[16];

			snprintf(port, sizeof(port), "port_%u", p);
			ctl_number(row, port, value);
			any = any || value != 0;
		}
		if (any)
			json_array_append(rows, row);
		json_decref(row);
	}
	return rows;
}

/* Counters of the firmware, and refusals by reason. */
static void add_firmware(const struct ctl *c, const struct rf_ctl_counters_page *p,
			 json_t *firmware, json_t *refused)
{
	for (unsigned int i = 0; i < p->count; i++) {
		if (!c->json && p->value[i] == 0)
			continue;
		if (i < FW_NAMES)
			ctl_number(firmware, fw_names[i], p->value[i]);
		else if (i > FW_NAMES && i - FW_NAMES < RF_CTL_R_COUNT)
			ctl_number(refused, rf_ctl_reason_name(i - (unsigned int)FW_NAMES),
				   p->value[i]);
	}
}

int ctl_counters(struct ctl *c)
{
	const struct rf_ctl_reply *a;
	json_t *rows, *firmware, *refused;

	if (!c->all_ports)
		return one_port(c);
	rows = port_rows(c);
	a = rows ? ctl_page(c, RF_CTL_PAGE_FIRMWARE, 0) : NULL;
	if (!a) {
		json_decref(rows);
		return RF_EXIT_FAILED;
	}
	firmware = json_object();
	refused = json_object();
	add_firmware(c, &a->u.counters, firmware, refused);
	if (c->json) {
		ctl_print_object(c, json_pack("{so so so}", "ports", rows, "firmware", firmware,
					      "refused", refused));
		return RF_EXIT_GOOD;
	}
	ctl_print_table(c, rows);
	puts("\nfirmware:");
	ctl_print_object(c, firmware);
	if (json_object_size(refused) > 0)
		puts("\nrefused:");
	ctl_print_object(c, refused);
	return RF_EXIT_GOOD;
}
