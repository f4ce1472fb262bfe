#!/bin/sh
# Cost of a simulated cycle: instructions (callgrind), and cycles per second on this machine, appended to a file of JSON lines.
#
#   tests/bench/core_bench.sh PROGRAM OUT
#
# Two run lengths, so that set-up cancels out. Includes the bench, which makes and checks frames. Cycles per second differ between
# machines, and with what else runs; so the limit is for instructions. The Verilog of 22 November 2026 needed 92,140, and ran at 157,000
# cycles per second on the machine where that was measured first; the limit is what 150,000 there would be.
set -eu
program=$1
out=$2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# Prints instructions and cycles.
counted() {
	valgrind --tool=callgrind --callgrind-out-file="$dir/cg" "$program" simulation "$1" > "$dir/stdout" 2> "$dir/stderr" ||
		{ cat "$dir/stdout" "$dir/stderr" >&2; exit 1; }
	echo "$(sed -n 's/^summary: *//p; s/^totals: *//p' "$dir/cg" | head -n 1) $(sed -n 's/ cycles simulated.*//p' "$dir/stdout")"
}

best=0
for run in 1 2 3; do
	"$program" simulation 3000 > "$dir/stdout"
	rate=$(sed -n 's/.* cycles simulated, \(.*\) cycles\/s/\1/p' "$dir/stdout")
	[ "$rate" -le "$best" ] || best=$rate
done
short=$(counted 200)
long=$(counted 1200)
echo "$short $long $best" | awk '{
	v = ($3 - $1) / ($4 - $2)
	printf "%.0f instructions per simulated cycle (at most %.0f), %d cycles/s here\n", v, limit, $5 > "/dev/stderr"
	printf "{\"group\": \"rtl\", \"name\": \"simulation, P = 4, 1 lane, 32-bit types\", "
	printf "\"value\": %.0f, \"unit\": \"instructions/cycle\", \"limit\": %d, \"must\": true, \"ok\": %s}\n", v, limit, v <= limit ? "true" : "false"
	printf "{\"group\": \"rtl\", \"name\": \"simulation, P = 4, 1 lane, 32-bit types, this machine\", "
	printf "\"value\": %d, \"unit\": \"cycles/s\", \"limit\": null, \"must\": false, \"ok\": true}\n", $5
}' limit=96440 >> "$out"
