"""All ranks write one HDF5 file together with h5py, read it together in another shape, and serially.

  mpirun -n 4 python h5py-parallel.py FILE
"""

import sys

import h5py
import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, ranks = comm.rank, comm.size
path = sys.argv[1]
ROWS, COLUMNS = 60, 48  # of each rank; 60 is a multiple of 2 to 6


def value(rows, columns):
    """What stands in each place of the array: it tells the place."""
    return rows[:, None] * 1000.0 + columns[None, :]


everywhere = value(np.arange(ROWS * ranks), np.arange(COLUMNS))
mine = slice(rank * ROWS, (rank + 1) * ROWS)

with h5py.File(path, "w", driver="mpio", comm=comm) as file:
    assert file.driver == "mpio"
    # Collective, independent, and interleaved rows of chunks that ranks share.
    blocks = file.create_dataset("blocks", (ROWS * ranks, COLUMNS), "f8")
    with blocks.collective:
        blocks[mine] = everywhere[mine]
    alone = file.create_dataset("alone", (ROWS * ranks, COLUMNS), "f8")
    alone[mine] = everywhere[mine]
    rows = file.create_dataset("rows", (ROWS * ranks, COLUMNS), "f8", chunks=(7, 5))
    with rows.collective:
        rows[rank::ranks] = everywhere[rank::ranks]
    # Filters want collective writes.
    packed = file.create_dataset("packed", (ROWS * ranks, COLUMNS), "f8", chunks=(ROWS, COLUMNS),
                                 compression="gzip")
    with packed.collective:
        packed[mine] = everywhere[mine]
    group = file.create_group("of ranks")
    for r in range(ranks):  # metadata are collective
        group.create_dataset(str(r), (r + 1,), "i4")
    group[str(rank)][:] = rank
    group.attrs["ranks"] = ranks
    # What is written without a view of the others is there for all after a flush and a barrier.
    file.flush()
    comm.Barrier()
    other = (rank + 1) % ranks
    assert (alone[other * ROWS:(other + 1) * ROWS] == everywhere[other * ROWS:(other + 1) * ROWS]).all()

with h5py.File(path, "r+", driver="mpio", comm=comm) as file:
    file.atomic = True
    assert file.atomic
    columns = slice(rank * COLUMNS // ranks, (rank + 1) * COLUMNS // ranks)
    for name in ("blocks", "alone", "rows", "packed"):
        data = file[name]
        with data.collective:
            assert (data[:, columns] == everywhere[:, columns]).all(), name
        assert (data[mine] == everywhere[mine]).all(), name
    comm.Barrier()
    # A column of one rank, independently.
    file["rows"][:, rank] = -1.0

comm.Barrier()
if rank == 0:
    with h5py.File(path, "r") as file:
        assert (file["rows"][:, :ranks] == -1).all()
        assert (file["rows"][:, ranks:] == everywhere[:, ranks:]).all()
        assert (file["packed"][()] == everywhere).all()
        assert file["of ranks"].attrs["ranks"] == ranks
        for r in range(ranks):
            assert file["of ranks"][str(r)][()].tolist() == [r] * (r + 1)
    print(f"right on {ranks} ranks")
