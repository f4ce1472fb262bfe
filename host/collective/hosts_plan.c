/* The schedules among hosts: what passes through each rank, step by step (docs/collective.md). */
#include "host/collective/hosts_internal.h"

#include "base/log2.h"

#define SMALL_PER_RANK 4096u
#define SMALL_MOST 32768u
/* A broadcast needs no scratch, and gains from its tree for longer. */
#define BROADCAST_PER_RANK 32768u
#define BROADCAST_MOST 262144u

uint32_t rf_hosts_reach(uint32_t ranks)
{
	return ranks > 1 ? rf_log2(ranks - 1) + 1 : 0;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

uint64_t rf_hosts_small(uint32_t ranks)
{
	return least((uint64_t)ranks * SMALL_PER_RANK, SMALL_MOST);
}

/* ---- numbers ---- */

static int next_conn(uint32_t k)
{
	return (int)(2 * k);
}

static int prev_conn(uint32_t k)
{
	return (int)(2 * k + 1);
}

/* The rank whose number differs in one bit. */
static int conn_across(uint32_t rank, uint32_t bit)
{
	return rank >> bit & 1 ? prev_conn(bit) : next_conn(bit);
}

/* The rank that has this number counted from the root. */
static uint32_t rank_of(const struct rf_hosts *h, const struct rf_hosts_op *op, uint32_t v)
{
	return (v + op->c.root) % h->cfg.ranks;
}

/* This rank's number counted from the root, which is 0. */
static uint32_t from_root(const struct rf_hosts *h, const struct rf_hosts_op *op)
{
	return (h->cfg.rank + h->cfg.ranks - op->c.root) % h->cfg.ranks;
}

/*
 * The tree: the parent of v is v without its lowest bit, and its children are v + 1, v + 2, v + 4,
 * ... below that bit. So the numbers below v are v .. v + tree_size - 1.
 */
static uint32_t tree_parent(uint32_t v)
{
	return (uint32_t)__builtin_ctz(v);
}

static uint32_t tree_size(const struct rf_hosts *h, uint32_t v)
{
	uint32_t n = h->cfg.ranks, full = v ? v & (~v + 1) : n;

	return full < n - v ? full : n - v;
}

/* How many children: their distances are 2^0 .. 2^(children - 1). */
static uint32_t tree_children(const struct rf_hosts *h, uint32_t v)
{
	return rf_hosts_reach(tree_size(h, v));
}

/* ---- the choice ---- */

static enum rf_hosts_way way_of(const struct rf_hosts *h, const struct rf_call *c)
{
	uint64_t bytes = c->offsets[c->blocks];
	uint32_t n = h->cfg.ranks;

	switch (c->kind) {
	case RF_SCHEDULE_ALL_REDUCE:
		return bytes <= rf_hosts_small(n) ? RF_WAY_DOUBLING : RF_WAY_RING;
	case RF_SCHEDULE_REDUCE:
		return bytes <= rf_hosts_small(n) ? RF_WAY_TREE_REDUCE : RF_WAY_CHAIN_REDUCE;
	case RF_SCHEDULE_BROADCAST:
		return bytes <= least((uint64_t)n * BROADCAST_PER_RANK, BROADCAST_MOST)
			       ? RF_WAY_TREE_BROADCAST
			       : RF_WAY_CHAIN_BROADCAST;
	case RF_SCHEDULE_REDUCE_SCATTER:
		return RF_WAY_RING_SCATTER;
	case RF_SCHEDULE_ALL_GATHER:
		return RF_WAY_RING_GATHER;
	case RF_SCHEDULE_GATHER:
		return RF_WAY_TREE_GATHER;
	case RF_SCHEDULE_SCATTER:
		return RF_WAY_TREE_SCATTER;
	default:
		return RF_WAY_BARRIER;
	}
}

/* The power of two of the ranks that double; the others join one of them. */
static uint32_t doubling_bits(uint32_t ranks)
{
	return rf_log2(ranks);
}

static uint32_t steps_of(const struct rf_hosts *h, const struct rf_hosts_op *op)
{
	uint32_t n = h->cfg.ranks, v = from_root(h, op), children = tree_children(h, v);

	switch (op->way) {
	case RF_WAY_DOUBLING:
		return h->cfg.rank >> doubling_bits(n) ? 2 : doubling_bits(n) + 1;
	case RF_WAY_RING:
		return 2 * n - 1;
	case RF_WAY_TREE_REDUCE:
	case RF_WAY_TREE_BROADCAST:
		return children ? children : 1;
	case RF_WAY_RING_SCATTER:
	case RF_WAY_RING_GATHER:
		return n;
	case RF_WAY_TREE_GATHER:
	case RF_WAY_TREE_SCATTER:
		return tree_size(h, v);
	case RF_WAY_BARRIER:
		return h->reach + 1;
	default:
		return 1;
	}
}

static uint64_t parts_of(const struct rf_hosts *h, const struct rf_hosts_op *op)
{
	uint64_t part = (uint64_t)RF_HOSTS_PART * h->cfg.message_bytes;
	uint64_t longest = op->way == RF_WAY_RING ? op->chunk : op->c.longest;

	if ((op->way != RF_WAY_RING && op->way != RF_WAY_RING_SCATTER) || longest == 0)
		return 1;
	return (longest - 1) / part + 1;
}

void rf_hosts_plan(const struct rf_hosts *h, struct rf_hosts_op *op)
{
	uint64_t size = rf_arith_size(op->c.type), count = op->c.offsets[op->c.blocks] / size;

	op->way = way_of(h, &op->c);
	op->steps = h->cfg.ranks > 1 ? steps_of(h, op) : 0;
	op->chunk = (count + h->cfg.ranks - 1) / h->cfg.ranks * size;
	op->parts = parts_of(h, op);
}

/* ---- the steps ---- */

/* What two or more steps share: the bytes, which stay where they are, from nobody to nobody. */
static struct rf_hosts_step whole(const struct rf_hosts_op *op)
{
	return (struct rf_hosts_step){.len = op->c.offsets[1],
				      .from = RF_HOSTS_NONE,
				      .to = RF_HOSTS_NONE,
				      .place = RF_PLACE_SEND};
}

static struct rf_hosts_step of_block(const struct rf_hosts_op *op, uint32_t block)
{
	struct rf_hosts_step s = whole(op);

	s.len = rf_call_block(&op->c, block);
	if (rf_schedule_sends_blocks(op->c.kind))
		s.send_at = op->c.offsets[block];
	if (rf_schedule_receives_blocks(op->c.kind))
		s.recv_at = op->c.offsets[block];
	return s;
}

/* It comes by a connection, something is added, and it is then in this place. */
static void comes(struct rf_hosts_step *s, int from, enum rf_hosts_add add,
		  enum rf_hosts_place place)
{
	s->from = from;
	s->add = add;
	s->place = place;
	s->slot = add != RF_ADD_NOTHING || place == RF_PLACE_SLOT;
}

/*
 * The sums of both ranks at distance 1, of all four at distances 1 and 2, and so on. Ranks beyond
 * the power of two give their operand to the rank that many before, and get the result from it. The
 * first step copies the operand: it may have to be sent again when the result is in its place.
 */
static struct rf_hosts_step doubling(const struct rf_hosts *h, const struct rf_hosts_op *op,
				     uint32_t step)
{
	uint32_t rank = h->cfg.rank, bits = doubling_bits(h->cfg.ranks);
	bool partner = rank + (1u << bits) < h->cfg.ranks;
	struct rf_hosts_step s = whole(op);

	if (rank >> bits) {
		if (step == 0)
			s.to = prev_conn(bits);
		else
			comes(&s, prev_conn(bits), RF_ADD_NOTHING, RF_PLACE_RECV);
		return s;
	}
	if (step == 0) {
		comes(&s, partner ? next_conn(bits) : RF_HOSTS_NONE,
		      partner ? RF_ADD_OWN : RF_ADD_NOTHING, RF_PLACE_SLOT);
	} else {
		comes(&s, conn_across(rank, step - 1), RF_ADD_PREVIOUS,
		      step < bits ? RF_PLACE_SLOT : RF_PLACE_RECV);
	}
	s.kept = step < bits;
	if (step < bits)
		s.to = conn_across(rank, step);
	else if (partner)
		s.to = next_conn(bits);
	return s;
}

/*
 * Rank r handles chunk r - step. It begins chunk r, adds its operand to N - 1 others, the last of
 * which is then complete, and passes on N - 1 complete ones.
 */
static struct rf_hosts_step ring(const struct rf_hosts *h, const struct rf_hosts_op *op,
				 uint32_t step)
{
	uint32_t n = h->cfg.ranks, chunk = (h->cfg.rank + 2 * n - step) % n;
	uint64_t all = op->c.offsets[1], begin = least(chunk * op->chunk, all);
	struct rf_hosts_step s = whole(op);

	s.send_at = s.recv_at = begin;
	s.len = least(op->chunk, all - begin);
	if (step > 0)
		comes(&s, prev_conn(0), step < n ? RF_ADD_OWN : RF_ADD_NOTHING, RF_PLACE_RECV);
	if (step < 2 * n - 2)
		s.to = next_conn(0);
	return s;
}

/* As the first half of the ring, but the sum of block b ends at rank b. */
static struct rf_hosts_step ring_scatter(const struct rf_hosts *h, const struct rf_hosts_op *op,
					 uint32_t step)
{
	uint32_t n = h->cfg.ranks;
	struct rf_hosts_step s = of_block(op, (h->cfg.rank + 2 * n - 1 - step) % n);

	if (step > 0)
		comes(&s, prev_conn(0), RF_ADD_OWN, step < n - 1 ? RF_PLACE_SLOT : RF_PLACE_RECV);
	if (step < n - 1)
		s.to = next_conn(0);
	return s;
}

static struct rf_hosts_step ring_gather(const struct rf_hosts *h, const struct rf_hosts_op *op,
					uint32_t step)
{
	uint32_t n = h->cfg.ranks;
	struct rf_hosts_step s = of_block(op, (h->cfg.rank + n - step) % n);

	/* The own block has been copied to its place. */
	comes(&s, step ? prev_conn(0) : RF_HOSTS_NONE, RF_ADD_NOTHING, RF_PLACE_RECV);
	if (step < n - 1)
		s.to = next_conn(0);
	return s;
}

/* From the rank after the root round the ring to the root. */
static struct rf_hosts_step chain_reduce(const struct rf_hosts *h, const struct rf_hosts_op *op)
{
	uint32_t v = from_root(h, op);
	struct rf_hosts_step s = whole(op);

	if (v != 1)
		comes(&s, prev_conn(0), RF_ADD_OWN, v ? RF_PLACE_SLOT : RF_PLACE_RECV);
	if (v)
		s.to = next_conn(0);
	return s;
}

static struct rf_hosts_step chain_broadcast(const struct rf_hosts *h, const struct rf_hosts_op *op)
{
	uint32_t v = from_root(h, op);
	struct rf_hosts_step s = whole(op);

	if (v)
		comes(&s, prev_conn(0), RF_ADD_NOTHING, RF_PLACE_RECV);
	if (v < h->cfg.ranks - 1)
		s.to = next_conn(0);
	return s;
}

static struct rf_hosts_step tree_reduce(const struct rf_hosts *h, const struct rf_hosts_op *op,
					uint32_t step)
{
	uint32_t v = from_root(h, op), children = tree_children(h, v);
	struct rf_hosts_step s = whole(op);
	bool last = step + 1 >= children;

	if (children)
		comes(&s, next_conn(step), step ? RF_ADD_PREVIOUS : RF_ADD_OWN,
		      last && !v ? RF_PLACE_RECV : RF_PLACE_SLOT);
	s.kept = !last;
	if (last && v)
		s.to = prev_conn(tree_parent(v));
	return s;
}

/* The farthest child first: it has the longest way to go on. */
static struct rf_hosts_step tree_broadcast(const struct rf_hosts *h, const struct rf_hosts_op *op,
					   uint32_t step)
{
	uint32_t v = from_root(h, op), children = tree_children(h, v);
	struct rf_hosts_step s = whole(op);

	if (v)
		comes(&s, step ? RF_HOSTS_NONE : prev_conn(tree_parent(v)), RF_ADD_NOTHING,
		      RF_PLACE_RECV);
	if (children)
		s.to = next_conn(children - 1 - step);
	return s;
}

/* The blocks of the ranks below this one pass through it, in ascending order, its own first. */
static struct rf_hosts_step tree_gather(const struct rf_hosts *h, const struct rf_hosts_op *op,
					uint32_t step)
{
	uint32_t v = from_root(h, op);
	struct rf_hosts_step s = of_block(op, rank_of(h, op, v + step));

	if (step)
		comes(&s, next_conn(rf_log2(step)), RF_ADD_NOTHING,
		      v ? RF_PLACE_SLOT : RF_PLACE_RECV);
	else if (!v)
		s.len = 0; /* the root's own */
	if (v)
		s.to = prev_conn(tree_parent(v));
	return s;
}

/* In descending order, its own last: those that go far come first. */
static struct rf_hosts_step tree_scatter(const struct rf_hosts *h, const struct rf_hosts_op *op,
					 uint32_t step)
{
	uint32_t v = from_root(h, op), below = op->steps - 1 - step;
	struct rf_hosts_step s = of_block(op, rank_of(h, op, v + below));

	if (v)
		comes(&s, prev_conn(tree_parent(v)), RF_ADD_NOTHING,
		      below ? RF_PLACE_SLOT : RF_PLACE_RECV);
	else if (!below)
		s.len = 0;
	if (below)
		s.to = next_conn(rf_log2(below));
	return s;
}

/* After step k a rank knows of the 2^k ranks before it; a message has one byte. */
static struct rf_hosts_step barrier(const struct rf_hosts *h, const struct rf_hosts_op *op,
				    uint32_t step)
{
	struct rf_hosts_step s = whole(op);

	comes(&s, step ? prev_conn(step - 1) : RF_HOSTS_NONE, RF_ADD_NOTHING, RF_PLACE_SLOT);
	if (step < h->reach)
		s.to = next_conn(step);
	return s;
}

struct rf_hosts_step rf_hosts_step(const struct rf_hosts *h, const struct rf_hosts_op *op,
				   uint32_t step)
{
	switch (op->way) {
	case RF_WAY_DOUBLING:
		return doubling(h, op, step);
	case RF_WAY_RING:
		return ring(h, op, step);
	case RF_WAY_TREE_REDUCE:
		return tree_reduce(h, op, step);
	case RF_WAY_CHAIN_REDUCE:
		return chain_reduce(h, op);
	case RF_WAY_TREE_BROADCAST:
		return tree_broadcast(h, op, step);
	case RF_WAY_CHAIN_BROADCAST:
		return chain_broadcast(h, op);
	case RF_WAY_RING_SCATTER:
		return ring_scatter(h, op, step);
	case RF_WAY_RING_GATHER:
		return ring_gather(h, op, step);
	case RF_WAY_TREE_GATHER:
		return tree_gather(h, op, step);
	case RF_WAY_TREE_SCATTER:
		return tree_scatter(h, op, step);
	default:
		return barrier(h, op, step);
	}
}
