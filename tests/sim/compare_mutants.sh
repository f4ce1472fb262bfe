#!/bin/sh
# The comparison must find every fault of the model that it is designed to find: each mutant differs from the
# correct model in one mode or the other, and the correct model does not differ from itself.
#
#   tests/sim/compare_mutants.sh PROGRAM
set -u
compare=$1
failed=0

# A usage error is not reported as a missing engine (77).
for wrong in "--shape 9,9,9" "--shape 4,0,512" "--shape 4,1,100" "--shape 4" "--mode c" "--engine-b glass" "--every 0" "--mutate 101"; do
	"$compare" $wrong > /dev/null 2>&1 # split at the blank
	rc=$?
	[ $rc -eq 2 ] || { echo "$wrong: exit code $rc, not 2"; failed=1; }
done

"$compare" --count 3000 --runs 3 || failed=1
"$compare" --mode b --count 500 --runs 3 || failed=1
"$compare" --mode b --count 300 --runs 3 --mutate 40 || failed=1
"$compare" --mode b --count 300 --mutate 40 --verbose | grep -q "[1-9][0-9]* changed copies" || { echo "mode b changes nothing"; failed=1; }
for mutant in tree nan stale behalf silent window shift icrc beyond ackreq repeat disagree counter source pad naknext nakroom lookup unknown wrongport empty wants tag copy order padkept; do
	found=
	"$compare" --engine-b "model:$mutant" --count 20000 > /dev/null
	[ $? -eq 1 ] && found="mode a"
	if [ -z "$found" ]; then
		"$compare" --engine-b "model:$mutant" --mode b --count 1000 --runs 3 > /dev/null
		[ $? -eq 1 ] && found="mode b"
	fi
	echo "mutant $mutant: ${found:-NOT FOUND}"
	[ -n "$found" ] || failed=1
done
for mutant in icrc source counter; do
	"$compare" --engine-b "model:$mutant" --mutate 40 --count 20000 > /dev/null
	[ $? -eq 1 ] || { echo "mutant $mutant: not found among changed frames"; failed=1; }
done
"$compare" --engine-b model:icrc --mode b --mutate 40 --count 1000 > /dev/null
[ $? -eq 1 ] || { echo "mutant icrc: not found among changed frames at full load"; failed=1; }
exit $failed
