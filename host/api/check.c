/* Checks the arguments of a call, and says which bytes of its buffers this rank uses. */
#include "host/api/api.h"

#include <stdio.h>
#include <string.h>

#include "host/collective/average.h"

static const char *check_op(struct rf_comm_call *call, char *why)
{
	struct rf_directed_call *c = &call->c;

	if (c->op == RF_ARITH_PRODUCT)
		return "no box has the product: gather the operands with rf_all_gather(), and "
		       "multiply on the hosts";
	if (call->average && !rf_average_has(c->type))
		return "the average is for floating types: take the sum, and divide";
	if (call->average) {
		c->op = RF_ARITH_SUM;
		c->form |= RF_FORM_AVERAGE;
	}
	if ((unsigned int)c->op > RF_ARITH_XOR) {
		snprintf(why, RF_TEXT_MAX, RF_UNKNOWN_OP, (unsigned int)c->op);
		return why;
	}
	if (c->op <= RF_ARITH_MAX || rf_arith_has(c->type, c->op))
		return NULL;
	snprintf(why, RF_TEXT_MAX, "%s is for integers, not for %s", rf_op_name((enum rf_op)c->op),
		 rf_type_name((enum rf_type)c->type));
	return why;
}

/* The parts of a check, and what they have in common. */
struct check {
	const struct rf_comm *comm;
	struct rf_comm_call *call;
	const struct rf_schedule_shape *shape;
	size_t size; /* of an element */
	bool root;   /* this rank is it */
	/* bytes of the blocks: of all, of this rank's, and of those before it */
	size_t all, own, before;
};

static const char *check_kind(struct check *k, char *why)
{
	const struct rf_directed_call *c = &k->call->c;
	unsigned int ranks = k->comm->ranks;

	if (!k->size) {
		snprintf(why, RF_TEXT_MAX, RF_UNKNOWN_TYPE, (unsigned int)c->type);
		return why;
	}
	if (k->shape->root && c->root >= ranks) {
		snprintf(why, RF_TEXT_MAX,
			 "root %u of %u ranks: the root is a rank of the communicator, below %u",
			 c->root, ranks, ranks);
		return why;
	}
	return k->shape->reduces ? check_op(k->call, why) : NULL;
}

/* False if the blocks are more than memory can hold. */
static bool measure(struct check *k)
{
	const struct rf_directed_call *c = &k->call->c;

	if (!k->shape->blocks) {
		k->own = k->all = c->count * k->size;
		return c->count <= SIZE_MAX / 2 / RF_ARITH_SIZE_MAX;
	}
	for (unsigned int b = 0; b < k->comm->ranks; b++) {
		uint64_t count = c->counts ? c->counts[b] : c->count;
		size_t bytes;

		if (__builtin_mul_overflow(count, k->size, &bytes) || bytes > SIZE_MAX / 2 - k->all)
			return false;
		if (b == k->comm->rank)
			k->own = bytes;
		if (b < k->comm->rank)
			k->before += bytes;
		k->all += bytes;
	}
	return true;
}

/* Which of the two buffers this rank uses, and how much of them. */
static void use(const struct check *k)
{
	const struct rf_directed_call *c = &k->call->c;
	size_t send = k->shape->send_blocks ? k->all : k->own;
	size_t recv = k->shape->recv_blocks ? k->all : k->own;

	if (k->shape->root && !k->root) {
		if (c->kind == RF_SCHEDULE_BROADCAST || c->kind == RF_SCHEDULE_SCATTER)
			send = 0;
		else
			recv = 0;
	}
	if (k->root && c->kind == RF_SCHEDULE_BROADCAST && !c->recv)
		recv = 0;
	k->call->send_bytes = send;
	k->call->recv_bytes = recv;
	k->call->all_bytes = k->all;
}

static const char *check_buffers(const struct check *k)
{
	struct rf_comm_call *call = k->call;
	uintptr_t a = (uintptr_t)call->c.send, b = (uintptr_t)call->c.recv;
	size_t from = k->shape->send_blocks ? k->before : 0;
	size_t to = k->shape->recv_blocks ? k->before : 0;
	uintptr_t odd = k->size - 1; /* a power of two less one */

	if ((call->send_bytes && !a) || (call->recv_bytes && !b))
		return "a buffer is NULL";
	if ((call->send_bytes && a & odd) || (call->recv_bytes && b & odd))
		return "a buffer is not aligned to its element";
	if (!call->send_bytes || !call->recv_bytes || a + from == b + to)
		return NULL;
	/* the own block is copied */
	call->touched |= !k->shape->reduces;
	if (a < b + call->recv_bytes && b < a + call->send_bytes)
		return k->shape->blocks ? "send and receive buffer overlap, and the own block is "
					  "not at one place"
					: "send and receive buffer overlap without being the same";
	return NULL;
}

static const char *check_counts(const struct check *k, char *why)
{
	struct rf_comm_call *call = k->call;

	if (k->root || !call->counts_first) {
		if (!call->c.counts)
			return "counts is NULL: give an array with a count for each rank";
		if (!k->root || !call->counts_first || call->own == call->c.counts[k->comm->rank])
			return NULL;
		snprintf(why, RF_TEXT_MAX,
			 "own is %llu, and counts[%u] of the root is %llu: they must be equal",
			 (unsigned long long)call->own, k->comm->rank,
			 (unsigned long long)call->c.counts[k->comm->rank]);
		return why;
	}
	/* the counts come later, and the root alone has all blocks */
	call->c.counts = NULL;
	call->c.count = call->own;
	return NULL;
}

const char *rf_comm_call_check(const struct rf_comm *comm, struct rf_comm_call *call, char *why)
{
	struct check k = {.comm = comm, .call = call};
	const char *wrong;

	if (call->c.kind == RF_SCHEDULE_BARRIER)
		return NULL;
	k.shape = rf_schedule_shape(call->c.kind);
	k.size = rf_arith_size(call->c.type);
	k.root = k.shape->root && comm->rank == call->c.root;
	call->touched = call->average;
	wrong = check_kind(&k, why);
	if (!wrong && call->is_v)
		wrong = check_counts(&k, why);
	if (wrong)
		return wrong;
	if (!measure(&k))
		return "the counts are larger than the address space";
	use(&k);
	return check_buffers(&k);
}

bool rf_comm_call_is_empty(const struct rf_comm *comm, const struct rf_comm_call *call)
{
	const struct rf_directed_call *c = &call->c;

	if (call->counts_first || c->kind == RF_SCHEDULE_BARRIER)
		return false;
	if (!c->counts)
		return c->count == 0;
	for (unsigned int k = 0; k < comm->ranks; k++)
		if (c->counts[k])
			return false;
	return true;
}

void rf_comm_call_copy(const struct rf_comm_call *call)
{
	const struct rf_directed_call *c = &call->c;

	if (call->recv_bytes && c->send != c->recv)
		memmove(c->recv, c->send, call->recv_bytes);
}

void rf_comm_call_finish(const struct rf_comm_call *call, unsigned int ranks)
{
	const struct rf_batch *batch = call->batch;
	const char *from;

	/* with one rank, the operand itself */
	if (call->average && call->recv_bytes && ranks > 1)
		rf_average(call->c.type, call->c.recv,
			   call->recv_bytes / rf_arith_size(call->c.type), ranks);
	if (!batch)
		return;
	from = batch->vector;
	for (size_t k = 0; k < batch->n; k++) {
		size_t bytes = batch->pieces[k].count * batch->size;

		if (bytes)
			memcpy(batch->pieces[k].recv, from, bytes);
		from += bytes;
	}
}
