#!/bin/sh
# The transport with and without ISA-L: both builds work, and each uses the path that it should.
#
#   tests/unit/roce_portable.sh BUILD yes|no    BUILD has the ordinary build; yes: it uses ISA-L
set -eu
build=$1
portable=$1/portable
log=$portable.log

if [ "$2" = yes ]; then
	"$build/tests/roce_crc_test" ISA-L > "$log" 2>&1 || { cat "$log"; exit 1; }
	ldd "$build/tests/roce_crc_test" | grep -q libisal || { echo "the ordinary build does not load libisal"; exit 1; }
	# The check of the path can fail.
	! "$build/tests/roce_crc_test" portable > "$log" 2>&1 || { echo "ISA-L passes for the portable path"; exit 1; }
else
	echo "libisal-dev is not installed: only the portable path is checked"
fi

tests="roce_crc_test roce_wire_test roce_endpoint_test"
wanted=
for t in $tests; do
	wanted="$wanted $portable/tests/$t"
done
# shellcheck disable=SC2086
env -u MAKEFLAGS -u MAKELEVEL make --no-print-directory -j2 BUILD="$portable" ISAL=no $wanted > "$log" 2>&1 || { tail -n 20 "$log"; exit 1; }
"$portable/tests/roce_crc_test" portable > "$log" 2>&1 || { cat "$log"; exit 1; }
for t in $tests; do
	if ldd "$portable/tests/$t" | grep libisal; then
		echo "$t: built with ISAL=no, and loads libisal"
		exit 1
	fi
	"$portable/tests/$t" > "$log" 2>&1 || { cat "$log"; exit 1; }
done
echo "the transport works with and without ISA-L"
