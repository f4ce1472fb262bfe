#!/usr/bin/env python3
"""Switches that are not part of ringfold, in front of the box: tools/switch/*.sh in network namespaces (root).

    switches.py bridge | ovs

Two hosts by DPDK's AF_PACKET device, the box at two ports of the switch. Exit codes: 0 good, 77 cannot run here, else failed.
Everything is in namespaces of this process, so nothing remains when it ends.
"""
import array
import fcntl
import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import capture
from report import FAILED, check

BIN = os.path.join(os.environ.get("BUILD", "build"), "bin")
INSIDE = "RF_SWITCHES_INSIDE"


def sh(*args, **more):
    return subprocess.run(args, check=True, capture_output=True, text=True, **more).stdout


def checksums_by_software(interface):
    """ethtool -K IFACE tx off: without this, a switch in user space sees checksums that the kernel left to the hardware."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        value = array.array("B", struct.pack("II", 0x17, 0))  # ETHTOOL_STXCSUM
        fcntl.ioctl(s, 0x8946, struct.pack("16sP16x", interface.encode(), value.buffer_info()[0]))


def wire():
    """h0, h1 in namespaces of their own; s0, s1 (hosts) and t0, t1 (box) are the switch's; b0, b1 the box's."""
    for i in range(2):
        sh("ip", "netns", "add", f"host{i}")
        for a, b in ((f"h{i}", f"s{i}"), (f"b{i}", f"t{i}")):
            sh("ip", "link", "add", a, "type", "veth", "peer", "name", b)
            for end in (a, b):
                with open(f"/proc/sys/net/ipv6/conf/{end}/disable_ipv6", "w", encoding="ascii") as f:
                    f.write("1")
                checksums_by_software(end)
                sh("ip", "link", "set", end, "mtu", "4500", "up")
        sh("ip", "link", "set", f"h{i}", "netns", f"host{i}")
        sh("ip", "netns", "exec", f"host{i}", "ip", "link", "set", f"h{i}", "up")
        sh("ip", "netns", "exec", f"host{i}", "ip", "link", "set", "lo", "up")
        sh("ip", "netns", "exec", f"host{i}", "ip", "addr", "add", f"10.9.9.{i + 1}/24", "dev", f"h{i}")
    sh("ip", "link", "set", "lo", "up")


def ranks(*args):
    """ringfold-perf on both hosts, which meet by TCP over the same switch; [(exit code, output)]."""
    running = []
    for i in range(2):
        env = dict(os.environ, RF_RANK=str(i), RF_SIZE="2", RF_ROOT="10.9.9.1", RF_DEVICE=f"net_af_packet0,iface=h{i}", RF_IP=f"10.9.9.{i + 1}",
                   RF_BOX_IP="10.0.0.254", RF_TIMEOUT="20000", RF_RETRY="500", RF_SPIN="0")
        running.append(subprocess.Popen(["ip", "netns", "exec", f"host{i}", f"{BIN}/ringfold-perf", *args], env=env, text=True,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=os.getcwd()))
    out = [p.communicate(timeout=90)[0] for p in running]
    return [(p.returncode, o) for p, o in zip(running, out)]


TCP = """
import socket, sys, threading
server = sys.argv[1] == "serve"
data = bytes(range(256)) * 4096
if server:
    s = socket.create_server(("10.9.9.2", 9000)); print("up", flush=True); c, _ = s.accept()
else:
    c = socket.create_connection(("10.9.9.2", 9000), 10)
c.settimeout(20)
def take():
    got = b""
    while len(got) < len(data):
        part = c.recv(65536)
        if not part: break
        got += part
    return got
if server:
    got = take(); c.sendall(got)
else:
    c.sendall(data); got = take()
sys.exit(0 if got == data else 1)
"""


def tcp():
    server = subprocess.Popen(["ip", "netns", "exec", "host1", sys.executable, "-c", TCP, "serve"], stdout=subprocess.PIPE, text=True)
    server.stdout.readline()
    client = subprocess.run(["ip", "netns", "exec", "host0", sys.executable, "-c", TCP, "ask"], capture_output=True, text=True, timeout=60)
    server.wait(30)
    check("TCP between the hosts: 1 MB there and back", client.returncode == 0 and server.returncode == 0, client.stderr)


def counts(script):
    return {w[0]: int(w[1]) for w in (line.split() for line in sh(script, "counts", "rfbr").splitlines())}


def settled(script):
    """Open vSwitch updates its counters only from time to time."""
    now, last, left = counts(script), None, 12
    while now != last and left > 0:
        time.sleep(1.2)
        now, last, left = counts(script), now, left - 1
    return now


def run(kind, folder):
    script = "tools/switch/linux-bridge.sh" if kind == "bridge" else "tools/switch/openvswitch.sh"
    wire()
    if kind == "ovs":
        start_ovs(folder)
    sh(script, "up", "rfbr", "s0=t0", "s1=t1")
    with open(f"{folder}/box.log", "w", encoding="ascii") as log, open(f"{folder}/box.out", "w", encoding="ascii") as out:
        box = subprocess.Popen([f"{BIN}/ringfold-box", "--box-ports", "2", "--probe", "0s", "--direct", "0=packet:b0", "--direct", "1=packet:b1", "--json", "--pcapng",
                                folder], stdout=out, stderr=log)
    until = time.monotonic() + 20
    while "ready" not in open(f"{folder}/box.log", encoding="utf-8").read():
        if box.poll() is not None or time.monotonic() > until:
            check("the box starts", False, open(f"{folder}/box.log", encoding="utf-8").read())
            return
        time.sleep(0.05)
    before = counts(script)
    check("the rule is there for both hosts, and has counted nothing", before == {"s0": 0, "s1": 0}, before)
    results = ranks("--min", "4K", "--max", "256K", "--factor", "8", "--iters", "2")
    check("all-reduce over this switch, every rank", [c for c, _ in results] == [0, 0], results)
    check("... bits right", "wrong elements: 0" in results[0][1], results[0][1])
    after = settled(script)
    check(f"the rule has steered both directions: {after}", min(after.values()) > 500, after)
    tcp()
    check("TCP is not the rule's business", settled(script) == after, after)
    box.send_signal(signal.SIGINT)
    box.wait(20)
    report = json.load(open(f"{folder}/box.out", encoding="utf-8"))
    accepted = sum(p.get("accepted", 0) for p in report["box"])
    check(f"the box has summed: {accepted} packets", accepted > 500, report)
    look_at(f"{folder}/box.pcapng")
    sh(script, "down", "rfbr")
    gone = subprocess.run([script, "counts", "rfbr"], capture_output=True, text=True)
    check("after `down` nothing is left of it", not gone.stdout, gone.stdout)


def look_at(path):
    crossed = capture.crossed(path)
    check("no TCP has crossed the box", crossed == 0, crossed)
    bad = capture.malformed(path)
    if bad is not None:
        check("what the box sent: tshark finds nothing malformed", not bad, bad)
    # a switch in the kernel or in user space loses frames if its queues are short: such a loss may occur, and is repaired
    r = subprocess.run([sys.executable, "-B", "tests/check/frames.py", "--faults", "--box-mac", "02:52:46:00:00:10", "--box-ip", "10.0.0.254", path],
                       capture_output=True, text=True)
    check("what the box sent: independent frame checker", r.returncode == 0, r.stdout + r.stderr)


def start_ovs(folder):
    """A private Open vSwitch: its own database and sockets."""
    os.environ.update(OVS_RUNDIR=folder, OVS_DBDIR=folder, OVS_LOGDIR=folder, OVS_SYSCONFDIR=folder)
    sh("ovsdb-tool", "create", f"{folder}/conf.db", "/usr/share/openvswitch/vswitch.ovsschema")
    sh("ovsdb-server", f"{folder}/conf.db", f"--remote=punix:{folder}/db.sock", "--detach", "--no-chdir", f"--pidfile={folder}/db.pid",
       f"--log-file={folder}/db.log", f"--unixctl={folder}/db.ctl")
    sh("ovs-vsctl", "--no-wait", "init")
    sh("ovs-vswitchd", "--detach", "--no-chdir", f"--pidfile={folder}/ovs-vswitchd.pid", f"--log-file={folder}/vswitchd.log", "--disable-system")


def missing(kind):
    if os.geteuid() != 0:
        return "needs root: network namespaces"
    needed = ["unshare", "ip"] + (["nft", "bridge"] if kind == "bridge" else ["ovs-vswitchd", "ovsdb-server", "ovs-vsctl", "ovs-ofctl"])
    for tool in needed:
        if not shutil.which(tool):
            return f"{tool} is not installed (mk/deps.sh {'test' if kind == 'bridge' else 'interop'})"
    tries = subprocess.run(["unshare", "--net", "--mount", "--pid", "--fork", "sh", "-c", "mount -t tmpfs none /run && ip link add x type veth peer name y"
                            + (" && ip link add br0 type bridge && nft add table netdev x" if kind == "bridge" else "")],
                           capture_output=True, text=True)
    return None if tries.returncode == 0 else "no such namespaces or devices here: " + tries.stderr.strip()[-200:]


def main(argv):
    if len(argv) != 2 or argv[1] not in ("bridge", "ovs"):
        print(__doc__)
        return 2
    os.environ["PATH"] += ":/usr/sbin:/sbin"
    kind = argv[1]
    if not os.environ.get(INSIDE):
        why = missing(kind)
        if why:
            print(why)
            return 77
        os.environ[INSIDE] = "1"
        os.execvp("unshare", ["unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", sys.executable, "-B", *argv])
    sh("mount", "-t", "tmpfs", "none", "/run")
    os.mkdir("/run/netns")
    folder = tempfile.mkdtemp(prefix="ringfold-switch-", dir="/run")
    try:
        run(kind, folder)
    except subprocess.CalledProcessError as error:
        check(" ".join(error.cmd), False, error.stdout + error.stderr)
    return 1 if FAILED else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
