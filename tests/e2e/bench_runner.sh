#!/bin/sh
# tests/bench/run.py: messages, output file and exit code of `make bench`. Run from the top.
# usage: bench_runner.sh PYTHON
set -eu

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# expect EXIT_CODE: runs the list of commands on standard input.
expect() {
	tr '|' '\t' > "$dir/list"
	code=0
	"$python" -B tests/bench/run.py "$dir/list" "$dir/lines" "$dir/bench.json" > "$dir/out" 2> "$dir/err" || code=$?
	if [ "$code" != "$1" ]; then
		echo "bench_runner.sh: expected exit $1, got $code:" >&2
		cat "$dir/out" "$dir/err" >&2
		exit 1
	fi
}

# figure NAME VALUE LIMIT MUST OK: a command that appends it.
figure() {
	echo "echo '{\"group\": \"g\", \"name\": \"$1\", \"value\": $2, \"unit\": \"u\", \"limit\": $3, \"must\": $4, \"ok\": $5}' >> $dir/lines"
}

python=$1
expect 0 <<END
a|$(figure first 17.02 17.2 true true)
b|$(figure second 3 null false true)
END
grep -q 'first .*17.02 .*17.2 .*0.990 .*ok' "$dir/out"
"$python" -c 'import json, sys; f = json.load(open(sys.argv[1])); assert [x["name"] for x in f] == ["first", "second"]' "$dir/bench.json"
# A figure that must hold does not.
expect 4 <<END
a|$(figure first 17.3 17.2 true false)
END
grep -q 'first .*MISSED' "$dir/out"
# A figure that is only shown does not hold.
expect 0 <<END
a|$(figure first 17.3 17.2 false false)
END
grep -q 'first .*missed' "$dir/out"
# A missed claim with no number to compare.
expect 4 <<END
a|$(figure first 1 null true false)
END
grep -q 'first .*MISSED' "$dir/out"
# A command that fails, also together with a missed figure; the other commands' results are kept.
expect 1 <<END
a|false
b|$(figure second 3 2 true false)
END
grep -q "'a' failed" "$dir/err"
grep -q second "$dir/bench.json"
# Figures of an earlier run are discarded.
expect 0 <<END
a|true
END
! grep -q second "$dir/bench.json"
echo "make bench ends with 0, 1 or 4, as it must"
