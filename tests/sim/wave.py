#!/usr/bin/env python3
"""A run that writes a waveform: the file exists and covers the run, and stdout contains only JSON.

    wave.py RINGFOLD_SIM
"""
import json
import os
import struct
import subprocess
import sys
import tempfile

PS_PER_CYCLE = 4000
RESET_CYCLES = 16


def main():
    with tempfile.TemporaryDirectory(prefix="ringfold-wave-") as folder:
        wave = os.path.join(folder, "box.fst")
        command = [sys.argv[1], "--engine", "rtl", "--ranks", "2", "--ports", "2", "--width", "64", "--size", "1K",
                   "--wave", wave, "--json"]
        run = subprocess.run(command, capture_output=True, text=True, timeout=300)
        if run.returncode != 0:
            sys.exit(f"exit code {run.returncode}: {run.stderr}")
        if "Warning" in run.stdout + run.stderr:
            sys.exit(f"warnings: {(run.stdout + run.stderr)[:500]}")
        try:
            result = json.loads(run.stdout)
        except ValueError as e:
            sys.exit(f"stdout is not JSON: {e}: {run.stdout[:500]}")
        with open(wave, "rb") as f:
            head = f.read(25)
    # The header block of FST: type 0, length, first time, last time, all big-endian; times in ps.
    kind, _, first, last = struct.unpack(">BQQQ", head)
    if kind != 0 or last <= first:
        sys.exit(f"no waveform: block {kind}, from {first} to {last} ps")
    # cycles are counted up to the last result; the waveform also shows the release of the group
    least = (result["cycles"] + RESET_CYCLES) * PS_PER_CYCLE
    if first != 0 or last < least - PS_PER_CYCLE or last > 2 * least:
        sys.exit(f"the waveform goes from {first} to {last} ps, the run to {least} ps")
    print(f"{result['cycles']} cycles, waveform to {last} ps, JSON alone on stdout")


main()
