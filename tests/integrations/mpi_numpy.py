"""A program of mpi4py: arrays and objects, and communicators. It knows nothing of ringfold."""
import numpy
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, ranks = comm.Get_rank(), comm.Get_size()
for kind in ("f4", "f8", "i4", "i8", "u1"):
    mine = (numpy.arange(500) % 20 + rank).astype(kind)
    total = numpy.empty_like(mine)
    comm.Allreduce(mine, total)
    assert (total == (numpy.arange(500) % 20 * ranks + ranks * (ranks - 1) // 2).astype(kind)).all(), kind
everything = numpy.empty((ranks, 3))
comm.Allgather(numpy.full(3, float(rank)), everything)
assert (everything[:, 0] == numpy.arange(ranks)).all()
assert comm.allreduce(rank, MPI.MAX) == ranks - 1  # objects travel in messages
assert comm.bcast({"from": rank}, root=1) == {"from": 1}
half = comm.Split(rank % 2, rank)
count = numpy.ones(1, "i4")
half.Allreduce(MPI.IN_PLACE, count)
assert count[0] == half.Get_size()
request = comm.Iallreduce(numpy.ones(4), numpy.empty(4))
request.Wait()
half.Free()
print(f"rank {rank} of {ranks}: 0 faults", flush=True)
