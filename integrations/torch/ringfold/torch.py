"""ringfold as a back end of torch.distributed.

    import ringfold.torch
    import torch.distributed as dist

    dist.init_process_group("ringfold")

All-reduce, broadcast, all-gather and barrier go by the box, everything else by a process group of gloo inside. docs/torch.md
says which call goes where. In versions of PyTorch that have dist.BackendBase the class derives from that, and is the back end of
tensors in the memory of the machine; in older ones it is a process group in Python. For a group of another back end there is allreduce_hook(), a communication hook of DDP.
"""
from __future__ import annotations

import atexit
import collections
import datetime
import uuid
from typing import Any, Callable

import torch
import torch.distributed as dist

from . import Comm, Context, Error, Op, Type

_TYPES = {
    torch.float32: Type.FP32, torch.float64: Type.FP64, torch.float16: Type.FP16, torch.bfloat16: Type.BF16,
    torch.int8: Type.INT8, torch.uint8: Type.UINT8, torch.int32: Type.INT32, torch.int64: Type.INT64,
}
_INTEGERS = (Type.INT8, Type.UINT8, Type.INT32, Type.INT64)


class _Job:
    """What all groups of this process share: the device, and this process's rank."""

    def __init__(self) -> None:
        self.context: Context | None = None
        self.rank = -1
        self.comms: list[Comm] = []

    def close(self) -> None:
        """Leaves the job, the newest group first. A group that has failed is ended all the same."""
        while self.comms:
            self.comms.pop().close()
        if self.context is not None:
            self.context.close()
        self.context = None


_job = _Job()
atexit.register(_job.close)


def _gather(store: Any, key: str, rank: int, size: int, own: bytes) -> list[bytes]:
    """The bytes of all ranks, by the store of torch.distributed."""
    store.set(f"{key}/{rank}", own)
    return [bytes(store.get(f"{key}/{r}")) for r in range(size)]


def _make(store: Any, rank: int, size: int, timeout: datetime.timedelta) -> Comm:
    """A communicator for a process group: the first one is that of the whole job."""
    seconds = timeout.total_seconds()
    if _job.context is None:
        context = Context(rank=rank, ranks=size)
        turn = iter(range(1 << 30))
        try:
            comm = context.comm(rank=rank, ranks=size, timeout=seconds,
                                allgather=lambda own: _gather(store, f"ringfold/{next(turn)}", rank, size, own))
        except BaseException:
            context.close()
            raise
        _job.context, _job.rank = context, rank
    else:
        members = [int(text) for text in _gather(store, "ringfold/members", rank, size, str(_job.rank).encode())]
        if rank == 0:
            store.set("ringfold/name", uuid.uuid4().hex)
        comm = _job.context.comm(name=bytes(store.get("ringfold/name")).decode(), members=members, timeout=seconds)
    _job.comms.append(comm)
    return comm


def _op_of(reduce_op: Any) -> Op | None:
    """The library's operation, None if the box has none."""
    known = dist.ReduceOp
    for theirs, ours in ((known.SUM, Op.SUM), (known.MIN, Op.MIN), (known.MAX, Op.MAX), (known.BAND, Op.AND), (known.BOR, Op.OR),
                         (known.BXOR, Op.XOR), (getattr(known, "AVG", None), Op.AVERAGE)):
        if theirs is not None and reduce_op == theirs:
            return ours
    return None


def _check_device(tensor: torch.Tensor) -> None:
    if tensor.device.type != "cpu":
        raise ValueError(f"ringfold: the tensor is on {tensor.device}: only tensors in the memory of the machine are served")


def _served(tensor: torch.Tensor, op: Op | None) -> bool:
    """Whether a reduction of this tensor goes by the box; equal on all ranks, because type and operation are."""
    _check_device(tensor)
    kind = _TYPES.get(tensor.dtype)
    if tensor.is_sparse or kind is None or op is None or tensor.numel() == 0:
        return False
    if op in (Op.AND, Op.OR, Op.XOR):
        return kind in _INTEGERS
    return op is not Op.AVERAGE or kind not in _INTEGERS


def _array(tensor: torch.Tensor) -> Any:
    """The memory of a contiguous tensor as an array; numpy has no bfloat16."""
    flat = tensor.detach()
    return (flat.view(torch.int16) if tensor.dtype is torch.bfloat16 else flat).numpy()


def _bytes(tensor: torch.Tensor) -> Any:
    return _array(tensor).reshape(-1).view("u1")


def _future(start: Callable[[], Any], result: Any, finish: Callable[[], Any] | None = None) -> torch.futures.Future[Any]:
    """Starts a request; the future gets the result, or the library's error.

    The error is raised in a callback of a first future, because only that makes it an error for the C++ side, too.
    """
    first: torch.futures.Future[Any] = torch.futures.Future()

    def unwrap(done: torch.futures.Future[Any]) -> Any:
        error = done.value()
        if error is not None:
            raise RuntimeError(f"ringfold: {error}")
        if finish is not None:
            finish()
        return result

    second = first.then(unwrap)
    try:
        start().on_completion(first.set_result)
    except Error as error:
        first.set_result(error)
    return second


class _Work(torch._C._distributed_c10d.Work):  # type: ignore[misc]
    """A call as torch.distributed wants it. PyTorch's own wrapper of a future does not raise its error in wait()."""

    def __init__(self, future: torch.futures.Future[Any]) -> None:
        super().__init__()
        self._future = future

    def wait(self, timeout: Any = None) -> bool:
        self._future.wait()
        return True

    def get_future(self) -> torch.futures.Future[Any]:
        return self._future

    def is_completed(self) -> bool:
        return bool(self._future.done())


# C++ code of PyTorch holds its own half of a work, and calls it when Python's half may have been collected: DDP asks for the future of
# an all-reduce at once, and its broadcasts of parameters have two works in flight before it waits for the older one. So each group
# keeps its two latest works. Python programs hold what they wait for themselves.
_IN_FLIGHT = 2


def _allreduce(comm: Comm, tensor: torch.Tensor, op: Op, result: Any) -> torch.futures.Future[Any]:
    if tensor.is_contiguous():
        array = _array(tensor)
        return _future(lambda: comm.iallreduce(array, array, op, _TYPES[tensor.dtype]), result)
    copy = tensor.contiguous()
    array = _array(copy)
    return _future(lambda: comm.iallreduce(array, array, op, _TYPES[tensor.dtype]), result, lambda: tensor.copy_(copy))


_BASE: Any = getattr(dist, "BackendBase", dist.ProcessGroup)


class RingfoldGroup(_BASE):  # type: ignore[misc]
    """A process group: DDP's collectives by the box, the rest by gloo."""

    def __init__(self, store: Any, rank: int, size: int, timeout: datetime.timedelta) -> None:
        super().__init__(rank, size)
        self.gloo = dist.ProcessGroupGloo(dist.PrefixStore("gloo", store), rank, size, timeout=timeout)
        self.comm = _make(dist.PrefixStore("comm", store), rank, size, timeout)
        #: Calls by name: those of the box, and those passed on.
        self.count: dict[str, int] = {}
        self._latest: collections.deque[_Work] = collections.deque(maxlen=_IN_FLIGHT)

    def getBackendName(self) -> str:
        return "ringfold"

    def _work(self, future: torch.futures.Future[Any]) -> _Work:
        work = _Work(future)
        self._latest.append(work)
        return work

    def _counted(self, name: str) -> None:
        self.count[name] = self.count.get(name, 0) + 1

    def _pass(self, name: str, *args: Any) -> Any:
        self._counted("gloo " + name)
        while args and args[-1] is None:
            args = args[:-1]
        return getattr(self.gloo, name)(*args)

    def allreduce(self, tensors: list[torch.Tensor], opts: Any = None) -> Any:
        op = Op.SUM if opts is None else _op_of(opts.reduceOp)
        if len(tensors) != 1 or not _served(tensors[0], op):
            return self._pass("allreduce", tensors, opts)
        self._counted("allreduce")
        assert op is not None
        return self._work(_allreduce(self.comm, tensors[0], op, tensors))

    def broadcast(self, tensors: list[torch.Tensor], opts: Any) -> Any:
        for tensor in tensors:
            _check_device(tensor)
        if len(tensors) != 1 or tensors[0].is_sparse or tensors[0].numel() == 0:
            return self._pass("broadcast", tensors, opts)
        self._counted("broadcast")
        tensor = tensors[0]
        flat = tensor.contiguous()
        data = _bytes(flat)
        copies = flat.data_ptr() != tensor.data_ptr()
        return self._work(_future(lambda: self.comm.ibroadcast(data, opts.rootRank), tensors,
                                  (lambda: tensor.copy_(flat)) if copies else None))

    def allgather(self, outputs: list[list[torch.Tensor]], inputs: list[torch.Tensor], opts: Any = None) -> Any:
        for tensor in inputs:
            _check_device(tensor)
        if len(inputs) != 1 or inputs[0].is_sparse or inputs[0].numel() == 0:
            return self._pass("allgather", outputs, inputs, opts)
        self._counted("allgather")
        own = _bytes(inputs[0].contiguous())
        everything = torch.empty((len(outputs[0]), own.size), dtype=torch.uint8)

        def finish() -> None:
            for place, tensor in enumerate(outputs[0]):
                tensor.copy_(everything[place].view(tensor.dtype).reshape(tensor.shape))

        return self._work(_future(lambda: self.comm.iall_gather(own, everything.numpy()), outputs, finish))

    def barrier(self, opts: Any = None) -> Any:
        self._counted("barrier")
        return self._work(_future(self.comm.ibarrier, []))


def _passed(name: str) -> Callable[..., Any]:
    def method(self: RingfoldGroup, *args: Any) -> Any:
        return self._pass(name, *args)
    method.__name__ = name
    return method


_PASSED = ("allreduce_coalesced", "reduce", "_allgather_base", "allgather_coalesced", "gather", "scatter", "reduce_scatter",
           "_reduce_scatter_base", "alltoall", "alltoall_base", "send", "recv", "recv_anysource")
for _name in _PASSED:
    setattr(RingfoldGroup, _name, _passed(_name))
# what c10d::Backend calls by other names
for _name, _gloo_name in (("recvAnysource", "recv_anysource"), ("allgather_into_tensor_coalesced", "allgather_into_tensor_coalesced"),
                          ("reduce_scatter_tensor_coalesced", "reduce_scatter_tensor_coalesced")):
    setattr(RingfoldGroup, _name, _passed(_gloo_name))


def _create(store: Any, rank: int, size: int, timeout: datetime.timedelta) -> RingfoldGroup:
    return RingfoldGroup(store, rank, size, timeout)


def allreduce_hook(comm: Comm, bucket: Any) -> torch.futures.Future[Any]:
    """A communication hook of DDP, for any back end: ddp.register_comm_hook(comm, allreduce_hook).

    It averages as DDP does: the gradients are divided first, then added.
    """
    tensor = bucket.buffer()
    _check_device(tensor)
    tensor.div_(comm.ranks)
    return _allreduce(comm, tensor, Op.SUM, tensor)


if hasattr(dist, "BackendBase"):
    dist.Backend.register_backend("ringfold", _create, devices=["cpu"])
else:
    dist.Backend.register_backend("ringfold", _create)

__all__ = ["Error", "RingfoldGroup", "allreduce_hook"]
