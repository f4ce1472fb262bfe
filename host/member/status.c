/* Names and descriptions of statuses, types and operations. */
#include "host/collective/arith.h"
#include "proto/rf_imm.h"
#include "ringfold/ringfold.h"

#define STR2(x) #x
#define STR(x) STR2(x)

const char *rf_version(void)
{
	return STR(RF_VERSION_MAJOR) "." STR(RF_VERSION_MINOR) "." STR(RF_VERSION_PATCH);
}

const char *rf_strerror(int status)
{
	switch (status) {
	case RF_OK:
		return "success";
	case RF_IN_PROGRESS:
		return "not complete yet";
	case RF_ERR_INVALID:
		return "an argument or setting is wrong";
	case RF_ERR_NO_MEMORY:
		return "no memory";
	case RF_ERR_SYSTEM:
		return "the operating system refused something";
	case RF_ERR_DEVICE:
		return "the network device cannot be used";
	case RF_ERR_BOOTSTRAP:
		return "the store of the job cannot be used";
	case RF_ERR_RANK_MISSING:
		return "some ranks did not arrive in time";
	case RF_ERR_RANK_TAKEN:
		return "another process has this rank";
	case RF_ERR_RANK_LOST:
		return "the process of a rank has ended";
	case RF_ERR_BOX_SILENT:
		return "the box does not answer";
	case RF_ERR_BOX_REFUSED:
		return "the box refused or ended the group";
	case RF_ERR_STEERING:
		return "the check of the path through the box failed";
	case RF_ERR_MISMATCH:
		return "ranks disagree";
	case RF_ERR_TRANSPORT:
		return "a connection to a peer has failed";
	case RF_ERR_TIMEOUT:
		return "a deadline has passed";
	case RF_ERR_ABORTED:
		return "the communicator was aborted";
	case RF_ERR_GROUP_FAILED:
		return "the communicator failed in an earlier call";
	case RF_ERR_BUSY:
		return "too many outstanding requests, or still in use";
	case RF_ERR_INTERNAL:
		return "a bug in the library";
	}
	return "unknown status";
}

size_t rf_type_size(enum rf_type type)
{
	return rf_arith_size((enum rf_arith_type)type);
}

const char *rf_type_name(enum rf_type type)
{
	const char *name = rf_imm_type_name((unsigned int)type);

	return name ? name : "unknown";
}

const char *rf_op_name(enum rf_op op)
{
	const char *name = op == RF_AVERAGE ? "average" : rf_imm_op_name((unsigned int)op);

	return name && (unsigned int)op != RF_ARITH_COPY ? name : "unknown";
}
