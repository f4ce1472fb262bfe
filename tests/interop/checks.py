"""The checks of the cases, and how they report."""
import shutil
import subprocess
import sys

import capture
import dissector
from guests import say
from report import check

# Counters of soft-RoCE for transport errors and for connections that ended.
WRONG = ("out_of_seq_request", "rcvd_seq_err", "rcvd_rnr_err", "retry_exceeded_err", "retry_rnr_exceeded_err", "send_err")


def expect_ring(text, results, good=0):
    codes = [c for c, _ in results]
    return check(text, codes == [good] * len(codes), "\n".join(o for _, o in results))


def delta(before, after):
    return {k: after[k] - before[k] for k in after if after[k] != before[k]}


def check_counters(text, guests, before):
    """Checks that there is no sequence error, and no retry except spurious ones caused by soft-RoCE's timer."""
    for g, b in zip(guests, before):
        d = delta(b, g.counters())
        wrong = {k: v for k, v in d.items() if k in WRONG}
        again = d.get("completer_retry_err", 0) + d.get("duplicate_request", 0)
        check(f"{text}: {g.name}: no sequence error, {d.get('sent_pkts', 0)} packets sent, {again} spurious",
              not wrong and again <= d.get("sent_pkts", 0) // 4, d)


def box_counters(report):
    total = {}
    for port in report["box"]:
        for k, v in port.items():
            total[k] = total.get(k, 0) + v
    return {k: v for k, v in total.items() if v}


def check_box(lab, text="what the box sent", faults=False, box_ip="10.0.0.254", floods=False):
    """Ends the box, and passes every packet that it sent to the independent checker and to tshark."""
    report = lab.box_end()
    path = lab.file("box.pcapng")
    r = subprocess.run([sys.executable, "-B", "tests/check/frames.py", "--box-mac", "02:52:46:00:00:10", "--box-ip",
                        box_ip, path] + ["--faults"] * faults + ["--floods"] * floods, capture_output=True, text=True)
    check(f"{text}: independent frame checker: {r.stdout.strip().rsplit(': ', 1)[-1]}", r.returncode == 0, r.stdout + r.stderr)
    bad = capture.malformed(path)
    if bad is None:
        say("      no tshark here")
    else:
        check(f"{text}: tshark finds nothing malformed", not bad, "\n".join(bad))
    check(f"{text}: no TCP and no ping among it", capture.crossed(path) == 0, capture.crossed(path))
    return report


def check_dissector(lab):
    """Every packet of every group of hosts.pcapng as Wireshark shows it, from the JOINs and from the comments of `ringfold box`."""
    if not shutil.which("tshark"):
        return
    path = lab.file("hosts.pcapng")
    shown = dissector.read_by_tshark(path)
    want = dissector.worked_out(path)
    check(f"tshark shows job, group, rank, index, slot, repeat of {len(shown)} packets", shown == want and len(want) > 100)
    first = dissector.last_join(path, max(want))
    want = {n - first: v for n, v in want.items() if n > first}
    shown = dissector.read_by_tshark(dissector.cut(path, "late.pcapng", first))
    check(f"... and of the {len(shown)} after the last JOIN by the capture's own comments", shown == want and len(want) > 100)


def sent_again(lab):
    """{rank: [packets sent, repeated after NAK, repeated by timer, NAKs, RNR NAKs received, bytes]} over all groups of hosts.pcapng."""
    total = {}
    for s in capture.senders(lab.file("hosts.pcapng")):
        row = total.setdefault(s.member.rank, [0] * 6)
        for k, v in enumerate((s.sent, s.by_nak, s.by_timer, s.naks, s.rnr_naks, s.bytes)):
            row[k] += v
    return total


def say_again(rank, row):
    say(f"      rank {rank}'s connection: {row[0]} packets sent, {row[1]} again after a NAK, {row[2]} again by the timer; "
        f"{row[3]} sequence NAKs and {row[4]} RNR NAKs came")


def check_unchanged(lab):
    hosts = lab.file("hosts.pcapng")
    good, detail = capture.unchanged(hosts)
    check(f"through the box: payload byte for byte, headers except for the source MAC: {detail}", good, detail)
    check("... and a spoilt byte is noticed", not capture.unchanged(hosts, spoil=True)[0])


def check_received(lab, guests):
    """Ends the box, and checks that every RoCE packet delivered has passed the NIC's own check of the ICRC."""
    counted = [g.counters()["rcvd_pkts"] for g in guests]
    report = check_box(lab)
    for k, (g, n) in enumerate(zip(guests, counted)):
        came = capture.delivered(lab.file("hosts.pcapng"), f"g{k}")
        check(f"{g.name}: {came} RoCE packets delivered, {n} found right by its NIC", came == n)
    return report
