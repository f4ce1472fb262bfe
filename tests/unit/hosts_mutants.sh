#!/bin/sh
# Faults of the collectives among hosts, each of which hosts_test must find. A mutant is one line of the source changed.
#
#   tests/unit/hosts_mutants.sh BUILD_DIR CC
set -u
build=$1
cc=$2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
failed=0

# compile FILE...: the test with these sources instead of those of the library, which are found later.
compile() {
	$cc -std=c11 -D_GNU_SOURCE -O1 -w -I. -I"$build/gen" -o "$dir/test" "$@" tests/unit/hosts_test.c tests/unit/hosts_net.c \
		tests/unit/hosts_want.c "$build/lib/libcollective.a" "$build/lib/libroce.a" "$build/lib/librfproto.a" -lcmocka
}

# mutant FILE FROM TO: the first is a pattern of sed.
mutant() {
	sed "s/$2/$3/" "host/collective/$1" > "$dir/$1"
	if cmp -s "$dir/$1" "host/collective/$1"; then
		echo "mutant $1: $2: the line is gone"
		failed=1
	elif [ "$1" = hosts.c ] && ! compile "$dir/hosts.c" host/collective/hosts_plan.c; then
		failed=1
	elif [ "$1" = hosts_plan.c ] && ! compile host/collective/hosts.c "$dir/hosts_plan.c"; then
		failed=1
	elif (ulimit -t 8 && timeout 100 "$dir/test" quick) > /dev/null 2>&1; then
		echo "mutant $1: $2: NOT FOUND"
		failed=1
	else
		echo "mutant $1: $2"
	fi
}

compile host/collective/hosts.c host/collective/hosts_plan.c || exit 1
"$dir/test" quick > /dev/null 2>&1 || { echo "hosts_test fails without a fault"; exit 1; }
mutant hosts.c 'return s->kept \&\& .*;' 'return false;'
mutant hosts.c 'if (c->retired == c->acked)' 'if (0)'
mutant hosts.c 'at->slots - messages' 'at->slots - 1'
mutant hosts.c '\&\& before(at, \&h->processed)' ''
mutant hosts.c 'if (c->taken == c->arrived)' 'if (0)'
mutant hosts.c 'at->slots - h->complete.slots == h->slots' '0'
mutant hosts.c 'else if (event->len != len)' 'else if (0)'
mutant hosts.c 'want = rf_hosts_op(h, (uint32_t)(event->id >> 32))' 'want = rf_hosts_op(h, h->polled)'
mutant hosts_plan.c 's.kept = step < bits;' 's.kept = false;'
mutant hosts_plan.c 's.kept = !last;' 's.kept = false;'
mutant hosts_plan.c 'step < n ? RF_ADD_OWN' 'step < n - 1 ? RF_ADD_OWN'
mutant hosts_plan.c 'partner ? RF_ADD_OWN : RF_ADD_NOTHING, RF_PLACE_SLOT' 'RF_ADD_NOTHING, RF_PLACE_SLOT'
mutant hosts_plan.c '2 \* n - 1 - step' '2 * n - 2 - step'
mutant hosts_plan.c 'next_conn(rf_log2(below))' 'next_conn(0)'
mutant hosts_plan.c 'step < h->reach' 'step + 1 < h->reach'
mutant hosts_plan.c 'longest == 0)' '1)'
mutant hosts_plan.c '#define SMALL_MOST 32768u' '#define SMALL_MOST 32764u'
exit $failed
