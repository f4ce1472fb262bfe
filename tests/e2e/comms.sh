#!/bin/bash
# Several communicators through one box: parts of the ranks, and two of all by name in different order; by the model or the
# Verilog.
#   tests/e2e/comms.sh [rtl]
ranks=4
engine=${1:-model}
. "$(dirname "$0")/lib.sh"
rank=$tests/e2e_rank

box_start
RF_DEBUG=info all "$rank" parts
check "parts of four ranks, and two of all" codes_are 0
check "... every rank has its place: rank 3 is the first of its part" grep -q "^rank 0 of 2 of its part" "$dir/3.out"
check "... rank 0 the last" grep -q "^rank 1 of 2 of its part" "$dir/0.out"
lines() {
	[ "$(grep -c " info: communicator" "$dir/0.err")" = 4 ]
}
check "... one line for each communicator" lines
check "... that says who carries it" says 0 'info: communicator "part": rank 1 of 2, job [0-9]*; calls by the box 10.0.0.254 (as in the communicator that is split), over ringfold'
check "... by its number if it has no name" says 0 'info: communicator number 0: rank 0 of 4, job [0-9]*; calls by the box 10.0.0.254 (the default), over ringfold'
RF_FALLBACK=exact RF_DEBUG=info all "$rank" parts
check "... and with which fallback" says 0 'calls by the box 10.0.0.254 (the default), over .*; RF_FALLBACK=exact$'
RF_KEY=00112233445566778899aabbccddeeff RF_DEBUG=trace all "$rank" parts
check "a key that the box does not know" codes_are 20
check "... is in no line of the log" sh -c "! grep -i 00112233445566778899aabbccddeeff $dir/?.err"
RF_SCHEDULE=ring all "$rank" parts
check "the same without the box" codes_are 0
finish
