#include "tests/unit/fake_verbs.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define NICS 16u
#define QUEUE 1024u
#define REGIONS 8192u
#define QPS 64u

bool fake_verbs_is_old;

struct region {
	struct ibv_mr mr; /* first */
	struct fake_verbs_nic *nic;
	char *backing; /* where the bytes are */
	uint64_t iova;
	size_t len;
	bool write, live, dmabuf;
};

struct fake_cq {
	struct ibv_cq cq; /* first */
	struct ibv_wc wc[QUEUE];
	unsigned int head, tail;
};

struct request {
	uint64_t id;
	struct ibv_sge sge; /* length 0: no buffer */
	bool has_imm;
	uint32_t imm;
};

struct fake_qp {
	struct ibv_qp qp; /* first */
	struct fake_cq *cq;
	struct fake_verbs_nic *nic;
	uint32_t peer;
	bool open, failed;
	struct request sends[QUEUE], recvs[QUEUE];
	unsigned int s_head, s_tail, r_head, r_tail;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct fake_verbs_nic nics[NICS];
static struct region regions[REGIONS];
static unsigned int n_regions; /* also the last key */
static struct fake_qp *qps[QPS];
static char *device;

char *fake_verbs_memory(void)
{
	if (!device)
		device = mmap(NULL, FAKE_VERBS_BYTES, PROT_NONE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return device;
}

int fake_verbs_dmabuf(size_t bytes)
{
	int fd = memfd_create("fake_verbs", MFD_CLOEXEC);

	return fd >= 0 && ftruncate(fd, (off_t)bytes) == 0 ? fd : -1;
}

static struct fake_verbs_nic *nic_of(struct ibv_context *c)
{
	return (struct fake_verbs_nic *)(void *)c;
}

/* ---- memory ---- */

static struct ibv_mr *region_new(struct ibv_pd *pd, char *backing, uint64_t iova, size_t len,
				 int access)
{
	struct fake_verbs_nic *nic = nic_of(pd->context);
	struct region *r;

	if (nic->refuse || (nic->limit && nic->registered - nic->deregistered >= nic->limit)) {
		errno = nic->refuse ? (int)nic->refuse : ENOMEM;
		nic->refuse = 0;
		return NULL;
	}
	if (n_regions == REGIONS)
		abort();
	r = &regions[n_regions++];
	*r = (struct region){.nic = nic,
			     .backing = backing,
			     .iova = iova,
			     .len = len,
			     .write = access & IBV_ACCESS_LOCAL_WRITE,
			     .live = true};
	r->mr = (struct ibv_mr){.context = pd->context, .pd = pd, .lkey = n_regions};
	nic->registered++;
	return &r->mr;
}

static struct ibv_mr *reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access)
{
	const char *a = addr;
	struct ibv_mr *mr;

	if (device && a < device + FAKE_VERBS_BYTES && a + length > device) {
		errno = EFAULT;
		return NULL;
	}
	pthread_mutex_lock(&lock);
	mr = region_new(pd, addr, (uintptr_t)addr, length, access);
	pthread_mutex_unlock(&lock);
	return mr;
}

/* Any file that can be mapped is a dma-buf here. */
static struct ibv_mr *reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length,
				    uint64_t iova, int fd, int access)
{
	struct fake_verbs_nic *nic = nic_of(pd->context);
	char *at = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)offset);
	struct ibv_mr *mr;

	if (at == MAP_FAILED)
		return NULL;
	pthread_mutex_lock(&lock);
	nic->fd = fd;
	nic->offset = offset;
	nic->length = length;
	nic->iova = iova;
	mr = region_new(pd, at, iova, length, access);
	if (mr)
		((struct region *)(void *)mr)->dmabuf = true;
	pthread_mutex_unlock(&lock);
	if (!mr)
		munmap(at, length);
	return mr;
}

static int dereg_mr(struct ibv_mr *mr)
{
	struct region *r = (struct region *)(void *)mr;

	pthread_mutex_lock(&lock);
	if (!r->live)
		abort();
	r->live = false;
	r->nic->deregistered++;
	if (r->dmabuf)
		munmap(r->backing, r->len);
	pthread_mutex_unlock(&lock);
	return 0;
}

/* The bytes of an entry, or NULL: the key does not allow it. */
static char *bytes_of(const struct fake_verbs_nic *nic, const struct ibv_sge *sge, bool write)
{
	struct region *r;

	if (sge->lkey == 0 || sge->lkey > n_regions)
		return NULL;
	r = &regions[sge->lkey - 1];
	if (!r->live || r->nic != nic || (write && !r->write) || sge->addr < r->iova ||
	    sge->addr + sge->length > r->iova + r->len)
		return NULL;
	return r->backing + (sge->addr - r->iova);
}

/* ---- messages ---- */

static void complete(struct fake_qp *q, struct ibv_wc wc)
{
	struct fake_cq *cq = q->cq;

	wc.qp_num = q->qp.qp_num;
	if (cq->tail - cq->head == QUEUE)
		abort();
	cq->wc[cq->tail++ % QUEUE] = wc;
	if (q->nic->io)
		q->nic->io->ops->wake(q->nic->io);
}

static void flush(struct fake_qp *q)
{
	q->failed = true;
	for (; q->s_head != q->s_tail; q->s_head++)
		complete(q, (struct ibv_wc){.wr_id = q->sends[q->s_head % QUEUE].id,
					    .status = IBV_WC_WR_FLUSH_ERR});
	for (; q->r_head != q->r_tail; q->r_head++)
		complete(q, (struct ibv_wc){.wr_id = q->recvs[q->r_head % QUEUE].id,
					    .status = IBV_WC_WR_FLUSH_ERR});
}

static struct fake_qp *qp_at(uint32_t number)
{
	return number > 0 && number <= QPS && qps[number - 1] && qps[number - 1]->open
		       ? qps[number - 1]
		       : NULL;
}

/* Carries a message that waits, if the peer has a receive for it. */
static bool carry(struct fake_qp *from, struct fake_qp *to)
{
	struct request *s = &from->sends[from->s_head % QUEUE];
	struct request *r = &to->recvs[to->r_head % QUEUE];
	char *src, *dst;

	if (from->s_head == from->s_tail || to->r_head == to->r_tail || from->failed ||
	    to->failed || from->peer != to->qp.qp_num || to->peer != from->qp.qp_num)
		return false;
	src = s->sge.length ? bytes_of(from->nic, &s->sge, false) : NULL;
	dst = r->sge.length ? bytes_of(to->nic, &r->sge, true) : NULL;
	from->s_head++;
	to->r_head++;
	if ((s->sge.length && !src) || (r->sge.length && !dst) || s->sge.length > r->sge.length) {
		complete(from,
			 (struct ibv_wc){.wr_id = s->id,
					 .status = src ? IBV_WC_REM_OP_ERR : IBV_WC_LOC_PROT_ERR});
		complete(to, (struct ibv_wc){.wr_id = r->id,
					     .status = dst ? IBV_WC_WR_FLUSH_ERR
							   : IBV_WC_LOC_PROT_ERR});
		flush(from);
		flush(to);
		return false;
	}
	if (s->sge.length)
		memcpy(dst, src, s->sge.length);
	complete(from, (struct ibv_wc){.wr_id = s->id, .opcode = IBV_WC_SEND});
	complete(to, (struct ibv_wc){.wr_id = r->id,
				     .opcode = IBV_WC_RECV,
				     .byte_len = s->sge.length,
				     .imm_data = s->imm,
				     .wc_flags = s->has_imm ? IBV_WC_WITH_IMM : 0});
	return true;
}

static int post(struct fake_qp *q, struct request *queue, unsigned int head, unsigned int *tail,
		const struct request *r)
{
	int ret = q->failed || *tail - head == QUEUE ? ENOMEM : 0;

	if (!ret)
		queue[(*tail)++ % QUEUE] = *r;
	return ret;
}

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	struct fake_qp *q = (struct fake_qp *)(void *)qp, *peer;
	struct request r = {.id = wr->wr_id,
			    .has_imm = wr->opcode == IBV_WR_SEND_WITH_IMM,
			    .imm = wr->imm_data};
	int ret;

	*bad = wr;
	if (wr->num_sge)
		r.sge = wr->sg_list[0];
	pthread_mutex_lock(&lock);
	ret = post(q, q->sends, q->s_head, &q->s_tail, &r);
	peer = qp_at(q->peer);
	while (peer && carry(q, peer))
		;
	pthread_mutex_unlock(&lock);
	return ret;
}

static int post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	struct fake_qp *q = (struct fake_qp *)(void *)qp, *peer;
	struct request r = {.id = wr->wr_id};
	int ret;

	*bad = wr;
	if (wr->num_sge)
		r.sge = wr->sg_list[0];
	pthread_mutex_lock(&lock);
	ret = post(q, q->recvs, q->r_head, &q->r_tail, &r);
	peer = qp_at(q->peer);
	while (peer && carry(peer, q))
		;
	pthread_mutex_unlock(&lock);
	return ret;
}

static int poll_cq(struct ibv_cq *ibv, int n, struct ibv_wc *wc)
{
	struct fake_cq *cq = (struct fake_cq *)(void *)ibv;
	int got = 0;

	pthread_mutex_lock(&lock);
	while (got < n && cq->head != cq->tail)
		wc[got++] = cq->wc[cq->head++ % QUEUE];
	pthread_mutex_unlock(&lock);
	return got;
}

/* ---- objects ---- */

static struct ibv_cq *create_cq(struct ibv_context *c, int cqe, void *arg,
				struct ibv_comp_channel *channel, int vector)
{
	struct fake_cq *cq = calloc(1, sizeof(*cq));

	(void)cqe;
	(void)channel;
	(void)vector;
	if (!cq)
		abort();
	cq->cq.context = c;
	cq->cq.cq_context = arg;
	return &cq->cq;
}

static int destroy_cq(struct ibv_cq *cq)
{
	free(cq);
	return 0;
}

static struct ibv_qp *create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	struct fake_qp *q = calloc(1, sizeof(*q));
	unsigned int k = 0;

	if (!q)
		abort();
	pthread_mutex_lock(&lock);
	while (k < QPS && qps[k])
		k++;
	if (k == QPS)
		abort();
	qps[k] = q;
	q->qp.context = pd->context;
	q->qp.qp_num = k + 1;
	q->cq = (struct fake_cq *)(void *)attr->send_cq;
	q->nic = nic_of(pd->context);
	q->open = true;
	pthread_mutex_unlock(&lock);
	return &q->qp;
}

static int modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	struct fake_qp *q = (struct fake_qp *)(void *)qp, *peer;

	pthread_mutex_lock(&lock);
	if (mask & IBV_QP_DEST_QPN)
		q->peer = attr->dest_qp_num;
	peer = qp_at(q->peer);
	while (peer && carry(peer, q))
		;
	if ((mask & IBV_QP_STATE) && attr->qp_state == IBV_QPS_ERR)
		flush(q);
	pthread_mutex_unlock(&lock);
	return 0;
}

static int destroy_qp(struct ibv_qp *qp)
{
	struct fake_qp *q = (struct fake_qp *)(void *)qp;

	pthread_mutex_lock(&lock);
	qps[qp->qp_num - 1] = NULL;
	pthread_mutex_unlock(&lock);
	free(q);
	return 0;
}

static int dealloc_pd(struct ibv_pd *pd)
{
	(void)pd;
	return 0;
}

static int close_device(struct ibv_context *c)
{
	(void)c;
	return 0;
}

/* ---- the library ---- */

/* One that no test calls. */
static void unused(void)
{
	abort();
}

static const struct {
	const char *name;
	void (*function)(void);
} symbols[] = {
	{"ibv_reg_mr", (void (*)(void))reg_mr},
	{"ibv_reg_dmabuf_mr", (void (*)(void))reg_dmabuf_mr},
	{"ibv_dereg_mr", (void (*)(void))dereg_mr},
	{"ibv_create_cq", (void (*)(void))create_cq},
	{"ibv_destroy_cq", (void (*)(void))destroy_cq},
	{"ibv_create_qp", (void (*)(void))create_qp},
	{"ibv_modify_qp", (void (*)(void))modify_qp},
	{"ibv_destroy_qp", (void (*)(void))destroy_qp},
	{"ibv_dealloc_pd", (void (*)(void))dealloc_pd},
	{"ibv_close_device", (void (*)(void))close_device},
};

static char handle;

void *__real_dlopen(const char *name, int flags);
void *__real_dlsym(void *from, const char *name);
void *__wrap_dlopen(const char *name, int flags);
void *__wrap_dlsym(void *from, const char *name);

void *__wrap_dlopen(const char *name, int flags)
{
	return name && strcmp(name, "libibverbs.so.1") == 0 ? &handle : __real_dlopen(name, flags);
}

void *__wrap_dlsym(void *from, const char *name)
{
	void (*function)(void) = unused;
	void *symbol;

	if (from != &handle)
		return __real_dlsym(from, name);
	if (fake_verbs_is_old && strcmp(name, "ibv_reg_dmabuf_mr") == 0)
		return NULL;
	for (size_t k = 0; k < sizeof(symbols) / sizeof(symbols[0]); k++)
		if (strcmp(symbols[k].name, name) == 0)
			function = symbols[k].function;
	memcpy(&symbol, &function, sizeof(symbol));
	return symbol;
}

struct fake_verbs_nic *fake_verbs_at(unsigned int number)
{
	return &nics[number];
}

struct rf_verbs *fake_verbs_open(unsigned int number, struct rf_io *io)
{
	struct rf_verbs *v = calloc(1, sizeof(*v));
	struct fake_verbs_nic *nic = &nics[number];
	char why[200];

	if (!v)
		abort();
	memset(nic, 0, sizeof(*nic));
	nic->io = io;
	nic->pd.context = &nic->context;
	nic->context.ops.poll_cq = poll_cq;
	nic->context.ops.post_send = post_send;
	nic->context.ops.post_recv = post_recv;
	v->f = rf_ibv(why, sizeof(why));
	v->context = &nic->context;
	v->pd = &nic->pd;
	v->port = 1;
	v->cfg.mtu = 1024;
	v->cfg.polling = true;
	pthread_mutex_init(&v->lock, NULL);
	return v;
}
