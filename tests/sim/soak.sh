#!/bin/sh
# Many runs with faults, each derived from its seed: three shapes of box, the model and the Verilog; and the library with several
# communicators. All are run, even after a failure; Ctrl-C ends it, with the sums so far.
#
#   tests/sim/soak.sh PROGRAM MODEL-SEEDS RTL-SEEDS PROCESSES [LIBRARY-PROGRAM LIBRARY-SEEDS]
set -u
replay=$1 model=$2 rtl=$3 jobs=$4 library=${5-} calls=${6-0}
begin=$(date +%s)
tmp=$(mktemp -d) || exit 1
child=
good=1
halt() {
	trap '' INT TERM HUP
	[ -n "$child" ] && kill -TERM "$child" 2> /dev/null
	wait
	good=0
	sums "stopped: "
	exit 130
}
trap 'rm -rf "$tmp"' EXIT
trap halt INT TERM HUP

# sums TEXT: prints the sums over all runs
sums() {
	awk -v head="$1" -v spent=$(($(date +%s) - begin)) -v good="$good" '
		/^[0-9]+ (of [0-9]+ )?runs from seed / {
			runs[/\(library,/ ? "library" : /\(model,/ ? "model" : "rtl"] += $1
			bad += substr($0, match($0, /[0-9]+ not good/)) + 0
		}
		END {
			printf "soak: %s%d seeds with the model, %d with the Verilog, %d with the library, %d not good, in %d s\n", head,
				runs["model"], runs["rtl"], runs["library"], bad, spent
			exit !good
		}' "$tmp/out"
}

# part OPTION...: of ringfold replay
part() {
	echo "ringfold replay $*"
	run "$replay" --jobs "$jobs" --limit 3600 "$@"
}

# run PROGRAM OPTION...
run() {
	"$@" > "$tmp/fifo" &
	child=$!
	tee -i -a "$tmp/out" < "$tmp/fifo" &
	copy=$!
	wait "$child"
	rc=$?
	child=
	wait "$copy"
	[ $rc -lt 128 ] || halt
	[ $rc -eq 0 ] || good=0
}

mkfifo "$tmp/fifo" && : > "$tmp/out"
cover=--cover
[ "$model" -ge 1000 ] || cover=
part --ports 4 --lanes 2 --width 64 $cover --count $((model - model / 2)) 1000000
part --ports 8 --lanes 1 --width 512 --count $((model / 2)) 2000000
part --engine rtl --ports 4 --lanes 2 --width 64 --count $((rtl - rtl / 2)) 3000000
part --engine rtl --ports 2 --lanes 1 --width 64 --count $((rtl / 2)) 4000000
if [ "$calls" -gt 0 ]; then
	echo "$library --count $calls 5000000"
	run "$library" --jobs $((4 * jobs)) --count "$calls" 5000000
fi
sums ""
