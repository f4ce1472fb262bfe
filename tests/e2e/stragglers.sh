#!/bin/bash
# Stragglers: a rank that calls late each time is named by the API, by ringfold ctl, and while the others wait for it.
#   tests/e2e/stragglers.sh [rv32]    the firmware as the image for the box's processor
ranks=3
. "$(dirname "$0")/lib.sh"
rank=$tests/e2e_rank
spare=net_memif0,role=client,id=0,socket=$dir/spare.sock,socket-abstract=no
box_start --port "spare=memif:$dir/spare.sock" --firmware "${1:-native}"
export RF_JOB=11
for ((r = 0; r < ranks; r++)); do rank_start $r "$rank" slow 1500; done
sleep 2.6
for _ in $(seq 40); do
	RF_RANK=9 RF_IP=10.0.0.99 RF_DEVICE=$spare "$bin/ringfold-ctl" ranks 11 --json > "$dir/ranks.json" 2> "$dir/9.err" || continue
	python3 -c "
import json, sys
awaited = {r['rank']: r['awaited_ms'] for r in json.load(open('$dir/ranks.json')) if r['awaited_ms']}
sys.exit(not (list(awaited) == [1] and awaited[1] >= 500))" && break
	sleep 0.1
done
check "ctl ranks: only rank 1 is awaited" test $? = 0
for ((r = 0; r < ranks; r++)); do
	[ $r = 0 ] && RF_RANK=9 RF_IP=10.0.0.99 RF_DEVICE=$spare "$bin/ringfold-ctl" stragglers 11 > "$dir/lag.txt" 2> "$dir/9.err"
	rank_wait $r
	check "rank $r" test $? = 0
done
check "... rank 0 was notified for which rank it waited" grep -q "rank 1 is awaited" "$dir/0.out"
check "... and how often" grep -q "rank 1 was the last" "$dir/0.out"
grep "was the last" "$dir/0.out"
cat "$dir/lag.txt"
check "ctl stragglers: rank 1, by more than a second" grep -q "^rank *1: the last [0-9]* times, by at most [1-9][0-9][0-9][0-9][0-9][0-9][0-9] us" "$dir/lag.txt"
check "... in its bin" grep -q "^ *1048576 us and more" "$dir/lag.txt"
finish
