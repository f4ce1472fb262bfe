"""What the tests in Python have in common: one line for each check, the list of those that failed, a free port."""
import socket

FAILED = []


def check(text, good, detail=""):
    """Prints a line, and the end of the detail if the check failed. Returns whether it is good."""
    print(("ok    " if good else "FAIL  ") + text, flush=True)
    if not good:
        FAILED.append(text)
        for line in str(detail).splitlines()[-12:]:
            print("      | " + line[:300], flush=True)
    return bool(good)


def free_port():
    """A TCP port of loopback that nobody uses now."""
    with socket.create_server(("127.0.0.1", 0)) as s:
        return s.getsockname()[1]
