"""Reads captures of `ringfold box --pcapng`: traffic that belongs to no group, and retransmissions of the ranks of a group."""
import collections
import os
import shutil
import socket
import struct
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "check"))
import frames

BOX_MAC = bytes.fromhex("0252460000")
ACK, DATA_MAX, SEND_ONLY = 0x11, 0x0b, 0x04
SEQUENCE_NAK = 0x60
MAGIC = b"RFCT"
HALF = 1 << 23


def be(data, at, size):
    return int.from_bytes(data[at:at + size], "big")


def udp_roce(f):
    d = f.data
    return d[12:14] == b"\x08\x00" and d[23] == 17 and d[36:38] == b"\x12\xb7"


def roce(f):
    return udp_roce(f) and f.data[42:46] != MAGIC


def messages(path):
    """Control messages of a capture: (frame, message)."""
    for f in frames.read(path, torn=True):
        if f.data[12:14] == b"\x08\x00" and f.data[23] == 17 and f.data[42:46] == MAGIC:
            yield f, bytes(f.data[42:42 + be(f.data, 38, 2) - 8])


class Member:
    """A rank, with the fields of its JOIN. Addresses are bytes."""

    def __init__(self, f, m):
        self.key = be(m, 12, 8), be(m, 10, 2)  # job, group
        self.rank = be(m, 20, 2)
        self.own = m[68:72] if m[68:72] != bytes(4) else bytes(f.data[26:30])
        self.qpn, self.peer, self.peer_qpn = be(m, 72, 4), m[76:80], be(m, 80, 4)
        self.start, self.shift = be(m, 84, 4), be(m, 88, 4)
        self.mirror = m[4] >= 3 and bool(m[65] & 0x40)  # then the peer is a port of the box: members()


def members(path):
    """Every rank that has sent a JOIN, once, in the order of the capture."""
    found = {}
    for f, m in messages(path):
        if m[5] == 1 and not m[6] & 0x80:
            r = Member(f, m)
            found[r.key + (r.rank, r.qpn)] = r
        at = {1: 84, 2: 80}.get(m[56]) if m[5] == 1 and m[6] & 0x80 and m[4] >= 3 else None  # WAITING, READY
        for r in found.values() if at else ():
            if r.mirror and r.key + (r.rank,) == (be(m, 12, 8), be(m, 10, 2), be(m, 20, 2)):
                r.peer, r.peer_qpn = m[at:at + 4], r.qpn
    return list(found.values())


class Sender:
    """The packets that one rank has sent on its connection, and the causes of its retransmissions."""

    def __init__(self, member):
        self.member, self.highest, self.last, self.cause = member, None, None, None
        self.asked = None  # PSN of a NAK that has arrived and was not answered yet
        self.sent = self.by_nak = self.by_timer = self.naks = self.rnr_naks = self.bytes = 0

    @property
    def again(self):
        return self.by_nak + self.by_timer

    def data(self, psn, size):
        self.sent += 1
        self.bytes += size
        ahead = 1 if self.highest is None else (psn - self.highest) % (2 * HALF)
        if 0 < ahead < HALF:
            self.highest, self.cause = psn, None
        else:
            # the first packet of a retransmission shows its cause; the packets after it have the same cause
            if self.cause is None or (self.last - psn) % (2 * HALF) < HALF:
                self.cause = "nak" if self.asked == psn else "timer"
                self.asked = None
            if self.cause == "nak":
                self.by_nak += 1
            else:
                self.by_timer += 1
        self.last = psn

    def answer(self, psn, syndrome):
        if syndrome == SEQUENCE_NAK:
            self.naks += 1
        elif 0x20 <= syndrome < 0x40:
            self.rnr_naks += 1
        else:
            return
        self.asked = psn


def connections(path):
    """The connections of a capture's groups, a Sender each, by place: (data to the receiver, ACKs to the sender)."""
    data, acks = {}, {}
    for r in members(path):
        data[r.peer, r.peer_qpn, r.own] = acks[r.own, r.qpn, r.peer] = Sender(r)
    return data, acks


def place_of(f):
    return bytes(f.data[30:34]), be(f.data, 47, 3), bytes(f.data[26:30])


def empty_messages(path):
    """Packets without data that a host has sent on a connection of a group: no rank has any to send."""
    data, _ = connections(path)
    return [f"frame {f.number}: rank {data[place_of(f)].member.rank} sends a message of 0 bytes, PSN {be(f.data, 51, 3)}"
            for f in frames.read(path, torn=True)
            if roce(f) and f.direction == frames.OUT and f.data[42] == SEND_ONLY and be(f.data, 16, 2) == 44 and place_of(f) in data]


def senders(path):
    """For every rank of every group: Sender. Read from hosts.pcapng, where packets from a host are OUT and packets to it are IN."""
    data, acks = connections(path)
    for f in frames.read(path):
        if not roce(f):
            continue
        d, place = f.data, place_of(f)
        if d[42] <= DATA_MAX and f.direction == frames.OUT and place in data:
            data[place].data(be(d, 51, 3), len(d))
        elif d[42] == ACK and f.direction == frames.IN and place in acks:
            acks[place].answer(be(d, 51, 3), d[54])
    return list(data.values())


def beside_groups(path):
    """A function that says whether a packet belongs to none of the capture's groups."""
    places = set()
    for r in members(path):
        places |= {(r.peer, r.peer_qpn), (r.own, r.qpn)}
    return lambda f: (bytes(f.data[30:34]), be(f.data, 47, 3)) not in places


def delivered(path, interface):
    """RoCE packets that were delivered to a host."""
    return sum(1 for f in frames.read(path) if f.name == interface and f.direction == frames.IN and roce(f))


def traffic_class(path, value):
    """(Number of RoCE packets with this traffic class that hosts have sent, number that were delivered to them)."""
    found = [f.direction for f in frames.read(path) if roce(f) and f.data[15] == value]
    return found.count(frames.OUT), found.count(frames.IN)


def crossed(path, protocols=(1, 6)):
    """IPv4 frames of these protocols (ICMP and TCP) in a capture. box.pcapng must have none."""
    return sum(1 for f in frames.read(path) if f.data[12:14] == b"\x08\x00" and f.data[23] in protocols)


def unchanged(path, spoil=False):
    """(True if every RoCE packet of a guest that belongs to no group arrives unchanged except for the source MAC, what does not)."""
    sent, came = {}, {}
    macs = {}
    foreign = beside_groups(path)
    everything = [f for f in frames.read(path) if not roce(f) or foreign(f)]
    if spoil:  # change a byte of the last packet that has arrived
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
    opcodes = collections.Counter(f"{f.data[42]:02x}" for f in everything if roce(f) and f.direction == frames.OUT)
    return total > 0, f"{total} packets compared, by opcode " + ", ".join(f"{o}: {n}" for o, n in sorted(opcodes.items()))


# tshark guesses the protocol in the payload of a queue pair; the numbers of a vector can look like any of these.
GUESSES = ("eth_over_ib", "smb_direct_infiniband", "rpcrdma_infiniband", "lnet_ib", "iser_infiniband")


def malformed(path):
    """tshark's lines about malformed packets; None if tshark is not installed."""
    if not shutil.which("tshark"):
        return None
    command = ["tshark", "-r", path, "-Y", "_ws.malformed", "-T", "fields", "-e", "frame.number", "-e", "frame.protocols"]
    for name in GUESSES:
        command += ["--disable-heuristic", name]
    out = subprocess.run(command, capture_output=True, text=True)
    return out.stdout.splitlines() if out.returncode == 0 else [out.stderr]


class Station:
    """A station at a unix datagram port of the box's switch."""

    def __init__(self, own, to):
        self.own, self.to = own, to
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)

    def __enter__(self):
        self.socket.bind(self.own)
        return self

    def __exit__(self, *_):
        self.socket.close()
        os.unlink(self.own)

    def send(self, frame):
        self.socket.sendto(frame, self.to)


def datagram_to_qp1(mac, ip):
    """A SEND over UD to queue pair 1, which every RoCE device has; its content belongs to no management class."""
    bth = struct.pack(">BBHII", 0x64, 0x40, 0xffff, 1, 0)
    deth = struct.pack(">II", 0x80010000, 1)
    data = bth + deth + bytes(256)
    head = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 28 + len(data) + 4, 0, 0x4000, 64, 17, 0, bytes((10, 0, 0, 99)), socket.inet_aton(ip))
    head = head[:10] + struct.pack(">H", ~frames.inet_sum(head) & 0xffff) + head[12:]
    packet = head + struct.pack(">HHHH", 0xc000, 4791, 8 + len(data) + 4, 0) + data
    return bytes.fromhex(mac.replace(":", "")) + bytes.fromhex("020000000099") + b"\x08\x00" + packet + frames.icrc(packet)
