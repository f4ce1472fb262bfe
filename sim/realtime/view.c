#include "sim/realtime/view.h"

#include <string.h>

#include "base/clock.h"
#include "sim/realtime/internal.h"

static size_t hosts(void *arg, struct rf_view_host *to, size_t room)
{
	struct rf_rt *b = arg;
	size_t n = 0;

	for (unsigned i = 0; i < b->source_count && n < room; i++, n++) {
		const struct rf_rt_source *s = &b->source[i];
		bool direct = i >= b->cfg.hosts;

		to[n] = (struct rf_view_host){
			.box = s->box,
			.direct = direct,
			.rule = !direct && b->cfg.host[i].rule,
			.link = s->port->ops->link(s->port),
			.rx_frames = s->port->rx_frames,
			.rx_bytes = s->rx_bytes,
			.tx_frames = s->port->tx_frames,
			.tx_bytes = s->tx_bytes,
			.lost = rf_rt_lost_towards(b, i),
			.too_long = s->port->rx_long,
		};
		memcpy(to[n].name, s->port->name, sizeof(to[n].name));
		rf_view_clean(to[n].name);
	}
	return n;
}

static size_t events(void *arg, struct rf_view_event *to, size_t room)
{
	struct rf_rt *b = arg;

	return b->events ? rf_rt_events_last(b->events, to, room) : 0;
}

/* The switch has learnt at which port an address is. */
static const char *host_of(void *arg, const uint8_t *mac)
{
	struct rf_rt *b = arg;
	uint64_t number = 0;

	for (unsigned i = 0; i < 6; i++)
		number = number << 8 | mac[i];
	for (unsigned i = 0; i < RF_SWITCH_MACS; i++)
		if (b->sw.macs[i].mac == number && number && b->sw.macs[i].port < b->cfg.hosts)
			return b->name[b->sw.macs[i].port];
	return NULL;
}

static void bytes(void *arg, unsigned port, uint64_t *in, uint64_t *out)
{
	struct rf_rt *b = arg;

	*in = b->box_in_bytes[port];
	*out = b->box_out_bytes[port];
}

static uint32_t counter(void *arg, unsigned n)
{
	struct rf_rt *b = arg;

	return rf_sim_fw_counter(b->fw, n);
}

void rf_rt_view(struct rf_rt *b, struct rf_view *view)
{
	b->hal = rf_rt_hal(b);
	for (unsigned h = 0; h < b->cfg.hosts; h++) {
		memcpy(b->name[h], b->source[h].port->name, sizeof(b->name[h]));
		rf_view_clean(b->name[h]);
	}
	*view = (struct rf_view){
		.hal = &b->hal,
		.fw = rf_sim_fw_native(b->fw),
		.ports = b->cfg.ports,
		.started_ns = b->started,
		.counter = counter,
		.hosts = hosts,
		.events = events,
		.host_of = host_of,
		.bytes = bytes,
		.arg = b,
	};
}
