#!/usr/bin/env python3
"""Proves the properties of Verilog modules without bound, checks that their covers can be reached, and that each named
mutant is killed.

  prove.py [--no-mutants] PROOF ...

A PROOF file has one statement per line ('#' begins a comment):
  top MODULE                       what is proved
  source FILE ...                  Verilog, leaf first; paths from the root of the tree
  formal FILE ...                  those whose properties (under `ifdef FORMAL) take part; default: the file of the top
  include DIR ...                  where `include looks (the folder of the proof file is always there)
  define NAME ...
  asserts N                        fewer assert cells than this is an error: a proof of nothing would pass
  cover-depth N                    all covers are reached within N cycles
  case [NAME=VALUE ...]            a set of parameters; everything is proved in each
  mutant NAME FILE /OLD/NEW/       text OLD of FILE becomes NEW: some case must then fail; the separator is any character
  engine pdr | induct K            yosys-abc pdr (default), or K-induction (needs z3)
  unroll                           induct: no function definitions for z3; for wide combinational logic, where it gets stuck

Exit code 0: all proved, covered and killed. Scratch files go to build/formal/.
"""
import os
import re
import subprocess
import sys

TIMEOUT = 600


def fail(text):
    print(text)
    sys.exit(1)


def read_proof(path):
    proof = {"source": [], "include": [os.path.dirname(path) or "."], "define": [], "case": [], "mutant": [],
             "formal": [], "engine": ["pdr"], "asserts": 1, "cover-depth": 20, "unroll": []}
    for number, line in enumerate(open(path), 1):
        line = line.split("#")[0].strip() if not line.startswith("mutant") else line.strip()
        if not line:
            continue
        key, _, rest = line.partition(" ")
        rest = rest.strip()
        if key == "mutant":
            name, path_of, edit = rest.split(None, 2)
            parts = edit[1:].split(edit[0])
            if len(parts) != 3 or parts[2]:
                fail("%s:%d: mutant needs /OLD/NEW/" % (path, number))
            proof["mutant"].append((name, path_of, parts[0], parts[1]))
        elif key == "case":
            proof["case"].append(dict(p.split("=", 1) for p in rest.split()))
        elif key in ("source", "formal", "include", "define"):
            proof[key] += rest.split()
        elif key in ("asserts", "cover-depth"):
            proof[key] = int(rest)
        elif key == "unroll":
            proof[key] = ["--unroll"]
        elif key == "engine":
            proof[key] = rest.split()
        elif key == "top":
            proof[key] = rest
        else:
            fail("%s:%d: unknown word %s" % (path, number, key))
    if not proof["case"]:
        proof["case"] = [{}]
    if not proof["formal"]:
        proof["formal"] = [s for s in proof["source"] if os.path.basename(s) == proof["top"] + ".v"]
    return proof


def run(command, log, check=True):
    with open(log, "w") as out:
        try:
            code = subprocess.run(command, stdout=out, stderr=subprocess.STDOUT, timeout=TIMEOUT).returncode
        except subprocess.TimeoutExpired:
            code = -1
    if check and code != 0:
        fail("failed (%d): %s\n%s" % (code, " ".join(command), open(log).read()[-3000:]))
    return code, open(log).read()


def prepare(proof, case, sources, base):
    """Yosys: design to AIGER (asserts; covers) and to SMT2."""
    flags = " ".join(["-D" + d for d in proof["define"]] + ["-I" + d for d in proof["include"]])
    lines = ["read_verilog %s %s %s" % ("-formal" if original in proof["formal"] else "", flags, now)
             for original, now in zip(proof["source"], sources)]
    lines += ["chparam -set %s %s %s" % (k, v, proof["top"]) for k, v in case.items()]
    here = os.path.dirname(os.path.abspath(__file__))
    to_aiger = ["delete -output", "setundef -undriven -anyseq", "opt -full", "techmap", "opt -fast", "dffunmap",
                "abc -g AND -fast", "opt_clean"]
    lines += ["prep -flatten -top %s" % proof["top"], "memory_map", "async2sync", "opt -full", "dffunmap",
              "select -assert-min %d t:$assert" % proof["asserts"], "select -assert-min 1 t:$cover", "design -save ready",
              "write_smt2 -wires %s.smt2" % base,
              "design -load ready", "chformal -cover -remove"] + to_aiger + [
              "write_aiger -zinit %s.aig" % base,
              "design -load ready", "chformal -assert -remove", "techmap -map %s/cover2assert.v" % here] + to_aiger + [
              "write_aiger -zinit %s.cover.aig" % base]
    with open(base + ".ys", "w") as f:
        f.write("\n".join(lines) + "\n")
    run(["yosys", "-q", base + ".ys"], base + ".yosys.log")


def holds(proof, base):
    """True if every assertion is proved, False if one has a counterexample; anything else ends the run."""
    if proof["engine"][0] == "pdr":
        _, text = run(["yosys-abc", "-c", "read_aiger %s.aig; fold; strash; pdr -v" % base], base + ".pdr.log")
        if "Property proved" in text:
            return True
        if "was asserted in frame" in text:
            return False
        fail("pdr gave no answer:\n" + text[-2000:])
    depth = proof["engine"][1]
    code, text = run(["yosys-smtbmc", "-s", "z3"] + proof["unroll"] + ["-t", depth, base + ".smt2"], base + ".bmc.log", check=False)
    if code != 0:
        if "BMC failed" in text or "Assert failed" in text:
            return False
        fail("BMC gave no answer:\n" + text[-2000:])
    code, text = run(["yosys-smtbmc", "-s", "z3"] + proof["unroll"] + ["-i", "-t", depth, base + ".smt2"],
                     base + ".ind.log", check=False)
    if code != 0:
        fail("induction gave no answer:\n" + text[-2000:])
    return True


def reached(proof, base):
    """Number of covers; ends the run where one cannot be reached."""
    _, text = run(["yosys-abc", "-c", "read_aiger %s.cover.aig; fold; strash; print_stats; bmc3 -a -F %d" %
                   (base, proof["cover-depth"])], base + ".cover.log")
    covers = int(re.search(r"i/o = *\d+/ *(\d+)", text).group(1))
    hit = len(set(re.findall(r"Output +(\d+) .*?was asserted in frame", text)))
    if covers == 0 or hit != covers:
        fail("%s: %d of %d covers reached, see %s.cover.log" % (proof["top"], hit, covers, base))
    return covers


def name_of(case):
    return "_".join("%s%s" % (k, re.sub(r"\W", "", v)) for k, v in case.items()) or "default"


def prove(path, mutants):
    proof = read_proof(path)
    stem = os.path.splitext(os.path.basename(path))[0]
    folder = "build/formal/" + stem
    os.makedirs(folder, exist_ok=True)
    for case in proof["case"]:
        base = folder + "/" + name_of(case)
        prepare(proof, case, proof["source"], base)
        if not holds(proof, base):
            fail("%s %s: an assertion fails, see %s.*.log" % (stem, name_of(case), base))
        covers = reached(proof, base)
        print("%-14s %-40s proved, %d covers" % (stem, name_of(case), covers))
    if not mutants:
        return
    if not proof["mutant"]:
        fail("%s: has no mutant" % stem)
    for name, file, old, new in proof["mutant"]:
        text = open(file).read()
        if text.count(old) != 1:
            fail("%s: mutant %s: its text is there %d times in %s" % (stem, name, text.count(old), file))
        changed = folder + "/mutant_" + name + ".v"
        with open(changed, "w") as f:
            f.write(text.replace(old, new))
        sources = [changed if s == file else s for s in proof["source"]]
        killed = None
        for case in proof["case"]:
            base = folder + "/mutant_%s_%s" % (name, name_of(case))
            prepare(proof, case, sources, base)
            if not holds(proof, base):
                killed = name_of(case)
                break
        if killed is None:
            fail("%s: mutant %s lives" % (stem, name))
        print("%-14s mutant %-33s killed (%s)" % (stem, name, killed))


def main():
    paths = [a for a in sys.argv[1:] if not a.startswith("-")]
    if not paths or "--help" in sys.argv:
        print(__doc__)
        sys.exit(2)
    for path in paths:
        prove(path, "--no-mutants" not in sys.argv)


main()
