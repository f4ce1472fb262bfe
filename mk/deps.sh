#!/bin/sh
# Installs the Debian 12 packages that a target needs and this machine lacks; silent if all are installed.
#
#   mk/deps.sh build | demo | test | interop | integrations | packages | dev [--list | --check]
#
#   build  build everything
#   demo   build, and run the demo with the firmware's image for RISC-V
#   test   demo, and what `make test` needs
#   interop test, and what `make interop` needs
#   integrations test, and what `make integrations` needs
#   packages integrations, and what `make deb` and `make deb-test` need
#   dev    test, and what lint, formal, synth, gate and bench need
#   --list print the package names, install nothing
#   --check print the command that installs missing packages, exit 1; does nothing on systems other than Debian
#
# Why each package is needed: docs/dependencies.md. Without root it prints the command to run and exits 1, as with --check.
set -eu

build='gcc g++ make libc6-dev pkg-config python3 verilator zlib1g-dev libdpdk-dev libpcap-dev libjansson-dev libisal-dev libnuma-dev coinor-libclp-dev libmicrohttpd-dev'
demo='libunicorn-dev clang lld'
test='libcmocka-dev python3-cffi python3-numpy mypy libopenmpi-dev mpich libmpich-dev spin libinih-dev openmpi-bin iproute2 dpdk-dev valgrind yosys iverilog tshark procps graphviz groff-base kmod qemu-system-x86 busybox-static ibverbs-utils rdmacm-utils perftest librdmacm-dev nftables libsimgrid-dev chromium gtkwave xvfb xauth'
interop='openvswitch-switch'
integrations='python3-torch python3-mpi4py gfortran hpcc'
packages='debhelper dh-python fakeroot lintian cmake'
dev='clang-format libclang-rt-14-dev llvm z3 nextpnr-ice40'

case "${1:-}" in
build) wanted=$build ;;
demo) wanted="$build $demo" ;;
test) wanted="$build $demo $test" ;;
interop) wanted="$build $demo $test $interop" ;;
integrations) wanted="$build $demo $test $integrations" ;;
packages) wanted="$build $demo $test $integrations $packages" ;;
dev) wanted="$build $demo $test $dev" ;;
*)
	sed -n '2,16s/^# \{0,1\}//p' "$0" >&2
	exit 2
	;;
esac
if [ "${2:-}" = --list ]; then
	echo "$wanted"
	exit 0
fi
[ "${2:-}" != --check ] || command -v dpkg-query > /dev/null || exit 0

installed=$(dpkg-query -W -f '${db:Status-Abbrev}${Package}\n' 2>/dev/null | sed -n 's/^ii *//p')
missing=
for package in $wanted; do
	case "
$installed
" in
	*"
$package
"*) ;;
	*) missing="$missing $package" ;;
	esac
done
[ -n "$missing" ] || exit 0

if [ "${2:-}" = --check ] || [ "$(id -u)" -ne 0 ]; then
	echo "ringfold needs packages that are not installed. As root:" >&2
	echo "  apt-get update && apt-get install -y --no-install-recommends$missing" >&2
	exit 1
fi
echo "installing:$missing" >&2
export DEBIAN_FRONTEND=noninteractive
apt-get -qq update >&2
apt-get -qq install -y --no-install-recommends $missing > /dev/null 2>&1 ||
	apt-get install -y --no-install-recommends $missing >&2
