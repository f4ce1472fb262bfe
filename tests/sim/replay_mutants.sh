#!/bin/sh
# For every check of a run with faults there is a run in which it must fail; and seeds find the faults of the ledger.
#
#   tests/sim/replay_mutants.sh PROGRAM
set -u
replay=$1
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
failed=0
tab=$(printf '\t')

# A usage error is reported neither as a failing run (1) nor as a missing engine (77).
for wrong in "" "1 2" "--ports 9 1" "--lanes 0 1" "--jobs 0 1" "--mutate glass 1" "--box-mutant glass 1" "--engine glass 1"; do
	"$replay" $wrong > /dev/null 2>&1 # split at the blank
	rc=$?
	[ $rc -eq 2 ] || { echo "$wrong: exit code $rc, not 2"; failed=1; }
done

"$replay" --mutate list > "$tmp/list" || failed=1
[ "$(grep -c . "$tmp/list")" -ge 15 ] || { echo "only $(grep -c . "$tmp/list") mutants"; failed=1; }
while IFS=$tab read -r name complaint; do
	"$replay" --mutate "$name" --count 300 1 > "$tmp/out" 2>&1
	rc=$?
	found=$(grep "^seed .*$complaint" "$tmp/out" | head -n 1)
	echo "$name: ${found:-NOT FOUND, exit code $rc}"
	[ $rc -eq 1 ] && [ -n "$found" ] || failed=1
done < "$tmp/list"

# Of those that break the ledger the others are found by compare-mutants and spin-window (docs/simulation.md).
for mutant in silent naknext behalf window beyond icrc source tree; do
	"$replay" --box-mutant $mutant --count 1000 1 > "$tmp/out" 2>&1
	rc=$?
	found=$(grep "^seed " "$tmp/out" | head -n 1)
	echo "box with $mutant: ${found:-NOT FOUND, exit code $rc}"
	[ $rc -eq 1 ] && [ -n "$found" ] || failed=1
done

# A wrong bit in a run of each collective, and of mirror ranks; and the faults of directed groups that seeds find.
for word in all-reduce reduce broadcast reduce-scatter all-gather gather scatter mirror; do
	for seed in $(seq 1 200); do
		case $("$replay" --plan "$seed") in
		*"directed: $word("* | *"$word, directed: "*) ;;
		*) continue ;;
		esac
		"$replay" --mutate bits "$seed" > "$tmp/out" 2>&1
		rc=$?
		grep -q "^seed .*wrong sums" "$tmp/out" && break
	done
	echo "a wrong bit, $word: seed $seed, exit code $rc"
	[ $rc -eq 1 ] && grep -q "^seed $seed: .*wrong sums" "$tmp/out" || failed=1
done
# With the first seed: few hosts send a wrong index that only the box can notice.
for case in wants:1 copy:1 order:3700; do
	mutant=${case%:*}
	"$replay" --box-mutant "$mutant" --count 1000 "${case#*:}" > "$tmp/out" 2>&1
	rc=$?
	found=$(grep "^seed " "$tmp/out" | head -n 1)
	echo "box with $mutant: ${found:-NOT FOUND, exit code $rc}"
	[ $rc -eq 1 ] && [ -n "$found" ] && grep -q " directed" "$tmp/out" || failed=1
done

# A run is the same each time, in every process.
"$replay" --verbose 4711 > "$tmp/one" || failed=1
"$replay" --verbose 4711 > "$tmp/two" || failed=1
cmp "$tmp/one" "$tmp/two" || failed=1
exit $failed
