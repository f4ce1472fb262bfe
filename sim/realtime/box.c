#include "base/clock.h"
#include "sim/realtime/box.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "rf_regs.h"
#include "sim/realtime/internal.h"

#define RUN_CYCLES 512u  /* engine cycles between two polls of the ports */
#define IDLE_SPINS 20u   /* idle polls before sleeping */
#define ENGINE_QUEUE 8u  /* frames waiting inside the engine at each port */
#define BOX_QUEUE 128u   /* frames waiting at a box port at which its hosts are held back */
#define HOST_QUEUE 4096u /* frames queued for a host that does not read */
#define CALL_NS UINT64_C(5000000) /* between two calls of rf_rt_each_round()'s function */
#define HOLD_NS                                                                                    \
	UINT64_C(1000000000) /* longest time that a generator is held back while nothing moves */

static double cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void rf_rt_cfg_init(struct rf_rt_cfg *cfg)
{
	*cfg = (struct rf_rt_cfg){
		.ports = 4,
		.lanes = 1,
		.width = 512,
		.seed = 1,
		.mac = {0x02, 0x52, 0x46, 0x00, 0x00, 0x10},
		.ip = 0x0a0000fe,
		.hold_ns = UINT64_C(60000000000),
		.tomb_ns = UINT64_C(60000000000),
	};
}

/* ---- queues ---- */

static void queue_add(struct rf_rt *b, struct rf_rt_queue *q, const uint8_t *data, size_t len,
		      unsigned most)
{
	struct rf_rt_frame *f;

	if (q->count >= most) {
		q->lost++;
		return;
	}
	f = malloc(sizeof(*f) + len);
	if (!f) {
		b->failed = true;
		return;
	}
	f->next = NULL;
	f->len = len;
	memcpy(f->data, data, len);
	*(q->head ? &q->tail->next : &q->head) = f;
	q->tail = f;
	q->count++;
}

static void queue_drop(struct rf_rt_queue *q)
{
	struct rf_rt_frame *f = q->head;

	q->head = f->next;
	q->count--;
	free(f);
}

/* ---- captures ---- */

/* A capture that cannot be written ends; the box goes on. */
static void capture(struct rf_rt *b, struct rf_pcapng **w, unsigned port, enum rf_pcapng_dir dir,
		    const uint8_t *frame, size_t len)
{
	struct rf_notes *notes = w == &b->trace_box ? b->notes_box : b->notes_hosts;

	if (*w && rf_pcapng_frame(*w, port, rf_rt_wall_ns(), dir, frame, len,
				  rf_notes_of(notes, port, frame, len)) != 0)
		b->capture_cut |= !rf_pcapng_finish(w, "ringfold box");
}

/* ---- box ---- */

static void into_box(struct rf_rt *b, unsigned port, const uint8_t *frame, size_t len)
{
	queue_add(b, &b->to_box[port], frame, len, UINT32_MAX);
}

static void to_host(struct rf_rt *b, unsigned host, const uint8_t *frame, size_t len)
{
	capture(b, &b->trace_hosts, host, RF_PCAPNG_IN, frame, len);
	queue_add(b, &b->to_host[host], frame, len, HOST_QUEUE);
}

static void through_switch(struct rf_rt *b, unsigned in, const uint8_t *frame, size_t len)
{
	uint16_t out[RF_SWITCH_PORTS];
	size_t n = rf_switch_frame(&b->sw, rf_now_ns(), in, frame, len, out);

	for (size_t i = 0; i < n; i++) {
		if (out[i] < b->cfg.hosts)
			to_host(b, out[i], frame, len);
		else if (!b->direct[out[i] - b->cfg.hosts])
			into_box(b, out[i] - b->cfg.hosts, frame, len);
	}
}

static void box_tx(void *arg, unsigned port, const uint8_t *frame, size_t len, uint64_t first,
		   uint64_t last)
{
	struct rf_rt *b = arg;

	(void)first;
	(void)last;
	b->box_out++;
	b->box_out_bytes[port] += len;
	capture(b, &b->trace_box, port, RF_PCAPNG_OUT, frame, len);
	if (b->events)
		rf_rt_events_frame(b->events, frame, len);
	if (b->direct[port])
		queue_add(b, &b->to_direct[port], frame, len, HOST_QUEUE);
	else
		through_switch(b, b->cfg.hosts + port, frame, len);
}

/* Firmware runs on wall-clock time, as the hosts do, however slowly the engine
 * runs. */
static uint32_t bus_read(void *arg, uint32_t addr)
{
	struct rf_rt *b = arg;

	if (addr == RF_CYCLE_LO) {
		uint64_t cycle = (rf_now_ns() - b->started) * b->khz / 1000000u;

		b->cycle_high = (uint32_t)(cycle >> 32);
		return (uint32_t)cycle;
	}
	if (addr == RF_CYCLE_HI)
		return b->cycle_high;
	return b->ops->reg_read(b->engine, addr);
}

static void bus_write(void *arg, uint32_t addr, uint32_t value)
{
	struct rf_rt *b = arg;

	b->ops->reg_write(b->engine, addr, value);
}

void rf_rt_engine_host(struct rf_rt *b, struct rf_engine_host *host)
{
	*host = (struct rf_engine_host){.arg = b, .tx = box_tx};
}

struct rf_hal rf_rt_hal(struct rf_rt *b)
{
	return (struct rf_hal){.arg = b, .read = bus_read, .write = bus_write};
}

/* ---- generators ---- */

static uint32_t group_reg(struct rf_rt *b, unsigned group, uint32_t offset)
{
	return b->ops->reg_read(b->engine, RF_GROUP_BASE + group * RF_GROUP_STRIDE + offset);
}

/* Frames that a connection has room for, given the number already under way to it. */
static unsigned room_of(struct rf_rt *b, unsigned group, unsigned lane, unsigned port,
			unsigned pending)
{
	uint32_t slots = 1u << (group_reg(b, group, RF_GROUP_CFG) >> RF_GROUP_CFG_S_LOG2_LSB);
	uint32_t cid = group * 128u + lane * 8u + port;
	uint32_t next =
		b->ops->reg_read(b->engine, RF_CONN_BASE + cid * RF_CONN_STRIDE + RF_CONN_NEXT);
	uint32_t ahead = ((next - group_reg(b, group, RF_GROUP_TAIL)) & 0xffffffu) + pending;

	return ahead >= slots ? 0 : slots - ahead;
}

/*
 * How many more frames a generator on a box port may send before a connection there could run out
 * of room, according to the box itself. Zero only if the port is ahead of others by all slots.
 */
static unsigned room_at(struct rf_rt *b, unsigned port)
{
	unsigned pending = b->to_box[port].count + b->ops->rx_queued(b->engine, port);
	unsigned room = BOX_QUEUE;

	for (unsigned g = 0; g < b->shape.groups; g++) {
		if (!(group_reg(b, g, RF_GROUP_CFG) & RF_GROUP_CFG_LIVE_MASK))
			continue;
		for (unsigned lane = 0; lane < b->shape.lanes; lane++) {
			uint32_t members = group_reg(b, g, RF_GROUP_MEMBERS0 + 4u * (lane / 4u));
			unsigned k;

			if (!(members >> (8u * (lane & 3u) + port) & 1u))
				continue;
			k = room_of(b, g, lane, port, pending);
			room = k < room ? k : room;
		}
	}
	return room;
}

static unsigned live_groups(struct rf_rt *b)
{
	unsigned n = 0;

	for (unsigned g = 0; g < b->shape.groups; g++)
		n += (group_reg(b, g, RF_GROUP_CFG) & RF_GROUP_CFG_LIVE_MASK) != 0;
	return n;
}

/* Frames that a port may submit now. */
static unsigned allowance(struct rf_rt *b, struct rf_rt_source *s, unsigned box)
{
	unsigned n = RF_RT_BURST;

	if (b->to_box[box].count >= BOX_QUEUE)
		return 0;
	if (!s->port->paced)
		return n;
	if (!b->generators_run) {
		if (live_groups(b) < b->cfg.wait_groups)
			return 0;
		b->generators_run = true;
	}
	if (s->budget == 0) {
		s->budget = room_at(b, box);
		if (s->budget != 0) {
			s->held_since = 0;
		} else if (s->held_since == 0) {
			s->held_since = rf_now_ns();
		} else if (rf_now_ns() - s->held_since > HOLD_NS) {
			s->budget = 1;
			s->released++;
		}
	}
	return s->budget < n ? s->budget : n;
}

/* ---- one round ---- */

static bool take_from(struct rf_rt *b, struct rf_rt_source *s, unsigned number, bool direct)
{
	const uint8_t *frame[RF_RT_BURST];
	size_t len[RF_RT_BURST];
	unsigned box = direct ? number : s->box;
	unsigned most = allowance(b, s, box);
	unsigned n;

	/* A port that is held back is polled all the same: its host may connect or disconnect. */
	n = s->port->ops->rx(s->port, frame, len, most);
	if (most == 0)
		return false;
	if (s->port->paced)
		s->budget -= n;
	for (unsigned i = 0; i < n; i++) {
		s->rx_bytes += len[i];
		if (rf_rt_port_loses(s->port))
			continue;
		if (direct) {
			into_box(b, number, frame[i], len[i]);
			continue;
		}
		capture(b, &b->trace_hosts, number, RF_PCAPNG_OUT, frame[i], len[i]);
		through_switch(b, number, frame[i], len[i]);
	}
	return n != 0;
}

static bool take_from_ports(struct rf_rt *b)
{
	bool work = false;

	for (unsigned h = 0; h < b->cfg.hosts; h++)
		work |= take_from(b, &b->host[h], h, false);
	for (unsigned p = 0; p < b->cfg.ports; p++)
		if (b->direct[p])
			work |= take_from(b, b->direct[p], p, true);
	return work;
}

static bool feed_engine(struct rf_rt *b)
{
	bool work = false;

	for (unsigned p = 0; p < b->cfg.ports; p++) {
		struct rf_rt_queue *q = &b->to_box[p];

		while (q->head && b->ops->rx_queued(b->engine, p) < ENGINE_QUEUE) {
			struct rf_rt_frame *f = q->head;

			if (!b->ops->rx(b->engine, p, f->data, f->len, false))
				break;
			capture(b, &b->trace_box, p, RF_PCAPNG_IN, f->data, f->len);
			b->box_in++;
			b->box_in_bytes[p] += f->len;
			queue_drop(q);
			work = true;
		}
	}
	return work;
}

static bool run_engine(struct rf_rt *b)
{
	uint64_t end;
	double before;

	if (b->ops->next_event(b->engine) == RF_ENGINE_NEVER)
		return false;
	before = cpu_seconds();
	end = b->ops->cycle(b->engine) + RUN_CYCLES;
	while (b->ops->cycle(b->engine) < end && b->ops->next_event(b->engine) != RF_ENGINE_NEVER) {
		uint64_t to = b->ops->cycle(b->engine) + 64;

		b->ops->run(b->engine, to < end ? to : end);
	}
	b->engine_seconds += cpu_seconds() - before;
	return true;
}

static bool run_firmware(struct rf_rt *b)
{
	uint64_t cycle = (rf_now_ns() - b->started) * b->khz / 1000000u;

	if (!b->ops->irq(b->engine) && cycle < b->fw_at)
		return false;
	b->fw_at = rf_sim_fw_poll(b->fw);
	if (rf_sim_fw_fault(b->fw)) {
		fprintf(stderr, "ringfold box: firmware: %s\n", rf_sim_fw_fault(b->fw));
		b->failed = true;
	}
	return true;
}

static bool give_to(struct rf_rt_source *s, struct rf_rt_queue *q)
{
	struct rf_rt_port *port = s->port;
	bool work = false;

	while (q->head) {
		if (!rf_rt_port_loses(port)) {
			if (!port->ops->tx(port, q->head->data, q->head->len))
				break;
			s->tx_bytes += q->head->len;
		}
		queue_drop(q);
		work = true;
	}
	if (work)
		port->ops->flush(port);
	return work;
}

static bool give_to_ports(struct rf_rt *b)
{
	bool work = false;

	for (unsigned h = 0; h < b->cfg.hosts; h++)
		work |= give_to(&b->host[h], &b->to_host[h]);
	for (unsigned p = 0; p < b->cfg.ports; p++)
		if (b->direct[p])
			work |= give_to(b->direct[p], &b->to_direct[p]);
	return work;
}

/* All capture files have been played and nothing is under way; false if a port never ends. */
static bool finished(const struct rf_rt *b)
{
	for (unsigned i = 0; i < b->source_count; i++)
		if (!b->source[i].port->ops->ended(b->source[i].port))
			return false;
	for (unsigned p = 0; p < b->cfg.ports; p++)
		if (b->to_box[p].head || b->to_direct[p].head)
			return false;
	for (unsigned h = 0; h < b->cfg.hosts; h++)
		if (b->to_host[h].head)
			return false;
	return b->ops->next_event(b->engine) == RF_ENGINE_NEVER;
}

static bool port_failed(struct rf_rt *b)
{
	for (unsigned i = 0; i < b->source_count; i++) {
		struct rf_rt_port *p = b->source[i].port;

		if (p->error[0]) {
			fprintf(stderr, "ringfold box: port %s: %s\n", p->name, p->error);
			return true;
		}
	}
	return b->failed;
}

static uint64_t frames_taken(const struct rf_rt *b)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < b->source_count; i++)
		n += b->source[i].port->rx_frames;
	return n;
}

static void line(struct rf_rt *b, double seconds)
{
	fprintf(stderr,
		"%8.1f s  %" PRIu64 " frames from ports, %" PRIu64 " into the box, %" PRIu64
		" out of it, %" PRIu64 " cycles",
		seconds, frames_taken(b), b->box_in, b->box_out, b->ops->evaluated(b->engine));
	if (b->engine_seconds > 0)
		fprintf(stderr, ", %.0f cycles/s",
			(double)b->ops->evaluated(b->engine) / b->engine_seconds);
	fputc('\n', stderr);
}

/* Short sleeps while there is traffic, longer ones when it has been quiet for a while. */
static void nap(uint64_t quiet_ns)
{
	struct timespec t = {0, 50000};

	if (quiet_ns > UINT64_C(5000000))
		t.tv_nsec = 200000;
	if (quiet_ns > UINT64_C(200000000))
		t.tv_nsec = 500000;
	nanosleep(&t, NULL);
}

void rf_rt_each_round(struct rf_rt *b, void (*call)(void *arg), void *arg)
{
	b->round = call;
	b->round_arg = arg;
}

int rf_rt_run(struct rf_rt *b, const volatile sig_atomic_t *stop)
{
	uint64_t begin = rf_now_ns();
	uint64_t next_line = begin + b->cfg.stats_ns;
	uint64_t next_call = begin;
	uint64_t busy = begin;
	unsigned vain = 0;

	while (!*stop && !port_failed(b)) {
		bool work = take_from_ports(b);
		uint64_t now;

		work |= feed_engine(b);
		work |= run_engine(b);
		work |= run_firmware(b);
		work |= give_to_ports(b);
		now = rf_now_ns();
		if (b->events)
			rf_rt_events_links(b->events, b, now);
		if (b->round && now >= next_call) {
			b->round(b->round_arg);
			next_call = now + CALL_NS;
		}
		if (b->cfg.duration_ns && now - begin >= b->cfg.duration_ns)
			break;
		if (b->cfg.stats_ns && now >= next_line) {
			line(b, (double)(now - begin) * 1e-9);
			next_line += b->cfg.stats_ns;
		}
		if (work) {
			vain = 0;
			busy = now;
			continue;
		}
		if (finished(b))
			break;
		if (++vain >= IDLE_SPINS)
			nap(now - busy);
	}
	b->capture_cut |= !rf_pcapng_finish(&b->trace_hosts, "ringfold box");
	b->capture_cut |= !rf_pcapng_finish(&b->trace_box, "ringfold box");
	for (unsigned i = 0; i < b->source_count; i++) {
		struct rf_rt_port *p = b->source[i].port;

		if (p->ops->complete)
			p->ops->complete(p);
		b->capture_cut |= p->output_cut;
	}
	return port_failed(b) || b->capture_cut ? -1 : 0;
}
