#!/usr/bin/env python3
"""Names that headers show without a prefix.

A header that several files include shares one name space with all of them.  Each name that it shows
(functions, types, constants, macros) begins with a prefix of PREFIXES or with the header's own name;
in a test's header, a word of that name or "test" is enough.

  tests/lint/names.py            every .h that git tracks; exit code 1 if a name has no prefix
  tests/lint/names.py --at DIR   the headers under DIR instead, which need not be tracked (for the test)
"""
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import circles  # noqa: E402
import rooms  # noqa: E402

PREFIXES = ["rf", "roce", "rfd", "store", "memif", "model", "arith", "soft", "boxlink", "traffic", "ctl", "doctor", "perf", "plan", "topo", "ringfold"]
# Headers, and folders of headers, whose names stand for the present.  One that has no fault any more must
# leave the list.  Each bench in tests/rtl is a C++ program with a header of its own.
EXCEPT = [
    "tests/rtl/",
    "tests/bench/planner_cases.h",
    "tests/sim/compare/packet.h",
    "tests/sim/fabric_help.h",
    "tests/unit/api_ranks.h",
    "tests/unit/ctl_script.h",
    "tests/unit/fuzz.h",
    "tests/unit/fw_joined.h",
    "tests/unit/fw_lab.h",
    "tests/unit/fw_world.h",
    "tests/unit/planner_every.h",
    "tests/unit/store_world.h",
]
# A C library's own header for a target without one.
ALIEN = ["firmware/target/rv32/include/string.h"]


def names_of(text):
    """What a header defines or declares, except members and parameters."""
    code = circles.code_of(text)
    names = set(re.findall(r"^\s*#\s*define\s+(\w+)", code, re.M))
    for piece in circles.top_level(code):
        names.update(m.group(2) for m in re.finditer(r"\b(struct|enum|union)\s+(\w+)\s*\{\}", piece))
        piece = re.sub(r"__attribute__\s*\(\(.*\)\)", "", piece)
        function = re.match(r"[\w\s*]*?(\w+)\s*\(", re.sub(r"\(\*\s*(\w+)\)", r"\1", piece))
        if piece.startswith(("typedef", "_Static_assert")):
            continue
        if function:
            names.add(function.group(1))
        elif piece.startswith("extern"):
            names.update(re.findall(r"(\w+)\s*(?:\[[^]]*\]\s*)*$", piece))
    plain = re.sub(r"^\s*#.*$", "", code, flags=re.M)
    for body in re.findall(r"\benum\s*\w*\s*\{([^}]*)\}", plain):
        names.update(re.findall(r"(?:^|,)\s*(\w+)", body))
    return names


def main():
    args = sys.argv[1:]
    if args and (args[0] != "--at" or len(args) != 2):
        print(__doc__)
        return 2
    root = args[1] if args else "."
    faults = 0
    stand = {exception: 0 for exception in EXCEPT}
    headers = [p for p in rooms.sources(root) if p.endswith(".h") and p not in ALIEN]
    for path in headers:
        with open(os.path.join(root, path), encoding="utf-8") as file:
            names = names_of(file.read())
        stem = os.path.basename(path)[:-2].rstrip("s")
        allowed = PREFIXES + [stem]
        if rooms.room_of(path) == "tests":
            allowed += ["test", "tests"] + [word.rstrip("s") for word in stem.split("_")]
        guard = re.compile(r"(?i)^(" + "|".join(map(re.escape, allowed)) + r")s?(_|$)")
        bad = sorted(n for n in names if not guard.match(n))
        exception = next((e for e in EXCEPT if path.startswith(e)), None)
        if exception:
            stand[exception] += len(bad)
        elif bad:
            faults += 1
            print(f"{path}: shows names without a prefix: {', '.join(bad)}")
    for exception, count in stand.items():
        if count == 0 and root == ".":
            faults += 1
            print(f"{exception}: has no name without a prefix any more: take it out of EXCEPT in tests/lint/names.py")
    print(f"names: {len(headers)} headers, {faults} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
