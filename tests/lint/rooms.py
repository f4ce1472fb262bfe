#!/usr/bin/env python3
"""Which room may include which: one table, and the includes that break it.

A room may include itself and every room that stands before it in ROOMS, unless ALONE says that it
sees only the rooms named there.  The tests are above everything.  Generated headers (build/gen) belong
to nobody and may be included by all.

  tests/lint/rooms.py            every .c, .h, .cpp that git tracks; exit code 1 if a line breaks the order
  tests/lint/rooms.py --table    prints the table
  tests/lint/rooms.py --at DIR   the files under DIR instead, which need not be tracked (for the test)
"""
import os
import re
import subprocess
import sys

# Lowest first.
ROOMS = [
    "base",
    "host/include",
    "proto",
    "wire",
    "plan",
    "host/config",
    "host/io",
    "host/roce",
    "host/collective",
    "host/back",
    "host/control",
    "host/store",
    "host/member",
    "host/api",
    "planner",
    "firmware/hal",
    "firmware/core",
    "firmware/target",
    "service",
    "soft",
    "sim",
    "sim/model",
    "sim/soft",
    "sim/cosim",
    "sim/fabric",
    "sim/realtime",
    "sim/unicorn",
    "ringfoldd",
    "demo",
    "examples",
    "integrations/mpi/core",
    "integrations/mpi/calls",
    "integrations/mpi/openmpi",
    "integrations/mpi/mpich",
    "tools",
    "tests",
]
# Rooms that see less than everything before them.
ALONE = {
    "examples": ["host/include"],
    "integrations/mpi/core": ["base", "host/include", "host/config"],
    "integrations/mpi/calls": ["host/include", "integrations/mpi/core"],
    "integrations/mpi/openmpi": ["host/include", "integrations/mpi/core", "integrations/mpi/calls"],
    "integrations/mpi/mpich": ["base", "host/include", "integrations/mpi/core", "integrations/mpi/calls"],
    "planner": ["base", "plan"],
    "plan": ["base"],
    "firmware/core": ["base", "proto", "firmware/hal"],
    "soft": ["base", "proto"],
    "sim/model": ["base", "proto", "sim"],
    "sim/soft": ["sim", "soft"],
    "sim/unicorn": ["base", "firmware/target"],
}
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"')


def room_of(path):
    """The longest room that path lies in; None outside all rooms."""
    best = None
    for room in ROOMS:
        if path.startswith(room + "/") and (best is None or len(room) > len(best)):
            best = room
    return best


def sources(root):
    if root == ".":
        return subprocess.check_output(["git", "ls-files", "*.c", "*.h", "*.cpp"], text=True).split()
    found = []
    for at, _, names in os.walk(root):
        found += [os.path.relpath(os.path.join(at, n), root) for n in names if n.endswith((".c", ".h", ".cpp"))]
    return sorted(found)


def faults_of(root):
    faults = []
    for path in sources(root):
        room = room_of(path)
        if room is None:
            faults.append(f"{path}: in no room of tests/lint/rooms.py")
            continue
        with open(os.path.join(root, path), encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                match = INCLUDE.match(line)
                if not match:
                    continue
                name = match.group(1)
                if name.startswith("ringfold/"):
                    to = "host/include"
                else:
                    to = room_of(name)
                if to is None or to == room:
                    continue  # generated, or beside it
                if room in ALONE and to not in ALONE[room]:
                    faults.append(f"{path}:{number}: {room} may include {', '.join(ALONE[room])} alone, not {to} ({name})")
                elif ROOMS.index(to) > ROOMS.index(room):
                    faults.append(f"{path}:{number}: {room} includes {to}, which stands above it ({name})")
    return faults


def main():
    args = sys.argv[1:]
    if args == ["--table"]:
        for room in ROOMS:
            print(f"{room:16} {'sees ' + ', '.join(ALONE[room]) + ' alone' if room in ALONE else ''}".rstrip())
        return 0
    if args and (args[0] != "--at" or len(args) != 2):
        print(__doc__)
        return 2
    faults = faults_of(args[1] if args else ".")
    for fault in faults:
        print(fault)
    print(f"rooms: {len(ROOMS)} rooms, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
