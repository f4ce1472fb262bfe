/* NAKs that the box makes, selective groups, and who is last: the sections of docs/box.md with
 * these names. */
#include <string.h>

#include "proto/rf_bytes.h"
#include "tests/unit/model_common.h"

#define ONE 0x3f800000u
#define FOUR 0x40800000u

static struct bench b;
static struct bench_group g;

static void open_group(bool transparent, bool selective, uint32_t straggler)
{
	common_open(&b, 4, 1);
	bench_group_init(&g, 0, 4, 1);
	g.transparent = transparent;
	g.selective = selective;
	g.straggler = straggler;
	g.shift = 0x400000;
	assert_true(bench_group_start(&b, &g));
}

static void data(uint32_t index, unsigned int counter)
{
	bench_clear(&b);
	common_data(&b, &g.conn[0], index, ONE, counter);
}

/* Exactly one NAK for rank 0 left, with this syndrome and the PSN of this index; MSN as given. */
static void nak(uint8_t syndrome, uint32_t index, uint32_t msn)
{
	const struct bench_out *o = common_only(&b, g.conn[0].port);
	const uint8_t *bth = o->bytes + packet_l2(o->bytes) + 28;

	assert_true(packet_sealed(o->bytes, o->len));
	assert_int_equal(bth[0], OP_ACK);
	assert_int_equal(rf_get_be24(bth + 5), g.conn[0].ack_qpn);
	assert_int_equal(rf_get_be24(bth + 9), (g.conn[0].start + index) & 0xffffff);
	assert_int_equal(bth[12], syndrome);
	assert_int_equal(rf_get_be24(bth + 13), msn);
	assert_int_equal(rf_get_be32(o->bytes + packet_l2(o->bytes) + 12), g.conn[0].dst_ip);
	assert_int_equal(rf_get_be32(o->bytes + packet_l2(o->bytes) + 16), g.conn[0].src_ip);
}

static void acknowledge(uint32_t una, uint32_t msn)
{
	struct packet p;

	bench_ack(&g.conn[0], &p, una);
	p.msn = msn;
	common_packet(&b, g.conn[0].peer_port, &p, RF_CNT_ACK_FORWARDED);
}

/* First a single sequence NAK of una. If the packet is lost again, which a repeated earlier packet
 * shows, an RNR NAK. */
static void orders(void **unused)
{
	(void)unused;
	open_group(false, false, 0);
	common_round(&b, &g, 0, false);
	common_round(&b, &g, 1, false);
	acknowledge(1, 77);
	data(2, RF_CNT_ACCEPTED);
	data(4, RF_CNT_GAP_NAK); /* 3 is lost */
	nak(0x60, 1, 77);
	data(5, RF_CNT_GAP);
	data(6, RF_CNT_GAP);
	assert_int_equal(b.outs, 0);
	data(1, RF_CNT_REPEAT); /* the sender goes back */
	data(2, RF_CNT_PENDING);
	data(4, RF_CNT_GAP_RNR); /* and lost again */
	nak(0x21, 1, 77);
	data(5, RF_CNT_GAP);
	data(2, RF_CNT_PENDING);
	data(3, RF_CNT_ACCEPTED); /* it arrives */
	data(5, RF_CNT_GAP_RNR);  /* 4 is lost, una has not moved */
	nak(0x21, 1, 77);
	acknowledge(2, 78);
	data(6, RF_CNT_GAP_NAK);
	nak(0x60, 2, 78);
	assert_int_equal(bench_counter(&b, 0, RF_CNT_TX_NAK), 4);
	bench_close(&b);
}

/* The sender goes back and the first packet is the lost one: no packet below next arrives. */
static void back_without_duplicate(void **unused)
{
	(void)unused;
	open_group(false, false, 0);
	data(1, RF_CNT_GAP_NAK);
	nak(0x60, 0, 0);
	data(2, RF_CNT_GAP);
	data(2, RF_CNT_GAP_RNR);
	nak(0x21, 0, 0);
	bench_close(&b);
}

static void tick(void **unused)
{
	(void)unused;
	open_group(false, false, 0);
	data(1, RF_CNT_GAP_NAK);
	data(2, RF_CNT_GAP);
	bench_write(&b, RF_TICK, 1);
	data(3, RF_CNT_GAP_RNR);
	data(4, RF_CNT_GAP);
	bench_close(&b);
}

/* tail does not advance and the slots are full: neither the next packet nor one beyond it is
 * requested. */
static void no_room(void **unused)
{
	unsigned int k, r;

	(void)unused;
	open_group(false, false, 0);
	for (k = 0; k < 16; k++) {
		for (r = 0; r < g.ranks; r++)
			common_data(&b, &g.conn[r], k, ONE, RF_CNT_ACCEPTED);
	}
	data(16, RF_CNT_NO_ROOM);
	data(17, RF_CNT_GAP);
	assert_int_equal(b.outs, 0);
	bench_close(&b);
}

static void transparent(void **unused)
{
	(void)unused;
	open_group(true, false, 9);
	data(0, RF_CNT_ACCEPTED);
	data(0, RF_CNT_PENDING);
	data(2, RF_CNT_GAP);
	bench_write(&b, RF_TICK, 1);
	data(3, RF_CNT_GAP);
	assert_int_equal(bench_counter(&b, 0, RF_CNT_TX_NAK), 0);
	bench_close(&b);
}

/* A repetition by a timer while others are awaited; not one that a NAK of the box caused. */
static void straggler(void **unused)
{
	(void)unused;
	open_group(false, false, 30);
	data(0, RF_CNT_ACCEPTED);
	data(1, RF_CNT_ACCEPTED);
	data(0, RF_CNT_PENDING_RNR);
	nak(0x20 + 30, 0, 0);
	data(1, RF_CNT_PENDING);
	assert_int_equal(b.outs, 0);
	bench_write(&b, RF_TICK, 1);
	data(0, RF_CNT_PENDING_RNR);
	data(1, RF_CNT_PENDING);
	data(2, RF_CNT_ACCEPTED);
	data(4, RF_CNT_GAP_NAK);
	data(0, RF_CNT_PENDING); /* caused by the box's NAK */
	data(1, RF_CNT_PENDING);
	data(2, RF_CNT_PENDING);
	data(3, RF_CNT_ACCEPTED);
	data(4, RF_CNT_ACCEPTED);
	data(6, RF_CNT_GAP_RNR);
	bench_write(&b, RF_TICK, 1);
	data(0, RF_CNT_PENDING); /* something beyond next has arrived, so this is a loss, and the
				    packet comes without a request */
	bench_close(&b);
}

static void wrap(void **unused)
{
	(void)unused;
	common_open(&b, 4, 1);
	bench_group_init(&g, 0, 4, 1);
	g.start = 0xffffff;
	assert_true(bench_group_start(&b, &g));
	common_round(&b, &g, 0, true);
	data(1, RF_CNT_ACCEPTED);
	data(3, RF_CNT_GAP_NAK);
	nak(0x60, 1, 1); /* the MSN is that of the last ACK */
	bench_close(&b);
}

static void open_loop(void **unused)
{
	(void)unused;
	common_open(&b, 4, 1);
	bench_group_init(&g, 0, 4, 1);
	g.open_loop = true;
	assert_true(bench_group_start(&b, &g));
	data(1, RF_CNT_GAP);
	bench_close(&b);
}

/* Packets are stored in any order. The NAK names the missing one. next advances over those present.
 */
static void selective(void **unused)
{
	unsigned int k, r;

	(void)unused;
	open_group(false, true, 7);
	data(0, RF_CNT_ACCEPTED);
	data(2, RF_CNT_AHEAD_NAK);
	nak(0x60, 1, 0);
	data(3, RF_CNT_AHEAD); /* S is 16: after two more packets it is requested again */
	data(4, RF_CNT_AHEAD_NAK);
	nak(0x60, 1, 0);
	data(7, RF_CNT_AHEAD_NAK); /* another hole: reported at once */
	nak(0x60, 5, 0);
	data(8, RF_CNT_AHEAD);
	data(16, RF_CNT_GAP_NAK); /* beyond the slots, but it shows that 9 to 15 are missing */
	nak(0x60, 9, 0);
	data(3, RF_CNT_PENDING_NAK); /* not new */
	nak(0x60, 1, 0);
	data(0, RF_CNT_PENDING);
	assert_int_equal(b.outs, 0);
	data(1, RF_CNT_ACCEPTED);
	assert_int_equal(bench_conn_read(&b, g.conn[0].cid, RF_CONN_NEXT), 5);
	data(6, RF_CNT_AHEAD_NAK); /* the repetition of 6 arrived, that of 5 did not */
	nak(0x60, 5, 0);
	data(5, RF_CNT_ACCEPTED);
	for (k = 9; k < 16; k++)
		data(k, RF_CNT_ACCEPTED);
	assert_int_equal(bench_conn_read(&b, g.conn[0].cid, RF_CONN_NEXT), 16);
	for (k = 0; k < 16; k++) {
		bench_clear(&b);
		for (r = 1; r < g.ranks; r++)
			common_data(&b, &g.conn[r], k, ONE, RF_CNT_ACCEPTED);
		assert_int_equal(b.outs, 4);
		assert_int_equal(common_element(&b.out[0], 0), FOUR);
	}
	for (r = 0; r < g.ranks; r++)
		common_ack(&b, &g.conn[r], 16, RF_CNT_ACK_FORWARDED);
	data(18, RF_CNT_AHEAD_NAK);
	nak(0x60, 17, 16);
	data(17, RF_CNT_AHEAD_NAK);
	nak(0x60, 16, 16);
	data(16, RF_CNT_ACCEPTED);
	assert_int_equal(bench_conn_read(&b, g.conn[0].cid, RF_CONN_NEXT), 19);
	bench_close(&b);
}

/* The receiver's NAK reports what is missing, and nothing about what has arrived. */
static void selective_receiver(void **unused)
{
	struct packet p;

	(void)unused;
	open_group(false, true, 0);
	common_round(&b, &g, 0, false);
	common_round(&b, &g, 1, false);
	common_round(&b, &g, 2, false);
	bench_ack(&g.conn[0], &p, 1);
	p.psn = (p.psn + 1) & 0xffffff;
	p.syndrome = 0x60;
	common_packet(&b, g.conn[0].peer_port, &p, RF_CNT_ACK_FORWARDED);
	assert_int_equal(bench_conn_read(&b, g.conn[0].cid, RF_CONN_UNA), 0);
	data(1, RF_CNT_REPEAT);
	acknowledge(3, 0);
	assert_int_equal(bench_conn_read(&b, g.conn[0].cid, RF_CONN_UNA), 3);
	bench_close(&b);
}

/* What was present in an earlier life of the group is not present in the next one. */
static void selective_again(void **unused)
{
	(void)unused;
	open_group(false, true, 0);
	data(1, RF_CNT_AHEAD_NAK);
	bench_write(&b, RF_GROUP_BASE + RF_GROUP_CFG, 0);
	bench_run(&b, 5000);
	assert_true(bench_group_start(&b, &g));
	data(0, RF_CNT_ACCEPTED);
	assert_int_equal(bench_conn_read(&b, g.conn[0].cid, RF_CONN_NEXT), 1);
	data(1, RF_CNT_ACCEPTED);
	bench_close(&b);
}

static void who_is_last(void **unused)
{
	uint32_t status, cycles;
	unsigned int k, r;

	(void)unused;
	open_group(false, false, 0);
	common_round(&b, &g, 0, true);
	bench_write(&b, RF_LAG_ARM, 0);
	for (k = 1; k < 17; k++)
		common_round(&b, &g, k, true);
	assert_int_equal(bench_read(&b, RF_LAG_STATUS), 0);
	for (r = 0; r < 4; r++) {
		static const unsigned int order[4] = {2, 0, 3, 1};

		common_data(&b, &g.conn[order[r]], 17, ONE, RF_CNT_ACCEPTED);
		bench_run(&b, 1000);
	}
	status = bench_read(&b, RF_LAG_STATUS);
	cycles = bench_read(&b, RF_LAG_CYCLES);
	assert_int_equal(status, RF_LAG_STATUS_VALID_MASK | g.conn[1].port);
	assert_int_equal(bench_read(&b, RF_LAG_INDEX), 17);
	/* The RTL needs cycles for each register that the bench reads between two packets. */
	assert_in_range(cycles, 3000, 20000);
	bench_write(&b, RF_LAG_ARM, 0);
	assert_int_equal(bench_read(&b, RF_LAG_STATUS), 0);
	bench_close(&b);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(orders),
		cmocka_unit_test(back_without_duplicate),
		cmocka_unit_test(tick),
		cmocka_unit_test(no_room),
		cmocka_unit_test(transparent),
		cmocka_unit_test(straggler),
		cmocka_unit_test(wrap),
		cmocka_unit_test(open_loop),
		cmocka_unit_test(selective),
		cmocka_unit_test(selective_receiver),
		cmocka_unit_test(selective_again),
		cmocka_unit_test(who_is_last),
	};

	common_start(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
