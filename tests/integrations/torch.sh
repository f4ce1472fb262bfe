#!/bin/bash
# torch.distributed by the model of the box: calls, DDP on the digits bit by bit, a rank that dies.
#   tests/integrations/torch.sh
. "$(dirname "$0")/../e2e/lib.sh"
here=$(cd "$(dirname "$0")" && pwd)
unset RF_DEVICE RF_SIZE RF_PORT RF_TIMEOUT
python=/usr/bin/python3
if ! "$python" -c 'import torch, cffi' 2> /dev/null; then
	echo "no python3-torch: mk/deps.sh integrations installs it"
	exit 77
fi
PYTHONPATH=$(cd "${BUILD:-build}/python" && pwd)
LD_LIBRARY_PATH=$(cd "${BUILD:-build}/lib" && pwd)
export PYTHONPATH LD_LIBRARY_PATH PYTHONDONTWRITEBYTECODE=1 TMPDIR=$dir OMP_NUM_THREADS=1
digits=$here/../data/digits/digits.csv

run() {
	local want=$1 n=$2
	shift 2
	timeout -k 5 200 "$bin/ringfold" run -n "$n" -- "$python" "$@" > "$dir/out" 2> "$dir/0.err" < /dev/null
	local code=$?
	[ "$code" = "$want" ] || { echo "exit code $code instead of $want"; grep -v '^\[.\]   ' "$dir/0.err" | tail -6; tail -4 "$dir/out"; return 1; }
}
check "all calls, three ranks" run 0 3 "$here/torch_calls.py"
check "the form of PyTorch 2, two ranks" run 0 2 "$here/torch_backend.py"
check "... a wrong expectation is noticed" run 1 2 "$here/torch_backend.py" --flip
check "DDP by the box, four ranks" run 0 4 "$here/torch_train.py" ringfold "$digits" "$dir/ringfold.weights"
check "... the bits of one process that adds in the box's order" grep -q "weights equal bit for bit with one process" "$dir/out"
grep "calls:" "$dir/out"
grep loss "$dir/out" > "$dir/curve"
check "DDP by gloo" run 0 4 "$here/torch_train.py" gloo "$digits" "$dir/gloo.weights"
grep loss "$dir/out" | paste "$dir/curve" - | sed -n 's/^\[0\] step \([0-9]*\) loss \([0-9.]*\)\t.*loss \([0-9.]*\)/step \1: ringfold \2, gloo \3/p'
check "a rank dies: the others end with an error" run 137 3 "$here/torch_calls.py" --die
check "... that names it" grep -q "ringfold: .*rank 2" "$dir/out"
finish
