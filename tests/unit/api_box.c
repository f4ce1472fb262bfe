/*
 * The real-time box (sim/realtime) between ranks that are threads. Its ports are ends of the hub:
 * rf_rt_port_open() is replaced by the linker (--wrap).
 */
#include "tests/unit/api_box.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "sim/cosim/load.h"
#include "sim/realtime/box.h"

#define PORTS 4u
#define LANES 2u
#define WIDTH 64u /* of a Verilated box */
#define FRAME_MAX 4300u

struct api_box {
	struct rf_io_hub *hub;
	struct rf_rt *rt;
	pthread_t thread;
	volatile sig_atomic_t stop;
	unsigned int ranks;
	char names[RANKS][8];
};

/* ---- a port of the box ---- */

struct hub_port {
	struct rf_rt_port p;
	struct rf_io *io;
};

static struct hub_port *port_of(struct rf_rt_port *p)
{
	return (struct hub_port *)(void *)p; /* its first member */
}

static unsigned port_rx(struct rf_rt_port *p, const uint8_t **frame, size_t *len, unsigned n)
{
	struct rf_io *io = port_of(p)->io;
	struct rf_io_frame frames[RF_IO_BURST];
	unsigned k, got = io->ops->rx(io, frames, n < RF_IO_BURST ? n : RF_IO_BURST);

	for (k = 0; k < got; k++) {
		frame[k] = frames[k].data;
		len[k] = frames[k].len;
	}
	return got;
}

static bool port_tx(struct rf_rt_port *p, const uint8_t *frame, size_t len)
{
	struct rf_io *io = port_of(p)->io;
	uint8_t *to = io->ops->tx_buffer(io);

	if (!to)
		return false;
	memcpy(to, frame, len);
	io->ops->tx_commit(io, (uint32_t)len);
	return true;
}

static void port_flush(struct rf_rt_port *p)
{
	struct rf_io *io = port_of(p)->io;

	io->ops->tx_flush(io);
}

static bool port_ended(const struct rf_rt_port *p)
{
	(void)p;
	return false;
}

static void port_close(struct rf_rt_port *p)
{
	struct rf_io *io = port_of(p)->io;

	io->ops->close(io);
	free(p);
}

static const struct rf_rt_port_ops ops = {
	.rx = port_rx,
	.tx = port_tx,
	.flush = port_flush,
	.ended = port_ended,
	.close = port_close,
	.link = rf_rt_port_no_link,
};

/* The hub whose box starts, and the ranks; boxes start one after another. */
static struct rf_io_hub *opening;
static unsigned int opening_ranks;

int __wrap_rf_rt_port_open(const char *name, const char *spec, struct rf_rt_port **out, char *why,
			   size_t room);

int __wrap_rf_rt_port_open(const char *name, const char *spec, struct rf_rt_port **out, char *why,
			   size_t room)
{
	struct hub_port *p = calloc(1, sizeof(*p));

	(void)spec;
	if (p)
		p->io = rf_io_hub_open(opening, opening_ranks + (unsigned int)atoi(name + 1));
	if (!p || !p->io) {
		free(p);
		snprintf(why, room, "no end for %s", name);
		return -1;
	}
	p->p.ops = &ops;
	snprintf(p->p.name, sizeof(p->p.name), "%s", name);
	*out = &p->p;
	return 0;
}

/* ---- the cables ---- */

struct cables {
	struct rf_io_hub *hub;
	unsigned int ranks;
	uint64_t random;
};

static struct cables cables[1];
static _Atomic unsigned int lost_permille;

static bool (*_Atomic dropped)(unsigned int from, const uint8_t *frame, uint32_t len);

void api_box_drop(bool (*drop)(unsigned int from, const uint8_t *frame, uint32_t len))
{
	dropped = drop;
}

static bool wide_boxes, patient_boxes, verilog_boxes;

void api_box_verilog(bool verilog)
{
	verilog_boxes = verilog;
}

void api_box_patient(void)
{
	patient_boxes = true;
	setenv("RF_BOX_TIMEOUT", "60000", 0);
}

void api_box_wide(bool wide)
{
	wide_boxes = wide;
}

void api_box_lose(unsigned int permille)
{
	lost_permille = permille;
}

static void cable(void *arg, unsigned int from, const uint8_t *frame, uint32_t len)
	RF_REQUIRES(rf_hub_class);

static void cable(void *arg, unsigned int from, const uint8_t *frame, uint32_t len)
{
	struct cables *c = arg;
	bool (*drop)(unsigned int, const uint8_t *, uint32_t) = dropped;

	if (drop && drop(from, frame, len))
		return;
	if (rf_rng_word(&c->random) % 1000 < lost_permille)
		return;
	rf_io_hub_deliver(c->hub, from < c->ranks ? from + c->ranks : from - c->ranks, frame, len);
}

struct rf_io_hub *api_box_hub(unsigned int ranks)
{
	return rf_io_hub_create(2 * ranks, FRAME_MAX);
}

/* ---- the box ---- */

static void *body(void *arg)
{
	struct api_box *b = arg;

	rf_rt_run(b->rt, &b->stop);
	return NULL;
}

struct api_box *api_box_start(struct rf_io_hub *hub, unsigned int ranks, bool rules)
{
	struct api_box *b = calloc(1, sizeof(*b));
	struct rf_rt_cfg cfg;
	char why[300];

	if (!b)
		return NULL;
	b->hub = hub;
	b->ranks = ranks;
	opening = hub;
	opening_ranks = ranks;
	cables[0] = (struct cables){hub, ranks, ranks};
	lost_permille = 0;
	rf_io_hub_set_box(hub, cable, cables);
	rf_rt_cfg_init(&cfg);
	cfg.ports = PORTS;
	cfg.lanes = LANES;
	if (verilog_boxes)
		cfg.width = WIDTH;
	if (rf_engine_by_name(verilog_boxes ? "rtl" : "model", PORTS, LANES, cfg.width, false,
			      &cfg.engine, why, sizeof(why)) != 0) {
		fprintf(stderr, "%s\n", why);
		free(b);
		return NULL;
	}
	cfg.wide = wide_boxes;
	/* many ranks on few processors: one may not run for seconds */
	if (wide_boxes || patient_boxes)
		cfg.lease_ns = UINT64_C(60000000000);
	cfg.hold_ns = 0; /* there was no earlier box */
	for (unsigned int p = 0; p < PORTS; p++)
		cfg.port_ip[p] = cfg.ip - 32 + p;
	cfg.hosts = ranks;
	for (unsigned int r = 0; r < ranks; r++) {
		snprintf(b->names[r], sizeof(b->names[r]), "h%u", r);
		cfg.host[r] = (struct rf_rt_attach){
			.name = b->names[r], .spec = "hub", .box = r % PORTS, .rule = rules};
	}
	if (rf_rt_create(&cfg, &b->rt, why, sizeof(why)) != 0) {
		fprintf(stderr, "the box does not start: %s\n", why);
		free(b);
		return NULL;
	}
	pthread_create(&b->thread, NULL, body, b);
	return b;
}

void api_box_stop(struct api_box *b)
{
	b->stop = 1;
	pthread_join(b->thread, NULL);
	rf_rt_destroy(b->rt);
	free(b);
}

struct api_box *api_box_ranks(struct ranks *all, unsigned int n, bool rules,
			      int (*run)(struct rank *r))
{
	ranks_init(all, n, run);
	rf_io_hub_destroy(all->hub);
	all->hub = api_box_hub(n);
	all->schedule = RF_SCHEDULE_BOX;
	return api_box_start(all->hub, n, rules);
}

void api_box_end(struct ranks *all, struct api_box *b)
{
	api_box_stop(b);
	ranks_free(all);
}
