/* The box in the fabric: engine, firmware and the MACs of its ports. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "firmware/target/sim/cpu.h"
#include "proto/rf_bytes.h"
#include "rf_regs.h"
#include "sim/fabric/internal.h"
#include "sim/fabric/shape.h"
#include "sim/model/rf_model.h"

const uint8_t rf_fabric_box_mac[6] = {0x02, 0x52, 0x46, 0x00, 0x00, 0x10};

/* ps per second, divided by 1000: divided by kHz it gives ps per cycle. */
#define PS_PER_SEC_KHZ UINT64_C(1000000000)
/* Shortest time between two checks of an interrupt that stays active. */
#define POLL_GAP_CYCLES 250u
#define RUN_CYCLES 64u

struct rf_box {
	struct rf_fabric *f;
	const struct rf_engine_ops *ops;
	struct rf_engine *engine;
	unsigned number;
	unsigned first; /* number of its first port among those of all boxes */
	struct rf_engine_cfg cfg;
	uint64_t period; /* ps */
	uint64_t base;   /* ps: time of the engine's cycle 0 */
	uint64_t fifo;   /* ps of wire time in front of the MAC at which its FIFO is full */
	uint64_t limit;  /* cycle to which the engine may run */
	struct rf_sim_fw *fw;
	uint64_t boot; /* ps the firmware needed before its first sleep */
	bool started;
	uint64_t fw_at;    /* cycle of the firmware's next run */
	uint64_t fw_after; /* cycle before which interrupts are ignored */
	uint32_t epoch;
	unsigned lives;
	uint64_t moved;         /* hardware groups already moved to their start index */
	char wave[300];         /* waveform file of an engine after a reset */
	uint64_t cycles_before; /* cycles of the engines before a reset */
	uint64_t evaluated_before;
};

static uint64_t cycle_time(const struct rf_box *b, uint64_t cycle)
{
	return b->base + cycle * b->period;
}

/* The first cycle that begins at or after a time. */
static uint64_t cycle_at(const struct rf_box *b, uint64_t ps)
{
	return ps <= b->base ? 0 : (ps - b->base + b->period - 1) / b->period;
}

uint64_t rf_box_time(const struct rf_box *b)
{
	return cycle_time(b, b->ops->cycle(b->engine));
}

uint64_t rf_box_next(const struct rf_box *b)
{
	uint64_t at = b->ops->next_event(b->engine);

	if (b->fw_at < at)
		at = b->fw_at;
	if (b->ops->irq(b->engine) && b->fw_after < at)
		at = b->fw_after;
	return at == RF_ENGINE_NEVER ? UINT64_MAX : cycle_time(b, at);
}

/*
 * The MAC begins to send when the first beat is available. If the core is slower than the wire, it
 * begins so late that the last beat arrives in time.
 */
static void box_tx(void *arg, unsigned port, const uint8_t *data, size_t len, uint64_t first,
		   uint64_t last)
{
	struct rf_box *b = arg;
	struct rf_fabric *f = b->f;
	struct rf_frame *frame = rf_frame_new(f, data, len);
	uint64_t start = cycle_time(b, first + 1);
	uint64_t end = cycle_time(b, last + 1);
	uint64_t wire = rf_wire_ps(f->cfg.rate, len);

	if (!frame)
		return;
	rf_fabric_trace(f, rf_box_time(b), true, b->first + port, RF_PCAPNG_OUT, data, len);
	if (start + wire < end)
		start = end - wire;
	rf_link_send(f, rf_link_get(f, true, b->first + port, true), start, frame);
}

static bool box_tx_ready(void *arg, unsigned port, uint64_t cycle)
{
	struct rf_box *b = arg;
	const struct rf_link *l = rf_link_get(b->f, true, b->first + port, true);
	uint64_t now = cycle_time(b, cycle);

	return l->free_at <= now || l->free_at - now <= b->fifo;
}

/* A register access takes time, during which everything else continues. */
static void access_begins(struct rf_box *b)
{
	struct rf_fabric *f = b->f;

	f->stats.register_accesses++;
	if (b->started)
		f->pass_time(f, rf_box_time(b) + f->cfg.bus_ns * RF_PS_PER_NS);
	else
		b->boot += f->cfg.bus_ns * RF_PS_PER_NS;
}

static void access_ends(struct rf_box *b)
{
	if (b->started)
		b->f->pass_time(b->f, rf_box_time(b));
}

/*
 * The same for instructions. While the firmware boots nothing else exists yet: the time is counted
 * instead.
 */
static void spend(void *arg, uint64_t instructions)
{
	struct rf_box *b = arg;
	uint64_t ps = instructions * PS_PER_SEC_KHZ / b->f->cfg.cpu_khz;

	if (b->started)
		b->f->pass_time(b->f, rf_box_time(b) + ps);
	else
		b->boot += ps;
}

static uint32_t bus_read(void *arg, uint32_t addr)
{
	struct rf_box *b = arg;
	uint32_t value;

	access_begins(b);
	value = b->ops->reg_read(b->engine, addr);
	access_ends(b);
	return value;
}

static void bus_write(void *arg, uint32_t addr, uint32_t value)
{
	struct rf_box *b = arg;

	access_begins(b);
	b->ops->reg_write(b->engine, addr, value);
	access_ends(b);
}

static int start(struct rf_box *b, char *why, size_t room)
{
	struct rf_engine_host host = {.arg = b, .tx = box_tx, .tx_ready = box_tx_ready};
	struct rf_sim_fw_cfg cpu = {.kind = b->f->cfg.firmware,
				    .hal = {.arg = b, .read = bus_read, .write = bus_write},
				    .spend = spend,
				    .arg = b};
	struct rf_fw_cfg fw;
	char text[160];

	b->started = false;
	b->boot = 0;
	b->moved = 0;
	b->engine = b->ops->create(&b->cfg, &host, why, room);
	if (!b->engine)
		return -1;
	if (b->f->cfg.processing)
		rf_model_set_processing(b->engine, b->f->cfg.processing);
	rf_fw_cfg_default(&fw);
	memcpy(fw.mac, rf_fabric_box_mac, sizeof(fw.mac));
	fw.mac[4] = (uint8_t)b->number;
	fw.ip = rf_fabric_tree_ip(b->number);
	/*
	 * Derived from the seed, so that a run can be repeated; different after each restart of the
	 * box.
	 */
	fw.epoch = ++b->epoch;
	rf_put_be64(fw.salt, b->f->cfg.seed);
	rf_put_be64(fw.salt + 8, (uint64_t)b->number << 32 | b->epoch);
	fw.hold_ms = (uint32_t)b->f->cfg.hold_ms;
	if (b->f->cfg.mirror) /* nobody else is there who could have the ports' addresses */
		fw.probe_ms = 0;
	/* Nobody else has the addresses of the ports, and the hosts ask for them. */
	fw.probe_ms = 0;
	fw.announce_ms = 0;
	if (rf_sim_fw_start(&cpu, &fw, &b->fw, text, sizeof(text)) != 0) {
		snprintf(why, room, "firmware: %s", text);
		b->ops->destroy(b->engine);
		b->engine = NULL;
		return -1;
	}
	b->started = true;
	b->fw_at = rf_sim_fw_next(b->fw);
	/* What firmware did so far took no time in the engine. */
	b->fw_after = 0;
	if (cpu.kind == RF_SIM_FW_RV32)
		b->fw_after = b->boot / b->period + 1;
	if (b->fw_at < b->fw_after)
		b->fw_at = b->fw_after;
	return 0;
}

struct rf_box *rf_box_create(struct rf_fabric *f, unsigned number, char *why, size_t room)
{
	const struct rf_fabric_cfg *cfg = &f->cfg;
	struct rf_box *b = calloc(1, sizeof(*b));

	if (!b) {
		snprintf(why, room, "out of memory");
		return NULL;
	}
	b->f = f;
	b->number = number;
	b->first = number * cfg->ports;
	b->ops = cfg->engine;
	rf_shape_cfg(&b->cfg, cfg->ports, cfg->lanes, cfg->width);
	if (cfg->wide)
		rf_shape_wide(&b->cfg);
	b->cfg.seed = cfg->reset_seed ? cfg->reset_seed : cfg->seed;
	b->cfg.waveform = cfg->wave;
	b->period = PS_PER_SEC_KHZ / b->cfg.clock_khz;
	b->fifo = (uint64_t)cfg->mac_fifo * 8 * UINT64_C(1000000000000) / cfg->rate;
	b->lives = 1;
	b->epoch = (uint32_t)(cfg->seed & 0xffffff) + 1;
	if (start(b, why, room) != 0) {
		free(b);
		return NULL;
	}
	return b;
}

void rf_box_destroy(struct rf_box *b)
{
	if (!b)
		return;
	rf_sim_fw_stop(b->fw);
	if (b->engine)
		b->ops->destroy(b->engine);
	free(b);
}

void rf_box_reset(struct rf_box *b)
{
	char why[160];

	b->cycles_before += b->ops->cycle(b->engine);
	b->evaluated_before += b->ops->evaluated(b->engine);
	b->ops->destroy(b->engine);
	rf_sim_fw_stop(b->fw);
	b->fw = NULL;
	b->base = b->f->now;
	/* A new waveform file after each reset of the box. */
	if (b->f->cfg.wave) {
		snprintf(b->wave, sizeof(b->wave), "%s.%u", b->f->cfg.wave, ++b->lives);
		b->cfg.waveform = b->wave;
	}
	if (start(b, why, sizeof(why)) != 0)
		rf_fabric_fail(b->f, why);
}

void rf_box_frame(struct rf_box *b, unsigned port, struct rf_frame *frame)
{
	rf_fabric_trace(b->f, b->f->now, true, b->first + port, RF_PCAPNG_IN, frame->data,
			frame->len);
	if (!b->ops->rx(b->engine, port, frame->data, frame->len, frame->bad))
		b->f->stats.mac_overflow++;
	rf_frame_free(b->f, frame);
}

bool rf_box_firmware_due(const struct rf_box *b)
{
	uint64_t cycle = b->ops->cycle(b->engine);

	return cycle >= b->fw_at || (cycle >= b->fw_after && b->ops->irq(b->engine));
}

/* Groups that just became live begin at start_index; their ranks have not been notified yet. */
static void move_groups(struct rf_box *b)
{
	const struct rf_fw *fw = rf_sim_fw_native(b->fw);
	uint64_t live = 0;

	if (b->f->cfg.start_index == 0 || !fw)
		return;
	for (unsigned i = 0; i < RF_FW_RECORDS; i++) {
		const struct rf_fw_group *g = &fw->group[i];

		if (!g->live || g->hw == RF_FW_NONE)
			continue;
		live |= UINT64_C(1) << g->hw;
		if (b->moved >> g->hw & 1)
			continue;
		if (b->ops->move(b->engine, g->hw, b->f->cfg.start_index))
			b->f->stats.groups_moved++;
		else
			rf_fabric_fail(b->f, "the engine cannot move a group");
	}
	b->moved = live;
}

/*
 * Checks that slots, groups, entries of the connection table, queues and credits are all free
 * again.
 */
const char *rf_box_leak(struct rf_box *b)
{
	const struct rf_fw *fw = rf_sim_fw_native(b->fw);
	const char *what = b->ops->leak(b->engine);

	if (what || !fw)
		return what;
	if (b->ops->irq(b->engine))
		return "the box's firmware has not processed everything";
	what = rf_fw_check(fw);
	if (what)
		return what;
	if (fw->hw_used != 0)
		return "a group's slots were not freed";
	if (fw->entries != 0 || fw->tombstones != 0)
		return "the box's connection table is not empty";
	return NULL;
}

void rf_box_spoil(struct rf_box *b, enum rf_spoil what)
{
	static const uint8_t frame[64];
	struct rf_fw *fw = rf_sim_fw_native(b->fw);

	if (what == RF_SPOIL_BOX)
		(void)b->ops->rx(b->engine, 0, frame, sizeof(frame), false);
	if (what == RF_SPOIL_SLOTS && fw)
		fw->hw_used |= 1;
	if (what == RF_SPOIL_TABLE && fw)
		fw->entries++;
}

void rf_box_firmware(struct rf_box *b)
{
	uint64_t cycle;

	b->f->stats.firmware_polls++;
	b->fw_at = rf_sim_fw_poll(b->fw);
	move_groups(b);
	if (rf_sim_fw_fault(b->fw))
		rf_fabric_fail(b->f, rf_sim_fw_fault(b->fw));
	cycle = b->ops->cycle(b->engine);
	b->fw_after = cycle + POLL_GAP_CYCLES;
	if (b->fw_at < cycle + 1)
		b->fw_at = cycle + 1;
}

void rf_box_run(struct rf_box *b, uint64_t until)
{
	uint64_t target = until == UINT64_MAX ? RF_ENGINE_NEVER : cycle_at(b, until);
	uint64_t cycle = b->ops->cycle(b->engine);

	if (b->fw_at < target && b->fw_at > cycle)
		target = b->fw_at;
	if (b->fw_after < target && b->fw_after > cycle && b->ops->irq(b->engine))
		target = b->fw_after;
	if (target <= cycle)
		return;
	if (!b->f->cfg.no_jump && b->ops->next_event(b->engine) == RF_ENGINE_NEVER) {
		if (target != RF_ENGINE_NEVER)
			b->ops->jump(b->engine, target);
		return;
	}
	/* Runs in short steps, so that the end of activity is detected early. */
	if (!b->f->cfg.no_jump && target > cycle + RUN_CYCLES)
		target = cycle + RUN_CYCLES;
	if (b->f->cfg.measure) {
		struct timespec from;
		struct timespec to;

		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
		b->ops->run(b->engine, target);
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
		b->f->stats.engine_seconds += (double)(to.tv_sec - from.tv_sec) +
					      1e-9 * (double)(to.tv_nsec - from.tv_nsec);
		return;
	}
	b->ops->run(b->engine, target);
}

uint32_t rf_box_read(struct rf_box *b, uint32_t addr)
{
	return bus_read(b, addr);
}

void rf_box_stats(const struct rf_box *b, struct rf_fabric_stats *s)
{
	s->instructions += rf_sim_fw_instructions(b->fw);
	s->cycles += b->cycles_before + b->ops->cycle(b->engine);
	s->cycles_evaluated += b->evaluated_before + b->ops->evaluated(b->engine);
}

const struct rf_fw *rf_box_fw(const struct rf_box *b)
{
	return rf_sim_fw_native(b->fw);
}
