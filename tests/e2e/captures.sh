#!/bin/bash
# Captures that cannot be written end with a reason; the box, the job and the simulation go on.
ranks=2
. "$(dirname "$0")/lib.sh"
captures
ln -s /dev/full "$seen/box.pcapng"
"$bin/ringfold-box" --box-ports 2 --hold 0s --pcapng "$seen" --port "h0=memif:$dir/0.sock" --port "h1=memif:$dir/1.sock" \
	> "$dir/box.out" 2> "$dir/box.log" &
box=$!
for _ in $(seq 200); do
	grep -q ready "$dir/box.log" && break
	sleep 0.05
done
RF_PCAP=/dev/full all "$bin/ringfold-perf" --min 1M --max 1M --iters 3
check "all-reduce while no capture can be written" codes_are 0
check "... correct" grep -q 'wrong elements: 0' "$dir/0.out"
check "... the rank says why its capture ends" says 0 "RF_PCAP: the capture /dev/full is not complete: No space left on device"
check "... once" test "$(grep -c 'not complete' "$dir/0.err")" = 1
check "... and the box" grep -q "ringfold box: the capture $seen/box.pcapng is not complete: No space left" "$dir/box.log"
all "$bin/ringfold-perf" --min 1M --max 1M --iters 3
check "the box goes on" codes_are 0
kill -INT "$box"
wait "$box"
code=$?
box=
check "its exit code says that a file is missing" test $code = 1
check "... and its report is there" grep -q "switch port" "$dir/box.out"
check "the other capture is complete" judge --floods --ends 20000 "$seen/hosts.pcapng"
check "captures belong to their user alone" test "$(stat -c %a "$seen/hosts.pcapng")" = 600

# a disk that is full after 300 KiB
(
	trap '' XFSZ
	ulimit -f 300
	"$bin/ringfold" sim --size 1M --pcapng "$dir/sim" > "$dir/0.out" 2> "$dir/0.err"
)
code=$?
check "ringfold sim: exit code 1" test $code = 1
check "... with the results" grep -q "correct\|wrong" "$dir/0.out"
check "... file and reason" says 0 "the capture $dir/sim/hosts.pcapng is not complete: File too large; what was written is in $dir/sim/hosts.pcapng.partial"
check "... no half-written file keeps its name" test ! -e "$dir/sim/hosts.pcapng" -a -s "$dir/sim/hosts.pcapng.partial"
boxes=0 # its captures were checked above
finish
