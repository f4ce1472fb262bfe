#!/bin/bash
# ringfold doctor over a wire with one fault: each fault is named, with a remedy, and no later check runs. Every
# host has its own port of the box, so several doctors can run at the same time.
ranks=8
box_ports=8
. "$(dirname "$0")/lib.sh"
hosts_damage=1 # the doctor sends damaged frames on purpose
unset RF_SIZE
for ((k = 0; k < ranks; k++)); do
	port_options[k]=box=$k,rule
done
box_start --lanes 2

# with_fault FAULT CHECK WORDS [doctor option ...]: FAULT may be followed by a second word, for its name in the output
with_fault() {
	local fault=${1%% *} name=$1 at=$2 words=$3 code
	shift 3
	rm -f "$dir/wire$k.out"
	"$tests/e2e_bad_wire" "net_memif0,role=server,id=0,socket=$dir/w$k.sock,socket-abstract=no,bsize=8192" \
		"net_memif1,role=client,id=0,socket=$dir/$k.sock,socket-abstract=no" "$fault" $k > "$dir/wire$k.out" 2> "$dir/wire$k.err" &
	wire=$!
	for _ in $(seq 200); do
		grep -qs ready "$dir/wire$k.out" && break
		sleep 0.05
	done
	RF_IP=10.0.0.$((k + 1)) RF_DEVICE="net_memif0,role=client,id=0,socket=$dir/w$k.sock,socket-abstract=no" \
		"$bin/ringfold-doctor" --steering both --timeout 3s "$@" > "$dir/$k.err" 2>&1
	code=$?
	kill -TERM "$wire"
	wait "$wire" 2> /dev/null
	wire=
	if [ "$at" = none ]; then
		check "$name: no error" test $code = 0
		[ -z "$words" ] || check "$name: is reported" says $k "$words"
		return
	fi
	check "$name: exit code" test $code = 1
	check "$name: fails at $at, with a remedy" grep -q "^FAILED   $at " "$dir/$k.err"
	check "$name: and only there" test "$(grep -c '^FAILED' "$dir/$k.err") $(grep -c '  fix: ' "$dir/$k.err")" = "1 1"
	check "$name: gives the reason" says $k "$words"
}

# The lines are distributed over the hosts; each host runs its lines one after another.
faults() {
	cat <<-'END'
		short|mtu|frames of [19][09][0-9]* bytes come back, longer ones do not; path MTU 1024 needs 1106
		one-way|return|sent the packet back by its port
		no-counters|return|has stopped answering control packets
		fading|mtu|packets that came back a moment ago are now lost
		deaf|control|answers ARP, but no control packet
		dumb|arp|no answer to ARP for the box's address 10.0.0.254; 0 frames of other hosts
		noise|arp|no answer to ARP for the box's address 10.0.0.254; [1-9][0-9]* frames of other hosts
		other-key|control|answers are signed with another key
		nothing|none|
		taken|address|10.0.0.[0-9]* belongs to 02:ee:00:00:00:01 as well
		imposter|control|02:ee:00:00:00:01 also answers for the box's address
		version|control|another version of the control protocol
		clock|clock|between two answers of the box
		box-only|return|RoCE packets to hosts do not
		fragment|return|counter ip_fragment of port
		header|return|counter ip_checksum of port
		reflect|return|without passing through the box
		rewrite|return|changed in more than its source MAC
		two-rules|return|comes back with MAC 0252460000[0-9a-f]*, that is not port
		other-box|return|has not counted it
		short 512|none||--mtu 512
		small|mtu|built for a path MTU of at most 512, this host is set to use 1024
		elsewhere|port|a group puts this host at port
		fixer|icrc|a wrong ICRC was accepted
		damage|icrc|it was changed on its way
		filter|icrc|counted neither the packet with a wrong ICRC nor
		half|sum|1 of the two results came back
		raw|sum|a sum came back wrong
		runt|none|[1-9][0-9]* damaged on the link
		squatter|mirror|02:ee:00:00:00:01 answers for 10.0.0.2[0-9]*, the address of port
		keeps|mirror|do not arrive there
		list|mirror|has taken a packet to its port [0-7], but 0 of the two results
		nat|mirror|a result came back wrong from a port of the box
	END
}

# Host k runs every eighth line.
worker() {
	local line=0 fault at words more
	trap '[ -z "$wire" ] || kill "$wire"' EXIT
	trap 'exit 130' TERM INT HUP
	failures=0
	while IFS='|' read -r fault at words more; do
		[ $((line++ % ranks)) = "$k" ] || continue
		# shellcheck disable=SC2086
		with_fault "$fault" "$at" "$words" $more
		[ "$fault" = short ] && check "... and the largest path MTU that works" says $k "use path MTU 512"
	done < <(faults)
	echo $failures > "$dir/worker$k.failures"
}

wire=
for ((k = 0; k < ranks; k++)); do
	worker > "$dir/worker$k.out" 2>&1 < /dev/null &
	pid[$k]=$!
done
for ((k = 0; k < ranks; k++)); do
	wait "${pid[$k]}"
	unset "pid[$k]"
	cat "$dir/worker$k.out"
	failures=$((failures + $(cat "$dir/worker$k.failures" 2> /dev/null || echo 1)))
done

# Host 0 without the rule.
box_stop
port_options[0]=box=0
box_start --lanes 2
k=0
with_fault "short mirror" mirror "packets of path MTU 1024 do not come back from port [0-7] of the box, short ones do" --steering mirror
# A claim holds for a minute, and for all hosts: in a box of its own.
box_stop
port_options[0]=box=0,rule
box_start --lanes 2
with_fault claim mirror "another host claims the address of port 0, 1, 2, 3, 4, 5, 6, 7 of the box, and no other port has one"
finish
