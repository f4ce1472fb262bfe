#!/usr/bin/env python3
"""Runs the commands of README.md and docs/*.md as a reader would copy them.

  docs.py BUILD [PAGE ...]      default: README.md and every page of docs/
  docs.py --test BUILD          pages that are wrong on purpose: each must be noticed

A block (indented by four, or between lines of three backquotes) is run by bash -eu, in a folder with links to everything in this tree; the blocks of a page share that folder, and /tmp is a part of it.
If the first line begins with "$ ", lines with "$ " are commands and the others their output: each must occur in it, numbers
may differ, "..." stands for anything. A comment in the page's source before a block says otherwise:

  <!-- not run: REASON -->      the block cannot run here, or is none of commands; without it a block must have a line that
                                begins with one of COMMAND
  <!-- before: COMMANDS -->     run first, unseen by the reader
  <!-- file: NAME -->           the block is the contents of this file
"""
import glob
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

COMMAND = re.compile(r"\s*(\$ |ringfoldd? |ringfold-|make\b|build/|cc |mpirun |srun |export |tshark |systemctl |dpdk-testpmd |qemu-|gtkwave |"
                     r"RF_\w+=|tests/\w+/|demo/run|tools/\w+/|kill |sudo |git |for r in )")
SECONDS = 240
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def blocks_of(text):
    """(line number, lines, comments before it) of each block."""
    lines, at, notes = text.split("\n"), 0, []
    while at < len(lines):
        line = lines[at]
        if line.startswith("```"):
            end = at + 1
            while end < len(lines) and not lines[end].startswith("```"):
                end += 1
            yield at + 2, lines[at + 1:end], notes
            at, notes = end + 1, []
        elif line.startswith("    ") and (at == 0 or not lines[at - 1].strip()):
            end = at
            while end < len(lines) and (lines[end].startswith("    ") or
                                        (not lines[end].strip() and end + 1 < len(lines) and lines[end + 1].startswith("    "))):
                end += 1
            yield at + 1, [row[4:] for row in lines[at:end]], notes
            at, notes = end, []
        else:
            if line.startswith("<!--"):
                notes.append(re.sub(r"^<!--\s*|\s*-->$", "", line))
            elif line.strip():
                notes = []
            at += 1


def loose(line):
    """A pattern for a line of output in which numbers may differ."""
    parts = [r"\d+(?:\.\d+)?" if re.fullmatch(r"\d+(?:\.\d+)?", p) else ".*" if p == "..." else re.escape(p) if p.strip() else r"\s+"
             for p in re.split(r"(\d+(?:\.\d+)?|\.\.\.|\s+)", line) if p]
    return re.compile("".join(parts) + r"\s*$")


class Page:
    def __init__(self, path, build, name):
        self.name = name
        self.text = open(path, encoding="utf-8").read()
        self.folder = tempfile.mkdtemp(prefix="ringfold-docs.")
        for entry in os.listdir(ROOT):
            if entry not in ("build", ".git"):
                os.symlink(os.path.join(ROOT, entry), os.path.join(self.folder, entry))
        os.symlink(os.path.abspath(build), os.path.join(self.folder, "build"))
        os.mkdir(os.path.join(self.folder, "tmp"))
        self.env = {k: v for k, v in os.environ.items() if not k.startswith(("RF_", "MAKE", "MFLAGS"))}
        self.env.update(PATH=os.path.join(self.folder, "build", "bin") + ":" + self.env["PATH"], TREE=ROOT, HERE=self.folder,
                        PKG_CONFIG_PATH=os.path.join(self.folder, "installed", "lib", "pkgconfig"), NO_COLOR="1")

    def close(self):
        shutil.rmtree(self.folder, ignore_errors=True)

    def bash(self, script):
        """(exit code, output) of a script; what it leaves running is ended."""
        script = script.replace("/tmp/", self.folder + "/tmp/")
        with open(os.path.join(self.folder, "tmp", ".out"), "w+", encoding="utf-8", errors="replace") as out:
            run = subprocess.Popen(["bash", "-eu", "-o", "pipefail", "-c", script], cwd=self.folder, env=self.env, stdin=subprocess.DEVNULL,
                                   stdout=out, stderr=subprocess.STDOUT, start_new_session=True)
            try:
                code = run.wait(SECONDS)
            except subprocess.TimeoutExpired:
                code = "none within %d s" % SECONDS
            try:
                os.killpg(run.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            run.wait()
            out.seek(0)
            return code, out.read()

    def run(self, lines, notes):
        """What is wrong with a block, or None."""
        for note in notes:
            if note.startswith("before: "):
                code, said = self.bash(note[len("before: "):])
                if code != 0:
                    return "what comes before it: exit code %s: %s" % (code, said[-400:])
        shown = [] if not lines[0].startswith("$ ") else [row for row in lines if not row.startswith("$ ")]
        script = lines if not lines[0].startswith("$ ") else [row[2:] for row in lines if row.startswith("$ ")]
        code, said = self.bash("\n".join(script))
        if code != 0:
            return "exit code %s: %s" % (code, said[-600:])
        for row in shown:
            if row.strip() and row.strip() != "..." and not any(loose(row).match(line) for line in said.split("\n")):
                return "not in the output: %s\n%s" % (row, said[-600:])
        return None


def check(paths, build, report):
    """(run, not run with reasons, faults)"""
    done, skipped, faults = 0, [], []
    for path in paths:
        page = Page(path, build, os.path.relpath(path, ROOT) if path.startswith(ROOT) else os.path.basename(path))
        try:
            for number, lines, notes in blocks_of(page.text):
                reasons = [n[len("not run:"):].strip() for n in notes if n.startswith("not run:")]
                where = "%s:%d" % (page.name, number)
                for name in [n[len("file: "):] for n in notes if n.startswith("file: ")]:
                    with open(os.path.join(page.folder, name), "w", encoding="utf-8") as file:
                        file.write("\n".join(lines) + "\n")
                if reasons:
                    if not reasons[0]:
                        faults.append("%s: not run, without a reason" % where)
                    skipped.append((where, reasons[0]))
                    continue
                if not any(COMMAND.match(row) for row in lines):
                    if not any(n.startswith("file: ") for n in notes):
                        faults.append("%s: no line begins with a known command: extend COMMAND of docs.py, or give the reason in "
                                      "<!-- not run: REASON -->\n    %s" % (where, "\n    ".join(lines)))
                    continue
                wrong = page.run(lines, notes)
                done += 1
                if wrong:
                    faults.append("%s: %s\n    %s" % (where, wrong, "\n    ".join(lines)))
                report("%s %s" % ("FAIL " if wrong else "ok   ", where))
        finally:
            page.close()
    return done, skipped, faults


WRONG = {
    "a command that fails": "    ringfold dance\n",
    "the first of two that fails": "    ringfold dance\n    ringfold --version\n",
    "output that differs": "    $ ringfold --version\n    ringfold of glass\n",
    "a marker without a reason": "<!-- not run: -->\n\n    make test\n",
    "a command that is not known": "    nft list ruleset\n",
    "a command that is not known, between backquotes": "```\ntc qdisc show\n```\n",
    "text without a reason": "<!-- before: true -->\n\n    some text\n",
    "a preparation that fails": "<!-- before: false -->\n\n    ringfold --version\n",
    "a failure between backquotes": "```\nringfold dance\n```\n",
}
RIGHT = "    $ ringfold --version\n    ringfold 77.1.0\n\n<!-- before: echo x > made -->\n\n    $ cat made | tee /tmp/copy\n    x\n\n" \
        "<!-- not run: it would take hours -->\n\n    make soak\n\n<!-- not run: text -->\n\n    any text\n\n```\nringfold --version\n```\n\n<!-- file: f -->\n\n    hello\n\nThen:\n\n    $ build/bin/ringfold --version; cat f\n    hello\n"


def test(build):
    folder = tempfile.mkdtemp(prefix="ringfold-docs-test.")
    faults = 0
    try:
        for name, text in list(WRONG.items()) + [("", RIGHT)]:
            path = os.path.join(folder, "page.md")
            with open(path, "w", encoding="utf-8") as file:
                file.write("# A page\n\n" + text)
            done, skipped, found = check([path], build, lambda line: None)
            if name and len(found) != 1:
                print("FAIL  not noticed: %s" % name)
                faults += 1
            if not name and (found or done != 4 or len(skipped) != 2):
                print("FAIL  a page that is right: %d run, %d not run, %s" % (done, len(skipped), found))
                faults += 1
    finally:
        shutil.rmtree(folder)
    print("docs: %d pages that are wrong on purpose, %d faults" % (len(WRONG), faults))
    return 1 if faults else 0


def main():
    if len(sys.argv) == 3 and sys.argv[1] == "--test":
        return test(sys.argv[2])
    if len(sys.argv) < 2:
        print(__doc__)
        return 2
    paths = sys.argv[2:] or [os.path.join(ROOT, "README.md")] + sorted(glob.glob(os.path.join(ROOT, "docs", "*.md")))
    done, skipped, faults = check(paths, sys.argv[1], print)
    for where, reason in skipped:
        print("not run  %s: %s" % (where, reason))
    for fault in faults:
        print("FAIL  " + fault)
    print("docs: %d blocks of commands run, %d not run, %d faults" % (done, len(skipped), len(faults)))
    return 1 if faults or (done < 10 and not sys.argv[2:]) else 0


sys.exit(main())
