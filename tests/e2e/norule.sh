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
finish
