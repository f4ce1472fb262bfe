#!/usr/bin/env python3
"""Make Verilog, C and documentation from the register description.

usage: regs.py DESCRIPTION vh|h|fw|md > OUTPUT
       regs.py DESCRIPTION counters RF_CTL_H > OUTPUT    all counters; refusals are named after the reasons in that header

The format is explained at the top of rtl/control/registers.txt. Errors name the line and exit 2.
"""
import re
import sys


class Fault(Exception):
    pass


def parse(path):
    """Return (blocks, windows, counters, enums, firmware); a block holds its registers, a register its fields."""
    blocks, windows, counters, enums, firmware = [], [], [], [], []
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
                elif kind == "firmware":
                    name, doc = rest.split(None, 1)
                    firmware.append({"name": name, "doc": doc})
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
    return blocks, windows, counters, enums, firmware


def entries(blocks, windows, counters, enums, _firmware):
    """Yield (name, value, kind, doc) of every constant; kind is address, number or mask."""
    for block in blocks:
        single = block["count"] == 1
        if not single:
            yield block["name"] + "_BASE", block["base"], "address", block["doc"]
            yield block["name"] + "_STRIDE", block["stride"], "number", "Bytes from one to the next"
            yield block["name"] + "_COUNT", block["count"], "number", "Largest possible number of them"
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
    write_names(out, "RF_COUNTERS", parsed[2])
    out("\n\n/* All registers: RF_REGISTERS(X) gives X(block, base, count, stride, name, offset). */\n#define RF_REGISTERS(X) \\\n")
    out(" \\\n".join('\tX(%s, 0x%06xu, %uu, 0x%xu, %s, 0x%03xu)' % (b["name"], b["base"], b["count"], b["stride"], r["name"], r["offset"])
                      for b in parsed[0] for r in b["regs"]))
    out("\n\n#endif\n")


def write_names(out, macro, counters):
    out("#define %s(X) \\\n" % macro)
    out(" \\\n".join('\tX(%s, "%s")' % (c["name"], c["doc"]) for c in counters))


def write_fw(parsed, out):
    out("/* Made by mk/regs.py from rtl/control/registers.txt: do not edit. */\n")
    out("#ifndef RF_FW_COUNTERS_H\n#define RF_FW_COUNTERS_H\n\n")
    out("/* Names of the firmware's counters in order, for an X macro: RF_FW_COUNTERS(X) gives X(name, text). */\n")
    write_names(out, "RF_FW_COUNTERS", parsed[4])
    out("\n\n#endif\n")


def write_md(parsed, out):
    blocks, windows, counters, enums, _ = parsed
    out("<!-- Made by mk/regs.py from rtl/control/registers.txt: do not edit. -->\n# Registers of the box\n\n")
    out("This page lists the registers through which the firmware controls the box. All registers are 32\n"
        "bits wide and little-endian on the bus. Access: ro is read only, rw is read and write, wo is write\n"
        "only; in a w1c register, writing 1 clears the bit.\n")
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


REASON = re.compile(r'\bX\((\w+), (\d+),\s*"([^"]+)"\)')


def write_counters(parsed, out, header):
    """All counters of hardware and firmware, with their names."""
    with open(header, encoding="utf-8") as text:
        reasons = REASON.findall(text.read())
    if not reasons:
        raise Fault("%s: no reasons" % header)
    out("<!-- Made by mk/regs.py from rtl/control/registers.txt and proto/rf_ctl.h: do not edit. -->\n# What is counted\n\n"
        "This page lists every counter of the box. All counters are 32 bits wide and wrap; a start of the\n"
        "firmware sets them to 0. Registers, C names, this page, the pages of STATUS\n"
        "([control-protocol.md](control-protocol.md)), the output of `ringfold ctl counters` and the metrics\n"
        "of `ringfoldd` are made from one table.\n")
    out("\n## The hardware, for each port\n\nRegister: PORT base + offset. Metric: `ringfold_port_NAME_total{port=\"N\"}`. [box.md](box.md) defines\n"
        "which frame counts as what.\n")
    out("\n| offset | name | what it counts |\n| --- | --- | --- |\n")
    for number, counter in enumerate(parsed[2]):
        out("| 0x%03x | %s | %s |\n" % (4 * number, counter["name"], counter["doc"]))
    out("\n## The firmware\n\nNumber: in page FIRMWARE. Metric: `ringfold_firmware_NAME_total`.\n")
    out("\n| number | name | what it counts |\n| --- | --- | --- |\n")
    for number, counter in enumerate(parsed[4]):
        out("| %d | %s | %s |\n" % (number, counter["name"], counter["doc"]))
    out("\n## Refusals of the firmware, by reason\n\nRequests that were refused or dropped. Number: in page FIRMWARE.\n"
        "Metric: `ringfold_refused_total{reason=\"NAME\"}`.\n")
    out("\n| number | name | reason |\n| --- | --- | --- |\n")
    for name, value, doc in reasons[1:]:
        out("| %d | %s | %s |\n" % (len(parsed[4]) + int(value), name, doc))


def main(argv):
    writers = {"vh": write_vh, "h": write_h, "fw": write_fw, "md": write_md}
    if len(argv) == 4:
        writers = {"counters": lambda parsed, out: write_counters(parsed, out, argv[3])}
    if len(argv) not in (3, 4) or argv[2] not in writers:
        sys.stderr.write(__doc__)
        return 2
    try:
        writers[argv[2]](parse(argv[1]), sys.stdout.write)
    except (Fault, OSError) as fault:
        sys.stderr.write("regs.py: %s\n" % fault)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
