#!/bin/sh
# tests/run itself: tests that pass, fail, are skipped, hang, or are killed together with the runner. Run from the top.
set -eu

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# expect EXIT_CODE LAST_LINE: runs the list on standard input.
expect() {
	mkdir -p "$dir/t"
	tr '|' '\t' > "$dir/t/list"
	code=0
	JOBS=1 TEST_TIMEOUT=2 tests/run "$dir/t/list" > "$dir/out" 2>&1 || code=$?
	last=$(tail -n 1 "$dir/out")
	if [ "$code $last" != "$1 $2" ]; then
		echo "runner.sh: expected '$1 $2', got '$code $last':" >&2
		cat "$dir/out" >&2
		exit 1
	fi
}

expect 0 "2 passed, 0 failed, 1 skipped" <<'END'
a|true
b|echo no such device; exit 77
c|true
END
grep -q 'no such device' "$dir/out"
# how many of how many have ended
for line in 'pass  a .* 1/3$' 'skip  b .* 2/3$' 'pass  c .* 3/3$'; do
	grep -q "^$line" "$dir/out" || { echo "runner.sh: no line \"$line\"" >&2; exit 1; }
done
expect 1 "1 passed, 1 failed, 0 skipped" <<'END'
a|true
b|echo the cause; false
END
grep -q '| the cause' "$dir/out"
expect 1 "1 passed, 1 failed, 0 skipped" <<'END'
a|sleep 20
b|true
END
expect 1 "1 passed, 3 failed, 0 skipped" <<'END'
a|true
b|kill -9 $(ps -o ppid= -p $PPID)
c|true
d|true
END
# If every test is skipped, the run fails.
expect 1 "0 passed, 0 failed, 1 skipped" <<'END'
a|exit 77
END
# A second run at the same time is rejected.
mkdir -p "$dir/t/test-logs"
flock "$dir/t/test-logs/.running" sh -c 'JOBS=1 tests/run "$1" > "$2" 2>&1' - "$dir/t/list" "$dir/out" && exit 1
grep -q 'already run' "$dir/out"
echo "tests/run tells apart what passed, failed, was skipped, and was never run"
