#!/bin/bash
# The packages of `make deb` in an empty root: installed, used, and removed without a trace.
#   tests/integrations/packages.sh FOLDER        with the packages; BUILD has the programs of MPI
# The root has Debian's essential packages and what ours depend on, by the machine's own configuration of apt, in mount, process
# and network namespaces of its own. About 1.5 GB below TMPDIR.
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${BUILD:-build}" && pwd)
multiarch=$(gcc -print-multiarch)
failures=0

check() {
	local text=$1
	shift
	[ ! -e "$dir/log" ] || mv "$dir/log" "$dir/said" # of the check before
	if "$@" > "$dir/log" 2>&1; then
		echo "ok    $text"
	else
		echo "FAIL  $text"
		tail -12 "$dir/log" | cut -c1-300
		failures=$((failures + 1))
	fi
}
in_root() {
	env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C DEBIAN_FRONTEND=noninteractive "${set[@]}" \
		timeout -k 5 "$patience" chroot "$root" "$@" < /dev/null
}
set=()
patience=300
# A command in the root whose output must have a line like this
prints() {
	local pattern=$1
	shift
	in_root "$@" > "$dir/printed" 2>&1
	cat "$dir/printed"
	grep -q "$pattern" "$dir/printed"
}
# Every file of the root, and its users; without what dpkg, ldconfig and logs keep.
picture() {
	(cd "$root" && find . -xdev \( -path ./debs -o -path ./t -o -path ./tmp -o -path ./proc -o -path ./sys -o -path ./dev -o -path ./run -o \
		-path ./var/lib/dpkg -o -path ./var/log -o -path ./var/cache \) -prune -o ! -name ld.so.cache ! -name '*.pyc' ! -name __pycache__ \
		! -name 'passwd-' ! -name 'shadow-' ! -name 'group-' ! -name 'gshadow-' -printf '%y %m %u %p %l\n' | sort)
	cat "$root/etc/passwd" "$root/etc/group"
}
# dpkg orders what it configures, but not what has to be configured before another package is unpacked.
install() {
	local try code patience=1200
	for try in 1 2 3; do
		in_root dpkg --force-unsafe-io --skip-same-version --install "$@" > "$dir/install" 2>&1
		code=$?
		# what was skipped may not have been configured yet
		in_root dpkg --force-unsafe-io --configure --pending > "$dir/configure" 2>&1 && [ $code = 0 ] && return 0
	done
	tail -12 "$dir/install"
	return 1
}
# What apt would fetch for these packages, if those in the root were installed.
fetch() {
	local to=$1
	shift
	mkdir -p "$to/partial"
	apt-get -qq -y --no-install-recommends -o Dir::State::status="$root/var/lib/dpkg/status" -o Dir::Cache::archives="$to" \
		-o APT::Sandbox::User=root -o Debug::NoLocking=1 -o APT::Keep-Downloaded-Packages=true --download-only install "$@"
}
stage_fetch() {
	local f
	mkdir -p "$root/var/lib/dpkg/"{info,updates} "$root/usr/"{bin,sbin,lib,lib64} "$root/debs/own" "$root/t"
	for f in bin sbin lib lib64; do ln -s "usr/$f" "$root/$f"; done
	: > "$root/var/lib/dpkg/status"
	check "the essential packages are there" fetch "$root/debs/base" '?essential' base-passwd
	for f in "$root"/debs/base/*.deb; do
		dpkg-deb --fsys-tarfile "$f" | tar -x -C "$root" --keep-directory-symlink
	done
	cp "$packages"/*.deb "$root/debs/own/"
}
stage_base() {
	set=(DPKG_MAINTSCRIPT_DEBUG=)
	check "an empty root" in_root sh -c 'dpkg --force-depends --force-unsafe-io --install /debs/base/base-passwd_*.deb /debs/base/base-files_*.deb /debs/base/libc6_*.deb;
		dpkg --force-depends --force-unsafe-io --install /debs/base/*.deb && dpkg --configure --pending && dpkg --audit'
	set=()
}
own() {
	local n names=()
	for n in "$@"; do names+=("$root/debs/own/$n"_*.deb); done
	printf '%s\n' "${names[@]}"
}
all='libringfold1 libringfold-dpdk libringfold-dev ringfold-tools ringfoldd ringfold-mpi-openmpi ringfold-mpi-mpich python3-ringfold ringfold-doc'

inside() {
	local n mpi box
	mount -t proc proc "$root/proc" && mount --rbind /dev "$root/dev" && mount -t tmpfs tmpfs "$root/tmp" && mount -t tmpfs tmpfs "$root/run"
	mount --rbind /sys "$root/sys"
	ip link set lo up
	[ -e "$root/var/lib/dpkg/info/dpkg.list" ] || stage_base
	[ "${1:-}" != base ] || { [ "$failures" = 0 ]; exit; }

	check "what the library needs" install $(ls -d "$root"/debs/library/*.deb | grep -v /libringfold | sed "s|^$root||")
	check "the library" install $(own libringfold1 libringfold-dev | sed "s|^$root||")
	check "... without a package of DPDK" sh -c "! chroot '$root' dpkg -l | grep -E 'librte|dpdk'"
	cp "$dir/example" "$dir/by_cmake" "$root/t/" 2> /dev/null
	check "... a program by pkg-config runs" prints '^rank 0 of 1: 0 1 ... 999' /t/example
	check "... a program by CMake runs" prints '^rank 0 of 1: 0 1 ... 999' /t/by_cmake
	check "... and are removed" in_root dpkg --purge libringfold-dev libringfold1

	check "what the others need" install $(ls -d "$root"/debs/all/*.deb | sed "s|^$root||" | grep -Ev '/(libringfold|ringfold|python3-ringfold)')
	picture > "$dir/before"
	check "all packages" install $(own $all | sed "s|^$root||")
	check "... with a user for the service" grep -q '^ringfold:' "$root/etc/passwd"
	check "... no library is looked for in a folder of the build" sh -c "! for f in '$root'/usr/bin/ringfold* '$root'/usr/lib/*/libringfold.so.1; do readelf -d \$f; done | grep -E 'RPATH|RUNPATH'"

	cp "$build/mpi/openmpi/mpi_calls" "$root/t/openmpi"
	cp "$build/mpi/mpich/mpi_calls" "$root/t/mpich"
	cp "$here/torch_calls.py" "$root/t/"
	printf '%s\n' 'import numpy, ringfold' 'with ringfold.Context() as context, context.comm() as comm:' \
		'    print(comm.allreduce(numpy.full(1000, comm.rank + 1, numpy.float32))[0])' > "$root/t/sum.py"
	check "ringfold run: the tool for figures" in_root ringfold run -n 2 -- ringfold perf --min 4 --max 64K --iters 2
	check "... by the Verilog" in_root ringfold run -n 2 --engine rtl -- ringfold perf --min 4 --max 4K --iters 1
	check "ringfold run: Python" prints '^.1. 3.0$' ringfold run -n 2 -- python3 /t/sum.py
	check "ringfold run: torch.distributed" in_root ringfold run -n 2 -- python3 /t/torch_calls.py
	set=(RINGFOLD_MPI=1 RINGFOLD_MPI_STATS=1 RF_TIMEOUT=60000 RF_SPIN=0 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
		OMPI_MCA_plm=isolated OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,vader
		RF_DEVICE=net_memif0,role=client,id=0,socket=/tmp/%r.sock,socket-abstract=no)
	chroot "$root" /usr/bin/env -i PATH=/usr/bin ringfold box --hold 0s --port h0=memif:/tmp/0.sock --port h1=memif:/tmp/1.sock \
		> "$dir/box" 2>&1 < /dev/null &
	box=$!
	for _ in $(seq 400); do grep -q ready "$dir/box" && break; sleep 0.05; done
	for mpi in openmpi mpich; do
		check "$mpi" in_root "mpirun.$mpi" $([ $mpi = openmpi ] && echo --oversubscribe || echo -genv LD_PRELOAD "/usr/lib/$multiarch/ringfold/mpi/mpich/libringfold-mpich.so") \
			-n 2 "/t/$mpi"
		check "... its collectives by the box" grep -q "MPI rank 0: allreduce: [1-9][0-9]* by ringfold, .* 0 failed" "$dir/said"
	done
	kill -TERM $box 2> /dev/null
	wait $box
	set=()
	check "the service's configuration is read" prints registers ringfoldd --config /etc/ringfold/ringfoldd.ini --check
	for n in ringfold ringfold-run rf_allreduce; do
		check "a manual page of $n" sh -c "ls '$root'/usr/share/man/man[13]/$n.[13].gz"
	done

	check "all are removed" in_root dpkg --purge $all
	picture > "$dir/after"
	check "... without a trace" diff "$dir/before" "$dir/after"
	check "... nor files of Python" sh -c "! find '$root/usr/lib/python3/dist-packages' -name '*ringfold*' | grep ."
	echo x > "$root/usr/lib/left-over"
	picture > "$dir/after"
	check "a file that is left over is noticed" sh -c "! diff '$dir/before' '$dir/after'"
}

if [ "${1:-}" = --inside ]; then
	dir=$2 root=$2/root packages=$3
	inside "${4:-}"
	[ "$failures" = 0 ]
	exit
fi

[ "$(id -u)" = 0 ] || { echo "needs root, for chroot"; exit 77; }
packages=$(cd "${1:?}" && pwd)
dir=$(mktemp -d "${TMPDIR:-/tmp}/ringfold-packages.XXXXXX") || exit 1
chmod 755 "$dir"
root=$dir/root
trap 'rm -rf "$dir"' EXIT
trap 'exit 130' INT TERM HUP
apart=(unshare --mount --net --pid --fork --kill-child "$BASH" "$0" --inside "$dir" "$packages")
stage_fetch
"${apart[@]}" base || exit 1
check "the library's packages" fetch "$root/debs/library" $(own libringfold1 libringfold-dev)
check "all packages" fetch "$root/debs/all" $(own $all) openmpi-bin mpich python3-torch
# the headers and libraries for programs, on this side
mkdir "$dir/dev"
for f in $(own libringfold1 libringfold-dev); do dpkg-deb -x "$f" "$dir/dev"; done
export PKG_CONFIG_LIBDIR=$dir/dev/usr/lib/$multiarch/pkgconfig PKG_CONFIG_SYSROOT_DIR=$dir/dev
# shellcheck disable=SC2046
check "a program by pkg-config" gcc "$here/../../examples/allreduce.c" $(PKG_CONFIG_ALLOW_SYSTEM_CFLAGS=1 PKG_CONFIG_ALLOW_SYSTEM_LIBS=1 \
	pkg-config --cflags --libs ringfold) -o "$dir/example"
mkdir "$dir/cmake"
printf '%s\n' 'cmake_minimum_required(VERSION 3.13)' 'project(t C)' 'find_package(ringfold 0.2 REQUIRED)' \
	"add_executable(by_cmake $here/../../examples/allreduce.c)" 'target_link_libraries(by_cmake ringfold::ringfold)' \
	'set_target_properties(by_cmake PROPERTIES SKIP_BUILD_RPATH ON)' > "$dir/cmake/CMakeLists.txt"
check "a program by CMake" sh -c "cmake -S '$dir/cmake' -B '$dir/cmake/b' -DCMAKE_PREFIX_PATH='$dir/dev/usr' && cmake --build '$dir/cmake/b' && cp '$dir/cmake/b/by_cmake' '$dir/'"
sed -i 's/ 0.2 REQUIRED/ 0.3 REQUIRED/' "$dir/cmake/CMakeLists.txt"
check "... of another version is refused" sh -c "! cmake -S '$dir/cmake' -B '$dir/cmake/c' -DCMAKE_PREFIX_PATH='$dir/dev/usr'"
"${apart[@]}" || failures=$((failures + 1))
[ "$failures" = 0 ]
