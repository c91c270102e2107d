# Pi as an integral, of which every rank computes a part; then counts in an array.
#
#     pip install mpi4py numpy
#     mpirun -n 4 python pi.py
import numpy
from mpi4py import MPI

comm = MPI.COMM_WORLD
steps = 1_000_000

# Methods in lower case take any object of Python, and send what pickle makes of it.
mine = numpy.arange(comm.rank, steps, comm.size)
part = numpy.sum(4 / (1 + ((mine + 0.5) / steps) ** 2)) / steps
pi = comm.reduce(part, MPI.SUM, root=0)
if comm.rank == 0:
    print(f"pi is {pi:.10f}")

# Those with a capital take memory, such as NumPy's arrays, and copy nothing.
counts = numpy.bincount(mine % 4, minlength=4)
total = numpy.zeros_like(counts)
comm.Allreduce(counts, total, MPI.SUM)
if comm.rank == 0:
    print(f"remainders by 4: {total.tolist()}")
