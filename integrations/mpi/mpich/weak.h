/*
 * What the preload needs of MPI, as weak symbols: a program that is not one of MPI has none of them
 * and starts all the same, also if the loader binds everything at once. Included before each file.
 */
#ifndef RF_MPI_MPICH_WEAK_H
#define RF_MPI_MPICH_WEAK_H

#pragma weak PMPI_Allgather
#pragma weak PMPI_Comm_call_errhandler
#pragma weak PMPI_Comm_create_keyval
#pragma weak PMPI_Comm_delete_attr
#pragma weak PMPI_Comm_dup
#pragma weak PMPI_Comm_free
#pragma weak PMPI_Comm_free_keyval
#pragma weak PMPI_Comm_get_attr
#pragma weak PMPI_Comm_rank
#pragma weak PMPI_Comm_set_attr
#pragma weak PMPI_Comm_size
#pragma weak PMPI_Comm_test_inter
#pragma weak PMPI_Grequest_complete
#pragma weak PMPI_Iprobe
#pragma weak PMPI_Pack
#pragma weak PMPI_Status_set_cancelled
#pragma weak PMPI_Status_set_elements
#pragma weak PMPI_Type_dup
#pragma weak PMPI_Type_free
#pragma weak PMPI_Type_get_extent
#pragma weak PMPI_Type_size
#pragma weak PMPI_Unpack
#pragma weak PMPIX_Grequest_start

#endif
