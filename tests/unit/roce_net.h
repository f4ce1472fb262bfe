/*
 * A network for tests: endpoints joined by a link with seeded faults, in virtual time. The link
 * delivers a frame to the endpoint whose MAC it names. A hook may inspect every frame first,
 * change it, or remove it.
 */
#ifndef ROCE_NET_H
#define ROCE_NET_H

#include "host/roce/endpoint.h"
#include "tests/unit/roce_random.h"

#define ROCE_NET_HOSTS 16u

struct roce_net_frame {
	uint64_t at;
	uint64_t order; /* frames of equal time keep their order */
	uint32_t to;
	uint32_t len;
	uint8_t *bytes;
};

struct roce_net {
	struct roce_random rng;
	uint64_t now;
	/* Faults, per mille of the frames. */
	uint32_t loss;
	uint32_t duplicate;
	uint32_t reorder; /* late by up to `late` ns */
	uint32_t corrupt; /* one bit flipped */
	uint64_t late;
	uint64_t delay; /* of the wire */
	uint64_t gap;   /* between two frames of one host */
	/*
	 * Called with each frame that a host sends, before the wire's faults. Returns 1 if it took
	 * the frame over, 0 to pass it on.
	 */
	int (*hook)(void *ctx, uint32_t from, uint8_t *frame, size_t len);
	void *hook_ctx;
	/* Called after every instant at which a frame arrived or a timer expired. */
	void (*work)(void *ctx);
	/* 1 when the test is over. */
	int (*done)(void *ctx);
	void *ctx;
	uint64_t wake; /* work() is also called at this time; UINT64_MAX: not needed */
	struct roce_endpoint *hosts[ROCE_NET_HOSTS];
	uint8_t macs[ROCE_NET_HOSTS][6];
	uint64_t tx_free[ROCE_NET_HOSTS];
	uint32_t count;
	struct roce_net_frame *heap;
	uint32_t frames;
	uint32_t room;
	uint64_t order;
	uint64_t sent;
	uint64_t lost;
};

/* 100 ns between frames, 1 us of delay, no faults. */
void roce_net_init(struct roce_net *net, struct roce_random rng);
void roce_net_free(struct roce_net *net);
/* Sends a frame over the link towards its destination MAC, faults included. */
void roce_net_inject(struct roce_net *net, const uint8_t *frame, size_t len);
/* Runs until done() or `limit` ns. 1 if done. */
int roce_net_run(struct roce_net *net, uint64_t limit);

/* Address of host i: MAC 02:00:00:00:00:i+1, IP 10.0.0.i+1. */
void roce_net_mac(uint32_t i, uint8_t mac[6]);
uint32_t roce_net_ip(uint32_t i);
/* An endpoint for host i with up to 8 queue pairs, added to the net; asserts success. */
struct roce_endpoint *roce_net_host(struct roce_net *net);

#endif
