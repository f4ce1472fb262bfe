/*
 * libibverbs, loaded on demand: without rdma-core the library still works. Inline functions of
 * <infiniband/verbs.h> that use the context's own table (ibv_poll_cq, ibv_post_send, ibv_post_recv,
 * ibv_req_notify_cq) are called directly; all others are listed here.
 */
#ifndef RF_VERBS_LIB_H
#define RF_VERBS_LIB_H

#include <stddef.h>

#include <infiniband/verbs.h>

/* Functions that the header also defines as macros. */
#undef ibv_reg_mr
#undef ibv_query_port

struct rf_ibv {
	struct ibv_device **(*get_device_list)(int *count);
	void (*free_device_list)(struct ibv_device **list);
	const char *(*get_device_name)(struct ibv_device *device);
	struct ibv_context *(*open_device)(struct ibv_device *device);
	int (*close_device)(struct ibv_context *context);
	/* the oldest version: fields unknown to an old library stay 0, as the caller set them */
	int (*query_port)(struct ibv_context *context, uint8_t port, void *attr);
	struct ibv_pd *(*alloc_pd)(struct ibv_context *context);
	int (*dealloc_pd)(struct ibv_pd *pd);
	struct ibv_mr *(*reg_mr)(struct ibv_pd *pd, void *addr, size_t length, int access);
	/* NULL: the library is older than this function (rdma-core 34) */
	struct ibv_mr *(*reg_dmabuf_mr)(struct ibv_pd *pd, uint64_t offset, size_t length,
					uint64_t iova, int fd, int access);
	int (*dereg_mr)(struct ibv_mr *mr);
	struct ibv_comp_channel *(*create_comp_channel)(struct ibv_context *context);
	int (*destroy_comp_channel)(struct ibv_comp_channel *channel);
	struct ibv_cq *(*create_cq)(struct ibv_context *context, int cqe, void *cq_context,
				    struct ibv_comp_channel *channel, int vector);
	int (*destroy_cq)(struct ibv_cq *cq);
	int (*get_cq_event)(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **context);
	void (*ack_cq_events)(struct ibv_cq *cq, unsigned int count);
	struct ibv_qp *(*create_qp)(struct ibv_pd *pd, struct ibv_qp_init_attr *attr);
	int (*modify_qp)(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask);
	int (*destroy_qp)(struct ibv_qp *qp);
};

/*
 * Returns the functions, or NULL with a reason in why. Loaded once per process; any thread may call
 * it.
 */
const struct rf_ibv *rf_ibv(char *why, size_t room);

#endif
