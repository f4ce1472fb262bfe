#!/bin/sh
# The checks of rooms and words: this tree passes, and a tree with a fault does not.
#
#   tests/lint/test.sh
set -u
cd "$(dirname "$0")/../.." || exit 1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
failed=0
fail() {
	echo "FAILED: $*"
	failed=1
}

# found CHECK TEXT: the check fails on $dir, and says TEXT
found() {
	if python3 -B "tests/lint/$1.py" --at "$dir" > "$dir.out"; then
		fail "$1.py does not find: $2"
	elif ! grep -qF "$2" "$dir.out"; then
		fail "$1.py does not say: $2"
		cat "$dir.out"
	fi
	rm -f "$dir.out"
}

python3 -B tests/lint/rooms.py || fail "includes, see above"
python3 -B tests/lint/words.py || fail "words, see above"

mkdir -p "$dir/base" "$dir/host/api" "$dir/planner" "$dir/proto" "$dir/attic"
echo '#include "proto/rf_ctl.h"' > "$dir/base/low.c"
found rooms 'base/low.c:1: base includes proto, which stands above it'
printf '#include "host/api/api.h"\n' > "$dir/base/low.c"
echo '#include "base/clock.h"' > "$dir/host/api/high.c"
found rooms 'base includes host/api'
rm "$dir/base/low.c"
python3 -B tests/lint/rooms.py --at "$dir" > /dev/null || fail "rooms.py refuses what is allowed"
echo '#include "proto/rf_ctl.h"' > "$dir/planner/alone.c"
found rooms 'planner may include base, plan alone, not proto'
rm "$dir/planner/alone.c"
echo 'int x;' > "$dir/attic/x.c"
found rooms 'attic/x.c: in no room'
rm "$dir/attic/x.c"

python3 -B tests/lint/words.py --at "$dir" > /dev/null || fail "words.py refuses plain words"
echo '/* Whole but for its end. */' > "$dir/base/words.h"
found words 'base/words.h:1: "but for"'

exit $failed
