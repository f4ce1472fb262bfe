#!/usr/bin/env python3
"""Break modules of rtl/reduce and rtl/control in one place at a time: the benches tests/rtl/unit_*.cpp must notice each time.

usage: unit_mutants.py BUILD

Benches and their parameters are those of mk/rtl-bench.mk. Exit 1 if a mutant survives, if its text is no longer in
the source, or if it does not build.
"""
import re
import sys

import net_mutants

RED = "rtl/reduce/rf_"
CTL = "rtl/control/rf_"
LIB = ["rtl/lib/rf_%s.v" % n for n in ("ram_lut", "ram_sdp", "fifo", "delay", "rr_arb", "parity", "ram_parity", "fifo_parity",
                                       "delay_parity")]

# Module: pairs of text and replacement; before them the submodule that contains the text, if the module itself does not.
MUTANTS = {
    RED + "ram_many": [("mem[rd_addr[r*AW +: AW]]", "mem[rd_addr[0 +: AW]]")],
    RED + "seen": [("set_ack || (!set && clr_bits[1])", "set_ack || (!set && clr_bits[0])"),
                   ("assign clr_ready = !set;", "assign clr_ready = 1'b1;")],
    RED + "tomb": [("e_any || ", ""), ("e_lost || ", ""), ("e_port == THIS[2:0] && ", ""), (" && e_ip == ask_ip", ""), (".wr_data(!firmware_set)", ".wr_data(1'b1)"),
                   ("if (ask) p4_number_q <= p3_number_q", "p4_number_q <= rd_number[AW-1:0]")],
    CTL + "held": [("key == shown_q[KW-1:0]", "key == {key[KW-1], shown_q[KW-2:0]}"), ("&& (!wait_q[p] || goes[p])) frame_q", ") frame_q"),
                   ("known & wait_q & ~goes", "known & wait_q"), ("else if (pop) missed_q", "else if (pop && !valid_q) missed_q"),
                   ("from  = from | k[2:0];", "from  = 3'd0;")],
    RED + "conn_static": [(".wr_en(wr_field[3])", ".wr_en(wr_field[2])"), ("wr_data[2:0]", "{1'b0, wr_data[1:0]}")],
    RED + "conn_mac": [("swept ? wr_data : 49'd0", "wr_data"), ("swept ? wr_addr : sweep_q[AW-1:0]", "wr_addr"),
                       (".READ_LATENCY(2)", ".READ_LATENCY(1)"), ("!swept || wr_en", "!swept || (wr_en && wr_data[48])")],
    CTL + "counters": [("if (!ready) {verdict_q, sent_q, single_q}", "if (rst) {verdict_q, sent_q, single_q}"), ("else if (!clear_q[6])", "else if (!clear_q[5])"),
                       ("rd_number > `RF_CNT_TX_FRAMES", "rd_number > `RF_CNT_TX_FIRST"), ("single_q[1]) tx_down_q", "single_q[0]) tx_down_q")],
    RED + "repeatq": [("if (m_pop && youngest == rd_q)", "if (m_pop)"), ("count <= DEPTH - LANES", "count < DEPTH - LANES"),
                      ("count + 32'd4 < DEPTH - 2 * LANES", "count < DEPTH")],
    RED + "passthru": [("(15'd1 << BYTES_LOG2) - 15'd1", "(15'd1 << BYTES_LOG2)"), ("len_valid && some_q;", "len_valid && p_valid;"), (" && begun_q > ONE", ""),
                       ("len_room && need", "need")],
    RED + "port_tx": [("enough       = run_q >= RESULTS[3:0]", "enough       = run_q > RESULTS[3:0]"),
                       ("(ack_turn || res_begins || !res_next[r])", "(res_begins || !res_next[r])"),
                       ("if (rst || on_q[ACK]) ack_turn_q", "if (rst) ack_turn_q"),
                      ("!on_q[RES] && (res_p_valid || r != 0)", "1'b0"), ("soon = res_next_beat ||", "soon ="),
                       ("(begins && on_q[RES] && res_next_copy)", "1'b0"),
                      ("run_q + 4'd1 == RESULTS[3:0])", "1'b0)"), ("{1'b0, share} - 5'd16", "5'd16"),
                       ("!credit_q[15] && !for_waits[result]", "1'b0"), ("may_for      = res_next[r] && ", "may_for      = "), ("on_q[FOR]) ? for_more", "on_q[FOR]) ? 1'b0"),
                       ("charged_q <= res_next[result]", "charged_q <= 1'b1"), ("inj_first_q <= picks_for", "inj_first_q <= 1'b0")],
    RED + "results": [(RED + "results_fit", "hdr[439] | (ackreq & vlan)", "hdr[439] | ackreq"), ("{r_pad != 2'd0, r_pad[1], r_pad == 2'd3}", "{r_pad == 2'd3, r_pad[1], r_pad != 2'd0}"),
                      ("pack_room && !pack_drop &&", "pack_room &&"), ("h_take && n_done_q + 5'd1 == n_copies", "h_take"),
                      ("r_done_q != 5'd0 || r_ptr_q != wr_q", "1'b1"), ("p_ready && beat_bad", "p_last && beat_bad"),
                      ("(leave && h_bad) || ", ""), (".wr_bad(out_bad)", ".wr_bad(1'b0)"),
                      ("(MIRROR == 0 || !hdr_mirror)", "1'b1"), ("(MIRROR == 0 || !hdr_mirror)", "MIRROR == 0")],
    RED + "bank": [(" && !(q_op == OP_STORE && punts_q != 3'd0)", ""), ("turned[639:464], be_psn, turned[439:0]",
                                                                         "turned[639:464], h_psn, turned[439:0]"),
                   ("be_sum, h_hdr[8*27+:8], 8'd64", "be_sum, h_hdr[8*27+:8], h_hdr[8*26+:8]"), ("MIRROR != 0 && h_mirror", "1'b0"),
                   ("{h_hdr[8*26+:32], h_hdr[8*30+:32], be_sum", "{h_hdr[8*30+:32], h_hdr[8*26+:32], be_sum"),
                   ("if (rst || w_take) beat_q", "if (rst) beat_q"), (".wr_bad(o_bad)", ".wr_bad(1'b0)")],
    RED + "reader": [("`RF_REDUCE_PASS_MIN - 1", "`RF_REDUCE_PASS_MIN - 2"), ("(!prep_first_q && bad_q) || ", ""),
                     ("prep_first_q ? 5'd0 : copies_q", "copies_q"), ("b2_valid_q && in_member && beat_bad", "b2_valid_q && beat_bad"),
                     (" || fact_bad)", ")"), ("block_free && apart_soon)", "block_free)"), ("(!prep_ready && block_free", "(block_free"),
                     ("go || (!prep_ready && block_free && apart_soon)", "go")],
    RED + "sched": [(RED + "sched_fair", "sent_q} + 32'd1 >= QUEUED", "sent_q} + 32'd1 > QUEUED + 32'd8"),
                    (RED + "sched_fair", "sent_q} + 32'd1 >= QUEUED", "sent_q} + 32'd4 >= QUEUED"),
                    (RED + "sched_turn", "else if (turn[u]) before_q", "else if (1'b0) before_q"),
                    ("ask & ~midway & ~(ready", "ask & ~midway & ~(ready | ready"),
                    ("(s1_from_q | q_pop | popped_q)", "s1_from_q"),
                    ("(prep_busy | taken_q | launch_valid)", "(taken_q | launch_valid)"),
                    (RED + "sched_pick", "else if (taken[t]) above_q", "else if (1'b0) above_q"),
                    (RED + "sched_fair", "passed_q} + 32'd1 >= PASSED_MAX", "passed_q} + 32'd1 > PASSED_MAX + 32'd8"),
                    (RED + "sched_start", "less(q_index[e*24 +: 24], r_una[e*24 +: 24]) ||", ""), (RED + "sched_start", " || g_life[group] != q_life[port]", ""),
                    (RED + "sched_start", "member & ~l_queued;", "member;"),
                    (RED + "sched_start", "(number & (size_mask >> 3)) == 16'd0", "(number & (size_mask >> 2)) == 16'd0"),
                    (RED + "sched_flight", "lock_q & ~block : lock_q | block", "lock_q & ~block : lock_q"),
                    (RED + "sched_flight", "late_q[m]   <= late", "late_q[m]   <= 1'b0")],
    CTL + "group_regs": [(CTL + "group_errors", "if (hit[h] && !error_q[h])", "if (hit[h])"), (CTL + "group_errors", "NUMBER[GW-1:0] && !found;", "NUMBER[GW-1:0];"),
                         (CTL + "group_errors", "n = 0; n < SOURCES; n = n + 1", "n = SOURCES - 1; n >= 0; n = n - 1"),
                         (CTL + "group_errors", "if (start_valid) error_q[start_group] <= 1'b0;", ""), (CTL + "group_errors", "if (clear_valid) error_q", "if (1'b0) error_q"),
                         ("wr_data[0] && !live_q[wr_group]", "wr_data[0]")],
    CTL + "regs": [("wr_init ? 2'b11 : wr_data[1:0]", "wr_data[1:0]"), ("if (rd_wait_q[3]) rd_data_q", "if (rd_wait_q[1]) rd_data_q"),
                   ("{28'd0, cid[6:3]} < LANES &&", ""), ("init_q || seen_q || wr_init", "init_q || wr_init"), ("hold_ports_q | {PORTS{ctrl", "{PORTS{ctrl"),
                   ("else if (wr_en && wr_addr == `RF_HOLD_PORTS", "else if (wr_en && wr_addr == `RF_CTRL"),
                   ("<= wr_data != 32'd0;", "<= 1'b1;"), ("{mac_hi_q, wr_data}", "{1'b0, mac_hi_q[15:0], wr_data}"),
                   ("MIRROR != 0 && wr_data[25]", "1'b0")],
    RED + "judge_form": [("`RF_STATE_JOINING && foreign", "`RF_STATE_JOINING"), ("state == `RF_STATE_JOINING && foreign", "foreign"), ("state == `RF_STATE_JOINING || !good", "state == `RF_STATE_JOINING"), ("opcode == 8'h06 || ", ""),
                         ("if (!ack_here) begin", "if (1'b0) begin"), ("if (to_port) begin", "if (1'b0) begin"), ("foreign && !to_port", "foreign"),
                         ("(mirror && !asks)", "mirror"), (" || opcode == 8'h14", ""), ("mirror && udp_len != 16'd40", "1'b0"),
                         ("else if (silent) begin", "else if (silent && mirror) begin"), ("mirror ? ACT_RETURN : ACT_FOREIGN", "ACT_FOREIGN"),
                         ("!hit) begin", "!hit || opcode == 8'h81) begin"),
                         ("syndrome[7:2] == 6'h18", "syndrome[7:3] == 5'h0c")],
    RED + "judge": [(RED + "judge_admit", "r_cid == 16'hffff", "r_cid[15]"), ("p3_back - f_start + {23'd0, syn_ack}", "p3_back - f_start"),
                    (RED + "judge_verdict", "len <= `RF_PUNT_DATA_BYTES && ", ""), (RED + "judge_admit", "{CW+1{1'b0}} && !pause", "{CW+1{1'b0}}"),
                    ("(p4_act_q == ACT_FORM && w_storable)", "(p4_act_q == ACT_FORM)"), (RED + "judge_effect", "too_soon ? `RF_ERROR_BEFORE_START :", ""),
                    (RED + "judge_verdict", "if (accept) op = OP_STORE", "op = OP_STORE"), (RED + "judge_effect", "p6_nak_q ? p6_nak_why_q : p6_cause_q", "p6_cause_q"),
                    ("!mirror || from_mac == f_mac", "1'b1"), ("f_mirror && here", "f_mirror"), ("18'h0bfff", "18'h0c000"),
                    (RED + "judge_effect", "(MIRROR == 0 || twice == 16'hffff) ? 16'd0 : twice", "twice"), (RED + "judge_verdict", "cnp = behalf_room", "cnp = 1'b1")],
    RED + "judge_window": [("index[23] && !distant", "index[23]"), ("valid && !early", "valid"),
                           ("in_window && !old_next;", "in_window;"), ("any ? accept :", ""), ("assign too_soon = n_begins_q && follows;", "assign too_soon = n_begins_q;"),
                           (".una_valid(n_una_q)", ".una_valid(una_valid)"), ("n_room_q      <= behalf_room", "n_room_q      <= 1'b1"),
                           ("strict && !any && next == 24'd0", "strict && !any")],
    RED + "judge_nak": [("!was || back", "1'b1"), ("if (tick) asked_q", "if (1'b0) asked_q"), ("beyond_seen && !was", "beyond_seen"),
                        ("!selective && twice_q[j_addr]", "1'b0"), ("skips ? hole : j_next", "j_next"), ("!keep) || j_early ||", "!keep) ||"),
                        ("j_valid && !keep", "j_valid"), ("keep ? {^last, last}", "1'b0 ? {^last, last}"),
                        ("!ahead[IDX-1] && !to_hole[IDX-1];", "negated[IDX-1] && !to_hole[IDX-1];"),
                        ("wr_en(gap || init_valid)", "wr_en(gap || (j_valid && j_taken) || init_valid)")],
    RED + "ledger_run": [(".s_valid(push)", ".s_valid(push && !q_count[AW])"), ("if (rst || cancel) run_q", "if (rst) run_q"),
                          ("(!queued_q[m_addr] || (q_take && q_addr == m_addr))", "!queued_q[m_addr]"),
                          ("if (first_q || step) begin", "if (first_q) begin"), ("else if (!(here || first_q)) run_q", "else if (!here) run_q")],
    CTL + "lag": [("(24'd1 << log2)", "24'd1"), ("stop_valid && stop_group == group", "1'b0")],
    RED + "ackq": [("h_hdr[47:0], h_hdr[95:48]", "h_hdr[95:48], h_hdr[47:0]"), ("1'b0, h_body[238], 6'd0", "1'b0, 1'b0, 6'd0"),
                   (".AFULL(DEPTH - 2)", ".AFULL(DEPTH)"), ("{15'd0, p6_fold[16]}", "16'd0"), ("p6_sum_c_q <= {2'd0, swapped(h_body[143:128])}", "p6_sum_c_q <= {2'd0, swapped(h_body[159:144])}"), ("h_body[15:10], 2'b00, h_body[7:0]", "h_body[15:0]"),
                   ("8'd64, h_body[63:32]", "h_body[71:32]"),
                   ("(kept && !turn) ? h_body", "kept ? h_body"), ("(kept && !turn) ? h_hdr", "kept ? h_hdr"), ("cnp ? 32'd0 : ", ""),
                   ("p6_alone_q <= !h_event", "p6_alone_q <= !kept"), ("k_alone && !f_cnp", "k_alone"), ("f_cnp ? 7'd74", "1'b0 ? 7'd74"),
                   ("turn ? swapped(h_sum) :", "")],
    RED + "ledger_ack": [("!a_still_q && less(una, a_value_q)", "less(una, a_value_q)"), ("!a_still_q && less(una, a_value_q)", "!a_still_q"),
                          (" || (a_fatal_q && less(a_value_q, una))", ""), ("!a_valid_q || !block", "1'b1"),
                          ("a_take ? grant :", "a_take ? grant & 1 :")],
    RED + "ledger_head": [("(~members | beyond)", "(~members | beyond | (beyond << 1))"), (" | (advance ? look_q : {GROUPS{1'b0}})", "")],
    RED + "ledger_tail": [("least(s3_least_q, s2_least_q)", "s2_least_q"), ("s4_hold_q[IDX] && less", "1'b0 && less"),
                          ("least(s3_least_q, s3_hold)", "s3_least_q")],
    RED + "ledger": [("init_late  = init_valid && init_wait_q[PATIENCE]", "init_late  = 1'b0"), ("clear_late = clear_q && clear_wait_q[PATIENCE]", "clear_late = 1'b0"),
                      ("{PORTS{clear_late}} | ", ""), ("a_block    = s_block || init_late", "a_block    = s_block"),
                      ("if (hold_q[2*h] && !pass_end[h])", "if (hold_q[2*h])"), ("if (a_raise != {PORTS{1'b0}}) tail_mark[a_addr[AW-1:LW]] = 1'b1;", ""),
                      ("tail_mark = pass_end;", "tail_mark = {GROUPS{1'b0}};")],
}

# Files that a bench needs besides its module and the library.
MANY = [RED + "ram_many", RED + "many_parity"]
MORE = {CTL + "regs": [RED + "conn_static"], RED + "judge": MANY + [RED + "judge_" + n for n in ("admit", "form", "nak", "window", "verdict", "effect")],
        RED + "sched": [RED + "sched_" + n for n in ("turn", "pick", "start", "flight", "fair")], CTL + "group_regs": [CTL + "group_errors"], RED + "results": [RED + "results_fit"],
        RED + "judge_window": MANY + [RED + "judge_nak"], RED + "judge_nak": MANY, RED + "repeatq": MANY,
        RED + "ledger_run": MANY, RED + "ledger": MANY + [RED + n for n in ("ledger_run", "ledger_port", "ledger_head", "ledger_tail", "ledger_ack")]}


def parameters():
    """Module: its parameters in mk/rtl-bench.mk, from its first bench; the modules whose benches flip bits in memories."""
    found = {}
    flipped = set()
    with open("mk/rtl-bench.mk", encoding="ascii") as text:
        for line in text:
            call = re.search(r"call (unit|unit_flip),(\w+)", line)
            if call and not line.startswith("#") and call.group(2) not in found:
                found[call.group(2)] = {k: int(v) for k, v in re.findall(r"\b([A-Z][A-Z0-9_]*)=(\d+)", line)}
                if call.group(1) == "unit_flip":
                    flipped.add(call.group(2))
    return found, flipped


def main(argv):
    if len(argv) != 2 or argv[1].startswith("-"):
        sys.stderr.write(__doc__)
        return 2
    params, flipped = parameters()
    net_mutants.BENCHES = {}
    mutants = []
    for module, pairs in MUTANTS.items():
        name = module.split("rf_")[1]
        sources = (["tests/rtl/core_flip.vlt"] if name in flipped else []) + LIB + [m + ".v" for m in MORE.get(module, [])] + [module + ".v"]
        net_mutants.BENCHES[name] = ("rf_" + name, sources, "unit_%s.cpp" % name, params[name])
        mutants += [(name, (pair[0] if len(pair) == 3 else module) + ".v") + pair[-2:] for pair in pairs]
    net_mutants.MUTANTS = {"unit": mutants}
    return net_mutants.main([argv[0], "unit", argv[1]])


if __name__ == "__main__":
    sys.exit(main(sys.argv))
