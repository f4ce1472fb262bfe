#!/usr/bin/env python3
"""Check that every row of docs/bad-input.md names existing tests.

  bad_input.py [PAGE]

The last cell of a row names programs in backquotes, each followed by a colon and its cases, or by nothing if the whole
program is meant. A program must be listed in build/tests.list; a case must be a function in a source file of that name below
tests/ that is registered with cmocka.
"""
import glob
import re
import sys


def cases_of(program):
    found = set()
    for path in glob.glob("tests/*/%s.c" % program):
        text = open(path).read()
        for name in re.findall(r"cmocka_unit_test\w*\((\w+)", text):
            if re.search(r"^static void %s\(void \*\*" % name, text, re.M):
                found.add(name)
    return found


def faults_of(page, known):
    rows = 0
    for number, line in enumerate(open(page), 1):
        cells = [c.strip() for c in line.strip().strip("|").split("|")]
        if not line.startswith("|") or len(cells) < 3 or cells[0] == "input" or set(cells[0]) <= set("-"):
            continue
        rows += 1
        named = re.findall(r"`([\w.-]+)`(?:: ([\w, ]+))?", cells[-1])
        if not named:
            yield number, "%s: no test" % cells[0]
        for program, cases in named:
            if program not in known:
                yield number, "there is no test %s" % program
                continue
            for case in (c.strip() for c in cases.split(",")) if cases else ():
                if case and case not in cases_of(program):
                    yield number, "%s has no case %s" % (program, case)
    if not rows:
        yield 0, "no rows"


def main():
    page = sys.argv[1] if len(sys.argv) > 1 else "docs/bad-input.md"
    known = {line.split("\t")[0] for line in open("build/tests.list")}
    faults = list(faults_of(page, known))
    for number, what in faults:
        print("%s:%d: %s" % (page, number, what))
    if faults:
        sys.exit(1)
    print("%s: every row names tests that exist" % page)


main()
