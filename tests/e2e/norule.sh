#!/bin/bash
# A switch port without the redirect rule: nothing raw is delivered, and the error names the port's rank.
ranks=3
. "$(dirname "$0")/lib.sh"
export RF_STEERING=ring # mirror connections need no rule
port_options=([0]=rule [2]=rule)
box_start --lanes 2
RF_TIMEOUT=4000 all "$tests/e2e_rank" loop 100
for r in 0 1 2; do
	check "rank $r: STEERING" test "${codes[r]}" = 21
	check "... rank 1's port is named" says $r "port of rank 1 lacks the rule"
done
box_stop

# With one lane, the default of a box, the JOIN itself fails: rank 1's control packets reach the box by its MAC, through
# the port of another rank. If the switch has learnt the MAC at rank 1's own port, the result is as above.
box_start
RF_TIMEOUT=4000 all "$tests/e2e_rank" loop 100
for r in 0 1 2; do
	check "one lane: rank $r: BOX_REFUSED or STEERING" test "${codes[r]}" = 20 -o "${codes[r]}" = 21
	check "... the rule is named, and rank 1" says $r "rank.* 1[ ,].*lacks the rule"
	check "... and the tool that identifies the port, or the port" says $r "ringfold doctor\|port of rank 1"
done
finish
