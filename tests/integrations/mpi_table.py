#!/usr/bin/env python3
"""The table of functions in docs/mpi.md against the libraries: it has every collective function of both MPIs, in every form that
they have, and says "served" of exactly those that the preload has.

  mpi_table.py PAGE PRELOAD LIBMPI ...      exit code 1 if they differ
"""
import re
import subprocess
import sys

COLLECTIVE = re.compile(r"MPIX?_(I?)((?:neighbor_)?(?:allgather|allreduce|alltoall|barrier|bcast|scan|exscan|gather|reduce|scatter)[a-z_]*?)(_init)?(_c)?$", re.I)
FORMS = ("blocking", "I", "_init", "_c")


def symbols(library):
    out = subprocess.run(["nm", "-D", "--defined-only", library], stdout=subprocess.PIPE, text=True, check=True).stdout
    return {line.split()[-1].split("@")[0] for line in out.splitlines()}


def form_of(symbol):
    """(function, form) of a collective; None for anything else."""
    match = COLLECTIVE.match(symbol)
    if not match:
        return None
    i, name, init, large = match.groups()
    return "MPI_" + name.capitalize(), "_c" if large else "_init" if init else "I" if i else "blocking"


def table_of(page):
    """{(function, form): what happens}"""
    table = {}
    with open(page, encoding="utf-8") as file:
        for line in file:
            cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
            if re.fullmatch(r"MPI_[A-Z][a-z_]+", cells[0]) and len(cells) == 6:
                table.update({(cells[0], form): cells[1 + k] for k, form in enumerate(FORMS) if cells[1 + k] != "-"})
    return table


def main(argv):
    table = table_of(argv[1])
    taken = {form_of(s) for s in symbols(argv[2])} - {None}
    known = set()
    for library in argv[3:]:
        known |= {form_of(s) for s in symbols(library)} - {None}
    faults = ["%s (%s) is not in the table" % x for x in sorted(known - set(table))]
    faults += ["%s (%s) is in no library" % x for x in sorted(set(table) - known)]
    faults += ["%s (%s) is in the preload, and \"%s\" in the table" % (x + (table.get(x),)) for x in sorted(taken) if table.get(x) != "served"]
    faults += ["%s (%s) is served in the table, and not in the preload" % x for x, text in sorted(table.items())
               if text == "served" and x not in taken]
    for fault in faults:
        print("docs/mpi.md: " + fault)
    print("%d functions and forms, %d served, %d faults" % (len(table), len(taken), len(faults)))
    return 1 if faults or len(known) < 80 else 0


sys.exit(main(sys.argv))
