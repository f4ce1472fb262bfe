"""ringfold: collective operations whose sums are made inside the network.

    import numpy, ringfold

    with ringfold.Context() as context, context.comm() as comm:
        total = comm.allreduce(gradient)

Arrays of numpy are sent and received in place, without copies. docs/python.md explains the package; docs/api.md the library.
"""
from ._declared import CONSTANTS as _CONSTANTS
from ._native import lib as _lib
from ._native import text_of as _text_of
from .buffers import Address
from .comm import Comm, CommConfig, Stragglers
from .context import Context, Creation, Memory, Stats
from .errors import ConnectionLostError, DeadlineError, Error, InvalidError, last_error_text, strerror
from .kinds import Choice, Fallback, LogLevel, Op, Progress, Schedule, Status, Steering, Type
from .order import Order
from .request import Request

#: The most ranks of a communicator, outstanding requests of one, and bytes of a name.
RANKS_MAX: int = _CONSTANTS["RF_RANKS_MAX"]
REQUESTS_MAX: int = _CONSTANTS["RF_REQUESTS_MAX"]
NAME_MAX: int = _CONSTANTS["RF_NAME_MAX"]
#: Value of `straggler` for a box that stays silent while ranks are late.
STRAGGLER_SILENT: int = _CONSTANTS["RF_STRAGGLER_SILENT"]
__version__: str = _text_of(_lib.rf_version())

__all__ = [
    "Address", "Choice", "Comm", "CommConfig", "ConnectionLostError", "Context", "Creation", "DeadlineError", "Error", "Fallback",
    "InvalidError", "LogLevel", "Memory", "NAME_MAX", "Op", "Order", "Progress", "RANKS_MAX", "REQUESTS_MAX", "Request",
    "STRAGGLER_SILENT", "Schedule", "Stats", "Status", "Steering", "Stragglers", "Type", "last_error_text", "strerror",
]
