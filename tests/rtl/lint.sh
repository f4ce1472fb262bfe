#!/bin/sh
# Lints Verilog: every module of rtl/rf.f as a top of its own, in Verilator, Icarus and Yosys, and by declared.py, which
# finds what these accept: a name used above its declaration, a file without `default_nettype none. Any message is a failure;
# there are no waivers.
#
#   lint.sh [FILE ...]           only these files (each must hold the module of its name)
#   lint.sh --bad                tests this script: the tool that each file of tests/rtl/lint-bad names must refuse it
#
# JOBS=N files side by side (default 2). Run from the root of the tree.
set -u

DIRS="rtl/lib rtl/net rtl/fp rtl/reduce rtl/control rtl/top"
INC="-Irtl/net -Irtl/reduce -Irtl/control -Irtl/top -Ibuild/gen"

# verilator|iverilog|yosys|order|nettype FILE: messages on stdout; fails if there are any.
run_tool() {
	top=$(basename "$2" .v)
	case $1 in
	verilator)
		lib=$(for d in $DIRS; do printf -- '-y %s ' "$d"; done)
		# shellcheck disable=SC2086
		out=$(verilator --lint-only -Wall $INC $lib --top-module "$top" "$2" 2>&1)
		;;
	iverilog)
		lib=$(for d in $DIRS; do printf -- '-y %s ' "$d"; done)
		# shellcheck disable=SC2086
		out=$(iverilog -g2005 -Wall -t null $INC $lib -s "$top" "$2" 2>&1)
		;;
	yosys)
		# The file itself is read first. Other files are elaborated only if an instance names their module.
		rest=$(grep -v -x -F "$2" rtl/rf.f | tr '\n' ' ')
		out=$(yosys -q -p "read_verilog $INC $2; read_verilog -defer $INC $rest; \
		  hierarchy -check -top $top; proc; check -assert" 2>&1)
		;;
	order | nettype)
		out=$("${PYTHON:-python3}" -B tests/rtl/declared.py "$1" "$2" 2>&1)
		;;
	esac
	rc=$?
	[ -z "$out" ] || printf '%s: %s\n%s\n' "$1" "$2" "$out"
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
