#include "tests/sim/compare/lockstep.h"

#include <stdio.h>
#include <string.h>

#include "tests/sim/compare/traffic.h"

static void dump(const char *who, const struct bench_out *o)
{
	size_t k;

	if (!o) {
		printf("  %s: nothing\n", who);
		return;
	}
	printf("  %s: %zu bytes, cycles %llu to %llu\n", who, o->len, (unsigned long long)o->first,
	       (unsigned long long)o->last);
	for (k = 0; k < o->len && k < 160; k++)
		printf("%s%02x", k % 32 ? " " : k ? "\n    " : "    ", o->bytes[k]);
	printf("%s\n", k < o->len ? " ..." : "");
}

/* The n-th frame that left a port; NULL if there are fewer. */
static const struct bench_out *nth(const struct bench *b, unsigned int port, size_t n)
{
	size_t k;

	for (k = 0; k < b->outs; k++) {
		if (b->out[k].port == port && n-- == 0)
			return &b->out[k];
	}
	return NULL;
}

static bool same_output(struct bench *b)
{
	const struct bench_out *x, *y;
	unsigned int port;
	size_t n;

	for (port = 0; port < b[0].cfg.ports; port++) {
		for (n = 0;; n++) {
			x = nth(&b[0], port, n);
			y = nth(&b[1], port, n);
			if (!x && !y)
				break;
			if (x && y && x->len == y->len && memcmp(x->bytes, y->bytes, x->len) == 0)
				continue;
			printf("port %u, frame %zu differs:\n", port, n);
			dump("a", x);
			dump("b", y);
			return false;
		}
	}
	return true;
}

static bool same_reg(struct bench *b, uint32_t addr, const char *what, unsigned int n)
{
	uint32_t x = bench_read(&b[0], addr), y = bench_read(&b[1], addr);

	if (x != y)
		printf("%s %u: a %08x (%u), b %08x (%u)\n", what, n, x, x, y, y);
	return x == y;
}

static bool same_counters(struct bench *b)
{
	unsigned int port, k;
	bool same = true;

	for (port = 0; port < b[0].cfg.ports; port++) {
		for (k = 0; k < RF_CNT_COUNT; k++)
			same &= same_reg(b, RF_PORT_BASE + port * RF_PORT_STRIDE + 4 * k,
					 bench_counter_names[k], port);
	}
	return same;
}

/* While a group is neither live nor valid, its progress does not matter. */
static bool same_group(struct bench *b, unsigned int n)
{
	uint32_t base = RF_GROUP_BASE + n * RF_GROUP_STRIDE;
	bool same = same_reg(b, base + RF_GROUP_ERROR, "group error", n) &&
		    same_reg(b, base + RF_GROUP_CFG, "group cfg", n);

	if (bench_read(&b[0], base + RF_GROUP_ERROR))
		return same & same_reg(b, base + RF_GROUP_ERROR_INDEX, "group error index", n) &
		       same_reg(b, base + RF_GROUP_ERROR_GOT, "group error got", n) &
		       same_reg(b, base + RF_GROUP_ERROR_WANT, "group error want", n);
	if (!(bench_read(&b[0], base + RF_GROUP_CFG) & RF_GROUP_CFG_LIVE_MASK))
		return same;
	same &= same_reg(b, base + RF_GROUP_HEAD, "group head", n);
	same &= same_reg(b, base + RF_GROUP_TAIL, "group tail", n);
	same &= same_reg(b, base + RF_GROUP_ISSUED, "group issued", n);
	return same;
}

static bool same_conns(struct bench *b, const struct bench_group *g)
{
	static const struct {
		uint32_t reg;
		const char *name;
	} regs[] = {{RF_CONN_NEXT, "next of cid"}, {RF_CONN_SENT, "sent of cid"},
		    {RF_CONN_UNA, "una of cid"},   {RF_CONN_MSN, "msn of cid"},
		    {RF_CONN_SEEN, "seen of cid"}, {RF_CONN_SILENT, "silent of cid"}};
	unsigned int r, k;
	bool same = true;

	for (r = 0; r < g->ranks; r++) {
		uint32_t base = RF_CONN_BASE + g->conn[r].cid * RF_CONN_STRIDE;

		for (k = 0; k < sizeof(regs) / sizeof(regs[0]); k++)
			same &= same_reg(b, base + regs[k].reg, regs[k].name, g->conn[r].cid);
	}
	return same;
}

/* Reads every punted frame from both. */
static bool same_punts(struct bench *b)
{
	uint32_t status, k;
	bool same = same_reg(b, RF_IRQ, "irq", 0);

	while (same && ((status = bench_read(&b[0], RF_PUNT_STATUS)) & RF_PUNT_STATUS_VALID_MASK)) {
		same &= same_reg(b, RF_PUNT_STATUS, "punt status", 0);
		for (k = 0; same && k + 4 <= (status & RF_PUNT_STATUS_LENGTH_MASK); k += 4)
			same &= same_reg(b, RF_PUNT_DATA + k, "punt data at", k);
		bench_write(&b[0], RF_PUNT_POP, 0);
		bench_write(&b[1], RF_PUNT_POP, 0);
	}
	return same && same_reg(b, RF_PUNT_STATUS, "punt status", 0);
}

static bool same_held(struct bench *b)
{
	uint32_t there = RF_HELD_KEY_VALID_MASK | RF_HELD_KEY_MISSED_MASK;
	uint32_t key = bench_read(&b[0], RF_HELD_KEY), other = bench_read(&b[1], RF_HELD_KEY);
	bool same = true;

	if ((key ^ other) & there) {
		printf("held frame: a %08x, b %08x\n", key, other);
		return false;
	}
	if (!(key & RF_HELD_KEY_VALID_MASK))
		return true;
	same &= same_reg(b, RF_HELD_KEY, "held frame", 0);
	same &= same_reg(b, RF_HELD_IP, "held frame's destination", 0);
	same &= same_reg(b, RF_HELD_SRC, "held frame's source", 0);
	bench_write(&b[0], RF_HELD_POP, 0);
	bench_write(&b[1], RF_HELD_POP, 0);
	return same;
}

static bool same_registers(struct bench *b, const struct traffic *t)
{
	bool same = same_counters(b);
	unsigned int n;

	same &= same_punts(b);
	for (n = 0; n < TRAFFIC_GROUPS; n++) {
		if (!t->live[n])
			continue;
		same &= same_group(b, n);
		same &= same_conns(b, &t->groups[n]);
	}
	same &= same_held(b);
	same &= same_reg(b, RF_CTRL, "control", 0);
	same &= same_reg(b, RF_HOLD_PORTS, "ports that hold", 0);
	same &= same_reg(b, RF_LAG_STATUS, "who is last", 0);
	same &= same_reg(b, RF_LAG_INDEX, "index of who is last", 0);
	return same;
}

bool lockstep_run(struct bench *b, uint64_t seed, unsigned long count, unsigned int every,
		  unsigned int mutate, bool verbose)
{
	struct traffic t;
	unsigned long n;

	traffic_start(&t, &b[0], &b[1], seed);
	t.mutate = mutate;
	for (n = 0; n < count; n++) {
		bool same;

		bench_clear(&b[0]);
		bench_clear(&b[1]);
		traffic_step(&t);
		if (verbose)
			printf("%lu: %s\n", n, t.what);
		if (!bench_settle(&b[0]) || !bench_settle(&b[1])) {
			printf("engine %s does not come to rest\n", b[0].stuck ? "a" : "b");
			same = false;
		} else {
			same = same_output(b);
			if (!same) /* what the registers report about it */
				same_registers(b, &t);
		}
		if (same &&
		    (n % every == every - 1 || n == count - 1 || bench_read(&b[0], RF_PUNT_STATUS)))
			same = same_registers(b, &t);
		if (!same) {
			printf("step %lu (registers are compared every %u): %s\n", n, every,
			       t.what);
			return false;
		}
	}
	return true;
}
