/* Tables of types and operations. */
#include "integrations/mpi/calls/types.h"

#include <stdint.h>

#include "integrations/mpi/core/rf_mpi.h"

#define SIGNED_OF(size)                                                                            \
	((size) == 8 ? RF_INT64 : (size) == 4 ? RF_INT32 : (size) == 1 ? RF_INT8 : RF_MPI_NONE)
#define UNSIGNED_OF(size)                                                                          \
	((size) == 8 ? RF_UINT64 : (size) == 4 ? RF_UINT32 : (size) == 1 ? RF_UINT8 : RF_MPI_NONE)

struct row {
	MPI_Datatype datatype;
	short size;
	short type;
};

/* Handles of Open MPI are addresses, and constant for the linker only: so the table is not const.
 */
static struct row rows[] = {
	{MPI_DOUBLE, 8, RF_FP64},
	{MPI_FLOAT, 4, RF_FP32},
	{MPI_INT, 4, RF_INT32},
	{MPI_LONG, sizeof(long), SIGNED_OF(sizeof(long))},
	{MPI_BYTE, 1, RF_UINT8},
	{MPI_CHAR, 1, RF_INT8},
	{MPI_UNSIGNED_LONG, sizeof(long), UNSIGNED_OF(sizeof(long))},
	{MPI_UNSIGNED, 4, RF_UINT32},
	{MPI_LONG_LONG_INT, 8, RF_INT64},
	{MPI_UNSIGNED_LONG_LONG, 8, RF_UINT64},
	{MPI_DOUBLE_PRECISION, 8, RF_FP64},
	{MPI_REAL, 4, RF_FP32},
	{MPI_INTEGER, 4, RF_INT32},
	{MPI_INT8_T, 1, RF_INT8},
	{MPI_UINT8_T, 1, RF_UINT8},
	{MPI_INT32_T, 4, RF_INT32},
	{MPI_UINT32_T, 4, RF_UINT32},
	{MPI_INT64_T, 8, RF_INT64},
	{MPI_UINT64_T, 8, RF_UINT64},
	{MPI_SIGNED_CHAR, 1, RF_INT8},
	{MPI_UNSIGNED_CHAR, 1, RF_UINT8},
	{MPI_REAL4, 4, RF_FP32},
	{MPI_REAL8, 8, RF_FP64},
	{MPI_INTEGER1, 1, RF_INT8},
	{MPI_INTEGER4, 4, RF_INT32},
	{MPI_INTEGER8, 8, RF_INT64},
	{MPI_AINT, sizeof(MPI_Aint), SIGNED_OF(sizeof(MPI_Aint))},
	{MPI_OFFSET, sizeof(MPI_Offset), SIGNED_OF(sizeof(MPI_Offset))},
	{MPI_COUNT, sizeof(MPI_Count), SIGNED_OF(sizeof(MPI_Count))},
	/* moved, not reduced */
	{MPI_SHORT, 2, RF_MPI_NONE},
	{MPI_UNSIGNED_SHORT, 2, RF_MPI_NONE},
	{MPI_INT16_T, 2, RF_MPI_NONE},
	{MPI_UINT16_T, 2, RF_MPI_NONE},
	{MPI_CHARACTER, 1, RF_MPI_NONE},
	{MPI_C_FLOAT_COMPLEX, 8, RF_MPI_NONE},
	{MPI_C_DOUBLE_COMPLEX, 16, RF_MPI_NONE},
	{MPI_COMPLEX, 8, RF_MPI_NONE},
	{MPI_DOUBLE_COMPLEX, 16, RF_MPI_NONE},
};

/* The rows by their handles: open addressing, at most a third of it full. */
#define SLOTS 128
static const struct row *slots[SLOTS];

_Static_assert(sizeof(rows) / sizeof(rows[0]) * 3 <= SLOTS, "SLOTS is too small");

static unsigned int slot_of(MPI_Datatype datatype)
{
	return (uint32_t)((uint32_t)(uintptr_t)datatype * 0x9e3779b1u) >> 25;
}

/* Before main(), when the handles are known, so that no thread waits for it. */
__attribute__((constructor)) static void slots_fill(void)
{
	for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++) {
		unsigned int at = slot_of(rows[k].datatype);

		/* of two names for one type the first row counts */
		while (slots[at] && slots[at]->datatype != rows[k].datatype)
			at = (at + 1) % SLOTS;
		if (!slots[at])
			slots[at] = &rows[k];
	}
}

bool rf_mpi_type_look(MPI_Datatype datatype, size_t *size, int *type)
{
	for (unsigned int at = slot_of(datatype); slots[at]; at = (at + 1) % SLOTS) {
		if (slots[at]->datatype == datatype) {
			*size = (size_t)slots[at]->size;
			*type = slots[at]->type;
			return true;
		}
	}
	return false;
}

bool rf_mpi_size_of(MPI_Datatype type, size_t *size)
{
	int bytes, unused;

	if (type == MPI_DATATYPE_NULL)
		return false;
	if (rf_mpi_type_look(type, size, &unused))
		return true;
	if (PMPI_Type_size(type, &bytes) != MPI_SUCCESS || bytes < 0)
		return false;
	*size = (size_t)bytes;
	return true;
}

int rf_mpi_op_look(MPI_Op op)
{
	if (op == MPI_SUM)
		return RF_SUM;
	if (op == MPI_MAX)
		return RF_MAX;
	if (op == MPI_MIN)
		return RF_MIN;
	if (op == MPI_BAND)
		return RF_AND;
	if (op == MPI_BOR)
		return RF_OR;
	if (op == MPI_BXOR)
		return RF_XOR;
	return RF_MPI_NONE;
}
