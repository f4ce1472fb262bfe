"""Guests with soft-RoCE under QEMU, with `ringfold box` between them. All processes end with this one, in every case.

    with Lab("text") as lab:
        lab.box(2)                          # ringfold box with 2 ports for guests
        a, b = lab.boot(2)
        a.run("ping -c 1 10.0.0.2")         # (exit code, output)
        server = b.start("ib_send_bw ...")  # in the background
        server.wait(30)

Every QEMU has PR_SET_PDEATHSIG: it ends with this process, however that ends. Every wait has a limit.
"""
import ctypes
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

import capture

BUILD = os.environ.get("BUILD", "build")
IMAGE = os.path.join(BUILD, "interop")
BIN = os.path.join(BUILD, "bin")
MEMORY = os.environ.get("RF_GUEST_MB", "256")
BOOT_SECONDS = 240
ENGINE = "model"
RTL_PORTS = 4  # of the Verilated box that `make` builds
BROKEN = []  # packets of the last lab that soft-RoCE should not have sent
SKIP = 77


class Failed(Exception):
    pass


def say(text):
    print(text, flush=True)


def end_with_parent():
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def spawn(args, **more):
    return subprocess.Popen(args, preexec_fn=end_with_parent, **more)


def missing():
    """The reason why guests cannot be booted here, or None."""
    if not shutil.which("qemu-system-x86_64"):
        return "qemu-system-x86_64 is not installed (mk/deps.sh test)"
    for name in ("vmlinuz", "base.cpio.gz", "programs.cpio"):
        if not os.path.exists(os.path.join(IMAGE, name)):
            why = os.path.join(IMAGE, "why")
            reason = open(why).read().strip() if os.path.exists(why) else "see make interop-image"
            return f"no {IMAGE}/{name}: {reason}"
    return None


class Job:
    """A command that is running in a guest."""

    def __init__(self, guest, number, command):
        self.guest, self.number, self.command = guest, number, command
        self.lines, self.code, self.ended = [], None, threading.Event()

    @property
    def output(self):
        return "\n".join(self.lines)

    def wait(self, seconds):
        if not self.ended.wait(seconds):
            raise Failed(f"{self.guest.name}: no end within {seconds} s: {self.command}")
        if self.code is None:
            raise Failed(f"{self.guest.name} has died during: {self.command}")
        return self.code, self.output

    def kill(self):
        self.guest.send(f"K {self.number}")


class Guest:
    def __init__(self, lab, index, mtu, host_net):
        self.name, self.ip = f"guest{index}", f"10.0.0.{index + 1}"
        self.mac = f"52:54:00:00:00:{index + 1:02x}"
        self.jobs, self.number = {}, 0
        self.console = os.path.join(lab.folder, f"{self.name}.console")
        own, box = lab.socket(f"v{index}"), lab.socket(f"b{index}")
        args = [
            "qemu-system-x86_64", "-accel", "tcg,thread=single,tb-size=64", "-m", MEMORY, "-nodefaults", "-no-user-config",
            "-display", "none", "-no-reboot", "-kernel", f"{IMAGE}/vmlinuz", "-initrd", lab.initrd,
            "-append", "console=ttyS0 quiet panic=-1 no_timer_check mitigations=off nokaslr audit=0 random.trust_cpu=on "
            f"rf.ip={self.ip} rf.mtu={mtu}" + (" rf.host=1" if host_net else ""),
            "-cpu", "max", "-serial", f"file:{self.console}", "-serial", "stdio",
            "-netdev", f"dgram,id=n0,local.type=unix,local.path={own},remote.type=unix,remote.path={box}",
            "-device", f"virtio-net-pci,netdev=n0,mac={self.mac},romfile=",
        ]
        if host_net:
            args += ["-netdev", "user,id=n1", "-device", "virtio-net-pci,netdev=n1,romfile="]
        self.log = open(os.path.join(lab.folder, f"{self.name}.qemu"), "w")
        self.process = spawn(args, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log)
        self.up = self._job("boot", 0)
        threading.Thread(target=self._listen, daemon=True).start()

    def _job(self, command, number):
        self.jobs[number] = job = Job(self, number, command)
        return job

    def _listen(self):
        for raw in self.process.stdout:
            words = raw.decode(errors="replace").rstrip("\r\n").split(" ", 2)
            job = self.jobs.get(int(words[1])) if len(words) > 1 and words[1].isdigit() else None
            if job and words[0] == "O":
                job.lines.append(words[2] if len(words) > 2 else "")
            elif job and words[0] == "D":
                job.code = int(words[2])
                job.ended.set()
        for job in list(self.jobs.values()):
            job.ended.set()

    def send(self, line):
        try:
            self.process.stdin.write(line.encode() + b"\n")
            self.process.stdin.flush()
        except OSError:
            raise Failed(f"{self.name} is gone") from None

    def start(self, command):
        self.number += 1
        job = self._job(command, self.number)
        self.send(f"{self.number} {command}")
        return job

    def run(self, command, seconds=60):
        return self.start(command).wait(seconds)

    def need(self, command, seconds=60):
        code, output = self.run(command, seconds)
        if code != 0:
            raise Failed(f"{self.name}: {command}: exit code {code}\n{output}")
        return output

    def kill(self):
        self.process.kill()
        self.process.wait()

    def counters(self):
        """The counters of the soft-RoCE device; packets with a wrong ICRC are not in rcvd_pkts."""
        out = self.need("cd /sys/class/infiniband/rxe0/ports/1/hw_counters && grep . *")
        return {k: int(v) for k, v in (line.split(":") for line in out.splitlines())}


class Lab:
    def __init__(self, name):
        self.name, self.guests, self.processes, self.box_process = name, [], [], None
        self.spaces = []  # network namespaces to be deleted
        self.started = time.monotonic()
        self.folder = tempfile.mkdtemp(prefix="ringfold-interop-")
        self.initrd = os.path.join(self.folder, "initrd")

    def __enter__(self):
        with open(self.initrd, "wb") as to:  # the kernel reads concatenated archives as one
            for part in ("base.cpio.gz", "programs.cpio"):
                with open(os.path.join(IMAGE, part), "rb") as f:
                    data = f.read()
                    to.write(data + bytes(-len(data) % 4))
        return self

    def __exit__(self, kind, value, trace):
        for g in self.guests:
            if g.process.poll() is None:
                g.process.kill()
        for p in self.processes:
            if p.poll() is None:
                p.terminate()
        for p in [g.process for g in self.guests] + self.processes:
            try:
                p.wait(10)
            except subprocess.TimeoutExpired:
                p.kill()
                p.wait()
        for space in self.spaces:
            subprocess.run(["ip", "netns", "del", space], check=False)
        if kind and issubclass(kind, Failed):
            self.print_logs()
        if os.path.exists(self.file("hosts.pcapng")):
            BROKEN.extend(capture.empty_messages(self.file("hosts.pcapng")))
        keep = os.environ.get("RF_INTEROP_KEEP")
        if keep:
            shutil.rmtree(keep, ignore_errors=True)
            shutil.copytree(self.folder, keep, ignore=lambda d, n: [x for x in n if x.endswith((".sock", "initrd"))])
        shutil.rmtree(self.folder, ignore_errors=True)

    def print_logs(self):
        for name in sorted(os.listdir(self.folder)):
            if name.endswith((".console", ".qemu", ".log")):
                with open(os.path.join(self.folder, name), errors="replace") as f:
                    for line in f.read().splitlines()[-8:]:
                        say(f"  | {name}: {line[:300]}")

    def file(self, name):
        return os.path.join(self.folder, name)

    def socket(self, name):
        return os.path.join(self.folder, f"{name}.sock")

    def spawn(self, name, args, **more):
        log = open(os.path.join(self.folder, f"{name}.log"), "w")
        out = open(os.path.join(self.folder, f"{name}.out"), "w")
        p = spawn(args, stdout=out, stderr=log, **more)
        p.out_name, p.log_name = out.name, log.name
        self.processes.append(p)
        return p

    def box(self, guests, hosts=0, options=(), loss=None, hold="0s", rule=True):
        """guests ports for guests, then hosts memif ports (h0.sock, ...). Captures: hosts.pcapng, box.pcapng.

        rule: whether the guests' and hosts' ports of the switch have the rule.
        """
        rule = ",rule" if rule else ""
        # an emulated guest needs milliseconds to answer
        args = [f"{BIN}/ringfold-box", "--engine", ENGINE, "--hold", hold, "--tick", "20ms", "--json", "--box-ports",
                str(max(RTL_PORTS if ENGINE == "rtl" else 2, min(8, guests + hosts)))]
        for i in range(guests):
            args += ["--port", f"g{i}=dgram:{self.socket(f'b{i}')},to={self.socket(f'v{i}')}{rule}"]
        if loss:  # of the last guest's cable
            args[-1] += f",loss={loss}"
        for i in range(hosts):
            args += ["--port", f"h{i}=memif:{self.socket(f'h{i}')}{rule}"]
        args += ["--pcapng", self.folder]
        self.box_process = self.spawn("box", args + list(options))
        until = time.monotonic() + 20
        while "ready" not in open(self.box_process.log_name).read():
            if self.box_process.poll() is not None or time.monotonic() > until:
                raise Failed("ringfold box does not start: " + open(self.box_process.log_name).read())
            time.sleep(0.05)

    def box_end(self):
        """Ends the box; its report."""
        self.box_process.send_signal(signal.SIGINT)
        self.box_process.wait(20)
        return json.load(open(self.box_process.out_name))

    def boot(self, count, mtu=1500, host_net=False):
        begin = time.monotonic()
        new = [Guest(self, len(self.guests) + i, mtu, host_net) for i in range(count)]
        self.guests += new
        for g in new:
            left = BOOT_SECONDS - (time.monotonic() - begin)
            if not g.up.ended.wait(max(left, 0)) or g.up.code != 0:
                raise Failed(f"{g.name} has not booted within {BOOT_SECONDS} s")
        say(f"      {count} guests up after {time.monotonic() - begin:.0f} s")
        return new


def on_signals():
    for s in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(s, lambda number, _: sys.exit(128 + number))
