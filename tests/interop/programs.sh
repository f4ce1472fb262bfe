#!/bin/sh
# Makes the archive of the programs that this tree builds for guests. It is unpacked over the image,
# which does not change.
#
#   tests/interop/programs.sh OUT.cpio LIBRARY PROGRAM...
set -eu
out=$1
library=$2
shift 2
work=$(mktemp -d "$out.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM HUP
mkdir -p "$work/bin" "$work/lib"
cp "$library" "$work/lib/"
cp "$@" "$work/bin/"
for file in "$library" "$@"; do
	for lib in $(ldd "$file" | sed -n 's/.*=> \(\/[^ ]*\).*/\1/p'); do
		case $lib in
		*/libringfold.so*) ;;
		*) cp -Ln "$lib" "$work/lib/" 2> /dev/null || true ;;
		esac
	done
done
strip "$work"/bin/* "$work"/lib/libringfold.so* 2> /dev/null || true
command -v busybox > /dev/null || exit 77
(cd "$work" && find . | LC_ALL=C sort | busybox cpio -o -H newc 2> /dev/null) > "$out.new"
mv "$out.new" "$out"
