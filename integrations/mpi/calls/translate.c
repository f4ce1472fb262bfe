/* Arguments of MPI to a call of the core. */
#include "integrations/mpi/calls/translate.h"

#include <stdlib.h>
#include <string.h>

#include "integrations/mpi/calls/types.h"

static int count_of(const struct rf_mpi_side *side, unsigned int block)
{
	return side->counts ? side->counts[block] : side->count;
}

static char *place_of(const struct rf_mpi_side *side, unsigned int block, MPI_Aint extent)
{
	MPI_Aint at = side->displs ? side->displs[block] : (MPI_Aint)block * side->count;

	for (unsigned int b = 0; side->counts && !side->displs && b < block; b++)
		at += side->counts[b];
	return side->user + at * extent;
}

/* Copies one block into flat, or out of it, at *at. */
static int block_copy(const struct rf_mpi_side *side, unsigned int block, bool in, int *at,
		      MPI_Comm comm)
{
	MPI_Aint lower, extent;
	char *user;
	int ret;

	if (PMPI_Type_get_extent(side->type, &lower, &extent) != MPI_SUCCESS)
		return RF_ERR_INTERNAL;
	user = place_of(side, block, extent);
	if (in)
		ret = PMPI_Pack(user, count_of(side, block), side->type, side->flat,
				(int)side->bytes, at, comm);
	else
		ret = PMPI_Unpack(side->flat, (int)side->bytes, at, user, count_of(side, block),
				  side->type, comm);
	return ret == MPI_SUCCESS ? RF_OK : RF_ERR_INTERNAL;
}

static int side_copy(const struct rf_mpi_side *side, bool in, MPI_Comm comm)
{
	int at = 0, ret = RF_OK;

	for (unsigned int b = 0; b < side->blocks && !ret; b++)
		ret = block_copy(side, b, in, &at, comm);
	return ret;
}

/* Whether the elements lie one after another, aligned for their reduction. */
static bool side_is_flat(const struct rf_mpi_side *side, bool reduced)
{
	size_t size;
	int type, next = 0;

	if (!rf_mpi_type_look(side->type, &size, &type))
		return false;
	if (reduced && (uintptr_t)side->user % size)
		return false;
	for (unsigned int b = 0; side->displs && b < side->blocks; b++) {
		if (side->counts[b] && side->displs[b] != next)
			return false;
		next += side->counts[b];
	}
	return true;
}

/* Finds the flat form of a side: the program's memory, or a copy without contents yet. */
static int side_open(struct rf_mpi_side *side, bool reduced, bool lasting)
{
	size_t size = 0, total = 0;

	if (!side->user && !side->blocks)
		return RF_OK;
	if (!rf_mpi_size_of(side->type, &size))
		return RF_ERR_INTERNAL;
	for (unsigned int b = 0; b < side->blocks; b++)
		total += (size_t)count_of(side, b);
	side->bytes = total * size;
	side->flat = side->user;
	if (side_is_flat(side, reduced))
		return RF_OK;
	side->flat = malloc(side->bytes ? side->bytes : 1);
	if (!side->flat)
		return RF_ERR_NO_MEMORY;
	side->owned = true;
	if (lasting)
		side->dup = PMPI_Type_dup(side->type, &side->type) == MPI_SUCCESS;
	return RF_OK;
}

static void side_close(struct rf_mpi_side *side)
{
	if (side->owned)
		free(side->flat);
	if (side->dup)
		PMPI_Type_free(&side->type);
	side->owned = side->dup = false;
}

static struct rf_mpi_side side_of(const void *user, int count, MPI_Datatype type,
				  unsigned int blocks)
{
	struct rf_mpi_side side = {.user = (char *)(uintptr_t)user, .type = type};

	side.count = count;
	side.blocks = blocks;
	return side;
}

/* The counts of the blocks, in elements of `size` bytes times `factor`. */
static int counts_make(struct rf_mpi_stage *s, const int *counts, unsigned int ranks, size_t factor)
{
	s->counts = malloc(ranks * sizeof(*s->counts));
	if (!s->counts)
		return RF_ERR_NO_MEMORY;
	for (unsigned int r = 0; r < ranks; r++)
		s->counts[r] = (size_t)counts[r] * factor;
	return RF_OK;
}

static int stage_reduction(struct rf_mpi_stage *s, const struct rf_mpi_args *a, unsigned int rank,
			   unsigned int ranks, bool lasting, struct rf_mpi_call *call)
{
	bool in_place = a->send == MPI_IN_PLACE, scatters = a->kind != RF_MPI_ALLREDUCE;
	bool receives = a->kind != RF_MPI_REDUCE || (int)rank == a->root;
	int own = a->kind == RF_MPI_REDUCE_SCATTER ? a->counts[rank] : a->recv_count;
	unsigned int blocks = a->kind == RF_MPI_REDUCE_SCATTER_BLOCK ? ranks : 1;
	size_t size;
	int type, ret = RF_OK;

	scatters = scatters && a->kind != RF_MPI_REDUCE;
	rf_mpi_type_look(a->recv_type, &size, &type);
	call->type = (enum rf_type)type;
	call->op = (enum rf_op)rf_mpi_op_look(a->op);
	call->count = (size_t)a->recv_count;
	s->send = side_of(in_place ? a->recv : a->send, a->recv_count, a->recv_type, blocks);
	if (a->kind == RF_MPI_REDUCE_SCATTER) {
		s->send.counts = a->counts;
		s->send.blocks = ranks;
		ret = counts_make(s, a->counts, ranks, 1);
	}
	if (!ret)
		ret = side_open(&s->send, true, lasting);
	if (!ret && s->send.owned)
		ret = side_copy(&s->send, true, s->comm);
	if (ret || !receives)
		return ret;
	s->recv = side_of(a->recv, own, a->recv_type, 1);
	ret = side_open(&s->recv, true, lasting);
	if (!ret && in_place && scatters && !s->recv.owned) {
		/* the result goes to the beginning of the operands, which may have to travel again
		 */
		s->recv.flat = malloc(s->recv.bytes ? s->recv.bytes : 1);
		s->recv.owned = s->recv.flat != NULL;
		ret = s->recv.owned ? RF_OK : RF_ERR_NO_MEMORY;
	}
	if (!ret && in_place && !scatters && s->send.owned) {
		/* one copy for both */
		side_close(&s->recv);
		s->recv.flat = s->send.flat;
		s->back = true;
	}
	return ret;
}

/* One of the sides has a block for each rank, the other one this rank's block. */
static int stage_blocks(struct rf_mpi_stage *s, struct rf_mpi_side *one, struct rf_mpi_side *many,
			bool in_place, unsigned int rank, bool lasting)
{
	bool sends = one == &s->send;
	size_t offset = 0;
	int at, ret;

	ret = side_open(many, false, lasting);
	if (ret)
		return ret;
	for (unsigned int b = 0; many->blocks && b < rank; b++)
		offset += many->bytes ? (size_t)count_of(many, b) : 0;
	if (many->blocks) {
		size_t size = 0;

		rf_mpi_size_of(many->type, &size);
		offset *= size;
	}
	at = (int)offset;
	if (!sends && many->owned)
		ret = side_copy(many, true, s->comm);
	if (in_place) {
		if (!ret && sends && many->owned)
			ret = block_copy(many, rank, true, &at, s->comm);
		one->flat = many->flat + offset;
		return ret;
	}
	if (!ret)
		ret = side_open(one, false, lasting);
	if (!ret && sends && one->owned)
		ret = side_copy(one, true, s->comm);
	return ret;
}

static int stage_moves(struct rf_mpi_stage *s, const struct rf_mpi_args *a, unsigned int rank,
		       unsigned int ranks, bool lasting, struct rf_mpi_call *call)
{
	bool is_root = (int)rank == a->root;
	bool scatter = a->kind == RF_MPI_SCATTER;
	bool has_all = is_root || a->kind == RF_MPI_ALLGATHER || a->kind == RF_MPI_ALLGATHERV;
	bool in_place = scatter ? a->recv == MPI_IN_PLACE : a->send == MPI_IN_PLACE;
	struct rf_mpi_side *one = scatter ? &s->recv : &s->send;
	struct rf_mpi_side *many = scatter ? &s->send : &s->recv;
	size_t size = 0;
	int ret = RF_OK;

	if (scatter) {
		if (!in_place)
			*one = side_of(a->recv, a->recv_count, a->recv_type, 1);
		if (has_all)
			*many = side_of(a->send, a->send_count, a->send_type, ranks);
	} else {
		if (!in_place)
			*one = side_of(a->send, a->send_count, a->send_type, 1);
		if (has_all)
			*many = side_of(a->recv, a->recv_count, a->recv_type, ranks);
	}
	if (a->kind == RF_MPI_ALLGATHERV) {
		many->counts = a->counts;
		many->displs = a->displs;
		rf_mpi_size_of(a->recv_type, &size);
		ret = counts_make(s, a->counts, ranks, size);
	}
	if (!ret)
		ret = stage_blocks(s, one, many, in_place, rank, lasting);
	call->count = has_all ? many->bytes / ranks : one->bytes;
	return ret;
}

static int stage_broadcast(struct rf_mpi_stage *s, const struct rf_mpi_args *a, unsigned int rank,
			   bool lasting, struct rf_mpi_call *call)
{
	struct rf_mpi_side *side = (int)rank == a->root ? &s->send : &s->recv;
	int ret;

	*side = side_of(a->recv, a->recv_count, a->recv_type, 1);
	ret = side_open(side, false, lasting);
	if (!ret && side == &s->send && side->owned)
		ret = side_copy(side, true, s->comm);
	call->count = side->bytes;
	return ret;
}

static void stage_free(struct rf_mpi_stage *s)
{
	side_close(&s->send);
	side_close(&s->recv);
	free(s->counts);
	s->counts = NULL;
}

int rf_mpi_stage_begin(struct rf_mpi_stage *s, const struct rf_mpi_args *a, unsigned int rank,
		       unsigned int ranks, MPI_Comm comm, bool lasting, struct rf_mpi_call *call)
{
	int ret = RF_OK;

	memset(s, 0, sizeof(*s));
	memset(call, 0, sizeof(*call));
	s->comm = comm;
	call->kind = a->kind;
	call->type = RF_UINT8;
	call->root = (unsigned int)a->root;
	switch (a->kind) {
	case RF_MPI_BARRIER:
		break;
	case RF_MPI_BCAST:
		ret = stage_broadcast(s, a, rank, lasting, call);
		break;
	case RF_MPI_ALLGATHER:
	case RF_MPI_ALLGATHERV:
	case RF_MPI_GATHER:
	case RF_MPI_SCATTER:
		ret = stage_moves(s, a, rank, ranks, lasting, call);
		break;
	default:
		ret = stage_reduction(s, a, rank, ranks, lasting, call);
		break;
	}
	call->send = s->send.flat;
	call->recv = s->recv.flat;
	call->counts = s->counts;
	if (ret)
		stage_free(s);
	return ret;
}

int rf_mpi_stage_end(struct rf_mpi_stage *s, bool good)
{
	int ret = RF_OK;

	if (good && s->recv.owned)
		ret = side_copy(&s->recv, false, s->comm);
	else if (good && s->back)
		ret = side_copy(&s->send, false, s->comm);
	stage_free(s);
	return ret;
}

int rf_mpi_error_class(int status)
{
	switch (status) {
	case RF_OK:
		return MPI_SUCCESS;
	case RF_ERR_NO_MEMORY:
		return MPI_ERR_NO_MEM;
	case RF_ERR_INVALID:
		return MPI_ERR_ARG;
	case RF_ERR_INTERNAL:
		return MPI_ERR_INTERN;
	default:
		return MPI_ERR_OTHER;
	}
}
