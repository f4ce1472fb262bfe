#!/bin/bash
# RF_SELECTIVE and RF_STRAGGLER reach the box and take effect there: its counters differ as expected.
ranks=3
. "$(dirname "$0")/lib.sh"
rank=$tests/e2e_rank
export RF_RETRY=30
port_options=(loss=2% loss=2% loss=2%)

# Sum of a counter over the ports of the box that has just ended.
count() {
	grep -o "\"$1\": [0-9]*" "$dir/box.out" | awk '{ n += $2 } END { print n + 0 }'
}

# run TEXT SETTING... -- COMMAND...: starts a box and all ranks, reads the box's counters; checks the sums
run() {
	local text=$1 settings=()
	shift
	while [ "$1" != -- ]; do
		settings+=("$1")
		shift
	done
	shift
	box_start --json
	[ ${#port_options[@]} -eq 0 ] || echo --losses > "$seen/options"
	all env "${settings[@]}" "$@"
	check "$text: correct sums" codes_are 0
	box_stop
}

run "lossy, as set by default" RF_SELECTIVE=0 -- "$rank" loop 1000
check "... the box sends NAKs" test "$(count tx_nak)" -gt 0
check "... and stores no packet ahead of a lost one" test "$(count ahead)" -eq 0
run "selective" RF_SELECTIVE=1 -- "$rank" loop 1000
check "... and packets ahead of a lost one are stored" test "$(count ahead)" -gt 0

port_options=()
run "rank 0 late, silence" RF_STRAGGLER=0 -- "$rank" late 1000
check "... the box sends no RNR NAK" test "$(count tx_nak)" -eq 0
run "rank 0 late, code 20" RF_STRAGGLER=20 -- "$rank" late 1000
check "... the box answers with RNR NAKs" test "$(count tx_nak)" -gt 0
finish
