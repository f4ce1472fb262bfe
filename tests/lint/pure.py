#!/usr/bin/env python3
"""The state machines of a rank have no clock, no lock, no thread, and allocate only while they are set up.

The files of ROOMS include only the headers of HEADERS and BASE, call no function of IMPURE, and
allocate only in the functions of SETUP.  tests/unit/member_test.c shows that those run before the
first call.

  tests/lint/pure.py            every .c and .h that git tracks; exit code 1 if a line breaks a rule
  tests/lint/pure.py --at DIR   the files under DIR instead, which need not be tracked (for the test)
"""
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import circles  # noqa: E402
import rooms  # noqa: E402

ROOMS = ["host/roce", "host/collective", "host/control", "host/member"]
# Of the C library: memory, text, types.  Nothing here can wait, or read a clock.
HEADERS = {"isa-l/crc.h", "stdarg.h", "stdbool.h", "stddef.h", "stdint.h", "stdio.h", "stdlib.h", "string.h"}
BASE = {"base/log2.h", "base/packets.h"}
# What those headers offer besides: files, the environment, random numbers, the end of the process.
IMPURE = re.compile(
    r"(?<![\w.>])(f?printf|v?fprintf|puts|putchar|perror|fopen|fclose|fread|fwrite|fflush|fgets|getenv|system"
    r"|rand|srand|random|abort|exit|_exit|atexit)\s*\("
)
ALLOCATES = re.compile(r"(?<![\w.>])(malloc|calloc|realloc|aligned_alloc|strdup|strndup)\s*\(")
SETUP = {
    "host/roce/endpoint.c": "roce_endpoint_create",
    "host/roce/qp.c": "roce_qp_create",
    "host/collective/collective.c": "rf_coll_create",
    "host/collective/directed.c": "rf_directed_create",
    "host/collective/hosts.c": "rf_hosts_create",
    "host/member/member.c": "rf_member_create",
    "host/member/connect.c": "make_scratch",
    "host/member/proof.c": "prepare",
    "host/member/fallback.c": "rf_fallback_create",
}
SYSTEM = re.compile(r"^\s*#\s*include\s*<([^>]+)>")
FUNCTION = re.compile(r"^\w[\w\s*]*?(\w+)\(")


def faults_of(path, text):
    faults = []
    for number, line in enumerate(text.split("\n"), 1):
        system, own = SYSTEM.match(line), rooms.INCLUDE.match(line)
        if system and system.group(1) not in HEADERS:
            faults.append((number, f"includes <{system.group(1)}>"))
        if own and own.group(1).startswith("base/") and own.group(1) not in BASE:
            faults.append((number, f"includes {own.group(1)}"))
    # Without comments and strings, but line by line as in the file.
    code = circles.COMMENT.sub(lambda m: re.sub(r"[^\n]+", " ", m.group(0)), text)
    inside = ""
    for number, line in enumerate(code.split("\n"), 1):
        function = FUNCTION.match(line)
        if function:
            inside = function.group(1)
        call = IMPURE.search(line)
        if call:
            faults.append((number, f"calls {call.group(1)}()"))
        call = ALLOCATES.search(line)
        if call and SETUP.get(path) != inside:
            faults.append((number, f"{inside}() allocates"))
    return [f"{path}:{number}: {what}" for number, what in sorted(faults)]


def main():
    args = sys.argv[1:]
    if args and (args[0] != "--at" or len(args) != 2):
        print(__doc__)
        return 2
    root = args[1] if args else "."
    files = [p for p in rooms.sources(root) if rooms.room_of(p) in ROOMS]
    faults = []
    for path in files:
        with open(os.path.join(root, path), encoding="utf-8") as file:
            faults += faults_of(path, file.read())
    for fault in faults:
        print(fault)
    print(f"pure: {len(files)} files, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
