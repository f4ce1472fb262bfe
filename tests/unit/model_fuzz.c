/*
 * Fuzzing of the reference model of the box: frames, writes of registers and time that the fuzzer
 * makes. After each step the ledger is consistent, after each eighth the counters sum up; the box
 * always comes to rest. No frame leaves for the address of a port, and none with payload for a rank
 * of a directed group whose own packet does not want it.
 *
 * Input: {shape 1, mode 1}, then steps {kind 1, its members}. Kinds, modulo 8: 0 and 1 data of a
 * rank, near to its next index, perhaps damaged; 2 an ACK, a NAK or a CNP; 3 a frame as it is; 4 a
 * write that the firmware makes; 5 any write anywhere, if bit 0 of mode is set; 6 time; 7 a port
 * that sends nothing for a while. Bits 1 and 2 of mode: mirror ranks in group 0 and 1, 3 and 4:
 * these are directed groups; 5: only every second rank of them is a mirror rank, 6: mirror ranks
 * have one address.
 *
 * A write anywhere may break what the firmware has to keep: from then on only memory, the end of
 * all work and the counters are looked at.
 *
 * With RF_FUZZ_CORPUS set, all inputs of the process together must reach what `reach` lists.
 */
#include <unistd.h>

#include "proto/rf_bytes.h"
#include "sim/model/rf_model.h"
#include "tests/sim/compare/bench.h"
#include "tests/unit/fuzz.h"

#define STEPS 120u
#define GROUPS 2u

#define GIVES (1u << 14)
#define WANTS (1u << 15)

/* What mirror connections and directed groups have beyond others. */
enum reach {
	MIRROR_DATA,     /* accepted from a mirror rank */
	MIRROR_RESULT,   /* a result went back to it */
	DIRECTED_RESULT, /* a result with an immediate that wants it */
	DIRECTED_EMPTY,  /* an empty one for a rank that does not */
	MIXED_RESULT,    /* a result in a group with ring and mirror ranks */
	MAC_CHANGED,     /* the firmware gave a mirror rank another MAC */
	WRONG_PORT,
	UNKNOWN, /* and the counters of these names */
	CNP_BACK,
	CNP_MARK,
	ORDER,
	IMMEDIATE,
	DISAGREE,
	REACHES,
};

static const char *const reach_name[REACHES] = {
	"data of a mirror rank",
	"a result for a mirror rank",
	"a directed result",
	"an empty directed result",
	"a result in a mixed group",
	"a changed MAC",
	"wrong_port",
	"unknown",
	"cnp_back",
	"cnp_mark",
	"order",
	"immediate",
	"DISAGREE",
};
static unsigned long reached[REACHES];

struct fuzz_box {
	struct bench b;
	struct bench_group g[GROUPS];
	bool may_be_wild, wild, injected, mirrors;
	unsigned int left; /* frames that left */
};

static uint32_t behind(uint32_t a, uint32_t b)
{
	return (b - a) & 0xffffffu;
}

/* tail <= una <= sent <= head <= next <= tail + S, as serial numbers. */
static void ledger_holds(struct fuzz_box *f, const struct bench_group *g)
{
	uint32_t tail = bench_group_read(&f->b, g->number, RF_GROUP_TAIL);
	uint32_t head = behind(tail, bench_group_read(&f->b, g->number, RF_GROUP_HEAD));
	uint32_t issued = behind(tail, bench_group_read(&f->b, g->number, RF_GROUP_ISSUED));

	FUZZ_MUST(head <= 1u << g->s_log2 && issued <= head);
	for (unsigned int r = 0; r < g->ranks; r++) {
		unsigned int cid = g->conn[r].cid;
		uint32_t una = behind(tail, bench_conn_read(&f->b, cid, RF_CONN_UNA));
		uint32_t sent = behind(tail, bench_conn_read(&f->b, cid, RF_CONN_SENT));
		uint32_t next = behind(tail, bench_conn_read(&f->b, cid, RF_CONN_NEXT));

		FUZZ_MUST(una <= sent && sent <= issued && head <= next);
		FUZZ_MUST(next <= 1u << g->s_log2);
	}
}

/* Each frame that arrived was counted in exactly one counter. */
static void counters_hold(struct fuzz_box *f)
{
	uint32_t sent = 0;

	for (unsigned int port = 0; port < f->b.cfg.ports; port++) {
		uint32_t sum = 0, kinds = 0;

		for (unsigned int k = 0; k < RF_CNT_REPEAT_STALE; k++) {
			if (k != RF_CNT_RX_FRAMES)
				sum += bench_counter(&f->b, port, k);
		}
		FUZZ_MUST(sum == bench_counter(&f->b, port, RF_CNT_RX_FRAMES));
		for (unsigned int k = RF_CNT_TX_FRAMES + 1; k < RF_CNT_COUNT; k++)
			kinds += bench_counter(&f->b, port, k);
		/* Ports are stalled for less than the time after which a link counts as down. */
		FUZZ_MUST(bench_counter(&f->b, port, RF_CNT_TX_DOWN) == 0);
		FUZZ_MUST(kinds == bench_counter(&f->b, port, RF_CNT_TX_FRAMES));
		sent += kinds;
	}
	FUZZ_MUST(sent == f->left);
}

/* The rank of a directed group whose result the frame may be: its address, its queue pair. */
static const struct bench_conn *receiver(const struct fuzz_box *f, const uint8_t *ip)
{
	for (unsigned int k = 0; k < GROUPS; k++) {
		const struct bench_group *g = &f->g[k];

		for (unsigned int r = 0; r < g->ranks; r++) {
			const struct bench_conn *c = &g->conn[r];

			if (c->mirror && rf_get_be32(ip + 16) == c->src_ip &&
			    rf_get_be24(ip + 33) == c->ack_qpn && ip[28] <= OP_WRITE_ONLY_IMM)
				return c;
		}
	}
	return NULL;
}

/* Rules of frames for mirror ranks. The firmware may send what it likes. */
static void leaves(struct fuzz_box *f, const struct bench_out *o)
{
	const uint8_t *ip = o->bytes + packet_l2(o->bytes);
	uint32_t to = rf_get_be32(ip + 16);
	const struct bench_conn *c = receiver(f, ip);
	const struct bench_group *g = c ? &f->g[c->group] : NULL;

	if (f->injected || f->wild)
		return;
	FUZZ_MUST(to < BENCH_PORT_IP(0) || to >= BENCH_PORT_IP(f->b.cfg.ports) || !f->mirrors);
	if (!c)
		return;
	FUZZ_MUST(o->port == c->port && rf_get_be32(ip + 12) == BENCH_PORT_IP(c->port));
	reached[MIRROR_RESULT]++;
	reached[MIXED_RESULT] += (g->mirror & 1) != (g->mirror >> 1 & 1);
	if (!g->directed || (ip[28] != OP_SEND_ONLY_IMM && ip[28] != OP_SEND_LAST_IMM))
		return;
	if (rf_get_be32(ip + 40) & WANTS) {
		reached[DIRECTED_RESULT]++;
		return;
	}
	/* UDP, BTH, immediate and ICRC. */
	FUZZ_MUST(rf_get_be16(ip + 24) == 28 && (ip[29] & 0x30) == 0);
	reached[DIRECTED_EMPTY]++;
}

static void reach_counters(struct fuzz_box *f)
{
	static const uint8_t of[REACHES] = {
		[WRONG_PORT] = RF_CNT_WRONG_PORT, [UNKNOWN] = RF_CNT_UNKNOWN,
		[CNP_BACK] = RF_CNT_CNP_BACK,     [CNP_MARK] = RF_CNT_CNP_MARK,
		[ORDER] = RF_CNT_ORDER,           [IMMEDIATE] = RF_CNT_IMMEDIATE,
	};

	for (unsigned int k = 0; k < REACHES; k++)
		for (unsigned int p = 0; of[k] && p < f->b.cfg.ports; p++)
			reached[k] += bench_counter(&f->b, p, of[k]);
	for (unsigned int k = 0; k < GROUPS; k++) {
		uint32_t error = bench_group_read(&f->b, k, RF_GROUP_ERROR);

		reached[DISAGREE] +=
			f->g[k].directed && f->g[k].mirror &&
			(error & RF_GROUP_ERROR_CAUSE_MASK) >> RF_GROUP_ERROR_CAUSE_LSB ==
				RF_ERROR_DISAGREE;
		for (unsigned int r = 0; r < f->g[k].ranks; r++) {
			const struct bench_conn *c = &f->g[k].conn[r];

			reached[MIRROR_DATA] +=
				c->mirror && bench_conn_read(&f->b, c->cid, RF_CONN_NEXT) != 0;
		}
	}
}

static void holds(struct fuzz_box *f, bool counters)
{
	for (size_t k = 0; k < f->b.outs; k++) {
		FUZZ_MUST(f->b.out[k].len >= 60 && f->b.out[k].len <= RF_ENGINE_FRAME_MAX);
		leaves(f, &f->b.out[k]);
	}
	f->left += (unsigned int)f->b.outs;
	bench_clear(&f->b);
	if (counters)
		counters_hold(f);
	for (unsigned int k = 0; !f->wild && k < GROUPS; k++)
		ledger_holds(f, &f->g[k]);
}

/* Changed bytes {at, xor}, lengths, ICRC made anew or not, marked by the MAC or not. */
static void damaged(struct fuzz_box *f, struct fuzz_input *in, unsigned int port, uint8_t *frame,
		    size_t len)
{
	uint8_t how = fuzz_u8(in);

	for (unsigned int k = 0; k < (how & 7u); k++)
		frame[fuzz_u8(in) % (len < 96 ? len : 96)] ^= fuzz_u8(in);
	if (how & 8) {
		size_t end = packet_l2(frame) + rf_get_be16(frame + packet_l2(frame) + 2);

		packet_checksum(frame);
		if (end <= len && end >= packet_l2(frame) + 44)
			packet_seal(frame);
	}
	if (how & 16)
		port = fuzz_u8(in) % f->b.cfg.ports;
	if (how & 32)
		len -= fuzz_u16(in) % len;
	bench_feed(&f->b, port, frame, len, (how & 0xc0) == 0xc0);
}

static struct bench_conn *rank(struct fuzz_box *f, struct fuzz_input *in)
{
	uint8_t which = fuzz_u8(in);
	struct bench_group *g = &f->g[which >> 7];

	return &g->conn[(which & 127u) % g->ranks];
}

/*
 * What a rank of a directed group sends at an index. All ranks make the same of the index; one byte
 * of the input says whether this one gives and wants, and whether it means something else.
 */
static void directed(struct fuzz_input *in, const struct bench_group *g, unsigned int r,
		     uint32_t index, struct packet *p)
{
	static const uint8_t long_message[4] = {OP_SEND_FIRST, OP_SEND_MIDDLE, OP_SEND_LAST,
						OP_SEND_LAST_IMM};
	uint8_t say = fuzz_u8(in);
	uint32_t type = index & 1 ? g->dtype : index % 10u;
	uint32_t op = index % 8u == 7 ? RF_OP_COPY : index % 3u;
	bool gives = op == RF_OP_COPY ? r == 0 : !(say & 1);

	p->opcode = OP_SEND_ONLY_IMM;
	p->imm = 1u << 28 | op << 8 | type << 4 | (index & 15u) | (gives ? GIVES : 0) |
		 (say & 2 ? 0 : WANTS);
	if ((say & 12) == 8)
		p->opcode = long_message[say >> 4 & 3];
	if ((say & 12) == 12)
		p->imm ^= 1u << (fuzz_u8(in) & 31u);
	if (!gives && p->opcode == OP_SEND_ONLY_IMM && (say & 0xc0) != 0xc0)
		p->payload_len = 0;
}

static void data(struct fuzz_box *f, struct fuzz_input *in, bool plain)
{
	const struct bench_conn *c = rank(f, in);
	const struct bench_group *g = &f->g[c->group];
	uint8_t frame[PACKET_MAX] = {0}, payload[1024], form = 0;
	uint32_t next = bench_conn_read(&f->b, c->cid, RF_CONN_NEXT);
	struct packet p;
	size_t len = 64;

	next = fuzz_near(in, next);
	if (!plain) {
		form = fuzz_u8(in);
		len = form & 16 ? fuzz_u16(in) % (sizeof(payload) + 1) : (size_t)1 << g->mtu_log2;
	}
	memset(payload, (int)next, sizeof(payload));
	bench_data(c, &p, next & 0xffffff, plain ? OP_SEND_ONLY : form & 15u, payload, len);
	p.pad = form >> 5 & 3;
	if (c->mirror)
		p.tos = 2; /* may be marked */
	if (g->directed)
		directed(in, g, (unsigned int)(c - g->conn), next & 0xffffff, &p);
	if (plain)
		bench_send(&f->b, c->port, &p);
	else
		damaged(f, in, c->port, frame, packet_build(&p, frame));
}

static void ack(struct fuzz_box *f, struct fuzz_input *in)
{
	const struct bench_conn *c = rank(f, in);
	uint32_t una = bench_conn_read(&f->b, c->cid, RF_CONN_SENT);
	uint8_t frame[PACKET_MAX] = {0}, syndrome = fuzz_u8(in);
	struct packet p;

	una = fuzz_near(in, una);
	bench_ack(c, &p, una & 0xffffff);
	if (c->mirror && (syndrome & 0xc1) == 1) {
		p.opcode = OP_CNP;
		p.psn = 0;
		p.payload_len = 16;
	}
	if (syndrome & 0x80) { /* any, and damage */
		p.syndrome = fuzz_u8(in);
		damaged(f, in, c->peer_port, frame, packet_build(&p, frame));
		return;
	}
	if (syndrome & 0x40)
		p.syndrome = syndrome & 0x20 ? 0x60 : syndrome & 0x3f;
	bench_send(&f->b, c->peer_port, &p);
}

static void raw(struct fuzz_box *f, struct fuzz_input *in)
{
	uint8_t frame[300] = {0};
	unsigned int port = fuzz_u8(in) % f->b.cfg.ports;
	size_t len = 1u + fuzz_u16(in) % sizeof(frame), most = fuzz_u8(in);

	fuzz_bytes(in, frame, most < len ? most : len);
	bench_feed(&f->b, port, frame, len, false);
}

static void firmware(struct fuzz_box *f, struct fuzz_input *in)
{
	uint8_t what = fuzz_u8(in);
	struct bench_conn *c = rank(f, in);
	uint32_t group = RF_GROUP_BASE + c->group * RF_GROUP_STRIDE;

	switch (what % 10u) {
	case 0:
		bench_write(&f->b, RF_TICK, 1);
		break;
	case 1:
		bench_write(&f->b, RF_LAG_ARM, c->group);
		break;
	case 2:
		bench_write(&f->b, RF_CTRL, fuzz_u8(in));
		break;
	case 3:
		bench_write(&f->b, RF_PUNT_POP, 1);
		break;
	case 4:
		if (!bench_read(&f->b, RF_INJECT_STATUS))
			bench_write(&f->b, RF_INJECT_DATA + 4u * fuzz_u8(in), fuzz_u32(in));
		break;
	case 5:
		f->injected = true;
		bench_write(&f->b, RF_INJECT, fuzz_u32(in));
		break;
	case 6:
		bench_write(&f->b, group + RF_GROUP_STRAGGLER, fuzz_u8(in));
		break;
	case 7:
		if (c->mirror && what >> 7) {
			c->src_mac ^= fuzz_u8(in) & 0xf0u;
			bench_conn_mac(&f->b, c);
			reached[MAC_CHANGED]++;
			break;
		}
		bench_write(&f->b, RF_CONN_BASE + c->cid * RF_CONN_STRIDE + RF_CONN_SEEN,
			    fuzz_u8(in));
		break;
	case 8:
		if (c->mirror) { /* has no tombstone */
			FUZZ_MUST(bench_entry(&f->b, 2, c->src_ip, c->ack_qpn, c->cid,
					      fuzz_u8(in) & 1u ? RF_STATE_LIVE : RF_STATE_EMPTY));
			break;
		}
		FUZZ_MUST(bench_entry(&f->b, what >> 7, what >> 7 ? c->src_ip : c->dst_ip,
				      what >> 7 ? c->ack_qpn : c->data_qpn, c->cid,
				      1u + fuzz_u8(in) % 3u));
		break;
	default: /* ends the group, and begins it anew */
		bench_write(&f->b, group + RF_GROUP_CFG, 0);
		FUZZ_MUST(bench_settle(&f->b));
		FUZZ_MUST(bench_group_start(&f->b, &f->g[c->group]));
		break;
	}
}

static void step(struct fuzz_box *f, struct fuzz_input *in, unsigned int number)
{
	uint8_t kind = fuzz_u8(in);
	uint32_t addr;

	switch (kind & 7u) {
	case 0:
		data(f, in, true);
		break;
	case 1:
		data(f, in, false);
		break;
	case 2:
		ack(f, in);
		break;
	case 3:
		raw(f, in);
		break;
	case 4:
		firmware(f, in);
		break;
	case 5:
		if (!f->may_be_wild) {
			data(f, in, true);
			break;
		}
		f->wild = true;
		addr = fuzz_u32(in) & 0x7ffffu;
		(void)bench_read(&f->b, addr);
		bench_write(&f->b, addr, fuzz_u32(in));
		break;
	case 6:
		bench_run(&f->b, fuzz_u16(in) % 1000u);
		break;
	default:
		f->b.stall[kind >> 3 & 3] = f->b.ops->cycle(f->b.e) + fuzz_u16(in) % 5000u;
		break;
	}
	if (!(kind & 0x80))
		FUZZ_MUST(bench_settle(&f->b));
	FUZZ_MUST(!f->b.stuck);
	holds(f, number % 8 == 0);
}

/* What mode says about a group. */
static void mirrors(struct fuzz_box *f, struct bench_group *g, uint8_t mode)
{
	if (mode >> (1u + g->number) & 1u)
		g->mirror = mode & 32 ? 0x5555 : 0xffff;
	g->directed = mode >> (3u + g->number) & 1u;
	g->one_address = mode >> 6 & 1;
	f->mirrors = f->mirrors || g->mirror;
	/* The firmware refuses these together. */
	if (g->directed)
		g->transparent = g->open_loop = false;
}

static void start(struct fuzz_box *f, uint8_t shape, uint8_t mode)
{
	struct rf_engine_cfg cfg;
	const char *fault = fuzz_fault();

	memset(f->g, 0, sizeof(f->g));
	f->wild = f->injected = f->mirrors = false;
	f->may_be_wild = mode & 1;
	if (fault && strcmp(fault, "ring") == 0)
		mode = 0;
	f->left = fault && strcmp(fault, "count") == 0;
	bench_shape(&cfg, 4, 2, 64);
	FUZZ_MUST(bench_open(&f->b, rf_model_engine(), &cfg));
	for (unsigned int k = 0; fault && rf_model_mutant_name(k); k++) {
		if (strcmp(rf_model_mutant_name(k), fault) == 0)
			rf_model_set_mutant(f->b.e, (enum rf_model_mutant)k);
	}
	for (unsigned int k = 0; k < GROUPS; k++) {
		struct bench_group *g = &f->g[k];

		bench_group_init(g, k, k ? 4 : 2, 1 + (shape >> k & 1u));
		g->mtu_log2 = 8;
		g->dbase = k << 12;
		g->hbase = k << 6;
		g->dtype = shape >> 2 & 3;
		g->selective = k == 1 && shape & 16;
		g->transparent = shape >> 5 & 1;
		g->open_loop = k == 0 && shape & 64;
		g->straggler = shape >> 7;
		mirrors(f, g, mode);
		FUZZ_MUST(bench_group_start(&f->b, g));
	}
}

/* The end of a run over all inputs. */
static void all_reached(void)
{
	bool all = true;

	for (unsigned int k = 0; k < REACHES; k++) {
		printf("%10lu %s\n", reached[k], reach_name[k]);
		all = all && reached[k];
	}
	fflush(stdout);
	if (!all) {
		fprintf(stderr, "not reached: what has 0\n");
		_exit(1);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	static struct fuzz_box f;
	static bool begun;
	struct fuzz_input in = {bytes, size};
	uint8_t shape = fuzz_u8(&in);

	if (!begun && getenv("RF_FUZZ_CORPUS"))
		atexit(all_reached);
	begun = true;
	start(&f, shape, fuzz_u8(&in));
	for (unsigned int k = 0; k < STEPS && in.left > 0; k++)
		step(&f, &in, k);
	FUZZ_MUST(bench_settle(&f.b));
	holds(&f, true);
	reach_counters(&f);
	bench_close(&f.b);
	return 0;
}
