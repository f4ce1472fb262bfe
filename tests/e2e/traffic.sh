#!/bin/sh
# Generated traffic through the real-time box in open loop, and every bit of what comes back.
#
#   tests/e2e/traffic.sh testpmd|pcap rtl|model INDEXES [gen option ...]
#
# testpmd: dpdk-testpmd plays the files (net_pcap) into the box's switch ports (net_memif) and writes what comes back.
# pcap:    the switch ports play the files themselves.
# INDEXES packets of each rank; it has to be a multiple of 64. Skipped (77) where testpmd is not installed.
set -eu
generator=$1
engine=$2
indexes=$3
shift 3
cd "$(dirname "$0")/../.."
bin=build/bin
ports=4

work=$(mktemp -d)
pids=
# Ends only what was started here.
finish() {
	for pid in $pids; do
		kill "$pid" 2>/dev/null || true
	done
	for pid in $pids; do
		wait "$pid" 2>/dev/null || true
	done
	[ -n "${KEEP:-}" ] && echo "files are in $work" || rm -rf "$work"
}
trap finish EXIT
trap 'exit 1' INT TERM

# wait_for SECONDS COMMAND...
wait_for() {
	left=$(($1 * 5))
	shift
	while ! "$@"; do
		left=$((left - 1))
		[ "$left" -gt 0 ] || return 1
		sleep 0.2
	done
}

if [ "$generator" = testpmd ] && ! command -v dpdk-testpmd > /dev/null; then
	echo "skipped: dpdk-testpmd is not installed (package dpdk)"
	exit 77
fi

$bin/ringfold gen --out "$work" --ports $ports --size 64K --messages $((indexes / 64)) "$@"

set --
for p in 0 1 2 3; do
	if [ "$generator" = testpmd ]; then
		set -- "$@" --port "g$p=memif:$work/$p.sock,box=$p,paced"
	else
		set -- "$@" --port "g$p=pcap:$work/port$p.pcap,out=$work/out$p.pcap,box=$p"
	fi
done
$bin/ringfold box --engine "$engine" --box-ports $ports --lanes "${LANES:-1}" "$@" --port "ctl=memif:$work/ctl.sock,box=0" \
	--wait-groups 1 --hold 0s --json > "$work/box.json" 2> "$work/box.log" &
box=$!
pids=$box
if ! wait_for 30 test -S "$work/ctl.sock"; then
	cat "$work/box.log"
	echo "the box did not start"
	exit 1
fi

$bin/ringfold ctl join --device "net_memif0,role=client,id=0,socket=$work/ctl.sock,socket-abstract=no" --traffic "$work" \
	--timeout 20s

if [ "$generator" = testpmd ]; then
	set --
	for p in 0 1 2 3; do
		set -- "$@" --vdev "net_pcap$p,rx_pcap=$work/port$p.pcap,tx_pcap=$work/out$p.pcap" \
			--vdev "net_memif$p,role=client,id=0,socket=$work/$p.sock,socket-abstract=no,bsize=2048"
	done
	# Retry: a full ring holds the generator back; nothing is thrown away.
	cat > "$work/commands" <<-END
		set fwd io retry
		set burst tx delay 100 retry 1000000
		start
	END
	mkfifo "$work/stdin"
	dpdk-testpmd --no-huge --no-pci --no-shconf --no-telemetry -m 256 --file-prefix "rf$$" -l 0,1 "$@" -- \
		--cmdline-file="$work/commands" --port-topology=paired --total-num-mbufs=16384 -i < "$work/stdin" \
		> "$work/testpmd.log" 2>&1 &
	pids="$pids $!"
	exec 7> "$work/stdin"
fi

complete() {
	kill -0 "$box" 2>/dev/null || return 0
	$bin/ringfold check --traffic "$work" "$work"/out*.pcap > /dev/null 2>&1
}
wait_for "${SECONDS_MAX:-120}" complete || echo "not complete in time"
if [ "$generator" = testpmd ]; then
	echo 'stop
quit' >&7
	exec 7>&-
fi
kill "$box"
wait "$box" || { cat "$work/box.log"; echo "the box failed"; exit 1; }
pids=

rc=0
$bin/ringfold check --traffic "$work" "$work"/out*.pcap || rc=$?
if [ $rc -ne 0 ]; then
	cat "$work/box.log" "$work/box.json"
	[ "$generator" = testpmd ] && tail -40 "$work/testpmd.log"
	exit 1
fi

# The comparison must be able to fail: one bit of the expected sums is flipped.
python3 - "$work/expected.bin" <<'END'
import sys
with open(sys.argv[1], "r+b") as f:
    f.seek(12345)
    byte = f.read(1)[0]
    f.seek(12345)
    f.write(bytes([byte ^ 0x10]))
END
rc=0
$bin/ringfold check --traffic "$work" "$work"/out*.pcap > /dev/null 2>&1 || rc=$?
if [ $rc -ne 3 ]; then
	echo "one flipped bit was not noticed (exit code $rc, expected 3)"
	exit 1
fi
