#!/usr/bin/env python3
"""Tests of the frame checker: a capture from Linux endpoints is accepted, each way of damaging it is detected."""
import contextlib
import io
import os
import struct
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import frames  # in the directory of this file

SAMPLE = os.path.join(HERE, "..", "data", "rxe-sample.pcap")
BOX_MAC = "02:f0:f0:00:00:10"


def run(*args):
    """Exit code and output."""
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
    """packets: (interface, direction, bytes), optionally with the time in us."""
    with open(path, "wb") as out:
        out.write(block(0x0a0d0d0a, struct.pack(order + "IHHq", 0x1a2b3c4d, 1, 0, -1), order))
        for name in names:
            out.write(block(1, struct.pack(order + "HHI", 1, 0, 0) + option(2, name.encode(), order) +
                            option(0, b"", order), order))
        for interface, direction, data, *when in packets:
            body = struct.pack(order + "IIIII", interface, 0, when[0] if when else 0, len(data), len(data))
            body += data + b"\0" * (-len(data) % 4)
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


BOX_IP = bytes((10, 0, 0, 254))


def control(verb, body=b"", reply=False, epoch=1, token=1, job=7, rank=0, host=1, version=3, box=BOX_IP):
    """A control packet between a host and the box, made by hand."""
    m = b"RFCT" + struct.pack(">BBHHH", version, verb, 0x8000 if reply else 0, 56 + len(body), 3)
    m += struct.pack(">QHHIIQQQ", job, rank, 0, epoch, 1, token, 0, 0) + body
    ends = [bytes((10, 0, 0, host)), box]
    ip = bytearray(struct.pack(">BBHHHBBH4s4s", 0x45, 0, 28 + len(m), 0, 0x4000, 64, 17, 0,
                               *(reversed(ends) if reply else ends)))
    struct.pack_into(">H", ip, 10, 0xffff ^ frames.inet_sum(ip))
    mac = bytes.fromhex("02f0f0000010" if reply else "020000000001")
    ip += struct.pack(">HHHH", 4791, 4791, 8 + len(m), 0)
    return bytes.fromhex("020000000002") + mac + b"\x08\x00" + bytes(ip) + m


def at_box(data):
    """As seen at box0."""
    return 0, frames.OUT if data[6:8] == b"\x02\xf0" else frames.IN, data


def join(**more):
    """For the connection of packet(), shifted by 0x400000."""
    body = bytearray(44)
    body[20:28] = bytes((10, 0, 0, 2)) + struct.pack(">I", 17)
    struct.pack_into(">I", body, 32, 0x400000)
    return control(1, bytes(body), **more)


PORT_IP = bytes((10, 0, 0, 240))


def directed(index, imm, size=256, back=False, mirror=True, **more):
    """A SEND ONLY WITH IMMEDIATE of a directed group: of a mirror rank, or of packet()'s ring; back: as the box returns it."""
    psn, source = 100 + index, BOX_MAC if back else "02:00:00:00:00:01"
    data = bytearray(packet(psn, source, 5, size + 4, **more))
    data[54:58] = struct.pack(">I", imm | index & 15)
    if mirror:
        data[30:34] = PORT_IP
        if back:
            data[26:34] = data[30:34] + data[26:30]
        data[24:26] = b"\0\0"
        data[24:26] = struct.pack(">H", 0xffff ^ frames.inet_sum(data[14:34]))
    return bytes(data[:-4]) + frames.icrc(data[14:-4])


def join_directed(mirror=True):
    """JOIN of version 3 of the rank of directed(), and WAITING, which names the port's address."""
    body = bytearray(44)
    body[9] = 0xc0 if mirror else 0x80
    body[12:20] = bytes((10, 0, 0, 1)) + struct.pack(">I", 17)
    body[20:28] = bytes(8) if mirror else bytes((10, 0, 0, 2)) + struct.pack(">I", 17)
    struct.pack_into(">I", body, 28, 100)
    waiting = b"\1" + bytes(27) + (PORT_IP if mirror else bytes(4))
    return [at_box(control(1, bytes(body), version=3)), at_box(control(1, waiting, reply=True, version=3))]


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
            if kind in ("mac", "immediate"):
                continue  # below
            code, text = run("--mutate", kind, SAMPLE)
            self.assertEqual(code, 1, "mutant %s was not found: %s" % (kind, text))
            self.assertRegex(text, r"frame \d+: ", kind)

    def test_every_bit_counts(self):
        """Any bit of a covered header or of the payload, one at a time."""
        good = frames.read(SAMPLE)
        whole = [f for f in good if frames.is_data(f)][0]
        spared = {15, 22, 40, 41, 46}  # TOS and TTL break the IP checksum, the rest is not covered
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
        pcapng(self.path, ["host0"], [(0, frames.OUT, packet(1, "02:f0:f0:00:00:12"))])
        self.assertEqual(run("--box-mac", BOX_MAC, self.path)[0], 1)

    def judge(self, packets, *args, names=("box0", "box1", "box2"), ip="10.0.0.254"):
        pcapng(self.path, names, packets)
        return run("--box-mac", BOX_MAC, "--box-ip", ip, *args, self.path)[0]

    def test_floods(self):
        """Only frames of the box to a MAC that the switch does not know come in at its other ports."""
        sent, changed = packet(1, "02:f0:f0:00:00:12"), packet(2, "02:f0:f0:00:00:12")
        heard = b"\2\0\0\0\0\1" + sent[:6] + sent[12:]
        out, back = (2, frames.OUT, sent), [(k, frames.IN, sent) for k in (0, 1)]
        self.assertEqual(self.judge([out] + back, "--floods"), 0)
        self.assertEqual(self.judge([out] + back), 1)
        self.assertEqual(self.judge(back + [out], "--floods"), 1)
        self.assertEqual(self.judge([out, (0, frames.IN, changed)], "--floods"), 1)
        self.assertEqual(self.judge([out, (2, frames.IN, sent)], "--floods"), 1)
        self.assertEqual(self.judge([(0, frames.IN, heard), out] + back, "--floods"), 1)
        self.assertEqual(self.judge([out, (0, frames.IN, heard)] + back, "--floods"), 0)
        for second, code in ((290, 1), (300, 0)):
            late = [f + (second * 10**6,) for f in [out] + back]
            self.assertEqual(self.judge([(0, frames.IN, heard)] + late, "--floods"), code)
        some = [(0, frames.OUT, packet(p, BOX_MAC)) for p in range(100)]
        self.assertEqual(self.judge(some[:60] + back + some[60:], "--floods", "--ends", "90"), 0)  # sent in the gap
        self.assertEqual(self.judge(some + back, "--floods", "--ends", "90"), 1)
        broadcast = b"\xff" * 6 + sent[6:]
        self.assertEqual(self.judge([(0, frames.IN, heard), (2, frames.OUT, broadcast), (0, frames.IN, broadcast)],
                                    "--floods"), 0)

    def test_end_of_a_group(self):
        """After the end of a group, and only then, the PSNs of its connections jump once, by the shift."""
        def stream(*parts):
            """Numbers stand for packets of the group; other items are used unchanged."""
            made = [packet(p, BOX_MAC) if isinstance(p, int) else p for p in parts]
            return [at_box(p) + (2 * 10**6 * n,) for n, p in enumerate(made)]

        ready = control(1, b"\2" + bytes(27), reply=True)
        failed = control(1, b"\3" + bytes(27), reply=True)
        begin = (join(), ready, 0x400005, 0x400006)
        abort, other = control(4, bytes(16)), control(4, bytes(16), job=8)
        self.assertEqual(self.judge(stream(*begin, 0x400007)), 0)
        self.assertEqual(self.judge(stream(*begin, 7)), 1)
        self.assertEqual(self.judge(stream(*begin, other, 7)), 1)
        self.assertEqual(self.judge(stream(*begin, 7, abort)), 1)
        self.assertEqual(self.judge(stream(*begin, abort, 7, 8)), 0)
        self.assertEqual(self.judge(stream(*begin, abort, 7), ip="10.0.0.253"), 1)
        self.assertEqual(self.judge(stream(*begin, abort, 0x200000)), 1)  # not by the shift
        self.assertEqual(self.judge(stream(*begin, abort, 0x400009)), 1)
        self.assertEqual(self.judge(stream(*begin, abort, 7, 0x400007)), 1)  # a second time
        self.assertEqual(self.judge(stream(*begin, abort, 7, failed, 0x400007)), 1)
        self.assertEqual(self.judge(stream(*begin[:2], abort, 5, 0x400006)), 1)  # begun after it
        self.assertEqual(self.judge(stream(*begin[1:], abort, 7)), 1)  # no JOIN with this connection
        self.assertEqual(self.judge(stream(*begin, failed, 7)), 0)
        self.assertEqual(self.judge(stream(*begin, control(2, b"\5" + bytes(27), reply=True), 7)), 0)
        for verb, answer in ((1, b"\3\x27"), (1, b"\4\0"), (3, b"\3\x19"), (3, b"\7\1")):
            # NONCE, DRAINING, no such member, a page
            self.assertEqual(self.judge(stream(*begin, control(verb, answer + bytes(26), reply=True), 7)), 1)
        self.assertEqual(self.judge(stream(*begin, control(4, bytes(16), token=2), 7)), 1)  # not of this membership
        refused = control(1, b"\3" + bytes(27), reply=True, token=2)  # another process' JOIN
        self.assertEqual(self.judge(stream(*begin, refused, 7)), 1)
        reset = control(3, b"\3" + bytes(27), reply=True, epoch=2, job=0)
        self.assertEqual(self.judge(stream(*begin, reset, 7)), 0)
        self.assertEqual(self.judge(stream(*begin, 7, reset)), 0)  # the end shows in the next reply of the box
        for group, code in ((3, 0), (4, 1)):
            operator = control(4, struct.pack(">IHHQ", 0, group, 0, 7), job=0, rank=0xffff)
            self.assertEqual(self.judge(stream(*begin, operator, 7)), code)
        # The box ends a group before it reports it, but not long before.
        for us, code in ((10**5, 0), (2 * 10**6, 1)):
            some = stream(*begin, 7) + [(0, frames.OUT, failed, 8 * 10**6 + us)]
            self.assertEqual(self.judge(some), code)

    def test_end_in_the_part_left_out(self):
        out = [at_box(packet(p, BOX_MAC)) for p in range(0x400000, 0x400064)]
        begin = [at_box(join()), at_box(control(1, b"\2" + bytes(27), reply=True))]
        end = [at_box(control(4, bytes(16)))]
        behind = [at_box(packet(p, BOX_MAC)) for p in range(0x64, 0x70)]
        for some, code in ((out[:50] + begin + out[50:] + end, 0), (out[:50] + begin + out[50:], 1)):
            timed = [f + (n,) for n, f in enumerate(some + behind)]
            self.assertEqual(self.judge(timed, "--ends", "60"), code)

    def test_losses(self):
        """Frames lost on hosts' links may be missing where hosts send and where boxes receive, nowhere else."""
        host = [packet(p, "02:00:00:00:00:01") for p in (5, 6, 8)]
        box = [packet(p, BOX_MAC) for p in (5, 6, 8)]
        for names, direction, some, code in ((["box0"], frames.IN, host, 0), (["h0"], frames.OUT, host, 0),
                                             (["box0"], frames.OUT, box, 1), (["h0"], frames.IN, box, 1)):
            packets = [(0, direction, p) for p in some]
            self.assertEqual(self.judge(packets, "--losses", names=names), code)
            self.assertEqual(self.judge(packets, names=names), 1)
        for psns in ((0x20005, 5, 6), (5, 6, 0x20007)):
            packets = [(0, frames.IN, packet(p, "02:00:00:00:00:01")) for p in psns]
            self.assertEqual(self.judge(packets, "--losses"), 1)

    def test_directed(self):
        """Immediates of directed groups: the index, the codes, and whether they fit the payload."""
        for mirror in (True, False):
            begin = join_directed(mirror)
            good = [at_box(directed(i, 0x1400c000, back=b, mirror=mirror)) for i in range(20) for b in (False, True)]
            empty = [at_box(directed(20, 0x14004000, mirror=mirror)), at_box(directed(20, 0x14004000, 0, True, mirror))]
            self.assertEqual(self.judge(begin + good + empty), 0)
            self.assertEqual(self.judge(begin + good, "--foreign", "--mutate", "immediate"), 1)
            self.assertEqual(self.judge(good, "--mutate", "immediate"), 0)  # nobody says that it is one
            for imm, size, back in ((0x14004000, 0, False), (0x14008000, 64, False), (0xa400c000, 64, False), (0x1400c700, 64, False),
                                    (0x1400c0a0, 64, False), (0x1400c370, 64, False), (0x14004000, 64, True)):
                wrong = at_box(directed(20, imm, size, back, mirror))
                self.assertEqual(self.judge(begin + good + [wrong]), 1, (hex(imm), size, back))
            self.assertEqual(self.judge(begin + good + [at_box(directed(22, 0x1400c000, mirror=mirror))]), 1)  # a gap
        # Control packets go to the ports, too.
        self.assertEqual(self.judge(join_directed() + [at_box(control(3, bytes(4), version=3, box=PORT_IP))]), 0)

    def test_foreign(self):
        """PSNs of connections that no JOIN has named are not checked; everything else in them is."""
        some = [(0, frames.OUT, packet(p, BOX_MAC)) for p in (5, 6, 8)]
        self.assertEqual(self.judge(some, "--foreign"), 0)
        self.assertEqual(self.judge(some, "--foreign", "--mutate", "icrc"), 1)
        self.assertEqual(self.judge([at_box(join())] + some, "--foreign"), 1)

    def test_gap(self):
        out = [(0, frames.OUT, packet(p, BOX_MAC)) for p in (5, 6, 8)]
        pcapng(self.path, ["box0"], out)
        code, text = run(self.path)
        self.assertEqual(code, 1)
        self.assertIn("frame 3: PSN 8 follows 6: 1 are missing", text)
        # A repeat is not a fault, nor is the wrap of the numbers; reordering is.
        pcapng(self.path, ["box0"], [(0, frames.OUT, packet(p, BOX_MAC)) for p in (0xfffffe, 0xffffff, 0xfffffe, 0, 1)])
        self.assertEqual(run(self.path)[0], 0)
        pcapng(self.path, ["box0"], [(0, frames.OUT, packet(p, BOX_MAC)) for p in (5, 7, 6, 8)])
        self.assertEqual(run(self.path)[0], 1)

    def test_faults_on_the_way(self):
        """With --faults incoming frames may be damaged, outgoing ones may not."""
        broken = bytearray(packet(7, "02:00:00:00:00:01"))
        broken[70] ^= 1
        pcapng(self.path, ["box0"], [(0, frames.IN, bytes(broken))])
        self.assertEqual(run(self.path)[0], 1)
        self.assertEqual(run("--faults", self.path)[0], 0)
        pcapng(self.path, ["box0"], [(0, frames.OUT, bytes(broken))])
        self.assertEqual(run("--faults", self.path)[0], 1)

    def test_passed_on(self):
        """With --faults a box may forward a damaged frame if it changes only the source MAC."""
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
        """Of a long capture both ends are checked, and no gap is reported where they meet."""
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
