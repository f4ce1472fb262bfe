#!/bin/bash
# What a user sees of options: --version, "did you mean", bold headings, one meaning for each letter.
#   tests/e2e/options.sh FOLDER_OF_PROGRAMS PYTHON
set -u
bin=$1
python=${2:-python3}
dir=$(mktemp -d "${TMPDIR:-/tmp}/ringfold-options.XXXXXX") || exit 1
trap 'rm -rf "$dir"' EXIT
failures=0
# expect CODE TEXT COMMAND...
expect() {
	local want=$1 text=$2
	shift 2
	timeout 20 "$@" > "$dir/out" 2>&1 < /dev/null
	local code=$?
	if [ $code != "$want" ] || ! grep -q -e "$text" "$dir/out"; then
		echo "FAIL  $*: exit code $code instead of $want, or not \"$text\""
		head -3 "$dir/out"
		failures=$((failures + 1))
	fi
}
rf=$bin/ringfold
expect 0 "0 faults" "$python" -B tests/check/options.py "$bin"
expect 1 "-s is --size in one and --scheme in two" "$python" -B tests/check/options.py --at tests/data/options/one tests/data/options/two

expect 0 "^ringfold [0-9]*\.[0-9]*\.[0-9]*$" "$rf" --version
expect 0 "^ringfold [0-9]*\.[0-9]*\.[0-9]*$" "$rf" sim --version
expect 2 'unknown command "smi"; did you mean "sim"?' "$rf" smi
expect 2 'unknown command "dcotor"; did you mean "doctor"?' "$rf" dcotor
expect 2 'unknown command "dance"; ringfold --help lists them' "$rf" dance
expect 2 "did you mean 'status'?" "$rf" ctl staus
expect 2 "unknown command 'dance', see --help" "$rf" ctl dance
expect 2 '--rnaks: unknown option; did you mean --ranks?' "$rf" sim --rnaks 4
expect 2 '--engin-a: unknown option; did you mean --engine?' "$rf" box --engin-a=model
expect 2 '--glass: unknown option$' "$rf" sim --glass
expect 2 '--d: ambiguous option --d' "$rf" sim --d 1
expect 2 '--json takes no value' "$rf" sim --json=yes
expect 2 '--size needs a value: BYTES' "$rf" sim --size
expect 2 '-Z: unknown option' "$rf" sim -Z
expect 2 '-s needs\|--size needs a value' "$rf" sim -s
expect 0 "wrong" "$rf" sim --siz 4K

# output that cannot be written is a failure of every tool, with the reason
for tool in "$bin"/ringfold "$bin"/ringfold-{box,run,info,top,sim,perf,osu,doctor,ctl,gen,check,replay,train}; do
	expect 1 "cannot write the output: No space left on device" sh -c "$tool --help > /dev/full"
done
expect 1 "ringfold-sim: cannot write the output: No space left" sh -c "$rf sim --size 4K > /dev/full"
expect 1 "cannot write the output: No space left" sh -c "$rf sim --size 4K --json > /dev/full"
expect 1 "cannot write the output: No space left" sh -c "$rf perf --max 64 --iters 1 > /dev/full"

# bold: only on a terminal, and not with NO_COLOR or a dumb one
cat > "$dir/term.py" << 'END'
import os, pty, sys
sys.exit(os.waitstatus_to_exitcode(pty.spawn(["env", "TERM=xterm"] + sys.argv[1:])))
END
terminal=("$python" "$dir/term.py" env -u NO_COLOR)
esc=$(printf '\033')
expect 0 "$esc\[1moptions:$esc\[0m" "${terminal[@]}" "$rf" sim --help
expect 0 "$esc\[1m-e, --engine$esc\[0m" "${terminal[@]}" "$rf" sim --help
expect 0 "^options:" "$rf" sim --help
expect 0 "^options:" "${terminal[@]}" NO_COLOR=1 "$rf" sim --help
expect 0 "^options:" "${terminal[@]}" TERM=dumb "$rf" sim --help
expect 0 "$esc\[1moptions:$esc\[0m" "${terminal[@]}" NO_COLOR= "$rf" sim --help

# long work says how far it is, on a terminal
expect 143 "ringfold sim: .* ms of virtual time, [0-9]* of 1000000 all-reduces" "${terminal[@]}" timeout --preserve-status 8 "$rf" sim --size 4K \
	--iterations 1000000

[ $failures = 0 ] && echo "options as expected"
[ $failures = 0 ]
