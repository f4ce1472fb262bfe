#!/usr/bin/env python3
"""Checks that docs/verification.md names the tests of every module of rtl/rf.f, and that they do contain the module.

usage: covered.py [--also FILE] TESTS_LIST

TESTS_LIST has one test per line, name <tab> command. A row names tests (wildcards allowed) or proofs; each of them must exist
and must have the module among its sources, as Verilator recorded them when it built the bench, or as the proof names
them. The whole box does not count, except for rf_core and rf_port. --also adds a module to the list, to show that a missing
row is reported.
"""
import fnmatch
import glob
import os
import re
import sys

PAGE = "docs/verification.md"
WHOLE = ("rf_core", "rf_port")


def sources_of(command):
    """Source files of the benches and proofs of a command; None if one of them has not been built."""
    found = set()
    for where in re.findall(r"(\S*/vl/[^/\s]+)/V\w+", command):
        lists = glob.glob(where + "/V*__ver.d")
        if not lists:
            return None
        with open(lists[0], encoding="utf-8") as text:
            found.update(text.read().split())
    for proof in re.findall(r"\S+\.proof", command):
        found.update(proof_sources(proof))
    return found


def proof_sources(path):
    if not os.path.exists(path):
        return set()
    with open(path, encoding="utf-8") as text:
        return {name for line in text if line.startswith("source") for name in line.split()[1:]}


def rows():
    """Module: names in the second column of the table."""
    table = {}
    with open(PAGE, encoding="utf-8") as page:
        for line in page:
            cells = [c.strip() for c in line.split("|")]
            if len(cells) >= 4 and re.fullmatch(r"rf_\w+", cells[1]):
                if cells[1] in table:
                    print("%s: two rows" % cells[1])
                    sys.exit(1)
                table[cells[1]] = re.findall(r"`([^`]+)`", cells[2])
    return table


def matches(name, tests):
    """(Name, sources) of the tests or the proof that a row names."""
    if name.endswith(".proof"):
        return [(name, proof_sources(name))] if os.path.exists(name) else []
    return [(t, sources_of(c)) for t, c in tests.items() if fnmatch.fnmatch(t, name)]


def check(module, path, names, tests):
    """Complaints about one row."""
    bad = []
    own = module in WHOLE
    if not names:
        bad.append("no test named")
    for name in names:
        found = matches(name, tests)
        if not found:
            bad.append("%s does not exist" % name)
        for test, sources in found:
            whole = test.startswith(("rtl-core", "compare", "fabric", "demo"))
            if sources is None:
                bad.append("%s has not been built" % test)
            elif not whole and path not in sources:
                bad.append("%s does not contain it" % test)
            own = own or not whole
    if names and not own:
        bad.append("only the whole box")
    return ["%s: %s" % (module, text) for text in bad]


def main(argv):
    also = []
    if len(argv) == 4 and argv[1] == "--also":
        also = [argv[2]]
        del argv[1:3]
    if len(argv) != 2:
        sys.stderr.write(__doc__)
        return 2
    with open(argv[1], encoding="utf-8") as text:
        tests = dict(line.rstrip("\n").split("\t", 1) for line in text if "\t" in line)
    with open("rtl/rf.f", encoding="utf-8") as text:
        paths = [line.split("//")[0].strip() for line in text if line.split("//")[0].strip()] + also
    modules = {os.path.basename(p)[:-2]: p for p in paths}
    table = rows()
    bad = ["%s: no such module" % m for m in table if m not in modules]
    for module, path in modules.items():
        bad += check(module, path, table[module], tests) if module in table else ["%s: no row in %s" % (module, PAGE)]
    for text in bad:
        print(text)
    if not bad:
        print("%d modules, each with tests of its own" % len(modules))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
