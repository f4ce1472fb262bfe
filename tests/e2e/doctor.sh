#!/bin/bash
# ringfold doctor: healthy hosts, and faults at a switch port or in the settings.
#   tests/e2e/doctor.sh [model|rtl]
ranks=6
engine=${1:-model}
box_ports=4
. "$(dirname "$0")/doctor_lib.sh"
hosts_damage=1 # the doctor sends damaged frames on purpose
# 1: no rule; 2: its rule names another port; 4: its rule leads to a switch port without a box.
port_options=([0]=box=0,rule [1]=box=1 [2]=box=3,rule [3]=box=3,rule [4]=box=2,rule [5]=box=1,rule)
lanes=1
[ "$engine" = model ] && lanes=2
unset RF_SIZE RF_STEERING
# host 1 with the doctor's own defaults
host_1() {
	RF_IP=10.0.0.2 RF_DEVICE=${RF_DEVICE//%r/1} "$bin/ringfold-doctor"
}
box_start --lanes $lanes --direct "2=memif:$dir/nobody.sock"

doctor 0
check "a healthy host" test $? = 0
cat "$dir/0.err"
check "... on port 0" says 0 "this host goes to port 0 of the box"
check "... the group reports the same" says 0 "as a rank at port 0"
check "... ICRC" says 0 "^ok       icrc"
if [ $lanes = 2 ]; then
	check "... and a sum" says 0 "^ok       sum"
else
	check "... no sum on one lane" says 0 "^skipped  sum"
fi
if [ $lanes = 2 ]; then
	check "... by mirror too" says 0 "^ok       mirror   packets to 10.0.0.222 and 10.0.0.222, each to its own QPN"
else
	check "... mirror needs a second host" says 0 "^skipped  mirror"
fi
doctor 2 --mtu 4096
check "the rule names another port: that one is reported" says 2 "this host goes to port 3 of the box"
check "... MTU 4096" says 2 "path MTU 4096 (4178 bytes)"

doctor 1
check "a port without rule: exit code 1" test $? = 1
check "... is named" fails_at 1 rule
check "... with the remedy" says 1 "fix: give this host's switch port the rule"
if [ $lanes = 2 ]; then
	doctor 1 --steering mirror
	check "... which mirror ranks do not need" test $? = 0
	check "... they use any port" says 1 "^ok       mirror   packets to 10.0.0.22[23] and 10.0.0.22[23]"
	check "... ring checks are left out" test "$(grep -c ' rule \| return \| sum ' "$dir/1.err")" = 0
	host_1 > "$dir/1.err" 2>&1
	check "... and mirror is the default" test $? = 0
	check "... in place of the ring checks" test "$(grep -c '^ok       mirror' "$dir/1.err") $(grep -c ' rule ' "$dir/1.err")" = "1 0"
	RF_STEERING=ring host_1 > "$dir/1.err" 2>&1
	check "... unless the job's setting is ring" fails_at 1 rule
	RF_STEERING=glass host_1 > "$dir/1.err" 2>&1
	check "... any other setting: usage" test $? = 2
	doctor 2 --steering mirror
	check "a rule to port 3, a mirror rank at another port" fails_at 2 mirror
	check "... is named" says 2 "for another port has arrived at port"
fi
doctor 4 --timeout 1s
check "a rule that leads nowhere" fails_at 4 control
check "... is named" says 4 "redirects it to a port without a box"

doctor 3 --box-ip 10.0.0.9 --timeout 1s
check "wrong address of the box" fails_at 3 arp
check "... is named" says 3 "no answer to ARP for the box's address 10.0.0.9"
doctor 3 --box-ip 10.0.0.4
check "own address equals the box's" fails_at 3 address
doctor 3 --key 00112233445566778899aabbccddeeff
check "wrong key" fails_at 3 control
check "... is named" says 3 "refuses control packets: the authentication tag is wrong"
RF_DEVICE=net_memif0,role=client,id=0,socket=$dir/none.sock,socket-abstract=no doctor 3
check "no server at the socket" fails_at 3 device
check "... is named" says 3 "socket"
RF_DEVICE= doctor 3
check "no device: usage" test $? = 2
check "... is reported" says 3 "no device given"
doctor 3 --mtu 1000
check "an invalid path MTU: usage" test $? = 2

doctor 3 --json
check "JSON of a healthy host" python3 -c "
import json
d = json.load(open('$dir/3.err'))
assert d['ok'] and 'failed' not in d and len(d['checks']) >= 11, d"
doctor 1 --json
check "JSON of a failure" python3 -c "
import json
d = json.load(open('$dir/1.err'))
assert not d['ok'] and d['failed'] == 'rule' and d['checks'][-1]['fix'], d"

# two STEERING HOST PORT: with a launcher's variables, together with host 0. A mirror rank's port follows from its number.
two() {
	for r in 0 $2; do
		(
			[ $1 = both ] || export RF_STEERING=$1
			export RF_RANK=$((r > 0)) RF_SIZE=2 RF_IP=10.0.0.$((r + 1)) RF_DEVICE=${RF_DEVICE//%r/$r}
			exec "$bin/ringfold-doctor" --steering $1 --ranks > "$dir/$r.err" 2>&1
		) &
		pid[$r]=$!
	done
	for r in 0 $2; do
		rank_wait $r
		check "$1: host $r of two" test $? = 0
		check "... at its port" says $r "^ok       ranks    rank $((r > 0)) of 2 at port $((r > 0 ? $3 : 0)), lane 0"
	done
}
two ring 3 3
two both 5 1
RF_RANK=0 RF_SIZE=2 RF_TIMEOUT=1000 doctor 0 --ranks
check "the other host does not arrive" fails_at 0 ranks
check "... is named" says 0 "rank 1"
doctor 0 --ranks
check "--ranks without a rank: usage" test $? = 2
box_stop

box_start --hold 60s --lanes $lanes --port-ips 10.0.0.222 --prefix 24 --gateway 10.0.0.99
sleep 1
doctor 0
check "a box in its hold time" test $? = 0
check "... is reported" says 0 "drops RC data of no group"
if [ $lanes = 2 ]; then
	check "a gateway that is not there is reported" says 0 "^note     mirror   the box's gateway 10.0.0.99 does not answer the box"
fi
box_stop
doctor 0
check "no box at all" fails_at 0 device
finish
