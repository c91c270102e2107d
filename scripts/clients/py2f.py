"""Handles cross between mpi4py and Fortran, both ways: py2f and f2py of all kinds.

  mpirun -n 2 python py2f.py LIBRARY FILE      of py2f.f90, and a file to write
"""

import ctypes
import sys

import numpy as np
from mpi4py import MPI

fortran = ctypes.CDLL(sys.argv[1])
comm = MPI.COMM_WORLD
rank, ranks = comm.rank, comm.size
after, before = (rank + 1) % ranks, (rank - 1) % ranks
number = ctypes.c_int


def address(array):
    return array.ctypes.data_as(ctypes.c_void_p)


assert fortran.ranks_of(comm.py2f()) == ranks
assert fortran.ranks_of(MPI.COMM_SELF.py2f()) == 1
half = comm.Split(rank % 2, rank)
assert fortran.ranks_of(half.py2f()) == half.size
half.Free()

# What Fortran has made is used, and freed, in Python.
copy = MPI.Comm.f2py(fortran.copy_of(comm.py2f()))
assert MPI.Comm.Compare(copy, comm) == MPI.CONGRUENT and copy.name == "made in Fortran"
kind = MPI.Datatype.f2py(fortran.every_second(5))
sent, got = np.arange(10, dtype="i4") + 100 * rank, np.zeros(10, dtype="i4")
copy.Sendrecv([sent, 1, kind], after, 0, [got, 1, kind], before, 0)
assert (got[0::2] == np.arange(0, 10, 2) + 100 * before)[:5].all() and (got[1::2] == 0).all()
kind.Free()
copy.Free()


# An operation of Python's, which Fortran hands to MPI.
def larger(a, b, datatype):
    a, b = np.frombuffer(a, dtype="i4"), np.frombuffer(b, dtype="i4")
    np.maximum(a, b, out=b)


op = MPI.Op.Create(larger, commute=True)
assert fortran.combined(comm.py2f(), MPI.INT.py2f(), op.py2f(), rank * 7) == (ranks - 1) * 7
assert fortran.combined(comm.py2f(), MPI.INTEGER.py2f(), MPI.SUM.py2f(), 1) == ranks
op.Free()

# Requests begun here and completed there, and the other way round; and a status.
got = np.zeros(10, dtype="i4")
request = MPI.Request.f2py(fortran.receive(comm.py2f(), address(got), 10, before, 3))
comm.Send(sent, after, 3)
status = MPI.Status()
request.Wait(status)
assert status.Get_source() == before and status.Get_count(MPI.INT) == 10
assert request == MPI.REQUEST_NULL and (got == np.arange(10) + 100 * before).all()
got[:] = 0
request = comm.Irecv(got, before, 4)
comm.Send(sent, after, 4)
handle, entries = number(request.py2f()), (number * MPI.F_STATUS_SIZE)()
fortran.finish(ctypes.byref(handle), entries)
assert MPI.Request.f2py(handle.value) == MPI.REQUEST_NULL and (got == np.arange(10) + 100 * before).all()
status = MPI.Status.f2py(list(entries))
assert (status.source, status.tag, status.Get_count(MPI.INT)) == (before, 4, 10)
assert MPI.Status.f2py(status.py2f()).tag == 4

# The other kinds.
info = MPI.Info.Create({"language": "Python"})
assert fortran.says(info.py2f()) == 1 and fortran.says(MPI.INFO_ENV.py2f()) == 0
info.Free()
assert fortran.size_of(comm.group.py2f()) == ranks
memory = np.zeros(1, dtype="i4")
window = MPI.Win.Create(memory, comm=comm)
fortran.add(window.py2f(), 0, rank + 1)
comm.Barrier()
if rank == 0:
    window.Lock(0)
    assert memory[0] == ranks * (ranks + 1) // 2
    window.Unlock(0)
window.Free()
file = MPI.File.Open(comm, sys.argv[2], MPI.MODE_CREATE | MPI.MODE_RDWR)
fortran.write_to(file.py2f(), 4 * rank, rank + 50)
file.Sync()
comm.Barrier()
file.Sync()
read = np.zeros(1, dtype="i4")
file.Read_at(4 * after, read)
assert read[0] == after + 50
file.Close()

for cls in (MPI.Comm, MPI.Datatype, MPI.Errhandler, MPI.File, MPI.Group, MPI.Info, MPI.Op, MPI.Request, MPI.Win):
    assert cls.f2py(cls().py2f()) == cls()
comm.Barrier()
if rank == 0:
    print("handles cross")
