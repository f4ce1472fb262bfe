/*
 * Addresses of the ports, to which mirror connections send (box.md, "The addresses of the ports").
 * Before a port uses its address it asks for it three times (RFC 5227). Later it announces it once
 * a minute. If another host claims the address, the port takes no mirror rank until the claim has
 * been absent for a minute. The box goes on answering for an address that it has used before,
 * because live connections need it.
 */
#include <string.h>

#include "firmware/core/internal.h"
#include "proto/rf_bytes.h"

#define PROBES 3u
/* From the last probe to the first use, in times between two probes. */
#define PROBE_WAITS 2u
#define CLAIM_MS 60000u
/* What remains to be done if the inject buffer is busy: try again after this. */
#define AGAIN_MS 1u

static bool is_probing(const struct rf_fw_address *a)
{
	return a->ip != 0 && !a->used;
}

bool rf_fw_address_usable(const struct rf_fw *fw, unsigned int port)
{
	const struct rf_fw_address *a = &fw->address[port];

	return a->ip != 0 && a->used && !a->claimed;
}

bool rf_fw_address_of_port(const struct rf_fw *fw, uint32_t ip)
{
	for (unsigned int p = 0; p < fw->ports; p++)
		if (ip != 0 && fw->address[p].ip == ip)
			return true;
	return false;
}

uint32_t rf_fw_address_claims(const struct rf_fw *fw)
{
	uint32_t bits = 0;

	for (unsigned int p = 0; p < fw->ports; p++)
		bits |= fw->address[p].claimed ? 1u << p : 0u;
	return bits;
}

uint32_t rf_fw_address_probes(const struct rf_fw *fw)
{
	uint32_t bits = 0;

	for (unsigned int p = 0; p < fw->ports; p++)
		bits |= is_probing(&fw->address[p]) && !fw->address[p].claimed ? 1u << p : 0u;
	return bits;
}

/* The address that the settings give to a port. */
static uint32_t configured(const struct rf_fw_cfg *cfg, unsigned int port)
{
	return cfg->port_list ? cfg->port_ip[port] : cfg->ip + 1u + port;
}

/* Whether ip can be the address of a host in the box's subnet; every address without a prefix. */
static bool in_subnet(const struct rf_fw_cfg *cfg, uint32_t ip)
{
	uint32_t mask = rf_fw_prefix_mask(cfg->prefix);

	if (cfg->prefix == 0)
		return true;
	if (((ip ^ cfg->ip) & mask) != 0)
		return false;
	/* The first and the last address of a subnet belong to no host, unless it has only two. */
	return cfg->prefix > 30 || ((ip & ~mask) != 0 && (ip | mask) != UINT32_MAX);
}

/* 0.x, 127.x and addresses from multicast on do not belong to a host. */
static bool is_host(uint32_t ip)
{
	return ip >> 24 != 0 && ip >> 24 != 127u && ip >> 28 < 0xeu;
}

/* Whether a port may have this address, which is not 0. */
static int port_address(const struct rf_fw_cfg *cfg, uint32_t ip)
{
	if (ip == cfg->ip)
		return RF_FW_E_OWN;
	if (ip == cfg->gateway)
		return RF_FW_E_AT_GATEWAY;
	if (!is_host(ip))
		return RF_FW_E_ADDRESS;
	return in_subnet(cfg, ip) ? RF_FW_OK : RF_FW_E_SUBNET;
}

int rf_fw_cfg_addresses(const struct rf_fw_cfg *cfg, unsigned int ports)
{
	if (cfg->prefix > 32)
		return RF_FW_E_PREFIX;
	if (!is_host(cfg->ip) || !in_subnet(cfg, cfg->ip))
		return RF_FW_E_BOX;
	if ((cfg->gateway != 0 && !in_subnet(cfg, cfg->gateway)) || cfg->gateway == cfg->ip)
		return RF_FW_E_GATEWAY;
	for (unsigned int p = 0; p < ports; p++) {
		uint32_t ip = configured(cfg, p);
		int rc = ip != 0 ? port_address(cfg, ip) : RF_FW_OK;

		if (rc != RF_FW_OK)
			return rc;
		for (unsigned int q = 0; ip != 0 && q < p; q++)
			if (configured(cfg, q) == ip)
				return RF_FW_E_TWICE;
	}
	for (unsigned int p = ports; ports > 0 && cfg->port_list && p < RF_FW_PORTS; p++)
		if (cfg->port_ip[p] != 0)
			return RF_FW_E_PORTS;
	return RF_FW_OK;
}

void rf_fw_address_begin(struct rf_fw *fw)
{
	fw->address_ms = RF_FW_NEVER;
	if (!fw->mirror)
		return;
	for (unsigned int p = 0; p < fw->ports; p++) {
		struct rf_fw_address *a = &fw->address[p];

		a->ip = configured(&fw->cfg, p);
		a->used = fw->cfg.probe_ms == 0;
		a->due_ms = fw->now_ms;
		rf_fw_write(fw, RF_PORT_IP0 + 4u * p, a->ip);
		if (a->ip != 0)
			fw->address_ms = fw->now_ms;
	}
}

/* Ethernet address `mac` of port p. */
static void port_mac(const struct rf_fw *fw, unsigned int port, uint8_t *mac)
{
	memcpy(mac, fw->cfg.mac, RF_CTL_MAC_BYTES);
	mac[5] = (uint8_t)(mac[5] + port);
}

/* An ARP request to all hosts. sender 0: a probe. False: the port cannot send now. */
static bool ask(struct rf_fw *fw, unsigned int port, uint32_t sender, uint32_t target)
{
	uint8_t mac[RF_CTL_MAC_BYTES];
	struct rf_fw_arp q = {.op = RF_FW_ARP_REQUEST,
			      .sender_mac = mac,
			      .sender_ip = sender,
			      .target_ip = target};

	port_mac(fw, port, mac);
	return rf_fw_send_arp(fw, port, &q);
}

/* One probe, or the end of probing. */
static void probe(struct rf_fw *fw, unsigned int port, struct rf_fw_address *a)
{
	if (a->probes == PROBES) {
		a->used = 1;
		a->due_ms = fw->now_ms;
		return;
	}
	a->due_ms = fw->now_ms + AGAIN_MS;
	if (!ask(fw, port, 0, a->ip))
		return;
	fw->cnt.arp_probes++;
	a->probes++;
	a->due_ms =
		fw->now_ms + (a->probes == PROBES ? PROBE_WAITS : 1u) * (uint64_t)fw->cfg.probe_ms;
}

/* Announces the address, and asks for the gateway. */
static void announce(struct rf_fw *fw, unsigned int port, struct rf_fw_address *a)
{
	uint32_t gateway = fw->cfg.gateway;

	a->due_ms = RF_FW_NEVER;
	if (fw->cfg.announce_ms == 0)
		return;
	a->due_ms = fw->now_ms + AGAIN_MS;
	if (!a->told) {
		if (!ask(fw, port, a->ip, a->ip))
			return;
		fw->cnt.arp_announced++;
		a->told = 1;
	}
	if (gateway != 0) {
		if (!ask(fw, port, a->ip, gateway))
			return;
		/* The last request was not answered. */
		if (a->asked)
			fw->cnt.gateway_silent++;
		a->gateway = a->gateway && !a->asked;
		a->asked = 1;
	}
	a->told = 0;
	a->due_ms = fw->now_ms + fw->cfg.announce_ms;
}

/* A claim that has been absent for a minute is over. */
static void forgive(struct rf_fw *fw, unsigned int port, struct rf_fw_address *a)
{
	if (!a->claimed || fw->now_ms - a->claim_ms < CLAIM_MS)
		return;
	a->claimed = 0;
	a->probes = 0;
	a->due_ms = fw->now_ms;
	rf_fw_note(fw, RF_CTL_EV_UNCLAIMED,
		   &(struct rf_fw_what){a->claim_mac, port, RF_CTL_NO_RANK, 0, 0});
}

static uint64_t next_of(const struct rf_fw_address *a)
{
	uint64_t forgiven = a->claimed ? a->claim_ms + CLAIM_MS : RF_FW_NEVER;

	/* A claimed address is not probed, and not announced: the other host would be misled. */
	return a->claimed ? forgiven : a->due_ms;
}

uint64_t rf_fw_address_tick(struct rf_fw *fw)
{
	if (fw->now_ms < fw->address_ms)
		return fw->address_ms;
	fw->address_ms = RF_FW_NEVER;
	for (unsigned int p = 0; p < fw->ports; p++) {
		struct rf_fw_address *a = &fw->address[p];

		if (a->ip == 0)
			continue;
		forgive(fw, p, a);
		if (!a->claimed && is_probing(a) && fw->now_ms >= a->due_ms)
			probe(fw, p, a);
		if (!a->claimed && a->used && fw->now_ms >= a->due_ms)
			announce(fw, p, a);
		if (next_of(a) < fw->address_ms)
			fw->address_ms = next_of(a);
	}
	return fw->address_ms;
}

static uint64_t number_of(const uint8_t *mac)
{
	return (uint64_t)rf_get_be16(mac) << 32 | rf_get_be32(mac + 2);
}

static bool own_mac(const struct rf_fw *fw, const uint8_t *mac)
{
	return number_of(mac) - number_of(fw->cfg.mac) < fw->ports;
}

bool rf_fw_address_heard(struct rf_fw *fw, unsigned int port, const struct rf_fw_arp *q)
{
	struct rf_fw_address *a = &fw->address[port];
	/* Another host that probes for the same address has not used it either. */
	bool rival = is_probing(a) && q->sender_ip == 0 && q->target_ip == a->ip;

	if (a->ip == 0 || own_mac(fw, q->sender_mac))
		return false;
	if (q->op == RF_FW_ARP_REPLY && q->sender_ip == fw->cfg.gateway && q->sender_ip != 0) {
		a->gateway = 1;
		a->asked = 0;
		return true;
	}
	if (q->sender_ip != a->ip && !rival)
		return false;
	fw->cnt.arp_claims++;
	a->claim_ms = fw->now_ms;
	if (!a->claimed) {
		a->claim_mac = number_of(q->sender_mac);
		rf_fw_note(fw, RF_CTL_EV_CLAIMED,
			   &(struct rf_fw_what){a->claim_mac, port, RF_CTL_NO_RANK, 0, 0});
	}
	a->claimed = 1;
	if (fw->address_ms > a->claim_ms + CLAIM_MS)
		fw->address_ms = a->claim_ms + CLAIM_MS;
	return true;
}

/* Ranks of a group on a port, whether they have joined or only asked. */
static unsigned int ranks_on(struct rf_fw *fw, const struct rf_fw_group *g, unsigned int port)
{
	unsigned int n = 0;

	for (const struct rf_fw_member *m = g ? rf_fw_first(fw, g) : NULL; m; m = rf_fw_next(fw, m))
		n += m->port == port;
	return n;
}

unsigned int rf_fw_address_choose(struct rf_fw *fw, const struct rf_fw_group *g,
				  unsigned int allowed)
{
	unsigned int best = RF_FW_NONE, fewest = UINT32_MAX;

	for (unsigned int p = 0; p < fw->ports; p++) {
		unsigned int n;

		if (!rf_fw_address_usable(fw, p) || !(allowed >> p & 1u))
			continue;
		n = ranks_on(fw, g, p);
		if (n < fewest) {
			fewest = n;
			best = p;
		}
	}
	return best;
}

unsigned int rf_fw_address_of_rank(struct rf_fw *fw, const struct rf_fw_group *g,
				   unsigned int allowed, uint32_t rank)
{
	uint8_t usable[RF_CTL_PORTS_MAX];
	unsigned int n = 0, port;

	for (unsigned int p = 0; p < fw->ports; p++)
		if (rf_fw_address_usable(fw, p) && (allowed >> p & 1u))
			usable[n++] = (uint8_t)p;
	if (n == 0)
		return RF_FW_NONE;
	port = usable[rank % n];
	return ranks_on(fw, g, port) < fw->lanes ? port : rf_fw_address_choose(fw, g, allowed);
}
