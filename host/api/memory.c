/*
 * Memory that is registered: by the program, for a call, or kept from earlier calls. And the check
 * that a buffer is memory of this process.
 */
#include "host/api/api.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Nothing is ever mapped below. */
#define ADDRESS_MIN 4096u
/* Pages are not smaller, and what holds for a byte holds for its page. */
#define PAGE_MASK (uintptr_t)4095u
#define WORD 8u

static struct rf_mem *mem_of(struct rf_range *range)
{
	return (struct rf_mem *)(void *)range;
}

static const struct rf_mem *mem_of_const(const struct rf_range *range)
{
	return (const struct rf_mem *)(const void *)range;
}

/* ---- memory of the process ---- */

/*
 * Whether the processor may read the word at this address. The kernel copies a set of signals from
 * there, and then finds that it does not know what to do with it.
 */
static bool readable(uintptr_t at)
{
	const int nothing = -1;

	at -= at % WORD;
	if (at < ADDRESS_MIN)
		return false;
	return syscall(SYS_rt_sigprocmask, nothing, at, NULL, (size_t)WORD) == 0 || errno != EFAULT;
}

static bool ends_readable(uintptr_t at, size_t bytes)
{
	return readable(at) && readable(at + (bytes - 1));
}

/* The place of a buffer that was found to be memory of the process. */
static struct rf_mem_seen *seen_at(struct rf_memory *all, uintptr_t at)
{
	/* buffers often begin at the same offset in large alignments: higher bits count too */
	return &all->seen[(at >> 12 ^ at >> 18 ^ at >> 24) % RF_MEM_SEEN];
}

/* last 0, of a place that is free, contains nothing */
static bool is_seen(const struct rf_mem_seen *seen, uintptr_t at, size_t bytes)
{
	return seen->first <= at && at <= seen->last && bytes - 1 <= seen->last - at;
}

/* As ends_readable(), but asks the kernel only for a buffer that it does not know. */
static bool known_readable(struct rf_context *ctx, uintptr_t at, size_t bytes)
	RF_REQUIRES(rf_context_class)
{
	struct rf_mem_seen *seen = seen_at(&ctx->memory, at);

	if (is_seen(seen, at, bytes))
		return true;
	if (!ends_readable(at, bytes))
		return false;
	seen->first = at & ~PAGE_MASK;
	seen->last = (at + (bytes - 1)) | PAGE_MASK;
	return true;
}

static int refuse(struct rf_context *ctx, const void *addr, size_t bytes)
{
	return rf_fail(ctx, RF_ERR_INVALID,
		       "the buffer of %zu bytes at %p is not, or not all, memory that this process "
		       "can read: register a device's memory with rf_mem_register_dmabuf(), or "
		       "copy it to host memory first",
		       bytes, addr);
}

/* ---- registered memory ---- */

/* Also for memory that is not in the table yet. */
static void mem_free(struct rf_mem *m)
{
	if (m->nic)
		rf_verbs_mem_drop(m->nic);
	free(m);
}

static void mem_remove(struct rf_mem *m) RF_REQUIRES(rf_context_class)
{
	struct rf_memory *all = &m->ctx->memory;

	rf_ranges_remove(&all->ranges, &m->range);
	if (m->kind == RF_MEM_CACHED) {
		all->n_cached--;
		all->bytes_cached -= m->range.bytes;
	} else if (m->kind == RF_MEM_HANDLE) {
		all->n_handles--;
	}
}

static bool mem_insert(struct rf_mem *m) RF_REQUIRES(rf_context_class)
{
	struct rf_memory *all = &m->ctx->memory;

	if (!rf_ranges_add(&all->ranges, &m->range))
		return false;
	if (m->kind == RF_MEM_CACHED) {
		all->n_cached++;
		all->bytes_cached += m->range.bytes;
	} else if (m->kind == RF_MEM_HANDLE) {
		all->n_handles++;
	}
	all->registrations += m->nic != NULL;
	return true;
}

static struct rf_mem *mem_new(struct rf_context *ctx, uintptr_t at, size_t bytes,
			      enum rf_mem_kind kind, bool write)
{
	struct rf_mem *m = calloc(1, sizeof(*m));

	if (!m) {
		rf_fail(ctx, RF_ERR_NO_MEMORY, "no memory for a registration");
		return NULL;
	}
	m->range.at = at;
	m->range.bytes = bytes;
	m->ctx = ctx;
	m->kind = kind;
	m->write = write;
	m->host = true;
	return m;
}

/* ---- what is kept from earlier calls ---- */

static bool is_idle(const struct rf_mem *m) RF_REQUIRES(rf_context_class)
{
	return m->kind == RF_MEM_CACHED && m->users == 0;
}

/* The one that is unused for longest. */
static struct rf_mem *oldest_idle(const struct rf_memory *all) RF_REQUIRES(rf_context_class)
{
	struct rf_mem *oldest = NULL;

	for (size_t k = 0; k < all->ranges.n; k++) {
		struct rf_mem *m = mem_of(all->ranges.list[k].range);

		if (is_idle(m) && (!oldest || m->used_at < oldest->used_at))
			oldest = m;
	}
	return oldest;
}

static bool drop_oldest(struct rf_context *ctx) RF_REQUIRES(rf_context_class)
{
	struct rf_mem *m = oldest_idle(&ctx->memory);

	if (!m)
		return false;
	mem_remove(m);
	mem_free(m);
	return true;
}

static bool replaced(const struct rf_range *range, const void *arg) RF_REQUIRES(rf_context_class)
{
	const struct rf_mem *old = mem_of_const(range), *m = arg;

	return is_idle(old) && (m->write || !old->write) && old->range.at >= m->range.at &&
	       old->range.at + old->range.bytes <= m->range.at + m->range.bytes;
}

/* Whether m can be kept: drops what it contains, and others that are unused for longest. */
static bool room_for(struct rf_context *ctx, const struct rf_mem *m) RF_REQUIRES(rf_context_class)
{
	struct rf_memory *all = &ctx->memory;
	struct rf_range *old;

	if (m->range.bytes > ctx->reg_cache)
		return false;
	while ((old = rf_ranges_touching(&all->ranges, m->range.at, m->range.bytes, replaced, m))) {
		mem_remove(mem_of(old));
		mem_free(mem_of(old));
	}
	while (all->n_cached >= RF_MEM_CACHED_MAX ||
	       all->bytes_cached > ctx->reg_cache - m->range.bytes)
		if (!drop_oldest(ctx))
			return false;
	return true;
}

/* ---- calls ---- */

static bool suits_read(const struct rf_range *range, const void *arg)
{
	(void)range;
	(void)arg;
	return true;
}

static bool suits_write(const struct rf_range *range, const void *arg)
{
	(void)arg;
	return mem_of_const(range)->write;
}

/* Registers a buffer that lies in no registered memory. */
static int mem_make(struct rf_context *ctx, const void *addr, size_t bytes, bool write,
		    struct rf_mem **out) RF_REQUIRES(rf_context_class)
{
	struct rf_mem *m = mem_new(ctx, (uintptr_t)addr, bytes, RF_MEM_CALL, write);
	int ret;

	if (!m)
		return RF_ERR_NO_MEMORY;
	if (room_for(ctx, m))
		m->kind = RF_MEM_CACHED;
	do
		ret = rf_verbs_mem_register(ctx->verbs, addr, bytes, write, &m->nic, rf_error_text,
					    RF_TEXT_MAX);
	while (ret == RF_ERR_NO_MEMORY && drop_oldest(ctx));
	if (!ret && !mem_insert(m))
		ret = rf_fail(ctx, RF_ERR_NO_MEMORY, "no memory for a registration");
	if (ret)
		mem_free(m);
	else
		*out = m;
	return ret;
}

static int mem_take(struct rf_context *ctx, const void *addr, size_t bytes, bool write,
		    unsigned int how, struct rf_mem **out) RF_REQUIRES(rf_context_class)
{
	struct rf_memory *all = &ctx->memory;
	struct rf_mem *m = NULL;
	int ret;

	if (bytes == 0)
		return RF_OK;
	if (all->ranges.n)
		m = mem_of(rf_ranges_find(&all->ranges, (uintptr_t)addr, bytes,
					  write ? suits_write : suits_read, NULL));
	if (m && !m->host && (how & RF_MEM_TOUCHED))
		return rf_fail(ctx, RF_ERR_INVALID,
			       "the buffer at %p is memory of a device, which the processor cannot "
			       "read: that takes a NIC (verbs), the box, more than one rank, and "
			       "no RF_FALLBACK",
			       addr);
	if (m)
		all->hits += m->kind != RF_MEM_CALL;
	else if (!known_readable(ctx, (uintptr_t)addr, bytes))
		return refuse(ctx, addr, bytes);
	if (!m && !(how & RF_MEM_NIC))
		return RF_OK;
	ret = m ? RF_OK : mem_make(ctx, addr, bytes, write, &m);
	if (ret)
		return ret;
	if (m->users++ == 0 && m->nic)
		rf_verbs_mem_use(m->nic, true);
	m->used_at = ++all->uses;
	*out = m;
	return RF_OK;
}

static void mem_give(struct rf_mem *m) RF_REQUIRES(rf_context_class)
{
	if (--m->users)
		return;
	if (m->nic)
		rf_verbs_mem_use(m->nic, false);
	if (m->kind != RF_MEM_CALL)
		return;
	mem_remove(m);
	mem_free(m);
}

int rf_mem_check(struct rf_context *ctx, const struct rf_buffers *b)
{
	if (b->recv_bytes && !known_readable(ctx, (uintptr_t)b->recv, b->recv_bytes))
		return refuse(ctx, b->recv, b->recv_bytes);
	if (b->send_bytes && !known_readable(ctx, (uintptr_t)b->send, b->send_bytes))
		return refuse(ctx, b->send, b->send_bytes);
	return RF_OK;
}

int rf_request_mem_take(struct rf_request *r, const struct rf_buffers *b, unsigned int how)
{
	struct rf_context *ctx = r->group->comm->ctx;
	struct rf_memory *all = &ctx->memory;
	int ret;

	/* the usual case without a NIC: two buffers that were seen before */
	if (!(how & RF_MEM_NIC) && all->ranges.n == 0 && b->send_bytes && b->recv_bytes &&
	    is_seen(seen_at(all, (uintptr_t)b->send), (uintptr_t)b->send, b->send_bytes) &&
	    is_seen(seen_at(all, (uintptr_t)b->recv), (uintptr_t)b->recv, b->recv_bytes))
		return RF_OK;
	ret = mem_take(ctx, b->recv, b->recv_bytes, true, how, &r->mem[0]);
	/* a send buffer inside the receive buffer finds that one */
	if (!ret)
		ret = mem_take(ctx, b->send, b->send_bytes, false, how, &r->mem[1]);
	if (ret)
		rf_request_mem_drop(r);
	return ret;
}

int rf_request_mem_own(struct rf_request *r, void *addr, size_t bytes)
{
	struct rf_context *ctx = r->group->comm->ctx;

	if (r->mem[2]) {
		mem_give(r->mem[2]);
		r->mem[2] = NULL;
	}
	return ctx->verbs
		       ? mem_take(ctx, addr, bytes, true, RF_MEM_NIC | RF_MEM_TOUCHED, &r->mem[2])
		       : RF_OK;
}

void rf_request_mem_drop(struct rf_request *r)
{
	for (unsigned int k = 0; k < 3; k++) {
		if (r->mem[k])
			mem_give(r->mem[k]);
		r->mem[k] = NULL;
	}
}

/* ---- the public calls ---- */

static int range_check(struct rf_context *ctx, const void *addr, size_t bytes, const void *out)
{
	if (!out)
		return rf_fail(ctx, RF_ERR_INVALID, "mem is NULL");
	if (!addr)
		return rf_fail(ctx, RF_ERR_INVALID, "addr is NULL");
	if (!bytes)
		return rf_fail(ctx, RF_ERR_INVALID, "bytes is 0");
	if (bytes - 1 > UINTPTR_MAX - (uintptr_t)addr)
		return rf_fail(ctx, RF_ERR_INVALID,
			       "%zu bytes at %p reach beyond the address space", bytes, addr);
	return RF_OK;
}

/* The handle is made, with or without the NIC. */
static int handle_out(struct rf_mem *m, int ret, struct rf_mem **out)
{
	struct rf_context *ctx = m->ctx;

	if (!ret) {
		rf_lock(ctx);
		if (!mem_insert(m))
			ret = rf_fail(ctx, RF_ERR_NO_MEMORY, "no memory for a registration");
		rf_unlock(ctx);
	}
	if (ret)
		mem_free(m);
	else
		*out = m;
	return ret;
}

int rf_mem_register(struct rf_context *ctx, void *addr, size_t bytes, struct rf_mem **out)
{
	struct rf_mem *m;
	int ret;

	if (rf_usable(ctx))
		return RF_ERR_INVALID;
	ret = range_check(ctx, addr, bytes, out);
	if (ret)
		return ret;
	if (!ends_readable((uintptr_t)addr, bytes))
		return refuse(ctx, addr, bytes);
	m = mem_new(ctx, (uintptr_t)addr, bytes, RF_MEM_HANDLE, true);
	if (!m)
		return RF_ERR_NO_MEMORY;
	/* without the lock: pinning much memory takes long */
	if (ctx->verbs)
		ret = rf_verbs_mem_register(ctx->verbs, addr, bytes, true, &m->nic, rf_error_text,
					    RF_TEXT_MAX);
	return handle_out(m, ret, out);
}

int rf_mem_register_dmabuf(struct rf_context *ctx, int fd, uint64_t offset, size_t bytes,
			   void *addr, struct rf_mem **out)
{
	const struct rf_verbs_dmabuf part = {
		.fd = fd, .offset = offset, .addr = addr, .len = bytes};
	struct rf_mem *m;
	int ret;

	if (rf_usable(ctx))
		return RF_ERR_INVALID;
	ret = range_check(ctx, addr, bytes, out);
	if (ret)
		return ret;
	if (fd < 0)
		return rf_fail(ctx, RF_ERR_INVALID, "fd is %d", fd);
	if (bytes > UINT64_MAX - offset)
		return rf_fail(ctx, RF_ERR_INVALID,
			       "%zu bytes from offset %llu on reach beyond 2^64", bytes,
			       (unsigned long long)offset);
	m = mem_new(ctx, (uintptr_t)addr, bytes, RF_MEM_HANDLE, true);
	if (!m)
		return RF_ERR_NO_MEMORY;
	m->host = ends_readable((uintptr_t)addr, bytes);
	if (ctx->verbs)
		ret = rf_verbs_mem_dmabuf(ctx->verbs, &part, &m->nic, rf_error_text, RF_TEXT_MAX);
	else if (!m->host)
		ret = rf_fail(ctx, RF_ERR_INVALID,
			      "dma-buf %d: this process cannot read its bytes at %p, and without a "
			      "NIC (RF_BACKEND=verbs) its processor would have to: copy them to "
			      "host memory first",
			      fd, addr);
	return handle_out(m, ret, out);
}

int rf_mem_deregister(struct rf_mem *m)
{
	struct rf_context *ctx;
	bool busy;

	if (!m)
		return RF_OK;
	ctx = m->ctx;
	if (rf_usable(ctx))
		return RF_ERR_INVALID;
	rf_lock(ctx);
	busy = m->users || (m->nic && rf_verbs_mem_busy(m->nic));
	if (!busy)
		mem_remove(m);
	rf_unlock(ctx);
	if (busy)
		return rf_fail(ctx, RF_ERR_BUSY,
			       "a request with a buffer in the registered memory is outstanding");
	mem_free(m);
	return RF_OK;
}

static bool is_cached(const struct rf_range *range, const void *arg) RF_REQUIRES(rf_context_class)
{
	(void)arg;
	return is_idle(mem_of_const(range));
}

static bool is_used(const struct rf_range *range, const void *arg) RF_REQUIRES(rf_context_class)
{
	const struct rf_mem *m = mem_of_const(range);

	(void)arg;
	return m->kind != RF_MEM_HANDLE && m->users > 0;
}

int rf_mem_forget(struct rf_context *ctx, const void *addr, size_t bytes)
{
	uintptr_t at = (uintptr_t)addr;
	struct rf_memory *all;
	struct rf_range *range;
	int ret;

	if (rf_usable(ctx))
		return RF_ERR_INVALID;
	ret = range_check(ctx, addr, bytes, ctx);
	if (ret)
		return ret;
	rf_lock(ctx);
	all = &ctx->memory;
	for (unsigned int k = 0; k < RF_MEM_SEEN; k++)
		if (all->seen[k].first <= at + (bytes - 1) && all->seen[k].last >= at)
			all->seen[k] = (struct rf_mem_seen){0};
	while ((range = rf_ranges_touching(&all->ranges, at, bytes, is_cached, NULL))) {
		mem_remove(mem_of(range));
		mem_free(mem_of(range));
	}
	if (rf_ranges_touching(&all->ranges, at, bytes, is_used, NULL))
		ret = rf_fail(ctx, RF_ERR_BUSY,
			      "a request with a buffer in this memory is outstanding");
	rf_unlock(ctx);
	return ret;
}

/* Nobody else uses the context any more. */
RF_UNSHARED void rf_mem_end(struct rf_context *ctx)
{
	for (size_t k = 0; k < ctx->memory.ranges.n; k++)
		mem_free(mem_of(ctx->memory.ranges.list[k].range));
	rf_ranges_free(&ctx->memory.ranges);
}
