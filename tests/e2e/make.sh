#!/bin/sh
# The two make commands on a machine without the packages: make checks for packages first. As root it installs them,
# otherwise it prints the exact command and builds nothing. Run from the top of the tree.
set -eu

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

fail() {
	echo "make.sh: $*" >&2
	exit 1
}

# A tree whose deps.sh prints its arguments and fails.
mkdir "$dir/tree" "$dir/bin"
cp -r Makefile mk "$dir/tree"
cat > "$dir/tree/mk/deps.sh" <<'END'
#!/bin/sh
echo "asked for $1" >&2
exit 1
END
chmod +x "$dir/tree/mk/deps.sh"
for pair in all:build install:build demo:demo test:test test-wire:test lint:dev bench:dev formal:dev synth:dev; do
	goal=${pair%:*}
	list=${pair#*:}
	if (cd "$dir/tree" && env -u MAKEFLAGS -u MFLAGS make "$goal") > "$dir/out" 2>&1; then
		fail "make $goal continues without its packages"
	fi
	grep -q "asked for $list" "$dir/out" || fail "make $goal did not ask for the packages of $list: $(cat "$dir/out")"
	grep -q 'packages are missing' "$dir/out" || fail "make $goal does not report that packages are missing"
	[ ! -e "$dir/tree/build" ] || fail "make $goal built something"
done
# A dry run installs nothing.
(cd "$dir/tree" && env -u MAKEFLAGS -u MFLAGS make -n demo) > "$dir/out" 2>&1 || true
! grep -q 'asked for' "$dir/out" || fail "make -n looks for packages"

# Another compiler, or other options, make the objects again; the same ones do not.
object=$dir/flags/obj/base/opt.o
build() {
	env -u MAKEFLAGS -u MFLAGS make V=1 BUILD="$dir/flags" "$@" "$object" > "$dir/out" 2>&1 || fail "make $*: $(cat "$dir/out")"
}
build
build
! grep -q -- "-o $object" "$dir/out" || fail "an object is made twice: $(cat "$dir/out")"
for change in OPT=-O1 SANITIZE=-fsanitize=address CC=clang; do
	build "$change"
	grep -q -- "-o $object" "$dir/out" || fail "make $change makes no object again"
	build "$change"
	! grep -q -- "-o $object" "$dir/out" || fail "make $change makes an object twice"
done
# Without V=1 each step is one line; with -s it is none.
build V= OPT=-O1
[ "$(grep -c "^  CC  *[a-z_/]*\.c$" "$dir/out")" = 1 ] && ! grep -q -- "-o $object" "$dir/out" || fail "a step is not one line: $(cat "$dir/out")"
build V= OPT=-O2 -s
[ ! -s "$dir/out" ] || fail "make -s prints: $(cat "$dir/out")"

# A folder with a blank in its name is refused at once, with the reason.
mkdir "$dir/a tree"
cp -r Makefile mk "$dir/a tree"
if (cd "$dir/a tree" && env -u MAKEFLAGS -u MFLAGS make help) > "$dir/out" 2>&1; then
	fail "a folder with a blank in its name is accepted"
fi
grep -q 'contains a blank' "$dir/out" || fail "a folder with a blank in its name: $(cat "$dir/out")"

# Several tests given by name are one run.
env -u MAKEFLAGS -u MFLAGS make -n test-crc_test test-roce_wire_test > "$dir/out" 2>&1
[ "$(grep -c '^tests/run ' "$dir/out")" = 1 ] || fail "make test-A test-B runs tests/run more or less than once"
grep -q '^tests/run .* crc_test roce_wire_test$' "$dir/out" || fail "make test-A test-B does not run both"

# No package is installed, and we are not root.
printf '#!/bin/sh\n' > "$dir/bin/dpkg-query"
printf '#!/bin/sh\necho 1000\n' > "$dir/bin/id"
chmod +x "$dir/bin/dpkg-query" "$dir/bin/id"
if PATH="$dir/bin:$PATH" mk/deps.sh test > "$dir/out" 2>&1; then
	fail "deps.sh succeeds without its packages"
fi
want="  apt-get update && apt-get install -y --no-install-recommends $(mk/deps.sh test --list)"
grep -qxF "$want" "$dir/out" || fail "deps.sh does not print the command: $(cat "$dir/out")"

# A plain build, as root or not, reports missing packages and installs nothing.
printf '#!/bin/sh\necho 0\n' > "$dir/bin/id"
printf '#!/bin/sh\necho "apt-get is called" >&2\n' > "$dir/bin/apt-get"
chmod +x "$dir/bin/apt-get"
if PATH="$dir/bin:$PATH" mk/deps.sh build --check > "$dir/out" 2>&1; then
	fail "deps.sh --check succeeds without its packages"
fi
want="  apt-get update && apt-get install -y --no-install-recommends $(mk/deps.sh build --list)"
grep -qxF "$want" "$dir/out" || fail "deps.sh --check does not print the command: $(cat "$dir/out")"
! grep -q 'is called' "$dir/out" || fail "deps.sh --check installs"

# Everything is installed: no output.
{
	echo '#!/bin/sh'
	mk/deps.sh dev --list | tr ' ' '\n' | sed "s/.*/echo 'ii  &'/"
} > "$dir/bin/dpkg-query"
PATH="$dir/bin:$PATH" mk/deps.sh dev > "$dir/out" 2>&1 || fail "deps.sh fails although all packages are installed: $(cat "$dir/out")"
[ ! -s "$dir/out" ] || fail "deps.sh is not silent: $(cat "$dir/out")"
echo "make asks for its packages before it builds"
