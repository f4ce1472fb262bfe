#!/bin/bash
# Checks every frame of a real-time run, at hosts, switch and box, with the independent checker.
#   tests/e2e/frames.sh [model|rtl]
ranks=3
engine=${1:-model}
[ "$engine" = rtl ] && box_ports=4
. "$(dirname "$0")/lib.sh"
box_start
export RF_PCAP=$dir/rank%r.pcapng
all "$bin/ringfold-perf" --min 4 --max 16K --factor 8 --iters 2 --type fp32,bf16,fp16,int32 --out-of-place
check "a run with captures" codes_are 0
all "$tests/e2e_rank" twice
check "groups that are created and destroyed" codes_are 0
box_stop
for f in rank0 rank1 rank2; do
	check "$f.pcapng" judge "$dir/$f.pcapng"
done
check "the captures are not empty" test "$(stat -c %s "$dir/rank0.pcapng")" -gt 5000
check "a damaged frame is detected" eval '! judge --quiet --mutate icrc "$dir/rank0.pcapng" > "$dir/0.err" 2>&1'
# the check at the end of every test of this folder detects damage as well
frames_options=(--mutate icrc)
check "at the end of a test too" eval '! (failures=0; judge_all > "$dir/0.err"; exit "$failures")'
frames_options=()
finish
