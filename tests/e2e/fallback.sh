#!/bin/bash
# The box fails during a run. With RF_FALLBACK the groups continue over the ring, with a log line and with the bits that the
# setting promises; without it they fail with the cause.
ranks=3
. "$(dirname "$0")/lib.sh"
rank=$tests/e2e_rank
spare=net_memif0,role=client,id=0,socket=$dir/spare.sock,socket-abstract=no
box_start --port spare=memif:$dir/spare.sock

# lose WORDS...: starts all ranks; the box loses its state during the run; sets codes[N]
lose() {
	local r
	ranks_start "$rank" "$@"
	sleep 0.7
	RF_RANK=9 RF_IP=10.0.0.99 RF_DEVICE=$spare "$bin/ringfold-ctl" reset > "$dir/ctl.out" 2>&1
	check "the box is reset during the run" test $? = 0
	for r in 0 1 2; do
		rank_wait "$r"
		codes[r]=$?
	done
}

logged() {
	local r
	for r in 0 1 2; do
		check "... rank $r logs it, with the cause" says "$r" "continues without its box.*RF_FALLBACK=$1.*reset"
	done
}

lose bits 10000
check "no fallback: BOX_REFUSED" codes_are 20
check "... with the cause" says 1 "reset"
check "... and nothing continues" sh -c "! grep -q 'continues without' $dir/1.err"

export RF_FALLBACK=exact
lose bits 6000
check "exact: every bit matches the box's order" codes_are 0
logged exact

export RF_FALLBACK=ring
lose bits 6000 new
check "ring: every bit matches the ring's order" codes_are 0
logged ring
lose bits 6000
# The first rank that detects it ends, and the others may be notified before they have compared.
seen_by_one() {
	local n seen=
	for ((n = 0; n < ranks; n++)); do
		says "$n" 'has other bits' && seen=1
		says "$n" 'has other bits' || says "$n" 'its process has ended' || says "$n" 'has ended' || return 1
	done
	[ -n "$seen" ]
}
check "ring: the bits differ from the box's order, and the comparison detects it" seen_by_one

# Only all-reduces continue.
RF_TIMEOUT=3000 lose others 10000
check "other collectives: BOX_REFUSED on every rank, and nothing after it" codes_are 20
for r in 0 1 2; do
	check "... rank $r names the cause" says "$r" "reset"
done
check "... and nothing continues" sh -c "! grep -q 'continues without' $dir/[0-9].err"

# A process that stands still for longer than the box may take to answer must not leave a healthy box.
export RF_FALLBACK=ring
ranks_start "$rank" bits 10000
sleep 0.5
kill -STOP "${pid[1]}"
sleep 7
kill -CONT "${pid[1]}"
for r in 0 1 2; do
	rank_wait "$r"
	codes[r]=$?
done
check "a rank stands still for 7 s: every bit is right" codes_are 0
check "... and nobody leaves the box" sh -c "! grep -q 'continues without' $dir/[0-9].err"
unset RF_FALLBACK

RF_RANK=0 RF_FALLBACK=both "$rank" bits 100 2> "$dir/0.err"
check "another word is refused" says 0 "RF_FALLBACK=both"
finish
