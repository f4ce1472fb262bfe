#!/bin/bash
# ringfold ctl, gen and check on the command line: every command and its error messages.
ranks=1
box_ports=4
. "$(dirname "$0")/lib.sh"
unset RF_SIZE
box_start --lanes 2 --probe 1us
export RF_DEVICE=${RF_DEVICE//%r/0}

ctl=$bin/ringfold-ctl
gen=$bin/ringfold-gen
chk=$bin/ringfold-check

exits 0 "ctl status" $ctl status
check "... names the port" says 0 "^own_port *0$"
check "... and the lanes" says 0 "^lanes *2$"
check "... the addresses of its ports" says 0 "^address_3 *10.0.0.225$"
check "... and the types that it has" says 0 "^types *fp32,bf16,fp16,int32,uint32,int64,uint64,fp64,int8,uint8$"
exits 0 "ctl status --json" $ctl status --json
check "... is JSON" python3 -c "import json; assert json.load(open('$dir/0.err'))['ports'] == 4"
exits 0 "ctl groups, no group" $ctl groups
check "... is reported" says 0 "^none$"
exits 0 "gen" $gen --out "$dir/t" --ranks 8 --size 4000 --messages 16 --dtype fp16 --seed 3
exits 0 "gen again" $gen --out "$dir/u" --ranks 8 --size 4000 --messages 16 --dtype fp16 --seed 3
check "... the same seed gives the same files" sh -c "for f in port0.pcap port3.pcap expected.bin traffic.json; do
	cmp '$dir/t/'\$f '$dir/u/'\$f || exit 1; done"
exits 0 "gen, another seed" $gen --out "$dir/u" --ranks 8 --size 4000 --messages 16 --dtype fp16 --seed 4
check "... gives others" sh -c "! cmp -s '$dir/t/expected.bin' '$dir/u/expected.bin'"

exits 1 "gen, no room for the files" bash -c "trap '' XFSZ; ulimit -f 64; $gen --out '$dir/full' --ranks 4 --size 64K --messages 16"
check "... says why" says 0 "cannot write $dir/full/.*: File too large"
check "... and leaves none" test -z "$(ls "$dir/full")"

exits 0 "ctl join" $ctl join --traffic "$dir/t"
check "... eight ranks" says 0 "8 ranks ready"
exits 0 "the same join again has no effect" $ctl join --traffic "$dir/t"
exits 1 "a second job with the same connections" $ctl join --traffic "$dir/t" --job 9 --timeout 1s
check "... is refused by name" says 0 "belongs to another rank or job"
exits 0 "ctl groups" $ctl groups
check "... lists it" says 0 "6776174 .*ready .*8 .*8"
exits 0 "ctl ranks" $ctl ranks --job 6776174
check "... rank 5 at port 1, lane 1" says 0 "^ *5 *joined *1 *1 "
exits 1 "ctl wait, nothing comes" $ctl wait --traffic "$dir/t" --timeout 500ms
check "... reports its progress" says 0 "0 of 512 packets have left the box"
exits 0 "ctl ranks JOB" $ctl ranks 6776174
check "... the same" says 0 "^ *5 *joined *1 *1 "
exits 0 "ctl ranks JOB --json" $ctl ranks 6776174 --json
check "... no rank was last yet" python3 -c "
import json
t = json.load(open('$dir/0.err'))
assert len(t) == 8 and {r['last'] for r in t} == {0} and {r['awaited_ms'] for r in t} == {0}"
exits 0 "ctl stragglers JOB" $ctl stragglers 6776174
check "... reports the number of measurements" says 0 "job 6776174 group 0: 0 measurements"
exits 0 "ctl tree JOB" $ctl tree 6776174
check "... shows one box" says 0 "^10.0.0.[0-9]* *ready, 8 ranks, head 0$"
exits 0 "ctl tree JOB --json" $ctl tree 6776174 --json
check "... is JSON" python3 -c "
import json
t = json.load(open('$dir/0.err'))
assert len(t) == 1 and t[0]['state'] == 'ready' and t[0]['uplink'] == 'none'"
exits 0 "ctl stragglers JOB --json" $ctl stragglers 6776174 --json
check "... is JSON" python3 -c "
import json
t = json.load(open('$dir/0.err'))
assert len(t) == 1 and len(t[0]['ranks']) == 8 and t[0]['bins'] == []"
exits 0 "ctl counters --port" $ctl counters --port 0
check "... counts control packets" says 0 "^punted "
exits 0 "ctl counters" $ctl counters
check "... of every port" says 0 "counter *port_0 *port_1 *port_2 *port_3"
check "... of the firmware" says 0 "^groups_ready *1$"
check "... with the probes of a time below 1 ms" says 0 "^arp_probes *12$"
check "... and refusals" says 0 "^CONNECTION_TAKEN "
exits 0 "ctl counters --json" $ctl counters --json
check "... all of them" python3 -c "
import json
t = json.load(open('$dir/0.err'))
assert len(t['ports']) > 50 and t['firmware']['groups_ready'] == 1 and t['refused']['TAG'] == 0"
exits 0 "ctl drop JOB" $ctl drop 6776174

exits 0 "ctl groups" $ctl groups
check "... it has failed" says 0 "6776174 .*failed"
exits 1 "ctl ranks of a dropped job" $ctl ranks 6776174
check "... gives the reason" says 0 "job 6776174 group 0: failed: OPERATOR: the operator ended the group"
check "... of its ranks too" says 0 "^ *5 *failed *1 *1 .* OPERATOR *$"
exits 1 "... as JSON" $ctl ranks 6776174 --json
exits 0 "ctl join of the same job at once" $ctl join --traffic "$dir/t"
check "... is another group" says 0 "8 ranks ready"
exits 0 "... and again" $ctl join --traffic "$dir/t"
exits 0 "ctl counters" $ctl counters
check "... made no third one" says 0 "^groups_ready *2$"
exits 0 "ctl drop --job" $ctl drop --job 6776174
exits 0 "a third one" $ctl join --traffic "$dir/t" --slots 256
exits 0 "a second group of the job" $ctl join --group 3 --slots 64 --job 6776174 --rank 10.0.1.1,send=17,psn=5,recv=18,port=0 \
	--rank 10.0.1.2,send=17,psn=9,recv=18,port=1
exits 0 "ctl ranks of both" $ctl ranks 6776174 --json
check "... ten ranks" python3 -c "
import json
t = json.load(open('$dir/0.err'))
assert sorted({(r['group'], r['rank']) for r in t}) == [(0, r) for r in range(8)] + [(3, 0), (3, 1)], t"
exits 0 "ctl ranks of one" $ctl ranks 6776174 --group 3 --json
check "... two" python3 -c "import json; assert len(json.load(open('$dir/0.err'))) == 2"
exits 0 "ctl drop of both" $ctl drop 6776174
check "... group 0" says 0 "group 0: ended"
check "... group 3" says 0 "group 3: ended"
exits 0 "ctl connections" $ctl connections
check "... plain ranks leave tombstones" test "$(grep -c ' data *tombstone ' "$dir/0.err")" = 10
exits 0 "... which a new group takes over" $ctl join --group 3 --slots 64 --job 6776174 \
	--rank 10.0.1.1,send=17,psn=5,recv=18,port=0 --rank 10.0.1.2,send=17,psn=9,recv=18,port=1
exits 1 "too many ranks on a port" $ctl join --job 12 --slots 64 --rank 10.0.2.1,send=17,psn=5,recv=18,port=0 \
	--rank 10.0.2.2,send=17,psn=5,recv=18,port=0 --rank 10.0.2.3,send=17,psn=5,recv=18,port=0
check "... is named" says 0 "come in by the same port"
exits 0 "... and at once again with another port" $ctl join --job 12 --slots 64 --rank 10.0.2.1,send=17,psn=5,recv=18,port=0 \
	--rank 10.0.2.2,send=17,psn=5,recv=18,port=0 --rank 10.0.2.3,send=17,psn=5,recv=18,port=1
exits 0 "ctl drop" $ctl drop 12
exits 1 "ctl ranks of it" $ctl ranks 12
exits 0 "ctl drop" $ctl drop 6776174
plain() { echo "--rank 10.0.$1.1,send=17,psn=5,recv=18,port=0 --rank 10.0.$1.2,send=17,psn=5,recv=18,port=1"; }
exits 0 "a plain group with the default slots" $ctl join --job 13 $(plain 3)
exits 0 "... and a second one" $ctl join --job 14 $(plain 4) --lease 1s
check "... which has half the box" says 0 "256 slots"
sleep 2
exits 1 "a rank that is silent for longer than its lease" $ctl ranks 14
check "... ends its group" says 0 "job 14 group 0: failed: LEASE: a rank was silent for longer than its lease (rank 0"
exits 0 "... and no other one" $ctl ranks 13
check "... from which no data has arrived yet" says 0 "job 13 group 0: no data has arrived from rank 0, 1 on the registered connection"
exits 0 "ctl drop" $ctl drop 13
exits 1 "a port that this box does not have" $ctl join --job 15 --rank 10.0.5.1,send=17,psn=5,recv=18,port=7 --rank 10.0.5.2,send=17,psn=5,recv=18,port=1
check "... is named" says 0 "rank 0: .*value that is not allowed .*: port of the box (port= of --rank)"
mirror() { echo "--rank 10.0.9.1,mirror,send=17,psn=5,port=$1,mac=02:00:00:00:09:01 --rank 10.0.9.2,mirror,send=17,psn=5,port=1,mac=02:00:00:00:09:02"; }
exits 0 "two mirror ranks" $ctl join --job 18 $(mirror 2) --dtype int64 --op xor
check "... the address of the first" says 0 "^rank 0 sends to 10.0.0.224$"
check "... and of the second" says 0 "^rank 1 sends to 10.0.0.223$"
exits 0 "ctl connections" $ctl connections
check "... one entry each" test "$(grep -c ' mirror *live ' "$dir/0.err")" = 2
exits 0 "ctl drop" $ctl drop 18
exits 0 "ctl connections" $ctl connections
check "... no tombstone of mirror ranks" test "$(grep -c '10.0.9.' "$dir/0.err")" = 0
exits 0 "a directed group with a ring and a mirror" $ctl join --job 19 --directed --slots 64 $(mirror 0) $(plain 8)
exits 0 "ctl drop" $ctl drop 19
for mac in 00:00:00:00:00:00 03:00:00:00:09:01 -1:00:00:00:09:01 +2:00:00:00:09:01 "02:00: 0:00:09:01" 0x:00:00:00:09:01 02:00:00:00:09:1 \
	02:00:00:00:09:01: 02-00-00-00-09-01; do
	exits 2 "mac=$mac" $ctl join --job 20 --rank "10.0.9.1,mirror,send=17,psn=5,port=0,mac=$mac" \
		--rank 10.0.9.2,mirror,send=18,psn=5,port=1,mac=02:00:00:00:09:02
	check "... is refused by name" says 0 "mac=$mac: expected the MAC address of a host"
	exits 2 "gen --box-mac $mac" $gen --out "$dir/v" --steering mirror --box-mac "$mac"
	check "... is refused by name" says 0 "\-\-box-mac: expected the MAC address of a box"
done
exits 1 "a MAC of the box" $ctl join --job 20 --rank 10.0.9.1,mirror,send=17,psn=5,port=0,mac=02:52:46:00:00:11 \
	--rank 10.0.9.2,mirror,send=18,psn=5,port=1,mac=02:00:00:00:09:02
check "... is named" says 0 "MAC of a mirror rank .*(mac= of --rank)"
exits 0 "gen by mirror, with its own addresses" $gen --out "$dir/m" --directed --steering mirror --messages 8 --size 1K --ranks 4
exits 0 "ctl join: they are those of the box" $ctl join --traffic "$dir/m" --job 21
exits 0 "ctl drop" $ctl drop 21
exits 0 "gen by mirror, with others" $gen --out "$dir/m" --directed --steering mirror --messages 8 --size 1K --ranks 4 --port-ip 10.0.0.240
exits 1 "ctl join: they are not those of the box" $ctl join --traffic "$dir/m" --job 22
check "... both are named" says 0 "port of rank 0 has the address 10.0.0.222, and the plan's packets go to 10.0.0.240"
exits 0 "ctl drop" $ctl drop 22
exits 2 "recv= of a mirror rank" $ctl join --job 20 --rank 10.0.9.1,mirror,send=17,psn=5,port=0,recv=18,mac=02:00:00:00:09:01
check "... is named" says 0 "recv=: not for a mirror rank"
exits 2 "mac= of a ring rank" $ctl join --job 20 --rank 10.0.9.1,send=17,psn=5,port=0,recv=18,mac=02:00:00:00:09:01
check "... is named" says 0 "mac=: not for a ring rank"
exits 2 "a mirror rank without its MAC" $ctl join --job 20 --rank 10.0.9.1,mirror,send=17,psn=5,port=0
check "... is named" says 0 "mac= is missing"
exits 2 "a MAC that is none" $ctl join --job 20 --rank 10.0.9.1,mirror,send=17,psn=5,port=0,mac=02:00
check "... is named" says 0 "expected the MAC address of a host"
exits 2 "and of a floating type" $ctl join --job 20 $(plain 7) --op and
check "... is named" says 0 "\-\-op and: not of --dtype fp32"
exits 2 "no such type" $ctl join --job 20 $(plain 7) --dtype int9
check "... is named alone" says 0 "^ringfold ctl: --dtype int9: expected"
exits 2 "no such operation" $ctl join --job 20 $(plain 7) --op product
check "... is named alone" says 0 "^ringfold ctl: --op product: expected"
exits 2 "no such MTU" $ctl join --job 20 $(plain 7) --mtu 1500
check "... is named alone" says 0 "^ringfold ctl: --mtu 1500: expected"
exits 2 "--others pass of a directed group" $ctl join --job 20 $(plain 7) --directed --others pass
check "... is refused by name" says 0 "\-\-others pass: only with ring ranks"
exits 2 "--others pass with a mirror rank" $ctl join --job 20 $(mirror 0) $(plain 7) --others pass
check "... is refused by name" says 0 "\-\-others pass: only with ring ranks"
exits 1 "one rank alone" $ctl join --job 15 --rank 10.0.6.1,mirror,send=17,psn=5,port=0,mac=02:00:00:00:06:01
check "... is refused by the box, by name" says 0 "the box refused: .*2 to 64 are possible"
exits 1 "65 ranks" $ctl join --job 16 --slots 16 $(for i in $(seq 65); do echo --rank 10.0.6.$i,send=17,psn=5,recv=18,port=0; done)
check "... get one line" test "$(grep -c "rank" "$dir/0.err")" = 1
check "... that counts them" says 0 "rank 0 and 64 more: .*2 to 64"
exits 2 "an unknown field" $ctl join --job 17 --rank 10.0.7.1,send=17,psn=5,recv=18,port=0,qpn=3
check "... is named" says 0 "qpn=3: unknown field"
exits 2 "a field given twice" $ctl join --job 17 --rank 10.0.7.1,send=17,psn=5,psn=6,recv=18,port=0
check "... is named" says 0 "psn=6: given twice"
exits 2 "a QPN of 0" $ctl join --job 17 --rank 10.0.7.1,send=0,psn=5,recv=18,port=0
check "... is named" says 0 "send"
exits 2 "a lease that is too short" $ctl join --job 17 $(plain 7) --lease 1ms
exits 1 "ctl drop of an unknown job" $ctl drop --job 5
check "... is refused by name" says 0 "refused: the box does not know this group"
# Wrong registrations, and the right one under the same job, with the default timeout: a rank is refused while another one waits,
# and the last rank finds no lane.
put_right() {
	local job=$1 text=$2 cause=$3 wrong=$4 right=$5 started=$SECONDS
	for n in once twice; do
		exits 1 "ctl join, $text, $n" $ctl join --job $job $wrong
		check "... one message" test "$(wc -l < "$dir/0.err")" = 1
		check "... with the cause" says 0 "$cause"
	done
	for n in once twice; do
		exits 0 "... then the right values, $n" $ctl join --job $job $right
	done
	check "... without waiting" test $((SECONDS - started)) -lt 15
	exits 0 "... and its end" $ctl drop $job
}
for kind in recv=0x21 mirror,mac=02:00:00:00:01:01; do
	rank() { echo "--rank 10.$job.0.$1,send=0x11,psn=1,$kind,port=$2"; }
	job=$((${job:-76} + 1))
	put_right $job "$kind, no such port" "port= of --rank" "$(rank 1 0) $(rank 2 5)" "$(rank 1 0) $(rank 2 1)"
	job=$((job + 1))
	put_right $job "$kind, no such port, first rank" "port= of --rank" "$(rank 1 5) $(rank 2 0)" "$(rank 1 1) $(rank 2 0)"
	job=$((job + 1))
	put_right $job "$kind, no lane" "by the same port of the box" "$(rank 1 0) $(rank 2 0) $(rank 3 0)" "$(rank 1 0) $(rank 2 1) $(rank 3 0)"
done

exits 0 "ctl reset" $ctl reset
exits 1 "ctl ranks of no job" $ctl ranks --job 77
exits 1 "ctl with the wrong key" $ctl status --key 0123456789abcdef0123456789abcdef
check "... names the key" says 0 "tag is wrong"
exits 1 "ctl, no box at that address" $ctl status --box-ip 10.0.0.9 --timeout 500ms
check "... is reported" says 0 "no answer from the box at 10.0.0.9"
exits 1 "ctl, no such plan" $ctl join --traffic "$dir/nothing"
check "... names the file" says 0 "nothing/traffic.json"
exits 2 "ctl, unknown command" $ctl leave
exits 2 "ctl, no command" $ctl
exits 2 "ctl drop of no job" $ctl drop
check "... asks which" says 0 "which job"
exits 2 "ctl ranks of a job that is not a number" $ctl ranks seven
exits 2 "ctl status with an unexpected argument" $ctl status 7
exits 2 "ctl, port that no box has" $ctl counters --port 8
exits 2 "ctl, group that is not a number" $ctl ranks 7 --group x
exits 2 "ctl, key cut short" $ctl status --key 0123
exits 1 "ctl, port that this box has not" $ctl counters --port 7
exits 2 "ctl, slots not a power of two" $ctl join --slots 100
exits 2 "ctl, address that is none" $ctl status --box-ip ten
RF_DEVICE= exits 2 "ctl without a device" $ctl status
exits 0 "ctl --help" $ctl --help

# Many ranks at once: more requests than the box queues for its firmware.
# Each with a box of its own: the jobs use the same connections.
for n in 10 16 64; do
	box_stop
	box_start --lanes 16
	exits 0 "gen of $n ranks" $gen --out "$dir/w$n" --ranks $n --size 4000
	exits 0 "ctl join of $n ranks" $ctl join --traffic "$dir/w$n" --job $n --slots 16
	check "... all ready" says 0 "$n ranks ready"
	exits 0 "ctl drop" $ctl drop --job $n
done

exits 1 "check, nothing came" $chk --traffic "$dir/t" "$dir/t/foreign.pcap"
check "... counts what is missing" says 0 "512 missing, 0 wrong"
exits 3 "check, raw data came" $chk --traffic "$dir/t" "$dir/t/port0.pcap"
check "... is wrong" says 0 "PSN out of order\|wrong sum"
exits 1 "check, no such file" $chk --traffic "$dir/t" "$dir/t/none.pcap"
exits 3 "check, file that is not a report of the box" sh -c "$chk --traffic '$dir/t' --box '$dir/t/traffic.json' '$dir/t/port0.pcap'"
check "... is reported" says 0 "is not the output of"
head -c 1000 "$dir/t/expected.bin" > "$dir/u/expected.bin"
exits 1 "check, sums cut short" $chk --traffic "$dir/u" "$dir/t/foreign.pcap"
check "... is reported" says 0 "too short"
echo '{}' > "$dir/u/traffic.json"
exits 1 "check, plan of another program" $chk --traffic "$dir/u" "$dir/t/foreign.pcap"
check "... is reported" says 0 "not a plan written by ringfold gen"
exits 2 "check without captures" $chk --traffic "$dir/t"
for wrong in "--ranks 1" "--ranks 200" "--ports 9" "--mtu 1000" "--size 3" "--dtype int9" "--faults none" "--foreign 100%" "--vlan 9999" \
	"--dtype all" "--dtype fp32 --op xor" "--steering mirror --foreign 5%" "--steering mirror --port-ip ten" "--directed --slots 100" \
	"--collective broadcast" "--port-ip 10.0.0.9" "--directed --messages 600" "--directed --opcode write" "--directed --faults duplicate" \
	"--faults port" "--directed --dtype fp64 --op and" "--slots 64" "--steering mirror --port-ip 224.0.0.1" "--steering mirror --port-ip fe80::1"; do
	exits 2 "gen $wrong" $gen --out "$dir/v" $wrong # split at the blank
done
check "... IPv6 by name" says 0 "ringfold has no IPv6"
exits 2 "gen of a directed group with more packets than slots" $gen --out "$dir/v" --directed --size 64K --messages 40
check "... tells why" says 0 "more packets than --slots 512: a generator returns no ACKs"
exits 2 "gen without --out" $gen
exits 2 "gen of too much" $gen --out "$dir/v" --size 1G --messages 1000
check "... reports the size" sh -c "grep -q 'about [0-9]*[.][0-9] GiB would be written, more than --max-size 4.0 GiB' '$dir/0.err'"
check "... and writes nothing" test ! -e "$dir/v"
exits 2 "gen beyond a limit of its own" $gen --out "$dir/v" --size 1M --max-size 1M
exits 0 "gen below it" $gen --out "$dir/v" --size 64K --ports 4 --foreign 10% --faults all --max-size 1M
check "... announces the size" says 0 "about 0[.][0-9] MiB to write"
said=$(sed -n 's/^about \(.*\) MiB.*/\1/p' "$dir/0.err")
check "... and comes near ($said MiB)" python3 -c "
import os, sys
real = sum(e.stat().st_size for e in os.scandir('$dir/v')) / 2**20
sys.exit(not 0.8 * real - 0.1 < $said < 1.25 * real + 0.1)"
touch "$dir/v/out0.pcap"
exits 0 "gen again on fewer ports" $gen --out "$dir/v" --ports 2
check "... leaves no port of the run before" sh -c "[ ! -e '$dir/v/port2.pcap' ] && [ ! -e '$dir/v/port3.pcap' ]"
check "... and keeps other files" test -e "$dir/v/out0.pcap" -a -e "$dir/v/port1.pcap"
mkdir "$dir/other"
touch "$dir/other/letter.txt"
exits 1 "gen into a folder of something else" $gen --out "$dir/other"
check "... is reported" says 0 "contains files that ringfold gen did not write"
check "... and touches nothing" test "$(ls "$dir/other")" = letter.txt
exits 1 "gen into a folder that cannot be" $gen --out "$dir/0.err/x"
finish
