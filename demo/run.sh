#!/bin/bash
# Four hosts train a net on handwritten digits; the box adds their gradients.
#
#   demo/run.sh [--engine rtl|model] [--firmware rv32|native] [--ranks N] [--epochs N] [--keep DIR]
#
#   --engine rtl    the Verilog pipeline in Verilator (default); model: the reference model in C
#   --firmware rv32 the image for the box's processor, in libunicorn (default if it was built); native: the same
#                   source in the simulator's process
#   --ranks N       host processes, 2 to 4 (4)
#   --epochs N      passes over all digits (30)
#   --keep DIR      keep logs and captures of all frames (pcapng) there
#
# One process is the Ethernet switch with the redirect rule and the box; N processes are the hosts, attached
# by DPDK memif. Afterwards another process does the same work alone and adds in the same order: its weights
# must be equal bit for bit. Ends every process that it started, even after an error.
# Exit codes: 0 good, 1 failed, 2 usage, 3 weights differ, 4 accuracy below 95 %.
set -u

bin=${RF_BIN:-$(dirname "$0")/../build/bin}
data=${RF_DATA:-$(dirname "$0")/../tests/data/digits/digits.csv}
engine=rtl
firmware=native
[ -x "$bin/ringfold-rv32" ] && [ -r "$bin/../firmware/ringfold-rv32.elf" ] && firmware=rv32
ranks=4
epochs=30
keep=

usage() {
	sed -n '2,16s/^# \{0,1\}//p' "$0"
}

while [ $# -gt 0 ]; do
	case "$1" in
	--engine | --firmware | --ranks | --epochs | --keep)
		[ $# -ge 2 ] || { usage >&2; exit 2; }
		declare "${1#--}=$2"
		shift 2
		;;
	--help)
		usage
		exit 0
		;;
	*)
		usage >&2
		exit 2
		;;
	esac
done
# wrong OPTION VALUE WHAT
wrong() {
	echo "demo/run.sh: $1 $2: $3 (--help explains)" >&2
	exit 2
}
[[ $engine =~ ^(rtl|model)$ ]] || wrong --engine "$engine" "expected rtl or model"
[[ $firmware =~ ^(rv32|native)$ ]] || wrong --firmware "$firmware" "expected rv32 or native"
[[ $ranks =~ ^[2-4]$ ]] || wrong --ranks "$ranks" "expected 2 to 4"
[[ $epochs =~ ^[1-9][0-9]{0,5}$ ]] || wrong --epochs "$epochs" "expected a number from 1 to 999999"
# Sockets are created there, and their names are passed to DPDK and to the box in lists separated by commas.
case "${TMPDIR:-/tmp}" in
*,*) wrong TMPDIR "$TMPDIR" "expected a folder without a comma in its name" ;;
esac

dir=$(mktemp -d "${TMPDIR:-/tmp}/ringfold-demo.XXXXXX") || exit 1
declare -A running # name of every process that was started and not yet waited for, by process id

# Ends only processes started here, by process id.
cleanup() {
	trap '' INT TERM HUP
	local pid
	for pid in "${!running[@]}"; do
		kill -TERM "$pid" 2> /dev/null
	done
	for pid in "${!running[@]}"; do
		# kill a process that does not end within two seconds
		for _ in $(seq 40); do
			kill -0 "$pid" 2> /dev/null || break
			sleep 0.05
		done
		kill -KILL "$pid" 2> /dev/null
		wait "$pid" 2> /dev/null
	done
	rm -rf "$dir"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# start NAME COMMAND...: if this script ends, even by SIGKILL, the kernel ends its children.
start() {
	local name=$1
	shift
	setpriv --pdeathsig TERM "$@" &
	running[$!]=$name
}

# An unused TCP port.
free_port() {
	local port
	for _ in $(seq 100); do
		port=$((16384 + RANDOM % 16384)) # below the ports of outgoing connections
		(exec 3<> "/dev/tcp/127.0.0.1/$port") 2> /dev/null || { echo "$port"; return; }
	done
	echo 4792
}

say() {
	printf '%s\n' "$*"
}

log=$dir
if [ -n "$keep" ]; then
	mkdir -p "$keep" || exit 1
	log=$keep
fi

say "box: $engine, firmware $firmware, 4 ports x 512 bits; $ranks hosts; $epochs epochs"
box=("$bin/ringfold-box" --engine "$engine" --firmware "$firmware" --box-ports 4 --hold 0s --stats 20ms)
[ -n "$keep" ] && box+=(--pcapng "$keep")
for ((r = 0; r < ranks; r++)); do
	box+=(--port "h$r=memif:$dir/$r.sock")
done
start box "${box[@]}" > "$log/box.out" 2> "$log/box.log"
for _ in $(seq 200); do
	grep -q ready "$log/box.log" && break
	kill -0 $! 2> /dev/null || break
	sleep 0.05
done
if ! grep -q ready "$log/box.log"; then
	say "the box does not start:" >&2
	cat "$log/box.log" >&2
	exit 1
fi

# A simulated box takes milliseconds for what a real one does in microseconds.
export RF_SIZE=$ranks RF_SCHEDULE=box RF_RETRY=500 RF_SPIN=0 RF_MTU=1024 RF_BOX_IP=10.0.0.254 RF_ROOT=127.0.0.1
export RF_TIMEOUT=${RF_TIMEOUT:-20000} RF_PORT=${RF_PORT:-$(free_port)}
for ((r = 0; r < ranks; r++)); do
	export RF_RANK=$r RF_IP=10.0.0.$((r + 1))
	export RF_DEVICE="net_memif0,role=client,id=0,socket=$dir/$r.sock,socket-abstract=no"
	[ -n "$keep" ] && export RF_PCAP="$keep/rank%r.pcapng"
	start "host $r" "$bin/ringfold-train" --data "$data" --epochs "$epochs" --weights "$dir/weights" \
		--places-out "$dir/places" --box-log "$log/box.log" 2> "$log/rank$r.log"
done

# Waits until one process has ended; sets who and status.
next_end() {
	local pid
	wait -n -p pid "${!running[@]}"
	status=$?
	who=${running[$pid]}
	unset "running[$pid]"
}

# Reports how a process ended. A signal is the likely cause; other errors usually follow from it.
ended() {
	if [ "$2" -gt 128 ]; then
		say "$1 was ended by signal $(kill -l "$2")" >&2
	elif [ "$2" -ne 0 ] || [ "$1" = box ]; then
		say "$1 has ended with exit code $2" >&2
	fi
}

# Whether any host process is running.
hosts_run() {
	local pid
	for pid in "${!running[@]}"; do
		[ "${running[$pid]}" != box ] && kill -0 "$pid" 2> /dev/null && return 0
	done
	return 1
}

# After a failure: gives the other processes a moment to detect it and report.
explain() {
	local f pid
	for _ in $(seq 60); do
		hosts_run || break
		sleep 0.1
	done
	for pid in "${!running[@]}"; do
		kill -0 "$pid" 2> /dev/null && continue
		wait "$pid"
		ended "${running[$pid]}" $?
		unset "running[$pid]"
	done
	for f in "$log"/rank*.log "$log/box.log"; do
		sed "s|^|$(basename "$f" .log): |" "$f" | grep -v ' cycles' >&2
	done
	busy >&2
}

# The simulated box must answer within RF_BOX_TIMEOUT (5 s), which it cannot if it gets too little of the processors.
busy() {
	local load processors
	read -r load _ < "${DEMO_LOADAVG:-/proc/loadavg}"
	processors=$(nproc)
	[ "${load%.*}" -ge $((2 * processors)) ] || return
	say "note: this machine is busy (load $load on $processors processors), and the simulated box runs in real time:" \
		"try again when it is idle, or take the faster --engine model"
}

# Waits until all hosts have succeeded. The first host that fails, or the end of the box, ends the demo.
for ((left = ranks; left > 0; left--)); do
	next_end
	if [ "$who" = box ] || [ "$status" -ne 0 ]; then
		ended "$who" $status
		explain
		exit 1
	fi
done

say "the same work in one process:"
"$bin/ringfold-train" --data "$data" --epochs "$epochs" --alone "$ranks" --places "$(cat "$dir/places")" \
	--weights "$dir/weights.alone" --quiet --summary > "$dir/summary" || exit 1
cat "$dir/summary"
if ! cmp "$dir/weights" "$dir/weights.alone"; then
	say "the weights differ" >&2
	exit 3
fi
say "weights equal bit for bit: $(stat -c %s "$dir/weights") bytes"
accuracy=$(sed -n 's/.*accuracy \([0-9]*\)\..*/\1/p' "$dir/summary")
if [ "$epochs" -ge 10 ] && [ "$accuracy" -lt 95 ]; then
	say "accuracy below 95 %" >&2
	exit 4
fi
