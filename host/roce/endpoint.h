/*
 * One network interface of a host: its MAC and IP address, its queue pairs, ARP and ping, and the
 * control packets to and from the box. Frames in, frames out; DPDK and the simulator both drive it.
 *
 *	for each frame that came:	roce_endpoint_rx(ep, now, frame, len);
 *	while ((len = roce_endpoint_tx(ep, now, frame, sizeof(frame))) > 0)
 *		send(frame, len);
 *	sleep until a frame comes, or until roce_endpoint_next_timeout(ep)
 *
 * Threads: calls on one endpoint and on its queue pairs must not overlap.
 */
#ifndef ROCE_ENDPOINT_H
#define ROCE_ENDPOINT_H

#include "host/roce/qp.h"

/* Length of roce_endpoint_send_frame()'s queue, and the largest frame in bytes. */
#define ROCE_ENDPOINT_FRAMES 16u
#define ROCE_ENDPOINT_FRAME_BYTES 1536u

struct roce_endpoint;

/*
 * Called from roce_endpoint_rx(). The datagram's bytes are valid during the call only; the callback
 * may post work and send frames, but must not destroy the endpoint or its queue pairs.
 */
struct roce_endpoint_callbacks {
	void *ctx;
	/* UDP from or to port 4791 whose source is cfg.box_ip. May be NULL. */
	void (*control)(void *ctx, uint64_t now, const struct roce_udp *udp);
	/* An ARP reply or request announced this pair. May be NULL. */
	void (*neighbour)(void *ctx, uint64_t now, uint32_t ip, const uint8_t mac[6]);
};

struct roce_endpoint_cfg {
	uint8_t mac[6];
	uint32_t ip;      /* host order */
	uint32_t box_ip;  /* the box's own address; 0: there is none. */
	uint32_t max_qps; /* 1 .. 4096 */
	struct roce_endpoint_callbacks callbacks;
};

struct roce_endpoint_counters {
	uint64_t rx_frames;
	uint64_t rx_bytes;
	uint64_t tx_frames;
	uint64_t tx_bytes;
	/* Frames that were not RoCE packets, by cause: index -enum roce_wire_error. */
	uint64_t rx_wire[ROCE_WIRE_ERRORS];
	uint64_t rx_other_mac; /* for another MAC */
	uint64_t rx_other_ip;  /* for another IP address */
	uint64_t rx_ip_checksum;
	uint64_t rx_udp_checksum;
	uint64_t rx_icrc;
	uint64_t rx_unknown_qpn;
	uint64_t rx_wrong_source; /* source IP is not the peer's */
	uint64_t rx_roce;         /* handed to a queue pair */
	uint64_t rx_arp;
	uint64_t rx_icmp;
	uint64_t rx_control;  /* handed to callbacks.control */
	uint64_t frames_full; /* own frames dropped: queue full */
};

/* One allocation. *out is written on success only. ROCE_E_INVALID, ROCE_E_NO_MEMORY. */
int roce_endpoint_create(const struct roce_endpoint_cfg *cfg, struct roce_endpoint **out);
/* Does not destroy the queue pairs. NULL is allowed. */
void roce_endpoint_destroy(struct roce_endpoint *ep);

/* The caller keeps owning the queue pair. ROCE_E_EXISTS, ROCE_E_AGAIN (max_qps reached). */
int roce_endpoint_add_qp(struct roce_endpoint *ep, struct roce_qp *qp);
/* Removes it; unknown ones are ignored. */
void roce_endpoint_remove_qp(struct roce_endpoint *ep, struct roce_qp *qp);

/* Handles a received, untrusted frame. Frames that are not for us are counted and dropped. */
void roce_endpoint_rx(struct roce_endpoint *ep, uint64_t now, const uint8_t *frame, size_t len);

/*
 * Writes the next frame to send and returns its length, or 0. `room` must be ROCE_FRAME_MAX or
 * more. Own frames (ARP, ping, control) go first; then the queue pairs in turn, one frame each.
 */
size_t roce_endpoint_tx(struct roce_endpoint *ep, uint64_t now, uint8_t *frame, size_t room);

/* Earliest timeout of all queue pairs; UINT64_MAX: none. */
uint64_t roce_endpoint_next_timeout(const struct roce_endpoint *ep);

/*
 * Queues a copy of a whole frame (a control packet made by roce_udp_build(), an ARP request made by
 * rf_arp_build()). ROCE_E_AGAIN: the queue is full. ROCE_E_INVALID: too long or too short.
 */
int roce_endpoint_send_frame(struct roce_endpoint *ep, const uint8_t *frame, size_t len);

/* May be changed at any time; 0 for none. */
void roce_endpoint_set_box(struct roce_endpoint *ep, uint32_t box_ip);

const struct roce_endpoint_counters *roce_endpoint_counters(const struct roce_endpoint *ep);

#endif
