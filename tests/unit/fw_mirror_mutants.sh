#!/bin/sh
# Breaks the rules of mirror ranks, directed groups and addresses of the ports one at a time: one of the tests below must
# detect each.
#
# usage: fw_mirror_mutants.sh BUILD
set -u
build=$1
work=$build/mutants/fw_mirror
tests="fw_mirror_test fw_address_test fw_port_test"
objects="$build/obj/tests/unit/fw_ask.o $build/obj/tests/unit/fw_box.o $build/obj/tests/unit/fw_mirror.o"
# The tests take some milliseconds.
limit=10
libs="$build/lib/libfwlinux.a $build/lib/librfctl.a $build/lib/librfproto.a"
. tests/unit/fw_mutants.sh

mutant none join.c "rf_fw_joined_from" "rf_fw_joined_from"
# JOIN
mutant joined-when-asked join.c "!rf_fw_at_port(fw, m, q))" "false)"
mutant joined-anywhere reply.c "q->port == m->port && q->addr.dst_ip == fw->address[m->port].ip" "q->port == m->port"
mutant not-counted join.c "	g->joined++;" "	;"
mutant other-port-refused join.c "j->port != m->wish && j->port != m->port" "j->port != m->port"
mutant order-of-arrival address.c "	return ranks_on(fw, g, port) < fw->lanes ?" "	return false ?"
mutant lanes-taken address.c "	return ranks_on(fw, g, port) < fw->lanes ?" "	return true ?"
mutant port-not-usable address.c "		if (rf_fw_address_usable(fw, p) && (allowed >> p & 1u))" "		if (allowed >> p & 1u)"
mutant port-not-allowed address.c "		if (rf_fw_address_usable(fw, p) && (allowed >> p & 1u))" "		if (rf_fw_address_usable(fw, p))"
mutant lowest-port address.c "n = ranks_on(fw, g, p);" "n = 0;"
mutant highest-port address.c "		if (n < fewest) {" "		if (n <= fewest) {"
mutant claimed-port address.c "a->used && !a->claimed;" "a->used;"
mutant probing-port address.c "return a->ip != 0 && a->used && !a->claimed;" "return a->ip != 0 && !a->claimed;"
mutant stays-put join.c "!rf_fw_address_usable(fw, m->port) &&" "false &&"
mutant table-not-asked join.c "if (rf_fw_conn_find(fw, j->src_ip, rf_fw_key(role, j->qpn)))" "if (0)"
mutant ring-not-asked join.c "	return data_taken(fw, NULL, job, j->src_ip, j->qpn) || ack_taken(fw, j);" "	return ack_taken(fw, j);"
mutant own-not-asked join.c "	return data_taken(fw, NULL, job, j->src_ip, j->qpn) || ack_taken(fw, j);" "	return data_taken(fw, NULL, job, j->src_ip, j->qpn);"
mutant mirror-named join.c "m->mirror ? m->src_ip == ip && m->qpn == qpn" "m->mirror ? false"
mutant shift-of-rank judge.c "!shift_fits(fw, g, j)" "false"
mutant key-with-ports join.c "k && k->ports && k->job != RF_CTL_JOB_OPERATOR ? k->ports : wanted" "wanted"
mutant family judge.c "if (j->family == RF_CTL_FAMILY_IPV6)" "if (0)"
mutant bits-of-floats judge.c "!(FLOATING >> j->dtype & 1u)" "true"
mutant copy-anywhere judge.c "		return (j->flags & RF_CTL_J_DIRECTED) != 0;" "		return true;"
mutant type-not-built judge.c "if (!(fw->types >> j->dtype & 1u))" "if (0)"
mutant mirror-not-built judge.c "if (!fw->mirror && rf_fw_is_mirror(j))" "if (0)"
mutant directed-not-built judge.c "if (!fw->directed && (j->flags & RF_CTL_J_DIRECTED))" "if (0)"
# quotas
mutant one-entry keys.c "return (uint32_t)g->ranks + g->doubles +" "return (uint32_t)g->ranks +"
mutant ring-beside-mirror join.c "	return left.entries > 0;" "	return true;"
# hardware
mutant no-entry place.c "rf_fw_key(RF_FW_ROLE_MIRROR, m->qpn),
			    rf_fw_value" "rf_fw_key(RF_FW_ROLE_ACK, m->qpn),
			    rf_fw_value"
mutant entry-stays place.c "		if (m->put & RF_FW_PUT_MIRROR)" "		if (0)"
mutant peer-of-ring place.c "m->mirror ? m->src_ip : m->peer_ip" "m->peer_ip"
mutant successor-a-mirror place.c "if (!p->mirror && p->src_ip == m->peer_ip)" "if (p->src_ip == m->peer_ip)"
mutant not-mirror place.c "RF_CONN_PEER_MAC_HI_MIRROR_MASK | rf_get_be16(m->mac)" "rf_get_be16(m->mac)"
mutant mac-stays reply.c "	rf_fw_place_mac(fw, g, m);" "	;"
mutant mac-of-any reply.c "	if (!rf_fw_at_port(fw, m, q) || " "	if ("
mutant not-directed place.c "		cfg |= RF_GROUP_CFG_DIRECTED_MASK;" "		;"
# errors
mutant values-exchanged group.c "RF_GROUP_ERROR_WANT));" "RF_GROUP_ERROR_GOT));"
mutant first-always group.c "((o->value ^ value) & IMMEDIATE_TYPE_MASK) != 0;" "true;"
mutant value-of-ring group.c "	if (g->flags & RF_CTL_J_DIRECTED)
		value" "	if (1)
		value"
mutant no-order group.c "		return RF_CTL_R_ORDER;" "		return RF_CTL_R_IMMEDIATE;"
# addresses
mutant answers-early address.c "a->used = fw->cfg.probe_ms == 0;" "a->used = 1;"
mutant two-probes address.c "#define PROBES 3u" "#define PROBES 2u"
mutant used-at-once address.c "#define PROBE_WAITS 2u" "#define PROBE_WAITS 0u"
mutant never-announced address.c "	a->due_ms = fw->now_ms + fw->cfg.announce_ms;" "	a->due_ms = RF_FW_NEVER;"
mutant own-claims address.c "|| own_mac(fw, q->sender_mac))" ")"
mutant no-rival address.c "q->sender_ip != a->ip && !rival" "q->sender_ip != a->ip"
mutant claim-for-ever address.c "fw->now_ms - a->claim_ms < CLAIM_MS" "fw->now_ms - a->claim_ms < 2 * CLAIM_MS"
mutant claim-not-renewed address.c "	a->claim_ms = fw->now_ms;" "	if (!a->claimed)
		a->claim_ms = fw->now_ms;"
mutant not-logged address.c "		rf_fw_note(fw, RF_CTL_EV_CLAIMED," "		(void)(fw, RF_CTL_EV_CLAIMED,"
mutant announced-though-claimed address.c "if (!a->claimed && a->used && fw->now_ms" "if (a->used && fw->now_ms"
mutant probed-though-claimed address.c "if (!a->claimed && is_probing(a) && fw->now_ms" "if (is_probing(a) && fw->now_ms"
mutant gateway-forgotten address.c "			fw->cnt.gateway_silent++;" "			;"
mutant probe-lost send.c "	if (!can_send(fw, port) && !stuck(fw, port))
		return false;" ""
mutant twice-allowed address.c "			if (configured(cfg, q) == ip)" "			if (0)"
mutant own-address address.c "	if (ip == cfg->ip)" "	if (0)"
mutant at-gateway address.c "	if (ip == cfg->gateway)" "	if (0)"
mutant group-address address.c "ip >> 24 != 127u && ip >> 28 < 0xeu" "ip >> 24 != 127u"
mutant loopback-address address.c "ip >> 24 != 127u && ip >> 28 < 0xeu" "ip >> 28 < 0xeu"
mutant zero-address address.c "ip >> 24 != 0 && ip >> 24 != 127u" "ip >> 24 != 127u"
mutant box-any address.c "	if (!is_host(cfg->ip) || !in_subnet(cfg, cfg->ip))" "	if (!in_subnet(cfg, cfg->ip))"
mutant box-at-end address.c "	if (!is_host(cfg->ip) || !in_subnet(cfg, cfg->ip))" "	if (!is_host(cfg->ip))"
mutant too-many address.c "		if (cfg->port_ip[p] != 0)" "		if (0)"
mutant outside-subnet address.c "	if (((ip ^ cfg->ip) & mask) != 0)" "	if (0)"
mutant broadcast-allowed address.c "(ip | mask) != UINT32_MAX" "true"
exit $bad
