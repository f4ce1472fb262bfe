# Shared part of fw_*_mutants.sh. Sourced with $build, $work (a directory), $tests (programs that must detect the mutants), $objects and
# $libs (linked with these in addition to build/lib/libfw.a), perhaps $limit (seconds that a test may take with a mutant). Sets bad=1
# if a mutant passes.
flags="-std=c11 -D_GNU_SOURCE -O1 -I. -I$build/gen"
bad=0
mkdir -p "$work"

# mutant NAME FILE OLD NEW: text OLD of the file becomes NEW.
mutant() {
	name=$1
	file=firmware/core/$2
	OLD=$3 NEW=$4 python3 -c 'import os, sys
text = sys.stdin.read()
if os.environ["OLD"] not in text:
    sys.exit(1)
sys.stdout.write(text.replace(os.environ["OLD"], os.environ["NEW"], 1))' < "$file" > "$work/$name.c" || {
		echo "BAD  $name: its text is no longer in $file"
		bad=1
		return
	}
	${CC:-cc} $flags -c -o "$work/$name.o" "$work/$name.c" || bad=1
	for test in $tests; do
		${CC:-cc} -o "$work/$test" "$build/obj/tests/unit/$test.o" "$work/$name.o" $objects "$build/lib/libfw.a" $libs \
			-lcmocka -ldl -lm || bad=1
		# A mutant that never ends is detected too.
		if ! timeout "${limit:-300}" "$work/$test" > "$work/$name.$test.log" 2>&1; then
			[ "$name" = none ] || echo "ok   $name: detected by $test"
			[ "$name" != none ] || { echo "BAD  $test fails on the unchanged rules"; bad=1; }
			return
		fi
	done
	[ "$name" = none ] && echo "ok   none: all pass" || { echo "BAD  $name passes"; bad=1; }
}
