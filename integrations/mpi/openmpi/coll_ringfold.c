/*
 * The coll component of Open MPI 4.1: mca_coll_ringfold.so.
 *
 * Open MPI asks each component for a module for each communicator, and takes every function from
 * the module of the highest priority that has it. This module has the collectives of the box, and
 * keeps the functions that it replaces: what the core does not take goes to them, unchanged.
 */
#include "ompi_config.h"

#include <mpi.h>

#include "ompi/communicator/communicator.h"
#include "ompi/constants.h"
#include "ompi/mca/coll/base/base.h"
#include "ompi/mca/coll/coll.h"
#include "ompi/request/request.h"
#include "ompi/runtime/mpiruntime.h"
#include "opal/runtime/opal_progress.h"

#include "integrations/mpi/calls/serve.h"

/* Found by its name. */
extern const mca_coll_base_component_t mca_coll_ringfold_component;

struct rf_mpi_module {
	mca_coll_base_module_t super;
	struct rf_mpi_comm comm;
	MPI_Comm handle;
	mca_coll_base_comm_coll_t before; /* what this module replaces */
};
typedef struct rf_mpi_module rf_mpi_module_t;
OBJ_CLASS_DECLARATION(rf_mpi_module_t);

/*
 * The class of coll_base_util.h, which cannot be included: it needs a header that Debian does not
 * install. Open MPI notes the types and operations of every nonblocking collective in its request,
 * so ours must be of this class. component_query() compares the sizes.
 */
typedef struct {
	ompi_request_t super;
	void *callback;
	void *callback_data;
	void *objects[2];
} ompi_coll_base_nbc_request_t;
OMPI_DECLSPEC OBJ_CLASS_DECLARATION(ompi_coll_base_nbc_request_t);

struct rf_mpi_request {
	ompi_coll_base_nbc_request_t super;
	struct rf_mpi_pending pending;
	struct rf_mpi_request *next;
};
typedef struct rf_mpi_request rf_mpi_request_t;
OBJ_CLASS_DECLARATION(rf_mpi_request_t);

static opal_mutex_t lock = OPAL_MUTEX_STATIC_INIT;
static rf_mpi_request_t *outstanding; /* under the lock */
static bool polling;                  /* poll() is registered */

/* By the functions that this module replaces. */
static int allgather_bytes(void *arg, const void *own, void *all, size_t bytes)
{
	rf_mpi_module_t *m = arg;

	return m->before.coll_allgather(own, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE,
					m->handle, m->before.coll_allgather_module);
}

static int serve(rf_mpi_module_t *m, const struct rf_mpi_args *a)
{
	const struct rf_mpi_hooks hooks = {m, allgather_bytes};

	return rf_mpi_serve(&m->comm, m->handle, a, &hooks);
}

/* ---- nonblocking calls: polled by Open MPI's progress engine ---- */

static int poll(void)
{
	rf_mpi_request_t *done = NULL, *r;
	int n = 0;

	if (!outstanding || opal_mutex_trylock(&lock))
		return 0;
	for (rf_mpi_request_t **at = &outstanding; *at;) {
		r = *at;
		if (!rf_mpi_pending_done(&r->pending, &r->super.super.req_status.MPI_ERROR)) {
			at = &r->next;
			continue;
		}
		*at = r->next;
		r->next = done;
		done = r;
		n++;
	}
	opal_mutex_unlock(&lock);
	/* a completed request may be freed at once, by another thread */
	while ((r = done)) {
		done = r->next;
		ompi_request_complete(&r->super.super, true);
	}
	return n;
}

static int request_free(ompi_request_t **request)
{
	if (!REQUEST_COMPLETE(*request))
		return MPI_ERR_REQUEST;
	OMPI_REQUEST_FINI(*request);
	OBJ_RELEASE(*request);
	*request = MPI_REQUEST_NULL;
	return OMPI_SUCCESS;
}

static int request_cancel(ompi_request_t *request, int flag)
{
	(void)request;
	(void)flag;
	return MPI_ERR_REQUEST;
}

static void request_construct(rf_mpi_request_t *r)
{
	r->super.super.req_type = OMPI_REQUEST_COLL;
	r->super.super.req_free = request_free;
	r->super.super.req_cancel = request_cancel;
	r->next = NULL;
}

OBJ_CLASS_INSTANCE(rf_mpi_request_t, ompi_coll_base_nbc_request_t, request_construct, NULL);

static int serve_start(rf_mpi_module_t *m, const struct rf_mpi_args *a, ompi_request_t **request)
{
	const struct rf_mpi_hooks hooks = {m, allgather_bytes};
	struct rf_mpi_pending pending;
	rf_mpi_request_t *r;
	int ret = rf_mpi_serve_start(&m->comm, m->handle, a, &hooks, &pending);

	if (ret != MPI_SUCCESS)
		return ret;
	r = OBJ_NEW(rf_mpi_request_t);
	if (!r) {
		/* without an object nobody can wait for it later */
		while (!rf_mpi_pending_done(&pending, &ret))
			opal_progress();
		*request = &ompi_request_empty;
		return ret;
	}
	OMPI_REQUEST_INIT(&r->super.super, false);
	r->super.super.req_state = OMPI_REQUEST_ACTIVE;
	r->super.super.req_mpi_object.comm = m->handle;
	r->super.super.req_status.MPI_ERROR = MPI_SUCCESS;
	r->super.super.req_status._cancelled = 0;
	r->super.super.req_status._ucount = 0;
	r->pending = pending;
	opal_mutex_lock(&lock);
	r->next = outstanding;
	outstanding = r;
	if (!polling)
		opal_progress_register(poll);
	polling = true;
	opal_mutex_unlock(&lock);
	*request = &r->super.super;
	return OMPI_SUCCESS;
}

/* ---- the functions of a module: each exists in a blocking and a nonblocking form ---- */

/* params: with types, in parentheses; names: the same without; ...: members of struct rf_mpi_args
 */
#define COLLECTIVE(name, params, names, ...)                                                       \
	static int name(UNPACK params, struct ompi_communicator_t *comm,                           \
			mca_coll_base_module_t *module)                                            \
	{                                                                                          \
		rf_mpi_module_t *m = (rf_mpi_module_t *)module;                                    \
		const struct rf_mpi_args a = {__VA_ARGS__};                                        \
		int ret = serve(m, &a);                                                            \
                                                                                                   \
		if (ret != RF_MPI_PASS)                                                            \
			return ret;                                                                \
		return m->before.coll_##name(UNPACK names, comm, m->before.coll_##name##_module);  \
	}                                                                                          \
	static int i##name(UNPACK params, struct ompi_communicator_t *comm,                        \
			   ompi_request_t **request, mca_coll_base_module_t *module)               \
	{                                                                                          \
		rf_mpi_module_t *m = (rf_mpi_module_t *)module;                                    \
		const struct rf_mpi_args a = {__VA_ARGS__};                                        \
		int ret = serve_start(m, &a, request);                                             \
                                                                                                   \
		if (ret != RF_MPI_PASS)                                                            \
			return ret;                                                                \
		return m->before.coll_i##name(UNPACK names, comm, request,                         \
					      m->before.coll_i##name##_module);                    \
	}
#define UNPACK(...) __VA_ARGS__

COLLECTIVE(allreduce, (const void *s, void *r, int n, MPI_Datatype t, MPI_Op op), (s, r, n, t, op),
	   .kind = RF_MPI_ALLREDUCE, .send = s, .recv = r, .recv_count = n, .recv_type = t,
	   .op = op)
COLLECTIVE(reduce, (const void *s, void *r, int n, MPI_Datatype t, MPI_Op op, int root),
	   (s, r, n, t, op, root), .kind = RF_MPI_REDUCE, .send = s, .recv = r, .recv_count = n,
	   .recv_type = t, .op = op, .root = root)
COLLECTIVE(bcast, (void *b, int n, MPI_Datatype t, int root), (b, n, t, root), .kind = RF_MPI_BCAST,
	   .recv = b, .recv_count = n, .recv_type = t, .root = root)
COLLECTIVE(allgather, (const void *s, int sn, MPI_Datatype st, void *r, int rn, MPI_Datatype rt),
	   (s, sn, st, r, rn, rt), .kind = RF_MPI_ALLGATHER, .send = s, .send_count = sn,
	   .send_type = st, .recv = r, .recv_count = rn, .recv_type = rt)
COLLECTIVE(allgatherv,
	   (const void *s, int sn, MPI_Datatype st, void *r, const int *rn, const int *at,
	    MPI_Datatype rt),
	   (s, sn, st, r, rn, at, rt), .kind = RF_MPI_ALLGATHERV, .send = s, .send_count = sn,
	   .send_type = st, .recv = r, .counts = rn, .displs = at, .recv_type = rt)
COLLECTIVE(reduce_scatter, (const void *s, void *r, const int *n, MPI_Datatype t, MPI_Op op),
	   (s, r, n, t, op), .kind = RF_MPI_REDUCE_SCATTER, .send = s, .recv = r, .counts = n,
	   .recv_type = t, .op = op)
COLLECTIVE(reduce_scatter_block, (const void *s, void *r, int n, MPI_Datatype t, MPI_Op op),
	   (s, r, n, t, op), .kind = RF_MPI_REDUCE_SCATTER_BLOCK, .send = s, .recv = r,
	   .recv_count = n, .recv_type = t, .op = op)
COLLECTIVE(gather,
	   (const void *s, int sn, MPI_Datatype st, void *r, int rn, MPI_Datatype rt, int root),
	   (s, sn, st, r, rn, rt, root), .kind = RF_MPI_GATHER, .send = s, .send_count = sn,
	   .send_type = st, .recv = r, .recv_count = rn, .recv_type = rt, .root = root)
COLLECTIVE(scatter,
	   (const void *s, int sn, MPI_Datatype st, void *r, int rn, MPI_Datatype rt, int root),
	   (s, sn, st, r, rn, rt, root), .kind = RF_MPI_SCATTER, .send = s, .send_count = sn,
	   .send_type = st, .recv = r, .recv_count = rn, .recv_type = rt, .root = root)

static int barrier(struct ompi_communicator_t *comm, mca_coll_base_module_t *module)
{
	rf_mpi_module_t *m = (rf_mpi_module_t *)module;
	const struct rf_mpi_args a = {.kind = RF_MPI_BARRIER};
	int ret = serve(m, &a);

	if (ret != RF_MPI_PASS)
		return ret;
	return m->before.coll_barrier(comm, m->before.coll_barrier_module);
}

static int ibarrier(struct ompi_communicator_t *comm, ompi_request_t **request,
		    mca_coll_base_module_t *module)
{
	rf_mpi_module_t *m = (rf_mpi_module_t *)module;
	const struct rf_mpi_args a = {.kind = RF_MPI_BARRIER};
	int ret = serve_start(m, &a, request);

	if (ret != RF_MPI_PASS)
		return ret;
	return m->before.coll_ibarrier(comm, request, m->before.coll_ibarrier_module);
}

/* ---- the module of a communicator ---- */

static void progress(void)
{
	opal_progress();
}

static int module_enable(mca_coll_base_module_t *module, struct ompi_communicator_t *comm)
{
	rf_mpi_module_t *m = (rf_mpi_module_t *)module;
	const struct rf_mpi_hooks hooks = {m, allgather_bytes};
	unsigned int rank = (unsigned int)ompi_comm_rank(comm);
	unsigned int ranks = (unsigned int)ompi_comm_size(comm);

	m->handle = comm;
	m->before = *comm->c_coll;
	if (comm != MPI_COMM_WORLD) {
		rf_mpi_comm_init(&m->comm, rank, ranks);
		return OMPI_SUCCESS;
	}
	if (rf_mpi_open(&m->comm, rank, ranks, &hooks, progress))
		ompi_mpi_abort(comm, 1); /* RINGFOLD_MPI=2; the cause has been logged */
	return rf_mpi_is_on() ? OMPI_SUCCESS : OMPI_ERROR;
}

static void module_construct(rf_mpi_module_t *m)
{
	m->super.coll_module_enable = module_enable;
	m->super.coll_allreduce = allreduce;
	m->super.coll_iallreduce = iallreduce;
	m->super.coll_reduce = reduce;
	m->super.coll_ireduce = ireduce;
	m->super.coll_bcast = bcast;
	m->super.coll_ibcast = ibcast;
	m->super.coll_barrier = barrier;
	m->super.coll_ibarrier = ibarrier;
	m->super.coll_allgather = allgather;
	m->super.coll_iallgather = iallgather;
	m->super.coll_allgatherv = allgatherv;
	m->super.coll_iallgatherv = iallgatherv;
	m->super.coll_reduce_scatter = reduce_scatter;
	m->super.coll_ireduce_scatter = ireduce_scatter;
	m->super.coll_reduce_scatter_block = reduce_scatter_block;
	m->super.coll_ireduce_scatter_block = ireduce_scatter_block;
	m->super.coll_gather = gather;
	m->super.coll_igather = igather;
	m->super.coll_scatter = scatter;
	m->super.coll_iscatter = iscatter;
	rf_mpi_comm_init(&m->comm, 0, 1);
}

static void module_destruct(rf_mpi_module_t *m)
{
	rf_mpi_comm_end(&m->comm);
}

OBJ_CLASS_INSTANCE(rf_mpi_module_t, mca_coll_base_module_t, module_construct, module_destruct);

/* ---- the component ---- */

static int priority = 95; /* above all that move data themselves */

static int component_register(void)
{
	return mca_base_component_var_register(&mca_coll_ringfold_component.collm_version,
					       "priority", "Priority of the ringfold component",
					       MCA_BASE_VAR_TYPE_INT, NULL, 0, 0, OPAL_INFO_LVL_6,
					       MCA_BASE_VAR_SCOPE_READONLY, &priority) < 0
		       ? OMPI_ERROR
		       : OMPI_SUCCESS;
}

static int component_close(void)
{
	if (polling)
		opal_progress_unregister(poll);
	polling = false;
	rf_mpi_close();
	return OMPI_SUCCESS;
}

static int component_query(bool enable_progress_threads, bool enable_mpi_threads)
{
	(void)enable_progress_threads;
	(void)enable_mpi_threads;
	if (OBJ_CLASS(ompi_coll_base_nbc_request_t)->cls_sizeof !=
	    sizeof(ompi_coll_base_nbc_request_t))
		return OMPI_ERROR; /* another Open MPI than the one that this was built for */
	return OMPI_SUCCESS;
}

static mca_coll_base_module_t *comm_query(struct ompi_communicator_t *comm, int *wanted)
{
	rf_mpi_module_t *m;

	/* MPI_COMM_WORLD comes first; there the ranks agree whether ringfold is on */
	if (OMPI_COMM_IS_INTER(comm) || ompi_comm_size(comm) < 2 ||
	    (comm != MPI_COMM_WORLD && !rf_mpi_is_on()))
		return NULL;
	m = OBJ_NEW(rf_mpi_module_t);
	if (!m)
		return NULL;
	*wanted = priority;
	return &m->super;
}

const mca_coll_base_component_t mca_coll_ringfold_component = {
	.collm_version =
		{
			MCA_COLL_BASE_VERSION_2_0_0,
			.mca_component_name = "ringfold",
			.mca_component_major_version = RF_VERSION_MAJOR,
			.mca_component_minor_version = RF_VERSION_MINOR,
			.mca_component_release_version = RF_VERSION_PATCH,
			.mca_close_component = component_close,
			.mca_register_component_params = component_register,
		},
	.collm_data = {.param_field = MCA_BASE_METADATA_PARAM_NONE},
	.collm_init_query = component_query,
	.collm_comm_query = comm_query,
};
