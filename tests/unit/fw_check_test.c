/* The checker of the firmware's invariants detects each invariant that is broken on purpose. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "firmware/core/internal.h"
#include "tests/unit/fw_mirror.h"

static void test_checker(void **state)
{
	struct fw_box *b = fw_ask_box();
	struct rf_fw *fw = &b->fw;
	static struct rf_fw good;

	(void)state;
	for (unsigned int r = 0; r < 2; r++) {
		struct fw_ask a = fw_ask_join(r, 2);
		struct rf_ctl_reply reply;

		a.r.u.join.slots_log2 = 4;
		fw_ask_result(b, &a, &reply);
	}
	assert_int_equal(fw->group[0].state, RF_CTL_S_READY);
	good = *fw;
	assert_null(rf_fw_check(fw));
#define BREAK(what)                                                                                \
	do {                                                                                       \
		*fw = good;                                                                        \
		what;                                                                              \
		assert_non_null(rf_fw_check(fw));                                                  \
	} while (0)
	BREAK(fw->hw_used = 0);
	BREAK(fw->hw_used = 3);
	BREAK(fw->group[0].slots_log2++);
	BREAK(fw->group[0].dbase = 4);
	BREAK(fw->group[0].joined = 1);
	BREAK(fw->group[0].live = 0);
	BREAK(fw->group[0].hw = RF_FW_NONE);
	BREAK(fw->group[0].first = fw->member[fw->group[0].first].next);
	BREAK(fw->member[fw->group[0].first].qpn++);
	BREAK(fw->member[fw->group[0].first].port++);
	BREAK(fw->free_member = fw->group[0].first);
	BREAK(fw->records = 0);
	BREAK(fw->member[fw->group[0].first].put ^= RF_FW_PUT_DATA);
	BREAK(fw->member[fw->group[0].first].put ^= RF_FW_PUT_ACK);
	BREAK(fw->entries++);
	BREAK(fw->tombstones++);
	BREAK(fw->table[0].state ^= 1u);
	BREAK(rf_fw_buddy_free(&fw->beats, fw->group[0].dbase, 8));
#undef BREAK
	*fw = good;
	rf_fw_conn_put(fw, 1, 2, rf_fw_value(3, RF_STATE_LIVE), 7);
	assert_non_null(rf_fw_check(fw));
	fw_box_free(b);
}

/* The invariants of mirror ranks and of the addresses of the ports. */
static void test_mirror(void **state)
{
	struct fw_box *b = fw_mirror_box();
	struct rf_fw *fw = &b->fw;
	static struct rf_fw good;

	(void)state;
	for (unsigned int r = 0; r < 2; r++) {
		struct fw_ask a = fw_mirror_join(r, 2);
		struct rf_ctl_reply reply;

		fw_ask_result(b, &a, &reply);
		fw_mirror_at(&a, reply.u.waiting.port_ip);
		fw_ask_result(b, &a, &reply);
	}
	assert_int_equal(fw->group[0].state, RF_CTL_S_READY);
	good = *fw;
	assert_null(rf_fw_check(fw));
#define BREAK(what)                                                                                \
	do {                                                                                       \
		*fw = good;                                                                        \
		what;                                                                              \
		assert_non_null(rf_fw_check(fw));                                                  \
	} while (0)
	BREAK(fw->member[fw->group[0].first].put = 0);
	BREAK(fw->member[fw->group[0].first].put |= RF_FW_PUT_DATA);
	BREAK(fw->member[fw->group[0].first].mirror = 0);
	BREAK(fw->member[fw->group[0].first].arrived = 0);
	BREAK(fw->member[fw->group[0].first].qpn++);
	BREAK(fw->address[1].ip = fw->address[0].ip);
	BREAK(fw->address[1].ip = fw->cfg.ip);
	BREAK(fw->mirror = false);
#undef BREAK
	*fw = good;
	fw_box_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_checker),
					   cmocka_unit_test(test_mirror)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
