#!/bin/sh
# Checks every frame of several runs of the fabric, at each port, with the independent checker; and a damaged capture that the
# checker must reject.
#
#   frames.sh RINGFOLD_SIM FRAMES_PY
set -eu
sim=$1
check="${PYTHON:-python3} -B $2 --quiet --box-ip 10.0.255.254 --box-mac 02:52:46:00:00:10"
dir=$(mktemp -d "${TMPDIR:-/tmp}/ringfold-frames-XXXXXX")
trap 'rm -rf "$dir"' EXIT
trap 'exit 130' INT TERM HUP

run() {
	faults=$1
	shift
	if ! "$sim" "$@" --pcapng "$dir" > "$dir/out"; then
		cat "$dir/out"
		echo "failed: ringfold sim $*"
		exit 1
	fi
	for file in hosts box; do
		[ -f "$dir/$file.pcapng" ] || continue
		$check $faults "$dir/$file.pcapng" || { echo "failed: $file.pcapng of ringfold sim $*"; exit 1; }
	done
}

run "" --size 256K
run "" --ranks 8 --lanes 2 --dtype bf16 --size 70K --vlan --mtu 4096
run "" --ranks 3 --size 1004 --dtype int32 --op min --mtu 256 --iterations 5
run "" --schedule ring-through-box --size 100K
# Without --corrupt: a frame damaged without the MAC noticing may be foreign to the box, which forwards it unchanged.
run --faults --size 256K --loss 1% --dup 1% --reorder 1% --bad-fcs 0.5% --jitter 500ns --seed 3
run --faults --ranks 6 --ports 3 --lanes 2 --dtype fp16 --op max --size 100K --loss 2% --seed 4
run "" --steering mirror --size 100K
run "" --steering mirror --collective all-gather --dtype int64 --size 64K --vlan
run "" --steering mirror --ranks 6 --ports 3 --collective scatter --size 96K --mtu 256
run "" --collective reduce-scatter --dtype uint8 --op xor --size 64K
run --faults --steering mirror --collective broadcast --size 128K --loss 1% --dup 1% --seed 5 --selective
rm -f "$dir"/*.pcapng
run "" --schedule ring --size 100K

for kind in $($check --mutate list "$dir/hosts.pcapng" | awk '{print $1}'); do
	"$sim" --size 64K --pcapng "$dir" > /dev/null
	if $check --mutate "$kind" "$dir/box.pcapng" > /dev/null 2>&1; then
		echo "failed: the checker does not see damage of kind $kind"
		exit 1
	fi
done
echo "all frames right, all damage seen"
