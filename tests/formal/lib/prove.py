#!/usr/bin/env python3
"""Proves the properties of Verilog modules without bound, checks that their covers can be reached, and that each named
mutant is killed.

  prove.py [--no-mutants] PROOF ...
  prove.py --table PROOF ...       the results of the last runs of these, as a table

A PROOF file has one statement per line ('#' begins a comment):
  top MODULE                       what is proved
  source FILE ...                  Verilog, leaf first; paths from the root of the tree
  formal FILE ...                  files whose properties (under `ifdef FORMAL) are used; default: the file of the top
  include DIR ...                  where `include searches (always including the folder of the proof file)
  define NAME ...
  asserts N                        fewer assert cells than this is an error, because a proof without properties would pass
  given FILE ...                   its assertions are assumptions here: another proof has shown them
  cover-depth N                    all covers are reached within N cycles
  covers first                     covers are checked only in the first case, because a larger case takes too long
  case [NAME=VALUE ...]            a set of parameters; everything is proved in each
  mutant NAME FILE /OLD/NEW/       text OLD of FILE becomes NEW; then some case must fail. Any character can be the separator;
                                   \\n is the end of a line
  engine pdr | step [K] | induct K yosys-abc pdr (default); the assertions together are inductive: if all hold in one cycle they
                                   hold in the next one, with K those of K cycles in the next one (yosys-abc ind, bit by bit);
                                   K-induction (needs z3)
  limit SECONDS                    of processor time for each run of a solver; a proof that needs more fails. Default 300
  kill-depth N                     step: mutants must fail within N cycles of the reset. Default 30
  unroll                           induct: no function definitions for z3; for wide combinational logic, where z3 does not finish

Exit code 0: all proved, covered and killed. Scratch files go to build/formal/.
"""
import json
import os
import re
import resource
import subprocess
import sys

RESULTS = "build/formal/%s.json"


def fail(text):
    print(text)
    sys.exit(1)


def read_proof(path):
    proof = {"source": [], "include": [os.path.dirname(path) or "."], "define": [], "case": [], "mutant": [],
             "formal": [], "engine": ["pdr"], "asserts": 1, "cover-depth": 20, "unroll": [], "given": [], "covers": "all", "limit": 300,
             "kill-depth": 30}
    for number, line in enumerate(open(path), 1):
        line = line.split("#")[0].strip() if not line.startswith("mutant") else line.strip()
        if not line:
            continue
        key, _, rest = line.partition(" ")
        rest = rest.strip()
        if key == "mutant":
            name, path_of, edit = rest.split(None, 2)
            parts = edit[1:].replace("\\n", "\n").split(edit[0])
            if len(parts) != 3 or parts[2]:
                fail("%s:%d: mutant needs /OLD/NEW/" % (path, number))
            proof["mutant"].append((name, path_of, parts[0], parts[1]))
        elif key == "case":
            proof["case"].append(dict(p.split("=", 1) for p in rest.split()))
        elif key in ("source", "formal", "include", "define", "given"):
            proof[key] += rest.split()
        elif key in ("asserts", "cover-depth", "limit", "kill-depth"):
            proof[key] = int(rest)
        elif key == "unroll":
            proof[key] = ["--unroll"]
        elif key == "engine":
            proof[key] = rest.split()
        elif key in ("top", "covers"):
            proof[key] = rest
        else:
            fail("%s:%d: unknown word %s" % (path, number, key))
    if not proof["case"]:
        proof["case"] = [{}]
    if not proof["formal"]:
        proof["formal"] = [s for s in proof["source"] if os.path.basename(s) == proof["top"] + ".v"]
    return proof


def run(command, log, limit, check=True):
    """Exit code and output; ends the run if the command needs more than `limit` seconds of processor time."""
    def bound():
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5))
    with open(log, "w") as out:
        code = subprocess.run(command, stdout=out, stderr=subprocess.STDOUT, preexec_fn=bound).returncode
    # When the limit ends the solver, yosys-smtbmc survives it and reports a broken pipe.
    if code in (-24, -9) or "BrokenPipe" in open(log).read():
        fail("not finished in %d s of processor time: %s" % (limit, " ".join(command)))
    if check and code != 0:
        fail("failed (%d): %s\n%s" % (code, " ".join(command), open(log).read()[-3000:]))
    return code, open(log).read()


def prepare(proof, case, sources, base, mutant):
    """Yosys: design to AIGER (asserts; covers) and to SMT2. For a mutant, only the files that the engine needs."""
    flags = " ".join(["-D" + d for d in proof["define"]] + ["-I" + d for d in proof["include"]])
    # -defer: no module is elaborated with its default parameters.
    lines = ["read_verilog -defer %s %s %s" % ("-formal" if original in proof["formal"] else "", flags, now)
             for original, now in zip(proof["source"], sources)]
    sizes = " ".join("-chparam %s %s" % item for item in case.items())
    lines += ["hierarchy -check -top %s %s" % (proof["top"], sizes)]
    here = os.path.dirname(os.path.abspath(__file__))
    to_aiger = ["delete -output", "setundef -undriven -anyseq", "opt -full", "techmap", "opt -fast", "dffunmap",
                "abc -g AND -fast", "opt_clean"]
    lines += ["prep -flatten -top %s" % proof["top"]]
    lines += ["chformal -assert2assume t:$assert a:src=*%s:* %%i" % g for g in proof["given"]]
    lines += ["memory_map", "async2sync", "opt -full", "dffunmap",
              "select -assert-min %d t:$assert" % proof["asserts"], "select -assert-min 1 t:$cover", "design -save ready"]
    if proof["engine"][0] == "induct":
        lines += ["write_smt2 -wires %s.smt2" % base, "design -load ready"]
    if proof["engine"][0] != "induct" or not mutant:
        lines += ["chformal -cover -remove"] + to_aiger + ["write_aiger -zinit %s.aig" % base, "design -load ready"]
    if not mutant:
        lines += ["chformal -assert -remove", "techmap -map %s/cover2assert.v" % here] + to_aiger + [
                  "write_aiger -zinit %s.cover.aig" % base]
    with open(base + ".ys", "w") as f:
        f.write("\n".join(lines) + "\n")
    run(["yosys", "-q", base + ".ys"], base + ".yosys.log", 300)


def abc(proof, base, commands, kind):
    return run(["yosys-abc", "-c", commands % base], "%s.%s.log" % (base, kind), proof["limit"])[1]


def holds(proof, base, mutant):
    """True if every assertion is proved, False if one has a counterexample; anything else ends the run."""
    engine = proof["engine"][0]
    if engine == "pdr":
        text = abc(proof, base, "read_aiger %s.aig; fold; strash; pdr -v", "pdr")
        if "Property proved" in text:
            return True
        if "was asserted in frame" in text:
            return False
        fail("pdr gave no answer:\n" + text[-2000:])
    if engine == "step":
        steps = int((proof["engine"] + ["1"])[1])
        depth = proof["kill-depth"] if mutant else steps + 1
        text = abc(proof, base, "read_aiger %%s.aig; fold; orpos; strash; bmc3 -F %d" % depth, "bmc")
        if "was asserted in frame" in text:
            return False
        if "No output asserted in %d frames" % depth not in text:
            fail("bmc3 gave no answer:\n" + text[-2000:])
        if mutant:
            return True
        text = abc(proof, base, "read_aiger %%s.aig; fold; orpos; strash; ind -F %d" % (steps + 1), "ind")
        if "Networks are equivalent" not in text:
            fail("%s: the assertions are not inductive:\n%s" % (base, text[-2000:]))
        return True
    depth = proof["engine"][1]
    smtbmc = ["yosys-smtbmc", "-s", "z3"] + proof["unroll"]
    code, text = run(smtbmc + ["-t", depth, base + ".smt2"], base + ".bmc.log", proof["limit"], check=False)
    if code != 0:
        if "BMC failed" in text or "Assert failed" in text:
            return False
        fail("BMC gave no answer:\n" + text[-2000:])
    code, text = run(smtbmc + ["-i", "-t", depth, base + ".smt2"], base + ".ind.log", proof["limit"], check=False)
    if code != 0:
        fail("induction gave no answer:\n" + text[-2000:])
    return True


def reached(proof, base):
    """Number of covers; ends the run if one cannot be reached."""
    # -x: no traces are kept, because with traces bmc3 -a ends in a segmentation fault on some networks.
    text = abc(proof, base, "read_aiger %%s.cover.aig; fold; strash; print_stats; bmc3 -a -x -F %d" % proof["cover-depth"], "cover")
    covers = int(re.search(r"i/o = *\d+/ *(\d+)", text).group(1))
    hit = len(set(re.findall(r"Output +(\d+) .*?was asserted in frame", text)))
    if covers == 0 or hit != covers:
        fail("%s: %d of %d covers reached, see %s.cover.log" % (proof["top"], hit, covers, base))
    return covers


def cpu():
    """Seconds of processor time that all commands so far have taken."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def name_of(case):
    return "_".join("%s%s" % (k, re.sub(r"\W", "", v)) for k, v in case.items()) or "default"


def prove(path, mutants):
    proof = read_proof(path)
    stem = os.path.splitext(os.path.basename(path))[0]
    folder = "build/formal/" + stem
    os.makedirs(folder, exist_ok=True)
    found = {"proof": stem, "engine": " ".join(proof["engine"]), "cases": [], "mutants": []}
    if os.path.exists(RESULTS % stem):
        os.remove(RESULTS % stem)
    for case in proof["case"]:
        base = folder + "/" + name_of(case)
        begin = cpu()
        prepare(proof, case, proof["source"], base, False)
        if not holds(proof, base, False):
            fail("%s %s: an assertion fails, see %s.*.log" % (stem, name_of(case), base))
        covers = reached(proof, base) if proof["covers"] == "all" or not found["cases"] else 0
        found["cases"].append([name_of(case), asserts_of(base), covers, cpu() - begin])
        print("%-14s %-40s proved, %d covers" % (stem, name_of(case), covers), flush=True)
    if mutants and not proof["mutant"]:
        fail("%s: has no mutant" % stem)
    for name, file, old, new in proof["mutant"] if mutants else []:
        text = open(file).read()
        if text.count(old) != 1:
            fail("%s: mutant %s: its text is there %d times in %s" % (stem, name, text.count(old), file))
        changed = folder + "/mutant_" + name + ".v"
        with open(changed, "w") as f:
            f.write(text.replace(old, new))
        sources = [changed if s == file else s for s in proof["source"]]
        killed = None
        begin = cpu()
        for case in proof["case"]:
            base = folder + "/mutant_%s_%s" % (name, name_of(case))
            prepare(proof, case, sources, base, True)
            if not holds(proof, base, True):
                killed = name_of(case)
                break
        if killed is None:
            fail("%s: mutant %s lives" % (stem, name))
        found["mutants"].append([name, killed, cpu() - begin])
        print("%-14s mutant %-33s killed (%s)" % (stem, name, killed), flush=True)
    if mutants:
        with open(RESULTS % stem, "w") as f:
            json.dump(found, f)


def asserts_of(base):
    """Number of assertions after equal ones have been merged."""
    header = open(base + ".aig", "rb").readline().split()
    return int(header[6])


def table(paths):
    """Every proof with its engine, its bound, its time and the mutants that it kills; False if a proof has no result."""
    if not any(os.path.exists(RESULTS % os.path.splitext(os.path.basename(p))[0]) for p in paths):
        print("no proof has run in this tree yet: `make formal` runs all; that takes 40 minutes of processor time", file=sys.stderr)
        return False
    form = "| %-18s | %-9s | %-9s | %-46s | %7s | %6s | %6s | %s |"
    print(form % ("proof", "engine", "depth", "parameters", "asserts", "covers", "s", "mutants killed (s)"))
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    whole = True
    for path in paths:
        stem = os.path.splitext(os.path.basename(path))[0]
        if not os.path.exists(RESULTS % stem):
            print(form % (stem, "", "", "NOT PROVED", "", "", "", ""))
            whole = False
            continue
        found = json.load(open(RESULTS % stem))
        killed = ", ".join(m[0] for m in found["mutants"]) + " (%.0f)" % sum(m[2] for m in found["mutants"])
        for case, asserts, covers, seconds in found["cases"]:
            print(form % (stem, found["engine"], "unbounded", case.replace("_", " "), asserts, covers, "%.0f" % seconds, killed))
            killed = "as above"
    return whole


def main():
    paths = [a for a in sys.argv[1:] if not a.startswith("-")]
    if not paths or "--help" in sys.argv:
        print(__doc__)
        sys.exit(2)
    if "--table" in sys.argv:
        sys.exit(0 if table(paths) else 1)
    for path in paths:
        prove(path, "--no-mutants" not in sys.argv)


main()
