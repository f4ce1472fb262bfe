#!/usr/bin/env python3
"""Sizes and timing of the Verilog for a Xilinx UltraScale+ device by Yosys, and of a few modules for other devices.

  synth.py [--update] [--jobs N] [--page FILE] [PART | MODULE | BOX] ...

Prints tables and compares them with those in docs/synthesis.md. It fails in these cases: a figure has grown by more than 3 % (cells:
and by more than ten); a module has no row; a path between registers is longer than 4760 ps (210 MHz) and is not in KNOWN_SLOW
below, or is there but has become faster; a whole box is above its limit. --update writes the page again (figures that were
not measured stay). Parts:
  modules  each module of rtl/rf.f with default parameters, its children included, hierarchy kept
  timing   the same flattened: LUTs, and the worst paths by the model of timing.py, with the source lines of their ends;
           `joined` is rf_judge with rf_ledger
  whole    the box in several sizes, hierarchy kept, without parity; two of them with it, too
  options  modules with one of their parameters at 0: what parity, selective groups and the like cost
  types    rf_reduce with different element types: what each of them costs
  ecp5     a small box by synth_ecp5
  speed    logic levels, and the frequency that nextpnr-ice40 reaches (an iCE40 HX8K: slow silicon with 4-input LUTs; the
           figure is meant only for comparison with earlier versions)
  flat     rf_core flattened: sizes, its longest path between registers, the processor time and memory that Yosys needed;
           takes long, so it is not a default
Default: all parts except flat. MODULE: only these rows of `modules` and `timing`. BOX: only this
row of `whole`, as "4 ports, all types".
"""
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import textwrap
import threading

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import synth_rules

PAGE = "docs/synthesis.md"
OUT = "build/synth"
INCLUDE = "-Irtl/net -Irtl/reduce -Irtl/control -Irtl/top -Ibuild/gen"
COLUMNS = ["LUT", "FF", "LUT as RAM", "BRAM36", "URAM"]
# LUTs that a memory cell takes.
LUT_RAM = {"RAM32X1D": 2, "RAM32M": 4, "RAM32M16": 8, "RAM64X1D": 2, "RAM64M": 4, "RAM64M8": 8, "RAM128X1D": 4,
           "RAM256X1D": 8, "RAM512X1S": 8, "SRL16E": 1, "SRLC32E": 1}
# Masks for TYPES: fp32 and int32; these with bf16 and fp16.
TYPES_32, TYPES_16 = 0x009, 0x00f
def box(ports, types, more=0):
    """Name and parameters of a whole box; `more`: with mirror connections and directed groups."""
    return ("%d ports, %s%s" % (ports, "all types" if types == TYPES_16 else "32-bit types", ", mirror and directed" if more else ""),
            {"PORTS": ports, "TYPES": types, "MIRROR": more, "DIRECTED": more, "PARITY": 0})


WHOLE = [box(4, TYPES_32), box(4, TYPES_16), box(4, TYPES_16, 1), box(6, TYPES_32), box(8, TYPES_16)]
# Of these the cost of parity is measured too; it is about the same for each port of the others.
WITH_PARITY = ["4 ports, all types", "6 ports, 32-bit types"]
# What a type costs in rf_reduce: name, the mask, and the one without it.
PRICES = [("fp32, int32", TYPES_32, None), ("bf16, fp16", TYPES_16, TYPES_32)] + [
    (n, TYPES_16 | 1 << t, TYPES_16) for t, n in ((4, "uint32"), (5, "int64"), (6, "uint64"), (7, "fp64"), (8, "int8"), (9, "uint8"))] + [
    ("all ten", 0x3ff, TYPES_16)]
# Parameters that can be switched off, and the modules in which they cost most.
OPTIONS = [(m, p) for p, modules in (
    ("PARITY", "rf_conn_table rf_ledger_port rf_repeatq rf_ackq rf_bank rf_reader rf_passthru rf_results rf_conn_static rf_tree_delay"),
    ("SELECTIVE", "rf_ledger_port rf_judge_window"), ("MIRROR", "rf_ingress rf_judge rf_bank rf_results"),
    ("DIRECTED", "rf_judge rf_bank rf_reader rf_results")) for m in modules.split()]
# Limits of these boxes, in LUT.
MUST = {"6 ports, 32-bit types": 180000, "4 ports, all types": 175000}
# Mirror connections and directed groups may cost a tenth: the box and the one without them.
TENTH_MORE = {"4 ports, all types, mirror and directed": "4 ports, all types"}
ECP5 = [("2 ports, 64 bits, 1 group, MTU 256, 32-bit types",
         {"PORTS": 2, "WIDTH": 64, "GROUPS": 1, "MTU_MAX": 256, "BANK_AW": 7, "HDR_AW": 3, "HASH_BITS": 3, "TYPES": TYPES_32,
          "MIRROR": 0, "DIRECTED": 0, "PARITY": 0})]
# LUT4 in all.
MUST_ECP5 = 60000
# Flattened whole, once: the box for which the limit of the size is stated, but with parity, mirror connections and directed groups.
# With all types Yosys would need some hours.
FLAT = [("4 ports, 32-bit types", {"TYPES": TYPES_32})]
NETREDUCE = "NetReduce (Liu et al., arXiv 2009.09736) gives 109,025 LUT, 167,554 FF and 993 BRAM for six ports"
# Name, module, parameters (small enough for 7,680 cells).
SPEED = [("rf_fp_alu", "rf_fp_alu", {}), ("rf_crc, 128 bits", "rf_crc", {"WIDTH": 128}),
         ("rf_ledger, 2 ports, 2 groups, 32 slots", "rf_ledger", {"PORTS": 2, "GROUPS": 2, "GW": 1, "PW": 1, "HDR_AW": 5})]
# Longest path between registers, ps.
LIMIT = 4760
# Modules that still exceed it: {name: ps}.
KNOWN_SLOW = {}
# Flattened, these repeat the same logic for each word: two words are enough to show their paths.
TWO_WORDS = {"rf_fp_vec": {"WORDS": 2}, "rf_tree": {"WIDTH": 64}, "rf_acc": {"WIDTH": 64}, "rf_reduce_out": {"WIDTH": 64},
             "rf_reduce": {"WIDTH": 64}}


def files():
    """The Verilog files of rtl/rf.f, leaf first."""
    return [l.strip() for l in open("rtl/rf.f") if l.strip()]


def read_all(top, parameters, without=()):
    """Yosys: the design below `top`; files in `without` have been read already."""
    own = [f for f in files() if os.path.basename(f) == top + ".v"]
    rest = [f for f in files() if f not in own and f not in without]
    text = "".join("read_verilog %s %s\n" % (INCLUDE, f) for f in own)
    text += "read_verilog -defer %s %s\n" % (INCLUDE, " ".join(rest))
    text += "".join("chparam -set %s %s %s\n" % (k, v, top) for k, v in parameters.items())
    return text + "hierarchy -check -top %s\n" % top


def yosys(name, script):
    """Runs a script; (processor seconds, greatest memory in MB) of Yosys and of the programs that it started."""
    os.makedirs(OUT, exist_ok=True)
    path = "%s/%s" % (OUT, name)
    with open(path + ".ys", "w") as f:
        f.write(script)
    with open(path + ".log", "w") as log:
        run = subprocess.Popen(["yosys", "-q", path + ".ys"], stdout=log, stderr=subprocess.STDOUT)
        # wait4 because it tells what this one process used, whatever else runs beside it.
        _, status, used = os.wait4(run.pid, 0)
        run.returncode = os.waitstatus_to_exitcode(status)
    if run.returncode:
        with open(path + ".log", errors="replace") as log:
            raise RuntimeError("yosys %s.ys failed:\n%s" % (path, log.read()[-2000:]))
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def cells(stat, top):
    """{type: number} of the cells of a module and of everything below it, from the output of `stat -json`."""
    # After the modules Yosys prints a tree that is not JSON.
    text = open(stat).read()
    found = json.loads(text[:text.index("\n   },\n")] + "}}")["modules"]
    modules = {k.lstrip("\\"): v["num_cells_by_type"] for k, v in found.items()}

    def total(module):
        count = {}
        for cell, n in modules[module].items():
            for kind, k in total(cell).items() if cell in modules else [(cell, 1)]:
                count[kind] = count.get(kind, 0) + n * k
        return count

    return total([m for m in modules if m == top or m.endswith("\\" + top)][0])


def columns(found):
    """Cells of an UltraScale+ device as COLUMNS. RuntimeError if there is a latch."""
    count = dict.fromkeys(COLUMNS, 0)
    for cell, n in found.items():
        if re.fullmatch(r"LUT[1-6]|INV", cell):
            count["LUT"] += n
        elif cell.startswith("LD"):
            raise RuntimeError("%d latches (%s)" % (n, cell))
        elif cell.startswith("FD"):
            count["FF"] += n
        elif cell in LUT_RAM:
            count["LUT as RAM"] += n * LUT_RAM[cell]
        elif cell.startswith("RAMB36"):
            count["BRAM36"] += n
        elif cell.startswith("RAMB18"):
            count["BRAM36"] += n / 2
        elif cell.startswith("URAM"):
            count["URAM"] += n
    return count


def size(name, top, parameters):
    """COLUMNS of a module with everything below it: the hierarchy is kept, each different module is mapped once."""
    stat = "%s/%s.json" % (OUT, name)
    yosys(name, read_all(top, parameters) + "synth_xilinx -family xcup -noiopad -noclkbuf -nowidelut -uram -top %s\n"
          "tee -q -o %s stat -json\n" % (top, stat))
    return columns(cells(stat, top))


def whole(name, parameters, parity):
    """A box without parity. If `parity`, also its additional cost."""
    plain = size(name, "rf_core", parameters)
    if not parity:
        return plain
    kept = size(name + "_parity", "rf_core", {**parameters, "PARITY": 1})
    return {**plain, "parity: LUT": kept["LUT"] - plain["LUT"], "parity: FF": kept["FF"] - plain["FF"]}


MEASURED, MEASURING = {}, threading.Lock()


def once(name, top, parameters):
    """`size`, of which several rows of a table use the result."""
    with MEASURING:
        if name not in MEASURED:
            MEASURED[name] = size(name, top, parameters)
    return MEASURED[name]


def option(module, parameter):
    """A module with its default parameters, and with one of them 0: LUT, FF and LUT as RAM."""
    on, off = once("option_" + module, module, {}), once("option_%s_%s" % (module, parameter), module, {parameter: 0})
    return {c + end: found[c] for c in COLUMNS[:3] for end, found in (("", on), (" without", off))}


def reduction(types):
    """COLUMNS of rf_reduce with these types."""
    return once("types_%x" % types, "rf_reduce", {"PORTS": 4, "WIDTH": 64, "PARITY": 0, "TYPES": types})


def price(types, without):
    """rf_reduce with these types, and what it is larger than `without`."""
    now = {"LUT": reduction(types)["LUT"], "FF": reduction(types)["FF"]}
    if without is None:
        return now
    return {**now, "LUT more": now["LUT"] - reduction(without)["LUT"], "FF more": now["FF"] - reduction(without)["FF"]}


def ecp5(name, parameters):
    """A box by synth_ecp5. UltraRAM is block RAM here. Yosys chooses the type of a memory that does not ask for block RAM."""
    stat = "%s/%s.json" % (OUT, name)
    yosys(name, read_all("rf_core", parameters) + "proc\nsetattr -set ram_style \"block\" m:* a:ram_style=ultra %%i\n"
          "setattr -unset ram_style m:* a:ram_style=block %%d\nsynth_ecp5 -noflatten -top rf_core\n"
          "tee -q -o %s stat -json\n" % stat)
    found = cells(stat, "rf_core")
    lut, carry, ram = (found.get(k, 0) for k in ("LUT4", "CCU2C", "TRELLIS_DPR16X4"))
    return {"LUT4 in all": lut + 2 * carry + 6 * ram, "LUT4": lut, "CCU2C": carry, "DPR16X4": ram,
            "FF": found.get("TRELLIS_FF", 0), "DP16KD": found.get("DP16KD", 0) + found.get("PDPW16KD", 0)}


def flat(parameters):
    """rf_core flattened, as in `timing`: COLUMNS, the longest path between registers, what Yosys needed."""
    import timing
    netlist, worst, (seconds, megabytes) = timing.measure("rf_core", parameters)
    count = {}
    for cell in netlist.cells.values():
        count[cell["type"]] = count.get(cell["type"], 0) + 1
    print("\n".join(netlist.describe(worst["r>r"])))
    return {**columns(count), "r>r ps": worst["r>r"].ps, "levels": worst["r>r"].levels, "lines of r>r": netlist.ends(worst["r>r"]),
            "CPU s": round(seconds), "MB": round(megabytes)}


def paths(name):
    """LUTs of a flattened module, its worst paths, and the source lines where they begin and end."""
    import timing
    netlist, worst, _ = timing.measure(name, TWO_WORDS.get(name, {}))
    luts = sum(timing.is_lut(c["type"]) for c in netlist.cells.values())
    found = {"LUT, flattened": luts}
    for kind in ("r>r", "in>r", "r>out", "in>out"):
        found[kind + " ps"] = worst[kind].ps if kind in worst else 0
    found["levels"] = worst["r>r"].levels if "r>r" in worst else 0
    # The page has those of r>r only.
    for kind in ("r>r", "in>r", "r>out"):
        found["lines of " + kind] = netlist.ends(worst[kind]) if kind in worst else "none"
    return found


def wrapper(top, ports):
    """Verilog: registers around a module; inputs are shifted in by one pin, and outputs are XORed into a register that is
    shifted out. So a module with any number of ports fits a package, and each of its paths is between registers."""
    n_in = sum(len(p["bits"]) for k, p in ports.items() if p["direction"] == "input" and k not in ("clk", "rst"))
    n_out = sum(len(p["bits"]) for p in ports.values() if p["direction"] == "output")
    pins, i, o = [], 0, 0
    for k, p in ports.items():
        n = len(p["bits"])
        if k in ("clk", "rst"):
            pins.append(".%s(%s)" % (k, k))
        elif p["direction"] == "input":
            pins.append(".%s(in_q[%d:%d])" % (k, i + n - 1, i))
            i += n
        else:
            pins.append(".%s(out[%d:%d])" % (k, o + n - 1, o))
            o += n
    return ("module rf_wrapper (input wire clk, input wire rst, input wire d, output wire q);\n"
            "  reg [%d:0] in_q;\n  reg [%d:0] out_q;\n  wire [%d:0] out;\n"
            "  always @(posedge clk) in_q <= {in_q, d};\n  always @(posedge clk) out_q <= {out_q, 1'b0} ^ out;\n"
            "  assign q = out_q[%d];\n  %s inner (%s);\nendmodule\n" %
            (n_in - 1, n_out - 1, n_out - 1, n_out - 1, top, ", ".join(pins)))


def speed(name, top, parameters):
    """{levels, MHz}: longest path in 6-input LUTs with carry chains dissolved; clock of nextpnr-ice40."""
    base = "speed_" + top
    path = "%s/%s" % (OUT, base)
    yosys(base + ".ports", read_all(top, parameters) + "proc\nflatten\nrename -top inner\nwrite_json %s.ports.json\n" % path)
    ports = json.load(open(path + ".ports.json"))["modules"]["inner"]["ports"]
    with open(path + ".v", "w") as f:
        f.write(wrapper("inner", ports))
    both = (read_all(top, parameters) + "proc\nflatten\nrename -top inner\nread_verilog %s.v\n"
            "hierarchy -check -top rf_wrapper\nflatten\nsetattr -unset ram_style m:*\n" % path)
    yosys(base + ".ltp", both + "synth -lut 6 -flatten -top rf_wrapper\ntee -q -o %s.ltp ltp -noff\n" % path)
    levels = int(re.search(r"length=(\d+)", open(path + ".ltp").read()).group(1))
    yosys(base + ".ice", both + "synth_ice40 -device hx -top rf_wrapper -json %s.ice.json\n" % path)
    done = subprocess.run(["nextpnr-ice40", "--hx8k", "--package", "ct256", "--json", path + ".ice.json", "--seed", "1",
                           "--freq", "100", "--timing-allow-fail"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    found = re.findall(r"Max frequency for clock '[^']*': ([\d.]+) MHz", done.stdout)
    if done.returncode or not found:
        raise RuntimeError("nextpnr-ice40 failed:\n" + done.stdout[-2000:])
    return {"LUT6 levels": levels, "iCE40 MHz": float(found[-1])}


def value(text):
    try:
        return float(text)
    except ValueError:
        return text


def read_page(page):
    """{(section, row): {column: value}} of the tables in the page."""
    table, section, head = {}, None, None
    if not os.path.exists(page):
        return table
    for line in open(page):
        if line.startswith("## "):
            section, head = line[3:].strip(), None
        elif line.startswith("| ") and not line.startswith("| ---"):
            row = [c.strip() for c in line.strip().strip("|").split("|")]
            if head is None:
                head = row
            else:
                table[(section, row[0])] = {h: value(c) for h, c in zip(head[1:], row[1:])}
    return table


HEADS = {"Modules": ["module"] + COLUMNS,
         "Timing": ["module", "LUT, flattened", "r>r ps", "levels", "in>r ps", "r>out ps", "in>out ps", "lines of r>r"],
         "The whole box": ["rf_core"] + COLUMNS + ["parity: LUT", "parity: FF"],
         "The whole box flattened": ["rf_core"] + COLUMNS + ["r>r ps", "levels", "lines of r>r", "CPU s", "MB"],
         "Price of an option": ["module and parameter"] + [c + end for c in COLUMNS[:3] for end in ("", " without")],
         "Price of a type": ["types", "LUT", "FF", "LUT more", "FF more"],
         "A small box in an ECP5": ["rf_core", "LUT4 in all", "LUT4", "CCU2C", "DPR16X4", "FF", "DP16KD"],
         "Speed": ["module", "LUT6 levels", "iCE40 MHz"]}
NOTES = {
    "Modules": "Default parameters (4 ports, 512 bits, all types, parity). The size of a module includes its submodules.",
    "Timing": "Default parameters; %s with two words. Flattened, by the model of tests/rtl/timing.py (see its --help): r is a "
              "register, in and out are the ports of the module, 0 means that there are no such paths. A path between registers "
              "may take %d ps (210 MHz). The LUT column counts this netlist. It is higher than under Modules because the netlist "
              "is mapped for depth and register enables become logic. The mapping also depends on names: the figures of logic "
              "that has not changed may differ by some percent between versions." % (", ".join(sorted(TWO_WORDS)), LIMIT),
    "The whole box": "One lane per port, 8 groups; mirror connections and directed groups where the row says so. LUT to URAM without "
                     "parity; the last two columns are the cost of parity, measured for two of the boxes. "
                     "For comparison: " + NETREDUCE + ".",
    "The whole box flattened": "By `make synth-flat`, with parity, mirror connections and directed groups: mapped and measured as "
                               "under Timing, so the LUT column is higher than that of the whole box above. CPU s and MB are what "
                               "Yosys needed.",
    "Price of an option": "The modules in which a parameter costs most: with default parameters, and with this one 0. rf_lag, "
                          "which LAG 0 leaves out, and rf_conn_mac, which MIRROR 0 leaves out, are under Modules.",
    "Price of a type": "rf_reduce with 4 ports of 64 bits, one lane, without parity; at 512 bits it is eight times as much, except "
                       "for the control. The first row is fp32 with int32. bf16 and fp16 are added to that, each of the others "
                       "to these four, and all six at once in the last row; the last two columns are the difference. 64-bit "
                       "types share their units, and so do the types of 8 bits.",
    "A small box in an ECP5": "By `synth_ecp5`, with the hierarchy kept, without mirror connections and parity. LUT4 in all adds "
                              "two for each CCU2C and six for each DPR16X4. An LFE5U-85F has 84k LUT4.",
    "Speed": "Levels are the 6-input LUTs, without carry chains, on the longest path between registers. The frequency is for "
             "an iCE40 HX8K (4-input LUTs, 40 nm); it is meant only for comparison with earlier versions.",
}
INTRO = ("This page lists the size and the speed of the modules in `rtl/`. `tests/rtl/synth.py --update` generates it. "
         "`make synth` measures again and fails if a size has grown by more than 3 %, if a path between registers is too long, "
         "or if a box is larger than its limit.\n\nThe figures come from Yosys (`synth_xilinx -family xcup -nowidelut`). They "
         "are estimates, because no vendor tool is involved. The hierarchy is kept unless noted otherwise; a vendor tool that "
         "flattens it produces a smaller design.")


def wrapped(text):
    """Prose of the page, 100 columns wide; an empty line separates paragraphs."""
    return "\n\n".join(textwrap.fill(p, 100, break_on_hyphens=False) for p in text.split("\n\n"))


def write_page(page, table):
    order = ([os.path.basename(f)[:-2] for f in files()] + [n for n, _ in WHOLE] + [", ".join(o) for o in OPTIONS] +
             [n for n, _, _ in PRICES])
    with open(page, "w") as f:
        f.write("# Sizes and speed\n\n%s\n" % wrapped(INTRO))
        for section, head in HEADS.items():
            rows = [r for s, r in table if s == section]
            rows.sort(key=lambda r: order.index(r) if r in order else len(order))
            if not rows:
                continue
            f.write("\n## %s\n\n%s\n\n| %s |\n|%s\n" % (section, wrapped(NOTES[section]), " | ".join(head), " --- |" * len(head)))
            for r in rows:
                f.write("| %s | %s |\n" % (r, " | ".join(synth_rules.number(table[(section, r)].get(c, "")) for c in head[1:])))


def complaints(key, now, page):
    """Complaints about one row."""
    section, row = key
    found = synth_rules.missing(key, page)
    if section in ("Timing", "The whole box flattened"):
        found += synth_rules.slow(now["r>r ps"], LIMIT, KNOWN_SLOW.get(row))
    if section == "Timing":
        now = {"LUT, flattened": now["LUT, flattened"]}
    if section == "The whole box":
        plain = page.get((section, TENTH_MORE.get(row)), {}).get("LUT")
        found += synth_rules.large(now["LUT"], MUST.get(row, plain and int(1.1 * plain)))
    if section == "A small box in an ECP5":
        found += synth_rules.large(now["LUT4 in all"], MUST_ECP5)
    if section == "The whole box flattened":
        now = {c: v for c, v in now.items() if c in COLUMNS}
    return found + synth_rules.grown(page.get(key, {}), now)


PARTS = ("modules", "timing", "whole", "options", "types", "ecp5", "speed", "flat")


def jobs_of(args, names):
    """{(section, row): (function, arguments)} of the requested rows."""
    parts = [a for a in args if a in PARTS]
    only = [a for a in args if a in names + ["joined"]]
    boxes = [n for n, _ in WHOLE if n in args]
    if not parts and (only or boxes):
        parts = ["modules", "timing"] * bool(only) + ["whole"] * bool(boxes)
    parts = parts or [p for p in PARTS if p != "flat"]
    work = {}
    for n in names:
        if "modules" in parts and (not only or n in only):
            work[("Modules", n)] = (size, n, n, {})
    for n in names + ["joined"]:
        if "timing" in parts and (n in only or (not only and n != "rf_core")):
            work[("Timing", n)] = (paths, n)
    if "whole" in parts:
        for n, p in [(n, p) for n, p in WHOLE if not boxes or n in boxes]:
            work[("The whole box", n)] = (whole, "whole_" + re.sub(r"\W+", "_", n), p, n in WITH_PARITY)
    if "ecp5" in parts:
        for n, p in ECP5:
            work[("A small box in an ECP5", n)] = (ecp5, "ecp5_" + re.sub(r"\W+", "_", n), p)
    if "options" in parts:
        for module, parameter in OPTIONS:
            work[("Price of an option", module + ", " + parameter)] = (option, module, parameter)
    if "types" in parts:
        for n, types, without in PRICES:
            work[("Price of a type", n)] = (price, types, without)
    if "flat" in parts:
        for n, p in FLAT:
            work[("The whole box flattened", n)] = (flat, p)
    if "speed" in parts:
        for n, top, p in SPEED:
            work[("Speed", n)] = (speed, n, top, p)
    return work


def known(key, names):
    """Whether a row of the page is still one that is measured."""
    rows = {"Modules": names, "Timing": names + ["joined"], "The whole box": [n for n, _ in WHOLE],
            "The whole box flattened": [n for n, _ in FLAT]}
    return key[1] in rows.get(key[0], [key[1]])


def main():
    args = sys.argv[1:]
    if "--help" in args:
        print(__doc__)
        return 2
    update = "--update" in args
    jobs, page = 2, PAGE
    for option in ("--jobs", "--page"):
        if option in args:
            at = args.index(option)
            jobs, page = (int(args[at + 1]), page) if option == "--jobs" else (jobs, args[at + 1])
            del args[at:at + 2]
    names = [os.path.basename(f)[:-2] for f in files()]
    unknown = [a for a in args if a not in PARTS + ("--update", "joined") and a not in names + [n for n, _ in WHOLE]]
    if unknown:
        print("synth.py: %s is neither a part, nor a module of rtl/rf.f, nor a whole box (--help)" % unknown[0], file=sys.stderr)
        return 2
    old, new, bad = read_page(page), {}, 0
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        work = {key: pool.submit(*job) for key, job in jobs_of(args, names).items()}
        for key, job in work.items():
            try:
                new[key] = job.result()
            except (RuntimeError, KeyError, IndexError, ValueError) as e:
                print("%s: %s" % (key[1], e))
                bad += 1
                continue
            print("%-28s %s" % (key[1], "  ".join("%s %s" % (c, synth_rules.number(v)) for c, v in new[key].items())), flush=True)
            for text in complaints(key, new[key], old):
                print("    %s: %s" % (key[1], text), flush=True)
                bad += not update
            # After each row: a run takes long, and if it is stopped the figures measured so far are not lost.
            if update:
                write_page(page, {**{k: v for k, v in old.items() if known(k, names)}, **new})
    if ("The whole box", WHOLE[0][0]) in work:
        print(NETREDUCE)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
