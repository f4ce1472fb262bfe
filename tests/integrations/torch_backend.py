"""The back end in the form of PyTorch 2's dist.BackendBase, against a stub of that class: each method that is overridden is called
as C++ calls a virtual function of c10d::Backend, by its name, with every argument in its place.

  torch_backend.py            ranks by RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT
"""
import datetime
import os
import sys

import torch
import torch.distributed as dist

# the virtual functions of c10d::Backend that carry data, or name the back end
VIRTUAL = {"broadcast", "allreduce", "allreduce_sparse", "allreduce_coalesced", "reduce", "allgather", "_allgather_base",
           "allgather_coalesced", "allgather_into_tensor_coalesced", "gather", "scatter", "reduce_scatter", "_reduce_scatter_base",
           "reduce_scatter_tensor_coalesced", "alltoall_base", "alltoall", "send", "recv", "recvAnysource", "barrier",
           "getBackendName"}
registered = {}


class BackendBase:
    """Rank and size, as the class of PyTorch has them; what is not overridden fails there, too."""

    def __init__(self, rank, size):
        self._rank, self._size = rank, size

    def rank(self):
        return self._rank

    def size(self):
        return self._size


def register_backend(name, func, extended_api=False, devices=None):
    registered[name] = (func, extended_api, devices)


dist.BackendBase = BackendBase
dist.Backend.register_backend = register_backend
import ringfold.torch  # noqa: E402

create, extended, devices = registered["ringfold"]
assert not extended and devices == ["cpu"], registered
assert issubclass(ringfold.torch.RingfoldGroup, BackendBase) and not issubclass(ringfold.torch.RingfoldGroup, dist.ProcessGroup)
rank, ranks = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
store = dist.TCPStore(os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"]), ranks, rank == 0)
group = create(store, rank, ranks, datetime.timedelta(seconds=60))
assert (group.rank(), group.size(), group.getBackendName()) == (rank, ranks, "ringfold")

overridden = {name for name in dir(ringfold.torch.RingfoldGroup) if not hasattr(BackendBase, name)}
lacking = VIRTUAL - overridden
assert lacking == {"allreduce_sparse"}, lacking  # of CUDA only


def call(name, *args):
    """As C++ does: a work, of which the future is asked for, and which is waited for."""
    assert name in VIRTUAL
    work = getattr(group, name)(*args)
    work.wait()
    return work


def same(what, got, want):
    if "--flip" in sys.argv:
        want = want + 1
    assert torch.equal(got, want), f"{what}: {got} instead of {want}"


def options(kind, **members):
    made = getattr(dist, kind)()
    for name, value in members.items():
        setattr(made, name, value)
    return made


total = torch.full((5,), float(ranks * (ranks + 1) // 2))
tensor = torch.full((5,), rank + 1.0)
work = call("allreduce", [tensor], options("AllreduceOptions", reduceOp=dist.ReduceOp.SUM))
same("allreduce", tensor, total)
assert work.get_future().done() and work.is_completed()
tensor = torch.full((5,), float(rank))
call("broadcast", [tensor], options("BroadcastOptions", rootRank=1, rootTensor=0))
same("broadcast", tensor, torch.ones(5))
everything = [torch.empty(2) for _ in range(ranks)]
call("allgather", [everything], [torch.tensor([rank, 7.0])], torch._C._distributed_c10d.AllgatherOptions())
same("allgather", torch.stack(everything)[:, 0], torch.arange(float(ranks)))
call("barrier", dist.BarrierOptions())
assert group.count == {"allreduce": 1, "broadcast": 1, "allgather": 1, "barrier": 1}, group.count
tensor = torch.full((5,), rank + 1.0)
call("reduce", [tensor], options("ReduceOptions", rootRank=0, reduceOp=dist.ReduceOp.SUM))
same("reduce, by gloo", tensor if rank == 0 else total, total)
if rank == 0:
    call("send", [torch.full((3,), 9.0)], 1, 5)
elif rank == 1:
    tensor = torch.empty(3)
    call("recvAnysource", [tensor], 5)
    same("a message, by gloo", tensor, torch.full((3,), 9.0))
assert group.count["gloo reduce"] == 1, group.count
print(f"rank {rank} of {ranks}: the form of version 2", flush=True)
call("barrier", dist.BarrierOptions())
