/*
 * Hosts with real control clients connected to a fake box, for tests of firmware and client
 * together.
 */
#ifndef FW_HOSTS_H
#define FW_HOSTS_H

#include "host/control/client.h"
#include "tests/unit/fw_box.h"

#define FW_HOSTS_MAX 72u
#define FW_HOST_IP(n) (0x0a000001u + (uint32_t)(n))
#define FW_HOST_QPN(n) (0x100u + (uint32_t)(n))

struct fw_host {
	struct rf_client client;
	struct rf_client_cfg cfg;
	struct rf_ctl_join join;
	unsigned int port;
	bool mute; /* its frames get lost */
	bool deaf; /* frames to it get lost */
};

struct fw_net {
	struct fw_box *box;
	struct fw_host host[FW_HOSTS_MAX];
	unsigned int hosts;
	unsigned int loss; /* frames lost of 256, in both directions */
	uint64_t seed;
	const char *wrong; /* first invariant broken */
};

/* n hosts in a ring, host i = rank i on port i mod ports, group 1 of job 42, fp32 sum, MTU 1024,
 * shifted. */
struct fw_net *fw_net_new(unsigned int n);
void fw_net_free(struct fw_net *net);
/* Starts the box with net->box->cfg and all clients with their cfg. */
void fw_net_start(struct fw_net *net);
/* ns of the clients' clock now. */
uint64_t fw_net_now(const struct fw_net *net);
/* JOIN of one host. */
void fw_net_join(struct fw_net *net, unsigned int host);
/* Advances the time of clients and box and delivers frames between them. */
void fw_net_run(struct fw_net *net, unsigned int ms);

#endif
