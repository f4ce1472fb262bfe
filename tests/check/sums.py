#!/usr/bin/env python3
"""Check every packet that a box sent against the packets that it got: sums, empty packets, lengths, checksums, immediates.

usage: sums.py --plan FILE CAPTURE...

FILE is traffic.json of `ringfold gen`: connections, places and start PSNs of the ranks, type and operation of packets without an
immediate, slots. Everything else comes from the captures (pcap or pcapng): what the ranks sent, and what came back, in one file
or in several, in the order in which it was captured. Each frame that comes back is made anew from the rank's own frame and from
all operands, by docs/box.md and docs/reduction.md, and compared byte by byte. Shares no code with the rest of the tree.

  --plan FILE   required
  --max N       stop after N faults (default 10)
  --quiet       no summary

Exit: 0 no fault, 1 a fault, 2 a file or the usage is wrong.
"""
import getopt
import json
import struct
import sys

import elements
from frames import icrc, inet_sum
from frames_file import BadFile, read

PSN = 0x1000000
OPEN_LOOP_SLOTS = 1 << 22  # indexes beyond are a fault of the generator
COPY = 6
KINDS = 10  # codes of kinds in the immediate: 0 .. 9
SEND_LAST_IMM, SEND_ONLY_IMM = 3, 5
EXTENSION = {3: 4, 5: 4, 6: 16, 9: 4, 10: 16, 11: 20}


class Packet:
    """A frame of a group, taken apart."""

    def __init__(self, data):
        self.data = bytes(data)
        self.l2 = 18 if self.data[12:14] == b"\x81\x00" else 14
        self.ip = self.data[self.l2:]
        total, = struct.unpack_from(">H", self.ip, 2)
        self.tail = self.ip[total:]
        self.ip = self.ip[:total]
        self.source, self.to, self.qpn = self.ip[12:16], self.ip[16:20], self.ip[33:36]
        self.opcode, self.pad = self.ip[28], self.ip[29] >> 4 & 3
        self.psn = int.from_bytes(self.ip[37:40], "big")
        self.head = 40 + EXTENSION.get(self.opcode, 0)
        self.body = self.ip[self.head:-4]
        self.payload = self.body[:len(self.body) - self.pad] if self.pad else self.body
        self.imm = None
        if self.opcode in (SEND_LAST_IMM, SEND_ONLY_IMM):
            self.imm, = struct.unpack_from(">I", self.ip, 40)

    def sound(self):
        """Whether the box has to take it for what it is."""
        ip = self.ip
        return (len(self.data) >= 60 and not self.data[0] & 1 and ip[0] == 0x45 and inet_sum(ip[:20]) == 0xffff
                and not struct.unpack_from(">H", ip, 6)[0] & 0x3fff and struct.unpack_from(">H", ip, 24)[0] == len(ip) - 20
                and ip[-4:] == icrc(ip[:-4]))


def packet_of(data):
    l2 = 18 if data[12:14] == b"\x81\x00" else 14
    if len(data) < l2 + 44 or data[l2 - 2:l2] != b"\x08\x00" or data[l2 + 9] != 17 or data[l2 + 22:l2 + 24] != b"\x12\xb7":
        return None
    return Packet(data) if data[l2 + 28] <= 0x0b else None


class Rank:
    def __init__(self, number, record, plan):
        self.number = number
        self.mac = bytes.fromhex(record["mac"].replace(":", ""))
        self.ip = bytes(int(p) for p in record["ip"].split("."))
        self.qpn = record["qpn"].to_bytes(3, "big")
        self.receives = (record["qpn"] if "mirror" in plan else record["recv_qpn"]).to_bytes(3, "big")
        self.start, self.place = record["start_psn"], (record["lane"], record["port"])
        self.sent = {}  # index -> packet
        self.came = 0  # packets that came back so far


class Check:
    def __init__(self, plan):
        self.mirror = plan.get("mirror")
        self.directed = plan.get("directed")
        self.slots = self.directed["slots"] if self.directed else OPEN_LOOP_SLOTS
        self.kind, self.op, self.shift = plan["dtype"], plan["op"], plan["shift"]
        self.ranks = [Rank(n, record, plan) for n, record in enumerate(plan["ranks"])]
        self.macs = {rank.mac for rank in self.ranks}
        self.box_macs = {}
        self.results = {}  # index -> result or None
        self.foreign = set()  # frames of no group that were sent, without their source MAC
        self.faults = []

    def port_ip(self, rank):
        return (self.mirror["port_ip"] + rank.place[1]).to_bytes(4, "big")

    def port_mac(self, rank):
        return (self.mirror["box_mac"] + rank.place[1]).to_bytes(6, "big")

    def next_of(self, rank):
        return self.ranks[(rank.number + 1) % len(self.ranks)]

    def to_box(self, packet):
        """The rank that sent this packet to the group, or None."""
        for rank in self.ranks:
            peer = rank if self.mirror else self.next_of(rank)
            to = (self.port_ip(rank), rank.qpn, self.port_mac(rank)) if self.mirror else (peer.ip, peer.receives, peer.mac)
            if (packet.source, packet.data[6:12]) == (rank.ip, rank.mac) and to == (packet.to, packet.qpn, packet.data[:6]):
                return rank
        return None

    def collect(self, packet):
        """Whether a frame was sent by a host. Keeps it if a sound box has to accept it."""
        if packet.data[6:12] not in self.macs:
            return False
        rank = self.to_box(packet)
        if not rank and packet.sound():
            self.foreign.add(packet.data[:6] + packet.data[12:])
        if rank and packet.sound():
            index = (packet.psn - rank.start) % PSN
            if index < self.slots:
                rank.sent.setdefault(index, packet)
        return True

    # ---- what an index results in ----

    def facts(self, packet):
        """(gives, wants, operation, type) of a packet."""
        if packet.imm is None or not self.directed:
            return True, True, elements.OPS.index(self.op), elements.TYPES.index(self.kind)
        return bool(packet.imm & 0x4000), bool(packet.imm & 0x8000), packet.imm >> 8 & 15, packet.imm >> 4 & 15

    def form(self, index, packet):
        """What is wrong with the form of a packet of a directed group, as the box judges it; None if nothing is."""
        if packet.imm is None:
            return None
        gives, wants, op, kind = self.facts(packet)
        if packet.imm & 15 != index & 15:
            return "the immediate names index %d" % (packet.imm & 15)
        if op > COPY or kind >= len(elements.TYPES) or packet.imm >> 28 >= KINDS:
            return "immediate %08x: unknown code" % packet.imm
        if op in (3, 4, 5) and elements.is_floating(elements.TYPES[kind]):
            return "immediate %08x: and, or, xor of a floating type" % packet.imm
        if gives != bool(packet.payload):
            return "immediate %08x with %d bytes of payload" % (packet.imm, len(packet.payload))
        if packet.opcode == SEND_LAST_IMM and not (gives and wants):
            return "the end of a long message that does not give and want"
        return None

    def agree(self, index, packets):
        """The pass: what all ranks must have in common."""
        facts = [self.facts(p) for p in packets]
        if len({fact[2:] for fact in facts}) != 1:
            return "types or operations differ"
        if self.directed and len({p.imm & 0xffff3000 for p in packets if p.imm is not None}) > 1:
            return "kind, call or hash differ"
        if len({len(p.payload) for p, fact in zip(packets, facts) if fact[0]}) > 1:
            return "lengths differ"
        if facts[0][2] == COPY and sum(fact[0] for fact in facts) > 1:
            return "two ranks give to a copy"
        return next(filter(None, (self.form(index, p) for p in packets if self.directed)), None)

    def result(self, index):
        """The result of an index; None if no rank gave, or a fault was found."""
        if index not in self.results:
            packets = [rank.sent[index] for rank in self.ranks]
            text = self.agree(index, packets)
            if text:
                self.faults.append("index %d as it was sent: %s" % (index, text))
            _, _, op, kind = self.facts(packets[0])
            given = {rank.place: p.payload for rank, p in zip(self.ranks, packets) if self.facts(p)[0]}
            self.results[index] = None if text else elements.reduce(elements.TYPES[kind], elements.OPS[op], given)
        return self.results[index]

    # ---- what comes back ----

    def made(self, rank, to, index):
        """The frame that the box makes of a rank's packet for rank `to`, with source MAC 0 in a ring."""
        own = rank.sent[index]
        payload = self.result(index) if self.facts(own)[1] else None
        payload = payload or b""
        ip = bytearray(own.ip[:own.head])
        pad = -len(payload) % 4
        total = own.head + len(payload) + pad + 4
        struct.pack_into(">H", ip, 2, total)
        source = bytes(6)
        if self.mirror:
            ip[8] = 64
            ip[12:20] = ip[16:20] + ip[12:16]
            source = self.port_mac(rank)
        ip[10:12] = b"\0\0"
        struct.pack_into(">H", ip, 10, 0xffff ^ inet_sum(ip[:20]))
        struct.pack_into(">HH", ip, 24, total - 20, 0)
        ip[29] = ip[29] & 0xcf | pad << 4
        ip[37:40] = ((own.psn - self.shift) % PSN).to_bytes(3, "big")
        if self.directed and index % (self.slots // 8) == 0:
            ip[36] |= 0x80
        ip += payload + bytes(pad)
        frame = to.mac + source + own.data[12:own.l2] + bytes(ip) + icrc(ip)
        return frame + bytes(max(0, 60 - len(frame)))

    def receiver(self, packet):
        for rank in self.ranks:
            if (packet.to, packet.qpn) == (rank.ip, rank.receives):
                return rank
        return None

    def back(self, packet):
        """Checks a packet that came back. Returns what is wrong, or None."""
        to = self.receiver(packet)
        if to is None and packet.data[:6] + packet.data[12:] in self.foreign:
            return None
        if to is None:
            return "is of no connection of the plan"
        rank = to if self.mirror else self.ranks[to.number - 1]
        index = (packet.psn + self.shift - rank.start) % PSN
        if index != to.came:
            return "PSN %d is index %d, not %d, at rank %d" % (packet.psn, index, to.came, to.number)
        if any(index not in r.sent for r in self.ranks):
            return "index %d came back, but a rank has not sent it" % index
        to.came += 1
        want, got, own = self.made(rank, to, index), packet.data, rank.sent[index]
        if not self.mirror:
            box = self.box_macs.setdefault(to.place[1], got[6:12])
            if got[6:12] != box:
                return "index %d at rank %d: another source MAC" % (index, to.number)
            want = want[:6] + box + want[12:]
        if not self.directed and got[own.l2 + 36:own.l2 + 37] == b"\x80":  # the slots are not in the plan
            made = bytearray(want[own.l2:-4])
            made[36] = 0x80
            want = want[:own.l2] + bytes(made) + icrc(made)
        return self.differ(index, to, want, got) if got != want else None

    @staticmethod
    def differ(index, to, want, got):
        here = "index %d at rank %d: " % (index, to.number)
        if len(want) != len(got):
            return here + "%d bytes, not %d" % (len(got), len(want))
        at = next(n for n, (a, b) in enumerate(zip(want, got)) if a != b)
        return here + "byte %d is %02x, not %02x" % (at, got[at], want[at])

    def run(self, files):
        back = []
        for path in files:
            for frame in read(path):
                packet = None if frame.cut else packet_of(frame.data)
                if packet and not self.collect(packet):
                    back.append((path, frame.number, packet))
        for path, number, packet in back:
            text = self.back(packet)
            if text:
                self.faults.append("%s: frame %d: %s" % (path, number, text))
        for rank in self.ranks:
            source = rank if self.mirror else self.ranks[rank.number - 1]
            if rank.came != len(source.sent) or not rank.came:
                self.faults.append("rank %d got %d packets of %d" % (rank.number, rank.came, len(source.sent)))


def main(argv):
    try:
        opts, files = getopt.getopt(argv[1:], "", ["plan=", "max=", "quiet"])
        opts = dict(opts)
        if "--plan" not in opts or not files:
            raise getopt.GetoptError("a plan and a capture are needed")
        with open(opts["--plan"], encoding="utf-8") as f:
            check = Check(json.load(f))
        check.run(files)
    except (getopt.GetoptError, OSError, ValueError, KeyError, BadFile) as error:
        print("sums.py: %s" % error, file=sys.stderr)
        return 2
    for text in check.faults[:int(opts.get("--max", 10))]:
        print(text)
    if "--quiet" not in opts:
        print("%d packets came back to %d ranks, %d faults" % (sum(r.came for r in check.ranks), len(check.ranks), len(check.faults)))
    return 1 if check.faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
