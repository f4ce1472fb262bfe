/* The engine interface of the reference model: time, input frames, creation and destruction. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/model/internal.h"

static const char *const mutant_names[RF_MODEL_MUTANTS] = {
	"none",
	"tree",
	"nan",
	"stale",
	"behalf",
	"silent",
	"window",
	"shift",
	"icrc",
	"beyond",
	"ackreq",
	"repeat",
	"disagree",
	"counter",
	"source",
	"pad",
	"naknext",
	"nakroom",
	"lookup",
	"unknown",
	"wrongport",
	"empty",
	"wants",
	"tag",
	"copy",
	"order",
	"padkept",
	/* As the rules are named in docs/box.md. */
	"up-window",
	"up-one",
	"again-look",
	"pass-holds",
	"result-old",
	"result-unsent",
	"pass-on",
	"skipped-once",
	"fills-next",
	"nak-run",
	"ack-got",
	"ack-none",
	"tick-ack",
	"tick-probe",
	"tick-one",
};

const char *rf_model_mutant_name(unsigned int mutant)
{
	return mutant < RF_MODEL_MUTANTS ? mutant_names[mutant] : NULL;
}

void rf_model_set_mutant(struct rf_engine *e, enum rf_model_mutant mutant)
{
	e->mutant = mutant;
}

static unsigned int bound(unsigned int value, unsigned int otherwise, unsigned int most)
{
	if (value == 0)
		value = otherwise;
	return value < most ? value : most;
}

void rf_model_set_bounds(struct rf_engine *e, const struct rf_model_bounds *bounds)
{
	static const struct rf_model_bounds none;
	const struct rf_model_bounds *b = bounds ? bounds : &none;
	unsigned int beats = 2 * (e->cfg.mtu_max + MODEL_AROUND_PAYLOAD + e->beat) / e->beat;
	unsigned int foreign;

	e->bounds.ingress_bytes = bound(b->ingress_bytes, RF_ENGINE_FRAME_MAX, RF_ENGINE_FRAME_MAX);
	for (foreign = 1; foreign < beats; foreign *= 2)
		;
	e->bounds.foreign_beats = bound(b->foreign_beats, foreign, UINT32_MAX);
	e->bounds.ack_depth = bound(b->ack_depth, MODEL_ACKS, UINT32_MAX);
	e->bounds.repeat_depth = bound(b->repeat_depth, MODEL_REPEATS - 2 * e->cfg.lanes,
				       MODEL_REPEATS - 2 * e->cfg.lanes);
	e->bounds.punt_depth = bound(b->punt_depth, MODEL_PUNT_PORT, MODEL_PUNT_PORT);
}

static bool power_of_two(unsigned int n)
{
	return n && !(n & (n - 1));
}

static const char *shape_fault(const struct rf_engine_cfg *c)
{
	if (c->ports < 2 || c->ports > MODEL_PORTS)
		return "ports must be 2..8";
	if (c->lanes < 1 || c->lanes > MODEL_LANES)
		return "lanes must be 1..16";
	if (!power_of_two(c->width) || c->width < 64 || c->width > 512)
		return "width must be 64, 128, 256 or 512";
	if (c->groups < 1 || c->groups > MODEL_GROUPS)
		return "groups must be 1..64";
	if (!power_of_two(c->mtu_max) || c->mtu_max < 256 || c->mtu_max > MODEL_MTU)
		return "the largest MTU must be 256, 512, 1024, 2048 or 4096";
	if (c->bank_log2 < 4 || c->bank_log2 > 20)
		return "log2 of the beats of a bank must be 4..20";
	if (c->hdr_log2 < 2 || c->hdr_log2 > 16)
		return "log2 of the header slots must be 2..16";
	if (c->hash_bits < 3 || c->hash_bits > 15)
		return "log2 of the entries of a connection table must be 3..15";
	return NULL;
}

static void model_destroy(struct rf_engine *e)
{
	unsigned int p, k;

	if (!e)
		return;
	for (p = 0; p < MODEL_PORTS; p++) {
		model_queue_clear(e, &e->ports[p].rx);
		for (k = 0; k < MODEL_SRC_COUNT; k++)
			model_queue_clear(e, &e->ports[p].out[k]);
		free(e->ports[p].sending);
		free(e->ports[p].offered);
		for (k = 0; k < MODEL_LANES; k++) {
			free(e->banks[p][k].data);
			free(e->banks[p][k].slots);
		}
	}
	free(e->table[0]);
	free(e->table[1]);
	free(e->tombs);
	free(e->operands);
	free(e->heap);
	free(e);
}

static struct rf_engine *model_create(const struct rf_engine_cfg *cfg,
				      const struct rf_engine_host *host, char *why, size_t room)
{
	const char *fault = shape_fault(cfg);
	struct rf_engine *e;
	unsigned int k;

	if (fault) {
		snprintf(why, room, "%s", fault);
		return NULL;
	}
	e = calloc(1, sizeof(*e));
	if (!e)
		goto no_memory;
	e->cfg = *cfg;
	for (k = 0; k < MODEL_GROUPS; k++)
		e->order[k] = (uint8_t)k;
	e->host = *host;
	e->beat = cfg->width / 8;
	e->ctrl = RF_CTRL_HOLD_MASK;
	e->tx_share = 4;
	rf_model_set_bounds(e, NULL);
	e->table[0] = calloc((size_t)1 << cfg->hash_bits, sizeof(*e->table[0]));
	e->table[1] = calloc((size_t)1 << cfg->hash_bits, sizeof(*e->table[1]));
	e->tombs = calloc(model_tombs(e), sizeof(*e->tombs));
	e->operands = malloc((MODEL_PORTS + 1) * MODEL_MTU * sizeof(*e->operands));
	if (!e->table[0] || !e->table[1] || !e->tombs || !e->operands)
		goto no_memory;
	return e;

no_memory:
	snprintf(why, room, "no memory");
	model_destroy(e);
	return NULL;
}

static void model_shape(struct rf_engine_cfg *cfg)
{
	memset(cfg, 0, sizeof(*cfg));
}

static unsigned int model_rx_queued(const struct rf_engine *e, unsigned int port)
{
	const struct model_frame *f;
	unsigned int n = 0;

	for (f = e->ports[port].rx.head; f; f = f->next)
		n += f->last >= e->now;
	return n;
}

static bool model_rx(struct rf_engine *e, unsigned int port, const uint8_t *frame, size_t len,
		     bool bad)
{
	struct model_port *p = &e->ports[port];
	struct model_frame *f;

	if (len == 0 || len > RF_ENGINE_FRAME_MAX || model_rx_queued(e, port) >= MODEL_RX_QUEUE)
		return false;
	/* The parser may read a whole header even if the frame is shorter. */
	f = model_frame_new(frame, len, MODEL_HEADER);
	f->bad = bad;
	f->first = p->rx_free > e->now ? p->rx_free : e->now;
	f->last = f->first + model_beats(e, len) - 1;
	f->ready = f->last + MODEL_JUDGE_DELAY;
	p->rx_free = f->last + 1;
	model_queue_put(e, &p->rx, f);
	model_event_add(e, f->ready, MODEL_EV_JUDGE, port);
	return true;
}

static void dispatch(struct rf_engine *e, const struct model_event *ev)
{
	struct model_frame *f;

	switch ((enum model_event_kind)ev->kind) {
	case MODEL_EV_JUDGE:
		f = model_queue_get(e, &e->ports[ev->port].rx);
		model_judge(e, ev->port, f);
		free(f);
		break;
	case MODEL_EV_SCHEDULE:
		if (e->schedule_when == ev->cycle)
			e->schedule_due = false;
		model_schedule(e);
		break;
	case MODEL_EV_SEND:
		model_send_step(e, ev->port);
		break;
	case MODEL_EV_LEFT:
		model_send_left(e, ev->port);
		break;
	case MODEL_EV_UP:
		model_uplink_read(e, ev->port);
		break;
	}
}

/* All events of one cycle, then possibly back to the caller. */
static void model_run(struct rf_engine *e, uint64_t until)
{
	uint64_t start = e->now;
	bool irq = model_irq(e), rose = false;
	struct model_event ev;

	e->left = false;
	while (!e->left && !rose && model_event_take(e, until, &ev)) {
		e->now = ev.cycle;
		do
			dispatch(e, &ev);
		while (model_event_take(e, e->now + 1, &ev));
		rose = !irq && model_irq(e);
		irq = model_irq(e);
		e->now++;
	}
	if (!e->left && !rose && e->now < until)
		e->now = until;
	e->evaluated += e->now - start;
}

static uint64_t model_cycle(const struct rf_engine *e)
{
	return e->now;
}

static uint64_t model_next_event(const struct rf_engine *e)
{
	if (e->heap_count == 0)
		return RF_ENGINE_NEVER;
	return e->heap[0].cycle > e->now ? e->heap[0].cycle : e->now;
}

/* Never past an event: the cycles in which it is due would be lost. */
static void model_jump(struct rf_engine *e, uint64_t cycle)
{
	if (cycle > model_next_event(e))
		cycle = model_next_event(e);
	if (cycle > e->now)
		e->now = cycle;
}

static uint64_t model_evaluated(const struct rf_engine *e)
{
	return e->evaluated;
}

static bool model_move(struct rf_engine *e, unsigned int group, uint32_t index)
{
	rf_model_move(e, group, index);
	return true;
}

static const char *model_leak(const struct rf_engine *e)
{
	unsigned int p, k;

	if (e->heap_count != 0)
		return "the box has not come to rest";
	for (p = 0; p < e->cfg.ports; p++) {
		const struct model_port *port = &e->ports[p];

		if (port->rx.head || port->sending || port->offered)
			return "a frame has stayed in a port of the box";
		for (k = 0; k < MODEL_SRC_COUNT; k++)
			if (port->out[k].head || port->out[k].frames || port->out[k].beats)
				return "room in a queue of frames of the box was not given back";
		if (port->repeat_count != 0)
			return "a repeat waits in the box for ever";
	}
	for (k = 0; k < MODEL_CONNS; k++)
		if (e->conns[k].queued != 0)
			return "a connection counts as queued for repeats";
	for (k = 0; k < MODEL_GROUPS; k++)
		if (e->uplinks[k].flight_count || e->uplinks[k].again_count)
			return "an uplink still has something to send";
	if (e->punt_count != 0 || e->inject_busy)
		return "a frame to or from the firmware was left";
	return NULL;
}

const struct rf_engine_ops *rf_model_engine(void)
{
	static const struct rf_engine_ops ops = {
		.abi = RF_ENGINE_ABI,
		.name = "model",
		.shape = model_shape,
		.create = model_create,
		.destroy = model_destroy,
		.rx = model_rx,
		.rx_queued = model_rx_queued,
		.run = model_run,
		.cycle = model_cycle,
		.next_event = model_next_event,
		.jump = model_jump,
		.irq = model_irq,
		.reg_read = model_reg_read,
		.reg_write = model_reg_write,
		.evaluated = model_evaluated,
		.move = model_move,
		.leak = model_leak,
	};

	return &ops;
}
