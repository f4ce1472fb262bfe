#!/usr/bin/env python3
"""Break rtl/net and rtl/control in one place at a time: the benches must notice each time.

usage: net_mutants.py PART BUILD

PART is ingress, egress or control. Every mutant is built from a changed copy below BUILD; exit 1 if one survives, if
its text is no longer in the source, or if it does not build.
"""
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

LIB = ["rtl/lib/" + n for n in "rf_ram_lut.v rf_ram_sdp.v rf_fifo.v rf_rr_arb.v rf_parity.v rf_ram_parity.v rf_fifo_parity.v".split()]
NET = ["rtl/net/" + n for n in "rf_crc.v rf_crc_back.v rf_crc_key.v rf_icrc_mask.v rf_icrc_tail.v rf_align.v "
       "rf_align_code.v".split()]
INGRESS = LIB + NET + ["rtl/net/rf_ingress_check.v", "rtl/net/rf_ingress_read.v", "rtl/net/rf_ingress.v"]
EGRESS = LIB + NET + ["rtl/net/rf_egress_build.v", "rtl/net/rf_egress.v"]

# Bench: top module, sources, program, parameters.
BENCHES = {
    "ingress": ("rf_ingress", INGRESS, "net_ingress.cpp", {"WIDTH": 64, "PORT": 2}),
    "egress": ("rf_egress", EGRESS, "net_egress.cpp", {"WIDTH": 64, "STALL_CYCLES": 2000}),
    "table": ("rf_conn_table", LIB + ["rtl/net/rf_crc_key.v", "rtl/control/rf_conn_table.v"], "conn_table.cpp",
              {"HASH_BITS": 8}),
    "punt": ("rf_punt", LIB + ["rtl/control/rf_punt.v"], "punt.cpp", {"PORTS": 2, "WIDTH": 64}),
    "inject": ("rf_inject", LIB + ["rtl/control/rf_inject.v"], "inject.cpp", {"PORTS": 2, "WIDTH": 64}),
    "axil": ("rf_axil", ["rtl/control/rf_axil.v"], "net_axil.cpp", {}),
}

# Part: bench, file, text, its replacement.
MUTANTS = {
    "ingress": [
        ("ingress", "rtl/net/rf_ingress.v", "else i0_valid_q <= accept;", "else i0_valid_q <= s_axis_tvalid;"),
        ("ingress", "rtl/net/rf_ingress.v", "!s_axis_tlast : inside_q && !still;", "!s_axis_tlast : 1'b0;"),
        ("ingress", "rtl/net/rf_ingress.v", "else if (still || (s_axis_tvalid && s_axis_tlast)) skip_q", "else if (still) skip_q"),
        ("ingress", "rtl/net/rf_icrc_mask.v", "i == l2 + 26 || ", ""),
        ("ingress", "rtl/net/rf_icrc_mask.v", "32'hdebb20e3", "32'hffffffff"),
        ("ingress", "rtl/net/rf_ingress.v", "if (total == 16'h2c00 || total == 16'h2d00)", "if (total == 16'h2d00)"),
        ("ingress", "rtl/net/rf_ingress.v", "else if (ends && !keeps) wr_ptr_q <= start_q;", "else if (ends && lost) wr_ptr_q <= start_q;"),
        ("ingress", "rtl/net/rf_ingress.v", "wire        room  = !used[AW];", "wire        room  = 1'b1;"),
        ("ingress", "rtl/net/rf_ingress.v", "(i0_last_q && frames_q[FW])", "1'b0"),
        ("ingress", "rtl/net/rf_ingress.v", "i0_ones_q > REST[LB:0]", "i0_ones_q >= REST[LB:0]"),
        ("ingress", "rtl/net/rf_ingress_check.v", "else if (p1_multicast_q) out_cause = 8'd`RF_CNT_MULTICAST;\n    else if (ip_length) out_cause = 8'd`RF_CNT_IP_LENGTH;",
         "else if (ip_length) out_cause = 8'd`RF_CNT_IP_LENGTH;\n    else if (p1_multicast_q) out_cause = 8'd`RF_CNT_MULTICAST;"),
        ("ingress", "rtl/net/rf_ingress_check.v", " && p1_sum_q != 32'hffffffff", ""),
        ("ingress", "rtl/net/rf_ingress_check.v", "six_to_three[32+(n+2)%16]", "six_to_three[32+(n+1)%16]"),
        ("ingress", "rtl/net/rf_ingress_check.v", "in_len == 14'd60", "in_len <= 14'd61"),
        ("ingress", "rtl/net/rf_ingress_check.v", " || (vlan && in_len <= 14'd64)", ""),
        ("ingress", "rtl/net/rf_ingress_check.v", "(vlan && in_len <= 14'd64)", "(vlan && in_len <= 14'd65)"),
        ("ingress", "rtl/net/rf_ingress.v", "if (tag_total == 16'h2c00) covered", "if (tag_total == 16'h2b00) covered"),
        ("ingress", "rtl/net/rf_ingress.v", "MTU_MAX + 86;", "MTU_MAX + 82;"),
        ("ingress", "rtl/net/rf_ingress_check.v", "above < {16'd0, PORTS[31:0]}", "above <= {16'd0, PORTS[31:0]}"),
        ("ingress", "rtl/net/rf_ingress_check.v", "p1_to_port ? p1_src_ip_q : p1_dst_ip_q", "p1_dst_ip_q"),
        ("ingress", "rtl/net/rf_ingress_check.v", "{p1_to_port, !p1_to_port &&", "{1'b0, !p1_to_port &&"),
        ("ingress", "rtl/net/rf_ingress_check.v", "if (p1_other || (p1_to_port", "if ((p1_to_port"),
        ("ingress", "rtl/net/rf_ingress_check.v", "(p1_to_port && p1_not_mac)", "1'b0"),
        ("ingress", "rtl/net/rf_ingress_check.v", "k != PORT && port_ip_set[k] &&", "k != PORT &&"),
        ("ingress", "rtl/net/rf_ingress_check.v", "port_ip_set[PORT] && to == own", "to == own"),
        ("ingress", "rtl/net/rf_ingress_check.v", " || be32(l3[8*14+:32]) == own", ""),
        ("ingress", "rtl/net/rf_ingress_check.v", " && udp >= 16'd12", ""),
        ("ingress", "rtl/net/rf_ingress_check.v", "(p1_to_port && p1_magic)", "p1_to_port"),
        ("ingress", "rtl/net/rf_ingress_check.v", "(p1_mine_q || p1_to_port) && p1_icmp_q", "p1_mine_q && p1_icmp_q"),
        ("ingress", "rtl/net/rf_ingress_read.v", "rd_en && !(is_extra && left == ONE)", "rd_en"),
        ("ingress", "rtl/net/rf_ingress_read.v", "else free_q <= busy_q ? addr_q : base_q;", "else free_q <= base_q;"),
    ],
    "egress": [
        ("egress", "rtl/net/rf_egress.v", "(free && !cut_q));", "free);"),
        ("egress", "rtl/net/rf_egress.v", "else if (wait_q == STALL[SW-1:0]) down_q", "else if (wait_q == STALL[SW-1:0] + 1'b1) down_q"),
        ("egress", "rtl/net/rf_egress.v", "else if (wait_q == STALL[SW-1:0]) down_q", "else if (wait_q == STALL[SW-1:0] - 1'b1) down_q"),
        ("egress", "rtl/net/rf_egress.v", "if (cold || free) down_q", "if (cold || (free && !open)) down_q"),
        ("egress", "rtl/net/rf_egress.v", "else drop_q <= drop && (take ? !f_last : mid_q);", "else drop_q <= 1'b0;"),
        ("egress", "rtl/net/rf_egress.v", "(take ? !f_last : mid_q)", "(take && !f_last)"),
        ("egress", "rtl/net/rf_egress.v", "else if ((rst || drop) && open) cut_q", "else if (rst && open) cut_q"),
        ("egress", "rtl/net/rf_egress.v", "cnt_down      = take && drop && f_last;", "cnt_down      = take && drop;"),
        ("egress", "rtl/net/rf_egress.v", "cnt_down      = take && drop && f_last;", "cnt_down      = take && down && f_last;"),
        ("egress", "rtl/net/rf_egress.v", "open  = o_valid_q ? !o_last_q : open_q", "open  = o_valid_q && !o_last_q"),
        ("egress", "rtl/net/rf_egress.v", "wire             close = free && open && (rst || drop || cut_q);", "wire             close = 1'b0;"),
        ("egress", "rtl/net/rf_egress.v", "      o_bad_q  <= 1'b1;", "      o_bad_q  <= 1'b0;"),
        ("egress", "rtl/net/rf_crc.v", "if (rst || (p1_valid_q && p1_last_q)) state_q", "if (rst) state_q"),
        ("egress", "rtl/net/rf_icrc_tail.v", "back2 (.en(1'b1)", "back2 (.en(1'b0)"),
        ("egress", "rtl/net/rf_egress.v", "localparam WAIT = 3;", "localparam WAIT = 2;"),
        ("egress", "rtl/net/rf_egress.v", "localparam WAIT = 3;", "localparam WAIT = 4;"),
        ("egress", "rtl/net/rf_egress.v", "if (f_rest) o_data[15:0]", "if (f_rest && !f_last) o_data[15:0]"),
        ("egress", "rtl/net/rf_egress.v", ".AFULL       (FIFO_BEATS - 2)", ".AFULL       (FIFO_BEATS)"),
        ("egress", "rtl/net/rf_egress_build.v", "if (!vlan && beat == SUM_BEAT0[2:0])", "if (beat == SUM_BEAT0[2:0])"),
        ("egress", "rtl/net/rf_egress_build.v", "if (stop[LB-1:2] <= g[LB-3:0])", "if (stop[LB-1:2] < g[LB-3:0])"),
        ("egress", "rtl/net/rf_egress_build.v", "ahead[1:0] = 2'b11;", ""),
    ],
    "control": [
        ("table", "rtl/control/rf_conn_table.v", "mixed[16*TABLE+:BW]", "mixed[17*TABLE+:BW]"),
        ("table", "rtl/control/rf_conn_table.v", " && entry[k*EW+KW+16+:2] != 2'd0", ""),
        ("table", "rtl/control/rf_conn_table.v", "hit[k] = p1_swept_q && ", "hit[k] = "),
        ("table", "rtl/net/rf_crc_key.v", "6'h3f, ~role", "6'h3f, ~role[1], 1'b1"),
        ("table", "rtl/control/rf_conn_table.v", "RW     = (MIRROR != 0) ? 2 : 1", "RW     = 1"),
        ("punt", "rtl/control/rf_punt.v", "!held_q[p*3+2]", "held_q[p*3+:3] != 3'd5"),
        ("punt", "rtl/control/rf_punt.v", "if (rst || final_beat) lock_q", "if (rst) lock_q"),
        ("punt", "rtl/control/rf_punt.v", "two = two || one", "two = 1'b0"),
        ("punt", "rtl/control/rf_punt.v", "from_q[k*51+:51] == {w_port_q, src}", "from_q[k*51+:48] == src"),
        ("punt", "rtl/control/rf_punt.v", "from_q[k*51+:51] == {w_port_q, src}", "from_q[k*51+16+:35] == {w_port_q, src[47:16]}"),
        ("punt", "rtl/control/rf_punt.v", "{w_data_q[31:0], src_q[15:0]}", "{w_data_q[31:0], 16'd0}"),
        ("punt", "rtl/control/rf_punt.v", "has_room & ~arp_q", "has_room"),
        ("punt", "rtl/control/rf_punt.v", "if (ends[p]) kinds[p*4+:4]", "if (1'b0) kinds[p*4+:4]"),
        ("punt", "rtl/control/rf_punt.v", "if (rst || ended) wr_row_q", "if (rst) wr_row_q"),
        ("inject", "rtl/control/rf_inject.v", "take && !m_last", "1'b0"),
        ("inject", "rtl/control/rf_inject.v", "win_en && !busy_q", "win_en"),
        ("axil", "rtl/control/rf_axil.v", "open && !w_take && !w_full_q", "open && !w_full_q"),
        ("axil", "rtl/control/rf_axil.v", "if (rd_ack) r_data_q", "if (rd_en_q) r_data_q"),
    ],
}


def quiet(command):
    return subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode == 0


def model(root, build, bench, sources):
    """Make the library of the model in build; True on success."""
    top, _, _, params = BENCHES[bench]
    command = ["verilator", "--cc", "--assert", "--x-assign", "unique", "-DRF_CRC_TABLE",
               "-I" + os.path.join(root, "rtl/net"), "-I" + os.path.join(root, "rtl/reduce"),
               "-I" + os.path.join(root, "build/gen"), "--top-module", top,
               "-Mdir", build]
    command += ["-G%s=%d" % item for item in params.items()] + sources
    return quiet(command) and quiet(["make", "-C", build, "-f", "V%s.mk" % top, "OPT=-O1", "V%s__ALL.a" % top])


def prepare(root, build, bench):
    """Build the unchanged model, the bench and Verilator's runtime; the objects serve all mutants. The bench must pass."""
    top, sources, program, params = BENCHES[bench]
    os.makedirs(build)
    if not model(root, build, bench, [os.path.join(root, s) for s in sources]):
        return None
    include = subprocess.run(["verilator", "--getenv", "VERILATOR_ROOT"], stdout=subprocess.PIPE, check=True,
                             universal_newlines=True).stdout.strip() + "/include"
    flags = ["-D%s=%d" % item for item in params.items()]
    for name, source in (("bench", os.path.join(root, "tests/rtl", program)), ("runtime", include + "/verilated.cpp"),
                         ("threads", include + "/verilated_threads.cpp")):
        if not quiet(["g++", "-O1", "-c", "-I" + include, "-I" + include + "/vltstd", "-I" + build, "-I" + root,
                      "-I" + root + "/build/gen"] + flags + [source, "-o", "%s/%s.o" % (build, name)]):
            return None
    return run(build, build, top)


def run(objects, build, top):
    """Link and run; the exit code, or None if it did not link."""
    program = build + "/program"
    if not quiet(["g++", "-o", program] + ["%s/%s.o" % (objects, n) for n in ("bench", "runtime", "threads")] +
                 ["%s/V%s__ALL.a" % (build, top), "-pthread", "-latomic"]):
        return None
    try:
        return subprocess.run([program], stdout=subprocess.DEVNULL, timeout=60, check=False).returncode
    except subprocess.TimeoutExpired:
        return -1


def mutate(root, objects, build, bench, path, old, new):
    top, sources, _, _ = BENCHES[bench]
    os.makedirs(build)
    with open(os.path.join(root, path), encoding="ascii") as text:
        source = text.read()
    # Verilator would find the unchanged file of a module that is not in the list.
    if old not in source or path not in sources:
        return None
    copy = os.path.join(build, os.path.basename(path))
    with open(copy, "w", encoding="ascii") as text:
        text.write(source.replace(old, new, 1))
    if not model(root, build, bench, [copy if s == path else os.path.join(root, s) for s in sources]):
        return None
    return run(objects, build, top)


def main(argv):
    if len(argv) != 3 or argv[1] not in MUTANTS:
        sys.stderr.write(__doc__)
        return 2
    root = os.getcwd()
    base = os.path.join(root, argv[2])
    mutants = MUTANTS[argv[1]]
    benches = sorted({m[0] for m in mutants})
    shutil.rmtree(base, ignore_errors=True)

    with ThreadPoolExecutor(max_workers=2) as pool:
        unchanged = list(pool.map(lambda b: prepare(root, os.path.join(base, b), b), benches))
        results = list(pool.map(lambda n: mutate(root, os.path.join(base, mutants[n][0]), os.path.join(base, str(n)),
                                                 *mutants[n]), range(len(mutants))))
    bad = 0
    for bench, result in zip(benches, unchanged):
        bad += result != 0
        print("%-4s %-8s unchanged" % ("ok" if result == 0 else "BAD", bench))
    for (bench, path, old, _), result in zip(mutants, results):
        good = result not in (None, 0)
        bad += not good
        words = "not built" if result is None else "passes" if result == 0 else "noticed"
        print("%-4s %-8s %-9s %s: %s" % ("ok" if good else "BAD", bench, words, path, " ".join(old.split())[:60]))
    shutil.rmtree(argv[2], ignore_errors=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
