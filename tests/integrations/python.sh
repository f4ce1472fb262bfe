#!/bin/bash
# The Python package: whole, typed, and every call through the model of the box and without it.
#   tests/integrations/python.sh
. "$(dirname "$0")/../e2e/lib.sh"
here=$(cd "$(dirname "$0")" && pwd)
unset RF_DEVICE RF_SIZE RF_PORT RF_TIMEOUT
python=
for candidate in "${PYTHON:-python3}" /usr/bin/python3; do
	"$candidate" -c 'import cffi, numpy' 2> /dev/null && { python=$candidate; break; }
done
if [ -z "$python" ]; then
	echo "no Python with cffi and numpy: mk/deps.sh test installs python3-cffi and python3-numpy"
	exit 77
fi
PYTHONPATH=$(cd "${BUILD:-build}/python" && pwd)
LD_LIBRARY_PATH=$(cd "${BUILD:-build}/lib" && pwd)
export PYTHONPATH LD_LIBRARY_PATH PYTHONDONTWRITEBYTECODE=1 TMPDIR=$dir

# run CODE NAME=VALUE|OPTION... [-- ARGUMENT...]: a run of all checks that must end with this code
run() {
	local want=$1
	shift
	mkdir "$dir/shared"
	timeout -k 5 150 "$bin/ringfold" run "$@" -- "$python" "$here/python_rank.py" "$dir/shared" $more > "$dir/0.err" 2>&1 < /dev/null
	local code=$?
	rm -rf "$dir/shared"
	[ "$code" = "$want" ] || { echo "exit code $code instead of $want"; tail -40 "$dir/0.err"; return 1; }
}
more=
check "every function, constant and member of the header is bound" "$python" "$here/python_whole.py" "$PYTHONPATH"
if "$python" -c 'import mypy' 2> /dev/null; then
	check "annotations (mypy --strict)" "$python" -m mypy --strict --ignore-missing-imports --cache-dir "$dir/mypy" \
		--exclude "/torch[.]py$" "$PYTHONPATH/ringfold"
else
	check "mypy is installed (Debian package mypy)" false
fi
check "all calls, types and operations by the box" run 0 -n 2
RF_SCHEDULE=ring check "... without a box" run 0 -n 3
more=--flip
check "a wrong expectation is noticed" run 1 -n 2
check "... by name" says 0 "allreduce fp32 sum: element 0 is"
LD_LIBRARY_PATH=$dir "$python" -c 'import ringfold' > "$dir/0.err" 2>&1
check "no library: the import says what to do" says 0 "set LD_LIBRARY_PATH"
finish
