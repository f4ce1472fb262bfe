#include "tests/unit/fw_hosts.h"

#include <stdlib.h>
#include <string.h>

#define NS_PER_CYCLE (1000000u / FW_BOX_KHZ)

static bool lost(struct fw_net *net)
{
	net->seed = net->seed * 6364136223846793005ull + 1442695040888963407ull;
	return (net->seed >> 40 & 255u) < net->loss;
}

struct fw_net *fw_net_new(unsigned int n)
{
	struct fw_net *net = calloc(1, sizeof(*net));

	if (!net)
		abort();
	net->box = fw_box_new();
	net->hosts = n;
	net->seed = 1;
	for (unsigned int i = 0; i < n; i++) {
		struct fw_host *h = &net->host[i];
		uint8_t mac[6] = {0x02, 0, 0, 0, 1, (uint8_t)i};

		memcpy(h->cfg.mac, mac, 6);
		h->cfg.ip = FW_HOST_IP(i);
		h->cfg.box_ip = FW_BOX_IP;
		h->cfg.vlan = RF_CTL_NO_VLAN;
		h->cfg.job = 42;
		h->cfg.group = 1;
		h->cfg.rank = (uint16_t)i;
		h->cfg.token = 1000 + i;
		h->port = i % net->box->ports;
		h->join = (struct rf_ctl_join){.ranks = (uint16_t)n,
					       .mtu_log2 = 10,
					       .slots_log2 = 6,
					       .port = RF_CTL_NO_PORT,
					       .flags = RF_CTL_J_SHIFTED,
					       .qpn = FW_HOST_QPN(i),
					       .peer_ip = FW_HOST_IP((i + 1) % n),
					       .peer_qpn = FW_HOST_QPN((i + 1) % n),
					       .start_psn = 0x1000u * i,
					       .shift = RF_CTL_SHIFT,
					       .lease_ms = 1000,
					       .deadline_ms = 2000};
	}
	return net;
}

void fw_net_free(struct fw_net *net)
{
	fw_box_free(net->box);
	free(net);
}

void fw_net_start(struct fw_net *net)
{
	if (fw_box_start(net->box) != RF_FW_OK)
		abort();
	for (unsigned int i = 0; i < net->hosts; i++)
		rf_client_init(&net->host[i].client, &net->host[i].cfg);
}

uint64_t fw_net_now(const struct fw_net *net)
{
	return net->box->cycle * NS_PER_CYCLE;
}

void fw_net_join(struct fw_net *net, unsigned int host)
{
	struct fw_host *h = &net->host[host];

	if (rf_client_join(&h->client, &h->join, fw_net_now(net)) != 0)
		abort();
}

static bool from_hosts(struct fw_net *net)
{
	uint8_t frame[RF_CLIENT_FRAME_MAX];
	bool any = false;

	for (unsigned int i = 0; i < net->hosts; i++) {
		struct fw_host *h = &net->host[i];
		size_t len;

		while ((len = rf_client_tx(&h->client, fw_net_now(net), frame, sizeof(frame))) >
		       0) {
			any = true;
			if (!h->mute && !lost(net))
				fw_box_punt(net->box, h->port, frame, len);
		}
	}
	return any;
}

static bool from_box(struct fw_net *net)
{
	const struct fw_box_frame *f;
	bool any = false;

	while ((f = fw_box_out(net->box)) != NULL) {
		any = true;
		for (unsigned int i = 0; i < net->hosts; i++) {
			struct fw_host *h = &net->host[i];

			if (memcmp(f->data, h->cfg.mac, 6) != 0)
				continue;
			if (f->port != h->port)
				net->wrong = "a frame to a host left by another port";
			if (!h->deaf && !lost(net))
				rf_client_rx(&h->client, fw_net_now(net), f->data, f->len);
		}
	}
	return any;
}

/* Delivers waiting frames without advancing the time. */
static void fw_net_settle(struct fw_net *net)
{
	bool any = true;

	/* Bounded: requests are repeated only when time passes. */
	for (unsigned int i = 0; any && i < 1000; i++) {
		const char *what;

		any = from_hosts(net);
		what = fw_box_poll(net->box);
		if (what && !net->wrong)
			net->wrong = what;
		any = from_box(net) || any;
	}
}

void fw_net_run(struct fw_net *net, unsigned int ms)
{
	struct fw_box *b = net->box;
	uint64_t end = b->cycle + (uint64_t)ms * FW_BOX_KHZ;

	while (b->cycle < end) {
		uint64_t next = end;
		uint64_t due;

		fw_net_settle(net);
		due = rf_fw_poll(&b->fw);
		if (due > b->cycle && due < next)
			next = due;
		for (unsigned int i = 0; i < net->hosts; i++) {
			uint64_t t = rf_client_next_timeout(&net->host[i].client);

			if (t == RF_CLIENT_NEVER)
				continue;
			t = (t + NS_PER_CYCLE - 1) / NS_PER_CYCLE;
			if (t > b->cycle && t < next)
				next = t;
		}
		if (next > b->cycle)
			b->cycle = next;
	}
	fw_net_settle(net);
}
