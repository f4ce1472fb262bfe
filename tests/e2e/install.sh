#!/bin/bash
# make install into an empty folder; the example builds with pkg-config against it and runs.
set -u
dir=$(mktemp -d "${TMPDIR:-/tmp}/ringfold-install.XXXXXX") || exit 1
trap 'rm -rf "$dir"' EXIT
fail() {
	echo "FAIL  $*"
	exit 1
}
root=$(cd "$(dirname "$0")/../.." && pwd)
${MAKE:-make} -s -C "$root" install-files DESTDIR="$dir" PREFIX=/opt/rf > "$dir/log" 2>&1 || { cat "$dir/log"; fail install; }
place=$dir/opt/rf
for f in include/ringfold/ringfold.h lib/libringfold.so lib/libringfold.so.1 lib/ringfold/io_dpdk.so lib/pkgconfig/ringfold.pc \
	lib/cmake/ringfold/ringfold-config.cmake lib/cmake/ringfold/ringfold-config-version.cmake \
	bin/ringfold bin/ringfold-perf bin/ringfold-box share/man/man1/ringfold-run.1 share/man/man3/rf_allreduce.3 \
	share/bash-completion/completions/ringfold share/ringfold/ringfold.lua share/ringfold/switch/linux-bridge.sh \
	share/doc/ringfold/README.md share/doc/ringfold/docs/api.md share/doc/ringfold/docs/pictures/rack.svg \
	share/doc/ringfold/examples/allreduce.c share/ringfold/python/ringfold/_declared.py \
	lib/ringfold/mpi/openmpi/mca_coll_ringfold.so lib/ringfold/mpi/mpich/libringfold-mpich.so; do
	[ -e "$place/$f" ] || fail "$f is missing"
done
# programs for users, but none for developers of this tree
want=$(printf 'ringfold\n'; printf 'ringfold-%s\n' box check ctl doctor gen info osu perf run sim top)
have=$(find "$place/bin" -mindepth 1 ! -name ringfold-plan ! -name ringfold-rv32 ! -name ringfoldd -printf '%f\n' | sort)
[ "$have" = "$want" ] || fail "installed programs: $have"
# Verilated boxes: every shape that was built is installed and found; another one where RF_ENGINE_DIR says
sim=("$place/bin/ringfold" sim --engine rtl --ranks 2 --ports 2 --width 64 --size 4K)
"${sim[@]}" --wave "$dir/box.fst" > "$dir/log" 2>&1 || { cat "$dir/log"; fail "waves after an installation"; }
grep -q "to see the waveform: gtkwave" "$dir/log" || fail "the command for GTKWave"
mv "$place/lib/ringfold/box-p2-l1-w64-trace.so" "$dir/"
"${sim[@]}" --wave "$dir/box.fst" > "$dir/log" 2>&1 && fail "a box of a shape that is not there"
grep -q "make build/vl/box-p2-l1-w64-trace.so.*RF_ENGINE_DIR" "$dir/log" || fail "what to do about a missing shape: $(cat "$dir/log")"
RF_ENGINE_DIR=$dir "${sim[@]}" --wave "$dir/box.fst" > "$dir/log" 2>&1 || { cat "$dir/log"; fail "RF_ENGINE_DIR"; }
rm -rf "$dir"/box.fst*
# a man page for every program and every function, without a warning
for f in "$place"/bin/*; do
	f=${f##*/}
	[ "$f" = ringfold-rv32 ] || [ -s "$place/share/man/man1/$f.1" ] || fail "$f has no man page"
done
for f in $(cat "$place"/include/ringfold/*.h | grep -o '\brf_[a-z_]*(' | tr -d '(' | sort -u); do
	[ -s "$place/share/man/man3/$f.3" ] || fail "$f has no man page"
done
if command -v man > /dev/null; then
	MANPATH=$place/share/man man -w ringfold-run rf_allreduce > /dev/null || fail "man does not find the pages"
fi
# links in the installed documentation lead to installed files
for f in "$place"/share/doc/ringfold/README.md; do
	for link in $(grep -o '](\(docs\|LICENSE\)[^)#]*' "$f" | cut -c3-); do
		[ -e "$place/share/doc/ringfold/$link" ] || fail "$f: $link is missing"
	done
done
# ldconfig runs only for an installation into the system; no warning about jobs
run() {
	env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL "${MAKE:-make}" -C "$root" "$@" 2>&1
}
run -n install-files PREFIX=/opt/rf | grep -q ldconfig || fail "ldconfig is not run"
! run -n install-files DESTDIR="$dir" | grep -q ldconfig || fail "ldconfig is run with DESTDIR"
! run -n install DESTDIR="$dir" | grep -i 'forced' || fail "make warns about jobs"
[ "$(find "$place/include" -type f -printf '%f\n' | sort | xargs)" = "calls.h memory.h ringfold.h" ] || fail "other headers than the public ones are installed"
export PKG_CONFIG_PATH=$place/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$dir
cd "$dir" || exit 1
# shellcheck disable=SC2046
gcc -std=c99 -Wall -Wextra -Wpedantic -Werror "$root/examples/allreduce.c" \
	$(pkg-config --cflags --libs ringfold) -o example || fail "the example does not build"
LD_LIBRARY_PATH=$place/lib ./example > out || fail "the example does not run"
grep -q '^rank 0 of 1: 0 1 ... 999$' out || fail "its output: $(cat out)"
readelf -d example | grep -q 'NEEDED.*libringfold.so.1' || fail "the example does not need libringfold.so.1"
# ... and finds it through an rpath, as described in docs/api.md
# shellcheck disable=SC2046
gcc "$root/examples/allreduce.c" $(pkg-config --cflags --libs ringfold) \
	"-Wl,-rpath,$dir$(pkg-config --variable=libdir ringfold | sed "s|^$dir||")" -o alone || fail "with rpath"
env -u LD_LIBRARY_PATH ./alone > out || fail "the example with rpath does not run"
# ... by CMake, too, if it is there (`make deb-test` needs it); of another version it is refused
if command -v cmake > /dev/null; then
	mkdir by_cmake
	printf '%s\n' 'cmake_minimum_required(VERSION 3.13)' 'project(t C)' 'find_package(ringfold ${WANTED} REQUIRED)' \
		"add_executable(t $root/examples/allreduce.c)" 'target_link_libraries(t ringfold::ringfold)' > by_cmake/CMakeLists.txt
	(cmake -S by_cmake -B by_cmake/b -DWANTED=0.2 -DCMAKE_PREFIX_PATH="$place" && cmake --build by_cmake/b) > log 2>&1 || { cat log; fail CMake; }
	env -u LD_LIBRARY_PATH by_cmake/b/t | grep -q '^rank 0 of 1: 0 1 ... 999$' || fail "the example by CMake does not run"
	! cmake -S by_cmake -B by_cmake/c -DWANTED=0.9 -DCMAKE_PREFIX_PATH="$place" > log 2>&1 || fail "CMake takes another version"
fi
# the header is C++ as well
printf '#include <ringfold/ringfold.h>\nint main() { return rf_version()[0] != 48; }\n' > t.cpp
# shellcheck disable=SC2046
g++ -Wall -Wextra -Werror t.cpp $(pkg-config --cflags --libs ringfold) -o t || fail "C++"
LD_LIBRARY_PATH=$place/lib ./t || fail "C++ program"
# exactly the interface is visible
nm -D --defined-only "$place/lib/libringfold.so.1" | sed -n 's/.* T \(.*\)@@.*/\1/p' | sort > have
cat "$place"/include/ringfold/*.h | grep -o '\brf_[a-z_]*(' | tr -d '(' | sort -u > named
sed -n 's/^[a-z].* \**\(rf_[a-z_]*\)(.*/\1/p' "$place"/include/ringfold/*.h | sort -u > want
diff want have || fail "symbols differ from the header"
"$place/bin/ringfold-perf" --min 4 --max 4K --iters 1 | grep -q 'wrong elements: 0' || fail "installed ringfold perf"
# the installed plug-in is found: DPDK itself refuses the device
"$place/bin/ringfold-ctl" status --box-ip 10.0.0.254 --device net_nosuch0 2> log
grep -q 'DPDK cannot open the device' log || fail "the plug-in for DPDK: $(cat log)"
touch "$place/lib/ringfold/mine"
${MAKE:-make} -s -C "$root" uninstall DESTDIR="$dir" PREFIX=/opt/rf || fail uninstall
left=$(find "$place" ! -type d ! -name ringfoldd.ini)
[ "$left" = "$place/lib/ringfold/mine" ] || fail "make uninstall leaves: $left"
[ ! -d "$place/include/ringfold" ] || fail "make uninstall leaves its folder"
# a folder of a user, with nothing outside of it; the library in another one
${MAKE:-make} -s -C "$root" install-files PREFIX="$dir/user" LIBDIR="$dir/user/lib64" > log 2>&1 || { cat log; fail "PREFIX of a user"; }
[ -e "$dir/user/lib64/libringfold.so" ] || fail "LIBDIR"
[ ! -e "$dir/user/bin/ringfoldd" ] || [ -e "$dir/user/etc/ringfold/ringfoldd.ini" ] || fail "SYSCONFDIR"
[ ! -e "$dir/user/bin/ringfoldd" ] || grep -q "$dir/user/etc/ringfold/ringfoldd.ini" "$dir/user/lib/systemd/system/ringfoldd.service" || fail "the unit"
if [ -e "$dir/user/bin/ringfoldd" ] && command -v systemd-analyze > /dev/null; then
	systemd-analyze verify --man=no "$dir/user/lib/systemd/system/ringfoldd.service" > log 2>&1 || { cat log; fail "the unit's settings"; }
	! grep ringfoldd.service log || fail "the unit's settings"
	score=$(systemd-analyze security --offline=true "$dir/user/lib/systemd/system/ringfoldd.service" 2> /dev/null | sed -n 's/.*exposure level for .*: \([0-9]*\)\..*/\1/p')
	[ "$score" -le 2 ] || fail "the unit's sandbox: systemd-analyze rates it $score (0 is closed, 10 open)"
fi
[ "$(env -u PKG_CONFIG_SYSROOT_DIR PKG_CONFIG_PATH="$dir/user/lib64/pkgconfig" pkg-config --variable=libdir ringfold)" = "$dir/user/lib64" ] || fail "libdir"
${MAKE:-make} -s -C "$root" uninstall PREFIX="$dir/user" LIBDIR="$dir/user/lib64" > log 2>&1 || { cat log; fail "uninstall of a user"; }
left=$(find "$dir/user" ! -type d ! -name ringfoldd.ini)
[ -z "$left" ] || fail "make uninstall of a user leaves: $left"
echo "ok"
