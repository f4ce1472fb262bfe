#!/bin/bash
# ringfold osu: every collective by the box and without it, the form of the table, sizes, a wrong result, wrong arguments.
. "$(dirname "$0")/lib.sh"
unset RF_DEVICE RF_SIZE RF_PORT
rf=$bin/ringfold

# osu CODE ARGUMENT...: two ranks; what rank 0 prints is in $dir/out
osu() {
	local want=$1
	shift
	"$rf" run -n 2 -- "$rf" osu "$@" > "$dir/all" 2> "$dir/0.err" < /dev/null
	local code=$?
	sed -n 's/^\[0\] \{0,1\}//p' "$dir/all" > "$dir/out"
	[ "$code" = "$want" ] || { echo "exit code $code instead of $want"; return 1; }
}
for call in allreduce reduce bcast reduce_scatter allgather gather scatter; do
	check "$call" osu 0 "$call" -m 4:64 -i 2 -x 1 -c
	check "... a row for each size, all good" test "$(grep -cE '^(4|8|16|32|64) +[0-9]+\.[0-9]{2} +Pass$' "$dir/out")" = 5
done
check "barrier" osu 0 barrier -i 3 -x 0
check "... has no size" grep -qE '^ +[0-9]+\.[0-9]{2}$' "$dir/out"
check "full" osu 0 allreduce -m 1K:2K -f -i 3 -x 0 --type mpi_float
check "... four columns" test "$(grep -cE '^(1024|2048) +[0-9]+\.[0-9]{2} +[0-9]+\.[0-9]{2} +[0-9]+\.[0-9]{2} +3$' "$dir/out")" = 2
check "... below its title" grep -qx '# Size       Avg Latency(us)     Min Latency(us)     Max Latency(us)  Iterations' "$dir/out"
RF_SCHEDULE=ring check "without a box" osu 0 allgather -m 16:16 -i 2 -x 0 -c
check "... says so" grep -q '^# ringfold Allgather Latency Test, 2 ranks, by the ring$' "$dir/out"
check "a flipped bit is wrong data" osu 3 allreduce -m 8:8 -i 1 -x 0 -c --flip
check "... in the row" grep -qE '^8 .* Fail$' "$dir/out"
exits 2 "no collective" "$rf" osu
exits 2 "another one" "$rf" osu alreduce
check "... the nearest one is named" says 0 'did you mean allreduce?'
exits 2 "sizes in the wrong order" "$rf" osu bcast -m 8:4
check "... are named" says 0 'message-size: "8:4" is not MAX or MIN:MAX'
check "a root that is no rank" osu 2 bcast --root 2 -m 4:4
check "... is named" says 0 'root 2: the last rank is 1'
finish
