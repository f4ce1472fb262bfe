#!/usr/bin/env python3
"""A failing seed prints a command; that command fails again in the same way and leaves frames and a waveform.

    replay_files.py RINGFOLD_REPLAY FRAMES_PY
"""
import os
import re
import shlex
import struct
import subprocess
import sys
import tempfile

# Runs that reset the box; no damaged frames.
SEEDS = ("182", "195")
CYCLE_PS = 4000


def run(command):
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


def check_wave(path, least):
    with open(path, "rb") as f:
        head = f.read(25)
    kind, _, first, last = struct.unpack(">BQQQ", head)
    if kind != 0 or first != 0 or last < least:
        sys.exit(f"{path}: no waveform: block {kind}, from {first} to {last} ps")
    return last


def main():
    replay, frames = sys.argv[1], sys.argv[2]
    lives = 0
    for seed in SEEDS:
        first = run([replay, "--engine", "rtl", "--ports", "2", "--lanes", "1", "--mutate", "frame", seed])
        if first.returncode == 77:
            print(first.stderr)
            sys.exit(77)
        again = re.search(r"^    again: ringfold replay (.*)$", first.stdout, re.M)
        if first.returncode != 1 or not again:
            sys.exit(f"seed {seed}: exit code {first.returncode}, no command: {first.stdout}{first.stderr}")
        with tempfile.TemporaryDirectory(prefix="ringfold-replay-") as folder:
            wave = os.path.join(folder, "box.fst")
            words = shlex.split(again.group(1).replace("DIR", folder).replace("FILE", wave))
            second = run([replay] + words)
            if second.returncode != 1 or second.stdout != first.stdout:
                sys.exit(f"seed {seed}: not the same again: {second.stdout}{second.stderr}\nfirst: {first.stdout}")
            last = check_wave(wave, 1000 * CYCLE_PS)
            if os.path.exists(wave + ".2"):
                lives += 1
                check_wave(wave + ".2", 1000 * CYCLE_PS)
            for name in ("hosts.pcapng", "box.pcapng"):
                path = os.path.join(folder, name)
                judged = run([sys.executable, "-B", frames, "--quiet", "--faults", "--box-ip",
                              "10.0.255.254", "--box-mac", "02:52:46:00:00:10", path])
                if judged.returncode != 0 or os.path.getsize(path) < 1000:
                    sys.exit(f"seed {seed}, {name}: {judged.stdout}{judged.stderr}")
            print(f"seed {seed}: the same again, waveform to {last} ps, captures good")
    if lives == 0:
        sys.exit("no run has reset the box")


main()
