#include "sim/fabric/switch.h"

#include <string.h>

#include "proto/rf_bytes.h"
#include "proto/rf_inet.h"

#define PROBES 16u /* places where an address may be stored */
#define GROUP_BIT (UINT64_C(1) << 40)

int rf_switch_init(struct rf_switch *s, unsigned hosts, unsigned boxes)
{
	if (hosts > RF_SWITCH_PORTS || boxes > RF_SWITCH_PORTS - hosts)
		return -1;
	memset(s, 0, sizeof(*s));
	s->hosts = hosts;
	s->boxes = boxes;
	s->age = RF_SWITCH_AGE_NS;
	for (unsigned i = 0; i < RF_SWITCH_PORTS; i++)
		s->port[i].redirect = RF_SWITCH_NO_RULE;
	return 0;
}

void rf_switch_rule(struct rf_switch *s, unsigned host, uint32_t box)
{
	if (host < s->hosts)
		s->port[host].redirect = box < s->boxes ? s->hosts + box : RF_SWITCH_NO_RULE;
}

bool rf_switch_rule_matches(const uint8_t *frame, size_t len)
{
	size_t l2 = rf_inet_ipv4_at(frame, len);
	size_t ihl;

	if (!l2 || frame[l2] >> 4 != 4)
		return false;
	ihl = (size_t)(frame[l2] & 15) * 4;
	if (ihl < 20 || len < l2 + ihl + 4 || frame[l2 + 9] != RF_INET_PROTO_UDP ||
	    (rf_get_be16(frame + l2 + 6) & 0x1fff) != 0)
		return false;
	return rf_get_be16(frame + l2 + ihl + 2) == 4791;
}

static uint64_t load_mac(const uint8_t *p)
{
	return (uint64_t)rf_get_be16(p) << 32 | rf_get_be32(p + 2);
}

static unsigned place(uint64_t mac, unsigned probe)
{
	uint64_t h = mac * UINT64_C(0x9e3779b97f4a7c15);

	return (unsigned)((h >> 40) + probe) % RF_SWITCH_MACS;
}

/* If all places of an address are taken, the entry seen longest ago is replaced. */
static void learn(struct rf_switch *s, uint64_t now, uint64_t mac, unsigned port)
{
	struct rf_switch_mac *to = NULL;

	for (unsigned i = 0; i < PROBES; i++) {
		struct rf_switch_mac *m = &s->macs[place(mac, i)];

		if (m->mac == mac) {
			to = m;
			break;
		}
		if (!to || (m->mac == 0 && to->mac != 0) ||
		    (m->mac != 0 && to->mac != 0 && m->seen < to->seen))
			to = m;
	}
	*to = (struct rf_switch_mac){.mac = mac, .seen = now, .port = port};
}

/* The port of an address, or RF_SWITCH_NO_RULE. */
static uint32_t look_up(struct rf_switch *s, uint64_t now, uint64_t mac)
{
	for (unsigned i = 0; i < PROBES; i++) {
		struct rf_switch_mac *m = &s->macs[place(mac, i)];

		if (m->mac != mac)
			continue;
		if (now - m->seen < s->age)
			return m->port;
		m->mac = 0;
		break;
	}
	return RF_SWITCH_NO_RULE;
}

size_t rf_switch_frame(struct rf_switch *s, uint64_t now, unsigned in, const uint8_t *frame,
		       size_t len, uint16_t *out)
{
	struct rf_switch_port *p = &s->port[in];
	uint64_t source;
	uint64_t target;
	uint32_t to;
	size_t n = 0;

	p->frames_in++;
	if (len < 14 || (source = load_mac(frame + 6)) == 0 || (source & GROUP_BIT)) {
		p->dropped++;
		return 0;
	}
	learn(s, now, source, in);

	if (p->redirect != RF_SWITCH_NO_RULE && rf_switch_rule_matches(frame, len)) {
		p->rule_hits++;
		s->port[p->redirect].frames_out++;
		out[0] = (uint16_t)p->redirect;
		return 1;
	}
	target = load_mac(frame);
	to = target & GROUP_BIT ? RF_SWITCH_NO_RULE : look_up(s, now, target);
	if (to == in) {
		p->dropped++;
		return 0;
	}
	if (to != RF_SWITCH_NO_RULE) {
		s->port[to].frames_out++;
		out[0] = (uint16_t)to;
		return 1;
	}
	p->flooded++;
	for (unsigned i = 0; i < s->hosts + s->boxes; i++) {
		if (i == in)
			continue;
		s->port[i].frames_out++;
		out[n++] = (uint16_t)i;
	}
	return n;
}
