#!/bin/sh
# The rules of firmware/core/hold.c and of tombstones, broken one at a time: fw_hold_test or fw_conn_test must notice.
#
# usage: fw_hold_mutants.sh BUILD
set -u
build=$1
work=$build/mutants/fw_hold
flags="-std=c11 -D_GNU_SOURCE -O1 -I. -I$build/gen"
libs="$build/lib/libfwlinux.a $build/lib/libclient.a $build/lib/librfctl.a $build/lib/librfproto.a"
bad=0
mkdir -p "$work"

# mutant NAME FILE OLD NEW: text OLD of the file becomes NEW.
mutant() {
	name=$1
	file=firmware/core/$2
	OLD=$3 NEW=$4 python3 -c 'import os, sys
text = sys.stdin.read()
if os.environ["OLD"] not in text:
    sys.exit(1)
sys.stdout.write(text.replace(os.environ["OLD"], os.environ["NEW"], 1))' < "$file" > "$work/$name.c" || {
		echo "BAD  $name: its text is not in $file any more"
		bad=1
		return
	}
	${CC:-cc} $flags -c -o "$work/$name.o" "$work/$name.c" || bad=1
	for test in fw_conn_test fw_hold_test; do
		${CC:-cc} -o "$work/$test" "$build/obj/tests/unit/$test.o" "$work/$name.o" $(cat "$work/objects") "$build/lib/libfw.a" $libs \
			-lcmocka || bad=1
		if ! "$work/$test" > "$work/$name.$test.log" 2>&1; then
			[ "$name" = none ] || echo "ok   $name: noticed by $test"
			[ "$name" != none ] || { echo "BAD  $test fails on the rules as they are"; bad=1; }
			return
		fi
	done
	[ "$name" = none ] && echo "ok   none: both tests pass" || { echo "BAD  $name passes"; bad=1; }
}

for n in fw_ask fw_box fw_hosts fw_joined; do
	echo "$build/obj/tests/unit/$n.o"
done > "$work/objects"

mutant none hold.c "lasts" "lasts"
mutant time-alone hold.c "if (!entered || (shown & RF_HELD_KEY_MISSED_MASK))" "if (0)"
mutant missed hold.c "!entered || (shown & RF_HELD_KEY_MISSED_MASK)" "!entered"
mutant full hold.c "if (!entered || (shown" "if ((shown"
mutant not-kept hold.c "bool entered = rf_fw_conn_hold(fw, ip, qpn," "bool entered = rf_fw_conn_hold(fw, ip + 1u, qpn,"
mutant evicted conn.c "		rf_fw_hold_prolong(fw);" ""
mutant as-told conn.c "job == RF_FW_NOBODY ? RF_TOMB_WRITE_ANY_MASK : 0" "job == RF_FW_NEVER ? RF_TOMB_WRITE_ANY_MASK : 0"
mutant by-time conn.c "			e->until = now + rf_fw_tomb_life(fw, e);" "			;"
mutant number-of-place conn.c "		fw->number[r.place[n]] = fw->number[r.place[r.from[n]]];" ""
mutant reset-forgets request.c "	if (fw->cfg.hold_ms > 0 || why == RF_CTL_R_PARITY)
		rf_fw_conn_reset(fw);" "	rf_fw_conn_reset(fw);"
mutant reset-lets-go request.c "	rf_fw_hold_begin(fw);" ""
mutant release-in-hold hold.c "	if (lasts(fw))
		return RF_CTL_R_HOLD_TIME;" ""
exit $bad
