#!/bin/bash
# A program of MPI through one of the seams: by the model of the box, without a box, and what happens if that fails.
#   tests/integrations/mpi.sh openmpi|mpich
mpi=$1
. "$(dirname "$0")/../e2e/lib.sh"
unset RF_SIZE RF_PORT RINGFOLD_MPI RINGFOLD_MPI_TUNE RINGFOLD_MPI_STATS
export RINGFOLD_MPI_STATS=1
program=${BUILD:-build}/mpi/$mpi/mpi_calls
if [ ! -x "$program" ] || ! command -v "mpirun.$mpi" > /dev/null; then
	echo "no $mpi: mk/deps.sh test installs libopenmpi-dev, mpich and libmpich-dev"
	exit 77
fi
. "$(dirname "$0")/mpi_lib.sh"

# mpi CODE NAME=VALUE ... [-- ARGUMENT...]: both ranks of the program with these variables
mpi() {
	local want=$1 set=()
	shift
	while [ $# -gt 0 ] && [ "$1" != -- ]; do
		set+=("$1")
		shift
	done
	shift
	timeout -k 5 100 env "${set[@]}" "${launch[@]}" -n "$ranks" "$program" "$@" > "$dir/out" 2> "$dir/0.err" < /dev/null
	local code=$?
	[ "$want" = failure ] && [ $code -ne 0 ] && [ $code -ne 124 ] && return 0
	[ "$code" = "$want" ] || { echo "exit code $code instead of $want"; tail -5 "$dir/out"; return 1; }
}
# Whether every collective that a pattern names went by ringfold on rank 0, at least once.
served() {
	local kind
	for kind in allreduce reduce bcast barrier allgather allgatherv reduce_scatter reduce_scatter_block gather scatter; do
		grep -q "MPI rank 0: $kind: [1-9][0-9]* by ringfold, .* 0 failed" "$dir/0.err" || { echo "$kind did not go by ringfold"; return 1; }
	done
}
none_served() {
	! grep -q ": [1-9][0-9]* by ringfold" "$dir/0.err"
}
# Waits until the groups of the job before have given their slots back: a group takes fewer slots if others hold some.
box_empty() {
	for _ in $(seq 300); do
		RF_RANK=9 RF_IP=10.0.0.99 RF_DEVICE=$spare "$bin/ringfold-ctl" status --json 2> /dev/null | grep -q '"slots_free": 512' && return 0
		sleep 0.1
	done
	return 1
}
all_checked() {
	[ "$(grep -c "of $ranks: [1-9][0-9]* checks" "$dir/out")" = "$ranks" ]
}

check "off: MPI alone" mpi 0 --
check "... all checks" all_checked
check "... nothing by ringfold" none_served

check "a device that is not there: MPI goes on by itself" mpi 0 RINGFOLD_MPI=1 RF_DEVICE=net_nothing0 --
check "... all checks" all_checked
check "... with the cause" says 0 "MPI goes on without ringfold: .*net_nothing0"
check "... an error with RINGFOLD_MPI=2" mpi failure RINGFOLD_MPI=2 RF_DEVICE=net_nothing0 --
check "settings that cannot be read" mpi 0 RINGFOLD_MPI=1 RINGFOLD_MPI_TUNE=allreduce:many --
check "... are named" says 0 "RINGFOLD_MPI_TUNE: the range of \"allreduce:many\""

spare=net_memif0,role=client,id=0,socket=$dir/spare.sock,socket-abstract=no
box_start --port "spare=memif:$dir/spare.sock"
check "by the box" mpi 0 RINGFOLD_MPI=1 RF_DEBUG=info --
check "... all checks" all_checked
check "... every collective by the box" served
check "... types and operations that it lacks by MPI" says 0 "by MPI (type that the box does not reduce).*by MPI (operation"
# WORLD, five duplicates, the reverse one; halves have one rank each
check "... one line for each communicator" test "$(grep -c 'info: MPI communicator .*by the box: allreduce, reduce, bcast' "$dir/0.err")" = 7
check "a wrong expectation is noticed" mpi failure RINGFOLD_MPI=1 -- --flip
check "... by name" grep -q "allreduce, type 0, op 0, element 0" "$dir/out"
check "sizes" mpi 0 RINGFOLD_MPI=1 RINGFOLD_MPI_TUNE=allreduce:0-100,bcast:off RF_DEBUG=info --
check "... in the line of the communicator" says 0 "by the box: allreduce of 0 to 100 bytes, reduce, .*by MPI: bcast (RINGFOLD_MPI_TUNE)"
check "... are passed on" says 0 "allreduce: [1-9][0-9]* by ringfold.*by MPI (RINGFOLD_MPI_TUNE)"
check "... all of one kind" says 0 "bcast: 0 by ringfold"
check "the box is empty" box_empty
check "a full box: the first communicator goes by it" mpi 0 RINGFOLD_MPI=1 RF_SLOTS=512 --
check "... all checks" all_checked
check "... the others go by MPI, and say why" says 0 "MPI communicator mpi.0.1, 2 ranks: all calls by MPI: .*slot"
check "... it is empty again" box_empty
check "... or are an error, with RINGFOLD_MPI=2" mpi failure RINGFOLD_MPI=2 RF_SLOTS=512 --

check "without a box" mpi 0 RINGFOLD_MPI=1 RF_SCHEDULE=ring RF_DEBUG=info --
check "... all checks" all_checked
check "... every collective by ringfold" served
check "... says so" says 0 "info: MPI communicator .*by ringfold's ring: allreduce"

# The box loses its state in the middle of a run. The leases of the job that ended with an error run out first.
check "the box is empty once more" box_empty
timeout -k 5 100 env RINGFOLD_MPI=1 "${launch[@]}" -n "$ranks" "$program" --lose > "$dir/out" 2> "$dir/0.err" < /dev/null &
pid[0]=$!
for _ in $(seq 400); do
	[ "$(grep -c ready "$dir/out")" = "$ranks" ] && break
	sleep 0.05
done
RF_RANK=9 RF_IP=10.0.0.99 RF_DEVICE=$spare "$bin/ringfold-ctl" reset > "$dir/ctl.out" 2>&1
check "the box is reset during the run" test $? = 0
rank_wait 0
check "... an error of MPI on all ranks, and no call is made again by other means" test "$(grep -c 'error of MPI' "$dir/out")" = "$ranks"
check "... with the library's text" says 0 "warn: MPI allreduce: .*reset"

if [ "$mpi" = mpich ]; then
	LD_BIND_NOW=1 LD_PRELOAD=$seam/libringfold-mpich.so "$BASH" -c true
	check "a program that is not one of MPI starts with the preload" test $? = 0
fi
finish
