#!/bin/bash
# A switch port without the redirect rule: nothing raw is delivered, and the error names the port's rank.
ranks=3
. "$(dirname "$0")/lib.sh"
port_options=([1]=norule)
box_start --lanes 2
RF_TIMEOUT=4000 all "$tests/e2e_rank" loop 100
for r in 0 1 2; do
	check "rank $r: STEERING" test "${codes[r]}" = 21
	check "... rank 1's port is named" says $r "port of rank 1 lacks the rule"
done
box_stop

# With one lane, as a box has by default, the JOIN fails already: rank 1's control packets find the box by its MAC, by
# the port of another rank. Should the switch have learned it at rank 1's own port, all is as above.
box_start
RF_TIMEOUT=4000 all "$tests/e2e_rank" loop 100
for r in 0 1 2; do
	check "one lane: rank $r: BOX_REFUSED or STEERING" test "${codes[r]}" = 20 -o "${codes[r]}" = 21
	check "... the rule is named, and rank 1" says $r "rank.* 1[ ,].*lacks the rule"
	check "... and the tool that finds the port, or the port" says $r "ringfold doctor\|port of rank 1"
done
finish
