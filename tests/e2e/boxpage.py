#!/usr/bin/env python3
"""The page of a box in headless Chromium: values change, errors turn red, nothing overflows, names are only text.

usage: boxpage.py BUILD [--pictures DIR]      the second form only writes the pictures of the documentation
"""
import json
import os
import signal
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import browser
from boxlab import Lab
from report import FAILED, check

SIZES = ((1280, 900), (390, 844), (320, 600))

# The first thing that leaves the window, its picture or its box; "" if nothing does.
OVERFLOW = """(() => {
  const name = e => e.tagName + "." + e.getAttribute("class") + " " + e.textContent.slice(0, 40);
  if (document.documentElement.scrollWidth > innerWidth) return "the page is " + document.documentElement.scrollWidth + " wide";
  for (const e of document.querySelectorAll("body *")) {
    const r = e.getBoundingClientRect();
    if (r.width && (r.right > innerWidth + 1 || r.left < -1)) return name(e);
    if (!e.ownerSVGElement && e.clientWidth && e.scrollWidth > e.clientWidth + 1) return name(e);
  }
  for (const t of document.querySelectorAll("svg text")) {
    const r = t.getBoundingClientRect(), s = t.ownerSVGElement.getBoundingClientRect();
    if (r.left < s.left - 1 || r.right > s.right + 1 || r.top < s.top - 2 || r.bottom > s.bottom + 2) return name(t);
    const box = t.parentNode.tagName === "g" && t.parentNode.querySelector("rect").getBoundingClientRect();
    if (box && (r.right > box.right || r.bottom > box.bottom)) return name(t);
  }
  return "";
})()"""
RED = """(selector => { const e = document.querySelector(selector); if (!e) return false;
  const [r, g, b] = getComputedStyle(e)[e.tagName === "rect" ? "stroke" : "color"].match(/\\d+/g).map(Number);
  return r > 150 && r > g + 80 && r > b + 80; })"""


def text_of(b, selector):
    return b.run("(document.querySelector(%s) || {textContent: ''}).textContent" % json.dumps(selector))


def fits(b, url, what):
    for width, height in SIZES:
        for dark in (False, True):
            b.open(url, width, height, dark)
            b.until("document.querySelectorAll('#picture .node').length > 4")
            found = b.run(OVERFLOW)
            check("%s: nothing overflows at %d px, %s" % (what, width, "dark" if dark else "light"), found == "", found)
    b.run("document.body.append(Object.assign(document.createElement('p'), {id: 'wide', style: 'width: 2000px'}))")
    check("... and something too wide is noticed", b.run(OVERFLOW) != "")
    b.run("document.getElementById('wide').remove(); document.querySelector('#picture text').textContent = 'x'.repeat(400)")
    check("... as is a text that leaves its picture", b.run(OVERFLOW) != "")


def test_colours(b, url):
    seen = []
    for dark in (False, True):
        b.open(url, 1280, 900, dark)
        b.until("document.querySelectorAll('#picture .node').length > 4")
        seen.append(b.run("[getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).color]"))
    light, dark = [[sum(map(int, c[c.index("(") + 1:-1].split(",")[:3])) for c in pair] for pair in seen]
    check("dark letters on light, light letters on dark", light[0] > 700 and light[1] < 200 and dark[0] < 200 and dark[1] > 550, seen)


def test_job(b, build):
    lab = Lab(build, hosts=4, probe="<b>probe</b>")
    b.open(lab.url, 1280, 900)
    check("before a job", b.until("document.querySelector('#groups').textContent === 'no job has joined'"))
    check("no errors are shown", b.run("document.querySelector('#faults').hidden"))
    job = lab.start_job("loop", "120000")
    check("a job appears", b.until("document.querySelector('#groups h3') && document.querySelector('#groups h3').textContent === 'job 7 ready'"))
    check("its rate", b.until("/[1-9]\\d* packets\\/s, [<\\d.]+ Gb\\/s for each rank/.test(document.querySelector('#groups').textContent)"))
    picture = text_of(b, "#picture")
    check("hosts, ranks and ports in the picture", all(w in picture for w in ("h0", "rank 3", "port 0", "Gb/s", "in ")), picture)
    check("arrows of what flows", b.until("document.querySelectorAll('#picture .wire.in').length === 4"))
    first = b.run("document.querySelector('#ports').textContent")
    check("values change", b.until("document.querySelector('#ports').textContent !== %s" % json.dumps(first)))
    check("lines of the last minutes", b.until(
        "[...document.querySelectorAll('.charts polyline')].every(p => p.getAttribute('points').split(' ').length > 3)"))
    check("events", all(w in text_of(b, "#events") for w in ("host h0 connected", "job 7 ready")), text_of(b, "#events"))
    check("names are text, not HTML", "<b>probe</b>" in text_of(b, "#picture") and not b.run("document.querySelector('#all b')"))
    check("no raw counter names", not any(w in b.run("document.body.innerText") for w in ("rx_frames", "tx_", "no_room", "punt_")))

    check("no port is marked", not b.run("document.querySelector('#picture rect.bad')"))
    lab.send_broken(2)
    check("an error is shown in words", b.until(
        "document.querySelector('#faults').textContent.includes('port 0: IP header checksum wrong: 2 (in the last minute)')"))
    check("... in red", b.run(RED + "('#faults li')"))
    check("... and its port is red", b.run(RED + "('#picture rect.bad')"))
    check("a healthy line is not", not b.run(RED + "('#events li')"))
    lab.send_broken(1)
    check("the number grows", b.until("document.querySelector('#faults').textContent.includes('wrong: 3')"))

    job[2].send_signal(signal.SIGSTOP)
    check("the rank that the others wait for", b.until(
        "/waits for rank 2/.test(document.querySelector('#groups').textContent) && document.querySelector('#picture .node.wait')" +
        ".parentNode.textContent.includes('rank 2: awaited')"), text_of(b, "#groups"))
    fits(b, lab.url, "a job")
    job[2].send_signal(signal.SIGCONT)
    b.open(lab.url, 1280, 900)
    job[1].kill()
    check("a failed group, with its reason in words", b.until(
        "document.querySelector('.card.bad') && document.querySelector('.card.bad p').textContent.length > 10", 30))
    check("... in red", b.run(RED + "('.card.bad p')"))
    check("... and in the events", b.until("[...document.querySelectorAll('#events li.bad')].some(e => e.textContent.includes('job 7 failed: '))"))
    check("... in red", b.run(RED + "('#events li.bad')"))
    check("the host that has left", b.until("document.querySelector('#picture').textContent.includes('not connected')"))
    fits(b, lab.url, "a failed job")
    test_colours(b, lab.url)
    b.open(lab.url, 1280, 900)
    b.until("document.querySelectorAll('#picture .node').length > 4")
    lab.stop()
    check("a box that has ended", b.until("document.querySelector('#state').textContent.startsWith('no answer from the box')"))
    check("... in red", b.run(RED + "('#state')"))


# What the page draws at port 0 for ranks 0 and 1 of two jobs, each rank in two groups; hosts are known or not.
ATTACHED = """(hosts => {
  const member = rank => ({rank, port: 0, ip: "10.0.0." + (rank + 1), host: hosts ? "h0" : null, in: 1, out: 2, left: false});
  const group = (job, group, awaited) => ({job, group, state: "ready", members: [member(1), member(0)],
    awaits: awaited < 0 ? null : {rank: awaited}});
  const groups = [group(7, 0, -1), group(7, 1, 1), ...(hosts ? [group(8, 0, -1), group(8, 1, -1)] : [])];
  return JSON.stringify(attached({groups, hosts: hosts && [{name: "h0", port: 0, connected: true, in: 5, out: 6}]}, 0)
    .map(n => [n.name, n.text, n.in, n.out, n.wait]));
})"""


def test_groups(b, build):
    """A rank that is in several groups of its job is shown once."""
    lab = Lab(build, hosts=2)
    job = lab.start_job("two", "30000")
    b.open(lab.url, 1280, 900)
    check("a job of two groups", b.until("document.querySelectorAll('#groups h3').length === 2 && "
                                         "/rank 0/.test(document.querySelector('#picture').textContent)"))
    nodes = b.run("[...document.querySelectorAll('#picture g')].map(g => g.querySelectorAll('text')[1].textContent)")
    check("each rank once in the picture", sorted(t for t in nodes if "rank" in t and t != "no rank") == ["rank 0", "rank 1"], nodes)
    check("... without hosts one node for each, with the traffic of both groups", json.loads(b.run(ATTACHED + "(null)")) ==
          [["rank 0", "10.0.0.1", 2, 4, False], ["rank 1", "10.0.0.2", 2, 4, True]], b.run(ATTACHED + "(null)"))
    check("... and ranks of two jobs on a host by their jobs", json.loads(b.run(ATTACHED + "(true)")) ==
          [["h0", "job 7 ranks 0, 1, job 8 ranks 0, 1", 5, 6, True]], b.run(ATTACHED + "(true)"))
    for rank in job:
        rank.terminate()
    lab.stop()


def test_many(b, build):
    """Eight ports, long names, many hosts at one port."""
    options = ["--lanes", "8"]
    folder = "/tmp/ringfold-many-%d" % os.getpid()
    for n in range(12):
        options += ["--port", "a_long_name_of_host_%d=dgram:%s.%d,to=%s.x" % (n, folder, n, folder)]
    lab = Lab(build, hosts=8, options=options)
    fits(b, lab.url, "21 hosts")
    lab.stop()


def test_image(b, build):
    if not os.path.exists(os.path.join(build, "bin", "ringfold-rv32")):
        print("      (no libunicorn: the firmware's image is not run)")
        return
    lab = Lab(build, options=("--firmware", "rv32"))
    b.open(lab.url, 1280, 900)
    check("the image of the firmware: what is not shown is said", b.until(
        "document.querySelector('#groups').textContent.includes('whose memory cannot be read from here')"))
    check("... and the slots are gone", b.run("document.querySelector('#room').hidden"))
    check("... the rest is there", b.until("document.querySelectorAll('#picture .node').length >= 5"))
    lab.stop()


def take_pictures(b, build, folder):
    lab = Lab(build, hosts=4)
    job = lab.start_job("loop", "120000")
    b.open(lab.url, 1000, 860)
    time.sleep(70)
    b.picture(os.path.join(folder, "box-light.png"))
    b.open(lab.url, 390, 844)
    time.sleep(20)
    b.picture(os.path.join(folder, "box-phone.png"))
    b.open(lab.url, 1000, 860, dark=True)
    time.sleep(20)
    lab.send_broken(3)
    job[2].send_signal(signal.SIGSTOP)
    time.sleep(3.5)
    b.picture(os.path.join(folder, "box-dark.png"))
    job[2].send_signal(signal.SIGCONT)
    lab.stop()


def main(args):
    if not browser.program():
        print("skipped: Chromium is not installed (mk/deps.sh test)")
        return 77
    b = browser.Browser()
    try:
        if args[1:2] == ["--pictures"]:
            take_pictures(b, args[0], args[2])
            return 0
        test_job(b, args[0])
        test_groups(b, args[0])
        test_many(b, args[0])
        test_image(b, args[0])
        check("no error in the page's script", b.errors == [], b.errors)
    finally:
        b.close()
    return 1 if FAILED else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
