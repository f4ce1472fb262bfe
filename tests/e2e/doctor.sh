#!/bin/bash
# ringfold doctor: a healthy host, and each thing that can be missing.
#   tests/e2e/doctor.sh [model|rtl]
ranks=4
engine=${1:-model}
. "$(dirname "$0")/lib.sh"
port_options=([1]=norule [2]=box=3)
box_start

# doctor RANK [options]: its output goes to $dir/RANK.err
doctor() {
	local r=$1
	shift
	RF_RANK=$r "$bin/ringfold-doctor" "$@" > "$dir/$r.err" 2>&1
}

doctor 0
check "a healthy host" test $? = 0
cat "$dir/0.err"
check "... on port 0" says 0 "port 0 of the box and comes back"
doctor 2 --mtu 4096
check "the rule names another port: that is the one" says 2 "port 3 of the box and comes back"
check "... MTU 4096" says 2 "path MTU 4096"
doctor 1
check "a port without rule" test $? = 1
check "... is named" says 1 "redirect UDP destination port 4791"
check "... and nothing after it is tried" test "$(grep -c '^FAIL' "$dir/1.err")" = 1
doctor 3 --box-ip 10.0.0.9
check "wrong address" says 3 "nobody answers for 10.0.0.9"
doctor 3 --key 00112233445566778899aabbccddeeff
check "wrong key" says 3 "key"
RF_DEVICE= doctor 3
check "no device" says 3 "no device is named"
RF_DEVICE=net_memif0,role=client,id=0,socket=$dir/none.sock,socket-abstract=no doctor 3
check "nobody at the socket" says 3 "socket"
doctor 3 --json
check "JSON" python3 -c "
import json
d = json.load(open('$dir/3.err'))
assert d['ok'] and len(d['findings']) >= 7, d"
"$bin/ringfold-doctor" --mtu 1000 > "$dir/3.err" 2>&1
check "usage" test $? = 2
finish
