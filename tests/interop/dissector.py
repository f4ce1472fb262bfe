#!/usr/bin/env python3
"""Tests the Wireshark dissector with tshark: its output for each packet is compared with what this file computes on its own.

    dissector.py RINGFOLD_SIM RINGFOLD_GEN PLAY

Captures come from `ringfold sim` with and without loss, and from `ringfold gen` and tests/sim/play.c. Exit codes: 0 good, 77 no tshark, else failed.
"""
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "check"))
import frames
from capture import be, members, messages
from report import FAILED, check
from spoil import remake, write
from sums import packet_of

SCRIPT = "tools/wireshark/ringfold.lua"
BOX = bytes.fromhex("0252460000")
FIELDS = ("frame.number", "ringfold.job", "ringfold.group", "ringfold.rank", "ringfold.index", "ringfold.slot", "ringfold.repeat", "ringfold.role")


def tshark(path, *more):
    r = subprocess.run(["tshark", "-X", f"lua_script:{SCRIPT}", "-r", path, *more], capture_output=True, text=True)
    if r.returncode != 0 or "Lua" in r.stderr:
        check("tshark takes the script", False, r.stderr)
    return r.stdout


def read_by_tshark(path, *more):
    """The dissector's output: {frame: (job, group, rank, index, slot, repeat or None, is it an ACK)}."""
    args = ["-Y", "ringfold", "-T", "fields"]
    for f in FIELDS:
        args += ["-e", f]
    out = {}
    for line in tshark(path, *args, *more).splitlines():
        number, job, group, rank, index, slot, again, role = line.split("\t")
        out[int(number)] = (int(job), int(group), int(rank), int(index), int(slot), again == "1" if again else None, "ack" in role)
    return out


def worked_out(path):
    """The same, computed from the bytes as docs/control-protocol.md defines them."""
    slots, out, seen = {}, {}, set()
    for f, m in messages(path):
        if m[5] == 1 and m[6] & 0x80 and m[56] == 2:
            slots[be(m, 12, 8), be(m, 10, 2)] = 1 << m[57]
    # a JOIN that was refused is followed by one for another group with the same queue pair
    ranks = members(path)[::-1]
    for f in frames.read(path):
        d = f.data
        if d[12:14] != b"\x08\x00" or d[23] != 17 or d[36:38] != b"\x12\xb7" or d[42:46] == b"RFCT":
            continue
        ack = d[42] == 0x11
        place = (bytes(d[30:34]), be(d, 47, 3))
        for r in ranks:
            if r.mirror and be(d, 47, 3) == r.qpn and r.own in (d[26:30], d[30:34]):
                place = (r.own, r.qpn)
            elif r.mirror or place != ((r.own, r.qpn) if ack else (r.peer, r.peer_qpn)):
                continue
            from_box = bytes(d[30:34]) == r.own if r.mirror else bytes(d[6:11]) == BOX
            if ack:
                shifted = not from_box
            else:
                shifted = from_box
            index = (be(d, 51, 3) + (r.shift if shifted else 0) - r.start) % (1 << 24)
            again = None
            if not ack:
                mark = (f.interface, bytes(d[6:12]), from_box, place, index)
                again = mark in seen
                seen.add(mark)
            out[f.number] = r.key + (r.rank, index, index % slots[r.key], again, ack)
            break
    return out


def gaps(path):
    """Data frames that are ahead of all earlier ones of their connection, with a gap: {frame: number of missing packets}."""
    highest, out = {}, {}
    found, data = worked_out(path), {f.number: f for f in frames.read(path)}
    for number, (job, group, rank, index, _, again, ack) in sorted(found.items()):
        if ack:
            continue
        d = data[number].data
        place = (data[number].interface, bytes(d[6:12]), bytes(d[30:34]), be(d, 47, 3))
        ahead = (index - highest.get(place, index - 1)) % (1 << 24)
        if 0 < ahead < 1 << 23:
            highest[place] = index
            if ahead > 1:
                out[number] = ahead - 1
    return out


def naks(path):
    """NAKs that the box sends."""
    return [f.number for f in frames.read(path) if f.data[12:14] == b"\x08\x00" and f.data[23] == 17 and f.data[36:38] == b"\x12\xb7" and
            f.data[42:46] != b"RFCT" and f.data[42] == 0x11 and bytes(f.data[6:11]) == BOX and f.data[54] >> 5 == 3]


def marked(path, what):
    return [int(n) for n in tshark(path, "-Y", what, "-T", "fields", "-e", "frame.number").split()]


def experts(folder, text):
    """Expert infos and the Info column."""
    for name in ("hosts", "box"):
        path = os.path.join(folder, f"{name}.pcapng")
        found = worked_out(path)
        again = [n for n in sorted(found) if found[n][5]]
        check(f"{text}: {name}: {len(again)} repeats are marked", marked(path, "ringfold.note.repeat") == again)
        want = gaps(path)
        lines = tshark(path, "-Y", "ringfold.note.gap", "-T", "fields", "-e", "frame.number", "-e", "ringfold.missing").splitlines()
        got = {int(n): int(m) for n, m in (line.split("\t") for line in lines)}
        check(f"{text}: {name}: {len(want)} gaps are marked, with their sizes", got == want and len(want) > 0, (got, want))
        refusals = naks(path)
        check(f"{text}: {name}: {len(refusals)} NAKs are marked", refusals and marked(path, "ringfold.note.nak") == refusals)
        info = tshark(path, "-Y", "ringfold", "-T", "fields", "-e", "frame.number", "-e", "_ws.col.Info").splitlines()
        bad = []
        for line in info:
            number, said = line.split("\t")
            job, _, rank, index, _, repeat, ack = found[int(number)]
            kind = "NAK" if int(number) in refusals else "ACK" if ack else "data"
            begin = f"rank {rank} {kind} {index}{' again' if repeat else ''}"
            if not said.startswith(begin) or f", job {job}: " not in said:
                bad.append((line, begin))
        check(f"{text}: {name}: the Info column", len(info) == len(found) and not bad, bad[:3])


def capture(sim, folder, *options):
    subprocess.run([sim, "--pcapng", folder, *options], check=True, stdout=subprocess.DEVNULL)


def compare(sim, folder, text, *options):
    capture(sim, folder, *options)
    for name in ("hosts", "box"):
        path = os.path.join(folder, f"{name}.pcapng")
        a, b = read_by_tshark(path), worked_out(path)
        differ = [(n, a.get(n), b.get(n)) for n in sorted(set(a) | set(b)) if a.get(n) != b.get(n)]
        again = sum(1 for v in b.values() if v[5])
        check(f"{text}: {name}: job, group, rank, index, slot, repeat of {len(b)} packets, {again} of them repeats",
              len(b) > 100 and not differ and (again > 0) == ("--loss" in options), differ[:4])
        if not again:
            continue
        first = last_join(path, min(a))
        want = {n - first: v for n, v in a.items() if n > first}
        got = read_by_tshark(cut(path, "late.pcapng", first))
        differ = [(n, got.get(n), want.get(n)) for n in sorted(set(got) | set(want)) if got.get(n) != want.get(n)]
        check(f"... without JOINs the capture's own comments tell the same of {len(got)} packets", len(got) > 100 and not differ, differ[:4])


def last_join(path, before):
    return max(f.number for f, m in messages(path) if m[5] == 1 and f.number < before)


def cut(path, name, first):
    """A capture without its first frames; a .pcap file has no comments either."""
    to = os.path.join(os.path.dirname(path), name)
    subprocess.run(["editcap", "-F", "pcap" if name.endswith(".pcap") else "pcapng", path, to, f"1-{first}"], check=True,
                   stderr=subprocess.DEVNULL)
    return to


def control(folder):
    path = os.path.join(folder, "hosts.pcapng")
    expected = [(f.number, m[5], m[6] >> 7, be(m, 12, 8), be(m, 20, 2), be(m, 28, 4), m[56] if m[6] & 0x80 else None)
                for f, m in messages(path)]
    args = []
    for f in ("frame.number", "verb", "reply", "job", "rank", "seq", "result"):
        args += ["-e", f if f == "frame.number" else f"ringfold_ctl.{f}"]
    got = []
    for line in tshark(path, "-Y", "ringfold_ctl", "-T", "fields", *args).splitlines():
        w = line.split("\t")
        got.append(tuple(int(x) for x in w[:6]) + (int(w[6]) if w[6] else None,))
    check(f"control protocol: verb, job, rank, number, result of {len(expected)} messages", len(got) > 8 and got == expected,
          [x for x in zip(got, expected) if x[0] != x[1]][:3])
    bad = tshark(path, "-Y", "_ws.malformed || _ws.lua.error || ringfold_ctl.short")
    check("nothing malformed", not bad, bad)


def vectors(folder):
    """The messages of docs/control-protocol.md, and each of them truncated."""
    with open("docs/control-protocol.md", encoding="utf-8") as f:
        blocks = [bytes.fromhex(b) for b in re.findall(r"```\n([0-9a-f \n]+?)```", f.read())]
    path = os.path.join(folder, "vectors.pcap")
    cut = [b[:-4] for b in blocks]
    with open(path, "wb") as f:
        f.write(struct.pack("<IHHIIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1))
        for m in blocks + cut:
            udp = struct.pack(">HHHH", 51000, 4791, len(m) + 8, 0)
            ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 28 + len(m), 0, 0, 64, 17, 0, bytes((10, 0, 0, 1)), bytes((10, 0, 0, 254)))
            d = bytes(6) + bytes.fromhex("020000000001") + b"\x08\x00" + ip + udp + m
            f.write(struct.pack("<IIII", 0, 0, len(d), len(d)) + d)
    info = tshark(path, "-T", "fields", "-e", "_ws.col.Info").splitlines()
    failures = tshark(path, "-Y", "ringfold_ctl.failed", "-T", "fields", "-e", "frame.number").split()
    check("... a refusal is an error", failures == ["5"], failures)
    failures = tshark(path, "-Y", "ringfold_ctl.disagree", "-T", "fields", "-e", "frame.number").split()
    check("... ranks that disagree are an error of their own", failures == ["6"], failures)
    want = ("JOIN,", "JOIN,", "LEAVE,", "JOIN: READY,", "JOIN: FAILED TAG,", "JOIN: FAILED DISAGREE,", "STATUS: PAGE LAG,")
    check("the test vectors of the protocol", len(blocks) == len(want) and all(i.startswith(w) for i, w in zip(info, want)), info)
    values = tshark(path, "-Y", "frame.number == 1", "-T", "fields", "-e", "ringfold_ctl.start_psn", "-e", "ringfold_ctl.peer", "-e",
                    "ringfold_ctl.deadline_ms").split()
    check("... fields of the JOIN", values == [str(0x123456), "10.0.0.3", "30000"], values)
    fields = [a for name in ("mirror", "directed", "type", "op", "family") for a in ("-e", f"ringfold_ctl.{name}")]
    values = [tshark(path, "-Y", f"frame.number == {n}", "-T", "fields", *fields).split() for n in (1, 2)]
    on = [v.replace("True", "1").replace("False", "0") for row in values for v in row]
    check("... mirror, directed, type, operation, family of both JOINs", on == ["0", "0", "1", "2", "0", "1", "1", "8", "6", "4"], on)
    fields = [a for name in ("box", "other", "what", "other_value") for a in ("-e", f"ringfold_ctl.{name}")]
    values = tshark(path, "-Y", "ringfold_ctl.disagree", "-T", "fields", *fields).split()
    check("... both sides of a disagreement", values[1:] == ["1", "1", "0x20004003"], values)
    marked = tshark(path, "-Y", "ringfold_ctl.short", "-T", "fields", "-e", "frame.number").split()
    check("... each of them cut short is marked", marked == [str(n) for n in range(len(blocks) + 1, 2 * len(blocks) + 1)], marked)


def table(folder):
    """A capture that begins after the JOINs, with the connection table of the complete one."""
    path, saved = os.path.join(folder, "hosts.pcapng"), os.path.join(folder, "table")
    all_of_it = read_by_tshark(path, "-o", f"ringfold.save:{saved}")
    last = last_join(path, min(all_of_it))
    want = {n - last: v for n, v in all_of_it.items() if n > last}
    late = cut(path, "late.pcap", last)
    check("without JOINs and comments nothing is known", not read_by_tshark(late))
    got = read_by_tshark(late, "-o", f"ringfold.table:{saved}")
    check(f"with the saved table it is: {len(got)} packets", len(got) > 100 and got == want,
          [(n, got.get(n), want.get(n)) for n in sorted(set(got) | set(want)) if got.get(n) != want.get(n)][:4])
    with open(saved, encoding="utf-8") as f:
        wrong = re.sub(r"0x([0-9a-f]{6}) (0x)", lambda m: f"0x{(int(m[1], 16) + 1) & 0xffffff:06x} {m[2]}", f.read(), count=1)
    with open(saved, "w", encoding="utf-8") as f:
        f.write(wrong)
    check("a table with a wrong PSN is noticed here", read_by_tshark(late, "-o", f"ringfold.table:{saved}") != want)


# ---- directed groups ----

KINDS = ("own use", "all-reduce", "reduce", "broadcast", "reduce-scatter", "all-gather", "gather", "scatter", "barrier", "batch")
IMMEDIATE = ("imm", "kind", "call", "hash", "wants", "gives", "op", "type", "low")


def from_box(packet):
    return packet.data[6:11] == BOX


def immediates(path):
    """What an immediate says, worked out from the bytes: {frame: the fields of IMMEDIATE}."""
    out = {}
    for f in frames.read(path):
        p = packet_of(f.data)
        if p and p.imm is not None:
            i = p.imm
            out[f.number] = (i, i >> 28, i >> 26 & 3, (i >> 14 & 0xffc) | (i >> 12 & 3), i >> 15 & 1, i >> 14 & 1, i >> 8 & 15, i >> 4 & 15,
                             i & 15)
    return out


def immediates_by_tshark(path, *more):
    args = ["-Y", "ringfold.imm", "-T", "fields", "-e", "frame.number"]
    for name in IMMEDIATE:
        args += ["-e", f"ringfold.{name}"]
    rows = [line.split("\t") for line in tshark(path, *args, *more).splitlines()]
    flag = {"1": 1, "0": 0, "True": 1, "False": 0}
    return {int(r[0]): tuple(flag[v] if name in ("wants", "gives") else int(v, 0) for name, v in zip(IMMEDIATE, r[1:])) for r in rows}


def control_frame(plan, rank, verb, body, reply=False):
    """A control message of version 3 between a rank and the box, made by hand."""
    m = b"RFCT" + struct.pack(">BBHHH", 3, verb, 0xc000 if reply else 0, 56 + len(body), 0)
    m += struct.pack(">QHHIIQQQ", plan["job"], rank, 0, 1, 1, rank + 1, 0, 0) + body
    ends = [bytes(int(w) for w in plan["ranks"][rank]["ip"].split(".")), bytes((10, 0, 0, 254))]
    macs = [bytes.fromhex(plan["ranks"][rank]["mac"].replace(":", "")), bytes.fromhex("025246000010")]
    if reply:
        ends, macs = ends[::-1], macs[::-1]
    ip = bytearray(struct.pack(">BBHHHBBH", 0x45, 0, 28 + len(m), 0, 0x4000, 64, 17, 0) + ends[0] + ends[1])
    struct.pack_into(">H", ip, 10, 0xffff ^ frames.inet_sum(ip))
    return macs[1] + macs[0] + b"\x08\x00" + bytes(ip) + struct.pack(">HHHH", 50000, 4791, 8 + len(m), 0) + m


def joins(plan):
    """JOIN of every rank of a plan, and one READY."""
    size = len(plan["ranks"])
    log2 = {name: plan_value.bit_length() - 1 for name, plan_value in (("mtu", plan["mtu"]), ("slots", plan["directed"]["slots"]))}
    out = []
    for number, r in enumerate(plan["ranks"]):
        to = plan["ranks"][(number + 1) % size]
        own = bytes(int(w) for w in r["ip"].split("."))
        flags, peer, peer_qpn = 0x80, bytes(int(w) for w in to["ip"].split(".")), to["recv_qpn"]
        if "mirror" in plan:
            flags, peer, peer_qpn = 0xc0, bytes(4), 0
        body = struct.pack(">HBBBBBBHBB", size, 0, 0, log2["mtu"], log2["slots"], 4, r["port"], flags, 4, 0) + own
        body += struct.pack(">I", r["qpn"]) + peer + struct.pack(">IIIII", peer_qpn, r["start_psn"], plan["shift"], 0xffffffff, 1000)
        out.append(control_frame(plan, number, 1, body))
    ready = struct.pack(">BBHHBBBBHIIII", 2, log2["slots"], size, plan["directed"]["slots"] // 2, 0, 0, 1, 0, 0, 0, 0, 0, 0)
    out.append(control_frame(plan, 0, 1, ready + bytes(2 * size), True))
    return out


def directed(folder, gen, play, *options):
    text = " ".join(options) or "ring"
    there = os.path.join(folder, "directed")
    subprocess.run([gen, "--out", there, "--directed", "--dtype", "all", "--op", "all", "--messages", "60", "--size", "2000", *options],
                   check=True, stdout=subprocess.DEVNULL)
    subprocess.run([play, "model", there, "1"], check=True, stdout=subprocess.DEVNULL)
    with open(os.path.join(there, "traffic.json"), encoding="utf-8") as f:
        plan = json.load(f)
    some = [bytes(f.data) for name in ("port0", "port1", "out0", "out1") for f in frames.read(os.path.join(there, f"{name}.pcap"))]
    known, alone = os.path.join(folder, "known.pcap"), os.path.join(folder, "alone.pcap")
    write(known, joins(plan) + some)
    write(alone, some)
    for path, how, more in ((known, "after JOIN", ()), (alone, "by preference", ("-o", "ringfold.directed:TRUE"))):
        got, want = immediates_by_tshark(path, *more), immediates(path)
        differ = [(n, got.get(n), want.get(n)) for n in sorted(set(got) | set(want)) if got.get(n) != want.get(n)]
        check(f"directed, {text}, {how}: {len(want)} immediates", len(want) > 200 and not differ, differ[:3])
        bad = tshark(path, "-Y", "ringfold.note.order || ringfold.note.immediate || _ws.malformed || _ws.lua.error", *more)
        check("... nothing to complain of", not bad, bad)
    check("... not without JOIN and preference", not immediates_by_tshark(alone))
    ranks(known, plan, text)
    info = tshark(known, "-Y", "ringfold.kind == 8", "-T", "fields", "-e", "_ws.col.Info").splitlines()
    check("... the Info column of a barrier", info and all(re.match(r"rank \d data \d+, barrier call \d \w+ \w+ wants, job", i) for i in info), info[:2])
    spoilt(folder, joins(plan), some, text)


def ranks(path, plan, text):
    """Rank, index and direction of every packet."""
    args = [a for name in ("frame.number", "ringfold.rank", "ringfold.index", "ringfold.role") for a in ("-e", name)]
    got = dict((int(n), (int(r), int(i), role)) for n, r, i, role in
               (line.split("\t") for line in tshark(path, "-Y", "ringfold", "-T", "fields", *args).splitlines()))
    want = {}
    for f in frames.read(path):
        p = packet_of(f.data)
        if not p:
            continue
        ip = ".".join(str(b) for b in (p.to if from_box(p) and "mirror" in plan else p.source))
        rank, = (n for n, r in enumerate(plan["ranks"]) if r["ip"] == ip)
        index = (p.psn - plan["ranks"][rank]["start_psn"]) % (1 << 24)
        want[f.number] = (rank, index, "data " + ("from" if from_box(p) else "to") + " the box")
    differ = [(n, got.get(n), want.get(n)) for n in sorted(set(got) | set(want)) if got.get(n) != want.get(n)]
    check(f"directed, {text}: rank, index and direction of {len(want)} packets", len(want) > 200 and not differ, differ[:3])


def spoilt(folder, before, some, text):
    """An immediate with another index, and ones with codes that are not allowed, each marked where it is and nowhere else."""
    path = os.path.join(folder, "spoilt.pcap")
    with_data = [n for n, d in enumerate(some) if (p := packet_of(d)) and p.imm is not None and p.payload and not from_box(p)]
    empty = [n for n, d in enumerate(some) if (p := packet_of(d)) and p.imm is not None and not p.payload and not from_box(p)]
    back = [n for n, d in enumerate(some) if (p := packet_of(d)) and p.imm is not None and p.payload and from_box(p)]
    for what, number, at, mask, note in (("another index", with_data[9], 43, 2, "order"), ("operation 7 or more", with_data[9], 42, 8, "immediate"),
                                         ("gives, but is empty", empty[5], 42, 0x40, "immediate"), ("data, does not give", with_data[7], 42, 0x40, "immediate"),
                                         ("data for one who does not want", back[5], 42, 0x80, "immediate")):
        p = packet_of(some[number])
        ip = bytearray(p.ip[:-4])
        ip[at] = ip[at] | 15 if mask == 8 else ip[at] ^ mask
        write(path, before + some[:number] + [remake(p, ip)] + some[number + 1:])
        got = marked(path, "ringfold.note.order || ringfold.note.immediate")
        here = number + len(before) + 1
        check(f"directed, {text}: {what} is marked", got == [here] and marked(path, f"ringfold.note.{note}") == [here], (got, here))


def main(argv):
    if not shutil.which("tshark"):
        print("tshark is not installed")
        return 77
    folder = tempfile.mkdtemp(prefix="ringfold-dissector-")
    try:
        compare(argv[1], folder, "1 % loss, 3 ranks", "--ranks", "3", "--size", "192K", "--slots", "64", "--loss", "1%", "--seed", "5")
        compare(argv[1], folder, "no loss, 4 ranks", "--ranks", "4", "--size", "128K", "--slots", "32")
        control(folder)
        table(folder)
        capture(argv[1], folder, "--ranks", "3", "--size", "96K", "--slots", "64", "--loss", "1%", "--seed", "6")
        experts(folder, "1 % loss")
        vectors(folder)
        directed(folder, argv[2], argv[3])
        directed(folder, argv[2], argv[3], "--steering", "mirror")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return 1 if FAILED else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
