/* One round of all work: frames in, the store, the groups, frames out. */
#include "host/api/api.h"

#include <time.h>

#include "proto/rf_bytes.h"

/* How often the link is checked, and how long it may be down. */
#define LINK_NS (100 * RF_NS_PER_MS)
#define LINK_DOWN_NS (2000 * RF_NS_PER_MS)
/* Bursts sent in one round before received frames are handled again. */
#define TX_BURSTS 4u
/*
 * After a longer pause than this the process has stood still: everything that waits is read before
 * any deadline is judged, at most PAUSE_BURSTS bursts.
 */
#define PAUSE_NS (100 * RF_NS_PER_MS)
#define PAUSE_BURSTS 128u

static void capture(struct rf_context *ctx, enum rf_pcapng_dir dir, const uint8_t *frame,
		    size_t len)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	/* A capture that cannot be written ends; the job goes on. */
	if (rf_pcapng_frame(ctx->pcap, 0, (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec,
			    dir, frame, len, NULL) != 0)
		rf_context_pcap_end(ctx);
}

/*
 * Whether a frame may be for a control client: ARP, or IPv4 from the UDP port of the box's answers.
 * They come from the box or one of its ports, and so do results.
 */
static bool for_client(const uint8_t *frame, size_t len)
{
	size_t l2 = 12;
	uint16_t type;

	/* An ARP packet without padding, as a router behind a virtual link sends it. */
	if (len < 42)
		return false;
	if (rf_get_be16(frame + l2) == RF_INET_TYPE_VLAN)
		l2 += 4;
	type = rf_get_be16(frame + l2);
	if (type == RF_INET_TYPE_ARP)
		return true;
	return type == RF_INET_TYPE_IPV4 && rf_get_be16(frame + l2 + 2 + 20) == RF_CTL_UDP_PORT;
}

static void frame_in(struct rf_context *ctx, uint64_t now, const uint8_t *frame, size_t len)
	RF_REQUIRES(rf_context_class)
{
	bool maybe = for_client(frame, len);
	struct rf_group *g;

	if (ctx->pcap)
		capture(ctx, RF_PCAPNG_IN, frame, len);
	for (g = maybe ? ctx->groups : NULL; g; g = g->next) {
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
	RF_REQUIRES(rf_context_class)
{
	struct rf_group *g;

	for (g = ctx->groups; g; g = g->next) {
		size_t len = rf_member_tx(g->member, now, frame, room);

		if (len)
			return len;
	}
	return roce_endpoint_tx(ctx->ep, now, frame, room);
}

static unsigned int send_all(struct rf_context *ctx, uint64_t now) RF_REQUIRES(rf_context_class)
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

/* Polls the store from time to time. */
static void listen_store(struct rf_context *ctx, uint64_t now) RF_REQUIRES(rf_context_class)
{
	if (ctx->job_state != RF_JOB_UP || !ctx->job.store || now < ctx->store_due)
		return;
	ctx->store_due = now + RF_STORE_POLL_NS;
	rf_job_listen(ctx);
}

/* Groups fail at once, before a deadline, if the cable is unplugged or a simulator has ended. */
static void watch_link(struct rf_context *ctx, uint64_t now) RF_REQUIRES(rf_context_class)
{
	struct rf_group *g;

	if (now < ctx->link_due)
		return;
	ctx->link_due = now + LINK_NS;
	if (ctx->io->ops->link(ctx->io) != 0 || !ctx->groups)
		ctx->link_seen = now;
	if (now - ctx->link_seen < LINK_DOWN_NS)
		return;
	for (g = ctx->groups; g; g = g->next)
		rf_group_fail(
			g, true, RF_ERR_DEVICE,
			"the network device of rank %u has had no link for %llu ms: check the "
			"switch, or the process at the other end of its socket",
			g->comm->rank, (unsigned long long)(LINK_DOWN_NS / RF_NS_PER_MS));
}

static unsigned int receive(struct rf_context *ctx, uint64_t now) RF_REQUIRES(rf_context_class)
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
	listen_store(ctx, now);
	watch_link(ctx, now);
	for (g = ctx->groups; g; g = g->next)
		done += rf_group_progress(g, now);
	return done + send_all(ctx, now);
}

uint64_t rf_next_timeout(const struct rf_context *ctx)
{
	const struct rf_group *g;
	uint64_t next = ctx->ep ? roce_endpoint_next_timeout(ctx->ep) : RF_NEVER;

	if (ctx->job_state == RF_JOB_UP && ctx->job.store && ctx->store_due < next)
		next = ctx->store_due;
	if (ctx->groups && ctx->link_due < next)
		next = ctx->link_due;
	for (g = ctx->groups; g; g = g->next) {
		uint64_t t = rf_member_next_timeout(g->member);

		next = t < next ? t : next;
	}
	return next;
}
