#!/usr/bin/env python3
"""Circles among the files of a room.

File A needs file B of the same room if A includes B, or if A names a function or a variable that B
defines for others (not static).  A call through a function pointer is no need: only names count.  A
circle is a set of files each of which needs each other one, over any number of steps.

  tests/lint/circles.py              every .c and .h that git tracks; exit code 1 if there is a circle
  tests/lint/circles.py --at DIR     the files under DIR instead, which need not be tracked (for the test)
  tests/lint/circles.py --needs ROOM the files of a room, lowest first, each with what it needs and why
"""
import functools
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import rooms  # noqa: E402

COMMENT = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
WORD = re.compile(r"(?<![\w.])(?<!->)[A-Za-z_]\w*")
TAG = re.compile(r"\b(?:struct|union|enum)\s+\w+")
NOT_NAMES = {"if", "while", "for", "switch", "return", "sizeof", "defined", "__attribute__", "_Static_assert"}


def code_of(text):
    """The text without comments, strings and preprocessor lines other than #define."""
    text = COMMENT.sub(lambda m: '""' if m.group(0)[0] in "\"'" else " ", text).replace("\\\n", " ")
    return "\n".join(line for line in text.split("\n") if not re.match(r"\s*#(?!\s*define)", line))


@functools.lru_cache(maxsize=None)
def top_level(code):
    """The declarations of a file, each with {} for what stands between braces."""
    code = "\n".join(line for line in code.split("\n") if not line.lstrip().startswith("#"))
    depth, at, out, piece = 0, 0, [], ""
    for match in re.finditer(r"[{};]", code):
        c = match.group(0)
        if depth == 0:
            piece += code[at:match.start()]
        at = match.end()
        if c == "{":
            depth += 1
        elif c == "}":
            depth -= 1
            if depth == 0:
                piece += "{}"
                # The body of a function ends its definition; an initialiser or a type ends at its semicolon.
                if re.search(r"\)\s*\{\}$", piece):
                    out.append(piece.strip())
                    piece = ""
        elif depth == 0:
            out.append(piece.strip())
            piece = ""
    return out


def defined_in(code):
    """The functions and variables that a file defines for others."""
    names = set()
    for piece in top_level(code):
        if re.match(r"(static|typedef|extern|_Static_assert)\b", piece) or not piece:
            continue
        if piece.endswith("{}") and "(" in piece:
            names.add(re.findall(r"(\w+)\s*\(", piece)[0])
        elif "(" not in piece.split("=")[0] and not re.match(r"(struct|union|enum)\s*\w*\s*\{\}$", piece):
            match = re.match(r"[\w\s*]*?(\w+)\s*((\[[^]]*\])*)\s*(=|$)", piece)
            if match and re.search(r"[\s*]", piece.split("=")[0].strip()) and not re.match(r"(struct|union|enum)\s+\w+$", piece):
                names.add(match.group(1))
    return names - NOT_NAMES


def needs_of(root, files):
    """For each file the files that it needs: {file: {other: {reasons}}}."""
    code = {}
    owner = {}
    needs = {f: {} for f in files}
    for f in files:
        with open(os.path.join(root, f), encoding="utf-8") as file:
            text = file.read()
        code[f] = code_of(text)
        for line in text.split("\n"):
            match = rooms.INCLUDE.match(line)
            if match and match.group(1) in needs and match.group(1) != f:
                needs[f].setdefault(match.group(1), set()).add("includes it")
        if f.endswith(".c"):
            for name in defined_in(code[f]):
                owner.setdefault(name, set()).add(f)
    # Programs of a room may define the same name: such a name says nothing about who needs whom.
    owner = {name: next(iter(fs)) for name, fs in owner.items() if len(fs) == 1}
    for f in files:
        prototypes = set()
        if f.endswith(".h"):
            prototypes = {n for p in top_level(code[f]) if p.endswith(")") for n in re.findall(r"(\w+)\s*\(", p)}
        for name in set(WORD.findall(TAG.sub(" ", code[f]))) & set(owner):
            if owner[name] != f and name not in prototypes and not (f.endswith(".h") and is_only_declared(code[f], name)):
                needs[f].setdefault(owner[name], set()).add(name)
    return needs


def is_only_declared(code, name):
    """Whether a header only declares the name: it stands at the top level, in no inline function or macro."""
    top = "\n".join(top_level(code))
    code, top = TAG.sub(" ", code), TAG.sub(" ", top)
    return len(re.findall(rf"\b{name}\b", code)) == len(re.findall(rf"\b{name}\b", top))


def circles_of(needs):
    """Strongly connected sets of more than one file, lowest first (Tarjan, without recursion)."""
    index, low, on, stack, found, order = {}, {}, set(), [], [], []
    for start in sorted(needs):
        if start in index:
            continue
        work = [(start, iter(sorted(needs[start])))]
        index[start] = low[start] = len(index)
        stack.append(start)
        on.add(start)
        while work:
            f, rest = work[-1]
            for other in rest:
                if other not in index:
                    index[other] = low[other] = len(index)
                    stack.append(other)
                    on.add(other)
                    work.append((other, iter(sorted(needs[other]))))
                    break
                if other in on:
                    low[f] = min(low[f], index[other])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[f])
                if low[f] == index[f]:
                    part = []
                    while not part or part[-1] != f:
                        part.append(stack.pop())
                        on.discard(part[-1])
                    order += sorted(part)
                    if len(part) > 1:
                        found.append(sorted(part))
    return found, order


def main():
    args = sys.argv[1:]
    if args and (args[0] not in ("--at", "--needs") or len(args) != 2):
        print(__doc__)
        return 2
    root = args[1] if args and args[0] == "--at" else "."
    files = {}
    for path in rooms.sources(root):
        if not path.endswith(".cpp"):
            files.setdefault(rooms.room_of(path), []).append(path)
    if args and args[0] == "--needs":
        needs = needs_of(root, files[args[1]])
        for f in circles_of(needs)[1]:
            print(f)
            for other in sorted(needs[f]):
                print(f"    {other}: {', '.join(sorted(needs[f][other]))}")
        return 0
    faults = 0
    for room in [r for r in rooms.ROOMS if r in files]:
        needs = needs_of(root, files[room])
        found, _ = circles_of(needs)
        for circle in found:
            faults += 1
            print(f"{room}: a circle of {len(circle)} files")
            for f in circle:
                for other in sorted(set(needs[f]) & set(circle)):
                    print(f"  {f} needs {other}: {', '.join(sorted(needs[f][other]))}")
    print(f"circles: {sum(len(f) for f in files.values())} files, {faults} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
