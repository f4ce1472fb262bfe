#!/usr/bin/env python3
"""Checks the image of the box's processor: size of text and data, depth of the stack.

usage: rv32_check.py IMAGE.elf [--json]

Reads only the linked ELF file: its sections, its symbols, the frame sizes that clang wrote into
.stack_sizes, and the instructions. It decodes those that call, jump or move the stack
pointer. It refuses (exit 1, with the reason) more than 128 KiB of text and constants, more than
128 KiB of data, a call chain deeper than the stack, recursion, a call or jump through a
register with unknown target, and a function with unknown frame size.
"""
import json
import struct
import sys

TEXT_MAX = 128 * 1024
DATA_MAX = 128 * 1024
RA, SP = 1, 2
EXECUTED, ALLOCATED, NOBITS = 4, 2, 8


class Refused(Exception):
    pass


class Image:
    def __init__(self, path):
        with open(path, "rb") as f:
            self.raw = f.read()
        if self.raw[:5] != b"\x7fELF\x01":
            raise Refused("no 32-bit ELF file")
        shoff, = struct.unpack_from("<I", self.raw, 32)
        size, count, names = struct.unpack_from("<HHH", self.raw, 46)
        self.sections = []
        for i in range(count):
            f = struct.unpack_from("<10I", self.raw, shoff + i * size)
            self.sections.append(dict(zip(
                ("name", "type", "flags", "addr", "offset", "size", "link", "info"), f[:8])))
        strings = self.sections[names]["offset"]
        for s in self.sections:
            s["name"] = self.string(strings + s["name"])
        self.functions = {}
        self.symbols = {}
        table = self.section(".symtab")
        strings = self.sections[table["link"]]["offset"]
        for at in range(table["offset"], table["offset"] + table["size"], 16):
            name, value, size, info = struct.unpack_from("<IIIB", self.raw, at)
            text = self.string(strings + name)
            if info & 15 == 2:
                self.functions[value] = (text, size)
            self.symbols[text] = value

    def string(self, at):
        return self.raw[at:self.raw.index(b"\0", at)].decode()

    def section(self, name):
        for s in self.sections:
            if s["name"] == name:
                return s
        raise Refused(f"section {name} is missing")

    def frames(self):
        found = {}
        if not any(s["name"] == ".stack_sizes" for s in self.sections):
            return found
        s = self.section(".stack_sizes")
        at, end = s["offset"], s["offset"] + s["size"]
        while at < end:
            addr, = struct.unpack_from("<I", self.raw, at)
            at += 4
            value = shift = 0
            while True:
                byte = self.raw[at]
                at += 1
                value |= (byte & 127) << shift
                shift += 7
                if byte < 128:
                    break
            found[addr] = value
        return found

    def code(self, addr, size):
        for s in self.sections:
            if s["flags"] & EXECUTED and s["addr"] <= addr and addr + size <= s["addr"] + s["size"]:
                at = s["offset"] + addr - s["addr"]
                return self.raw[at:at + size]
        raise Refused(f"code at {addr:#x} is outside all sections")


def signed(value, bits):
    return value - (1 << bits) if value >> (bits - 1) & 1 else value


def bits(word, *fields):
    """Assembles an immediate from parts (high bit, low bit, position of the low bit in the result)."""
    value = 0
    for high, low, to in fields:
        value |= (word >> low & ((1 << (high - low + 1)) - 1)) << to
    return value


def decode(code, base):
    """Yields (address, kind, argument): call, jump, branch, indirect, sp, or other."""
    at = 0
    upper = {}  # register -> value set by the preceding auipc
    while at < len(code):
        half, = struct.unpack_from("<H", code, at)
        pc = base + at
        known, upper = upper, {}
        if half & 3 == 3:
            w, = struct.unpack_from("<I", code, at)
            at += 4
            op, rd, f3, rs1 = w & 127, w >> 7 & 31, w >> 12 & 7, w >> 15 & 31
            if op == 0x6f:
                off = signed(bits(w, (31, 31, 20), (30, 21, 1), (20, 20, 11), (19, 12, 12)), 21)
                yield pc, "call" if rd == RA else "jump", pc + off
            elif op == 0x67:
                imm = signed(w >> 20, 12)
                if rs1 in known:
                    yield pc, "call" if rd == RA else "jump", known[rs1] + imm & 0xffffffff
                elif rd == 0 and rs1 == RA and imm == 0:
                    yield pc, "return", None
                else:
                    yield pc, "indirect", rs1
            elif op == 0x17:
                upper = {rd: pc + (w & 0xfffff000) & 0xffffffff}
            elif op == 0x63:
                off = signed(bits(w, (31, 31, 12), (30, 25, 5), (11, 8, 1), (7, 7, 11)), 13)
                yield pc, "branch", pc + off
            elif op == 0x13 and f3 == 0 and rd == SP and rs1 == SP:
                yield pc, "sp", signed(w >> 20, 12)
            continue
        at += 2
        quadrant, f3, rd = half & 3, half >> 13, half >> 7 & 31
        if quadrant == 1 and f3 in (1, 5):
            off = signed(bits(half, (12, 12, 11), (11, 11, 4), (10, 9, 8), (8, 8, 10), (7, 7, 6),
                              (6, 6, 7), (5, 3, 1), (2, 2, 5)), 12)
            yield pc, "call" if f3 == 1 else "jump", pc + off
        elif quadrant == 1 and f3 in (6, 7):
            off = signed(bits(half, (12, 12, 8), (11, 10, 3), (6, 5, 6), (4, 3, 1), (2, 2, 5)), 9)
            yield pc, "branch", pc + off
        elif quadrant == 1 and f3 == 3 and rd == SP:
            yield pc, "sp", signed(bits(half, (12, 12, 9), (6, 6, 4), (5, 5, 6), (4, 3, 7),
                                        (2, 2, 5)), 10)
        elif quadrant == 1 and f3 == 0 and rd == SP:
            yield pc, "sp", signed(bits(half, (12, 12, 5), (6, 2, 0)), 6)
        elif quadrant == 2 and f3 == 4 and half >> 2 & 31 == 0 and rd != 0:
            if half >> 12 & 1 == 0 and rd == RA:
                yield pc, "return", None
            else:
                yield pc, "indirect", rd


def calls_of(image, addr, name, size, frame):
    found = set()
    down = 0
    for pc, kind, arg in decode(image.code(addr, size), addr):
        inside = isinstance(arg, int) and addr <= arg < addr + size
        if kind == "indirect":
            raise Refused(f"{name}: a call or jump through a register at {pc:#x}")
        if kind == "sp" and arg < 0:
            down -= arg
        if kind == "branch" and not inside:
            raise Refused(f"{name}: a branch out of the function at {pc:#x}")
        if kind == "call" or kind == "jump" and not inside:
            if arg not in image.functions:
                raise Refused(f"{name}: a call at {pc:#x} to {arg:#x}, which is not the start of a function")
            found.add(arg)
    if down > frame:
        raise Refused(f"{name}: takes {down} bytes of stack, {frame} are known")
    return found


def deepest(image):
    """Stack bytes and functions of the deepest call chain, from the first instruction on."""
    frames = image.frames()
    calls = {}
    for addr, (name, size) in image.functions.items():
        if addr not in frames and name not in ("_start", "rf_rv32_trap"):
            raise Refused(f"{name}: the size of its frame is not known")
        calls[addr] = calls_of(image, addr, name, size, frames.get(addr, 0))
    depth = {}

    def visit(addr, path):
        if addr in path:
            chain = " -> ".join(image.functions[a][0] for a in path[path.index(addr):] + [addr])
            raise Refused(f"recursion: {chain}")
        if addr not in depth:
            below = max((visit(c, path + [addr]) for c in calls[addr]), default=(0, []))
            depth[addr] = (below[0] + frames.get(addr, 0), [addr] + below[1])
        return depth[addr]

    bytes_, chain = visit(image.symbols["_start"], [])
    return bytes_, [f"{image.functions[a][0]} {frames.get(a, 0)}" for a in chain]


def check(path):
    image = Image(path)
    data_base = image.symbols["__stack_top"] - DATA_MAX
    text = data = 0
    for s in image.sections:
        if not s["flags"] & ALLOCATED:
            continue
        if s["addr"] >= data_base:
            data += s["size"]
        if s["type"] != NOBITS:
            text += s["size"]
    room = image.symbols["__stack_top"] - image.symbols["__stack_bottom"]
    bound, chain = deepest(image)
    figures = {"text": text, "data": data, "stack_room": room, "stack_bound": bound, "chain": chain}
    if text > TEXT_MAX:
        raise Refused(f"text: {text} bytes of {TEXT_MAX}")
    if data > DATA_MAX or room < 0:
        raise Refused(f"data: {data} bytes of {DATA_MAX}")
    if bound > room:
        raise Refused(f"stack: {bound} bytes, room for {room}: {', '.join(chain)}")
    return figures


def main(argv):
    if not argv:
        sys.exit(__doc__)
    try:
        figures = check(argv[0])
    except Refused as why:
        print(f"{argv[0]}: refused: {why}", file=sys.stderr)
        return 1
    if "--json" in argv:
        print(json.dumps(figures))
    else:
        print(f"rv32: text {figures['text']} of {TEXT_MAX} bytes, data {figures['data']} of {DATA_MAX}, "
              f"stack {figures['stack_bound']} of the {figures['stack_room']} left")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
