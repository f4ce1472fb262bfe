#!/bin/bash
# A short run of the demo, and its behaviour when a process ends.
#   tests/e2e/demo.sh model|rtl
set -u
engine=$1
bin=${BUILD:-build}/bin
demo=$(dirname "$0")/../../demo/run.sh
dir=$(mktemp -d "${TMPDIR:-/tmp}/ringfold-demotest.XXXXXX") || exit 1
trap 'rm -rf "$dir"' EXIT
export TMPDIR=$dir RF_BIN=$bin
failures=0
epochs=3
digest=fa5b6f7130b8831d
[ "$engine" = rtl ] && epochs=1 digest=b5c032ab86f817d1

check() {
	local text=$1
	shift
	if "$@"; then
		echo "ok    $text"
	else
		echo "FAIL  $text"
		tail -n 20 "$dir"/*.txt
		failures=$((failures + 1))
	fi
}

# Processes whose command line names the directory of this test: those of the demo.
left() {
	pgrep -f -- "$dir" | grep -v "^$$\$" | grep -v "^$BASHPID\$"
}
nothing_left() {
	local _
	for _ in $(seq 50); do
		[ -z "$(left)" ] && [ -z "$(ls -d "$dir"/ringfold-demo.* 2> /dev/null)" ] && return 0
		sleep 0.1
	done
	left | xargs -r ps -o pid,args -p
	ls -d "$dir"/ringfold-demo.*
	return 1
}

# refused WORDS OPTION...: rejected at once, with these words
refused() {
	local words=$1
	shift
	"$demo" "$@" > "$dir/0.txt" 2>&1
	[ $? = 2 ] && grep -q -e "$words" "$dir/0.txt"
}
check "--epochs 1x is refused" refused "--epochs 1x: expected a number" --epochs 1x
check "--epochs 0 is refused" refused "--epochs 0: expected a number" --epochs 0
check "--ranks 5 is refused" refused "--ranks 5: expected 2 to 4" --ranks 5
check "--engine glass is refused" refused "--engine glass: expected rtl or model" --engine glass
check "an unknown option is refused" refused "run.sh" --fast
mkdir "$dir/a,b"
TMPDIR=$dir/a,b check "a comma in TMPDIR is refused" refused "without a comma"
"$demo" --engine "$engine" --epochs $epochs > "$dir/1.txt" 2>&1
check "it runs" test $? = 0
check "weights equal bit for bit" grep -q "weights equal bit for bit: 14440 bytes" "$dir/1.txt"
check "one line per epoch" test "$(grep -c '^epoch .*loss .*accuracy .*reduced .*box cycles [1-9]' "$dir/1.txt")" = $epochs
check "weights as on every other machine" grep -q "^weights $digest " "$dir/1.txt"
"$demo" --engine "$engine" --epochs $epochs --keep "$dir/kept" > "$dir/2.txt" 2>&1
check "again, with the same weights" test "$(grep ^weights "$dir/1.txt" | sort -u)" = "$(grep ^weights "$dir/2.txt" | sort -u)"
check "nothing is left" nothing_left
judge() {
	"${PYTHON:-python3}" -B "$(dirname "$0")/../check/frames.py" --ends 10000 --box-mac 02:52:46:00:00:10 \
		--box-ip 10.0.0.254 "$@" "$dir"/kept/*.pcapng > "$dir/5.txt" 2>&1
}
check "every frame is correct at switch, box and hosts" judge
check "... and a damaged one is detected" eval '! judge --quiet --mutate icrc'
rm -rf "$dir/kept"

# victim WHAT SIGNAL: starts a long run, waits for its training, sends a signal to one of its processes
victim() {
	local what=$1 signal=$2 script pid
	: > "$dir/3.txt"
	# a shell lets its background processes ignore Ctrl-C
	env --default-signal=INT setsid "$demo" --engine "$engine" --epochs 100000 > "$dir/3.txt" 2>&1 &
	script=$!
	for _ in $(seq 600); do
		grep -q '^epoch' "$dir/3.txt" && break
		kill -0 $script 2> /dev/null || break
		sleep 0.1
	done
	case $what in
	script) pid=$script ;;
	group) pid=-$script ;;
	host) pid=$(pgrep -P $script -f ringfold-train | sed -n 3p) ;;
	box) pid=$(pgrep -P $script -f ringfold-box) ;;
	esac
	start=$SECONDS
	kill "-$signal" -- "$pid"
	wait $script 2> /dev/null
	status=$?
	took=$((SECONDS - start))
}

echo 99.51 80.00 70.00 9/99 999 > "$dir/load"
DEMO_LOADAVG=$dir/load victim host KILL
check "a failure on a busy machine: the likely cause" grep -q "this machine is busy (load 99.51 on .* processors)" "$dir/3.txt"
check "a host killed: the demo fails ($status)" test $status = 1
check "... within 15 s ($took s)" test $took -le 15
check "... and names it" grep -q "host 2 was ended by signal KILL" "$dir/3.txt"
check "... the others give the reason" grep -q "rank 2 has ended" "$dir/3.txt"
check "nothing is left" nothing_left
echo 0.51 80.00 70.00 9/99 999 > "$dir/load"
DEMO_LOADAVG=$dir/load victim box KILL
check "a failure on an idle one: no word of that" eval '! grep busy "$dir/3.txt"'
check "the box killed: the demo fails ($status)" test $status = 1
check "... within 15 s ($took s)" test $took -le 15
check "nothing is left" nothing_left
victim group INT
check "Ctrl-C ($status)" test $status = 130
check "... at once ($took s)" test $took -le 5
check "nothing is left" nothing_left
victim script KILL
sleep 3
check "the script itself killed: no process is left" test -z "$(left)"
rm -rf "$dir"/ringfold-demo.*

"$demo" --engine "$engine" --epochs $epochs > "$dir/4.txt" 2>&1
check "the next run works" test $? = 0
check "... with the same weights" test "$(grep ^weights "$dir/1.txt" | sort -u)" = "$(grep ^weights "$dir/4.txt" | sort -u)"
[ "$failures" -eq 0 ]
