"""A simulated box with a page, and ranks of a job on it, for the tests of what a box shows."""
import atexit
import json
import os
import re
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "check"))
from report import free_port


def checksum(data):
    total = sum(struct.unpack(">%dH" % (len(data) // 2), data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


def broken_frame():
    """RoCE whose IPv4 header checksum is wrong: the box counts it as ip_checksum."""
    ip = struct.pack(">BBHHHBBHII", 0x45, 0, 48, 0, 0x4000, 64, 17, 0, 0x0a000063, 0x0a000001)
    ip = ip[:10] + struct.pack(">H", checksum(ip) ^ 0x5555) + ip[12:]
    return bytes([2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 0x63, 8, 0]) + ip + struct.pack(">HHHH", 50000, 4791, 28, 0) + bytes(20)


class Lab:
    """`ringfold box --http`, with hosts h0.. by memif and a unix socket by which frames can be sent."""

    def __init__(self, build, hosts=2, options=(), http="127.0.0.1:0", probe="probe"):
        self.build = build
        self.hosts = hosts
        self.folder = tempfile.mkdtemp(prefix="ringfold-page.")
        self.ranks = []
        args = [os.path.join(build, "bin", "ringfold-box"), "--hold", "0s", "--box-ports", str(max(2, hosts)), "--http", http]
        for h in range(hosts):
            args += ["--port", "h%d=memif:%s/%d.sock,rule" % (h, self.folder, h)]
        args += ["--port", "%s=dgram:%s/box,to=%s/probe,box=0,rule" % (probe, self.folder, self.folder), *options]
        self.process = subprocess.Popen(args, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
        atexit.register(self.stop)
        self.probe = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.probe.bind(self.folder + "/probe")
        self.probe.setblocking(False)
        self.log = []
        self.port = 0
        for line in self.process.stderr:
            self.log.append(line.strip())
            found = re.search(r"page at http://127.0.0.1:(\d+)/", line)
            self.port = int(found.group(1)) if found else self.port
            if ": ready" in line:
                break
        self.url = "http://127.0.0.1:%d" % self.port
        # The box must not wait for somebody to read what it prints.
        threading.Thread(target=lambda: self.log.extend(l.strip() for l in self.process.stderr), daemon=True).start()

    def start_rank(self, rank, *args, job=7, root=None, **settings):
        env = dict(os.environ, RF_RANK=str(rank), RF_JOB=str(job), RF_SPIN="0", RF_RETRY="100", RF_TIMEOUT="20000",
                   RF_SIZE=str(self.hosts), RF_PORT=str(root or self.root),
                   RF_DEVICE="net_memif0,role=client,id=0,socket=%s/%d.sock,socket-abstract=no" % (self.folder, rank), **settings)
        p = subprocess.Popen([os.path.join(self.build, "tests", "e2e_rank"), *args], env=env, stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL)
        self.ranks.append(p)
        return p

    def start_job(self, *args, **settings):
        self.root = free_port()
        return [self.start_rank(r, *args, **settings) for r in range(self.hosts)]

    def send_broken(self, count=1):
        for _ in range(count):
            self.probe.sendto(broken_frame(), self.folder + "/box")

    def text(self, path):
        time.sleep(0.3)  # an answer is kept for 250 ms
        with urllib.request.urlopen(self.url + path, timeout=10) as answer:
            return answer.read().decode()

    def status(self):
        return json.loads(self.text("/status.json"))

    def until(self, what, seconds=20):
        """The first status for which what(status) holds, or None."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            status = self.status()
            if what(status):
                return status
        return None

    def stop(self):
        for p in self.ranks + [self.process]:
            if p.poll() is None:
                p.terminate()
        for p in self.ranks + [self.process]:
            try:
                p.wait(5)
            except subprocess.TimeoutExpired:
                p.kill()
                p.wait()
        shutil.rmtree(self.folder, ignore_errors=True)
