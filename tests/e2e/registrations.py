#!/usr/bin/env python3
"""Wrong registrations by an operator: three programs that know nothing of ringfold, one box process, `ringfold ctl`.

    registrations.py BUILD

The programs repeat their first packet. Where send= and recv= are exchanged, one recv= is wrong, or one of three ranks is not
registered, the group ends in WRONG_QPN, `ctl ranks` names rank, address and queue pair, and no program receives raw data. With the
right values all receive the sum; with --others pass a wrong value is not noticed, which shows that raw data would arrive.
"""
import os
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "check"))
import frames  # noqa: E402
from report import FAILED, check  # noqa: E402

HOSTS = 3
SEND, RECV = 0x11, 0x12
PSN = 1000


def address(host):
    return f"10.0.0.{host + 1}"


def mac(host):
    return bytes([2, 0, 0, 0, 1, host + 1])


def data(host, ranks):
    """The first packet of a host's program: 256 times its number, to the next host's queue pair."""
    to = (host + 1) % ranks
    bth = bytes([0x04, 0x40, 0xff, 0xff]) + struct.pack(">II", RECV + 0x100 * to, 1 << 31 | PSN + host)
    body = bth + struct.pack("<256I", *[host + 1] * 256)
    udp = struct.pack(">HHHH", 50000, 4791, 8 + len(body) + 4, 0)
    ip = bytearray(struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + 8 + len(body) + 4, 0, 0x4000, 64, 17, 0,
                               socket.inet_aton(address(host)), socket.inet_aton(address(to))))
    struct.pack_into(">H", ip, 10, ~frames.inet_sum(ip) & 0xffff)
    packet = bytes(ip) + udp + body
    return mac(to) + mac(host) + b"\x08\x00" + packet + frames.icrc(packet)


class Lab:
    def __init__(self, build, folder):
        self.ctl = os.path.join(build, "bin", "ringfold-ctl")
        self.folder, self.hosts = folder, []
        args = [os.path.join(build, "bin", "ringfold-box"), "--hold", "0s", "--box-ports", "4"]
        for n in range(HOSTS):
            s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            s.bind(f"{folder}/h{n}")
            s.setblocking(False)
            self.hosts.append(s)
            args += ["--port", f"h{n}=dgram:{folder}/b{n},to={folder}/h{n},rule"]
        args += ["--port", f"ctl=memif:{folder}/ctl.sock,rule"]
        self.log = open(f"{folder}/box.log", "w+")
        self.box = subprocess.Popen(args, stderr=self.log, stdout=self.log)
        for _ in range(200):
            with open(f"{folder}/box.log") as log:
                if "ready" in log.read():
                    return
            time.sleep(0.05)
        raise SystemExit("the box does not start")

    def stop(self):
        self.box.send_signal(signal.SIGINT)
        self.box.wait(20)

    def ask(self, *args):
        device = f"net_memif0,role=client,id=0,socket={self.folder}/ctl.sock,socket-abstract=no"
        r = subprocess.run([self.ctl, *args, "--device", device, "--ip", "10.0.0.77", "--box", "10.0.0.254"],
                           capture_output=True, text=True, timeout=60, check=False)
        return r.returncode, r.stdout + r.stderr

    def join(self, job, ranks, *more):
        args = ["join", "--job", str(job), "--dtype", "int32", "--op", "sum", "--mtu", "1024", "--slots", "16"]
        for n, (send, recv) in enumerate(ranks):
            args += ["--rank", f"{address(n)},send={send + 0x100 * n},psn={PSN + n},recv={recv + 0x100 * n},port={n}"]
        code, said = self.ask(*args, *more)
        check(f"job {job} is registered", code == 0, said)

    def programs(self, ranks):
        """Each sends its packet ten times; the values that each host received as data."""
        got = [[] for _ in range(HOSTS)]
        for _ in range(10):
            for n in range(ranks):
                self.hosts[n].sendto(data(n, ranks), f"{self.folder}/b{n}")
            time.sleep(0.03)
            for n, s in enumerate(self.hosts):
                try:
                    while True:
                        frame = s.recv(4096)
                        if frame[:6] == mac(n) and frame[12:14] == b"\x08\x00" and frame[23] == 17 and frame[42] == 4:
                            got[n].append(struct.unpack_from("<I", frame, 54)[0])
                except BlockingIOError:
                    pass
        return got


def wrong(build, job, text, registered, ranks, rank, to):
    with tempfile.TemporaryDirectory() as folder:
        lab = Lab(build, folder)
        lab.join(job, registered)
        got = lab.programs(ranks)
        code, said = lab.ask("ranks", str(job))
        name = f"WRONG_QPN: a rank sends on a connection that is not registered (rank {rank}): it sends to " \
               f"{address(to)}, queue pair {RECV + 0x100 * to}:"
        check(f"{text}: named", code != 0 and name in said, said)
        check(f"{text}: nothing raw", got == [[]] * HOSTS, got)
        lab.stop()


def main():
    build = sys.argv[1]
    good = (SEND, RECV)
    wrong(build, 21, "send= and recv= exchanged", [(RECV, SEND)] * 3, 3, 0, 1)
    wrong(build, 22, "one wrong recv=", [good, good, (SEND, RECV + 5)], 3, 1, 2)
    wrong(build, 23, "two of three registered", [good, good], 3, 1, 2)
    with tempfile.TemporaryDirectory() as folder:
        lab = Lab(build, folder)
        lab.join(24, [good] * 3)
        got = lab.programs(3)
        check("right values: every program has the sum", all(g and set(g) == {6} for g in got), got)
        check("... and the group is ready", lab.ask("ranks", "24")[0] == 0)
        lab.stop()
    with tempfile.TemporaryDirectory() as folder:
        lab = Lab(build, folder)
        lab.join(25, [good, good, (SEND, RECV + 5)], "--others", "pass")
        got = lab.programs(3)
        check("--others pass: strays pass, and this test sees raw data", got[2] == [2] * 10, got)
        lab.stop()
    sys.exit(1 if FAILED else 0)


main()
