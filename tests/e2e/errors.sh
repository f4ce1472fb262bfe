#!/bin/bash
# Errors on the host side are reported with the cause, within the deadline.
ranks=3
. "$(dirname "$0")/lib.sh"
rank=$tests/e2e_rank

box_start
all "$rank" twice
check "several communicators, one after another and two at once" codes_are 0
all "$rank" loop 500
check "a run of all-reduces" codes_are 0

all "$rank" count
check "counts differ: MISMATCH on every rank" codes_are 22
check "... and rank 1 reports that ranks disagree" says 1 "ranks disagree"
all "$rank" type
check "types differ: MISMATCH on every rank" codes_are 22
for r in 0 1 2; do
	check "... with both types, at rank $r" says $r "all-reduce of fp32, sum.*all-reduce of int32, sum\|all-reduce of int32, sum.*all-reduce of fp32, sum"
done
all "$rank" order
check "two calls in opposite order: MISMATCH on every rank" codes_are 22
for r in 0 1 2; do
	check "... with both calls, at rank $r" says $r "index 1) .*all-reduce of fp32, max.*broadcast of uint32\|index 1) .*broadcast of uint32.*all-reduce of fp32, max"
done

all "$rank" abort
check "rank 0 aborts: rank 1 is notified" test "${codes[1]}" = 25
check "... and gets the rank" says 1 "rank 0"
all "$rank" exit
check "rank 0 exits without leaving: rank 2 is notified" test "${codes[2]}" = 18
check "... and gets the rank" says 2 "rank 0\|store"
all "$rank" leave
for r in 1 2; do
	check "rank 0 leaves during a call: MISMATCH on rank $r, before its deadline" test "${codes[r]}" = 22
	check "... and it is said which rank" says $r "rank 0 has destroyed the communicator after [0-9]* calls"
done

RF_TIMEOUT=1500 all "$rank" late 6000
check "rank 0 is late: deadline at rank 1" test "${codes[1]}" = 24
check "... and the box reports which rank it waits for" says 1 "the box waits for rank 0 (rank 0: packet [0-9]* of [0-9]*, last heard from [0-9]* ms ago)"

all "$rank" wait 2000
for r in 1 2; do
	check "rank 0 is late: rank $r's rf_wait reports after its timeout which rank is missing" says $r \
		"not complete after 600 ms; no progress at rank $r for [3-9][0-9]* ms; the box waits for rank 0 ("
	check "... and the call continues" test "${codes[r]}" = 0
done

RF_BOX_IP=10.0.0.77 RF_BOX_TIMEOUT=1234 all "$rank" loop 100
check "no host has the box's address: BOX_SILENT" codes_are 19
check "... and it is named" says 0 "10.0.0.77"
check "... with the time for an answer" says 0 "too busy: raise RF_BOX_TIMEOUT (1234 ms)"

# two neighbours in the ring with one address: ranks 0 and 1, and the pair that closes the ring
for pair in "0 1" "2 0"; do
	read -r one other <<< "$pair"
	for ((r = 0; r < ranks; r++)); do
		address=10.0.0.$((r + 1))
		[ $r != $one ] && [ $r != $other ] || address=10.0.0.9
		RF_IP=$address rank_start $r "$rank" loop 100
	done
	for ((r = 0; r < ranks; r++)); do
		rank_wait $r
		codes[r]=$?
	done
	check "ranks $one and $other have one address: MISMATCH" codes_are 22
	check "... named, with the remedy" says 1 "ranks $one and $other have the same address 10.0.0.9: give each its own RF_IP"
done

RF_KEY=000102030405060708090a0b0c0d0e0f all "$rank" loop 100
check "wrong key: refused" codes_are 20
check "... by name" says 0 "key"

# one rank never arrives
export RF_TIMEOUT=1000
rank_start 0 "$rank" loop 100
rank_start 2 "$rank" loop 100
rank_wait 0
check "rank 1 never arrives: MISSING" test $? = 16
rank_wait 2
check "... on rank 2 as well" test $? = 16
check "... named" says 2 "rank 1"
export RF_TIMEOUT=20000

# a second process with a rank already in use
for r in 0 1 2; do rank_start $r "$rank" until "$dir/enough"; done
sleep 1
RF_RANK=1 RF_DEVICE= "$rank" loop 100 2> "$dir/twin.err"
check "without a device: DEVICE" test $? = 14
check "... no process claims to be rank 0" sh -c "! grep -q '^rank' '$dir/twin.err'"
RF_RANK=1 RF_DEVICE= "$bin/ringfold-train" > "$dir/twin.err" 2>&1
check "the demo's rank: neither" grep -q '^job: .*RF_DEVICE' "$dir/twin.err"
(
	export RF_RANK=1 RF_DEVICE=net_memif7,role=server,id=0,socket=$dir/twin.sock,socket-abstract=no
	"$rank" loop 100 2> "$dir/twin.err"
)
check "second process of rank 1: TAKEN" test $? = 17
check "... is reported" grep -q "rank 1 already" "$dir/twin.err"
(
	export RF_RANK=0 RF_DEVICE=net_memif7,role=server,id=0,socket=$dir/twin2.sock,socket-abstract=no
	"$rank" loop 100 2> "$dir/twin.err"
)
check "second process of rank 0: TAKEN" test $? = 17
# a switch port in use, and one that does not exist
RF_RANK=1 RF_DEVICE=${RF_DEVICE//%r/0} "$bin/ringfold-perf" > /dev/null 2> "$dir/1.err"
check "a switch port that is in use" says 1 "0.sock refuses a host at its id 0: another client is already connected"
RF_RANK=1 RF_DEVICE=${RF_DEVICE//id=0,socket=$dir\/%r/id=7,socket=$dir\/0} "$bin/ringfold-perf" > /dev/null 2> "$dir/1.err"
check "an id that does not exist at the box" says 1 "id 7: no such id here"
RF_RANK=1 RF_DEVICE=${RF_DEVICE//%r/none} "$bin/ringfold-perf" > /dev/null 2> "$dir/1.err"
check "a socket without a server" says 1 "no process serves the socket"
touch "$dir/enough"
for r in 0 1 2; do
	rank_wait $r
	check "the job itself continues: rank $r" test $? = 0
done

finish
