/* Makes progress: one round of all work, and the thread that runs rounds and sleeps in between. */
#include "host/api/api.h"

#include <sched.h>
#include <sys/prctl.h>
#include <time.h>

#include "proto/rf_bytes.h"

/* How often the store is polled, and the longest sleep of the thread. */
#define STORE_NS (20 * NS_PER_MS)
/* How often the link is checked, and how long it may be down. */
#define LINK_NS (100 * NS_PER_MS)
#define LINK_DOWN_NS (2000 * NS_PER_MS)
/*
 * Sleep times for a device that cannot interrupt: first and longest while something is outstanding,
 * and longest when idle.
 */
#define SLEEP_MIN_US 10u
#define SLEEP_BUSY_US 160u
#define SLEEP_IDLE_US 1000u
/* Bursts sent in one round before received frames are handled again. */
#define TX_BURSTS 4u
/*
 * After a longer pause than this the process has stood still: everything that waits is read before
 * any deadline is judged, up to so many bursts.
 */
#define PAUSE_NS (100 * NS_PER_MS)
#define PAUSE_BURSTS 128u

static void capture(struct rf_context *ctx, enum rf_pcapng_dir dir, const uint8_t *frame,
		    size_t len)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	/* A capture that cannot be written ends; the job goes on. */
	if (rf_pcapng_frame(ctx->pcap, 0, (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec,
			    dir, frame, len, NULL) != 0)
		rf_pcapng_finish(&ctx->pcap, "ringfold: RF_PCAP");
}

/* Whether a frame may be for a client of the box: ARP, or IPv4 from the box's address. */
static bool for_client(const struct rf_comm *comm, const uint8_t *frame, size_t len)
{
	size_t l2 = 12;
	uint16_t type;

	if (len < 60)
		return false;
	if (rf_get_be16(frame + l2) == RF_INET_TYPE_VLAN)
		l2 += 4;
	type = rf_get_be16(frame + l2);
	if (type == RF_INET_TYPE_ARP)
		return true;
	return type == RF_INET_TYPE_IPV4 && rf_get_be32(frame + l2 + 2 + 12) == comm->box_ip;
}

static void frame_in(struct rf_context *ctx, uint64_t now, const uint8_t *frame, size_t len)
{
	struct rf_group *g = NULL;

	if (ctx->pcap)
		capture(ctx, RF_PCAPNG_IN, frame, len);
	if (ctx->comm && ctx->comm->groups && for_client(ctx->comm, frame, len))
		g = ctx->comm->groups;
	for (; g; g = g->next) {
		if (!rf_member_rx(g->member, now, frame, len))
			continue;
		/* a caller may be waiting for this answer */
		pthread_cond_broadcast(&ctx->cond);
		return;
	}
	roce_endpoint_rx(ctx->ep, now, frame, len);
}

/* Builds the next frame to send. Returns its length, or 0. */
static size_t frame_out(struct rf_context *ctx, uint64_t now, uint8_t *frame, size_t room)
{
	struct rf_group *g;

	for (g = ctx->comm ? ctx->comm->groups : NULL; g; g = g->next) {
		size_t len = rf_member_tx(g->member, now, frame, room);

		if (len)
			return len;
	}
	return roce_endpoint_tx(ctx->ep, now, frame, room);
}

static unsigned int send_all(struct rf_context *ctx, uint64_t now)
{
	struct rf_io *io = ctx->io;
	unsigned int sent = 0;

	while (sent < TX_BURSTS * RF_IO_BURST) {
		uint8_t *frame = io->ops->tx_buffer(io);
		size_t len = frame ? frame_out(ctx, now, frame, io->frame_max) : 0;

		if (!len)
			break;
		if (ctx->pcap)
			capture(ctx, RF_PCAPNG_OUT, frame, len);
		io->ops->tx_commit(io, (uint32_t)len);
		sent++;
		if (sent % RF_IO_BURST == 0)
			io->ops->tx_flush(io);
	}
	io->ops->tx_flush(io);
	return sent;
}

/* Polls the store from time to time, unless another thread is using it. */
static void listen_store(struct rf_comm *comm, uint64_t now)
{
	if (!comm->store || (now < comm->store_due && !comm->n_announces))
		return;
	if (pthread_mutex_trylock(&comm->store_lock) != 0)
		return;
	comm->store_due = now + STORE_NS;
	rf_comm_listen(comm);
	pthread_mutex_unlock(&comm->store_lock);
}

/* If the cable is unplugged or a simulator has ended, there is no need to wait for a deadline. */
static void watch_link(struct rf_context *ctx, uint64_t now)
{
	struct rf_group *g;

	if (now < ctx->link_due)
		return;
	ctx->link_due = now + LINK_NS;
	if (ctx->io->ops->link(ctx->io) != 0 || !ctx->comm->groups)
		ctx->link_seen = now;
	if (now - ctx->link_seen < LINK_DOWN_NS)
		return;
	for (g = ctx->comm->groups; g; g = g->next)
		rf_group_fail(
			g, true, RF_ERR_DEVICE,
			"the network device of rank %u has had no link for %llu ms: check the "
			"switch, or the process at the other end of its socket",
			ctx->comm->rank, (unsigned long long)(LINK_DOWN_NS / NS_PER_MS));
}

static unsigned int receive(struct rf_context *ctx, uint64_t now)
{
	unsigned int bursts = now - ctx->round_at > PAUSE_NS ? PAUSE_BURSTS : 1;
	struct rf_io_frame frames[RF_IO_BURST];
	unsigned int k, n, total = 0;

	do {
		n = ctx->io->ops->rx(ctx->io, frames, RF_IO_BURST);
		for (k = 0; k < n; k++)
			frame_in(ctx, now, frames[k].data, frames[k].len);
		total += n;
	} while (n == RF_IO_BURST && --bursts);
	return total;
}

unsigned int rf_round(struct rf_context *ctx)
{
	struct rf_group *g;
	unsigned int done;
	uint64_t now = rf_now();

	if (!ctx->io)
		return 0;
	done = receive(ctx, now);
	ctx->round_at = now;
	if (ctx->comm) {
		listen_store(ctx->comm, now);
		watch_link(ctx, now);
		for (g = ctx->comm->groups; g; g = g->next)
			done += rf_group_progress(g, now);
	}
	return done + send_all(ctx, now);
}

uint64_t rf_next_timeout(const struct rf_context *ctx)
{
	const struct rf_comm *comm = ctx->comm;
	const struct rf_group *g;
	uint64_t next = ctx->ep ? roce_endpoint_next_timeout(ctx->ep) : RF_NEVER;

	if (comm && comm->store && comm->store_due < next)
		next = comm->store_due;
	if (comm && comm->groups && ctx->link_due < next)
		next = ctx->link_due;
	for (g = comm ? comm->groups : NULL; g; g = g->next) {
		uint64_t t = rf_member_next_timeout(g->member);

		next = t < next ? t : next;
	}
	return next;
}

/* Sleeps after `idle_ns` without work; the lock is not held. */
static void thread_sleep(struct rf_context *ctx, uint64_t next, uint64_t idle_ns, bool busy,
			 unsigned int *step)
{
	uint64_t now = rf_now();
	uint64_t us = next > now ? (next - now) / 1000 + 1 : 0;
	unsigned int most = busy ? SLEEP_BUSY_US : SLEEP_IDLE_US;

	if (!us)
		return;
	if (idle_ns < ctx->spin_ns) {
		sched_yield();
		return;
	}
	if (us > STORE_NS / 1000)
		us = STORE_NS / 1000;
	if (ctx->io->polling) {
		us = us < *step ? us : *step;
		*step = *step * 2 < most ? *step * 2 : most;
	}
	atomic_fetch_add(&ctx->sleeps, 1);
	ctx->io->ops->wait(ctx->io, (uint32_t)us);
}

void *rf_progress_thread(void *arg)
{
	struct rf_context *ctx = arg;
	uint64_t active = rf_now();
	unsigned int step = SLEEP_MIN_US;

	/* the kernel may otherwise stretch each short sleep by 50 microseconds */
	prctl(PR_SET_TIMERSLACK, 1000UL, 0, 0, 0);
	prctl(PR_SET_NAME, "ringfold", 0, 0, 0);
	while (!atomic_load(&ctx->stop)) {
		unsigned int done, k;
		uint64_t next;
		bool busy;

		pthread_mutex_lock(&ctx->lock);
		done = rf_round(ctx);
		busy = ctx->outstanding > 0;
		next = rf_next_timeout(ctx);
		pthread_mutex_unlock(&ctx->lock);
		/* a mutex is not fair: waiting threads must get a chance */
		for (k = 0; k < 100 && atomic_load(&ctx->callers); k++)
			sched_yield();
		if (done) {
			active = rf_now();
			step = SLEEP_MIN_US;
			continue;
		}
		thread_sleep(ctx, next, rf_now() - active, busy, &step);
	}
	return NULL;
}

int rf_progress(struct rf_context *ctx, unsigned int timeout_us)
{
	uint64_t until = rf_now() + (uint64_t)timeout_us * 1000;
	unsigned int done;

	rf_lock(ctx);
	if (!ctx->io) {
		rf_unlock(ctx);
		return RF_IN_PROGRESS;
	}
	while ((done = rf_round(ctx)) == 0) {
		uint64_t now = rf_now();
		uint64_t next = rf_next_timeout(ctx);
		uint64_t us;

		if (now >= until)
			break;
		next = next < until ? next : until;
		us = next > now ? (next - now) / 1000 + 1 : 0;
		if (ctx->io->polling && us > SLEEP_BUSY_US)
			us = SLEEP_BUSY_US;
		rf_unlock(ctx);
		if (us)
			ctx->io->ops->wait(ctx->io, (uint32_t)us);
		rf_lock(ctx);
	}
	rf_unlock(ctx);
	return done ? RF_OK : RF_IN_PROGRESS;
}
