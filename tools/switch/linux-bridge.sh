#!/bin/sh
# A Linux bridge as the switch before the box, with the redirect rule in nft. Needs root, iproute2, nftables.
#
#   linux-bridge.sh up BRIDGE HOST=BOX [HOST=BOX ...]   creates a bridge with the hosts' and box's interfaces as ports; RoCE that enters
#                                                       on HOST (UDP to port 4791) goes out on BOX, whatever its MAC address
#   linux-bridge.sh counts BRIDGE                       packets redirected so far, one line per HOST
#   linux-bridge.sh down BRIDGE                         removes rule and bridge
#
# Several hosts may use the same BOX if the box has several lanes. Frames from the box are forwarded by MAC, without a rule.
set -eu
. "$(dirname "$0")/switch.sh"
table="ringfold_$(echo "$bridge" | tr -c 'a-zA-Z0-9\n' _)"

add_ports() {
	ip link set "$1" master "$bridge" up
	ip link set "$2" master "$bridge" up
	# do not flood frames for unknown hosts to the box; its own MAC addresses are learnt
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
