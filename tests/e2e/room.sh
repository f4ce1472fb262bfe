#!/bin/bash
# A box that has no room for the group of another communicator: refused at once, remembered, and asked again when something was freed.
ranks=3
. "$(dirname "$0")/lib.sh"
rank=$tests/e2e_rank

box_start
all "$rank" full
check "a full box: the refusals are reported, and freed places are used" codes_are 0
# the number of ms before " ms: " or at the end of a line that begins with $1
ms() {
	sed -n "s/^\(.* \)\?$1 in \([0-9]*\) ms.*/\2/p" "$dir/0.out" | head -1
}
cat "$dir/0.out"
check "... the first within 0.5 s" test "$(ms refused)" -lt 500
check "... the second without asking the box" test "$(ms "again refused")" -lt 200
check "... named" grep -q "^7 more, refused in .*: all groups of the box are in use" "$dir/0.out"
finish
