#!/usr/bin/python3
"""Refuses a name that is used above its declaration, which the front ends accept, and a file that allows undeclared nets.

    declared.py order|nettype FILE ...

order    every parameter, net, variable and genvar is declared above its first use, in its own scope or one around it.
         Include files in the folder of the file are read in place; both branches of a condition are read.
nettype  `default_nettype none stands above the module, `default_nettype wire is the file's last line.
"""
import os
import re
import sys

KINDS = {"wire", "reg", "integer", "genvar", "parameter", "localparam", "input", "output", "inout", "real", "time"}
QUALIFIERS = {"wire", "reg", "signed", "integer"}
OPENS = {"begin": "end", "function": "endfunction", "task": "endtask", "module": "endmodule"}
CLOSES = set(OPENS.values())
TOKEN = re.compile(r"`?[A-Za-z_]\w*|\d*'s?[bdhoBDHO][\w?]+|\d+|\.[A-Za-z_]\w*|[^\s\w]")


def plain(path):
    """The file with comments and strings blanked and include files in place: a list of (line, file, text)."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    text = re.sub(r"//[^\n]*", "", text)
    text = re.sub(r"/\*.*?\*/", lambda m: "\n" * m.group().count("\n"), text, flags=re.S)
    lines = []
    for number, line in enumerate(text.split("\n"), 1):
        include = re.match(r'\s*`include\s+"([^"]+)"', line)
        if include:
            beside = os.path.join(os.path.dirname(path), include.group(1))
            if os.path.exists(beside):
                lines += plain(beside)
        elif re.match(r"\s*`(define|undef|ifdef|ifndef|else|elsif|endif|default_nettype|timescale)\b", line):
            continue
        else:
            lines.append((number, path, re.sub(r'"[^"]*"', '""', line)))
    return lines


def tokens(path):
    return [(token, number, file) for number, file, line in plain(path) for token in TOKEN.findall(line)]


def order(path):
    """Messages about names that are used above their declaration."""
    stream = tokens(path)
    scopes = [{}]
    # Uses that found no declaration above: name, line, file, the scopes around.
    open_uses = []
    kind = None
    # Depth of brackets since the kind's keyword; whether a declarator's name has been seen since the last comma.
    depth = 0
    named = False
    messages = []
    for at, (token, number, file) in enumerate(stream):
        if token in OPENS:
            scopes.append({})
        if token in CLOSES:
            scopes.pop()
        if token in KINDS and not (kind and token in QUALIFIERS and not named):
            kind, depth, named = token, 0, False
            continue
        if kind and token in QUALIFIERS:
            continue
        if token in "([{" and len(token) == 1:
            depth += 1
        if token in ")]}" and len(token) == 1:
            depth -= 1
            if depth < 0:
                kind = None
        if token == ";":
            kind = None
        if kind and token == "," and depth == 0:
            named = False
        if not re.match(r"[A-Za-z_]", token) or token in KINDS or token in OPENS or token in CLOSES:
            continue
        if kind and depth == 0 and not named:
            named = True
            scopes[-1].setdefault(token, number)
            # A port may be declared again as a net; its first declaration counts.
            messages += ["%s:%d: %s is used above its declaration in line %d" % (use[2], use[1], token, number)
                         for use in open_uses if use[0] == token and any(scope is scopes[-1] for scope in use[3])]
            open_uses = [use for use in open_uses if not (use[0] == token and any(s is scopes[-1] for s in use[3]))]
            continue
        if not any(token in scope for scope in scopes):
            open_uses.append((token, number, file, list(scopes)))
    return messages


def nettype(path):
    with open(path, encoding="utf-8") as file:
        lines = file.read().rstrip("\n").split("\n")
    none = [n for n, line in enumerate(lines) if line == "`default_nettype none"]
    module = [n for n, line in enumerate(lines) if line.startswith("module ")]
    messages = []
    if len(none) != 1 or not module or none[0] > module[0]:
        messages.append("%s: `default_nettype none does not stand once, above the module" % path)
    if lines[-1] != "`default_nettype wire":
        messages.append("%s: does not end with `default_nettype wire" % path)
    return messages


def main():
    if len(sys.argv) < 3 or sys.argv[1] not in ("order", "nettype"):
        sys.exit(__doc__)
    check = {"order": order, "nettype": nettype}[sys.argv[1]]
    messages = [message for path in sys.argv[2:] for message in check(path)]
    print("\n".join(messages), end="\n" if messages else "")
    sys.exit(1 if messages else 0)


if __name__ == "__main__":
    main()
