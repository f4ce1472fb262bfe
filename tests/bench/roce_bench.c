/*
 * Host transport, one sender and one receiver in one process: messages of 64 packets go through the
 * endpoints of both ends, acknowledgements come back.
 *
 *	roce-bench PACKETS	that many packets (rounded up to whole messages); prints how many
 *
 * Under callgrind the difference between two run lengths gives the instructions of a packet from
 * posting to completion, both ends: tests/bench/roce_bench.sh.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "host/roce/endpoint.h"

#define MTU 1024u
#define MESSAGE (64u * MTU)
#define BURST 32u

struct host {
	struct roce_endpoint *ep;
	struct roce_qp *qp;
};

static void must(int ok, const char *what)
{
	if (!ok) {
		fprintf(stderr, "roce-bench: %s\n", what);
		exit(1);
	}
}

static struct host make_host(uint32_t i)
{
	struct roce_endpoint_cfg ep = {
		.mac = {2, 0, 0, 0, 0, 0}, .ip = 0x0a000001u + i, .max_qps = 2};
	struct roce_qp_peer peer = {
		.mac = {2, 0, 0, 0, 0, 0}, .ip = 0x0a000001u + !i, .qpn = 100u + !i};
	struct roce_qp_cfg cfg;
	struct host h;

	roce_qp_cfg_init(&cfg);
	ep.mac[5] = (uint8_t)(i + 1);
	peer.mac[5] = (uint8_t)(!i + 1);
	memcpy(cfg.mac, ep.mac, 6);
	cfg.ip = ep.ip;
	cfg.qpn = 100 + i;
	cfg.mtu = MTU;
	must(roce_endpoint_create(&ep, &h.ep) == ROCE_OK, "endpoint");
	must(roce_qp_create(&cfg, &h.qp) == ROCE_OK, "queue pair");
	must(roce_qp_to_rtr(h.qp, &peer) == ROCE_OK && roce_qp_to_rts(h.qp) == ROCE_OK, "states");
	must(roce_endpoint_add_qp(h.ep, h.qp) == ROCE_OK, "add");
	return h;
}

static void move(struct host *from, struct host *to, uint64_t now)
{
	uint8_t frame[ROCE_FRAME_MAX];

	for (unsigned int i = 0; i < BURST; i++) {
		size_t len = roce_endpoint_tx(from->ep, now, frame, sizeof(frame));

		if (len == 0)
			break;
		roce_endpoint_rx(to->ep, now, frame, len);
	}
}

static void run(struct host *a, struct host *b, uint64_t messages, const uint8_t *out, uint8_t *in)
{
	uint64_t posted = 0, received = 0, acknowledged = 0, now = 0;
	struct roce_cqe cqe;

	while (acknowledged < messages || received < messages) {
		while (posted < messages) {
			struct roce_recv_wr recv = {.buf = in, .len = MESSAGE};
			struct roce_send_wr send = {.buf = out, .len = MESSAGE};

			if (posted - acknowledged >= 16 || posted - received >= 16)
				break;
			must(roce_qp_post_recv(b->qp, &recv) == ROCE_OK, "receive");
			must(roce_qp_post_send(a->qp, &send) == ROCE_OK, "send");
			posted++;
		}
		move(a, b, now);
		move(b, a, now);
		while (roce_qp_poll(b->qp, &cqe)) {
			must(cqe.status == ROCE_WC_SUCCESS && cqe.len == MESSAGE, "received");
			received++;
		}
		while (roce_qp_poll(a->qp, &cqe)) {
			must(cqe.status == ROCE_WC_SUCCESS, "sent");
			acknowledged++;
		}
		now += 1000;
	}
}

int main(int argc, char **argv)
{
	uint64_t packets = argc == 2 ? strtoull(argv[1], NULL, 10) : 0;
	uint64_t messages = (packets + 63) / 64;
	uint8_t *out = malloc(MESSAGE);
	uint8_t *in = malloc(MESSAGE);
	struct host a, b;

	if (packets == 0) {
		fprintf(stderr, "usage: roce-bench PACKETS\n");
		return 2;
	}
	must(out && in, "memory");
	for (uint32_t i = 0; i < MESSAGE; i++)
		out[i] = (uint8_t)(i * 31 + (i >> 10));
	memset(in, 0, MESSAGE);
	a = make_host(0);
	b = make_host(1);
	run(&a, &b, messages, out, in);
	must(memcmp(in, out, MESSAGE) == 0, "wrong bytes");
	must(roce_qp_counters(a.qp)->tx_retransmits == 0, "retransmissions");
	printf("%llu\n", (unsigned long long)(messages * 64));
	roce_endpoint_destroy(a.ep);
	roce_endpoint_destroy(b.ep);
	roce_qp_destroy(a.qp);
	roce_qp_destroy(b.qp);
	free(in);
	free(out);
	return 0;
}
