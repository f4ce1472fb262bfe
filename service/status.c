/* The state of the box as JSON. */
#include <stdio.h>

#include "rf_version.h"
#include "service/json.h"
#include "service/read.h"
#include "service/texts.h"

static json_t *port(const struct rf_view *v, uint32_t p)
{
	static const char *const names[] = {
#define RF_VIEW_X(name, text) #name,
		RF_COUNTERS(RF_VIEW_X)
#undef RF_VIEW_X
	};
	struct rf_json o = rf_json_object();

	rf_json_number(&o, "port", p);
	for (uint32_t n = 0; n < RF_CNT_COUNT; n++)
		rf_json_number(&o, names[n], rf_view_port_counter(v, p, n));
	if (v->bytes) {
		uint64_t in, out;

		v->bytes(v->arg, p, &in, &out);
		rf_json_number(&o, "rx_bytes", in);
		rf_json_number(&o, "tx_bytes", out);
	}
	return rf_json_finish(&o);
}

static json_t *ports(const struct rf_view *v)
{
	json_t *array = json_array();
	bool good = array != NULL;

	for (uint32_t p = 0; p < rf_view_ports(v); p++)
		good = rf_json_append(array, port(v, p)) && good;
	return rf_json_finish_array(array, good);
}

static json_t *host(const struct rf_view_host *h)
{
	struct rf_json o = rf_json_object();

	rf_json_text(&o, "name", h->name);
	rf_json_number(&o, "port", h->box);
	rf_json_bool(&o, "direct", h->direct);
	rf_json_bool(&o, "rule", h->rule);
	rf_json_put(&o, "connected", h->link < 0 ? json_null() : json_boolean(h->link));
	rf_json_number(&o, "rx_frames", h->rx_frames);
	rf_json_number(&o, "rx_bytes", h->rx_bytes);
	rf_json_number(&o, "tx_frames", h->tx_frames);
	rf_json_number(&o, "tx_bytes", h->tx_bytes);
	rf_json_number(&o, "lost", h->lost);
	rf_json_number(&o, "too_long", h->too_long);
	return rf_json_finish(&o);
}

static json_t *hosts(const struct rf_view *v)
{
	struct rf_view_host all[RF_VIEW_HOSTS];
	size_t n = v->hosts(v->arg, all, RF_VIEW_HOSTS);
	json_t *array = json_array();
	bool good = array != NULL;

	for (size_t i = 0; i < n; i++)
		good = rf_json_append(array, host(&all[i])) && good;
	return rf_json_finish_array(array, good);
}

static json_t *firmware(const struct rf_view *v)
{
	unsigned named = rf_fw_counter_count() - RF_CTL_R_COUNT;
	struct rf_json o = rf_json_object();

	for (unsigned n = 0; n < named; n++)
		rf_json_number(&o, rf_fw_counter_name(n), rf_view_fw_counter(v, n));
	return rf_json_finish(&o);
}

/* What only the firmware's memory shows. */
static void put_memory(struct rf_json *o, const struct rf_view *v)
{
	struct rf_fw *fw = v->fw;

	rf_json_number(o, "epoch", fw->epoch);
	rf_json_bool(o, "open_lab", fw->cfg.nkeys == 0);
	rf_json_bool(o, "hold", fw->hold_until != RF_FW_NEVER);
	rf_json_number(o, "slots", 1u << fw->hdr_log2);
	rf_json_number(o, "slots_free", rf_fw_buddy_room(&fw->hslots));
	rf_json_number(o, "beats", 1u << fw->bank_log2);
	rf_json_number(o, "beats_free", rf_fw_buddy_room(&fw->beats));
	rf_json_number(o, "connections", fw->entries);
	rf_json_number(o, "tombstones", fw->tombstones);
	rf_json_number(o, "places", 2u << fw->hash_bits);
	rf_json_put(o, "groups", rf_view_groups(v));
}

char *rf_view_status(const struct rf_view *v)
{
	struct rf_json o = rf_json_object();
	char *text = NULL;
	json_t *root;

	rf_json_text(&o, "program", v->program);
	rf_json_text(&o, "version", RF_VERSION_TEXT);
	if (v->about)
		rf_json_text(&o, "about", v->about);
	/* For rates: when the counters were read, by a clock that is not set. */
	rf_json_number(&o, "read_ms", rf_now_ms());
	rf_json_number(&o, "uptime_ms", rf_view_uptime_ms(v));
	rf_json_bool(&o, "memory", v->fw != NULL);
	if (v->fw)
		put_memory(&o, v);
	rf_json_put(&o, "ports", ports(v));
	if (v->hosts)
		rf_json_put(&o, "hosts", hosts(v));
	rf_json_put(&o, "firmware", firmware(v));
	rf_json_put(&o, "faults", rf_view_faults(v));
	rf_json_put(&o, "events", rf_view_events(v));
	root = rf_json_finish(&o);
	if (root)
		text = json_dumps(root, JSON_REAL_PRECISION(15));
	json_decref(root);
	return text;
}
