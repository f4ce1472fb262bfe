#!/bin/sh
# Exit codes and messages of the command lines: ringfold, ringfold sim, ringfold box.
#
#   cli.sh FOLDER_OF_PROGRAMS
set -u
bin=$1
failures=0
dir=$(mktemp -d "${TMPDIR:-/tmp}/ringfold-cli-XXXXXX") || exit 1
out=$dir/out
trap 'rm -rf "$dir"' EXIT
trap 'exit 130' INT TERM HUP

# expect CODE TEXT COMMAND...: the exit code, and a text that the output must contain.
expect() {
	code=$1
	text=$2
	shift 2
	timeout 60 "$@" > "$out" 2>&1 < /dev/null
	got=$?
	if [ "$got" != "$code" ] || ! grep -q -e "$text" "$out"; then
		echo "failed: $* gave $got, not $code, or does not contain \"$text\":"
		cat "$out"
		failures=$((failures + 1))
	fi
}

expect 0 "hosts, links, switch and box" "$bin/ringfold" --help
expect 2 "usage" "$bin/ringfold"
expect 2 "unknown command \"nothing\"" "$bin/ringfold" nothing
expect 2 "unknown command" "$bin/ringfold" ../sim
expect 0 "exit codes" "$bin/ringfold" sim --help
expect 0 "usage: ringfold sim " "$bin/ringfold" help sim
expect 0 "usage: ringfold COMMAND" "$bin/ringfold" help
expect 2 "unknown command \"sin\"; did you mean \"sim\"" "$bin/ringfold" help sin
expect 2 "unknown command" "$bin/ringfold" help ../sim
expect 0 "exit codes" "$bin/ringfold" box --help
expect 0 "% limit" "$bin/ringfold" sim --size 4K
expect 0 "\"wrong\": 0" "$bin/ringfold" sim --size 4K --json
expect 3 " 1$" "$bin/ringfold" sim --size 4K --flip
expect 1 "not finished" "$bin/ringfold" sim --size 64M --deadline 1ms
for kind in all-reduce reduce broadcast reduce-scatter all-gather gather scatter barrier; do
	for steering in mirror ring; do
		case $kind in all-reduce | reduce | reduce-scatter) op=max ;; *) op=sum ;; esac
		expect 0 "$kind *$steering .* 0$" "$bin/ringfold" sim --collective $kind --steering $steering --size 48K --dtype uint64 --op $op
	done
done
# Whole vectors that are no multiple of the ranks.
for kind in all-reduce reduce broadcast; do
	for way in "--steering mirror" "--steering ring" "--schedule ring"; do
		# shellcheck disable=SC2086
		expect 0 "$kind *[a-z-]* .* 0$" "$bin/ringfold" sim --collective $kind $way --ranks 3 --size 4K --dtype int32
	done
done
expect 3 " 1$" "$bin/ringfold" sim --steering mirror --size 4K --flip
expect 0 '"collective": "scatter"' "$bin/ringfold" sim --collective scatter --size 4K --json
expect 0 "[1-9][0-9]* marked" "$bin/ringfold" sim --steering mirror --collective broadcast --slow 4 --mark 50K
expect 0 "mirror" "$bin/ringfold" sim --steering mirror --router --size 4K --loss 1% --selective
expect 2 "fp64 has no and" "$bin/ringfold" sim --collective reduce --dtype fp64 --op and
for kind in broadcast all-gather gather scatter barrier; do
	expect 2 "\-\-op: $kind has no operation" "$bin/ringfold" sim --collective $kind --op max
done
for kind in reduce broadcast barrier; do
	expect 2 "\-\-in-place: only for all-reduces, not for $kind" "$bin/ringfold" sim --collective $kind --in-place
done
expect 0 "barrier .* 0$" "$bin/ringfold" sim --collective barrier --size 5
expect 0 "98304 elements compared" "$bin/ringfold" sim --steering mirror --slow 2 --collective all-reduce --size 48K --dtype bf16
expect 0 "without firmware (default 0)$" "$bin/ringfold" sim --help
expect 2 "only with --collective" "$bin/ringfold" sim --dtype int8
expect 2 "not with --vlan" "$bin/ringfold" sim --steering mirror --mark 10K --vlan
expect 0 "gather *- .* 0$" "$bin/ringfold" sim --collective gather --schedule ring --size 40K --ranks 5 --dtype int8
expect 2 "not with --schedule" "$bin/ringfold" sim --steering mirror --schedule ring
expect 0 " 0 redirected" "$bin/ringfold" sim --steering mirror --vlan --loss 1% --size 64K --selective
expect 2 "\-\-root: expected" "$bin/ringfold" sim --collective gather --root 4
expect 2 "root: only with --collective" "$bin/ringfold" sim --root 2
expect 2 "all-gather has no root" "$bin/ringfold" sim --collective all-gather --root 2
expect 2 "one rank alone has no box" "$bin/ringfold" sim --collective all-gather --ranks 1 --steering mirror
expect 2 "not with the faults of links, except --loss" "$bin/ringfold" sim --steering mirror --collective broadcast --slow 4 --jitter 1us
expect 2 "expected mirror" "$bin/ringfold" sim --collective gather --router
expect 2 "foreign endpoints, not transparent\|not with --transparent" "$bin/ringfold" sim --steering mirror --transparent
expect 2 "blocks of whole" "$bin/ringfold" sim --collective gather --size 4K --ranks 3 --ports 4
expect 1 "not finished" "$bin/ringfold" sim --steering mirror --size 64M --deadline 1ms
expect 0 " 0$" "$bin/ringfold" sim --size 64K --processing 200G
expect 2 "expected the model" "$bin/ringfold" sim --schedule ring --processing 200G
expect 2 "not with --processing" "$bin/ringfold" sim --steering mirror --mark 10K --processing 200G
expect 2 'processing: "fast" is not a valid BITS/S' "$bin/ringfold" sim --processing fast
# trees of boxes
for kind in all-reduce reduce broadcast reduce-scatter all-gather gather scatter barrier; do
	expect 0 "$kind *mirror .* 0$" "$bin/ringfold" sim --tree 2x2x3 --collective $kind --size 48K --dtype bf16
done
expect 0 "tree *2x3: 3 boxes" "$bin/ringfold" sim --tree 2x3 --size 10000 --loss 0.5% --selective --counters
expect 0 "^box 14 " "$bin/ringfold" sim --tree 2x2x2x2 --size 4K --counters
expect 0 '"above": 6' "$bin/ringfold" sim --tree 2x2x1 --size 4K --json
expect 3 " 1$" "$bin/ringfold" sim --tree 2x3 --size 4K --flip
for shape in 2 2x 2x-3 2x2x2x2x2 x2x3 2x3y; do
	expect 2 "^--tree: \"$shape\": expected two to four numbers" "$bin/ringfold" sim --tree $shape
done
for shape in 1x3 17x3 2x65 8x64; do
	expect 2 "^--tree: \"$shape\": expected at least 2 boxes" "$bin/ringfold" sim --tree $shape
done
expect 2 "^--ranks: --tree 2x3 has 6" "$bin/ringfold" sim --tree 2x3 --ranks 5
expect 2 "^--tree: .*41 places.* 21 lanes" "$bin/ringfold" sim --tree 2x40 --ports 2
expect 2 "^--size: .* 6 blocks" "$bin/ringfold" sim --tree 2x3 --collective gather --size 4K
for no in "--schedule ring" "--firmware rv32" --router "--mark 10K" "--slow 2" "--pcapng $dir/p" "--timeline $dir/t" "--wave $dir/w"; do
	# shellcheck disable=SC2086 # words
	expect 2 "^--tree: not with ${no%% *}$" "$bin/ringfold" sim --tree 2x3 $no
done
expect 2 '"nan" is not a valid P: expected 0 to 1, or 0% to 100%' "$bin/ringfold" sim --loss nan
expect 2 '"-1" is not a valid N: expected a whole number from 0' "$bin/ringfold" sim -n -1
expect 2 "^--ranks: hosts: up to 64 with the box" "$bin/ringfold" sim -n -1
expect 2 '"4X" is not a valid BYTES: expected .*64K' "$bin/ringfold" sim --size 4X
expect 2 '"-3s" is not a valid TIME: expected .*20ms' "$bin/ringfold" sim --delay -3s
expect 2 '"fast" is not a valid BITS/S: expected .*100G' "$bin/ringfold" sim --rate fast
expect 2 "not a whole number" "$bin/ringfold" sim --size 6
expect 2 "iterations: expected at least 1" "$bin/ringfold" sim --iterations 0
expect 2 "ranks: 1 to 64" "$bin/ringfold" sim --ranks 0
expect 2 "ranks: 1 to 64" "$bin/ringfold" sim --ranks 65
expect 2 "need 32 lanes" "$bin/ringfold" sim --ranks 64 --ports 2
expect 2 "128 with --schedule ring" "$bin/ringfold" sim --schedule ring --ranks 129
expect 0 " copy .* 0$" "$bin/ringfold" sim --size 4K --ranks 1
expect 0 "^joined.* 1024 elements compared" "$bin/ringfold" sim --size 4K --ranks 1
expect 0 "up to 64 with the box" "$bin/ringfold" sim --help
expect 0 " 0$" "$bin/ringfold" sim --size 64K --selective --loss 1%
expect 0 " 0 NAKs" "$bin/ringfold" sim --size 64K --transparent --loss 1%
expect 0 " 0$" "$bin/ringfold" sim --size 64K --straggler 22
expect 2 "straggler: expected 0 to 31" "$bin/ringfold" sim --straggler 32
expect 2 "selective: applies to groups at the box" "$bin/ringfold" sim --schedule ring --selective
expect 2 "straggler: applies to groups at the box" "$bin/ringfold" sim --schedule ring-through-box --straggler 5
# a hint if lost frames cost much, and none if it is not
expect 0 "hint: lost frames cost [2-9][0-9] % of the speed.*--selective" "$bin/ringfold" sim --size 1M --loss 1%
for options in "" "--loss 1% --selective --size 4M" "--loss 0.0001% --seed 3"; do
	# shellcheck disable=SC2086
	if "$bin/ringfold" sim $options 2>&1 | grep hint; then
		echo "failed: ringfold sim $options gives a hint"
		failures=$((failures + 1))
	fi
done
# without a result: the cause and the remedy, no figures
expect 1 "hint: [0-9]* frames were lost .*--selective" "$bin/ringfold" sim --size 64K --loss 30% --deadline 2s
expect 1 "not finished at the deadline of 2 s (virtual), 0 of 1 .*--deadline" "$bin/ringfold" sim --size 64K --loss 30% --deadline 2s
expect 1 "hint: .*look for the link" "$bin/ringfold" sim --size 64K --loss 95% --selective
expect 1 "no memory for a vector" "$bin/ringfold" sim --size 99999999G
for options in "--size 64K --loss 30% --deadline 2s" "--size 99999999G" "--size 64M --deadline 1ms"; do
	# shellcheck disable=SC2086
	if "$bin/ringfold" sim $options 2>&1 | grep "% limit"; then
		echo "failed: ringfold sim $options prints figures"
		failures=$((failures + 1))
	fi
done
if "$bin/ringfold" sim --size 64M --deadline 1ms 2>&1 | grep hint; then
	echo "failed: a hint about losses in a run without any"
	failures=$((failures + 1))
fi
expect 1 "^ringfold sim: the timeline /dev/full is not complete" "$bin/ringfold" sim --size 4K --timeline /dev/full
# Ctrl-C: a result, the exit code of the signal, captures that end with a whole packet
expect 130 "ended by Interrupt after .* of 100000 all-reduces complete" env --default-signal=INT timeout --preserve-status -s INT 4 \
	"$bin/ringfold" sim --size 4K --iterations 100000 --pcapng "$dir/cut"
grep -q "[1-9][0-9]* elements compared" "$out" || { echo "failed: no result after Ctrl-C"; failures=$((failures + 1)); }
expect 0 "box.pcapng: [0-9]* frames" "${PYTHON:-python3}" -B tests/check/frames.py --short --ends 1000 --box-mac 02:52:46:00:00:10 \
	--box-ip 10.0.255.254 "$dir/cut/box.pcapng"
# a terminal that closes: as Ctrl-C; under nohup nothing happens
expect 129 "ended by Hangup after .* of 100000 all-reduces complete" env --default-signal=HUP timeout --preserve-status -s HUP 3 \
	"$bin/ringfold" sim --size 4K --iterations 100000 --pcapng "$dir/hangup"
test -s "$dir/hangup/box.pcapng" || { echo "failed: no capture after SIGHUP"; failures=$((failures + 1)); }
expect 0 " 0$" sh -c 'trap "" HUP; "$@" & sleep 0.3; kill -HUP $!; wait $!' - "$bin/ringfold" sim --size 4K --iterations 3000
expect 0 "^switch port" env --default-signal=HUP timeout --preserve-status -s HUP 3 "$bin/ringfold" box --hold 0s \
	--port "a=memif:$dir/hangup.sock" --pcapng "$dir/hangup.box"
test -s "$dir/hangup.box/hosts.pcapng" -a ! -e "$dir/hangup.sock" || { echo "failed: box, SIGHUP: capture or socket"; failures=$((failures + 1)); }
expect 143 '"interrupted": true' timeout --preserve-status 3 "$bin/ringfold" sim --size 4K --iterations 100000 --json
expect 2 "one of rtl" "$bin/ringfold" sim --engine glass
expect 2 "make build/vl/box-p7-l5-w512.so" "$bin/ringfold" sim --engine rtl --ranks 35 --ports 7
expect 2 "cannot write a waveform" "$bin/ringfold" sim --wave x.fst
expect 2 "path MTU" "$bin/ringfold" sim --mtu 1500
expect 2 "takes no argument" "$bin/ringfold" sim now
expect 2 "takes no argument" "$bin/ringfold" perf now
expect 0 "^ringfold [0-9]" "$bin/ringfold" --version
expect 2 "No such file" "$bin/ringfold" sim --pcapng /nonexistent/deep
expect 0 "% limit" "$bin/ringfold" sim --size 4K --pcapng "$dir/new"
expect 0 "box.pcapng" ls "$dir/new"
expect 2 "no --port" "$bin/ringfold" box
expect 2 "NAME=KIND" "$bin/ringfold" box --port memif
expect 2 "does not have port 9" "$bin/ringfold" box --port a=pcap:x,box=9
expect 2 "IPv4" "$bin/ringfold" box --port a=pcap:x --box-ip 10.0.0
expect 1 "No such file" "$bin/ringfold" box --port a=pcap:/nonexistent
expect 0 "foreign *123" "$bin/ringfold" box --hold 0s --port a=pcap:tests/data/rxe-sample.pcap,rule
expect 0 "\"foreign\": 123" "$bin/ringfold" box --hold 0s --json --port a=pcap:tests/data/rxe-sample.pcap,rule
expect 0 "foreign" "$bin/ringfold" box --pcapng "$dir/newer" --port a=pcap:tests/data/rxe-sample.pcap,rule
expect 0 "hosts.pcapng" ls "$dir/newer"
expect 1 "Not a directory" "$bin/ringfold" box --pcapng "$out" --port a=pcap:tests/data/rxe-sample.pcap
expect 2 "two ports named \"a\"" "$bin/ringfold" box --port a=pcap:x --port a=pcap:y
expect 2 "unknown option \"rul\"" "$bin/ringfold" box --port "a=memif:$dir/s.sock,rul"
expect 2 "unknown option \"box=x\"" "$bin/ringfold" box --port "a=memif:$dir/s.sock,box=x"
expect 2 "unknown option" "$bin/ringfold" box --port a=pcap:tests/data/rxe-sample.pcap,outt=x
expect 2 "unknown option" "$bin/ringfold" box --port "a=dgram:$dir/d.sock,to=$dir/e.sock,pace"

# No existing file is lost: neither a file at the path of a socket nor a capture being played.
echo precious > "$dir/file"
for kind in "memif:$dir/file" "dgram:$dir/file,to=$dir/e.sock"; do
	expect 1 "is not a socket" "$bin/ringfold" box --port "a=$kind"
	expect 0 precious cat "$dir/file"
done
ln -s "$dir/file" "$dir/link"
expect 1 "is not a socket" "$bin/ringfold" box --port "a=memif:$dir/link"
expect 0 precious cat "$dir/link"
cp tests/data/rxe-sample.pcap "$dir/c.pcap"
ln "$dir/c.pcap" "$dir/d.pcap"
expect 2 "the file that the port plays" "$bin/ringfold" box --port "a=pcap:$dir/c.pcap,out=$dir/c.pcap"
expect 2 "the file that the port plays" "$bin/ringfold" box --port "a=pcap:$dir/c.pcap,out=$dir/d.pcap"
expect 2 "file of port a would be overwritten" "$bin/ringfold" box --port "a=pcap:$dir/c.pcap" \
	--port "b=pcap:tests/data/rxe-sample.pcap,out=$dir/d.pcap"
expect 2 "file of port a would be overwritten" "$bin/ringfold" box --port "a=pcap:$dir/c.pcap,out=$dir/o" \
	--port "b=pcap:tests/data/rxe-sample.pcap,out=$dir/o"
expect 0 intact sh -c "cmp tests/data/rxe-sample.pcap '$dir/c.pcap' && echo intact"

[ "$failures" -eq 0 ] && echo "all as expected"
[ "$failures" -eq 0 ]
