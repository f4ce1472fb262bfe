#!/bin/sh
# Generated traffic of directed groups and mirror connections, played into an engine without firmware (tests/sim/play.c):
# both checkers accept what leaves, and refuse it once it is spoilt.
#
#   tests/sim/play.sh BUILD ENGINE
#
# With ENGINE rtl fewer runs, and no spoilt captures; 77 if the Verilated box of 4 ports was built without directed groups.
set -u
build=$1
engine=$2
cd "$(dirname "$0")/../.."
gen=$build/bin/ringfold-gen
chk=$build/bin/ringfold-check
sums="${PYTHON:-python3} -B tests/check/sums.py"
work=$(mktemp -d "${TMPDIR:-/tmp}/ringfold-play.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
failures=0

fail() {
	echo "FAIL  $*"
	failures=$((failures + 1))
}

# run ENGINE SEED GEN_OPTION...: files in $work/t. False if the engine lacks something or failed.
run() {
	with=$1
	seed=$2
	shift 2
	rm -rf "$work/t"
	if ! $gen --out "$work/t" --seed "$seed" "$@" > "$work/log" 2>&1; then
		cat "$work/log"
		return 1
	fi
	"$build/tests/sim_play" "$with" "$work/t" "$seed" > "$work/t/box.json" 2> "$work/log"
	code=$?
	[ $code = 77 ] && cat "$work/log" && exit 77
	return $code
}

# good SEED GEN_OPTION...
good() {
	if ! run "$engine" "$@"; then
		cat "$work/log"
		fail "play $engine: gen --seed $*"
		return
	fi
	$chk --traffic "$work/t" --box "$work/t/box.json" "$work"/t/out*.pcap > "$work/log" 2>&1 || {
		cat "$work/log"
		fail "ringfold check: gen --seed $*"
	}
	$sums --plan "$work/t/traffic.json" "$work"/t/port*.pcap "$work"/t/out*.pcap > "$work/log" 2>&1 || {
		cat "$work/log"
		fail "sums.py: gen --seed $*"
	}
}

mirror="--directed --steering mirror"
ring="--directed"
if [ "$engine" = rtl ]; then
	# shellcheck disable=SC2086 # words
	{
		good 1 $mirror --dtype all --op all --messages 60 --size 3000 --faults all
		good 2 $mirror --collective own --dtype all --op all --messages 96 --size 1024 --mtu 256 --ranks 3
		good 3 $ring --dtype all --op all --messages 60 --size 3000 --vlan 7
	}
	[ "$failures" = 0 ] && echo "directed groups in the Verilog as they must be"
	[ "$failures" = 0 ]
	exit
fi
# Each collective, each type, each operation.
for way in "$mirror" "$ring"; do
	# shellcheck disable=SC2086 # words
	{
		good 1 $way --dtype all --op all --messages 60 --size 3000
		for kind in own all-reduce reduce reduce-scatter; do
			good 2 $way --collective $kind --dtype all --op all --messages 50 --size 1024 --mtu 256 --ranks 3
		done
		good 3 $way --dtype fp64 --messages 40 --size 4096 --ranks 8 --ports 4 --vlan 7
		good 4 $way --dtype bf16 --messages 30 --size 8192 --faults all
	}
done
# The files hold only what the group needs without these.
good 5 --steering mirror --dtype int64 --op xor --messages 4 --size 16K --faults all

# What a wrong box sends.
for mutant in wants empty copy padkept; do
	# shellcheck disable=SC2086
	run "model:$mutant" 6 $mirror --dtype all --op all --messages 60 --size 3000 || fail "play model:$mutant"
	$chk --traffic "$work/t" "$work"/t/out*.pcap > "$work/log" 2>&1 && fail "ringfold check accepts the mutant $mutant"
	$sums --plan "$work/t/traffic.json" "$work"/t/port*.pcap "$work"/t/out*.pcap > "$work/log" 2>&1 &&
		fail "sums.py accepts the mutant $mutant"
done

# Both directions in one capture, and captures that are spoilt.
# shellcheck disable=SC2086
run model 7 $mirror --dtype all --op all --messages 60 --size 3000 || fail "play"
${PYTHON:-python3} -B tests/check/spoil.py join "$work/t" "$work/both" || fail "spoil.py join"
$chk --traffic "$work/t" "$work"/both*.pcap > "$work/log" 2>&1 || {
	cat "$work/log"
	fail "ringfold check: both directions"
}
grep -q 'frames were sent at the ports themselves' "$work/log" || fail "own frames are not counted"
$sums --plan "$work/t/traffic.json" "$work"/both*.pcap > "$work/log" 2>&1 || fail "sums.py: both directions"
${PYTHON:-python3} -B tests/check/spoil.py kinds > "$work/kinds"
while read -r kind; do
	${PYTHON:-python3} -B tests/check/spoil.py "$kind" "$work/t" "$work/spoilt" || fail "spoil.py $kind"
	$chk --traffic "$work/t" "$work"/spoilt*.pcap > "$work/log" 2>&1 && fail "ringfold check accepts: $kind"
	$sums --plan "$work/t/traffic.json" "$work"/t/port*.pcap "$work"/spoilt*.pcap > "$work/log" 2>&1 &&
		fail "sums.py accepts: $kind"
done < "$work/kinds"
[ "$(wc -l < "$work/kinds")" -ge 10 ] || fail "spoil.py has $(wc -l < "$work/kinds") kinds"
sed -i '0,/"unknown": 0/s//"unknown": 1/' "$work/t/box.json"
$chk --traffic "$work/t" --box "$work/t/box.json" "$work"/t/out*.pcap 2>&1 | grep -q 'counter unknown is 1, must be 0' ||
	fail "a wrong counter was not detected"

[ "$failures" = 0 ] && echo "all traffic of directed groups as it must be"
[ "$failures" = 0 ]
