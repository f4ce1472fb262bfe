#!/bin/sh
# Generated traffic through the real-time box, in open loop or within the slots of a directed group: checks every bit of the results and every counter of the box.
#
#   tests/e2e/traffic.sh testpmd|pcap rtl|model|soft INDEXES [gen option ...]
#
# testpmd: dpdk-testpmd plays the files (net_pcap) into the box's switch ports (net_memif) and writes the frames it receives.
# pcap:    the switch ports play the files themselves.
# INDEXES packets of each rank; must be a multiple of 64; with --directed as many calls as that divided by 64. With
# --steering mirror the switch has no rule. LANES=N of the box. KEEP=1 keeps the files.
# Skipped (77) where testpmd is not installed.
set -eu
generator=$1
engine=$2
indexes=$3
shift 3
cd "$(dirname "$0")/../.."
bin=${BUILD:-build}/bin
ports=4

work=$(mktemp -d "${TMPDIR:-/tmp}/ringfold-traffic.XXXXXX")
pids=
# Ends only processes started here.
finish() {
	for pid in $pids; do
		kill "$pid" 2> /dev/null || true
	done
	for pid in $pids; do
		wait "$pid" 2> /dev/null || true
	done
	if [ -n "${KEEP:-}" ]; then echo "files are in $work"; else rm -rf "$work"; fi
}
trap finish EXIT
trap 'exit 1' INT TERM

fail() {
	echo "$*"
	tail -n 20 "$work/box.log"
	[ "$generator" = testpmd ] && tail -n 30 "$work/testpmd.log"
	exit 1
}

# wait_for SECONDS COMMAND...
wait_for() {
	left=$(($1 * 10))
	shift
	while ! "$@"; do
		left=$((left - 1))
		[ "$left" -gt 0 ] || return 1
		sleep 0.1
	done
}

if [ "$generator" = testpmd ] && ! command -v dpdk-testpmd > /dev/null; then
	echo "skipped: dpdk-testpmd is not installed (package dpdk-dev)"
	exit 77
fi

options=" $* "
$bin/ringfold-gen --out "$work" --ports $ports --size 64K --messages $((indexes / 64)) "$@"

set --
rule=,rule
case "$options" in
*" --steering mirror "*) rule= ;;
esac
for p in 0 1 2 3; do
	if [ "$generator" = testpmd ]; then
		set -- "$@" --port "g$p=memif:$work/$p.sock,box=$p,paced$rule"
	else
		set -- "$@" --port "g$p=pcap:$work/port$p.pcap,out=$work/out$p.pcap,box=$p$rule"
	fi
done
$bin/ringfold-box --engine "$engine" --box-ports $ports --lanes "${LANES:-1}" "$@" --port "ctl=memif:$work/ctl.sock,box=0$rule" \
	--wait-groups 1 --hold 0s --json --pcapng "$work/seen" > "$work/box.json" 2> "$work/box.log" &
box=$!
pids=$box
wait_for 30 grep -qs ready "$work/box.log" || fail "the box did not start"

if [ "$generator" = testpmd ]; then
	set --
	for p in 0 1 2 3; do
		set -- "$@" --vdev "net_pcap$p,rx_pcap=$work/port$p.pcap,tx_pcap=$work/out$p.pcap" \
			--vdev "net_memif$p,role=client,id=0,socket=$work/$p.sock,socket-abstract=no,bsize=8192"
	done
	# It may start at once: the box's ports accept nothing until the group is ready.
	# Retry: a full ring holds the generator back; nothing is dropped.
	cat > "$work/commands" <<-END
		set fwd io retry
		set burst tx delay 100 retry 1000000
		start
	END
	mkfifo "$work/stdin"
	dpdk-testpmd --no-huge --no-pci --no-shconf --no-telemetry -m 256 --file-prefix "rf$$" -l 0,1 "$@" -- \
		--cmdline-file="$work/commands" --port-topology=paired --no-flush-rx --total-num-mbufs=16384 -i < "$work/stdin" \
		> "$work/testpmd.log" 2>&1 &
	pids="$pids $!"
	exec 7> "$work/stdin"
	wait_for 30 grep -q 'testpmd>' "$work/testpmd.log" || fail "testpmd did not start"
fi

export RF_DEVICE="net_memif0,role=client,id=0,socket=$work/ctl.sock,socket-abstract=no"
start=$(date +%s%N)
$bin/ringfold-ctl join --traffic "$work" --timeout 20s || fail "the ranks did not become ready"
$bin/ringfold-ctl wait --traffic "$work" --timeout 20s || fail "not complete"
took=$((($(date +%s%N) - start) / 1000000))
if [ "$generator" = testpmd ]; then
	sleep 0.5 # frames that have left the box must still pass the switch and the generator
	printf 'stop\nquit\n' >&7
	exec 7>&-
	wait "${pids#* }" || fail "testpmd ended with an error"
fi
kill -INT "$box"
wait "$box" || fail "the box failed"
pids=

rc=0
$bin/ringfold-check --traffic "$work" --box "$work/box.json" "$work"/out*.pcap || rc=$?
[ $rc -eq 0 ] || fail "exit code $rc of ringfold check"
echo "$indexes packets from each rank in $took ms"

# Captures of both directions hold what the generator sent, too; only what came back is checked.
if command -v mergecap > /dev/null; then
	for p in 0 1 2 3; do
		mergecap -a -F pcap -w "$work/both$p.pcap" "$work/port$p.pcap" "$work/out$p.pcap"
	done
	$bin/ringfold-check --traffic "$work" "$work"/both*.pcap > "$work/both" || fail "captures of both directions: $(cat "$work/both")"
	grep -q 'frames were sent at the ports themselves' "$work/both" || fail "own frames are not counted"
else
	echo "skipped: captures of both directions (no mergecap)"
fi

# The results once more, from the captures alone.
case "$options" in
*" --directed "*)
	${PYTHON:-python3} -B tests/check/sums.py --plan "$work/traffic.json" "$work"/port*.pcap "$work"/out*.pcap || fail "sums.py"
	;;
esac

# Every frame at the box is checked by a program that shares no code with it: gen damages incoming frames on request.
case "$options" in
*" --faults "*) judged="--faults $work/seen/box.pcapng" ;;
*) judged="$work/seen/box.pcapng $work/seen/hosts.pcapng" ;;
esac
# Foreign packets have PSNs in random order.
case "$options" in
*" --foreign "*) judged="--foreign $judged" ;;
esac
frames="${PYTHON:-python3} -B tests/check/frames.py --ends 20000 --box-mac 02:52:46:00:00:10 --box-ip 10.0.0.254"
# shellcheck disable=SC2086 # words
$frames $judged || fail "a frame is wrong"
# shellcheck disable=SC2086
if $frames --quiet --mutate icrc $judged > /dev/null 2>&1; then fail "a damaged frame was not detected"; fi

# Nothing may have been lost between a device and the box either, and no held generator may have been released early.
# (The box announces the addresses of its ports when it starts, before a generator has connected.)
python3 - "$work" "${addresses:+$ports}" <<'END'
import json, sys
work = sys.argv[1]
early = int(sys.argv[2] or 0)
box = json.load(open(work + "/box.json"))
for port in box["switch"]:
    if port["name"] != "ctl" and (port["lost"] > early or port["released"]):
        sys.exit("switch port %(name)s: %(lost)d lost, released %(released)d times" % port)

# Both comparisons must be able to fail: one bit of the expected sums, one count of the box.
with open(work + "/expected.bin", "r+b") as f:
    f.seek(12345)
    byte = f.read(1)[0]
    f.seek(12345)
    f.write(bytes([byte ^ 0x10]))
box["box"][2]["gap"] += 1
json.dump(box, open(work + "/wrong.json", "w"))
END
rc=0
$bin/ringfold-check --traffic "$work" "$work"/out*.pcap > /dev/null 2>&1 || rc=$?
[ $rc -eq 3 ] || fail "one flipped bit was not detected (exit code $rc, expected 3)"
rc=0
sed '0,/"no_room": 0/s//"no_room": 7/' "$work/box.json" > "$work/early.json"
$bin/ringfold-check --traffic "$work" --box "$work/early.json" "$work"/out*.pcap 2>&1 | grep -q '7 packets came when the box had no free slot.*"paced"' ||
	fail "no cause for generators that are not paced"
$bin/ringfold-check --traffic "$work" --box "$work/wrong.json" "$work"/out*.pcap 2>&1 | grep -q 'counter gap is 1, must be 0' ||
	fail "a wrong counter was not detected"
