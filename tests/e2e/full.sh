#!/bin/bash
# Output that cannot be written: every tool names file and reason and exits with 1, and no half-written file keeps its name.
ranks=2
. "$(dirname "$0")/lib.sh"
unset RF_SIZE
rf=$bin/ringfold
folder=$dir/work
mkdir "$folder"
port=$(free_port)
http=()
[ -x "$bin/ringfoldd" ] && http=(--http "127.0.0.1:$port")
box_start "${http[@]}"
export RF_DEVICE=${RF_DEVICE//%r/0}
"$bin/ringfold-gen" --out "$folder/t" --messages 2 > /dev/null || exit 1
"$rf" plan generate star --hosts 4 --out "$folder/topology.json" > /dev/null 2>&1
"$rf" plan --topology "$folder/topology.json" --scheme best --out "$folder/plan.json" > /dev/null 2>&1

# Commands whose standard output is /dev/full.
seen=" ringfold "
full() {
	local name=$1
	shift
	seen+="$name "
	[ -x "$bin/$name" ] || { echo "      $name is not built here"; return; }
	timeout 60 "$bin/$name" "$@" > /dev/full 2> "$dir/0.err" < /dev/null
	local code=$?
	check "$name $*: exit code 1" test $code = 1
	check "... file and reason" says 0 "cannot write \(the \)\?output: No space left on device"
}
# Commands whose standard output is closed.
lost() {
	local name=$1
	shift
	timeout 60 "$bin/$name" "$@" >&- 2> "$dir/0.err" < /dev/null
	local code=$?
	check "$name $*, stdout closed: exit code 1" test $code = 1
	check "... and the reason" says 0 "cannot write \(the \)\?output: Bad file descriptor"
}
check "the check itself: output that is lost in silence is noticed" eval '! (failures=0; bin=/bin; full true > /dev/null 2>&1; test $failures = 0)'
full ringfold --help
full ringfold --version
full ringfold-sim --size 4K
full ringfold-sim --size 4K --json
full ringfold-box --hold 0s --port a=pcap:tests/data/rxe-sample.pcap
full ringfold-box --hold 0s --json --port a=pcap:tests/data/rxe-sample.pcap
full ringfold-perf --max 64 --iters 1
full ringfold-osu allreduce -m 4:8 -i 2 -x 0
full ringfold-info
full ringfold-info --json
full ringfold-run -n 1 -- echo hello
full ringfold-replay --plan 7
full ringfold-replay 7
full ringfold-gen --out "$folder/t2"
full ringfold-check --traffic "$folder/t" "$folder/t/port0.pcap"
full ringfold-check --json --traffic "$folder/t" "$folder/t/port0.pcap"
full ringfold-compare --count 10
full ringfold-train --epochs 1
full ringfold-plan generate star --hosts 4
full ringfold-plan --topology "$folder/topology.json" --scheme best
full ringfold-plan compare --topology "$folder/topology.json"
full ringfold-plan check --topology "$folder/topology.json" --plan "$folder/plan.json"
full ringfoldd --defaults
for command in status jobs ports slots connections log hold counters; do
	full ringfold-ctl $command
	full ringfold-ctl $command --json
done
full ringfold-doctor
full ringfold-doctor --json
[ ${#http[@]} = 0 ] || full ringfold-top --once "http://127.0.0.1:$port"
for tool in "$bin"/ringfold*; do
	tool=${tool##*/}
	# It speaks over a pipe with the simulator.
	[ "$tool" = ringfold-rv32 ] && continue
	check "$tool is among them" eval '[[ "$seen" == *" $tool "* ]]'
	full "$tool" --help
	full "$tool" --version
	[ ! -x "$bin/$tool" ] || lost "$tool" --help
done

# Descriptors that the caller has closed: no file, socket or pipe of the tool may get their numbers.
lost ringfold-sim --size 4K
lost ringfold run -n 2 -- echo hello
lost ringfold-plan generate star --hosts 4
timeout 60 "$bin/ringfold-box" --hold 0s --port a=pcap:tests/data/rxe-sample.pcap --pcapng "$folder/closed" 2>&- > "$dir/0.out"
check "box with stderr closed: exit code 0" test $? = 0
check "... counters on stdout" grep -q a "$dir/0.out"
timeout 60 "$rf" sim --size 256K --loss 1% > /dev/null 2> "$dir/0.err"
check "the check itself: this run gives a hint" says 0 "hint: lost frames"
for closed in "2>&-" "0<&- 2>&-" "0<&- >&- 2>&-"; do
	eval "timeout 60 '$rf' sim --size 256K --loss 1% --timeline '$folder/closed.json' > /dev/null $closed"
	check "sim --timeline $closed: the file is JSON" "${PYTHON:-python3}" -m json.tool "$folder/closed.json" /dev/null
done

# A disk that is full after a few KiB: files of their own.
# small BLOCKS FILE NAMED COMMAND...: NAMED must be in the message
small() {
	local blocks=$1 file=$2 named=$3
	shift 3
	(
		trap '' XFSZ
		ulimit -f "$blocks"
		exec timeout 60 "$@"
	) > "$dir/0.out" 2> "$dir/0.err" < /dev/null
	local code=$?
	check "${1##*/} ${*:2:1}: exit code 1" test $code = 1
	check "... file and reason" says 0 "$named.*: File too large"
	check "... no half-written file keeps its name" test ! -e "$file"
}
small 8 "$folder/g/port0.pcap" "$folder/g/" "$bin/ringfold-gen" --out "$folder/g" --size 1M
check "... nor any other" test -z "$(find "$folder/g" -type f ! -name '*.partial' 2> /dev/null)"
leaf=$folder/leaf.json
"$rf" plan generate leaf-spine --leaves 4 --hosts 8 --out "$leaf" > /dev/null
small 1 "$folder/p.json" p.json "$rf" plan generate leaf-spine --leaves 8 --hosts 16 --out "$folder/p.json"
small 1 "$folder/out.json" out.json "$rf" plan --topology "$leaf" --scheme best --out "$folder/out.json"
small 1 "$folder/picture.svg" picture "$rf" plan --topology "$leaf" --scheme best --picture "$folder/picture.svg"
small 1 "$folder/chart.svg" chart.svg "$rf" plan compare --topology "$leaf" --chart "$folder/chart.svg"
small 20 "$folder/line.json" line.json "$rf" sim --size 256K --timeline "$folder/line.json"
small 300 "$folder/cap/hosts.pcapng" hosts.pcapng "$rf" sim --size 1M --pcapng "$folder/cap"
small 8 "$folder/box/hosts.pcapng" hosts.pcapng "$bin/ringfold-box" --hold 0s --port "a=pcap:tests/data/rxe-sample.pcap,out=$folder/out.pcap,rule" \
	--pcapng "$folder/box"
check "... and the port's file" eval 'says 0 "out.pcap is not complete" && test ! -e "$folder/out.pcap"'
boxes=0 # the doctor sends broken frames on purpose
finish
