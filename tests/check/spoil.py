#!/usr/bin/env python3
"""Spoil what came back from a box, to see that a check finds it.

usage: spoil.py kinds              the kinds of damage, one a line
       spoil.py KIND FOLDER OUT    reads FOLDER/outN.pcap, writes OUTN.pcap with one frame changed, lost or sent twice
       spoil.py join FOLDER OUT    writes OUTN.pcap with FOLDER/portN.pcap and FOLDER/outN.pcap, nothing spoilt
"""
import glob
import os
import re
import struct
import sys

from frames import icrc, inet_sum
from frames_file import read
from sums import packet_of


def remake(packet, ip):
    """A frame with other bytes from the IP header on: lengths, both checksums and ICRC are made right."""
    ip = bytearray(ip)
    struct.pack_into(">H", ip, 2, len(ip) + 4)
    struct.pack_into(">H", ip, 24, len(ip) - 16)
    ip[10:12] = b"\0\0"
    struct.pack_into(">H", ip, 10, 0xffff ^ inet_sum(ip[:20]))
    return packet.data[:packet.l2] + bytes(ip) + icrc(ip)


def flip(at, bit):
    def change(packet):
        ip = bytearray(packet.ip[:-4])
        ip[at] ^= bit
        return remake(packet, ip)
    return change


def payload(change):
    def spoil(packet):
        ip = bytearray(packet.ip[:packet.head])
        ip[29] &= 0xcf
        return remake(packet, ip + change(packet.body))
    return spoil


def raw(at, bit):
    def change(packet):
        data = bytearray(packet.data)
        data[at] ^= bit
        return bytes(data)
    return change


def has_data(packet):
    return bool(packet.payload)


def has_padding(packet):
    return packet.pad > 0


def is_empty(packet):
    return not packet.payload


def has_immediate(packet):
    return packet.imm is not None


# kind -> (which packets, the change; None: lost, twice or out of order)
KINDS = {
    "sum": (has_data, flip(-1 - 40, 4)), "immediate": (has_immediate, flip(41, 1)), "index": (has_immediate, flip(43, 1)),
    "gives": (has_immediate, flip(42, 0x40)), "empty-for-result": (has_data, payload(lambda body: b"")),
    "result-for-empty": (is_empty, payload(lambda body: bytes(64))), "short": (has_data, payload(lambda body: body[:-4])),
    "long": (has_data, payload(lambda body: body + bytes(4))), "pad": (has_padding, flip(-1, 1)),
    "address": (has_data, flip(15, 1)), "ackreq": (has_data, flip(36, 0x80)), "port": (has_data, flip(21, 1)),
    "tos": (has_data, flip(1, 1)), "ip-checksum": (has_data, raw(25, 1)), "icrc": (has_data, raw(-1, 1)),
    "to-mac": (has_data, raw(5, 0x40)), "lost": (has_data, None), "twice": (is_empty, None), "swapped": (has_data, None),
}


def write(path, frames):
    with open(path, "wb") as out:
        out.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1))
        for number, data in enumerate(frames):
            out.write(struct.pack("<IIII", 0, number, len(data), len(data)) + data)


def spoil(kind, frames):
    """Spoils one packet in the middle of those that it applies to. False if there is none."""
    fits, change = KINDS[kind]
    found = [n for n, data in enumerate(frames) if (p := packet_of(data)) and fits(p)]
    if len(found) < 3:
        return False
    at = found[len(found) // 2]
    if kind == "lost":
        del frames[at]
    elif kind == "twice":
        frames.insert(at, frames[at])
    elif kind == "swapped":
        frames[at - 1], frames[at] = frames[at], frames[at - 1]
    else:
        before = frames[at]
        packet = packet_of(before)
        if kind == "sum":  # a byte of the payload, whatever its length
            change = flip(packet.head + len(packet.payload) // 2, 4)
        frames[at] = change(packet)
        return frames[at] != before
    return True


def main(argv):
    if argv[1:] == ["kinds"]:
        print("\n".join(KINDS))
        return 0
    kind, folder, out = argv[1:]
    done = kind == "join"
    for path in sorted(glob.glob(os.path.join(folder, "out*.pcap"))):
        number = re.search(r"(\d+)\.pcap$", path)[1]
        frames = [bytes(f.data) for f in read(path)]
        if kind == "join":
            frames = [bytes(f.data) for f in read(os.path.join(folder, "port%s.pcap" % number))] + frames
        elif not done:
            done = spoil(kind, frames)
        write("%s%s.pcap" % (out, number), frames)
    return 0 if done else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv))
