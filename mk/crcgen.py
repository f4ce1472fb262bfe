#!/usr/bin/env python3
"""Make the constants of the CRC-32 circuits (rtl/net/rf_crc*.v).

usage: crcgen.py masks|tables|sums > rtl/net/rf_crc_masks.vh|rf_crc_tables.vh|rf_crc_sums.vh
       crcgen.py check FILE KIND        exit 1 if FILE differs from what would be generated

CRC-32 as in Ethernet and InfiniBand: reflected, polynomial 0xEDB88320. Everything is derived from the one-bit step; no table
is typed in.

masks   RF_CRC_ROW_<r>   512 bits: the input bits of a 64-byte beat whose XOR is bit r of the state after the beat, for a
                         state of zero before it. A narrower beat uses the upper bits. The low 32 bits of the part used
                         also give the step of the state over one beat.
        RF_CRC_BACK_<k>  32 * 32 bits, row r in bits 32r+31:32r: the step that undoes k zero bytes.
        RF_CRC_RESIDUE   64 * 32 bits: entry k is the state after a correct ICRC and k zero bytes.
sums    function data_sums: what a 64-byte beat adds to a state of zero, in the two steps defined by SPLIT.
tables  RF_CRC_BYTE_<m>  256 * 32 bits: entry b is the state after byte b and m zero bytes.
"""
import sys

KINDS = ("masks", "tables", "sums")
POLY = 0xEDB88320
RESIDUE = 0xDEBB20E3
BACK = (2, 4, 8, 16, 32, 34)
# Sizes of the blocks of the state's 32 bits. Input bits that change a block in the same way are XORed once, and the sums
# are XORed into the block's bits: 6.6 uses of an input bit instead of 16.
SPLIT = (5, 5, 5, 5, 5, 5, 2)
DISTANCES = list(range(16)) + list(range(28, 32)) + list(range(60, 64))


def step_bit(state):
    return (state >> 1) ^ (POLY if state & 1 else 0)


def back_bit(state):
    return ((state ^ POLY) << 1 | 1) if state & 0x80000000 else state << 1


def repeat(function, state, count):
    for _ in range(count):
        state = function(state)
    return state


def hexadecimal(value, bits):
    return "%d'h%0*x" % (bits, bits // 4, value)


def define(name, value, bits, out):
    out("`define %s %s\n" % (name, hexadecimal(value, bits)))


def row_masks():
    """Bit 8 * j + i of row r: does bit i of byte j (of 64) change bit r of the state after the beat?"""
    rows = [0] * 32
    for byte in range(64):
        for bit in range(8):
            state = repeat(step_bit, 1 << bit, 8 * (64 - byte))
            for row in range(32):
                rows[row] |= (state >> row & 1) << (8 * byte + bit)
    return rows


def back_matrix(count):
    matrix = 0
    for column in range(32):
        state = repeat(back_bit, 1 << column, 8 * count)
        assert repeat(step_bit, state, 8 * count) == 1 << column
        for row in range(32):
            matrix |= (state >> row & 1) << (32 * row + column)
    return matrix


def packed(entries):
    return sum(entry << (32 * index) for index, entry in enumerate(entries))


def write_masks(out):
    for row, mask in enumerate(row_masks()):
        define("RF_CRC_ROW_%d" % row, mask, 512, out)
    for count in BACK:
        define("RF_CRC_BACK_%d" % count, back_matrix(count), 1024, out)
    define("RF_CRC_RESIDUE", packed(repeat(step_bit, RESIDUE, 8 * k) for k in range(64)), 2048, out)


def tree(terms):
    """XOR of these terms, six at a time, so that each group fits a LUT."""
    while len(terms) > 1:
        terms = [terms[i] if len(terms) == i + 1 else "^{%s}" % ", ".join(terms[i:i + 6]) for i in range(0, len(terms), 6)]
        terms = ["(%s)" % t if t[0] == "^" and len(terms) > 1 else t for t in terms]
    return terms[0]


def write_sums(out):
    rows = row_masks()
    # The upper bits first, so that those of a narrower beat are adjacent.
    columns = [(i, sum((row >> i & 1) << r for r, row in enumerate(rows))) for i in reversed(range(512))]
    sums, of_row, low = [], [[] for _ in range(32)], 0
    for bits in SPLIT:
        for value in range(1, 1 << bits):
            terms = ["b[%d]" % i for i, column in columns if column >> low & ((1 << bits) - 1) == value]
            if not terms:
                continue
            for r in range(bits):
                if value >> r & 1:
                    of_row[low + r].append("s[%d]" % len(sums))
            sums.append(tree(terms))
        low += bits
    out("function [31:0] data_sums;\n  input [511:0] b;\n  reg [%d:0] s;\n  begin\n" % (len(sums) - 1))
    for n, text in enumerate(sums):
        out("    s[%d] = %s;\n" % (n, text))
    for r, terms in enumerate(of_row):
        out("    data_sums[%d] = %s;\n" % (r, tree(terms)))
    out("  end\nendfunction\n")


def write_tables(out):
    for distance in DISTANCES:
        table = [repeat(step_bit, byte, 8 * (distance + 1)) for byte in range(256)]
        define("RF_CRC_BYTE_%d" % distance, packed(table), 8192, out)


def make(kind):
    text = ["// Made by mk/crcgen.py %s: do not edit.\n" % kind]
    if kind == "sums":
        write_sums(text.append)
        return "".join(text)
    guard = "RF_CRC_%s_VH" % kind.upper()
    text.append("`ifndef %s\n`define %s\n" % (guard, guard))
    {"masks": write_masks, "tables": write_tables}[kind](text.append)
    text.append("`endif\n")
    return "".join(text)


def main(argv):
    if len(argv) == 2 and argv[1] in KINDS:
        sys.stdout.write(make(argv[1]))
        return 0
    if len(argv) == 4 and argv[1] == "check" and argv[3] in KINDS:
        with open(argv[2], encoding="ascii") as text:
            if text.read() == make(argv[3]):
                return 0
        sys.stderr.write("%s is not what mk/crcgen.py makes\n" % argv[2])
        return 1
    sys.stderr.write(__doc__)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv))
