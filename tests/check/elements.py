"""The arithmetic of docs/reduction.md on elements in memory, in plain Python.

A number of a floating type is a Python float, which is binary64; a sum of two binary32 numbers that is rounded to binary64 and
then to binary32 is the one that is rounded once (53 >= 2 * 24 + 2).
"""
import ctypes
import math
import struct

TYPES = ("fp32", "bf16", "fp16", "int32", "uint32", "int64", "uint64", "fp64", "int8", "uint8")
OPS = ("sum", "min", "max", "and", "or", "xor", "copy")
CODE = {"fp32": "f", "fp16": "e", "bf16": "H", "int32": "i", "uint32": "I", "int64": "q", "uint64": "Q", "fp64": "d", "int8": "b",
        "uint8": "B"}
NAN = {"fp32": 0x7fc00000, "bf16": 0x7fc0, "fp16": 0x7e00, "fp64": 0x7ff8000000000000}
RAW = {2: "H", 4: "I", 8: "Q"}
PORTS = 8


def size_of(kind):
    return struct.calcsize(CODE[kind])


def is_floating(kind):
    return kind in NAN


def load(kind, blob):
    count = len(blob) // size_of(kind)
    values = struct.unpack("<%d%s" % (count, CODE[kind]), blob)
    if kind == "bf16":
        return [struct.unpack("<f", struct.pack("<I", v << 16))[0] for v in values]
    return list(values)


def half(value):
    try:
        return struct.unpack("<H", struct.pack("<e", value))[0]
    except OverflowError:
        return 0xfc00 if value < 0 else 0x7c00


def bits_of(kind, value):
    if math.isnan(value):
        return NAN[kind]
    if kind == "fp64":
        return struct.unpack("<Q", struct.pack("<d", value))[0]
    if kind == "fp16":
        return half(value)
    word, = struct.unpack("<I", struct.pack("<f", value))
    return word if kind == "fp32" else (word + 0x7fff + (word >> 16 & 1)) >> 16


def store(kind, values):
    size = size_of(kind)
    if is_floating(kind):
        return struct.pack("<%d%s" % (len(values), RAW[size]), *(bits_of(kind, v) for v in values))
    mask = (1 << 8 * size) - 1
    return b"".join((v & mask).to_bytes(size, "little") for v in values)


def wrap(kind, value):
    bits = 8 * size_of(kind)
    value &= (1 << bits) - 1
    return value - (1 << bits) if not kind.startswith("u") and value >> (bits - 1) else value


def before(a, b):
    """Whether a is the smaller one; -0 is below +0."""
    return a < b or a == b and math.copysign(1, a) < math.copysign(1, b)


def combine(kind, op, a, b):
    if op in ("and", "or", "xor"):
        return {"and": a & b, "or": a | b, "xor": a ^ b}[op]
    if op == "sum":
        if not is_floating(kind):
            return wrap(kind, a + b)
        return a + b if kind == "fp64" else ctypes.c_float(a + b).value
    if is_floating(kind):
        if math.isnan(a) or math.isnan(b):
            return b if math.isnan(a) else a
        return (a if before(a, b) else b) if op == "min" else (b if before(a, b) else a)
    return min(a, b) if op == "min" else max(a, b)


def join(kind, op, a, b):
    if a is None or b is None:
        return a if b is None else b
    return [combine(kind, op, x, y) for x, y in zip(a, b)]


def reduce(kind, op, operands):
    """operands: {(lane, port): bytes}, those that were given. The result, None if there is none."""
    if not operands:
        return None
    if op == "copy":
        blob, = operands.values()
        return blob
    total = None
    for lane in sorted({lane for lane, _ in operands}):
        row = [load(kind, operands[lane, p]) if (lane, p) in operands else None for p in range(PORTS)]
        while len(row) > 1:
            row = [join(kind, op, row[k], row[k + 1]) for k in range(0, len(row), 2)]
        total = join(kind, op, total, row[0])
    return store(kind, total)
