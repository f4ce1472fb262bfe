#!/bin/sh
# A Linux bridge as the switch before the box, with the redirect rule in nft. Needs root, iproute2, nftables.
#
#   linux-bridge.sh up BRIDGE HOST=BOX [HOST=BOX ...]   hosts' and box's interfaces become ports of a new bridge; RoCE that comes in
#                                                       on HOST (UDP to port 4791) goes out on BOX, whatever its MAC address
#   linux-bridge.sh counts BRIDGE                       packets redirected so far, a line for each HOST
#   linux-bridge.sh down BRIDGE                         rule and bridge are gone
#
# Several hosts may name the same BOX where the box has lanes. What comes from the box is forwarded by MAC: there is no rule for it.
set -eu
. "$(dirname "$0")/switch.sh"
table="ringfold_$(echo "$bridge" | tr -c 'a-zA-Z0-9\n' _)"

add_ports() {
	ip link set "$1" master "$bridge" up
	ip link set "$2" master "$bridge" up
	# frames for hosts that are not known yet are not the box's business; its own MAC addresses are learnt
	bridge link set dev "$2" flood off
}

rule() {
	echo "chain host_$(echo "$1" | tr -c 'a-zA-Z0-9\n' _) {
		type filter hook ingress device \"$1\" priority 0; policy accept;
		ip protocol udp udp dport 4791 counter fwd to \"$2\"
	}"
}

case $command in
up)
	ip link add "$bridge" type bridge
	undo_unless_done '"$0" down "$bridge"'
	each_pair add_ports
	echo "table netdev $table {
	$(each_pair rule)
}" | nft -f -
	ip link set "$bridge" up
	done_now
	;;
counts)
	nft list table netdev "$table" | awk '/chain host_/ {sub("host_", "", $2); host = $2} /counter packets/ {
		for (i = 1; i < NF; i++) if ($i == "packets") print host, $(i + 1) }'
	;;
down)
	nft delete table netdev "$table" 2> /dev/null || true
	ip link del "$bridge"
	;;
esac
