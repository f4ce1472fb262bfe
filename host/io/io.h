/*
 * The frame interface: frames in, frames out. Implementations: a DPDK device (io_dpdk.c), the
 * kernel's UDP socket (host/back/io_udp.c), or a test's own (tests/unit/io_hub.c).
 *
 * A frame is what the MAC hands over: from destination MAC to the end, without FCS. All calls on
 * one rf_io come from one thread at a time, except wake(), which any thread may call at any moment.
 * After open nothing here allocates, logs or blocks, except wait().
 */
#ifndef RF_HOST_IO_H
#define RF_HOST_IO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RF_IO_BURST 32u

struct rf_io_frame {
	const uint8_t *data;
	uint32_t len;
};

struct rf_io;

struct rf_io_ops {
	const char *name;
	/*
	 * Fetches up to n <= RF_IO_BURST frames. Their bytes are valid until the next rx() or
	 * close(). Returns the number of frames.
	 */
	unsigned int (*rx)(struct rf_io *io, struct rf_io_frame *frames, unsigned int n);
	/*
	 * Returns a buffer of io->frame_max bytes for the next frame to send, or NULL when the
	 * device has no room. Calling again without commit returns the same buffer.
	 */
	uint8_t *(*tx_buffer)(struct rf_io *io);
	/*
	 * The buffer returned last holds a frame of len bytes, 60 .. frame_max: send it with the
	 * next flush.
	 */
	void (*tx_commit)(struct rf_io *io, uint32_t len);
	/*
	 * Sends the committed frames. Frames that the device rejects are dropped and counted in
	 * io->tx_lost.
	 */
	void (*tx_flush)(struct rf_io *io);
	/*
	 * Sleeps until a frame may have arrived, wake() was called, or timeout_us has passed. May
	 * return early. Devices that cannot interrupt wake up periodically to poll.
	 */
	void (*wait)(struct rf_io *io, uint32_t timeout_us);
	/* Ends the current wait() or the next one. */
	void (*wake)(struct rf_io *io);
	/* Link state: 1 up, 0 down, -1 if the device does not know. */
	int (*link)(struct rf_io *io);
	void (*close)(struct rf_io *io);
};

/* Embedded at the start of an implementation's own struct. */
struct rf_io {
	const struct rf_io_ops *ops;
	uint8_t mac[6];
	uint32_t ip;        /* address of the interface, host order; 0 if unknown */
	uint32_t frame_max; /* longest frame that can be sent and received */
	bool polling;       /* the device cannot interrupt: wait() is not woken by frames */
	uint64_t tx_lost;   /* frames that the device rejected */
	uint64_t tx_frames;
	uint64_t tx_bytes;
	uint64_t rx_frames;
	uint64_t rx_bytes;
};

struct rf_io_dpdk_cfg {
	const char *device; /* see rf_context_config.device */
	const char *args;   /* more arguments for DPDK, for the first call in a process; or NULL */
	uint32_t frame_max; /* of struct rf_io */
	/*
	 * Bytes of the longest IPv4 packet that must pass: a device with a smaller MTU is set to
	 * this one. 0: its MTU stays as it is.
	 */
	uint32_t mtu;
	bool mtu_wish; /* a device that cannot be set to it is used as it is, with a warning */
	/* Receives warnings, with warn_arg. NULL: they go to stderr. */
	void (*warn)(void *arg, const char *text);
	void *warn_arg;
};

/*
 * Opens a DPDK device. The first call in a process loads the plug-in for DPDK (host/io/dpdk.h) and
 * starts DPDK. Returns 0, or a negative enum rf_status with a text in why[room].
 */
int rf_io_dpdk_open(const struct rf_io_dpdk_cfg *cfg, struct rf_io **io, char *why, size_t room);

/*
 * Serves a memif socket (a path). DPDK hosts connect with
 * net_memif0,role=client,id=N,socket=PATH,socket-abstract=no and may disconnect and reconnect. An
 * abandoned socket file is replaced. Several ends with different ids may share a socket if one
 * thread uses them all. link() returns whether a host is connected; without one, frames are dropped
 * and counted in tx_lost. Errors as above.
 */
int rf_io_memif_serve(const char *path, uint32_t id, uint32_t frame_max, struct rf_io **io,
		      char *why, size_t room);

#endif
