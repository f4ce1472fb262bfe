#!/bin/bash
# Launchers: a shell loop, mpirun, torchrun's environment, PMI, Slurm. All except mpirun are imitated by
# setting their variables: srun needs a Slurm cluster, Debian's torchrun does not run.
ranks=2
. "$(dirname "$0")/lib.sh"
box_start
program=$bin/allreduce
want="0 of 2: 1 3 ... 1999"

# with NAME-OF-RANK NAME-OF-SIZE [VARIABLE=VALUE ...]: starts both ranks with these variables
with() {
	local rank=$1 size=$2 r
	shift 2
	for r in 0 1; do
		env -u RF_RANK -u RF_SIZE "$rank=$r" "$size=2" "$@" "$program" > "$dir/$r.out" 2> "$dir/$r.err" &
		pid[$r]=$!
	done
	for r in 0 1; do
		rank_wait $r
		codes[r]=$?
	done
	codes_are 0 && grep -q "rank $want" "$dir/0.out"
}

check "RF_RANK, RF_SIZE" with RF_RANK RF_SIZE
check "torchrun" with RANK WORLD_SIZE LOCAL_RANK=0 MASTER_ADDR=127.0.0.1 MASTER_PORT=29500
check "PMI" with PMI_RANK PMI_SIZE PMI_FD=7
check "Slurm" with SLURM_PROCID SLURM_NTASKS SLURM_JOB_ID=5 SLURM_LOCALID=0
check "Open MPI's variables" with OMPI_COMM_WORLD_RANK OMPI_COMM_WORLD_SIZE OMPI_COMM_WORLD_LOCAL_RANK=0
check "RF_RANK has precedence" with RF_RANK RF_SIZE RANK=7 WORLD_SIZE=8 SLURM_PROCID=3 SLURM_NTASKS=4

if command -v mpirun > /dev/null; then
	unset RF_SIZE
	mpirun --allow-run-as-root --oversubscribe -n 2 "$program" > "$dir/mpi.out" 2> "$dir/mpi.err"
	check "mpirun" test $? = 0
	check "... both ranks" grep -q "rank 1 of 2: 1 3 ... 1999" "$dir/mpi.out"
	export RF_SIZE=2
else
	# mpirun is a package of the tests (mk/deps.sh): the check must not be skipped silently
	check "mpirun is installed (Debian package openmpi-bin)" false
fi

# errors in an environment are reported
env -u RF_RANK -u RF_SIZE RANK=1 "$program" 2> "$dir/0.err"
check "RANK without WORLD_SIZE" test $? = 1
check "... by name" says 0 WORLD_SIZE
RF_RANK=2 "$program" 2> "$dir/0.err"
check "rank not below size" says 0 "RF_RANK=2"
env -u RF_RANK -u RF_SIZE -u RF_DEVICE "$program" > "$dir/0.out"
check "no variables: one rank, no network" grep -q "rank 0 of 1: 0 1 ... 999" "$dir/0.out"
finish
