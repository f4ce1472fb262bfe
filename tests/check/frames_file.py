"""Captures as lists of frames: pcapng and pcap, any byte order, micro- or nanoseconds."""
import mmap
import re
import struct

from frames_cause import control_of

IN, OUT = 1, 2


class BadFile(Exception):
    pass


class Frame:
    """One frame of a capture. number counts from 1 over the whole file, as capture viewers do."""

    def __init__(self, number, interface, name, direction, data, cut, time=0):
        self.number, self.interface, self.name = number, interface, name
        self.direction, self.data, self.cut, self.time = direction, bytearray(data), cut, time  # ns
        self.left_out = False  # not in the sample: read only because it explains other frames
        self.behind_gap = 0  # the sample has a gap before this frame; number of frames from which the state is learned
        box = re.fullmatch(r"box(\d+)", name)
        self.box_port = int(box.group(1)) if box else None


def options(blob, order):
    """The options of a pcapng block: {code: first value}."""
    found, at = {}, 0
    while at + 4 <= len(blob):
        code, length = struct.unpack_from(order + "HH", blob, at)
        if code == 0:
            break
        found.setdefault(code, blob[at + 4:at + 4 + length])
        at += 4 + (length + 3) // 4 * 4
    return found


def ends_of(items, most, says):
    """The sample of a long capture: (item, whether it is left out). Items left out are included if they explain others."""
    if not most or len(items) <= most:
        return [(item, False) for item in items]
    first, last = most // 2, len(items) - most // 2
    return [(item, first <= n < last) for n, item in enumerate(items) if not first <= n < last or says(item)]


def nanoseconds(blob):
    """The unit of time in the option if_tsresol, in ns: (factor, divisor)."""
    power = blob[0] if blob else 6
    return (10**9, 1 << (power & 127)) if power & 128 else (10**9, 10**power)


def blocks(data, torn):
    """The packet blocks: (number, byte order, interfaces with their units of time, first byte, last byte)."""
    order, at, number, interfaces = "<", 0, 0, []
    while at < len(data):
        if len(data) - at < 12 and not torn:
            raise BadFile("ends inside a block")
        if len(data) - at < 12:
            return
        kind, = struct.unpack_from(order + "I", data, at)
        if kind == 0x0a0d0d0a:
            order = "<" if data[at + 8:at + 12] == b"\x4d\x3c\x2b\x1a" else ">"
            interfaces = []
        length, = struct.unpack_from(order + "I", data, at + 4)
        if torn and at + length > len(data):
            return
        if length < 12 or length % 4 or at + length > len(data):
            raise BadFile("block of impossible length at byte %d" % at)
        if struct.unpack_from(order + "I", data, at + length - 4)[0] != length:
            raise BadFile("block at byte %d: its two lengths differ" % at)
        if kind == 1:
            link, = struct.unpack_from(order + "H", data, at + 8)
            if link != 1:
                raise BadFile("interface %d is not Ethernet" % len(interfaces))
            extra = options(data[at + 16:at + length - 4], order)
            name = extra.get(2, b"").decode("utf-8", "replace").rstrip("\0")
            interfaces.append((name, nanoseconds(extra.get(9, b""))))
        elif kind == 6:
            number += 1
            yield number, order, interfaces, at + 8, at + length - 4
        at += length


def read_pcapng(data, most, torn):
    def says(item):
        return control_of(data[item[3] + 20:item[4]]) is not None

    for (number, order, interfaces, first, last), left_out in ends_of(list(blocks(data, torn)), most, says):
        body = data[first:last]
        interface, high, low, captured, original = struct.unpack_from(order + "IIIII", body, 0)
        if interface >= len(interfaces) or 20 + captured > len(body):
            raise BadFile("frame %d: no such interface, or it ends early" % number)
        extra = options(body[20 + (captured + 3) // 4 * 4:], order)
        direction = struct.unpack(order + "I", extra[2])[0] & 3 if len(extra.get(2, b"")) == 4 else 0
        name, (factor, divisor) = interfaces[interface]
        frame = Frame(number, interface, name, direction, body[20:20 + captured], captured != original,
                      (high << 32 | low) * factor // divisor)
        frame.left_out = left_out
        yield frame


def read_pcap(data):
    order = {b"\xd4\xc3\xb2\xa1": "<", b"\x4d\x3c\xb2\xa1": "<", b"\xa1\xb2\xc3\xd4": ">",
             b"\xa1\xb2\x3c\x4d": ">"}[data[:4]]
    if len(data) < 24 or struct.unpack_from(order + "I", data, 20)[0] & 0xffff != 1:
        raise BadFile("not Ethernet")
    at, number, unit = 24, 0, 1 if b"\x4d\x3c" in (data[:2], data[2:4]) else 1000
    while at < len(data):
        number += 1
        if len(data) - at < 16:
            raise BadFile("frame %d: header ends early" % number)
        seconds, parts, captured, original = struct.unpack_from(order + "IIII", data, at)
        if at + 16 + captured > len(data):
            raise BadFile("frame %d ends early" % number)
        yield Frame(number, 0, "", 0, data[at + 16:at + 16 + captured], captured != original,
                    seconds * 10**9 + parts * unit)
        at += 16 + captured


def read(path, most=0, torn=False):
    try:
        with open(path, "rb") as stream:
            start = stream.read(4)
            data = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) if start else b""
    except OSError as error:
        raise BadFile(error.strerror) from None
    if start == b"\x0a\x0d\x0d\x0a":
        found = list(read_pcapng(data, most, torn))
    elif start in (b"\xd4\xc3\xb2\xa1", b"\x4d\x3c\xb2\xa1", b"\xa1\xb2\xc3\xd4", b"\xa1\xb2\x3c\x4d"):
        found = []
        for frame, frame.left_out in ends_of(list(read_pcap(data)), most, lambda frame: control_of(frame.data)):
            found.append(frame)
    else:
        raise BadFile("neither pcapng nor pcap")
    judged = [frame for frame in found if not frame.left_out]
    for before, frame in zip(judged, judged[1:]):
        frame.behind_gap = most // 4 if frame.number > before.number + 1 else 0
    return found
