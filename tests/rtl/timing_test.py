#!/usr/bin/env python3
"""timing.py against hand-made netlists whose results are calculated here from the model in its --help."""
import json
import math
import os
import subprocess
import sys
import tempfile

TOOL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "timing.py")
IN, OUT = "input", "output"


def net(n):
    return 170 + 45 * math.log2(n)


def cell(kind, inputs, outputs, src="a.v:1"):
    return {"type": kind, "attributes": {"src": src}, "port_directions": {**{p: IN for p in inputs}, **{p: OUT for p in outputs}},
            "connections": {p: bits if isinstance(bits, list) else [bits] for p, bits in {**inputs, **outputs}.items()}}


def register(d, q, **more):
    return cell("FDRE", {"C": 2, "D": d, "CE": "1", "R": "0", **more}, {"Q": q})


def netlist(cells, inputs=(), outputs=()):
    ports = {"clk": {"direction": IN, "bits": [2]}, "a": {"direction": IN, "bits": list(inputs)},
             "y": {"direction": OUT, "bits": list(outputs)}}
    return {"modules": {"top": {"attributes": {"top": "1"}, "ports": ports, "cells": cells,
                                "netnames": {"q": {"hide_name": 0, "bits": [10], "attributes": {"src": "a.v:7"}}}}}}


def run(cells, inputs=(), outputs=(), *more):
    with tempfile.NamedTemporaryFile("w", suffix=".json") as f:
        json.dump(netlist(cells, inputs, outputs), f)
        f.flush()
        done = subprocess.run([sys.executable, "-B", TOOL, "--netlist", f.name, "--top", "top", *more],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    return done.returncode, done.stdout, done.stderr


def expect(what, got, wanted):
    if got != wanted:
        sys.exit("%s: got %r, expected %r" % (what, got, wanted))
    print("ok  " + what)


def times(text):
    words = text.splitlines()[0].replace(",", "").split()[1:]
    return {words[i]: (int(words[i + 1]), int(words[i + 3])) for i in range(0, len(words), 5)}


def main():
    # A register, two LUTs with two loads and one, a register; one input, one output.
    two = {"r0": register(12, 10), "l0": cell("LUT2", {"I0": 10, "I1": 20}, {"O": 11}),
           "l1": cell("LUT6", {"I0": 11, "I1": 21, "I2": 21, "I3": 21, "I4": 21, "I5": 21}, {"O": 12}),
           "r1": register(11, 13)}
    wanted = {"r>r": (round(80 + net(1) + 80 + net(2) + 124 + 15 + 25), 2),
              "r>out": (80, 0),
              "in>r": (round(max(net(1) + 80 + net(2) + 124 + 15 + 25, net(5) + 124 + 15 + 25)), 2)}
    code, out, _ = run(two, (20, 21), (13,))
    expect("two LUTs between registers", (code, times(out)), (0, wanted))

    longer = dict(two, l1=cell("LUT6", {"I0": 14, "I1": 21, "I2": 21, "I3": 21, "I4": 21, "I5": 21}, {"O": 12}),
                  l2=cell("LUT1", {"I0": 11}, {"O": 14}))
    _, out, _ = run(longer, (20, 21), (13,))
    expect("a LUT more is noticed", times(out)["r>r"], (wanted["r>r"][0] + round(net(1) + 50), 3))

    loaded = dict(two, **{"x%d" % i: register(10, 30 + i) for i in range(6)})
    _, out, _ = run(loaded, (20, 21), (13,))
    expect("six loads more are noticed", times(out)["r>r"][0], round(80 + net(7) + 80 + net(2) + 124 + 15 + 25))

    # A carry chain of two cells: S of bit 1 in the first to O of bit 2 in the second.
    chain = {"r0": register(10, 10),
             "l0": cell("LUT1", {"I0": 10}, {"O": 11}),
             "c0": cell("CARRY4", {"CI": "0", "CYINIT": "0", "DI": ["0"] * 4, "S": ["0", 11, "0", "0"]},
                        {"CO": [40, 41, 42, 43], "O": [50, 51, 52, 53]}),
             "c1": cell("CARRY4", {"CI": 43, "CYINIT": "0", "DI": ["0"] * 4, "S": ["0"] * 4},
                        {"CO": [60, 61, 62, 63], "O": [70, 71, 72, 73]}),
             "r1": register(72, 13)}
    _, out, _ = run(chain)
    expect("a carry chain", times(out)["r>r"], (round(80 + net(2) + 50 + 15 + (150 + 3 * 3) + (150 + 3 * 3) + net(1) + 25), 2))

    memory = {"r0": register(10, 10), "m": cell("RAM32X1D", {"WCLK": 2, "WE": 22, "D": 22, "A0": 22, "DPRA0": 10},
                                                {"SPO": 11, "DPO": 12}), "r1": register(12, 13)}
    _, out, _ = run(memory, (22,))
    expect("read of LUT RAM", times(out)["r>r"][0], round(80 + net(2) + 124 + net(1) + 25))
    block = {"m": cell("RAMB36E2", {"CLKARDCLK": 2, "ADDRARDADDR": 10}, {"DOUTADOUT": 12}),
             "r1": cell("FDRE", {"C": 2, "D": "0", "CE": 12, "R": "0"}, {"Q": 10})}
    _, out, _ = run(block)
    expect("block RAM to an enable", times(out)["r>r"][0], round(850 + net(1) + 61))

    code, _, err = run(two, (20, 21), (13,), "--limit", "100")
    expect("a limit that is missed", (code, "the limit is 100" in err), (4, True))
    code, out, _ = run(two, (20, 21), (13,), "--paths")
    expect("paths name source lines", "a.v:7" in out, True)
    code, _, err = run(dict(two, b=cell("BLACK", {"I": 10}, {"O": 90})))
    expect("a cell that is not known", (code, "BLACK" in err), (1, True))
    code, _, err = run({"l0": cell("LUT1", {"I0": 11}, {"O": 12}), "l1": cell("LUT1", {"I0": 12}, {"O": 11})})
    expect("a loop of logic", (code, "loop" in err), (1, True))
    code, _, err = run({}, (), (), "--top")
    expect("wrong use", code, 2)


main()
