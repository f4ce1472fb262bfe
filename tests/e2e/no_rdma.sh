#!/bin/bash
# The library without rdma-core: nothing of it is linked, DPDK works, and a request for verbs fails with the reason.
#
# A file that is not a library hides libibverbs.so.1, so loading it by name fails. DPDK's own drivers that
# need rdma-core are hidden by a mount in a namespace of this test (root; otherwise all ranks have no network device).
ranks=2
hide_drivers() {
	local from=$1 to=$2 f
	for f in "$from"/*.so*; do
		ldd "$f" 2> /dev/null | grep -qE 'ibverbs|rdmacm' || cp -P "$f" "$to/"
	done
	mount --bind "$to" "$from"
}
drivers=$(ls -d /usr/lib/*/dpdk/pmds-* 2> /dev/null | head -n 1)
if [ -z "${RF_NO_RDMA_INSIDE:-}" ] && [ -n "$drivers" ] && unshare --mount true 2> /dev/null; then
	RF_NO_RDMA_INSIDE=1 exec unshare --mount "$0" "$@"
fi
. "$(dirname "$0")/lib.sh"

links_none() {
	! readelf -d "$@" | grep -E 'NEEDED.*(ibverbs|rdmacm)'
}

if [ -n "${RF_NO_RDMA_INSIDE:-}" ]; then
	mkdir "$dir/drivers"
	mount -t tmpfs -o mode=755 none "$dir/drivers" && hide_drivers "$drivers" "$dir/drivers"
	trap 'umount "$drivers" "$dir/drivers"; cleanup' EXIT
fi
mkdir "$dir/hidden"
: > "$dir/hidden/libibverbs.so.1"
: > "$dir/hidden/librdmacm.so.1"
export LD_LIBRARY_PATH=$dir/hidden${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
check "nothing of rdma-core is linked" links_none "${BUILD:-build}"/lib/libringfold.so "$bin/ringfold-perf"

box_start
if [ -n "${RF_NO_RDMA_INSIDE:-}" ]; then
	RF_DEBUG=info all "$bin/ringfold-perf" --max 64K --iters 2
	check "two ranks by DPDK" codes_are 0
	check "... which is logged" grep -q '^ringfold: .* info: DPDK, net_memif0' "$dir/0.err"
fi

# neither device nor back end is given
RF_DEVICE='' RF_SIZE=1 RF_RANK=0 "$bin/ringfold-perf" --max 4K --iters 1 > "$dir/0.out" 2> "$dir/0.err"
check "a rank alone, which needs no device" test $? = 0
RF_DEVICE='' all "$bin/ringfold-perf" --max 4K --iters 1
check "two ranks and no device: an error" codes_are 1
check "... that names the missing setting" grep -q 'RF_DEVICE' "$dir/0.err"
for device in verbs verbs:mlx5_0; do
	RF_DEVICE=$device all "$bin/ringfold-perf" --max 4K --iters 1
	check "RF_DEVICE=$device: an error" codes_are 1
	check "... that names the library" grep -q 'libibverbs.so.1' "$dir/0.err"
done
RF_DEVICE='' RF_BACKEND=verbs all "$bin/ringfold-perf" --max 4K --iters 1
check "RF_BACKEND=verbs: an error" codes_are 1
check "... that names the library" grep -q 'libibverbs.so.1' "$dir/0.err"
finish
