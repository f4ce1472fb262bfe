#!/bin/bash
# The library without DPDK: nothing of it is linked except by the plug-in, programs run, and a request for a DPDK
# device names the cause and the remedy.
#
# A file that is not a library hides librte_eal.so, so loading the plug-in fails. Copies of the library without a
# plug-in, and with one of another version, show the other two errors.
ranks=2
. "$(dirname "$0")/lib.sh"
lib=${BUILD:-build}/lib

links_none() {
	for f in "$@"; do
		! readelf -d "$f" | grep 'NEEDED.*librte_' || return 1
		! ldd "$f" | grep 'librte_' || return 1
	done
}
programs=()
for p in "$bin"/*; do
	if readelf -h "$p" > /dev/null 2>&1; then programs+=("$p"); fi
done
check "nothing of DPDK is linked with library and programs" links_none "$lib/libringfold.so" "${programs[@]}"
check "... and the check sees what is linked with the plug-in" eval '! links_none "$lib/ringfold/io_dpdk.so" > /dev/null'

# try_device LIBRARY_PATH: two ranks ask for a DPDK device
try_device() {
	LD_LIBRARY_PATH=$1 RF_DEVICE=net_memif0,role=client,id=%r,socket=$dir/none,socket-abstract=no \
		all "$bin/ringfold-perf" --max 4K --iters 1
}
says() {
	grep -q -- "$1" "$dir/0.err" || { cat "$dir/0.err"; return 1; }
}

mkdir "$dir/hidden" "$dir/bare" "$dir/other" "$dir/other/ringfold"
eal=$(ldd "$lib/ringfold/io_dpdk.so" | sed -n 's/^[[:space:]]*\(librte_eal\.so[^ ]*\).*/\1/p')
: > "$dir/hidden/$eal"
try_device "$dir/hidden"
check "DPDK's libraries are missing: an error" codes_are 1
check "... that names the library" says "$eal"
check "... and the remedy" says 'install DPDK (on Debian: libdpdk-dev)'
LD_LIBRARY_PATH=$dir/hidden RF_SIZE=1 RF_RANK=0 RF_DEVICE='' "$bin/ringfold-perf" --max 4K --iters 1 > "$dir/0.out" 2> "$dir/0.err"
check "a rank alone needs no DPDK" test $? = 0
LD_LIBRARY_PATH=$dir/hidden RF_DEVICE=verbs:nosuch all "$bin/ringfold-perf" --max 4K --iters 1
check "verbs needs no DPDK: its error is about verbs" eval 'codes_are 1 && ! grep -q DPDK "$dir/0.err"'
LD_LIBRARY_PATH=$dir/hidden "$bin/ringfold-ctl" status --box-ip 10.0.0.254 --device net_null0 > "$dir/0.out" 2> "$dir/0.err"
check "a tool without DPDK: exit code 1" test $? = 1
check "... and the same words" says 'install DPDK (on Debian: libdpdk-dev)'

cp "$lib/libringfold.so.1" "$dir/bare/"
try_device "$dir/bare"
check "no plug-in: an error" codes_are 1
check "... that names its place" says "$dir/bare/ringfold/io_dpdk.so, is missing"
check "... and the remedy" says 'install libdpdk-dev, build ringfold again'

cp "$lib/libringfold.so.1" "$dir/other/"
printf 'unsigned int rf_io_dpdk_plugin[8] = {0x7f0000u};\n' > "$dir/other.c"
${CC:-cc} -shared -fPIC -o "$dir/other/ringfold/io_dpdk.so" "$dir/other.c"
try_device "$dir/other"
check "a plug-in of another version: an error" codes_are 1
check "... that says so" says 'is of another version of ringfold: install library and plug-in from one build'

# The plug-in beside a library that was moved.
mkdir -p "$dir/moved/ringfold"
cp "$lib/libringfold.so.1" "$dir/moved/"
cp "$lib/ringfold/io_dpdk.so" "$dir/moved/ringfold/"
box_start
RF_DEBUG=info LD_LIBRARY_PATH=$dir/moved all "$bin/ringfold-perf" --max 64K --iters 2
check "library and plug-in in another folder: two ranks by DPDK" codes_are 0
check "... which is logged" says '^ringfold: .* info: DPDK, net_memif0'
finish
