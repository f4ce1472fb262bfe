"""What captures of `ringfold box --pcapng` tell about traffic that belongs to no group."""
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "check"))
import frames

BOX_MAC = bytes.fromhex("0252460000")


def roce(f):
    d = f.data
    return d[12:14] == b"\x08\x00" and d[23] == 17 and d[36:38] == b"\x12\xb7"


def unchanged(path, spoil=False):
    """(whether every RoCE packet of a guest arrives as it was sent but for the source MAC, what does not)."""
    sent, came = {}, {}
    macs = {}
    everything = list(frames.read(path))
    if spoil:  # a byte of the last packet that has arrived
        [f for f in everything if roce(f) and f.direction != frames.OUT][-1].data[-5] ^= 1
    for f in everything:
        if f.direction == frames.OUT:
            macs[bytes(f.data[6:12])] = f.interface
    for f in everything:
        if not roce(f):
            continue
        if f.direction == frames.OUT:
            to = macs.get(bytes(f.data[0:6]))
            sent.setdefault((f.interface, to), []).append(bytes(f.data[:6] + f.data[12:]))
        else:
            if f.data[6:11] != BOX_MAC:
                return False, f"frame {f.number} has not passed the box"
            src = bytes(f.data[26:30])
            came.setdefault((src, f.interface), []).append(bytes(f.data[:6] + f.data[12:]))
    total = 0
    for (a, b), packets in sent.items():
        src = packets[0][20:24]
        got = came.get((src, b), [])
        total += len(packets)
        for n, (x, y) in enumerate(zip(packets, got)):
            if x != y:
                return False, f"packet {n} from port {a} to port {b} differs"
        if len(packets) != len(got):
            return False, f"{len(packets)} packets from port {a} to port {b}, {len(got)} arrived"
    return total > 0, f"{total} packets compared"


# tshark guesses what the payload of a queue pair is; numbers of a vector can look like any of these.
GUESSES = ("eth_over_ib", "smb_direct_infiniband", "rpcrdma_infiniband", "lnet_ib", "iser_infiniband")


def malformed(path):
    """Lines of tshark about what it finds malformed; None where there is no tshark."""
    if not shutil.which("tshark"):
        return None
    command = ["tshark", "-r", path, "-Y", "_ws.malformed", "-T", "fields", "-e", "frame.number", "-e", "frame.protocols"]
    for name in GUESSES:
        command += ["--disable-heuristic", name]
    out = subprocess.run(command, capture_output=True, text=True)
    return out.stdout.splitlines() if out.returncode == 0 else [out.stderr]
