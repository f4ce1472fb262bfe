#!/bin/sh
# The checks of rooms, circles, names and words: this tree passes, and a tree with a fault does not.
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
python3 -B tests/lint/circles.py || fail "circles, see above"
python3 -B tests/lint/names.py || fail "names, see above"
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

# a needs b by a call; b names a's function in a comment, in a string and as a tag only
mkdir -p "$dir/tools"
printf 'void b_run(void);\nvoid a_run(void)\n{\n\tb_run();\n}\n' > "$dir/tools/a.c"
printf '/* for a_run() */\nstruct a_run;\nvoid b_run(void)\n{\n\tputs("a_run");\n}\n' > "$dir/tools/b.c"
python3 -B tests/lint/circles.py --at "$dir" > /dev/null || fail "circles.py refuses what is no circle"
# b needs c, and c needs a: by a variable in an inline function, and by the address of a function
printf '#include "tools/c.h"\nvoid b_run(void)\n{\n\tc_run();\n}\n' > "$dir/tools/b.c"
printf 'extern int a_count;\nstatic inline void c_run(void)\n{\n\ta_count++;\n}\n' > "$dir/tools/c.h"
echo 'int a_count = 1;' >> "$dir/tools/a.c"
found circles 'tools: a circle of 3 files'
printf 'extern int a_count;\nvoid c_run(void);\n' > "$dir/tools/c.h"
python3 -B tests/lint/circles.py --at "$dir" > /dev/null || fail "circles.py takes a declaration for a need"
printf 'void a_run(void);\nvoid (*c_hook)(void) = a_run;\nvoid c_run(void)\n{\n}\n' > "$dir/tools/c.c"
found circles 'tools/c.c needs tools/a.c: a_run'
rm -r "$dir/tools"

printf '#define RF_MOST 3\nstruct other;\nstruct rf_a {\n\tint size;\n};\nint low_of(struct rf_a *take);\n' > "$dir/base/low.h"
python3 -B tests/lint/names.py --at "$dir" > /dev/null || fail "names.py refuses names with a prefix"
printf '#define MOST 3\nstruct entry {\n\tint size;\n};\nenum rf_b { FIRST };\nint take(struct entry *e);\n' > "$dir/base/low.h"
found names 'base/low.h: shows names without a prefix: FIRST, MOST, entry, take'
rm "$dir/base/low.h"

python3 -B tests/lint/words.py --at "$dir" > /dev/null || fail "words.py refuses plain words"
echo '/* Whole but for its end. */' > "$dir/base/words.h"
found words 'base/words.h:1: "but for"'
echo 'extern int stand_in;' > "$dir/base/words.h"
found words 'base/words.h:1: "stand_in"'

exit $failed
