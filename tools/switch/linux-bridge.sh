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

usage() {
	sed -n '2,10s/^# \{0,1\}//p' "$0" >&2
	exit 2
}

[ $# -ge 2 ] || usage
command=$1
bridge=$2
shift 2
table="ringfold_$(echo "$bridge" | tr -c 'a-zA-Z0-9\n' _)"

case $command in
up)
	[ $# -ge 1 ] || usage
	for pair in "$@"; do
		case $pair in
		?*=?*) ;;
		*) usage ;;
		esac
	done
	ip link add "$bridge" type bridge
	trap '"$0" down "$bridge"' EXIT
	trap 'exit 130' INT TERM HUP
	rules=
	for pair in "$@"; do
		host=${pair%%=*}
		box=${pair#*=}
		ip link set "$host" master "$bridge" up
		ip link set "$box" master "$bridge" up
		# frames for hosts that are not known yet are not the box's business; its own MAC addresses are learnt
		bridge link set dev "$box" flood off
		chain=$(echo "$host" | tr -c 'a-zA-Z0-9\n' _)
		rules="$rules
	chain host_$chain {
		type filter hook ingress device \"$host\" priority 0; policy accept;
		ip protocol udp udp dport 4791 counter fwd to \"$box\"
	}"
	done
	echo "table netdev $table {$rules
}" | nft -f -
	ip link set "$bridge" up
	trap - EXIT
	;;
counts)
	nft list table netdev "$table" | awk '/chain host_/ {sub("host_", "", $2); host = $2} /counter packets/ {
		for (i = 1; i < NF; i++) if ($i == "packets") print host, $(i + 1) }'
	;;
down)
	nft delete table netdev "$table" 2> /dev/null || true
	ip link del "$bridge"
	;;
*) usage ;;
esac
