/* The real-time box: created, reported on, destroyed. */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "firmware/target/linux/fresh.h"
#include "base/clock.h"
#include "rf_regs.h"
#include "sim/fabric/shape.h"
#include "sim/realtime/internal.h"

/*
 * Transfers in progress when a group ends may need this long in an engine that runs a thousand
 * times slower than hardware.
 */
#define SETTLE_MS 200u

static const char *const counter_names[] = {
#define RF_RT_NAME(name, text) #name,
	RF_COUNTERS(RF_RT_NAME)
#undef RF_RT_NAME
};

static int start_box(struct rf_rt *b, char *why, size_t room)
{
	struct rf_engine_host host;
	struct rf_sim_fw_cfg cpu = {.kind = b->cfg.firmware, .hal = rf_rt_hal(b)};
	struct rf_fw_cfg fw;
	char text[300];

	rf_shape_cfg(&b->shape, b->cfg.ports, b->cfg.lanes, b->cfg.width);
	if (b->cfg.wide)
		rf_shape_wide(&b->shape);
	b->shape.seed = b->cfg.seed;
	b->shape.waveform = b->cfg.wave;
	b->khz = b->shape.clock_khz;
	rf_rt_engine_host(b, &host);
	b->engine = b->ops->create(&b->shape, &host, why, room);
	if (!b->engine)
		return -1;
	rf_fw_cfg_default(&fw);
	memcpy(fw.mac, b->cfg.mac, sizeof(fw.mac));
	fw.ip = b->cfg.ip;
	fw.port_list = true;
	memcpy(fw.port_ip, b->cfg.port_ip, sizeof(fw.port_ip));
	fw.prefix = (uint8_t)b->cfg.prefix;
	fw.gateway = b->cfg.gateway;
	/* 0 would mean no probes */
	fw.probe_ms = (uint32_t)((b->cfg.probe_ns + 999999u) / 1000000u);
	/* nobody has chosen them, and nobody else is asked: the hosts ask */
	if (!b->cfg.port_list && !b->cfg.gateway)
		fw.announce_ms = 0;
	if (rf_fresh(&fw) != 0) {
		snprintf(why, room, "firmware: cannot get random numbers: %s", strerror(errno));
		return -1;
	}
	fw.hold_ms = (uint32_t)(b->cfg.hold_ns / 1000000u);
	fw.tomb_ms = (uint32_t)(b->cfg.tomb_ns / 1000000u);
	fw.settle_ms = SETTLE_MS;
	fw.keys = b->cfg.keys;
	fw.nkeys = b->cfg.nkeys;
	if (b->cfg.lease_ns)
		fw.lease_ms = (uint32_t)(b->cfg.lease_ns / 1000000u);
	if (b->cfg.tick_ns)
		fw.tick_ms = (unsigned int)((b->cfg.tick_ns + 999999u) / 1000000u);
	b->started = rf_now_ns();
	if (rf_sim_fw_start(&cpu, &fw, &b->fw, text, sizeof(text)) != 0) {
		snprintf(why, room, "firmware: %s", text);
		return -1;
	}
	b->fw_at = rf_sim_fw_next(b->fw);
	return 0;
}

static int open_trace(struct rf_rt *b, const char *file, unsigned ports, bool box,
		      struct rf_pcapng **w, struct rf_notes **notes, char *why, size_t room)
{
	char path[512];
	char name[32];
	int err = rf_pcapng_folder(b->cfg.pcapng_dir);

	*notes = rf_notes_new(b->cfg.mac);
	if (!err && !*notes)
		err = -ENOMEM;
	if (err) {
		snprintf(why, room, "%s: %s", b->cfg.pcapng_dir, strerror(-err));
		return err;
	}
	snprintf(path, sizeof(path), "%s/%s", b->cfg.pcapng_dir, file);
	err = rf_pcapng_open(path, b->cfg.command, w);
	for (unsigned p = 0; !err && p < ports; p++) {
		if (box)
			snprintf(name, sizeof(name), "box%u", p);
		else
			snprintf(name, sizeof(name), "%s", b->cfg.host[p].name);
		err = rf_pcapng_interface(*w, name, 0);
	}
	if (err)
		snprintf(why, room, "%s: %s", path, strerror(-err));
	return err;
}

static int attach(struct rf_rt *b, const struct rf_rt_attach *a, struct rf_rt_source **out,
		  char *why, size_t room)
{
	struct rf_rt_source *s = &b->source[b->source_count];
	char text[300];
	int err = rf_rt_port_open(a->name, a->spec, &s->port, text, sizeof(text));

	if (err) {
		snprintf(why, room, "port %s: %s", a->name, text);
		return err;
	}
	s->box = a->box;
	b->source_count++;
	*out = s;
	return 0;
}

static int attach_all(struct rf_rt *b, char *why, size_t room)
{
	struct rf_rt_source *s;
	int err = 0;

	if (rf_switch_init(&b->sw, b->cfg.hosts, b->cfg.ports) != 0) {
		snprintf(why, room, "too many ports");
		return -1;
	}
	rf_rt_ports_expected(b->cfg.hosts + b->cfg.directs);
	b->host = b->source;
	for (unsigned h = 0; !err && h < b->cfg.hosts; h++) {
		err = attach(b, &b->cfg.host[h], &s, why, room);
		if (!err && b->cfg.host[h].rule)
			rf_switch_rule(&b->sw, h, b->cfg.host[h].box);
	}
	for (unsigned i = 0; !err && i < b->cfg.directs; i++) {
		const struct rf_rt_attach *a = &b->cfg.direct[i];

		if (b->direct[a->box]) {
			snprintf(why, room, "two devices on port %u of the box", a->box);
			return -EINVAL;
		}
		err = attach(b, a, &b->direct[a->box], why, room);
	}
	return err;
}

int rf_rt_create(const struct rf_rt_cfg *cfg, struct rf_rt **out, char *why, size_t room)
{
	struct rf_rt *b = calloc(1, sizeof(*b));
	int err = -1;

	if (!b) {
		snprintf(why, room, "out of memory");
		return -1;
	}
	b->cfg = *cfg;
	b->ops = cfg->engine;
	if (cfg->events || cfg->keep_events) {
		b->events = rf_rt_events_new(cfg->events);
		if (!b->events) {
			snprintf(why, room, "out of memory");
			goto fail;
		}
	}
	if (start_box(b, why, room) != 0)
		goto fail;
	if (cfg->pcapng_dir && (open_trace(b, "hosts.pcapng", cfg->hosts, false, &b->trace_hosts,
					   &b->notes_hosts, why, room) != 0 ||
				open_trace(b, "box.pcapng", cfg->ports, true, &b->trace_box,
					   &b->notes_box, why, room) != 0))
		goto fail;
	err = attach_all(b, why, room);
	if (err)
		goto fail;
	*out = b;
	return 0;
fail:
	rf_rt_destroy(b);
	return err;
}

static void empty(struct rf_rt_queue *q)
{
	while (q->head) {
		struct rf_rt_frame *f = q->head;

		q->head = f->next;
		free(f);
	}
}

void rf_rt_destroy(struct rf_rt *b)
{
	if (!b)
		return;
	for (unsigned i = 0; i < b->source_count; i++)
		b->source[i].port->ops->close(b->source[i].port);
	for (unsigned i = 0; i < 8; i++) {
		empty(&b->to_box[i]);
		empty(&b->to_direct[i]);
	}
	for (unsigned i = 0; i < RF_RT_PORTS; i++)
		empty(&b->to_host[i]);
	rf_sim_fw_stop(b->fw);
	if (b->engine)
		b->ops->destroy(b->engine);
	rf_pcapng_close(b->trace_hosts);
	rf_pcapng_close(b->trace_box);
	rf_notes_free(b->notes_hosts);
	rf_notes_free(b->notes_box);
	rf_rt_events_free(b->events);
	free(b);
}

/* ---- report ---- */

static uint32_t counter(struct rf_rt *b, unsigned port, unsigned n)
{
	return b->ops->reg_read(b->engine, RF_PORT_BASE + port * RF_PORT_STRIDE + 4 * n);
}

uint64_t rf_rt_lost_towards(const struct rf_rt *b, unsigned source)
{
	uint64_t lost = b->source[source].port->tx_lost;

	return source < b->cfg.hosts ? lost + b->to_host[source].lost : lost;
}

static json_t *json_of_port(struct rf_rt *b, unsigned p)
{
	json_t *o = json_object();

	for (unsigned n = 0; n < RF_CNT_COUNT; n++)
		json_object_set_new(o, counter_names[n], json_integer(counter(b, p, n)));
	return o;
}

static void report_json(struct rf_rt *b)
{
	json_t *ports = json_array();
	json_t *box = json_array();
	json_t *fw = json_object();
	json_t *o;

	for (unsigned i = 0; i < b->source_count; i++) {
		const struct rf_rt_source *s = &b->source[i];

		json_array_append_new(
			ports,
			json_pack("{ss sI sI sI sI sI sI si}", "name", s->port->name, "from",
				  (json_int_t)s->port->rx_frames, "too_long",
				  (json_int_t)s->port->rx_long, "to",
				  (json_int_t)s->port->tx_frames, "lost",
				  (json_int_t)rf_rt_lost_towards(b, i), "released",
				  (json_int_t)s->released, "redirected",
				  (json_int_t)(i < b->cfg.hosts ? b->sw.port[i].rule_hits : 0),
				  "box", (int)s->box));
	}
	for (unsigned p = 0; p < b->cfg.ports; p++)
		json_array_append_new(box, json_of_port(b, p));
	for (unsigned n = 0; n < rf_fw_counter_count(); n++)
		json_object_set_new(fw, rf_fw_counter_name(n),
				    json_integer(rf_sim_fw_counter(b->fw, n)));
	o = json_pack("{ss si si si so so so sI sf}", "engine", b->ops->name, "ports",
		      (int)b->cfg.ports, "lanes", (int)b->cfg.lanes, "width", (int)b->cfg.width,
		      "switch", ports, "box", box, "firmware", fw, "cycles",
		      (json_int_t)b->ops->evaluated(b->engine), "engine_cpu_seconds",
		      b->engine_seconds);
	json_dumpf(o, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
	putchar('\n');
	json_decref(o);
}

void rf_rt_report(struct rf_rt *b, bool json)
{
	uint64_t cycles = b->ops->evaluated(b->engine);

	if (json) {
		report_json(b);
		return;
	}
	printf("%-16s %12s %12s %12s %8s\n", "switch port", "from it", "to it", "redirected",
	       "lost");
	for (unsigned i = 0; i < b->source_count; i++) {
		const struct rf_rt_port *p = b->source[i].port;

		printf("%-16s %12" PRIu64 " %12" PRIu64 " %12" PRIu64 " %8" PRIu64 "\n", p->name,
		       p->rx_frames, p->tx_frames, i < b->cfg.hosts ? b->sw.port[i].rule_hits : 0,
		       rf_rt_lost_towards(b, i));
	}
	for (unsigned i = 0; i < b->source_count; i++)
		if (b->source[i].port->rx_long > 0)
			printf("port %s: %" PRIu64 " frames of more than %u bytes were dropped\n",
			       b->source[i].port->name, b->source[i].port->rx_long,
			       RF_RT_FRAME_MAX);
	printf("\n%-16s", "box port");
	for (unsigned p = 0; p < b->cfg.ports; p++)
		printf(" %10u", p);
	putchar('\n');
	for (unsigned n = 0; n < RF_CNT_COUNT; n++) {
		uint32_t value[8];
		uint32_t any = 0;

		for (unsigned p = 0; p < b->cfg.ports; p++)
			any |= value[p] = counter(b, p, n);
		if (!any)
			continue;
		printf("%-16s", counter_names[n]);
		for (unsigned p = 0; p < b->cfg.ports; p++)
			printf(" %10" PRIu32, value[p]);
		putchar('\n');
	}
	printf("\n%" PRIu64 " cycles of the %s", cycles, b->ops->name);
	if (b->engine_seconds > 0)
		printf(", %.0f per second of CPU", (double)cycles / b->engine_seconds);
	putchar('\n');
}
