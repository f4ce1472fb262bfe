#!/usr/bin/env python3
"""synth.py: each of its checks in a case in which it fails and in one in which it passes."""
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import synth
import synth_rules as rules
import timing

TOOL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "synth.py")


def expect(what, got, wanted):
    if got != wanted:
        sys.exit("%s: got %r, expected %r" % (what, got, wanted))
    print("ok  " + what)


def complains(what, found, word):
    expect(what, [word in text for text in found], [True])


def quiet(what, found):
    expect(what, found, [])


def check_rules():
    complains("4 % more", rules.grown({"LUT": 1000.0}, {"LUT": 1040}), "grown")
    quiet("2 % more", rules.grown({"LUT": 1000.0}, {"LUT": 1020}))
    quiet("ten cells more of few", rules.grown({"LUT": 20.0}, {"LUT": 30}))
    for column in ("BRAM36", "URAM"):
        complains("one block more of " + column, rules.grown({column: 15.0}, {column: 16}), "grown")
        quiet("no block more of " + column, rules.grown({column: 15.0}, {column: 15}))
    quiet("a field that is empty in the page", rules.grown({"LUT": ""}, {"LUT": 1000}))
    complains("a level more", rules.grown({"LUT6 levels": 7.0}, {"LUT6 levels": 8}), "grown")
    complains("a lower frequency", rules.grown({"iCE40 MHz": 80.0}, {"iCE40 MHz": 70.0}), "slower")
    quiet("a higher frequency", rules.grown({"iCE40 MHz": 80.0}, {"iCE40 MHz": 90.0}))
    complains("no row", rules.missing(("Modules", "rf_new"), {}), "--update")
    quiet("a row", rules.missing(("Modules", "rf_new"), {("Modules", "rf_new"): {}}))
    complains("a path above the limit", rules.slow(4761, 4760, None), "limit")
    quiet("a path at the limit", rules.slow(4760, 4760, None))
    quiet("a known exception", rules.slow(8371, 4760, 8371))
    complains("an exception that got worse", rules.slow(8700, 4760, 8371), "KNOWN_SLOW says 8371")
    complains("an exception that got better", rules.slow(7000, 4760, 8371), "lower that figure")
    complains("an exception that is none", rules.slow(4700, 4760, 8371), "take it out")
    complains("a box above its limit", rules.large(180001, 180000), "more than")
    quiet("a box at its limit", rules.large(180000, 180000))
    quiet("a box without a limit", rules.large(500000, None))


def check_rows():
    """The same checks, called through the rows of the tables: this shows that every section uses its checks."""
    sizes = dict.fromkeys(synth.COLUMNS, 100)
    page = {("Modules", "rf_skid"): {c: 50.0 for c in synth.COLUMNS}}
    expect("sizes of a module", len(synth.complaints(("Modules", "rf_skid"), sizes, page)), len(synth.COLUMNS))
    times = {"LUT, flattened": 10, "r>r ps": synth.LIMIT + 1}
    key = ("Timing", "rf_skid")
    complains("timing of a module", synth.complaints(key, times, {key: {"LUT, flattened": 10.0}}), "limit")
    key = ("The whole box flattened", synth.FLAT[0][0])
    complains("timing of the whole box", synth.complaints(key, {"LUT": 10, "r>r ps": synth.LIMIT + 1}, {key: {"LUT": 10.0}}), "limit")
    complains("size of the whole box", synth.complaints(key, {"LUT": 1040, "r>r ps": 0}, {key: {"LUT": 1000.0}}), "grown")
    plain = {("The whole box", "4 ports, all types"): {"LUT": 1000.0}}
    key = ("The whole box", "4 ports, all types, mirror and directed")
    plain[key] = {"LUT": 1090.0}
    quiet("a tenth more for mirror connections", synth.complaints(key, {"LUT": 1100}, plain))
    complains("more than a tenth", synth.complaints(key, {"LUT": 1101}, plain), "more than 1100")
    key = ("A small box in an ECP5", synth.ECP5[0][0])
    quiet("an ECP5 box at its limit", synth.complaints(key, {"LUT4 in all": 60000}, {key: {"LUT4 in all": 59000.0}}))
    complains("an ECP5 box above its limit", synth.complaints(key, {"LUT4 in all": 60001}, {key: {"LUT4 in all": 59000.0}}), "more than")
    for name, must in synth.MUST.items():
        key = ("The whole box", name)
        complains("limit of " + name, synth.complaints(key, {"LUT": must + 1}, {key: {}}), "more than")


def check_yosys():
    """What a script needed is that of its own process; a script that fails says why."""
    seconds, megabytes = synth.yosys("check", "read_verilog rtl/lib/rf_skid.v\nproc\n")
    expect("time and memory", (0 < seconds < 10, 5 < megabytes < 500), (True, True))
    try:
        synth.yosys("check", "no_such_command\n")
    except RuntimeError as e:
        expect("a script that fails", "no_such_command" in str(e), True)
    else:
        expect("a script that fails", "it passed", "RuntimeError")
    expect("registers", synth.columns({"FDRE": 2, "FDSE": 1})["FF"], 3)
    try:
        synth.columns({"FDRE": 2, "LDCE": 1})
    except RuntimeError as e:
        expect("a latch", "1 latches (LDCE)" in str(e), True)
    else:
        expect("a latch", "it passed", "RuntimeError")
    expect("a netlist that cannot be timed ends its row only", issubclass(timing.Bad, RuntimeError), True)


def check_option():
    """Both forms of a module are measured, and a row compares both with the page."""
    found = synth.option("rf_repeatq", "PARITY")
    expect("a module without parity is smaller", 0 < found["LUT without"] < found["LUT"], True)
    key = ("Price of an option", "rf_repeatq, PARITY")
    quiet("an option as in the page", synth.complaints(key, found, {key: dict(found)}))
    complains("an option that costs more", synth.complaints(key, found, {key: {**found, "LUT": found["LUT"] / 2}}), "grown")


def run(page, *args):
    done = subprocess.run([sys.executable, "-B", TOOL, "--page", page, *args], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True)
    return done.returncode, done.stdout


def check_tool():
    """A page is written. The same figures pass against it; they fail against a page with smaller figures."""
    with tempfile.TemporaryDirectory() as place:
        page = os.path.join(place, "page.md")
        code, text = run(page, "rf_skid")
        expect("an empty page", (code, "run with --update" in text), (1, True))
        expect("a page is made", run(page, "--update", "rf_skid")[0], 0)
        expect("what was measured is measured again", run(page, "rf_skid")[0], 0)
        table = synth.read_page(page)
        ends = table[("Timing", "rf_skid")]["lines of r>r"]
        expect("the ends of a path have lines of the source", ends.startswith("rf_skid.v:"), True)
        table[("Timing", "rf_skid")]["LUT, flattened"] = 0.0
        table[("Modules", "rf_skid")]["FF"] = 2.0
        synth.write_page(page, table)
        code, text = run(page, "rf_skid")
        expect("a page that says less", (code, text.count("grown by more than 3 %")), (1, 2))
        code, text = run(page, "rf_nothing")
        expect("a module that is not there", (code, "rf_nothing" in text), (2, True))


def main():
    check_rules()
    check_rows()
    check_yosys()
    check_option()
    check_tool()


main()
