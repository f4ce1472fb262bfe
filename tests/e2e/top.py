#!/usr/bin/env python3
"""ringfold top: a box with a job on a terminal and in a pipe, --once, a box that goes away, bad URLs, hostile answers.

usage: top.py BUILD
"""
import fcntl
import http.server
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from boxlab import Lab
from report import FAILED, check, free_port

def top(build, *args):
    run = subprocess.run([os.path.join(build, "bin", "ringfold"), "top", *args], capture_output=True, text=True, timeout=30)
    return run.returncode, run.stdout, run.stderr


class Terminal:
    """ringfold top on a terminal of a given size."""

    def __init__(self, build, args, columns=80, rows=50, **env):
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        environment = {k: v for k, v in os.environ.items() if k != "NO_COLOR"}
        environment.update(TERM="xterm", **env)
        self.process = subprocess.Popen([os.path.join(build, "bin", "ringfold"), "top", *args], stdin=slave, stdout=slave,
                                        stderr=slave, env=environment)
        os.close(slave)

    def read(self, seconds):
        end = time.monotonic() + seconds
        data = b""
        while time.monotonic() < end:
            if select.select([self.master], [], [], end - time.monotonic())[0]:
                try:
                    data += os.read(self.master, 65536)
                except OSError:
                    break
        return data.decode()

    def until(self, want, seconds=15):
        """Everything that was printed until a text came."""
        end = time.monotonic() + seconds
        text = ""
        while want not in text and time.monotonic() < end:
            text += self.read(0.5)
        return text

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        code = self.process.wait(5)
        os.close(self.master)
        return code


def plain(text):
    return re.sub("\033\\[[0-9;]*[A-Za-z]", "", text)


def test_usage(build):
    for args, want in ((["https://x"], "not a URL"), (["http://x:0"], "not a URL"), (["http://x:70000"], "not a URL"),
                       (["http://x/y"], "not a URL"), ([":9477"], "not a URL"), (["[::1"], "not a URL"), (["a", "b"], "takes one URL")):
        code, _, err = top(build, *args)
        check("%s: %s" % (" ".join(args), want), code == 2 and want in err, err)
    port = free_port()
    for args in (["--once"], []):
        code, _, err = top(build, *args, "127.0.0.1:%d" % port)
        check("no box there, %s" % (args or "live"), code == 1 and "Connection refused; does a box serve a page there" in err, err)


def test_job(build):
    lab = Lab(build)
    code, out, err = top(build, "--once", lab.url)
    check("--once, before a job", code == 0 and err == "" and "no job has joined" in out, (out, err))
    job = lab.start_job("loop", "60000")
    lab.until(lambda s: s["groups"] and s["groups"][0]["state"] == "ready" and s["ports"][0]["accepted"] > 100)
    lab.send_broken(2)
    code, out, err = top(build, "--once", lab.url)
    check("errors in words", "  port 0: IP header checksum wrong: 2\n" in out, out)
    port = re.search(r"^   1 +(\d+\.\d{3}) +(\d+\.\d{3}) +(\d+) +(\d+) ", out, re.M)
    check("rates of a port", port is not None and int(port.group(3)) > 10 and int(port.group(4)) > 10, out)
    check("hosts", re.search(r"^h1 +1 connected ", out, re.M) is not None, out)
    check("the group", re.search(r"^7 +0 ready +2/2 +64 +[1-9]", out, re.M) is not None, out)
    check("events", "job 7 ready" in out and "host h0 connected" in out, out)
    check("80 columns, no colours, no raw names", max(map(len, out.splitlines())) <= 80 and "\033" not in out and "_" not in out, out)

    began = time.monotonic()
    live = Terminal(build, [lab.url])
    text = live.read(3.2)
    seconds = time.monotonic() - began
    check("one refresh per second", 3 <= text.count("\033[2J") <= 1 + seconds, (text.count("\033[2J"), seconds))
    check("errors are red", "\033[31m  port 0: IP header checksum wrong: 2" in text, text)
    values = re.findall(r"^ +1 +\S+ +\S+ +\S+ +\S+ +(\S+)", plain(text), re.M)
    check("values change", len(set(values)) > 1, values)
    wait = "\033[33m  waits for rank 1"
    job[1].send_signal(signal.SIGSTOP)
    check("the rank that the others wait for", wait in live.until(wait), "")
    job[1].send_signal(signal.SIGCONT)
    check("Ctrl-C ends it", live.stop() == 0)
    mono = Terminal(build, [lab.url], columns=40, rows=12, NO_COLOR="1")
    text = mono.read(2.5)
    pages = [p.splitlines() for p in text.split("\033[H\033[2J") if p]
    check("NO_COLOR: no colours", "\033[3" not in text and "\033[1m" not in text, text)
    check("40 columns, 12 lines: cut", all(len(p) <= 12 and max(map(len, p)) <= 40 for p in pages), pages)
    mono.stop()

    run = subprocess.Popen([os.path.join(build, "bin", "ringfold-top"), lab.url], stdout=subprocess.PIPE, text=True)
    time.sleep(2.5)
    lab.stop()
    time.sleep(1.5)
    run.send_signal(signal.SIGTERM)
    out, _ = run.communicate(timeout=10)
    check("in a pipe, without control characters", out.count("events\n") >= 2 and "\033" not in out, out)
    check("a box that goes away is said, and asked again", "no answer: 127.0.0.1:" in out and run.returncode == 0, out)


class Liar(http.server.BaseHTTPRequestHandler):
    answer = b""

    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        try:
            self.wfile.write(self.answer)
        except OSError:
            pass  # it has read enough

    def log_message(self, *args):
        pass


def test_run(build):
    """ringfold run --http: the page of its box."""
    port = free_port()
    run = subprocess.Popen([os.path.join(build, "bin", "ringfold"), "run", "-n", "2", "--http", "127.0.0.1:%d" % port, "--", "sleep", "5"],
                           stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    time.sleep(2)
    code, out, err = top(build, "--once", "127.0.0.1:%d" % port)
    check("ringfold run --http", code == 0 and "no job has joined" in out, (out, err))
    check("... ends as before", run.wait(20) == 0)
    bad = subprocess.run([os.path.join(build, "bin", "ringfold"), "run", "-n", "2", "--http", "nowhere", "--", "sleep", "5"],
                         capture_output=True, text=True, timeout=20)
    check("... and names a bad address", bad.returncode == 2 and '"nowhere" is not ADDRESS:PORT' in bad.stderr, bad.stderr)


def test_hostile(build):
    """Names with control characters reach no terminal; answers of others are refused."""
    server = http.server.HTTPServer(("127.0.0.1", 0), Liar)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = "http://127.0.0.1:%d/" % server.server_port
    evil = "\033]0;x\007\n\033[31m"
    groups = [{"job": evil, "state": evil * 50, "group": -1, "head": "x", "members": 7}]
    Liar.answer = json.dumps({"ports": [{"port": 2 ** 60}, 3], "hosts": [{"name": evil}], "groups": groups, "about": evil,
                              "program": evil, "events": [{"text": evil}, None], "faults": [{"text": evil}, []]}).encode()
    code, out, err = top(build, "--once", url)
    check("control characters are not printed", code == 0 and "\033" not in out and "\007" not in out and "?]0;x?" in out, (out, err))
    for answer in (b"", b"hello", b"[]", b"{}", b'{"ports": []', b"\0" * 1000, b"[" * 100000):
        Liar.answer = answer
        code, out, err = top(build, "--once", url)
        check("not a status: %r" % answer[:20], code == 1 and "not the status of a box" in err, err)
    Liar.answer = b" " * (9 << 20)
    code, out, err = top(build, "--once", url)
    check("too long", code == 1 and err != "", err)
    server.shutdown()


def main(build):
    test_usage(build)
    test_job(build)
    test_run(build)
    test_hostile(build)
    run = subprocess.run("%s/bin/ringfold-top --help > /dev/full" % build, shell=True, capture_output=True, text=True)
    check("output that cannot be written", run.returncode == 1 and "No space left" in run.stderr)
    return 1 if FAILED else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
