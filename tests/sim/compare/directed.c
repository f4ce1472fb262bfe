/*
 * What the ranks of a group send at an index. In a directed group they state what they give and
 * want; all agree on everything else. docs/box.md, "Directed groups".
 */
#include "sim/model/arith.h"
#include "tests/sim/compare/random.h"
#include "tests/sim/compare/traffic.h"

/* Who gives at an index. */
enum givers { ALL, ONE, SOME, NOBODY };

/* What all ranks of a directed group have in common at an index. */
struct common {
	enum givers givers;
	uint32_t root; /* the rank that gives to a copy */
	uint32_t code; /* the immediate without wants and gives */
	uint8_t dtype, op, pad;
	size_t len;
};

static bool floating(unsigned int type)
{
	return type <= RF_DTYPE_FP16 || type == RF_DTYPE_FP64;
}

static void agree(uint64_t seed, const struct bench_group *g, uint32_t index, struct common *c)
{
	uint64_t s = seed ^ (uint64_t)index << 20;
	uint32_t words = 1u << (g->mtu_log2 - 2);
	unsigned int size;

	c->dtype = random_once(&s, 2) ? (uint8_t)g->dtype : (uint8_t)random_below(&s, 10);
	c->op = random_once(&s, 2) && c->dtype == g->dtype
			? (uint8_t)g->op
			: (uint8_t)random_below(&s, floating(c->dtype) ? 3 : 6);
	c->givers = random_once(&s, 3) ? ALL : (enum givers)random_below(&s, 4);
	if (c->givers == ONE || random_once(&s, 5))
		c->op = RF_OP_COPY;
	if (c->op == RF_OP_COPY && c->givers != NOBODY)
		c->givers = ONE;
	c->root = random_below(&s, g->ranks);
	c->code = (uint32_t)random_next(&s) & 0xffff3000;
	c->code |= (uint32_t)c->op << 8 | (uint32_t)c->dtype << 4 | (index & 15);
	c->len = 4 * (1 + random_below(&s, random_once(&s, 2) ? words : 20));
	if (random_once(&s, 4))
		c->len = 4 * words;
	c->pad = 0;
	size = arith_element_size(c->dtype);
	if (c->op == RF_OP_COPY)
		c->pad = (uint8_t)random_below(&s, 4);
	else if (size == 8)
		c->len = (c->len + 7) & ~(size_t)7;
	else if (size < 4 && random_once(&s, 2))
		c->pad = (uint8_t)(size * (1 + random_below(&s, 4 / size - 1)));
}

void traffic_form(uint64_t seed, const struct bench_group *g, uint32_t index, uint8_t *opcode,
		  size_t *len, uint8_t *pad)
{
	uint64_t s = seed ^ (uint64_t)index << 20;
	uint32_t words = 1u << (g->mtu_log2 - 2);
	unsigned int size = arith_element_size(g->dtype);

	*opcode = (uint8_t)random_below(&s, 12);
	*pad = 0;
	if (*opcode % 6 < 2) { /* FIRST, MIDDLE */
		*len = 4 * words;
		return;
	}
	*len = 4 * (1 + random_below(&s, random_once(&s, 2) ? words : 20));
	if (size == 8) /* whole elements; an MTU holds at least 32 */
		*len = (*len + 7) & ~(size_t)7;
	if (size < 4 && random_once(&s, 2))
		*pad = (uint8_t)(size * (1 + random_below(&s, 4 / size - 1)));
}

void traffic_say(uint64_t seed, const struct bench_group *g, unsigned int rank, uint32_t index,
		 struct traffic_say *w)
{
	uint64_t s = seed ^ (uint64_t)index << 20 ^ (uint64_t)(rank + 1) << 50;
	struct common c;
	bool plain;

	*w = (struct traffic_say){.dtype = g->dtype, .gives = true, .wants = true};
	w->imm = 0xfeed0000 + index;
	if (!g->directed) {
		traffic_form(seed, g, index, &w->opcode, &w->len, &w->pad);
		return;
	}
	agree(seed, g, index, &c);
	w->gives = c.givers == ALL || (c.givers == ONE && rank == c.root) ||
		   (c.givers == SOME && random_once(&s, 2));
	w->wants = random_below(&s, 4) != 0;
	/* A packet of a long message, among others that state the same. */
	plain = w->gives && w->wants && c.dtype == g->dtype && c.op == g->op && !random_once(&s, 3);
	w->dtype = c.dtype;
	w->opcode = OP_SEND_ONLY_IMM;
	if (plain && c.len == 1u << g->mtu_log2 && c.pad == 0)
		w->opcode = (uint8_t)random_below(&s, 5);
	else if (plain)
		w->opcode = (uint8_t)(OP_SEND_LAST + random_below(&s, 3));
	w->imm = c.code | (w->gives ? 0x4000 : 0) | (w->wants ? 0x8000 : 0);
	w->len = w->gives ? c.len : 0;
	w->pad = w->gives ? c.pad : 0;
}
