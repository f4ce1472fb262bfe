#!/bin/bash
# The lines that ringfold box prints as hosts come and go, and as groups become ready, fail and end; --quiet.
ranks=2
. "$(dirname "$0")/lib.sh"
export RF_JOB=7

# line TEXT: the box has printed it, or does so within five seconds
line() {
	for _ in $(seq 100); do
		grep -q -e "^ringfold box: $1$" "$dir/box.log" && return
		sleep 0.05
	done
	tail -n 5 "$dir/box.log"
	return 1
}
times() {
	grep -c -e "^ringfold box: $1$" "$dir/box.log"
}
box_start
check "nothing before a host comes" test "$(grep -c ' connected\| job ' "$dir/box.log")" = 0
all "$bin/allreduce"
check "two ranks add" codes_are 0
for name in h0 h1; do
	check "$name has connected" line "host $name connected"
	check "... and left" line "host $name disconnected"
done
check "a group was ready" line "job 7 ready: 2 ranks, 64 slots"
check "... which is said once" test "$(times 'job 7 ready.*')" = 1
check "... and has ended" line "job 7 ended"
check "... not failed" test "$(times 'job 7 failed.*')" = 0
RF_SLOTS=128 all "$bin/allreduce"
check "the next group of the job" line "job 7 ready: 2 ranks, 128 slots"
RF_JOB=8 RF_SIZE=2 ranks_start "$tests/e2e_rank" loop 60000
check "a group that will fail" line "job 8 ready: 2 ranks, 64 slots"
kill -KILL "${pid[1]}"
check "... because a rank was killed" line "job 8 failed: .*"
for r in 0 1; do
	rank_wait $r
done
check "... which is said once" test "$(times 'job 8 failed.*')" = 1
box_stop
box_start --quiet
all "$bin/allreduce"
check "with --quiet" codes_are 0
check "... only that the box is ready, and a warning" test "$(grep -vc 'ready (\|warning' "$dir/box.log")" = 0
box_stop
check "... and no counters" test ! -s "$dir/box.out"
finish
