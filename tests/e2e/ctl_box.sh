#!/bin/bash
# ringfold ctl against a box that has keys and runs the image for its processor (the native firmware if the image
# cannot be built): access rights, and the output of ports, slots, connections and log.
ranks=2
box_ports=4
. "$(dirname "$0")/lib.sh"
unset RF_SIZE
job=0f0e0d0c0b0a09080706050403020100
operator=a0a1a2a3a4a5a6a7a8a9aaabacadaeaf
other=101112131415161718191a1b1c1d1e1f
# The first job may act for the hosts of the traffic, the other one may not.
printf '# keys\n0 %s\n6776174 %s groups=1 slots=256 ips=10.0.0.0/16 ports=0-3\n8 %s\n' $operator $job $other > "$dir/keys"
chmod 600 "$dir/keys"
firmware=native
[ -x "$bin/ringfold-rv32" ] && [ -r "$bin/../firmware/ringfold-rv32.elf" ] && firmware=rv32
box_start --lanes 2 --keys "$dir/keys" --firmware $firmware
second=${RF_DEVICE//%r/1}
export RF_DEVICE=${RF_DEVICE//%r/0}
echo "firmware: $firmware"

ctl=$bin/ringfold-ctl

exits 1 "without a key" "$ctl" status
check "... the key is named" says 0 "tag is wrong"
export RF_KEY=$operator
exits 0 "with the operator's" "$ctl" status
check "... the data types of this build" says 0 "types *fp32,.*int32"
check "... the addresses of its ports" says 0 "address_3 *10[.]0[.]0[.]225"
exits 0 "gen" "$bin/ringfold-gen" --out "$dir/t" --ranks 8 --size 4000 --messages 16 --dtype fp16 --seed 3
exits 1 "join with the operator's key" "$ctl" join --traffic "$dir/t" --timeout 1s
exits 1 "join by a job whose key does not speak for these hosts" "$ctl" join --traffic "$dir/t" --job 8 --key $other
check "... is named" says 0 "may not register this source address.*ips="
exits 0 "join with the job's" "$ctl" join --traffic "$dir/t" --key $job
exits 0 "ctl ports" "$ctl" ports
check "... four of them" test "$(wc -l < "$dir/0.err")" = 5
exits 0 "ctl slots" "$ctl" slots
check "... the quota counts: 256 of 512" says 0 "256 of 512 slots free"
check "... and their owner" says 0 "^ *0 *256 .* 6776174 .*ready"
exits 0 "ctl jobs" "$ctl" jobs
check "... the job's use and quota" says 0 "^ *6776174 *1/1 *256/256 *8/256 *8/"
exits 0 "ctl jobs by a job, in JSON" "$ctl" jobs --job 8 --key $other --json
check "... only itself, half of the box" python3 -c "import json; t = json.load(open('$dir/0.err')); assert len(t) == 1 and (t[0]['job'], t[0]['groups'], t[0]['groups_most'], t[0]['slots_most']) == (8, 0, 4, 256)"
exits 0 "ctl connections" "$ctl" connections
check "... eight of an open loop" test "$(grep -c ' data *live ' "$dir/0.err")" = 8
exits 0 "ctl connections --json" "$ctl" connections --json
check "... the same" python3 -c "import json; t = json.load(open('$dir/0.err')); assert len(t) == 8 and {e['state'] for e in t} == {'live'}"
exits 1 "connections are not for jobs" "$ctl" connections --key $job
exits 0 "ctl ranks" "$ctl" ranks 6776174
check "... eight" test "$(grep -c ' joined ' "$dir/0.err")" = 8
exits 0 "... the job may see its own" "$ctl" ranks 6776174 --key $job
check "... eight" test "$(grep -c ' joined ' "$dir/0.err")" = 8
exits 124 "... again and again" timeout 2 "$ctl" ranks 6776174 --key $job --watch 100ms
check "... more than one output" test "$(grep -c ' joined ' "$dir/0.err")" -gt 8
"$ctl" ranks 6776174 --key $job --watch 100ms > "$dir/shown.out" 2>&1 &
shown=$!
for _ in $(seq 200); do
	grep -q joined "$dir/shown.out" && break
	sleep 0.05
done
check "the list of processes shows that there is a key" grep -aq -- "--key" /proc/$shown/cmdline
check "... but not the key itself" sh -c "! grep -aq $job /proc/$shown/cmdline"
kill $shown
wait $shown
exits 0 "ctl stragglers with the job's key" "$ctl" stragglers 6776174 --key $job --json
check "... eight" python3 -c "import json; assert len(json.load(open('$dir/0.err'))[0]['ranks']) == 8"
exits 1 "ctl ranks with an unknown key" "$ctl" ranks 6776174 --key ${job//0f/1f}
check "... is refused" says 0 "tag is wrong.*RF_KEY"
exits 1 "ctl drop with the job's key" "$ctl" drop 6776174 --key $job
check "... is refused" says 0 "tag is wrong"
exits 0 "ctl drop" "$ctl" drop --job 6776174
exits 1 "ctl drop of what is not there" "$ctl" drop --job 5
for _ in $(seq 100); do
	"$ctl" groups | grep -q "failed .* -" && break
done
exits 0 "ctl groups" "$ctl" groups
check "... a group that has ended has no hardware" says 0 "failed .* - *$"
exits 0 "ctl log" "$ctl" log
check "... start" says 0 " start"
check "... ready" says 0 " ready  *job 6776174 group"
check "... failed, with the reason" says 0 " failed  *job 6776174 group .* the operator ended the group"
RF_DEVICE=$second timeout 30 "$ctl" log --watch 100ms > "$dir/watch.txt" 2>&1 &
watch=$!
for _ in $(seq 200); do
	grep -q " failed" "$dir/watch.txt" && break
	sleep 0.05
done
exits 0 "ctl reset" "$ctl" reset
for _ in $(seq 200); do
	grep -q " reset" "$dir/watch.txt" && break
	sleep 0.05
done
kill $watch
wait $watch
check "a watched log shows new events" grep -q " reset" "$dir/watch.txt"
check "... and nothing twice" test "$(grep -c " start" "$dir/watch.txt")" = 1
check "no key is in any output" sh -c "! grep -rqiE '$job|$operator|$other' $dir/*.err $dir/*.txt $dir/*.log $dir/*.out 2> /dev/null"
finish
