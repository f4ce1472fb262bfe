#!/bin/sh
# The Promela model of the ledger, of ring and mirror connections, and of directed groups: the
# properties of the correct cases hold in every state, and each mutant is caught.
#
#   tests/formal/spin/window.sh BUILD_DIR [full]      77: spin is not installed
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$1/formal/spin
full=${2:-}
model=$here/window.pml
optimise=-O2
. "$here/pan.sh"

one two-ranks 0 -DS=2 -DN=3 -DFAULTS=2
one two-ranks-wide 0 -DS=6 -DN=3 -DFAULTS=1
one window-ignored 0 -DS=2 -DW=S -DFAULTS=1
one three-ranks 0 -DRANKS=3 -DFAULTS=1
one passes-in-flight 0 -DSPLIT -DS=2 -DW=S -DFAULTS=1
one mutant-no-hold 1 -DSPLIT -DNO_HOLD -DS=2 -DW=S -DFAULTS=1
one mutant-nak-next 1 -DNAK_NEXT -DS=6 -DFAULTS=1
one mutant-silent 1 -DSILENT
one mutant-stale 1 -DSTALE -DW=S -DFAULTS=1
one mutant-window 1 -DW=S -DPUNCTUAL -DN=4 -DFAULTS=0
one mutant-nak-no-room 1 -DNAK_ROOM -DW=S -DN=4 -DFAULTS=0
one directed 0 -DDIRECTED -DS=2 -DN=5 -DFAULTS=1
one directed-wide 0 -DDIRECTED -DS=4 -DN=5 -DFAULTS=1
one directed-slip 0 -DDIRECTED -DSLIP -DS=2 -DN=4 -DFAULTS=1
one directed-in-flight 0 -DSPLIT -DDIRECTED -DS=2 -DW=S -DFAULTS=1
one mutant-directed-stale 1 -DDIRECTED -DSTALE -DW=S -DFAULTS=1
one mutant-keeps 1 -DDIRECTED -DKEEPS -DS=2 -DN=5 -DFAULTS=0
one mutant-forgets-no-loss 0 -DDIRECTED -DFORGETS -DS=4 -DW=S -DN=3 -DFAULTS=0
one mutant-forgets 1 -DDIRECTED -DFORGETS -DS=4 -DW=S -DN=3 -DFAULTS=1
one mutant-no-order 1 -DDIRECTED -DSLIP -DNO_ORDER -DS=2 -DN=4 -DFAULTS=1
one mutant-result-acks-one-loss 0 -DRESULT_ACKS -DS=2 -DN=3 -DFAULTS=1
one mutant-result-acks 1 -DRESULT_ACKS -DS=2 -DN=3 -DFAULTS=2
if [ "$full" = full ]; then
	one directed-two 0 -DDIRECTED -DS=2 -DN=4 -DFAULTS=2
	one directed-three 0 -DDIRECTED -DRANKS=3 -DN=5 -DFAULTS=1
	one two-ranks-any 0 -DS=2 -DN=3 -DFAULTS=255
	one two-ranks-long 0 -DS=2 -DN=5 -DFAULTS=4
	one two-ranks-four 0 -DS=4 -DN=4 -DFAULTS=2
	one window-ignored-4 0 -DS=4 -DW=S -DN=5 -DFAULTS=0
	one three-ranks-2 0 -DRANKS=3 -DFAULTS=2
fi
exit $failed
