/*
 * The preload for MPICH and its family: libringfold-mpich.so.
 *
 * It stands before MPI's own library in the order of symbols, takes the collectives of the box, and
 * passes on everything else to what comes next in that order (dlsym(RTLD_NEXT)), which may be
 * another tool. Nothing of MPI is needed to load it.
 */
#include <mpi.h>

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/guard.h"
#include "integrations/mpi/calls/serve.h"
#include "integrations/mpi/mpich/weak.h"

/* The next function of this name. NEXT is used once in each function. */
#define NEXT(name, ...)                                                                            \
	({                                                                                         \
		static __typeof__(&(name)) next;                                                   \
                                                                                                   \
		if (!next)                                                                         \
			*(void **)&next = dlsym(RTLD_NEXT, #name);                                 \
		next(__VA_ARGS__);                                                                 \
	})

struct preload_comm {
	struct rf_mpi_comm comm;
	MPI_Comm handle;
};

static int keyval = MPI_KEYVAL_INVALID;
static atomic_uint deletions;          /* of communicators with an attribute of ours */
static MPI_Comm quiet = MPI_COMM_NULL; /* of all ranks; nobody sends in it */

static int allgather_bytes(void *arg, const void *own, void *all, size_t bytes)
{
	struct preload_comm *p = arg;

	return PMPI_Allgather(own, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE, p->handle) !=
	       MPI_SUCCESS;
}

/* ---- nonblocking calls: generalized requests that MPI polls ---- */

struct preload_request {
	struct rf_mpi_pending pending;
	struct preload_request *next; /* under the lock, until it is done */
	MPI_Request request;
	int error;
	bool done;
};

RF_LOCK_CLASS(preload_class);
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* Under the lock; progress() only looks whether there is one. */
static struct preload_request *outstanding;

/* Takes the results that are there: of one request, or of all if it is NULL. */
static void requests_poll(struct preload_request *only)
{
	struct preload_request *done = NULL, *r;

	/*
	 * MPI may hold its own lock here, and another thread ours, while it completes a request:
	 * so this does not wait for it.
	 */
	if (!rf_mutex_trylock(&lock, preload_class))
		return;
	for (struct preload_request **at = &outstanding; *at;) {
		r = *at;
		if ((only && r != only) || !rf_mpi_pending_done(&r->pending, &r->error)) {
			at = &r->next;
			continue;
		}
		*at = r->next;
		r->next = done;
		done = r;
	}
	rf_mutex_unlock(&lock, preload_class);
	while ((r = done)) {
		done = r->next;
		r->done = true;
		PMPI_Grequest_complete(r->request);
	}
}

/*
 * Looks for messages that nobody sends: MPI's own messages move meanwhile. Not in MPI_COMM_SELF,
 * which MPICH serves without a look at the network.
 */
static void progress(void)
{
	int flag;

	if (quiet == MPI_COMM_NULL)
		return;
	PMPI_Iprobe(MPI_ANY_SOURCE, 0, quiet, &flag, MPI_STATUS_IGNORE);
	if (outstanding)
		requests_poll(NULL);
}

static int request_poll(void *extra, MPI_Status *status)
{
	(void)status;
	requests_poll(extra);
	return MPI_SUCCESS;
}

static int request_wait(int count, void **extras, double timeout, MPI_Status *status)
{
	int left = count;

	(void)timeout;
	(void)status;
	while (left) {
		left = 0;
		for (int k = 0; k < count; k++)
			left += !((struct preload_request *)extras[k])->done;
		if (left)
			progress();
	}
	return MPI_SUCCESS;
}

/* ---- the state of a communicator is an attribute of it ---- */

static int comm_deleted(MPI_Comm comm, int key, void *value, void *extra)
{
	struct preload_comm *p = value;

	(void)comm;
	(void)key;
	(void)extra;
	/* the handle may be used again, for another communicator */
	atomic_fetch_add_explicit(&deletions, 1, memory_order_release);
	rf_mpi_comm_end(&p->comm);
	free(p);
	return MPI_SUCCESS;
}

static struct preload_comm *comm_add(MPI_Comm comm)
{
	struct preload_comm *p = calloc(1, sizeof(*p));
	int rank, ranks, inter;

	if (!p)
		return NULL;
	p->handle = comm;
	if (PMPI_Comm_rank(comm, &rank) || PMPI_Comm_size(comm, &ranks) ||
	    PMPI_Comm_test_inter(comm, &inter) || PMPI_Comm_set_attr(comm, keyval, p)) {
		free(p);
		return NULL;
	}
	/* an intercommunicator is never served: as one rank alone */
	rf_mpi_comm_init(&p->comm, inter ? 0 : (unsigned int)rank, inter ? 1 : (unsigned int)ranks);
	return p;
}

static struct preload_comm *comm_find(MPI_Comm comm)
{
	struct preload_comm *p;
	int found;

	if (PMPI_Comm_get_attr(comm, keyval, &p, &found))
		return NULL;
	return found ? p : comm_add(comm);
}

/* With the latest communicator of each thread at hand, because MPI needs long to find an attribute.
 */
static inline struct preload_comm *comm_of(MPI_Comm comm)
{
	static _Thread_local struct {
		struct preload_comm *p;
		MPI_Comm handle;
		unsigned int deletions;
	} latest __attribute__((tls_model("initial-exec")));
	unsigned int now;

	if (!rf_mpi_is_on() || comm == MPI_COMM_NULL)
		return NULL;
	now = atomic_load_explicit(&deletions, memory_order_acquire);
	if (latest.p && latest.handle == comm && latest.deletions == now)
		return latest.p;
	latest.p = comm_find(comm);
	latest.handle = comm;
	latest.deletions = now;
	return latest.p;
}

/* ---- begin and end ---- */

static void begin(void)
{
	struct preload_comm *p;
	struct rf_mpi_hooks hooks = {NULL, allgather_bytes};
	int ret;

	if (PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, comm_deleted, &keyval, NULL))
		return;
	p = comm_add(MPI_COMM_WORLD);
	if (!p)
		return;
	hooks.arg = p;
	ret = rf_mpi_open(&p->comm, p->comm.rank, p->comm.ranks, &hooks, progress);
	if (!ret && rf_mpi_is_on())
		ret = PMPI_Comm_dup(MPI_COMM_WORLD, &quiet) ? RF_ERR_NO_MEMORY : RF_OK;
	if (ret) /* RINGFOLD_MPI=2; the cause has been logged */
		PMPI_Comm_call_errhandler(MPI_COMM_WORLD, rf_mpi_error_class(ret));
}

int MPI_Init(int *argc, char ***argv)
{
	int ret = NEXT(MPI_Init, argc, argv);

	if (ret == MPI_SUCCESS)
		begin();
	return ret;
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
	int ret = NEXT(MPI_Init_thread, argc, argv, required, provided);

	if (ret == MPI_SUCCESS)
		begin();
	return ret;
}

int MPI_Finalize(void)
{
	if (keyval != MPI_KEYVAL_INVALID) {
		PMPI_Comm_delete_attr(MPI_COMM_WORLD, keyval);
		rf_mpi_close();
		PMPI_Comm_free_keyval(&keyval);
		if (quiet != MPI_COMM_NULL)
			PMPI_Comm_free(&quiet);
	}
	return NEXT(MPI_Finalize);
}

static int request_query(void *extra, MPI_Status *status)
{
	struct preload_request *r = extra;

	PMPI_Status_set_elements(status, MPI_BYTE, 0);
	PMPI_Status_set_cancelled(status, 0);
	return r->error;
}

static int request_free(void *extra)
{
	free(extra);
	return MPI_SUCCESS;
}

static int request_cancel(void *extra, int complete)
{
	(void)extra;
	(void)complete;
	return MPI_SUCCESS;
}

/* What a call that failed returns to the program. */
static int report(MPI_Comm comm, int class)
{
	if (class != MPI_SUCCESS)
		PMPI_Comm_call_errhandler(comm, class);
	return class;
}

static int serve(MPI_Comm comm, const struct rf_mpi_args *a)
{
	struct preload_comm *p = comm_of(comm);
	struct rf_mpi_hooks hooks = {p, allgather_bytes};
	int ret = p ? rf_mpi_serve(&p->comm, comm, a, &hooks) : RF_MPI_PASS;

	return ret == RF_MPI_PASS ? ret : report(comm, ret);
}

static int serve_start(MPI_Comm comm, const struct rf_mpi_args *a, MPI_Request *request)
{
	struct preload_comm *p = comm_of(comm);
	struct rf_mpi_hooks hooks = {p, allgather_bytes};
	struct preload_request *r;
	int ret;

	if (!p || !&PMPIX_Grequest_start)
		return RF_MPI_PASS;
	r = calloc(1, sizeof(*r));
	if (!r)
		return report(comm, MPI_ERR_NO_MEM);
	ret = rf_mpi_serve_start(&p->comm, comm, a, &hooks, &r->pending);
	if (ret == MPI_SUCCESS)
		ret = PMPIX_Grequest_start(request_query, request_free, request_cancel,
					   request_poll, request_wait, r, &r->request);
	if (ret != MPI_SUCCESS) {
		free(r);
		return ret == RF_MPI_PASS ? ret : report(comm, ret);
	}
	*request = r->request;
	rf_mutex_lock(&lock, preload_class);
	r->next = outstanding;
	outstanding = r;
	rf_mutex_unlock(&lock, preload_class);
	return MPI_SUCCESS;
}

/* ---- the collectives: each exists in a blocking and a nonblocking form ---- */

/* params: with types, in parentheses; names: the same without; ...: members of struct rf_mpi_args
 */
#define COLLECTIVE(name, iname, params, names, ...)                                                \
	int name(UNPACK params, MPI_Comm comm)                                                     \
	{                                                                                          \
		const struct rf_mpi_args a = {__VA_ARGS__};                                        \
		int ret = serve(comm, &a);                                                         \
                                                                                                   \
		return ret != RF_MPI_PASS ? ret : NEXT(name, UNPACK names, comm);                  \
	}                                                                                          \
	int iname(UNPACK params, MPI_Comm comm, MPI_Request *request)                              \
	{                                                                                          \
		const struct rf_mpi_args a = {__VA_ARGS__};                                        \
		int ret = serve_start(comm, &a, request);                                          \
                                                                                                   \
		return ret != RF_MPI_PASS ? ret : NEXT(iname, UNPACK names, comm, request);        \
	}
#define UNPACK(...) __VA_ARGS__

COLLECTIVE(MPI_Allreduce, MPI_Iallreduce,
	   (const void *s, void *r, int n, MPI_Datatype t, MPI_Op op), (s, r, n, t, op),
	   .kind = RF_MPI_ALLREDUCE, .send = s, .recv = r, .recv_count = n, .recv_type = t,
	   .op = op)
COLLECTIVE(MPI_Reduce, MPI_Ireduce,
	   (const void *s, void *r, int n, MPI_Datatype t, MPI_Op op, int root),
	   (s, r, n, t, op, root), .kind = RF_MPI_REDUCE, .send = s, .recv = r, .recv_count = n,
	   .recv_type = t, .op = op, .root = root)
COLLECTIVE(MPI_Bcast, MPI_Ibcast, (void *b, int n, MPI_Datatype t, int root), (b, n, t, root),
	   .kind = RF_MPI_BCAST, .recv = b, .recv_count = n, .recv_type = t, .root = root)
COLLECTIVE(MPI_Allgather, MPI_Iallgather,
	   (const void *s, int sn, MPI_Datatype st, void *r, int rn, MPI_Datatype rt),
	   (s, sn, st, r, rn, rt), .kind = RF_MPI_ALLGATHER, .send = s, .send_count = sn,
	   .send_type = st, .recv = r, .recv_count = rn, .recv_type = rt)
COLLECTIVE(MPI_Allgatherv, MPI_Iallgatherv,
	   (const void *s, int sn, MPI_Datatype st, void *r, const int *rn, const int *at,
	    MPI_Datatype rt),
	   (s, sn, st, r, rn, at, rt), .kind = RF_MPI_ALLGATHERV, .send = s, .send_count = sn,
	   .send_type = st, .recv = r, .counts = rn, .displs = at, .recv_type = rt)
COLLECTIVE(MPI_Reduce_scatter, MPI_Ireduce_scatter,
	   (const void *s, void *r, const int *n, MPI_Datatype t, MPI_Op op), (s, r, n, t, op),
	   .kind = RF_MPI_REDUCE_SCATTER, .send = s, .recv = r, .counts = n, .recv_type = t,
	   .op = op)
COLLECTIVE(MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block,
	   (const void *s, void *r, int n, MPI_Datatype t, MPI_Op op), (s, r, n, t, op),
	   .kind = RF_MPI_REDUCE_SCATTER_BLOCK, .send = s, .recv = r, .recv_count = n,
	   .recv_type = t, .op = op)
COLLECTIVE(MPI_Gather, MPI_Igather,
	   (const void *s, int sn, MPI_Datatype st, void *r, int rn, MPI_Datatype rt, int root),
	   (s, sn, st, r, rn, rt, root), .kind = RF_MPI_GATHER, .send = s, .send_count = sn,
	   .send_type = st, .recv = r, .recv_count = rn, .recv_type = rt, .root = root)
COLLECTIVE(MPI_Scatter, MPI_Iscatter,
	   (const void *s, int sn, MPI_Datatype st, void *r, int rn, MPI_Datatype rt, int root),
	   (s, sn, st, r, rn, rt, root), .kind = RF_MPI_SCATTER, .send = s, .send_count = sn,
	   .send_type = st, .recv = r, .recv_count = rn, .recv_type = rt, .root = root)

int MPI_Barrier(MPI_Comm comm)
{
	const struct rf_mpi_args a = {.kind = RF_MPI_BARRIER};
	int ret = serve(comm, &a);

	return ret != RF_MPI_PASS ? ret : NEXT(MPI_Barrier, comm);
}

int MPI_Ibarrier(MPI_Comm comm, MPI_Request *request)
{
	const struct rf_mpi_args a = {.kind = RF_MPI_BARRIER};
	int ret = serve_start(comm, &a, request);

	return ret != RF_MPI_PASS ? ret : NEXT(MPI_Ibarrier, comm, request);
}
