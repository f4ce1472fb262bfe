#!/bin/sh
# Runs a test of the fabric with a capture of each of its runs, and checks all frames with the independent checker; of more than
# 20000 at one place only the first and the last 10000. The exit code is the test's, or 1 if a frame is wrong.
#
#   judged.sh TEST [ARGUMENT...]
set -u
dir=$(mktemp -d "${TMPDIR:-/tmp}/ringfold-judged-XXXXXX") || exit 1
trap 'rm -rf "$dir"' EXIT
trap 'exit 130' INT TERM HUP
check="${PYTHON:-python3} -B tests/check/frames.py --quiet --ends 20000 --box-ip 10.0.255.254 --box-mac 02:52:46:00:00:10"

RF_TEST_PCAPNG=$dir "$@"
rc=$?
[ $rc -eq 0 ] || exit $rc

# judge KIND [OPTION...]: all captures of runs of that kind
judge() {
	kind=$1
	shift
	ls -d "$dir/$kind"-* > /dev/null 2>&1 || return 0
	# shellcheck disable=SC2086 # words
	find "$dir" -path "$dir/$kind-*" -name '*.pcapng' -print0 | xargs -0 $check "$@"
}

runs=$(find "$dir" -mindepth 1 -maxdepth 1 | wc -l)
[ "$runs" -gt 0 ] || { echo "failed: the test has left no captures"; exit 1; }
if ! judge clean --floods || ! judge faults --faults; then
	echo "failed: a wrong frame"
	exit 1
fi
victim=$(find "$dir" -name box.pcapng -size +100k | head -n 1)
if [ -z "$victim" ] || $check --mutate icrc "$victim" > /dev/null; then
	echo "failed: the checker does not see a damaged frame"
	exit 1
fi
echo "every frame of $runs runs is right"
