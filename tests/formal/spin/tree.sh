#!/bin/sh
# The Promela model of a tree of boxes: the properties hold in every state, and each mutant, named as
# the rule of docs/box.md that it breaks, is caught.
#
#   tests/formal/spin/tree.sh BUILD_DIR [full]      77: spin is not installed
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$1/formal/spin-tree
full=${2:-}
model=$here/tree.pml
optimise=-O1 # the compiler takes longer than the search
. "$here/pan.sh"

one go-back-n 0 -DS0=2 -DSP=2
one selective-in-flight 0 -DSELECTIVE -DSPLIT -DS0=2 -DSP=4
one mutant-result-old 1 -DRESULT_OLD -DS0=2 -DSP=4
one mutant-again-look 1 -DAGAIN_LOOK
one mutant-pass-holds 1 -DPASS_HOLDS -DSPLIT
one mutant-ack-got 1 -DACK_GOT -DS0=4 -DSP=4
one mutant-tick-ack 1 -DTICK_ACK -DFAULTS=2
one mutant-tick-probe 1 -DTICK_PROBE -DN=2
one mutant-tick-one 1 -DTICK_ONE -DS0=4 -DSP=4 -DN=2
if [ "$full" = full ]; then
	one mutant-up-window 1 -DUP_WINDOW -DS0=4 -DSP=2 -DN=2
	one two-faults 0 -DFAULTS=2 -DN=2
fi
exit $failed
