#!/bin/bash
# Programs of MPI in Fortran and Python, and one with four ranks, through one of the seams and the model of the box.
#   tests/integrations/mpi_more.sh openmpi|mpich
mpi=$1
ranks=4
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../e2e/lib.sh"
unset RF_SIZE RF_PORT RINGFOLD_MPI_TUNE
export RINGFOLD_MPI=1 RINGFOLD_MPI_STATS=1
. "$here/mpi_lib.sh"

# run N COMMAND...: these ranks by the box
run() {
	local n=$1
	shift
	timeout -k 5 200 "${launch[@]}" -n "$n" "$@" > "$dir/out" 2> "$dir/0.err" < /dev/null
	local code=$?
	[ "$code" = 0 ] || { echo "exit code $code"; tail -5 "$dir/out"; return 1; }
}
box_start
check "four ranks" run 4 "${BUILD:-build}/mpi/$mpi/mpi_calls"
check "... all checks" test "$(grep -c "of 4: [1-9][0-9]* checks" "$dir/out")" = 4
check "... by the box" says 0 "MPI rank 0: allreduce: [1-9][0-9]* by ringfold, .* 0 failed"
cp "$here/mpi_fortran.f90" "$dir/"
"mpif90.$mpi" -O1 -o "$dir/fortran" "$dir/mpi_fortran.f90" > "$dir/0.err" 2>&1
check "Fortran compiles" test $? = 0
check "Fortran" run 2 "$dir/fortran"
check "... no faults" test "$(grep -c "of 2: 0 faults" "$dir/out")" = 2
check "... three all-reduces by the box" says 0 "MPI rank 0: allreduce: 3 by ringfold"
check "... and the others" says 0 "MPI rank 0: bcast: 1 by ringfold"
if [ "$mpi" = openmpi ]; then # Debian's mpi4py is built for Open MPI
	check "mpi4py" run 2 /usr/bin/python3 "$here/mpi_numpy.py"
	check "... no faults" test "$(grep -c "of 2: 0 faults" "$dir/out")" = 2
	check "... by the box" says 0 "MPI rank 0: allgather: [1-9][0-9]* by ringfold"
fi
finish
