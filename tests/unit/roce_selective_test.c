/* Selective retransmission, step by step: what is requested and when, and what is sent again. */
#include "tests/unit/roce_pair.h"

#define PACKETS 256u
#define NAK 0x60u

static uint8_t data[PACKETS * 256], landed[PACKETS * 256];

/* Two queue pairs with a message of PACKETS packets posted; all have been sent and none has
 * arrived. */
struct flight {
	struct pair p;
	struct roce_packet sent[PACKETS];
	uint8_t bytes[PACKETS][256];
};

static void fly(struct flight *f)
{
	struct roce_qp_cfg a = pair_cfg(true), b = pair_cfg(false);
	uint32_t k;

	for (k = 0; k < sizeof(data); k++)
		data[k] = (uint8_t)(k * 7 + k / 256);
	memset(landed, 0, sizeof(landed));
	a.selective = b.selective = true;
	a.window = b.window = PACKETS;
	a.ack_timeout = b.ack_timeout = 40000;
	a.ack_timeout_max = b.ack_timeout_max = 1000000;
	f->p = (struct pair){pair_qp(&a, true), pair_qp(&b, false), 1000};
	assert_int_equal(pair_recv(f->p.b, 1, landed, sizeof(landed)), ROCE_OK);
	assert_int_equal(pair_send(f->p.a, 2, data, sizeof(data)), ROCE_OK);
	for (k = 0; k < PACKETS; k++) {
		assert_true(pair_take(f->p.a, f->p.now, &f->sent[k]));
		memcpy(f->bytes[k], f->sent[k].payload, 256);
		f->sent[k].payload = f->bytes[k];
	}
}

/* Packet k arrives at the receiver at a time. */
static void arrive(struct flight *f, uint32_t k, uint64_t at)
{
	roce_qp_rx(f->p.b, at, &f->sent[k]);
}

/* Exactly `times` NAKs for packet k leave. */
static void expect_naks(struct flight *f, uint32_t k, unsigned int times, uint64_t at)
{
	struct roce_packet r;

	while (pair_take(f->p.b, at, &r)) {
		if (r.syndrome < NAK)
			continue;
		assert_int_equal(r.syndrome, NAK);
		assert_int_equal(r.psn, PAIR_PSN_A + k);
		assert_true(times-- > 0);
	}
	assert_int_equal(times, 0);
}

/* The requester sends that number of copies of packet k again. */
static void expect_again(struct flight *f, uint32_t k, unsigned int copies)
{
	struct roce_packet r;

	while (copies-- > 0) {
		assert_true(pair_take(f->p.a, f->p.now, &r));
		assert_int_equal(r.psn, PAIR_PSN_A + k);
		assert_true(r.ackreq);
	}
}

static void finish(struct flight *f)
{
	uint32_t k;

	for (k = 0; k < PACKETS; k++)
		arrive(f, k, f->p.now);
	pair_settle(&f->p);
	pair_expect(f->p.b, 1, ROCE_WC_SUCCESS);
	pair_expect(f->p.a, 2, ROCE_WC_SUCCESS);
	assert_memory_equal(data, landed, sizeof(data));
	pair_end(&f->p);
}

/* A hole is requested when it appears, and again without another event: first after an estimated
 * time, then after the measured time. */
static void asks_again(void **state)
{
	struct flight f;
	uint64_t due;

	(void)state;
	fly(&f);
	arrive(&f, 0, 1000);
	assert_true(roce_qp_next_timeout(f.p.b) == UINT64_MAX);
	arrive(&f, 2, 1000);
	expect_naks(&f, 1, 2, 1000);
	due = roce_qp_next_timeout(f.p.b);
	assert_int_equal(due, 1000 + 40000 / 4);
	expect_naks(&f, 1, 0, due - 1);
	/* Filled after 5 us: the next hole is given that time, and about half of it more. */
	arrive(&f, 1, 6000);
	arrive(&f, 4, 20000);
	expect_naks(&f, 3, 2, 20000);
	due = roce_qp_next_timeout(f.p.b);
	assert_int_equal(due, 20000 + 5000 + 2 * 2500);
	expect_naks(&f, 3, 2, due);
	/* Also the third time; then after twice as long. */
	due = roce_qp_next_timeout(f.p.b);
	assert_int_equal(due, 40000);
	expect_naks(&f, 3, 2, due);
	due = roce_qp_next_timeout(f.p.b);
	assert_int_equal(due, 50000);
	expect_naks(&f, 3, 2, due);
	due = roce_qp_next_timeout(f.p.b);
	assert_int_equal(due, 70000);
	arrive(&f, 3, 60000);
	expect_naks(&f, 3, 0, 70000);
	assert_true(roce_qp_next_timeout(f.p.b) == UINT64_MAX);
	finish(&f);
}

/* An estimate that is too short grows, although answers come only after the second NAK. */
static void grows_to(uint64_t trip)
{
	struct flight f;
	uint64_t due, at = 10000;
	uint32_t k;

	fly(&f);
	arrive(&f, 0, 1000);
	arrive(&f, 2, 1000);
	expect_naks(&f, 1, 2, 1000);
	arrive(&f, 1, 2000);
	for (k = 3; k < 33; k += 2) {
		arrive(&f, k + 1, at);
		expect_naks(&f, k, 2, at);
		due = roce_qp_next_timeout(f.p.b);
		if (due <= at + trip)
			expect_naks(&f, k, 2, due);
		arrive(&f, k, at + trip);
		if (due > at + trip)
			break;
		at += 100000;
	}
	/* It took 1 us once, and much longer ever since. */
	assert_in_range(k, 4, 32);
	f.p.now = at;
	finish(&f);
}

static void guess_grows(void **state)
{
	(void)state;
	grows_to(8000);
	/* Just after the second NAK, which the stored estimate places at 2 us. */
	grows_to(2900);
}

/* Every hole has its own timer, whatever arrives meanwhile; one that is filled is not requested. */
static void each_hole(void **state)
{
	struct flight f;
	struct roce_packet r;
	unsigned int named[PACKETS] = {0};

	(void)state;
	fly(&f);
	arrive(&f, 1, 1000);
	arrive(&f, 9, 1000);
	arrive(&f, 5, 1000);
	while (pair_take(f.p.b, 1000, &r))
		named[r.psn - PAIR_PSN_A]++;
	assert_int_equal(named[0], 2);
	assert_int_equal(named[4], 2);
	assert_int_equal(named[5], 0);
	assert_int_equal(named[8], 2);
	assert_int_equal(named[9], 0);
	finish(&f);
}

/* A requested packet is sent twice, followed by the newest packet if nothing else follows. */
static void two_copies(void **state)
{
	struct flight f;

	(void)state;
	fly(&f);
	pair_ack(f.p.a, f.p.now, NAK, PAIR_PSN_A + 7);
	/* Two requests within 1 us count as one. */
	pair_ack(f.p.a, f.p.now + 500, NAK, PAIR_PSN_A + 7);
	expect_again(&f, 7, 2);
	expect_again(&f, PACKETS - 1, 2);
	assert_int_equal(pair_lose(f.p.a, f.p.now), 0);
	finish(&f);
}

/* With each NAK a longer run of packets: four times as many each time. Another hole begins with one
 * packet. */
static void runs(void **state)
{
	struct flight f;
	uint32_t k, first = 10, n = 1;

	(void)state;
	fly(&f);
	while (n <= 16) {
		f.p.now += 5000;
		pair_ack(f.p.a, f.p.now, NAK, PAIR_PSN_A + first);
		for (k = first; k < first + n; k++)
			expect_again(&f, k, 2);
		expect_again(&f, PACKETS - 1, 2);
		first += n;
		n *= 4;
	}
	f.p.now += 5000;
	pair_ack(f.p.a, f.p.now, NAK, PAIR_PSN_A + 3);
	expect_again(&f, 3, 2);
	expect_again(&f, PACKETS - 1, 2);
	assert_int_equal(pair_lose(f.p.a, f.p.now), 0);
	finish(&f);
}

/* Packets of a run are lost again: from there to the end of the run, which continues after it, up
 * to 64 packets. */
static void run_again(void **state)
{
	static const struct {
		uint32_t first, packets;
	} asked[] = {{10, 1}, {11, 4}, {13, 2}, {15, 8}, {23, 32}, {55, 64}};
	struct flight f;
	uint32_t j, k;

	(void)state;
	fly(&f);
	for (j = 0; j < sizeof(asked) / sizeof(asked[0]); j++) {
		f.p.now += 5000;
		pair_ack(f.p.a, f.p.now, NAK, PAIR_PSN_A + asked[j].first);
		for (k = 0; k < asked[j].packets; k++)
			expect_again(&f, asked[j].first + k, 2);
		expect_again(&f, PACKETS - 1, 2);
		assert_int_equal(pair_lose(f.p.a, f.p.now), 0);
	}
	finish(&f);
}

/* If nothing happens for a quarter of the timeout, the newest packet is sent again, once. */
static void probes_once(void **state)
{
	struct flight f;
	uint64_t start, due;

	(void)state;
	fly(&f);
	start = f.p.now;
	assert_int_equal(roce_qp_next_timeout(f.p.a), start + 40000 / 4);
	f.p.now = start + 40000 / 4 - 1;
	assert_int_equal(pair_lose(f.p.a, f.p.now), 0);
	f.p.now++;
	expect_again(&f, PACKETS - 1, 2);
	assert_int_equal(pair_lose(f.p.a, f.p.now), 0);
	assert_int_equal(roce_qp_next_timeout(f.p.a), start + 40000);
	/* An acknowledgement restarts the time. So does a NAK. */
	f.p.now = start + 20000;
	pair_ack(f.p.a, f.p.now, 0, PAIR_PSN_A + 3);
	due = roce_qp_next_timeout(f.p.a);
	assert_int_equal(due, f.p.now + 40000 / 4);
	f.p.now += 5000;
	pair_ack(f.p.a, f.p.now, NAK, PAIR_PSN_A + PACKETS - 1);
	expect_again(&f, PACKETS - 1, 2);
	assert_int_equal(roce_qp_next_timeout(f.p.a), f.p.now + 40000 / 4);
	/* Everything is acknowledged: no timer runs. */
	pair_ack(f.p.a, f.p.now, 0, PAIR_PSN_A + PACKETS - 1);
	assert_true(roce_qp_next_timeout(f.p.a) == UINT64_MAX);
	finish(&f);
}

/* A packet is requested for ever and never arrives: NAKs do not count as progress, so the retries
 * end. */
static void in_vain(void **state)
{
	struct flight f;
	uint64_t end;

	(void)state;
	fly(&f);
	end = f.p.now + 100 * UINT64_C(1000000);
	while (roce_qp_state(f.p.a) != ROCE_QP_ERR) {
		assert_true(f.p.now < end);
		f.p.now += 20000;
		pair_ack(f.p.a, f.p.now, NAK, PAIR_PSN_A + 7);
		(void)pair_lose(f.p.a, f.p.now);
	}
	pair_expect(f.p.a, 2, ROCE_WC_RETRY_EXC_ERR);
	pair_end(&f.p);
}

static void window(void **state)
{
	(void)state;
	assert_int_equal(roce_selective_window(8), 12);
	assert_int_equal(roce_selective_window(256), 400);
	assert_int_equal(roce_selective_window(4096), 4096);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(asks_again),  cmocka_unit_test(guess_grows),
		cmocka_unit_test(each_hole),   cmocka_unit_test(two_copies),
		cmocka_unit_test(runs),        cmocka_unit_test(run_again),
		cmocka_unit_test(probes_once), cmocka_unit_test(in_vain),
		cmocka_unit_test(window),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
