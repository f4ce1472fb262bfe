#!/bin/sh
# Faults of the model that only mirror connections, directed groups or uplinks show: each must be found by the test named
# here.
#
#   tests/unit/model_mutants.sh BUILD_DIR
set -u
build=$1
failed=0

# mutant NAME TEST
mutant() {
	if "$build/tests/$2" "model:$1" > /dev/null 2>&1; then
		echo "mutant $1: NOT FOUND by $2"
		failed=1
	else
		echo "mutant $1: $2"
	fi
}

# An unknown name must not count as found.
for test in model_mirror model_directed model_form model_uplink model_tree; do
	"$build/tests/$test" model:none > /dev/null 2>&1 || { echo "$test fails without a fault"; failed=1; }
done
mutant lookup model_mirror
mutant unknown model_mirror
mutant wrongport model_mirror
mutant source model_mirror
mutant empty model_directed
mutant wants model_directed
mutant tag model_directed
mutant copy model_directed
mutant padkept model_directed
mutant order model_form
for rule in up-window up-one again-look pass-holds result-unsent pass-on skipped-once fills-next nak-run ack-none tick-probe; do
	mutant $rule model_uplink
done
for rule in result-old ack-got tick-ack tick-one; do
	mutant $rule model_tree
done
exit $failed
