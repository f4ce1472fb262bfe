/*
 * The serving end of a memif (shared memory packet interface, protocol 2.0): hosts with DPDK's
 * net_memif connect to it. DPDK's own server frees a connection's memory in its interrupt thread
 * while another thread may be reading it; here one thread does both, so a host may connect,
 * disconnect or crash at any moment.
 *
 * The client owns the memory: it passes regions (file descriptors) and the positions of the two
 * rings. A ring has `head` and `tail`, free running; descriptors name buffers in regions. From
 * client to server the client fills the descriptor at head, the server takes it at tail. From
 * server to client the client offers empty buffers up to head, the server fills the one at tail.
 *
 * Nothing that the client writes is trusted: every index, offset and length is read once and
 * checked when it is used. Its memory files must be sealed against shrinking: an access beyond the
 * end of a file would end this process by SIGBUS.
 */
#include "base/clock.h"
#include "sim/realtime/memif_server.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "host/io/socket_path.h"
#include "ringfold/ringfold.h"

/* Time between two polls of the control socket. */
#define CONTROL_NS 1000000u

/* For the whole process. All ends of one socket belong to one thread. */
static struct memif_listener *listeners;

static struct memif *memif_of(struct rf_io *io)
{
	return (struct memif *)io; /* io is its first member */
}

static uint16_t load16(const uint8_t *p)
{
	return atomic_load_explicit((const _Atomic uint16_t *)(const void *)p,
				    memory_order_acquire);
}

static void store16(uint8_t *p, uint16_t v)
{
	atomic_store_explicit((_Atomic uint16_t *)(void *)p, v, memory_order_release);
}

/* A snapshot of a descriptor: the client may change it meanwhile, so it is read once. */
static struct memif_desc desc_read(const struct memif_ring *r, uint16_t slot)
{
	const uint8_t *p =
		r->at + MEMIF_DESCS + (size_t)(slot & ((1u << r->log2) - 1)) * MEMIF_DESC_BYTES;
	struct memif_desc d;

	memcpy(&d, p, sizeof(d));
	return d;
}

static void desc_write(const struct memif_ring *r, uint16_t slot, const struct memif_desc *d)
{
	uint8_t *p =
		r->at + MEMIF_DESCS + (size_t)(slot & ((1u << r->log2) - 1)) * MEMIF_DESC_BYTES;

	memcpy(p, d, sizeof(*d));
}

/* The bytes of a descriptor's buffer, or NULL if it lies outside its region. */
static uint8_t *buffer_of(const struct memif *m, const struct memif_desc *d)
{
	const struct memif_region *r = d->region < MEMIF_REGIONS ? &m->regions[d->region] : NULL;

	if (!r || !r->addr || d->offset > r->size || d->length > r->size - d->offset)
		return NULL;
	return r->addr + d->offset;
}

/* Copies one frame that may span several buffers. Returns its length, or 0 if it is dropped. */
static uint32_t take(const struct memif *m, uint16_t *tail, uint16_t head, uint8_t *to)
{
	uint32_t len = 0;
	bool good = true;

	while (*tail != head) {
		struct memif_desc d = desc_read(&m->in, (*tail)++);
		const uint8_t *from = buffer_of(m, &d);

		good = good && from && d.length <= m->io.frame_max - len;
		if (good) {
			memcpy(to + len, from, d.length);
			len += d.length;
		}
		if (!(d.flags & MEMIF_NEXT))
			break;
	}
	return good ? len : 0;
}

static unsigned int memif_rx(struct rf_io *io, struct rf_io_frame *frames, unsigned int n)
{
	struct memif *m = memif_of(io);
	uint64_t now = rf_now_ns();
	uint16_t head, tail;
	unsigned int got = 0;

	if (now - m->looked >= CONTROL_NS) {
		m->looked = now;
		rf_memif_look(m);
	}
	if (!m->connected)
		return 0;
	head = load16(m->in.at + MEMIF_HEAD);
	tail = load16(m->in.at + MEMIF_TAIL);
	if ((uint16_t)(head - tail) > 1u << m->in.log2) {
		rf_memif_refuse(m->fd, "ring: more than full");
		rf_memif_drop(m);
		return 0;
	}
	while (got < n && got < RF_IO_BURST && tail != head) {
		uint8_t *to = m->rx + (size_t)got * io->frame_max;
		uint32_t len = take(m, &tail, head, to);

		if (!len)
			continue;
		frames[got].data = to;
		frames[got++].len = len;
		io->rx_bytes += len;
	}
	store16(m->in.at + MEMIF_TAIL, tail);
	io->rx_frames += got;
	return got;
}

/* Puts one frame into the buffers offered from *tail on. False if they are not sufficient. */
static bool give(const struct memif *m, uint16_t *tail, uint16_t head, const uint8_t *frame,
		 uint32_t len)
{
	uint16_t slot = *tail;

	for (;;) {
		struct memif_desc d;
		uint8_t *to;

		if (slot == head)
			return false;
		d = desc_read(&m->out, slot);
		to = buffer_of(m, &d);
		if (!to || !d.length) {
			/* an unusable buffer: handed back empty, the frame is lost */
			d.length = 0;
			d.flags = 0;
			desc_write(&m->out, slot++, &d);
			break;
		}
		if (d.length > len)
			d.length = len;
		memcpy(to, frame, d.length);
		frame += d.length;
		len -= d.length;
		d.flags = len ? MEMIF_NEXT : 0;
		desc_write(&m->out, slot++, &d);
		if (!len)
			break;
	}
	*tail = slot;
	return true;
}

static void memif_tx_flush(struct rf_io *io)
{
	struct memif *m = memif_of(io);
	uint16_t head, tail, flags;
	uint64_t one = 1;
	unsigned int k;

	if (!m->tx_n)
		return;
	if (!m->connected) {
		io->tx_lost += m->tx_n;
		m->tx_n = 0;
		return;
	}
	head = load16(m->out.at + MEMIF_HEAD);
	tail = load16(m->out.at + MEMIF_TAIL);
	if ((uint16_t)(head - tail) > 1u << m->out.log2)
		head = tail;
	for (k = 0; k < m->tx_n; k++)
		if (!give(m, &tail, head, m->tx + (size_t)k * io->frame_max, m->tx_len[k]))
			break;
	store16(m->out.at + MEMIF_TAIL, tail);
	/* frames without a buffer stay for the next call, in order */
	m->tx_n -= k;
	if (m->tx_n && k) {
		memmove(m->tx, m->tx + (size_t)k * io->frame_max, (size_t)m->tx_n * io->frame_max);
		memmove(m->tx_len, m->tx_len + k, m->tx_n * sizeof(m->tx_len[0]));
	}
	flags = load16(m->out.at + MEMIF_FLAGS);
	if (k && !(flags & MEMIF_MASK_INTERRUPT) && write(m->out.irq_fd, &one, sizeof(one)) < 0)
		return; /* its counter is full: the client is awake */
}

static uint8_t *memif_tx_buffer(struct rf_io *io)
{
	struct memif *m = memif_of(io);

	if (m->tx_n == RF_IO_BURST)
		memif_tx_flush(io);
	return m->tx_n == RF_IO_BURST ? NULL : m->tx + (size_t)m->tx_n * io->frame_max;
}

static void memif_tx_commit(struct rf_io *io, uint32_t len)
{
	struct memif *m = memif_of(io);

	m->tx_len[m->tx_n++] = len;
	io->tx_frames++;
	io->tx_bytes += len;
}

static void memif_wait(struct rf_io *io, uint32_t timeout_us)
{
	struct memif *m = memif_of(io);
	struct timespec ts = {.tv_sec = timeout_us / 1000000,
			      .tv_nsec = (long)(timeout_us % 1000000) * 1000};
	struct pollfd fds[3] = {{.fd = m->wake_fd, .events = POLLIN},
				{.fd = m->listener->fd, .events = POLLIN},
				{.fd = m->fd, .events = POLLIN}};
	uint64_t count;

	if (ppoll(fds, 3, &ts, NULL) <= 0)
		return;
	m->looked = 0;
	while (fds[0].revents && read(m->wake_fd, &count, sizeof(count)) > 0)
		;
}

static void memif_wake(struct rf_io *io)
{
	uint64_t one = 1;

	if (write(memif_of(io)->wake_fd, &one, sizeof(one)) < 0)
		return; /* its counter is full: it is awake */
}

static int memif_link(struct rf_io *io)
{
	return memif_of(io)->connected;
}

static void listener_leave(struct memif *m)
{
	struct memif_listener *l = m->listener;
	struct memif_listener **at = &listeners;
	struct memif **end = &l->ends;
	unsigned int k;

	while (*end && *end != m)
		end = &(*end)->next;
	if (*end)
		*end = m->next;
	if (l->ends)
		return;
	while (*at != l)
		at = &(*at)->next;
	*at = l->next;
	for (k = 0; k < MEMIF_WAITING; k++)
		rf_memif_close_fd(&l->waiting[k].fd);
	rf_memif_close_fd(&l->fd);
	unlink(l->path);
	free(l);
}

static void memif_close(struct rf_io *io)
{
	struct memif *m = memif_of(io);

	if (m->fd >= 0)
		rf_memif_refuse(m->fd, "closed");
	rf_memif_drop(m);
	if (m->listener)
		listener_leave(m);
	rf_memif_close_fd(&m->wake_fd);
	free(m->rx);
	free(m->tx);
	free(m);
}

static const struct rf_io_ops memif_ops = {
	.name = "memif",
	.rx = memif_rx,
	.tx_buffer = memif_tx_buffer,
	.tx_commit = memif_tx_commit,
	.tx_flush = memif_tx_flush,
	.wait = memif_wait,
	.wake = memif_wake,
	.link = memif_link,
	.close = memif_close,
};

static int listener_open(const char *path, struct memif_listener **out, char *why, size_t room)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct memif_listener *l;
	unsigned int k;

	for (l = listeners; l; l = l->next) {
		if (strcmp(l->path, path) == 0) {
			*out = l;
			return RF_OK;
		}
	}
	if (strlen(path) >= sizeof(address.sun_path)) {
		snprintf(why, room, "the path of the socket is longer than %zu: %s",
			 sizeof(address.sun_path) - 1, path);
		return RF_ERR_INVALID;
	}
	l = calloc(1, sizeof(*l));
	if (!l) {
		snprintf(why, room, "no memory for the socket");
		return RF_ERR_NO_MEMORY;
	}
	snprintf(l->path, sizeof(l->path), "%s", path);
	memcpy(address.sun_path, l->path, sizeof(address.sun_path));
	for (k = 0; k < MEMIF_WAITING; k++)
		l->waiting[k].fd = -1;
	if (rf_socket_path_clear(path, SOCK_SEQPACKET, why, room) != 0) {
		free(l);
		return RF_ERR_DEVICE;
	}
	l->fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (l->fd < 0 || rf_socket_bind(l->fd, &address) < 0 || listen(l->fd, 16) < 0) {
		snprintf(why, room, "cannot serve the socket %s: %s", path, strerror(errno));
		rf_memif_close_fd(&l->fd);
		free(l);
		return RF_ERR_DEVICE;
	}
	l->next = listeners;
	listeners = l;
	*out = l;
	return RF_OK;
}

int rf_io_memif_serve(const char *path, uint32_t id, uint32_t frame_max, struct rf_io **io,
		      char *why, size_t room)
{
	struct memif *m = calloc(1, sizeof(*m));
	const struct memif *other;
	unsigned int k;
	int ret;

	if (!m) {
		snprintf(why, room, "no memory for the device");
		return RF_ERR_NO_MEMORY;
	}
	m->io.ops = &memif_ops;
	m->io.frame_max = frame_max;
	m->io.polling = true;
	m->io.mac[0] = 2;
	m->id = id;
	m->fd = m->in.irq_fd = m->out.irq_fd = -1;
	for (k = 0; k < MEMIF_REGIONS; k++)
		m->regions[k].fd = -1;
	m->rx = malloc((size_t)RF_IO_BURST * frame_max);
	m->tx = malloc((size_t)RF_IO_BURST * frame_max);
	m->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	ret = RF_OK;
	if (m->wake_fd < 0) {
		snprintf(why, room, "no event descriptor: %s", strerror(errno));
		ret = RF_ERR_SYSTEM;
	} else if (!m->rx || !m->tx) {
		snprintf(why, room, "no memory for frames");
		ret = RF_ERR_NO_MEMORY;
	}
	if (!ret)
		ret = listener_open(path, &m->listener, why, room);
	for (other = ret ? NULL : m->listener->ends; other; other = other->next) {
		if (other->id != id)
			continue;
		snprintf(why, room, "%s already has an end with id %u", path, id);
		m->listener = NULL;
		ret = RF_ERR_INVALID;
		break;
	}
	if (ret) {
		memif_close(&m->io);
		return ret;
	}
	m->next = m->listener->ends;
	m->listener->ends = m;
	*io = &m->io;
	return RF_OK;
}
