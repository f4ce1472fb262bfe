#!/bin/sh
# fuzz.sh PROGRAM CORPUS [FAULT]...: the kept inputs are without fault, and with each FAULT they are not.
program=$1
corpus=$2
shift 2
"$program" "$corpus"/* || exit 1
exec 2> /dev/null # what the faults say
for fault; do
	if (ulimit -c 0; RF_FUZZ_FAULT=$fault "$program" "$corpus"/*) > /dev/null; then
		echo "fault $fault was not noticed"
		exit 1
	fi
done
