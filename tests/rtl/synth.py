#!/usr/bin/env python3
"""Sizes of the Verilog for a Xilinx UltraScale+ device by Yosys, logic levels and speed of a few modules.

  synth.py [--update] [--jobs N] [modules | whole | speed] ...

Prints a table and compares it with the one in docs/synthesis.md: a figure that has grown by more than 3 % (and more than
ten cells) is a failure; --update writes the page anew (parts that were not measured stay as they are).
Parts: `modules` each module of rtl/rf.f with default parameters, its children included; `whole` the box in several
sizes; `speed` logic levels, and the frequency that nextpnr-ice40 reaches (an iCE40 HX8K: slow silicon with 4-input LUTs;
the figure is there to be compared with itself). Default: all.
"""
import concurrent.futures
import json
import os
import re
import subprocess
import sys

PAGE = "docs/synthesis.md"
OUT = "build/synth"
INCLUDE = "-Irtl/net -Irtl/reduce -Irtl/control -Irtl/top -Ibuild/gen"
COLUMNS = ["LUT", "FF", "LUT as RAM", "BRAM36", "URAM"]
# LUTs that a memory cell takes.
LUT_RAM = {"RAM32X1D": 2, "RAM32M": 4, "RAM32M16": 8, "RAM64X1D": 2, "RAM64M": 4, "RAM64M8": 8, "RAM128X1D": 4,
           "RAM256X1D": 8, "RAM512X1S": 8, "SRL16E": 1, "SRLC32E": 1}
WHOLE = [("%d ports, %s" % (p, "all types" if h else "32-bit types"), {"PORTS": p, "FP16": h})
         for p in (4, 6, 8) for h in (0, 1)]
NETREDUCE = "NetReduce (Liu et al., arXiv 2009.09736) gives 109,025 LUT, 167,554 FF and 993 BRAM for six ports"
# Name, module, parameters (small enough for 7,680 cells).
SPEED = [("rf_fp_alu", "rf_fp_alu", {}), ("rf_crc, 128 bits", "rf_crc", {"WIDTH": 128}),
         ("rf_ledger, 2 ports, 2 groups, 32 slots", "rf_ledger", {"PORTS": 2, "GROUPS": 2, "GW": 1, "PW": 1, "HDR_AW": 5})]


def files():
    """The Verilog files of rtl/rf.f, leaf first."""
    return [l.strip() for l in open("rtl/rf.f") if l.strip()]


def read_all(top, parameters):
    own = [f for f in files() if os.path.basename(f) == top + ".v"]
    rest = [f for f in files() if f not in own]
    text = "".join("read_verilog %s %s\n" % (INCLUDE, f) for f in own)
    text += "read_verilog -defer %s %s\n" % (INCLUDE, " ".join(rest))
    text += "".join("chparam -set %s %s %s\n" % (k, v, top) for k, v in parameters.items())
    return text + "hierarchy -check -top %s\n" % top


def yosys(name, script):
    os.makedirs(OUT, exist_ok=True)
    path = "%s/%s.ys" % (OUT, name)
    with open(path, "w") as f:
        f.write(script)
    done = subprocess.run(["yosys", "-q", path], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        raise RuntimeError("yosys %s failed:\n%s" % (path, done.stdout[-2000:]))


def size(name, top, parameters):
    """Cells of a module with everything below it: the hierarchy is kept, each different module is mapped once."""
    stat = "%s/%s.json" % (OUT, name)
    yosys(name, read_all(top, parameters) +
          "synth_xilinx -family xcup -noiopad -noclkbuf -nowidelut -uram -top %s\ntee -q -o %s stat -json\n" % (top, stat))
    # Behind the modules Yosys prints a tree that is no JSON.
    text = open(stat).read()
    found = json.loads(text[:text.index("\n   },\n")] + "}}")["modules"]
    modules = {k.lstrip("\\"): v["num_cells_by_type"] for k, v in found.items()}

    def total(module):
        count = dict.fromkeys(COLUMNS, 0)
        for cell, n in modules[module].items():
            if cell in modules:
                below = total(cell)
                for c in COLUMNS:
                    count[c] += n * below[c]
            elif re.fullmatch(r"LUT[1-6]|INV", cell):
                count["LUT"] += n
            elif cell.startswith("FD") or cell.startswith("LD"):
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

    tops = [m for m in modules if m == top or m.endswith("\\" + top)]
    return total(tops[0])


def wrapper(top, ports):
    """Verilog: registers around a module; inputs are shifted in by one pin, outputs folded into a register that is shifted
    out. So a module with any number of ports fits a package, and every path of it is one between registers."""
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


def read_page():
    """{(section, row): {column: value}} of the tables in the page."""
    table, section, head = {}, None, None
    if not os.path.exists(PAGE):
        return table
    for line in open(PAGE):
        if line.startswith("## "):
            section, head = line[3:].strip(), None
        elif line.startswith("| ") and not line.startswith("| ---"):
            cells = [c.strip() for c in line.strip().strip("|").split("|")]
            if head is None:
                head = cells
            else:
                table[(section, cells[0])] = {h: float(c) for h, c in zip(head[1:], cells[1:])}
    return table


def number(x):
    return "%d" % x if x == int(x) else "%.1f" % x


HEADS = {"Modules": ["module"] + COLUMNS, "The whole box": ["rf_core"] + COLUMNS,
         "Speed": ["module", "LUT6 levels", "iCE40 MHz"]}
NOTES = {
    "Modules": "Default parameters (4 ports, 512 bits, all types), everything below included.",
    "The whole box": "One lane per port. For comparison: " + NETREDUCE + ".",
    "Speed": "Levels are those of 6-input LUTs with no carry chains, the longest path between registers. The frequency is "
             "that of an iCE40\nHX8K (4-input LUTs, 40 nm), to be compared with itself.",
}


def write_page(table):
    order = [os.path.basename(f)[:-2] for f in files()] + [n for n, _ in WHOLE]
    with open(PAGE, "w") as f:
        f.write("# Sizes and speed\n\nMade by `tests/rtl/synth.py --update`; `make synth` measures again and fails where a "
                "size has grown by more than 3 %.\n"
                "Yosys, `synth_xilinx -family xcup -nowidelut`: estimates, there is no vendor tool behind them. Hierarchy is "
                "kept: a vendor\ntool that flattens saves some.\n")
        for section, head in HEADS.items():
            rows = [r for s, r in table if s == section]
            rows.sort(key=lambda r: order.index(r) if r in order else len(order))
            f.write("\n## %s\n\n%s\n\n| %s |\n|%s\n" % (section, NOTES[section], " | ".join(head), " --- |" * len(head)))
            for r in rows:
                f.write("| %s | %s |\n" % (r, " | ".join(number(table[(section, r)][c]) for c in head[1:])))


def main():
    args = [a for a in sys.argv[1:]]
    if "--help" in args:
        print(__doc__)
        return 2
    jobs = int(args[args.index("--jobs") + 1]) if "--jobs" in args else 2
    parts = [a for a in args if a in ("modules", "whole", "speed")] or ["modules", "whole", "speed"]
    work = {}
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        names = [os.path.basename(f)[:-2] for f in files()]
        if "modules" in parts:
            for n in names:
                work[("Modules", n)] = pool.submit(size, n, n, {})
        if "whole" in parts and "rf_core" in names:
            for n, p in WHOLE:
                work[("The whole box", n)] = pool.submit(size, "core_%(PORTS)d_%(FP16)d" % p, "rf_core", p)
        if "speed" in parts:
            for n, top, p in SPEED:
                work[("Speed", n)] = pool.submit(speed, n, top, p)
        old, new, bad = read_page(), {}, 0
        for key, job in work.items():
            try:
                new[key] = job.result()
            except (RuntimeError, KeyError, IndexError, ValueError) as e:
                print("%s: %s" % (key[1], e))
                bad += 1
                continue
            print("%-28s %s" % (key[1], "  ".join("%s %s" % (c, number(v)) for c, v in new[key].items())), flush=True)
            for c, v in new[key].items():
                was = old.get(key, {}).get(c)
                if was is not None and c != "iCE40 MHz" and v > was * 1.03 and v > was + (0 if "levels" in c else 10):
                    print("    %s was %s: grown by more than 3 %%" % (c, number(was)))
                    bad += "--update" not in args
                if was is not None and c == "iCE40 MHz" and v < was * 0.9:
                    print("    %s was %s: slower by more than 10 %%" % (c, number(was)))
                    bad += "--update" not in args
            if key not in old and "--update" not in args:
                print("    not in %s: run with --update" % PAGE)
            # After each of them: the whole takes long, and what was measured is not lost where it is stopped.
            if "--update" in args:
                write_page({**{k: v for k, v in old.items() if k[0] != "Modules" or k[1] in names}, **new})
    if "whole" in parts:
        print(NETREDUCE)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
