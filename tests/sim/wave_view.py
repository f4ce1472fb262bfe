#!/usr/bin/env python3
"""What --wave leaves for GTKWave: the command, a view that opens on the first data packet, markers, names of values; full disks.

    wave_view.py RINGFOLD_SIM

The view is compared with the waveform itself (fst2vcd) and, where Xvfb is installed, asked for from GTKWave (Tcl).
"""
import json
import os
import re
import shlex
import shutil
import stat
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "check"))
from report import FAILED, check

PS_PER_CYCLE = 4000
FRAME = 200 * PS_PER_CYCLE  # more than a frame of 1082 bytes needs from its first beat to the judge
PORT = "rf_core.rf_core.g_port[%d].port."


def simulate(program, wave, *more, **settings):
    return subprocess.run([program, "--engine", "rtl", "--ranks", "2", "--ports", "2", "--width", "64", "--size", "4K", "--wave", wave,
                           "--json", *more], capture_output=True, text=True, timeout=300, env=dict(os.environ, **settings))


class View:
    """A save file: time at the left, markers, signals, and for some of them the names of values."""

    def __init__(self, path):
        text = open(path, encoding="utf-8").read()
        self.dump = re.search(r'^\[dumpfile\] "(.*)"$', text, re.M).group(1)
        self.left = int(re.search(r"^\[timestart\] (\d+)$", text, re.M).group(1))
        zoom, *times = re.search(r"^\*(.*)$", text, re.M).group(1).split()
        self.right = self.left + 2 ** -float(zoom) * 1340 / 200  # GTKWave's frame is 200 pixels wide
        self.primary, self.named = int(times[0]), [int(t) for t in times[1:]]
        self.labels = dict(re.findall(r"^\[markername\] (.)(.*)$", text, re.M))
        self.signals, self.names, file = [], {}, None
        for line in text.split("\n"):
            if line.startswith("^1 "):
                file = line[3:]
            elif line.startswith("rf_core."):
                self.signals.append(line)
                if file:
                    with open(file, encoding="utf-8") as rows:
                        self.names[line] = {int(v, 16): n for v, n in (r.rstrip("\n").split(" ", 1) for r in rows)}
                file = None


def read_wave(path, wanted):
    """{signal: [(time, value or None)]} of a waveform."""
    ids, changes, scope, now = {}, {}, [], 0
    with subprocess.Popen(["fst2vcd", path], stdout=subprocess.PIPE, text=True) as vcd:
        for line in vcd.stdout:
            if line.startswith("$scope"):
                scope.append(line.split()[2])
            elif line.startswith("$upscope"):
                scope.pop()
            elif line.startswith("$var"):
                _, _, _, key, name, *span = line.split()
                name = ".".join(scope + [name]) + (span[0] if span[0] != "$end" else "")
                if name in wanted:
                    ids.setdefault(key, []).append(name)
                    changes[name] = []
            elif line[0] == "#":
                now = int(line[1:])
            elif line[0] in "01xzb":
                value, key = line[1:].split() if line[0] == "b" else (line[0], line[1:].strip())
                for name in ids.get(key, ()):
                    changes[name].append((now, int(value, 2) if set(value) <= {"0", "1"} else None))
    return changes


def at(changes, time):
    """The value of a signal just before a time."""
    value = None
    for when, what in changes:
        if when >= time:
            break
        value = what
    return value


def rises(changes, value=1):
    return [t for t, v in changes if v == value and t > 0]


def first_data(wave, port):
    """When a port judges its first data packet."""
    return min((t for t in rises(wave[PORT % port + "d_valid"])
                if at(wave[PORT % port + "d_class[1:0]"], t + 1) == 2 and at(wave[PORT % port + "d_opcode[7:0]"], t + 1) < 12), default=1 << 62)


def faults(view, wave):
    """What is wrong with a view of a waveform of two ports."""
    found = ["%s is not in the waveform" % s for s in view.signals if s not in wave]
    if found:
        return found
    first = min(min(rises(wave[PORT % p + "s_axis_tvalid"]), default=1 << 62) for p in (0, 1))
    if view.named[0] != first:
        found.append("A: %d, the first frame comes at %d" % (view.named[0], first))
    judged = min(first_data(wave, p) for p in (0, 1))
    if not 0 < judged - view.named[1] < FRAME:
        found.append("B: %d, the first data packet is judged at %d" % (view.named[1], judged))
    out = [t for p in (0, 1) for t in rises(wave[PORT % p + "m_axis_tvalid"]) if t >= view.named[1]]
    if not any(abs(t - view.named[2]) <= 2 * PS_PER_CYCLE for t in out):
        found.append("C: %d, frames leave at %s" % (view.named[2], out[:5]))
    if view.primary != view.named[1] or not view.left <= view.named[1] < view.named[2] < view.right:
        found.append("not on the screen: %d to %d" % (view.left, view.right))
    for valid, value in (("d_valid", "d_class[1:0]"), ("d_valid", "d_opcode[7:0]"), ("x_count", "x_cause[7:0]")):
        for p in (0, 1):
            for t in rises(wave[PORT % p + valid]):
                n = at(wave[PORT % p + value], t + 1)
                roce = value != "d_opcode[7:0]" or at(wave[PORT % p + "d_class[1:0]"], t + 1) == 2
                if roce and n not in view.names.get(PORT % p + value, {}):
                    found.append("%s = %s has no name" % (value, n))
    for valid, value in (("wr_en", "wr_addr[23:0]"), ("rd_en", "rd_addr[23:0]")):
        for t in rises(wave["rf_core.rf_core." + valid]):
            n = at(wave["rf_core.rf_core." + value], t + 1)
            if n not in view.names.get("rf_core.rf_core." + value, {}):
                found.append("%s = %06x has no name" % (value, n))
    return sorted(set(found))


def test_view(program, folder):
    wave = os.path.join(folder, "a wave.fst")
    run = simulate(program, wave)
    check("the run ends well, JSON alone on stdout", run.returncode == 0 and json.loads(run.stdout)["wrong"] == 0, run.stderr)
    check("the command is printed", f"gtkwave '{wave}.gtkw'" in run.stderr, run.stderr)
    view = View(wave + ".gtkw")
    said = re.search("to see the waveform: (.*)", simulate(program, os.path.join(folder, "it's $(a) wave.fst"), PATH=folder).stderr)
    check("GTKWave is missing: said", said and "GTKWave is not installed" in said.group(1), said)
    words = shlex.split(said.group(1).split(" (")[0]) if said else []
    check("... and a name with any letter is one word of the shell", words[1:] == [os.path.join(folder, "it's $(a) wave.fst.gtkw")], words)
    check("the view names the waveform", view.dump == wave and os.path.exists(wave))
    check("markers have names", view.labels == {"A": "first frame in", "B": "first data in", "C": "first data out", "D": "last frame out"})
    check("nothing half-written", not any(".partial" in n for _, _, names in os.walk(folder) for n in names))
    if not shutil.which("fst2vcd"):
        return False
    changes = read_wave(wave, set(view.signals))
    found = faults(view, changes)
    check("markers, screen, signals and names agree with the waveform", not found, "\n".join(found))
    for what, spoil in (("a marker 1 us late", lambda v: v.named.__setitem__(1, v.named[1] + 1000000)),
                        ("the start of the run", lambda v: setattr(v, "left", 0) or setattr(v, "right", 4)),
                        ("no names", lambda v: v.names.clear()),
                        ("a signal that does not exist", lambda v: v.signals.append("rf_core.rf_core.glass"))):
        spoilt = View(wave + ".gtkw")
        spoil(spoilt)
        check("noticed: " + what, faults(spoilt, changes))
    return test_gtkwave(folder, wave, view, first_data(changes, 0))


def test_gtkwave(folder, wave, view, judged):
    """What GTKWave itself makes of the file."""
    if not shutil.which("Xvfb") or not shutil.which("xvfb-run") or not shutil.which("gtkwave"):
        return False
    script = os.path.join(folder, "ask.tcl")
    with open(script, "w", encoding="ascii") as f:
        f.write("puts \"said left [gtkwave::getWindowStartTime] right [gtkwave::getWindowEndTime] primary [gtkwave::getMarker] "
                "B [gtkwave::getNamedMarker B] traces [gtkwave::getTotalNumTraces]\"\n"
                "gtkwave::setMarker %d\n"
                "puts \"said opcode [gtkwave::getTraceValueAtMarkerFromName {%sd_opcode[7:0]}]\"\n"
                "gtkwave::/File/Quit\n" % (judged, PORT % 0))
    run = subprocess.run(["xvfb-run", "-a", "gtkwave", "--script", script, wave + ".gtkw"], capture_output=True, text=True, timeout=120,
                         cwd=folder)
    said = dict(zip(*[iter(re.sub(r"^said ", "", " ".join(re.findall(r"said (left.*)", run.stdout))).split())] * 2))
    check("GTKWave opens it on the first data packet", said and int(said["left"]) <= view.named[1] < int(said["right"]) and
          int(said["primary"]) == int(said["B"]) == view.named[1], run.stdout + run.stderr)
    check("... with all signals", said and int(said["traces"]) >= len(view.signals), said)
    check("... and shows an opcode by its name", re.search(r"said opcode (SEND|WRITE) ", run.stdout), run.stdout[-300:])
    return True


def test_faults(program, folder):
    run = simulate(program, "/dev/full")
    check("--wave /dev/full is refused", run.returncode in (1, 2) and "/dev/full: not a regular file" in run.stderr, run.stderr)
    check("... and stays a device", stat.S_ISCHR(os.stat("/dev/full").st_mode))
    run = simulate(program, os.path.join(folder, "none", "x.fst"))
    check("a folder that does not exist", run.returncode in (1, 2) and "No such file" in run.stderr, run.stderr)
    wave = os.path.join(folder, "full.fst")
    run = subprocess.run(["bash", "-c", "ulimit -f 60; trap '' XFSZ; exec \"$@\"", "bash", program, "--engine", "rtl", "--ranks", "2", "--ports",
                          "2", "--width", "64", "--size", "64K", "--wave", wave], capture_output=True, text=True, timeout=300)
    check("a disk that fills: exit code 1, file and reason", run.returncode == 1 and f"the waveform {wave} is not complete" in run.stderr,
          "%d %s" % (run.returncode, run.stderr))
    check("... no half-written file keeps its name", not [n for n in os.listdir(folder) if n.startswith("full.fst") and not n.endswith(".partial")], os.listdir(folder))


def main():
    folder = tempfile.mkdtemp(prefix="ringfold-view-")
    try:
        whole = test_view(sys.argv[1], folder)
        test_faults(sys.argv[1], folder)
    finally:
        shutil.rmtree(folder)
    if not FAILED and not whole:
        print("skipped in part: needs gtkwave (fst2vcd) and xvfb")
        return 77
    return 1 if FAILED else 0


sys.exit(main())
