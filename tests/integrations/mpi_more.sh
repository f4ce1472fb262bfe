#!/bin/bash
# Programs of MPI in Fortran and Python, hpcc, threads, more ranks, the Verilog, and a box that is killed, through one of the seams.
#   tests/integrations/mpi_more.sh openmpi|mpich
mpi=$1
ranks=8
box_ports=8
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../e2e/lib.sh"
unset RF_SIZE RF_PORT RINGFOLD_MPI_TUNE
export RINGFOLD_MPI=1 RINGFOLD_MPI_STATS=1
export RF_TIMEOUT=60000 # MPI's ranks spin, and there may be more of them than processors
. "$here/mpi_lib.sh"
programs=$(cd "${BUILD:-build}/mpi/$mpi" && pwd)

# run N COMMAND...: these ranks by the box
run() {
	local n=$1
	shift
	timeout -k 5 400 "${launch[@]}" -n "$n" "$@" > "$dir/out" 2> "$dir/0.err" < /dev/null
	local code=$?
	[ "$code" = 0 ] || { echo "exit code $code"; tail -5 "$dir/out"; grep "warn: " "$dir/0.err" | cut -c1-300; return 1; }
}
faultless() {
	[ "$(grep -c "of $1: 0 faults" "$dir/out")" = "$1" ]
}
by_box() {
	grep -q "MPI rank 0: $1: [1-9][0-9]* by ringfold, .* 0 failed" "$dir/0.err"
}
box_start
check "four ranks" run 4 "$programs/mpi_calls"
check "... all checks" test "$(grep -c "of 4: [1-9][0-9]* checks" "$dir/out")" = 4
check "... by the box" by_box allreduce
check "eight ranks, three threads each" run 8 "$programs/mpi_threads" 3
check "... no faults" faultless 8
check "... by the box" by_box bcast
check "MPI_THREAD_MULTIPLE, two ranks" run 2 "$programs/mpi_threads" 40
check "... no faults" faultless 2
check "... by the box" by_box allreduce
! run 2 "$programs/mpi_threads" --flip 1 > /dev/null
check "... a wrong expectation is noticed" test $? = 0
cp "$here/mpi_fortran.f90" "$dir/"
"mpif90.$mpi" -O1 -o "$dir/fortran" "$dir/mpi_fortran.f90" > "$dir/0.err" 2>&1
check "Fortran compiles" test $? = 0
check "Fortran" run 2 "$dir/fortran"
check "... no faults" faultless 2
check "... three all-reduces by the box" says 0 "MPI rank 0: allreduce: 3 by ringfold"
check "... and the others" says 0 "MPI rank 0: bcast: 1 by ringfold"
if [ "$mpi" = openmpi ]; then # Debian's mpi4py and hpcc are built for Open MPI
	check "mpi4py" run 2 /usr/bin/python3 "$here/mpi_numpy.py"
	check "... no faults" faultless 2
	check "... by the box" by_box allgather
	# a small problem
	sed -E 's/^1000( +Ns)/64\1/; s/^80( +NBs)/16\1/; s/^2( +Ps)/1\1/' /usr/share/doc/hpcc/examples/_hpccinf.txt > "$dir/hpccinf.txt"
	check "hpcc" run 2 --wdir "$dir" hpcc
	check "... it has come to its end" grep -q '^Success=1' "$dir/hpccoutf.txt"
	check "... HPL's residual, and all other checks of its own" sh -c "grep -q 'PASSED' '$dir/hpccoutf.txt' && ! grep -qE 'FAILED|FAILURE' '$dir/hpccoutf.txt'"
	check "... by the box" by_box allreduce
	grep "MPI rank 0:" "$dir/0.err"
fi

box_stop
engine=rtl ranks=4 box_ports=4
box_start
check "the Verilog, four ranks" run 4 "$dir/fortran"
check "... no faults" faultless 4
check "... by the box" by_box allreduce

# The box dies in the middle of a run; its captures have no end.
box_stop
engine=model ranks=2 box_ports=2
box_start
timeout -k 5 200 env RF_TIMEOUT=4000 "${launch[@]}" -n 2 "$programs/mpi_calls" --lose > "$dir/out" 2> "$dir/0.err" < /dev/null &
pid[0]=$!
for _ in $(seq 1200); do
	[ "$(grep -c ready "$dir/out")" = 2 ] && break
	sleep 0.05
done
kill -KILL "$box"
wait "$box" 2> /dev/null
box=
check "the box is killed during the run: it had begun" test "$(grep -c ready "$dir/out")" = 2
rank_wait 0
check "... an error of MPI on all ranks, and no call is made again by other means" test "$(grep -c 'error of MPI' "$dir/out")" = 2
check "... with the library's text" says 0 "warn: MPI allreduce: "
boxes=$((boxes - 1))
finish
