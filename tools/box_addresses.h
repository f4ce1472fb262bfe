/* ringfold box: the addresses of the box and its ports, from options. */
#ifndef RF_TOOLS_BOX_ADDRESSES_H
#define RF_TOOLS_BOX_ADDRESSES_H

#include "sim/realtime/box.h"

/* What the options say; settle with box_addresses_settle(). */
struct box_addresses {
	struct rf_rt_cfg *cfg;
	const char *ip;      /* --box-ip */
	unsigned int listed; /* addresses in --port-ips */
	bool probe;          /* --probe was given */
};

/* For struct rf_opt: --port-ips, --gateway, --probe. `to` is the struct box_addresses. */
int box_addresses_ports(void *to, const char *value);
int box_addresses_gateway(void *to, const char *value);
int box_addresses_probe(void *to, const char *value);

/*
 * Completes cfg->ip, port_ip and probe_ns when all options are known. Returns 0, or -1 after a
 * message that names the option.
 */
int box_addresses_settle(struct box_addresses *a);

#endif
