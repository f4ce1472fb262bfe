/* ringfold box: the addresses of the box and its ports, from options. */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "base/opt.h"
#include "firmware/core/fw.h"
#include "tools/box_addresses.h"

#define PORTS 8u
/* For ports on real networks, where another host may have the address. */
#define PROBE_NS UINT64_C(1000000000)

/* The address of a host: 0.x, 127.x and addresses from multicast on are none. */
static int read_ip(const char *option, const char *text, uint32_t *ip)
{
	struct in_addr a;

	if (inet_pton(AF_INET, text, &a) != 1) {
		fprintf(stderr, "--%s: \"%s\" is not an IPv4 address%s\n", option, text,
			strchr(text, ':') ? "; ringfold has no IPv6" : "");
		return -1;
	}
	*ip = ntohl(a.s_addr);
	if (*ip >> 24 != 0 && *ip >> 24 != 127 && *ip >> 24 < 224)
		return 0;
	fprintf(stderr, "--%s: %s cannot be the address of a host\n", option, text);
	return -1;
}

int box_addresses_ports(void *to, const char *value)
{
	struct box_addresses *a = to;
	const char *end;

	a->listed = 0;
	for (const char *p = value;; p = end + 1) {
		char word[64];

		end = p + strcspn(p, ",");
		if (a->listed == PORTS) {
			fprintf(stderr, "--port-ips: expected at most %u addresses\n", PORTS);
			return -1;
		}
		if (end == p) {
			fprintf(stderr, "--port-ips: expected the address of port 0, or of each "
					"port, with commas between them\n");
			return -1;
		}
		snprintf(word, sizeof(word), "%.*s", (int)(end - p), p);
		if (read_ip("port-ips", word, &a->cfg->port_ip[a->listed]) != 0)
			return -1;
		a->listed++;
		if (*end == '\0')
			break;
	}
	a->cfg->port_list = true;
	return 0;
}

int box_addresses_gateway(void *to, const char *value)
{
	struct box_addresses *a = to;

	return read_ip("gateway", value, &a->cfg->gateway);
}

int box_addresses_probe(void *to, const char *value)
{
	struct box_addresses *a = to;

	a->probe = true;
	if (rf_opt_time(value, &a->cfg->probe_ns) == 0)
		return 0;
	fprintf(stderr, "--probe: \"%s\" is not a TIME, such as 1s or 200ms\n", value);
	return -1;
}

/* Whether a port may be on a network with other hosts. */
static bool is_real(const struct rf_rt_attach *port)
{
	return strncmp(port->spec, "packet:", 7) == 0 || strncmp(port->spec, "dpdk:", 5) == 0;
}

static bool any_real(const struct rf_rt_cfg *c)
{
	for (unsigned h = 0; h < c->hosts; h++)
		if (is_real(&c->host[h]))
			return true;
	for (unsigned i = 0; i < c->directs; i++)
		if (is_real(&c->direct[i]))
			return true;
	return false;
}

/* The addresses of ports that are not listed. */
static void fill(const struct box_addresses *a)
{
	struct rf_rt_cfg *c = a->cfg;

	for (unsigned p = 1; a->listed == 1 && p < c->ports; p++)
		c->port_ip[p] = c->port_ip[0] + p;
	/* What follows 10.0.0.254 is a broadcast address, or belongs to another network. */
	for (unsigned p = 0; a->listed == 0 && p < c->ports; p++)
		c->port_ip[p] = ((c->ip & 0xff) + 8 < 0xff ? c->ip + 1u : c->ip - 32u) + p;
}

int box_addresses_settle(struct box_addresses *a)
{
	struct rf_rt_cfg *c = a->cfg;
	struct rf_fw_cfg own;
	int rc;

	if (read_ip("box-ip", a->ip, &c->ip) != 0)
		return -1;
	if (c->prefix > 32) {
		fprintf(stderr, "--prefix: expected 0..32\n");
		return -1;
	}
	rf_fw_cfg_default(&own);
	own.ip = c->ip;
	own.prefix = (uint8_t)c->prefix;
	rc = rf_fw_cfg_addresses(&own, 0);
	if (rc != RF_FW_OK) {
		fprintf(stderr, "--box-ip: %s with --prefix %u: %s\n", a->ip, c->prefix,
			rf_fw_error_text(rc));
		return -1;
	}
	if (a->listed > 1 && a->listed > c->ports) {
		fprintf(stderr, "--port-ips: %u addresses, and the box has %u ports\n", a->listed,
			c->ports);
		return -1;
	}
	fill(a);
	if (!a->probe)
		c->probe_ns = any_real(c) ? PROBE_NS : 0;
	return 0;
}
