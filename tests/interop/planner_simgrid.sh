#!/bin/sh
# Compares the planner's fluid simulation with SimGrid, if it is installed; no part of ringfold needs it.
#
#   tests/interop/planner_simgrid.sh PLANNER_FLOWS [SEED]
set -eu
flows=$1
seed=${2:-1}
if ! pkg-config --exists simgrid 2> /dev/null; then
	echo "SimGrid is not installed (apt-get install libsimgrid-dev libboost-dev)"
	exit 77
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
g++ -std=c++17 -O1 -o "$dir/sim" "$(dirname "$0")/planner_simgrid.cpp" $(pkg-config --cflags --libs simgrid)
echo "seed $seed, again with: $0 $flows $seed"
"$flows" "$seed" 40 > "$dir/flows"
"$dir/sim" < "$dir/flows"
# The comparison must fail if a time is wrong by a thousandth.
awk '$1 == "S" && $2 == 7 { $3 *= 1.001 } { print }' "$dir/flows" > "$dir/off"
if "$dir/sim" < "$dir/off"; then
	echo "the comparison did not see a wrong time"
	exit 1
fi
