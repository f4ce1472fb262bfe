/*
 * The control messages between a memif server and its clients: hello, which end, regions, rings,
 * connect.
 */
#include "sim/realtime/memif_server.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"

void rf_memif_close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void rf_memif_drop(struct memif *m)
{
	unsigned int k;

	m->connected = false;
	for (k = 0; k < MEMIF_REGIONS; k++) {
		if (m->regions[k].addr)
			munmap(m->regions[k].addr, m->regions[k].size);
		m->regions[k].addr = NULL;
		rf_memif_close_fd(&m->regions[k].fd);
	}
	rf_memif_close_fd(&m->in.irq_fd);
	rf_memif_close_fd(&m->out.irq_fd);
	m->in.there = m->out.there = false;
	rf_memif_close_fd(&m->fd);
	m->io.tx_lost += m->tx_n;
	m->tx_n = 0;
}

static bool send_message(int fd, const struct memif_message *msg)
{
	return send(fd, msg->bytes, sizeof(msg->bytes), MSG_NOSIGNAL | MSG_DONTWAIT) ==
	       (ssize_t)sizeof(msg->bytes);
}

static bool acknowledge(int fd)
{
	struct memif_message msg = {{0}};

	memif_put16(&msg, MEMIF_TYPE, MEMIF_ACK);
	return send_message(fd, &msg);
}

bool rf_memif_refuse(int fd, const char *reason)
{
	struct memif_message msg = {{0}};

	memif_put16(&msg, MEMIF_TYPE, MEMIF_DISCONNECT);
	snprintf((char *)msg.bytes + MEMIF_DISCONNECT_TEXT, 96, "%s", reason);
	send_message(fd, &msg);
	return false;
}

/* Reads a message, and its descriptor or -1. Returns 1, 0 if there is none yet, -1 at the end. */
static int receive_message(int fd, struct memif_message *msg, int *passed)
{
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(sizeof(int) * 4)];
	} control;
	struct iovec iov = {.iov_base = msg->bytes, .iov_len = sizeof(msg->bytes)};
	struct msghdr mh = {.msg_iov = &iov,
			    .msg_iovlen = 1,
			    .msg_control = &control,
			    .msg_controllen = sizeof(control)};
	struct cmsghdr *c;
	ssize_t n = recvmsg(fd, &mh, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

	*passed = -1;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	for (c = n < 0 ? NULL : CMSG_FIRSTHDR(&mh); c; c = CMSG_NXTHDR(&mh, c)) {
		size_t k, count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);

		for (k = 0; c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS && k < count;
		     k++) {
			int got;

			memcpy(&got, CMSG_DATA(c) + k * sizeof(int), sizeof(got));
			if (*passed >= 0)
				close(got);
			else
				*passed = got;
		}
	}
	if (n == (ssize_t)sizeof(msg->bytes))
		return 1;
	rf_memif_close_fd(passed);
	return -1;
}

static bool add_region(struct memif *m, const struct memif_message *msg, int *passed)
{
	uint16_t index = memif_get16(msg, MEMIF_REGION_INDEX);
	uint64_t size = memif_get64(msg, MEMIF_REGION_SIZE);
	struct stat st;
	int seals;

	if (*passed < 0 || index >= MEMIF_REGIONS || m->regions[index].addr ||
	    m->regions[index].fd >= 0)
		return rf_memif_refuse(m->fd, "region: index or descriptor");
	/* The seal first: without it the file may be shorter than its size says now. */
	seals = fcntl(*passed, F_GET_SEALS);
	if (seals < 0 || !(seals & F_SEAL_SHRINK))
		return rf_memif_refuse(m->fd, "region: its file lacks F_SEAL_SHRINK");
	if (fstat(*passed, &st) != 0 || size == 0 || st.st_size < 0 || size > (uint64_t)st.st_size)
		return rf_memif_refuse(m->fd, "region: longer than its file");
	m->regions[index].fd = *passed;
	m->regions[index].size = (size_t)size;
	*passed = -1;
	return acknowledge(m->fd);
}

static bool add_ring(struct memif *m, const struct memif_message *msg, int *passed)
{
	uint16_t flags = memif_get16(msg, MEMIF_RING_FLAGS);
	uint16_t region = memif_get16(msg, MEMIF_RING_REGION);
	uint32_t offset = memif_get32(msg, MEMIF_RING_OFFSET);
	uint8_t log2 = msg->bytes[MEMIF_RING_LOG2];
	struct memif_ring *r = flags & MEMIF_RING_TO_SERVER ? &m->in : &m->out;

	if (*passed < 0 || memif_get16(msg, MEMIF_RING_INDEX) != 0 || r->there)
		return rf_memif_refuse(m->fd,
				       "ring: one in each direction, each with a descriptor");
	if (region >= MEMIF_REGIONS || log2 > MEMIF_LOG2_RING_MAX || offset % 4)
		return rf_memif_refuse(m->fd, "ring: place or size");
	r->region = region;
	r->offset = offset;
	r->log2 = log2;
	r->irq_fd = *passed;
	r->there = true;
	*passed = -1;
	return acknowledge(m->fd);
}

static bool map_ring(struct memif *m, struct memif_ring *r)
{
	const struct memif_region *region = &m->regions[r->region];
	uint32_t cookie;

	if (!r->there || !region->addr ||
	    (uint64_t)r->offset + MEMIF_DESCS + ((uint64_t)MEMIF_DESC_BYTES << r->log2) >
		    region->size)
		return false;
	r->at = region->addr + r->offset;
	memcpy(&cookie, r->at + MEMIF_COOKIE, sizeof(cookie));
	return cookie == MEMIF_COOKIE_VALUE;
}

static bool connect_rings(struct memif *m)
{
	struct memif_message msg = {{0}};
	uint16_t polled = MEMIF_MASK_INTERRUPT;
	unsigned int k;

	for (k = 0; k < MEMIF_REGIONS; k++) {
		struct memif_region *r = &m->regions[k];
		void *addr;

		if (r->fd < 0)
			continue;
		addr = mmap(NULL, r->size, PROT_READ | PROT_WRITE, MAP_SHARED, r->fd, 0);
		rf_memif_close_fd(&r->fd);
		if (addr == MAP_FAILED)
			return rf_memif_refuse(m->fd, "region: cannot be mapped");
		r->addr = addr;
	}
	if (!map_ring(m, &m->in) || !map_ring(m, &m->out))
		return rf_memif_refuse(m->fd, "ring: outside of its region, or without cookie");
	memcpy(m->in.at + MEMIF_FLAGS, &polled, sizeof(polled));
	memif_put16(&msg, MEMIF_TYPE, MEMIF_CONNECTED);
	snprintf((char *)msg.bytes + 2, 32, "ringfold");
	m->connected = true;
	return send_message(m->fd, &msg);
}

static bool obey(struct memif *m, const struct memif_message *msg, int *passed)
{
	switch (memif_get16(msg, MEMIF_TYPE)) {
	case MEMIF_ACK:
		return true;
	case MEMIF_ADD_REGION:
		return !m->connected && add_region(m, msg, passed);
	case MEMIF_ADD_RING:
		return !m->connected && add_ring(m, msg, passed);
	case MEMIF_CONNECT:
		return !m->connected && connect_rings(m);
	}
	return false; /* DISCONNECT, or a message that clients must not send */
}

/* Handles messages of this end's client. */
static void control(struct memif *m)
{
	struct memif_message msg;
	int passed;
	int heard;

	while (m->fd >= 0 && (heard = receive_message(m->fd, &msg, &passed)) != 0) {
		bool go_on = heard > 0 && obey(m, &msg, &passed);

		rf_memif_close_fd(&passed);
		if (!go_on)
			rf_memif_drop(m);
	}
}

/* A client has requested an end: it owns that end from now on. False: close the connection. */
static bool assign(struct memif_listener *l, int fd, const struct memif_message *msg)
{
	struct memif *m;

	if (memif_get16(msg, MEMIF_TYPE) != MEMIF_INIT ||
	    memif_get16(msg, MEMIF_INIT_VERSION) != MEMIF_VERSION)
		return rf_memif_refuse(fd, "another version of memif");
	if (msg->bytes[MEMIF_INIT_MODE] != 0)
		return rf_memif_refuse(fd, "only Ethernet mode");
	for (m = l->ends; m && m->id != memif_get32(msg, MEMIF_INIT_ID); m = m->next)
		;
	if (!m)
		return rf_memif_refuse(fd, "no such id here");
	control(m); /* the previous client may just have disconnected */
	if (m->fd >= 0)
		return rf_memif_refuse(fd, "another client is already connected");
	m->fd = fd;
	return acknowledge(fd);
}

static void greet(struct memif_listener *l)
{
	struct memif_message msg = {{0}};
	unsigned int k;
	int fd;

	/* While all places are taken, new connections wait in the kernel's queue. */
	for (k = 0; k < MEMIF_WAITING && l->waiting[k].fd >= 0; k++)
		;
	if (k == MEMIF_WAITING)
		return;
	fd = accept4(l->fd, NULL, NULL, SOCK_CLOEXEC);
	if (fd < 0)
		return;
	memif_put16(&msg, MEMIF_TYPE, MEMIF_HELLO);
	snprintf((char *)msg.bytes + 2, 32, "ringfold");
	memif_put16(&msg, MEMIF_HELLO_MIN, MEMIF_VERSION);
	memif_put16(&msg, MEMIF_HELLO_MAX, MEMIF_VERSION);
	memif_put16(&msg, MEMIF_HELLO_REGIONS, MEMIF_REGIONS - 1);
	msg.bytes[MEMIF_HELLO_LOG2] = MEMIF_LOG2_RING_MAX;
	if (!send_message(fd, &msg)) {
		close(fd);
		return;
	}
	l->waiting[k].fd = fd;
	l->waiting[k].since = rf_now_ns();
}

void rf_memif_look(struct memif *m)
{
	struct memif_listener *l = m->listener;
	struct memif_message msg;
	unsigned int k;
	int passed, heard;

	control(m);
	greet(l);
	for (k = 0; k < MEMIF_WAITING; k++) {
		int fd = l->waiting[k].fd;

		if (fd < 0)
			continue;
		heard = receive_message(fd, &msg, &passed);
		if (heard == 0 && rf_now_ns() - l->waiting[k].since < MEMIF_WAIT_NS)
			continue;
		rf_memif_close_fd(&passed);
		if (heard == 0)
			rf_memif_refuse(fd, "nothing requested within a second");
		if (heard <= 0 || !assign(l, fd, &msg))
			close(fd);
		l->waiting[k].fd = -1;
	}
}
