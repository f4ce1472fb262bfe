#!/bin/bash
# planner-bench on the command line: its help, and every wrong argument is refused before anything runs.
#   tests/e2e/planner_bench.sh FOLDER_OF_PROGRAMS
set -u
bench=$(cd "$1" && pwd)/planner-bench
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
faults=0

# expect CODE TEXT ARGUMENTS...
expect() {
	local want=$1 says=$2
	shift 2
	timeout 60 "$bench" "$@" > out 2>&1 < /dev/null
	local code=$?
	if [ $code = "$want" ] && { [ -z "$says" ] || grep -q -e "$says" out; }; then
		return
	fi
	faults=$((faults + 1))
	echo "FAILED: planner-bench $*: exit code $code, not $want, or not \"$says\":"
	head -3 out
}

# The check itself: a wrong code is detected, and so are wrong words.
if ! (
	expect 1 "" --glass
	expect 2 "no such words" --glass
	[ $faults = 2 ]
) > /dev/null; then
	echo "FAILED: the check accepts anything"
	exit 1
fi
expect 0 "^usage: planner-bench FILE" --help
expect 0 "drawn:FROM-TO" --help
expect 2 "^--glass: unknown option" --glass
expect 2 "^--glass: unknown option" figures.jsonl 1 --glass
expect 2 "one to three arguments are required, not 0"
expect 2 "one to three arguments are required, not 4" figures.jsonl 1 cluster more
for value in 0 -1 x 1.5 10001 99999999999; do
	expect 2 "SEEDS: \"$value\" must be a whole number from 1 to 10000" -- figures.jsonl "$value"
done
if [ -e figures.jsonl ]; then
	echo "FAILED: a wrong argument leaves a file"
	faults=$((faults + 1))
fi
expect 1 "none/figures.jsonl: No such file" none/figures.jsonl 1 cluster
expect 2 "CASE: \"nonsense\" is in the name of no case" figures.jsonl 1 nonsense
expect 2 "CASE: \"drawn:9-3\" is in the name of no case" figures.jsonl 1 drawn:9-3
expect 0 "" figures.jsonl 1 drawn:1-1
if ! grep -q '"group": "planner"' figures.jsonl; then
	echo "FAILED: a figure is not in the file"
	faults=$((faults + 1))
fi
[ $faults = 0 ]
