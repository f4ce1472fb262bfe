/*
 * The switch: learning, ageing, floods, the rule. tests/sim/realtime.c tests with a box that one
 * broadcast ends although the box has four ports at the switch.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "proto/rf_bytes.h"
#include "sim/fabric/switch.h"

static struct rf_switch sw;
static uint16_t out[RF_SWITCH_PORTS];

static size_t ethernet(uint8_t *f, uint64_t to, uint64_t from, unsigned type)
{
	memset(f, 0, 128);
	rf_put_be16(f, (uint16_t)(to >> 32));
	rf_put_be32(f + 2, (uint32_t)to);
	rf_put_be16(f + 6, (uint16_t)(from >> 32));
	rf_put_be32(f + 8, (uint32_t)from);
	rf_put_be16(f + 12, (uint16_t)type);
	return 60;
}

static size_t udp(uint8_t *f, uint64_t to, uint64_t from, bool tag, unsigned port)
{
	uint8_t *ip = f + (tag ? 18 : 14);

	ethernet(f, to, from, tag ? 0x8100 : 0x0800);
	if (tag)
		rf_put_be16(f + 16, 0x0800);
	ip[0] = 0x45;
	ip[9] = 17;
	rf_put_be16(ip + 22, (uint16_t)port);
	return tag ? 64 : 60;
}

static void test_learning(void **state)
{
	uint8_t f[128];
	size_t len;

	(void)state;
	assert_int_equal(rf_switch_init(&sw, 3, 2), 0);
	len = ethernet(f, 0x020000000002, 0x020000000001, 0x0800);
	assert_int_equal(rf_switch_frame(&sw, 0, 0, f, len, out), 4);
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(out[i], i + 1);
	assert_int_equal(sw.port[0].flooded, 1);
	len = ethernet(f, 0x020000000001, 0x020000000002, 0x0800);
	assert_int_equal(rf_switch_frame(&sw, 1, 1, f, len, out), 1);
	assert_int_equal(out[0], 0);
	/* The address moves with its owner. */
	len = ethernet(f, 0xffffffffffff, 0x020000000001, 0x0806);
	assert_int_equal(rf_switch_frame(&sw, 2, 2, f, len, out), 4);
	len = ethernet(f, 0x020000000001, 0x020000000002, 0x0800);
	assert_int_equal(rf_switch_frame(&sw, 3, 1, f, len, out), 1);
	assert_int_equal(out[0], 2);
	/* To itself: not forwarded. */
	len = ethernet(f, 0x020000000001, 0x020000000009, 0x0800);
	assert_int_equal(rf_switch_frame(&sw, 4, 2, f, len, out), 0);
	assert_int_equal(sw.port[2].dropped, 1);
	/* Removed after its age. */
	len = ethernet(f, 0x020000000001, 0x020000000002, 0x0800);
	assert_int_equal(rf_switch_frame(&sw, 2 + RF_SWITCH_AGE_NS, 1, f, len, out), 4);
}

static void test_bad_frames(void **state)
{
	uint8_t f[128];
	size_t len;

	(void)state;
	assert_int_equal(rf_switch_init(&sw, 2, 1), 0);
	len = ethernet(f, 0x020000000002, 0x010000000001, 0x0800);
	assert_int_equal(rf_switch_frame(&sw, 0, 0, f, len, out), 0);
	assert_int_equal(rf_switch_frame(&sw, 0, 0, f, 13, out), 0);
	assert_int_equal(sw.port[0].dropped, 2);
	assert_int_equal(rf_switch_init(&sw, RF_SWITCH_PORTS, 1), -1);
}

static void test_rule(void **state)
{
	uint8_t f[128];
	size_t len;

	(void)state;
	assert_int_equal(rf_switch_init(&sw, 4, 2), 0);
	for (unsigned h = 0; h < 4; h++)
		rf_switch_rule(&sw, h, h % 2);
	for (unsigned tag = 0; tag < 2; tag++) {
		for (unsigned h = 0; h < 4; h++) {
			len = udp(f, 0x020000000001, 0x020000000002 + h, tag, 4791);
			assert_int_equal(rf_switch_frame(&sw, 0, h, f, len, out), 1);
			assert_int_equal(out[0], 4 + h % 2);
			assert_int_equal(sw.port[h].rule_hits, tag + 1);
		}
	}
	/* From the box the same frame is forwarded by its MAC. */
	len = udp(f, 0x020000000003, 0x02000000000a, false, 4791);
	assert_int_equal(rf_switch_frame(&sw, 0, 4, f, len, out), 1);
	assert_int_equal(out[0], 1);
	assert_int_equal(sw.port[4].rule_hits, 0);
	/*
	 * Frames that the rule does not match: another port, TCP, a later fragment, IPv6, two tags,
	 * a truncated frame.
	 */
	len = udp(f, 0x020000000003, 0x020000000002, false, 4790);
	assert_false(rf_switch_rule_matches(f, len));
	len = udp(f, 0x020000000003, 0x020000000002, false, 4791);
	assert_true(rf_switch_rule_matches(f, len));
	assert_false(rf_switch_rule_matches(f, 37));
	f[14 + 7] = 1;
	assert_false(rf_switch_rule_matches(f, len));
	f[14 + 7] = 0;
	f[14 + 9] = 6;
	assert_false(rf_switch_rule_matches(f, len));
	f[14 + 9] = 17;
	rf_put_be16(f + 12, 0x86dd);
	assert_false(rf_switch_rule_matches(f, len));
	len = udp(f, 0x020000000003, 0x020000000002, true, 4791);
	rf_put_be16(f + 16, 0x8100);
	assert_false(rf_switch_rule_matches(f, len));
	/* Rule removed: forwarded by MAC. */
	rf_switch_rule(&sw, 0, RF_SWITCH_NO_RULE);
	len = udp(f, 0x020000000003, 0x020000000002, false, 4791);
	assert_int_equal(rf_switch_frame(&sw, 0, 0, f, len, out), 1);
	assert_int_equal(out[0], 1);
}

static void test_full_table(void **state)
{
	uint8_t f[128];
	size_t len;

	(void)state;
	assert_int_equal(rf_switch_init(&sw, 2, 1), 0);
	for (uint64_t i = 1; i <= 4 * RF_SWITCH_MACS; i++) {
		len = ethernet(f, 0xffffffffffff, 0x020000000000 + i, 0x0806);
		rf_switch_frame(&sw, i, 0, f, len, out);
	}
	/* The newest address is always known. */
	len = ethernet(f, 0x020000000000 + 4 * RF_SWITCH_MACS, 0x020000ffffff, 0x0800);
	assert_int_equal(rf_switch_frame(&sw, 4 * RF_SWITCH_MACS, 1, f, len, out), 1);
	assert_int_equal(out[0], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_learning),
		cmocka_unit_test(test_bad_frames),
		cmocka_unit_test(test_rule),
		cmocka_unit_test(test_full_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
