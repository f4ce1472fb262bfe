/* Operands and sums of a tree of boxes: docs/reduction.md, box by box. Shares nothing with the
 * model. */
#include <string.h>

#include "proto/rf_bytes.h"
#include "tests/sim/tree_net.h"

#define PORTS 8u
#define COPIES 4u /* every so many indexes, one is a broadcast */

static uint64_t drawn(const struct tree *t, uint64_t what, uint64_t index)
{
	uint64_t state = t->cfg.seed * UINT64_C(0x100000001b3) ^ what << 40 ^ index;

	(void)rf_rng_word(&state);
	return rf_rng_word(&state);
}

void tree_plan(const struct tree *t, uint32_t index, struct tree_plan *p)
{
	static const uint32_t types[] = {RF_DTYPE_FP32, RF_DTYPE_FP32, RF_DTYPE_BF16,
					 RF_DTYPE_INT32};
	uint64_t all = (UINT64_C(1) << t->hosts) - 1, d = drawn(t, 1000, index);
	uint32_t type = types[d % 4], op = RF_OP_SUM;

	d >>= 8;
	p->gives = p->wants = all;
	p->len = 4 * (1 + d % (TREE_PAYLOAD / 4));
	d >>= 16;
	switch (d % 6) {
	case 0: /* broadcast */
		op = RF_OP_COPY;
		p->gives = UINT64_C(1) << (d >> 8) % t->hosts;
		p->wants = all & ~p->gives;
		break;
	case 1: /* reduce */
		p->wants = UINT64_C(1) << (d >> 8) % t->hosts;
		break;
	case 2: /* some give, some want */
		p->gives = (d >> 8) & all;
		p->wants = (d >> 16) & all;
		break;
	case 3: /* barrier */
		p->gives = p->wants = 0;
		break;
	default:
		break;
	}
	if (!p->gives)
		p->len = 0;
	p->imm = (uint32_t)(d >> 30 & 15) << 28 | op << 8 | type << 4 | (index & 15);
}

void tree_operand(const struct tree *t, unsigned int host, uint32_t index, uint8_t *bytes)
{
	struct tree_plan p;
	size_t k;

	tree_plan(t, index, &p);
	for (k = 0; k < p.len; k += 4) {
		uint64_t d = drawn(t, host, index * (uint64_t)TREE_PAYLOAD + k);
		uint32_t word = (uint32_t)d;

		/* Finite numbers of a few magnitudes, so that the order of additions matters. */
		if ((p.imm >> 4 & 15) == RF_DTYPE_FP32)
			word = (word & 0x807fffff) | (uint32_t)(120 + (d >> 40) % 16) << 23;
		else if ((p.imm >> 4 & 15) == RF_DTYPE_BF16)
			word = (word & 0x807f807f) | (uint32_t)(124 + (d >> 40) % 6) << 23 |
			       (uint32_t)(124 + (d >> 48) % 6) << 7;
		rf_put_le32(bytes + k, word);
	}
}

static float to_float(uint32_t bits)
{
	float f;

	memcpy(&f, &bits, sizeof(f));
	return f;
}

static uint32_t to_bits(float f)
{
	uint32_t bits;

	memcpy(&bits, &f, sizeof(bits));
	return bits;
}

/* One word of the sum: a word of 4 bytes, or the upper or lower half of one as bf16. */
static uint32_t add(uint32_t type, uint32_t a, uint32_t b)
{
	return type == RF_DTYPE_INT32 ? a + b : to_bits(to_float(a) + to_float(b));
}

static uint32_t round_bf16(uint32_t bits)
{
	return (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000;
}

/* The value of a box from those of its ranks; false if no rank gives. */
static bool combine(const struct bench_group *g, uint32_t type, const bool *gives,
		    const uint32_t *value, uint32_t *sum)
{
	bool any = false, has[PORTS];
	uint32_t v[PORTS];
	unsigned int lane, port, step, r;

	for (lane = 0; lane < g->lanes; lane++) {
		memset(has, 0, sizeof(has));
		for (r = 0; r < g->ranks; r++) {
			if (g->conn[r].lane != lane || !gives[r])
				continue;
			has[g->conn[r].port] = true;
			v[g->conn[r].port] = value[r];
		}
		for (step = 1; step < PORTS; step *= 2) {
			for (port = 0; port < PORTS; port += 2 * step) {
				if (has[port] && has[port + step])
					v[port] = add(type, v[port], v[port + step]);
				else if (has[port + step])
					v[port] = v[port + step];
				has[port] = has[port] || has[port + step];
			}
		}
		if (has[0])
			*sum = any ? add(type, *sum, v[0]) : v[0];
		any = any || has[0];
	}
	return any;
}

/* One word at the topmost box. `half`: of bf16, -1 for other types. */
static uint32_t sum_word(const struct tree *t, const struct tree_plan *p, uint32_t type, int half,
			 const uint32_t *operand)
{
	uint32_t sum[TREE_BOXES] = {0}, value[64];
	bool any[TREE_BOXES], gives[64];
	unsigned int box, r;

	for (box = t->cfg.boxes; box-- > 0;) {
		for (r = 0; r < t->group[box].ranks; r++) {
			int child = t->child[box][r], host = t->host_of[box][r];

			gives[r] = child >= 0 ? any[child] : p->gives >> host & 1;
			value[r] = child >= 0 ? sum[child] : operand[host];
			if (child < 0 && half >= 0)
				value[r] = half ? value[r] & 0xffff0000 : value[r] << 16;
		}
		any[box] = combine(&t->group[box], type, gives, value, &sum[box]);
		if (half >= 0)
			sum[box] = round_bf16(sum[box]);
	}
	return sum[0];
}

void tree_sum(const struct tree *t, uint32_t index, uint8_t *bytes)
{
	static uint8_t operand[TREE_HOSTS][TREE_PAYLOAD];
	uint32_t word[TREE_HOSTS], type;
	struct tree_plan p;
	unsigned int h;
	size_t k;

	tree_plan(t, index, &p);
	type = p.imm >> 4 & 15;
	for (h = 0; h < t->hosts; h++)
		tree_operand(t, h, index, operand[h]);
	for (k = 0; k < p.len; k += 4) {
		for (h = 0; h < t->hosts; h++)
			word[h] = rf_get_le32(operand[h] + k);
		if ((p.imm >> 8 & 15) == RF_OP_COPY) {
			for (h = 0; !(p.gives >> h & 1); h++)
				;
			rf_put_le32(bytes + k, word[h]);
		} else if (type == RF_DTYPE_BF16) {
			rf_put_le32(bytes + k, sum_word(t, &p, type, 0, word) >> 16 |
						       sum_word(t, &p, type, 1, word));
		} else {
			rf_put_le32(bytes + k, sum_word(t, &p, type, -1, word));
		}
	}
}
