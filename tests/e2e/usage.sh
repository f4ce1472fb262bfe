#!/bin/bash
# Exit codes of ringfold box and perf before anything runs: 2 if the arguments are wrong, 1 if this machine
# does not have what they name; both messages name it.
#   tests/e2e/usage.sh FOLDER_OF_PROGRAMS
set -u
bin=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
faults=0

# expect CODE TEXT COMMAND...
expect() {
	local want=$1 says=$2
	shift 2
	timeout 20 "$bin/ringfold" "$@" > "$dir/out" 2>&1 < /dev/null
	local code=$?
	if [ $code = "$want" ] && grep -q -- "$says" "$dir/out"; then
		return
	fi
	faults=$((faults + 1))
	echo "FAILED: ringfold $*: exit code $code, not $want, or not \"$says\":"
	head -3 "$dir/out"
}
good=$dir/a.sock

# The check itself: a wrong code is detected, and so are wrong words.
if ! (
	expect 1 "" perf --iters 0
	expect 2 "no such words" perf --iters 0
	[ $faults = 2 ]
) > /dev/null; then
	echo "FAILED: a wrong exit code or wrong words are not noticed"
	exit 1
fi

expect 2 "unknown command" dance
expect 2 "no --port" box
expect 2 "is not NAME=KIND" box --port memif
expect 2 "expected memif" box --port a=pigeon:x
expect 2 "nothing follows" box --port a=memif:
expect 2 "nothing follows" box --port a=tap:,paced
expect 2 "id=x is not a 32-bit number" box --port "a=memif:$good,id=x"
expect 2 "id=4294967296 is not a 32-bit number" box --port "a=memif:$good,id=4294967296"
expect 2 "unknown option" box --port "a=memif:$good,speed=9"
expect 2 "two paths" box --port "a=dgram:$good"
expect 2 "at most 15 bytes" box --port a=tap:a-name-too-long-for-an-interface
expect 2 "loss=200" box --port "a=memif:$good,loss=200"
expect 2 "would be overwritten" box --port "a=pcap:tests/data/rxe-sample.pcap,out=$dir/o" \
	--port "b=pcap:tests/data/rxe-sample.pcap,out=$dir/o"
expect 2 "not have port 9" box --port "a=memif:$good,box=9"
expect 2 "two devices" box --direct "0=memif:$good" --direct "0=memif:$dir/b.sock"
expect 2 "--lanes: expected 1 to 16" box --lanes 0 --port "a=memif:$good"
expect 2 "--lanes: expected 1 to 16" box --lanes 17 --port "a=memif:$good"
expect 2 "--width: expected 64" box --width 96 --port "a=memif:$good"
expect 2 "--port-ips: expected the address of port 0" box --port-ips "" --port "a=memif:$good"
expect 2 "--port-ips: expected the address of port 0, or of each" box --port-ips 10.0.0.1, --port "a=memif:$good"
expect 2 "--port-ips: expected the address of port 0, or of each" box --port-ips 10.0.0.1,,10.0.0.2 --port "a=memif:$good"
expect 2 "--port-ips: 3 addresses, and the box has 2 ports" box --box-ports 2 --port-ips 10.0.0.1,10.0.0.2,10.0.0.3 --port "a=memif:$good"
expect 2 "--port-ips: 0.0.0.0 cannot be the address of a host" box --port-ips 0.0.0.0 --port "a=memif:$good"
expect 2 "--probe: \"soon\" is not a TIME" box --probe soon --port "a=memif:$good"
for ip in 0.0.0.0 0.0.0.1 127.0.0.1 224.0.0.1 255.255.255.255; do
	expect 2 "--box-ip: $ip cannot be the address of a host" box --box-ip $ip --port "a=memif:$good"
	expect 2 "--box-ip: $ip cannot be the address of a host" box --box-ip $ip --port-ips 10.0.0.1 --port "a=memif:$good"
	expect 2 "--gateway: $ip cannot be the address of a host" box --gateway $ip --port "a=memif:$good"
done
for ip in 10.0.0.0 10.0.0.255; do
	expect 2 "--box-ip: $ip with --prefix 24: the box's own address cannot be a host's" box --box-ip $ip --prefix 24 --port "a=memif:$good"
done
expect 2 "--port-ips: \"fe80::1\" is not an IPv4 address; ringfold has no IPv6" box --port-ips fe80::1 --port "a=memif:$good"
expect 2 "--box-ip: \"fe80::1\" is not an IPv4 address; ringfold has no IPv6" box --box-ip fe80::1 --port "a=memif:$good"
expect 2 "box-ip=fe80::1: ringfold has no IPv6" ctl status --box-ip fe80::1 --device "memif:$good"
expect 2 "box-ip=fe80::1: ringfold has no IPv6" doctor --box-ip fe80::1 --device "memif:$good"
expect 2 "ip=2001:db8::1: ringfold has no IPv6" doctor --ip 2001:db8::1 --device "memif:$good"
expect 2 "unknown option \"norule\"" box --port "a=memif:$good,norule"
expect 2 "--box-ports: expected 2 to 8" box --box-ports 1 --port "a=memif:$good"
expect 2 "takes no argument" box --port "a=memif:$good" now
expect 1 "No such file" box --port a=pcap:/nonexistent/file
expect 1 "No such file" box --keys /nonexistent/file --port "a=memif:$good"
expect 1 "No such file" box --pcapng /nonexistent/folder --port "a=memif:$good"
expect 0 "" box --quiet --duration 100ms --port "a=memif:$good,id=010"

# devices that cannot be opened: the reason in words, before DPDK gives a number
expect 1 "is an interface of the kernel, not a DPDK device: use net_af_packet0,iface=lo" ctl status --device lo
expect 1 "no interface \"nosuch0\"" ctl status --device net_af_packet0,iface=nosuch0
expect 1 "expected net_af_packet0,iface=" ctl status --device net_af_packet0
expect 1 "verbs:mlx5_0 is the RDMA device of a NIC, and a DPDK device is needed here" ctl status --device verbs:mlx5_0
expect 1 "FAILED   device   verbs:mlx5_0 is the RDMA device of a NIC" doctor --device verbs:mlx5_0
expect 1 "the NIC itself with two ranks of .ringfold perf. over verbs" doctor --device verbs
expect 1 "no process serves the socket $dir/none.sock" ctl status --device "net_memif0,role=client,id=0,socket=$dir/none.sock,socket-abstract=no"
expect 1 "the folder $dir/none of the memif socket does not exist" ctl status \
	--device "net_memif0,role=client,id=0,socket=$dir/none/a.sock,socket-abstract=no"

expect 2 "--iters" perf --iters 0
expect 2 "fp32 has 4 bytes" perf --min 3
expect 2 "int32 has 4 bytes" perf --min 3 --type int32
expect 2 "fp32 has 4 bytes" perf --min 2 --type all
expect 2 "bf16 has 2 bytes" perf --min 1 --type bf16
expect 2 "takes no argument" perf now
expect 2 '"al-reduce" is not one of all-reduce, reduce, .* did you mean all-reduce?' perf --collective al-reduce
expect 2 '--collective: "" is not one of' perf --collective reduce,
expect 2 '--type: "fp8" is not one of fp32, ' perf --type fp32,fp8
expect 2 '--op: "product" is not one of sum, ' perf --op product
expect 2 '--schedule: "tree" is not one of box, ring, ' perf --schedule box,tree
expect 2 '--root: "x" is not a rank' perf --root x
expect 2 '--root: "128" is not a rank' perf --collective reduce --root 128
expect 2 "--root 1: the last rank is 0" perf --collective reduce --root 1
expect 2 "no such operation with --type fp32" perf --op xor
expect 2 "either --json or --csv, not both" perf --json --csv
expect 2 "either --in-place or --out-of-place, not both" perf --in-place --out-of-place
expect 2 "either --seconds or --total-seconds, not both" perf --seconds 1 --total-seconds 1
expect 2 "either --flip or --no-check, not both" perf --flip --no-check
expect 2 "either --iters or --seconds, not both" perf --iters 20 --seconds 1
expect 2 "either --iters or --total-seconds, not both" perf --iters 3 --total-seconds 1
expect 2 "ringfold perf: --max 5368709120: at most 4G" perf --max 5G
expect 2 "ringfold perf: --min 4096 is above --max 64" perf --min 4K --max 64
expect 2 "ringfold perf: --factor 1: at least 2" perf --factor 1
expect 2 "ringfold perf: --iters 0: from 1 to 2147483647" perf --iters 0
expect 2 'ringfold perf: --iters: "many" is not a whole number' perf --iters many
expect 2 "ringfold perf: --outstanding 65: from 1 to 64" perf --outstanding 65
expect 2 '--seconds: "fast" is not a valid TIME' perf --seconds fast
expect 0 "wrong elements: 0" perf --min 2 --max 2 --type bf16

[ $faults = 0 ] && echo "every exit code as it must be"
[ $faults = 0 ]
