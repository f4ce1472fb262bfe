"""Whether the binding has all of the public header: functions, constants, enumerators, members of the configs; annotations.

  python_whole.py PACKAGE     exit code 1 if something is missing, and 2 if the check itself does not notice a missing function
"""
import glob
import inspect
import os
import re
import sys

sys.path.insert(0, sys.argv[1])
import ringfold  # noqa: E402
from ringfold import _declared, kinds  # noqa: E402

DECLARED = _declared.DECLARATIONS
# Constants that say nothing to a Python program: sizes of arrays in structs, and the version, which is ringfold.__version__.
NOT_SHOWN = {"RF_LAG_BINS", "RF_BOXES_MAX", "RF_VERSION_MAJOR", "RF_VERSION_MINOR", "RF_VERSION_PATCH"}


def missing(source):
    """What the header declares and the text of the package does not use."""
    for name in re.findall(r"\b(rf_\w+)\(", DECLARED):
        bare = name[len("rf_"):]
        if f"lib.{name}(" not in source and f'all("{bare}"' not in source:
            yield f"function {name}"
    for name in set(re.findall(r"\b(RF_[A-Z0-9_]+)\s*=", DECLARED)):
        if f"lib.{name}" not in source:
            yield f"enumerator {name}"
    for name in _declared.CONSTANTS:
        if name not in NOT_SHOWN and f'"{name}"' not in source:
            yield f"constant {name}"
    for kind in ("rf_context_config", "rf_comm_config", "rf_stats", "rf_stragglers", "rf_order"):
        body = re.search(r"struct %s \{(.*?)\n\};" % kind, DECLARED, re.S).group(1)
        for member in re.findall(r"(\w+)(?:\[\w+\])?\s*;", re.sub(r"\(\*(\w+)\)\([^)]*\);", r" \1;", body)):
            if not re.search(r"\b%s\b" % member, source):
                yield f"member {member} of struct {kind}"


def untyped():
    for name in ringfold.__all__:
        thing = getattr(ringfold, name)
        functions = [thing] if inspect.isfunction(thing) else []
        if inspect.isclass(thing) and not issubclass(thing, (Exception, *[k for k in vars(kinds).values() if inspect.isclass(k)])):
            functions = [f for n, f in vars(thing).items() if inspect.isfunction(f) and not n.startswith("_")]
        for function in functions:
            if "return" not in function.__annotations__:
                yield f"{name}: {function.__name__} has no annotation"
            if not function.__doc__:
                yield f"{name}: {function.__name__} has no documentation"


def main():
    source = ""
    for path in sorted(glob.glob(os.path.join(sys.argv[1], "ringfold", "*.py"))):
        if not path.endswith("_declared.py"):
            source += open(path, encoding="utf-8").read()
    faults = list(missing(source)) + list(untyped())
    for fault in faults:
        print("missing: " + fault)
    if "function rf_barrier" not in list(missing(source.replace('"barrier"', '"bar"'))):
        print("the check does not notice a function that is not bound")
        return 2
    print(f"python: {len(re.findall(r'rf_[a-z0-9_]+[(]', DECLARED))} functions, {len(faults)} missing")
    return 1 if faults else 0


sys.exit(main())
