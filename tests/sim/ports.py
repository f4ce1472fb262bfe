#!/usr/bin/env python3
"""Ports of the real-time switch that the kernel provides: unix datagram sockets, tap, AF_PACKET.

    ports.py RINGFOLD_BOX             unix datagram sockets
    ports.py RINGFOLD_BOX namespace   all three side by side, in a network namespace of its own (root)

Frames go from every port to every other one, byte for byte; RoCE comes back from the box; TCP passes between kernels.
"""
import ctypes
import os
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "check"))
from report import FAILED, check

ETH_P_ALL = 3


def end_with_parent():
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG: the child ends with its parent


class Box:
    def __init__(self, program, *ports):
        args = [program, "--hold", "0s", "--box-ports", "2"]
        for p in ports:
            args += ["--port", p]
        self.process = subprocess.Popen(args, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        preexec_fn=end_with_parent)
        self.first = self.process.stderr.readline()
        while "warning: no hold time" in self.first:  # as asked for
            self.first = self.process.stderr.readline()

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        out, err = self.process.communicate(timeout=20)
        return out, err


class Dgram:
    """Behaves like QEMU: bound to its own path, sends to the box's."""

    def __init__(self, own, box):
        self.s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.s.bind(own)
        self.box = box

    def send(self, frame):
        self.s.sendto(frame, self.box)


class Packet:
    def __init__(self, interface):
        self.s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
        self.s.bind((interface, 0))
        self.s.setsockopt(263, 8, 1)  # SOL_PACKET, PACKET_AUXDATA: the tag that the kernel removes
        self.interface = interface

    def send(self, frame):
        self.s.send(frame)


def take(end):
    """The next received frame, with its tag reinserted."""
    if isinstance(end, Dgram):
        return end.s.recv(65536)
    data, control, _, address = end.s.recvmsg(65536, 256)
    if address[2] == socket.PACKET_OUTGOING:
        return b""
    for level, kind, value in control:
        if (level, kind) == (263, 8):
            status, _, _, _, _, tci, tpid = struct.unpack("=IIIHHHH", value[:20])
            if status & 0x10:
                data = data[:12] + struct.pack(">HH", tpid or 0x8100, tci) + data[12:]
    return data


def arrives(end, frame, seconds=5.0):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        ready, _, _ = select.select([end.s], [], [], until - time.monotonic())
        if ready and take(end) == frame:
            return True
    return False


def empty(end):
    while select.select([end.s], [], [], 0.05)[0]:
        take(end)


def mac(n):
    return bytes([2, 0, 0, 0, 0x77, n])


def frame_of(to, source, size, fill, tag=None):
    head = to + source + (struct.pack(">HH", 0x8100, tag) if tag is not None else b"") + b"\x88\xb5"
    return head + bytes((fill + i) & 255 for i in range(size - len(head)))


def all_pairs(ends):
    for i, a in enumerate(ends):  # the switch learns all addresses
        hello = frame_of(b"\xff" * 6, mac(i), 60, i)
        a.send(hello)
        for j, b in enumerate(ends):
            if j != i:
                check(f"port {i} -> {j}: a broadcast", arrives(b, hello))
    for i, a in enumerate(ends):
        for j, b in enumerate(ends):
            if i == j:
                continue
            for size, tag in ((60, None), (64, 5), (1500, None), (4154, None), (4158, 0x6007)):
                f = frame_of(mac(j), mac(i), size, i * 16 + j, tag)
                a.send(f)
                check(f"port {i} -> {j}: {size} bytes{'' if tag is None else ', with a tag'}", arrives(b, f))


def one_only(a, b, third, i, j):
    f = frame_of(mac(j), mac(i), 100, 200)
    a.send(f)
    check(f"port {i} -> {j}: no other port receives it", arrives(b, f) and not arrives(third, f, 0.2))


def sample():
    """The first packet of a capture of endpoints without ringfold."""
    with open("tests/data/rxe-sample.pcap", "rb") as f:
        f.read(24)
        _, _, length, _ = struct.unpack("<IIII", f.read(16))
        return f.read(length)


def roce_back(a, b, i, j):
    f = bytearray(sample())
    f[0:6], f[6:12] = mac(j), mac(i)
    a.send(bytes(f))
    until = time.monotonic() + 5
    while time.monotonic() < until:
        if not select.select([b.s], [], [], 0.5)[0]:
            continue
        g = take(b)
        if g[:6] == f[:6] and g[12:] == f[12:]:
            check("RoCE comes back by way of the box", g[6:11] == b"\x02\x52\x46\x00\x00", g[6:12].hex())
            return
    check("RoCE comes back by way of the box", False)


def sockets(program, folder):
    names = [f"{folder}/{n}" for n in ("a", "b", "va", "vb")]
    stale = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    stale.bind(names[0])
    stale.close()  # its file stays, without a server
    ends = [Dgram(names[2], names[0]), Dgram(names[3], names[1])]
    box = Box(program, f"a=dgram:{names[0]},to={names[2]},rule", f"b=dgram:{names[1]},to={names[3]},rule")
    check("an abandoned socket is replaced", "ready" in box.first, box.first)
    all_pairs(ends)
    roce_back(ends[0], ends[1], 0, 1)
    ends[0].send(b"short")
    ends[0].send(frame_of(mac(1), mac(0), 30, 9)[:30])
    padded = frame_of(mac(1), mac(0), 30, 9)[:30] + bytes(30)
    check("a short frame is padded as a MAC does", arrives(ends[1], padded))
    long = frame_of(mac(1), mac(0), 4353, 1)
    for size in (4353, 4400, 4416, 9000):
        ends[0].send(long[:14] + bytes(size - 14))
    f = frame_of(mac(1), mac(0), 4352, 78)
    ends[0].send(f)
    time.sleep(0.2)
    first = ends[1].s.recv(65536)
    check("a frame longer than 4352 bytes is dropped, the next one passes", first == f, len(first))
    check("the socket belongs to its user alone", os.stat(names[0]).st_mode & 0o777 == 0o600)
    second = Box(program, f"a=dgram:{names[0]},to={names[2]}")
    check("a socket in use is refused", "another process already serves the socket" in second.first, second.first)
    second.stop()
    ends[1].s.close()
    os.unlink(names[3])
    for i in range(100):
        ends[0].send(frame_of(mac(1), mac(0), 1000, i))
    time.sleep(0.3)
    check("a peer that is gone ends nothing", box.process.poll() is None)
    ends[1] = Dgram(names[3], names[1])
    ends[1].send(frame_of(mac(0), mac(1), 60, 1))
    f = frame_of(mac(1), mac(0), 80, 77)
    time.sleep(0.1)
    ends[0].send(f)
    check("a peer that is back hears", arrives(ends[1], f))
    out, _ = box.stop()
    check("... and counted", "port a: 4 frames of more than 4352 bytes were dropped" in out, out)
    check("its sockets are removed at the end", not os.path.exists(names[0]) and not os.path.exists(names[1]))
    for spec, code in (("a=dgram:/tmp/x", 2), ("a=dgram:,to=/tmp/x", 2), ("a=dgram:/nonexistent/x,to=/tmp/y", 1),
                       ("a=packet:nosuch0", 1)):
        box = Box(program, spec)
        check(f"{spec} is refused", box.process.wait(20) == code, box.first)
        box.stop()


def survivors(program, folder, spec):
    """Which of 400 numbered frames pass from the losing port to the other one, and back."""
    names = [f"{folder}/{n}" for n in ("la", "lb", "lva", "lvb")]
    ends = [Dgram(names[2], names[0]), Dgram(names[3], names[1])]
    box = Box(program, f"a=dgram:{names[0]},to={names[2]},loss={spec}", f"b=dgram:{names[1]},to={names[3]}")
    out = []
    for a, b in ((0, 1), (1, 0)):
        came = set()
        for n in range(400):
            ends[a].send(frame_of(mac(b), mac(a), 60, 0)[:14] + struct.pack(">I", n) + bytes(42))
            if n % 8 == 7:
                while select.select([ends[b].s], [], [], 0.01)[0]:
                    came.add(struct.unpack(">I", take(ends[b])[14:18])[0])
        while select.select([ends[b].s], [], [], 0.2)[0]:
            came.add(struct.unpack(">I", take(ends[b])[14:18])[0])
        out.append(came)
    box.stop()
    for e in ends:
        e.s.close()
    for n in names[2:]:
        os.unlink(n)
    return out


def losing(program, folder):
    there, back = survivors(program, folder, "30%")
    check("a port that loses 30 % does so both ways", 235 < len(there) < 325 and 235 < len(back) < 325, (len(there), len(back)))
    check("... the same frames each time", survivors(program, folder, "0.3") == [there, back])
    check("without loss all pass", [len(s) for s in survivors(program, folder, "0")] == [400, 400])
    for bad in ("100%", "-1%", "x", "", "nan"):
        box = Box(program, f"a=dgram:{folder}/q,to={folder}/r,loss={bad}")
        check(f"loss={bad} is refused", box.process.wait(20) == 2 and "percentage" in box.first, box.first)
        box.stop()


def ip(*args):
    subprocess.run(["ip", *args], check=True)


def tcp_between(server_ns):
    """A byte stream from the tap's kernel to the veth's, with checksums left to the hardware."""
    code = ("import socket\ns=socket.create_server(('10.7.0.2',7000))\nprint('up',flush=True)\n"
            "c,_=s.accept()\nd=b''\nwhile len(d)<900: d+=c.recv(900)\nc.sendall(d[::-1]);c.close()\n")
    server = subprocess.Popen(["nsenter", "-t", str(server_ns), "-n", sys.executable, "-c", code],
                              stdout=subprocess.PIPE, text=True)
    try:
        server.stdout.readline()
        data = bytes(i & 255 for i in range(900))
        with socket.create_connection(("10.7.0.2", 7000), timeout=10) as c:
            c.sendall(data)
            got = b""
            while len(got) < 900:
                more = c.recv(900)
                if not more:
                    break
                got += more
        check("TCP between two kernels", got == data[::-1])
    except OSError as error:
        check("TCP between two kernels", False, error)
    finally:
        server.kill()
        server.wait()


def namespace(program, folder):
    own, peer = f"{folder}/d", f"{folder}/vd"
    try:
        ip("link", "add", "rfv0", "type", "veth", "peer", "name", "rfv1")
        for name in ("rfv0", "rfv1"):
            ip("link", "set", name, "mtu", "4500", "up")
    except subprocess.CalledProcessError:
        print("no veth pairs here")
        sys.exit(77)
    if not os.access("/dev/net/tun", os.R_OK | os.W_OK):
        print("no /dev/net/tun here")
        sys.exit(77)
    d = Dgram(peer, own)
    box = Box(program, "t=tap:rft,rule", "p=packet:rfv0,rule", f"d=dgram:{own},to={peer},rule")
    check("the box on tap, AF_PACKET and a socket", "ready" in box.first, box.first)
    ip("link", "set", "rft", "mtu", "4500")
    ends = [Packet("rft"), Packet("rfv1"), d]
    time.sleep(0.2)
    for e in ends:
        empty(e)
    all_pairs(ends)
    one_only(ends[0], ends[1], ends[2], 0, 1)
    roce_back(ends[0], ends[2], 0, 2)
    roce_back(ends[2], ends[1], 2, 1)
    inner = subprocess.Popen(["unshare", "-n", "sleep", "60"], preexec_fn=end_with_parent)
    time.sleep(0.3)
    ends[1].s.close()
    ip("link", "set", "rfv1", "netns", str(inner.pid))
    for args in (["link", "set", "rfv1", "up"], ["addr", "add", "10.7.0.2/24", "dev", "rfv1"]):
        subprocess.run(["nsenter", "-t", str(inner.pid), "-n", "ip", *args], check=True)
    ip("addr", "add", "10.7.0.1/24", "dev", "rft")
    tcp_between(inner.pid)
    inner.kill()
    inner.wait()
    ip("link", "set", "rft", "down")
    d.send(frame_of(mac(0), mac(2), 60, 3))
    time.sleep(0.3)
    check("an interface that goes down ends nothing", box.process.poll() is None)
    box.stop()
    check("the tap goes with the box", not os.path.exists("/proc/sys/net/ipv4/conf/rft"))


def main():
    program = os.path.abspath(sys.argv[1])
    if sys.argv[2:] == ["namespace"]:
        if os.geteuid() != 0 or not shutil.which("unshare") or not shutil.which("ip"):
            print("needs root, iproute2 and unshare")
            return 77
        again = ["unshare", "-n", sys.executable, __file__, program, "inside"]
        return subprocess.run(again).returncode
    folder = tempfile.mkdtemp(prefix="ringfold-ports-")
    try:
        if sys.argv[2:] == ["inside"]:
            namespace(program, folder)
        else:
            sockets(program, folder)
            losing(program, folder)
    finally:
        shutil.rmtree(folder)
    return 1 if FAILED else 0


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(130))
    sys.exit(main())
