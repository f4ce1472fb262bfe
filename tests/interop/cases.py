"""The cases by name, and how a job runs in guests."""

CASES = {}


def case(function):
    CASES[function.__name__.replace("_", "-")] = function
    return function


def ring(guests, command, env="", seconds=120, own=None):
    """Runs one rank in each guest, in a ring unless `env` says RF_STEERING=mirror; own(rank) gives further settings. Returns
    [(exit code, output)] in the order of ranks."""
    jobs = [g.start(f"RF_RANK={i} RF_SIZE={len(guests)} RF_ROOT={guests[0].ip} RF_TIMEOUT=60000 RF_STEERING=ring {env} {own(i) if own else ''} {command}")
            for i, g in enumerate(guests)]
    return [j.wait(seconds) for j in jobs]
