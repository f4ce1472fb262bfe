#!/usr/bin/env python3
"""Runs the benches of single modules, unchanged, against Yosys' netlists of these modules. This shows
that the netlists behave like the RTL that the other tests simulate.

  gate.py [--jobs N] [--only NAME] [--out FOLDER] BENCH ...

A BENCH is NAME[,PARAMETER=VALUE ...]: tests/rtl/unit_NAME.cpp of rf_NAME, as in mk/rtl-bench.mk (NAME may have a variant,
`repeatq-3`). Each module is mapped to an UltraScale+ device without block RAM, flattened, and simulated by Verilator with
the cells of tests/rtl/cells.v. If a bench flips bits in the memories of its module, those memories stay RTL, so that the bench
finds them. The exit code is 0 if all pass.

For the benches in FAULTS the contents of one LUT of the netlist are inverted. The bench must then fail.
"""
import concurrent.futures
import os
import random
import re
import resource
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import synth

MEMORIES = ["rtl/lib/rf_ram_lut.v", "rtl/lib/rf_ram_sdp.v", "rtl/reduce/rf_ram_many.v"]
PUBLIC = "tests/rtl/core_flip.vlt"
# Benches that also run with a changed LUT in their netlist, and how many such runs.
FAULTS = {"repeatq": 5}
# Processor time of a command, in seconds.
LIMIT = 1200


class Failed(Exception):
    pass


def run(command, log):
    """Raises Failed if the command fails or needs more than LIMIT. Its output goes to the file `log`."""
    def bound():
        resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT + 5))
    with open(log, "w") as out:
        code = subprocess.run(command, stdout=out, stderr=subprocess.STDOUT, preexec_fn=bound).returncode
    if code in (-24, -9):
        raise Failed("not finished in %d s of processor time: %s" % (LIMIT, " ".join(command)))
    if code:
        raise Failed("%s: exit code %d\n%s" % (command[0], code, open(log, errors="replace").read()[-1500:]))


def netlist(folder, top, parameters, memories):
    """Yosys: the module as cells; `memories` stay instances of the RTL. The hierarchy is flattened last, so that a module that
    is used more than once is mapped once."""
    path = folder + "/netlist.v"
    text = "read_verilog -lib %s %s\n" % (synth.INCLUDE, " ".join(memories)) if memories else ""
    text += synth.read_all(top, parameters, memories)
    text += ("proc\nsetattr -unset ram_style m:*\n"
             "synth_xilinx -family xcup -noiopad -noclkbuf -nowidelut -nobram -nodsp -top %s\n"
             "flatten\nsplitnets\nclean\nrename -top %s\nwrite_verilog -noattr %s\n" % (top, top, path))
    with open(folder + "/netlist.ys", "w") as f:
        f.write(text)
    run(["yosys", "-q", folder + "/netlist.ys"], folder + "/yosys.log")
    return path


def plain(name):
    """A name that Verilator has generated, without the parts that differ between a netlist and the RTL: dots within names, and
    unnamed blocks."""
    return re.sub(r"__DOT__genblk\d+", "", name.replace("__02e", "__DOT__"))


def renamed(folder, top, wanted):
    """Compiler options that replace the names by which a bench accesses memories with those of the netlist."""
    text = open("%s/vl/V%s___024root.h" % (folder, top)).read()
    there = {plain(n): n for n in re.findall(r"\b(%s__DOT__\w+__DOT__mem)\b" % top, text)}
    for name in wanted:
        if name not in there:
            raise Failed("the bench uses %s, the netlist has no such memory" % name)
    return ["-D%s=%s" % (n, there[n]) for n in wanted if there[n] != n]


def build(folder, top, source, bench, parameters, memories, reached):
    """Builds the bench with the netlist by Verilator and returns the program. `reached`: the memories that the bench accesses."""
    here = os.getcwd()
    flags = ["-O1", "-I" + here, "-I" + here + "/build/gen"] + ["-D%s=%s" % p for p in parameters.items()]
    command = ["verilator", "--cc", "--exe", "-Wno-lint", "-Wno-style", "--x-assign", "unique", "--x-initial", "unique", "-O3",
               "--output-split", "20000", "--top-module", top, "-Mdir", folder + "/vl"]
    command += ([PUBLIC] if reached else []) + memories + ["tests/rtl/cells.v", source, here + "/" + bench]
    command += ["-MAKEFLAGS", "CXX=" + os.environ.get("VL_CXX", "clang++"), "-LDFLAGS", "-latomic"]
    if reached:
        run(command, folder + "/verilator.log")
        flags += renamed(folder, top, reached)
    run(command + ["--build", "-CFLAGS", " ".join(flags)], folder + "/verilator.log")
    return "%s/vl/V%s" % (folder, top)


def changed(path, folder, seed):
    """A copy of a netlist in which the mask of one LUT is inverted, and a text that names the LUT's masks."""
    text = open(path).read()
    masks = list(re.finditer(r"\.INIT\((\d+)'h([0-9a-f]+)\)", text))
    m = random.Random(seed).choice(masks)
    bits = int(m.group(1))
    other = "%d'h%x" % (bits, ~int(m.group(2), 16) & ((1 << bits) - 1))
    out = folder + "/changed.v"
    with open(out, "w") as f:
        f.write(text[:m.start()] + ".INIT(%s)" % other + text[m.end():])
    return out, "mask %s'h%s to %s" % (m.group(1), m.group(2), other)


def check(word, out):
    """Runs one bench and returns a line about it. Raises Failed."""
    name, *rest = word.split(",")
    parameters = dict(p.split("=") for p in rest)
    module = name.split("-")[0]
    top, folder = "rf_" + module, out + "/" + name
    bench = "tests/rtl/unit_%s.cpp" % module
    reached = sorted(set(re.findall(r"rootp->(\w+)", open(bench).read())))
    memories = MEMORIES if reached else []
    os.makedirs(folder, exist_ok=True)
    begin = time.time()
    source = netlist(folder, top, parameters, memories)
    cells = len(re.findall(r"^  [A-Z][A-Z0-9]+ ", open(source).read(), re.M))
    run([build(folder, top, source, bench, parameters, memories, reached), "--flip"], folder + "/run.log")
    for seed in range(FAULTS.get(name, 0)):
        under = "%s/fault-%d" % (folder, seed)
        os.makedirs(under, exist_ok=True)
        fault, what = changed(source, under, seed)
        program = build(under, top, fault, bench, parameters, memories, reached)
        try:
            run([program], under + "/run.log")
        except Failed:
            continue
        raise Failed("a changed LUT is not noticed: %s in %s" % (what, fault))
    return "%d cells%s, %d s" % (cells, ", %d changed LUTs noticed" % FAULTS[name] if name in FAULTS else "", time.time() - begin)


def main():
    args, out, only, jobs = sys.argv[1:], "build/gate", None, 1
    while args and args[0].startswith("--"):
        if args[0] == "--help" or len(args) < 2:
            break
        if args[0] == "--out":
            out = args[1]
        elif args[0] == "--only":
            only = args[1]
        elif args[0] == "--jobs":
            jobs = int(args[1])
        else:
            break
        del args[:2]
    if not args or args[0].startswith("-"):
        print(__doc__)
        return 2
    words = [w for w in args if only is None or w.split(",")[0] == only]
    passed = failed = 0
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for word, job in [(w, pool.submit(check, w, out)) for w in words]:
            name = word.split(",")[0]
            try:
                print("ok    %-18s %s" % (name, job.result()), flush=True)
                passed += 1
            except Failed as e:
                print("FAIL  %-18s %s" % (name, e), flush=True)
                failed += 1
    print("%d passed, %d failed, %d skipped" % (passed, failed, len(args) - len(words)))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
