/*
 * From the arguments of MPI's calls to those of the core. Compiled once for each MPI, with its own
 * mpi.h; it uses nothing that is not in MPI's standard.
 *
 * What is not reduced travels as bytes, because only the type signature of these calls is equal on
 * all ranks, not the type: one rank may send four MPI_INT, another one receive a vector of them.
 */
#ifndef RF_MPI_CALLS_TRANSLATE_H
#define RF_MPI_CALLS_TRANSLATE_H

#include <mpi.h>

#include "integrations/mpi/core/rf_mpi.h"

/* The arguments of one call. What the call does not have, or this rank does not use, is 0. */
struct rf_mpi_args {
	enum rf_mpi_kind kind;
	const void *send; /* or MPI_IN_PLACE; the buffer of a broadcast at its root */
	int send_count;
	MPI_Datatype send_type;
	void *recv; /* or MPI_IN_PLACE; the buffer of a broadcast elsewhere */
	int recv_count;
	const int *counts; /* of MPI_Allgatherv and MPI_Reduce_scatter */
	const int *displs;
	MPI_Datatype recv_type; /* the type of a reduction */
	MPI_Op op;
	int root;
};

/* One buffer of a call, as the program has it and as the box needs it: without gaps. */
struct rf_mpi_side {
	char *user;
	MPI_Datatype type;
	unsigned int blocks;
	int count; /* elements of a block, if counts is NULL */
	const int *counts;
	const int *displs;
	char *flat;
	size_t bytes; /* of flat */
	bool owned;   /* flat is a copy */
	bool dup;     /* type is a duplicate, for a call that has not ended */
};

struct rf_mpi_stage {
	struct rf_mpi_side send;
	struct rf_mpi_side recv;
	bool back; /* the result is in the copy of the operands */
	size_t *counts;
	MPI_Comm comm;
};

/*
 * Makes the call of the core, with copies of buffers that have gaps or are not aligned. lasting:
 * the program may free its types before the call has ended. Returns 0 or RF_ERR_NO_MEMORY,
 * RF_ERR_INTERNAL; then there is nothing to end.
 */
int rf_mpi_stage_begin(struct rf_mpi_stage *s, const struct rf_mpi_args *a, unsigned int rank,
		       unsigned int ranks, MPI_Comm comm, bool lasting, struct rf_mpi_call *call);
/* Copies results to where the program wants them, if the call was successful; frees the copies. */
int rf_mpi_stage_end(struct rf_mpi_stage *s, bool good);

/* The class of MPI's errors for an enum rf_status. */
int rf_mpi_error_class(int status);

#endif
