/*
 * Host transport through a DPDK device on one core: a requester and a responder in one process,
 * whose frames go through net_ring (which gives back what it is sent). Every data packet is built,
 * handed to the device, received, checked, copied and acknowledged.
 *
 *	io-bench OUT		appends JSON lines to OUT
 *
 * The time is that of this thread's processor, so that a busy machine does not count.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "host/io/io.h"
#include "host/roce/endpoint.h"

#define MESSAGE_PACKETS 64u
#define AT_ONCE 8u
#define SECONDS 1.0

struct host {
	uint8_t mac[6];
	struct roce_endpoint *ep;
	struct roce_qp *qp;
};

static void must(int ok, const char *what)
{
	if (!ok) {
		fprintf(stderr, "io-bench: %s\n", what);
		exit(1);
	}
}

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static struct host make_host(uint32_t i, uint32_t mtu)
{
	struct host h = {.mac = {2, 0, 0, 0, 0, (uint8_t)(i + 1)}};
	struct roce_endpoint_cfg ep = {.ip = 0x0a000001u + i, .max_qps = 2};
	struct roce_qp_peer peer = {.mac = {2, 0, 0, 0, 0, (uint8_t)(!i + 1)},
				    .ip = 0x0a000001u + !i,
				    .qpn = 100u + !i};
	struct roce_qp_cfg cfg;

	memcpy(ep.mac, h.mac, 6);
	roce_qp_cfg_init(&cfg);
	memcpy(cfg.mac, h.mac, 6);
	cfg.ip = ep.ip;
	cfg.qpn = 100 + i;
	cfg.mtu = mtu;
	/* Nothing is lost; a process that was not scheduled for a while must not cause repeats. */
	cfg.ack_timeout = UINT64_C(10000000000);
	cfg.ack_timeout_max = cfg.ack_timeout;
	must(roce_endpoint_create(&ep, &h.ep) == ROCE_OK, "endpoint");
	must(roce_qp_create(&cfg, &h.qp) == ROCE_OK, "queue pair");
	must(roce_qp_to_rtr(h.qp, &peer) == ROCE_OK && roce_qp_to_rts(h.qp) == ROCE_OK, "states");
	must(roce_endpoint_add_qp(h.ep, h.qp) == ROCE_OK, "add");
	return h;
}

static void free_host(struct host *h)
{
	roce_endpoint_remove_qp(h->ep, h->qp);
	roce_qp_destroy(h->qp);
	roce_endpoint_destroy(h->ep);
}

static void transmit(struct host *h, struct rf_io *io, uint64_t now)
{
	for (unsigned int i = 0; i < RF_IO_BURST; i++) {
		uint8_t *frame = io->ops->tx_buffer(io);
		size_t len = frame ? roce_endpoint_tx(h->ep, now, frame, io->frame_max) : 0;

		if (len == 0)
			break;
		io->ops->tx_commit(io, (uint32_t)len);
	}
	io->ops->tx_flush(io);
}

static void receive(struct host host[2], struct rf_io *io, uint64_t now)
{
	struct rf_io_frame frames[RF_IO_BURST];
	unsigned int n = io->ops->rx(io, frames, RF_IO_BURST);

	for (unsigned int i = 0; i < n; i++) {
		unsigned int to = memcmp(frames[i].data, host[1].mac, 6) == 0;

		roce_endpoint_rx(host[to].ep, now, frames[i].data, frames[i].len);
	}
}

/* Sends messages until the time is over; returns their number. */
static uint64_t run(struct host host[2], struct rf_io *io, const uint8_t *out, uint8_t *in,
		    uint32_t message)
{
	uint64_t end = clock_ns(CLOCK_THREAD_CPUTIME_ID) + (uint64_t)(SECONDS * 1e9);
	uint64_t posted = 0;
	uint64_t received = 0;
	uint64_t acknowledged = 0;
	bool more = true;

	while (more || acknowledged < posted || received < posted) {
		uint64_t now = clock_ns(CLOCK_MONOTONIC);
		struct roce_cqe cqe;

		more = more && clock_ns(CLOCK_THREAD_CPUTIME_ID) < end;
		while (more && posted - acknowledged < AT_ONCE && posted - received < AT_ONCE) {
			struct roce_recv_wr recv = {.buf = in, .len = message};
			struct roce_send_wr send = {.buf = out, .len = message};

			must(roce_qp_post_recv(host[1].qp, &recv) == ROCE_OK, "receive");
			must(roce_qp_post_send(host[0].qp, &send) == ROCE_OK, "send");
			posted++;
		}
		transmit(&host[0], io, now);
		receive(host, io, now);
		transmit(&host[1], io, now);
		receive(host, io, now);
		while (roce_qp_poll(host[1].qp, &cqe)) {
			must(cqe.status == ROCE_WC_SUCCESS && cqe.len == message, "received");
			received++;
		}
		while (roce_qp_poll(host[0].qp, &cqe)) {
			must(cqe.status == ROCE_WC_SUCCESS, "sent");
			acknowledged++;
		}
	}
	return posted;
}

static void measure(struct rf_io *io, uint32_t mtu, FILE *to)
{
	uint32_t message = MESSAGE_PACKETS * mtu;
	struct host host[2] = {make_host(0, mtu), make_host(1, mtu)};
	uint8_t *out = malloc(message);
	uint8_t *in = calloc(1, message);
	uint64_t start;
	double rate;

	must(out && in, "memory");
	for (uint32_t i = 0; i < message; i++)
		out[i] = (uint8_t)(i * 31 + (i >> 10));
	start = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	rate = (double)(run(host, io, out, in, message) * MESSAGE_PACKETS) * 1e9;
	rate /= (double)(clock_ns(CLOCK_THREAD_CPUTIME_ID) - start);
	must(memcmp(in, out, message) == 0, "wrong bytes");
	must(roce_qp_counters(host[0].qp)->tx_retransmits == 0 && io->tx_lost == 0, "lost frames");
	fprintf(to,
		"{\"group\": \"host\", \"name\": \"through net_ring on one core, %u B, tx and rx "
		"together\", \"value\": %.0f, \"unit\": \"packets/s\", \"limit\": null, \"must\": "
		"false, \"ok\": true}\n",
		mtu, rate);
	free_host(&host[0]);
	free_host(&host[1]);
	free(in);
	free(out);
}

int main(int argc, char **argv)
{
	struct rf_io *io;
	char why[256];
	FILE *to;

	if (argc != 2) {
		fprintf(stderr, "usage: io-bench OUT\n");
		return 2;
	}
	must(rf_io_dpdk_open(&(struct rf_io_dpdk_cfg){.device = "net_ring0",
						      .args = "-m 128",
						      .frame_max = ROCE_FRAME_MAX + 18},
			     &io, why, sizeof(why)) == 0,
	     why);
	to = fopen(argv[1], "a");
	must(to != NULL, "the output cannot be written");
	measure(io, 1024, to);
	measure(io, 4096, to);
	must(fclose(to) == 0, "the output cannot be written");
	io->ops->close(io);
	return 0;
}
