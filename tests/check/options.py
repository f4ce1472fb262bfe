#!/usr/bin/env python3
"""The options of all tools: every tool has --help, --version and --help=words; a letter means one option everywhere.

  options.py FOLDER-OF-PROGRAMS      FOLDER holds ringfold and the programs named ringfold-*
  options.py --at FILE ...           --help=words texts in files instead, each named after its tool (for the test)
"""
import os
import subprocess
import sys

# Programs that are not for users: they take no options by letter.
OWN = {"ringfold-compare"}
# Its letters are those of the OSU Micro-Benchmarks, whose users it is for.
THEIRS = {"ringfold-osu"}


def run(words):
    done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60)
    return done.returncode, done.stdout, done.stderr


def commands_of(folder):
    """(name, command line) of every tool and of the commands of ringfold plan."""
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name)
        if not os.access(path, os.X_OK) or not (name.startswith("ringfold")):
            continue
        yield name, [path]
        if name == "ringfold-plan":
            text = run([path, "--help"])[1].split("commands (", 1)[1].split("\n\n")[0]
            for line in text.split("\n")[1:]:
                yield "%s %s" % (name, line.split()[0]), [path, line.split()[0]]


def letters_of(text):
    """[(letter, long name)]: an option's letter follows its name in --help=words."""
    name, found = None, []
    for line in text.splitlines():
        word = line.split("\t")[0]
        if word.startswith("--"):
            name = word[2:]
        elif word.startswith("-"):
            found.append((word[1:], name))
    return found


def faults_of(texts):
    meaning = {}
    for tool, text in texts:
        for letter, name in letters_of(text) if tool not in THEIRS else []:
            first = meaning.setdefault(letter, (name, tool))
            if first[0] != name:
                yield "-%s is --%s in %s and --%s in %s" % (letter, first[0], first[1], name, tool)


def main():
    if len(sys.argv) > 2 and sys.argv[1] == "--at":
        texts = [(os.path.basename(p), open(p, encoding="utf-8").read()) for p in sys.argv[2:]]
        faults = list(faults_of(texts))
    else:
        texts, faults = [], []
        for tool, line in commands_of(sys.argv[1]):
            for ask, want in (("--help", "usage: "), ("--version", "ringfold ")):
                code, out, err = run(line + [ask])
                if code != 0 or not out.startswith(want) or err:
                    faults.append("%s %s: exit code %d, %r" % (tool, ask, code, (out + err)[:80]))
            if tool in OWN:
                continue
            code, out, _ = run(line + ["--help=words"])
            if code != 0 or "--version\t" not in out:
                faults.append("%s --help=words: exit code %d, %r" % (tool, code, out[:80]))
            texts.append((tool, out))
            code, _, err = run(line + ["--help=glass"])
            if code != 2:
                faults.append("%s --help=glass: exit code %d, %r" % (tool, code, err[:80]))
        if len(texts) < 8:
            faults.append("only %d tools in %s" % (len(texts), sys.argv[1]))
        faults += faults_of(texts)
    for fault in faults:
        print(fault)
    letters = {letter for _, text in texts for letter, _ in letters_of(text)}
    print("options: %d tools, %d letters, %d faults" % (len(texts), len(letters), len(faults)))
    return 1 if faults else 0


sys.exit(main())
