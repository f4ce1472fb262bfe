#!/bin/sh
# Faults of the model that only mirror connections or directed groups show: each must be found by the test named here.
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
"$build/tests/model_mirror" model:none > /dev/null 2>&1 || { echo "model_mirror fails without a fault"; failed=1; }
mutant lookup model_mirror
mutant unknown model_mirror
mutant wrongport model_mirror
mutant source model_mirror
exit $failed
