#!/usr/bin/env python3
"""What a shared object adds to calls that it passes on, from a profile of callgrind (with --compress-strings=no).

  mpi_cost.py PROFILE OBJECT NEXT CALLS      instructions of each of CALLS calls: those in OBJECT (the end of a path), and in
                                             what it calls, but not in the function NEXT of another object
"""
import sys


def cost_of(line):
    """A line of costs is a position and instructions."""
    return int(line.split()[1])


def added(lines, own, following):
    inside, total, passed = False, 0, 0
    callee_object = callee = None
    lines = iter(lines)
    for line in lines:
        line = line.rstrip("\n")
        key, _, value = line.partition("=")
        if key == "ob":
            inside = value.endswith(own)
        elif key == "fn":
            callee_object = callee = None
        elif key == "cob":
            callee_object = value
        elif key == "cfn":
            callee = value
        elif key == "calls":
            cost = next(lines)
            if inside and callee_object is not None and not callee_object.endswith(own):
                # a name may have the number of a cycle behind it
                if callee.split("'")[0] == following:
                    passed += int(value.split()[0])
                else:
                    total += cost_of(cost)
            callee_object = callee = None
        elif inside and line[:1].isdigit():
            total += cost_of(line)
    return total, passed


def main(argv):
    if len(argv) != 5:
        sys.exit(__doc__)
    with open(argv[1], encoding="utf-8", errors="replace") as file:
        total, passed = added(file, argv[2], argv[3])
    if passed != int(argv[4]):
        sys.exit("mpi_cost.py: %d calls of %s were passed on, not %s" % (passed, argv[3], argv[4]))
    print(total // passed)


if __name__ == "__main__":
    main(sys.argv)
