#!/bin/bash
# The first hour with an independent switch: a Linux bridge with the exact rule of docs/first-hour.md, hosts on two of its
# ports, and the bare box (ringfold box --direct) on two others. In a network namespace of its own. Needs root.
if [ "$(id -u)" -ne 0 ]; then
	echo "needs root"
	exit 77
fi
if [ "${1:-}" != inside ]; then
	for tool in ip nft unshare; do
		command -v $tool > /dev/null || { echo "$tool is missing (iproute2, nftables: mk/deps.sh test)"; exit 1; }
	done
	unshare -n true 2> /dev/null || { echo "no network namespaces here"; exit 77; }
	exec unshare -n bash "$0" inside
fi
ranks=2
. "$(dirname "$0")/lib.sh"
hosts_damage=1 # the doctor sends damaged frames on purpose
frames_options=(--short)
page=$(dirname "$0")/../../docs/first-hour.md

# the page's three lines, for the switch port of host $1 and the port of box $2
rule() {
	sed -n 's/^    \(nft add .*\)/\1/p' "$page" | sed "s/host0/s$1/g; s/box0/b$2/g" > "$dir/rule.sh"
	[ "$(wc -l < "$dir/rule.sh")" = 3 ] && sh -e "$dir/rule.sh"
}

ip link set lo up
# DPDK needs (pid ^ ifindex) & 0xffff to differ between processes: indexes with the same last 12 bits see to it.
if ! ip link add br0 type bridge 2> "$dir/why" || ! ip link add h0 index $((0x1123)) type veth peer name s0 2> "$dir/why"; then
	echo "no bridge or veth pairs here: $(cat "$dir/why")"
	exit 77
fi
ip link add h1 index $((0x2123)) type veth peer name s1
ip link add x0 index $((0x4123)) type veth peer name b0
ip link add x1 index $((0x8123)) type veth peer name b1
for n in br0 h0 h1 s0 s1 x0 x1 b0 b1; do
	# no kernel address, so the kernel does not answer on these
	echo 1 > "/proc/sys/net/ipv6/conf/$n/disable_ipv6"
	case $n in
	[sb][01]) ip link set $n master br0 ;;
	esac
	ip link set $n mtu 4500 up
done
rule 0 0 || check "the rule of the page for host 0" false
rule 1 1 || check "the rule of the page for host 1" false

captures
"$bin/ringfold-box" --box-ports 2 --hold 0s --json --pcapng "$seen" --direct 0=dpdk:net_af_packet8,iface=x0 \
	--direct 1=packet:x1 > "$dir/box.out" 2> "$dir/box.log" &
box=$!
for _ in $(seq 400); do
	grep -q ready "$dir/box.log" && break
	kill -0 $box 2> /dev/null || break
	sleep 0.05
done
check "the bare box on two interfaces" grep -q ready "$dir/box.log"

export RF_DEVICE="net_af_packet0,iface=h%r" RF_STEERING=ring
all "$bin/ringfold-perf" --max 256K --iters 3 --type fp32,bf16,fp16,int32 --out-of-place
check "all-reduce over a Linux bridge" codes_are 0
check "... correct" grep -q 'wrong elements: 0' "$dir/0.out"
RF_MTU=4096 all "$bin/ringfold-perf" --min 100K --max 100K --iters 3
check "MTU 4096" codes_are 0
for r in 0 1; do
	RF_RANK=$r "$bin/ringfold-doctor" > "$dir/$r.err" 2>&1
	check "ringfold doctor on host $r" test $? = 0
	check "... finds port $r" says $r "goes to port $r of the box"
done
# without the rule at one port
nft delete chain netdev ringfold s1
RF_RANK=1 "$bin/ringfold-doctor" > "$dir/1.err" 2>&1
check "no rule for host 1: the doctor reports it" says 1 "^FAILED   rule"
RF_TIMEOUT=4000 all "$tests/e2e_rank" loop 100
for r in 0 1; do
	check "... rank $r fails (${codes[r]})" test "${codes[r]}" = 20 -o "${codes[r]}" = 21
	check "... and names the rule" says $r "lacks the rule"
done
# mirror connections need no rule
nft delete chain netdev ringfold s0
RF_STEERING=mirror all "$bin/ringfold-perf" --max 256K --iters 3 --type fp32,bf16,fp16,int32 --out-of-place
check "no rule at all, mirror connections: all-reduce" codes_are 0
check "... correct" grep -q 'wrong elements: 0' "$dir/0.out"
box_stop
check "the box has summed" python3 -c "
import json
d = json.load(open('$dir/box.out'))
assert all(p['accepted'] > 100 for p in d['box']), d['box']"
finish
