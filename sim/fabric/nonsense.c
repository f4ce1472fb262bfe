/*
 * Invalid frames on the connections of a group, with a correct ICRC, so that only their content is
 * wrong. Frames that cannot be told from valid ones are left out: a well-formed packet at the next
 * index is the rank's operand, and an ACK of a sent packet states that it has arrived.
 */
#include <string.h>

#include "proto/rf_bytes.h"
#include "sim/fabric/host.h"

#define PAYLOAD 4096u

/*
 * Packets that one host sends to the next on its connection: PSNs it must have passed, PSNs far out
 * of reach, PSNs it is about to send, PSNs that are probably under way.
 */
struct place {
	uint32_t old, far, soon, out;
};

static struct place place_of(const struct rf_host *h, struct rf_rng *r)
{
	const struct rf_fabric_cfg *c = &h->f->cfg;
	const struct roce_qp_counters *q = roce_qp_counters(h->pair.to_next);
	uint32_t sent = (uint32_t)(q->tx_packets - q->tx_retransmits);
	uint32_t base = rf_host_start_psn(h->f, h->pub.life, h->rank) + c->start_index;
	/* If the window is ignored, it may be larger than the slots. */
	uint32_t span = 2 * c->slots + c->quirk[h->rank].window;

	return (struct place){
		.old = base + sent - span - (uint32_t)rf_rng_below(r, 1000),
		.far = base + sent + 2 * span + (uint32_t)rf_rng_below(r, 1u << 20),
		.soon = base + sent + (uint32_t)rf_rng_below(r, 2),
		.out = base + sent - 1 - (uint32_t)rf_rng_below(r, 4),
	};
}

bool rf_nonsense_fatal(enum rf_nonsense kind)
{
	return kind >= RF_NONSENSE_OPCODE;
}

static void fill(struct rf_rng *r, uint8_t *to, size_t len)
{
	for (size_t i = 0; i < len; i++)
		to[i] = (uint8_t)rf_rng_next(r);
}

/* The other end of a connection of `from`: another rank, or its port of the box. */
static void addresses(struct roce_packet *p, const struct rf_host *speaker,
		      const struct rf_host *from, bool next)
{
	const struct rf_fabric_cfg *c = &from->f->cfg;
	unsigned to = rf_host_neighbour(from, next);

	memset(p, 0, sizeof(*p));
	rf_host_mac(speaker->rank, p->src_mac);
	rf_host_mac(to, p->dst_mac);
	p->dst_ip = rf_fabric_ip(to);
	if (rf_fabric_is_mirror(c, from->rank)) {
		p->dst_ip = rf_client_port_ip(rf_member_client(from->member));
		memcpy(p->dst_mac, rf_client_port_mac(rf_member_client(from->member)), 6);
	}
	p->has_vlan = c->vlan;
	p->vlan_tci = RF_HOST_VLAN_TCI;
	p->ttl = 64;
	p->ip_flags = 0x4000;
	p->src_ip = rf_fabric_ip(from->rank);
	p->udp_sport = 0xc123;
	p->migreq = true;
	p->pkey = 0xffff;
}

/* Sends data as `from` to the next rank. */
static void data_packet(struct roce_packet *p, const struct rf_host *from, enum rf_nonsense kind,
			struct rf_rng *r, uint8_t *payload)
{
	const struct rf_fabric_cfg *c = &from->f->cfg;
	struct place at = place_of(from, r);
	unsigned next = rf_host_neighbour(from, true);
	bool mirror = rf_fabric_is_mirror(c, from->rank);
	bool fatal = rf_nonsense_fatal(kind);
	uint32_t start = rf_host_start_psn(from->f, from->pub.life, from->rank);

	/* One of the invalid forms. */
	if (kind == RF_NONSENSE_FORM)
		kind = (enum rf_nonsense)(RF_NONSENSE_OPCODE + rf_rng_below(r, 3));
	p->qpn = rf_host_numbers(from, next).recv_qpn;
	p->opcode = 0x04; /* SEND ONLY */
	p->ackreq = rf_rng_below(r, 2) != 0;
	p->psn = (fatal ? at.soon : rf_rng_below(r, 2) ? at.old : at.far) & 0xffffff;
	p->payload = payload;
	p->payload_len = 4 * (1 + (uint32_t)rf_rng_below(r, c->mtu / 4));
	if (kind == RF_NONSENSE_LENGTH) {
		p->opcode = 0x00; /* FIRST, which is one MTU long */
		p->payload_len = c->mtu - 4;
	}
	if (kind == RF_NONSENSE_ELEMENT)
		p->payload_len--;
	/* READ, atomics and undefined opcodes; a mirror connection may be asked unknown ones. */
	if (kind == RF_NONSENSE_OPCODE && !mirror)
		p->opcode = (uint8_t)(rf_rng_below(r, 2) ? 0x0c : 0x12 + rf_rng_below(r, 0x2e));
	else if (kind == RF_NONSENSE_OPCODE)
		p->opcode = (uint8_t)(rf_rng_below(r, 2) ? 0x0c : 0x13 + rf_rng_below(r, 2));
	if (kind == RF_NONSENSE_ORDER || kind == RF_NONSENSE_IMMEDIATE) {
		p->opcode = 0x05; /* SEND ONLY WITH IMMEDIATE */
		p->imm = 0xc000u | ((p->psn - start) & RF_IMM_INDEX);
		p->imm ^= kind == RF_NONSENSE_ORDER ? 1 + (uint32_t)rf_rng_below(r, 15) : 0xa0u;
	}
	fill(r, payload, p->payload_len);
}

/* Sends an answer as `from` to the previous rank. */
static void answer_packet(struct roce_packet *p, const struct rf_host *from, enum rf_nonsense kind,
			  struct rf_rng *r)
{
	unsigned prev = rf_host_neighbour(from, false);
	struct place at = place_of(from->f->hosts[prev], r);
	bool mirror = rf_fabric_is_mirror(&from->f->cfg, from->rank);
	uint32_t shift = from->f->cfg.plain || mirror ? 0 : RF_CTL_SHIFT;

	p->qpn = rf_host_numbers(from, prev).send_qpn;
	p->opcode = 0x11;
	p->psn = ((kind == RF_NONSENSE_ACK_BEYOND ? at.far
		   : kind == RF_NONSENSE_NAK      ? at.out
						  : at.old) -
		  shift) &
		 0xffffff;
	p->syndrome = (uint8_t)rf_rng_below(r, 0x20);
	p->msn = (uint32_t)rf_rng_next(r) & 0xffffff;
	if (kind == RF_NONSENSE_NAK || kind == RF_NONSENSE_NAK_OLD)
		p->syndrome = (uint8_t)(0x61 + rf_rng_below(r, 3));
	if (kind == RF_NONSENSE_ACK_MALFORMED)
		p->syndrome = (uint8_t)(0x64 + rf_rng_below(r, 0x9c));
}

/* A packet to the box itself that is not a control message. */
static size_t control_frame(const struct rf_host *speaker, struct rf_rng *r, uint8_t *frame)
{
	const struct rf_fabric_cfg *c = &speaker->f->cfg;
	uint8_t data[300];
	struct roce_udp u = {.has_vlan = c->vlan,
			     .vlan_tci = RF_HOST_VLAN_TCI,
			     .src_ip = rf_fabric_ip(speaker->rank),
			     .dst_ip = rf_fabric_box_ip(),
			     .sport = 0xc000,
			     .dport = RF_CTL_UDP_PORT,
			     .data = data,
			     .len = (uint32_t)rf_rng_below(r, sizeof(data))};

	rf_host_mac(speaker->rank, u.src_mac);
	memcpy(u.dst_mac, (const uint8_t[6]){0x02, 0x52, 0x46, 0x00, 0x00, 0x10}, 6);
	fill(r, data, sizeof(data));
	/* Half of them start like a control message. */
	if (rf_rng_below(r, 2)) {
		rf_put_be32(data, RF_CTL_MAGIC);
		data[4] = RF_CTL_VERSION;
		data[5] = (uint8_t)rf_rng_below(r, 8);
		rf_put_be16(data + 6, 0);
		rf_put_be16(data + 8, (uint16_t)u.len);
	}
	return roce_udp_build(&u, frame, ROCE_FRAME_MAX);
}

static bool is_data(enum rf_nonsense kind)
{
	return kind == RF_NONSENSE_DATA || kind == RF_NONSENSE_FORM || kind == RF_NONSENSE_OPCODE ||
	       kind == RF_NONSENSE_LENGTH || kind == RF_NONSENSE_ELEMENT ||
	       kind == RF_NONSENSE_ORDER || kind == RF_NONSENSE_IMMEDIATE;
}

bool rf_fabric_nonsense(struct rf_fabric *f, unsigned speaker, unsigned about,
			enum rf_nonsense kind, bool spoof, uint64_t seed)
{
	const struct rf_host *s = f->hosts[speaker], *h = f->hosts[about];
	struct rf_rng r = rf_rng_make(seed, UINT64_C(5) << 40 | about);
	struct roce_packet p;
	uint8_t payload[PAYLOAD], frame[ROCE_FRAME_MAX];
	size_t len;

	if (kind == RF_NONSENSE_CONTROL) {
		len = control_frame(s, &r, frame);
		rf_fabric_inject(f, speaker, frame, len);
		return true;
	}
	if (!h->pair.to_next || !f->hosts[rf_host_neighbour(h, false)]->pair.to_next ||
	    s->pub.state == RF_RANK_CRASHED ||
	    (rf_fabric_is_mirror(&f->cfg, speaker) && !rf_fabric_is_mirror(&f->cfg, about)) ||
	    (rf_fabric_is_mirror(&f->cfg, about) &&
	     !rf_client_port_mac(rf_member_client(h->member))))
		return false;
	addresses(&p, s, h, is_data(kind));
	if (is_data(kind))
		data_packet(&p, h, kind, &r, payload);
	else
		answer_packet(&p, h, kind, &r);
	if (speaker != about && !spoof)
		p.src_ip = rf_fabric_ip(speaker);
	len = roce_build(&p, frame, sizeof(frame));
	if (len)
		rf_fabric_inject(f, speaker, frame, len);
	return len != 0;
}
