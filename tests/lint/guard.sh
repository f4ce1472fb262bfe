#!/bin/sh
# Which lock guards what (base/guard.h), checked by clang's thread-safety analysis: this tree passes, and code with a
# fault does not.
#
#   tests/lint/guard.sh
set -u
cd "$(dirname "$0")/../.." || exit 1
# Rooms whose locks are not stated yet. A room that uses base/guard.h must leave the list.
except=''

command -v clang > /dev/null || { echo "clang is not installed"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
includes="-I. -Ihost/include -I${BUILD:-build}/gen $(pkg-config --cflags libdpdk | sed 's/-I\([^ ]*\)/-isystem \1/g')"
failed=0
fail() {
	echo "guard: $*"
	failed=1
}
# analyse FILE [FLAG...]
analyse() {
	# shellcheck disable=SC2086
	clang -fsyntax-only -std=c11 -D_GNU_SOURCE -DRF_GUARD_CHECK -Wthread-safety -Werror $includes "$@"
}
# bare FILE...: locks that name no class
bare() {
	grep -nE '\bpthread_mutex_(lock|trylock|unlock)\b' "$@"
}

rooms=$(git grep -l 'base/guard.h"' -- '*.c' '*.h' ':!tests' ':!base' | xargs -n 1 dirname | sort -u)
files=
for room in $rooms; do
	case " $except " in *" $room "*) fail "$room uses base/guard.h: take it out of \$except in tests/lint/guard.sh" ;; esac
	files="$files $(git ls-files "$room/*.c")"
done
mpich=/usr/include/$(clang -print-multiarch)/mpich
# Of the tests only this one states its locks.
for file in $files tests/unit/io_hub.c; do
	more=
	case $file in
	integrations/mpi/mpich/*)
		more="-isystem $mpich -include integrations/mpi/mpich/weak.h"
		[ -f "$mpich/mpi.h" ] || { echo "guard: $file: not analysed, there is no $mpich/mpi.h"; continue; }
		;;
	esac
	# shellcheck disable=SC2086
	analyse "$file" $more || fail "$file: see above"
done
others=$(git ls-files '*.c' '*.h' ':!tests' ':!base/guard.h')
for room in $except; do
	others=$(echo "$others" | grep -v "^$room/")
done
# shellcheck disable=SC2086
! bare $others || fail "locks without a class, see above: use rf_mutex_lock() of base/guard.h"

# What must be found.
sample() {
	cat > "$dir/$1.c" <<-END
	#include "base/guard.h"
	RF_LOCK_CLASS(box_class);
	struct box {
		pthread_mutex_t lock;
		int frames RF_GUARDED_BY(box_class);
		int *sizes RF_TARGET_GUARDED_BY(box_class);
	};
	void add(struct box *b) RF_REQUIRES(box_class);
	void add(struct box *b)
	{
		b->sizes[b->frames++] = 1;
	}
	void test(struct box *b);
	void test(struct box *b)
	{
		$2
	}
	END
	analyse "$dir/$1.c" > "$dir/$1.out" 2>&1
}
finds() {
	! sample "$1" "$2" || fail "$1 is not found"
	grep -q "$3" "$dir/$1.out" || { cat "$dir/$1.out"; fail "$1: another fault is found"; }
}
sample good 'rf_mutex_lock(&b->lock, box_class); add(b); rf_mutex_unlock(&b->lock, box_class);' || { cat "$dir/good.out"; fail "a good sample is refused"; }
sample try 'if (rf_mutex_trylock(&b->lock, box_class)) { add(b); rf_mutex_unlock(&b->lock, box_class); }' || { cat "$dir/try.out"; fail "a good sample with rf_trylock is refused"; }
finds read 'if (b->frames) test(b);' "reading variable 'frames' requires"
finds target 'b->sizes[0] = 1;' "requires holding"
finds call 'add(b);' "calling function 'add' requires"
finds held 'rf_mutex_lock(&b->lock, box_class); add(b);' "still held at the end"
finds twice 'rf_mutex_lock(&b->lock, box_class); rf_mutex_lock(&b->lock, box_class);' "already held"
finds untaken 'rf_mutex_unlock(&b->lock, box_class);' "releasing mutex"
echo 'void f(pthread_mutex_t *m) { pthread_mutex_lock(m); }' > "$dir/bare.c"
bare "$dir/bare.c" > /dev/null || fail "a lock without a class is not found"

[ $failed -ne 0 ] || echo "guard: $(echo "$files" | wc -w) files, no fault"
exit $failed
