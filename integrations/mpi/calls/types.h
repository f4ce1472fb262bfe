/* MPI's predefined types and operations, and what the box has for them. */
#ifndef RF_MPI_CALLS_TYPES_H
#define RF_MPI_CALLS_TYPES_H

#include <mpi.h>

#include <stdbool.h>
#include <stddef.h>

/*
 * Whether elements of this predefined type lie without gaps; then *size is that of one, and *type
 * the enum rf_type with which it is reduced, or RF_MPI_NONE.
 */
bool rf_mpi_type_look(MPI_Datatype datatype, size_t *size, int *type);
/* Bytes of one element of any type; false if it is no type. */
bool rf_mpi_size_of(MPI_Datatype type, size_t *size);
/* enum rf_op, or RF_MPI_NONE. */
int rf_mpi_op_look(MPI_Op op);

#endif
