#include "base/log2.h"
#include "tests/sim/compare/traffic.h"

#include <stdio.h>
#include <string.h>

#include "sim/model/arith.h"
#include "tests/sim/compare/random.h"

/* The connection table has 512 places for two entries of each rank of four groups. */
#define MOST_RANKS 24u

static unsigned int ranks_of(const struct bench_group *g)
{
	unsigned int lane, n = 0, m;

	for (lane = 0; lane < g->lanes; lane++) {
		for (m = g->members[lane]; m; m &= m - 1)
			n++;
	}
	return n;
}

static bool floating(unsigned int dtype)
{
	return dtype <= RF_DTYPE_FP16 || dtype == RF_DTYPE_FP64;
}

/* A quarter of the banks and of the header slots for each group. */
/* A type that the box has: this one, or the next. */
static unsigned int type_of(const struct bench *b, unsigned int type)
{
	for (unsigned int k = 0; k < RF_MODEL_TYPES && !(b->types >> type & 1); k++)
		type = (type + 1) % RF_MODEL_TYPES;
	return type;
}

void traffic_group(uint64_t *s, const struct bench *b, unsigned int number, struct bench_group *g)
{
	const struct rf_engine_cfg *cfg = &b->cfg;
	unsigned int beat_log2 = rf_log2(cfg->width / 8), most, lane, block, port_levels;

	bench_group_init(g, number, cfg->ports, 1 + random_below(s, cfg->lanes));
	g->dtype = type_of(b, random_below(s, RF_MODEL_TYPES));
	/* Floats have no bit operations. */
	g->op = random_once(s, 2) ? RF_OP_SUM
				  : random_below(s, floating(g->dtype) ? RF_OP_AND : RF_OP_COPY);
	g->mtu_log2 = 8 + random_below(s, rf_log2(cfg->mtu_max) - 7);
	most = cfg->bank_log2 - 2 + beat_log2 - g->mtu_log2;
	if (most > cfg->hdr_log2 - 2)
		most = cfg->hdr_log2 - 2;
	g->s_log2 = 4 + random_below(s, most > 4 ? most - 3 : 1);
	g->dbase = number << (cfg->bank_log2 - 2);
	g->hbase = number << (cfg->hdr_log2 - 2);
	g->start = random_once(s, 2) ? random_below(s, 0x1000000) : 0xfffff0 + random_below(s, 32);
	g->start &= 0xffffff;
	g->shift = random_once(s, 3)   ? 0
		   : random_once(s, 2) ? 0x400000
				       : random_below(s, 0x1000000);
	g->open_loop = random_once(s, 5);
	g->transparent = random_once(s, 5);
	g->strict = random_once(s, 4);
	g->selective = random_once(s, 3);
	g->straggler = random_once(s, 2) ? 1 + random_below(s, 31) : 0;
	g->tagged = random_once(s, 3);
	g->directed = random_once(s, 3);
	if (g->directed)
		g->open_loop = g->transparent = g->strict = false;
	port_levels = cfg->ports > 4 ? 3 : cfg->ports > 2 ? 2 : 1;
	g->level = random_once(s, 2) ? port_levels : 1 + random_below(s, port_levels);
	block = 1u << g->level;
	g->base_port = random_below(s, (cfg->ports + block - 1) / block) * block;
	if (g->base_port + 2 >
	    cfg->ports) /* a block of one port: no room for two ranks of one lane */
		g->base_port = 0;
	for (lane = 0; lane < g->lanes; lane++) {
		uint8_t ports = (uint8_t)(((1u << block) - 1) << g->base_port);

		ports &= (uint8_t)((1u << cfg->ports) - 1);
		g->members[lane] = ports;
		if (random_once(s, 2))
			g->members[lane] &= (uint8_t)random_next(s);
		if (!g->members[lane] || (lane == 0 && !(g->members[0] & (g->members[0] - 1))))
			g->members[lane] = ports;
	}
	for (lane = g->lanes; lane-- > 1 && ranks_of(g) > MOST_RANKS;)
		g->members[lane] &= (uint8_t)-g->members[lane]; /* one rank is left */
	if (random_once(s, 10)) { /* a single rank: results are what it sent, with canonical NaN */
		g->lanes = 1;
		memset(g->members, 0, sizeof(g->members));
		g->members[0] = (uint8_t)(1u << g->base_port);
	}
	if (random_once(s, 2)) /* some or all ranks have mirror connections */
		g->mirror = random_once(s, 2) ? UINT64_MAX : random_next(s);
	g->one_address = random_once(s, 4);
	g->selective &= (b->shape & RF_SHAPE_SELECTIVE_MASK) != 0;
	g->directed &= (b->shape & RF_SHAPE_DIRECTED_MASK) != 0;
	if (!(b->shape & RF_SHAPE_MIRROR_MASK))
		g->mirror = 0;
}

/* An immediate with a type that one of the boxes lacks would be refused there alone: no type then.
 */
static void mask_type(struct traffic *t, uint8_t *frame, size_t len)
{
	uint32_t types = bench_read(t->both[0], RF_TYPES) ^ bench_read(t->both[1], RF_TYPES);
	size_t bth = packet_l2(frame) + 28;

	if (!packet_sealed(frame, len) ||
	    (frame[bth] != OP_SEND_LAST_IMM && frame[bth] != OP_SEND_ONLY_IMM))
		return;
	if (types >> (frame[bth + 15] >> 4) & 1) {
		frame[bth + 15] |= 0xf0;
		packet_seal(frame);
	}
}

static void feed(struct traffic *t, unsigned int port, uint8_t *frame, size_t len, bool bad)
{
	if (t->mutate && random_below(&t->state, 100) < t->mutate) {
		size_t said = strlen(t->what);

		len = traffic_mutate(&t->state, frame, len);
		snprintf(t->what + said, sizeof(t->what) - said, " mutated, %zu bytes", len);
	}
	mask_type(t, frame, len);
	bench_feed(t->both[0], port, frame, len, bad);
	bench_feed(t->both[1], port, frame, len, bad);
}

static void write_both(struct traffic *t, uint32_t addr, uint32_t value)
{
	bench_write(t->both[0], addr, value);
	bench_write(t->both[1], addr, value);
}

static void entry_both(struct traffic *t, unsigned int role, const struct bench_conn *c,
		       uint32_t cid, unsigned int state)
{
	unsigned int k;

	for (k = 0; k < 2; k++)
		bench_entry(t->both[k], role, role ? c->src_ip : c->dst_ip,
			    role ? c->ack_qpn : c->data_qpn, cid, state);
}

static void port_addresses(struct traffic *t)
{
	unsigned int k;

	if (!(t->both[0]->shape & RF_SHAPE_MIRROR_MASK))
		return;
	for (k = 0; k < t->both[0]->cfg.ports; k++)
		write_both(t, RF_PORT_IP0 + 4 * k, BENCH_PORT_IP(k));
}

/* Damage to the addresses of a frame, of each kind that leads to a line of its own. */
static const char *wrong_addresses(struct traffic *t, struct packet *p)
{
	switch (random_below(&t->state, 4)) {
	case 0:
		p->src_ip ^= 1u << random_below(&t->state, 32);
		return " wrong source";
	case 1:
		p->src_mac ^= (uint64_t)1 << random_below(&t->state, 40);
		return " other source MAC";
	case 2:
		p->dst_mac ^= (uint64_t)1 << random_below(&t->state, 40);
		return " other destination MAC";
	default:
		p->dst_ip ^= 1u << random_below(&t->state, 8);
		return " other destination";
	}
}

/*
 * Moves a group close to an index at which indexes wrap, or look like old ones. Otherwise this
 * would take millions of packets.
 */
static uint32_t move_group(struct traffic *t, const struct bench_group *g)
{
	uint32_t limit = 1u << (22 + random_below(&t->state, 3));
	uint32_t index = limit - ((2u + 2 * random_below(&t->state, 2)) << g->s_log2);
	unsigned int k;

	for (k = 0; k < 2; k++)
		if (!t->both[k]->ops->move(t->both[k]->e, g->number, index))
			t->live[g->number] = false;
	return index;
}

/* Ends a group, if it is live, and starts another in its place. */
static void step_group(struct traffic *t, unsigned int n)
{
	struct bench_group *g = &t->groups[n];
	uint32_t index = 0;
	unsigned int r;

	if (t->live[n]) {
		write_both(t, RF_GROUP_BASE + n * RF_GROUP_STRIDE + RF_GROUP_CFG, 0);
		for (r = 0; r < g->ranks; r++) {
			if (g->conn[r].mirror) {
				entry_both(t, 2, &g->conn[r], g->conn[r].cid, RF_STATE_EMPTY);
				continue;
			}
			entry_both(t, 0, &g->conn[r], g->conn[r].cid, RF_STATE_EMPTY);
			entry_both(t, 1, &g->conn[r], g->conn[r].cid, RF_STATE_EMPTY);
		}
	}
	traffic_group(&t->state, t->both[0], n, g);
	t->form_seed[n] = random_next(&t->state);
	/* Both, whatever the result of the first. */
	t->live[n] = bench_group_start(t->both[0], g);
	t->live[n] &= bench_group_start(t->both[1], g);
	if (random_once(&t->state, 3))
		index = move_group(t, g);
	snprintf(t->what, sizeof(t->what),
		 "group %u: %u lanes type %u op %u mtu %u S %u level %u base %u index %06x mirror "
		 "%x%s",
		 n, g->lanes, g->dtype, g->op, 1u << g->mtu_log2, 1u << g->s_log2, g->level,
		 g->base_port, index, (unsigned int)(g->mirror & 0xffff),
		 g->directed      ? " directed"
		 : g->open_loop   ? " open loop"
		 : g->transparent ? " transparent"
		 : g->selective   ? " selective"
				  : "");
}

static uint32_t conn_reg(struct traffic *t, const struct bench_conn *c, uint32_t reg)
{
	return bench_conn_read(t->both[0], c->cid, reg);
}

/* Flips bits of the headers: any reaction is allowed, but it must be the same in both. */
static void scramble(struct traffic *t, uint8_t *frame, size_t len)
{
	unsigned int n = 1 + random_below(&t->state, 3);
	bool seal = random_once(&t->state, 2);

	while (n--)
		frame[random_below(&t->state, len < 82 ? (uint32_t)len : 82)] ^=
			(uint8_t)(1u << random_below(&t->state, 8));
	if (seal && rf_get_be16(frame + packet_l2(frame) + 2) >= 44 &&
	    packet_l2(frame) + rf_get_be16(frame + packet_l2(frame) + 2) <= len)
		packet_seal(frame);
}

/* The index that a rank sends: mostly its next, sometimes an invalid one. */
static uint32_t pick_index(struct traffic *t, const struct bench_group *g,
			   const struct bench_conn *c)
{
	uint32_t next = conn_reg(t, c, RF_CONN_NEXT), una = conn_reg(t, c, RF_CONN_UNA);
	uint32_t sent = conn_reg(t, c, RF_CONN_SENT);

	switch (random_below(&t->state, 16)) {
	case 0:
	case 1: /* packets that are stored, sent or acknowledged */
		return next - 1 - random_below(&t->state, 1u << g->s_log2);
	case 2:
		return una - 1 - random_below(&t->state, 3);
	case 3:
		return next + 1 + random_below(&t->state, 3);
	case 4:
		return random_below(&t->state, 0x1000000);
	case 5: /* packets waiting for their ACK */
		return una + random_below(&t->state, ((sent - una) & 0xffffff) + 1);
	default:
		return next;
	}
}

static void step_data(struct traffic *t, unsigned int n)
{
	struct bench_group *g = &t->groups[n];
	struct bench_conn *c = &g->conn[random_below(&t->state, g->ranks)];
	uint8_t frame[PACKET_MAX], payload[PACKET_MAX];
	uint32_t index, k;
	unsigned int port = c->port, rank;
	const char *odd = "";
	struct traffic_say w;
	struct packet p;
	size_t len;

	/* Mostly picks the rank that lags most, so that groups make progress. */
	for (k = 0; k < g->ranks && !random_once(&t->state, 3); k++) {
		struct bench_conn *d = &g->conn[k];

		if (((conn_reg(t, c, RF_CONN_NEXT) - conn_reg(t, d, RF_CONN_NEXT)) & 0xffffff) - 1 <
		    0x7fffff)
			c = d;
	}
	port = c->port;
	rank = (unsigned int)(c - g->conn);
	index = pick_index(t, g, c) & 0xffffff;
	traffic_say(t->form_seed[n], g, rank, index, &w);
	if (random_once(&t->state, 100)) {
		w.opcode = (uint8_t)random_below(&t->state, random_once(&t->state, 4) ? 256 : 12);
		w.len = random_below(&t->state, 1100);
		/* Otherwise nearly all would have a wrong length. */
		if (random_once(&t->state, 2))
			w.len &= ~(size_t)3;
		w.pad = (uint8_t)random_below(&t->state, 4);
		odd = " odd form";
	} else if (random_once(&t->state, 150)) {
		traffic_say(random_next(&t->state), g, rank, index, &w);
		odd = " other form";
	} else if (g->directed && random_once(&t->state, 100)) {
		w.imm ^= 1u << random_below(&t->state, 32);
		odd = " other immediate";
	}
	random_payload(&t->state, w.dtype, payload, w.len);
	bench_data(c, &p, index, w.opcode, payload, w.len);
	p.imm = w.imm;
	p.pad = w.pad;
	p.tos = (uint8_t)random_next(&t->state);
	p.bth8 = random_once(&t->state, 4) ? 0x80 : 0;
	p.bth4 = (uint8_t)random_next(&t->state);
	if (random_once(&t->state, 60)) {
		p.icrc_xor = 1u << random_below(&t->state, 32);
		odd = " bad ICRC";
	} else if (random_once(&t->state, 60)) {
		port = random_below(&t->state, t->both[0]->cfg.ports);
		odd = " any port";
	} else if (random_once(&t->state, 30)) {
		odd = wrong_addresses(t, &p);
	}
	len = packet_build(&p, frame);
	if (random_once(&t->state, 60)) {
		scramble(t, frame, len);
		odd = " scrambled";
	}
	snprintf(t->what, sizeof(t->what), "data group %u lane %u port %u index %u opcode %u%s", n,
		 c->lane, port, index, w.opcode, odd);
	feed(t, port, frame, len, random_once(&t->state, 200));
}

static uint8_t pick_syndrome(struct traffic *t)
{
	switch (random_below(&t->state, 12)) {
	case 0:
		return 0x60;
	case 1:
		return (uint8_t)(0x20 + random_below(&t->state, 32));
	case 2:
		return random_once(&t->state, 8) ? (uint8_t)(0x61 + random_below(&t->state, 3))
						 : 0x60;
	case 3:
		return random_once(&t->state, 4) ? (uint8_t)random_next(&t->state) : 0x1f;
	default:
		return (uint8_t)random_below(&t->state, 32);
	}
}

static void step_ack(struct traffic *t, unsigned int n)
{
	struct bench_group *g = &t->groups[n];
	struct bench_conn *c = &g->conn[random_below(&t->state, g->ranks)];
	uint32_t una = conn_reg(t, c, RF_CONN_UNA), sent = conn_reg(t, c, RF_CONN_SENT), upto;
	unsigned int port = c->peer_port;
	uint8_t frame[PACKET_MAX], reserved[32];
	const char *odd = "";
	struct packet p;
	size_t len;

	upto = una + random_below(&t->state, ((sent - una) & 0xffffff) + 1);
	if (random_once(&t->state, 2))
		upto = sent;
	if (random_once(&t->state, 12))
		upto = random_once(&t->state, 2) ? sent + 1 + random_below(&t->state, 3)
						 : random_below(&t->state, 0x1000000);
	if (random_once(&t->state, 12))
		upto = una - random_below(&t->state, 4);
	bench_ack(c, &p, upto);
	p.syndrome = pick_syndrome(t);
	if (p.syndrome >= 0x20)
		p.psn = (p.psn + 1) & 0xffffff;
	p.msn = random_below(&t->state, 0x1000000);
	p.tos = (uint8_t)random_next(&t->state);
	p.udp_checksum = random_once(&t->state, 3) ? 0x1234 : 0;
	if (random_once(&t->state, 40)) {
		p.icrc_xor = 1u << random_below(&t->state, 32);
		odd = " bad ICRC";
	} else if (random_once(&t->state, 40)) {
		port = random_below(&t->state, t->both[0]->cfg.ports);
		odd = " any port";
	} else if (random_once(&t->state, 20)) {
		odd = wrong_addresses(t, &p);
	} else if (random_once(&t->state, 40)) {
		p.payload_len = 4 * (1 + random_below(&t->state, 4));
		odd = " too long";
	}
	if (random_once(&t->state, 10)) {
		random_payload(&t->state, RF_DTYPE_INT32, reserved, sizeof(reserved));
		p.opcode = OP_CNP;
		p.payload = reserved;
		p.payload_len = random_once(&t->state, 10) ? 4 * random_below(&t->state, 8) : 16;
	}
	len = packet_build(&p, frame);
	if (random_once(&t->state, 40)) {
		scramble(t, frame, len);
		odd = " scrambled";
	}
	snprintf(t->what, sizeof(t->what),
		 "%s group %u lane %u port %u of %u, una %u sent %u, syndrome %02x%s",
		 p.opcode == OP_CNP ? "CNP" : "ack", n, c->lane, port, upto & 0xffffff, una, sent,
		 p.syndrome, odd);
	feed(t, port, frame, len, false);
}

static void step_stray(struct traffic *t)
{
	uint8_t frame[PACKET_MAX];
	const char *what;
	bool bad;
	size_t len = traffic_stray(&t->state, &t->both[0]->cfg, frame, &bad, &what);
	unsigned int port = random_below(&t->state, t->both[0]->cfg.ports);

	snprintf(t->what, sizeof(t->what), "stray %s, port %u, %zu bytes", what, port, len);
	feed(t, port, frame, len, bad);
}

static void step_inject(struct traffic *t)
{
	uint32_t len = 60 + random_below(&t->state, 1024 - 60 + 1), k;
	uint32_t port = random_below(&t->state, t->both[0]->cfg.ports);

	for (k = 0; k < len; k += 4)
		write_both(t, RF_INJECT_DATA + k, (uint32_t)random_next(&t->state));
	write_both(t, RF_INJECT, len | port << RF_INJECT_PORT_LSB);
	snprintf(t->what, sizeof(t->what), "inject, port %u, %u bytes", port, len);
}

/* States of the box and of entries that last for a while. */
static void step_state(struct traffic *t, unsigned int n)
{
	struct bench_conn *c = &t->groups[n].conn[random_below(&t->state, t->groups[n].ranks)];
	unsigned int state =
		random_once(&t->state, 2) ? RF_STATE_LIVE : 2 + random_below(&t->state, 2);
	unsigned int role = c->mirror ? 2 : random_below(&t->state, 2);
	unsigned int port = random_below(&t->state, t->both[0]->cfg.ports);
	/* A foreign entry, or the connection's own. */
	uint32_t cid = random_once(&t->state, 3) ? RF_HASH_VALUE_CID_MASK : c->cid;

	switch (random_below(&t->state, 8)) {
	case 7: /* another router, or another host: both follow the register */
		c->src_mac = 0x020000000000u + random_below(&t->state, 0x1000000);
		bench_conn_mac(t->both[0], c);
		bench_conn_mac(t->both[1], c);
		snprintf(t->what, sizeof(t->what), "MAC of cid %04x", c->cid);
		break;
	case 6: /* for a while the port has another address or none */
		if (!(t->both[0]->shape & RF_SHAPE_MIRROR_MASK))
			break;
		write_both(t, RF_PORT_IP0 + 4 * port,
			   random_once(&t->state, 2) ? 0 : BENCH_PORT_IP(port) + 16);
		t->hold_off = 1 + random_below(&t->state, 20);
		snprintf(t->what, sizeof(t->what), "address of port %u", port);
		break;
	case 5:
		write_both(t, RF_HOLD_PORTS, (uint32_t)random_next(&t->state));
		t->hold_off = 1 + random_below(&t->state, 20);
		snprintf(t->what, sizeof(t->what), "ports that hold");
		break;
	case 3:
		write_both(t, RF_TICK, 1);
		snprintf(t->what, sizeof(t->what), "tick");
		break;
	case 4:
		if (!(t->both[0]->shape & RF_SHAPE_LAG_MASK))
			break;
		write_both(t, RF_LAG_ARM, n << RF_LAG_ARM_GROUP_LSB);
		snprintf(t->what, sizeof(t->what), "who is last in group %u", n);
		break;
	case 0:
		write_both(t, RF_CTRL, random_below(&t->state, 4));
		t->hold_off = 1 + random_below(&t->state, 20);
		snprintf(t->what, sizeof(t->what), "control");
		break;
	case 1:
		entry_both(t, role, c, cid, state);
		snprintf(t->what, sizeof(t->what), "entry of group %u role %u cid %04x state %u", n,
			 role, cid, state);
		break;
	default:
		write_both(t, RF_CONN_BASE + c->cid * RF_CONN_STRIDE + RF_CONN_SEEN,
			   1 + random_below(&t->state, 3));
		snprintf(t->what, sizeof(t->what), "seen of group %u", n);
		break;
	}
}

void traffic_step(struct traffic *t)
{
	unsigned int n = random_below(&t->state, TRAFFIC_GROUPS);
	bool failed = t->live[n] && bench_group_read(t->both[0], n, RF_GROUP_ERROR);
	/* In some groups ACKs are rare, so that all slots fill. */
	bool full = t->form_seed[n] % 8 == 0;

	if (t->hold_off && --t->hold_off == 0) {
		write_both(t, RF_CTRL, RF_CTRL_ENABLE_MASK);
		write_both(t, RF_HOLD_PORTS, 0);
		port_addresses(t);
	}
	if (!t->live[n] || random_once(&t->state, failed ? 8 : 1500))
		step_group(t, n);
	else if (random_once(&t->state, 8))
		step_stray(t);
	else if (random_once(&t->state, 60))
		step_inject(t);
	else if (random_once(&t->state, 60))
		step_state(t, n);
	else if (random_once(&t->state, full ? 100 : 3))
		step_ack(t, n);
	else
		step_data(t, n);
}

void traffic_start(struct traffic *t, struct bench *a, struct bench *b, uint64_t seed)
{
	memset(t, 0, sizeof(*t));
	t->state = seed;
	t->both[0] = a;
	t->both[1] = b;
	port_addresses(t);
}
