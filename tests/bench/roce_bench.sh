#!/bin/sh
# Figures of the host transport: instructions per packet (callgrind), appended to a file of JSON lines.
#
#   tests/bench/roce_bench.sh PROGRAM OUT
#
# Two run lengths, so that set-up cancels out. Counts both ends: post, build, ICRC, parse, verify, copy,
# acknowledge, complete.
set -eu
program=$1
out=$2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

instructions() {
	valgrind --tool=callgrind --callgrind-out-file="$dir/cg" "$program" "$1" > "$dir/stdout" 2> "$dir/stderr" ||
		{ cat "$dir/stderr" >&2; exit 1; }
	sed -n 's/^summary: *//p; s/^totals: *//p' "$dir/cg" | head -n 1
}

short=$(instructions 640)
long=$(instructions 6400)
awk -v a="$short" -v b="$long" 'BEGIN {
	v = (b - a) / (6400 - 640)
	printf "{\"group\": \"host\", \"name\": \"transport, 1024 B, tx and rx together\", "
	printf "\"value\": %.1f, \"unit\": \"instructions/packet\", \"limit\": null, \"must\": false, \"ok\": true}\n", v
}' >> "$out"
