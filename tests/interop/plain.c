/*
 * A verbs program with no ringfold code in it: sends a vector to its successor over a reliable
 * connection and receives as much from its predecessor, in messages of 16 KB, and compares the
 * received data with the expected data. It knows nothing of a box.
 *
 *	plain qp SUCCESSOR PREDECESSOR BYTES LOOPS FOLDER
 *	plain cm SUCCESSOR LISTEN BYTES LOOPS FOLDER
 *	plain mirror ADDRESS - BYTES LOOPS FOLDER
 *	plain directed ADDRESS RANK BYTES LOOPS FOLDER
 *
 * qp: queue pairs made without librdmacm. FOLDER/own gets "SEND_QPN START_PSN RECV_QPN MTU". The
 * program waits for the neighbours' values in FOLDER/peers: "QPN of the successor that receives,
 * QPN of the predecessor that sends, its start PSN".
 * cm: by librdmacm; connects to the successor's port 7471 and accepts on its own address LISTEN.
 * FOLDER/own gets the values of the connections. Both then wait for FOLDER/go.
 * mirror: one queue pair to ADDRESS, with its own QPN as that of its peer.
 * directed: the same; each packet is a message with an immediate (docs/box.md). Rank 0 gives, the
 * others send empty messages and want the result: a broadcast of each vector.
 *
 * Integer i of the vector of loop n is n + 1 + i, at every rank. FOLDER/go holds the
 * number of ranks whose sum is expected (1: the predecessor's own data). Exit code 3: wrong data,
 * also in an incomplete vector; 1: an incomplete vector without a wrong element. PLAIN_SECONDS: the
 * longest time for a vector (120). PLAIN_SLIP: directed skips an index once.
 */
#include <arpa/inet.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#define MESSAGE 16384u
#define DEPTH 16u
#define WAIT_SECONDS 120
#define CM_PORT 7471

static struct ibv_context *context;
static struct ibv_pd *pd;
static struct ibv_cq *cq;
static struct ibv_qp *out, *in;
static struct ibv_mr *send_mr, *recv_mr;
static uint32_t *send_buf, *recv_buf;
static size_t bytes;
static uint32_t message = MESSAGE;
static bool directed, gives; /* a directed group; this rank gives to the broadcast */
static uint32_t packets;     /* of a directed group, sent and expected so far */
static uint32_t expected;

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void path_of(char *to, size_t room, const char *folder, const char *name)
{
	snprintf(to, room, "%s/%s", folder, name);
}

/* Waits for a file and returns its text. */
static void await(const char *folder, const char *name, char *text, int room)
{
	char path[200];

	path_of(path, sizeof(path), folder, name);
	for (int i = 0; i < WAIT_SECONDS * 20; i++) {
		FILE *f = fopen(path, "r");
		struct timespec nap = {0, 50000000};

		if (f && fgets(text, room, f) && strchr(text, '\n')) {
			fclose(f);
			return;
		}
		if (f)
			fclose(f);
		nanosleep(&nap, NULL);
	}
	fprintf(stderr, "no %s\n", path);
	exit(1);
}

static void publish(const char *folder, uint32_t send_qpn, uint32_t psn, uint32_t recv_qpn,
		    enum ibv_mtu mtu)
{
	char path[200], ready[200];
	FILE *f;

	path_of(path, sizeof(path), folder, "own.new");
	path_of(ready, sizeof(ready), folder, "own");
	f = fopen(path, "w");
	if (!f || fprintf(f, "%u %u %u %u\n", send_qpn, psn, recv_qpn, 128u << mtu) < 0 ||
	    fclose(f) != 0 || rename(path, ready) != 0)
		die(path);
}

static void make_resources(void)
{
	pd = ibv_alloc_pd(context);
	cq = pd ? ibv_create_cq(context, 4 * DEPTH, NULL, NULL, 0) : NULL;
	send_buf = aligned_alloc(4096, bytes);
	recv_buf = aligned_alloc(4096, bytes);
	if (!cq || !send_buf || !recv_buf)
		die("resources");
	send_mr = ibv_reg_mr(pd, send_buf, bytes, 0);
	recv_mr = ibv_reg_mr(pd, recv_buf, bytes, IBV_ACCESS_LOCAL_WRITE);
	if (!send_mr || !recv_mr)
		die("registration");
}

static struct ibv_qp_init_attr qp_attr(void)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.send_cq = cq,
		.recv_cq = cq,
		.sq_sig_all = 1,
		.cap = {.max_send_wr = DEPTH,
			.max_recv_wr = DEPTH,
			.max_send_sge = 1,
			.max_recv_sge = 1},
	};

	return attr;
}

/* ---- queue pairs without librdmacm ---- */

static struct ibv_qp *make_qp(void)
{
	struct ibv_qp_init_attr init = qp_attr();
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1};
	struct ibv_qp *qp = ibv_create_qp(pd, &init);

	if (!qp || ibv_modify_qp(qp, &attr,
				 IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
					 IBV_QP_ACCESS_FLAGS) != 0)
		die("queue pair");
	return qp;
}

static void connect_qp(struct ibv_qp *qp, const char *ip, uint32_t qpn, uint32_t sq_psn,
		       uint32_t rq_psn)
{
	struct ibv_qp_attr rtr = {.qp_state = IBV_QPS_RTR,
				  .path_mtu = IBV_MTU_1024,
				  .dest_qp_num = qpn,
				  .rq_psn = rq_psn,
				  .min_rnr_timer = 12,
				  .ah_attr = {.is_global = 1, .port_num = 1}};
	struct ibv_qp_attr rts = {.qp_state = IBV_QPS_RTS,
				  .timeout = 18,
				  .retry_cnt = 7,
				  .rnr_retry = 7,
				  .sq_psn = sq_psn};
	uint8_t *gid = rtr.ah_attr.grh.dgid.raw;

	gid[10] = gid[11] = 0xff;
	if (inet_pton(AF_INET, ip, gid + 12) != 1)
		die(ip);
	rtr.ah_attr.grh.sgid_index = 1;
	rtr.ah_attr.grh.hop_limit = 64;
	if (ibv_modify_qp(qp, &rtr,
			  IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				  IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
				  IBV_QP_MIN_RNR_TIMER) != 0)
		die("RTR");
	if (ibv_modify_qp(qp, &rts,
			  IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				  IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC) != 0)
		die("RTS");
}

static void by_hand(char **argv)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	uint32_t psn = (uint32_t)(getpid() * 7919 + time(NULL)) & 0xffffff;
	uint32_t next_recv, prev_send, prev_psn;
	char text[100];

	context = list && list[0] ? ibv_open_device(list[0]) : NULL;
	if (!context)
		die("device");
	make_resources();
	out = make_qp();
	in = make_qp();
	publish(argv[6], out->qp_num, psn, in->qp_num, IBV_MTU_1024);
	await(argv[6], "peers", text, sizeof(text));
	if (sscanf(text, "%u %u %u", &next_recv, &prev_send, &prev_psn) != 3)
		die("peers");
	connect_qp(out, argv[2], next_recv, psn, 0);
	connect_qp(in, argv[3], prev_send, 0, prev_psn);
}

/* A queue pair whose peer is itself, at an address of the box. */
static void by_mirror(char **argv)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	uint32_t psn = (uint32_t)(getpid() * 7919 + time(NULL)) & 0xffffff;

	context = list && list[0] ? ibv_open_device(list[0]) : NULL;
	if (!context)
		die("device");
	make_resources();
	out = in = make_qp();
	connect_qp(out, argv[2], out->qp_num, psn, psn);
	publish(argv[6], out->qp_num, psn, out->qp_num, IBV_MTU_1024);
}

/* ---- connections by librdmacm ---- */

static struct rdma_event_channel *channel;

static void cm_qp(struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr init;

	if (!context) {
		context = id->verbs;
		make_resources();
	}
	init = qp_attr();
	if (rdma_create_qp(id, pd, &init) != 0)
		die("rdma_create_qp");
}

static struct sockaddr_in address(const char *ip)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(CM_PORT)};

	if (inet_pton(AF_INET, ip, &a.sin_addr) != 1)
		die(ip);
	return a;
}

/* Does what an event requires; true for an established connection. */
static bool answer(struct rdma_cm_id *id, enum rdma_cm_event_type type)
{
	struct rdma_conn_param param = {.retry_count = 7, .rnr_retry_count = 7};

	switch (type) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		if (rdma_resolve_route(id, 5000) != 0)
			die("rdma_resolve_route");
		return false;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		cm_qp(id);
		out = id->qp;
		if (rdma_connect(id, &param) != 0)
			die("rdma_connect");
		return false;
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		cm_qp(id);
		in = id->qp;
		if (rdma_accept(id, &param) != 0)
			die("rdma_accept");
		return false;
	case RDMA_CM_EVENT_ESTABLISHED:
		return true;
	default:
		fprintf(stderr, "rdma_cm: %s\n", rdma_event_str(type));
		exit(1);
	}
}

/* Both ends act at the same time: events are handled in the order in which they come. */
static void meet(void)
{
	int established = 0;

	while (established < 2) {
		struct rdma_cm_event *event;
		struct rdma_cm_id *id;
		enum rdma_cm_event_type type;

		if (rdma_get_cm_event(channel, &event) != 0)
			die("rdma_cm event");
		id = event->id;
		type = event->event;
		rdma_ack_cm_event(event);
		established += answer(id, type);
	}
}

static void by_cm(char **argv)
{
	struct sockaddr_in own = address(argv[3]), to = address(argv[2]);
	struct rdma_cm_id *listener, *active;
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	char text[100];

	channel = rdma_create_event_channel();
	if (!channel || rdma_create_id(channel, &listener, NULL, RDMA_PS_TCP) != 0 ||
	    rdma_bind_addr(listener, (struct sockaddr *)&own) != 0 || rdma_listen(listener, 2) != 0)
		die("rdma_listen");
	publish(argv[6], 0, 0, 0, IBV_MTU_1024); /* listening */
	await(argv[6], "peers", text, sizeof(text));
	if (rdma_create_id(channel, &active, NULL, RDMA_PS_TCP) != 0 ||
	    rdma_resolve_addr(active, NULL, (struct sockaddr *)&to, 5000) != 0)
		die("rdma_resolve_addr");
	meet();
	if (!out || !in || ibv_query_qp(out, &attr, IBV_QP_SQ_PSN | IBV_QP_PATH_MTU, &init) != 0)
		die("ibv_query_qp");
	publish(argv[6], out->qp_num, attr.sq_psn, in->qp_num, attr.path_mtu);
}

/* ---- the vector ---- */

static void post_recv(size_t at)
{
	struct ibv_sge sge = {(uintptr_t)recv_buf + at, message, recv_mr->lkey};
	struct ibv_recv_wr wr = {.wr_id = 1, .sg_list = &sge, .num_sge = 1}, *bad;

	if (ibv_post_recv(in, &wr, &bad) != 0)
		die("receive");
}

/* Broadcast, copy, int32: who gives does not want. */
static uint32_t immediate(uint32_t index, bool give)
{
	return 3u << 28 | (give ? 0x4000u : 0x8000u) | 6u << 8 | 3u << 4 | (index & 15u);
}

static void post_send(size_t at)
{
	struct ibv_sge sge = {(uintptr_t)send_buf + at, message, send_mr->lkey};
	struct ibv_send_wr wr = {.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND}, *bad;

	if (directed && packets == 40 && getenv("PLAIN_SLIP"))
		packets++; /* as an endpoint that loses count around empty packets */
	if (directed) {
		wr.opcode = IBV_WR_SEND_WITH_IMM;
		wr.imm_data = htonl(immediate(packets++, gives));
		wr.num_sge = gives ? 1 : 0;
	}
	if (ibv_post_send(out, &wr, &bad) != 0)
		die("send");
}

/* A result has its own immediate, and its length: empty for the rank that gives. */
static bool check_result(const struct ibv_wc *wc)
{
	uint32_t want = immediate(expected++, gives);

	if (!directed || ((wc->wc_flags & IBV_WC_WITH_IMM) && ntohl(wc->imm_data) == want &&
			  wc->byte_len == (gives ? 0 : message)))
		return true;
	fprintf(stderr, "result %u: immediate %08x, %u bytes, instead of %08x\n", expected - 1,
		ntohl(wc->imm_data), wc->byte_len, want);
	return false;
}

/* At most 8 messages of 16 packets are in flight: less than half of 512 slots. False: failed or
 * late.
 */
static bool run_vector(void)
{
	size_t posted = 0, sent = 0, received = 0, asked = 0;
	const char *limit = getenv("PLAIN_SECONDS");
	int seconds = limit ? atoi(limit) : WAIT_SECONDS;
	time_t until = time(NULL) + seconds;

	while (sent < bytes || received < bytes) {
		struct ibv_wc wc;
		int n;

		while (asked < bytes && asked - received < 8 * message) {
			post_recv(asked);
			asked += message;
		}
		while (posted < asked && posted - sent < 8 * message) {
			post_send(posted);
			posted += message;
		}
		n = ibv_poll_cq(cq, 1, &wc);
		if (n < 0 || (n == 1 && wc.status != IBV_WC_SUCCESS)) {
			fprintf(stderr, "completion: %s\n", ibv_wc_status_str(wc.status));
			return false;
		}
		if (n == 1 && wc.wr_id == 1 && !check_result(&wc))
			return false;
		if (n == 1 && wc.wr_id == 1)
			received += message;
		else if (n == 1)
			sent += message;
		else
			usleep(200);
		if (time(NULL) > until) {
			fprintf(stderr, "%zu of %zu bytes after %d s\n", received, bytes, seconds);
			return false;
		}
	}
	return true;
}

int main(int argc, char **argv)
{
	unsigned int loops, ranks;
	char text[100];

	if (argc != 7)
		return 2;
	bytes = strtoul(argv[4], NULL, 0) / MESSAGE * MESSAGE;
	loops = (unsigned int)strtoul(argv[5], NULL, 0);
	if (bytes == 0)
		return 2;
	directed = strcmp(argv[1], "directed") == 0;
	gives = directed && atoi(argv[3]) == 0;
	if (directed)
		message = 1024;
	if (strcmp(argv[1], "cm") == 0)
		by_cm(argv);
	else if (directed || strcmp(argv[1], "mirror") == 0)
		by_mirror(argv);
	else
		by_hand(argv);
	await(argv[6], "go", text, sizeof(text));
	ranks = (unsigned int)strtoul(text, NULL, 0);
	for (unsigned int n = 0; n < loops; n++) {
		for (size_t i = 0; i < bytes / 4; i++)
			send_buf[i] = n + 1 + (uint32_t)i;
		memset(recv_buf, 0xa5, bytes);
		bool whole = run_vector();

		for (size_t i = 0; i < bytes / 4; i++) {
			if (!whole && recv_buf[i] == 0xa5a5a5a5u)
				continue;
			if (gives) /* gets empty packets */
				break;
			if (recv_buf[i] != ranks * (n + 1 + (uint32_t)i)) {
				fprintf(stderr, "loop %u element %zu: %u instead of %u\n", n, i,
					recv_buf[i], ranks * (n + 1 + (uint32_t)i));
				return 3;
			}
		}
		if (!whole)
			return 1;
	}
	printf("%u vectors of %zu bytes, %u ranks: right\n", loops, bytes, ranks);
	/* the neighbours may still need an acknowledgement */
	sleep(2);
	return 0;
}
