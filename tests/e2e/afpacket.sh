#!/bin/bash
# Hosts over the kernel's interfaces: net_af_packet on both ends of veth pairs, as on an ordinary NIC. Needs root.
ranks=2
. "$(dirname "$0")/lib.sh"
hosts_damage=1 # the doctor sends damaged frames on purpose
frames_options=(--short)
if [ "$(id -u)" -ne 0 ] || ! command -v ip > /dev/null; then
	echo "needs root and iproute2"
	exit 77
fi

names=()
drop_links() {
	local n
	for n in "${names[@]}"; do
		ip link del "$n" 2> /dev/null
	done
	cleanup
}
trap drop_links EXIT
for r in 0 1; do
	n=rf$$h$r
	# DPDK needs (pid ^ ifindex) & 0xffff to differ between processes. Indexes with the same last 12 bits see to it.
	if ! ip link add "$n" index $((0x1000 << r | 0x123)) type veth peer name "rf$$b$r" index $((0x4000 << r | 0x123)); then
		echo "no veth pairs here"
		exit 77
	fi
	names+=("$n")
	for end in "$n" "rf$$b$r"; do
		# no kernel address, so the kernel does not answer on these
		echo 1 > "/proc/sys/net/ipv6/conf/$end/disable_ipv6"
		# Both hosts share one kernel. It must not answer ARP on one interface for the address of the other.
		echo 1 > "/proc/sys/net/ipv4/conf/$end/arp_ignore"
		ip link set "$end" mtu 4500 up
	done
done
captures
"$bin/ringfold-box" --box-ports 2 --hold 0s --probe 0s --pcapng "$seen" \
	--port "h0=dpdk:net_af_packet8,iface=rf$$b0,rule" \
	--port "h1=dpdk:net_af_packet9,iface=rf$$b1,rule" > "$dir/box.out" 2> "$dir/box.log" &
box=$!
for _ in $(seq 200); do
	grep -q ready "$dir/box.log" && break
	kill -0 $box 2> /dev/null || break
	sleep 0.05
done
check "the box on two interfaces" grep -q ready "$dir/box.log"

export RF_DEVICE="net_af_packet0,iface=rf$$h%r"
all "$bin/ringfold-perf" --max 256K --iters 3
check "all-reduce" codes_are 0
check "... correct" grep -q 'wrong elements: 0' "$dir/0.out"
# an interface that the box cannot reach
echo 0 > "/proc/sys/net/ipv6/conf/rf$$h1/disable_ipv6"
ip addr add fd00:5246::2/64 dev "rf$$h1" nodad
RF_RANK=1 "$bin/ringfold-doctor" --steering both > "$dir/1.err" 2>&1
check "ringfold doctor, an interface with IPv6 alone" test $? = 1
check "... is named" says 1 "^FAILED   device   rf$$h1 has only IPv6 addresses, and the box has IPv4 only"
ip addr flush dev "rf$$h1"
echo 1 > "/proc/sys/net/ipv6/conf/rf$$h1/disable_ipv6"
# the interface's address becomes the host's own
ip addr add 10.9.9.1/24 dev "rf$$h0"
ip addr add 10.9.9.2/24 dev "rf$$h1"
RF_RANK=1 "$bin/ringfold-doctor" --steering both > "$dir/1.err" 2>&1
check "ringfold doctor" test $? = 0
check "... uses the interface's address" says 1 "address 10.9.9.2"
RF_MTU=4096 all "$bin/ringfold-perf" --min 100K --max 100K --iters 3
check "MTU 4096" codes_are 0
finish
