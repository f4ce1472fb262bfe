/*
 * Buddy allocator over a tree of bytes. Node 1 is the whole range; nodes 2n and 2n + 1 are the
 * halves of n. Each node holds 1 + log2 (in leaves) of its longest free aligned run, or 0 if it has
 * no free run.
 */
#include <string.h>

#include "firmware/core/internal.h"

#define DEPTH_MAX 8u

_Static_assert(RF_FW_BUDDY_LEAVES == 1u << DEPTH_MAX, "depth and leaves of the tree");

void rf_fw_buddy_init(struct rf_fw_buddy *b, unsigned int total_log2)
{
	unsigned int depth = total_log2 < DEPTH_MAX ? total_log2 : DEPTH_MAX;

	b->depth = (uint8_t)depth;
	b->leaf_log2 = (uint8_t)(total_log2 - depth);
	b->longest[0] = 0;
	for (unsigned int level = 0; level <= depth; level++)
		memset(b->longest + (1u << level), (int)(depth - level + 1u), 1u << level);
}

/* Order (log2 in leaves) of a run that holds 2^log2 units. */
static unsigned int order_of(const struct rf_fw_buddy *b, unsigned int log2)
{
	return log2 > b->leaf_log2 ? log2 - b->leaf_log2 : 0u;
}

/* Updates the ancestors of node n, which has the given order. */
static void climb(struct rf_fw_buddy *b, unsigned int n, unsigned int order)
{
	while (n > 1u) {
		uint8_t left = b->longest[n & ~1u], right = b->longest[n | 1u];

		n >>= 1;
		if (left == order + 1u && right == order + 1u)
			b->longest[n] = (uint8_t)(order + 2u);
		else
			b->longest[n] = left > right ? left : right;
		order++;
	}
}

bool rf_fw_buddy_alloc(struct rf_fw_buddy *b, unsigned int log2, uint32_t *base)
{
	unsigned int want = order_of(b, log2);
	unsigned int n = 1;

	if (b->longest[1] < want + 1u)
		return false;
	for (unsigned int order = b->depth; order > want; order--) {
		uint8_t left = b->longest[2u * n], right = b->longest[2u * n + 1u];
		bool go_left = left >= want + 1u && (right < want + 1u || left <= right);

		/* Choose the half with the shorter free run, so that long runs stay whole. */
		n = 2u * n + (go_left ? 0u : 1u);
	}
	b->longest[n] = 0;
	*base = (uint32_t)(n - (1u << (b->depth - want))) << (want + b->leaf_log2);
	climb(b, n, want);
	return true;
}

void rf_fw_buddy_free(struct rf_fw_buddy *b, uint32_t base, unsigned int log2)
{
	unsigned int order = order_of(b, log2);
	unsigned int n = (1u << (b->depth - order)) + (base >> (order + b->leaf_log2));

	b->longest[n] = (uint8_t)(order + 1u);
	climb(b, n, order);
}

int rf_fw_buddy_longest(const struct rf_fw_buddy *b)
{
	return b->longest[1] == 0 ? -1 : b->longest[1] - 1 + b->leaf_log2;
}

uint32_t rf_fw_buddy_room(const struct rf_fw_buddy *b)
{
	uint32_t leaves = 0;
	unsigned int pos = 0;

	/*
	 * From left to right: a free node counts as a whole; a partly free node is descended into.
	 */
	while (pos < 1u << b->depth) {
		unsigned int order = 0;

		/*
		 * The largest node that begins here and is either completely free or completely
		 * used.
		 */
		for (unsigned int k = b->depth + 1u; k-- > 0;) {
			unsigned int n = (1u << (b->depth - k)) + (pos >> k);

			if ((pos & ((1u << k) - 1u)) == 0 &&
			    (b->longest[n] == k + 1u || b->longest[n] == 0)) {
				order = k;
				if (b->longest[n] != 0)
					leaves += 1u << k;
				break;
			}
		}
		pos += 1u << order;
	}
	return leaves << b->leaf_log2;
}
