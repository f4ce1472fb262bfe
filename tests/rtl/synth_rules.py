"""The rules by which tests/rtl/synth.py judges figures. Each function returns a list of complaints, or an empty list."""

# A figure may exceed that of the page by this factor. Cells must also be more than SLACK more: a small module would otherwise fail
# when the mapping moves an inverter. Block RAM and levels are few; they have no slack.
GROWTH = 1.03
SLACK = 10
EXACT = ("BRAM36", "URAM", "levels")
# If a known exception is faster than its figure by more than this factor, the figure must be lowered.
BETTER = 0.97


def number(x):
    return x if isinstance(x, str) else "%d" % x if x == int(x) else "%.1f" % x


def grown(was, now):
    """Sizes against those of the page, {column: value}. Text and empty fields of the page are not compared. For MHz,
    a larger value is better."""
    found = []
    for column, value in now.items():
        before = was.get(column)
        if isinstance(value, str) or isinstance(before, str) or before is None:
            continue
        if column.endswith("MHz"):
            if value < before * 0.9:
                found.append("%s was %s: slower by more than 10 %%" % (column, number(before)))
        elif value > before * GROWTH and value > before + (0 if column.endswith(EXACT) else SLACK):
            found.append("%s was %s: grown by more than 3 %%" % (column, number(before)))
    return found


def missing(key, page):
    return [] if key in page else ["has no row in the page: run with --update"]


def slow(ps, limit, known):
    """The longest path between registers, in ps. `known`: the figure of a module that still exceeds the limit, else None."""
    if known is None:
        return ["%d ps between registers: the limit is %d" % (ps, limit)] if ps > limit else []
    if ps <= limit:
        return ["%d ps between registers, within the limit: take it out of KNOWN_SLOW" % ps]
    if ps < known * BETTER:
        return ["%d ps between registers, KNOWN_SLOW says %d: lower that figure" % (ps, known)]
    if ps > known * GROWTH:
        return ["%d ps between registers, KNOWN_SLOW says %d" % (ps, known)]
    return []


def large(value, must):
    """A figure of a whole box against its limit; a limit of None is not checked."""
    return ["%d is more than %d" % (value, must)] if must is not None and value > must else []
