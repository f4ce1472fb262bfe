#!/usr/bin/env python3
"""The timeline of `ringfold sim`: whole, in the units and tracks that a viewer expects, and in agreement with the run's counters.

    timeline.py RINGFOLD_SIM
"""
import collections
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "check"))
from report import FAILED, check


def run(program, path, *options):
    out = subprocess.run([program, "--json", "--timeline", path, *options], capture_output=True, text=True)
    return out.returncode, json.loads(out.stdout) if out.stdout else None, out.stderr


def slices(path):
    with open(path, encoding="utf-8") as f:
        events = json.load(f)["traceEvents"]
    names = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "thread_name"}
    return [dict(e, track=names[e["pid"], e["tid"]]) for e in events if e["ph"] == "X"]


def overlaps(found):
    """Two frames at the same time on one link."""
    tracks = collections.defaultdict(list)
    for e in found:
        tracks[e["track"]].append(e)
    bad = 0
    for track in tracks.values():
        track.sort(key=lambda e: e["ts"])
        bad += sum(b["ts"] < a["ts"] + a["dur"] - 1e-5 for a, b in zip(track, track[1:]))
    return bad


def agrees(what, found, result, iterations):
    frames = [e for e in found if not e["name"].startswith("all-reduce")]
    calls = [e for e in found if e["name"].startswith("all-reduce")]
    check(f"{what}: lost frames", sum("lost" in e["name"] for e in frames) == result["lost"], result["lost"])
    check(f"{what}: repeats of hosts", sum(e["name"].startswith("data again") and e["track"].startswith("rank") and
                                           e["track"].endswith("sends") for e in frames) == result["repeats"], result["repeats"])
    if result.get("box"):
        naks = sum(p["tx_nak"] for p in result["box"])
        check(f"{what}: NAKs of the box", sum(e["name"].startswith("NAK") and e["track"].startswith("box") and
                                              e["track"].endswith("sends") for e in frames) >= naks > 0 or not naks, naks)
    check(f"{what}: one all-reduce per rank and iteration", len(calls) == result["ranks"] * iterations, len(calls))
    first = min(e["ts"] for e in calls)
    last = max(e["ts"] + e["dur"] for e in calls)
    check(f"{what}: they last as long as the result says", abs(last - first - 1e6 * result["seconds"]) < 0.01, last - first)
    check(f"{what}: frames on one link do not overlap", overlaps(frames) == 0, overlaps(frames))
    wire = [e for e in frames if e["name"] == "data" and e["track"] == "rank 0 sends"]
    check(f"{what}: a slice is as long as its bits at 100 Gb/s",
          all(abs(e["dur"] - (e["args"]["bytes"] + 24) * 8e-5) < 1e-4 for e in wire), wire[0])


def main():
    program = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory(prefix="ringfold-timeline-") as folder:
        path = os.path.join(folder, "t.json")
        for what, iterations, options in (("box", 2, ("--iterations", "2")),
                                          ("loss", 1, ("--loss", "1%", "--seed", "3", "--size", "64K")),
                                          ("selective", 1, ("--loss", "1%", "--seed", "3", "--size", "64K", "--selective")),
                                          ("ring", 1, ("--schedule", "ring", "--loss", "1%", "--seed", "5"))):
            code, result, err = run(program, path, *options)
            check(f"{what}: the run is good", code == 0, err)
            agrees(what, slices(path), result, iterations)
        once = open(path, "rb").read()
        run(program, path, *options)
        check("the same run gives the same file", open(path, "rb").read() == once)
        code, _, err = run(program, os.path.join(folder, "none", "t.json"))
        check("a folder that does not exist", code != 0 and "No such file" in err, err)
        code, result, err = run(program, "/dev/full")
        check("a full disk: file and reason", code == 1 and "the timeline /dev/full is not complete: No space left" in err, err)
        check("... and the result", result is not None and result["wrong"] == 0)
    return 1 if FAILED else 0


if __name__ == "__main__":
    sys.exit(main())
