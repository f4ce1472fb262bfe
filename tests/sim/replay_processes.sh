#!/bin/bash
# The processes of seeded runs: one that dies or does not end is a failed seed, reported with the command that repeats it; a
# stopped run reports its progress and leaves nothing running; `make soak` (tests/sim/soak.sh) counts all that.
#
#   tests/sim/replay_processes.sh PROGRAM
set -u
replay=$1
tmp=$(mktemp -d) || exit 1
failures=0
pids=()
clean() {
	for p in "${pids[@]}"; do kill -KILL "$p" 2> /dev/null; done
	rm -rf "$tmp"
}
trap clean EXIT
trap 'exit 130' INT TERM HUP

check() {
	local text=$1
	shift
	if "$@"; then
		echo "ok    $text"
	else
		echo "FAIL  $text"
		tail -n 5 "$tmp/out" | cut -c1-300
		failures=$((failures + 1))
	fi
}

# below PID: the processes that it has started, and theirs
below() {
	local p
	for p in $(cat "/proc/$1/task/$1/children" 2> /dev/null); do
		echo "$p"
		below "$p"
	done
}

# start COMMAND...: in a session of its own; waits until its processes are running; sets pid and kids
start() {
	local _
	setsid env --default-signal=INT "$@" > "$tmp/out" 2>&1 &
	pid=$!
	pids+=("$pid")
	for _ in $(seq 100); do
		kids=$(below "$pid")
		[ "$(echo "$kids" | wc -w)" -ge "$least" ] && break
		sleep 0.05
	done
	sleep 0.5
	kids=$(below "$pid")
}

# Whether none of them is running any more; a killed process may take a moment.
gone() {
	local p _
	for p in $kids; do
		for _ in $(seq 40); do
			[ -d "/proc/$p" ] && ! grep -q '^State:.Z' "/proc/$p/status" 2> /dev/null || continue 2
			sleep 0.05
		done
		return 1
	done
}

says() { grep -Eq -- "$1" "$tmp/out"; }

for victim in SEGV ALRM; do
	least=2
	start "$replay" --count 1000000 --jobs 2 --limit 1000 --seconds 3 1
	kill -$victim $(echo "$kids" | head -n 1)
	wait "$pid"
	check "a process is killed by $victim: the run has failed" test $? = 1
	if [ $victim = ALRM ]; then says='has not ended after 1000 s'; else says='its process has died: Segmentation fault'; fi
	check "... the seed is named" says "^seed [0-9]+: $says\$"
	check "... and the command that repeats it" says '^    again: ringfold replay --engine model .* [0-9]+$'
	check "... and counted" says '^[0-9]+ of 1000000 runs from seed 1 .* 1 not good$'
done

for signal in INT TERM KILL; do
	least=2
	start "$replay" --count 1000000 --jobs 2 1
	kill -$signal "$pid"
	wait "$pid" 2> /dev/null
	code=$?
	check "replay, $signal: nothing is left running" gone
	[ $signal = KILL ] && continue
	check "... the exit code reports it" test $code = $([ $signal = INT ] && echo 130 || echo 143)
	check "... and the progress" says '^[0-9]+ of 1000000 runs .* 0 not good, stopped$'
done

# A terminal that closes: as Ctrl-C. Under nohup nothing happens.
least=2
start env --default-signal=HUP "$replay" --count 1000000 --jobs 2 1
kill -HUP "$pid"
wait "$pid"
check "replay, HUP: exit code" test $? = 129
check "... nothing is left running" gone
check "... and the progress" says '^[0-9]+ of 1000000 runs .* 0 not good, stopped$'
start env --ignore-signal=HUP "$replay" --count 1000000 --jobs 2 --seconds 2 1
kill -HUP "$pid"
wait "$pid"
check "replay, HUP that nohup ignores: it goes on to its end" test $? = 0

for signal in INT TERM; do
	least=4
	start tests/sim/soak.sh "$replay" 1000000 0 2
	[ $signal = INT ] && kill -INT "-$pid" || kill -TERM "$pid" # the terminal signals all of them, another process one
	wait "$pid"
	check "soak, $signal: exit code" test $? = 130
	check "... nothing is left running" gone
	check "... the sum so far" says '^soak: stopped: [0-9]+ seeds with the model, 0 with the Verilog, 0 with the library, 0 not good, in [0-9]+ s$'
done

timeout 60 tests/sim/soak.sh "$replay" 7 0 1 > "$tmp/out" 2>&1
check "soak ends well" test $? = 0
check "... all is counted" says '^soak: 7 seeds with the model, 0 with the Verilog, 0 with the library, 0 not good'
printf '#!/bin/sh\ncase "$*" in *2000000*) exec "%s" --mutate frame "$@" ;; esac\nexec "%s" "$@"\n' "$replay" "$replay" > "$tmp/bad"
chmod +x "$tmp/bad"
timeout 60 tests/sim/soak.sh "$tmp/bad" 7 0 1 > "$tmp/out" 2>&1
check "soak with a failing seed: exit code" test $? = 1
check "... it is counted" says '^soak: [0-9]+ seeds with the model, 0 with the Verilog, 0 with the library, 1 not good'
check "... and named, with the command" says '^    again: ringfold replay --engine model .* 20000[0-9]+$'
[ $failures -eq 0 ]
