#!/usr/bin/env python3
"""Phrases that must not appear in the tree: tests/lint/words.txt.

  tests/lint/words.py            every text file that git tracks, but not tests/data and not tests/lint
  tests/lint/words.py --at DIR   the files under DIR, which need not be tracked (for the test)
  tests/lint/words.py --count    the number of lines found alone, nothing is allowed

Prints FILE:LINE: the phrase, and exits with 1 where one is found, or where an exception is not needed.
"""
import os
import re
import subprocess
import sys

MOST_EXCEPTIONS = 20


def read_list(path):
    """(pattern, exceptions) of a list; an exception is (path, text)."""
    patterns, allowed = [], []
    with open(path, encoding="utf-8") as file:
        for line in file:
            line = line.rstrip("\n")
            if not line or line.startswith("#"):
                continue
            if line.startswith("allow "):
                allowed.append(tuple(line.split(" ", 2)[1:]))
            else:
                patterns.append(line)
    return re.compile("|".join(patterns), re.IGNORECASE), allowed


def files_of(root):
    if root == ".":
        names = subprocess.check_output(["git", "ls-files"], text=True).split("\n")
        return [n for n in names if n and not n.startswith(("tests/data/", "tests/lint/"))]
    return sorted(os.path.relpath(os.path.join(at, n), root) for at, _, names in os.walk(root) for n in names)


def look(root, pattern):
    """Yields (path, line number, line, phrase)."""
    for path in files_of(root):
        try:
            with open(os.path.join(root, path), encoding="utf-8") as file:
                lines = file.read().split("\n")
        except (UnicodeDecodeError, FileNotFoundError, IsADirectoryError):
            continue
        for number, line in enumerate(lines, 1):
            match = pattern.search(line)
            if match:
                yield path, number, line, match.group(0)


def main():
    args = sys.argv[1:]
    root = args[1] if len(args) == 2 and args[0] == "--at" else "."
    if args and root == "." and args != ["--count"]:
        print(__doc__)
        return 2
    pattern, allowed = read_list(os.path.join(os.path.dirname(os.path.abspath(__file__)), "words.txt"))
    found = list(look(root, pattern))
    if args == ["--count"]:
        print(len(found))
        return 0
    used = set()
    faults = 0
    for path, number, line, phrase in found:
        exception = next(((p, t) for p, t in allowed if p == path and t in line), None)
        if exception:
            used.add(exception)
            continue
        print(f"{path}:{number}: \"{phrase}\" (tests/lint/words.txt says what to write instead)")
        faults += 1
    if root == ".":
        for path, text in allowed:
            if (path, text) not in used:
                print(f"words.txt: the exception is not needed any more: {path} {text}")
                faults += 1
    if len(allowed) > MOST_EXCEPTIONS:
        print(f"words.txt: {len(allowed)} exceptions, at most {MOST_EXCEPTIONS}")
        faults += 1
    print(f"words: {faults} faults")
    return 1 if faults else 0


sys.exit(main())
