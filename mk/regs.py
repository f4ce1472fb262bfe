#!/usr/bin/env python3
"""Make Verilog, C and documentation from the register description.

usage: regs.py DESCRIPTION vh|h|md > OUTPUT

The format is explained at the top of rtl/control/registers.txt. Errors name the line and exit 2.
"""
import sys


class Fault(Exception):
    pass


def parse(path):
    """Return (blocks, windows, counters, enums); a block holds its registers, a register its fields."""
    blocks, windows, counters, enums = [], [], [], []
    block = reg = None
    names = set()
    with open(path, encoding="utf-8") as text:
        for number, line in enumerate(text, 1):
            line = line.strip()
            if not line or line.startswith("#"):
                continue
            try:
                kind, rest = line.split(None, 1)
                if kind == "block":
                    name, base, count, stride, doc = rest.split(None, 4)
                    block = {"name": name, "base": int(base, 0), "count": int(count, 0),
                             "stride": int(stride, 0), "doc": doc, "regs": []}
                    blocks.append(block)
                elif kind == "reg":
                    name, offset, access, doc = rest.split(None, 3)
                    if access not in ("ro", "rw", "wo", "w1c"):
                        raise Fault("access must be ro, rw, wo or w1c")
                    reg = {"name": name, "offset": int(offset, 0), "access": access, "doc": doc, "fields": []}
                    if reg["offset"] % 4 or any(r["offset"] == reg["offset"] for r in block["regs"]):
                        raise Fault("offset not aligned or taken")
                    block["regs"].append(reg)
                elif kind == "field":
                    name, msb, lsb, doc = rest.split(None, 3)
                    field = {"name": name, "msb": int(msb), "lsb": int(lsb), "doc": doc}
                    if not 0 <= field["lsb"] <= field["msb"] <= 31:
                        raise Fault("field outside the register")
                    if any(f["lsb"] <= field["msb"] and field["lsb"] <= f["msb"] for f in reg["fields"]):
                        raise Fault("fields overlap")
                    reg["fields"].append(field)
                elif kind == "window":
                    name, base, size, access, doc = rest.split(None, 4)
                    windows.append({"name": name, "base": int(base, 0), "bytes": int(size, 0),
                                    "access": access, "doc": doc})
                elif kind == "counter":
                    name, doc = rest.split(None, 1)
                    counters.append({"name": name, "doc": doc})
                elif kind == "enum":
                    name, value, doc = rest.split(None, 2)
                    enums.append({"name": name, "value": int(value, 0), "doc": doc})
                else:
                    raise Fault("unknown kind '%s'" % kind)
                key = (kind, block["name"] if block and kind in ("reg",) else "", name,
                       reg["name"] + block["name"] if kind == "field" else "")
                if key in names:
                    raise Fault("'%s' is defined twice" % name)
                names.add(key)
            except (Fault, ValueError, TypeError) as fault:
                raise Fault("%s:%d: %s" % (path, number, fault)) from None
    return blocks, windows, counters, enums


def entries(blocks, windows, counters, enums):
    """Yield (name, value, kind, doc) of every constant; kind is address, number or mask."""
    for block in blocks:
        single = block["count"] == 1
        if not single:
            yield block["name"] + "_BASE", block["base"], "address", block["doc"]
            yield block["name"] + "_STRIDE", block["stride"], "number", "Bytes from one to the next"
            yield block["name"] + "_COUNT", block["count"], "number", "Room for so many"
        for reg in block["regs"]:
            stem = reg["name"] if single else block["name"] + "_" + reg["name"]
            yield stem, reg["offset"] + (block["base"] if single else 0), "address", reg["doc"]
            for field in reg["fields"]:
                name = stem + "_" + field["name"]
                yield name + "_LSB", field["lsb"], "number", field["doc"]
                yield name + "_BITS", field["msb"] - field["lsb"] + 1, "number", ""
                mask = ((1 << (field["msb"] - field["lsb"] + 1)) - 1) << field["lsb"]
                yield name + "_MASK", mask, "mask", ""
    for window in windows:
        yield window["name"], window["base"], "address", window["doc"]
        yield window["name"] + "_BYTES", window["bytes"], "number", ""
    for number, counter in enumerate(counters):
        yield "CNT_" + counter["name"].upper(), number, "number", counter["doc"]
    yield "CNT_COUNT", len(counters), "number", "Number of counters of a port"
    for enum in enums:
        yield enum["name"], enum["value"], "number", enum["doc"]


def write_vh(parsed, out):
    out("// Made by mk/regs.py from rtl/control/registers.txt: do not edit.\n")
    out("`ifndef RF_REGS_VH\n`define RF_REGS_VH\n")
    for name, value, kind, doc in entries(*parsed):
        if kind == "number":
            out("`define RF_%s %d%s\n" % (name, value, "  // " + doc if doc else ""))
        elif kind == "mask":
            out("`define RF_%s 32'h%08x\n" % (name, value))
        else:
            out("`define RF_%s 24'h%06x  // %s\n" % (name, value, doc))
    out("`endif\n")


def write_h(parsed, out):
    out("/* Made by mk/regs.py from rtl/control/registers.txt: do not edit. */\n")
    out("#ifndef RF_REGS_H\n#define RF_REGS_H\n\n")
    for name, value, kind, doc in entries(*parsed):
        text = "%du" % value if kind == "number" else "0x%06xu" % value
        out("#define RF_%s %s%s\n" % (name, text, " /* %s */" % doc if doc else ""))
    out("\n/* Names of the port counters in order, for an X macro: RF_COUNTERS(X) gives X(name, text). */\n")
    out("#define RF_COUNTERS(X) \\\n")
    counters = parsed[2]
    out(" \\\n".join('\tX(%s, "%s")' % (c["name"], c["doc"]) for c in counters))
    out("\n\n#endif\n")


def write_md(parsed, out):
    blocks, windows, counters, enums = parsed
    out("<!-- Made by mk/regs.py from rtl/control/registers.txt: do not edit. -->\n# Registers of the box\n\n")
    out("All registers are 32 bits wide and little-endian on the bus. Access: ro read only, rw read and write,\n"
        "wo write only, w1c a written 1 clears the bit.\n")
    for block in blocks:
        where = "at 0x%06x" % block["base"]
        if block["count"] != 1:
            where = "0x%06x + n * 0x%x, n < %d" % (block["base"], block["stride"], block["count"])
        out("\n## %s: %s\n\n%s\n" % (block["name"], block["doc"], where))
        if block["regs"]:
            out("\n| offset | name | access | bits | meaning |\n| --- | --- | --- | --- | --- |\n")
        for reg in block["regs"]:
            out("| 0x%03x | %s | %s | | %s |\n" % (reg["offset"], reg["name"], reg["access"], reg["doc"]))
            for field in reg["fields"]:
                bits = "%d" % field["lsb"] if field["msb"] == field["lsb"] else "%d:%d" % (field["msb"], field["lsb"])
                out("| | .%s | | %s | %s |\n" % (field["name"], bits, field["doc"]))
        if block["name"] == "PORT":
            out("\n| offset | counter | what it counts |\n| --- | --- | --- |\n")
            for number, counter in enumerate(counters):
                out("| 0x%03x | %s | %s |\n" % (4 * number, counter["name"], counter["doc"]))
    out("\n## Windows\n\n| base | name | bytes | access | meaning |\n| --- | --- | --- | --- | --- |\n")
    for window in windows:
        out("| 0x%06x | %s | %d | %s | %s |\n" % (window["base"], window["name"], window["bytes"],
                                               window["access"], window["doc"]))
    out("\n## Values\n\n| name | value | meaning |\n| --- | --- | --- |\n")
    for enum in enums:
        out("| %s | %d | %s |\n" % (enum["name"], enum["value"], enum["doc"]))


def main(argv):
    writers = {"vh": write_vh, "h": write_h, "md": write_md}
    if len(argv) != 3 or argv[2] not in writers:
        sys.stderr.write(__doc__)
        return 2
    try:
        parsed = parse(argv[1])
    except (Fault, OSError) as fault:
        sys.stderr.write("regs.py: %s\n" % fault)
        return 2
    writers[argv[2]](parsed, sys.stdout.write)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
