#include "tests/sim/virtual_ranks.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/api/api.h"
#include "sim/fabric/fabric.h"
#include "sim/model/rf_model.h"
#include "tests/unit/free_port.h"

#define FRAME_MAX 4400u
#define QUEUE 4096u /* frames that wait at a rank: more than all windows together */
#define EPOCH RF_SEC
/* A NIC takes the next frame a little before the last one has left, so that the wire stays busy. */
#define AHEAD_NS 300u
#define EARLY_NS 100u
#define STORE_US 200u

enum state {
	RUNNING,
	WAITING, /* for a frame, or until wake_at */
	OUTSIDE, /* it waits for the store, in real time */
	MEETING,
	OVER,
};

struct frame {
	uint32_t len;
	uint8_t data[FRAME_MAX];
};

/* A rank's device. */
struct guest {
	struct rf_io io;
	struct virtual_ranks *all;
	unsigned int rank;
	enum state state;
	uint64_t wake_at;
	pthread_cond_t cond;
	struct frame *in; /* a ring */
	unsigned int first, n;
	uint8_t out[FRAME_MAX];
	bool refused; /* the wire was busy */
};

struct virtual_ranks {
	struct virtual_cfg cfg;
	struct rf_fabric *f;
	pthread_mutex_t lock; /* of everything */
	bool one_at_a_time;
	bool lost; /* a queue was full */
	unsigned int port;
	struct guest guest[VIRTUAL_RANKS];
	struct virtual_rank rank[VIRTUAL_RANKS];
};

/* The rank of this thread; NULL: it is none. */
static _Thread_local struct guest *self;

/* ---- the clock ---- */

uint64_t __wrap_rf_now(void);
void __wrap_rf_store_wait(struct rf_store *store, unsigned int ms);

uint64_t __wrap_rf_now(void)
{
	uint64_t now;

	if (!self)
		return EPOCH;
	pthread_mutex_lock(&self->all->lock);
	now = rf_fabric_now(self->all->f) + EPOCH;
	pthread_mutex_unlock(&self->all->lock);
	return now;
}

static bool may_run(const struct guest *g)
{
	return g->state == WAITING && (g->n || g->wake_at <= rf_fabric_now(g->all->f));
}

/* Whether time may pass. */
static bool all_wait(const struct virtual_ranks *v)
{
	for (unsigned int r = 0; r < v->cfg.ranks; r++)
		if (v->guest[r].state == RUNNING)
			return false;
	return true;
}

/* Whether all that have not ended are at a meeting. */
static bool met(const struct virtual_ranks *v)
{
	bool any = false;

	for (unsigned int r = 0; r < v->cfg.ranks; r++) {
		if (v->guest[r].state != MEETING && v->guest[r].state != OVER)
			return false;
		any |= v->guest[r].state == MEETING;
	}
	return any;
}

/* Lets ranks run that have a reason to. True if one runs. */
static bool resume(struct virtual_ranks *v)
{
	bool any = false;

	for (unsigned int r = 0; r < v->cfg.ranks; r++) {
		struct guest *g = &v->guest[r];

		if (!may_run(g))
			continue;
		g->state = RUNNING;
		pthread_cond_signal(&g->cond);
		any = true;
		if (v->one_at_a_time)
			break;
	}
	return any;
}

static bool stop(void *arg)
{
	const struct virtual_ranks *v = arg;

	for (unsigned int r = 0; r < v->cfg.ranks; r++)
		if (may_run(&v->guest[r]))
			return true;
	return v->lost;
}

/* If nobody runs, lets time pass until somebody does. */
static void schedule(struct virtual_ranks *v)
{
	while (all_wait(v) && !resume(v)) {
		uint64_t until = UINT64_MAX;

		if (met(v)) {
			v->one_at_a_time = true;
			for (unsigned int r = 0; r < v->cfg.ranks; r++) {
				struct guest *g = &v->guest[r];

				g->wake_at = 0;
				g->state = g->state == MEETING ? WAITING : g->state;
			}
			continue;
		}
		for (unsigned int r = 0; r < v->cfg.ranks; r++)
			if (v->guest[r].state == WAITING && v->guest[r].wake_at < until)
				until = v->guest[r].wake_at;
		/* all are outside, or at the end */
		if (until == UINT64_MAX)
			break;
		rf_fabric_run_until(v->f, until, stop, v);
	}
}

/* Waits in this state until it is the rank's turn. With the lock. */
static void pause_as(struct guest *g, enum state state, uint64_t wake_at)
{
	g->wake_at = wake_at;
	g->state = state;
	schedule(g->all);
	while (g->state != RUNNING)
		pthread_cond_wait(&g->cond, &g->all->lock);
}

void __wrap_rf_store_wait(struct rf_store *store, unsigned int ms)
{
	(void)store;
	(void)ms;
	if (!self) {
		usleep(STORE_US);
		return;
	}
	pthread_mutex_lock(&self->all->lock);
	self->state = OUTSIDE;
	schedule(self->all);
	pthread_mutex_unlock(&self->all->lock);
	usleep(STORE_US);
	pthread_mutex_lock(&self->all->lock);
	self->state = RUNNING;
	pthread_mutex_unlock(&self->all->lock);
}

/* ---- a rank's device ---- */

static struct guest *guest_of(struct rf_io *io)
{
	return (struct guest *)(void *)io; /* its first member */
}

static void arrived(void *arg, unsigned int rank, const uint8_t *data, size_t len)
{
	struct virtual_ranks *v = arg;
	struct guest *g = &v->guest[rank];
	struct frame *to = &g->in[(g->first + g->n) % QUEUE];

	if (g->n == QUEUE || len > FRAME_MAX) {
		v->lost = true;
		return;
	}
	to->len = (uint32_t)len;
	memcpy(to->data, data, len);
	g->n++;
}

/* The frames stay in the ring until the next call. */
static unsigned int io_rx(struct rf_io *io, struct rf_io_frame *frames, unsigned int n)
{
	struct guest *g = guest_of(io);
	unsigned int k;

	pthread_mutex_lock(&g->all->lock);
	for (k = 0; k < n && k < g->n; k++) {
		struct frame *f = &g->in[(g->first + k) % QUEUE];

		frames[k].data = f->data;
		frames[k].len = f->len;
	}
	g->first = (g->first + k) % QUEUE;
	g->n -= k;
	pthread_mutex_unlock(&g->all->lock);
	return k;
}

static uint8_t *io_tx_buffer(struct rf_io *io)
{
	struct guest *g = guest_of(io);
	struct rf_fabric *f = g->all->f;

	pthread_mutex_lock(&g->all->lock);
	g->refused = rf_fabric_wire_free(f, g->rank) > rf_fabric_now(f) + AHEAD_NS;
	pthread_mutex_unlock(&g->all->lock);
	return g->refused ? NULL : g->out;
}

static void io_tx_commit(struct rf_io *io, uint32_t len)
{
	struct guest *g = guest_of(io);

	pthread_mutex_lock(&g->all->lock);
	rf_fabric_inject(g->all->f, g->rank, g->out, len);
	pthread_mutex_unlock(&g->all->lock);
}

static void io_nothing(struct rf_io *io)
{
	(void)io;
}

static void io_wait(struct rf_io *io, uint32_t timeout_us)
{
	struct guest *g = guest_of(io);
	uint64_t until;

	pthread_mutex_lock(&g->all->lock);
	until = rf_fabric_now(g->all->f) + timeout_us * RF_USEC;
	if (g->refused && rf_fabric_wire_free(g->all->f, g->rank) - EARLY_NS < until)
		until = rf_fabric_wire_free(g->all->f, g->rank) - EARLY_NS;
	pause_as(g, WAITING, until);
	pthread_mutex_unlock(&g->all->lock);
}

static int io_link(struct rf_io *io)
{
	(void)io;
	return 1;
}

static const struct rf_io_ops io_ops = {.name = "virtual",
					.rx = io_rx,
					.tx_buffer = io_tx_buffer,
					.tx_commit = io_tx_commit,
					.tx_flush = io_nothing,
					.wait = io_wait,
					.wake = io_nothing,
					.link = io_link,
					.close = io_nothing};

/* ---- ranks ---- */

void *virtual_arg(const struct virtual_rank *r)
{
	return r->all->cfg.arg;
}

uint64_t virtual_now(struct virtual_rank *r)
{
	uint64_t now;

	pthread_mutex_lock(&r->all->lock);
	now = rf_fabric_now(r->all->f);
	pthread_mutex_unlock(&r->all->lock);
	return now;
}

void virtual_meet(struct virtual_rank *r)
{
	pthread_mutex_lock(&r->all->lock);
	pause_as(&r->all->guest[r->rank], MEETING, UINT64_MAX);
	pthread_mutex_unlock(&r->all->lock);
}

static int job(struct virtual_rank *r, struct guest *g)
{
	struct rf_context_config context = RF_CONTEXT_CONFIG_INIT;
	struct rf_comm_config comm = RF_COMM_CONFIG_INIT;
	struct in_addr box = {.s_addr = htonl(rf_fabric_box_ip())};
	char box_ip[INET_ADDRSTRLEN];
	int ret;

	inet_ntop(AF_INET, &box, box_ip, sizeof(box_ip));
	context.mtu = r->all->cfg.mtu;
	context.progress = RF_PROGRESS_MANUAL;
	comm.rank = r->rank;
	comm.ranks = r->all->cfg.ranks;
	comm.port = r->all->port;
	comm.box_ip = box_ip;
	comm.schedule = RF_SCHEDULE_BOX;
	comm.slots = r->all->cfg.slots;
	comm.slots_large = 16; /* no second group: a thread of the library would make it */
	ret = rf_context_create_io(&context, &g->io, rf_fabric_ip(r->rank), &r->ctx);
	if (!ret)
		ret = rf_comm_create(r->ctx, &comm, &r->comm);
	if (ret) {
		snprintf(r->text, sizeof(r->text), "%s", rf_last_error_text(r->ctx));
		return ret;
	}
	virtual_meet(r);
	ret = r->all->cfg.body(r);
	virtual_meet(r);
	/* the end is in the store's time again */
	pthread_mutex_lock(&r->all->lock);
	r->all->one_at_a_time = false;
	pthread_mutex_unlock(&r->all->lock);
	rf_comm_destroy(r->comm);
	rf_context_destroy(r->ctx);
	return ret;
}

static void *rank_thread(void *arg)
{
	struct virtual_rank *r = arg;

	self = &r->all->guest[r->rank];
	r->ret = job(r, self);
	pthread_mutex_lock(&r->all->lock);
	self->state = OVER;
	schedule(r->all);
	pthread_mutex_unlock(&r->all->lock);
	return NULL;
}

static int open_fabric(struct virtual_ranks *v)
{
	struct rf_fabric_cfg c;
	char why[300];

	rf_fabric_cfg_init(&c);
	c.engine = rf_model_engine();
	c.ports = c.ranks = v->cfg.ranks;
	c.mtu = v->cfg.mtu;
	c.mirror = c.directed = true;
	for (unsigned int r = 0; r < c.ranks; r++)
		c.join_at[r] = RF_NEVER / 2;
	if (rf_fabric_create(&c, &v->f, why, sizeof(why)) != 0) {
		fprintf(stderr, "no fabric: %s\n", why);
		return -1;
	}
	rf_fabric_set_guest(v->f, arrived, v);
	return 0;
}

static int open_guest(struct virtual_ranks *v, unsigned int r)
{
	struct guest *g = &v->guest[r];

	g->all = v;
	g->rank = r;
	g->io.ops = &io_ops;
	g->io.frame_max = FRAME_MAX;
	g->io.ip = rf_fabric_ip(r);
	memcpy(g->io.mac, (const uint8_t[6]){2, 0x56, 0, 0, 0, (uint8_t)(r + 1)}, 6);
	pthread_cond_init(&g->cond, NULL);
	g->in = malloc(QUEUE * sizeof(*g->in));
	v->rank[r].all = v;
	v->rank[r].rank = r;
	return g->in ? 0 : -1;
}

unsigned int virtual_ranks_run(const struct virtual_cfg *cfg)
{
	struct virtual_ranks *v = calloc(1, sizeof(*v));
	pthread_t thread[VIRTUAL_RANKS];
	unsigned int bad = 0;

	if (!v)
		return cfg->ranks;
	v->cfg = *cfg;
	v->port = free_port();
	pthread_mutex_init(&v->lock, NULL);
	for (unsigned int r = 0; r < cfg->ranks; r++)
		bad += open_guest(v, r) != 0;
	if (bad || open_fabric(v) != 0)
		return cfg->ranks;
	for (unsigned int r = 0; r < cfg->ranks; r++)
		pthread_create(&thread[r], NULL, rank_thread, &v->rank[r]);
	for (unsigned int r = 0; r < cfg->ranks; r++) {
		pthread_join(thread[r], NULL);
		if (!v->rank[r].ret)
			continue;
		fprintf(stderr, "rank %u: %d: %s\n", r, v->rank[r].ret, v->rank[r].text);
		bad++;
	}
	if (v->lost) {
		fprintf(stderr, "a rank's queue was full\n");
		bad++;
	}
	rf_fabric_destroy(v->f);
	for (unsigned int r = 0; r < cfg->ranks; r++)
		free(v->guest[r].in);
	free(v);
	return bad;
}
