#!/usr/bin/env python3
"""README.md and the pages of docs/: how they are laid out.

Prose wraps at 100 columns; tables, blocks of commands and lines without a space may be longer.  Each
page of docs/ has a title, and its first sentence says what it is for: it begins with "This page".
Each page is listed in docs/index.md.

  tests/lint/pages.py            README.md and docs/*.md; exit code 1 if a page breaks a rule
  tests/lint/pages.py --at DIR   the same files under DIR (for the test)
"""
import glob
import os
import re
import sys

COLUMNS = 100


def prose_of(text):
    """(line number, line) of what is neither table nor block."""
    fenced = block = False
    before = ""
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith("```"):
            fenced = not fenced
        elif not fenced:
            if line.startswith("    ") and (block or not before.strip()):
                block = True
            elif line.strip():
                block = False
                if not line.startswith("|"):
                    yield number, line
        before = line


def faults_of(root):
    pages = sorted(glob.glob(os.path.join(root, "docs", "*.md")))
    with open(os.path.join(root, "docs", "index.md"), encoding="utf-8") as file:
        listed = set(re.findall(r"\]\(([\w-]+\.md)\)", file.read()))
    for path in [os.path.join(root, "README.md")] + pages:
        name = os.path.relpath(path, root)
        with open(path, encoding="utf-8") as file:
            prose = list(prose_of(file.read()))
        for number, line in prose:
            if len(line) > COLUMNS and " " in line.strip():
                yield f"{name}:{number}: prose of {len(line)} columns"
        if path not in pages:
            continue
        said = [line for _, line in prose if not line.startswith("<!--")]
        if not said or not said[0].startswith("# "):
            yield f"{name}: does not begin with a title"
        elif len(said) < 2 or not said[1].startswith("This page "):
            yield f'{name}: its first sentence does not begin with "This page"'
        base = os.path.basename(name)
        if base != "index.md" and base not in listed:
            yield f"{name}: is not listed in docs/index.md"


def main():
    args = sys.argv[1:]
    if args and (args[0] != "--at" or len(args) != 2):
        print(__doc__)
        return 2
    faults = list(faults_of(args[1] if args else "."))
    for fault in faults:
        print(fault)
    print(f"pages: {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
