# Every rank says who it is, and where.
#
#     pip install mpi4py
#     mpirun -n 4 python hello.py
from mpi4py import MPI

comm = MPI.COMM_WORLD
print(f"rank {comm.rank} of {comm.size} runs on {MPI.Get_processor_name()}", flush=True)
