/*
 * Frames through a DPDK device: memif, af_packet, or any port by its own driver. This is the only
 * file that uses DPDK, and the plug-in that dpdk_load.c loads.
 *
 * DPDK's environment belongs to the process and cannot be started twice: the first open starts it,
 * and it is never stopped. The device runs with one queue in each direction. Devices that cannot
 * interrupt (memif and af_packet cannot) are marked `polling`: the caller sleeps in short steps.
 */
#include "base/guard.h"
#include "host/io/device_why.h"
#include "host/io/dpdk.h"
#include "host/io/interface.h"
#include "host/io/memif_why.h"

#include <errno.h>
#include <net/if.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include <rte_dev.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_interrupts.h>
#include <rte_mbuf.h>

#include "base/clock.h"
#include "host/config/settings.h"
#include "ringfold/ringfold.h"

#define DESCRIPTORS 512
/* Both rings, both bursts, and the same again for frames inside the device. */
#define MBUFS 2047u
/* Minimum buffer size: af_packet requires that a whole frame of its ring fits. */
#define BUFFER_ROOM 8192u
#define LINK_WAIT_MS 2000
/* A device with a link that has taken no frame for this long refuses the first one. */
#define REFUSAL_NS 250000000u
/* A tag; DPDK's MTU covers neither the Ethernet header nor tags. */
#define VLAN_BYTES 4u
#define CPUS_MAX 65536
#define ARGS_MAX 64

struct dpdk_io {
	struct rf_io io;
	uint16_t port;
	bool started;
	bool vdev;
	char name[64];
	char interface[IFNAMSIZ]; /* the kernel interface of an af_packet device; else "" */
	struct rte_mempool *pool;
	struct rte_mbuf *rx[RF_IO_BURST];
	unsigned int rx_n; /* frames handed out by the last rx() */
	struct rte_mbuf *early[RF_IO_BURST];
	unsigned int early_n; /* fetched by wait() for the next rx() */
	struct rte_mbuf *tx[RF_IO_BURST];
	unsigned int tx_n;
	struct rte_mbuf *next; /* handed out by tx_buffer() */
	uint32_t packet_max;  /* bytes of IPv4 that its MTU allows; UINT32_MAX: no limit is known */
	uint64_t stuck_since; /* rf_now_ns() when the device first refused tx[0]; 0: it did not */
	int wake_fd;
	int rx_fd; /* epoll descriptor of the device's interrupt, or -1 */
};

RF_LOCK_CLASS(eal_class);
static pthread_mutex_t eal_lock = PTHREAD_MUTEX_INITIALIZER;
static bool eal_started RF_GUARDED_BY(eal_class);
static pid_t eal_pid RF_GUARDED_BY(eal_class); /* of the process that has started it */
static unsigned int eal_pools RF_GUARDED_BY(eal_class);
/* DPDK may keep pointers into its arguments. */
static char eal_args[1024] RF_GUARDED_BY(eal_class);

static int eal_start(const struct rf_io_dpdk_cfg *cfg, char *why, size_t room)
	RF_REQUIRES(eal_class);
static int port_start(struct dpdk_io *d, const struct rf_io_dpdk_cfg *cfg, char *why, size_t room)
	RF_REQUIRES(eal_class);
static int device_open(struct dpdk_io *d, const struct rf_io_dpdk_cfg *cfg, char *why, size_t room)
	RF_REQUIRES(eal_class);

static struct dpdk_io *dpdk_of(struct rf_io *io)
{
	return (struct dpdk_io *)io; /* io is its first member */
}

static void free_mbufs(struct rte_mbuf **mbufs, unsigned int n)
{
	unsigned int k;

	for (k = 0; k < n; k++)
		rte_pktmbuf_free(mbufs[k]);
}

static unsigned int dpdk_rx(struct rf_io *io, struct rf_io_frame *frames, unsigned int n)
{
	struct dpdk_io *d = dpdk_of(io);
	unsigned int k, got = 0;

	free_mbufs(d->rx, d->rx_n);
	if (n > RF_IO_BURST)
		n = RF_IO_BURST;
	d->rx_n = d->early_n < n ? d->early_n : n;
	memcpy(d->rx, d->early, d->rx_n * sizeof(d->rx[0]));
	d->early_n -= d->rx_n;
	memmove(d->early, d->early + d->rx_n, d->early_n * sizeof(d->early[0]));
	if (d->early_n == 0)
		d->rx_n += rte_eth_rx_burst(d->port, 0, d->rx + d->rx_n, (uint16_t)(n - d->rx_n));
	for (k = 0; k < d->rx_n; k++) {
		struct rte_mbuf *m = d->rx[k];

		/* pool buffers hold every allowed frame: a chain is longer than that */
		if (m->nb_segs != 1)
			continue;
		frames[got].data = rte_pktmbuf_mtod(m, const uint8_t *);
		frames[got].len = rte_pktmbuf_pkt_len(m);
		io->rx_bytes += frames[got].len;
		got++;
	}
	io->rx_frames += got;
	return got;
}

/* Frees the first n committed frames, unsent. */
static void drop_committed(struct dpdk_io *d, unsigned int n)
{
	free_mbufs(d->tx, n);
	d->io.tx_lost += n;
	d->tx_n -= n;
	memmove(d->tx, d->tx + n, d->tx_n * sizeof(d->tx[0]));
	d->stuck_since = 0;
}

/*
 * Whether the device will never take the first frame: it is longer than the MTU allows, or has been
 * refused for a while. A device does not say which frame it refuses, or why.
 */
static bool is_refused(struct dpdk_io *d)
{
	uint64_t now = rf_now_ns();

	if ((uint64_t)rte_pktmbuf_pkt_len(d->tx[0]) >
	    (uint64_t)d->packet_max + RTE_ETHER_HDR_LEN + VLAN_BYTES)
		return true;
	if (d->stuck_since == 0)
		d->stuck_since = now;
	return now - d->stuck_since > REFUSAL_NS;
}

/*
 * Sends the committed frames. If the device has no room, the frames stay for the next call; those
 * that it refuses are dropped.
 */
static void dpdk_tx_flush(struct rf_io *io)
{
	struct dpdk_io *d = dpdk_of(io);
	struct rte_eth_link link;
	unsigned int sent;

	while (d->tx_n > 0) {
		sent = rte_eth_tx_burst(d->port, 0, d->tx, (uint16_t)d->tx_n);
		d->tx_n -= sent;
		memmove(d->tx, d->tx + sent, d->tx_n * sizeof(d->tx[0]));
		if (sent) {
			d->stuck_since = 0;
			return;
		}
		/* no peer: drop the frames instead of waiting for one */
		if (rte_eth_link_get_nowait(d->port, &link) == 0 && !link.link_status)
			drop_committed(d, d->tx_n);
		else if (is_refused(d))
			drop_committed(d, 1);
		else
			return;
	}
}

static uint8_t *dpdk_tx_buffer(struct rf_io *io)
{
	struct dpdk_io *d = dpdk_of(io);

	if (d->tx_n == RF_IO_BURST) {
		dpdk_tx_flush(io);
		if (d->tx_n == RF_IO_BURST)
			return NULL;
	}
	if (!d->next)
		d->next = rte_pktmbuf_alloc(d->pool);
	return d->next ? rte_pktmbuf_mtod(d->next, uint8_t *) : NULL;
}

static void dpdk_tx_commit(struct rf_io *io, uint32_t len)
{
	struct dpdk_io *d = dpdk_of(io);

	d->next->data_len = (uint16_t)len;
	d->next->pkt_len = len;
	d->tx[d->tx_n++] = d->next;
	d->next = NULL;
	io->tx_frames++;
	io->tx_bytes += len;
}

static void dpdk_wait(struct rf_io *io, uint32_t timeout_us)
{
	struct dpdk_io *d = dpdk_of(io);
	struct timespec ts = {.tv_sec = timeout_us / 1000000,
			      .tv_nsec = (long)(timeout_us % 1000000) * 1000};
	struct pollfd fds[2] = {{.fd = d->wake_fd, .events = POLLIN},
				{.fd = d->rx_fd, .events = POLLIN}};
	struct rte_epoll_event event;
	uint64_t count;

	if (d->rx_fd >= 0) {
		rte_eth_dev_rx_intr_enable(d->port, 0);
		/* A frame that came just before causes no interrupt. */
		if (d->early_n == 0)
			d->early_n = rte_eth_rx_burst(d->port, 0, d->early, RF_IO_BURST);
		if (d->early_n > 0)
			ts = (struct timespec){0};
	}
	if (ppoll(fds, d->rx_fd >= 0 ? 2 : 1, &ts, NULL) > 0) {
		while (fds[0].revents && read(d->wake_fd, &count, sizeof(count)) > 0)
			;
		/* Reads the interrupt's counter in the way its driver needs; else poll() spins. */
		if (d->rx_fd >= 0 && fds[1].revents)
			rte_epoll_wait(d->rx_fd, &event, 1, 0);
	}
	if (d->rx_fd >= 0)
		rte_eth_dev_rx_intr_disable(d->port, 0);
}

static void dpdk_wake(struct rf_io *io)
{
	uint64_t one = 1;

	/* it fails only when 2^64 wake-ups are pending: then the thread is awake */
	if (write(dpdk_of(io)->wake_fd, &one, sizeof(one)) < 0)
		return;
}

static int dpdk_link(struct rf_io *io)
{
	struct rte_eth_link link;

	if (dpdk_of(io)->interface[0] && !rf_interface_carrier(dpdk_of(io)->interface))
		return 0;
	if (rte_eth_link_get_nowait(dpdk_of(io)->port, &link) != 0)
		return -1;
	return link.link_status ? 1 : 0;
}

static void dpdk_close(struct rf_io *io)
{
	struct dpdk_io *d = dpdk_of(io);

	free_mbufs(d->rx, d->rx_n);
	free_mbufs(d->early, d->early_n);
	free_mbufs(d->tx, d->tx_n);
	rte_pktmbuf_free(d->next);
	if (d->started)
		rte_eth_dev_stop(d->port);
	if (d->port != RTE_MAX_ETHPORTS)
		rte_eth_dev_close(d->port);
	if (d->vdev)
		rte_eal_hotplug_remove("vdev", d->name);
	rte_mempool_free(d->pool);
	if (d->rx_fd >= 0)
		close(d->rx_fd);
	if (d->wake_fd >= 0)
		close(d->wake_fd);
	free(d);
}

static const struct rf_io_ops dpdk_ops = {
	.name = "dpdk",
	.rx = dpdk_rx,
	.tx_buffer = dpdk_tx_buffer,
	.tx_commit = dpdk_tx_commit,
	.tx_flush = dpdk_tx_flush,
	.wait = dpdk_wait,
	.wake = dpdk_wake,
	.link = dpdk_link,
	.close = dpdk_close,
};

/*
 * The CPUs of the calling thread, on a machine of any size; NULL if they cannot be read. Free it
 * with CPU_FREE().
 */
static cpu_set_t *own_cpus(size_t *size)
{
	for (int n = 1024; n <= CPUS_MAX; n *= 2) {
		cpu_set_t *set = CPU_ALLOC((size_t)n);
		int ret;

		*size = CPU_ALLOC_SIZE((size_t)n);
		ret = set ? pthread_getaffinity_np(pthread_self(), *size, set) : ENOMEM;
		if (ret == 0)
			return set;
		CPU_FREE(set);
		if (ret != EINVAL) /* EINVAL: the kernel has more CPUs than the set */
			return NULL;
	}
	return NULL;
}

static void warn(const struct rf_io_dpdk_cfg *cfg, const char *text)
{
	if (cfg->warn)
		cfg->warn(cfg->warn_arg, text);
	else
		fprintf(stderr, "ringfold: warn: %s\n", text);
}

/* Starts DPDK once. Virtual devices need neither hugepages nor root. */
static int eal_start(const struct rf_io_dpdk_cfg *cfg, char *why, size_t room)
{
	bool vdev = strncmp(cfg->device, "net_", 4) == 0;
	char *args[ARGS_MAX] = {(char[]){"ringfold"}};
	char *copy = eal_args;
	char *save = NULL, *word;
	uint64_t verbose = 0;
	size_t cpus_size;
	cpu_set_t *cpus;
	int n = 1;
	int ret;

	if (snprintf(eal_args, sizeof(eal_args), "%s", cfg->args ? cfg->args : "") >=
	    (int)sizeof(eal_args)) {
		snprintf(why, room, "DPDK's arguments are longer than %zu bytes", sizeof(eal_args));
		return RF_ERR_INVALID;
	}
	ret = rf_setting_number("RF_DPDK_LOG", 0, 1, &verbose, why, room);
	if (ret)
		return ret;
	/* DPDK itself says so on stderr, whatever its log level is */
	if (!vdev && !strstr(eal_args, "--no-huge") && !rf_hugepages()) {
		snprintf(why, room,
			 "device %s is taken for a NIC's address, because it does not begin with "
			 "net_: DPDK needs hugepages for that, and this machine has reserved none",
			 cfg->device);
		return RF_ERR_DEVICE;
	}
	if (vdev) {
		args[n++] = "--no-huge";
		args[n++] = "--no-pci";
	}
	args[n++] = "--no-shconf";
	args[n++] = "--no-telemetry";
	if (!verbose)
		args[n++] = "--log-level=2";
	for (word = strtok_r(copy, " ", &save); word && n < ARGS_MAX - 1;
	     word = strtok_r(NULL, " ", &save))
		args[n++] = word;
	/*
	 * DPDK pins the calling thread to its first core, but the thread belongs to the application
	 * and must stay unpinned
	 */
	cpus = own_cpus(&cpus_size);
	if (!cpus)
		warn(cfg, "the CPUs of this thread cannot be read: DPDK leaves it on one CPU");
	ret = rte_eal_init(n, args);
	if (cpus)
		pthread_setaffinity_np(pthread_self(), cpus_size, cpus);
	CPU_FREE(cpus);
	if (ret < 0) {
		snprintf(
			why, room,
			"DPDK does not start: %s%s; RF_DPDK_LOG=1 shows its own messages",
			rte_strerror(rte_errno),
			vdev ? ""
			     : "; a device name that does not begin with net_ is taken for a NIC's "
			       "address, which requires root and hugepages");
		return RF_ERR_DEVICE;
	}
	eal_started = true;
	eal_pid = getpid();
	return RF_OK;
}

/*
 * Makes sure that the device sends and receives what the caller needs: an ordinary NIC drops what
 * is longer than its MTU. A larger MTU is kept. A device that cannot set one, such as memif, states
 * 1500 and has no limit.
 */
static int port_mtu(struct dpdk_io *d, const struct rf_io_dpdk_cfg *cfg, char *why, size_t room)
{
	int wanted = (int)cfg->mtu;
	uint16_t own;
	int mtu, ret;

	d->packet_max = UINT32_MAX;
	if (!wanted)
		return RF_OK;
	if (d->interface[0])
		mtu = rf_interface_mtu(d->interface);
	else
		mtu = rte_eth_dev_get_mtu(d->port, &own) == 0 ? own : -1;
	if (mtu < 0)
		return RF_OK;
	d->packet_max = (uint32_t)mtu;
	if (mtu >= wanted)
		return RF_OK;
	ret = d->interface[0] ? rf_interface_set_mtu(d->interface, wanted)
			      : rte_eth_dev_set_mtu(d->port, (uint16_t)wanted);
	if (ret == 0 || ret == -ENOTSUP) {
		d->packet_max = ret == 0 ? (uint32_t)wanted : UINT32_MAX;
		return RF_OK;
	}
	snprintf(why, room,
		 "device %s: its MTU is %d and cannot be set to %d (%s): choose a smaller path MTU "
		 "(RF_MTU; 1024 fits an MTU of 1500), or another device",
		 d->name, mtu, wanted, strerror(-ret));
	if (!cfg->mtu_wish)
		return RF_ERR_DEVICE;
	warn(cfg, why);
	return RF_OK;
}

/* Creates queues and buffers and starts the device. */
static int port_start(struct dpdk_io *d, const struct rf_io_dpdk_cfg *cfg, char *why, size_t room)
{
	struct rte_eth_conf conf = {.intr_conf.rxq = 1};
	uint16_t rx_desc = DESCRIPTORS, tx_desc = DESCRIPTORS;
	uint32_t buffer = d->io.frame_max > BUFFER_ROOM ? d->io.frame_max : BUFFER_ROOM;
	char name[32];
	int ret;

	snprintf(name, sizeof(name), "ringfold_%u", eal_pools++);
	d->pool = rte_pktmbuf_pool_create(name, MBUFS, 0, 0,
					  (uint16_t)(buffer + RTE_PKTMBUF_HEADROOM), SOCKET_ID_ANY);
	if (!d->pool) {
		snprintf(why, room, "no memory for %u packet buffers: %s", MBUFS,
			 rte_strerror(rte_errno));
		return RF_ERR_NO_MEMORY;
	}
	ret = rte_eth_dev_configure(d->port, 1, 1, &conf);
	if (ret) {
		conf.intr_conf.rxq = 0;
		ret = rte_eth_dev_configure(d->port, 1, 1, &conf);
	}
	if (!ret && port_mtu(d, cfg, why, room) != RF_OK)
		return RF_ERR_DEVICE;
	if (!ret)
		ret = rte_eth_dev_adjust_nb_rx_tx_desc(d->port, &rx_desc, &tx_desc);
	if (!ret)
		ret = rte_eth_rx_queue_setup(d->port, 0, rx_desc, (unsigned int)SOCKET_ID_ANY, NULL,
					     d->pool);
	if (!ret)
		ret = rte_eth_tx_queue_setup(d->port, 0, tx_desc, (unsigned int)SOCKET_ID_ANY,
					     NULL);
	if (!ret)
		ret = rte_eth_dev_start(d->port);
	if (ret) {
		snprintf(why, room, "device %s does not start: %s%s", d->name, strerror(-ret),
			 ret == -EBUSY ? "; has this process opened it already?"
			 : strncmp(d->name, "net_memif", 9) == 0
				 ? "; is the process that serves its socket running?"
				 : "");
		return RF_ERR_DEVICE;
	}
	d->started = true;
	if (conf.intr_conf.rxq && rte_eth_dev_rx_intr_enable(d->port, 0) == 0) {
		rte_eth_dev_rx_intr_disable(d->port, 0);
		d->rx_fd = epoll_create1(EPOLL_CLOEXEC);
		if (d->rx_fd >= 0 && rte_eth_dev_rx_intr_ctl_q(d->port, 0, d->rx_fd,
							       RTE_INTR_EVENT_ADD, NULL) != 0) {
			close(d->rx_fd);
			d->rx_fd = -1;
		}
	}
	d->io.polling = d->rx_fd < 0;
	return RF_OK;
}

/* Waits briefly for the link: memif's peer takes a moment. */
static int port_link(struct dpdk_io *d, const char *device, char *why, size_t room)
{
	struct timespec pause = {.tv_nsec = 5000000};
	char reason[320];
	int k;

	for (k = 0; k < LINK_WAIT_MS / 5; k++) {
		if (dpdk_link(&d->io) != 0)
			return RF_OK;
		nanosleep(&pause, NULL);
	}
	if (rf_memif_why(device, reason, sizeof(reason)) != 0)
		snprintf(reason, sizeof(reason),
			 "check the cable, or the process at the other end of its socket");
	snprintf(why, room, "device %s has no link: %s", d->name, reason);
	return RF_ERR_DEVICE;
}

/* Virtual devices lose frames longer than their buffers, and their default buffers are short. */
static const char *longer_frames(const char *device)
{
	if (strncmp(device, "net_memif", 9) == 0 && !strstr(device, "bsize="))
		return ",bsize=8192";
	if (strncmp(device, "net_af_packet", 13) == 0 && !strstr(device, "framesz="))
		return ",framesz=8192,blocksz=65536,framecnt=512";
	return "";
}

static int device_open(struct dpdk_io *d, const struct rf_io_dpdk_cfg *cfg, char *why, size_t room)
{
	char device[512];
	struct rte_ether_addr mac;
	int ret;

	d->port = RTE_MAX_ETHPORTS;
	d->rx_fd = -1;
	d->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (d->wake_fd < 0) {
		snprintf(why, room, "cannot create an eventfd: %s", strerror(errno));
		return RF_ERR_SYSTEM;
	}
	rf_interface_of_device(cfg->device, d->interface);
	snprintf(device, sizeof(device), "%s%s", cfg->device, longer_frames(cfg->device));
	snprintf(d->name, sizeof(d->name), "%.*s", (int)strcspn(device, ","), device);
	if (rte_eth_dev_get_port_by_name(d->name, &d->port) != 0) {
		ret = rte_dev_probe(device);
		if (ret) {
			/*
			 * DPDK names the group of an af_packet socket by process and interface
			 * numbers, (pid ^ ifindex) & 0xffff. Two processes may collide.
			 */
			snprintf(why, room, "DPDK cannot open the device \"%s\" (RF_DEVICE): %s%s",
				 device, strerror(-ret),
				 d->interface[0] && ret == -1
					 ? "; if it works as a rule, the number of this process "
					   "collides with that of another one: start it again"
					 : "");
			return RF_ERR_DEVICE;
		}
		d->vdev = strncmp(d->name, "net_", 4) == 0;
		if (rte_eth_dev_get_port_by_name(d->name, &d->port) != 0) {
			d->port = RTE_MAX_ETHPORTS;
			snprintf(why, room, "DPDK has no network port \"%s\" (RF_DEVICE)", d->name);
			return RF_ERR_DEVICE;
		}
	}
	ret = port_start(d, cfg, why, room);
	/* a memif server does not wait for a client */
	if (!ret && !strstr(device, "role=server"))
		ret = port_link(d, device, why, room);
	if (ret)
		return ret;
	rte_eth_macaddr_get(d->port, &mac);
	memcpy(d->io.mac, mac.addr_bytes, sizeof(d->io.mac));
	d->io.ip = d->interface[0] ? rf_interface_ip(d->interface) : 0;
	return RF_OK;
}

static int plugin_open(const struct rf_io_dpdk_cfg *cfg, struct rf_io **io, char *why, size_t room)
{
	struct dpdk_io *d;
	int ret = RF_OK;

	rf_mutex_lock(&eal_lock, eal_class);
	if (eal_started && eal_pid != getpid()) {
		snprintf(why, room,
			 "process %ld, from which this one was made by fork(), has started DPDK: "
			 "only one of them can use DPDK devices; fork before the first context",
			 (long)eal_pid);
		ret = RF_ERR_DEVICE;
	} else if (!eal_started) {
		ret = eal_start(cfg, why, room);
	}
	d = ret ? NULL : calloc(1, sizeof(*d));
	if (!ret && !d) {
		snprintf(why, room, "no memory for the device");
		ret = RF_ERR_NO_MEMORY;
	}
	if (!ret) {
		d->io.ops = &dpdk_ops;
		d->io.frame_max = cfg->frame_max;
		ret = device_open(d, cfg, why, room);
		if (ret)
			dpdk_close(&d->io);
	}
	rf_mutex_unlock(&eal_lock, eal_class);
	if (!ret)
		*io = &d->io;
	return ret;
}

const struct rf_io_dpdk rf_io_dpdk_plugin = {
	.version = RF_IO_DPDK_VERSION,
	.io_size = sizeof(struct rf_io),
	.open = plugin_open,
};
