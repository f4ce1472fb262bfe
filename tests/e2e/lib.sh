# Shared functions of the end-to-end tests: a box process, ranks as processes, cleanup. Sourced by bash scripts.
#
#   box_start [options of ringfold box]   starts `ringfold box` with $ranks memif ports in $dir; $engine model or rtl
#   captures                              a new folder for a box's captures, in $seen; finish checks its contents
#   rank_start N COMMAND...               starts rank N; output in $dir/N.out, $dir/N.err
#   rank_wait N                           waits for it; returns its exit code
#   all COMMAND...                        starts all ranks and waits; sets codes[N]
#   ranks_start COMMAND...                starts all ranks; returns when each has printed "ready"
#   check TEXT CONDITION...               runs a command; prints and counts a failure
#   exits CODE TEXT COMMAND...            checks a command's exit code; output in $dir/0.err, for says 0
#   finish                                stops the box, checks every captured frame, exits
#
# Every frame at the switch's and the box's ports is checked by tests/check/frames.py; of more than 20000 at one place only
# the first and the last 10000. Tests whose hosts damage frames on purpose set hosts_damage=1: then only the frames sent by
# the box are checked; frames_options adds options of frames.py, a file "options" in $seen those of one box.

set -u
bin=${BUILD:-build}/bin
tests=${BUILD:-build}/tests
engine=${engine:-model}
ranks=${ranks:-2}
dir=$(mktemp -d "${TMPDIR:-/tmp}/ringfold-e2e.XXXXXX") || exit 1
declare -A pid
codes=()
failures=0
box=
seen=
boxes=0
hosts_damage=
frames_options=()

cleanup() {
	local p
	for p in "${pid[@]}" $box; do
		kill -TERM "$p" 2> /dev/null
	done
	for p in "${pid[@]}" $box; do
		for _ in $(seq 60); do
			kill -0 "$p" 2> /dev/null || break
			sleep 0.05
		done
		kill -KILL "$p" 2> /dev/null
		wait "$p" 2> /dev/null
	done
	rm -rf "$dir"
}
trap cleanup EXIT
trap 'exit 130' INT TERM HUP

free_port() {
	local port
	for _ in $(seq 100); do
		port=$((16384 + RANDOM % 16384)) # below the ports of outgoing connections
		(exec 3<> "/dev/tcp/127.0.0.1/$port") 2> /dev/null || { echo "$port"; return; }
	done
	echo 4792
}

export RF_PORT=$(free_port)
export RF_SIZE=$ranks RF_RETRY=${RF_RETRY:-100} RF_TIMEOUT=${RF_TIMEOUT:-20000} RF_SPIN=0
export RF_DEVICE="net_memif0,role=client,id=0,socket=$dir/%r.sock,socket-abstract=no"

captures() {
	boxes=$((boxes + 1))
	seen=$dir/seen$boxes
	mkdir "$seen"
}

box_start() {
	local r ports=()
	for ((r = 0; r < ranks; r++)); do
		ports+=(--port "h$r=memif:$dir/$r.sock${port_options[r]:+,${port_options[r]}}")
	done
	captures
	"$bin/ringfold-box" --engine "$engine" --box-ports "${box_ports:-$ranks}" --hold 0s --pcapng "$seen" "${ports[@]}" "$@" \
		> "$dir/box.out" 2> "$dir/box.log" &
	box=$!
	for _ in $(seq 400); do
		grep -q ready "$dir/box.log" && return 0
		kill -0 "$box" 2> /dev/null || break
		sleep 0.05
	done
	cat "$dir/box.log"
	exit 1
}

box_stop() {
	kill -INT "$box"
	wait "$box"
	box=
}

declare -a port_options=()

rank_start() {
	local r=$1
	shift
	RF_RANK=$r "$@" > "$dir/$r.out" 2> "$dir/$r.err" &
	pid[$r]=$!
}

rank_wait() {
	wait "${pid[$1]}"
	local code=$?
	unset "pid[$1]"
	return $code
}

all() {
	local r
	for ((r = 0; r < ranks; r++)); do
		rank_start "$r" "$@"
	done
	for ((r = 0; r < ranks; r++)); do
		rank_wait "$r"
		codes[r]=$?
	done
}

ranks_start() {
	local r
	for ((r = 0; r < ranks; r++)); do
		rank_start "$r" "$@"
	done
	for _ in $(seq 200); do
		[ "$(cat "$dir"/[0-9]*.out | grep -c ready)" -eq "$ranks" ] && return
		sleep 0.05
	done
}

check() {
	local text=$1
	shift
	if "$@"; then
		echo "ok    $text"
	else
		echo "FAIL  $text"
		tail -q -n 2 "$dir"/*.err "$dir/box.log" 2> /dev/null | cut -c1-300
		failures=$((failures + 1))
	fi
}

exits() {
	local want=$1 text=$2
	shift 2
	"$@" > "$dir/0.err" 2>&1
	local code=$?
	check "$text: exit code $want" test $code = "$want"
}

# Whether every rank ended with this code.
codes_are() {
	local r
	for ((r = 0; r < ranks; r++)); do
		[ "${codes[r]}" = "$1" ] || { echo "rank $r: exit code ${codes[r]}"; return 1; }
	done
}

# Whether the error output of rank N contains these words.
says() {
	grep -q -- "$2" "$dir/$1.err"
}

judge() {
	"${PYTHON:-python3}" -B "$(dirname "${BASH_SOURCE[0]}")/../check/frames.py" --box-mac 02:52:46:00:00:10 --box-ip 10.0.0.254 "$@"
}

judge_all() {
	local n files options more
	for ((n = 1; n <= boxes; n++)); do
		files=("$dir/seen$n/box.pcapng")
		options=("${frames_options[@]}" --floods --ends 20000)
		more=()
		[ -f "$dir/seen$n/options" ] && read -ra more < "$dir/seen$n/options"
		options+=("${more[@]}")
		if [ -n "$hosts_damage" ]; then
			options+=(--faults)
		else
			files+=("$dir/seen$n/hosts.pcapng")
		fi
		check "box $n: every frame is correct" judge "${options[@]}" "${files[@]}"
	done
}

finish() {
	[ -n "$box" ] && box_stop
	[ $boxes -gt 0 ] && judge_all
	[ "$failures" -eq 0 ]
	exit
}
