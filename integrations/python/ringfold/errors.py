"""Errors of the library as exceptions."""
from __future__ import annotations

from typing import Any

from ._native import ffi, lib, text_of
from .kinds import Status


class Error(Exception):
    """A call of the library has failed.

    status says what kind of failure it is; text is the library's own description, with ranks, addresses and what to do.
    """

    def __init__(self, status: int, text: str, call: str = "") -> None:
        self.status = Status(status)
        self.text = text or strerror(status)
        self.call = call
        super().__init__(f"{call}: {self.text}" if call else self.text)


class InvalidError(Error, ValueError):
    """Status.INVALID: an argument or setting is wrong; nothing was started."""


class DeadlineError(Error, TimeoutError):
    """Status.TIMEOUT and Status.RANK_MISSING: a deadline has passed."""


class ConnectionLostError(Error, ConnectionError):
    """Status.RANK_LOST, TRANSPORT, BOX_SILENT: the other side is gone."""


_KINDS = {
    Status.INVALID: InvalidError,
    Status.TIMEOUT: DeadlineError,
    Status.RANK_MISSING: DeadlineError,
    Status.RANK_LOST: ConnectionLostError,
    Status.TRANSPORT: ConnectionLostError,
    Status.BOX_SILENT: ConnectionLostError,
}


def strerror(status: int) -> str:
    """One sentence for a status."""
    return text_of(lib.rf_strerror(status))


def error_of(status: int, text: str, call: str) -> Error:
    """The exception for a status."""
    return _KINDS.get(Status(status), Error)(status, text, call)


def last_error_text(context: Any = None) -> str:
    """What the library says of this thread's last failure; "" if nothing has failed."""
    return text_of(lib.rf_last_error_text(ffi.NULL if context is None else context.handle))


def check(status: int, call: str) -> int:
    """Raises the error of a failed call; otherwise returns its result."""
    if status < 0:
        raise error_of(status, text_of(lib.rf_last_error_text(ffi.NULL)), call)
    return status
