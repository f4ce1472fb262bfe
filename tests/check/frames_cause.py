"""Explanations of flooded frames and jumps of PSNs, derived from the other frames of the same capture.

Sources: IEEE 802.1Q (learning and ageing), docs/control-protocol.md (offsets of the control messages).
"""
import struct

MAGIC = b"RFCT"
JOIN, ABORT = 1, 4
READY, FAILED, ENDED = b"\2", b"\3", b"\5"
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
        self.connections = {}  # (address, QPN) of the receiver -> groups with their shifts
        self.live = {}  # group -> tokens of the ranks that got READY
        self.ends = {}  # group -> times, each (from when on, when seen)
        self.epoch = None  # (of the last reply, when)
        self.used = {}  # connection, place -> how many ends have passed there

    def learn(self, frames):
        for frame in frames:
            control = self.box_ip and control_of(frame.data)
            if control and control[0] == self.box_ip:
                self.reply(frame.time, control[2])
            elif control and control[1] == self.box_ip:
                self.request(frame.time, control[2])

    def end(self, group, since, seen):
        if self.live.pop(group, None):
            self.ends.setdefault(group, []).append((since, seen))

    def request(self, now, m):
        verb, group, rank = m[5], (m[12:20], m[10:12]), struct.unpack_from(">H", m, 20)[0]
        if verb == JOIN and len(m) >= 56 + 44:
            shift, = struct.unpack_from(">I", m, 56 + 32)
            self.connections.setdefault((m[76:80], m[81:84]), set()).add((group, shift))
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
