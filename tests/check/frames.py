#!/usr/bin/env python3
"""Check every frame of a capture: lengths, checksums, ICRC, source MAC, order of PSNs.

usage: frames.py [OPTION]... FILE...

Reads pcapng and pcap (any byte order, micro- or nanoseconds). Shares no code with the rest of the tree: sources are
the IBTA specification (annex A17: RoCEv2; chapter 9: transport), RFC 791, RFC 768 and draft-ietf-opsawg-pcapng.

  --box-mac MAC    base MAC of the box. On an interface named boxN outgoing frames have source MAC + N, incoming
                   frames no MAC of the box; on hosts' interfaces no frame is sent with a box MAC.
  --box-ip IP      address of the box: its control packets are not RoCE. They show when groups end: after the end of one
                   (ABORT, FAILED, ENDED, another epoch) the PSNs of its connections may jump once, by their shift
  --faults         the links lose, duplicate, reorder and damage frames: faults of incoming frames are only counted, also
                   if a boxN forwards such a frame unchanged except for the source MAC
  --losses         the hosts' links lose frames before they are captured: in frames sent by hosts, and in frames coming in to a
                   box, PSNs may be missing
  --foreign        PSNs are checked only on connections that a JOIN has named
  --floods         a switch connects the ports of the box: frames that one of them sends to a MAC not seen as a source
                   (or not within 300 s) may come in at the others
  --ends N         of a file with more than N frames, check the first and the last N / 2, using the first half of the latter only to
                   learn the state (repeats, and damage inside a box); of the other frames read only control packets
  --torn           the writer was killed: the last block may be incomplete
  --short          frames below 60 bytes are allowed (captured before the MAC padded them)
  --max N          stop after N faults (default 10)
  --mutate KIND    damage the capture first, in memory; the check must then fail. KIND "list" prints the kinds
  --quiet          no summary

Exit: 0 no fault, 1 a fault, 2 the file or the usage is wrong.
"""
import getopt
import re
import struct
import sys
import zlib

from frames_cause import MAGIC, Groups, Switch
from frames_file import IN, OUT, BadFile, Frame, read  # noqa: F401 (Frame is for those who import this file)

ROCE_PORT = 4791
CNP = 0x81
ACK = 0x11
READ_REQUEST = 0x0c
# Header bytes after the BTH, by opcode of the reliable connection.
EXTENSION = {0x03: 4, 0x05: 4, 0x06: 16, 0x09: 4, 0x0a: 16, 0x0b: 20, 0x0c: 16, 0x0d: 4, 0x0f: 4, 0x10: 4, 0x11: 4,
             0x12: 12, 0x13: 28, 0x14: 28, 0x16: 4, 0x17: 4}
FULL = (0x00, 0x01, 0x06, 0x07, 0x0d, 0x0e)  # first and middle packets: no pad
MTU_MAX = 4096
WINDOW = 0x10000  # no sender repeats packets further back


def inet_sum(blob):
    if len(blob) % 2:
        blob = bytes(blob) + b"\0"
    total = sum(struct.unpack(">%dH" % (len(blob) // 2), blob))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return total


def icrc(packet):
    """ICRC of an IPv4 packet, without its own four bytes (annex A17.3.3)."""
    masked = bytearray(packet)
    for at in (1, 8, 10, 11, 26, 27, 32):  # TOS, TTL, both checksums, FECN/BECN/reserved
        masked[at] = 0xff
    return struct.pack("<I", zlib.crc32(b"\xff" * 8 + bytes(masked)))


class Checker:
    def __init__(self, box_mac=None, box_ip=None, faults=False, short=False, foreign=False, floods=False,
                 losses=False):
        self.box_mac, self.box_ip, self.faults, self.short = box_mac, box_ip, faults, short
        self.foreign, self.floods, self.losses = foreign, floods, losses
        self.switch, self.groups = Switch(), Groups(box_ip)
        self.found = []
        self.counts = {}
        self.streams = {}  # connection -> highest PSN, None if the next one is unknown
        self.damaged = set()  # faulty frames that came in to a box
        self.blind = 0  # until this frame packets may follow that were in flight at a gap of the sample

    def count(self, what):
        self.counts[what] = self.counts.get(what, 0) + 1

    def fault(self, frame, text):
        if self.faults and frame.direction == IN:
            self.count("damaged on the way")
            if frame.box_port is not None:
                self.damaged.add(bytes(frame.data[12:]))
        elif self.faults and self.passed_on(frame):
            self.count("forwarded unchanged")
        else:
            self.found.append((frame.number, text))

    def passed_on(self, frame):
        """Whether a box only forwards a frame that was faulty before. It sets the source MAC itself."""
        if frame.box_port is None or self.source(frame):
            return False
        return frame.number <= self.blind or bytes(frame.data[12:]) in self.damaged

    def check(self, frame):
        self.count("frames")
        if frame.behind_gap:
            self.streams = {}
            self.blind = frame.number + frame.behind_gap
        try:
            text = self.ethernet(frame)
        except (IndexError, struct.error):
            text = "ends inside a header"
        if text:
            self.fault(frame, text)

    def ethernet(self, frame):
        data = frame.data
        if frame.cut:
            return "was captured in part only"
        if len(data) < 14:
            return "%d bytes are not an Ethernet frame" % len(data)
        if len(data) < 60 and not self.short:
            return "%d bytes: shorter than 60" % len(data)
        text = self.source(frame)
        if text:
            return text
        l2, kind = 14, struct.unpack_from(">H", data, 12)[0]
        if kind == 0x8100:
            l2, kind = 18, struct.unpack_from(">H", data, 16)[0]
        if kind in (0x8100, 0x88a8):
            return "more than one tag, or a service tag"
        if kind != 0x0800:
            self.count("not IPv4")
            return None
        return self.ipv4(frame, l2)

    def source(self, frame):
        """Checks the source MAC."""
        if self.box_mac is None:
            return None
        offset = (int.from_bytes(frame.data[6:12], "big") - self.box_mac) & 0xffffffffffff
        if frame.box_port is None:
            if frame.direction == OUT and offset < 8:
                return "a host sends with the box's MAC"
        elif frame.direction == OUT and offset != frame.box_port:
            return "source MAC is not that of port %d" % frame.box_port
        elif frame.direction == OUT:
            self.switch.gets(frame)
        elif frame.direction == IN and offset >= 8:
            self.switch.hears(frame)
        elif frame.direction == IN and self.floods and offset != frame.box_port:
            return self.flooded(frame)
        elif frame.direction == IN:
            return "comes in with a MAC of the box as its source"
        return None

    def of_box(self, frame):
        """Whether a frame has a MAC of the box as its source, or, if that is not known, is sent by a boxN."""
        if self.box_mac is None:
            return frame.box_port is not None and frame.direction == OUT
        return (int.from_bytes(frame.data[6:12], "big") - self.box_mac) & 0xffffffffffff < 8

    def flooded(self, frame):
        """Checks a frame that another port of the box has sent."""
        if frame.number > self.blind and not self.switch.floods(frame):
            return "flooded, but the switch knows its destination, or the box has not sent it"
        self.count("flooded")
        return None

    def ipv4(self, frame, l2):
        ip = frame.data[l2:]
        if ip[0] >> 4 != 4 or (ip[0] & 15) < 5:
            return "IP version or header length"
        head = 4 * (ip[0] & 15)
        total = struct.unpack_from(">H", ip, 2)[0]
        if total < head or total > len(ip):
            return "IP total length %d does not fit %d bytes" % (total, len(ip))
        if total < len(ip) and len(frame.data) > l2 + 46:
            return "%d bytes after the IP packet" % (len(ip) - total)
        if inet_sum(ip[:head]) != 0xffff:
            return "IP header checksum"
        fragment = struct.unpack_from(">H", ip, 6)[0] & 0x3fff
        if ip[9] != 17 or fragment:
            self.count("not UDP")
            return None
        return self.udp(frame, ip[:total], head)

    def udp(self, frame, ip, head):
        _, dport, length, checksum = struct.unpack_from(">HHHH", ip, head)
        if length != len(ip) - head:
            return "UDP length %d, not %d" % (length, len(ip) - head)
        if checksum:
            pseudo = bytes(ip[12:20]) + struct.pack(">BBH", 0, 17, length)
            if inet_sum(pseudo + bytes(ip[head:])) != 0xffff:
                return "UDP checksum"
        if dport != ROCE_PORT:
            self.count("other UDP")
            return None
        if self.box_ip is not None and (self.box_ip in (bytes(ip[12:16]), bytes(ip[16:20])) or ip[28:32] == MAGIC):
            self.count("control")
            return None
        if head != 20:
            return "IP options before RoCE"
        return self.roce(frame, ip)

    def roce(self, frame, ip):
        self.count("RoCE")
        if len(ip) < 44:
            return "too short for BTH and ICRC"
        if bytes(ip[-4:]) != icrc(ip[:-4]):
            return "ICRC"
        opcode, pad = ip[28], ip[29] >> 4 & 3
        if opcode > 0x17 and opcode != CNP:
            self.count("not of a reliable connection")
            return None
        payload = len(ip) - 44 - (16 if opcode == CNP else EXTENSION.get(opcode, 0))
        if payload < 0:
            return "too short for the headers of opcode 0x%02x" % opcode
        if payload % 4 or pad > payload or payload > MTU_MAX + 3:
            return "payload of %d bytes with pad %d" % (payload, pad)
        if opcode in FULL and (pad or payload & (payload - 1)):
            return "first or middle packet of %d bytes with pad %d" % (payload, pad)
        if opcode == ACK:
            return self.ack(ip)
        return None if opcode == CNP else self.order(frame, ip, opcode)

    def ack(self, ip):
        syndrome = ip[40]
        self.count("ACK" if syndrome < 0x20 else "NAK")
        if 0x40 <= syndrome < 0x60 or syndrome > 0x64:
            return "AETH syndrome 0x%02x" % syndrome
        return None

    def order(self, frame, ip, opcode):
        """New packets of one connection, seen at one place, must have consecutive PSNs."""
        psn = int.from_bytes(ip[37:40], "big")
        response = 0x0d <= opcode <= 0x10 or opcode == 0x12
        connection = self.groups.connection_of(bytes(ip[12:16]), bytes(ip[16:20]), bytes(ip[33:36]))
        if opcode in (0x03, 0x05):
            imm = (psn, int.from_bytes(ip[40:44], "big"), len(ip) - 48)
            text = self.groups.immediate(connection, imm, self.of_box(frame))
            if text:
                return text
        if self.foreign and connection not in self.groups.connections:
            self.count("foreign")
            return None
        key = (frame.interface, frame.direction, bytes(frame.data[6:12]), bytes(ip[12:24]), bytes(ip[33:36]), response)
        last = self.streams.get(key)
        if response or opcode == READ_REQUEST or opcode in (0x13, 0x14):
            self.streams[key] = None  # how many PSNs a READ takes depends on the path MTU
            return None
        if last is None:
            self.streams[key] = psn
            self.groups.begins(frame, key, connection)
            return None
        ahead = (psn - last) & 0xffffff
        if ahead == 1:
            self.count("first sendings")
            self.streams[key] = psn
        elif ahead == 0 or ahead > 0x1000000 - WINDOW:
            self.count("repeats")
        elif ahead < WINDOW and frame.number <= self.blind:
            self.streams[key] = psn  # the packets before were repeats
        elif self.groups.explains(frame, key, connection, ahead):
            self.count("after the end of a group")
            self.streams[key] = psn
        elif ahead >= 0x800000:
            return "PSN %d is far before %d" % (psn, last)
        elif self.losses and ahead < WINDOW and frame.direction == (OUT if frame.box_port is None else IN):
            self.count("after a lost one")
            self.streams[key] = psn
        else:
            self.streams[key] = psn
            return "PSN %d follows %d: %d are missing" % (psn, last, ahead - 1)
        return None


def is_data(frame):
    d = frame.data
    return len(d) > 62 and d[12:14] == b"\x08\x00" and d[23] == 17 and d[36:38] == b"\x12\xb7" and d[42] <= 0x0b


def flip(at):
    def change(frames):
        victim = [f for f in frames if is_data(f)][-1]
        victim.data[at] ^= 1
    return change


def reseal(frame):
    frame.data[-4:] = icrc(frame.data[14:-4])


def lose(frames):
    """Removes a packet from the middle whose successor follows on the same connection."""
    for n, frame in enumerate(frames):
        if not is_data(frame) or frame.data[42] not in (1, 7):
            continue
        same = [f for f in frames if is_data(f) and f.data[6:12] == frame.data[6:12]
                and f.data[26:38] == frame.data[26:38] and f.data[47:50] == frame.data[47:50]
                and f.interface == frame.interface]
        psn = int.from_bytes(frame.data[51:54], "big")
        psns = [int.from_bytes(f.data[51:54], "big") for f in same]
        if psns.count(psn) == 1 and psn + 1 in psns and psn - 1 in psns:
            del frames[n]
            return
    raise BadFile("no packet that could be lost")


def shorten(frames):
    victim = [f for f in frames if is_data(f)][-1]
    del victim.data[-4:]


def lengthen(frames):
    [f for f in frames if is_data(f)][-1].data.extend(b"\0\0\0\0")


def renumber(frames):
    victim = [f for f in frames if is_data(f)][-1]
    victim.data[51] ^= 0x20
    reseal(victim)


def pad_middle(frames):
    victim = [f for f in frames if is_data(f) and f.data[42] in FULL][-1]
    victim.data[43] |= 0x10
    reseal(victim)


def immediate(frames):
    """Another index in an immediate."""
    victim = [f for f in frames if is_data(f) and f.data[42] in (3, 5)]
    if not victim:
        raise BadFile("no immediate")
    victim[-1].data[57] ^= 1
    reseal(victim[-1])


def syndrome(frames):
    victim = [f for f in frames if f.data[42] == ACK and f.data[36:38] == b"\x12\xb7"][-1]
    victim.data[54] = 0x50
    reseal(victim)


def udp_checksum(frames):
    victim = [f for f in frames if is_data(f)][-1]
    victim.data[40:42] = b"\x12\x34"


def two_tags(frames):
    victim = [f for f in frames if is_data(f)][-1]
    victim.data[12:12] = b"\x81\x00\x00\x01\x81\x00\x00\x02"


def foreign_mac(frames):
    """Changes the source MAC of a frame that a port of the box sends."""
    victim = [f for f in frames if f.box_port is not None and f.direction == OUT]
    if not victim:
        raise BadFile("no interface of the box")
    victim[-1].data[11] ^= 0x80


MUTANTS = {
    "icrc": flip(-1), "payload": flip(60), "qpn": flip(48), "tos-checksum": flip(15), "ip-length": flip(17),
    "ip-checksum": flip(25), "udp-length": flip(39), "udp-checksum": udp_checksum, "lose": lose, "short": shorten,
    "long": lengthen, "psn": renumber, "pad": pad_middle, "syndrome": syndrome, "immediate": immediate, "tags": two_tags, "mac": foreign_mac,
}


def parse_mac(text):
    if not re.fullmatch(r"([0-9a-fA-F]{2}:){5}[0-9a-fA-F]{2}", text):
        raise getopt.GetoptError("'%s' is not a MAC address" % text)
    return int(text.replace(":", ""), 16)


def parse_ip(text):
    parts = text.split(".")
    if len(parts) != 4 or not all(p.isdigit() and int(p) < 256 for p in parts):
        raise getopt.GetoptError("'%s' is not an IPv4 address" % text)
    return bytes(int(p) for p in parts)


def check_file(path, settings, reading, mutate, most, quiet):
    frames = read(path, *reading)
    if mutate:
        MUTANTS[mutate](frames)
    checker = Checker(**settings)
    checker.groups.learn(frames)
    for frame in frames:
        checker.check(frame)
        if len(checker.found) >= most:
            break
    for number, text in checker.found:
        print("%s: frame %d: %s" % (path, number, text))
    if not quiet:
        print("%s: %s" % (path, ", ".join("%d %s" % (n, what) for what, n in checker.counts.items()) or "empty"))
    return not checker.found


def main(argv):
    settings, mutate, most, quiet, ends, torn = {}, None, 10, False, 0, False
    try:
        opts, files = getopt.gnu_getopt(argv[1:], "h", ["box-mac=", "box-ip=", "faults", "short", "max=", "mutate=",
                                                        "ends=", "torn", "foreign", "floods", "losses", "quiet",
                                                        "help"])
        for name, value in opts:
            if name == "--box-mac":
                settings["box_mac"] = parse_mac(value)
            elif name == "--box-ip":
                settings["box_ip"] = parse_ip(value)
            elif name in ("--faults", "--short", "--foreign", "--floods", "--losses"):
                settings[name[2:]] = True
            elif name == "--max":
                most = max(1, int(value))
            elif name == "--ends":
                ends = max(2, int(value))
            elif name == "--torn":
                torn = True
            elif name == "--quiet":
                quiet = True
            elif name == "--mutate" and value == "list":
                print("\n".join(MUTANTS))
                return 0
            elif name == "--mutate":
                mutate = value
                if mutate not in MUTANTS:
                    raise getopt.GetoptError("no such mutant: '%s'" % mutate)
            else:
                print(__doc__.strip())
                return 0
        if not files:
            raise getopt.GetoptError("no file")
    except (getopt.GetoptError, ValueError) as error:
        sys.stderr.write("frames.py: %s; try --help\n" % error)
        return 2
    good = True
    for path in files:
        try:
            good &= check_file(path, settings, (ends, torn), mutate, most, quiet)
        except (BadFile, IndexError, struct.error) as error:
            sys.stderr.write("frames.py: %s: %s\n" % (path, error))
            return 2
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv))
