#!/bin/bash
# ringfold info: versions, engines, devices, settings with their sources; keys are never shown.
#   tests/e2e/info.sh FOLDER_OF_PROGRAMS
set -u
bin=$1
dir=$(mktemp -d "${TMPDIR:-/tmp}/ringfold-info.XXXXXX") || exit 1
trap 'rm -rf "$dir"' EXIT
for name in $(env | sed -n 's/^\(RF_[A-Z_]*\)=.*/\1/p') RANK WORLD_SIZE MASTER_ADDR; do
	unset "$name"
done
failures=0
# expect CODE TEXT COMMAND...
expect() {
	local want=$1 text=$2
	shift 2
	timeout 20 "$@" > "$dir/out" 2>&1 < /dev/null
	local code=$?
	if [ $code != "$want" ] || ! grep -q -e "$text" "$dir/out"; then
		echo "FAIL  $*: exit code $code instead of $want, or not \"$text\""
		head -50 "$dir/out"
		failures=$((failures + 1))
	fi
}
info=("$bin/ringfold" info)
secret=0123456789abcdef0123456789abcdef

expect 0 "^  ringfold  *[0-9]*\.[0-9]*\.[0-9]*$" "${info[@]}"
expect 0 "^  DPDK  *DPDK 2" "${info[@]}"
expect 0 "^  model  *any shape" "${info[@]}"
expect 0 "RF_MTU  *1024  *default" "${info[@]}"
expect 0 "RF_MTU  *2048  *environment" env RF_MTU=2048 "${info[@]}"
expect 0 "RF_RANK  *1  *RANK" env RANK=1 WORLD_SIZE=2 "${info[@]}"
expect 0 "RF_SIZE  *2  *RANK" env RANK=1 WORLD_SIZE=2 "${info[@]}"
expect 0 "RF_ROOT  *node0  *MASTER_ADDR" env MASTER_ADDR=node0 "${info[@]}"
# the interfaces of its own network namespace, not those that /sys shows
if [ "$(id -u)" = 0 ] && unshare -n ip link add rfinfo9 mtu 1234 type dummy 2> /dev/null; then
	expect 0 "rfinfo9: interface, down, MTU 1234; RF_DEVICE=net_af_packet0,iface=rfinfo9" \
		unshare -n sh -c 'ip link add rfinfo9 mtu 1234 type dummy; "$@"' - "${info[@]}"
	expect 1 "no interface \"rfinfo8\"" \
		unshare -n env RF_DEVICE=net_af_packet0,iface=rfinfo8 RF_RANK=0 RF_SIZE=2 "$bin/ringfold" doctor
else
	echo "the part in a network namespace needs root, iproute2 and namespaces: left out"
fi
mkdir "$dir/engines"
: > "$dir/engines/box-p2-l1-w64-trace.so"
expect 0 "rtl  *2 ports, 1 lanes, 64 bits, writes waveforms: $dir/engines" env RF_ENGINE_DIR="$dir/engines" "${info[@]}"
expect 0 "none found; build one" env RF_ENGINE_DIR="$dir" "${info[@]}"
expect 2 "RANK is set but WORLD_SIZE is not" env RANK=1 "${info[@]}"
expect 2 "RF_MTU  *1024  *default" env RANK=1 "${info[@]}"
expect 2 "takes no argument" "${info[@]}" now

# no key, in whatever form
expect 0 "RF_KEY  *(set; not shown)  *environment" env RF_KEY=$secret "${info[@]}"
for form in "" --json; do
	# shellcheck disable=SC2086
	RF_KEY=$secret RF_KEYS=$secret RF_MTU=1024 "${info[@]}" $form > "$dir/out" 2>&1
	if grep -q $secret "$dir/out"; then
		echo "FAIL  info $form prints a key"
		failures=$((failures + 1))
	fi
done
expect 0 '"source": "environment"' env RF_MTU=2048 "${info[@]}" --json
expect 0 "2048" sh -c "RF_MTU=2048 $bin/ringfold info --json | python3 -c 'import json, sys; print([s[\"value\"] for s in json.load(sys.stdin)[\"settings\"] if s[\"name\"] == \"RF_MTU\"])'"
expect 1 "cannot write the output" sh -c "$bin/ringfold info > /dev/full"

# misspelt settings: info lists them, the library warns
expect 0 "RF_TIMOUT is not a setting; did you mean RF_TIMEOUT?" env RF_TIMOUT=5 "${info[@]}"
expect 0 "^  RF_GLASS is not a setting$" env RF_GLASS=5 "${info[@]}"
expect 0 "warn: RF_TIMOUT is not a setting; did you mean RF_TIMEOUT?" env RF_TIMOUT=5 "$bin/allreduce"
for name in RF_GLASS RF_BIN RF_DATA RF_TIMEOUT RF_ENGINE_DIR; do
	env $name=5 "$bin/allreduce" > "$dir/out" 2>&1
	if grep -q "not a setting" "$dir/out"; then
		echo "FAIL  a warning about $name"
		failures=$((failures + 1))
	fi
done

# the service's file
if [ -x "$bin/ringfoldd" ]; then
	printf '[box]\nip = 10.0.0.9\n[jobs]\nkeys = %s/keys\n' "$dir" > "$dir/f.ini"
	printf '7 %s\n' $secret > "$dir/keys"
	chmod 600 "$dir/keys"
	expect 0 "\[box\] ip  *= 10.0.0.9  ($dir/f.ini)" "${info[@]}" --config "$dir/f.ini"
	expect 0 "\[box\] hold_ms  *= 60000  (default)" "${info[@]}" --config "$dir/f.ini"
	expect 0 "\[jobs\] keys  *= $dir/keys  ($dir/f.ini)" "${info[@]}" --config "$dir/f.ini"
	if grep -q $secret "$dir/out"; then
		echo "FAIL  info --config prints a key"
		failures=$((failures + 1))
	fi
	expect 2 "No such file" "${info[@]}" --config "$dir/nothing.ini"
	expect 2 "f.ini:5: no such key" sh -c "echo glass = 1 >> $dir/f.ini; $bin/ringfold info --config $dir/f.ini"
else
	echo "skipped: the service is not built (libinih, libmicrohttpd)"
fi
[ $failures = 0 ] && echo "info as expected"
[ $failures = 0 ]
