# Sourced by the scripts of this folder: runs a Promela model and counts its errors.
#
#   model=FILE build=DIR optimise=-O2; one NAME WANTED FLAGS...

failed=0
command -v spin > /dev/null || { echo "spin is not installed"; exit 77; }
mkdir -p "$build"

# one NAME WANTED FLAGS...: WANTED is the number of errors that pan must count, 0 or 1.
one() {
	name=$1
	wanted=$2
	shift 2
	dir=$build/$name
	rm -rf "$dir"
	mkdir -p "$dir"
	(cd "$dir" && spin -a "$@" "$model" > spin.log 2>&1 &&
		${CC:-gcc} "$optimise" -w -DSAFETY -DCOLLAPSE -DVECTORSZ=2048 -o pan pan.c &&
		./pan -m200000 -w25 > pan.log 2>&1) || { echo "$name: spin or pan failed, see $dir"; failed=1; return; }
	found=$(sed -n 's/.*errors: \([0-9]*\).*/\1/p' "$dir/pan.log")
	states=$(sed -n 's/ *\([0-9.e+]*\) states, stored.*/\1/p' "$dir/pan.log")
	why=$(sed -n 's/^pan:1: //p' "$dir/pan.log")
	if grep -q "too small\|out of memory\|Search not completed" "$dir/pan.log" && [ "$wanted" = 0 ]; then
		echo "$name: not every state was seen, see $dir"
		failed=1
	elif [ "$found" != "$wanted" ]; then
		echo "$name: $found errors, not $wanted: $why ($*)"
		failed=1
	else
		echo "$name: ${states} states, $found errors${why:+: $why}"
	fi
}
