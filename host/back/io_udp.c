/*
 * Control packets over a UDP socket of the kernel. A NIC that does RoCE keeps packets to UDP port
 * 4791 for itself. The box answers to the port from which it was asked, so the kernel gets the
 * answer. The kernel has its own ARP: a request for the box's MAC is answered here, with an unused
 * address.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "host/back/internal.h"
#include "proto/rf_bytes.h"
#include "proto/rf_ctl.h"
#include "ringfold/ringfold.h"
#include "wire/arp.h"

#define FRAME_ROOM 4352u

static const uint8_t box_mac[6] = {0x02, 0x52, 0x46, 0xff, 0xff, 0xfe};

struct io_udp {
	struct rf_io io;
	struct rf_verbs *v;
	int fd, wake;
	uint32_t arp_len; /* an ARP reply is due */
	uint8_t arp[RF_ARP_FRAME_MAX];
	uint8_t tx[FRAME_ROOM];
	uint8_t rx[RF_IO_BURST][RF_CTL_FRAME_MAX];
};

/* Converts one datagram back into a frame. */
static size_t take(struct io_udp *d, uint8_t *frame)
{
	struct rf_ctl_addr a = {.vlan = RF_CTL_NO_VLAN};
	uint8_t msg[RF_CTL_MESSAGE_MAX];
	struct sockaddr_in from;
	socklen_t len = sizeof(from);
	ssize_t n = recvfrom(d->fd, msg, sizeof(msg), MSG_DONTWAIT, (struct sockaddr *)&from, &len);

	if (n < 0)
		return 0;
	memcpy(a.dst_mac, d->io.mac, 6);
	memcpy(a.src_mac, box_mac, 6);
	a.src_ip = ntohl(from.sin_addr.s_addr);
	a.dst_ip = d->io.ip;
	a.src_port = ntohs(from.sin_port);
	a.dst_port = RF_CTL_UDP_PORT;
	return rf_ctl_frame_put(frame, RF_CTL_FRAME_MAX, &a, msg, (size_t)n);
}

static unsigned int udp_rx(struct rf_io *io, struct rf_io_frame *frames, unsigned int n)
{
	struct io_udp *d = (struct io_udp *)io;
	unsigned int got = 0;

	if (d->arp_len > 0 && n) {
		frames[got++] = (struct rf_io_frame){d->arp, d->arp_len};
		d->arp_len = 0;
	}
	while (got < n) {
		size_t len = take(d, d->rx[got]);

		if (!len)
			break;
		frames[got] = (struct rf_io_frame){d->rx[got], (uint32_t)len};
		io->rx_bytes += len;
		got++;
	}
	io->rx_frames += got;
	return got;
}

static uint8_t *udp_tx_buffer(struct rf_io *io)
{
	return ((struct io_udp *)io)->tx;
}

/* Answers an ARP request for the box's address with a made-up MAC. RFC 826. */
static void answer_arp(struct io_udp *d, const struct rf_arp *q)
{
	struct rf_arp a = {
		.op = RF_ARP_REPLY, .sender_ip = q->target_ip, .target_ip = q->sender_ip};

	memcpy(a.sender_mac, box_mac, 6);
	memcpy(a.target_mac, q->sender_mac, 6);
	d->arp_len = (uint32_t)rf_arp_build(&a, d->arp, sizeof(d->arp));
}

static void udp_tx_commit(struct rf_io *io, uint32_t len)
{
	struct io_udp *d = (struct io_udp *)io;
	struct sockaddr_in to = {.sin_family = AF_INET};
	struct rf_ctl_addr a;
	struct rf_arp q;
	const uint8_t *msg;
	size_t n;

	if (rf_arp_parse(d->tx, len, &q) != 0) {
		answer_arp(d, &q);
		return;
	}
	if (rf_ctl_frame_get(d->tx, len, &a, &msg, &n) != RF_CTL_FRAME_OK)
		return;
	to.sin_addr.s_addr = htonl(a.dst_ip);
	to.sin_port = htons(a.dst_port);
	if (sendto(d->fd, msg, n, MSG_DONTWAIT, (struct sockaddr *)&to, sizeof(to)) != (ssize_t)n) {
		io->tx_lost++;
		return;
	}
	io->tx_frames++;
	io->tx_bytes += len;
}

static void udp_tx_flush(struct rf_io *io)
{
	(void)io;
}

/* True if one was not armed yet: the caller must poll once more before it may sleep. */
static bool arm(struct rf_verbs *v)
{
	bool fresh = false;

	rf_mutex_lock(&v->lock, rf_verbs_class);
	for (struct rf_verbs_qp *qp = v->qps; qp; qp = qp->next) {
		if (qp->armed)
			continue;
		qp->armed = ibv_req_notify_cq(qp->cq, 0) == 0;
		fresh = true;
	}
	rf_mutex_unlock(&v->lock, rf_verbs_class);
	return fresh;
}

static void take_events(struct rf_verbs *v)
{
	struct ibv_cq *cq;
	void *context;

	rf_mutex_lock(&v->lock, rf_verbs_class);
	while (v->f->get_cq_event(v->channel, &cq, &context) == 0) {
		((struct rf_verbs_qp *)context)->armed = false;
		v->f->ack_cq_events(cq, 1);
	}
	rf_mutex_unlock(&v->lock, rf_verbs_class);
}

static void udp_wait(struct rf_io *io, uint32_t timeout_us)
{
	struct io_udp *d = (struct io_udp *)io;
	struct pollfd fds[3] = {{.fd = d->wake, .events = POLLIN},
				{.fd = d->fd, .events = POLLIN},
				{.fd = d->v->channel->fd, .events = POLLIN}};
	struct timespec t = {(time_t)(timeout_us / 1000000), (long)(timeout_us % 1000000) * 1000};
	uint64_t count;

	if (d->arp_len > 0 || (!io->polling && arm(d->v)))
		return;
	if (ppoll(fds, io->polling ? 2 : 3, &t, NULL) <= 0)
		return;
	if (fds[0].revents && read(d->wake, &count, sizeof(count)) < 0)
		return;
	if (fds[2].revents)
		take_events(d->v);
}

static void udp_wake(struct rf_io *io)
{
	struct io_udp *d = (struct io_udp *)io;
	uint64_t one = 1;

	/* a full counter wakes as well */
	if (write(d->wake, &one, sizeof(one)) < 0)
		return;
}

static int udp_link(struct rf_io *io)
{
	struct rf_verbs *v = ((struct io_udp *)io)->v;
	struct ibv_port_attr attr;

	memset(&attr, 0, sizeof(attr));
	if (v->f->query_port(v->context, v->port, &attr) != 0)
		return -1;
	return attr.state == IBV_PORT_ACTIVE;
}

static void udp_close(struct rf_io *io)
{
	struct io_udp *d = (struct io_udp *)io;

	if (d->fd >= 0)
		close(d->fd);
	if (d->wake >= 0)
		close(d->wake);
	free(d);
}

static const struct rf_io_ops udp_ops = {
	.name = "udp",
	.rx = udp_rx,
	.tx_buffer = udp_tx_buffer,
	.tx_commit = udp_tx_commit,
	.tx_flush = udp_tx_flush,
	.wait = udp_wait,
	.wake = udp_wake,
	.link = udp_link,
	.close = udp_close,
};

int rf_verbs_io(struct rf_verbs *v, struct rf_io **io, char *why, size_t room)
{
	struct sockaddr_in own = {.sin_family = AF_INET};
	struct io_udp *d = calloc(1, sizeof(*d));

	if (!d) {
		snprintf(why, room, "no memory");
		return RF_ERR_NO_MEMORY;
	}
	d->v = v;
	d->io.ops = &udp_ops;
	d->io.ip = v->ip;
	d->io.frame_max = FRAME_ROOM;
	d->io.polling = v->cfg.polling;
	memcpy(d->io.mac, v->mac, 6);
	own.sin_addr.s_addr = htonl(v->ip);
	d->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	d->fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (d->wake < 0 || d->fd < 0 || bind(d->fd, (struct sockaddr *)&own, sizeof(own)) != 0) {
		snprintf(why, room, "cannot open a UDP socket for control packets: %s",
			 strerror(errno));
		udp_close(&d->io);
		return RF_ERR_SYSTEM;
	}
	/*
	 * send through the NIC's own interface, whatever the routes are; old kernels require root
	 * for this
	 */
	(void)!setsockopt(d->fd, SOL_SOCKET, SO_BINDTODEVICE, v->netdev,
			  (socklen_t)strlen(v->netdev));
	*io = &d->io;
	return RF_OK;
}
