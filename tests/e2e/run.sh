#!/bin/bash
# ringfold run: what a user sees of programs that work, fail, fork, ignore signals or are missing.
#   tests/e2e/run.sh [rtl]      with rtl: only that the Verilog pipeline adds, too
ranks=4
. "$(dirname "$0")/lib.sh"
unset RF_DEVICE RF_SIZE RF_PORT
export TMPDIR=$dir
out=$dir/out
err=$dir/0.err

# run CODE OPTION... : a run that must end with this code within 40 s, or LIMIT
run() {
	local want=$1
	shift
	timeout -k 5 ${LIMIT:-40} "$bin/ringfold" run "$@" > "$out" 2> "$err" < /dev/null
	code=$?
	[ "$code" = "$want" ] || { echo "exit code $code instead of $want: ringfold run $*"; head -5 "$out" "$err"; return 1; }
}
prints() {
	grep -q -e "$1" "$out" || { echo "not in the output: $1"; head -5 "$out"; return 1; }
}
# Processes whose command line or folder names this test.
left() {
	pgrep -f -- "$dir" | grep -v "^$$\$" | grep -v "^$BASHPID\$"
}
nothing_left() {
	local _
	for _ in $(seq 100); do
		[ -z "$(left)" ] && [ -z "$(ls -d "$dir"/ringfold-run.* 2> /dev/null)" ] && return 0
		sleep 0.1
	done
	left | xargs -r ps -o pid,args -p
	ls -d "$dir"/ringfold-run.*
	return 1
}
sums() {
	local r
	for ((r = 0; r < $1; r++)); do
		prints "^\[$r\] rank $r of $1: $2 " || return 1
	done
}
check "the checks themselves: a wrong code is noticed" eval '! run 5 -n 2 -- true > /dev/null'
check "... and a process that is left" eval 'sleep 9 < /dev/null > "$dir/x" & p=$!; bash -c "exec -a $dir/sleeper sleep 9" & q=$!; sleep 0.3; test -n "$(left)"; c=$?; kill $p $q; test $c = 0'

if [ "${1-}" = rtl ]; then
	check "the Verilog pipeline" run 0 -n 4 --engine rtl -- "$bin/allreduce"
	check "... adds" sums 4 "6 10"
	finish
fi

check "four ranks" run 0 -n 4 -- "$bin/allreduce"
check "... every rank has the sum, with its number in front" sums 4 "6 10"
check "... four lines" test "$(wc -l < "$out")" = 4
check "nothing is left" nothing_left
check "--verbose" run 0 -n 2 --verbose -- "$bin/allreduce"
check "... prints what the box reports" says 0 "^\[box\] ringfold box: job [0-9]* ready: 2 ranks, 64 slots"
for verbose in "" --verbose; do
	# shellcheck disable=SC2086
	check "--http with any port $verbose" run 0 -n 1 $verbose --http 127.0.0.1:0 -- true
	check "... says once where the page is" test "$(grep -c '^\[box\] ringfold box: page at http://127.0.0.1:[1-9][0-9]*/$' "$err")" = 1
done
captures
check "captures" run 0 -n 4 --pcapng "$seen" -- "$bin/allreduce"
check "... of all ranks" test "$(ls "$seen"/rank?.pcapng | wc -l)" = 4
RF_DEBUG=info check "two lanes, loss, long packets" run 0 -n 6 --lanes 2 --loss 1% --mtu 4096 -- "$bin/ringfold-perf" --min 64K --max 64K --iters 4
check "... no wrong element" prints "^\[0\] # wrong elements: 0"
check "... path MTU 4096" says 0 "^\[5\] ringfold: .* info: DPDK, .* path MTU 4096"
check "eleven ranks: labels in columns" run 0 -n 11 -- "$bin/allreduce"
check "... [ 0] and [10]" eval 'prints "^\[ 0\] rank 0 of 11" && prints "^\[10\] rank 10 of 11"'

check "the box has a minute to answer" run 0 -n 1 -- sh -c 'echo "$RF_BOX_TIMEOUT"'
check "... unless the caller says otherwise" eval 'prints " 60000$" && RF_BOX_TIMEOUT=77 run 0 -n 1 -- sh -c "echo \$RF_BOX_TIMEOUT" && prints " 77$"'
check "a box with room for 64 groups" run 0 -n 2 --wide -- "$bin/allreduce"
# Two processors need most of a minute to start 64 processes.
RF_TIMEOUT=150000 RF_BOX_TIMEOUT=150000 RF_RETRY=500 LIMIT=200 check "64 ranks" run 0 -n 64 -- "$bin/allreduce"
check "... add" test "$(grep -c "^\[[ 0-9]*\] rank [0-9]* of 64: 2016 2080 " "$out")" = 64
check "variables" run 0 -n 2 -- sh -c 'echo "$RF_RANK $RF_SIZE $RANK $WORLD_SIZE $LOCAL_RANK $OMPI_COMM_WORLD_RANK $OMPI_COMM_WORLD_SIZE $OMPI_COMM_WORLD_LOCAL_RANK $RF_IP $MASTER_ADDR"'
check "... of RF_, torchrun and Open MPI" eval 'prints "^\[0\] 0 2 0 2 0 0 2 0 10.0.0.1 127.0.0.1$" && prints "^\[1\] 1 2 1 2 1 1 2 1 10.0.0.2 127.0.0.1$"'
RF_SCHEDULE=ring RF_RETRY=77 check "the caller's settings" run 0 -n 1 -- sh -c 'echo "$RF_SCHEDULE $RF_RETRY"'
check "... stay" prints "ring 77"
for pair in "RF_RANK RF_SIZE" "RANK WORLD_SIZE" "OMPI_COMM_WORLD_RANK OMPI_COMM_WORLD_SIZE"; do
	keep=
	for name in RF_RANK RF_SIZE RANK WORLD_SIZE OMPI_COMM_WORLD_RANK OMPI_COMM_WORLD_SIZE; do
		[[ " $pair " == *" $name "* ]] || keep+=" -u $name"
	done
	# shellcheck disable=SC2086
	check "a program that reads $pair" run 0 -n 2 -- env $keep "$bin/allreduce"
	check "... adds" sums 2 "1 3"
done

check "a rank fails" run 7 -n 3 -- sh -c '[ $RANK = 1 ] && exit 7; exec sleep 30'
check "... the first failure has its rank" says 0 "rank 1 failed first: exit code 7"
check "... the others are named" eval 'says 0 "rank 0 was still running" && says 0 "rank 2 was still running"'
check "a rank is killed" run 137 -n 3 -- sh -c '[ $RANK = 2 ] && kill -9 $$; exec "$0"' "$bin/allreduce"
check "... the signal is named" says 0 "rank 2 failed first: signal 9 (Killed)"
check "no program of that name" run 127 -n 2 -- nothing-of-that-name
check "... says so" says 0 "nothing-of-that-name: No such file or directory in PATH"
check "no file of that name" run 127 -n 2 -- ./nothing
check "a folder instead of a program" run 126 -n 2 -- "$dir"
check "... says so" says 0 "is not an executable file"
echo '#!/nonexistent/shell' > "$dir/broken"
chmod +x "$dir/broken"
check "a program that cannot be executed" run 127 -n 2 -- "$dir/broken"
check "... gives the rank and the reason" says 0 "^\[[01]\] $dir/broken (or its interpreter): No such file or directory$"
check "no program" run 2 -n 2
check "... says so" says 0 "no program given"
for bad in "-n 0" "-n 65" "-n x" "--lanes 17" "--box-ports 9" "--box-ports 1" "--mtu 1500" "--loss 100%" "--loss 2" "--engine glass" \
	"--timeout 5x" "-n 9 --lanes 1" "-n 2 --wide --engine rtl" "-n 64 --box-ports 2" "--fast"; do
	# shellcheck disable=SC2086
	check "$bad is refused" run 2 $bad -- true
done
check "no such Verilated box" run 2 -n 2 --engine rtl --box-ports 7 --lanes 5 -- true
check "... with the command that builds it" says 0 "make build/vl/box-p7-l5-w512.so"
mkdir "$dir/a,b" "$dir/a=b" "$dir/a b"
for bad in "$dir/a,b" "$dir/a=b" "$dir/a b" . tmp; do
	TMPDIR=$bad check "TMPDIR=$bad is refused" run 1 -n 2 -- true
	check "... says so" says 0 "^ringfold run: TMPDIR=$bad: expected an absolute path without comma, blank or ="
done
long=$dir/$(printf 'x%.0s' $(seq 90))
mkdir "$long"
TMPDIR=$long check "a TMPDIR too long for a socket is refused" run 1 -n 2 -- true
check "... says so" says 0 "too long for the name of a socket"
check "the program's options are its own" run 0 -n 1 -- echo -n 5 --help
check "... without -- as well" run 0 -n 1 echo -n 5 --help
check "... and are printed" prints "^\[0\] 5 --help$"

check "output without a newline" run 0 -n 2 -- printf 'no newline'
check "... becomes two lines" eval 'test "$(sort "$out")" = "$(printf "[0] no newline\n[1] no newline")"'
check "an incomplete line before the end" run 3 -n 1 -- sh -c 'printf abc; sleep 0.2; printf def >&2; exit 3'
check "... on stdout and on stderr" eval 'prints "^\[0\] abc$" && says 0 "^\[0\] def$"'
check "4 x 2000 lines" run 0 -n 4 -- sh -c 'seq -f "line %g of $RANK" 2000'
check "... none is torn" test "$(grep -c '^\[[0-3]\] line [0-9]* of [0-3]$' "$out")" = 8000
check "a line of 200,000 bytes" run 0 -n 1 -- sh -c 'head -c 200000 /dev/zero | tr "\0" x'
check "... stays one" test "$(wc -l < "$out")" = 1
check "ranks read an empty file" run 0 -n 2 -- sh -c 'test -z "$(cat)"'
check "a full disk" eval '"$bin/ringfold" run -n 2 -- echo hello > /dev/full 2> "$err"; test $? = 1'
check "... says so" says 0 "cannot write output: No space left"
"$bin/ringfold" run -n 2 -- sh -c 'while echo line; do :; done' 2> "$err" | head -1 > "$out"
check "a reader that leaves" says 0 "cannot write output: Broken pipe"
check "nothing is left" nothing_left

# The forked processes name $dir, so that nothing_left sees them.
check "a rank forks" run 0 -n 2 -- bash -c 'exec -a "'"$dir"'/child" sleep 60 & echo done'
check "nothing is left" nothing_left
check "... into a session of its own" run 0 -n 2 -- bash -c 'setsid bash -c "exec -a '"$dir"'/child sleep 60" & sleep 0.3; echo done'
check "nothing is left" nothing_left
check "a child that outlives a failure" run 9 -n 2 -- bash -c 'exec -a "'"$dir"'/child" sleep 60 & exit 9'
check "nothing is left" nothing_left
check "a timeout" run 1 -n 2 --timeout 1s -- sleep 60
check "... says so" says 0 "not finished within --timeout"
# Which number of descriptors is enough for the box but not for all ranks is tried.
for most in $(seq 16 40); do
	(ulimit -n "$most" && exec timeout 40 "$bin/ringfold" run -n 8 -- sleep 1 > "$out" 2> "$err")
	code=$?
	says 0 "rank [0-9]: cannot start a process" && break
done
check "a rank that cannot be started ($code with $most descriptors)" test $code = 1
check "... says why" says 0 "rank [0-9]: cannot start a process: Too many open files"
check "... and nothing of a timeout" eval '! says 0 "--timeout"'
check "nothing is left" nothing_left
check "a rank that ignores SIGTERM" run 1 -n 2 --timeout 1s -- bash -c 'trap "" TERM; while :; do sleep 1; done'
check "nothing is left" nothing_left

# victim SIGNAL WHOM COMMAND...: starts a run, waits until all ranks have written "up", sends a signal
victim() {
	local signal=$1 whom=$2 script p
	shift 2
	: > "$out"
	# a shell lets its background processes ignore Ctrl-C
	env --default-signal=INT,HUP setsid "$bin/ringfold" run -n 3 -- "$@" > "$out" 2> "$err" &
	script=$!
	for _ in $(seq 300); do
		[ "$(grep -c ' up$' "$out")" = 3 ] && break
		sleep 0.1
	done
	case $whom in
	run) p=$script ;;
	box) p=$(pgrep -P $script -f ringfold-box) ;;
	both)
		# The script stands still, so that it does not tidy up after the box; and the box is killed first, so that it
		# does not tidy up after the script.
		kill -STOP $script
		p="$(pgrep -P $script -f ringfold-box) $script"
		;;
	esac
	start=$SECONDS
	# shellcheck disable=SC2086
	kill "-$signal" $p
	wait $script 2> /dev/null
	code=$?
	took=$((SECONDS - start))
}
victim INT run sh -c 'echo up; exec sleep 60'
check "Ctrl-C ($code)" test $code = 130
check "... at once ($took s)" test $took -le 5
check "nothing is left" nothing_left
victim TERM run sh -c 'echo up; exec sleep 60'
check "SIGTERM ($code)" test $code = 143
check "nothing is left" nothing_left
victim HUP run sh -c 'echo up; exec sleep 60'
check "SIGHUP ($code)" test $code = 129
check "nothing is left" nothing_left
(
	trap '' HUP
	exec "$bin/ringfold" run -n 2 -- sh -c 'kill -HUP $$ $PPID; sleep 1; echo done' > "$out" 2> "$err"
)
check "nohup: SIGHUP is ignored" test $? = 0
check "... by the ranks, too" test "$(grep -c ' done$' "$out")" = 2
# Output that nobody reads: the pipe is full when the signal comes.
mkfifo "$dir/unread"
exec 9<> "$dir/unread"
env --default-signal=INT "$bin/ringfold" run -n 1 -- yes > "$dir/unread" 2> "$err" &
script=$!
sleep 2
kill -INT $script
wait $script
code=$?
exec 9>&-
check "Ctrl-C while stdout is blocked ($code)" test $code = 130
check "... is all that it reports" eval 'says 0 "ended by Interrupt" && ! says 0 "cannot write\|timed out"'
check "nothing is left" nothing_left
# A PATH of many folders: the ranks are still looking for their program when the signal comes.
slow=$(printf '/n:%.0s' $(seq 40000))$PATH
: > "$err"
env --default-signal=INT PATH="$slow" "$bin/ringfold" run -n 2 -v -- sleep 60 > "$out" 2> "$err" &
script=$!
for _ in $(seq 1000); do
	grep -q ': ready (' "$err" && break
	sleep 0.01
done
start=${EPOCHREALTIME/[.,]/}
kill -INT $script
wait $script
code=$?
took=$(((${EPOCHREALTIME/[.,]/} - start) / 1000))
check "Ctrl-C while the ranks start ($code)" test $code = 130
check "... ends them with SIGTERM ($took ms)" test $took -lt 1500
check "nothing is left" nothing_left
victim KILL box sh -c 'echo up; exec sleep 60'
check "the box killed ($code)" test $code = 1
check "... says so" says 0 "the box ended before the ranks: signal 9"
check "nothing is left" nothing_left
victim KILL both sh -c 'echo up; exec sleep 60'
sleep 1
check "run and box killed: their sockets are stale" eval 'ls "$dir"/ringfold-run.*/0.sock > /dev/null'
check "... the ranks have ended" test -z "$(pgrep -f "$dir/ringfold-run")"
check "the next run works" run 0 -n 4 -- "$bin/allreduce"
check "... and removes them" nothing_left
mkdir "$dir/ringfold-run.abcdef"
echo mine > "$dir/ringfold-run.abcdef/notes"
mkdir "$dir"/ringfold-run.{empty,young,begun,socket}
touch "$dir/ringfold-run.begun/lock.new" "$dir/ringfold-run.socket/0.sock"
touch -d '2 hours ago' "$dir"/ringfold-run.{empty,begun,socket}
"$bin/ringfold" run -n 2 -- sleep 3 > /dev/null 2>&1 &
other=$!
check "two runs at once" run 0 -n 4 -- "$bin/allreduce"
wait $other
check "... neither disturbs the other" test $? = 0
check "a folder of that name with other contents stays" grep -q mine "$dir/ringfold-run.abcdef/notes"
check "folders of runs killed before they had a lock are removed when old" test ! -e "$dir/ringfold-run.empty" -a ! -e "$dir/ringfold-run.begun"
check "... not those of runs that begin, nor any with contents" test -d "$dir/ringfold-run.young" -a -e "$dir/ringfold-run.socket/0.sock"
finish
