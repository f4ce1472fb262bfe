#!/bin/sh
# Breaks the rules of firmware/core/uplink*.c, and what other files do for uplinks, one at a time: fw_tree_test must
# detect each.
#
# usage: fw_tree_mutants.sh BUILD
set -u
build=$1
work=$build/mutants/fw_tree
tests=fw_tree_test
objects=$build/obj/tests/unit/fw_tree.o
limit=20
libs=$(for lib in rf-tree-walk fwlinux rf-member collective client model roce rfctl rf-store rf-config rfproto; do echo "$build/lib/lib$lib.a"; done)
libs="$libs $(pkg-config --libs libisal 2> /dev/null) -lpthread"
. tests/unit/fw_mutants.sh

mutant none uplink.c "RF_FW_UP_ASK" "RF_FW_UP_ASK"
# the chain
mutant own-address uplink.c "	if (rf_fw_address_any(fw, j->up[i].ip))" "	if (0)"
mutant only-parent uplink.c "		*detail = j->up[i].ip;
		if (loops(fw, j, i))" "		*detail = j->up[i].ip;
		if (i == 0 && loops(fw, j, i))"
mutant twice uplink.c "		if (j->up[k].ip == j->up[i].ip)" "		if (0)"
mutant any-depth uplink.c "	if (j->above > RF_CTL_ABOVE_MAX)" "	if (0)"
mutant not-directed uplink.c "!fw->uplinks || !(j->flags & RF_CTL_J_DIRECTED)" "!fw->uplinks"
mutant not-built uplink.c "!fw->uplinks || !(j->flags & RF_CTL_J_DIRECTED)" "!(j->flags & RF_CTL_J_DIRECTED)"
mutant no-boxes uplink.c "	if (j->above == 0)" "	if (0)"
mutant rank-range uplink.c "u->rank < u->ranks" "true"
mutant other-uplink uplink.c "u->chain[i].rank != j->up[i].rank" "false"
mutant no-uplink uplink.c "	if ((g->flags ^ j->flags) & RF_CTL_J_UPLINK)" "	if (0)"
mutant one-rank judge.c "j->flags & RF_CTL_J_UPLINK ? 1u : 2u" "2u"
# joining
mutant chain-not-passed uplink_send.c "	if (u->above > 1u)" "	if (0)"
mutant not-a-leaf uplink_send.c "RF_CTL_J_DIRECTED | RF_CTL_J_LEAF" "RF_CTL_J_DIRECTED"
mutant not-selective place.c "		high |= RF_CONN_PEER_MAC_HI_SELECTIVE_MASK;" "		;"
mutant ready-too-early join.c "	else if (g->uplink != RF_FW_NONE)
		rf_fw_uplink_begin(fw, g);" "	else if (g->uplink != RF_FW_NONE) {
		rf_fw_uplink_begin(fw, g);
		rf_fw_join_ready(fw, g);
	}"
mutant no-redraw uplink_life.c "u->turns < TURNS" "false"
mutant same-again uplink.c "	u->qpn = draw_qpn(fw);" "	u->qpn = 4242;"
mutant own-box-waits reply.c "	w->box_ip = u->box_ip;" "	;"
mutant nobody-missing reply.c "	memcpy(w->missing, u->missing, sizeof(w->missing));" "	;"
mutant later-deadline uplink_send.c "(uint32_t)left - EARLIER_MS : 1u" "(uint32_t)left + 1000u : 1u"
mutant late-is-ours uplink.c "	if (!u || u->state == RF_FW_UP_IDLE)
		return false;
	*f" "	return false;
	*f"
# hardware
mutant lane-of-rank place.c "		u->lane = taken[u->port];" "		u->lane = 0;"
mutant no-place place.c "RF_UPLINK_PLACE_ON_MASK |" "0u |"
mutant no-window place.c "	return (3u << u->slots_log2) / 8u;" "	return 0;"
mutant no-entry place.c "	*rank = RF_CTL_NO_RANK;
	return put_uplink(fw, g);" "	return true;"
mutant entry-stays place.c "	if (u && u->entry) {" "	if (0) {"
mutant wrong-start place.c "RF_CONN_START, u->start);" "RF_CONN_START, u->start + 1u);"
# life
mutant silent-renewal uplink_life.c "	settled(fw, u);
	rf_fw_join_ready(fw, g);" "	u->due_ms = RF_FW_NEVER;
	rf_fw_join_ready(fw, g);"
mutant whole-lease uplink.c "		shortest /= 2u;" "		shortest *= 2u;"
mutant patient uplink_life.c "joined && u->lease_ms != RF_CTL_LEASE_NONE ? u->lease_ms : ANSWER_MS" "ANSWER_MS"
mutant any-epoch uplink_life.c "	if (h->epoch != rf_fw_uplink_of(fw, g)->epoch)
		fail_ended" "	if (0)
		fail_ended"
mutant page-ignored uplink_life.c "	if (p->state == RF_CTL_S_FAILED)
		refused(fw, g, &f);
	else if" "	if"
# the end
mutant leaves-first uplink.c "	if (u->state == RF_FW_UP_READY) {
		u->state = RF_FW_UP_LEAVE;" "	if (u->state == RF_FW_UP_READY) {
		rf_fw_group_end(fw, g);
		u->state = RF_FW_UP_LEAVE;"
mutant never-leaves group.c "if (g->left == g->ranks && !rf_fw_uplink_leave(fw, g))" "if (g->left == g->ranks)"
mutant over-when-draining uplink_life.c "		if (fw->reply.result == RF_CTL_DRAINING && h->epoch == u->epoch)" "		if (0)"
mutant uplink-kept uplink_life.c "		rf_fw_uplink_free(fw, g);
		return RF_FW_NEVER;" "		return RF_FW_NEVER;"
# errors
mutant parent-not-told uplink.c "u->have_mac && u->state != RF_FW_UP_IDLE ? RF_FW_UP_ABORT" "0 ? RF_FW_UP_ABORT"
mutant nothing-told uplink_send.c "				       .reason = g->reason," "				       .reason = 0,"
mutant box-not-told uplink_send.c "		a->other.box_ip = fw->cfg.ip;" "		a->other.box_ip = 0;"
mutant box-not-read request.c "		g->fail_other = a->other;" "		g->fail_other.box_ip = m->src_ip;"
mutant parent-not-named uplink.c "		g->fail_other.box_ip = u->chain[0].ip;" "		;"
mutant restart-unseen join.c "	    m->peer_ip == j->peer_ip)" "	    m->peer_ip != j->peer_ip)"
mutant restart-unnamed join.c "	g->fail_other.box_ip = j->src_ip;" "	;"
mutant uplink-unnamed group.c "	if (u && u->port == port && u->lane == lane)" "	if (0)"
mutant not-logged log.c "g->fail_other.box_ip : 0u" "0u : 0u"
mutant tree-without-leaves status.c "			rf_ctl_mask_set(p->leaves, m->rank);" "			;"
mutant got-is-up status.c "RF_UPLINK_STRIDE + RF_UPLINK_GOT" "RF_UPLINK_STRIDE + RF_UPLINK_UP"
# refusals of the parent
mutant version uplink_life.c "		return RF_CTL_R_UPLINK_VERSION;" "		return RF_CTL_R_VERSION;"
mutant version-unheard uplink_life.c "	if (++u->refusals == REFUSALS)" "	if (0)"
mutant mtu uplink_life.c "		return RF_CTL_R_UPLINK_MTU;" "		return RF_CTL_R_MTU_DIFFERS;"
mutant type uplink_life.c "		return RF_CTL_R_UPLINK_TYPE;" "		return RF_CTL_R_TYPES_DIFFER;"
mutant slots uplink_life.c "		return RF_CTL_R_UPLINK_SLOTS;" "		return RF_CTL_R_NO_SLOTS;"
mutant quota uplink_life.c "		return RF_CTL_R_UPLINK_QUOTA;" "		return RF_CTL_R_QUOTA;"
exit $bad
