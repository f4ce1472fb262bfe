#!/usr/bin/env python3
"""Breaks the adders and the reduction in one place at a time: the benches must notice each time.

  fp_mutants.py fp|reduce BUILD

Each mutant is built from a changed copy below BUILD. Exit code 1 if one survives, if its text does not occur exactly
once, or if it does not build.
"""
import os
import subprocess
import sys

LIB = ["rtl/lib/" + n for n in ("rf_ram_lut.v", "rf_ram_sdp.v", "rf_delay.v", "rf_parity.v", "rf_ram_parity.v",
                                    "rf_delay_parity.v")]
FP = ["rtl/fp/" + n for n in ("rf_fp_alu.v", "rf_fp_vec.v", "rf_fp_unpack.v", "rf_fp_pack.v")]
TREE = ["rtl/reduce/" + n for n in ("rf_tree_delay.v", "rf_tree.v", "rf_acc.v", "rf_reduce_out.v", "rf_reduce.v")]
REDUCE = ["-GPORTS=4", "-GWIDTH=64", "-GTYPES=1023", "-GLANES=16", "-GBEATS_MAX=16", "-CFLAGS",
          "-DPORTS=4 -DWIDTH=64 -DTYPES=1023 -DLANES=16"]

# Bench: top, sources, program, flags, arguments.
BENCHES = {
    "alu": ("rf_fp_vec", FP[:2], "fp_alu.cpp", ["-GWORDS=16"], ["--cycles", "100000"]),
    "convert": ("fp_convert", ["tests/rtl/fp_convert.v"] + FP, "fp_convert.cpp", [], ["--cycles", "1000000"]),
    "reduce": ("rf_reduce", LIB + FP + TREE, "reduce.cpp", REDUCE, []),
}

ALU, VEC, UNPACK, PACK = FP
SUM, ACC, NODE, OUT = TREE[4], TREE[2], TREE[1], TREE[3]

# Part: name, bench, file, text, its replacement.
MUTANTS = {
    "fp": [
        ("no-sticky", "alu", ALU, "f_sig[0] || f_lost != {S-1{1'b0}}", "f_sig[0]"),
        ("far-operand-near", "alu", ALU, "if (f_gap[EXP-1:DB] != {EXP-DB{1'b0}})", "if (f_gap[EXP-1:DB+1] != {EXP-DB-1{1'b0}})"),
        ("ties-up", "alu", ALU, "f_sum[3] && (f_sum[4] || f_sum[2:0] != 3'd0)", "f_sum[3]"),
        ("minus-zero", "alu", ALU, "f_value[W-1] && !(f_sub && f_sum == {S{1'b0}})", "f_value[W-1]"),
        ("flush-subnormals", "alu", ALU, "f_small && f_big[FRAC+2 +: GB] == f_k[GB-1:0]", "f_small && 1'b0"),
        ("group-of-none", "alu", ALU, "f_group = GROUPS[GB-1:0];", "f_group = {GB{1'b0}};"),
        ("subnormal-exponent", "alu", ALU, "f_y      = f_b | {{EXP-1{1'b0}}, f_b == {EXP{1'b0}}};", "f_y      = f_b;"),
        ("no-infinity", "alu", ALU, "if (f_sum[S-1] && f_exp == TOP - 1'b1) f_shifted[S-2:0] = {S-1{1'b0}};", ""),
        ("inf-minus-inf", "alu", ALU, "f_low[W-2 -: EXP] == TOP && f_big[W-1] != f_low[W-1]", "1'b0"),
        ("nan-beats-number", "alu", ALU, "f_low_nan ? `RF_FP_NAN : `RF_FP_LOW", "`RF_FP_NAN"),
        ("unsigned-minimum", "alu", ALU, "{INT && f_is_int, {W-1{1'b1}}}", "{1'b0, {W-1{1'b1}}}"),
        ("unsigned-as-signed", "alu", ALU, "(UNSIGNED && !f_signed) ? {W{1'b0}} : SIGN", "SIGN"),
        ("bytes-all-signed", "alu", ALU, "f_signed ? EDGE : 32'd0", "EDGE"),
        ("carry-between-bytes", "alu", ALU, "localparam [31:0]    EDGE = 32'h8080_8080;", "localparam [31:0]    EDGE = 32'h8000_8080;"),
        ("word-sum-of-bytes", "alu", VEC, "bytes ? `RF_FP_BYTES : `RF_FP_SUM", "`RF_FP_SUM"),
        ("nan64-by-upper-word", "alu", ALU, "f_big[W-2 -: EXP] == TOP && f_big[FRAC-1:0] != {FRAC{1'b0}}",
         "f_big[W-2 -: EXP] == TOP && f_big[FRAC-1 -: 20] != 20'd0"),
        ("wide-in-words", "alu", VEC, "en_q[4] ? data : word_data", "en_q[3] ? data : word_data"),
        ("or-for-and", "alu", VEC, "`RF_DO_AND: p1_sel_q <= `RF_FP_AND", "`RF_DO_AND: p1_sel_q <= `RF_FP_OR"),
        ("bf16-ties-up", "convert", PACK, "x[15] && (f_x[16] ||", "x[15] && (1'b1 ||"),
        ("fp16-no-sticky", "convert", PACK, " || f_lost != 24'd0", ""),
        ("fp16-late-infinity", "convert", PACK, "f_x[30:23] >= 8'd143", "f_x[30:23] >= 8'd144"),
        ("fp16-quiet-nan-kept", "convert", UNPACK, "(f_x[9:0] != 10'd0) ? NAN :", "(f_x[9:0] == 10'd1) ? NAN :"),
        ("fp16-subnormal-shift", "convert", PACK, "? 4'd12 : f_n[3:0]", "? 4'd11 : f_n[3:0]"),
    ],
    "reduce": [
        ("overtakes", "reduce", SUM, "assign pending[q] = late_q != {`RF_FP_LATENCY{1'b0}};",
         "assign pending[q] = late_q[0];"),
        ("pending-of-others", "reduce", SUM, "pending[q] && in_block", "pending[q] && q == b"),
        ("forgets-the-way", "reduce", SUM, "waiting != {PORTS{1'b0}} : long_q", "waiting != {PORTS{1'b0}} : 1'b0"),
        ("sum-with-neighbour", "reduce", NODE, "both && g_level[k-1].g_port[R].on", "g_level[k-1].g_port[R].on"),
        ("mask-ignored", "reduce", NODE, ".in_b_on  (right_on)", ".in_b_on  (both)"),
        ("lanes-not-added", "reduce", ACC, ".in_a_on  (!in_first)", ".in_a_on  (1'b0)"),
        ("accumulator-not-rewound", "reduce", ACC, "sum_last ? {AW{1'b0}} : wr_beat_q + 1'b1", "wr_beat_q + 1'b1"),
        ("rounded-as-bf16", "reduce", OUT, ".p1_fp16 (p1_dtype_q == `RF_TYPE_FP16)", ".p1_fp16 (1'b0)"),
        ("fp64-nan-kept", "reduce", OUT, "p1_dtype_q == `RF_TYPE_FP64 && whole", "1'b0 && whole"),
        ("fp64-nan-by-upper-word", "reduce", OUT, "whole[51:0] != 52'd0", "whole[51:32] != 20'd0"),
        ("copy-of-nan", "reduce", SUM, "(in_op[b*3 +: 3] == `RF_DO_COPY) ? `RF_TYPE_INT32 : in_dtype", "1'b0 ? `RF_TYPE_INT32 : in_dtype"),
    ],
}


def build(folder, bench, sources):
    top, _, program, flags, _ = BENCHES[bench]
    here = os.getcwd()
    command = ["verilator", "--cc", "--exe", "--build", "-O3", "-CFLAGS", "-O1 -I" + here] + flags + [
        "-Irtl/reduce", "--top-module", top, "-Mdir", folder] + sources + [here + "/tests/rtl/" + program]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        print(done.stdout[-1500:])
        return None
    return folder + "/V" + top


def main():
    if len(sys.argv) != 3 or sys.argv[1] not in MUTANTS:
        print(__doc__)
        return 2
    bad = 0
    for name, bench, file, old, new in MUTANTS[sys.argv[1]]:
        text = open(file).read()
        if text.count(old) != 1:
            print("%-26s its text is there %d times in %s" % (name, text.count(old), file))
            bad += 1
            continue
        folder = "%s/%s" % (sys.argv[2], name)
        os.makedirs(folder, exist_ok=True)
        changed = "%s/%s" % (folder, os.path.basename(file))
        with open(changed, "w") as f:
            f.write(text.replace(old, new))
        program = build(folder, bench, [changed if s == file else s for s in BENCHES[bench][1]])
        if program is None:
            print("%-26s does not build" % name)
            bad += 1
            continue
        lives = subprocess.run([program] + BENCHES[bench][4], stdout=subprocess.DEVNULL).returncode == 0
        print("%-26s %s" % (name, "LIVES" if lives else "killed"), flush=True)
        bad += lives
    return 1 if bad else 0


sys.exit(main())
