#!/bin/sh
# The firmware's core needs only memcpy and memset: no libc, no heap, no 64-bit division, on the host's
# compiler and, if clang supports riscv32, on the processor of the board. Also prints sizes.
# usage: fw_freestanding.sh DIRECTORY (for objects)
set -eu
dir=$1
mkdir -p "$dir/include"
# The only C library header available.
cat > "$dir/include/string.h" << 'END'
#include <stddef.h>
void *memcpy(void *to, const void *from, size_t n);
void *memset(void *to, int c, size_t n);
END
# All sources except check.c, which only tests call.
core=$(for f in firmware/core/*.c; do basename "$f" .c; done | grep -vx check)
flags='-std=c11 -Os -ffreestanding -Wall -Wextra -Werror -I. -Ibuild/gen -isystem '"$dir/include"
bad=0

build() { # name, compiler with flags
	rm -f "$dir/$1"-*.o
	for f in $core; do
		# shellcheck disable=SC2086
		$2 $flags -c -o "$dir/$1-$f.o" "firmware/core/$f.c"
	done
	for f in proto/*.c; do
		# shellcheck disable=SC2086
		$2 $flags -c -o "$dir/$1-$(basename "$f" .c).o" "$f"
	done
	nm -g "$dir/$1"-*.o | awk '
		NF == 3 { have[$3] = 1 }
		NF == 2 && $1 == "U" { want[$2] = 1 }
		END { for (s in want) if (!(s in have)) print s }' | sort > "$dir/$1.undefined"
	extra=$(grep -vxE 'rf_hal_read|rf_hal_write|memcpy|memset|_GLOBAL_OFFSET_TABLE_|__stack_chk_fail' "$dir/$1.undefined" || true)
	if [ -n "$extra" ]; then
		echo "$1: needs more than it may: $extra"
		bad=1
	fi
	text=$(size "$dir/$1"-*.o | awk 'NR > 1 { t += $1 } END { print t }')
	echo "$1: $text bytes of text and constants"
}

build host "${CC:-gcc} -fno-stack-protector"
if command -v clang > /dev/null && clang --print-targets 2> /dev/null | grep -q riscv32; then
	rv='clang --target=riscv32 -march=rv32imac -mabi=ilp32'
	small=-DRF_FW_HASH_BITS_MAX=8
	build rv32 "$rv $small"
	printf '#include "firmware/core/fw.h"\nchar size_of_rf_fw[sizeof(struct rf_fw)];\n' |
		$rv $small -std=c11 -ffreestanding -I. -Ibuild/gen -isystem "$dir/include" -x c -c -o "$dir/size.o" -
	ram=$(nm -S "$dir/size.o" | awk '/size_of_rf_fw/ { print $2 }')
	ram=$((0x$ram))
	echo "rv32: $ram bytes of state in the image (2 x 2^8 places)"
	if [ "$ram" -gt 120000 ]; then
		echo "rv32: the state leaves no room for a stack in 128 KiB"
		bad=1
	fi
fi
# Test of this check: a 64-bit division must be found.
printf 'unsigned long long f(unsigned long long a, unsigned long long b);\nunsigned long long f(unsigned long long a, unsigned long long b) { return a / b; }\n' > "$dir/divide.c"
if command -v clang > /dev/null && clang --print-targets 2> /dev/null | grep -q riscv32; then
	clang --target=riscv32 -march=rv32imac -mabi=ilp32 -Os -c -o "$dir/divide.o" "$dir/divide.c"
	nm -u "$dir/divide.o" | grep -q div || { echo "a 64-bit division is not seen"; bad=1; }
fi
exit $bad
