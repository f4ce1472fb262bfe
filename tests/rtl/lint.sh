#!/bin/sh
# Lints Verilog: every module of rtl/rf.f as a top of its own, in Verilator, Icarus and Yosys, and by declared.py, which
# finds what these accept: a name used above its declaration, a file without `default_nettype none. The box is linted with 64
# groups, too, and with six ports and every option off. Any message is a failure; there are no waivers.
#
#   lint.sh [FILE ...]           only these files (each must hold the module of its name)
#   lint.sh --bad                tests this script: the tool that each file of tests/rtl/lint-bad names must refuse it
#
# JOBS=N files side by side (default 2). Run from the root of the tree.
set -u

DIRS="rtl/lib rtl/net rtl/fp rtl/reduce rtl/control rtl/top"
INC="-Irtl/net -Irtl/reduce -Irtl/control -Irtl/top -Ibuild/gen"

# verilator|iverilog|yosys|order|nettype FILE [NAME=VALUE ...]: messages on stdout; fails if there are any. The parameters are
# not for order and nettype.
run_tool() {
	tool=$1
	file=$2
	shift 2
	top=$(basename "$file" .v)
	set_v=$(for p in "$@"; do printf -- '-G%s ' "$p"; done)
	set_i=$(for p in "$@"; do printf -- '-P%s.%s ' "$top" "$p"; done)
	set_y=$(for p in "$@"; do printf 'chparam -set %s %s %s; ' "${p%=*}" "${p#*=}" "$top"; done)
	case $tool in
	verilator)
		lib=$(for d in $DIRS; do printf -- '-y %s ' "$d"; done)
		# shellcheck disable=SC2086
		out=$(verilator --lint-only -Wall $INC $lib $set_v --top-module "$top" "$file" 2>&1)
		;;
	iverilog)
		lib=$(for d in $DIRS; do printf -- '-y %s ' "$d"; done)
		# shellcheck disable=SC2086
		out=$(iverilog -g2005 -Wall -t null $INC $lib $set_i -s "$top" "$file" 2>&1)
		;;
	yosys)
		# The file itself is read first. Other files are elaborated only if an instance names their module.
		rest=$(grep -v -x -F "$file" rtl/rf.f | tr '\n' ' ')
		out=$(yosys -q -p "read_verilog $INC $file; read_verilog -defer $INC $rest; $set_y \
		  hierarchy -check -top $top; proc; check -assert" 2>&1)
		;;
	order | nettype)
		out=$("${PYTHON:-python3}" -B tests/rtl/declared.py "$tool" "$file" 2>&1)
		;;
	esac
	rc=$?
	[ -z "$out" ] || printf '%s: %s %s\n%s\n' "$tool" "$file" "$*" "$out"
	[ $rc -eq 0 ] && [ -z "$out" ]
}

lint_file() {
	code=0
	if [ "$(grep -c '^ *module ' "$1")" != 1 ] || ! grep -q "^module $(basename "$1" .v)\>" "$1"; then
		echo "$1: must hold one module, that of its name"
		code=1
	fi
	for tool in verilator iverilog yosys order nettype; do
		run_tool $tool "$1" || code=1
	done
	if [ "$1" = rtl/top/rf_core.v ]; then
		for tool in verilator iverilog yosys; do
			run_tool $tool "$1" GROUPS=64 HASH_BITS=10 BANK_AW=14 HDR_AW=10 PORTS=2 WIDTH=64 || code=1
			run_tool $tool "$1" PORTS=6 PARITY=0 SELECTIVE=0 LAG=0 MIRROR=0 DIRECTED=0 || code=1
		done
	fi
	return $code
}

if [ "${1:-}" = --one ]; then
	lint_file "$2"
	exit
fi

if [ "${1:-}" = --bad ]; then
	code=0
	for f in tests/rtl/lint-bad/*.v; do
		tool=$(sed -n '1s/.*refused by \([a-z]*\).*/\1/p' "$f")
		case $tool in
		verilator | iverilog | yosys | order | nettype) ;;
		*)
			echo "$f: its first line names no tool"
			code=1
			continue
			;;
		esac
		if run_tool "$tool" "$f" > /dev/null; then
			echo "$f: was not refused by $tool"
			code=1
		fi
	done
	[ $code -ne 0 ] || echo "every bad module was refused"
	exit $code
fi

code=0
if [ $# -eq 0 ]; then
	# shellcheck disable=SC2046
	set -- $(cat rtl/rf.f)
	# Every file is in the list, and there are no waivers.
	for f in rtl/*/*.v; do
		grep -q -x -F "$f" rtl/rf.f || { echo "$f is not in rtl/rf.f"; code=1; }
	done
	if grep -n -i -E 'lint_off|verilator *(lint|coverage)_|translate_off' rtl/*/*; then
		echo "a waiver"
		code=1
	fi
fi
printf '%s\n' "$@" | xargs -P "${JOBS:-2}" -n 1 "$0" --one || code=1
[ $code -ne 0 ] || echo "$# modules, three front ends, names in order, no message"
exit $code
