"""The order in which a communicator adds: with it the same bits can be computed elsewhere."""
from __future__ import annotations

from typing import Any, Sequence

import numpy as np

from ._native import ffi, lib
from .buffers import buffer_of, pair
from .errors import check
from .kinds import Op, Schedule, Type, op_of, type_of


class Order:
    """The order of additions of a communicator: Comm.order()."""

    def __init__(self, struct: Any) -> None:
        self._struct = struct
        self.schedule = Schedule(struct.schedule)
        self.ranks = int(struct.ranks)
        self.mtu = int(struct.mtu)
        # (port, lane) of each rank in the box; unused without it
        self.places = [(int(struct.place[r].port), int(struct.place[r].lane)) for r in range(self.ranks)]
        # of a tree: the box of each rank; and for each box its parent and its (port, lane) there, unused for the root
        self.box = [int(struct.box[r]) for r in range(self.ranks if struct.boxes else 0)]
        self.above = [(int(above.parent), (int(above.place.port), int(above.place.lane))) for above in list(struct.above)[: struct.boxes]]

    def apply(self, inputs: Sequence[Any], op: Op | int | str = Op.SUM, out: Any = None, type: Type | str | None = None) -> Any:
        """Computes the result of an all-reduce on this machine, bit for bit: inputs[r] is the send buffer of rank r."""
        if len(inputs) != self.ranks:
            raise ValueError(f"inputs: {len(inputs)} arrays for {self.ranks} ranks")
        kind = None if type is None else type_of(type)
        if out is None:
            out = np.empty_like(inputs[0])
        to = buffer_of(out, "out", kind, True)
        pointers = ffi.new("const void *[]", self.ranks)
        for rank, value in enumerate(inputs):
            one, _, kind = pair(value, out, kind)
            if one.count != to.count:
                raise ValueError(f"inputs[{rank}] has {one.count} elements, out has {to.count}")
            pointers[rank] = one.pointer
        check(lib.rf_order_apply(self._struct, kind, op_of(op), pointers, to.pointer, to.count), "order.apply")
        return out
