#!/usr/bin/env python3
"""Runs the benches of single modules, and that of a small box, unchanged, against Yosys' netlists. This shows that the netlists
behave like the RTL that the other tests simulate.

  gate.py [--jobs N] [--only NAME] [--out FOLDER] BENCH ...

A BENCH is NAME[,PARAMETER=VALUE ...]: tests/rtl/unit_NAME.cpp of rf_NAME, as in mk/rtl-bench.mk (NAME may have a variant,
`repeatq-3`). Each module is mapped to an UltraScale+ device without block RAM, flattened, and simulated by Verilator with
the cells of tests/rtl/cells.v. If a bench flips bits in the memories of its module, those memories stay RTL, so that the bench
finds them. `core` is the box, rf_core: tests/rtl/core_stress.cpp runs with some seeds. Its memories stay RTL too: as LUTs they
would take most of the time, and the benches of their modules have them as LUTs. The exit code is 0 if all pass.

Each bench prints a line when it has ended; `core` also prints its steps. OUT (build/gate) has the netlists and the logs.

For the benches in FAULTS the contents of LUTs of the netlist are inverted, one at a time. The bench must then fail. The netlist
of `core` is built once, with a switch for each of these LUTs; some of them hold what the bench does not read (registers for
firmware, for example), so it is enough if it notices one in three.
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
# The bench of the box, its arguments, and the LUTs of its netlist that can be changed.
CORE_CPP = ["tests/rtl/core%s.cpp" % part for part in ("", "_cases", "_naks", "_down", "_mirror", "_stress", "_speed")]
CORE_RUN = ["stress", "1", "6"]
CORE_FAULTS = 12
# Environment variable that chooses one of them.
SWITCH = "RF_GATE_FAULT"
# Processor time of a command, in seconds.
LIMIT = 1200


class Failed(Exception):
    pass


def run(command, log, limit=LIMIT, extra=None):
    """Returns the processor time of a command, in seconds. Raises Failed if it fails or needs more than `limit`. Its output goes
    to the file `log`. `extra`: variables for its environment."""
    def bound():
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5))
    with open(log, "w") as out:
        program = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, preexec_fn=bound,
                                   env={**os.environ, **(extra or {})})
        # wait4 because it tells what this one program used, whatever else runs beside it.
        _, status, used = os.wait4(program.pid, 0)
        code = program.returncode = os.waitstatus_to_exitcode(status)
    if code in (-24, -9):
        raise Failed("not finished in %d s of processor time: %s" % (limit, " ".join(command)))
    if code:
        raise Failed("%s: exit code %d\n%s" % (command[0], code, open(log, errors="replace").read()[-1500:]))
    return used.ru_utime + used.ru_stime


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


def build(folder, top, source, benches, parameters, memories=(), reached=()):
    """Builds a bench with the netlist by Verilator and returns the program. `benches`: its files in C++; `reached`: the memories
    that it accesses."""
    here = os.getcwd()
    flags = ["-O1", "-I" + here, "-I" + here + "/build/gen"] + ["-D%s=%s" % p for p in parameters.items()]
    # Yosys writes the netlists, so their style and lint say nothing; in them one bit of a vector may depend on another one
    # (UNOPTFLAT).
    command = ["verilator", "--cc", "--exe", "-Wno-lint", "-Wno-style", "-Wno-UNOPTFLAT", "--x-assign", "unique", "--x-initial", "unique",
               "-O3", "--output-split", "200000", "--output-split-cfuncs", "20000", "--top-module", top, "-Mdir", folder + "/vl"]
    command += ([PUBLIC] if reached else []) + list(memories) + ["tests/rtl/cells.v", source] + [here + "/" + b for b in benches]
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


def switched(path, folder, seed, count):
    """A copy of a netlist in which `count` LUTs have a switch that inverts what they put out, which is what an inverted mask
    does; and a text for each of them."""
    text = open(path).read()
    found = list(re.finditer(r"^  (LUT[1-6]) #\(\n    \.INIT\((\d+'h[0-9a-f]+)\)", text, re.M))
    chosen = sorted(random.Random(seed).sample(found, count), key=lambda m: m.start())
    parts, at, what = [], 0, []
    for k, m in enumerate(chosen):
        parts += [text[at:m.start()], "  switched_%s #(\n    .FAULT(%d), .INIT(%s)" % (m.group(1), k, m.group(2))]
        at = m.end()
        what.append("%s with mask %s in line %d" % (m.group(1), m.group(2), text.count("\n", 0, m.start()) + 1))
    parts.append(text[at:])
    for n in range(1, 7):
        pins = ["I%d" % i for i in range(n)]
        parts.append("\nmodule switched_LUT%d #(parameter FAULT = 0, parameter [%d:0] INIT = 0) (%s, output wire O);\n"
                     "  wire right;\n  reg  on;\n"
                     "  initial on = $c(\"(getenv(\\\"%s\\\") && atoi(getenv(\\\"%s\\\")) == \", FAULT, \")\");\n"
                     "  LUT%d #(.INIT(INIT)) lut (%s, .O(right));\n  assign O = right ^ on;\nendmodule\n" %
                     (n, (1 << n) - 1, ", ".join("input wire " + p for p in pins), SWITCH, SWITCH,
                      n, ", ".join(".%s(%s)" % (p, p) for p in pins)))
    out = folder + "/switched.v"
    with open(out, "w") as f:
        f.write("".join(parts))
    return out, what


def spent():
    """Processor time of all programs that have ended, in seconds."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def cells_of(netlist_file):
    return len(re.findall(r"^  [A-Z][A-Z0-9]+ ", open(netlist_file).read(), re.M))


def check_core(parameters, folder):
    """Runs the bench of the box and returns a line about it. Raises Failed."""
    os.makedirs(folder, exist_ok=True)
    begin = time.time()

    def step(name, function, *args):
        start = time.time()
        result = function(*args)
        print("      core: %s %d s" % (name, time.time() - start), flush=True)
        return result

    source = step("yosys", netlist, folder, "rf_core", parameters, MEMORIES)
    source_switched, what = switched(source, folder, 1, CORE_FAULTS)
    program = step("verilator", build, folder, "rf_core", source_switched, CORE_CPP, parameters, MEMORIES)
    # A fault may keep the bench waiting: what takes much longer than all seeds without a fault has been noticed, too.
    limit = int(2 * step("stress", run, [program] + CORE_RUN, folder + "/run.log")) + 10
    missed = []

    def faults():
        for k in range(CORE_FAULTS):
            try:
                run([program] + CORE_RUN, "%s/fault-%d.log" % (folder, k), limit, {SWITCH: str(k)})
            except Failed:
                continue
            missed.append(what[k])

    step("faults", faults)
    if 3 * (CORE_FAULTS - len(missed)) < CORE_FAULTS:
        raise Failed("changed LUTs are not noticed, in %s: %s" % (source, "; ".join(missed)))
    return "%d cells, %d of %d changed LUTs noticed, %d s" % (cells_of(source), CORE_FAULTS - len(missed), CORE_FAULTS,
                                                              time.time() - begin)


def check(word, out):
    """Runs one bench and returns a line about it. Raises Failed."""
    name, *rest = word.split(",")
    parameters = dict(p.split("=") for p in rest)
    module = name.split("-")[0]
    top, folder = "rf_" + module, out + "/" + name
    if name == "core":
        return check_core(parameters, folder)
    bench = "tests/rtl/unit_%s.cpp" % module
    reached = sorted(set(re.findall(r"rootp->(\w+)", open(bench).read())))
    memories = MEMORIES if reached else []
    os.makedirs(folder, exist_ok=True)
    begin = time.time()
    source = netlist(folder, top, parameters, memories)
    run([build(folder, top, source, [bench], parameters, memories, reached), "--flip"], folder + "/run.log")
    for seed in range(FAULTS.get(name, 0)):
        under = "%s/fault-%d" % (folder, seed)
        os.makedirs(under, exist_ok=True)
        fault, what = changed(source, under, seed)
        program = build(under, top, fault, [bench], parameters, memories, reached)
        try:
            run([program], under + "/run.log")
        except Failed:
            continue
        raise Failed("a changed LUT is not noticed: %s in %s" % (what, fault))
    return "%d cells%s, %d s" % (cells_of(source), ", %d changed LUTs noticed" % FAULTS[name] if name in FAULTS else "",
                                 time.time() - begin)


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
    if not words:
        print("gate.py: none of the benches is called %s (--help)" % only, file=sys.stderr)
        return 2
    passed = failed = 0
    begin = time.time()
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for word, job in [(w, pool.submit(check, w, out)) for w in words]:
            name = word.split(",")[0]
            try:
                result = "ok  ", job.result()
                passed += 1
            except Failed as e:
                result = "FAIL", e
                failed += 1
            print("%s  %2d of %d  %-18s %s" % (result[0], passed + failed, len(words), name, result[1]), flush=True)
    print("%d passed, %d failed, %d skipped; %d s, %d s of processor time" %
          (passed, failed, len(args) - len(words), time.time() - begin, spent()))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
