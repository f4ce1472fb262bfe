#!/bin/sh
# The check of the image for the box's processor refuses what it must: programs that are too large, too deep,
# recursive, or that call through a register, each with its reason; and it accepts a program without these faults.
# The image itself, for up to 64 groups, 512 ranks and HASH_BITS 10, is checked too, and its figures are printed.
# usage: rv32_image.sh DIRECTORY (for objects) IMAGE.elf
set -eu
dir=$1
image=$2
if ! command -v clang > /dev/null || ! command -v ld.lld > /dev/null; then
	echo "needs clang and lld"
	exit 77
fi
mkdir -p "$dir"
flags='--target=riscv32 -march=rv32imac -mabi=ilp32 -mcmodel=medany -mno-relax -std=c11 -ffreestanding -fno-builtin
-ffunction-sections -fdata-sections -fstack-size-section -I.'
bad=0

# probe NAME EXPECTED OPTIMIZATION: main() from stdin; EXPECTED is a word of the reason, or "good".
probe() {
	cat > "$dir/$1.c"
	# shellcheck disable=SC2086
	clang $flags "$3" -c -o "$dir/$1.o" "$dir/$1.c"
	# shellcheck disable=SC2086
	clang $flags -c -o "$dir/start.o" firmware/target/rv32/start.S
	if ! ld.lld -m elf32lriscv --gc-sections -T firmware/target/rv32/link.ld -o "$dir/$1.elf" "$dir/start.o" "$dir/$1.o" \
		> "$dir/$1.text" 2>&1; then
		verdict="refused: linker: $(cat "$dir/$1.text")"
	elif "${PYTHON:-python3}" mk/rv32_check.py "$dir/$1.elf" > "$dir/$1.text" 2>&1; then
		verdict=good
	else
		verdict=$(cat "$dir/$1.text")
	fi
	case "$verdict" in
	*"$2"*) echo "$1: as it must be: $2" ;;
	*)
		echo "$1: wanted \"$2\", got: $verdict"
		bad=1
		;;
	esac
}

probe fits good -Os << 'END'
int main(void) { volatile char a[1000]; a[0] = 1; return a[0]; }
END
probe deep 'stack: 133' -Os << 'END'
static __attribute__((noinline)) int below(volatile char *p) { char a[130000]; __asm__ volatile("" : : "r"(a), "r"(p) : "memory"); return a[1]; }
int main(void) { char a[3000]; __asm__ volatile("" : : "r"(a) : "memory"); return below(a) + a[1]; }
END
probe recursive 'recursion: even -> odd -> even' -Os << 'END'
int even(volatile int *n); int odd(volatile int *n);
__attribute__((noinline)) int even(volatile int *n) { return *n == 0 ? 1 : odd(n) + 1; }
__attribute__((noinline)) int odd(volatile int *n) { return *n == 0 ? 0 : even(n) + 2; }
int main(void) { volatile int n = 3; return even(&n); }
END
probe indirect 'through a register' -Os << 'END'
int main(void) { int (*volatile f)(void) = main; return f() + 1; }
END
probe alloca 'not known' -Os << 'END'
int main(void) { volatile int n = 9; volatile char *a = __builtin_alloca(n); a[0] = 1; return a[0]; }
END
probe text 'text' -Os << 'END'
static const volatile char table[135000] = {1};
int main(void) { return table[1]; }
END
probe data 'data' -Os << 'END'
static volatile char state[132000];
int main(void) { return state[1]; }
END
"${PYTHON:-python3}" mk/rv32_check.py "$image" || bad=1
exit $bad
