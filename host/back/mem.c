/* Memory that the NIC knows. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/back/internal.h"
#include "ringfold/ringfold.h"

static int status_of(int error)
{
	switch (error) {
	case ENOMEM:
		return RF_ERR_NO_MEMORY;
	case EFAULT:
	case EINVAL:
	case EBADF:
		return RF_ERR_INVALID;
	case EOPNOTSUPP:
	case ENOSYS:
		return RF_ERR_DEVICE;
	default:
		return RF_ERR_SYSTEM;
	}
}

static const char *remedy_of(int error, bool dmabuf)
{
	if (error == ENOMEM)
		return " (locked memory is limited: ulimit -l unlimited)";
	if (!dmabuf && error == EFAULT)
		return " (it is not, or not all, memory that this process can write; memory of a "
		       "device needs rf_mem_register_dmabuf())";
	if (dmabuf && (error == EBADF || error == EINVAL))
		return " (expected the descriptor of a dma-buf, a range inside it, and an offset "
		       "that differs from addr by whole pages)";
	if (dmabuf && (error == EOPNOTSUPP || error == ENOSYS))
		return " (driver or kernel know no dma-buf: copy to host memory first)";
	return "";
}

static struct rf_verbs_mem *region(struct rf_verbs *v, const void *addr, size_t len, bool write,
				   char *why, size_t room)
{
	struct rf_verbs_mem *m = calloc(1, sizeof(*m));

	if (!m) {
		snprintf(why, room, "no memory");
		return NULL;
	}
	m->v = v;
	m->addr = addr;
	m->len = len;
	m->write = write;
	return m;
}

/* The NIC has it, or not: errno. */
static int registered(struct rf_verbs_mem *m, const char *what, bool dmabuf,
		      struct rf_verbs_mem **out, char *why, size_t room)
{
	int error = errno;

	if (m->mr) {
		*out = m;
		return RF_OK;
	}
	snprintf(why, room, "%zu bytes %s cannot be registered with the NIC: %s%s", m->len, what,
		 strerror(error), remedy_of(error, dmabuf));
	free(m);
	return status_of(error);
}

int rf_verbs_mem_register(struct rf_verbs *v, const void *addr, size_t len, bool write,
			  struct rf_verbs_mem **out, char *why, size_t room)
{
	struct rf_verbs_mem *m = region(v, addr, len, write, why, room);
	char what[32];

	if (!m)
		return RF_ERR_NO_MEMORY;
	snprintf(what, sizeof(what), "at %p", addr);
	m->mr = v->f->reg_mr(v->pd, (void *)(uintptr_t)addr, len,
			     write ? IBV_ACCESS_LOCAL_WRITE : 0);
	return registered(m, what, false, out, why, room);
}

int rf_verbs_mem_dmabuf(struct rf_verbs *v, const struct rf_verbs_dmabuf *part,
			struct rf_verbs_mem **out, char *why, size_t room)
{
	struct rf_verbs_mem *m;
	char what[64];

	if (!v->f->reg_dmabuf_mr) {
		snprintf(why, room,
			 "libibverbs.so.1 has no ibv_reg_dmabuf_mr: rdma-core 34 or later is "
			 "needed, or a copy in host memory");
		return RF_ERR_DEVICE;
	}
	m = region(v, part->addr, part->len, true, why, room);
	if (!m)
		return RF_ERR_NO_MEMORY;
	snprintf(what, sizeof(what), "at %llu of dma-buf %d", (unsigned long long)part->offset,
		 part->fd);
	m->mr = v->f->reg_dmabuf_mr(v->pd, part->offset, part->len, (uintptr_t)part->addr, part->fd,
				    IBV_ACCESS_LOCAL_WRITE);
	return registered(m, what, true, out, why, room);
}

static void unlink_from(struct rf_verbs_mem **at, const struct rf_verbs_mem *m)
{
	while (*at && *at != m)
		at = &(*at)->next;
	if (*at)
		*at = m->next;
}

void rf_verbs_mem_use(struct rf_verbs_mem *m, bool on)
{
	if (m->used == on)
		return;
	m->used = on;
	if (on) {
		m->next = m->v->mems;
		m->v->mems = m;
	} else {
		unlink_from(&m->v->mems, m);
	}
}

bool rf_verbs_mem_busy(const struct rf_verbs_mem *m)
{
	return m->posted > 0;
}

static void end(struct rf_verbs_mem *m)
{
	m->v->f->dereg_mr(m->mr);
	free(m);
}

void rf_verbs_mem_drop(struct rf_verbs_mem *m)
{
	rf_verbs_mem_use(m, false);
	if (!m->posted) {
		end(m);
		return;
	}
	/* A message of another call lies in it too, and was posted with its key. */
	m->dropped = true;
	m->next = m->v->dropped;
	m->v->dropped = m;
}

struct rf_verbs_mem *rf_verbs_mem_get(struct rf_verbs *v, const void *buf, uint32_t len, bool write,
				      uint32_t *lkey)
{
	const char *p = buf;

	for (struct rf_verbs_mem *m = v->mems; m; m = m->next) {
		if ((write && !m->write) || p < m->addr || (size_t)(p - m->addr) > m->len ||
		    m->len - (size_t)(p - m->addr) < len)
			continue;
		*lkey = m->mr->lkey;
		m->posted++;
		return m;
	}
	return NULL;
}

void rf_verbs_mem_put(struct rf_verbs_mem *m)
{
	if (!m || --m->posted || !m->dropped)
		return;
	unlink_from(&m->v->dropped, m);
	end(m);
}

void rf_verbs_mem_end(struct rf_verbs *v)
{
	struct rf_verbs_mem *m, *next;

	while (v->mems)
		rf_verbs_mem_drop(v->mems);
	for (m = v->dropped; m; m = next) {
		next = m->next;
		end(m);
	}
	v->dropped = NULL;
}
