#!/bin/sh
# The checks of rooms, circles, names, pure machines, pages and words: this tree passes, and a tree with a fault does not.
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
python3 -B tests/lint/pure.py || fail "state machines, see above"
python3 -B tests/lint/pages.py || fail "pages, see above"
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
mkdir -p "$dir/tests/unit"
printf 'struct world;\nvoid world_end(struct world *w);\nextern int (*fw_world_seed)(int rank);\n' > "$dir/tests/unit/fw_world_two.h"
python3 -B tests/lint/names.py --at "$dir" > /dev/null || fail "names.py refuses a word of a test header's name"
echo 'void take(void);' >> "$dir/tests/unit/fw_world_two.h"
found names 'tests/unit/fw_world_two.h: shows names without a prefix: take'
rm -r "$dir/tests"

mkdir "$dir/host/member"
printf '#include <stdlib.h>\nint rf_member_create(void)\n{\n\tm = calloc(1, 2); /* abort() */\n}\n' > "$dir/host/member/member.c"
python3 -B tests/lint/pure.py --at "$dir" > /dev/null || fail "pure.py refuses what is allowed"
printf 'static void rf_member_call(void)\n{\n\tm = calloc(1, 2);\n}\n' >> "$dir/host/member/member.c"
found pure 'host/member/member.c:8: rf_member_call() allocates'
echo '#include <time.h>' > "$dir/host/member/member.c"
found pure 'host/member/member.c:1: includes <time.h>'
echo '#include "base/guard.h"' > "$dir/host/member/member.c"
found pure 'host/member/member.c:1: includes base/guard.h'
printf 'void f(void)\n{\n\tfprintf(out, "x");\n}\n' > "$dir/host/member/member.c"
found pure 'host/member/member.c:3: calls fprintf()'
rm -r "$dir/host/member"

mkdir "$dir/docs"
page='# A page\n\nThis page is short.\n'
echo '[a](a.md)' > "$dir/README.md"
printf "$page"'\n[a](a.md)\n' > "$dir/docs/index.md"
long=$(printf 'word %.0s' $(seq 21))
printf "$page"'\n| %s |\n\n    %s\n' "$long" "$long" > "$dir/docs/a.md"
python3 -B tests/lint/pages.py --at "$dir" > /dev/null || fail "pages.py refuses what is allowed"
printf "$page"'\n%s\n' "$long" > "$dir/docs/a.md"
found pages 'docs/a.md:5: prose of 105 columns'
printf '# A page\n\nIt is short.\n' > "$dir/docs/a.md"
found pages 'docs/a.md: its first sentence'
printf "$page" > "$dir/docs/b.md"
found pages 'docs/b.md: is not listed'
rm -r "$dir/docs" "$dir/README.md"

python3 -B tests/lint/words.py --at "$dir" > /dev/null || fail "words.py refuses plain words"
echo '/* Whole but for its end. */' > "$dir/base/words.h"
found words 'base/words.h:1: "but for"'
echo 'extern int stand_in;' > "$dir/base/words.h"
found words 'base/words.h:1: "stand_in"'

exit $failed
