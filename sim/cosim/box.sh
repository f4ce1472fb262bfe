#!/bin/sh
# Builds the Verilated box of one shape as a shared object.
#
#   box.sh p<PORTS>-l<LANES>-w<WIDTH>[-trace|-deep|-wide|-plain] OUTPUT.so VERILOG ...
#
# -trace: able to write waveforms. -deep: memory for two groups of 512 slots at a path MTU of 4096. -wide: 64 groups, as
# rf_shape_wide() in sim/fabric/shape.h. -plain: without every option, types fp32 and int32 alone.
# VERILATOR and CXX (default g++) may be set. The log stays beside the output and is shown when something fails.
set -eu

name=$1
out=$2
shift 2
CXX=${CXX:-g++}
shape=${name%-trace}
trace=
[ "$shape" = "$name" ] || trace=1
deep=
[ "$shape" = "${shape%-deep}" ] || deep=1
shape=${shape%-deep}
wide=
[ "$shape" = "${shape%-wide}" ] || wide=1
shape=${shape%-wide}
plain=
[ "$shape" = "${shape%-plain}" ] || plain=1
shape=${shape%-plain}
ports=${shape%%-*}
ports=${ports#p}
lanes=${shape#*-l}
lanes=${lanes%%-*}
width=${shape##*-w}
case "$ports:$lanes:$width" in
[2-8]:[1-9]:64 | [2-8]:[1-9]:128 | [2-8]:[1-9]:256 | [2-8]:[1-9]:512) ;;
[2-8]:1[0-6]:64 | [2-8]:1[0-6]:128 | [2-8]:1[0-6]:256 | [2-8]:1[0-6]:512) ;;
*)
	echo "box.sh: no such shape: $name" >&2
	exit 2
	;;
esac
case $width in
64) bank=16 ;;
128) bank=15 ;;
256) bank=14 ;;
512) bank=13 ;;
esac
hdr=9
groups=8
hash=8
[ -z "$deep" ] || { bank=$((bank + 3)) hdr=10; }
[ -z "$wide" ] || { bank=$((bank + 1)) hdr=10 groups=64 hash=10; }

root=$(cd "$(dirname "$0")/../.." && pwd)
dir=${out%.so}.dir
log=${out%.so}.log
vroot=${VERILATOR_ROOT:-$(${VERILATOR:-verilator} --getenv VERILATOR_ROOT)}
mkdir -p "$dir"

# Names of the ledger's and the judge's index memories, for tests that move a group ahead.
moves() {
	sed -n 's|^.*VlUnpacked<[A-Z]*Data/[*]\([0-9]*\):0[*]/, *[0-9]*> \(rf_core__DOT__[A-Za-z0-9_]*\);$|\1 \2|p' \
		"$dir/Vbox___024root.h" | while read -r top name; do
		# The uppermost bit, if the word has one bit more than an index (24) or a flag (1): its parity.
		case $top in
		1 | 24) parity=$top ;;
		*) parity=0 ;;
		esac
		place=$(echo "$name" | sed 's/__DOT__g_\(parity\|plain\)__DOT__ram__DOT__mem$/__DOT__mem/')
		case $place in
		*__slice__DOT__nexts__DOT__mem | *__slice__DOT__sents__DOT__mem | *__slice__DOT__unas__DOT__mem) echo "RF_MOVE_CONN($name, $parity)" ;;
		*__lasts__DOT__mem | *__marks__DOT__mem) echo "RF_MOVE_BEFORE($name, $parity)" ;;
		*__far_j__DOT__mem) echo "RF_MOVE_FAR($name, $parity)" ;;
		*__ledger__DOT__issued_q | *__ledger__DOT__*__head_q | *__tails__DOT__tail_q) echo "RF_MOVE_GROUP($name, $parity)" ;;
		*__stored_c__DOT__mem) echo "RF_MOVE_GROUP($name, $parity)" ;;
		*__tails__DOT__limit_q) echo "RF_MOVE_LIMIT($name, $parity)" ;;
		esac
	done > "$dir/box_move.names"
	# Otherwise a renamed memory would be silently missed.
	found=$(grep -c . "$dir/box_move.names")
	# The marks of what is present beyond the next index belong to selective groups.
	expected=$((ports * (7 + lanes - ${plain:-0}) + 4))
	[ "$found" -eq "$expected" ] || { echo "box.sh: $found places of indexes, not $expected" >&2; return 1; }
	cat "$dir/box_move.names"
}

build() {
	${VERILATOR:-verilator} --cc --top-module rf_core --prefix Vbox -Mdir "$dir" -O3 --assert \
		--x-assign unique --x-initial unique ${trace:+--trace-fst} --output-split 20000 \
		+define+RF_CRC_TABLE -GPORTS="$ports" -GLANES="$lanes" -GWIDTH="$width" -GBANK_AW=$bank -GHDR_AW=$hdr \
		-GGROUPS=$groups -GHASH_BITS=$hash \
		${plain:+-GSELECTIVE=0 -GDIRECTED=0 -GLAG=0 -GMIRROR=0 -GPARITY=0 -GTYPES=9} \
		-CFLAGS "-fPIC -fvisibility=hidden" \
		-Irtl/lib -Irtl/net -Irtl/fp -Irtl/reduce -Irtl/control -Irtl/top -Ibuild/gen "$@"
	moves > "$dir/box_move.inc"
	MAKEFLAGS='' make -s -j2 -C "$dir" -f Vbox.mk CXX="$CXX" OPT_FAST="-O2 -fno-semantic-interposition" OPT_SLOW="-O1" OPT_GLOBAL="-O2" \
		Vbox__ALL.a verilated.o verilated_threads.o ${trace:+verilated_fst_c.o}
	$CXX -std=c++17 -O2 -fPIC -fvisibility=hidden -Wall -Wextra \
		-DRF_BOX_PORTS="$ports" -DRF_BOX_LANES="$lanes" -DRF_BOX_WIDTH="$width" -DRF_BOX_BANK_LOG2=$bank -DRF_BOX_HDR_LOG2=$hdr \
		-DRF_BOX_GROUPS=$groups -DRF_BOX_HASH_BITS=$hash \
		${trace:+-DRF_BOX_TRACE} -I"$dir" -I"$root" -I"$root/build/gen" -isystem "$vroot/include" \
		-isystem "$vroot/include/vltstd" -c -o "$dir/box.o" "$root/sim/cosim/box.cpp"
	$CXX -shared -o "$dir/box.so" "$dir/box.o" "$dir/Vbox__ALL.a" "$dir/verilated.o" "$dir/verilated_threads.o" -Wl,-z,defs \
		${trace:+"$dir/verilated_fst_c.o"} -Wl,--version-script="$root/sim/cosim/box.map" -Wl,--gc-sections ${trace:+-lz} -lpthread -latomic
	mv "$dir/box.so" "$out"
}

# A second build waits and then finds the result of the first.
mkdir -p "$(dirname "$out")"
exec 9> "${out%.so}.lock"
flock 9
fresh=1
for source in "$@" "$root"/rtl/*/*.vh "$root"/sim/cosim/box.* "$root"/sim/cosim/box_view.h "$root"/build/gen/sim/cosim/box_gtkw.h "$root/sim/engine.h" "$root"/build/gen/rf_regs.*; do
	[ "$out" -nt "$source" ] || fresh=
done
[ -z "$fresh" ] || exit 0

# Not in the condition of an if: set -e has no effect there.
set +e
(
	set -e
	build "$@"
) > "$log" 2>&1
rc=$?
[ $rc -eq 0 ] || cat "$log" >&2
exit $rc
