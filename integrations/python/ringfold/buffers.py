"""Arrays as buffers of calls, without copies.

A buffer is a numpy array, or any object with Python's buffer protocol. It must be contiguous, because the library reads and
writes its memory directly. Nothing is converted: an array that does not fit is refused.
"""
from __future__ import annotations

from typing import Any

import numpy as np

from ._native import ffi
from .kinds import Type

_BY_DTYPE = {
    np.dtype(np.float32): Type.FP32,
    np.dtype(np.float16): Type.FP16,
    np.dtype(np.float64): Type.FP64,
    np.dtype(np.int32): Type.INT32,
    np.dtype(np.uint32): Type.UINT32,
    np.dtype(np.int64): Type.INT64,
    np.dtype(np.uint64): Type.UINT64,
    np.dtype(np.int8): Type.INT8,
    np.dtype(np.uint8): Type.UINT8,
}


class Address:
    """Memory that Python cannot read, such as a GPU's after Context.register_dmabuf(): an address and a number of elements."""

    def __init__(self, address: int, count: int, type: Type) -> None:
        if address <= 0 or count < 0:
            raise ValueError(f"address {address}, {count} elements: not a buffer")
        self.address = address
        self.count = count
        self.type = type


class Buffer:
    """A buffer of one call: its address, its elements, and what keeps it alive."""

    __slots__ = ("address", "count", "type", "keep")

    def __init__(self, address: int, count: int, type: Type | None, keep: Any) -> None:
        self.address = address
        self.count = count
        self.type = type
        self.keep = keep

    @property
    def pointer(self) -> Any:
        return ffi.cast("void *", self.address)


NOTHING = Buffer(0, 0, None, None)


def type_of_dtype(dtype: np.dtype[Any], name: str) -> Type:
    """The library's type for numpy's; bfloat16 is known by its name, because numpy has none of its own."""
    found = _BY_DTYPE.get(dtype)
    if found is None and dtype.name == "bfloat16":
        found = Type.BF16
    if found is None:
        known = ", ".join(str(d) for d in _BY_DTYPE)
        raise TypeError(f"{name}: dtype {dtype.str} ({dtype}) is none of {known}, bfloat16 in this machine's byte order")
    return found


def buffer_of(value: Any, name: str, type: Type | None, writable: bool) -> Buffer:
    """An argument as a buffer. type: that of the call, if it is stated; for bf16 the array may hold 16-bit integers."""
    if isinstance(value, Address):
        return Buffer(value.address, value.count, value.type, value)
    if isinstance(value, np.ndarray):
        array = value
    else:
        try:
            array = np.asarray(memoryview(value))
        except TypeError:
            raise TypeError(f"{name}: {value.__class__.__name__} is no array and has no buffer") from None
    if type is Type.BF16 and array.dtype in (np.dtype(np.uint16), np.dtype(np.int16)):
        own = Type.BF16
    else:
        own = type_of_dtype(array.dtype, name)
    if type is not None and own is not type:
        raise TypeError(f"{name}: the array is {own.text}, the call is {type.text}")
    if not array.flags.c_contiguous:
        raise ValueError(f"{name}: the array is not contiguous in C's order; numpy.ascontiguousarray() makes a copy that is")
    if writable and not array.flags.writeable:
        raise ValueError(f"{name}: the array is read-only")
    return Buffer(int(array.ctypes.data), int(array.size), own, array)


def pair(send: Any, recv: Any, type: Type | None) -> tuple[Buffer, Buffer, Type]:
    """Send and receive buffer of a call, either of which may be None, and the type of both."""
    s = NOTHING if send is None else buffer_of(send, "send", type, False)
    r = NOTHING if recv is None else buffer_of(recv, "recv", type, True)
    if s.type is not None and r.type is not None and s.type is not r.type:
        raise TypeError(f"send is {s.type.text}, recv is {r.type.text}")
    both = s.type if s.type is not None else r.type if r.type is not None else type
    if both is None:
        raise TypeError("there is no buffer: state the type of the call")
    return s, r, both
