#!/bin/sh
# Breaks the rules of firmware/core/watch.c one at a time: fw_watch_test must detect each.
#
# usage: fw_watch_mutants.sh BUILD
set -u
build=$1
work=$build/mutants/fw_watch
tests=fw_watch_test
objects=
libs="$build/lib/libfwlinux.a $build/lib/libclient.a $build/lib/libmodel.a $build/lib/libroce.a $build/lib/librfctl.a $build/lib/librfproto.a $(pkg-config --libs libisal 2> /dev/null)"
. tests/unit/fw_mutants.sh

mutant none watch.c "watched" "watched"
mutant nothing-held watch.c "	rf_fw_write(fw, RF_HOLD_PORTS, ports);" ""
mutant one-packet watch.c "if (m->strays > 0 && m->stray == hash)" "if (1)"
mutant never watch.c "return ++m->strays >= STRAYS_MAX;" "return false;"
mutant any-source watch.c "m->src_ip == s->src && " ""
mutant others-too watch.c "(RF_CTL_J_STRICT | RF_CTL_J_OTHERS)" "RF_CTL_J_STRICT"
mutant ends-with-group watch.c "return g->live || (g->state" "return g->live; return (g->state"
mutant ends-when-dropped watch.c "	(*g)->suspect = 1;" "	(*g)->suspect = here && (*m)->strays > 0;"
mutant ends-with-error group.c "	g->suspect = 1;" ""
mutant passes-elsewhere watch.c "		*m = sender(fw, s, true, g);" "		;"
mutant cuts-elsewhere watch.c "(elsewhere && !has_address(fw, g, s->ip))" "(elsewhere && !has_address(fw, g, s->src))"
mutant fails-elsewhere watch.c "!(here && convicted(*m, s))" "!convicted(*m, s)"
mutant old-failure watch.c "				o->spoke = 1;" "				;"
mutant no-limit watch.c "	fw->blind |= (uint8_t)bit;" ""
mutant foreign-stays watch.c "	if (over != 0 && fw->foreigns > 0)" "	if (0)"
mutant foreign-before watch.c "	if (fw->foreigns > 0)
		rf_fw_conn_forget_foreign(fw, fw->watched);
	fw->strict = 1;" "	fw->strict = 1;"
mutant not-foreign conn.c ".cid = RF_FW_FOREIGN_CID," ".cid = 0,"
mutant not-cut hold.c "return left.entries > 0 &&" "return false &&"
mutant spoke-unseen watch.c "		m->spoke = 1;" "		;"
mutant held-instead hold.c "	if (stray != RF_FW_STRAY_NONE)
		entered" "	if (0)
		entered"
mutant only-registered place.c "m->spoke || !(g->flags & RF_CTL_J_STRICT)" "true"
mutant all-packets place.c "m->spoke || !(g->flags & RF_CTL_J_STRICT)" "false"
mutant no-last-look group.c "	if (g->flags & RF_CTL_J_STRICT)
		rf_fw_group_look(fw, g);" ""
exit $bad
