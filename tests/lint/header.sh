#!/bin/sh
# The public header compiles without a warning in C11, C99 and C++11, and so does every RF_..._INIT; an initialiser that leaves a
# member out does not.
#
#   tests/lint/header.sh
set -u
cd "$(dirname "$0")/../.." || exit 1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
header=host/include/ringfold/ringfold.h
failed=0

# The macros and their structs, from the header: RF_CONTEXT_CONFIG_INIT is for struct rf_context_config.
macros=$(sed -n 's/^#define \(RF_[A-Z_]*_INIT\)\>.*/\1/p' $header)
[ "$(echo "$macros" | wc -l)" -ge 3 ] || { echo "header: the macros are not found"; exit 1; }
{
	echo '#include <ringfold/ringfold.h>'
	echo 'size_t sizes(void);'
	echo 'size_t sizes(void)'
	echo '{'
	echo '	size_t n = 0;'
	for m in $macros; do
		name=$(echo "$m" | tr '[:upper:]' '[:lower:]')
		echo "	struct ${name%_init} $name = $m;"
		echo "	n += $name.size;"
	done
	echo '	return n;'
	echo '}'
} > "$dir/all.c"
cp "$dir/all.c" "$dir/all.cpp"
# what must not compile: a member is missing
sed 's/= RF_COMM_CONFIG_INIT/= {sizeof(struct rf_comm_config)}/' "$dir/all.c" > "$dir/short.c"
cp "$dir/short.c" "$dir/short.cpp"

flags='-Wall -Wextra -Wpedantic -Werror -fsyntax-only -Ihost/include'
# compile COMPILER STANDARD FILE
compile() {
	# shellcheck disable=SC2086
	"$1" -std="$2" $flags "$dir/$3" 2> "$dir/log"
}
try() {
	command -v "$1" > /dev/null || { echo "header: no $1: left out"; return; }
	compile "$1" "$2" "all.$3" || { cat "$dir/log"; echo "header: $1 -std=$2"; failed=1; }
	if compile "$1" "$2" "short.$3"; then
		echo "header: $1 -std=$2 accepts an initialiser without all members"
		failed=1
	fi
}
for standard in c99 c11; do
	try gcc $standard c
	try clang $standard c
done
for standard in c++11 c++17; do
	try g++ $standard cpp
	try clang++ $standard cpp
done
exit $failed
