#!/bin/sh
# fuzz.sh PROGRAM CORPUS [FAULT]...: the kept inputs are without fault, and with each FAULT they are not. RF_FUZZ_CORPUS tells the
# program that it has all of them: together they must reach what it lists, if it lists anything.
program=$1
corpus=$2
shift 2
export RF_FUZZ_CORPUS=1
"$program" "$corpus"/* || exit 1
exec 2> /dev/null # what the faults say
for fault; do
	if (ulimit -c 0; RF_FUZZ_FAULT=$fault "$program" "$corpus"/*) > /dev/null; then
		echo "fault $fault was not noticed"
		exit 1
	fi
done
