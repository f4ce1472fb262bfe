"""The enumerations of the library. Their values come from its header."""
from __future__ import annotations

import enum
from typing import TypeVar

from ._native import lib, text_of


class Status(enum.IntEnum):
    """Result of a call. 0 is success, positive values are information, negative ones errors."""

    OK = lib.RF_OK
    IN_PROGRESS = lib.RF_IN_PROGRESS
    INVALID = lib.RF_ERR_INVALID
    NO_MEMORY = lib.RF_ERR_NO_MEMORY
    SYSTEM = lib.RF_ERR_SYSTEM
    DEVICE = lib.RF_ERR_DEVICE
    BOOTSTRAP = lib.RF_ERR_BOOTSTRAP
    RANK_MISSING = lib.RF_ERR_RANK_MISSING
    RANK_TAKEN = lib.RF_ERR_RANK_TAKEN
    RANK_LOST = lib.RF_ERR_RANK_LOST
    BOX_SILENT = lib.RF_ERR_BOX_SILENT
    BOX_REFUSED = lib.RF_ERR_BOX_REFUSED
    STEERING = lib.RF_ERR_STEERING
    MISMATCH = lib.RF_ERR_MISMATCH
    TRANSPORT = lib.RF_ERR_TRANSPORT
    TIMEOUT = lib.RF_ERR_TIMEOUT
    ABORTED = lib.RF_ERR_ABORTED
    GROUP_FAILED = lib.RF_ERR_GROUP_FAILED
    BUSY = lib.RF_ERR_BUSY
    INTERNAL = lib.RF_ERR_INTERNAL


class Type(enum.IntEnum):
    """Type of an element."""

    FP32 = lib.RF_FP32
    BF16 = lib.RF_BF16
    FP16 = lib.RF_FP16
    INT32 = lib.RF_INT32
    UINT32 = lib.RF_UINT32
    INT64 = lib.RF_INT64
    UINT64 = lib.RF_UINT64
    FP64 = lib.RF_FP64
    INT8 = lib.RF_INT8
    UINT8 = lib.RF_UINT8

    @property
    def size(self) -> int:
        """Bytes of an element."""
        return int(lib.rf_type_size(self.value))

    @property
    def text(self) -> str:
        """The library's name of the type, such as "fp32"."""
        return text_of(lib.rf_type_name(self.value))


class Op(enum.IntEnum):
    """What a reduction does."""

    SUM = lib.RF_SUM
    MIN = lib.RF_MIN
    MAX = lib.RF_MAX
    AND = lib.RF_AND
    OR = lib.RF_OR
    XOR = lib.RF_XOR
    PRODUCT = lib.RF_PRODUCT
    AVERAGE = lib.RF_AVERAGE

    @property
    def text(self) -> str:
        """The library's name of the operation, such as "sum"."""
        return text_of(lib.rf_op_name(self.value))


class Schedule(enum.IntEnum):
    """Who performs the additions: the box, or the ranks in a ring."""

    DEFAULT = lib.RF_SCHEDULE_DEFAULT
    BOX = lib.RF_SCHEDULE_BOX
    RING = lib.RF_SCHEDULE_RING


class Steering(enum.IntEnum):
    """How packets reach the box."""

    DEFAULT = lib.RF_STEERING_DEFAULT
    MIRROR = lib.RF_STEERING_MIRROR
    RING = lib.RF_STEERING_RING


class Fallback(enum.IntEnum):
    """What a communicator does when its box is lost."""

    DEFAULT = lib.RF_FALLBACK_DEFAULT
    NONE = lib.RF_FALLBACK_NONE
    EXACT = lib.RF_FALLBACK_EXACT
    RING = lib.RF_FALLBACK_RING


class Choice(enum.IntEnum):
    """On, off, or what the environment says."""

    DEFAULT = lib.RF_CHOICE_DEFAULT
    ON = lib.RF_CHOICE_ON
    OFF = lib.RF_CHOICE_OFF


class Progress(enum.IntEnum):
    """Who sends and receives packets: a thread of the library, or the caller."""

    DEFAULT = lib.RF_PROGRESS_DEFAULT
    THREAD = lib.RF_PROGRESS_THREAD
    MANUAL = lib.RF_PROGRESS_MANUAL


class LogLevel(enum.IntEnum):
    """How much is logged."""

    DEFAULT = lib.RF_LOG_DEFAULT
    WARN = lib.RF_LOG_WARN
    INFO = lib.RF_LOG_INFO
    TRACE = lib.RF_LOG_TRACE


def type_of(value: Type | int | str) -> Type:
    """Type.FP32, its number, or its name in any case."""
    return _member(Type, value, "type")


def op_of(value: Op | int | str) -> Op:
    """Op.SUM, its number, or its name in any case."""
    return _member(Op, value, "op")


K = TypeVar("K", bound=enum.IntEnum)


def _member(kind: type[K], value: int | str, what: str) -> K:
    try:
        return kind[value.upper()] if isinstance(value, str) else kind(value)
    except (KeyError, ValueError):
        names = ", ".join(member.name.lower() for member in kind)
        raise ValueError(f"{what}: {value!r} is none of {names}") from None
