#!/bin/sh
# bench_directed with the model: full rate; and it notices a slow sender (exit 4) and a wrong byte (exit 1).
set -eu

bench=$1
out=$(mktemp)
trap 'rm -f "$out"' EXIT

"$bench" "$out" model quick
grep -q '"ok":true' "$out" || { echo "no figure was written" >&2; exit 1; }

expect() {
	rc=0
	"$bench" "$out" model quick "$2" || rc=$?
	[ $rc -eq "$1" ] || { echo "$2: exit $rc, not $1" >&2; exit 1; }
}
expect 4 slow
expect 1 flip
