"""Every collective over verbs, by mirror; and the second, larger group of a communicator."""
import subprocess
import sys

import capture
from cases import case, ring
from checks import box_counters, check, check_counters, check_received, expect_ring
from guests import Lab, say

MIRROR = "RF_STEERING=mirror"
ALL = "ringfold-perf --collective all --min 600 --max 60000 --factor 100 --iters 1 --warmup 0 --json"


def judged(lab, guests, results):
    """What the independent check of ringfold perf's output says of rank 0's."""
    out, path = results[0][1], lab.file("perf.json")
    with open(path, "w") as f:
        f.write(out[out.find("{"):out.rfind("}") + 1])
    r = subprocess.run([sys.executable, "-B", "tests/check/perf.py", str(len(guests)), path], capture_output=True, text=True)
    return r.stdout + r.stderr


def every(lab, guests, roots, types):
    n = len(guests)
    # all-reduce, reduce-scatter and all-gather have no root; two sizes, out of place and in place; and the barrier
    rows = (3 + 4 * (n if roots == "all" else 1)) * len(types.split(",")) * 2 * 2 + 1
    before = [g.counters() for g in guests]
    results = ring(guests, f"{ALL} --root {roots} --type {types}", MIRROR, seconds=300)
    expect_ring(f"{n} guests: every collective, root {roots}, {types}, 600 B and 60,000 B", results)
    found = judged(lab, guests, results)
    check(f"... {rows} results, all by the box, all bits right on every rank",
          f"perf: {rows} results, 0 intervals, 0 not run, 0 wrong, 8 collectives, by box, 0 faults" in found, found)
    check_counters("every collective", guests, before)


def spoilt(lab, guests):
    results = ring(guests, ALL + " --flip --in-place", MIRROR)
    check("one bit flipped: every rank notices it", [c for c, _ in results] == [3] * len(guests), results)
    found = judged(lab, guests, results)
    check("... in each collective with data", " 14 wrong, 8 collectives" in found, found)


def larger(guests):
    """Small calls, then large ones, for which the second group is made, then barriers, during which it is given back."""
    n = len(guests)
    before = [g.counters() for g in guests]
    results = ring(guests, "ringfold-perf --slots 16 --collective all-reduce,barrier --min 4K --max 512K --factor 128 --out-of-place "
                   "--warmup 0 --seconds 4", f"{MIRROR} RF_DEBUG=info", seconds=300)
    expect_ring(f"{n} guests, 16 slots: 4 KB, then 512 KB, then barriers", results)
    check("... the same bits as the order of additions gives, on every rank", "wrong elements: 0" in results[0][1], results[0][1])
    for text in ("a second group of the box, with 256 slots, carries large calls after number", "the second group is given back"):
        # a pause of a second between two large calls is idle, too: it may be made more than once
        times = [o.count(text) for _, o in results]
        check(f"... on every rank, {times[0]} times: {text}", times[0] > 0 and times == times[:1] * n, "\n".join(o for _, o in results))
    check_counters("the second group", guests, before)


def carried(lab, jobs):
    """The second groups of so many jobs: what each rank sent in them."""
    by_job = {}
    for s in capture.senders(lab.file("hosts.pcapng")):
        by_job.setdefault(s.member.key[0], {}).setdefault(s.member.key[1], []).append(s)
    more = [groups for groups in by_job.values() if len(groups) > 1]
    check(f"{len(more)} of {len(by_job)} jobs had more than one group", len(more) == jobs, [list(g) for g in by_job.values()])
    for groups in more:
        sent = {number: sum(s.bytes for s in some) for number, some in groups.items()}
        say(f"      bytes sent by group: {sent}")
        least = min(s.bytes for s in groups[max(groups)])
        check(f"... each rank sent large calls in the second one: at least {least} bytes", least > 1 << 19, sent)


@case
def collectives(quick):
    """Every collective over verbs by mirror, two and four guests; the second, larger group of a communicator."""
    most = 2 if quick else 4
    with Lab("collectives") as lab:
        lab.box(most, rule=False)
        guests = lab.boot(most, mtu=1500)
        every(lab, guests[:2], "all", "fp32,int8")
        larger(guests[:2])
        if most > 2:
            every(lab, guests, str(most - 1), "fp32")
            larger(guests)
        spoilt(lab, guests[:2])
        c = box_counters(check_received(lab, guests))
        check(f"no rule, nothing foreign, no tombstone: {c.get('accepted', 0)} packets accepted",
              c.get("accepted", 0) > 10000 and not c.get("foreign") and not c.get("tombstone"), c)
        carried(lab, most // 2)
