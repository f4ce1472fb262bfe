"""A rank of the binding's test: every collective, type and operation, requests, errors, refused buffers.

  ringfold run -n 3 -- python3 python_rank.py FOLDER     FOLDER is shared by the ranks; --flip: a wrong expectation must be noticed
"""
import os
import select
import sys
import threading
import time

import numpy as np

import ringfold
from ringfold import Op, Status, Type

DTYPES = {Type.FP32: np.float32, Type.FP16: np.float16, Type.FP64: np.float64, Type.INT8: np.int8, Type.UINT8: np.uint8,
          Type.INT32: np.int32, Type.UINT32: np.uint32, Type.INT64: np.int64, Type.UINT64: np.uint64, Type.BF16: np.uint16}
FLOATS = (Type.FP32, Type.FP16, Type.FP64, Type.BF16)
NUMPY = {Op.SUM: np.add, Op.MIN: np.minimum, Op.MAX: np.maximum, Op.AND: np.bitwise_and, Op.OR: np.bitwise_or, Op.XOR: np.bitwise_xor}
COUNT = 1037  # more than a packet, and no multiple of anything


def values(rank, kind, count=COUNT):
    """Small whole numbers, whose sums and averages over 2 or 4 ranks every type holds exactly."""
    numbers = (np.arange(count) * 7 + rank * 13) % 30
    if kind is Type.BF16:
        return (numbers.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    return numbers.astype(DTYPES[kind])


def real(array, kind):
    """The numbers of an array."""
    return (array.astype(np.uint32) << 16).view(np.float32) if kind is Type.BF16 else array


def reduced(ranks, kind, op, count=COUNT):
    """What numpy makes of the operands of all ranks."""
    all_values = [real(values(r, kind, count), kind) for r in range(ranks)]
    total = all_values[0].copy()
    for one in all_values[1:]:
        total = NUMPY[Op.SUM if op is Op.AVERAGE else op](total, one)
    return total / ranks if op is Op.AVERAGE else total


def same(what, got, want):
    if not np.array_equal(got, want):
        at = int(np.flatnonzero(np.asarray(got).ravel() != np.asarray(want).ravel())[0])
        raise AssertionError(f"{what}: element {at} is {np.ravel(got)[at]}, not {np.ravel(want)[at]}")


def raises(what, kind, text, function, *args, **more):
    try:
        function(*args, **more)
    except kind as error:
        assert text in str(error), f"{what}: {error!r} does not say {text!r}"
        return error
    raise AssertionError(f"{what}: not refused")


def types_and_operations(comm, flip):
    for kind in Type:
        for op in Op:
            named = kind.name.lower() if kind is Type.BF16 else None
            mine = values(comm.rank, kind)
            if op is Op.PRODUCT or (op is Op.AVERAGE and kind not in FLOATS) or (op in (Op.AND, Op.OR, Op.XOR) and kind in FLOATS):
                error = raises(f"{kind.text} {op.text}", ringfold.InvalidError, "", comm.allreduce, mine, op=op, type=named)
                assert error.status is Status.INVALID and error.text
                continue
            if op is Op.AVERAGE and comm.ranks == 3:
                continue  # a third is not exact
            want = reduced(comm.ranks, kind, op)
            got = comm.allreduce(mine, op=op, type=named)
            same(f"allreduce {kind.text} {op.text}", real(got, kind), want + (1 if flip else 0))
            into = np.empty_like(mine)
            request = comm.iallreduce(mine, into, op.text if op is not Op.AVERAGE else "average", type=kind)
            assert request.wait() and request.done and request.test()
            same(f"iallreduce {kind.text} {op.text}", real(into, kind), want)


def collectives(comm, kind):
    """Every call in both forms, with every root; in place where one is allowed."""
    n, me = comm.ranks, comm.rank
    blocks = [values(r, kind, 50) for r in range(n)]
    counts = [5 + 3 * r for r in range(n)]
    parts = [values(r, kind, counts[r]) for r in range(n)]
    mine, everything = blocks[me], np.stack(blocks)
    places = [sum(counts[:r]) for r in range(n)]
    total = np.concatenate(parts)
    whole = reduced(n, kind, Op.SUM, 50 * n)
    ragged = reduced(n, kind, Op.MAX, sum(counts))

    inplace = mine.copy()
    comm.allreduce(inplace, inplace)
    same("allreduce in place", inplace, reduced(n, kind, Op.SUM, 50))
    same("all_gather", comm.all_gather(mine), everything)
    into = np.zeros_like(everything)
    into[me] = mine
    comm.iall_gather(into[me], into).wait()
    same("iall_gather in place", into, everything)
    same("all_gatherv", comm.all_gatherv(parts[me], None, counts), total)
    into = np.zeros_like(total)
    comm.iall_gatherv(parts[me], into, counts).wait()
    same("iall_gatherv", into, total)
    same("reduce_scatter", comm.reduce_scatter(values(me, kind, 50 * n)), whole[50 * me:50 * me + 50])
    into = np.empty_like(mine)
    comm.ireduce_scatter(values(me, kind, 50 * n), into, "sum").wait()
    same("ireduce_scatter", into, whole[50 * me:50 * me + 50])
    own = slice(places[me], places[me] + counts[me])
    same("reduce_scatterv", comm.reduce_scatterv(values(me, kind, sum(counts)), None, counts, Op.MAX), ragged[own])
    into = np.empty_like(parts[me])
    comm.ireduce_scatterv(values(me, kind, sum(counts)), into, counts, Op.MAX).wait()
    same("ireduce_scatterv", into, ragged[own])
    for root in range(n):
        is_root = me == root
        got = comm.reduce(mine, root=root)
        assert (got is None) is not is_root
        if is_root:
            same("reduce", got, reduced(n, kind, Op.SUM, 50))
        into = np.empty_like(mine) if is_root else None
        comm.ireduce(mine, into, "min", root).wait()
        if is_root:
            same("ireduce", into, reduced(n, kind, Op.MIN, 50))
        for form in (comm.broadcast, lambda b, r: comm.ibroadcast(b, r).wait()):
            copy = mine.copy()
            form(copy, root)
            same("broadcast", copy, blocks[root])
        got = comm.gather(mine, root=root)
        into = np.empty_like(everything) if is_root else None
        comm.igather(mine, into, root).wait()
        gotv = comm.gatherv(parts[me], None, counts if is_root else None, root)
        intov = np.empty_like(total) if is_root else None
        comm.igatherv(parts[me], intov, counts if is_root else None, root).wait()
        if is_root:
            for what, a, b in (("gather", got, everything), ("igather", into, everything), ("gatherv", gotv, total), ("igatherv", intov, total)):
                same(what, a, b)
        into = np.empty_like(mine)
        same("scatter", comm.scatter(everything if is_root else None, into, root), mine)
        into = np.empty_like(mine)
        comm.iscatter(everything if is_root else None, into, root).wait()
        same("iscatter", into, mine)
        into = np.empty_like(parts[me])
        same("scatterv", comm.scatterv(total if is_root else None, into, counts if is_root else None, root), parts[me])
        into = np.empty_like(parts[me])
        comm.iscatterv(total if is_root else None, into, counts if is_root else None, root).wait()
        same("iscatterv", into, parts[me])
    pieces = [(values(me, kind, k), np.empty(k, DTYPES[kind])) for k in (1, 3, 500, 7)]
    comm.allreduce_batch(pieces)
    for send, recv in pieces:
        same("allreduce_batch", recv, reduced(n, kind, Op.SUM, send.size))
        recv[:] = 0
    comm.iallreduce_batch(pieces, "max").wait()
    for send, recv in pieces:
        same("iallreduce_batch", recv, reduced(n, kind, Op.MAX, send.size))
    comm.barrier()
    comm.ibarrier().wait()


def requests(context, comm):
    n, kind = comm.ranks, Type.FP32
    want = reduced(n, kind, Op.SUM)
    pairs = [(values(comm.rank, kind), np.empty(COUNT, np.float32)) for _ in range(6)]
    several = [comm.iallreduce(s, r) for s, r in pairs]
    first = context.wait_any(several)
    assert first is not None and several[first].done
    assert context.wait_all(several + [None])
    for _, recv in pairs:
        same("wait_all", recv, want)
    # the request alone keeps the buffers alive; one that is dropped goes on with them
    recv = np.empty(COUNT, np.float32)
    request = comm.iallreduce(values(comm.rank, kind), recv)
    request.wait()
    same("a send buffer without another owner", recv, want)
    comm.iallreduce(values(comm.rank, kind), np.empty(COUNT, np.float32))
    # callbacks, with a result and for one that is complete already
    done, errors = threading.Event(), []
    recv = np.empty(COUNT, np.float32)
    request = comm.iallreduce(values(comm.rank, kind), recv)
    request.on_completion(lambda error: (errors.append(error), done.set()))
    assert done.wait(30) and errors == [None]
    same("on_completion", recv, want)
    raises("a request that was given away", ValueError, "given to the library", request.wait)
    # the descriptor is readable while a result waits
    request = comm.ibarrier()
    assert select.select([context.completion_fd()], [], [], 30)[0], "completion_fd is not readable"
    assert request.test()
    assert context.stats().calls >= 6 and context.progress(0.001) in (True, False)


def communicators(context, comm, with_box):
    order = comm.order()
    assert order.ranks == comm.ranks and len(order.places) == comm.ranks
    assert order.schedule is (ringfold.Schedule.BOX if with_box else ringfold.Schedule.RING)
    inputs = [np.random.default_rng(r).standard_normal(COUNT).astype(np.float32) for r in range(comm.ranks)]
    same("order.apply", comm.allreduce(inputs[comm.rank]).view(np.uint32), order.apply(inputs).view(np.uint32))
    raises("too few inputs", ValueError, "inputs: 1 arrays", order.apply, inputs[:1])
    part = comm.split(comm.rank % 2, -comm.rank, "halves")
    assert part.ranks == len(range(comm.rank % 2, comm.ranks, 2))
    assert part.allreduce(np.ones(3, np.int32)).tolist() == [part.ranks] * 3
    assert comm.split(-1) is None
    part.close()
    assert part.closed
    raises("a closed communicator", ValueError, "closed", part.barrier)
    creation = context.icomm(name="later", members=list(reversed(range(comm.ranks))))
    later = creation.wait()
    assert later.rank == comm.ranks - 1 - comm.rank and creation.wait() is later
    same("members", later.all_gather(np.array([comm.rank], np.int64)).ravel(), np.arange(comm.ranks)[::-1])
    raises("a context with communicators", ringfold.Error, "", context.close)
    later.close()
    given_up = context.icomm(name="never", members=[comm.rank, (comm.rank + 1) % comm.ranks])
    given_up.cancel()
    raises("a cancelled creation", ValueError, "ended", given_up.wait)
    if with_box:
        late = comm.stragglers()
        assert late.ranks == comm.ranks and len(late.times) == comm.ranks and len(late.bins) == 28
    else:
        raises("stragglers without a box", ringfold.InvalidError, "box", comm.stragglers)
    array = np.ones(100, np.float32)
    with context.register(array):
        same("registered memory", comm.allreduce(array[10:20]), np.full(10, comm.ranks, np.float32))
    context.forget(array)
    raises("memory that cannot be read", ringfold.Error, "", context.register_dmabuf, 0, 0, 4096, 4096)
    memory = context.register_dmabuf(0, 0, array.nbytes, array.ctypes.data)  # no NIC here: not looked at
    memory.deregister()
    memory.deregister()
    raises("an address", ringfold.InvalidError, "", comm.allreduce, ringfold.Address(64, 1, Type.FP32), ringfold.Address(64, 1, Type.FP32))


def refused(comm):
    """Buffers that do not fit: refused by name, before anything is sent."""
    good = np.ones(6, np.float32)
    fixed = good.copy()
    fixed.flags.writeable = False
    wide = np.ones((6, 2), np.float32)
    for what, kind, text, call in (
        ("not contiguous", ValueError, "send: the array is not contiguous", lambda: comm.allreduce(wide[:, 0], good)),
        ("recv not contiguous", ValueError, "recv: the array is not contiguous", lambda: comm.allreduce(good, wide[:, 0])),
        ("Fortran's order", ValueError, "not contiguous in C's order", lambda: comm.allreduce(np.ones((2, 3), np.float32, order="F"))),
        ("read-only recv", ValueError, "recv: the array is read-only", lambda: comm.allreduce(good, fixed)),
        ("read-only buffer", TypeError, "recv: ", lambda: comm.allreduce(good, "text")),
        ("bytes as recv", ValueError, "recv: the array is read-only", lambda: comm.allreduce(np.ones(6, np.uint8), bytes(6))),
        ("two types", TypeError, "send is fp32, recv is fp64", lambda: comm.allreduce(good, np.ones(6))),
        ("unknown dtype", TypeError, "dtype <c8 (complex64) is none of", lambda: comm.allreduce(np.ones(6, np.complex64))),
        ("16-bit integers", TypeError, "(int16) is none of", lambda: comm.allreduce(np.ones(6, np.int16))),
        ("objects", TypeError, "is none of", lambda: comm.allreduce(np.array([None]))),
        ("other byte order", TypeError, "dtype >f4", lambda: comm.allreduce(np.ones(6, ">f4"))),
        ("other type than stated", TypeError, "the array is fp32, the call is fp64", lambda: comm.allreduce(good, type="fp64")),
        ("bf16 in fp16", TypeError, "the array is fp16, the call is bf16", lambda: comm.allreduce(np.ones(2, np.float16), type="bf16")),
        ("lengths", ValueError, "send has 6 elements, recv has 5", lambda: comm.allreduce(good, good[:5].copy())),
        ("a list", TypeError, "send: list is no array", lambda: comm.allreduce([1.0, 2.0], good)),
        ("operation", ValueError, "op: 'sums' is none of sum, min", lambda: comm.allreduce(good, op="sums")),
        ("type", ValueError, "type: 'fp31' is none of", lambda: comm.allreduce(good, type="fp31")),
        ("blocks", ValueError, "no multiple of", lambda: comm.reduce_scatter(np.ones(comm.ranks + 1, np.float32), good[:1])),
        ("counts", ValueError, "counts: 1 numbers", lambda: comm.all_gatherv(good, None, [6])),
        ("own count", ValueError, "send has 6 elements, counts[", lambda: comm.all_gatherv(good, None, [5] * comm.ranks)),
        ("broadcast", ValueError, "buffer: the array is read-only", lambda: comm.broadcast(fixed, root=(comm.rank + 1) % comm.ranks)),
        ("no buffer", TypeError, "state the type", lambda: comm.scatterv(None, None, None, (comm.rank + 1) % comm.ranks)),
        ("root", ringfold.InvalidError, "", lambda: comm.reduce(good, good.copy(), root=comm.ranks)),
        ("overlap", ringfold.InvalidError, "overlap", lambda: overlap(comm)),
        ("timeout", ValueError, "negative", lambda: ringfold._native.end_of(-1)),
    ):
        raises(what, kind, text, call)
    same("the communicator goes on", comm.allreduce(good), np.full(6, comm.ranks, np.float32))


def overlap(comm):
    array = np.ones(9, np.float32)
    comm.allreduce(array[:6], array[3:])


def by_files(folder, name):
    """An allgather of bytes by files, as a program's own means."""
    turn = [0]

    def allgather(own, rank, ranks):
        turn[0] += 1
        path = os.path.join(folder, f"{name}-{turn[0]}-")
        with open(path + f"{rank}.new", "wb") as file:
            file.write(own)
        os.rename(path + f"{rank}.new", path + str(rank))
        until = time.monotonic() + 30
        while not all(os.path.exists(path + str(r)) for r in range(ranks)):
            assert time.monotonic() < until, "the other ranks do not come"
            time.sleep(0.01)
        return [open(path + str(r), "rb").read() for r in range(ranks)]
    return allgather


def failures(context, rank, ranks):
    """Errors of the library end a communicator on all ranks, with a text that names the cause."""
    with context.comm(name="mismatch", timeout=10.0) as comm:
        error = raises("different calls", ringfold.Error, "allreduce", comm.allreduce, np.ones(8, np.float32 if rank else np.int32))
        assert error.status is Status.MISMATCH and "fp32" in error.text and "int32" in error.text, error.text
        error = raises("a failed communicator", ringfold.Error, "", comm.barrier)
        assert error.status is Status.GROUP_FAILED
    with context.comm(name="abort", timeout=10.0) as comm:
        errors, done, request = [], threading.Event(), None
        if rank == 0:
            comm.abort()
        try:
            request = comm.iallreduce(np.ones(8, np.float32), np.ones(8, np.float32))
            request.on_completion(lambda error: (errors.append(error), done.set()))
            assert done.wait(30) and isinstance(errors[0], ringfold.Error) and errors[0].text
            assert errors[0].status in (Status.ABORTED, Status.GROUP_FAILED), errors[0]
        except ringfold.Error as error:
            assert request is None and error.status in (Status.ABORTED, Status.GROUP_FAILED), error


def bootstrap(folder, rank, ranks):
    for name in ("RF_RANK", "RF_SIZE", "RF_ROOT", "RF_PORT", "MASTER_ADDR", "RANK", "WORLD_SIZE"):
        os.environ.pop(name, None)
    lines = []
    with ringfold.Context(rank=rank, ranks=ranks, log_level=ringfold.LogLevel.INFO, log=lambda level, text: lines.append((level, text))) as context:
        def broken(own):
            raise KeyError("no such store")
        error = raises("a broken allgather", ringfold.Error, "", context.comm, rank=rank, ranks=ranks, allgather=broken)
        assert isinstance(error.__cause__, KeyError)
        files = by_files(folder, "good")
        with context.comm(rank=rank, ranks=ranks, allgather=lambda own: files(own, rank, ranks)) as comm:
            same("a bootstrap of its own", comm.allreduce(np.ones(5, np.int32)), np.full(5, ranks))
        files = by_files(folder, "later")
        creation = context.icomm(rank=rank, ranks=ranks, allgather=lambda own: b"".join(files(own, rank, ranks)))
        comm = creation.wait(60)
        same("... of a creation", comm.allreduce(np.ones(5, np.int32)), np.full(5, ranks))
        comm.close()
    assert any(level is ringfold.LogLevel.INFO and "communicator" in text for level, text in lines), lines


def main():
    folder, flip = sys.argv[1], "--flip" in sys.argv
    with_box = os.environ.get("RF_SCHEDULE") != "ring"
    with ringfold.Context() as context:
        with context.comm() as comm:
            rank, ranks = comm.rank, comm.ranks
            types_and_operations(comm, flip)
            collectives(comm, Type.FP32)
            collectives(comm, Type.INT8)
            requests(context, comm)
            refused(comm)
            communicators(context, comm, with_box)
        failures(context, rank, ranks)
    bootstrap(folder, rank, ranks)
    print(f"rank {rank} of {ranks}: all as numpy says")


main()
