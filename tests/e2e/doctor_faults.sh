#!/bin/bash
# ringfold doctor behind a wire that does one thing wrong: each is named, with a mend, and nothing after it is tried.
ranks=1
box_ports=4
. "$(dirname "$0")/lib.sh"
hosts_damage=1 # to see what becomes of it
unset RF_SIZE
box_start --lanes 2

# behind FAULT CHECK WORDS [doctor option ...]
behind() {
	local fault=$1 at=$2 words=$3 code
	shift 3
	rm -f "$dir/wire.out"
	"$tests/e2e_bad_wire" "net_memif0,role=server,id=0,socket=$dir/w.sock,socket-abstract=no,bsize=8192" \
		"net_memif1,role=client,id=0,socket=$dir/0.sock,socket-abstract=no" "$fault" > "$dir/wire.out" 2> "$dir/wire.err" &
	pid[9]=$!
	for _ in $(seq 100); do
		grep -qs ready "$dir/wire.out" && break
		sleep 0.05
	done
	RF_DEVICE="net_memif0,role=client,id=0,socket=$dir/w.sock,socket-abstract=no" \
		"$bin/ringfold-doctor" --timeout 3s "$@" > "$dir/0.err" 2>&1
	code=$?
	kill -TERM "${pid[9]}"
	wait "${pid[9]}" 2> /dev/null
	unset "pid[9]"
	if [ "$at" = none ]; then
		check "$fault: nothing is wrong" test $code = 0
		return
	fi
	check "$fault: exit code" test $code = 1
	check "$fault: fails at $at, with a mend" grep -q "^FAILED   $at " "$dir/0.err"
	check "$fault: and there alone" test "$(grep -c '^FAILED' "$dir/0.err") $(grep -c '  mend: ' "$dir/0.err")" = "1 1"
	check "$fault: says why" says 0 "$words"
}

behind nothing none ""
behind taken address "10.0.0.1 belongs to 02:ee:00:00:00:01 as well"
behind imposter control "02:ee:00:00:00:01 answers for the box's address"
behind deaf control "answers ARP, but no control packet"
behind version control "another version of the control protocol"
behind clock clock "between two answers of the box"
behind box-only return "RoCE packets to hosts do not"
behind one-way return "sent the packet back by its port 0"
behind fragment return "counter ip_fragment of port 0"
behind header return "counter ip_checksum of port 0"
behind reflect return "without having passed the box"
behind rewrite return "changed in more than its source MAC"
behind short mtu "frames of \(99[6-9]\|1000\) bytes come back, longer ones do not; path MTU 1024 needs 1106"
check "... and the largest path MTU that would do" says 0 "use path MTU 512"
behind short none "" --mtu 512
behind fixer icrc "a wrong ICRC was accepted"
behind damage icrc "it was changed on its way"
behind half sum "1 of the two results came back"
behind raw sum "a sum came back wrong"
finish
