#!/bin/sh
# C: format, a second compiler with all warnings as errors, and words that must not stand in the tree.
#
#   tests/lint/c.sh [FILE ...]      default: every .c and .h that git tracks
set -u
cd "$(dirname "$0")/../.." || exit 1

warnings='-Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wundef -Wvla -Werror'
includes='-I. -Ihost/include -Ibuild/gen'
for package in libdpdk clp; do
	includes="$includes $(pkg-config --cflags $package | sed 's/-I\([^ ]*\)/-isystem \1/g')"
done
faults=0
report() {
	echo "lint: $*"
	faults=$((faults + 1))
}

if [ $# -eq 0 ]; then
	set -- $(git ls-files '*.c' '*.h')
	if git grep -nIE 'NOLINT|clang-format off|lint_off|-Wno-|\b(TODO|FIXME|XXX|HACK)\b' -- \
		'*.c' '*.h' '*.v' '*.vh' '*.cpp' '*.mk' '*.py' ':!tests/lint'; then
		report 'waivers or notes left in the text, see above'
	fi
fi
clang-format --dry-run --Werror "$@" || report 'format: run clang-format -i on the files above'
openmpi=/usr/lib/$(gcc -print-multiarch)/openmpi/include
for file in "$@"; do
	more=
	case $file in
	integrations/mpi/mpich/*) more="-isystem /usr/include/$(gcc -print-multiarch)/mpich" ;;
	integrations/mpi/* | tests/integrations/*) more="-isystem $openmpi -isystem $openmpi/openmpi" ;;
	esac
	case $file in
	*.c) clang -fsyntax-only -std=c11 -D_GNU_SOURCE $warnings $includes $more "$file" || report "$file: clang" ;;
	esac
done
for file in "$@"; do
	lines=$(wc -l < "$file")
	[ "$lines" -le 660 ] || report "$file: $lines lines, does it hold one idea?"
done
[ "$faults" -eq 0 ] && echo "lint: $# C files, no fault"
[ "$faults" -eq 0 ]
