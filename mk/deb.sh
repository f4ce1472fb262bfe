#!/bin/bash
# Builds the packages of Debian from the files that git tracks, in a folder of their own, and looks at them with lintian.
#   mk/deb.sh FOLDER [VERSION]     results are FOLDER/*.deb
set -eu
folder=$1
version=${2:-$(sed -n 's/^.define RF_VERSION_[A-Z]* //p' host/include/ringfold/ringfold.h | paste -sd.)}
packaged=$(dpkg-parsechangelog -l debian/changelog -S Version)
if [ "$packaged" != "$version" ]; then
	echo "debian/changelog has version $packaged, the public header $version" >&2
	exit 1
fi
rm -rf "$folder"
tree=$folder/ringfold-$version
mkdir -p "$tree"
# A tree that is not one of git is taken as it is.
if git rev-parse --git-dir > /dev/null 2>&1; then
	git ls-files -z | tar -c --null -T - | tar -x -C "$tree"
else
	tar -c --exclude=./build . | tar -x -C "$tree"
fi
unset MAKEFLAGS MFLAGS MAKELEVEL SANITIZE
log=$(cd "$folder" && pwd)/build.log
(
	cd "$tree"
	DEB_BUILD_OPTIONS="noautodbgsym parallel=$(nproc)" dpkg-buildpackage -b -us -uc > "$log" 2>&1
) || { tail -40 "$log"; exit 1; }
rm -rf "$tree"
lintian --allow-root --fail-on error "$folder"/ringfold_*.changes > "$folder/lintian.txt" 2>&1 || { cat "$folder/lintian.txt"; exit 1; }
du -ch --apparent-size "$folder"/*.deb
