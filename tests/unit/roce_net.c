#include "tests/unit/roce_net.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "proto/rf_bytes.h"

void roce_net_init(struct roce_net *net, struct roce_random rng)
{
	memset(net, 0, sizeof(*net));
	net->rng = rng;
	net->delay = 1000;
	net->gap = 100;
	net->late = 3000;
	net->wake = UINT64_MAX;
}

void roce_net_free(struct roce_net *net)
{
	for (uint32_t i = 0; i < net->frames; i++)
		free(net->heap[i].bytes);
	free(net->heap);
	for (uint32_t i = 0; i < net->count; i++)
		roce_endpoint_destroy(net->hosts[i]);
}

static uint32_t roce_net_add(struct roce_net *net, struct roce_endpoint *ep, const uint8_t mac[6])
{
	assert(net->count < ROCE_NET_HOSTS);
	net->hosts[net->count] = ep;
	memcpy(net->macs[net->count], mac, 6);
	return net->count++;
}

void roce_net_mac(uint32_t i, uint8_t mac[6])
{
	static const uint8_t base[6] = {2, 0, 0, 0, 0, 0};

	memcpy(mac, base, 6);
	mac[5] = (uint8_t)(i + 1);
}

uint32_t roce_net_ip(uint32_t i)
{
	return 0x0a000001u + i;
}

struct roce_endpoint *roce_net_host(struct roce_net *net)
{
	struct roce_endpoint_cfg cfg = {.ip = roce_net_ip(net->count), .max_qps = 8};
	struct roce_endpoint *ep;

	roce_net_mac(net->count, cfg.mac);
	if (roce_endpoint_create(&cfg, &ep) != ROCE_OK)
		abort();
	roce_net_add(net, ep, cfg.mac);
	return ep;
}

static int before(const struct roce_net_frame *a, const struct roce_net_frame *b)
{
	return a->at < b->at || (a->at == b->at && a->order < b->order);
}

static void swap(struct roce_net *net, uint32_t i, uint32_t k)
{
	struct roce_net_frame t = net->heap[i];

	net->heap[i] = net->heap[k];
	net->heap[k] = t;
}

static void push(struct roce_net *net, uint32_t to, const uint8_t *frame, size_t len, uint64_t at)
{
	uint32_t i = net->frames++;

	if (net->frames > net->room) {
		net->room = net->room ? 2 * net->room : 64;
		net->heap = realloc(net->heap, net->room * sizeof(net->heap[0]));
		if (!net->heap)
			abort();
	}
	net->heap[i] = (struct roce_net_frame){at, net->order++, to, (uint32_t)len, malloc(len)};
	if (!net->heap[i].bytes)
		abort();
	memcpy(net->heap[i].bytes, frame, len);
	for (; i > 0 && before(&net->heap[i], &net->heap[(i - 1) / 2]); i = (i - 1) / 2)
		swap(net, i, (i - 1) / 2);
}

static struct roce_net_frame pop(struct roce_net *net)
{
	struct roce_net_frame first = net->heap[0];
	uint32_t i = 0;

	net->heap[0] = net->heap[--net->frames];
	for (;;) {
		uint32_t k = 2 * i + 1;

		if (k + 1 < net->frames && before(&net->heap[k + 1], &net->heap[k]))
			k++;
		if (k >= net->frames || !before(&net->heap[k], &net->heap[i]))
			break;
		swap(net, i, k);
		i = k;
	}
	return first;
}

static int chance(struct roce_net *net, uint32_t per_mille)
{
	return per_mille > 0 && roce_random_below(&net->rng, 1000) < per_mille;
}

static void put_on_wire(struct roce_net *net, uint32_t to, const uint8_t *frame, size_t len)
{
	uint64_t at = net->now + net->delay;

	net->sent++;
	if (chance(net, net->loss)) {
		net->lost++;
		return;
	}
	if (chance(net, net->duplicate))
		push(net, to, frame, len, at + roce_random_below(&net->rng, (uint32_t)net->late));
	if (chance(net, net->reorder))
		at += roce_random_below(&net->rng, (uint32_t)net->late);
	push(net, to, frame, len, at);
	if (chance(net, net->corrupt)) {
		/* After the bytes that no checksum covers, so that it must be detected. */
		uint32_t bit = roce_random_below(&net->rng, 8 * (uint32_t)(len - 46)) + 8 * 46;
		uint8_t *bytes = NULL;

		for (uint32_t i = 0; i < net->frames; i++)
			if (net->heap[i].order == net->order - 1)
				bytes = net->heap[i].bytes;
		if (bytes && bit / 8 != 46)
			bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
}

void roce_net_inject(struct roce_net *net, const uint8_t *frame, size_t len)
{
	for (uint32_t i = 0; i < net->count; i++)
		if (memcmp(frame, net->macs[i], 6) == 0 || (frame[0] & 1))
			put_on_wire(net, i, frame, len);
}

static int send_all(struct roce_net *net)
{
	uint8_t frame[ROCE_FRAME_MAX];
	int any = 0;

	for (uint32_t i = 0; i < net->count; i++) {
		size_t len;

		if (net->tx_free[i] > net->now)
			continue;
		len = roce_endpoint_tx(net->hosts[i], net->now, frame, sizeof(frame));
		if (len == 0)
			continue;
		any = 1;
		net->tx_free[i] = net->now + net->gap;
		if (!net->hook || !net->hook(net->hook_ctx, i, frame, len))
			roce_net_inject(net, frame, len);
	}
	return any;
}

static uint64_t next_time(const struct roce_net *net, int sent)
{
	uint64_t t = net->frames > 0 ? net->heap[0].at : UINT64_MAX;

	for (uint32_t i = 0; i < net->count; i++) {
		uint64_t timeout = roce_endpoint_next_timeout(net->hosts[i]);

		if (net->tx_free[i] > net->now && net->tx_free[i] < t)
			t = net->tx_free[i];
		/* A timer is checked when the host may send. */
		if (timeout < net->tx_free[i])
			timeout = net->tx_free[i];
		if (timeout < t)
			t = timeout;
	}
	if (net->wake > net->now && net->wake < t)
		t = net->wake;
	/* A host that is free may have more to send. */
	if (sent && net->gap == 0)
		t = net->now;
	return t < net->now ? net->now : t;
}

int roce_net_run(struct roce_net *net, uint64_t limit)
{
	uint64_t end = net->now + limit;

	while (net->now < end) {
		int sent;
		uint64_t t;

		while (net->frames > 0 && net->heap[0].at <= net->now) {
			struct roce_net_frame f = pop(net);

			roce_endpoint_rx(net->hosts[f.to], net->now, f.bytes, f.len);
			free(f.bytes);
		}
		if (net->work)
			net->work(net->ctx);
		if (net->done && net->done(net->ctx))
			return 1;
		sent = send_all(net);
		t = next_time(net, sent);
		if (t == UINT64_MAX)
			break;
		net->now = t;
	}
	/* The last event may have been a timer that ended a queue pair. */
	if (net->work)
		net->work(net->ctx);
	return net->done ? net->done(net->ctx) : 1;
}
