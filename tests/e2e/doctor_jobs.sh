#!/bin/bash
# ringfold doctor and jobs: keys, quotas, ranks that are taken, boxes that are full or too small, wrong sums
# between hosts; an unplugged cable if interfaces can be created.
ranks=5
box_ports=5
. "$(dirname "$0")/doctor_lib.sh"
hosts_damage=1 # the doctor sends damaged frames on purpose
unset RF_SIZE
ctl=$bin/ringfold-ctl
job=0f0e0d0c0b0a09080706050403020100
for ((k = 0; k < ranks; k++)); do
	port_options[k]=box=$k,rule
done

# start HOST DEVICE [VAR=VALUE ...]: doctor --ranks in the background
start() {
	local r=$1 device=$2
	shift 2
	env RF_IP=10.0.0.$((r + 1)) RF_DEVICE="${device//%r/$r}" RF_TIMEOUT=4000 "$@" "$bin/ringfold-doctor" --steering both --ranks > "$dir/$r.err" 2>&1 &
	pid[$r]=$!
}

box_start --lanes 2
# The same rank twice in one job: the second process gets an error.
start 0 "$RF_DEVICE" RF_RANK=0 RF_SIZE=3
start 1 "$RF_DEVICE" RF_RANK=1 RF_SIZE=3
sleep 2
start 2 "$RF_DEVICE" RF_RANK=1 RF_SIZE=3
rank_wait 2
check "rank taken: exit code" test $? = 1
check "... fails at ranks" fails_at 2 ranks
check "... is named" says 2 "another process has this rank"
check "... with the remedy" says 2 "a rank of its own (RF_RANK)"
for r in 0 1; do
	rank_wait $r
	check "... host $r: a rank is missing" fails_at $r ranks
done

# Two jobs with the same number at one box. The rules of hosts 3 and 4 lead to other ports than those of mirror ranks 0 and 1.
for r in 3 4; do
	RF_STEERING=ring RF_RANK=$((r - 3)) RF_SIZE=2 RF_JOB=7 RF_IP=10.0.0.$((r + 1)) RF_DEVICE=${RF_DEVICE//%r/$r} \
		"$tests/e2e_rank" until "$dir/stop" > "$dir/$r.out" 2> "$dir/$r.err" &
	pid[$r]=$!
done
sleep 2
other=$(free_port)
start 0 "$RF_DEVICE" RF_RANK=0 RF_SIZE=2 RF_JOB=7 RF_PORT="$other"
start 1 "$RF_DEVICE" RF_RANK=1 RF_SIZE=2 RF_JOB=7 RF_PORT="$other"
for r in 0 1; do
	rank_wait $r
	check "a job's number taken: host $r fails at ranks" fails_at $r ranks
	check "... is named" says $r "another process has joined as this rank"
	check "... with the remedy" says $r "numbers of their own (RF_JOB)"
done
touch "$dir/stop"
for r in 3 4; do
	rank_wait $r
	check "... the first job is not affected" test $? = 0
done

# A wire that passes single packets correctly but not longer messages.
with_fault() {
	"$tests/e2e_bad_wire" "net_memif0,role=server,id=0,socket=$dir/w.sock,socket-abstract=no,bsize=8192" \
		"net_memif1,role=client,id=0,socket=$dir/2.sock,socket-abstract=no" "$1" > "$dir/wire.out" 2> "$dir/wire.err" &
	pid[9]=$!
	for _ in $(seq 200); do
		grep -qs ready "$dir/wire.out" && break
		sleep 0.05
	done
	start 1 "$RF_DEVICE" RF_RANK=0 RF_SIZE=2 RF_STEERING=ring
	start 2 "net_memif0,role=client,id=0,socket=$dir/w.sock,socket-abstract=no" RF_RANK=1 RF_SIZE=2 RF_STEERING=ring
	rank_wait 1
	rank_wait 2
	kill -TERM "${pid[9]}"
	wait "${pid[9]}" 2> /dev/null
	unset "pid[9]"
	rm -f "$dir/wire.out"
	check "$1 between hosts: fails at ranks" fails_at 2 ranks
}
with_fault spoil
check "... is named" says 2 "of 65536 sums are wrong"
with_fault stall
check "... is named" says 2 "a deadline has passed\|a connection to a peer has failed"
check "... with the remedy" says 2 "run ringfold doctor on every host"

# All groups in use: this is not an error. The stalled job holds its slots until its leases have expired.
join() {
	local tries
	for ((tries = 0; tries < 100; tries++)); do
		RF_DEVICE=${RF_DEVICE//%r/0} "$ctl" join --job 10$1 --slots 16 --rank 10.1.$1.1,send=17,psn=5,recv=18,port=0 \
			--rank 10.1.$1.2,send=17,psn=9,recv=18,port=1 > "$dir/0.err" 2>&1 && return
		sleep 0.2
	done
	return 1
}
for n in 1 2 3 4 5 6 7 8; do
	check "group $n of 8" join $n
done
doctor 2
check "a full box: no error" test $? = 0
check "... is reported" says 2 "^skipped  port .*no room for another group"
box_stop

printf '0 a0a1a2a3a4a5a6a7a8a9aaabacadaeaf\n7 %s groups=1 ips=10.0.0.0/16,10.1.0.0/24 ports=0-4\n' $job > "$dir/keys"
chmod 600 "$dir/keys"
box_start --lanes 2 --keys "$dir/keys"
doctor 1 --job 7 --key $job
check "a job with its key" test $? = 0
check "... whose one group the check of the path has used: the check by mirror waits for it" says 1 "^ok       mirror"
doctor 1 --job 7 --key ${job//0f/1f}
check "the wrong key" fails_at 1 control
check "... is named" says 1 "the authentication tag is wrong"
doctor 1 --job 8 --key $job
check "a job without a key" fails_at 1 control
check "... is named" says 1 "the box has no key for this job"
check "... with the remedy" says 1 "name a job that the box has a key for"
RF_DEVICE=${RF_DEVICE//%r/0} "$ctl" join --job 7 --key $job --slots 16 --rank 10.1.0.1,send=17,psn=5,recv=18,port=0 \
	--rank 10.1.0.2,send=17,psn=9,recv=18,port=1 > "$dir/0.err" 2>&1
check "the job has its one permitted group" test $? = 0
doctor 1 --job 7 --key $job
check "... no group for the doctor" fails_at 1 port
check "... is named" says 1 "allows no more groups"
box_stop

if [ "$(id -u)" = 0 ] && unshare -n true 2> /dev/null && command -v ip > /dev/null; then
	# shellcheck disable=SC2016
	unshare -n sh -c 'ip link add v0 type veth peer name v1 && ip link set v0 up &&
		exec "$1" --device net_af_packet0,iface=v0 --timeout 1s' sh "$bin/ringfold-doctor" > "$dir/0.err" 2>&1
	check "an unplugged cable" fails_at 0 device
	check "... is named" says 0 "has no link"
else
	echo "      (no interfaces can be made here: no cable is pulled out)"
fi
RF_DEVICE="net_memif0,role=server,id=0,socket=$dir/alone.sock,socket-abstract=no" doctor 0 --timeout 1s
check "a server without a client" fails_at 0 device
check "... is named" says 0 "has no link"
finish
