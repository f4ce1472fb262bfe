"""DDP on the digits with any back end: an ordinary script, started by RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT.

  torch_train.py BACKEND DIGITS FILE      writes the weights of rank 0 to FILE
"""
import sys

import numpy
import torch
import torch.distributed as dist

backend, digits, out = sys.argv[1:4]
if backend == "ringfold":
    import ringfold.torch  # noqa: F401


def net():
    torch.manual_seed(1)
    return torch.nn.Sequential(torch.nn.Linear(64, 32), torch.nn.ReLU(), torch.nn.Linear(32, 10))


def batches(rank, ranks, steps):
    """The part of a rank in each step."""
    data = torch.from_numpy(numpy.loadtxt(digits, delimiter=",", dtype=numpy.float32, max_rows=800))
    for step in range(steps):
        part = data[(torch.arange(32) * ranks + rank + step * 32 * ranks) % len(data)]
        yield part[:, :64] / 16, part[:, 64].long()


STEPS = 12


def main():
    torch.set_num_threads(1)
    dist.init_process_group(backend)
    rank, ranks = dist.get_rank(), dist.get_world_size()
    model = torch.nn.parallel.DistributedDataParallel(net())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    for step, (pixels, labels) in enumerate(batches(rank, ranks, STEPS)):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(pixels), labels)
        loss.backward()
        optimizer.step()
        mean = loss.detach().clone()
        dist.all_reduce(mean)
        if rank == 0:
            print(f"step {step} loss {mean.item() / ranks:.6f}", flush=True)
    weights = numpy.concatenate([p.detach().numpy().ravel() for p in model.parameters()])
    if backend == "ringfold":
        group = dist.distributed_c10d._get_default_group()
        assert group.count["allreduce"] >= 2 * STEPS and "gloo allreduce" not in group.count, group.count
        if rank == 0:
            print("calls:", dict(sorted(group.count.items())), flush=True)
            compare(weights, group.comm.order(), ranks)
    if rank == 0:
        weights.tofile(out)
    dist.barrier()
    dist.destroy_process_group()


def compare(weights, order, ranks):
    """The same training in this one process, which adds the gradients of all ranks in the box's order."""
    model = net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    for parts in zip(*[batches(r, ranks, STEPS) for r in range(ranks)]):
        gradients = []
        for pixels, labels in parts:
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(pixels), labels).backward()
            gradients.append([(p.grad / ranks).numpy().copy() for p in model.parameters()])
        for place, p in enumerate(model.parameters()):
            p.grad = torch.from_numpy(order.apply([g[place] for g in gradients]))
        optimizer.step()
    alone = numpy.concatenate([p.detach().numpy().ravel() for p in model.parameters()])
    assert numpy.array_equal(alone.view(numpy.uint32), weights.view(numpy.uint32)), f"{numpy.sum(alone != weights)} weights differ"
    print(f"weights equal bit for bit with one process: {weights.nbytes} bytes", flush=True)


main()
