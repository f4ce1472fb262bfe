"""Contexts: a process's network device. Also registered memory, and communicators that are being made."""
from __future__ import annotations

import dataclasses
from types import TracebackType
from typing import Any, Callable, Sequence

from . import request as _request
from ._native import callback, end_of, ffi, lib, text_of, wait_until
from .buffers import buffer_of
from .comm import Comm, CommConfig
from .errors import Error, check
from .kinds import LogLevel, Progress, Status
from .request import Request

Log = Callable[[LogLevel, str], None]


@dataclasses.dataclass(frozen=True)
class Stats:
    """Counters since the context was created: struct rf_stats of ringfold.h."""

    calls: int
    call_bytes: int
    tx_frames: int
    tx_bytes: int
    rx_frames: int
    rx_bytes: int
    rx_dropped: int
    tx_data: int
    tx_repeats: int
    tx_acks: int
    rx_data: int
    rx_duplicates: int
    rx_gaps: int
    rx_bad_icrc: int
    rx_acks: int
    rx_naks: int
    timeouts: int
    sleeps: int
    registrations: int
    registration_hits: int


@callback("void(void *, enum rf_log_level, const char *)")
def _log(arg: Any, level: int, text: Any) -> None:
    ffi.from_handle(arg)(LogLevel(level), text_of(text))


class Memory:
    """Registered memory: Context.register() and Context.register_dmabuf()."""

    def __init__(self, context: Context, handle: Any, keep: Any) -> None:
        self._context = context
        self._handle = handle
        self._keep = keep

    def deregister(self) -> None:
        """Ends the registration. Error: Status.BUSY while a request uses the memory."""
        if self._handle is not None:
            check(lib.rf_mem_deregister(self._handle), "deregister")
            self._handle = None
            self._keep = None

    def __enter__(self) -> Memory:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.deregister()


class Creation:
    """A communicator that is being made: Context.icomm()."""

    def __init__(self, context: Context, handle: Any, config: CommConfig) -> None:
        self._context = context
        self._handle = handle
        self._config = config
        self._comm: Comm | None = None

    def wait(self, timeout: float | None = None) -> Comm | None:
        """The communicator, or None if it is not ready within timeout seconds (None: no limit). Raises why it failed."""
        if self._comm is not None:
            return self._comm
        if self._handle is None:
            raise ValueError("the creation has ended")
        out = ffi.new("struct rf_comm **")
        status = Status.IN_PROGRESS

        def poll(part: int) -> bool:
            nonlocal status
            status = lib.rf_comm_created(self._handle, part, out)
            return status != Status.IN_PROGRESS

        if not wait_until(end_of(timeout), poll):
            return None
        self._handle = None
        self._config.check(status, "icomm")
        self._comm = Comm(self._context, out[0])
        return self._comm

    def cancel(self) -> None:
        """Gives up what is being made. Error: Status.BUSY if it is too late; then it has to be taken by wait()."""
        if self._handle is not None:
            check(lib.rf_creation_cancel(self._handle), "cancel")
            self._handle = None


class Context:
    """A process's network device, and the thread that moves packets.

    What is not given comes from the environment: device from RF_DEVICE, and so on (docs/api.md, "Settings"). log receives each
    line of the library's log; it may be called from any thread and must not call the library.
    """

    def __init__(
        self,
        device: str | None = None,
        *,
        ip: str | None = None,
        dpdk_args: str | None = None,
        mtu: int = 0,
        progress: Progress = Progress.DEFAULT,
        pcap: str | None = None,
        log_level: LogLevel = LogLevel.DEFAULT,
        log: Log | None = None,
        rank: int = 0,
        ranks: int = 0,
        reg_cache: int = 0,
        gateway: str | None = None,
    ) -> None:
        self._handle: Any = None
        config = ffi.new("struct rf_context_config *")
        config.size = ffi.sizeof("struct rf_context_config")
        keep = []
        for name, value in (("device", device), ("ip", ip), ("dpdk_args", dpdk_args), ("pcap", pcap), ("gateway", gateway)):
            if value is not None:
                keep.append(ffi.new("char[]", value.encode()))
                setattr(config, name, keep[-1])
        config.mtu = mtu
        config.progress = progress
        config.log_level = log_level
        config.rank = rank
        config.ranks = ranks
        config.reg_cache = reg_cache
        self._log = None if log is None else ffi.new_handle(log)
        self._log_keep = log
        if self._log is not None:
            config.log = _log
            config.log_arg = self._log
        out = ffi.new("struct rf_context **")
        check(lib.rf_context_create(config, out), "Context")
        self._handle = out[0]

    @property
    def handle(self) -> Any:
        """The library's context, for cffi. Raises ValueError after close()."""
        if self._handle is None:
            raise ValueError("the context is closed")
        return self._handle

    def close(self) -> None:
        """Closes the device. Error: Status.BUSY while a communicator or registered memory of it exists."""
        if self._handle is not None:
            check(lib.rf_context_destroy(self._handle), "close")
            self._handle = None

    def __enter__(self) -> Context:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        try:
            self.close()
        except Error:
            if error is None:
                raise

    def comm(self, **config: Any) -> Comm:
        """Makes a communicator; collective. The arguments are those of CommConfig."""
        made = CommConfig(**config)
        out = ffi.new("struct rf_comm **")
        made.check(lib.rf_comm_create(self.handle, made.struct, out), "comm")
        return Comm(self, out[0])

    def icomm(self, **config: Any) -> Creation:
        """Starts to make a communicator and returns at once; a thread of the library calls allgather."""
        made = CommConfig(**config)
        out = ffi.new("struct rf_creation **")
        check(lib.rf_comm_icreate(self.handle, made.struct, out), "icomm")
        return Creation(self, out[0], made)

    def progress(self, timeout: float = 0.0) -> bool:
        """Moves packets for at most timeout seconds. Returns whether something has happened."""
        return check(lib.rf_progress(self.handle, int(timeout * 1e6)), "progress") == Status.OK

    def stats(self) -> Stats:
        """The counters of this context."""
        struct = ffi.new("struct rf_stats *")
        struct.size = ffi.sizeof("struct rf_stats")
        check(lib.rf_stats(self.handle, struct), "stats")
        return Stats(**{field.name: int(getattr(struct, field.name)) for field in dataclasses.fields(Stats)})

    def register(self, array: Any) -> Memory:
        """Registers the memory of an array for the calls of this context, and keeps the array alive."""
        one = buffer_of(array, "array", None, True)
        out = ffi.new("struct rf_mem **")
        check(lib.rf_mem_register(self.handle, one.pointer, one.count * _size(one), out), "register")
        return Memory(self, out[0], one.keep)

    def register_dmabuf(self, fd: int, offset: int, bytes: int, address: int) -> Memory:
        """Registers a part of a dma-buf, which calls name by its address: see Address."""
        out = ffi.new("struct rf_mem **")
        check(lib.rf_mem_register_dmabuf(self.handle, fd, offset, bytes, ffi.cast("void *", address), out), "register_dmabuf")
        return Memory(self, out[0], None)

    def forget(self, array: Any) -> None:
        """With reg_cache: must be called before the memory of a buffer is given back."""
        one = buffer_of(array, "array", None, False)
        check(lib.rf_mem_forget(self.handle, one.pointer, one.count * _size(one)), "forget")

    def completion_fd(self) -> int:
        """A descriptor for select and the like, readable while a completed request waits to be taken."""
        fd = ffi.new("int *")
        check(lib.rf_completion_fd(self.handle, fd), "completion_fd")
        return int(fd[0])

    def wait_any(self, requests: Sequence[Request | None], timeout: float | None = None) -> int | None:
        """Waits for one of these requests. Returns its place, or None if the time is over; raises its error."""
        return _request.wait_any(self, requests, timeout)

    def wait_all(self, requests: Sequence[Request | None], timeout: float | None = None) -> bool:
        """Waits for all of these requests. Returns whether all have completed; raises the error of the first that failed."""
        return _request.wait_all(self, requests, timeout)


def _size(buffer: Any) -> int:
    return 0 if buffer.type is None else int(buffer.type.size)
