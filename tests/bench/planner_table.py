#!/usr/bin/env python3
"""The tables of docs/planner.md, from the figures of `make bench`.

usage: planner_table.py FIGURES

FIGURES   build/bench.json, or the JSON lines that planner-bench wrote
"""
import json
import sys

NOT_SCHEMES = ("flow relaxation", "dual bound")


def read(path):
    with open(path, encoding="utf-8") as text:
        content = text.read()
    if content.lstrip().startswith("["):
        return json.loads(content)
    return [json.loads(line) for line in content.splitlines()]


def number(value):
    return "-" if value is None else "%.4g" % value


def main(argv):
    if len(argv) != 2:
        sys.stderr.write(__doc__)
        return 2
    cases, ratios, others = {}, [], []
    for figure in read(argv[1]):
        if figure["group"] != "planner":
            continue
        case, colon, what = figure["name"].partition(": ")
        if not colon:
            others.append(figure)
        elif " over " in what:
            ratios.append(figure)
        else:
            cases.setdefault(case, {})[what] = figure
    print("| case | bound | flow | dual | best | next best | all others |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for case, figures in cases.items():
        schemes = {k: f["value"] for k, f in figures.items() if k not in NOT_SCHEMES}
        rest = sorted((k for k in schemes if k != "best" and "not on every" not in k), key=lambda k: -schemes[k])
        bound = next(f["limit"] for f in figures.values() if f["limit"] is not None)
        level = [number(figures[k]["value"]) if k in figures else "-" for k in NOT_SCHEMES]
        print("| %s, %s | %s | %s | %s | %s %s | %s |" % (
            case, figures["best"]["unit"], number(bound), " | ".join(level), number(schemes["best"]), rest[0],
            number(schemes[rest[0]]), ", ".join("%s %s" % (k, number(schemes[k])) for k in rest[1:])))
    print("\n| ratio | limit | ours | |\n| --- | --- | --- | --- |")
    for figure in ratios:
        print("| %s | %s | %s | %s |" % (figure["name"], number(figure["limit"]), number(figure["value"]),
                                         "ok" if figure["ok"] else "not reproduced"))
    print("\n| figure | value | limit |\n| --- | --- | --- |")
    for figure in others:
        print("| %s | %s %s | %s |" % (figure["name"], number(figure["value"]), figure["unit"], number(figure["limit"])))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
