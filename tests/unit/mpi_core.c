/*
 * The core of the MPI seams without MPI: settings, decisions, what the ranks agree on, calls. The
 * library and the other ranks are scripted here.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "integrations/mpi/core/rf_mpi.h"

/* ---- the library, scripted ---- */

static struct {
	int context, comm; /* results of creation */
	int made, ended;   /* communicators */
	char name[RF_NAME_MAX + 1];
	unsigned int members[8], n_members;
	bool bootstrap;
	int busy;    /* how often a call is refused for lack of room */
	int waits;   /* how often a wait finds it not complete */
	int result;  /* of the call */
	int started; /* calls */
} lib;
static int progressed;

int rf_context_create(const struct rf_context_config *config, struct rf_context **ctx)
{
	assert_int_equal(config->ranks, 3);
	*ctx = (struct rf_context *)&lib;
	return lib.context;
}

int rf_context_destroy(struct rf_context *ctx)
{
	assert_ptr_equal(ctx, &lib);
	return RF_OK;
}

int rf_comm_create(struct rf_context *ctx, const struct rf_comm_config *config,
		   struct rf_comm **comm)
{
	(void)ctx;
	strcpy(lib.name, config->name);
	lib.n_members = config->n_members;
	memcpy(lib.members, config->members, config->n_members * sizeof(*config->members));
	lib.bootstrap = config->allgather != NULL;
	if (lib.comm)
		return lib.comm;
	lib.made++;
	*comm = (struct rf_comm *)&lib;
	return RF_OK;
}

int rf_comm_destroy(struct rf_comm *comm)
{
	assert_ptr_equal(comm, &lib);
	lib.ended++;
	return RF_OK;
}

int rf_comm_order(const struct rf_comm *comm, struct rf_order *order)
{
	(void)comm;
	order->schedule = RF_SCHEDULE_BOX;
	return RF_OK;
}

const char *rf_last_error_text(struct rf_context *ctx)
{
	(void)ctx;
	return "scripted";
}

const char *rf_strerror(int status)
{
	(void)status;
	return "status";
}

static int begin(struct rf_request **request)
{
	if (lib.busy && lib.busy--)
		return RF_ERR_BUSY;
	lib.started++;
	*request = (struct rf_request *)&lib;
	return RF_OK;
}

int rf_test(struct rf_request *request)
{
	(void)request;
	return lib.waits && lib.waits-- ? RF_IN_PROGRESS : lib.result;
}

int rf_wait_any(struct rf_request **requests, unsigned int n, unsigned int timeout_ms,
		unsigned int *index)
{
	(void)timeout_ms;
	assert_int_equal(n, 1);
	*index = 0;
	return rf_test(requests[0]);
}

int rf_iallreduce(struct rf_comm *comm, const void *send, void *recv, size_t count,
		  enum rf_type type, enum rf_op op, struct rf_request **request)
{
	(void)comm, (void)send, (void)recv, (void)count, (void)type, (void)op;
	return begin(request);
}

int rf_ibarrier(struct rf_comm *comm, struct rf_request **request)
{
	(void)comm;
	return begin(request);
}

/* Calls that these tests do not make: only for the linker. */
int rf_ireduce(struct rf_comm *comm, const void *send, void *recv, size_t count, enum rf_type type,
	       enum rf_op op, unsigned int root, struct rf_request **request)
{
	(void)comm, (void)send, (void)recv, (void)count, (void)type, (void)op, (void)root;
	return begin(request);
}

int rf_ibroadcast(struct rf_comm *comm, const void *send, void *recv, size_t count,
		  enum rf_type type, unsigned int root, struct rf_request **request)
{
	(void)comm, (void)send, (void)recv, (void)count, (void)type, (void)root;
	return begin(request);
}

int rf_iall_gather(struct rf_comm *comm, const void *send, void *recv, size_t count,
		   enum rf_type type, struct rf_request **request)
{
	(void)comm, (void)send, (void)recv, (void)count, (void)type;
	return begin(request);
}

int rf_iall_gatherv(struct rf_comm *comm, const void *send, void *recv, const size_t *counts,
		    enum rf_type type, struct rf_request **request)
{
	(void)comm, (void)send, (void)recv, (void)counts, (void)type;
	return begin(request);
}

int rf_ireduce_scatter(struct rf_comm *comm, const void *send, void *recv, size_t count,
		       enum rf_type type, enum rf_op op, struct rf_request **request)
{
	(void)comm, (void)send, (void)recv, (void)count, (void)type, (void)op;
	return begin(request);
}

int rf_ireduce_scatterv(struct rf_comm *comm, const void *send, void *recv, const size_t *counts,
			enum rf_type type, enum rf_op op, struct rf_request **request)
{
	(void)comm, (void)send, (void)recv, (void)counts, (void)type, (void)op;
	return begin(request);
}

int rf_igather(struct rf_comm *comm, const void *send, void *recv, size_t count, enum rf_type type,
	       unsigned int root, struct rf_request **request)
{
	(void)comm, (void)send, (void)recv, (void)count, (void)type, (void)root;
	return begin(request);
}

int rf_iscatter(struct rf_comm *comm, const void *send, void *recv, size_t count, enum rf_type type,
		unsigned int root, struct rf_request **request)
{
	(void)comm, (void)send, (void)recv, (void)count, (void)type, (void)root;
	return begin(request);
}

/* ---- the other ranks, scripted: they say what rank 0 says, except where told ---- */

static struct {
	int gathers;
	int at;      /* the gather in which rank 1 says something else; 0: none */
	size_t byte; /* ... in this byte */
	char say;
	int fail; /* the gather that MPI fails */
} others;

static int allgather(void *arg, const void *own, void *all, size_t bytes)
{
	assert_ptr_equal(arg, &others);
	if (++others.gathers == others.fail)
		return -1;
	for (unsigned int r = 0; r < 3; r++)
		memcpy((char *)all + r * bytes, own, bytes);
	if (others.gathers == others.at)
		((char *)all)[bytes + others.byte] = others.say;
	return 0;
}

static const struct rf_mpi_hooks hooks = {&others, allgather};

static void progress(void)
{
	progressed++;
}

static int start_over(void **state)
{
	(void)state;
	memset(&lib, 0, sizeof(lib));
	memset(&others, 0, sizeof(others));
	progressed = 0;
	unsetenv("RINGFOLD_MPI_TUNE");
	setenv("RINGFOLD_MPI", "1", 1);
	setenv("RF_DEBUG_FILE", "/dev/null", 1);
	return 0;
}

static int open_job(struct rf_mpi_comm *world)
{
	return rf_mpi_open(world, 0, 3, &hooks, progress);
}

/* ---- tests ---- */

static void settings(void **state)
{
	static const char *const wrong[] = {
		"allreduce", "allreduce:",           "all:0-4",      "bcast:x",    "bcast:4-2",
		"bcast:4k",  "bcast:0-64k,scan:off", "reduce:1-2-3", "reduce:0-4q"};
	struct rf_mpi_settings s;
	char why[300];

	(void)state;
	assert_int_equal(rf_mpi_settings_read(&s, NULL, NULL, NULL, why, sizeof(why)), 0);
	assert_true(s.mode == RF_MPI_OFF && !s.stats);
	assert_int_equal(rf_mpi_settings_read(&s, "2",
					      "allreduce:0-64k,bcast:off,gather:4K-,"
					      "barrier:all",
					      "1", why, sizeof(why)),
			 0);
	assert_true(s.mode == RF_MPI_MUST && s.stats);
	assert_true(s.range[RF_MPI_ALLREDUCE].least == 0 &&
		    s.range[RF_MPI_ALLREDUCE].most == 65536);
	assert_true(s.range[RF_MPI_BCAST].least > s.range[RF_MPI_BCAST].most);
	assert_true(s.range[RF_MPI_GATHER].least == 4096 &&
		    s.range[RF_MPI_GATHER].most == SIZE_MAX);
	assert_true(s.range[RF_MPI_SCATTER].most == SIZE_MAX);
	for (size_t k = 0; k < sizeof(wrong) / sizeof(wrong[0]); k++) {
		assert_int_equal(rf_mpi_settings_read(&s, "1", wrong[k], NULL, why, sizeof(why)),
				 RF_ERR_INVALID);
		assert_non_null(strstr(why, "RINGFOLD_MPI_TUNE"));
	}
	assert_int_equal(rf_mpi_settings_read(&s, "3", NULL, NULL, why, sizeof(why)),
			 RF_ERR_INVALID);
	assert_non_null(strstr(why, "\"3\""));
}

static void decisions(void **state)
{
	struct rf_mpi_ask ask = {RF_MPI_ALLREDUCE, 100, RF_FP64, RF_SUM, true};
	struct rf_mpi_settings s;
	char why[300];

	(void)state;
	rf_mpi_settings_read(&s, "1", "allreduce:8-1000,bcast:off", NULL, why, sizeof(why));
	assert_int_equal(rf_mpi_decide(&s, 2, &ask), RF_MPI_TAKEN);
	assert_int_equal(rf_mpi_decide(&s, 1, &ask), RF_MPI_ALONE);
	ask.op = RF_XOR;
	assert_int_equal(rf_mpi_decide(&s, 2, &ask), RF_MPI_NO_OP);
	ask.type = RF_INT64;
	assert_int_equal(rf_mpi_decide(&s, 2, &ask), RF_MPI_TAKEN);
	ask.bytes = 1000;
	assert_int_equal(rf_mpi_decide(&s, 2, &ask), RF_MPI_TAKEN);
	ask.bytes = 1001;
	assert_int_equal(rf_mpi_decide(&s, 2, &ask), RF_MPI_SIZE);
	ask.bytes = 7;
	assert_int_equal(rf_mpi_decide(&s, 2, &ask), RF_MPI_SIZE);
	ask.bytes = 0;
	assert_int_equal(rf_mpi_decide(&s, 2, &ask), RF_MPI_EMPTY);
	ask.bytes = 8;
	ask.op = RF_MPI_NONE;
	assert_int_equal(rf_mpi_decide(&s, 2, &ask), RF_MPI_NO_OP);
	ask.type = RF_MPI_NONE;
	assert_int_equal(rf_mpi_decide(&s, 2, &ask), RF_MPI_NO_TYPE);
	ask.kind = RF_MPI_GATHER; /* moves bytes: no type, no operation */
	assert_int_equal(rf_mpi_decide(&s, 2, &ask), RF_MPI_TAKEN);
	ask.kind = RF_MPI_BCAST;
	assert_int_equal(rf_mpi_decide(&s, 2, &ask), RF_MPI_SIZE);
	ask.kind = RF_MPI_BARRIER;
	ask.bytes = 0;
	assert_int_equal(rf_mpi_decide(&s, 2, &ask), RF_MPI_TAKEN);
	s.mode = RF_MPI_OFF;
	assert_int_equal(rf_mpi_decide(&s, 2, &ask), RF_MPI_NOT_ON);
}

static void a_job(void **state)
{
	struct rf_mpi_ask ask = {RF_MPI_ALLREDUCE, 4, RF_INT32, RF_SUM, false};
	struct rf_mpi_comm world, c;
	struct rf_mpi_call call = {.kind = RF_MPI_ALLREDUCE};

	(void)state;
	assert_int_equal(open_job(&world), 0);
	assert_true(rf_mpi_is_on() && lib.made == 1 && lib.bootstrap && lib.n_members == 3);
	assert_string_equal(lib.name, "mpi.0.0");
	rf_mpi_comm_init(&c, 0, 3);
	/* a nonblocking call does not make a group, a blocking one does, once */
	assert_int_equal(rf_mpi_take(&c, &ask, &hooks), RF_MPI_UNMADE);
	ask.blocking = true;
	assert_int_equal(rf_mpi_take(&c, &ask, &hooks), RF_MPI_TAKEN);
	assert_int_equal(rf_mpi_take(&c, &ask, &hooks), RF_MPI_TAKEN);
	assert_string_equal(lib.name, "mpi.0.1");
	assert_true(lib.made == 2 && !lib.bootstrap);
	ask.blocking = false;
	assert_int_equal(rf_mpi_take(&c, &ask, &hooks), RF_MPI_TAKEN);
	/* MPI's messages move while a call waits, and while there is no room for it */
	lib.waits = 3;
	lib.busy = 2;
	assert_int_equal(rf_mpi_run(&c, &call), RF_OK);
	assert_int_equal(progressed, 5);
	lib.result = RF_ERR_RANK_LOST;
	assert_int_equal(rf_mpi_run(&c, &call), RF_ERR_RANK_LOST);
	rf_mpi_comm_end(&c);
	assert_int_equal(lib.ended, 1);
	rf_mpi_close();
	assert_true(lib.ended == 2 && !rf_mpi_is_on());
}

/* One rank is not as the others: none goes by the box. */
static void disagreement(void **state)
{
	struct rf_mpi_ask ask = {RF_MPI_ALLREDUCE, 4, RF_INT32, RF_SUM, true};
	struct rf_mpi_comm world, c;

	(void)state;
	/* other settings: the first byte of the hash */
	others.at = 1;
	others.say = 'x';
	assert_int_equal(open_job(&world), 0);
	assert_true(!rf_mpi_is_on() && lib.made == 0);
	rf_mpi_close();
	/* no device on the other rank */
	start_over(NULL);
	others.at = 1;
	others.byte = 12;
	others.say = (char)RF_ERR_DEVICE;
	assert_int_equal(open_job(&world), 0);
	assert_true(!rf_mpi_is_on() && lib.made == 0);
	rf_mpi_close();
	/* the second communicator fails on the other rank: it is ended here, and not tried again */
	start_over(NULL);
	assert_int_equal(open_job(&world), 0);
	others.at = others.gathers + 2;
	others.say = (char)RF_ERR_BOX_REFUSED;
	rf_mpi_comm_init(&c, 0, 3);
	assert_int_equal(rf_mpi_take(&c, &ask, &hooks), RF_MPI_NOT_SERVED);
	assert_true(lib.made == 2 && lib.ended == 1);
	assert_int_equal(rf_mpi_take(&c, &ask, &hooks), RF_MPI_NOT_SERVED);
	assert_int_equal(lib.made, 2);
	rf_mpi_close();
	/* MPI itself fails */
	start_over(NULL);
	others.fail = 1;
	assert_int_equal(open_job(&world), 0);
	assert_false(rf_mpi_is_on());
	rf_mpi_close();
}

static void must(void **state)
{
	struct rf_mpi_ask ask = {RF_MPI_ALLREDUCE, 4, RF_INT32, RF_SUM, true};
	struct rf_mpi_comm world, c;

	(void)state;
	setenv("RINGFOLD_MPI", "2", 1);
	lib.context = RF_ERR_DEVICE;
	assert_int_equal(open_job(&world), RF_ERR_DEVICE);
	rf_mpi_close();
	lib.context = 0;
	lib.comm = RF_ERR_BOX_SILENT;
	assert_int_equal(open_job(&world), RF_ERR_BOX_SILENT);
	rf_mpi_close();
	lib.comm = 0;
	assert_int_equal(open_job(&world), 0);
	lib.comm = RF_ERR_BOX_REFUSED;
	rf_mpi_comm_init(&c, 0, 3);
	assert_int_equal(rf_mpi_take(&c, &ask, &hooks), RF_ERR_BOX_REFUSED);
	/* what the box does not have is passed on all the same */
	ask.op = RF_MPI_NONE;
	assert_int_equal(rf_mpi_take(&c, &ask, &hooks), RF_MPI_NO_OP);
	rf_mpi_close();
	setenv("RINGFOLD_MPI_TUNE", "nonsense", 1);
	assert_int_equal(open_job(&world), RF_ERR_INVALID);
	rf_mpi_close();
}

static void off(void **state)
{
	struct rf_mpi_ask ask = {RF_MPI_BARRIER, 0, RF_MPI_NONE, RF_MPI_NONE, true};
	struct rf_mpi_comm world;

	(void)state;
	unsetenv("RINGFOLD_MPI");
	assert_int_equal(open_job(&world), 0);
	assert_int_equal(rf_mpi_take(&world, &ask, &hooks), RF_MPI_NOT_ON);
	assert_int_equal(others.gathers, 1);
	rf_mpi_close();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(settings, start_over),
		cmocka_unit_test_setup(decisions, start_over),
		cmocka_unit_test_setup(a_job, start_over),
		cmocka_unit_test_setup(disagreement, start_over),
		cmocka_unit_test_setup(must, start_over),
		cmocka_unit_test_setup(off, start_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
