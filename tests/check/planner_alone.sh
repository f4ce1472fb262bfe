#!/bin/sh
# The planner's library is independent: a program with only this library links against libc, libm, jansson and CLP, and its
# sources include only headers of planner/, plan/, and base/.
#
#   tests/check/planner_alone.sh LIBRARY OF-PLANS
set -eu
library=$1 plans=$2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

cat > "$dir/main.c" << 'END'
#include <stdio.h>

#include "planner/scheme.h"

int main(void)
{
	struct topo_spec s = topo_spec_default(TOPO_LEAF_SPINE);
	struct scheme_options o = scheme_options_default();
	struct topo_error e = {.text = ""};
	struct topology *t = topo_generate(&s, &e);
	struct plan *p = t ? scheme_run(scheme_find("best"), t, &o, &e) : NULL;

	printf("%s: %g\n", p ? p->scheme : e.text, p ? p->throughput : 0);
	return p ? 0 : 1;
}
END
cc=${CC:-gcc}
# The whole archive: all its objects, not only those that main needs.
link() {
	$cc -std=c11 -D_GNU_SOURCE -I. -o "$dir/alone" "$dir/main.c" \
		-Wl,--whole-archive "$1" "$plans" -Wl,--no-whole-archive -lClp -ljansson -lm
}
link "$library"
"$dir/alone"
if ldd "$dir/alone" | grep -iE 'rte_|dpdk|verilat|pcap|ibverbs|ringfold'; then
	echo "the planner needs other libraries than libc, libm, jansson and CLP"
	exit 1
fi
if grep -hE '^#include "' planner/*.[ch] plan/*.[ch] | grep -vE '"(base|planner|plan)/'; then
	echo "the planner includes headers from other directories"
	exit 1
fi
# Test of this check: an object that needs DPDK must be detected.
echo 'int rte_eal_init(int, char **); int want(void); int want(void) { return rte_eal_init(0, 0); }' > "$dir/want.c"
$cc -c -o "$dir/want.o" "$dir/want.c"
cp "$library" "$dir/more.a"
ar r "$dir/more.a" "$dir/want.o"
if link "$dir/more.a" 2> "$dir/err"; then
	echo "a library that needs DPDK was linked without it"
	exit 1
fi
grep -q rte_eal_init "$dir/err"
