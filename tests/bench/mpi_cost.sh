#!/bin/bash
# What the seams of MPI cost, in instructions (callgrind) of rank 0 of two: a call that is passed on, and one that is served by a
# library whose calls complete at once, so that all of it is the seam's and MPI's own.
#   tests/bench/mpi_cost.sh OUT [LIMIT PASSED] [LIMIT SERVED]      BUILD has the seams; appends JSON lines, exit code 4 beyond a limit
set -u
out=$1 passed=${2:-250} served=${3:-5000}
build=${BUILD:-build}
here=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d "${TMPDIR:-/tmp}/ringfold-mpi.XXXXXX") || exit 1
trap 'rm -rf "$dir"' EXIT
LD_LIBRARY_PATH=$(cd "$build/mpi/stub" && pwd)
export LD_LIBRARY_PATH BUILD=$build
calls=1000
status=0

# profile CALL: callgrind's profile of measured() on rank 0, in $dir/cg-01
profile() {
	rm -f "$dir"/cg*
	RINGFOLD_MPI=1 RINGFOLD_MPI_TUNE=bcast:off timeout -k 5 200 "${launch[@]}" -n 1 valgrind --tool=callgrind --toggle-collect=measured \
		--separate-threads=yes --compress-strings=no --compress-pos=no --callgrind-out-file="$dir/cg" \
		"$build/mpi/$mpi/mpi_cost" "$1" $calls : -n 1 "$build/mpi/$mpi/mpi_cost" "$1" $calls \
		> "$dir/stdout" 2> "$dir/stderr" < /dev/null || { tail -20 "$dir/stdout" "$dir/stderr" >&2; return 1; }
}
figure() {
	local ok=true
	[ "$2" -le "$3" ] || { ok=false; status=4; }
	echo "$mpi: $1: $2 instructions (at most $3)" >&2
	printf '{"group": "mpi", "name": "%s: %s", "value": %d, "unit": "instructions/call", "limit": %d, "must": true, "ok": %s}\n' \
		"$mpi" "$1" "$2" "$3" $ok >> "$out"
}
for mpi in openmpi mpich; do
	[ -x "$build/mpi/$mpi/mpi_cost" ] || continue
	. "$here/../integrations/mpi_lib.sh"
	for call in bcast reduce; do
		object=libringfold-mpich.so next=PMPI_${call^}
		[ $mpi = mpich ] || { object=mca_coll_ringfold.so next=ompi_coll_tuned_${call}_intra_dec_fixed; }
		profile $call && each=$("${PYTHON:-python3}" -B "$here/mpi_cost.py" "$dir/cg-01" $object $next $((calls + 100))) || exit 1
		figure "$call that is passed on, beyond MPI's own" "$each" "$passed"
	done
	for call in allreduce iallreduce; do
		profile $call || exit 1
		each=$(awk -v n=$((calls + 100)) '/^totals: / { printf "%d\n", $2 / n }' "$dir/cg-01")
		[ "$each" -gt 100 ] || exit 1 # less than this cannot be
		figure "$call that is served, beyond the library's own" "$each" "$served"
	done
done
exit $status
