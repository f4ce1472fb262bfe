#!/bin/bash
# A call on a communicator of one rank takes at most 500 instructions: a blocking one; one that makes a request and the one
# that tests it, together at most 1000.
#   tests/unit/api_cost.sh PROGRAM [LIMIT]
set -u
program=$1
limit=${2:-500}
dir=$(mktemp -d "${TMPDIR:-/tmp}/ringfold-cost.XXXXXX") || exit 1
trap 'rm -rf "$dir"' EXIT
status=0

# Instructions of a run.
count() {
	valgrind --tool=callgrind --callgrind-out-file="$dir/cg" "$program" "$@" > "$dir/out" 2> "$dir/err" || {
		cat "$dir/out" "$dir/err" >&2
		return 1
	}
	sed -n 's/^summary: //p' "$dir/cg"
}

for form in blocking request; do
	short=$(count $form 1000) && long=$(count $form 3000) || exit 1
	each=$(((long - short) / 2000))
	calls=$([ $form = blocking ] && echo 1 || echo 2)
	echo "$form: $each instructions for $calls call(s)"
	# less than a lock and a copy cannot be: then the count is wrong
	if [ "$each" -gt $((limit * calls)) ] || [ "$each" -lt 50 ]; then
		echo "expected 50 to $((limit * calls))" >&2
		status=1
	fi
done
exit $status
