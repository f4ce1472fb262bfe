#!/usr/bin/env python3
"""The frame checker itself: a capture from Linux endpoints is right, each way of damaging it is found."""
import contextlib
import io
import os
import struct
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import frames  # noqa: E402  (found beside this file)

SAMPLE = os.path.join(HERE, "..", "data", "rxe-sample.pcap")
BOX_MAC = "02:f0:f0:00:00:10"


def run(*args):
    """Exit code and what was printed."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = frames.main(["frames.py"] + list(args))
    return code, out.getvalue() + err.getvalue()


def block(kind, body, order="<"):
    body += b"\0" * (-len(body) % 4)
    return struct.pack(order + "II", kind, len(body) + 12) + body + struct.pack(order + "I", len(body) + 12)


def option(code, value, order="<"):
    return struct.pack(order + "HH", code, len(value)) + value + b"\0" * (-len(value) % 4)


def pcapng(path, names, packets, order="<"):
    """packets: (interface, direction, bytes)."""
    with open(path, "wb") as out:
        out.write(block(0x0a0d0d0a, struct.pack(order + "IHHq", 0x1a2b3c4d, 1, 0, -1), order))
        for name in names:
            out.write(block(1, struct.pack(order + "HHI", 1, 0, 0) + option(2, name.encode(), order) +
                            option(0, b"", order), order))
        for interface, direction, data in packets:
            body = struct.pack(order + "IIIII", interface, 0, 0, len(data), len(data)) + data + b"\0" * (-len(data) % 4)
            body += option(2, struct.pack(order + "I", direction), order) + option(0, b"", order)
            out.write(block(6, body, order))


def packet(psn, source, opcode=1, size=256):
    """A SEND of a reliable connection, made by hand."""
    ip = bytearray(struct.pack(">BBHHHBBH4s4s", 0x45, 0, 44 + size, psn & 0xffff, 0x4000, 64, 17, 0,
                               bytes((10, 0, 0, 1)), bytes((10, 0, 0, 2))))
    struct.pack_into(">H", ip, 10, 0xffff ^ frames.inet_sum(ip))
    ip += struct.pack(">HHHH", 0xc000, 4791, 24 + size, 0)
    ip += struct.pack(">BBHII", opcode, 0x40, 0xffff, 17, psn) + bytes(size)
    mac = int(source.replace(":", ""), 16).to_bytes(6, "big")
    return bytes.fromhex("020000000002") + mac + b"\x08\x00" + bytes(ip) + frames.icrc(ip)


def box_capture(path, order="<"):
    """Ten packets into port 1 of a box, and out of it."""
    packets = []
    for psn in range(100, 110):
        packets.append((1, frames.IN, packet(psn, "02:00:00:00:00:01")))
        packets.append((1, frames.OUT, packet(psn - 50, "02:f0:f0:00:00:11")))
    pcapng(path, ["box0", "box1"], packets, order)


class Sample(unittest.TestCase):
    def test_right(self):
        code, text = run(SAMPLE)
        self.assertEqual(code, 0, text)
        self.assertIn("123 frames", text)
        self.assertIn("123 RoCE", text)

    def test_every_mutant_is_found(self):
        code, text = run("--mutate", "list")
        self.assertEqual(code, 0)
        kinds = text.split()
        self.assertEqual(len(kinds), len(frames.MUTANTS))
        for kind in kinds:
            if kind == "mac":
                continue
            code, text = run("--mutate", kind, SAMPLE)
            self.assertEqual(code, 1, "mutant %s was not found: %s" % (kind, text))
            self.assertRegex(text, r"frame \d+: ", kind)

    def test_every_bit_counts(self):
        """Any bit of a covered header or of the payload, one at a time."""
        good = frames.read(SAMPLE)
        whole = [f for f in good if frames.is_data(f)][0]
        spared = {15, 22, 40, 41, 46}  # TOS and TTL spoil the IP checksum, the rest is not covered
        for at in range(14, len(whole.data)):
            if at in spared:
                continue
            checker = frames.Checker()
            victim = frames.Frame(1, 0, "", 0, whole.data, False)
            victim.data[at] ^= 1 << (at % 8)
            checker.check(victim)
            other = checker.counts.get("other UDP", 0) + checker.counts.get("not UDP", 0)
            self.assertTrue(checker.found or other, "byte %d" % at)


class Box(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = os.path.join(self.folder.name, "box.pcapng")

    def tearDown(self):
        self.folder.cleanup()

    def test_right(self):
        for order in "<>":
            box_capture(self.path, order)
            code, text = run("--box-mac", BOX_MAC, self.path)
            self.assertEqual(code, 0, text)
            self.assertIn("18 first sendings", text)

    def test_source_mac(self):
        box_capture(self.path)
        code, text = run("--box-mac", BOX_MAC, "--mutate", "mac", self.path)
        self.assertEqual(code, 1)
        self.assertIn("frame 20: source MAC", text)
        pcapng(self.path, ["box0"], [(0, frames.IN, packet(1, "02:f0:f0:00:00:12"))])
        self.assertEqual(run("--box-mac", BOX_MAC, self.path)[0], 1)
        self.assertEqual(run("--box-mac", BOX_MAC, "--floods", self.path)[0], 0)
        pcapng(self.path, ["box2"], [(0, frames.IN, packet(1, "02:f0:f0:00:00:12"))])
        self.assertEqual(run("--box-mac", BOX_MAC, "--floods", self.path)[0], 1)
        pcapng(self.path, ["host0"], [(0, frames.OUT, packet(1, "02:f0:f0:00:00:12"))])
        self.assertEqual(run("--box-mac", BOX_MAC, self.path)[0], 1)

    def test_gap(self):
        out = [(0, frames.OUT, packet(p, BOX_MAC)) for p in (5, 6, 8)]
        pcapng(self.path, ["box0"], out)
        code, text = run(self.path)
        self.assertEqual(code, 1)
        self.assertIn("frame 3: PSN 8 follows 6: 1 are missing", text)
        self.assertEqual(run("--unordered", self.path)[0], 0)
        self.assertEqual(run("--unordered", "--mutate", "icrc", self.path)[0], 1)
        # A repeat is none, nor is the end of the numbers; a swap is one.
        pcapng(self.path, ["box0"], [(0, frames.OUT, packet(p, BOX_MAC)) for p in (0xfffffe, 0xffffff, 0xfffffe, 0, 1)])
        self.assertEqual(run(self.path)[0], 0)
        pcapng(self.path, ["box0"], [(0, frames.OUT, packet(p, BOX_MAC)) for p in (5, 7, 6, 8)])
        self.assertEqual(run(self.path)[0], 1)

    def test_faults_on_the_way(self):
        """With --faults what comes in may be damaged; what leaves may not."""
        broken = bytearray(packet(7, "02:00:00:00:00:01"))
        broken[70] ^= 1
        pcapng(self.path, ["box0"], [(0, frames.IN, bytes(broken))])
        self.assertEqual(run(self.path)[0], 1)
        self.assertEqual(run("--faults", self.path)[0], 0)
        pcapng(self.path, ["box0"], [(0, frames.OUT, bytes(broken))])
        self.assertEqual(run("--faults", self.path)[0], 1)

    def test_passed_on(self):
        """With --faults a box may hand on what came damaged, if it changes nothing but the source MAC."""
        broken = bytearray(packet(7, "02:00:00:00:00:01"))
        broken[70] ^= 1
        out = broken[:6] + bytes.fromhex("02f0f0000010") + broken[12:]
        options = ("--faults", "--box-mac", BOX_MAC, self.path)
        pcapng(self.path, ["box0"], [(0, frames.IN, bytes(broken)), (0, frames.OUT, bytes(out))])
        self.assertEqual(run(*options)[0], 0)
        self.assertEqual(run(*options[1:])[0], 1)
        pcapng(self.path, ["box0"], [(0, frames.IN, bytes(broken)), (0, frames.OUT, bytes(broken))])
        self.assertEqual(run(*options)[0], 1)
        out[71] ^= 1
        pcapng(self.path, ["box0"], [(0, frames.IN, bytes(broken)), (0, frames.OUT, bytes(out))])
        self.assertEqual(run(*options)[0], 1)
        pcapng(self.path, ["host0"], [(0, frames.IN, bytes(broken)), (0, frames.OUT, bytes(out))])
        self.assertEqual(run(*options)[0], 1)

    def test_ends(self):
        """Of a long capture both ends count, and nothing is missing where they meet."""
        out = [packet(p, BOX_MAC) for p in range(100)]
        for victim, code in ((3, 1), (97, 1), (50, 0), (None, 0)):
            some = [bytearray(p) for p in out]
            if victim is not None:
                some[victim][70] ^= 1
            pcapng(self.path, ["box0"], [(0, frames.OUT, bytes(p)) for p in some])
            self.assertEqual(run("--ends", "20", self.path)[0], code, victim)
            self.assertEqual(run("--ends", "100", self.path)[0], 0 if victim is None else 1, victim)

    def test_ends_among_repeats(self):
        psns = list(range(100)) + list(range(50, 70)) + list(range(100, 200))
        for psn, code in ((None, 0), (150, 1)):
            out = [(0, frames.OUT, packet(p, BOX_MAC)) for p in psns if p != psn]
            pcapng(self.path, ["box0"], out)
            self.assertEqual(run("--ends", "220", self.path)[0], code)
            self.assertEqual(run("--ends", "200", self.path)[0], code)
            pcapng(self.path, ["box0"], [out[0]] * 200 + out[105:])
            self.assertEqual(run("--ends", "230", self.path)[0], code)

    def test_lengths(self):
        short = packet(7, BOX_MAC)[:59]
        pcapng(self.path, ["box0"], [(0, frames.OUT, short)])
        self.assertEqual(run(self.path)[0], 1)
        pcapng(self.path, ["box0"], [(0, frames.OUT, packet(7, BOX_MAC, 1, 300))])
        self.assertEqual(run(self.path)[0], 1)

    def test_stops(self):
        pcapng(self.path, ["box0"], [(0, frames.OUT, packet(p, BOX_MAC)) for p in range(0, 100, 2)])
        code, text = run("--max", "3", self.path)
        self.assertEqual(code, 1)
        self.assertEqual(text.count("missing"), 3)

    def test_bad_files(self):
        with open(self.path, "wb") as out:
            out.write(b"no capture at all")
        self.assertEqual(run(self.path)[0], 2)
        box_capture(self.path)
        with open(self.path, "r+b") as out:
            out.truncate(500)
        self.assertEqual(run(self.path)[0], 2)
        self.assertEqual(run("--torn", self.path)[0], 0)
        self.assertEqual(run("--torn", "--mutate", "icrc", self.path)[0], 1)
        self.assertEqual(run(self.path + ".not-there")[0], 2)
        self.assertEqual(run()[0], 2)
        self.assertEqual(run("--box-mac", "1:2", self.path)[0], 2)
        self.assertEqual(run("--mutate", "nothing", self.path)[0], 2)


if __name__ == "__main__":
    unittest.main()
