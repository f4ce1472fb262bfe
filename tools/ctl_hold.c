/* ringfold ctl: held connections. */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "host/config/settings.h"
#include "tools/ctl.h"
#include "base/opt.h"

int ctl_release_add(void *ctl, const char *value)
{
	struct ctl *c = ctl;
	const char *colon = strchr(value, ':');
	char ip[16], why[200];
	uint64_t qpn = 0;

	if (!colon || (size_t)(colon - value) >= sizeof(ip)) {
		fprintf(stderr,
			"ringfold ctl: --release: expected ADDRESS:QPN as listed by `ctl hold`\n");
		return -1;
	}
	memcpy(ip, value, (size_t)(colon - value));
	ip[colon - value] = '\0';
	if (rf_ip_parse("--release", ip, &c->release_ip, why, sizeof(why)) != 0 ||
	    rf_number_parse("--release", colon + 1, 0, 0xffffff, &qpn, why, sizeof(why)) != 0) {
		fprintf(stderr, "ringfold ctl: %s\n", why);
		return -1;
	}
	c->release_qpn = (uint32_t)qpn;
	c->release = true;
	return 0;
}

static int release(struct ctl *c)
{
	uint32_t ip = c->release_all ? 0 : c->release_ip;

	if (rf_client_release(&c->asker, ip, c->release_qpn, boxlink_now()) != 0 ||
	    !ctl_answer(c, &c->asker))
		return RF_EXIT_FAILED;
	printf("%s\n", c->release_all ? "all held connections are released; the hold time is over"
				      : "the connection is released; its data passes from now on");
	return RF_EXIT_GOOD;
}

static void add(json_t *rows, const struct rf_ctl_held *e)
{
	json_t *row = json_object();
	char ip[16];

	json_object_set_new(row, "address", json_string(rf_ip_text(e->ip, ip)));
	ctl_number(row, "qpn", e->qpn);
	ctl_number(row, "port", e->port);
	ctl_number(row, "silent_ms", e->silent);
	ctl_number(row, "gone_in_ms", e->remaining);
	json_array_append_new(rows, row);
}

static int list(struct ctl *c)
{
	const struct rf_ctl_reply *a;
	json_t *rows = json_array();
	unsigned int at = 0;

	while (at != RF_CTL_NO_RANK) {
		a = ctl_page(c, RF_CTL_PAGE_HELD, (uint16_t)at);
		if (!a || (a->u.held.next <= at && a->u.held.next != 0)) {
			json_decref(rows);
			return RF_EXIT_FAILED;
		}
		for (unsigned int i = 0; i < a->u.held.count; i++)
			add(rows, &a->u.held.entry[i]);
		at = a->u.held.next;
	}
	a = ctl_page(c, RF_CTL_PAGE_BOX, 0);
	if (!a) {
		json_decref(rows);
		return RF_EXIT_FAILED;
	}
	ctl_hold_warn(&a->u.box);
	if (!c->json && a->u.box.hold != RF_CTL_HOLD_OVER)
		printf("the hold time is running for at least %" PRIu32
		       " ms more: RC data of no group is dropped\n",
		       a->u.box.hold_ms);
	ctl_print_table(c, rows);
	return RF_EXIT_GOOD;
}

int ctl_hold(struct ctl *c)
{
	return c->release || c->release_all ? release(c) : list(c);
}
