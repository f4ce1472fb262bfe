#!/bin/bash
# ringfold perf over DPDK and the box: every type and operation is correct, a flipped bit is detected, JSON is well-formed.
#   tests/e2e/perf.sh [RANKS [model|rtl]]
ranks=${1:-2}
engine=${2:-model}
box_ports=$([ "$engine" = rtl ] && echo 4)
. "$(dirname "$0")/lib.sh"

box_start
all "$bin/ringfold-perf" --min 4 --max 64K --factor 16 --iters 2 --warmup 1 --type fp32,bf16,fp16,int32 --op sum,min,max
check "four types and three operations, box" codes_are 0
check "the table has 12 groups of 4 sizes" test "$(grep -c '^ .* 0 .* 0$' "$dir/0.out")" = 48
check "and its last line reports no errors" grep -q '^# wrong elements: 0$' "$dir/0.out"

all "$bin/ringfold-perf" --min 3000 --max 3000 --iters 4 --outstanding 3 --in-place --json
check "in place, several outstanding" codes_are 0
check "JSON" python3 -c "
import json, sys
d = json.load(open('$dir/0.out'))
row = d['results'][0]
assert d['wrong'] == 0 and d['ranks'] == $ranks and row['bytes'] == 3000, d
assert row['in_place']['calls'] == 4 and row['out_of_place'] is None, d"

# 256 KB are large for 16 slots: a second group of the box is made, and carries the later calls
RF_DEBUG=info all "$bin/ringfold-perf" --slots 16 --collective all-reduce,broadcast --min 256K --max 256K --iters 12 --warmup 0 --json
check "large calls" codes_are 0
check "... all right" python3 -c "
import json
d = json.load(open('$dir/0.out'))
assert d['wrong'] == 0 and len(d['results']) == 2, d"
for r in $(seq 0 $((ranks - 1))); do
	check "... rank $r uses the second group" says "$r" "a second group of the box, with 256 slots, carries large calls after number"
done

all "$bin/ringfold-perf" --min 4K --max 4K --iters 1 --flip
check "one bit flipped: wrong data everywhere" codes_are 3

# the ring needs no box, but its frames pass it as foreign frames
all "$bin/ringfold-perf" --schedule ring --min 8 --max 64K --factor 16 --iters 2 --type all --out-of-place
check "every type, ring" codes_are 0

RF_MTU=256 all "$bin/ringfold-perf" --max 16K --iters 1
check "MTU 256" codes_are 0
RF_MTU=4096 all "$bin/ringfold-perf" --max 64K --iters 1
check "MTU 4096" codes_are 0
RF_PROGRESS=manual all "$bin/ringfold-perf" --max 16K --iters 1
check "manual progress" codes_are 0
finish
