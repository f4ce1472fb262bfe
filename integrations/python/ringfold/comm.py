"""Communicators and their calls."""
from __future__ import annotations

import dataclasses
from types import TracebackType
from typing import TYPE_CHECKING, Any, Callable, Sequence

import numpy as np

from ._native import callback, ffi, lib
from .buffers import NOTHING, Buffer, buffer_of, pair
from .errors import Error, check
from .kinds import Choice, Fallback, Op, Schedule, Steering, Type, op_of, type_of
from .order import Order
from .request import Request

if TYPE_CHECKING:
    from .context import Context

# Gathers the bytes of all processes, in the order of their ranks: allgather(own) returns them, one after another or as a list.
AllGather = Callable[[bytes], "bytes | Sequence[bytes]"]


@callback("int(void *, const void *, void *, size_t)")
def _allgather(arg: Any, own: Any, everything: Any, size: int) -> int:
    config = ffi.from_handle(arg)
    try:
        answer = config.allgather(bytes(ffi.buffer(own, size)))
        data = bytes(answer) if isinstance(answer, (bytes, bytearray, memoryview)) else b"".join(answer)
        if not data or len(data) % size:
            raise ValueError(f"allgather returned {len(data)} bytes, which is no multiple of {size}")
        if config.ranks and len(data) != size * config.ranks:
            raise ValueError(f"allgather returned {len(data)} bytes instead of {size * config.ranks}")
        ffi.memmove(everything, data, len(data))
        return 0
    except BaseException as error:  # it continues in the caller, as the cause of the library's error
        config.failure = error
        return -1


class CommConfig:
    """The settings of a communicator; what is not given comes from the environment (docs/api.md, "Settings").

    members lists the processes that take part by their rank in the job. allgather exchanges bytes by the program's own means, for
    the first communicator of a context; it needs rank and ranks, here or in the context.
    """

    def __init__(
        self,
        *,
        rank: int = 0,
        ranks: int = 0,
        root: str | None = None,
        port: int = 0,
        timeout: float = 0.0,
        box_ip: str | None = None,
        job: int = 0,
        key: str | None = None,
        schedule: Schedule = Schedule.DEFAULT,
        name: str | None = None,
        members: Sequence[int] | None = None,
        allgather: AllGather | None = None,
        slots: int = 0,
        slots_large: int = 0,
        steering: Steering = Steering.DEFAULT,
        selective: Choice = Choice.DEFAULT,
        straggler: int = 0,
        fallback: Fallback = Fallback.DEFAULT,
    ) -> None:
        self.ranks = ranks
        self.allgather = allgather
        self.failure: BaseException | None = None
        struct = ffi.new("struct rf_comm_config *")
        struct.size = ffi.sizeof("struct rf_comm_config")
        self.struct = struct
        self._keep: list[Any] = []
        for field, value in (("root", root), ("box_ip", box_ip), ("key", key), ("name", name)):
            if value is not None:
                self._keep.append(ffi.new("char[]", value.encode()))
                setattr(struct, field, self._keep[-1])
        if members is not None:
            self._keep.append(ffi.new("unsigned int[]", list(members)))
            struct.members = self._keep[-1]
            struct.n_members = len(members)
        if allgather is not None:
            self._keep.append(ffi.new_handle(self))
            struct.allgather = _allgather
            struct.allgather_arg = self._keep[-1]
        struct.rank = rank
        struct.ranks = ranks
        struct.port = port
        struct.timeout_ms = int(timeout * 1000)
        struct.job = job
        struct.schedule = schedule
        struct.slots = slots
        struct.slots_large = slots_large
        struct.steering = steering
        struct.selective = selective
        struct.straggler = straggler
        struct.fallback = fallback

    def check(self, status: int, call: str) -> None:
        """As errors.check(); what the program's allgather raised is the cause."""
        try:
            check(status, call)
        except Error as error:
            raise error from self.failure


@dataclasses.dataclass(frozen=True)
class Stragglers:
    """Which ranks were last, as measured by the box: struct rf_stragglers of ringfold.h."""

    ranks: int
    awaited: int
    awaited_ms: int
    measurements: int
    sum_us: int
    bins: list[int]
    times: list[int]
    most_us: list[int]


class Comm:
    """Ranks that make calls together: Context.comm(), Comm.split().

    All ranks make the same calls in the same order, with equal arguments except for the buffers. Each call has a blocking form
    and one that begins with i and returns a Request. Without recv a call that has a result here makes an array for it; in place
    is recv=send where both have one size, else a view of the own block. The type comes from the arrays; type="bf16" takes
    arrays of 16-bit integers as bfloat16.
    """

    def __init__(self, context: Context, handle: Any) -> None:
        self._context = context
        self._handle = handle
        self._requests: dict[int, Any] = {}
        self._dropped: list[Any] = []
        self.rank = int(lib.rf_comm_rank(handle))
        self.ranks = int(lib.rf_comm_ranks(handle))

    @property
    def closed(self) -> bool:
        return self._handle is None

    @property
    def handle(self) -> Any:
        """The library's communicator, for cffi. Raises ValueError after close()."""
        if self._handle is None:
            raise ValueError("the communicator is closed")
        return self._handle

    def close(self) -> None:
        """Destroys the communicator; collective. Outstanding requests end with Status.ABORTED."""
        if self._handle is not None:
            check(lib.rf_comm_destroy(self._handle), "close")
            self._handle = None
            self._requests.clear()
            self._dropped.clear()

    def __enter__(self) -> Comm:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def split(self, color: int, key: int = 0, name: str | None = None) -> Comm | None:
        """Makes a communicator for each color; collective. None for a negative color."""
        out = ffi.new("struct rf_comm **")
        text = ffi.NULL if name is None else ffi.new("char[]", name.encode())
        check(lib.rf_comm_split(self.handle, color, key, text, out), "split")
        return None if out[0] == ffi.NULL else Comm(self._context, out[0])

    def abort(self) -> None:
        """Ends the communicator on all ranks: every outstanding and later call fails with Status.ABORTED."""
        check(lib.rf_comm_abort(self.handle), "abort")

    def order(self) -> Order:
        """The order in which this communicator adds."""
        struct = ffi.new("struct rf_order *")
        struct.size = ffi.sizeof("struct rf_order")
        check(lib.rf_comm_order(self.handle, struct), "order")
        return Order(struct)

    def stragglers(self) -> Stragglers:
        """Asks the box which rank was last, and by how much."""
        struct = ffi.new("struct rf_stragglers *")
        struct.size = ffi.sizeof("struct rf_stragglers")
        check(lib.rf_comm_stragglers(self.handle, struct), "stragglers")
        return Stragglers(
            int(struct.ranks), int(struct.awaited), int(struct.awaited_ms), int(struct.measurements), int(struct.sum_us),
            [int(b) for b in struct.bin], [int(struct.rank[r].times) for r in range(struct.ranks)],
            [int(struct.rank[r].most_us) for r in range(struct.ranks)],
        )

    # ---- what all calls share

    def _call(self, name: str, *args: Any) -> None:
        check(getattr(lib, "rf_" + name)(self.handle, *args), name)

    def _icall(self, name: str, keep: Any, *args: Any) -> Request:
        out = ffi.new("struct rf_request **")
        check(getattr(lib, "rf_" + name)(self.handle, *args, out), name)
        return Request(self, out[0], keep, name)

    def _equal(self, send: Any, recv: Any, type: Type | str | None) -> tuple[Buffer, Buffer, Type, Any]:
        """Buffers of one vector each."""
        if recv is None:
            recv = np.empty_like(send)
        s, r, kind = pair(send, recv, _type(type))
        if s.count != r.count:
            raise ValueError(f"send has {s.count} elements, recv has {r.count}")
        return s, r, kind, recv

    def _blocks(self, one: Buffer, many: Buffer, names: tuple[str, str]) -> int:
        """The elements of a block: one has a block, many one for each rank; either may be absent."""
        if many is not NOTHING and many.count % self.ranks:
            raise ValueError(f"{names[1]} has {many.count} elements, which is no multiple of {self.ranks} ranks")
        count = many.count // self.ranks if many is not NOTHING else one.count
        if one is not NOTHING and one.count != count:
            raise ValueError(f"{names[0]} has {one.count} elements, {names[1]} has {count} for each rank")
        return count

    def _counts(self, counts: Sequence[int]) -> Any:
        if len(counts) != self.ranks:
            raise ValueError(f"counts: {len(counts)} numbers for {self.ranks} ranks")
        return ffi.new("size_t[]", list(counts))

    def _lengths(self, one: Buffer, many: Buffer, counts: Sequence[int], rank: int, names: tuple[str, str]) -> None:
        if one is not NOTHING and one.count != counts[rank]:
            raise ValueError(f"{names[0]} has {one.count} elements, counts[{rank}] is {counts[rank]}")
        if many is not NOTHING and many.count != sum(counts):
            raise ValueError(f"{names[1]} has {many.count} elements, counts has {sum(counts)}")

    # ---- all-reduce, reduce, broadcast, barrier

    def allreduce(self, send: Any, recv: Any = None, op: Op | int | str = Op.SUM, type: Type | str | None = None) -> Any:
        """Reduces over all ranks, into recv on every rank. Returns recv."""
        s, r, kind, recv = self._equal(send, recv, type)
        self._call("allreduce", s.pointer, r.pointer, s.count, kind, op_of(op))
        return recv

    def iallreduce(self, send: Any, recv: Any, op: Op | int | str = Op.SUM, type: Type | str | None = None) -> Request:
        """Starts allreduce()."""
        s, r, kind, _ = self._equal(send, recv, type)
        return self._icall("iallreduce", (s, r), s.pointer, r.pointer, s.count, kind, op_of(op))

    def _pieces(self, pieces: Sequence[tuple[Any, Any]], type: Type | str | None) -> tuple[Any, Type, Any]:
        array = ffi.new("struct rf_piece[]", max(len(pieces), 1))
        kind, keep = _type(type), []
        for place, (send, recv) in enumerate(pieces):
            s, r, own, _ = self._equal(send, recv, kind)
            if kind is not None and own is not kind:
                raise TypeError(f"pieces[{place}] is {own.text}, those before it are {kind.text}")
            kind = own
            array[place].send, array[place].recv, array[place].count = s.pointer, r.pointer, s.count
            keep.append((s, r))
        return array, Type.FP32 if kind is None else kind, keep

    def allreduce_batch(self, pieces: Sequence[tuple[Any, Any]], op: Op | int | str = Op.SUM, type: Type | str | None = None) -> None:
        """Many small all-reduces as one call: (send, recv) of each, of one type."""
        array, kind, keep = self._pieces(pieces, type)
        self._call("allreduce_batch", array, len(pieces), kind, op_of(op))
        del keep

    def iallreduce_batch(self, pieces: Sequence[tuple[Any, Any]], op: Op | int | str = Op.SUM, type: Type | str | None = None) -> Request:
        """Starts allreduce_batch()."""
        array, kind, keep = self._pieces(pieces, type)
        return self._icall("iallreduce_batch", (array, keep), array, len(pieces), kind, op_of(op))

    def _reduce(self, send: Any, recv: Any, op: Op | int | str, root: int, type: Type | str | None) -> tuple[Any, ...]:
        if self.rank != root and recv is None:
            s, r, kind = pair(send, None, _type(type))
        else:
            s, r, kind, recv = self._equal(send, recv, type)
        return (s, r, recv), (s.pointer, r.pointer, s.count, kind, op_of(op), root)

    def reduce(self, send: Any, recv: Any = None, op: Op | int | str = Op.SUM, root: int = 0, type: Type | str | None = None) -> Any:
        """Reduces over all ranks, into recv at the root alone. Returns recv, None on other ranks."""
        keep, args = self._reduce(send, recv, op, root, type)
        self._call("reduce", *args)
        return keep[2] if self.rank == root else None

    def ireduce(self, send: Any, recv: Any = None, op: Op | int | str = Op.SUM, root: int = 0, type: Type | str | None = None) -> Request:
        """Starts reduce(); recv is needed at the root."""
        self._need(recv, "recv", root)
        keep, args = self._reduce(send, recv, op, root, type)
        return self._icall("ireduce", keep, *args)

    def _broadcast(self, buffer: Any, root: int, type: Type | str | None) -> tuple[Buffer, tuple[Any, ...]]:
        is_root = self.rank == root
        b = buffer_of(buffer, "buffer", _type(type), not is_root)
        send, recv = (b.pointer, ffi.NULL) if is_root else (ffi.NULL, b.pointer)
        return b, (send, recv, b.count, b.type, root)

    def broadcast(self, buffer: Any, root: int = 0, type: Type | str | None = None) -> Any:
        """Copies the root's buffer to every rank's. Returns it."""
        _, args = self._broadcast(buffer, root, type)
        self._call("broadcast", *args)
        return buffer

    def ibroadcast(self, buffer: Any, root: int = 0, type: Type | str | None = None) -> Request:
        """Starts broadcast()."""
        keep, args = self._broadcast(buffer, root, type)
        return self._icall("ibroadcast", keep, *args)

    def barrier(self) -> None:
        """Completes when all ranks have called it."""
        self._call("barrier")

    def ibarrier(self) -> Request:
        """Starts barrier()."""
        return self._icall("ibarrier", None)

    # ---- reduce-scatter

    def _reduce_scatter(self, send: Any, recv: Any, op: Any, type: Any) -> tuple[Any, tuple[Any, ...]]:
        if recv is None:
            recv = np.empty(np.size(send) // self.ranks, np.asarray(send).dtype)
        s, r, kind = pair(send, recv, _type(type))
        count = self._blocks(r, s, ("recv", "send"))
        return (s, r, recv), (s.pointer, r.pointer, count, kind, op_of(op))

    def reduce_scatter(self, send: Any, recv: Any = None, op: Op | int | str = Op.SUM, type: Type | str | None = None) -> Any:
        """send has a block for each rank; recv gets the own block, reduced. Returns recv."""
        keep, args = self._reduce_scatter(send, recv, op, type)
        self._call("reduce_scatter", *args)
        return keep[2]

    def ireduce_scatter(self, send: Any, recv: Any, op: Op | int | str = Op.SUM, type: Type | str | None = None) -> Request:
        """Starts reduce_scatter()."""
        keep, args = self._reduce_scatter(send, recv, op, type)
        return self._icall("ireduce_scatter", keep, *args)

    def _reduce_scatterv(self, send: Any, recv: Any, counts: Any, op: Any, type: Any) -> tuple[Any, tuple[Any, ...]]:
        array = self._counts(counts)
        if recv is None:
            recv = np.empty(counts[self.rank], np.asarray(send).dtype)
        s, r, kind = pair(send, recv, _type(type))
        self._lengths(r, s, counts, self.rank, ("recv", "send"))
        return (s, r, recv), (s.pointer, r.pointer, array, kind, op_of(op))

    def reduce_scatterv(self, send: Any, recv: Any, counts: Sequence[int], op: Op | int | str = Op.SUM, type: Type | str | None = None) -> Any:
        """reduce_scatter() with blocks of different lengths, equal on all ranks. recv may be None. Returns it."""
        keep, args = self._reduce_scatterv(send, recv, counts, op, type)
        self._call("reduce_scatterv", *args)
        return keep[2]

    def ireduce_scatterv(self, send: Any, recv: Any, counts: Sequence[int], op: Op | int | str = Op.SUM, type: Type | str | None = None) -> Request:
        """Starts reduce_scatterv()."""
        keep, args = self._reduce_scatterv(send, recv, counts, op, type)
        return self._icall("ireduce_scatterv", keep, *args)

    # ---- all-gather

    def _all_gather(self, send: Any, recv: Any, type: Any) -> tuple[Any, tuple[Any, ...]]:
        if recv is None:
            recv = np.empty((self.ranks, *np.shape(send)), np.asarray(send).dtype)
        s, r, kind = pair(send, recv, _type(type))
        count = self._blocks(s, r, ("send", "recv"))
        return (s, r, recv), (s.pointer, r.pointer, count, kind)

    def all_gather(self, send: Any, recv: Any = None, type: Type | str | None = None) -> Any:
        """recv gets the blocks of all ranks, in the order of the ranks. Returns recv."""
        keep, args = self._all_gather(send, recv, type)
        self._call("all_gather", *args)
        return keep[2]

    def iall_gather(self, send: Any, recv: Any, type: Type | str | None = None) -> Request:
        """Starts all_gather()."""
        keep, args = self._all_gather(send, recv, type)
        return self._icall("iall_gather", keep, *args)

    def _all_gatherv(self, send: Any, recv: Any, counts: Any, type: Any) -> tuple[Any, tuple[Any, ...]]:
        array = self._counts(counts)
        if recv is None:
            recv = np.empty(sum(counts), np.asarray(send).dtype)
        s, r, kind = pair(send, recv, _type(type))
        self._lengths(s, r, counts, self.rank, ("send", "recv"))
        return (s, r, recv), (s.pointer, r.pointer, array, kind)

    def all_gatherv(self, send: Any, recv: Any, counts: Sequence[int], type: Type | str | None = None) -> Any:
        """all_gather() with blocks of different lengths, the same counts on all ranks. recv may be None. Returns it."""
        keep, args = self._all_gatherv(send, recv, counts, type)
        self._call("all_gatherv", *args)
        return keep[2]

    def iall_gatherv(self, send: Any, recv: Any, counts: Sequence[int], type: Type | str | None = None) -> Request:
        """Starts all_gatherv()."""
        keep, args = self._all_gatherv(send, recv, counts, type)
        return self._icall("iall_gatherv", keep, *args)

    # ---- gather and scatter

    def _need(self, buffer: Any, name: str, root: int) -> None:
        if self.rank == root and buffer is None:
            raise ValueError(f"{name}: the root needs it")

    def _gather(self, send: Any, recv: Any, root: int, type: Any) -> tuple[Any, tuple[Any, ...]]:
        if self.rank == root and recv is None:
            recv = np.empty((self.ranks, *np.shape(send)), np.asarray(send).dtype)
        s, r, kind = pair(send, recv if self.rank == root else None, _type(type))
        count = self._blocks(s, r, ("send", "recv"))
        return (s, r, recv), (s.pointer, r.pointer, count, kind, root)

    def gather(self, send: Any, recv: Any = None, root: int = 0, type: Type | str | None = None) -> Any:
        """all_gather(), into recv at the root alone. Returns recv, None on other ranks."""
        keep, args = self._gather(send, recv, root, type)
        self._call("gather", *args)
        return keep[2] if self.rank == root else None

    def igather(self, send: Any, recv: Any = None, root: int = 0, type: Type | str | None = None) -> Request:
        """Starts gather(); recv is needed at the root."""
        self._need(recv, "recv", root)
        keep, args = self._gather(send, recv, root, type)
        return self._icall("igather", keep, *args)

    def _gatherv(self, send: Any, recv: Any, counts: Any, root: int, type: Any) -> tuple[Any, tuple[Any, ...]]:
        array = ffi.NULL
        if self.rank == root:
            array = self._counts(self._counted(counts))
            if recv is None:
                recv = np.empty(sum(counts), np.asarray(send).dtype)
        s, r, kind = pair(send, recv if self.rank == root else None, _type(type))
        if self.rank == root:
            self._lengths(s, r, counts, root, ("send", "recv"))
        return (s, r, recv), (s.pointer, s.count, r.pointer, array, kind, root)

    def _counted(self, counts: Any) -> Any:
        if counts is None:
            raise ValueError("counts: the root needs them")
        return counts

    def gatherv(self, send: Any, recv: Any = None, counts: Sequence[int] | None = None, root: int = 0, type: Type | str | None = None) -> Any:
        """gather() with blocks of different lengths; the root alone needs counts."""
        keep, args = self._gatherv(send, recv, counts, root, type)
        self._call("gatherv", *args)
        return keep[2] if self.rank == root else None

    def igatherv(self, send: Any, recv: Any = None, counts: Sequence[int] | None = None, root: int = 0, type: Type | str | None = None) -> Request:
        """Starts gatherv(); recv is needed at the root."""
        self._need(recv, "recv", root)
        keep, args = self._gatherv(send, recv, counts, root, type)
        return self._icall("igatherv", keep, *args)

    def _scatter(self, send: Any, recv: Any, root: int, type: Any) -> tuple[Any, tuple[Any, ...]]:
        self._need(send, "send", root)
        s, r, kind = pair(send if self.rank == root else None, recv, _type(type))
        count = self._blocks(r, s, ("recv", "send"))
        return (s, r), (s.pointer, r.pointer, count, kind, root)

    def scatter(self, send: Any, recv: Any, root: int = 0, type: Type | str | None = None) -> Any:
        """The root's send has a block for each rank; recv gets the own one. Returns recv."""
        _, args = self._scatter(send, recv, root, type)
        self._call("scatter", *args)
        return recv

    def iscatter(self, send: Any, recv: Any, root: int = 0, type: Type | str | None = None) -> Request:
        """Starts scatter()."""
        keep, args = self._scatter(send, recv, root, type)
        return self._icall("iscatter", keep, *args)

    def _scatterv(self, send: Any, recv: Any, counts: Any, root: int, type: Any) -> tuple[Any, tuple[Any, ...]]:
        self._need(send, "send", root)
        array = self._counts(self._counted(counts)) if self.rank == root else ffi.NULL
        s, r, kind = pair(send if self.rank == root else None, recv, _type(type))
        if self.rank == root:
            self._lengths(r, s, counts, root, ("recv", "send"))
        return (s, r), (s.pointer, array, r.pointer, r.count, kind, root)

    def scatterv(self, send: Any, recv: Any, counts: Sequence[int] | None = None, root: int = 0, type: Type | str | None = None) -> Any:
        """scatter() with blocks of different lengths; the root alone needs counts. Returns recv."""
        _, args = self._scatterv(send, recv, counts, root, type)
        self._call("scatterv", *args)
        return recv

    def iscatterv(self, send: Any, recv: Any, counts: Sequence[int] | None = None, root: int = 0, type: Type | str | None = None) -> Request:
        """Starts scatterv()."""
        keep, args = self._scatterv(send, recv, counts, root, type)
        return self._icall("iscatterv", keep, *args)


def _type(value: Type | str | None) -> Type | None:
    return None if value is None else type_of(value)
