#!/usr/bin/env python3
"""`ringfold box --http`: status and metrics of a box with hosts and a job; messages; the image of the firmware.

usage: boxhttp.py BUILD
"""
import json
import os
import re
import socket
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from boxlab import Lab
from report import FAILED, check

def test_messages(build):
    program = os.path.join(build, "bin", "ringfold-box")
    taken = socket.create_server(("127.0.0.1", 0))
    for http, code, want in (("somewhere", 2, 'not ADDRESS:PORT, for example 127.0.0.1:9477'),
                             ("127.0.0.1", 2, "not ADDRESS:PORT"),
                             ("localhost:9477", 2, "not ADDRESS:PORT"),
                             ("127.0.0.1:65536", 2, "not ADDRESS:PORT"),
                             ("127.0.0.1:+1", 2, "not ADDRESS:PORT"),
                             ("127.0.0.1:%d" % taken.getsockname()[1], 1, "another program uses this port; choose another one"),
                             ("192.0.2.1:9477", 1, "this machine does not have this address")):
        run = subprocess.run([program, "--port", "p=dgram:/tmp/rf-none-%d,to=/tmp/rf-none" % os.getpid(), "--http", http,
                              "--duration", "1s"], capture_output=True, text=True, timeout=20)
        check("--http %s: %s" % (http, want), run.returncode == code and want in run.stderr)
        if want not in run.stderr:
            print(run.stderr)
    taken.close()


def asked_as(port, host, version="1.1"):
    """(status, body) of a request for the status with this Host header; None: without one."""
    with socket.create_connection(("127.0.0.1", port), timeout=10) as s:
        s.sendall(("GET /status.json HTTP/%s\r\n%s\r\n" % (version, "" if host is None else "Host: %s\r\n" % host)).encode())
        answer = b""
        while True:
            piece = s.recv(65536)
            if not piece:
                break
            answer += piece
    head, _, body = answer.partition(b"\r\n\r\n")
    return int(head.split()[1]), body.decode()


def test_host(lab):
    """A page of another site may let its name point to this machine: its name is refused, with a sentence."""
    own = "127.0.0.1:%d" % lab.port
    for name in (own, "127.0.0.1", "localhost:%d" % lab.port, "LOCALHOST", "[::1]:9477", "192.0.2.1", socket.gethostname()):
        code, body = asked_as(lab.port, name)
        check("Host: %s" % name, code == 200 and json.loads(body)["ports"])
    for name in ("evil.example", "evil.example:%d" % lab.port, "localhost.evil.example", "127.0.0.1.evil.example", own + ".evil.example",
                 "127.0.0.1@evil.example", "[::1", "[evil.example]", "", "x" * 300, "10.0.0", "0x7f.1"):
        code, body = asked_as(lab.port, name)
        check("Host: %s: refused" % name[:30], code == 403 and "Open the page by its address" in " ".join(body.split()) and "ports" not in body)
    check("a program that sends none", asked_as(lab.port, None, "1.0")[0] == 200)


def host(status, name):
    return [h for h in status["hosts"] if h["name"] == name][0]


def test_job(build):
    lab = Lab(build)
    check("the page's address is printed, and no warning for a loopback address", lab.port > 0 and
          not any("authentication" in line for line in lab.log))
    status = lab.status()
    check("nothing has happened", status["events"] == [e for e in status["events"] if "started" in e["text"]] and
          status["groups"] == [] and status["faults"] == [] and host(status, "h0")["connected"] is False)
    check("a port that does not know", host(status, "probe")["connected"] is True or host(status, "probe")["connected"] is None)
    test_host(lab)
    job = lab.start_job("loop", "60000")
    status = lab.until(lambda s: s["groups"] and s["groups"][0]["state"] == "ready" and s["ports"][0]["accepted"] > 100)
    check("a group is ready", status is not None)
    group = status["groups"][0]
    check("its ranks and their hosts", [(m["rank"], m["host"]) for m in group["members"]] == [(0, "h0"), (1, "h1")])
    check("its path MTU", group["mtu"] == 1024)
    for name in ("h0", "h1"):
        h = host(status, name)
        check("%s is connected, with frames and bytes both ways" % name, h["connected"] and h["rx_frames"] > 100 and
              h["tx_frames"] > 100 and h["rx_bytes"] > 60 * h["rx_frames"] and h["tx_bytes"] > 60 * h["tx_frames"])
    before = lab.status()
    after = lab.status()
    check("values change", all(after["ports"][0][name] > before["ports"][0][name]
                               for name in ("rx_frames", "tx_frames", "rx_bytes", "tx_bytes", "accepted")) and
          after["read_ms"] > before["read_ms"] and after["uptime_ms"] > before["uptime_ms"])
    texts = [e["text"] for e in after["events"]]
    check("events: host connected, job ready", {"host h0 connected", "host h1 connected", "job 7 ready"} <= set(texts))
    check("events: in order, none twice", texts.index("host h0 connected") < texts.index("job 7 ready") and
          texts.count("job 7 ready") == 1 and len({e["id"] for e in after["events"]}) == len(texts))
    lab.send_broken(3)
    status = lab.until(lambda s: s["faults"])
    check("an error is named in words", status is not None and
          (status["faults"][0]["where"], status["faults"][0]["text"], status["faults"][0]["count"]) ==
          ("port 0", "IP header checksum wrong", 3))
    metrics = lab.text("/metrics")
    check("metrics: hosts", all(re.search(r'^ringfold_host_%s\{host="h1"\} [1-9]' % n, metrics, re.M)
                                for n in ("connected", "rx_frames_total", "rx_bytes_total", "tx_frames_total")))
    check("metrics: ports, firmware and groups as in ringfoldd",
          'ringfold_port_ip_checksum_total{port="0"} 3' in metrics and
          'ringfold_groups{state="ready"} 1' in metrics and "ringfold_firmware_groups_ready_total 1" in metrics)
    check("the page", "<title>ringfold" in lab.text("/"))
    job[1].kill()
    status = lab.until(lambda s: s["groups"][0]["state"] == "failed")
    check("a failed group says why, in words", status is not None and len(status["groups"][0]["reason_text"]) > 10)
    check("... in the events too", any(e["bad"] and e["text"].startswith("job 7 failed: ") for e in status["events"]))
    check("... and the host that has left", lab.until(
        lambda s: "host h1 disconnected" in [e["text"] for e in s["events"]]) is not None)
    lab.stop()


def test_image(build):
    """The firmware's image in libunicorn: what its memory alone knows is left out."""
    if not os.path.exists(os.path.join(build, "bin", "ringfold-rv32")):
        print("      (no libunicorn: the firmware's image is not run)")
        return
    lab = Lab(build, options=("--firmware", "rv32", "--quiet"))
    lab.start_job("loop", "60000")
    status = lab.until(lambda s: s["ports"][0]["accepted"] > 100)
    check("rv32: counters of ports and firmware", status is not None and status["firmware"]["groups_ready"] == 1)
    check("rv32: no groups, and it is said", status["memory"] is False and "groups" not in status and "slots" not in status)
    texts = [e["text"] for e in status["events"]]
    check("rv32: events, with --quiet too", "host h0 connected" in texts and "job 7 ready: 2 ranks, 64 slots" in texts)
    check("rv32: ... which prints none", not any("connected" in line for line in lab.log))
    metrics = lab.text("/metrics")
    check("rv32: metrics", "ringfold_firmware_groups_ready_total 1" in metrics and "ringfold_groups" not in metrics and
          'ringfold_host_connected{host="h0"} 1' in metrics)
    lab.stop()


def test_open(build):
    lab = Lab(build, http="0.0.0.0:0")
    check("a warning for an address that others reach", any("warning: --http 0.0.0.0:0: anyone" in line for line in lab.log))
    lab.stop()


def main(build):
    test_messages(build)
    test_job(build)
    test_image(build)
    test_open(build)
    return 1 if FAILED else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
