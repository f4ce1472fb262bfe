#!/bin/sh
# Breaks the rules of firmware/core/hold.c and of tombstones one at a time: fw_hold_test or fw_conn_test must detect each.
#
# usage: fw_hold_mutants.sh BUILD
set -u
build=$1
work=$build/mutants/fw_hold
tests="fw_conn_test fw_hold_test"
objects=
for n in fw_ask fw_box fw_hosts fw_joined; do
	objects="$objects $build/obj/tests/unit/$n.o"
done
libs="$build/lib/libfwlinux.a $build/lib/libclient.a $build/lib/librfctl.a $build/lib/librfproto.a"
. tests/unit/fw_mutants.sh

mutant none hold.c "lasts" "lasts"
mutant time-alone hold.c "if (!entered || (shown & RF_HELD_KEY_MISSED_MASK))" "if (0)"
mutant ends-once hold.c "fw->hold_ended && fw->cfg.hold_ms > 0" "0"
mutant missed hold.c "!entered || (shown & RF_HELD_KEY_MISSED_MASK)" "!entered"
mutant full hold.c "if (!entered || (shown" "if ((shown"
mutant not-kept hold.c "bool entered = rf_fw_conn_hold(fw, s->ip, s->qpn," "bool entered = rf_fw_conn_hold(fw, s->ip + 1u, s->qpn,"
mutant evicted conn.c "			rf_fw_conn_prolong_hold(fw);" ""
mutant as-told conn.c "src_ip == 0 ? RF_TOMB_WRITE_ANY_MASK : 0" "0"
mutant by-time conn.c "			e->until = now + rf_fw_tomb_life(fw, e);" "			;"
mutant number-of-place conn.c "		store(fw, r.place[n], &moved);" "		moved.number = fw->table[r.place[n]].number; store(fw, r.place[n], &moved);"
mutant reset-forgets request.c "	if (fw->cfg.hold_ms > 0 || why == RF_CTL_R_PARITY)
		rf_fw_conn_reset(fw);" "	rf_fw_conn_reset(fw);"
mutant reset-lets-go request.c "	rf_fw_hold_begin(fw);" ""
mutant release-in-hold hold.c "	if (lasts(fw))
		return RF_CTL_R_HOLD_TIME;" ""
exit $bad
