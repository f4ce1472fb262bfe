"""Requests: outstanding calls, which keep their buffers alive."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Sequence

from ._native import UINT_MAX, callback, end_of, ffi, lib, text_of, wait_until
from .errors import Error, check, error_of
from .kinds import Status

if TYPE_CHECKING:
    from .comm import Comm
    from .context import Context

# Callbacks that the library still has to call, by the address of their handle; they hold the buffers, too.
_waiting: dict[int, tuple[Any, Any, Any]] = {}


@callback("void(void *, int, const char *)")
def _completed(arg: Any, status: int, text: Any) -> None:
    entry = _waiting.pop(int(ffi.cast("uintptr_t", arg)), None)
    done = entry[1] if entry else None
    if done is not None:
        done(None if status >= 0 else error_of(status, text_of(text), "callback"))


class Request:
    """One outstanding call.

    It keeps the buffers of the call alive until the call has completed, also if the program drops the request. After an
    error the content of the receive buffer is undefined.
    """

    def __init__(self, comm: Comm, handle: Any, keep: Any, call: str) -> None:
        self._comm = comm
        self._handle = handle
        self._keep = keep
        self._call = call
        self._error: Error | None = None
        self._done = False
        comm._requests[id(self)] = keep

    @property
    def done(self) -> bool:
        """Whether the result has been taken, by any of the calls below."""
        return self._done

    def _finish(self, error: Error | None) -> None:
        self._handle = None
        self._keep = None
        self._done = True
        self._error = error
        self._comm._requests.pop(id(self), None)

    def _take(self, status: int) -> bool:
        if status == Status.IN_PROGRESS:
            return False
        error = None
        if status < 0:
            try:
                check(status, self._call)
            except Error as raised:
                error = raised
        self._finish(error)
        return True

    def _result(self) -> bool:
        if self._error is not None:
            raise self._error
        return True

    def _usable(self) -> None:
        if self._done:
            return
        if self._handle is None:
            raise ValueError("the request has been given to the library")
        if self._comm.closed:
            raise ValueError("the communicator of the request is closed")

    def test(self) -> bool:
        """Whether the call has completed. Never waits. Raises the error of a call that has failed."""
        self._usable()
        return (self._done or self._take(lib.rf_test(self._handle))) and self._result()

    def wait(self, timeout: float | None = None) -> bool:
        """Waits, at most timeout seconds (None: until the communicator's own deadline). Returns whether it has completed."""
        self._usable()
        if not self._done and not wait_until(end_of(timeout), lambda part: self._take(lib.rf_wait(self._handle, part))):
            return False
        return self._result()

    def _wait_alone(self, end: float | None) -> bool:
        one = _array([self])
        return wait_until(end, lambda part: self._take(lib.rf_wait_all(one, 1, part)))

    def on_completion(self, done: Callable[[Error | None], None]) -> None:
        """Gives the request to the library, which calls done(None) or done(error) when it has completed.

        The callback may come from a thread of the library. It may start calls and test requests; it must not wait, create or
        close. The request must not be used afterwards.
        """
        self._usable()
        if self._done:
            done(self._error)
            return
        handle = ffi.new_handle(self._call)
        address = int(ffi.cast("uintptr_t", handle))
        _waiting[address] = (handle, done, self._keep)
        status = lib.rf_on_completion(self._handle, _completed, handle)
        if status < 0:
            del _waiting[address]
            check(status, "on_completion")
        self._handle = None
        self._comm._requests.pop(id(self), None)

    def __del__(self) -> None:
        comm = getattr(self, "_comm", None)
        if comm is None or self._done or self._handle is None or comm.closed:
            return
        # nobody waits for it: the library keeps it, with its buffers; if it cannot, the communicator does
        try:
            self.on_completion(lambda error: None)
        except Error:
            comm._dropped.append(comm._requests.pop(id(self), None))


def wait_any(context: Context, requests: Sequence[Request | None], timeout: float | None = None) -> int | None:
    """Waits for one of these requests of one context. Returns its place, or None if the time is over; raises its error."""
    for place, request in enumerate(requests):
        if request is not None and request.done:
            request._result()
            return place
    array = _array(requests)
    index = ffi.new("unsigned int *")
    index[0] = UINT_MAX
    status = Status.IN_PROGRESS

    def poll(part: int) -> bool:
        nonlocal status
        status = lib.rf_wait_any(array, len(requests), part, index)
        return status != Status.IN_PROGRESS

    if not wait_until(end_of(timeout), poll):
        return None
    if index[0] == UINT_MAX:
        check(status, "wait_any")
    request = requests[index[0]]
    assert request is not None
    request._take(status)
    request._result()
    return int(index[0])


def wait_all(context: Context, requests: Sequence[Request | None], timeout: float | None = None) -> bool:
    """Waits for all of these requests. Returns whether all have completed; raises the error of the first that has failed."""
    end = end_of(timeout)
    for request in requests:
        # one after another, so that each request keeps its own result
        if request is not None and not request.done and not request._wait_alone(end):
            return False
    for request in requests:
        if request is not None:
            request._result()
    return True


def _array(requests: Sequence[Request | None]) -> Any:
    array = ffi.new("struct rf_request *[]", max(len(requests), 1))
    for place, request in enumerate(requests):
        if request is not None:
            request._usable()
            array[place] = ffi.NULL if request.done else request._handle
    return array
