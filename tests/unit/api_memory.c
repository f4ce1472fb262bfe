/*
 * Registered memory through the public interface: over NICs of the test (fake_verbs.h), and over
 * our own transport.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "host/api/api.h"
#include "tests/unit/api_ranks.h"
#include "tests/unit/fake_verbs.h"

#define COUNT 3000u

/* How often the kernel was asked whether memory can be read. */
static atomic_uint asked;

long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);

long __wrap_syscall(long number, ...)
{
	long a[6];
	va_list args;

	va_start(args, number);
	for (unsigned int k = 0; k < 6; k++)
		a[k] = va_arg(args, long);
	va_end(args);
	if (number == SYS_rt_sigprocmask)
		atomic_fetch_add(&asked, 1);
	return __real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

static struct rf_verbs *nic_of_rank(struct rank *r, struct rf_io *io)
{
	return fake_verbs_open(r->rank, io);
}

static void run_all(int (*run)(struct rank *), bool nic, const char *cache)
{
	struct ranks all;

	fake_verbs_memory();
	ranks_init(&all, 2, run);
	all.verbs = nic ? nic_of_rank : NULL;
	setenv("RF_REG_CACHE", cache, 1);
	assert_int_equal(ranks_run(&all), 0);
	unsetenv("RF_REG_CACHE");
	ranks_free(&all);
	for (unsigned int k = 0; nic && k < 2; k++)
		assert_int_equal(fake_verbs_at(k)->registered, fake_verbs_at(k)->deregistered);
}

/* Fills, reduces, compares. send may be recv. */
static int one_sum(struct rf_comm *comm, unsigned int rank, uint32_t *send, uint32_t *recv,
		   size_t count, unsigned int round)
{
	size_t bad = 0;
	int ret;

	for (size_t k = 0; k < count; k++)
		send[k] = (uint32_t)(rank * 77777u + k * 13u + round);
	ret = rf_allreduce(comm, send, recv, count, RF_INT32, RF_SUM);
	for (size_t k = 0; k < count && !ret; k++)
		bad += recv[k] != (uint32_t)(77777u + k * 26u + 2 * round);
	return bad ? -100 : ret;
}

static uint64_t registrations(struct rank *r)
{
	struct rf_stats stats = {.size = sizeof(stats)};

	return rf_stats(r->ctx, &stats) ? UINT64_MAX : stats.registrations;
}

static uint64_t hits(struct rank *r)
{
	struct rf_stats stats = {.size = sizeof(stats)};

	return rf_stats(r->ctx, &stats) ? UINT64_MAX : stats.registration_hits;
}

/* ---- handles ---- */

static int thousand_calls(struct rank *r)
{
	uint32_t *send = malloc(COUNT * 4), *recv = malloc(COUNT * 4);
	struct fake_verbs_nic *nic = fake_verbs_at(r->rank);
	struct rf_mem *a, *b;
	unsigned int before;

	EXPECT(r, rf_mem_register(r->ctx, send, COUNT * 4, &a) == RF_OK);
	EXPECT(r, rf_mem_register(r->ctx, recv, COUNT * 4, &b) == RF_OK);
	EXPECT(r, registrations(r) == 2);
	before = nic->registered;
	/* whole buffers, and parts of them */
	for (unsigned int k = 0; k < 1000; k++)
		EXPECT(r,
		       one_sum(r->comm, r->rank, send + k % 50, recv + k % 7, 1 + k % 900, k) == 0);
	EXPECT(r, nic->registered == before);
	EXPECT(r, registrations(r) == 2 && hits(r) == 2000);
	EXPECT(r, !a->nic->used && !b->nic->used);
	/* a buffer that only begins in registered memory is registered for its call */
	EXPECT(r, rf_mem_deregister(b) == RF_OK);
	EXPECT(r, rf_mem_register(r->ctx, recv, COUNT * 2, &b) == RF_OK);
	EXPECT(r, one_sum(r->comm, r->rank, send, recv, COUNT, 1) == 0);
	EXPECT(r, nic->registered == before + 2 && registrations(r) == 4);
	EXPECT(r, rf_mem_deregister(a) == RF_OK && rf_mem_deregister(b) == RF_OK);
	EXPECT(r, rf_mem_deregister(NULL) == RF_OK);
	free(send);
	free(recv);
	return 0;
}

static void handle_for_thousand_calls(void **state)
{
	(void)state;
	run_all(thousand_calls, true, "0");
}

/* Every call registers and deregisters: nothing is kept. */
static int no_cache(struct rank *r)
{
	uint32_t *send = malloc(COUNT * 4), *recv = malloc(COUNT * 4);
	struct fake_verbs_nic *nic = fake_verbs_at(r->rank);
	unsigned int registered, deregistered;

	registered = nic->registered;
	deregistered = nic->deregistered;
	for (unsigned int k = 0; k < 20; k++)
		EXPECT(r, one_sum(r->comm, r->rank, send, k % 2 ? send : recv, COUNT, k) == 0);
	/* two buffers, or one in place */
	EXPECT(r, nic->registered == registered + 30);
	EXPECT(r, nic->deregistered == deregistered + 30);
	EXPECT(r, hits(r) == 0);
	free(send);
	free(recv);
	return 0;
}

static void nothing_is_kept(void **state)
{
	(void)state;
	run_all(no_cache, true, "0");
}

/* ---- cache ---- */

#define SET (16u << 10) /* bytes of a buffer here; the cache has room for two */

static int cache_run(struct rank *r)
{
	char *all = aligned_alloc(4096, 8 * SET);
	struct fake_verbs_nic *nic = fake_verbs_at(r->rank);
	unsigned int base, round = 0;
/* An all-reduce in place; how many registrations it makes, and how many regions exist after it. */
#define STEP(at, bytes, made, live)                                                                \
	do {                                                                                       \
		unsigned int was = nic->registered;                                                \
		uint32_t *p = (uint32_t *)(void *)(all + (at));                                    \
		EXPECT(r, one_sum(r->comm, r->rank, p, p, (bytes) / 4, ++round) == 0);             \
		EXPECT(r, nic->registered - was == (made));                                        \
		EXPECT(r, nic->registered - nic->deregistered == base + (live));                   \
	} while (0)

	base = nic->registered - nic->deregistered;
	STEP(0, SET, 1, 1);       /* A: new */
	STEP(0, SET, 0, 1);       /* A: known */
	STEP(400, 800, 0, 1);     /* a part of A */
	STEP(SET, SET, 1, 2);     /* B */
	STEP(0, SET, 0, 2);       /* A: now B is the older one */
	STEP(2 * SET, SET, 1, 2); /* C replaces B */
	STEP(0, SET, 0, 2);       /* A has stayed */
	STEP(SET, SET, 1, 2);     /* B again: replaces C */
	/* overlaps A and B, and is in neither: replaces A, the older one */
	STEP(SET / 2, SET, 1, 2);
	STEP(SET, SET, 0, 2);
	/* contains both: replaces them */
	STEP(SET / 2, SET * 3 / 2, 1, 1);
	STEP(SET, SET / 2, 0, 1);
	/* more than the cache holds: for the call only */
	STEP(0, 3 * SET, 1, 1);
	STEP(0, 3 * SET, 1, 1);
	STEP(SET, SET / 2, 0, 1);
	/* the program gives memory back */
	EXPECT(r, rf_mem_forget(r->ctx, all + 2 * SET, SET) == RF_OK);
	EXPECT(r, nic->registered - nic->deregistered == base + 1);
	EXPECT(r, rf_mem_forget(r->ctx, all + 2 * SET - 1, 1) == RF_OK);
	EXPECT(r, nic->registered - nic->deregistered == base);
	STEP(SET, SET / 2, 1, 1);
	/* read only at first, then also written: another registration, which replaces the first */
	EXPECT(r, rf_mem_forget(r->ctx, all, 8 * SET) == RF_OK);
	EXPECT(r, one_sum(r->comm, r->rank, (uint32_t *)(void *)all,
			  (uint32_t *)(void *)(all + SET), 1000, 0) == 0);
	EXPECT(r, nic->registered - nic->deregistered == base + 2);
	STEP(0, 4000, 1, 2);
	free(all);
	return 0;
#undef STEP
}

static void cache_hits_and_evictions(void **state)
{
	(void)state;
	run_all(cache_run, true, "32K");
}

/* Many small buffers: the number of regions is bounded, too. */
static int cache_many(struct rank *r)
{
	uint32_t *all = malloc((RF_MEM_CACHED_MAX + 50) * 64), *other = malloc(64);
	struct fake_verbs_nic *nic = fake_verbs_at(r->rank);
	unsigned int base, made;

	base = nic->registered - nic->deregistered;
	/* a larger buffer replaces those that it contains, even if there is room, ... */
	EXPECT(r, one_sum(r->comm, r->rank, all + 16, all + 16, 16, 0) == 0);
	EXPECT(r, one_sum(r->comm, r->rank, all, all, 64, 0) == 0);
	EXPECT(r, nic->registered - nic->deregistered == base + 1);
	/* ... but not if it is only read */
	EXPECT(r, one_sum(r->comm, r->rank, all, all + 512, 128, 0) == 0);
	EXPECT(r, nic->registered - nic->deregistered == base + 3);
	made = nic->registered;
	EXPECT(r, one_sum(r->comm, r->rank, all, all, 64, 0) == 0);
	EXPECT(r, nic->registered == made);
	EXPECT(r, rf_mem_forget(r->ctx, all, 4096) == RF_OK);
	for (unsigned int k = 0; k < RF_MEM_CACHED_MAX + 50; k++)
		EXPECT(r, one_sum(r->comm, r->rank, all + k * 16, all + k * 16, 16, k) == 0);
	EXPECT(r, nic->registered - nic->deregistered == base + RF_MEM_CACHED_MAX);
	/* the last ones are there, the first ones are not */
	made = nic->registered;
	EXPECT(r, one_sum(r->comm, r->rank, all + 50 * 16, all + 50 * 16, 16, 1) == 0);
	EXPECT(r, nic->registered == made);
	EXPECT(r, one_sum(r->comm, r->rank, all + 49 * 16, all + 49 * 16, 16, 1) == 0);
	EXPECT(r, nic->registered == made + 1);
	/* a NIC that takes no more: the oldest one makes room */
	nic->limit = nic->registered - nic->deregistered;
	EXPECT(r, one_sum(r->comm, r->rank, all, all, 1000, 2) == 0);
	nic->limit = nic->registered - nic->deregistered;
	EXPECT(r, one_sum(r->comm, r->rank, other, other, 16, 2) == 0);
	EXPECT(r, nic->registered - nic->deregistered == nic->limit);
	/* nothing is left that could make room */
	EXPECT(r, rf_mem_forget(r->ctx, all, (RF_MEM_CACHED_MAX + 50) * 64) == RF_OK);
	EXPECT(r, rf_mem_forget(r->ctx, other, 64) == RF_OK);
	nic->limit = nic->registered - nic->deregistered;
	EXPECT(r, rf_allreduce(r->comm, other, other, 16, RF_INT32, RF_SUM) == RF_ERR_NO_MEMORY);
	nic->limit = 0;
	free(all);
	free(other);
	return 0;
}

static void cache_is_bounded(void **state)
{
	(void)state;
	run_all(cache_many, true, "16M");
}

/* ---- outstanding requests ---- */

/* Rank 1 comes late: rank 0's request is outstanding meanwhile. */
static int outstanding_run(struct rank *r)
{
	uint32_t *send = malloc(COUNT * 8), *recv = malloc(COUNT * 4);
	struct rf_request *q, *p;
	struct rf_mem *a, *b;

	for (unsigned int k = 0; k < COUNT * 2; k++)
		send[k] = k;
	EXPECT(r, rf_mem_register(r->ctx, send, COUNT * 4, &a) == RF_OK);
	EXPECT(r, rf_mem_register(r->ctx, send + COUNT / 2, COUNT * 4, &b) == RF_OK);
	if (r->rank == 0) {
		EXPECT(r, rf_iallreduce(r->comm, send, recv, COUNT / 4, RF_INT32, RF_SUM, &q) ==
				  RF_OK);
		/* its send buffer lies in both registrations, if not in the cache */
		EXPECT(r, rf_iallreduce(r->comm, send + COUNT * 3 / 4, recv + COUNT / 4, COUNT / 4,
					RF_INT32, RF_SUM, &p) == RF_OK);
		EXPECT(r, rf_mem_deregister(a) == RF_ERR_BUSY);
		EXPECT(r, strstr(rf_last_error_text(r->ctx), "outstanding"));
		EXPECT(r, r->all->verbs == NULL ||
				  rf_mem_forget(r->ctx, recv, COUNT * 4) == RF_ERR_BUSY);
	}
	EXPECT(r, rank_meet(r) == RF_OK);
	if (r->rank == 1) {
		EXPECT(r, rf_iallreduce(r->comm, send, recv, COUNT / 4, RF_INT32, RF_SUM, &q) ==
				  RF_OK);
		EXPECT(r, rf_iallreduce(r->comm, send + COUNT * 3 / 4, recv + COUNT / 4, COUNT / 4,
					RF_INT32, RF_SUM, &p) == RF_OK);
	}
	EXPECT(r, rf_wait(q, UINT_MAX) == RF_OK);
	EXPECT(r, rf_wait(p, UINT_MAX) == RF_OK);
	for (unsigned int k = 0; k < COUNT / 4; k++)
		EXPECT(r, recv[k] == 2 * k && recv[COUNT / 4 + k] == 2 * (COUNT * 3 / 4 + k));
	EXPECT(r, rf_mem_deregister(a) == RF_OK && rf_mem_deregister(b) == RF_OK);
	EXPECT(r, rf_mem_forget(r->ctx, recv, COUNT * 4) == RF_OK);
	free(send);
	free(recv);
	return 0;
}

static void deregister_while_outstanding(void **state)
{
	(void)state;
	run_all(outstanding_run, true, "0");
	run_all(outstanding_run, true, "1M");
	run_all(outstanding_run, false, "0");
}

/* Two communicators with overlapping send buffers, whose calls end in any order. */
static int overlap_run(struct rank *r)
{
	uint32_t *send = malloc(COUNT * 4), *recv = malloc(COUNT * 8);
	struct rf_comm *g[2] = {r->comm, NULL};
	struct rf_request *q[2];

	EXPECT(r, rf_comm_split(r->comm, 0, 0, NULL, &g[1]) == RF_OK);
	for (unsigned int round = 0; round < 200; round++) {
		unsigned int shift = round % 3 * COUNT / 4;

		for (unsigned int k = 0; k < COUNT; k++)
			send[k] = k + round;
		EXPECT(r, rf_iallreduce(g[0], send, recv, COUNT * 3 / 4, RF_INT32, RF_SUM, &q[0]) ==
				  RF_OK);
		EXPECT(r, rf_iallreduce(g[1], send + shift, recv + COUNT, COUNT / 2, RF_INT32,
					RF_SUM, &q[1]) == RF_OK);
		EXPECT(r, rf_wait(q[1], UINT_MAX) == RF_OK);
		EXPECT(r, rf_wait(q[0], UINT_MAX) == RF_OK);
		for (unsigned int k = 0; k < COUNT / 2; k++)
			EXPECT(r, recv[k] == 2 * (k + round) &&
					  recv[COUNT + k] == 2 * (shift + k + round));
	}
	EXPECT(r, rf_comm_destroy(g[1]) == RF_OK);
	free(send);
	free(recv);
	return 0;
}

static void overlapping_buffers(void **state)
{
	(void)state;
	run_all(overlap_run, true, "0");
	run_all(overlap_run, true, "20K");
}

/* ---- dma-buf ---- */

/* Over the ring, where processors add: only memory that they can read. */
static int dmabuf_run(struct rank *r)
{
	const struct rf_buffers both = {fake_verbs_memory(), 400, fake_verbs_memory() + 400, 400};
	struct rf_request request = {0};
	int fd = fake_verbs_dmabuf(FAKE_VERBS_BYTES);
	uint32_t *mapped = mmap(NULL, FAKE_VERBS_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	uint32_t *device = (uint32_t *)(void *)fake_verbs_memory();
	struct rf_mem *a, *b;
	int ret;

	EXPECT(r, rf_mem_register_dmabuf(r->ctx, fd, 0, FAKE_VERBS_BYTES, mapped, &a) == RF_OK);
	EXPECT(r, one_sum(r->comm, r->rank, mapped, mapped + COUNT, COUNT, 1) == 0);
	EXPECT(r, registrations(r) == 1 && hits(r) == 2);
	EXPECT(r, rf_allreduce(r->comm, device, mapped, 10, RF_INT32, RF_SUM) == RF_ERR_INVALID);
	EXPECT(r, strstr(rf_last_error_text(r->ctx), "rf_mem_register_dmabuf()"));
	EXPECT(r, rf_mem_register_dmabuf(r->ctx, fd, 0, FAKE_VERBS_BYTES, device, &b) == RF_OK);
	EXPECT(r, rf_allreduce(r->comm, device, mapped, 10, RF_INT32, RF_SUM) == RF_ERR_INVALID);
	EXPECT(r, strstr(rf_last_error_text(r->ctx), "memory of a device"));
	EXPECT(r, rf_allreduce(r->comm, mapped, device, 10, RF_INT32, RF_SUM) == RF_ERR_INVALID);
	/* a call that only the NIC carries out */
	request.group = r->comm->group;
	rf_lock(r->ctx);
	ret = rf_request_mem_take(&request, &both, RF_MEM_NIC);
	rf_unlock(r->ctx);
	EXPECT(r, ret == RF_OK && request.mem[0] == b && request.mem[1] == b);
	EXPECT(r, rf_mem_deregister(b) == RF_ERR_BUSY);
	rf_lock(r->ctx);
	rf_request_mem_drop(&request);
	rf_request_mem_drop(&request);
	rf_unlock(r->ctx);
	/* the communicator is still usable */
	EXPECT(r, one_sum(r->comm, r->rank, mapped, mapped + COUNT, COUNT, 2) == 0);
	EXPECT(r, rf_mem_deregister(a) == RF_OK && rf_mem_deregister(b) == RF_OK);
	munmap(mapped, FAKE_VERBS_BYTES);
	close(fd);
	return 0;
}

static void dmabuf_of_a_call(void **state)
{
	(void)state;
	run_all(dmabuf_run, true, "0");
}

/* ---- refusals ---- */

static int refused_run(struct rank *r)
{
	uint32_t *host =
		mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint32_t *device = (uint32_t *)(void *)fake_verbs_memory();
	struct fake_verbs_nic *nic = fake_verbs_at(r->rank);
	bool over_nic = r->all->verbs != NULL;
	char *end = (char *)(uintptr_t)(UINTPTR_MAX - 10);
	struct rf_mem *m = NULL;

	EXPECT(r, rf_mem_register(r->ctx, host, 8192, NULL) == RF_ERR_INVALID);
	EXPECT(r, rf_mem_register(r->ctx, NULL, 8192, &m) == RF_ERR_INVALID);
	EXPECT(r, rf_mem_register(r->ctx, host, 0, &m) == RF_ERR_INVALID);
	EXPECT(r, rf_mem_register(r->ctx, host, SIZE_MAX, &m) == RF_ERR_INVALID);
	EXPECT(r, rf_mem_register(r->ctx, end, 12, &m) == RF_ERR_INVALID);
	EXPECT(r, rf_mem_register(r->ctx, end, 11, &m) == RF_ERR_INVALID);
	EXPECT(r, rf_mem_register(r->ctx, (void *)8, 8, &m) == RF_ERR_INVALID);
	EXPECT(r, rf_mem_register(r->ctx, device, 4096, &m) == RF_ERR_INVALID);
	EXPECT(r, strstr(rf_last_error_text(r->ctx), "rf_mem_register_dmabuf()"));
	EXPECT(r, rf_mem_register_dmabuf(r->ctx, -1, 0, 4096, device, &m) == RF_ERR_INVALID);
	EXPECT(r, rf_mem_register_dmabuf(r->ctx, 0, UINT64_MAX, 2, device, &m) == RF_ERR_INVALID);
	EXPECT(r, rf_mem_register_dmabuf(r->ctx, 0, 0, 0, device, &m) == RF_ERR_INVALID);
	EXPECT(r, rf_mem_register_dmabuf(r->ctx, 99, 0, 4096, device, &m) == RF_ERR_INVALID);
	EXPECT(r, strstr(rf_last_error_text(r->ctx), "dma-buf"));
	EXPECT(r, rf_mem_forget(r->ctx, NULL, 1) == RF_ERR_INVALID);
	EXPECT(r, rf_mem_forget(r->ctx, host, 0) == RF_ERR_INVALID);
	EXPECT(r, m == NULL);
	/* pointers in calls: all of it, and its end alone */
	EXPECT(r, rf_allreduce(r->comm, device, host, 100, RF_INT32, RF_SUM) == RF_ERR_INVALID);
	EXPECT(r, strstr(rf_last_error_text(r->ctx), "rf_mem_register_dmabuf()"));
	EXPECT(r, rf_allreduce(r->comm, host, device, 100, RF_INT32, RF_SUM) == RF_ERR_INVALID);
	EXPECT(r, one_sum(r->comm, r->rank, host, host + 1024, 1000, 1) == 0);
	EXPECT(r, one_sum(r->comm, r->rank, host, host, 2000, 1) == 0);
	munmap(host + 1024, 4096);
	/* known from before, and forgotten */
	EXPECT(r, rf_mem_forget(r->ctx, host, 8192) == RF_OK);
	EXPECT(r, rf_allreduce(r->comm, host, host, 2000, RF_INT32, RF_SUM) == RF_ERR_INVALID);
	EXPECT(r, rf_allreduce(r->comm, host, host, 1025, RF_INT32, RF_SUM) == RF_ERR_INVALID);
	if (over_nic) {
		nic->refuse = ENOMEM;
		EXPECT(r, rf_allreduce(r->comm, host, host, 100, RF_INT32, RF_SUM) ==
				  RF_ERR_NO_MEMORY);
		EXPECT(r, strstr(rf_last_error_text(r->ctx), "ulimit -l"));
		nic->refuse = EFAULT;
		EXPECT(r,
		       rf_allreduce(r->comm, host, host, 100, RF_INT32, RF_SUM) == RF_ERR_INVALID);
		nic->refuse = ENOMEM;
		EXPECT(r, rf_mem_register(r->ctx, host, 4096, &m) == RF_ERR_NO_MEMORY);
		nic->refuse = EOPNOTSUPP;
		EXPECT(r, rf_mem_register_dmabuf(r->ctx, fake_verbs_dmabuf(4096), 0, 4096, device,
						 &m) == RF_ERR_DEVICE);
		nic->refuse = EIO;
		EXPECT(r, rf_mem_register(r->ctx, host, 4096, &m) == RF_ERR_SYSTEM);
	}
	/* nothing of that has ended the communicator */
	EXPECT(r, one_sum(r->comm, r->rank, host, host, 1000, 3) == 0);
	munmap(host, 4096);
	return 0;
}

static void refused(void **state)
{
	(void)state;
	run_all(refused_run, true, "0");
	run_all(refused_run, true, "1M");
	run_all(refused_run, false, "0");
}

/* Without a device: one rank copies; the context waits for its registrations to be given back. */
static void one_rank(void **state)
{
	uint32_t *device = (uint32_t *)(void *)fake_verbs_memory(), host[100] = {7};
	struct rf_context *ctx;
	struct rf_comm *comm;
	struct rf_mem *m;

	(void)state;
	assert_int_equal(rf_context_create_io(NULL, NULL, 0, &ctx), 0);
	assert_int_equal(rf_comm_create(ctx, NULL, &comm), 0);
	assert_int_equal(rf_allreduce(comm, device, host, 100, RF_INT32, RF_SUM), RF_ERR_INVALID);
	assert_int_equal(rf_allreduce(comm, host, device, 100, RF_INT32, RF_SUM), RF_ERR_INVALID);
	assert_int_equal(rf_mem_register(ctx, host, sizeof(host), &m), 0);
	assert_int_equal(rf_allreduce(comm, host, host + 50, 50, RF_INT32, RF_SUM), 0);
	assert_int_equal(host[50], 7);
	assert_int_equal(rf_comm_destroy(comm), 0);
	assert_int_equal(rf_context_destroy(ctx), RF_ERR_BUSY);
	assert_non_null(strstr(rf_last_error_text(ctx), "deregister"));
	assert_int_equal(rf_mem_deregister(m), 0);
	assert_int_equal(rf_context_destroy(ctx), 0);
}

/* The kernel is asked about a buffer at its first use, and again after rf_mem_forget(). */
static void asked_once(void **state)
{
	uint32_t *all = aligned_alloc(4096, 8 * 4096);
	struct rf_context *ctx;
	struct rf_comm *comm;

	(void)state;
	assert_int_equal(rf_context_create_io(NULL, NULL, 0, &ctx), 0);
	assert_int_equal(rf_comm_create(ctx, NULL, &comm), 0);
	atomic_store(&asked, 0);
	for (unsigned int k = 0; k < 1000; k++) {
		/* two in one page; two larger ones */
		assert_int_equal(rf_allreduce(comm, all, all + 32, 32, RF_INT32, RF_SUM), 0);
		assert_int_equal(rf_allreduce(comm, all + 1024, all + 4096, 3000, RF_INT32, RF_SUM),
				 0);
	}
	assert_int_equal(atomic_load(&asked), 6);
	assert_int_equal(rf_mem_forget(ctx, all, 4), 0);
	assert_int_equal(rf_allreduce(comm, all, all + 32, 32, RF_INT32, RF_SUM), 0);
	assert_int_equal(rf_allreduce(comm, all + 1024, all + 4096, 3000, RF_INT32, RF_SUM), 0);
	assert_int_equal(atomic_load(&asked), 8);
	assert_int_equal(rf_comm_destroy(comm), 0);
	assert_int_equal(rf_context_destroy(ctx), 0);
	free(all);
}

/* The setting, and the config's member before it. */
static void cache_setting(void **state)
{
	struct rf_context_config config = RF_CONTEXT_CONFIG_INIT;
	struct rf_context *ctx;

	(void)state;
	setenv("RF_REG_CACHE", "lots", 1);
	assert_int_equal(rf_context_create_io(NULL, NULL, 0, &ctx), RF_ERR_INVALID);
	assert_non_null(strstr(rf_last_error_text(NULL), "RF_REG_CACHE"));
	config.reg_cache = 12345;
	assert_int_equal(rf_context_create_io(&config, NULL, 0, &ctx), 0);
	assert_int_equal(ctx->reg_cache, 12345);
	assert_int_equal(rf_context_destroy(ctx), 0);
	unsetenv("RF_REG_CACHE");
	config.size = offsetof(struct rf_context_config, reg_cache);
	assert_int_equal(rf_context_create_io(&config, NULL, 0, &ctx), 0);
	assert_int_equal(ctx->reg_cache, 0);
	assert_int_equal(rf_context_destroy(ctx), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(handle_for_thousand_calls),
		cmocka_unit_test(nothing_is_kept),
		cmocka_unit_test(cache_hits_and_evictions),
		cmocka_unit_test(cache_is_bounded),
		cmocka_unit_test(deregister_while_outstanding),
		cmocka_unit_test(overlapping_buffers),
		cmocka_unit_test(dmabuf_of_a_call),
		cmocka_unit_test(refused),
		cmocka_unit_test(one_rank),
		cmocka_unit_test(asked_once),
		cmocka_unit_test(cache_setting),
	};

	return cmocka_run_group_tests_name("api_memory", tests, NULL, NULL);
}
