"""Explanations of flooded frames and jumps of PSNs, derived from the other frames of the same capture.

Sources: IEEE 802.1Q (learning and ageing), docs/control-protocol.md (offsets of the control messages).
"""
import struct

MAGIC = b"RFCT"
JOIN, ABORT = 1, 4
WAITING, READY, FAILED, ENDED = b"\1", b"\2", b"\3", b"\5"
MIRROR, DIRECTED = 0x40, 0x80
KINDS, OPERATIONS, TYPES = 10, 7, 10
FLOATING = (0, 1, 2, 7)
NONCE = b"\x27"  # not an end: the request is repeated
NO_RANK = 0xffff
AGE = 299 * 10**9  # the switch's 300 s, minus the time of a frame between switch and box
BEFORE = 10**9  # the box ends a group before it reports it; its firmware may be delayed for that long
NEAR = 0x10000  # no sender repeats packets further back


class Switch:
    """A switch floods frames to addresses that it has not learned, among them all group addresses."""

    def __init__(self):
        self.heard = {}  # MAC -> when it was last seen as a source
        self.unknown = set()  # frames from the box to unknown addresses

    def hears(self, frame):
        self.heard[bytes(frame.data[6:12])] = frame.time

    def gets(self, frame):
        """A frame from the box enters the switch."""
        to = bytes(frame.data[:6])
        if to not in self.heard or frame.time - self.heard[to] > AGE:
            self.unknown.add(bytes(frame.data))

    def floods(self, frame):
        return bytes(frame.data) in self.unknown


def control_of(data):
    """(IP source, IP destination, message) of a control packet, or None."""
    for ip in (14, 18):
        if data[ip + 28:ip + 32] == MAGIC and len(data) >= ip + 28 + 56 and data[ip - 2:ip] == b"\x08\x00":
            return bytes(data[ip + 12:ip + 16]), bytes(data[ip + 16:ip + 20]), bytes(data[ip + 28:])
    return None


class Groups:
    """When groups of the box have ended. After that the box forwards their packets unchanged, without shifting PSNs."""

    def __init__(self, box_ip):
        self.box_ip = box_ip
        self.boxes = {box_ip}  # its address, and those of its ports that it has named
        self.mirrors = set()  # (address, QPN) of mirror ranks
        self.starts = {}  # connection of a directed group -> (start PSN, shift) of its senders
        self.connections = {}  # (address, QPN) of the receiver -> groups with their shifts
        self.live = {}  # group -> tokens of the ranks that got READY
        self.ends = {}  # group -> times, each (from when on, when seen)
        self.epoch = None  # (of the last reply, when)
        self.used = {}  # connection, place -> how many ends have passed there

    def learn(self, frames):
        for frame in frames:
            control = self.box_ip and control_of(frame.data)
            if control and control[0] in self.boxes:
                self.reply(frame.time, control[2])
            elif control and control[1] in self.boxes:
                self.request(frame.time, control[2])

    def connection_of(self, source, to, qpn):
        """The connection of a packet: the receiver's end; on a mirror connection the rank's."""
        return (source, qpn) if (source, qpn) in self.mirrors else (to, qpn)

    def joined(self, group, m):
        body = m[56:]
        flags, (start, shift) = (body[9] if m[4] >= 3 else 0), struct.unpack_from(">II", body, 28)
        connection = (body[20:24], body[25:28])
        if flags & MIRROR:
            connection = (body[12:16], body[17:20])
            self.mirrors.add(connection)
        self.connections.setdefault(connection, set()).add((group, shift))
        if flags & DIRECTED:
            self.starts.setdefault(connection, set()).add((start, shift))

    def immediate(self, connection, packet, from_box):
        """What is wrong with an immediate of a directed group, or None. packet: (PSN, immediate, bytes of payload)."""
        psn, imm, size = packet
        indexes = {(psn + (shift if from_box else 0) - start) & 15 for start, shift in self.starts.get(connection, ())}
        if not indexes:
            return None
        kind, op, dtype, gives, wants = imm >> 28, imm >> 8 & 15, imm >> 4 & 15, imm & 0x4000, imm & 0x8000
        if imm & 15 not in indexes:
            return "immediate %08x at PSN %d: not its index" % (imm, psn)
        if kind >= KINDS or op >= OPERATIONS or dtype >= TYPES or op in (3, 4, 5) and dtype in FLOATING:
            return "immediate %08x: a code that is not allowed" % imm
        if not from_box and bool(gives) != (size > 0) or from_box and size and not wants:
            return "immediate %08x with %d bytes" % (imm, size)
        return None

    def end(self, group, since, seen):
        if self.live.pop(group, None):
            self.ends.setdefault(group, []).append((since, seen))

    def request(self, now, m):
        verb, group, rank = m[5], (m[12:20], m[10:12]), struct.unpack_from(">H", m, 20)[0]
        if verb == JOIN and len(m) >= 56 + 44:
            self.joined(group, m)
        elif verb == ABORT and len(m) >= 56 + 16 and rank == NO_RANK:
            self.end((m[64:72], m[60:62]), now, now)
        elif verb == ABORT and m[32:40] in self.live.get(group, ()):
            self.end(group, now, now)

    def reply(self, now, m):
        epoch, group, token = m[24:28], (m[12:20], m[10:12]), m[32:40]
        if self.epoch and self.epoch[0] != epoch:  # the box has restarted
            for other in list(self.live):
                self.end(other, self.epoch[1], now)
        self.epoch = (epoch, now)
        result, reason = m[56:57], m[57:58]
        at = {WAITING: 84, READY: 80}.get(result)
        if at and m[4] >= 3 and any(m[at:at + 4]):
            self.boxes.add(m[at:at + 4])
        if result == READY:
            self.live.setdefault(group, set()).add(token)
        elif token not in self.live.get(group, ()):
            return
        elif result == ENDED or result == FAILED and m[5] == JOIN and reason != NONCE:
            self.end(group, now - BEFORE, now)

    def passed(self, frame, connection, begins):
        """How many ends of its groups a connection has passed."""
        ends = sorted(end for group, _ in self.connections.get(connection, ()) for end in self.ends.get(group, ()))
        return sum(frame.time >= (seen if begins else since) for since, seen in ends)

    def begins(self, frame, key, connection):
        """Notes the first packet of a connection at one place."""
        self.used[key] = self.passed(frame, connection, True)

    def explains(self, frame, key, connection, ahead):
        """Whether PSNs may jump by this distance: once for each end of the group, by its shift."""
        passed = self.passed(frame, connection, False)
        if passed <= self.used.get(key, 0):
            return False
        shifts = {shift for _, shift in self.connections[connection]}
        if not any((ahead + sign * shift + NEAR) & 0xffffff < 2 * NEAR for shift in shifts for sign in (1, -1)):
            return False
        self.used[key] = passed
        return True
