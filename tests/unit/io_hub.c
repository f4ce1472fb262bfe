/* Frames inside one process: a hub of ends, each with a queue. */
#include "tests/unit/io_hub.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define QUEUE 1024u /* frames, a power of two */

struct end {
	struct rf_io io;
	struct rf_io_hub *hub;
	unsigned int port;
	bool open RF_GUARDED_BY(rf_hub_class);
	/* received frames */
	uint8_t *bytes RF_TARGET_GUARDED_BY(rf_hub_class); /* QUEUE * frame_max */
	uint32_t *lens RF_TARGET_GUARDED_BY(rf_hub_class);
	unsigned int head RF_GUARDED_BY(rf_hub_class);
	unsigned int tail RF_GUARDED_BY(rf_hub_class);
	/* frames from head on that the last rx() handed out */
	unsigned int lent RF_GUARDED_BY(rf_hub_class);
	bool woken RF_GUARDED_BY(rf_hub_class);
	pthread_cond_t cond;
	/* frames committed but not flushed */
	uint8_t *burst; /* RF_IO_BURST * frame_max */
	uint32_t burst_len[RF_IO_BURST];
	unsigned int burst_n;
};

struct rf_io_hub {
	pthread_mutex_t lock;
	unsigned int ports;
	uint32_t frame_max;
	rf_io_hub_box *box RF_GUARDED_BY(rf_hub_class);
	void *box_arg RF_GUARDED_BY(rf_hub_class);
	struct end *ends;
};

static struct end *end_of(struct rf_io *io)
{
	return (struct end *)io; /* io is its first member */
}

bool rf_io_hub_deliver(struct rf_io_hub *hub, unsigned int to, const uint8_t *frame, uint32_t len)
{
	struct end *e = &hub->ends[to];
	unsigned int slot = e->tail & (QUEUE - 1);

	if (to >= hub->ports || !e->open || e->tail - e->head == QUEUE || len > hub->frame_max)
		return false;
	memcpy(e->bytes + (size_t)slot * hub->frame_max, frame, len);
	e->lens[slot] = len;
	e->tail++;
	pthread_cond_signal(&e->cond);
	return true;
}

int rf_io_hub_find(const struct rf_io_hub *hub, const uint8_t mac[6])
{
	unsigned int k;

	for (k = 0; k < hub->ports; k++)
		if (memcmp(hub->ends[k].io.mac, mac, 6) == 0)
			return (int)k;
	return -1;
}

static void hub_forward(struct rf_io_hub *hub, unsigned int from, const uint8_t *frame,
			uint32_t len) RF_REQUIRES(rf_hub_class);

static void hub_forward(struct rf_io_hub *hub, unsigned int from, const uint8_t *frame,
			uint32_t len)
{
	unsigned int k;
	int to;

	if (hub->box) {
		hub->box(hub->box_arg, from, frame, len);
		return;
	}
	to = rf_io_hub_find(hub, frame);
	if (to >= 0) {
		rf_io_hub_deliver(hub, (unsigned int)to, frame, len);
		return;
	}
	for (k = 0; k < hub->ports && frame[0] & 1; k++)
		if (k != from)
			rf_io_hub_deliver(hub, k, frame, len);
}

static unsigned int loop_rx(struct rf_io *io, struct rf_io_frame *frames, unsigned int n)
{
	struct end *e = end_of(io);
	struct rf_io_hub *hub = e->hub;
	unsigned int k;

	rf_mutex_lock(&hub->lock, rf_hub_class);
	e->head += e->lent;
	for (k = 0; k < n && k < RF_IO_BURST && e->head + k != e->tail; k++) {
		unsigned int slot = (e->head + k) & (QUEUE - 1);

		frames[k].data = e->bytes + (size_t)slot * hub->frame_max;
		frames[k].len = e->lens[slot];
		io->rx_bytes += e->lens[slot];
	}
	e->lent = k;
	io->rx_frames += k;
	rf_mutex_unlock(&hub->lock, rf_hub_class);
	return k;
}

static uint8_t *loop_tx_buffer(struct rf_io *io)
{
	struct end *e = end_of(io);

	if (e->burst_n == RF_IO_BURST)
		return NULL;
	return e->burst + (size_t)e->burst_n * io->frame_max;
}

static void loop_tx_commit(struct rf_io *io, uint32_t len)
{
	struct end *e = end_of(io);

	e->burst_len[e->burst_n++] = len;
	io->tx_frames++;
	io->tx_bytes += len;
}

static void loop_tx_flush(struct rf_io *io)
{
	struct end *e = end_of(io);
	unsigned int k;

	if (!e->burst_n)
		return;
	rf_mutex_lock(&e->hub->lock, rf_hub_class);
	for (k = 0; k < e->burst_n; k++)
		hub_forward(e->hub, e->port, e->burst + (size_t)k * io->frame_max, e->burst_len[k]);
	rf_mutex_unlock(&e->hub->lock, rf_hub_class);
	e->burst_n = 0;
}

static void loop_wait(struct rf_io *io, uint32_t timeout_us)
{
	struct end *e = end_of(io);
	struct timespec ts;
	uint64_t ns;

	clock_gettime(CLOCK_REALTIME, &ts);
	ns = (uint64_t)ts.tv_nsec + (uint64_t)timeout_us * 1000u;
	ts.tv_sec += (time_t)(ns / 1000000000u);
	ts.tv_nsec = (long)(ns % 1000000000u);
	rf_mutex_lock(&e->hub->lock, rf_hub_class);
	while (!e->woken && e->head + e->lent == e->tail)
		if (pthread_cond_timedwait(&e->cond, &e->hub->lock, &ts) != 0)
			break;
	e->woken = false;
	rf_mutex_unlock(&e->hub->lock, rf_hub_class);
}

static void loop_wake(struct rf_io *io)
{
	struct end *e = end_of(io);

	rf_mutex_lock(&e->hub->lock, rf_hub_class);
	e->woken = true;
	pthread_cond_signal(&e->cond);
	rf_mutex_unlock(&e->hub->lock, rf_hub_class);
}

static int loop_link(struct rf_io *io)
{
	(void)io;
	return 1;
}

static void loop_close(struct rf_io *io)
{
	struct end *e = end_of(io);

	rf_mutex_lock(&e->hub->lock, rf_hub_class);
	e->open = false;
	rf_mutex_unlock(&e->hub->lock, rf_hub_class);
}

static const struct rf_io_ops loop_ops = {
	.name = "loop",
	.rx = loop_rx,
	.tx_buffer = loop_tx_buffer,
	.tx_commit = loop_tx_commit,
	.tx_flush = loop_tx_flush,
	.wait = loop_wait,
	.wake = loop_wake,
	.link = loop_link,
	.close = loop_close,
};

void rf_io_hub_set_box(struct rf_io_hub *hub, rf_io_hub_box *box, void *arg)
{
	rf_mutex_lock(&hub->lock, rf_hub_class);
	hub->box = box;
	hub->box_arg = arg;
	rf_mutex_unlock(&hub->lock, rf_hub_class);
}

struct rf_io_hub *rf_io_hub_create(unsigned int ports, uint32_t frame_max)
{
	struct rf_io_hub *hub = calloc(1, sizeof(*hub));
	unsigned int k;

	if (!hub)
		return NULL;
	pthread_mutex_init(&hub->lock, NULL);
	hub->frame_max = frame_max;
	hub->ends = calloc(ports, sizeof(*hub->ends));
	for (k = 0; hub->ends && k < ports; k++) {
		struct end *e = &hub->ends[k];

		e->hub = hub;
		e->port = k;
		e->io.ops = &loop_ops;
		e->io.frame_max = frame_max;
		e->io.mac[0] = 2;
		e->io.mac[5] = (uint8_t)(k + 1);
		pthread_cond_init(&e->cond, NULL);
		e->bytes = malloc((size_t)QUEUE * frame_max);
		e->lens = calloc(QUEUE, sizeof(*e->lens));
		e->burst = malloc((size_t)RF_IO_BURST * frame_max);
		hub->ports = k + 1;
		if (!e->bytes || !e->lens || !e->burst)
			break;
	}
	if (!hub->ends || k < ports) {
		rf_io_hub_destroy(hub);
		return NULL;
	}
	return hub;
}

void rf_io_hub_destroy(struct rf_io_hub *hub)
{
	unsigned int k;

	if (!hub)
		return;
	for (k = 0; k < hub->ports; k++) {
		pthread_cond_destroy(&hub->ends[k].cond);
		free(hub->ends[k].bytes);
		free(hub->ends[k].lens);
		free(hub->ends[k].burst);
	}
	pthread_mutex_destroy(&hub->lock);
	free(hub->ends);
	free(hub);
}

struct rf_io *rf_io_hub_open(struct rf_io_hub *hub, unsigned int port)
{
	struct end *e = port < hub->ports ? &hub->ends[port] : NULL;
	struct rf_io *io = NULL;

	rf_mutex_lock(&hub->lock, rf_hub_class);
	if (e && !e->open) {
		e->open = true;
		e->head = e->tail = e->lent = 0;
		e->burst_n = 0;
		e->woken = false;
		io = &e->io;
	}
	rf_mutex_unlock(&hub->lock, rf_hub_class);
	return io;
}
