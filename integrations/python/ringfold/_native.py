"""The shared library, loaded by cffi, and what all modules need of it."""
from __future__ import annotations

import math
import time
from typing import Any, Callable, TypeVar

import cffi

from ._declared import CONSTANTS, DECLARATIONS

LIBRARY = "libringfold.so.1"

ffi = cffi.FFI()
ffi.cdef(DECLARATIONS)


def _load() -> Any:
    try:
        # stays loaded to the end: its threads may still run when the interpreter takes this module down
        lib = ffi.dlopen(LIBRARY, ffi.RTLD_NOW | ffi.RTLD_NODELETE)
    except OSError as error:
        raise ImportError(f"ringfold: {error}: install the library, or set LD_LIBRARY_PATH to its folder") from error
    version = ffi.string(lib.rf_version()).decode()
    wanted = (CONSTANTS["RF_VERSION_MAJOR"], CONSTANTS["RF_VERSION_MINOR"])
    if tuple(int(part) for part in version.split(".")[:2]) != wanted:
        raise ImportError(f"ringfold: {LIBRARY} is version {version}; this package was made for {wanted[0]}.{wanted[1]}")
    return lib


lib: Any = _load()
UINT_MAX = 0xFFFFFFFF
# The longest single wait in the library.
SLICE_MS = 200
F = TypeVar("F", bound=Callable[..., Any])


def text_of(pointer: Any) -> str:
    """A C string of the library."""
    return str(ffi.string(pointer).decode(errors="replace")) if pointer else ""


def callback(signature: str) -> Callable[[F], Any]:
    """Makes a Python function a C function of this signature."""
    made: Callable[[F], Any] = ffi.callback(signature)
    return made


def end_of(seconds: float | None) -> float | None:
    """The time at which a time limit that begins now is over, by time.monotonic(); None: there is none but the library's."""
    if seconds is None:
        return None
    if not seconds >= 0:
        raise ValueError(f"timeout: {seconds} is negative")
    return time.monotonic() + seconds


def wait_until(end: float | None, poll: Callable[[int], bool]) -> bool:
    """Calls poll(milliseconds to wait) until it returns True or the time is over, at least once. Returns whether it did.

    Each wait is so short that Python handles a signal such as Ctrl-C in time.
    """
    while True:
        left = SLICE_MS if end is None else math.ceil((end - time.monotonic()) * 1000)
        if poll(max(0, min(left, SLICE_MS))):
            return True
        if end is not None and time.monotonic() >= end:
            return False
