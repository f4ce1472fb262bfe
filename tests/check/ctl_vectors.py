#!/usr/bin/env python3
"""Generate the test vectors of docs/control-protocol.md from the text of that page.

usage: ctl_vectors.py PAGE.md TEST.c           compares; exit 1 if anything differs
       ctl_vectors.py PAGE.md TEST.c --write   writes them into both files

Shares no code with proto/: layouts are written here as on the page, SipHash-2-4 is that
of the paper (checked against the paper's own vector), and the C arrays are read as text.
"""
import re
import struct
import sys

KEY = bytes(range(16))
JOB, GROUP, RANK, TOKEN = 0x1122334455667788, 3, 2, 0xcafef00d12345678
NONCE, EPOCH = 0x0123456789abcdef, 0x0badcafe
VERSION = 3
MASK = (1 << 64) - 1


def siphash(key, data):
    k0, k1 = struct.unpack("<QQ", key)
    v = [k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d, k0 ^ 0x6c7967656e657261,
         k1 ^ 0x7465646279746573]

    def rotl(x, n):
        return (x << n | x >> (64 - n)) & MASK

    def rounds(n):
        for _ in range(n):
            v[0] = (v[0] + v[1]) & MASK
            v[1] = rotl(v[1], 13) ^ v[0]
            v[0] = rotl(v[0], 32)
            v[2] = (v[2] + v[3]) & MASK
            v[3] = rotl(v[3], 16) ^ v[2]
            v[0] = (v[0] + v[3]) & MASK
            v[3] = rotl(v[3], 21) ^ v[0]
            v[2] = (v[2] + v[1]) & MASK
            v[1] = rotl(v[1], 17) ^ v[2]
            v[2] = rotl(v[2], 32)

    padded = data + bytes(7 - len(data) % 8) + bytes([len(data) & 255])
    for at in range(0, len(padded), 8):
        word, = struct.unpack_from("<Q", padded, at)
        v[3] ^= word
        rounds(2)
        v[0] ^= word
    v[2] ^= 255
    rounds(4)
    return v[0] ^ v[1] ^ v[2] ^ v[3]


def message(verb, flags, epoch, seq, nonce, body, signed=True):
    def build(tag):
        return struct.pack(">4sBBHHHQHHIIQQ", b"RFCT", VERSION, verb, flags, 56 + len(body), GROUP, JOB,
                           RANK, 0, epoch, seq, TOKEN, nonce) + tag + body
    return build(struct.pack("<Q", siphash(KEY, build(bytes(8)))) if signed else bytes(8))


def vectors():
    join = struct.pack(">HBBBBBBHHIIIIIIII", 4, 1, 2, 10, 9, 5, 0xff, 2 | 4, 0, 0x0a000002, 0x11, 0x0a000003, 0x12,
                       0x123456, 0x400000, 5000, 30000)
    mirror = struct.pack(">HBBBBBBHBBIIIIIIII", 2, 8, 6, 12, 9, 9, 3, 0x40 | 0x80, 4, 0, 0x0a000002, 0x11, 0, 0,
                         0x123456, 0, 5000, 30000)
    ready = struct.pack(">BBHHBBBBHIIII", 2, 9, 4, 256, 2, 0, 1, 5, 0, 4096, 512, 5000, 0x0a000081)
    ready += bytes([0, 0, 1, 0, 2, 0, 3, 0])
    failed = struct.pack(">BBHII", 3, 4, 2, 0, 0) + bytes(16) + struct.pack(">IHBBI", 0, 0xffff, 0, 0, 0)
    disagree = struct.pack(">BBHII", 3, 31, 2, 9, 0x14004003) + bytes(16)
    disagree += struct.pack(">IHBBI", 0x0a0000fe, 1, 1, 0, 0x20004003)
    lag = struct.pack(">BBHHHHHHHIQ", 7, 9, 0, 2, 0, 2, 4, 1, 0, 700, 9)
    lag += struct.pack(">8I", 5, 0, 1, 1, 1, 2, 6, 4)
    return {
        "join": message(1, 0, 0, 6, NONCE, join),
        "mirror": message(1, 0, 0, 6, NONCE, mirror),
        "leave": message(2, 1, EPOCH, 8, NONCE, b""),
        "ready": message(1, 0x8000, EPOCH, 6, NONCE, ready),
        "failed": message(1, 0xc000, EPOCH, 6, 0, failed, signed=False),
        "disagree": message(1, 0x8000, EPOCH, 6, NONCE, disagree),
        "lag": message(3, 0x8000, EPOCH, 11, NONCE, lag),
    }


def hex_lines(data):
    return "\n".join(" ".join("%02x" % b for b in data[i:i + 16]) for i in range(0, len(data), 16))


BLOCK = re.compile(r"```\n((?:[0-9a-f]{2}[ \n])+)```")
ARRAY = r"static const uint8_t vector_%s\[\] = \{([^}]*)\};"


def main(argv):
    if len(argv) not in (2, 3):
        sys.exit(__doc__)
    paper = siphash(KEY, bytes(range(15)))
    if paper != 0xa129ca6149be45e5:
        print("the SipHash of this script is wrong: %016x" % paper)
        return 1
    with open(argv[0], encoding="utf-8") as f:
        page = f.read()
    with open(argv[1], encoding="utf-8") as f:
        test = f.read()
    made = vectors()
    if "--write" in argv:
        blocks = iter(made.values())
        page = BLOCK.sub(lambda m: "```\n" + hex_lines(next(blocks)) + "\n```", page)
        for name, data in made.items():
            text = ", ".join("0x%02x" % b for b in data)
            test = re.sub(ARRAY % name, "static const uint8_t vector_%s[] = {%s,};" % (name, text), test)
        for path, text in zip(argv, (page, test)):
            with open(path, "w", encoding="utf-8") as f:
                f.write(text)
    bad = 0
    on_page = [bytes.fromhex(m.group(1)) for m in BLOCK.finditer(page)]
    for (name, data), shown in zip(made.items(), on_page + [b""] * len(made)):
        found = re.search(ARRAY % name, test)
        listed = bytes(int(x, 16) for x in re.findall(r"0x[0-9a-f]{2}", found.group(1))) if found else b""
        for where, what in (("the page", shown), ("the test", listed)):
            if what != data:
                print("%s: %s has a different vector" % (name, where))
                bad = 1
    damaged = bytearray(made["join"])
    damaged[60] ^= 1
    if siphash(KEY, bytes(damaged[:48]) + bytes(8) + bytes(damaged[56:])) == struct.unpack("<Q", damaged[48:56])[0]:
        print("a changed byte keeps the tag")
        bad = 1
    if not bad:
        print("%d vectors: the same on the page, in the test, and made from the text" % len(made))
    return bad


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
