/*
 * The software box as an engine of the simulator: time for its frames on the way in and out, of one
 * beat per cycle and port. The judging and the sums take no time.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/engine.h"
#include "soft/soft.h"

#define QUEUE 64u     /* frames that wait to enter at a port */
#define IN_DELAY 11u  /* cycles from the last beat to the verdict */
#define OUT_DELAY 16u /* cycles from the verdict to the first beat out */
#define ROOM (RF_ENGINE_FRAME_MAX + SOFT_FRAME_ROOM)

struct in_frame {
	uint8_t *bytes; /* ROOM of them */
	size_t len;
	bool bad;
	uint64_t last, ready; /* last beat in; verdict */
};

struct way {
	struct in_frame in[QUEUE];
	unsigned int in_at, in_count;
	uint64_t in_free; /* first cycle in which a beat may enter */
	struct soft_out out;
	bool sending;
	uint64_t first, last; /* beats of the frame that leaves */
	uint64_t out_free;    /* first cycle in which a beat may leave */
	uint64_t refused;     /* the MAC has taken nothing since this cycle, if waits */
	bool waits;
};

struct rf_engine {
	struct rf_engine_cfg cfg;
	struct rf_engine_host host;
	struct soft_box *box;
	uint64_t now, evaluated;
	struct way ways[SOFT_PORTS];
	uint8_t *memory;
};

static uint64_t beats(const struct rf_engine *e, size_t len)
{
	return (len + e->cfg.width / 8 - 1) / (e->cfg.width / 8);
}

static void engine_destroy(struct rf_engine *e)
{
	if (!e)
		return;
	soft_destroy(e->box);
	free(e->memory);
	free(e);
}

static struct rf_engine *engine_create(const struct rf_engine_cfg *c,
				       const struct rf_engine_host *host, char *why, size_t room)
{
	struct soft_cfg cfg = {c->ports,     c->lanes,    c->width,     c->groups,   c->mtu_max,
			       c->bank_log2, c->hdr_log2, c->hash_bits, c->clock_khz};
	struct rf_engine *e = calloc(1, sizeof(*e));
	unsigned int port, k;

	if (!e) {
		snprintf(why, room, "no memory");
		return NULL;
	}
	e->cfg = *c;
	e->host = *host;
	e->box = soft_create(&cfg, why, room);
	if (!e->box) {
		free(e);
		return NULL;
	}
	e->memory = calloc((size_t)SOFT_PORTS * QUEUE, ROOM);
	if (!e->memory) {
		snprintf(why, room, "no memory");
		engine_destroy(e);
		return NULL;
	}
	for (port = 0; port < SOFT_PORTS; port++)
		for (k = 0; k < QUEUE; k++)
			e->ways[port].in[k].bytes = e->memory + (size_t)(port * QUEUE + k) * ROOM;
	return e;
}

static void engine_shape(struct rf_engine_cfg *cfg)
{
	memset(cfg, 0, sizeof(*cfg));
}

static unsigned int engine_rx_queued(const struct rf_engine *e, unsigned int port)
{
	const struct way *w = &e->ways[port];
	unsigned int k, n = 0;

	for (k = 0; k < w->in_count; k++)
		n += w->in[(w->in_at + k) % QUEUE].last >= e->now;
	return n;
}

static bool engine_rx(struct rf_engine *e, unsigned int port, const uint8_t *frame, size_t len,
		      bool bad)
{
	struct way *w = &e->ways[port];
	struct in_frame *f = &w->in[(w->in_at + w->in_count) % QUEUE];
	uint64_t first = w->in_free > e->now ? w->in_free : e->now;

	if (len == 0 || len > RF_ENGINE_FRAME_MAX || w->in_count == QUEUE)
		return false;
	memcpy(f->bytes, frame, len);
	f->len = len;
	f->bad = bad;
	f->last = first + beats(e, len) - 1;
	f->ready = f->last + IN_DELAY;
	w->in_free = f->last + 1;
	w->in_count++;
	return true;
}

/* The first cycle, not before now, in which something happens at a port. */
static uint64_t next_of(const struct rf_engine *e, unsigned int port, unsigned int waiting)
{
	const struct way *w = &e->ways[port];
	uint64_t when = RF_ENGINE_NEVER;

	if (w->in_count)
		when = w->in[w->in_at].ready;
	if (w->sending && w->last < when)
		when = w->last;
	if (!w->sending && (waiting >> port & 1) && w->out_free < when)
		when = w->out_free;
	return when < e->now ? e->now : when;
}

static uint64_t engine_next_event(const struct rf_engine *e)
{
	unsigned int port, waiting = soft_waiting(e->box);
	uint64_t when = RF_ENGINE_NEVER;

	for (port = 0; port < e->cfg.ports; port++) {
		uint64_t one = next_of(e, port, waiting);

		when = one < when ? one : when;
	}
	return when;
}

/* Frames of a port whose verdict is due. */
static void frames_in(struct rf_engine *e, unsigned int port)
{
	struct way *w = &e->ways[port];
	struct soft_frame burst[SOFT_BURST];
	unsigned int n = 0;
	bool idle = !(soft_waiting(e->box));

	while (w->in_count && n < SOFT_BURST && w->in[w->in_at].ready <= e->now) {
		const struct in_frame *f = &w->in[w->in_at];

		burst[n++] = (struct soft_frame){f->bytes, f->len, f->bad};
		w->in_at = (w->in_at + 1) % QUEUE;
		w->in_count--;
	}
	if (!n)
		return;
	soft_in(e->box, port, burst, n);
	/* Nothing leaves in the cycle of its verdict. */
	for (port = 0; idle && port < e->cfg.ports; port++)
		if (!e->ways[port].sending && e->ways[port].out_free < e->now + OUT_DELAY)
			e->ways[port].out_free = e->now + OUT_DELAY;
}

/* The MAC takes a beat; if it has taken none for a millisecond, the link counts as down. */
static bool mac_takes(struct rf_engine *e, unsigned int port)
{
	struct way *w = &e->ways[port];

	if (!e->host.tx_ready || e->host.tx_ready(e->host.arg, port, e->now)) {
		w->waits = false;
		return true;
	}
	if (!w->waits)
		w->refused = e->now;
	w->waits = true;
	if (e->now - w->refused >= e->cfg.clock_khz)
		soft_discard(e->box, port);
	w->out_free = e->now + 1;
	return false;
}

/* The next frame of a port begins to leave. */
static void begin(struct rf_engine *e, unsigned int port)
{
	struct way *w = &e->ways[port];

	if (!mac_takes(e, port) || !soft_take(e->box, port, &w->out, 1))
		return;
	w->sending = true;
	w->first = e->now;
	w->last = e->now + beats(e, w->out.len) - 1;
	w->out_free = w->last + 1;
}

/* Everything of one cycle. True if a frame has left. */
static bool step(struct rf_engine *e)
{
	unsigned int port;
	bool left = false;

	soft_clock(e->box, e->now);
	for (port = 0; port < e->cfg.ports; port++)
		frames_in(e, port);
	for (port = 0; port < e->cfg.ports; port++) {
		struct way *w = &e->ways[port];

		if (!w->sending && w->out_free <= e->now && (soft_waiting(e->box) >> port & 1))
			begin(e, port);
		if (!w->sending || w->last > e->now)
			continue;
		w->sending = false;
		left = true;
		if (e->host.tx)
			e->host.tx(e->host.arg, port, w->out.bytes, w->out.len, w->first, w->last);
		soft_done(e->box, port);
	}
	return left;
}

static void engine_run(struct rf_engine *e, uint64_t until)
{
	uint64_t start = e->now, next;
	bool irq = soft_irq(e->box), back = false;

	while (!back && (next = engine_next_event(e)) < until) {
		e->now = next;
		back = step(e);
		back |= !irq && soft_irq(e->box);
		irq = soft_irq(e->box);
		e->now++;
	}
	if (!back && e->now < until)
		e->now = until;
	soft_clock(e->box, e->now);
	e->evaluated += e->now - start;
}

static uint64_t engine_cycle(const struct rf_engine *e)
{
	return e->now;
}

/* Never past something that is due. */
static void engine_jump(struct rf_engine *e, uint64_t cycle)
{
	uint64_t next = engine_next_event(e);

	if (cycle > next)
		cycle = next;
	if (cycle > e->now)
		e->now = cycle;
	soft_clock(e->box, e->now);
}

static bool engine_irq(const struct rf_engine *e)
{
	return soft_irq(e->box);
}

static uint32_t engine_reg_read(struct rf_engine *e, uint32_t addr)
{
	return soft_read(e->box, addr);
}

static void engine_reg_write(struct rf_engine *e, uint32_t addr, uint32_t value)
{
	soft_write(e->box, addr, value);
}

static uint64_t engine_evaluated(const struct rf_engine *e)
{
	return e->evaluated;
}

static bool engine_move(struct rf_engine *e, unsigned int group, uint32_t index)
{
	soft_move(e->box, group, index);
	return true;
}

static const char *engine_leak(const struct rf_engine *e)
{
	unsigned int port;

	for (port = 0; port < e->cfg.ports; port++)
		if (e->ways[port].in_count || e->ways[port].sending)
			return "a frame has stayed in a port of the box";
	return soft_leak(e->box);
}

const struct rf_engine_ops *rf_soft_engine(void)
{
	static const struct rf_engine_ops ops = {
		.abi = RF_ENGINE_ABI,
		.name = "soft",
		.shape = engine_shape,
		.create = engine_create,
		.destroy = engine_destroy,
		.rx = engine_rx,
		.rx_queued = engine_rx_queued,
		.run = engine_run,
		.cycle = engine_cycle,
		.next_event = engine_next_event,
		.jump = engine_jump,
		.irq = engine_irq,
		.reg_read = engine_reg_read,
		.reg_write = engine_reg_write,
		.evaluated = engine_evaluated,
		.move = engine_move,
		.leak = engine_leak,
	};

	return &ops;
}
