/* Many small all-reduces as one: their operands are copied into one vector. */
#include "host/api/api.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "proto/rf_bytes.h"
#include "proto/rf_crc32.h"

/* What is wrong with a piece, or NULL. */
static const char *piece_wrong(const struct rf_piece *p, size_t size)
{
	uintptr_t a = (uintptr_t)p->send, b = (uintptr_t)p->recv;
	size_t bytes;

	if (!p->count)
		return NULL;
	if (!a || !b)
		return "a buffer of a piece is NULL";
	if (a % size || b % size)
		return "a buffer of a piece is not aligned to its element";
	if (__builtin_mul_overflow(p->count, size, &bytes) || bytes > SIZE_MAX / 4)
		return "the counts are larger than the address space";
	if (a != b && a < b + bytes && b < a + bytes)
		return "send and receive buffer of a piece overlap without being the same";
	return NULL;
}

/* Checks the pieces, and adds up their bytes. */
static int measure(struct rf_comm *comm, const struct rf_piece *pieces, size_t n, size_t size,
		   size_t *bytes)
{
	struct rf_context *ctx = comm->ctx;
	int ret = RF_OK;

	*bytes = 0;
	rf_lock(ctx);
	for (size_t k = 0; k < n && !ret; k++) {
		const struct rf_piece *p = &pieces[k];
		const char *wrong = piece_wrong(p, size);
		struct rf_buffers b = {p->send, p->count * size, p->recv, p->count * size};

		if (!wrong && b.send_bytes > SIZE_MAX / 4 - *bytes)
			wrong = "the counts are larger than the address space";
		ret = wrong ? rf_fail(ctx, RF_ERR_INVALID, "piece %zu: %s", k, wrong)
			    : rf_mem_check(ctx, &b);
		*bytes += b.send_bytes;
	}
	rf_unlock(ctx);
	return ret;
}

/* The pieces, followed by the vector, which begins at a multiple of 64 bytes. */
static struct rf_batch *gather(const struct rf_piece *pieces, size_t n, size_t size, size_t bytes)
{
	size_t head = (sizeof(struct rf_batch) + n * sizeof(*pieces) + 63) & ~(size_t)63;
	struct rf_batch *b = aligned_alloc(64, (head + bytes + 63) & ~(size_t)63);
	char *to;

	if (!b)
		return NULL;
	*b = (struct rf_batch){.n = n, .size = size, .vector = (char *)b + head};
	if (n)
		memcpy(b->pieces, pieces, n * sizeof(*pieces));
	to = b->vector;
	for (size_t k = 0; k < n; k++) {
		if (pieces[k].count)
			memcpy(to, pieces[k].send, pieces[k].count * size);
		to += pieces[k].count * size;
	}
	return b;
}

/* What the ranks must have equal: all pieces, not only their sum. */
static uint64_t form_of(const struct rf_piece *pieces, size_t n)
{
	uint32_t state = RF_CRC32_INIT;
	uint8_t bytes[8];

	rf_put_le64(bytes, n);
	state = rf_crc32_update(state, bytes, sizeof(bytes));
	for (size_t k = 0; k < n; k++) {
		rf_put_le64(bytes, pieces[k].count);
		state = rf_crc32_update(state, bytes, sizeof(bytes));
	}
	return RF_FORM_BATCH | (uint64_t)rf_crc32_final(state) << RF_FORM_PIECES_LSB;
}

static int prepare(struct rf_comm *comm, const struct rf_piece *pieces, size_t n, enum rf_type type,
		   enum rf_op op, struct rf_comm_call *call)
{
	size_t size = rf_type_size(type), bytes = 0;
	int ret;

	if (!comm)
		return rf_null("comm");
	if (rf_usable(comm->ctx))
		return RF_ERR_INVALID;
	if (!size)
		return rf_fail(comm->ctx, RF_ERR_INVALID, RF_UNKNOWN_TYPE, (unsigned int)type);
	if (n && !pieces)
		return rf_fail(comm->ctx, RF_ERR_INVALID,
			       "pieces is NULL, and n is %zu: give an array of so many", n);
	if (n > SIZE_MAX / 4 / sizeof(*pieces))
		return rf_fail(comm->ctx, RF_ERR_INVALID,
			       "%zu pieces are more than memory can hold", n);
	ret = measure(comm, pieces, n, size, &bytes);
	if (ret)
		return ret;
	*call = (struct rf_comm_call){.average = op == RF_AVERAGE,
				      .batch = gather(pieces, n, size, bytes)};
	if (!call->batch)
		return rf_fail(comm->ctx, RF_ERR_NO_MEMORY, "no memory for the batch");
	call->c = (struct rf_directed_call){.kind = RF_SCHEDULE_ALL_REDUCE,
					    .type = (enum rf_arith_type)type,
					    .op = (enum rf_arith_op)op,
					    .count = bytes / size,
					    .send = call->batch->vector,
					    .recv = call->batch->vector,
					    .form = form_of(pieces, n)};
	return RF_OK;
}

int rf_iallreduce_batch(struct rf_comm *comm, const struct rf_piece *pieces, size_t n,
			enum rf_type type, enum rf_op op, struct rf_request **request)
{
	struct rf_comm_call call;
	int ret = prepare(comm, pieces, n, type, op, &call);

	if (ret)
		return ret;
	ret = rf_comm_start(comm, &call, request);
	if (ret)
		free(call.batch);
	return ret;
}

int rf_allreduce_batch(struct rf_comm *comm, const struct rf_piece *pieces, size_t n,
		       enum rf_type type, enum rf_op op)
{
	struct rf_request *request;
	int ret = rf_iallreduce_batch(comm, pieces, n, type, op, &request);

	return ret ? ret : rf_wait(request, RF_WAIT_FOREVER);
}
