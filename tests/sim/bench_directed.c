/*
 * Cycles that a packet of a directed group takes of each port under full load: mirror connections,
 * one rank at each of 4 and of 8 ports, 512 bits, S = 512, links that never wait. Every result is
 * compared with what it must be.
 *
 *	bench_directed FILE ENGINE [quick [slow | flip]]
 *
 * appends JSON lines to FILE. ENGINE: model, or rtl (box-p4-l1-w512-deep.so and that of 8 ports).
 * Exit 4: a figure is above its limit. quick: 4 ports, single packets of 1024 bytes. slow: a pause
 * after each frame, so that the figure must be above its limit. flip: one wrong byte, which must
 * be reported.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/collective/arith.h"
#include "proto/rf_bytes.h"
#include "sim/cosim/load.h"
#include "tests/sim/compare/bench.h"

#define SLOTS_LOG2 9u
#define WINDOW (1u << SLOTS_LOG2) / 2
#define WANTS 0x8000u
#define GIVES 0x4000u
#define MESSAGE 64u
#define STUCK 100000u /* cycles without a result */
#define AHEAD 6u      /* frames that wait at each port, ACKs among them */
#define MTU_MAX 4096u

/* What is measured. */
struct load {
	unsigned ports, bytes, packets;
	enum rf_arith_type type;
	enum rf_arith_op op;
	bool tagged, each_ack; /* an ACK for every result, not only where it is asked for */
	bool messages;         /* of 64 packets, closed by LAST WITH IMMEDIATE */
};

struct flow {
	uint32_t next, acked, expect;
	uint64_t half, end; /* when the first half of the results had left, and all */
};

static FILE *out;
static const char *by;
static bool slow, flip, failed, missed;
static uint8_t pattern[15 + MTU_MAX];

static void report(const char *name, double value, double limit)
{
	bool ok = value > 0 && value <= limit;
	json_t *o =
		json_pack("{ss ss sf ss sf sb sb}", "group", "directed", "name", name, "value",
			  value, "unit", "cycles/packet", "limit", limit, "must", true, "ok", ok);

	json_dumpf(o, out, JSON_COMPACT | JSON_REAL_PRECISION(6));
	fputc('\n', out);
	fflush(out);
	json_decref(o);
	printf("%s: %.3f cycles per packet (limit %.2f)%s\n", name, value, limit,
	       ok ? "" : ": missed");
	fflush(stdout);
	missed |= !ok;
}

static void fault(const struct load *l, const char *what, uint32_t index)
{
	fprintf(stderr, "bench_directed: %u ports, %u bytes, type %d, operation %d, index %u: %s\n",
		l->ports, l->bytes, (int)l->type, (int)l->op, index, what);
	failed = true;
}

/*
 * What all ranks together make of an index. The operands are chosen such that it is the same for
 * every operation and type: floats of a middle size, added to zeros.
 */
static const uint8_t *result_of(uint32_t index)
{
	return pattern + index % 15;
}

/* What a rank gives; NULL: no operand. */
static const uint8_t *operand_of(const struct load *l, unsigned rank, uint32_t index)
{
	static const uint8_t zero[MTU_MAX];

	if (l->op == RF_ARITH_COPY)
		return index % l->ports == rank ? result_of(index) : NULL;
	if ((l->op == RF_ARITH_SUM || l->op == RF_ARITH_XOR) && index % l->ports != rank)
		return zero;
	return result_of(index);
}

static void data_of(const struct load *l, const struct bench_group *g, unsigned rank,
		    uint32_t index, struct packet *p)
{
	const uint8_t *data = operand_of(l, rank, index);
	unsigned at = index % MESSAGE;
	uint8_t opcode = OP_SEND_ONLY_IMM;

	if (l->messages && at != MESSAGE - 1)
		opcode = at == 0 ? OP_SEND_FIRST : OP_SEND_MIDDLE;
	else if (l->messages)
		opcode = OP_SEND_LAST_IMM;
	bench_data(&g->conn[rank], p, index, opcode, data, data ? l->bytes : 0);
	p->imm = WANTS | (data ? GIVES : 0) | (uint32_t)l->op << 8 | (uint32_t)l->type << 4 |
		 (index & 15);
}

static void open_group(const struct load *l, struct bench *b, struct bench_group *g)
{
	bench_group_init(g, 0, l->ports, 1);
	g->mirror = (1u << l->ports) - 1;
	g->directed = true;
	g->selective = !l->messages;
	g->tagged = l->tagged;
	g->dtype = (unsigned)l->type;
	g->op = (unsigned)l->op;
	g->mtu_log2 = l->bytes == 4096 ? 12 : 10;
	g->s_log2 = SLOTS_LOG2;
	if (!bench_group_start(b, g)) {
		fprintf(stderr, "bench_directed: no room in the connection table\n");
		exit(1);
	}
}

static void fill(const struct load *l, struct bench *b, const struct bench_group *g, struct flow *f)
{
	struct packet p;

	for (unsigned r = 0; r < g->ranks; r++) {
		unsigned port = g->conn[r].port;

		while (f[r].next < l->packets && f[r].next - f[r].acked < WINDOW &&
		       b->ops->rx_queued(b->e, port) < (slow ? 1 : AHEAD)) {
			data_of(l, g, r, f[r].next++, &p);
			bench_send(b, port, &p);
		}
	}
}

/* One frame that left; true if it was the last result of its rank. */
static bool take(const struct load *l, struct bench *b, const struct bench_group *g, struct flow *f,
		 const struct bench_out *o)
{
	const struct bench_conn *c = &g->conn[o->port];
	size_t at = packet_l2(o->bytes), payload = packet_payload_at(o->bytes);
	uint32_t index = (rf_get_be24(o->bytes + at + 37) - c->start) & 0xffffff;
	struct packet p;

	f += o->port;
	if (o->bytes[at + 28] == OP_ACK)
		return false;
	if (index != f->expect++)
		fault(l, "not the index that was due", index);
	else if (o->len != payload + l->bytes + 4)
		fault(l, "wrong length", index);
	else if (memcmp(o->bytes + payload, result_of(index + (flip && index == 5)), l->bytes) != 0)
		fault(l, "wrong result", index);
	if (f->expect == l->packets / 2)
		f->half = o->last;
	f->end = o->last;
	if (l->each_ack || o->bytes[at + 36] >> 7 || f->expect == l->packets) {
		f->acked = f->expect;
		bench_ack(c, &p, f->expect);
		bench_send(b, o->port, &p);
	}
	return f->expect == l->packets;
}

/* Nothing was repeated, refused or lost. */
static void counters_clean(const struct load *l, struct bench *b)
{
	static const unsigned none[] = {RF_CNT_RX_OVERFLOW, RF_CNT_NO_ROOM, RF_CNT_GAP,
					RF_CNT_PENDING,     RF_CNT_REPEAT,  RF_CNT_ICRC};

	for (unsigned p = 0; p < l->ports; p++) {
		for (unsigned k = 0; k < sizeof(none) / sizeof(none[0]); k++)
			if (bench_counter(b, p, none[k]) != 0)
				fault(l, bench_counter_names[none[k]], 0);
		if (bench_counter(b, p, RF_CNT_ACCEPTED) != l->packets)
			fault(l, "a packet was not accepted", 0);
	}
	if (bench_group_read(b, 0, RF_GROUP_ERROR) != 0)
		fault(l, "the group has an error", 0);
}

static double run(const struct load *l, struct bench *b, const struct bench_group *g)
{
	struct flow f[8] = {{0}};
	uint64_t last = b->ops->cycle(b->e);
	unsigned done = 0;
	double worst = 0;

	while (done < g->ranks && !failed) {
		fill(l, b, g, f);
		bench_run(b, slow ? 24 : 8);
		for (size_t k = 0; k < b->outs; k++) {
			done += take(l, b, g, f, &b->out[k]);
			last = b->out[k].last;
		}
		bench_clear(b);
		if (b->ops->cycle(b->e) - last > STUCK)
			fault(l, "stuck", f[0].expect);
	}
	if (!failed && !bench_settle(b))
		fault(l, "not idle at the end", 0);
	if (!failed)
		counters_clean(l, b);
	for (unsigned r = 0; r < g->ranks; r++) {
		double pace = (double)(f[r].end - f[r].half) / (l->packets - l->packets / 2);

		worst = pace > worst ? pace : worst;
	}
	return failed ? 0 : worst;
}

static double measure(const struct load *l)
{
	const struct rf_engine_ops *ops = rf_model_engine();
	struct rf_engine_cfg cfg;
	struct bench_group g;
	struct bench b;
	char why[300];
	double cycles;

	bench_shape(&cfg, l->ports, 1, 512);
	cfg.bank_log2 = 16;
	cfg.hdr_log2 = 10;
	if (strcmp(by, "rtl") == 0 &&
	    rf_engine_load_deep(l->ports, 1, 512, &ops, why, sizeof(why)) != 0) {
		fprintf(stderr, "bench_directed: %s\n", why);
		exit(1);
	}
	if (!bench_open(&b, ops, &cfg))
		exit(1);
	open_group(l, &b, &g);
	cycles = run(l, &b, &g);
	bench_close(&b);
	return cycles;
}

static void one(struct load l, const char *what, double limit)
{
	char name[160];

	l.packets = l.bytes == 4096 ? 448 : 1280;
	snprintf(name, sizeof(name), "%s, P = %u, %u B: %s", by, l.ports, l.bytes, what);
	report(name, measure(&l), limit);
}

static void shapes(unsigned ports, unsigned bytes)
{
	struct load l = {.ports = ports, .bytes = bytes};
	bool big = bytes == 4096;

	one(l, "single packets with immediate", big ? 65.5 : 17.2);
	l.each_ack = true;
	one(l, "single packets, an ACK for each", big ? 66.6 : 18.3);
	l.each_ack = false;
	l.tagged = true;
	one(l, "single packets, VLAN tag", big ? 66.5 : 18.2);
	l.tagged = false;
	l.messages = true;
	one(l, "messages of 64 packets, LAST WITH IMMEDIATE", big ? 65.5 : 17.2);
}

/* Each type, the slowest of its operations; then each operation, the slowest of its types. */
static void kinds(unsigned ports)
{
	static const char *const types[RF_ARITH_TYPES] = {"fp32",   "bf16",  "fp16",   "int32",
							  "uint32", "int64", "uint64", "fp64",
							  "int8",   "uint8"};
	static const char *const ops[] = {"sum", "min", "max", "and", "or", "xor", "copy"};
	double of_op[RF_ARITH_COPY + 1] = {0};
	char name[160];

	for (unsigned t = 0; t < RF_ARITH_TYPES; t++) {
		double worst = 0;

		for (unsigned op = 0; op <= RF_ARITH_COPY; op++) {
			struct load l = {.ports = ports,
					 .bytes = 1024,
					 .packets = 640,
					 .type = (enum rf_arith_type)t,
					 .op = (enum rf_arith_op)op};
			double cycles;

			if (!rf_arith_has(l.type, l.op))
				continue;
			cycles = measure(&l);
			worst = cycles > worst ? cycles : worst;
			of_op[op] = cycles > of_op[op] ? cycles : of_op[op];
		}
		snprintf(name, sizeof(name), "%s, P = %u, 1024 B: %s, slowest operation", by, ports,
			 types[t]);
		report(name, worst, 17.2);
	}
	for (unsigned op = 0; op <= RF_ARITH_COPY; op++) {
		snprintf(name, sizeof(name), "%s, P = %u, 1024 B: %s, slowest type", by, ports,
			 ops[op]);
		report(name, of_op[op], 17.2);
	}
}

int main(int argc, char **argv)
{
	bool quick = argc > 3 && strcmp(argv[3], "quick") == 0;

	if (argc < 3 || argc > 5 || (argc > 3 && !quick) || !(out = fopen(argv[1], "a"))) {
		fprintf(stderr, "usage: bench_directed FILE model|rtl [quick [slow | flip]]\n");
		return 2;
	}
	by = argv[2];
	slow = argc > 4 && strcmp(argv[4], "slow") == 0;
	flip = argc > 4 && strcmp(argv[4], "flip") == 0;
	for (size_t k = 0; k < sizeof(pattern); k++)
		pattern[k] = (uint8_t)(0x30 + k * 7 % 15);
	for (unsigned ports = 4; ports <= 8; ports += 4) {
		if (quick) {
			one((struct load){.ports = 4, .bytes = 1024}, "single packets", 17.2);
			break;
		}
		shapes(ports, 1024);
		shapes(ports, 4096);
		kinds(ports);
	}
	if (fclose(out) != 0 || failed)
		return 1;
	return missed ? 4 : 0;
}
