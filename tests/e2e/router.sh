#!/bin/bash
# The box behind a router: hosts and box on two Linux bridges of one network namespace, which forwards between them. Ranks of
# the library, ringfold doctor and ringfold ctl over DPDK. Needs root.
if [ "$(id -u)" -ne 0 ]; then
	echo "needs root"
	exit 77
fi
if [ "${1:-}" != inside ]; then
	for tool in ip unshare; do
		command -v $tool > /dev/null || { echo "$tool is missing (iproute2: mk/deps.sh test)"; exit 1; }
	done
	unshare -n true 2> /dev/null || { echo "no network namespaces here"; exit 77; }
	exec unshare -n bash "$0" inside
fi
ranks=2
. "$(dirname "$0")/lib.sh"
hosts_damage=1 # the doctor sends damaged frames on purpose
frames_options=(--short)

ip link set lo up
# DPDK needs (pid ^ ifindex) & 0xffff to differ between processes: indexes with the same last 12 bits see to it.
if ! ip link add br0 type bridge 2> "$dir/why" || ! ip link add h0 index $((0x1123)) type veth peer name s0 2> "$dir/why"; then
	echo "no bridge or veth pairs here: $(cat "$dir/why")"
	exit 77
fi
ip link add br1 type bridge
ip link add h1 index $((0x2123)) type veth peer name s1
ip link add x0 type veth peer name b0
ip link add x1 type veth peer name b1
for n in br0 br1 h0 h1 s0 s1 x0 x1 b0 b1; do
	# no kernel address on the hosts' and the box's interfaces, and the kernel neither answers nor forwards there
	echo 1 > "/proc/sys/net/ipv6/conf/$n/disable_ipv6"
	echo 1 > "/proc/sys/net/ipv4/conf/$n/arp_ignore"
	case $n in
	s[01]) ip link set $n master br0 ;;
	b[01]) ip link set $n master br1 ;;
	esac
	ip link set $n mtu 4500 up
done
ip addr add 10.0.0.100/24 dev br0
ip addr add 10.9.0.100/24 dev br1
echo 1 > /proc/sys/net/ipv4/ip_forward
for n in h0 h1 x0 x1; do
	echo 0 > "/proc/sys/net/ipv4/conf/$n/forwarding"
done

"$bin/ringfold-box" --box-ports 2 --lanes 2 --hold 0s --json --box-ip 10.9.0.254 --prefix 24 --gateway 10.9.0.100 \
	--direct 0=packet:x0 --direct 1=packet:x1 > "$dir/box.out" 2> "$dir/box.log" &
box=$!
for _ in $(seq 400); do
	grep -q ready "$dir/box.log" && break
	kill -0 $box 2> /dev/null || break
	sleep 0.05
done
check "the box in a subnet of its own" grep -q ready "$dir/box.log"

export RF_DEVICE="net_af_packet0,iface=h%r" RF_BOX_IP=10.9.0.254
RF_RANK=0 "$bin/ringfold-doctor" > "$dir/0.err" 2>&1
check "without RF_GATEWAY: the doctor ..." test $? = 1
check "... asks for a router" says 0 "^FAILED   arp .*no answer to ARP for the box's address 10.9.0.254"
check "... by its setting" says 0 "RF_GATEWAY"
RF_RANK=0 RF_GATEWAY=10.0.0.99 "$bin/ringfold-doctor" > "$dir/0.err" 2>&1
check "a router that is not there" test $? = 1
check "... is named" says 0 "^FAILED   arp .*no answer to ARP for the router 10.0.0.99"
RF_BOX_TIMEOUT=1000 RF_GATEWAY=10.0.0.99 all "$tests/e2e_rank" loop 1
check "... by a rank too" says 1 "no ARP reply for 10.0.0.99, the router on the way to the box"

export RF_GATEWAY=10.0.0.100
RF_RANK=0 RF_BOX_IP=10.9.0.253 "$bin/ringfold-doctor" --timeout 1s > "$dir/0.err" 2>&1
check "no box behind the router" test $? = 1
check "... is named" says 0 "^FAILED   control .*the box at 10.9.0.253 does not answer by way of the router"
RF_BOX_TIMEOUT=1000 RF_BOX_IP=10.9.0.253 all "$tests/e2e_rank" loop 1
check "... by a rank too" says 0 "10.9.0.253 does not answer by way of the router 10.0.0.100"
for r in 0 1; do
	RF_RANK=$r "$bin/ringfold-doctor" > "$dir/$r.err" 2>&1
	check "ringfold doctor on host $r" test $? = 0
	check "... finds the router" says $r "the router at 10.0.0.100 on the way to the box answers"
	check "... and sums by mirror" says $r "^ok       mirror"
	check "... the box has its gateway" sh -c "! grep -q 'does not answer the box' '$dir/$r.err'"
done
RF_RANK=0 exits 2 "ringfold doctor for a rule behind a router" "$bin/ringfold-doctor" --steering ring
check "... is refused by name" says 0 "behind a router the box needs mirror connections"
exits 2 "ringfold ctl, no address" env RF_DEVICE=net_af_packet0,iface=h0 "$bin/ringfold-ctl" status --gateway fe80::1
check "... is refused by name" says 0 "--gateway=fe80::1: ringfold has no IPv6"
exits 0 "ringfold ctl status" env RF_DEVICE=net_af_packet0,iface=h0 "$bin/ringfold-ctl" status
check "... names the gateway" says 0 "10.9.0.100"
exits 0 "ringfold ctl counters" env RF_DEVICE=net_af_packet0,iface=h0 "$bin/ringfold-ctl" counters
check "... a box on interfaces has probed its ports' addresses" says 0 "^arp_probes *6$"

all "$bin/ringfold-perf" --max 256K --iters 3 --type fp32,int8 --out-of-place
check "all-reduce across the router" codes_are 0
check "... correct" grep -q 'wrong elements: 0' "$dir/0.out"
all "$bin/ringfold-doctor" --ranks --timeout 10s
codes_are 0 || cat "$dir"/[01].out; check "ringfold doctor --ranks" codes_are 0
RF_RANK=0 RF_STEERING=ring "$tests/e2e_rank" loop 1 2> "$dir/0.err"
check "a ring behind a router is refused by name" says 0 "RF_GATEWAY is set: behind a router the box needs mirror connections"
RF_RANK=0 RF_GATEWAY=10.0.0.300 "$tests/e2e_rank" loop 1 2> "$dir/0.err"
check "... and an address that is none" says 0 "(RF_GATEWAY)=10.0.0.300: expected"
RF_RANK=0 RF_GATEWAY=10.0.0.1 "$tests/e2e_rank" loop 1 2> "$dir/0.err"
check "... and the own address" says 0 "RF_GATEWAY=10.0.0.1 is this host's own address"
box_stop
check "the box has summed" python3 -c "
import json
d = json.load(open('$dir/box.out'))
assert all(p['accepted'] > 100 for p in d['box']), d['box']"
finish
