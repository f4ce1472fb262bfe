/*
 * A device attached to a port of the real-time switch or box: a DPDK device, a socket or interface
 * of the kernel, or capture files.
 */
#ifndef RF_SIM_REALTIME_PORT_H
#define RF_SIM_REALTIME_PORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RF_RT_FRAME_MAX 4352u  /* largest RoCE frame, plus a margin */
#define RF_RT_PACKET_MAX 4160u /* largest RoCE packet: IPv4 header to ICRC, path MTU 4096 */
#define RF_RT_BURST 32u

struct rf_rt_port;

struct rf_rt_port_ops {
	/* Fetches up to n frames; they stay valid until the next call. */
	unsigned (*rx)(struct rf_rt_port *p, const uint8_t **frame, size_t *len, unsigned n);
	/* False if there is no room now. */
	bool (*tx)(struct rf_rt_port *p, const uint8_t *frame, size_t len);
	void (*flush)(struct rf_rt_port *p);
	/* No more frames will arrive. */
	bool (*ended)(const struct rf_rt_port *p);
	void (*close)(struct rf_rt_port *p);
	/* 1: a host is connected, 0: none is, -1: the device does not know. */
	int (*link)(const struct rf_rt_port *p);
	/* Closes its output file before the end; NULL: it has none. */
	void (*complete)(struct rf_rt_port *p);
};

struct rf_rt_port {
	const struct rf_rt_port_ops *ops;
	char name[32];
	double loss;       /* fraction of frames lost, in each direction */
	uint64_t loss_rng; /* state */
	uint64_t lost;
	bool paced; /* a generator, held back according to the box's room */
	uint64_t rx_frames;
	uint64_t rx_long; /* longer than RF_RT_FRAME_MAX: dropped, not in rx_frames */
	uint64_t tx_frames;
	uint64_t tx_lost;
	char error[160]; /* not empty: the port has failed */
	bool output_cut; /* its output file is not complete */
};

/*
 * Announces how many ports will be opened: DPDK reserves its memory when the first port is opened.
 */
void rf_rt_ports_expected(unsigned n);

/*
 * Opens the device described by a specification:
 *	memif:SOCKET[,id=N]      memif server: DPDK hosts connect to SOCKET and disconnect
 *	dgram:SOCKET,to=SOCKET   unix datagram sockets, one frame in each (QEMU's -netdev dgram)
 *	tap:NAME                 tap interface, created if it does not exist
 *	packet:IFACE             an interface of the kernel (AF_PACKET)
 *	dpdk:DEVICE              any DPDK device: "net_pcap0,iface=eth1", a PCI address
 *	pcap:FILE[,out=FILE]     plays FILE as fast as the box accepts it; received frames go to out
 * Each may be followed by ",paced" for a generator that must be held back, or by ",loss=PERCENT"
 * for a cable that loses this share of frames in both directions, in the same order each time.
 *
 * Returns 0; -EINVAL if the specification can never be valid, -1 if opening it failed; both with a
 * reason in why.
 */
int rf_rt_port_open(const char *name, const char *spec, struct rf_rt_port **out, char *why,
		    size_t room);
/* Whether the next frame of a port is lost. */
bool rf_rt_port_loses(struct rf_rt_port *p);

/* For devices that do not know their link. */
static inline int rf_rt_port_no_link(const struct rf_rt_port *p)
{
	(void)p;
	return -1;
}

/* Time stamps for files. */
uint64_t rf_rt_wall_ns(void);

#endif
