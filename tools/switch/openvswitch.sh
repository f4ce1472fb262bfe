#!/bin/sh
# Open vSwitch in user space as the switch before the box, with the redirect rule. Needs root and a running Open vSwitch
# (its default sockets, or those in OVS_RUNDIR).
#
#   openvswitch.sh up BRIDGE HOST=BOX [HOST=BOX ...]   creates a bridge with the hosts' and box's interfaces as ports; RoCE that enters
#                                                      on HOST (UDP to port 4791) goes out on BOX, whatever its MAC address
#   openvswitch.sh counts BRIDGE                       packets redirected so far, one line per HOST
#   openvswitch.sh down BRIDGE                         removes rules and bridge
#
# Several hosts may use the same BOX if the box has several lanes. DATAPATH=system uses the kernel's datapath instead. With the
# user-space datapath the kernels of hosts connected by veth pairs must compute their own checksums (ethtool -K IFACE tx off).
set -eu
. "$(dirname "$0")/switch.sh"

add_port() {
	ip link set "$1" up
	ovs-vsctl --may-exist add-port "$bridge" "$1"
}

add_rule() {
	add_port "$1"
	add_port "$2"
	ovs-ofctl add-flow "$bridge" "priority=200,in_port=$2,actions=NORMAL"
	ovs-ofctl add-flow "$bridge" "priority=100,in_port=$1,udp,tp_dst=4791,actions=output:$2"
}

case $command in
up)
	ovs-vsctl add-br "$bridge" -- set bridge "$bridge" "datapath_type=${DATAPATH:-netdev}"
	undo_unless_done 'ovs-vsctl --if-exists del-br "$bridge"'
	each_pair add_rule
	done_now
	;;
counts)
	ovs-ofctl --names dump-flows "$bridge" "udp,tp_dst=4791" | sed -n \
		's/.*n_packets=\([0-9]*\),.*in_port="\{0,1\}\([^", ]*\)"\{0,1\}[, ].*/\2 \1/p'
	;;
down)
	ovs-vsctl del-br "$bridge"
	;;
esac
