#!/usr/bin/env python3
"""Run the commands that measure figures and print one table of all of them.

usage: run.py LIST FIGURES RESULT

LIST      lines "name<tab>command"
FIGURES   JSON lines that the commands append: {group, name, value, unit, limit, must, ok}
          limit is null where there is none; must says whether missing it fails the run
RESULT    the same figures as one JSON list

Exit 0; 1 where a command failed; 4 where a figure that must hold does not.
"""
import json
import os
import subprocess
import sys

KEYS = {"group", "name", "value", "unit", "limit", "must", "ok"}


def read_figures(path):
    figures = []
    with open(path, encoding="utf-8") as text:
        for number, line in enumerate(text, 1):
            figure = json.loads(line)
            if set(figure) != KEYS:
                raise ValueError("%s:%d: keys are %s, not %s" % (path, number, sorted(figure), sorted(KEYS)))
            figures.append(figure)
    return figures


def show(value):
    if value is None:
        return "-"
    return "%.4g" % value if isinstance(value, float) else str(value)


def main(argv):
    if len(argv) != 4:
        sys.stderr.write(__doc__)
        return 2
    names, lines, result = argv[1:]
    if os.path.exists(lines):
        os.unlink(lines)
    open(lines, "w", encoding="utf-8").close()
    failed = []
    with open(names, encoding="utf-8") as text:
        for line in text:
            name, command = line.rstrip("\n").split("\t", 1)
            print("measuring %s" % name, file=sys.stderr, flush=True)
            if subprocess.run(["sh", "-c", command], stdin=subprocess.DEVNULL, stdout=sys.stderr, check=False).returncode:
                failed.append(name)
    figures = read_figures(lines)
    with open(result, "w", encoding="utf-8") as out:
        json.dump(figures, out, indent=1)
        out.write("\n")
    missed = 0
    print("%-12s %-62s %12s %12s %7s  %-14s %s" % ("group", "figure", "value", "limit", "ratio", "unit", ""))
    for f in figures:
        ratio = "%.3f" % (f["value"] / f["limit"]) if f["limit"] and isinstance(f["value"], (int, float)) else "-"
        verdict = "ok" if f["ok"] else ("MISSED" if f["must"] else "missed")
        if f["limit"] is None and f["ok"]:
            verdict = ""
        missed += bool(f["must"]) and not f["ok"]
        print("%-12s %-62s %12s %12s %7s  %-14s %s" % (f["group"], f["name"], show(f["value"]), show(f["limit"]),
                                                       ratio, f["unit"], verdict))
    for name in failed:
        print("bench: '%s' failed, its figures are missing" % name, file=sys.stderr)
    if failed:
        return 1
    return 4 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
