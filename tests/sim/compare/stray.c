/*
 * Frames that do not belong to a group: foreign, for the firmware, or damaged; lines 1 to 21 of
 * docs/box.md.
 */
#include <string.h>

#include "tests/sim/compare/random.h"
#include "tests/sim/compare/traffic.h"

static void plain(uint64_t *state, struct packet *p)
{
	static const uint8_t opcodes[] = {0x00, 0x01, 0x02, 0x04, 0x05, 0x06, 0x0a, 0x0b, 0x0c,
					  0x0d, 0x0e, 0x10, 0x11, 0x64, 0x81, 0x81, 0xff};

	memset(p, 0, sizeof(*p));
	p->dst_mac = 0x020000000100u + random_below(state, 8);
	p->src_mac = 0x020000000200u + random_below(state, 8);
	p->tagged = random_once(state, 3);
	p->tci = (uint16_t)random_next(state);
	p->tos = (uint8_t)random_next(state);
	p->ttl = (uint8_t)random_next(state);
	p->ip_flags = 0x4000;
	p->ip_id = (uint16_t)random_next(state);
	p->src_ip = 0x0a030000 + random_below(state, 16);
	p->dst_ip = 0x0a030000 + random_below(state, 16);
	p->sport = (uint16_t)random_next(state);
	p->dport = 4791;
	p->opcode = opcodes[random_below(state, sizeof(opcodes))];
	p->bth_flags = (uint8_t)random_next(state);
	p->bth4 = (uint8_t)random_next(state);
	p->pkey = 0xffff;
	p->qpn = random_below(state, 0x1000000);
	p->psn = random_below(state, 0x1000000);
	p->payload_len = 4 * random_below(state, random_once(state, 4) ? 1024 : 32);
	if (random_once(state, 3))
		p->icrc_xor = (uint32_t)random_next(state);
}

/* Often for the address of a port, mostly with its MAC. */
static void for_port(uint64_t *state, const struct rf_engine_cfg *cfg, struct packet *p)
{
	unsigned int port = random_below(state, cfg->ports);

	p->dst_ip = BENCH_PORT_IP(port);
	if (!random_once(state, 8))
		p->dst_mac = BENCH_MAC + (random_once(state, 8) ? random_below(state, 10) : port);
}

enum damage {
	STRAY_FOREIGN,
	STRAY_MAC_ERROR,
	STRAY_RUNT,
	STRAY_OVERSIZE,
	STRAY_OWN_SOURCE,
	STRAY_TWO_TAGS,
	STRAY_ARP,
	STRAY_IPV6,
	STRAY_ETHERTYPE,
	STRAY_VERSION,
	STRAY_OPTIONS,
	STRAY_CHECKSUM,
	STRAY_FRAGMENT,
	STRAY_MULTICAST,
	STRAY_IP_LENGTH,
	STRAY_ICMP,
	STRAY_NOT_UDP,
	STRAY_PORT,
	STRAY_UDP_LENGTH,
	STRAY_CONTROL,
	STRAY_TINY,
	STRAY_PADDED,
	STRAY_TAIL,
	STRAY_KINDS
};

static const char *const names[STRAY_KINDS] = {
	"foreign",    "marked bad", "runt",      "oversize",   "own source", "two tags",
	"ARP",        "IPv6",       "ethertype", "IP version", "IP options", "IP checksum",
	"fragment",   "multicast",  "IP length", "ICMP",       "not UDP",    "other port",
	"UDP length", "control",    "tiny",      "padded",     "tail",
};

/* Changes made before the packet is built. */
static void damage_fields(uint64_t *state, struct packet *p, enum damage kind)
{
	switch (kind) {
	case STRAY_OWN_SOURCE:
		p->src_mac =
			BENCH_MAC +
			random_below(state, 10); /* 8, 9 and values beyond PORTS are other hosts */
		break;
	case STRAY_FRAGMENT:
		p->ip_flags = (uint16_t)(1u << random_below(state, 16));
		break;
	case STRAY_MULTICAST:
		p->dst_mac |= 0x010000000000u;
		break;
	case STRAY_IP_LENGTH:
		p->ip_length_off = (int)random_below(state, 200) - 100;
		break;
	case STRAY_ICMP:
		p->ip_proto = 1;
		if (!random_once(state, 3) && p->dst_ip >> 16 == 0x0a03)
			p->dst_ip = BENCH_IP;
		break;
	case STRAY_NOT_UDP:
		p->ip_proto = (uint8_t)(2 + random_below(state, 200));
		break;
	case STRAY_PORT:
		p->dport = (uint16_t)random_next(state);
		break;
	case STRAY_UDP_LENGTH:
		p->udp_length_off = (int)random_below(state, 60) - 30;
		break;
	case STRAY_CONTROL:
		if (p->dst_ip >> 16 == 0x0a03)
			p->dst_ip = BENCH_IP;
		break;
	case STRAY_OVERSIZE: /* around the limit */
		p->payload_len = 4096 - 40 + 4 * random_below(state, 40);
		if (random_once(state, 3))
			p->payload_len = 9000;
		break;
	default:
		break;
	}
}

/* Changes of the bytes. Returns the length. */
static size_t damage_bytes(uint64_t *state, uint8_t *frame, size_t len, enum damage kind)
{
	size_t l2 = packet_l2(frame);

	switch (kind) {
	case STRAY_RUNT:
		return 1 + random_below(state, 59);
	case STRAY_MAC_ERROR:
		return random_once(state, 2) ? len : 1 + random_below(state, (uint32_t)len);
	case STRAY_TWO_TAGS:
		if (random_once(state, 2)) {
			rf_put_be16(frame + 12, 0x88a8);
		} else {
			rf_put_be16(frame + 12, 0x8100);
			rf_put_be16(frame + 16, random_once(state, 2) ? 0x8100 : 0x88a8);
		}
		return len;
	case STRAY_ARP:
		return packet_arp(frame,
				  random_once(state, 3) ? BENCH_PORT_IP(random_below(state, 4))
							: 0x0a030001,
				  random_once(state, 3) ? BENCH_PORT_IP(random_below(state, 4))
							: BENCH_IP + random_below(state, 2),
				  random_once(state, 2));
	case STRAY_CONTROL: /* a bit of the magic may be wrong */
		rf_put_be32(frame + l2 + 28,
			    0x52464354 ^
				    (random_once(state, 3) ? 1u << random_below(state, 32) : 0));
		return len;
	case STRAY_IPV6:
		rf_put_be16(frame + l2 - 2, 0x86dd);
		return len;
	case STRAY_ETHERTYPE:
		rf_put_be16(frame + l2 - 2, (uint16_t)random_next(state));
		return len;
	case STRAY_VERSION:
		frame[l2] = (uint8_t)(frame[l2] ^ 0x10u << random_below(state, 4));
		return len;
	case STRAY_OPTIONS:
		frame[l2] = (uint8_t)(frame[l2] ^ 1u << random_below(state, 4));
		return len;
	case STRAY_CHECKSUM: /* sometimes still right: 0 for 0xffff */
		if (random_once(state, 2))
			rf_put_be16(frame + l2 + 10, random_once(state, 2) ? 0 : 0xffff);
		else
			frame[l2 + 1 + random_below(state, 19)] ^=
				(uint8_t)(1u << random_below(state, 8));
		return len;
	case STRAY_TINY: /* a short datagram in a frame of 60 bytes */
		rf_put_be16(frame + l2 + 2, (uint16_t)(24 + random_below(state, 24)));
		rf_put_be16(frame + l2 + 24, (uint16_t)(rf_get_be16(frame + l2 + 2) - 20));
		packet_checksum(frame);
		return 60;
	case STRAY_PADDED: /* the shortest frames, with or without a tag, around the longest padding
			    */
		rf_put_be16(frame + l2 + 2, (uint16_t)(42 + random_below(state, 6)));
		rf_put_be16(frame + l2 + 24, (uint16_t)(rf_get_be16(frame + l2 + 2) - 20));
		packet_checksum(frame);
		return 60 + random_below(state, 7);
	case STRAY_TAIL: /* bytes after the packet */
		return len + 1 + random_below(state, 8);
	default:
		return len;
	}
}

size_t traffic_stray(uint64_t *state, const struct rf_engine_cfg *cfg, uint8_t *frame, bool *bad,
		     const char **what)
{
	enum damage kind = random_once(state, 3) ? STRAY_FOREIGN
						 : (enum damage)random_below(state, STRAY_KINDS);
	uint8_t payload[PACKET_MAX];
	struct packet p;
	size_t len;

	plain(state, &p);
	if (random_once(state, 3))
		for_port(state, cfg, &p);
	damage_fields(state, &p, kind);
	random_payload(state, RF_DTYPE_INT32, payload, p.payload_len);
	p.payload = payload;
	memset(frame, 0, 128);
	len = packet_build(&p, frame);
	*bad = kind == STRAY_MAC_ERROR;
	*what = names[kind];
	return damage_bytes(state, frame, len, kind);
}

static void mutate_bytes(uint64_t *state, uint8_t *frame, size_t len)
{
	uint32_t reach = random_once(state, 4) || len < 82 ? (uint32_t)len : 82;
	size_t at = random_below(state, reach), n;

	switch (random_below(state, 5)) {
	case 0:
		frame[at] ^= (uint8_t)(1u << random_below(state, 8));
		break;
	case 1:
		frame[at] = (uint8_t)random_next(state);
		break;
	case 2: /* the limits of a field's range */
		frame[at] = random_once(state, 2) ? 0 : 0xff;
		break;
	case 3: /* a run of bytes */
		n = 1 + random_below(state, 16);
		for (; n > 0 && at < len; n--, at++)
			frame[at] = (uint8_t)random_next(state);
		break;
	default: /* a byte of one field copied to another */
		frame[at] = frame[random_below(state, reach)];
		break;
	}
}

static size_t mutate_length(uint64_t *state, uint8_t *frame, size_t len)
{
	size_t most = random_once(state, 8) ? PACKET_MAX : len + 70, now;

	if (random_once(state, 2)) {
		now = 1 + random_below(state, (uint32_t)len);
	} else {
		now = len + random_below(state, (uint32_t)(most - len) + 1);
		now = now < PACKET_MAX ? now : PACKET_MAX;
	}
	for (; len < now; len++)
		frame[len] = (uint8_t)random_next(state);
	return now;
}

/*
 * Sets lengths that fit the frame and checksums that fit the bytes, so that more than the first
 * lines of docs/box.md is reached.
 */
static void mutate_repair(uint64_t *state, uint8_t *frame, size_t len)
{
	size_t l2 = packet_l2(frame), end;

	if (len < l2 + 44)
		return;
	if (random_once(state, 2)) {
		rf_put_be16(frame + l2 + 2, (uint16_t)(len - l2));
		rf_put_be16(frame + l2 + 24, (uint16_t)(len - l2 - 20));
	}
	packet_checksum(frame);
	end = l2 + rf_get_be16(frame + l2 + 2);
	if (end >= l2 + 44 && end <= len && !random_once(state, 4))
		packet_seal(frame);
}

size_t traffic_mutate(uint64_t *state, uint8_t *frame, size_t len)
{
	unsigned int n = 1 + random_below(state, random_once(state, 4) ? 12 : 3);

	while (n-- > 0)
		mutate_bytes(state, frame, len);
	if (random_once(state, 4))
		len = mutate_length(state, frame, len);
	if (!random_once(state, 3))
		mutate_repair(state, frame, len);
	return len;
}
