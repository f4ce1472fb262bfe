#!/usr/bin/env python3
"""ringfoldd over a file used in place of the mapped registers; this program simulates the hardware.

usage: ringfoldd.py BUILD/bin/ringfoldd
"""
import atexit
import json
import mmap
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(ROOT, "tests", "check"))
from ctl_vectors import siphash
from report import FAILED, check

BYTES = 0x180000
CTRL, MAC_HI, MAC_LO, IP = 0x20, 0x24, 0x28, 0x2c
PUNT_STATUS, PUNT_POP, INJECT = 0x60, 0x64, 0x68
LAG_STATUS, LAG_CYCLES = 0x74, 0x78
PUNT_DATA, INJECT_DATA, GROUP = 0x20000, 0x21000, 0x4000
KEY = bytes(range(16))
JOB = 0xfedcba9876543211  # a browser's numbers cannot hold it
class Box:
    """The registers: 4 ports, 1 lane, 512 bits, 2^8 places, 8 groups."""

    def __init__(self, path):
        with open(path, "wb") as f:
            f.truncate(BYTES)
        self.file = open(path, "r+b")
        self.map = mmap.mmap(self.file.fileno(), BYTES)
        for addr, value in ((0, 0x52464258), (4, 1), (8, 4 | 1 << 8 | 8 << 16 | 8 << 20 | 7 << 25),
                            (12, 8 | 13 << 8 | 9 << 16 | 12 << 24), (16, 250000), (20, 15), (CTRL, 2)):
            self.write(addr, value)

    def read(self, addr):
        return struct.unpack_from("<I", self.map, addr)[0]

    def write(self, addr, value):
        struct.pack_into("<I", self.map, addr, value)

    def punt(self, port, frame):
        """Submits a frame and returns the next frame sent by the firmware."""
        frame += bytes(60 - len(frame)) if len(frame) < 60 else b""
        # A file is not hardware: the previous frame may be read again until its STATUS is cleared. Wait for that.
        time.sleep(0.05)
        self.map[PUNT_DATA:PUNT_DATA + len(frame)] = frame
        self.write(PUNT_POP, 0)
        self.write(INJECT, 0)
        self.write(PUNT_STATUS, 1 << 31 | port << 24 | len(frame))
        self.until(lambda: self.read(PUNT_POP) == 1)
        self.write(PUNT_STATUS, 0)
        self.until(lambda: self.read(INJECT) != 0)
        length = self.read(INJECT) & 0xffff
        return bytes(self.map[INJECT_DATA:INJECT_DATA + length])

    @staticmethod
    def until(what, seconds=5):
        end = time.monotonic() + seconds
        while not what():
            if time.monotonic() > end:
                return False
            time.sleep(0.001)
        return True


def arp(host):
    return (b"\xff" * 6 + bytes([2, 0, 0, 0, 0, host]) + struct.pack(">HHHBBH", 0x0806, 1, 0x0800, 6, 4, 1) +
            bytes([2, 0, 0, 0, 0, host, 10, 0, 0, host]) + bytes(6) + bytes([10, 0, 0, 254]))


def checksum(data):
    total = sum(struct.unpack(">%dH" % (len(data) // 2), data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


def join(rank, nonce, seq, key=KEY):
    """JOIN of one of two ranks, hosts 10.0.0.1 and .2."""
    host = rank + 1
    body = struct.pack(">HBBBBBBHHIIIIIIII", 2, 0, 0, 10, 6, 6, 0xff, 4, 0, 0x0a000000 + host, 0x11 + rank,
                       0x0a000000 + 3 - host, 0x12 - rank, 7, 0x400000, 3600000, 60000)

    def build(tag):
        return struct.pack(">4sBBHHHQHHIIQQ", b"RFCT", 3, 1, 0, 56 + len(body), 1, JOB, rank, 0, 0, seq,
                           900 + rank, nonce) + tag + body

    message = build(struct.pack("<Q", siphash(key, build(bytes(8)))))
    ip = struct.pack(">BBHHHBBHII", 0x45, 0, 28 + len(message), 0, 0x4000, 64, 17, 0, 0x0a000000 + host, 0x0a0000fe)
    ip = ip[:10] + struct.pack(">H", checksum(ip)) + ip[12:]
    udp = struct.pack(">HHHH", 50000, 4791, 8 + len(message), 0)
    return bytes([2, 0x52, 0x46, 0, 0, 0x10, 2, 0, 0, 0, 0, host, 8, 0]) + ip + udp + message


def get(port, path, method="GET"):
    time.sleep(0.3)  # an answer is kept for 250 ms
    request = urllib.request.Request("http://127.0.0.1:%d%s" % (port, path), method=method)
    try:
        with urllib.request.urlopen(request, timeout=5) as answer:
            return answer.status, answer.headers["Content-Type"], answer.read().decode()
    except urllib.error.HTTPError as e:
        return e.code, "", e.read().decode()


def config(path, text):
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    return path


def test_config(program, folder):
    path = os.path.join(folder, "bad.ini")
    good = "[box]\nregisters = /nowhere\nip = 10.0.0.254\nmac = 02:52:46:00:00:10\n"
    for text, want in ((good + "[box]\ncolour = red\n", "bad.ini:6: no such key in [box]: colour"),
                       ("[boxes]\nip = 1.2.3.4\n", "bad.ini:1: no such section: [boxes]"),
                       (good + "hold_ms = -1\n", "bad.ini:5: hold_ms = -1 is not allowed: expected a whole number from 0 to"),
                       (good + "ip = 10.0.0.9\n", "bad.ini:5: ip is set twice"),
                       (good + "interrupt = never\n", "bad.ini:5: interrupt = never is not allowed: expected one of uio|poll"),
                       (good + "nothing\n", "bad.ini:5: expected"),
                       (good + "[jbos]\n", "bad.ini:5: no such section: [jbos]"),
                       (good + "[boxe]\nhold_ms = -1\n", "bad.ini:5: no such section: [boxe]"),
                       (good + "nothing\n[jbos]\n", "bad.ini:5: expected"),
                       (good + "hold_ms = 08x\n", "bad.ini:5: hold_ms = 08x is not allowed: expected a whole number"),
                       (good + "hold_ms = 0x\n", "bad.ini:5: hold_ms = 0x is not allowed: expected a whole number"),
                       # 10 and not 8, which would be too small.
                       (good + "poll_us = 010\n[http]\nlisten = x\n", "[http] listen: \"x\": expected ADDRESS:PORT"),
                       (good.replace("02:52", "03:52"), "[box] mac: not a valid base address"),
                       (good.replace("ip = 10.0.0.254\n", ""), "[box] ip is not set"),
                       (good.replace("254", "256"), "bad.ini:3: ip = 10.0.0.256 is not allowed"),
                       (good.replace("10.0.0.254", "224.0.0.1"), "ip = 224.0.0.1 is not allowed: expected a dotted IPv4 address"),
                       (good + "[http]\nlisten = 127.0.0.1\n", "[http] listen: \"127.0.0.1\": expected ADDRESS:PORT"),
                       (good + "[http]\nlisten = 127.0.0.1:65536\n", "[http] listen: \"127.0.0.1:65536\": expected"),
                       (good + "prefix = 33\n", "bad.ini:5: prefix = 33 is not allowed: expected a whole number from 0 to 32"),
                       (good + "gateway = 127.0.0.1\n", "gateway = 127.0.0.1 is not allowed: expected a dotted IPv4 address"),
                       (good + "probe_ms = 60001\n", "probe_ms = 60001 is not allowed: expected a whole number from 0 to 60000"),
                       (good + "announce_ms = -1\n", "announce_ms = -1 is not allowed: expected a whole number"),
                       (good + "port_ips = 10.0.0.1,x\n", "port_ips = 10.0.0.1,x is not allowed: expected next, none, or at most 8"),
                       (good + "port_ips = 10.0.0.1,,10.0.0.2\n", "port_ips = 10.0.0.1,,10.0.0.2 is not allowed: expected next, none, or at most 8"),
                       (good + "port_ips = 10.0.0.1,\n", "port_ips = 10.0.0.1, is not allowed: expected next, none, or at most 8"),
                       (good + "port_ips = 10.0.0.1 10.0.0.2\n", "is not allowed: expected next, none, or at most 8"),
                       (good + "port_ips = fe80::1\n", "dotted IPv4 addresses of hosts; ringfold has no IPv6"),
                       (good.replace("10.0.0.254", "10.0.0.255") + "prefix = 24\n", "[box] the box's own address cannot be a host's"),
                       (good + "port_ips = -,-,-,-,-,-,-,-,-\n", "is not allowed: expected next, none, or at most 8"),
                       (good + "port_ips = 10.0.0.1,10.0.0.1\n", "[box] two ports have the same address"),
                       (good + "port_ips = 10.0.0.1,10.0.1.1\nprefix = 24\n", "[box] the address of a port is not in the box's subnet"),
                       (good + "port_ips = 10.0.0.1\ngateway = 10.0.1.1\nprefix = 24\n", "[box] the gateway is not another host in the box's subnet"),
                       (good + "port_ips = 10.0.0.254\n", "[box] a port has the box's own address"),
                       (good + "port_ips = 10.0.0.1\ngateway = 10.0.0.1\nprefix = 24\n", "[box] a port has the gateway's address"),
                       (good.replace("10.0.0.254", "fe80::1"), "expected a dotted IPv4 address of a host; ringfold has no IPv6"),
                       # A long comment does not continue as a setting.
                       (good + "# " + "x" * 197 + "hold_ms = 1\n", "bad.ini:5: the line is longer than 198 bytes"),
                       (good + "hold_ms = 1\0000\n", "bad.ini:5: a NUL byte"),
                       (good + "[jobs]\nkeys = /etc/keys ;1\n", "bad.ini:6: \";\" after a space begins a comment")):
        run = subprocess.run([program, "--config", config(path, text), "--check"], capture_output=True, text=True)
        check("config: %s" % want, run.returncode == 2 and want in run.stderr)
        if want not in run.stderr:
            print(run.stderr)
    run = subprocess.run([program, "--config", folder, "--check"], capture_output=True, text=True)
    check("config: a folder", run.returncode == 2 and "Is a directory" in run.stderr)
    for more in ("port_ips = none", "port_ips = 10.0.0.1, -,10.0.0.3 \nprefix = 24\ngateway = 10.0.0.9", "port_ips = next\nprobe_ms = 0"):
        run = subprocess.run([program, "--config", config(path, good + more + "\n"), "--check"])
        check("config: %s" % more.replace("\n", ", "), run.returncode == 0)
    run = subprocess.run([program, "--config", config(path, good), "--check"])
    check("config: a good one", run.returncode == 0)
    made = subprocess.run([program, "--defaults"], capture_output=True, text=True).stdout
    with open(os.path.join(ROOT, "ringfoldd", "ringfoldd.ini"), encoding="utf-8") as f:
        check("config: ringfoldd.ini shows every setting", f.read() == made)
    # Every line is accepted once mandatory settings are uncommented.
    filled = re.sub("#(registers|keys) = ", r"\1 = /x", made).replace("#ip = ", "ip = 10.0.0.1").replace("#gateway = ", "gateway = 10.0.0.9")
    filled = filled.replace("#mac = ", "mac = 02:00:00:00:00:00").replace("keys = /x", "keys =")
    run = subprocess.run([program, "--config", config(path, filled), "--check"], capture_output=True, text=True)
    check("config: all of it can be read back", run.returncode == 0)


class Service:
    def __init__(self, program, folder, extra=""):
        self.box = Box(os.path.join(folder, "registers"))
        self.keys = os.path.join(folder, "keys")
        config(self.keys, "0 %s\n%d %s groups=2\n" % ("ab" * 16, JOB, KEY.hex()))
        os.chmod(self.keys, 0o600)
        path = config(os.path.join(folder, "good.ini"), """[box]
registers = %s
interrupt = poll
clock = host
ip = 10.0.0.254
mac = 02:52:46:00:00:10
[jobs]
keys = %s
[http]
listen = 127.0.0.1:0
%s""" % (os.path.join(folder, "registers"), self.keys, extra))
        self.process = subprocess.Popen([program, "--config", path], stderr=subprocess.PIPE, text=True)
        atexit.register(self.process.kill)  # even if this program fails
        line = self.process.stderr.readline()
        found = re.search(r"http port (\d+)", line)
        self.port = int(found.group(1)) if found else 0
        check("started: %s" % line.strip(), self.port > 0)


def test_metrics(port):
    status, kind, text = get(port, "/metrics")
    check("/metrics: content type", status == 200 and kind.startswith("text/plain; version=0.0.4"))
    sample = re.compile(r'^([a-z0-9_]+)(\{[a-z]+="[A-Za-z0-9_ .+-]+"(?:,[a-z]+="[A-Za-z0-9_ .+-]+")*\})? (\d+(\.\d+)?(e-\d+)?)$')
    values = {}
    types = set()
    for line in text.splitlines():
        if line.startswith("# TYPE "):
            types.add(line.split()[2])
        elif not line.startswith("# HELP "):
            found = sample.match(line)
            name = re.sub("_(bucket|sum|count)$", "", found.group(1)) if found else ""
            if not found or not {name, found.group(1)} & types or found.group(1) + (found.group(2) or "") in values:
                check("/metrics: line %r" % line, False)
                continue
            values[found.group(1) + (found.group(2) or "")] = float(found.group(3))
    with open(os.path.join(ROOT, "rtl", "control", "registers.txt"), encoding="utf-8") as f:
        table = f.read()
    counters = re.findall(r"^counter (\w+)", table, re.M)
    firmware = re.findall(r"^firmware (\w+)", table, re.M)
    missing = [c for c in counters for p in range(4) if 'ringfold_port_%s_total{port="%d"}' % (c, p) not in values]
    check("/metrics: all %d counters of 4 ports" % len(counters), not missing)
    check("/metrics: all %d counters of the firmware" % len(firmware),
          len(firmware) > 20 and all("ringfold_firmware_%s_total" % c in values for c in firmware))
    test_lag_metrics(values)
    check("/metrics: what was set in the hardware", values['ringfold_port_rx_frames_total{port="2"}'] == 4711)
    check("/metrics: two JOINs", values["ringfold_firmware_join_total"] >= 2)
    check("/metrics: one group ready", values['ringfold_groups{state="ready"}'] == 1)
    check("/metrics: refusals by reason", values['ringfold_refused_total{reason="TAG"}'] >= 1)


def test_lag_metrics(values):
    group = 'job="%d",group="1",hardware="0"' % JOB
    bucket = 'ringfold_group_lag_seconds_bucket{%s,le="%%s"}' % group
    count = values["ringfold_group_lag_seconds_count{%s}" % group]
    check("/metrics: %d measurements of 100 us, in their bucket and the higher ones" % count,
          count > 3 and values[bucket % "6.4e-05"] == 0 and values[bucket % "0.000128"] == count and
          values[bucket % "+Inf"] == count)
    check("/metrics: their sum", abs(values["ringfold_group_lag_seconds_sum{%s}" % group] - count * 1e-4) < 1e-9)
    rank = '{%s,rank="%%d"}' % group
    check("/metrics: rank 1 was the last each time", values["ringfold_rank_last_total" + rank % 1] == count and
          values["ringfold_rank_last_total" + rank % 0] == 0)
    check("/metrics: by so much", values["ringfold_rank_lag_max_seconds" + rank % 1] == 1e-4)
    check("/metrics: rank 1 is awaited", values["ringfold_rank_awaited_seconds" + rank % 1] >= 0.5 and
          values["ringfold_rank_awaited_seconds" + rank % 0] == 0)


def test_page(port, folder):
    status, kind, text = get(port, "/")
    check("/: the page", status == 200 and "text/html" in kind and "ringfold box" in text)
    chromium = shutil.which("chromium")
    if not chromium:
        print("      (no Chromium here: the page's script is not run)")
        return
    dom = subprocess.run([chromium, "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=3000",
                          "--user-data-dir=" + os.path.join(folder, "chromium"), "--dump-dom",
                          "http://127.0.0.1:%d/" % port], capture_output=True, text=True, timeout=60).stdout
    for what in ('job %d, group 1 <span class="soft">ready</span>' % JOB, "4711", "slots free", "10.0.0.1</text>",
                 "last: rank 1: ", "by 100 us at most", "came 100 us after the first on average", "waits for rank 1, for ",
                 'title="64 us to 128 us: '):
        check("/: shows %s" % what, what in dom)


def test_service(program, folder):
    s = Service(program, folder)
    box = s.box
    check("MAC and address", (box.read(MAC_HI), box.read(MAC_LO), box.read(IP)) == (0x0252, 0x46000010, 0x0a0000fe))
    check("enabled, with hold", box.read(CTRL) == 3)
    with open("/proc/%d/limits" % s.process.pid, encoding="utf-8") as limits:
        core = [line.split()[4:6] for line in limits if line.startswith("Max core file size")]
    check("no core dump can contain the keys", core == [["0", "0"]])
    answer = box.punt(1, arp(1))
    check("ARP is answered", answer[20:22] == b"\0\2" and answer[28:32] == bytes([10, 0, 0, 254]))
    nonce, = struct.unpack_from(">Q", answer, 46)
    answer = box.punt(1, join(0, nonce, 1, key=bytes(16)))
    check("a wrong key is refused", answer[42 + 56:42 + 58] == bytes([3, 4]))
    answer = box.punt(1, join(0, nonce, 2))
    check("the first rank waits", answer[42 + 56] == 1)
    nonce, = struct.unpack_from(">Q", box.punt(2, arp(2)), 46)
    answer = box.punt(2, join(1, nonce, 2))
    check("the second rank is let in (answer %d)" % answer[42 + 56], answer[42 + 56] in (1, 2))
    check("the group is live in the hardware", Box.until(lambda: box.read(GROUP) & 1))
    box.write(0x2000 + 2 * 0x200, 4711)
    status = json.loads(get(s.port, "/status.json")[2])
    group = status["groups"][0]
    check("/status.json: the group", (group["job"], group["state"], group["slots"]) == (str(JOB), "ready", 64))
    check("/status.json: its ranks", [(m["rank"], m["port"], m["ip"]) for m in group["members"]] ==
          [(0, 1, "10.0.0.1"), (1, 2, "10.0.0.2")])
    # Rank 0 is three packets ahead of rank 1: the box waits for rank 1.
    box.write(0x100000 + 0x40 * 1 + 0x000020, 3)
    group = json.loads(get(s.port, "/status.json")[2])["groups"][0]
    check("/status.json: who is awaited", group["straggler"] == 1)
    # And the hardware measures repeatedly that rank 1 was last by 100 us.
    box.write(LAG_CYCLES, 25000)
    box.write(LAG_STATUS, 1 << 31 | 2)
    time.sleep(0.8)
    group = json.loads(get(s.port, "/status.json")[2])["groups"][0]
    check("/status.json: since when", group["awaited_ms"] >= 500)
    check("/status.json: who was the last", group["members"][1]["last"] > 3 and group["members"][0]["last"] == 0)
    check("/status.json: by how much", group["lag"]["mean_us"] == 100 and
          group["lag"]["bins"][7] == group["lag"]["measurements"])
    test_metrics(s.port)
    test_page(s.port, folder)
    test_cache(s.port)
    check("unknown page", get(s.port, "/nothing")[0] == 404)
    check("POST", get(s.port, "/metrics", "POST")[0] == 405)
    config(s.keys, "not a key\n")
    s.process.send_signal(signal.SIGHUP)
    line = s.process.stderr.readline()
    check("HUP with bad keys: %s" % line.strip(), "keys:1:" in line and KEY.hex() not in line)
    for words, cause in (("ips=10.0.0.1/24", "a prefix has bits"), ("ports=0-8", "ports=: numbers"),
                         ("ranks=8 ranks=9", "a limit twice"), ("bytes=1T", "a number is out of range or malformed")):
        config(s.keys, "# first\n%d %s %s\n" % (JOB, KEY.hex(), words))
        s.process.send_signal(signal.SIGHUP)
        line = s.process.stderr.readline()
        check("HUP with %s: %s" % (words, line.strip()), "keys:2:" in line and cause in line and KEY.hex() not in line)
    config(s.keys, "%d %s groups=2 ranks=8 entries=32 bytes=64K ips=10.0.0.0/16 ports=0-3\n" % (JOB, KEY.hex()))
    s.process.send_signal(signal.SIGHUP)
    check("HUP with good ones", "1 keys read" in s.process.stderr.readline())
    s.process.send_signal(signal.SIGTERM)
    check("ends within two seconds", s.process.wait(2) == 0)
    check("the group is dead, the box forwards nothing", box.read(GROUP) & 1 == 0 and box.read(CTRL) == 2)
    check("the stop is logged", "stopped" in s.process.stderr.read())


def test_cache(port):
    """Whoever asks within 250 ms gets the same answer."""
    get(port, "/status.json")
    answers = [urllib.request.urlopen("http://127.0.0.1:%d/status.json" % port, timeout=5).read() for _ in range(3)]
    check("answers within 250 ms are the same", answers[0] == answers[1] or answers[1] == answers[2])
    check("later ones are not", get(port, "/status.json")[2].encode() != answers[2])


class Slow:
    """60 connections from some addresses, each of which sends a byte of its request per second."""

    def __init__(self, port, addresses):
        self.sockets = []
        for n in range(60):
            s = socket.socket()
            s.bind(("127.0.0.%d" % (1 + n % addresses), 0))
            s.settimeout(3)
            s.connect(("127.0.0.1", port))
            self.sockets.append(s)
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        for byte in b"GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n":
            for s in list(self.sockets):
                try:
                    s.send(bytes([byte]))
                except OSError:
                    self.sockets.remove(s)
            if self.over.wait(1):
                return

    def stop(self):
        self.over.set()
        self.thread.join()
        for s in self.sockets:
            s.close()


def seconds_until_answer(port, source, limit=12):
    """How long it takes to get /metrics; the client tries again when its connection is refused."""
    begin = time.monotonic()
    while time.monotonic() < begin + limit:
        try:
            s = socket.create_connection(("127.0.0.1", port), begin + limit - time.monotonic(), (source, 0))
            with s:
                s.sendall(b"GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
                if s.recv(100).startswith(b"HTTP/1.1 200"):
                    return time.monotonic() - begin
        except OSError:
            pass
        time.sleep(0.1)
    return limit


def test_slow(program, folder):
    """Slow connections do not keep others from /metrics for longer than 6 s."""
    for addresses in (2, 8):
        s = Service(program, folder)
        slow = Slow(s.port, addresses)
        took = seconds_until_answer(s.port, "127.0.0.1")
        check("60 slow connections from %d addresses: /metrics after %.1f s" % (addresses, took), took <= 6)
        slow.stop()
        if addresses == 2:
            slow = Slow(s.port, addresses)
            took = seconds_until_answer(s.port, "127.0.0.9")
            check("another address need not wait: %.2f s" % took, took <= 1)
            slow.stop()
        s.process.terminate()
        s.process.wait(5)


def test_open(program, folder):
    """An address that other machines reach causes a warning."""
    Box(os.path.join(folder, "registers"))
    path = config(os.path.join(folder, "open.ini"), """[box]
registers = %s
interrupt = poll
clock = host
ip = 10.0.0.254
mac = 02:52:46:00:00:10
[http]
listen = 0.0.0.0:0
""" % os.path.join(folder, "registers"))
    process = subprocess.Popen([program, "--config", path], stderr=subprocess.PIPE, text=True)
    atexit.register(process.kill)
    lines = []
    for line in process.stderr:
        lines.append(line)
        if "http port" in line:
            break
    process.terminate()
    process.wait(5)
    check("listening on every address causes a warning", any("warning: [http] listen = 0.0.0.0:0: anyone" in s for s in lines))


def two_ranks(box):
    """Makes a group of two ready; returns the frame of the first JOIN."""
    nonces = []
    for rank in range(2):
        answer = box.punt(rank + 1, arp(rank + 1))
        nonces.append(struct.unpack_from(">Q", answer, 46)[0])
    first = join(0, nonces[0], 2)
    box.punt(1, first)
    box.punt(2, join(1, nonces[1], 2))
    check("two ranks are a group", Box.until(lambda: box.read(GROUP) & 1))
    return first


def test_second(program, folder):
    """Another ringfoldd on the same device, or one whose HTTP port is taken, changes nothing."""
    s = Service(program, folder)
    two_ranks(s.box)
    before = bytes(s.box.map[0x4000:BYTES])
    run = subprocess.run([program, "--config", os.path.join(folder, "good.ini")], capture_output=True, text=True,
                         timeout=10)
    check("a second one ends: %s" % run.stderr.strip(), run.returncode == 1 and
          os.path.join(folder, "registers") in run.stderr and "stop it first" in run.stderr)
    check("the group of the first lives on, in the hardware", s.box.read(GROUP) & 1 and s.box.read(CTRL) & 1)
    check("no register of a group or a connection has changed", before == bytes(s.box.map[0x4000:BYTES]))
    status = json.loads(get(s.port, "/status.json")[2])
    check("and in the first one's eyes", [g["state"] for g in status["groups"]] == ["ready"])
    # A box of its own, but the HTTP port of the first.
    other = Box(os.path.join(folder, "registers2"))
    before = bytes(other.map)
    with open(os.path.join(folder, "good.ini"), encoding="utf-8") as f:
        text = f.read().replace("/registers\n", "/registers2\n").replace("127.0.0.1:0", "127.0.0.1:%d" % s.port)
    run = subprocess.run([program, "--config", config(os.path.join(folder, "second.ini"), text)], capture_output=True,
                         text=True, timeout=10)
    check("one whose HTTP port is taken ends: %s" % run.stderr.strip(), run.returncode == 1)
    check("and has not touched its box", before == bytes(other.map))
    s.process.terminate()
    s.process.wait(5)


def test_restart(program, folder):
    """A restart within a second, with any clock: requests recorded before are refused."""
    while time.time() % 2 > 0.1:  # the whole of it within the same two seconds
        time.sleep(0.01)
    s = Service(program, folder)
    first = two_ranks(s.box)
    epoch = json.loads(get(s.port, "/status.json")[2])["epoch"]
    s.process.kill()
    s.process.wait()
    s = Service(program, folder)
    answer = s.box.punt(1, first)
    check("a JOIN from before the restart is refused, NONCE", answer[42 + 56:42 + 58] == bytes([3, 39]))
    status = json.loads(get(s.port, "/status.json")[2])
    check("it has made no group", status["groups"] == [])
    check("another epoch", status["epoch"] not in (0, epoch))
    s.process.terminate()
    s.process.wait(5)


def test_refused(program, folder):
    box = Box(os.path.join(folder, "registers"))
    path = os.path.join(folder, "good.ini")
    box.write(0, 1)
    run = subprocess.run([program, "--config", path], capture_output=True, text=True, timeout=10)
    check("registers without a box", run.returncode == 1 and "not a ringfold box" in run.stderr)
    with open(os.path.join(folder, "registers"), "wb") as f:
        f.truncate(4096)
    run = subprocess.run([program, "--config", path], capture_output=True, text=True, timeout=10)
    check("a map that is too small", run.returncode == 1 and "4096 bytes" in run.stderr)


def main(program):
    folder = tempfile.mkdtemp(prefix="ringfoldd.")
    try:
        test_config(program, folder)
        test_service(program, folder)
        test_slow(program, folder)
        test_open(program, folder)
        test_second(program, folder)
        test_restart(program, folder)
        test_refused(program, folder)
    finally:
        shutil.rmtree(folder)
    return 1 if FAILED else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
