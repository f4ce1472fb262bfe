#!/usr/bin/env python3
"""What `ringfold perf` printed: the table, CSV or JSON.  Each row must agree with itself.

  perf.py RANKS FILE ...         size, count, rates, percentiles, intervals; prints what was found; exit code 1 at a fault
  perf.py --mutants RANKS FILE   changes each figure of a file in turn (JSON or CSV): each change must be noticed
"""
import csv
import io
import json
import sys

SIZES = {"fp32": 4, "bf16": 2, "fp16": 2, "fp64": 8, "int8": 1, "uint8": 1, "int32": 4, "uint32": 4, "int64": 8, "uint64": 8}
BLOCKS = {"reduce-scatter", "all-gather", "gather", "scatter"}
ROOTED = {"reduce", "broadcast", "gather", "scatter"}
REDUCES = {"all-reduce", "reduce", "reduce-scatter"}
OPS = {"sum", "min", "max", "and", "or", "xor", "average", "none"}
# busbw / algbw of n ranks: the page of nccl-tests, written again
FACTORS = {
    "all-reduce": lambda n: 2 * (n - 1) / n,
    "reduce": lambda n: 1,
    "broadcast": lambda n: 1,
    "barrier": lambda n: 0,
}
TIMES = ["time", "algbw", "busbw", "min", "avg", "p50", "p99", "max"]


def side_of(row, place, figures, kind="result"):
    side = dict(row, place=place, kind=kind)
    for name in TIMES:
        unit = "_GBps" if name in ("algbw", "busbw") else "_us"
        side[name] = float(figures[name + unit])
    side["calls"], side["end"] = int(figures["calls"]), float(figures["end_s"])
    wrong = figures.get("wrong")
    side["wrong"] = None if wrong in (None, "") else int(wrong)
    return side


def read_json(text):
    data = json.loads(text)
    sides = []
    for r in data["results"]:
        row = {"collective": r["collective"], "by": r["by"], "size": r["bytes"], "count": r["count"], "type": r["type"], "op": r["op"],
               "root": r["root"]}
        if "reason" in r:
            sides.append(dict(row, kind="not run", place="", reason=r["reason"]))
        for place in ("out", "in"):
            side = r[{"out": "out_of_place", "in": "in_place"}[place]]
            if side:
                sides += [side_of(row, place, i, "interval") for i in side.get("intervals", [])]
                sides.append(side_of(row, place, side))
    total = sum(s["wrong"] or 0 for s in sides if s["kind"] == "result")
    assert data["wrong"] == total, "the sum of wrong elements is %d, not %d" % (total, data["wrong"])
    assert data["not_run"] == sum(s["kind"] == "not run" for s in sides), "not_run"
    return data["ranks"], sides


def read_csv(text):
    sides, ranks = [], None
    for r in csv.DictReader(io.StringIO(text, newline="")):
        assert None not in r and None not in r.values(), "a row of another length: %s" % r
        row = {"collective": r["collective"], "by": r["by"], "size": int(r["size"]), "count": int(r["count"]), "type": r["type"],
               "op": r["redop"], "root": int(r["root"])}
        assert ranks in (None, int(r["ranks"])), "another number of ranks"
        ranks = int(r["ranks"])
        if r["kind"] == "not run":
            sides.append(dict(row, kind="not run", place="", reason=r["reason"]))
        else:
            sides.append(side_of(row, r["place"], r, r["kind"]))
    return ranks, sides


def read_table(text):
    """The table has fewer digits; only what it shows is returned."""
    sides, collective, ranks, latency, total = [], None, None, "p99" in text, None
    for line in text.splitlines():
        words = line.lstrip("#").split()
        if line.startswith("# ringfold"):
            ranks = int(words[words.index("ranks") + 1])
        elif line.startswith("# wrong elements:"):
            total = int(words[2])
        elif line.startswith("#"):
            collective = words[0] if len(words) == 1 else collective
        else:
            row = {"collective": collective, "by": words[5], "size": int(words[0]), "count": int(words[1]), "type": words[2], "op": words[3],
                   "root": int(words[4])}
            names = ["time", "algbw", "busbw", "wrong"] + (["min", "avg", "p50", "p99"] if latency else [])
            if words[6] == "not":
                sides.append(dict(row, kind="not run", place="", reason=line.split("not run: ")[1]))
                continue
            assert len(words) == 6 + 2 * len(names), line
            for place, at in (("out", 6), ("in", 6 + len(names))):
                if words[at] == "-":
                    continue
                side = dict(row, place=place, kind="result", shown=True)
                for name, word in zip(names, words[at:]):
                    side[name] = None if word == "-" else float(word)
                sides.append(side)
    assert total == sum(s["wrong"] or 0 for s in sides if s["kind"] == "result"), "the last line has another sum of wrong elements"
    return ranks, sides


def read(text):
    return read_json(text) if text.startswith("{") else read_csv(text) if text.startswith("kind,") else read_table(text)


def near(a, b, part, least):
    return abs(a - b) <= part * max(abs(a), abs(b)) + least


def faults_of_side(s, n):
    c = s["collective"]
    unit = SIZES.get(s["type"], 0) * (n if c in BLOCKS else 1)
    if s["size"] != s["count"] * unit:
        yield "size is not count x %d" % unit
    if (s["root"] >= 0) != (c in ROOTED) or s["root"] >= n:
        yield "root"
    if (s["op"] != "none") != (c in REDUCES) or s["op"] not in OPS:
        yield "operation"
    if s["by"] not in ("box", "ring"):
        yield "by"
    if s["kind"] == "not run":
        if not s["reason"]:
            yield "no reason"
        return
    if s["place"] not in ("out", "in"):
        yield "place"
    # digits: microseconds have three (the table: one), rates six (four)
    tick, least = (0.06, 6e-5) if s.get("shown") else (6e-4, 1e-6)
    if s["time"] <= 0:
        yield "time"
    elif not near(s["algbw"], s["size"] / s["time"] * 1e-3, tick / s["time"] + (0.005 if s.get("shown") else 0), least):
        yield "algbw is not size / time"
    if not near(s["busbw"], s["algbw"] * FACTORS.get(c, lambda k: (k - 1) / k)(n), 0.01 if s.get("shown") else 0, 2 * least):
        yield "busbw is not algbw x factor"
    if s["kind"] == "result" and (s["wrong"] is None) != (c == "barrier"):
        yield "wrong elements are not counted, or those of a barrier"
    order = [name for name in ("min", "p50", "p99", "max") if name in s]
    if any(s[a] > s[b] + 1e-9 for a, b in zip(order, order[1:])):
        yield "percentiles out of order"
    if "avg" in s and not (s["min"] - 1e-9 <= s["avg"] <= s.get("max", s["avg"]) + 1e-9):
        yield "the mean is not between minimum and maximum"
    if "calls" in s and (s["calls"] < 1 or s["end"] <= 0):
        yield "calls, or end"


def faults_of(ranks, sides):
    calls, end = {"out": 0, "in": 0}, {"out": 0, "in": 0}
    n = ranks or 1
    for at, s in enumerate(sides):
        where = "%d: %s by %s, %s bytes, %s" % (at, s["collective"], s["by"], s["size"], s["place"])
        for fault in faults_of_side(s, n):
            yield "%s: %s" % (where, fault)
        place = s["place"]
        if s["kind"] == "interval" and place in end:
            if s["end"] <= end[place]:
                yield "%s: intervals out of order" % where
            calls[place], end[place] = calls[place] + s["calls"], s["end"]
        elif s["kind"] == "result" and place in end:
            if calls[place] and calls[place] != s["calls"]:
                yield "%s: intervals have %d calls of %d" % (where, calls[place], s["calls"])
            calls[place], end[place] = 0, 0


def all_faults(text, ranks):
    try:
        n, sides = read(text)
    except (AssertionError, ValueError, KeyError, IndexError, TypeError) as e:
        return ["cannot be read: %s %s" % (type(e).__name__, e)], []
    faults = list(faults_of(n, sides))
    if n != ranks:
        faults.append("%s ranks, not %d" % (n, ranks))
    return faults, sides


def changes_of(text):
    """(what, changed text): figures of the first results, made larger."""
    if text.startswith("{"):
        for at, r in enumerate(json.loads(text)["results"][:4]):
            for path in [["bytes"], ["count"], ["root"]] + [["out_of_place", k] for k in r["out_of_place"] if k not in ("intervals", "end_s", "calls")]:
                data = json.loads(text)
                to = data["results"][at]
                for key in path[:-1]:
                    to = to[key]
                last = path[-1]
                if to[last] is None or last == "max_us":
                    continue
                to[last] = to[last] * 1e6 + 1 if isinstance(to[last], float) else to[last] * 2 + 3
                yield "result %d: %s" % (at, "/".join(path)), json.dumps(data)
        return
    lines = text.splitlines(keepends=True)
    names = lines[0].strip().split(",")
    for at, line in enumerate(lines[1:5], 1):
        cells = line.strip("\r\n").split(",")
        for k, name in enumerate(names):
            if name in ("end_s", "wrong", "max_us", "reason", "kind") or (name == "calls" and cells[0] == "result" and at == 1):
                continue
            other = cells[:k] + ["99999" if cells[k].lstrip("-")[:1].isdigit() else "x"] + cells[k + 1:]
            yield "line %d: %s" % (at, name), "".join(lines[:at] + [",".join(other) + "\r\n"] + lines[at + 1:])


def mutants(ranks, path):
    text = open(path, newline="", encoding="utf-8").read()
    missed, n = [], 0
    for what, changed in changes_of(text):
        n += 1
        if not all_faults(changed, ranks)[0]:
            missed.append(what)
    for what in missed:
        print("not noticed: " + what)
    print("perf: %d changes, %d not noticed" % (n, len(missed)))
    return 1 if missed or n < 10 else 0


def main():
    if sys.argv[1] == "--mutants":
        return mutants(int(sys.argv[2]), sys.argv[3])
    bad = 0
    for path in sys.argv[2:]:
        faults, sides = all_faults(open(path, newline="", encoding="utf-8").read(), int(sys.argv[1]))
        for fault in faults[:10]:
            print("%s: %s" % (path, fault))
        kinds = [s["kind"] for s in sides]
        print("perf: %d results, %d intervals, %d not run, %d wrong, %d collectives, by %s, %d faults" % (
            kinds.count("result"), kinds.count("interval"), kinds.count("not run"),
            sum(bool(s.get("wrong")) for s in sides), len({s["collective"] for s in sides}),
            "+".join(sorted({s["by"] for s in sides})), len(faults)))
        bad |= bool(faults)
    return bad


if __name__ == "__main__":
    sys.exit(main())
