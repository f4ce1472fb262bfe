/*
 * Time in the model: latency, speed under full load, two groups at the same time. The model's
 * cycles are those of docs/pipeline.md, so figures measured with it are valid for the RTL.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "tests/unit/model_common.h"

#define OTHERS 40u /* no frame takes longer through an idle box */
#define RTL_MORE                                                                                   \
	4u /* cycles of the Verilog's latency beyond the model's: the registers of the commits, the \
	      launches and the facts, and the slice before egress. docs/model.md, "Time" */

static uint8_t payload[4096];

/* Cycles from the last beat in of a frame of that many beats, fed at `start`, to the first beat out
 * of the first frame that left. */
static unsigned int since(struct bench *b, uint64_t start, unsigned int beats)
{
	assert_true(bench_settle(b));
	assert_true(b->outs > 0);
	return (unsigned int)(b->out[0].first - (start + beats - 1));
}

/* From the last beat in of the last rank to the first beat out of a result; and the other paths
 * through the box. */
static void latency_of(unsigned int ports, unsigned int lanes, unsigned int want)
{
	struct bench b;
	struct bench_group g;
	struct packet p;
	uint64_t start = 0;
	unsigned int r, figure;

	if (!common_is_default(ports, lanes)) {
		printf("%u ports %u lanes: the figures of this Verilated box are in make bench\n",
		       ports, lanes);
		return;
	}
	common_open(&b, ports, lanes);
	bench_group_init(&g, 0, ports, lanes);
	assert_true(bench_group_start(&b, &g));
	/* The last lane's packets arrive long after all others. */
	for (r = 0; r < g.ranks; r++) {
		if (r == ports * (lanes - 1)) {
			assert_true(bench_settle(&b));
			start = b.ops->cycle(b.e);
		}
		bench_data(&g.conn[r], &p, 0, OP_SEND_ONLY, payload, 1024);
		bench_send(&b, g.conn[r].port, &p);
	}
	figure = since(&b, start, 17);
	assert_int_equal(b.outs, g.ranks);
	printf("%u ports, %u lanes: %u cycles\n", ports, lanes, figure);
	if (common_is_model())
		assert_int_equal(figure, want);
	else
		assert_true(figure <= want + RTL_MORE);
	for (r = 0; r < g.ranks; r++)
		assert_int_equal(b.out[r].last, b.out[r].first + 16);
	bench_close(&b);
}

static void latency(void **unused)
{
	(void)unused;
	latency_of(4, 1, 38);
}

static void latency_shapes(void **unused)
{
	(void)unused;
	latency_of(2, 1, 33);
	latency_of(8, 1, 43);
	latency_of(4, 2, 38 + 5 + 16);
	latency_of(4, 4, 38 + 5 + 3 * 16);
}

/* Frames that are not reduced. */
static void latency_others(void **unused)
{
	struct bench b;
	struct bench_group g;
	struct packet p;
	uint64_t start;
	unsigned int figure;

	(void)unused;
	common_group(&b, &g);
	common_round(&b, &g, 0, false);
	bench_clear(&b);
	start = b.ops->cycle(b.e);
	bench_ack(&g.conn[0], &p, 1);
	bench_send(&b, g.conn[0].peer_port, &p);
	figure = since(&b, start, 1);
	printf("ACK: %u cycles\n", figure);
	assert_true(figure <= OTHERS);
	bench_clear(&b);
	start = b.ops->cycle(b.e);
	bench_data(&g.conn[0], &p, 0, OP_SEND_ONLY, payload, 64);
	bench_send(&b, 0, &p);
	figure = since(&b, start, 2);
	printf("ACK on behalf: %u cycles\n", figure);
	assert_true(figure <= OTHERS);
	bench_clear(&b);
	start = b.ops->cycle(b.e);
	p.qpn ^= 0x800000;
	p.payload_len = 1024;
	bench_send(&b, 0, &p);
	figure = since(&b, start, 17);
	printf("foreign: %u cycles\n", figure);
	assert_true(figure <= OTHERS);
	bench_close(&b);
}

/* Cycles of a frame of each kind on the wire, and the gap between frames that follow each other. */
static void back_to_back(void **unused)
{
	struct bench b;
	struct bench_conn c = {.src_ip = 1, .dst_ip = 2, .data_qpn = 3};
	struct packet p;
	unsigned int k;

	(void)unused;
	common_open(&b, 4, 1);
	for (k = 0; k < 20; k++) {
		bench_data(&c, &p, k, OP_SEND_ONLY, payload, 64 * (k % 4) + 4);
		bench_send(&b, 2, &p);
	}
	assert_int_equal(b.ops->rx_queued(b.e, 2), 20);
	assert_true(bench_settle(&b));
	assert_int_equal(b.ops->rx_queued(b.e, 2), 0);
	assert_int_equal(b.outs, 20);
	for (k = 0; k < 20; k++)
		assert_int_equal(b.out[k].last - b.out[k].first + 1, (b.out[k].len + 63) / 64);
	for (k = 1; k < 20; k++)
		assert_true(b.out[k].first > b.out[k - 1].last);
	bench_close(&b);
}

/* Whether this rank is the last of its port to send: lanes take turns. */
static bool is_turn(const struct bench_group *g, const uint32_t *next, unsigned int r)
{
	unsigned int k;

	for (k = 0; k < g->ranks; k++) {
		if (g->conn[k].port == g->conn[r].port && next[k] < next[r])
			return false;
	}
	return true;
}

/* Fills the ports' queues from all ranks of a group. False when all of them have sent everything.
 */
static bool fill(struct bench *b, struct bench_group *g, uint32_t *next, unsigned int packets,
		 uint8_t opcode, size_t len)
{
	bool more, fed;
	struct packet p;
	unsigned int r;

	do {
		more = fed = false;
		for (r = 0; r < g->ranks; r++) {
			more |= next[r] < packets;
			if (next[r] == packets || !is_turn(g, next, r) ||
			    b->ops->rx_queued(b->e, g->conn[r].port) > 20)
				continue;
			bench_data(&g->conn[r], &p, next[r]++, opcode, payload, len);
			bench_send(b, g->conn[r].port, &p);
			fed = true;
		}
	} while (fed);
	return more;
}

/* Keeps the queues of all ranks filled with `packets` indexes and returns cycles per packet and
 * port, x 1000. */
static unsigned long pace(struct bench *b, struct bench_group *groups, unsigned int n,
			  unsigned int packets, uint8_t opcode, size_t len)
{
	uint32_t next[2][64] = {{0}};
	uint64_t first = 0, last = 0;
	size_t seen = 0, all = 0, k;
	unsigned int r, x;
	bool more = true;

	for (x = 0; x < n; x++)
		all += (size_t)packets * groups[x].ranks;
	while (more) {
		more = false;
		for (x = 0; x < n; x++)
			more |= fill(b, &groups[x], next[x], packets, opcode, len);
		if (more)
			b->ops->run(b->e, b->ops->cycle(b->e) + 16);
		else
			assert_true(bench_settle(b));
		for (k = 0; k < b->outs; k++, seen++) {
			if (seen == all / 4)
				first = b->out[k].last;
			if (seen == all / 4 * 3)
				last = b->out[k].last;
		}
		bench_clear(b);
	}
	assert_int_equal(seen, all);
	for (x = 0; x < b->cfg.ports; x++)
		all -= bench_counter(b, x, RF_CNT_ACCEPTED);
	assert_int_equal(all, 0);
	/* Half of all packets, spread over the ports in use. */
	for (x = 0, r = 0; x < n; x++)
		r += (unsigned int)__builtin_popcount(groups[x].members[0]);
	for (x = 0, all = 0; x < n; x++)
		all += (size_t)packets * groups[x].ranks;
	return (unsigned long)((last - first) * 1000 / (all / 2 / r));
}

static void full_load(unsigned int ports, unsigned int lanes, unsigned int dtype, uint8_t opcode,
		      size_t len, unsigned long most)
{
	struct bench b;
	struct bench_group g;
	unsigned long figure;

	if (!common_is_default(ports, lanes)) {
		printf("%u ports %u lanes: the figures of this Verilated box are in make bench\n",
		       ports, lanes);
		return;
	}
	common_open(&b, ports, lanes);
	bench_group_init(&g, 0, ports, lanes);
	g.dtype = dtype;
	g.mtu_log2 = len == 4096 ? 12 : 10;
	g.s_log2 = len == 4096 ? 7 : 9;
	g.open_loop = true;
	assert_true(bench_group_start(&b, &g));
	figure = pace(&b, &g, 1, 1000, opcode, len);
	printf("%u ports %u lanes type %u opcode %u %zu bytes: %lu.%03lu cycles a packet\n", ports,
	       lanes, dtype, opcode, len, figure / 1000, figure % 1000);
	assert_true(figure <= most);
	bench_close(&b);
}

static void steady_state(void **unused)
{
	static const unsigned int ports[] = {2, 4, 8};
	unsigned int k, lanes, dtype;

	(void)unused;
	for (k = 0; k < 3; k++) {
		for (lanes = 1; lanes <= 4; lanes *= 2)
			full_load(ports[k], lanes, k, OP_SEND_MIDDLE, 1024, 17200);
	}
	for (dtype = 0; dtype < 4; dtype++)
		full_load(4, 1, dtype, OP_SEND_ONLY, 1024, 17200);
	full_load(4, 1, 0, OP_SEND_ONLY, 64, 3030);
	full_load(4, 1, 0, OP_SEND_ONLY, 256, 5050);
	full_load(4, 1, 0, OP_WRITE_ONLY, 1024, 18180);
	full_load(4, 1, 0, OP_SEND_MIDDLE, 4096, 65500);
	full_load(4, 1, 0, OP_WRITE_FIRST, 4096, 66660);
}

/* Two groups on the halves of 8 ports do not slow each other down. */
static void disjoint_halves(void **unused)
{
	struct bench b;
	struct bench_group g[2];
	unsigned int k;
	unsigned long figure;

	(void)unused;
	if (!common_is_default(8, 1))
		skip(); /* make bench measures it */
	common_open(&b, 8, 1);
	for (k = 0; k < 2; k++) {
		bench_group_init(&g[k], k, 8, 1);
		g[k].members[0] = k ? 0xf0 : 0x0f;
		g[k].level = 2;
		g[k].base_port = 4 * k;
		g[k].s_log2 = 8;
		g[k].dbase = 4096 * k;
		g[k].hbase = 256 * k;
		g[k].open_loop = true;
		assert_true(bench_group_start(&b, &g[k]));
	}
	figure = pace(&b, g, 2, 400, OP_SEND_MIDDLE, 1024);
	printf("two halves: %lu.%03lu cycles a packet\n", figure / 1000, figure % 1000);
	assert_true(figure <= 17200);
	bench_close(&b);
}

/* Not a test of time: the figure is printed. 4 MB of 8 ranks. */
static void speed(void **unused)
{
	struct bench b;
	struct bench_group g;
	clock_t start;
	double took;

	(void)unused;
	if (!common_is_model())
		skip();
	common_open(&b, 8, 1);
	bench_group_init(&g, 0, 8, 1);
	g.s_log2 = 9;
	g.open_loop = true;
	assert_true(bench_group_start(&b, &g));
	start = clock();
	pace(&b, &g, 1, 4096, OP_SEND_MIDDLE, 1024);
	took = (double)(clock() - start) / CLOCKS_PER_SEC;
	printf("4 MB x 8 ranks: %.2f s, %.2f us a packet in and out\n", took,
	       took * 1e6 / (4096 * 8));
	bench_close(&b);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(latency),        cmocka_unit_test(latency_shapes),
		cmocka_unit_test(latency_others), cmocka_unit_test(back_to_back),
		cmocka_unit_test(steady_state),   cmocka_unit_test(disjoint_halves),
		cmocka_unit_test(speed),
	};
	unsigned int k;

	for (k = 0; k < sizeof(payload); k++)
		payload[k] = (uint8_t)(k * 37);
	common_start(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
