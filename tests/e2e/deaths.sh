#!/bin/bash
# Failures during a run: a host ends, the box loses its state, a lease expires, the box ends. Each leads to an error soon,
# which names the cause.
ranks=3
. "$(dirname "$0")/lib.sh"
rank=$tests/e2e_rank

# another port of the switch, for the operator
spare=net_memif0,role=client,id=0,socket=$dir/spare.sock,socket-abstract=no

# Returns when a group is ready and has worked for a moment.
in_the_middle() {
	local _
	for _ in $(seq 60); do
		RF_RANK=9 RF_IP=10.0.0.99 RF_DEVICE=$spare "$bin/ringfold-ctl" groups 2> /dev/null | grep -q ready && break
		sleep 0.1
	done
	sleep 0.5
}

box_start --port spare=memif:$dir/spare.sock --lease 3s
# killed by SIGKILL
for r in 0 1 2; do rank_start $r "$rank" loop 30000; done
in_the_middle
kill -KILL "${pid[1]}"
rank_wait 1
start=$SECONDS
for r in 0 2; do
	rank_wait $r
	check "rank 1 killed: rank $r ends with RANK_LOST" test $? = 18
	check "... and names the rank" says $r "rank 1"
done
check "... soon" test $((SECONDS - start)) -le 10

# the next job works immediately
all "$rank" loop 200
check "the next job" codes_are 0

# the box loses its state during a run
box_stop
box_start --port spare=memif:$dir/spare.sock --lease 3s
for r in 0 1 2; do rank_start $r "$rank" loop 30000; done
in_the_middle
RF_RANK=9 RF_IP=10.0.0.99 RF_DEVICE=$spare "$bin/ringfold-ctl" reset > "$dir/ctl.out" 2>&1
check "ringfold ctl reset" test $? = 0
for r in 0 1 2; do
	rank_wait $r
	check "box reset: rank $r ends with BOX_REFUSED" test $? = 20
	check "... and gives the reason" says $r "reset"
done
all "$rank" loop 200
check "the next job" codes_are 0

box_stop
box_start --port spare=memif:$dir/spare.sock --lease 3s
# a rank that stops for longer than its lease
for r in 0 1 2; do rank_start $r "$rank" loop 30000; done
in_the_middle
kill -STOP "${pid[1]}"
start=$SECONDS
for r in 0 2; do
	rank_wait $r
	check "rank 1 stopped: rank $r ends with RANK_LOST" test $? = 18
	check "... and gives the reason" says $r "lease"
done
check "... soon after the lease of 3 s" test $((SECONDS - start)) -le 9
kill -CONT "${pid[1]}"
rank_wait 1
check "... and rank 1 is notified when it wakes up" test $? -ge 10

# the same while the group drains: one rank has left, one stops, the last one makes a call that the first one does not make
# stopped PID: the process stops within 20 s; the time that its start takes is not that of the lease
stopped() {
	for ((k = 0; k < 200; k++)); do
		grep -q '^State:.T' "/proc/$1/status" && return
		sleep 0.1
	done
	return 1
}
for r in 0 1 2; do RF_TIMEOUT=20000 rank_start $r "$rank" drain; done
check "rank 1 stops" stopped "${pid[1]}"
start=$SECONDS
rank_wait 2
check "rank 1 stopped after rank 0 left: rank 2 ends with MISMATCH" test $? = 22
check "... and names the rank that has left" says 2 "rank 0 has destroyed the communicator"
check "... soon after the lease of 3 s" test $((SECONDS - start)) -le 9
kill -CONT "${pid[1]}"
rank_wait 1
check "... and rank 1 is notified when it wakes up" test $? -ge 10
rank_wait 0
check "... rank 0 succeeds" test $? = 0

# the box itself
echo --torn > "$seen/options"
for r in 0 1 2; do rank_start $r "$rank" loop 30000; done
in_the_middle
kill -KILL "$box"
wait "$box" 2> /dev/null
box=
start=$SECONDS
for r in 0 1 2; do
	rank_wait $r
	code=$?
	check "box killed: rank $r ends with DEVICE or BOX_SILENT ($code)" test $code = 14 -o $code = 19
done
check "... within ten seconds" test $((SECONDS - start)) -le 10
RF_TIMEOUT=3000 all "$rank" loop 100
check "no box process: DEVICE" codes_are 14
check "... and the socket is named" says 1 "socket"
finish
