"""Calls of torch.distributed on the back end ringfold: what the box carries, and what goes by gloo inside.

  torch_calls.py [--die]      the last rank dies; the others must get an error that names it
"""
import os
import signal
import sys

import torch
import torch.distributed as dist

import ringfold
import ringfold.torch

dist.init_process_group("ringfold")
rank, ranks = dist.get_rank(), dist.get_world_size()
group = dist.distributed_c10d._get_default_group()


def same(what, got, want):
    assert torch.equal(got, want), f"{what}: {got} instead of {want}"


if "--die" in sys.argv:
    dist.all_reduce(torch.ones(4))
    if rank == ranks - 1:
        os.kill(os.getpid(), signal.SIGKILL)
    try:
        while True:
            dist.all_reduce(torch.ones(4))
    except RuntimeError as error:
        print(f"rank {rank}: {error}", flush=True)
        os._exit(5)

for kind in (torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int8, torch.uint8, torch.int32, torch.int64):
    tensor = torch.arange(40).to(kind) + rank
    dist.all_reduce(tensor)
    same(f"sum of {kind}", tensor, (torch.arange(40) * ranks + ranks * (ranks - 1) // 2).to(kind))
    tensor = torch.arange(40).to(kind) + rank
    dist.all_reduce(tensor, dist.ReduceOp.MAX)
    same(f"max of {kind}", tensor, (torch.arange(40) + ranks - 1).to(kind))
assert "gloo allreduce" not in group.count
wide = torch.ones(6, 4)[:, 1]
dist.all_reduce(wide)
same("a tensor with gaps", wide, torch.full((6,), float(ranks)))
work = [dist.all_reduce(torch.ones(5), async_op=True) for _ in range(10)]
for one in work:
    one.wait()
# a bucket of DDP can be as large as the largest parameter
whole = torch.arange(71_500_000 // 4, dtype=torch.int32).remainder(1000)
bucket = whole.to(torch.float32) + rank
dist.all_reduce(bucket)
same("a bucket of 71.5 MB", bucket, (whole * ranks + ranks * (ranks - 1) // 2).to(torch.float32))
del whole, bucket
tensor = torch.full((3,), float(rank))
dist.broadcast(tensor, 1)
same("broadcast", tensor, torch.ones(3))
everything = [torch.empty(2, dtype=torch.int64) for _ in range(ranks)]
dist.all_gather(everything, torch.tensor([rank, 7]))
same("all_gather", torch.stack(everything)[:, 0], torch.arange(ranks))
dist.barrier()
# as DDP does with parameters: C++ has two works in flight whose halves in Python may be gone
parameters = [torch.full((1000,), float(rank + k)) for k in range(12)]
dist._broadcast_coalesced(group, parameters, 4000, 1)
for k, tensor in enumerate(parameters):
    same(f"broadcast {k} of many", tensor, torch.full((1000,), float(1 + k)))
objects = [None] * ranks
dist.all_gather_object(objects, {"rank": rank})
assert objects == [{"rank": r} for r in range(ranks)]
product = torch.full((2,), 2.0)
dist.all_reduce(product, dist.ReduceOp.PRODUCT)
same("a product, by gloo", product, torch.full((2,), 2.0 ** ranks))
dist.reduce(product, 0)
assert group.count["gloo allreduce"] == 1 and group.count["gloo reduce"] == 1, group.count
pair = dist.new_group([0, 1])
if rank < 2:
    one = torch.ones(3)
    dist.all_reduce(one, group=pair)
    same("a group of two", one, torch.full((3,), 2.0))
try:
    ringfold.torch._check_device(torch.empty(1, device="meta"))
    raise AssertionError("a device tensor is not refused")
except ValueError as error:
    assert "meta" in str(error)
print(f"rank {rank} of {ranks}: all calls", flush=True)
dist.barrier()
