#include "base/clock.h"
#include "tools/boxlink.h"

#include <string.h>

#include "host/roce/wire.h"
#include "rf_regs.h"

#define NS_PER_S UINT64_C(1000000000)
/* A frame of the largest path MTU plus a margin, so that a longer frame can be detected. */
#define FRAME_ROOM (ROCE_FRAME_MAX + 18u)
#define WAIT_US 500u
/*
 * Frames sent at once: the box queues few control packets for its firmware, and many clients may
 * start at the same time.
 */
#define SEND_MAX 4u

uint64_t boxlink_now(void)
{
	return rf_now_ns();
}

int boxlink_open(struct boxlink *b, const char *device, const char *dpdk_args, char *why,
		 size_t room)
{
	return rf_io_dpdk_open(&(struct rf_io_dpdk_cfg){.device = device,
							.args = dpdk_args,
							.frame_max = FRAME_ROOM},
			       &b->io, why, room) == 0
		       ? 0
		       : -1;
}

void boxlink_close(struct boxlink *b)
{
	if (b->io)
		b->io->ops->close(b->io);
	b->io = NULL;
}

void boxlink_client(const struct boxlink *b, struct rf_client *client, uint16_t group,
		    uint16_t rank, uint64_t token)
{
	struct rf_client_cfg cfg = {.ip = b->ip,
				    .box_ip = b->box_ip,
				    .via_ip = b->via_ip,
				    .vlan = RF_CTL_NO_VLAN,
				    .job = b->job,
				    .group = group,
				    .rank = rank,
				    .token = token,
				    .first_seq = b->first_seq,
				    .answer_ns = b->answer_ns,
				    .answer_name = "--timeout"};

	memcpy(cfg.mac, b->io->mac, sizeof(cfg.mac));
	memcpy(cfg.key, b->key, sizeof(cfg.key));
	if (b->box_mac) {
		cfg.have_box_mac = true;
		memcpy(cfg.box_mac, b->box_mac, sizeof(cfg.box_mac));
	}
	rf_client_init(client, &cfg);
}

static unsigned int receive(struct boxlink *b, struct rf_client *clients, size_t count)
{
	struct rf_io_frame frames[RF_IO_BURST];
	unsigned int n = b->io->ops->rx(b->io, frames, RF_IO_BURST);
	uint64_t now = boxlink_now();

	for (unsigned int i = 0; i < n; i++) {
		bool taken = false;

		for (size_t k = 0; k < count && !taken; k++)
			taken = rf_client_rx(&clients[k], now, frames[i].data, frames[i].len) != 0;
		if (!taken && b->stray)
			b->stray(b->arg, frames[i].data, frames[i].len);
	}
	return n;
}

static void transmit(struct boxlink *b, struct rf_client *clients, size_t count)
{
	uint64_t now = boxlink_now();
	unsigned int sent = 0;

	for (size_t i = 0; i < count && sent < SEND_MAX; i++) {
		struct rf_client *c = &clients[b->turn++ % count];
		uint8_t *buffer;
		size_t len;

		while ((buffer = b->io->ops->tx_buffer(b->io)) != NULL &&
		       (len = rf_client_tx(c, now, buffer, b->io->frame_max)) > 0) {
			b->io->ops->tx_commit(b->io, (uint32_t)len);
			sent++;
		}
	}
	b->io->ops->tx_flush(b->io);
}

int boxlink_run(struct boxlink *b, struct rf_client *clients, size_t count,
		bool (*done)(const struct rf_client *), uint64_t until)
{
	for (;;) {
		unsigned int n = receive(b, clients, count);
		size_t ready = 0;

		transmit(b, clients, count);
		for (size_t k = 0; k < count && done; k++)
			ready += done(&clients[k]);
		if (done && ready == count)
			return 0;
		if (boxlink_now() > until)
			return -1;
		if (n == 0)
			b->io->ops->wait(b->io, WAIT_US);
	}
}

bool boxlink_joined(const struct rf_client *client)
{
	return rf_client_state(client) == RF_CLIENT_READY ||
	       rf_client_state(client) == RF_CLIENT_FAILED;
}

static bool boxlink_answered(const struct rf_client *client)
{
	return rf_client_query(client) == RF_CLIENT_Q_DONE ||
	       rf_client_query(client) == RF_CLIENT_Q_FAILED;
}

const struct rf_ctl_reply *boxlink_answer(struct boxlink *b, struct rf_client *client)
{
	/* ARP and the question each have their own deadline, and end by themselves. */
	boxlink_run(b, client, 1, boxlink_answered, boxlink_now() + 2 * b->answer_ns + NS_PER_S);
	return rf_client_query(client) == RF_CLIENT_Q_DONE ? rf_client_answer(client) : NULL;
}

bool boxlink_send(struct boxlink *b, const uint8_t *frame, size_t len)
{
	uint8_t *buffer = b->io->ops->tx_buffer(b->io);

	if (!buffer || len > b->io->frame_max)
		return false;
	memcpy(buffer, frame, len);
	b->io->ops->tx_commit(b->io, (uint32_t)len);
	b->io->ops->tx_flush(b->io);
	return true;
}

const char *const *boxlink_counter_names(unsigned int *n)
{
	static const char *const names[] = {
#define NAME(name, text) #name,
		RF_COUNTERS(NAME)
#undef NAME
	};

	*n = sizeof(names) / sizeof(names[0]);
	return names;
}
