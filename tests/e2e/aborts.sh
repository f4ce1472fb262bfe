#!/bin/bash
# rf_comm_abort() on one rank ends the call on the others within a second, with the reason: through the store and the box, only
# through the store if the box does not answer, only through the box if the store does not.
ranks=3
. "$(dirname "$0")/lib.sh"
rank=$tests/e2e_rank

# Whether rank N was notified at most a second after rank 1 aborted.
soon() {
	local at heard
	at=$(sed -n 's/ ms$//p' "$dir/1.out")
	heard=$(sed -n 's/ ms$//p' "$dir/$1.out")
	[ -n "$at" ] && [ -n "$heard" ] && [ "$heard" -ge "$at" ] && [ $((heard - at)) -le 1000 ]
}

# hears N TEXT WORDS
hears() {
	rank_wait "$1"
	check "$2: rank $1 ends with ABORTED" test $? = 25
	check "... within a second" soon "$1"
	check "... and gets the reason" says "$1" "$3"
}

box_start
ranks_start "$rank" abort1 800
hears 0 "rank 1 aborts" "rank 1: rf_comm_abort() was called"
hears 2 "rank 1 aborts" "rank 1: rf_comm_abort() was called"
rank_wait 1

# rank 0 runs the store
ranks_start "$rank" abort1 800
kill -STOP "${pid[0]}"
hears 2 "the store does not answer" "rank 1 aborted it: the application requested it"
kill -CONT "${pid[0]}"
rank_wait 0
check "... and rank 0 when it wakes up" says 0 "rank 1"
rank_wait 1

# a silent box cannot report which rank it waits for, and the text states this
ranks_start "$rank" wait 3000
kill -STOP "$box"
sleep 2
kill -CONT "$box"
for r in 1 2; do
	rank_wait "$r"
	check "the box is silent for 2 s: rank $r's call continues" test $? = 0
	check "... and rf_wait reported it" says "$r" "the box at 10.0.0.254 was asked which rank it waits for and has not answered"
done
rank_wait 0

ranks_start "$rank" abort1 800
kill -STOP "$box"
hears 0 "the box does not answer" "rank 1: rf_comm_abort() was called"
hears 2 "the box does not answer" "rank 1: rf_comm_abort() was called"
rank_wait 1
kill -CONT "$box"
finish
