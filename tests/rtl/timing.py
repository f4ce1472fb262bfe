#!/usr/bin/env python3
"""Static timing of the Verilog: a flattened Yosys netlist for UltraScale+ and a delay model of cells and nets.

  timing.py [--limit PS] [--paths] [--jobs N] MODULE ...     modules of rtl/rf.f at their default parameters; `all`: each
                                                             of them except rf_core; `joined` is rf_judge with rf_ledger
  timing.py --netlist FILE.json --top MODULE [--paths]       a netlist that Yosys has written (write_json)

For each module it prints the worst path between registers (r>r), from an input to a register (in>r), from a register to
an output (r>out) and from an input to an output (in>out), in ps, with the levels of logic on it. --paths prints each path
cell by cell with source lines. Exit 4 if a path between registers is longer than --limit (4760: 210 MHz).

The model (ps), for a -2 part: register C->Q 80, setup 25, setup of enable and reset 61; LUT1 to LUT6 50, 80, 95, 110, 124,
124; read of LUT RAM 124; carry chain 150 from S or DI to CO or O and 3 for each bit; block RAM C->Q 850, URAM 1100; a net
with n loads 170 + 45 log2(n), from a LUT to a carry chain, or as the only load to a register, 15. The figures are those of
routed designs that others have published; a net in a floorplan of several dies takes longer. Inputs arrive at 0.
"""
import argparse
import collections
import concurrent.futures
import json
import math
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import synth

LIMIT = 4760
CLOCK_TO_Q = 80
SETUP = 25
SETUP_CONTROL = 61
LUT = {1: 50, 2: 80, 3: 95, 4: 110, 5: 124, 6: 124}
LUTRAM_READ = 124
CARRY, CARRY_BIT = 150, 3
BLOCK_TO_Q = {"RAMB18E2": 850, "RAMB36E2": 850, "URAM288": 1100}
SHORT_NET = 15
REGISTERS = ("FDRE", "FDSE", "FDCE", "FDPE")
CLOCKS = ("C", "CLK", "WCLK", "CLKARDCLK", "CLKBWRCLK")
# Ports of distributed RAM that are read without a clock: {type: {data output: address input}}.
LUTRAM = {"RAM32X1D": {"SPO": "A", "DPO": "DPRA"}, "RAM64X1D": {"SPO": "A", "DPO": "DPRA"},
          "RAM128X1D": {"SPO": "A", "DPO": "DPRA"}, "RAM256X1D": {"SPO": "A", "DPO": "DPRA"},
          "RAM32M": {"DO" + x: "ADDR" + x for x in "ABCD"}, "RAM64M": {"DO" + x: "ADDR" + x for x in "ABCD"},
          "RAM32M16": {"DO" + x: "ADDR" + x for x in "ABCDEFGH"}, "RAM64M8": {"DO" + x: "ADDR" + x for x in "ABCDEFGH"},
          "RAM32X16DR8": {"DO" + x: "ADDR" + x for x in "ABCDEFGH"}, "RAM512X1S": {"O": "A"}, "RAM256X1S": {"O": "A"},
          "SRL16E": {"Q": "A"}, "SRLC32E": {"Q": "A"}}

Path = collections.namedtuple("Path", "ps levels steps")


class Bad(RuntimeError):
    """A netlist that cannot be analysed; the text gives the reason."""


def is_lut(kind):
    return kind == "INV" or (kind.startswith("LUT") and kind[3:].isdigit())


def address_bit(cell, kind, port):
    """The inputs that determine a data output of LUT RAM. Single bits may be separate ports (A0, A1 ...)."""
    prefix = LUTRAM[kind][port.rstrip("0123456789") if port not in LUTRAM[kind] else port]
    return [p for p in cell["connections"] if p == prefix or (p.startswith(prefix) and p[len(prefix):].isdigit())]


def arcs(name, cell):
    """The timing of a cell: [(output bit, launch in ps)], [(input, output, ps, pins)], [(input, setup in ps)]."""
    kind, pins = cell["type"], cell["connections"]
    out = [(p, i, b) for p, bits in pins.items() if cell["port_directions"][p] == "output" for i, b in enumerate(bits)]
    inn = [(p, i, b) for p, bits in pins.items() if cell["port_directions"][p] == "input" for i, b in enumerate(bits)]
    data = [(p, i, b) for p, i, b in inn if p not in CLOCKS]
    if kind in REGISTERS:
        return ([(b, CLOCK_TO_Q) for _, _, b in out], [],
                [(p, b, SETUP if p == "D" else SETUP_CONTROL) for p, _, b in data])
    if is_lut(kind):
        n = 1 if kind == "INV" else int(kind[3:])
        return [], [(p, b, o, LUT[n]) for p, _, b in data for _, _, o in out], []
    if kind in ("CARRY4", "CARRY8"):
        found = []
        for p, i, b in data:
            for q, k, o in out:
                first = i if p in ("S", "DI") else 0
                if k < first or (q == "O" and p == "DI" and k == first):
                    continue
                start = 0 if p in ("CI", "CYINIT") and q == "CO" else CARRY
                found.append((p, b, o, start + CARRY_BIT * (k - first + 1)))
        return [], found, []
    if kind in LUTRAM:
        found = []
        for p, _, o in out:
            for a in address_bit(cell, kind, p):
                found += [(a, b, o, LUTRAM_READ) for b in pins[a]]
        return ([(b, CLOCK_TO_Q + LUTRAM_READ) for _, _, b in out], found, [(p, b, SETUP) for p, _, b in data])
    if kind in BLOCK_TO_Q:
        return [(b, BLOCK_TO_Q[kind]) for _, _, b in out], [], [(p, b, SETUP_CONTROL) for p, _, b in data]
    raise Bad("%s: no delay is known for a cell of type %s" % (name, kind))


class Netlist:
    def __init__(self, module):
        self.cells = module["cells"]
        self.names, ranks = {}, {}
        for name, net in module["netnames"].items():
            if net.get("hide_name"):
                continue
            for i, b in enumerate(net["bits"]):
                label = name if len(net["bits"]) == 1 else "%s[%d]" % (name, i)
                src = net["attributes"].get("src", "")
                # Names with a line of rtl/ before others, short ones before long ones.
                rank = ("rtl/" not in src, len(label))
                if b not in ranks or rank < ranks[b]:
                    ranks[b] = rank
                    self.names[b] = (label, src)
        self.inputs = [b for p in module["ports"].values() if p["direction"] == "input" for b in p["bits"]]
        self.outputs = [b for p in module["ports"].values() if p["direction"] == "output" for b in p["bits"]]
        self.driver = {}      # bit -> (cell, output launch or None)
        self.sinks = collections.defaultdict(list)  # bit -> [(cell, pin)]
        self.model = {}
        for name, cell in self.cells.items():
            self.model[name] = arcs(name, cell)
            for p, bits in cell["connections"].items():
                for b in bits:
                    if isinstance(b, str):
                        continue
                    if cell["port_directions"][p] == "output":
                        self.driver[b] = name
                    elif p not in CLOCKS:
                        self.sinks[b].append((name, p))
        for b in self.outputs:
            if not isinstance(b, str):
                self.sinks[b].append((None, "output"))

    def net(self, bit, cell, pin):
        """Delay of the net from the driver of a bit to one pin."""
        if cell is None:
            return 0
        kind = self.cells[cell]["type"]
        source = self.cells[self.driver[bit]]["type"] if bit in self.driver else ""
        if kind.startswith("CARRY") and source.startswith("CARRY") and pin == "CI":
            return 0
        alone = len(self.sinks[bit]) == 1
        if is_lut(source) and ((kind.startswith("CARRY") and alone) or (kind in REGISTERS and pin == "D" and alone)):
            return SHORT_NET
        return 170 + 45 * math.log2(len(self.sinks[bit]))

    def order(self):
        """Arcs in an order in which every input is known before its outputs."""
        into, ready, found = collections.Counter(), [], []
        by_bit = collections.defaultdict(list)
        for name, (_, through, _) in self.model.items():
            for pin, b, o, ps in through:
                if not isinstance(b, str):
                    by_bit[b].append((name, pin, o, ps))
                    into[o] += 1
        bits = set(by_bit) | set(into)
        ready = [b for b in bits if into[b] == 0]
        done = 0
        while ready:
            b = ready.pop()
            done += 1
            for name, pin, o, ps in by_bit[b]:
                found.append((b, name, pin, o, ps))
                into[o] -= 1
                if into[o] == 0:
                    ready.append(o)
        if done != len(bits):
            left = [b for b in bits if into[b] > 0]
            raise Bad("the netlist has a loop of logic through %s" % self.names.get(left[0], ("an unnamed net",))[0])
        return found

    def arrivals(self, starts, order):
        """{bit: (ps, previous bit, cell)} from the starting points {bit: (ps, cell)}."""
        at = {b: (ps, None, cell) for b, (ps, cell) in starts.items()}
        for b, name, pin, o, ps in order:
            if b in at:
                t = at[b][0] + self.net(b, name, pin) + ps
                if o not in at or t > at[o][0]:
                    at[o] = (t, b, name)
        return at

    def path(self, at, end_ps, bit, cell, pin, more):
        steps = [(end_ps, "%s.%s" % (self.cells[cell]["type"], pin) if cell else "output", bit, cell)]
        levels = 0
        while bit is not None:
            ps, before, by = at[bit]
            kind = self.cells[by]["type"] if by else "input"
            levels += before is not None and not (kind.startswith("CARRY") and before in at and at[before][2] and
                                                  self.cells[at[before][2]]["type"].startswith("CARRY"))
            steps.append((ps, kind, bit, by))
            bit = before
        return Path(round(end_ps), levels, steps[::-1])

    def worst(self):
        """{"r>r": Path, "in>r": ..., "r>out": ..., "in>out": ...}, without those that do not exist."""
        order = self.order()
        launch = {}
        for name, (starts, _, _) in self.model.items():
            for b, ps in starts:
                launch[b] = (ps, name)
        found = {}
        for kind, at in (("r", self.arrivals(launch, order)),
                         ("in", self.arrivals({b: (0, None) for b in self.inputs if not isinstance(b, str)}, order))):
            best = None
            for name, (_, _, ends) in self.model.items():
                for pin, b, setup in ends:
                    if b in at:
                        t = at[b][0] + self.net(b, name, pin) + setup
                        if best is None or t > best[0]:
                            best = (t, b, name, pin)
            if best:
                found[kind + ">r"] = self.path(at, best[0], *best[1:], None)
            ends = [(at[b][0], b) for b in self.outputs if b in at]
            if ends:
                ps, b = max(ends)
                found[kind + ">out"] = self.path(at, ps, b, None, None, None)
        return found

    def source(self, bit, cell):
        """The line of rtl/ from which a step of a path was made, or None."""
        src = self.names.get(bit, ("", ""))[1] or (self.cells[cell]["attributes"].get("src", "") if cell else "")
        own = [s for s in src.split("|") if s.startswith("rtl/")]
        return os.path.basename(own[0]).split("-")[0].rsplit(".", 1)[0] if own else None

    def ends(self, path):
        """Source lines of the first and of the last step of a path that have one: rf_x.v:1 to rf_y.v:2. The register at the
        end is found by its output."""
        last = path.steps[-1][3]
        steps = [(bit, cell) for _, _, bit, cell in path.steps]
        if last:
            pins = self.cells[last]
            steps += [(b, last) for p, bits in pins["connections"].items() if pins["port_directions"][p] == "output" for b in bits]
        lines = [s for s in (self.source(bit, cell) for bit, cell in steps) if s]
        return "%s to %s" % (lines[0], lines[-1]) if lines else "none"

    def describe(self, path):
        lines = []
        for ps, kind, bit, cell in path.steps:
            name, src = self.names.get(bit, ("", ""))
            src = src or (self.cells[cell]["attributes"].get("src", "") if cell else "")
            own = [s for s in src.split("|") if s.startswith("rtl/") or "/" not in s]
            lines.append("  %6d  %-14s %-44s %s" % (ps, kind, name, " ".join(own[:2])))
        return lines


def synthesise(name, text):
    """A flattened netlist of the design that `text` reads, as {module}, and what Yosys needed (synth.yosys)."""
    path = "%s/timing_%s.json" % (synth.OUT, name)
    used = synth.yosys("timing_" + name, text + """
scratchpad -set synth_xilinx.abc9.xcup.W 450
synth_xilinx -family xcup -noiopad -noclkbuf -nowidelut -nodsp -uram -flatten -abc9 -run begin:map_cells
dffunmap -ce-only
synth_xilinx -family xcup -noiopad -noclkbuf -nowidelut -nodsp -uram -flatten -abc9 -run map_cells:
clean
write_json %s
""" % path)
    found = [m for m in json.load(open(path))["modules"].values() if "top" in m["attributes"]]
    return found[0], used


def ports_of(name, text):
    """{port: (direction, bits)} of a module."""
    path = "%s/timing_%s.ports.json" % (synth.OUT, name)
    synth.yosys("timing_%s.ports" % name, text + "proc\nwrite_json %s\n" % path)
    modules = json.load(open(path))["modules"]
    top = [m for m in modules.values() if "top" in m["attributes"]][0]
    return {k: (p["direction"], len(p["bits"])) for k, p in top["ports"].items()}


def joined():
    """Verilog that joins rf_judge of port 0 with rf_ledger: each drives the other's signals of port 0; all other signals are
    ports of the joined module."""
    judge, ledger = (ports_of(m, synth.read_all(m, {})) for m in ("rf_judge", "rf_ledger"))
    outer, lines, pins = [], [], {"judge": [], "ledger": []}
    for p, (direction, bits) in judge.items():
        if p not in ledger or p in ("clk", "rst") or ledger[p][0] == direction:
            outer.append("  %s wire [%d:0] judge_%s" % (direction, bits - 1, p))
            pins["judge"].append(".%s(judge_%s)" % (p, p))
            continue
        other = ledger[p][1]
        lines.append("  wire [%d:0] %s;" % (other - 1, p))
        pins["judge"].append(".%s(%s[%d:0])" % (p, p, bits - 1))
        pins["ledger"].append(".%s(%s)" % (p, p))
        if direction == "output" and other > bits:
            outer.append("  input wire [%d:0] rest_%s" % (other - bits - 1, p))
            lines.append("  assign %s[%d:%d] = rest_%s;" % (p, other - 1, bits, p))
        elif direction == "input" and other > bits:
            outer.append("  output wire [%d:0] rest_%s" % (other - bits - 1, p))
            lines.append("  assign rest_%s = %s[%d:%d];" % (p, p, other - 1, bits))
    if not lines:
        raise Bad("rf_judge and rf_ledger share no port: nothing is joined")
    for p, (direction, bits) in ledger.items():
        if not any(x.startswith(".%s(" % p) for x in pins["ledger"]):
            outer.append("  %s wire [%d:0] ledger_%s" % (direction, bits - 1, p))
            pins["ledger"].append(".%s(ledger_%s)" % (p, p))
    text = "module rf_joined (\n%s);\n%s\n" % (",\n".join(outer), "\n".join(lines))
    for m in ("judge", "ledger"):
        text += "  rf_%s %s (%s);\n" % (m, m, ", ".join(pins[m]))
    path = "%s/timing_joined.v" % synth.OUT
    with open(path, "w") as f:
        f.write(text + "endmodule\n")
    return "read_verilog -defer %s %s\nread_verilog %s\nhierarchy -check -top rf_joined\n" % (
        synth.INCLUDE, " ".join(synth.files()), path)


def measure(name, parameters=None):
    """(Netlist, {kind: Path}, what Yosys needed) of a module of rtl/rf.f, or of `joined`; with these parameters, or with its
    defaults."""
    module, used = synthesise(name, joined() if name == "joined" else synth.read_all(name, parameters or {}))
    netlist = Netlist(module)
    return netlist, netlist.worst(), used


def report(name, netlist, worst, paths):
    print("%-18s %s" % (name, "  ".join("%s %5d ps, %2d levels" % (k, p.ps, p.levels) for k, p in worst.items())), flush=True)
    if paths:
        for kind, path in worst.items():
            print("  %s: %d ps" % (kind, path.ps))
            print("\n".join(netlist.describe(path)), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("modules", nargs="*", metavar="MODULE")
    parser.add_argument("--netlist", metavar="FILE.json")
    parser.add_argument("--top", metavar="MODULE")
    parser.add_argument("--limit", type=int, default=LIMIT, metavar="PS")
    parser.add_argument("--paths", action="store_true")
    parser.add_argument("--jobs", type=int, default=2, metavar="N")
    args = parser.parse_args()
    if bool(args.netlist) == bool(args.modules) or bool(args.netlist) != bool(args.top):
        parser.error("give modules, or --netlist and --top")
    names = [m[:-2] for m in map(os.path.basename, synth.files())]
    wanted = [x for m in args.modules for x in (names + ["joined"] if m == "all" else [m]) if m != "all" or x != "rf_core"]
    unknown = [m for m in wanted if m not in names + ["joined"]]
    if unknown:
        parser.error("rtl/rf.f has no module %s" % unknown[0])
    slow = []

    def judge(name, netlist, worst):
        report(name, netlist, worst, args.paths)
        if "r>r" in worst and worst["r>r"].ps > args.limit:
            slow.append("%s: %d ps between registers, the limit is %d" % (name, worst["r>r"].ps, args.limit))

    try:
        if args.netlist:
            modules = json.load(open(args.netlist))["modules"]
            if args.top not in modules:
                raise Bad("%s has no module %s" % (args.netlist, args.top))
            netlist = Netlist(modules[args.top])
            judge(args.top, netlist, netlist.worst())
        else:
            with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
                for name, job in [(m, pool.submit(measure, m)) for m in wanted]:
                    judge(name, *job.result()[:2])
    except (Bad, RuntimeError, OSError, ValueError) as e:
        print("timing: %s" % e, file=sys.stderr)
        return 1
    for line in slow:
        print("timing: " + line, file=sys.stderr)
    return 4 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
