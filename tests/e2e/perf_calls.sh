#!/bin/bash
# ringfold perf: every collective by the box and without one, what it prints in each form, and what it refuses.
#   tests/e2e/perf_calls.sh [RANKS]
ranks=${1:-3}
. "$(dirname "$0")/lib.sh"
judge_out() {
	"${PYTHON:-python3}" -B tests/check/perf.py "$@" > "$dir/judged" || { cat "$dir/judged"; return 1; }
}
# found TEXT: what the check of the last output reported
found() {
	grep -q -- "$1" "$dir/judged" || { echo "not \"$1\":"; cat "$dir/judged"; return 1; }
}
perf() {
	all "$bin/ringfold-perf" "$@"
}

box_start
perf --collective all --type all --op all --root 1 --min 600 --max 600 --iters 1 --warmup 0 --out-of-place --json
check "every collective, type and operation by the box" codes_are 0
check "... JSON" judge_out "$ranks" "$dir/0.out"
check "... 3 x 52 + 4 x 10 + 1 rows" found "^perf: 197 results, 0 intervals, 0 not run, 0 wrong, 8 collectives, by box, 0 faults"

# up to 4 KiB a rank the hosts add in pairs, longer vectors in a chain
perf --collective all --type fp32,bf16,int8 --op sum,average --root all --min 100 --max 40K --factor 400 --schedule box,ring \
	--iters 1 --warmup 0 --csv
check "every root, small and large, box beside ring" codes_are 0
check "... CSV" judge_out "$ranks" "$dir/0.out"
check "... by both" found " 0 not run, 0 wrong, 8 collectives, by box+ring, 0 faults"
check "... a row of the box, then the same of the ring" eval \
	'test "$(grep ^result "$dir/0.out" | cut -d, -f3 | uniq -c | sort -u | tr -s " ")" = "$(printf " 1 box\n 1 ring\n 2 box\n 2 ring")"'

perf --collective all --min 64 --max 64 --schedule ring --type all --op all --iters 1 --warmup 0 --in-place --json
check "every collective, type and operation without a box, in place" codes_are 0
check "... JSON" judge_out "$ranks" "$dir/0.out"
check "... as many rows" found "^perf: 197 results, 0 intervals, 0 not run, 0 wrong, 8 collectives, by ring, 0 faults"

perf --collective all-reduce,broadcast --min 4K --max 4K --seconds 600ms --interval 200ms --outstanding 4 --csv
check "a duration, with intervals" codes_are 0
check "... CSV" judge_out "$ranks" "$dir/0.out"
check "... four results, several intervals of each" eval 'found "^perf: 4 results" && test "$(grep -c ^interval "$dir/0.out")" -ge 8'
check "... the check of CSV finds changes" judge_out --mutants "$ranks" "$dir/0.out"
perf --collective reduce --min 64 --max 64K --factor 32 --total-seconds 1 --interval 100ms --json
check "a duration in total" codes_are 0
check "... JSON" judge_out "$ranks" "$dir/0.out"
check "... each sixth part of it" "${PYTHON:-python3}" -c "
import json
ends = [s['end_s'] for r in json.load(open('$dir/0.out'))['results'] for s in (r['out_of_place'], r['in_place'])]
assert len(ends) == 6 and all(e > 0.08 for e in ends), ends"
check "... the check of JSON finds changes" judge_out --mutants "$ranks" "$dir/0.out"

perf --collective all --min 256 --max 1K --iters 3 --latency
check "the table" codes_are 0
check "... agrees with itself" judge_out "$ranks" "$dir/0.out"
check "... 7 x 2 rows, twice, and the barrier" found "^perf: 29 results, 0 intervals, 0 not run, 0 wrong, 8 collectives, by box, 0 faults"

perf --collective all --min 4K --max 4K --iters 1 --schedule box,ring --flip --json
check "one bit flipped: wrong data everywhere" codes_are 3
check "... JSON" judge_out "$ranks" "$dir/0.out"
check "... in each of 2 x 7 x 2 results but not in barriers" found "^perf: 30 results, 0 intervals, 0 not run, 28 wrong"
check "... the element is named" says 0 "rank 0: scatter: element [0-9]* of [0-9]* (fp32) is "

perf --collective reduce --root "$ranks"
check "no such root" codes_are 2
check "... says which is the last" says 0 "--root $ranks: the last rank is $((ranks - 1))"
finish
