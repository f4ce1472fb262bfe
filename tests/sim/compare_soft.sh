#!/bin/sh
# The software box beside the model: with each set of instructions that the processor has, and beside a model with a fault,
# which must be noticed.
#
#   tests/sim/compare_soft.sh PROGRAM simd|mutants
set -u
compare=$1
failed=0
case $2 in
simd)
	for simd in none avx2 avx512; do
		RF_SIMD=$simd "$compare" --engine-b soft --shape 4,4,512 --count 5000 --seed 40
		rc=$?
		# The program ends with 77 if the box cannot be made.
		if [ $rc -eq 77 ] && [ $simd != none ]; then
			echo "the processor does not have $simd"
		elif [ $rc -ne 0 ]; then
			failed=1
		fi
	done
	RF_SIMD=sse9 "$compare" --engine-b soft --count 1 2>&1 | grep "RF_SIMD=sse9: expected none, avx2 or avx512" || failed=1
	;;
mutants)
	for mutant in tree nan behalf silent window shift icrc beyond ackreq repeat disagree counter source pad naknext nakroom lookup unknown wrongport empty wants tag copy order padkept; do
		"$compare" --engine-a "model:$mutant" --engine-b soft --count 20000 > /dev/null
		[ $? -eq 1 ] || { echo "mutant $mutant: not noticed"; failed=1; }
	done
	;;
*)
	echo "usage: compare_soft.sh PROGRAM simd|mutants" >&2
	exit 2
	;;
esac
exit $failed
