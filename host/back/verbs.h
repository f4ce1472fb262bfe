/*
 * The verbs back end: reliable connections of a RoCE NIC by libibverbs, as a message channel
 * (host/collective/msg.h).
 *
 *	rf_verbs_open(&cfg, &v, why, sizeof(why));
 *	rf_verbs_qp_create(v, depth, &qp);           a number that the peer has to know
 *	rf_verbs_qp_connect(qp, &to);                start PSNs of both ends are ours
 *	mem = rf_verbs_mem_add(v, buf, len, true);   zero copy: the NIC reads and writes there
 *	msg = rf_msg_verbs(qp);
 *
 * Control packets of the box use a UDP socket of the kernel; rf_verbs_io() presents them as frames,
 * as the rest of the library expects. Its wait() sleeps until a completion, a control packet or
 * wake().
 *
 * Threads: calls on one rf_verbs come from one thread at a time except for rf_io's wait() and
 * wake(). Errors are negative enum rf_status with a text.
 */
#ifndef RF_VERBS_H
#define RF_VERBS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/collective/msg.h"
#include "host/io/io.h"

struct rf_verbs;
struct rf_verbs_qp;
struct rf_verbs_mem;

struct rf_verbs_cfg {
	/* "NAME[:PORT[:GID INDEX]]"; "": the first port that is up and has a matching GID */
	const char *device;
	uint32_t ip;      /* own address, host order: only its GID matches; 0: any */
	unsigned int mtu; /* path MTU, bytes */
	uint8_t timeout;  /* time without an ACK until a packet is repeated: 4.096 us x 2^timeout */
	uint8_t retry_cnt;  /* 7: a NIC gives up after seven retries, soft-RoCE never */
	uint8_t tclass;     /* DSCP << 2 | ECN */
	uint16_t udp_sport; /* 0: the NIC's own choice; else from 49152 on */
	bool polling;       /* poll for completions; else the NIC sends events */
};

/*
 * Selects a device by the rule: RoCE v2 GIDs that are IPv4 addresses, lowest index first, devices
 * in libibverbs' order. RF_ERR_DEVICE if there is none, or if the library is absent.
 */
int rf_verbs_open(const struct rf_verbs_cfg *cfg, struct rf_verbs **out, char *why, size_t room);
void rf_verbs_close(struct rf_verbs *v);

/* Returns 1 if an RDMA device exists that could be opened, or 0 with a reason in why. */
int rf_verbs_present(char *why, size_t room);

/*
 * Describes the choice: "rxe0 port 1, GID 1 ::ffff:10.0.0.1 (RoCE v2, eth0), ...". Valid as long as
 * v exists.
 */
const char *rf_verbs_text(const struct rf_verbs *v);

/* The interface for control packets; close it with its own close(), before rf_verbs_close(). */
int rf_verbs_io(struct rf_verbs *v, struct rf_io **io, char *why, size_t room);

struct rf_verbs_to {
	uint32_t ip;
	uint32_t qpn;
	uint32_t sq_psn; /* PSN of the first packet that this end sends */
	uint32_t rq_psn; /* first PSN that this end expects */
};

/* Up to `depth` sends and as many receives may be posted. */
int rf_verbs_qp_create(struct rf_verbs *v, uint32_t depth, struct rf_verbs_qp **out, char *why,
		       size_t room);
uint32_t rf_verbs_qp_number(const struct rf_verbs_qp *qp);
int rf_verbs_qp_connect(struct rf_verbs_qp *qp, const struct rf_verbs_to *to, char *why,
			size_t room);
/*
 * Returns when the NIC uses none of this queue pair's buffers any more, after 50 ms at the latest:
 * a queue pair that keeps work requests for longer is destroyed. Afterwards nothing can be posted,
 * and its number is 0 if it was destroyed.
 */
void rf_verbs_qp_end(struct rf_verbs_qp *qp);
/* NULL is allowed. */
void rf_verbs_qp_destroy(struct rf_verbs_qp *qp);
/*
 * Bytes and messages received here or acknowledged by the peer: increases as long as there is
 * progress.
 */
uint64_t rf_verbs_qp_progress(const struct rf_verbs_qp *qp);

/* The channel over a queue pair. Statuses are enum roce_wc_status, as for rf_msg_qp(). */
struct rf_msg rf_msg_verbs(struct rf_verbs_qp *qp);

/* ---- memory ----
 *
 * Posted buffers must lie in memory that is registered and in use. Registered memory that is not in
 * use costs nothing but its place at the NIC.
 */

/* A part of a dma-buf: memory of another device, or of a heap of the kernel. */
struct rf_verbs_dmabuf {
	int fd;
	uint64_t offset;  /* of the part */
	const void *addr; /* what messages call its first byte */
	size_t len;
};

/*
 * Registers memory, which is not in use yet. Any thread may call it. Returns 0, or a negative enum
 * rf_status with a text: RF_ERR_INVALID if this is no memory of the process, RF_ERR_NO_MEMORY if
 * the kernel refuses (often RLIMIT_MEMLOCK), RF_ERR_DEVICE if driver or library do not support it.
 */
int rf_verbs_mem_register(struct rf_verbs *v, const void *addr, size_t len, bool write,
			  struct rf_verbs_mem **mem, char *why, size_t room);
int rf_verbs_mem_dmabuf(struct rf_verbs *v, const struct rf_verbs_dmabuf *part,
			struct rf_verbs_mem **mem, char *why, size_t room);
/* From now on messages may be posted in it, or not any more. */
void rf_verbs_mem_use(struct rf_verbs_mem *mem, bool on);
/* Whether messages in it are under way. */
bool rf_verbs_mem_busy(const struct rf_verbs_mem *mem);
/* Ends its use, and deregisters it once no message in it is under way. */
void rf_verbs_mem_drop(struct rf_verbs_mem *mem);

#endif
