#include "sim/realtime/port_kernel.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/if_tun.h>
#include <linux/virtio_net.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "host/io/socket_path.h"
#include "proto/rf_bytes.h"
#include "proto/rf_inet.h"

/* Larger than the largest frame, so that a longer frame can be detected. */
#define ROOM (RF_RT_FRAME_MAX + 64u)
#define VLAN_TAG 4u
/* Socket buffers: number of frames that may wait for a busy box. */
#define SOCKET_BYTES (8 << 20)
#define FRAME_MIN 60u

struct kernel_port {
	struct rf_rt_port p;
	/*
	 * Reads one frame into a buffer of ROOM bytes. Returns its length, 0 if it must be skipped,
	 * -1 if there is none.
	 */
	ssize_t (*take)(struct kernel_port *d, uint8_t *frame);
	/* Sends a frame; -1 and errno on failure. */
	ssize_t (*give)(struct kernel_port *d, const uint8_t *frame, size_t len);
	int fd;
	bool logged; /* whether the need for segmentation was logged */
	struct sockaddr_un to;
	char own[sizeof(((struct sockaddr_un *)0)->sun_path)]; /* socket file to remove */
	uint8_t room[RF_RT_BURST][ROOM];
};

/* Whether a read or write failed only because nothing is available now. */
static bool not_now(int error)
{
	return error == EAGAIN || error == EWOULDBLOCK || error == EINTR || error == ENOBUFS;
}

static bool never_ends(const struct rf_rt_port *p)
{
	(void)p;
	return false;
}

static void no_flush(struct rf_rt_port *p)
{
	(void)p;
}

static void kernel_close(struct rf_rt_port *p)
{
	struct kernel_port *d = (struct kernel_port *)p;

	if (d->fd >= 0)
		close(d->fd);
	if (d->own[0])
		unlink(d->own);
	free(d);
}

/* A MAC pads short frames; sources that are not on a wire do not. */
static size_t padded(uint8_t *frame, size_t len)
{
	if (len >= FRAME_MIN)
		return len;
	memset(frame + len, 0, FRAME_MIN - len);
	return FRAME_MIN;
}

static unsigned kernel_rx(struct rf_rt_port *p, const uint8_t **frame, size_t *len, unsigned n)
{
	struct kernel_port *d = (struct kernel_port *)p;
	unsigned got = 0;

	/* the number of skipped frames is bounded too */
	for (unsigned looks = 0; got < n && got < RF_RT_BURST && looks < 2 * RF_RT_BURST; looks++) {
		ssize_t r = d->take(d, d->room[got]);

		if (r < 0)
			break;
		if (r < (ssize_t)sizeof(struct ethhdr))
			continue;
		if (r > (ssize_t)RF_RT_FRAME_MAX) {
			p->rx_long++;
			continue;
		}
		frame[got] = d->room[got];
		len[got] = padded(d->room[got], (size_t)r);
		got++;
	}
	p->rx_frames += got;
	return got;
}

static bool kernel_tx(struct rf_rt_port *p, const uint8_t *frame, size_t len)
{
	struct kernel_port *d = (struct kernel_port *)p;

	if (d->give(d, frame, len) >= 0) {
		p->tx_frames++;
		return true;
	}
	if (not_now(errno))
		return false;
	/* no peer, interface down or its MTU too small: treated like an unplugged cable */
	p->tx_lost++;
	return true;
}

static struct kernel_port *port_new(ssize_t (*take)(struct kernel_port *, uint8_t *),
				    ssize_t (*give)(struct kernel_port *, const uint8_t *, size_t),
				    char *why, size_t room)
{
	static const struct rf_rt_port_ops ops = {
		kernel_rx, kernel_tx, no_flush, never_ends, kernel_close, rf_rt_port_no_link, NULL};
	struct kernel_port *d = calloc(1, sizeof(*d));

	if (!d) {
		snprintf(why, room, "out of memory");
		return NULL;
	}
	d->p.ops = &ops;
	d->take = take;
	d->give = give;
	d->fd = -1;
	return d;
}

static int give_up(struct kernel_port *d, const char *what, int error, char *why, size_t room)
{
	snprintf(why, room, "%s: %s%s", what, strerror(error),
		 error == EPERM || error == EACCES ? " (needs root or CAP_NET_ADMIN, CAP_NET_RAW)"
						   : "");
	kernel_close(&d->p);
	return -1;
}

/* ---- one frame per read or write: tap ---- */

static ssize_t tap_take(struct kernel_port *d, uint8_t *frame)
{
	ssize_t r = read(d->fd, frame, ROOM);

	/* EIO: the interface is down */
	if (r < 0 && !not_now(errno) && errno != EIO)
		snprintf(d->p.error, sizeof(d->p.error), "%s", strerror(errno));
	return r > 0 ? r : -1;
}

static ssize_t tap_give(struct kernel_port *d, const uint8_t *frame, size_t len)
{
	return write(d->fd, frame, len);
}

static int interface_up(const char *name)
{
	struct ifreq ifr = {0};
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	int err = 0;

	if (fd < 0)
		return errno;
	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", name);
	if (ioctl(fd, SIOCGIFFLAGS, &ifr) != 0) {
		err = errno;
	} else if (!(ifr.ifr_flags & IFF_UP)) {
		ifr.ifr_flags = (short)(ifr.ifr_flags | IFF_UP);
		if (ioctl(fd, SIOCSIFFLAGS, &ifr) != 0)
			err = errno;
	}
	close(fd);
	return err;
}

int rf_rt_open_tap(const struct rf_rt_spec *s, struct rf_rt_port **out, char *why, size_t room)
{
	const char *name = s->what;
	struct kernel_port *d = port_new(tap_take, tap_give, why, room);
	struct ifreq ifr = {.ifr_flags = IFF_TAP | IFF_NO_PI};
	int err;

	if (!d)
		return -1;
	if (strlen(name) >= sizeof(ifr.ifr_name)) {
		snprintf(why, room, "tap: a name has at most %zu bytes", sizeof(ifr.ifr_name) - 1);
		kernel_close(&d->p);
		return -EINVAL;
	}
	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", name);
	d->fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (d->fd < 0)
		return give_up(d, "/dev/net/tun", errno, why, room);
	/* whole frames with complete checksums: no offload left to this end */
	if (ioctl(d->fd, TUNSETIFF, &ifr) != 0 || ioctl(d->fd, TUNSETOFFLOAD, 0) != 0)
		return give_up(d, name, errno, why, room);
	err = interface_up(name);
	if (err)
		return give_up(d, name, err, why, room);
	*out = &d->p;
	return 0;
}

/* ---- unix datagram sockets ---- */

static ssize_t dgram_take(struct kernel_port *d, uint8_t *frame)
{
	return recv(d->fd, frame, ROOM, MSG_DONTWAIT);
}

static ssize_t dgram_give(struct kernel_port *d, const uint8_t *frame, size_t len)
{
	return sendto(d->fd, frame, len, MSG_DONTWAIT | MSG_NOSIGNAL, (struct sockaddr *)&d->to,
		      sizeof(d->to));
}

static int unix_name(struct sockaddr_un *a, const char *path)
{
	*a = (struct sockaddr_un){.sun_family = AF_UNIX};
	if (!*path || strlen(path) >= sizeof(a->sun_path))
		return -1;
	memcpy(a->sun_path, path, strlen(path) + 1);
	return 0;
}

int rf_rt_open_dgram(const struct rf_rt_spec *s, struct rf_rt_port **out, char *why, size_t room)
{
	const char *path = s->what;
	struct kernel_port *d = port_new(dgram_take, dgram_give, why, room);
	struct sockaddr_un own;
	int bytes = SOCKET_BYTES;

	if (!d)
		return -1;
	if (unix_name(&own, path) != 0 || !s->value || unix_name(&d->to, s->value) != 0) {
		snprintf(why, room, "dgram: expected two paths of at most %zu bytes: OWN,to=PEER",
			 sizeof(own.sun_path) - 1);
		kernel_close(&d->p);
		return -EINVAL;
	}
	d->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (d->fd < 0)
		return give_up(d, path, errno, why, room);
	/* as much as the system permits */
	setsockopt(d->fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
	setsockopt(d->fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
	if (rf_socket_path_clear(path, SOCK_DGRAM, why, room) != 0) {
		kernel_close(&d->p);
		return -1;
	}
	if (rf_socket_bind(d->fd, &own) != 0)
		return give_up(d, path, errno, why, room);
	memcpy(d->own, own.sun_path, sizeof(d->own));
	*out = &d->p;
	return 0;
}

/* ---- AF_PACKET ---- */

/* Reinserts the tag that the kernel has removed. */
static size_t put_tag(uint8_t *frame, size_t len, const struct tpacket_auxdata *aux)
{
	uint16_t type =
		aux->tp_status & TP_STATUS_VLAN_TPID_VALID ? aux->tp_vlan_tpid : ETH_P_8021Q;

	if (!(aux->tp_status & TP_STATUS_VLAN_VALID) || len + VLAN_TAG > ROOM)
		return len;
	memmove(frame + 16, frame + 12, len - 12);
	rf_put_be16(frame + 12, type);
	rf_put_be16(frame + 14, aux->tp_vlan_tci);
	return len + VLAN_TAG;
}

/* RFC 1071 over the data prepared by the sender: the field already contains the pseudo header. */
static bool put_checksum(uint8_t *frame, size_t len, size_t start, size_t offset)
{
	uint32_t sum;

	if (start >= len || offset + 2 > len - start)
		return false;
	sum = ~rf_inet_sum(0, frame + start, len - start) & 0xffff;
	rf_put_be16(frame + start + offset, (uint16_t)(sum ? sum : 0xffff));
	return true;
}

static ssize_t packet_take(struct kernel_port *d, uint8_t *frame)
{
	struct virtio_net_hdr vnet = {0};
	struct iovec iov[2] = {{&vnet, sizeof(vnet)}, {frame, ROOM - VLAN_TAG}};
	struct tpacket_auxdata aux = {0};
	struct sockaddr_ll from = {0};
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(sizeof(struct tpacket_auxdata))];
	} control;
	struct msghdr m = {.msg_name = &from,
			   .msg_namelen = sizeof(from),
			   .msg_iov = iov,
			   .msg_iovlen = 2,
			   .msg_control = &control,
			   .msg_controllen = sizeof(control)};
	ssize_t r = recvmsg(d->fd, &m, MSG_DONTWAIT);
	struct cmsghdr *c;
	size_t len;

	if (r < 0)
		return -1;
	if (r < (ssize_t)(sizeof(vnet) + sizeof(struct ethhdr)) ||
	    from.sll_pkttype == PACKET_OUTGOING)
		return 0;
	if (vnet.gso_type != VIRTIO_NET_HDR_GSO_NONE) {
		if (!d->logged)
			fprintf(stderr,
				"ringfold box: port %s: frames that need segmentation are "
				"are "
				"dropped; run on the sending host: ethtool -K IFACE tso off gso "
				"off\n",
				d->p.name);
		d->logged = true;
		return 0;
	}
	len = (size_t)r - sizeof(vnet);
	if (m.msg_flags & MSG_TRUNC)
		return (ssize_t)ROOM; /* longer than any frame: kernel_rx() drops it */
	if ((vnet.flags & VIRTIO_NET_HDR_F_NEEDS_CSUM) &&
	    !put_checksum(frame, len, vnet.csum_start, vnet.csum_offset))
		return 0;
	for (c = CMSG_FIRSTHDR(&m); c; c = CMSG_NXTHDR(&m, c))
		if (c->cmsg_level == SOL_PACKET && c->cmsg_type == PACKET_AUXDATA)
			memcpy(&aux, CMSG_DATA(c), sizeof(aux));
	return (ssize_t)put_tag(frame, len, &aux);
}

static ssize_t packet_give(struct kernel_port *d, const uint8_t *frame, size_t len)
{
	struct virtio_net_hdr vnet = {0};
	struct iovec iov[2] = {{&vnet, sizeof(vnet)}, {(void *)(uintptr_t)frame, len}};
	struct msghdr m = {.msg_iov = iov, .msg_iovlen = 2};

	return sendmsg(d->fd, &m, MSG_DONTWAIT);
}

static int packet_options(int fd, int index)
{
	struct packet_mreq promiscuous = {.mr_ifindex = index, .mr_type = PACKET_MR_PROMISC};
	int bytes = SOCKET_BYTES;
	int on = 1;

	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
	if (setsockopt(fd, SOL_PACKET, PACKET_VNET_HDR, &on, sizeof(on)) != 0 ||
	    setsockopt(fd, SOL_PACKET, PACKET_AUXDATA, &on, sizeof(on)) != 0 ||
	    setsockopt(fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &promiscuous, sizeof(promiscuous)) !=
		    0)
		return errno;
	/*
	 * the port must not receive its own frames; kernels before 4.20 need a filter when reading
	 */
	setsockopt(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &on, sizeof(on));
	return 0;
}

int rf_rt_open_packet(const struct rf_rt_spec *s, struct rf_rt_port **out, char *why, size_t room)
{
	const char *name = s->what;
	struct kernel_port *d = port_new(packet_take, packet_give, why, room);
	struct sockaddr_ll a = {.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL)};
	int err;

	if (!d)
		return -1;
	a.sll_ifindex = (int)if_nametoindex(name);
	if (a.sll_ifindex == 0)
		return give_up(d, name, ENODEV, why, room);
	d->fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	if (d->fd < 0)
		return give_up(d, name, errno, why, room);
	err = packet_options(d->fd, a.sll_ifindex);
	if (!err && bind(d->fd, (struct sockaddr *)&a, sizeof(a)) != 0)
		err = errno;
	if (!err)
		err = interface_up(name);
	if (err)
		return give_up(d, name, err, why, room);
	*out = &d->p;
	return 0;
}
